/* SPDX-License-Identifier: Apache-2.0 */
/* augment.c - AutoAugment, RandAugment, TrivialAugmentWide: chains of simple changes by published recipes.
 *
 * A change is a name and a magnitude. The recipes differ in how they choose: AutoAugment draws one of 25 learned pairs
 * (Cubuk et al. 2019), RandAugment draws changes of one given strength (Cubuk et al. 2020), TrivialAugmentWide draws one
 * change and its strength (Mueller and Hutter 2021). */
#include "data/transform.h"

#define PI 3.14159265358979323846

typedef enum {
    IDENTITY,
    SHEAR_X,
    SHEAR_Y,
    TRANSLATE_X,
    TRANSLATE_Y,
    ROTATE,
    BRIGHTNESS,
    COLOR,
    CONTRAST,
    SHARPNESS,
    POSTERIZE,
    SOLARIZE,
    AUTO_CONTRAST,
    EQUALIZE,
    INVERT
} change;

typedef struct look { /* how the geometric ones fill and look up */
    sp_inter mode;
    double fill[4];
} look;

static sp_status apply(change what, double m, const look *l, const sp_image *in, sp_image *out)
{
    const double none[2] = {0, 0}, degrees = (float)m * 180 / PI;
    switch (what) {
    case SHEAR_X: return sp__image_affine(in, 0, none, 1, (double[2]){degrees, 0}, l->mode, l->fill, out);
    case SHEAR_Y: return sp__image_affine(in, 0, none, 1, (double[2]){0, degrees}, l->mode, l->fill, out);
    /* The recipes mean m pixels; MindSpore takes m for a share of the side, so that one or more leaves nothing but the fill. Kept,
     * since results are to be distributed as its own. */
    case TRANSLATE_X: return sp__image_affine(in, 0, (double[2]){m * in->w, 0}, 1, none, l->mode, l->fill, out);
    case TRANSLATE_Y: return sp__image_affine(in, 0, (double[2]){0, m * in->h}, 1, none, l->mode, l->fill, out);
    case ROTATE: /* MindSpore's order of the fill here */
        return sp__image_rotate(in, m, l->mode, false, NULL, (double[4]){l->fill[1], l->fill[2], l->fill[0], 0}, out);
    case BRIGHTNESS: return sp__image_brightness(in, 1 + m, out);
    case COLOR: return sp__image_saturation(in, 1 + m, out);
    case CONTRAST: return sp__image_contrast(in, 1 + m, out);
    case SHARPNESS: return sp__image_sharpness(in, 1 + m, out);
    case POSTERIZE: return sp__image_posterize(in, (int)m, out);
    case SOLARIZE: return sp__image_solarize(in, m, m, out);
    case AUTO_CONTRAST: return sp__image_auto_contrast(in, 0, 0, NULL, out);
    case EQUALIZE: return sp__image_equalize(in, out);
    case INVERT: return sp__image_invert(in, out);
    default: return sp__image_copy(in, out);
    }
}

/* Strength i of n for a change. wide: TrivialAugmentWide's ranges. Steps are float32, so that thresholds are MindSpore's. */
static double magnitude(change what, int i, int n, int h, int w, bool wide)
{
    const float steps = (float)(n > 1 ? n - 1 : 1), at = (float)i;
    switch (what) {
    case SHEAR_X:
    case SHEAR_Y: return at * ((wide ? 0.99f : 0.3f) / steps);
    case TRANSLATE_X: return at * ((wide ? 32.f : 150.f / 331 * (float)w) / steps);
    case TRANSLATE_Y: return at * ((wide ? 32.f : 150.f / 331 * (float)h) / steps);
    case ROTATE: return at * ((wide ? 135.f : 30.f) / steps);
    case BRIGHTNESS:
    case COLOR:
    case CONTRAST:
    case SHARPNESS: return at * ((wide ? 0.99f : 0.9f) / steps);
    case POSTERIZE: return rintf(at * ((wide ? -6.f : -4.f) / steps) + 8);
    case SOLARIZE: return 255 + at * (-255 / steps);
    default: return 0;
    }
}

static bool is_signed(change what) { return what >= SHEAR_X && what <= SHARPNESS; }

