/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients with respect to tensors that the outputs do not depend on: an error that says why, unless zeros were asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "spore/grad.h"
#include "spore/ops.h"

static sp_builder *b;

static int setup(void **state)
{
    (void)state;
    return sp_builder_create(&b) != SP_OK;
}

static int teardown(void **state)
{
    (void)state;
    sp_builder_release(b);
    return 0;
}

static sp_tensor *number(double v)
{
    sp_tensor *t = NULL;
    assert_int_equal(sp_tensor_create_f64(SP_DTYPE_F32, v, &t), SP_OK);
    return sp_builder_take_tensor(b, t);
}

static double item(const sp_tensor *t)
{
    double v = -1;
    assert_int_equal(sp_tensor_item_f64(t, &v), SP_OK);
    return v;
}

static void refused(sp_tensor *y, sp_tensor *x, const char *why)
{
    sp_tensor *dx = (sp_tensor *)1;
    sp_status status = sp_grad_backward(1, &y, NULL, 1, &x, false, &dx);
    if (status == SP_OK) fail_msg("a gradient of %g was given", item(dx));
    assert_null(dx);
    if (!strstr(sp_error_message(), why)) fail_msg("'%s' is not in: %s", why, sp_error_message());
}

static void zeros_on_request(sp_tensor *y, sp_tensor *x)
{
    sp_tensor *dx = NULL;
    assert_int_equal(sp_grad_backward_allow_unused(1, &y, NULL, 1, &x, false, &dx), SP_OK);
    assert_float_equal(item(dx), 0, 0);
    sp_tensor_release(dx);
    assert_int_equal(sp_grad_backward_reached(1, &y, NULL, 1, &x, false, &dx), SP_OK);
    assert_null(dx);
}

static void a_tensor_that_was_not_watched(void **state)
{
    (void)state;
    sp_tensor *x = number(3);
    sp_grad_begin();
    sp_tensor *y = sp_mul(b, x, x);
    refused(y, x, "tensor 0 that the gradient is for has no history: sp_grad_watch it before it is used");
    zeros_on_request(y, x);
    sp_grad_end();
}

static void watched_too_late(void **state)
{
    (void)state;
    sp_tensor *x = number(3);
    sp_grad_begin();
    sp_tensor *y = sp_mul(b, x, x);
    assert_int_equal(sp_grad_watch(x), SP_OK);
    refused(y, x, "no output has a history");
    zeros_on_request(y, x);
    sp_grad_unwatch(x);
    sp_grad_end();
}

static void computed_outside_of_recording(void **state)
{
    (void)state;
    sp_tensor *x = number(3);
    assert_int_equal(sp_grad_watch(x), SP_OK);
    sp_tensor *y = sp_mul(b, x, x);
    refused(y, x, "compute them between sp_grad_begin and sp_grad_end");
    sp_grad_begin();
    refused(y, x, "compute them between sp_grad_begin and sp_grad_end");
    sp_grad_end();
    zeros_on_request(y, x);
    sp_grad_unwatch(x);
}

static void one_of_two_is_unused(void **state)
{
    (void)state;
    sp_tensor *xs[2] = {number(3), number(4)}, *grads[2] = {NULL, NULL};
    sp_grad_begin();
    for (int i = 0; i < 2; i++) assert_int_equal(sp_grad_watch(xs[i]), SP_OK);
    sp_tensor *y = sp_mul(b, xs[0], xs[0]);
    assert_int_equal(sp_grad_backward(1, &y, NULL, 2, xs, false, grads), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "no output depends on tensor 1"));
    assert_null(grads[0]);
    assert_int_equal(sp_grad_backward_allow_unused(1, &y, NULL, 2, xs, false, grads), SP_OK);
    assert_float_equal(item(grads[0]), 6, 0);
    assert_float_equal(item(grads[1]), 0, 0);
    for (int i = 0; i < 2; i++) sp_tensor_release(grads[i]);
    for (int i = 0; i < 2; i++) sp_grad_unwatch(xs[i]);
    sp_grad_end();
}

/* Values fetched with sp_tensor_data and put into a new tensor: named, that is an error even where other ways reach the target. */
static void what_is_computed_by_hand_can_be_named(void **state)
{
    (void)state;
    sp_tensor *x = number(3), *seen = number(9);
    sp_grad_begin();
    assert_int_equal(sp_grad_watch(x), SP_OK);
    sp_tensor *hand = number(item(x) * item(x));
    assert_int_equal(sp_grad_opaque("square by hand", 1, &x, 1, &hand), SP_OK);
    sp_tensor *y = sp_add(b, sp_mul(b, x, seen), hand);
    refused(y, x, "square by hand has no gradient, and the results depend on it");
    refused(sp_mul(b, hand, seen), x, "square by hand has no gradient");
    sp_tensor *dx = NULL;
    assert_int_equal(sp_grad_backward_allow_unused(1, &y, NULL, 1, &x, false, &dx), SP_OK);
    assert_float_equal(item(dx), 9, 0);
    sp_tensor_release(dx);
    /* The opaque result itself may be what is differentiated by. */
    assert_int_equal(sp_grad_backward(1, &y, NULL, 1, &hand, false, &dx), SP_OK);
    assert_float_equal(item(dx), 1, 0);
    sp_tensor_release(dx);
    sp_grad_unwatch(x);
    sp_grad_end();
}

static void opaque_without_history_or_recording_does_nothing(void **state)
{
    (void)state;
    sp_tensor *x = number(3), *hand = number(9);
    sp_grad_begin();
    assert_int_equal(sp_grad_opaque("square by hand", 1, &x, 1, &hand), SP_OK);
    assert_false(sp_grad_tracked(hand));
    sp_grad_end();
    assert_int_equal(sp_grad_watch(x), SP_OK);
    assert_int_equal(sp_grad_opaque("square by hand", 1, &x, 1, &hand), SP_OK);
    assert_false(sp_grad_tracked(hand));
    sp_grad_unwatch(x);
    sp_tensor *none = NULL;
    assert_int_equal(sp_grad_opaque("square by hand", 1, &x, 1, &none), SP_VALUE);
}

/* A way exists and its factor is 0: that is the gradient. */
static void reached_with_a_gradient_of_zero(void **state)
{
    (void)state;
    sp_tensor *x = number(3), *dx = NULL;
    sp_grad_begin();
    assert_int_equal(sp_grad_watch(x), SP_OK);
    sp_tensor *y = sp_mul(b, x, number(0));
    assert_int_equal(sp_grad_backward(1, &y, NULL, 1, &x, false, &dx), SP_OK);
    assert_float_equal(item(dx), 0, 0);
    sp_tensor_release(dx);
    sp_grad_unwatch(x);
    sp_grad_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_tensor_that_was_not_watched, setup, teardown),
        cmocka_unit_test_setup_teardown(watched_too_late, setup, teardown),
        cmocka_unit_test_setup_teardown(computed_outside_of_recording, setup, teardown),
        cmocka_unit_test_setup_teardown(one_of_two_is_unused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_computed_by_hand_can_be_named, setup, teardown),
        cmocka_unit_test_setup_teardown(opaque_without_history_or_recording_does_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(reached_with_a_gradient_of_zero, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
