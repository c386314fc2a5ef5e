/* SPDX-License-Identifier: Apache-2.0 */
/* shard_pass.c - the walk that makes this rank's program; shard.h says how. */
#include <stdarg.h>
#include <stdio.h>

#include "base/plain.h"
#include "base/text.h"
#include "ops/ops_impl.h"
#include "parallel/shard.h"
#include "spore/ops_attrs.h"

/* What a byte that is moved costs, in elements that are computed. */
#define MOVE_COST 4.0

/* A value in one layout. */
typedef struct copy {
    struct copy *next;
    sp_layout layout;
    sp_value *v;
} copy;

/* A value of the recorded program. */
typedef struct known {
    bool pinned;           /* its layout was asked for: what uses it follows */
    bool spread;           /* a Parameter whose slices are gathered for every use */
    sp_layout base;        /* the layout it is gathered to */
    sp_variable *variable; /* read, and not yet split in any way */
    sp_meta whole;
    copy *copies; /* the latest first */
} known;

typedef struct place {
    bool decided, fresh, spread;
    sp_layout layout, base; /* base: without what spreading adds */
} place;

/* Layouts of tensors that a call asked for. */
typedef struct pin {
    struct pin *next;
    const sp_node *node;
    int64_t call, operand;
    sp_layout layout;
} pin;

typedef struct walk {
    sp_graph *g;
    sp_function *f;
    sp_mesh mesh;
    const sp_sharding *how;
    known *values; /* by id, of those that were there before */
    int n_values;
    place *places; /* by variable */
    pin *pins;
    sp_reshard r;
    int n_split;                 /* nodes that work on slices */
    const sp_shard_trial *trial; /* NULL: there was no search */
    sp__text whole;
    /* Of the node at hand: whole tensors, slices, its rule. */
    sp_meta metas_in[SP_SHARD_OPERANDS], metas_out[SP_SHARD_OPERANDS], found[SP_SHARD_OPERANDS];
    const sp_meta *in[SP_SHARD_OPERANDS], *out[SP_SHARD_OPERANDS], *local[SP_SHARD_OPERANDS];
    sp_shard_map map;
} walk;

/* --- values ------------------------------------------------------------------------------------------------------ */

static sp_status add_copy(walk *w, known *k, const sp_layout *l, sp_value *v)
{
    copy *c = sp__arena_alloc(&w->g->arena, sizeof *c);
    if (!c) return SP_NOMEM;
    *c = (copy){k->copies, *l, v};
    k->copies = c;
    return SP_OK;
}

static known *known_of(const walk *w, const sp_value *v) { return v->id < w->n_values ? &w->values[v->id] : NULL; }

static sp_status set_known(walk *w, sp_value *v, const sp_layout *l)
{
    known *k = known_of(w, v);
    k->whole = v->meta;
    sp_meta local;
    sp__layout_local(&w->mesh, l, &k->whole, &local);
    v->meta = local;
    return add_copy(w, k, l, v);
}

/* What stands for a value; constants are met here for the first time. */
static sp_status look(walk *w, sp_value *v, known **out)
{
    known *k = known_of(w, v);
    SP_CHECK(k, SP_RUNTIME, "the sharding met a value of its own: this is its fault");
    if (!k->copies) {
        const sp_layout whole = sp__layout_whole();
        SP_TRY(set_known(w, v, &whole));
    }
    *out = k;
    return SP_OK;
}

/* l: what its first use wants, for a variable whose layout is open. */
static void decide(walk *w, known *k, const sp_layout *l)
{
    place *p = &w->places[k->variable->id];
    if (!p->decided && l) *p = (place){.decided = true, .fresh = true, .layout = *l};
    k->variable = NULL;
    k->copies->layout = p->layout;
    sp__layout_local(&w->mesh, &p->layout, &k->whole, &k->copies->v->meta);
}

/* The cheapest copy to make one in layout l from. */
static copy *source_for(const walk *w, const known *k, const sp_layout *l, double *cost)
{
    copy *best = NULL;
    *cost = 0;
    if (k->variable) return k->copies;
    for (copy *c = k->copies; c; c = c->next) {
        const double one = sp__reshard_cost(&w->mesh, &k->whole, c->layout, l);
        if (best && one >= *cost) continue;
        best = c;
        *cost = one;
    }
    return best;
}

/* What makes a value smaller is done as soon as it is there: sums of gradients are scattered while the backward pass goes on, and the whole
 * ones are gone. Everything else waits for its use. */
static sp_node *place_for(const walk *w, const known *k, const copy *from, const sp_layout *to, sp_node *before)
{
    sp_meta now, then;
    int64_t n_now, n_then;
    sp_layout l = from->layout;
    for (int i = 0; i < w->mesh.n; i++)
        if (l.at[i] == SP_AT_PARTIAL) l.at[i] = SP_AT_WHOLE;
    sp__layout_local(&w->mesh, &l, &k->whole, &now);
    sp__layout_local(&w->mesh, to, &k->whole, &then);
    const sp_node *made = from->v->origin == SP_VALUE_NODE ? from->v->node : NULL;
    if (!made || made->owner != w->f || made->kind != SP_NODE_OP || !made->next ||
        sp__shape_count(now.rank, now.dims, &n_now) != SP_OK || sp__shape_count(then.rank, then.dims, &n_then) != SP_OK)
        return before;
    return n_then < n_now ? made->next : before;
}

