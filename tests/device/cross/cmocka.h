/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka.h - as much of cmocka as the engine's tests use, for machines that have a compiler and an emulator but no library: a failed check
 * prints where and ends the program. tests/device/arm64 and armhf put this folder in front. Arguments are evaluated once, as cmocka does. */
#ifndef SPORE_TEST_CROSS_CMOCKA_H
#define SPORE_TEST_CROSS_CMOCKA_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
    int (*setup)(void **state), (*teardown)(void **state);
};

#define cmocka_unit_test(f) {#f, f, NULL, NULL}
#define cmocka_unit_test_setup_teardown(f, setup, teardown) {#f, f, setup, teardown}
#define cmocka_unit_test_teardown(f, teardown) {#f, f, NULL, teardown}
#define skip() return
#define fail_msg(...)                                                                                                  \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__), (void)fputc('\n', stderr), exit(1))
#define cross_check(ok, what) ((ok) ? (void)0 : (void)fail_msg("%s", what))
#define assert_true(x) cross_check(x, #x)
#define assert_false(x) cross_check(!(x), "not " #x)
#define assert_non_null(x) cross_check((x) != NULL, #x)
#define assert_null(x) cross_check((x) == NULL, #x " is NULL")
#define assert_int_equal(a, b) cross_check((long long)(a) == (long long)(b), #a " == " #b)
#define assert_ptr_not_equal(a, b) cross_check((const void *)(a) != (const void *)(b), #a " != " #b)
#define assert_memory_equal(a, b, n) cross_check(memcmp(a, b, n) == 0, #a ", " #b ": the same bytes")
#define assert_memory_not_equal(a, b, n) cross_check(memcmp(a, b, n) != 0, #a ", " #b ": not the same bytes")
#define assert_ptr_equal(a, b) cross_check((const void *)(a) == (const void *)(b), #a " == " #b)
#define assert_int_not_equal(a, b) cross_check((long long)(a) != (long long)(b), #a " != " #b)
#define assert_string_equal(a, b) cross_check(strcmp(a, b) == 0, #a ", " #b ": the same text")
#define assert_string_not_equal(a, b) cross_check(strcmp(a, b) != 0, #a ", " #b ": not the same text")
#define assert_in_range(a, low, high) cross_check(cross_in_range(a, low, high), #a " in its range")
#define assert_float_equal(a, b, e) cross_check(cross_close(a, b, e), #a " == " #b)
#define print_message(...) printf(__VA_ARGS__)

static inline bool cross_in_range(long long a, long long low, long long high) { return a >= low && a <= high; }
static inline bool cross_close(double a, double b, double e) { return a - b <= e && b - a <= e; }

/* CROSS_LEFT_OUT: names, each between spaces, of what an emulator cannot do. They are said aloud, not counted as passed. */
static inline bool cross_left_out(const char *name)
{
    const char *list = getenv("CROSS_LEFT_OUT");
    char word[128];
    snprintf(word, sizeof word, " %s ", name);
    return list && strstr(list, word);
}

static inline int cross_run(const char *name, const struct CMUnitTest *tests, size_t n, int (*setup)(void **),
                            int (*teardown)(void **))
{
    void *group = NULL;
    if (setup && setup(&group) != 0) fail_msg("%s: not set up", name);
    for (size_t i = 0; i < n; i++) {
        void *state = group;
        if (cross_left_out(tests[i].name)) {
            printf("%s: %s left out\n", name, tests[i].name);
            continue;
        }
        if (tests[i].setup && tests[i].setup(&state) != 0) fail_msg("%s: not set up", tests[i].name);
        tests[i].run(&state);
        if (tests[i].teardown && tests[i].teardown(&state) != 0) fail_msg("%s: not taken down", tests[i].name);
        printf("%s: %s ok\n", name, tests[i].name);
        fflush(stdout);
    }
    if (teardown && teardown(&group) != 0) fail_msg("%s: not taken down", name);
    return 0;
}
#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run_group_tests_name(__FILE__, tests, setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                                      \
    cross_run(name, tests, sizeof(tests) / sizeof *(tests), setup, teardown)

#endif
