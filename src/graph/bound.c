/* SPDX-License-Identifier: Apache-2.0 */
/* bound.c - programs of one segment in memory of the caller's. */
#include "graph/bound.h"

#include "base/scratch.h"
#include "graph/plan_instance.h"

/* Where a result of the program comes from. */
typedef struct {
    enum { FROM_ARGUMENT, FROM_CONSTANT, FROM_ROOT, FROM_HANDLE } kind;
    int number;      /* argument; border of the root that is the result; handle */
    sp_tensor shape; /* row-major: data is the caller's */
} bound_result;

struct sp_bound {
    sp_program *program;
    sp_plan *plan;
    sp_instance *x;
    sp__arena memory; /* everything below, on the heap */
    int n_args, n_results;
    sp_tensor **constants; /* by input of the segment: a constant, or NULL: an argument */
    int *args;             /* by input of the segment */
    bound_result *results;
    bool *given; /* by result root: it is one of the results */
};

static size_t up(size_t bytes) { return (bytes + SP_BOUND_ALIGN - 1) / SP_BOUND_ALIGN * SP_BOUND_ALIGN; }

static sp_status one_segment(const sp_program *p, sp_segment **out)
{
    const sp_code *code = p->entry;
    SP_CHECK(
        code->n_instrs == 1 && code->instrs[0].segment && !code->ends_in_call, SP_DECLINED,
        "the program is no straight stretch of operators but has %d parts, with branches, loops or calls between them; run it without memory "
        "of your own",
        code->n_instrs);
    *out = code->instrs[0].segment;
    SP_CHECK(!(*out)->declined, SP_DECLINED, "shapes in the program depend on the contents of its arguments");
    return SP_OK;
}

/* --- making ------------------------------------------------------------------------------------------------------ */

static sp_status bind_inputs(sp_bound *b, sp_tensor *const *args, sp_tensor **in)
{
    const sp_code *code = b->program->entry;
    const sp_instr *i = &code->instrs[0];
    for (int k = 0; k < i->segment->n_in; k++) {
        const sp_slot slot = i->in[k];
        if (slot < 0) b->constants[k] = in[k] = code->constants[~slot].tensor;
        else b->args[k] = slot, in[k] = args[slot];
        SP_CHECK(in[k] != NULL, SP_DECLINED, "a function is among the values of the program");
    }
    return SP_OK;
}

/* Is the result the whole of memory that leaves the plan? Then the caller's buffer is that memory. */
static bool is_root(const sp_bound *b, const sp_handle *h)
{
    const sp_root *r = &b->plan->roots[h->root];
    return r->kind == SP_ROOT_RESULT && !b->given[r->number] && h->offset == 0 &&
           (h->shape.flags & SP_TENSOR_CONTIGUOUS) && sp_tensor_bytes(&h->shape) == r->bytes;
}

static void bind_shape(bound_result *r, const sp_tensor *from)
{
    r->shape = *from;
    r->shape.storage = NULL;
    r->shape.flags = SP_TENSOR_CONTIGUOUS;
    sp__shape_strides(from->rank, from->dims, r->shape.strides);
}

static sp_status bind_result(sp_bound *b, sp_tensor *const *args, sp_slot slot, bound_result *r)
{
    const sp_code *code = b->program->entry;
    const sp_instr *i = &code->instrs[0];
    if (slot < 0) {
        SP_CHECK(code->constants[~slot].tensor != NULL, SP_DECLINED, "a result of the program is a function");
        r->kind = FROM_CONSTANT;
        r->number = ~slot;
        bind_shape(r, code->constants[~slot].tensor);
        return SP_OK;
    }
    if (slot < code->n_params) {
        r->kind = FROM_ARGUMENT;
        r->number = slot;
        bind_shape(r, args[slot]);
        return SP_OK;
    }
    int k = 0;
    while (k < i->n_out && i->out[k] != slot) k++;
    SP_CHECK(k < i->n_out, SP_RUNTIME, "result in slot %d of the program comes from nowhere", slot);
    const sp_handle *h = &b->plan->handles[b->plan->out[k]];
    bind_shape(r, &h->shape);
    r->kind = FROM_HANDLE;
    r->number = b->plan->out[k];
    if (!is_root(b, h)) return SP_OK;
    const int root = b->plan->roots[h->root].number;
    r->kind = FROM_ROOT;
    r->number = b->plan->n_in + b->plan->n_variables + root;
    b->given[root] = true;
    return SP_OK;
}

