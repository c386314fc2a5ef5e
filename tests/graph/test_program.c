/* SPDX-License-Identifier: Apache-2.0 */
/* Programs from C: straight code, loops, recursion, closures, gradients, variables, threads, failures. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/share.h"
#include "ir/graph_impl.h"
#include "program_util.h"

static sp_tensor *keep(sp_tensor *t) { return sp_builder_take_tensor(b, t); }

static sp_tensor *vector(int n, const float *v)
{
    sp_tensor *t = NULL;
    OK(sp_tensor_create_from(SP_DTYPE_F32, 1, (const int64_t[]){n}, v, &t));
    return keep(t);
}

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

static const sp_spec number = {.dtype = SP_DTYPE_F32, .rank = 0};

static sp_function *begin(const char *name, int n, const sp_spec *specs, sp_tensor **params)
{
    sp_function *f = NULL;
    OK(sp_function_begin(g, name, n, specs, &f, params));
    for (int i = 0; i < n; i++) keep(params[i]);
    return f;
}

static void end(sp_function *f, int n, sp_tensor *const *results)
{
    assert_fine(sp_builder_status(b), "recording");
    OK(sp_function_end(f, n, results));
}

static sp_program *compiled(sp_function *f)
{
    sp_program *p = NULL;
    OK(sp_program_create(f, NULL, &p));
    return p;
}

static double run1(sp_program *p, int n, sp_tensor *const *args)
{
    sp_tensor *out = NULL;
    OK(sp_program_run(p, n, args, 1, &out));
    double v = item(out);
    sp_tensor_release(out);
    return v;
}

/* --- straight code ----------------------------------------------------------------------------------------------- */

static void straight_code_equals_eager(void **state)
{
    (void)state;
    const sp_spec in = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {-1}};
    sp_tensor *x, *w = vector(1, (const float[]){0.3f});
    sp_function *f = begin("f", 1, &in, &x);
    sp_tensor *y = sp_add(b, sp_mul(b, sp_exp(b, x), w), x);
    end(f, 1, &y);
    sp_program *p = compiled(f);
    for (int n = 1; n < 5; n++) { /* a new size is a new plan */
        sp_tensor *a = vector(n, (const float[]){0.1f, 0.7f, -3, 2}), *out = NULL;
        for (int round = 0; round < 3; round++) {
            OK(sp_program_run(p, 1, &a, 1, &out));
            sp_tensor *want = sp_add(b, sp_mul(b, sp_exp(b, a), w), a);
            assert_memory_equal(sp_tensor_data(out), sp_tensor_data(want), (size_t)n * 4);
            sp_tensor_release(out);
        }
    }
    char *report = NULL;
    OK(sp_program_report(p, &report));
    assert_non_null(strstr(report, "arena"));
    sp_text_free(report);
    sp_program_release(p);
}

/* Views of an argument reach all of it, however large it is, in both directions. */
static void views_reach_all_of_an_argument(void **state)
{
    (void)state;
    enum { N = 300000 };
    const sp_spec in = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {N}};
    sp_tensor *x;
    sp_function *f = begin("f", 1, &in, &x);
    sp_tensor *y = sp_builder_call(b, "region_get", "dims=(3,), strides=(-100000,), offset=299999", 1, &x);
    y = sp_add(b, y, sp_builder_call(b, "region_get", "dims=(3,), strides=(149999,), offset=1", 1, &x));
    end(f, 1, &y);
    sp_program *p = compiled(f);
    float *v = malloc(N * sizeof *v);
    for (int i = 0; i < N; i++) v[i] = (float)i;
    sp_tensor *a = vector(N, v), *out = NULL;
    free(v);
    OK(sp_program_run(p, 1, &a, 1, &out));
    assert_memory_equal(sp_tensor_data(out), ((const float[]){299999 + 1, 199999 + 150000, 99999 + 299999}), 12);
    sp_tensor_release(out);
    sp_program_release(p);
}

