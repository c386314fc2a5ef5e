/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_lower.c - operators that no primitive of MindSpore stands for, made of others that do.
 *
 * ONNX has the same need, and its rules (onnx/onnx_out_*.c) say how operators are made of few. So such an operator is written as an ONNX
 * model of one node and read again, which gives the operators that the rule is made of, recorded in its place. What is still none of
 * MindSpore's is brought down in the same way, until nothing changes. Steps of recurrent layers are spelled out here. */
#include <stdio.h>
#include <string.h>

#include "formats/mindir/mindir_out.h"
#include "formats/model_impl.h"
#include "formats/onnx/onnx_out.h"
#include "spore/grad.h"

enum { DEPTH_MAX = 4, OPSET = 13, IN_MAX = 64 };

/* --- one operator as a model ------------------------------------------------------------------------------------- */

/* A function of one operator, of the types of n; operands that are constants are constants there. */
static sp_status one_operator(const sp_node *n, sp_graph **graph, sp_function **out)
{
    sp_spec specs[IN_MAX];
    sp_tensor *params[IN_MAX], *in[IN_MAX] = {NULL}, *results[IN_MAX];
    int n_params = 0, at = 0, n_out = 0;
    SP_CHECK(n->n_in <= IN_MAX && n->n_out <= IN_MAX, SP_DECLINED, "%s has more than %d operands", n->op->name, IN_MAX);
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i] || n->in[i]->origin == SP_VALUE_CONSTANT) continue;
        SP_CHECK(sp__meta_known(&n->in[i]->meta), SP_DECLINED,
                 "%s takes a tensor whose shape is known at run time only", n->op->name);
        specs[n_params++] = n->in[i]->meta;
    }
    SP_TRY(sp_graph_create(graph));
    sp_status status = sp_function_begin(*graph, n->op->name, n_params, specs, out, params);
    if (status == SP_OK) {
        for (int i = 0; i < n->n_in; i++)
            in[i] = !n->in[i] ? NULL : n->in[i]->origin == SP_VALUE_CONSTANT ? n->in[i]->constant : params[at++];
        status = sp_apply(n->op, n->attrs, n->n_in, in, n->n_out, results, &n_out);
        if (status == SP_OK) {
            status = sp_function_end(*out, n_out, results);
            for (int i = 0; i < n_out; i++) sp_tensor_release(results[i]);
        } else sp_function_abandon(*out);
        for (int i = 0; i < n_params; i++) sp_tensor_release(params[i]);
    }
    if (status != SP_OK) sp_graph_release(*graph);
    return status;
}

static sp_status model_of(const sp_node *n, sp_model **out)
{
    sp_graph *g;
    sp_function *f;
    char texts[IN_MAX][16];
    const char *names[IN_MAX];
    sp_wire_out bytes = {0};
    const sp_file_options options = {.format = "onnx"};
    SP_TRY(one_operator(n, &g, &f));
    for (int i = 0; i < f->n_params; i++) {
        snprintf(texts[i], sizeof texts[i], "x%d", i);
        names[i] = texts[i];
    }
    const sp_model_names all = {.n_inputs = f->n_params, .inputs = names, .opset = OPSET};
    sp_status status = sp__onnx_bytes(f, &all, &bytes);
    sp_model *m = NULL;
    if (status == SP_OK) status = sp_model_load_memory(bytes.data, bytes.bytes, &options, &m);
    if (status == SP_OK) status = sp__model_freeze(m);
    if (status == SP_OK) *out = m;
    else sp_model_release(m);
    sp__wire_out_free(&bytes);
    sp_graph_release(g);
    return status;
}

/* --- steps of recurrent layers ----------------------------------------------------------------------------------- */

static sp_tensor *call(sp_builder *b, const char *op, const char *attrs, sp_tensor *x, sp_tensor *y)
{
    return sp_builder_call(b, op, attrs, y ? 2 : 1, (sp_tensor *[]){x, y});
}

/* Columns [from, from + n) of a (batch, ...) matrix. */
static sp_tensor *columns(sp_builder *b, sp_tensor *x, int64_t from, int64_t n)
{
    char text[96];
    if (!x) return NULL;
    snprintf(text, sizeof text, "start=(0,%lld), stop=(%lld,%lld)", (long long)from, (long long)sp_tensor_dims(x)[0],
             (long long)(from + n));
    return call(b, "slice", text, x, NULL);
}

