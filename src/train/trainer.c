/* SPDX-License-Identifier: Apache-2.0 */
/* trainer.c - a step of training as a program: the loss as its caller writes it, gradients, clipping, the update.
 *
 * What changes from step to step without the program's doing (rate, powers of beta, scale of the loss) are variables of one element, written
 * before it runs. There are two programs for each set of shapes when gradients are accumulated: one adds them up, one updates. */
#include <math.h>
#include <stdio.h>

#include "base/messages.h"
#include "base/plain.h"
#include "eager/eager.h"
#include "graph/jit.h"
#include "ops/ops_impl.h"
#include "train/weights.h"

enum { INPUTS_MAX = 16, GROWTH = 2000 }; /* steps without an overflow after which the scale of the loss is doubled */
static const double LARGEST_SCALE = 0x1p24;

struct sp_trainer {
    sp_nn *net;   /* the caller's */
    sp_nn *slots; /* what the optimizer keeps: moments, sums, and the variables of one element */
    sp_loss_fn loss;
    void *context;
    sp_trainer_options options;
    sp_jit *jit;
    float *rate, *power1, *power2, *scale; /* the variables; owned by slots */
    int64_t steps, updates, skipped, good, accumulated;
};

/* --- options ------------------------------------------------------------------------------------------------------- */

sp_trainer_options sp_trainer_defaults(sp_optimizer optimizer)
{
    const bool small =
        optimizer == SP_OPTIMIZER_ADAM || optimizer == SP_OPTIMIZER_ADAMW || optimizer == SP_OPTIMIZER_RMSPROP;
    return (sp_trainer_options){.struct_size = sizeof(sp_trainer_options),
                                .optimizer = optimizer,
                                .rate = small ? 0.001 : 0.01,
                                .momentum = optimizer == SP_OPTIMIZER_RMSPROP ? 0 : 0.9,
                                .beta1 = 0.9,
                                .beta2 = 0.999,
                                .epsilon = 1e-8,
                                .decay = 0.9,
                                .weight_decay = optimizer == SP_OPTIMIZER_ADAMW ? 0.01 : 0,
                                .precision = SP_DTYPE_F32};
}

static sp_status in_unit(const char *name, double v)
{
    SP_CHECK(v >= 0 && v < 1, SP_VALUE, "%s is %g, it must be at least 0 and below 1", name, v);
    return SP_OK;
}

static sp_status not_negative(const char *name, double v)
{
    SP_CHECK(v >= 0 && isfinite(v), SP_VALUE, "%s is %g, it must be a number of at least 0", name, v);
    return SP_OK;
}

