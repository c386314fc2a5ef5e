/* SPDX-License-Identifier: Apache-2.0 */
/* normalize.c - pixels to floats: Rescale, Normalize, NormalizePad, ToTensor.
 *
 * A uint8 image has 256 values a channel, so the result of each is computed once and looked up; writing channels first in
 * the same pass saves a pass over the floats. Other dtypes are converted to float32 and computed. */
#include "data/transform.h"
#include "data/transforms/pixel_rows.h"

/* The image with float32 pixels; `made` is to be released. */
static sp_status as_float(const char *who, const sp_image *in, sp_image *out, sp_tensor **made)
{
    *made = NULL;
    *out = *in;
    if (in->dtype == SP_DTYPE_F32) return SP_OK;
    SP_CHECK(sp__cast_loop(in->dtype, SP_DTYPE_F32) && sp_dtype_kind(in->dtype) != 'c', SP_RUNTIME,
             "%s: images of dtype %s are not possible", who, sp_dtype_name(in->dtype));
    SP_TRY(sp__image_create(SP_DTYPE_F32, in->rank, in->h, in->w, in->c, out));
    *made = out->owner;
    return sp_tensor_assign(out->owner, in->owner);
}

/* y = (x - b) / a (division) or x * a + b, for each channel. */
typedef struct channel_map {
    int n;
    bool division;
    const float *a, *b;
} channel_map;

static inline float mapped(const channel_map *m, int k, float x)
{
    return m->division ? (x - m->b[k]) / m->a[k] : x * m->a[k] + m->b[k];
}

/* HWC in. planes: channels first out. */
static void map_u8(const sp_image *in, const channel_map *m, bool planes, float *table, float *dst)
{
    const int c = in->c;
    const int64_t plane = (int64_t)in->h * in->w;
    for (int k = 0; k < c; k++)
        for (int v = 0; v < 256; v++) table[k * 256 + v] = mapped(m, k, (float)v);
    for (int y = 0; y < in->h; y++) {
        const uint8_t *src = sp__image_row(in, y);
        if (planes) {
            for (int k = 0; k < c; k++) {
                const float *t = table + k * 256;
                float *to = dst + k * plane + (int64_t)y * in->w;
                for (int x = 0; x < in->w; x++) to[x] = t[src[x * c + k]];
            }
        } else {
            float *to = dst + (int64_t)y * in->w * c;
            for (int x = 0; x < in->w; x++)
                for (int k = 0; k < c; k++) to[x * c + k] = table[k * 256 + src[x * c + k]];
        }
    }
}

static void map_f32(const sp_image *in, const channel_map *m, bool planes, float *dst)
{
    const int c = in->c;
    const int64_t plane = (int64_t)in->h * in->w;
    for (int y = 0; y < in->h; y++) {
        const float *src = sp__image_row(in, y);
        for (int x = 0; x < in->w; x++)
            for (int k = 0; k < c; k++)
                dst[planes ? k * plane + (int64_t)y * in->w + x : ((int64_t)y * in->w + x) * c + k] =
                    mapped(m, k, src[x * c + k]);
    }
}

static sp_status map_image(const char *who, const sp_image *in, const channel_map *m, bool planes, sp_tensor *into,
                           sp_image *out)
{
    if (planes) SP_TRY(sp__image_create_into(into, SP_DTYPE_F32, 3, in->c, in->h, in->w, out));
    else SP_TRY(sp__image_create_into(into, SP_DTYPE_F32, in->rank, in->h, in->w, in->c, out));
    float *dst = (float *)(void *)out->data;
    if (in->dtype == SP_DTYPE_U8 && planes && m->division && in->c == 3) {
        const sp_rows *loops = sp__rows();
        const int64_t plane = (int64_t)in->h * in->w;
        for (int y = 0; y < in->h; y++) {
            float *const to[3] = {dst + (int64_t)y * in->w, dst + plane + (int64_t)y * in->w,
                                  dst + 2 * plane + (int64_t)y * in->w};
            loops->planes(sp__image_row(in, y), in->w, m->b, m->a, to);
        }
        return SP_OK;
    }
    if (in->dtype == SP_DTYPE_U8) {
        float *table = sp__alloc((size_t)in->c * 256 * sizeof *table);
        if (!table) return SP_NOMEM;
        map_u8(in, m, planes, table, dst);
        sp__free(table);
        return SP_OK;
    }
    sp_image wide;
    sp_tensor *made;
    SP_TRY(as_float(who, in, &wide, &made));
    map_f32(&wide, m, planes, dst);
    sp_tensor_release(made);
    return SP_OK;
}

