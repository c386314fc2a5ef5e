/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_product.c - matrix products as generated C, of floats and of whole numbers. */
#include <math.h>
#include <stdio.h>

#include "base/plain.h"
#include "codegen/codegen.h"
#include "ir/matmul_geometry.h"
#include "ops/ops_impl.h"
#include "spore/ops_attrs.h"

typedef struct product_job {
    sp_value *a, *b, *bias;
    sp_value *a_bytes, *b_bytes; /* whole numbers instead; NULL: no */
    int32_t a_zero, b_zero;
    sp_value *b_zeros; /* one for each column; NULL: b_zero for all */
    const char *type;  /* of the sum */
    int64_t k;
    bool transpose_a, transpose_b;
} product_job;

static bool fits_16(const sp_value *v)
{
    double low, high;
    return sp__codegen_whole(v, &low, &high) && low >= -32768 && high <= 32767;
}

/* The largest size of a value's elements less their zero point. */
static double largest(const sp_value *v, int32_t zero)
{
    double low, high;
    if (v->origin == SP_VALUE_CONSTANT && sp__codegen_whole(v, &low, &high))
        return fmax(-low, high) + fabs((double)zero);
    return (v->meta.dtype == SP_DTYPE_I16 ? 32768 : 255) + fabs((double)zero);
}

/* Both operands whole numbers, and so the bias: sums of integers. */
static void find_integers(sp_codegen_out *o, product_job *j)
{
    double low = 0, high = 0;
    sp_value *a = sp__codegen_integers(o->g, j->a, &j->a_zero), *b = sp__codegen_integers(o->g, j->b, &j->b_zero);
    if (a == NULL) a = fits_16(j->a) ? j->a : NULL;
    if (b == NULL) b = fits_16(j->b) ? j->b : NULL;
    if (a == NULL || b == NULL || (a == j->a && b == j->b)) return;
    if (j->bias != NULL && (!sp__codegen_whole(j->bias, &low, &high) || low < -2147483648.0 || high > 2147483647.0))
        return;
    j->a_bytes = a;
    j->b_bytes = b;
    const double most = largest(a, j->a_zero) * largest(b, j->b_zero) * (double)j->k + fmax(-low, high);
    j->type = most < 2147483648.0 ? "int32_t" : "int64_t";
}

/* Coordinates in an operand of a product: the batch broadcast, then row and column. */
static void place(const sp_value *v, int rank, sp_codegen_at *batch, const char *row, const char *column,
                  bool transpose, bool left, sp_codegen_at *at)
{
    const int own = v->meta.rank, shift = rank - 2 - (own - 2);
    if (own == 1) {
        snprintf(at[0], sizeof at[0], "%s", left ? column : row);
        return;
    }
    for (int i = 0; i < own - 2; i++) memcpy(at[i], batch[i + shift], sizeof at[i]);
    snprintf(at[own - 2], sizeof at[own - 2], "%s", transpose ? column : row);
    snprintf(at[own - 1], sizeof at[own - 1], "%s", transpose ? row : column);
}

/* "(a0[3] - (128))": an element of whole numbers as it is stored. */
static void load_integer(sp_codegen_out *o, sp_value *v, sp_codegen_at *at, int32_t zero, char *out, size_t room)
{
    char text[SP_CODEGEN_TEXT], index[SP_CODEGEN_TEXT];
    double number;
    if (sp__codegen_is_number(v, &number)) sp__snprintf(text, sizeof text, "(%d)", (int)number);
    else {
        const sp_tensor *view = sp__codegen_view(o->g, v);
        sp__codegen_index(o, view, at, index, sizeof index);
        sp__snprintf(text, sizeof text, "%s[%s]", sp__codegen_arg(o, sp__codegen_block_of(o->g, view), false), index);
    }
    if (zero != 0) sp__snprintf(out, room, "(%s - (%d))", text, (int)zero);
    else sp__snprintf(out, room, "%s", text);
}

static void multiply_add(sp_codegen_out *o, const product_job *j, sp_codegen_at *a_at, sp_codegen_at *b_at,
                         const char *column)
{
    char a[SP_CODEGEN_TEXT], b[SP_CODEGEN_TEXT], zero[SP_CODEGEN_TEXT];
    if (j->a_bytes == NULL) {
        sp__codegen_load(o, j->a, a_at, a, sizeof a);
        sp__codegen_load(o, j->b, b_at, b, sizeof b);
        sp__codegen_line(o, "s += %s * %s;", a, b);
        return;
    }
    load_integer(o, j->a_bytes, a_at, j->a_zero, a, sizeof a);
    load_integer(o, j->b_bytes, b_at, j->b_zero, b, sizeof b);
    const char *wide = strcmp(j->type, "int64_t") == 0 ? "(int64_t)" : "";
    if (j->b_zeros == NULL) {
        sp__codegen_line(o, "s += %s%s * %s;", wide, a, b);
        return;
    }
    sp_codegen_at at[1];
    snprintf(at[0], sizeof at[0], "%s", column);
    sp__codegen_load(o, j->b_zeros, at, zero, sizeof zero);
    sp__codegen_line(o, "s += %s%s * (%s - %s);", wide, a, b, zero);
}

