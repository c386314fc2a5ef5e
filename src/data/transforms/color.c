/* SPDX-License-Identifier: Apache-2.0 */
/* color.c - brightness, contrast, saturation, hue, lighting, and orders of channels. */
#include "base/lock.h"
#include "data/codecs/codec.h"
#include "data/transform.h"
#include "data/transforms/pixel_rows.h"

static sp_status need_rgb(const char *who, const sp_image *in)
{
    SP_CHECK(
        in->rank == 3, SP_RUNTIME,
        "%s: the dimension of image tensor does not match the requirement of operator. Expecting tensor in dimension of (3), in shape "
        "of <H,W,C>. But got dimension %d",
        who, in->rank);
    SP_CHECK(
        in->c == 3, SP_RUNTIME,
        "%s: the channel of image tensor does not match the requirement of operator. Expecting tensor in channel of (3). But got "
        "channel %d",
        who, in->c);
    return SP_OK;
}

sp_status sp__need_numbers(const char *who, const sp_image *in)
{
    SP_CHECK(in->dtype == SP_DTYPE_U8 || in->dtype == SP_DTYPE_F32, SP_RUNTIME,
             "%s: images of uint8 and float32 are possible, but this one is %s", who, sp_dtype_name(in->dtype));
    return SP_OK;
}

/* out = in * factor + other[i] * share, a row of numbers. */
static void blend_row(const sp_image *in, int y, float factor, const float *other, float share, sp_image *out)
{
    const int n = in->w * in->c;
    if (in->dtype == SP_DTYPE_U8) {
        sp__rows()->blend(sp__image_row(in, y), factor, other, share, n, sp__image_row(out, y));
        return;
    }
    const float *src = sp__image_row(in, y);
    float *dst = sp__image_row(out, y);
    for (int i = 0; i < n; i++) dst[i] = src[i] * factor + other[i] * share;
}

/* The same with one number for all. */
static sp_status blend_constant(const sp_image *in, float factor, float constant, float share, sp_image *out)
{
    const int n = in->w * in->c;
    float *other = sp__alloc((size_t)n * sizeof *other);
    if (!other) return SP_NOMEM;
    for (int i = 0; i < n; i++) other[i] = constant;
    const sp_status status = sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out);
    for (int y = 0; y < in->h && status == SP_OK; y++) blend_row(in, y, factor, other, share, out);
    sp__free(other);
    return status;
}

sp_status sp__image_brightness(const sp_image *in, double factor, sp_image *out)
{
    SP_TRY(sp__need_numbers("AdjustBrightness", in));
    return blend_constant(in, (float)factor, 0, 0, out);
}

/* bytes: room for a row */
static void gray_row(const sp_image *in, int y, uint8_t *bytes, float *gray)
{
    if (in->dtype == SP_DTYPE_U8) {
        sp__rows()->gray(sp__image_row(in, y), in->w, bytes);
        for (int x = 0; x < in->w; x++) gray[x] = bytes[x];
        return;
    }
    const float *p = sp__image_row(in, y);
    for (int x = 0; x < in->w; x++) gray[x] = p[3 * x] * 0.299f + p[3 * x + 1] * 0.587f + p[3 * x + 2] * 0.114f;
}

sp_status sp__image_contrast(const sp_image *in, double factor, sp_image *out)
{
    SP_TRY(need_rgb("AdjustContrast", in));
    SP_TRY(sp__need_numbers("AdjustContrast", in));
    float *gray = sp__alloc((size_t)in->w * (sizeof *gray + 1));
    if (!gray) return SP_NOMEM;
    double sum = 0;
    for (int y = 0; y < in->h; y++) {
        gray_row(in, y, (uint8_t *)(gray + in->w), gray);
        double of_row = 0;
        for (int x = 0; x < in->w; x++) of_row += gray[x];
        sum += of_row;
    }
    sp__free(gray);
    const int mean = (int)(sum / ((double)in->h * in->w) + 0.5);
    return blend_constant(in, (float)factor, (float)mean, (float)(1.0 - (float)factor), out);
}

