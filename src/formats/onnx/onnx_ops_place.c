/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_place.c - ONNX operators that read or write at places which are computed: regions, shifted windows, grids, unpooling,
 * and distinct elements. Most are loops over contents: a model with one of them is run operator by operator. */
#include <math.h>
#include <stdlib.h>

#include "formats/onnx/onnx_model.h"

/* Input i as rows of float32, owned by the builder. */
static sp_status floats_in(sp_onnx_call *c, int i, sp_tensor **out)
{
    sp_tensor *x = sp__onnx_in(c, i), *t = NULL;
    SP_CHECK(x != NULL, SP_FORMAT, "input %d is missing", i);
    SP_TRY(sp__tensor_need_value(x));
    SP_TRY(sp_tensor_create(SP_DTYPE_F32, sp_tensor_rank(x), sp_tensor_dims(x), &t));
    *out = sp_builder_take_tensor(c->b, t);
    SP_TRY(sp_builder_status(c->b));
    return sp_tensor_assign(*out, x);
}

sp_status sp__onnx_zeros(sp_onnx_call *c, sp_dtype dtype, int rank, const int64_t *dims, sp_tensor **out)
{
    sp_tensor *t = NULL;
    SP_TRY(sp_tensor_create_zeros(dtype, rank, dims, &t));
    *out = sp_builder_take_tensor(c->b, t);
    return sp_builder_status(c->b);
}

/* --- regions ----------------------------------------------------------------------------------------------------- */

typedef struct corners {
    int64_t at[4];
    float weight[4];
} corners;

/* The four elements around a place and their shares; all shares 0 outside. */
static corners corners_of(double y, double x, int64_t height, int64_t width)
{
    corners k = {{0}, {0}};
    if (y < -1 || y > (double)height || x < -1 || x > (double)width) return k;
    if (y < 0) y = 0;
    if (x < 0) x = 0;
    int64_t y0 = (int64_t)y, x0 = (int64_t)x, y1 = y0 + 1, x1 = x0 + 1;
    if (y0 >= height - 1) y = (double)(y0 = y1 = height - 1);
    if (x0 >= width - 1) x = (double)(x0 = x1 = width - 1);
    double dy = y - (double)y0, dx = x - (double)x0;
    int64_t at[4] = {y0 * width + x0, y0 * width + x1, y1 * width + x0, y1 * width + x1};
    double weight[4] = {(1 - dy) * (1 - dx), (1 - dy) * dx, dy * (1 - dx), dy * dx};
    for (int i = 0; i < 4; i++) {
        k.at[i] = at[i];
        k.weight[i] = (float)weight[i];
    }
    return k;
}

typedef struct region {
    double y, x, bin_height, bin_width;
    int64_t samples_y, samples_x, height, width;
    bool max;
} region;

/* The mean (or the greatest share) of samples in one bin. */
static float pool_bin(const region *r, const float *plane, int64_t row, int64_t column)
{
    float sum = 0, best = -INFINITY;
    for (int64_t i = 0; i < r->samples_y; i++)
        for (int64_t j = 0; j < r->samples_x; j++) {
            double y = r->y + (double)row * r->bin_height + ((double)i + 0.5) * r->bin_height / (double)r->samples_y;
            double x = r->x + (double)column * r->bin_width + ((double)j + 0.5) * r->bin_width / (double)r->samples_x;
            corners k = corners_of(y, x, r->height, r->width);
            for (int n = 0; n < 4; n++) {
                float share = k.weight[n] * plane[k.at[n]];
                sum += share;
                best = share > best ? share : best;
            }
        }
    return r->max ? best : sum / (float)(r->samples_y * r->samples_x);
}

