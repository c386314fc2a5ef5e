/* SPDX-License-Identifier: Apache-2.0 */
/* test_plain.c - numbers and letters do not follow the locale of the program: decimal commas, points of two bytes, Turkish
 * letters, Latin letters of one byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_tree.h"
#include "base/plain.h"
#include "base/text.h"
#include "spore/spore.h"

#if defined(__SANITIZE_ADDRESS__)
/* glibc's newlocale does not free its copy of LOCPATH. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:argz_add_sep\n"; }
#endif

static const char *const locales[] = {"de_DE.UTF-8", "tr_TR.UTF-8", "tr_TR.ISO-8859-9", "ps_AF.UTF-8"};
enum { N_LOCALES = sizeof locales / sizeof *locales };

/* scripts/deps makes the locales; without them nothing would be tested, which is a failure and not a pass. */
static void live_in(const char *name)
{
    setenv("LOCPATH", LOCALES, 1);
    if (setlocale(LC_ALL, name) == NULL) fail_msg("there is no locale %s in %s; run scripts/deps", name, LOCALES);
}

static int back_home(void **unused)
{
    (void)unused;
    return setlocale(LC_ALL, "C") == NULL;
}

static void each(void (*test)(void))
{
    for (int i = 0; i < N_LOCALES; i++) {
        live_in(locales[i]);
        test();
    }
}

static void check_numbers(void)
{
    char text[64], *end;
    assert_true(localeconv()->decimal_point[0] != '.');
    assert_true(sp__strtod("0.25rest", &end) == 0.25);
    assert_string_equal(end, "rest");
    assert_true(sp__strtod("1.234,5", &end) == 1.234);
    assert_string_equal(end, ",5");
    assert_true(sp__strtof("-1e-3", NULL) == -1e-3f);
    assert_true(sp__strtod("0x1.8p1", NULL) == 3);
    assert_true(isnan(sp__strtod("nan", NULL)) && sp__strtod("-inf", NULL) == -INFINITY);
    assert_int_equal(sp__snprintf(text, sizeof text, "%g %.17g %.2f %d", 0.5, 0.1, 1234567.125, 7000), 39);
    assert_string_equal(text, "0.5 0.10000000000000001 1234567.12 7000");
    /* The program keeps its own. */
    assert_true(localeconv()->decimal_point[0] != '.');
}

static void numbers_are_plain(void **unused)
{
    (void)unused;
    each(check_numbers);
}

static void check_letters(void)
{
    assert_true(sp__same_letters("VALID", "valid") && sp__same_letters("tiff", "TIFF") &&
                !sp__same_letters("pad", "pads"));
    assert_true(sp__same_letters_n("HTTPI://x", "httpi://", 8) && !sp__same_letters_n("hi", "hix", 3));
    assert_true(!sp__is_alnum((char)0xE4) && !sp__is_alpha((char)0xFD) && !sp__is_space((char)0xA0));
    assert_true(sp__is_alnum('z') && sp__is_alnum('A') && sp__is_digit('9') && sp__is_space('\v') &&
                sp__to_lower('I') == 'i');
}

static void letters_are_plain(void **unused)
{
    (void)unused;
    each(check_letters);
}

static void check_json(void)
{
    static const char source[] = "{\"a\":[0.5,-1.25,1234567.5]}";
    json_error_t error;
    json_t *tree = sp__json_load(source, sizeof source - 1, 0, &error);
    assert_non_null(tree);
    json_t *a = json_object_get(tree, "a");
    assert_true(json_real_value(json_array_get(a, 0)) == 0.5 && json_real_value(json_array_get(a, 1)) == -1.25);
    char *text = sp__json_dump(tree, JSON_COMPACT);
    assert_string_equal(text, source);
    free(text);
    json_decref(tree);
}

static void json_is_plain(void **unused)
{
    (void)unused;
    each(check_json);
}

static void json_is_not_nested_without_bound(void **unused)
{
    (void)unused;
    enum { DEEP = 200000 };
    json_error_t error;
    char *text = malloc(DEEP + 1);
    memset(text, '[', DEEP);
    assert_null(sp__json_load(text, DEEP, 0, &error));
    assert_string_equal(error.text, "nested deeper than 48");
    assert_int_equal(error.position, SP_JSON_DEPTH_MAX);
    memset(text, ']', DEEP);
    memset(text, '[', SP_JSON_DEPTH_MAX);
    json_t *tree = sp__json_load(text, 2 * SP_JSON_DEPTH_MAX, 0, &error);
    assert_non_null(tree);
    json_decref(tree);
    /* What stands in a text does not count. */
    strcpy(text, "[\"[[[[\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]");
    tree = sp__json_load(text, strlen(text), 0, &error);
    assert_non_null(tree);
    json_decref(tree);
    free(text);
}

static float first(const sp_tensor *t)
{
    assert_non_null(t);
    return ((const float *)sp_tensor_data(t))[0];
}

static void check_operators(void)
{
    sp_builder *b = NULL;
    sp_tensor *x = NULL, *y = NULL;
    assert_int_equal(sp_builder_create(&b), SP_OK);
    assert_int_equal(sp_tensor_create_f64(SP_DTYPE_F32, -2, &x), SP_OK);
    assert_int_equal(sp_tensor_create_f64(SP_DTYPE_F32, 0.4, &y), SP_OK);
    assert_true(first(sp_builder_call(b, "leaky_relu", NULL, 1, &x)) == -0.4f);
    assert_true(first(sp_builder_call(b, "leaky_relu", "alpha=0.25", 1, &x)) == -0.5f);
    assert_true(first(sp_builder_call(b, "hardshrink", NULL, 1, &y)) == 0);
    assert_true(first(sp_builder_call(b, "hardshrink", "lambd=0.375", 1, &y)) == 0.4f);
    sp_builder_release(b);
    sp_tensor_release(x);
    sp_tensor_release(y);
    assert_string_equal(sp__strerror(ENOENT), "No such file or directory");
    sp__fail(SP_VALUE, "%g", 0.5);
    assert_string_equal(sp_error_message(), "0.5");
    sp__text t = {0};
    sp__text_put(&t, "le=\"%g\"", 0.005);
    assert_string_equal(t.data, "le=\"0.005\"");
    sp__free(t.data);
}

static void operators_are_plain(void **unused)
{
    (void)unused;
    each(check_operators);
}

/* A locale of one thread counts as much as one of the program, and is there again afterwards. */
static void locale_of_a_thread_comes_back(void **unused)
{
    (void)unused;
    char text[16];
    setenv("LOCPATH", LOCALES, 1);
    locale_t german = newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0), before = uselocale((locale_t)0);
    assert_true(german != (locale_t)0);
    uselocale(german);
    sp__snprintf(text, sizeof text, "%g", 2.5);
    assert_string_equal(text, "2.5");
    assert_true(sp__strtod("2.5", NULL) == 2.5);
    assert_true(uselocale((locale_t)0) == german);
    snprintf(text, sizeof text, "%g", 2.5);
    assert_string_equal(text, "2,5");
    uselocale(before);
    freelocale(german);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(numbers_are_plain, back_home),
        cmocka_unit_test_teardown(letters_are_plain, back_home),
        cmocka_unit_test_teardown(json_is_plain, back_home),
        cmocka_unit_test(json_is_not_nested_without_bound),
        cmocka_unit_test_teardown(operators_are_plain, back_home),
        cmocka_unit_test_teardown(locale_of_a_thread_comes_back, back_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
