/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - the one way to apply an operator: check, promote, infer, allocate, run, remember.
 *
 * The path of a small operator (two inputs of one dtype, no history) decides how fast eager programs are: it makes two
 * allocations, the handle and its storage, both served from the thread's own free lists. */
#include "base/parts.h"
#include "base/used.h"
#include "base/messages.h"
#include "base/profile.h"
#include "device/device.h"
#include "eager/place.h"
#include "ir/graph_impl.h"
#include "ops/ops_impl.h"
#include "tensor/mapped.h"
#include "tensor/tensor_text.h"

/* Read with every operator: the fixed offset of initial-exec saves a call in a shared library. */
extern _Thread_local int sp__grad_depth __attribute__((tls_model("initial-exec")));
extern _Thread_local sp_function *sp__recorder __attribute__((tls_model("initial-exec")));
_Thread_local sp_precision sp__precision
    __attribute__((tls_model("initial-exec"))) = {.weights = SP_DTYPE_NONE, .half = SP_DTYPE_NONE};

/* --- inputs ------------------------------------------------------------------------------------------------------ */

/* Why a tensor without memory cannot be computed with. */
static sp_status no_contents(const sp_op *op, const char *name, const sp_tensor *t)
{
    if (t->symbol)
        return sp__fail(
            SP_RUNTIME,
            "%s: input %s stands for a value of a program and has no contents outside of it: let the program "
            "return it",
            op->name, name);
    return sp__fail(SP_RUNTIME,
                    "%s: input %s has no contents: it declares a shape, or waits for its initializer (init_data)",
                    op->name, name);
}

sp_status sp__inputs_check(const sp_op *op, int n_in, sp_tensor *const *in)
{
    const sp_inputs *names = sp__op_inputs(op);
    int least = names->variadic ? names->n - 1 : names->n;
    SP_CHECK(n_in >= least && (names->variadic || n_in == names->n), SP_TYPE, "%s takes %d inputs, but got %d",
             op->name, names->n, n_in);
    for (int i = 0; i < n_in; i++) {
        int k = i < names->n ? i : names->n - 1;
        SP_CHECK(in[i] || (names->optional >> k & 1), SP_TYPE, "%s: input %s is missing", op->name, names->names[k]);
        if (in[i] && !in[i]->data && in[i]->count && !sp__recorder) return no_contents(op, names->names[k], in[i]);
    }
    return SP_OK;
}

/* The dtype all inputs meet in. Weak ones (Python numbers) only lift the kind: an int8 tensor plus 300 stays int8, plus
 * 1.5 becomes float32. */
static sp_dtype common_dtype(int n, sp_tensor *const *in)
{
    sp_dtype strong = SP_DTYPE_NONE, weak = SP_DTYPE_NONE;
    for (int i = 0; i < n; i++) {
        if (!in[i]) continue;
        sp_dtype d = (sp_dtype)in[i]->dtype, *slot = in[i]->flags & SP_TENSOR_WEAK ? &weak : &strong;
        if (*slot == SP_DTYPE_NONE) {
            *slot = d;
        } else if (*slot != d) {
            *slot = sp_dtype_promote(*slot, d);
            if (*slot == SP_DTYPE_NONE) return SP_DTYPE_NONE;
        }
    }
    if (strong == SP_DTYPE_NONE) return weak;
    if (weak == SP_DTYPE_NONE) return strong;
    char ks = sp_dtype_kind(strong), kw = sp_dtype_kind(weak);
    int rank_s = ks == 'b' ? 0 : ks == 'i' || ks == 'u' ? 1 : ks == 'f' ? 2 : 3;
    int rank_w = kw == 'b' ? 0 : kw == 'i' || kw == 'u' ? 1 : kw == 'f' ? 2 : 3;
    if (rank_w <= rank_s) return strong;
    if (rank_w == 3) return strong == SP_DTYPE_F64 ? SP_DTYPE_C128 : SP_DTYPE_C64;
    return weak; /* int64 over bool, float32 over integers: what the binding made of the number */
}

/* Recorded like any other operator, so that gradients come back in the input's own dtype. The new tensor is listed in
 * made[] for release; one that was listed before stays there. */
