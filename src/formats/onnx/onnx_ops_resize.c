/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_resize.c - ONNX's Resize in all its modes, one axis after the other.
 *
 * Along an axis every output element is a weighted sum of input elements; the weights depend on sizes and attributes alone.
 * They are computed here as a matrix [out, in], which is multiplied; for mode nearest, where a row has a single one, the elements
 * are gathered instead. Positions outside the region of tf_crop_and_resize have rows of zeros and get the extrapolation value.
 * Where the engine's own operator chooses the same positions and weights, it is used: its attributes are sizes alone, so that models with
 * open sizes can be written in other formats. */
#include <math.h>

#include "formats/onnx/onnx_model.h"

typedef struct axis_plan {
    int64_t in, out;
    double scale, start, end; /* region, for tf_crop_and_resize */
    const char *mode, *place, *nearest;
    double cubic;
    bool antialias, exclude, by_size;
} axis_plan;

/* Where output element i lies in the input. */
static double position(const axis_plan *a, int64_t i)
{
    double in = (double)a->in, x = (double)i, out = a->scale * in; /* may be broken when scales are given */
    if (strcmp(a->place, "asymmetric") == 0) return x / a->scale;
    if (strcmp(a->place, "align_corners") == 0) return out <= 1 ? 0 : x * (in - 1) / (out - 1);
    if (strcmp(a->place, "pytorch_half_pixel") == 0) return out > 1 ? (x + 0.5) / a->scale - 0.5 : -0.5;
    if (strcmp(a->place, "tf_half_pixel_for_nn") == 0) return (x + 0.5) / a->scale;
    if (strcmp(a->place, "half_pixel_symmetric") == 0) {
        double adjust = (double)a->out / out, centre = in / 2;
        return centre * (1 - adjust) + (x + 0.5) / a->scale - 0.5;
    }
    if (strcmp(a->place, "tf_crop_and_resize") == 0)
        return out > 1 ? a->start * (in - 1) + x * (a->end - a->start) * (in - 1) / (out - 1)
                       : 0.5 * (a->start + a->end) * (in - 1);
    return (x + 0.5) / a->scale - 0.5;
}

static int64_t nearest_index(const axis_plan *a, double at)
{
    double i = floor(at);
    if (strcmp(a->nearest, "ceil") == 0) i = ceil(at);
    else if (strcmp(a->nearest, "round_prefer_ceil") == 0) i = floor(at + 0.5);
    else if (strcmp(a->nearest, "floor") != 0) i = ceil(at - 0.5);
    return i<0 ? 0 : i>(double)(a->in - 1) ? a->in - 1 : (int64_t)i;
}

static double kernel_weight(const axis_plan *a, double distance)
{
    double d = fabs(distance), k = a->cubic;
    if (strcmp(a->mode, "linear") == 0) return d < 1 ? 1 - d : 0;
    if (d < 1) return ((k + 2) * d - (k + 3)) * d * d + 1;
    return d < 2 ? ((k * d - 5 * k) * d + 8 * k) * d - 4 * k : 0;
}

/* A row of the matrix: weights of the input for the element that lies at `at`. */
static void fill_row(const axis_plan *a, double at, double *row)
{
    double stretch = a->antialias && a->scale < 1 ? 1 / a->scale : 1, sum = 0;
    double reach = (strcmp(a->mode, "linear") == 0 ? 1 : 2) * stretch;
    for (int64_t i = (int64_t)floor(at - reach) - 1; (double)i <= at + reach + 1; i++) {
        double w = kernel_weight(a, ((double)i - at) / stretch);
        bool outside = i < 0 || i >= a->in;
        if (outside && a->exclude) w = 0;
        int64_t held = i < 0 ? 0 : i >= a->in ? a->in - 1 : i;
        row[held] += w;
        sum += w;
    }
    for (int64_t i = 0; i < a->in && sum != 0; i++) row[i] /= sum;
}

static bool is(const char *text, const char *wanted) { return strcmp(text, wanted) == 0; }

