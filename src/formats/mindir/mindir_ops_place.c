/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_ops_place.c - primitives of MindIR that pad, fill, scatter, resize and put in order. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/mindir/mindir_ops.h"

/* --- padding and filling ----------------------------------------------------------------------------------------- */

/* x, paddings from the last dimension on, the value: PadV3 {mode, paddings_contiguous}, ConstantPadND. */
sp_status sp__mindir_run_pad(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *x;
    int64_t pads[2 * SP_RANK_MAX], turned[2 * SP_RANK_MAX], contiguous;
    int n;
    if (!a) return SP_NOMEM;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    int rank = sp_tensor_rank(x);
    SP_CHECK(c->n_in >= 2, SP_FORMAT, "%s has no paddings", rule->mindir);
    SP_TRY(sp__mindir_ints(c->in[1], 2 * SP_RANK_MAX, pads, &n));
    SP_CHECK(n % 2 == 0 && n / 2 <= rank, SP_FORMAT, "%d paddings for rank %d", n, rank);
    SP_TRY(sp__mindir_int_argument(c, -1, "paddings_contiguous", 1, &contiguous));
    SP_CHECK(contiguous, SP_FORMAT, "paddings that are not in pairs are not supported");
    for (int i = 0; i < 2 * rank; i++) turned[i] = 0;
    for (int i = 0; i < n; i++) turned[2 * (rank - 1 - i / 2) + i % 2] = pads[i];
    sp__mindir_put_list(a, "pads", 2 * rank, turned);
    const sp_mindir_value *mode = sp__mindir_attr(c, "mode");
    if (mode && mode->kind != SP_MINDIR_NONE) {
        static const char *const ours[] = {"constant", "reflect", "replicate", "replicate", "circular"};
        int way;
        SP_TRY(sp__mindir_word(mode, "mode", "constant reflect edge replicate circular", &way));
        sp__mindir_put(a, ", mode=%s", ours[way]);
        if (way != 0) return sp__mindir_apply_text(c, "pad", a->text, 1, &x, out);
    }
    if (c->n_in > 2 && c->in[2]->kind != SP_MINDIR_NONE) {
        double value;
        SP_TRY(sp__mindir_real(c->in[2], "the value that is padded with", &value));
        if (sp_dtype_kind(sp_tensor_dtype(x)) == 'f') sp__mindir_put(a, ", value=%.17g", value);
        else sp__mindir_put(a, ", value=%lld", (long long)value);
    }
    return sp__mindir_apply_text(c, "pad", a->text, 1, &x, out);
}

/* Pad: the pairs are an attribute, from the first dimension on. */
sp_status sp__mindir_run_pad_attr(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *x;
    int64_t pads[2 * SP_RANK_MAX];
    int n;
    const sp_mindir_value *v = sp__mindir_argument(c, 1, "paddings"), *mode = sp__mindir_attr(c, "mode");
    if (!a) return SP_NOMEM;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_CHECK(v, SP_FORMAT, "%s has no paddings", rule->mindir);
    SP_TRY(sp__mindir_ints(v, 2 * SP_RANK_MAX, pads, &n));
    SP_CHECK(n == 2 * sp_tensor_rank(x), SP_FORMAT, "%d paddings for rank %d", n, sp_tensor_rank(x));
    sp__mindir_put_list(a, "pads", n, pads);
    if (mode && mode->kind != SP_MINDIR_NONE) {
        static const char *const ours[] = {"constant", "reflect", "symmetric"};
        int way;
        SP_TRY(sp__mindir_word(mode, "mode", "CONSTANT REFLECT SYMMETRIC", &way));
        sp__mindir_put(a, ", mode=%s", ours[way]);
    }
    return sp__mindir_apply_text(c, "pad", a->text, 1, &x, out);
}

/* A value spread to a shape: FillV2(shape, value), FillScalar(shape, value, dtype). */
sp_status sp__mindir_run_fill(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    int at = !strcmp(rule->mindir, "Fill") ? 1 : 0, n;
    int64_t dims[SP_RANK_MAX];
    sp_tensor *value;
    if (!a) return SP_NOMEM;
    SP_CHECK(c->n_in >= at + 2, SP_FORMAT, "%s has %d inputs, it needs %d", rule->mindir, c->n_in, at + 2);
    SP_TRY(sp__mindir_ints(c->in[at], SP_RANK_MAX, dims, &n));
    SP_TRY(sp__mindir_operand(c, at + 1, &value));
    const sp_mindir_value *type = at ? c->in[0] : c->n_in > 2 ? c->in[2] : NULL;
    if (type && type->kind != SP_MINDIR_NONE) {
        const sp_attr dtype = {.name = "dtype", .type = SP_ATTR_DTYPE, .initial = "None"};
        SP_TRY(sp__mindir_put_attr(a, &dtype, type));
        SP_TRY(sp__mindir_apply_text(c, "cast", a->text, 1, &value, out));
        value = (*out)->t;
        a->used = 0;
    } else if (value->flags & SP_TENSOR_WEAK) { /* its dtype is its own now */
        sp_tensor *strong = sp_builder_call(c->b, "copy", "", 1, &value);
        if (!strong) return sp__builder_status(c->b);
        value = strong;
    }
    sp__mindir_put_list(a, "shape", n, dims);
    return sp__mindir_apply_text(c, "broadcast_to", a->text, 1, &value, out);
}

