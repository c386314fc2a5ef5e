/* SPDX-License-Identifier: Apache-2.0 */
/* vec.h - a vector of floats, the same in AVX-512, AVX2, NEON and plain C: kernels are written once over it and compiled per
 * instruction set (files named *_avx512.c, *_avx2.c, *_portable.c).
 *
 *   vf    LANES floats           + - * / are the C operators
 *   vi    LANES int32            + - * << >> & | ^ ~ likewise; (vi)x and (vf)i keep the bits
 *   vm    one truth per lane     & | ~
 *
 * Every operation rounds as IEEE 754 says, so a lane gives what a scalar would and a kernel may treat the last few elements
 * with vf_load_n and vf_store_n: the same bits as in a full vector. Only vf_fma differs between instruction sets: without the
 * instruction it rounds twice. The plain form uses the compiler's generic vectors, which every target of gcc and clang has. */
#ifndef SPORE_CPU_VEC_H
#define SPORE_CPU_VEC_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tensor/half.h"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__AVX512F__)
enum { LANES = 16 };
typedef __m512 vf;
typedef int32_t vi __attribute__((vector_size(64)));
typedef __mmask16 vm;
#define VEC_FMA 1
#elif defined(__AVX2__)
enum { LANES = 8 };
typedef __m256 vf;
typedef int32_t vi __attribute__((vector_size(32)));
typedef vi vm;
#define VEC_FMA 1
#else
enum { LANES = 4 };
typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
typedef vi vm;
#if defined(__ARM_NEON) && defined(__aarch64__)
#define VEC_FMA 1
#else
#define VEC_FMA 0
#endif
#endif

static inline vf vf_set(float x);
static inline vi vi_set(int32_t x) { return (vi){0} + x; }

#if defined(__AVX512F__)