/* What a plan needs is what is alive at once. Where addresses have 32 bits, all results together are more than there are addresses. */
static void results_share_the_arena(void **state)
{
    (void)state;
    const int n = sizeof(void *) == 4 ? 12 : 2, rounds = 18;
    const sp_spec in = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {4096}};
    sp_tensor *x;
    sp_function *f = begin("f", 1, &in, &x);
    sp_tensor *y = x;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < n; i++) y = sp_builder_call(b, "concat", "axis=0", 2, (sp_tensor *const[]){y, y});
        y = sp_builder_call(b, "region_get", "dims=(4096,), strides=(1,), offset=4096", 1, &y);
    }
    end(f, 1, &y);
    sp_program *p = compiled(f);
    static float v[4096];
    for (int i = 0; i < 4096; i++) v[i] = (float)i;
    sp_tensor *a = vector(4096, v), *out = NULL;
    OK(sp_program_run(p, 1, &a, 1, &out));
    assert_memory_equal(sp_tensor_data(out), v, sizeof v);
    sp_tensor_release(out);
    sp_program_release(p);
}

static void wrong_argument_is_named(void **state)
{
    (void)state;
    sp_tensor *x, *out = NULL;
    sp_function *f = begin("f", 1, &number, &x);
    sp_tensor *y = sp_exp(b, x);
    end(f, 1, &y);
    sp_program *p = compiled(f);
    sp_tensor *a = vector(2, (const float[]){1, 2});
    assert_int_equal(sp_program_run(p, 1, &a, 1, &out), SP_TYPE);
    assert_non_null(strstr(sp_error_message(), "argument 0 of program f is float32 (2,)"));
    assert_int_equal(sp_program_run(p, 0, NULL, 1, &out), SP_TYPE);
    sp_program_release(p);
}

static void views_cost_no_kernel(void **state)
{
    (void)state;
    const sp_spec in = {.dtype = SP_DTYPE_F32, .rank = 2, .dims = {2, 3}};
    sp_tensor *x;
    sp_function *f = begin("f", 1, &in, &x);
    sp_tensor *t = sp_builder_call(b, "transpose", "perm=(1, 0)", 1, &x);
    sp_tensor *y = sp_add(b, t, t);
    sp_tensor *z = sp_builder_call(b, "transpose", "perm=(1, 0)", 1, &y);
    end(f, 1, &z);
    sp_program *p = compiled(f);
    const float v[6] = {1, 2, 3, 4, 5, 6};
    sp_tensor *a = NULL, *out = NULL;
    OK(sp_tensor_create_from(SP_DTYPE_F32, 2, (const int64_t[]){2, 3}, v, &a));
    keep(a);
    OK(sp_program_run(p, 1, &a, 1, &out));
    keep(out);
    assert_int_equal(sp_tensor_strides(out)[0], 1);
    assert_float_equal(((const float *)sp_tensor_data(out))[1], 8, 0); /* element (1, 0) */
    char *report = NULL;
    OK(sp_program_report(p, &report));
    assert_non_null(strstr(report, "1 kernel calls"));
    sp_text_free(report);
    sp_program_release(p);
}

/* --- loops and recursion ----------------------------------------------------------------------------------------- */

/* while (i < n) { i += 1; s += x; } */
static sp_function *counting_loop(void)
{
    const sp_spec specs[4] = {number, number, number, number};
    sp_tensor *v[4], *out[4];
    sp_function *test = begin("test", 4, specs, v);
    sp_tensor *less = sp_less(b, v[0], v[1]);
    end(test, 1, &less);
    sp_function *body = begin("body", 4, specs, v);
    sp_tensor *next[4] = {sp_add(b, v[0], scalar(1)), v[1], sp_add(b, v[2], v[3]), v[3]};
    end(body, 4, next);
    sp_function *f = begin("loop", 2, specs, v);
    sp_tensor *start[4] = {scalar(0), v[0], scalar(0), v[1]};
    OK(sp_function_while(test, body, 4, start, out));
    for (int i = 0; i < 4; i++) keep(out[i]);
    end(f, 1, &out[2]);
    return f;
}

