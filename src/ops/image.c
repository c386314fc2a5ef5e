/* SPDX-License-Identifier: Apache-2.0 */
/* image.c - sampling of images at places that are data: aligned regions, crops, grids.
 *
 * All read an image between its pixels: a place (y, x) takes the four pixels around it by their nearness. `corners`
 * works them out once for the kernels and their gradients. Regions are spread over threads forward; gradients towards an
 * image add up where regions overlap, so they run channel by channel, and each channel in the order of the regions. */
#include "ops/nn.h"

typedef struct {
    int64_t at[4];
    double w[4];
    double dy[4], dx[4]; /* how the weights move with y and x */
} corners;

/* Four pixels around (y, x) of an image; pixels outside have weight zero (and any address inside). */
static void corners_zero(double y, double x, int64_t height, int64_t width, corners *c)
{
    const double y0 = floor(y), x0 = floor(x), fy = y - y0, fx = x - x0;
    for (int k = 0; k < 4; k++) {
        const double yy = y0 + (k >> 1), xx = x0 + (k & 1);
        const double wy = k >> 1 ? fy : 1 - fy, wx = k & 1 ? fx : 1 - fx;
        const bool inside = yy >= 0 && yy < (double)height && xx >= 0 && xx < (double)width;
        c->at[k] = inside ? (int64_t)yy * width + (int64_t)xx : 0;
        c->w[k] = inside ? wy * wx : 0;
        c->dy[k] = inside ? (k >> 1 ? wx : -wx) : 0;
        c->dx[k] = inside ? (k & 1 ? wy : -wy) : 0;
    }
}
/* The same with places kept inside first: the border repeats. */
static void corners_edge(double y, double x, int64_t height, int64_t width, corners *c)
{
    y = y<0 ? 0 : y>(double)(height - 1) ? (double)(height - 1) : y;
    x = x<0 ? 0 : x>(double)(width - 1) ? (double)(width - 1) : x;
    corners_zero(y, x, height, width, c);
}

/* Element i of t as double. */
static double element(const sp_tensor *t, int64_t i)
{
    double v = 0;
    char *ptr[2] = {(char *)&v, t->data + i * (int64_t)sp_dtype_bytes((sp_dtype)t->dtype)};
    const int64_t step[2] = {0, 0};
    sp__cast_loop((sp_dtype)t->dtype, SP_DTYPE_F64)(1, ptr, step, NULL);
    return v;
}

/* --- roi_align --------------------------------------------------------------------------------------------------- */

#define ROI_ATTRS                                                                                                      \
    (INT_NEEDED, pooled_height), (INT_NEEDED, pooled_width), (FLOAT_NEEDED, spatial_scale), (INT, sample_num, 2),      \
        (INT, roi_end_mode, 1)
SP_ATTR_TABLE(roi_attr_table, sp_roi_align_attrs, ROI_ATTRS);
SP_ATTR_TABLE(roi_grad_attr_table, sp_roi_align_attrs, ROI_ATTRS, (INTS_NEEDED, size));

/* Samples of a bin along one side: when they are told, and when a region of this many pixels asks for one each. */
enum { SAMPLES_MAX = 1 << 10, SIDE_MAX = 1 << 15 };
static sp_status roi_check(const sp_call *c, const sp_tensor *rois)
{
    const sp_roi_align_attrs *a = c->attrs;
    SP_CHECK(c->in[0]->rank == 4 && rois->rank == 2 && rois->dims[1] == 5, SP_VALUE,
             "features must be [n, channels, height, width] and rois [m, 5]");
    SP_CHECK(a->pooled_height > 0 && a->pooled_width > 0, SP_VALUE, "pooled_height and pooled_width must be positive");
    SP_CHECK(a->sample_num <= SAMPLES_MAX, SP_VALUE, "sample_num is %lld, it must be at most %d",
             (long long)a->sample_num, SAMPLES_MAX);
    return SP_OK;
}
static sp_status roi_infer(const sp_call *c, sp_meta *out)
{
    const sp_roi_align_attrs *a = c->attrs;
    SP_TRY(roi_check(c, c->in[1]));
    *out = (sp_meta){.dtype = (sp_dtype)c->in[0]->dtype,
                     .rank = 4,
                     .dims = {c->in[1]->dims[0], c->in[0]->dims[1], a->pooled_height, a->pooled_width}};
    return SP_OK;
}
static sp_status roi_grad_infer(const sp_call *c, sp_meta *out)
{
    const sp_roi_align_attrs *a = c->attrs;
    SP_TRY(roi_check(c, c->in[1]));
    SP_CHECK(a->size.n == 4, SP_VALUE, "size has %d elements, it must have 4", a->size.n);
    const int64_t wanted[4] = {c->in[1]->dims[0], a->size.v[1], a->pooled_height, a->pooled_width};
    char found[SP_SHAPE_TEXT], text[SP_SHAPE_TEXT];
    SP_CHECK(sp__shape_equal(4, c->in[0]->dims, 4, wanted), SP_VALUE, "dout has shape %s, it must have %s",
             sp__shape_text(4, c->in[0]->dims, found), sp__shape_text(4, wanted, text));
    *out = (sp_meta){.dtype = (sp_dtype)c->in[0]->dtype, .rank = 4};
    for (int i = 0; i < 4; i++) out->dims[i] = a->size.v[i];
    return SP_OK;
}

