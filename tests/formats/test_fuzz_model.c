/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuzz_model.c - the fuzz target over sample models: whole, cut at every byte, with random bits turned. The generator is
 * seeded, so a failure repeats; SPORE_FUZZ_ROUNDS runs it longer. */
#define FUZZ_FORMAT "onnx"
#include "../../fuzz/fuzz_model.c"
#include "formats_util.h"

#define MODELS DATA "../../onnx/data/"
static const char *const samples[] = {MODELS "loop.onnx", MODELS "branch.onnx", MODELS "quantised.onnx", MODELS "convnet.onnx",
                                      MODELS "texts.onnx", MODELS "small_types.onnx", MODELS "dynamic_bytes.onnx", MODELS "spectrum.onnx"};
enum { N_SAMPLES = sizeof samples / sizeof samples[0] };

static uint64_t seed = 20261116;
static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* An exact copy, so that the sanitizer sees a read one byte past the end. */
static void run(const uint8_t *data, size_t bytes)
{
    uint8_t *exact = malloc(bytes > 0 ? bytes : 1);
    if (bytes > 0) memcpy(exact, data, bytes);
    LLVMFuzzerTestOneInput(exact, bytes);
    free(exact);
}

static void samples_are_models(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        blob b = read_blob(samples[i]);
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
        blob b = read_blob(samples[i]);
        for (size_t n = 0; n < b.bytes; n++) {
            const sp_file_options options = {.format = "onnx"};
            sp_model *model = NULL;
            assert_true(sp_model_load_memory(b.data, n, &options, &model) != SP_OK);
        }
        free(b.data);
    }
}

static void turned_bits_do_no_harm(void **unused)
{
    (void)unused;
    const char *rounds = getenv("SPORE_FUZZ_ROUNDS");
    for (long k = 0; k < (rounds != NULL ? atol(rounds) : 4000); k++) {
        blob b = read_blob(samples[draw(N_SAMPLES)]);
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
        cmocka_unit_test(turned_bits_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
