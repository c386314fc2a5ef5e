/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuzz_ckpt.c - the fuzz target over sample files: whole, cut at every byte, with random bits turned, with random
 * bytes put in and taken out. The generator is seeded, so a failure repeats; SPORE_FUZZ_ROUNDS runs it longer. */
#include "../../fuzz/fuzz_ckpt.c"
#include "formats_util.h"

static const char *const samples[] = {
    DATA "append_dict.ckpt", DATA "crc.ckpt", DATA "dtypes.ckpt", DATA "dict_input.ckpt", DATA "scalars_empty.ckpt",
    DATA "slices.ckpt", DATA "complex64.ckpt", DATA "enc_AES-GCM_key_0123456789ABCDEF.ckpt",
};
enum { N_SAMPLES = sizeof samples / sizeof samples[0] };

static uint64_t seed = 20240728;
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

static void samples_hold(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        blob b = read_blob(samples[i]);
        run(b.data, b.bytes);
        free(b.data);
    }
}

static void cut_anywhere(void **unused)
{
    (void)unused;
    static const char *const files[] = {DATA "dict_input.ckpt", DATA "scalars_empty.ckpt", DATA "crc.ckpt"};
    for (int i = 0; i < 3; i++) {
        blob b = read_blob(files[i]);
        int n_read = 0;
        for (size_t n = 0; n < b.bytes; n++) {
            const sp_file_options options = {.format = "ckpt", .flags = SP_FILE_CRC};
            sp_bundle *bundle = NULL;
            uint8_t *exact = malloc(n > 0 ? n : 1);
            memcpy(exact, b.data, n);
            if (sp_load_memory(exact, n, &options, &bundle) == SP_OK) n_read++;
            sp_bundle_release(bundle);
            free(exact);
        }
        /* A cut can be noticed everywhere but between entries: there is nothing that tells their number. */
        static const int borders[] = {1, 6, 8};
        assert_int_equal(n_read, borders[i]);
        free(b.data);
    }
}

static void mutated(void **unused)
{
    (void)unused;
    const char *asked = getenv("SPORE_FUZZ_ROUNDS");
    long rounds = asked != NULL ? strtol(asked, NULL, 10) : 1500;
    for (long k = 0; k < rounds; k++) {
        blob b = read_blob(samples[draw(N_SAMPLES)]);
        size_t n = b.bytes;
        uint8_t *m = malloc(n + 64);
        memcpy(m, b.data, n);
        for (uint32_t edits = 1 + draw(4); edits > 0; edits--) {
            size_t at = draw((uint32_t)n);
            switch (draw(4)) {
            case 0: m[at] ^= (uint8_t)(1 << draw(8)); break;
            case 1: m[at] = draw(2) ? 0xFF : (uint8_t)draw(256); break;
            case 2:
                if (n < b.bytes + 64) {
                    memmove(m + at + 1, m + at, n - at);
                    m[at] = (uint8_t)draw(256);
                    n++;
                }
                break;
            default:
                if (n > 1) {
                    memmove(m + at, m + at + 1, n - at - 1);
                    n--;
                }
            }
        }
        run(m, n);
        free(m);
        free(b.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_hold),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(mutated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
