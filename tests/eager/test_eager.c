/* SPDX-License-Identifier: Apache-2.0 */
/* Applying operators and differentiating what was applied, from C. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "spore/grad.h"
#include "spore/op.h"
#include "spore/ops.h"
#include "spore/tensor.h"

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

static sp_tensor *vector(int n, const float *v)
{
    sp_tensor *t = NULL;
    const int64_t dims[1] = {n};
    assert_int_equal(sp_tensor_create_from(SP_DTYPE_F32, 1, dims, v, &t), SP_OK);
    return sp_builder_take_tensor(b, t);
}

static const float *floats(const sp_tensor *t)
{
    assert_non_null(t);
    assert_int_equal(sp_tensor_dtype(t), SP_DTYPE_F32);
    return sp_tensor_data(t);
}

static void add_broadcasts_and_promotes(void **state)
{
    (void)state;
    sp_tensor *x = vector(3, (const float[]){1, 2, 3}), *one;
    assert_int_equal(sp_tensor_create_i64(SP_DTYPE_I32, 1, &one), SP_OK);
    sp_tensor *y = sp_add(b, x, sp_builder_take_tensor(b, one));
    assert_int_equal(sp_builder_status(b), SP_OK);
    assert_float_equal(floats(y)[2], 4, 0);
}

static void failure_names_operator_and_shapes(void **state)
{
    (void)state;
    sp_tensor *z = sp_add(b, vector(3, (const float[]){1, 2, 3}), vector(2, (const float[]){1, 2}));
    assert_null(z);
    assert_int_equal(sp_builder_status(b), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "add: shapes (3,) and (2,) cannot be broadcast"));
    assert_null(sp_neg(b, z)); /* the builder stays failed */
    sp_builder_reset(b);
    assert_int_equal(sp_builder_status(b), SP_OK);
}

static void transpose_is_a_view(void **state)
{
    (void)state;
    const int64_t dims[2] = {2, 3};
    sp_tensor *x = sp_reshape(b, vector(6, (const float[]){0, 1, 2, 3, 4, 5}), 2, dims);
    sp_tensor *t = sp_swap_axes(b, x, 0, 1);
    assert_true(sp_tensor_shares(x, t));
    assert_false(sp_tensor_is_contiguous(t));
    sp_tensor *sum = sp_reduce_sum(b, t, 1, (const int64_t[]){0}, false);
    assert_float_equal(floats(sum)[0], 3, 0);
    assert_float_equal(floats(sum)[1], 12, 0);
    sp_tensor *flat = sp_reshape(b, t, 1, (const int64_t[]){-1}); /* not expressible: copied in order */
    assert_float_equal(floats(flat)[1], 3, 0);
}

static sp_tensor *gradient(sp_tensor *y, sp_tensor *x, bool create)
{
    sp_tensor *g = NULL;
    assert_int_equal(sp_grad_backward(1, &y, NULL, 1, &x, create, &g), SP_OK);
    return sp_builder_take_tensor(b, g);
}

static void gradients_of_gradients(void **state)
{
    (void)state;
    sp_tensor *x = vector(2, (const float[]){2, 3});
    sp_grad_begin();
    assert_int_equal(sp_grad_watch(x), SP_OK);
    sp_tensor *y = sp_mul(b, sp_mul(b, x, x), x);
    sp_tensor *g1 = gradient(y, x, true);
    assert_float_equal(floats(g1)[1], 27, 1e-4f);
    sp_tensor *g2 = gradient(g1, x, true);
    assert_float_equal(floats(g2)[1], 18, 1e-4f);
    sp_tensor *g3 = gradient(g2, x, false);
    assert_float_equal(floats(g3)[1], 6, 1e-4f);
    assert_false(sp_grad_tracked(g3));
    sp_grad_end();
    sp_grad_unwatch(x);
    assert_false(sp_grad_tracked(x));
}

static void broadcast_gradient_is_summed(void **state)
{
    (void)state;
    sp_tensor *x = vector(1, (const float[]){2}), *y = vector(3, (const float[]){1, 2, 3});
    sp_grad_begin();
    sp_grad_watch(x);
    sp_tensor *g = gradient(sp_mul(b, x, y), x, false);
    assert_int_equal(sp_tensor_count(g), 1);
    assert_float_equal(floats(g)[0], 6, 0);
    sp_grad_end();
    sp_grad_unwatch(x);
}

static void long_chains_are_released_without_recursion(void **state)
{
    (void)state;
    sp_tensor *x = vector(1, (const float[]){1});
    sp_grad_begin();
    sp_grad_watch(x);
    sp_tensor *t = sp_tensor_retain(x);
    for (int i = 0; i < 200000; i++) {
        sp_tensor *in[2] = {t, x}, *out;
        int n;
        assert_int_equal(sp_apply(sp_op_find("add"), NULL, 2, in, 1, &out, &n), SP_OK);
        sp_tensor_release(t);
        t = out;
    }
    sp_tensor *g;
    assert_int_equal(sp_grad_backward(1, &t, NULL, 1, &x, false, &g), SP_OK);
    assert_float_equal(((float *)sp_tensor_data(g))[0], 200001, 0);
    sp_tensor_release(g);
    sp_tensor_release(t);
    sp_grad_end();
    sp_grad_unwatch(x);
}