static sp_status cast_input(sp_tensor **in, sp_dtype to, sp_tensor **made, int *n_made)
{
    const sp_cast_attrs attrs = {to};
    int n;
    SP_TRY(sp_apply(&sp_op_cast, &attrs, 1, in, 1, &made[*n_made], &n));
    *in = made[(*n_made)++];
    return SP_OK;
}

/* Inputs brought to one dtype; made[] lists the new ones for release. */
static sp_status promote_inputs(const sp_op *op, int n_in, sp_tensor **in, sp_tensor **made, int *n_made)
{
    bool same = op->promote == SP_PROMOTE_ALL;
    for (int i = 1; same && i < n_in; i++) same = in[i] && in[0] && in[i]->dtype == in[0]->dtype;
    if (same) return SP_OK;
    sp_dtype to = common_dtype(n_in, in);
    if (to == SP_DTYPE_NONE)
        return sp__fail(SP_TYPE, "%s: dtypes %s and %s have no common dtype", op->name,
                        sp_dtype_name((sp_dtype)in[0]->dtype), sp_dtype_name((sp_dtype)in[n_in - 1]->dtype));
    if (op->promote == SP_PROMOTE_FLOAT && sp_dtype_kind(to) != 'f' && sp_dtype_kind(to) != 'c') to = SP_DTYPE_F32;
    for (int i = 0; i < n_in; i++)
        if (in[i] && in[i]->dtype != (int)to) SP_TRY(cast_input(&in[i], to, made, n_made));
    return SP_OK;
}

/* Mixed precision: weights in the dtype of the computation. */
static sp_status cast_weights(int n_in, sp_tensor **in, sp_tensor **made, int *n_made)
{
    for (int i = 0; i < n_in; i++)
        if (in[i] && in[i]->flags & SP_TENSOR_PARAMETER && sp_dtype_kind((sp_dtype)in[i]->dtype) == 'f' &&
            in[i]->dtype != (int)sp__precision.weights)
            SP_TRY(cast_input(&in[i], sp__precision.weights, made, n_made));
    return SP_OK;
}

static bool is_listed(const sp_op *op, int n, const sp_op *const *list)
{
    for (int i = 0; i < n; i++)
        if (list[i] == op) return true;
    return false;
}

/* Mixed precision by lists of operators: the inputs of one that is listed, in the dtype of its list. */
static sp_status cast_listed(const sp_op *op, int n_in, sp_tensor **in, sp_tensor **made, int *n_made)
{
    const sp_precision *p = &sp__precision;
    const bool low = is_listed(op, p->n_low, p->low);
    if (!low && !is_listed(op, p->n_high, p->high)) return SP_OK;
    for (int i = 0; i < n_in; i++) {
        if (!in[i] || in[i]->flags & SP_TENSOR_WEAK) continue;
        const bool full = in[i]->dtype == SP_DTYPE_F32,
                   half = in[i]->dtype == SP_DTYPE_F16 || in[i]->dtype == SP_DTYPE_BF16;
        if (low ? full : half) SP_TRY(cast_input(&in[i], low ? p->half : SP_DTYPE_F32, made, n_made));
    }
    return SP_OK;
}

/* A convolution in half precision whose bias is not: it is added as it is, which the sum's dtype shows. */
static bool has_full_bias(const sp_op *op, int n_in, sp_tensor *const *in)
{
    return (op == &sp_op_conv1d || op == &sp_op_conv2d || op == &sp_op_conv3d) && n_in == 3 && in[2] &&
           in[2]->dtype == SP_DTYPE_F32 && is_listed(op, sp__precision.n_low, sp__precision.low);
}

static sp_status apply_biased(const sp_op *op, const void *attrs, sp_tensor *const *in, sp_tensor **out, int *n_out)
{
    sp_builder b;
    sp_tensor *y = NULL, *bias = in[2];
    SP_TRY(sp_apply(op, attrs, 3, (sp_tensor *[]){in[0], in[1], NULL}, 1, &y, n_out));
    sp__builder_init(&b);
    y = sp_builder_take_tensor(&b, y);
    if (y && bias->rank == 1 && y->rank > 2) {
        int64_t dims[SP_RANK_MAX];
        for (int i = 0; i < y->rank; i++) dims[i] = i == 1 ? bias->dims[0] : 1;
        bias = sp_reshape(&b, bias, y->rank, dims);
    }
    y = sp_add(&b, y, bias);
    const sp_status status = sp__builder_status(&b);
    if (status == SP_OK) *out = sp_tensor_retain(y);
    else *n_out = 0;
    sp__builder_done(&b);
    return status;
}

