/* SPDX-License-Identifier: Apache-2.0 */
/* test_order.c - rows of keys in order: against the definition (sorted, every position once, equal keys in order), for
 * lengths around the switches between methods, keys of every range, and any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "ops/order.h"

static uint64_t seed = 5;
static uint64_t random_bits(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static int64_t *order_of(int64_t n, int bits, const uint64_t *keys)
{
    size_t bytes;
    assert_true(sp__order_bytes(n, bits, &bytes));
    void *work = malloc(bytes);
    int64_t *at = malloc((size_t)(n + 1) * sizeof *at);
    at[n] = -7;
    assert_int_equal(sp__order(n, keys, at, work), SP_OK);
    assert_int_equal(at[n], -7);
    free(work);
    return at;
}

static void check_order(int64_t n, int bits, const uint64_t *keys)
{
    int64_t *at = order_of(n, bits, keys);
    for (int64_t i = 1; i < n; i++) {
        const uint64_t before = keys[at[i - 1]], here = keys[at[i]];
        if (before > here || (before == here && at[i - 1] >= at[i]))
            fail_msg("n %lld, %d bits: place %lld", (long long)n, bits, (long long)i);
    }
    /* Strictly increasing (key, position) in range: every position occurs once. */
    for (int64_t i = 0; i < n; i++) assert_true(at[i] >= 0 && at[i] < n);
    free(at);
}

static const int64_t lengths[] = {0,
                                  1,
                                  2,
                                  15,
                                  16,
                                  17,
                                  191,
                                  192,
                                  193,
                                  1000,
                                  SP__ORDER_BLOCK - 1,
                                  SP__ORDER_BLOCK,
                                  SP__ORDER_BLOCK + 1,
                                  3 * SP__ORDER_BLOCK + 5};

static void keys_of_every_range_are_ordered(void **state)
{
    (void)state;
    /* Bits that keys of this width may have, and those in which these keys differ. */
    static const struct {
        int bits;
        uint64_t mask, base;
    } ranges[] = {{8, 0xFF, 0},
                  {8, 1, 0x7F},
                  {32, UINT32_MAX, 0},
                  {32, 0xFF00, 0xFFFF0000},
                  {64, UINT64_MAX, 0},
                  {64, 3, UINT64_MAX - 3},
                  {64, UINT64_C(0xFF) << 32, 0},
                  {64, 0, UINT64_MAX}};
    uint64_t *keys = malloc((4 * SP__ORDER_BLOCK) * sizeof *keys);
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            for (int64_t i = 0; i < lengths[l]; i++) keys[i] = ranges[r].base + (random_bits() & ranges[r].mask);
            check_order(lengths[l], ranges[r].bits, keys);
        }
    free(keys);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    const int64_t n = 5 * SP__ORDER_BLOCK + 77;
    uint64_t *keys = malloc((size_t)n * sizeof *keys);
    for (int64_t i = 0; i < n; i++) keys[i] = random_bits() & 0xFFFF;
    assert_int_equal(sp_threads_set(1), SP_OK);
    int64_t *alone = order_of(n, 64, keys);
    assert_int_equal(sp_threads_set(4), SP_OK);
    int64_t *together = order_of(n, 64, keys);
    assert_memory_equal(alone, together, (size_t)n * sizeof *alone);
    free(alone);
    free(together);
    free(keys);
}

static int polls;
static bool stop_at_third(void) { return ++polls >= 3; }

static void a_long_row_is_interrupted(void **state)
{
    (void)state;
    const int64_t n = 64 * SP__ORDER_BLOCK;
    uint64_t *keys = malloc((size_t)n * sizeof *keys);
    int64_t *at = malloc((size_t)n * sizeof *at);
    size_t bytes;
    assert_true(sp__order_bytes(n, 64, &bytes));
    void *work = malloc(bytes);
    for (int64_t i = 0; i < n; i++) keys[i] = random_bits();
    sp_interrupt_set_poll(stop_at_third);
    assert_int_equal(sp__order(n, keys, at, work), SP_INTERRUPTED);
    sp_interrupt_set_poll(NULL);
    free(work);
    free(at);
    free(keys);
}

static void sizes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    size_t bytes;
    assert_false(sp__order_bytes(INT64_MAX, 64, &bytes));
#if SIZE_MAX > UINT32_MAX
    assert_true(sp__order_bytes(INT64_C(1) << 33, 32, &bytes)); /* positions no longer fit into 32 bits */
    assert_true(bytes / 32 >= (size_t)(UINT64_C(1) << 33));
#else
    assert_false(sp__order_bytes(INT64_C(1) << 33, 32, &bytes)); /* nothing, cut to 32 bits */
    assert_false(sp__order_bytes((INT64_C(1) << 32) + 1000, 32, &bytes));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_every_range_are_ordered),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_long_row_is_interrupted),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
