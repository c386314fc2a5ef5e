/* SPDX-License-Identifier: Apache-2.0 */
/* test_failed_expression.c - what a failed expression leaves behind, NULL, may be handed on to any function that can fail: it says so, nothing
 * crashes, and the builder still knows the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "spore/spore.h"

static sp_tensor *matrix(sp_builder *b, int64_t rows, int64_t columns)
{
    sp_tensor *t = NULL;
    assert_int_equal(sp_tensor_create_zeros(SP_DTYPE_F32, 2, (const int64_t[]){rows, columns}, &t), SP_OK);
    return sp_builder_take_tensor(b, t);
}

#define REFUSES(expr)                                                                                                  \
    do {                                                                                                               \
        assert_int_equal((expr), SP_VALUE);                                                                            \
        assert_non_null(strstr(sp_error_message(), "NULL"));                                                           \
    } while (0)

static void eager_calls(void **unused)
{
    (void)unused;
    sp_builder *b = NULL;
    sp_tensor *out = NULL, *grad = NULL;
    double number;
    int64_t whole, id;
    assert_int_equal(sp_builder_create(&b), SP_OK);
    sp_tensor *x = matrix(b, 2, 3), *failed = sp_matmul(b, x, x, false, false),
              *after = sp_add(b, sp_relu(b, failed), x);
    assert_null(failed);
    assert_null(after);
    REFUSES(sp_tensor_item_f64(failed, &number));
    REFUSES(sp_tensor_item_i64(failed, &whole));
    REFUSES(sp_tensor_assign(x, failed));
    REFUSES(sp_tensor_assign(failed, x));
    REFUSES(sp_tensor_copy(failed, &out));
    REFUSES(sp_tensor_contiguous(failed, &out));
    REFUSES(sp_tensor_view(failed, 1, (const int64_t[]){1}, (const int64_t[]){1}, 0, &out));
    REFUSES(sp_grad_watch(failed));
    REFUSES(sp_grad_detach(failed, &out));
    REFUSES(sp_grad_variable(failed, &out));
    REFUSES(sp_grad_hook_add(failed, NULL, NULL, NULL, &id));
    REFUSES(sp_grad_backward(1, &failed, NULL, 1, &x, false, &grad));
    REFUSES(sp_grad_backward(1, &x, NULL, 1, &failed, false, &grad));
    assert_null(out);
    assert_null(grad);
    assert_int_equal(sp_builder_status(b), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "matmul: shapes (2, 3) and (2, 3) do not fit"));
    sp_builder_release(b);
}

static void recorded_calls(void **unused)
{
    (void)unused;
    sp_graph *g = NULL;
    sp_function *f = NULL;
    sp_tensor *x = NULL, *out = NULL, *none = NULL;
    const sp_spec spec = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {2}};
    assert_int_equal(sp_graph_create(&g), SP_OK);
    assert_int_equal(sp_function_begin(g, "f", 1, &spec, &f, &x), SP_OK);
    assert_int_not_equal(sp_function_call(NULL, 1, &x, 1, NULL, &out), SP_OK);
    assert_int_equal(sp_function_switch(x, NULL, NULL, &out), SP_TYPE);
    REFUSES(sp_function_end(f, 1, &none));
    assert_int_equal(sp_function_end(f, 1, &x), SP_OK); /* and goes on to work */
    sp_tensor_release(x);
    sp_graph_release(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(eager_calls), cmocka_unit_test(recorded_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
