/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_byte_conv.c - convolutions of quantised tensors as products of bytes.
 *
 * The product of weights [filters, taps x channels] and pixels [taps x channels, positions]: a tap is one element of the kernel, its pixels are
 * a slice of the padded input, so the right side is slices one below the other. They are bytes, a quarter of what the same would be in float32,
 * and a kernel of one element needs none at all. Zero points of weights are one number, or all the same. */
#include <string.h>

#include "formats/onnx/onnx_model.h"

static bool is_bytes(const sp_tensor *t) { return sp_tensor_dtype(t) == SP_DTYPE_I8 || sp_tensor_dtype(t) == SP_DTYPE_U8; }

static bool fits(sp_onnx_call *c, const sp_tensor *x, const sp_tensor *x_zero, const sp_tensor *w, const sp_tensor *w_zero)
{
    int rank = sp_tensor_rank(w);
    if (!is_bytes(x) || !is_bytes(w) || rank < 3 || rank > 5 || sp_tensor_rank(x) != rank || sp__onnx_attr_int(c, "group", 1) != 1) return false;
    if (sp_tensor_count(w) == 0 || sp_tensor_count(x) == 0) return false;
    if (x_zero != NULL && (sp_tensor_count(x_zero) != 1 || sp_tensor_dtype(x_zero) != sp_tensor_dtype(x))) return false;
    if (w_zero == NULL) return true;
    if (sp_tensor_is_symbol(w_zero) || sp_tensor_dtype(w_zero) != sp_tensor_dtype(w) || !sp_tensor_is_contiguous(w_zero)) return false;
    const uint8_t *zeros = sp_tensor_data((sp_tensor *)w_zero);
    for (int64_t i = 1; i < sp_tensor_count(w_zero); i++)
        if (zeros[i] != zeros[0]) return false;
    return sp_tensor_count(w_zero) > 0;
}

/* x in a frame of its zero point, which may be computed while running. */
static sp_tensor *framed(sp_onnx_call *c, sp_tensor *x, sp_tensor *zero, const sp_onnx_window *w)
{
    int64_t dims[SP_RANK_MAX];
    if (zero == NULL) zero = sp__onnx_scalar(c, sp_tensor_dtype(x), 0);
    else zero = sp_reshape(c->b, zero, 0, NULL);
    for (int i = 0; i < w->n && x != NULL; i++) {
        sp_tensor *parts[3];
        int n = 0;
        memcpy(dims, sp_tensor_dims(x), sizeof *dims * (size_t)sp_tensor_rank(x));
        dims[i + 2] = w->pads[2 * i];
        if (dims[i + 2] > 0) parts[n++] = sp_broadcast_to(c->b, zero, sp_tensor_rank(x), dims);
        parts[n++] = x;
        dims[i + 2] = w->pads[2 * i + 1];
        if (dims[i + 2] > 0) parts[n++] = sp_broadcast_to(c->b, zero, sp_tensor_rank(x), dims);
        if (n > 1) x = sp__concat(c->b, i + 2, n, parts);
    }
    return x;
}

enum { TAPS_MAX = 256 };

/* [batch, taps x channels, out...] */
static sp_tensor *pixels(sp_onnx_call *c, sp_tensor *x, const sp_onnx_window *w, int64_t taps, const int64_t *out)
{
    sp_tensor *parts[TAPS_MAX];
    int rank = w->n + 2;
    sp_onnx_text t[3];
    for (int64_t tap = 0; tap < taps && x != NULL; tap++) {
        int64_t start[SP_RANK_MAX] = {0}, stop[SP_RANK_MAX], step[SP_RANK_MAX] = {1, 1}, rest = tap;
        bool whole = true;
        memcpy(stop, sp_tensor_dims(x), sizeof *stop * (size_t)rank);
        for (int i = w->n - 1; i >= 0; i--) {
            start[i + 2] = rest % w->kernel[i] * w->dilation[i];
            step[i + 2] = w->stride[i];
            stop[i + 2] = start[i + 2] + (out[i] - 1) * w->stride[i] + 1;
            whole = whole && start[i + 2] == 0 && step[i + 2] == 1 && stop[i + 2] == sp_tensor_dims(x)[i + 2];
            rest /= w->kernel[i];
        }
        parts[tap] = whole ? x : SP_ONNX_OP1(c, "slice", x, "start=%s, stop=%s, step=%s", sp__onnx_list(&t[0], rank, start),
                                             sp__onnx_list(&t[1], rank, stop), sp__onnx_list(&t[2], rank, step));
    }
    return taps == 1 ? parts[0] : sp__concat(c->b, 1, (int)taps, parts);
}

/* [filters, taps x channels] */
static sp_tensor *factors(sp_onnx_call *c, sp_tensor *w, int64_t taps)
{
    const int64_t *k = sp_tensor_dims(w);
    int rank = sp_tensor_rank(w);
    int64_t perm[SP_RANK_MAX] = {0}, filters = k[0], channels = k[1];
    for (int i = 1; i < rank; i++) perm[i] = i + 1 < rank ? i + 1 : 1;
    if (taps > 1) w = sp_transpose(c->b, w, rank, perm);
    return sp_reshape(c->b, w, 2, (int64_t[]){filters, taps * channels});
}

sp_status sp__onnx_byte_conv(sp_onnx_call *c, sp_tensor *x, sp_tensor *x_zero, sp_tensor *w, sp_tensor *w_zero, bool *done, sp_tensor **out)
{
    sp_onnx_window win;
    int64_t taps = 1, dims[SP_RANK_MAX];
    *done = false;
    if (!fits(c, x, x_zero, w, w_zero)) return SP_OK;
    const int64_t *d = sp_tensor_dims(x), *k = sp_tensor_dims(w);
    SP_CHECK(k[1] == d[1], SP_VALUE, "weights for %lld channels, the input has %lld", (long long)k[1], (long long)d[1]);
    SP_TRY(sp__onnx_window_of(c, x, k + 2, &win));
    dims[0] = d[0];
    dims[1] = k[0];
    for (int i = 0; i < win.n; i++) {
        int64_t room = d[i + 2] + win.pads[2 * i] + win.pads[2 * i + 1] - ((win.kernel[i] - 1) * win.dilation[i] + 1);
        if (win.pads[2 * i] < 0 || win.pads[2 * i + 1] < 0 || room < 0 || (taps *= win.kernel[i]) > TAPS_MAX) return SP_OK; /* the other way tells what is wrong */
        dims[i + 2] = room / win.stride[i] + 1;
    }
    if (w_zero != NULL) w_zero = sp__take_range(c->b, sp_reshape(c->b, w_zero, 1, (int64_t[]){-1}), 0, 0, 1);
    sp_tensor *columns = pixels(c, framed(c, x, x_zero, &win), &win, taps, dims + 2);
    sp_tensor *in[4] = {factors(c, w, taps), sp_reshape(c->b, columns, 3, (int64_t[]){d[0], taps * d[1], -1}),
                        w_zero != NULL ? sp_reshape(c->b, w_zero, 0, NULL) : NULL, x_zero != NULL ? sp_reshape(c->b, x_zero, 0, NULL) : NULL};
    *out = sp_reshape(c->b, sp_builder_call(c->b, "matmul_i32", NULL, 4, in), win.n + 2, dims);
    *done = true;
    return sp_builder_status(c->b);
}
