/* SPDX-License-Identifier: Apache-2.0 */
/* Training from C: layers and their weights, optimizers against their formulas, clipping, accumulation, precision, files, metrics. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spore/spore.h"

#include "base/base.h"

#define OK(expr)                                                                                                       \
    do {                                                                                                               \
        const sp_status s_ = (expr);                                                                                   \
        if (s_ != SP_OK) fail_msg("%s: %s", #expr, sp_error_message());                                                \
    } while (0)
#define NEAR(a, b, bound)                                                                                              \
    do {                                                                                                               \
        const double a_ = (a), b_ = (b);                                                                               \
        if (!(fabs(a_ - b_) <= (bound))) fail_msg("%s is %.9g, wanted %.9g", #a, a_, b_);                              \
    } while (0)

static sp_tensor *tensor(int rank, const int64_t *dims, const float *values)
{
    sp_tensor *t;
    OK(sp_tensor_create_from(SP_DTYPE_F32, rank, dims, values, &t));
    return t;
}
static float at(const sp_nn *n, const char *name, int i)
{
    sp_tensor *t = sp_nn_find(n, name);
    assert_non_null(t);
    return ((const float *)sp_tensor_data(t))[i];
}

/* --- a single weight: loss = mean(c (w - x)) and so the gradient is c, whatever w is --------------------------------- */

static sp_tensor *slope(void *context, sp_builder *b, sp_nn *n, int n_in, sp_tensor *const *in)
{
    (void)n_in;
    sp_tensor *w = sp_nn_weight(b, n, "w", 1, (const int64_t[]){2}, SP_FILL_CONSTANT, 1);
    sp_tensor *c = sp_scalar(b, SP_DTYPE_F32, *(double *)context);
    return sp_reduce_sum(b, sp_mul(b, c, sp_mul(b, w, in[0])), 0, NULL, false);
}

/* `steps` steps with gradient c * x; the weight behind them. */
static void run_slope(const sp_trainer_options *o, double c, int steps, float out[2])
{
    sp_nn *n;
    sp_trainer *t;
    sp_tensor *x = tensor(1, (const int64_t[]){2}, (const float[]){1, -3});
    OK(sp_nn_create(1, &n));
    OK(sp_trainer_create(n, slope, &c, o, &t));
    for (int i = 0; i < steps; i++) OK(sp_trainer_step(t, 1, &x, NULL));
    for (int i = 0; i < 2; i++) out[i] = at(n, "w", i);
    sp_trainer_release(t);
    sp_nn_release(n);
    sp_tensor_release(x);
}

static void optimizers_are_their_formulas(void **unused)
{
    (void)unused;
    for (int kind = 0; kind <= SP_OPTIMIZER_ADAGRAD; kind++) {
        sp_trainer_options o = sp_trainer_defaults((sp_optimizer)kind);
        o.rate = 0.1;
        if (kind == SP_OPTIMIZER_RMSPROP) o.momentum = 0.5;
        float found[2];
        run_slope(&o, 0.5, 3, found);
        for (int i = 0; i < 2; i++) {
            const double g = 0.5 * (i ? -3 : 1);
            double w = 1, m = 0, v = 0, sum = 0.1;
            for (int s = 1; s <= 3; s++) {
                switch (kind) {
                case SP_OPTIMIZER_SGD: w -= 0.1 * g; break;
                case SP_OPTIMIZER_MOMENTUM: m = 0.9 * m + g, w -= 0.1 * m; break;
                case SP_OPTIMIZER_ADAMW: w -= 0.1 * 0.01 * w; /* fall through */
                case SP_OPTIMIZER_ADAM:
                    m = 0.9 * m + 0.1 * g, v = 0.999 * v + 0.001 * g * g;
                    w -= 0.1 * sqrt(1 - pow(0.999, s)) / (1 - pow(0.9, s)) * m / (sqrt(v) + 1e-8);
                    break;
                case SP_OPTIMIZER_RMSPROP:
                    v = 0.9 * v + 0.1 * g * g, m = 0.5 * m + 0.1 * g / sqrt(v + 1e-8), w -= m;
                    break;
                case SP_OPTIMIZER_ADAGRAD: sum += g * g, w -= 0.1 * g / sqrt(sum); break;
                }
            }
            NEAR((double)found[i], w, 2e-6);
        }
    }
}

