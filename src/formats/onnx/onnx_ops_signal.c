/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_signal.c - ONNX operators on signals: Fourier transforms, whole and in frames, and mel scales.
 *
 * ONNX holds complex numbers as a last axis of two, real signals as one of one. */
#include <math.h>

#include "formats/onnx/onnx_model.h"
#include "ir/builder_keep.h"

static sp_tensor *to_complex(sp_onnx_call *c, sp_tensor *x)
{
    int rank = sp_tensor_rank(x), last = rank - 1;
    sp_tensor *real = sp_reshape(c->b, sp__take_range(c->b, x, last, 0, 1), last, sp_tensor_dims(x));
    sp_tensor *imaginary = sp_tensor_dims(x)[last] == 2
                               ? sp_reshape(c->b, sp__take_range(c->b, x, last, 1, 1), last, sp_tensor_dims(x))
                               : sp__zeros_like(c->b, real);
    return SP_ONNX_OP2(c, "complex", real, imaginary, NULL);
}

static sp_tensor *from_complex(sp_onnx_call *c, sp_tensor *z)
{
    sp_tensor *parts[2] = {SP_ONNX_OP1(c, "real", z, NULL), SP_ONNX_OP1(c, "imag", z, NULL)};
    return sp_builder_status(c->b) == SP_OK ? sp__stack(c->b, sp_tensor_rank(z), 2, parts) : NULL;
}

/* Cut or filled with zeros to a length. */
static sp_tensor *to_length(sp_onnx_call *c, sp_tensor *x, int axis, int64_t n)
{
    int64_t have = sp_tensor_dims(x)[axis], dims[SP_RANK_MAX];
    if (n <= have) return n == have ? x : sp__take_range(c->b, x, axis, 0, n);
    for (int i = 0; i < sp_tensor_rank(x); i++) dims[i] = i == axis ? n - have : sp_tensor_dims(x)[i];
    return sp__concat(c->b, axis, 2,
                      (sp_tensor *[]){x, sp__full(c->b, 0, sp_tensor_dtype(x), sp_tensor_rank(x), dims)});
}

/* The half of a spectrum that is not there: the other half mirrored, with the sign of the imaginary part changed. */
static sp_tensor *both_sides(sp_onnx_call *c, sp_tensor *x, int axis, int64_t n)
{
    int last = sp_tensor_rank(x) - 1;
    int64_t have = sp_tensor_dims(x)[axis], missing = n - have;
    if (missing <= 0) return to_length(c, x, axis, n);
    sp_tensor *at = sp_sub(c->b, sp__onnx_scalar(c, SP_DTYPE_I64, (double)missing), sp__positions(c->b, 1, 0, missing));
    sp_tensor *mirrored = SP_ONNX_OP2(c, "gather", x, at, "axis=%d", axis);
    sp_tensor *signs =
        sp_sub(c->b, sp__onnx_scalar(c, sp_tensor_dtype(x), 1),
               sp_cast(c->b, sp_mul(c->b, sp__positions(c->b, last + 1, last, 2), sp__onnx_scalar(c, SP_DTYPE_I64, 2)),
                       sp_tensor_dtype(x)));
    return sp__concat(c->b, axis, 2, (sp_tensor *[]){x, sp_mul(c->b, mirrored, signs)});
}

static sp_status dft(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    sp_dtype dtype = sp_tensor_dtype(x);
    bool inverse = sp__onnx_attr_int(c, "inverse", 0) != 0, onesided = sp__onnx_attr_int(c, "onesided", 0) != 0;
    double length = 0, given = (double)sp__onnx_attr_int(c, "axis", 1);
    int rank = sp_tensor_rank(x), axis = 0;
    if (c->opset >= 20) given = -2;
    if (c->opset >= 20 && sp__onnx_in(c, 2) != NULL) SP_TRY(sp__onnx_number(c->in[2], &given));
    SP_TRY(sp__shape_axis((int64_t)given, rank, "axis", &axis));
    SP_CHECK(rank >= 2 && axis < rank - 1 && (sp_tensor_dims(x)[rank - 1] == 1 || sp_tensor_dims(x)[rank - 1] == 2),
             SP_VALUE, "the last axis holds real and imaginary parts: it must have 1 or 2 elements, and not be axis %d",
             axis);
    int64_t n = sp_tensor_dims(x)[axis];
    if (inverse && onesided) n = 2 * (n - 1);
    if (sp__onnx_in(c, 1) != NULL) {
        SP_TRY(sp__onnx_number(c->in[1], &length));
        SP_CHECK(length >= 1 && length < 1e12, SP_VALUE, "a length of %g", length);
        n = (int64_t)length;
    }
    if (dtype != SP_DTYPE_F64) x = sp_cast(c->b, x, SP_DTYPE_F32);
    if (inverse && onesided) {
        x = to_length(c, x, axis, n / 2 + 1);
        x = both_sides(c, x, axis, n);
    } else x = to_length(c, x, axis, n);
    sp_tensor *z = SP_ONNX_OP1(c, "fft", to_complex(c, x), "axis=%d, inverse=%s", axis, inverse ? "True" : "False");
    SP_TRY(sp_builder_status(c->b));
    if (inverse && onesided) {
        sp_tensor *real = sp__mul_number(c->b, SP_ONNX_OP1(c, "real", z, NULL), 1 / (double)n);
        int64_t dims[SP_RANK_MAX];
        for (int i = 0; i < rank; i++) dims[i] = i == rank - 1 ? 1 : i == axis ? n : sp_tensor_dims(x)[i];
        return sp__onnx_return(c, sp_cast(c->b, sp_reshape(c->b, real, rank, dims), dtype));
    }
    sp_tensor *y = from_complex(c, z);
    SP_TRY(sp_builder_status(c->b));
    if (inverse) y = sp__mul_number(c->b, y, 1 / (double)n);
    if (onesided) y = sp__take_range(c->b, y, axis, 0, n / 2 + 1);
    return sp__onnx_return(c, sp_cast(c->b, y, dtype));
}