static sp_status check_options(const sp_trainer_options *o)
{
    SP_CHECK(o && o->struct_size == sizeof *o, SP_VALUE,
             "options of a trainer begin with those of sp_trainer_defaults: struct_size is %u, it must be %zu",
             o ? o->struct_size : 0, sizeof *o);
    SP_CHECK((int)o->optimizer >= 0 && o->optimizer <= SP_OPTIMIZER_ADAGRAD, SP_VALUE,
             "there is no optimizer number %d", (int)o->optimizer);
    SP_CHECK((int)o->schedule.kind >= 0 && o->schedule.kind <= SP_SCHEDULE_OWN, SP_VALUE,
             "there is no schedule number %d", (int)o->schedule.kind);
    SP_CHECK((o->schedule.kind == SP_SCHEDULE_OWN) == (o->schedule.own != NULL), SP_VALUE,
             "a schedule of one's own has kind SP_SCHEDULE_OWN and a function, here is %s",
             o->schedule.own ? "the function alone" : "the kind alone");
    const bool timed = o->schedule.kind != SP_SCHEDULE_CONSTANT && o->schedule.kind != SP_SCHEDULE_OWN;
    SP_CHECK(!timed || o->schedule.steps, SP_VALUE, "the schedule has 0 steps, it must have 1 or more");
    SP_TRY(not_negative("rate", o->rate));
    SP_TRY(not_negative("weight_decay", o->weight_decay));
    SP_TRY(not_negative("clip_norm", o->clip_norm));
    SP_TRY(not_negative("clip_value", o->clip_value));
    SP_TRY(not_negative("epsilon", o->epsilon));
    SP_TRY(not_negative("loss_scale", o->loss_scale));
    SP_TRY(in_unit("momentum", o->momentum));
    SP_TRY(in_unit("beta1", o->beta1));
    SP_TRY(in_unit("beta2", o->beta2));
    SP_TRY(in_unit("decay", o->decay));
    SP_CHECK(o->accumulate >= 0, SP_VALUE, "accumulate is %d, it must not be negative", o->accumulate);
    SP_CHECK(o->precision == SP_DTYPE_F32 || o->precision == SP_DTYPE_BF16 || o->precision == SP_DTYPE_F16, SP_VALUE,
             "precision is %s, it must be float32, bfloat16 or float16", sp_dtype_name(o->precision));
    SP_CHECK(o->loss_scale == 0 || o->precision == SP_DTYPE_F16, SP_VALUE,
             "loss_scale is %g, but only float16 needs one: leave it 0 for %s", o->loss_scale,
             sp_dtype_name(o->precision));
    SP_CHECK(!o->nesterov || o->optimizer == SP_OPTIMIZER_MOMENTUM || o->optimizer == SP_OPTIMIZER_ADAM, SP_VALUE,
             "nesterov is a kind of Momentum and Adam, not of optimizer number %d", (int)o->optimizer);
    return SP_OK;
}

/* --- life ---------------------------------------------------------------------------------------------------------- */

static sp_status one_number(sp_builder *b, sp_nn *slots, const char *name, double value, float **out)
{
    sp_tensor *t = sp_nn_state(b, slots, name, 0, NULL, value);
    if (t) *out = sp_tensor_data(t);
    return sp_builder_status(b);
}

static sp_status make_numbers(sp_trainer *t)
{
    sp_builder *b;
    SP_TRY(sp_builder_create(&b));
    sp_status status = one_number(b, t->slots, "learning_rate", t->options.rate, &t->rate);
    if (status == SP_OK) status = one_number(b, t->slots, "beta1_power", 1, &t->power1);
    if (status == SP_OK) status = one_number(b, t->slots, "beta2_power", 1, &t->power2);
    const double scale = t->options.loss_scale > 0 ? t->options.loss_scale : 65536;
    if (status == SP_OK)
        status = one_number(b, t->slots, "loss_scale", t->options.precision == SP_DTYPE_F16 ? scale : 1, &t->scale);
    sp_builder_release(b);
    return status;
}

sp_status sp_trainer_create(sp_nn *n, sp_loss_fn loss, void *context, const sp_trainer_options *options,
                            sp_trainer **out)
{
    SP_CHECK(n && loss && out, SP_VALUE, "the net, the loss and out must not be NULL");
    SP_TRY(check_options(options));
    sp_trainer *t = sp__alloc_zero(sizeof *t);
    if (!t) return SP_NOMEM;
    *t = (sp_trainer){.net = n, .loss = loss, .context = context, .options = *options};
    if (t->options.accumulate == 0) t->options.accumulate = 1;
    sp_status status = sp_nn_create(0, &t->slots);
    if (status == SP_OK) status = sp__jit_create(&t->jit);
    if (status == SP_OK) status = make_numbers(t);
    if (status == SP_OK) *out = t;
    else sp_trainer_release(t);
    return status;
}

void sp_trainer_release(sp_trainer *t)
{
    if (!t) return;
    if (t->jit) sp__jit_free(t->jit);
    sp_nn_release(t->slots);
    sp__free(t);
}

/* --- the program --------------------------------------------------------------------------------------------------- */

/* A step while it is recorded. */
typedef struct {
    sp_trainer *t;
    sp_builder *b;
    bool update; /* else gradients are added up only */
    int n;
    sp_nn_entry **weights; /* trained, those the loss has asked for */
    sp_tensor **targets, **grads;
} step;

