/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_portable.c - matrix product kernels for any CPU, over the compiler's own 16-byte vectors (SSE2, NEON, or what it
 * makes of them). Product and sum round separately. */
#include "device/cpu/gemm.h"

#include <string.h>

typedef float vec_f32 __attribute__((vector_size(16)));
typedef double vec_f64 __attribute__((vector_size(16)));

static inline vec_f32 load_f32(const float *p)
{
    vec_f32 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline vec_f32 load_part_f32(const float *p, int64_t n)
{
    vec_f32 v = {0};
    for (int64_t i = 0; i < n && i < 4; i++) v[i] = p[i];
    return v;
}

static inline vec_f64 load_f64(const double *p)
{
    vec_f64 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline vec_f64 load_part_f64(const double *p, int64_t n)
{
    vec_f64 v = {0};
    for (int64_t i = 0; i < n && i < 2; i++) v[i] = p[i];
    return v;
}

static inline void store_f32(float *p, vec_f32 v) { memcpy(p, &v, sizeof v); }
static inline void store_f64(double *p, vec_f64 v) { memcpy(p, &v, sizeof v); }
static inline vec_f32 splat_f32(float x) { return (vec_f32){x, x, x, x}; }
static inline vec_f64 splat_f64(double x) { return (vec_f64){x, x}; }

#define ISA "portable"
#define MICRO_NAME(x) x##_f32_portable
#define T float
#define V vec_f32
#define LANES 4
#define ROWS 4
#define POINTS 4
#define BLOCKS 0
#define K_BLOCK 256
#define V_LOAD(p) load_f32(p)
#define V_STORE(p, v) store_f32(p, v)
#define V_SPLAT(x) splat_f32(x)
#define V_ZERO() splat_f32(0)
#define V_ADD(a, b) ((a) + (b))
#define V_FMA(a, b, c) ((a) * (b) + (c))
#define V_LOAD_PART(p, n) load_part_f32(p, n)
#include "device/cpu/gemm_micro.h"

#define MICRO_NAME(x) x##_f64_portable
#define T double
#define V vec_f64
#define LANES 2
#define ROWS 4
#define POINTS 4
#define BLOCKS 0
#define K_BLOCK 256
#define V_LOAD(p) load_f64(p)
#define V_STORE(p, v) store_f64(p, v)
#define V_SPLAT(x) splat_f64(x)
#define V_ZERO() splat_f64(0)
#define V_ADD(a, b) ((a) + (b))
#define V_FMA(a, b, c) ((a) * (b) + (c))
#define V_LOAD_PART(p, n) load_part_f64(p, n)
#include "device/cpu/gemm_micro.h"