/* One step: gx and gh (batch, gates * hidden), the state; gives the new state. */
static void step(sp_builder *b, const char *mode, int64_t hidden, sp_tensor *gx, sp_tensor *gh, sp_tensor **h,
                 sp_tensor **c)
{
    if (!gx || !gh) return;
    if (!strcmp(mode, "gru")) {
        sp_tensor *part[6];
        for (int i = 0; i < 6; i++) part[i] = columns(b, i < 3 ? gx : gh, i % 3 * hidden, hidden);
        sp_tensor *reset = call(b, "sigmoid", "", call(b, "add", "", part[0], part[3]), NULL);
        sp_tensor *update = call(b, "sigmoid", "", call(b, "add", "", part[1], part[4]), NULL);
        sp_tensor *fresh = call(b, "tanh", "", call(b, "add", "", part[2], call(b, "mul", "", reset, part[5])), NULL);
        *h = call(b, "add", "", fresh, call(b, "mul", "", update, call(b, "sub", "", *h, fresh)));
        return;
    }
    sp_tensor *sum = call(b, "add", "", gx, gh);
    if (strcmp(mode, "lstm")) {
        *h = call(b, !strcmp(mode, "rnn_tanh") ? "tanh" : "relu", "", sum, NULL);
        return;
    }
    sp_tensor *gate[4];
    for (int i = 0; i < 4; i++)
        gate[i] = call(b, i == 2 ? "tanh" : "sigmoid", "", columns(b, sum, i * hidden, hidden), NULL);
    *c = call(b, "add", "", call(b, "mul", "", gate[1], *c), call(b, "mul", "", gate[0], gate[2]));
    *h = call(b, "mul", "", gate[3], call(b, "tanh", "", *c, NULL));
}

/* gx, h0, c0?, weight, bias?, lengths?: y, last h, last c. What is kept for gradients is not made. */
static sp_status spell_rnn(const sp_node *n, sp_builder *b, sp_tensor *const *in, sp_tensor **out)
{
    const char *mode = sp__mindir_out_attr_text(n, "mode");
    bool reverse = sp__mindir_out_attr_int(n, "reverse");
    const int64_t *dims = sp_tensor_dims(in[0]), time = dims[0], batch = dims[1], hidden = sp_tensor_dims(in[1])[1];
    SP_CHECK(time <= 4096, SP_DECLINED, "%lld steps of a recurrent layer are too many to be written one by one",
             (long long)time);
    sp_tensor **ys = sp__alloc_zero((size_t)time * sizeof *ys + 1), *h = in[1], *c = in[2], *zero;
    bool lstm = !strcmp(mode, "lstm");
    char text[128];
    if (!ys) return SP_NOMEM;
    snprintf(text, sizeof text, "shape=(%lld,%lld), dtype=%s", (long long)batch, (long long)hidden,
             sp_dtype_name(sp_tensor_dtype(in[0])));
    zero = in[5] || !lstm ? sp_builder_call(b, "full", text, 0, NULL) : NULL;
    for (int64_t i = 0; i < time && sp__builder_status(b) == SP_OK; i++) {
        int64_t t = reverse ? time - 1 - i : i;
        snprintf(text, sizeof text, "start=(%lld,), stop=(%lld,)", (long long)t, (long long)(t + 1));
        sp_tensor *gx = call(b, "slice", text, in[0], NULL), *before_h = h, *before_c = c;
        snprintf(text, sizeof text, "shape=(%lld,%lld)", (long long)batch, (long long)dims[2]);
        if (gx) gx = call(b, "reshape", text, gx, NULL);
        sp_tensor *gh = call(b, "matmul", "transpose_b=True", h, in[3]);
        if (in[4]) gh = call(b, "add", "", gh, in[4]);
        step(b, mode, hidden, gx, gh, &h, &c);
        ys[t] = h;
        if (!in[5]) continue;
        sp_tensor *now, *runs;
        sp_status status = sp_tensor_create_i64(SP_DTYPE_I64, t, &now);
        if (status != SP_OK) break;
        runs = call(b, "greater", "", in[5], sp_builder_take_tensor(b, now));
        snprintf(text, sizeof text, "shape=(%lld,1)", (long long)batch);
        if (runs) runs = call(b, "reshape", text, runs, NULL);
        ys[t] = sp_builder_call(b, "select", "", 3, (sp_tensor *[]){runs, h, zero});
        h = sp_builder_call(b, "select", "", 3, (sp_tensor *[]){runs, h, before_h});
        if (lstm) c = sp_builder_call(b, "select", "", 3, (sp_tensor *[]){runs, c, before_c});
    }
    out[0] = sp__builder_status(b) == SP_OK ? sp_builder_call(b, "stack", "axis=0", (int)time, ys) : NULL;
    out[1] = h;
    out[2] = lstm ? c : zero;
    out[3] = NULL;
    sp__free(ys);
    return sp__builder_status(b);
}

