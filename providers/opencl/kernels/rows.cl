/* SPDX-License-Identifier: Apache-2.0 */
/* rows.cl - work along rows, a group for each: softmax, normalisation. rows.c defines T, LD, ST, C, GROUP.
 * Sums have sixteen accumulators an item, so that a CPU makes vectors of them and errors stay small. */
FOLD_GROUP(group_sum, C, x + y)
FOLD_GROUP(group_max, C, (x > y || x != x ? x : y))

#define SUM_OVER(result, first, n, element)                                                                            \
    C result;                                                                                                          \
    {                                                                                                                  \
        C acc_[16];                                                                                                    \
        for (int k_ = 0; k_ < 16; k_++) acc_[k_] = 0;                                                                  \
        int i_ = first;                                                                                                \
        for (; i_ + 15 * GROUP < (n); i_ += 16 * GROUP)                                                                \
            for (int k_ = 0; k_ < 16; k_++) {                                                                          \
                const int i = i_ + k_ * GROUP;                                                                         \
                acc_[k_] += element;                                                                                   \
            }                                                                                                          \
        for (; i_ < (n); i_ += GROUP) {                                                                                \
            const int i = i_;                                                                                          \
            acc_[0] += element;                                                                                        \
        }                                                                                                              \
        for (int half_ = 8; half_ > 0; half_ /= 2)                                                                     \
            for (int k_ = 0; k_ < half_; k_++) acc_[k_] += acc_[k_ + half_];                                           \
        result = acc_[0];                                                                                              \
    }

/* Rows of n elements, `inner` apart; item (outer, inner). */
#define ROW_START                                                                                                      \
    const int row = (int)get_group_id(0), me = (int)get_local_id(0);                                                   \
    const long start = (long)(row / inner) * n * inner + row % inner;
#define AT(i) (start + (long)(i) * inner)

#define SOFTMAX(name, finish)                                                                                          \
    __kernel void name(__global const T *x, const ulong x_at, __global T *y, const ulong y_at, const int n,            \
                       const int inner)                                                                                \
    {                                                                                                                  \
        ROOM(C, room)                                                                                                  \
        ROW_START                                                                                                      \
        x += x_at;                                                                                                     \
        y += y_at;                                                                                                     \
        C most = -INFINITY;                                                                                            \
        for (int i = me; i < n; i += GROUP) {                                                                          \
            const C v = LD(x, AT(i));                                                                                  \
            most = v > most || v != v ? v : most;                                                                      \
        }                                                                                                              \
        most = group_max(most, room);                                                                                  \
        SUM_OVER(own, me, n, exp(LD(x, AT(i)) - most))                                                                 \
        const C sum = group_sum(own, room);                                                                            \
        const C factor = 1 / sum, shift = most + log(sum);                                                             \
        for (int i = me; i < n; i += GROUP) ST(y, AT(i), finish);                                                      \
    }
SOFTMAX(softmax, exp(LD(x, AT(i)) - most) * factor)
SOFTMAX(log_softmax, LD(x, AT(i)) - shift)

__kernel void softmax_grad(__global const T *y, const ulong y_at, __global const T *g, const ulong g_at, __global T *dx,
                           const ulong dx_at, const int n, const int inner)
{
    ROOM(C, room)
    ROW_START
    y += y_at, g += g_at, dx += dx_at;
    SUM_OVER(own, me, n, LD(y, AT(i)) * LD(g, AT(i)))
    const C dot_ = group_sum(own, room);
    for (int i = me; i < n; i += GROUP) ST(dx, AT(i), LD(y, AT(i)) * (LD(g, AT(i)) - dot_));
}

__kernel void log_softmax_grad(__global const T *y, const ulong y_at, __global const T *g, const ulong g_at, __global T *dx,
                               const ulong dx_at, const int n, const int inner)
{
    ROOM(C, room)
    ROW_START
    y += y_at, g += g_at, dx += dx_at;
    SUM_OVER(own, me, n, LD(g, AT(i)))
    const C sum = group_sum(own, room);
    for (int i = me; i < n; i += GROUP) ST(dx, AT(i), LD(g, AT(i)) - exp(LD(y, AT(i))) * sum);
}

/* --- layer norm: rows of n, parameters i % m ---------------------------------------------------------------------- */

