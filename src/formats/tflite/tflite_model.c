/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_model.c - TensorFlow Lite models as sp_model: frames, layouts, and the runner of nodes. */
#include "base/stack.h"
#include "formats/tflite/tflite_model.h"

#include <string.h>

/* --- values ------------------------------------------------------------------------------------------------------ */

sp_tflite_value sp__tflite_value_retain(sp_tflite_value v)
{
    if (v.plain != NULL) sp_tensor_retain(v.plain);
    if (v.planes != NULL) sp_tensor_retain(v.planes);
    return v;
}

void sp__tflite_value_release(sp_tflite_value *v)
{
    sp_tensor_release(v->plain);
    sp_tensor_release(v->planes);
    *v = (sp_tflite_value){NULL, NULL, -1};
}

static bool only_planes(const sp_tflite_value *v) { return v->planes != NULL && v->plain == NULL; }

/* The other form of a value, made when it is first asked for and kept. */
static sp_tensor *turn(sp_builder *b, sp_tensor *from, bool planes, sp_tensor **kept)
{
    sp_tensor *t = sp_transpose(b, from, 4, planes ? (int64_t[]){0, 3, 1, 2} : (int64_t[]){0, 2, 3, 1});
    if (t != NULL) *kept = sp_tensor_retain(t);
    return t;
}

static sp_tflite_value *value_in(sp_tflite_call *c, int i)
{
    return i < c->node->n_in && c->node->in[i] >= 0 ? &c->frame[c->node->in[i]] : NULL;
}

sp_tensor *sp__tflite_plain(sp_tflite_call *c, int i)
{
    sp_tflite_value *v = value_in(c, i);
    if (v == NULL || v->plain != NULL || v->planes == NULL) return v != NULL ? v->plain : NULL;
    return turn(c->b, v->planes, false, &v->plain);
}

sp_tensor *sp__tflite_planes(sp_tflite_call *c, int i)
{
    sp_tflite_value *v = value_in(c, i);
    if (v == NULL || v->planes != NULL || v->plain == NULL) return v != NULL ? v->planes : NULL;
    if (sp_tensor_rank(v->plain) != 4)
        return sp__builder_fail(
            c->b, sp__fail(SP_FORMAT, "input %d has rank %d, it must have 4", i, sp_tensor_rank(v->plain)));
    return turn(c->b, v->plain, true, &v->planes);
}

sp_status sp__tflite_put(sp_tflite_call *c, int i, sp_tensor *t, bool planes)
{
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(t != NULL, SP_RUNTIME, "result %d was not made", i);
    if (c->node->out[i] < 0) return SP_OK;
    sp_tflite_value *v = &c->frame[c->node->out[i]];
    sp__tflite_value_release(v);
    *(planes ? &v->planes : &v->plain) = sp_tensor_retain(t);
    return SP_OK;
}

/* --- a node ------------------------------------------------------------------------------------------------------ */

static int rank_of(const sp_tflite_value *v)
{
    const sp_tensor *t = v->plain != NULL ? v->plain : v->planes;
    return t != NULL ? sp_tensor_rank(t) : -1;
}

/* Handlers compute with dimensions; those of a symbol may not be known. */
static sp_status check_inputs(sp_tflite_call *c)
{
    for (int i = 0; i < c->node->n_in; i++) {
        const sp_tflite_value *v = value_in(c, i);
        if (v == NULL) continue;
        const sp_tensor *t = v->plain != NULL ? v->plain : v->planes;
        SP_CHECK(t != NULL || v->state >= 0, SP_FORMAT, "input %d ('%s') was not computed before it is used", i,
                 sp__tflite_in_face(c, i)->name);
        for (int k = 0; t != NULL && k < t->rank; k++)
            SP_CHECK(t->dims[k] >= 0, SP_SYMBOL, "a shape that depends on contents");
    }
    return SP_OK;
}

/* Planes, if the inputs are there in that form and the handler does not mind. */
static bool choose_planes(sp_tflite_call *c)
{
    const int how = c->node->handler->how;
    bool any = false;
    if (how & SP_TFLITE_AXES) return c->node->n_in > 0 && value_in(c, 0) != NULL && only_planes(value_in(c, 0));
    if (!(how & SP_TFLITE_ANY)) return false;
    for (int i = 0; i < c->node->n_in; i++) {
        const sp_tflite_value *v = value_in(c, i);
        if (v == NULL) continue;
        any = any || only_planes(v);
        if (rank_of(v) > 4) return false;
    }
    return any;
}

