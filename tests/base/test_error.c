/* SPDX-License-Identifier: Apache-2.0 */
/* test_error.c - status codes and messages: cut whole, prefixed, kept apart per thread, carried as a value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static void every_status_has_text_and_exception(void **unused)
{
    (void)unused;
    for (int s = 0; s < SP_STATUS_COUNT; s++) {
        assert_true(strlen(sp_status_text((sp_status)s)) > 0);
        assert_int_equal(strlen(sp_status_exception((sp_status)s)) == 0, s == SP_OK);
    }
    assert_string_equal(sp_status_exception(SP_INDEX), "IndexError");
    assert_string_equal(sp_status_text(SP_NOMEM), "out of memory");
    assert_string_equal(sp_status_text((sp_status)9999), "unknown status");
    assert_string_equal(sp_status_exception((sp_status)-1), "RuntimeError");
}

static void fail_sets_message_and_returns_status(void **unused)
{
    (void)unused;
    assert_int_equal(sp__fail(SP_INDEX, "axis %d is out of range for rank %d", 3, 2), SP_INDEX);
    assert_string_equal(sp_error_message(), "axis 3 is out of range for rank 2");
}

static void context_goes_in_front(void **unused)
{
    (void)unused;
    sp__fail(SP_FORMAT, "bad magic");
    sp__error_context("node '%s'", "Conv-12");
    sp__error_context("%s", "model.mindir");
    assert_string_equal(sp_error_message(), "model.mindir: node 'Conv-12': bad magic");
}

static void arguments_may_be_the_message_itself(void **unused)
{
    (void)unused;
    sp__fail(SP_VALUE, "inner");
    sp__error_context("again %s", sp_error_message());
    assert_string_equal(sp_error_message(), "again inner: inner");
    sp__fail(SP_VALUE, "<%s|%s>", sp_error_message(), sp_error_message() + 6);
    assert_string_equal(sp_error_message(), "<again inner: inner|inner: inner>");
}

/* Each shift puts the cut at another byte of the two-, three- and four-byte characters. */
static void long_message_is_cut_between_characters(void **unused)
{
    (void)unused;
    static const char *const characters[] = {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x8D\x84"};
    for (size_t c = 0; c < 3; c++) {
        size_t width = strlen(characters[c]);
        for (size_t shift = 0; shift < 4; shift++) {
            char text[3000];
            memset(text, 'x', shift);
            size_t n = shift;
            for (; n + width < sizeof text; n += width) memcpy(text + n, characters[c], width);
            text[n] = '\0';
            sp__fail(SP_VALUE, "%s", text);
            const char *m = sp_error_message();
            size_t length = strlen(m);
            assert_true(ends_with(m, "..."));
            assert_true(length > 1000 && length < sizeof(((sp_error *)0)->message));
            assert_int_equal((length - 3 - shift) % width, 0);
            assert_memory_equal(m, text, length - 3);
        }
    }
}

static void longest_message_that_fits_is_not_cut(void **unused)
{
    (void)unused;
    char text[sizeof(((sp_error *)0)->message)];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    sp__fail(SP_VALUE, "%s", text);
    assert_string_equal(sp_error_message(), text);
    sp__fail(SP_VALUE, "%sb", text);
    assert_true(ends_with(sp_error_message(), "a..."));
}

static void long_context_leaves_room_for_the_cause(void **unused)
{
    (void)unused;
    char path[2000];
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    sp__fail(SP_IO, "no such file");
    sp__error_context("%s", path);
    assert_true(ends_with(sp_error_message(), "...: no such file"));
    for (int i = 0; i < 10; i++) sp__error_context("%s", path);
    assert_true(strlen(sp_error_message()) < sizeof(((sp_error *)0)->message));
    assert_true(ends_with(sp_error_message(), "..."));
}

static void *other_thread(void *out)
{
    sp_error *error = out;
    if (sp_error_message()[0] != '\0') return error; /* the message of another thread is visible */
    sp__fail(SP_KEY, "from the other thread");
    sp_error_capture(SP_KEY, error);
    return NULL;
}

static void message_is_per_thread_and_travels_as_value(void **unused)
{
    (void)unused;
    sp__fail(SP_VALUE, "mine");
    sp_error error;
    pthread_t thread;
    void *wrong = NULL;
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &error), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
    assert_string_equal(sp_error_message(), "mine");
    assert_int_equal(sp_error_raise(&error), SP_KEY);
    assert_string_equal(sp_error_message(), "from the other thread");
}

