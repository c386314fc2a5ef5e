/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_names.c - what names in a MindIR file stand for: looked up once, whatever the order of functions and nodes in the file. */
#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "formats/mindir/mindir_parse.h"

enum { FUNCTIONS_MAX = 1 << 13 }; /* a table of pairs of them is made, of bits */

/* --- names ------------------------------------------------------------------------------------------------------- */

static size_t hash_text(const char *s)
{
    uint64_t h = 14695981039346656037u;
    for (; *s; s++) h = (h ^ (uint8_t)*s) * 1099511628211u;
    return (size_t)(h ^ h >> 32);
}

static sp_mindir_name *name_slot(const sp_mindir_model *m, const char *text)
{
    size_t at = hash_text(text) & (size_t)(m->names_capacity - 1);
    while (m->names[at].text && strcmp(m->names[at].text, text)) at = (at + 1) & (size_t)(m->names_capacity - 1);
    return &m->names[at];
}

const sp_mindir_name *sp__mindir_find(const sp_mindir_model *m, const char *text)
{
    const sp_mindir_name *n = m->names_capacity ? name_slot(m, text) : NULL;
    return n && n->text ? n : NULL;
}

static sp_status add_name(sp_mindir_parser *p, const sp_mindir_name *name)
{
    char shown[SP_NAME_SHOWN];
    sp_mindir_name *at = name_slot(p->m, name->text);
    SP_CHECK(!at->text, SP_FORMAT, "the name '%s' is given twice",
             sp__name_shown(name->text, strlen(name->text), shown));
    *at = *name;
    return SP_OK;
}

static sp_status need_name(sp_mindir_parser *p, const sp_mindir_function *f, const char *text,
                           const sp_mindir_name **out)
{
    char shown[SP_NAME_SHOWN], where[SP_NAME_SHOWN];
    *out = sp__mindir_find(p->m, text);
    SP_CHECK(*out, SP_FORMAT, "function '%s' uses '%s', which nothing in the file is called",
             sp__name_shown(f->name, strlen(f->name), where), sp__name_shown(text, strlen(text), shown));
    return SP_OK;
}

/* --- resolving --------------------------------------------------------------------------------------------------- */

static sp_status name_everything(sp_mindir_parser *p)
{
    sp_mindir_model *m = p->m;
    for (m->names_capacity = 64; m->names_capacity < 2 * m->n_names;) m->names_capacity *= 2;
    if (!(m->names = sp__mindir_parse_alloc(p, (size_t)m->names_capacity, sizeof *m->names))) return SP_NOMEM;
    for (int i = 0; i < m->n_primitives; i++) {
        sp_mindir_primitive *prim = &m->primitives[i];
        prim->rule = sp__mindir_rule(p->arena, prim->type);
        SP_TRY(add_name(p, &(sp_mindir_name){.text = prim->name, .where = SP_MINDIR_AT_PRIMITIVE, .primitive = prim}));
    }
    for (int i = 0; i < m->n_functions; i++) {
        sp_mindir_function *f = &m->functions[i];
        SP_TRY(add_name(p, &(sp_mindir_name){.text = f->name, .where = SP_MINDIR_AT_FUNCTION, .fn = f}));
        for (int k = 0; k < f->n_inputs; k++)
            SP_TRY(add_name(
                p, &(sp_mindir_name){.text = f->inputs[k].name, .where = SP_MINDIR_AT_VALUE, .owner = f, .slot = k}));
        for (int k = 0; k < f->n_nodes; k++) {
            sp_mindir_node *n = &f->nodes[k];
            n->slot = f->n_inputs + k;
            f->node_of_slot[n->slot] = n;
            sp_mindir_name name = {.text = n->name, .where = SP_MINDIR_AT_VALUE, .owner = f, .slot = n->slot};
            if (n->constant) {
                name.where = SP_MINDIR_AT_CONSTANT;
                name.constant = n->constant;
            }
            SP_TRY(add_name(p, &name));
        }
    }
    return SP_OK;
}

static sp_status resolve_callee(sp_mindir_parser *p, const sp_mindir_function *f, sp_mindir_node *n)
{
    if (n->constant) return SP_OK;
    if (strncmp(n->type, "REF::", 5)) { /* up to 1.6: the operator itself */
        sp_mindir_primitive *prim = sp__mindir_parse_alloc(p, 1, sizeof *prim);
        if (!prim) return SP_NOMEM;
        *prim = (sp_mindir_primitive){n->type, n->type, n->n_attrs, n->attrs, sp__mindir_rule(p->arena, n->type)};
        n->primitive = prim;
        return SP_OK;
    }
    if (!strncmp(n->type, "REF::MetaFuncGraph::", 20) || !strncmp(n->type, "REF::ClassType::", 16)) {
        sp_mindir_primitive *prim = sp__mindir_parse_alloc(p, 1, sizeof *prim);
        if (!prim) return SP_NOMEM;
        *prim = (sp_mindir_primitive){.name = n->type, .type = n->type + 5};
        n->primitive = prim;
        return SP_OK;
    }
    SP_TRY(need_name(p, f, n->type + 5, &n->callee));
    if (n->callee->where == SP_MINDIR_AT_PRIMITIVE) n->primitive = n->callee->primitive;
    return SP_OK;
}

