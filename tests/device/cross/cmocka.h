/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka.h - as much of cmocka as the kernels' tests use, for machines that have a compiler and an emulator but no library: a failed check
 * prints where and ends the program. tests/device/arm64 puts this folder in front. */
#ifndef SPORE_TEST_CROSS_CMOCKA_H
#define SPORE_TEST_CROSS_CMOCKA_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define cmocka_unit_test(f) {#f, f}
#define fail_msg(...) (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))
#define cross_check(ok, what) ((ok) ? (void)0 : (void)fail_msg("%s", what))
#define assert_true(x) cross_check(x, #x)
#define assert_false(x) cross_check(!(x), "not " #x)
#define assert_non_null(x) cross_check((x) != NULL, #x)
#define assert_null(x) cross_check((x) == NULL, #x " is NULL")
#define assert_int_equal(a, b) cross_check((long long)(a) == (long long)(b), #a " == " #b)
#define assert_ptr_not_equal(a, b) cross_check((const void *)(a) != (const void *)(b), #a " != " #b)
#define assert_memory_equal(a, b, n) cross_check(memcmp(a, b, n) == 0, #a ", " #b ": the same bytes")
#define print_message(...) printf(__VA_ARGS__)

static inline int cross_run(const char *name, const struct CMUnitTest *tests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *state = NULL;
        tests[i].run(&state);
        printf("%s: %s ok\n", name, tests[i].name);
        fflush(stdout);
    }
    return 0;
}
#define cmocka_run_group_tests(tests, setup, teardown) cross_run(__FILE__, tests, sizeof(tests) / sizeof *(tests))
#define cmocka_run_group_tests_name(name, tests, setup, teardown) cross_run(name, tests, sizeof(tests) / sizeof *(tests))

#endif
