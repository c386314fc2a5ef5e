/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of tensors against values computed by hand: slices, index tensors, masks, writes and their gradients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/ops_impl.h"
#include "spore/grad.h"

static sp_builder *b;

static int setup(void **state)
{
    (void)state;
    return sp_builder_create(&b) == SP_OK ? 0 : -1;
}
static int teardown(void **state)
{
    (void)state;
    sp_builder_release(b);
    return 0;
}

static sp_tensor *range(sp_dtype dtype, int rank, const int64_t *dims)
{
    int64_t n = 1;
    for (int i = 0; i < rank; i++) n *= dims[i];
    int64_t v[256];
    for (int64_t i = 0; i < n; i++) v[i] = i;
    sp_tensor *t, *o;
    assert_int_equal(sp_tensor_create_from(SP_DTYPE_I64, rank, dims, v, &t), SP_OK);
    t = sp_builder_take_tensor(b, t);
    o = sp_cast(b, t, dtype);
    assert_non_null(o);
    return o;
}

static sp_tensor *ints(int n, const int64_t *v)
{
    sp_tensor *t;
    assert_int_equal(sp_tensor_create_from(SP_DTYPE_I64, 1, (const int64_t[]){n}, v, &t), SP_OK);
    return sp_builder_take_tensor(b, t);
}
#define INTS(...) ints((int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (const int64_t[]){__VA_ARGS__})

static sp_tensor *call(const char *op, const char *attrs, int n, sp_tensor *const *in)
{
    return sp_builder_call(b, op, attrs, n, in);
}
#define COUNT(...) (int)(sizeof((sp_tensor *[]){__VA_ARGS__}) / sizeof(sp_tensor *))
#define CALL(op, attrs, ...) call(op, attrs, COUNT(__VA_ARGS__), (sp_tensor *const[]){__VA_ARGS__})

static void expect(sp_tensor *t, const char *shape, int n, const double *want)
{
    if (!t) fail_msg("%s", sp_builder_status(b) == SP_OK ? "no result" : sp_error_message());
    char text[SP_SHAPE_TEXT];
    assert_string_equal(sp__shape_text(t->rank, t->dims, text), shape);
    assert_int_equal(t->count, n);
    sp_tensor *dense;
    assert_int_equal(sp_tensor_create(SP_DTYPE_F64, t->rank, t->dims, &dense), SP_OK);
    assert_int_equal(sp_tensor_assign(dense, t), SP_OK);
    for (int i = 0; i < n; i++)
        if (((double *)(void *)dense->data)[i] != want[i])
            fail_msg("element %d is %g, wanted %g", i, ((double *)(void *)dense->data)[i], want[i]);
    sp_tensor_release(dense);
}
#define EXPECT(t, shape, ...)                                                                                          \
    expect(t, shape, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (const double[]){__VA_ARGS__})

static void slices_follow_python(void **state)
{
    (void)state;
    sp_tensor *x = range(SP_DTYPE_F32, 2, (const int64_t[]){3, 4});
    sp_tensor *part = CALL("slice", "start=(1,), stop=(3,)", x);
    EXPECT(part, "(2, 4)", 4, 5, 6, 7, 8, 9, 10, 11);
    assert_true(sp_tensor_shares(part, x));
    EXPECT(CALL("slice", "start=(0, 3), stop=(3, -1), step=(2, -2)", x), "(2, 2)", 3, 1, 11, 9);
    EXPECT(CALL("slice", "start=(-1, 1), stop=(3, -1)", x), "(1, 2)", 9, 10);
    EXPECT(CALL("slice", "start=(-100, 3), stop=(100, 100)", x), "(3, 1)", 3, 7, 11);
    sp_tensor *none = CALL("slice", "start=(2,), stop=(1,)", x);
    assert_non_null(none);
    assert_int_equal(none->count, 0);
}

