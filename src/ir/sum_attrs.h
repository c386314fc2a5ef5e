/* SPDX-License-Identifier: Apache-2.0 */
/* sum_attrs.h - attributes of counts, sums and means that devices have kernels for: the operators' tables in src/ops describe these structs. */
#ifndef SPORE_IR_SUM_ATTRS_H
#define SPORE_IR_SUM_ATTRS_H

#include "ir/op_impl.h"

typedef struct sp__count_attrs {
    sp_ints axis;
    bool keepdims;
    sp_dtype dtype;
} sp__count_attrs;

typedef struct sp__sum_attrs { /* sum, mean and their like */
    sp_ints axis;
    bool keepdims;
    sp_dtype dtype;
    sp_number initial;
} sp__sum_attrs;

#endif