static void a_million_turns_need_no_memory(void **state)
{
    (void)state;
    sp_program *p = compiled(counting_loop());
    assert_int_equal(sp_program_results(p), 1);
    sp_tensor *args[2] = {scalar(10), scalar(0.5)};
    assert_float_equal(run1(p, 2, args), 5, 0);
    sp_memory_stats before, after;
    sp_memory_reset_peak();
    sp_memory_get(&before);
    const int turns = share_of(1000000);
    args[0] = scalar(turns);
    assert_float_equal(run1(p, 2, args), turns / 2, 0);
    sp_memory_get(&after);
    assert_true(after.used_peak < before.used_bytes + 256 * 1024);
    sp_program_release(p);
}

/* f(n) = n > 0 ? n + f(n - 1) : 0, not a tail call */
static sp_function *summing_recursion(void)
{
    sp_tensor *n, *m, *self, *again, *cond, *out;
    sp_function *f = begin("sum", 1, &number, &n);
    sp_function *stop = begin("stop", 1, &number, &m);
    end(stop, 1, &m);
    sp_function *more = begin("more", 1, &number, &m);
    OK(sp_function_value(f, &self));
    keep(self);
    sp_tensor *less = sp_sub(b, m, scalar(1));
    OK(sp_function_call(self, 1, &less, 1, &number, &again));
    sp_tensor *total = sp_add(b, keep(again), m);
    end(more, 1, &total);
    cond = sp_greater(b, n, scalar(0));
    OK(sp_function_if(cond, more, stop, 1, &n, 1, &out));
    keep(out);
    end(f, 1, &out);
    return f;
}

static void recursion_is_deep(void **state)
{
    (void)state;
    sp_program *p = compiled(summing_recursion());
    for (int n = 1; n <= 1000; n *= 10) {
        sp_tensor *arg = scalar(n);
        assert_float_equal(run1(p, 1, &arg), n * (n + 1) / 2.0, 0);
    }
    sp_tensor *arg = scalar(40000);
    run1(p, 1, &arg);
    OK(sp_program_set_depth(1000));
    sp_tensor *out = NULL;
    assert_int_equal(sp_program_run(p, 1, &arg, 1, &out), SP_RUNTIME);
    assert_non_null(strstr(sp_error_message(), "Exceed function call depth limit 1000"));
    OK(sp_program_set_depth(100000));
    sp_program_release(p);
}

static void closures_bind_and_are_chosen(void **state)
{
    (void)state;
    /* h(c, x, y): f = c ? (z -> z + x) : (z -> z * x), return f(y) */
    const sp_spec specs[3] = {number, number, number};
    sp_tensor *v[3], *z, *yes, *no, *f1, *f2, *out;
    sp_function *h = begin("h", 3, specs, v);
    sp_function *add = begin("add", 1, &number, &z);
    sp_tensor *r = sp_add(b, z, v[1]); /* a free variable */
    end(add, 1, &r);
    const sp_spec two[2] = {number, number};
    sp_tensor *m[2];
    sp_function *mul = begin("mul", 2, two, m);
    r = sp_mul(b, m[0], m[1]);
    end(mul, 1, &r);
    OK(sp_function_value(add, &yes));
    OK(sp_function_value(mul, &no));
    OK(sp_function_partial(keep(no), 1, &v[1], &f1));
    OK(sp_function_switch(v[0], keep(yes), keep(f1), &f2));
    OK(sp_function_call(keep(f2), 1, &v[2], 1, &number, &out));
    keep(out);
    end(h, 1, &out);
    sp_program *p = compiled(h);
    sp_tensor *args[3] = {scalar(1), scalar(3), scalar(4)};
    assert_float_equal(run1(p, 3, args), 7, 0);
    args[0] = scalar(0);
    assert_float_equal(run1(p, 3, args), 12, 0);
    sp_program_release(p);
}

static void ambiguous_condition_is_an_error(void **state)
{
    (void)state;
    const sp_spec pair = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {-1}}; /* told at run time only */
    sp_tensor *x, *m, *out;
    sp_function *f = begin("f", 1, &pair, &x);
    sp_function *yes = begin("yes", 1, &pair, &m);
    end(yes, 1, &m);
    sp_function *no = begin("no", 1, &pair, &m);
    end(no, 1, &m);
    OK(sp_function_if(x, yes, no, 1, &x, 1, &out));
    keep(out);
    end(f, 1, &out);
    sp_program *p = compiled(f);
    sp_tensor *a = vector(2, (const float[]){1, 2}), *r = NULL;
    assert_int_equal(sp_program_run(p, 1, &a, 1, &r), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "ambiguous"));
    sp_program_release(p);
}

