/* SPDX-License-Identifier: Apache-2.0 */
/* vec_math.h - elementary functions of a vector of floats.
 *
 * Each reduces its argument to a short interval and evaluates a polynomial there; the coefficients are minimax fits, rounded to
 * float one after the other with the rest fitted again. No tables, no branches but one: sine and cosine of huge arguments are
 * left to libm. Bounds, in units of the last place of the exact result, over all floats, with fused multiply-add (without):
 *
 *   exp 1.5 (2)   exp2 1.5 (2)   expm1 2 (3)   log 1.5 (2)   log2 2 (3)   log10 2 (3)   log1p 2 (3)
 *   tanh 3 (4)   sigmoid 2.5 (3)   erf 2 (3)   sin, cos 2
 *
 * tests/device/test_vector.c holds them to it. Denormals are numbers like any others, on both sides; NaN gives NaN; zeros keep
 * their sign where the function does. */
#ifndef SPORE_CPU_VEC_MATH_H
#define SPORE_CPU_VEC_MATH_H

#include "device/cpu/vec.h"

#define VEC_LN2_HI 0.693359375f /* ten bits: times an exponent it is exact */
#define VEC_LN2_LO (-2.12194440e-4f)
#define VEC_LOG2E 1.44269504088896341f
#define VEC_ROUNDER 12582912.0f /* 1.5 * 2^23: adding it leaves an integer in the low bits */
#define VEC_ROUNDER_BITS 0x4B400000

/* p * 2^n for p near 1 and n in [-300, 300], rounded once. `t` is n + VEC_ROUNDER. */
static inline vf vec_scale(vf p, vf t)
{
#if defined(__AVX512F__)
    return _mm512_scalef_ps(p, t - vf_set(VEC_ROUNDER));
#else
    const vi n = (vi)t - VEC_ROUNDER_BITS, half = n >> 1;
    return p * (vf)((half + 127) << 23) * (vf)((n - half + 127) << 23);
#endif
}

/* x kept inside [low, high]; NaN stays. */
static inline vf vec_clamp(vf x, float low, float high) { return vf_min(vf_set(high), vf_max(vf_set(low), x)); }

/* x = n ln 2 + r, |r| <= ln 2 / 2; returns r, and n + VEC_ROUNDER. */
static inline vf vec_reduce_exp(vf x, vf *t)
{
    *t = vf_fma(x, vf_set(VEC_LOG2E), vf_set(VEC_ROUNDER));
    const vf n = *t - vf_set(VEC_ROUNDER);
    return vf_fma(n, vf_set(-VEC_LN2_LO), vf_fma(n, vf_set(-VEC_LN2_HI), x));
}

/* exp of what neither overflows nor underflows. */
static inline vf vec_exp_inside(vf x)
{
    vf t;
    const vf r = vec_reduce_exp(x, &t);
    vf p = vf_fma(vf_set(0x1.6a6ce8p-10f), r, vf_set(0x1.123f78p-7f));
    p = vf_fma(p, r, vf_set(0x1.55589cp-5f));
    p = vf_fma(p, r, vf_set(0x1.55548ap-3f));
    p = vf_fma(p, r, vf_set(0x1.fffffcp-2f));
    p = vf_fma(p * r, r, r) + vf_set(1);
    return vec_scale(p, t);
}

static inline vf vec_exp(vf x) { return vec_exp_inside(vec_clamp(x, -104, 89)); }

static inline vf vec_exp2_inside(vf x)
{
    const vf t = x + vf_set(VEC_ROUNDER), r = x - (t - vf_set(VEC_ROUNDER));
    vf p = vf_fma(vf_set(0x1.e5c2b8p-17f), r, vf_set(0x1.44227cp-13f));
    p = vf_fma(p, r, vf_set(0x1.5da0f0p-10f));
    p = vf_fma(p, r, vf_set(0x1.3b2a4ap-7f));
    p = vf_fma(p, r, vf_set(0x1.c6b072p-5f));
    p = vf_fma(p, r, vf_set(0x1.ebfbe0p-3f));
    p = vf_fma(p, r, vf_set(0x1.62e430p-1f));
    return vec_scale(vf_fma(p, r, vf_set(1)), t);
}