/* --- scatter ----------------------------------------------------------------------------------------------------- */

/* indices, updates, shape: added up on zeros. */
sp_status sp__mindir_run_scatter_nd(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *in[3];
    int64_t dims[SP_RANK_MAX];
    int n;
    if (!a) return SP_NOMEM;
    SP_TRY(sp__mindir_operand(c, 0, &in[1]));
    SP_TRY(sp__mindir_operand(c, 1, &in[2]));
    SP_CHECK(c->n_in >= 3, SP_FORMAT, "%s has no shape", rule->mindir);
    SP_TRY(sp__mindir_ints(c->in[2], SP_RANK_MAX, dims, &n));
    sp__mindir_put_list(a, "shape", n, dims);
    sp__mindir_put(a, ", dtype=%s", sp_dtype_name(sp_tensor_dtype(in[2])));
    if (!(in[0] = sp_builder_call(c->b, "full", a->text, 0, NULL))) return sp__builder_status(c->b);
    return sp__mindir_apply_text(c, "tensor_scatter", "reduce=add", 3, in, out);
}

/* data, indices, updates, axis, reduce: none or add. */
sp_status sp__mindir_run_scatter_elements(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *in[3];
    int64_t axis;
    int way = 0;
    (void)rule;
    for (int i = 0; i < 3; i++) SP_TRY(sp__mindir_operand(c, i, &in[i]));
    SP_TRY(sp__mindir_int_argument(c, 3, "axis", 0, &axis));
    const sp_mindir_value *v = sp__mindir_argument(c, 4, sp__mindir_attr(c, "reduce") ? "reduce" : "reduction");
    if (v && v->kind != SP_MINDIR_NONE) SP_TRY(sp__mindir_word(v, "reduction", "none add", &way));
    return sp__mindir_call(c, "scatter_elements", 3, in, out, "axis=%lld, reduce=%s", (long long)axis,
                           way ? "add" : "none");
}

/* --- order ------------------------------------------------------------------------------------------------------- */

/* Cummin numbers places by int32. */
sp_status sp__mindir_run_cummin(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int64_t axis;
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(sp__mindir_int_argument(c, 1, "axis", 0, &axis));
    SP_TRY(sp__mindir_call(c, "cummin", 1, &x, out, "axis=%lld", (long long)axis));
    return sp__mindir_call(c, "cast", 1, &(*out)->items[1]->t, &(*out)->items[1], "dtype=int32");
}

/* --- sizes of pictures ------------------------------------------------------------------------------------------- */

/* x, size, align_corners, half_pixel_centers; the mode is in the rule. */
sp_status sp__mindir_run_resize(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *x;
    int64_t size[4], align, half;
    int n;
    if (!a) return SP_NOMEM;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    const sp_mindir_value *v = sp__mindir_argument(c, 1, "size");
    SP_CHECK(v && v->kind != SP_MINDIR_NONE, SP_FORMAT, "%s has no size", rule->mindir);
    SP_TRY(sp__mindir_ints(v, 4, size, &n));
    SP_CHECK(n == sp_tensor_rank(x) - 2, SP_FORMAT, "%d sizes for rank %d", n, sp_tensor_rank(x));
    SP_TRY(sp__mindir_int_argument(c, 2, "align_corners", 0, &align));
    SP_TRY(sp__mindir_int_argument(c, 3, "half_pixel_centers", 0, &half));
    sp__mindir_put_list(a, "size", n, size);
    sp__mindir_put(a, ", mode=%s, coordinates=%s", rule->inputs,
                   align  ? "align_corners"
                   : half ? "half_pixel"
                          : "asymmetric");
    return sp__mindir_apply_text(c, "resize", a->text, 1, &x, out);
}

