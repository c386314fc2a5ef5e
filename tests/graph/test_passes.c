/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs give the same bits in eager mode, compiled, and compiled with each pass left out; passes do what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/share.h"
#include "spore/spore.h"

enum { PROGRAMS = 150, LENGTH = 40, ARGS = 3, VARIABLES = 2, ALIVE = 8 };

static sp_builder *b;

#define OK(expr) check((expr), #expr)
static void check(sp_status status, const char *what)
{
    if (status != SP_OK) fail_msg("%s: %s", what, sp_error_message());
}

static uint64_t seed;
static int draw(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

static sp_tensor *keep(sp_tensor *t) { return sp_builder_take_tensor(b, t); }

static const int64_t shapes[ARGS + VARIABLES][2] = {{6, 64}, {6, 64}, {1, 64}, {6, 64}, {6, 1}};

static sp_tensor *filled(const int64_t *dims, int salt)
{
    sp_tensor *t = NULL;
    OK(sp_tensor_create(SP_DTYPE_F32, 2, dims, &t));
    float *v = sp_tensor_data(t);
    for (int64_t i = 0; i < dims[0] * dims[1]; i++) v[i] = (float)((i * 37 + salt * 11) % 19 - 9) / 7.0f;
    return keep(t);
}

static sp_tensor *call1(const char *op, const char *attrs, sp_tensor *x)
{
    return sp_builder_call(b, op, attrs, 1, &x);
}

/* One operator on values that are alive; all keep two dimensions that broadcast with (6, 64). */
static sp_tensor *grow(sp_tensor **alive, sp_tensor **variables)
{
    static const char *const unary[] = {"relu", "tanh", "neg", "abs", "sigmoid", "square", "copy", "identity", "sign"};
    sp_tensor *x = alive[draw(ALIVE)], *y = alive[draw(ALIVE)], *v = variables[draw(VARIABLES)];
    sp_tensor *one;
    switch (draw(16)) {
    case 0: return sp_add(b, x, y);
    case 1: return sp_sub(b, x, y);
    case 2: return sp_mul(b, x, y);
    case 3: return sp_builder_call(b, "maximum", NULL, 2, (sp_tensor *const[]){x, y});
    case 4: return sp_div(b, x, sp_add(b, sp_abs(b, y), sp_abs(b, sp_add(b, y, v))));
    case 5: return sp_select(b, sp_less(b, x, y), x, v);
    case 6: return call1("reduce_sum", "axis=(1,), keepdims=True", x);
    case 7: return call1("reduce_mean", "axis=(0,), keepdims=True", x);
    case 8: return call1("transpose", "perm=(1, 0)", call1("tanh", NULL, call1("transpose", "perm=(1, 0)", x)));
    case 9: return call1("slice", "start=(0, 0), stop=(1, 64), step=(1, 1)", sp_add(b, x, alive[0]));
    case 10: return sp_cast(b, sp_cast(b, x, SP_DTYPE_F16), SP_DTYPE_F32);
    case 11: return sp_mul(b, call1("softmax", "axis=-1", sp_add(b, x, y)), v);
    case 12: /* the variable changes; what was read before must not */
        if (draw(3) == 0) {
            sp_tensor *in[2] = {variables[0], sp_mul(b, sp_add(b, call1("tanh", NULL, x), variables[0]), alive[0])};
            sp_builder_call(b, "assign", NULL, 2, in);
        } else {
            sp_tensor *in[2] = {variables[1], call1("reduce_mean", "axis=(1,), keepdims=True", sp_add(b, alive[0], x))};
            sp_builder_call(b, "assign", NULL, 2, in);
        }
        return sp_add(b, v, y);
    case 13: OK(sp_tensor_create_f64(SP_DTYPE_F32, draw(2), &one)); return sp_mul(b, x, keep(one));
    default: return call1(unary[draw(sizeof unary / sizeof *unary)], NULL, x);
    }
}

static sp_status compute(uint64_t from, sp_tensor *const *args, sp_tensor **variables, sp_tensor **out)
{
    seed = from;
    sp_tensor *alive[ALIVE];
    for (int i = 0; i < ALIVE; i++) alive[i] = args[i < ARGS ? i : 0];
    for (int i = 0; i < LENGTH; i++) {
        sp_tensor *t = grow(alive, variables);
        if (!t) return sp_builder_status(b);
        alive[1 + draw(ALIVE - 1)] = t; /* the first stays full size */
    }
    for (int i = 0; i < ALIVE; i++) out[i] = alive[i];
    return SP_OK;
}

static const char *const offs[] = {
    NULL,       "inline", "bytes",  "fold",
    "simplify", "share",  "dead",   "order",
    "reuse",    "fuse",   "tail",   "head",
    "prepack",  "lanes",  "layout", "inline,fold,simplify,share,dead,order,reuse,layout,fuse,tail,head,prepack,lanes"};

static void same_bits(const sp_tensor *want, const sp_tensor *got, uint64_t program, const char *off)
{
    sp_tensor *a = NULL, *c = NULL;
    OK(sp_tensor_copy(want, &a));
    OK(sp_tensor_copy(got, &c));
    if (sp_tensor_bytes(a) != sp_tensor_bytes(c) ||
        memcmp(sp_tensor_data(a), sp_tensor_data(c), sp_tensor_bytes(a)) != 0)
        fail_msg("program %llu differs from eager mode without '%s'", (unsigned long long)program, off ? off : "");
    sp_tensor_release(a);
    sp_tensor_release(c);
}

static void one_program(uint64_t number)
{
    OK(sp_builder_create(&b));
    sp_graph *g;
    OK(sp_graph_create(&g));
    sp_tensor *args[ARGS], *want[ALIVE], *expected[VARIABLES], *variables[VARIABLES];
    for (int i = 0; i < ARGS; i++) args[i] = filled(shapes[i], i);
    for (int i = 0; i < VARIABLES; i++) expected[i] = filled(shapes[ARGS + i], 5 + i);
    for (int i = 0; i < VARIABLES; i++) variables[i] = filled(shapes[ARGS + i], 5 + i);
    for (int round = 0; round < 2; round++) OK(compute(number, args, expected, want)); /* twice: variables go on */

    sp_spec specs[ARGS];
    for (int i = 0; i < ARGS; i++)
        specs[i] = (sp_spec){.dtype = SP_DTYPE_F32, .rank = 2, .dims = {shapes[i][0], shapes[i][1]}};
    for (int i = 0; i < VARIABLES; i++) sp_graph_variable_mark(variables[i]);
    sp_tensor *symbols[ARGS], *results[ALIVE];
    sp_function *f;
    OK(sp_function_begin(g, "random", ARGS, specs, &f, symbols));
    for (int i = 0; i < ARGS; i++) keep(symbols[i]);
    OK(compute(number, symbols, variables, results));
    OK(sp_function_end(f, ALIVE, results));
    for (size_t k = 0; k < sizeof offs / sizeof *offs; k++) {
        const sp_program_options options = {.struct_size = sizeof options, .off = offs[k]};
        sp_program *p = NULL;
        OK(sp_program_create(f, &options, &p));
        for (int i = 0; i < VARIABLES; i++) {
            sp_tensor *fresh = filled(shapes[ARGS + i], 5 + i);
            memcpy(sp_tensor_data(variables[i]), sp_tensor_data(fresh), sp_tensor_bytes(fresh));
        }
        sp_tensor *got[ALIVE];
        for (int round = 0; round < 2; round++) {
            OK(sp_program_run(p, ARGS, args, ALIVE, got));
            for (int i = 0; i < ALIVE; i++) keep(got[i]);
        }
        for (int i = 0; i < ALIVE; i++) same_bits(want[i], got[i], number, offs[k]);
        for (int i = 0; i < VARIABLES; i++) same_bits(expected[i], variables[i], number, offs[k]);
        sp_program_release(p);
    }
    sp_graph_release(g);
    sp_builder_release(b);
}

static void random_programs_equal_eager_mode(void **state)
{
    (void)state;
    setenv("SPORE_VERIFY", "1", 1);
    const char *only = getenv("PROGRAM");
    for (uint64_t n = only ? strtoull(only, NULL, 10) : 0;
         n < (only ? strtoull(only, NULL, 10) + 1 : (uint64_t)share_of(PROGRAMS)); n++)
        one_program(n);
}

static void unknown_pass_is_named(void **state)
{
    (void)state;
    sp_graph *g;
    sp_function *f;
    sp_program *p;
    sp_tensor *x;
    const sp_spec number = {.dtype = SP_DTYPE_F32, .rank = 0};
    OK(sp_graph_create(&g));
    OK(sp_function_begin(g, "f", 1, &number, &f, &x));
    OK(sp_function_end(f, 1, &x));
    const sp_program_options options = {.struct_size = sizeof options, .off = "fold,flod"};
    assert_int_equal(sp_program_create(f, &options, &p), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "no pass named 'flod'"));
    sp_tensor_release(x);
    sp_graph_release(g);
}

