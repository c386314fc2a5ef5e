/* SPDX-License-Identifier: Apache-2.0 */
/* Every exchange, dtype and reduction, in the world and in a group. Started alone it is a job of one rank; test_ranks.py starts it with
 * mpirun on 2 to 5, where every rank checks what it gets against what all ranks are known to have given. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <cmocka.h>

#include "spore/spore.h"

static void check(sp_status status)
{
    if (status != SP_OK) fprintf(stderr, "rank %d: %s\n", sp_comm_rank(sp_comm_world()), sp_error_message());
    assert_int_equal(status, SP_OK);
}

/* Element i of what a rank gives: small whole numbers, which all dtypes hold and whose sums and products are exact. */
static double given(int rank, int64_t i) { return (double)((rank + i) % 3 + 1); }

static double reduced(sp_reduce how, int n, const int *ranks, int64_t i)
{
    double r = given(ranks[0], i);
    for (int k = 1; k < n; k++) {
        const double x = given(ranks[k], i);
        switch (how) {
        case SP_REDUCE_PROD: r *= x; break;
        case SP_REDUCE_MAX: r = r > x ? r : x; break;
        case SP_REDUCE_MIN: r = r < x ? r : x; break;
        case SP_REDUCE_AND: r = (double)((int64_t)r & (int64_t)x); break;
        case SP_REDUCE_OR: r = (double)((int64_t)r | (int64_t)x); break;
        default: r += x; break;
        }
    }
    return how == SP_REDUCE_MEAN ? r / n : r;
}

/* A tensor of the dtype with these values. */
static sp_tensor *tensor_of(sp_dtype dtype, int64_t n, double (*value)(int64_t, void *), void *context)
{
    sp_tensor *wide, *out;
    check(sp_tensor_create(SP_DTYPE_F64, 1, &n, &wide));
    for (int64_t i = 0; i < n; i++) ((double *)sp_tensor_data(wide))[i] = value(i, context);
    sp_builder *b;
    check(sp_builder_create(&b));
    out = sp_tensor_retain(sp_cast(b, wide, dtype));
    assert_non_null(out);
    sp_builder_release(b);
    sp_tensor_release(wide);
    return out;
}

static double value_given(int64_t i, void *context) { return given(*(int *)context, i); }

typedef struct {
    sp_comm *c;
    sp_reduce how;
    int64_t n, offset;
    const int *ranks;
    bool truth;
} expected;

static double value_reduced(int64_t i, void *context)
{
    const expected *e = context;
    if (e->truth) return 1; /* nobody gives a zero */
    return reduced(e->how, sp_comm_size(e->c), e->ranks, i + e->offset);
}
static double value_gathered(int64_t i, void *context)
{
    const expected *e = context;
    return given(e->ranks[i / e->n], i % e->n);
}
static double value_exchanged(int64_t i, void *context) /* part `me` of everybody */
{
    const expected *e = context;
    return given(e->ranks[i / e->n], e->n * sp_comm_rank(e->c) + i % e->n);
}

static void run_and_compare(sp_comm *c, sp_exchange e, int64_t n_in, int64_t n_out, double (*value)(int64_t, void *),
                            expected *want, bool compare)
{
    int me = sp_comm_ranks(c)[sp_comm_rank(c)];
    sp_tensor *in = tensor_of(e.dtype, n_in, value_given, &me), *out = tensor_of(e.dtype, n_out, value_given, &me);
    e.in = sp_tensor_data(in);
    e.out = sp_tensor_data(out);
    if (e.n % 2) {
        check(sp_comm_run(c, &e));
    } else {
        sp_request *r;
        bool done;
        check(sp_comm_start(c, &e, &r));
        check(sp_request_test(r, &done));
        check(sp_request_wait(r));
    }
    if (compare) {
        sp_tensor *right = tensor_of(e.dtype, n_out, value, want);
        if (memcmp(sp_tensor_data(out), sp_tensor_data(right), sp_tensor_bytes(out)) != 0)
            fail_msg("rank %d of %d: %s (%s) of %lld %s is wrong", sp_comm_rank(c), sp_comm_size(c),
                     sp_exchange_name(e.kind), sp_reduce_name(e.reduce), (long long)e.n, sp_dtype_name(e.dtype));
        sp_tensor_release(right);
    }
    sp_tensor_release(in);
    sp_tensor_release(out);
}

