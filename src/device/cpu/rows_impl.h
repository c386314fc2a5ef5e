/* SPDX-License-Identifier: Apache-2.0 */
/* rows_impl.h - the kernels of rows.h, made for the instruction set of the file that includes this one; ROWS_TABLE is what they are
 * called together. Four accumulators hide the latency of additions; the last few elements are a vector with idle lanes. */
#include "device/cpu/rows.h"
#include "device/cpu/vec_double.h"
#include "device/cpu/vec_math.h"

enum { STEP = 4 * LANES };

/* The first n lanes of v, the others as in `rest`. */
static inline vf vf_first(int64_t n, vf v, vf rest) { return vf_select(vm_first(n), v, rest); }

static inline float row_most(int64_t n, const float *x)
{
    const vf low = vf_set(-INFINITY);
    vf a = low, b = low, c = low, d = low;
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        a = vf_max(vf_load(x + i), a);
        b = vf_max(vf_load(x + i + LANES), b);
        c = vf_max(vf_load(x + i + 2 * LANES), c);
        d = vf_max(vf_load(x + i + 3 * LANES), d);
    }
    for (; i + LANES <= n; i += LANES) a = vf_max(vf_load(x + i), a);
    if (i < n) b = vf_max(vf_first(n - i, vf_load_n(x + i, n - i), low), b);
    return vf_most(vf_max(vf_max(a, b), vf_max(c, d)));
}

/* Sum of `term(i)` vectors; `last(i, n)` is the one with n lanes, others zero. */
#define ROW_SUM(total, term, last) ROW_SUM_AS(float, vf_sum, total, term, last)
#define ROW_SUM_AS(type, add_lanes, total, term, last)                                                                 \
    type total;                                                                                                        \
    {                                                                                                                  \
        vf s0 = vf_set(0), s1 = s0, s2 = s0, s3 = s0;                                                                  \
        int64_t i = 0;                                                                                                 \
        for (; i + STEP <= n; i += STEP) {                                                                             \
            s0 = s0 + term(i);                                                                                         \
            s1 = s1 + term(i + LANES);                                                                                 \
            s2 = s2 + term(i + 2 * LANES);                                                                             \
            s3 = s3 + term(i + 3 * LANES);                                                                             \
        }                                                                                                              \
        for (; i + LANES <= n; i += LANES) s0 = s0 + term(i);                                                          \
        if (i < n) s1 = s1 + last(i, n - i);                                                                           \
        total = add_lanes((s0 + s1) + (s2 + s3));                                                                      \
    }

/* y[i] = expr, with v and, for the last few, n lanes: LOAD(p) reads. */
#define ROW_MAP(to, expr)                                                                                              \
    {                                                                                                                  \
        int64_t i = 0;                                                                                                 \
        for (; i + LANES <= n; i += LANES) {                                                                           \
            const int64_t lanes = LANES;                                                                               \
            (void)lanes;                                                                                               \
            vf_store((to) + i, expr(vf_load));                                                                         \
        }                                                                                                              \
        if (i < n) {                                                                                                   \
            const int64_t lanes = n - i;                                                                               \
            vf_store_n((to) + i, expr(LOAD_PART), lanes);                                                              \
        }                                                                                                              \
    }
#define LOAD_PART(p) vf_load_n(p, lanes)

static inline vf exp_store(float *y, const float *x, vf top)
{
    const vf e = vec_exp(vf_load(x) - top);
    vf_store(y, e);
    return e;
}
static inline vf exp_store_n(float *y, const float *x, vf top, int64_t n)
{
    const vf e = vec_exp(vf_load_n(x, n) - top);
    vf_store_n(y, e, n);
    return vf_first(n, e, vf_set(0));
}

/* Two to the power of what is left of a row's most; the sum. */
static inline vf power_of_two(vf x, vf top) { return vec_exp2_inside(vf_max(vf_set(-151), x - top)); }

