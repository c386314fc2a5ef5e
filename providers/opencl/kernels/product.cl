/* SPDX-License-Identifier: Apache-2.0 */
/* product.cl - products of matrices whose elements are found by functions: c(m, n) = sum over k of a(m, k) b(k, n).
 *
 * The includer defines T, LD, ST, C, TM, TN (what an item computes), PARAMETERS, BATCH (code that sets things up for get_global_id(2)), and
 *     A_AT(m, k)                      a's element
 *     COLUMN(n)    K_STEP(k)          code before: what all elements of a column, of a step, share; a column's variables are arrays indexed by q
 *     B_AT(q)                         b's element in column q of the tile at the step
 *     B_ROW                           all columns of a tile at once, where they are neighbours in memory; may be left out
 *     PUT(m, q, v)                    store
 * GATHER instead of the last three for b: K_START(k) and K_NEXT keep ky, kx and k_at, COLUMN sets cy[q], cx[q] and at[q]; the element of a column is at
 * at[q] + k_at where cy[q] + ky and cx[q] + kx lie in GH x GW, else zero: no division and no branch in the loop.
 * tiles: every item alone, for CPUs. groups: tiles of local memory, for GPUs (GM x GN items). */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define BLOCK 256
#define CV JOIN(C, TN)
#define V_LOAD JOIN(vload, TN)
#define V_STORE JOIN(vstore, TN)
#ifdef GATHER
#define IV int16
#define UV uint16
#define UV_ as_uint16
#define I_LOAD vload16
#define PICK(p, i)                                                                                                     \
    (CV)(LD(p, i.s0), LD(p, i.s1), LD(p, i.s2), LD(p, i.s3), LD(p, i.s4), LD(p, i.s5), LD(p, i.s6), LD(p, i.s7),       \
         LD(p, i.s8), LD(p, i.s9), LD(p, i.sa), LD(p, i.sb), LD(p, i.sc), LD(p, i.sd), LD(p, i.se), LD(p, i.sf))
#endif

__kernel void tiles(const int M, const int N, const int K PARAMETERS)
{
    const int m0 = (int)get_global_id(0) * TM, n0 = (int)get_global_id(1) * TN;
    if (m0 >= M || n0 >= N) return;
    BATCH
    COLUMNS
    for (int q = 0; q < TN; q++) {
        const int n = n0 + q < N ? n0 + q : N - 1;
        COLUMN(n)
    }
#ifdef GATHER
    const IV y0 = I_LOAD(0, cy), x0 = I_LOAD(0, cx), at0 = I_LOAD(0, at);
#endif
    const bool whole = n0 + TN <= N;
    CV acc[TM];
    int rows[TM];
    for (int r = 0; r < TM; r++) {
        acc[r] = 0;
        rows[r] = m0 + r < M ? m0 + r : M - 1;
    }
    for (int k0 = 0; k0 < K; k0 += BLOCK) { /* sums of blocks, so that errors do not grow with k */
    CV part[TM];
    for (int r = 0; r < TM; r++) part[r] = 0;
#ifdef GATHER
    K_START(k0)
    for (int k = k0; k < min(k0 + BLOCK, K); k++) {
        const IV ok = (UV_(y0 + ky) < (UV)(GH)) & (UV_(x0 + kx) < (UV)(GW)), from = (at0 + k_at) & ok;
        const CV step_b = select((CV)0, PICK(b, from), ok);
        for (int r = 0; r < TM; r++) part[r] = mad_((CV)A_AT(rows[r], k), step_b, part[r]);
        K_NEXT
    }
#else
    for (int k = k0; k < min(k0 + BLOCK, K); k++) {
        K_STEP(k)
        CV step_b;
#ifdef B_ROW
        if (whole) step_b = B_ROW;
        else
#endif
        {
            C one[TN];
            for (int q = 0; q < TN; q++) one[q] = B_AT(q);
            step_b = V_LOAD(0, one);
        }
        for (int r = 0; r < TM; r++) part[r] = mad_((CV)A_AT(rows[r], k), step_b, part[r]);
    }
#endif
    for (int r = 0; r < TM; r++) acc[r] += part[r];
    }
    for (int r = 0; r < TM; r++) {
        C one[TN];
        V_STORE(acc[r], 0, one);
        for (int q = 0; q < TN; q++)
            if (m0 + r < M && n0 + q < N) { PUT(m0 + r, q, one[q]) }
    }
}

#ifndef GATHER
#define TK 8
__kernel __attribute__((reqd_work_group_size(GM, GN, 1))) void groups(const int M, const int N, const int K PARAMETERS)
{
    __local C a_tile[TK][GM * TM], b_tile[TK][GN * TN];
    const int lm = (int)get_local_id(0), ln = (int)get_local_id(1), me = ln * GM + lm;
    const int m_first = (int)get_group_id(0) * (GM * TM), n_first = (int)get_group_id(1) * (GN * TN);
    BATCH
    COLUMNS
    C acc[TM][TN], part[TM][TN];
    for (int r = 0; r < TM; r++)
        for (int q = 0; q < TN; q++) acc[r][q] = part[r][q] = 0;
    for (int k0 = 0; k0 < K; k0 += TK) {
        for (int e = me; e < TK * GM * TM; e += GM * GN) {
            const int m = m_first + e % (GM * TM), k = k0 + e / (GM * TM);
            a_tile[e / (GM * TM)][e % (GM * TM)] = m < M && k < K ? A_AT(m, k) : 0;
        }
        for (int e = me; e < TK * GN * TN; e += GM * GN) {
            const int n = n_first + e % (GN * TN), k = k0 + e / (GN * TN);
            C v = 0;
            if (n < N && k < K) {
                const int q = 0;
                COLUMN(n)
                K_STEP(k)
                v = B_AT(q);
            }
            b_tile[e / (GN * TN)][e % (GN * TN)] = v;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TK; k++)
            for (int r = 0; r < TM; r++)
                for (int q = 0; q < TN; q++)
                    part[r][q] = mad_(a_tile[k][lm * TM + r], b_tile[k][ln * TN + q], part[r][q]);
        if ((k0 + TK) % BLOCK == 0 || k0 + TK >= K)
            for (int r = 0; r < TM; r++)
                for (int q = 0; q < TN; q++) {
                    acc[r][q] += part[r][q];
                    part[r][q] = 0;
                }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int c_ = 0; c_ < TN; c_++) {
        const int n = n_first + ln * TN + c_;
        if (n >= N) continue;
        const int q = 0;
        COLUMN(n)
        for (int r = 0; r < TM; r++) {
            const int m = m_first + lm * TM + r;
            if (m < M) { PUT(m, q, acc[r][c_]) }
        }
    }
}
#endif