static sp_status roi_align(sp_onnx_call *c)
{
    sp_tensor *x, *rois, *out = NULL;
    sp_onnx_ints one;
    SP_TRY(floats_in(c, 0, &x));
    SP_TRY(floats_in(c, 1, &rois));
    SP_CHECK(sp_tensor_rank(x) == 4 && sp_tensor_rank(rois) == 2 && sp_tensor_dims(rois)[1] == 4 &&
                 sp__onnx_in(c, 2) != NULL && sp_tensor_count(c->in[2]) == sp_tensor_dims(rois)[0],
             SP_VALUE, "x must have rank 4, regions [n, 4] and a batch index each");
    int64_t rows = sp__onnx_attr_int(c, "output_height", 1), columns = sp__onnx_attr_int(c, "output_width", 1);
    int64_t ratio = sp__onnx_attr_int(c, "sampling_ratio", 0), n = sp_tensor_dims(rois)[0];
    const int64_t *d = sp_tensor_dims(x);
    SP_CHECK(rows > 0 && columns > 0 && rows < 65536 && columns < 65536 && ratio < 65536 && d[2] > 0 && d[3] > 0,
             SP_VALUE, "a result of %lld times %lld", (long long)rows, (long long)columns);
    double scale = sp__onnx_attr_float(c, "spatial_scale", 1);
    bool half = strcmp(sp__onnx_attr_text(c, "coordinate_transformation_mode",
                                          c->opset >= 16 ? "half_pixel" : "output_half_pixel"),
                       "half_pixel") == 0;
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_F32, 4, (int64_t[]){n, d[1], rows, columns}, &out));
    for (int64_t i = 0; i < n; i++) {
        const float *box = (const float *)sp_tensor_data(rois) + 4 * i;
        double shift = half ? 0.5 : 0, x1 = (double)box[0] * scale - shift, y1 = (double)box[1] * scale - shift;
        double width = (double)box[2] * scale - shift - x1, height = (double)box[3] * scale - shift - y1;
        if (!half && width < 1) width = 1;
        if (!half && height < 1) height = 1;
        SP_TRY(sp__onnx_ints(sp__take_range(c->b, c->in[2], 0, i, 1), &one));
        SP_CHECK(one.v[0] >= 0 && one.v[0] < d[0], SP_INDEX, "image %lld of %lld", (long long)one.v[0],
                 (long long)d[0]);
        /* Samples beyond the picture count as zeros, at a cost: a damaged region must not ask for years of them. */
        SP_CHECK(fabs(width) < 64 * (double)(d[3] + 64) && fabs(height) < 64 * (double)(d[2] + 64), SP_VALUE,
                 "region %lld is %g times %g, too large for a picture of %lld times %lld", (long long)i, height, width,
                 (long long)d[2], (long long)d[3]);
        region r = {.y = y1,
                    .x = x1,
                    .bin_height = height / (double)rows,
                    .bin_width = width / (double)columns,
                    .height = d[2],
                    .width = d[3],
                    .max = strcmp(sp__onnx_attr_text(c, "mode", "avg"), "max") == 0};
        r.samples_y = ratio > 0 ? ratio : (int64_t)ceil(r.bin_height);
        r.samples_x = ratio > 0 ? ratio : (int64_t)ceil(r.bin_width);
        if (r.samples_y < 1) r.samples_y = 1;
        if (r.samples_x < 1) r.samples_x = 1;
        for (int64_t k = 0; k < d[1] * rows * columns; k++) {
            const float *plane =
                (const float *)sp_tensor_data(x) + (one.v[0] * d[1] + k / (rows * columns)) * d[2] * d[3];
            ((float *)sp_tensor_data(out))[i * d[1] * rows * columns + k] =
                pool_bin(&r, plane, k / columns % rows, k % columns);
        }
    }
    return sp__onnx_return(c, sp_cast(c->b, out, sp_tensor_dtype(c->in[0])));
}

/* First and last-but-one element of bin i of n that share [start, start + size), inside [0, limit). */
static void bin_of(int64_t start, double size, int64_t i, int64_t n, int64_t limit, int64_t *from, int64_t *to)
{
    double bin = size / (double)n, low = floor((double)i * bin) + (double)start,
           high = ceil((double)(i + 1) * bin) + (double)start;
    *from = (int64_t)fmin(fmax(low, 0), (double)limit);
    *to = (int64_t)fmin(fmax(high, 0), (double)limit);
}

static float greatest_of(const float *plane, int64_t width, const int64_t y[2], const int64_t x[2])
{
    float most = y[1] > y[0] && x[1] > x[0] ? plane[y[0] * width + x[0]] : 0; /* nothing inside: 0 */
    for (int64_t i = y[0]; i < y[1]; i++)
        for (int64_t j = x[0]; j < x[1]; j++) most = fmaxf(most, plane[i * width + j]);
    return most;
}

