/* SPDX-License-Identifier: Apache-2.0 */
/* fft.c - the discrete Fourier transform along one axis, of any length, not normalised.
 *
 * Lengths whose prime factors are small are split into them, one after the other, down to single elements (decimation in
 * time); the others go through a convolution with a chirp, whose length is a power of two (Bluestein). All is computed in
 * double with sines and cosines from one table per length, so that the error does not grow with the place in the table.
 * The transform the other way conjugates the table, which is also what the gradient needs: each direction is the
 * adjoint of the other. */
#include "ops/nn.h"
#include "ops/pick.h"

#ifndef CMPLX /* clang with older C libraries: the header hides it from all but gcc */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

enum { FACTOR_MAX = 61, FACTORS = 64 };

SP_ATTR_TABLE(fft_attr_table, sp_fft_attrs, (INT, axis, -1), (BOOL, inverse, False));

static sp_status fft_infer(const sp_call *c, sp_meta *out)
{
    const sp_tensor *x = c->in[0];
    char text[SP_SHAPE_TEXT];
    int axis;
    SP_CHECK(x->rank > 0, SP_VALUE, "a Fourier transform needs a dimension, but the input is a scalar");
    SP_TRY(sp__shape_axis(((const sp_fft_attrs *)c->attrs)->axis, x->rank, "dim", &axis));
    SP_CHECK(x->dims[axis] > 0, SP_VALUE, "dimension %d of a tensor of shape %s has no elements to transform", axis,
             sp__shape_text(x->rank, x->dims, text));
    return sp__infer_same(c, out);
}

/* --- lengths with small factors ---------------------------------------------------------------------------------- */

/* The factors of n, largest pieces of four first; false when one is too large to be worth it. */
typedef struct {
    int64_t n;
    int n_factors;
    int factors[FACTORS];
    const sp_c128 *turns; /* exp(-2 pi i k / n), or +: n of them */
} split_plan;

static bool split(int64_t n, split_plan *p)
{
    p->n = n;
    p->n_factors = 0;
    while (n % 4 == 0) {
        p->factors[p->n_factors++] = 4;
        n /= 4;
    }
    for (int f = 2; n > 1; f++) {
        if (f > FACTOR_MAX) return false;
        for (; n % f == 0; n /= f) p->factors[p->n_factors++] = f;
    }
    return true;
}

/* turns[k] = exp(sign 2 pi i k / n), from the first eighth of the circle where sine and cosine are exact best. */
static void fill_turns(int64_t n, int sign, sp_c128 *turns)
{
    const double unit = 6.2831853071795864769 / (double)n;
    for (int64_t k = 0; k < n; k++) {
        int64_t a = k <= n / 2 ? k : n - k; /* the upper half mirrored */
        const bool left = 4 * a > n;
        if (left) a = n - 2 * a; /* in half units from here: the angle to the negative axis */
        const double angle = unit * (double)a / (left ? 2 : 1);
        const double re = left ? -cos(angle) : cos(angle), im = sin(angle) * (k <= n / 2 ? sign : -sign);
        turns[k] = CMPLX(re, im);
    }
}

/* Plain products: C's own keep infinities apart at some cost. */
static inline sp_c128 times(sp_c128 a, sp_c128 b)
{
    return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}

/* One level: p transforms of length m lie one behind the other in out; combine them. step = whole length / (p m). */
static void combine(const split_plan *plan, int p, int64_t m, int64_t step, sp_c128 *out)
{
    sp_c128 t[FACTOR_MAX];
    for (int64_t k = 0; k < m; k++) {
        for (int q = 0; q < p; q++) t[q] = q ? times(out[q * m + k], plan->turns[q * k * step]) : out[k];
        if (p == 2) {
            out[k] = t[0] + t[1];
            out[m + k] = t[0] - t[1];
            continue;
        }
        if (p == 4) {
            const sp_c128 quarter = plan->turns[m * step]; /* -i or i */
            const sp_c128 a = t[0] + t[2], b = t[0] - t[2], c = t[1] + t[3], d = times(t[1] - t[3], quarter);
            out[k] = a + c;
            out[m + k] = b + d;
            out[2 * m + k] = a - c;
            out[3 * m + k] = b - d;
            continue;
        }
        for (int r = 0; r < p; r++) {
            sp_c128 sum = t[0];
            for (int q = 1; q < p; q++) sum += times(t[q], plan->turns[(int64_t)(q * r % p) * m * step]);
            out[r * m + k] = sum;
        }
    }
}