static sp_tensor *variable(const step *s, const char *name) { return sp_nn_find(s->t->slots, name); }
static sp_tensor *number(const step *s, double v) { return sp_scalar(s->b, SP_DTYPE_F32, v); }

/* A slot of a weight, in its shape. */
static sp_tensor *slot(const step *s, const char *what, int i, double value)
{
    char name[256];
    const sp_tensor *w = s->targets[i];
    const int n = sp__snprintf(name, sizeof name, "%s.%s", what, s->weights[i]->name);
    if (n < 0 || n >= (int)sizeof name)
        return sp__builder_fail(
            s->b, sp__fail(SP_VALUE, "weight %.40s...: its name is too long to train it", s->weights[i]->name));
    return sp_nn_state(s->b, s->t->slots, name, w->rank, w->dims, value);
}

static sp_status list_weights(step *s)
{
    const sp_nn *net = s->t->net;
    const size_t room = (size_t)(net->n ? net->n : 1);
    s->weights = sp__alloc_zero(room * sizeof *s->weights);
    s->targets = sp__alloc_zero(room * sizeof *s->targets);
    s->grads = sp__alloc_zero(room * sizeof *s->grads);
    if (!s->weights || !s->targets || !s->grads) return SP_NOMEM;
    for (int i = 0; i < net->n; i++) {
        if (!net->entries[i].watched) continue;
        s->weights[s->n] = &net->entries[i];
        s->targets[s->n++] = net->entries[i].t;
    }
    SP_CHECK(s->n, SP_VALUE, "the loss uses no weight that is trained");
    return SP_OK;
}

/* The loss has asked for a weight and then does not depend on it: which? */
static sp_status name_unused(const step *s, sp_tensor *loss, sp_status status)
{
    sp_error why;
    sp_error_capture(status, &why);
    if (sp_grad_backward_reached(1, &loss, NULL, s->n, s->targets, false, s->grads) != SP_OK)
        return sp_error_raise(&why);
    const char *unused = NULL;
    for (int i = 0; i < s->n; i++) {
        if (!s->grads[i] && !unused) unused = s->weights[i]->name;
        sp_tensor_release(s->grads[i]);
        s->grads[i] = NULL;
    }
    return unused
               ? sp__fail(
                     SP_VALUE,
                     "weight %s is trained, but the loss does not depend on it; sp_nn_set_trained(net, \"%s\", false) lets it stand still",
                     unused, unused)
               : sp_error_raise(&why);
}

static const sp_op *const low[] = {&sp_op_conv1d, &sp_op_conv2d, &sp_op_conv3d, &sp_op_matmul, &sp_op_dense};
static const sp_op *const high[] = {
    &sp_op_softmax,    &sp_op_log_softmax, &sp_op_layer_norm,    &sp_op_batch_norm, &sp_op_exp,
    &sp_op_log,        &sp_op_pow,         &sp_op_cross_entropy, &sp_op_reduce_sum, &sp_op_softmax_cross_entropy,
    &sp_op_reduce_mean};

/* The caller's function, with its products in the precision that is asked for; the result as float32. */
static sp_status call_loss(const step *s, int n_in, sp_tensor *const *in, sp_tensor **out)
{
    const sp_trainer *t = s->t;
    const sp_precision before = sp__precision;
    if (t->options.precision != SP_DTYPE_F32) {
        sp__precision = (sp_precision){.weights = SP_DTYPE_NONE,
                                       .half = t->options.precision,
                                       .low = low,
                                       .high = high,
                                       .n_low = (int)(sizeof low / sizeof *low),
                                       .n_high = (int)(sizeof high / sizeof *high)};
    }
    sp_tensor *loss = t->loss(t->context, s->b, t->net, n_in, in);
    sp__precision = before;
    SP_TRY(sp_builder_status(s->b));
    SP_CHECK(loss, SP_VALUE, "the function of the loss gave NULL, and its builder has no failure");
    SP_CHECK(loss->count == 1 && sp_dtype_kind((sp_dtype)loss->dtype) == 'f', SP_VALUE,
             "the loss is a %s of %lld elements, it must be one floating-point number: a mean over the batch",
             sp_dtype_name((sp_dtype)loss->dtype), (long long)loss->count);
    if (loss->dtype != SP_DTYPE_F32) loss = sp_cast(s->b, loss, SP_DTYPE_F32);
    *out = loss;
    return sp_builder_status(s->b);
}

