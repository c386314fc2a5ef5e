/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_build.c - recorded functions as MindIR, in the form MindSpore 2.10 writes.
 *
 * A function of the graph is a function of the model. A node with one result is called after its value; of several results the node
 * is a tuple, and TupleGetItem nodes name them. Only what results and effects need is written: operators that a primitive takes the place
 * of together with the one that uses them are not needed by anything else.
 *
 * Reading and writing Parameters is ordered by a state that goes through Load, Assign and UpdateState; the results wait for the last one.
 * A function that reads or writes what is written somewhere takes those Parameters as its first arguments; then all functions but the
 * entry take the state as their last one, so that it does not matter which of them a call reaches. */
#include "formats/mindir/mindir_build.h"

#include <stdio.h>
#include <string.h>

#include "formats/mindir/mindir_out.h"
#include "formats/model_impl.h"

/* --- effects ----------------------------------------------------------------------------------------------------- */

enum { ALIGNED = 64 };

static const char *weight_name(const sp_mindir_out *o, const sp_tensor *t)
{
    for (int i = 0; i < o->names->n_parameters; i++)
        if (o->names->parameters[i] == t) return o->names->parameter_names[i];
    return NULL;
}

/* The name of a Parameter in the function being written: its own, or that of the argument it is. */
static sp_mindir_id weight_here(sp_mindir_out *o, const sp_variable *v)
{
    const char *name = weight_name(o, v->tensor);
    return sp__mindir_out_text(o, "%s:%s", sp__mindir_out_function(o, o->fn), name ? name : "");
}

static sp_mindir_id state_here(sp_mindir_out *o) { return o->state ? o->state : sp__mindir_out_monad(o); }

/* Effects from now on come after `done`. */
static void go_on_after(sp_mindir_out *o, sp_mindir_id done)
{
    sp_mindir_id in[2] = {state_here(o), done};
    o->state = sp__mindir_out_fresh(o);
    sp__mindir_out_node(o, sp__mindir_out_instance(o, "UpdateState", NULL), 2, in, o->state, NULL);
}

static sp_status write_effect(sp_mindir_out *o, const sp_node *n)
{
    SP_CHECK(weight_name(o, n->variable->tensor), SP_VALUE, "a Parameter that the network does not list is used");
    sp_mindir_id name = weight_here(o, n->variable), state = state_here(o);
    if (n->kind == SP_NODE_READ) {
        sp_mindir_id in[2] = {name, state};
        sp_mindir_id read =
            sp__mindir_out_results(o, sp__mindir_out_instance(o, "Load", NULL), 2, in, 1, n->out, false);
        if (n->variable->written) go_on_after(o, read); /* what is stored later must not come before */
        return SP_OK;
    }
    sp_mindir_id in[3] = {name, sp__mindir_out_use(o, n->in[0]), state};
    go_on_after(o, sp__mindir_out_op(o, "Assign", "side_effect_mem=True", 3, in, &n->in[0]->meta));
    return SP_OK;
}

bool sp__mindir_out_fails(const sp_node *n)
{
    return n->kind == SP_NODE_HOST &&
           (!strcmp(n->host->name, SP_HOST_FAILURE) || !strcmp(n->host->name, SP_HOST_ASSERT));
}

/* Assert says that a condition holds. One that never does takes its place where a branch cannot be taken; zeros are the results there. Its message
 * goes into an attribute, which MindSpore passes by. */
