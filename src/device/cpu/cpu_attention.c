/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_attention.c - attention of float32 and its gradient, a block of rows of the scores at a time; src/ops/attention.c says what it
 * computes.
 *
 * Keys (and, backwards, values) are turned and packed once per item for the product's inner kernel. Then a block of rows goes through
 * product, softmax and product while it is in the second cache. Forward blocks are independent. Backwards an item is one thread's work,
 * because all of its blocks add to the same dk and dv. Tasks are dealt out to SLOTS places with scratch of their own: who computes
 * what does not depend on the number of threads. */
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/product.h"
#include "device/cpu/rows.h"
#include "ir/attention_geometry.h"
#include "spore/ops_attrs.h"

enum { SLOTS = 32, BLOCK_FLOATS = 48 * 1024, ROWS_MOST = 96, ROWS_LEAST = 12 };

typedef struct {
    const sp__gemm_kernels *g;
    const sp__row_kernels *k;
    sp__attention_shape s;
    const sp_call *c;
    float scale;
    bool causal;
    int64_t rows, blocks; /* of a block; per item */
    int64_t
        p_row; /* from row to row of a block of scores: not where a power of two lets rows compete for the first cache */
    int64_t slots, per_slot;    /* floats of scratch of a slot */
    int64_t packed_k, packed_v; /* floats per item */
    float *keys, *values, *scratch;
} attention_job;

