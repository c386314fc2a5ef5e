/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - random numbers of a row.
 *
 * Philox with the seed as key over a counter of (draw, row): no state but the number of the draw, so what a row
 * gets does not depend on which thread computes it nor on the rows before. One call gives 128 bits, of which one draw
 * uses 64: drawing is nowhere near the cost of touching an image, and a draw is then always one step of the counter. */
#include "base/philox.h"
#include "data/transform.h"

static uint64_t draw64(sp_stream *s)
{
    const sp__philox_block b = sp__philox(s->seed, s->counter++, (uint64_t)s->row);
    return (uint64_t)b.w[0] << 32 | b.w[2];
}

uint32_t sp__draw_bits(sp_stream *s) { return (uint32_t)(draw64(s) >> 32); }

double sp__draw_unit(sp_stream *s) { return (double)(draw64(s) >> 11) * 0x1p-53; }

double sp__draw_uniform(sp_stream *s, double lo, double hi) { return lo + (hi - lo) * sp__draw_unit(s); }

int64_t sp__draw_below(sp_stream *s, int64_t n)
{
    /* The 53 bits of the fraction leave a bias far below what could be measured for any image or list. */
    const int64_t i = (int64_t)(sp__draw_unit(s) * (double)(n < 1 ? 1 : n));
    return n < 1 ? 0 : i < n ? i : n - 1;
}

double sp__draw_normal(sp_stream *s)
{
    const double u = 1.0 - sp__draw_unit(s), v = sp__draw_unit(s); /* u in (0, 1] */
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

/* Marsaglia and Tsang, 2000; for alpha below 1 from alpha + 1. */
static double draw_gamma(sp_stream *s, double alpha)
{
    const double boost = alpha < 1 ? pow(1.0 - sp__draw_unit(s), 1.0 / alpha) : 1.0;
    const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        const double x = sp__draw_normal(s), v = (1 + c * x) * (1 + c * x) * (1 + c * x);
        if (v <= 0) continue;
        const double u = 1.0 - sp__draw_unit(s);
        if (log(u) < 0.5 * x * x + d - d * v + d * log(v)) return d * v * boost;
    }
}

double sp__draw_beta(sp_stream *s, double alpha)
{
    const double x = draw_gamma(s, alpha), y = draw_gamma(s, alpha);
    return x + y > 0 ? x / (x + y) : 0.5;
}

void sp__draw_order(sp_stream *s, int n, int *order)
{
    for (int i = 0; i < n; i++) {
        const int j = (int)sp__draw_below(s, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}
