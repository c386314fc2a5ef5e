/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_complex.c - how complex numbers are written to ONNX, which has no operators on them: as pairs of floats along a last axis of
 * two, real part first, as DFT takes them. Inputs and outputs of the model are such pairs, too. */
#include <math.h>
#include <string.h>

#include "formats/onnx/onnx_out_run.h"

static sp_dtype float_of(sp_dtype dtype) { return dtype == SP_DTYPE_C128 ? SP_DTYPE_F64 : SP_DTYPE_F32; }

bool sp__onnx_out_is_pair(const sp_onnx_out *o, sp_onnx_id v) { return v && o->values[v].is_pair; }

sp_onnx_id sp__onnx_out_as_pair(sp_onnx_out *o, sp_onnx_id v)
{
    if (v && sp__onnx_out_ok(o)) o->values[v].is_pair = true;
    return v;
}

sp_onnx_id sp__onnx_out_part(sp_onnx_out *o, sp_onnx_id z, int k)
{
    return SP_ONNX_OUT(o, "Gather", "axis=-1", z, sp__onnx_out_whole(o, SP_DTYPE_I64, k));
}

sp_onnx_id sp__onnx_out_pair(sp_onnx_out *o, sp_onnx_id re, sp_onnx_id im)
{
    return sp__onnx_out_as_pair(
        o, SP_ONNX_OUT(o, "Concat", "axis=-1", sp__onnx_out_unsqueeze(o, re, -1), sp__onnx_out_unsqueeze(o, im, -1)));
}

sp_onnx_id sp__onnx_out_cast_pair(sp_onnx_out *o, sp_onnx_id x, sp_dtype dtype)
{
    bool pair = sp__onnx_out_is_pair(o, x);
    if (sp_dtype_kind(dtype) != 'c') return sp__onnx_out_cast(o, sp__onnx_out_part(o, x, 0), dtype);
    if (!pair) {
        sp_onnx_id re = sp__onnx_out_cast(o, x, float_of(dtype));
        return sp__onnx_out_pair(o, re, sp__onnx_out_mul(o, re, sp__onnx_out_number(o, 0)));
    }
    if (sp__onnx_out_dtype(o, x) == float_of(dtype)) return x;
    o->values[x].is_pair = false;
    sp_onnx_id cast = sp__onnx_out_cast(o, x, float_of(dtype));
    sp__onnx_out_as_pair(o, x);
    return sp__onnx_out_as_pair(o, cast);
}

bool sp__onnx_out_touches_complex(const sp_node *n)
{
    bool found = false;
    for (int i = 0; i < n->n_in; i++) found |= n->in[i] && sp_dtype_kind(n->in[i]->meta.dtype) == 'c';
    for (int i = 0; i < n->n_out; i++) found |= sp_dtype_kind(n->out[i]->meta.dtype) == 'c';
    return found;
}

/* --- rules ------------------------------------------------------------------------------------------------------- */

/* Parts of both operands, each broadcast to the other's shape. */
static void write_complex(sp_onnx_out *o)
{
    sp_onnx_id zero = sp__onnx_out_number(o, 0), re = o->in[0], im = o->in[1];
    const sp_meta *x = sp__onnx_out_meta(o, 0), *y = sp__onnx_out_meta(o, 1);
    if (!sp__shape_equal(x->rank, x->dims, y->rank, y->dims)) {
        re = sp__onnx_out_add(o, re, sp__onnx_out_mul(o, im, zero));
        im = sp__onnx_out_add(o, im, sp__onnx_out_mul(o, o->in[0], zero));
    }
    o->out[0] = sp__onnx_out_pair(o, re, im);
}

static void write_polar(sp_onnx_out *o)
{
    sp_onnx_id size = o->in[0], angle = o->in[1];
    o->out[0] = sp__onnx_out_pair(o, sp__onnx_out_mul(o, size, SP_ONNX_OUT(o, "Cos", NULL, angle)),
                                  sp__onnx_out_mul(o, size, SP_ONNX_OUT(o, "Sin", NULL, angle)));
}

static void write_real(sp_onnx_out *o) { o->out[0] = sp__onnx_out_part(o, o->in[0], 0); }
static void write_imag(sp_onnx_out *o) { o->out[0] = sp__onnx_out_part(o, o->in[0], 1); }

static void write_size(sp_onnx_out *o)
{
    int64_t last = -1;
    o->out[0] = sp__onnx_out_reduce(o, "ReduceL2", o->in[0], 1, &last, false);
}

