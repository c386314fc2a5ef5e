/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer.c - steps of optimizers: parameter and state are updated in place, in one pass over memory.
 *
 * A step is a row: which inputs are tensors as large as the parameter, which of those are written, and a body over x[0..],
 * the elements of these tensors, the written ones first, the gradient last, and s[0..], the remaining inputs: numbers, in
 * their order. All tensors have the parameter's dtype; a gradient of another dtype is converted first. Half
 * types compute in float. A body may prepare constants (`before`) from s[] in double. */
#include <tgmath.h>

#include "ops/nn.h"

enum { TENSORS_MAX = 6, NUMBERS_MAX = 8 };

SP_ATTR_TABLE(nesterov_attr_table, sp_nesterov_attrs, (BOOL, use_nesterov, False));
SP_ATTR_TABLE(momentum_attr_table, sp_momentum_update_attrs, (BOOL, use_nesterov, False), (FLOAT, gradient_scale, 1.0));
SP_ATTR_TABLE(sgd_attr_table, sp_sgd_update_attrs, (FLOAT, dampening, 0.0), (FLOAT, weight_decay, 0.0),
              (BOOL, nesterov, False));
SP_ATTR_TABLE(adagrad_attr_table, sp_adagrad_update_attrs, (FLOAT, epsilon, 0.0), (BOOL, update_slots, True));

typedef struct {
    char *p[TENSORS_MAX];
    double s[NUMBERS_MAX];
    const void *attrs;
} step_job;
typedef void (*step_fn)(void *context, int64_t begin, int64_t end);

/* --- the driver -------------------------------------------------------------------------------------------------- */

/* The results are the written inputs themselves. */
static sp_status step_infer(const sp_call *c, sp_meta *out)
{
    int k = 0;
    for (int i = 0; i < c->n_in; i++)
        if (c->op->writes >> i & 1) sp__meta_of(c->in[i], &out[k++]);
    return SP_OK;
}

static int first_written(const sp_call *c) { return __builtin_ctz(c->op->writes); }

/* Room for gradients in the parameter's dtype. */
static size_t step_workspace(const sp_call *c)
{
    const sp_tensor *param = c->in[first_written(c)];
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i]->count == param->count && c->in[i]->dtype != param->dtype && !(c->op->writes >> i & 1))
            return sp_tensor_bytes(param);
    return 0;
}

static sp_status step_run(const sp_call *c, unsigned tensors, const step_fn *fns)
{
    const sp_tensor *param = c->in[first_written(c)];
    step_job j = {.attrs = c->attrs};
    char found[SP_SHAPE_TEXT], wanted[SP_SHAPE_TEXT];
    int n_written = 0, n_numbers = 0;
    const int n_kept = __builtin_popcount(c->op->writes);
    for (int i = 0; i < c->n_in; i++) {
        const sp_tensor *t = c->in[i];
        const char *name = sp__op_inputs(c->op)->names[i];
        if (!(tensors >> i & 1)) {
            SP_CHECK(t->count == 1, SP_VALUE, "%s: %s has shape %s, it must be one number", c->op->name, name,
                     sp__shape_text(t->rank, t->dims, found));
            SP_TRY(sp_tensor_item_f64(t, &j.s[n_numbers++]));
            continue;
        }
        SP_CHECK(t->count == param->count, SP_VALUE, "%s: %s has shape %s, it must have the parameter's, %s",
                 c->op->name, name, sp__shape_text(t->rank, t->dims, found),
                 sp__shape_text(param->rank, param->dims, wanted));
        const bool written = c->op->writes >> i & 1;
        char **at = &j.p[written ? n_written++ : n_kept];
        *at = t->data;
        if (t->dtype != param->dtype) {
            SP_CHECK(!written, SP_TYPE, "%s: %s has dtype %s, it must have the parameter's, %s", c->op->name, name,
                     sp_dtype_name((sp_dtype)t->dtype), sp_dtype_name((sp_dtype)param->dtype));
            const int64_t step[2] = {(int64_t)sp_dtype_bytes((sp_dtype)param->dtype),
                                     (int64_t)sp_dtype_bytes((sp_dtype)t->dtype)};
            char *ptr[2] = {c->work, t->data};
            sp__cast_loop((sp_dtype)t->dtype, (sp_dtype)param->dtype)(t->count, ptr, step, NULL);
            *at = c->work;
        }
    }
    SP_CHECK(SP_DT_FLOATS >> param->dtype & 1, SP_TYPE, "%s: the parameter has dtype %s, it must be a float",
             c->op->name, sp_dtype_name((sp_dtype)param->dtype));
    return sp__parallel_for(param->count, 8192, fns[param->dtype], &j);
}

