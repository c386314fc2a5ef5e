/* SPDX-License-Identifier: Apache-2.0 */
/* matmul_geometry.c - numpy's rules for the shapes of a matrix product. */
#include "ir/matmul_geometry.h"
#include "spore/ops_attrs.h"

sp_status sp__matmul_measure(const sp_tensor *a, const sp_tensor *b, const sp_matmul_attrs *attrs,
                             sp__matmul_geometry *out)
{
    char text_a[SP_SHAPE_TEXT], text_b[SP_SHAPE_TEXT];
    SP_CHECK(a->rank > 0 && b->rank > 0, SP_VALUE, "matmul: operands must have one dimension or more, found %s and %s",
             sp__shape_text(a->rank, a->dims, text_a), sp__shape_text(b->rank, b->dims, text_b));
    bool turn_a = attrs->transpose_a, turn_b = attrs->transpose_b;
    int64_t k_b;
    if (a->rank == 1) { /* a row */
        out->m = 1;
        out->k = a->dims[0];
        out->a_row = 0;
        out->a_col = a->strides[0];
    } else {
        int row = a->rank - (turn_a ? 1 : 2), col = a->rank - (turn_a ? 2 : 1);
        out->m = a->dims[row];
        out->k = a->dims[col];
        out->a_row = a->strides[row];
        out->a_col = a->strides[col];
    }
    if (b->rank == 1) { /* a column */
        k_b = b->dims[0];
        out->n = 1;
        out->b_row = b->strides[0];
        out->b_col = 1;
    } else {
        int row = b->rank - (turn_b ? 1 : 2), col = b->rank - (turn_b ? 2 : 1);
        k_b = b->dims[row];
        out->n = b->dims[col];
        out->b_row = b->strides[row];
        out->b_col = b->strides[col];
    }
    SP_CHECK(out->k == k_b, SP_VALUE,
             "matmul: shapes %s%s and %s%s do not fit: %lld columns on the left, %lld rows on the right",
             sp__shape_text(a->rank, a->dims, text_a), turn_a ? " (transposed)" : "",
             sp__shape_text(b->rank, b->dims, text_b), turn_b ? " (transposed)" : "", (long long)out->k,
             (long long)k_b);
    int lead_a = a->rank > 2 ? a->rank - 2 : 0, lead_b = b->rank > 2 ? b->rank - 2 : 0;
    if (sp__shape_broadcast(lead_a, a->dims, lead_b, b->dims, &out->batch_rank, out->batch) != SP_OK)
        return sp__fail(SP_VALUE, "matmul: the batch dimensions of %s and %s do not broadcast",
                        sp__shape_text(a->rank, a->dims, text_a), sp__shape_text(b->rank, b->dims, text_b));
    out->n_batch = 1;
    for (int i = 0; i < out->batch_rank; i++) {
        int at_a = i - (out->batch_rank - lead_a), at_b = i - (out->batch_rank - lead_b);
        out->a_batch[i] = at_a >= 0 && a->dims[at_a] != 1 ? a->strides[at_a] : 0;
        out->b_batch[i] = at_b >= 0 && b->dims[at_b] != 1 ? b->strides[at_b] : 0;
        out->n_batch *= out->batch[i];
    }
    return SP_OK;
}

void sp__matmul_offsets(const sp__matmul_geometry *g, int64_t i, int64_t *a, int64_t *b)
{
    *a = *b = 0;
    for (int d = g->batch_rank - 1; d >= 0; d--) {
        int64_t index = i % g->batch[d];
        i /= g->batch[d];
        *a += index * g->a_batch[d];
        *b += index * g->b_batch[d];
    }
}

bool sp__matmul_is_tall(const sp__matmul_geometry *g)
{
    int64_t expected = g->m * g->a_row;
    for (int i = g->batch_rank - 1; i >= 0; i--) {
        if (g->b_batch[i] != 0) return false;
        if (g->batch[i] != 1 && g->a_batch[i] != expected) return false;
        expected *= g->batch[i];
    }
    return true;
}
