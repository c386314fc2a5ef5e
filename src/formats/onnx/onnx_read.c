/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_read.c - from the bytes of an ONNX file to graphs with resolved names.
 *
 *   ModelProto      7 graph | 8 opset_import (1 domain, 2 version) | 25 functions
 *   GraphProto      1 node | 2 name | 5 initializer | 11 input | 12 output | 15 sparse_initializer
 *   NodeProto       1 input | 2 output | 3 name | 4 op_type | 5 attribute | 7 domain
 *   AttributeProto  1 name | 2 f | 3 i | 4 s | 5 t | 6 g | 7 floats | 8 ints | 9 strings | 20 type | 21 ref_attr_name |
 *                   22 sparse_tensor
 *   ValueInfoProto  1 name | 2 type (onnx_types.c)
 *   FunctionProto   1 name | 4 input | 5 output | 7 node | 9 opset_import | 10 domain
 *
 * A graph is read in two rounds: fields are counted and noted first, since inputs and initializers may come after the nodes
 * that use them; then names are resolved in the order of the nodes, which is put right first (onnx_order.c). A name that is not
 * there yet when a node uses it is an error, so a graph that was accepted has no cycles. */
#include <stdio.h>
#include <string.h>

#include "base/used.h"
#include "base/stack.h"
#include "formats/onnx/onnx_model.h"

enum { NESTING_MAX = 32, OPSETS_MAX = 32, UNSUPPORTED_SHOWN = 24 };

typedef struct opset {
    const char *domain;
    int version;
} opset;

typedef struct opsets {
    int n;
    opset list[OPSETS_MAX];
} opsets;

typedef struct function {
    struct function *next;
    const char *name, *domain;
    sp_onnx_graph *graph;
    sp_wire wire;
} function;

typedef struct reader {
    const sp_source *source;
    sp_model *model;
    sp_bundle *tensors;   /* all constants */
    sp_onnx_texts *texts; /* all texts */
    sp__arena *arena;
    opsets opsets;
    function *functions;
    int depth;
    int n_tensors; /* for names of tensors in attributes */
    int n_unsupported;
    sp__text unsupported;
} reader;

/* A table from names to slots, open addressing, doubled when half full. */
typedef struct names {
    reader *r;
    int n, capacity;
    int *slots; /* -1: free */
    int n_texts, texts_capacity;
    const char **texts;
} names;

typedef struct scope {
    struct scope *outer;
    sp_onnx_graph *graph;
    names names;
    int captured_capacity;
} scope;

#define ALLOC(r, n, type) ((type *)sp__arena_alloc((r)->arena, sizeof(type) * ((size_t)(n) > 0 ? (size_t)(n) : 1)))

static sp_status take_text(reader *r, sp_wire *w, const char *what, int type, const char **out)
{
    sp_wire bytes;
    SP_TRY(sp__wire_take_bytes(w, what, type, &bytes));
    size_t n = sp__wire_left(&bytes);
    char *text = sp__arena_alloc(r->arena, n + 1);
    if (text == NULL) return SP_NOMEM;
    memcpy(text, bytes.at, n);
    *out = text;
    return SP_OK;
}

/* --- names ------------------------------------------------------------------------------------------------------- */

static size_t hash(const char *text)
{
    size_t h = 1469598103u;
    for (; *text != '\0'; text++) h = (size_t)((h ^ (unsigned char)*text) * 1099511628211u);
    return h;
}

static int names_find(const names *t, const char *text)
{
    if (t->capacity == 0) return -1;
    for (size_t i = hash(text) & (size_t)(t->capacity - 1);; i = (i + 1) & (size_t)(t->capacity - 1)) {
        if (t->slots[i] < 0) return -1;
        if (strcmp(t->texts[t->slots[i]], text) == 0) return t->slots[i];
    }
}

static void names_place(names *t, int slot)
{
    size_t i = hash(t->texts[slot]) & (size_t)(t->capacity - 1);
    while (t->slots[i] >= 0) i = (i + 1) & (size_t)(t->capacity - 1);
    t->slots[i] = slot;
}

static sp_status names_grow(names *t)
{
    int capacity = t->capacity == 0 ? 32 : 2 * t->capacity;
    const char **texts = ALLOC(t->r, capacity, const char *);
    int *slots = ALLOC(t->r, capacity, int);
    if (texts == NULL || slots == NULL) return SP_NOMEM;
    if (t->n > 0) memcpy(texts, t->texts, (size_t)t->n * sizeof *texts);
    memset(slots, -1, (size_t)capacity * sizeof *slots);
    t->texts = texts;
    t->slots = slots;
    t->capacity = capacity;
    for (int i = 0; i < t->n; i++) names_place(t, i);
    return SP_OK;
}

