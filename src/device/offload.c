/* SPDX-License-Identifier: Apache-2.0 */
/* offload.c - a call on a device: its own kernel, the first that takes it, or the CPU's between copies. */
#include <stdlib.h>

#include "device/device.h"
#include "device/devices.h"
#include "device/streams.h"

/* --- the call as a device sees it -------------------------------------------------------------------------------- */

typedef struct room {
    sp_device_call call;
    sp_device_operand few[SP_IN_MAX + SP_OUT_MAX], *operands;
} room;

static sp_device_operand operand(const sp_tensor *t, bool runs)
{
    if (!t) return (sp_device_operand){.dtype = SP_DTYPE_NONE, .rank = -1};
    const sp_buffer *b = runs ? sp__tensor_buffer(t) : NULL;
    return (sp_device_operand){.dtype = (sp_dtype)t->dtype,
                               .rank = t->rank,
                               .dims = t->dims,
                               .strides = t->strides,
                               .buffer = b ? b->handle : NULL,
                               .offset = b ? (size_t)(t->data - (char *)t->storage->data) : 0};
}

static sp_status room_fill(room *r, const sp_call *c, bool runs)
{
    size_t bytes;
    const int n = c->n_in + c->n_out;
    if (!r->operands) {
        r->operands = r->few;
        if (n > SP_IN_MAX + SP_OUT_MAX && !(r->operands = sp__alloc((size_t)n * sizeof *r->operands))) return SP_NOMEM;
    }
    r->call = (sp_device_call){.struct_size = sizeof r->call,
                               .op = c->op->name,
                               .attrs = c->attrs,
                               .n_in = c->n_in,
                               .n_out = c->n_out,
                               .in = r->operands,
                               .out = r->operands + c->n_in};
    r->call.n_attrs = sp_op_attrs(c->op, &r->call.attr_table, &bytes);
    for (int i = 0; i < c->n_in; i++) r->operands[i] = operand(c->in[i], runs);
    for (int i = 0; i < c->n_out; i++) r->operands[c->n_in + i] = operand(c->out[i], runs);
    return SP_OK;
}

/* The kernel with the call's buffers, in this thread's stream, behind whoever uses them in others. */
static sp_status run_ordered(sp_device *d, const sp_device_kernel *k, const sp_call *c, room *r)
{
    if (atomic_load_explicit(&d->n_streams, memory_order_acquire) == 0) return k->run(d->state, &r->call);
    const int n = c->n_in + c->n_out;
    sp_buffer **buffers = sp__alloc((size_t)(n + 1) * sizeof *buffers);
    if (!buffers) return SP_NOMEM;
    for (int i = 0; i < n; i++) buffers[i] = sp__tensor_buffer(i < c->n_in ? c->in[i] : c->out[i - c->n_in]);
    r->call.stream = sp__stream_handle(sp__stream_now(d));
    sp_status status = sp__work_begin(d, n, buffers, c->n_out);
    if (status == SP_OK) status = k->run(d->state, &r->call);
    sp__work_end(d, n, buffers, c->n_out);
    sp__free(buffers);
    return status;
}

static void room_free(room *r)
{
    if (r->operands != r->few) sp__free(r->operands);
}

/* --- its own kernels --------------------------------------------------------------------------------------------- */

static bool row_major(int n, sp_tensor *const *t)
{
    for (int i = 0; i < n; i++)
        if (t[i] && !(t[i]->flags & SP_TENSOR_CONTIGUOUS)) return false;
    return true;
}

/* A kernel that wants row-major inputs gets copies of the others. */
static sp_status run_with_copies(sp_device *d, const sp_device_kernel *k, const sp_call *call)
{
    sp_tensor **in = sp__alloc_zero((size_t)(call->n_in + 1) * sizeof *in);
    if (!in) return SP_NOMEM;
    room r = {.operands = NULL};
    sp_call c = *call;
    sp_status status = SP_OK;
    for (int i = 0; i < c.n_in && status == SP_OK; i++)
        if (call->in[i]) status = sp_tensor_contiguous(call->in[i], &in[i]);
    c.in = in;
    if (status == SP_OK) status = room_fill(&r, &c, true);
    if (status == SP_OK) status = run_ordered(d, k, &c, &r);
    room_free(&r);
    for (int i = 0; i < c.n_in; i++) sp_tensor_release(in[i]);
    sp__free(in);
    return status;
}

