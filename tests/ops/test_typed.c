/* SPDX-License-Identifier: Apache-2.0 */
/* Every function of ops_typed.h does what its entry of the table does with the same inputs: the same results, or the same message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/op_impl.h"
#include "spore/ops.h"
#include "typed_calls.h"

/* Inputs that differ from each other, so that an exchange of two is noticed. */
static void make_inputs(int n, sp_dtype dtype, sp_tensor **in)
{
    for (int i = 0; i < n; i++) {
        assert_int_equal(sp_tensor_create(dtype, 2, (int64_t[]){2, 2}, &in[i]), SP_OK);
        for (int k = 0; k < 4; k++) {
            if (dtype == SP_DTYPE_F32) ((float *)sp_tensor_data(in[i]))[k] = 0.1F + 0.15F * (float)(i + k);
            else ((int64_t *)sp_tensor_data(in[i]))[k] = (i + k) % 2;
        }
    }
}

/* Results of one of the two ways, with the message of a failure. */
typedef struct {
    sp_builder *b;
    sp_tensor *in[SP_IN_MAX], *out[SP_OUT_MAX];
    char message[512];
    bool failed;
} outcome;

static void begin(outcome *o, int n, sp_dtype dtype)
{
    memset(o, 0, sizeof *o);
    assert_int_equal(sp_builder_create(&o->b), SP_OK);
    make_inputs(n, dtype, o->in);
}
static void note(outcome *o)
{
    o->failed = sp_builder_status(o->b) != SP_OK;
    if (o->failed) strncpy(o->message, sp_error_message(), sizeof o->message - 1);
}
static void end(outcome *o, int n)
{
    for (int i = 0; i < n; i++) sp_tensor_release(o->in[i]);
    sp_builder_release(o->b);
}

static void compare(const char *name, const outcome *typed, const outcome *table)
{
    if (typed->failed != table->failed || strcmp(typed->message, table->message) != 0)
        fail_msg("%s: '%s', by the table '%s'", name, typed->message, table->message);
    for (int i = 0; i < SP_OUT_MAX && !typed->failed; i++) {
        const sp_tensor *x = typed->out[i], *y = table->out[i];
        if (!x && i > 0) break; /* a function with one result gives the first */
        if (!x || !y) fail_msg("%s: result %d is there in one way alone", name, i);
        assert_int_equal(x->dtype, y->dtype);
        assert_int_equal(x->rank, y->rank);
        for (int d = 0; d < x->rank; d++) assert_int_equal(x->dims[d], y->dims[d]);
        if (sp_tensor_is_contiguous(x) && sp_tensor_is_contiguous(y) &&
            memcmp(sp_tensor_data(typed->out[i]), sp_tensor_data(table->out[i]), sp_tensor_bytes(x)) != 0)
            fail_msg("%s: result %d has other values than by the table", name, i);
    }
}

static void typed_is_the_table(void **state)
{
    (void)state;
    int computed = 0;
    const int n_calls = (int)(sizeof typed_calls / sizeof typed_calls[0]);
    assert_int_equal(n_calls, sp_op_count());
    for (int i = 0; i < n_calls; i++)
        for (int d = 0; d < 2; d++) {
            const sp_dtype dtype = d ? SP_DTYPE_I64 : SP_DTYPE_F32;
            const int n = typed_calls[i].n_in;
            const sp_op *op = sp_op_find(typed_calls[i].name);
            outcome typed, table;
            int n_out = 0;
            assert_non_null(op);
            begin(&typed, n, dtype);
            typed_calls[i].call(typed.b, n, typed.in, typed.out);
            note(&typed);
            begin(&table, n, dtype);
            (void)sp_builder_apply_many(table.b, op, NULL, n, table.in, SP_OUT_MAX, table.out, &n_out);
            note(&table);
            compare(typed_calls[i].name, &typed, &table);
            computed += !typed.failed;
            end(&typed, n);
            end(&table, n);
        }
    assert_true(computed > n_calls / 2); /* most take these inputs */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(typed_is_the_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
