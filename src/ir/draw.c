/* SPDX-License-Identifier: Apache-2.0 */
/* draw.c - graphs as pictures, in the language of Graphviz. One box a function, one node a node; effects are bold, functions
 * are joined to where they are mentioned by dashed lines. */
#include "base/handle.h"
#include "ir/graph_impl.h"

static void put_label(sp__text *t, const char *text)
{
    for (; *text; text++) sp__text_put(t, *text == '"' || *text == '\\' ? "\\%c" : *text == '\n' ? "\\n" : "%c", *text);
}

static void put_shape(sp__text *t, const sp_value *v)
{
    char shape[SP_SHAPE_TEXT];
    if (v->is_function) sp__text_put(t, "function");
    else sp__text_put(t, "%s %s", sp_dtype_name(v->meta.dtype), sp__shape_text(v->meta.rank, v->meta.dims, shape));
}

static const char *title(const sp_node *n)
{
    switch (n->kind) {
    case SP_NODE_OP: return n->op->name;
    case SP_NODE_READ: return "read";
    case SP_NODE_STORE: return "store";
    case SP_NODE_CALL: return "call";
    case SP_NODE_PARTIAL: return "partial";
    case SP_NODE_SWITCH: return "switch";
    case SP_NODE_HOST: return n->host->name;
    case SP_NODE_GRAD: return "grad";
    }
    return "?";
}

/* An edge from what makes v to node number `to` of f (-1: the end of the function). */
static void put_edge(sp__text *t, const sp_function *f, const sp_value *v, int to)
{
    if (!v || v->origin == SP_VALUE_CONSTANT) return;
    if (v->origin == SP_VALUE_FUNCTION) sp__text_put(t, "  f%d", v->target->id);
    else if (v->origin == SP_VALUE_PARAM) sp__text_put(t, "  p%d", v->id);
    else sp__text_put(t, "  n%d", v->node->id);
    if (to < 0) sp__text_put(t, " -> r%d", f->id);
    else sp__text_put(t, " -> n%d", to);
    sp__text_put(t, v->origin == SP_VALUE_FUNCTION ? " [style=dashed];\n" : ";\n");
}

static void put_function(sp__text *t, const sp_function *f)
{
    sp__text_put(t, "  subgraph cluster%d {\n    label=\"%s\"; f%d [shape=point];\n", f->id, f->name, f->id);
    for (int i = 0; i < f->n_params; i++) {
        sp__text_put(t, "    p%d [shape=oval, label=\"", f->params[i]->id);
        put_shape(t, f->params[i]);
        sp__text_put(t, "\"];\n");
    }
    for (const sp_node *n = f->first; n; n = n->next) {
        sp__text_put(t, "    n%d [label=\"", n->id);
        put_label(t, title(n));
        if (n->variable) sp__text_put(t, " @%d", n->variable->id);
        for (int i = 0; i < n->n_out && i < 4; i++) {
            sp__text_put(t, "\\n");
            put_shape(t, n->out[i]);
        }
        bool effect = n->kind == SP_NODE_STORE || n->kind == SP_NODE_HOST;
        sp__text_put(t, effect ? "\", style=bold];\n" : "\"];\n");
    }
    if (!f->tail) sp__text_put(t, "    r%d [shape=oval, label=\"return\"];\n", f->id);
    sp__text_put(t, "  }\n");
}

sp_status sp_graph_dot(const sp_graph *g, char **out)
{
    SP_HANDLE(g);
    sp__text t = {0};
    sp__text_put(&t, "digraph spore {\n  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n");
    for (const sp_function *f = g->first; f; f = f->next)
        if (f->finished) put_function(&t, f);
    for (const sp_function *f = g->first; f; f = f->next) {
        if (!f->finished) continue;
        for (const sp_node *n = f->first; n; n = n->next)
            for (int i = 0; i < n->n_in; i++) put_edge(&t, f, n->in[i], n->id);
        for (int i = 0; i < f->n_results; i++) put_edge(&t, f, f->results[i], -1);
    }
    sp__text_put(&t, "}\n");
    return sp__text_take(&t, out);
}
