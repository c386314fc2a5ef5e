/* SPDX-License-Identifier: Apache-2.0 */
/* test_machine.c - what the library tells about the machine: features, kernels, measured limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "spore/machine.h"

static void names_follow_the_features(void **state)
{
    (void)state;
    unsigned features = sp__cpu_features();
    assert_true((strstr(sp_machine_features(), "avx512") != NULL) == ((features & SP_CPU_AVX512) != 0));
    assert_true((strstr(sp_machine_features(), "portable") != NULL) == (features == 0));
    assert_true(strlen(sp_machine_products(SP_DTYPE_F32)) > 0);
    assert_string_equal(sp_machine_products(SP_DTYPE_F16), "");
    if (features & SP_CPU_BF16) assert_true(strlen(sp_machine_products(SP_DTYPE_BF16)) > 0);
    assert_int_equal(sp_machine_cache(0), 0);
    assert_int_equal(sp_machine_cache(4), 0);
}

static void kernels_are_listed_best_first(void **state)
{
    (void)state;
    char text[64];
    assert_int_equal(sp_machine_kernels(sp_op_find("conv2d"), text, sizeof text), 2);
    assert_string_equal(text, "depthwise, windows");
    assert_int_equal(sp_machine_kernels(sp_op_find("conv2d"), text, 5), 2); /* cut, not overrun */
    assert_string_equal(text, "dept");
    assert_int_equal(sp_machine_kernels(sp_op_find("reshape"), text, sizeof text), 0);
    assert_string_equal(text, "");
}

static void limits_are_measured(void **state)
{
    (void)state;
    sp_machine_peak peaks[32];
    int n = sp_machine_peaks(peaks, 32), n_floats = 0, n_bytes = 0;
    assert_true(n > 1 && n <= 32);
    for (int i = 0; i < n; i++) {
        assert_true(peaks[i].one > 1e7 && peaks[i].one < 1e16);
        assert_true(peaks[i].all > 1e7 && peaks[i].all < 1e16);
        n_floats += peaks[i].dtype == SP_DTYPE_F32;
        n_bytes += peaks[i].dtype == SP_DTYPE_NONE;
    }
    assert_true(n_floats >= 1 && n_bytes >= 1);
    assert_int_equal(sp_machine_peaks(peaks, 0), n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_follow_the_features),
        cmocka_unit_test(kernels_are_listed_best_first),
        cmocka_unit_test(limits_are_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
