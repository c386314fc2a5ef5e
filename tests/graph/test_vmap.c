/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one slice applied to many, from C: computed, recorded, differentiated, declined, out of memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "program_util.h"

static sp_tensor *matrix(int rows, int columns, const float *v)
{
    sp_tensor *t = NULL;
    OK(sp_tensor_create_from(SP_DTYPE_F32, 2, (const int64_t[]){rows, columns}, v, &t));
    return sp_builder_take_tensor(b, t);
}

static const float numbers[] = {1, 2, 3, -4, 5, -6};
static const sp_spec row = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {2}};

/* sum(x * x * w), and x twice; w is not an argument. */
static sp_status record(sp_tensor *w, sp_function **f)
{
    sp_tensor *x = NULL;
    sp_status status = sp_function_begin(g, "slice", 1, &row, f, &x);
    if (status != SP_OK) return status;
    sp_function_will_batch(*f);
    sp_tensor *results[2] = {sp_reduce_sum(b, sp_mul(b, sp_mul(b, x, x), w), 0, NULL, false), sp_add(b, x, x)};
    status = sp_builder_status(b);
    if (status == SP_OK) status = sp_function_end(*f, 2, results);
    if (status != SP_OK) sp_function_abandon(*f);
    sp_tensor_release(x);
    return status;
}

static sp_status batch(sp_function *f, sp_tensor *x, sp_tensor **out, char **slow)
{
    bool flags[2];
    const sp_batch_spec spec = {.size = sp_tensor_dims(x)[0], .batched = (const bool[]){true}};
    return sp_function_batch(f, &spec, 1, &x, 2, out, flags, slow);
}

static const float *data(const sp_tensor *t) { return sp_tensor_data(t); }

static void all_slices_at_once(void **state)
{
    (void)state;
    sp_tensor *x = matrix(3, 2, numbers),
              *w = sp_reshape(b, matrix(1, 2, (const float[]){10, 1}), 1, (const int64_t[]){2}), *out[2];
    sp_function *f;
    char *slow = NULL;
    OK(record(w, &f));
    OK(batch(f, x, out, &slow));
    assert_null(slow);
    for (int i = 0; i < 3; i++) {
        assert_float_equal(data(out[0])[i],
                           10 * numbers[2 * i] * numbers[2 * i] + numbers[2 * i + 1] * numbers[2 * i + 1], 0);
        for (int k = 0; k < 2; k++) assert_float_equal(data(out[1])[2 * i + k], 2 * numbers[2 * i + k], 0);
    }
    for (int i = 0; i < 2; i++) sp_tensor_release(out[i]);
}

static void gradients_reach_what_is_no_argument(void **state)
{
    (void)state;
    sp_tensor *x = matrix(3, 2, numbers),
              *w = sp_reshape(b, matrix(1, 2, (const float[]){10, 1}), 1, (const int64_t[]){2}), *out[2], *dw;
    sp_function *f;
    sp_grad_begin();
    OK(sp_grad_watch(w));
    OK(record(w, &f));
    OK(batch(f, x, out, NULL));
    OK(sp_grad_backward(1, out, NULL, 1, &w, false, &dw));
    sp_grad_unwatch(w);
    sp_grad_end();
    assert_float_equal(data(dw)[0], 1 + 9 + 25, 0);
    assert_float_equal(data(dw)[1], 4 + 16 + 36, 0);
    sp_tensor_release(dw);
    for (int i = 0; i < 2; i++) sp_tensor_release(out[i]);
}

static void a_course_that_depends_on_the_slice_is_declined(void **state)
{
    (void)state;
    sp_tensor *x, *inner, *results[2], *out[2] = {NULL, NULL};
    sp_function *f, *yes;
    OK(sp_function_begin(g, "slice", 1, &row, &f, &x));
    sp_tensor *positive =
        sp_greater(b, sp_reduce_sum(b, x, 0, NULL, false), sp_reduce_sum(b, sp_sub(b, x, x), 0, NULL, false));
    OK(sp_function_begin(g, "yes", 1, &row, &yes, &inner));
    sp_tensor *twice = sp_add(b, inner, inner);
    OK(sp_function_end(yes, 1, &twice));
    OK(sp_function_if(positive, yes, yes, 1, &x, 1, results));
    results[1] = sp_tensor_retain(results[0]);
    OK(sp_function_end(f, 2, results));
    assert_int_equal(batch(f, matrix(3, 2, numbers), out, NULL), SP_DECLINED);
    assert_null(out[0]);
    for (int i = 0; i < 2; i++) sp_tensor_release(results[i]);
    sp_tensor_release(inner);
    sp_tensor_release(x);
}

static void wrong_arguments_are_named(void **state)
{
    (void)state;
    sp_tensor *w = sp_reshape(b, matrix(1, 2, numbers), 1, (const int64_t[]){2}), *out[2], *x = matrix(3, 2, numbers);
    sp_function *f;
    bool flags[2];
    OK(record(w, &f));
    const sp_batch_spec four = {.size = 4, .batched = (const bool[]){true}},
                        none = {.size = 0, .batched = (const bool[]){true}};
    assert_int_equal(sp_function_batch(f, &four, 1, &x, 2, out, flags, NULL), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "argument 0 does not have 4 slices of rank 1"));
    assert_int_equal(sp_function_batch(f, &none, 1, &x, 2, out, flags, NULL), SP_VALUE);
    assert_int_equal(sp_function_batch(f, &four, 0, NULL, 2, out, flags, NULL), SP_VALUE);
    assert_int_equal(sp_function_batch(f, &four, 1, &x, 1, out, flags, NULL), SP_VALUE);
}

static void allocation_failures_are_survived(void **state)
{
    (void)state;
    sp_tensor *x = matrix(3, 2, numbers), *w = sp_reshape(b, matrix(1, 2, numbers), 1, (const int64_t[]){2}), *out[2];
    bool done = false;
    for (int n = 1; !done; n++) {
        sp_function *f;
        OK(record(w, &f));
        sp__alloc_fail_at(n);
        sp_status status = batch(f, x, out, NULL);
        sp__alloc_fail_at(0);
        done = status == SP_OK;
        if (!done) assert_int_equal(status, SP_NOMEM);
        for (int i = 0; done && i < 2; i++) sp_tensor_release(out[i]);
        assert_true(n < 10000);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(all_slices_at_once),
        CASE(gradients_reach_what_is_no_argument),
        CASE(a_course_that_depends_on_the_slice_is_declined),
        CASE(wrong_arguments_are_named),
        CASE(allocation_failures_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
