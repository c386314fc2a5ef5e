/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuzz_stream.c - the fuzz target over calls that stay open, whole, cut and changed. The generator is seeded, so a failure repeats;
 * SPORE_FUZZ_ROUNDS runs it longer. */
#include "../../fuzz/fuzz_stream.c"
#include "formats/formats_util.h"
#include "formats/fuzz_util.h"

#define STREAMS "tests/net/streams/"
static const char *const samples[] = {STREAMS "messages", STREAMS "bytewise", STREAMS "frames"};

static void streams_do_no_harm(void **unused)
{
    const long n_rounds = fuzz_rounds(300);
    (void)unused;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        blob b = read_blob(samples[i]);
        uint8_t *copy = malloc(b.bytes + EDIT_ROOM);
        for (size_t n = 0; n <= b.bytes; n += (size_t)share()) run_exact(LLVMFuzzerTestOneInput, b.data, n);
        for (long round = 0; round < n_rounds; round++) {
            size_t n = b.bytes;
            memcpy(copy, b.data, n);
            for (uint32_t k = 0, edits = 1 + draw(6); k < edits; k++)
                n = edit(copy, n, b.bytes + EDIT_ROOM, 1 + draw((uint32_t)n - 1));
            run_exact(LLVMFuzzerTestOneInput, copy, n);
        }
        free(copy);
        free(b.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(streams_do_no_harm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