static sp_status write_product(sp_codegen_out *o, const sp_node *n, product_job *j)
{
    const sp_meta *out = &n->out[0]->meta;
    const int a_rank = j->a->meta.rank, b_rank = j->b->meta.rank;
    const int rank = out->rank + (a_rank == 1) + (b_rank == 1); /* with the dimensions that vectors lose */
    sp_codegen_at at[SP_RANK_MAX + 2], a_at[SP_RANK_MAX], b_at[SP_RANK_MAX], k;
    const char *row = "0", *column = "0";
    char value[64], start[SP_CODEGEN_TEXT] = "0";
    sp__codegen_loops(o, "i", out->rank, out->dims, at);
    if (b_rank > 1) column = at[out->rank - 1];
    if (a_rank > 1) row = at[out->rank - (b_rank > 1 ? 2 : 1)];
    if (j->bias != NULL && j->a_bytes == NULL) sp__codegen_load(o, j->bias, at + out->rank - 1, start, sizeof start);
    else if (j->bias != NULL) load_integer(o, j->bias, at + out->rank - 1, 0, start, sizeof start);
    sp__codegen_line(o, "%s s = (%s)%s;", j->type, j->type, start);
    sp__codegen_for(o, "k", j->k, k);
    place(j->a, rank, at, row, k, j->transpose_a, true, a_at);
    place(j->b, rank, at, k, column, j->transpose_b, false, b_at);
    multiply_add(o, j, a_at, b_at, column);
    sp__codegen_end(o, j->k);
    snprintf(value, sizeof value, j->a_bytes != NULL ? "(%s)s" : "s", sp__codegen_type(out->dtype));
    sp__codegen_store(o, at, value);
    sp__codegen_loops_end(o, out->rank, out->dims);
    return SP_OK;
}

static sp_status matmul_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_matmul_attrs *attrs = n->attrs;
    const sp_meta *a = &n->in[0]->meta;
    product_job j = {.a = n->in[0],
                     .b = n->in[1],
                     .type = sp__codegen_type(n->out[0]->meta.dtype),
                     .transpose_a = attrs->transpose_a && a->rank > 1,
                     .transpose_b = attrs->transpose_b && n->in[1]->meta.rank > 1};
    j.k = a->dims[j.transpose_a ? a->rank - 2 : a->rank - 1];
    find_integers(o, &j);
    return write_product(o, n, &j);
}

static sp_status dense_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *a = &n->in[0]->meta;
    product_job j = {.a = n->in[0],
                     .b = n->in[1],
                     .bias = n->n_in > 2 ? n->in[2] : NULL,
                     .type = sp__codegen_type(n->out[0]->meta.dtype),
                     .k = a->dims[a->rank - 1],
                     .transpose_b = true};
    find_integers(o, &j);
    return write_product(o, n, &j);
}

static sp_status bytes_check(const sp_node *n)
{
    double number;
    SP_CHECK(n->in[2] == NULL || sp__codegen_is_number(n->in[2], &number), SP_DECLINED,
             "matmul_i32 whose zero point of x is computed");
    SP_CHECK(n->in[3] == NULL || n->in[3]->origin == SP_VALUE_CONSTANT, SP_DECLINED,
             "matmul_i32 whose zero points of y are computed");
    return SP_OK;
}

static sp_status bytes_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *a = &n->in[0]->meta;
    double number;
    product_job j = {.a = n->in[0],
                     .b = n->in[1],
                     .a_bytes = n->in[0],
                     .b_bytes = n->in[1],
                     .type = "int32_t",
                     .k = a->dims[a->rank - 1]};
    if (n->in[2] != NULL && sp__codegen_is_number(n->in[2], &number)) j.a_zero = (int32_t)number;
    if (n->in[3] != NULL && sp__codegen_is_number(n->in[3], &number)) j.b_zero = (int32_t)number;
    else j.b_zeros = n->in[3];
    return write_product(o, n, &j);
}

const sp_codegen_kernel sp_codegen_kernel_matmul = {.op = &sp_op_matmul, .write = matmul_write};
const sp_codegen_kernel sp_codegen_kernel_dense = {.op = &sp_op_dense, .write = dense_write};
const sp_codegen_kernel sp_codegen_kernel_matmul_i32 = {
    .op = &sp_op_matmul_i32, .write = bytes_write, .check = bytes_check};