#ifdef PARAMETERS_ARE
#if PARAMETERS_ARE & 1
#define GAMMA(i) LDp(gamma, gamma_at + (i) % m)
#else
#define GAMMA(i) 1
#endif
#if PARAMETERS_ARE & 2
#define BETA(i) +LDq(beta, beta_at + (i) % m)
#else
#define BETA(i)
#endif

__kernel void layer_norm(__global const T *x, const ulong x_at, __global const Tp *gamma, const ulong gamma_at, __global const Tq *beta,
                         const ulong beta_at, __global T *y, const ulong y_at, __global T *means, const ulong means_at, __global T *variances,
                         const ulong variances_at, const int n, const int m, const float epsilon)
{
    ROOM(C, room)
    const int row = (int)get_group_id(0), me = (int)get_local_id(0);
    x += x_at + (long)row * n, y += y_at + (long)row * n;
    SUM_OVER(own, me, n, LD(x, i))
    const C mean = group_sum(own, room) / n;
    SUM_OVER(own_spread, me, n, (LD(x, i) - mean) * (LD(x, i) - mean))
    const C variance = group_sum(own_spread, room) / n, scale = 1 / sqrt(variance + epsilon);
    if (me == 0) {
        ST(means, means_at + row, mean);
        ST(variances, variances_at + row, variance);
    }
    for (int i = me; i < n; i += GROUP) ST(y, i, (LD(x, i) - mean) * scale * GAMMA(i) BETA(i));
}

/* dx, and mean and scale of the row for the parameters' gradients. */
__kernel void layer_norm_grad(__global const T *x, const ulong x_at, __global const Tp *gamma, const ulong gamma_at, __global const T *g,
                              const ulong g_at, __global T *dx, const ulong dx_at, __global C *statistics, const ulong statistics_at,
                              const int n, const int m, const float epsilon)
{
    ROOM(C, room)
    const int row = (int)get_group_id(0), me = (int)get_local_id(0);
    x += x_at + (long)row * n, g += g_at + (long)row * n, dx += dx_at + (long)row * n;
    SUM_OVER(own, me, n, LD(x, i))
    const C mean = group_sum(own, room) / n;
    SUM_OVER(own_spread, me, n, (LD(x, i) - mean) * (LD(x, i) - mean))
    const C scale = 1 / sqrt(group_sum(own_spread, room) / n + epsilon);
    SUM_OVER(own_a, me, n, LD(g, i) * GAMMA(i))
    const C mean_a = group_sum(own_a, room) / n;
    SUM_OVER(own_ah, me, n, LD(g, i) * GAMMA(i) * ((LD(x, i) - mean) * scale))
    const C mean_ah = group_sum(own_ah, room) / n;
    if (me == 0) {
        statistics[statistics_at + 2 * row] = mean;
        statistics[statistics_at + 2 * row + 1] = scale;
    }
    for (int i = me; i < n; i += GROUP)
        ST(dx, i, scale * (LD(g, i) * GAMMA(i) - mean_a - (LD(x, i) - mean) * scale * mean_ah));
}

/* Sums over rows; an item has WIDTH neighbouring parameters. */
__kernel void layer_norm_sums(__global const T *x, const ulong x_at, __global const T *g, const ulong g_at, __global const C *statistics,
                              const ulong statistics_at, __global Tp *dgamma, const ulong dgamma_at, __global Tq *dbeta,
                              const ulong dbeta_at, const int rows, const int n, const int m)
{
    const int first = (int)get_global_id(0) * WIDTH;
    if (first >= m) return;
    const int width = m - first < WIDTH ? m - first : WIDTH;
    x += x_at + first, g += g_at + first;
    C a[WIDTH], b[WIDTH];
    for (int k = 0; k < WIDTH; k++) a[k] = b[k] = 0;
    for (int row = 0; row < rows; row++) {
        const C mean = statistics[statistics_at + 2 * row], scale = statistics[statistics_at + 2 * row + 1];
        for (int i = 0; i < n; i += m) {
            const long at = (long)row * n + i;
            if (width == WIDTH)
                for (int k = 0; k < WIDTH; k++) {
                    const C v = LD(g, at + k);
                    b[k] += v;
                    a[k] += v * (LD(x, at + k) - mean) * scale;
                }
            else
                for (int k = 0; k < width; k++) {
                    const C v = LD(g, at + k);
                    b[k] += v;
                    a[k] += v * (LD(x, at + k) - mean) * scale;
                }
        }
    }
    for (int k = 0; k < width; k++) {
        STp(dgamma, dgamma_at + first + k, a[k]);
        STq(dbeta, dbeta_at + first + k, b[k]);
    }
}