static inline vf vec_exp2(vf x) { return vec_exp2_inside(vec_clamp(x, -151, 129)); }

/* 2^n e^r - 1 = 2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)): half the size, so that nothing overflows before the result does. */
static inline vf vec_expm1(vf x)
{
    vf t;
    const vf r = vec_reduce_exp(vec_clamp(x, -30, 89), &t);
    vf p = vf_fma(vf_set(0x1.9771e6p-13f), r, vf_set(0x1.6d5924p-10f));
    p = vf_fma(p, r, vf_set(0x1.111846p-7f));
    p = vf_fma(p, r, vf_set(0x1.5554dep-5f));
    p = vf_fma(p, r, vf_set(0x1.555550p-3f));
    p = vf_fma(p, r, vf_set(0.5f));
    p = vf_fma(p * r, r, r);
    const vf half = (vf)(((vi)t - VEC_ROUNDER_BITS + 126) << 23);
    const vf y = vf_set(2) * vf_fma(p, half, half - vf_set(0.5f));
    return vf_select(vm_lt(vf_abs(x), vf_set(0x1p-25f)), x, y);
}

/* Positive x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)): returns f^3 P(f) - f^2 / 2 apart from f, so that their sum is
 * rounded last. */
static inline vf vec_reduce_log(vf x, vf *e, vf *f)
{
    const vm tiny = vm_lt(x, vf_set(0x1p-126f));
    x = vf_select(tiny, x * vf_set(0x1p23f), x);
    const vi exponent = ((vi)x - 0x3F3504F3) >> 23;
    *f = (vf)((vi)x - (exponent << 23)) - vf_set(1);
    *e = __builtin_convertvector(exponent, vf) - vf_select(tiny, vf_set(23), vf_set(0));
    vf p = vf_fma(vf_set(0x1.161ef8p-4f), *f, vf_set(-0x1.e03e4ap-4f));
    p = vf_fma(p, *f, vf_set(0x1.e73802p-4f));
    p = vf_fma(p, *f, vf_set(-0x1.fbcdc4p-4f));
    p = vf_fma(p, *f, vf_set(0x1.232cb0p-3f));
    p = vf_fma(p, *f, vf_set(-0x1.555e78p-3f));
    p = vf_fma(p, *f, vf_set(0x1.99a55cp-3f));
    p = vf_fma(p, *f, vf_set(-0x1.000002p-2f));
    p = vf_fma(p, *f, vf_set(0x1.555546p-2f));
    const vf square = *f * *f;
    return vf_fma(vf_set(-0.5f), square, p * *f * square);
}

/* What logarithms of any base give outside of (0, inf). */
static inline vf vec_log_edges(vf x, vf y)
{
    y = vf_select(vm_lt(x, vf_set(INFINITY)), y, x);
    y = vf_select(vm_lt(x, vf_set(0)), vf_set(NAN), y);
    return vf_select(vm_eq(x, vf_set(0)), vf_set(-INFINITY), y);
}

static inline vf vec_log(vf x)
{
    vf e, f, y = vec_reduce_log(x, &e, &f);
    y = f + vf_fma(e, vf_set(VEC_LN2_LO), y);
    return vec_log_edges(x, vf_fma(e, vf_set(VEC_LN2_HI), y));
}

