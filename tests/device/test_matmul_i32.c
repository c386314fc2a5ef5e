/* SPDX-License-Identifier: Apache-2.0 */
/* test_matmul_i32.c - products of bytes by each way the CPU may have: the machine's own, emulated tiles, pairs of AVX2, float32. All must be the
 * sums in 64 bits, cut to 32, whatever the zero points. Products of integers of every size wrap as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "device/cpu/tiles.h"
#include "spore/spore.h"

static uint64_t seed = 1;
static uint8_t next(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint8_t)(seed >> 40);
}

static sp_tensor *bytes(sp_dtype dtype, int rank, const int64_t *dims, bool extreme)
{
    sp_tensor *t;
    assert_int_equal(sp_tensor_create(dtype, rank, dims, &t), SP_OK);
    uint8_t *p = sp_tensor_data(t);
    for (int64_t i = 0; i < sp_tensor_count(t); i++) p[i] = extreme ? dtype == SP_DTYPE_U8 ? 255 : 128 : next();
    return t;
}

static int64_t value(const sp_tensor *t, int64_t i)
{
    if (!t) return 0;
    const uint8_t *p = sp_tensor_data((sp_tensor *)t);
    if (sp_tensor_count(t) == 1) i = 0;
    return sp_tensor_dtype(t) == SP_DTYPE_U8 ? p[i] : (int8_t)p[i];
}

static void check(int64_t m, int64_t k, int64_t n, int variant)
{
    sp_dtype dx = variant & 1 ? SP_DTYPE_U8 : SP_DTYPE_I8, dy = variant & 2 ? SP_DTYPE_U8 : SP_DTYPE_I8;
    bool extreme = variant & 16, along_k = variant & 32; /* columns of y lie along K: it is a transposed view */
    sp_tensor *in[4] = {bytes(dx, 2, (int64_t[]){m, k}, extreme)}, *out;
    sp_tensor *const y = bytes(dy, 2, along_k ? (int64_t[]){n, k} : (int64_t[]){k, n}, extreme);
    sp_builder *b;
    int n_out;
    assert_int_equal(sp_builder_create(&b), SP_OK);
    in[1] = along_k ? sp_builder_call(b, "transpose", "perm=(1, 0)", 1, (sp_tensor *[]){y}) : y;
    assert_non_null(in[1]);
    if (variant & 4) in[2] = bytes(dx, 0, NULL, false);
    if (variant & 8) in[3] = bytes(dy, 1, &n, false);
    assert_int_equal(sp_apply(sp_op_find("matmul_i32"), NULL, 4, in, 1, &out, &n_out), SP_OK);
    const int32_t *c = sp_tensor_data(out);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            int64_t sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += (value(in[0], i * k + p) - value(in[2], 0)) *
                       (value(y, along_k ? j * k + p : p * n + j) - value(in[3], j));
            assert_int_equal(c[i * n + j], (int32_t)sum);
        }
    in[1] = y;
    for (int i = 0; i < 4; i++) sp_tensor_release(in[i]);
    sp_tensor_release(out);
    sp_builder_release(b);
}

static void every_way(void **state)
{
    (void)state;
    static const sp__tiles_kernels none = {.name = "none"};
    const sp__tiles_kernels *ways[4] = {NULL, &sp__tiles_emulated, &none};
    int n_ways = 3;
#if SP_HAVE_X86
    if (sp__cpu_features() & SP_CPU_AVX2) ways[n_ways++] = &sp__tiles_avx2;
#endif
    const int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 2},    {33, 65, 31},  {1, 300, 40}, {5, 1024, 3}, {2, 2500, 7},
                                {4, 0, 3}, {70, 64, 33}, {1, 130, 700}, {7, 64, 70},  {8, 64, 70}};
    for (int w = 0; w < n_ways; w++) {
        sp__tiles_override(ways[w]);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int variant = 0; variant < 64; variant++) check(sizes[s][0], sizes[s][1], sizes[s][2], variant);
    }
    sp__tiles_override(NULL);
}

/* --- integers of every size -------------------------------------------------------------------------------------- */

static uint64_t integer(const sp_tensor *t, int64_t i)
{
    const void *p = sp_tensor_data((sp_tensor *)t);
    switch (sp_dtype_bytes(sp_tensor_dtype(t))) {
    case 1: return ((const uint8_t *)p)[i];
    case 2: return ((const uint16_t *)p)[i];
    case 4: return ((const uint32_t *)p)[i];
    default: return ((const uint64_t *)p)[i];
    }
}

static sp_tensor *integers(sp_dtype dtype, int rank, const int64_t *dims)
{
    sp_tensor *t;
    assert_int_equal(sp_tensor_create(dtype, rank, dims, &t), SP_OK);
    uint8_t *p = sp_tensor_data(t);
    for (size_t i = 0; i < sp_tensor_bytes(t); i++) p[i] = next();
    return t;
}

/* Two items on the left, and on the right one that both share or two. */
static void check_integers(sp_dtype dtype, int64_t m, int64_t k, int64_t n, bool turn_a, bool turn_b, bool shared)
{
    const int64_t of_a[3] = {2, turn_a ? k : m, turn_a ? m : k}, of_b[3] = {2, turn_b ? n : k, turn_b ? k : n};
    const char *const attrs = turn_a   ? turn_b ? "transpose_a=True, transpose_b=True" : "transpose_a=True"
                              : turn_b ? "transpose_b=True"
                                       : "";
    sp_tensor *in[2] = {integers(dtype, 3, of_a), integers(dtype, shared ? 2 : 3, shared ? of_b + 1 : of_b)}, *out;
    sp_builder *b;
    assert_int_equal(sp_builder_create(&b), SP_OK);
    out = sp_builder_call(b, "matmul", attrs, 2, in);
    assert_non_null(out);
    const size_t size = sp_dtype_bytes(dtype);
    const uint64_t mask = size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1;
    for (int64_t at = 0; at < 2 * m * n; at++) {
        int64_t item = at / (m * n), i = at / n % m, j = at % n;
        uint64_t sum = 0;
        for (int64_t p = 0; p < k; p++)
            sum += integer(in[0], item * m * k + (turn_a ? p * m + i : i * k + p)) *
                   integer(in[1], (shared ? 0 : item * k * n) + (turn_b ? j * k + p : p * n + j));
        assert_true(integer(out, at) == (sum & mask));
    }
    sp_builder_release(b);
    for (int i = 0; i < 2; i++) sp_tensor_release(in[i]);
}

static void integers_of_every_size_wrap(void **state)
{
    (void)state;
    const sp_dtype dtypes[] = {SP_DTYPE_I8,  SP_DTYPE_U8,  SP_DTYPE_I16, SP_DTYPE_U16,
                               SP_DTYPE_I32, SP_DTYPE_U32, SP_DTYPE_I64, SP_DTYPE_U64};
    const int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 2}, {17, 6, 300}, {2, 300, 9}, {5, 0, 6}};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int way = 0; way < 8; way++)
                check_integers(dtypes[d], sizes[s][0], sizes[s][1], sizes[s][2], way & 1, way & 2, way & 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_way), cmocka_unit_test(integers_of_every_size_wrap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
