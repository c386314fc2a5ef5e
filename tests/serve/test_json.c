/* SPDX-License-Identifier: Apache-2.0 */
/* test_json.c - JSON into tensors and back. */
#include <locale.h>
#include <math.h>

#include "base/share.h"
#include "formats/formats_util.h"
#include "serve/json.h"

static bool well_formed(const char *text)
{
    sp_json j = sp__json_open(text, strlen(text));
    return sp__json_skip(&j) == SP_OK && sp__json_end(&j) == SP_OK;
}

static void syntax_is_strict(void **unused)
{
    static const char *const good[] = {"0",       "-0",   "1.5e-3",
                                       "1E+9",    "\"\"", "\"\\u00e9\\ud83d\\ude00\\n\"",
                                       "[]",      "{}",   " [ 1 , {\"a\":[null,true,false]} ] ",
                                       "\"\x7f\""};
    static const char *const bad[] = {"",
                                      " ",
                                      "01",
                                      "-",
                                      "+1",
                                      ".5",
                                      "1.",
                                      "1e",
                                      "1e+",
                                      "0x1",
                                      "NaN",
                                      "nul",
                                      "truex",
                                      "'a'",
                                      "\"",
                                      "\"\n\"",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\ud800\"",
                                      "\"\\ud800\\u0041\"",
                                      "\"\\udc00\"",
                                      "\"\xff\"",
                                      "\"\xc0\x80\"",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "[",
                                      "]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{a:1}",
                                      "{\"a\":1,}",
                                      "1 2"};
    (void)unused;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!well_formed(good[i])) fail_msg("%s is refused: %s", good[i], sp_error_message());
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (well_formed(bad[i])) fail_msg("%s is taken", bad[i]);
}

static void depth_is_limited(void **unused)
{
    char text[200];
    (void)unused;
    for (int n = 60; n <= 70; n++) {
        memset(text, '[', (size_t)n);
        memset(text + n, ']', (size_t)n);
        text[2 * n] = '\0';
        assert_int_equal(well_formed(text), n <= 64);
    }
}

static void texts_are_read(void **unused)
{
    sp__arena a = {0};
    const char *text = "\"a\\u00e9\\ud83d\\ude00\\\"\\/\xc3\xa9\\u0000\"", *out;
    size_t bytes;
    sp_json j = sp__json_open(text, strlen(text));
    (void)unused;
    OK(sp__json_text(&j, &a, &out, &bytes));
    assert_int_equal(bytes, 1 + 2 + 4 + 2 + 2 + 1);
    assert_memory_equal(out, "a\xc3\xa9\xf0\x9f\x98\x80\"/\xc3\xa9\0", bytes);
    j = sp__json_open(text, strlen(text));
    assert_int_equal(sp__json_text(&j, &a, &out, NULL), SP_FORMAT); /* a NUL where none is wanted */
    sp__arena_free(&a);
}

static sp_status element(const char *text, sp_dtype dtype, void *out)
{
    sp_json j = sp__json_open(text, strlen(text));
    sp_status status = sp__json_element(&j, dtype, out);
    return status == SP_OK ? sp__json_end(&j) : status;
}

static void integers_must_fit(void **unused)
{
    static const struct {
        sp_dtype dtype;
        const char *good[3], *bad[3];
    } cases[] = {{SP_DTYPE_U8, {"0", "255", "7.0"}, {"256", "-1", "0.5"}},
                 {SP_DTYPE_I8, {"-128", "127", "-0"}, {"128", "-129", "1e9"}},
                 {SP_DTYPE_I64,
                  {"-9223372036854775808", "9223372036854775807", "10.00"},
                  {"9223372036854775808", "-9223372036854775809", "1e30"}},
                 {SP_DTYPE_U64, {"18446744073709551615", "0.0", "1"}, {"18446744073709551616", "-1", "\"1\""}}};
    uint64_t v;
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 3; k++) {
            if (element(cases[i].good[k], cases[i].dtype, &v) != SP_OK)
                fail_msg("%s: %s", cases[i].good[k], sp_error_message());
            if (element(cases[i].bad[k], cases[i].dtype, &v) == SP_OK)
                fail_msg("%s is taken as %s", cases[i].bad[k], sp_dtype_name(cases[i].dtype));
        }
    int64_t big;
    OK(element("-9223372036854775808", SP_DTYPE_I64, &big));
    assert_true(big == INT64_MIN);
}

/* What is written for one element. */
static const char *written(sp_dtype dtype, const void *p)
{
    static char text[128];
    sp__text t = {0};
    sp__json_put_elements(&t, dtype, 1, p);
    snprintf(text, sizeof text, "%s", t.data);
    sp__free(t.data);
    return text;
}