static sp_status bind(sp_bound *b, sp_tensor *const *args)
{
    const sp_code *code = b->program->entry;
    sp_segment *s = NULL;
    SP_TRY(one_segment(b->program, &s));
    b->n_args = code->n_params;
    b->n_results = code->n_results;
    sp_tensor **in = sp__arena_alloc(&b->memory, (size_t)(s->n_in + 1) * sizeof *in);
    b->constants = sp__arena_alloc(&b->memory, (size_t)(s->n_in + 1) * sizeof *b->constants);
    b->args = sp__arena_alloc(&b->memory, (size_t)(s->n_in + 1) * sizeof *b->args);
    b->results = sp__arena_alloc(&b->memory, (size_t)(b->n_results + 1) * sizeof *b->results);
    if (!in || !b->constants || !b->args || !b->results) return SP_NOMEM;
    SP_TRY(bind_inputs(b, args, in));
    SP_TRY(sp__segment_plan(s, in, &b->plan));
    if (!(b->given = sp__arena_alloc(&b->memory, (size_t)(b->plan->n_results + 1) * sizeof *b->given))) return SP_NOMEM;
    for (int i = 0; i < b->n_results; i++) SP_TRY(bind_result(b, args, code->results[i], &b->results[i]));
    return SP_OK;
}

/* Memory of results that no buffer of the caller's is: by root, one behind the other. */
static size_t spare_bytes(const sp_bound *b)
{
    size_t bytes = 0;
    for (int i = 0; i < b->plan->n_roots; i++) {
        const sp_root *r = &b->plan->roots[i];
        if (r->kind == SP_ROOT_RESULT && !b->given[r->number]) bytes += up(r->bytes);
    }
    return bytes;
}

/* What handles and calls of an instance need, found by making them once. */
static sp_status instance_bytes(sp_plan *p, size_t *bytes)
{
    sp_instance *x = sp__alloc_zero(sizeof *x);
    if (!x) return SP_NOMEM;
    x->plan = p;
    x->arena = x; /* an address to count from; nothing is written there */
    const sp_status status = sp__instance_fill(x);
    *bytes = SP_ARENA_HEAD + up(sizeof *x) + x->memory.given;
    sp__arena_free(&x->memory);
    sp__free(x);
    return status;
}

static void unbind(sp_bound *b)
{
    sp__plan_release(b->plan);
    sp__arena_free(&b->memory);
}

static sp_status total_bytes(const sp_bound *b, size_t *own, size_t *bytes)
{
    SP_TRY(instance_bytes(b->plan, own));
    *bytes = up(*own) + up(b->plan->arena_bytes + SP_INSTANCE_SLACK) + spare_bytes(b);
    return SP_OK;
}

sp_status sp__bound_bytes(sp_program *p, sp_tensor *const *args, size_t *bytes)
{
    sp_bound b = {.program = p};
    size_t own;
    sp_status status = bind(&b, args);
    if (status == SP_OK) status = total_bytes(&b, &own, bytes);
    unbind(&b);
    return status;
}