static void write_failure(sp_mindir_out *o, const sp_node *n)
{
    const sp_meta flag = {.dtype = SP_DTYPE_BOOL, .rank = n->in[0]->meta.rank}, *metas[1] = {&n->in[0]->meta},
                  done = {.dtype = SP_DTYPE_I32, .rank = 1, .dims = {1}};
    char message[256];
    snprintf(message, sizeof message, "%s", (const char *)n->host->context);
    for (char *p = message; *p; p++)
        if (*p == '\'' || (unsigned char)*p < ' ') *p = '"'; /* what ends a text in attributes */
    sp_mindir_id given = sp__mindir_out_use(o, n->in[0]),
                 holds = sp__mindir_out_cast(o, given, *metas[0], SP_DTYPE_BOOL);
    if (!strcmp(n->host->name, SP_HOST_FAILURE))
        holds = SP_MINDIR_OUT(o, "LogicalAnd", NULL, &flag, holds, SP_MINDIR_OUT(o, "LogicalNot", NULL, &flag, holds));
    sp_mindir_id list = sp__mindir_out_fresh(o);
    sp_mindir_out_msg type = {.status = SP_OK};
    sp__mindir_out_put_types(&type, 5, "shape", 1, metas);
    sp__mindir_out_node(o, sp__mindir_out_instance(o, "MakeTuple", NULL), 1, &given, list, &type);
    go_on_after(o, SP_MINDIR_OUT(o, "Assert",
                                 sp__mindir_out_text(o, "summarize=3, side_effect_io=True, message='%s'", message),
                                 &done, holds, list, state_here(o)));
    for (int i = 0; i < n->n_out; i++) {
        const sp_meta *m = &n->out[i]->meta;
        sp_mindir_id in[2] = {sp__mindir_out_ints(o, m->rank, m->dims), sp__mindir_out_scalar(o, m->dtype, 0)};
        sp__mindir_out_results(o, sp__mindir_out_instance(o, "FillV2", NULL), 2, in, 1, &n->out[i], false);
    }
}

/* --- weights and state as arguments ------------------------------------------------------------------------------ */

static uint8_t *passed_to(const sp_mindir_out *o, const sp_function *f)
{
    return o->passed + (size_t)f->id * (size_t)o->graph->n_variables;
}

static void mark_passed(sp_mindir_out *o, const sp_function *f, const sp_variable *v)
{
    for (int i = 0; i < o->graph->n_variables; i++)
        if (o->graph->variables[i] == v) passed_to(o, f)[i] = 1;
    o->ordered |= f != o->entry;
}

/* What f uses by a function that it mentions; did it become more? */
static bool take_over(sp_mindir_out *o, const sp_function *f, const sp_function *used)
{
    uint8_t *all = passed_to(o, f), *more = passed_to(o, used);
    bool changed = false;
    for (int i = 0; i < o->graph->n_variables; i++) {
        changed |= more[i] && !all[i];
        all[i] |= more[i];
    }
    return changed;
}

static sp_status find_passed(sp_mindir_out *o)
{
    bool changed = true;
    o->passed = sp__arena_alloc(&o->arena, (size_t)o->graph->n_functions * (size_t)o->graph->n_variables + 1);
    if (!o->passed) return SP_NOMEM;
    for (sp_function *f = o->graph->first; f; f = f->next)
        for (const sp_node *n = f->first; n && o->reached[f->id]; n = n->next)
            if (n->kind == SP_NODE_STORE || (n->kind == SP_NODE_READ && n->variable->written))
                mark_passed(o, f, n->variable);
    while (changed && o->ordered) {
        changed = false;
        for (sp_function *f = o->graph->first; f; f = f->next)
            for (const sp_node *n = f->first; n && o->reached[f->id]; n = n->next)
                for (int i = 0; i < n->n_in; i++)
                    if (n->in[i] && n->in[i]->origin == SP_VALUE_FUNCTION) changed |= take_over(o, f, n->in[i]->target);
    }
    return SP_OK;
}

/* The weights that v wants, when it is a function, at the start of its arguments; how many. */
static int put_passed(sp_mindir_out *o, const sp_value *v, sp_mindir_id *in)
{
    int n = 0;
    for (int i = 0; v->origin == SP_VALUE_FUNCTION && i < o->graph->n_variables; i++)
        if (passed_to(o, v->target)[i]) in[n++] = weight_here(o, o->graph->variables[i]);
    return n;
}

static sp_mindir_id *new_arguments(sp_mindir_out *o, const sp_node *n)
{
    sp_mindir_id *in = sp__arena_alloc(&o->arena, (size_t)(n->n_in + o->graph->n_variables + 2) * sizeof *in);
    if (!in) o->model.status = SP_NOMEM;
    return in;
}

/* A value; a function that wants weights has them bound. */
static sp_mindir_id use_bound(sp_mindir_out *o, const sp_node *n, int i)
{
    sp_mindir_id *in = new_arguments(o, n), name;
    if (!in) return "";
    in[0] = sp__mindir_out_use(o, n->in[i]);
    int bound = put_passed(o, n->in[i], in + 1);
    if (!bound) return in[0];
    sp__mindir_out_node(o, sp__mindir_out_instance(o, "Partial", NULL), bound + 1, in, name = sp__mindir_out_fresh(o),
                        NULL);
    return name;
}