static void value_from_a_peer_is_not_trusted(void **unused)
{
    (void)unused;
    sp_error error = {.status = (sp_status)77};
    memset(error.message, 'z', sizeof error.message); /* no end */
    assert_int_equal(sp_error_raise(&error), SP_RUNTIME);
    assert_int_equal(strlen(sp_error_message()), sizeof error.message - 1);
    sp__fail(SP_VALUE, "kept");
    sp_error_capture(SP_OK, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(sp_error_raise(&error), SP_OK);
    assert_string_equal(sp_error_message(), "kept");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* their memory has no such limit */
/* The first failures of a thread, while there is no memory, and one when it has come back. NULL: all is well. */
static void *starving_thread(void *unused)
{
    (void)unused;
    static void *taken[1 << 18];
    size_t n = 0;
    char text[400], path[300];
    memset(text, 'a', sizeof text - 1);
    memset(path, 'p', sizeof path - 1);
    text[sizeof text - 1] = path[sizeof path - 1] = '\0';
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 1;
    setrlimit(RLIMIT_AS, &limit);
    while (n < sizeof taken / sizeof *taken && (taken[n] = malloc(512)) != NULL) n++;
    if (n == sizeof taken / sizeof *taken) return "memory does not run out";
    if (sp__fail(SP_NOMEM, "out of memory for %s", text) != SP_NOMEM ||
        strncmp(sp_error_message(), "out of memory for aaa", 21))
        return "lost";
    if (!ends_with(sp_error_message(), "a...") || strlen(sp_error_message()) < 100) return "not cut";
    sp__fail(SP_NOMEM, "out of memory");
    sp__error_context("node '%s'", "conv");
    if (strcmp(sp_error_message(), "node 'conv': out of memory")) return "no context";
    sp__error_context("%s", path);
    if (strcmp(sp_error_message(), "node 'conv': out of memory")) return "the cause was pushed out";
    limit.rlim_cur = before;
    setrlimit(RLIMIT_AS, &limit);
    while (n > 0) free(taken[--n]);
    sp__error_context("%s", path);
    if (!ends_with(sp_error_message(), "ppp: node 'conv': out of memory") ||
        strlen(sp_error_message()) != strlen(path) + 28)
        return "not whole again";
    sp__fail(SP_VALUE, "%s", text);
    return strcmp(sp_error_message(), text) ? "cut for ever" : NULL;
}

static void first_message_without_memory_is_short(void **unused)
{
    (void)unused;
    const pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        void *wrong = "no thread";
        if (pthread_create(&thread, NULL, starving_thread, NULL) == 0) pthread_join(thread, &wrong);
        if (wrong) fprintf(stderr, "%s: %s\n", (const char *)wrong, sp_error_message());
        _exit(wrong != NULL);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}
#endif

static void version_is_three_numbers(void **unused)
{
    (void)unused;
    int a, b, c, end = 0;
    assert_int_equal(sscanf(sp_version(), "%d.%d.%d%n", &a, &b, &c, &end), 3);
    assert_int_equal(end, (int)strlen(sp_version()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_text_and_exception),
        cmocka_unit_test(fail_sets_message_and_returns_status),
        cmocka_unit_test(context_goes_in_front),
        cmocka_unit_test(arguments_may_be_the_message_itself),
        cmocka_unit_test(long_message_is_cut_between_characters),
        cmocka_unit_test(longest_message_that_fits_is_not_cut),
        cmocka_unit_test(long_context_leaves_room_for_the_cause),
        cmocka_unit_test(message_is_per_thread_and_travels_as_value),
        cmocka_unit_test(value_from_a_peer_is_not_trusted),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(first_message_without_memory_is_short),
#endif
        cmocka_unit_test(version_is_three_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
