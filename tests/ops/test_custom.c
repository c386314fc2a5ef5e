/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of a program's own: applied, differentiated, recorded, printed, batched; wrong definitions are told. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "spore/spore.h"

#include "base/base.h"

#define OK(expr) assert_int_equal(expr, SP_OK)

/* --- swish with a slope: x / (1 + exp(-beta x)), with a kernel and a gradient ---------------------------------------- */

typedef struct swish_attrs {
    double beta;
    sp_ints unused;
} swish_attrs;
static const sp_attr swish_rows[] = {{"beta", SP_ATTR_FLOAT, offsetof(swish_attrs, beta), "1.0"},
                                     {"unused", SP_ATTR_INTS, offsetof(swish_attrs, unused), "(1, 2)"}};

static sp_status swish_run(const sp_custom_call *c)
{
    const swish_attrs *a = c->attrs;
    const float *x = sp_tensor_data(c->in[0]);
    float *y = sp_tensor_data(c->out[0]);
    if (a->unused.n != 2) return sp_error_raise(&(sp_error){SP_VALUE, "unused must have two elements"});
    for (int64_t i = 0; i < sp_tensor_count(c->in[0]); i++) y[i] = x[i] / (1 + expf((float)-a->beta * x[i]));
    return SP_OK;
}

static sp_tensor *number(sp_builder *b, double v)
{
    sp_tensor *t = NULL;
    return sp_tensor_create_f64(SP_DTYPE_F32, v, &t) == SP_OK ? sp_builder_take_tensor(b, t) : NULL;
}

/* s + beta y (1 - s), s the sigmoid */
static sp_status swish_vjp(sp_builder *b, const sp_custom_vjp *v)
{
    const swish_attrs *a = v->attrs;
    sp_tensor *beta = number(b, a->beta), *one = number(b, 1), *x = v->in[0];
    assert_true(v->needs[0] && v->n_out == 1);
    sp_tensor *s = sp_sigmoid(b, sp_mul(b, beta, x));
    sp_tensor *slope = sp_add(b, s, sp_mul(b, sp_mul(b, beta, sp_mul(b, x, s)), sp_sub(b, one, s)));
    v->din[0] = sp_mul(b, v->dout[0], slope);
    return SP_OK;
}

static const sp_dtype only_float[] = {SP_DTYPE_F32};
static const sp_custom_op swish = {.struct_size = sizeof swish,
                                   .name = "test_swish",
                                   .inputs = "x",
                                   .doc = "x times the sigmoid of beta x.",
                                   .n_attrs = 2,
                                   .attrs = swish_rows,
                                   .attrs_bytes = sizeof(swish_attrs),
                                   .n_dtypes = 1,
                                   .dtypes = only_float,
                                   .run = swish_run,
                                   .vjp = swish_vjp,
                                   .keep_in = 1};

/* --- two results of other shapes and dtypes, an optional input, no gradient ------------------------------------------ */

static sp_status pick_infer(const sp_custom_call *c, sp_spec *out)
{
    out[0] = (sp_spec){.dtype = sp_tensor_dtype(c->in[0])};
    out[1] = (sp_spec){.dtype = SP_DTYPE_I64, .rank = 1, .dims = {c->in[1] ? 2 : 1}};
    return SP_OK;
}
static sp_status pick_run(const sp_custom_call *c)
{
    const float *x = sp_tensor_data(c->in[0]);
    int64_t *n = sp_tensor_data(c->out[1]);
    *(float *)sp_tensor_data(c->out[0]) = x[0];
    n[0] = sp_tensor_count(c->in[0]);
    if (c->in[1]) n[1] = sp_tensor_count(c->in[1]);
    return SP_OK;
}
static const sp_custom_op pick = {.struct_size = sizeof pick,
                                  .name = "test_pick",
                                  .inputs = "x, y?",
                                  .n_out = 2,
                                  .infer = pick_infer,
                                  .run = pick_run};

static sp_status cube_compose(sp_builder *b, const sp_custom_call *c, sp_tensor **out)
{
    out[0] = sp_mul(b, c->in[0], sp_mul(b, c->in[0], c->in[0]));
    return SP_OK;
}
static const sp_custom_op cube = {
    .struct_size = sizeof cube, .name = "test_cube", .inputs = "x", .compose = cube_compose};

static int setup(void **unused)
{
    (void)unused;
    const sp_op *op = NULL;
    const int n = sp_op_count();
    OK(sp_custom_register(&swish, &op));
    OK(sp_custom_register(&pick, NULL));
    OK(sp_custom_register(&cube, NULL));
    assert_int_equal(sp_op_count(), n + 3);
    assert_ptr_equal(sp_op_find("test_swish"), op);
    assert_ptr_equal(sp_op_at(n), op);
    assert_null(sp_op_at(n + 3));
    assert_string_equal(sp_op_inputs(op), "x");
    assert_string_equal(sp_op_doc(op), swish.doc);
    assert_true(sp_op_takes(op, SP_DTYPE_F32) && !sp_op_takes(op, SP_DTYPE_I32));
    return 0;
}