/* --- gradients --------------------------------------------------------------------------------------------------- */

/* p(x, n): y = x; while (n > 0) { y = y * x; n -= 1; } return y: x^(n+1) */
static sp_function *power(void)
{
    const sp_spec specs[3] = {number, number, number};
    sp_tensor *v[3], *out[3];
    sp_function *test = begin("test", 3, specs, v);
    sp_tensor *positive = sp_greater(b, v[2], scalar(0));
    end(test, 1, &positive);
    sp_function *body = begin("body", 3, specs, v);
    sp_tensor *next[3] = {v[0], sp_mul(b, v[1], v[0]), sp_sub(b, v[2], scalar(1))};
    end(body, 3, next);
    sp_function *f = begin("power", 2, specs, v);
    sp_tensor *start[3] = {v[0], v[0], v[1]};
    OK(sp_function_while(test, body, 3, start, out));
    for (int i = 0; i < 3; i++) keep(out[i]);
    end(f, 1, &out[1]);
    return f;
}

static void gradient_through_a_loop_to_any_order(void **state)
{
    (void)state;
    const sp_spec specs[2] = {number, number};
    const int first = 0;
    sp_function *f = power();
    sp_program *p;
    double want[3] = {4 * 8, 4 * 3 * 4, 4 * 3 * 2 * 2}; /* of x^4 at 2 */
    for (int order = 0; order < 3; order++) {
        sp_tensor *v[2], *out[2];
        sp_function *d = begin("d", 2, specs, v);
        OK(sp_function_grad(f, 2, v, 1, &first, out));
        keep(out[0]);
        keep(out[1]);
        end(d, 1, &out[1]);
        p = compiled(d);
        sp_tensor *args[2] = {scalar(2), scalar(3)};
        assert_float_equal(run1(p, 2, args), want[order], 0);
        sp_program_release(p);
        f = d;
    }
}

/* f(x): n = 3; while (n > 0) { y = y * w; n -= 1 }, counted in a variable; the gradient by w, and of that by x. */
static void gradient_by_a_variable_that_a_loop_reads(void **state)
{
    (void)state;
    const sp_spec specs[2] = {number, number};
    sp_tensor *w = scalar(2), *turns = scalar(0), *v[2], *x, *out[2], *r;
    sp_graph_variable_mark(w);
    sp_graph_variable_mark(turns);
    sp_function *test = begin("test", 2, specs, v);
    r = sp_greater(b, v[1], scalar(0));
    end(test, 1, &r);
    sp_function *body = begin("body", 2, specs, v);
    sp_tensor *count[2] = {turns, sp_add(b, turns, scalar(1))};
    sp_builder_call(b, "assign", NULL, 2, count);
    sp_tensor *next[2] = {sp_mul(b, v[0], w), sp_sub(b, v[1], scalar(1))};
    end(body, 2, next);
    sp_function *f = begin("f", 1, &number, &x);
    sp_tensor *start[2] = {x, scalar(3)};
    OK(sp_function_while(test, body, 2, start, out));
    keep(out[0]);
    keep(out[1]);
    end(f, 1, &out[0]);
    sp_function *d = begin("d", 1, &number, &x);
    sp_variable *variable = sp__graph_variable(g, w);
    const sp_grad_spec spec = {.n_results = 1, .n_differentiated = -1, .n_variables = 1, .variables = &variable};
    OK(sp__function_grad(f, 1, &x, &spec, out));
    keep(out[0]);
    keep(out[1]);
    end(d, 2, out);
    sp_program *p = compiled(d);
    sp_tensor *a = scalar(5), *got[2];
    for (int round = 1; round <= 2; round++) {
        OK(sp_program_run(p, 1, &a, 2, got));
        assert_float_equal(item(got[0]), 5 * 8, 0);
        assert_float_equal(item(got[1]), 5 * 3 * 4, 0); /* x * 3 w^2 */
        assert_float_equal(item(turns), 3 * round, 0);
        sp_tensor_release(got[0]);
        sp_tensor_release(got[1]);
    }
    assert_false(sp_grad_tracked(w)); /* nothing shared was changed */
    sp_program_release(p);
    sp_tensor *dd[3];
    const int first = 0;
    sp_function *second = begin("second", 1, &number, &x);
    OK(sp_function_grad(d, 1, &x, 1, &first, dd));
    for (int i = 0; i < 3; i++) keep(dd[i]);
    end(second, 1, &dd[2]);
    p = compiled(second);
    assert_float_equal(run1(p, 1, &a), 8 + 12, 0); /* of x w^3 + 3 x w^2 by x */
    sp_program_release(p);
}

