/* SPDX-License-Identifier: Apache-2.0 */
/* stage_pass.c - the part of a program that the stage of this rank has; stage.h says how. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ops/ops_impl.h"
#include "parallel/stage.h"
#include "spore/ops_attrs.h"

enum { MAX_STAGES = 64, MAX_TAG = 16000 };

typedef enum { NONE, FORWARD, BACKWARD, JOINED } phase;

/* What is known of a value. */
typedef struct label {
    phase phase;
    bool from_data; /* it depends on an argument */
    int v, m;       /* virtual stage; micro batch, -1: not in any */
} label;

typedef struct item {
    sp_node *n;
    label label;
    int key;       /* place in the schedule */
    int first_use; /* the smallest key of its users */
    int64_t order; /* among those of one key */
    uint64_t exec; /* stages that run it */
} item;

typedef struct pass {
    sp_graph *g;
    sp_function *f;
    int stages, stage, row, position; /* ranks of a stage, and which of them this is */
    int virtual_stages, micros;
    int *forward, *backward; /* schedule */
    int n;
    item *items;  /* in the order of the program; later sorted */
    int *item_of; /* by node order: index in items */
    int n_values;
    uint64_t *needed;  /* by value: stages that use it */
    int *uses;         /* by value */
    sp_value **here;   /* by value: what stands for it on this rank */
    uint64_t *readers; /* by variable */
    int n_sent, n_received;
    int64_t bytes;
} pass;

static uint64_t all_stages(const pass *p) { return p->stages == 64 ? UINT64_MAX : (UINT64_C(1) << p->stages) - 1; }
static uint64_t bit(int stage) { return UINT64_C(1) << stage; }
static item *made_by(const pass *p, const sp_value *v)
{
    return v->origin == SP_VALUE_NODE && v->owner == p->f ? &p->items[p->item_of[v->node->order]] : NULL;
}
static int home(const pass *p, const label *l) { return l->phase == NONE ? -1 : l->v % p->stages; }

static int64_t bytes_of(const sp_value *v)
{
    int64_t count;
    if (!sp__meta_known(&v->meta) || sp__shape_count(v->meta.rank, v->meta.dims, &count) != SP_OK) return 0;
    return count * (int64_t)sp_dtype_bytes(v->meta.dtype);
}

/* --- labels ------------------------------------------------------------------------------------------------------ */

static label label_of(const pass *p, const sp_value *v)
{
    const item *made = v ? made_by(p, v) : NULL;
    if (made) return made->label;
    return (label){.phase = NONE, .from_data = v && v->origin == SP_VALUE_PARAM, .m = -1};
}

static sp_status label_stage(const pass *p, const sp_node *n, label *out)
{
    const sp_stage_attrs *a = n->attrs;
    *out = label_of(p, n->in[0]);
    if (a->micro >= 0) out->m = (int)a->micro;
    if (a->stage < 0 || (out->phase == NONE && !out->from_data)) return SP_OK;
    const int v = (int)(a->segment * p->stages + a->stage);
    SP_CHECK(a->stage < p->stages, SP_RUNTIME, "a Cell has pipeline_stage %lld, but there are %d stages",
             (long long)a->stage, p->stages);
    if (out->phase > FORWARD) return SP_OK;
    SP_CHECK(
        out->phase == NONE || v >= out->v, SP_RUNTIME,
        "a Cell of pipeline stage %lld (segment %lld) uses what stage %d (segment %d) has computed: data go from one stage to later ones",
        (long long)a->stage, (long long)a->segment, out->v % p->stages, out->v / p->stages);
    *out = (label){FORWARD, true, v, out->m < 0 ? 0 : out->m};
    return SP_OK;
}

/* Gradients of several stages meet: the node belongs where its largest input is. */
static void label_joined(const pass *p, const sp_node *n, label *out)
{
    int64_t most = -1;
    for (int i = 0; i < n->n_in; i++) {
        const label l = label_of(p, n->in[i]);
        if (l.phase == NONE) continue;
        const int64_t bytes = bytes_of(n->in[i]);
        if (bytes < most || (bytes == most && l.v % p->stages >= out->v % p->stages)) continue;
        most = bytes;
        out->v = l.v;
    }
    out->phase = JOINED;
}

