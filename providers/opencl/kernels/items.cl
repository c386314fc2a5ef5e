/* SPDX-License-Identifier: Apache-2.0 */
/* items.cl - an item for each result, with indices: losses, gather, scatter. A wrong index is told through `fault` and skipped. */
inline void wrong(__global int *fault, int what, long index, long limit)
{
    if (atomic_cmpxchg(&fault[0], 0, what) == 0) {
        fault[1] = (int)index;
        fault[2] = (int)limit;
    }
}

#ifdef NLL
#ifdef WEIGHTED
#define WEIGHT(t) LD(w, w_at + (t))
#else
#define WEIGHT(t) 1
#endif
__kernel void nll(__global int *fault, __global const T *x, const ulong x_at, __global const Ti *target, const ulong target_at,
                  __global const T *w, const ulong w_at, __global T *loss, const ulong loss_at, __global T *weight, const ulong weight_at,
                  const int count, const int n, const int inner, const long ignore)
{
    const int i = (int)get_global_id(0);
    if (i >= count) return;
    const long t = (long)LDi(target, target_at + i);
    C wt = 0, v = 0;
    if (t != ignore) {
        if (t < 0 || t >= n) wrong(fault, 3, t, n);
        else {
            wt = WEIGHT(t);
            v = -wt * LD(x, x_at + ((long)(i / inner) * n + t) * inner + i % inner);
        }
    }
    ST(loss, loss_at + i, v);
    ST(weight, weight_at + i, wt);
}

__kernel void nll_grad(__global int *fault, __global const T *g, const ulong g_at, __global const Ti *target, const ulong target_at,
                       __global const T *w, const ulong w_at, __global T *dx, const ulong dx_at, const int count, const int n,
                       const int inner, const long ignore)
{
    const int e = (int)get_global_id(0);
    if (e >= count) return;
    const int i = e / (n * inner) * inner + e % inner, class_ = e / inner % n;
    const long t = (long)LDi(target, target_at + i);
    if (class_ == 0 && t != ignore && (t < 0 || t >= n)) wrong(fault, 3, t, n);
    C v = 0;
    if (t == class_ && t != ignore) v = -WEIGHT(t) * LD(g, g_at + i);
    ST(dx, dx_at + e, v);
}
#endif

#ifdef INDEX
/* pre x rows x rest of x, by nb indices. */
__kernel void take(__global int *fault, __global const T *x, const ulong x_at, __global const Ti *index, const ulong index_at,
                   __global T *o, const ulong o_at, const int rest, const int nb, const int rows, const int pre)
{
    const int r = (int)get_global_id(0), at = (int)get_global_id(1);
    if (r >= rest || at >= nb * pre) return;
    long i = (long)LDi(index, index_at + at % nb);
    if (i < -rows || i >= rows) {
        if (r == 0) wrong(fault, 1, i, rows);
        return;
    }
    if (i < 0) i += rows;
    o[o_at + (ulong)at * rest + r] = x[x_at + ((ulong)(at / nb) * rows + i) * rest + r];
}

/* Values in their order: an item has WIDTH columns of all rows, so no two items write one element. */
__kernel void put(__global int *fault, __global T *x, const ulong x_at, __global const T *value, const ulong value_at,
                  __global const Ti *index, const ulong index_at, const int rest, const int nb, const int rows, const int pre)
{
    const int first = (int)get_global_id(0) * WIDTH, p = (int)get_global_id(1);
    if (first >= rest || p >= pre) return;
    const int width = rest - first < WIDTH ? rest - first : WIDTH;
    for (int k = 0; k < nb; k++) {
        long i = (long)LDi(index, index_at + k);
        if (i < -rows || i >= rows) {
            if (first == 0) wrong(fault, 2, i, rows);
            continue;
        }
        if (i < 0) i += rows;
        __global T *to = x + x_at + ((ulong)p * rows + i) * rest + first;
        __global const T *from = value + value_at + ((ulong)p * nb + k) * rest + first;
        if (width == WIDTH)
            for (int c = 0; c < WIDTH; c++) { PUT(to, from, c) }
        else
            for (int c = 0; c < width; c++) { PUT(to, from, c) }
    }
}
#endif