static bool same_scale(const sp_tflite_tensor *x, const sp_tflite_tensor *y)
{
    return x->meta.dtype == y->meta.dtype && x->scale.n <= 1 && x->scale.n == y->scale.n &&
           (x->scale.n == 0 || (x->scale.scale[0] == y->scale.scale[0] && x->scale.zero[0] == y->scale.zero[0]));
}

/* Whether the handler gets elements. */
static bool choose_moves(sp_tflite_call *c)
{
    const int how = c->node->handler->how;
    if (how & SP_TFLITE_MOVE || !(how & SP_TFLITE_SAME)) return how & SP_TFLITE_MOVE;
    const sp_tflite_tensor *first = sp__tflite_out_face(c, 0);
    for (int i = 0; i < c->node->n_in; i++) {
        const sp_tflite_tensor *t = sp__tflite_in_face(c, i);
        const bool number = t != NULL && (t->scale.n > 0 || sp_dtype_kind(t->meta.dtype) == 'f');
        if (number && !same_scale(t, first)) return false;
    }
    return true;
}

/* An operand of an element-wise operator next to planes: as if it were [1, .., channels], turned. */
static sp_tensor *lifted(sp_tflite_call *c, int i)
{
    sp_tensor *t = sp__tflite_plain(c, i);
    int64_t dims[4] = {1, 1, 1, 1};
    if (t == NULL || sp_tensor_count(t) == 1) return t;
    for (int k = 0, rank = sp_tensor_rank(t); k < rank; k++) dims[4 - rank + k] = sp_tensor_dims(t)[k];
    return sp_transpose(c->b, sp_reshape(c->b, t, 4, dims), 4, (int64_t[]){0, 3, 1, 2});
}

static void fetch_inputs(sp_tflite_call *c)
{
    const int how = c->node->handler->how;
    for (int i = 0; i < c->node->n_in; i++) {
        const sp_tflite_value *v = value_in(c, i);
        const sp_tflite_tensor *face = sp__tflite_in_face(c, i);
        if (v == NULL || (v->plain == NULL && v->planes == NULL)) continue;
        bool turned = c->planes && rank_of(v) == 4;
        if (turned) c->in[i] = sp__tflite_planes(c, i);
        else if (c->planes && how & SP_TFLITE_ANY) c->in[i] = lifted(c, i);
        else c->in[i] = sp__tflite_plain(c, i);
        if (!c->moves && c->in[i] != NULL) c->in[i] = sp__tflite_real(c, c->in[i], face, turned);
    }
}

/* Results of planes may have lost axes (means over pictures): then they are in order again. */
static sp_status keep_results(sp_tflite_call *c)
{
    for (int i = 0; i < c->node->n_out; i++) {
        if (c->node->out[i] < 0) continue;
        sp_tensor *t = c->out[i];
        SP_TRY(sp_builder_status(c->b));
        SP_CHECK(t != NULL, SP_RUNTIME, "result %d was not made", i);
        bool turned = c->planes && sp_tensor_rank(t) == 4;
        if (!c->moves) t = sp__tflite_rounded(c, t, i);
        SP_TRY(sp__tflite_put(c, i, t, turned));
    }
    return sp_builder_status(c->b);
}

static sp_status apply_handler(sp_tflite_call *c)
{
    const sp_tflite_handler *h = c->node->handler;
    SP_TRY(check_inputs(c));
    if (h->how & SP_TFLITE_RAW) return h->apply(c);
    c->planes = choose_planes(c);
    c->moves = choose_moves(c);
    fetch_inputs(c);
    SP_TRY(sp_builder_status(c->b));
    SP_TRY(h->apply(c));
    return keep_results(c);
}

/* Tell who watches: tensors row by row. */
static sp_status tell(sp_tflite_call *c, bool after)
{
    const sp_tflite_node *n = c->node;
    if (c->run->watch == NULL) return SP_OK;
    sp_tensor **all = sp__alloc_zero(((size_t)n->n_in + (size_t)n->n_out + 1) * sizeof *all);
    if (all == NULL) return SP_NOMEM;
    for (int i = 0; i < n->n_in; i++) all[i] = sp__tflite_plain(c, i);
    for (int i = 0; after && i < n->n_out; i++) {
        sp_tflite_value *v = n->out[i] >= 0 ? &c->frame[n->out[i]] : NULL;
        if (v == NULL) continue;
        all[n->n_in + i] = v->plain != NULL || v->planes == NULL ? v->plain : turn(c->b, v->planes, false, &v->plain);
    }
    sp_status status = sp_builder_status(c->b);
    if (status == SP_OK &&
        !c->run->watch(c->run->watcher, after, n->name, n->op, n->n_in, all, n->n_out, all + n->n_in))
        status = sp__fail(SP_INTERRUPTED, "the run was ended by who watches it");
    sp__free(all);
    return status;
}