static sp_status run_one(sp_device *d, const sp_device_kernel *k, const sp_call *c)
{
    if (!k->strided && !row_major(c->n_in, c->in)) return c->op->writes ? SP_DECLINED : run_with_copies(d, k, c);
    room r = {.operands = NULL};
    sp_status status = room_fill(&r, c, true);
    if (status == SP_OK) status = run_ordered(d, k, c, &r);
    room_free(&r);
    return status;
}

sp_status sp__device_run_kernel(sp_device *d, const sp_call *c)
{
    SP_TRY(sp__device_usable(d));
    for (int i = 0; i < c->n_out; i++)
        if (!c->out[i]) return SP_DECLINED;
    if (!row_major(c->n_out, c->out)) return SP_DECLINED;
    room question = {.operands = NULL};
    SP_TRY(room_fill(&question, c, false));
    sp_status status = SP_DECLINED;
    const int id = sp__op_id(c->op);
    const uint32_t first = id < 0 ? 0 : d->first_offer[id], end = id < 0 ? 0 : d->first_offer[id + 1];
    for (uint32_t i = first; i < end && status == SP_DECLINED; i++) {
        const sp_device_kernel *k = d->offers[i];
        if (!k->takes || k->takes(d->state, &question.call)) status = run_one(d, k, c);
    }
    room_free(&question);
    if (status == SP_OK) atomic_fetch_add(&d->kernels, 1);
    return sp__device_told(d, status);
}

bool sp__device_takes(sp_device *d, const sp_call *c)
{
    room question = {.operands = NULL};
    if (room_fill(&question, c, false) != SP_OK) return false;
    const int id = sp__op_id(c->op);
    const uint32_t first = id < 0 ? 0 : d->first_offer[id], end = id < 0 ? 0 : d->first_offer[id + 1];
    bool takes = false;
    for (uint32_t i = first; i < end && !takes; i++)
        takes = !d->offers[i]->takes || d->offers[i]->takes(d->state, &question.call);
    room_free(&question);
    return takes;
}

/* --- on the CPU, between copies ---------------------------------------------------------------------------------- */

void sp__device_count_declined(sp_device *d, const sp_op *op, uint64_t bytes)
{
    const int id = sp__op_id(op);
    atomic_fetch_add(&d->declined, 1);
    if (id < 0) return;
    atomic_fetch_add(&d->declined_calls[id], 1);
    atomic_fetch_add(&d->declined_bytes[id], bytes);
}

static void count_declined(sp_device *d, const sp_call *c)
{
    uint64_t bytes = 0;
    for (int i = 0; i < c->n_in; i++) bytes += c->in[i] ? sp_tensor_bytes(c->in[i]) : 0;
    for (int i = 0; i < c->n_out; i++) bytes += c->out[i] ? sp_tensor_bytes(c->out[i]) : 0;
    sp__device_count_declined(d, c->op, bytes);
}

/* Results to where they belong. */
static sp_status give_back(sp_device *d, const sp_call *c, const sp_call *here)
{
    for (int i = 0; i < c->n_in; i++)
        if (c->op->writes >> i & 1) SP_TRY(sp_tensor_assign(c->in[i], here->in[i]));
    for (int i = 0; i < c->n_out && !c->op->writes; i++) {
        if (!c->out[i]) {
            sp_meta meta;
            sp__meta_of(here->out[i], &meta);
            SP_TRY(sp__device_tensor(d, &meta, &c->out[i]));
        }
        SP_TRY(sp_tensor_assign(c->out[i], here->out[i]));
    }
    return SP_OK;
}