static float powers_of_two(int64_t n, float *y, const float *x)
{
    const vf top = vf_set(row_most(n, x));
    vf s[4] = {vf_set(0), vf_set(0), vf_set(0), vf_set(0)};
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP)
        for (int l = 0; l < 4; l++) {
            const vf p = power_of_two(vf_load(x + i + l * LANES), top);
            vf_store(y + i + l * LANES, p);
            s[l] = s[l] + p;
        }
    for (; i < n; i += LANES) {
        const int64_t lanes = n - i < LANES ? n - i : LANES;
        const vf p = power_of_two(vf_load_n(x + i, lanes), top);
        vf_store_n(y + i, p, lanes);
        s[0] = s[0] + vf_first(lanes, p, vf_set(0));
    }
    return vf_sum((s[0] + s[1]) + (s[2] + s[3]));
}

static float powers(int64_t n, float *y, const float *x)
{
    const vf top = vf_set(row_most(n, x));
#define TERM(i) exp_store(y + (i), x + (i), top)
#define LAST(i, m) exp_store_n(y + (i), x + (i), top, m)
    ROW_SUM(sum, TERM, LAST)
#undef TERM
#undef LAST
    return sum;
}

static void softmax(int64_t n, float *y, const float *x)
{
    const vf scale = vf_set(1 / powers(n, y, x));
#define EXPR(LOAD) LOAD(y + i) * scale
    ROW_MAP(y, EXPR)
#undef EXPR
}

static void log_softmax(int64_t n, float *y, const float *x)
{
    const vf top = vf_set(row_most(n, x));
#define TERM(i) vec_exp(vf_load(x + (i)) - top)
#define LAST(i, m) vf_first(m, vec_exp(vf_load_n(x + (i), m) - top), vf_set(0))
    ROW_SUM_AS(double, vf_sum_exact, sum, TERM, LAST)
#undef TERM
#undef LAST
    const vf rest = vf_set((float)log(sum));
#define EXPR(LOAD) (LOAD(x + i) - top) - rest
    ROW_MAP(y, EXPR)
#undef EXPR
}

static void softmax_grad(int64_t n, float *d, const float *y, const float *g)
{
#define TERM(i) vf_load(g + (i)) * vf_load(y + (i))
#define LAST(i, m) vf_load_n(g + (i), m) * vf_load_n(y + (i), m)
    ROW_SUM(sum, TERM, LAST)
#undef TERM
#undef LAST
    const vf s = vf_set(sum);
#define EXPR(LOAD) LOAD(y + i) * (LOAD(g + i) - s)
    ROW_MAP(d, EXPR)
#undef EXPR
}

static void log_softmax_grad(int64_t n, float *d, const float *y, const float *g)
{
#define TERM(i) vf_load(g + (i))
#define LAST(i, m) vf_load_n(g + (i), m)
    ROW_SUM(sum, TERM, LAST)
#undef TERM
#undef LAST
    const vf s = vf_set(sum);
#define EXPR(LOAD) LOAD(g + i) - vec_exp(LOAD(y + i)) * s
    ROW_MAP(d, EXPR)
#undef EXPR
}

/* Columns: a vector of neighbouring ones at a time, each lane a column of its own. */
static inline vf load_some(const float *p, int64_t m) { return m == LANES ? vf_load(p) : vf_load_n(p, m); }
static inline void store_some(float *p, vf v, int64_t m)
{
    if (m == LANES) vf_store(p, v);
    else vf_store_n(p, v, m);
}
static inline int64_t some(int64_t w, int64_t k) { return w - k < LANES ? w - k : LANES; }

static inline void softmax_vector(int64_t n, int64_t inner, int64_t m, float *y, const float *x, bool is_log)
{
    vf top = vf_set(-INFINITY), sum = vf_set(0);
    for (int64_t i = 0; i < n; i++) top = vf_max(load_some(x + i * inner, m), top);
    for (int64_t i = 0; i < n; i++) {
        const vf e = vec_exp(load_some(x + i * inner, m) - top);
        if (!is_log) store_some(y + i * inner, e, m);
        sum = sum + e;
    }
    const vf rest = vec_log(sum), scale = vf_set(1) / sum;
    for (int64_t i = 0; i < n; i++) {
        if (is_log) store_some(y + i * inner, (load_some(x + i * inner, m) - top) - rest, m);
        else store_some(y + i * inner, load_some(y + i * inner, m) * scale, m);
    }
}
static void softmax_columns(int64_t n, int64_t inner, int64_t w, float *y, const float *x)
{
    for (int64_t k = 0; k < w; k += LANES) softmax_vector(n, inner, some(w, k), y + k, x + k, false);
}
static void log_softmax_columns(int64_t n, int64_t inner, int64_t w, float *y, const float *x)
{
    for (int64_t k = 0; k < w; k += LANES) softmax_vector(n, inner, some(w, k), y + k, x + k, true);
}