/* The value in layout l, made before `before`, or earlier. */
static sp_status use(walk *w, sp_value *v, const sp_layout *l, sp_node *before, sp_value **out)
{
    known *k = NULL;
    double cost;
    SP_TRY(look(w, v, &k));
    if (k->variable) decide(w, k, l);
    const copy *c = source_for(w, k, l, &cost);
    *out = c->v;
    if (sp__layout_equal(&c->layout, l)) return SP_OK;
    w->r.f = w->f;
    w->r.before = place_for(w, k, c, l, before);
    SP_TRY(sp__reshard(&w->mesh, &w->r, &k->whole, c->layout, l, out));
    return add_copy(w, k, l, *out);
}

static sp_status use_whole(walk *w, sp_node *n)
{
    const sp_layout whole = sp__layout_whole();
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && !n->in[i]->is_function) SP_TRY(use(w, n->in[i], &whole, n, &n->in[i]));
    for (int i = 0; i < n->n_out; i++)
        if (!n->out[i]->is_function) SP_TRY(set_known(w, n->out[i], &whole));
    return SP_OK;
}

/* --- tensors that are spread ------------------------------------------------------------------------------------- */

/* The first axis is split along mesh axes that the layout leaves over, the least significant ones first, into `parts` (-1: as many as there
 * are). What cannot be divided stays as it is. */
static sp_layout spread_layout(const walk *w, sp_layout l, const sp_meta *whole, int parts)
{
    const sp_layout before = l;
    int64_t more = 1;
    if (whole->rank == 0 || whole->dims[0] <= 0) return l;
    for (int k = w->mesh.n - 1; k >= 0 && (parts < 0 || more < parts); k--) {
        if (l.at[k] != SP_AT_WHOLE) continue;
        l.at[k] = 0;
        more *= w->mesh.size[k];
        if (whole->dims[0] % sp__layout_parts(&w->mesh, &l, 0, NULL)) {
            l.at[k] = SP_AT_WHOLE;
            more /= w->mesh.size[k];
        }
    }
    return parts > 0 && more != parts ? before : l;
}

static place *place_of(walk *w, const sp_tensor *t)
{
    for (int i = 0; i < w->g->n_variables; i++)
        if (w->g->variables[i]->tensor == t) return &w->places[w->g->variables[i]->id];
    return NULL;
}

/* A state of an optimizer that is used for the first time: its Parameter has been. */
static void place_state(walk *w, known *k)
{
    const sp_tensor *owner;
    int parts;
    place *p = &w->places[k->variable->id];
    if (p->decided || !sp__spread_find(k->variable->tensor, &owner, &parts) || owner == k->variable->tensor) return;
    const place *of = place_of(w, owner);
    const sp_layout l = of && of->decided ? of->spread ? of->base : of->layout : sp__layout_whole();
    const sp_layout spread = spread_layout(w, l, &k->whole, parts);
    *p = (place){.decided = true, .fresh = true, .layout = spread};
}

/* --- what an operator does --------------------------------------------------------------------------------------- */

/* Mesh axes given to letters, -1: none. */
typedef struct choice {
    int8_t letter[SP_MESH_MAX];
    double cost;
} choice;

static bool fits(const walk *w, const sp_shard_map *map, const choice *c, int letter, int k)
{
    int64_t parts = w->mesh.size[k];
    for (int i = 0; i < w->mesh.n; i++)
        if (c->letter[i] == letter) parts *= w->mesh.size[i];
    return map->size[letter] % parts == 0;
}

/* Give to letters what input i is split by, where nothing was given yet. */
static void follow(const walk *w, const sp_shard_map *map, int i, const sp_layout *l, choice *c)
{
    for (int k = 0; k < w->mesh.n; k++) {
        const int letter = l->at[k] >= 0 ? map->in[i][l->at[k]] : -1;
        if (letter < 0 || map->whole[letter] || c->letter[k] >= 0 || !fits(w, map, c, letter, k)) continue;
        c->letter[k] = (int8_t)letter;
    }
}

/* What the choice makes of an operand. Mesh axes of letters that a result lacks leave it partial. */
static sp_layout layout_of(const walk *w, const sp_shard_map *map, const choice *c, const int8_t *axes, int rank,
                           bool result)
{
    sp_layout l = sp__layout_whole();
    for (int k = 0; k < w->mesh.n; k++) {
        if (c->letter[k] < 0) continue;
        bool found = false;
        for (int a = 0; a < rank && !found; a++)
            if (axes[a] == c->letter[k]) {
                l.at[k] = (int8_t)a;
                found = true;
            }
        if (found || !result) continue;
        l.at[k] = SP_AT_PARTIAL;
        l.reduce = map->reduce[c->letter[k]];
    }
    return l;
}

/* One kind of reduction may be pending at a time. */
static bool mixed(const walk *w, const sp_shard_map *map, const choice *c, const int8_t *axes, int rank)
{
    int kind = -1;
    for (int k = 0; k < w->mesh.n; k++) {
        bool there = c->letter[k] < 0;
        for (int a = 0; a < rank; a++) there |= axes[a] == c->letter[k];
        if (there) continue;
        if (kind >= 0 && kind != map->reduce[c->letter[k]]) return true;
        kind = map->reduce[c->letter[k]];
    }
    return false;
}

static void price(const walk *w, const sp_node *n, const sp_shard_map *map, const sp_meta *const *out, choice *c)
{
    double moved = 0, work = 1, one;
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i]) continue;
        const known *k = known_of(w, n->in[i]);
        const sp_layout l = layout_of(w, map, c, map->in[i], k->whole.rank, false);
        source_for(w, k, &l, &one);
        moved += one;
    }
    for (int i = 0; i < n->n_out; i++) {
        const sp_layout l = layout_of(w, map, c, map->out[i], out[i]->rank, true);
        sp_layout reduced = l;
        for (int k = 0; k < w->mesh.n; k++)
            if (l.at[k] == SP_AT_PARTIAL) reduced.at[k] = SP_AT_WHOLE;
        if (mixed(w, map, c, map->out[i], out[i]->rank)) moved += 1e30;
        moved += sp__reshard_cost(&w->mesh, out[i], l, &reduced);
    }
    for (int i = 0; i < map->n_letters; i++) work *= map->size[i] > 0 ? (double)map->size[i] : 1;
    for (int k = 0; k < w->mesh.n; k++)
        if (c->letter[k] >= 0) work /= w->mesh.size[k];
    c->cost = moved * MOVE_COST + work;
}

