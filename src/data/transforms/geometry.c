/* SPDX-License-Identifier: Apache-2.0 */
/* geometry.c - pixels moved, not changed: crops, padding, flips, patches, channels first. Any dtype, any number of
 * channels. */
#include "data/transform.h"

/* --- crops -------------------------------------------------------------------------------------------------------- */

static sp_status crop(const char *who, const sp_image *in, int y, int x, int h, int w, sp_image *out)
{
    SP_CHECK(
        y >= 0 && x >= 0 && h > 0 && w > 0 && h <= in->h - y && w <= in->w - x, SP_RUNTIME,
        "%s: crop size is bigger than the image dimensions: a crop of height %d and width %d at (%d, %d) exceeds the image of "
        "height %d and width %d",
        who, h, w, y, x, in->h, in->w);
    return sp__image_crop(in, y, x, h, w, &out->owner);
}

enum { CROP_COORDINATES, CROP_SIZE };
static sp_status crop_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    return crop("Crop", in, sp__arg_int(c, CROP_COORDINATES, 0), sp__arg_int(c, CROP_COORDINATES, 1),
                sp__arg_int(c, CROP_SIZE, 0), (int)sp__arg_or_first(c, CROP_SIZE, 1), out);
}
static sp_status crop_run(sp_transform_call *c) { return sp__run_image(c, crop_kernel); }

const sp_transform_op sp_transform_Crop = {
    .name = "Crop",
    .attrs = {{"coordinates", 2, 2, 0, INT32_MAX, SP_NEED, {0}}, {"size", 1, 2, 1, INT32_MAX, SP_NEED, {0}}},
    .run = crop_run};

/* Where the image is smaller it is padded with zeros, the odd pixel above and left. */
static sp_status center_crop(const sp_image *in, int h, int w, sp_image *out)
{
    const int more_h = h > in->h ? h - in->h : 0, more_w = w > in->w ? w - in->w : 0;
    SP_CHECK(
        h <= (int64_t)in->h * 10 && w <= (int64_t)in->w * 10, SP_RUNTIME,
        "CenterCrop: Padding size cannot be more than 3 times of the original image size: the size (%d, %d) is too large for (%d, "
        "%d)",
        h, w, in->h, in->w);
    if (!more_h && !more_w) return crop("CenterCrop", in, (in->h - h) / 2, (in->w - w) / 2, h, w, out);
    static const double zero[4];
    sp_image padded = {.owner = NULL};
    SP_TRY(sp__image_pad(in, more_h / 2 + more_h % 2, more_h / 2, more_w / 2 + more_w % 2, more_w / 2,
                         SP_BORDER_CONSTANT, zero, &padded));
    const sp_status status = crop("CenterCrop", &padded, (padded.h - h) / 2, (padded.w - w) / 2, h, w, out);
    sp_tensor_release(padded.owner);
    return status;
}

static sp_status center_crop_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    return center_crop(in, sp__arg_int(c, 0, 0), (int)sp__arg_or_first(c, 0, 1), out);
}
static sp_status center_crop_run(sp_transform_call *c) { return sp__run_image(c, center_crop_kernel); }

const sp_transform_op sp_transform_CenterCrop = {.name = "CenterCrop",
                                                 .batched = true,
                                                 .attrs = {{"size", 1, 2, 1, INT32_MAX, SP_NEED, {0}}},
                                                 .run = center_crop_run};

/* --- padding ------------------------------------------------------------------------------------------------------ */

/* Where position i of [-pad, n + pad) takes its value from; -1: from the fill. */
static int border_source(int64_t i, int n, sp_border mode)
{
    if (i >= 0 && i < n) return (int)i;
    if (mode == SP_BORDER_CONSTANT) return -1;
    if (mode == SP_BORDER_EDGE) return i < 0 ? 0 : n - 1;
    if (n == 1) return 0;
    const int twice = mode == SP_BORDER_REFLECT ? 0 : 1; /* whether the edge itself is repeated */
    const int64_t period = 2 * ((int64_t)n - 1 + twice);
    i = (i % period + period) % period;
    return (int)(i < n ? i : period - i - twice);
}