/* Regions are rows (image, x1, y1, x2, y2), rounded to whole elements, both ends included. */
static sp_status max_roi_pool(sp_onnx_call *c)
{
    sp_tensor *x, *rois, *out = NULL;
    SP_TRY(floats_in(c, 0, &x));
    SP_TRY(floats_in(c, 1, &rois));
    const sp_onnx_attr *shape = sp__onnx_attr(c, "pooled_shape");
    SP_CHECK(sp_tensor_rank(x) == 4 && sp_tensor_rank(rois) == 2 && sp_tensor_dims(rois)[1] == 5, SP_VALUE,
             "x must have rank 4, regions [n, 5]");
    SP_CHECK(shape != NULL && shape->n == 2 && shape->ints[0] > 0 && shape->ints[1] > 0 && shape->ints[0] < 65536 &&
                 shape->ints[1] < 65536,
             SP_VALUE, "pooled_shape must be two sizes");
    const int64_t *d = sp_tensor_dims(x), rows = shape->ints[0], columns = shape->ints[1], n = sp_tensor_dims(rois)[0];
    double scale = sp__onnx_attr_float(c, "spatial_scale", 1);
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_F32, 4, (int64_t[]){n, d[1], rows, columns}, &out));
    float *to = sp_tensor_data(out);
    for (int64_t i = 0; i < n; i++) {
        const float *box = (const float *)sp_tensor_data(rois) + 5 * i;
        SP_CHECK(box[0] >= 0 && box[0] < (float)d[0], SP_INDEX, "region %lld: image %g of %lld", (long long)i,
                 (double)box[0], (long long)d[0]);
        double at[4];
        for (int k = 0; k < 4; k++) {
            at[k] = round((double)box[1 + k] * scale);
            SP_CHECK(fabs(at[k]) < 1e9, SP_VALUE, "region %lld reaches to %g", (long long)i, at[k]);
        }
        double width = fmax(at[2] - at[0] + 1, 1), height = fmax(at[3] - at[1] + 1, 1);
        const float *image = (const float *)sp_tensor_data(x) + (int64_t)box[0] * d[1] * d[2] * d[3];
        for (int64_t k = 0; k < d[1] * rows * columns; k++) {
            int64_t down[2], across[2];
            bin_of((int64_t)at[1], height, k / columns % rows, rows, d[2], &down[0], &down[1]);
            bin_of((int64_t)at[0], width, k % columns, columns, d[3], &across[0], &across[1]);
            *to++ = greatest_of(image + k / (rows * columns) * d[2] * d[3], d[3], down, across);
        }
    }
    return sp__onnx_return(c, sp_cast(c->b, out, sp_tensor_dtype(c->in[0])));
}

/* --- windows with shifted elements ------------------------------------------------------------------------------- */

static float sample(const float *plane, int64_t height, int64_t width, double y, double x)
{
    double y0 = floor(y), x0 = floor(x), dy = y - y0, dx = x - x0;
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        double at_y = y0 + (i >> 1), at_x = x0 + (i & 1);
        if (at_y < 0 || at_x < 0 || at_y >= (double)height || at_x >= (double)width) continue;
        double weight = (i >> 1 ? dy : 1 - dy) * (i & 1 ? dx : 1 - dx);
        sum += (float)weight * plane[(int64_t)at_y * width + (int64_t)at_x];
    }
    return sum;
}

