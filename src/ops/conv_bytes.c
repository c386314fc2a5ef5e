/* SPDX-License-Identifier: Apache-2.0 */
/* conv_bytes.c - convolution of quantised images: bytes less their zero points, summed in int32, which wraps.
 *
 * With a scale the sums become bytes again: float32(sum + bias) * scale, cut to what the result holds less its zero point, rounded to the nearest
 * (halves to even), and the zero point added. That is ONNX's QLinearConv with scale = x_scale * w_scale / y_scale, operation by operation. */
#include <math.h>

#include "ir/conv_bytes.h"
#include "ops/kernels.h"

SP_ATTR_TABLE(attr_table, sp_conv_attrs, (INTS, stride, 1), (TEXT, pad_mode, "pad"), (INTS, pad, 0),
              (INTS, dilation, 1), (INT, group, 1));

static bool is_bytes(const sp_tensor *t) { return t->dtype == SP_DTYPE_I8 || t->dtype == SP_DTYPE_U8; }

/* One number, or (channels > 1) one for each of them. */
static sp_status check_numbers(const char *name, const sp_tensor *t, uint32_t dtypes, int64_t channels)
{
    char text[SP_SHAPE_TEXT];
    if (!t) return SP_OK;
    SP_CHECK(dtypes >> t->dtype & 1u, SP_TYPE, "conv_bytes: %s is %s, which does not go with the other operands", name,
             sp_dtype_name((sp_dtype)t->dtype));
    const bool one = t->rank == 0 || (t->rank == 1 && t->dims[0] == 1);
    if (one || (t->rank == 1 && t->dims[0] == channels)) return SP_OK;
    sp__shape_text(t->rank, t->dims, text);
    if (channels == 1) return sp__fail(SP_VALUE, "conv_bytes: %s has shape %s, it must be one number", name, text);
    return sp__fail(SP_VALUE, "conv_bytes: %s has shape %s, it must be one number, or one for each of %lld channels",
                    name, text, (long long)channels);
}

static sp_status conv_bytes_infer(const sp_call *c, sp_meta *out)
{
    const sp_tensor *x = c->in[SP_BYTES_X], *w = c->in[SP_BYTES_WEIGHT], *bias = c->in[SP_BYTES_BIAS];
    const sp_tensor *scale = c->in[SP_BYTES_SCALE], *zero = c->in[SP_BYTES_ZERO];
    const uint32_t bytes = SP_DT(I8) | SP_DT(U8);
    sp__conv_geometry g;
    SP_CHECK(is_bytes(w), SP_TYPE, "conv_bytes: the weight is %s, it must be int8 or uint8",
             sp_dtype_name((sp_dtype)w->dtype));
    SP_TRY(sp__conv_measure("conv_bytes", x, w, c->attrs, &g));
    SP_TRY(check_numbers("x_zero", c->in[SP_BYTES_X_ZERO], 1u << x->dtype, 1));
    SP_TRY(check_numbers("w_zero", c->in[SP_BYTES_W_ZERO], 1u << w->dtype, g.out_channels));
    SP_CHECK(!bias || (bias->rank == 1 && bias->dims[0] == g.out_channels), SP_VALUE,
             "conv_bytes: bias must have shape (%lld,)", (long long)g.out_channels);
    SP_TRY(check_numbers("bias", bias, SP_DT(I32), g.out_channels));
    SP_TRY(check_numbers("scale", scale, SP_DT(F32), g.out_channels));
    SP_TRY(check_numbers("y_zero", zero, bytes, 1));
    SP_CHECK(scale || !zero, SP_VALUE, "conv_bytes: y_zero belongs to a result of bytes, which needs a scale");
    out->dtype = !scale ? SP_DTYPE_I32 : zero ? (sp_dtype)zero->dtype : SP_DTYPE_U8;
    out->rank = x->rank;
    out->dims[0] = g.batch;
    out->dims[1] = g.out_channels;
    for (int d = 0; d < g.w.n; d++) out->dims[2 + d] = g.w.out[SP_SPATIAL - g.w.n + d];
    return SP_OK;
}

/* --- reference --------------------------------------------------------------------------------------------------- */

typedef struct {
    sp__conv_geometry g;
    const sp_call *c;
} bytes_job;

static int32_t byte_at(const sp_tensor *t, int64_t i)
{
    return t->dtype == SP_DTYPE_U8 ? ((const uint8_t *)t->data)[i] : ((const int8_t *)t->data)[i];
}
static int64_t place(const sp_tensor *t, int64_t channel) { return t->count > 1 ? channel : 0; }
static int32_t zero_of(const sp_tensor *t, int64_t channel) { return t ? byte_at(t, place(t, channel)) : 0; }