static bool is_reduction(sp_dtype d, sp_reduce how)
{
    const char kind = sp_dtype_kind(d);
    switch (how) {
    case SP_REDUCE_MAX:
    case SP_REDUCE_MIN: return kind != 'c';
    case SP_REDUCE_AND:
    case SP_REDUCE_OR: return kind == 'b' || kind == 'i' || kind == 'u';
    case SP_REDUCE_MEAN: return kind == 'f' || kind == 'c';
    default: return true;
    }
}

static void every_kind(sp_comm *c, sp_dtype dtype, int64_t n)
{
    const int size = sp_comm_size(c), rank = sp_comm_rank(c);
    expected want = {.c = c, .n = n, .ranks = sp_comm_ranks(c), .truth = dtype == SP_DTYPE_BOOL};
    for (int how = 0; how < SP_REDUCE_COUNT; how++) {
        want.how = (sp_reduce)how;
        want.offset = 0;
        sp_exchange e = {.dtype = dtype, .reduce = (sp_reduce)how, .n = n};
        if (!is_reduction(dtype, (sp_reduce)how)) {
            e.kind = SP_EXCHANGE_ALL_REDUCE;
            assert_int_equal(sp_comm_run(c, &e), SP_TYPE);
            continue;
        }
        e.kind = SP_EXCHANGE_ALL_REDUCE;
        run_and_compare(c, e, n, n, value_reduced, &want, true);
        e.kind = SP_EXCHANGE_REDUCE;
        e.root = size - 1;
        run_and_compare(c, e, n, n, value_reduced, &want, rank == size - 1);
        e.kind = SP_EXCHANGE_REDUCE_SCATTER;
        want.offset = n * rank;
        run_and_compare(c, e, n * size, n, value_reduced, &want, true);
    }
    want.offset = 0;
    run_and_compare(c, (sp_exchange){.kind = SP_EXCHANGE_ALL_GATHER, .dtype = dtype, .n = n}, n, n * size,
                    value_gathered, &want, true);
    for (int root = 0; root < size; root++) {
        sp_exchange e = {.dtype = dtype, .n = n, .root = root};
        int from = sp_comm_ranks(c)[root];
        e.kind = SP_EXCHANGE_GATHER;
        run_and_compare(c, e, n, n * size, value_gathered, &want, rank == root);
        e.kind = SP_EXCHANGE_BROADCAST;
        expected whole = {.c = c, .n = n, .ranks = &from};
        run_and_compare(c, e, n, n, value_gathered, &whole, true);
    }
    run_and_compare(c, (sp_exchange){.kind = SP_EXCHANGE_ALL_TO_ALL, .dtype = dtype, .n = n}, n * size, n * size,
                    value_exchanged, &want, true);
}

static const int64_t sizes[] = {1, 7, 48, 1000, 5000};

static void all_kinds_in_the_world(void **state)
{
    (void)state;
    check(sp_job_join());
    for (int d = 0; d < SP_DTYPE_STR; d++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) every_kind(sp_comm_world(), (sp_dtype)d, sizes[k]);
}

static void groups(void **state)
{
    (void)state;
    check(sp_job_join());
    sp_comm *world = sp_comm_world(), *half;
    int ranks[64], n = 0;
    for (int r = sp_comm_size(world) - 1; r >= 0; r--) /* the other way round: ranks are numbered by the list */
        if (r % 2 == sp_comm_rank(world) % 2) ranks[n++] = r;
    check(sp_comm_create(n, ranks, &half));
    assert_int_equal(sp_comm_ranks(half)[sp_comm_rank(half)], sp_comm_rank(world));
    every_kind(half, SP_DTYPE_F32, 1000);
    every_kind(half, SP_DTYPE_BF16, 5);
    check(sp_comm_name("half", half));
    sp_comm *found;
    check(sp_comm_find("half", &found));
    assert_ptr_equal(found, half);
    assert_int_equal(sp_comm_name("half", half), SP_VALUE);
    check(sp_comm_drop("half"));
    assert_int_equal(sp_comm_find("half", &found), SP_KEY);
    sp_comm_release(half);
    assert_int_equal(sp_comm_create(1, &(int){99}, &half), SP_VALUE);
}