static void eager_gradient_passes_through_a_program(void **state)
{
    (void)state;
    sp_tensor *x;
    sp_function *f = begin("f", 1, &number, &x);
    sp_tensor *y = sp_mul(b, sp_mul(b, x, x), x);
    end(f, 1, &y);
    sp_program *p = compiled(f);
    sp_tensor *a = scalar(2), *out = NULL, *da = NULL;
    sp_grad_begin();
    OK(sp_grad_watch(a));
    OK(sp_program_run(p, 1, &a, 1, &out));
    OK(sp_grad_backward(1, &out, NULL, 1, &a, false, &da));
    sp_grad_end();
    sp_grad_unwatch(a);
    assert_float_equal(item(da), 12, 0);
    sp_tensor_release(out);
    sp_tensor_release(da);
    sp_program_release(p);
}

/* --- variables --------------------------------------------------------------------------------------------------- */

static void variables_are_read_and_written(void **state)
{
    (void)state;
    sp_tensor *w = vector(2, (const float[]){1, 2}), *x;
    sp_graph_variable_mark(w);
    const sp_spec pair = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {2}};
    sp_function *f = begin("step", 1, &pair, &x);
    sp_tensor *before = sp_add(b, w, scalar(0));
    sp_tensor *in[2] = {w, sp_add(b, w, x)};
    sp_builder_call(b, "assign", NULL, 2, in);
    sp_tensor *y[2] = {sp_mul(b, w, scalar(10)), before}; /* the new contents and the old */
    end(f, 2, y);
    assert_float_equal(((const float *)sp_tensor_data(w))[0], 1, 0); /* recorded, not done */
    sp_program *p = compiled(f);
    sp_tensor *a = vector(2, (const float[]){0.5f, 1}), *out[2];
    for (int round = 1; round <= 3; round++) {
        OK(sp_program_run(p, 1, &a, 2, out));
        assert_float_equal(((const float *)sp_tensor_data(out[0]))[0], 10 * (1 + 0.5 * round), 0);
        assert_float_equal(((const float *)sp_tensor_data(out[1]))[0], 1 + 0.5 * (round - 1), 0);
        assert_float_equal(((const float *)sp_tensor_data(w))[1], 2 + round, 0);
        sp_tensor_release(out[0]);
        sp_tensor_release(out[1]);
    }
    sp_program_release(p);
}

static void returned_variable_is_a_copy(void **state)
{
    (void)state;
    sp_tensor *w = vector(2, (const float[]){1, 2}), *x, *out = NULL;
    sp_graph_variable_mark(w);
    sp_function *f = begin("f", 1, &number, &x);
    sp_tensor *y = sp_builder_call(b, "reshape", "shape=(2, 1)", 1, &w);
    end(f, 1, &y);
    sp_program *p = compiled(f);
    sp_tensor *a = scalar(0);
    OK(sp_program_run(p, 1, &a, 1, &out));
    assert_ptr_not_equal(sp_tensor_data(out), sp_tensor_data(w));
    assert_float_equal(((const float *)sp_tensor_data(out))[1], 2, 0);
    sp_tensor_release(out);
    sp_program_release(p);
}

