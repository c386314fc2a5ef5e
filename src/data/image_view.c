/* SPDX-License-Identifier: Apache-2.0 */
/* image_view.c - tensors seen as images. */
#include "data/transform.h"

/* Kernels count pixels of an image and numbers of a row in an int. */
static sp_status check_size(const char *who, int64_t h, int64_t w, int64_t c)
{
    SP_CHECK(h < SP_IMAGE_SIDE_MAX && w < SP_IMAGE_SIDE_MAX && c < 65536 && h * w <= INT32_MAX &&
                 w * c <= INT32_MAX / 16,
             SP_RUNTIME, "%s: an image of height %lld, width %lld and %lld channels is too large", who, (long long)h,
             (long long)w, (long long)c);
    return SP_OK;
}

static bool rows_are_dense(const sp_tensor *t)
{
    const int64_t c = t->rank == 3 ? t->dims[2] : 1;
    if (t->rank == 3 && t->dims[2] > 1 && t->strides[2] != 1) return false;
    return t->dims[1] <= 1 || t->strides[1] == c;
}

sp_status sp__image_view(const char *who, sp_tensor *t, sp_image *out, sp_tensor **copy)
{
    char text[SP_SHAPE_TEXT];
    *copy = NULL;
    SP_CHECK(t->rank == 2 || t->rank == 3, SP_RUNTIME,
             "%s: image shape should be <H,W> or <H,W,C>, but got rank: %d (shape %s)%s", who, t->rank,
             sp__shape_text(t->rank, t->dims, text),
             t->rank == 1
                 ? "; the image tensor should have at least two dimensions. You may need to perform Decode first."
                 : "");
    SP_CHECK(t->dtype != SP_DTYPE_STR && t->storage, SP_TYPE, "%s: an image holds numbers, but this array holds %s",
             who, sp_dtype_name((sp_dtype)t->dtype));
    const int64_t c = t->rank == 3 ? t->dims[2] : 1;
    SP_CHECK(t->dims[0] > 0 && t->dims[1] > 0 && c > 0, SP_RUNTIME, "%s: the image is empty, its shape is %s", who,
             sp__shape_text(t->rank, t->dims, text));
    SP_TRY(check_size(who, t->dims[0], t->dims[1], c));
    if (!rows_are_dense(t) || t->strides[0] < 0) {
        SP_TRY(sp_tensor_contiguous(t, copy));
        t = *copy;
    }
    const size_t element = sp_dtype_bytes((sp_dtype)t->dtype);
    *out = (sp_image){.data = (uint8_t *)t->data,
                      .dtype = (sp_dtype)t->dtype,
                      .rank = t->rank,
                      .h = (int)t->dims[0],
                      .w = (int)t->dims[1],
                      .c = (int)c,
                      .stride = t->strides[0] * (int64_t)element,
                      .pixel_bytes = (int)((size_t)c * element),
                      .owner = t};
    return SP_OK;
}

static bool fits(const sp_tensor *t, sp_dtype dtype, int rank, const int64_t *dims)
{
    return t->dtype == dtype && t->rank == rank && (t->flags & SP_TENSOR_CONTIGUOUS) &&
           memcmp(t->dims, dims, (size_t)rank * sizeof *dims) == 0;
}

sp_status sp__image_create(sp_dtype dtype, int rank, int h, int w, int c, sp_image *out)
{
    return sp__image_create_into(NULL, dtype, rank, h, w, c, out);
}

sp_status sp__image_create_into(sp_tensor *into, sp_dtype dtype, int rank, int h, int w, int c, sp_image *out)
{
    const int64_t dims[3] = {h, w, c};
    sp_tensor *t = NULL;
    SP_TRY(check_size("a result", h, w, c));
    if (into && fits(into, dtype, rank, dims)) t = sp_tensor_retain(into);
    else SP_TRY(sp_tensor_create(dtype, rank, dims, &t));
    const size_t element = sp_dtype_bytes(dtype);
    *out = (sp_image){.data = (uint8_t *)t->data,
                      .dtype = dtype,
                      .rank = rank,
                      .h = h,
                      .w = w,
                      .c = c,
                      .stride = (int64_t)w * c * (int64_t)element,
                      .pixel_bytes = (int)((size_t)c * element),
                      .owner = t};
    return SP_OK;
}

sp_status sp__image_crop(const sp_image *m, int y, int x, int h, int w, sp_tensor **out)
{
    const sp_tensor *t = m->owner;
    int64_t dims[3] = {h, w, m->c};
    return sp_tensor_view(t, t->rank, dims, t->strides, y * t->strides[0] + x * t->strides[1], out);
}

sp_status sp__image_copy(const sp_image *m, sp_image *out)
{
    SP_TRY(sp__image_create(m->dtype, m->rank, m->h, m->w, m->c, out));
    for (int y = 0; y < m->h; y++) memcpy(sp__image_row(out, y), sp__image_row(m, y), (size_t)out->stride);
    return SP_OK;
}