/* Windows of x with shifted elements as columns [n, channels * taps, positions]; a plain matrix product does the rest. */
static sp_status deform_conv(sp_onnx_call *c)
{
    sp_tensor *x, *w, *offset, *mask = NULL, *columns = NULL;
    int64_t stride[2] = {1, 1}, dilation[2] = {1, 1}, pads[4] = {0}, group = sp__onnx_attr_int(c, "group", 1),
            shifts = sp__onnx_attr_int(c, "offset_group", 1);
    SP_TRY(floats_in(c, 0, &x));
    SP_TRY(floats_in(c, 1, &w));
    SP_TRY(floats_in(c, 2, &offset));
    if (sp__onnx_in(c, 4) != NULL) SP_TRY(floats_in(c, 4, &mask));
    SP_CHECK(sp_tensor_rank(x) == 4 && sp_tensor_rank(w) == 4 && sp_tensor_rank(offset) == 4, SP_DECLINED,
             "x, weights and offsets must have rank 4");
    SP_TRY(sp__onnx_ints_or(c, "strides", 2, 1, stride));
    SP_TRY(sp__onnx_ints_or(c, "dilations", 2, 1, dilation));
    SP_TRY(sp__onnx_ints_or(c, "pads", 4, 0, pads));
    const int64_t *d = sp_tensor_dims(x), *k = sp_tensor_dims(w), *o = sp_tensor_dims(offset);
    int64_t taps = k[2] * k[3], rows = o[2], cols = o[3], positions = rows * cols;
    SP_CHECK(group > 0 && shifts > 0 && d[1] == k[1] * group && d[1] % shifts == 0 && k[0] % group == 0 &&
                 o[0] == d[0] && o[1] == 2 * shifts * taps &&
                 (mask == NULL || sp_tensor_count(mask) == d[0] * shifts * taps * positions),
             SP_VALUE, "x, weights, offsets and mask do not fit each other");
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_F32, 3, (int64_t[]){d[0], d[1] * taps, positions}, &columns));
    const float *from = sp_tensor_data(x), *by = sp_tensor_data(offset),
                *scale = mask != NULL ? sp_tensor_data(mask) : NULL;
    for (int64_t row = 0; row < d[0] * d[1] * taps; row++) {
        int64_t n = row / (d[1] * taps), channel = row / taps % d[1], tap = row % taps,
                part = channel / (d[1] / shifts);
        const float *plane = from + (n * d[1] + channel) * d[2] * d[3],
                    *dy = by + (n * o[1] + (part * taps + tap) * 2) * positions;
        for (int64_t p = 0; p < positions; p++) {
            double y = (double)(p / cols * stride[0] - pads[0] + tap / k[3] * dilation[0]) + (double)dy[p];
            double at = (double)(p % cols * stride[1] - pads[1] + tap % k[3] * dilation[1]) + (double)dy[positions + p];
            float v = sample(plane, d[2], d[3], y, at);
            if (scale != NULL) v *= scale[((n * shifts + part) * taps + tap) * positions + p];
            ((float *)sp_tensor_data(columns))[row * positions + p] = v;
        }
    }
    columns = sp_reshape(c->b, columns, 4, (int64_t[]){d[0], group, d[1] / group * taps, positions});
    w = sp_reshape(c->b, w, 4, (int64_t[]){1, group, k[0] / group, k[1] * taps});
    sp_tensor *y = sp_reshape(c->b, sp_matmul(c->b, w, columns, false, false), 4, (int64_t[]){d[0], k[0], rows, cols});
    if (sp__onnx_in(c, 3) != NULL)
        y = sp_add(c->b, y, sp_reshape(c->b, sp_cast(c->b, c->in[3], SP_DTYPE_F32), 4, (int64_t[]){1, -1, 1, 1}));
    return sp__onnx_return(c, sp_cast(c->b, y, sp_tensor_dtype(c->in[0])));
}

/* --- columns to images ------------------------------------------------------------------------------------------- */