static void nothing_is_recorded_without_history(void **state)
{
    (void)state;
    sp_tensor *x = vector(1, (const float[]){1});
    sp_grad_begin();
    assert_false(sp_grad_tracked(sp_add(b, x, x)));
    sp_grad_watch(x);
    int depth = sp_grad_pause();
    assert_false(sp_grad_tracked(sp_add(b, x, x)));
    sp_grad_resume(depth);
    assert_true(sp_grad_tracked(sp_add(b, x, x)));
    sp_grad_end();
    sp_grad_unwatch(x);
}

static sp_status times_ten(void *context, sp_tensor *grad, sp_tensor **replaced)
{
    ++*(int *)context;
    sp_builder *own;
    SP_TRY(sp_builder_create(&own));
    sp_tensor *ten = NULL;
    sp_status status = sp_tensor_create_f64(SP_DTYPE_F32, 10, &ten);
    sp_tensor *r = sp_mul(own, grad, sp_builder_take_tensor(own, ten));
    if (r) *replaced = sp_tensor_retain(r);
    sp_builder_release(own);
    return status;
}

static void hooks_see_and_replace_gradients(void **state)
{
    (void)state;
    int calls = 0;
    int64_t id;
    sp_tensor *x = vector(1, (const float[]){3});
    sp_grad_begin();
    sp_grad_watch(x);
    sp_tensor *y = sp_mul(b, x, x), *z = sp_mul(b, y, y);
    assert_int_equal(sp_grad_hook_add(y, times_ten, NULL, &calls, &id), SP_OK);
    assert_float_equal(floats(gradient(z, x, false))[0], 10 * 4 * 27, 0);
    assert_int_equal(calls, 1);
    sp_grad_hook_remove(y, id);
    assert_float_equal(floats(gradient(z, x, false))[0], 4 * 27, 0);
    sp_grad_end();
    sp_grad_unwatch(x);
}

/* Every allocation of a forward and backward pass fails once: an error each time, no crash, no leak (sanitizer). */
static void allocation_failure_is_an_error(void **state)
{
    (void)state;
    int64_t n = 1;
    for (;; n++) {
        sp_builder *own = NULL;
        sp_tensor *x = NULL, *g = NULL;
        const int64_t dims[1] = {4};
        assert_int_equal(sp_tensor_create_zeros(SP_DTYPE_F32, 1, dims, &x), SP_OK);
        sp__alloc_fail_at(n);
        sp_status status = sp_builder_create(&own);
        if (status == SP_OK) {
            sp_grad_begin();
            status = sp_grad_watch(x);
            sp_tensor *y = status == SP_OK ? sp_reduce_sum(own, sp_exp(own, sp_mul(own, x, x)), 0, NULL, false) : NULL;
            if (status == SP_OK) status = sp_builder_status(own);
            if (status == SP_OK) status = sp_grad_backward(1, &y, NULL, 1, &x, false, &g);
            sp_grad_end();
            sp_grad_unwatch(x);
        }
        sp__alloc_fail_at(0);
        sp_builder_release(own);
        sp_tensor_release(g);
        sp_tensor_release(x);
        if (status == SP_OK) break;
        assert_int_equal(status, SP_NOMEM);
    }
    assert_true(n > 10);
}

static void huge_shapes_are_refused(void **state)
{
    (void)state;
    sp_tensor *t = NULL;
    const int64_t dims[2] = {INT64_C(1) << 40, INT64_C(1) << 40};
    assert_int_equal(sp_tensor_create(SP_DTYPE_F32, 2, dims, &t), SP_VALUE);
    const int64_t large[2] = {INT64_C(1) << 30, INT64_C(1) << 25};
    assert_int_equal(sp_tensor_create(SP_DTYPE_F32, 2, large, &t), sizeof(void *) == 8 ? SP_NOMEM : SP_VALUE);
    assert_null(t);
}

static void attributes_come_from_text(void **state)
{
    (void)state;
    sp_tensor *x = sp_reshape(b, vector(6, (const float[]){0, 1, 2, 3, 4, 5}), 2, (const int64_t[]){2, 3});
    sp_tensor *s = sp_builder_call(b, "reduce_sum", "axis=(1,), keepdims=True", 1, &x);
    assert_int_equal(sp_tensor_rank(s), 2);
    assert_float_equal(floats(s)[1], 12, 0);
    assert_null(sp_builder_call(b, "reduce_sum", "axes=1", 1, &x));
    assert_non_null(strstr(sp_error_message(), "reduce_sum has no attribute 'axes'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(add_broadcasts_and_promotes, setup, teardown),
        cmocka_unit_test_setup_teardown(failure_names_operator_and_shapes, setup, teardown),
        cmocka_unit_test_setup_teardown(transpose_is_a_view, setup, teardown),
        cmocka_unit_test_setup_teardown(gradients_of_gradients, setup, teardown),
        cmocka_unit_test_setup_teardown(broadcast_gradient_is_summed, setup, teardown),
        cmocka_unit_test_setup_teardown(long_chains_are_released_without_recursion, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_is_recorded_without_history, setup, teardown),
        cmocka_unit_test_setup_teardown(hooks_see_and_replace_gradients, setup, teardown),
        cmocka_unit_test_setup_teardown(allocation_failure_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(huge_shapes_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(attributes_come_from_text, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
