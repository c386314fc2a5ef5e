/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - from an operator to its kernel: the device's own, best first, and the reference last. */
#include <pthread.h>
#include <string.h>

#include "device/provided.h"

/* Of all operators, one list behind the other, each ended by NULL; first what providers offer, then the engine's own. */
typedef struct kernel_lists {
    const sp_kernel_entry **all;
    int *first, *own;            /* by operator */
    struct kernel_lists *before; /* which these replaced; it stays, somebody may be reading */
} kernel_lists;

static kernel_lists *_Atomic lists; /* replaced as a whole when a provider comes */
static pthread_once_t lists_once = PTHREAD_ONCE_INIT;

static kernel_lists *lists_make(void)
{
    int n, n_ops = sp_op_count(), at = 0;
    const sp_kernel_entry *list = sp__cpu_kernels(&n);
    unsigned features = sp__cpu_features();
    kernel_lists *l = sp__alloc(sizeof *l);
    if (!l) return NULL;
    l->first = sp__alloc((size_t)n_ops * 2 * sizeof *l->first);
    l->all = sp__alloc((size_t)(n + 2 * n_ops) * sizeof *l->all);
    if (!l->first || !l->all) { /* then everything runs on its reference, or as before */
        sp__free(l->first);
        sp__free(l->all);
        sp__free(l);
        return NULL;
    }
    l->own = l->first + n_ops;
    l->before = atomic_load(&lists);
    for (int id = 0; id < n_ops; id++) {
        const sp_op *op = sp_op_at(id);
        const sp_kernel_entry *provided = sp__provider_entry(op);
        l->first[id] = at;
        if (provided) l->all[at++] = provided;
        l->own[id] = at;
        for (int i = 0; i < n; i++)
            if ((list[i].cpu & features) == list[i].cpu && strcmp(list[i].op, sp_op_name(op)) == 0) l->all[at++] = &list[i];
        l->all[at++] = NULL;
    }
    return l;
}

static void lists_start(void) { atomic_store(&lists, lists_make()); }

void sp__kernels_changed(void)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    pthread_once(&lists_once, lists_start);
    pthread_mutex_lock(&one_at_a_time);
    kernel_lists *l = lists_make();
    if (l) atomic_store(&lists, l);
    pthread_mutex_unlock(&one_at_a_time);
}

static bool entry_takes(const sp_kernel_entry *e, const sp_call *c)
{
    if (e->dtypes && !(c->in[0] && e->dtypes >> c->in[0]->dtype & 1u)) return false;
    return !e->takes || e->takes(c);
}

/* The first entry that takes the call, or NULL. */
static const sp_kernel_entry *entry_for(const sp_call *c, bool own)
{
    pthread_once(&lists_once, lists_start);
    const kernel_lists *l = atomic_load_explicit(&lists, memory_order_acquire);
    if (!l) return NULL;
    const sp_kernel_entry **e = l->all + (own ? l->own : l->first)[sp__op_id(c->op)];
    while (*e && !entry_takes(*e, c)) e++;
    return *e;
}

bool sp__kernel_offered(const sp_call *c) { return entry_for(c, false) != NULL; }

static sp_status choose(const sp_call *c, bool own, sp_kernel *out)
{
    const sp_kernel_entry *e = entry_for(c, own);
    if (e) {
        *out = (sp_kernel){.run = e->run,
                           .workspace = e->workspace ? e->workspace : c->op->workspace,
                           .strided = e->strided || c->op->strided,
                           .epilogue = e->epilogue,
                           .prologue = e->prologue,
                           .prepared_bytes = e->prepared_bytes,
                           .prepare = e->prepare,
                           .loop = e->loop,
                           .blocked = e->blocked,
                           .name = e->name ? e->name : e->op};
        return SP_OK;
    }
    SP_CHECK(c->op->reference, SP_RUNTIME, "%s has no kernel", c->op->name);
    const int64_t run = c->op->epilogue ? c->op->epilogue(c) : 0;
    *out = (sp_kernel){.run = c->op->reference, .workspace = c->op->workspace, .strided = c->op->strided,
                       .loop = c->op->loop, .epilogue = run > 0, .epilogue_run = run, .name = "reference"};
    return SP_OK;
}

sp_status sp__kernel_choose(const sp_call *c, sp_kernel *out) { return choose(c, false, out); }

sp_status sp__dispatch_own(const sp_call *call)
{
    sp_kernel kernel = {0};
    SP_TRY(choose(call, true, &kernel));
    sp_call c = *call;
    size_t bytes = kernel.workspace ? kernel.workspace(&c) : 0;
    c.epilogue = NULL; /* whoever called runs it */
    c.prepared = NULL;
    c.work = bytes ? sp__alloc(bytes) : NULL;
    if (bytes && !c.work) return SP_NOMEM;
    sp_status status = kernel.run(&c);
    sp__free(c.work);
    return status;
}

sp_status sp__dispatch(const sp_call *call)
{
    sp_kernel kernel = {0};
    SP_TRY(sp__kernel_choose(call, &kernel));
    sp_call c = *call;
    sp_tensor *few[SP_IN_MAX], *copies[SP_IN_MAX], **in = few, **copied = copies;
    sp_status status = SP_OK;
    void *block = NULL;
    int n_copied = 0;
    if (!kernel.strided) { /* row-major copies of what it cannot take as it is */
        int i = 0;
        while (i < c.n_in && (!c.in[i] || c.in[i]->flags & SP_TENSOR_CONTIGUOUS)) i++;
        if (i < c.n_in) {
            if (c.n_in > SP_IN_MAX) {
                block = sp__alloc((size_t)c.n_in * 2 * sizeof *in);
                if (!block) return SP_NOMEM;
                in = block;
                copied = in + c.n_in;
            }
            for (i = 0; i < c.n_in; i++) {
                in[i] = c.in[i];
                if (!in[i] || in[i]->flags & SP_TENSOR_CONTIGUOUS) continue;
                SP_GOTO(done, sp_tensor_copy(c.in[i], &in[i]));
                copied[n_copied++] = in[i];
            }
            c.in = in;
        }
    }
    size_t bytes = kernel.workspace ? kernel.workspace(&c) : 0;
    c.work = NULL;
    if (bytes && !(c.work = sp__alloc(bytes))) {
        status = SP_NOMEM;
        goto done;
    }
    status = sp__kernel_run(&kernel, &c);
    sp__free(c.work);
    /* An input that is written in place may have been copied: bring the new contents home. */
    for (int i = 0; status == SP_OK && call->op->writes && i < c.n_in; i++)
        if (c.in[i] != call->in[i] && call->op->writes >> i & 1) status = sp_tensor_assign(call->in[i], c.in[i]);
done:
    for (int i = 0; i < n_copied; i++) sp_tensor_release(copied[i]);
    sp__free(block);
    return status;
}