static sp_status col2im(sp_onnx_call *c)
{
    sp_tensor *x, *out = NULL;
    sp_onnx_ints image, block;
    int64_t stride[SP_RANK_MAX] = {0}, dilation[SP_RANK_MAX] = {0}, pads[2 * SP_RANK_MAX] = {0}, count[SP_RANK_MAX],
            dims[SP_RANK_MAX];
    SP_TRY(floats_in(c, 0, &x));
    SP_TRY(sp__onnx_ints(sp__onnx_in(c, 1), &image));
    SP_TRY(sp__onnx_ints(sp__onnx_in(c, 2), &block));
    int n = image.n;
    SP_CHECK(n == block.n && n >= 1 && n <= SP_RANK_MAX - 2 && sp_tensor_rank(x) == 3, SP_VALUE,
             "image and block have %d and %d axes", n, block.n);
    SP_TRY(sp__onnx_ints_or(c, "strides", n, 1, stride));
    SP_TRY(sp__onnx_ints_or(c, "dilations", n, 1, dilation));
    SP_TRY(sp__onnx_ints_or(c, "pads", 2 * n, 0, pads));
    int64_t taps = 1, positions = 1, plane = 1;
    for (int i = 0; i < n; i++) {
        SP_CHECK(stride[i] > 0 && dilation[i] > 0 && block.v[i] > 0 && image.v[i] >= 0 && image.v[i] < INT32_MAX,
                 SP_VALUE, "axis %d has no size", i);
        count[i] = (image.v[i] + pads[i] + pads[n + i] - dilation[i] * (block.v[i] - 1) - 1) / stride[i] + 1;
        taps *= block.v[i];
        positions *= count[i];
        plane *= image.v[i];
        dims[i + 2] = image.v[i];
    }
    const int64_t *d = sp_tensor_dims(x);
    SP_CHECK(d[1] % taps == 0 && d[2] == positions, SP_VALUE,
             "columns of %lld elements at %lld places do not fit the image", (long long)d[1], (long long)d[2]);
    dims[0] = d[0];
    dims[1] = d[1] / taps;
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_F32, n + 2, dims, &out));
    for (int64_t row = 0; row < d[0] * d[1]; row++)
        for (int64_t p = 0; p < positions; p++) {
            int64_t tap = row % taps, place = p, at = 0, step = 1;
            bool inside = true;
            for (int i = n - 1; i >= 0; i--) {
                int64_t y = place % count[i] * stride[i] - pads[i] + tap % block.v[i] * dilation[i];
                inside = inside && y >= 0 && y < image.v[i];
                at += y * step;
                step *= image.v[i];
                place /= count[i];
                tap /= block.v[i];
            }
            if (inside)
                ((float *)sp_tensor_data(out))[row / taps * plane + at] +=
                    ((const float *)sp_tensor_data(x))[row * positions + p];
        }
    return sp__onnx_return(c, sp_cast(c->b, out, sp_tensor_dtype(c->in[0])));
}

/* Values put back where max pooling took them from; the rest is zero. Indices count in the image without a given shape. */
static sp_status max_unpool(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    int n = sp_tensor_rank(x) - 2;
    int64_t kernel[SP_RANK_MAX] = {0}, stride[SP_RANK_MAX] = {0}, pads[2 * SP_RANK_MAX] = {0}, dims[SP_RANK_MAX],
            after[2 * SP_RANK_MAX] = {0}, all = 1;
    sp_onnx_ints wanted;
    sp_onnx_text text;
    bool found = false;
    SP_CHECK(n >= 1, SP_VALUE, "rank %d, it must be 3 or more", n + 2);
    SP_TRY(sp__onnx_ints_or(c, "kernel_shape", n, 1, kernel));
    SP_TRY(sp__onnx_ints_or(c, "strides", n, 1, stride));
    SP_TRY(sp__onnx_ints_or(c, "pads", 2 * n, 0, pads));
    SP_TRY(sp__onnx_ints_of(c, NULL, 2, &wanted, &found));
    SP_CHECK(!found || wanted.n == n + 2, SP_VALUE, "output_shape has %d entries, there must be %d", wanted.n, n + 2);
    for (int i = 0; i < n + 2; i++) {
        int64_t have = sp_tensor_dims(x)[i];
        dims[i] = i < 2 ? have : (have - 1) * stride[i - 2] - pads[i - 2] - pads[n + i - 2] + kernel[i - 2];
        SP_CHECK(dims[i] >= 0 && dims[i] < INT32_MAX && all * (dims[i] + 1) < INT64_MAX / INT32_MAX, SP_VALUE,
                 "axis %d has no size", i);
        all *= dims[i];
        after[2 * i + 1] = found ? wanted.v[i] - dims[i] : 0;
        SP_CHECK(after[2 * i + 1] >= 0, SP_VALUE, "output_shape is smaller than the values need");
    }
    sp_tensor *flat = sp__full(c->b, 0, sp_tensor_dtype(x), 1, &all), *values = sp_reshape(c->b, x, 1, (int64_t[]){-1});
    sp_tensor *at = sp_reshape(c->b, c->in[1], 1, (int64_t[]){-1});
    sp_tensor *y = sp__onnx_op(c, "scatter_elements", 3, (sp_tensor *[]){flat, at, values}, "axis=0, reduce=none");
    y = sp_reshape(c->b, y, n + 2, dims);
    if (found) y = SP_ONNX_OP1(c, "pad", y, "pads=%s", sp__onnx_list(&text, 2 * (n + 2), after));
    return sp__onnx_return(c, y);
}

