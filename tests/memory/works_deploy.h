/* SPDX-License-Identifier: Apache-2.0 */
/* works_deploy.h - kinds of work for works.h, which includes it: models made smaller, written as C or for MindSpore Lite, trained there; traces; devices. */
#ifndef SPORE_TEST_WORKS_DEPLOY_H
#define SPORE_TEST_WORKS_DEPLOY_H

#include "spore/codegen.h"
#include "spore/device.h"
#include "spore/lite.h"
#include "spore/profile.h"
#include "spore/quantize.h"

static sp_status calibration_sample(void *model, int64_t i, sp_tensor **in, sp_tensor **label, bool *done)
{
    *done = i >= 2;
    if (label) *label = NULL;
    return *done ? SP_OK : model_inputs(model, sp_model_inputs(model), 2, in);
}

static sp_status quantize(const char *path, const sp_quant_options *options, const char *to, uint64_t *digest)
{
    sp_model *m = NULL;
    sp_quantized *q = NULL;
    char *report = NULL;
    const char *made = in_scratch(to);
    sp_status status = sp_model_load(path, NULL, &m);
    const sp_quant_data data = {.sample = calibration_sample, .context = m};
    if (status == SP_OK) status = sp_model_quantize(m, &data, options, &q);
    if (status == SP_OK) status = sp_quantized_save(q, made, 0, NULL);
    if (status == SP_OK) status = sp_quantized_report(q, true, &report);
    if (status == SP_OK) add_bytes(digest, report, strlen(report));
    if (status == SP_OK) add_file(digest, made);
    sp_text_free(report);
    sp_quantized_release(q);
    sp_model_release(m);
    return status;
}

static sp_status quantize_static(uint64_t *d)
{
    const sp_quant_options o = {
        .struct_size = sizeof o, .method = "entropy", .equalize = true, .target = "cosine>=0.5"};
    return quantize(FORMATS "onnx/mlp.onnx", &o, "q.onnx", d);
}

static sp_status quantize_weights(uint64_t *d)
{
    const sp_quant_options o = {.struct_size = sizeof o, .kind = "weights", .weight_bits = 4};
    return quantize(FORMATS "onnx/mlp.onnx", &o, "q.mindir", d);
}

static sp_status write_c(const char *folder, const sp_codegen_options *options, uint64_t *digest)
{
    sp_model *m = NULL;
    char *report = NULL, path[256];
    const char *made = in_scratch(folder);
    sp_status status = sp_model_load(FORMATS "onnx/mlp.onnx", NULL, &m);
    if (status == SP_OK) status = sp_codegen_write(1, &m, NULL, made, options, &report);
    if (status == SP_OK) {
        snprintf(path, sizeof path, "%s/model.c", made);
        add_file(digest, path);
        add_bytes(digest, report, strlen(report));
    }
    sp_text_free(report);
    sp_model_release(m);
    return status;
}
static sp_status codegen(uint64_t *d) { return write_c("c", NULL, d); }
static sp_status codegen_train(uint64_t *d)
{
    const sp_codegen_options o = {.struct_size = sizeof o,
                                  .target = "cortex-m4",
                                  .n_train = 1,
                                  .train = (const char *const[]){""},
                                  .optimizer = "adam",
                                  .loss = "mse"};
    return write_c("t", &o, d);
}

static sp_status lite_write(uint64_t *d) { return convert_file(FORMATS "onnx/mlp.onnx", "a.ms", d); }

/* A step of training on the device, what it predicts then, and the file to go on with. */
static sp_status lite_step(uint64_t *digest)
{
    sp_model *m = NULL, *predict = NULL;
    const char *made = in_scratch("t.ms");
    sp_status status = sp_model_load("tests/lite/data/conv_train_model.ms", NULL, &m);
    if (status == SP_OK) status = sp_lite_set_learning_rate(m, 0.0625f);
    if (status == SP_OK) status = run_model(m, digest);
    if (status == SP_OK) status = sp_lite_save(m, made, NULL);
    if (status == SP_OK) add_file(digest, made);
    if (status == SP_OK) status = sp_lite_evaluation(m, 0, NULL, &predict);
    if (status == SP_OK) status = run_model(predict, digest);
    sp_model_release(predict);
    sp_model_release(m);
    return status;
}

static bool count_nodes(void *context, bool after, const char *name, const char *type, int n_in, sp_tensor *const *in,
                        int n_out, sp_tensor *const *out)
{
    (void)name, (void)type, (void)n_in, (void)in;
    for (int i = 0; after && i < n_out; i++) add_tensor(context, out[i]);
    return true;
}

static sp_status lite_watched(uint64_t *digest)
{
    sp_model *m = NULL;
    sp_tensor *in[8] = {0}, *out[8] = {0};
    uint64_t seen = 0;
    sp_status status = sp_model_load("tests/lite/data/small/chain.ms", NULL, &m);
    if (status == SP_OK) status = model_inputs(m, sp_model_inputs(m), 2, in);
    if (status == SP_OK)
        status = sp_lite_run_watched(m, sp_model_inputs(m), in, sp_model_outputs(m), out, count_nodes, &seen);
    if (status == SP_OK) add_bytes(digest, &seen, sizeof seen);
    for (int i = 0; i < 8; i++) sp_tensor_release(in[i]), sp_tensor_release(out[i]);
    sp_model_release(m);
    return status;
}

/* A trace. Events that there is no memory for are counted as dropped: that is no failure of the work, whose results are looked at. */
static sp_status profile(uint64_t *digest)
{
    char *table = NULL;
    sp_profile_row rows[8];
    int n = 0;
    sp_status status = sp_profile_start(1000);
    if (status != SP_OK) return status;
    sp_profile_here("train.py", 7);
    sp_profile_add("step", "first", sp_profile_now(), sp_profile_now());
    status = train(digest, true);
    sp_profile_here(NULL, 0);
    sp_profile_stop();
    if (status == SP_OK) status = sp_profile_write(in_scratch("trace.json"));
    if (status == SP_OK) status = sp_profile_rows(SP_PROFILE_BY_LINE, 8, rows, &n);
    if (status == SP_OK) status = sp_profile_table(5, &table);
    sp_text_free(table);
    return status;
}

/* The device that computes nothing: what goes there, its operators, its gradients. */
static sp_status device(uint64_t *digest)
{
    sp_device *null = NULL;
    sp_tensor *x = NULL, *there = NULL, *back = NULL, *y = NULL, *grad = NULL;
    sp_builder *b = NULL;
    sp_status status = sp_device_open("null", &null);
    if (status == SP_OK) status = sp_builder_create(&b);
    if (status == SP_OK) status = numbers(SP_DTYPE_F32, 2, (const int64_t[]){8, 8}, &x);
    if (status == SP_OK) status = sp_grad_watch(x);
    const bool watched = status == SP_OK;
    if (watched) {
        sp_grad_begin();
        status = sp_tensor_to(x, null, &there);
        if (status == SP_OK) y = sp_matmul(b, sp_relu(b, there), there, false, false);
        if (status == SP_OK) status = sp_builder_status(b);
        if (status == SP_OK) status = sp_tensor_to(y, NULL, &back);
        if (status == SP_OK) status = sp_grad_backward(1, &back, NULL, 1, &x, false, &grad);
        sp_grad_end();
        sp_grad_unwatch(x);
    }
    if (status == SP_OK) add_tensor(digest, back);
    if (status == SP_OK) add_tensor(digest, grad);
    sp_builder_release(b);
    sp_tensor_release(grad);
    sp_tensor_release(back);
    sp_tensor_release(there);
    sp_tensor_release(x);
    return status;
}

#endif