/* The same for plans, which run updates together with what makes the gradient: blocks of float32 operands, results first. */
static void step_block(const sp_op *op, unsigned tensors, step_fn fn, int64_t n, char *const *ptr, const void *attrs)
{
    step_job j = {.attrs = attrs};
    const int n_kept = __builtin_popcount(op->writes), n_in = sp__op_inputs(op)->n;
    int n_written = 0, n_numbers = 0;
    ptr += n_kept; /* the results are written inputs */
    for (int i = 0; i < n_in; i++) {
        if (tensors >> i & 1) j.p[op->writes >> i & 1 ? n_written++ : n_kept] = ptr[i];
        else j.s[n_numbers++] = *(const float *)(const void *)ptr[i];
    }
    fn(&j, 0, n);
}

/* Which calls step_block can do; others have checks and conversions to make. */
static sp_inner_loop step_inner(const sp_call *c, unsigned tensors, sp_loop_fn fn)
{
    const sp_inner_loop none = {.fn = NULL};
    const sp_tensor *param = c->in[first_written(c)];
    for (int i = 0; i < c->n_in; i++) {
        const sp_tensor *t = c->in[i];
        if (t->dtype != SP_DTYPE_F32) return none;
        if (!(tensors >> i & 1) ? t->count != 1
                                : !(t->flags & SP_TENSOR_CONTIGUOUS) || !sp__tensor_same_shape(t, param))
            return none;
    }
    return (sp_inner_loop){.fn = fn, .context = c->attrs, .cost = 16};
}

/* ivdep: iterations are independent even if a caller passes one tensor twice. */
#define STEP_LOOP(D, T, C, LOAD, STORE, name, n_tensors, n_written, before, body)                                      \
    static void name##_##D(void *context, int64_t begin, int64_t end)                                                  \
    {                                                                                                                  \
        typedef C real;                                                                                                \
        const step_job *j = context;                                                                                   \
        const double *s = j->s;                                                                                        \
        const void *attrs = j->attrs;                                                                                  \
        (void)s, (void)attrs;                                                                                          \
        T *p[n_tensors];                                                                                               \
        for (int k = 0; k < n_tensors; k++) p[k] = (T *)(void *)j->p[k];                                               \
        SP_UNPACK before;                                                                                              \
        _Pragma("GCC ivdep") for (int64_t i = begin; i < end; i++)                                                     \
        {                                                                                                              \
            C x[n_tensors];                                                                                            \
            for (int k = 0; k < n_tensors; k++) x[k] = LOAD(p[k][i]);                                                  \
            SP_UNPACK body;                                                                                            \
            for (int k = 0; k < n_written; k++) p[k][i] = STORE(x[k]);                                                 \
        }                                                                                                              \
    }
#define STEP(name_, inputs_, tensors_, n_tensors, writes_, n_written, attributes, before, body, samples_, ...)         \
    SP_EACH_FLOAT(STEP_LOOP, name_, n_tensors, n_written, before, body)                                                \
    static sp_status name_##_reference(const sp_call *c)                                                               \
    {                                                                                                                  \
        static const step_fn fns[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(SP_KERNEL_ROW, name_, )};                            \
        return step_run(c, tensors_, fns);                                                                             \
    }                                                                                                                  \
    static void name_##_block(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                     \
    {                                                                                                                  \
        (void)step;                                                                                                    \
        step_block(&sp_op_##name_, tensors_, name_##_F32, n, ptr, attrs);                                              \
    }                                                                                                                  \
    static sp_inner_loop name_##_inner(const sp_call *c) { return step_inner(c, tensors_, name_##_block); }            \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = inputs_,                                                                    \
                                 .n_out = n_written,                                                                   \
                                 attributes.dtypes = SP_DT_FLOATS,                                                     \
                                 .infer = step_infer,                                                                  \
                                 .reference = name_##_reference,                                                       \
                                 .loop = name_##_inner,                                                                \
                                 .workspace = step_workspace,                                                          \
                                 .writes = writes_,                                                                    \
                                 .no_vjp = "updates in place",                                                         \
                                 .samples = samples_,                                                                  \
                                 __VA_ARGS__};