static sp_status differentiate(step *s, int n_in, sp_tensor *const *in, sp_tensor **loss)
{
    sp_trainer *t = s->t;
    const bool scaled = t->options.precision == SP_DTYPE_F16;
    SP_TRY(call_loss(s, n_in, in, loss));
    SP_TRY(list_weights(s));
    sp_tensor *seed = NULL;
    if (scaled) seed = sp_reshape(s->b, variable(s, "loss_scale"), (*loss)->rank, (*loss)->dims);
    SP_TRY(sp_builder_status(s->b));
    const sp_status status = sp_grad_backward(1, loss, scaled ? &seed : NULL, s->n, s->targets, false, s->grads);
    if (status != SP_OK) return status == SP_VALUE ? name_unused(s, *loss, status) : status;
    for (int i = 0; i < s->n; i++) s->grads[i] = sp_builder_take_tensor(s->b, s->grads[i]);
    return sp_builder_status(s->b);
}

/* In the scale of the loss; summed up with those of the steps before. */
static void bring_together(const step *s)
{
    const sp_trainer_options *o = &s->t->options;
    sp_builder *b = s->b;
    sp_tensor *back = o->precision == SP_DTYPE_F16 ? sp_reciprocal(b, variable(s, "loss_scale")) : NULL;
    sp_tensor *share = o->accumulate > 1 ? number(s, 1.0 / o->accumulate) : NULL;
    for (int i = 0; i < s->n; i++) {
        if (back) s->grads[i] = sp_mul(b, s->grads[i], back);
        if (!share) continue;
        sp_tensor *sum = slot(s, "accumulated", i, 0), *part = sp_mul(b, s->grads[i], share);
        if (s->update) {
            s->grads[i] = sp_add(b, sum, part);
            sp_assign(b, sum, sp_broadcast_to(b, number(s, 0), s->targets[i]->rank, s->targets[i]->dims));
        } else {
            sp_assign_add(b, sum, part);
        }
    }
}

static void clip(const step *s)
{
    const sp_trainer_options *o = &s->t->options;
    sp_builder *b = s->b;
    for (int i = 0; o->clip_value > 0 && i < s->n; i++)
        s->grads[i] = sp_maximum(b, sp_minimum(b, s->grads[i], number(s, o->clip_value)), number(s, -o->clip_value));
    if (!(o->clip_norm > 0)) return;
    sp_tensor *half = sp_l2_loss(b, s->grads[0]), *most = number(s, o->clip_norm);
    for (int i = 1; i < s->n; i++) half = sp_add(b, half, sp_l2_loss(b, s->grads[i]));
    sp_tensor *norm = sp_sqrt(b, sp_add(b, half, half));
    sp_tensor *factor = sp_div(b, most, sp_maximum(b, norm, most));
    for (int i = 0; i < s->n; i++) s->grads[i] = sp_mul(b, s->grads[i], factor);
}