static inline void grad_vector(int64_t n, int64_t inner, int64_t m, float *d, const float *y, const float *g,
                               bool is_log)
{
    vf sum = vf_set(0);
    for (int64_t i = 0; i < n; i++) {
        vf term = load_some(g + i * inner, m);
        if (!is_log) term = term * load_some(y + i * inner, m);
        sum = sum + term;
    }
    for (int64_t i = 0; i < n; i++) {
        const vf gi = load_some(g + i * inner, m), yi = load_some(y + i * inner, m);
        if (is_log) store_some(d + i * inner, gi - vec_exp(yi) * sum, m);
        else store_some(d + i * inner, yi * (gi - sum), m);
    }
}
static void softmax_grad_columns(int64_t n, int64_t inner, int64_t w, float *d, const float *y, const float *g)
{
    for (int64_t k = 0; k < w; k += LANES) grad_vector(n, inner, some(w, k), d + k, y + k, g + k, false);
}
static void log_softmax_grad_columns(int64_t n, int64_t inner, int64_t w, float *d, const float *y, const float *g)
{
    for (int64_t k = 0; k < w; k += LANES) grad_vector(n, inner, some(w, k), d + k, y + k, g + k, true);
}

/* --- reductions ------------------------------------------------------------------------------------------------------- */

enum { SUM_BLOCK = SP_SUM_BLOCK };

static float block_sum(int64_t n, const float *x)
{
#define TERM(i) vf_load(x + (i))
#define LAST(i, m) vf_load_n(x + (i), m)
    ROW_SUM(sum, TERM, LAST)
#undef TERM
#undef LAST
    return sum;
}
static double sum(int64_t n, const float *x)
{
    double total = 0;
    for (int64_t i = 0; i < n; i += SUM_BLOCK) total += (double)block_sum(n - i < SUM_BLOCK ? n - i : SUM_BLOCK, x + i);
    return total;
}

/* The operand that wins, NaN before all. */
static inline vf larger(vf x, vf y) { return vf_select(vm_lt(y, x) | vm_nan(x), x, y); }
static inline vf smaller(vf x, vf y) { return vf_select(vm_lt(x, y) | vm_nan(x), x, y); }

#define EXTREMUM(name, which, start)                                                                                   \
    static float name(int64_t n, const float *x)                                                                       \
    {                                                                                                                  \
        vf a = vf_set(start), b = a, c = a, d = a;                                                                     \
        int64_t i = 0;                                                                                                 \
        for (; i + STEP <= n; i += STEP) {                                                                             \
            a = which(vf_load(x + i), a);                                                                              \
            b = which(vf_load(x + i + LANES), b);                                                                      \
            c = which(vf_load(x + i + 2 * LANES), c);                                                                  \
            d = which(vf_load(x + i + 3 * LANES), d);                                                                  \
        }                                                                                                              \
        for (; i + LANES <= n; i += LANES) a = which(vf_load(x + i), a);                                               \
        if (i < n) b = which(vf_first(n - i, vf_load_n(x + i, n - i), vf_set(start)), b);                              \
        float lane[LANES], out;                                                                                        \
        vf_store(lane, which(which(a, b), which(c, d)));                                                               \
        out = lane[0];                                                                                                 \
        for (int k = 1; k < LANES; k++) out = lane[k] SIGN_##which out || lane[k] != lane[k] ? lane[k] : out;          \
        return out;                                                                                                    \
    }
#define SIGN_larger >
#define SIGN_smaller <
EXTREMUM(most, larger, -INFINITY)
EXTREMUM(least, smaller, INFINITY)