/* The bytes of one pixel of the fill colour. */
static sp_status fill_pixel(const sp_image *like, const double fill[4], uint8_t *pixel)
{
    const size_t element = sp_dtype_bytes(like->dtype);
    sp_loop_fn convert = sp__cast_loop(SP_DTYPE_F64, like->dtype);
    SP_CHECK(convert, SP_TYPE, "images of dtype %s cannot be filled", sp_dtype_name(like->dtype));
    for (int i = 0; i < like->c; i++) {
        double value = fill[i < 4 ? i : 3];
        char *ptr[2] = {(char *)pixel + (size_t)i * element, (char *)&value};
        const int64_t step[2] = {0, 0};
        convert(1, ptr, step, NULL);
    }
    return SP_OK;
}

static inline void copy_pixel(uint8_t *dst, const uint8_t *src, int bytes)
{
    switch (bytes) {
    case 1: *dst = *src; break;
    case 3: memcpy(dst, src, 3); break;
    case 4: memcpy(dst, src, 4); break;
    case 12: memcpy(dst, src, 12); break;
    default: memcpy(dst, src, (size_t)bytes);
    }
}

static void pad_row(const uint8_t *src, const sp_image *in, int left, sp_border mode, const uint8_t *pixel,
                    uint8_t *dst, int w)
{
    const int pb = in->pixel_bytes;
    if (!src) {
        for (int x = 0; x < w; x++) copy_pixel(dst + (int64_t)x * pb, pixel, pb);
        return;
    }
    for (int x = 0; x < left; x++) {
        const int from = border_source(x - left, in->w, mode);
        copy_pixel(dst + (int64_t)x * pb, from < 0 ? pixel : src + (int64_t)from * pb, pb);
    }
    memcpy(dst + (int64_t)left * pb, src, (size_t)in->w * (size_t)pb);
    for (int x = left + in->w; x < w; x++) {
        const int from = border_source(x - left, in->w, mode);
        copy_pixel(dst + (int64_t)x * pb, from < 0 ? pixel : src + (int64_t)from * pb, pb);
    }
}

sp_status sp__image_pad(const sp_image *in, int top, int bottom, int left, int right, sp_border mode,
                        const double fill[4], sp_image *out)
{
    const int64_t h = (int64_t)in->h + top + bottom, w = (int64_t)in->w + left + right;
    SP_CHECK(top >= 0 && bottom >= 0 && left >= 0 && right >= 0 && h < SP_IMAGE_SIDE_MAX && w < SP_IMAGE_SIDE_MAX,
             SP_RUNTIME, "Pad: padding of %d, %d, %d, %d (left, top, right, bottom) is not possible", left, top, right,
             bottom);
    _Alignas(16) uint8_t small[64];
    uint8_t *pixel = in->pixel_bytes <= (int)sizeof small ? small : sp__alloc((size_t)in->pixel_bytes);
    if (!pixel) return SP_NOMEM;
    sp_status status;
    SP_GOTO(done, fill_pixel(in, fill, pixel));
    SP_GOTO(done, sp__image_create(in->dtype, in->rank, (int)h, (int)w, in->c, out));
    for (int y = 0; y < out->h; y++) {
        const int from = border_source(y - top, in->h, mode);
        pad_row(from < 0 ? NULL : sp__image_row(in, from), in, left, mode, pixel, sp__image_row(out, y), out->w);
    }
done:
    if (pixel != small) sp__free(pixel);
    return status;
}

/* left, top, right, bottom; 2 numbers: left and top, and right and bottom */
static void padding_of(const sp_transform_call *c, int attr, int pad[4])
{
    const int n = sp__arg_n(c, attr);
    for (int i = 0; i < 4; i++) pad[i] = sp__arg_int(c, attr, n == 4 ? i : n == 2 ? i / 2 : 0);
}

enum { PAD_PADDING, PAD_FILL, PAD_MODE };
static sp_status pad_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    int pad[4];
    double fill[4];
    padding_of(c, PAD_PADDING, pad);
    sp__fill_of(c, PAD_FILL, fill);
    return sp__image_pad(in, pad[1], pad[3], pad[0], pad[2], (sp_border)sp__arg_int(c, PAD_MODE, 0), fill, out);
}
static sp_status pad_run(sp_transform_call *c) { return sp__run_image(c, pad_kernel); }

