/* SPDX-License-Identifier: Apache-2.0 */
/* recur.cl - one step of recurrent cells for all samples, an item for each hidden unit; products with the weights are done before. MODE: 0 lstm, 1 gru,
 * 2 tanh, 3 relu. Gates in their order: input, forget, cell, output; reset, update, new. */
#define SIGMOID(v) (1 / (1 + exp(-(v))))
#define H hidden
#define ITEM                                                                                                           \
    const int e = (int)get_global_id(0), n = e / H, i = e % H;                                                         \
    if (n >= batch) return;
#if MODE == 0
#define G (4 * H)
#define KEPT (5 * H)
#elif MODE == 1
#define G (3 * H)
#define KEPT (4 * H)
#else
#define G H
#define KEPT 0
#endif
#ifdef BIASED
#define BIAS(k) +bias[bias_at + (k) * H + i]
#else
#define BIAS(k)
#endif
#define X(k) gx[gx_at + (ulong)n * G + (k) * H + i]
#define W(k) (gh[(ulong)n * G + (k) * H + i] BIAS(k))

__kernel void cell_step(__global const C *gx, const ulong gx_at, __global const C *gh, const ulong gh_at, __global const C *bias,
                   const ulong bias_at, __global const C *h, const ulong h_at, __global const C *c, const ulong c_at, const int c_row,
                   __global C *y, const ulong y_at, __global C *kept, const ulong kept_at, const int batch, const int hidden)
{
    ITEM
    gh += gh_at;
#if MODE == 0
    const C in = SIGMOID(X(0) + W(0)), keep = SIGMOID(X(1) + W(1)), new_ = tanh(X(2) + W(2)), show = SIGMOID(X(3) + W(3));
    const C cell = keep * c[c_at + (ulong)n * c_row + i] + in * new_;
    __global C *k = kept + kept_at + (ulong)n * KEPT + i;
    k[0] = in, k[H] = keep, k[2 * H] = new_, k[3 * H] = show, k[4 * H] = cell;
    y[y_at + e] = show * tanh(cell);
#elif MODE == 1
    const C third = W(2), reset = SIGMOID(X(0) + W(0)), hold = SIGMOID(X(1) + W(1)), new_ = tanh(X(2) + reset * third);
    __global C *k = kept + kept_at + (ulong)n * KEPT + i;
    k[0] = reset, k[H] = hold, k[2 * H] = new_, k[3 * H] = third;
    y[y_at + e] = new_ + hold * (h[h_at + e] - new_);
#elif MODE == 2
    y[y_at + e] = tanh(X(0) + W(0));
#else
    const C v = X(0) + W(0);
    y[y_at + e] = v > 0 ? v : 0;
#endif
}

/* dh and dc: towards the state after the step, then before it but for the products. */
__kernel void cell_step_grad(__global const C *dy, const ulong dy_at, __global const C *y, const ulong y_at, __global const C *h, const ulong h_at,
                        __global const C *c, const ulong c_at, const int c_row, __global const C *kept, const ulong kept_at, __global C *dh,
                        const ulong dh_at, __global C *dc, const ulong dc_at, __global C *dgx, const ulong dgx_at, __global C *dgh,
                        const ulong dgh_at, const int batch, const int hidden)
{
    ITEM
    const C d = dh[dh_at + e] + dy[dy_at + e];
    __global C *to_x = dgx + dgx_at + (ulong)n * G + i, *to_h = dgh + dgh_at + (ulong)n * G + i;
#if MODE == 0
    __global const C *k = kept + kept_at + (ulong)n * KEPT + i;
    const C in = k[0], keep = k[H], new_ = k[2 * H], show = k[3 * H], th = tanh(k[4 * H]), before = c[c_at + (ulong)n * c_row + i];
    const C dcell = dc[dc_at + e] + d * show * (1 - th * th);
    to_h[0] = dcell * new_ * in * (1 - in);
    to_h[H] = dcell * before * keep * (1 - keep);
    to_h[2 * H] = dcell * in * (1 - new_ * new_);
    to_h[3 * H] = d * th * show * (1 - show);
    dc[dc_at + e] = dcell * keep;
    dh[dh_at + e] = 0;
    for (int g = 0; g < 4; g++) to_x[g * H] = to_h[g * H];
#elif MODE == 1
    __global const C *k = kept + kept_at + (ulong)n * KEPT + i;
    const C reset = k[0], hold = k[H], new_ = k[2 * H], third = k[3 * H], dn = d * (1 - hold) * (1 - new_ * new_);
    to_h[0] = dn * third * reset * (1 - reset);
    to_h[H] = d * (h[h_at + e] - new_) * hold * (1 - hold);
    to_h[2 * H] = dn * reset;
    dh[dh_at + e] = d * hold;
    to_x[0] = to_h[0], to_x[H] = to_h[H], to_x[2 * H] = dn;
#else
    const C v = y[y_at + e];
    to_h[0] = MODE == 2 ? d * (1 - v * v) : v > 0 ? d : 0;
    dh[dh_at + e] = 0;
    to_x[0] = to_h[0];
#endif
}

/* out[k] = sum over rows of x[row][k]. */
__kernel void row_sums(__global const C *x, const ulong x_at, __global C *o, const ulong o_at, const int rows, const int n)
{
    const int k = (int)get_global_id(0);
    if (k >= n) return;
    C sum = 0;
    for (int r = 0; r < rows; r++) sum += x[x_at + (ulong)r * n + k];
    o[o_at + k] = sum;
}