/* A slot of its own for a name that must be new. */
static sp_status names_add(names *t, const char *text, int *out)
{
    char shown[SP_NAME_SHOWN];
    SP_CHECK(names_find(t, text) < 0, SP_FORMAT, "the value '%s' is made twice",
             sp__name_shown(text, strlen(text), shown));
    if (2 * (t->n + 1) > t->capacity) SP_TRY(names_grow(t));
    t->texts[t->n] = text;
    names_place(t, t->n);
    *out = t->n++;
    return SP_OK;
}

/* The slot of a name in the scope or one around it; what comes from outside gets a slot that is filled at the start. */
static sp_status resolve(reader *r, scope *s, const char *text, int *out)
{
    *out = names_find(&s->names, text);
    if (*out >= 0) return SP_OK;
    char shown[SP_NAME_SHOWN];
    SP_CHECK(s->outer != NULL, SP_FORMAT,
             "the value '%s' is used, but no input, initializer or node before makes it (missing, or part of a cycle)",
             sp__name_shown(text, strlen(text), shown));
    int from;
    SP_TRY(resolve(r, s->outer, text, &from));
    sp_onnx_graph *g = s->graph;
    if (g->n_captured == s->captured_capacity) {
        int more = s->captured_capacity == 0 ? 8 : 2 * s->captured_capacity;
        int *own = ALLOC(r, more, int), *theirs = ALLOC(r, more, int);
        if (own == NULL || theirs == NULL) return SP_NOMEM;
        if (g->n_captured > 0) {
            memcpy(own, g->captured, (size_t)g->n_captured * sizeof *own);
            memcpy(theirs, g->captured_from, (size_t)g->n_captured * sizeof *own);
        }
        g->captured = own;
        g->captured_from = theirs;
        s->captured_capacity = more;
    }
    SP_TRY(names_add(&s->names, text, out));
    g->captured[g->n_captured] = *out;
    g->captured_from[g->n_captured++] = from;
    return SP_OK;
}

/* --- attributes -------------------------------------------------------------------------------------------------- */

static sp_status read_graph(reader *r, sp_wire w, scope *outer, sp_onnx_graph **out);

