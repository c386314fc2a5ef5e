/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_layer.c - layers that are one operator as generated C: normalisation of rows, recurrence. */
#include <stdio.h>

#include "base/plain.h"
#include "codegen/codegen.h"
#include "ops/ops_impl.h"

/* --- layer_norm -------------------------------------------------------------------------------------------------- */

static sp_status norm_axes(const sp_node *n, int *norm, int *params)
{
    const int rank = n->in[0]->meta.rank;
    SP_TRY(sp__shape_axis(sp__codegen_int(n, "begin_norm_axis"), rank, "begin_norm_axis", norm));
    return sp__shape_axis(sp__codegen_int(n, "begin_params_axis"), rank, "begin_params_axis", params);
}

static sp_status norm_check(const sp_node *n)
{
    int norm, params;
    SP_TRY(norm_axes(n, &norm, &params));
    SP_CHECK(n->in[0]->meta.dtype == SP_DTYPE_F32, SP_DECLINED, "layer_norm of %s",
             sp_dtype_name(n->in[0]->meta.dtype));
    for (int i = 1; i < 3; i++)
        SP_CHECK(n->in[i] == NULL || n->in[i]->meta.rank == n->in[0]->meta.rank - params, SP_DECLINED,
                 "layer_norm whose parameters have another rank than what they scale");
    return SP_OK;
}

static sp_status norm_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *x = &n->in[0]->meta;
    sp_codegen_at at[SP_RANK_MAX];
    char text[SP_CODEGEN_TEXT], value[3 * SP_CODEGEN_TEXT], factor[SP_CODEGEN_TEXT] = "1.0f",
                                                            shift[SP_CODEGEN_TEXT] = "0.0f", count[48], epsilon[48];
    int norm, params;
    int64_t size = 1;
    SP_TRY(norm_axes(n, &norm, &params));
    for (int i = norm; i < x->rank; i++) size *= x->dims[i];
    sp__codegen_literal(SP_DTYPE_F32, (double)size, count, sizeof count);
    sp__codegen_literal(SP_DTYPE_F32, sp__codegen_number(n, "epsilon"), epsilon, sizeof epsilon);
    sp__codegen_loops(o, "i", norm, x->dims, at);
    sp__codegen_line(o, "float mean = 0.0f, spread = 0.0f;");
    for (int pass = 0; pass < 3; pass++) {
        if (pass == 1) sp__codegen_line(o, "mean /= %s;", count);
        if (pass == 2)
            sp__codegen_line(o, "const float variance = spread / %s, scale = 1.0f / sqrtf(variance + %s);", count,
                             epsilon);
        sp__codegen_loops(o, "r", x->rank - norm, x->dims + norm, at + norm);
        sp__codegen_load(o, n->in[0], at, text, sizeof text);
        if (pass == 0) sp__codegen_line(o, "mean += %s;", text);
        if (pass == 1) sp__codegen_line(o, "spread += (%s - mean) * (%s - mean);", text, text);
        if (pass == 2) {
            if (n->in[1] != NULL) sp__codegen_load(o, n->in[1], at + params, factor, sizeof factor);
            if (n->in[2] != NULL) sp__codegen_load(o, n->in[2], at + params, shift, sizeof shift);
            sp__snprintf(value, sizeof value, "(%s - mean) * scale * %s + %s", text, factor, shift);
            sp__codegen_store_result(o, n->out[0], at, value);
        }
        sp__codegen_loops_end(o, x->rank - norm, x->dims + norm);
    }
    for (int i = norm; i < x->rank; i++) memcpy(at[i], "0", 2);
    sp__codegen_store_result(o, n->out[1], at, "mean");
    sp__codegen_store_result(o, n->out[2], at, "variance");
    sp__codegen_loops_end(o, norm, x->dims);
    return SP_OK;
}

/* --- recurrence -------------------------------------------------------------------------------------------------- */

enum { GX, H0, C0, WEIGHT, BIAS, LENGTHS };

static sp_status scan_check(const sp_node *n)
{
    SP_CHECK(n->in[GX]->meta.dtype == SP_DTYPE_F32 && n->in[LENGTHS] == NULL, SP_DECLINED,
             "rnn_scan with lengths, or of another dtype than float32");
    return SP_OK;
}

/* Sums of all gates, state and cell of one sample. */
static size_t scan_work(const sp_node *n)
{
    return (size_t)(n->in[WEIGHT]->meta.dims[0] + 2 * n->in[H0]->meta.dims[1]) * sizeof(float);
}

/* "a0[...]": gate g of the input at this time; the part `i` of it. */
static void gate(sp_codegen_out *o, const sp_node *n, int g, int64_t hidden, sp_codegen_at *at, char *out, size_t room)
{
    char index[SP_CODEGEN_TEXT], shifted[2 * SP_CODEGEN_TEXT];
    const sp_tensor *view = sp__codegen_view(o->g, n->in[GX]);
    sp__codegen_index(o, view, at, index, sizeof index);
    sp__snprintf(shifted, sizeof shifted, "%s + %lld", index, (long long)(g * hidden * view->strides[2]));
    sp__codegen_load_index(o, n->in[GX], shifted, out, room);
}

/* The sums of h times the weights, and the bias. */
static void write_sums(sp_codegen_out *o, const sp_node *n, const char *work, int64_t gates, int64_t hidden)
{
    sp_codegen_at g, w_at[2];
    char weight[SP_CODEGEN_TEXT], start[SP_CODEGEN_TEXT] = "0.0f";
    sp__codegen_for(o, "g", gates * hidden, g);
    if (n->in[BIAS] != NULL) sp__codegen_load(o, n->in[BIAS], &g, start, sizeof start);
    sp__codegen_line(o, "float s = %s;", start);
    memcpy(w_at[0], g, sizeof g);
    sp__codegen_for(o, "k", hidden, w_at[1]);
    sp__codegen_load(o, n->in[WEIGHT], w_at, weight, sizeof weight);
    sp__codegen_line(o, "s += %s[%lld + %s] * %s;", work, (long long)(gates * hidden), w_at[1], weight);
    sp__codegen_end(o, hidden);
    sp__codegen_line(o, "%s[%s] = s;", work, g);
    sp__codegen_end(o, gates * hidden);
}

