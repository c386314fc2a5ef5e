/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool.c - pooling: known answers for the ways of padding and counting, windows worked out by hand for random cases,
 * and the identities that define the gradients, exactly, on numbers that need no rounding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/op_impl.h"
#include "spore/grad.h"

static uint64_t seed = 3;
static int64_t between(int64_t low, int64_t high)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (int64_t)((seed >> 33) % (uint64_t)(high - low + 1));
}

static sp_tensor *tensor(int rank, const int64_t *dims, bool counting)
{
    sp_tensor *t;
    assert_int_equal(sp_tensor_create(SP_DTYPE_F64, rank, dims, &t), SP_OK);
    for (int64_t i = 0; i < t->count; i++)
        ((double *)(void *)t->data)[i] = counting ? (double)(i + 1) : (double)between(-9, 9);
    return t;
}

static const double *values(const sp_tensor *t) { return (const double *)(const void *)t->data; }

static int apply(const char *name, const char *text, int n_in, sp_tensor **in, sp_tensor **out)
{
    const sp_op *op = sp_op_find(name);
    assert_non_null(op);
    char attrs[512] = {0};
    sp_attr_text keep = {.n_blocks = 0};
    int n = 0;
    assert_true(op->attrs_bytes <= sizeof attrs);
    assert_int_equal(sp__attrs_parse(op, text, attrs, &keep), SP_OK);
    sp_status status = sp_apply(op, attrs, n_in, in, 2, out, &n);
    sp__attr_text_free(&keep);
    return status == SP_OK ? n : -1;
}

static void expect(const char *name, const char *text, int rank, const int64_t *dims, int n, const double *want)
{
    sp_tensor *x = tensor(rank, dims, true), *out[2];
    int count = apply(name, text, 1, &x, out);
    if (count < 0) fail_msg("%s %s: %s", name, text, sp_error_message());
    assert_int_equal(out[0]->count, n);
    for (int i = 0; i < n; i++)
        if (fabs(values(out[0])[i] - want[i]) > 1e-12)
            fail_msg("%s %s: element %d is %g, wanted %g", name, text, i, values(out[0])[i], want[i]);
    for (int i = 0; i < count; i++) sp_tensor_release(out[i]);
    sp_tensor_release(x);
}

#define EXPECT(name, text, rank, dims, ...)                                                                            \
    expect(name, text, rank, dims, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})

/* Input 1, 2, 3, ... in 5 x 5. */
static void padding_and_counting(void **state)
{
    (void)state;
    static const int64_t square[] = {1, 1, 5, 5}, cube[] = {1, 1, 3, 3, 3}, line[] = {1, 1, 7};
    EXPECT("avg_pool2d", "kernel_size=3, stride=2, pad_mode=same", 4, square, 4, 5.5, 7, 11.5, 13, 14.5, 19, 20.5, 22);
    EXPECT("avg_pool2d", "kernel_size=2, pad_mode=SAME", 4, square, 4, 6, 7.5, 14, 16, 17.5, 21.5, 23.5, 25);
    EXPECT("avg_pool2d", "kernel_size=3, stride=2, pad=1, count_include_pad=True", 4, square, 16. / 9, 33. / 9, 28. / 9,
           69. / 9, 13, 87. / 9, 76. / 9, 123. / 9, 88. / 9);
    EXPECT("avg_pool2d", "kernel_size=2, ceil_mode=True, count_include_pad=True", 4, square, 4, 6, 7.5, 14, 16, 17.5,
           21.5, 23.5, 25);
    EXPECT("avg_pool2d", "kernel_size=2, pad=1, ceil_mode=True, count_include_pad=True", 4, square, 0.25, 1.25, 2.25,
           4.25, 10, 12, 9.25, 20, 22);
    EXPECT("avg_pool2d", "kernel_size=2, divisor_override=3", 4, square, 16. / 3, 8, 56. / 3, 64. / 3);
    EXPECT("max_pool2d", "kernel_size=2, pad_mode=same", 4, square, 7, 9, 10, 17, 19, 20, 22, 24, 25);
    EXPECT("max_pool2d", "kernel_size=2, stride=1, dilation=2", 4, square, 13, 14, 15, 18, 19, 20, 23, 24, 25);
    EXPECT("max_pool2d", "kernel_size=2, stride=2, pad=1", 4, square, 1, 3, 5, 11, 13, 15, 21, 23, 25);
    EXPECT("adaptive_avg_pool2d", "output_size=(3,2)", 4, square, 4.5, 6.5, 12, 14, 19.5, 21.5);
    EXPECT("adaptive_avg_pool2d", "output_size=(-1,2)", 4, square, 2, 4, 7, 9, 12, 14, 17, 19, 22, 24);
    EXPECT("adaptive_max_pool2d", "output_size=(3,2)", 4, square, 8, 10, 18, 20, 23, 25);
    EXPECT("max_pool3d", "kernel_size=2, pad_mode=same", 5, cube, 14, 15, 17, 18, 23, 24, 26, 27);
    EXPECT("avg_pool3d", "kernel_size=2, pad_mode=same, count_include_pad=True", 5, cube, 7.5, 4.5, 6, 3.375, 10.5,
           5.625, 6.375, 3.375);
    EXPECT("avg_pool3d", "kernel_size=2, pad=1", 5, cube, 1, 2.5, 5.5, 7, 14.5, 16, 19, 20.5);
    EXPECT("avg_pool1d", "kernel_size=3, stride=2, pad=1, count_include_pad=True", 3, line, 1, 3, 5, 13. / 3);
}