static void gradients_are_clipped_and_weights_decay(void **unused)
{
    (void)unused;
    float w[2];
    sp_trainer_options o = sp_trainer_defaults(SP_OPTIMIZER_SGD);
    o.rate = 1;
    o.clip_value = 0.25; /* (1, -3) is (0.25, -0.25) */
    run_slope(&o, 1, 1, w);
    NEAR((double)w[0], 0.75, 0);
    NEAR((double)w[1], 1.25, 0);
    o.clip_value = 0;
    o.clip_norm = 1; /* (1, -3) / sqrt(10) */
    run_slope(&o, 1, 1, w);
    NEAR((double)w[0], 1 - 1 / sqrt(10), 1e-6);
    NEAR((double)w[1], 1 + 3 / sqrt(10), 1e-6);
    run_slope(&o, 0.125, 1, w); /* short enough */
    NEAR((double)w[0], 0.875, 0);
    o.clip_norm = 0;
    o.weight_decay = 0.5;
    run_slope(&o, 0.125, 1, w);
    NEAR((double)w[0], 1 - 0.125 - 0.5, 0);
    o.decay_matrices_only = true;
    run_slope(&o, 0.125, 1, w);
    NEAR((double)w[0], 0.875, 0);
}

static double own_rate(void *context, uint64_t step) { return *(double *)context + (double)step; }

static void rates_follow_their_schedule(void **unused)
{
    (void)unused;
    double base = 5;
    const sp_schedule constant = {.kind = SP_SCHEDULE_CONSTANT, .warmup = 4},
                      linear = {.kind = SP_SCHEDULE_LINEAR, .warmup = 2, .steps = 10, .last_rate = 0.1},
                      cosine = {.kind = SP_SCHEDULE_COSINE, .steps = 10, .last_rate = 0.2},
                      stairs = {.kind = SP_SCHEDULE_STAIRS, .steps = 3, .decay = 0.5},
                      own = {.kind = SP_SCHEDULE_OWN, .own = own_rate, .context = &base};
    NEAR(sp_schedule_rate(NULL, 0.7, 3), 0.7, 0);
    NEAR(sp_schedule_rate(&constant, 1, 0), 0.25, 1e-12);
    NEAR(sp_schedule_rate(&constant, 1, 3), 1, 0);
    NEAR(sp_schedule_rate(&constant, 1, 100), 1, 0);
    NEAR(sp_schedule_rate(&linear, 1, 1), 1, 1e-12);
    NEAR(sp_schedule_rate(&linear, 1, 7), 0.55, 1e-12);
    NEAR(sp_schedule_rate(&linear, 1, 12), 0.1, 1e-12);
    NEAR(sp_schedule_rate(&linear, 1, UINT64_MAX), 0.1, 1e-12);
    NEAR(sp_schedule_rate(&cosine, 1, 0), 1, 1e-12);
    NEAR(sp_schedule_rate(&cosine, 1, 5), 0.6, 1e-12);
    NEAR(sp_schedule_rate(&cosine, 1, 10), 0.2, 1e-12);
    NEAR(sp_schedule_rate(&stairs, 1, 2), 1, 0);
    NEAR(sp_schedule_rate(&stairs, 1, 6), 0.25, 1e-12);
    NEAR(sp_schedule_rate(&own, 1, 2), 7, 0);
    float w[2];
    sp_trainer_options o = sp_trainer_defaults(SP_OPTIMIZER_SGD);
    o.rate = 1;
    o.schedule = stairs; /* three steps of 1, two of 0.5 */
    run_slope(&o, 0.25, 5, w);
    NEAR((double)w[0], 0, 1e-6);
}

/* --- a network with everything -------------------------------------------------------------------------------------- */

typedef struct {
    double dropout;
    bool norm;
} shape_of_net;

static sp_tensor *scores_of(const shape_of_net *k, sp_builder *b, sp_nn *n, sp_tensor *x)
{
    sp_conv2d_attrs padded = sp_conv2d_defaults();
    padded.pad = SP_INTS(1, 1, 1, 1);
    x = sp_nn_conv2d(b, n, "conv", x, 4, 3, 3, true, &padded);
    if (k->norm) x = sp_nn_batch_norm(b, n, "bn", x);
    x = sp_relu(b, x);
    x = sp_nn_dropout(b, n, sp_reshape(b, x, 2, (const int64_t[]){-1, 4 * 36}), k->dropout);
    return sp_nn_dense(b, n, "fc", x, 3, true);
}

