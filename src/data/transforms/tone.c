/* SPDX-License-Identifier: Apache-2.0 */
/* tone.c - every value of a channel replaced by another: histograms, thresholds, curves. For uint8 a table of 256. */
#include "data/transform.h"

static sp_status need_u8(const char *who, const sp_image *in)
{
    SP_CHECK(in->dtype == SP_DTYPE_U8, SP_RUNTIME, "%s: an image of uint8 is wanted, but this one is %s", who,
             sp_dtype_name(in->dtype));
    return SP_OK;
}

static sp_status need_channels(const char *who, const sp_image *in)
{
    SP_CHECK(in->c == 1 || in->c == 3, SP_RUNTIME, "%s: channel of input image should be 1 or 3, but got: %d", who,
             in->c);
    return need_u8(who, in);
}

/* tables: one for each channel, or the same for all (step 0) */
static sp_status map_values(const sp_image *in, const uint8_t *tables, int step, sp_image *out)
{
    const int n = in->w * in->c, c = in->c; /* kept: for all the compiler knows, bytes written might be these */
    SP_TRY(sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out));
    for (int y = 0; y < in->h; y++) {
        const uint8_t *src = sp__image_row(in, y);
        uint8_t *dst = sp__image_row(out, y);
        if (step == 0) {
            for (int i = 0; i < n; i++) dst[i] = tables[src[i]];
            continue;
        }
        for (int k = 0; k < c; k++)
            for (int i = k; i < n; i += c) dst[i] = tables[k * step + src[i]];
    }
    return SP_OK;
}

static void histogram(const sp_image *in, int channel, int32_t h[256])
{
    memset(h, 0, 256 * sizeof *h);
    for (int y = 0; y < in->h; y++) {
        const uint8_t *src = sp__image_row(in, y);
        for (int x = 0; x < in->w; x++) h[src[x * in->c + channel]]++;
    }
}

/* --- equalize, auto contrast ---------------------------------------------------------------------------------------- */

sp_status sp__image_equalize(const sp_image *in, sp_image *out)
{
    uint8_t table[3][256];
    SP_TRY(need_channels("Equalize", in));
    for (int k = 0; k < in->c; k++) {
        int32_t h[256], total = in->h * in->w, sum = 0;
        histogram(in, k, h);
        int i = 0;
        while (!h[i]) i++;
        memset(table[k], i, 256);
        if (h[i] == total) continue; /* one value only */
        const float scale = 255.f / (float)(total - h[i]);
        table[k][i++] = 0;
        for (; i < 256; i++) {
            sum += h[i];
            table[k][i] = sp__u8_from_float((float)sum * scale);
        }
    }
    return map_values(in, table[0], 256, out);
}

/* Take `cut` pixels off the histogram, from one end inwards. */
static void cut_off(int32_t h[256], int from, int step, int32_t cut)
{
    for (int i = from; i >= 0 && i < 256 && cut > 0; i += step) {
        const int32_t take = cut > h[i] ? h[i] : cut;
        h[i] -= take;
        cut -= take;
    }
}

sp_status sp__image_auto_contrast(const sp_image *in, double cutoff, int n_ignore, const double *ignore, sp_image *out)
{
    uint8_t table[3][256];
    SP_TRY(need_channels("AutoContrast", in));
    for (int k = 0; k < in->c; k++) {
        int32_t h[256], n = 0;
        histogram(in, k, h);
        for (int i = 0; i < n_ignore; i++) h[(int)ignore[i]] = 0;
        for (int i = 0; i < 256; i++) n += h[i];
        const int32_t cut = (int32_t)((float)(int)cutoff / 100.f * (float)n);
        cut_off(h, 0, 1, cut);
        cut_off(h, 255, -1, cut);
        int lo = 0, hi = 255;
        while (lo < hi && !h[lo]) lo++;
        while (hi >= 0 && !h[hi]) hi--;
        const float scale = hi > lo ? (float)(255.0 / (hi - lo)) : 1, offset = hi > lo ? (float)(-1 * lo) * scale : 0;
        for (int i = 0; i < 256; i++) table[k][i] = sp__u8_from_int((int)((float)i * scale + offset));
    }
    return map_values(in, table[0], 256, out);
}

/* --- invert, posterize, solarize, gamma ------------------------------------------------------------------------------ */