/* The instance, its arena and the spare results in the block. */
static sp_status lay_out(sp_bound *b, char *block, size_t bytes)
{
    size_t own, wanted;
    SP_TRY(total_bytes(b, &own, &wanted));
    SP_CHECK((uintptr_t)block % SP_BOUND_ALIGN == 0, SP_VALUE, "the block's address %p is no multiple of %d",
             (void *)block, SP_BOUND_ALIGN);
    SP_CHECK(bytes >= wanted, SP_VALUE, "the block has %zu bytes, it needs %zu", bytes, wanted);
    sp__arena memory;
    sp__arena_over(&memory, block, own);
    sp_instance *x = b->x = sp__arena_alloc(&memory, up(sizeof *x));
    if (!x) return SP_NOMEM;
    x->memory = memory;
    x->plan = b->plan;
    x->arena = block + up(own);
    SP_TRY(sp__instance_fill(x));
    char *spare = block + up(own) + up(b->plan->arena_bytes + SP_INSTANCE_SLACK);
    for (int i = 0; i < b->plan->n_roots; i++) {
        const sp_root *r = &b->plan->roots[i];
        if (r->kind != SP_ROOT_RESULT || b->given[r->number]) continue;
        sp__instance_border(x, b->plan->n_in + b->plan->n_variables + r->number, &x->storage, spare);
        spare += up(r->bytes);
    }
    return SP_OK;
}

sp_status sp__bound_create(sp_program *p, sp_tensor *const *args, void *block, size_t bytes, sp_bound **out)
{
    SP_CHECK(block != NULL, SP_VALUE, "the block is NULL");
    sp_bound *b = sp__alloc_zero(sizeof *b);
    if (!b) return SP_NOMEM;
    b->program = sp_program_retain(p);
    sp_status status = bind(b, args);
    if (status == SP_OK) status = lay_out(b, block, bytes);
    if (status == SP_OK) *out = b;
    else sp__bound_free(b);
    return status;
}

void sp__bound_free(sp_bound *b)
{
    if (!b) return;
    unbind(b);
    sp_program_release(b->program);
    sp__free(b);
}

const sp_tensor *sp__bound_result(const sp_bound *b, int i) { return &b->results[i].shape; }

/* --- running ----------------------------------------------------------------------------------------------------- */

static sp_status copy_result(sp_bound *b, bound_result *r, const void *const *in, void *to)
{
    r->shape.data = to;
    r->shape.storage = &b->x->storage;
    switch (r->kind) {
    case FROM_ROOT: return SP_OK;
    case FROM_ARGUMENT:
        if (sp_tensor_bytes(&r->shape) > 0) memcpy(to, in[r->number], sp_tensor_bytes(&r->shape));
        return SP_OK;
    case FROM_CONSTANT: return sp_tensor_assign(&r->shape, b->program->entry->constants[r->number].tensor);
    case FROM_HANDLE: return sp_tensor_assign(&r->shape, &b->x->handles[r->number]);
    }
    return SP_OK;
}

/* Addresses inside of a const buffer: kernels do not write to what comes in. */
static char *readable(const void *data) { return (char *)(uintptr_t)data; }

sp_status sp__bound_run(sp_bound *b, const void *const *in, void *const *out)
{
    sp_plan *p = b->plan;
    sp_instance *x = b->x;
    SP_TRY(sp__scratch_ready());
    for (int k = 0; k < p->n_in; k++)
        sp__instance_border(x, k, b->constants[k] ? b->constants[k]->storage : &x->storage,
                            b->constants[k] ? b->constants[k]->data : readable(in[b->args[k]]));
    for (int i = 0; i < p->n_variables; i++)
        sp__instance_border(x, p->n_in + i, p->variables[i]->tensor->storage, p->variables[i]->tensor->data);
    for (int i = 0; i < b->n_results; i++)
        if (b->results[i].kind == FROM_ROOT) sp__instance_border(x, b->results[i].number, &x->storage, out[i]);
    SP_TRY(sp__instance_run(x));
    for (int i = 0; i < p->n_variables; i++)
        if (p->stored[i]) sp__tensor_wrote(p->variables[i]->tensor);
    for (int i = 0; i < b->n_results; i++) SP_TRY(copy_result(b, &b->results[i], in, out[i]));
    return SP_OK;
}
