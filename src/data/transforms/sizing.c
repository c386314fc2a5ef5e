/* SPDX-License-Identifier: Apache-2.0 */
/* sizing.c - decoding, resizing, and crops that are resized. */
#include "data/codecs/codec.h"
#include "data/transform.h"

/* One number: the shorter side gets it, the other follows. */
static void target_size(const sp_transform_call *c, int attr, const sp_image *in, int *h, int *w)
{
    const int first = sp__arg_int(c, attr, 0);
    if (sp__arg_n(c, attr) == 2) {
        *h = first;
        *w = sp__arg_int(c, attr, 1);
    } else if (in->h < in->w) {
        *h = first;
        *w = sp__follow(in->w, in->h, first);
    } else {
        *w = first;
        *h = sp__follow(in->h, in->w, first);
    }
}

enum { RESIZE_SIZE, RESIZE_INTER };
static sp_status resize_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    int h, w;
    target_size(c, RESIZE_SIZE, in, &h, &w);
    return sp__image_resize(in, h, w, (sp_inter)sp__arg_int(c, RESIZE_INTER, 0), out);
}
static sp_status resize_run(sp_transform_call *c) { return sp__run_image(c, resize_kernel); }

sp_status sp__image_resize_crop(const sp_transform *resize, const sp_transform *crop, const sp_image *in, sp_image *out)
{
    const sp_transform_call c = {.t = resize}, k = {.t = crop};
    const int ch = sp__arg_int(&k, 0, 0), cw = (int)sp__arg_or_first(&k, 0, 1);
    int h, w;
    target_size(&c, RESIZE_SIZE, in, &h, &w);
    if (h < ch || w < cw) return SP_DECLINED; /* CenterCrop pads */
    const sp_rect part = {(h - ch) / 2, (w - cw) / 2, ch, cw};
    return sp__image_resize_part(in, h, w, &part, (sp_inter)sp__arg_int(&c, RESIZE_INTER, 0), out);
}

const sp_transform_op sp_transform_Resize = {
    .name = "Resize",
    .batched = true,
    .attrs = {{"size", 1, 2, 1, INT32_MAX, SP_NEED, {0}}, {"interpolation", 1, 1, 0, 5, 1, {SP_INTER_LINEAR}}},
    .run = resize_run};

static sp_status random_resize_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    static const sp_inter modes[] = {SP_INTER_LINEAR, SP_INTER_NEAREST, SP_INTER_CUBIC, SP_INTER_AREA};
    int h, w;
    target_size(c, 0, in, &h, &w);
    return sp__image_resize(in, h, w, modes[sp__draw_below(c->stream, 4)], out);
}
static sp_status random_resize_run(sp_transform_call *c) { return sp__run_image(c, random_resize_kernel); }

const sp_transform_op sp_transform_RandomResize = {.name = "RandomResize",
                                                   .random = true,
                                                   .attrs = {{"size", 1, 2, 1, INT32_MAX, SP_NEED, {0}}},
                                                   .run = random_resize_run};

/* --- a rectangle, resized ------------------------------------------------------------------------------------------ */

static sp_status crop_and_resize(const sp_image *in, sp_rect r, int h, int w, sp_inter mode, sp_image *out)
{
    sp_image part = *in;
    sp_tensor *view = NULL;
    SP_TRY(sp__image_crop(in, r.y, r.x, r.h, r.w, &view));
    part.data = in->data + r.y * in->stride + (int64_t)r.x * in->pixel_bytes;
    part.h = r.h;
    part.w = r.w;
    part.owner = view;
    const sp_status status = sp__image_resize(&part, h, w, mode, out);
    sp_tensor_release(view);
    return status;
}

enum { RC_TOP, RC_LEFT, RC_HEIGHT, RC_WIDTH, RC_SIZE, RC_INTER };
static sp_status resized_crop_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    const sp_rect r = {sp__arg_int(c, RC_TOP, 0), sp__arg_int(c, RC_LEFT, 0), sp__arg_int(c, RC_HEIGHT, 0),
                       sp__arg_int(c, RC_WIDTH, 0)};
    SP_CHECK(r.h <= in->h - r.y && r.w <= in->w - r.x, SP_RUNTIME,
             "ResizedCrop: a crop of height %d and width %d at (%d, %d) reaches outside of the image of height %d and "
             "width %d",
             r.h, r.w, r.y, r.x, in->h, in->w);
    return crop_and_resize(in, r, sp__arg_int(c, RC_SIZE, 0), (int)sp__arg_or_first(c, RC_SIZE, 1),
                           (sp_inter)sp__arg_int(c, RC_INTER, 0), out);
}
static sp_status resized_crop_run(sp_transform_call *c) { return sp__run_image(c, resized_crop_kernel); }

