/* SPDX-License-Identifier: Apache-2.0 */
/* What plans do with products, updates and small steps keeps every bit: random training programs in eager mode, compiled, and
 * compiled with each of these left out; fast numerics comes close. */
#include <math.h>
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

enum { PROGRAMS = 40, LENGTH = 24, ALIVE = 5, ROWS = 96, COLS = 128, WEIGHTS = 3 };

static sp_builder *b;
static uint64_t seed;

#define OK(expr) check((expr), #expr)
static void check(sp_status status, const char *what)
{
    if (status != SP_OK) fail_msg("%s: %s", what, sp_error_message());
}

static int draw(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

static sp_tensor *keep(sp_tensor *t) { return sp_builder_take_tensor(b, t); }

static sp_tensor *filled(int rank, const int64_t *dims, int salt)
{
    sp_tensor *t = NULL;
    OK(sp_tensor_create(SP_DTYPE_F32, rank, dims, &t));
    float *v = sp_tensor_data(t);
    for (int64_t i = 0; i < sp_tensor_count(t); i++) v[i] = (float)((i * 37 + salt * 11) % 19 - 9) / 64.0f;
    return keep(t);
}

static sp_tensor *call(const char *op, const char *attrs, int n, sp_tensor *const *in)
{
    return sp_builder_call(b, op, attrs, n, in);
}
static sp_tensor *call1(const char *op, const char *attrs, sp_tensor *x) { return call(op, attrs, 1, &x); }
static sp_tensor *call2(const char *op, sp_tensor *x, sp_tensor *y)
{
    return call(op, NULL, 2, (sp_tensor *const[]){x, y});
}

/* Weights with their moments, vectors for biases, and numbers of an optimizer. */
typedef struct {
    sp_tensor *weight[WEIGHTS], *moment[WEIGHTS], *second[WEIGHTS], *bias[WEIGHTS], *bias_moment[WEIGHTS];
    sp_tensor *number[6];
} network;
enum { N_VARIABLES = 5 * WEIGHTS };

static sp_tensor **variable(network *w, int i)
{
    sp_tensor **lists[] = {w->weight, w->moment, w->second, w->bias, w->bias_moment};
    return lists[i / WEIGHTS] + i % WEIGHTS;
}

static void fill_variable(network *w, int i)
{
    const int64_t square[2] = {COLS, COLS}, vector[1] = {COLS};
    sp_tensor *fresh = filled(i < 3 * WEIGHTS ? 2 : 1, i < 3 * WEIGHTS ? square : vector, i);
    if (i / WEIGHTS == 2)
        for (int k = 0; k < COLS * COLS; k++)
            ((float *)sp_tensor_data(fresh))[k] = fabsf(((float *)sp_tensor_data(fresh))[k]);
    if (!*variable(w, i)) *variable(w, i) = fresh;
    else memcpy(sp_tensor_data(*variable(w, i)), sp_tensor_data(fresh), sp_tensor_bytes(fresh));
}

static void network_fill(network *w)
{
    static const double numbers[6] = {0.9, 0.99, 0.01, 0.9, 0.99, 1e-6};
    for (int i = 0; i < N_VARIABLES; i++) fill_variable(w, i);
    for (int i = 0; i < 6; i++)
        if (!w->number[i]) {
            OK(sp_tensor_create_f64(SP_DTYPE_F32, numbers[i], &w->number[i]));
            keep(w->number[i]);
        }
}

/* A weight moves by a product of two values, as in training; its bias by the sum of one. */
static void update(network *w, int k, sp_tensor *x, sp_tensor *y)
{
    sp_tensor *gradient = call("matmul", "transpose_a=True", 2, (sp_tensor *const[]){x, y});
    if (draw(2)) gradient = sp_mul(b, gradient, w->number[2]);
    if (draw(2)) {
        call("momentum_update", NULL, 5,
             (sp_tensor *const[]){w->weight[k], w->moment[k], w->number[2], gradient, w->number[3]});
    } else {
        call("adam_update", NULL, 10,
             (sp_tensor *const[]){w->weight[k], w->moment[k], w->second[k], w->number[0], w->number[1], w->number[2],
                                  w->number[3], w->number[4], w->number[5], gradient});
    }
    sp_tensor *sum = call1("reduce_sum", "axis=(0,)", y);
    call("momentum_update", NULL, 5,
         (sp_tensor *const[]){w->bias[k], w->bias_moment[k], w->number[2], sum, w->number[3]});
}

static sp_tensor *grow(network *w, sp_tensor **alive)
{
    sp_tensor *x = alive[draw(ALIVE)], *y = alive[draw(ALIVE)];
    const int k = draw(WEIGHTS);
    switch (draw(8)) {
    case 0: return sp_relu(b, sp_add(b, call2("matmul", x, w->weight[k]), w->bias[k]));
    case 1: return sp_add(b, call2("matmul", x, w->weight[k]), y);
    case 2: return call("matmul", "transpose_b=True", 2, (sp_tensor *const[]){x, w->weight[k]});
    case 3: update(w, k, x, y); return sp_tanh(b, x);
    case 4: return call1("softmax", "axis=-1", sp_mul(b, x, y));
    case 5: return sp_sub(b, x, call1("reduce_mean", "axis=(1,), keepdims=True", y));
    case 6: return sp_mul(b, call1("sigmoid", NULL, x), y);
    default: return sp_maximum(b, x, sp_neg(b, y));
    }
}

static sp_status compute(uint64_t from, network *w, sp_tensor *const *args, sp_tensor **out)
{
    seed = from;
    for (int i = 0; i < ALIVE; i++) out[i] = args[i % 2];
    for (int i = 0; i < LENGTH; i++) {
        sp_tensor *t = grow(w, out);
        if (!t) return sp_builder_status(b);
        out[draw(ALIVE)] = t;
    }
    return SP_OK;
}

static const char *const offs[] = {NULL,    "layout", "fuse",  "tail",    "head",
                                   "lanes", "reuse",  "order", "prepack", "fuse,tail,head,lanes,reuse,order,prepack"};

static void same_bits(const sp_tensor *want, const sp_tensor *got, uint64_t program, const char *off)
{
    sp_tensor *a = NULL, *c = NULL;
    OK(sp_tensor_copy(want, &a));
    OK(sp_tensor_copy(got, &c));
    assert_int_equal(sp_tensor_bytes(a), sp_tensor_bytes(c));
    const float *u = sp_tensor_data(a), *v = sp_tensor_data(c);
    for (int64_t i = 0; i < sp_tensor_count(a); i++)
        if (memcmp(&u[i], &v[i], sizeof *u) != 0)
            fail_msg("program %llu differs from eager mode without '%s': element %lld is %a, it was %a",
                     (unsigned long long)program, off ? off : "", (long long)i, (double)v[i], (double)u[i]);
    sp_tensor_release(a);
    sp_tensor_release(c);
}

/* The largest number that stands before `what` in the report of a program. */
static int reported(sp_program *p, const char *what)
{
    char *report = NULL;
    int most = 0;
    OK(sp_program_report(p, &report));
    for (const char *at = report; (at = strstr(at, what)); at++) {
        const char *from = at;
        while (from > report && (from[-1] == ' ' || (from[-1] >= '0' && from[-1] <= '9'))) from--;
        if (atoi(from) > most) most = atoi(from);
    }
    sp_text_free(report);
    return most;
}

static int n_tails, n_side, n_fused;

static void run_twice(sp_function *f, const char *off, network *w, sp_tensor *const *args, sp_tensor **got)
{
    const sp_program_options options = {.struct_size = sizeof options, .off = off};
    sp_program *p = NULL;
    OK(sp_program_create(f, &options, &p));
    network_fill(w);
    for (int round = 0; round < 2; round++) {
        OK(sp_program_run(p, 2, args, ALIVE, got));
        for (int i = 0; i < ALIVE; i++) keep(got[i]);
    }
    if (!off) {
        n_tails += reported(p, "done by products");
        n_side += reported(p, "side by side");
        n_fused += reported(p, "operators fused");
    }
    sp_program_release(p);
}

static void one_program(uint64_t number)
{
    const int64_t dims[2] = {ROWS, COLS};
    const sp_spec spec = {.dtype = SP_DTYPE_F32, .rank = 2, .dims = {ROWS, COLS}};
    network expected = {0}, compiled = {0};
    sp_tensor *args[2], *symbols[2], *want[ALIVE], *results[ALIVE], *got[ALIVE];
    sp_function *f;
    sp_graph *g;
    OK(sp_builder_create(&b));
    OK(sp_graph_create(&g));
    for (int i = 0; i < 2; i++) args[i] = filled(2, dims, 20 + i);
    network_fill(&expected);
    network_fill(&compiled);
    for (int round = 0; round < 2; round++) OK(compute(number, &expected, args, want));
    for (int i = 0; i < N_VARIABLES; i++) sp_graph_variable_mark(*variable(&compiled, i));
    OK(sp_function_begin(g, "training", 2, (const sp_spec[]){spec, spec}, &f, symbols));
    for (int i = 0; i < 2; i++) keep(symbols[i]);
    OK(compute(number, &compiled, symbols, results));
    OK(sp_function_end(f, ALIVE, results));
    for (size_t k = 0; k < sizeof offs / sizeof *offs; k++) {
        if (share() > 1 && k != 0 && k != 1 + number % (sizeof offs / sizeof *offs - 1)) continue;
        run_twice(f, offs[k], &compiled, args, got);
        for (int i = 0; i < ALIVE; i++) same_bits(want[i], got[i], number, offs[k]);
        for (int i = 0; i < N_VARIABLES; i++)
            same_bits(*variable(&expected, i), *variable(&compiled, i), number, offs[k]);
    }
    sp_graph_release(g);
    sp_builder_release(b);
}

static void training_programs_equal_eager_mode(void **state)
{
    (void)state;
    const char *only = getenv("PROGRAM");
    setenv("SPORE_VERIFY", "1", 1);
    OK(sp_threads_set(2));
    for (uint64_t n = only ? strtoull(only, NULL, 10) : 0;
         n < (only ? strtoull(only, NULL, 10) + 1 : (uint64_t)share_of(PROGRAMS)); n++)
        one_program(n);
    if (only) return;
    assert_true(n_fused > share_of(PROGRAMS)); /* the programs are of the kind that this is about */
    assert_true(n_side > 0);
}

/* x: image, then convolution, normalisation with kept numbers, relu */
static sp_tensor *normalised(sp_tensor *x, sp_tensor *const *w)
{
    sp_tensor *y = call("conv2d", "pad=1", 3, (sp_tensor *const[]){x, w[0], w[1]});
    return sp_relu(b, call("channel_affine", NULL, 3, (sp_tensor *const[]){y, w[2], w[3]}));
}

static void fast_numerics_folds_normalisation(void **state)
{
    (void)state;
    const int64_t image[4] = {2, 3, 16, 16}, weight[4] = {8, 3, 3, 3}, vector[1] = {8};
    const sp_spec spec = {.dtype = SP_DTYPE_F32, .rank = 4, .dims = {2, 3, 16, 16}};
    sp_tensor *w[4], *x, *got = NULL;
    sp_function *f;
    sp_graph *g;
    sp_program *p;
    OK(sp_builder_create(&b));
    OK(sp_graph_create(&g));
    w[0] = filled(4, weight, 1);
    for (int i = 1; i < 4; i++) w[i] = filled(1, vector, i);
    sp_tensor *a = filled(4, image, 9), *want = normalised(a, w);
    OK(sp_function_begin(g, "f", 1, &spec, &f, &x));
    sp_tensor *y = normalised(keep(x), w);
    OK(sp_function_end(f, 1, &y));
    for (int fast = 0; fast < 2; fast++) {
        const sp_program_options options = {.struct_size = sizeof options, .fast = fast};
        OK(sp_program_create(f, &options, &p));
        OK(sp_program_run(p, 1, &a, 1, &got));
        char *report = NULL;
        OK(sp_program_report(p, &report));
        assert_int_equal(strstr(report, "normalisations: 1") != NULL, fast);
        sp_text_free(report);
        if (!fast) same_bits(want, got, 0, NULL);
        assert_int_equal(reported(p, "done by products"), fast ? 1 : 2); /* all that follows the convolution */
        const float *u = sp_tensor_data(want), *v = sp_tensor_data(got);
        for (int64_t i = 0; i < sp_tensor_count(want); i++)
            assert_true(fabsf(u[i] - v[i]) <= 1e-5f * (1 + fabsf(u[i])));
        sp_tensor_release(got);
        sp_program_release(p);
    }
    sp_graph_release(g);
    sp_builder_release(b);
}

/* A fault in one of two lanes names its operator. */
static void fault_in_a_lane_is_told(void **state)
{
    (void)state;
    const int64_t dims[2] = {ROWS, COLS}, few[1] = {4};
    const sp_spec specs[2] = {{.dtype = SP_DTYPE_F32, .rank = 2, .dims = {ROWS, COLS}},
                              {.dtype = SP_DTYPE_I64, .rank = 1, .dims = {4}}};
    sp_tensor *symbols[2], *out[3] = {NULL}, *index = NULL;
    sp_function *f;
    sp_graph *g;
    sp_program *p;
    OK(sp_threads_set(2));
    OK(sp_builder_create(&b));
    OK(sp_graph_create(&g));
    OK(sp_function_begin(g, "f", 2, specs, &f, symbols));
    sp_tensor *x = keep(symbols[0]), *i = keep(symbols[1]);
    sp_tensor *rows = sp_tanh(b, call("gather", "axis=0", 2, (sp_tensor *const[]){x, i}));
    sp_tensor *results[3] = {call1("softmax", "axis=-1", call1("softmax", "axis=-1", x)),
                             call1("log_softmax", "axis=-1", x), rows};
    OK(sp_builder_status(b));
    OK(sp_function_end(f, 3, results));
    OK(sp_program_create(f, NULL, &p));
    OK(sp_tensor_create_zeros(SP_DTYPE_I64, 1, few, &index));
    sp_tensor *args[2] = {filled(2, dims, 0), keep(index)};
    OK(sp_program_run(p, 2, args, 3, out));
    for (int k = 0; k < 3; k++) keep(out[k]);
    assert_true(reported(p, "side by side") > 0);
    ((int64_t *)sp_tensor_data(index))[2] = 1000;
    assert_int_not_equal(sp_program_run(p, 2, args, 3, out), SP_OK);
    assert_non_null(strstr(sp_error_message(), "index"));
    ((int64_t *)sp_tensor_data(index))[2] = 1;
    OK(sp_program_run(p, 2, args, 3, out)); /* and the next run works */
    for (int k = 0; k < 3; k++) keep(out[k]);
    sp_program_release(p);
    sp_graph_release(g);
    sp_builder_release(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_programs_equal_eager_mode),
        cmocka_unit_test(fast_numerics_folds_normalisation),
        cmocka_unit_test(fault_in_a_lane_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