static sp_status check_dtype(const sp_op *op, int n_in, sp_tensor *const *in)
{
    if (!n_in || !in[0]) return SP_OK;
    uint32_t allowed = op->dtypes ? op->dtypes : SP_DT_ALL;
    if (allowed >> in[0]->dtype & 1) return SP_OK;
    char list[200];
    size_t at = 0;
    for (int d = 0; d < SP_DTYPE_COUNT && at < sizeof list - 16; d++)
        if (allowed >> d & 1) {
            const char *name = sp_dtype_name((sp_dtype)d);
            if (at) list[at++] = ' ';
            memcpy(list + at, name, strlen(name));
            at += strlen(name);
        }
    list[at] = '\0';
    return sp__fail(SP_TYPE, "%s: input %s has dtype %s, it must be one of: %s", op->name, sp__op_inputs(op)->names[0],
                    sp_dtype_name((sp_dtype)in[0]->dtype), list);
}

/* --- running ----------------------------------------------------------------------------------------------------- */

static inline sp_status run_kernel(sp_call *c, sp_device *device)
{
    return SP_HAVE_PLUGINS && device ? sp__device_run(device, c) : sp__dispatch(c);
}

static inline sp_status run_in_place(sp_call *c, sp_device *device)
{
    int k = 0;
    for (int i = 0; i < c->n_in; i++) {
        if (!(c->op->writes >> i & 1)) continue;
        SP_CHECK(c->in[i]->storage, SP_VALUE, "%s: the tensor to write to has no memory", c->op->name);
        c->out[k++] = sp_tensor_retain(c->in[i]);
    }
    SP_TRY(run_kernel(c, device));
    for (int i = 0; i < k; i++) sp__tensor_wrote(c->out[i]);
    return SP_OK;
}

/* Does an input lie in other memory than the engine's own: a mapped file, a device, an array of somebody else? */
static inline bool lies_elsewhere(const sp_call *c)
{
    bool any = false;
    for (int i = 0; i < c->n_in; i++)
        any |= c->in[i] != NULL && c->in[i]->storage != NULL && c->in[i]->storage->release != NULL;
    return any;
}

static bool reads_files(const sp_call *c)
{
    bool any = false;
    for (int i = 0; i < c->n_in; i++) any |= c->in[i] != NULL && sp__storage_is_mapped(c->in[i]->storage);
    return any;
}

/* Inputs in mapped files are what they were when these were opened. Asked before an operator that reads some runs, and after. */
static __attribute__((noinline)) sp_status check_files(const sp_call *c)
{
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i] != NULL && sp__storage_is_mapped(c->in[i]->storage)) SP_TRY(sp__storage_check(c->in[i]->storage));
    return SP_OK;
}

static inline sp_status run_fresh(sp_call *c, sp_device *device)
{
    if (c->op->view) {
        sp_status status = c->op->view(c);
        for (int i = 0; status == SP_OK && i < c->n_out; i++) sp__tensor_set_base(c->out[i], c->in[0]);
        if (status != SP_DECLINED) return status;
    }
    sp_meta few[SP_OUT_MAX], *metas = few;
    if (c->n_out > SP_OUT_MAX && !(metas = sp__alloc((size_t)c->n_out * sizeof *metas))) return SP_NOMEM;
    sp_status status;
    SP_GOTO(done, sp__infer(c, metas));
    for (int i = 0; i < c->n_out; i++) {
        bool open = false;
        for (int k = 0; k < metas[i].rank; k++) open |= metas[i].dims[k] == -1;
        if (!open)
            SP_GOTO(done, SP_HAVE_PLUGINS && device ? sp__device_tensor(device, &metas[i], &c->out[i])
                                                    : sp__tensor_from_meta(&metas[i], &c->out[i]));
    }
    status = run_kernel(c, device);
done:
    if (metas != few) sp__free(metas);
    return status;
}

