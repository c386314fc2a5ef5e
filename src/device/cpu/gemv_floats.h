/* SPDX-License-Identifier: Apache-2.0 */
/* gemv_floats.h - dots and sums of gemv.h for a matrix of one dtype; included by gemv_impl.h, which defines before:
 *   T             an element
 *   NAME(x)       x with the suffix of the dtype
 *   LOAD(p)       LANES elements as floats
 *   LOAD_N(p, n)  the first n of them, then zeros; no others are touched */

INLINE void NAME(dots_step)(const int rows, const int columns, const float *x, int64_t x_row, const T *b,
                            int64_t b_step, vf sum[AT_A_TIME][COLUMNS])
{
    if (rows == 1) { /* registers have no room for all columns of B */
        const vf v = vf_load(x);
        UNROLL for (int j = 0; j < columns; j++) sum[0][j] = vf_fma(v, LOAD(b + j * b_step), sum[0][j]);
        return;
    }
    vf w[COLUMNS];
    UNROLL for (int j = 0; j < columns; j++) w[j] = LOAD(b + j * b_step);
    UNROLL for (int i = 0; i < rows; i++)
    {
        const vf v = vf_load(x + i * x_row);
        UNROLL for (int j = 0; j < columns; j++) sum[i][j] = vf_fma(v, w[j], sum[i][j]);
    }
}

/* The last k < LANES elements of the sums. */
static __attribute__((noinline)) void NAME(dots_tail)(int rows, int columns, int64_t k, const float *x, int64_t x_row,
                                                      const T *b, int64_t b_step, float *y, int64_t y_row)
{
    for (int j = 0; j < columns; j++) {
        const vf w = LOAD_N(b + j * b_step, k);
        for (int i = 0; i < rows; i++) y[i * y_row + j] += vf_sum(vf_load_n(x + i * x_row, k) * w);
    }
}

/* Lines of the columns behind these are asked for meanwhile: no prefetcher follows so many columns, which are often a page each. */
INLINE void NAME(dots_block)(const int rows, const int columns, int64_t k, const float *x, int64_t x_row, const T *b,
                             int64_t b_step, float *y, int64_t y_row)
{
    enum { LINE = 64 / sizeof(T) };
    const int64_t ahead = ask_ahead(columns * b_step, sizeof(T));
    vf sum[AT_A_TIME][COLUMNS];
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < columns; j++) sum[i][j] = vf_set(0);
    int64_t p = 0;
    for (; p + LANES <= k; p += LANES) {
        if (p % LINE == 0)
            UNROLL for (int j = 0; j < columns; j++) __builtin_prefetch(b + j * b_step + p + ahead, 0, SECOND_CACHE);
        NAME(dots_step)(rows, columns, x + p, x_row, b + p, b_step, sum);
    }
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < columns; j++) y[i * y_row + j] = vf_sum(sum[i][j]);
    if (p < k) NAME(dots_tail)(rows, columns, k - p, x + p, x_row, b + p, b_step, y, y_row);
}

/* Columns [from, to) for `rows` rows of x from `first` on. */
INLINE void NAME(dots_some)(const int rows, const int columns, const sp__gemv_part *part, int first, int64_t from,
                            int64_t to)
{
    const float *x = (const float *)part->x + first * part->x_row;
    const T *b = part->b;
    float *y = (float *)part->y + first * part->y_row;
    int64_t j = from;
    for (; j + columns <= to; j += columns)
        NAME(dots_block)(rows, columns, part->k, x, part->x_row, b + j * part->b_step, part->b_step, y + j,
                         part->y_row);
    for (; j < to; j++) NAME(dots_block)(rows, 1, part->k, x, part->x_row, b + j * part->b_step, 0, y + j, part->y_row);
}

static void NAME(dots)(const sp__gemv_part *part)
{
    const int64_t step = part->rows > AT_A_TIME ? DOTS_COLUMNS : part->n;
    for (int64_t from = 0; from < part->n; from += step) {
        const int64_t to = part->n - from < step ? part->n : from + step;
        for (int first = 0; first < part->rows; first += AT_A_TIME) switch (part->rows - first) {
            case 1: NAME(dots_some)(1, 8, part, first, from, to); break;
            case 2: NAME(dots_some)(2, 4, part, first, from, to); break;
            case 3: NAME(dots_some)(3, 3, part, first, from, to); break;
            default: NAME(dots_some)(4, 3, part, first, from, to);
            }
    }
}