sp_status sp__image_invert(const sp_image *in, sp_image *out)
{
    SP_CHECK(in->rank == 3 && in->c == 3, SP_RUNTIME,
             "Invert: input tensor is not in shape of <H,W,C>, but got rank: %d and %d channels", in->rank, in->c);
    if (in->dtype == SP_DTYPE_F32) {
        SP_TRY(sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out));
        for (int y = 0; y < in->h; y++)
            for (int i = 0; i < in->w * in->c; i++)
                ((float *)sp__image_row(out, y))[i] = 255.f - ((const float *)sp__image_row(in, y))[i];
        return SP_OK;
    }
    SP_TRY(need_u8("Invert", in));
    const int n = in->w * in->c;
    SP_TRY(sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out));
    for (int y = 0; y < in->h; y++) {
        const uint8_t *src = sp__image_row(in, y);
        uint8_t *dst = sp__image_row(out, y);
        for (int i = 0; i < n; i++) dst[i] = (uint8_t)~src[i];
    }
    return SP_OK;
}

sp_status sp__image_posterize(const sp_image *in, int bits, sp_image *out)
{
    uint8_t table[256];
    SP_TRY(need_channels("Posterize", in));
    const int mask = bits >= 8 ? 255 : 255 & ~((1 << (8 - bits)) - 1);
    for (int i = 0; i < 256; i++) table[i] = (uint8_t)(i & mask);
    return map_values(in, table, 0, out);
}

sp_status sp__image_solarize(const sp_image *in, double lo, double hi, sp_image *out)
{
    uint8_t table[256];
    SP_CHECK(in->c == 1 || in->c == 3, SP_RUNTIME, "Solarize: channel of input image should be 1 or 3, but got: %d",
             in->c);
    /* One threshold: everything from it on. */
    if (in->dtype == SP_DTYPE_F32) {
        SP_TRY(sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out));
        for (int y = 0; y < in->h; y++)
            for (int i = 0; i < in->w * in->c; i++) {
                const float v = ((const float *)sp__image_row(in, y))[i];
                ((float *)sp__image_row(out, y))[i] = v >= lo && (lo == hi || v <= hi) ? 255.f - v : v;
            }
        return SP_OK;
    }
    SP_TRY(need_u8("Solarize", in));
    for (int i = 0; i < 256; i++) table[i] = (uint8_t)(i >= lo && (lo == hi || i <= hi) ? 255 - i : i);
    return map_values(in, table, 0, out);
}

static sp_status gamma_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    const float gamma = (float)sp__arg(c, 0, 0), gain = (float)sp__arg(c, 1, 0);
    SP_CHECK(in->c == 1 || in->c == 3, SP_RUNTIME, "AdjustGamma: channel of input image should be 1 or 3, but got: %d",
             in->c);
    if (in->dtype == SP_DTYPE_F32) {
        SP_TRY(sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out));
        for (int y = 0; y < in->h; y++)
            for (int i = 0; i < in->w * in->c; i++) {
                const float v = powf(((const float *)sp__image_row(in, y))[i] * gain, gamma);
                ((float *)sp__image_row(out, y))[i] = v < 0 ? 0 : v > 1 ? 1 : v;
            }
        return SP_OK;
    }
    uint8_t table[256];
    SP_TRY(need_u8("AdjustGamma", in));
    for (int i = 0; i < 256; i++) {
        const float f = (float)pow((float)(i / 255.0), gamma);
        const double v = floor(fmin(f * (255.0 + 1 - 1e-3) * gain, 255.0));
        table[i] = (uint8_t)(int64_t)v;
    }
    return map_values(in, table, 0, out);
}
static sp_status gamma_run(sp_transform_call *c) { return sp__run_image(c, gamma_kernel); }

const sp_transform_op sp_transform_AdjustGamma = {
    .name = "AdjustGamma",
    .batched = true,
    .attrs = {{"gamma", 1, 1, 0, 16777216, SP_NEED, {0}}, {"gain", 1, 1, -16777216, 16777216, 1, {1}}},
    .run = gamma_run};

/* --- entries ------------------------------------------------------------------------------------------------------ */

