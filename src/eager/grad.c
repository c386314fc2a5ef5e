/* SPDX-License-Identifier: Apache-2.0 */
/* grad.c - histories of tensors; backward.c walks them.
 *
 * Invariants:
 *  1. An edge leads to a node with a smaller number, so descending numbers are a topological order and there are no
 *     cycles to break.
 *  2. A node keeps inputs and outputs of its operator only as far as op->saves says; of the others it has the geometry.
 *     Kept outputs carry no history (it would be this node): they get it back when the rule runs.
 *  3. What was kept must be what it was: each kept tensor notes its storage's version, and a later in-place write makes
 *     the backward pass fail with a message instead of giving a wrong gradient.
 *  4. A recorded in-place write changes the history of the handle it went through. If that is a view, its base gets a history
 *     too: what it was, with the region written over. Other views of the base are out of date from then on; when one is used,
 *     it becomes a region of its base. Handles that know no base are refused.
 *  5. Releasing a long chain must not recurse: nodes are unlinked with a work list. */
#include <stdlib.h>

#include "base/handle.h"
#include "eager/grad_impl.h"

#include "ir/builder_keep.h"
#include "ir/graph_impl.h"
#include "ops/ops_impl.h"
#include "spore/graph.h"

_Thread_local int sp__grad_depth
    __attribute__((tls_model("initial-exec"))); /* read with every operator, as in apply.c */
static _Thread_local sp_grad_saver current_saver __attribute__((tls_model("initial-exec")));
static atomic_uint_fast64_t next_number = 1;

/* --- nodes ------------------------------------------------------------------------------------------------------- */

static void node_release(sp_grad_node *node)
{
    sp_grad_node *work = NULL;
    if (!node || atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) != 1) return;
    node->next = NULL;
    work = node;
    while (work) {
        sp_grad_node *n = work;
        work = n->next;
        /* Kept inputs hold the same histories as the edges; detach them first so that their release ends there. */
        for (int i = 0; i < n->n_in; i++) {
            sp_grad_node *held[2] = {n->edge[i], NULL};
            if (n->in[i]) {
                if (atomic_load_explicit(&n->in[i]->refs, memory_order_acquire) == 1) {
                    held[1] = n->in[i]->node;
                    n->in[i]->node = NULL;
                }
                sp_tensor_release(n->in[i]);
            }
            for (int k = 0; k < 2; k++)
                if (held[k] && atomic_fetch_sub_explicit(&held[k]->refs, 1, memory_order_acq_rel) == 1) {
                    held[k]->next = work;
                    work = held[k];
                }
        }
        for (int i = 0; i < n->n_out; i++) sp_tensor_release(n->out[i]);
        for (int i = 0; n->packed && i < n->n_in + n->n_out; i++)
            if (n->packed->item[i]) n->packed->saver.release(n->packed->item[i]);
        sp__free(n->packed);
        for (sp_grad_hook_entry *h = n->hooks; h;) {
            sp_grad_hook_entry *gone = h;
            h = h->next;
            if (gone->release) gone->release(gone->context);
            sp__free(gone);
        }
        if (n->custom_release) n->custom_release(n->custom_context);
        sp__free(n->opaque);
        sp__free(n->attrs);
        sp__free(n);
    }
}

static sp_grad_node *node_retain(sp_grad_node *node)
{
    if (node) atomic_fetch_add_explicit(&node->refs, 1, memory_order_relaxed);
    return node;
}

__attribute__((constructor)) static void install_hook(void) { sp__grad_node_release_hook = node_release; }

static size_t align8(size_t n) { return (n + 7) / 8 * 8; }

