/* SPDX-License-Identifier: Apache-2.0 */
/* pool.cl - largest and mean values of windows in planes of ih x iw; an item for each result. ADAPTIVE: windows are given by their number. */
#define SIZES                                                                                                          \
    const int planes, const int ih, const int iw, const int oh, const int ow, const int kh, const int kw, const int sy, const int sx,  \
        const int dy, const int dx, const int py, const int px, const int ey, const int ex, const int divisor, const int include_pad

#ifdef ADAPTIVE
#define BEGIN(o, in, out, s, p, d) ((int)((long)(o) * (in) / (out)))
#define END(o, in, out, s, p, d, k) ((int)(((long)(o) + 1) * (in) + (out) - 1) / (out))
#define FIRST(i, in, out, s, p, d, k) ((int)((long)(i) * (out) / (in)))
#define LAST(i, in, out, s, p, d, k) ((int)((((long)(i) + 1) * (out) - 1) / (in)))
#else
inline int begin_of(int o, int s, int p, int d)
{
    const int b = o * s - p;
    return b < 0 ? b + (-b + d - 1) / d * d : b;
}
#define BEGIN(o, in, out, s, p, d) begin_of(o, s, p, d)
#define END(o, in, out, s, p, d, k) min((o) * (s) - (p) + (d) * ((k) - 1) + 1, in)
#define FIRST(i, in, out, s, p, d, k) max(0, ((i) + (p) - (d) * ((k) - 1) + (s) - 1) / (s))
#define LAST(i, in, out, s, p, d, k) min((out) - 1, ((i) + (p)) / (s))
#endif
#define BEGIN_Y(o) BEGIN(o, ih, oh, sy, py, dy)
#define END_Y(o) END(o, ih, oh, sy, py, dy, kh)
#define BEGIN_X(o) BEGIN(o, iw, ow, sx, px, dx)
#define END_X(o) END(o, iw, ow, sx, px, dx, kw)

/* Where the largest value of window (oy, ox) is: the first of equals; NaN loses against any number. */
inline int largest(__global const T *x, ulong at, int oy, int ox, SIZES)
{
    const int y0 = BEGIN_Y(oy), y1 = END_Y(oy), x0 = BEGIN_X(ox), x1 = END_X(ox);
    int best = y0 * iw + x0;
    C most = LD(x, at + best);
    for (int y = y0; y < y1; y += dy)
        for (int c = x0; c < x1; c += dx) {
            const C v = LD(x, at + y * iw + c);
            if (v > most || (most != most && v == v)) most = v, best = y * iw + c;
        }
    return best;
}
#define PASSED planes, ih, iw, oh, ow, kh, kw, sy, sx, dy, dx, py, px, ey, ex, divisor, include_pad

inline int counted(int oy, int ox, SIZES)
{
    if (divisor) return divisor;
#ifndef ADAPTIVE
    if (include_pad) return min(kh, ih + ey - (oy * sy - py)) * min(kw, iw + ex - (ox * sx - px));
#endif
    return (END_Y(oy) - BEGIN_Y(oy)) * (END_X(ox) - BEGIN_X(ox));
}

__kernel void max_pool(__global const T *x, const ulong x_at, __global T *o, const ulong o_at, SIZES)
{
    const int i = (int)get_global_id(0), plane = i / (oh * ow), p = i % (oh * ow);
    if (plane >= planes) return;
    const ulong at = x_at + (ulong)plane * ih * iw;
    ST(o, o_at + i, LD(x, at + largest(x, at, p / ow, p % ow, PASSED)));
}

__kernel void mean_pool(__global const T *x, const ulong x_at, __global T *o, const ulong o_at, SIZES)
{
    const int i = (int)get_global_id(0), plane = i / (oh * ow), p = i % (oh * ow), oy = p / ow, ox = p % ow;
    if (plane >= planes) return;
    const ulong at = x_at + (ulong)plane * ih * iw;
    C sum = 0;
    const int y1 = END_Y(oy), x1 = END_X(ox);
    for (int y = BEGIN_Y(oy); y < y1; y++)
        for (int c = BEGIN_X(ox); c < x1; c++) sum += LD(x, at + y * iw + c);
    ST(o, o_at + i, sum / counted(oy, ox, PASSED));
}

/* An input's gradient: from the windows that chose it. */
__kernel void max_grad(__global const T *x, const ulong x_at, __global const T *g, const ulong g_at, __global T *o, const ulong o_at, SIZES)
{
    const int i = (int)get_global_id(0), plane = i / (ih * iw), p = i % (ih * iw);
    if (plane >= planes) return;
    const ulong at = x_at + (ulong)plane * ih * iw;
    C sum = 0;
    const int y1 = LAST(p / iw, ih, oh, sy, py, dy, kh), x1 = LAST(p % iw, iw, ow, sx, px, dx, kw);
    for (int oy = FIRST(p / iw, ih, oh, sy, py, dy, kh); oy <= y1; oy++)
        for (int ox = FIRST(p % iw, iw, ow, sx, px, dx, kw); ox <= x1; ox++)
            if (largest(x, at, oy, ox, PASSED) == p) sum += LD(g, g_at + ((ulong)plane * oh + oy) * ow + ox);
    ST(o, o_at + i, sum);
}

__kernel void mean_grad(__global const T *g, const ulong g_at, __global T *o, const ulong o_at, SIZES)
{
    const int i = (int)get_global_id(0), plane = i / (ih * iw), p = i % (ih * iw), y = p / iw, c = p % iw;
    if (plane >= planes) return;
    C sum = 0;
    const int y1 = LAST(y, ih, oh, sy, py, dy, kh), x1 = LAST(c, iw, ow, sx, px, dx, kw);
    for (int oy = FIRST(y, ih, oh, sy, py, dy, kh); oy <= y1; oy++)
        for (int ox = FIRST(c, iw, ow, sx, px, dx, kw); ox <= x1; ox++)
            if (y >= BEGIN_Y(oy) && y < END_Y(oy) && c >= BEGIN_X(ox) && c < END_X(ox))
                sum += LD(g, g_at + ((ulong)plane * oh + oy) * ow + ox) / counted(oy, ox, PASSED);
    ST(o, o_at + i, sum);
}