/* What resample_axis calls that way of choosing positions; NULL: it has no such way. Near borders it rounds in float, so that the nearest element is the same one
 * for certain only where the scale, or one over it, is a whole number. */
static const char *resample_places(const axis_plan *a)
{
    const bool grows = a->scale == floor(a->scale), half = is(a->place, "half_pixel") ||
                                                           (is(a->place, "pytorch_half_pixel") && a->out > 1) ||
                                                           (is(a->place, "half_pixel_symmetric") && grows);
    if (is(a->mode, "nearest")) {
        if (is(a->place, "asymmetric") && is(a->nearest, "floor") && (grows || 1 / a->scale == floor(1 / a->scale)))
            return "asymmetric";
        if (half && grows && (is(a->nearest, "round_prefer_floor") || is(a->nearest, "round_prefer_ceil")))
            return "half_pixel";
        return is(a->place, "tf_half_pixel_for_nn") && grows && is(a->nearest, "floor") ? "half_pixel" : NULL;
    }
    if ((a->antialias && a->scale < 1) || (a->exclude && is(a->mode, "linear"))) return NULL;
    return half ? "half_pixel" : is(a->place, "align_corners") || is(a->place, "asymmetric") ? a->place : NULL;
}

static sp_status apply_resample(sp_onnx_call *c, sp_tensor **x, int axis, const axis_plan *a, const char *places)
{
    const bool ratio = a->by_size || a->scale == floor(a->scale); /* the sizes say it */
    *x = SP_ONNX_OP1(
        c, "resample_axis", *x,
        "axis=%d, in_size=%lld, out_size=%lld, mode='%s', coordinates='%s', scale=%.17g, cubic=%.17g, inside=%s", axis,
        (long long)a->in, (long long)a->out, a->mode, places, ratio ? 0.0 : 1 / a->scale, a->cubic,
        a->exclude ? "True" : "False");
    return sp_builder_status(c->b);
}

static sp_status apply_nearest(sp_onnx_call *c, sp_tensor **x, int axis, const axis_plan *a)
{
    sp_tensor *at = NULL;
    SP_TRY(sp_tensor_create(SP_DTYPE_I64, 1, &a->out, &at));
    for (int64_t i = 0; i < a->out; i++) ((int64_t *)sp_tensor_data(at))[i] = nearest_index(a, position(a, i));
    *x = SP_ONNX_OP2(c, "gather", *x, sp_builder_take_tensor(c->b, at), "axis=%d", axis);
    return sp_builder_status(c->b);
}

static sp_status apply_matrix(sp_onnx_call *c, sp_tensor **x, int axis, const axis_plan *a)
{
    sp_tensor *matrix = NULL;
    int64_t perm[SP_RANK_MAX];
    int rank = sp_tensor_rank(*x);
    SP_TRY(sp_tensor_create_zeros(SP_DTYPE_F64, 2, (int64_t[]){a->out, a->in}, &matrix));
    for (int64_t i = 0; i < a->out; i++) fill_row(a, position(a, i), (double *)sp_tensor_data(matrix) + i * a->in);
    matrix = sp_cast(c->b, sp_builder_take_tensor(c->b, matrix), sp_tensor_dtype(*x));
    for (int i = 0; i < rank; i++) perm[i] = i;
    perm[axis] = rank - 1;
    perm[rank - 1] = axis;
    if (axis != rank - 1) *x = sp_transpose(c->b, *x, rank, perm);
    *x = sp_matmul(c->b, *x, matrix, false, true);
    if (axis != rank - 1) *x = sp_transpose(c->b, *x, rank, perm);
    return sp_builder_status(c->b);
}

