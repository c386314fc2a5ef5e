/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_parse.c - a MindIR file as functions whose names are resolved. Field numbers: see the tables of mindir_weights.c and
 *   GraphProto     1 node | 2 name | 3 parameter | 5 input | 6 output
 *   NodeProto      1 input | 2 output | 3 name | 4 op_type | 5 attribute
 *   ValueInfoProto 1 name | 2 tensor | 4 denotation | 5 attr_info
 *   PrimitiveProto 1 name | 2 op_type | 3 attribute
 *
 * Two passes: the first counts and copies, the second looks names up, so the order of functions and nodes in the file does not
 * matter (mindir_names.c). */
#include <string.h>

#include "formats/mindir/mindir_parse.h"

enum { MAX_FUNCTIONS = 2048 };

/* --- nodes and functions ----------------------------------------------------------------------------------------- */

static sp_status read_node_attribute(sp_mindir_parser *p, sp_wire inner, bool constant, sp_mindir_node *n)
{
    sp_mindir_attr a;
    /* Which form it has is known only after its name. */
    sp_mindir_attr named;
    SP_TRY(sp__mindir_parse_read_attribute(p, inner, !constant, &named));
    if (!constant && strcmp(named.name, "shape")) SP_TRY(sp__mindir_parse_read_attribute(p, inner, false, &a));
    else a = named;
    if (constant) n->constant = a.value;
    else if (!strcmp(a.name, "shape"))
        n->shape = a.value->is_type || a.value->kind == SP_MINDIR_TENSOR ? a.value : NULL;
    else n->attrs[n->n_attrs++] = a;
    return SP_OK;
}

static sp_status read_node(sp_mindir_parser *p, sp_wire w, sp_mindir_node *n)
{
    uint32_t number;
    int type;
    sp_wire again = w, inner;
    const char *output = NULL, *name = NULL;
    int n_in = sp__mindir_parse_count_fields(w, 1), n_attrs = sp__mindir_parse_count_fields(w, 5);
    n->in_names = sp__mindir_parse_alloc(p, (size_t)n_in, sizeof *n->in_names);
    n->in = sp__mindir_parse_alloc(p, (size_t)n_in, sizeof *n->in);
    n->attrs = sp__mindir_parse_alloc(p, (size_t)n_attrs, sizeof *n->attrs);
    if (!n->in_names || !n->in || !n->attrs) return SP_NOMEM;
    while (sp__wire_more(&w)) {
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__mindir_parse_take_text(p, &w, "input", type, &n->in_names[n->n_in++]));
        else if (number == 2 && !output) SP_TRY(sp__mindir_parse_take_text(p, &w, "output", type, &output));
        else if (number == 3) SP_TRY(sp__mindir_parse_take_text(p, &w, "name", type, &name));
        else if (number == 4) SP_TRY(sp__mindir_parse_take_text(p, &w, "op_type", type, &n->type));
        else if (number == 7 && type == SP_WIRE_BYTES)
            SP_TRY(sp__mindir_parse_take_text(p, &w, "domain", type, &n->scope));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    n->name = output ? output : name;
    SP_CHECK(n->name && *n->name && n->type && *n->type, SP_FORMAT, "byte %zu: a node without output or op_type",
             sp__wire_offset(&again));
    while (sp__wire_more(&again)) {
        SP_TRY(sp__wire_field(&again, &number, &type));
        if (number != 5) {
            SP_TRY(sp__wire_skip(&again, number, type));
            continue;
        }
        SP_TRY(sp__wire_take_bytes(&again, "attribute", type, &inner));
        SP_TRY(read_node_attribute(p, inner, !strcmp(n->type, "Constant"), n));
    }
    return SP_OK;
}

/* The entry of the weights that a tensor refers to, -1: none. */
static sp_status find_passed(sp_mindir_parser *p, const sp_mindir_parsed *t, int64_t *out)
{
    size_t bytes = sp__wire_left(&t->ref_key);
    if (!bytes) return SP_OK;
    char *key = sp__mindir_parse_alloc(p, bytes + 1, 1);
    if (!key) return SP_NOMEM;
    memcpy(key, t->ref_key.at, bytes);
    key[bytes] = '\0';
    *out = sp_bundle_find(p->m->weights, key);
    return SP_OK;
}

