/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuzz_record.c - the fuzz target over sample files: whole, cut at every byte, with random bits turned, with random
 * bytes put in and taken out. The generator is seeded, so a failure repeats; SPORE_FUZZ_ROUNDS runs it longer. */
#include "../../fuzz/fuzz_record.c"
#include "formats/formats_util.h"
#include "formats/fuzz_util.h"

#define FILES "tests/data/files/"
static const char *const samples[] = {
    FILES "ms210/alltypes.mindrecord",  FILES "ms210/shapes.mindrecord",
    FILES "ms210/images.mindrecord",    FILES "ms210/append.mindrecord",
    FILES "ms210/manypages.mindrecord", FILES "ms210/empty_arrays.mindrecord",
    FILES "ms210/no_rows.mindrecord",   FILES "older/sns",
    FILES "older/alltypes.mindrecord",  FILES "older/append.mindrecord",
    FILES "older/aclImdb.mindrecord04",
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

/* The last page ends the file, so a cut anywhere is noticed when the file is opened. */
static void cut_anywhere(void **unused)
{
    (void)unused;
    static const char *const files[] = {FILES "ms210/alltypes.mindrecord", FILES "ms210/append.mindrecord",
                                        FILES "ms210/no_rows.mindrecord"};
    for (int i = 0; i < 3; i++) {
        blob b = read_blob(files[i]);
        for (size_t n = 0; n < b.bytes; n += (size_t)share()) {
            sp_mindrecord_shard shard;
            uint8_t *exact = malloc(n > 0 ? n : 1);
            memcpy(exact, b.data, n);
            assert_int_equal(sp__mindrecord_shard_parse("cut", exact, n, &shard), SP_FORMAT);
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
    for (long k = fuzz_rounds(3000); k > 0; k--) {
        blob b = read_blob(samples[draw(N_SAMPLES)]);
        size_t n = b.bytes;
        uint8_t *m = malloc(n + EDIT_ROOM);
        memcpy(m, b.data, n);
        for (uint32_t edits = 1 + draw(4); edits > 0; edits--) n = edit(m, n, b.bytes + EDIT_ROOM, draw_place(m, n));
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
