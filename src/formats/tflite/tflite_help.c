/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_help.c - what the handlers of TensorFlow Lite operators share: options, contents of inputs, numbers behind integers. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/tflite/tflite_model.h"

/* --- options ----------------------------------------------------------------------------------------------------- */

int64_t sp__tflite_int(const sp_tflite_call *c, int option, int64_t missing)
{
    return c->node->given >> option & 1 ? (int32_t)(uint32_t)c->node->option[option] : missing;
}

int64_t sp__tflite_byte(const sp_tflite_call *c, int option, int64_t missing)
{
    return c->node->given >> option & 1 ? (int8_t)(uint8_t)c->node->option[option] : missing;
}

double sp__tflite_float(const sp_tflite_call *c, int option, double missing)
{
    const uint32_t bits = (uint32_t)c->node->option[option];
    float v;
    if (!(c->node->given >> option & 1)) return missing;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

sp_status sp__tflite_axis(const sp_tflite_call *c, int64_t axis, int rank, int *out)
{
    static const int of_planes[] = {0, 2, 3, 1};
    SP_TRY(sp__shape_axis(axis, rank, "axis", out));
    if (c->planes && rank == 4) *out = of_planes[*out];
    return SP_OK;
}

/* --- contents of inputs ------------------------------------------------------------------------------------------ */

sp_status sp__tflite_ints(sp_tflite_call *c, int i, sp_tflite_ints *out)
{
    sp_tensor *t = i < c->n_in ? c->in[i] : NULL, *wide = NULL;
    SP_CHECK(t != NULL, SP_FORMAT, "input %d is missing", i);
    SP_TRY(sp__tensor_need_value(t));
    SP_CHECK(sp_tensor_count(t) <= SP_TFLITE_LIST, SP_VALUE, "input %d has %lld numbers, at most %d are possible", i,
             (long long)sp_tensor_count(t), SP_TFLITE_LIST);
    SP_TRY(sp_tensor_create(SP_DTYPE_I64, sp_tensor_rank(t), sp_tensor_dims(t), &wide));
    sp_status status = sp_tensor_assign(wide, t);
    out->n = (int)sp_tensor_count(t);
    if (status == SP_OK && out->n > 0) memcpy(out->v, sp_tensor_data(wide), sizeof(int64_t) * (size_t)out->n);
    sp_tensor_release(wide);
    return status;
}

sp_status sp__tflite_one_int(sp_tflite_call *c, int i, int64_t *out)
{
    sp_tflite_ints list = {.n = 0};
    SP_TRY(sp__tflite_ints(c, i, &list));
    SP_CHECK(list.n == 1, SP_VALUE, "input %d has %d numbers, one is wanted", i, list.n);
    *out = list.v[0];
    return SP_OK;
}

sp_status sp__tflite_number(sp_tflite_call *c, int i, double *out)
{
    sp_tensor *t = i < c->n_in ? c->in[i] : NULL, *wide = NULL;
    SP_CHECK(t != NULL, SP_FORMAT, "input %d is missing", i);
    SP_TRY(sp__tensor_need_value(t));
    SP_CHECK(sp_tensor_count(t) == 1, SP_VALUE, "input %d has %lld numbers, one is wanted", i,
             (long long)sp_tensor_count(t));
    SP_TRY(sp_tensor_create(SP_DTYPE_F64, sp_tensor_rank(t), sp_tensor_dims(t), &wide));
    sp_status status = sp_tensor_assign(wide, t);
    if (status == SP_OK) *out = *(const double *)sp_tensor_data(wide);
    sp_tensor_release(wide);
    return status;
}

/* --- applying operators ------------------------------------------------------------------------------------------ */

const char *sp__tflite_list(sp_tflite_text *t, int n, const int64_t *v)
{
    size_t at = 1;
    t->text[0] = '(';
    for (int i = 0; i < n && i < SP_TFLITE_LIST; i++)
        at += (size_t)snprintf(t->text + at, sizeof t->text - at, "%lld,", (long long)v[i]);
    snprintf(t->text + at, sizeof t->text - at, ")");
    return t->text;
}

sp_tensor *sp__tflite_tensor_ints(sp_tflite_call *c, sp_dtype dtype, int n, const int64_t *v)
{
    sp_tensor *t = NULL;
    sp_status status = sp_tensor_create_from(SP_DTYPE_I64, 1, (int64_t[]){n}, v, &t);
    if (status != SP_OK) return sp__builder_fail(c->b, status);
    t = sp_builder_take_tensor(c->b, t);
    return dtype == SP_DTYPE_I64 ? t : sp_cast(c->b, t, dtype);
}

sp_tensor *sp__tflite_floats(sp_tflite_call *c, int n, const float *v)
{
    sp_tensor *t = NULL;
    sp_status status = sp_tensor_create_from(SP_DTYPE_F32, 1, (int64_t[]){n}, v, &t);
    return status == SP_OK ? sp_builder_take_tensor(c->b, t) : sp__builder_fail(c->b, status);
}

sp_tensor *sp__tflite_activate(sp_tflite_call *c, sp_tensor *x, int64_t kind)
{
    sp_tensor *one;
    switch (kind) {
    case 0: return x;
    case 1: return sp_relu(c->b, x);
    case 2:
        one = x != NULL ? sp__const(c->b, 1, x) : NULL;
        return sp_maximum(c->b, sp_minimum(c->b, x, one), sp_neg(c->b, one));
    case 3: return SP_TFLITE_OP1(c, "relu6", x, NULL);
    case 4: return sp_tanh(c->b, x);
    default:
        return sp__builder_fail(c->b, sp__fail(SP_DECLINED, "fused activation %lld is not supported", (long long)kind));
    }
}

/* --- numbers behind integers ------------------------------------------------------------------------------------- */

/* Scales or zero points as a tensor that broadcasts against x: one number, or one for each position along the axis. */
static sp_tensor *spread(sp_tflite_call *c, const sp_tflite_scale *s, const float *v, int rank, bool planes)
{
    static const int of_planes[] = {0, 2, 3, 1};
    int64_t dims[SP_RANK_MAX];
    if (s->n == 1) return sp__tflite_scalar(c, SP_DTYPE_F32, (double)v[0]);
    for (int k = 0; k < rank; k++) dims[k] = 1;
    dims[planes && rank == 4 ? of_planes[s->axis] : s->axis] = s->n;
    return sp_reshape(c->b, sp__tflite_floats(c, s->n, v), rank, dims);
}

sp_tensor *sp__tflite_real(sp_tflite_call *c, sp_tensor *x, const sp_tflite_tensor *face, bool planes)
{
    const sp_tflite_scale *s = &face->scale;
    bool shifted = false;
    if (s->n == 0 || x == NULL) return x;
    const int rank = sp_tensor_rank(x);
    for (int i = 0; i < s->n; i++) shifted = shifted || s->zero[i] != 0;
    x = sp_cast(c->b, x, SP_DTYPE_F32);
    if (s->n > 1 && s->axis >= rank)
        return sp__builder_fail(c->b,
                                sp__fail(SP_FORMAT, "scales along axis %d of a tensor of rank %d", s->axis, rank));
    if (shifted) x = sp_sub(c->b, x, spread(c, s, s->zero, rank, planes));
    return sp_mul(c->b, x, spread(c, s, s->scale, rank, planes));
}

/* Cut first: then adding and taking away 1.5 * 2^23 rounds float32 to the nearest, ties to even, in vectors. */
static sp_tensor *quantised(sp_tflite_call *c, sp_tensor *x, double zero, sp_dtype dtype, double low, double high)
{
    sp_tensor *large = sp__tflite_scalar(c, SP_DTYPE_F32, 12582912);
    x = sp_minimum(c->b, sp_maximum(c->b, x, sp__tflite_scalar(c, SP_DTYPE_F32, low - zero)),
                   sp__tflite_scalar(c, SP_DTYPE_F32, high - zero));
    x = sp_sub(c->b, sp_add(c->b, x, large), large);
    if (zero != 0) x = sp_add(c->b, x, sp__tflite_scalar(c, SP_DTYPE_F32, zero));
    return sp_cast(c->b, x, dtype);
}

sp_tensor *sp__tflite_to_quanta(sp_tflite_call *c, sp_tensor *x, const sp_tflite_tensor *face, int64_t activation)
{
    const sp_dtype dtype = face->meta.dtype;
    const bool sign = sp_dtype_kind(dtype) == 'i';
    const int bits = 8 * (int)sp_dtype_bytes(dtype);
    const double zero = (double)face->scale.zero[0], scale = (double)face->scale.scale[0];
    double low = sign ? -ldexp(1, bits - 1) : 0, high = ldexp(1, sign ? bits - 1 : bits) - 1;
    if (activation < 0 || activation > 3 || (activation != 0 && bits > 16))
        return sp__builder_fail(c->b, sp__fail(SP_DECLINED, "fused activation %lld of %s is not supported",
                                               (long long)activation, sp_dtype_name(dtype)));
    if (bits > 16) return sp_cast(c->b, sp__add_number(c->b, sp_round(c->b, x), zero), dtype);
    if (activation == 1 || activation == 3) low = fmax(low, zero);
    if (activation == 2) low = fmax(low, zero + rint(-1 / scale));
    if (activation == 2 || activation == 3) high = fmin(high, zero + rint((activation == 2 ? 1 : 6) / scale));
    return quantised(c, x, zero, dtype, low, high);
}

sp_tensor *sp__tflite_rounded(sp_tflite_call *c, sp_tensor *x, int i)
{
    const sp_tflite_tensor *face = sp__tflite_out_face(c, i);
    if (face->scale.n == 0 || x == NULL || sp_dtype_kind(sp_tensor_dtype(x)) != 'f') return x;
    if (face->scale.n > 1)
        return sp__builder_fail(
            c->b, sp__fail(SP_DECLINED, "result %d has a scale for each channel, which is not supported", i));
    if (sp_tensor_dtype(x) != SP_DTYPE_F32) x = sp_cast(c->b, x, SP_DTYPE_F32);
    x = sp_mul(c->b, x, sp__tflite_scalar(c, SP_DTYPE_F32, (double)(1.0f / face->scale.scale[0])));
    return sp__tflite_to_quanta(c, x, face, 0);
}

void sp__tflite_note_unsupported(sp__text *list, int *count, const sp_tflite_node *n)
{
    char shown[SP_NAME_SHOWN];
    if ((*count)++ >= SP_TFLITE_UNSUPPORTED_SHOWN) return;
    sp__text_put(list, "%s%.100s (node '%s')", *count > 1 ? ", " : "", n->op,
                 sp__name_shown(n->name, strlen(n->name), shown));
}

sp_status sp__tflite_spend(uint64_t *room, uint64_t n)
{
    SP_CHECK(n <= *room, SP_FORMAT, "the file lists more than it has room for");
    *room -= n;
    return SP_OK;
}
