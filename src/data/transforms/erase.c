/* SPDX-License-Identifier: Apache-2.0 */
/* erase.c - rectangles of an image made one colour. */
#include "data/transform.h"

/* A rectangle, clipped to the image, of a colour; chw: channels are the first dimension of *m. */
static sp_status fill_rect(sp_image *m, bool chw, sp_rect r, const double *colour, int n_colour)
{
    sp_loop_fn convert = sp__cast_loop(SP_DTYPE_F64, m->dtype);
    SP_CHECK(convert, SP_TYPE, "images of dtype %s cannot be filled", sp_dtype_name(m->dtype));
    const int h = chw ? m->w : m->h, w = chw ? m->c : m->w, c = chw ? m->h : m->c;
    const int64_t element = (int64_t)sp_dtype_bytes(m->dtype);
    const int y0 = r.y < 0 ? 0 : r.y, x0 = r.x < 0 ? 0 : r.x;
    const int y1 = (int64_t)r.y + r.h > h ? h : r.y + r.h, x1 = (int64_t)r.x + r.w > w ? w : r.x + r.w;
    if (x1 <= x0) return SP_OK;
    for (int y = y0; y < y1; y++)
        for (int k = 0; k < c; k++) {
            double v = colour[k < n_colour ? k : n_colour - 1];
            char *at = chw ? (char *)sp__image_row(m, k) + ((int64_t)y * w + x0) * element
                           : (char *)sp__image_row(m, y) + ((int64_t)x0 * c + k) * element;
            char *ptr[2] = {at, (char *)&v};
            const int64_t step[2] = {chw ? element : c * element, 0};
            convert(x1 - x0, ptr, step, NULL);
        }
    return SP_OK;
}

enum { ERASE_TOP, ERASE_LEFT, ERASE_HEIGHT, ERASE_WIDTH, ERASE_VALUE };
static sp_status erase_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    const sp_rect r = {sp__arg_int(c, ERASE_TOP, 0), sp__arg_int(c, ERASE_LEFT, 0), sp__arg_int(c, ERASE_HEIGHT, 0),
                       sp__arg_int(c, ERASE_WIDTH, 0)};
    SP_CHECK(r.y < in->h && r.x < in->w, SP_RUNTIME,
             "Erase: the corner (%d, %d) is outside of the image of height %d and width %d", r.y, r.x, in->h, in->w);
    SP_TRY(sp__image_copy(in, out));
    return fill_rect(out, false, r, c->t->attr[ERASE_VALUE].v, sp__arg_n(c, ERASE_VALUE));
}
static sp_status erase_run(sp_transform_call *c) { return sp__run_image(c, erase_kernel); }

const sp_transform_op sp_transform_Erase = {.name = "Erase",
                                            .attrs = {{"top", 1, 1, 0, INT32_MAX, SP_NEED, {0}},
                                                      {"left", 1, 1, 0, INT32_MAX, SP_NEED, {0}},
                                                      {"height", 1, 1, 1, INT32_MAX, SP_NEED, {0}},
                                                      {"width", 1, 1, 1, INT32_MAX, SP_NEED, {0}},
                                                      {"value", 1, 3, 0, 255, 1, {0}}},
                                            .run = erase_run};

/* Squares anywhere, also partly outside. */
enum { CUT_LENGTH, CUT_PATCHES, CUT_HWC };
static sp_status cut_out_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    static const double black[1];
    const bool hwc = sp__arg(c, CUT_HWC, 0) != 0;
    const int length = sp__arg_int(c, CUT_LENGTH, 0), h = hwc ? in->h : in->w, w = hwc ? in->w : in->c;
    SP_CHECK(in->rank == 3, SP_RUNTIME, "CutOut: an image of 3 dimensions is wanted, but this one has %d", in->rank);
    SP_CHECK(length <= h && length <= w, SP_RUNTIME,
             "CutOut: box size is too large for image erase, got length %d, image height: %d, image width: %d", length,
             h, w);
    SP_TRY(sp__image_copy(in, out));
    for (int i = 0; i < sp__arg_int(c, CUT_PATCHES, 0); i++) {
        const int y = (int)sp__draw_below(c->stream, h + length + 1) - length;
        const int x = (int)sp__draw_below(c->stream, w + length + 1) - length;
        SP_TRY(fill_rect(out, !hwc, (sp_rect){y, x, length, length}, black, 1));
    }
    return SP_OK;
}
static sp_status cut_out_run(sp_transform_call *c) { return sp__run_image(c, cut_out_kernel); }

const sp_transform_op sp_transform_CutOut = {.name = "CutOut",
                                             .random = true,
                                             .attrs = {{"length", 1, 1, 1, INT32_MAX, SP_NEED, {0}},
                                                       {"num_patches", 1, 1, 1, INT32_MAX, 1, {1}},
                                                       {"is_hwc", 1, 1, 0, 1, 1, {1}}},
                                             .run = cut_out_run};