#define SP_UNPACK(...) __VA_ARGS__
#define NONE
#define WITH(table, type) SP_ATTRS(table, type),
#define BIT(i) (1u << (i))
#define FLAG(type, field) (((const type *)attrs)->field)

/* --- gradient descent -------------------------------------------------------------------------------------------- */

STEP(gradient_descent_update, "var, alpha, delta", BIT(0) | BIT(2), 2, BIT(0), 1, NONE, (const real lr = (real)s[0]),
     (x[0] -= lr * x[1]), "[2,3] []>0 [2,3]", .mindir = "ApplyGradientDescent", .doc = "var -= alpha * delta.")

/* The first step (stat above zero) starts the average with the gradient itself. */
STEP(
    sgd_update, "parameters, gradient, learning_rate, accum, momentum, stat", BIT(0) | BIT(1) | BIT(3) | BIT(5), 4,
    BIT(0) | BIT(3) | BIT(5), 3, WITH(sgd_attr_table, sp_sgd_update_attrs),
    (const real lr = (real)s[0], momentum = (real)s[1], damp = (real)(1 - FLAG(sp_sgd_update_attrs, dampening)),
     decay = (real)FLAG(sp_sgd_update_attrs, weight_decay);
     const bool nesterov = FLAG(sp_sgd_update_attrs, nesterov)),
    (real g = x[3] + decay * x[0]; if (momentum > 0) {
        x[1] = x[2] > 0 ? g : x[1] * momentum + damp * g;
        x[2] = x[2] > 0 ? 0 : x[2];
        g = nesterov ? g + x[1] * momentum : x[1];
    } x[0] -= lr * g),
    "[2,3] [2,3] []>0 [2,3] [](0.1,0.9) [2,3]>0; [2,3] [2,3] []>0 [2,3] [](0.1,0.9) [2,3](0,0) nesterov=True weight_decay=0.1",
    .mindir = "SGD", .doc = "Stochastic gradient descent with momentum, dampening and weight decay.")

STEP(momentum_update, "variable, accumulation, learning_rate, gradient, momentum", BIT(0) | BIT(1) | BIT(3), 3,
     BIT(0) | BIT(1), 2, WITH(momentum_attr_table, sp_momentum_update_attrs),
     (const real lr = (real)s[0], momentum = (real)s[1], scale = (real)FLAG(sp_momentum_update_attrs, gradient_scale);
      const bool nesterov = FLAG(sp_momentum_update_attrs, use_nesterov)),
     (const real g = x[2] * scale; x[1] = x[1] * momentum + g;
      x[0] -= nesterov ? g * lr + x[1] * momentum * lr : x[1] * lr),
     "[2,3] [2,3] []>0 [2,3] [](0.1,0.9); [2,3] [2,3] []>0 [2,3] [](0.1,0.9) use_nesterov=True gradient_scale=0.5",
     .mindir = "ApplyMomentum", .doc = "Gradient descent with momentum, plain or Nesterov's.")

STEP(keras_momentum_update, "var, accum, lr, grad, momentum", BIT(0) | BIT(1) | BIT(3), 3, BIT(0) | BIT(1), 2,
     WITH(nesterov_attr_table, sp_nesterov_attrs),
     (const real lr = (real)s[0], momentum = (real)s[1]; const bool nesterov = FLAG(sp_nesterov_attrs, use_nesterov)),
     (x[1] = x[1] * momentum - lr * x[2]; x[0] += nesterov ? x[1] * momentum - lr * x[2] : x[1]),
     "[2,3] [2,3] []>0 [2,3] [](0.1,0.9)", .mindir = "ApplyKerasMomentum",
     .doc = "Momentum that averages steps instead of gradients.")