static inline vf plus(vf x, vf y) { return y + x; }
/* The first row is copied, then four rows at a time pass through each accumulator. */
#define COLUMNS(name, which)                                                                                           \
    static void name(int64_t rows, int64_t step, int64_t w, float *out, const float *x)                                \
    {                                                                                                                  \
        memcpy(out, x, (size_t)w * 4);                                                                                 \
        int64_t r = 1;                                                                                                 \
        for (; r + 4 <= rows; r += 4) {                                                                                \
            const float *p = x + r * step;                                                                             \
            for (int64_t k = 0; k < w; k += LANES) {                                                                   \
                const int64_t m = some(w, k);                                                                          \
                vf acc = load_some(out + k, m);                                                                        \
                acc = which(load_some(p + k, m), acc);                                                                 \
                acc = which(load_some(p + step + k, m), acc);                                                          \
                acc = which(load_some(p + 2 * step + k, m), acc);                                                      \
                acc = which(load_some(p + 3 * step + k, m), acc);                                                      \
                store_some(out + k, acc, m);                                                                           \
            }                                                                                                          \
        }                                                                                                              \
        for (; r < rows; r++)                                                                                          \
            for (int64_t k = 0; k < w; k += LANES) {                                                                   \
                const int64_t m = some(w, k);                                                                          \
                store_some(out + k, which(load_some(x + r * step + k, m), load_some(out + k, m)), m);                  \
            }                                                                                                          \
    }
COLUMNS(sum_columns, plus)
COLUMNS(most_columns, larger)
COLUMNS(least_columns, smaller)

#include "device/cpu/reduce_impl.h"

/* --- normalisation ------------------------------------------------------------------------------------------------------ */

static inline vf square_of(vf d, vf sum) { return vf_fma(d, d, sum); }
static float block_spread(int64_t n, const float *x, vf mean)
{
    vf s0 = vf_set(0), s1 = s0, s2 = s0, s3 = s0;
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        s0 = square_of(vf_load(x + i) - mean, s0);
        s1 = square_of(vf_load(x + i + LANES) - mean, s1);
        s2 = square_of(vf_load(x + i + 2 * LANES) - mean, s2);
        s3 = square_of(vf_load(x + i + 3 * LANES) - mean, s3);
    }
    for (; i + LANES <= n; i += LANES) s0 = square_of(vf_load(x + i) - mean, s0);
    if (i < n) s1 = square_of(vf_first(n - i, vf_load_n(x + i, n - i) - mean, vf_set(0)), s1);
    return vf_sum((s0 + s1) + (s2 + s3));
}
/* Mean and variance, in this order, and one over the root of variance + epsilon. */
static inline void row_moments(int64_t n, const float *x, bool center, double epsilon, float *m)
{
    double spread = 0;
    m[0] = center ? (float)(sum(n, x) / (double)n) : 0;
    for (int64_t i = 0; i < n; i += SUM_BLOCK)
        spread += (double)block_spread(n - i < SUM_BLOCK ? n - i : SUM_BLOCK, x + i, vf_set(m[0]));
    m[1] = (float)(spread / (double)n);
    m[2] = (float)(1 / sqrt(spread / (double)n + epsilon));
}

static void norm(int64_t n, float *y, const float *x, const float *gamma, const float *beta, bool center,
                 double epsilon, float *moments)
{
    row_moments(n, x, center, epsilon, moments);
    const vf mean = vf_set(moments[0]), scale = vf_set(moments[2]);
#define EXPR(LOAD) (LOAD(x + i) - mean) * scale
#define EXPR_GAMMA(LOAD) (LOAD(x + i) - mean) * scale *LOAD(gamma + i)
#define EXPR_BETA(LOAD) (LOAD(x + i) - mean) * scale + LOAD(beta + i)
#define EXPR_BOTH(LOAD) vf_fma((LOAD(x + i) - mean) * scale, LOAD(gamma + i), LOAD(beta + i))
    if (gamma && beta) ROW_MAP(y, EXPR_BOTH)
    else if (gamma) ROW_MAP(y, EXPR_GAMMA)
    else if (beta) ROW_MAP(y, EXPR_BETA)
    else ROW_MAP(y, EXPR)
#undef EXPR
#undef EXPR_GAMMA
#undef EXPR_BETA
#undef EXPR_BOTH
}