static void floats_come_back_as_they_were(void **unused)
{
    uint64_t state = 1;
    (void)unused;
    for (int i = 0; i < share_of(200000); i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t bits = (uint32_t)(state >> 32);
        if (i % 2 == 0) bits = (bits & 0x83FFFFFFu) | 0x3C000000u; /* of everyday size */
        float f, back;
        memcpy(&f, &bits, 4);
        if (!isfinite(f)) continue;
        if (element(written(SP_DTYPE_F32, &f), SP_DTYPE_F32, &back) != SP_OK || memcmp(&f, &back, 4) != 0)
            fail_msg("%a is written as %s", (double)f, written(SP_DTYPE_F32, &f));
        double d, again;
        memcpy(&d, &state, 8);
        if (isfinite(d) &&
            (element(written(SP_DTYPE_F64, &d), SP_DTYPE_F64, &again) != SP_OK || memcmp(&d, &again, 8) != 0))
            fail_msg("%a is written as %s", d, written(SP_DTYPE_F64, &d));
    }
}

static void floats_are_short(void **unused)
{
    static const struct {
        float f;
        const char *text;
    } cases[] = {{0.1f, "0.1"}, {1, "1.0"},          {-2.5f, "-2.5"},           {100, "100.0"},
                 {0, "0.0"},    {-0.0f, "-0.0"},     {0.001f, "0.001"},         {16777216, "16777216.0"},
                 {NAN, "null"}, {-INFINITY, "null"}, {3.14159274f, "3.1415927"}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(written(SP_DTYPE_F32, &cases[i].f), cases[i].text);
}

static void decimals_round_correctly(void **unused)
{
    static const struct {
        const char *text;
        double d;
    } cases[] = {{"9007199254740993", 9007199254740992.0},
                 {"0.1", 0.1},
                 {"123456789012345678901234567890", 123456789012345678901234567890.0},
                 {"1e-400", 0},
                 {"2.2250738585072011e-308", 2.2250738585072011e-308},
                 {"1e22", 1e22},
                 {"1e23", 1e23},
                 {"0.000000000000000000000000000001", 1e-30}};
    double d;
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OK(element(cases[i].text, SP_DTYPE_F64, &d));
        assert_true(d == cases[i].d);
    }
    assert_int_equal(element("1e400", SP_DTYPE_F64, &d), SP_FORMAT);
    assert_int_equal(element("1e39", SP_DTYPE_F32, &d), SP_FORMAT);
}

static void arrays_have_shapes(void **unused)
{
    const char *text = "[[[1,2],[3,4],[5,6]]]";
    int rank;
    int64_t dims[SP_RANK_MAX];
    float v[6];
    sp_json j = sp__json_open(text, strlen(text));
    (void)unused;
    OK(sp__json_shape(j, &rank, dims));
    assert_true(rank == 3 && dims[0] == 1 && dims[1] == 3 && dims[2] == 2);
    OK(sp__json_elements(&j, SP_DTYPE_F32, 6, v));
    assert_true(v[0] == 1 && v[5] == 6);
    sp__text t = {0};
    sp__json_put_nested(&t, SP_DTYPE_F32, rank, dims, v);
    assert_string_equal(t.data, "[[[1.0,2.0],[3.0,4.0],[5.0,6.0]]]");
    sp__free(t.data);
    j = sp__json_open(text, strlen(text));
    assert_int_equal(sp__json_elements(&j, SP_DTYPE_F32, 5, v), SP_FORMAT);
    j = sp__json_open("[]", 2);
    assert_int_equal(sp__json_shape(j, &rank, dims), SP_FORMAT);
    OK(sp__json_elements(&j, SP_DTYPE_F32, 0, v));
}

static void written_texts_are_well_formed(void **unused)
{
    sp__text t = {0};
    (void)unused;
    sp__json_put_text(&t, "a\"\\\n\x01\xff\xc3\xa9\0b", 10);
    assert_string_equal(t.data, "\"a\\\"\\\\\\n\\u0001\xEF\xBF\xBD\xc3\xa9\\u0000b\"");
    assert_true(well_formed(t.data));
    sp__free(t.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(syntax_is_strict),
                                       cmocka_unit_test(depth_is_limited),
                                       cmocka_unit_test(texts_are_read),
                                       cmocka_unit_test(integers_must_fit),
                                       cmocka_unit_test(floats_come_back_as_they_were),
                                       cmocka_unit_test(floats_are_short),
                                       cmocka_unit_test(decimals_round_correctly),
                                       cmocka_unit_test(arrays_have_shapes),
                                       cmocka_unit_test(written_texts_are_well_formed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
