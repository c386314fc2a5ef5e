/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_outline.c - a TensorFlow Lite model as nodes and names for people and tools (sp_model_node_at): those of graphs that IF, WHILE and
 * CALL_ONCE run too, each in front of the node it belongs to, which takes their results besides its own operands. Names made inside get the
 * node's in front; what is given to a graph keeps its own. */
#include <stdio.h>
#include <string.h>

#include "formats/tflite/tflite_model.h"

enum { LABEL_BYTES = 256 };

static sp_status list_graph(sp__outline *o, const sp_tflite_model *d, const sp_tflite_graph *g,
                            const char *const *names, const char *scope, int depth);

/* What the k-th graph of a node is for. */
static const char *graph_label(const sp_tflite_node *n, int k)
{
    if (strcmp(n->op, "IF") == 0) return k == 0 ? "then" : "else";
    return strcmp(n->op, "WHILE") == 0 && k == 0 ? "cond" : "body";
}

/* What the tensors of a graph are called: inputs as the node gives them (IF gives its condition to none), others with `scope` in front. */
static sp_status name_tensors(sp__outline *o, const sp_tflite_graph *g, const sp_tflite_node *n,
                              const char *const *outer, const char *scope, const char ***out)
{
    const char **names = sp__arena_alloc(&o->m->arena, (size_t)(g->n_tensors + 1) * sizeof *names);
    if (names == NULL) return SP_NOMEM;
    for (int i = 0; i < g->n_tensors; i++)
        if ((names[i] = n != NULL ? sp__outline_join(o, scope, g->tensors[i].name) : g->tensors[i].name) == NULL)
            return SP_NOMEM;
    int skipped = n != NULL && strcmp(n->op, "IF") == 0;
    for (int i = 0; n != NULL && i < g->n_inputs && i + skipped < n->n_in; i++)
        if (n->in[i + skipped] >= 0) names[g->inputs[i]] = outer[n->in[i + skipped]];
    *out = names;
    return SP_OK;
}

static sp_status list_body(sp__outline *o, const sp_tflite_model *d, const sp_tflite_node *n, int k,
                           const char *const *outer, const char *scope, int depth, const char **results, int *n_results)
{
    const sp_tflite_graph *g = &d->graphs[sp__tflite_graph_of(n, k)];
    char label[LABEL_BYTES];
    const char **names;
    snprintf(label, sizeof label, "%.100s_%d/%s", n->op, o->n_bodies, graph_label(n, k));
    const char *inside = sp__outline_join(o, scope, label);
    if (inside == NULL) return SP_NOMEM;
    SP_TRY(name_tensors(o, g, n, outer, inside, &names));
    SP_TRY(list_graph(o, d, g, names, inside, depth + 1));
    for (int i = 0; i < g->n_outputs; i++) results[(*n_results)++] = names[g->outputs[i]];
    return SP_OK;
}

static sp_status list_node(sp__outline *o, const sp_tflite_model *d, const sp_tflite_node *n, const char *const *names,
                           const char *scope, int depth)
{
    int n_graphs = sp__outline_open(o, depth) ? sp__tflite_graphs_of(n) : 0;
    size_t n_results = 0;
    for (int k = 0; k < n_graphs; k++) n_results += (size_t)d->graphs[sp__tflite_graph_of(n, k)].n_outputs;
    const char **values =
        sp__arena_alloc(&o->m->arena, ((size_t)n->n_in + (size_t)n->n_out + n_results + 1) * sizeof *values);
    const char *own = sp__model_scope(&o->m->arena, n->name);
    if (values == NULL || own == NULL) return SP_NOMEM;
    const char *belongs = scope[0] ? scope : own;
    int n_in = n->n_in;
    for (int k = 0; k < n->n_in; k++) values[k] = n->in[k] >= 0 ? names[n->in[k]] : "";
    if (n_graphs > 0) o->n_bodies++;
    for (int k = 0; k < n_graphs; k++) SP_TRY(list_body(o, d, n, k, names, scope, depth, values, &n_in));
    for (int k = 0; k < n->n_out; k++) values[n_in + k] = n->out[k] >= 0 ? names[n->out[k]] : "";
    return sp__outline_append(o, (sp_model_node){n->name, n->op, belongs, n_in, n->n_out, values, values + n_in});
}

static sp_status list_graph(sp__outline *o, const sp_tflite_model *d, const sp_tflite_graph *g,
                            const char *const *names, const char *scope, int depth)
{
    for (int i = 0; i < g->n_nodes; i++) SP_TRY(list_node(o, d, &g->nodes[i], names, scope, depth));
    return SP_OK;
}

sp_status sp__tflite_outline(sp_model *m, const sp_tflite_model *d)
{
    sp__outline o = {.m = m};
    const char **names;
    SP_TRY(name_tensors(&o, &d->graphs[0], NULL, NULL, "", &names));
    return list_graph(&o, d, &d->graphs[0], names, "", 0);
}