static void note_need(sp_mindir_model *m, const sp_mindir_function *f, const sp_mindir_name *name)
{
    if (name->where == SP_MINDIR_AT_VALUE && name->owner != f)
        sp__mindir_needs_row(m, f)[name->owner->index / 64] |= (uint64_t)1 << name->owner->index % 64;
}

static sp_status resolve_all(sp_mindir_parser *p)
{
    sp_mindir_model *m = p->m;
    for (int i = 0; i < m->n_functions; i++) {
        sp_mindir_function *f = &m->functions[i];
        for (int k = 0; k < f->n_nodes; k++) {
            sp_mindir_node *n = &f->nodes[k];
            SP_TRY(resolve_callee(p, f, n));
            if (n->callee) note_need(m, f, n->callee);
            for (int j = 0; j < n->n_in; j++) {
                SP_TRY(need_name(p, f, n->in_names[j], &n->in[j]));
                SP_CHECK(n->in[j]->where != SP_MINDIR_AT_PRIMITIVE, SP_FORMAT,
                         "node '%s' takes the primitive '%s' as a value, which is not supported", n->name,
                         n->in_names[j]);
                note_need(m, f, n->in[j]);
            }
        }
        for (int k = 0; k < f->n_outputs; k++) {
            SP_TRY(need_name(p, f, f->output_names[k], &f->outputs[k]));
            SP_CHECK(f->outputs[k]->where != SP_MINDIR_AT_PRIMITIVE, SP_FORMAT, "function '%s' returns a primitive",
                     f->name);
            note_need(m, f, f->outputs[k]);
        }
    }
    return SP_OK;
}

/* --- which functions mention which ------------------------------------------------------------------------------- */

/* Those that function f mentions: to[start[f]] to to[start[f + 1] - 1], in any order, perhaps several times. */
typedef struct {
    int *start, *to;
    int n_to;
} mentions;

/* With `count` mentions are counted, else they are noted. */
static void note_mention(mentions *all, bool count, const sp_mindir_name *name)
{
    if (!name || name->where != SP_MINDIR_AT_FUNCTION) return;
    if (!count) all->to[all->n_to] = name->fn->index;
    all->n_to++;
}

static void walk_mentions(const sp_mindir_model *m, mentions *all, bool count)
{
    all->n_to = 0;
    for (int i = 0; i < m->n_functions; i++) {
        const sp_mindir_function *f = &m->functions[i];
        all->start[i] = all->n_to;
        for (int k = 0; k < f->n_nodes; k++) {
            note_mention(all, count, f->nodes[k].callee);
            for (int j = 0; j < f->nodes[k].n_in; j++) note_mention(all, count, f->nodes[k].in[j]);
        }
        for (int k = 0; k < f->n_outputs; k++) note_mention(all, count, f->outputs[k]);
    }
    all->start[m->n_functions] = all->n_to;
}

/* What g needs is needed by f, who mentions it, but for values of f itself. True: that is new. */
static bool take_needs(sp_mindir_model *m, int f, int g)
{
    uint64_t *to = sp__mindir_needs_row(m, &m->functions[f]), changed = 0;
    const uint64_t *from = sp__mindir_needs_row(m, &m->functions[g]);
    for (size_t w = 0; w < m->needs_words; w++) {
        const uint64_t more = from[w] & ~to[w] & ~(w == (size_t)f / 64 ? (uint64_t)1 << f % 64 : 0);
        to[w] |= more;
        changed |= more;
    }
    return changed != 0;
}

/* The members of a component mention each other, directly or not; what they mention besides is complete. */
static void close_component(sp_mindir_model *m, const mentions *all, int n, const int *members)
{
    bool own = n > 1;
    for (int k = all->start[members[0]]; n == 1 && k < all->start[members[0] + 1]; k++) own |= all->to[k] == members[0];
    for (int i = 0; i < n; i++) m->functions[members[i]].recursive = own;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < n; i++)
            for (int k = all->start[members[i]]; k < all->start[members[i] + 1]; k++)
                changed |= take_needs(m, members[i], all->to[k]);
        changed &= own;
    }
}

/* What is needed by every function, with what those need that it mentions, and which functions reach themselves: Tarjan's strongly
 * connected components, which come in such an order that what a component mentions has come before it. */