static void update_one(const step *s, int i)
{
    const sp_trainer_options *o = &s->t->options;
    sp_builder *b = s->b;
    sp_tensor *w = s->targets[i], *g = s->grads[i], *rate = variable(s, "learning_rate"), *out[3];
    const bool decays = o->weight_decay > 0 && (w->rank > 1 || !o->decay_matrices_only);
    if (decays && o->optimizer == SP_OPTIMIZER_ADAMW)
        sp_assign_sub(b, w, sp_mul(b, sp_mul(b, rate, number(s, o->weight_decay)), w));
    else if (decays) g = sp_add(b, g, sp_mul(b, w, number(s, o->weight_decay)));
    switch (o->optimizer) {
    case SP_OPTIMIZER_SGD: sp_gradient_descent_update(b, w, rate, g); break;
    case SP_OPTIMIZER_MOMENTUM:
        sp_momentum_update(b, w, slot(s, "moments", i, 0), rate, g, number(s, o->momentum),
                           &(sp_momentum_update_attrs){.use_nesterov = o->nesterov, .gradient_scale = 1}, out);
        break;
    case SP_OPTIMIZER_ADAM:
    case SP_OPTIMIZER_ADAMW:
        sp_adam_update(b, w, slot(s, "moment1", i, 0), slot(s, "moment2", i, 0), variable(s, "beta1_power"),
                       variable(s, "beta2_power"), rate, number(s, o->beta1), number(s, o->beta2),
                       number(s, o->epsilon), g, &(sp_adam_update_attrs){.use_nesterov = o->nesterov}, out);
        break;
    case SP_OPTIMIZER_RMSPROP:
        sp_rmsprop_update(b, w, slot(s, "mean_square", i, 0), slot(s, "moment", i, 0), rate, g, number(s, o->decay),
                          number(s, o->momentum), number(s, o->epsilon), out);
        break;
    case SP_OPTIMIZER_ADAGRAD: sp_adagrad_update(b, w, slot(s, "accum", i, 0.1), rate, g, NULL, out); break;
    }
}

static sp_status update_all(const step *s)
{
    for (int i = 0; i < s->n; i++) update_one(s, i);
    return sp_builder_status(s->b);
}

/* The same if all gradients are finite; *done is 1 then, else 0. */
static sp_status update_if_finite(const step *s, sp_graph *g, sp_tensor **done)
{
    sp_builder *b = s->b;
    sp_function *yes, *no;
    sp_tensor *finite = NULL;
    for (int i = 0; i < s->n; i++) {
        sp_tensor *all = sp_reduce_all(b, sp_isfinite(b, s->grads[i]), NULL);
        finite = finite ? sp_logical_and(b, finite, all) : all;
    }
    sp_tensor *one = number(s, 1), *zero = number(s, 0);
    SP_TRY(sp_builder_status(b));
    SP_TRY(sp_function_begin(g, "update", 0, NULL, &yes, NULL));
    clip(s);
    sp_status status = update_all(s);
    if (status == SP_OK) status = sp_function_end(yes, 1, &one);
    if (status != SP_OK) return status; /* the outer one is given up, and this with it */
    SP_TRY(sp_function_begin(g, "keep", 0, NULL, &no, NULL));
    SP_TRY(sp_function_end(no, 1, &zero));
    SP_TRY(sp_function_if(finite, yes, no, 0, NULL, 1, done));
    *done = sp_builder_take_tensor(b, *done);
    return sp_builder_status(b);
}

static sp_status record_body(step *s, sp_graph *g, sp_function *f, int n_in, sp_tensor *const *in)
{
    sp_nn *net = s->t->net;
    sp_tensor *results[2] = {NULL};
    const bool training = net->training;
    sp_grad_begin();
    net->watching = net->training = true;
    sp_status status = differentiate(s, n_in, in, &results[0]);
    net->watching = false;
    net->training = training;
    sp__weights_unwatch(net);
    sp_grad_end();
    if (status != SP_OK) return status;
    bring_together(s);
    results[1] = number(s, 1);
    SP_TRY(sp_builder_status(s->b));
    if (s->update && s->t->options.precision == SP_DTYPE_F16) {
        SP_TRY(update_if_finite(s, g, &results[1]));
    } else if (s->update) {
        clip(s);
        SP_TRY(update_all(s));
    }
    return sp_function_end(f, 2, results);
}