/* Apart, so that the CPU's own way has no question about devices in it. */
static __attribute__((noinline)) sp_status run_on_device(sp_call *c, sp_device *device)
{
    return c->op->writes ? run_in_place(c, device) : run_fresh(c, device);
}

/* Whether a composition can be computed at once: a device offers that, and no input has a history that its steps would continue. */
static sp_status has_direct(const sp_call *c, bool *direct)
{
    *direct = false;
    if (!c->op->infer) return SP_OK;
    for (int i = 0; sp__grad_depth > 0 && i < c->n_in; i++) {
        if (!c->in[i]) continue;
        SP_TRY(sp__grad_refresh(c->in[i]));
        if (c->in[i]->node) return SP_OK;
    }
    *direct = sp__kernel_offered(c);
    return SP_OK;
}

static sp_status run_composed(sp_call *c)
{
    sp_builder b;
    sp__builder_init(&b);
    sp_status status = c->op->compose(&b, c);
    if (status == SP_OK) status = sp__builder_status(&b);
    for (int i = 0; i < c->n_out; i++) {
        if (status != SP_OK) c->out[i] = NULL;
        else if (c->out[i]) sp_tensor_retain(c->out[i]);
    }
    sp__builder_done(&b);
    return status;
}

/* While a function is recorded: inputs that are variables enter as symbols of their present contents, with their history.
 * The symbols are listed in made[] for release. */
static sp_status read_variables(int n_in, sp_tensor **in, sp_tensor **made, int *n_made)
{
    for (int i = 0; i < n_in; i++) {
        sp_tensor *symbol = NULL;
        if (in[i]) SP_TRY(sp__record_read(in[i], &symbol));
        if (!symbol) continue;
        made[(*n_made)++] = symbol;
        if (SP_HAVE_TRAINING) sp__grad_share(symbol, in[i]);
        in[i] = symbol;
    }
    return SP_OK;
}

/* A constant that others hold too is no constant when it is written: it becomes a variable, and what was recorded does not hold. */
static sp_status refuse_outside(const sp_op *op, int n_in, sp_tensor *const *in)
{
    bool any = false;
    for (int i = 0; i < n_in; i++) {
        if (!(op->writes >> i & 1) || !in[i] || !(in[i]->flags & SP_TENSOR_OUTSIDE) || in[i]->symbol ||
            sp__is_variable(in[i]))
            continue;
        sp_graph_variable_mark(in[i]);
        any = true;
    }
    return any ? sp__fail(SP_SYMBOL, "a Tensor is written that was taken for a constant") : SP_OK;
}

static bool shapes_known(const sp_call *c)
{
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i] && c->in[i]->count < 0) return false;
    return true;
}

/* A Parameter that the recording differentiates as an argument: its handle has the value and the history of what is written, as in MindSpore's graphs. */
static sp_status record_argument(const sp_call *c, sp_tensor *const *originals, const bool *tracked)
{
    SP_TRY(sp__grad_record_kept(c, tracked));
    for (int i = 0, k = 0; i < c->n_in; i++)
        if (c->op->writes >> i & 1) sp__grad_share(originals[i], c->out[k++]);
    return SP_OK;
}

/* Length of "name: " at the front of a message, where that is an operator that nobody calls by name: whoever called batch_norm need not
 * know of channel_affine. */
static size_t inner_name(const char *message)
{
    char name[64];
    const size_t n = strcspn(message, ":");
    if (n >= sizeof name || message[n] == '\0' || message[n + 1] != ' ') return 0;
    memcpy(name, message, n);
    name[n] = '\0';
    const sp_op *inner = sp_op_find(name);
    return inner && !inner->python ? n + 2 : 0;
}

/* A call with a symbol among its inputs becomes a node. Rules and compositions compute with dimensions, so with unknown ones
 * the operator is recorded as it is, and has no gradient before run time. */
