/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_conv.c - entries of convolution and its gradients: from calls of operators to the jobs of conv_forward.c and conv_gradient.c.
 * float16 and bfloat16 are widened to float and rounded once at the end. */
#include "base/parts.h"
#include "device/cpu/conv_job.h"
#include "device/cpu/cpu_kernels.h"

typedef enum { FORWARD, BY_INPUT, BY_WEIGHT } conv_kind;

/* A small build may have convolutions without their gradients (base/parts.h). */
#ifdef SP_OPERATORS_LIST
#define HAVE_INPUT_GRAD (SP_HAVE_OP_conv1d_input_grad || SP_HAVE_OP_conv2d_input_grad || SP_HAVE_OP_conv3d_input_grad)
#define HAVE_WEIGHT_GRAD                                                                                               \
    (SP_HAVE_TRAINING &&                                                                                               \
     (SP_HAVE_OP_conv1d_weight_grad || SP_HAVE_OP_conv2d_weight_grad || SP_HAVE_OP_conv3d_weight_grad))
#else
#define HAVE_INPUT_GRAD 1
#define HAVE_WEIGHT_GRAD 1
#endif

static sp_status measure(conv_kind kind, const sp_call *c, sp__conv_geometry *g)
{
    const char *name = c->op->name;
    switch (kind) {
    case FORWARD: return sp__conv_measure(name, c->in[0], c->in[1], c->attrs, g);
    case BY_INPUT: return sp__conv_measure_input(name, c->in[0], c->in[1], c->attrs, g);
    default: return sp__conv_measure_weight(name, c->in[0], c->in[1], c->attrs, g);
    }
}

static bool is_half(sp_dtype dtype) { return dtype == SP_DTYPE_F16 || dtype == SP_DTYPE_BF16; }

/* Nothing to add up: the plans divide by these sizes, and the reference writes the zeros (or biases) as well. */
bool sp__cpu_conv_takes(const sp_call *c)
{
    return sp_dtype_kind((sp_dtype)c->in[0]->dtype) == 'f' && c->in[0]->count && c->in[1]->count;
}

static size_t kernel_work(conv_kind kind, const sp__conv_geometry *g, sp_dtype dtype, bool prepared)
{
    if (HAVE_INPUT_GRAD && kind == BY_INPUT) return sp__conv_input_work(g, dtype, prepared);
    sp__conv_job job = {.g = *g, .prepared = prepared ? "" : NULL};
    sp__conv_plan(dtype, &job);
    if (kind == FORWARD) return sp__conv_forward_work(&job);
    return HAVE_WEIGHT_GRAD ? sp__conv_weight_work(&job) : 0;
}

static size_t call_work(conv_kind kind, const sp_call *c)
{
    sp__conv_geometry g;
    sp_dtype dtype = (sp_dtype)c->in[0]->dtype;
    if (measure(kind, c, &g) != SP_OK) return 0;
    if (!is_half(dtype)) return kernel_work(kind, &g, dtype, c->prepared != NULL);
    size_t bytes = kernel_work(kind, &g, SP_DTYPE_F32, false) + aligned((size_t)c->out[0]->count * 4);
    for (int i = 0; i < c->n_in; i++) bytes += c->in[i] ? aligned((size_t)c->in[i]->count * 4) : 0;
    return bytes;
}

static sp_status convert(int64_t n, sp_dtype from_dtype, const void *from, sp_dtype to_dtype, void *to)
{
    sp_loop loop = {.n_operands = 2, .rank = 1, .dims = {n}};
    loop.ptr[0] = to;
    loop.ptr[1] = (char *)(uintptr_t)from;
    loop.steps[0][0] = (int64_t)sp_dtype_bytes(to_dtype);
    loop.steps[1][0] = (int64_t)sp_dtype_bytes(from_dtype);
    return sp__loop_run(&loop, sp__cast_loop(from_dtype, to_dtype), NULL, 16);
}