static void slice_refuses_what_is_outside(void **state)
{
    (void)state;
    sp_tensor *x = range(SP_DTYPE_F32, 2, (const int64_t[]){3, 4});
    assert_null(CALL("slice", "start=(0, 0, 0), stop=(1, 1, 1)", x));
    assert_int_equal(sp_builder_status(b), SP_INDEX);
    sp_builder_reset(b);
    x = range(SP_DTYPE_F32, 2, (const int64_t[]){3, 4});
    assert_null(CALL("slice", "start=(0,), stop=(3,), step=(0,)", x));
    assert_int_equal(sp_builder_status(b), SP_VALUE);
}

static void slice_put_broadcasts_and_converts(void **state)
{
    (void)state;
    sp_tensor *x = range(SP_DTYPE_F32, 2, (const int64_t[]){3, 4});
    CALL("slice_put", "start=(0, 1), stop=(2, 3)", x, INTS(70, 80));
    EXPECT(x, "(3, 4)", 0, 70, 80, 3, 4, 70, 80, 7, 8, 9, 10, 11);
    /* The value overlaps what is written. */
    sp_tensor *y = range(SP_DTYPE_F32, 1, (const int64_t[]){5});
    CALL("slice_put", "start=(1,), stop=(5,)", y, CALL("slice", "start=(0,), stop=(4,)", y));
    EXPECT(y, "(5,)", 0, 0, 1, 2, 3);
    /* Writing to a view writes to what it views. */
    sp_tensor *t = sp_transpose(b, x, 2, (const int64_t[]){1, 0});
    CALL("slice_put", "start=(0,), stop=(1,)", t, INTS(-1));
    EXPECT(x, "(3, 4)", -1, 70, 80, 3, -1, 70, 80, 7, -1, 9, 10, 11);
    assert_null(CALL("slice_put", "start=(0,), stop=(1,)", x, INTS(1, 2, 3)));
    assert_int_equal(sp_builder_status(b), SP_VALUE);
}

static void index_places_dimensions_as_numpy(void **state)
{
    (void)state;
    sp_tensor *x = range(SP_DTYPE_I32, 3, (const int64_t[]){2, 3, 2});
    EXPECT(CALL("index", "axes=(1,)", x, INTS(2, -3)), "(2, 2, 2)", 4, 5, 0, 1, 10, 11, 6, 7);
    EXPECT(CALL("index", "axes=(0, 1)", x, INTS(1, 0, 1), INTS(0, 1, 2)), "(3, 2)", 6, 7, 2, 3, 10, 11);
    /* Apart: the new dimension goes to the front. */
    EXPECT(CALL("index", "axes=(0, 2)", x, INTS(1, 0), INTS(0, 1)), "(2, 3)", 6, 8, 10, 1, 3, 5);
    sp_tensor *column = sp_reshape(b, INTS(0, 1), 2, (const int64_t[]){2, 1});
    EXPECT(CALL("index", "axes=(0, 1)", x, column, INTS(2, 0)), "(2, 2, 2)", 4, 5, 0, 1, 10, 11, 6, 7);
    sp_tensor *turned = sp_transpose(b, x, 3, (const int64_t[]){2, 1, 0});
    EXPECT(CALL("index", "axes=(0,)", turned, INTS(1)), "(1, 3, 2)", 1, 7, 3, 9, 5, 11);
}

static void index_checks_bounds(void **state)
{
    (void)state;
    sp_tensor *x = range(SP_DTYPE_F32, 2, (const int64_t[]){3, 4});
    assert_null(CALL("index", "axes=(0,)", x, INTS(0, 3)));
    assert_int_equal(sp_builder_status(b), SP_RUNTIME);
    assert_non_null(strstr(sp_error_message(), "index 3 is out of range for dimension 0 of size 3"));
    sp_builder_reset(b);
    x = range(SP_DTYPE_F32, 2, (const int64_t[]){3, 4});
    assert_null(CALL("index_put", "axes=(1,)", x, INTS(1), INTS(-5)));
    assert_int_equal(sp_builder_status(b), SP_RUNTIME);
}