static sp_status equalize_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    (void)c;
    return sp__image_equalize(in, out);
}
static sp_status invert_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    (void)c;
    return sp__image_invert(in, out);
}
enum { CONTRAST_CUTOFF, CONTRAST_IGNORE, CONTRAST_PROB };
static sp_status auto_contrast_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    return sp__image_auto_contrast(in, sp__arg(c, CONTRAST_CUTOFF, 0), sp__arg_n(c, CONTRAST_IGNORE),
                                   c->t->attr[CONTRAST_IGNORE].v, out);
}
static sp_status posterize_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    return sp__image_posterize(in, sp__arg_int(c, 0, 0), out);
}
static sp_status solarize_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    return sp__image_solarize(in, sp__arg(c, 0, 0), sp__arg_or_first(c, 0, 1), out);
}
static sp_status random_posterize_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    const int lo = sp__arg_int(c, 0, 0), hi = (int)sp__arg_or_first(c, 0, 1);
    return sp__image_posterize(in, lo + (int)sp__draw_below(c->stream, hi - lo + 1), out);
}
static sp_status random_solarize_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    const int lo = sp__arg_int(c, 0, 0), hi = sp__arg_int(c, 0, 1);
    const int a = lo + (int)sp__draw_below(c->stream, hi - lo + 1),
              b = lo + (int)sp__draw_below(c->stream, hi - lo + 1);
    return sp__image_solarize(in, a < b ? a : b, a < b ? b : a, out);
}

static sp_status equalize_run(sp_transform_call *c) { return sp__run_image(c, equalize_kernel); }
static sp_status invert_run(sp_transform_call *c) { return sp__run_image(c, invert_kernel); }
static sp_status auto_contrast_run(sp_transform_call *c) { return sp__run_image(c, auto_contrast_kernel); }
static sp_status posterize_run(sp_transform_call *c) { return sp__run_image(c, posterize_kernel); }
static sp_status solarize_run(sp_transform_call *c) { return sp__run_image(c, solarize_kernel); }
static sp_status random_posterize_run(sp_transform_call *c) { return sp__run_image(c, random_posterize_kernel); }
static sp_status random_solarize_run(sp_transform_call *c) { return sp__run_image(c, random_solarize_kernel); }

static sp_status maybe(sp_transform_call *c, int prob_attr, sp_status (*run)(sp_transform_call *))
{
    if (sp__draw_unit(c->stream) < sp__arg(c, prob_attr, 0)) return run(c);
    return sp__give(c, sp_tensor_retain(c->in[0]));
}
static sp_status random_equalize_run(sp_transform_call *c) { return maybe(c, 0, equalize_run); }
static sp_status random_invert_run(sp_transform_call *c) { return maybe(c, 0, invert_run); }
static sp_status random_auto_contrast_run(sp_transform_call *c) { return maybe(c, CONTRAST_PROB, auto_contrast_run); }

#define CONTRAST_ATTRS                                                                                                 \
    {"cutoff", 1, 1, 0, 50, 1, {0}}, { "ignore", 0, 0, 0, 255, 0, {0} }
#define PROB {"prob", 1, 1, 0, 1, 1, {0.5}}
const sp_transform_op sp_transform_Equalize = {.name = "Equalize", .run = equalize_run};
const sp_transform_op sp_transform_Invert = {.name = "Invert", .run = invert_run};
const sp_transform_op sp_transform_AutoContrast = {
    .name = "AutoContrast", .attrs = {CONTRAST_ATTRS}, .run = auto_contrast_run};
const sp_transform_op sp_transform_Posterize = {
    .name = "Posterize", .attrs = {{"bits", 1, 1, 0, 8, SP_NEED, {0}}}, .run = posterize_run};
const sp_transform_op sp_transform_Solarize = {
    .name = "Solarize", .attrs = {{"threshold", 1, 2, 0, 255, SP_NEED, {0}}}, .run = solarize_run};
const sp_transform_op sp_transform_RandomEqualize = {
    .name = "RandomEqualize", .random = true, .attrs = {PROB}, .run = random_equalize_run};
const sp_transform_op sp_transform_RandomInvert = {
    .name = "RandomInvert", .random = true, .attrs = {PROB}, .run = random_invert_run};
const sp_transform_op sp_transform_RandomAutoContrast = {
    .name = "RandomAutoContrast", .random = true, .attrs = {CONTRAST_ATTRS, PROB}, .run = random_auto_contrast_run};
const sp_transform_op sp_transform_RandomPosterize = {
    .name = "RandomPosterize", .random = true, .attrs = {{"bits", 1, 2, 1, 8, 2, {8, 8}}}, .run = random_posterize_run};
const sp_transform_op sp_transform_RandomSolarize = {.name = "RandomSolarize",
                                                     .random = true,
                                                     .attrs = {{"threshold", 2, 2, 0, 255, 2, {0, 255}}},
                                                     .run = random_solarize_run};
