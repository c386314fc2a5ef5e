/* SPDX-License-Identifier: Apache-2.0 */
/* shape.c - arithmetic on dims and strides. */
#include <stdio.h>

#include "tensor/tensor_impl.h"

sp_status sp__shape_count(int rank, const int64_t *dims, int64_t *out)
{
    SP_CHECK(rank >= 0 && rank <= SP_RANK_MAX, SP_VALUE, "a tensor has at most %d dimensions, but %d are asked for",
             SP_RANK_MAX, rank);
    /* Sizes in bytes must fit as well, whatever the dtype: nobody behind checks again. */
    const int64_t most = sizeof(void *) == 8 ? INT64_MAX / 64 : PTRDIFF_MAX / 16;
    int64_t n = 1;
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        SP_CHECK(dims[i] >= 0, SP_VALUE, "dimension %d of the shape is %lld, it must not be negative", i,
                 (long long)dims[i]);
        empty |= dims[i] == 0;
    }
    for (int i = 0; i < rank && !empty; i++) {
        char text[SP_SHAPE_TEXT];
        SP_CHECK(sp__mul_i64(n, dims[i], &n) && n < most, SP_VALUE,
                 "a tensor of shape %s has too many elements to address", sp__shape_text(rank, dims, text));
    }
    *out = empty ? 0 : n;
    return SP_OK;
}

void sp__shape_strides(int rank, const int64_t *dims, int64_t *strides)
{
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= dims[i] > 0 ? dims[i] : 1;
    }
}

sp_status sp__shape_broadcast(int rank_a, const int64_t *a, int rank_b, const int64_t *b, int *rank, int64_t *out)
{
    int r = rank_a > rank_b ? rank_a : rank_b;
    for (int i = 1; i <= r; i++) {
        int64_t da = i <= rank_a ? a[rank_a - i] : 1, db = i <= rank_b ? b[rank_b - i] : 1;
        if (da != db && da != 1 && db != 1) {
            char ta[SP_SHAPE_TEXT], tb[SP_SHAPE_TEXT];
            return sp__fail(
                SP_VALUE,
                "shapes %s and %s cannot be broadcast together: dimension %d from the end is %lld and %lld, "
                "which must be equal or one of them 1",
                sp__shape_text(rank_a, a, ta), sp__shape_text(rank_b, b, tb), i, (long long)da, (long long)db);
        }
        out[r - i] = da == 1 ? db : da;
    }
    *rank = r;
    return SP_OK;
}

sp_status sp__shape_axis(int64_t axis, int rank, const char *what, int *out)
{
    int limit = rank > 0 ? rank : 1; /* axis 0 and -1 of a scalar are accepted, as everywhere */
    SP_CHECK(axis >= -limit && axis < limit, SP_VALUE, "%s %lld is out of range for rank %d: it must be in [%d, %d)",
             what, (long long)axis, rank, -limit, limit);
    *out = (int)(axis < 0 ? axis + limit : axis);
    return SP_OK;
}

const char *sp__shape_text(int rank, const int64_t *dims, char buf[SP_SHAPE_TEXT])
{
    int at = snprintf(buf, SP_SHAPE_TEXT, "(");
    for (int i = 0; i < rank && at < SP_SHAPE_TEXT; i++)
        at += snprintf(buf + at, (size_t)(SP_SHAPE_TEXT - at), i ? ", %lld" : "%lld", (long long)dims[i]);
    if (at < SP_SHAPE_TEXT) snprintf(buf + at, (size_t)(SP_SHAPE_TEXT - at), rank == 1 ? ",)" : ")");
    return buf;
}

bool sp__shape_reshape_strides(int rank, const int64_t *dims, const int64_t *strides, int new_rank,
                               const int64_t *new_dims, int64_t *strides_out)
{
    /* Walk both shapes from the back; a block of old dims that is evenly spaced can be cut anew. */
    int64_t total = 1;
    for (int i = 0; i < rank; i++) total *= dims[i];
    if (total == 0 || rank == 0) {
        sp__shape_strides(new_rank, new_dims, strides_out);
        return true;
    }
    int at = new_rank - 1;
    int64_t block = 1, done = 1, step = strides[rank - 1];
    for (int i = rank - 1; i >= 0; i--) {
        block *= dims[i];
        bool ends = i == 0 || (dims[i - 1] != 1 && strides[i - 1] != block * step);
        if (!ends) continue;
        while (at >= 0 && (done < block || new_dims[at] == 1)) {
            strides_out[at] = done * step;
            done *= new_dims[at];
            at--;
        }
        if (done != block) return false;
        if (i > 0) {
            step = strides[i - 1];
            block = 1;
            done = 1;
        }
    }
    return at == -1;
}