static sp_status close_over(sp_mindir_parser *p, const mentions *all)
{
    sp_mindir_model *m = p->m;
    const size_t n = (size_t)m->n_functions;
    int *number = sp__mindir_parse_alloc(p, n, sizeof *number), *low = sp__mindir_parse_alloc(p, n, sizeof *low),
        *at = sp__mindir_parse_alloc(p, n, sizeof *at);
    int *path = sp__mindir_parse_alloc(p, n, sizeof *path), *open = sp__mindir_parse_alloc(p, n, sizeof *open),
        n_path = 0, n_open = 0, n_seen = 0;
    if (!number || !low || !at || !path || !open) return SP_NOMEM;
    for (int root = 0; root < m->n_functions; root++) {
        if (number[root] == 0) path[n_path++] = root;
        while (n_path > 0) {
            const int f = path[n_path - 1];
            if (number[f] == 0) {
                number[f] = low[f] = ++n_seen;
                at[f] = all->start[f];
                open[n_open++] = f;
            }
            int next = -1;
            while (next < 0 && at[f] < all->start[f + 1]) {
                const int g = all->to[at[f]++];
                if (number[g] == 0) next = g;
                else if (number[g] < low[f]) low[f] = number[g]; /* members of finished components have INT_MAX */
            }
            if (next >= 0) {
                path[n_path++] = next;
                continue;
            }
            n_path--;
            if (n_path > 0 && low[f] < low[path[n_path - 1]]) low[path[n_path - 1]] = low[f];
            if (low[f] != number[f]) continue;
            int first = n_open;
            while (open[--first] != f) {}
            close_component(m, all, n_open - first, open + first);
            for (; n_open > first; n_open--) number[open[n_open - 1]] = INT_MAX;
        }
    }
    return SP_OK;
}

/* The function that a node calls without asking anything; NULL: it is no such node. A loop calls what a Switch has chosen. */
static const sp_mindir_function *always_called(const sp_mindir_node *n)
{
    return n->callee && n->callee->where == SP_MINDIR_AT_FUNCTION ? n->callee->fn : NULL;
}

/* Functions that call themselves whatever happens would never end. */
static sp_status check_calls(sp_mindir_parser *p)
{
    enum { NEW, OPEN, DONE };
    const sp_mindir_model *m = p->m;
    const size_t n = (size_t)m->n_functions;
    uint8_t *state = sp__mindir_parse_alloc(p, n, 1);
    int *stack = sp__mindir_parse_alloc(p, n, sizeof *stack),
        *at = sp__mindir_parse_alloc(p, n, sizeof *at); /* at[f]: the node of f to look at next */
    if (!state || !stack || !at) return SP_NOMEM;
    for (int root = 0; root < m->n_functions; root++) {
        int depth = 0;
        if (state[root] == NEW) stack[depth++] = root;
        while (depth > 0) {
            const sp_mindir_function *f = &m->functions[stack[depth - 1]];
            state[f->index] = OPEN;
            const sp_mindir_function *callee = NULL;
            while (!callee && at[f->index] < f->n_nodes) callee = always_called(&f->nodes[at[f->index]++]);
            SP_CHECK(!callee || state[callee->index] != OPEN, SP_FORMAT,
                     "function '%s' calls itself without a condition: it would never end", callee->name);
            if (!callee) state[stack[--depth]] = DONE;
            else if (state[callee->index] == NEW) stack[depth++] = callee->index;
        }
    }
    return SP_OK;
}

static sp_status resolve_names(sp_mindir_parser *p)
{
    sp_mindir_model *m = p->m;
    SP_CHECK(m->n_functions <= FUNCTIONS_MAX, SP_FORMAT, "%d functions, at most %d are possible", m->n_functions,
             FUNCTIONS_MAX);
    m->needs_words = ((size_t)m->n_functions + 63) / 64;
    if (!(m->needs = sp__mindir_parse_alloc(p, (size_t)m->n_functions * m->needs_words, sizeof *m->needs)))
        return SP_NOMEM;
    SP_TRY(name_everything(p));
    SP_TRY(resolve_all(p));
    SP_TRY(check_calls(p));
    mentions all = {.start = sp__mindir_parse_alloc(p, (size_t)m->n_functions + 1, sizeof *all.start)};
    if (!all.start) return SP_NOMEM;
    walk_mentions(m, &all, true);
    if (!(all.to = sp__mindir_parse_alloc(p, (size_t)all.n_to + 1, sizeof *all.to))) return SP_NOMEM;
    walk_mentions(m, &all, false);
    return close_over(p, &all);
}

static bool orders_only(const sp_mindir_node *n)
{
    if (!n->primitive || !n->primitive->rule) return false;
    sp_mindir_control c = sp__mindir_control(n->primitive->rule);
    return c == SP_MINDIR_FIRST || c == SP_MINDIR_STATE || c == SP_MINDIR_MAKE_TUPLE;
}