/* A variable passed as an argument is a value: the old contents, also after the store. */
static void arguments_are_values(void **state)
{
    (void)state;
    const sp_spec pair = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {2}};
    sp_tensor *w = vector(2, (const float[]){1, 2}), *x, *out = NULL;
    sp_graph_variable_mark(w);
    sp_function *f = begin("f", 1, &pair, &x);
    sp_tensor *in[2] = {w, sp_mul(b, w, scalar(10))};
    sp_builder_call(b, "assign", NULL, 2, in);
    sp_tensor *y = sp_add(b, x, w);
    end(f, 1, &y);
    sp_program *p = compiled(f);
    OK(sp_program_run(p, 1, &w, 1, &out));
    assert_float_equal(((const float *)sp_tensor_data(out))[1], 22, 0);
    sp_tensor_release(out);
    sp_program_release(p);
}

/* batch_norm is a composition that writes to its moving averages. */
static void compositions_write_to_variables(void **state)
{
    (void)state;
    const sp_spec in = {.dtype = SP_DTYPE_F32, .rank = 4, .dims = {2, 1, 1, 2}};
    sp_tensor *x, *out = NULL, *held[4];
    for (int i = 0; i < 4; i++) {
        held[i] = vector(1, (const float[]){(float)(i % 2)});
        sp_graph_variable_mark(held[i]);
    }
    sp_function *f = begin("f", 1, &in, &x);
    sp_tensor *args[5] = {x, held[1], held[0], held[2], held[3]};
    sp_tensor *y = sp_builder_call(b, "batch_norm", "is_training=True, momentum=0.5", 5, args);
    end(f, 1, &y);
    sp_program *p = compiled(f);
    sp_tensor *a = NULL;
    OK(sp_tensor_create_from(SP_DTYPE_F32, 4, in.dims, (const float[]){1, 2, 3, 4}, &a));
    OK(sp_program_run(p, 1, &a, 1, &out));
    assert_float_equal(((const float *)sp_tensor_data(held[2]))[0], 1.25, 1e-6); /* half of the mean */
    sp_tensor_release(a);
    sp_tensor_release(out);
    sp_program_release(p);
}

/* --- threads, failures ------------------------------------------------------------------------------------------- */

typedef struct {
    sp_program *p;
    double got[4];
} thread_job;

static void *run_some(void *context)
{
    thread_job *j = context;
    for (int i = 0; i < 4; i++) {
        sp_tensor *args[2], *out = NULL;
        if (sp_tensor_create_f64(SP_DTYPE_F32, 100 * (i + 1), &args[0]) != SP_OK ||
            sp_tensor_create_f64(SP_DTYPE_F32, 0.25, &args[1]) != SP_OK ||
            sp_program_run(j->p, 2, args, 1, &out) != SP_OK || sp_tensor_item_f64(out, &j->got[i]) != SP_OK)
            return NULL;
        sp_tensor_release(args[0]);
        sp_tensor_release(args[1]);
        sp_tensor_release(out);
    }
    return j;
}

static void four_threads_run_one_program(void **state)
{
    (void)state;
    sp_program *p = compiled(counting_loop());
    pthread_t threads[4];
    thread_job jobs[4];
    for (int k = 0; k < 4; k++) {
        jobs[k].p = p;
        assert_int_equal(pthread_create(&threads[k], NULL, run_some, &jobs[k]), 0);
    }
    for (int k = 0; k < 4; k++) {
        void *done = NULL;
        pthread_join(threads[k], &done);
        assert_non_null(done);
        for (int i = 0; i < 4; i++) assert_float_equal(jobs[k].got[i], 25 * (i + 1), 0);
    }
    sp_program_release(p);
}

/* Plans are made and run at the same time: each thread has its own sizes, then all the same. */
static void *run_sizes(void *context)
{
    thread_job *j = context;
    for (int i = 0; i < 40; i++) {
        const int64_t n = i < 20 ? 64 + i : 2000;
        sp_tensor *a = NULL, *out = NULL;
        if (sp_tensor_create_zeros(SP_DTYPE_F32, 1, &n, &a) != SP_OK || sp_program_run(j->p, 1, &a, 1, &out) != SP_OK)
            return NULL;
        const float *v = sp_tensor_data(out);
        j->got[0] += v[0] + v[n - 1];
        sp_tensor_release(a);
        sp_tensor_release(out);
    }
    return j;
}