/* Inputs come as (weight_decay, loss_scale, variable, ...): the gradient is scaled and decayed on the way. */
STEP(weight_scale_momentum_update,
     "weight_decay, loss_scale, variable, accumulation, learning_rate, gradient, momentum", BIT(2) | BIT(3) | BIT(5), 3,
     BIT(2) | BIT(3), 2, NONE,
     (const real decay = (real)s[0], scale = (real)s[1], lr = (real)s[2], momentum = (real)s[3]),
     (x[1] = x[1] * momentum + (x[2] * scale + x[0] * decay); x[0] -= x[1] * lr),
     "[](0.0,0.1) []>0 [2,3] [2,3] []>0 [2,3] [](0.1,0.9)", .mindir = "FusedWeightScaleApplyMomentum",
     .doc = "Momentum whose gradient is unscaled and decayed in the same pass.")

/* --- adaptive moments -------------------------------------------------------------------------------------------- */

#define MOMENTS                                                                                                        \
    x[1] += (g - x[1]) * keep1;                                                                                        \
    x[2] += (g * g - x[2]) * keep2;
STEP(adam_update, "var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient",
     BIT(0) | BIT(1) | BIT(2) | BIT(9), 4, 7, 3, WITH(nesterov_attr_table, sp_nesterov_attrs),
     (const real lr = (real)(s[2] * sqrt(1 - s[1]) / (1 - s[0])), beta1 = (real)s[3], keep1 = (real)(1 - s[3]),
      keep2 = (real)(1 - s[4]), eps = (real)s[5];
      const bool nesterov = FLAG(sp_nesterov_attrs, use_nesterov)),
     (const real g = x[3]; MOMENTS x[0] -= lr * (nesterov ? x[1] * beta1 + keep1 * g : x[1]) / (sqrt(x[2]) + eps)),
     "[2,3] [2,3] [2,3]>0 [](0.1,0.9) [](0.1,0.9) []>0 [](0.1,0.9) [](0.1,0.9) [](0.01,0.1) [2,3]; "
     "[2,3] [2,3] [2,3]>0 [](0.1,0.9) [](0.1,0.9) []>0 [](0.1,0.9) [](0.1,0.9) [](0.01,0.1) [2,3] use_nesterov=True",
     .mindir = "Adam", .doc = "Adam: first and second moments, corrected for their start.")
STEP(adam_weight_decay_update, "var, m, v, lr, beta1, beta2, epsilon, decay, gradient",
     BIT(0) | BIT(1) | BIT(2) | BIT(8), 4, 7, 3, NONE,
     (const real lr = (real)s[0], keep1 = (real)(1 - s[1]), keep2 = (real)(1 - s[2]), eps = (real)s[3],
      decay = (real)s[4]),
     (const real g = x[3]; MOMENTS x[0] -= lr * (x[1] / (sqrt(x[2]) + eps) + decay * x[0])),
     "[2,3] [2,3] [2,3]>0 []>0 [](0.1,0.9) [](0.1,0.9) [](0.01,0.1) [](0.0,0.1) [2,3]", .mindir = "AdamWeightDecay",
     .doc = "Adam without correction, with decoupled weight decay.")
STEP(cast_adam_weight_decay_update, "var, m, v, lr, beta1, beta2, epsilon, decay, gradient, global_norm",
     BIT(0) | BIT(1) | BIT(2) | BIT(8), 4, 7, 3, NONE,
     (const real lr = (real)s[0], keep1 = (real)(1 - s[1]), keep2 = (real)(1 - s[2]), eps = (real)s[3],
      decay = (real)s[4], norm = (real)s[5]),
     (const real g = x[3] / norm; MOMENTS x[0] -= lr * (x[1] / (sqrt(x[2]) + eps) + decay * x[0])),
     "[2,3] [2,3] [2,3]>0 []>0 [](0.1,0.9) [](0.1,0.9) [](0.01,0.1) [](0.0,0.1) [2,3] []>0",
     .mindir = "FusedCastAdamWeightDecay", .doc = "adam_weight_decay_update of a gradient divided by a norm.")
