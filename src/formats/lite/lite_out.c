/* SPDX-License-Identifier: Apache-2.0 */
/* lite_out.c - see lite_out.h. */
#include "formats/lite/lite_out.h"

#include <stdio.h>
#include <string.h>

#include "ops/ops_impl.h"

enum { FORMAT_PLANES = 0, FORMAT_PICTURES = 1, MADE = 2, ORIGIN_MINDSPORE = 3, BAD_SHOWN = 40 };

static void fail(sp_lite_out *o, sp_status status)
{
    if (o->status == SP_OK) o->status = status;
}

void sp__lite_out_refuse(sp_lite_out *o, const char *why)
{
    if (o->n_bad++ < BAD_SHOWN)
        sp__text_put(&o->bad, "; %s%s%s", o->node != NULL && o->node->kind == SP_NODE_OP ? o->node->op->name : "a part",
                     why[0] ? ": " : "", why);
}

/* One more thing in a list. */
static int append(sp_lite_out *o, uint32_t **list, int *n, int *room, uint32_t thing)
{
    if (*n == *room) {
        const int more = *room > 0 ? 2 * *room : 64;
        uint32_t *bigger = sp__realloc(*list, (size_t)*room * sizeof **list, (size_t)more * sizeof **list);
        if (bigger == NULL) {
            fail(o, SP_NOMEM);
            return 0;
        }
        *list = bigger;
        *room = more;
    }
    (*list)[*n] = thing;
    return (*n)++;
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

sp_meta sp__lite_out_turned(const sp_meta *m)
{
    sp_meta t = *m;
    if (m->rank != 4) return t;
    t.dims[1] = m->dims[2];
    t.dims[2] = m->dims[3];
    t.dims[3] = m->dims[1];
    return t;
}

/* QuantParam(scale zeroPoint min max narrowRange numBits inited): one for all, or one a channel. */
static uint32_t put_scales(sp_lite_out *o, const sp_tensor *scale, const sp_tensor *zero)
{
    uint32_t *all = sp__alloc((size_t)scale->count * sizeof *all);
    if (all == NULL) {
        fail(o, SP_NOMEM);
        return 0;
    }
    for (int64_t i = 0; i < scale->count; i++) {
        sp_flat_put f[SP_FLAT_FIELDS] = {{0, false, 0}};
        const double s = (double)((const float *)(const void *)scale->data)[i];
        uint64_t bits;
        memcpy(&bits, &s, sizeof bits);
        f[0] = (sp_flat_put){8, false, bits};
        f[1] = (sp_flat_put){4, false, zero != NULL ? (uint32_t)(int32_t)((const int8_t *)zero->data)[i] : 0};
        f[5] = (sp_flat_put){4, false, 8};
        f[6] = (sp_flat_put){1, false, 1};
        all[i] = sp__flat_put_table(&o->flat, f);
    }
    const uint32_t list = sp__flat_put_refs(&o->flat, (size_t)scale->count, all);
    sp__free(all);
    return list;
}

/* scale and zero: of small integers; NULL: the contents are what they are. */
static int add_tensor_scaled(sp_lite_out *o, const sp_meta *meta, bool picture, const char *title, sp_tensor *contents,
                             const sp_tensor *scale, const sp_tensor *zero)
{
    int32_t dims[SP_RANK_MAX] = {0};
    char made[32];
    sp_flat_put f[SP_FLAT_FIELDS] = {{0, false, 0}};
    const int type = sp__lite_type(meta->dtype);
    if (type == 0 || meta->rank < 0) {
        sp__lite_out_refuse(o, type == 0 ? "a dtype that the format does not have"
                                         : "a shape that is known at run time only");
        return 0;
    }
    for (int k = 0; k < meta->rank; k++) dims[k] = (int32_t)meta->dims[k];
    snprintf(made, sizeof made, "t%d", o->n_tensors);
    if (contents != NULL)
        f[6] = (sp_flat_put){4, true,
                             sp__flat_put_vector(&o->flat, sp_tensor_data(contents), sp_tensor_bytes(contents), 1)};
    f[9] = (sp_flat_put){4, true, sp__flat_put_text(&o->flat, title != NULL ? title : made)};
    f[2] = (sp_flat_put){4, true, sp__flat_put_vector(&o->flat, dims, (size_t)meta->rank, 4)};
    if (scale != NULL) f[7] = (sp_flat_put){4, true, put_scales(o, scale, zero)};
    if (contents == NULL) f[0] = (sp_flat_put){4, false, MADE};
    f[1] = (sp_flat_put){4, false, (uint64_t)type};
    f[3] = (sp_flat_put){4, false, picture ? FORMAT_PICTURES : FORMAT_PLANES};
    return append(o, &o->tensors, &o->n_tensors, &o->tensor_room, sp__flat_put_table(&o->flat, f));
}

static int add_tensor(sp_lite_out *o, const sp_meta *meta, bool picture, const char *title, sp_tensor *contents)
{
    return add_tensor_scaled(o, meta, picture, title, contents, NULL, NULL);
}

int sp__lite_out_ints(sp_lite_out *o, int n, const int64_t *v)
{
    int32_t narrow[2 * SP_RANK_MAX];
    sp_tensor *t = NULL;
    for (int k = 0; k < n; k++) {
        if (v[k] > INT32_MAX || v[k] < INT32_MIN) sp__lite_out_refuse(o, "a number that does not fit 32 bits");
        narrow[k] = (int32_t)v[k];
    }
    const sp_meta meta = {.dtype = SP_DTYPE_I32, .rank = 1, .dims = {n}};
    const sp_status status = sp_tensor_create_from(SP_DTYPE_I32, 1, meta.dims, narrow, &t);
    if (status != SP_OK) {
        fail(o, status);
        return 0;
    }
    const int index = add_tensor(o, &meta, false, NULL, t);
    sp_tensor_release(t);
    return index;
}

/* A constant in a form; scale and zero: of small integers. */
static int add_constant(sp_lite_out *o, const sp_value *v, sp_tensor *contents, bool picture, const sp_tensor *scale,
                        const sp_tensor *zero)
{
    sp_builder b;
    sp_tensor *rows = NULL;
    int index = 0;
    sp__builder_init(&b);
    sp_tensor *t = picture ? sp_transpose(&b, contents, 4, (int64_t[]){0, 2, 3, 1}) : contents;
    sp_status status = sp_builder_status(&b);
    if (status == SP_OK) status = sp_tensor_contiguous(t, &rows);
    if (status == SP_OK) {
        sp_meta meta = picture ? sp__lite_out_turned(&v->meta) : v->meta;
        if (scale != NULL) meta.dtype = (sp_dtype)contents->dtype;
        index = add_tensor_scaled(o, &meta, picture, o->titles[v->id], rows, scale, zero);
    } else fail(o, status);
    sp_tensor_release(rows);
    sp__builder_done(&b);
    return index;
}

/* The tensor behind a value that is known now: a constant, or a weight. */
static sp_tensor *known(const sp_value *v)
{
    if (v->origin == SP_VALUE_CONSTANT) return v->constant;
    return v->origin == SP_VALUE_NODE && v->node->kind == SP_NODE_READ ? v->node->variable->tensor : NULL;
}

/* Scales of blocks have the rank of what they scale. */
bool sp__lite_out_is_packed(const sp_value *v)
{
    if (v->origin != SP_VALUE_NODE || v->node->kind != SP_NODE_OP || v->node->op != &sp_op_dequantize_linear)
        return false;
    const sp_node *n = v->node;
    const sp_tensor *q = known(n->in[0]), *scale = known(n->in[1]);
    const sp_tensor *zero = n->n_in > 2 && n->in[2] != NULL ? known(n->in[2]) : NULL;
    return q != NULL && q->dtype == SP_DTYPE_I8 && scale != NULL && scale->dtype == SP_DTYPE_F32 && scale->rank <= 1 &&
           (zero != NULL ? zero->dtype == SP_DTYPE_I8 && zero->count == scale->count : n->n_in < 3 || n->in[2] == NULL);
}

static int add_known(sp_lite_out *o, const sp_value *v, bool picture)
{
    if (!sp__lite_out_is_packed(v)) return add_constant(o, v, known(v), picture, NULL, NULL);
    const sp_node *n = v->node;
    return add_constant(o, v, known(n->in[0]), picture, known(n->in[1]),
                        n->n_in > 2 && n->in[2] != NULL ? known(n->in[2]) : NULL);
}

int sp__lite_out_plain(sp_lite_out *o, const sp_value *v)
{
    sp_lite_form *f = &o->forms[v->id];
    if (f->plain >= 0) return f->plain;
    if (known(v) != NULL || sp__lite_out_is_packed(v)) return f->plain = add_known(o, v, false);
    if (f->picture < 0) {
        sp__lite_out_refuse(o, "a value that is no tensor");
        return 0;
    }
    const int perm = sp__lite_out_ints(o, 4, (int64_t[]){0, 3, 1, 2});
    return f->plain = sp__lite_out_emit(o, 162, &(sp_lite_fields){.number = {0}}, 2, (int[]){f->picture, perm},
                                        &v->meta, o->titles[v->id]);
}

int sp__lite_out_picture(sp_lite_out *o, const sp_value *v)
{
    sp_lite_form *f = &o->forms[v->id];
    if (f->picture >= 0) return f->picture;
    if (known(v) != NULL || sp__lite_out_is_packed(v)) return f->picture = add_known(o, v, true);
    const int x = sp__lite_out_plain(o, v), perm = sp__lite_out_ints(o, 4, (int64_t[]){0, 2, 3, 1});
    const sp_meta meta = sp__lite_out_turned(&v->meta);
    o->pictured = true;
    return f->picture = sp__lite_out_emit(o, 162, &(sp_lite_fields){.number = {0}}, 2, (int[]){x, perm}, &meta, NULL);
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

static sp_flat_put put_list(sp_lite_out *o, char letter, sp_tflite_longs list)
{
    if (list.n == 0) return (sp_flat_put){0, false, 0};
    if (letter != 'V') return (sp_flat_put){4, true, sp__flat_put_vector(&o->flat, list.v, (size_t)list.n, 8)};
    return (sp_flat_put){0, false, 0}; /* lists of lists are inputs here */
}

static uint32_t put_fields(sp_lite_out *o, const sp_lite_op *op, const sp_lite_fields *f)
{
    sp_flat_put puts[SP_FLAT_FIELDS] = {{0, false, 0}};
    const char *at = op->fields;
    double missing = 0;
    for (int k = 0; k < SP_FLAT_FIELDS; k++) {
        const char letter = sp__lite_field_next(&at, &missing);
        if (letter == 0) break;
        if (letter == 'L' || letter == 'V') puts[k] = put_list(o, letter, f->list[k]);
        if (letter == 'f' && f->real[k] != missing) {
            const float v = (float)f->real[k];
            uint32_t bits;
            memcpy(&bits, &v, sizeof bits);
            puts[k] = (sp_flat_put){4, false, bits};
        }
        const int bytes = letter == 'l' ? 8 : letter == 'i' ? 4 : letter == 'b' || letter == 'c' ? 1 : 0;
        if (bytes > 0 && (double)f->number[k] != missing) puts[k] = (sp_flat_put){bytes, false, (uint64_t)f->number[k]};
    }
    return sp__flat_put_table(&o->flat, puts);
}

/* A node of tensors that are there. */
static void add_node(sp_lite_out *o, int tag, const sp_lite_fields *f, int n, const int *in, int out)
{
    char name[64];
    const sp_lite_op *op = sp__lite_op(false, (uint64_t)tag);
    sp_flat_put primitive[SP_FLAT_FIELDS] = {{0, false, 0}}, node[SP_FLAT_FIELDS] = {{0, false, 0}};
    primitive[1] = (sp_flat_put){4, true, put_fields(o, op, f)};
    primitive[0] = (sp_flat_put){1, false, (uint64_t)tag};
    const uint32_t made = sp__flat_put_table(&o->flat, primitive);
    snprintf(name, sizeof name, "%s_%d", op->name, o->n_nodes);
    node[0] = (sp_flat_put){4, true, sp__flat_put_text(&o->flat, name)};
    node[2] = (sp_flat_put){4, true, made};
    node[3] = (sp_flat_put){4, true, sp__flat_put_vector(&o->flat, in, (size_t)n, 4)};
    node[4] = (sp_flat_put){4, true, sp__flat_put_vector(&o->flat, &out, 1, 4)};
    append(o, &o->nodes, &o->n_nodes, &o->node_room, sp__flat_put_table(&o->flat, node));
}

int sp__lite_out_emit(sp_lite_out *o, int tag, const sp_lite_fields *f, int n, const int *in, const sp_meta *meta,
                      const char *title)
{
    const int out = add_tensor(o, meta, o->pictured, title, NULL);
    o->pictured = false;
    add_node(o, tag, f, n, in, out);
    return out;
}

void sp__lite_out_give(sp_lite_out *o, int tag, const sp_lite_fields *f, int n, const int *in, bool picture)
{
    const sp_value *v = o->node->out[0];
    const sp_meta meta = picture ? sp__lite_out_turned(&v->meta) : v->meta;
    o->pictured = picture;
    const int out = sp__lite_out_emit(o, tag, f, n, in, &meta, picture ? NULL : o->titles[v->id]);
    *(picture ? &o->forms[v->id].picture : &o->forms[v->id].plain) = out;
}

/* --- the file ---------------------------------------------------------------------------------------------------- */

static void write_node(sp_lite_out *o, const sp_node *n)
{
    o->node = n;
    if (n->kind == SP_NODE_READ) return; /* written where it is used */
    if (n->kind != SP_NODE_OP)
        sp__lite_out_refuse(o, "control flow, code outside the graph, or variables that are written");
    else if (!sp__lite_out_rule(o, n)) sp__lite_out_refuse(o, "");
}

/* Which nodes the results need, by id. */
static void mark_needed(const sp_function *f, uint8_t *needed)
{
    for (int i = 0; i < f->n_results; i++)
        if (f->results[i]->origin == SP_VALUE_NODE) needed[f->results[i]->node->id] = 1;
    for (const sp_node *n = f->last; n != NULL; n = n->prev) {
        if (n->kind != SP_NODE_OP && n->kind != SP_NODE_READ) needed[n->id] = 1;
        for (int i = 0; needed[n->id] && i < n->n_in; i++)
            if (n->in[i] != NULL && n->in[i]->origin == SP_VALUE_NODE) needed[n->in[i]->node->id] = 1;
    }
}

static void name_values(sp_lite_out *o, const sp_function *f)
{
    for (int i = 0; i < f->n_params && i < o->names->n_inputs; i++) o->titles[f->params[i]->id] = o->names->inputs[i];
    for (int i = 0; i < f->n_results && i < o->names->n_outputs; i++)
        if (f->results[i]->origin == SP_VALUE_NODE) o->titles[f->results[i]->id] = o->names->outputs[i];
    for (const sp_node *n = f->first; n != NULL; n = n->next)
        for (int i = 0; n->kind == SP_NODE_READ && i < o->names->n_parameters; i++)
            if (o->names->parameters[i] == n->variable->tensor) o->titles[n->out[0]->id] = o->names->parameter_names[i];
}

/* The tensors of results: one of its own each, made by a node. */
static void write_results(sp_lite_out *o, const sp_function *f, int *out)
{
    for (int i = 0; i < f->n_results; i++) {
        const sp_value *v = f->results[i];
        bool own = v->origin == SP_VALUE_NODE && v->node->kind == SP_NODE_OP;
        out[i] = sp__lite_out_plain(o, v);
        for (int k = 0; k < i && own; k++) own = out[k] != out[i];
        for (int k = 0; k < f->n_params && own; k++) own = o->forms[f->params[k]->id].plain != out[i];
        if (own) continue;
        const int shape = sp__lite_out_ints(o, v->meta.rank, v->meta.dims);
        out[i] = sp__lite_out_emit(o, 119, &(sp_lite_fields){.number = {0}}, 2, (int[]){out[i], shape}, &v->meta,
                                   i < o->names->n_outputs ? o->names->outputs[i] : NULL);
    }
}

static uint32_t put_graph(sp_lite_out *o, const sp_function *f, const int *in, const int *out)
{
    sp_flat_put g[SP_FLAT_FIELDS] = {{0, false, 0}}, sub[SP_FLAT_FIELDS] = {{0, false, 0}};
    int *all = sp__alloc(((size_t)o->n_nodes + (size_t)o->n_tensors + 1) * sizeof *all);
    if (all == NULL) {
        fail(o, SP_NOMEM);
        return 0;
    }
    for (int i = 0; i < o->n_nodes + o->n_tensors; i++) all[i] = i;
    const uint32_t faces[2] = {sp__flat_put_vector(&o->flat, in, (size_t)f->n_params, 4),
                               sp__flat_put_vector(&o->flat, out, (size_t)f->n_results, 4)};
    sub[0] = (sp_flat_put){4, true, sp__flat_put_text(&o->flat, "main")};
    sub[1] = (sp_flat_put){4, true, faces[0]};
    sub[2] = (sp_flat_put){4, true, faces[1]};
    sub[3] = (sp_flat_put){4, true, sp__flat_put_vector(&o->flat, all, (size_t)o->n_nodes, 4)};
    sub[4] = (sp_flat_put){4, true, sp__flat_put_vector(&o->flat, all, (size_t)o->n_tensors, 4)};
    sp__free(all);
    const uint32_t graph = sp__flat_put_table(&o->flat, sub);
    g[0] = (sp_flat_put){4, true, sp__flat_put_text(&o->flat, "spore")};
    g[1] = (sp_flat_put){4, true, sp__flat_put_text(&o->flat, "MindSpore Lite 2.3.0")};
    g[2] = (sp_flat_put){4, false, ORIGIN_MINDSPORE};
    g[3] = (sp_flat_put){4, true, faces[0]};
    g[4] = (sp_flat_put){4, true, faces[1]};
    g[6] = (sp_flat_put){4, true, sp__flat_put_refs(&o->flat, (size_t)o->n_nodes, o->nodes)};
    g[7] = (sp_flat_put){4, true, sp__flat_put_refs(&o->flat, (size_t)o->n_tensors, o->tensors)};
    g[8] = (sp_flat_put){4, true, sp__flat_put_refs(&o->flat, 1, &graph)};
    return sp__flat_put_table(&o->flat, g);
}

static sp_status write_function(sp_lite_out *o, const sp_function *f, uint8_t *needed, int *in, int *out)
{
    mark_needed(f, needed);
    name_values(o, f);
    for (int i = 0; i < o->graph->next_value; i++) o->forms[i] = (sp_lite_form){-1, -1};
    for (int i = 0; i < f->n_params; i++) {
        o->node = f->first;
        in[i] = o->forms[f->params[i]->id].plain =
            add_tensor(o, &f->params[i]->meta, true, o->titles[f->params[i]->id], NULL);
    }
    for (const sp_node *n = f->first; n != NULL; n = n->next)
        if (needed[n->id]) write_node(o, n);
    if (o->n_bad == 0) write_results(o, f, out);
    if (o->status == SP_OK && o->n_bad > 0)
        fail(o, sp__fail(SP_DECLINED, "the network holds what is not written to MindSpore Lite's files: %s",
                         o->bad.data != NULL ? o->bad.data + 2 : ""));
    if (o->status == SP_OK) sp__flat_put_root(&o->flat, put_graph(o, f, in, out), "MSL2");
    return o->status != SP_OK ? o->status : o->flat.status;
}

static sp_status write_file(const char *path, const sp_file_options *options, const sp_flat_out *flat)
{
    sp_sink *sink = NULL;
    SP_TRY(sp__sink_open(path, options, flat->used, &sink));
    sp_status status = sp__sink_write(sink, flat->data + flat->room - flat->used, flat->used);
    if (status == SP_OK) return sp__sink_take_commit(sink);
    sp__sink_abort(sink);
    return status;
}

sp_status sp__lite_save(const char *path, sp_function *f, const sp_model_names *names, const sp_file_options *options)
{
    sp_graph *g = f->graph;
    sp_lite_out o = {.graph = g, .names = names};
    SP_CHECK(names->other == NULL && f->tail == NULL, SP_DECLINED,
             "files of MindSpore Lite with open sizes are not written: give them (--shape)");
    o.forms = sp__alloc_zero(((size_t)g->next_value + 1) * sizeof *o.forms);
    o.titles = sp__alloc_zero(((size_t)g->next_value + 1) * sizeof *o.titles);
    uint8_t *needed = sp__alloc_zero((size_t)g->next_node + 1);
    int *faces = sp__alloc_zero(((size_t)f->n_params + (size_t)f->n_results + 1) * sizeof *faces);
    sp_status status = o.forms && o.titles && needed && faces ? SP_OK : SP_NOMEM;
    if (status == SP_OK) status = write_function(&o, f, needed, faces, faces + f->n_params);
    if (status == SP_OK) status = write_file(path, options, &o.flat);
    sp__free(o.forms);
    sp__free(o.titles);
    sp__free(needed);
    sp__free(faces);
    sp__free(o.tensors);
    sp__free(o.nodes);
    sp__free(o.flat.data);
    sp__free(o.bad.data);
    return status;
}
