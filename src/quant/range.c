/* SPDX-License-Identifier: Apache-2.0 */
/* range.c - the range that integers are spread over, from what an observer saw.
 *
 *   minmax       everything that was seen
 *   average      the moving average of the samples' ends
 *   percentile   all but a share of the numbers, half of it at each end
 *   outliers     the samples' 0.01 % and 99.99 % quantiles, averaged
 *   entropy      the cut of |x| whose distribution over the levels is nearest to the whole one (Kullback-Leibler), by trying all that leave out at most 1 %
 *   mse          the ends with the least mean square of rounding and cutting, by coordinate descent */
#include <float.h>
#include <math.h>
#include <string.h>

#include "quant/quant.h"

enum { LEAST_CUT = 128, LEVELS_MAX = 256, STEPS_MSE = 100, ROUNDS_MSE = 3 };

static const double OUTSIDE_MOST = 0.01;

static const char *const methods[] = {"minmax", "average", "percentile", "outliers", "entropy", "mse"};

bool sp__quant_method_known(const char *method)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i], method) == 0) return true;
    return false;
}

static double bin_width(const sp_quant_observer *o) { return ldexp(1.0 / SP_QUANT_BINS, o->exponent); }

/* --- percentile -------------------------------------------------------------------------------------------------- */

static sp_quant_range percentile_range(const sp_quant_observer *o, double percentile)
{
    const double outside = (double)o->n * (1 - percentile / 100) / 2, width = bin_width(o);
    const uint64_t *middle = o->bins + SP_QUANT_BINS;
    sp_quant_range r = {o->low, o->high};
    double sum = 0;
    for (int i = -SP_QUANT_BINS; i < SP_QUANT_BINS; i++) { /* from below */
        if (i == 0) sum += (double)o->n_zero;
        sum += (double)middle[i];
        if (sum <= outside) continue;
        r.low = fmaxf(o->low, (float)(i * width));
        break;
    }
    sum = 0;
    for (int i = SP_QUANT_BINS - 1; i >= -SP_QUANT_BINS; i--) {
        if (i == -1) sum += (double)o->n_zero;
        sum += (double)middle[i];
        if (sum <= outside) continue;
        r.high = fminf(o->high, (float)((i + 1) * width));
        break;
    }
    return r;
}

/* --- entropy ----------------------------------------------------------------------------------------------------- */

/* Divergence of the first `cut` bins (what lies beyond added to the last one) from the same merged to `levels` and spread again over the bins that are not empty. */
static double divergence(const double *p, int cut, int levels, const double *tail)
{
    double total = tail[0], d = 0, spread_total = 0;
    double merged[LEVELS_MAX];
    int filled[LEVELS_MAX];
    for (int k = 0; k < levels; k++) {
        const double from = (double)k * cut / levels, to = (double)(k + 1) * cut / levels;
        merged[k] = 0;
        filled[k] = 0;
        for (int i = (int)ceil(from - 0.5); i < (int)ceil(to - 0.5) && i < cut; i++) {
            merged[k] += p[i];
            filled[k] += p[i] > 0;
        }
        spread_total += merged[k];
    }
    if (spread_total == 0) return INFINITY;
    for (int k = 0; k < levels; k++) {
        const double from = (double)k * cut / levels, to = (double)(k + 1) * cut / levels;
        for (int i = (int)ceil(from - 0.5); i < (int)ceil(to - 0.5) && i < cut; i++) {
            const double a = (p[i] + (i == cut - 1 ? tail[cut] : 0)) / total;
            if (a <= 0) continue;
            if (p[i] <= 0) return INFINITY; /* the tail falls where the merged one has nothing */
            d += a * log(a / (merged[k] / filled[k] / spread_total));
        }
    }
    return d;
}

static sp_status entropy_range(const sp_quant_observer *o, int bits, bool one_side, sp_quant_range *out)
{
    const int levels = bits > 8 ? 0 : one_side ? 1 << bits : 1 << (bits - 1);
    double best = INFINITY;
    int cut_best = SP_QUANT_BINS, n = 0;
    *out = (sp_quant_range){o->low, o->high};
    if (levels == 0) return SP_OK; /* more levels than bins: nothing is to be gained by cutting */
    double *p = sp__alloc((2 * SP_QUANT_BINS + 1) * sizeof *p), *tail = p + SP_QUANT_BINS;
    if (!p) return SP_NOMEM;
    const uint64_t *middle = o->bins + SP_QUANT_BINS;
    for (int i = 0; i < SP_QUANT_BINS; i++) {
        p[i] = (double)(middle[i] + middle[-1 - i]);
        if (p[i] > 0) n = i + 1;
    }
    tail[SP_QUANT_BINS] = 0;
    for (int i = SP_QUANT_BINS - 1; i >= 0; i--) tail[i] = tail[i + 1] + p[i];
    for (int cut = levels < LEAST_CUT ? LEAST_CUT : levels; cut <= n; cut++) {
        if (tail[cut] > OUTSIDE_MOST * tail[0])
            continue; /* that many are no outliers: beside a spike (a background) the divergence would let them go */
        const double d = divergence(p, cut, levels, tail);
        if (d < best) best = d, cut_best = cut;
    }
    sp__free(p);
    if (best == INFINITY) return SP_OK;
    const float t = (float)((cut_best + 0.5) * bin_width(o));
    *out = (sp_quant_range){fmaxf(o->low, -t), fminf(o->high, t)};
    return SP_OK;
}

/* --- mean square ------------------------------------------------------------------------------------------------- */

static double squares(const sp_quant_observer *o, sp_quant_range r, int bits, bool symmetric)
{
    const sp_quant_scale s = sp__quant_scale_of(r, bits, symmetric);
    const double e = sp__quant_error(o, &s);
    return e * e;
}

static sp_quant_range mse_range(const sp_quant_observer *o, int bits, bool symmetric)
{
    const sp_quant_range all = {fminf(o->low, 0), fmaxf(o->high, 0)};
    sp_quant_range best = all;
    double least = squares(o, best, bits, symmetric);
    /* Both ends together, then each. */
    for (int round = 0; round < ROUNDS_MSE; round++)
        for (int i = 1; i < STEPS_MSE; i++) {
            const float part = (float)(STEPS_MSE - i) / STEPS_MSE;
            sp_quant_range r = best;
            if (round == 0) r = (sp_quant_range){all.low * part, all.high * part};
            else if (round == 1) r.high = all.high * part;
            else r.low = all.low * part;
            const double d = squares(o, r, bits, symmetric);
            if (d < least) least = d, best = r;
        }
    return best;
}

sp_status sp__quant_range(const sp_quant_observer *o, const char *method, double percentile, int bits, bool symmetric,
                          sp_quant_range *out)
{
    sp_quant_range r = {o->low, o->high};
    if (o->n_samples > 0 && o->bins) {
        if (strcmp(method, "average") == 0) r = (sp_quant_range){(float)o->average_low, (float)o->average_high};
        else if (strcmp(method, "percentile") == 0) r = percentile_range(o, percentile);
        else if (strcmp(method, "outliers") == 0)
            r = (sp_quant_range){(float)(o->quantile_low / (double)o->n_samples),
                                 (float)(o->quantile_high / (double)o->n_samples)};
        else if (strcmp(method, "entropy") == 0) SP_TRY(entropy_range(o, bits, o->low >= 0 && !symmetric, &r));
        else if (strcmp(method, "mse") == 0) r = mse_range(o, bits, symmetric);
    }
    out->low = fminf(r.low, 0); /* zero must have an integer: padding is zero */
    out->high = fmaxf(r.high, 0);
    return SP_OK;
}