static sp_tensor *net_loss(void *context, sp_builder *b, sp_nn *n, int n_in, sp_tensor *const *in)
{
    (void)n_in;
    return sp_cross_entropy(b, scores_of(context, b, n, in[0]), in[1], NULL, NULL);
}

/* Pictures of 6 x 6 whose class is where they are bright. */
static void batch_of(int n, unsigned seed, sp_tensor **x, sp_tensor **y)
{
    float *pixels = malloc((size_t)n * 36 * sizeof *pixels);
    int32_t *classes = malloc((size_t)n * sizeof *classes);
    assert_true(pixels && classes);
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        classes[i] = (int32_t)(seed >> 16) % 3;
        for (int k = 0; k < 36; k++) {
            seed = seed * 1664525u + 1013904223u;
            pixels[i * 36 + k] = (float)(seed >> 8) * 0x1p-24f + (float)(k / 12 == classes[i]);
        }
    }
    OK(sp_tensor_create_from(SP_DTYPE_F32, 4, (const int64_t[]){n, 1, 6, 6}, pixels, x));
    OK(sp_tensor_create_from(SP_DTYPE_I32, 1, (const int64_t[]){n}, classes, y));
    free(pixels);
    free(classes);
}

static double one_step(sp_trainer *t, int n, unsigned seed)
{
    sp_tensor *in[2];
    double loss;
    batch_of(n, seed, &in[0], &in[1]);
    OK(sp_trainer_step(t, 2, in, &loss));
    sp_tensor_release(in[0]);
    sp_tensor_release(in[1]);
    return loss;
}

static double accuracy(const shape_of_net *k, sp_nn *n)
{
    sp_tensor *x, *y;
    sp_builder *b;
    sp_metric *m;
    double value;
    batch_of(50, 99, &x, &y);
    OK(sp_builder_create(&b));
    OK(sp_metric_create(SP_METRIC_ACCURACY, 0, &m));
    sp_nn_set_training(n, false);
    sp_tensor *scores = scores_of(k, b, n, x);
    OK(sp_builder_status(b));
    OK(sp_metric_update(m, scores, y));
    OK(sp_metric_value(m, &value));
    sp_nn_set_training(n, true);
    sp_metric_release(m);
    sp_builder_release(b);
    sp_tensor_release(x);
    sp_tensor_release(y);
    return value;
}

static void networks_learn_in_every_precision(void **unused)
{
    (void)unused;
    const sp_dtype precisions[] = {SP_DTYPE_F32, SP_DTYPE_BF16, SP_DTYPE_F16};
    shape_of_net k = {0.25, true};
    for (int i = 0; i < 3; i++) {
        sp_nn *n;
        sp_trainer *t;
        sp_trainer_options o = sp_trainer_defaults(SP_OPTIMIZER_ADAM);
        o.rate = 0.01;
        o.clip_norm = 5;
        o.precision = precisions[i];
        OK(sp_nn_create(3, &n));
        OK(sp_trainer_create(n, net_loss, &k, &o, &t));
        const double first = one_step(t, 24, 1);
        double last = 0;
        for (int s = 2; s < 60; s++) last = one_step(t, s % 7 == 0 ? 10 : 24, (unsigned)s); /* batches of two sizes */
        assert_true(last < 0.5 * first);
        assert_true(accuracy(&k, n) > 0.9);
        assert_int_equal(sp_trainer_steps(t), 59);
        assert_int_equal(sp_nn_count(n), 8);
        assert_string_equal(sp_nn_name_at(n, 0), "conv.weight");
        assert_true(sp_nn_is_trained_at(n, 0));
        for (int w = 0; w < 8; w++) /* weights stay float32, averages are not trained */
            assert_true(sp_tensor_dtype(sp_nn_tensor_at(n, w)) == SP_DTYPE_F32 &&
                        sp_nn_is_trained_at(n, w) == !strstr(sp_nn_name_at(n, w), "moving"));
        assert_true((double)at(n, "bn.moving_mean", 0) != 0);
        sp_trainer_release(t);
        sp_nn_release(n);
    }
}

