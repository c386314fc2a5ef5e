/* SPDX-License-Identifier: Apache-2.0 */
/* reserve.h - memory for libevent when there is none. */
#ifndef SPORE_NET_RESERVE_H
#define SPORE_NET_RESERVE_H

#include <stdbool.h>

void sp__reserve_start(void);  /* before the first event loop is made */
bool sp__reserve_in_use(void); /* memory has run out: take nothing new on */

#endif