/* out = transform of the n elements in[0], in[stride], ... by the factors from `level` on. */
static void transform(const split_plan *plan, int level, int64_t n, int64_t stride, const sp_c128 *in, sp_c128 *out)
{
    if (n == 1) {
        *out = *in;
        return;
    }
    const int p = plan->factors[level];
    const int64_t m = n / p;
    for (int q = 0; q < p; q++) transform(plan, level + 1, m, stride * p, in + q * stride, out + q * m);
    combine(plan, p, m, stride, out);
}

/* --- other lengths ----------------------------------------------------------------------------------------------- */

/* What a call needs for its length. For a chirp the plan is for the power of two, `chirp` has n and `filter` m entries. */
typedef struct {
    int64_t n;
    bool chirped;
    split_plan plan;
    sp_c128 *chirp, *filter;
} length_plan;

static int64_t chirp_length(int64_t n)
{
    int64_t m = 1;
    while (m < 2 * n - 1) m *= 2;
    return m;
}

/* Forward transform of length m of the plan, the same backwards: conjugate around it. */
static void transform_back(const split_plan *plan, sp_c128 *in, sp_c128 *out)
{
    for (int64_t i = 0; i < plan->n; i++) in[i] = conj(in[i]);
    transform(plan, 0, plan->n, 1, in, out);
    for (int64_t i = 0; i < plan->n; i++) out[i] = conj(out[i]) / (double)plan->n;
}

static void fill_chirp(length_plan *l, int sign, sp_c128 *scratch)
{
    const int64_t n = l->n, m = l->plan.n;
    fill_turns(2 * n, sign, scratch);
    /* k^2 mod 2n without overflow: squares grow by odd numbers. */
    for (int64_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++) l->chirp[k] = scratch[square];
    for (int64_t i = 0; i < m; i++) scratch[i] = 0;
    for (int64_t k = 0; k < n; k++) scratch[k] = scratch[k ? m - k : 0] = conj(l->chirp[k]);
    transform(&l->plan, 0, m, 1, scratch, l->filter);
}

/* x has n elements and is replaced; a and b have m each. */
static void transform_chirped(const length_plan *l, sp_c128 *x, sp_c128 *a, sp_c128 *b)
{
    const int64_t n = l->n, m = l->plan.n;
    for (int64_t k = 0; k < n; k++) a[k] = times(x[k], l->chirp[k]);
    for (int64_t k = n; k < m; k++) a[k] = 0;
    transform(&l->plan, 0, m, 1, a, b);
    for (int64_t k = 0; k < m; k++) b[k] = times(b[k], l->filter[k]);
    transform_back(&l->plan, b, a);
    for (int64_t k = 0; k < n; k++) x[k] = times(a[k], l->chirp[k]);
}

/* How many elements the tables of a length take, and how many a line in work does. */
static void plan_sizes(int64_t n, int64_t *tables, int64_t *line)
{
    split_plan p;
    const int64_t m = chirp_length(n);
    const bool whole = split(n, &p);
    *tables = whole ? n : 3 * m + n;
    *line = whole ? 2 * n : 2 * m + n;
}