/* atan2(im, re) */
static void write_angle(sp_onnx_out *o)
{
    const double pi = 3.14159265358979324;
    sp_onnx_id re = sp__onnx_out_part(o, o->in[0], 0), im = sp__onnx_out_part(o, o->in[0], 1),
               zero = sp__onnx_out_number(o, 0), turn = sp__onnx_out_number(o, pi);
    sp_onnx_id q = SP_ONNX_OUT(o, "Atan", NULL, sp__onnx_out_div(o, im, re));
    sp_onnx_id left = sp__onnx_out_where(o, SP_ONNX_OUT(o, "GreaterOrEqual", NULL, im, zero),
                                         sp__onnx_out_add(o, q, turn), sp__onnx_out_sub(o, q, turn));
    sp_onnx_id upright = sp__onnx_out_mul(o, SP_ONNX_OUT(o, "Sign", NULL, im), sp__onnx_out_number(o, pi / 2));
    o->out[0] = sp__onnx_out_where(o, SP_ONNX_OUT(o, "Greater", NULL, re, zero), q,
                                   sp__onnx_out_where(o, SP_ONNX_OUT(o, "Less", NULL, re, zero), left, upright));
}

static double one_and_minus(const void *context, int64_t i)
{
    (void)context;
    return i == 0 ? 1 : -1;
}

static void write_conj(sp_onnx_out *o)
{
    int64_t two = 2;
    o->out[0] = sp__onnx_out_as_pair(
        o, sp__onnx_out_mul(o, o->in[0],
                            sp__onnx_out_table(o, sp__onnx_out_dtype(o, o->in[0]), 1, &two, one_and_minus, NULL)));
}

/* Operand i with as many axes as the result has: the pairs must stand under each other. */
static sp_onnx_id aligned(sp_onnx_out *o, int i)
{
    sp_onnx_id z = o->in[i];
    for (int k = sp__onnx_out_meta(o, i)->rank; k < sp__onnx_out_result(o, 0)->rank; k++)
        z = sp__onnx_out_unsqueeze(o, z, 0);
    return z;
}

static void write_same(sp_onnx_out *o)
{
    if (o->node->n_in == 1) o->out[0] = sp__onnx_out_as_pair(o, SP_ONNX_OUT(o, "Neg", NULL, o->in[0]));
    else
        o->out[0] = sp__onnx_out_as_pair(
            o, SP_ONNX_OUT(o, o->node->op == &sp_op_add ? "Add" : "Sub", NULL, aligned(o, 0), aligned(o, 1)));
}

static void write_product(sp_onnx_out *o)
{
    bool divides = o->node->op != &sp_op_mul;
    sp_onnx_id a = sp__onnx_out_part(o, o->in[0], 0), b = sp__onnx_out_part(o, o->in[0], 1),
               c = sp__onnx_out_part(o, o->in[1], 0), d = sp__onnx_out_part(o, o->in[1], 1);
    sp_onnx_id norm = divides ? sp__onnx_out_add(o, sp__onnx_out_mul(o, c, c), sp__onnx_out_mul(o, d, d)) : 0;
    if (divides) d = SP_ONNX_OUT(o, "Neg", NULL, d); /* x / y = x conj(y) / |y|^2 */
    sp_onnx_id re = sp__onnx_out_sub(o, sp__onnx_out_mul(o, a, c), sp__onnx_out_mul(o, b, d)),
               im = sp__onnx_out_add(o, sp__onnx_out_mul(o, a, d), sp__onnx_out_mul(o, b, c));
    o->out[0] = divides ? sp__onnx_out_pair(o, sp__onnx_out_div(o, re, norm), sp__onnx_out_div(o, im, norm))
                        : sp__onnx_out_pair(o, re, im);
}

static void write_copy(sp_onnx_out *o) { o->out[0] = o->in[0]; }
static void write_cast(sp_onnx_out *o) { o->out[0] = sp__onnx_out_cast(o, o->in[0], sp__onnx_out_result(o, 0)->dtype); }

/* The shape of the result, and the pairs. */
static sp_onnx_id pair_shape(sp_onnx_out *o)
{
    return SP_ONNX_OUT(o, "Concat", "axis=0", sp__onnx_out_result_shape(o, 0), SP_ONNX_OUT_INTS(o, 2));
}

static void write_reshape(sp_onnx_out *o)
{
    o->out[0] = sp__onnx_out_as_pair(o, SP_ONNX_OUT(o, "Reshape", NULL, o->in[0], pair_shape(o)));
}
static void write_expand(sp_onnx_out *o)
{
    o->out[0] = sp__onnx_out_as_pair(o, SP_ONNX_OUT(o, "Expand", NULL, aligned(o, 0), pair_shape(o)));
}

static void write_transpose(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank;
    int64_t perm[SP_RANK_MAX + 1];
    sp_ints given = sp__onnx_out_list(o, "perm");
    for (int k = 0; k < rank; k++)
        perm[k] = given.n < 0 ? rank - 1 - k : given.v[k] < 0 ? given.v[k] + rank : given.v[k];
    perm[rank] = rank;
    o->out[0] = sp__onnx_out_as_pair(o, sp__onnx_out_transpose(o, o->in[0], rank + 1, perm));
}

typedef struct {
    int64_t n;
    bool inverse, sines;
} turns;