/* --- control flow ------------------------------------------------------------------------------------------------ */

static sp_status write_call(sp_mindir_out *o, const sp_node *n, const char *result)
{
    sp_mindir_id *in = new_arguments(o, n);
    if (!in) return SP_NOMEM;
    int n_in = put_passed(o, n->in[0], in);
    for (int i = 1; i < n->n_in; i++) in[n_in++] = use_bound(o, n, i);
    if (o->ordered) in[n_in++] = state_here(o);
    const char *callee = sp__mindir_out_name(o, n->in[0]);
    if (!result && !n->n_out) result = sp__mindir_out_fresh(o);
    if (result) sp__mindir_out_node(o, callee, n_in, in, result, NULL);
    else result = sp__mindir_out_results(o, callee, n_in, in, n->n_out, n->out, n->n_out > 1);
    if (o->ordered) go_on_after(o, result);
    return o->model.status;
}

static sp_status write_function_value(sp_mindir_out *o, const sp_node *n)
{
    sp_mindir_id *in = new_arguments(o, n);
    if (!in) return SP_NOMEM;
    int n_in = 1;
    in[0] = sp__mindir_out_use(o, n->in[0]);
    if (n->kind == SP_NODE_PARTIAL) n_in += put_passed(o, n->in[0], in + 1);
    for (int i = 1; i < n->n_in; i++) in[n_in++] = use_bound(o, n, i);
    /* A function that nothing is bound to is that function. */
    sp__mindir_out_node(o, sp__mindir_out_instance(o, n->kind == SP_NODE_SWITCH ? "Switch" : "Partial", NULL), n_in, in,
                        sp__mindir_out_name(o, n->out[0]), NULL);
    return o->model.status;
}

static sp_status write_node(sp_mindir_out *o, const sp_node *n)
{
    int axis;
    switch (n->kind) {
    case SP_NODE_READ:
    case SP_NODE_STORE: return write_effect(o, n);
    case SP_NODE_CALL: return n->n_out || o->ordered ? write_call(o, n, NULL) : SP_OK;
    case SP_NODE_PARTIAL:
    case SP_NODE_SWITCH: return write_function_value(o, n);
    case SP_NODE_HOST: /* generators of MindSpore have states of their own */
        if (sp__mindir_out_fails(n)) write_failure(o, n);
        else if (sp__node_is_size(n, &axis)) sp__mindir_out_size(o, n);
        return o->model.status;
    default: break;
    }
    sp_status status = sp__mindir_out_write(o, n);
    if (status != SP_OK)
        sp__error_context("%s%s%s", n->op->name, n->place ? ", line " : "",
                          n->place ? sp__mindir_out_text(o, "%d of %s", n->place->line, n->place->file) : "");
    return status;
}

/* --- what is needed ---------------------------------------------------------------------------------------------- */

static void need(sp_mindir_out *o, const sp_value *v)
{
    v = v ? sp__mindir_out_behind(v) : NULL;
    if (!v || v->origin != SP_VALUE_NODE) return;
    o->used[v->id] = 1;
    o->live[v->node->id] = 1;
}

/* From the last node to the first: what is needed comes before. */
static sp_status find_live(sp_mindir_out *o, const sp_function *f)
{
    if (f->tail) o->live[f->tail->id] = 1;
    for (int i = 0; i < f->n_results; i++) need(o, f->results[i]);
    for (sp_node *n = f->last; n; n = n->prev) {
        if (n->kind == SP_NODE_STORE || sp__mindir_out_fails(n) || (n->kind == SP_NODE_CALL && o->ordered))
            o->live[n->id] = 1;
        if (!o->live[n->id]) continue;
        const sp_mindir_out_rule *rule = n->kind == SP_NODE_OP ? sp__mindir_out_rule(n) : NULL;
        if (rule && rule->fuse) {
            sp_mindir_out_fused *fused = sp__arena_alloc(&o->arena, sizeof *fused);
            if (!fused) return SP_NOMEM;
            rule->fuse(n, fused);
            o->fused[n->id] = fused;
            for (int i = 0; i < fused->n; i++) need(o, fused->in[i]);
        } else
            for (int i = 0; i < n->n_in; i++) need(o, n->in[i]);
        for (const sp_mindir_out_number *p = o->numbers[n->id]; p; p = p->next)
            for (int i = 0; i < p->form.n; i++) need(o, p->of[i].v);
    }
    return SP_OK;
}

