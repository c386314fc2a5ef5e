/* SPDX-License-Identifier: Apache-2.0 */
/* observer.c - statistics of a value's numbers, gathered in one pass with a fixed amount of memory.
 *
 * The histogram reaches from -2^e to 2^e. When a larger number comes, e grows and neighbouring bins become one: zero is the border of two bins
 * always, so what the bins hold in the end does not depend on the order in which numbers came. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quant/quant.h"

enum { ALL_BINS = 2 * SP_QUANT_BINS };
static const double moving = 0.01, share_outside = 1e-4;

static void widen(sp_quant_observer *o, int exponent)
{
    for (; o->exponent < exponent; o->exponent++) {
        for (int i = 0; i < SP_QUANT_BINS / 2; i++) {
            uint64_t *up = o->bins + SP_QUANT_BINS, *down = up - 1;
            up[i] = up[2 * i] + up[2 * i + 1];
            down[-i] = down[-2 * i] + down[-2 * i - 1];
        }
        memset(o->bins + SP_QUANT_BINS + SP_QUANT_BINS / 2, 0, SP_QUANT_BINS / 2 * sizeof *o->bins);
        memset(o->bins, 0, SP_QUANT_BINS / 2 * sizeof *o->bins);
    }
}

static sp_status count_bins(sp_quant_observer *o, const float *x, int64_t n, float most)
{
    int exponent;
    if (most == 0) {
        o->n_zero += n;
        return SP_OK;
    }
    frexpf(most, &exponent); /* most < 2^exponent */
    if (!o->bins) {
        o->bins = sp__alloc_zero(ALL_BINS * sizeof *o->bins);
        if (!o->bins) return SP_NOMEM;
        o->exponent = exponent;
    }
    widen(o, exponent);
    const double by = ldexp(SP_QUANT_BINS, -o->exponent);
    for (int64_t i = 0; i < n; i++) {
        int at = (int)floor((double)x[i] * by);
        if (at >= SP_QUANT_BINS) at = SP_QUANT_BINS - 1;
        o->bins[at + SP_QUANT_BINS] += x[i] != 0;
        o->n_zero += x[i] == 0;
    }
    return SP_OK;
}

/* The k-th smallest of x, which is reordered (quickselect). */
static float select_at(float *x, int64_t n, int64_t k)
{
    int64_t from = 0, to = n - 1;
    while (from < to) {
        const float pivot = x[from + (to - from) / 2];
        int64_t i = from, j = to;
        while (i <= j) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i > j) break;
            const float t = x[i];
            x[i++] = x[j];
            x[j--] = t;
        }
        if (k <= j) to = j;
        else if (k >= i) from = i;
        else break;
    }
    return x[k];
}

static sp_status add_quantiles(sp_quant_observer *o, const float *x, int64_t n)
{
    float *copy = sp__alloc((size_t)n * sizeof *copy);
    if (!copy) return SP_NOMEM;
    memcpy(copy, x, (size_t)n * sizeof *copy);
    const int64_t k = (int64_t)((double)(n - 1) * share_outside + 0.5);
    o->quantile_low += (double)select_at(copy, n, k);
    o->quantile_high += (double)select_at(copy, n, n - 1 - k);
    sp__free(copy);
    return SP_OK;
}

sp_status sp__quant_observe(sp_quant_observer *o, const float *x, int64_t n, bool quantiles)
{
    if (n == 0) return SP_OK;
    float low = x[0], high = x[0];
    int64_t n_odd = 0;
    for (int64_t i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
        n_odd += !isfinite(x[i]);
    }
    SP_CHECK(n_odd == 0, SP_VALUE, "%lld of %lld numbers are NaN or infinite", (long long)n_odd, (long long)n);
    SP_TRY(count_bins(o, x, n, fmaxf(fabsf(low), fabsf(high))));
    if (quantiles) SP_TRY(add_quantiles(o, x, n));
    const bool first = o->n_samples == 0;
    o->low = first || low < o->low ? low : o->low;
    o->high = first || high > o->high ? high : o->high;
    o->average_low = first ? (double)low : o->average_low + moving * ((double)low - o->average_low);
    o->average_high = first ? (double)high : o->average_high + moving * ((double)high - o->average_high);
    o->n_samples++;
    o->n += n;
    return SP_OK;
}

sp_status sp__quant_observer_join(sp_quant_observer *o, const sp_quant_observer *other)
{
    if (other->n_samples == 0) return SP_OK;
    const bool first = o->n_samples == 0;
    if (other->bins) {
        if (!o->bins && !(o->bins = sp__alloc_zero(ALL_BINS * sizeof *o->bins))) return SP_NOMEM;
        if (first || o->n == o->n_zero) o->exponent = other->exponent;
        widen(o, other->exponent);
        for (int i = 0; i < ALL_BINS; i++) {
            const int steps = o->exponent - other->exponent, side = i - SP_QUANT_BINS;
            const int at = side >= 0 ? side >> steps : -1 - ((-1 - side) >> steps);
            o->bins[at + SP_QUANT_BINS] += other->bins[i];
        }
    }
    o->low = first || other->low < o->low ? other->low : o->low;
    o->high = first || other->high > o->high ? other->high : o->high;
    o->average_low = first || other->average_low < o->average_low ? other->average_low : o->average_low;
    o->average_high = first || other->average_high > o->average_high ? other->average_high : o->average_high;
    /* Quantiles are sums over samples, of which both saw equally many. */
    o->quantile_low = first || other->quantile_low < o->quantile_low ? other->quantile_low : o->quantile_low;
    o->quantile_high = first || other->quantile_high > o->quantile_high ? other->quantile_high : o->quantile_high;
    o->n_samples = first || other->n_samples > o->n_samples ? other->n_samples : o->n_samples;
    o->n += other->n;
    o->n_zero += other->n_zero;
    return SP_OK;
}

void sp__quant_observer_free(sp_quant_observer *o)
{
    sp__free(o->bins);
    *o = (sp_quant_observer){0};
}
