/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - handles out of a caller's hands: public functions that give a status begin with these. */
#ifndef SPORE_BASE_HANDLE_H
#define SPORE_BASE_HANDLE_H

#include "base/base.h"

/* It is there. */
#define SP_HANDLE(handle) SP_CHECK((handle) != NULL, SP_VALUE, "%s: %s is NULL", __func__, #handle)
/* Each of a list is. */
#define SP_HANDLES(n, list)                                                                                            \
    do {                                                                                                               \
        for (int64_t i_ = 0; i_ < (n); i_++)                                                                           \
            SP_CHECK((list)[i_] != NULL, SP_VALUE, "%s: %s[%lld] is NULL", __func__, #list, (long long)i_);            \
    } while (0)

#endif
