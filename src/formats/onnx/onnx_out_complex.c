/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_complex.c - how complex numbers are written to ONNX, which has no operators on them: as pairs of floats along a last axis of
 * two, real part first, as DFT takes them. Inputs and outputs of the model are such pairs, too. */
#include <math.h>
#include <string.h>

#include "formats/onnx/onnx_out_run.h"

static sp_dtype float_of(sp_dtype dtype) { return dtype == SP_DTYPE_C128 ? SP_DTYPE_F64 : SP_DTYPE_F32; }

bool sp__ox_is_pair(const ox_out *o, ox v) { return v && o->values[v].is_pair; }

ox sp__ox_as_pair(ox_out *o, ox v)
{
    if (v && sp__ox_ok(o)) o->values[v].is_pair = true;
    return v;
}

ox sp__ox_part(ox_out *o, ox z, int k) { return SP_OX(o, "Gather", "axis=-1", z, sp__ox_whole(o, SP_DTYPE_I64, k)); }

ox sp__ox_pair(ox_out *o, ox re, ox im)
{
    return sp__ox_as_pair(o, SP_OX(o, "Concat", "axis=-1", sp__ox_unsqueeze(o, re, -1), sp__ox_unsqueeze(o, im, -1)));
}

ox sp__ox_cast_pair(ox_out *o, ox x, sp_dtype dtype)
{
    bool pair = sp__ox_is_pair(o, x);
    if (sp_dtype_kind(dtype) != 'c') return sp__ox_cast(o, sp__ox_part(o, x, 0), dtype);
    if (!pair) {
        ox re = sp__ox_cast(o, x, float_of(dtype));
        return sp__ox_pair(o, re, sp__ox_mul(o, re, sp__ox_number(o, 0)));
    }
    if (sp__ox_dtype(o, x) == float_of(dtype)) return x;
    o->values[x].is_pair = false;
    ox cast = sp__ox_cast(o, x, float_of(dtype));
    sp__ox_as_pair(o, x);
    return sp__ox_as_pair(o, cast);
}

bool sp__ox_touches_complex(const sp_node *n)
{
    bool found = false;
    for (int i = 0; i < n->n_in; i++) found |= n->in[i] && sp_dtype_kind(n->in[i]->meta.dtype) == 'c';
    for (int i = 0; i < n->n_out; i++) found |= sp_dtype_kind(n->out[i]->meta.dtype) == 'c';
    return found;
}

/* --- rules ------------------------------------------------------------------------------------------------------- */

/* Parts of both operands, each broadcast to the other's shape. */
static void write_complex(ox_out *o)
{
    ox zero = sp__ox_number(o, 0), re = o->in[0], im = o->in[1];
    const sp_meta *x = sp__ox_meta(o, 0), *y = sp__ox_meta(o, 1);
    if (!sp__shape_equal(x->rank, x->dims, y->rank, y->dims)) {
        re = sp__ox_add(o, re, sp__ox_mul(o, im, zero));
        im = sp__ox_add(o, im, sp__ox_mul(o, o->in[0], zero));
    }
    o->out[0] = sp__ox_pair(o, re, im);
}

static void write_polar(ox_out *o)
{
    ox size = o->in[0], angle = o->in[1];
    o->out[0] = sp__ox_pair(o, sp__ox_mul(o, size, SP_OX(o, "Cos", NULL, angle)),
                            sp__ox_mul(o, size, SP_OX(o, "Sin", NULL, angle)));
}

static void write_real(ox_out *o) { o->out[0] = sp__ox_part(o, o->in[0], 0); }
static void write_imag(ox_out *o) { o->out[0] = sp__ox_part(o, o->in[0], 1); }

static void write_size(ox_out *o)
{
    int64_t last = -1;
    o->out[0] = sp__ox_reduce(o, "ReduceL2", o->in[0], 1, &last, false);
}