static void plan_length(int64_t n, int sign, sp_c128 *table, length_plan *l)
{
    *l = (length_plan){.n = n};
    l->chirped = !split(n, &l->plan);
    l->plan.turns = table;
    if (!l->chirped) {
        fill_turns(n, sign, table);
        return;
    }
    const int64_t m = chirp_length(n);
    split(m, &l->plan);
    l->chirp = table + m;
    l->filter = l->chirp + n;
    fill_turns(m, -1, table);
    fill_chirp(l, sign, l->filter + m);
}

/* --- kernel ------------------------------------------------------------------------------------------------------ */

typedef struct {
    length_plan length;
    const sp_tensor *x;
    char *out;
    int64_t inner, lines_per_part, per_part;
    sp_c128 *scratch;
} fft_job;

static void fft_lines(void *context, int64_t begin, int64_t end)
{
    const fft_job *j = context;
    const int64_t n = j->length.n, size = (int64_t)sp_dtype_bytes((sp_dtype)j->x->dtype), wide = sizeof(sp_c128);
    const sp_loop_fn load = sp__cast_loop((sp_dtype)j->x->dtype, SP_DTYPE_C128);
    const sp_loop_fn store = sp__cast_loop(SP_DTYPE_C128, (sp_dtype)j->x->dtype);
    sp_c128 *line = j->scratch + begin / j->lines_per_part * j->per_part, *more = line + n;
    for (int64_t i = begin; i < end; i++) {
        const int64_t at = (i / j->inner * n * j->inner + i % j->inner) * size, step = j->inner * size;
        load(n, (char *const[]){(char *)line, j->x->data + at}, (const int64_t[]){wide, step}, NULL);
        sp_c128 *done = line;
        if (j->length.chirped) transform_chirped(&j->length, line, more, more + j->length.plan.n);
        else transform(&j->length.plan, 0, n, 1, line, done = more);
        store(n, (char *const[]){j->out + at, (char *)done}, (const int64_t[]){step, wide}, NULL);
    }
}

static sp_status fft_reference(const sp_call *c)
{
    const sp_fft_attrs *a = c->attrs;
    sp__pick p;
    SP_TRY(sp__pick_measure(c->in[0], a->axis, &p));
    if (c->in[0]->count == 0) return SP_OK;
    SP_CHECK(p.n <= INT64_C(1) << 40, SP_VALUE, "a Fourier transform of %lld elements is too long", (long long)p.n);
    fft_job j = {.x = c->in[0], .out = c->out[0]->data, .inner = p.inner};
    const int64_t lines = c->in[0]->count / p.n;
    int64_t tables;
    plan_sizes(p.n, &tables, &j.per_part);
    j.lines_per_part = (lines + 15) / 16;
    if (j.lines_per_part * p.n < 2048) j.lines_per_part = 2048 / p.n + 1;
    const int64_t parts = (lines + j.lines_per_part - 1) / j.lines_per_part;
    sp_c128 *work = sp__alloc((size_t)(tables + parts * j.per_part) * sizeof *work);
    if (!work) return SP_NOMEM;
    plan_length(p.n, a->inverse ? 1 : -1, work, &j.length);
    j.scratch = work + tables;
    sp_status status = sp__parallel_for(lines, j.lines_per_part, fft_lines, &j);
    sp__free(work);
    return status;
}

static sp_status fft_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_fft_attrs a = *(const sp_fft_attrs *)v->attrs;
    a.inverse = !a.inverse;
    v->din[0] = sp_builder_apply(b, &sp_op_fft, &a, 1, &v->dout[0]);
    return SP_OK;
}

const sp_op sp_op_fft = {
    .batch = sp__batch_axis,
    .name = "fft",
    .shard = "same; axis whole",
    .inputs = "x",
    SP_ATTRS(fft_attr_table, sp_fft_attrs),
    .dtypes = SP_DT_COMPLEX,
    .infer = fft_infer,
    .reference = fft_reference,
    .vjp = fft_vjp,
    .mindir = "FFT",
    .doc = "The discrete Fourier transform along an axis, not normalised; inverse: with the other sign.",
    .samples = "[6]; [2,4] axis=0 inverse=True; [3,67]",
};