static sp_status run_node(const sp_tflite_run *r, const sp_tflite_graph *g, const sp_tflite_node *n,
                          sp_tflite_value *frame)
{
    enum { FEW = 32 };
    sp_tensor *few[2 * FEW] = {NULL}, **many = NULL;
    int n_all = n->n_in > n->n_out ? n->n_in : n->n_out;
    if (n_all > FEW && !(many = sp__alloc_zero(2 * sizeof *many * (size_t)n_all))) return SP_NOMEM;
    sp_tensor **at = many != NULL ? many : few;
    sp_builder b;
    sp__builder_init(&b);
    sp_tflite_call c = {.node = n,
                        .graph = g,
                        .run = r,
                        .frame = frame,
                        .b = &b,
                        .n_in = n->n_in,
                        .n_out = n->n_out,
                        .in = at,
                        .out = at + (many != NULL ? n_all : FEW)};
    const struct sp_place *before = sp__model_node_enter(n->name, n->op);
    sp_status status = tell(&c, false);
    if (status == SP_OK) status = apply_handler(&c);
    if (status == SP_OK) status = tell(&c, true);
    sp__model_node_leave(before);
    sp__builder_done(&b);
    sp__free(many);
    char shown[SP_NAME_SHOWN];
    if (status != SP_OK && status != SP_SYMBOL)
        sp__error_context("node '%s' (%s)", sp__name_shown(n->name, strlen(n->name), shown), n->op);
    return status;
}

/* --- a graph ----------------------------------------------------------------------------------------------------- */

static sp_status fill_frame(const sp_tflite_run *r, const sp_tflite_graph *g, sp_tflite_value *frame)
{
    for (int i = 0; i < g->n_tensors; i++) {
        const sp_tflite_tensor *t = &g->tensors[i];
        sp_tensor *found = t->constant;
        frame[i].state = -1;
        if (t->parameter >= 0 && r->parameters != NULL && !(found = sp_bundle_tensor_at(r->parameters, t->parameter)))
            return SP_NOMEM;
        if (t->state >= 0) found = r->model->states[t->state].tensor;
        if (found != NULL) frame[i].plain = sp_tensor_retain(found);
    }
    return SP_OK;
}

sp_status sp__tflite_run_graph(const sp_tflite_run *r, const sp_tflite_graph *g, int n_args,
                               const sp_tflite_value *args, sp_tflite_value *results)
{
    SP_TRY(sp__stack_check());
    SP_CHECK(n_args == g->n_inputs, SP_FORMAT, "%d arguments for graph '%s' with %d inputs", n_args, g->name,
             g->n_inputs);
    sp_tflite_value *frame = sp__alloc_zero((size_t)(g->n_tensors + 1) * sizeof *frame);
    if (frame == NULL) return SP_NOMEM;
    sp_status status = fill_frame(r, g, frame);
    for (int i = 0; i < n_args && status == SP_OK; i++) {
        sp__tflite_value_release(&frame[g->inputs[i]]);
        frame[g->inputs[i]] = sp__tflite_value_retain(args[i]);
    }
    for (int i = 0; i < g->n_nodes && status == SP_OK; i++) {
        const sp_tflite_node *n = &g->nodes[i];
        status = run_node(r, g, n, frame);
        for (int k = 0; k < n->n_dead; k++) sp__tflite_value_release(&frame[n->dead[k]]);
    }
    for (int i = 0; i < g->n_outputs && status == SP_OK; i++)
        results[i] = sp__tflite_value_retain(frame[g->outputs[i]]);
    for (int i = 0; i < g->n_tensors; i++) sp__tflite_value_release(&frame[i]);
    sp__free(frame);
    return status;
}

/* --- the kind ---------------------------------------------------------------------------------------------------- */

void sp__tflite_release(void *data)
{
    sp_tflite_model *d = data;
    for (int i = 0; i < d->n_states; i++) sp_tensor_release(d->states[i].tensor);
    sp_bundle_release(d->tensors);
    sp__lock_destroy(&d->lock);
    sp__free(d->states);
    sp__free(d);
}