sp_status sp__image_saturation(const sp_image *in, double factor, sp_image *out)
{
    SP_TRY(need_rgb("AdjustSaturation", in));
    SP_TRY(sp__need_numbers("AdjustSaturation", in));
    float *gray = sp__alloc((size_t)in->w * (4 * sizeof *gray + 1));
    if (!gray) return SP_NOMEM;
    float *other = gray + in->w;
    const float share = (float)(1.0 - (float)factor);
    const sp_status status = sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out);
    for (int y = 0; y < in->h && status == SP_OK; y++) {
        gray_row(in, y, (uint8_t *)(gray + 4 * in->w), gray);
        for (int x = 0; x < in->w; x++) other[3 * x] = other[3 * x + 1] = other[3 * x + 2] = gray[x];
        blend_row(in, y, (float)factor, other, share, out);
    }
    sp__free(gray);
    return status;
}

/* --- hue ---------------------------------------------------------------------------------------------------------- */

enum { HSV_SHIFT = 12 };

/* What a pixel needs of division, for each of 256 values. */
static struct {
    int by_value[256], by_diff[256]; /* 255 / v and 256 / (6 diff) with 12 fractional bits */
    int sector[256];                 /* of a hue, and how far into it */
    float into[256];
} hues;
static sp_once hues_once = SP_ONCE_INIT;

static void hues_make(void)
{
    for (int i = 0; i < 256; i++) {
        hues.by_value[i] = i ? (int)rint((255 << HSV_SHIFT) / (double)i) : 0;
        hues.by_diff[i] = i ? (int)rint((256 << HSV_SHIFT) / (6. * i)) : 0;
        float h = (float)i * (6.f / 255.f);
        while (h >= 6) h -= 6;
        hues.sector[i] = (int)h;
        hues.into[i] = h - (float)hues.sector[i];
    }
}

/* Hue of 256 steps, saturation and value of 255. */
static inline void rgb_to_hsv(const uint8_t *p, uint8_t *hsv)
{
    const int r = p[0], g = p[1], b = p[2];
    const int v = r > g ? (r > b ? r : b) : (g > b ? g : b), low = r < g ? (r < b ? r : b) : (g < b ? g : b);
    const int diff = v - low;
    int h = v == r ? g - b : v == g ? b - r + 2 * diff : r - g + 4 * diff;
    h = (h * hues.by_diff[diff] + (1 << (HSV_SHIFT - 1))) >> HSV_SHIFT;
    h += h < 0 ? 256 : 0;
    hsv[0] = sp__u8_from_int(h);
    hsv[1] = (uint8_t)((diff * hues.by_value[v] + (1 << (HSV_SHIFT - 1))) >> HSV_SHIFT);
    hsv[2] = (uint8_t)v;
}

static inline void hsv_to_rgb(const uint8_t *hsv, uint8_t *p)
{
    static const uint8_t order[6][3] = {{0, 3, 1}, {2, 0, 1}, {1, 0, 3}, {1, 2, 0}, {3, 1, 0}, {0, 1, 2}};
    const float s = (float)hsv[1] * (1.f / 255.f), v = (float)hsv[2] * (1.f / 255.f), h = hues.into[hsv[0]];
    const float tab[4] = {v * 255.f, v * (1.f - s) * 255.f, v * (1.f - s * h) * 255.f,
                          v * (1.f - s * (1.f - h)) * 255.f};
    uint8_t level[4];
    for (int i = 0; i < 4; i++) level[i] = sp__u8_from_float(tab[i]);
    const uint8_t *at = order[hues.sector[hsv[0]]];
    for (int i = 0; i < 3; i++) p[i] = level[at[i]];
}

sp_status sp__image_hue(const sp_image *in, double factor, sp_image *out)
{
    SP_TRY(need_rgb("AdjustHue", in));
    SP_CHECK(in->dtype == SP_DTYPE_U8, SP_RUNTIME, "AdjustHue: an image of uint8 is wanted, but this one is %s",
             sp_dtype_name(in->dtype));
    SP_CHECK(factor >= -0.5 && factor <= 0.5, SP_VALUE, "AdjustHue: the factor must be from -0.5 to 0.5, but got %g",
             factor);
    SP_TRY(sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out));
    sp__once(&hues_once, hues_make);
    const int turn = (int)((float)factor * 255); /* the circle of hues has 256 places, so overflow turns around */
    for (int y = 0; y < in->h; y++) {
        const uint8_t *src = sp__image_row(in, y);
        uint8_t *dst = sp__image_row(out, y);
        for (int x = 0; x < in->w; x++, src += 3, dst += 3) {
            uint8_t hsv[3];
            rgb_to_hsv(src, hsv);
            hsv[0] = (uint8_t)(hsv[0] + turn);
            hsv_to_rgb(hsv, dst);
        }
    }
    return SP_OK;
}

/* --- entries ------------------------------------------------------------------------------------------------------ */