static sp_tensor *vector(sp_builder *b, int n, const float *values)
{
    sp_tensor *t;
    OK(sp_tensor_create_from(SP_DTYPE_F32, 1, (const int64_t[]){n}, values, &t));
    return sp_builder_take_tensor(b, t);
}

static const float points[4] = {-2, -0.5f, 0.25f, 3};
static double swish_of(double x, double beta) { return x / (1 + exp(-beta * x)); }

static void applied_by_name(void **unused)
{
    (void)unused;
    sp_builder *b;
    OK(sp_builder_create(&b));
    sp_tensor *x = vector(b, 4, points), *y = sp_builder_call(b, "test_swish", "beta=2.0", 1, &x), *out[3];
    OK(sp_builder_status(b));
    for (int i = 0; i < 4; i++)
        assert_true(fabs((double)((float *)sp_tensor_data(y))[i] - swish_of((double)points[i], 2)) < 1e-6);
    OK(sp_builder_call_many(b, "test_pick", NULL, 2, (sp_tensor *[]){x, y}, 3, out));
    assert_null(out[2]);
    assert_int_equal(sp_tensor_rank(out[0]), 0);
    assert_int_equal(((int64_t *)sp_tensor_data(out[1]))[1], 4);
    OK(sp_builder_call_many(b, "test_pick", NULL, 2, (sp_tensor *[]){x, NULL}, 3, out));
    assert_int_equal(sp_tensor_count(out[1]), 1);
    sp_tensor *column[1]; /* strided inputs come row-major */
    OK(sp_tensor_view(x, 1, (const int64_t[]){2}, (const int64_t[]){2}, 1, column));
    y = sp_builder_call(b, "test_swish", NULL, 1, column);
    assert_true(fabs((double)((float *)sp_tensor_data(y))[1] - swish_of(3, 1)) < 1e-6);
    sp_tensor_release(column[0]);

    assert_null(sp_builder_call(b, "test_swish", "unused=(1,)", 1, &x)); /* the kernel's own refusal, with the name */
    assert_int_equal(sp_builder_status(b), SP_VALUE);
    assert_string_equal(sp_error_message(), "test_swish: unused must have two elements");
    sp_builder_reset(b);
    sp_tensor *whole;
    OK(sp_tensor_create_i64(SP_DTYPE_I32, 1, &whole));
    whole = sp_builder_take_tensor(b, whole);
    assert_null(sp_builder_call(b, "test_swish", NULL, 1, &whole));
    assert_non_null(strstr(sp_error_message(), "must be one of: float32"));
    sp_builder_release(b);
}

static void differentiated_twice(void **unused)
{
    (void)unused;
    sp_builder *b;
    OK(sp_builder_create(&b));
    sp_tensor *x = vector(b, 4, points), *dx, *ddx, *c;
    sp_grad_begin();
    OK(sp_grad_watch(x));
    sp_tensor *y = sp_builder_call(b, "test_swish", NULL, 1, &x);
    OK(sp_grad_backward(1, &y, NULL, 1, &x, true, &dx));
    dx = sp_builder_take_tensor(b, dx);
    OK(sp_grad_backward(1, &dx, NULL, 1, &x, false, &ddx));
    ddx = sp_builder_take_tensor(b, ddx);
    y = sp_builder_call(b, "test_cube", NULL, 1, &x);
    OK(sp_grad_backward(1, &y, NULL, 1, &x, false, &c));
    c = sp_builder_take_tensor(b, c);
    y = sp_builder_call(b, "test_pick", NULL, 2, (sp_tensor *[]){x, NULL});
    sp_tensor *none;
    assert_int_equal(sp_grad_backward(1, &y, NULL, 1, &x, false, &none), SP_RUNTIME);
    assert_non_null(strstr(sp_error_message(), "registered without one"));
    sp_grad_end();
    for (int i = 0; i < 4; i++) {
        const double p = (double)points[i], h = 1e-3;
        const double slope = (swish_of(p + h, 1) - swish_of(p - h, 1)) / (2 * h),
                     bend = (swish_of(p + h, 1) - 2 * swish_of(p, 1) + swish_of(p - h, 1)) / (h * h);
        assert_true(fabs((double)((float *)sp_tensor_data(dx))[i] - slope) < 1e-5);
        assert_true(fabs((double)((float *)sp_tensor_data(ddx))[i] - bend) < 1e-5);
        assert_true(fabs((double)((float *)sp_tensor_data(c))[i] - 3 * p * p) < 1e-5);
    }
    sp_builder_release(b);
}