/* The letters that inputs are split by: first those whose layouts were asked for, then input `first`, then the others. */
static void follow_all(const walk *w, const sp_node *n, const sp_shard_map *map, int first, bool others, choice *c)
{
    memset(c->letter, -1, sizeof c->letter);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < n->n_in; i++) {
            const known *k = n->in[i] ? known_of(w, n->in[i]) : NULL;
            if (!k || k->variable) continue;
            if (round == 0 ? k->pinned : round == 1 ? i == first : others) follow(w, map, i, &k->copies->layout, c);
        }
}

static void choose(const walk *w, const sp_node *n, const sp_shard_map *map, const sp_meta *const *out, choice *best)
{
    bool pinned = false;
    for (int i = 0; i < n->n_in; i++) pinned |= n->in[i] && known_of(w, n->in[i])->pinned;
    follow_all(w, n, map, -1, pinned, best); /* without a pin: nothing is split */
    if (pinned) return;
    price(w, n, map, out, best);
    for (int first = 0; first < n->n_in; first++) {
        if (!n->in[first] || known_of(w, n->in[first])->variable) continue;
        for (int others = 0; others < 2; others++) {
            choice c;
            follow_all(w, n, map, first, others, &c);
            price(w, n, map, out, &c);
            if (c.cost < best->cost) *best = c;
        }
    }
}

static void note_whole(walk *w, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, " %s ", name);
    if (w->whole.used && strstr(w->whole.data, text)) return;
    sp__text_put(&w->whole, "%s%s ", w->whole.used ? "" : " ", name);
}

/* Inference must agree with the rule: a wrong rule is found when the program is made, not by its results. */
static sp_status check_local(walk *w, const sp_node *n)
{
    char a[SP_SHAPE_TEXT], b[SP_SHAPE_TEXT];
    for (int i = 0; i < n->n_in; i++) w->local[i] = n->in[i] ? &n->in[i]->meta : NULL;
    SP_TRY(sp__infer_open(n->op, n->attrs, n->n_in, w->local, n->n_out, w->found));
    for (int i = 0; i < n->n_out; i++) {
        const sp_meta *m = &n->out[i]->meta, *found = &w->found[i];
        SP_CHECK(sp__shape_equal(m->rank, m->dims, found->rank, found->dims), SP_RUNTIME,
                 "%s: result %d of its slices has shape %s, but its sharding rule says %s: the rule is wrong",
                 n->op->name, i, sp__shape_text(found->rank, found->dims, a), sp__shape_text(m->rank, m->dims, b));
    }
    return SP_OK;
}

static sp_status split_op(walk *w, sp_node *n)
{
    const sp_meta *const *in = w->in, *const *out = w->out;
    const sp_shard_map *map = &w->map;
    choice c;
    choose(w, n, map, out, &c);
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i]) continue;
        const sp_layout l = layout_of(w, map, &c, map->in[i], in[i]->rank, false);
        SP_TRY(use(w, n->in[i], &l, n, &n->in[i]));
    }
    bool split = false;
    for (int i = 0; i < n->n_out; i++) {
        const sp_layout l = layout_of(w, map, &c, map->out[i], out[i]->rank, true);
        SP_TRY(set_known(w, n->out[i], &l));
        split |= !sp__layout_is_whole(&l);
    }
    w->n_split += split;
    if (!split) return SP_OK;
    SP_TRY(sp__shard_attrs(n, in, &n->in[0]->meta, &n->out[0]->meta));
    return check_local(w, n);
}

static sp_status walk_whole_op(walk *w, sp_node *n)
{
    bool split = false;
    if (n->n_in > SP_SHARD_OPERANDS || n->n_out > SP_SHARD_OPERANDS) {
        note_whole(w, n->op->name);
        return use_whole(w, n);
    }
    for (int i = 0; i < n->n_in; i++) {
        known *k = NULL;
        w->in[i] = NULL;
        if (!n->in[i]) continue;
        SP_TRY(look(w, n->in[i], &k));
        if (k->variable) place_state(w, k);
        if (k->variable && w->places[k->variable->id].decided) decide(w, k, NULL);
        w->metas_in[i] = k->whole;
        w->in[i] = &w->metas_in[i];
        split |= !k->variable && !sp__layout_is_whole(&k->copies->layout);
    }
    for (int i = 0; i < n->n_out; i++) {
        w->metas_out[i] = n->out[i]->meta;
        w->out[i] = &w->metas_out[i];
    }
    const sp_status status = sp__shard_map(n, w->in, w->out, &w->map);
    if (status == SP_OK) return split_op(w, n);
    if (status != SP_DECLINED) return status;
    if (split) note_whole(w, n->op->name);
    return use_whole(w, n);
}