static sp_status room_here(const sp_call *c, sp_call *here, sp_tensor **in)
{
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i]) SP_TRY(sp__tensor_here(c->in[i], &in[i]));
    for (int i = 0, k = 0; i < c->n_in && c->op->writes; i++)
        if (c->op->writes >> i & 1) here->out[k++] = sp_tensor_retain(in[i]);
    for (int i = 0; i < c->n_out && !c->op->writes; i++)
        if (c->out[i])
            SP_TRY(sp_tensor_create((sp_dtype)c->out[i]->dtype, c->out[i]->rank, c->out[i]->dims, &here->out[i]));
    return SP_OK;
}

static sp_status run_here(sp_device *d, const sp_call *c)
{
    sp_tensor **in = sp__alloc_zero((size_t)(c->n_in + c->n_out + 1) * sizeof *in);
    if (!in) return SP_NOMEM;
    sp_call here = *c;
    here.in = in;
    here.out = in + c->n_in;
    sp_status status = room_here(c, &here, in);
    if (status == SP_OK) status = sp__dispatch(&here);
    if (status == SP_OK) status = give_back(d, c, &here);
    for (int i = 0; i < c->n_in + c->n_out; i++) sp_tensor_release(in[i]);
    sp__free(in);
    return status;
}

sp_status sp__device_run(sp_device *d, const sp_call *c)
{
    const sp_status status = sp__device_run_kernel(d, c);
    if (status != SP_DECLINED) return status;
    count_declined(d, c);
    return run_here(d, c);
}

static int by_bytes(const void *a, const void *b)
{
    const sp_device_declines *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : strcmp(x->op, y->op);
}

int sp_device_declined(sp_device *d, sp_device_declines *out, int most)
{
    sp_device_declines *all = d ? sp__alloc(SP_OPS_MAX * sizeof *all) : NULL;
    int n = 0;
    if (!all) return 0;
    for (int i = 0; i < sp_op_count() && i < SP_OPS_MAX; i++) {
        const uint64_t calls = atomic_load(&d->declined_calls[i]);
        if (calls) all[n++] = (sp_device_declines){sp_op_name(sp_op_at(i)), calls, atomic_load(&d->declined_bytes[i])};
    }
    qsort(all, (size_t)n, sizeof *all, by_bytes);
    for (int i = 0; i < n && i < most; i++) out[i] = all[i];
    sp__free(all);
    return n;
}

/* --- the CPU's kernels for devices that share its memory --------------------------------------------------------- */

static sp_status over_memory(const sp_device_operand *o, sp_tensor **out)
{
    if (o->rank < 0) return SP_OK;
    return sp_tensor_wrap(o->dtype, o->rank, o->dims, o->strides, (char *)o->buffer + o->offset, NULL, NULL, out);
}

sp_status sp__device_call_on_cpu(const sp_device_call *call)
{
    const sp_op *op = sp_op_find(call->op);
    SP_CHECK(op, SP_VALUE, "there is no operator '%s'", call->op);
    sp_tensor **in = sp__alloc_zero((size_t)(call->n_in + call->n_out + 1) * sizeof *in);
    if (!in) return SP_NOMEM;
    sp_call c = {
        .op = op, .attrs = call->attrs, .n_in = call->n_in, .n_out = call->n_out, .in = in, .out = in + call->n_in};
    sp_status status = SP_OK;
    for (int i = 0; i < c.n_in && status == SP_OK; i++) status = over_memory(&call->in[i], &in[i]);
    for (int i = 0; i < c.n_out && status == SP_OK; i++) status = over_memory(&call->out[i], &c.out[i]);
    /* Whoever waits for the device's thread may hold an interpreter's lock, so the poll for interruption must not be asked here. */
    sp__section_begin();
    if (status == SP_OK) status = op->reference || sp__kernel_offered(&c) ? sp__dispatch(&c) : SP_DECLINED;
    sp__section_end();
    for (int i = 0; i < c.n_in + c.n_out; i++) sp_tensor_release(in[i]);
    sp__free(in);
    return status;
}