static void label_inputs(const pass *p, const sp_node *n, label *out)
{
    bool several = false, all_forward = true;
    *out = (label){.phase = NONE, .m = -1};
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i]) continue;
        const label l = label_of(p, n->in[i]);
        out->from_data |= l.from_data;
        if (l.m > out->m) out->m = l.m;
        if (l.phase == NONE) continue;
        all_forward &= l.phase == FORWARD;
        several |= out->phase != NONE && l.v % p->stages != out->v % p->stages;
        if (out->phase == NONE || (l.phase == FORWARD && out->phase == FORWARD ? l.v > out->v : l.phase > out->phase))
            out->v = l.v;
        if (l.phase > out->phase) out->phase = l.phase;
    }
    if (several && !all_forward) label_joined(p, n, out);
}

static sp_status label_node(pass *p, item *it)
{
    const sp_node *n = it->n;
    if (n->kind == SP_NODE_OP && n->op == &sp_op_stage) return label_stage(p, n, &it->label);
    if (n->kind == SP_NODE_OP && n->op == &sp_op_stage_back) {
        const label gradient = label_of(p, n->in[0]), x = label_of(p, n->in[1]);
        it->label = (label){BACKWARD, true, x.phase == FORWARD ? x.v : 0, x.m > gradient.m ? x.m : gradient.m};
        if (it->label.m < 0) it->label.m = 0;
        return SP_OK;
    }
    label_inputs(p, n, &it->label);
    return SP_OK;
}

/* --- order ------------------------------------------------------------------------------------------------------- */

static int place_of(const pass *p, const label *l)
{
    const int m = l->m < 0 ? 0 : l->m;
    return (l->phase == FORWARD ? p->forward : p->backward)[l->v * p->micros + m];
}

static int key_of(const pass *p, const sp_value *v)
{
    const item *made = v ? made_by(p, v) : NULL;
    return made ? made->key : 0;
}

/* Sums of gradients: leaves in the order of the schedule. */
static bool is_sum(const pass *p, const sp_value *v, const item *of)
{
    const item *made = made_by(p, v);
    return made && made->n->kind == SP_NODE_OP && made->n->op == &sp_op_add && made->label.phase == of->label.phase &&
           made->label.phase != NONE && made->label.v == of->label.v && p->uses[v->id] == 1 &&
           sp__shape_equal(v->meta.rank, v->meta.dims, of->n->out[0]->meta.rank, of->n->out[0]->meta.dims) &&
           v->meta.dtype == of->n->out[0]->meta.dtype;
}

static bool is_leaf(const sp_value *v, const sp_value *like)
{
    return v && v->meta.dtype == like->meta.dtype &&
           sp__shape_equal(v->meta.rank, v->meta.dims, like->meta.rank, like->meta.dims);
}

/* The chain that ends in `root`: chain[k] adds a leaf to chain[k + 1]'s sum. */
static sp_status sort_sum(pass *p, item *root)
{
    enum { LONGEST = 4096 };
    int n = 0;
    for (item *at = root; at && n < LONGEST; n++) {
        if (!is_leaf(at->n->in[0], root->n->out[0]) || !is_leaf(at->n->in[1], root->n->out[0])) return SP_OK;
        at = is_sum(p, at->n->in[0], root)   ? made_by(p, at->n->in[0])
             : is_sum(p, at->n->in[1], root) ? made_by(p, at->n->in[1])
                                             : NULL;
    }
    if (n < 2 || n == LONGEST) return SP_OK;
    item **chain = sp__alloc((size_t)n * sizeof *chain);
    sp_value **leaves = sp__alloc((size_t)(n + 1) * sizeof *leaves);
    if (!chain || !leaves) {
        sp__free(chain);
        sp__free(leaves);
        return SP_NOMEM;
    }
    item *at = root;
    for (int k = n - 1; k >= 0; k--) {
        const int inner = k == 0 ? -1 : is_sum(p, at->n->in[0], root) ? 0 : 1;
        chain[k] = at;
        leaves[k + 1] = at->n->in[inner == 0 ? 1 : k == 0 ? 1 : 0];
        if (k == 0) leaves[0] = at->n->in[0];
        else at = made_by(p, at->n->in[inner]);
    }
    for (int i = 1; i <= n; i++)
        for (int k = i; k > 0 && key_of(p, leaves[k - 1]) > key_of(p, leaves[k]); k--) {
            sp_value *v = leaves[k];
            leaves[k] = leaves[k - 1];
            leaves[k - 1] = v;
        }
    bool several = false; /* micro batches */
    for (int i = 1; i <= n; i++) several |= label_of(p, leaves[i]).m != label_of(p, leaves[0]).m;
    int64_t order = -1;
    for (int k = 0; several && k < n; k++) {
        sp_value *in[2] = {k == 0 ? leaves[0] : chain[k - 1]->n->out[0], leaves[k + 1]};
        chain[k]->key = 0;
        for (int i = 0; i < 2; i++) {
            const item *made = made_by(p, in[i]);
            chain[k]->n->in[i] = in[i];
            if (!made) continue;
            if (made->key > chain[k]->key) chain[k]->key = made->key;
            if (made->order + 1 > order) order = made->order + 1;
        }
        chain[k]->order = order;
    }
    sp__free(chain);
    sp__free(leaves);
    return SP_OK;
}