static void accumulated_steps_are_one_of_all_rows(void **unused)
{
    (void)unused;
    shape_of_net k = {0, false};
    sp_nn *n[2];
    for (int i = 0; i < 2; i++) {
        sp_trainer *t;
        sp_trainer_options o = sp_trainer_defaults(SP_OPTIMIZER_MOMENTUM);
        o.accumulate = i ? 3 : 0;
        OK(sp_nn_create(3, &n[i]));
        OK(sp_trainer_create(n[i], net_loss, &k, &o, &t));
        for (int s = 0; s < 4; s++) {
            if (i) { /* the same rows in three parts */
                sp_tensor *x, *y, *part[2];
                batch_of(12, (unsigned)s, &x, &y);
                for (int p = 0; p < 3; p++) {
                    const int64_t dims[4] = {4, 1, 6, 6};
                    OK(sp_tensor_view(x, 4, dims, sp_tensor_strides(x), (int64_t)p * 4 * 36, &part[0]));
                    OK(sp_tensor_view(y, 1, dims, sp_tensor_strides(y), (int64_t)p * 4, &part[1]));
                    OK(sp_trainer_step(t, 2, part, NULL));
                    sp_tensor_release(part[0]);
                    sp_tensor_release(part[1]);
                }
                sp_tensor_release(x);
                sp_tensor_release(y);
            } else {
                one_step(t, 12, (unsigned)s);
            }
        }
        sp_trainer_release(t);
    }
    for (int w = 0; w < sp_nn_count(n[0]); w++)
        for (int i = 0; i < 3; i++)
            NEAR((double)at(n[1], sp_nn_name_at(n[0], w), i), (double)at(n[0], sp_nn_name_at(n[0], w), i), 2e-6);
    sp_nn_release(n[0]);
    sp_nn_release(n[1]);
}

static sp_tensor *overflowing(void *context, sp_builder *b, sp_nn *n, int n_in, sp_tensor *const *in)
{
    (void)context, (void)n_in;
    sp_tensor *y = sp_nn_dense(b, n, "fc", in[0], 2, false);
    return sp_reduce_sum(b, sp_cast(b, y, SP_DTYPE_F32), 0, NULL, false);
}

static void overflows_are_skipped_and_the_scale_follows(void **unused)
{
    (void)unused;
    sp_nn *n;
    sp_trainer *t;
    sp_trainer_options o = sp_trainer_defaults(SP_OPTIMIZER_SGD);
    o.precision = SP_DTYPE_F16;
    OK(sp_nn_create(3, &n));
    OK(sp_trainer_create(n, overflowing, NULL, &o, &t));
    sp_tensor *x = tensor(2, (const int64_t[]){1, 2}, (const float[]){2, 4}); /* 4 * 65536 is beyond float16 */
    OK(sp_trainer_step(t, 1, &x, NULL));
    const float before = at(n, "fc.weight", 0);
    NEAR(sp_trainer_loss_scale(t), 32768, 0);
    assert_int_equal(sp_trainer_skipped(t), 1);
    for (int i = 0; i < 6; i++) OK(sp_trainer_step(t, 1, &x, NULL));
    assert_true(sp_trainer_loss_scale(t) < 32768);
    assert_true(sp_trainer_skipped(t) < 6);
    const double taken = (double)(sp_trainer_steps(t) - sp_trainer_skipped(t));
    NEAR((double)at(n, "fc.weight", 0), (double)before - 0.01 * 2 * taken, 1e-5);
    assert_true(isfinite(at(n, "fc.weight", 3)));
    sp_tensor_release(x);
    sp_trainer_release(t);
    sp_nn_release(n);
}