static sp_status read_value_info(sp_mindir_parser *p, sp_wire w, const char **name, sp_mindir_value **out,
                                 int64_t *passed)
{
    *name = NULL;
    *out = NULL;
    *passed = -1;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        sp_mindir_parsed t;
        sp_mindir_attr a;
        const char *denotation = "";
        SP_TRY(sp__wire_field(&w, &number, &type));
        switch (number) {
        case 1: SP_TRY(sp__mindir_parse_take_text(p, &w, "name", type, name)); break;
        case 2:
            SP_TRY(sp__wire_take_bytes(&w, "tensor", type, &inner));
            SP_TRY(sp__mindir_parse_read_tensor(inner, &t));
            if (!*out && !(*out = sp__mindir_parse_type_of_tensor(p, &t))) return SP_NOMEM;
            SP_TRY(find_passed(p, &t, passed));
            break;
        case 4:
            SP_TRY(sp__mindir_parse_take_text(p, &w, "denotation", type, &denotation));
            if (!*out && strstr(denotation, "Monad") && !(*out = sp__mindir_parse_new_value(p, SP_MINDIR_MONAD)))
                return SP_NOMEM;
            break;
        case 5:
            SP_TRY(sp__wire_take_bytes(&w, "attr_info", type, &inner));
            SP_TRY(sp__mindir_parse_read_attribute(p, inner, true, &a));
            *out = a.value;
            break;
        default: SP_TRY(sp__wire_skip(&w, number, type));
        }
    }
    SP_CHECK(*name && **name, SP_FORMAT, "byte %zu: an input or output without a name", sp__wire_offset(&w));
    return SP_OK;
}

static sp_status read_weight(sp_mindir_parser *p, sp_wire w, sp_mindir_input *in)
{
    sp_mindir_parsed t;
    sp_wire again = w;
    SP_TRY(sp__mindir_parse_read_tensor(w, &t));
    while (sp__wire_more(&again)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&again, &number, &type));
        if (number == 7) SP_TRY(sp__mindir_parse_take_text(p, &again, "name", type, &in->name));
        else SP_TRY(sp__wire_skip(&again, number, type));
    }
    SP_CHECK(in->name && *in->name, SP_FORMAT, "byte %zu: a weight without a name", sp__wire_offset(&w));
    const char *colon = strchr(in->name, ':');
    in->weight = sp_bundle_find(p->m->weights, colon && colon[1] ? colon + 1 : in->name);
    SP_CHECK(in->weight >= 0, SP_FORMAT, "weight '%s' has no contents", in->name);
    if (!(in->type = sp__mindir_parse_type_of_tensor(p, &t))) return SP_NOMEM;
    return SP_OK;
}

static sp_status read_function_fields(sp_mindir_parser *p, sp_wire w, sp_mindir_function *f, bool weights)
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 2 && !weights) {
            SP_TRY(sp__mindir_parse_take_text(p, &w, "name", type, &f->name));
            continue;
        }
        bool wanted = weights ? number == 3 : number == 1 || number == 5 || number == 6;
        if (!wanted) {
            SP_TRY(sp__wire_skip(&w, number, type));
            continue;
        }
        SP_TRY(sp__wire_take_bytes(&w, "a part of a function", type, &inner));
        if (number == 1) SP_TRY(read_node(p, inner, &f->nodes[f->n_nodes++]));
        if (number == 3) SP_TRY(read_weight(p, inner, &f->inputs[f->n_inputs++]));
        if (number == 5) {
            sp_mindir_input *in = &f->inputs[f->n_inputs++];
            in->weight = -1;
            SP_TRY(read_value_info(p, inner, &in->name, &in->type, &in->passed));
        }
        if (number == 6) {
            int64_t passed;
            SP_TRY(read_value_info(p, inner, &f->output_names[f->n_outputs], &f->output_types[f->n_outputs], &passed));
            f->n_outputs++;
        }
    }
    return SP_OK;
}