/* Parameters that are spread: the node gets them gathered, and what it got is for it alone. */
static sp_status walk_op(walk *w, sp_node *n)
{
    copy *before[SP_SHARD_OPERANDS];
    known *of[SP_SHARD_OPERANDS];
    int count = 0;
    sp_status status = SP_OK;
    for (int i = 0; i < n->n_in && !n->op->writes && status == SP_OK && count < SP_SHARD_OPERANDS; i++) {
        known *k = n->in[i] ? known_of(w, n->in[i]) : NULL;
        bool met = !k || !k->spread;
        for (int j = 0; j < count && !met; j++) met = of[j] == k;
        if (met) continue;
        sp_value *v;
        of[count] = k;
        before[count++] = k->copies;
        status = use(w, n->in[i], &k->base, n, &v);
        if (status == SP_OK) k->copies->next = NULL; /* the latest: it alone is to be seen */
    }
    if (status == SP_OK) status = walk_whole_op(w, n);
    while (count-- > 0) of[count]->copies = before[count];
    return status;
}

/* --- layouts that are asked for ---------------------------------------------------------------------------------- */

static bool is_shard(const sp_node *n) { return n->kind == SP_NODE_OP && n->op == &sp_op_shard; }

/* The node that uses v, behind casts; *slot: which input of it. */
static const sp_node *user_of(const walk *w, const sp_value *v, int *slot)
{
    for (const sp_node *n = w->f->first; n; n = n->next)
        for (int i = 0; i < n->n_in; i++) {
            if (n->in[i] != v || n->kind != SP_NODE_OP || is_shard(n)) continue;
            if (n->op == &sp_op_cast) return user_of(w, n->out[0], slot);
            *slot = i;
            return n;
        }
    return NULL;
}

static sp_status illegal(const sp_node *n, const char *why, ...) __attribute__((format(printf, 2, 3)));
static sp_status illegal(const sp_node *n, const char *why, ...)
{
    const sp_shard_attrs *a = n->attrs;
    char splits[SP_SHAPE_TEXT], shape[SP_SHAPE_TEXT], text[200];
    va_list args;
    va_start(args, why);
    sp__vsnprintf(text, sizeof text, why, args);
    va_end(args);
    return sp__fail(SP_RUNTIME, "For '%s', the strategy %s of input %lld, a Tensor of shape %s, is illegal: %s",
                    a->of && a->of[0] ? a->of : "shard", sp__shape_text(a->splits.n, a->splits.v, splits),
                    (long long)a->operand, sp__shape_text(n->in[0]->meta.rank, n->in[0]->meta.dims, shape), text);
}

static sp_status check_splits(const walk *w, const sp_node *n)
{
    const sp_shard_attrs *a = n->attrs;
    const sp_meta *m = &n->in[0]->meta;
    if (a->splits.n != m->rank)
        return illegal(n, "it has %d numbers, wanted one for each of %d axes", a->splits.n, m->rank);
    for (int i = 0; i < m->rank; i++) {
        if (a->splits.v[i] < 1)
            return illegal(n, "its numbers must be at least 1, but one is %lld", (long long)a->splits.v[i]);
        if (m->dims[i] < 0) return illegal(n, "the size of axis %d is known when the program runs only", i);
        if (m->dims[i] % a->splits.v[i])
            return illegal(n, "%lld slices do not divide an axis of %lld", (long long)a->splits.v[i],
                           (long long)m->dims[i]);
        if (w->mesh.ranks % a->splits.v[i])
            return illegal(n, "%lld slices do not divide %d ranks", (long long)a->splits.v[i], w->mesh.ranks);
    }
    return SP_OK;
}

enum { CALL_OPERANDS = 64 };

/* Tensors of one call. */
typedef struct call {
    int n;
    const sp_node *node[CALL_OPERANDS];
    int slot[CALL_OPERANDS];
    const sp_node *user; /* NULL: no node has them all as inputs */
} call;

static void find_user(const walk *w, call *c)
{
    for (int i = 0; i < c->n; i++) {
        const sp_node *user = user_of(w, c->node[i]->out[0], &c->slot[i]);
        if (i == 0) c->user = user;
        else if (user != c->user) c->user = NULL;
    }
}

/* Without a rule: axes at the same place, counted from the right, that are equally long and split alike, go together. */
static void letters_by_size(call *c, sp_shard_map *map)
{
    map->n_letters = 0;
    memset(map->in, -1, sizeof map->in);
    for (int i = 0; i < c->n; i++) {
        const sp_meta *m = &c->node[i]->in[0]->meta;
        const sp_ints s = ((const sp_shard_attrs *)c->node[i]->attrs)->splits;
        c->slot[i] = i;
        for (int k = 0; k < m->rank && k < s.n && map->n_letters < SP_SHARD_LETTERS; k++) {
            for (int j = 0; j < i && map->in[i][k] < 0; j++) {
                const sp_meta *other = &c->node[j]->in[0]->meta;
                const sp_ints t = ((const sp_shard_attrs *)c->node[j]->attrs)->splits;
                const int at = k + other->rank - m->rank;
                if (at >= 0 && at < t.n && other->dims[at] == m->dims[k] && t.v[at] == s.v[k])
                    map->in[i][k] = map->in[j][at];
            }
            if (map->in[i][k] >= 0) continue;
            map->whole[map->n_letters] = false;
            map->in[i][k] = (int8_t)map->n_letters++;
        }
    }
}

/* The letters of the operator that uses the tensors. */
static void letters_of(const walk *w, call *c, sp_shard_map *map)
{
    const sp_meta *in[SP_SHARD_OPERANDS], *out[SP_SHARD_OPERANDS];
    find_user(w, c);
    const sp_node *n = c->user;
    if (n && n->n_in <= SP_SHARD_OPERANDS && n->n_out <= SP_SHARD_OPERANDS) {
        for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] ? &n->in[i]->meta : NULL;
        for (int i = 0; i < n->n_out; i++) out[i] = &n->out[i]->meta;
        if (sp__shard_map(n, in, out, map) == SP_OK) return;
    }
    c->user = NULL;
    letters_by_size(c, map);
}

