/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_file.c - an ONNX graph in memory into a file.
 *
 *     ModelProto  1 ir_version 2 producer_name 7 graph 8 opset_import{2 version} 3 producer_version
 *     GraphProto  1 node 2 name 5 initializer 11 input 12 output
 *     NodeProto   1 input 2 output 3 name 4 op_type 5 attribute
 *     TensorProto 1 dims 2 data_type 8 name 9 raw_data, or 13 external_data{1 key 2 value} 14 data_location
 *     ValueInfoProto 1 name 2 type{1 tensor_type{1 elem_type 2 shape{1 dim{1 dim_value 2 dim_param}}}}
 *
 * Weights go from where they lie to the file; they are never gathered. Past the limit of protobuf (2 GB), or options' shard_bytes, they
 * lie in a file beside. That one is written first, under a name that no model in the folder refers to, so that whatever happens there is
 * a complete model under the old name: the old one or the new one. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/format_impl.h"
#include "formats/onnx/onnx_out_graph.h"
#include "formats/onnx/onnx_tensor.h"

enum { OPSET_LOW = 13, OPSET_HIGH = 26, OPSET_INITIAL = 17, PROTOBUF_MAX = 1900000000, ALIGNED = 4096, TYPE_INT4 = 22 };

/* --- what is needed ---------------------------------------------------------------------------------------------- */

static void need_graph(const sp_onnx_out_graph *g, uint8_t *needed);

static void need_node(sp_onnx_out_node *n, uint8_t *needed)
{
    for (int i = 0; i < n->n_out; i++) n->needed |= n->out[i] && needed[n->out[i]];
    if (!n->needed) return;
    for (int i = 0; i < n->n_in; i++) needed[n->in[i]] = 1;
    for (int i = 0; i < n->n_graphs; i++) need_graph(n->graphs[i], needed);
}

/* From the last node to the first: recursion over a list would be deep. */
static void need_graph(const sp_onnx_out_graph *g, uint8_t *needed)
{
    int n = 0;
    for (sp_onnx_out_node *x = g->first; x; x = x->next) n++;
    sp_onnx_out_node **all = sp__alloc((size_t)n * sizeof *all + 1);
    for (int i = 0; i < g->n_out; i++) needed[g->out[i]] = 1;
    n = 0;
    for (sp_onnx_out_node *x = g->first; x; x = x->next) {
        if (all) all[n++] = x;
        else x->needed = true; /* no memory: everything is kept, which is as right */
        if (!all)
            for (int i = 0; i < x->n_in; i++) needed[x->in[i]] = 1;
    }
    while (all && n > 0) need_node(all[--n], needed);
    sp__free(all);
}

/* --- messages ---------------------------------------------------------------------------------------------------- */

static sp_status put_text(sp_wire_out *w, uint32_t field, const char *s)
{
    SP_TRY(sp__wire_put_head(w, field, strlen(s)));
    return sp__wire_put(w, s, strlen(s));
}

/* `inner`, used up, as a field of w. */
static sp_status put_message(sp_wire_out *w, uint32_t field, sp_wire_out *inner, sp_status status)
{
    if (status == SP_OK) status = sp__wire_put_head(w, field, inner->bytes);
    if (status == SP_OK) status = sp__wire_put(w, inner->data, inner->bytes);
    sp__wire_out_free(inner);
    return status;
}

/* Size k of an input or output: a number, or a name where it is free. */
typedef struct {
    const sp_meta *meta, *other; /* NULL: no shape is written */
    const char *const *axes;
    bool pairs; /* complex numbers: one more axis, of two */
} shape;

static sp_status put_dim(sp_wire_out *w, const shape *s, int k)
{
    sp_wire_out dim = {0};
    char name[32];
    bool open = s->meta->dims[k] < 0 || (s->other && s->other->dims[k] != s->meta->dims[k]);
    snprintf(name, sizeof name, "dim_%lld_%lld", (long long)s->meta->dims[k],
             (long long)(s->other ? s->other->dims[k] : -1));
    sp_status status = !open ? sp__wire_put_number(&dim, 1, (uint64_t)s->meta->dims[k])
                             : put_text(&dim, 2, s->axes && s->axes[k] ? s->axes[k] : name);
    return put_message(w, 1, &dim, status);
}