/* --- functions and the model ------------------------------------------------------------------------------------- */

static void put_passed_inputs(sp_mindir_out *o, const sp_function *f)
{
    for (int i = 0; i < o->graph->n_variables; i++) {
        const sp_variable *v = o->graph->variables[i];
        sp_mindir_out_msg info = {.status = SP_OK}, t = {.status = SP_OK};
        if (!passed_to(o, f)[i]) continue;
        for (int k = 0; k < v->tensor->rank; k++) sp__mindir_out_put_number(&t, 1, v->tensor->dims[k]);
        sp__mindir_out_put_number(&t, 2, sp__mindir_out_data_type((sp_dtype)v->tensor->dtype));
        sp__mindir_out_put_text(&t, 13, weight_name(o, v->tensor));
        sp__mindir_out_put_text(&info, 1, weight_here(o, v));
        sp__mindir_out_put_message(&info, 2, &t);
        sp__mindir_out_put_message(&o->graph_out, 5, &info);
    }
}

static sp_mindir_id state_argument(sp_mindir_out *o, const sp_function *f)
{
    return sp__mindir_out_text(o, "%s:u", sp__mindir_out_function(o, f));
}

static void put_state_input(sp_mindir_out *o, const sp_function *f)
{
    sp_mindir_out_msg info = {.status = SP_OK}, type = {.status = SP_OK};
    sp__mindir_out_put_text(&info, 1, state_argument(o, f));
    sp__mindir_out_put_text(&info, 4, "UMonadType");
    sp__mindir_out_put_number(&type, 16, SP_MINDIR_OUT_UMONAD);
    sp__mindir_out_put_message(&info, 5, &type);
    sp__mindir_out_put_message(&o->graph_out, 5, &info);
}

static void write_inputs(sp_mindir_out *o, const sp_function *f)
{
    if (f != o->entry) put_passed_inputs(o, f);
    for (int i = 0; i < f->n_params; i++) {
        sp_mindir_out_msg v = {.status = SP_OK};
        sp__mindir_out_put_text(&v, 1, sp__mindir_out_name(o, f->params[i]));
        sp__mindir_out_put_tensor_type(&v, 2, &f->params[i]->meta);
        sp__mindir_out_put_message(&o->graph_out, 5, &v);
    }
    if (f != o->entry && o->ordered) put_state_input(o, f);
}