static void recorded_printed_and_run(void **unused)
{
    (void)unused;
    sp_builder *b;
    sp_graph *g, *again;
    sp_function *f;
    sp_tensor *x, *d, *out[2];
    sp_program *p;
    char *text, *same;
    const sp_spec spec = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {4}};
    OK(sp_builder_create(&b));
    OK(sp_graph_create(&g));
    OK(sp_function_begin(g, "f", 1, &spec, &f, &x));
    x = sp_builder_take_tensor(b, x);
    sp_grad_begin();
    OK(sp_grad_watch(x));
    sp_tensor *y = sp_builder_call(b, "test_swish", "beta=2.0", 1, &x);
    OK(sp_grad_backward(1, &y, NULL, 1, &x, false, &d));
    sp_grad_end();
    OK(sp_function_end(f, 2, (sp_tensor *[]){y, sp_builder_take_tensor(b, d)}));
    OK(sp_graph_text(g, &text));
    assert_non_null(strstr(text, "test_swish"));
    OK(sp_graph_parse(text, &again));
    OK(sp_graph_text(again, &same));
    assert_string_equal(text, same);
    char folder[] = "/tmp/test_custom_XXXXXX";
    assert_non_null(mkdtemp(folder));
    OK(sp_program_cache(folder, 0)); /* its number is that of this process: not kept on disk */
    OK(sp_program_create(sp_graph_entry(again), NULL, &p));
    sp_tensor *in = vector(b, 4, points);
    for (int call = 0; call < 3; call++) {
        OK(sp_program_run(p, 1, &in, 2, out));
        for (int i = 0; i < 4; i++)
            assert_true(fabs((double)((float *)sp_tensor_data(out[0]))[i] - swish_of((double)points[i], 2)) < 1e-6);
        sp_tensor_release(out[0]);
        sp_tensor_release(out[1]);
    }
    OK(sp_program_cache(NULL, 0));
    assert_int_equal(remove(folder), 0); /* empty */
    sp_program_release(p);
    sp_text_free(text);
    sp_text_free(same);
    sp_graph_release(g);
    sp_graph_release(again);
    sp_builder_release(b);
}

static void mapped_over_slices(void **unused)
{
    (void)unused;
    sp_builder *b;
    sp_graph *g;
    sp_function *f;
    sp_tensor *x, *out;
    bool batched;
    char *slow;
    const sp_spec spec = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {2}};
    OK(sp_builder_create(&b));
    OK(sp_graph_create(&g));
    OK(sp_function_begin(g, "f", 1, &spec, &f, &x));
    x = sp_builder_take_tensor(b, x);
    sp_tensor *y = sp_builder_call(b, "test_swish", NULL, 1, &x);
    OK(sp_function_end(f, 1, &y));
    sp_tensor *slices;
    OK(sp_tensor_create_from(SP_DTYPE_F32, 2, (const int64_t[]){2, 2}, points, &slices));
    const sp_batch_spec batch = {.size = 2, .batched = (const bool[]){true}};
    OK(sp_function_batch(f, &batch, 1, &slices, 1, &out, &batched, &slow));
    assert_true(batched);
    assert_string_equal(slow, "test_swish");
    for (int i = 0; i < 4; i++)
        assert_true(fabs((double)((float *)sp_tensor_data(out))[i] - swish_of((double)points[i], 1)) < 1e-6);
    sp_text_free(slow);
    sp_tensor_release(out);
    sp_tensor_release(slices);
    sp_graph_release(g);
    sp_builder_release(b);
}

static void refused(const sp_custom_op *op, sp_status status, const char *text)
{
    const int n = sp_op_count();
    const sp_op *out = NULL;
    assert_int_equal(sp_custom_register(op, &out), status);
    if (!strstr(sp_error_message(), text)) fail_msg("'%s' is not in: %s", text, sp_error_message());
    assert_int_equal(sp_op_count(), n);
    assert_null(out);
}