static void four_threads_plan_and_run(void **state)
{
    (void)state;
    const sp_spec in = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {-1}};
    sp_tensor *x;
    sp_function *f = begin("f", 1, &in, &x);
    sp_tensor *y = sp_exp(b, x), *sum = sp_builder_call(b, "reduce_sum", "keepdims=True", 1, &y);
    y = sp_add(b, sp_mul(b, y, scalar(0.5)), sp_div(b, sum, sum));
    end(f, 1, &y);
    sp_program *p = compiled(f);
    pthread_t threads[4];
    thread_job jobs[4];
    for (int k = 0; k < 4; k++) {
        jobs[k] = (thread_job){.p = p};
        assert_int_equal(pthread_create(&threads[k], NULL, run_sizes, &jobs[k]), 0);
    }
    for (int k = 0; k < 4; k++) {
        void *done = NULL;
        pthread_join(threads[k], &done);
        assert_non_null(done);
        assert_float_equal(jobs[k].got[0], 40 * 3, 0);
    }
    sp_program_release(p);
}

static int host_calls;
static sp_status refuse(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)context, (void)n_in, (void)n_out;
    if (++host_calls == 3) return sp__fail(SP_VALUE, "the third time fails");
    out[0] = sp_tensor_retain(in[0]);
    return SP_OK;
}

static void a_failing_node_leaves_nothing_behind(void **state)
{
    (void)state;
    const sp_spec wide = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {1000}};
    sp_tensor *x, *m, *out = NULL;
    sp_function *f = begin("f", 1, &wide, &x);
    sp_tensor *y = sp_exp(b, sp_add(b, x, x));
    sp_function *inner = begin("inner", 1, &wide, &m);
    sp_tensor *r = sp_mul(b, sp_exp(b, m), m), *h;
    OK(sp_function_host("refuse", refuse, NULL, NULL, 1, &r, 1, &wide, &h));
    r = sp_add(b, keep(h), m);
    end(inner, 1, &r);
    sp_tensor *callee, *z;
    OK(sp_function_value(inner, &callee));
    OK(sp_function_call(keep(callee), 1, &y, 1, NULL, &z));
    r = sp_add(b, keep(z), y);
    end(f, 1, &r);
    sp_program *p = compiled(f);
    sp_tensor *a = NULL;
    OK(sp_tensor_create_zeros(SP_DTYPE_F32, 1, (const int64_t[]){1000}, &a));
    host_calls = 0;
    for (int i = 0; i < 2; i++) {
        OK(sp_program_run(p, 1, &a, 1, &out));
        sp_tensor_release(out);
    }
    sp_memory_stats before, after;
    sp_memory_get(&before);
    assert_int_equal(sp_program_run(p, 1, &a, 1, &out), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "the third time fails"));
    sp_memory_get(&after);
    assert_int_equal(after.used_bytes, before.used_bytes);
    OK(sp_program_run(p, 1, &a, 1, &out)); /* and it works again */
    sp_tensor_release(out);
    sp_tensor_release(a);
    sp_program_release(p);
}

static bool stop_at_once(void) { return true; }

static void interruption_ends_a_loop(void **state)
{
    (void)state;
    sp_program *p = compiled(counting_loop());
    sp_tensor *args[2] = {scalar(1e9), scalar(0.5)}, *out = NULL;
    sp_interrupt_set_poll(stop_at_once);
    sp_status status = sp_program_run(p, 2, args, 1, &out);
    sp_interrupt_set_poll(NULL);
    assert_int_equal(status, SP_INTERRUPTED);
    sp_program_release(p);
}

