/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuzz_ckpt.c - the fuzz target over sample files: whole, cut at every byte, with random bits turned, with random
 * bytes put in and taken out. The generator is seeded, so a failure repeats; SPORE_FUZZ_ROUNDS runs it longer. */
#include "../../fuzz/fuzz_ckpt.c"
#include "formats_util.h"
#include "fuzz_util.h"

static const char *const samples[] = {
    DATA "append_dict.ckpt",   DATA "crc.ckpt",    DATA "dtypes.ckpt",    DATA "dict_input.ckpt",
    DATA "scalars_empty.ckpt", DATA "slices.ckpt", DATA "complex64.ckpt", DATA "enc_AES-GCM_key_0123456789ABCDEF.ckpt",
};
enum { N_SAMPLES = sizeof samples / sizeof samples[0] };

static void run(const uint8_t *data, size_t bytes) { run_exact(LLVMFuzzerTestOneInput, data, bytes); }

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
    for (long k = fuzz_rounds(1500); k > 0; k--) {
        blob b = read_blob(samples[draw(N_SAMPLES)]);
        size_t n = b.bytes;
        uint8_t *m = malloc(n + EDIT_ROOM);
        memcpy(m, b.data, n);
        for (uint32_t edits = 1 + draw(4); edits > 0; edits--) n = edit(m, n, b.bytes + EDIT_ROOM, draw((uint32_t)n));
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
