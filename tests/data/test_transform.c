/* SPDX-License-Identifier: Apache-2.0 */
/* test_transform.c - transforms from C: made by name, applied to rows, reproducible by (seed, row). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "data/transform.h"

#define OK(expr)                                                                                                       \
    do {                                                                                                               \
        sp_status ok_ = (expr);                                                                                        \
        if (ok_ != SP_OK) fail_msg("%s: %s", #expr, sp_error_message());                                               \
    } while (0)

static sp_transform *make(const char *name, const char *arg, int n, const double *values)
{
    sp_transform *t = NULL;
    const sp_transform_arg args[] = {{arg, n, values}};
    OK(sp_transform_create(name, arg ? 1 : 0, args, 0, NULL, &t));
    return t;
}

/* An image whose level at (y, x, k) is y + 2 x + 40 k. */
static sp_tensor *picture(int h, int w, int c)
{
    sp_tensor *t = NULL;
    OK(sp_tensor_create(SP_DTYPE_U8, 3, (int64_t[]){h, w, c}, &t));
    uint8_t *p = sp_tensor_data(t);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int k = 0; k < c; k++) *p++ = (uint8_t)(y + 2 * x + 40 * k);
    return t;
}

static void entries_have_names_and_bounds(void **unused)
{
    (void)unused;
    assert_true(sp_transform_count() > 60);
    for (int i = 0; i < sp_transform_count(); i++) {
        assert_non_null(sp_transform_name_at(i));
        for (int k = 0; k < i; k++) assert_string_not_equal(sp_transform_name_at(i), sp_transform_name_at(k));
    }
    assert_null(sp_transform_name_at(-1));
    assert_null(sp_transform_name_at(sp_transform_count()));
}

static void wrong_arguments_are_named(void **unused)
{
    (void)unused;
    sp_transform *t = NULL;
    const double minus[] = {-3};
    assert_int_equal(sp_transform_create("Nothing", 0, NULL, 0, NULL, &t), SP_KEY);
    assert_non_null(strstr(sp_error_message(), "Nothing"));
    assert_int_equal(sp_transform_create("Resize", 1, &(sp_transform_arg){"siez", 1, minus}, 0, NULL, &t), SP_TYPE);
    assert_non_null(strstr(sp_error_message(), "it takes: size, interpolation"));
    assert_int_equal(sp_transform_create("Resize", 1, &(sp_transform_arg){"size", 1, minus}, 0, NULL, &t), SP_VALUE);
    assert_int_equal(sp_transform_create("Resize", 0, NULL, 0, NULL, &t), SP_TYPE);
    assert_non_null(strstr(sp_error_message(), "size is missing"));
    assert_int_equal(sp_transform_create("Compose", 0, NULL, 0, NULL, &t), SP_VALUE);
    assert_null(t);
}

static void a_crop_is_dense(void **unused)
{
    (void)unused;
    sp_transform *crop = make("CenterCrop", "size", 2, (double[]){2, 3});
    sp_tensor *in = picture(6, 7, 3), *out = NULL;
    OK(sp_transform_run(crop, NULL, 1, &in, 1, &out, NULL));
    assert_true(sp_tensor_is_contiguous(out));
    assert_int_equal(sp_tensor_dims(out)[0], 2);
    assert_int_equal(sp_tensor_dims(out)[1], 3);
    assert_int_equal(((uint8_t *)sp_tensor_data(out))[0], 2 + 2 * 2);
    sp_tensor_release(in);
    sp_tensor_release(out);
    sp_transform_release(crop);
}

