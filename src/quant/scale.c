/* SPDX-License-Identifier: Apache-2.0 */
/* scale.c - scales and zero points, and weights rounded with them. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "quant/quant.h"

/* --- what flows -------------------------------------------------------------------------------------------------- */

static float positive(double scale)
{
    return scale >= (double)FLT_MIN && scale <= (double)FLT_MAX ? (float)scale : 1.0f;
} /* 1: all numbers are zero */

sp_quant_scale sp__quant_scale_of(sp_quant_range r, int bits, bool symmetric)
{
    sp_quant_scale s = {.least = -(1 << (bits - 1)), .most = (1 << (bits - 1)) - 1};
    if (symmetric) {
        s.scale = positive(fmax(-(double)r.low, (double)r.high) / s.most);
        return s;
    }
    s.scale = positive(((double)r.high - (double)r.low) / (s.most - s.least));
    const double zero = rint(s.least - (double)r.low / (double)s.scale);
    s.zero = zero < s.least ? s.least : zero > s.most ? s.most : (int32_t)zero;
    return s;
}

/* Bins stand for the numbers in their middle. */
double sp__quant_error(const sp_quant_observer *o, const sp_quant_scale *s)
{
    double off = 0, all = 0;
    if (!o->bins) return 0;
    const double width = ldexp(1.0 / SP_QUANT_BINS, o->exponent), by = 1 / (double)s->scale;
    for (int i = -SP_QUANT_BINS; i < SP_QUANT_BINS; i++) {
        const double n = (double)o->bins[i + SP_QUANT_BINS];
        if (n == 0) continue;
        const double x = (i + 0.5) * width;
        double q = rint(x * by) + s->zero;
        q = q < s->least ? s->least : q > s->most ? s->most : q;
        const double d = x - (q - s->zero) * (double)s->scale;
        off += n * d * d;
        all += n * x * x;
    }
    return all > 0 ? sqrt(off / all) : 0;
}

/* --- weights ----------------------------------------------------------------------------------------------------- */

void sp__quant_weight_free(sp_quant_weight *w)
{
    sp_tensor_release(w->q);
    sp_tensor_release(w->scale);
    sp_tensor_release(w->zero);
    *w = (sp_quant_weight){0};
}

/* The weight as outer x channels x inner. */
typedef struct {
    int64_t outer, n, inner;
} channels;

static channels channels_of(const sp_tensor *w, int axis)
{
    channels c = {1, 1, w->count};
    if (axis < 0) return c;
    c = (channels){1, w->dims[axis], 1};
    for (int k = 0; k < axis; k++) c.outer *= w->dims[k];
    for (int k = axis + 1; k < w->rank; k++) c.inner *= w->dims[k];
    return c;
}

static int8_t round_to(float x, float scale, int most)
{
    float q = rintf(x / scale);
    q = q > (float)-most ? q : (float)-most;
    return (int8_t)(q < (float)most ? q : (float)most);
}

static void round_all(const sp_tensor *w, const sp_tensor *values, const channels *c, int most, sp_quant_weight *out)
{
    const float *x = (const float *)(const void *)w->data, *v = (const float *)(const void *)values->data,
                *s = (const float *)(const void *)out->scale->data;
    int8_t *q = (int8_t *)out->q->data;
    double off = 0, all = 0;
    for (int64_t i = 0; i < w->count; i++) {
        const int64_t k = i / c->inner % c->n;
        q[i] = round_to(v[i], s[k], most);
        const double d = (double)x[i] - (double)q[i] * (double)s[k];
        off += d * d;
        all += (double)x[i] * (double)x[i];
    }
    out->error = all > 0 ? sqrt(off / all) : 0;
}

sp_status sp__quant_weight_make(sp_tensor *w, const sp_tensor *values, int axis, int bits, const float *least,
                                sp_quant_weight *out)
{
    const channels c = channels_of(w, axis);
    const int most = (1 << (bits - 1)) - 1, rank = axis < 0 ? 0 : 1;
    *out = (sp_quant_weight){.axis = axis, .bits = bits};
    sp_status status = sp_tensor_create(SP_DTYPE_I8, w->rank, w->dims, &out->q);
    if (status == SP_OK) status = sp_tensor_create_zeros(SP_DTYPE_F32, rank, &c.n, &out->scale);
    if (status == SP_OK) status = sp_tensor_create_zeros(SP_DTYPE_I8, rank, &c.n, &out->zero);
    if (status != SP_OK) {
        sp__quant_weight_free(out);
        return status;
    }
    const float *x = (const float *)(const void *)w->data;
    float *s = (float *)(void *)out->scale->data;
    for (int64_t i = 0; i < w->count; i++) s[i / c.inner % c.n] = fmaxf(s[i / c.inner % c.n], fabsf(x[i]));
    for (int64_t k = 0; k < c.n; k++) s[k] = fmaxf(positive((double)s[k] / most), least ? least[axis < 0 ? 0 : k] : 0);
    round_all(w, values ? values : w, &c, most, out);
    return SP_OK;
}

/* Blocks lie along an axis: element i of it belongs to block i / block. */
sp_status sp__quant_weight_blocks(sp_tensor *w, const sp_tensor *values, int axis, int block, int bits,
                                  sp_quant_weight *out)
{
    const channels c = channels_of(w, axis);
    const int most = (1 << (bits - 1)) - 1;
    const int64_t n = (c.n + block - 1) / block;
    int64_t dims[SP_RANK_MAX];
    memcpy(dims, w->dims, sizeof dims);
    dims[axis] = n;
    *out = (sp_quant_weight){.axis = axis, .block = block, .bits = bits};
    sp_status status = sp_tensor_create(SP_DTYPE_I8, w->rank, w->dims, &out->q);
    if (status == SP_OK) status = sp_tensor_create_zeros(SP_DTYPE_F32, w->rank, dims, &out->scale);
    if (status != SP_OK) {
        sp__quant_weight_free(out);
        return status;
    }
    const float *x = (const float *)(const void *)w->data, *v = values ? (const float *)(const void *)values->data : x;
    float *s = (float *)(void *)out->scale->data;
    int8_t *q = (int8_t *)out->q->data;
    double off = 0, all = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < w->count; i++) {
            const int64_t at = (i / (c.n * c.inner) * n + i / c.inner % c.n / block) * c.inner + i % c.inner;
            if (pass == 0) {
                s[at] = fmaxf(s[at], fabsf(x[i]));
                continue;
            }
            q[i] = round_to(v[i], s[at], most);
            const double d = (double)x[i] - (double)q[i] * (double)s[at];
            off += d * d;
            all += (double)x[i] * (double)x[i];
        }
        for (int64_t k = 0; k < out->scale->count && pass == 0; k++) s[k] = positive((double)s[k] / most);
    }
    out->error = all > 0 ? sqrt(off / all) : 0;
    return SP_OK;
}