/* One block: the node and its arrays. */
static sp_grad_node *node_create(int n_in, int n_out)
{
    size_t edges = (size_t)n_in * sizeof(void *), indices = align8((size_t)n_in * sizeof(int));
    size_t outs = (size_t)n_out * sizeof(void *), versions = align8((size_t)(n_in + n_out) * sizeof(unsigned));
    char *block = sp__alloc(align8(sizeof(sp_grad_node)) + 2 * edges + indices + outs + versions);
    if (!block) return NULL;
    sp_grad_node *n = (sp_grad_node *)(void *)block;
    memset(block, 0, align8(sizeof *n) + 2 * edges + indices + outs + versions);
    block += align8(sizeof *n);
    n->edge = (sp_grad_node **)(void *)block;
    n->in = (sp_tensor **)(void *)(block += edges);
    n->out = (sp_tensor **)(void *)(block += edges);
    n->edge_index = (int *)(void *)(block += outs);
    n->version = (unsigned *)(void *)(block += indices);
    atomic_init(&n->refs, 1);
    n->n_in = n_in;
    n->n_out = n_out;
    n->number = atomic_fetch_add_explicit(&next_number, 1, memory_order_relaxed);
    return n;
}

void sp__grad_set_history(sp_tensor *t, sp_grad_node *node, int index)
{
    sp_grad_node *old = t->node;
    t->node = node_retain(node);
    t->node_index = index;
    node_release(old);
}

void sp__grad_share(sp_tensor *to, const sp_tensor *from) { sp__grad_set_history(to, from->node, from->node_index); }

unsigned sp__grad_version_of(const sp_tensor *t)
{
    return t->symbol ? 0 : atomic_load_explicit(&t->storage->version, memory_order_relaxed);
}

/* --- views ------------------------------------------------------------------------------------------------------- */

/* Attributes of region_get and region_put (src/ops/region.c). */
typedef struct {
    sp_ints dims, strides;
    int64_t offset;
} region;

static region region_of(const sp_tensor *view, const sp_tensor *base)
{
    return (region){{view->rank, view->dims},
                    {view->rank, view->strides},
                    (view->data - base->data) / (int64_t)sp_dtype_bytes((sp_dtype)base->dtype)};
}

/* A history without a computation: the memory holds the result already. */
static sp_status describe(const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in, sp_tensor *out)
{
    bool any = false;
    sp_grad_node *n = node_create(n_in, 1);
    if (!n) return SP_NOMEM;
    sp_status status;
    n->op = op;
    SP_GOTO(done, sp__attrs_copy(op, attrs, &n->attrs));
    for (int i = 0; i < n_in; i++) {
        SP_GOTO(done, sp__tensor_meta_only(in[i], &n->in[i]));
        n->edge[i] = node_retain(in[i]->node);
        n->edge_index[i] = in[i]->node_index;
        any |= in[i]->node != NULL;
    }
    SP_GOTO(done, sp__tensor_meta_only(out, &n->out[0]));
    sp__grad_set_history(out, any ? n : NULL, 0);
    out->seen = sp__grad_version_of(out);
done:
    node_release(n);
    return status;
}

static bool out_of_date(const sp_tensor *t)
{
    return t->storage && t->seen < atomic_load_explicit(&t->storage->recorded, memory_order_relaxed);
}

static bool is_leaf(const sp_grad_node *n) { return !n->op && !n->custom && !n->opaque; }
static bool is_watched(const sp_tensor *t) { return t->node && t->node->watchers > 0; }

sp_status sp__grad_refresh(sp_tensor *t)
{
    if (!out_of_date(t) || is_watched(t)) return SP_OK;
    sp_tensor *base = t->base;
    SP_CHECK(
        base && base->storage == t->storage && base->flags & SP_TENSOR_CONTIGUOUS && base->dtype == t->dtype &&
            !out_of_date(base),
        SP_RUNTIME,
        "a tensor was changed in place through another view of its memory while gradients are recorded, so its own "
        "history is out of date; write to the tensor itself or use a copy");
    region r = region_of(t, base);
    return describe(&sp_op_region_get, &r, 1, &base, t);
}

/* `view` was written, and that is recorded: its base is what it was, with this region written over. */
static sp_status tell_base(sp_tensor *view)
{
    sp_tensor *base = view->base;
    if (!base || base->storage != view->storage || !(base->flags & SP_TENSOR_CONTIGUOUS) || base->dtype != view->dtype)
        return SP_OK;
    if (is_watched(base)) {
        base->seen = view->seen;
        return SP_OK;
    }
    region r = region_of(view, base);
    sp_tensor *in[2] = {base, view};
    return describe(&sp_op_region_put, &r, 2, in, base);
}