static sp_status count_fields(sp_wire w, uint32_t wanted, int *out)
{
    *out = 0;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        *out += number == wanted;
        SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

static float as_float(const uint8_t *at)
{
    float f;
    memcpy(&f, at, sizeof f);
    return f;
}

static sp_status take_float(sp_wire *w, int type, double *out)
{
    SP_TRY(sp__wire_expect(w, "a float", type, SP_WIRE_FIXED32));
    SP_CHECK(sp__wire_left(w) >= 4, SP_FORMAT, "byte %zu: a float is cut off", sp__wire_offset(w));
    *out = (double)as_float(w->at);
    w->at += 4;
    return SP_OK;
}

/* Repeated numbers, packed or one by one; lists has room for all bytes of the attribute. */
static sp_status take_ints(sp_wire *w, int type, int64_t *list, int *n)
{
    uint64_t v;
    if (type == SP_WIRE_VARINT) {
        SP_TRY(sp__wire_varint(w, &v));
        list[(*n)++] = (int64_t)v;
        return SP_OK;
    }
    sp_wire packed;
    SP_TRY(sp__wire_take_bytes(w, "ints", type, &packed));
    while (sp__wire_more(&packed)) {
        SP_TRY(sp__wire_varint(&packed, &v));
        list[(*n)++] = (int64_t)v;
    }
    return SP_OK;
}

static sp_status take_floats(sp_wire *w, int type, double *list, int *n)
{
    if (type == SP_WIRE_FIXED32) return take_float(w, type, &list[(*n)++]);
    sp_wire packed;
    SP_TRY(sp__wire_take_bytes(w, "floats", type, &packed));
    while (sp__wire_left(&packed) >= 4) SP_TRY(take_float(&packed, SP_WIRE_FIXED32, &list[(*n)++]));
    return SP_OK;
}

/* TensorProto: 1 dims | 6 string_data. The texts as their numbers. */
static sp_status read_texts(reader *r, sp_wire w, sp_tensor **out)
{
    sp_meta meta = {.dtype = SP_DTYPE_I64};
    char name[64];
    int n = 0, at = 0;
    size_t wanted;
    SP_TRY(count_fields(w, 6, &n));
    int64_t *codes = ALLOC(r, n, int64_t);
    if (codes == NULL) return SP_NOMEM;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire text;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__meta_take_dims(&w, type, &meta));
        else if (number == 6) {
            SP_TRY(sp__wire_take_bytes(&w, "string_data", type, &text));
            SP_TRY(sp__onnx_text_code(r->texts, (const char *)text.at, sp__wire_left(&text), &codes[at++]));
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    SP_TRY(sp__meta_bytes(&meta, &wanted));
    SP_CHECK(wanted == sizeof *codes * (size_t)n, SP_FORMAT, "%d texts do not agree with the shape", n);
    sp_tensor *t = NULL;
    SP_TRY(sp_tensor_create_from(SP_DTYPE_I64, meta.rank, meta.dims, codes, &t));
    snprintf(name, sizeof name, "#%d", r->n_tensors++);
    sp_status status = sp_bundle_add(r->tensors, name, t);
    *out = t; /* held by the bundle */
    sp_tensor_release(t);
    return status;
}

/* A TensorProto as a constant of the model, with what it carries. as NULL: under its own name, which `name` receives. */
static sp_status read_tensor(reader *r, sp_wire w, const char *as, const char **name, sp_tensor **out, int *type)
{
    int64_t i;
    SP_TRY(sp__onnx_tensor_add(r->source, r->tensors, w, as, &i, type));
    if (*type == SP_ONNX_STRING) return read_texts(r, w, out);
    *out = sp_bundle_tensor_at(r->tensors, i);
    if (name != NULL) *name = sp_bundle_name_at(r->tensors, i);
    return *out != NULL ? SP_OK : SP_NOMEM;
}

/* The same for a SparseTensorProto. */
static sp_status read_sparse(reader *r, sp_wire w, const char *as, const char **name, sp_tensor **out, int *type)
{
    int64_t i = -1;
    SP_TRY(sp__onnx_sparse_add(r->source, r->tensors, w, as, &i, type));
    *out = sp_bundle_tensor_at(r->tensors, i);
    if (name != NULL) *name = sp_bundle_name_at(r->tensors, i);
    return *out != NULL ? SP_OK : SP_NOMEM;
}

static sp_status take_tensor(reader *r, sp_wire *w, int type, bool sparse, sp_onnx_attr *a)
{
    sp_wire inner;
    char name[64];
    SP_TRY(sp__wire_take_bytes(w, sparse ? "sparse_tensor" : "t", type, &inner));
    snprintf(name, sizeof name, "#%d", r->n_tensors++);
    return (sparse ? read_sparse : read_tensor)(r, inner, name, NULL, &a->tensor, &a->tensor_type);
}

/* Files of old writers do not say of which type an attribute is: what it holds tells, fields being numbered as in AttributeProto. A file
 * that says one thing and holds another is wrong; fields left out are zeros and empty lists. */
static sp_status settle_type(sp_onnx_attr *a, uint32_t seen)
{
    static const struct {
        int type, field;
    } held[] = {{1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 9}, {11, 22}};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        if (!(seen >> held[i].field & 1)) continue;
        if (a->type == 0) a->type = held[i].type;
        SP_CHECK(a->type == held[i].type, SP_FORMAT, "attribute '%s' is of type %d, but holds a value of type %d",
                 a->name, a->type, held[i].type);
    }
    return SP_OK;
}

static sp_status read_attr(reader *r, sp_wire w, scope *s, sp_onnx_attr *a)
{
    uint32_t seen = 0; /* bit i: field i */
    size_t room = sp__wire_left(&w);
    int n_strings;
    SP_TRY(count_fields(w, 9, &n_strings));
    int64_t *ints = NULL;
    double *floats = NULL;
    int n_ints = 0, n_floats = 0, at = 0;
    const char **strings = ALLOC(r, n_strings, const char *);
    if (strings == NULL) return SP_NOMEM;
    a->name = "";
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        uint64_t v;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number < 32) seen |= 1u << number;
        if ((number == 8 && ints == NULL && !(ints = ALLOC(r, room, int64_t))) ||
            (number == 7 && floats == NULL && !(floats = ALLOC(r, room / 4 + 1, double))))
            return SP_NOMEM;
        switch (number) {
        case 1: SP_TRY(take_text(r, &w, "attribute name", type, &a->name)); break;
        case 2: SP_TRY(take_float(&w, type, &a->f)); break;
        case 3:
            SP_TRY(sp__wire_take_number(&w, "i", type, &v));
            a->i = (int64_t)v;
            break;
        case 4: SP_TRY(take_text(r, &w, "s", type, &a->s)); break;
        case 5:
        case 22: SP_TRY(take_tensor(r, &w, type, number == 22, a)); break;
        case 6:
            SP_TRY(sp__wire_take_bytes(&w, "g", type, &inner));
            SP_TRY(read_graph(r, inner, s, &a->graph));
            break;
        case 7: SP_TRY(take_floats(&w, type, floats, &n_floats)); break;
        case 8: SP_TRY(take_ints(&w, type, ints, &n_ints)); break;
        case 9: SP_TRY(take_text(r, &w, "strings", type, &strings[at++])); break;
        case 20:
            SP_TRY(sp__wire_take_number(&w, "type", type, &v));
            a->type = (int)(v & 0xff);
            break;
        case 21: SP_TRY(take_text(r, &w, "ref_attr_name", type, &a->from)); break;
        default: SP_TRY(sp__wire_skip(&w, number, type));
        }
    }
    SP_CHECK((n_ints > 0) + (n_floats > 0) + (at > 0) <= 1, SP_FORMAT, "attribute '%s' holds lists of several kinds",
             a->name);
    SP_TRY(settle_type(a, seen));
    a->n = n_ints + n_floats + at;
    /* A handler that expects another kind finds zeros and empty texts, not less than n says. */
    if ((n_ints == 0 && !(ints = ALLOC(r, a->n, int64_t))) || (n_floats == 0 && !(floats = ALLOC(r, a->n, double))) ||
        (at == 0 && !(strings = ALLOC(r, a->n, const char *))))
        return SP_NOMEM;
    for (int i = at; i < a->n; i++) strings[i] = "";
    a->ints = ints;
    a->floats = floats;
    a->strings = strings;
    return SP_OK;
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