static sp_status add_pin(walk *w, const sp_node *n, const sp_layout *l)
{
    const sp_shard_attrs *a = n->attrs;
    pin *p = sp__arena_alloc(&w->g->arena, sizeof *p);
    if (!p) return SP_NOMEM;
    *p = (pin){w->pins, n, a->call, a->operand, *l};
    w->pins = p;
    return SP_OK;
}

/* Numbers of slices to a grid of ranks, a dimension for each letter; the tensors' layouts follow. Numbers that a rule does not
 * share (two tensors that are each split along axes of their own) have to fit side by side. */
static sp_status place_call(walk *w, call *c)
{
    sp_shard_map map;
    int64_t grid[SP_SHARD_LETTERS];
    int dim_of[SP_SHARD_LETTERS], owner[SP_MESH_MAX], n = 0;
    letters_of(w, c, &map);
    for (int i = 0; i < SP_SHARD_LETTERS; i++) dim_of[i] = -1;
    for (int i = 0; i < c->n; i++) {
        const sp_shard_attrs *a = c->node[i]->attrs;
        SP_TRY(check_splits(w, c->node[i]));
        for (int k = 0; k < a->splits.n; k++) {
            const int letter = map.in[c->slot[i]][k];
            if (letter < 0 || (map.whole[letter] && c->user)) {
                if (a->splits.v[k] != 1)
                    return illegal(c->node[i], "axis %d cannot be split by this operator, but is to be split in %lld",
                                   k, (long long)a->splits.v[k]);
                continue;
            }
            if (dim_of[letter] < 0) {
                dim_of[letter] = n;
                grid[n++] = a->splits.v[k];
            } else if (grid[dim_of[letter]] != a->splits.v[k]) {
                return illegal(c->node[i], "an axis is split in %lld, but the one that it goes with in %lld",
                               (long long)a->splits.v[k], (long long)grid[dim_of[letter]]);
            }
        }
    }
    if (!sp__mesh_place(&w->mesh, n, grid, owner)) {
        long long product = 1;
        for (int i = 0; i < n; i++) product *= grid[i];
        return illegal(c->node[0], "the call is split in %lld, but there are %d ranks", product, w->mesh.ranks);
    }
    for (int i = 0; i < c->n; i++) {
        sp_layout l = sp__layout_whole();
        for (int k = 0; k < c->node[i]->in[0]->meta.rank; k++) {
            const int letter = map.in[c->slot[i]][k];
            for (int j = 0; j < w->mesh.n && letter >= 0 && dim_of[letter] >= 0; j++)
                if (owner[j] == dim_of[letter]) l.at[j] = (int8_t)k;
        }
        SP_TRY(add_pin(w, c->node[i], &l));
    }
    return SP_OK;
}

/* The layout of a tensor over a grid of ranks that the caller has laid out; `of` is for messages. */
static sp_status layout_of_grid(const walk *w, const char *of, const sp_meta *m, int n, const int64_t *sizes,
                                const int64_t *axes, sp_layout *l)
{
    int owner[SP_MESH_MAX];
    int64_t product = 1;
    *l = sp__layout_whole();
    for (int i = 0; i < n; i++) product *= sizes[i];
    SP_CHECK(product == w->mesh.ranks && sp__mesh_place(&w->mesh, n, sizes, owner), SP_RUNTIME,
             "For '%s', the device matrix of the layout has %lld devices, but there are %d ranks", of,
             (long long)product, w->mesh.ranks);
    for (int k = 0; k < w->mesh.n; k++) {
        const int64_t axis = owner[k] >= 0 ? axes[owner[k]] : -1;
        SP_CHECK(axis < m->rank, SP_RUNTIME, "For '%s', the layout splits axis %lld, but the Tensor has rank %d", of,
                 (long long)axis, m->rank);
        l->at[k] = (int8_t)(axis < 0 ? SP_AT_WHOLE : axis);
    }
    for (int i = 0; i < m->rank; i++) {
        const int64_t parts = sp__layout_parts(&w->mesh, l, i, NULL);
        SP_CHECK(m->dims[i] >= 0 && m->dims[i] % parts == 0, SP_RUNTIME,
                 "For '%s', the layout is illegal: %lld slices do not divide axis %d of size %lld", of,
                 (long long)parts, i, (long long)m->dims[i]);
    }
    return SP_OK;
}

static sp_status place_grid(walk *w, const sp_node *n)
{
    const sp_shard_attrs *a = n->attrs;
    int64_t axes[SP_MESH_MAX];
    sp_layout l;
    const int dims = a->matrix.n;
    for (int i = 0; i < dims && i < SP_MESH_MAX; i++) axes[i] = i < a->axes.n ? a->axes.v[i] : -1;
    SP_CHECK(dims <= SP_MESH_MAX, SP_RUNTIME, "For '%s', the layout has %d dimensions, at most %d are possible",
             a->of ? a->of : "shard", dims, SP_MESH_MAX);
    SP_TRY(layout_of_grid(w, a->of ? a->of : "shard", &n->in[0]->meta, dims, a->matrix.v, axes, &l));
    return add_pin(w, n, &l);
}

static const pin *pin_of(const walk *w, const sp_node *n)
{
    const sp_shard_attrs *a = n->attrs;
    for (const pin *p = w->pins; p; p = p->next)
        if (p->node == n || (a->gradient && p->call == a->call && p->operand == a->operand)) return p;
    return NULL;
}