const sp_transform_op sp_transform_Pad = {.name = "Pad",
                                          .attrs = {{"padding", 1, 4, 0, INT32_MAX, SP_NEED, {0}},
                                                    {"fill_value", 1, 3, 0, 255, 1, {0}},
                                                    {"padding_mode", 1, 1, 0, 3, 1, {0}}},
                                          .run = pad_run};

enum { SIZED_SIZE, SIZED_OFFSET, SIZED_FILL, SIZED_MODE };
static sp_status pad_to_size_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    const int h = sp__arg_int(c, SIZED_SIZE, 0), w = (int)sp__arg_or_first(c, SIZED_SIZE, 1);
    SP_CHECK(
        h >= in->h && w >= in->w, SP_RUNTIME,
        "PadToSize: the target size to pad should be no less than the original image size, but got target size (%d, %d) and "
        "original size (%d, %d)",
        h, w, in->h, in->w);
    int top = (h - in->h) / 2, left = (w - in->w) / 2;
    if (sp__arg_n(c, SIZED_OFFSET)) {
        top = sp__arg_int(c, SIZED_OFFSET, 0);
        left = (int)sp__arg_or_first(c, SIZED_OFFSET, 1);
        SP_CHECK(
            top <= h - in->h && left <= w - in->w, SP_RUNTIME,
            "PadToSize: the sum of offset and original image size should be no more than the target size to pad, but got offset "
            "(%d, %d) plus original size (%d, %d) and target size (%d, %d)",
            top, left, in->h, in->w, h, w);
    }
    double fill[4];
    sp__fill_of(c, SIZED_FILL, fill);
    return sp__image_pad(in, top, h - in->h - top, left, w - in->w - left, (sp_border)sp__arg_int(c, SIZED_MODE, 0),
                         fill, out);
}
static sp_status pad_to_size_run(sp_transform_call *c) { return sp__run_image(c, pad_to_size_kernel); }

const sp_transform_op sp_transform_PadToSize = {.name = "PadToSize",
                                                .attrs = {{"size", 1, 2, 1, INT32_MAX, SP_NEED, {0}},
                                                          {"offset", 0, 2, 0, INT32_MAX, 0, {0}},
                                                          {"fill_value", 1, 3, 0, 255, 1, {0}},
                                                          {"padding_mode", 1, 1, 0, 3, 1, {0}}},
                                                .run = pad_to_size_run};

/* --- random crop -------------------------------------------------------------------------------------------------- */

enum { RCROP_SIZE, RCROP_PADDING, RCROP_IF_NEEDED, RCROP_FILL, RCROP_MODE };

/* The image with the padding asked for, and that needed to be as large as the crop. pad: left, top, right, bottom. */
static sp_status crop_padding(const sp_transform_call *c, const sp_image *in, int h, int w, int pad[4])
{
    padding_of(c, RCROP_PADDING, pad);
    if (sp__arg_int(c, RCROP_IF_NEEDED, 0)) {
        const int less_h = h - (in->h + pad[1] + pad[3]), less_w = w - (in->w + pad[0] + pad[2]);
        if (less_h > 0) pad[1] += less_h, pad[3] += less_h;
        if (less_w > 0) pad[0] += less_w, pad[2] += less_w;
    }
    SP_CHECK(
        h <= (int64_t)in->h + pad[1] + pad[3] && w <= (int64_t)in->w + pad[0] + pad[2], SP_RUNTIME,
        "%s: invalid crop size, crop size is bigger than the image dimensions, got crop (%d, %d) and image with its padding (%d, "
        "%d)",
        c->t->op->name, h, w, in->h, in->w);
    return SP_OK;
}

