/* SPDX-License-Identifier: Apache-2.0 */
/* vec_double.h - a vector of doubles, half as many lanes as vec.h has floats, and elementary functions of it.
 *
 *   vd    DOUBLES doubles        + - * / are the C operators
 *   vl    DOUBLES int64          (vl)x and (vd)i keep the bits
 *   vdm   one truth per lane     & | ~
 *
 * The functions serve float64, and floats whose function is worth no polynomial of its own: both halves of a vector of floats are widened,
 * computed and rounded once, so that the error is hardly more than half a unit. Bounds for float64, in units of the last place of the exact
 * result, with fused multiply-add (without):
 *
 *   exp 1 (1.5)   expm1 2 (3)   log 1 (1.5)   log1p 2   tanh 3 (4)   sigmoid 2 (3)   sinh 3 (3.5)   cosh 2   asin, acos, atan 2.5
 *   sin, cos 1.5 (libm)   tan 3 (libm)
 *
 * tests/device/test_vector.c holds them to it. Polynomials are minimax fits, rounded one coefficient after the other. */
#ifndef SPORE_CPU_VEC_DOUBLE_H
#define SPORE_CPU_VEC_DOUBLE_H

#include "device/cpu/vec.h"

enum { DOUBLES = LANES / 2 };
#if defined(__AVX512F__)

typedef __m512d vd;
typedef int64_t vl __attribute__((vector_size(64)));
typedef __mmask8 vdm;
static inline vd vd_set(double x) { return _mm512_set1_pd(x); }
static inline vd vd_load(const double *p) { return _mm512_loadu_pd(p); }
static inline void vd_store(double *p, vd v) { _mm512_storeu_pd(p, v); }
static inline vd vd_load_n(const double *p, int64_t n) { return _mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), p); }
static inline void vd_store_n(double *p, vd v, int64_t n) { _mm512_mask_storeu_pd(p, (__mmask8)((1u << n) - 1), v); }
static inline vd vd_fma(vd a, vd b, vd c) { return _mm512_fmadd_pd(a, b, c); }
static inline vd vd_sqrt(vd x) { return _mm512_sqrt_pd(x); }
static inline vdm vdm_lt(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
static inline vdm vdm_eq(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
static inline vdm vdm_odd(vl i) { return _mm512_test_epi64_mask((__m512i)i, _mm512_set1_epi64(1)); }
static inline vd vd_select(vdm m, vd a, vd b) { return _mm512_mask_blend_pd(m, b, a); }
static inline bool vdm_any(vdm m) { return m != 0; }
static inline vd vd_low(vf x) { return _mm512_cvtps_pd(_mm512_castps512_ps256(x)); }
static inline vd vd_high(vf x)
{
    return _mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1)));
}
static inline vf vf_join(vd low, vd high)
{
    const __m256d halves[2] = {_mm256_castps_pd(_mm512_cvtpd_ps(low)), _mm256_castps_pd(_mm512_cvtpd_ps(high))};
    return _mm512_castpd_ps(_mm512_insertf64x4(_mm512_castpd256_pd512(halves[0]), halves[1], 1));
}

#elif defined(__AVX2__)

typedef __m256d vd;
typedef int64_t vl __attribute__((vector_size(32)));
typedef vl vdm;
static inline vd vd_set(double x) { return _mm256_set1_pd(x); }
static inline vd vd_load(const double *p) { return _mm256_loadu_pd(p); }
static inline void vd_store(double *p, vd v) { _mm256_storeu_pd(p, v); }
static inline vl vd_first(int64_t n) { return (vl){0, 1, 2, 3} < n; }
static inline vd vd_load_n(const double *p, int64_t n) { return _mm256_maskload_pd(p, (__m256i)vd_first(n)); }
static inline void vd_store_n(double *p, vd v, int64_t n) { _mm256_maskstore_pd(p, (__m256i)vd_first(n), v); }
static inline vd vd_fma(vd a, vd b, vd c) { return _mm256_fmadd_pd(a, b, c); }
static inline vd vd_sqrt(vd x) { return _mm256_sqrt_pd(x); }
static inline vd vd_select(vdm m, vd a, vd b) { return _mm256_blendv_pd(b, a, (vd)m); }
static inline bool vdm_any(vdm m) { return _mm256_movemask_pd((vd)m) != 0; }
static inline vd vd_low(vf x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); }
static inline vd vd_high(vf x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); }
static inline vf vf_join(vd low, vd high)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(low)), _mm256_cvtpd_ps(high), 1);
}