/* cos or sin of 2 pi j k / n */
static double turn_at(const void *context, int64_t i)
{
    const turns *t = context;
    double angle = 2 * 3.14159265358979324 * (double)(i / t->n * (i % t->n) % t->n) / (double)t->n;
    return t->sines ? (t->inverse ? sin(angle) : -sin(angle)) : cos(angle);
}

/* Before opset 17 there is no DFT: the product with its matrix. */
static sp_onnx_id fourier_by_matrix(sp_onnx_out *o, sp_onnx_id z, int64_t n, bool inverse)
{
    turns t = {n, inverse, false};
    sp_onnx_id re = sp__onnx_out_part(o, z, 0), im = sp__onnx_out_part(o, z, 1);
    sp_dtype d = sp__onnx_out_dtype(o, z);
    sp_onnx_id cosines = sp__onnx_out_table(o, d, 2, (int64_t[]){n, n}, turn_at, &t);
    t.sines = true;
    sp_onnx_id sines = sp__onnx_out_table(o, d, 2, (int64_t[]){n, n}, turn_at, &t);
    return sp__onnx_out_pair(
        o, sp__onnx_out_sub(o, SP_ONNX_OUT(o, "MatMul", NULL, re, cosines), SP_ONNX_OUT(o, "MatMul", NULL, im, sines)),
        sp__onnx_out_add(o, SP_ONNX_OUT(o, "MatMul", NULL, re, sines), SP_ONNX_OUT(o, "MatMul", NULL, im, cosines)));
}

/* Lines along the axis as rows of a matrix: what DFT takes everywhere. */
static void write_fft(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank, axis = sp__onnx_out_axis(o, "axis", rank);
    int64_t n = sp__onnx_out_fixed(o, 0, axis), perm[SP_RANK_MAX + 1];
    bool inverse = sp__onnx_out_int(o, "inverse") != 0;
    for (int k = 0; k <= rank; k++) perm[k] = k;
    perm[axis] = rank - 1;
    perm[rank - 1] = axis;
    sp_onnx_id z = axis != rank - 1 ? sp__onnx_out_transpose(o, o->in[0], rank + 1, perm) : o->in[0],
               shape = SP_ONNX_OUT(o, "Shape", NULL, z);
    if (o->opset < 17) z = fourier_by_matrix(o, z, n, inverse);
    else {
        sp_dtype dtype = sp__onnx_out_dtype(o, o->in[0]);
        z = SP_ONNX_OUT_RESHAPE(o, z, -1, n, 2);
        if (n & (n - 1))
            z = sp__onnx_out_cast(o, z,
                                  SP_DTYPE_F64); /* ONNX Runtime loses digits where it goes through another length */
        z = o->opset < 20 ? sp__onnx_out_op(o, "DFT", 1, &z, "axis=1, inverse=%d", inverse)
                          : sp__onnx_out_op(o, "DFT", 3, (sp_onnx_id[]){z, 0, sp__onnx_out_whole(o, SP_DTYPE_I64, 1)},
                                            "inverse=%d", inverse);
        if (inverse) z = sp__onnx_out_mul(o, z, sp__onnx_out_number(o, (double)n)); /* ours is not normalised */
        z = SP_ONNX_OUT(o, "Reshape", NULL, sp__onnx_out_cast(o, z, dtype), shape);
    }
    o->out[0] = sp__onnx_out_as_pair(o, axis != rank - 1 ? sp__onnx_out_transpose(o, z, rank + 1, perm) : z);
}

const sp_onnx_out_rule sp__onnx_out_complex[] = {
    SP_ONNX_OUT_CODE("complex", write_complex),
    SP_ONNX_OUT_CODE("polar", write_polar),
    SP_ONNX_OUT_CODE("complex_real", write_real),
    SP_ONNX_OUT_CODE("complex_imag", write_imag),
    SP_ONNX_OUT_CODE("complex_abs", write_size),
    SP_ONNX_OUT_CODE("real", write_real),
    SP_ONNX_OUT_CODE("imag", write_imag),
    SP_ONNX_OUT_CODE("angle", write_angle),
    SP_ONNX_OUT_CODE("abs", write_size),
    SP_ONNX_OUT_CODE("conj", write_conj),
    SP_ONNX_OUT_CODE("neg", write_same),
    SP_ONNX_OUT_CODE("add", write_same),
    SP_ONNX_OUT_CODE("sub", write_same),
    SP_ONNX_OUT_CODE("mul", write_product),
    SP_ONNX_OUT_CODE("div", write_product),
    SP_ONNX_OUT_CODE("cast", write_cast),
    SP_ONNX_OUT_CODE("identity", write_copy),
    SP_ONNX_OUT_CODE("copy", write_copy),
    SP_ONNX_OUT_CODE("stop_gradient", write_copy),
    SP_ONNX_OUT_CODE("reshape", write_reshape),
    SP_ONNX_OUT_CODE("transpose", write_transpose),
    SP_ONNX_OUT_CODE("broadcast_to", write_expand),
    SP_ONNX_OUT_CODE("fft", write_fft),
    {.op = NULL},
};