/* Normalize and HWC2CHW as neighbours give what they give alone. */
static void fusion_changes_nothing(void **unused)
{
    (void)unused;
    sp_transform *list[2] = {NULL, make("HWC2CHW", NULL, 0, NULL)};
    const sp_transform_arg args[] = {{"mean", 3, (double[]){10, 20, 30}}, {"std", 3, (double[]){2, 3, 7}}};
    OK(sp_transform_create("Normalize", 2, args, 0, NULL, &list[0]));
    sp_tensor *in = picture(5, 9, 3), *together = NULL, *first = NULL, *second = NULL;
    OK(sp_transform_run_all(2, list, NULL, 1, &in, 1, &together, NULL));
    OK(sp_transform_run(list[0], NULL, 1, &in, 1, &first, NULL));
    OK(sp_transform_run(list[1], NULL, 1, &first, 1, &second, NULL));
    assert_int_equal(sp_tensor_bytes(together), sp_tensor_bytes(second));
    assert_memory_equal(sp_tensor_data(together), sp_tensor_data(second), sp_tensor_bytes(second));
    sp_tensor_release(in);
    sp_tensor_release(together);
    sp_tensor_release(first);
    sp_tensor_release(second);
    for (int i = 0; i < 2; i++) sp_transform_release(list[i]);
}

static void a_row_follows_from_seed_and_number(void **unused)
{
    (void)unused;
    sp_transform *crop = make("RandomCrop", "size", 1, (double[]){4});
    sp_tensor *in = picture(30, 40, 3);
    uint8_t first[8];
    int different = 0;
    for (int round = 0; round < 2; round++)
        for (uint64_t row = 0; row < 8; row++) {
            sp_stream s = {.seed = 5, .row = row};
            sp_tensor *out = NULL;
            OK(sp_transform_run(crop, &s, 1, &in, 1, &out, NULL));
            const uint8_t corner = *(uint8_t *)sp_tensor_data(out);
            if (round == 0) first[row] = corner;
            else assert_int_equal(corner, first[row]);
            different += corner != first[0];
            sp_tensor_release(out);
        }
    assert_true(different > 8);
    assert_int_equal(sp_transform_run(crop, NULL, 1, &in, 1, &in, NULL), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "random"));
    sp_tensor_release(in);
    sp_transform_release(crop);
}

/* Several columns of a row get the same draws. */
static void columns_are_treated_alike(void **unused)
{
    (void)unused;
    sp_transform *crop = make("RandomCrop", "size", 1, (double[]){4});
    sp_tensor *in[2] = {picture(30, 40, 3), picture(30, 40, 3)}, *out[2] = {NULL, NULL};
    sp_stream s = {.seed = 5, .row = 3};
    int n = 0;
    OK(sp_transform_run(crop, &s, 2, in, 2, out, &n));
    assert_int_equal(n, 2);
    assert_memory_equal(sp_tensor_data(out[0]), sp_tensor_data(out[1]), sp_tensor_bytes(out[0]));
    for (int i = 0; i < 2; i++) {
        sp_tensor_release(in[i]);
        sp_tensor_release(out[i]);
    }
    sp_transform_release(crop);
}

static void bombs_are_refused(void **unused)
{
    (void)unused;
    /* A PNG header of 65535 x 65535, and a JPEG one. */
    static const uint8_t png[] = {0x89, 'P',  'N',  'G', 13, 10,   26,   10, 0, 0, 0, 13, 'I',  'H',  'D',  'R', 0,
                                  0,    0xFF, 0xFF, 0,   0,  0xFF, 0xFF, 8,  2, 0, 0, 0,  0x1A, 0xC1, 0xE4, 0x44};
    static const uint8_t jpeg[] = {0xFF, 0xD8, 0xFF, 0xC0, 0,    17, 8, 0xFF, 0xDC, 0xFF, 0xDC, 3,
                                   1,    0x11, 0,    2,    0x11, 0,  3, 0x11, 0,    0xFF, 0xDA, 0,
                                   12,   3,    1,    0,    2,    0,  3, 0,    0,    63,   0};
    sp_tensor *image = NULL;
    assert_int_equal(sp_image_decode(png, sizeof png, SP_DECODE_COLOR, &image), SP_FORMAT);
    assert_int_equal(sp_image_decode(jpeg, sizeof jpeg, SP_DECODE_COLOR, &image), SP_FORMAT);
    assert_non_null(strstr(sp_error_message(), "million pixels"));
    assert_null(image);
}

