/* SPDX-License-Identifier: Apache-2.0 */
/* nn_attrs.h - attributes of operators that devices have kernels for: the operators' tables in src/ops describe these structs. */
#ifndef SPORE_IR_NN_ATTRS_H
#define SPORE_IR_NN_ATTRS_H

#include "spore/op.h"

typedef struct sp__alpha_attrs { double alpha; } sp__alpha_attrs;                       /* elu, leaky_relu */
typedef struct sp__softplus_attrs { double beta, threshold; } sp__softplus_attrs;
typedef struct sp__softmax_attrs { sp_ints axis; } sp__softmax_attrs;                   /* and log_softmax, and gradients */
typedef struct sp__reduce_attrs { sp_ints axis; bool keepdims; } sp__reduce_attrs;
typedef struct sp__layer_norm_attrs {
    int64_t begin_norm_axis, begin_params_axis;
    double epsilon;
} sp__layer_norm_attrs;

#endif
