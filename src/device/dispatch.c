/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - from an operator to its kernel: the device's own, best first, and the reference last. */
#include <pthread.h>

#include "device/device.h"

enum { KERNELS_PER_OP = 4 };
static const sp_kernel_entry *(*kernels)[KERNELS_PER_OP];
static pthread_once_t kernels_once = PTHREAD_ONCE_INIT;

static void kernels_collect(void)
{
    int n;
    const sp_kernel_entry *list = sp__cpu_kernels(&n);
    kernels = sp__alloc_zero((size_t)sp_op_count() * sizeof *kernels);
    for (int i = 0; kernels && i < n; i++) {
        const sp_op *op = sp_op_find(list[i].op);
        if (!op) continue;
        int k = 0, id = sp__op_id(op);
        while (k < KERNELS_PER_OP && kernels[id][k]) k++;
        if (k < KERNELS_PER_OP) kernels[id][k] = &list[i];
    }
}

sp_status sp__kernel_choose(const sp_call *c, sp_kernel *out)
{
    pthread_once(&kernels_once, kernels_collect);
    if (kernels) {
        const sp_kernel_entry **list = kernels[sp__op_id(c->op)];
        for (int k = 0; k < KERNELS_PER_OP && list[k]; k++) {
            if (list[k]->takes && !list[k]->takes(c)) continue;
            *out = (sp_kernel){.run = list[k]->run,
                               .workspace = list[k]->workspace ? list[k]->workspace : c->op->workspace,
                               .strided = list[k]->strided || c->op->strided};
            return SP_OK;
        }
    }
    SP_CHECK(c->op->reference, SP_RUNTIME, "%s has no kernel", c->op->name);
    *out = (sp_kernel){.run = c->op->reference, .workspace = c->op->workspace, .strided = c->op->strided};
    return SP_OK;
}

sp_status sp__dispatch(const sp_call *call)
{
    sp_kernel kernel;
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
    status = kernel.run(&c);
    sp__free(c.work);
    /* An input that is written in place may have been copied: bring the new contents home. */
    for (int i = 0; status == SP_OK && call->op->writes && i < c.n_in; i++)
        if (c.in[i] != call->in[i] && call->op->writes >> i & 1) status = sp_tensor_assign(call->in[i], c.in[i]);
done:
    for (int i = 0; i < n_copied; i++) sp_tensor_release(copied[i]);
    sp__free(block);
    return status;
}