static const float *input(const attention_job *j, int i) { return (const float *)(const void *)j->c->in[i]->data; }
static float *output(const attention_job *j, int i) { return (float *)(void *)j->c->out[i]->data; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t line(int64_t floats) { return (floats + 15) / 16 * 16; }

static void plan(const sp_call *c, bool gradient, attention_job *j)
{
    *j = (attention_job){.g = sp__gemm_find(SP_DTYPE_F32),
                         .k = sp__float_rows(),
                         .c = c,
                         .scale = (float)((const sp_attention_attrs *)c->attrs)->scale,
                         .causal = ((const sp_attention_attrs *)c->attrs)->causal};
    sp__attention_measure(c, &j->s);
    const sp__attention_shape *s = &j->s;
    j->rows = BLOCK_FLOATS / (s->source > 0 ? s->source : 1) / ROWS_LEAST * ROWS_LEAST;
    if (j->rows > ROWS_MOST) j->rows = ROWS_MOST;
    if (j->rows < ROWS_LEAST) j->rows = ROWS_LEAST;
    j->blocks = (s->length + j->rows - 1) / j->rows;
    const int64_t tasks = gradient ? s->n : s->n * j->blocks;
    j->slots = tasks < SLOTS ? tasks : SLOTS;
    j->packed_k = line(sp__product_packed(j->g, s->source, s->size));
    j->packed_v = gradient ? line(sp__product_packed(j->g, s->source, s->width)) : 0;
    /* scaled rows of query, probabilities, and their gradients */
    j->p_row = line(s->source) + (s->source % 512 == 0 ? 16 : 0);
    j->per_slot = line(j->rows * s->size) + j->rows * j->p_row * (gradient ? 2 : 1);
}

static size_t bytes_of(const attention_job *j)
{
    return (size_t)(j->s.n * (j->packed_k + j->packed_v) + j->slots * j->per_slot) * sizeof(float);
}

static void place(attention_job *j)
{
    j->keys = j->c->work;
    j->values = j->keys + j->s.n * j->packed_k;
    j->scratch = j->values + j->s.n * j->packed_v;
}

static void pack_items(void *context, int64_t begin, int64_t end)
{
    const attention_job *j = context;
    const sp__attention_shape *s = &j->s;
    const int64_t panels = (s->source + j->g->columns - 1) / j->g->columns;
    for (int64_t n = begin; n < end; n++) {
        sp__product_pack(j->g, s->source, s->size, input(j, 1) + n * s->source * s->size, 1, s->size,
                         j->keys + n * j->packed_k, 0, panels);
        if (j->packed_v)
            sp__product_pack(j->g, s->source, s->width, input(j, 2) + n * s->source * s->width, 1, s->width,
                             j->values + n * j->packed_v, 0, panels);
    }
}

/* Probabilities of rows [i, i + m) of item n into p; q gets the rows of query, scaled. With `sums` they are not divided by their sum, which goes
 * there: then the fewer results can be. And without a mask (whose numbers may be the largest there are) powers are of two, which is a shorter way to them: query
 * is scaled for that. */
static void probabilities(const attention_job *j, int64_t n, int64_t i, int64_t m, float *q, float *p, float *sums)
{
    const sp__attention_shape *s = &j->s;
    const float *from = input(j, 0) + (n * s->length + i) * s->size;
    const bool of_two = sums && !j->c->in[3];
    const float scale = of_two ? j->scale * 1.44269504f : j->scale; /* 1 / ln 2 */
    for (int64_t e = 0; e < m * s->size; e++) q[e] = from[e] * scale;
    const sp__product scores = {
        .g = j->g, .m = m, .n = s->source, .k = s->size, .a_row = s->size, .a_col = 1, .c_row = j->p_row};
    sp__product_run(&scores, q, j->keys + n * j->packed_k, p);
    const float *mask = j->c->in[3] ? input(j, 3) + sp__attention_mask(j->c, n) + i * s->source : NULL;
    for (int64_t r = 0; r < m; r++) {
        float *row = p + r * j->p_row;
        const int64_t seen = j->causal ? least(s->source, i + r + 1) : s->source;
        for (int64_t t = 0; mask && t < seen; t++) row[t] += mask[r * s->source + t];
        if (sums) sums[r] = (of_two ? j->k->powers_of_two : j->k->powers)(seen, row, row);
        else j->k->softmax(seen, row, row);
        memset(row + seen, 0, (size_t)(s->source - seen) * sizeof(float));
    }
}

static void forward(void *context, int64_t begin, int64_t end)
{
    const attention_job *j = context;
    const sp__attention_shape *s = &j->s;
    for (int64_t slot = begin; slot < end; slot++) {
        float *q = j->scratch + slot * j->per_slot, *p = q + line(j->rows * s->size);
        const int64_t tasks = s->n * j->blocks; /* neighbours together: they share keys and values */
        for (int64_t t = slot * tasks / j->slots; t < (slot + 1) * tasks / j->slots; t++) {
            const int64_t n = t / j->blocks, i = t % j->blocks * j->rows, m = least(j->rows, s->length - i);
            float sums[ROWS_MOST], *out = output(j, 0) + (n * s->length + i) * s->width;
            probabilities(j, n, i, m, q, p, sums);
            const sp__product mix = {.g = j->g,
                                     .m = m,
                                     .n = s->width,
                                     .k = s->source,
                                     .a_row = j->p_row,
                                     .a_col = 1,
                                     .c_row = s->width,
                                     .b_row = s->width};
            sp__product_run(&mix, p, input(j, 2) + n * s->source * s->width, out);
            for (int64_t r = 0; r < m; r++) {
                const float scale = 1 / sums[r];
                for (int64_t e = 0; e < s->width; e++) out[r * s->width + e] *= scale;
            }
        }
    }
}

/* Rows [i, i + m) of item n: dq, and their share of dk and dv. */
static void backward_block(const attention_job *j, int64_t n, int64_t i, int64_t m, float *q)
{
    const sp__attention_shape *s = &j->s;
    float *p = q + line(j->rows * s->size), *dp = p + j->rows * j->p_row;
    const float *g = input(j, 4) + (n * s->length + i) * s->width, *key = input(j, 1) + n * s->source * s->size;
    float *dq = output(j, 0) + (n * s->length + i) * s->size;
    probabilities(j, n, i, m, q, p, NULL);
    const sp__product dv = {.g = j->g,
                            .m = s->source,
                            .n = s->width,
                            .k = m,
                            .a_row = 1,
                            .a_col = j->p_row,
                            .c_row = s->width,
                            .b_row = s->width,
                            .accumulate = i > 0};
    sp__product_run(&dv, p, g, output(j, 2) + n * s->source * s->width);
    const sp__product towards_p = {
        .g = j->g, .m = m, .n = s->source, .k = s->width, .a_row = s->width, .a_col = 1, .c_row = j->p_row};
    sp__product_run(&towards_p, g, j->values + n * j->packed_v, dp);
    for (int64_t r = 0; r < m; r++)
        j->k->softmax_grad(s->source, dp + r * j->p_row, p + r * j->p_row, dp + r * j->p_row);
    const sp__product to_q = {.g = j->g,
                              .m = m,
                              .n = s->size,
                              .k = s->source,
                              .a_row = j->p_row,
                              .a_col = 1,
                              .c_row = s->size,
                              .b_row = s->size};
    sp__product_run(&to_q, dp, key, dq);
    for (int64_t e = 0; e < m * s->size; e++) dq[e] *= j->scale;
    const sp__product dk = {.g = j->g,
                            .m = s->source,
                            .n = s->size,
                            .k = m,
                            .a_row = 1,
                            .a_col = j->p_row,
                            .c_row = s->size,
                            .b_row = s->size,
                            .accumulate = i > 0};
    sp__product_run(&dk, dp, q, output(j, 1) + n * s->source * s->size);
}

static void backward(void *context, int64_t begin, int64_t end)
{
    const attention_job *j = context;
    for (int64_t slot = begin; slot < end; slot++)
        for (int64_t n = slot; n < j->s.n; n += j->slots)
            for (int64_t i = 0; i < j->s.length; i += j->rows)
                backward_block(j, n, i, least(j->rows, j->s.length - i), j->scratch + slot * j->per_slot);
}

bool sp__cpu_attention_takes(const sp_call *c)
{
    sp__attention_shape s;
    if (c->in[0]->dtype != SP_DTYPE_F32) return false;
    sp__attention_measure(c, &s);
    return s.n > 0 && s.length > 0 && s.source > 0 && s.size > 0 && s.width > 0;
}

size_t sp__cpu_attention_work(const sp_call *c)
{
    attention_job j;
    plan(c, c->n_out > 1, &j);
    return bytes_of(&j);
}

sp_status sp__cpu_attention(const sp_call *c)
{
    attention_job j;
    plan(c, false, &j);
    place(&j);
    SP_TRY(sp__parallel_for(j.s.n, 65536 / (j.s.source * j.s.size) + 1, pack_items, &j));
    return sp__parallel_for(j.slots, 1, forward, &j);
}

sp_status sp__cpu_attention_grad(const sp_call *c)
{
    attention_job j;
    plan(c, true, &j);
    place(&j);
    SP_TRY(sp__parallel_for(j.s.n, 65536 / (j.s.source * j.s.size) + 1, pack_items, &j));
    return sp__parallel_for(j.slots, 1, backward, &j);
}