static bool is_integer(const sp_tensor *t)
{
    char kind = sp_dtype_kind((sp_dtype)t->dtype);
    return kind == 'i' || kind == 'u';
}

/* Gradients exist for all numbers; those of integers are integers, as in MindSpore. */
static bool has_gradient(const sp_tensor *t)
{
    char kind = sp_dtype_kind((sp_dtype)t->dtype);
    return kind == 'f' || kind == 'c' || is_integer(t);
}

sp_grad_saver sp_grad_set_saver(sp_grad_saver saver)
{
    const sp_grad_saver before = current_saver;
    current_saver = saver;
    return before;
}

static sp_status pack_one(sp_tensor **kept, void **item)
{
    if (!*kept || !sp__tensor_has_value(*kept) || (*kept)->symbol) return SP_OK;
    sp_tensor *shown, *meta = NULL;
    SP_TRY(sp__tensor_alias(*kept, &shown));
    sp_status status;
    SP_GOTO(done, sp__tensor_meta_only(*kept, &meta));
    SP_GOTO(done, current_saver.pack(current_saver.context, shown, item));
    sp_tensor_release(*kept);
    *kept = meta;
    meta = NULL;
done:
    sp_tensor_release(shown);
    sp_tensor_release(meta);
    return status;
}
/* Hand what the node keeps to the saver. It may compute: nothing of that is recorded. Long lists of inputs stay as they are. */
static sp_status pack_node(sp_grad_node *n)
{
    if (n->n_in > SP_IN_MAX) return SP_OK;
    const size_t total = (size_t)(n->n_in + n->n_out);
    n->packed = sp__alloc_zero(sizeof *n->packed + total * sizeof(void *));
    if (!n->packed) return SP_NOMEM;
    n->packed->saver = current_saver;
    const int depth = sp_grad_pause();
    sp_status status = SP_OK;
    for (int i = 0; i < n->n_in && status == SP_OK; i++)
        if (n->edge[i] || (n->in[i] && n->in[i]->rank > 0))
            status = pack_one(&n->in[i], &n->packed->item[i]); /* no plain numbers */
    for (int i = 0; i < n->n_out && status == SP_OK; i++) status = pack_one(&n->out[i], &n->packed->item[n->n_in + i]);
    sp_grad_resume(depth);
    return status;
}
sp_status sp__grad_unpack(sp_builder *b, const sp_grad_node *n, int i, sp_tensor *like, sp_tensor **out)
{
    *out = like;
    if (!n->packed || !n->packed->item[i]) return SP_OK;
    sp_tensor *t = NULL, *own = NULL;
    SP_TRY(n->packed->saver.unpack(n->packed->item[i], &t));
    sp_status status = SP_OK;
    char a[SP_SHAPE_TEXT], c[SP_SHAPE_TEXT];
    if (!sp__tensor_same_shape(t, like) || t->dtype != like->dtype)
        status = sp__fail(
            SP_RUNTIME, "an unpack hook gave a tensor of shape %s and dtype %s where shape %s and dtype %s were packed",
            sp__shape_text(t->rank, t->dims, a), sp_dtype_name((sp_dtype)t->dtype),
            sp__shape_text(like->rank, like->dims, c), sp_dtype_name((sp_dtype)like->dtype));
    else status = sp__tensor_alias(t, &own);
    sp_tensor_release(t);
    if (status == SP_OK) status = sp__builder_keep(b, &own);
    if (status == SP_OK) *out = own;
    return status;
}