static sp_status put_info(sp_wire_out *w, uint32_t field, const char *name, sp_dtype dtype, const shape *s)
{
    sp_wire_out info = {0}, type = {0}, tensor = {0}, dims = {0};
    sp_status status = sp__wire_put_number(&tensor, 1, (uint64_t)sp__onnx_dtype_number(dtype));
    for (int k = 0; s->meta && k < s->meta->rank && status == SP_OK; k++) status = put_dim(&dims, s, k);
    if (s->pairs && status == SP_OK) status = put_dim(&dims, &(shape){.meta = &(sp_meta){.rank = 1, .dims = {2}}}, 0);
    if (s->meta && s->meta->rank >= 0) status = put_message(&tensor, 2, &dims, status);
    status = put_message(&type, 1, &tensor, status);
    if (status == SP_OK) status = put_text(&info, 1, name);
    status = put_message(&info, 2, &type, status);
    return put_message(w, field, &info, status);
}

static sp_status put_graph(sp_onnx_out *o, sp_wire_out *w, const sp_onnx_out_graph *g);

static sp_status put_node(sp_onnx_out *o, sp_wire_out *w, const sp_onnx_out_node *n, const uint8_t *needed)
{
    sp_wire_out m = {0};
    char name[512];
    sp_status status = SP_OK;
    for (int i = 0; i < n->n_in && status == SP_OK; i++)
        status = put_text(&m, 1, n->in[i] ? o->values[n->in[i]].name : "");
    for (int i = 0; i < n->n_out && status == SP_OK; i++) {
        bool state = n->n_graphs > 0; /* all results of If and Loop have to be there */
        status = put_text(&m, 2, needed[n->out[i]] || state || i == 0 ? o->values[n->out[i]].name : "");
    }
    snprintf(name, sizeof name, "%s%.400s/%s_%d", *n->scope ? "/" : "", n->scope, n->op, ++o->counter);
    if (status == SP_OK) status = put_text(&m, 3, name);
    if (status == SP_OK) status = put_text(&m, 4, n->op);
    if (status == SP_OK && n->attrs.bytes) status = sp__wire_put(&m, n->attrs.data, n->attrs.bytes);
    for (int i = 0; i < n->n_graphs && status == SP_OK; i++) {
        sp_wire_out a = {0}, graph = {0};
        status = put_text(&a, 1, n->graph_names[i]);
        if (status == SP_OK) status = put_graph(o, &graph, n->graphs[i]);
        status = put_message(&a, 6, &graph, status);
        if (status == SP_OK) status = sp__wire_put_number(&a, 20, 5);
        status = put_message(&m, 5, &a, status);
    }
    return put_message(w, 1, &m, status);
}

static sp_status put_nodes(sp_onnx_out *o, sp_wire_out *w, const sp_onnx_out_graph *g)
{
    for (const sp_onnx_out_node *n = g->first; n; n = n->next)
        if (n->needed) SP_TRY(put_node(o, w, n, o->needed));
    return put_text(w, 2, g->name);
}

static sp_status put_graph(sp_onnx_out *o, sp_wire_out *w, const sp_onnx_out_graph *g)
{
    /* Of a Loop's body the first two inputs, turn and condition, are scalars; ONNX Runtime wants that to be said. */
    const sp_meta rank_0 = {.rank = 0};
    const shape none = {0}, scalar = {.meta = &rank_0};
    SP_TRY(put_nodes(o, w, g));
    for (int i = 0; i < g->n_in; i++)
        SP_TRY(put_info(w, 11, o->values[g->in[i]].name, o->values[g->in[i]].dtype, i < 2 ? &scalar : &none));
    for (int i = 0; i < g->n_out; i++)
        SP_TRY(put_info(w, 12, o->values[g->out[i]].name, o->values[g->out[i]].dtype, &none));
    return SP_OK;
}

/* --- the file ---------------------------------------------------------------------------------------------------- */