/* Larger than a piece of all_reduce, in place, and not a multiple of anything. */
static void large_sums(void **state)
{
    (void)state;
    check(sp_job_join());
    sp_comm *c = sp_comm_world();
    const int64_t n = 5000011;
    float *x = malloc((size_t)n * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++) x[i] = (float)given(sp_comm_rank(c), i);
    check(sp_comm_run(
        c, &(sp_exchange){.kind = SP_EXCHANGE_ALL_REDUCE, .dtype = SP_DTYPE_F32, .n = n, .in = x, .out = x}));
    for (int64_t i = 0; i < n; i++)
        if (x[i] != (float)reduced(SP_REDUCE_SUM, sp_comm_size(c), sp_comm_ranks(c), i))
            fail_msg("element %lld is %g", (long long)i, (double)x[i]);
    free(x);
}

/* 1 + 2^-12 + ... does not depend on how messages travel: sums are taken in float32 by the order of ranks, and rounded once. */
static void halves_are_summed_in_float32(void **state)
{
    (void)state;
    check(sp_job_join());
    sp_comm *c = sp_comm_world();
    double mine = sp_comm_rank(c) == 0 ? 1 : 0.00048828125; /* half of float16's last place beside 1 */
    sp_tensor *x, *right;
    sp_builder *b;
    check(sp_tensor_create_f64(SP_DTYPE_F16, mine, &x));
    check(sp_comm_run(c, &(sp_exchange){.kind = SP_EXCHANGE_ALL_REDUCE,
                                        .dtype = SP_DTYPE_F16,
                                        .n = 1,
                                        .in = sp_tensor_data(x),
                                        .out = sp_tensor_data(x)}));
    check(sp_tensor_create_f64(SP_DTYPE_F32, 1 + (sp_comm_size(c) - 1) * 0.00048828125, &right));
    check(sp_builder_create(&b));
    assert_memory_equal(sp_tensor_data(x), sp_tensor_data(sp_cast(b, right, SP_DTYPE_F16)), 2);
    sp_builder_release(b);
    sp_tensor_release(x);
    sp_tensor_release(right);
}

static void unequal_parts(void **state)
{
    (void)state;
    check(sp_job_join());
    sp_comm *c = sp_comm_world();
    const int size = sp_comm_size(c), rank = sp_comm_rank(c);
    int64_t to[64], from[64], n_to = 0, n_from = 0;
    for (int i = 0; i < size; i++) {
        n_to += to[i] = rank + i; /* elements from a to b: a + b */
        n_from += from[i] = rank + i;
    }
    int32_t in[4096], out[4096];
    assert_in_range(n_to, 0, 4096);
    for (int64_t i = 0; i < n_to; i++) in[i] = rank;
    check(sp_comm_run(
        c,
        &(sp_exchange){
            .kind = SP_EXCHANGE_ALL_TO_ALL, .dtype = SP_DTYPE_I32, .in = in, .out = out, .n_to = to, .n_from = from}));
    for (int64_t i = 0, k = 0; i < size; i++)
        for (int64_t j = 0; j < from[i]; j++) assert_int_equal(out[k++], i);
    assert_int_equal(n_to, n_from);
}

static void messages(void **state)
{
    (void)state;
    check(sp_job_join());
    sp_comm *c = sp_comm_world();
    const int size = sp_comm_size(c), rank = sp_comm_rank(c);
    int32_t in[4096], out[4096];
    for (int i = 0; i < 4096; i++) in[i] = rank;
    if (size == 1) return;
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int64_t n = 1; n < 4096; n *= 16) { /* round the ring, begun before it is waited for */
        sp_request *r;
        check(sp_comm_start(
            c,
            &(sp_exchange){
                .kind = SP_EXCHANGE_RECV, .dtype = SP_DTYPE_I32, .n = n, .out = out, .root = before, .tag = 3},
            &r));
        check(sp_comm_run(
            c,
            &(sp_exchange){.kind = SP_EXCHANGE_SEND, .dtype = SP_DTYPE_I32, .n = n, .in = in, .root = next, .tag = 3}));
        check(sp_request_wait(r));
        assert_int_equal(out[n - 1], before);
    }
}