/* --- in place of the node ---------------------------------------------------------------------------------------- */

/* Operators that are spelled out; the others are made of what their ONNX rule says. */
typedef sp_status (*spelling)(const sp_node *n, sp_builder *b, sp_tensor *const *in, sp_tensor **out);
static spelling spelling_of(const sp_node *n)
{
    if (n->op == &sp_op_rnn_scan) return spell_rnn;
    return n->op == &sp_op_conv_bytes ? sp__mindir_out_spell_conv_bytes : NULL;
}

/* Record what n is made of (m; NULL: it is spelled out) at the end of its function: its results, NULL where there is none. */
static sp_status record(const sp_node *n, const sp_model *m, sp_tensor **out)
{
    sp_tensor *in[IN_MAX] = {NULL}, *made[IN_MAX];
    sp_status status = SP_OK;
    bool steps = m == NULL;
    int n_given = 0;
    for (int i = 0; i < n->n_in && status == SP_OK; i++) {
        if (!n->in[i]) continue;
        if (n->in[i]->origin == SP_VALUE_CONSTANT) {
            if (steps) in[i] = sp_tensor_retain(n->in[i]->constant);
        } else status = sp__symbol_create(n->in[i], &in[steps ? i : n_given++]);
    }
    if (status == SP_OK && steps) {
        sp_builder b;
        sp__builder_init(&b);
        status = spelling_of(n)(n, &b, in, made);
        for (int i = 0; i < n->n_out && status == SP_OK; i++) out[i] = made[i] ? sp_tensor_retain(made[i]) : NULL;
        sp__builder_done(&b);
    } else if (status == SP_OK) status = m->kind->apply(m, in, out);
    for (int i = 0; i < IN_MAX; i++) sp_tensor_release(in[i]);
    return status;
}

/* The nodes after `last` go before n. */
static void move_before(sp_function *f, sp_node *last, sp_node *n)
{
    sp_node *first = last ? last->next : f->first, *end = f->last;
    if (!first || first == n) return;
    f->last = last;
    if (last) last->next = NULL;
    first->prev = n->prev;
    if (n->prev) n->prev->next = first;
    else f->first = first;
    end->next = n;
    n->prev = end;
}

static bool is_used(const sp_function *f, const sp_value *v)
{
    for (const sp_function *g = f->graph->first; g; g = g->next) {
        for (const sp_node *n = g->first; n; n = n->next)
            for (int i = 0; i < n->n_in; i++)
                if (n->in[i] == v) return true;
        for (int i = 0; i < g->n_results; i++)
            if (g->results[i] == v) return true;
    }
    return false;
}

static sp_status replace(sp_function *f, sp_node *n)
{
    sp_tensor *results[IN_MAX] = {NULL};
    sp_node *last = f->last;
    sp_function *before = sp__recorder;
    sp_model *m = NULL;
    int depth = sp_grad_pause();
    sp__recorder = NULL;
    sp_status status = spelling_of(n) ? SP_OK : model_of(n, &m);
    sp__recorder = f;
    if (status == SP_OK) status = record(n, m, results);
    sp_grad_resume(depth);
    sp_model_release(m);
    for (int i = 0; i < n->n_out && status == SP_OK; i++) {
        sp_value *v = NULL;
        if (results[i]) status = sp__value_of(f, results[i], &v);
        if (status == SP_OK && v) {
            if (sp__meta_known(&n->out[i]->meta)) v->meta = n->out[i]->meta;
            sp__value_replace(f->graph, n->out[i], v);
        } else if (status == SP_OK && is_used(f, n->out[i]))
            status = sp__fail(SP_DECLINED, "a result that only gradients use is asked for");
    }
    sp__recorder = before;
    for (int i = 0; i < IN_MAX; i++) sp_tensor_release(results[i]);
    move_before(f, last, n);
    if (status == SP_OK) sp__node_remove(n);
    return status;
}

