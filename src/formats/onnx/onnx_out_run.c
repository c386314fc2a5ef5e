/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_run.c - see onnx_out_run.h. */
#include "formats/onnx/onnx_out_run.h"

#include <stdio.h>
#include <string.h>

enum { MATRIX_MAX = 1 << 26, MAP_MAX = 1 << 26 }; /* elements of what goes into a file in place of an operator */

/* Elements of a list of places; too many are refused before they are made. */
static bool map_fits(sp_onnx_out *o, const sp_meta *m)
{
    int64_t count = 1;
    for (int k = 0; k < m->rank; k++)
        if (!sp__mul_i64(count, m->dims[k], &count)) count = INT64_MAX;
    if (count <= MAP_MAX) return true;
    sp__onnx_out_fail(
        o, sp__fail(SP_DECLINED,
                    "%s is written as a list of where each element comes from, here %lld: more than %lld elements",
                    o->node->op->name, (long long)count, (long long)MAP_MAX));
    return false;
}

double sp__onnx_out_zero(const void *context, int64_t i)
{
    (void)context, (void)i;
    return 0;
}

double sp__onnx_out_count(const void *context, int64_t i)
{
    (void)context;
    return (double)i;
}

sp_tensor *sp__onnx_out_iota(sp_onnx_out *o, int i, int64_t from)
{
    sp_tensor *t;
    sp__onnx_out_fix(o, i);
    if (!sp__onnx_out_ok(o)) return NULL;
    const sp_meta *m = sp__onnx_out_meta(o, i);
    if (!map_fits(o, m) || !map_fits(o, sp__onnx_out_result(o, 0))) return NULL;
    sp_status status = sp_tensor_create(SP_DTYPE_I64, m->rank, m->dims, &t);
    if (status != SP_OK) return sp__onnx_out_fail(o, status);
    for (int64_t k = 0; k < sp_tensor_count(t); k++) ((int64_t *)sp_tensor_data(t))[k] = from + k;
    return t;
}

/* Results of the node's operator outside of any recording; the builder owns them. attrs: NULL: the node's. */
static sp_status apply(sp_builder *b, sp_onnx_out *o, const void *attrs, int n_in, sp_tensor *const *in,
                       sp_tensor **out)
{
    sp_function *recorder = sp__recorder;
    int n;
    sp__recorder = NULL;
    sp_status status =
        sp_builder_apply_many(b, o->node->op, attrs ? attrs : o->node->attrs, n_in, in, SP_OUT_MAX, out, &n);
    sp__recorder = recorder;
    return status;
}

sp_tensor *sp__onnx_out_run(sp_onnx_out *o, sp_tensor *const *in, int n_in, int k)
{
    sp_builder b;
    sp_tensor *given[4], *out[SP_OUT_MAX], *result = NULL;
    if (!sp__onnx_out_ok(o) || !in[0]) return NULL;
    uint32_t dtypes = o->node->op->dtypes;
    bool as_float = dtypes && !(dtypes >> SP_DTYPE_I64 & 1);
    sp__builder_init(&b);
    for (int i = 0; i < n_in; i++)
        given[i] = as_float ? sp_builder_call(&b, "cast", "dtype=float64", 1, &in[i]) : in[i];
    sp_status status = apply(&b, o, NULL, n_in, given, out);
    if (status == SP_OK) {
        sp_tensor *typed = as_float ? sp_builder_call(&b, "cast", "dtype=int64", 1, &out[k]) : out[k];
        status = typed ? sp_tensor_copy(typed, &result) : sp__builder_status(&b);
    }
    sp__builder_done(&b);
    return status == SP_OK ? result : sp__onnx_out_fail(o, status);
}

/* Ones where the number of the element is that of its plane, in n planes. */
static sp_tensor *unit_planes(sp_onnx_out *o, int rank, const int64_t *dims, int64_t n, int64_t columns, sp_dtype dtype)
{
    sp_tensor *t;
    int64_t count;
    if (!sp__mul_i64(n, n > columns ? n : columns, &count) || count > MATRIX_MAX)
        return sp__onnx_out_fail(
            o, sp__fail(SP_DECLINED,
                        "%s is written as a matrix, here of %lld rows and %lld columns: more than %lld elements",
                        o->node->op->name, (long long)n, (long long)columns, (long long)MATRIX_MAX));
    sp_status status = sp_tensor_create_zeros(dtype == SP_DTYPE_F64 ? SP_DTYPE_F64 : SP_DTYPE_F32, rank, dims, &t);
    if (status != SP_OK) return sp__onnx_out_fail(o, status);
    for (int64_t k = 0; k < n; k++) {
        if (dtype == SP_DTYPE_F64) ((double *)sp_tensor_data(t))[k * n + k] = 1;
        else ((float *)sp_tensor_data(t))[k * n + k] = 1;
    }
    return t;
}