#else

typedef double vd __attribute__((vector_size(16)));
typedef int64_t vl __attribute__((vector_size(16)));
typedef vl vdm;
static inline vd vd_set(double x) { return (vd){x, x}; }
static inline vd vd_load(const double *p)
{
    vd v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void vd_store(double *p, vd v) { memcpy(p, &v, sizeof v); }
static inline vd vd_load_n(const double *p, int64_t n)
{
    vd v = {0, 0};
    memcpy(&v, p, (size_t)n * sizeof *p);
    return v;
}
static inline void vd_store_n(double *p, vd v, int64_t n) { memcpy(p, &v, (size_t)n * sizeof *p); }
#if VEC_FMA
static inline vd vd_fma(vd a, vd b, vd c) { return (vd)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b); }
static inline vd vd_sqrt(vd x) { return (vd)vsqrtq_f64((float64x2_t)x); }
#else
static inline vd vd_fma(vd a, vd b, vd c) { return a * b + c; }
static inline vd vd_sqrt(vd x) { return (vd){sqrt(x[0]), sqrt(x[1])}; }
#endif
static inline vd vd_select(vdm m, vd a, vd b) { return (vd)(((vl)a & m) | ((vl)b & ~m)); }
static inline bool vdm_any(vdm m) { return (m[0] | m[1]) != 0; }
static inline vd vd_low(vf x) { return (vd){(double)x[0], (double)x[1]}; }
static inline vd vd_high(vf x) { return (vd){(double)x[2], (double)x[3]}; }
static inline vf vf_join(vd low, vd high) { return (vf){(float)low[0], (float)low[1], (float)high[0], (float)high[1]}; }

#endif
#if !defined(__AVX512F__)
static inline vdm vdm_lt(vd a, vd b) { return a < b; }
static inline vdm vdm_eq(vd a, vd b) { return a == b; }
static inline vdm vdm_odd(vl i) { return (i & 1) == 1; }
#endif

static inline vd vd_abs(vd x) { return (vd)((vl)x & INT64_MAX); }
static inline vd vd_neg(vd x) { return (vd)((vl)x ^ INT64_MIN); }
static inline vd vd_copysign(vd x, vd s) { return (vd)(((vl)x & INT64_MAX) | ((vl)s & INT64_MIN)); }
/* x, at most (at least) as large as the bound; NaN stays. */
static inline vd vd_at_most(vd x, double bound) { return vd_select(vdm_lt(vd_set(bound), x), vd_set(bound), x); }
static inline vd vd_at_least(vd x, double bound) { return vd_select(vdm_lt(x, vd_set(bound)), vd_set(bound), x); }

/* c[0] + c[1] z + ... */
static inline __attribute__((always_inline)) vd vd_polynomial(const double *c, int n, vd z)
{
    vd p = vd_set(c[n - 1]);
#pragma GCC unroll 20
    for (int i = n - 2; i >= 0; i--) p = vd_fma(p, z, vd_set(c[i]));
    return p;
}
#define VD_POLYNOMIAL(z, ...)                                                                                          \
    vd_polynomial((const double[]){__VA_ARGS__}, (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)), z)

#define VD_ROUNDER 0x1.8p52 /* adding it leaves an integer in the low bits */
#define VD_ROUNDER_BITS INT64_C(0x4338000000000000)
#define VD_LN2_HI 0x1.62e42feep-1 /* 32 bits: times an exponent it is exact */
#define VD_LN2_LO 0x1.a39ef35793c76p-33

/* --- exponentials ---------------------------------------------------------------------------------------------------------- */