/* `depth` rows of B into sums of `vectors` vectors. They stay in the first cache between calls, so that memory is read in long runs. */
INLINE void NAME(sums_block)(const int rows, const int vectors, int depth, float x[AT_A_TIME][DEPTH], const T *b,
                             int64_t b_step, float *y, int64_t y_row, bool add)
{
    vf sum[AT_A_TIME][VECTORS];
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int l = 0; l < vectors; l++) sum[i][l] =
        add ? vf_load(y + i * y_row + l * LANES) : vf_set(0);
    for (int d = 0; d < depth; d++) {
        vf w[VECTORS];
        UNROLL for (int l = 0; l < vectors; l++) w[l] = LOAD(b + d * b_step + l * LANES);
        UNROLL for (int i = 0; i < rows; i++)
        {
            const vf v = vf_set(x[i][d]);
            UNROLL for (int l = 0; l < vectors; l++) sum[i][l] = vf_fma(v, w[l], sum[i][l]);
        }
    }
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int l = 0; l < vectors; l++)
        vf_store(y + i * y_row + l * LANES, sum[i][l]);
}

/* The last n < LANES columns. */
static __attribute__((noinline)) void NAME(sums_edge)(int rows, int depth, int64_t n, float x[AT_A_TIME][DEPTH],
                                                      const T *b, int64_t b_step, float *y, int64_t y_row, bool add)
{
    for (int i = 0; i < rows; i++) {
        vf sum = add ? vf_load_n(y + i * y_row, n) : vf_set(0);
        for (int d = 0; d < depth; d++) sum = vf_fma(vf_set(x[i][d]), LOAD_N(b + d * b_step, n), sum);
        vf_store_n(y + i * y_row, sum, n);
    }
}

/* Rows of B [from, to) for `rows` rows of x from `first` on. */
INLINE void NAME(sums_some)(const int rows, const int vectors, const sp__gemv_part *part, int first, int64_t from,
                            int64_t to)
{
    const int64_t x_row = part->x_row, x_step = part->x_step, b_step = part->b_step, y_row = part->y_row, n = part->n;
    for (int64_t p = from; p < to; p += DEPTH) {
        const int depth = to - p < DEPTH ? (int)(to - p) : DEPTH;
        const float *x = (const float *)part->x + first * x_row + p * x_step;
        const T *b = (const T *)part->b + p * b_step;
        float *y = (float *)part->y + first * y_row, xs[AT_A_TIME][DEPTH];
        gather(rows, depth, x, x_row, x_step, xs);
        int64_t j = 0;
        for (; j + vectors * LANES <= n; j += vectors * LANES)
            NAME(sums_block)(rows, vectors, depth, xs, b + j, b_step, y + j, y_row, p > 0);
        for (; j + LANES <= n; j += LANES) NAME(sums_block)(rows, 1, depth, xs, b + j, b_step, y + j, y_row, p > 0);
        if (j < n) NAME(sums_edge)(rows, depth, n - j, xs, b + j, b_step, y + j, y_row, p > 0);
    }
}

static void NAME(sums)(const sp__gemv_part *part)
{
    const int64_t step = part->rows > AT_A_TIME ? SUMS_DEPTH : part->k;
    for (int64_t from = 0; from < part->k; from += step) {
        const int64_t to = part->k - from < step ? part->k : from + step;
        for (int first = 0; first < part->rows; first += AT_A_TIME) switch (part->rows - first) {
            case 1: NAME(sums_some)(1, 4, part, first, from, to); break;
            case 2: NAME(sums_some)(2, 4, part, first, from, to); break;
            case 3: NAME(sums_some)(3, 3, part, first, from, to); break;
            default: NAME(sums_some)(4, 2, part, first, from, to);
            }
    }
}

#undef T
#undef NAME
#undef LOAD
#undef LOAD_N