static sp_status need_rgb_u8(const char *who, const sp_image *in)
{
    SP_CHECK(in->rank == 3 && in->c == 3 && in->dtype == SP_DTYPE_U8, SP_RUNTIME,
             "%s: an image of shape <H,W,C> with 3 channels of uint8 is wanted, but this one has %d dimensions, %d "
             "channels of %s",
             who, in->rank, in->c, sp_dtype_name(in->dtype));
    return SP_OK;
}

/* One more change on *now, which is owned. */
static sp_status step(change what, double m, const look *l, sp_image *now)
{
    sp_image next = {.owner = NULL};
    const sp_status status = apply(what, m, l, now, &next);
    sp_tensor_release(now->owner);
    *now = next;
    return status;
}

static sp_image start(const sp_image *in)
{
    sp_image now = *in;
    now.owner = sp_tensor_retain(in->owner);
    return now;
}

/* A number below n, as MindSpore draws it for RandAugment and TrivialAugmentWide: from 0 to n with n counting as 0, which comes up
 * twice as often as the others. */
static int draw(sp_stream *s, int n) { return (int)(sp__draw_below(s, n + 1) % n); }

/* A change but INVERT; number 0 is AUTO_CONTRAST there. */
static change draw_change(sp_stream *s) { return (change)((AUTO_CONTRAST + draw(s, INVERT)) % INVERT); }

static void look_of(const sp_transform_call *c, int inter, int fill, look *l)
{
    l->mode = (sp_inter)sp__arg_int(c, inter, 0);
    sp__fill_of(c, fill, l->fill);
}

/* --- RandAugment ---------------------------------------------------------------------------------------------------- */

enum { RAND_OPS, RAND_MAGNITUDE, RAND_BINS, RAND_INTER, RAND_FILL };
static sp_status rand_check(const sp_transform *t)
{
    SP_CHECK(t->attr[RAND_MAGNITUDE].v[0] < t->attr[RAND_BINS].v[0], SP_VALUE,
             "RandAugment: magnitude %g must be below num_magnitude_bins %g", t->attr[RAND_MAGNITUDE].v[0],
             t->attr[RAND_BINS].v[0]);
    return SP_OK;
}

static sp_status rand_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    look l;
    SP_TRY(need_rgb_u8("RandAugment", in));
    look_of(c, RAND_INTER, RAND_FILL, &l);
    *out = start(in);
    for (int i = 0; i < sp__arg_int(c, RAND_OPS, 0); i++) {
        const change what = draw_change(c->stream);
        double m =
            magnitude(what, sp__arg_int(c, RAND_MAGNITUDE, 0), sp__arg_int(c, RAND_BINS, 0), in->h, in->w, false);
        if (draw(c->stream, 2) && is_signed(what)) m = -m;
        SP_TRY(step(what, m, &l, out));
    }
    return SP_OK;
}
static sp_status rand_run(sp_transform_call *c) { return sp__run_image(c, rand_kernel); }

const sp_transform_op sp_transform_RandAugment = {.name = "RandAugment",
                                                  .random = true,
                                                  .attrs = {{"num_ops", 1, 1, 0, 1e6, 1, {2}},
                                                            {"magnitude", 1, 1, 0, 1e6, 1, {9}},
                                                            {"num_magnitude_bins", 1, 1, 2, 1e6, 1, {31}},
                                                            {"interpolation", 1, 1, 0, 5, 1, {0}},
                                                            {"fill_value", 1, 3, 0, 255, 1, {0}}},
                                                  .check = rand_check,
                                                  .run = rand_run};

/* --- TrivialAugmentWide ---------------------------------------------------------------------------------------------- */

enum { WIDE_BINS, WIDE_INTER, WIDE_FILL };
static sp_status wide_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    look l;
    SP_TRY(need_rgb_u8("TrivialAugmentWide", in));
    look_of(c, WIDE_INTER, WIDE_FILL, &l);
    const int bins = sp__arg_int(c, WIDE_BINS, 0);
    const change what = draw_change(c->stream);
    double m = magnitude(what, draw(c->stream, bins), bins, in->h, in->w, true);
    if (draw(c->stream, 2) && is_signed(what)) m = -m;
    return apply(what, m, &l, in, out);
}
static sp_status wide_run(sp_transform_call *c) { return sp__run_image(c, wide_kernel); }

