/* SPDX-License-Identifier: Apache-2.0 */
/* long_vector.c - vector functions over every float, with the best instruction set of this machine (SPORE_ISA lowers it). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "device/vector_bounds.h"

static void every_float(void **state)
{
    (void)state;
    vector_set sets[3];
    const int n = vector_sets(sets);
    assert_int_equal(vector_walk(&sets[n - 1], 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_float)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