/* --- grids ------------------------------------------------------------------------------------------------------- */

static sp_status affine_grid(sp_onnx_call *c)
{
    sp_tensor *theta = c->in[0], *base = NULL;
    sp_onnx_ints size;
    SP_TRY(sp__onnx_ints(sp__onnx_in(c, 1), &size));
    bool corners_align = sp__onnx_attr_int(c, "align_corners", 0) != 0;
    int n = size.n - 2;
    SP_CHECK((n == 2 || n == 3) && sp_tensor_rank(theta) == 3 && sp_tensor_dims(theta)[1] == n &&
                 sp_tensor_dims(theta)[2] == n + 1,
             SP_VALUE, "theta must be [n, 2, 3] with a size of 4 numbers, or [n, 3, 4] with one of 5");
    int64_t all = 1, dims[5] = {sp_tensor_dims(theta)[0]};
    for (int i = 0; i < n; i++) {
        SP_CHECK(size.v[i + 2] >= 0 && size.v[i + 2] < 65536, SP_VALUE, "a size of %lld", (long long)size.v[i + 2]);
        all *= dims[i + 1] = size.v[i + 2];
    }
    dims[n + 1] = n;
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_F64, 2, (int64_t[]){all, n + 1}, &base));
    for (int64_t p = 0; p < all; p++) {
        int64_t rest = p;
        double *to = (double *)sp_tensor_data(base) + p * (n + 1);
        for (int i = n - 1; i >= 0; i--) { /* x first, so the last axis */
            double m = (double)size.v[i + 2], at = (double)(rest % size.v[i + 2]);
            to[n - 1 - i] = corners_align ? (m > 1 ? 2 * at / (m - 1) - 1 : -1) : (2 * at + 1) / m - 1;
            rest /= size.v[i + 2];
        }
        to[n] = 1;
    }
    base = sp_cast(c->b, base, sp_tensor_dtype(theta));
    return sp__onnx_return(c, sp_reshape(c->b, sp_matmul(c->b, base, theta, false, true), n + 2, dims));
}

typedef struct cubic {
    int64_t height, width;
    char padding; /* z, b, r */
    bool corners_align;
} cubic;

static double reflected(double x, double low, double high)
{
    double range = high - low;
    if (range <= 0) return low;
    x = fmod(fabs(x - low), 2 * range);
    return low + (x > range ? 2 * range - x : x);
}

static float cubic_at(const cubic *g, const float *plane, int64_t y, int64_t x)
{
    if (g->padding == 'b') {
        y = y < 0 ? 0 : y >= g->height ? g->height - 1 : y;
        x = x < 0 ? 0 : x >= g->width ? g->width - 1 : x;
    } else if (g->padding == 'r') {
        double edge = g->corners_align ? 0 : -0.5;
        y = (int64_t)llround(reflected((double)y, edge, (double)g->height - 1 - edge));
        x = (int64_t)llround(reflected((double)x, edge, (double)g->width - 1 - edge));
        y = y < 0 ? 0 : y >= g->height ? g->height - 1 : y;
        x = x < 0 ? 0 : x >= g->width ? g->width - 1 : x;
    }
    return y < 0 || x < 0 || y >= g->height || x >= g->width ? 0 : plane[y * g->width + x];
}

static void cubic_weights(double t, double w[4])
{
    const double a = -0.75;
    for (int i = 0; i < 4; i++) {
        double d = fabs(t + 1 - i);
        w[i] = d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    }
}