/* p * 2^n, rounded once. `t` is n + VD_ROUNDER. */
static inline vd vd_scale(vd p, vd t)
{
#if defined(__AVX512F__)
    return _mm512_scalef_pd(p, t - vd_set(VD_ROUNDER));
#else
    const vl n = (vl)t - VD_ROUNDER_BITS, half = (vl)((vl)t << 52) >> 53 /* n / 2 */;
    return p * (vd)((half + 1023) << 52) * (vd)((n - half + 1023) << 52);
#endif
}

/* x = n ln 2 + r; returns r, and n + VD_ROUNDER. */
static inline vd vd_reduce_exp(vd x, vd *t)
{
    *t = vd_fma(x, vd_set(0x1.71547652b82fep0), vd_set(VD_ROUNDER));
    const vd n = *t - vd_set(VD_ROUNDER);
    return vd_fma(n, vd_set(-VD_LN2_LO), vd_fma(n, vd_set(-VD_LN2_HI), x));
}

/* (e^r - 1 - r) / r^2 for |r| up to ln 2 / 2, by Taylor's sum: its next term is below 2^-57. */
static inline vd vd_exp_rest(vd r)
{
    return VD_POLYNOMIAL(r, 0.5, 0x1.5555555555555p-3, 0x1.5555555555555p-5, 0x1.1111111111111p-7,
                         0x1.6c16c16c16c17p-10, 0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-16, 0x1.71de3a556c734p-19,
                         0x1.27e4fb7789f5cp-22, 0x1.ae64567f544e4p-26, 0x1.1eed8eff8d898p-29, 0x1.6124613a86d09p-33);
}

/* e^x 2^shift */
static inline vd vd_exp_shifted(vd x, int shift)
{
    vd t;
    const vd r = vd_reduce_exp(vd_at_least(vd_at_most(x, 711), -747), &t);
    return vd_scale(vd_fma(vd_exp_rest(r) * r, r, r) + vd_set(1), t + vd_set(shift));
}
static inline vd vd_exp(vd x) { return vd_exp_shifted(x, 0); }

/* As vec_expm1. */
static inline vd vd_expm1(vd x)
{
    vd t;
    const vd r = vd_reduce_exp(vd_at_least(vd_at_most(x, 710), -60), &t), p = vd_fma(vd_exp_rest(r) * r, r, r);
    const vd half = (vd)(((vl)t - VD_ROUNDER_BITS + 1022) << 52);
    return vd_select(vdm_lt(vd_abs(x), vd_set(0x1p-54)), x, vd_set(2) * vd_fma(p, half, half - vd_set(0.5)));
}

static inline vd vd_tanh(vd x)
{
    const vd t = vd_expm1(vd_at_most(vd_abs(x), 22) * vd_set(2));
    return vd_copysign(t / (t + vd_set(2)), x);
}
static inline vd vd_sigmoid(vd x)
{
    const vd e = vd_exp(vd_neg(vd_abs(x)));
    return vd_select(vdm_lt(x, vd_set(0)), e, vd_set(1)) / (vd_set(1) + e);
}
static inline vd vd_cosh(vd x)
{
    const vd half = vd_exp_shifted(vd_abs(x), -1);
    return half + vd_set(0.25) / half;
}
static inline vd vd_sinh(vd x)
{
    const vd a = vd_abs(x), half = vd_exp_shifted(a, -1), t = vd_expm1(vd_at_most(a, 1));
    const vd near = vd_set(0.5) * (t + t / (t + vd_set(1)));
    return vd_copysign(vd_select(vdm_lt(a, vd_set(1)), near, half - vd_set(0.25) / half), x);
}

/* --- logarithms ------------------------------------------------------------------------------------------------------------- */