static sp_status record(const void *context, int n_in, const sp_spec *specs, sp_graph **graph, sp_function **out)
{
    step s = *(const step *)context;
    sp_graph *g = NULL;
    sp_function *f = NULL;
    sp_tensor *in[INPUTS_MAX] = {NULL};
    SP_TRY(sp_builder_create(&s.b));
    sp_status status = sp_graph_create(&g);
    if (status == SP_OK) status = sp_function_begin(g, "step", n_in, specs, &f, in);
    if (status == SP_OK) {
        status = record_body(&s, g, f, n_in, in);
        if (status != SP_OK) sp_function_abandon(f);
        for (int i = 0; i < n_in; i++) sp_tensor_release(in[i]);
    }
    sp_builder_release(s.b);
    sp__free(s.weights);
    sp__free(s.targets);
    sp__free(s.grads);
    if (status == SP_OK) *graph = g, *out = f;
    else sp_graph_release(g);
    return status;
}

/* --- steps --------------------------------------------------------------------------------------------------------- */

double sp_trainer_rate(const sp_trainer *t)
{
    return t ? sp_schedule_rate(&t->options.schedule, t->options.rate, (uint64_t)t->updates) : 0;
}
uint64_t sp_trainer_steps(const sp_trainer *t) { return t ? (uint64_t)t->steps : 0; }
uint64_t sp_trainer_skipped(const sp_trainer *t) { return t ? (uint64_t)t->skipped : 0; }
double sp_trainer_loss_scale(const sp_trainer *t) { return t ? (double)*t->scale : 0; }

static void write_numbers(sp_trainer *t)
{
    *t->rate = (float)sp_trainer_rate(t);
    *t->power1 = (float)pow(t->options.beta1, (double)t->updates + 1);
    *t->power2 = (float)pow(t->options.beta2, (double)t->updates + 1);
}

static void count_step(sp_trainer *t, bool update, bool done)
{
    t->steps++;
    t->accumulated = update ? 0 : t->accumulated + 1;
    if (!update) return;
    t->updates += done;
    t->skipped += !done;
    if (t->options.precision != SP_DTYPE_F16) return;
    t->good = done ? t->good + 1 : 0;
    if (!done && *t->scale > 1) *t->scale /= 2;
    if (t->good == GROWTH && (double)*t->scale < LARGEST_SCALE) *t->scale *= 2;
    if (t->good == GROWTH) t->good = 0;
}

static sp_status specs_of(int n_in, sp_tensor *const *in, sp_spec *specs)
{
    SP_CHECK(n_in >= 0 && n_in <= INPUTS_MAX && (!n_in || in), SP_VALUE, "a step takes 0 to %d inputs, found %d",
             INPUTS_MAX, n_in);
    for (int i = 0; i < n_in; i++) {
        SP_CHECK(in[i], SP_VALUE, "input %d of the step is NULL", i);
        SP_TRY(sp__tensor_need_value(in[i]));
        specs[i] = (sp_spec){.dtype = (sp_dtype)in[i]->dtype, .rank = in[i]->rank};
        for (int k = 0; k < in[i]->rank; k++) specs[i].dims[k] = in[i]->dims[k];
    }
    return SP_OK;
}

sp_status sp_trainer_step(sp_trainer *t, int n_in, sp_tensor *const *in, double *loss)
{
    SP_CHECK(t, SP_VALUE, "the trainer must not be NULL");
    sp_spec specs[INPUTS_MAX];
    SP_TRY(specs_of(n_in, in, specs));
    const step s = {.t = t, .update = t->accumulated + 1 >= t->options.accumulate};
    const sp_jit_call call = {.which = s.update, .n = n_in, .specs = specs, .record = record, .context = &s};
    sp_program *p;
    sp_tensor *out[2];
    double value, done;
    SP_TRY(sp__jit_program(t->jit, &call, &p));
    write_numbers(t);
    sp_status status = sp_program_run(p, n_in, in, 2, out);
    sp_program_release(p);
    if (status != SP_OK) return status;
    status = sp_tensor_item_f64(out[0], &value);
    if (status == SP_OK) status = sp_tensor_item_f64(out[1], &done);
    sp_tensor_release(out[0]);
    sp_tensor_release(out[1]);
    if (status != SP_OK) return status;
    count_step(t, s.update, done != 0);
    if (loss) *loss = value;
    return SP_OK;
}

/* --- files --------------------------------------------------------------------------------------------------------- */