STEP(amsgrad_update, "var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad",
     BIT(0) | BIT(1) | BIT(2) | BIT(3) | BIT(10), 5, 15, 4, NONE,
     (const real lr = (real)(s[2] * sqrt(1 - s[1]) / (1 - s[0])), keep1 = (real)(1 - s[3]), keep2 = (real)(1 - s[4]),
      eps = (real)s[5]),
     (const real g = x[4]; MOMENTS x[3] = x[3] > x[2] ? x[3] : x[2]; x[0] -= lr * x[1] / (sqrt(x[3]) + eps)),
     "[2,3] [2,3] [2,3]>0 [2,3]>0 [](0.1,0.9) [](0.1,0.9) []>0 [](0.1,0.9) [](0.1,0.9) [](0.01,0.1) [2,3]",
     .mindir = "ApplyAdamWithAmsgradV2", .doc = "Adam that divides by the largest second moment seen.")
STEP(adamax_update, "var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad", BIT(0) | BIT(1) | BIT(2) | BIT(8), 4, 7,
     3, NONE,
     (const real lr = (real)(s[1] / (1 - s[0])), keep1 = (real)(1 - s[2]), beta2 = (real)s[3], eps = (real)s[4]),
     (const real g = fabs(x[3]); x[1] += (x[3] - x[1]) * keep1; x[2] = x[2] * beta2 > g ? x[2] * beta2 : g;
      x[0] -= lr * x[1] / (x[2] + eps)),
     "[2,3] [2,3] [2,3]>0 [](0.1,0.9) []>0 [](0.1,0.9) [](0.1,0.9) [](0.01,0.1) [2,3]", .mindir = "ApplyAdaMax",
     .doc = "Adam with the largest gradient seen in place of the second moment.")

/* --- by squared gradients ---------------------------------------------------------------------------------------- */

STEP(rmsprop_update, "var, mean_square, moment, learning_rate, grad, decay, momentum, epsilon",
     BIT(0) | BIT(1) | BIT(2) | BIT(4), 4, 7, 3, NONE,
     (const real lr = (real)s[0], keep = (real)(1 - s[1]), momentum = (real)s[2], eps = (real)s[3]),
     (const real g = x[3]; x[1] += (g * g - x[1]) * keep; x[2] = x[2] * momentum + lr * g / sqrt(x[1] + eps);
      x[0] -= x[2]),
     "[2,3] [2,3]>0 [2,3] []>0 [2,3] [](0.1,0.9) [](0.1,0.9) [](0.01,0.1)", .mindir = "ApplyRMSProp",
     .doc = "Gradient divided by the root of its averaged square, with momentum.")
STEP(centered_rmsprop_update, "var, mean_gradient, mean_square, moment, grad, learning_rate, decay, momentum, epsilon",
     BIT(0) | BIT(1) | BIT(2) | BIT(3) | BIT(4), 5, 15, 4, NONE,
     (const real lr = (real)s[0], keep = (real)(1 - s[1]), momentum = (real)s[2], eps = (real)s[3]),
     (const real g = x[4]; x[1] += (g - x[1]) * keep; x[2] += (g * g - x[2]) * keep;
      x[3] = x[3] * momentum + lr * g / sqrt(x[2] - x[1] * x[1] + eps); x[0] -= x[3]),
     "[2,3] [2,3](0.0,0.1) [2,3]>0 [2,3] [2,3] []>0 [](0.8,0.9) [](0.1,0.9) [](0.01,0.1)",
     .mindir = "ApplyCenteredRMSProp", .doc = "rmsprop_update by the variance of the gradient instead of its square.")
