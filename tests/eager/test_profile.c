/* SPDX-License-Identifier: Apache-2.0 */
/* test_profile.c - recordings of what runs when: operators inside of operators, compiled programs, data, threads, limits, the trace as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "spore/spore.h"

#define OK(expr) check((expr), #expr)
static void check(sp_status status, const char *what)
{
    if (status != SP_OK) fail_msg("%s: %s", what, sp_error_message());
}

static sp_tensor *filled(int64_t rows, int64_t cols)
{
    sp_tensor *t = NULL;
    OK(sp_tensor_create(SP_DTYPE_F32, 2, (int64_t[]){rows, cols}, &t));
    memset(sp_tensor_data(t), 0, sp_tensor_bytes(t));
    return t;
}

static void apply(const char *name, int n_in, sp_tensor *const *in)
{
    sp_tensor *out[8];
    int n_out = 0;
    OK(sp_apply(sp_op_find(name), NULL, n_in, in, 8, out, &n_out));
    for (int i = 0; i < n_out; i++) sp_tensor_release(out[i]);
}

static const sp_profile_row *row_of(const sp_profile_row *rows, int n, const char *kind, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(rows[i].kind, kind) == 0 && strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void operators_are_events(void **state)
{
    (void)state;
    sp_tensor *a = filled(4, 4), *two[] = {a, a};
    apply("add", 2, two); /* before: not counted */
    OK(sp_profile_start(0));
    assert_int_equal(sp_profile_start(0), SP_RUNTIME);
    assert_non_null(strstr(sp_error_message(), "runs already"));
    sp_profile_here("model.c", 12);
    apply("add", 2, two);
    apply("add", 2, two);
    sp_profile_here(NULL, 0);
    apply("mul", 2, two);
    const int64_t now = sp_profile_now();
    sp_profile_add("step", "step \"1\"\n", now, now + 1500);
    sp_profile_stop();
    apply("add", 2, two);
    sp_profile_row rows[16];
    int n = 0;
    int64_t dropped = -1;
    assert_int_equal(sp_profile_count(&dropped), 4);
    assert_int_equal(dropped, 0);
    OK(sp_profile_rows(SP_PROFILE_BY_LINE, 16, rows, &n));
    assert_int_equal(n, 3);
    const sp_profile_row *add = row_of(rows, n, "operator", "add"), *mul = row_of(rows, n, "operator", "mul");
    assert_true(add && add->n == 2 && add->line == 12 && strcmp(add->file, "model.c") == 0 &&
                add->total_ns >= add->self_ns);
    assert_true(mul && mul->n == 1 && !mul->file);
    OK(sp_profile_rows(0, 1, rows, &n));
    assert_int_equal(n, 1);
    char path[] = "/tmp/spore_profile_XXXXXX";
    assert_true(close(mkstemp(path)) == 0);
    OK(sp_profile_write(path));
    char *text = read_all(path);
    assert_non_null(strstr(text, "\"name\": \"add\", \"args\": {\"bytes\": "));
    assert_non_null(strstr(text, "\"result\": \"float32 (4, 4)\", \"file\": \"model.c\", \"line\": 12}}"));
    assert_non_null(strstr(text, "\"dur\": 1.500, \"cat\": \"step\", \"name\": \"step \\\"1\\\"\\u000a\""));
    assert_non_null(strstr(text, "\"name\": \"main\""));
    free(text);
    unlink(path);
    char *table = NULL;
    OK(sp_profile_table(10, &table));
    assert_true(strstr(table, "operator   add") && strstr(table, "4 events\n"));
    sp_text_free(table);
    assert_int_equal(sp_profile_write("/nowhere/trace.json"), SP_IO);
    assert_non_null(strstr(sp_error_message(), "/nowhere/trace.json"));
    sp_tensor_release(a);
}

static void operators_inside_of_operators_count_once(void **state)
{
    (void)state;
    sp_tensor *x = filled(8, 8);
    OK(sp_profile_start(0));
    apply("logsumexp", 1, &x);
    sp_profile_stop();
    sp_profile_row rows[32];
    int n = 0;
    OK(sp_profile_rows(0, 32, rows, &n));
    int64_t self = 0;
    const sp_profile_row *outer = row_of(rows, n, "operator", "logsumexp");
    assert_non_null(outer);
    for (int i = 0; i < n; i++) {
        self += rows[i].self_ns;
        assert_true(rows[i].self_ns <= rows[i].total_ns);
    }
    assert_true(self <= outer->total_ns); /* what lies inside is not counted again */
    sp_tensor_release(x);
}

static void a_full_recording_counts_on(void **state)
{
    (void)state;
    sp_tensor *a = filled(2, 2), *two[] = {a, a};
    OK(sp_profile_start(3));
    for (int i = 0; i < 10; i++) apply("add", 2, two);
    sp_profile_stop();
    int64_t dropped = 0;
    assert_int_equal(sp_profile_count(&dropped), 3);
    assert_int_equal(dropped, 7);
    char *table = NULL;
    OK(sp_profile_table(1, &table));
    assert_non_null(strstr(table, "3 events, and 7 for which there was no room"));
    sp_text_free(table);
    sp_profile_resume();
    apply("add", 2, two);
    sp_profile_stop();
    assert_int_equal(sp_profile_count(NULL), 3);
    OK(sp_profile_start(0)); /* forgets */
    sp_profile_stop();
    assert_int_equal(sp_profile_count(&dropped), 0);
    assert_int_equal(dropped, 0);
    assert_int_equal(sp_profile_start(-1), SP_VALUE);
    assert_int_equal(sp_profile_table(0, &table), SP_VALUE);
    sp_tensor_release(a);
}

/* Without memory events are dropped, and operators do what they do. */
static void no_memory_fails_nothing(void **state)
{
    (void)state;
    sp_tensor *a = filled(2, 2), *two[] = {a, a};
    for (int at = 1; at < 12; at++) {
        OK(sp_profile_start(0));
        sp__alloc_fail_at(at);
        const int64_t now = sp_profile_now();
        sp_profile_here("model.c", 1);
        sp_profile_add("step", "one", now, now);
        sp_profile_add("step", "two", now, now);
        sp__alloc_fail_at(0);
        apply("add", 2, two);
        sp_profile_stop();
        int64_t dropped = 0;
        assert_int_equal(sp_profile_count(&dropped) + dropped, 3);
    }
    OK(sp_profile_start(0));
    sp_profile_stop();
    sp_tensor_release(a);
}

static void *many(void *context)
{
    sp_tensor *two[] = {context, context};
    for (int i = 0; i < 200; i++) apply("add", 2, two);
    return NULL;
}

static void threads_record_side_by_side(void **state)
{
    (void)state;
    sp_tensor *a = filled(2, 2);
    pthread_t threads[4];
    OK(sp_profile_start(0));
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, many, a), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    sp_profile_stop();
    sp_profile_row row;
    int n = 0;
    OK(sp_profile_rows(0, 1, &row, &n));
    assert_int_equal(row.n, 800);
    sp_tensor_release(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_are_events),        cmocka_unit_test(operators_inside_of_operators_count_once),
        cmocka_unit_test(a_full_recording_counts_on),  cmocka_unit_test(no_memory_fails_nothing),
        cmocka_unit_test(threads_record_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