static void training_goes_on_bit_for_bit(void **unused)
{
    (void)unused;
    char path[] = "/tmp/test_train_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    shape_of_net k = {0.5, true};
    double losses[2][4];
    sp_nn *n[2];
    const sp_file_options ckpt = {.format = "ckpt"};
    for (int i = 0; i < 2; i++) {
        sp_trainer *t;
        sp_trainer_options o = sp_trainer_defaults(SP_OPTIMIZER_ADAM);
        o.schedule = (sp_schedule){.kind = SP_SCHEDULE_COSINE, .steps = 8};
        o.accumulate = 2;
        OK(sp_nn_create(i ? 77 : 3, &n[i])); /* the file decides, not the seed */
        OK(sp_trainer_create(n[i], net_loss, &k, &o, &t));
        if (i == 0) {
            for (int s = 0; s < 5; s++) one_step(t, 8, (unsigned)s);
            OK(sp_trainer_save(t, path, &ckpt));
        } else {
            OK(sp_trainer_load(t, path, NULL));
            assert_int_equal(sp_trainer_steps(t), 5);
        }
        for (int s = 0; s < 4; s++) losses[i][s] = one_step(t, 8, (unsigned)(10 + s));
        OK(sp_nn_check_loaded(n[i]));
        sp_trainer_release(t);
    }
    assert_memory_equal(losses[0], losses[1], sizeof losses[0]);
    for (int w = 0; w < sp_nn_count(n[0]); w++) {
        const sp_tensor *a = sp_nn_tensor_at(n[0], w), *c = sp_nn_find(n[1], sp_nn_name_at(n[0], w));
        assert_memory_equal(sp_tensor_data(a), sp_tensor_data(c), sp_tensor_bytes(a));
    }
    sp_trainer *t;
    sp_trainer_options o = sp_trainer_defaults(SP_OPTIMIZER_ADAM);
    OK(sp_trainer_create(n[0], net_loss, &k, &o, &t));
    OK(sp_nn_save(n[0], path, &ckpt));
    assert_int_equal(sp_trainer_load(t, path, NULL), SP_FORMAT); /* weights alone */
    assert_non_null(strstr(sp_error_message(), "not written by sp_trainer_save: 'trainer.steps' is missing"));
    sp_trainer_release(t);
    remove(path);
    sp_nn_release(n[0]);
    sp_nn_release(n[1]);
}

/* --- weights and files ---------------------------------------------------------------------------------------------- */

static void weights_are_made_loaded_and_told_apart(void **unused)
{
    (void)unused;
    char path[] = "/tmp/test_train_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    const sp_file_options ckpt = {.format = "ckpt"};
    sp_nn *a, *c, *d;
    sp_builder *b;
    sp_tensor *x = tensor(2, (const int64_t[]){2, 3}, (const float[]){1, 2, 3, 4, 5, 6});
    OK(sp_builder_create(&b));
    OK(sp_nn_create(5, &a));
    OK(sp_nn_create(5, &c));
    OK(sp_nn_create(6, &d));
    assert_int_equal(sp_nn_save(a, path, &ckpt), SP_VALUE); /* nothing there */
    sp_nn_dense(b, a, "one", x, 4, true);
    sp_nn_dense(b, a, "two", x, 4, true);
    sp_nn_dense(b, c, "two", x, 4, true); /* another order, the same weights */
    sp_nn_dense(b, c, "one", x, 4, true);
    sp_nn_dense(b, d, "one", x, 4, true);
    OK(sp_builder_status(b));
    assert_true(at(a, "one.weight", 5) == at(c, "one.weight", 5) && at(a, "two.bias", 1) == at(c, "two.bias", 1));
    assert_true(at(a, "one.weight", 5) != at(a, "two.weight", 5) && at(a, "one.weight", 5) != at(d, "one.weight", 5));
    const double bound = 1 / sqrt(3);
    for (int i = 0; i < 12; i++) assert_true(fabs((double)at(a, "one.weight", i)) <= bound);

    OK(sp_nn_save(a, path, &ckpt));
    OK(sp_nn_load(d, path, NULL)); /* `one` is there, `two` waits */
    assert_true(at(d, "one.weight", 5) == at(a, "one.weight", 5));
    assert_int_equal(sp_nn_check_loaded(d), SP_KEY);
    assert_non_null(
        strstr(sp_error_message(), "2 weights were loaded that no layer has asked for: two.weight, two.bias"));
    assert_null(sp_nn_dense(b, d, "two", x, 5, true));
    assert_string_equal(sp_error_message(), "weight two.weight is float32 (4, 3), but its layer wants float32 (5, 3)");
    sp_builder_reset(b);
    assert_non_null(sp_nn_dense(b, d, "two", x, 4, true));
    OK(sp_nn_check_loaded(d));
    sp_nn_dense(b, d, "three", x, 4, true);
    assert_int_equal(sp_nn_load(d, path, NULL), SP_KEY);
    assert_non_null(strstr(sp_error_message(), "it has no 'three.weight', which the net has"));

    assert_null(sp_nn_dense(b, d, "none", NULL, 4, true));
    assert_string_equal(sp_error_message(), "layer none has no input");
    sp_builder_reset(b);
    assert_null(sp_nn_conv2d(b, d, "c", x, 4, 3, 3, false, NULL));
    assert_string_equal(sp_error_message(), "layer c: the input has shape (2, 3), it must have 4 dimensions");
    sp_builder_reset(b);
    assert_null(sp_nn_dense(b, d, NULL, x, 4, true));
    assert_non_null(strstr(sp_error_message(), "a layer must have a name"));
    sp_builder_reset(b);
    assert_null(sp_nn_dropout(b, d, x, 1.5));
    assert_non_null(strstr(sp_error_message(), "p is 1.5"));
    sp_builder_release(b);
    sp_tensor_release(x);
    sp_nn_release(a);
    sp_nn_release(c);
    sp_nn_release(d);
    remove(path);
}