/* Positive x = 2^e (1 + f); with s = f / (2 + f) the logarithm of 1 + f is f - (f^2 / 2 - s (f^2 / 2 + s^2 P(s^2))). */
static inline vd vd_log_inside(vd x)
{
    const vdm tiny = vdm_lt(x, vd_set(0x1p-1022));
    x = vd_select(tiny, x * vd_set(0x1p52), x);
    const vl shifted = (vl)x - INT64_C(0x3FE6A09E667F3BCD);
    const vl field = shifted & INT64_C(-0x10000000000000); /* e 2^52 */
    const vd f = (vd)((vl)x - field) - vd_set(1);
    /* e as a double: the field, moved down as an unsigned number of 12 bits with its sign bit turned. */
    const vl biased = ((field ^ INT64_MIN) >> 52) & 0xFFF;
    const vd e =
        ((vd)(biased + VD_ROUNDER_BITS) - vd_set(VD_ROUNDER)) - vd_select(tiny, vd_set(2048 + 52), vd_set(2048));
    const vd s = f / (f + vd_set(2)), z = s * s, square = vd_set(0.5) * f * f;
    const vd p =
        z * VD_POLYNOMIAL(z, 0x1.5555555555555p-1, 0x1.9999999999d57p-2, 0x1.249249242f2dcp-2, 0x1.c71c725be2617p-3,
                          0x1.745cdba4bfdd9p-3, 0x1.3b214fe9ccaabp-3, 0x1.0f4afab6e3ec2p-3, 0x1.101b0869ad248p-3);
    const vd low = vd_fma(s, square + p, e * vd_set(VD_LN2_LO));
    return e * vd_set(VD_LN2_HI) - ((square - low) - f);
}
/* For powers of floats: both together within 2^-32 of the result. The exponent of a double has room for denormal floats. */
static inline vd vd_log_single(vd x)
{
    const vl field = ((vl)x - INT64_C(0x3FE6A09E667F3BCD)) & INT64_C(-0x10000000000000),
             biased = ((field ^ INT64_MIN) >> 52) & 0xFFF;
    const vd f = (vd)((vl)x - field) - vd_set(1),
             e = ((vd)(biased + VD_ROUNDER_BITS) - vd_set(VD_ROUNDER)) - vd_set(2048);
    const vd s = f / (f + vd_set(2)), z = s * s;
    const vd p = VD_POLYNOMIAL(z, 2.0, 0x1.5555555565036p-1, 0x1.999998ca1ebc1p-2, 0x1.24932477debedp-2,
                               0x1.c67a9b80659d5p-3, 0x1.8c90386cbb049p-3);
    return vd_fma(e, vd_set(0x1.62e42fefa39efp-1), s * p);
}
static inline vd vd_exp_single(vd x)
{
    vd t;
    const vd r = vd_reduce_exp(vd_at_least(vd_at_most(x, 711), -747), &t);
    const vd p =
        VD_POLYNOMIAL(r, 1, 1, 0x1.fffffffffe067p-2, 0x1.55555567514cfp-3, 0x1.55555565c5e0ep-5, 0x1.1110c6387095dp-7,
                      0x1.6c166be5e209dp-10, 0x1.a1516cfd18d8bp-13, 0x1.a136b27750eb9p-16);
    return vd_scale(p, t);
}
static inline vd vd_log(vd x)
{
    vd y = vd_log_inside(x);
    y = vd_select(vdm_lt(x, vd_set(INFINITY)), y, x);
    y = vd_select(vdm_lt(x, vd_set(0)), vd_set(NAN), y);
    return vd_select(vdm_eq(x, vd_set(0)), vd_set(-INFINITY), y);
}
static inline vd vd_log1p(vd x)
{
    const vd u = vd_set(1) + x, lost = x - (u - vd_set(1)), y = vd_log(u);
    const vdm plain = vdm_lt(vd_set(0), u) & vdm_lt(u, vd_set(INFINITY));
    return vd_select(vdm_lt(vd_abs(x), vd_set(0x1p-54)), x, vd_select(plain, y + lost / u, y));
}

/* --- angles ------------------------------------------------------------------------------------------------------------------- */

#define VD_HALF_PI 0x1.921fb54442d18p0
#define VD_HALF_PI_LOW 0x1.1a62633145c07p-54

