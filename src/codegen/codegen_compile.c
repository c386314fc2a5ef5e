/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_compile.c - the function of a model, optimised as programs are, and the table of kernels. */
#include "codegen/codegen.h"
#include "graph/program.h"
#include "ops/ops_impl.h"

#define SP_CODEGEN_KERNEL(name) extern const sp_codegen_kernel sp_codegen_kernel_##name;
#include "codegen/kernels.def"
#undef SP_CODEGEN_KERNEL

#define SP_CODEGEN_KERNEL(name) &sp_codegen_kernel_##name,
static const sp_codegen_kernel *const kernels[] = {
#include "codegen/kernels.def"
};
#undef SP_CODEGEN_KERNEL

const sp_codegen_kernel *sp__codegen_kernel(const sp_op *op)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (kernels[i]->op == op) return kernels[i];
    return NULL;
}

/* Variables that nothing writes are constants here. */
static sp_status freeze(const sp_codegen *g, sp_function *f)
{
    for (sp_node *n = f->first, *next; n != NULL; n = next) {
        next = n->next;
        if (n->kind != SP_NODE_READ || n->variable->written || sp__codegen_is_shared(g->shared, n->variable->tensor))
            continue;
        sp_tensor *same;
        SP_TRY(sp__tensor_alias(n->variable->tensor, &same));
        sp_value *constant = sp__value_constant(f, same);
        sp_tensor_release(same);
        if (constant == NULL) return SP_NOMEM;
        sp__value_replace(f->graph, n->out[0], constant);
        sp__node_remove(n);
    }
    return SP_OK;
}

sp_status sp__codegen_compile(sp_codegen *g, sp_function *f)
{
    /* Normalisation becomes part of convolutions; numbers are not brought together, which would change quantised results. */
    const sp_program_options options = {.struct_size = sizeof options, .fast = true, .off = "reassociate"};
    SP_TRY(freeze(g, f));
    SP_TRY(sp_program_create(f, &options, &g->program));
    g->f = g->program->entry->function;
    SP_CHECK(g->f->tail == NULL, SP_DECLINED, "the model ends in a call of a function that only its run tells");
    return SP_OK;
}

static sp_status run_once(sp_program *p, int n_in, sp_tensor *const *in, float *out)
{
    sp_tensor *result;
    SP_TRY(sp_program_run(p, n_in, in, 1, &result));
    *out = *(const float *)(const void *)result->data;
    sp_tensor_release(result);
    return SP_OK;
}

sp_status sp__codegen_repeat(sp_codegen *g, int n_in, sp_tensor *const *in, int repeats, sp_tensor **out)
{
    sp_tensor *kept[SP_CODEGEN_SHARED] = {NULL};
    sp_status status = sp_tensor_create(SP_DTYPE_F32, 1, (const int64_t[]){repeats}, out);
    const int n = status == SP_OK ? g->shared->n : 0;
    for (int i = 0; i < n && status == SP_OK; i++) status = sp_tensor_copy(g->shared->tensors[i], &kept[i]);
    for (int i = 0; i < repeats && status == SP_OK; i++)
        status = run_once(g->program, n_in, in, (float *)(void *)(*out)->data + i);
    for (int i = 0; i < n; i++) {
        if (kept[i] == NULL) continue;
        const sp_status back = sp_tensor_assign(g->shared->tensors[i], kept[i]);
        if (status == SP_OK) status = back;
        sp_tensor_release(kept[i]);
    }
    return status;
}
