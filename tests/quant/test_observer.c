/* SPDX-License-Identifier: Apache-2.0 */
/* Observers and ranges: what they hold does not depend on the order of numbers, and searches find what they should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "quant/quant.h"

enum { N = 5000 };

static float noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 8388608.0f - 1;
}

static void fill(float *x, float outlier)
{
    uint32_t state = 7;
    for (int i = 0; i < N; i++) x[i] = noise(&state) + noise(&state) + noise(&state);
    x[N / 2] = outlier;
}

static void bins_do_not_depend_on_order(void **unused)
{
    (void)unused;
    static float x[N], y[N];
    sp_quant_observer a = {0}, b = {0};
    fill(x, 1000);
    for (int i = 0; i < N; i++) y[i] = x[N - 1 - i];
    for (int i = 0; i < N; i += 50) {
        assert_int_equal(sp__quant_observe(&a, x + i, 50, false), SP_OK);
        assert_int_equal(sp__quant_observe(&b, y + i, 50, false), SP_OK);
    }
    assert_int_equal(a.exponent, b.exponent);
    assert_memory_equal(a.bins, b.bins, 2 * SP_QUANT_BINS * sizeof *a.bins);
    assert_true(a.low == b.low && a.high == 1000 && b.high == 1000);
    sp__quant_observer_free(&a);
    sp__quant_observer_free(&b);
}

static void joined_is_seen_together(void **unused)
{
    (void)unused;
    static float x[N];
    sp_quant_observer whole = {0}, parts[2] = {{0}}, joined = {0};
    fill(x, 100);
    assert_int_equal(sp__quant_observe(&whole, x, N, false), SP_OK);
    assert_int_equal(sp__quant_observe(&parts[0], x, N / 4, false), SP_OK);
    assert_int_equal(sp__quant_observe(&parts[1], x + N / 4, N - N / 4, false), SP_OK);
    for (int i = 0; i < 2; i++) assert_int_equal(sp__quant_observer_join(&joined, &parts[i]), SP_OK);
    assert_int_equal(joined.exponent, whole.exponent);
    assert_memory_equal(joined.bins, whole.bins, 2 * SP_QUANT_BINS * sizeof *whole.bins);
    assert_int_equal(joined.n, whole.n);
    sp__quant_observer_free(&whole);
    sp__quant_observer_free(&joined);
    for (int i = 0; i < 2; i++) sp__quant_observer_free(&parts[i]);
}

/* The least mean square by trying all pairs of ends is not far below what the search finds. */
static void mse_is_near_the_best(void **unused)
{
    (void)unused;
    static float x[N];
    sp_quant_observer o = {0};
    sp_quant_range r;
    double best = INFINITY;
    fill(x, 20);
    assert_int_equal(sp__quant_observe(&o, x, N, false), SP_OK);
    assert_int_equal(sp__quant_range(&o, "mse", 99.99, 8, false, &r), SP_OK);
    for (int i = 1; i <= 100; i++)
        for (int k = 1; k <= 100; k++) {
            const sp_quant_scale s =
                sp__quant_scale_of((sp_quant_range){o.low * (float)i / 100, o.high * (float)k / 100}, 8, false);
            best = fmin(best, sp__quant_error(&o, &s));
        }
    const sp_quant_scale found = sp__quant_scale_of(r, 8, false);
    assert_true(sp__quant_error(&o, &found) <= 1.05 * best);
    assert_true(r.high < 20);
    sp__quant_observer_free(&o);
}

static void methods_cut_what_is_rare(void **unused)
{
    (void)unused;
    static float x[N];
    static const struct {
        const char *method;
        float most;
    } cases[] = {{"minmax", 60}, {"percentile", 4}, {"outliers", 60}, {"entropy", 30}, {"mse", 60}};
    sp_quant_observer o = {0};
    fill(x, 60);
    assert_int_equal(sp__quant_observe(&o, x, N, true), SP_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sp_quant_range r;
        assert_int_equal(sp__quant_range(&o, cases[i].method, 99.9, 8, false, &r), SP_OK);
        assert_true(r.high <= cases[i].most && r.high >= 2 && r.low <= -2 && r.low >= o.low);
    }
    sp__quant_observer_free(&o);
}

/* Most numbers are one (the background of a picture): the others are not cut away with it. */
static void entropy_keeps_what_lies_beside_a_spike(void **unused)
{
    (void)unused;
    static float x[N];
    sp_quant_observer o = {0};
    sp_quant_range r;
    uint32_t state = 3;
    for (int i = 0; i < N; i++) x[i] = i % 5 == 0 ? 1.5f * noise(&state) + 1.1f : -0.4f;
    assert_int_equal(sp__quant_observe(&o, x, N, false), SP_OK);
    assert_int_equal(sp__quant_range(&o, "entropy", 99.99, 8, false, &r), SP_OK);
    assert_true(r.high > 2 && r.low <= -0.39f);
    sp__quant_observer_free(&o);
}

static void odd_numbers_are_refused(void **unused)
{
    (void)unused;
    sp_quant_observer o = {0};
    assert_int_equal(sp__quant_observe(&o, (const float[]){1, NAN}, 2, false), SP_VALUE);
    assert_int_equal(sp__quant_observe(&o, (const float[]){INFINITY}, 1, false), SP_VALUE);
    assert_int_equal(sp__quant_observe(&o, NULL, 0, false), SP_OK);
    assert_int_equal(sp__quant_observe(&o, (const float[]){0, 0}, 2, true), SP_OK);
    sp_quant_range r;
    assert_int_equal(sp__quant_range(&o, "entropy", 99.9, 8, false, &r), SP_OK);
    const sp_quant_scale s = sp__quant_scale_of(r, 8, false);
    assert_true(r.low == 0 && r.high == 0 && s.scale == 1);
    sp__quant_observer_free(&o);
}

/* Zero has an integer of its own, whatever the range. */
static void zero_is_exact(void **unused)
{
    (void)unused;
    static const sp_quant_range ranges[] = {{0, 1}, {-1, 0}, {-0.3f, 5}, {-1e30f, 1e30f}, {-1e-30f, 3e-30f}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (int bits = 8; bits <= 16; bits += 8) {
            const sp_quant_scale s = sp__quant_scale_of(ranges[i], bits, false);
            assert_true(s.zero >= s.least && s.zero <= s.most && s.scale > 0);
            const double low = (s.least - s.zero) * (double)s.scale, high = (s.most - s.zero) * (double)s.scale,
                         step = (double)s.scale;
            assert_true(low <= (double)ranges[i].low + step && high >= (double)ranges[i].high - step);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_do_not_depend_on_order),
        cmocka_unit_test(joined_is_seen_together),
        cmocka_unit_test(mse_is_near_the_best),
        cmocka_unit_test(methods_cut_what_is_rare),
        cmocka_unit_test(entropy_keeps_what_lies_beside_a_spike),
        cmocka_unit_test(odd_numbers_are_refused),
        cmocka_unit_test(zero_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
