/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - sources of random numbers.
 *
 * Numbers are computed, not drawn: Philox turns a seed and a counter into bits, so the operators random_uniform,
 * random_normal and their like are functions of a state tensor int64[2] {seed, counter}. A generator hands out states that
 * do not overlap. The same seed gives the same numbers, whatever the number of threads. */
#ifndef SPORE_RANDOM_H
#define SPORE_RANDOM_H

#include "spore/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counted; safe to share between threads. */
typedef struct sp_generator sp_generator;

SP_API sp_status sp_generator_create(uint64_t seed, sp_generator **out);
SP_API sp_generator *sp_generator_retain(sp_generator *g);
SP_API void sp_generator_release(sp_generator *g); /* NULL is fine */
/* The one everything uses that was given none; lives as long as the process, starts with seed 0. */
SP_API sp_generator *sp_generator_default(void);

/* Start again from a seed. */
SP_API void sp_generator_seed(sp_generator *g, uint64_t seed);
SP_API uint64_t sp_generator_initial_seed(const sp_generator *g);
/* Seed and counter as int64[2], to continue from later. */
SP_API sp_status sp_generator_state(const sp_generator *g, sp_tensor **out);
SP_API sp_status sp_generator_set_state(sp_generator *g, const sp_tensor *state);
/* A state for an operator that makes `count` numbers; the next one starts behind them. */
SP_API sp_status sp_generator_next(sp_generator *g, int64_t count, sp_tensor **state);

/* Initial weights: numbers that follow from a seed alone, the ones that MindSpore makes of it. */
typedef enum sp_initial {
    SP_INITIAL_UNIFORM,   /* low, high */
    SP_INITIAL_NORMAL,    /* mean, standard deviation */
    SP_INITIAL_TRUNCATED, /* mean, standard deviation, low, high: normal numbers of that interval */
} sp_initial;
/* t: float32, in one piece. */
SP_API sp_status sp_initial_fill(sp_tensor *t, sp_initial kind, uint64_t seed, const double arguments[4]);

#ifdef __cplusplus
}
#endif
#endif