/* What the operator makes of the basis, as a matrix of n rows. The basis is released. */
static sp_onnx_id matrix_of(sp_onnx_out *o, const void *attrs, sp_tensor *basis, int64_t n, int64_t columns,
                            sp_dtype dtype)
{
    sp_builder b;
    sp_tensor *out[SP_OUT_MAX], *matrix = NULL;
    char text[64];
    sp_onnx_id v = 0;
    if (!basis) return 0;
    sp__builder_init(&b);
    snprintf(text, sizeof text, "shape=(%lld,%lld)", (long long)n, (long long)columns);
    sp_status status = apply(&b, o, attrs, 1, &basis, out);
    if (status == SP_OK) matrix = sp_builder_call(&b, "reshape", text, 1, &out[0]);
    if (matrix) v = sp__onnx_out_cast(o, sp__onnx_out_take_tensor(o, sp_tensor_retain(matrix), NULL), dtype);
    else sp__onnx_out_fail(o, status != SP_OK ? status : sp__builder_status(&b));
    sp__builder_done(&b);
    sp_tensor_release(basis);
    return v;
}

sp_onnx_id sp__onnx_out_matrix(sp_onnx_out *o, int in_rank, int out_rank, sp_dtype dtype)
{
    const sp_meta *m = sp__onnx_out_meta(o, 0), *r = sp__onnx_out_result(o, 0);
    int64_t n = 1, columns = 1, dims[SP_RANK_MAX];
    int lead = m->rank - in_rank;
    for (int k = lead; k < m->rank; k++) n *= sp__onnx_out_fixed(o, 0, k);
    for (int k = r->rank - out_rank; k < r->rank; k++) columns *= r->dims[k];
    for (int k = 0; k < m->rank; k++) dims[k] = k >= lead ? m->dims[k] : k == 0 ? n : 1;
    return sp__onnx_out_ok(o) ? matrix_of(o, NULL, unit_planes(o, m->rank, dims, n, columns, dtype), n, columns, dtype)
                              : 0;
}

sp_onnx_id sp__onnx_out_axis_matrix(sp_onnx_out *o, const char *axis, int64_t n, int64_t columns, sp_dtype dtype)
{
    void *attrs;
    sp_attr_type type;
    sp_status status = sp__onnx_out_ok(o) ? sp__attrs_copy(o->node->op, o->node->attrs, &attrs) : SP_OK;
    if (!sp__onnx_out_ok(o) || status != SP_OK) return sp__onnx_out_fail(o, status), 0;
    size_t offset = (size_t)((const char *)sp__node_attr_at(o->node, axis, &type) - (const char *)o->node->attrs);
    memcpy((char *)attrs + offset, &(int64_t){1}, sizeof(int64_t));
    sp_onnx_id v = matrix_of(o, attrs, unit_planes(o, 2, (int64_t[]){n, n}, n, columns, dtype), n, columns, dtype);
    sp__free(attrs);
    return v;
}

sp_onnx_id sp__onnx_out_linear(sp_onnx_out *o, int in_rank, int out_rank)
{
    const sp_meta *m = sp__onnx_out_meta(o, 0);
    int64_t dims[SP_RANK_MAX + 1];
    int lead = m->rank - in_rank;
    for (int k = 0; k < lead; k++) dims[k] = sp__onnx_out_open(o, o->node->in[0], k) ? 0 : m->dims[k];
    dims[lead] = 1;
    for (int k = lead; k < m->rank; k++) dims[lead] *= m->dims[k];
    sp_onnx_id flat = sp__onnx_out_reshape(o, o->in[0], lead + 1, dims);
    sp_onnx_id y = SP_ONNX_OUT(o, "MatMul", NULL, flat, sp__onnx_out_matrix(o, in_rank, out_rank, m->dtype));
    const sp_meta *r = sp__onnx_out_result(o, 0);
    for (int k = 0; k < out_rank; k++) dims[lead + k] = r->dims[r->rank - out_rank + k];
    return sp__onnx_out_reshape(o, y, lead + out_rank, dims);
}