static sp_status random_crop_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    const int h = sp__arg_int(c, RCROP_SIZE, 0), w = (int)sp__arg_or_first(c, RCROP_SIZE, 1);
    int pad[4];
    double fill[4];
    SP_TRY(crop_padding(c, in, h, w, pad));
    sp__fill_of(c, RCROP_FILL, fill);
    const int y = (int)sp__draw_below(c->stream, in->h + pad[1] + pad[3] - h + 1);
    const int x = (int)sp__draw_below(c->stream, in->w + pad[0] + pad[2] - w + 1);
    if (!(pad[0] | pad[1] | pad[2] | pad[3])) return crop("RandomCrop", in, y, x, h, w, out);
    sp_image padded = {.owner = NULL};
    SP_TRY(sp__image_pad(in, pad[1], pad[3], pad[0], pad[2], (sp_border)sp__arg_int(c, RCROP_MODE, 0), fill, &padded));
    const sp_status status = crop("RandomCrop", &padded, y, x, h, w, out);
    sp_tensor_release(padded.owner);
    return status;
}
static sp_status random_crop_run(sp_transform_call *c) { return sp__run_image(c, random_crop_kernel); }

const sp_transform_op sp_transform_RandomCrop = {.name = "RandomCrop",
                                                 .random = true,
                                                 .batched = true,
                                                 .attrs = {{"size", 1, 2, 1, INT32_MAX, SP_NEED, {0}},
                                                           {"padding", 1, 4, 0, INT32_MAX / 4, 1, {0}},
                                                           {"pad_if_needed", 1, 1, 0, 1, 1, {0}},
                                                           {"fill_value", 1, 3, 0, 255, 1, {0}},
                                                           {"padding_mode", 1, 1, 0, 3, 1, {0}}},
                                                 .run = random_crop_run};

/* --- flips -------------------------------------------------------------------------------------------------------- */

sp_status sp__image_flip(const sp_image *in, bool horizontal, sp_image *out)
{
    SP_TRY(sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out));
    const int pb = in->pixel_bytes;
    for (int y = 0; y < in->h; y++) {
        if (!horizontal) {
            memcpy(sp__image_row(out, y), sp__image_row(in, in->h - 1 - y), (size_t)in->w * (size_t)pb);
            continue;
        }
        const uint8_t *src = sp__image_row(in, y);
        uint8_t *dst = (uint8_t *)sp__image_row(out, y) + (int64_t)(in->w - 1) * pb;
        for (int x = 0; x < in->w; x++, src += pb, dst -= pb) copy_pixel(dst, src, pb);
    }
    return SP_OK;
}

static sp_status horizontal_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    (void)c;
    return sp__image_flip(in, true, out);
}
static sp_status vertical_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    (void)c;
    return sp__image_flip(in, false, out);
}
static sp_status horizontal_run(sp_transform_call *c) { return sp__run_image(c, horizontal_kernel); }
static sp_status vertical_run(sp_transform_call *c) { return sp__run_image(c, vertical_kernel); }

const sp_transform_op sp_transform_HorizontalFlip = {.name = "HorizontalFlip", .batched = true, .run = horizontal_run};
const sp_transform_op sp_transform_VerticalFlip = {.name = "VerticalFlip", .batched = true, .run = vertical_run};

static sp_status maybe(sp_transform_call *c, sp_status (*run)(sp_transform_call *))
{
    if (sp__draw_unit(c->stream) < sp__arg(c, 0, 0)) return run(c);
    return sp__give(c, sp_tensor_retain(c->in[0]));
}
static sp_status random_horizontal_run(sp_transform_call *c) { return maybe(c, horizontal_run); }
static sp_status random_vertical_run(sp_transform_call *c) { return maybe(c, vertical_run); }

const sp_transform_op sp_transform_RandomHorizontalFlip = {.name = "RandomHorizontalFlip",
                                                           .random = true,
                                                           .batched = true,
                                                           .attrs = {{"prob", 1, 1, 0, 1, 1, {0.5}}},
                                                           .run = random_horizontal_run};
const sp_transform_op sp_transform_RandomVerticalFlip = {.name = "RandomVerticalFlip",
                                                         .random = true,
                                                         .batched = true,
                                                         .attrs = {{"prob", 1, 1, 0, 1, 1, {0.5}}},
                                                         .run = random_vertical_run};

/* --- channels first ------------------------------------------------------------------------------------------------ */