static bool is_source(const sp_node *n) { return n->kind == SP_NODE_HOST && !n->n_in; }

/* Keys of what has one by the schedule or by its inputs, then of what waits for its first use. */
static sp_status give_keys(pass *p)
{
    int *stored = sp__alloc_zero((size_t)(p->g->n_variables + 1) * 2 * sizeof *stored),
        *read = stored ? stored + p->g->n_variables + 1 : NULL;
    if (!stored) return SP_NOMEM;
    for (int i = 0; i < p->n; i++) {
        item *it = &p->items[i];
        it->key = it->label.phase == FORWARD || it->label.phase == BACKWARD ? place_of(p, &it->label) : 0;
        for (int k = 0; k < it->n->n_in; k++)
            if (key_of(p, it->n->in[k]) > it->key) it->key = key_of(p, it->n->in[k]);
    }
    /* What no stage has anything to do with waits for its first user. */
    for (int i = p->n - 1; i >= 0; i--) {
        item *it = &p->items[i];
        if (it->label.phase == NONE && !is_source(it->n) && it->n->kind != SP_NODE_STORE)
            it->key = it->first_use == INT_MAX ? 0 : it->first_use;
        for (int k = 0; k < it->n->n_in; k++) {
            item *made = it->n->in[k] ? made_by(p, it->n->in[k]) : NULL;
            if (made && it->key < made->first_use) made->first_use = it->key;
        }
    }
    sp_status status = SP_OK;
    for (int i = 0; i < p->n && status == SP_OK; i++) {
        item *it = &p->items[i];
        const sp_node *n = it->n;
        if (n->kind == SP_NODE_OP && n->op == &sp_op_add && it->label.phase != NONE) status = sort_sum(p, it);
        for (int k = 0; k < n->n_in; k++)
            if (key_of(p, n->in[k]) > it->key) it->key = key_of(p, n->in[k]);
        if (n->kind == SP_NODE_READ) {
            const int id = n->variable->id;
            if (stored[id] > it->key) it->key = stored[id];
            if (it->key > read[id]) read[id] = it->key;
        }
        if (n->kind == SP_NODE_STORE) { /* behind all that still uses what was there */
            const int id = n->variable->id;
            if (stored[id] > it->key) it->key = stored[id];
            if (read[id] > it->key) it->key = read[id];
            stored[id] = it->key;
        }
    }
    sp__free(stored);
    return status;
}

static int by_key(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order ? 1 : x->n->order < y->n->order ? -1 : 1;
}

/* The items in their new order, the list of nodes as well. */
static void sort(pass *p)
{
    sp_node *last = NULL;
    qsort(p->items, (size_t)p->n, sizeof *p->items, by_key);
    for (int i = 0; i < p->n; i++) {
        sp_node *n = p->items[i].n;
        p->item_of[n->order] = i;
        n->prev = last;
        n->next = NULL;
        if (last) last->next = n;
        else p->f->first = n;
        last = n;
    }
    p->f->last = last;
}

/* --- who runs what ----------------------------------------------------------------------------------------------- */

static bool runs_everywhere(const sp_node *n)
{
    if (n->kind == SP_NODE_HOST && !n->host->pure) return true;
    return n->kind == SP_NODE_OP && n->op == &sp_op_rank_broadcast; /* states of random numbers, over all ranks */
}

