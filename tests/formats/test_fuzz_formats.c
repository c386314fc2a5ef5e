/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuzz_formats.c - every parser over sample files: whole, cut at every byte, every byte changed in turn, random edits.
 * The generator is seeded, so a failure repeats; SPORE_FUZZ_ROUNDS runs the random part longer. */
#ifndef FUZZ_ROUNDS
#define FUZZ_ROUNDS 4000
#endif
#include "../../fuzz/fuzz_format.h"
#include "formats_util.h"
#include "fuzz_util.h"

static const struct {
    const char *format, *file;
    bool parts; /* names other files, which there are none of in memory */
} samples[] = {
#include "fuzz_samples.def"
};
enum { N_SAMPLES = sizeof samples / sizeof samples[0], SMALL = 6000 };

static const char *format; /* of the sample at hand */
static int read_format(const uint8_t *data, size_t bytes) { return fuzz_format(format, data, bytes); }

static int run(const char *as, const uint8_t *data, size_t bytes)
{
    format = as;
    return run_exact(read_format, data, bytes);
}

static void samples_are_read(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        blob b = read_blob(samples[i].file);
        if (run(samples[i].format, b.data, b.bytes) == samples[i].parts)
            fail_msg("%s: %s", samples[i].file, sp_error_message());
        free(b.data);
    }
}

/* Formats know where their files end, except those of models, where fields and gaps may follow what counts. */
static void cut_anywhere(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        blob b = read_blob(samples[i].file);
        size_t step = (b.bytes > SMALL ? b.bytes / SMALL + 1 : 1) * (size_t)share();
        for (size_t n = 0; n < b.bytes; n += step)
            if (run(samples[i].format, b.data, n) && strstr("tflite mindir onnx h5 lite", samples[i].format) == NULL)
                fail_msg("%s: read although cut after %zu of %zu bytes", samples[i].file, n, b.bytes);
        free(b.data);
    }
}

static void every_byte_changed(void **unused)
{
    (void)unused;
    static const uint8_t changes[] = {0x01, 0x80, 0xFF};
    for (int i = 0; i < N_SAMPLES; i++) {
        blob b = read_blob(samples[i].file);
        size_t step = (b.bytes > SMALL ? b.bytes / SMALL + 1 : 1) * (size_t)share();
        for (size_t at = 0; at < b.bytes; at += step)
            for (int k = 0; k < 3; k++) {
                b.data[at] ^= changes[k];
                run(samples[i].format, b.data, b.bytes);
                b.data[at] ^= changes[k];
            }
        free(b.data);
    }
}

static void mutated(void **unused)
{
    (void)unused;
    for (long k = fuzz_rounds(FUZZ_ROUNDS); k > 0; k--) {
        int i = (int)draw(N_SAMPLES);
        blob b = read_blob(samples[i].file);
        size_t n = b.bytes;
        uint8_t *m = malloc(n + EDIT_ROOM);
        memcpy(m, b.data, n);
        for (uint32_t edits = 1 + draw(6); edits > 0; edits--) n = edit(m, n, b.bytes + EDIT_ROOM, draw((uint32_t)n));
        run(samples[i].format, m, n);
        free(m);
        free(b.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_read),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(every_byte_changed),
        cmocka_unit_test(mutated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
