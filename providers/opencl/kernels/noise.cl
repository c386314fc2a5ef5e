/* SPDX-License-Identifier: Apache-2.0 */
/* noise.cl - random numbers, the bits of the CPU's: Philox4x32-10 of the seed and of the state's counter plus the number of a block of four. An item makes
 * a block. */
typedef struct { uint w[4]; } block;

inline block philox(ulong seed, ulong low)
{
    uint k0 = (uint)seed, k1 = (uint)(seed >> 32), c0 = (uint)low, c1 = (uint)(low >> 32), c2 = 0, c3 = 0;
    for (int round = 0; round < 10; round++) {
        const ulong p0 = (ulong)0xD2511F53u * c0, p1 = (ulong)0xCD9E8D57u * c2;
        const uint n0 = (uint)(p1 >> 32) ^ c1 ^ k0, n2 = (uint)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint)p1;
        c3 = (uint)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    block b;
    b.w[0] = c0, b.w[1] = c1, b.w[2] = c2, b.w[3] = c3;
    return b;
}

inline float unit(uint bits) { return (float)(bits >> 8) * 0x1p-24f; }

#define ITEM                                                                                                           \
    const int i = (int)get_global_id(0);                                                                               \
    if (4 * i >= n) return;                                                                                            \
    const block b = philox((ulong)state[state_at], (ulong)state[state_at + 1] + (ulong)i);                             \
    float v[4];
#define PUT_ALL                                                                                                        \
    for (int k = 0; k < 4 && 4 * i + k < n; k++) ST(o, o_at + 4 * i + k, v[k]);

__kernel void uniform_(__global const long *state, const ulong state_at, __global T *o, const ulong o_at, const int n, const float low,
                       const float width, const float high, const float last)
{
    ITEM
    for (int k = 0; k < 4; k++) {
        v[k] = low + unit(b.w[k]) * width;
        if (v[k] >= high && width > 0) v[k] = last;
    }
    PUT_ALL
}

/* log x for x in [2^-24, 1], and Box and Muller with an angle in parts of a turn: the polynomials of src/ops/random.c, without fused multiply-add. */
inline float log_unit(float x)
{
    const int e = (int)(as_uint(x) - 0x3F3504F3u) >> 23;
    const float f = as_float(as_uint(x) - ((uint)e << 23)) - 1, s = f * f;
    float p = 0x1.161ef8p-4f * f + -0x1.e03e4ap-4f;
    p = p * f + 0x1.e73802p-4f;
    p = p * f + -0x1.fbcdc4p-4f;
    p = p * f + 0x1.232cb0p-3f;
    p = p * f + -0x1.555e78p-3f;
    p = p * f + 0x1.99a55cp-3f;
    p = p * f + -0x1.000002p-2f;
    p = p * f + 0x1.555546p-2f;
    const float y = p * f * s - 0.5f * s + (float)e * -2.12194440e-4f;
    return (f + y) + (float)e * 0.693359375f;
}

inline void normal_pair(uint u, uint v, float mean, float deviation, float *first, float *second)
{
    const int turn = (int)(v >> 8), quarter = (turn + (1 << 21)) >> 22;
    const float r = (float)(turn - quarter * (1 << 22)) * (0x1.921fb6p+0f * 0x1p-22f), s = r * r;
    float p = -0x1.99547ap-13f * s + 0x1.11077ap-7f;
    p = p * s + -0x1.555546p-3f;
    p = p * (r * s) + r;
    float q = 0x1.99e9c2p-16f * s + -0x1.6c0c2cp-10f;
    q = q * s + 0x1.55554ap-5f;
    q = q * s + -0.5f;
    q = q * s + 1;
    const uint odd = 0u - ((uint)quarter & 1), sine = (as_uint(q) & odd) | (as_uint(p) & ~odd),
               cosine = (as_uint(p) & odd) | (as_uint(q) & ~odd);
    const float length_ = deviation * sqrt(-2 * log_unit(1 - unit(u)));
    *first = mean + length_ * as_float(cosine ^ ((uint)(quarter + 1) & 2) << 30);
    *second = mean + length_ * as_float(sine ^ ((uint)quarter & 2) << 30);
}

__kernel void normal_(__global const long *state, const ulong state_at, __global T *o, const ulong o_at, const int n, const float mean,
                      const float deviation)
{
    ITEM
    normal_pair(b.w[0], b.w[1], mean, deviation, &v[0], &v[1]);
    normal_pair(b.w[2], b.w[3], mean, deviation, &v[2], &v[3]);
    PUT_ALL
}
