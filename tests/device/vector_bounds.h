/* SPDX-License-Identifier: Apache-2.0 */
/* vector_bounds.h - vector functions against libm in double: the bounds that src/device/cpu/vec_math.h states, for a walk over
 * floats by their bits. test_vector.c takes a sample of them, long_vector.c every one. */
#ifndef TESTS_VECTOR_BOUNDS_H
#define TESTS_VECTOR_BOUNDS_H

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
    {SP_CPU_LOOP_exp, "exp", exp, 1.5, 2},
    {SP_CPU_LOOP_exp2, "exp2", exp2, 1.5, 2},
    {SP_CPU_LOOP_expm1, "expm1", expm1, 2, 3},
    {SP_CPU_LOOP_log, "log", log, 1.5, 2},
    {SP_CPU_LOOP_log2, "log2", log2, 2, 3},
    {SP_CPU_LOOP_log10, "log10", log10, 2, 3},
    {SP_CPU_LOOP_log1p, "log1p", log1p, 2, 3},
    {SP_CPU_LOOP_tanh, "tanh", tanh, 3, 4},
    {SP_CPU_LOOP_sigmoid, "sigmoid", exact_sigmoid, 2.5, 3},
    {SP_CPU_LOOP_erf, "erf", erf, 2, 3},
    {SP_CPU_LOOP_sin, "sin", sin, 2, 2},
    {SP_CPU_LOOP_cos, "cos", cos, 2, 2},
    /* In double, rounded once. */
    {SP_CPU_LOOP_tan, "tan", tan, 0.51, 0.51},
    {SP_CPU_LOOP_asin, "asin", asin, 0.51, 0.51},
    {SP_CPU_LOOP_acos, "acos", acos, 0.51, 0.51},
    {SP_CPU_LOOP_atan, "atan", atan, 0.51, 0.51},
    {SP_CPU_LOOP_sinh, "sinh", sinh, 0.51, 0.51},
    {SP_CPU_LOOP_cosh, "cosh", cosh, 0.51, 0.51},
    {SP_CPU_LOOP_erfc, "erfc", erfc, 0.51, 0.51},
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

static inline long double exact_sigmoid64(long double x)
{
    return x >= 0 ? 1 / (1 + expl(-x)) : expl(x) / (1 + expl(x));
}

static const struct {
    int loop;
    const char *name;
    long double (*exact)(long double);
    double bound, bound_plain;
} double_functions[] = {
    {SP_CPU_LOOP_exp, "exp", expl, 1, 1.5},        {SP_CPU_LOOP_expm1, "expm1", expm1l, 2, 3},
    {SP_CPU_LOOP_log, "log", logl, 1, 1.5},        {SP_CPU_LOOP_log1p, "log1p", log1pl, 2, 2},
    {SP_CPU_LOOP_tanh, "tanh", tanhl, 3, 4},       {SP_CPU_LOOP_sigmoid, "sigmoid", exact_sigmoid64, 2, 3},
    {SP_CPU_LOOP_sinh, "sinh", sinhl, 3, 3.5},     {SP_CPU_LOOP_cosh, "cosh", coshl, 2, 2},
    {SP_CPU_LOOP_asin, "asin", asinl, 2.5, 2.5},   {SP_CPU_LOOP_acos, "acos", acosl, 2.5, 2.5},
    {SP_CPU_LOOP_atan, "atan", atanl, 2.5, 2.5},   {SP_CPU_LOOP_sin, "sin", sinl, 1.5, 1.5},
    {SP_CPU_LOOP_cos, "cos", cosl, 1.5, 1.5},      {SP_CPU_LOOP_tan, "tan", tanl, 3, 3},
    {SP_CPU_LOOP_sqrt, "sqrt", sqrtl, 0.51, 0.51},
};

/* What libm itself may be wrong by: where long double is double, as on 32-bit ARM, its answers are no better than ours. */
enum { LIBM_ULPS = LDBL_MANT_DIG > DBL_MANT_DIG ? 0 : 2 };

static inline double ulps64(double found, long double exact)
{
    const double rounded = (double)exact;
    if (isnan(exact)) return isnan(found) ? 0 : INFINITY;
#if LDBL_MAX_EXP > DBL_MAX_EXP
    if (isinf(rounded)) return found == rounded || fabsl(exact) < 0x1.0000000000002p1024L ? 0 : INFINITY;
#else
    if (isinf(rounded)) return found == rounded ? 0 : INFINITY;
#endif
    if (rounded == 0) return fabs(found) / 0x1p-1074;
    int e;
    frexpl(exact, &e);
    return (double)(fabsl((long double)found - exact) / ldexpl(1, e - 53 < -1074 ? -1074 : e - 53));
}