/* --- the whole graph --------------------------------------------------------------------------------------------- */

static const char *unsupported(const sp_node *n)
{
    switch (n->kind) {
    case SP_NODE_HOST:
        return sp__mindir_out_fails(n) || !strcmp(n->host->name, SP_HOST_RANDOM) || !strcmp(n->host->name, SP_HOST_SIZE)
                   ? NULL
                   : "Python code";
    case SP_NODE_GRAD: return "a gradient";
    default: return NULL;
    }
}

static bool is_identity(const sp_node *n) { return sp__mindir_out_behind(n->out[0]) != n->out[0]; }

/* Told with the reason, as far as there is one beyond that it has no counterpart. */
static void tell(sp__text *t, const sp_node *n, const char *what, const char *why)
{
    sp__text_put(t, "; %s", what);
    if (n->place && n->place->file) sp__text_put(t, " (%s:%d)", n->place->file, n->place->line);
    if (why && *why) sp__text_put(t, ": %s", why);
}

static sp_status lower_function(sp_function *f, int depth, sp__text *bad, int *n_bad, bool *changed)
{
    sp_node *stop = f->last;
    for (sp_node *n = f->first, *next; n; n = next) {
        next = n == stop ? NULL : n->next;
        const char *what = unsupported(n);
        if (what && depth == 0 && ++*n_bad < 100) tell(bad, n, what, NULL);
        if (n->kind != SP_NODE_OP || is_identity(n) || sp__mindir_out_writes(n)) continue;
        sp_status status = depth < DEPTH_MAX ? replace(f, n) : sp__fail(SP_DECLINED, "it has no counterpart in MindIR");
        if (status == SP_NOMEM) return status;
        if (status == SP_OK) *changed = true;
        else if (++*n_bad < 100) tell(bad, n, n->op->name, sp_error_message());
    }
    return SP_OK;
}

void sp__mindir_out_reach(sp_function *f, uint8_t *reached)
{
    if (reached[f->id]) return;
    reached[f->id] = 1;
    for (const sp_node *n = f->first; n; n = n->next)
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i] && n->in[i]->origin == SP_VALUE_FUNCTION) sp__mindir_out_reach(n->in[i]->target, reached);
}

sp_status sp__mindir_out_lower(sp_function *entry)
{
    sp_graph *g = entry->graph;
    sp__text bad = {0};
    int n_bad = 0;
    sp_status status = SP_OK;
    bool changed = true;
    for (int depth = 0; changed && !n_bad && status == SP_OK && depth <= DEPTH_MAX; depth++) {
        uint8_t *reached = sp__alloc_zero((size_t)g->n_functions + 1);
        if (!reached) return SP_NOMEM;
        sp__mindir_out_reach(entry, reached);
        changed = false;
        int n_functions = g->n_functions;
        for (sp_function *f = g->first; f && status == SP_OK; f = f->next) {
            if (f->id >= n_functions || !reached[f->id]) { /* new ones are looked at in the next round */
                changed |= f->id >= n_functions;
                continue;
            }
            for (int i = 0; depth == 0 && i < f->n_params; i++)
                if (f->params[i]->is_function && ++n_bad < 100)
                    sp__text_put(&bad, "; a function as an argument of %s", f->name);
            status = lower_function(f, depth, &bad, &n_bad, &changed);
        }
        sp__free(reached);
    }
    if (status == SP_OK && bad.failed) status = SP_NOMEM;
    if (status == SP_OK && n_bad)
        status = sp__fail(SP_DECLINED, "the network holds what is not written to MindIR: %s", bad.data + 2);
    sp__free(bad.data);
    return status;
}
