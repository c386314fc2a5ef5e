/* SPDX-License-Identifier: Apache-2.0 */
/* attend.cl - rows of scores of attention, a group for each: scaled, masked and made probabilities in place; and the way back. */
FOLD_GROUP(group_sum, C, x + y)
FOLD_GROUP(group_max, C, max(x, y))

#ifdef MASKED
#define SCORE(i) (s[i] * scale + LD(mask, mask_at + mask_row + i))
#else
#define SCORE(i) (s[i] * scale)
#endif

__kernel void probabilities(__global C *scores, const ulong scores_at, __global const T *mask, const ulong mask_at, const int n_source,
                            const int n_length, const int causal, const float scale, const int d0, const int d1, const long m0, const long m1,
                            const long m2)
{
    ROOM(C, room)
    const int row = (int)get_group_id(0), me = (int)get_local_id(0), at = row % n_length, item = row / n_length;
    const int n = causal ? min(n_source, at + 1) : n_source;
    const long mask_row = item / (d0 * d1) * m0 + item / d1 % d0 * m1 + item % d1 * m2 + (long)at * n_source;
    __global C *s = scores + scores_at + (ulong)row * n_source;
    C most = -INFINITY;
    for (int i = me; i < n; i += GROUP) {
        const C v = SCORE(i);
        s[i] = v;
        most = max(most, v);
    }
    most = group_max(most, room);
    C own = 0;
    for (int i = me; i < n; i += GROUP) {
        const C v = exp(s[i] - most);
        s[i] = v;
        own += v;
    }
    const C factor = 1 / group_sum(own, room);
    for (int i = me; i < n_source; i += GROUP) s[i] = i < n ? s[i] * factor : 0;
}

/* ds = scale p (dp - sum of dp p), over dp. */
__kernel void scores_grad(__global const C *p, const ulong p_at, __global C *dp, const ulong dp_at, const int n_source, const float scale)
{
    ROOM(C, room)
    const int row = (int)get_group_id(0), me = (int)get_local_id(0);
    p += p_at + (ulong)row * n_source;
    dp += dp_at + (ulong)row * n_source;
    C own = 0;
    for (int i = me; i < n_source; i += GROUP) own += p[i] * dp[i];
    const C sum = group_sum(own, room);
    for (int i = me; i < n_source; i += GROUP) dp[i] = scale * p[i] * (dp[i] - sum);
}