static sp_status apply_recorded(sp_call *c, sp_tensor *const *originals)
{
    bool known = shapes_known(c);
    if (c->op->compose && known) return run_composed(c);
    bool any = false, few[SP_IN_MAX], *tracked = few;
    if (c->n_in > SP_IN_MAX && !(tracked = sp__alloc((size_t)c->n_in * sizeof *tracked))) return SP_NOMEM;
    for (int i = 0; i < c->n_in; i++) any |= tracked[i] = sp__grad_depth > 0 && c->in[i] && c->in[i]->node;
    sp_status status;
    if (SP_HAVE_TRAINING && any && c->op->vjp && !known) {
        status = sp__fail(SP_SYMBOL, "the gradient of %s needs shapes that are known only when the function runs",
                          c->op->name);
        goto done;
    }
    SP_GOTO(done, sp__record(c, originals));
    if (!SP_HAVE_TRAINING || !any || !c->op->vjp) goto done;
    if (c->op->writes && sp__is_variable(originals[0])) status = sp__grad_record_kept(c, tracked);
    else if (c->op->writes && originals[0]->flags & SP_TENSOR_PARAMETER)
        status = record_argument(c, originals, tracked);
    else status = sp__grad_record(c, tracked);
done:
    if (tracked != few) sp__free(tracked);
    return status;
}

static sp_status apply(const sp_op *op, const void *attrs, int n_in, sp_tensor *const *inputs, int max_out,
                       sp_tensor **out, int *n_out)
{
    sp_tensor *few[SP_IN_MAX], *made[5 * SP_IN_MAX],
        **in = few, **promoted = made; /* an input is read once, cast three times, moved once at most */
    bool few_tracked[SP_IN_MAX], *tracked = few_tracked;
    union {
        char bytes[SP_ATTRS_ROOM];
        max_align_t align;
    } attrs_room;
    void *block = NULL;
    int n_made = 0;
    bool direct;
    sp_status status;
    sp_call c = {.op = op, .attrs = attrs, .n_in = n_in, .n_out = 0, .out = out};

    if (__builtin_expect(sp__used_watched(), 0)) sp__used_note(SP_USED_OPERATOR, op->name);

    SP_TRY(sp__inputs_check(op, n_in, inputs));
    if (__builtin_expect(sp__precision.half != SP_DTYPE_NONE, 0) && has_full_bias(op, n_in, inputs))
        return apply_biased(op, attrs, inputs, out, n_out);
    if (n_in > SP_IN_MAX) {
        block = sp__alloc((size_t)n_in * (6 * sizeof *in + sizeof *tracked));
        if (!block) return SP_NOMEM;
        in = block;
        promoted = in + n_in;
        tracked = (bool *)(promoted + 5 * n_in);
    }
    for (int i = 0; i < n_in; i++) in[i] = inputs[i];
    c.in = in;
    if (!attrs && op->n_attrs) c.attrs = op->defaults;
    SP_GOTO(done, sp__attrs_complete(op, &c.attrs, &attrs_room, sizeof attrs_room));
    /* A composition gets variables themselves: it may write to one (batch_norm), and its operators read them. */
    if (__builtin_expect(sp__recorder != NULL, 0) && op->writes) SP_GOTO(done, refuse_outside(op, n_in, in));
    if (__builtin_expect(sp__recorder != NULL, 0) && !op->compose)
        SP_GOTO(done, read_variables(n_in, in, promoted, &n_made));
    /* The cast itself is left alone: it is what the weights go through. */
    if (sp__precision.weights != SP_DTYPE_NONE && !op->writes && op != &sp_op_cast)
        SP_GOTO(done, cast_weights(n_in, in, promoted, &n_made));
    if (__builtin_expect(sp__precision.half != SP_DTYPE_NONE, 0))
        SP_GOTO(done, cast_listed(op, n_in, in, promoted, &n_made));
    if (op->promote != SP_PROMOTE_NONE) SP_GOTO(done, promote_inputs(op, n_in, in, promoted, &n_made));
    SP_GOTO(done, check_dtype(op, n_in, in));

    c.n_out = op->n_out > 0 ? op->n_out : op->n_out == 0 ? 1 : op->count(&c);
    if (c.n_out > max_out || c.n_out < 0) {
        int n = c.n_out;
        c.n_out = 0;
        status = sp__fail(SP_VALUE, "%d results do not fit, there is room for %d", n, max_out);
        goto done;
    }
    for (int i = 0; i < c.n_out; i++) out[i] = NULL;

    if (__builtin_expect(sp__recorder != NULL, 0) && sp__must_record(&c)) {
        status = apply_recorded(&c, inputs);
        goto done;
    }
    bool mapped = false;
    sp_device *device = NULL;
    if (__builtin_expect(lies_elsewhere(&c), 0)) {
        mapped = reads_files(&c);
        if (SP_HAVE_PLUGINS) SP_GOTO(done, sp__place_inputs(op, n_in, in, promoted, &n_made, &device));
    } else if (__builtin_expect(n_in == 0, 0)) {
        device = SP_HAVE_PLUGINS ? sp__place_now() : NULL;
    }
    if (op->compose) {
        direct = false;
        if (!device) SP_GOTO(done, has_direct(&c, &direct));
        if (mapped) SP_GOTO(done, check_files(&c));
        sp_device *before = SP_HAVE_PLUGINS && device ? sp__place_set(device) : NULL;
        status = direct ? run_fresh(&c, NULL) : run_composed(&c);
        if (SP_HAVE_PLUGINS && device) sp__place_set(before);
        if (status == SP_OK && mapped) status = check_files(&c);
        goto done;
    }
    bool any = false;
    if (SP_HAVE_TRAINING && sp__grad_depth > 0)
        for (int i = 0; i < n_in; i++) {
            if (in[i]) SP_GOTO(done, sp__grad_refresh(in[i]));
            any |= tracked[i] = in[i] && in[i]->node;
        }
    if (mapped) SP_GOTO(done, check_files(&c));
    if (SP_HAVE_PLUGINS && __builtin_expect(device != NULL, 0)) SP_GOTO(done, run_on_device(&c, device));
    else SP_GOTO(done, op->writes ? run_in_place(&c, NULL) : run_fresh(&c, NULL));
    if (mapped) SP_GOTO(done, check_files(&c));
    if (SP_HAVE_TRAINING && any && op->vjp)
        status = op->writes && sp__grad_keeps(in[0]) ? sp__grad_record_kept(&c, tracked) : sp__grad_record(&c, tracked);

done:
    for (int i = 0; i < n_made; i++) sp_tensor_release(promoted[i]);
    sp__free(block);
    if (status != SP_OK) {
        for (int i = 0; i < c.n_out; i++) sp_tensor_release(out[i]);
        /* Messages written here name the operator already; those of kernels and shape rules do not. */
        const char *message = sp_error_message();
        size_t n = strlen(op->name);
        if (strncmp(message, op->name, n) != 0) {
            sp__error_drop(inner_name(message));
            sp__error_context("%s", op->name);
        }
        return status;
    }
    *n_out = c.n_out;
    return SP_OK;
}