/* Frames of [batch, length, parts] as [batch, frames, size, parts], by the positions of their elements. */
/* How many windows of n elements there are: recorded, so that files with open sizes can say it. */
static sp_status note_windows(sp_onnx_call *c, sp_tensor *x, int axis, int64_t n, int64_t step)
{
    if (!sp__onnx_keeps_sizes(x)) return SP_OK;
    sp_tensor *rest = sp_sub(c->b, sp__onnx_size_symbol(c, x, axis), sp__onnx_scalar(c, SP_DTYPE_I64, (double)n));
    sp_tensor *whole = sp_floor_div(c->b, rest, sp__onnx_scalar(c, SP_DTYPE_I64, (double)step));
    sp_add(c->b, whole, sp__onnx_scalar(c, SP_DTYPE_I64, 1));
    return sp_builder_status(c->b);
}

static sp_status stft(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *window = sp__onnx_in(c, 2);
    double step = 0, size = 0;
    if (sp_tensor_rank(x) == 2) x = sp_reshape(c->b, x, 3, (int64_t[]){sp_tensor_dims(x)[0], sp_tensor_dims(x)[1], 1});
    SP_TRY(sp_builder_status(c->b));
    SP_TRY(sp__onnx_number(c->in[1], &step));
    if (sp__onnx_in(c, 3) != NULL) SP_TRY(sp__onnx_number(c->in[3], &size));
    else if (window != NULL) size = (double)sp_tensor_count(window);
    const int64_t *d = sp_tensor_dims(x);
    SP_CHECK(sp_tensor_rank(x) == 3 && step >= 1 && size >= 1 && size <= (double)d[1], SP_VALUE,
             "frames of %g elements, %g apart, do not fit the signal", size, step);
    int64_t n = (int64_t)size, frames = (d[1] - n) / (int64_t)step + 1;
    bool onesided = sp__onnx_attr_int(c, "onesided", 1) != 0;
    SP_TRY(note_windows(c, x, 1, n, (int64_t)step));
    sp_tensor *start = sp_mul(c->b, sp__positions(c->b, 2, 0, frames), sp__onnx_scalar(c, SP_DTYPE_I64, step));
    sp_tensor *at = sp_add(c->b, start, sp__positions(c->b, 2, 1, n));
    sp_tensor *cut = SP_ONNX_OP2(c, "gather", x, at, "axis=1");
    if (window != NULL) cut = sp_mul(c->b, cut, sp_reshape(c->b, window, 4, (int64_t[]){1, 1, -1, 1}));
    SP_TRY(sp_builder_status(c->b));
    sp_tensor *y = from_complex(c, SP_ONNX_OP1(c, "fft", to_complex(c, cut), "axis=2, inverse=False"));
    if (onesided) y = sp__take_range(c->b, y, 2, 0, n / 2 + 1);
    return sp__onnx_return(c, sp_cast(c->b, y, sp_tensor_dtype(x)));
}

/* Triangles in frequency whose centres are evenly spaced on the mel scale, each from one neighbour's centre to the other's. */
static sp_status mel_matrix(sp_onnx_call *c)
{
    double v[5];
    for (int i = 0; i < 5; i++) SP_TRY(sp__onnx_number(sp__onnx_in(c, i), &v[i]));
    SP_CHECK(v[0] >= 1 && v[0] < 1e6 && v[1] >= 1 && v[1] < 1e8 && v[2] > 0, SP_VALUE,
             "%g bins of a transform of %g elements", v[0], v[1]);
    int64_t bins = (int64_t)v[0], rows = (int64_t)v[1] / 2 + 1;
    double low = 2595 * log10(1 + v[3] / 700), high = 2595 * log10(1 + v[4] / 700), step = (high - low) / (v[0] + 2);
    sp_tensor *t = NULL;
    SP_TRY(sp_tensor_create_zeros(SP_DTYPE_F32, 2, (int64_t[]){rows, bins}, &t));
    SP_TRY(sp__builder_keep(c->b, &t));
    float *out = sp_tensor_data(t);
    int64_t edge[3] = {0};
    for (int64_t i = 0; i < bins + 2; i++) {
        double hertz = 700 * (pow(10, ((double)i * step + low) / 2595) - 1);
        edge[0] = edge[1];
        edge[1] = edge[2];
        edge[2] = (int64_t)floor((v[1] + 1) * hertz / v[2]);
        if (i < 2) continue;
        for (int64_t r = edge[0] < 0 ? 0 : edge[0]; r < rows && (r <= edge[1] || r < edge[2]); r++) {
            double up = edge[1] == edge[0] ? 1 : (double)(r - edge[0]) / (double)(edge[1] - edge[0]);
            double down = edge[2] == edge[1] ? 1 : (double)(edge[2] - r) / (double)(edge[2] - edge[1]);
            out[r * bins + i - 2] = (float)(r <= edge[1] ? up : down);
        }
    }
    sp_dtype dtype = sp__onnx_dtype((uint64_t)sp__onnx_attr_int(c, "output_datatype", 1));
    return sp__onnx_return(c, sp_cast(c->b, t, dtype != SP_DTYPE_NONE ? dtype : SP_DTYPE_F32));
}

const sp_onnx_handler sp__onnx_signal[] = {
    {"DFT", 17, dft, NULL, 0},
    {"STFT", 17, stft, NULL, 0},
    {"MelWeightMatrix", 17, mel_matrix, NULL, 0},
    {NULL, 0, NULL, NULL, 0},
};