/* Doubles of all sizes, half of them between -30 and 30; returns how many functions break their bound. */
static inline int double_walk(const vector_set *set, int64_t n_blocks)
{
    enum { N = 1024 };
    static double x[N], y[N], z[N];
    int failures = 0;
    for (size_t f = 0; f < sizeof double_functions / sizeof *double_functions; f++) {
        const sp_loop_fn fn = set->rows[double_functions[f].loop].f64;
        if (!fn) continue;
        double worst = 0, where = 0;
        uint64_t state = 1;
        for (int64_t block = 0; block < n_blocks; block++) {
            for (int i = 0; i < N; i++) {
                state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                const uint64_t bits = state ^ state >> 29;
                if (i % 2) memcpy(&x[i], &bits, 8);
                else x[i] = (double)(int64_t)bits * 0x1p-63 * (i % 4 ? 1 : i % 8 ? 30 : 700);
            }
            fn(N, (char *[]){(char *)y, (char *)x}, (const int64_t[]){8, 8}, NULL);
            /* An element does not see its place. */
            fn(N - 3, (char *[]){(char *)z, (char *)(x + 1)}, (const int64_t[]){8, 8}, NULL);
            failures += memcmp(z, y + 1, (N - 3) * sizeof *z) != 0;
            fn(N / 2, (char *[]){(char *)z, (char *)x}, (const int64_t[]){16, 16}, NULL);
            for (int i = 0; i < N; i += 2) failures += memcmp(z + i, y + i, sizeof *z) != 0;
            for (int i = 0; i < N; i++) {
                const double error = ulps64(y[i], double_functions[f].exact((long double)x[i]));
                if (error > worst) worst = error, where = x[i];
            }
        }
        const double bound = (set->fma ? double_functions[f].bound : double_functions[f].bound_plain) + LIBM_ULPS;
        if (worst > bound)
            printf("%s %s of float64: %.3f ulp at %a\n", set->name, double_functions[f].name, worst, where), failures++;
        if (getenv("SPORE_TEST_VERBOSE"))
            printf("%s %s of float64: %.3f ulp\n", set->name, double_functions[f].name, worst);
    }
    return failures;
}

/* Every `stride`-th float; returns how many functions break their bound and says which and where. `only`: one of them, NULL: all. */
static inline int vector_walk(const vector_set *set, int64_t stride, const char *only)
{
    enum { N = 4096 };
    static float x[N], y[N];
    int failures = 0;
    bool known = false;
    for (int f = 0; f < VECTOR_FUNCTIONS; f++) {
        const sp_loop_fn fn = set->rows[vector_functions[f].loop].f32;
        if (only && strcmp(only, vector_functions[f].name) != 0) continue;
        known = true;
        if (!fn) continue;
        const double bound = set->fma ? vector_functions[f].bound : vector_functions[f].bound_plain;
        double worst = 0.5; /* the least that can be told: of the nearest float nothing more is asked */
        float where = 0, got = 0;
        for (int64_t at = 0; at < INT64_C(1) << 32; at += N * stride) {
            for (int64_t i = 0; i < N; i++) {
                const uint32_t bits = (uint32_t)(at + i * stride);
                memcpy(&x[i], &bits, 4);
            }
            fn(N, (char *[]){(char *)y, (char *)x}, (const int64_t[]){4, 4}, NULL);
            for (int64_t i = 0; i < N; i++) {
                const double exact = vector_functions[f].exact((double)x[i]);
                const float nearest = (float)exact;
                if (memcmp(&nearest, &y[i], sizeof nearest) == 0) continue;
                const double error = ulps(y[i], exact);
                if (error > worst) worst = error, where = x[i], got = y[i];
            }
        }
        if (worst > bound) {
            printf("%s %s: %.3f ulp at %a: %a, exact %a\n", set->name, vector_functions[f].name, worst, (double)where,
                   (double)got, vector_functions[f].exact((double)where));
            failures++;
        }
        if (stride == 1 || getenv("SPORE_TEST_VERBOSE"))
            printf("%s %s: %.3f ulp\n", set->name, vector_functions[f].name, worst), fflush(stdout);
    }
    if (!known) printf("no vector function is called %s\n", only);
    return failures + !known;
}

#endif