static void first_of_equals_and_no_nan(void **state)
{
    (void)state;
    sp_tensor *x = tensor(4, (int64_t[]){1, 1, 2, 4}, false), *out[2];
    double *v = (double *)(void *)x->data;
    for (int i = 0; i < 8; i++) v[i] = 5;
    v[2] = NAN;
    assert_int_equal(apply("max_pool2d_indices", "kernel_size=2", 1, &x, out), 2);
    const int64_t *at = (const int64_t *)(const void *)out[1]->data;
    assert_int_equal(at[0], 0);
    assert_int_equal(at[1], 3);
    assert_true(values(out[0])[1] == 5);
    sp_tensor_release(out[0]), sp_tensor_release(out[1]), sp_tensor_release(x);
}

static double inner(const sp_tensor *a, const sp_tensor *b)
{
    assert_true(sp__tensor_same_shape(a, b));
    double sum = 0;
    for (int64_t i = 0; i < a->count; i++) sum += values(a)[i] * values(b)[i];
    return sum;
}

/* The gradient of sum(pool(x) * g), once and twice; for linear L: <L x, g> = <x, L'g>, and the gradient by g of
 * <L'g, y> is L y. Maxima are linear as long as their places stay. */
static void gradients_are_adjoint(void **state)
{
    (void)state;
    static const struct {
        const char *name, *attrs;
        int rank;
        int64_t dims[5];
    } cases[] = {
        {"max_pool1d", "kernel_size=3, stride=2, pad=1", 3, {2, 3, 9}},
        {"max_pool2d", "kernel_size=2", 4, {2, 3, 6, 6}},
        {"max_pool2d", "kernel_size=3, stride=1, pad_mode=same", 4, {1, 2, 5, 7}},
        {"max_pool2d", "kernel_size=(2,3), stride=2, dilation=2, pad=1, ceil_mode=True", 4, {2, 1, 8, 9}},
        {"max_pool3d", "kernel_size=2, stride=1", 5, {1, 2, 4, 3, 5}},
        {"adaptive_max_pool2d", "output_size=(3,2)", 4, {1, 2, 7, 5}},
        {"avg_pool1d", "kernel_size=4, stride=2", 2, {3, 9}},
        {"avg_pool2d", "kernel_size=2", 4, {2, 3, 6, 6}},
        {"avg_pool2d", "kernel_size=4, stride=3, pad=2, ceil_mode=True, count_include_pad=True", 4, {1, 2, 8, 9}},
        {"avg_pool3d", "kernel_size=2, stride=1, divisor_override=4", 5, {1, 2, 4, 3, 5}},
        {"adaptive_avg_pool2d", "output_size=(4,8)", 4, {2, 2, 4, 16}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sp_tensor *x = tensor(cases[i].rank, cases[i].dims, false), *y = tensor(cases[i].rank, cases[i].dims, false);
        sp_tensor *out[2], *dx, *back;
        sp_grad_begin();
        assert_int_equal(sp_grad_watch(x), SP_OK);
        int n = apply(cases[i].name, cases[i].attrs, 1, &x, out);
        if (n < 0) fail_msg("%s: %s", cases[i].name, sp_error_message());
        sp_tensor *g = tensor(out[0]->rank, out[0]->dims, false);
        assert_int_equal(sp_grad_watch(g), SP_OK);
        if (sp_grad_backward(1, out, &g, 1, &x, true, &dx) != SP_OK)
            fail_msg("%s: %s", cases[i].name, sp_error_message());
        double want = inner(out[0], g), found = inner(x, dx);
        if (fabs(want - found) > 1e-9)
            fail_msg("%s %s: <L x, g> = %g, <x, L'g> = %g", cases[i].name, cases[i].attrs, want, found);
        if (sp_grad_backward(1, &dx, &y, 1, &g, false, &back) != SP_OK)
            fail_msg("%s: %s", cases[i].name, sp_error_message());
        want = inner(y, dx), found = inner(back, g);
        if (fabs(want - found) > 1e-9) fail_msg("%s %s, twice: %g and %g", cases[i].name, cases[i].attrs, want, found);
        sp_grad_unwatch(x), sp_grad_unwatch(g);
        sp_grad_end();
        for (int k = 0; k < n; k++) sp_tensor_release(out[k]);
        sp_tensor_release(x), sp_tensor_release(y), sp_tensor_release(g), sp_tensor_release(dx),
            sp_tensor_release(back);
    }
}

static void faults_are_named(void **state)
{
    (void)state;
    sp_tensor *x = tensor(4, (int64_t[]){1, 1, 3, 3}, true), *out[2];
    assert_int_equal(apply("max_pool2d", "kernel_size=4", 1, &x, out), -1);
    assert_non_null(strstr(sp_error_message(), "the kernel covers 4 elements, but the input with padding has 3"));
    assert_int_equal(apply("max_pool2d", "kernel_size=2, pad=2", 1, &x, out), -1);
    assert_non_null(strstr(sp_error_message(), "pad must be at most half"));
    assert_int_equal(apply("avg_pool2d", "kernel_size=2, data_format=NHWC", 1, &x, out), -1);
    assert_int_equal(apply("avg_pool3d", "kernel_size=5", 1, &x, out), -1);
    assert_int_equal(apply("adaptive_avg_pool2d", "output_size=(0,2)", 1, &x, out), -1);
    sp_tensor_release(x);
}

/* Maxima alone go another way than maxima with their places: to the same bits, also of zeros of either sign, NaN and infinities, in every float and in integers. */
static void maxima_alone_have_the_same_bits(void **state)
{
    (void)state;
    static const sp_dtype dtypes[] = {SP_DTYPE_F32, SP_DTYPE_F64, SP_DTYPE_F16, SP_DTYPE_BF16, SP_DTYPE_I32};
    static const double kinds[] = {0, -0.0, NAN, -INFINITY, INFINITY, -1, 2, 3};
    for (int n = 0; n < 400; n++) {
        const int64_t k0 = between(1, 5), k1 = between(2, 7),
                      dims[] = {1, 2, between(k0, 20), between(k1, n % 8 ? 40 : 150)};
        char text[128];
        snprintf(text, sizeof text, "kernel_size=(%d,%d), stride=(%d,%d), pad=(%d,%d)", (int)k0, (int)k1,
                 (int)between(1, 3), (int)between(1, 3), (int)(k0 / 2), (int)(k1 / 2));
        sp_tensor *wide = tensor(4, dims, false), *x, *alone[2], *with[2];
        for (int64_t i = 0; i < wide->count;
             i++) /* of every second: whole windows of odd numbers, among them of NaN alone */
            if (n % 2) ((double *)(void *)wide->data)[i] = kinds[between(0, n % 3 ? 7 : 2)];
        const sp_dtype dtype = dtypes[n / 2 % 5];
        char cast[64];
        snprintf(cast, sizeof cast, "dtype=%s", sp_dtype_name(dtype));
        assert_int_equal(apply("cast", cast, 1, &wide, &x), 1);
        assert_int_equal(apply("max_pool2d", text, 1, &x, alone), 1);
        assert_int_equal(apply("max_pool2d_indices", text, 1, &x, with), 2);
        assert_int_equal(alone[0]->count, with[0]->count);
        if (memcmp(alone[0]->data, with[0]->data, (size_t)alone[0]->count * sp_dtype_bytes(dtype)) != 0)
            fail_msg("max_pool2d %s of %s differs from max_pool2d_indices", text, sp_dtype_name(dtype));
        sp_tensor *all[] = {wide, x, alone[0], with[0], with[1]};
        for (int i = 0; i < 5; i++) sp_tensor_release(all[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padding_and_counting),
        cmocka_unit_test(first_of_equals_and_no_nan),
        cmocka_unit_test(maxima_alone_have_the_same_bits),
        cmocka_unit_test(gradients_are_adjoint),
        cmocka_unit_test(faults_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
