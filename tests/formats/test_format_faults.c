/* SPDX-License-Identifier: Apache-2.0 */
/* test_format_faults.c - every format when memory runs out at each point of loading, and of saving where it can be
 * written: SP_NOMEM, nothing leaks, no file is left behind. */
#include "formats_util.h"

#include "base/base.h"

static const struct {
    const char *format, *file;
    bool parts;
} samples[] = {
#include "fuzz_samples.def"
};
enum { N_SAMPLES = sizeof samples / sizeof samples[0], POINTS_MAX = 100000 };

static size_t used(void)
{
    sp_memory_stats stats;
    sp_memory_get(&stats);
    return stats.used_bytes;
}

static void no_memory_for_loading(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        if (samples[i].parts) continue;
        int64_t n = 1;
        /* A probe that runs out of memory says no, and the file's name may still tell: so one success is not the end. */
        for (int good = 0; n < POINTS_MAX && good < 8; n += n < 300 ? 1 : 37) {
            size_t before = used();
            sp_bundle *b = NULL;
            sp__alloc_fail_at(n);
            sp_status status = sp_load(samples[i].file, NULL, &b);
            sp__alloc_fail_at(0);
            if (status == SP_OK) {
                sp_bundle_release(b);
                good++;
                continue;
            }
            good = 0;
            if (status != SP_NOMEM) fail_msg("%s, allocation %d: %s", samples[i].file, (int)n, sp_error_message());
            assert_null(b);
            if (used() != before) fail_msg("%s, allocation %d: leaks", samples[i].file, (int)n);
        }
        assert_true(n > 8 + 3 && n < POINTS_MAX);
    }
}

static void no_memory_for_saving(void **unused)
{
    (void)unused;
    static const char *const names[] = {"x.safetensors", "x.npz"};
    sp_bundle *b;
    OK(sp_load(DATA "torch/views.pt", NULL, &b));
    for (int k = 0; k < 2; k++) {
        int64_t n = 1;
        for (;; n++) {
            size_t before = used();
            sp__alloc_fail_at(n);
            sp_status status = sp_save(in_scratch(names[k]), b, NULL);
            sp__alloc_fail_at(0);
            assert_int_equal(used(), before);
            if (status == SP_OK) break;
            assert_int_equal(status, SP_NOMEM);
            assert_int_equal(scratch_files(false), 0);
        }
        assert_true(n > 5);
        scratch_files(true);
    }
    sp_bundle_release(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_for_loading),
        cmocka_unit_test(no_memory_for_saving),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