/* f + y in base b: the factor log_b(e) as its upper bits, which multiply f exactly, and the rest. */
static inline vf vec_log_base(vf x, float factor_hi, float factor_lo, float base_hi, float base_lo)
{
    vf e, f, y = vec_reduce_log(x, &e, &f);
    const vf f_hi = (vf)((vi)f & (int32_t)0xFFFFF000), f_lo = (f - f_hi) + y;
    const vf hi = vf_set(factor_hi), lo = vf_set(factor_lo);
    vf z = vf_fma(f_hi, lo, vf_fma(f_lo, lo, f_lo * hi));
    z = vf_fma(e, vf_set(base_lo), z) + f_hi * hi;
    return vec_log_edges(x, vf_fma(e, vf_set(base_hi), z));
}
static inline vf vec_log2(vf x) { return vec_log_base(x, 0x1.714p+0f, 0x1.47652cp-12f, 1, 0); }
static inline vf vec_log10(vf x) { return vec_log_base(x, 0x1.bcap-2f, 0x1.7b1526p-14f, 0x1.344p-2f, 0x1.3509f8p-18f); }

/* log(u) with u = 1 + x rounded, and what the rounding lost. */
static inline vf vec_log1p(vf x)
{
    const vf u = vf_set(1) + x, lost = x - (u - vf_set(1)), y = vec_log(u);
    const vm plain = vm_lt(vf_set(0), u) & vm_lt(u, vf_set(INFINITY));
    return vf_select(vm_lt(vf_abs(x), vf_set(0x1p-25f)), x, vf_select(plain, y + lost / u, y));
}

/* (e^2a - 1) / (e^2a + 1), a = |x|. */
static inline vf vec_tanh(vf x)
{
    const vf a = vf_min(vf_set(10), vf_abs(x)), t = vec_expm1(a + a);
    return vf_copysign(t / (t + vf_set(2)), x);
}

/* exp of a negative number only: neither side overflows, small results keep their digits. */
static inline vf vec_sigmoid(vf x)
{
    const vf e = vec_exp(vf_neg(vf_abs(x)));
    return vf_select(vm_lt(x, vf_set(0)), e, vf_set(1)) / (vf_set(1) + e);
}

/* log(1 + e^x) - max(x, 0) */
static inline vf vec_softplus_rest(vf x) { return vec_log1p(vec_exp(vf_neg(vf_abs(x)))); }

/* x + x P(x^2) near zero, 1 - exp(-t - t Q(t)) behind. */
static inline vf vec_erf(vf x)
{
    const vf s = x * x, t = vf_min(vf_set(4), vf_abs(x));
    vf p = vf_fma(vf_set(0x1.5c4738p-14f), s, vf_set(-0x1.aa0342p-11f));
    p = vf_fma(p, s, vf_set(0x1.54be64p-8f));
    p = vf_fma(p, s, vf_set(-0x1.b80d1ep-6f));
    p = vf_fma(p, s, vf_set(0x1.ce2deep-4f));
    p = vf_fma(p, s, vf_set(-0x1.812742p-2f));
    p = vf_fma(p, s, vf_set(0x1.06eba8p-3f));
    p = vf_fma(p, x, x);
    vf q = vf_fma(vf_set(0x1.7fbb64p-17f), t, vf_set(-0x1.54916ap-12f));
    q = vf_fma(q, t, vf_set(0x1.de726cp-9f));
    q = vf_fma(q, t, vf_set(-0x1.8593e0p-6f));
    q = vf_fma(q, t, vf_set(0x1.b337f2p-4f));
    q = vf_fma(q, t, vf_set(0x1.453138p-1f));
    q = vf_fma(q, t, vf_set(0x1.077a1cp-3f));
    q = vf_set(1) - vec_exp_inside(vf_neg(vf_fma(q, t, t)));
    return vf_select(vm_lt(t, vf_set(0.9277f)), p, vf_copysign(q, x));
}

/* Probability that a standard normal variable is below x, within 3 * 2^-24; 0 or 1 from 5.7 on. */
#if defined(__AVX512F__)
/* That of -|x| is a polynomial around the nearest multiple of 3/8; an instruction picks sixteen coefficients from a register. Its
 * error is below 2^-26, and 5e-5 of the probability itself where that is small. */