/* Elements [i, i + lanes): their share of dgamma, dbeta, sum(a) and sum(a h). */
static inline void norm_grad_terms(int64_t i, int64_t lanes, const float *x, const float *g, const float *gamma,
                                   vf mean, vf scale, float *dgamma, float *dbeta, vf *total, vf *dot)
{
    const vf gi = load_some(g + i, lanes), h = vf_first(lanes, (load_some(x + i, lanes) - mean) * scale, vf_set(0));
    vf a = gi;
    if (gamma) a = gi * load_some(gamma + i, lanes);
    store_some(dgamma + i, vf_fma(gi, h, load_some(dgamma + i, lanes)), lanes);
    store_some(dbeta + i, load_some(dbeta + i, lanes) + gi, lanes);
    *total = *total + a;
    *dot = vf_fma(a, h, *dot);
}

/* With a = gamma g and h the normalised x: dx = scale (a - mean(a) - h mean(a h)); without centring no mean(a). */
static void norm_grad(int64_t n, float *dx, const float *x, const float *g, const float *gamma, bool center,
                      double epsilon, float *dgamma, float *dbeta)
{
    float m[3];
    row_moments(n, x, center, epsilon, m);
    const vf mean = vf_set(m[0]), scale = vf_set(m[2]);
    double total = 0, dot = 0;
    for (int64_t at = 0; at < n; at += SUM_BLOCK) {
        const int64_t end = n - at < SUM_BLOCK ? n : at + SUM_BLOCK;
        vf part[2] = {vf_set(0), vf_set(0)}, part_dot[2] = {vf_set(0), vf_set(0)};
        int64_t i = at;
        for (; i + 2 * LANES <= end; i += 2 * LANES)
            for (int u = 0; u < 2; u++)
                norm_grad_terms(i + u * LANES, LANES, x, g, gamma, mean, scale, dgamma, dbeta, &part[u], &part_dot[u]);
        for (int u = 0; i < end; i += LANES, u++)
            norm_grad_terms(i, some(end, i), x, g, gamma, mean, scale, dgamma, dbeta, &part[u], &part_dot[u]);
        total += (double)vf_sum(part[0] + part[1]);
        dot += (double)vf_sum(part_dot[0] + part_dot[1]);
    }
    const vf shift = vf_set(center ? (float)(total / (double)n) : 0), slope = vf_set((float)(dot / (double)n));
    for (int64_t i = 0; i < n; i += LANES) {
        const int64_t lanes = some(n, i);
        const vf h = (load_some(x + i, lanes) - mean) * scale;
        vf a = load_some(g + i, lanes);
        if (gamma) a = a * load_some(gamma + i, lanes);
        store_some(dx + i, scale * (a - shift - h * slope), lanes);
    }
}

/* --- recurrent cells ---------------------------------------------------------------------------------------------------- */

static void lstm(int64_t n, const float *gx, const float *gh, float *cell, float *h, float *kept)
{
    for (int64_t i = 0; i < n; i += LANES) {
        const int64_t m = some(n, i);
#define GATE(k) (load_some(gx + (k) * n + i, m) + load_some(gh + (k) * n + i, m))
        const vf in = vec_sigmoid(GATE(0)), keep = vec_sigmoid(GATE(1)), fresh = vec_tanh(GATE(2)),
                 show = vec_sigmoid(GATE(3));
#undef GATE
        const vf c = keep * load_some(cell + i, m) + in * fresh;
        store_some(cell + i, c, m);
        store_some(h + i, show * vec_tanh(c), m);
        store_some(kept + i, in, m);
        store_some(kept + n + i, keep, m);
        store_some(kept + 2 * n + i, fresh, m);
        store_some(kept + 3 * n + i, show, m);
        store_some(kept + 4 * n + i, c, m);
    }
}