/* Elements that lie outside of the input take the extrapolation value. */
static sp_status extrapolate(sp_onnx_call *c, sp_tensor **x, int axis, const axis_plan *a, double value)
{
    sp_tensor *inside = NULL;
    int64_t dims[SP_RANK_MAX];
    SP_TRY(sp_tensor_create(SP_DTYPE_BOOL, 1, &a->out, &inside));
    for (int64_t i = 0; i < a->out; i++) {
        double at = position(a, i);
        ((bool *)sp_tensor_data(inside))[i] = at >= 0 && at <= (double)(a->in - 1);
    }
    for (int i = 0; i < sp_tensor_rank(*x); i++) dims[i] = i == axis ? -1 : 1;
    inside = sp_reshape(c->b, sp_builder_take_tensor(c->b, inside), sp_tensor_rank(*x), dims);
    *x = sp_select(c->b, inside, *x, sp__onnx_scalar(c, sp_tensor_dtype(*x), value));
    return sp_builder_status(c->b);
}

typedef struct request {
    int n;
    int axes[SP_RANK_MAX];
    double scales[SP_RANK_MAX];
    int64_t sizes[SP_RANK_MAX];
    bool by_size;
} request;

/* Sizes that keep the aspect: one factor for all axes, the smallest or the largest. */
static void keep_aspect(const sp_tensor *x, const char *policy, request *q)
{
    bool larger = strcmp(policy, "not_smaller") == 0;
    if (strcmp(policy, "stretch") == 0) return;
    double best = 0;
    for (int i = 0; i < q->n; i++) {
        double s = (double)q->sizes[i] / (double)sp_tensor_dims(x)[q->axes[i]];
        if (i == 0 || (larger ? s > best : s < best)) best = s;
    }
    for (int i = 0; i < q->n; i++) {
        q->scales[i] = best;
        q->sizes[i] = (int64_t)floor(best * (double)sp_tensor_dims(x)[q->axes[i]] + 0.5);
    }
}

static sp_status read_request(sp_onnx_call *c, sp_tensor *scales, sp_tensor *sizes, request *q)
{
    sp_tensor *x = c->in[0];
    sp_onnx_ints axes, to;
    bool found = false;
    int n = 0;
    SP_TRY(sp__onnx_ints_of(c, "axes", -1, &axes, &found));
    q->n = found ? axes.n : sp_tensor_rank(x);
    SP_CHECK(q->n <= SP_RANK_MAX, SP_VALUE, "%d axes", q->n);
    for (int i = 0; i < q->n; i++)
        SP_TRY(sp__shape_axis(found ? axes.v[i] : i, sp_tensor_rank(x), "axes", &q->axes[i]));
    if (scales != NULL && sp_tensor_count(scales) > 0) {
        SP_TRY(sp__onnx_floats(scales, SP_RANK_MAX, q->scales, &n));
        SP_CHECK(n == q->n, SP_VALUE, "%d scales for %d axes", n, q->n);
        for (int i = 0; i < n; i++) {
            double out = floor(q->scales[i] * (double)sp_tensor_dims(x)[q->axes[i]]);
            SP_CHECK(q->scales[i] > 0 && out < 1e9, SP_VALUE, "scale %g", q->scales[i]);
            q->sizes[i] = (int64_t)out;
        }
        return SP_OK;
    }
    SP_CHECK(sizes != NULL, SP_FORMAT, "neither scales nor sizes are given");
    SP_TRY(sp__onnx_ints(sizes, &to));
    q->by_size = is(sp__onnx_attr_text(c, "keep_aspect_ratio_policy", "stretch"), "stretch");
    SP_CHECK(to.n == q->n, SP_VALUE, "%d sizes for %d axes", to.n, q->n);
    for (int i = 0; i < q->n; i++) {
        SP_CHECK(to.v[i] > 0 && to.v[i] < 1000000000, SP_VALUE, "size %lld", (long long)to.v[i]);
        q->sizes[i] = to.v[i];
        q->scales[i] = (double)to.v[i] / (double)sp_tensor_dims(x)[q->axes[i]];
    }
    keep_aspect(x, sp__onnx_attr_text(c, "keep_aspect_ratio_policy", "stretch"), q);
    return SP_OK;
}