const sp_transform_op sp_transform_TrivialAugmentWide = {.name = "TrivialAugmentWide",
                                                         .random = true,
                                                         .attrs = {{"num_magnitude_bins", 1, 1, 2, 1e6, 1, {31}},
                                                                   {"interpolation", 1, 1, 0, 5, 1, {0}},
                                                                   {"fill_value", 1, 3, 0, 255, 1, {0}}},
                                                         .run = wide_run};

/* --- AutoAugment ------------------------------------------------------------------------------------------------------ */

typedef struct sub_policy {
    struct {
        change what;
        float prob;
        int strength; /* of 10; -1: has none */
    } of[2];
} sub_policy;

#define P(a, pa, sa, b, pb, sb)                                                                                        \
    {                                                                                                                  \
        {                                                                                                              \
            {a, pa, sa}, { b, pb, sb }                                                                                 \
        }                                                                                                              \
    }
static const sub_policy policies[3][25] = {
    {/* ImageNet */
     P(POSTERIZE, .4f, 8, ROTATE, .6f, 9),    P(SOLARIZE, .6f, 5, AUTO_CONTRAST, .6f, -1),
     P(EQUALIZE, .8f, -1, EQUALIZE, .6f, -1), P(POSTERIZE, .6f, 7, POSTERIZE, .6f, 6),
     P(EQUALIZE, .4f, -1, SOLARIZE, .2f, 4),  P(EQUALIZE, .4f, -1, ROTATE, .8f, 8),
     P(SOLARIZE, .6f, 3, EQUALIZE, .6f, -1),  P(POSTERIZE, .8f, 5, EQUALIZE, 1.f, -1),
     P(ROTATE, .2f, 3, SOLARIZE, .6f, 8),     P(EQUALIZE, .6f, -1, POSTERIZE, .4f, 6),
     P(ROTATE, .8f, 8, COLOR, .4f, 0),        P(ROTATE, .4f, 9, EQUALIZE, .6f, -1),
     P(EQUALIZE, 0.f, -1, EQUALIZE, .8f, -1), P(INVERT, .6f, -1, EQUALIZE, 1.f, -1),
     P(COLOR, .6f, 4, CONTRAST, 1.f, 8),      P(ROTATE, .8f, 8, COLOR, 1.f, 2),
     P(COLOR, .8f, 8, SOLARIZE, .8f, 7),      P(SHARPNESS, .4f, 7, INVERT, .6f, -1),
     P(SHEAR_X, .6f, 5, EQUALIZE, 1.f, -1),   P(COLOR, .4f, 0, EQUALIZE, .6f, -1),
     P(EQUALIZE, .4f, -1, SOLARIZE, .2f, 4),  P(SOLARIZE, .6f, 5, AUTO_CONTRAST, .6f, -1),
     P(INVERT, .6f, -1, EQUALIZE, 1.f, -1),   P(COLOR, .6f, 4, CONTRAST, 1.f, 8),
     P(EQUALIZE, .8f, -1, EQUALIZE, .6f, -1)},
    {/* CIFAR-10 */
     P(INVERT, .1f, -1, CONTRAST, .2f, 6),          P(ROTATE, .7f, 2, TRANSLATE_X, .3f, 9),
     P(SHARPNESS, .8f, 1, SHARPNESS, .9f, 3),       P(SHEAR_Y, .5f, 8, TRANSLATE_Y, .7f, 9),
     P(AUTO_CONTRAST, .5f, -1, EQUALIZE, .9f, -1),  P(SHEAR_Y, .2f, 7, POSTERIZE, .3f, 7),
     P(COLOR, .4f, 3, BRIGHTNESS, .6f, 7),          P(SHARPNESS, .3f, 9, BRIGHTNESS, .7f, 9),
     P(EQUALIZE, .6f, -1, EQUALIZE, .5f, -1),       P(CONTRAST, .6f, 7, SHARPNESS, .6f, 5),
     P(COLOR, .7f, 7, TRANSLATE_X, .5f, 8),         P(EQUALIZE, .3f, -1, AUTO_CONTRAST, .4f, -1),
     P(TRANSLATE_Y, .4f, 3, SHARPNESS, .2f, 6),     P(BRIGHTNESS, .9f, 6, COLOR, .2f, 8),
     P(SOLARIZE, .5f, 2, INVERT, 0.f, -1),          P(EQUALIZE, .2f, -1, AUTO_CONTRAST, .6f, -1),
     P(EQUALIZE, .2f, -1, EQUALIZE, .6f, -1),       P(COLOR, .9f, 9, EQUALIZE, .6f, -1),
     P(AUTO_CONTRAST, .8f, -1, SOLARIZE, .2f, 8),   P(BRIGHTNESS, .1f, 3, COLOR, .7f, 0),
     P(SOLARIZE, .4f, 5, AUTO_CONTRAST, .9f, -1),   P(TRANSLATE_Y, .9f, 9, TRANSLATE_Y, .7f, 9),
     P(AUTO_CONTRAST, .9f, -1, SOLARIZE, .8f, 3),   P(EQUALIZE, .8f, -1, INVERT, .1f, -1),
     P(TRANSLATE_Y, .7f, 9, AUTO_CONTRAST, .9f, -1)},
    {/* SVHN */
     P(SHEAR_X, .9f, 4, INVERT, .2f, -1),        P(SHEAR_Y, .9f, 8, INVERT, .7f, -1),
     P(EQUALIZE, .6f, -1, SOLARIZE, .6f, 6),     P(INVERT, .9f, -1, EQUALIZE, .6f, -1),
     P(EQUALIZE, .6f, -1, ROTATE, .9f, 3),       P(SHEAR_X, .9f, 4, AUTO_CONTRAST, .8f, -1),
     P(SHEAR_Y, .9f, 8, INVERT, .4f, -1),        P(SHEAR_Y, .9f, 5, SOLARIZE, .2f, 6),
     P(INVERT, .9f, -1, AUTO_CONTRAST, .8f, -1), P(EQUALIZE, .6f, -1, ROTATE, .9f, 3),
     P(SHEAR_X, .9f, 4, SOLARIZE, .3f, 3),       P(SHEAR_Y, .8f, 8, INVERT, .7f, -1),
     P(EQUALIZE, .9f, -1, TRANSLATE_Y, .6f, 6),  P(INVERT, .9f, -1, EQUALIZE, .6f, -1),
     P(CONTRAST, .3f, 3, ROTATE, .8f, 4),        P(INVERT, .8f, -1, TRANSLATE_Y, 0.f, 2),
     P(SHEAR_Y, .7f, 6, SOLARIZE, .4f, 8),       P(INVERT, .6f, -1, ROTATE, .8f, 4),
     P(SHEAR_Y, .3f, 7, TRANSLATE_X, .9f, 3),    P(SHEAR_X, .1f, 6, INVERT, .6f, -1),
     P(SOLARIZE, .7f, 2, TRANSLATE_Y, .6f, 7),   P(SHEAR_Y, .8f, 4, INVERT, .8f, -1),
     P(SHEAR_X, .7f, 9, TRANSLATE_Y, .8f, 3),    P(SHEAR_Y, .8f, 5, AUTO_CONTRAST, .7f, -1),
     P(SHEAR_X, .7f, 2, INVERT, .1f, -1)},
};
#undef P