static sp_status grid_sample_cubic(sp_onnx_call *c, sp_tensor **result)
{
    sp_tensor *x, *grid, *out = NULL;
    SP_TRY(floats_in(c, 0, &x));
    SP_TRY(floats_in(c, 1, &grid));
    const int64_t *d = sp_tensor_dims(x), *o = sp_tensor_dims(grid);
    SP_CHECK(sp_tensor_rank(x) == 4 && sp_tensor_rank(grid) == 4 && o[3] == 2 && o[0] == d[0], SP_VALUE,
             "cubic sampling takes [n, c, h, w] and [n, h, w, 2]");
    cubic g = {.height = d[2],
               .width = d[3],
               .padding = sp__onnx_attr_text(c, "padding_mode", "zeros")[0],
               .corners_align = sp__onnx_attr_int(c, "align_corners", 0) != 0};
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_F32, 4, (int64_t[]){d[0], d[1], o[1], o[2]}, &out));
    for (int64_t p = 0; p < d[0] * o[1] * o[2]; p++) {
        const float *at = (const float *)sp_tensor_data(grid) + 2 * p;
        double x0 = (double)at[0], y0 = (double)at[1], wx[4], wy[4];
        x0 = g.corners_align ? (x0 + 1) / 2 * ((double)d[3] - 1) : ((x0 + 1) * (double)d[3] - 1) / 2;
        y0 = g.corners_align ? (y0 + 1) / 2 * ((double)d[2] - 1) : ((y0 + 1) * (double)d[2] - 1) / 2;
        if (!(fabs(x0) < 1e15 && fabs(y0) < 1e15)) continue;
        cubic_weights(x0 - floor(x0), wx);
        cubic_weights(y0 - floor(y0), wy);
        int64_t n = p / (o[1] * o[2]), place = p % (o[1] * o[2]);
        for (int64_t ch = 0; ch < d[1]; ch++) {
            const float *plane = (const float *)sp_tensor_data(x) + (n * d[1] + ch) * d[2] * d[3];
            double sum = 0;
            for (int k = 0; k < 16; k++)
                sum += wy[k / 4] * wx[k % 4] *
                       (double)cubic_at(&g, plane, (int64_t)floor(y0) - 1 + k / 4, (int64_t)floor(x0) - 1 + k % 4);
            ((float *)sp_tensor_data(out))[(n * d[1] + ch) * o[1] * o[2] + place] = (float)sum;
        }
    }
    *result = sp_cast(c->b, out, sp_tensor_dtype(c->in[0]));
    return sp_builder_status(c->b);
}

static sp_status grid_sample(sp_onnx_call *c)
{
    const char *mode = sp__onnx_attr_text(c, "mode", "linear");
    if (strstr(mode, "cubic") != NULL) return grid_sample_cubic(c, &c->out[0]);
    if (strcmp(mode, "linear") == 0) mode = "bilinear";
    return sp__onnx_return(c, SP_ONNX_OP2(c, "grid_sample", c->in[0], c->in[1],
                                          "mode=%s, padding_mode=%s, align_corners=%s", mode,
                                          sp__onnx_attr_text(c, "padding_mode", "zeros"),
                                          sp__onnx_attr_int(c, "align_corners", 0) ? "True" : "False"));
}

/* --- distinct elements ------------------------------------------------------------------------------------------- */

typedef struct rows {
    sp_dtype dtype;
    const sp_onnx_texts *texts; /* NULL: numbers */
    const char *data;           /* [before, n, after] */
    int64_t before, n, after;
} rows;

static int compare_elements(const rows *r, int64_t i, int64_t k)
{
    if (r->dtype == SP_DTYPE_F64) {
        double a = ((const double *)(const void *)r->data)[i], b = ((const double *)(const void *)r->data)[k];
        return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : (a > b) - (a < b);
    }
    int64_t a = ((const int64_t *)(const void *)r->data)[i], b = ((const int64_t *)(const void *)r->data)[k];
    if (r->texts != NULL) return a == b ? 0 : strcmp(sp__onnx_text_at(r->texts, a), sp__onnx_text_at(r->texts, b));
    return (a > b) - (a < b);
}

/* By contents, element after element; then by place. */
static int compare_rows(const void *x, const void *y, void *context)
{
    const rows *r = context;
    int64_t i = *(const int64_t *)x, k = *(const int64_t *)y;
    for (int64_t b = 0; b < r->before; b++)
        for (int64_t a = 0; a < r->after; a++) {
            int order = compare_elements(r, (b * r->n + i) * r->after + a, (b * r->n + k) * r->after + a);
            if (order != 0) return order;
        }
    return 0;
}

static int compare_places(const void *x, const void *y, void *context)
{
    int order = compare_rows(x, y, context);
    int64_t i = *(const int64_t *)x, k = *(const int64_t *)y;
    return order != 0 ? order : (i > k) - (i < k);
}

static int compare_numbers(const void *x, const void *y)
{
    int64_t i = ((const int64_t *)x)[0], k = ((const int64_t *)y)[0];
    return (i > k) - (i < k);
}