static sp_tensor *with_unused(void *context, sp_builder *b, sp_nn *n, int n_in, sp_tensor *const *in)
{
    (void)context, (void)n_in;
    sp_nn_dense(b, n, "aside", in[0], 4, false);
    return sp_reduce_sum(b, sp_nn_dense(b, n, "fc", in[0], 1, true), 0, NULL, false);
}
static sp_tensor *of_no_weight(void *context, sp_builder *b, sp_nn *n, int n_in, sp_tensor *const *in)
{
    (void)context, (void)n_in, (void)n;
    return sp_reduce_sum(b, in[0], 0, NULL, false);
}
static sp_tensor *of_many(void *context, sp_builder *b, sp_nn *n, int n_in, sp_tensor *const *in)
{
    (void)context, (void)n_in;
    return sp_nn_dense(b, n, "fc", in[0], 1, true);
}
static sp_tensor *failing(void *context, sp_builder *b, sp_nn *n, int n_in, sp_tensor *const *in)
{
    (void)context, (void)n_in, (void)n;
    return sp_matmul(b, in[0], in[0], false, false);
}

static void mistakes_are_told(void **unused)
{
    (void)unused;
    sp_nn *n;
    sp_trainer *t;
    sp_tensor *x = tensor(2, (const int64_t[]){2, 3}, (const float[]){1, 2, 3, 4, 5, 6});
    sp_trainer_options o = sp_trainer_defaults(SP_OPTIMIZER_SGD);
    const struct {
        sp_loss_fn loss;
        const char *text;
    } wrong[] = {{with_unused, "weight aside.weight is trained, but the loss does not depend on it"},
                 {of_no_weight, "the loss uses no weight that is trained"},
                 {of_many, "the loss is a float32 of 2 elements"},
                 {failing, "matmul"}};
    for (int i = 0; i < 4; i++) {
        OK(sp_nn_create(1, &n));
        OK(sp_trainer_create(n, wrong[i].loss, NULL, &o, &t));
        for (int again = 0; again < 2; again++) {
            assert_true(sp_trainer_step(t, 1, &x, NULL) != SP_OK);
            if (!strstr(sp_error_message(), wrong[i].text)) fail_msg("%s: %s", wrong[i].text, sp_error_message());
            assert_null(sp_function_recording());
        }
        if (i == 0) { /* and mended */
            const float before = at(n, "fc.weight", 0);
            assert_int_equal(sp_nn_set_trained(n, "asides", false), SP_KEY);
            OK(sp_nn_set_trained(n, "aside", false));
            OK(sp_trainer_step(t, 1, &x, NULL));
            assert_true(at(n, "fc.weight", 0) != before);
        }
        assert_int_equal(sp_trainer_step(t, 1, (sp_tensor *[]){NULL}, NULL), SP_VALUE);
        assert_int_equal(sp_trainer_step(t, 17, (sp_tensor *[17]){x}, NULL), SP_VALUE);
        sp_trainer_release(t);
        sp_nn_release(n);
    }
#define WRONG(text, ...)                                                                                               \
    do {                                                                                                               \
        sp_trainer_options w = sp_trainer_defaults(SP_OPTIMIZER_SGD);                                                  \
        __VA_ARGS__;                                                                                                   \
        assert_int_equal(sp_trainer_create(n, slope, NULL, &w, &t), SP_VALUE);                                         \
        if (!strstr(sp_error_message(), text)) fail_msg("%s: %s", text, sp_error_message());                           \
    } while (0)
    OK(sp_nn_create(1, &n));
    WRONG("struct_size is 0", w.struct_size = 0);
    WRONG("no optimizer number 9", w.optimizer = (sp_optimizer)9);
    WRONG("the schedule has 0 steps", w.schedule.kind = SP_SCHEDULE_COSINE);
    WRONG("here is the kind alone", w.schedule.kind = SP_SCHEDULE_OWN);
    WRONG("here is the function alone", w.schedule.own = own_rate);
    WRONG("rate is -1", w.rate = -1);
    WRONG("rate is nan", w.rate = (double)NAN);
    WRONG("beta1 is 1", w.beta1 = 1);
    WRONG("clip_norm is inf", w.clip_norm = (double)INFINITY);
    WRONG("precision is int8", w.precision = SP_DTYPE_I8);
    WRONG("only float16 needs one", w.loss_scale = 8);
    WRONG("nesterov is a kind of", w.nesterov = true);
    WRONG("accumulate is -1", w.accumulate = -1);
#undef WRONG
    sp_nn_release(n);
    sp_tensor_release(x);
}

