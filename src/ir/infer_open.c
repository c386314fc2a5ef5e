/* SPDX-License-Identifier: Apache-2.0 */
/* infer_open.c - inference where some dimensions are not known yet.
 *
 * The inference of an operator knows numbers only. So every unknown dimension is replaced by a number, the operator is asked,
 * then all are replaced by another number, and it is asked again: a dimension of the result that is the same both times
 * does not depend on the unknown ones. Where an operator refuses the numbers nothing can be told before the program runs. */
#include "ir/graph_impl.h"
#include "spore/grad.h"

/* Numbers that reshape, pooling and broadcasting take, and that differ in everything computed from them. */
static const int64_t guesses[2] = {48, 96};

typedef struct {
    sp_tensor few[SP_IN_MAX];
    sp_tensor *few_in[SP_IN_MAX];
    sp_tensor *handles;
    sp_tensor **in;
    void *block;
} stand_ins;

static sp_status stand_ins_init(stand_ins *s, int n_in)
{
    s->handles = s->few;
    s->in = s->few_in;
    s->block = NULL;
    if (n_in <= SP_IN_MAX) return SP_OK;
    s->block = sp__alloc((size_t)n_in * (sizeof *s->handles + sizeof *s->in));
    if (!s->block) return SP_NOMEM;
    s->handles = s->block;
    s->in = (sp_tensor **)(void *)(s->handles + n_in);
    return SP_OK;
}

/* Handles without memory, unknown dimensions replaced by `guess`. */
static void stand_ins_set(stand_ins *s, int n_in, const sp_meta *const *metas, int64_t guess)
{
    for (int i = 0; i < n_in; i++) {
        s->in[i] = NULL;
        if (!metas[i]) continue;
        sp_tensor *t = s->in[i] = &s->handles[i];
        memset(t, 0, sizeof *t);
        atomic_init(&t->refs, 1);
        t->dtype = (int8_t)metas[i]->dtype;
        t->rank = (int8_t)metas[i]->rank;
        t->flags = SP_TENSOR_CONTIGUOUS;
        t->count = 1;
        for (int k = 0; k < t->rank; k++) {
            t->dims[k] = metas[i]->dims[k] < 0 ? guess : metas[i]->dims[k];
            t->count *= t->dims[k];
        }
        sp__shape_strides(t->rank, t->dims, t->strides);
    }
}

/* A composition is recorded into a graph that is thrown away; what it gives tells the geometry. */
static sp_status infer_composed(const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in, int n_out,
                                sp_meta *metas)
{
    sp_tensor *params[SP_IN_MAX] = {NULL}, *given[SP_IN_MAX], *out[SP_OUT_MAX] = {NULL};
    sp_spec specs[SP_IN_MAX];
    int n_params = 0, n_made = 0;
    if (n_in > SP_IN_MAX || n_out > SP_OUT_MAX) return sp__fail(SP_DECLINED, "%s has too many inputs", op->name);
    for (int i = 0; i < n_in; i++) {
        if (!in[i]) continue;
        sp_spec *s = &specs[n_params++];
        s->dtype = (sp_dtype)in[i]->dtype;
        s->rank = in[i]->rank;
        memcpy(s->dims, in[i]->dims, (size_t)s->rank * sizeof s->dims[0]);
    }
    sp_function *recorder = sp__recorder, *f = NULL;
    const sp_place *place = sp__place;
    const int depth = sp_grad_pause();
    sp_graph *g = NULL;
    sp_status status;
    sp__recorder = NULL;
    sp__place = NULL;
    SP_GOTO(done, sp_graph_create(&g));
    SP_GOTO(done, sp_function_begin(g, op->name, n_params, specs, &f, params));
    for (int i = 0, k = 0; i < n_in; i++) given[i] = in[i] ? params[k++] : NULL;
    status = sp_apply(op, attrs, n_in, given, n_out, out, &n_made);
    if (status == SP_OK && n_made != n_out)
        status = sp__fail(SP_DECLINED, "%s gives another number of results", op->name);
    for (int i = 0; i < n_made; i++) {
        if (status == SP_OK) sp__meta_of(out[i], &metas[i]);
        sp_tensor_release(out[i]);
    }
    for (int i = 0; i < n_params; i++) sp_tensor_release(params[i]);
    sp_function_abandon(f);
done:
    sp_graph_release(g);
    sp__recorder = recorder;
    sp__place = place;
    sp_grad_resume(depth);
    return status;
}

