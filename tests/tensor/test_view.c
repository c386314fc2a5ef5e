/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors as C sees them: views share memory and keep it, copies do not, foreign memory is given back once, mistakes are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spore/spore.h"

#define OK(expr) assert_int_equal(expr, SP_OK)

static sp_tensor *numbers(int rank, const int64_t *dims)
{
    sp_tensor *t;
    float values[64];
    for (int i = 0; i < 64; i++) values[i] = (float)i;
    OK(sp_tensor_create_from(SP_DTYPE_F32, rank, dims, values, &t));
    return t;
}

static void a_view_shares_memory_and_keeps_it(void **state)
{
    (void)state;
    const int64_t dims[2] = {3, 4}, turned[2] = {4, 3}, strides[2] = {1, 4};
    sp_tensor *t = numbers(2, dims), *view, *copy;
    OK(sp_tensor_view(t, 2, turned, strides, 0, &view));
    assert_true(sp_tensor_shares(t, view));
    assert_false(sp_tensor_is_contiguous(view));
    OK(sp_tensor_copy(view, &copy));
    assert_false(sp_tensor_shares(view, copy));
    sp_tensor_release(t); /* the view holds the memory */
    const float *x = sp_tensor_data(view), *y = sp_tensor_data(copy);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) {
            assert_true(x[i + 4 * j] == (float)(4 * j + i));
            assert_true(y[3 * i + j] == (float)(4 * j + i));
        }
    sp_tensor_release(view);
    sp_tensor_release(copy);
}

static void contiguous_gives_the_tensor_itself_where_it_is_that_already(void **state)
{
    (void)state;
    const int64_t dims[2] = {2, 3}, column[1] = {2}, stride[1] = {3};
    sp_tensor *t = numbers(2, dims), *same, *view, *made;
    OK(sp_tensor_contiguous(t, &same));
    assert_ptr_equal(t, same);
    OK(sp_tensor_view(t, 1, column, stride, 1, &view)); /* elements 1 and 4 */
    OK(sp_tensor_contiguous(view, &made));
    assert_ptr_not_equal(view, made);
    assert_true(((const float *)sp_tensor_data(made))[0] == 1 && ((const float *)sp_tensor_data(made))[1] == 4);
    sp_tensor_release(made);
    sp_tensor_release(view);
    sp_tensor_release(same);
    sp_tensor_release(t);
}

static void assigning_converts_and_reaches_strided_elements(void **state)
{
    (void)state;
    const int64_t dims[2] = {2, 3}, column[1] = {2}, stride[1] = {3};
    const int8_t values[2] = {-7, 9};
    sp_tensor *t = numbers(2, dims), *view, *source;
    OK(sp_tensor_view(t, 1, column, stride, 2, &view));
    OK(sp_tensor_create_from(SP_DTYPE_I8, 1, column, values, &source));
    OK(sp_tensor_assign(view, source));
    const float wanted[6] = {0, 1, -7, 3, 4, 9};
    assert_memory_equal(sp_tensor_data(t), wanted, sizeof wanted);
    sp_tensor_release(source);
    sp_tensor_release(view);
    sp_tensor_release(t);
}

static void count_release(void *context) { ++*(int *)context; }

static void foreign_memory_is_given_back_once(void **state)
{
    (void)state;
    double values[6] = {0, 1, 2, 3, 4, 5};
    const int64_t dims[1] = {6}, half[1] = {3}, stride[1] = {2};
    int given_back = 0;
    sp_tensor *t, *view;
    OK(sp_tensor_wrap(SP_DTYPE_F64, 1, dims, NULL, values, count_release, &given_back, &t));
    assert_ptr_equal(sp_tensor_data(t), values);
    OK(sp_tensor_view(t, 1, half, stride, 1, &view));
    sp_tensor_release(t);
    assert_int_equal(given_back, 0); /* a view is left */
    assert_true(*(const double *)sp_tensor_data(view) == 1);
    sp_tensor_release(view);
    assert_int_equal(given_back, 1);
    sp_tensor_release(NULL);
}

static void mistakes_are_told_and_leave_the_result_alone(void **state)
{
    (void)state;
    const int64_t dims[1] = {6}, negative[1] = {-2}, far[1] = {7}, one[1] = {1};
    sp_tensor *t = numbers(1, dims), *out = t;
    double number;
    assert_int_not_equal(sp_tensor_create(SP_DTYPE_F32, 1, negative, &out), SP_OK);
    assert_non_null(strstr(sp_error_message(), "-2"));
    assert_int_not_equal(sp_tensor_view(t, 1, far, one, 0, &out), SP_OK); /* beyond the memory */
    assert_int_not_equal(sp_tensor_item_f64(t, &number), SP_OK);          /* six elements */
    assert_ptr_equal(out, t);
    sp_tensor_release(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_shares_memory_and_keeps_it),
        cmocka_unit_test(contiguous_gives_the_tensor_itself_where_it_is_that_already),
        cmocka_unit_test(assigning_converts_and_reaches_strided_elements),
        cmocka_unit_test(foreign_memory_is_given_back_once),
        cmocka_unit_test(mistakes_are_told_and_leave_the_result_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
