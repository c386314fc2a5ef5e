/* SPDX-License-Identifier: Apache-2.0 */
/* lite_read.c - MindSpore Lite's files as graphs; lite_file.h says what lies where, lite_model.h what becomes of it. Nothing here trusts the file: indices are
 * checked against the lists they point into, and all lists together may not have more entries than the file has bytes. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "formats/lite/lite_model.h"

enum { EXTRA_MAX = 3 };

typedef struct reader {
    const sp_source *source;
    sp_lite_file t;
    sp_model *m;
    sp_tflite_model *out;
    uint64_t room; /* entries that may still come */
    int n_tensors, n_nodes;
    sp_tflite_tensor *tensors;
    sp_lite_tensor *raw;   /* of the same places */
    int *user, *user_at;   /* the first node that takes a tensor, and as which input; -1: none does */
    bool *written, *state; /* by optimizers; read by them besides */
    sp_tflite_node *nodes;
    int *tags;
    bool trains;
    int n_unsupported;
    sp__text unsupported;
} reader;

static void *take(reader *r, uint64_t n, size_t bytes)
{
    return sp__arena_alloc(&r->m->arena, (size_t)(n + 1) * bytes);
}

/* A vector of places in a list of `limit` entries. */
static sp_status read_indices(reader *r, size_t table, unsigned field, int limit, int *n, int **out)
{
    sp_flat_list list;
    SP_TRY(sp__flat_vector(&r->t.t.f, table, field, 4, &list));
    SP_TRY(sp__tflite_spend(&r->room, list.n));
    if (!(*out = take(r, list.n, sizeof **out))) return SP_NOMEM;
    *n = (int)list.n;
    for (int i = 0; i < *n; i++) {
        int64_t index = 0;
        SP_TRY(sp__flat_int_at(&r->t.t.f, &list, (uint64_t)i, &index));
        SP_CHECK(index >= 0 && index < limit, SP_FORMAT, "byte %zu, field %u: entry %lld of %d",
                 list.at + 4 * (size_t)i, field, (long long)index, limit);
        (*out)[i] = (int)index;
    }
    return SP_OK;
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

__attribute__((noinline)) /* a name on the stack at a time */ static sp_status
read_tensor_name(reader *r, size_t table, int number, sp_tflite_tensor *t)
{
    char name[SP_TFLITE_NAME_MAX];
    SP_TRY(sp__tflite_text(&r->t.t, table, 9, name));
    if (name[0] == '\0') snprintf(name, sizeof name, "tensor_%d", number);
    return (t->name = sp__arena_text(&r->m->arena, name)) != NULL ? SP_OK : SP_NOMEM;
}

static sp_status read_tensors(reader *r)
{
    const sp_flat_list *list = &r->t.tensors;
    const uint64_t room = list->n + (r->t.old ? EXTRA_MAX * r->t.nodes.n : 0); /* fields that have become inputs */
    SP_TRY(sp__tflite_spend(&r->room, room));
    r->n_tensors = (int)list->n;
    r->tensors = take(r, room, sizeof *r->tensors);
    r->raw = take(r, room, sizeof *r->raw);
    r->user = take(r, room, sizeof *r->user);
    r->user_at = take(r, room, sizeof *r->user_at);
    r->written = take(r, room, sizeof *r->written);
    r->state = take(r, room, sizeof *r->state);
    if (!r->tensors || !r->raw || !r->user || !r->user_at || !r->written || !r->state) return SP_NOMEM;
    for (int i = 0; i < r->n_tensors; i++) {
        size_t table = 0;
        sp_tflite_tensor *t = &r->tensors[i];
        SP_TRY(sp__flat_table_at(&r->t.t.f, list, (uint64_t)i, &table));
        sp_status status = read_tensor_name(r, table, i, t);
        if (status == SP_OK) status = sp__lite_tensor(&r->t, table, &r->raw[i]);
        if (status != SP_OK) sp__error_context("tensor %d", i);
        SP_TRY(status);
        t->meta = r->raw[i].meta;
        t->type = (int)r->raw[i].type;
        t->parameter = t->state = r->user[i] = -1;
    }
    return SP_OK;
}

/* The axis of channels of a quantised weight, by the node that takes it and the version of the file. */
static int channel_axis(const reader *r, int i)
{
    const int node = r->user[i], rank = r->tensors[i].meta.rank, version = r->t.version, at = r->user_at[i];
    if (node < 0 || rank < 2) return 0;
    const sp_tflite_node *n = &r->nodes[node];
    switch (r->tags[node]) {
    case SP_LITE_MATMUL: {
        const bool turned = at < 2 && n->option[at] != 0;
        const bool first = at == 0 ? !turned : turned; /* channels are the rows */
        if (version != 0 && version < 106) return first ? 0 : 1;
        return first ? rank - 2 : rank - 1;
    }
    case SP_LITE_CONV_TRANSPOSE: return version != 0 && version < 108 ? 0 : n->option[8] > 1 ? 0 : rank - 1;
    case SP_LITE_GATHER: {
        int32_t axis = 0;
        if (n->n_in > 2 && r->raw[n->in[2]].bytes >= sizeof axis) memcpy(&axis, r->raw[n->in[2]].data, sizeof axis);
        return axis >= 0 && axis < rank ? axis : 0;
    }
    default: return 0;
    }
}

/* Scales of a tensor; factors and shifts are those of weights alone, and only where there is one for each channel. */
static sp_status read_scale(reader *r, int i)
{
    sp_tflite_tensor *t = &r->tensors[i];
    const sp_lite_tensor *x = &r->raw[i];
    const char kind = t->meta.dtype != SP_DTYPE_NONE ? sp_dtype_kind(t->meta.dtype) : 'f';
    if (x->n_quant == 0 || (kind != 'i' && kind != 'u')) return SP_OK;
    SP_TRY(sp__tflite_spend(&r->room, (uint64_t)x->n_quant));
    float *values = take(r, 2 * (uint64_t)x->n_quant, sizeof *values);
    if (values == NULL) return SP_NOMEM;
    for (int k = 0; k < x->n_quant; k++) {
        sp_lite_quant q;
        SP_TRY(sp__lite_quant(&r->t, x, k, &q));
        SP_CHECK(q.scale > 0 && q.scale < 1e30, SP_FORMAT, "scale %g of channel %d", q.scale, k);
        values[k] = (float)q.scale;
        values[x->n_quant + k] = (float)q.zero;
    }
    const int axis = x->n_quant > 1 ? channel_axis(r, i) : 0;
    SP_CHECK(x->n_quant == 1 || (axis < t->meta.rank && t->meta.dims[axis] == x->n_quant), SP_FORMAT,
             "%d scales along axis %d", x->n_quant, axis);
    t->scale = (sp_tflite_scale){x->n_quant, values, values + x->n_quant, axis};
    return SP_OK;
}

/* Whether the node that takes a constant computes with integers. */
static bool stays_integer(const reader *r, int i)
{
    const int node = r->user[i];
    if (node < 0) return true;
    const sp_tflite_node *n = &r->nodes[node];
    const int places[2] = {n->n_out > 0 ? n->out[0] : -1, n->n_in > 0 ? n->in[0] : -1};
    for (int k = 0; k < 2; k++) {
        if (places[k] < 0 || places[k] == i || (k == 1 && r->raw[places[k]].bytes > 0)) continue;
        const sp_tflite_tensor *t = &r->tensors[places[k]];
        if (r->raw[places[k]].n_quant > 0 && t->meta.dtype != SP_DTYPE_NONE && sp_dtype_kind(t->meta.dtype) != 'f')
            return true;
    }
    return false;
}

/* Integers q as the numbers that they stand for, in place `to`. */
static sp_status fill_real(reader *r, int i, const sp_tensor *from, float *to)
{
    const sp_lite_tensor *x = &r->raw[i];
    const sp_tflite_tensor *t = &r->tensors[i];
    const int64_t n = sp_tensor_count(from);
    const bool wide = sp_tensor_dtype(from) == SP_DTYPE_I16, sign = sp_tensor_dtype(from) != SP_DTYPE_U8;
    const void *data = sp_tensor_data((sp_tensor *)from);
    int64_t inner = 1;
    sp_lite_quant q = {.scale = 1};
    for (int k = t->scale.axis + 1; k < t->meta.rank; k++) inner *= t->meta.dims[k];
    for (int64_t e = 0, last = -1; e < n; e++) {
        const int64_t channel = x->n_quant > 1 ? e / inner % x->n_quant : 0;
        if (channel != last) SP_TRY(sp__lite_quant(&r->t, x, (int)channel, &q));
        last = channel;
        const int v = wide ? ((const int16_t *)data)[e] : sign ? ((const int8_t *)data)[e] : ((const uint8_t *)data)[e];
        to[e] = (float)(v - q.zero) * (float)q.scale;
        if (x->n_quant > 1) to[e] = to[e] * (float)q.factor + (float)q.shift;
    }
    return SP_OK;
}

/* Centroids that bytes are places of. */
static sp_status fill_clusters(reader *r, int i, const sp_tensor *from, float *to)
{
    const sp_flat_list *list = &r->raw[i].clusters;
    const int8_t *data = sp_tensor_data((sp_tensor *)from);
    for (int64_t e = 0; e < sp_tensor_count(from); e++) {
        const uint64_t k = (uint64_t)(data[e] + 128);
        uint64_t raw = 0;
        SP_CHECK(k < list->n, SP_FORMAT, "centroid %llu of %llu", (unsigned long long)k, (unsigned long long)list->n);
        SP_TRY(sp__flat_get(&r->t.t.f, list->at + 4 * (size_t)k, 4, &raw));
        const uint32_t bits = (uint32_t)raw;
        memcpy(to + e, &bits, sizeof bits);
    }
    return SP_OK;
}

/* What was stored in little room becomes what it stands for, under the same name. */
static sp_status widen(reader *r, int i, const char *name)
{
    sp_tflite_tensor *t = &r->tensors[i];
    const sp_tensor *from = t->constant;
    const sp_dtype dtype = sp_tensor_dtype(from);
    const bool bytes = dtype == SP_DTYPE_I8 || dtype == SP_DTYPE_I16 || dtype == SP_DTYPE_U8,
               clusters = r->raw[i].clusters.n > 0 && dtype == SP_DTYPE_I8;
    const int node = r->user[i];
    const sp_dtype result =
        node >= 0 && r->nodes[node].n_out > 0 ? r->tensors[r->nodes[node].out[0]].meta.dtype : SP_DTYPE_NONE;
    const bool half = dtype == SP_DTYPE_F16 && result == SP_DTYPE_F32;
    const bool real = clusters || (bytes && t->scale.n > 0 && !stays_integer(r, i));
    if (!half && !real) return SP_OK;
    sp_tensor *wide = NULL;
    SP_TRY(sp_tensor_create(SP_DTYPE_F32, t->meta.rank, t->meta.dims, &wide));
    sp_status status = half       ? sp_tensor_assign(wide, from)
                       : clusters ? fill_clusters(r, i, from, sp_tensor_data(wide))
                                  : fill_real(r, i, from, sp_tensor_data(wide));
    if (status == SP_OK) status = sp_bundle_add(r->out->tensors, name, wide);
    sp_tensor_release(wide);
    SP_TRY(status);
    t->constant = wide; /* which the bundle holds */
    t->meta.dtype = SP_DTYPE_F32;
    t->scale.n = 0;
    return SP_OK;
}

/* "name", with "#2" and so on when it returns. */
static void unique_name(const reader *r, const char *name, char out[SP_TFLITE_NAME_MAX])
{
    snprintf(out, SP_TFLITE_NAME_MAX, "%.4000s", name);
    for (int k = 2; sp_bundle_find(r->out->tensors, out) >= 0; k++)
        snprintf(out, SP_TFLITE_NAME_MAX, "%.4000s#%d", name, k);
}

/* Contents of a constant. Of inference models floats can be trained, of training models what optimizers use. */
__attribute__((noinline)) static sp_status read_constant(reader *r, int i)
{
    sp_tflite_tensor *t = &r->tensors[i];
    char full[SP_TFLITE_NAME_MAX];
    bool added = false;
    unique_name(r, t->name, full);
    SP_TRY(sp__lite_add(r->source, &r->t, &r->raw[i], r->out->tensors, full, &added));
    if (!added) return SP_OK;
    if (!(t->constant = sp_bundle_tensor_at(r->out->tensors, sp_bundle_find(r->out->tensors, full)))) return SP_NOMEM;
    t->meta.dtype = sp_tensor_dtype(t->constant);
    if (sp_dtype_kind(t->meta.dtype) == 'f') t->scale.n = 0; /* packed as floats */
    SP_TRY(widen(r, i, full));
    const bool used = r->written[i] || r->state[i];
    if (t->meta.dtype != SP_DTYPE_F32 || (r->trains ? !used : t->meta.rank == 0)) return SP_OK;
    sp_graph_variable_mark(t->constant);
    t->parameter = sp_bundle_count(r->m->parameters);
    return sp_bundle_add(r->m->parameters, full, t->constant);
}

/* A moment may be stored in the shape that the weight had in its network: element by element it is the weight's. */
static void shape_states(reader *r)
{
    for (int k = 0; k < r->n_nodes; k++) {
        const sp_tflite_node *n = &r->nodes[k];
        const int states = r->tags[k] == SP_LITE_ADAM || r->tags[k] == SP_LITE_ADAM_WEIGHT_DECAY ? 2
                           : r->tags[k] == SP_LITE_APPLY_MOMENTUM                                ? 1
                                                                                                 : 0;
        for (int s = 1; s <= states && s < n->n_in; s++) {
            const sp_meta *w = &r->tensors[n->in[0]].meta;
            sp_meta *x = &r->tensors[n->in[s]].meta;
            int64_t a = 1, b = 1;
            for (int d = 0; d < w->rank; d++) a *= w->dims[d] > 0 && w->dims[d] < 1 << 24 ? w->dims[d] : 1;
            for (int d = 0; d < x->rank; d++) b *= x->dims[d] > 0 && x->dims[d] < 1 << 24 ? x->dims[d] : 1;
            if (a != b || w->dtype != x->dtype || r->raw[n->in[s]].packing != 0) continue;
            *x = r->raw[n->in[s]].meta = *w;
        }
    }
}

static sp_status read_constants(reader *r)
{
    char shown[SP_NAME_SHOWN];
    shape_states(r);
    for (int i = 0; i < r->n_tensors; i++) {
        sp_status status = read_scale(r, i);
        if (status == SP_OK) status = read_constant(r, i);
        if (status != SP_OK)
            sp__error_context("tensor %d ('%s')", i,
                              sp__name_shown(r->tensors[i].name, strlen(r->tensors[i].name), shown));
        SP_TRY(status);
    }
    return SP_OK;
}

/* --- operators --------------------------------------------------------------------------------------------------- */

/* n numbers of `bytes` bytes at `at`; floats as they are. */
static sp_status fill_list(reader *r, sp_flat_list list, int bytes, int64_t *to)
{
    for (uint64_t i = 0; i < list.n; i++) {
        uint64_t raw = 0;
        SP_TRY(sp__flat_get(&r->t.t.f, list.at + (size_t)bytes * (size_t)i, bytes, &raw));
        to[i] = bytes == 4 ? (int32_t)(uint32_t)raw : (int64_t)raw;
    }
    return SP_OK;
}

static sp_status read_list(reader *r, size_t fields, unsigned k, char letter, sp_tflite_longs *out)
{
    sp_flat_list list;
    const int bytes = letter == 'L' ? 8 : 4;
    SP_TRY(sp__flat_vector(&r->t.t.f, fields, k, (size_t)bytes, &list));
    SP_TRY(sp__tflite_spend(&r->room, list.n));
    int64_t *v = take(r, list.n, sizeof *v);
    if (v == NULL) return SP_NOMEM;
    SP_TRY(fill_list(r, list, bytes, v));
    *out = (sp_tflite_longs){(int)list.n, v};
    return SP_OK;
}

/* A Vec2D, row behind row. */
static sp_status read_rows(reader *r, size_t fields, unsigned k, sp_tflite_longs *out)
{
    size_t table = 0, row = 0;
    sp_flat_list rows = {0, 0}, list;
    uint64_t n = 0;
    SP_TRY(sp__flat_table(&r->t.t.f, fields, k, &table));
    if (table != 0) SP_TRY(sp__flat_vector(&r->t.t.f, table, 0, 4, &rows));
    SP_TRY(sp__tflite_spend(&r->room, rows.n));
    for (int pass = 0; pass < 2; pass++) {
        int64_t *v = pass == 1 ? take(r, n, sizeof *v) : NULL;
        if (pass == 1 && v == NULL) return SP_NOMEM;
        *out = (sp_tflite_longs){(int)n, v};
        n = 0;
        for (uint64_t i = 0; i < rows.n; i++) {
            SP_TRY(sp__flat_table_at(&r->t.t.f, &rows, i, &row));
            SP_TRY(sp__flat_vector(&r->t.t.f, row, 0, 8, &list));
            if (pass == 0) SP_TRY(sp__tflite_spend(&r->room, list.n));
            else SP_TRY(fill_list(r, list, 8, v + n));
            n += list.n;
        }
    }
    return SP_OK;
}

__attribute__((noinline)) static sp_status read_text(reader *r, size_t fields, unsigned k, sp_tflite_node *n)
{
    char text[SP_TFLITE_NAME_MAX];
    SP_TRY(sp__tflite_text(&r->t.t, fields, k, text));
    n->custom = (const uint8_t *)sp__arena_text(&r->m->arena, text);
    n->custom_bytes = strlen(text);
    return n->custom != NULL ? SP_OK : SP_NOMEM;
}

/* One field; a missing one is what the schema says. */
static sp_status read_field(reader *r, size_t fields, unsigned k, char letter, double missing, sp_tflite_node *n,
                            sp_tflite_longs *lists)
{
    const int bytes = letter == 'l' ? 8 : letter == 'i' || letter == 'f' ? 4 : 1;
    const float missing_float = (float)missing;
    size_t place = 0;
    uint64_t raw = 0;
    if (letter == 'L' || letter == 'I' || letter == 'F')
        return fields != 0 ? read_list(r, fields, k, letter, &lists[k]) : SP_OK;
    if (letter == 'V') return fields != 0 ? read_rows(r, fields, k, &lists[k]) : SP_OK;
    if (letter == 's') return fields != 0 ? read_text(r, fields, k, n) : SP_OK;
    if (letter == 'A') return SP_OK; /* of Custom, which no handler takes */
    n->given |= 1u << k;
    if (fields != 0) SP_TRY(sp__flat_field(&r->t.t.f, fields, k, &place));
    if (place == 0) {
        uint32_t bits;
        memcpy(&bits, &missing_float, sizeof bits);
        n->option[k] = letter == 'f' ? bits : (uint64_t)(int64_t)missing;
        return SP_OK;
    }
    SP_TRY(sp__flat_get(&r->t.t.f, place, bytes, &raw));
    n->option[k] = letter == 'i'   ? (uint64_t)(int64_t)(int32_t)(uint32_t)raw
                   : letter == 'c' ? (uint64_t)(int64_t)(int8_t)(uint8_t)raw
                                   : raw;
    return SP_OK;
}

static sp_status read_fields(reader *r, size_t fields, const sp_lite_op *op, sp_tflite_node *n)
{
    const char *at = op->fields;
    double missing = 0;
    sp_tflite_longs *lists = take(r, SP_TFLITE_OPTIONS, sizeof *lists);
    if (lists == NULL) return SP_NOMEM;
    n->lists = lists;
    for (unsigned k = 0; k < SP_TFLITE_OPTIONS; k++) {
        const char letter = sp__lite_field_next(&at, &missing);
        if (letter == 0) break;
        SP_TRY(read_field(r, fields, k, letter, missing, n, lists));
    }
    return SP_OK;
}

/* Fields as the options of a handler of TensorFlow Lite: a digit is the field of the option at its place, after '*' of its list. */
static void map_fields(sp_tflite_node *n, const char *map)
{
    uint64_t options[SP_TFLITE_OPTIONS] = {0};
    uint32_t given = 0;
    for (int k = 0; *map != '\0' && k < SP_TFLITE_OPTIONS; map++) {
        if (*map == '*') {
            map++;
            const sp_tflite_longs *list = &n->lists[*map - '0'];
            n->list = (int64_t *)list->v;
            n->n_list = list->n;
            continue;
        }
        if (*map != '-') {
            options[k] = n->option[*map - '0'];
            given |= 1u << k;
        }
        k++;
    }
    memcpy(n->option, options, sizeof options);
    n->given = given;
}

static sp_status choose_handler(reader *r, const sp_lite_op *op, sp_tflite_node *n)
{
    const char *map = NULL;
    n->handler = op != NULL ? sp__lite_handler_find(op->tag, &map) : NULL;
    if (n->handler == NULL) {
        sp__tflite_note_unsupported(&r->unsupported, &r->n_unsupported, n);
        return SP_OK;
    }
    if (map != NULL) map_fields(n, map);
    SP_CHECK(n->n_out > 0 || sp__lite_is_update(op->tag), SP_FORMAT, "an operator without results");
    SP_CHECK(n->n_in >= n->handler->needs, SP_FORMAT, "%d inputs, it takes at least %d", n->n_in, n->handler->needs);
    return SP_OK;
}

__attribute__((noinline)) static sp_status read_node_name(reader *r, size_t table, uint64_t tag, const sp_lite_op *op,
                                                          sp_tflite_node *n)
{
    char text[SP_TFLITE_NAME_MAX];
    SP_TRY(sp__tflite_text(&r->t.t, table, 0, text));
    n->name = sp__arena_text(&r->m->arena, text);
    snprintf(text, sizeof text, "operator %llu", (unsigned long long)tag);
    n->op = op != NULL ? op->name : sp__arena_text(&r->m->arena, text);
    return n->name != NULL && n->op != NULL ? SP_OK : SP_NOMEM;
}

/* A list of numbers as one more input of a node: a constant of int32. */
__attribute__((noinline)) static sp_status add_input(reader *r, sp_tflite_node *n, sp_tflite_longs list)
{
    const int i = r->n_tensors++;
    char name[32], full[SP_TFLITE_NAME_MAX];
    sp_tflite_tensor *t = &r->tensors[i];
    sp_tensor *made = NULL;
    const int64_t count = list.n;
    SP_TRY(sp__tflite_spend(&r->room, (uint64_t)list.n));
    SP_TRY(sp_tensor_create(SP_DTYPE_I32, 1, &count, &made));
    for (int k = 0; k < list.n; k++) ((int32_t *)sp_tensor_data(made))[k] = (int32_t)list.v[k];
    snprintf(name, sizeof name, "field_%d", i);
    unique_name(r, name, full);
    sp_status status = sp_bundle_add(r->out->tensors, full, made);
    sp_tensor_release(made);
    SP_TRY(status);
    if (!(t->name = sp__arena_text(&r->m->arena, full))) return SP_NOMEM;
    t->constant = made; /* which the bundle holds */
    t->meta = r->raw[i].meta = (sp_meta){.dtype = SP_DTYPE_I32, .rank = 1, .dims = {count}};
    t->parameter = t->state = r->user[i] = -1;
    int *in = take(r, (uint64_t)n->n_in + 1, sizeof *in);
    if (in == NULL) return SP_NOMEM;
    if (n->n_in > 0) memcpy(in, n->in, (size_t)n->n_in * sizeof *in);
    in[n->n_in++] = i;
    n->in = in;
    return SP_OK;
}

/* A node of Lite 1.0 as one of today. */
static sp_status translate(reader *r, int number, sp_tflite_node *n, const sp_lite_op **op)
{
    sp_tflite_longs extra[EXTRA_MAX];
    int n_extra = 0, tag = 0;
    SP_TRY(sp__lite_translate(&r->m->arena, r->tags[number], n, &tag, &n_extra, extra));
    for (int i = 0; i < n_extra; i++) SP_TRY(add_input(r, n, extra[i]));
    r->tags[number] = tag;
    *op = sp__lite_op(false, (uint64_t)tag);
    return SP_OK;
}

static sp_status read_node(reader *r, size_t table, int number)
{
    sp_tflite_node *n = &r->nodes[number];
    size_t primitive = 0, fields = 0;
    uint64_t tag = 0;
    n->state = -1;
    SP_TRY(sp__flat_table(&r->t.t.f, table, 2, &primitive));
    SP_CHECK(primitive != 0, SP_FORMAT, "byte %zu: a node without an operator", table);
    SP_TRY(sp__flat_number(&r->t.t.f, primitive, 0, 1, &tag));
    SP_TRY(sp__flat_table(&r->t.t.f, primitive, 1, &fields));
    const sp_lite_op *op = sp__lite_op(r->t.old, tag);
    r->tags[number] = (int)tag;
    SP_TRY(read_node_name(r, table, tag, op, n));
    SP_TRY(read_indices(r, table, 3, r->n_tensors, &n->n_in, &n->in));
    SP_TRY(read_indices(r, table, 4, r->n_tensors, &n->n_out, &n->out));
    if (op != NULL) SP_TRY(read_fields(r, fields, op, n));
    if (op != NULL && r->t.old) SP_TRY(translate(r, number, n, &op));
    return choose_handler(r, op, n);
}

static sp_status read_nodes(reader *r)
{
    const sp_flat_list *list = &r->t.nodes;
    char shown[SP_NAME_SHOWN];
    SP_TRY(sp__tflite_spend(&r->room, list->n));
    r->nodes = take(r, list->n, sizeof *r->nodes);
    r->tags = take(r, list->n, sizeof *r->tags);
    if (r->nodes == NULL || r->tags == NULL) return SP_NOMEM;
    r->n_nodes = (int)list->n;
    for (int i = 0; i < r->n_nodes; i++) {
        size_t table = 0;
        sp_tflite_node *n = &r->nodes[i];
        SP_TRY(sp__flat_table_at(&r->t.t.f, list, (uint64_t)i, &table));
        sp_status status = read_node(r, table, i);
        if (status != SP_OK)
            sp__error_context("node %d ('%s')", i,
                              n->name != NULL ? sp__name_shown(n->name, strlen(n->name), shown) : "?");
        SP_TRY(status);
        for (int k = 0; k < n->n_in; k++) {
            if (r->user[n->in[k]] >= 0) continue;
            r->user[n->in[k]] = i;
            r->user_at[n->in[k]] = k;
        }
        if (!sp__lite_is_update(r->tags[i])) continue;
        r->trains = true;
        for (int k = 0; k < n->n_in; k++) *(k == 0 ? &r->written[n->in[k]] : &r->state[n->in[k]]) = true;
    }
    return SP_OK;
}

/* --- graphs ------------------------------------------------------------------------------------------------------ */

/* The nodes of a subgraph in the order it lists them; without a list, all. */
static sp_status read_graph_nodes(reader *r, size_t table, sp_tflite_graph *g)
{
    int *order = NULL;
    if (table != 0) SP_TRY(read_indices(r, table, 3, r->n_nodes, &g->n_nodes, &order));
    else g->n_nodes = r->n_nodes;
    SP_TRY(sp__tflite_spend(&r->room, (uint64_t)g->n_nodes));
    if (!(g->nodes = take(r, (uint64_t)g->n_nodes, sizeof *g->nodes))) return SP_NOMEM;
    for (int i = 0; i < g->n_nodes; i++) g->nodes[i] = r->nodes[order != NULL ? order[i] : i];
    return SP_OK;
}

__attribute__((noinline)) static sp_status read_graph_name(reader *r, size_t table, sp_tflite_graph *g)
{
    char name[SP_TFLITE_NAME_MAX];
    SP_TRY(sp__tflite_text(&r->t.t, table, 0, name));
    return (g->name = sp__arena_text(&r->m->arena, name)) != NULL ? SP_OK : SP_NOMEM;
}

static sp_status read_graph(reader *r, size_t table, bool first, sp_tflite_graph *g)
{
    const size_t root = r->t.t.model;
    SP_TRY(read_graph_name(r, table != 0 ? table : root, g));
    g->tensors = r->tensors;
    g->n_tensors = r->n_tensors;
    SP_TRY(read_indices(r, first ? root : table, first ? 3 : 1, r->n_tensors, &g->n_inputs, &g->inputs));
    SP_TRY(read_indices(r, first ? root : table, first ? 4 : 2, r->n_tensors, &g->n_outputs, &g->outputs));
    if (first && table != 0 && g->n_outputs == 0) {
        SP_TRY(read_indices(r, table, 1, r->n_tensors, &g->n_inputs, &g->inputs));
        SP_TRY(read_indices(r, table, 2, r->n_tensors, &g->n_outputs, &g->outputs));
    }
    return read_graph_nodes(r, table, g);
}

/* Outputs that an optimizer gives say nothing. */
static void drop_update_outputs(sp_tflite_graph *g)
{
    int kept = 0;
    for (int i = 0; i < g->n_outputs; i++) {
        bool update = false;
        for (int k = 0; k < g->n_nodes && !update; k++) {
            const sp_tflite_node *n = &g->nodes[k];
            if (n->handler == NULL || !(n->handler->how & SP_TFLITE_RAW) || !sp__lite_is_update(n->handler->code))
                continue;
            for (int j = 0; j < n->n_out && !update; j++) update = n->out[j] == g->outputs[i];
        }
        if (!update) g->outputs[kept++] = g->outputs[i];
    }
    g->n_outputs = kept;
}

static sp_status read_graphs(reader *r)
{
    const uint64_t n = r->t.graphs.n > 0 ? r->t.graphs.n : 1;
    SP_TRY(sp__tflite_spend(&r->room, n));
    if (!(r->out->graphs = take(r, n, sizeof *r->out->graphs))) return SP_NOMEM;
    r->out->n_graphs = (int)n;
    for (uint64_t i = 0; i < n; i++) {
        size_t table = 0;
        sp_tflite_graph *g = &r->out->graphs[i];
        if (r->t.graphs.n > 0) SP_TRY(sp__flat_table_at(&r->t.t.f, &r->t.graphs, i, &table));
        sp_status status = read_graph(r, table, i == 0, g);
        if (status == SP_OK && r->trains) drop_update_outputs(g);
        if (status == SP_OK) status = sp__tflite_find_dead(&r->m->arena, g);
        if (status != SP_OK) sp__error_context("subgraph %llu", (unsigned long long)i);
        SP_TRY(status);
    }
    return SP_OK;
}

/* --- faces ------------------------------------------------------------------------------------------------------- */

static sp_status read_face(const sp_tflite_tensor *t, bool input, sp_model_value *out)
{
    SP_CHECK(t->meta.dtype != SP_DTYPE_NONE, SP_DECLINED, "%s '%s' is of type %d, which is not supported",
             input ? "input" : "output", t->name, t->type);
    out->name = t->name;
    out->spec.dtype = t->meta.dtype;
    out->spec.rank = t->meta.rank;
    for (int k = 0; k < t->meta.rank; k++) out->spec.dims[k] = t->meta.dims[k] < 0 ? -1 : t->meta.dims[k];
    return SP_OK;
}

sp_status sp__lite_faces(sp_model *m, const sp_tflite_graph *g)
{
    m->inputs = sp__arena_alloc(&m->arena, ((size_t)g->n_inputs + 1) * sizeof *m->inputs);
    m->outputs = sp__arena_alloc(&m->arena, ((size_t)g->n_outputs + 1) * sizeof *m->outputs);
    if (m->inputs == NULL || m->outputs == NULL) return SP_NOMEM;
    SP_CHECK(g->n_outputs > 0, SP_FORMAT, "the model has no outputs");
    for (int i = 0; i < g->n_inputs; i++) SP_TRY(read_face(&g->tensors[g->inputs[i]], true, &m->inputs[i]));
    for (int i = 0; i < g->n_outputs; i++) SP_TRY(read_face(&g->tensors[g->outputs[i]], false, &m->outputs[i]));
    m->n_inputs = g->n_inputs;
    m->n_outputs = g->n_outputs;
    return SP_OK;
}

/* --- the kind ---------------------------------------------------------------------------------------------------- */

static const sp_model_kind training;

/* A training model is written again with other weights. */
static sp_status keep_file(reader *r, sp_lite_model *d)
{
    d->trains = true;
    r->m->kind = &training;
    d->places = take(r, (uint64_t)r->n_tensors, sizeof *d->places);
    if (d->places == NULL || !(d->file = sp__alloc(r->source->bytes))) return SP_NOMEM;
    d->file_bytes = r->source->bytes;
    memcpy(d->file, r->source->data, d->file_bytes);
    for (int i = 0; i < r->n_tensors; i++) {
        const sp_lite_tensor *x = &r->raw[i];
        const bool plain =
            x->bytes > 0 && x->packing == 0 && x->meta.dtype == SP_DTYPE_F32 && r->tensors[i].parameter >= 0;
        if (plain && x->bytes == sp_tensor_bytes(r->tensors[i].constant))
            d->places[i] = (size_t)(x->data - r->source->data);
        SP_CHECK(d->places[i] != 0 || r->tensors[i].parameter < 0, SP_DECLINED,
                 "weight '%s' of a training model is packed, or elsewhere, which is not supported", r->tensors[i].name);
    }
    return SP_OK;
}

static sp_status read_model(const sp_source *s, sp_model *m, sp_lite_model *d)
{
    reader r = {.source = s, .m = m, .out = &d->runs, .room = s->bytes};
    SP_TRY(sp__lite_open(s, &r.t));
    sp_status status = read_tensors(&r);
    if (status == SP_OK) status = read_nodes(&r);
    if (status == SP_OK && r.n_unsupported > 0)
        status = sp__fail(SP_DECLINED, "%d nodes use operators that are not supported: %s%s", r.n_unsupported,
                          r.unsupported.data != NULL ? r.unsupported.data : "",
                          r.n_unsupported > SP_TFLITE_UNSUPPORTED_SHOWN ? ", and more" : "");
    if (status == SP_OK) status = read_constants(&r);
    if (status == SP_OK) status = read_graphs(&r);
    if (status == SP_OK) status = sp__lite_faces(m, &r.out->graphs[0]);
    if (status == SP_OK && r.trains) status = keep_file(&r, d);
    sp__free(r.unsupported.data);
    return status;
}

static sp_status load(const sp_source *s, sp_model *m)
{
    sp_lite_model *d = sp__alloc_zero(sizeof *d);
    if (d == NULL) return SP_NOMEM;
    sp__lock_init(&d->runs.lock);
    m->data = d;
    SP_TRY(sp_bundle_create(&d->runs.tensors));
    SP_TRY(read_model(s, m, d));
    return sp__tflite_outline(m, &d->runs);
}

static void release(void *data)
{
    sp_lite_model *d = data;
    sp__free(d->file);
    sp__tflite_release(d);
}

const sp_model_kind sp__model_lite = {.format = "lite",
                                      .load = load,
                                      .release = release,
                                      .apply = sp__tflite_apply,
                                      .reset = sp__tflite_reset,
                                      .freezes = true,
                                      .any_size = true};
/* Each run of a training model writes its weights: they are never constants. */
static const sp_model_kind training = {
    .format = "lite", .load = load, .release = release, .apply = sp__tflite_apply, .reset = sp__tflite_reset};