#define PLANES(T)                                                                                                      \
    do {                                                                                                               \
        const int w = in->w, c_in = in->c;                                                                             \
        T *restrict dst = (T *)(void *)out->data + (int64_t)k * in->h * w;                                             \
        for (int y = 0; y < in->h; y++, dst += w) {                                                                    \
            const T *restrict src = (const T *)sp__image_row(in, y) + k;                                               \
            if (c_in == 3)                                                                                             \
                for (int x = 0; x < w; x++) dst[x] = src[3 * x];                                                       \
            else                                                                                                       \
                for (int x = 0; x < w; x++) dst[x] = src[(int64_t)x * c_in];                                           \
        }                                                                                                              \
    } while (0)

static sp_status hwc2chw_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    SP_TRY(sp__image_create_into(c->into, in->dtype, 3, in->c, in->h, in->w, out));
    for (int k = 0; k < in->c; k++) {
        switch (in->pixel_bytes / in->c) {
        case 1: PLANES(uint8_t); break;
        case 2: PLANES(uint16_t); break;
        case 4: PLANES(uint32_t); break;
        default: PLANES(uint64_t); break;
        }
    }
    return SP_OK;
}

static sp_status hwc2chw_run(sp_transform_call *c)
{
    SP_CHECK(sp_dtype_bytes((sp_dtype)c->in[0]->dtype) <= 8, SP_TYPE, "HWC2CHW: images of dtype %s are not known",
             sp_dtype_name((sp_dtype)c->in[0]->dtype));
    if (c->in[0]->rank == 2) return sp__give(c, sp_tensor_retain(c->in[0])); /* height and width are all there is */
    return sp__run_image(c, hwc2chw_kernel);
}

const sp_transform_op sp_transform_HWC2CHW = {.name = "HWC2CHW", .run = hwc2chw_run};

/* --- patches ------------------------------------------------------------------------------------------------------ */

enum { SLICE_H, SLICE_W, SLICE_MODE, SLICE_FILL };
static sp_status slice_run(sp_transform_call *c)
{
    const int rows = sp__arg_int(c, SLICE_H, 0), columns = sp__arg_int(c, SLICE_W, 0);
    if (rows == 1 && columns == 1) return sp__give(c, sp_tensor_retain(c->in[0]));
    sp_status status;
    sp_image in, padded = {.owner = NULL};
    sp_tensor *copy;
    SP_GOTO(done, sp__image_view("SlicePatches", c->in[0], &in, &copy));
    if (rows > in.h || columns > in.w) {
        status =
            sp__fail(SP_RUNTIME,
                     "SlicePatches: The number of patches on height axis or width axis equals 0 or is greater than the "
                     "image's: an image of height %d and width %d has no %d by %d patches",
                     in.h, in.w, rows, columns);
        goto done;
    }
    const bool pad = sp__arg_int(c, SLICE_MODE, 0) == 0;
    const int h = (in.h + (pad ? rows - 1 : 0)) / rows, w = (in.w + (pad ? columns - 1 : 0)) / columns;
    if (pad) {
        const double v = sp__arg(c, SLICE_FILL, 0), fill[4] = {v, v, v, v};
        SP_GOTO(done, sp__image_pad(&in, 0, h * rows - in.h, 0, w * columns - in.w, SP_BORDER_CONSTANT, fill, &padded));
    }
    for (int i = 0; i < rows * columns; i++) {
        sp_tensor *patch = NULL;
        SP_GOTO(done, sp__image_crop(pad ? &padded : &in, i / columns * h, i % columns * w, h, w, &patch));
        SP_GOTO(done, sp__give(c, patch));
    }
done:
    sp_tensor_release(padded.owner);
    sp_tensor_release(copy);
    return status;
}

const sp_transform_op sp_transform_SlicePatches = {.name = "SlicePatches",
                                                   .whole_row = true,
                                                   .attrs = {{"num_height", 1, 1, 1, 65535, 1, {1}},
                                                             {"num_width", 1, 1, 1, 65535, 1, {1}},
                                                             {"slice_mode", 1, 1, 0, 1, 1, {0}},
                                                             {"fill_value", 1, 1, 0, 255, 1, {0}}},
                                                   .run = slice_run};