static char *report_of(sp_program *p)
{
    char *report = NULL;
    OK(sp_program_report(p, &report));
    return report;
}

/* ((x * 1 + c1 * c2) + (x * 1 + c1 * c2)), with one value nobody uses */
static void passes_report_what_they_did(void **state)
{
    (void)state;
    OK(sp_builder_create(&b));
    sp_graph *g;
    sp_function *f, *inner;
    sp_program *p;
    sp_tensor *x, *m, *callee, *one, *two;
    const sp_spec wide = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {100000}};
    OK(sp_tensor_create_f64(SP_DTYPE_F32, 1, &one));
    OK(sp_tensor_create_f64(SP_DTYPE_F32, 2, &two));
    keep(one);
    keep(two);
    OK(sp_graph_create(&g));
    OK(sp_function_begin(g, "f", 1, &wide, &f, &x));
    OK(sp_function_begin(g, "inner", 1, &wide, &inner, &m));
    sp_tensor *y = sp_add(b, sp_mul(b, keep(m), one), two);
    OK(sp_function_end(inner, 1, &y));
    OK(sp_function_value(inner, &callee));
    sp_tensor *z[2];
    for (int i = 0; i < 2; i++) {
        OK(sp_function_call(callee, 1, &x, 1, NULL, &z[i]));
        keep(z[i]);
    }
    sp_tensor *r = sp_relu(b, sp_add(b, z[0], z[1]));
    sp_exp(b, r);
    OK(sp_function_end(f, 1, &r));
    keep(callee);
    keep(x);
    OK(sp_program_create(f, NULL, &p));
    sp_tensor *a = NULL, *out = NULL;
    OK(sp_tensor_create_zeros(SP_DTYPE_F32, 1, wide.dims, &a));
    OK(sp_program_run(p, 1, &a, 1, &out));
    assert_float_equal(((const float *)sp_tensor_data(out))[99999], 4, 0);
    char *report = report_of(p);
    assert_non_null(strstr(report, "calls replaced: 2"));
    assert_non_null(strstr(report, "nodes replaced: 2")); /* x * 1 */
    assert_non_null(strstr(report, "nodes shared: 1"));
    assert_non_null(strstr(report, "1 kernel calls, 0 copies, 3 operators fused"));
    assert_non_null(strstr(report, "arena 0 bytes")); /* all between is in buffers */
    sp_text_free(report);
    sp_tensor_release(a);
    sp_tensor_release(out);
    sp_program_release(p);
    sp_graph_release(g);
    sp_builder_release(b);
}

