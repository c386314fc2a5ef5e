/* SPDX-License-Identifier: Apache-2.0 */
/* vmap_fold.c - batching rules of operators that have a batch dimension: the slices join it. */
#include "ops/kernels.h"

/* The first n_rows inputs are rows; the others are the same for all. */
static sp_status fold(sp_builder *b, const sp_batch *v, int n_rows)
{
    sp_tensor *in[SP_IN_MAX];
    for (int i = 0; i < v->n_in; i++) {
        in[i] = v->in[i];
        if (!in[i]) continue;
        if (i >= n_rows) {
            if (v->batched[i]) return SP_DECLINED;
            continue;
        }
        if (!sp__batch_rank(v, i)) return SP_DECLINED;
        in[i] = sp__batch_merge(b, sp__batch_spread(b, v, i), 0, 2);
    }
    SP_TRY(sp__batch_apply(b, v, NULL, in));
    for (int k = 0; k < v->n_out; k++) v->out[k] = sp__batch_unmerge(b, v->out[k], 0, v->size);
    return sp__builder_status(b);
}

sp_status sp__batch_fold(sp_builder *b, const sp_batch *v) { return fold(b, v, v->n_in); }
sp_status sp__batch_fold_rows(sp_builder *b, const sp_batch *v) { return fold(b, v, 2); }

/* [size, n, channels, ...] as [n, size * channels, ...], vectors of channels as one of all of them. */
sp_status sp__batch_channels(sp_builder *b, const sp_batch *v)
{
    sp_tensor *in[SP_IN_MAX];
    for (int i = 0; i < v->n_in; i++) {
        in[i] = sp__batch_spread(b, v, i);
        if (!in[i]) continue;
        const bool vector = sp__batch_rank(v, i) == 1;
        in[i] = vector ? sp__batch_merge(b, in[i], 0, 2) : sp__batch_merge(b, sp__batch_move(b, in[i], 0, 1), 1, 2);
    }
    SP_TRY(sp__batch_apply(b, v, NULL, in));
    for (int k = 0; k < v->n_out; k++) {
        const bool vector = v->out[k]->rank == 1;
        sp_tensor *y = sp__batch_unmerge(b, v->out[k], vector ? 0 : 1, v->size);
        v->out[k] = vector ? y : sp__batch_move(b, y, 1, 0);
    }
    return sp__builder_status(b);
}