/* --- Rescale, ToTensor --------------------------------------------------------------------------------------------- */

/* Any shape: seen as one row. */
static sp_status rescale_run(sp_transform_call *c)
{
    const float mul = (float)sp__arg(c, 0, 0), add = (float)sp__arg(c, 1, 0);
    sp_tensor *out = NULL, *in = c->in[0];
    SP_CHECK(sp__cast_loop((sp_dtype)in->dtype, SP_DTYPE_F32) && sp_dtype_kind((sp_dtype)in->dtype) != 'c', SP_RUNTIME,
             "Rescale: images of dtype %s are not possible", sp_dtype_name((sp_dtype)in->dtype));
    SP_TRY(sp_tensor_create(SP_DTYPE_F32, in->rank, in->dims, &out));
    if (in->dtype == SP_DTYPE_U8 && (in->flags & SP_TENSOR_CONTIGUOUS)) {
        sp__rows()->scale((const uint8_t *)in->data, mul, add, in->count, (float *)(void *)out->data);
        return sp__give(c, out);
    }
    const sp_status status = sp_tensor_assign(out, in);
    if (status != SP_OK) {
        sp_tensor_release(out);
        return status;
    }
    float *p = (float *)(void *)out->data;
    for (int64_t i = 0; i < out->count; i++) p[i] = p[i] * mul + add;
    return sp__give(c, out);
}

const sp_transform_op sp_transform_Rescale = {
    .name = "Rescale",
    .attrs = {{"rescale", 1, 1, 0, 0, SP_NEED, {0}}, {"shift", 1, 1, 0, 0, SP_NEED, {0}}},
    .run = rescale_run};

static sp_status to_tensor_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    const sp_dtype dtype = (sp_dtype)sp__arg_int(c, 0, 0);
    float *a = sp__alloc((size_t)in->c * 2 * sizeof *a);
    if (!a) return SP_NOMEM;
    for (int k = 0; k < in->c; k++) a[k] = 1 / 255.f, a[in->c + k] = 0;
    const channel_map m = {.n = in->c, .a = a, .b = a + in->c};
    sp_image f = {.owner = NULL};
    sp_status status = map_image("ToTensor", in, &m, true, c->into, &f);
    sp__free(a);
    if (status != SP_OK || dtype == SP_DTYPE_F32) {
        *out = f;
        return status;
    }
    status = sp__image_create(dtype, 3, f.h, f.w, f.c, out);
    if (status == SP_OK) status = sp_tensor_assign(out->owner, f.owner);
    sp_tensor_release(f.owner);
    return status;
}
static sp_status to_tensor_run(sp_transform_call *c) { return sp__run_image(c, to_tensor_kernel); }

const sp_transform_op sp_transform_ToTensor = {
    .name = "ToTensor",
    .attrs = {{"output_type", 1, 1, 0, SP_DTYPE_COUNT - 1, 1, {SP_DTYPE_F32}}},
    .run = to_tensor_run};

/* --- Normalize ------------------------------------------------------------------------------------------------------ */

enum { NORM_MEAN, NORM_STD, NORM_HWC, NORM_DTYPE };

static sp_status norm_check(const sp_transform *t)
{
    SP_CHECK(t->attr[NORM_MEAN].n == t->attr[NORM_STD].n, SP_VALUE,
             "%s: mean and std must have one length, but got %d and %d", t->op->name, t->attr[NORM_MEAN].n,
             t->attr[NORM_STD].n);
    for (int i = 0; i < t->attr[NORM_STD].n; i++)
        SP_CHECK(t->attr[NORM_STD].v[i] > 0, SP_VALUE, "%s: std must be above 0, but got %g", t->op->name,
                 t->attr[NORM_STD].v[i]);
    return SP_OK;
}

/* std, then mean, a number for each of n channels. Freed by the caller. */
static sp_status norm_numbers(const sp_transform *t, int n, float **out)
{
    const int given = t->attr[NORM_MEAN].n;
    SP_CHECK(
        given == n || given == 1, SP_RUNTIME,
        "%s: number of channels does not match the size of mean and std vectors, got channels: %d, size of mean: %d",
        t->op->name, n, given);
    float *v = sp__alloc((size_t)n * 2 * sizeof *v);
    if (!v) return SP_NOMEM;
    for (int k = 0; k < n; k++) {
        v[k] = (float)t->attr[NORM_STD].v[given == 1 ? 0 : k];
        v[n + k] = (float)t->attr[NORM_MEAN].v[given == 1 ? 0 : k];
    }
    *out = v;
    return SP_OK;
}