static bool same_domain(const char *x, const char *y)
{
    if (strcmp(x, "ai.onnx") == 0) x = "";
    if (strcmp(y, "ai.onnx") == 0) y = "";
    return strcmp(x, y) == 0;
}

static int opset_of(const opsets *o, const char *domain)
{
    for (int i = 0; i < o->n; i++)
        if (same_domain(o->list[i].domain, domain)) return o->list[i].version;
    return 1;
}

const sp_onnx_handler *sp__onnx_handler_find(const char *domain, const char *op, int version)
{
    static const sp_onnx_handler *const tables[] = {
        sp__onnx_math,   sp__onnx_shape, sp__onnx_nn,   sp__onnx_quant,  sp__onnx_control, sp__onnx_composed,
        sp__onnx_resize, sp__onnx_rnn,   sp__onnx_text, sp__onnx_signal, sp__onnx_place,   sp__onnx_ml,
        sp__onnx_train,  sp__onnx_ms,    sp__onnx_cast, sp__onnx_tokens, sp__onnx_random,  sp__onnx_image};
    char full[256];
    if (!same_domain(domain, "") && snprintf(full, sizeof full, "%s:%s", domain, op) < (int)sizeof full) op = full;
    const sp_onnx_handler *best = NULL;
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        for (const sp_onnx_handler *h = tables[k]; h->name != NULL; h++)
            if (strcmp(h->name, op) == 0 && h->since <= version && (best == NULL || h->since > best->since)) best = h;
    if (best != NULL && sp__used_watched()) sp__used_note(SP_USED_ONNX, best->name);
    return best != NULL && best->apply != NULL ? best : NULL; /* NULL: it is not in this build (SPORE_ONNX) */
}

static void note_unsupported(reader *r, const sp_onnx_node *n)
{
    char op[SP_NAME_SHOWN], name[SP_NAME_SHOWN];
    if (r->n_unsupported++ >= UNSUPPORTED_SHOWN) return;
    sp__text_put(&r->unsupported, "%s%s%s%s (node '%s')", r->n_unsupported > 1 ? ", " : "", n->domain,
                 n->domain[0] ? "." : "", sp__name_shown(n->op, strlen(n->op), op),
                 sp__name_shown(n->name, strlen(n->name), name));
}

static void bind_node(reader *r, const opsets *o, sp_onnx_node *n)
{
    n->opset = opset_of(o, n->domain);
    for (function *f = r->functions; f != NULL; f = f->next)
        if (same_domain(f->domain, n->domain) && strcmp(f->name, n->op) == 0) {
            n->function = f->graph;
            return;
        }
    n->handler = sp__onnx_handler_find(n->domain, n->op, n->opset);
    if (n->handler == NULL) note_unsupported(r, n);
    else n->needed = n->handler->how == SP_ONNX_VALUES ? 0 : sp__onnx_needed(n->handler->name, n->opset);
}