/* The sum for channel oc at output o of image n, one tap after the other. */
static uint32_t sum_at(const bytes_job *job, int64_t n, int64_t oc, const int64_t *o)
{
    const sp__conv_geometry *g = &job->g;
    const sp__window *w = &g->w;
    const sp_tensor *x = job->c->in[SP_BYTES_X], *weight = job->c->in[SP_BYTES_WEIGHT];
    const int32_t xz = zero_of(job->c->in[SP_BYTES_X_ZERO], 0), wz = zero_of(job->c->in[SP_BYTES_W_ZERO], oc);
    const int64_t ic_g = g->in_channels / g->group, oc_g = g->out_channels / g->group, plane = sp__window_inputs(w),
                  taps = sp__window_taps(w);
    uint32_t sum = 0;
    for (int64_t tap = 0; tap < taps; tap++) {
        const int64_t k[3] = {tap / (w->kernel[1] * w->kernel[2]), tap / w->kernel[2] % w->kernel[1],
                              tap % w->kernel[2]};
        int64_t at = 0;
        bool inside = true;
        for (int d = 0; d < 3; d++) {
            const int64_t i = o[d] * w->stride[d] - w->pad[d] + k[d] * w->dilation[d];
            inside &= i >= 0 && i < w->in[d];
            at = at * w->in[d] + i;
        }
        if (!inside) continue;
        for (int64_t c = 0; c < ic_g; c++)
            sum += (uint32_t)((byte_at(x, (n * g->in_channels + oc / oc_g * ic_g + c) * plane + at) - xz) *
                              (byte_at(weight, (oc * ic_g + c) * taps + tap) - wz));
    }
    return sum;
}

static void planes(void *context, int64_t begin, int64_t end)
{
    const bytes_job *job = context;
    const sp__window *w = &job->g.w;
    const sp_tensor *bias = job->c->in[SP_BYTES_BIAS], *scale = job->c->in[SP_BYTES_SCALE];
    sp_tensor *out = job->c->out[0];
    const sp__bytes_range range = sp__bytes_range_of((sp_dtype)out->dtype, zero_of(job->c->in[SP_BYTES_ZERO], 0));
    const int64_t positions = sp__window_positions(w);
    for (int64_t plane = begin; plane < end; plane++) {
        const int64_t n = plane / job->g.out_channels, oc = plane % job->g.out_channels;
        for (int64_t p = 0; p < positions; p++) {
            const int64_t o[3] = {p / (w->out[1] * w->out[2]), p / w->out[2] % w->out[1], p % w->out[2]};
            uint32_t sum = sum_at(job, n, oc, o);
            if (bias) sum += (uint32_t)((const int32_t *)(const void *)bias->data)[place(bias, oc)];
            if (!scale) {
                ((uint32_t *)(void *)out->data)[plane * positions + p] = sum;
                continue;
            }
            float q = (float)(int32_t)sum * ((const float *)(const void *)scale->data)[place(scale, oc)];
            q = q > range.low ? q : range.low; /* NaN becomes the lowest */
            q = q < range.high ? q : range.high;
            ((uint8_t *)out->data)[plane * positions + p] = (uint8_t)((int32_t)rintf(q) + range.zero);
        }
    }
}

static sp_status conv_bytes_reference(const sp_call *c)
{
    bytes_job job = {.c = c};
    SP_TRY(sp__conv_measure("conv_bytes", c->in[SP_BYTES_X], c->in[SP_BYTES_WEIGHT], c->attrs, &job.g));
    return sp__parallel_for(job.g.batch * job.g.out_channels, 1, planes, &job);
}

const sp_op sp_op_conv_bytes = {
    .name = "conv_bytes",
    .family = SP_FAMILY_CONV_BYTES,
    .inputs = "x, weight, x_zero?, w_zero?, bias?, scale?, y_zero?",
    SP_ATTRS(attr_table, sp_conv_attrs),
    .promote = SP_PROMOTE_NONE,
    .dtypes = SP_DT(I8) | SP_DT(U8),
    .infer = conv_bytes_infer,
    .reference = conv_bytes_reference,
    .no_vjp = "integer result",
    .onnx = "QLinearConv",
    .doc =
        "Convolution of int8 or uint8, less their zero points, summed in int32; with a scale (one, or one for each channel) the sums are rounded to bytes.",
    .samples =
        "[2,3,5,6] [4,3,3,2] _ _ _ _ _; [2,3,5,6]u [4,3,3,2] []u _ _ _ _ pad=1; [1,4,6,5]u [4,2,3,3]u []u [4]u _ _ _ stride=2, group=2, pad_mode=same; "
        "[1,17,5,5] [18,17,1,1] [] [1] _ []f _; [1,5,4,4]u [5,1,3,3] []u _ _ [5]f []u pad=1, group=5; [1,3,7] [2,3,3] _ _ _ _ _ dilation=2; [1,2,3,4,4] [3,2,2,3,2] [] _ _ _ _",
};
