/* SPDX-License-Identifier: Apache-2.0 */
/* long_vector.c - vector functions over every float, with the best instruction set of this machine (SPORE_ISA lowers it). It takes a minute or
 * two per function; with names as arguments it walks over these alone, so that processors can share the work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "device/vector_bounds.h"

static char **names; /* NULL: all functions */

static void every_float(void **state)
{
    (void)state;
    vector_set sets[3];
    const int n = vector_sets(sets);
    int failures = 0;
    if (!names) failures = vector_walk(&sets[n - 1], 1, NULL);
    for (char **name = names; name && *name; name++) failures += vector_walk(&sets[n - 1], 1, *name);
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv)
{
    names = argc > 1 ? argv + 1 : NULL;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_float)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
