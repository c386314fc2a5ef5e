/* SPDX-License-Identifier: Apache-2.0 */
/* vector_bounds.h - vector functions against libm in double: the bounds that src/device/cpu/vec_math.h states, for a walk over
 * floats by their bits. test_vector.c takes a sample of them, long_vector.c every one. */
#ifndef TESTS_VECTOR_BOUNDS_H
#define TESTS_VECTOR_BOUNDS_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "device/cpu/loops.h"

typedef struct {
    const char *name;
    const sp__cpu_loop_row *rows;
    bool fma;
} vector_set;

/* The instruction sets of this machine, under SPORE_ISA. */
static inline int vector_sets(vector_set *sets)
{
    int n = 0;
#if defined(__aarch64__)
    sets[n++] = (vector_set){"neon", sp__cpu_loops_portable, true};
#else
    sets[n++] = (vector_set){"portable", sp__cpu_loops_portable, false};
#endif
#if SP_HAVE_X86
    if (sp__cpu_features() & SP_CPU_AVX2) sets[n++] = (vector_set){"avx2", sp__cpu_loops_avx2, true};
    if (sp__cpu_features() & SP_CPU_AVX512) sets[n++] = (vector_set){"avx512", sp__cpu_loops_avx512, true};
#endif
    return n;
}

static inline double exact_sigmoid(double x) { return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)); }

static const struct {
    int loop;
    const char *name;
    double (*exact)(double);
    double bound, bound_plain; /* units in the last place, with fused multiply-add and without */
} vector_functions[] = {
    {SP_CPU_LOOP_exp, "exp", exp, 1.5, 2},          {SP_CPU_LOOP_exp2, "exp2", exp2, 1.5, 2},
    {SP_CPU_LOOP_expm1, "expm1", expm1, 2, 3},      {SP_CPU_LOOP_log, "log", log, 1.5, 2},
    {SP_CPU_LOOP_log2, "log2", log2, 2, 3},         {SP_CPU_LOOP_log10, "log10", log10, 2, 3},
    {SP_CPU_LOOP_log1p, "log1p", log1p, 2, 3},      {SP_CPU_LOOP_tanh, "tanh", tanh, 3, 4},
    {SP_CPU_LOOP_sigmoid, "sigmoid", exact_sigmoid, 2.5, 3}, {SP_CPU_LOOP_erf, "erf", erf, 2, 3},
    {SP_CPU_LOOP_sin, "sin", sin, 2, 2},        {SP_CPU_LOOP_cos, "cos", cos, 2, 2},
};
enum { VECTOR_FUNCTIONS = sizeof vector_functions / sizeof *vector_functions };

/* Distance in units of the last place that a float of this size has. */
static inline double ulps(float found, double exact)
{
    const float rounded = (float)exact;
    if (isnan(exact)) return isnan(found) ? 0 : INFINITY;
    if (isinf(rounded) || rounded == 0)
        return found == rounded && (rounded != 0 || exact != 0 || signbit(found) == signbit(rounded)) ? 0
               : isinf(rounded) ? fabs(found) == 0x1.fffffep127f && fabs(exact) < 0x1.000002p128 ? 1 : INFINITY
                                : fabs((double)found - exact) / 0x1p-149;
    int e;
    frexp(exact, &e);
    const double unit = ldexp(1, e - 24 < -149 ? -149 : e - 24);
    return fabs((double)found - exact) / unit;
}

/* Every `stride`-th float; returns how many functions break their bound and says which and where. */
static inline int vector_walk(const vector_set *set, int64_t stride)
{
    enum { N = 4096 };
    static float x[N], y[N];
    int failures = 0;
    for (int f = 0; f < VECTOR_FUNCTIONS; f++) {
        const sp_loop_fn fn = set->rows[vector_functions[f].loop].f32;
        if (!fn) continue;
        const double bound = set->fma ? vector_functions[f].bound : vector_functions[f].bound_plain;
        double worst = 0;
        float where = 0, got = 0;
        for (int64_t at = 0; at < INT64_C(1) << 32; at += N * stride) {
            for (int64_t i = 0; i < N; i++) {
                const uint32_t bits = (uint32_t)(at + i * stride);
                memcpy(&x[i], &bits, 4);
            }
            fn(N, (char *[]){(char *)y, (char *)x}, (const int64_t[]){4, 4}, NULL);
            for (int64_t i = 0; i < N; i++) {
                const double error = ulps(y[i], vector_functions[f].exact((double)x[i]));
                if (error > worst) worst = error, where = x[i], got = y[i];
            }
        }
        if (worst > bound) {
            printf("%s %s: %.3f ulp at %a: %a, exact %a\n", set->name, vector_functions[f].name, worst, (double)where, (double)got,
                   vector_functions[f].exact((double)where));
            failures++;
        }
        if (stride == 1 || getenv("SPORE_TEST_VERBOSE")) printf("%s %s: %.3f ulp\n", set->name, vector_functions[f].name, worst);
    }
    return failures;
}

#endif