static inline vf vf_set(float x) { return _mm512_set1_ps(x); }
static inline vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store(float *p, vf v) { _mm512_storeu_ps(p, v); }
static inline __mmask16 vec_first(int64_t n) { return (__mmask16)((1u << n) - 1); }
static inline vf vf_load_n(const float *p, int64_t n) { return _mm512_maskz_loadu_ps(vec_first(n), p); }
static inline void vf_store_n(float *p, vf v, int64_t n) { _mm512_mask_storeu_ps(p, vec_first(n), v); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
static inline vf vf_sqrt(vf x) { return _mm512_sqrt_ps(x); }
static inline vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
static inline vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
static inline vm vm_lt(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
static inline vm vm_le(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
static inline vm vm_eq(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
static inline vm vm_eq_int(vi a, vi b) { return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b); }
static inline vf vf_select(vm m, vf a, vf b) { return _mm512_mask_blend_ps(m, b, a); }
static inline bool vm_any(vm m) { return m != 0; }
/* Lane i of the result: lane index[i] mod 16 of the table. */
static inline vf vf_pick(vf table, vi index) { return _mm512_permutexvar_ps((__m512i)index, table); }
/* The first n lanes. */
static inline vm vm_first(int64_t n) { return vec_first(n); }
static inline void vm_store_bool(uint8_t *p, vm m)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm_maskz_set1_epi8(m, 1));
}

#elif defined(__AVX2__)

static inline vf vf_set(float x) { return _mm256_set1_ps(x); }
static inline vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void vf_store(float *p, vf v) { _mm256_storeu_ps(p, v); }
static inline vm vm_first(int64_t n) { return (vi){0, 1, 2, 3, 4, 5, 6, 7} < (int32_t)n; }
static inline vf vf_load_n(const float *p, int64_t n) { return _mm256_maskload_ps(p, (__m256i)vm_first(n)); }
static inline void vf_store_n(float *p, vf v, int64_t n) { _mm256_maskstore_ps(p, (__m256i)vm_first(n), v); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
static inline vf vf_sqrt(vf x) { return _mm256_sqrt_ps(x); }
static inline vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
static inline vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
static inline vf vf_select(vm m, vf a, vf b) { return _mm256_blendv_ps(b, a, (vf)m); }
static inline bool vm_any(vm m) { return _mm256_movemask_ps((vf)m) != 0; }

#else

static inline vf vf_set(float x) { return (vf){x, x, x, x}; }
static inline vf vf_load(const float *p)
{
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void vf_store(float *p, vf v) { memcpy(p, &v, sizeof v); }
static inline vm vm_first(int64_t n) { return (vi){0, 1, 2, 3} < (int32_t)n; }
static inline vf vf_load_n(const float *p, int64_t n)
{
    float part[LANES] = {0};
    for (int64_t i = 0; i < n; i++) part[i] = p[i];
    return vf_load(part);
}
static inline void vf_store_n(float *p, vf v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) p[i] = v[i];
}
static inline vf vf_select(vm m, vf a, vf b) { return (vf)(((vi)a & m) | ((vi)b & ~m)); }
#if VEC_FMA
static inline vf vf_fma(vf a, vf b, vf c) { return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
static inline vf vf_sqrt(vf x) { return (vf)vsqrtq_f32((float32x4_t)x); }
#else
static inline vf vf_fma(vf a, vf b, vf c) { return a * b + c; }
static inline vf vf_sqrt(vf x) { return (vf){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])}; }
#endif
static inline vf vf_min(vf a, vf b) { return vf_select(a < b, a, b); }
static inline vf vf_max(vf a, vf b) { return vf_select(a > b, a, b); }
static inline bool vm_any(vm m) { return (m[0] | m[1] | m[2] | m[3]) != 0; }

#endif

#if !defined(__AVX512F__)
static inline vm vm_lt(vf a, vf b) { return a < b; }
static inline vm vm_le(vf a, vf b) { return a <= b; }
static inline vm vm_eq(vf a, vf b) { return a == b; }
static inline vm vm_eq_int(vi a, vi b) { return a == b; }
static inline void vm_store_bool(uint8_t *p, vm m)
{
    for (int i = 0; i < LANES; i++) p[i] = (uint8_t)(m[i] & 1);
}
#endif

/* To the nearest integer, halves to even; to the next one below. Zeros keep their sign. */
#if defined(__AVX512F__)
static inline vf vf_round(vf x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
static inline vf vf_floor(vf x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
#elif defined(__AVX2__)
static inline vf vf_round(vf x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
static inline vf vf_floor(vf x) { return _mm256_floor_ps(x); }
#else
static inline vf vf_round(vf x)
{
    const vf size = (vf)((vi)x & 0x7FFFFFFF), r = (size + vf_set(0x1p23f)) - vf_set(0x1p23f);
    return vf_select(size < vf_set(0x1p23f), (vf)((vi)r | ((vi)x & (int32_t)0x80000000)), x);
}
static inline vf vf_floor(vf x)
{
    const vf r = vf_round(x);
    return vf_select(x < r, r - vf_set(1), r);
}
#endif

/* vf_min and vf_max give b when one of the two is NaN, and when both are zeros. */
static inline vm vm_nan(vf x) { return (vm)~vm_eq(x, x); }
static inline vf vf_abs(vf x) { return (vf)((vi)x & 0x7FFFFFFF); }
static inline vf vf_neg(vf x) { return (vf)((vi)x ^ (int32_t)0x80000000); }
/* The size of x with the sign of s. */
static inline vf vf_copysign(vf x, vf s) { return (vf)(((vi)x & 0x7FFFFFFF) | ((vi)s & (int32_t)0x80000000)); }

/* Sum and extremum of the lanes, by halves: the order is that of the lanes' numbers whatever the instruction set. */
static inline float vf_sum(vf v)
{
#if defined(__AVX512F__)
    return _mm512_reduce_add_ps(v);
#elif defined(__AVX2__)
    __m128 x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
#else
    return (v[0] + v[2]) + (v[1] + v[3]);
#endif
}
/* The same in double: nothing is lost on the way. */
static inline double vf_sum_exact(vf v)
{
    float x[LANES];
    double total = 0;
    vf_store(x, v);
    for (int i = 0; i < LANES; i++) total += (double)x[i];
    return total;
}
static inline float vf_most(vf v)
{
#if defined(__AVX512F__) || defined(__AVX2__)
    if (!vm_any(vm_nan(v))) {
#if defined(__AVX512F__)
        const __m256 h = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
#else
        const __m256 h = v;
#endif
        __m128 q = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
        q = _mm_max_ps(q, _mm_movehl_ps(q, q));
        return _mm_cvtss_f32(_mm_max_ss(q, _mm_movehdup_ps(q)));
    }
#endif
    float x[LANES];
    vf_store(x, v);
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++) x[i] = x[i] > x[i + half] || x[i] != x[i] ? x[i] : x[i + half];
    return x[0];
}

/* --- half precision: n elements to and from float, rounded to nearest even ------------------------------------------- */

#if defined(__AVX512F__)
static inline void vec_from_bf16(int64_t n, float *to, const sp_bf16 *from)
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_si512(to + i,
                            _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(from + i))), 16));
    for (; i < n; i++) to[i] = sp__bf16_f32(from[i]);
}
static inline void vec_from_f16(int64_t n, float *to, const sp_f16 *from)
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(from + i))));
    for (; i < n; i++) to[i] = sp__f16_f32(from[i]);
}
static inline void vec_to_f16(int64_t n, sp_f16 *to, const float *from)
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256((void *)(to + i), _mm512_cvtps_ph(_mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    for (; i < n; i++) to[i] = sp__f32_f16(from[i]);
}
#elif defined(__AVX2__)
static inline void vec_from_bf16(int64_t n, float *to, const sp_bf16 *from)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_si256((void *)(to + i),
                            _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(from + i))), 16));
    for (; i < n; i++) to[i] = sp__bf16_f32(from[i]);
}
static inline void vec_from_f16(int64_t n, float *to, const sp_f16 *from)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(from + i))));
    for (; i < n; i++) to[i] = sp__f16_f32(from[i]);
}
static inline void vec_to_f16(int64_t n, sp_f16 *to, const float *from)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((void *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    for (; i < n; i++) to[i] = sp__f32_f16(from[i]);
}
#else
static inline void vec_from_bf16(int64_t n, float *to, const sp_bf16 *from)
{
    for (int64_t i = 0; i < n; i++) to[i] = sp__bf16_f32(from[i]);
}
static inline void vec_from_f16(int64_t n, float *to, const sp_f16 *from)
{
    for (int64_t i = 0; i < n; i++) to[i] = sp__f16_f32(from[i]);
}
static inline void vec_to_f16(int64_t n, sp_f16 *to, const float *from)
{
    for (int64_t i = 0; i < n; i++) to[i] = sp__f32_f16(from[i]);
}
#endif
static inline void vec_to_bf16(int64_t n, sp_bf16 *to, const float *from)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = sp__f32_bf16(from[i]); /* integers alone: the compiler makes vectors of it */
}