static inline vf vec_normal_p(vf x)
{
    static const float table[6][16] = {
        {0x1p-1f, 0x1.6a527ap-2f, 0x1.d02200p-3f, 0x1.0ad7dap-3f, 0x1.11a46ep-4f, 0x1.f20394p-6f, 0x1.90924cp-7f,
         0x1.1bee6ap-8f, 0x1.61de22p-10f, 0x1.8301ccp-12f, 0x1.72d97cp-14f, 0x1.36fef2p-16f, 0x1.c807dep-19f,
         0x1.24155ep-21f, 0x1.46a2c6p-24f, 0x1.3eb536p-27f},
        {-0x1.988452p-2f, -0x1.7cc796p-2f, -0x1.345d5ep-2f, -0x1.b1ec60p-3f, -0x1.094086p-3f, -0x1.19bfa8p-4f,
         -0x1.0402e4p-5f, -0x1.a0f22ep-7f, -0x1.22720ap-8f, -0x1.5f90aap-10f, -0x1.71b856p-12f, -0x1.51cdfep-14f,
         -0x1.0c2724p-16f, -0x1.71df6cp-19f, -0x1.bb3ea2p-22f, -0x1.cd7b28p-25f},
        {-0x1.16284ep-20f, 0x1.1d9142p-4f, 0x1.ce8abcp-4f, 0x1.e82946p-4f, 0x1.8de0dcp-4f, 0x1.082486p-4f,
         0x1.2484a4p-5f, 0x1.119fc6p-6f, 0x1.b3a9f2p-8f, 0x1.289e46p-9f, 0x1.5a929cp-11f, 0x1.5c49e4p-13f,
         0x1.2d926ap-15f, 0x1.c28fb6p-18f, 0x1.22ae22p-20f, 0x1.442eccp-23f},
        {0x1.106bd0p-4f, 0x1.b45554p-5f, 0x1.67b900p-6f, -0x1.33672ap-7f, -0x1.ba104ap-6f, -0x1.d87abep-6f,
         -0x1.6014f6p-6f, -0x1.99576ap-7f, -0x1.834878p-8f, -0x1.307bfep-9f, -0x1.92a536p-11f, -0x1.c336d8p-13f,
         -0x1.aeb7eep-15f, -0x1.5f8600p-17f, -0x1.ebe87ep-20f, -0x1.27b054p-22f},
        {-0x1.253440p-13f, -0x1.0cc886p-6f, -0x1.75881cp-6f, -0x1.193376p-6f, -0x1.8f8252p-8f, 0x1.620b42p-9f,
         0x1.8ed450p-8f, 0x1.61d5bep-8f, 0x1.b465fep-9f, 0x1.a16468p-10f, 0x1.430ba6p-11f, 0x1.9d6c70p-13f,
         0x1.baff1ep-15f, 0x1.90b502p-17f, 0x1.33afa0p-19f, 0x1.92be1cp-22f},
        {-0x1.39c350p-7f, -0x1.bd7556p-8f, 0x1.92881ap-13f, 0x1.5a063cp-8f, 0x1.7cc0a0p-8f, 0x1.a7cff0p-9f,
         0x1.d3657ap-12f, -0x1.f9a82ep-11f, -0x1.1f85d4p-10f, -0x1.7333c2p-11f, -0x1.5f1e32p-12f, -0x1.055690p-13f,
         -0x1.3c24cap-15f, -0x1.3c77b6p-17f, -0x1.090c00p-19f, -0x1.762cfap-22f},
    };
    const vf t = vf_min(vf_set(5.75f), vf_abs(x)), u = vf_fma(t, vf_set(8.0f / 3), vf_set(VEC_ROUNDER));
    const vf r = vf_fma(u - vf_set(VEC_ROUNDER), vf_set(-0.375f), t);
    vf q = vf_pick(vf_load(table[5]), (vi)u);
    for (int i = 4; i >= 0; i--) q = vf_fma(q, r, vf_pick(vf_load(table[i]), (vi)u));
    q = vf_select(vm_le(vf_set(5.7f), t), vf_set(0), q);
    return vf_select(vm_lt(x, vf_set(0)), q, vf_set(1) - q);
}
#else
/* 1/2 + x P(x^2) near zero, behind it exp(-Q(|x|)) or one minus that. */
static inline vf vec_normal_p(vf x)
{
    const vf s = x * x, t = vf_min(vf_set(6), vf_abs(x));
    vf p = vf_fma(vf_set(0x1.0f3e68p-21f), s, vf_set(-0x1.36a5dep-17f));
    p = vf_fma(p, s, vf_set(0x1.e4aa40p-14f));
    p = vf_fma(p, s, vf_set(-0x1.375db2p-10f));
    p = vf_fma(p, s, vf_set(0x1.46d342p-7f));
    p = vf_fma(p, s, vf_set(-0x1.105856p-4f));
    p = vf_fma(p, s, vf_set(0x1.988454p-2f));
    p = vf_fma(p, x, vf_set(0.5f));
    vf q = vf_fma(vf_set(0x1.1923dcp-16f), t, vf_set(-0x1.c139eap-12f));
    q = vf_fma(q, t, vf_set(0x1.435af8p-8f));
    q = vf_fma(q, t, vf_set(-0x1.1e14eap-5f));
    q = vf_fma(q, t, vf_set(-0x1.493706p-2f));
    q = vf_fma(q, t, vf_set(-0x1.97086cp-1f));
    q = vf_fma(q, t, vf_set(-0x1.63672ep-1f));
    q = vf_select(vm_lt(t, vf_set(5.7f)), vec_exp_inside(q), vf_set(0));
    return vf_select(vm_lt(t, vf_set(1.3125f)), p, vf_select(vm_lt(x, vf_set(0)), q, vf_set(1) - q));
}
#endif