static sp_status load(const sp_source *s, sp_model *m)
{
    sp_tflite_model *d = sp__alloc_zero(sizeof *d);
    if (d == NULL) return SP_NOMEM;
    sp__lock_init(&d->lock);
    m->data = d;
    SP_TRY(sp_bundle_create(&d->tensors));
    SP_TRY(sp__tflite_read(s, m, d));
    return sp__tflite_outline(m, d);
}

/* Zero, which for int8 is the zero point. */
static sp_status fill_state(sp_tflite_state *s)
{
    if (s->meta.dtype == SP_DTYPE_NONE) return SP_OK;
    if (s->tensor == NULL) SP_TRY(sp_tensor_create(s->meta.dtype, s->meta.rank, s->meta.dims, &s->tensor));
    memset(sp_tensor_data(s->tensor), (unsigned char)s->start,
           (size_t)sp_tensor_count(s->tensor) * sp_dtype_bytes(s->meta.dtype));
    return SP_OK;
}

/* States as they are at the start; graphs that are called once are run now. */
static sp_status begin(sp_tflite_model *d)
{
    const sp_tflite_graph *g = &d->graphs[0];
    const sp_tflite_run r = {.model = d, .parameters = NULL};
    for (int i = 0; i < d->n_states; i++) {
        sp_status status = fill_state(&d->states[i]);
        if (status != SP_OK) sp__error_context("variable '%s'", d->states[i].name);
        SP_TRY(status);
    }
    for (int i = 0; i < g->n_nodes; i++) {
        if (strcmp(g->nodes[i].op, "CALL_ONCE") != 0) continue;
        SP_TRY(sp__tflite_run_graph(&r, &d->graphs[g->nodes[i].option[0]], 0, NULL, NULL));
    }
    for (int i = 0; i < d->n_states; i++)
        if (d->states[i].tensor != NULL) sp_graph_variable_mark(d->states[i].tensor);
    d->ready = true;
    return SP_OK;
}

sp_status sp__tflite_reset(const sp_model *m)
{
    sp_tflite_model *d = m->data;
    sp__lock(&d->lock);
    sp_status status = begin(d);
    sp__unlock(&d->lock);
    return status;
}

sp_status sp__tflite_apply(const sp_model *m, sp_tensor *const *in, sp_tensor **out)
{
    return sp__tflite_apply_watched(m, in, out, NULL, NULL);
}

sp_status sp__tflite_apply_watched(const sp_model *m, sp_tensor *const *in, sp_tensor **out, sp_tflite_watch watch,
                                   void *watcher)
{
    sp_tflite_model *d = m->data;
    const sp_tflite_run r = {.model = d, .parameters = m->parameters, .watch = watch, .watcher = watcher};
    sp__lock(&d->lock);
    sp_status status = d->ready ? SP_OK : begin(d);
    sp__unlock(&d->lock);
    SP_TRY(status);
    sp_tflite_value *values = sp__alloc_zero((size_t)(m->n_inputs + m->n_outputs + 1) * sizeof *values),
                    *results = values + m->n_inputs;
    if (values == NULL) return SP_NOMEM;
    sp_builder b;
    sp__builder_init(&b);
    for (int i = 0; i < m->n_inputs && status == SP_OK; i++) {
        if (in[i] == NULL) status = sp__fail(SP_VALUE, "input '%s' is missing", m->inputs[i].name);
        else values[i] = (sp_tflite_value){sp_tensor_retain(in[i]), NULL, -1};
    }
    if (status == SP_OK) status = sp__tflite_run_graph(&r, &d->graphs[0], m->n_inputs, values, results);
    for (int i = 0; i < m->n_outputs && status == SP_OK; i++) {
        sp_tflite_value *v = &results[i];
        if (only_planes(v)) turn(&b, v->planes, false, &v->plain);
        status = sp_builder_status(&b);
        if (status == SP_OK && v->plain == NULL)
            status = sp__fail(SP_FORMAT, "output '%s' is never computed", m->outputs[i].name);
        if (status == SP_OK) out[i] = sp_tensor_retain(v->plain);
    }
    for (int i = 0; i < m->n_inputs + m->n_outputs; i++) sp__tflite_value_release(&values[i]);
    sp__builder_done(&b);
    sp__free(values);
    return status;
}

const sp_model_kind sp__model_tflite = {.format = "tflite",
                                        .load = load,
                                        .release = sp__tflite_release,
                                        .apply = sp__tflite_apply,
                                        .reset = sp__tflite_reset,
                                        .freezes = true};
