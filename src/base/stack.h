/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - how much of its stack a thread has left, for what goes down by recursion as deep as a file says. */
#ifndef SPORE_STACK_H
#define SPORE_STACK_H

#include "base/base.h"

/* Whether there is room for another level with everything that it may call. SP_VALUE: there is not. A few nanoseconds. */
sp_status sp__stack_check(void);

#endif
