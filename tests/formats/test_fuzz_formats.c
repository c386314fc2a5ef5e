/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuzz_formats.c - every parser over sample files: whole, cut at every byte, every byte changed in turn, random edits.
 * The generator is seeded, so a failure repeats; SPORE_FUZZ_ROUNDS runs the random part longer. */
#ifndef FUZZ_ROUNDS
#define FUZZ_ROUNDS 4000
#endif
#include "../../fuzz/fuzz_format.h"
#include "formats_util.h"

static const struct {
    const char *format, *file;
    bool parts; /* names other files, which there are none of in memory */
} samples[] = {
#include "fuzz_samples.def"
};
enum { N_SAMPLES = sizeof samples / sizeof samples[0], SMALL = 6000 };

static uint64_t seed = 20240728;
static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* An exact copy, so that the sanitizer sees a read one byte past the end. */
static int run(const char *format, const uint8_t *data, size_t bytes)
{
    uint8_t *exact = malloc(bytes > 0 ? bytes : 1);
    if (bytes > 0) memcpy(exact, data, bytes);
    int read = fuzz_format(format, exact, bytes);
    free(exact);
    return read;
}

static void samples_are_read(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        blob b = read_blob(samples[i].file);
        if (run(samples[i].format, b.data, b.bytes) == samples[i].parts) fail_msg("%s: %s", samples[i].file, sp_error_message());
        free(b.data);
    }
}

/* Formats know where their files end, except those of models, where fields and gaps may follow what counts. */
static void cut_anywhere(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        blob b = read_blob(samples[i].file);
        size_t step = b.bytes > SMALL ? b.bytes / SMALL + 1 : 1;
        for (size_t n = 0; n < b.bytes; n += step)
            if (run(samples[i].format, b.data, n) && strstr("tflite mindir onnx h5", samples[i].format) == NULL)
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
        size_t step = b.bytes > SMALL ? b.bytes / SMALL + 1 : 1;
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
    const char *asked = getenv("SPORE_FUZZ_ROUNDS");
    long rounds = asked != NULL ? strtol(asked, NULL, 10) : FUZZ_ROUNDS;
    for (long k = 0; k < rounds; k++) {
        int i = (int)draw(N_SAMPLES);
        blob b = read_blob(samples[i].file);
        size_t n = b.bytes;
        uint8_t *m = malloc(n + 64);
        memcpy(m, b.data, n);
        for (uint32_t edits = 1 + draw(6); edits > 0; edits--) {
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