#define ADJUST(Name, attr, lo, hi, kernel)                                                                             \
    static sp_status kernel##_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)                          \
    {                                                                                                                  \
        return sp__image_##kernel(in, sp__arg(c, 0, 0), out);                                                          \
    }                                                                                                                  \
    static sp_status kernel##_run(sp_transform_call *c) { return sp__run_image(c, kernel##_kernel); }                  \
    const sp_transform_op sp_transform_##Name = {                                                                      \
        .name = #Name, .attrs = {{attr, 1, 1, lo, hi, SP_NEED, {0}}}, .run = kernel##_run};

ADJUST(AdjustBrightness, "brightness_factor", 0, 16777216, brightness)
ADJUST(AdjustContrast, "contrast_factor", 0, 16777216, contrast)
ADJUST(AdjustSaturation, "saturation_factor", 0, 16777216, saturation)
ADJUST(AdjustHue, "hue_factor", -0.5, 0.5, hue)

static sp_status random_color_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    return sp__image_saturation(in, sp__draw_uniform(c->stream, sp__arg(c, 0, 0), sp__arg(c, 0, 1)), out);
}
static sp_status random_color_run(sp_transform_call *c) { return sp__run_image(c, random_color_kernel); }

const sp_transform_op sp_transform_RandomColor = {.name = "RandomColor",
                                                  .random = true,
                                                  .attrs = {{"degrees", 2, 2, 0, 16777216, 2, {0.1, 1.9}}},
                                                  .run = random_color_run};

/* The four in any order, each with a factor of its range; a range of one neutral value is left out. */
enum { JITTER_BRIGHTNESS, JITTER_CONTRAST, JITTER_SATURATION, JITTER_HUE };
static sp_status jitter_step(int which, double factor, const sp_image *in, sp_image *out)
{
    switch (which) {
    case JITTER_BRIGHTNESS: return sp__image_brightness(in, factor, out);
    case JITTER_CONTRAST: return sp__image_contrast(in, factor, out);
    case JITTER_SATURATION: return sp__image_saturation(in, factor, out);
    default: return sp__image_hue(in, factor, out);
    }
}

static sp_status jitter_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    int order[4];
    double factor[4];
    SP_TRY(need_rgb("RandomColorAdjust", in));
    sp__draw_order(c->stream, 4, order);
    for (int i = 0; i < 4; i++) factor[i] = sp__draw_uniform(c->stream, sp__arg(c, i, 0), sp__arg(c, i, 1));
    sp_image now = *in;
    now.owner = sp_tensor_retain(in->owner);
    for (int i = 0; i < 4; i++) {
        const int which = order[i];
        const double neutral = which == JITTER_HUE ? 0 : 1;
        if (sp__arg(c, which, 0) == neutral && sp__arg(c, which, 1) == neutral) continue;
        sp_image next = {.owner = NULL};
        const sp_status status = jitter_step(which, factor[which], &now, &next);
        sp_tensor_release(now.owner);
        if (status != SP_OK) {
            sp_tensor_release(next.owner);
            return status;
        }
        now = next;
    }
    *out = now;
    return SP_OK;
}
static sp_status jitter_run(sp_transform_call *c) { return sp__run_image(c, jitter_kernel); }

const sp_transform_op sp_transform_RandomColorAdjust = {.name = "RandomColorAdjust",
                                                        .random = true,
                                                        .attrs = {{"brightness", 2, 2, 0, 16777216, 2, {1, 1}},
                                                                  {"contrast", 2, 2, 0, 16777216, 2, {1, 1}},
                                                                  {"saturation", 2, 2, 0, 16777216, 2, {1, 1}},
                                                                  {"hue", 2, 2, -0.5, 0.5, 2, {0, 0}}},
                                                        .run = jitter_run};

/* --- lighting ------------------------------------------------------------------------------------------------------ */

