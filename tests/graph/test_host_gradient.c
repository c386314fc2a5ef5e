/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients that meet host functions and calls: known, refused, or zeros where zeros were asked for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "program_util.h"

static const sp_spec number = {.dtype = SP_DTYPE_F32, .rank = 0};

static sp_tensor *keep(sp_tensor *t) { return sp_builder_take_tensor(b, t); }

static sp_tensor *scalar(double v)
{
    sp_tensor *t = NULL;
    OK(sp_tensor_create_f64(SP_DTYPE_F32, v, &t));
    return keep(t);
}

static double item(const sp_tensor *t)
{
    double v = NAN;
    OK(sp_tensor_item_f64(t, &v));
    return v;
}

/* The square, computed where the engine cannot see it. */
static sp_status by_hand(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)context, (void)n_in, (void)n_out;
    double v = 0;
    SP_TRY(sp_tensor_item_f64(in[0], &v));
    return sp_tensor_create_f64(SP_DTYPE_F32, v * v, &out[0]);
}

/* The same by an operator. */
static sp_status by_operator(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)context, (void)n_in, (void)n_out;
    sp_tensor *pair[2] = {in[0], in[0]};
    int n;
    return sp_apply(sp_op_find("mul"), NULL, 2, pair, 1, out, &n);
}

static sp_tensor *through(sp_host_fn host, const char *name, sp_tensor *x)
{
    sp_tensor *y = NULL;
    OK(sp_function_host(name, host, NULL, NULL, 1, &x, 1, &number, &y));
    return keep(y);
}

/* f(x) = host(x) + extra x */
static sp_function *function_with(sp_host_fn host, double extra)
{
    sp_tensor *x;
    sp_function *f = NULL;
    OK(sp_function_begin(g, "f", 1, &number, &f, &x));
    keep(x);
    sp_tensor *y = through(host, "square", x);
    if (extra != 0) y = sp_add(b, y, sp_mul(b, x, scalar(extra)));
    OK(sp_function_end(f, 1, &y));
    return f;
}

/* Value and gradient of f at 3, by a node of the graph. */
static sp_status gradient_in_graph(sp_function *f, bool allow_unused, double *dx)
{
    const int first = 0;
    sp_tensor *x, *out[2], *got[2] = {NULL, NULL};
    sp_function *d = NULL;
    sp_program *p = NULL;
    OK(sp_function_begin(g, "d", 1, &number, &d, &x));
    keep(x);
    OK((allow_unused ? sp_function_grad_allow_unused : sp_function_grad)(f, 1, &x, 1, &first, out));
    keep(out[0]);
    keep(out[1]);
    OK(sp_function_end(d, 2, out));
    OK(sp_program_create(d, NULL, &p));
    sp_tensor *three = scalar(3);
    sp_status status = sp_program_run(p, 1, &three, 2, got);
    if (status == SP_OK) *dx = item(got[1]);
    sp_tensor_release(got[0]);
    sp_tensor_release(got[1]);
    sp_program_release(p);
    return status;
}

static void host_code_by_hand_is_refused(void **state)
{
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        double dx = NAN;
        sp_function *f = function_with(by_hand, extra);
        assert_int_equal(gradient_in_graph(f, false, &dx), SP_RUNTIME);
        assert_non_null(strstr(sp_error_message(), "the host function 'square' has no gradient"));
        OK(gradient_in_graph(f, true, &dx));
        assert_float_equal(dx, extra, 0);
    }
}

static void host_code_of_operators_is_differentiated(void **state)
{
    (void)state;
    double dx = NAN;
    OK(gradient_in_graph(function_with(by_operator, 0), false, &dx));
    assert_float_equal(dx, 6, 0);
}

/* The gradient recorded along with the function, operator by operator. */
static void recorded_gradient_stops_at_host_code(void **state)
{
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        sp_tensor *x, *dx = NULL;
        sp_function *f = NULL;
        OK(sp_function_begin(g, "f", 1, &number, &f, &x));
        keep(x);
        sp_grad_begin();
        OK(sp_grad_watch(x));
        sp_tensor *y = through(by_hand, "square", x);
        if (extra) y = sp_add(b, y, x);
        assert_int_equal(sp_grad_backward(1, &y, NULL, 1, &x, false, &dx), SP_RUNTIME);
        assert_non_null(strstr(sp_error_message(), "the host function 'square' has no gradient"));
        OK(sp_grad_backward_allow_unused(1, &y, NULL, 1, &x, false, &dx));
        sp_tensor_release(dx);
        sp_grad_unwatch(x);
        sp_grad_end();
        sp_function_abandon(f);
    }
}

static void recorded_gradient_stops_at_calls(void **state)
{
    (void)state;
    sp_tensor *x, *dx = NULL, *callee = NULL, *y = NULL;
    sp_function *square = NULL, *f = NULL;
    OK(sp_function_begin(g, "square", 1, &number, &square, &x));
    y = sp_mul(b, keep(x), x);
    OK(sp_function_end(square, 1, &y));
    OK(sp_function_begin(g, "f", 1, &number, &f, &x));
    keep(x);
    sp_grad_begin();
    OK(sp_grad_watch(x));
    OK(sp_function_value(square, &callee));
    OK(sp_function_call(keep(callee), 1, &x, 1, NULL, &y));
    y = sp_add(b, keep(y), x);
    assert_int_equal(sp_grad_backward(1, &y, NULL, 1, &x, false, &dx), SP_RUNTIME);
    assert_non_null(strstr(sp_error_message(), "sp_function_grad"));
    sp_grad_unwatch(x);
    sp_grad_end();
    sp_function_abandon(f);
}

/* Eager recording around a whole program. */
static void gradient_around_a_program_stops_at_host_code(void **state)
{
    (void)state;
    sp_program *p = NULL;
    OK(sp_program_create(function_with(by_hand, 0), NULL, &p));
    sp_tensor *x = scalar(3), *y = NULL, *dx = NULL;
    sp_grad_begin();
    OK(sp_grad_watch(x));
    OK(sp_program_run(p, 1, &x, 1, &y));
    assert_float_equal(item(y), 9, 0);
    assert_int_not_equal(sp_grad_backward(1, &y, NULL, 1, &x, false, &dx), SP_OK);
    assert_non_null(strstr(sp_error_message(), "'square'"));
    sp_grad_unwatch(x);
    sp_grad_end();
    sp_tensor_release(y);
    sp_program_release(p);
}

static void unused_argument_is_an_error_unless_allowed(void **state)
{
    (void)state;
    sp_tensor *x;
    sp_function *f = NULL;
    OK(sp_function_begin(g, "f", 1, &number, &f, &x));
    keep(x);
    sp_tensor *y = scalar(5);
    OK(sp_function_end(f, 1, &y));
    double dx = NAN;
    assert_int_equal(gradient_in_graph(f, false, &dx), SP_VALUE);
    OK(gradient_in_graph(f, true, &dx));
    assert_float_equal(dx, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(host_code_by_hand_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(host_code_of_operators_is_differentiated, setup, teardown),
        cmocka_unit_test_setup_teardown(recorded_gradient_stops_at_host_code, setup, teardown),
        cmocka_unit_test_setup_teardown(recorded_gradient_stops_at_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(gradient_around_a_program_stops_at_host_code, setup, teardown),
        cmocka_unit_test_setup_teardown(unused_argument_is_an_error_unless_allowed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
