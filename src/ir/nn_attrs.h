/* SPDX-License-Identifier: Apache-2.0 */
/* nn_attrs.h - attributes, and some geometry, of operators that devices have kernels for: the operators' tables in src/ops describe
 * these structs. */
#ifndef SPORE_IR_NN_ATTRS_H
#define SPORE_IR_NN_ATTRS_H

#include "ir/op_impl.h"

typedef struct sp__alpha_attrs {
    double alpha;
} sp__alpha_attrs; /* elu, leaky_relu */
typedef struct sp__softplus_attrs {
    double beta, threshold;
} sp__softplus_attrs;
typedef struct {
    double min_val, max_val;
} sp__hardtanh_attrs;
typedef struct {
    double lambd;
} sp__lambd_attrs;
typedef struct sp__softmax_attrs {
    sp_ints axis;
} sp__softmax_attrs; /* and log_softmax, and gradients */
typedef struct sp__reduce_attrs {
    sp_ints axis;
    bool keepdims;
} sp__reduce_attrs;
typedef struct sp__vector_norm_attrs {
    double ord;
    sp_ints axis;
    bool keepdims;
} sp__vector_norm_attrs;
typedef struct sp__layer_norm_attrs {
    int64_t begin_norm_axis, begin_params_axis;
    double epsilon;
} sp__layer_norm_attrs;
typedef struct sp__rms_norm_attrs {
    double epsilon;
} sp__rms_norm_attrs;
typedef struct sp__rnn_attrs {
    const char *mode;
    bool reverse;
} sp__rnn_attrs;

typedef struct sp__attention_attrs {
    double scale;
    bool causal;
} sp__attention_attrs;

/* Geometry of attention: n items, each [length, size] by [source, size] by [source, width]. */
typedef struct sp__attention_shape {
    int64_t n, length, source, size, width;
} sp__attention_shape;

static inline void sp__attention_measure(const sp_call *c, sp__attention_shape *s)
{
    const sp_tensor *q = c->in[0], *v = c->in[2];
    const int r = q->rank;
    *s = (sp__attention_shape){
        .n = 1, .length = q->dims[r - 2], .size = q->dims[r - 1], .source = v->dims[r - 2], .width = v->dims[r - 1]};
    for (int i = 0; i < r - 2; i++) s->n *= q->dims[i];
}

/* Element of a row-major mask at which item n begins. */
static inline int64_t sp__attention_mask(const sp_call *c, int64_t n)
{
    const sp_tensor *q = c->in[0], *mask = c->in[3];
    int64_t at = 0, step = mask->dims[mask->rank - 1] * mask->dims[mask->rank - 2];
    for (int i = q->rank - 3; i >= 0; i--) {
        const int k = i - (q->rank - mask->rank);
        const int64_t index = n % q->dims[i];
        n /= q->dims[i];
        if (k < 0) continue;
        if (mask->dims[k] != 1) at += index * step;
        step *= mask->dims[k];
    }
    return at;
}

#endif