typedef struct {
    const sp_roi_align_attrs *a;
    const sp_tensor *x, *rois, *out; /* x: features; out: pooled */
    const char *from;
    char *to;
    int64_t channels, height, width, regions, images;
} roi_job;

/* One region: its image, and for a bin the number of samples and where they are. */
typedef struct {
    int64_t image, ny, nx;
    double y, x, bin_h, bin_w;
} region;
static region region_at(const roi_job *j, const double *r)
{
    const sp_roi_align_attrs *a = j->a;
    const double end = (double)a->roi_end_mode;
    region g = {.image = (int64_t)r[0], .x = r[1] * a->spatial_scale, .y = r[2] * a->spatial_scale};
    double w = (r[3] + end) * a->spatial_scale - g.x, h = (r[4] + end) * a->spatial_scale - g.y;
    if (!a->roi_end_mode && w < 1) w = 1;
    if (!a->roi_end_mode && h < 1) h = 1;
    g.bin_h = h / (double)a->pooled_height;
    g.bin_w = w / (double)a->pooled_width;
    g.ny = a->sample_num > 0 ? a->sample_num : g.bin_h > 1 && g.bin_h <= SIDE_MAX ? (int64_t)ceil(g.bin_h) : 1;
    g.nx = a->sample_num > 0 ? a->sample_num : g.bin_w > 1 && g.bin_w <= SIDE_MAX ? (int64_t)ceil(g.bin_w) : 1;
    return g;
}
/* Of regions so large that their samples could not be counted, or not be computed. */
static sp_status check_regions(const roi_job *j)
{
    for (int64_t i = 0; i < j->regions; i++) {
        double r[5];
        for (int k = 0; k < 5; k++) r[k] = element(j->rois, i * 5 + k);
        const region g = region_at(j, r);
        SP_CHECK(j->a->sample_num > 0 || !(g.bin_h > SIDE_MAX || g.bin_w > SIDE_MAX), SP_VALUE,
                 "region %lld has bins of %g x %g pixels, more than %d cannot be sampled: give sample_num",
                 (long long)i, g.bin_h, g.bin_w, SIDE_MAX);
    }
    return SP_OK;
}
/* Places more than a pixel outside count as zero; others are moved onto the image. */
static bool place(const roi_job *j, double y, double x, corners *c)
{
    if (y < -1 || y > (double)j->height || x < -1 || x > (double)j->width) return false;
    corners_edge(y, x, j->height, j->width, c);
    return true;
}
#define ROI(D, T, C, LOAD, STORE, ...)                                                                                 \
    static void roi_##D(void *context, int64_t begin, int64_t end)                                                     \
    {                                                                                                                  \
        const roi_job *j = context;                                                                                    \
        const int64_t ph = j->a->pooled_height, pw = j->a->pooled_width, pixels = j->height * j->width;                \
        for (int64_t u = begin; u < end; u++) {                                                                        \
            double r[5];                                                                                               \
            for (int k = 0; k < 5; k++) r[k] = element(j->rois, u / j->channels * 5 + k);                              \
            const region g = region_at(j, r);                                                                          \
            T *y = (T *)(void *)j->to + u * ph * pw;                                                                   \
            if (g.image < 0 || g.image >= j->images) {                                                                 \
                memset(y, 0, (size_t)(ph * pw) * sizeof(T));                                                           \
                continue;                                                                                              \
            }                                                                                                          \
            const T *x = (const T *)(const void *)j->from + (g.image * j->channels + u % j->channels) * pixels;        \
            for (int64_t bin = 0; bin < ph * pw; bin++) {                                                              \
                double sum = 0;                                                                                        \
                for (int64_t s = 0; s < g.ny * g.nx; s++) {                                                            \
                    corners c;                                                                                         \
                    const double fy = ((double)(s / g.nx) + 0.5) / (double)g.ny,                                       \
                                 fx = ((double)(s % g.nx) + 0.5) / (double)g.nx;                                       \
                    if (!place(j, g.y + ((double)(bin / pw) + fy) * g.bin_h,                                           \
                               g.x + ((double)(bin % pw) + fx) * g.bin_w, &c))                                         \
                        continue;                                                                                      \
                    for (int k = 0; k < 4; k++) sum += c.w[k] * (double)LOAD(x[c.at[k]]);                              \
                }                                                                                                      \
                y[bin] = STORE((C)(sum / (double)(g.ny * g.nx)));                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    /* One channel of all images per unit. */                                                                          \
    static void roi_grad_##D(void *context, int64_t begin, int64_t end)                                                \
    {                                                                                                                  \
        const roi_job *j = context;                                                                                    \
        const int64_t ph = j->a->pooled_height, pw = j->a->pooled_width, pixels = j->height * j->width;                \
        for (int64_t ch = begin; ch < end; ch++) {                                                                     \
            for (int64_t n = 0; n < j->images; n++)                                                                    \
                memset((T *)(void *)j->to + (n * j->channels + ch) * pixels, 0, (size_t)pixels * sizeof(T));           \
            for (int64_t m = 0; m < j->regions; m++) {                                                                 \
                double r[5];                                                                                           \
                for (int k = 0; k < 5; k++) r[k] = element(j->rois, m * 5 + k);                                        \
                const region g = region_at(j, r);                                                                      \
                if (g.image < 0 || g.image >= j->images) continue;                                                     \
                const T *dy = (const T *)(const void *)j->from + (m * j->channels + ch) * ph * pw;                     \
                T *dx = (T *)(void *)j->to + (g.image * j->channels + ch) * pixels;                                    \
                for (int64_t s = 0; s < ph * pw * g.ny * g.nx; s++) {                                                  \
                    corners c;                                                                                         \
                    const int64_t bin = s / (g.ny * g.nx), at = s % (g.ny * g.nx);                                     \
                    const double fy = ((double)(at / g.nx) + 0.5) / (double)g.ny,                                      \
                                 fx = ((double)(at % g.nx) + 0.5) / (double)g.nx;                                      \
                    if (!place(j, g.y + ((double)(bin / pw) + fy) * g.bin_h,                                           \
                               g.x + ((double)(bin % pw) + fx) * g.bin_w, &c))                                         \
                        continue;                                                                                      \
                    const double d = (double)LOAD(dy[bin]) / (double)(g.ny * g.nx);                                    \
                    for (int k = 0; k < 4; k++) dx[c.at[k]] = STORE((C)((double)LOAD(dx[c.at[k]]) + c.w[k] * d));      \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
SP_EACH_FLOAT(ROI, , )
static sp_status roi_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, roi, )};
    const sp_tensor *x = c->in[0];
    roi_job j = {.a = c->attrs,
                 .rois = c->in[1],
                 .from = x->data,
                 .to = c->out[0]->data,
                 .channels = x->dims[1],
                 .height = x->dims[2],
                 .width = x->dims[3],
                 .regions = c->in[1]->dims[0],
                 .images = x->dims[0]};
    SP_TRY(check_regions(&j));
    return sp__parallel_for(j.regions * j.channels, 16, fns[x->dtype], &j);
}
static sp_status roi_grad_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, roi_grad, )};
    const sp_tensor *dx = c->out[0];
    roi_job j = {.a = c->attrs,
                 .rois = c->in[1],
                 .from = c->in[0]->data,
                 .to = dx->data,
                 .channels = dx->dims[1],
                 .height = dx->dims[2],
                 .width = dx->dims[3],
                 .regions = c->in[1]->dims[0],
                 .images = dx->dims[0]};
    SP_TRY(check_regions(&j));
    return sp__parallel_for(j.channels, 1, fns[dx->dtype], &j);
}
/* Linear in the features: the two operators are each other's gradient. */
static sp_status roi_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_roi_align_attrs a = *(const sp_roi_align_attrs *)v->attrs;
    a.size = (sp_ints){4, v->in[0]->dims};
    if (v->needs[0])
        v->din[0] = sp_builder_apply(b, &sp_op_roi_align_grad, &a, 2, (sp_tensor *const[]){v->dout[0], v->in[1]});
    return SP_OK;
}
static sp_status roi_grad_vjp(sp_builder *b, const sp_vjp *v)
{
    if (v->needs[0])
        v->din[0] = sp_builder_apply(b, &sp_op_roi_align, v->attrs, 2, (sp_tensor *const[]){v->dout[0], v->in[1]});
    return SP_OK;
}
const sp_op sp_op_roi_align = {
    .name = "roi_align",
    .inputs = "features, rois",
    SP_ATTRS(roi_attr_table, sp_roi_align_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = roi_infer,
    .reference = roi_reference,
    .vjp = roi_vjp,
    .saves = SP_SAVE_IN(1),
    .mindir = "ROIAlign",
    .python = "ops.ROIAlign(pooled_height, pooled_width, spatial_scale, sample_num=2, roi_end_mode=1)(features, rois)",
    .doc = "Regions (image, x1, y1, x2, y2) of feature maps resampled to one size; the places are constants.",
    .samples = "[2,2,5,5] [3,5]i<2 pooled_height=2 pooled_width=2 spatial_scale=1.0",
};
const sp_op sp_op_roi_align_grad = {
    .name = "roi_align_grad",
    .inputs = "dout, rois",
    SP_ATTRS(roi_grad_attr_table, sp_roi_align_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = roi_grad_infer,
    .reference = roi_grad_reference,
    .vjp = roi_grad_vjp,
    .saves = SP_SAVE_IN(1),
    .doc = "Gradient of roi_align towards the features.",
    .samples = "[3,2,2,2] [3,5]i<2 pooled_height=2 pooled_width=2 spatial_scale=1.0 size=(2,2,5,5)",
};

/* --- crop_and_resize --------------------------------------------------------------------------------------------- */

#define CROP_ATTRS (INTS_NEEDED, crop_size), (TEXT, method, "bilinear"), (FLOAT, extrapolation_value, 0.0)
SP_ATTR_TABLE(crop_attr_table, sp_crop_and_resize_attrs, CROP_ATTRS);
SP_ATTR_TABLE(crop_grad_attr_table, sp_crop_and_resize_attrs, CROP_ATTRS, (INTS_NEEDED, size));
static sp_status crop_infer(const sp_call *c, sp_meta *out)
{
    const sp_crop_and_resize_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0], *boxes = c->in[1], *index = c->in[2];
    SP_CHECK(x->rank == 4 && boxes->rank == 2 && boxes->dims[1] == 4 && index->rank == 1 &&
                 index->dims[0] == boxes->dims[0],
             SP_VALUE, "image must be [n, height, width, channels], boxes [m, 4] and box_indices [m]");
    SP_CHECK(index->dtype == SP_DTYPE_I64, SP_TYPE, "box_indices must be int64, they are %s",
             sp_dtype_name((sp_dtype)index->dtype));
    SP_CHECK(a->crop_size.n == 2 && a->crop_size.v[0] > 0 && a->crop_size.v[1] > 0, SP_VALUE,
             "crop_size must be two positive numbers");
    SP_CHECK(x->dims[1] > 0 && x->dims[2] > 0, SP_VALUE, "images of %lld x %lld pixels have nothing to crop",
             (long long)x->dims[1], (long long)x->dims[2]);
    SP_CHECK(strcmp(a->method, "bilinear") == 0 || strcmp(a->method, "nearest") == 0 ||
                 strcmp(a->method, "bilinear_v2") == 0,
             SP_VALUE, "method is '%s', it must be bilinear, nearest or bilinear_v2", a->method);
    *out = (sp_meta){.dtype = x->dtype == SP_DTYPE_F64 ? SP_DTYPE_F64 : SP_DTYPE_F32,
                     .rank = 4,
                     .dims = {boxes->dims[0], a->crop_size.v[0], a->crop_size.v[1], x->dims[3]}};
    return SP_OK;
}
/* Where crop row i of n looks in `size` rows; false: outside. In float, so that a place on the border is judged as by
 * others who compute in float. bilinear_v2 takes whole pixels and looks at the middles of bins. */
static bool crop_place(const char *method, double low, double high, int64_t i, int64_t n, int64_t size, double *at)
{
    const float last = (float)(size - 1);
    if (strcmp(method, "bilinear_v2") == 0) {
        const double first = trunc(low * (double)size) - 0.5, end = trunc(high * (double)size) + 0.5;
        *at = first + ((double)i + 0.5) * (end - first > 1 ? end - first : 1) / (double)n;
        *at = *at<0 ? 0 : *at>(double) last ? (double)last : *at;
        return true;
    }
    const float from = (float)low, to = (float)high;
    const float scale = n > 1 ? (to - from) * last / (float)(n - 1) : 0;
    const float place_ = n > 1 ? from * last + (float)i * scale : 0.5f * (from + to) * last;
    *at = (double)place_;
    return place_ >= 0 && place_ <= last;
}
/* Results are float32, of float64 images float64. */
static sp_dtype crop_dtype(const sp_tensor *from) { return from->dtype == SP_DTYPE_F64 ? SP_DTYPE_F64 : SP_DTYPE_F32; }
static void put(const sp_tensor *t, int64_t i, double value)
{
    if (t->dtype == SP_DTYPE_F64) ((double *)(void *)t->data)[i] = value;
    else ((float *)(void *)t->data)[i] = (float)value;
}

/* Forward: out gets the crops of `image`. Backward: `image` is the gradient of the crops, out that of the images. */
static sp_status crop_run(const sp_call *c, const int64_t *dims, bool back)
{
    const sp_crop_and_resize_attrs *a = c->attrs;
    const sp_tensor *from = c->in[0], *boxes = c->in[1];
    const int64_t rows = a->crop_size.v[0], columns = a->crop_size.v[1], channels = dims[3];
    const bool nearest = strcmp(a->method, "nearest") == 0;
    const sp_tensor *out = c->out[0];
    if (back) memset(out->data, 0, sp_tensor_bytes(out));
    for (int64_t m = 0; m < boxes->dims[0]; m++) {
        const int64_t n = ((const int64_t *)(const void *)c->in[2]->data)[m];
        SP_CHECK(n >= 0 && n < dims[0], SP_VALUE, "box_indices[%lld] is %lld, but there are %lld images", (long long)m,
                 (long long)n, (long long)dims[0]);
        double b[4];
        for (int k = 0; k < 4; k++) b[k] = element(boxes, m * 4 + k);
        for (int64_t i = 0; i < rows * columns; i++) {
            double y, x;
            const bool in_y = crop_place(a->method, b[0], b[2], i / columns, rows, dims[1], &y);
            const bool in_x = crop_place(a->method, b[1], b[3], i % columns, columns, dims[2], &x);
            const int64_t crop = (m * rows * columns + i) * channels, image = n * dims[1] * dims[2];
            corners f = {.w = {0}};
            if (in_y && in_x) corners_edge(nearest ? round(y) : y, nearest ? round(x) : x, dims[1], dims[2], &f);
            for (int64_t ch = 0; ch < channels; ch++) {
                double sum = in_y && in_x ? 0 : a->extrapolation_value;
                for (int k = 0; k < 4; k++) {
                    const int64_t at = (image + f.at[k]) * channels + ch;
                    if (f.w[k] != 0 && back) put(out, at, element(out, at) + f.w[k] * element(from, crop + ch));
                    if (f.w[k] != 0 && !back) sum += f.w[k] * element(from, at);
                }
                if (!back) put(out, crop + ch, sum);
            }
        }
    }
    return SP_OK;
}
static sp_status crop_reference(const sp_call *c) { return crop_run(c, c->in[0]->dims, false); }
static sp_status crop_grad_reference(const sp_call *c) { return crop_run(c, c->out[0]->dims, true); }
static sp_status crop_grad_infer(const sp_call *c, sp_meta *out)
{
    const sp_crop_and_resize_attrs *a = c->attrs;
    const sp_tensor *dout = c->in[0], *boxes = c->in[1], *index = c->in[2];
    SP_CHECK(a->size.n == 4 && dout->rank == 4 && boxes->rank == 2 && a->crop_size.n == 2, SP_VALUE,
             "size must have 4 elements, dout 4 dimensions and boxes 2");
    SP_CHECK(boxes->dims[1] == 4 && index->rank == 1 && index->dims[0] == boxes->dims[0] &&
                 index->dtype == SP_DTYPE_I64,
             SP_VALUE, "boxes must be [m, 4] and box_indices int64 [m]");
    SP_CHECK(dout->dims[0] == boxes->dims[0] && dout->dims[1] == a->crop_size.v[0] &&
                 dout->dims[2] == a->crop_size.v[1] && dout->dims[3] == a->size.v[3] && a->size.v[1] > 0 &&
                 a->size.v[2] > 0,
             SP_VALUE, "dout must be [m, crop height, crop width, channels] of images with pixels");
    *out = (sp_meta){.dtype = crop_dtype(c->in[0]), .rank = 4};
    for (int i = 0; i < 4; i++) out->dims[i] = a->size.v[i];
    return SP_OK;
}
static sp_status crop_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_crop_and_resize_attrs a = *(const sp_crop_and_resize_attrs *)v->attrs;
    a.size = (sp_ints){4, v->in[0]->dims};
    if (!v->needs[0]) return SP_OK;
    sp_tensor *in[3] = {v->dout[0], v->in[1], v->in[2]};
    v->din[0] = sp_cast(b, sp_builder_apply(b, &sp_op_crop_and_resize_grad, &a, 3, in), (sp_dtype)v->in[0]->dtype);
    return SP_OK;
}
static sp_status crop_grad_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_crop_and_resize_attrs a = *(const sp_crop_and_resize_attrs *)v->attrs;
    a.extrapolation_value = 0;
    sp_tensor *in[3] = {v->dout[0], v->in[1], v->in[2]};
    if (v->needs[0])
        v->din[0] = sp_cast(b, sp_builder_apply(b, &sp_op_crop_and_resize, &a, 3, in), (sp_dtype)v->in[0]->dtype);
    return SP_OK;
}
const sp_op sp_op_crop_and_resize = {
    .name = "crop_and_resize",
    .inputs = "image, boxes, box_indices",
    SP_ATTRS(crop_attr_table, sp_crop_and_resize_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = crop_infer,
    .reference = crop_reference,
    .vjp = crop_vjp,
    .saves = SP_SAVE_IN(1) | SP_SAVE_IN(2),
    .mindir = "CropAndResize",
    .onnx = "CropAndResize",
    .doc = "Parts of images, given as fractions (y1, x1, y2, x2) of height and width, resized to one size.",
    .samples = "[2,4,5,3] [3,4]i<2 [3]i<2 crop_size=(2,3); [2,4,5,3] [3,4]i<2 [3]i<2 crop_size=(2,3) method=nearest; "
               "[1,4,5,1] [2,4]i<2 [2]i<1 crop_size=(3,3) method=bilinear_v2",
};
const sp_op sp_op_crop_and_resize_grad = {
    .name = "crop_and_resize_grad",
    .inputs = "dout, boxes, box_indices",
    SP_ATTRS(crop_grad_attr_table, sp_crop_and_resize_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = crop_grad_infer,
    .reference = crop_grad_reference,
    .vjp = crop_grad_vjp,
    .saves = SP_SAVE_IN(1) | SP_SAVE_IN(2),
    .doc = "Gradient of crop_and_resize towards the images.",
    .samples = "[2,2,3,2] [2,4]i<2 [2]i<1 crop_size=(2,3) size=(1,4,5,2)",
};