/* As an event of the recording, with those of the operators that it is composed of inside. */
static __attribute__((noinline)) sp_status apply_timed(const sp_op *op, const void *attrs, int n_in,
                                                       sp_tensor *const *inputs, int max_out, sp_tensor **out,
                                                       int *n_out)
{
    char text[SP_TENSOR_TEXT];
    sp_span span;
    const char *around = sp__profile_label();
    sp__profile_set_label(op->name);
    sp__profile_begin(&span);
    const sp_status status = apply(op, attrs, n_in, inputs, max_out, out, n_out);
    sp__profile_clock(&span);
    sp__profile_set_label(around);
    sp__profile_end(&span, SP_PROFILE_OPERATOR, op->name,
                    sp__tensor_text(status == SP_OK && *n_out ? out[0] : NULL, text), NULL, 0);
    return status;
}

sp_status sp_apply(const sp_op *op, const void *attrs, int n_in, sp_tensor *const *inputs, int max_out, sp_tensor **out,
                   int *n_out)
{
    SP_CHECK(op, SP_VALUE, "the operator is NULL: sp_op_find gives one, or NULL where there is none of that name");
    if (sp__profile_on() && !sp__recorder) return apply_timed(op, attrs, n_in, inputs, max_out, out, n_out);
    return apply(op, attrs, n_in, inputs, max_out, out, n_out);
}