/* A weight that lies in a file beside: its place there follows the ones before, at a multiple of 64 behind a record of 64 bytes. */
static void put_outside(sp_mindir_out *o, sp_tensor *t, const char *name, const char *ref_key)
{
    sp_mindir_out_msg p = {.status = SP_OK}, e = {.status = SP_OK};
    uint64_t bytes = sp_tensor_bytes(t), *offset = &o->outside->bytes;
    for (int i = 0; i < t->rank; i++) sp__mindir_out_put_number(&p, 1, t->dims[i]);
    sp__mindir_out_put_number(&p, 2, sp__mindir_out_data_type((sp_dtype)t->dtype));
    sp__mindir_out_put_text(&p, 7, name);
    sp__mindir_out_put_text(&e, 1, o->outside->location);
    sp__mindir_out_put_number(&e, 2, (int64_t)*offset);
    sp__mindir_out_put_number(&e, 3, (int64_t)bytes);
    sp__mindir_out_put_message(&p, 12, &e);
    sp__mindir_out_put_text(&p, 13, ref_key);
    sp__mindir_out_put_number(&p, 16, 0);
    sp__mindir_out_put_message(&o->graph_out, 3, &p);
    *offset = (*offset + bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    o->outside->tensors[o->outside->n++] = t;
}

/* Whether a node that is written reads or writes the weight. */
static bool is_used(const sp_mindir_out *o, const sp_tensor *t)
{
    for (const sp_function *f = o->graph->first; f; f = f->next)
        for (const sp_node *n = f->first; n && o->reached[f->id]; n = n->next)
            if ((n->kind == SP_NODE_READ || n->kind == SP_NODE_STORE) && o->live[n->id] && n->variable->tensor == t)
                return true;
    return false;
}

static void write_weights(sp_mindir_out *o)
{
    for (int i = 0; i < o->names->n_parameters; i++) {
        const char *name = o->names->parameter_names[i];
        const bool used = is_used(o, o->names->parameters[i]);
        const char *full = used ? sp__mindir_out_text(o, "%s:%s", sp__mindir_out_function(o, o->entry), name) : NULL;
        if (used && o->outside) put_outside(o, o->names->parameters[i], full, name);
        else if (used) sp__mindir_out_put_tensor(&o->graph_out, 3, o->names->parameters[i], full, name);
    }
}

static void put_results_type(sp_mindir_out *o, const sp_function *f, sp_mindir_out_msg *info)
{
    const sp_meta **metas = sp__arena_alloc(&o->arena, (size_t)(f->n_results + 1) * sizeof *metas);
    if (!metas) info->status = SP_NOMEM;
    else if (f->n_results == 1) sp__mindir_out_put_tensor_type(info, 2, &f->results[0]->meta);
    else if (f->n_results > 1) {
        for (int i = 0; i < f->n_results; i++) metas[i] = &f->results[i]->meta;
        sp__mindir_out_put_text(info, 4, "Tuple");
        sp__mindir_out_put_types(info, 5, NULL, f->n_results, metas);
    }
}

/* The name of what the function gives, and what kind of value that is. */
static sp_status write_result(sp_mindir_out *o, const sp_function *f, sp_mindir_id *out, sp_mindir_out_msg *info)
{
    if (f->tail) {
        *out = sp__mindir_out_fresh(o);
        SP_TRY(write_call(o, f->tail, *out));
        put_results_type(o, f, info);
    } else if (f == o->entry && o->names->form) SP_TRY(sp__mindir_out_result_of_form(o, f, o->names->form, out, info));
    else {
        *out = f->n_results == 1 ? sp__mindir_out_use(o, f->results[0])
                                 : sp__mindir_out_tuple(o, f->n_results, f->results);
        put_results_type(o, f, info);
    }
    if (!o->state) return SP_OK;
    sp_mindir_id in[2] = {*out, o->state};
    *out = sp__mindir_out_fresh(o);
    sp__mindir_out_node(o, sp__mindir_out_instance(o, "Depend", "side_effect_propagate=1"), 2, in, *out, NULL);
    return SP_OK;
}

static sp_status write_function(sp_mindir_out *o, sp_function *f)
{
    sp_mindir_id result;
    sp_mindir_out_msg type = {.status = SP_OK}, out = {.status = SP_OK};
    o->fn = f;
    o->state = f != o->entry && o->ordered ? state_argument(o, f) : NULL;
    o->graph_out = (sp_mindir_out_msg){.status = SP_OK};
    for (const sp_node *n = f->first; n; n = n->next)
        if (n != f->tail && o->live[n->id]) SP_TRY(write_node(o, n));
    sp_status status = write_result(o, f, &result, &type);
    if (status != SP_OK) {
        sp__wire_out_free(&type.out);
        return status;
    }
    sp__mindir_out_put_text(&o->graph_out, 2, sp__mindir_out_function(o, f));
    if (f == o->entry) write_weights(o);
    write_inputs(o, f);
    sp__mindir_out_put_text(&out, 1, result);
    sp__mindir_out_put_fields(&out, &type);
    sp__mindir_out_put_message(&o->graph_out, 6, &out);
    sp__mindir_out_put_text(&o->graph_out, 7, "");
    sp__mindir_out_put_text(&o->graph_out, 9, "");
    sp__mindir_out_put_message(&o->model, f == o->entry ? 7 : 8, &o->graph_out);
    return o->model.status;
}

/* MindSpore runs functions only when all they use is passed to them. What is nowhere stored to may be read first of all, at the start;
 * then what functions use of others becomes arguments. The graph means the same afterwards. */
static sp_status pass_everything(sp_function *entry)
{
    sp_graph *g = entry->graph;
    for (sp_function *f = g->first; f; f = f->next) {
        for (sp_node *n = f->first, *next; f != entry && n; n = next) {
            next = n->next;
            if (n->kind != SP_NODE_READ || n->variable->written) continue;
            sp_node *first = entry->first;
            sp_node *read = first ? sp__node_insert(first, SP_NODE_READ, 0, NULL, 1)
                                  : sp__node_append(entry, SP_NODE_READ, 0, NULL, 1);
            if (!read) return SP_NOMEM;
            read->variable = n->variable;
            read->out[0]->meta = n->out[0]->meta;
            sp__value_replace(g, n->out[0], read->out[0]);
            sp__node_remove(n);
        }
    }
    return sp__graph_close(g);
}

static sp_status prepare(sp_mindir_out *o)
{
    SP_TRY(sp__mindir_out_lower(o->entry));
    SP_TRY(pass_everything(o->entry));
    size_t n_nodes = (size_t)o->graph->next_node + 1, n_values = (size_t)o->graph->next_value + 1;
    if (!(o->numbers = sp__arena_alloc(&o->arena, n_nodes * sizeof *o->numbers))) return SP_NOMEM;
    for (int k = 1; k < sp__sizes_trials(o->names); k++) {
        sp_function *other = k == 1 ? o->names->other : o->names->more[k - 2];
        SP_TRY(sp__mindir_out_lower(other));
        SP_TRY(pass_everything(other));
    }
    if (o->names->other) SP_TRY(sp__mindir_out_free_sizes(o));
    o->reached = sp__arena_alloc(&o->arena, (size_t)o->graph->n_functions + 1);
    o->live = sp__arena_alloc(&o->arena, n_nodes);
    o->used = sp__arena_alloc(&o->arena, n_values);
    o->written = sp__arena_alloc(&o->arena, n_values);
    o->fused = sp__arena_alloc(&o->arena, n_nodes * sizeof *o->fused);
    if (!o->reached || !o->live || !o->used || !o->written || !o->fused) return SP_NOMEM;
    sp__mindir_out_reach(o->entry, o->reached);
    SP_TRY(find_passed(o));
    for (sp_function *f = o->graph->first; f; f = f->next)
        if (o->reached[f->id]) SP_TRY(find_live(o, f));
    return SP_OK;
}

static sp_status write_all(sp_mindir_out *o)
{
    SP_TRY(prepare(o));
    sp__mindir_out_put_text(&o->model, 1, "1.1");
    sp__mindir_out_put_text(&o->model, 2, "MindSpore");
    sp__mindir_out_put_text(&o->model, 5, "2.10.0");
    SP_TRY(write_function(o, o->entry));
    for (sp_function *f = o->graph->first; f; f = f->next)
        if (o->reached[f->id] && f != o->entry) SP_TRY(write_function(o, f));
    sp__mindir_out_put_number(&o->model, 10, 1);
    if (o->model.status == SP_OK) o->model.status = o->primitives.status;
    if (o->model.status == SP_OK && o->primitives.out.bytes)
        o->model.status = sp__wire_put(&o->model.out, o->primitives.out.data, o->primitives.out.bytes);
    sp__mindir_out_put_number(&o->model, 13, 3);
    for (int i = 0; i < o->names->n_info; i++) {
        sp_mindir_out_msg entry = {.status = SP_OK};
        sp__mindir_out_put_text(&entry, 1, o->names->info_keys[i]);
        sp__mindir_out_put_text(&entry, 2, o->names->info[i]);
        sp__mindir_out_put_message(&o->model, 14, &entry);
    }
    return o->model.status;
}

sp_status sp__mindir_build(sp_function *f, const sp_model_names *names, sp_mindir_outside *outside, sp_wire_out *out)
{
    SP_CHECK(f->finished && f->n_params == names->n_inputs, SP_VALUE,
             "the function has %d inputs, but %d names are given", f->n_params, names->n_inputs);
    sp_mindir_out o = {.graph = f->graph, .entry = f, .names = names, .outside = outside};
    sp_status status = write_all(&o);
    sp__wire_out_free(&o.primitives.out);
    if (status != SP_OK) {
        sp__wire_out_free(&o.graph_out.out);
        sp__wire_out_free(&o.model.out);
    } else *out = o.model.out;
    sp__sizes_free(&o.sizes);
    sp__arena_free(&o.arena);
    return status;
}
