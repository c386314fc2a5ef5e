/* SPDX-License-Identifier: Apache-2.0 */
/* test_gemv.c - products with a few rows, or columns, of every dtype against plain sums in double: odd sizes, both layouts of the matrix, strided rows,
 * batches, one to three threads with equal bits, every instruction set of this machine (the program runs itself again per level). Every operand ends at
 * a page that cannot be touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/again.h"
#include "device/device.h"
#include "guarded.h"
#include "ir/matmul_geometry.h"
#include "spore/ops_attrs.h"
#include "spore/spore.h"
#include "tensor/half.h"

static double get(const sp_tensor *t, int64_t i)
{
    const void *p = sp_tensor_data((sp_tensor *)(uintptr_t)t);
    switch (sp_tensor_dtype(t)) {
    case SP_DTYPE_F32: return (double)((const float *)p)[i];
    case SP_DTYPE_F16: return (double)sp__f16_f32(((const sp_f16 *)p)[i]);
    case SP_DTYPE_BF16: return (double)sp__bf16_f32(((const sp_bf16 *)p)[i]);
    case SP_DTYPE_U8: return ((const uint8_t *)p)[i];
    default: return ((const int8_t *)p)[i];
    }
}

static void put(sp_tensor *t, int64_t i, float x)
{
    void *p = sp_tensor_data(t);
    switch (sp_tensor_dtype(t)) {
    case SP_DTYPE_F32: ((float *)p)[i] = x; break;
    case SP_DTYPE_F16: ((sp_f16 *)p)[i] = sp__f32_f16(x); break;
    case SP_DTYPE_BF16: ((sp_bf16 *)p)[i] = sp__f32_bf16(x); break;
    case SP_DTYPE_U8: ((uint8_t *)p)[i] = (uint8_t)draw(256); break;
    default: ((int8_t *)p)[i] = (int8_t)(draw(256) - 128);
    }
}

static sp_tensor *filled(sp_dtype dtype, int rank, const int64_t *dims)
{
    sp_tensor *t = guarded(dtype, rank, dims);
    for (int64_t i = 0; i < sp_tensor_count(t); i++) put(t, i, (float)(draw(2001) - 1000) / 500);
    return t;
}

/* Rounding of a result to its dtype, in units of its size. */
static double rounding(sp_dtype dtype)
{
    return dtype == SP_DTYPE_F32 ? 0x1p-24 : dtype == SP_DTYPE_F16 ? 0x1p-11 : 0x1p-8;
}

/* a: [batch, m, k], or [batch, k, m] if it is transposed; b likewise [batch, k, n]. */
typedef struct {
    int64_t batch, m, k, n;
    bool turn_a, turn_b;
} shape;

static int64_t at_a(const shape *s, int64_t i, int64_t p) { return s->turn_a ? p * s->m + i : i * s->k + p; }
static int64_t at_b(const shape *s, int64_t p, int64_t j) { return s->turn_b ? j * s->k + p : p * s->n + j; }

static void compare(const shape *s, const sp_tensor *a, const sp_tensor *b, const sp_tensor *c)
{
    const sp_dtype dtype = sp_tensor_dtype(a);
    const bool whole = dtype == SP_DTYPE_I8 || dtype == SP_DTYPE_U8;
    for (int64_t o = 0; o < s->batch; o++)
        for (int64_t i = 0; i < s->m; i++)
            for (int64_t j = 0; j < s->n; j++) {
                double sum = 0, size = 0;
                for (int64_t p = 0; p < s->k; p++) {
                    const double x = get(a, o * s->m * s->k + at_a(s, i, p)) * get(b, o * s->k * s->n + at_b(s, p, j));
                    sum += x;
                    size += fabs(x);
                }
                const double found = get(c, (o * s->m + i) * s->n + j);
                if (whole) assert_int_equal((uint8_t)(int64_t)found, (uint8_t)(int64_t)sum);
                else
                    assert_true(fabs(found - sum) <=
                                ((double)s->k + 2) * 0x1p-24 * size + fabs(sum) * rounding(dtype) + 0x1p-24);
            }
}

static sp_tensor *multiply(const shape *s, sp_tensor *a, sp_tensor *b, int threads)
{
    sp_tensor *out, *in[2] = {a, b};
    int n_out;
    assert_int_equal(sp_threads_set(threads), SP_OK);
    const sp_matmul_attrs attrs = {s->turn_a, s->turn_b};
    if (sp_apply(sp_op_find("matmul"), &attrs, 2, in, 1, &out, &n_out) != SP_OK) fail_msg("%s", sp_error_message());
    return out;
}

static void check(sp_dtype dtype, shape s)
{
    const int64_t a_dims[3] = {s.batch, s.turn_a ? s.k : s.m, s.turn_a ? s.m : s.k},
                  b_dims[3] = {s.batch, s.turn_b ? s.n : s.k, s.turn_b ? s.k : s.n};
    sp_tensor *a = filled(dtype, 3, a_dims), *b = filled(dtype, 3, b_dims), *c = multiply(&s, a, b, 1);
    compare(&s, a, b, c);
    for (int threads = 2; threads <= 3; threads++) {
        sp_tensor *again = multiply(&s, a, b, threads);
        assert_memory_equal(sp_tensor_data(c), sp_tensor_data(again),
                            (size_t)sp_tensor_count(c) * sp_dtype_bytes(dtype));
        sp_tensor_release(again);
    }
    sp_tensor_release(a);
    sp_tensor_release(b);
    sp_tensor_release(c);
}