enum { AUTO_POLICY, AUTO_INTER, AUTO_FILL };
static sp_status auto_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    look l;
    SP_TRY(need_rgb_u8("AutoAugment", in));
    look_of(c, AUTO_INTER, AUTO_FILL, &l);
    const sub_policy *p = &policies[sp__arg_int(c, AUTO_POLICY, 0)][sp__draw_below(c->stream, 25)];
    *out = start(in);
    for (int i = 0; i < 2; i++) {
        const bool hit = sp__draw_unit(c->stream) <= p->of[i].prob, flip = sp__draw_bits(c->stream) & 1;
        if (!hit) continue;
        double m = magnitude(p->of[i].what, p->of[i].strength, 10, in->h, in->w, false);
        /* Thresholds start at 256 in this recipe, at 255 in the others. */
        if (p->of[i].what == SOLARIZE) m = 256 + (float)p->of[i].strength * (-256.f / 9);
        if (flip && is_signed(p->of[i].what)) m = -m;
        SP_TRY(step(p->of[i].what, m, &l, out));
    }
    return SP_OK;
}
static sp_status auto_run(sp_transform_call *c) { return sp__run_image(c, auto_kernel); }

const sp_transform_op sp_transform_AutoAugment = {.name = "AutoAugment",
                                                  .random = true,
                                                  .attrs = {{"policy", 1, 1, 0, 2, 1, {0}},
                                                            {"interpolation", 1, 1, 0, 5, 1, {0}},
                                                            {"fill_value", 1, 3, 0, 255, 1, {0}}},
                                                  .run = auto_run};