/* Nodes from the last one to the first; false: something has changed since the last time. */
static bool settle(pass *p)
{
    bool same = true;
    memset(p->needed, 0, (size_t)p->n_values * sizeof *p->needed);
    for (int i = 0; i < p->f->n_results; i++) p->needed[p->f->results[i]->id] = all_stages(p);
    for (int i = p->n - 1; i >= 0; i--) {
        item *it = &p->items[i];
        const sp_node *n = it->n;
        const int at = home(p, &it->label);
        uint64_t exec = 0;
        for (int k = 0; k < n->n_out; k++) exec |= p->needed[n->out[k]->id];
        if (n->kind == SP_NODE_STORE) exec = at < 0 ? all_stages(p) : bit(at) | p->readers[n->variable->id];
        else if (runs_everywhere(n)) exec = all_stages(p);
        else if (at >= 0) exec = exec || (n->kind == SP_NODE_OP && n->op->collective) ? bit(at) : 0;
        if (n->kind == SP_NODE_READ) {
            same &= (p->readers[n->variable->id] | exec) == p->readers[n->variable->id];
            p->readers[n->variable->id] |= exec;
        }
        it->exec = exec;
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k]) p->needed[n->in[k]->id] |= exec;
    }
    return same;
}

/* --- messages ---------------------------------------------------------------------------------------------------- */

static sp_status token(pass *p, sp_value **out)
{
    const int64_t one = 1;
    sp_tensor *t;
    SP_TRY(sp_tensor_create_zeros(SP_DTYPE_U8, 1, &one, &t));
    *out = sp__value_constant(p->f, t);
    sp_tensor_release(t);
    return *out ? SP_OK : SP_NOMEM;
}

static sp_status check_message(const sp_value *v)
{
    SP_CHECK(
        !v->is_function, SP_RUNTIME,
        "a condition or loop of the run goes over several stages of a pipeline, which is not done: compute it with ops.select");
    SP_CHECK(
        sp__meta_known(&v->meta), SP_RUNTIME,
        "a value that goes from one stage of a pipeline to another has a size that the run tells, which is not done");
    return SP_OK;
}

static sp_status receive(pass *p, const sp_value *v, int from, int64_t tag, sp_node *before)
{
    sp_value *nothing;
    sp_node *n;
    SP_TRY(check_message(v));
    SP_TRY(token(p, &nothing));
    const sp_rank_recv_attrs a = {from * p->row + p->position, tag, v->meta.dtype, {v->meta.rank, v->meta.dims}};
    SP_TRY(sp__node_op(p->f, before, &sp_op_rank_recv, &a, 1, &nothing, &n));
    n->out[0]->meta = v->meta;
    p->here[v->id] = n->out[0];
    p->n_received++;
    return SP_OK;
}

static sp_status send(pass *p, sp_value *v, int to, int64_t tag, sp_node *before)
{
    sp_node *n;
    SP_TRY(check_message(v));
    const sp_rank_send_attrs a = {to * p->row + p->position, tag};
    SP_TRY(sp__node_op(p->f, before, &sp_op_rank_send, &a, 1, &v, &n));
    p->n_sent++;
    p->bytes += bytes_of(v);
    return SP_OK;
}

/* A message has a tag of its own: the number of its value's crossing, which all ranks count alike. */
static sp_status cross(pass *p, int64_t *tags)
{
    int64_t tag = 0;
    for (int i = 0; i < p->n; i++) {
        const item *it = &p->items[i];
        const int at = home(p, &it->label);
        for (int k = 0; at >= 0 && k < it->n->n_out; k++) {
            const uint64_t others = p->needed[it->n->out[k]->id] & ~it->exec;
            tags[it->n->out[k]->id] = tag;
            if (others && it->exec) tag += __builtin_popcountll(others);
        }
    }
    return SP_OK;
}

static int64_t tag_of(const pass *p, const sp_value *v, const int64_t *tags, uint64_t exec, int stage)
{
    const uint64_t before = p->needed[v->id] & ~exec & (bit(stage) - 1);
    return (tags[v->id] + __builtin_popcountll(before)) % MAX_TAG;
}

