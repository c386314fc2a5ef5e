/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.cl - reductions. reduce.c defines T, LD (input), To, STo (result), A (accumulator), GROUP, START(v), STEP(acc, v), MERGE x with y, FINISH(acc),
 * KEEP(o) and REST(q): where output o and the q-th run of reduced elements begin; PARAMETERS: the strides these use. */
FOLD_GROUP(fold_group, A, MERGE)
inline A merge(A x, A y) { return MERGE; }

/* A group for each output: its items go along the last reduced dimension. */
__kernel void rows(__global const T *x, const ulong x_at, __global To *o, const ulong o_at, const IDX outer, const IDX inner,
                   const IDX step, const float count PARAMETERS)
{
    ROOM(A, room)
    const IDX at = (IDX)get_group_id(0), me = (IDX)get_local_id(0);
    x += x_at + KEEP(at);
    A acc[16];
    for (int k = 0; k < 16; k++) acc[k] = START(LD(x, 0));
    for (IDX q = 0; q < outer; q++) {
        __global const T *run = x + REST(q);
        IDX i = me;
        for (; i + 15 * GROUP < inner; i += 16 * GROUP)
            for (int k = 0; k < 16; k++) { STEP(acc[k], LD(run, (i + k * GROUP) * STRIDE)) }
        for (; i < inner; i += GROUP) { STEP(acc[0], LD(run, i * STRIDE)) }
    }
    for (int half_ = 8; half_ > 0; half_ /= 2)
        for (int k = 0; k < half_; k++) {
            acc[k] = merge(acc[k], acc[k + half_]);
        }
    const A all = fold_group(acc[0], room);
    if (me == 0) STo(o, o_at + at, FINISH(all));
}

/* An item for WIDTH neighbouring outputs, which are neighbours in memory, too. */
__kernel void columns(__global const T *x, const ulong x_at, __global To *o, const ulong o_at, const IDX outer, const IDX inner,
                      const IDX step, const float count, const IDX outputs, const IDX run_length PARAMETERS)
{
    const IDX blocks = (run_length + WIDTH - 1) / WIDTH, item = (IDX)get_global_id(0);
    const IDX first = item / blocks * run_length + item % blocks * WIDTH;
    if (first >= outputs) return;
    const IDX left = run_length - item % blocks * WIDTH;
    x += x_at + KEEP(first);
    A acc[WIDTH];
    if (left >= WIDTH) {
        for (int k = 0; k < WIDTH; k++) acc[k] = START(LD(x, k));
        for (IDX q = 0; q < outer; q++) {
            __global const T *run = x + REST(q);
            for (IDX i = 0; i < inner; i++)
                for (int k = 0; k < WIDTH; k++) { STEP(acc[k], LD(run, i * step + k)) }
        }
        for (int k = 0; k < WIDTH; k++) STo(o, o_at + first + k, FINISH(acc[k]));
        return;
    }
    for (int k = 0; k < left; k++) {
        A one = START(LD(x, k));
        for (IDX q = 0; q < outer; q++) {
            __global const T *run = x + REST(q);
            for (IDX i = 0; i < inner; i++) { STEP(one, LD(run, i * step + k)) }
        }
        STo(o, o_at + first + k, FINISH(one));
    }
}
