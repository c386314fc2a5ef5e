/* SPDX-License-Identifier: Apache-2.0 */
/* blocks_points.h - part of blocks_impl.h: the last block of a convolution's sums, finished in registers and stored in blocks of channels. The sums are
 * those of `points` in gemm_micro.h, in the same order. With few input channels the way by a tile in memory costs as much as the sums. */

enum { POINTS = LANES == 16 ? 14 : 6 };

#if defined(__AVX512F__)
/* Half a vector: 24 channels are a vector and a half, which take three quarters of the time of two. */
typedef __m256 vh;
INLINE vh vh_zero(void) { return _mm256_setzero_ps(); }
INLINE vh vh_fma(vf x, const float *w, vh sum)
{
    return _mm256_fmadd_ps(_mm512_castps512_ps256(x), _mm256_loadu_ps(w), sum);
}
INLINE vf vh_wide(vh v) { return _mm512_zextps256_ps512(v); }
enum { HALVES = 1 };
#else
typedef vf vh;
INLINE vh vh_zero(void) { return vf_set(0); }
INLINE vh vh_fma(vf x, const float *w, vh sum) { return vf_fma(x, vf_load(w), sum); }
INLINE vf vh_wide(vh v) { return v; }
enum { HALVES = 0 };
#endif

/* Registers can only be numbered: every loop over them must be gone before the compiler decides what lies in memory. */
#define EACH_ROW _Pragma("GCC unroll 16") for (int i = 0; i < rows; i++)

/* kind: 1 and 2 are whole vectors, 3 a vector and a half. */
INLINE void points_sums(const int rows, const int kind, const int64_t step, const sp__block_points *p,
                        vf acc[POINTS][2])
{
    const int whole = kind == 2 ? 2 : 1;
    const float *w = p->weights;
    vh half[POINTS];
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < whole; j++) acc[i][j] = vf_set(0);
        half[i] = vh_zero();
    }
    for (int64_t k = 0; k < p->k; k++, w += 2 * LANES) {
        const float *from = p->x + p->offsets[k];
        vf wv[2];
        for (int j = 0; j < (kind == 1 || LANES == 8 ? 1 : 2); j++)
            __builtin_prefetch(w + 16 * 2 * LANES + j * LANES);        /* large weights come from far away */
        if (LANES == 8) __builtin_prefetch(w + 512 * 2 * LANES, 0, 2); /* and the next panel's from memory */
        for (int j = 0; j < whole; j++) wv[j] = vf_load(w + j * LANES);
        for (int i = 0; i < rows; i++) {
            const vf x = vf_set(from[i * step]);
            for (int j = 0; j < whole; j++) acc[i][j] = vf_fma(x, wv[j], acc[i][j]);
            if (kind == 3) half[i] = vh_fma(x, w + LANES, half[i]);
        }
    }
    if (kind == 3) EACH_ROW acc[i][1] = vh_wide(half[i]);
}

/* One test of a kind of tail for all the rows of a vector, whose sums stay in registers; so there is room for two more vectors only. */
INLINE void points_finish(const int rows, const sp__block_points *p, const int j, vf acc[POINTS][2])
{
    const sp__block_tail *t = p->tail;
    const int64_t channel = j * LANES, at = channel / SP_BLOCK * p->block_step + channel % SP_BLOCK;
    if (p->begun) EACH_ROW acc[i][j] = vf_load(p->begun + i * 2 * LANES + channel) + acc[i][j];
    if (t->bias) {
        const vf bias = channels_load(t->bias, p->n, channel);
        EACH_ROW acc[i][j] = acc[i][j] + bias;
    }
    if (t->scale) {
        const vf scale = channels_load(t->scale, p->n, channel), shift = channels_load(t->shift, p->n, channel);
        EACH_ROW acc[i][j] = acc[i][j] * scale + shift;
    }
    if (p->residual) EACH_ROW acc[i][j] = acc[i][j] + vf_load(p->residual + at + i * SP_BLOCK);
    if (t->slope) {
        const vf slope = channels_load(t->slope, p->n, channel), zero = vf_set(0);
        if (t->activation == SP_BLOCKED_PRELU)
            EACH_ROW acc[i][j] = vf_select(vm_lt(zero, acc[i][j]), acc[i][j], acc[i][j] * slope);
        else EACH_ROW acc[i][j] = vf_select(vm_lt(acc[i][j], zero), acc[i][j] * slope, acc[i][j]);
        EACH_ROW vf_store(p->out + at + i * SP_BLOCK, acc[i][j]);
        return;
    }
    if (t->activation == SP_BLOCKED_RELU6) EACH_ROW acc[i][j] = vf_min(vf_set(6), acc[i][j]);
    if (t->activation != SP_BLOCKED_AS_IT_IS)
        EACH_ROW acc[i][j] = vf_select((vm)~vm_le(acc[i][j], vf_set(0)), acc[i][j], vf_set(0));
    EACH_ROW vf_store(p->out + at + i * SP_BLOCK, acc[i][j]);
}

INLINE void points_as(const int rows, const int kind, const int64_t step, const sp__block_points *p)
{
    vf acc[POINTS][2];
    points_sums(rows, kind, step, p, acc);
    points_finish(rows, p, 0, acc);
    if (kind != 1) points_finish(rows, p, 1, acc);
    if (PARTS > 1 && kind == 1) /* the rest of the block */
        for (int i = 0; i < rows; i++) vf_store(p->out + LANES + i * SP_BLOCK, vf_set(0));
}

/* A step that is known makes addresses of the positions part of the instructions. Steps: of blocks, of blocks with a stride of two, of a plain image with one. */
#define POINTS_KIND(r, kind)                                                                                           \
    static void points_##r##_##kind(const sp__block_points *p)                                                         \
    {                                                                                                                  \
        if (p->step == SP_BLOCK) points_as(r, kind, SP_BLOCK, p);                                                      \
        else if (p->step == 2) points_as(r, kind, 2, p);                                                               \
        else points_as(r, kind, 2 * SP_BLOCK, p);                                                                      \
    }
#define POINTS_ROWS(r) POINTS_KIND(r, 1) POINTS_KIND(r, 2) POINTS_KIND(r, 3)
#define POINTS_LOW(kind)                                                                                               \
    points_1_##kind, points_2_##kind, points_3_##kind, points_4_##kind, points_5_##kind, points_6_##kind
#define POINTS_HIGH(kind)                                                                                              \
    points_7_##kind, points_8_##kind, points_9_##kind, points_10_##kind, points_11_##kind, points_12_##kind,           \
        points_13_##kind, points_14_##kind
POINTS_ROWS(1)
POINTS_ROWS(2)
POINTS_ROWS(3)
POINTS_ROWS(4)
POINTS_ROWS(5)
POINTS_ROWS(6)
#if defined(__AVX512F__)
POINTS_ROWS(7)
POINTS_ROWS(8)
POINTS_ROWS(9)
POINTS_ROWS(10)
POINTS_ROWS(11)
POINTS_ROWS(12)
POINTS_ROWS(13)
POINTS_ROWS(14)
#define POINTS_ALL(kind) {POINTS_LOW(kind), POINTS_HIGH(kind)}
#else
#define POINTS_ALL(kind) {POINTS_LOW(kind)}
#endif

static void points(int64_t rows, const sp__block_points *p)
{
    static void (*const all[3][POINTS])(const sp__block_points *) = {POINTS_ALL(1), POINTS_ALL(2), POINTS_ALL(3)};
    const int kind = p->n <= LANES ? 0 : HALVES && p->n <= LANES + LANES / 2 ? 2 : 1;
    all[kind][rows - 1](p);
}