/* Several at once, of different kinds and sizes, waited for in an order that is different on every rank. */
static void many_begun_at_once(void **state)
{
    (void)state;
    check(sp_job_join());
    sp_comm *c = sp_comm_world();
    enum { N = 12, MOST = 30000 };
    const int size = sp_comm_size(c), rank = sp_comm_rank(c), next = (rank + 1) % size,
              before = (rank + size - 1) % size;
    int32_t *in = malloc(N * MOST * sizeof *in), *out = malloc(N * MOST * sizeof *out);
    sp_request *r[N];
    for (int k = 0; k < N; k++) {
        const int64_t n = k % 4 < 2 ? 3 : MOST;
        for (int64_t i = 0; i < n; i++) in[k * MOST + i] = rank + k;
        sp_exchange e = {
            .kind = SP_EXCHANGE_ALL_REDUCE, .dtype = SP_DTYPE_I32, .n = n, .in = in + k * MOST, .out = out + k * MOST};
        if (k % 3 == 1 && size > 1) e.kind = SP_EXCHANGE_RECV, e.root = before;
        if (k % 3 == 2 && size > 1) e.kind = SP_EXCHANGE_SEND, e.root = next, e.n = (k - 1) % 4 < 2 ? 3 : MOST;
        if (e.kind == SP_EXCHANGE_SEND)
            for (int64_t i = 0; i < e.n; i++) in[k * MOST + i] = rank + k;
        check(sp_comm_start(c, &e, &r[k]));
    }
    for (int k = 0; k < N; k++) check(sp_request_wait(r[rank % 2 ? N - 1 - k : (k + rank) % N]));
    for (int k = 0; k < N; k++) {
        const int64_t n = k % 4 < 2 ? 3 : MOST;
        if (size > 1 && k % 3 == 2) continue;
        for (int64_t i = 0; i < n; i += n - 1)
            assert_int_equal(out[k * MOST + i],
                             size > 1 && k % 3 == 1 ? before + k + 1 : size * (size - 1) / 2 + size * k);
    }
    free(in);
    free(out);
}

static void wrong_arguments(void **state)
{
    (void)state;
    check(sp_job_join());
    sp_comm *c = sp_comm_world();
    float x = 1;
    assert_int_equal(sp_comm_run(NULL, &(sp_exchange){.kind = SP_EXCHANGE_BARRIER}), SP_VALUE);
    assert_int_equal(sp_comm_run(c, &(sp_exchange){.kind = 99}), SP_VALUE);
    assert_int_equal(sp_comm_run(c, &(sp_exchange){.kind = SP_EXCHANGE_BROADCAST,
                                                   .dtype = SP_DTYPE_F32,
                                                   .n = 1,
                                                   .in = &x,
                                                   .out = &x,
                                                   .root = sp_comm_size(c)}),
                     SP_VALUE);
    assert_int_equal(
        sp_comm_run(
            c,
            &(sp_exchange){.kind = SP_EXCHANGE_SEND, .dtype = SP_DTYPE_F32, .n = 1, .in = &x, .root = sp_comm_rank(c)}),
        SP_VALUE);
    assert_int_equal(sp_comm_run(c, &(sp_exchange){.kind = SP_EXCHANGE_ALL_REDUCE,
                                                   .dtype = SP_DTYPE_F32,
                                                   .n = INT64_MAX / 2,
                                                   .in = &x,
                                                   .out = &x}),
                     SP_VALUE);
    check(sp_comm_run(c, &(sp_exchange){.kind = SP_EXCHANGE_BARRIER})); /* nothing of it broke the group */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_in_the_world),       cmocka_unit_test(groups),          cmocka_unit_test(large_sums),
        cmocka_unit_test(halves_are_summed_in_float32), cmocka_unit_test(unequal_parts),   cmocka_unit_test(messages),
        cmocka_unit_test(many_begun_at_once),           cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
