/* SPDX-License-Identifier: Apache-2.0 */
/* registered.h - operators that a program adds to the table while it runs (custom.h). */
#ifndef SPORE_REGISTERED_H
#define SPORE_REGISTERED_H

#include "base/arena.h"
#include "ir/op_impl.h"
#include "spore/custom.h"

typedef struct sp_registered {
    sp_op op;                /* first: whoever has the operator has this */
    sp_custom_op definition; /* functions and lists as they were given, texts of its own */
    sp_inputs inputs;
    sp__arena arena; /* of its texts, its rows and the struct of defaults */
    sp_attr_text lists;
} sp_registered;

/* Put a complete entry into the table (table.c), which keeps it. */
sp_status sp__op_add(const sp_registered *r);

#endif