static sp_status read_node(reader *r, const opsets *o, sp_wire w, scope *s, sp_onnx_node *n)
{
    int n_in, n_out, n_attrs;
    const char *text;
    SP_TRY(count_fields(w, 1, &n_in));
    SP_TRY(count_fields(w, 2, &n_out));
    SP_TRY(count_fields(w, 5, &n_attrs));
    n->in = ALLOC(r, n_in, int);
    n->out = ALLOC(r, n_out, int);
    n->attrs = ALLOC(r, n_attrs, sp_onnx_attr);
    const char **outs = ALLOC(r, n_out, const char *);
    if (!n->in || !n->out || !n->attrs || !outs) return SP_NOMEM;
    n->name = n->op = n->domain = "";
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        switch (number) {
        case 1:
            SP_TRY(take_text(r, &w, "input", type, &text));
            n->in[n->n_in] = -1;
            if (text[0] != '\0') SP_TRY(resolve(r, s, text, &n->in[n->n_in]));
            n->n_in++;
            break;
        case 2: SP_TRY(take_text(r, &w, "output", type, &outs[n->n_out++])); break;
        case 3: SP_TRY(take_text(r, &w, "node name", type, &n->name)); break;
        case 4: SP_TRY(take_text(r, &w, "op_type", type, &n->op)); break;
        case 5:
            SP_TRY(sp__wire_take_bytes(&w, "attribute", type, &inner));
            SP_TRY(read_attr(r, inner, s, &n->attrs[n->n_attrs++]));
            break;
        case 7: SP_TRY(take_text(r, &w, "domain", type, &n->domain)); break;
        default: SP_TRY(sp__wire_skip(&w, number, type));
        }
    }
    for (int i = 0; i < n->n_out; i++) {
        n->out[i] = -1;
        if (outs[i][0] != '\0') SP_TRY(names_add(&s->names, outs[i], &n->out[i]));
    }
    bind_node(r, o, n);
    if (n->handler != NULL) SP_TRY(sp__onnx_attrs_check(n, NULL));
    for (int i = 0; i < n->n_in || (i < 31 && (n->needed & ~SP_ONNX_NEEDS_ALL) >> i != 0); i++)
        SP_CHECK(!sp__onnx_needs(n, i) || (i < n->n_in && n->in[i] >= 0), SP_FORMAT,
                 "operator '%s' without its input %d", n->op, i);
    return SP_OK;
}

/* Where each slot is used last: after that node its value is released. */
static sp_status find_dead(reader *r, sp_onnx_graph *g)
{
    for (int i = 0; i < g->n_nodes; i++) /* runs a part of the graph again, and may need any value of it */
        if (strcmp(g->nodes[i].op, "Gradient") == 0 && strcmp(g->nodes[i].domain, "ai.onnx.preview.training") == 0)
            return SP_OK;
    int *last = ALLOC(r, g->n_slots, int);
    if (last == NULL) return SP_NOMEM;
    memset(last, -1, (size_t)g->n_slots * sizeof *last);
    for (int i = 0; i < g->n_nodes; i++) {
        const sp_onnx_node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0) last[n->in[k]] = i;
        for (int k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0 && last[n->out[k]] < i) last[n->out[k]] = i;
        for (int a = 0; a < n->n_attrs; a++)
            for (int k = 0; n->attrs[a].graph != NULL && k < n->attrs[a].graph->n_captured; k++)
                last[n->attrs[a].graph->captured_from[k]] = i;
    }
    for (int i = 0; i < g->n_outputs; i++) last[g->outputs[i]] = -1;
    for (int i = 0; i < g->n_slots; i++)
        if (last[i] >= 0) g->nodes[last[i]].n_dead++;
    for (int i = 0; i < g->n_nodes; i++) {
        g->nodes[i].dead = ALLOC(r, g->nodes[i].n_dead, int);
        if (g->nodes[i].dead == NULL) return SP_NOMEM;
        g->nodes[i].n_dead = 0;
    }
    for (int i = 0; i < g->n_slots; i++)
        if (last[i] >= 0) g->nodes[last[i]].dead[g->nodes[last[i]].n_dead++] = i;
    return SP_OK;
}

/* Convolutions whose result goes into a normalisation and nowhere else: the two may become one. */
static sp_status find_norms(reader *r, sp_onnx_graph *g)
{
    int *uses = ALLOC(r, g->n_slots, int);
    sp_onnx_node **makers = ALLOC(r, g->n_slots, sp_onnx_node *);
    if (uses == NULL || makers == NULL) return SP_NOMEM;
    for (int i = 0; i < g->n_nodes; i++) {
        sp_onnx_node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0) uses[n->in[k]]++;
        for (int a = 0; a < n->n_attrs; a++)
            for (int k = 0; n->attrs[a].graph != NULL && k < n->attrs[a].graph->n_captured; k++)
                uses[n->attrs[a].graph->captured_from[k]]++;
        if (strcmp(n->op, "Conv") == 0 && n->domain[0] == '\0' && n->function == NULL && n->n_out == 1 &&
            n->out[0] >= 0)
            makers[n->out[0]] = n;
    }
    for (int i = 0; i < g->n_outputs; i++) uses[g->outputs[i]]++;
    for (int i = 0; i < g->n_nodes; i++) {
        sp_onnx_node *n = &g->nodes[i];
        bool norm = strcmp(n->op, "BatchNormalization") == 0 && n->domain[0] == '\0' && n->function == NULL &&
                    n->n_in == 5 && n->n_out == 1 && n->out[0] >= 0 && n->in[0] >= 0;
        if (!norm || makers[n->in[0]] == NULL || uses[n->in[0]] != 1) continue;
        makers[n->in[0]]->norm = n;
        n->folded = true;
    }
    return SP_OK;
}

