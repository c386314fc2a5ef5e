/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_outline.c - an ONNX model as nodes and names for people and tools (sp_model_node_at): those of branches, bodies of loops and functions
 * too, each in front of the node it belongs to, which takes their results besides its own operands. Names made inside get the node's in front:
 * both branches may use one; what is given from outside keeps its own. */
#include <stdio.h>
#include <string.h>

#include "formats/onnx/onnx_model.h"

enum { LABEL_BYTES = 256 };

static sp_status list_graph(sp__outline *o, const sp_onnx_graph *g, const char *const *names, const char *scope,
                            int depth);

/* What the slots of a body are called: those captured as outside, inputs by what the node gives, others with `scope` in front. A Loop gives the
 * number of the turn itself. */
static sp_status name_slots(sp__outline *o, const sp_onnx_graph *body, const sp_onnx_node *n, const char *const *outer,
                            const char *scope, const char ***out)
{
    const char **names = sp__arena_alloc(&o->m->arena, (size_t)(body->n_slots + 1) * sizeof *names);
    if (names == NULL) return SP_NOMEM;
    for (int i = 0; i < body->n_slots; i++)
        if ((names[i] = body->names[i] != NULL ? sp__outline_join(o, scope, body->names[i]) : "") == NULL)
            return SP_NOMEM;
    for (int i = 0; i < body->n_captured; i++) names[body->captured[i]] = outer[body->captured_from[i]];
    for (int i = strcmp(n->op, "Loop") == 0; i < body->n_inputs && i < n->n_in; i++)
        if (n->in[i] >= 0 && body->inputs[i] >= 0) names[body->inputs[i]] = outer[n->in[i]];
    *out = names;
    return SP_OK;
}

static sp_status list_body(sp__outline *o, const sp_onnx_graph *body, const sp_onnx_node *n, const char *what,
                           const char *const *outer, const char *scope, int depth, const char **results, int *n_results)
{
    char label[LABEL_BYTES];
    const char **names;
    snprintf(label, sizeof label, "%.100s_%d%s%.100s", n->op, o->n_bodies, what[0] ? "/" : "", what);
    const char *inside = sp__outline_join(o, scope, label);
    if (inside == NULL) return SP_NOMEM;
    SP_TRY(name_slots(o, body, n, outer, inside, &names));
    SP_TRY(list_graph(o, body, names, inside, depth + 1));
    for (int i = 0; i < body->n_outputs; i++)
        results[(*n_results)++] = body->outputs[i] >= 0 ? names[body->outputs[i]] : "";
    return SP_OK;
}

static sp_status list_node(sp__outline *o, const sp_onnx_node *n, const char *const *names, const char *scope,
                           int depth)
{
    bool open = sp__outline_open(o, depth);
    size_t n_results = open && n->function != NULL ? (size_t)n->function->n_outputs : 0;
    bool bodies = n_results > 0;
    for (int i = 0; open && i < n->n_attrs; i++)
        if (n->attrs[i].graph != NULL) {
            n_results += (size_t)n->attrs[i].graph->n_outputs;
            bodies = true;
        }
    const char **values =
        sp__arena_alloc(&o->m->arena, ((size_t)n->n_in + (size_t)n->n_out + n_results + 1) * sizeof *values);
    const char *own = sp__model_scope(&o->m->arena, n->name);
    if (values == NULL || own == NULL) return SP_NOMEM;
    const char *belongs = scope[0] ? sp__outline_join(o, scope, own) : own;
    if (belongs == NULL) return SP_NOMEM;
    int n_in = n->n_in;
    for (int k = 0; k < n->n_in; k++) values[k] = n->in[k] >= 0 ? names[n->in[k]] : "";
    if (bodies) o->n_bodies++;
    for (int i = 0; open && i < n->n_attrs; i++)
        if (n->attrs[i].graph != NULL) {
            const char *what = strcmp(n->attrs[i].name, "then_branch") == 0   ? "then"
                               : strcmp(n->attrs[i].name, "else_branch") == 0 ? "else"
                                                                              : n->attrs[i].name;
            SP_TRY(list_body(o, n->attrs[i].graph, n, what, names, scope, depth, values, &n_in));
        }
    if (open && n->function != NULL) SP_TRY(list_body(o, n->function, n, "", names, scope, depth, values, &n_in));
    for (int k = 0; k < n->n_out; k++) values[n_in + k] = n->out[k] >= 0 ? names[n->out[k]] : "";
    return sp__outline_append(o, (sp_model_node){n->name, n->op, belongs, n_in, n->n_out, values, values + n_in});
}

static sp_status list_graph(sp__outline *o, const sp_onnx_graph *g, const char *const *names, const char *scope,
                            int depth)
{
    for (int i = 0; i < g->n_nodes; i++) SP_TRY(list_node(o, &g->nodes[i], names, scope, depth));
    return SP_OK;
}

sp_status sp__onnx_outline(sp_model *m, const sp_onnx_graph *g)
{
    sp__outline o = {.m = m};
    return list_graph(&o, g, g->names, "", 0);
}