/* Noise along the principal components of ImageNet's colours. */
static sp_status lighting_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    static const float eigen[3][3] = {{55.46f * -0.5675f, 4.794f * 0.7192f, 1.148f * 0.4009f},
                                      {55.46f * -0.5808f, 4.794f * -0.0045f, 1.148f * -0.8140f},
                                      {55.46f * -0.5836f, 4.794f * -0.6948f, 1.148f * 0.4203f}};
    SP_TRY(need_rgb("RandomLighting", in));
    SP_TRY(sp__need_numbers("RandomLighting", in));
    float draw[3], add[3];
    for (int i = 0; i < 3; i++) draw[i] = (float)(sp__draw_normal(c->stream) * sp__arg(c, 0, 0));
    for (int i = 0; i < 3; i++) add[i] = eigen[i][0] * draw[0] + eigen[i][1] * draw[1] + eigen[i][2] * draw[2];
    SP_TRY(sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out));
    for (int y = 0; y < in->h; y++)
        for (int i = 0; i < in->w * 3; i++) {
            if (in->dtype == SP_DTYPE_U8)
                ((uint8_t *)sp__image_row(out, y))[i] =
                    sp__u8_from_float((float)((uint8_t *)sp__image_row(in, y))[i] + add[i % 3]);
            else ((float *)sp__image_row(out, y))[i] = ((float *)sp__image_row(in, y))[i] + add[i % 3];
        }
    return SP_OK;
}
static sp_status lighting_run(sp_transform_call *c) { return sp__run_image(c, lighting_kernel); }

const sp_transform_op sp_transform_RandomLighting = {
    .name = "RandomLighting", .random = true, .attrs = {{"alpha", 1, 1, 0, 1e9, 1, {0.05}}}, .run = lighting_run};

/* --- channels ------------------------------------------------------------------------------------------------------ */

/* By OpenCV's number: channels in and out, and where each output channel comes from; -1: opaque, -2: gray of RGB. */
typedef struct conversion {
    int in, out, from[4];
} conversion;
static const conversion conversions[12] = {
    {3, 4, {0, 1, 2, -1}}, {4, 3, {0, 1, 2}},     {3, 4, {2, 1, 0, -1}}, {4, 3, {2, 1, 0}},
    {3, 3, {2, 1, 0}},     {4, 4, {2, 1, 0, 3}},  {3, 1, {-2, 2, 1, 0}}, {3, 1, {-2, 0, 1, 2}},
    {1, 3, {0, 0, 0}},     {1, 4, {0, 0, 0, -1}}, {4, 1, {-2, 2, 1, 0}}, {4, 1, {-2, 0, 1, 2}},
};

/* c: channels of the source, which may lack alpha or have one that is not asked for */
static void convert_u8(const conversion *v, const uint8_t *src, int c, uint8_t *dst, int w)
{
    for (int x = 0; x < w; x++, src += c, dst += v->out)
        for (int k = 0; k < v->out; k++)
            dst[k] = v->from[k] == -2                      ? sp__gray(src[v->from[1]], src[v->from[2]], src[v->from[3]])
                     : v->from[k] == -1 || v->from[k] >= c ? 255
                                                           : src[v->from[k]];
}

static void convert_f32(const conversion *v, const float *src, int c, float *dst, int w)
{
    for (int x = 0; x < w; x++, src += c, dst += v->out)
        for (int k = 0; k < v->out; k++)
            dst[k] = v->from[k] == -2 ? src[v->from[1]] * 0.299f + src[v->from[2]] * 0.587f + src[v->from[3]] * 0.114f
                     : v->from[k] == -1 || v->from[k] >= c ? 1.f
                                                           : src[v->from[k]];
}

static sp_status convert_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    const conversion *v = &conversions[sp__arg_int(c, 0, 0)];
    SP_TRY(sp__need_numbers("ConvertColor", in));
    SP_CHECK(v->in == 1 ? in->c == 1 : in->c == 3 || in->c == 4, SP_RUNTIME,
             "ConvertColor: this mode takes %s channels, but the image has %d", v->in == 1 ? "1" : "3 or 4", in->c);
    SP_TRY(sp__image_create(in->dtype, v->out == 1 ? 2 : 3, in->h, in->w, v->out, out));
    for (int y = 0; y < in->h; y++) {
        if (v == &conversions[7] && in->dtype == SP_DTYPE_U8 && in->c == 3)
            sp__rows()->gray(sp__image_row(in, y), in->w, sp__image_row(out, y));
        else if (in->dtype == SP_DTYPE_U8) convert_u8(v, sp__image_row(in, y), in->c, sp__image_row(out, y), in->w);
        else convert_f32(v, sp__image_row(in, y), in->c, sp__image_row(out, y), in->w);
    }
    return SP_OK;
}
static sp_status convert_run(sp_transform_call *c) { return sp__run_image(c, convert_kernel); }

const sp_transform_op sp_transform_ConvertColor = {
    .name = "ConvertColor", .attrs = {{"convert_mode", 1, 1, 0, 11, SP_NEED, {0}}}, .run = convert_run};