/* A whole vector at once, through registers where there are instructions for it. */
#if defined(__AVX512F__)
static inline vf vf_load_f16(const sp_f16 *p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)p)); }
static inline void vf_store_f16(sp_f16 *p, vf v)
{
    _mm256_storeu_si256((void *)p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
static inline vf vf_load_bf16(const sp_bf16 *p)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p)), 16));
}
static inline void vf_store_bf16(sp_bf16 *p, vf v)
{
    const vi u = (vi)v, odd = (u >> 16) & 1, rounded = u + 0x7FFF + odd;
    const __m512i bits = _mm512_mask_blend_epi32(vm_nan(v), (__m512i)rounded, (__m512i)(u | 0x400000));
    _mm256_storeu_si256((void *)p, _mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16)));
}
#else
#if defined(__AVX2__)
static inline vf vf_load_f16(const sp_f16 *p) { return _mm256_cvtph_ps(_mm_loadu_si128((const void *)p)); }
static inline void vf_store_f16(sp_f16 *p, vf v)
{
    _mm_storeu_si128((void *)p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
static inline vf vf_load_bf16(const sp_bf16 *p)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)p)), 16));
}
#else
static inline vf vf_load_f16(const sp_f16 *p)
{
    float x[LANES];
    vec_from_f16(LANES, x, p);
    return vf_load(x);
}
static inline void vf_store_f16(sp_f16 *p, vf v)
{
    float x[LANES];
    vf_store(x, v);
    vec_to_f16(LANES, p, x);
}
static inline vf vf_load_bf16(const sp_bf16 *p)
{
    return (vf)(vi){p[0].bits << 16, p[1].bits << 16, p[2].bits << 16, p[3].bits << 16};
}
#endif
static inline void vf_store_bf16(sp_bf16 *p, vf v)
{
    float x[LANES];
    vf_store(x, v);
    vec_to_bf16(LANES, p, x);
}
#endif

/* What is left of a float in half precision. */
static inline vf vf_round_f16(vf v)
{
#if defined(__AVX512F__)
    return _mm512_cvtph_ps(_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
#else
    sp_f16 h[LANES];
    vf_store_f16(h, v);
    return vf_load_f16(h);
#endif
}
static inline vf vf_round_bf16(vf v)
{
    const vi u = (vi)v, odd = (u >> 16) & 1;
    return vf_select(vm_nan(v), (vf)((u | 0x400000) & -0x10000), (vf)((u + 0x7FFF + odd) & -0x10000));
}

#endif