static sp_status place_pins(walk *w)
{
    for (const sp_node *n = w->f->first; n; n = n->next) {
        if (!is_shard(n) || pin_of(w, n)) continue;
        const sp_shard_attrs *a = n->attrs;
        if (a->matrix.n > 0) {
            SP_TRY(place_grid(w, n));
            continue;
        }
        if (a->gradient) continue;
        call c = {.n = 0};
        for (const sp_node *o = n; o && c.n < CALL_OPERANDS; o = o->next) {
            const sp_shard_attrs *b = is_shard(o) ? o->attrs : NULL;
            if (b && b->call == a->call && b->matrix.n <= 0 && !b->gradient) c.node[c.n++] = o;
        }
        sp_status status = place_call(w, &c);
        if (status != SP_OK) return status;
    }
    return SP_OK;
}

/* Layouts that sp_tensor_set_grid was told. */
static sp_status place_by_grid(walk *w)
{
    int n;
    int64_t sizes[SP_GRID_MAX], axes[SP_GRID_MAX];
    for (int i = 0; i < w->g->n_variables; i++) {
        const sp_variable *v = w->g->variables[i];
        sp_meta whole;
        sp_layout l;
        if (w->places[v->id].decided || !sp__grid_find(v->tensor, &n, sizes, axes)) continue;
        sp__meta_of(v->tensor, &whole);
        SP_TRY(layout_of_grid(w, "a Parameter", &whole, n, sizes, axes, &l));
        w->places[v->id] = (place){.decided = true, .fresh = true, .layout = l};
    }
    return SP_OK;
}

/* Layouts that the search has found, for those that nobody has asked for. */
static void place_by_trial(walk *w)
{
    for (int i = 0; w->trial && i < w->trial->n; i++) {
        place *p = place_of(w, w->trial->tensors[i]);
        if (p && !p->decided) *p = (place){.decided = true, .fresh = true, .layout = w->trial->layouts[i]};
    }
}

/* Rows of data that are given whole, in slices. */
static sp_status split_data(walk *w)
{
    int64_t rows = -1;
    for (int i = 0; w->trial && w->trial->data && i < w->f->n_params; i++) {
        sp_value *v = w->f->params[i], *made;
        const known *k = v->is_function ? NULL : known_of(w, v);
        if (!k || k->whole.rank == 0 || !sp__layout_is_whole(&k->copies->layout)) continue;
        if (rows < 0) rows = k->whole.dims[0];
        if (k->whole.dims[0] != rows) continue;
        sp_layout l = sp__layout_whole();
        for (int a = 0; a < w->mesh.n && a < SP_MESH_MAX; a++)
            if (w->trial->data >> a & 1) l.at[a] = 0;
        if (rows % sp__layout_parts(&w->mesh, &l, 0, NULL)) continue;
        SP_TRY(use(w, v, &l, w->f->first, &made));
    }
    return SP_OK;
}

/* A Parameter whose layout is asked for has it from the start. */
static void place_variables(walk *w)
{
    for (const sp_node *n = w->f->first; n; n = n->next) {
        if (!is_shard(n) || n->in[0]->origin != SP_VALUE_NODE || n->in[0]->node->kind != SP_NODE_READ) continue;
        const pin *p = pin_of(w, n);
        place *at = &w->places[n->in[0]->node->variable->id];
        if (p && !at->decided) *at = (place){.decided = true, .fresh = true, .layout = p->layout};
    }
    for (int i = 0; i < w->g->n_variables; i++) {
        const sp_variable *v = w->g->variables[i];
        const sp_tensor *owner;
        int parts;
        sp_meta whole;
        if (!sp__spread_find(v->tensor, &owner, &parts) || owner != v->tensor) continue;
        place *at = &w->places[v->id];
        sp__meta_of(v->tensor, &whole);
        if (at->decided &&
            !at->fresh) { /* by an earlier program: what it was gathered to is what spreading has left whole */
            sp_mesh_split split;
            if (!sp__split_find(v->tensor, &split)) continue;
            at->base = split.base;
        } else {
            at->base = at->decided ? at->layout : sp__layout_whole();
            at->layout = spread_layout(w, at->base, &whole, parts);
            at->decided = at->fresh = true;
        }
        at->spread = !sp__layout_equal(&at->base, &at->layout);
    }
}

static sp_status walk_shard(walk *w, sp_node *n)
{
    const pin *p = pin_of(w, n);
    known *from = NULL, *to = known_of(w, n->out[0]);
    sp_value *v;
    SP_TRY(look(w, n->in[0], &from));
    if (!p) { /* the gradient of a tensor that this program does not have */
        SP_TRY(use_whole(w, n));
        return SP_OK;
    }
    to->whole = from->whole;
    to->pinned = true;
    if (from->spread && sp__layout_equal(&from->base, &p->layout)) { /* gathered by what uses it */
        to->spread = true;
        to->base = from->base;
        n->out[0]->meta = from->copies->v->meta;
        n->in[0] = from->copies->v;
        return add_copy(w, to, &from->copies->layout, from->copies->v);
    }
    SP_TRY(use(w, n->in[0], &p->layout, n, &v));
    n->in[0] = v; /* the node goes when nothing uses it */
    n->out[0]->meta = v->meta;
    return add_copy(w, to, &p->layout, v);
}

/* --- nodes that are no operators --------------------------------------------------------------------------------- */

static sp_status walk_read(walk *w, sp_node *n)
{
    const place *p = &w->places[n->variable->id];
    const sp_layout whole = sp__layout_whole();
    if (p->decided) {
        known *k = known_of(w, n->out[0]);
        k->spread = p->spread;
        k->base = p->base;
        return set_known(w, n->out[0], &p->layout);
    }
    SP_TRY(set_known(w, n->out[0], &whole));
    known_of(w, n->out[0])->variable = n->variable;
    return SP_OK;
}