/* --- sequences: each kind of layer learns to tell the first word --------------------------------------------------- */

static sp_tensor *sequence_loss(void *context, sp_builder *b, sp_nn *n, int n_in, sp_tensor *const *in)
{
    (void)n_in;
    const char *kind = context;
    sp_tensor *x = sp_nn_embedding(b, n, "words", in[0], 6, 8); /* [batch, time, 8] */
    if (strcmp(kind, "attention") == 0) {
        x = sp_nn_layer_norm(b, n, "norm", sp_add(b, x, sp_nn_attention(b, n, "att", x, 2, false)));
        x = sp_nn_layer_norm(b, n, "norm2", sp_nn_dense(b, n, "wide", x, 8, true));
        x = sp_reduce_mean(b, x, 1, (const int64_t[]){1}, false);
    } else {
        x = sp_nn_recurrent(b, n, kind, kind, sp_transpose(b, x, 3, (const int64_t[]){1, 0, 2}), 8);
        x = sp_reduce_mean(b, x, 1, (const int64_t[]){0}, false);
    }
    return sp_cross_entropy(b, sp_nn_dense(b, n, "fc", x, 2, true), in[1], NULL, NULL);
}

static void sequences_are_learned(void **unused)
{
    (void)unused;
    const char *kinds[] = {"lstm", "gru", "rnn_tanh", "rnn_relu", "attention"};
    for (int k = 0; k < 5; k++) {
        sp_nn *n;
        sp_trainer *t;
        sp_trainer_options o = sp_trainer_defaults(SP_OPTIMIZER_ADAMW);
        o.rate = 0.02;
        char kind[16];
        strcpy(kind, kinds[k]);
        OK(sp_nn_create(2, &n));
        OK(sp_trainer_create(n, sequence_loss, kind, &o, &t));
        int32_t words[32], classes[8];
        for (int i = 0; i < 32; i++) words[i] = (i * 7 + i / 4) % 4 + 2;
        for (int i = 0; i < 8; i++) classes[i] = i % 2, words[4 * i] = i % 2;
        sp_tensor *in[2];
        OK(sp_tensor_create_from(SP_DTYPE_I32, 2, (const int64_t[]){8, 4}, words, &in[0]));
        OK(sp_tensor_create_from(SP_DTYPE_I32, 1, (const int64_t[]){8}, classes, &in[1]));
        double first, last;
        OK(sp_trainer_step(t, 2, in, &first));
        for (int i = 0; i < 60; i++) OK(sp_trainer_step(t, 2, in, &last));
        if (!(last < 0.3 * first)) fail_msg("%s: %g, then %g", kind, first, last);
        sp_tensor_release(in[0]);
        sp_tensor_release(in[1]);
        sp_trainer_release(t);
        sp_nn_release(n);
    }
}

/* --- metrics -------------------------------------------------------------------------------------------------------- */

static double value_of(sp_metric_kind kind, int k, sp_tensor *guess, sp_tensor *truth)
{
    sp_metric *m;
    double v;
    OK(sp_metric_create(kind, k, &m));
    assert_int_equal(sp_metric_value(m, &v), SP_VALUE);
    OK(sp_metric_update(m, guess, truth));
    OK(sp_metric_update(m, guess, truth)); /* the same once more changes no mean */
    OK(sp_metric_value(m, &v));
    sp_metric_release(m);
    return v;
}