static sp_status infer_with(const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in, int n_out,
                            sp_meta *metas)
{
    const sp_call c = {.op = op, .attrs = attrs, .n_in = n_in, .in = in, .n_out = n_out};
    if (op->infer) return sp__infer(&c, metas);
    if (op->compose) return infer_composed(op, attrs, n_in, in, n_out, metas);
    if (op->writes) { /* the new contents look like the old */
        int k = 0;
        for (int i = 0; i < n_in; i++)
            if (op->writes >> i & 1) sp__meta_of(in[i], &metas[k++]);
        return SP_OK;
    }
    return sp__fail(SP_DECLINED, "%s has no inference", op->name);
}

sp_status sp__infer_count(const sp_op *op, const void *attrs, int n_in, const sp_meta *const *metas, int *n_out)
{
    stand_ins s;
    SP_TRY(stand_ins_init(&s, n_in));
    stand_ins_set(&s, n_in, metas, guesses[0]);
    const sp_call c = {.op = op, .attrs = attrs, .n_in = n_in, .in = s.in};
    *n_out = op->count(&c);
    sp__free(s.block);
    SP_CHECK(*n_out >= 0, SP_VALUE, "%s: the number of results cannot be told", op->name);
    return SP_OK;
}

/* Broadcasting needs no guess: against an unknown dimension, a known one other than 1 is what comes out. */
static sp_status infer_broadcast(const sp_op *op, int n_in, const sp_meta *const *in, sp_meta *out)
{
    *out = (sp_meta){.dtype = op->infer == sp__infer_broadcast_bool ? SP_DTYPE_BOOL : in[0]->dtype};
    for (int i = 0; i < n_in; i++)
        if (in[i] && in[i]->rank > out->rank) out->rank = in[i]->rank;
    for (int k = 0; k < out->rank; k++) {
        int64_t d = 1;
        for (int i = 0; i < n_in; i++) {
            int at = in[i] ? k - (out->rank - in[i]->rank) : -1;
            int64_t mine = at < 0 ? 1 : in[i]->dims[at];
            if (mine == 1 || mine == d || (mine == -1 && d != 1)) continue;
            SP_CHECK(d <= 1, SP_VALUE, "%s: dimensions %lld and %lld do not broadcast", op->name, (long long)d,
                     (long long)mine);
            d = mine;
        }
        out->dims[k] = d;
    }
    return SP_OK;
}

sp_status sp__infer_open(const sp_op *op, const void *attrs, int n_in, const sp_meta *const *in, int n_out,
                         sp_meta *metas)
{
    bool known = true;
    for (int i = 0; i < n_in; i++) known = known && (!in[i] || sp__meta_known(in[i]));
    if (!known && (op->infer == sp__infer_broadcast || op->infer == sp__infer_broadcast_bool))
        return infer_broadcast(op, n_in, in, metas);
    stand_ins s;
    SP_TRY(stand_ins_init(&s, n_in));
    sp_status status = SP_OK;
    sp_meta *other = NULL;
    stand_ins_set(&s, n_in, in, guesses[0]);
    status = infer_with(op, attrs, n_in, s.in, n_out, metas);
    if (known || status == SP_NOMEM) goto done;
    if (status == SP_OK && !(other = sp__alloc((size_t)n_out * sizeof *other))) {
        status = SP_NOMEM;
        goto done;
    }
    if (status == SP_OK) {
        stand_ins_set(&s, n_in, in, guesses[1]);
        status = infer_with(op, attrs, n_in, s.in, n_out, other);
    }
    for (int i = 0; status == SP_OK && i < n_out; i++) {
        if (metas[i].rank != other[i].rank) status = SP_VALUE;
        for (int k = 0; k < metas[i].rank && k < other[i].rank; k++)
            if (metas[i].dims[k] != other[i].dims[k]) metas[i].dims[k] = -1;
    }
    if (status != SP_OK)
        status = sp__fail(
            SP_SYMBOL, "%s: the shape of its result depends on a dimension that is known only when the function runs",
            op->name);
done:
    sp__free(other);
    sp__free(s.block);
    return status;
}