static sp_status call_run(conv_kind kind, const sp_call *c)
{
    sp_dtype dtype = (sp_dtype)c->in[0]->dtype, wide = is_half(dtype) ? SP_DTYPE_F32 : dtype;
    sp__conv_geometry g;
    SP_TRY(measure(kind, c, &g));
    if (c->out[0]->count == 0) return SP_OK;
    char *work = c->work;
    const void *in[3] = {NULL, NULL, NULL};
    void *out = c->out[0]->data;
    for (int i = 0; i < c->n_in; i++) {
        if (!c->in[i]) continue;
        in[i] = c->in[i]->data;
        if (wide == dtype) continue;
        SP_TRY(convert(c->in[i]->count, dtype, in[i], wide, work));
        in[i] = work;
        work += aligned((size_t)c->in[i]->count * 4);
    }
    if (wide != dtype) {
        out = work;
        work += aligned((size_t)c->out[0]->count * 4);
    }
    if (kind == BY_INPUT && HAVE_INPUT_GRAD) {
        SP_TRY(sp__conv_input(&g, wide, in[0], in[1], out, c->prepared, work));
    } else {
        sp__conv_job job = {.g = g, .x = in[0], .out = out};
        sp__conv_plan(wide, &job);
        if (kind == FORWARD) {
            job.weight = in[1];
            job.bias = in[2];
            job.prepared = c->prepared;
            job.epilogue = wide == dtype ? c->epilogue : NULL; /* half: results are rounded at the end */
            SP_TRY(sp__conv_forward(&job, work));
        } else if (HAVE_WEIGHT_GRAD) {
            job.dout = in[1];
            SP_TRY(sp__conv_weight(&job, work));
        }
    }
    if (wide != dtype) SP_TRY(convert(c->out[0]->count, wide, out, dtype, c->out[0]->data));
    bool owed = kind == BY_INPUT ||
                (kind == FORWARD && wide != dtype); /* the list says who runs it: not the gradient by weight */
    if (c->epilogue && owed) c->epilogue->fn(c->epilogue->context, 0, 1, 0, c->out[0]->count);
    return SP_OK;
}

/* Constant weights. The plain product of few positions, or by tiles, has nothing to prepare. */
static bool prepare_plan(conv_kind kind, const sp_call *c, sp__conv_job *job)
{
    sp_dtype dtype = (sp_dtype)c->in[0]->dtype;
    sp__conv_geometry g;
    *job = (sp__conv_job){.mirrored = kind == BY_INPUT};
    if (is_half(dtype) || measure(kind, c, &g) != SP_OK) return false;
    if (kind == BY_INPUT ? !sp__conv_mirror(&g, &job->g) : (job->g = g, false)) return false;
    sp__conv_plan(dtype, job);
    if (sp__conv_is_product(&job->g) && !sp__conv_is_pointwise(job)) return false;
    sp__conv_plan_forward(job);
    return true;
}

static size_t call_prepared(conv_kind kind, const sp_call *c)
{
    sp__conv_job job;
    return prepare_plan(kind, c, &job) ? sp__conv_prepared_bytes(&job) : 0;
}

/* Pointwise and Winograd's weights lie as the channels have it, panels as wide as the form of the convolution wants them. */
static sp_prepared_form call_form(conv_kind kind, const sp_call *c)
{
    sp__conv_job job;
    if (!prepare_plan(kind, c, &job)) return (sp_prepared_form){{0}};
    const int way = job.pointwise ? 1 : job.winograd ? 2 : 3;
    return (sp_prepared_form){{way, way == 3 ? job.width : 0, job.g.group, job.k}};
}

static sp_status call_prepare(conv_kind kind, const sp_call *c, void *to)
{
    sp__conv_job job;
    SP_CHECK(prepare_plan(kind, c, &job), SP_RUNTIME, "%s: nothing to prepare", c->op->name);
    job.weight = c->in[1]->data;
    return sp__conv_prepare(&job, to);
}

size_t sp__cpu_conv_work(const sp_call *c) { return call_work(FORWARD, c); }
size_t sp__cpu_conv_input_grad_work(const sp_call *c) { return call_work(BY_INPUT, c); }
size_t sp__cpu_conv_weight_grad_work(const sp_call *c) { return call_work(BY_WEIGHT, c); }
size_t sp__cpu_conv_prepared(const sp_call *c) { return call_prepared(FORWARD, c); }
size_t sp__cpu_conv_input_grad_prepared(const sp_call *c) { return call_prepared(BY_INPUT, c); }
sp_prepared_form sp__cpu_conv_form(const sp_call *c) { return call_form(FORWARD, c); }
sp_prepared_form sp__cpu_conv_input_grad_form(const sp_call *c) { return call_form(BY_INPUT, c); }
sp_status sp__cpu_conv_prepare(const sp_call *c, void *to) { return call_prepare(FORWARD, c, to); }
sp_status sp__cpu_conv_input_grad_prepare(const sp_call *c, void *to) { return call_prepare(BY_INPUT, c, to); }
sp_status sp__cpu_conv(const sp_call *c) { return call_run(FORWARD, c); }
sp_status sp__cpu_conv_input_grad(const sp_call *c) { return call_run(BY_INPUT, c); }
sp_status sp__cpu_conv_weight_grad(const sp_call *c) { return call_run(BY_WEIGHT, c); }