/* atan2(im, re) */
static void write_angle(ox_out *o)
{
    const double pi = 3.14159265358979324;
    ox re = sp__ox_part(o, o->in[0], 0), im = sp__ox_part(o, o->in[0], 1), zero = sp__ox_number(o, 0),
       turn = sp__ox_number(o, pi);
    ox q = SP_OX(o, "Atan", NULL, sp__ox_div(o, im, re));
    ox left =
        sp__ox_where(o, SP_OX(o, "GreaterOrEqual", NULL, im, zero), sp__ox_add(o, q, turn), sp__ox_sub(o, q, turn));
    ox upright = sp__ox_mul(o, SP_OX(o, "Sign", NULL, im), sp__ox_number(o, pi / 2));
    o->out[0] = sp__ox_where(o, SP_OX(o, "Greater", NULL, re, zero), q,
                             sp__ox_where(o, SP_OX(o, "Less", NULL, re, zero), left, upright));
}

static double one_and_minus(const void *context, int64_t i)
{
    (void)context;
    return i == 0 ? 1 : -1;
}

static void write_conj(ox_out *o)
{
    int64_t two = 2;
    o->out[0] = sp__ox_as_pair(
        o, sp__ox_mul(o, o->in[0], sp__ox_table(o, sp__ox_dtype(o, o->in[0]), 1, &two, one_and_minus, NULL)));
}

/* Operand i with as many axes as the result has: the pairs must stand under each other. */
static ox aligned(ox_out *o, int i)
{
    ox z = o->in[i];
    for (int k = sp__ox_meta(o, i)->rank; k < sp__ox_result(o, 0)->rank; k++) z = sp__ox_unsqueeze(o, z, 0);
    return z;
}

static void write_same(ox_out *o)
{
    const char *op = o->node->op->name;
    if (o->node->n_in == 1) o->out[0] = sp__ox_as_pair(o, SP_OX(o, "Neg", NULL, o->in[0]));
    else
        o->out[0] = sp__ox_as_pair(o, SP_OX(o, !strcmp(op, "add") ? "Add" : "Sub", NULL, aligned(o, 0), aligned(o, 1)));
}

static void write_product(ox_out *o)
{
    bool divides = o->node->op->name[0] == 'd';
    ox a = sp__ox_part(o, o->in[0], 0), b = sp__ox_part(o, o->in[0], 1), c = sp__ox_part(o, o->in[1], 0),
       d = sp__ox_part(o, o->in[1], 1);
    ox norm = divides ? sp__ox_add(o, sp__ox_mul(o, c, c), sp__ox_mul(o, d, d)) : 0;
    if (divides) d = SP_OX(o, "Neg", NULL, d); /* x / y = x conj(y) / |y|^2 */
    ox re = sp__ox_sub(o, sp__ox_mul(o, a, c), sp__ox_mul(o, b, d)),
       im = sp__ox_add(o, sp__ox_mul(o, a, d), sp__ox_mul(o, b, c));
    o->out[0] = divides ? sp__ox_pair(o, sp__ox_div(o, re, norm), sp__ox_div(o, im, norm)) : sp__ox_pair(o, re, im);
}

static void write_copy(ox_out *o) { o->out[0] = o->in[0]; }
static void write_cast(ox_out *o) { o->out[0] = sp__ox_cast(o, o->in[0], sp__ox_result(o, 0)->dtype); }

/* The shape of the result, and the pairs. */
static ox pair_shape(ox_out *o) { return SP_OX(o, "Concat", "axis=0", sp__ox_result_shape(o, 0), SP_OX_INTS(o, 2)); }

static void write_reshape(ox_out *o)
{
    o->out[0] = sp__ox_as_pair(o, SP_OX(o, "Reshape", NULL, o->in[0], pair_shape(o)));
}
static void write_expand(ox_out *o)
{
    o->out[0] = sp__ox_as_pair(o, SP_OX(o, "Expand", NULL, aligned(o, 0), pair_shape(o)));
}