/* --- graphs ------------------------------------------------------------------------------------------------------ */

static sp_status read_value_info(reader *r, sp_wire w, sp_model_value *out)
{
    out->name = "";
    out->spec = (sp_spec){.dtype = SP_DTYPE_NONE, .rank = -1};
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(take_text(r, &w, "name of a value", type, &out->name));
        else if (number == 2) {
            SP_TRY(sp__wire_take_bytes(&w, "type", type, &inner));
            SP_TRY(sp__onnx_read_type(inner, out));
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

typedef struct fields {
    int n[32];
    sp_wire *list[32];
} fields;

/* The sub-messages of the wanted numbers, in order. */
static sp_status note_fields(reader *r, sp_wire w, uint32_t wanted, fields *out)
{
    for (uint32_t k = 1; k < 32; k++) {
        out->n[k] = 0;
        if (!(wanted >> k & 1)) continue;
        int n;
        SP_TRY(count_fields(w, k, &n));
        out->list[k] = ALLOC(r, n, sp_wire);
        if (out->list[k] == NULL) return SP_NOMEM;
    }
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number < 32 && wanted >> number & 1)
            SP_TRY(sp__wire_take_bytes(&w, "a field of a graph", type, &out->list[number][out->n[number]++]));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

static sp_status name_of_tensor(reader *r, sp_wire w, const char **out)
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 8) SP_TRY(take_text(r, &w, "name", type, out));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

/* A sparse tensor has the name of its values. */
static sp_status name_of_sparse(reader *r, sp_wire w, const char **out)
{
    fields f;
    SP_TRY(note_fields(r, w, 1u << 1, &f));
    return f.n[1] > 0 ? name_of_tensor(r, f.list[1][f.n[1] - 1], out) : SP_OK;
}

static sp_status read_constant(reader *r, sp_wire w, bool sparse, scope *s, sp_onnx_graph *g)
{
    char held[64];
    const char *name = "";
    int at = g->n_constants;
    bool inner = s->outer != NULL; /* names of inner graphs may be those of outer ones */
    snprintf(held, sizeof held, "#%d", r->n_tensors++);
    SP_TRY((sparse ? read_sparse : read_tensor)(r, w, inner ? held : NULL, &name, &g->constants[at],
                                                &g->constant_types[at]));
    if (inner || g->constant_types[at] == SP_ONNX_STRING)
        SP_TRY((sparse ? name_of_sparse : name_of_tensor)(r, w, &name));
    g->n_constants++;
    return names_add(&s->names, name, &g->constant_slots[at]);
}

/* Initializers first; an input of the same name has one as its default, and is no input for us. */
static sp_status read_constants(reader *r, const fields *f, scope *s, sp_onnx_graph *g)
{
    int n = f->n[5] + f->n[15];
    g->constants = ALLOC(r, n, sp_tensor *);
    g->constant_slots = ALLOC(r, n, int);
    g->constant_types = ALLOC(r, n, int);
    if (g->constants == NULL || g->constant_slots == NULL || g->constant_types == NULL) return SP_NOMEM;
    for (int i = 0; i < n; i++) {
        bool sparse = i >= f->n[5];
        SP_TRY(read_constant(r, sparse ? f->list[15][i - f->n[5]] : f->list[5][i], sparse, s, g));
    }
    return SP_OK;
}

static sp_status read_faces(reader *r, const fields *f, scope *s, sp_onnx_graph *g)
{
    sp_model_value *inputs = ALLOC(r, f->n[11], sp_model_value);
    g->inputs = ALLOC(r, f->n[11], int);
    if (inputs == NULL || g->inputs == NULL) return SP_NOMEM;
    for (int i = 0; i < f->n[11]; i++) {
        SP_TRY(read_value_info(r, f->list[11][i], &inputs[g->n_inputs]));
        if (names_find(&s->names, inputs[g->n_inputs].name) >= 0) continue;
        SP_TRY(names_add(&s->names, inputs[g->n_inputs].name, &g->inputs[g->n_inputs]));
        g->n_inputs++;
    }
    if (s->outer == NULL) {
        r->model->inputs = inputs;
        r->model->n_inputs = g->n_inputs;
    }
    return SP_OK;
}

static sp_status read_results(reader *r, const fields *f, scope *s, sp_onnx_graph *g)
{
    sp_model_value *outputs = ALLOC(r, f->n[12], sp_model_value);
    g->outputs = ALLOC(r, f->n[12], int);
    if (outputs == NULL || g->outputs == NULL) return SP_NOMEM;
    g->n_outputs = f->n[12];
    for (int i = 0; i < f->n[12]; i++) {
        SP_TRY(read_value_info(r, f->list[12][i], &outputs[i]));
        SP_TRY(resolve(r, s, outputs[i].name, &g->outputs[i]));
    }
    if (s->outer == NULL) {
        r->model->outputs = outputs;
        r->model->n_outputs = g->n_outputs;
    }
    return SP_OK;
}

static sp_status read_nodes(reader *r, const opsets *o, int n, sp_wire *list, scope *s, sp_onnx_graph *g)
{
    g->nodes = ALLOC(r, n, sp_onnx_node);
    if (g->nodes == NULL) return SP_NOMEM;
    SP_TRY(sp__onnx_order(r->arena, n, list));
    for (int i = 0; i < n; i++) {
        sp_onnx_node *node = &g->nodes[g->n_nodes++];
        sp_status status = read_node(r, o, list[i], s, node);
        char shown[SP_NAME_SHOWN];
        if (status != SP_OK) {
            const char *name = node->name != NULL ? node->name : "";
            sp__error_context("node %d '%s'", i, sp__name_shown(name, strlen(name), shown));
            return status;
        }
    }
    return SP_OK;
}

static sp_status read_graph(reader *r, sp_wire w, scope *outer, sp_onnx_graph **out)
{
    SP_CHECK(r->depth < NESTING_MAX, SP_FORMAT, "byte %zu: graphs inside graphs, more than %d deep",
             sp__wire_offset(&w), NESTING_MAX);
    SP_TRY(sp__stack_check());
    sp_onnx_graph *g = ALLOC(r, 1, sp_onnx_graph);
    fields f;
    if (g == NULL) return SP_NOMEM;
    scope s = {.outer = outer, .graph = g, .names = {.r = r}};
    g->name = "graph";
    r->depth++;
    SP_TRY(note_fields(r, w, 1u << 1 | 1u << 5 | 1u << 11 | 1u << 12 | 1u << 15, &f));
    SP_TRY(read_constants(r, &f, &s, g));
    SP_TRY(read_faces(r, &f, &s, g));
    SP_TRY(read_nodes(r, &r->opsets, f.n[1], f.list[1], &s, g));
    SP_TRY(read_results(r, &f, &s, g));
    g->n_slots = s.names.n;
    g->names = s.names.texts;
    r->depth--;
    *out = g;
    SP_TRY(sp__onnx_join_quantised(r->arena, g));
    SP_TRY(find_norms(r, g));
    return find_dead(r, g);
}

/* --- functions and the model ------------------------------------------------------------------------------------- */

static sp_status read_opset(reader *r, sp_wire w, opsets *o)
{
    SP_CHECK(o->n < OPSETS_MAX, SP_FORMAT, "more than %d opset_imports", OPSETS_MAX);
    opset *at = &o->list[o->n++];
    uint64_t v = 0;
    at->domain = "";
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(take_text(r, &w, "domain", type, &at->domain));
        else if (number == 2) SP_TRY(sp__wire_take_number(&w, "version", type, &v));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    at->version = v > 10000 ? 10000 : (int)v;
    return SP_OK;
}

/* The head of a function, so that all are known before the first body is read. */
static sp_status note_function(reader *r, sp_wire w)
{
    function *f = ALLOC(r, 1, function);
    if (f == NULL || !(f->graph = ALLOC(r, 1, sp_onnx_graph))) return SP_NOMEM;
    f->wire = w;
    f->name = f->domain = "";
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(take_text(r, &w, "function name", type, &f->name));
        else if (number == 10) SP_TRY(take_text(r, &w, "domain", type, &f->domain));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    f->graph->name = f->name;
    f->next = r->functions;
    r->functions = f;
    return SP_OK;
}

static sp_status slots_of(reader *r, const sp_wire *list, int n, scope *s, bool made, int **out)
{
    *out = ALLOC(r, n, int);
    if (*out == NULL) return SP_NOMEM;
    for (int i = 0; i < n; i++) {
        size_t bytes = sp__wire_left(&list[i]);
        char *text = sp__arena_alloc(r->arena, bytes + 1);
        if (text == NULL) return SP_NOMEM;
        memcpy(text, list[i].at, bytes);
        SP_TRY(made ? names_add(&s->names, text, &(*out)[i]) : resolve(r, s, text, &(*out)[i]));
    }
    return SP_OK;
}

static sp_status read_function(reader *r, function *fn)
{
    sp_onnx_graph *g = fn->graph;
    fields f;
    opsets own = {0};
    scope s = {.graph = g, .names = {.r = r}};
    /* 9 opset_import | 4 input | 5 output | 7 node */
    SP_TRY(note_fields(r, fn->wire, 1u << 4 | 1u << 5 | 1u << 7 | 1u << 9, &f));
    for (int i = 0; i < f.n[9]; i++) SP_TRY(read_opset(r, f.list[9][i], &own));
    opsets outer = r->opsets;
    if (own.n > 0) r->opsets = own; /* for graphs inside its nodes too */
    g->n_inputs = f.n[4];
    sp_status status = slots_of(r, f.list[4], f.n[4], &s, true, &g->inputs);
    if (status == SP_OK) status = read_nodes(r, &r->opsets, f.n[7], f.list[7], &s, g);
    g->n_outputs = f.n[5];
    if (status == SP_OK) status = slots_of(r, f.list[5], f.n[5], &s, false, &g->outputs);
    r->opsets = outer;
    g->n_slots = s.names.n;
    g->names = s.names.texts;
    if (status == SP_OK) status = find_dead(r, g);
    if (status != SP_OK) sp__error_context("function '%s'", fn->name);
    return status;
}

/* Functions may call each other but not themselves: their calls would never end. Nor may the nodes be more than anything could hold when calls
 * are replaced by what they call: functions of a few nodes that call each other twice double them each time. Every graph is walked
 * through once. */
enum { EXPANDED_MAX = 1 << 20 };
static sp_status check_calls(sp_onnx_graph *g, int depth)
{
    enum { NEW, OPEN, DONE };
    SP_CHECK(g->walked != OPEN, SP_FORMAT, "function '%s' calls itself", g->name);
    SP_CHECK(depth < 4 * NESTING_MAX, SP_FORMAT, "functions call functions, more than %d deep", 4 * NESTING_MAX);
    if (g->walked == DONE) return SP_OK;
    g->walked = OPEN;
    g->n_expanded = g->n_nodes;
    for (int i = 0; i < g->n_nodes; i++) {
        const sp_onnx_node *n = &g->nodes[i];
        if (n->function != NULL) {
            SP_TRY(check_calls(n->function, depth + 1));
            g->n_expanded += n->function->n_expanded;
        }
        for (int a = 0; a < n->n_attrs; a++) {
            if (n->attrs[a].graph == NULL) continue;
            SP_TRY(check_calls(n->attrs[a].graph, depth + 1));
            g->n_expanded += n->attrs[a].graph->n_expanded;
        }
        SP_CHECK(g->n_expanded <= EXPANDED_MAX, SP_FORMAT,
                 "'%s' has more than %d nodes when the functions it calls are counted as often as they "
                 "are called",
                 g->name != NULL ? g->name : "the graph", EXPANDED_MAX);
    }
    g->walked = DONE;
    return SP_OK;
}

static sp_status read_model(reader *r, sp_onnx_graph **out)
{
    fields f;
    sp_wire w = sp__wire_open(r->source->data, r->source->bytes);
    SP_TRY(note_fields(r, w, 1u << 7 | 1u << 8 | 1u << 25, &f));
    SP_CHECK(f.n[7] == 1, SP_FORMAT, "%d graphs found, there must be one", f.n[7]);
    SP_CHECK(f.n[8] > 0, SP_FORMAT, "there is no opset_import, so the meaning of its operators is not known");
    for (int i = 0; i < f.n[8]; i++) SP_TRY(read_opset(r, f.list[8][i], &r->opsets));
    for (int i = 0; i < f.n[25]; i++) SP_TRY(note_function(r, f.list[25][i]));
    for (function *fn = r->functions; fn != NULL; fn = fn->next) SP_TRY(read_function(r, fn));
    for (function *fn = r->functions; fn != NULL; fn = fn->next) SP_TRY(check_calls(fn->graph, 0));
    SP_TRY(read_graph(r, f.list[7][0], NULL, out));
    return check_calls(*out, 0);
}

sp_status sp__onnx_read(const sp_source *s, sp_model *m, sp_bundle *tensors, sp_onnx_texts *texts, sp_onnx_graph **out)
{
    reader r = {.source = s, .model = m, .tensors = tensors, .texts = texts, .arena = &m->arena};
    sp_status status = read_model(&r, out);
    if (status == SP_OK && r.n_unsupported > 0)
        status = sp__fail(SP_DECLINED, "%d nodes use operators that are not supported: %s%s", r.n_unsupported,
                          r.unsupported.data != NULL ? r.unsupported.data : "",
                          r.n_unsupported > UNSUPPORTED_SHOWN ? ", and more" : "");
    sp__free(r.unsupported.data);
    return status;
}