/* Channels to places, or back: DepthToSpace {block_size}. */
sp_status sp__mindir_run_blocks(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int64_t block;
    bool back = !strcmp(rule->mindir, "SpaceToDepth");
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(sp__mindir_int_argument(c, -1, "block_size", 0, &block));
    SP_CHECK(sp_tensor_rank(x) == 4 && block > 0 && block < 1 << 15, SP_FORMAT, "%s of blocks of %lld at rank %d",
             rule->mindir, (long long)block, sp_tensor_rank(x));
    const int64_t *d = sp_tensor_dims(x);
    SP_CHECK(back ? d[2] % block == 0 && d[3] % block == 0 : d[1] % (block * block) == 0, SP_VALUE,
             "blocks of %lld do not fit", (long long)block);
    if (back) {
        SP_TRY(sp__mindir_reshape(c, x, 6, (int64_t[]){d[0], d[1], d[2] / block, block, d[3] / block, block}, out));
        sp_tensor *t = sp_builder_call(c->b, "transpose", "perm=(0,3,5,1,2,4)", 1, &(*out)->t);
        return t ? sp__mindir_reshape(c, t, 4, (int64_t[]){d[0], d[1] * block * block, d[2] / block, d[3] / block}, out)
                 : sp__builder_status(c->b);
    }
    SP_TRY(sp__mindir_reshape(c, x, 6, (int64_t[]){d[0], block, block, d[1] / (block * block), d[2], d[3]}, out));
    sp_tensor *t = sp_builder_call(c->b, "transpose", "perm=(0,3,4,1,5,2)", 1, &(*out)->t);
    return t ? sp__mindir_reshape(c, t, 4, (int64_t[]){d[0], d[1] / (block * block), d[2] * block, d[3] * block}, out)
             : sp__builder_status(c->b);
}

/* image, boxes, box_index, crop_size {method, extrapolation_value}. */
sp_status sp__mindir_run_crop(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *at;
    SP_TRY(sp__mindir_operand(c, 2, &at));
    SP_TRY(sp__mindir_call(c, "cast", 1, &at, &c->in[2], "dtype=int64"));
    return sp__mindir_run_text(c, rule, out);
}

/* --- transforms -------------------------------------------------------------------------------------------------- */

/* x, length (None: as it is), dim, norm: backward 0, forward 1, ortho 2. */
sp_status sp__mindir_run_fft(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int64_t dim, norm;
    bool inverse = !strcmp(rule->mindir, "IFFT");
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_CHECK(c->n_in < 2 || c->in[1]->kind == SP_MINDIR_NONE, SP_FORMAT,
             "a transform of another length is not supported");
    SP_TRY(sp__mindir_int_argument(c, 2, "dim", -1, &dim));
    SP_TRY(sp__mindir_int_argument(c, 3, "norm", 0, &norm));
    if (sp_dtype_kind(sp_tensor_dtype(x)) != 'c') {
        bool wide = sp_tensor_dtype(x) == SP_DTYPE_F64;
        SP_TRY(sp__mindir_call(c, "cast", 1, &x, out, "dtype=%s", wide ? "complex128" : "complex64"));
        x = (*out)->t;
    }
    int64_t at = dim < 0 ? dim + sp_tensor_rank(x) : dim;
    SP_CHECK(at >= 0 && at < sp_tensor_rank(x), SP_VALUE, "dim %lld is out of range for rank %d", (long long)dim,
             sp_tensor_rank(x));
    double n = (double)sp_tensor_dims(x)[at], scale = norm == 2 ? 1 / sqrt(n) : (norm == 1) != inverse ? 1 / n : 1;
    SP_TRY(sp__mindir_call(c, "fft", 1, &x, out, "axis=%lld, inverse=%s", (long long)dim, inverse ? "True" : "False"));
    if (scale == 1) return SP_OK;
    sp_tensor *factor, *pair[2] = {(*out)->t};
    SP_TRY(sp_tensor_create_f64(SP_DTYPE_F32, scale, &factor));
    factor->flags |= SP_TENSOR_WEAK;
    pair[1] = sp_builder_take_tensor(c->b, factor);
    return sp__mindir_apply_text(c, "mul", "", 2, pair, out);
}

/* --- matrices ---------------------------------------------------------------------------------------------------- */

/* a, b, trans, lower, unit_diagonal. */
sp_status sp__mindir_run_triangular(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *in[2];
    int64_t trans, lower, unit;
    (void)rule;
    for (int i = 0; i < 2; i++) SP_TRY(sp__mindir_operand(c, i, &in[i]));
    SP_TRY(sp__mindir_int_argument(c, 2, "trans", 0, &trans));
    SP_TRY(sp__mindir_int_argument(c, 3, "lower", 0, &lower));
    SP_TRY(sp__mindir_int_argument(c, 4, "unit_diagonal", 0, &unit));
    return sp__mindir_call(c, "triangular_solve", 2, in, out, "upper=%s, transpose=%s, unit=%s",
                           lower ? "False" : "True", trans ? "True" : "False", unit ? "True" : "False");
}