/* Memory that would be asked for is never reached: sizes are checked first. */
static void results_too_large_are_refused(void **unused)
{
    (void)unused;
    sp_transform *pad = make("Pad", "padding", 1, (double[]){30000}),
                 *resize = make("Resize", "size", 2, (double[]){16000000, 900});
    sp_tensor *in = picture(17000, 1, 3), *out = NULL;
    assert_int_equal(sp_transform_run(pad, NULL, 1, &in, 1, &out, NULL), SP_RUNTIME);
    assert_non_null(strstr(sp_error_message(), "too large"));
    assert_int_equal(sp_transform_run(resize, NULL, 1, &in, 1, &out, NULL), SP_RUNTIME);
    assert_null(out);
    sp_tensor_release(in);
    sp_transform_release(pad);
    sp_transform_release(resize);
}

static void encoded_comes_back(void **unused)
{
    (void)unused;
    sp_tensor *in = picture(17, 23, 3), *bytes = NULL, *out = NULL;
    OK(sp_image_encode_png(in, 6, &bytes));
    OK(sp_image_decode(sp_tensor_data(bytes), sp_tensor_bytes(bytes), SP_DECODE_COLOR, &out));
    assert_memory_equal(sp_tensor_data(in), sp_tensor_data(out), sp_tensor_bytes(in));
    sp_tensor_release(bytes);
    sp_tensor_release(out);
    OK(sp_image_encode_jpeg(in, 95, &bytes));
    OK(sp_image_decode(sp_tensor_data(bytes), sp_tensor_bytes(bytes), SP_DECODE_COLOR, &out));
    const uint8_t *a = sp_tensor_data(in), *b = sp_tensor_data(out);
    for (size_t i = 0; i < sp_tensor_bytes(in); i++) assert_true(abs(a[i] - b[i]) < 20);
    sp_tensor_release(bytes);
    sp_tensor_release(out);
    sp_tensor_release(in);
}

/* Every allocation fails once: an error, no crash, no leak (the sanitizer looks). */
static void no_memory_is_an_error(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *arg;
        int n;
        double v[2];
    } cases[] = {
        {"Resize", "size", 2, {9, 11}}, {"CenterCrop", "size", 1, {50}}, {"GaussianBlur", "kernel_size", 1, {3}},
        {"Rotate", "degrees", 1, {30}}, {"Equalize", NULL, 0, {0}},      {"ToTensor", NULL, 0, {0}},
        {"RandAugment", NULL, 0, {0}},  {"Pad", "padding", 1, {2}},      {"AdjustContrast", "contrast_factor", 1, {2}}};
    sp_tensor *in = picture(20, 30, 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sp_transform *t = make(cases[i].name, cases[i].arg, cases[i].n, cases[i].v);
        for (int64_t fail = 1;; fail++) {
            sp_stream s = {.seed = 1};
            sp_tensor *out = NULL;
            sp__alloc_fail_at(fail);
            const sp_status status = sp_transform_run(t, &s, 1, &in, 1, &out, NULL);
            sp__alloc_fail_at(0);
            if (status == SP_OK) {
                sp_tensor_release(out);
                break;
            }
            assert_int_equal(status, SP_NOMEM);
            assert_null(out);
        }
        sp_transform_release(t);
    }
    sp_tensor_release(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_have_names_and_bounds),
        cmocka_unit_test(wrong_arguments_are_named),
        cmocka_unit_test(a_crop_is_dense),
        cmocka_unit_test(fusion_changes_nothing),
        cmocka_unit_test(a_row_follows_from_seed_and_number),
        cmocka_unit_test(columns_are_treated_alike),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(results_too_large_are_refused),
        cmocka_unit_test(encoded_comes_back),
        cmocka_unit_test(no_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