/* What stands for v here; received when it is elsewhere. */
static sp_status local(pass *p, sp_value **v, const int64_t *tags, sp_node *before)
{
    const item *made = *v ? made_by(p, *v) : NULL;
    if (!made || made->exec & bit(p->stage)) return SP_OK;
    if (!p->here[(*v)->id]) {
        const int from = home(p, &made->label);
        SP_CHECK(from >= 0 && made->exec, SP_RUNTIME, "the division into stages has lost a value: this is its fault");
        SP_TRY(receive(p, *v, from, tag_of(p, *v, tags, made->exec, p->stage), before));
    }
    *v = p->here[(*v)->id];
    return SP_OK;
}

static sp_status divide(pass *p)
{
    int64_t *tags = sp__alloc_zero((size_t)p->n_values * sizeof *tags);
    sp_status status = tags ? cross(p, tags) : SP_NOMEM;
    const uint64_t mine = bit(p->stage);
    for (int i = 0; i < p->n && status == SP_OK; i++) {
        const item *it = &p->items[i];
        sp_node *n = it->n, *next = i + 1 < p->n ? p->items[i + 1].n : NULL;
        if (!(it->exec & mine)) continue;
        for (int k = 0; k < n->n_in && status == SP_OK; k++) status = local(p, &n->in[k], tags, n);
        for (int k = 0; k < n->n_out && status == SP_OK && home(p, &it->label) >= 0; k++)
            for (int t = 0; t < p->stages && status == SP_OK; t++)
                if (p->needed[n->out[k]->id] & ~it->exec & bit(t))
                    status = send(p, n->out[k], t, tag_of(p, n->out[k], tags, it->exec, t), next);
    }
    for (int i = 0; i < p->f->n_results && status == SP_OK; i++) status = local(p, &p->f->results[i], tags, NULL);
    for (int i = p->n - 1; i >= 0 && status == SP_OK; i--)
        if (!(p->items[i].exec & mine)) sp__node_remove(p->items[i].n);
    sp__free(tags);
    if (status != SP_OK || !p->n_sent) return status;
    sp_value *nothing;
    sp_node *n;
    SP_TRY(token(p, &nothing));
    return sp__node_op(p->f, NULL, &sp_op_rank_flush, NULL, 1, &nothing, &n);
}

/* Who keeps what: the first stage that stores to a variable, or the first that reads it. The others give its memory back. */
static sp_status settle_homes(const pass *p)
{
    sp_status status = SP_OK;
    for (int i = 0; i < p->g->n_variables && status == SP_OK; i++) {
        const sp_variable *v = p->g->variables[i];
        uint64_t stores = 0, reads = p->readers[v->id];
        for (int k = 0; k < p->n; k++)
            if (p->items[k].n->kind == SP_NODE_STORE && p->items[k].n->variable == v) stores |= p->items[k].exec;
        const uint64_t who = stores ? stores : reads;
        if (who && (stores | reads) != all_stages(p))
            status = sp__split_home(v->tensor, __builtin_ctzll(who), p->stages, (stores | reads) & bit(p->stage));
    }
    return status;
}

/* --- the pass ---------------------------------------------------------------------------------------------------- */

static sp_status survey(pass *p)
{
    int segments = 1;
    p->micros = 1;
    sp__function_number(p->f);
    for (sp_node *n = p->f->first; n; n = n->next) {
        p->item_of[n->order] = p->n;
        p->items[p->n++] = (item){.n = n, .first_use = INT_MAX, .order = 2 * (int64_t)n->order};
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k]) p->uses[n->in[k]->id]++;
        if (n->kind != SP_NODE_OP || n->op != &sp_op_stage) continue;
        const sp_stage_attrs *a = n->attrs;
        if (a->segment >= segments) segments = (int)a->segment + 1;
        if (a->micro >= p->micros) p->micros = (int)a->micro + 1;
    }
    for (int i = 0; i < p->f->n_results; i++) p->uses[p->f->results[i]->id]++;
    p->virtual_stages = segments * p->stages;
    for (const sp_function *f = p->g->first; f; f = f->next)
        for (const sp_node *n = f == p->f ? NULL : f->first; n; n = n->next)
            SP_CHECK(
                n->kind != SP_NODE_READ && n->kind != SP_NODE_STORE, SP_RUNTIME,
                "a condition or loop of the run uses Parameters, which is not done in the stages of a pipeline: compute it with ops.select");
    return SP_OK;
}