/* The nodes that use each node, as chains of edges: numbers + 1, 0 ends one. */
typedef struct users {
    int *first, *next, *node;
} users;

static int maker_of(const sp_mindir_function *f, const sp_mindir_name *in)
{
    return in->where == SP_MINDIR_AT_VALUE && in->owner == f && in->slot >= f->n_inputs ? in->slot - f->n_inputs : -1;
}

static sp_status list_users(sp_mindir_parser *p, const sp_mindir_function *f, users *u)
{
    size_t n = 1;
    for (int i = 0; i < f->n_nodes; i++) n += (size_t)f->nodes[i].n_in;
    u->first = sp__mindir_parse_alloc(p, (size_t)f->n_nodes, sizeof *u->first);
    u->next = sp__mindir_parse_alloc(p, n, sizeof *u->next);
    u->node = sp__mindir_parse_alloc(p, n, sizeof *u->node);
    if (!u->first || !u->next || !u->node) return SP_NOMEM;
    int edge = 0;
    for (int i = 0; i < f->n_nodes; i++)
        for (int k = 0; k < f->nodes[i].n_in; k++) {
            const int maker = maker_of(f, f->nodes[i].in[k]);
            if (maker < 0) continue;
            u->node[++edge] = i;
            u->next[edge] = u->first[maker];
            u->first[maker] = edge;
        }
    return SP_OK;
}

/* Mark what comes after node `from`, in whatever order the file has it; false: something there does more than ordering. */
static bool mark_after(const sp_mindir_function *f, const users *u, int from, int *stack, uint8_t *after)
{
    int depth = 0;
    stack[depth++] = from;
    while (depth)
        for (int e = u->first[stack[--depth]]; e; e = u->next[e]) {
            const int i = u->node[e];
            if (after[i]) continue;
            if (!orders_only(&f->nodes[i])) return false;
            after[i] = 1;
            stack[depth++] = i;
        }
    return true;
}

/* A function whose result is that of a call, perhaps through nodes that return their first input, ends with this call: loops are
 * made that way. Nothing that does more than ordering effects may come after it. */
static sp_status find_tail(sp_mindir_parser *p, sp_mindir_function *f)
{
    const sp_mindir_name *at = f->outputs[0];
    const sp_mindir_node *n = NULL;
    if (f->n_outputs != 1) return SP_OK;
    for (int steps = 0; steps <= f->n_nodes; steps++) {
        if (at->where != SP_MINDIR_AT_VALUE || at->owner != f || !(n = f->node_of_slot[at->slot])) return SP_OK;
        if (!n->primitive) break;
        if (!n->primitive->rule || sp__mindir_control(n->primitive->rule) != SP_MINDIR_FIRST || n->n_in < 1)
            return SP_OK;
        at = n->in[0];
    }
    if (!n || n->primitive || n->constant) return SP_OK;
    uint8_t *after = sp__mindir_parse_alloc(p, (size_t)f->n_nodes, 1);
    if (!after) return SP_NOMEM;
    users u;
    int *stack = sp__mindir_parse_alloc(p, (size_t)f->n_nodes + 1, sizeof *stack);
    if (!stack) return SP_NOMEM;
    SP_TRY(list_users(p, f, &u));
    if (!mark_after(f, &u, n->slot - f->n_inputs, stack, after)) return SP_OK;
    f->tail = n;
    f->after_tail = after;
    return SP_OK;
}

/* All that cannot be done, in one message. */
static sp_status check_primitives(const sp_mindir_model *m)
{
    sp__text t = {0};
    int n = 0, shown = 0;
    for (int i = 0; i < m->n_functions; i++)
        for (int k = 0; k < m->functions[i].n_nodes; k++) {
            const sp_mindir_node *node = &m->functions[i].nodes[k];
            if (!node->primitive || node->primitive->rule) continue;
            if (n++ > 100) continue;
            sp__text_put(&t, "%s%s (node '%s')", shown++ ? ", " : "", node->primitive->type, node->name);
        }
    if (!n) return SP_OK;
    sp_status status =
        t.failed ? SP_NOMEM
                 : sp__fail(SP_FORMAT, "uses %d operator%s that spore does not have: %s", n, n == 1 ? "" : "s", t.data);
    sp__free(t.data);
    return status;
}

sp_status sp__mindir_parse_resolve(sp_mindir_parser *p)
{
    SP_TRY(resolve_names(p));
    for (int i = 0; i < p->m->n_functions; i++) SP_TRY(find_tail(p, &p->m->functions[i]));
    SP_TRY(check_primitives(p->m));
    for (int i = 0; i < p->m->n_primitives; i++)
        p->m->writes |= p->m->primitives[i].rule && sp__mindir_writes(p->m->primitives[i].rule);
    return SP_OK;
}