static void gru(int64_t n, const float *gx, const float *gh, const float *before, float *h, float *kept)
{
    for (int64_t i = 0; i < n; i += LANES) {
        const int64_t m = some(n, i);
        const vf reset = vec_sigmoid(load_some(gx + i, m) + load_some(gh + i, m));
        const vf hold = vec_sigmoid(load_some(gx + n + i, m) + load_some(gh + n + i, m)),
                 share = load_some(gh + 2 * n + i, m);
        const vf fresh = vec_tanh(load_some(gx + 2 * n + i, m) + reset * share);
        store_some(h + i, fresh + hold * (load_some(before + i, m) - fresh), m);
        store_some(kept + i, reset, m);
        store_some(kept + n + i, hold, m);
        store_some(kept + 2 * n + i, fresh, m);
        store_some(kept + 3 * n + i, share, m);
    }
}

/* Part k of the gradients given for what was kept. */
#define GIVEN(k) (dkept ? load_some(dkept + (k) * n + i, m) : vf_set(0))
#define KEPT(k) load_some(kept + (k) * n + i, m)

static void lstm_grad(int64_t n, const float *dy, const float *kept, const float *c_before, const float *dkept,
                      float *dh, float *dc, float *dgates)
{
    const vf one = vf_set(1);
    for (int64_t i = 0; i < n; i += LANES) {
        const int64_t m = some(n, i);
        vf d = load_some(dh + i, m);
        if (dy) d = d + load_some(dy + i, m);
        const vf in = KEPT(0), keep = KEPT(1), fresh = KEPT(2), show = KEPT(3), t = vec_tanh(KEPT(4));
        const vf dcell = load_some(dc + i, m) + d * show * (one - t * t) + GIVEN(4);
        store_some(dgates + i, (dcell * fresh + GIVEN(0)) * in * (one - in), m);
        store_some(dgates + n + i, (dcell * load_some(c_before + i, m) + GIVEN(1)) * keep * (one - keep), m);
        store_some(dgates + 2 * n + i, (dcell * in + GIVEN(2)) * (one - fresh * fresh), m);
        store_some(dgates + 3 * n + i, (d * t + GIVEN(3)) * show * (one - show), m);
        store_some(dc + i, dcell * keep, m);
        store_some(dh + i, vf_set(0), m);
    }
}

static void gru_grad(int64_t n, const float *dy, const float *kept, const float *before, const float *dkept, float *dh,
                     float *dgx, float *dgh)
{
    const vf one = vf_set(1);
    for (int64_t i = 0; i < n; i += LANES) {
        const int64_t m = some(n, i);
        vf d = load_some(dh + i, m);
        if (dy) d = d + load_some(dy + i, m);
        const vf reset = KEPT(0), hold = KEPT(1), fresh = KEPT(2), share = KEPT(3);
        const vf dn = (d * (one - hold) + GIVEN(2)) * (one - fresh * fresh);
        const vf dr = (dn * share + GIVEN(0)) * reset * (one - reset);
        const vf dz = (d * (load_some(before + i, m) - fresh) + GIVEN(1)) * hold * (one - hold);
        store_some(dgx + i, dr, m);
        store_some(dgx + n + i, dz, m);
        store_some(dgx + 2 * n + i, dn, m);
        store_some(dgh + i, dr, m);
        store_some(dgh + n + i, dz, m);
        store_some(dgh + 2 * n + i, dn * reset + GIVEN(3), m);
        store_some(dh + i, d * hold, m);
    }
}

const sp__row_kernels ROWS_TABLE = {
    .softmax = softmax,
    .powers = powers,
    .powers_of_two = powers_of_two,
    .log_softmax = log_softmax,
    .softmax_grad = softmax_grad,
    .log_softmax_grad = log_softmax_grad,
    .softmax_columns = softmax_columns,
    .log_softmax_columns = log_softmax_columns,
    .softmax_grad_columns = softmax_grad_columns,
    .log_softmax_grad_columns = log_softmax_grad_columns,
    .sum = sum,
    .most = most,
    .least = least,
    .sum_columns = sum_columns,
    .most_columns = most_columns,
    .least_columns = least_columns,
    .reduce = REDUCE_TABLE,
    .norm = norm,
    .norm_grad = norm_grad,
    .lstm = lstm,
    .gru = gru,
    .lstm_grad = lstm_grad,
    .gru_grad = gru_grad,
};