static sp_tensor *integers(sp_dtype dtype, int rank, const int64_t *dims, int salt)
{
    sp_tensor *t = NULL;
    OK(sp_tensor_create(dtype, rank, dims, &t));
    for (int64_t i = 0; i < sp_tensor_count(t); i++) {
        int v = (int)((i * 37 + salt * 11) % 256 - 128);
        if (dtype == SP_DTYPE_I32) ((int32_t *)sp_tensor_data(t))[i] = v;
        else ((uint8_t *)sp_tensor_data(t))[i] = (uint8_t)v;
    }
    return keep(t);
}

static sp_tensor *wide(sp_tensor *t) { return sp_cast(b, t, SP_DTYPE_I32); }

/* Products of widened bytes: x of uint8 (6, 10), y of int8, their zero points; the last two are none. */
static void products_of_bytes(sp_tensor *const *in, sp_tensor *narrow, sp_tensor *large, sp_tensor **out)
{
    sp_tensor *x = in[0], *y = in[1], *x_zero = in[2], *columns = in[3];
    out[0] = sp_matmul(b, wide(x), wide(y), false, false);
    out[1] = sp_matmul(b, sp_sub(b, wide(x), wide(x_zero)), sp_sub(b, wide(y), wide(columns)), false, false);
    out[2] = sp_matmul(b, sp_sub(b, wide(y), wide(columns)), wide(x), true,
                       true); /* numbers for each row, once it is turned */
    out[3] = sp_matmul(b, wide(y), wide(x), true, true);
    out[4] = sp_matmul(b, wide(x), narrow, false, false);
    out[5] = sp_matmul(b, wide(x), large, false, false);
}

