/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c - learning rates by number of the step. */
#include <math.h>

#include "spore/train.h"

static double behind_warmup(const sp_schedule *s, double rate, uint64_t step)
{
    const double done = s->steps ? fmin(1, (double)step / (double)s->steps) : 1;
    switch (s->kind) {
    case SP_SCHEDULE_CONSTANT: return rate;
    case SP_SCHEDULE_LINEAR: return rate + (s->last_rate - rate) * done;
    case SP_SCHEDULE_COSINE: return s->last_rate + (rate - s->last_rate) * 0.5 * (1 + cos(acos(-1) * done));
    case SP_SCHEDULE_STAIRS: return s->steps ? rate * pow(s->decay, (double)(step / s->steps)) : rate;
    case SP_SCHEDULE_OWN: break;
    }
    return rate;
}

double sp_schedule_rate(const sp_schedule *s, double rate, uint64_t step)
{
    if (!s) return rate;
    if (s->kind == SP_SCHEDULE_OWN) return s->own ? s->own(s->context, step) : rate;
    if (step < s->warmup) return rate * (double)(step + 1) / (double)s->warmup;
    return behind_warmup(s, rate, step - s->warmup);
}