static sp_status walk_store(walk *w, sp_node *n)
{
    place *p = &w->places[n->variable->id];
    if (!p->decided) *p = (place){.decided = true, .fresh = true, .layout = sp__layout_whole()};
    return use(w, n->in[0], &p->layout, n, &n->in[0]);
}

/* Host code is asked once by every rank; states of random numbers have to be the same. */
static sp_status walk_host(walk *w, sp_node *n)
{
    SP_TRY(use_whole(w, n));
    if (n->n_in || n->n_out != 1 || strcmp(n->host->name, "random_state") != 0) return SP_OK;
    sp_value *v = n->out[0];
    known *k = known_of(w, v);
    w->r.f = w->f;
    w->r.before = n->next;
    SP_TRY(sp__reshard_apply(&w->r, &sp_op_rank_broadcast, &v, "root=0"));
    k->copies->v = v;
    return SP_OK;
}

static sp_status walk_node(walk *w, sp_node *n)
{
    switch (n->kind) {
    case SP_NODE_OP: return is_shard(n) ? walk_shard(w, n) : walk_op(w, n);
    case SP_NODE_READ: return walk_read(w, n);
    case SP_NODE_STORE: return walk_store(w, n);
    case SP_NODE_HOST: return walk_host(w, n);
    case SP_NODE_GRAD:
        for (int i = 0; i < n->grad->n_variables; i++) {
            place *p = &w->places[n->grad->variables[i]->id];
            SP_CHECK(!p->decided || sp__layout_is_whole(&p->layout), SP_RUNTIME,
                     "a split Parameter is differentiated through a condition or loop of the run, which is not done: "
                     "leave its strategy out");
            if (!p->decided) *p = (place){.decided = true, .fresh = true, .layout = sp__layout_whole()};
        }
        break;
    default: break;
    }
    if (n->kind == SP_NODE_CALL) note_whole(w, "call");
    return use_whole(w, n);
}

/* Functions that are called work on whole tensors; variables that are split are gathered where they read them. */
static sp_status walk_called(walk *w, sp_function *f)
{
    const sp_layout whole = sp__layout_whole();
    for (sp_node *n = f->first, *next; n; n = next) {
        next = n->next;
        if (n->kind != SP_NODE_READ && n->kind != SP_NODE_STORE) continue;
        place *p = &w->places[n->variable->id];
        if (!p->decided) *p = (place){.decided = true, .fresh = true, .layout = whole};
        if (sp__layout_is_whole(&p->layout)) continue;
        const bool read = n->kind == SP_NODE_READ;
        sp_value *v = read ? n->out[0] : n->in[0];
        const sp_meta meta = v->meta;
        w->r.f = f;
        w->r.before = read ? n->next : n;
        if (!read) {
            SP_TRY(sp__reshard(&w->mesh, &w->r, &meta, whole, &p->layout, &n->in[0]));
            continue;
        }
        sp__layout_local(&w->mesh, &p->layout, &meta, &v->meta);
        const sp_node *after = next;
        SP_TRY(sp__reshard(&w->mesh, &w->r, &meta, p->layout, &whole, &v));
        for (sp_node *m = (sp_node *)(uintptr_t)after; m; m = m->next)
            for (int i = 0; i < m->n_in; i++)
                if (m->in[i] == n->out[0]) m->in[i] = v;
        for (int i = 0; i < f->n_results; i++)
            if (f->results[i] == n->out[0]) f->results[i] = v;
        for (int i = 0; f->tail && i < f->tail->n_in; i++)
            if (f->tail->in[i] == n->out[0]) f->tail->in[i] = v;
    }
    return SP_OK;
}

/* --- arguments, variables, results ------------------------------------------------------------------------------- */

static sp_status walk_params(walk *w)
{
    struct {
        int axis;
        int64_t parts;
    } dims[SP_SHARD_LETTERS];
    int64_t grid[SP_SHARD_LETTERS];
    int n = 0, owner[SP_MESH_MAX];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < w->f->n_params; i++) {
            sp_value *v = w->f->params[i];
            const sp_ints s = i < w->how->n_args ? w->how->args[i] : (sp_ints){0};
            sp_layout l = sp__layout_whole();
            for (int k = 0; k < s.n; k++) {
                SP_CHECK(s.n == v->meta.rank && s.v[k] > 0 && v->meta.dims[k] >= 0 && v->meta.dims[k] % s.v[k] == 0,
                         SP_RUNTIME, "the strategy of argument %d does not fit it: axis %d is to be split in %lld", i,
                         k, (long long)s.v[k]);
                int d = 0;
                while (d < n && (dims[d].axis != k || dims[d].parts != s.v[k])) d++;
                if (d == n && n < SP_SHARD_LETTERS && s.v[k] > 1) {
                    dims[n].axis = k;
                    dims[n].parts = s.v[k];
                    grid[n++] = s.v[k];
                }
                for (int j = 0; round && j < w->mesh.n && s.v[k] > 1; j++)
                    if (owner[j] == d) l.at[j] = (int8_t)k;
            }
            if (round && !v->is_function) SP_TRY(set_known(w, v, &l));
        }
        SP_CHECK(round || sp__mesh_place(&w->mesh, n, grid, owner), SP_RUNTIME,
                 "the strategies of the arguments do not fit %d ranks", w->mesh.ranks);
    }
    return SP_OK;
}