/* Counters of a trainer, in a file. */
static const struct {
    const char *name;
    size_t offset;
} counters[] = {{"trainer.steps", offsetof(sp_trainer, steps)},
                {"trainer.updates", offsetof(sp_trainer, updates)},
                {"trainer.skipped", offsetof(sp_trainer, skipped)},
                {"trainer.good", offsetof(sp_trainer, good)},
                {"trainer.accumulated", offsetof(sp_trainer, accumulated)}};
enum { N_COUNTERS = sizeof counters / sizeof *counters };
static const char random_name[] = "trainer.random_state";

static sp_status add_tensor(sp_bundle *to, const char *name, sp_tensor *t)
{
    const sp_status status = sp_bundle_add(to, name, t);
    sp_tensor_release(t);
    return status;
}

static sp_status put_all(const sp_trainer *t, sp_bundle *to)
{
    sp_tensor *one;
    SP_TRY(sp__weights_put(t->net, to, "net."));
    SP_TRY(sp__weights_put(t->slots, to, "optimizer."));
    for (int i = 0; i < N_COUNTERS; i++) {
        const int64_t *value = (const int64_t *)(const void *)((const char *)t + counters[i].offset);
        SP_TRY(sp_tensor_create_i64(SP_DTYPE_I64, *value, &one));
        SP_TRY(add_tensor(to, counters[i].name, one));
    }
    SP_TRY(sp_generator_state(t->net->generator, &one));
    return add_tensor(to, random_name, one);
}

sp_status sp_trainer_save(const sp_trainer *t, const char *path, const sp_file_options *options)
{
    SP_CHECK(t && path, SP_VALUE, "the trainer and the path must not be NULL");
    sp_bundle *to;
    SP_TRY(sp_bundle_create(&to));
    sp_status status = put_all(t, to);
    if (status == SP_OK) status = sp_save(path, to, options);
    sp_bundle_release(to);
    return status;
}

static sp_status entry_of(const sp_bundle *from, const char *name, int64_t count, sp_tensor **out)
{
    const int64_t i = sp_bundle_find(from, name);
    sp_tensor *t = i < 0 ? NULL : sp_bundle_tensor_at(from, i);
    SP_CHECK(t && sp_tensor_dtype(t) == SP_DTYPE_I64 && sp_tensor_count(t) == count && sp_tensor_is_contiguous(t),
             SP_FORMAT, "it was not written by sp_trainer_save: '%s' is %s", name, t ? "something else" : "missing");
    *out = t;
    return SP_OK;
}

static sp_status take_all(sp_trainer *t, const sp_bundle *from)
{
    int64_t values[N_COUNTERS];
    sp_tensor *one, *state;
    for (int i = 0; i < N_COUNTERS; i++) {
        SP_TRY(entry_of(from, counters[i].name, 1, &one));
        values[i] = *(const int64_t *)sp_tensor_data(one);
        SP_CHECK(values[i] >= 0, SP_FORMAT, "'%s' is %lld, which no trainer writes", counters[i].name,
                 (long long)values[i]);
    }
    SP_TRY(entry_of(from, random_name, 2, &state));
    SP_TRY(sp__weights_take(t->net, from, "net.", true));
    SP_TRY(sp__weights_take(t->slots, from, "optimizer.", true));
    SP_TRY(sp__weights_take(t->net, from, "net.", false));
    SP_TRY(sp__weights_take(t->slots, from, "optimizer.", false));
    SP_TRY(sp_generator_set_state(t->net->generator, state));
    for (int i = 0; i < N_COUNTERS; i++) *(int64_t *)(void *)((char *)t + counters[i].offset) = values[i];
    return SP_OK;
}

sp_status sp_trainer_load(sp_trainer *t, const char *path, const sp_file_options *options)
{
    SP_CHECK(t && path, SP_VALUE, "the trainer and the path must not be NULL");
    sp_bundle *from;
    SP_TRY(sp_load(path, options, &from));
    const sp_status status = take_all(t, from);
    sp_bundle_release(from);
    if (status != SP_OK) sp__error_context("%s", path);
    return status;
}
