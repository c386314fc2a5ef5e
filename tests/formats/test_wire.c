/* SPDX-License-Identifier: Apache-2.0 */
/* test_wire.c - protobuf's encoding: numbers of every length there and back, windows that cannot be left. */
#include "formats_util.h"

#include "formats/wire.h"

static void numbers_survive(void **unused)
{
    (void)unused;
    for (int bit = 0; bit < 64; bit++)
        for (int delta = -1; delta <= 1; delta++) {
            uint64_t wanted = ((uint64_t)1 << bit) + (uint64_t)(int64_t)delta, got;
            sp_wire_out o = {0};
            OK(sp__wire_put_varint(&o, wanted));
            assert_int_equal(o.bytes, sp__wire_varint_bytes(wanted));
            sp_wire w = sp__wire_open(o.data, o.bytes);
            OK(sp__wire_varint(&w, &got));
            assert_true(got == wanted);
            assert_false(sp__wire_more(&w));
            sp_wire cut = sp__wire_open(o.data, o.bytes - 1);
            assert_int_equal(sp__wire_varint(&cut, &got), SP_FORMAT);
            sp__wire_out_free(&o);
        }
}

static sp_status skip_one(const void *data, size_t bytes, size_t *taken)
{
    sp_wire w = sp__wire_open(data, bytes);
    uint32_t number;
    int type;
    SP_TRY(sp__wire_field(&w, &number, &type));
    SP_TRY(sp__wire_skip(&w, number, type));
    *taken = sp__wire_offset(&w);
    return SP_OK;
}

static void fields_are_skipped_or_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *bytes;
        size_t n;
        bool good;
    } cases[] = {
        {"\x08\x96\x01", 3, true}, /* number */
        {"\x09"
         "12345678",
         9, true},
        {"\x09"
         "1234567",
         8, false}, /* eight bytes */
        {"\x0D"
         "1234",
         5, true},
        {"\x0D"
         "123",
         4, false}, /* four bytes */
        {"\x0A\x03"
         "abc",
         5, true},
        {"\x0A\x04"
         "abc",
         5, false}, /* bytes */
        {"\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"
         "abc",
         14, false},                                                 /* a length of 2^64 - 1 */
        {"\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", 11, false}, /* 65 bits */
        {"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12, false},
        {"\x0B\x13\x08\x01\x14\x0C", 6, true}, /* group 1 with group 2 inside */
        {"\x0B\x14", 2, false},
        {"\x0B\x08\x01", 3, false},
        {"\x0C", 1, false},
        {"\x00\x01", 2, false},
        {"\x0E", 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t taken = 0;
        sp_status status = skip_one(cases[i].bytes, cases[i].n, &taken);
        if ((status == SP_OK) != cases[i].good) fail_msg("case %zu: status %d", i, (int)status);
        if (cases[i].good) assert_int_equal(taken, cases[i].n);
    }
}

static void deep_groups_end(void **unused)
{
    (void)unused;
    static uint8_t many[100000];
    memset(many, 0x0B, sizeof many);
    size_t taken;
    assert_int_equal(skip_one(many, sizeof many, &taken), SP_FORMAT);
    assert_non_null(strstr(sp_error_message(), "nested deeper"));
}

static void windows_nest(void **unused)
{
    (void)unused;
    sp_wire_out o = {0};
    OK(sp__wire_put_head(&o, 5, 3));
    OK(sp__wire_put(&o, "\x08\x07\x08", 3));
    OK(sp__wire_put_number(&o, 1, 9));
    assert_int_equal(o.bytes, sp__wire_field_bytes(5, 3) + 2);
    sp_wire w = sp__wire_open(o.data, o.bytes), inner;
    uint32_t number;
    int type;
    uint64_t value;
    OK(sp__wire_field(&w, &number, &type));
    assert_int_equal(number, 5);
    OK(sp__wire_expect(&w, "part", type, SP_WIRE_BYTES));
    assert_int_equal(sp__wire_expect(&w, "part", type, SP_WIRE_VARINT), SP_FORMAT);
    assert_string_equal(sp_error_message(), "byte 1: part is stored as bytes, a number wanted");
    OK(sp__wire_bytes(&w, &inner));
    OK(sp__wire_field(&inner, &number, &type));
    OK(sp__wire_varint(&inner, &value));
    assert_int_equal(value, 7);
    OK(sp__wire_field(&inner, &number, &type));
    assert_int_equal(sp__wire_varint(&inner, &value), SP_FORMAT); /* the next byte belongs to the parent */
    assert_string_equal(sp_error_message(), "byte 5: a number goes past the end of its message");
    sp__wire_out_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_survive),
        cmocka_unit_test(fields_are_skipped_or_refused),
        cmocka_unit_test(deep_groups_end),
        cmocka_unit_test(windows_nest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
