/* SPDX-License-Identifier: Apache-2.0 */
/* attention_geometry.h - shapes of attention, for the operator and for devices alike. */
#ifndef SPORE_IR_ATTENTION_GEOMETRY_H
#define SPORE_IR_ATTENTION_GEOMETRY_H

#include "ir/op_impl.h"

/* n items, each [length, size] by [source, size] by [source, width]. */
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