const sp_transform_op sp_transform_ResizedCrop = {.name = "ResizedCrop",
                                                  .attrs = {{"top", 1, 1, 0, INT32_MAX, SP_NEED, {0}},
                                                            {"left", 1, 1, 0, INT32_MAX, SP_NEED, {0}},
                                                            {"height", 1, 1, 1, INT32_MAX, SP_NEED, {0}},
                                                            {"width", 1, 1, 1, INT32_MAX, SP_NEED, {0}},
                                                            {"size", 1, 2, 1, INT32_MAX, SP_NEED, {0}},
                                                            {"interpolation", 1, 1, 0, 5, 1, {SP_INTER_LINEAR}}},
                                                  .run = resized_crop_run};

/* Area uniform in scale, ratio uniform in its logarithm, tried until it fits; at last the middle with a ratio that is
 * as near as possible. */
sp_rect sp__draw_resized_crop(sp_stream *s, int h, int w, const double scale[2], const double ratio[2], int attempts)
{
    for (int i = 0; i < attempts; i++) {
        const double area = (double)h * w * sp__draw_uniform(s, scale[0], scale[1]);
        const double aspect = exp(sp__draw_uniform(s, log(ratio[0]), log(ratio[1])));
        const double cw = fmax(round(sqrt(area * aspect)), 1), ch = fmax(round(cw / aspect), 1);
        if (cw > w || ch > h) continue;
        const int x = (int)sp__draw_below(s, w - (int)cw + 1), y = (int)sp__draw_below(s, h - (int)ch + 1);
        return (sp_rect){y, x, (int)ch, (int)cw};
    }
    sp_rect r = {0, 0, h, w};
    const double aspect = (double)w / h;
    if (aspect < ratio[0]) r.h = (int)fmin(fmax(round(w / ratio[0]), 1), h);
    else if (aspect > ratio[1]) r.w = (int)fmin(fmax(round(h * ratio[1]), 1), w);
    r.y = (int)round((h - r.h) / 2.0);
    r.x = (int)round((w - r.w) / 2.0);
    return r;
}

enum { RRC_SIZE, RRC_SCALE, RRC_RATIO, RRC_INTER, RRC_ATTEMPTS };
#define RRC_ATTRS                                                                                                      \
    {                                                                                                                  \
        {"size", 1, 2, 1, INT32_MAX, SP_NEED, {0}}, {"scale", 2, 2, 0, 1e9, 2, {0.08, 1.0}},                           \
            {"ratio", 2, 2, 1e-9, 1e9, 2, {3. / 4., 4. / 3.}}, {"interpolation", 1, 1, 0, 5, 1, {SP_INTER_LINEAR}},    \
        {                                                                                                              \
            "max_attempts", 1, 1, 1, INT32_MAX, 1, {10}                                                                \
        }                                                                                                              \
    }

static sp_status rrc_check(const sp_transform *t)
{
    SP_CHECK(t->attr[RRC_SCALE].v[0] <= t->attr[RRC_SCALE].v[1] && t->attr[RRC_RATIO].v[0] <= t->attr[RRC_RATIO].v[1],
             SP_VALUE, "%s: scale and ratio must be given as (min, max)", t->op->name);
    return SP_OK;
}

static sp_rect rrc_draw(sp_transform_call *c, int h, int w)
{
    return sp__draw_resized_crop(c->stream, h, w, c->t->attr[RRC_SCALE].v, c->t->attr[RRC_RATIO].v,
                                 sp__arg_int(c, RRC_ATTEMPTS, 0));
}

static sp_status rrc_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    return crop_and_resize(in, rrc_draw(c, in->h, in->w), sp__arg_int(c, RRC_SIZE, 0),
                           (int)sp__arg_or_first(c, RRC_SIZE, 1), (sp_inter)sp__arg_int(c, RRC_INTER, 0), out);
}
static sp_status rrc_run(sp_transform_call *c) { return sp__run_image(c, rrc_kernel); }