/* Every allocation of compiling and running fails once: an error each time, nothing lost, and then it works. */
static void allocation_failures_are_survived(void **state)
{
    (void)state;
    sp_function *f = counting_loop();
    const sp_spec specs[2] = {number, number};
    const int by = 1;
    sp_tensor *v[2], *out[2], *args[2] = {scalar(3), scalar(0.5)};
    sp_function *d = begin("d", 2, specs, v);
    OK(sp_function_grad(f, 2, v, 1, &by, out));
    sp_tensor *r = sp_add(b, sp_mul(b, keep(out[0]), v[1]), keep(out[1]));
    end(d, 1, &r);
    sp_memory_stats before, after;
    bool done = false;
    for (int64_t n = 1; !done; n++) {
        sp_program *p = NULL;
        sp_tensor *result = NULL;
        sp_memory_get(&before);
        sp__alloc_fail_at(n);
        sp_status status = sp_program_create(d, NULL, &p);
        if (status == SP_OK) status = sp_program_run(p, 2, args, 1, &result);
        sp__alloc_fail_at(0);
        done = status == SP_OK;
        if (!done) assert_int_equal(status, SP_NOMEM);
        if (p && !done) {
            OK(sp_program_run(p, 2, args, 1, &result));
            assert_float_equal(item(result), 1.5 * 0.5 + 3, 0);
        }
        sp_tensor_release(result);
        sp_program_release(p);
        sp_memory_get(&after);
        assert_int_equal(after.used_bytes, before.used_bytes);
        assert_true(n < 100000);
    }
}

/* The same for straight code: plans, fusion, variables. */
static void allocation_failures_in_plans_are_survived(void **state)
{
    (void)state;
    const sp_spec in = {.dtype = SP_DTYPE_F32, .rank = 2, .dims = {4, 64}};
    sp_tensor *w = NULL, *x, *a = NULL;
    OK(sp_tensor_create_zeros(SP_DTYPE_F32, 2, in.dims, &w));
    OK(sp_tensor_create_zeros(SP_DTYPE_F32, 2, in.dims, &a));
    keep(w);
    keep(a);
    sp_graph_variable_mark(w);
    sp_function *f = begin("f", 1, &in, &x);
    sp_tensor *t = sp_builder_call(b, "transpose", "perm=(1, 0)", 1, (sp_tensor *const[]){x});
    sp_tensor *y =
        sp_relu(b, sp_mul(b, sp_add(b, sp_builder_call(b, "matmul", NULL, 2, (sp_tensor *const[]){x, t}), scalar(1)),
                          scalar(2)));
    sp_tensor *z[2] = {w, sp_add(b, w, sp_mul(b, x, scalar(3)))};
    sp_builder_call(b, "assign", NULL, 2, z);
    end(f, 1, &y);
    sp_memory_stats before, after;
    bool done = false;
    for (int64_t n = 1; !done; n++) {
        sp_program *p = NULL;
        sp_tensor *result = NULL;
        sp_memory_get(&before);
        sp__alloc_fail_at(n);
        sp_status status = sp_program_create(f, NULL, &p);
        if (status == SP_OK) status = sp_program_run(p, 1, &a, 1, &result);
        sp__alloc_fail_at(0);
        done = status == SP_OK;
        if (!done) assert_int_equal(status, SP_NOMEM);
        if (p && !done) OK(sp_program_run(p, 1, &a, 1, &result));
        if (result) assert_float_equal(((const float *)sp_tensor_data(result))[0], 2, 0);
        sp_tensor_release(result);
        sp_program_release(p);
        sp_memory_get(&after);
        assert_int_equal(after.used_bytes, before.used_bytes);
        assert_true(n < 100000);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(straight_code_equals_eager),
        CASE(views_reach_all_of_an_argument),
        CASE(results_share_the_arena),
        CASE(wrong_argument_is_named),
        CASE(views_cost_no_kernel),
        CASE(a_million_turns_need_no_memory),
        CASE(recursion_is_deep),
        CASE(closures_bind_and_are_chosen),
        CASE(ambiguous_condition_is_an_error),
        CASE(gradient_through_a_loop_to_any_order),
        CASE(gradient_by_a_variable_that_a_loop_reads),
        CASE(eager_gradient_passes_through_a_program),
        CASE(variables_are_read_and_written),
        CASE(returned_variable_is_a_copy),
        CASE(arguments_are_values),
        CASE(compositions_write_to_variables),
        CASE(four_threads_run_one_program),
        CASE(four_threads_plan_and_run),
        CASE(a_failing_node_leaves_nothing_behind),
        CASE(interruption_ends_a_loop),
        CASE(allocation_failures_are_survived),
        CASE(allocation_failures_in_plans_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
