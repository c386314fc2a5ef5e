/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - from an operator to its kernel: the device's own, best first, and the reference last. */
#include <string.h>

#include "base/parts.h"
#include "base/lock.h"
#include "base/used.h"
#include "device/provided.h"
#include "ir/op_count.h"

/* The engine's own kernels, chained by operator: numbers of entries + 1, 0: no more. Memory of the library's own, so that an operator has the
 * same kernel whenever it is asked for, also when the first question came without memory left. */
static int16_t first_own[SP_OPS_MAX], *next_own;
static const sp_kernel_entry *own_entries;
static sp_once lists_once = SP_ONCE_INIT;

static void lists_start(void)
{
    int n;
    own_entries = sp__cpu_kernels(&n);
    next_own = sp__cpu_kernel_links();
    const unsigned features = sp__cpu_features();
    for (int i = n - 1; i >= 0; i--) { /* backwards: the best comes to the front */
        const sp_op *op = (own_entries[i].cpu & features) == own_entries[i].cpu ? sp_op_find(own_entries[i].op) : NULL;
        if (!op) continue;
        const int id = sp__op_id(op);
        next_own[i] = first_own[id];
        first_own[id] = (int16_t)(i + 1);
    }
}

static bool entry_takes(const sp_kernel_entry *e, const sp_call *c)
{
    if (e->dtypes && !(c->in[0] && e->dtypes >> c->in[0]->dtype & 1u)) return false;
    return !e->takes || e->takes(c);
}

/* The first entry that takes the call, or NULL. own: not those of providers. */
static const sp_kernel_entry *entry_for(const sp_call *c, bool own)
{
    sp__once(&lists_once, lists_start);
    const int id = sp__op_id(c->op);
    if (id < 0) return NULL;
    const sp_kernel_entry *provided = own || !SP_HAVE_PLUGINS ? NULL : sp__provider_entry(id);
    if (provided && entry_takes(provided, c)) return provided;
    int i = first_own[id];
    while (i && !entry_takes(&own_entries[i - 1], c)) i = next_own[i - 1];
    return i ? &own_entries[i - 1] : NULL;
}

bool sp__kernel_offered(const sp_call *c) { return entry_for(c, false) != NULL; }

/* A small build has operators and dtypes that were asked for (base/parts.h); the code of others may be there, in part. */
static sp_status check_built(const sp_call *c)
{
#if defined SP_OPERATORS_LIST
    SP_CHECK(sp__op_id(c->op) >= 0, SP_DECLINED,
             "operator %s is not in this build: SPORE_OPERATORS (cmake) does not name it", c->op->name);
#endif
    for (int i = 0; SP_DTYPES_BUILT != 0xFFFFFFFFu && i < c->n_in + c->n_out; i++) {
        const sp_tensor *t = i < c->n_in ? c->in[i] : c->out[i - c->n_in];
        SP_CHECK(!t || t->dtype >= SP_DTYPE_STR || SP_DTYPES_BUILT >> t->dtype & 1, SP_DECLINED,
                 "%s: dtype %s is not in this build: SPORE_DTYPES (cmake) does not name it", c->op->name,
                 sp_dtype_name((sp_dtype)t->dtype));
    }
    return SP_OK;
}

static void note_used(const sp_call *c)
{
    sp__used_note(SP_USED_OPERATOR, c->op->name);
    for (int i = 0; i < c->n_in + c->n_out; i++) {
        const sp_tensor *t = i < c->n_in ? c->in[i] : c->out[i - c->n_in];
        if (t) sp__used_note_dtype(t->dtype);
    }
}

static sp_status choose(const sp_call *c, bool own, sp_kernel *out)
{
    SP_TRY(check_built(c));
    if (__builtin_expect(sp__used_watched(), 0)) note_used(c);
    const sp_kernel_entry *e = entry_for(c, own);
    if (e) {
        *out = (sp_kernel){.run = e->run,
                           .workspace = e->workspace ? e->workspace : c->op->workspace,
                           .strided = e->strided || c->op->strided,
                           .epilogue = e->epilogue,
                           .prologue = e->prologue,
                           .prepared_bytes = e->prepared_bytes,
                           .prepare = e->prepare,
                           .prepared_form = e->prepared_form,
                           .loop = e->loop,
                           .blocked = e->blocked,
                           .name = e->name ? e->name : e->op};
        return SP_OK;
    }
    SP_CHECK(c->op->reference, SP_RUNTIME, "%s has no kernel", c->op->name);
    const int64_t run = c->op->epilogue ? c->op->epilogue(c) : 0;
    *out = (sp_kernel){.run = c->op->reference,
                       .workspace = c->op->workspace,
                       .strided = c->op->strided,
                       .loop = c->op->loop,
                       .epilogue = run > 0,
                       .epilogue_run = run,
                       .name = "reference"};
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