const sp_transform_op sp_transform_RandomResizedCrop = {.name = "RandomResizedCrop",
                                                        .random = true,
                                                        .batched = true,
                                                        .attrs = RRC_ATTRS,
                                                        .check = rrc_check,
                                                        .run = rrc_run};

/* --- from encoded bytes --------------------------------------------------------------------------------------------- */

/* One element of bytes, a character each, as uint8. */
static sp_status bytes_of_element(const sp_tensor *t, sp_tensor **out)
{
    const int64_t n = t->dims[1];
    SP_TRY(sp_tensor_create(SP_DTYPE_U8, 1, &n, out));
    uint8_t *to = (uint8_t *)(*out)->data;
    for (int64_t i = 0; i < n; i++) to[i] = (uint8_t)((const uint32_t *)(const void *)t->data)[i * t->strides[1]];
    return SP_OK;
}

static sp_status encoded_bytes(const sp_transform_call *c, sp_tensor **dense)
{
    const sp_tensor *t = c->in[0];
    char text[SP_SHAPE_TEXT];
    if (t->dtype == SP_DTYPE_STR && t->rank == 2 && t->dims[0] == 1 && t->dims[1] > 0 &&
        *(const uint32_t *)(const void *)t->data & SP_BYTE_CHARACTER)
        return bytes_of_element(t, dense);
    SP_CHECK(t->rank == 1, SP_RUNTIME,
             "%s: invalid input shape, only support 1D input, got rank: %d: an encoded image is a vector of uint8",
             c->t->op->name, t->rank);
    SP_CHECK(t->dtype == SP_DTYPE_U8 || t->dtype == SP_DTYPE_I8, SP_RUNTIME,
             "%s: an encoded image is a vector of uint8, but this is %s of shape %s", c->t->op->name,
             sp_dtype_name((sp_dtype)t->dtype), sp__shape_text(t->rank, t->dims, text));
    return sp_tensor_contiguous(c->in[0], dense);
}

static sp_status decode_run(sp_transform_call *c)
{
    sp_tensor *bytes = NULL, *image = NULL;
    SP_TRY(encoded_bytes(c, &bytes));
    const sp_status status = sp_image_decode(bytes->data, sp_tensor_bytes(bytes), SP_DECODE_COLOR, &image);
    sp_tensor_release(bytes);
    if (status != SP_OK) {
        sp__error_context("Decode");
        return status;
    }
    return sp__give(c, image);
}

const sp_transform_op sp_transform_Decode = {.name = "Decode", .run = decode_run};

/* Of a JPEG only the rectangle is decoded. */
static sp_status rcdr_run(sp_transform_call *c)
{
    sp_tensor *bytes = NULL;
    sp_image_info info;
    sp_image part = {.owner = NULL}, out = {.owner = NULL};
    sp_tensor *copy = NULL, *decoded = NULL;
    SP_TRY(encoded_bytes(c, &bytes));
    sp_status status;
    SP_GOTO(done, sp_image_probe(bytes->data, sp_tensor_bytes(bytes), &info));
    const sp_rect r = rrc_draw(c, (int)info.height, (int)info.width);
    SP_GOTO(done, sp__codec_decode_rect(bytes->data, sp_tensor_bytes(bytes), r, &decoded));
    SP_GOTO(done, sp__image_view("RandomCropDecodeResize", decoded, &part, &copy));
    SP_GOTO(done, sp__image_resize(&part, sp__arg_int(c, RRC_SIZE, 0), (int)sp__arg_or_first(c, RRC_SIZE, 1),
                                   (sp_inter)sp__arg_int(c, RRC_INTER, 0), &out));
    SP_GOTO(done, sp__give(c, out.owner));
    out.owner = NULL;
done:
    if (status != SP_OK) sp__error_context("RandomCropDecodeResize");
    sp_tensor_release(out.owner);
    sp_tensor_release(copy);
    sp_tensor_release(decoded);
    sp_tensor_release(bytes);
    return status;
}

const sp_transform_op sp_transform_RandomCropDecodeResize = {
    .name = "RandomCropDecodeResize", .random = true, .attrs = RRC_ATTRS, .check = rrc_check, .run = rcdr_run};
