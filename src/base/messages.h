/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPORE_BASE_MESSAGES_H
#define SPORE_BASE_MESSAGES_H

#include <stddef.h>

/* The one of n names that is nearest to a mistyped one of n_name letters; NULL when none is near. */
const char *sp__nearest(const char *name, size_t n_name, int n, const char *(*at)(const void *all, int i),
                        const void *all);

/* Leave the first n letters out of this thread's message. */
void sp__error_drop(size_t n);

#endif