/* Channels first: every plane is an image of one channel. */
static sp_status norm_planes(const sp_transform *t, const sp_image *in, sp_image *out)
{
    SP_CHECK(in->rank == 3, SP_RUNTIME, "%s: an image of shape <C,H,W> is wanted, but this one has 2 dimensions",
             t->op->name);
    float *v = NULL;
    sp_image wide = {.owner = NULL};
    sp_tensor *made = NULL;
    sp_status status;
    SP_TRY(norm_numbers(t, in->h, &v));
    SP_GOTO(done, as_float(t->op->name, in, &wide, &made));
    SP_GOTO(done, sp__image_create(SP_DTYPE_F32, 3, in->h, in->w, in->c, out));
    for (int k = 0; k < in->h; k++) {
        const float *src = sp__image_row(&wide, k);
        float *dst = sp__image_row(out, k);
        const float div = v[k], sub = v[in->h + k];
        for (int64_t i = 0; i < (int64_t)in->w * in->c; i++) dst[i] = (src[i] - sub) / div;
    }
done:
    sp__free(v);
    sp_tensor_release(made);
    return status;
}

sp_status sp__image_normalize(const sp_transform *t, const sp_image *in, bool chw, sp_tensor *into, sp_image *out)
{
    if (t->attr[NORM_HWC].v[0] == 0) return norm_planes(t, in, out);
    float *v = NULL;
    SP_TRY(norm_numbers(t, in->c, &v));
    const channel_map m = {.n = in->c, .division = true, .a = v, .b = v + in->c};
    const sp_status status = map_image(t->op->name, in, &m, chw && in->rank == 3, into, out);
    sp__free(v);
    return status;
}

static sp_status normalize_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    return sp__image_normalize(c->t, in, false, c->into, out);
}
static sp_status normalize_run(sp_transform_call *c) { return sp__run_image(c, normalize_kernel); }

#define NORM_ATTRS                                                                                                     \
    {"mean", 1, 0, 0, 255, SP_NEED, {0}}, {"std", 1, 0, 0, 255, SP_NEED, {0}}, { "is_hwc", 1, 1, 0, 1, 1, {1} }

const sp_transform_op sp_transform_Normalize = {
    .name = "Normalize", .batched = true, .attrs = {NORM_ATTRS}, .check = norm_check, .run = normalize_run};

/* --- NormalizePad ---------------------------------------------------------------------------------------------------- */

/* A fourth channel of zeros behind the three. */
static sp_status normalize_pad_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    const bool hwc = sp__arg(c, NORM_HWC, 0) != 0, half = sp__arg(c, NORM_DTYPE, 0) == SP_DTYPE_F16;
    const int channels = hwc ? in->c : in->h;
    SP_CHECK(in->rank == 3 && channels == 3, SP_RUNTIME,
             "NormalizePad: an image of 3 channels is wanted, but this one "
             "has %d dimensions and %d channels",
             in->rank, channels);
    sp_image f = {.owner = NULL}, all = {.owner = NULL};
    sp_status status;
    SP_GOTO(done, sp__image_normalize(c->t, in, false, NULL, &f));
    if (hwc) SP_GOTO(done, sp__image_create(SP_DTYPE_F32, 3, f.h, f.w, 4, &all));
    else SP_GOTO(done, sp__image_create(SP_DTYPE_F32, 3, 4, f.w, f.c, &all));
    memset(all.data, 0, sp_tensor_bytes(all.owner));
    if (!hwc) memcpy(all.data, f.data, sp_tensor_bytes(f.owner));
    for (int64_t i = 0; hwc && i < (int64_t)f.h * f.w; i++) memcpy(all.data + i * 16, f.data + i * 12, 12);
    if (half) {
        SP_GOTO(done, sp__image_create(SP_DTYPE_F16, 3, all.h, all.w, all.c, out));
        SP_GOTO(done, sp_tensor_assign(out->owner, all.owner));
    } else {
        *out = all;
        all.owner = NULL;
    }
done:
    sp_tensor_release(f.owner);
    sp_tensor_release(all.owner);
    return status;
}
static sp_status normalize_pad_run(sp_transform_call *c) { return sp__run_image(c, normalize_pad_kernel); }

const sp_transform_op sp_transform_NormalizePad = {
    .name = "NormalizePad",
    .attrs = {NORM_ATTRS, {"dtype", 1, 1, 0, SP_DTYPE_COUNT - 1, 1, {SP_DTYPE_F32}}},
    .check = norm_check,
    .run = normalize_pad_run};