static void wrong_definitions_are_told(void **unused)
{
    (void)unused;
#define WRONG(status, text, ...)                                                                                       \
    do {                                                                                                               \
        sp_custom_op op = swish;                                                                                       \
        op.name = "test_wrong";                                                                                        \
        __VA_ARGS__;                                                                                                   \
        refused(&op, status, text);                                                                                    \
    } while (0)
    refused(NULL, SP_VALUE, "struct_size");
    WRONG(SP_VALUE, "struct_size", op.struct_size = 8);
    WRONG(SP_VALUE, "cannot be called ''", op.name = NULL);
    WRONG(SP_VALUE, "cannot be called 'Big'", op.name = "Big");
    WRONG(SP_VALUE, "cannot be called '9to5'", op.name = "9to5");
    WRONG(SP_VALUE, "cannot be called 'my.swish'", op.name = "my.swish");
    WRONG(SP_KEY, "there is an operator relu already", op.name = "relu");
    WRONG(SP_KEY, "there is an operator test_swish already", op.name = "test_swish");
    WRONG(SP_VALUE, "it has neither", op.run = NULL);
    WRONG(SP_VALUE, "it has both", op.compose = cube_compose);
    WRONG(SP_VALUE, "vjp would not be called", op.run = NULL; op.compose = cube_compose);
    WRONG(SP_VALUE, "no vjp that reads them", op.vjp = NULL);
    WRONG(SP_VALUE, "has no inputs", op.inputs = NULL);
    WRONG(SP_VALUE, "it may have 1 to 14", op.inputs = "");
    WRONG(SP_VALUE, "it may have 1 to 14", op.inputs = "a, b, c, d, e, f, g, h, i, j, k, l, m, n, o");
    WRONG(SP_VALUE, "a name at \"Y\"", op.inputs = "x, Y");
    WRONG(SP_VALUE, "a comma is missing at \"?\"", op.inputs = "x, y??");
    WRONG(SP_VALUE, "only the last may be any number", op.inputs = "xs..., y");
    WRONG(SP_VALUE, "cannot be left out", op.inputs = "x?, y");
    WRONG(SP_VALUE, "has 9 results", op.n_out = 9);
    WRONG(SP_VALUE, "has -1 results", op.n_out = -1);
    WRONG(SP_VALUE, "may take 512", op.attrs_bytes = 513);
    WRONG(SP_VALUE, "beta of operator test_wrong lies at byte 0", op.attrs_bytes = 4);
    WRONG(SP_VALUE, "has 15 attributes", op.n_attrs = 15);
    WRONG(SP_VALUE, "names dtype -1", op.dtypes = (const sp_dtype[]){SP_DTYPE_NONE});
    const sp_attr broken[] = {{"beta", SP_ATTR_FLOAT, 0, "many"}}, odd[] = {{"beta", (sp_attr_type)99, 0, "1"}};
    WRONG(SP_VALUE, "attribute beta is 'many', it must be a number", op.attrs = broken; op.n_attrs = 1);
    WRONG(SP_VALUE, "type 99, which there is not", op.attrs = odd; op.n_attrs = 1);
#undef WRONG
}

static void short_of_memory_it_is_not_registered(void **unused)
{
    (void)unused;
    sp_custom_op op = swish;
    op.name = "test_scarce";
    sp_status status = SP_NOMEM;
    for (int64_t n = 1; status == SP_NOMEM; n++) {
        const int before = sp_op_count();
        sp__alloc_fail_at(n);
        status = sp_custom_register(&op, NULL);
        sp__alloc_fail_at(0);
        assert_int_equal(sp_op_count(), before + (status == SP_OK));
        assert_true(n < 100);
    }
    OK(status);
}

static void *register_and_apply(void *which)
{
    for (int i = 0; i < 20; i++) {
        char name[32];
        snprintf(name, sizeof name, "test_thread_%d_%d", *(int *)which, i);
        sp_custom_op op = swish;
        op.name = name; /* is copied */
        sp_builder *b;
        if (sp_custom_register(&op, NULL) != SP_OK || sp_builder_create(&b) != SP_OK) return "registering";
        memset(name, 0, 4);
        snprintf(name, sizeof name, "test_thread_%d_%d", *(int *)which, i);
        sp_tensor *x = vector(b, 4, points);
        sp_builder_call(b, name, NULL, 1, &x);
        if (sp_builder_status(b) != SP_OK) return "applying";
        sp_builder_release(b);
    }
    return NULL;
}

static void from_several_threads_up_to_the_limit(void **unused)
{
    (void)unused;
    pthread_t threads[4];
    int which[4];
    for (int i = 0; i < 4; i++) {
        which[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, register_and_apply, &which[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    sp_custom_op op = cube;
    sp_status status = SP_OK;
    int n = 0;
    for (char name[32]; status == SP_OK && n < 1000; n++) {
        snprintf(name, sizeof name, "test_many_%d", n);
        op.name = name;
        status = sp_custom_register(&op, NULL);
    }
    assert_int_equal(status, SP_VALUE);
    assert_string_equal(sp_error_message(),
                        "256 operators have been registered in this process, there is room for no more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applied_by_name),
        cmocka_unit_test(differentiated_twice),
        cmocka_unit_test(recorded_printed_and_run),
        cmocka_unit_test(mapped_over_slices),
        cmocka_unit_test(wrong_definitions_are_told),
        cmocka_unit_test(short_of_memory_it_is_not_registered),
        cmocka_unit_test(from_several_threads_up_to_the_limit),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