static const sp_dtype dtypes[] = {SP_DTYPE_F32, SP_DTYPE_F16, SP_DTYPE_BF16, SP_DTYPE_I8, SP_DTYPE_U8};
enum { N_DTYPES = sizeof dtypes / sizeof *dtypes };

static void few_rows(void **state)
{
    (void)state;
    static const int64_t ks[] = {67, 128, 300}, ns[] = {64, 129, 333};
    for (int d = 0; d < N_DTYPES; d++)
        for (int64_t m = 1; m <= 9; m += m == 5 ? 3 : 1)
            for (int i = 0; i < 3; i++)
                for (int turn = 0; turn < 4; turn++)
                    check(dtypes[d], (shape){1, m, ks[i], ns[(i + m) % 3], turn & 1, turn & 2});
}

static void few_columns(void **state)
{
    (void)state;
    for (int d = 0; d < N_DTYPES; d++)
        for (int64_t n = 1; n <= 8; n += n < 3 ? 1 : 5)
            for (int turn = 0; turn < 4; turn++) check(dtypes[d], (shape){1, 131, 77, n, turn & 1, turn & 2});
}

static void batches(void **state)
{
    (void)state;
    for (int d = 0; d < N_DTYPES; d++)
        for (int turn = 0; turn < 4; turn++) {
            check(dtypes[d], (shape){3, 2, 65, 70, turn & 1, turn & 2});
            check(dtypes[d], (shape){5, 70, 65, 1, turn & 1, turn & 2});
        }
}

/* So large that threads share it, with strips of uneven width. */
static void shared(void **state)
{
    (void)state;
    for (int d = 0; d < N_DTYPES; d++)
        for (int turn = 0; turn < 4; turn += 2) {
            check(dtypes[d], (shape){1, 1, 515, 1301, false, turn});
            check(dtypes[d], (shape){1, 6, 1027, 513, false, turn});
            check(dtypes[d], (shape){1, 601, 515, 2, turn, false});
        }
}

static void infinities_and_denormals(void **state)
{
    (void)state;
    for (int d = 0; d < 3; d++)
        for (int turn = 0; turn < 2; turn++) {
            const shape s = {1, 1, 64, 64, false, turn};
            sp_tensor *a = guarded(dtypes[d], 3, (int64_t[]){1, 1, 64}),
                      *b = guarded(dtypes[d], 3, (int64_t[]){1, 64, 64});
            for (int64_t p = 0; p < 64; p++) put(a, p, 1);
            put(b, at_b(&s, 3, 0), INFINITY);
            put(b, at_b(&s, 3, 1), NAN);
            put(b, at_b(&s, 3, 2), dtypes[d] == SP_DTYPE_F16 ? 0x1p-24f : 0x1p-130f);
            put(b, at_b(&s, 9, 3), -2.5f);
            sp_tensor *c = multiply(&s, a, b, 1);
            assert_true(isinf(get(c, 0)) && isnan(get(c, 1)) && get(c, 3) == -2.5 && get(c, 4) == 0);
            assert_true(get(c, 2) == (dtypes[d] == SP_DTYPE_F16 ? 0x1p-24 : 0x1p-130));
            sp_tensor_release(a);
            sp_tensor_release(b);
            sp_tensor_release(c);
        }
}

static void these_kernels_were_taken(void **state)
{
    (void)state;
    for (int d = 0; d < N_DTYPES; d++) {
        sp_tensor *a = filled(dtypes[d], 2, (int64_t[]){4, 128}), *b = filled(dtypes[d], 2, (int64_t[]){128, 64}),
                  *out = filled(dtypes[d], 2, (int64_t[]){4, 64});
        const sp_matmul_attrs attrs = {false, false};
        sp_tensor *const in[2] = {a, b};
        const sp_call call = {
            .op = sp_op_find("matmul"), .attrs = &attrs, .n_in = 2, .in = in, .n_out = 1, .out = &out};
        sp_kernel kernel;
        assert_int_equal(sp__kernel_choose(&call, &kernel), SP_OK);
        assert_string_equal(kernel.name, "gemv");
        sp_tensor_release(a);
        sp_tensor_release(b);
        sp_tensor_release(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows),
        cmocka_unit_test(few_columns),
        cmocka_unit_test(batches),
        cmocka_unit_test(shared),
        cmocka_unit_test(infinities_and_denormals),
        cmocka_unit_test(these_kernels_were_taken),
    };
    const char *level = getenv("SPORE_ISA");
    const int failed = cmocka_run_group_tests_name(level ? level : "native", tests, NULL, NULL);
    const char *next = level == NULL                    ? "portable"
                       : strcmp(level, "portable") == 0 ? "avx2"
                       : strcmp(level, "avx2") == 0     ? "avx512"
                                                        : NULL;
    if (failed != 0 || next == NULL) return failed;
    setenv("SPORE_ISA", next, 1);
    start_again(NULL);
    return 1;
}