static void index_put_writes_last_and_adds_all(void **state)
{
    (void)state;
    sp_tensor *x = range(SP_DTYPE_F32, 1, (const int64_t[]){4});
    CALL("index_put", "", x, INTS(10, 20, 30), INTS(1, 3, 1));
    EXPECT(x, "(4,)", 0, 30, 2, 20);
    CALL("index_put", "accumulate=True", x, INTS(1, 2, 3), INTS(1, 3, 1));
    EXPECT(x, "(4,)", 0, 34, 2, 22);
    sp_tensor *m = range(SP_DTYPE_F64, 3, (const int64_t[]){2, 2, 2});
    CALL("index_put", "axes=(0, 2), accumulate=True", m, INTS(100), INTS(1, 1), INTS(0, 0));
    EXPECT(m, "(2, 2, 2)", 0, 1, 2, 3, 204, 5, 206, 7);
    /* Through a view that is not row-major. */
    CALL("index_put", "axes=(0,)", sp_transpose(b, m, 3, (const int64_t[]){2, 1, 0}), INTS(-1), INTS(1));
    EXPECT(m, "(2, 2, 2)", 0, -1, 2, -1, 204, -1, 206, -1);
}

static void masks_select_in_order(void **state)
{
    (void)state;
    sp_tensor *x = range(SP_DTYPE_F32, 2, (const int64_t[]){2, 3});
    sp_tensor *odd = sp_cast(b, CALL("index", "axes=(1,)", x, INTS(0, 1, 0)), SP_DTYPE_BOOL);
    EXPECT(CALL("nonzero", "", odd), "(4, 2)", 0, 1, 1, 0, 1, 1, 1, 2);
    EXPECT(CALL("masked_select", "", x, odd), "(4,)", 1, 3, 4, 5);
}

/* d sum(y * w) for y built from x and v. */
static void writes_have_gradients(void **state)
{
    (void)state;
    sp_tensor *x = range(SP_DTYPE_F32, 1, (const int64_t[]){4}), *v = range(SP_DTYPE_F32, 1, (const int64_t[]){2});
    sp_tensor *w = sp__add_number(b, range(SP_DTYPE_F32, 1, (const int64_t[]){4}), 1), *grads[2];
    sp_grad_begin();
    assert_int_equal(sp_grad_watch(x), SP_OK);
    assert_int_equal(sp_grad_watch(v), SP_OK);
    sp_tensor *y = CALL("copy", "", x);
    CALL("slice_put", "start=(0,), stop=(2,)", y, v);
    CALL("index_put", "accumulate=True", y, v, INTS(3, 3));
    CALL("index_put", "", y, sp_mul(b, v, v), INTS(2, 1));
    sp_tensor *loss = sp_reduce_sum(b, sp_mul(b, y, w), 0, NULL, false);
    assert_non_null(loss);
    sp_tensor *targets[2] = {x, v};
    assert_int_equal(sp_grad_backward(1, &loss, NULL, 2, targets, false, grads), SP_OK);
    sp_grad_end();
    EXPECT(grads[0], "(4,)", 0, 0, 0, 4);
    /* v0: y0 (w 1), y3 (w 4), y2 = v0^2; v1: y1 overwritten, y3 (w 4), y1 = v1^2 (w 2). */
    EXPECT(grads[1], "(2,)", 5, 8);
    sp_grad_unwatch(x);
    sp_grad_unwatch(v);
    sp_tensor_release(grads[0]);
    sp_tensor_release(grads[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slices_follow_python, setup, teardown),
        cmocka_unit_test_setup_teardown(slice_refuses_what_is_outside, setup, teardown),
        cmocka_unit_test_setup_teardown(slice_put_broadcasts_and_converts, setup, teardown),
        cmocka_unit_test_setup_teardown(index_places_dimensions_as_numpy, setup, teardown),
        cmocka_unit_test_setup_teardown(index_checks_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(index_put_writes_last_and_adds_all, setup, teardown),
        cmocka_unit_test_setup_teardown(masks_select_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(writes_have_gradients, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