STEP(adagrad_update, "var, accum, lr, grad", BIT(0) | BIT(1) | BIT(3), 3, 3, 2,
     WITH(adagrad_attr_table, sp_adagrad_update_attrs),
     (const real lr = (real)s[0], eps = (real)FLAG(sp_adagrad_update_attrs, epsilon);
      const real slots = FLAG(sp_adagrad_update_attrs, update_slots) ? 1 : 0),
     (x[1] += slots * x[2] * x[2]; x[0] -= lr * x[2] / (sqrt(x[1]) + eps)),
     "[2,3] [2,3]>0 []>0 [2,3]; [2,3] [2,3]>0 []>0 [2,3] epsilon=0.1 update_slots=False", .mindir = "ApplyAdagrad",
     .doc = "Gradient divided by the root of the sum of all squares so far.")
STEP(adadelta_update, "var, accum, accum_update, lr, rho, epsilon, grad", BIT(0) | BIT(1) | BIT(2) | BIT(6), 4, 7, 3,
     NONE, (const real lr = (real)s[0], rho = (real)s[1], keep = (real)(1 - s[1]), eps = (real)s[2]),
     (x[1] = rho * x[1] + keep * x[3] * x[3]; const real u = sqrt(x[2] + eps) / sqrt(x[1] + eps) * x[3];
      x[2] = rho * x[2] + keep * u * u; x[0] -= lr * u),
     "[2,3] [2,3]>0 [2,3]>0 []>0 [](0.1,0.9) [](0.01,0.1) [2,3]", .mindir = "ApplyAdadelta",
     .doc = "Steps as large as earlier steps were, by averaged squares of both.")
/* sign(p) max(|p| - bound, 0) */
#define SHRINK(p, bound) ((p) > (bound) ? (p) - (bound) : (p) < -(bound) ? (p) + (bound) : 0)
STEP(proximal_gradient_descent_update, "var, alpha, l1, l2, delta", BIT(0) | BIT(4), 2, 1, 1, NONE,
     (const real lr = (real)s[0], l1 = (real)(s[1] * s[0]), scale = (real)(1 / (1 + s[2] * s[0]))),
     (const real to = x[0] - lr * x[1]; x[0] = SHRINK(to, l1) * scale), "[2,3] []>0 [](0.1,0.2) [](0.1,0.2) [2,3]",
     .mindir = "ApplyProximalGradientDescent", .doc = "Gradient descent, then shrinking by l1 and l2.")
STEP(proximal_adagrad_update, "var, accum, lr, l1, l2, grad", BIT(0) | BIT(1) | BIT(5), 3, 3, 2, NONE,
     (const real lr0 = (real)s[0], l1 = (real)s[1], l2 = (real)s[2]),
     (x[1] += x[2] * x[2]; const real lr = lr0 / sqrt(x[1]); const real to = x[0] - lr * x[2];
      const real bound = l1 * lr; x[0] = SHRINK(to, bound) / (1 + l2 * lr)),
     "[2,3] [2,3]>0 []>0 [](0.1,0.2) [](0.1,0.2) [2,3]", .mindir = "ApplyProximalAdagrad",
     .doc = "adagrad_update, then shrinking by l1 and l2.")
STEP(adagrad_da_update, "var, gradient_sum, square_sum, grad, lr, l1, l2, global_step",
     BIT(0) | BIT(1) | BIT(2) | BIT(3), 4, 7, 3, NONE,
     (const real lr = (real)s[0], bound = (real)(s[1] * s[3]), floor_ = (real)(s[2] * s[3] * s[0])),
     (x[1] += x[3]; x[2] += x[3] * x[3]; x[0] = -lr * SHRINK(x[1], bound) / (floor_ + sqrt(x[2]))),
     "[2,3] [2,3] [2,3]>0 [2,3] []>0 [](0.1,0.2) [](0.1,0.2) [](1,2)", .mindir = "ApplyAdagradDA",
     .doc = "Dual averaging: the parameter follows from the sum of gradients and of their squares.")