/* asin(x) / x - 1 for x^2 = z up to 1/4. */
static inline vd vd_asin_rest(vd z)
{
    return z * VD_POLYNOMIAL(z, 0x1.5555555555556p-3, 0x1.3333333332dd0p-4, 0x1.6db6db6e433f6p-5, 0x1.f1c71c1512780p-6,
                             0x1.6e8bb2f52b686p-6, 0x1.1c4d1ccd774f9p-6, 0x1.c9d1b64da4165p-7, 0x1.780dc5a9d01a6p-7,
                             0x1.52d9116d7b69bp-7, 0x1.60d7477c0be60p-8, 0x1.203bdbeaff9a8p-6, -0x1.f01477e18c949p-7,
                             0x1.da43d6d1db199p-6);
}
/* Behind 1/2 by the half angle: asin a = pi/2 - 2 asin(sqrt((1 - a) / 2)). */
static inline vd vd_asin(vd x)
{
    const vd a = vd_abs(x), z = (vd_set(1) - a) * vd_set(0.5), root = vd_sqrt(z);
    const vdm near = vdm_lt(a, vd_set(0.5));
    const vd rest = vd_asin_rest(vd_select(near, a * a, z)), s = vd_select(near, a, root);
    const vd y = vd_fma(s, rest, s), far = vd_set(VD_HALF_PI) - (vd_set(2) * y - vd_set(VD_HALF_PI_LOW));
    return vd_copysign(vd_select(near, y, far), x);
}
static inline vd vd_acos(vd x)
{
    const vd a = vd_abs(x), z = (vd_set(1) - a) * vd_set(0.5), root = vd_sqrt(z);
    const vdm near = vdm_lt(a, vd_set(0.5));
    const vd rest = vd_asin_rest(vd_select(near, a * a, z)), s = vd_select(near, x, root);
    const vd middle = vd_set(VD_HALF_PI) - (s - (vd_set(VD_HALF_PI_LOW) - s * rest)),
             twice = vd_set(2) * vd_fma(s, rest, s);
    const vd behind = vd_set(2 * VD_HALF_PI) - (twice - vd_set(2 * VD_HALF_PI_LOW));
    return vd_select(near, middle, vd_select(vdm_lt(x, vd_set(0)), behind, twice));
}
/* The angle of (across, up), both positive: the quotient is turned by 0, 1/4 or 1/2 pi so that it lies within tan(pi / 8). */
static inline vd vd_angle(vd up, vd across)
{
    const vdm steep = vdm_lt(across * vd_set(2.414213562373095), up),
              middle = (vdm)~steep & vdm_lt(across * vd_set(0.4142135623730950), up);
    const vd over = vd_select(steep, vd_neg(across), vd_select(middle, up - across, up));
    const vd under = vd_select(steep, up, vd_select(middle, up + across, across));
    const vd t = over / under, z = t * t;
    const vd p =
        z * VD_POLYNOMIAL(z, -0x1.5555555555555p-2, 0x1.9999999999804p-3, -0x1.24924924806bfp-3, 0x1.c71c71bb6acedp-4,
                          -0x1.745d152024eecp-4, 0x1.3b1372afc8bf4p-4, -0x1.110c66b3ed77ep-4, 0x1.e1697a18aa9ecp-5,
                          -0x1.ab02f46db8b24p-5, 0x1.6d4aacdfa69e3p-5, -0x1.0233ba5442478p-5, 0x1.56fc84860e8cap-7,
                          0x1.3f3ea9d35960ap-8);
    const vd turn = vd_select(steep, vd_set(VD_HALF_PI), vd_select(middle, vd_set(VD_HALF_PI / 2), vd_set(0)));
    const vd turn_low =
        vd_select(steep, vd_set(VD_HALF_PI_LOW), vd_select(middle, vd_set(VD_HALF_PI_LOW / 2), vd_set(0)));
    return turn + (vd_fma(t, p, turn_low) + t);
}
static inline vd vd_atan(vd x) { return vd_copysign(vd_angle(vd_abs(x), vd_set(1)), x); }
/* Not for both zero nor both infinite. */
static inline vd vd_atan2(vd y, vd x)
{
    const vd a = vd_angle(vd_abs(y), vd_abs(x));
    const vdm left = vdm_lt(vd_copysign(vd_set(1), x), vd_set(0));
    return vd_copysign(vd_select(left, vd_set(2 * VD_HALF_PI) - (a - vd_set(2 * VD_HALF_PI_LOW)), a), y);
}

