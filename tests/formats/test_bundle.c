/* SPDX-License-Identifier: Apache-2.0 */
/* test_bundle.c - the collection of named values: order, search, replacement, refusals, no memory. */
#include "formats_util.h"

#include "base/base.h"
#include "spore/format.h"

static void many_names_are_found_in_order(void **unused)
{
    (void)unused;
    sp_bundle *b;
    char name[32];
    OK(sp_bundle_create(&b));
    assert_int_equal(sp_bundle_find(b, "x"), -1);
    for (int i = 0; i < 5000; i++) {
        sp_tensor *t;
        snprintf(name, sizeof name, "layer%d.weight", i);
        OK(sp_tensor_create_i64(SP_DTYPE_I64, i, &t));
        OK(sp_bundle_add(b, name, t));
        sp_tensor_release(t);
    }
    assert_int_equal(sp_bundle_count(b), 5000);
    for (int i = 0; i < 5000; i++) {
        int64_t value;
        snprintf(name, sizeof name, "layer%d.weight", i);
        assert_int_equal(sp_bundle_find(b, name), i);
        assert_string_equal(sp_bundle_name_at(b, i), name);
        OK(sp_tensor_item_i64(sp_bundle_tensor_at(b, i), &value));
        assert_int_equal(value, i);
    }
    assert_int_equal(sp_bundle_find(b, "layer5000.weight"), -1);
    sp_bundle_release(b);
}

static void a_name_is_replaced_in_its_place(void **unused)
{
    (void)unused;
    sp_bundle *b;
    sp_tensor *t;
    OK(sp_bundle_create(&b));
    OK(sp_tensor_create_i64(SP_DTYPE_I32, 7, &t));
    OK(sp_bundle_add(b, "a", t));
    OK(sp_bundle_add_text(b, "b", "first", 5));
    OK(sp_bundle_add_text(b, "a", "now a text", 10));
    OK(sp_bundle_add(b, "b", t));
    OK(sp_bundle_add(b, "b", t)); /* by itself */
    assert_int_equal(sp_bundle_count(b), 2);
    size_t bytes;
    assert_null(sp_bundle_tensor_at(b, 0));
    assert_string_equal(sp_bundle_text_at(b, 0, &bytes), "now a text");
    assert_int_equal(bytes, 10);
    assert_null(sp_bundle_text_at(b, 1, NULL));
    assert_ptr_equal(sp_bundle_tensor_at(b, 1), t);
    sp_tensor_release(t);
    sp_bundle_release(b);
    sp_bundle_release(NULL);
}

static void only_utf8_is_taken(void **unused)
{
    (void)unused;
    static const char *const good[] = {"",
                                       "a",
                                       "\x7F",
                                       "\xC2\x80",
                                       "\xDF\xBF",
                                       "\xE0\xA0\x80",
                                       "\xED\x9F\xBF",
                                       "\xEE\x80\x80",
                                       "\xF0\x90\x80\x80",
                                       "\xF4\x8F\xBF\xBF"};
    static const char *const bad[] = {"\x80",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xC3",
                                      "\xE0\x9F\xBF",
                                      "\xED\xA0\x80",
                                      "\xF0\x8F\xBF\xBF",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xE2\x82",
                                      "\xE2\x28\xA1",
                                      "\xFF"};
    sp_bundle *b;
    OK(sp_bundle_create(&b));
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        OK(sp_bundle_add_text(b, good[i], good[i], strlen(good[i])));
        assert_int_equal(sp_bundle_count(b), i + 1);
    }
    int64_t count = sp_bundle_count(b);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(sp_bundle_add_text(b, bad[i], "x", 1), SP_VALUE);
        assert_int_equal(sp_bundle_add_text(b, "x", bad[i], strlen(bad[i])), SP_VALUE);
        assert_non_null(strstr(sp_error_message(), "'x' is not UTF-8 at byte 0"));
    }
    assert_int_equal(sp_bundle_count(b), count);
    sp_bundle_release(b);
}

static void no_memory_changes_nothing(void **unused)
{
    (void)unused;
    sp_bundle *b;
    OK(sp_bundle_create(&b));
    int n_failed = 0;
    for (int i = 0; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%d", i);
        for (int64_t n = 1;; n++) {
            sp__alloc_fail_at(n);
            sp_status status = sp_bundle_add_text(b, name, "text", 4);
            sp__alloc_fail_at(0);
            if (status == SP_OK) break;
            assert_int_equal(status, SP_NOMEM);
            assert_int_equal(sp_bundle_find(b, name), -1);
            assert_int_equal(sp_bundle_count(b), i);
            n_failed++;
        }
        assert_int_equal(sp_bundle_find(b, name), i);
    }
    assert_true(n_failed >= 200);
    sp_bundle_release(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_names_are_found_in_order),
        cmocka_unit_test(a_name_is_replaced_in_its_place),
        cmocka_unit_test(only_utf8_is_taken),
        cmocka_unit_test(no_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