static sp_status record_call(const sp_call *c, const bool *tracked, bool kept)
{
    const sp_op *op = c->op;
    sp_grad_node *n = node_create(c->n_in, c->n_out);
    if (!n) return SP_NOMEM;
    sp_status status = SP_OK;
    n->op = op;
    SP_GOTO(done, sp__attrs_copy(op, c->attrs, &n->attrs));
    int n_tracked = 0;
    bool integers = false; /* an integer made from floating-point values alone (argmax) does not change with them */
    for (int i = 0; i < c->n_in; i++) {
        n_tracked += tracked[i];
        integers |= tracked[i] && is_integer(c->in[i]);
    }
    for (int i = 0; i < c->n_in; i++) {
        sp_tensor *t = c->in[i];
        if (!t) continue;
        int bit = i < 15 ? i : 14; /* variadic operators keep all or none */
        bool keep = op->saves >> bit & 1;
        if (op->saves & SP_SAVE_CROSS) keep = keep && n_tracked - tracked[i] > 0;
        if (keep) {
            SP_GOTO(done, sp__tensor_alias(t, &n->in[i]));
            n->version[i] = sp__grad_version_of(t);
            if (tracked[i]) sp__grad_set_history(n->in[i], t->node, t->node_index);
        } else {
            SP_GOTO(done, sp__tensor_meta_only(t, &n->in[i]));
        }
        if (tracked[i]) {
            n->edge[i] = node_retain(t->node);
            n->edge_index[i] = t->node_index;
        }
    }
    for (int i = 0; i < c->n_out; i++) {
        bool keep = i < 8 && op->saves >> (16 + i) & 1;
        SP_GOTO(done, keep ? sp__tensor_alias(c->out[i], &n->out[i]) : sp__tensor_meta_only(c->out[i], &n->out[i]));
        if (keep) n->version[c->n_in + i] = sp__grad_version_of(c->out[i]);
    }
    if (current_saver.pack) SP_GOTO(done, pack_node(n));
    for (int i = 0; i < c->n_out; i++) {
        /* A cast passes gradients on whatever the dtype between is, as MindSpore's does: programs round with it and train through that. */
        if (op == &sp_op_cast || (has_gradient(c->out[i]) && (integers || !is_integer(c->out[i]))))
            sp__grad_set_history(c->out[i], n, i);
        if (!op->writes || kept || !c->out[i]->storage) continue;
        /* Other handles on this memory show the new contents but know nothing of its history. */
        sp_tensor *base = c->out[i]->base;
        bool current = base && !out_of_date(base);
        c->out[i]->seen = sp__grad_version_of(c->out[i]);
        atomic_store_explicit(&c->out[i]->storage->recorded, c->out[i]->seen, memory_order_relaxed);
        if (current) SP_GOTO(done, tell_base(c->out[i]));
    }
done:
    node_release(n); /* the outputs hold it now */
    return status;
}

bool sp__grad_keeps(const sp_tensor *t) { return t->flags & SP_TENSOR_PARAMETER || is_watched(t); }

/* The gradient of what was written goes to the k-th written variable as it is, as in MindSpore; by the rule it went to the other inputs. */
static sp_status add_variable(const sp_call *c, int i, sp_tensor *out)
{
    if (out->node) return describe(&sp_op_add, NULL, 2, (sp_tensor *[]){c->in[i], out}, out);
    sp__grad_share(out, c->in[i]);
    return SP_OK;
}

/* Results that are the variables themselves become other handles on their contents. */
static sp_status separate(const sp_call *c)
{
    for (int k = 0; k < c->n_out; k++) {
        sp_tensor *own = NULL;
        if (sp__recorder) SP_TRY(sp__record_read(c->out[k], &own)); /* what was stored just now */
        if (!own) SP_TRY(sp__tensor_alias(c->out[k], &own));
        own->flags &= (uint8_t)~SP_TENSOR_PARAMETER;
        sp_tensor_release(c->out[k]);
        c->out[k] = own;
    }
    return SP_OK;
}

sp_status sp__grad_record_kept(const sp_call *c, const bool *tracked)
{
    bool few[SP_IN_MAX], any = false;
    SP_CHECK(c->n_in <= SP_IN_MAX, SP_VALUE, "%s: %d inputs, at most %d are differentiated", c->op->name, c->n_in,
             SP_IN_MAX);
    for (int i = 0; i < c->n_in; i++) {
        few[i] = tracked[i] && !(c->op->writes >> i & 1) &&
                 c->op != &sp_op_assign; /* what was assigned does not count there */
        any |= few[i];
    }
    SP_TRY(separate(c));
    if (any) SP_TRY(record_call(c, few, true));
    for (int i = 0, k = 0; i < c->n_in; i++) {
        if (!(c->op->writes >> i & 1)) continue;
        if (tracked[i]) SP_TRY(add_variable(c, i, c->out[k]));
        k++;
    }
    return SP_OK;
}

