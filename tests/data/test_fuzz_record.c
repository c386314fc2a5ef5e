/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuzz_record.c - the fuzz target over sample files: whole, cut at every byte, with random bits turned, with random
 * bytes put in and taken out. The generator is seeded, so a failure repeats; SPORE_FUZZ_ROUNDS runs it longer. */
#include "../../fuzz/fuzz_record.c"
#include "formats/formats_util.h"

#define FILES "tests/data/files/"
static const char *const samples[] = {
    FILES "ms210/alltypes.mindrecord", FILES "ms210/shapes.mindrecord",   FILES "ms210/images.mindrecord",
    FILES "ms210/append.mindrecord",   FILES "ms210/manypages.mindrecord", FILES "ms210/empty_arrays.mindrecord",
    FILES "ms210/no_rows.mindrecord",  FILES "older/sns",                  FILES "older/alltypes.mindrecord",
    FILES "older/append.mindrecord",   FILES "older/aclImdb.mindrecord04",
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

/* The last page ends the file, so a cut anywhere is noticed when the file is opened. */
static void cut_anywhere(void **unused)
{
    (void)unused;
    static const char *const files[] = {FILES "ms210/alltypes.mindrecord", FILES "ms210/append.mindrecord",
                                        FILES "ms210/no_rows.mindrecord"};
    for (int i = 0; i < 3; i++) {
        blob b = read_blob(files[i]);
        for (size_t n = 0; n < b.bytes; n++) {
            sp_mr_shard shard;
            uint8_t *exact = malloc(n > 0 ? n : 1);
            memcpy(exact, b.data, n);
            assert_int_equal(sp__mr_shard_parse("cut", exact, n, &shard), SP_FORMAT);
            free(exact);
        }
        free(b.data);
    }
}

/* Half of the edits go where something stands: most of a file is holes. */
static size_t draw_place(const uint8_t *data, size_t bytes)
{
    size_t at = draw((uint32_t)bytes);
    for (int i = 0; i < 200 && data[at] == 0 && draw(2) != 0; i++) at = draw((uint32_t)bytes);
    return draw(2) != 0 ? at : draw((uint32_t)(bytes < 1000 ? bytes : 1000));
}

static void mutated(void **unused)
{
    (void)unused;
    const char *asked = getenv("SPORE_FUZZ_ROUNDS");
    long rounds = asked != NULL ? strtol(asked, NULL, 10) : 3000;
    for (long k = 0; k < rounds; k++) {
        blob b = read_blob(samples[draw(N_SAMPLES)]);
        size_t n = b.bytes;
        uint8_t *m = malloc(n + 64);
        memcpy(m, b.data, n);
        for (uint32_t edits = 1 + draw(4); edits > 0; edits--) {
            size_t at = draw_place(m, n);
            switch (draw(4)) {
            case 0: m[at] ^= (uint8_t)(1 << draw(8)); break;
            case 1: m[at] = draw(2) ? (uint8_t)('0' + draw(10)) : (uint8_t)draw(256); break; /* numbers of the header */
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