static void write_transpose(ox_out *o)
{
    int rank = sp__ox_meta(o, 0)->rank;
    int64_t perm[SP_RANK_MAX + 1];
    sp_ints given = sp__ox_list(o, "perm");
    for (int k = 0; k < rank; k++)
        perm[k] = given.n < 0 ? rank - 1 - k : given.v[k] < 0 ? given.v[k] + rank : given.v[k];
    perm[rank] = rank;
    o->out[0] = sp__ox_as_pair(o, sp__ox_transpose(o, o->in[0], rank + 1, perm));
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
static ox fourier_by_matrix(ox_out *o, ox z, int64_t n, bool inverse)
{
    turns t = {n, inverse, false};
    ox re = sp__ox_part(o, z, 0), im = sp__ox_part(o, z, 1);
    sp_dtype d = sp__ox_dtype(o, z);
    ox cosines = sp__ox_table(o, d, 2, (int64_t[]){n, n}, turn_at, &t);
    t.sines = true;
    ox sines = sp__ox_table(o, d, 2, (int64_t[]){n, n}, turn_at, &t);
    return sp__ox_pair(o, sp__ox_sub(o, SP_OX(o, "MatMul", NULL, re, cosines), SP_OX(o, "MatMul", NULL, im, sines)),
                       sp__ox_add(o, SP_OX(o, "MatMul", NULL, re, sines), SP_OX(o, "MatMul", NULL, im, cosines)));
}

/* Lines along the axis as rows of a matrix: what DFT takes everywhere. */
static void write_fft(ox_out *o)
{
    int rank = sp__ox_meta(o, 0)->rank, axis = sp__ox_axis(o, "axis", rank);
    int64_t n = sp__ox_fixed(o, 0, axis), perm[SP_RANK_MAX + 1];
    bool inverse = sp__ox_int(o, "inverse") != 0;
    for (int k = 0; k <= rank; k++) perm[k] = k;
    perm[axis] = rank - 1;
    perm[rank - 1] = axis;
    ox z = axis != rank - 1 ? sp__ox_transpose(o, o->in[0], rank + 1, perm) : o->in[0],
       shape = SP_OX(o, "Shape", NULL, z);
    if (o->opset < 17) z = fourier_by_matrix(o, z, n, inverse);
    else {
        sp_dtype dtype = sp__ox_dtype(o, o->in[0]);
        z = SP_OX_RESHAPE(o, z, -1, n, 2);
        if (n & (n - 1))
            z = sp__ox_cast(o, z, SP_DTYPE_F64); /* ONNX Runtime loses digits where it goes through another length */
        z = o->opset < 20
                ? sp__ox_op(o, "DFT", 1, &z, "axis=1, inverse=%d", inverse)
                : sp__ox_op(o, "DFT", 3, (ox[]){z, 0, sp__ox_whole(o, SP_DTYPE_I64, 1)}, "inverse=%d", inverse);
        if (inverse) z = sp__ox_mul(o, z, sp__ox_number(o, (double)n)); /* ours is not normalised */
        z = SP_OX(o, "Reshape", NULL, sp__ox_cast(o, z, dtype), shape);
    }
    o->out[0] = sp__ox_as_pair(o, axis != rank - 1 ? sp__ox_transpose(o, z, rank + 1, perm) : z);
}

const ox_rule sp__ox_complex[] = {
    SP_OX_CODE("complex", write_complex),
    SP_OX_CODE("polar", write_polar),
    SP_OX_CODE("complex_real", write_real),
    SP_OX_CODE("complex_imag", write_imag),
    SP_OX_CODE("complex_abs", write_size),
    SP_OX_CODE("real", write_real),
    SP_OX_CODE("imag", write_imag),
    SP_OX_CODE("angle", write_angle),
    SP_OX_CODE("abs", write_size),
    SP_OX_CODE("conj", write_conj),
    SP_OX_CODE("neg", write_same),
    SP_OX_CODE("add", write_same),
    SP_OX_CODE("sub", write_same),
    SP_OX_CODE("mul", write_product),
    SP_OX_CODE("div", write_product),
    SP_OX_CODE("cast", write_cast),
    SP_OX_CODE("identity", write_copy),
    SP_OX_CODE("copy", write_copy),
    SP_OX_CODE("stop_gradient", write_copy),
    SP_OX_CODE("reshape", write_reshape),
    SP_OX_CODE("transpose", write_transpose),
    SP_OX_CODE("broadcast_to", write_expand),
    SP_OX_CODE("fft", write_fft),
    {.op = NULL},
};