static sp_status walk_variables(walk *w)
{
    sp_mesh_split split;
    for (int i = 0; i < w->g->n_variables; i++) {
        if (!sp__split_find(w->g->variables[i]->tensor, &split)) continue;
        SP_CHECK(split.mesh.ranks == w->mesh.ranks, SP_RUNTIME,
                 "a Parameter is split over %d ranks, but there are %d now", split.mesh.ranks, w->mesh.ranks);
        w->places[w->g->variables[i]->id] = (place){.decided = true, .layout = split.layout};
    }
    return SP_OK;
}

/* Rows of the data as a whole: of the first argument whose rows are split over all ranks; -1: of none. */
static int64_t rows_of_data(const walk *w)
{
    for (int i = 0; i < w->f->n_params && i < w->how->n_args; i++) {
        const sp_ints s = w->how->args[i];
        if (s.n > 0 && s.v[0] == w->mesh.ranks) return known_of(w, w->f->params[i])->whole.dims[0];
    }
    return -1;
}

static sp_status walk_results(walk *w)
{
    const int64_t rows = w->how->split_results ? rows_of_data(w) : -1;
    for (int i = 0; i < w->f->n_results; i++) {
        sp_value *v = w->f->results[i];
        known *k = NULL;
        if (v->is_function) continue;
        SP_TRY(look(w, v, &k));
        sp_layout l = sp__layout_whole();
        if (k->whole.rank > 0 && k->whole.dims[0] == rows)
            for (int j = 0; j < w->mesh.n; j++) l.at[j] = 0;
        SP_TRY(use(w, v, &l, NULL, &w->f->results[i]));
    }
    return SP_OK;
}

/* What the walk decided about variables becomes so. */
static sp_status commit(walk *w)
{
    for (int i = 0; i < w->g->n_variables; i++) {
        const sp_variable *v = w->g->variables[i];
        place *p = &w->places[v->id];
        if (!p->decided) *p = (place){.decided = true, .fresh = true, .layout = sp__layout_whole()};
        if (p->fresh) SP_TRY(sp__split_make(v->tensor, &w->mesh, &p->layout, p->spread ? &p->base : &p->layout));
    }
    return SP_OK;
}

static sp_status tell(walk *w, char **report)
{
    int n = 0;
    for (int i = 0; i < w->g->n_variables; i++) n += !sp__layout_is_whole(&w->places[w->g->variables[i]->id].layout);
    sp__text t = {0};
    sp__text_put(&t,
                 "  sharding: rank %d of %d; %d nodes work on slices, %d of %d variables are split, %d exchanges were "
                 "inserted (%lld bytes a run)\n",
                 w->mesh.rank, w->mesh.ranks, w->n_split, n, w->g->n_variables, w->r.n_collectives,
                 (long long)w->r.bytes);
    if (w->whole.used)
        sp__text_put(&t, "  computed whole by every rank, without a rule for slices:%s\n", w->whole.data);
    return sp__text_take(&t, report);
}

static sp_status run(walk *w)
{
    w->f = w->g->entry;
    SP_TRY(place_pins(w));
    SP_TRY(walk_variables(w));
    SP_TRY(place_by_grid(w));
    place_by_trial(w);
    place_variables(w);
    SP_TRY(walk_params(w));
    sp_node *first = w->f->first; /* what is put before it is done */
    SP_TRY(split_data(w));
    for (sp_node *n = first, *next; n; n = next) {
        next = n->next;
        const sp_status status = walk_node(w, n);
        if (status != SP_OK) return status;
    }
    SP_TRY(walk_results(w));
    if (w->f->tail) SP_TRY(use_whole(w, w->f->tail));
    for (sp_node *n = w->f->first, *next; n; n = next) {
        next = n->next;
        if (is_shard(n)) sp__node_remove(n);
    }
    for (sp_function *f = w->g->first; f; f = f->next)
        if (f != w->g->entry) SP_TRY(walk_called(w, f));
    return SP_OK;
}

static sp_status walk_graph(sp_graph *g, const sp_sharding *how, const sp_shard_trial *trial, bool keep, char **report)
{
    sp_comm *world = sp_comm_world();
    SP_CHECK(world, SP_RUNTIME, "a program is to be split over ranks, but the job has not been joined (sp_job_join)");
    walk *w = sp__alloc_zero(sizeof *w);
    if (!w) return SP_NOMEM;
    w->g = g;
    w->trial = trial;
    w->how = how;
    w->n_values = g->next_value;
    w->values = sp__alloc_zero((size_t)(w->n_values + 1) * sizeof *w->values);
    w->places = sp__alloc_zero((size_t)(g->n_variables + 1) * sizeof *w->places);
    sp_status status = w->values && w->places ? SP_OK : SP_NOMEM;
    const int stages = how->stages > 1 ? how->stages : 1, row = sp_comm_size(world) / stages;
    if (status == SP_OK && sp_comm_size(world) % stages)
        status = sp__fail(SP_RUNTIME, "%d pipeline stages for %d ranks: every stage needs equally many", stages,
                          sp_comm_size(world));
    if (status == SP_OK) status = sp__mesh_init(row, sp_comm_rank(world) % row, &w->mesh);
    w->mesh.first = sp_comm_rank(world) / (row ? row : 1) * row;
    if (status == SP_OK) status = run(w);
    if (status == SP_OK && keep) status = commit(w);
    if (status == SP_OK && keep) status = tell(w, report);
    sp__free(w->whole.data);
    sp__free(w->values);
    sp__free(w->places);
    sp__free(w);
    return status;
}

sp_status sp__shard_try(sp_graph *g, const sp_sharding *how, const sp_shard_trial *trial)
{
    return walk_graph(g, how, trial, false, NULL);
}

sp_status sp__shard_graph(sp_graph *g, const sp_sharding *how, const sp_shard_trial *found, char **report)
{
    return walk_graph(g, how, found, true, report);
}
