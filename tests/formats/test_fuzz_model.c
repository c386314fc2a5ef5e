/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuzz_model.c - the fuzz target over sample models: whole, cut at every byte, with random bits turned. The generator is
 * seeded, so a failure repeats; SPORE_FUZZ_ROUNDS runs it longer. */
static const char *format; /* of the sample at hand */
#define FUZZ_FORMAT format
#include "../../fuzz/fuzz_model.c"
#include "formats_util.h"
#include "fuzz_util.h"

#define MODELS DATA "../../onnx/data/"
#define LITE DATA "../../tflite/data/"
#define MS DATA "../../lite/data/"
static const struct {
    const char *format, *path;
} samples[] = {
    {"onnx", MODELS "loop.onnx"},          {"onnx", MODELS "branch.onnx"},   {"onnx", MODELS "quantised.onnx"},
    {"onnx", MODELS "convnet.onnx"},       {"onnx", MODELS "texts.onnx"},    {"onnx", MODELS "small_types.onnx"},
    {"onnx", MODELS "dynamic_bytes.onnx"}, {"onnx", MODELS "spectrum.onnx"}, {"tflite", LITE "variables.tflite"},
    {"tflite", LITE "while_loop.tflite"},  {"tflite", LITE "cond.tflite"},   {"tflite", LITE "detection.tflite"},
    {"tflite", LITE "conv_2d.tflite"},     {"tflite", LITE "lstm.tflite"},   {"tflite", LITE "strided_slice.tflite"},
    {"lite", MS "small/chain.ms"},         {"lite", MS "small/int8.ms"},     {"lite", MS "small/lstm.ms"},
    {"lite", MS "small/pool.ms"},          {"lite", MS "small/strided.ms"},  {"lite", MS "conv_train_model.ms"}};
enum { N_SAMPLES = sizeof samples / sizeof samples[0] };

static void run(const uint8_t *data, size_t bytes) { run_exact(LLVMFuzzerTestOneInput, data, bytes); }

static void samples_are_models(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        blob b = read_blob(samples[i].path);
        sp_model *model = NULL;
        assert_int_equal(sp_model_load_memory(b.data, b.bytes, NULL, &model), SP_OK);
        assert_true(sp_model_inputs(model) > 0 && sp_model_outputs(model) > 0);
        sp_model_release(model);
        free(b.data);
    }
}

static void cut_models_are_refused(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        blob b = read_blob(samples[i].path);
        for (size_t n = 0; n < b.bytes; n += (size_t)share()) {
            const sp_file_options options = {.format = samples[i].format};
            sp_model *model = NULL;
            assert_true(sp_model_load_memory(b.data, n, &options, &model) != SP_OK);
        }
        free(b.data);
    }
}

/* Of flatbuffers not every byte is needed: what stands at the end may be padding or a text that nobody reads. */
static void cut_flatbuffers_do_no_harm(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        if (strstr(samples[i].format, "lite") == NULL) continue;
        blob b = read_blob(samples[i].path);
        format = samples[i].format;
        for (size_t n = 0; n < b.bytes; n += 1 + b.bytes / 2000) run(b.data, n);
        free(b.data);
    }
}

static void turned_bits_do_no_harm(void **unused)
{
    (void)unused;
    for (long k = fuzz_rounds(4000); k > 0; k--) {
        const uint32_t i = draw(N_SAMPLES);
        blob b = read_blob(samples[i].path);
        format = samples[i].format;
        for (uint32_t n = 1 + draw(4); n > 0; n--) b.data[draw((uint32_t)b.bytes)] ^= (uint8_t)(1u << draw(8));
        run(b.data, b.bytes);
        free(b.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_models),
        cmocka_unit_test(cut_models_are_refused),
        cmocka_unit_test(cut_flatbuffers_do_no_harm),
        cmocka_unit_test(turned_bits_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