static sp_status resize_by(sp_onnx_call *c, const request *q, const char *place, const char *nearest)
{
    sp_tensor *x = c->in[0], *roi = c->opset >= 11 ? sp__onnx_in(c, 1) : NULL;
    sp_dtype dtype = sp_tensor_dtype(x);
    const char *mode = sp__onnx_attr_text(c, "mode", "nearest");
    bool crop = strcmp(place, "tf_crop_and_resize") == 0, closest = strcmp(mode, "nearest") == 0;
    double region[2 * SP_RANK_MAX] = {0};
    int n_region = 0;
    if (crop) SP_TRY(sp__onnx_floats(roi, 2 * SP_RANK_MAX, region, &n_region));
    SP_CHECK(!crop || n_region == 2 * q->n, SP_VALUE, "roi has %d numbers, there must be %d", n_region, 2 * q->n);
    if (!closest && sp_dtype_kind(dtype) != 'f') x = sp_cast(c->b, x, SP_DTYPE_F32);
    SP_TRY(sp_builder_status(c->b));
    for (int i = 0; i < q->n; i++) {
        axis_plan a = {.in = sp_tensor_dims(c->in[0])[q->axes[i]],
                       .out = q->sizes[i],
                       .scale = q->scales[i],
                       .start = region[i],
                       .end = region[q->n + i],
                       .mode = strcmp(mode, "bilinear") == 0 ? "linear" : mode,
                       .place = place,
                       .nearest = nearest,
                       .cubic = sp__onnx_attr_float(c, "cubic_coeff_a", -0.75),
                       .antialias = sp__onnx_attr_int(c, "antialias", 0) != 0,
                       .exclude = sp__onnx_attr_int(c, "exclude_outside", 0) != 0,
                       .by_size = q->by_size};
        if (a.in == a.out && q->scales[i] == 1 && !crop) continue;
        SP_CHECK(a.in > 0, SP_VALUE, "axis %d is empty", q->axes[i]);
        const char *places = resample_places(&a);
        if (places) SP_TRY(apply_resample(c, &x, q->axes[i], &a, places));
        else if (closest) SP_TRY(apply_nearest(c, &x, q->axes[i], &a));
        else SP_TRY(apply_matrix(c, &x, q->axes[i], &a));
        if (crop) SP_TRY(extrapolate(c, &x, q->axes[i], &a, sp__onnx_attr_float(c, "extrapolation_value", 0)));
    }
    return sp__onnx_return(c, sp_tensor_dtype(x) != dtype ? sp_cast(c->b, x, dtype)
                              : x == c->in[0]             ? sp_identity(c->b, x)
                                                          : x);
}

static sp_status resize(sp_onnx_call *c)
{
    request q = {0};
    SP_TRY(read_request(c, sp__onnx_in(c, 2), sp__onnx_in(c, 3), &q));
    return resize_by(c, &q, sp__onnx_attr_text(c, "coordinate_transformation_mode", "half_pixel"),
                     sp__onnx_attr_text(c, "nearest_mode", "round_prefer_floor"));
}

/* Before Resize had coordinates: scales alone, asymmetric, towards zero. */
static sp_status resize_old(sp_onnx_call *c)
{
    request q = {0};
    const sp_onnx_attr *a = sp__onnx_attr(c, "scales");
    if (a != NULL && a->floats != NULL) {
        SP_CHECK(a->n == sp_tensor_rank(c->in[0]), SP_VALUE, "%d scales for rank %d", a->n, sp_tensor_rank(c->in[0]));
        for (q.n = 0; q.n < a->n; q.n++) {
            q.axes[q.n] = q.n;
            q.scales[q.n] = a->floats[q.n];
            q.sizes[q.n] = (int64_t)floor(a->floats[q.n] * (double)sp_tensor_dims(c->in[0])[q.n]);
        }
    } else SP_TRY(read_request(c, sp__onnx_in(c, 1), NULL, &q));
    return resize_by(c, &q, "asymmetric", "floor");
}

const sp_onnx_handler sp__onnx_resize[] = {
    {"Resize", 11, resize, NULL, 0},
    {"Resize", 10, resize_old, NULL, 0},
    {"Upsample", 7, resize_old, NULL, 0},
    {NULL, 0, NULL, NULL, 0},
};