/* first[u], count[u] of each distinct row and inverse[i] of each row. */
static int64_t distinct(rows *r, bool sorted, int64_t *order, int64_t *first, int64_t *count, int64_t *inverse)
{
    int64_t n = 0;
    for (int64_t i = 0; i < r->n; i++) order[i] = i;
    qsort_r(order, (size_t)r->n, sizeof *order, compare_places, r);
    for (int64_t i = 0; i < r->n; i++) {
        if (i == 0 || compare_rows(&order[i - 1], &order[i], r) != 0) {
            first[n] = order[i];
            count[n++] = 0;
        }
        count[n - 1]++;
        inverse[order[i]] = n - 1;
    }
    if (sorted) return n;
    /* In the order they appear: sort by the first place, and renumber. */
    for (int64_t u = 0; u < n; u++) {
        order[2 * u] = first[u];
        order[2 * u + 1] = u;
    }
    qsort(order, (size_t)n, 2 * sizeof *order, compare_numbers);
    int64_t *renamed = order + 2 * n, *counts = renamed + n;
    for (int64_t u = 0; u < n; u++) {
        first[u] = order[2 * u];
        renamed[order[2 * u + 1]] = u;
        counts[u] = count[order[2 * u + 1]];
    }
    for (int64_t u = 0; u < n; u++) count[u] = counts[u];
    for (int64_t i = 0; i < r->n; i++) inverse[i] = renamed[inverse[i]];
    return n;
}

static sp_status unique(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *wide = NULL, *memory = NULL, *out[3];
    int axis = 0;
    bool flat = sp__onnx_attr(c, "axis") == NULL;
    SP_TRY(sp__tensor_need_value(x));
    if (flat) x = sp_reshape(c->b, x, 1, (int64_t[]){-1});
    SP_TRY(sp_builder_status(c->b));
    SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", 0), sp_tensor_rank(x), "axis", &axis));
    rows r = {.dtype = sp_dtype_kind(sp_tensor_dtype(x)) == 'f' ? SP_DTYPE_F64 : SP_DTYPE_I64,
              .before = 1,
              .after = 1,
              .n = sp_tensor_dims(x)[axis],
              .texts = sp__onnx_in_type(c, 0) == SP_ONNX_STRING ? c->texts : NULL};
    for (int i = 0; i < sp_tensor_rank(x); i++)
        if (i != axis) *(i < axis ? &r.before : &r.after) *= sp_tensor_dims(x)[i];
    SP_TRY(sp__onnx_zeros(c, r.dtype, sp_tensor_rank(x), sp_tensor_dims(x), &wide));
    SP_TRY(sp_tensor_assign(wide, x));
    r.data = sp_tensor_data(wide);
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_I64, 1, (int64_t[]){4 * r.n + 1}, &memory));
    for (int i = 0; i < 3; i++) SP_TRY(sp__onnx_zeros(c, SP_DTYPE_I64, 1, (int64_t[]){r.n}, &out[i]));
    int64_t n = distinct(&r, sp__onnx_attr_int(c, "sorted", 1) != 0, sp_tensor_data(memory), sp_tensor_data(out[0]),
                         sp_tensor_data(out[2]), sp_tensor_data(out[1]));
    out[0] = sp__take_range(c->b, out[0], 0, 0, n);
    out[2] = sp__take_range(c->b, out[2], 0, 0, n);
    for (int i = 1; i < c->n_out && i < 4; i++) c->out[i] = out[i - 1];
    return sp__onnx_return(c, SP_ONNX_OP2(c, "gather", x, out[0], "axis=%d", axis));
}

const sp_onnx_handler sp__onnx_place[] = {
    {"RoiAlign", 10, roi_align, NULL, 0},
    {"MaxRoiPool", 1, max_roi_pool, NULL, 0},
    {"DeformConv", 19, deform_conv, NULL, 0},
    {"Col2Im", 18, col2im, NULL, 0},
    {"MaxUnpool", 9, max_unpool, NULL, 0},
    {"AffineGrid", 20, affine_grid, NULL, 0},
    {"GridSample", 16, grid_sample, NULL, 0},
    {"Unique", 11, unique, NULL, SP_ONNX_KEEPS},
    {NULL, 0, NULL, NULL, 0},
};
