/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_rnn.c - rnn_scan, the loop over time of LSTM and GRU layers, in float32, and its gradient; src/ops/rnn.c says what they compute.
 *
 * Samples do not meet, so a group of GROUP samples goes through all of time on one thread, without waiting for anybody. A step is a
 * thin product of the group's states with the weights, which were packed once for all steps into the panels that the product's inner
 * kernel reads, and the cell over rows. The gradient of the weights is one large product over all steps afterwards. */
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/product.h"
#include "device/cpu/rows.h"
#include "spore/ops_attrs.h"

enum { GROUP = 16, BIAS_COLUMNS = 256, BIAS_ROWS = 128, LINE_FLOATS = 16 };

typedef struct {
    const sp__gemm_kernels *gemm;
    const sp__row_kernels *rows;
    bool lstm, reverse;
    int64_t time, batch, hidden, gates; /* gates: times hidden */
    int64_t kept;                       /* floats kept per step and sample */
    const float *gx, *h0, *c0, *weight, *bias, *y, *kept_in, *dy, *dh, *dc, *dkept;
    float *out, *hn, *cn, *kept_out, *dgx, *dgh, *dh0, *dc0, *dweight, *dbias;
    float *panels, *gh, *cell; /* scratch */
} rnn_job;

static float *floats(const sp_tensor *t) { return t ? (float *)(void *)t->data : NULL; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

static bool measure(const sp_call *c, const sp_tensor *first, const sp_tensor *weight, const sp_tensor *lengths,
                    rnn_job *j)
{
    const sp_rnn_attrs *a = c->attrs;
    j->lstm = strcmp(a->mode, "lstm") == 0;
    if ((!j->lstm && strcmp(a->mode, "gru")) || lengths || first->dtype != SP_DTYPE_F32) return false;
    j->gemm = sp__gemm_find(SP_DTYPE_F32);
    j->rows = sp__float_rows();
    j->reverse = a->reverse;
    j->time = first->dims[0];
    j->batch = first->dims[1];
    j->gates = weight->dims[0];
    j->hidden = weight->dims[1];
    j->kept = (j->lstm ? 5 : 4) * j->hidden;
    return j->time > 0 && j->batch > 0 && j->hidden > 0;
}

/* --- the product with the weights --------------------------------------------------------------------------------------- */

typedef struct {
    const rnn_job *j;
    int64_t n, k, b_row, b_col; /* of the weights as the right operand */
} pack_job;

static void pack(void *context, int64_t begin, int64_t end)
{
    const pack_job *p = context;
    sp__product_pack(p->j->gemm, p->n, p->k, p->j->weight, p->b_row, p->b_col, p->j->panels, begin, end);
}

static size_t panel_bytes(const rnn_job *j, int64_t n, int64_t k)
{
    return aligned((size_t)sp__product_packed(j->gemm, n, k) * sizeof(float));
}

/* c[m, n], its rows c_row apart, += a[m, k] times the packed weights. */
static void multiply(const rnn_job *j, int64_t m, int64_t n, int64_t k, const float *a, float *c, int64_t c_row)
{
    const sp__product p = {
        .g = j->gemm, .m = m, .n = n, .k = k, .a_row = k, .a_col = 1, .c_row = c_row, .accumulate = true};
    sp__product_run(&p, a, j->panels, c);
}

/* Rows of gates in the scratch: a line more, since widths are powers of two, and such rows push each other out of the first cache. */
static int64_t gate_row(const rnn_job *j) { return j->gates + LINE_FLOATS; }

/* --- forward ------------------------------------------------------------------------------------------------------------- */

static void forward(void *context, int64_t begin, int64_t end)
{
    const rnn_job *j = context;
    const int64_t H = j->hidden, G = j->gates, B = j->batch, row = gate_row(j);
    for (int64_t group = begin; group < end; group++) {
        const int64_t n0 = group * GROUP, m = least(GROUP, B - n0);
        float *gh = j->gh + n0 * row, *cell = j->cell + n0 * H;
        if (j->c0) memcpy(cell, j->c0 + n0 * H, (size_t)(m * H) * sizeof(float));
        else memset(cell, 0, (size_t)(m * H) * sizeof(float));
        const float *h = j->h0 + n0 * H;
        for (int64_t step = 0; step < j->time; step++) {
            const int64_t at = (j->reverse ? j->time - 1 - step : step) * B + n0;
            for (int64_t i = 0; i < m; i++) {
                if (j->bias) memcpy(gh + i * row, j->bias, (size_t)G * sizeof(float));
                else memset(gh + i * row, 0, (size_t)G * sizeof(float));
            }
            multiply(j, m, G, H, h, gh, row);
            for (int64_t i = 0; i < m; i++) {
                const float *gx = j->gx + (at + i) * G;
                float *y = j->out + (at + i) * H, *kept = j->kept_out + (at + i) * j->kept;
                if (j->lstm) j->rows->lstm(H, gx, gh + i * row, cell + i * H, y, kept);
                else j->rows->gru(H, gx, gh + i * row, h + i * H, y, kept);
            }
            h = j->out + at * H;
        }
        memcpy(j->hn + n0 * H, h, (size_t)(m * H) * sizeof(float));
        memcpy(j->cn + n0 * H, cell, (size_t)(m * H) * sizeof(float));
    }
}

bool sp__cpu_rnn_takes(const sp_call *c)
{
    rnn_job j = {0};
    return measure(c, c->in[0], c->in[3], c->in[5], &j);
}

size_t sp__cpu_rnn_work(const sp_call *c)
{
    rnn_job j = {0};
    if (!measure(c, c->in[0], c->in[3], c->in[5], &j)) return 0;
    return panel_bytes(&j, j.gates, j.hidden) + aligned((size_t)(j.batch * gate_row(&j)) * 4) +
           aligned((size_t)(j.batch * j.hidden) * 4);
}

sp_status sp__cpu_rnn(const sp_call *c)
{
    rnn_job j = {.gx = floats(c->in[0]),
                 .h0 = floats(c->in[1]),
                 .c0 = floats(c->in[2]),
                 .weight = floats(c->in[3]),
                 .bias = floats(c->in[4]),
                 .out = floats(c->out[0]),
                 .hn = floats(c->out[1]),
                 .cn = floats(c->out[2]),
                 .kept_out = floats(c->out[3])};
    measure(c, c->in[0], c->in[3], c->in[5], &j);
    char *work = c->work;
    j.panels = (float *)(void *)work;
    work += panel_bytes(&j, j.gates, j.hidden);
    j.gh = (float *)(void *)work;
    j.cell = (float *)(void *)(work + aligned((size_t)(j.batch * gate_row(&j)) * 4));
    pack_job p = {.j = &j, .n = j.gates, .k = j.hidden, .b_row = 1, .b_col = j.hidden};
    SP_TRY(sp__parallel_for(ceil_div(j.gates, j.gemm->columns), 8, pack, &p));
    return sp__parallel_for(ceil_div(j.batch, GROUP), 1, forward, &j);
}

/* --- backward ------------------------------------------------------------------------------------------------------------- */

static void backward(void *context, int64_t begin, int64_t end)
{
    const rnn_job *j = context;
    const int64_t H = j->hidden, G = j->gates, B = j->batch;
    for (int64_t group = begin; group < end; group++) {
        const int64_t n0 = group * GROUP, m = least(GROUP, B - n0);
        const size_t bytes = (size_t)(m * H) * sizeof(float);
        float *dh = j->dh0 + n0 * H, *dc = j->dc0 + n0 * H;
        if (j->dh) memcpy(dh, j->dh + n0 * H, bytes);
        else memset(dh, 0, bytes);
        if (j->dc) memcpy(dc, j->dc + n0 * H, bytes);
        else memset(dc, 0, bytes);
        for (int64_t step = j->time - 1; step >= 0; step--) {
            const int64_t t = j->reverse ? j->time - 1 - step : step, before = j->reverse ? t + 1 : t - 1;
            for (int64_t i = 0; i < m; i++) {
                const int64_t at = t * B + n0 + i, was = before * B + n0 + i;
                const float *kept = j->kept_in + at * j->kept, *dkept = j->dkept ? j->dkept + at * j->kept : NULL;
                const float *dy = j->dy ? j->dy + at * H : NULL;
                if (j->lstm) {
                    const float *c_before = step ? j->kept_in + was * j->kept + 4 * H : j->c0 + (n0 + i) * H;
                    j->rows->lstm_grad(H, dy, kept, c_before, dkept, dh + i * H, dc + i * H, j->dgx + at * G);
                } else {
                    const float *h_before = step ? j->y + was * H : j->h0 + (n0 + i) * H;
                    j->rows->gru_grad(H, dy, kept, h_before, dkept, dh + i * H, j->dgx + at * G, j->dgh + at * G);
                }
            }
            multiply(j, m, H, G, j->dgh + (t * B + n0) * G, dh, H);
        }
    }
}

/* Sums of the columns of dgh. */
static void bias_columns(void *context, int64_t begin, int64_t end)
{
    const rnn_job *j = context;
    const int64_t rows = j->time * j->batch;
    for (int64_t p = begin; p < end; p++) {
        const int64_t at = p * BIAS_COLUMNS, w = least(BIAS_COLUMNS, j->gates - at);
        float part[BIAS_COLUMNS];
        double total[BIAS_COLUMNS] = {0};
        for (int64_t r = 0; r < rows; r += BIAS_ROWS) {
            j->rows->sum_columns(least(BIAS_ROWS, rows - r), j->gates, w, part, j->dgh + r * j->gates + at);
            for (int64_t i = 0; i < w; i++) total[i] += (double)part[i];
        }
        for (int64_t i = 0; i < w; i++) j->dbias[at + i] = (float)total[i];
    }
}

/* dgh' h over `steps` steps: [gates, hidden]. */
static sp__gemm_shape weight_shape(const rnn_job *j, int64_t steps)
{
    return (sp__gemm_shape){.dtype = SP_DTYPE_F32,
                            .m = j->gates,
                            .n = j->hidden,
                            .k = steps * j->batch,
                            .a_row = 1,
                            .a_col = j->gates,
                            .b_row = j->hidden,
                            .b_col = 1,
                            .c_row = j->hidden};
}

static sp_status weight_gradient(const rnn_job *j, void *work)
{
    /* The first step starts from h0, the others from the result of the one before. */
    const int64_t first = j->reverse ? (j->time - 1) * j->batch : 0, rest = j->reverse ? 0 : j->batch;
    const int64_t from = j->reverse ? j->batch : 0;
    const sp__gemm_shape one = weight_shape(j, 1), others = weight_shape(j, j->time - 1);
    SP_TRY(sp__gemm(&one, j->dgh + first * j->gates, j->h0, j->dweight, false, work));
    if (j->time == 1) return SP_OK;
    return sp__gemm(&others, j->dgh + rest * j->gates, j->y + from * j->hidden, j->dweight, true, work);
}

static size_t product_bytes(const rnn_job *j)
{
    const sp__gemm_shape one = weight_shape(j, 1), others = weight_shape(j, j->time - 1);
    const size_t a = sp__gemm_work(&one), b = j->time > 1 ? sp__gemm_work(&others) : 0;
    return a > b ? a : b;
}

bool sp__cpu_rnn_grad_takes(const sp_call *c)
{
    rnn_job j = {0};
    return measure(c, c->in[0], c->in[3], c->in[4], &j);
}

size_t sp__cpu_rnn_grad_work(const sp_call *c)
{
    rnn_job j = {0};
    if (!measure(c, c->in[0], c->in[3], c->in[4], &j)) return 0;
    const size_t dgh = j.lstm ? 0 : aligned((size_t)(j.time * j.batch * j.gates) * 4);
    return panel_bytes(&j, j.hidden, j.gates) + dgh + product_bytes(&j);
}

sp_status sp__cpu_rnn_grad(const sp_call *c)
{
    rnn_job j = {.dy = floats(c->in[0]),
                 .h0 = floats(c->in[1]),
                 .c0 = floats(c->in[2]),
                 .weight = floats(c->in[3]),
                 .y = floats(c->in[5]),
                 .kept_in = floats(c->in[6]),
                 .dh = floats(c->in[7]),
                 .dc = floats(c->in[8]),
                 .dkept = floats(c->in[9]),
                 .dgx = floats(c->out[0]),
                 .dh0 = floats(c->out[1]),
                 .dc0 = floats(c->out[2]),
                 .dweight = floats(c->out[3]),
                 .dbias = floats(c->out[4])};
    measure(c, c->in[0], c->in[3], c->in[4], &j);
    char *work = c->work;
    j.panels = (float *)(void *)work;
    work += panel_bytes(&j, j.hidden, j.gates);
    j.dgh = j.dgx; /* in an LSTM both shares of a gate have the same gradient */
    if (!j.lstm) {
        j.dgh = (float *)(void *)work;
        work += aligned((size_t)(j.time * j.batch * j.gates) * 4);
    }
    pack_job p = {.j = &j, .n = j.hidden, .k = j.gates, .b_row = j.hidden, .b_col = 1};
    SP_TRY(sp__parallel_for(ceil_div(j.hidden, j.gemm->columns), 2, pack, &p));
    SP_TRY(sp__parallel_for(ceil_div(j.batch, GROUP), 1, backward, &j));
    SP_TRY(weight_gradient(&j, work));
    return sp__parallel_for(ceil_div(j.gates, BIAS_COLUMNS), 4, bias_columns, &j);
}