/* --- batch norm: batch x channels x inner, a group for each channel ----------------------------------------------- */

/* Element e of a channel, of batch * inner. */
#define CHANNEL(e) (((long)((e) / inner) * channels + channel) * inner + (e) % inner)
#if PARAMETERS_ARE & 1
#define SCALE LDp(gamma, gamma_at + channel)
#else
#define SCALE 1
#endif
#if PARAMETERS_ARE & 2
#define SHIFT LDq(beta, beta_at + channel)
#else
#define SHIFT 0
#endif
/* A sum over a channel, run by run. */
#define CHANNEL_SUM(result, element)                                                                                   \
    C result = 0;                                                                                                      \
    if (inner >= 16 * GROUP)                                                                                           \
        for (int s_ = 0; s_ < batch; s_++) {                                                                           \
            const long base_ = ((long)s_ * channels + channel) * inner;                                                \
            SUM_OVER(part_, me, inner, element(base_ + i))                                                             \
            result += part_;                                                                                           \
        }                                                                                                              \
    else                                                                                                               \
        for (int e_ = me; e_ < batch * inner; e_ += GROUP) result += element(CHANNEL(e_));

__kernel void batch_norm(__global const T *x, const ulong x_at, __global const Tp *gamma, const ulong gamma_at, __global const Tq *beta,
                         const ulong beta_at, __global T *y, const ulong y_at, __global C *means, const ulong means_at, __global C *variances,
                         const ulong variances_at, const int batch, const int channels, const int inner, const float epsilon)
{
    ROOM(C, room)
    const int channel = (int)get_group_id(0), me = (int)get_local_id(0), count = batch * inner;
    x += x_at, y += y_at;
#define X_(at) LD(x, at)
    CHANNEL_SUM(own, X_)
    const C mean = group_sum(own, room) / count;
#define SPREAD_(at) (LD(x, at) - mean) * (LD(x, at) - mean)
    CHANNEL_SUM(own_spread, SPREAD_)
    const C variance = group_sum(own_spread, room) / count;
    const C a = SCALE / sqrt(variance + epsilon), b = SHIFT - mean * a;
    if (me == 0) {
        means[means_at + channel] = mean;
        variances[variances_at + channel] = variance;
    }
    for (int s = 0; s < batch; s++) {
        const long base = ((long)s * channels + channel) * inner;
        for (int i = me; i < inner; i += GROUP) ST(y, base + i, LD(x, base + i) * a + b);
    }
}

__kernel void batch_norm_grad(__global const T *x, const ulong x_at, __global const Tp *gamma, const ulong gamma_at, __global const C *means,
                              const ulong means_at, __global const C *variances, const ulong variances_at, __global const T *g,
                              const ulong g_at, __global T *dx, const ulong dx_at, __global C *dscale, const ulong dscale_at, __global C *dbias,
                              const ulong dbias_at, const int batch, const int channels, const int inner, const float epsilon)
{
    ROOM(C, room)
    const int channel = (int)get_group_id(0), me = (int)get_local_id(0), count = batch * inner;
    x += x_at, g += g_at, dx += dx_at;
    const C mean = means[means_at + channel], scale = 1 / sqrt(variances[variances_at + channel] + epsilon);
#define G_(at) LD(g, at)
    CHANNEL_SUM(own, G_)
    const C sum = group_sum(own, room);
#define DOT_(at) LD(g, at) * (LD(x, at) - mean)
    CHANNEL_SUM(own_dot, DOT_)
    const C dot_ = group_sum(own_dot, room);
    if (me == 0) {
        dscale[dscale_at + channel] = dot_ * scale;
        dbias[dbias_at + channel] = sum;
    }
    const C p = SCALE * scale, q = -p * scale * scale * dot_ / count, r = -p * sum / count - q * mean;
    for (int s = 0; s < batch; s++) {
        const long base = ((long)s * channels + channel) * inner;
        for (int i = me; i < inner; i += GROUP) ST(dx, base + i, LD(g, base + i) * p + LD(x, base + i) * q + r);
    }
}
#endif