static sp_status run(pass *p, sp_schedule how)
{
    SP_TRY(survey(p));
    const size_t n_tasks = (size_t)p->virtual_stages * (size_t)p->micros;
    p->forward = sp__alloc_zero(2 * n_tasks * sizeof *p->forward);
    if (!p->forward) return SP_NOMEM;
    p->backward = p->forward + n_tasks;
    SP_TRY(sp__stage_schedule(how, p->stages, p->virtual_stages, p->micros, p->forward, p->backward));
    for (int i = 0; i < p->n; i++) {
        const sp_status status = label_node(p, &p->items[i]);
        if (status != SP_OK) return status;
    }
    SP_TRY(give_keys(p));
    sort(p);
    while (!settle(p)) continue;
    SP_TRY(settle_homes(p));
    SP_TRY(divide(p));
    for (sp_node *n = p->f->first, *next; n; n = next) { /* marks have done their work */
        next = n->next;
        if (n->kind != SP_NODE_OP || (n->op != &sp_op_stage && n->op != &sp_op_stage_back)) continue;
        sp__value_replace(p->g, n->out[0], n->in[0]);
        sp__node_remove(n);
    }
    return SP_OK;
}

static sp_status tell(const pass *p, const char *scheduler, char **report)
{
    sp__text t = {0};
    sp__text_put(
        &t,
        "%s  pipeline: stage %d of %d%s, %d micro batches, %s; %d messages are received and %d sent in a run (%lld bytes)\n",
        *report ? *report : "", p->stage, p->stages, p->virtual_stages > p->stages ? " in segments" : "", p->micros,
        scheduler, p->n_received, p->n_sent, (long long)p->bytes);
    sp__free(*report);
    *report = NULL;
    return sp__text_take(&t, report);
}

sp_status sp__stage_graph(sp_graph *g, const sp_sharding *how, char **report)
{
    sp_comm *world = sp_comm_world();
    const char *scheduler = how->scheduler ? how->scheduler : "1f1b";
    const bool gpipe = strcmp(scheduler, "gpipe") == 0;
    SP_CHECK(gpipe || strcmp(scheduler, "1f1b") == 0, SP_VALUE,
             "the scheduler of a pipeline must be '1f1b' or 'gpipe', but is '%s'", scheduler);
    SP_CHECK(how->stages <= MAX_STAGES && sp_comm_size(world) % how->stages == 0, SP_RUNTIME,
             "%d pipeline stages (at most %d) for %d ranks: every stage needs equally many", how->stages, MAX_STAGES,
             sp_comm_size(world));
    SP_CHECK(!g->entry->tail, SP_RUNTIME,
             "the program ends in a loop or condition of the run, which pipeline stages cannot divide");
    pass p = {.g = g,
              .f = g->entry,
              .stages = how->stages,
              .row = sp_comm_size(world) / how->stages,
              .n_values = g->next_value};
    p.stage = sp_comm_rank(world) / p.row;
    p.position = sp_comm_rank(world) % p.row;
    const size_t values = (size_t)p.n_values + 1, nodes = (size_t)g->next_node + 1;
    p.items = sp__alloc_zero(nodes * sizeof *p.items);
    p.item_of = sp__alloc_zero(nodes * sizeof *p.item_of);
    p.needed = sp__alloc_zero(values * sizeof *p.needed);
    p.uses = sp__alloc_zero(values * sizeof *p.uses);
    p.here = sp__alloc_zero(values * sizeof *p.here);
    p.readers = sp__alloc_zero((size_t)(g->n_variables + 1) * sizeof *p.readers);
    sp_status status = p.items && p.item_of && p.needed && p.uses && p.here && p.readers ? SP_OK : SP_NOMEM;
    if (status == SP_OK) status = run(&p, gpipe ? SP_SCHEDULE_GPIPE : SP_SCHEDULE_1F1B);
    if (status == SP_OK) status = tell(&p, scheduler, report);
    sp__free(p.items);
    sp__free(p.item_of);
    sp__free(p.needed);
    sp__free(p.uses);
    sp__free(p.here);
    sp__free(p.readers);
    sp__free(p.forward);
    return status;
}
