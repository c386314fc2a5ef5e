/* SPDX-License-Identifier: Apache-2.0 */
/* sound.c - filters of sound: arrays whose last dimension is time.
 *
 * y[n] = sum b[i] x[n - i] - sum a[i] y[n - i], with all coefficients divided by a[0] first. float32 and float64 are
 * computed in their own precision, as MindSpore does; float16 in float32. Every biquad is such a filter. */
#include "data/transform.h"

enum { FILTER_A, FILTER_B, FILTER_CLAMP };
enum { FILTER_MAX = 64 };

#define FILTER(T, name)                                                                                                \
    static void name(const T *x, int64_t n, const double *a, int n_a, const double *b, int n_b, bool clamp, T *y)      \
    {                                                                                                                  \
        /* The filter runs on what it gave before clamping. */                                                         \
        T past_x[FILTER_MAX] = {0}, past_y[FILTER_MAX] = {0}, ca[FILTER_MAX], cb[FILTER_MAX];                          \
        for (int i = 0; i < n_a; i++) ca[i] = (T)a[i] / (T)a[0];                                                       \
        for (int i = 0; i < n_b; i++) cb[i] = (T)b[i] / (T)a[0];                                                       \
        for (int64_t t = 0; t < n; t++) {                                                                              \
            for (int i = n_b - 1; i > 0; i--) past_x[i] = past_x[i - 1];                                               \
            for (int i = n_a - 1; i > 0; i--) past_y[i] = past_y[i - 1];                                               \
            past_x[0] = x[t];                                                                                          \
            T sum = 0;                                                                                                 \
            for (int i = 0; i < n_b; i++) sum += cb[i] * past_x[i];                                                    \
            for (int i = 1; i < n_a; i++) sum -= ca[i] * past_y[i];                                                    \
            past_y[0] = sum;                                                                                           \
            y[t] = !clamp ? sum : sum < -1 ? -1 : sum > 1 ? 1 : sum;                                                   \
        }                                                                                                              \
    }
FILTER(float, filter_f32)
FILTER(double, filter_f64)

static sp_status filter_check(const sp_transform *t)
{
    SP_CHECK(t->attr[FILTER_A].v[0] != 0, SP_VALUE, "%s: the first of a_coeffs must not be 0", t->op->name);
    return SP_OK;
}

static sp_status filter_run(sp_transform_call *c)
{
    const sp_tensor *in = c->in[0];
    SP_CHECK(in->rank >= 1 && in->dims[in->rank - 1] > 0, SP_RUNTIME,
             "LFilter: sound of shape <..., time> is wanted, but this has %d dimensions", in->rank);
    SP_CHECK(in->dtype == SP_DTYPE_F32 || in->dtype == SP_DTYPE_F64 || in->dtype == SP_DTYPE_F16, SP_RUNTIME,
             "LFilter: sound must be floats, but this is %s", sp_dtype_name((sp_dtype)in->dtype));
    const sp_dtype inner = in->dtype == SP_DTYPE_F64 ? SP_DTYPE_F64 : SP_DTYPE_F32;
    const int64_t n = in->dims[in->rank - 1];
    const bool clamp = sp__arg(c, FILTER_CLAMP, 0) != 0;
    sp_tensor *wide = NULL, *made = NULL, *out = NULL;
    sp_status status;
    SP_GOTO(done, sp_tensor_create(inner, in->rank, in->dims, &wide));
    SP_GOTO(done, sp_tensor_assign(wide, in));
    SP_GOTO(done, sp_tensor_create(inner, in->rank, in->dims, &made));
    const double *a = c->t->attr[FILTER_A].v, *b = c->t->attr[FILTER_B].v;
    const int n_a = sp__arg_n(c, FILTER_A), n_b = sp__arg_n(c, FILTER_B);
    for (int64_t at = 0; at < in->count; at += n) {
        if (inner == SP_DTYPE_F64)
            filter_f64((double *)(void *)wide->data + at, n, a, n_a, b, n_b, clamp, (double *)(void *)made->data + at);
        else filter_f32((float *)(void *)wide->data + at, n, a, n_a, b, n_b, clamp, (float *)(void *)made->data + at);
    }
    if (in->dtype == SP_DTYPE_F16) {
        SP_GOTO(done, sp_tensor_create(SP_DTYPE_F16, in->rank, in->dims, &out));
        SP_GOTO(done, sp_tensor_assign(out, made));
    } else {
        out = made;
        made = NULL;
    }
    status = sp__give(c, out);
    out = NULL;
done:
    sp_tensor_release(wide);
    sp_tensor_release(made);
    sp_tensor_release(out);
    return status;
}

const sp_transform_op sp_transform_LFilter = {.name = "LFilter",
                                              .attrs = {{"a_coeffs", 1, FILTER_MAX, 0, 0, SP_NEED, {0}},
                                                        {"b_coeffs", 1, FILTER_MAX, 0, 0, SP_NEED, {0}},
                                                        {"clamp", 1, 1, 0, 1, 1, {1}}},
                                              .check = filter_check,
                                              .run = filter_run};