static sp_status read_function(sp_mindir_parser *p, sp_wire w, bool main)
{
    sp_mindir_model *m = p->m;
    sp_mindir_function *f = &m->functions[main ? 0 : m->n_functions];
    size_t n_nodes = (size_t)sp__mindir_parse_count_fields(w, 1),
           n_inputs = (size_t)(sp__mindir_parse_count_fields(w, 5) + sp__mindir_parse_count_fields(w, 3)),
           n_outputs = (size_t)sp__mindir_parse_count_fields(w, 6);
    f->index = (int)(f - m->functions);
    if (!main) m->n_functions++;
    f->nodes = sp__mindir_parse_alloc(p, n_nodes, sizeof *f->nodes);
    f->inputs = sp__mindir_parse_alloc(p, n_inputs, sizeof *f->inputs);
    f->output_names = sp__mindir_parse_alloc(p, n_outputs, sizeof *f->output_names);
    f->output_types = sp__mindir_parse_alloc(p, n_outputs, sizeof *f->output_types);
    f->outputs = sp__mindir_parse_alloc(p, n_outputs, sizeof *f->outputs);
    f->node_of_slot = sp__mindir_parse_alloc(p, n_inputs + n_nodes, sizeof *f->node_of_slot);
    if (!f->nodes || !f->inputs || !f->output_names || !f->output_types || !f->outputs || !f->node_of_slot)
        return SP_NOMEM;
    SP_TRY(read_function_fields(p, w, f, false));
    f->n_args = f->n_inputs;
    if (main) SP_TRY(read_function_fields(p, w, f, true));
    SP_CHECK(f->name && *f->name, SP_FORMAT, "byte %zu: a function without a name", sp__wire_offset(&w));
    SP_CHECK(f->n_outputs > 0, SP_FORMAT, "function '%s' has no output", f->name);
    m->n_names += 1 + f->n_inputs + f->n_nodes;
    return SP_OK;
}

static sp_status read_primitive(sp_mindir_parser *p, sp_wire w, sp_mindir_primitive *out)
{
    out->attrs = sp__mindir_parse_alloc(p, (size_t)sp__mindir_parse_count_fields(w, 3), sizeof *out->attrs);
    if (!out->attrs) return SP_NOMEM;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__mindir_parse_take_text(p, &w, "name", type, &out->name));
        else if (number == 2) SP_TRY(sp__mindir_parse_take_text(p, &w, "op_type", type, &out->type));
        else if (number == 3) {
            SP_TRY(sp__wire_take_bytes(&w, "attribute", type, &inner));
            SP_TRY(sp__mindir_parse_read_attribute(p, inner, false, &out->attrs[out->n_attrs++]));
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    SP_CHECK(out->name && out->type, SP_FORMAT, "byte %zu: a primitive without name or op_type", sp__wire_offset(&w));
    p->m->n_names++;
    return SP_OK;
}

static sp_status read_model(sp_mindir_parser *p, sp_wire w)
{
    sp_mindir_model *m = p->m;
    int n_main = sp__mindir_parse_count_fields(w, 7), n_functions = 1 + sp__mindir_parse_count_fields(w, 8);
    SP_CHECK(n_main == 1, SP_FORMAT, "has %d main graphs, a model has one", n_main);
    SP_CHECK(n_functions <= MAX_FUNCTIONS, SP_FORMAT, "has %d functions, at most %d are read", n_functions,
             MAX_FUNCTIONS);
    m->functions = sp__mindir_parse_alloc(p, (size_t)n_functions, sizeof *m->functions);
    m->primitives = sp__mindir_parse_alloc(p, (size_t)sp__mindir_parse_count_fields(w, 12), sizeof *m->primitives);
    if (!m->functions || !m->primitives) return SP_NOMEM;
    m->n_functions = 1;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 7 || number == 8) {
            SP_TRY(sp__wire_take_bytes(&w, "graph", type, &inner));
            SP_TRY(read_function(p, inner, number == 7));
        } else if (number == 12) {
            SP_TRY(sp__wire_take_bytes(&w, "primitives", type, &inner));
            SP_TRY(read_primitive(p, inner, &m->primitives[m->n_primitives++]));
        } else if (number == 13) {
            SP_TRY(sp__wire_take_number(&w, "mind_ir_version", type, &m->version));
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

sp_status sp__mindir_parse(const sp_source *s, sp_model *m, sp_mindir_model *out)
{
    sp_mindir_parser p = {.m = out, .arena = &m->arena};
    out->model = m;
    SP_TRY(read_model(&p, sp__wire_open(s->data, s->bytes)));
    return sp__mindir_parse_resolve(&p);
}

void sp__mindir_free(sp_mindir_model *m)
{
    for (int i = 0; i < m->n_tensors; i++) sp_tensor_release(m->tensors[i]);
    sp__free(m->tensors);
}