/* erfc of any x by e^-x^2 times a polynomial in (|x| - 15/4) / (|x| + 15/4): within 1e-13 of the result, for floats. Zero from 11 on. */
static inline vd vd_erfc_single(vd x)
{
    const vd a = vd_at_most(vd_abs(x), 11), t = (a - vd_set(3.75)) / (a + vd_set(3.75));
    const vd p = VD_POLYNOMIAL(
        t, 0x1.3ccda0b5d5e20p+0, -0x1.1f367684035f4p-3, 0x1.d5f2947386ad5p-9, 0x1.510169d89dffdp-4,
        -0x1.bda93080832e3p-4, 0x1.7a1417b7230a7p-4, -0x1.e0d0ff5f10793p-5, 0x1.d0b0261c5e2a4p-6, -0x1.3f5f4d7b226d8p-7,
        0x1.cc318e531fcfdp-10, 0x1.3345596909c42p-12, -0x1.30597e0cde8a4p-12, 0x1.c146978fa38d0p-15,
        0x1.976007c8df07ap-16, -0x1.b118525d3aed1p-17, -0x1.2d9e55a92aee4p-18, -0x1.09d0d49b62420p-23);
    const vd y = vd_exp(vd_neg(a * a)) * p / vd_fma(vd_set(2), a, vd_set(1));
    return vd_select(vdm_lt(x, vd_set(0)), vd_set(2) - y, y);
}

#if VEC_FMA
/* Sine and cosine of what is left of x after quarters of a turn, and the number of these. The parts of pi/2 need the fused product. */
static inline vl vd_turn(vd x, vd *sine, vd *cosine)
{
    const vd t = vd_fma(x, vd_set(0x1.45f306dc9c883p-1), vd_set(VD_ROUNDER)), n = t - vd_set(VD_ROUNDER);
    vd r = vd_fma(n, vd_set(-VD_HALF_PI), x);
    r = vd_fma(n, vd_set(-VD_HALF_PI_LOW), r);
    r = vd_fma(n, vd_set(0x1.f1976b7ed8fbcp-110), r);
    const vd z = r * r;
    const vd p =
        VD_POLYNOMIAL(z, -0x1.5555555555555p-3, 0x1.111111111101ep-7, -0x1.a01a019fe88b5p-13, 0x1.71de3a10480a8p-19,
                      -0x1.ae63f824b1f7dp-26, 0x1.60e5ee35d685fp-33, -0x1.8d67e45bd98b8p-41);
    const vd q =
        VD_POLYNOMIAL(z, 0x1.5555555555555p-5, -0x1.6c16c16c16a33p-10, 0x1.a01a019fb800dp-16, -0x1.27e4faef50407p-22,
                      0x1.1eecd6b6cc0a1p-29, -0x1.92a760265afb7p-37, 0x1.35331e542a17ep-45);
    const vd half = vd_set(0.5) * z, one = vd_set(1) - half;
    *sine = vd_fma(p * z, r, r);
    *cosine = one + vd_fma(z * z, q, (vd_set(1) - one) - half);
    return (vl)t;
}
static inline vd vd_sine(vd x, int quarter)
{
    vd s, c;
    const vl k = vd_turn(x, &s, &c) + quarter;
    const vd y = (vd)((vl)vd_select(vdm_odd(k), c, s) ^ ((k & 2) << 62));
    return quarter == 0 ? vd_select(vdm_lt(vd_abs(x), vd_set(0x1p-26)), x, y) : y;
}
static inline vd vd_sin(vd x) { return vd_sine(x, 0); }
static inline vd vd_cos(vd x) { return vd_sine(x, 1); }
static inline vd vd_tan(vd x)
{
    vd s, c;
    const vdm odd = vdm_odd(vd_turn(x, &s, &c));
    const vd y = vd_select(odd, vd_neg(c), s) / vd_select(odd, s, c);
    return vd_select(vdm_lt(vd_abs(x), vd_set(0x1p-26)), x, y);
}
/* Where the three parts of pi/2 are enough; what lies beyond is libm's. */
#define VD_TURN_MOST 65536.0
#endif

#endif