sp_status sp__grad_record(const sp_call *c, const bool *tracked) { return record_call(c, tracked, false); }

/* --- recording and variables ------------------------------------------------------------------------------------- */

void sp_grad_begin(void) { sp__grad_depth++; }
void sp_grad_end(void)
{
    if (sp__grad_depth > 0) sp__grad_depth--;
}
bool sp_grad_recording(void) { return sp__grad_depth > 0; }
int sp_grad_pause(void)
{
    int depth = sp__grad_depth;
    sp__grad_depth = 0;
    return depth;
}
void sp_grad_resume(int depth) { sp__grad_depth = depth; }
bool sp_grad_tracked(const sp_tensor *t) { return t && t->node != NULL; }

const char *sp__grad_name(const sp_tensor *t) { return t->node && t->node->op ? t->node->op->name : NULL; }
int sp__grad_n_parents(const sp_tensor *t) { return t->node ? t->node->n_in : 0; }
sp_status sp__grad_parent(const sp_tensor *t, int i, sp_tensor **out)
{
    *out = NULL;
    sp_grad_node *parent = t->node->edge[i];
    if (!parent) return SP_OK;
    SP_TRY(sp_tensor_create_zeros(SP_DTYPE_F32, 0, NULL, out));
    sp__grad_set_history(*out, parent, t->node->edge_index[i]);
    return SP_OK;
}

/* Geometry of the gradient of t: of the whole where a program is recorded that is split over ranks and t is this rank's slice. */
static sp_status leaf_meta(const sp_tensor *t, sp_tensor **out)
{
    if (!(t->flags & SP_TENSOR_SPLIT) || !sp__whole_meta_hook || !sp_function_recording())
        return sp__tensor_meta_only(t, out);
    sp_meta whole;
    int64_t strides[SP_RANK_MAX], step = 1;
    sp__meta_of(t, &whole);
    sp__whole_meta_hook(t, &whole);
    for (int i = whole.rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= whole.dims[i];
    }
    return sp__tensor_handle((sp_dtype)t->dtype, whole.rank, whole.dims, strides, NULL, NULL, out);
}

sp_status sp_grad_watch(sp_tensor *t)
{
    SP_CHECK(t, SP_VALUE, "the tensor is NULL: an expression that should have made it has failed");
    SP_CHECK(has_gradient(t), SP_TYPE, "gradients are taken with respect to numbers, but this tensor has dtype %s",
             sp_dtype_name((sp_dtype)t->dtype));
    if (t->node) {
        if (is_leaf(t->node)) t->node->watchers++;
        return SP_OK;
    }
    sp_grad_node *leaf = node_create(0, 1);
    if (!leaf) return SP_NOMEM;
    leaf->watchers = 1;
    sp_status status = leaf_meta(t, &leaf->out[0]);
    if (status == SP_OK) sp__grad_set_history(t, leaf, 0);
    node_release(leaf);
    return status;
}

void sp_grad_unwatch(sp_tensor *t)
{
    if (!t) return;
    sp_grad_node *n = t->node;
    if (!n || !is_leaf(n)) return;
    if (--n->watchers > 0) return;
    t->node = NULL;
    node_release(n);
}

sp_status sp_grad_detach(const sp_tensor *t, sp_tensor **out) { return sp__tensor_alias(t, out); }

sp_status sp_grad_hook_add(sp_tensor *t, sp_grad_hook fn, void (*release)(void *), void *context, int64_t *id)
{
    SP_CHECK(t, SP_VALUE, "the tensor is NULL: an expression that should have made it has failed");
    SP_CHECK(t->node, SP_RUNTIME,
             "a hook can only be put on a tensor that takes part in a gradient computation; this one does not");
    static atomic_int_fast64_t next_id = 1;
    sp_grad_hook_entry *h = sp__alloc(sizeof *h);
    if (!h) return SP_NOMEM;
    *h = (sp_grad_hook_entry){
        .id = atomic_fetch_add(&next_id, 1), .index = t->node_index, .fn = fn, .release = release, .context = context};
    sp_grad_hook_entry **end = &t->node->hooks; /* in the order of registration */
    while (*end) end = &(*end)->next;
    *end = h;
    if (id) *id = h->id;
    return SP_OK;
}