/* What the file consists of, in order: bytes made here, and contents of tensors. */
typedef struct {
    sp_wire_out head, faces, tail; /* model and nodes; inputs and outputs; opsets */
    int n;
    struct part {
        sp_wire_out head;
        const sp_tensor *t;
        const char *name;
    } *parts;
    uint64_t graph_bytes, total;
    const char *beside; /* file of the weights, NULL: in the model itself */
    uint64_t offset;
} file;

static sp_status put_external(file *f, sp_wire_out *m, uint64_t bytes)
{
    char offset[24], length[24];
    snprintf(offset, sizeof offset, "%llu", (unsigned long long)f->offset);
    snprintf(length, sizeof length, "%llu", (unsigned long long)bytes);
    const char *const pairs[][2] = {{"location", f->beside}, {"offset", offset}, {"length", length}};
    for (int i = 0; i < 3; i++) {
        sp_wire_out e = {0};
        sp_status status = put_text(&e, 1, pairs[i][0]);
        if (status == SP_OK) status = put_text(&e, 2, pairs[i][1]);
        SP_TRY(put_message(m, 13, &e, status));
    }
    f->offset = (f->offset + bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    return sp__wire_put_number(m, 14, 1);
}

/* The head of an initializer, up to its contents. */
static sp_status put_initializer(file *f, const sp_onnx_out_value *v, struct part *p)
{
    sp_wire_out m = {0};
    sp_tensor *t = v->constant;
    size_t bytes = sp_tensor_bytes(t);
    bool outside = f->beside && bytes >= 1024;
    sp_status status = SP_OK;
    const int rank = v->packed ? v->packed->rank : t->rank;
    const int64_t *dims = v->packed ? v->packed->dims : t->dims;
    for (int i = 0; i < rank && status == SP_OK; i++) status = sp__wire_put_number(&m, 1, (uint64_t)dims[i]);
    if (status == SP_OK)
        status =
            sp__wire_put_number(&m, 2, v->packed ? TYPE_INT4 : (uint64_t)sp__onnx_dtype_number((sp_dtype)t->dtype));
    if (status == SP_OK) status = put_text(&m, 8, v->name);
    if (status == SP_OK && outside) status = put_external(f, &m, bytes);
    uint64_t all = m.bytes + (outside ? 0 : sp__wire_field_bytes(9, bytes));
    if (status == SP_OK) status = sp__wire_put_head(&p->head, 5, all);
    if (status == SP_OK) status = sp__wire_put(&p->head, m.data, m.bytes);
    if (status == SP_OK && !outside) status = sp__wire_put_head(&p->head, 9, bytes);
    sp__wire_out_free(&m);
    p->t = t;
    p->name = v->name;
    f->graph_bytes += p->head.bytes + (outside ? 0 : bytes);
    return status;
}

static sp_status put_faces_with(sp_onnx_out *o, file *f, const sp_function *fn, const sp_onnx_out_graph *g,
                                sp_meta metas[64], sp_meta other_metas[64])
{
    const sp_model_names *names = o->names;
    const sp_function *other = names->other;
    for (int i = 0; i < g->n_in; i++) {
        shape s = {&fn->params[i]->meta, other ? &other->params[i]->meta : NULL, names->axes ? names->axes[i] : NULL,
                   o->values[g->in[i]].is_pair};
        SP_TRY(put_info(&f->faces, 11, o->values[g->in[i]].name, o->values[g->in[i]].dtype, &s));
    }
    for (int i = 0; i < o->n_values && (names->flags & (SP_MODEL_WEIGHTS_AS_INPUTS | SP_MODEL_NO_WEIGHTS)); i++) {
        const sp_onnx_out_value *v = &o->values[i + 1];
        if (!o->needed[i + 1] || !v->is_parameter) continue;
        sp_meta meta = {.dtype = v->dtype, .rank = v->constant->rank};
        memcpy(meta.dims, v->constant->dims, sizeof meta.dims);
        SP_TRY(put_info(&f->faces, 11, v->name, v->dtype, &(shape){.meta = &meta}));
    }
    sp__function_metas(fn, 64, metas);
    if (other) sp__function_metas(other, 64, other_metas);
    for (int i = 0; i < g->n_out; i++) {
        /* A free size of a result is called as the size of the input that it is. */
        const char *axes[SP_RANK_MAX] = {NULL};
        for (int k = 0; other && k < metas[i].rank; k++)
            for (int p = 0; p < g->n_in; p++)
                for (int j = 0; j < fn->params[p]->meta.rank; j++)
                    if (names->axes && names->axes[p] && names->axes[p][j] &&
                        fn->params[p]->meta.dims[j] == metas[i].dims[k] &&
                        other->params[p]->meta.dims[j] == other_metas[i].dims[k])
                        axes[k] = names->axes[p][j];
        shape s = {&metas[i], other ? &other_metas[i] : NULL, axes, o->values[g->out[i]].is_pair};
        SP_TRY(put_info(&f->faces, 12, o->values[g->out[i]].name, o->values[g->out[i]].dtype, &s));
    }
    return SP_OK;
}

static sp_status put_faces(sp_onnx_out *o, file *f, const sp_function *fn, const sp_onnx_out_graph *g)
{
    sp_meta *metas = sp__alloc(2 * 64 * sizeof *metas);
    if (!metas) return SP_NOMEM;
    sp_status status = put_faces_with(o, f, fn, g, metas, metas + 64);
    sp__free(metas);
    return status;
}

static int ir_version(int opset)
{
    return opset <= 14   ? 7
           : opset <= 18 ? 8
           : opset <= 20 ? 9
           : opset <= 22 ? 10
           : opset == 23 ? 11
           : opset == 24 ? 12
                         : 13;
}

static sp_status build(sp_onnx_out *o, file *f, const sp_function *fn, const sp_onnx_out_graph *g)
{
    sp_wire_out nodes = {0}, opset = {0};
    bool weights = !(o->names->flags & SP_MODEL_NO_WEIGHTS);
    sp_status status = put_nodes(o, &nodes, g);
    if (status == SP_OK) status = put_faces(o, f, fn, g);
    f->parts = sp__alloc_zero(((size_t)o->n_values + 1) * sizeof *f->parts);
    if (!f->parts) status = SP_NOMEM;
    for (int i = 1; i <= o->n_values && status == SP_OK; i++)
        if (o->needed[i] && o->values[i].constant && (weights || !o->values[i].is_parameter))
            status = put_initializer(f, &o->values[i], &f->parts[f->n++]);
    f->graph_bytes += nodes.bytes + f->faces.bytes;
    if (status == SP_OK) status = sp__wire_put_number(&f->head, 1, (uint64_t)ir_version(o->opset));
    if (status == SP_OK) status = put_text(&f->head, 2, "spore");
    if (status == SP_OK) status = put_text(&f->head, 3, sp_version());
    if (status == SP_OK) status = sp__wire_put_head(&f->head, 7, f->graph_bytes);
    if (status == SP_OK) status = sp__wire_put(&f->head, nodes.data, nodes.bytes);
    if (status == SP_OK) status = sp__wire_put_number(&opset, 2, (uint64_t)o->opset);
    sp__wire_out_free(&nodes);
    status = put_message(&f->tail, 8, &opset, status);
    f->total = f->head.bytes - nodes.bytes + f->graph_bytes + f->tail.bytes;
    return status;
}

static void file_free(file *f)
{
    for (int i = 0; i < f->n; i++) sp__wire_out_free(&f->parts[i].head);
    sp__free(f->parts);
    sp__wire_out_free(&f->head);
    sp__wire_out_free(&f->faces);
    sp__wire_out_free(&f->tail);
}

static sp_status write_weights(const file *f, const char *path, const sp_file_options *options)
{
    static const uint8_t zeros[ALIGNED];
    sp_sink *sink;
    uint64_t at = 0;
    sp_status status = sp__sink_open(path, options, f->offset, &sink);
    for (int i = 0; i < f->n && status == SP_OK; i++) {
        size_t bytes = sp_tensor_bytes((sp_tensor *)f->parts[i].t), pad = (ALIGNED - bytes % ALIGNED) % ALIGNED;
        if (bytes < 1024) continue;
        status = sp__sink_write(sink, sp_tensor_data((sp_tensor *)f->parts[i].t), bytes);
        if (status == SP_OK) status = sp__sink_write(sink, zeros, pad);
        at += bytes + pad;
        if (status != SP_OK) sp__sink_abort(sink);
    }
    return status == SP_OK ? sp__sink_take_commit(sink) : status;
}

static sp_status write_model(const file *f, const char *path, const sp_file_options *options)
{
    sp_sink *sink;
    SP_TRY(sp__sink_open(path, options, f->total, &sink));
    sp_status status = sp__sink_write(sink, f->head.data, f->head.bytes);
    for (int i = 0; i < f->n && status == SP_OK; i++) {
        const struct part *p = &f->parts[i];
        size_t bytes = sp_tensor_bytes((sp_tensor *)p->t);
        status = sp__sink_write(sink, p->head.data, p->head.bytes);
        if (status == SP_OK && bytes && !(f->beside && bytes >= 1024))
            status = sp__sink_write(sink, sp_tensor_data((sp_tensor *)p->t), bytes);
    }
    if (status == SP_OK) status = sp__sink_write(sink, f->faces.data, f->faces.bytes);
    if (status == SP_OK) status = sp__sink_write(sink, f->tail.data, f->tail.bytes);
    if (status == SP_OK) return sp__sink_take_commit(sink);
    sp__sink_abort(sink);
    return status;
}

static sp_status gather(const file *f, sp_wire_out *out)
{
    SP_TRY(sp__wire_put(out, f->head.data, f->head.bytes));
    for (int i = 0; i < f->n; i++) {
        size_t bytes = sp_tensor_bytes((sp_tensor *)f->parts[i].t);
        SP_TRY(sp__wire_put(out, f->parts[i].head.data, f->parts[i].head.bytes));
        if (bytes) SP_TRY(sp__wire_put(out, sp_tensor_data((sp_tensor *)f->parts[i].t), bytes));
    }
    SP_TRY(sp__wire_put(out, f->faces.data, f->faces.bytes));
    return sp__wire_put(out, f->tail.data, f->tail.bytes);
}

/* Weights beside the model: PATH.data or PATH.1.data, whichever is free; the other one goes when the model is there. */
static sp_status write_both(sp_onnx_out *o, file *f, const sp_function *fn, const sp_onnx_out_graph *g,
                            const char *path, const sp_file_options *options)
{
    sp__text names[2] = {{0}, {0}};
    const char *slash = strrchr(path, '/');
    sp_status status = SP_OK;
    for (int i = 0; i < 2; i++) sp__text_put(&names[i], "%s%s.data", path, i ? ".1" : "");
    if (names[0].failed || names[1].failed) status = SP_NOMEM;
    int chosen = status == SP_OK && access(names[0].data, F_OK) == 0;
    if (status == SP_OK) {
        f->beside = slash ? names[chosen].data + (slash - path) + 1 : names[chosen].data;
        status = build(o, f, fn, g);
    }
    if (status == SP_OK) status = write_weights(f, names[chosen].data, options);
    if (status == SP_OK) {
        status = write_model(f, path, options);
        if (status == SP_OK) unlink(names[!chosen].data); /* of the model that was replaced; mostly there is none */
        else unlink(names[chosen].data);
    }
    sp__free(names[0].data);
    sp__free(names[1].data);
    f->beside = NULL;
    return status;
}

static uint64_t weight_bytes(const sp_onnx_out *o)
{
    uint64_t sum = 0;
    for (int i = 1; i <= o->n_values; i++)
        if (o->needed[i] && o->values[i].constant) sum += sp_tensor_bytes(o->values[i].constant);
    return sum;
}

/* --- names ------------------------------------------------------------------------------------------------------- */

static const char *free_prefix(const sp_model_names *names)
{
    static const char *const prefixes[] = {"_", "__", "___", "____"};
    for (int k = 0; k < 4; k++) {
        bool taken = false;
        size_t n = strlen(prefixes[k]);
        for (int i = 0; i < names->n_inputs; i++) taken |= !strncmp(names->inputs[i], prefixes[k], n);
        for (int i = 0; i < names->n_parameters; i++) taken |= !strncmp(names->parameter_names[i], prefixes[k], n);
        for (int i = 0; i < names->n_outputs; i++) taken |= !strncmp(names->outputs[i], prefixes[k], n);
        if (!taken) return prefixes[k];
    }
    return "spore.";
}

/* Results are called as asked for, or output, output1, ... */
static void name_outputs(sp_onnx_out *o, const sp_onnx_out_graph *g)
{
    for (int i = 0; i < g->n_out; i++) {
        char name[32];
        snprintf(name, sizeof name, g->n_out > 1 ? "output%d" : "output", i);
        const char *kept = sp__arena_text(&o->arena, i < o->names->n_outputs ? o->names->outputs[i] : name);
        if (kept) o->values[g->out[i]].name = kept;
        else sp__onnx_out_fail(o, SP_NOMEM);
    }
}

/* Values of the main graph must be called differently, whatever the user calls them. */
static sp_status check_names(const sp_onnx_out *o, const sp_onnx_out_graph *g)
{
    for (int i = 0; i < g->n_in + g->n_out; i++) {
        sp_onnx_id one = i < g->n_in ? g->in[i] : g->out[i - g->n_in];
        for (int v = 1; v <= o->n_values; v++)
            if (v != one && !o->values[v].is_number && !strcmp(o->values[v].name, o->values[one].name))
                return sp__fail(SP_VALUE,
                                "two values of the model would be called '%s': give other input_names or output_names",
                                o->values[v].name);
    }
    return SP_OK;
}

/* The graph of f, named, and what of it is needed. */
static sp_status make_graph(sp_onnx_out *o, sp_function *f, sp_onnx_out_graph **g)
{
    SP_CHECK(o->opset >= OPSET_LOW && o->opset <= OPSET_HIGH, SP_VALUE,
             "opset %d is not written, it must be in [%d, %d]", o->opset, OPSET_LOW, OPSET_HIGH);
    SP_CHECK(f->finished && f->n_params == o->names->n_inputs, SP_VALUE,
             "the function has %d inputs, but %d names are given", f->n_params, o->names->n_inputs);
    SP_TRY(sp__onnx_out_write_function(o, f, g));
    name_outputs(o, *g);
    SP_TRY(check_names(o, *g));
    if (!(o->needed = sp__arena_alloc(&o->arena, (size_t)o->n_values + 2))) return SP_NOMEM;
    need_graph(*g, o->needed);
    return SP_OK;
}

sp_status sp__onnx_bytes(sp_function *f, const sp_model_names *names, sp_wire_out *out)
{
    sp_onnx_out o = {
        .names = names, .opset = names->opset ? names->opset : OPSET_INITIAL, .prefix = free_prefix(names)};
    sp_onnx_out_graph *g;
    file parts = {0};
    sp_status status = make_graph(&o, f, &g);
    if (status == SP_OK) status = build(&o, &parts, f, g);
    if (status == SP_OK) status = gather(&parts, out);
    if (status != SP_OK) sp__wire_out_free(out);
    file_free(&parts);
    sp__onnx_out_free(&o);
    return status;
}

sp_status sp__onnx_save(const char *path, sp_function *f, const sp_model_names *names, const sp_file_options *options)
{
    sp_onnx_out o = {
        .names = names, .opset = names->opset ? names->opset : OPSET_INITIAL, .prefix = free_prefix(names)};
    sp_onnx_out_graph *g;
    file out = {0};
    sp_status status = make_graph(&o, f, &g);
    if (status == SP_OK) {
        uint64_t limit = options->shard_bytes ? options->shard_bytes : PROTOBUF_MAX;
        bool beside = weight_bytes(&o) > limit && !(names->flags & SP_MODEL_NO_WEIGHTS);
        if (beside) status = write_both(&o, &out, f, g, path, options);
        else {
            status = build(&o, &out, f, g);
            if (status == SP_OK) status = write_model(&out, path, options);
        }
    }
    file_free(&out);
    sp__onnx_out_free(&o);
    return status;
}
