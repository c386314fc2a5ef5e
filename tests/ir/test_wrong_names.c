/* SPDX-License-Identifier: Apache-2.0 */
/* test_wrong_names.c - names mistyped in C: of operators, attributes, transforms and their arguments. The nearest is told when one is near, and what is
 * not closed in the text of attributes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <spore/data.h>
#include <spore/spore.h>

/* Status and message of an operator called by name with one input of four numbers. */
static void call(const char *name, const char *text, sp_status wanted, const char *message)
{
    const int64_t dims[2] = {2, 2};
    const float values[4] = {1, 2, 3, 4};
    sp_tensor *x;
    sp_builder *b;
    assert_int_equal(sp_builder_create(&b), SP_OK);
    assert_int_equal(sp_tensor_create_from(SP_DTYPE_F32, 2, dims, values, &x), SP_OK);
    sp_tensor *y = sp_builder_call(b, name, text, 1, &x);
    assert_int_equal(sp_builder_status(b), wanted);
    if (wanted == SP_OK) assert_non_null(y);
    else assert_string_equal(sp_error_message(), message);
    sp_tensor_release(x);
    sp_builder_release(b);
}

static void operators(void **state)
{
    (void)state;
    call("softmax", "axis=1", SP_OK, NULL);
    call("sofmax", "axis=1", SP_KEY, "there is no operator 'sofmax'; did you mean 'softmax'?");
    call("reducesum", "", SP_KEY, "there is no operator 'reducesum'; did you mean 'reduce_sum'?");
    call("Tanh", "", SP_KEY, "there is no operator 'Tanh'; did you mean 'tanh'?");
    call("zzzzzzzzzz", "", SP_KEY, "there is no operator 'zzzzzzzzzz'");
    call("", "", SP_KEY, "there is no operator ''");
}

static void attributes(void **state)
{
    (void)state;
    call("softmax", "axes=1", SP_VALUE, "softmax has no attribute 'axes'; did you mean 'axis'?");
    call("reduce_sum", "axis=(0,), keepdim=True", SP_VALUE,
         "reduce_sum has no attribute 'keepdim'; did you mean 'keepdims'?");
    call("softmax", "quite_another=1", SP_VALUE, "softmax has no attribute 'quite_another'");
    call("tanh", "axis=1", SP_VALUE, "tanh has no attribute 'axis'");
    call("softmax", "axis", SP_VALUE, "softmax: '=' is missing after attribute axis in 'axis'");
}

static void what_is_not_closed(void **state)
{
    (void)state;
    call("reduce_sum", "axis=(0,1, keepdims=False", SP_VALUE,
         "reduce_sum: a parenthesis of attribute axis is not closed in 'axis=(0,1, keepdims=False'");
    call("reduce_sum", "axis=0,1), keepdims=False", SP_VALUE, "reduce_sum has no attribute '1'");
    call("reduce_sum", "axis=0), keepdims=False", SP_VALUE,
         "reduce_sum: a parenthesis of attribute axis is not opened in 'axis=0), keepdims=False'");
    call("reduce_sum", "axis=[0, 1", SP_VALUE,
         "reduce_sum: a parenthesis of attribute axis is not closed in 'axis=[0, 1'");
    call("minifloat", "format='e4m3fn", SP_VALUE,
         "minifloat: the quote ' of attribute format is not closed in 'format='e4m3fn'");
}

static void transforms(void **state)
{
    (void)state;
    const double size = 4;
    sp_transform *t = NULL;
    assert_int_equal(sp_transform_create("Resise", 0, NULL, 0, NULL, &t), SP_KEY);
    assert_string_equal(sp_error_message(), "there is no transform 'Resise'; did you mean 'Resize'?");
    assert_int_equal(sp_transform_create("center_crop", 0, NULL, 0, NULL, &t), SP_KEY);
    assert_non_null(strstr(sp_error_message(), "did you mean 'CenterCrop'?"));
    assert_int_equal(sp_transform_create("zzzzzzzzzz", 0, NULL, 0, NULL, &t), SP_KEY);
    assert_string_equal(sp_error_message(), "there is no transform 'zzzzzzzzzz'");
    assert_int_equal(sp_transform_create("Resize", 1, &(sp_transform_arg){"siez", 1, &size}, 0, NULL, &t), SP_TYPE);
    assert_string_equal(sp_error_message(), "Resize has no argument 'siez'; it takes: size, interpolation");
    assert_null(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operators), cmocka_unit_test(attributes),
                                       cmocka_unit_test(what_is_not_closed), cmocka_unit_test(transforms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