static void metrics_are_their_definitions(void **unused)
{
    (void)unused;
    const float scores[12] = {9, 1, 2, 1, 5, 3, 2, 2, 2, 0, 4, 1};
    const int32_t classes[4] = {0, 2, 2, 1};
    sp_tensor *s = tensor(2, (const int64_t[]){4, 3}, scores), *c, *p = tensor(1, (const int64_t[]){2}, scores),
              *q = tensor(1, (const int64_t[]){2}, &scores[4]), *matrix, *wrong;
    OK(sp_tensor_create_from(SP_DTYPE_I32, 1, (const int64_t[]){4}, classes, &c));
    /* guesses are 0, 1, 0, 1 */
    NEAR(value_of(SP_METRIC_ACCURACY, 0, s, c), 0.5, 0);
    NEAR(value_of(SP_METRIC_TOP_K, 1, s, c), 0.5, 0);
    NEAR(value_of(SP_METRIC_TOP_K, 2, s, c), 0.75, 0); /* of equal scores the first are better */
    NEAR(value_of(SP_METRIC_TOP_K, 3, s, c), 1, 0);
    NEAR(value_of(SP_METRIC_PRECISION, 0, s, c), (0.5 + 0.5 + 0) / 3, 1e-12);
    NEAR(value_of(SP_METRIC_RECALL, 0, s, c), (1.0 + 1 + 0) / 3, 1e-12);
    NEAR(value_of(SP_METRIC_F1, 0, s, c), (2.0 / 3 + 2.0 / 3 + 0) / 3, 1e-12);
    NEAR(value_of(SP_METRIC_MAE, 0, p, q), (4.0 + 2) / 2, 1e-12);
    NEAR(value_of(SP_METRIC_MSE, 0, p, q), (16.0 + 4) / 2, 1e-12);
    NEAR(value_of(SP_METRIC_RMSE, 0, p, q), sqrt(10), 1e-12);
    sp_metric *m;
    assert_int_equal(sp_metric_create((sp_metric_kind)8, 0, &m), SP_VALUE);
    assert_int_equal(sp_metric_create(SP_METRIC_TOP_K, 0, &m), SP_VALUE);
    OK(sp_metric_create(SP_METRIC_F1, 0, &m));
    OK(sp_metric_update(m, c, c));
    OK(sp_metric_confusion(m, &matrix));
    assert_int_equal(((const int64_t *)sp_tensor_data(matrix))[8], 2);
    sp_tensor_release(matrix);
    assert_int_equal(sp_metric_update(m, p, c), SP_VALUE);
    OK(sp_tensor_create_from(SP_DTYPE_I32, 1, (const int64_t[]){4}, (const int32_t[]){0, 1, -1, 2}, &wrong));
    assert_int_equal(sp_metric_update(m, s, wrong), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "class -1 is counted"));
    sp_metric_clear(m);
    sp_metric_release(m);
    sp_tensor_release(wrong);
    sp_tensor_release(s);
    sp_tensor_release(c);
    sp_tensor_release(p);
    sp_tensor_release(q);
}

static void short_of_memory_weights_stay(void **unused)
{
    (void)unused;
    shape_of_net k = {0.25, true};
    sp_nn *n;
    sp_trainer *t;
    sp_trainer_options o = sp_trainer_defaults(SP_OPTIMIZER_ADAM);
    sp_tensor *in[2];
    batch_of(4, 1, &in[0], &in[1]);
    sp_status status = SP_NOMEM;
    for (int64_t i = 1; status != SP_OK; i += i < 60 ? 1 : 23) {
        OK(sp_nn_create(3, &n));
        OK(sp_trainer_create(n, net_loss, &k, &o, &t));
        sp__alloc_fail_at(i);
        status = sp_trainer_step(t, 2, in, NULL);
        sp__alloc_fail_at(0);
        assert_true(status == SP_OK || status == SP_NOMEM);
        assert_null(sp_function_recording());
        if (status != SP_OK) assert_int_equal(sp_trainer_steps(t), 0);
        OK(sp_trainer_step(t, 2, in, NULL)); /* memory is back */
        assert_true(i < 100000);
        sp_trainer_release(t);
        sp_nn_release(n);
    }
    sp_tensor_release(in[0]);
    sp_tensor_release(in[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimizers_are_their_formulas),
        cmocka_unit_test(gradients_are_clipped_and_weights_decay),
        cmocka_unit_test(rates_follow_their_schedule),
        cmocka_unit_test(networks_learn_in_every_precision),
        cmocka_unit_test(accumulated_steps_are_one_of_all_rows),
        cmocka_unit_test(overflows_are_skipped_and_the_scale_follows),
        cmocka_unit_test(training_goes_on_bit_for_bit),
        cmocka_unit_test(weights_are_made_loaded_and_told_apart),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(sequences_are_learned),
        cmocka_unit_test(metrics_are_their_definitions),
        cmocka_unit_test(short_of_memory_weights_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