#if VEC_FMA
/* sin(x + quarter pi/2). The three parts of pi/2 need the fused product, so without it these two stay with libm. */
static inline vf vec_sine(vf x, int quarter, float (*libm)(float))
{
    const vf t = vf_fma(x, vf_set(0.636619772f), vf_set(VEC_ROUNDER)), n = t - vf_set(VEC_ROUNDER);
    vf r = vf_fma(n, vf_set(-1.57079637e+0f), x);
    r = vf_fma(n, vf_set(4.37113883e-8f), r);
    r = vf_fma(n, vf_set(1.71512489e-15f), r);
    const vf s = r * r;
    vf p = vf_fma(vf_set(-0x1.99547ap-13f), s, vf_set(0x1.11077ap-7f));
    p = vf_fma(p, s, vf_set(-0x1.555546p-3f));
    p = vf_fma(p, r * s, r);
    vf q = vf_fma(vf_set(0x1.99e9c2p-16f), s, vf_set(-0x1.6c0c2cp-10f));
    q = vf_fma(q, s, vf_set(0x1.55554ap-5f));
    q = vf_fma(q, s, vf_set(-0.5f));
    q = vf_fma(q, s, vf_set(1));
    const vi k = (vi)t + quarter;
    vf y = vf_select(vm_eq_int(k & 1, vi_set(0)), p, q);
    y = (vf)((vi)y ^ ((k & 2) << 30));
    if (quarter == 0) y = vf_select(vm_lt(vf_abs(x), vf_set(0x1p-12f)), x, y);
    const vm far = (vm)~vm_lt(vf_abs(x), vf_set(65536));
    if (vm_any(far)) {
        float in[LANES], out[LANES];
        vf_store(in, x);
        vf_store(out, y);
        for (int i = 0; i < LANES; i++)
            if (!(fabsf(in[i]) < 65536)) out[i] = libm(in[i]);
        y = vf_load(out);
    }
    return y;
}
static inline vf vec_sin(vf x) { return vec_sine(x, 0, sinf); }
static inline vf vec_cos(vf x) { return vec_sine(x, 1, cosf); }
#endif

#endif