static void products_of_widened_bytes_are_products_of_bytes(void **state)
{
    (void)state;
    enum { N = 6 };
    OK(sp_builder_create(&b));
    const int64_t of_x[2] = {6, 10}, of_y[2] = {10, 7};
    sp_tensor *in[4] = {integers(SP_DTYPE_U8, 2, of_x, 1), integers(SP_DTYPE_I8, 2, of_y, 2),
                        integers(SP_DTYPE_U8, 0, NULL, 3), integers(SP_DTYPE_I8, 1, of_y + 1, 4)};
    sp_tensor *narrow = integers(SP_DTYPE_I32, 2, of_y, 5), *large = integers(SP_DTYPE_I32, 2, of_y, 5), *want[N],
              *made[N], *got[N], *params[4];
    ((int32_t *)sp_tensor_data(large))[3] = 1000;
    sp_spec specs[4] = {{.dtype = SP_DTYPE_U8, .rank = 2, .dims = {6, 10}},
                        {.dtype = SP_DTYPE_I8, .rank = 2, .dims = {10, 7}},
                        {.dtype = SP_DTYPE_U8, .rank = 0},
                        {.dtype = SP_DTYPE_I8, .rank = 1, .dims = {7}}};
    sp_graph *g;
    sp_function *f;
    products_of_bytes(in, narrow, large, want);
    OK(sp_graph_create(&g));
    OK(sp_function_begin(g, "f", 4, specs, &f, params));
    for (int i = 0; i < 4; i++) keep(params[i]);
    products_of_bytes(params, narrow, large, made);
    OK(sp_builder_status(b));
    OK(sp_function_end(f, N, made));
    for (int with = 0; with < 2; with++) {
        const sp_program_options options = {.struct_size = sizeof options, .off = with ? NULL : "bytes"};
        sp_program *p;
        OK(sp_program_create(f, &options, &p));
        OK(sp_program_run(p, 4, in, N, got));
        for (int i = 0; i < N; i++) {
            same_bits(want[i], got[i], (uint64_t)i, options.off);
            sp_tensor_release(got[i]);
        }
        char *report = report_of(p);
        if (with) assert_non_null(strstr(report, "products of bytes: 4"));
        else assert_null(strstr(report, "products of bytes"));
        sp_text_free(report);
        sp_program_release(p);
    }
    sp_graph_release(g);
    sp_builder_release(b);
}

/* Thousands of steps: another way of placing memory, the same results. */
static void long_programs_equal_eager_mode(void **state)
{
    (void)state;
    enum { N = 4999 }; /* the last one counts: 4998 is 7 * 714 */
    OK(sp_builder_create(&b));
    sp_graph *g;
    sp_function *f;
    sp_program *p;
    sp_tensor *x, *out = NULL;
    const sp_spec spec = {.dtype = SP_DTYPE_F32, .rank = 2, .dims = {5, 5}};
    sp_tensor *a = filled(spec.dims, 3), *both[2] = {a, NULL};
    OK(sp_graph_create(&g));
    OK(sp_function_begin(g, "f", 1, &spec, &f, &x));
    keep(x);
    for (int eager = 0; eager < 2; eager++) {
        sp_tensor *from = eager ? a : x, *t = from, *sum = from;
        for (int i = 0; i < N; i++) {
            t = sp_matmul(b, t, from, false, i % 2);
            if (i % 3 == 0) t = call1("softmax", "axis=-1", t);
            if (i % 7 == 0) sum = sp_add(b, sum, t);
        }
        if (!eager) OK(sp_function_end(f, 1, &sum));
        both[1] = sum;
    }
    OK(sp_program_create(f, NULL, &p));
    OK(sp_program_run(p, 1, &a, 1, &out));
    same_bits(both[1], out, N, NULL);
    char *report = report_of(p);
    assert_non_null(strstr(report, "matmul 4999"));
    sp_text_free(report);
    sp_tensor_release(out);
    sp_program_release(p);
    sp_graph_release(g);
    sp_builder_release(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_equal_eager_mode),
        cmocka_unit_test(unknown_pass_is_named),
        cmocka_unit_test(passes_report_what_they_did),
        cmocka_unit_test(products_of_widened_bytes_are_products_of_bytes),
        cmocka_unit_test(long_programs_equal_eager_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