/* l1 is added with one sign on both sides of zero, which is what MindSpore's kernel for the CPU computes. */
STEP(ftrl_update, "var, accum, linear, grad, lr, l1, l2, lr_power", BIT(0) | BIT(1) | BIT(2) | BIT(3), 4, 7, 3, NONE,
     (const real inverse = (real)(1 / s[0]), l1 = (real)s[1], l2 = (real)(2 * s[2]), power = (real)-s[3];
      const bool root = s[3] == -0.5),
     (const real sum = x[1] + x[3] * x[3]; const real to = root ? sqrt(sum) : pow(sum, power);
      const real from = root ? sqrt(x[1]) : pow(x[1], power); x[2] += x[3] - (to - from) * inverse * x[0]; x[1] = sum;
      x[0] = fabs(x[2]) > l1 ? (l1 - x[2]) / (to * inverse + l2) : 0),
     "[2,3] [2,3]>0 [2,3] [2,3] []>0 [](0.1,0.2) [](0.1,0.2) [](-0.6,-0.3)", .mindir = "ApplyFtrl",
     .doc = "Follow the regularised leader: the parameter follows from the accumulated gradients, with l1 and l2.")

/* --- by signs ---------------------------------------------------------------------------------------------------- */

#define AGREE (((x[2] > 0) - (x[2] < 0)) * ((x[1] > 0) - (x[1] < 0)))
STEP(add_sign_update, "var, m, lr, alpha, sign_decay, beta, grad", BIT(0) | BIT(1) | BIT(6), 3, 3, 2, NONE,
     (const real lr = (real)s[0], alpha = (real)s[1], decay = (real)s[2], keep = (real)(1 - s[3])),
     (x[1] += (x[2] - x[1]) * keep; x[0] -= lr * (alpha + decay * (real)AGREE) * x[2]),
     "[2,3] [2,3] []>0 []>0 [](0.1,0.9) [](0.1,0.9) [2,3]", .mindir = "ApplyAddSign",
     .doc = "Larger steps where the gradient agrees in sign with its average: a sum.")
STEP(power_sign_update, "var, m, lr, logbase, sign_decay, beta, grad", BIT(0) | BIT(1) | BIT(6), 3, 3, 2, NONE,
     (const real lr = (real)s[0], rate = (real)(s[1] * s[2]), keep = (real)(1 - s[3])),
     (x[1] += (x[2] - x[1]) * keep; x[0] -= lr * exp(rate * (real)AGREE) * x[2]),
     "[2,3] [2,3] []>0 []>0 [](0.1,0.9) [](0.1,0.9) [2,3]", .mindir = "ApplyPowerSign",
     .doc = "Larger steps where the gradient agrees in sign with its average: a power.")

/* The step grows while the gradient keeps its sign and shrinks when it changes; then the parameter rests for one turn. */
STEP(rprop_update, "var, prev, step_size, grad, etaminus, etaplus, step_min, step_max",
     BIT(0) | BIT(1) | BIT(2) | BIT(3), 4, 7, 3, NONE,
     (const real down = (real)s[0], up = (real)s[1], least = (real)s[2], most = (real)s[3]),
     (const real agree = x[3] * x[1]; const real by = agree > 0   ? up
                                                      : agree < 0 ? down
                                                                  : 1;
      const real size = x[2] * by; x[2] = size < least  ? least
                                          : size > most ? most
                                                        : size;
      x[1] = agree < 0 ? 0 : x[3]; x[0] -= x[1] > 0   ? x[2]
                                           : x[1] < 0 ? -x[2]
                                                      : 0),
     "[2,3] [2,3] [2,3]>0 [2,3] [](0.1,0.9) [](1.1,1.9) [](0.01,0.1) [](2,3)",
     .doc = "Steps by the sign of the gradient, of a size of its own for each element.")

/* --- averages of the parameter ----------------------------------------------------------------------------------- */

STEP(asgd_update, "var, ax, grad, eta, mu, lambd", BIT(0) | BIT(1) | BIT(2), 3, 3, 2, NONE,
     (const real eta = (real)s[0], mu = (real)s[1], keep = (real)(1 - s[2] * s[0])),
     (x[0] = x[0] * keep - eta * x[2]; x[1] = mu == 1 ? x[0] : x[1] + (x[0] - x[1]) * mu),
     "[2,3] [2,3] [2,3] []>0 [](0.1,0.9) [](0.01,0.1)",
     .doc = "Gradient descent with an average of the parameter beside it.")