static void write_cell(sp_codegen_out *o, const sp_node *n, const char *work, const char *mode, int64_t hidden,
                       sp_codegen_at *at)
{
    char g[4][SP_CODEGEN_TEXT];
    const int gates = strcmp(mode, "lstm") == 0 ? 4 : strcmp(mode, "gru") == 0 ? 3 : 1;
    const long long H = (long long)hidden, h = gates * H;
    const char *i = at[2];
    for (int k = 0; k < gates; k++) gate(o, n, k, hidden, at, g[k], sizeof g[k]);
    if (gates == 4) {
        sp__codegen_line(o, "const float in = spore_sigmoidf(%s + %s[%s]);", g[0], work, i);
        sp__codegen_line(o, "const float keep = spore_sigmoidf(%s + %s[%lld + %s]);", g[1], work, H, i);
        sp__codegen_line(o, "const float fresh = spore_tanhf(%s + %s[%lld + %s]);", g[2], work, 2 * H, i);
        sp__codegen_line(o, "const float show = spore_sigmoidf(%s + %s[%lld + %s]);", g[3], work, 3 * H, i);
        sp__codegen_line(o, "%s[%lld + %s] = keep * %s[%lld + %s] + in * fresh;", work, h + H, i, work, h + H, i);
        sp__codegen_line(o, "%s[%lld + %s] = show * spore_tanhf(%s[%lld + %s]);", work, h, i, work, h + H, i);
    } else if (gates == 3) {
        sp__codegen_line(o, "const float reset = spore_sigmoidf(%s + %s[%s]);", g[0], work, i);
        sp__codegen_line(o, "const float hold = spore_sigmoidf(%s + %s[%lld + %s]);", g[1], work, H, i);
        sp__codegen_line(o, "const float fresh = spore_tanhf(%s + reset * %s[%lld + %s]);", g[2], work, 2 * H, i);
        sp__codegen_line(o, "%s[%lld + %s] = fresh + hold * (%s[%lld + %s] - fresh);", work, h, i, work, h, i);
    } else {
        sp__codegen_line(o, "const float sum = %s + %s[%s];", g[0], work, i);
        sp__codegen_line(o,
                         strcmp(mode, "rnn_relu") == 0 ? "%s[%lld + %s] = sum > 0.0f ? sum : 0.0f;"
                                                       : "%s[%lld + %s] = spore_tanhf(sum);",
                         work, h, i);
    }
}

static sp_status scan_write(sp_codegen_out *o, const sp_node *n)
{
    const int64_t times = n->in[GX]->meta.dims[0], batch = n->in[GX]->meta.dims[1], hidden = n->in[H0]->meta.dims[1],
                  gates = n->in[WEIGHT]->meta.dims[0] / hidden;
    const char *mode = sp__codegen_text(n, "mode"), *work = sp__codegen_arg(o, o->step->work, true);
    sp_codegen_at at[3], t;
    char start[SP_CODEGEN_TEXT], h[96], c[96];
    o->g->helpers |= SP_HELPER_EXP | SP_HELPER_TANH | SP_HELPER_SIGMOID;
    sp__codegen_for(o, "b", batch, at[1]);
    sp__codegen_for(o, "i", hidden, at[2]);
    snprintf(h, sizeof h, "%s[%lld + %s]", work, (long long)(gates * hidden), at[2]);
    snprintf(c, sizeof c, "%s[%lld + %s]", work, (long long)(gates * hidden + hidden), at[2]);
    sp__codegen_load(o, n->in[H0], at + 1, start, sizeof start);
    sp__codegen_line(o, "%s = %s;", h, start);
    snprintf(start, sizeof start, "0.0f");
    if (n->in[C0] != NULL) sp__codegen_load(o, n->in[C0], at + 1, start, sizeof start);
    sp__codegen_line(o, "%s = %s;", c, start);
    sp__codegen_end(o, hidden);
    sp__codegen_for(o, "n", times, t);
    memcpy(at[0], t, sizeof t);
    if (sp__codegen_bool(n, "reverse") && times > 1) {
        sp__codegen_line(o, "const int t = %lld - %s;", (long long)times - 1, t);
        memcpy(at[0], "t", 2);
    }
    write_sums(o, n, work, gates, hidden);
    sp__codegen_for(o, "i", hidden, at[2]);
    write_cell(o, n, work, mode, hidden, at);
    sp__codegen_store_result(o, n->out[0], at, h);
    sp__codegen_end(o, hidden);
    sp__codegen_end(o, times);
    sp__codegen_for(o, "i", hidden, at[2]);
    sp__codegen_store_result(o, n->out[1], at + 1, h);
    sp__codegen_store_result(o, n->out[2], at + 1, c);
    sp__codegen_end(o, hidden);
    sp__codegen_end(o, batch);
    return SP_OK;
}

const sp_codegen_kernel sp_codegen_kernel_layer_norm = {
    .op = &sp_op_layer_norm, .write = norm_write, .check = norm_check, .whole = true};
const sp_codegen_kernel sp_codegen_kernel_rnn_scan = {
    .op = &sp_op_rnn_scan, .write = scan_write, .check = scan_check, .work = scan_work, .whole = true};