void sp_grad_hook_remove(sp_tensor *t, int64_t id)
{
    if (!t) return;
    if (!t->node) return;
    for (sp_grad_hook_entry **at = &t->node->hooks; *at; at = &(*at)->next) {
        if ((*at)->id != id) continue;
        sp_grad_hook_entry *gone = *at;
        *at = gone->next;
        if (gone->release) gone->release(gone->context);
        sp__free(gone);
        return;
    }
}

sp_status sp_grad_variable(sp_tensor *t, sp_tensor **out)
{
    SP_CHECK(t, SP_VALUE, "the tensor is NULL: an expression that should have made it has failed");
    if (sp_grad_recording() && sp_grad_tracked(t)) {
        int n;
        SP_TRY(sp_apply(&sp_op_identity, NULL, 1, &t, 1, out, &n));
        if ((*out)->node) (*out)->node->variable = true;
        return SP_OK;
    }
    sp_tensor *variable = NULL; /* `out` is not touched on failure: callers release what they hold */
    if (sp__recorder) SP_TRY(sp__record_read(t, &variable)); /* a program reads a Parameter anew each time it runs */
    if (!variable) SP_TRY(sp__tensor_alias(t, &variable));
    sp_status status = sp_grad_watch(variable);
    if (status == SP_OK) *out = variable;
    else sp_tensor_release(variable);
    return status;
}

/* A node between tensors that were computed without it: of inputs and outputs it has the geometry. */
static sp_status connect(int n_in, sp_tensor *const *inputs, int n_out, sp_tensor *const *outputs, sp_grad_node **out)
{
    SP_HANDLES(n_out, outputs);
    sp_grad_node *n = node_create(n_in, n_out);
    if (!n) return SP_NOMEM;
    sp_status status = SP_OK;
    for (int i = 0; i < n_in; i++) {
        if (!inputs[i]) continue;
        SP_GOTO(failed, sp__tensor_meta_only(inputs[i], &n->in[i]));
        n->edge[i] = node_retain(inputs[i]->node);
        n->edge_index[i] = inputs[i]->node_index;
    }
    for (int i = 0; i < n_out; i++) SP_GOTO(failed, sp__tensor_meta_only(outputs[i], &n->out[i]));
    *out = n;
    return SP_OK;
failed:
    node_release(n);
    return status;
}

sp_status sp_grad_attach(int n_in, sp_tensor *const *inputs, int n_out, sp_tensor *const *outputs,
                         sp_grad_custom backward, void (*release)(void *context), void *context)
{
    sp_grad_node *n;
    SP_TRY(connect(n_in, inputs, n_out, outputs, &n));
    n->custom = backward;
    n->custom_release = release;
    n->custom_context = context;
    for (int i = 0; i < n_out; i++) sp__grad_set_history(outputs[i], n, i);
    node_release(n);
    return SP_OK;
}

sp_status sp_grad_opaque(const char *what, int n_in, sp_tensor *const *inputs, int n_out, sp_tensor *const *outputs)
{
    bool any = false;
    for (int i = 0; i < n_in; i++) any |= inputs[i] && inputs[i]->node;
    for (int i = 0; i < n_out; i++)
        SP_CHECK(outputs[i], SP_VALUE, "output %d is NULL: the expression that should have made it has failed", i);
    if (!any || !sp_grad_recording()) return SP_OK;
    sp_grad_node *n;
    SP_TRY(connect(n_in, inputs, n_out, outputs, &n));
    const size_t size = strlen(what) + 1;
    n->opaque = sp__alloc(size);
    if (n->opaque) memcpy(n->opaque, what, size);
    for (int i = 0; n->opaque && i < n_out; i++)
        if (has_gradient(outputs[i]) && !is_integer(outputs[i])) sp__grad_set_history(outputs[i], n, i);
    const sp_status status = n->opaque ? SP_OK : SP_NOMEM;
    node_release(n);
    return status;
}
