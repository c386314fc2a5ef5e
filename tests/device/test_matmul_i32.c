/* SPDX-License-Identifier: Apache-2.0 */
/* test_matmul_i32.c - products of bytes by each way the CPU may have: the machine's own, emulated tiles, float32. All must be the
 * sums in 64 bits, cut to 32, whatever the zero points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
    bool extreme = variant & 16;
    sp_tensor *in[4] = {bytes(dx, 2, (int64_t[]){m, k}, extreme), bytes(dy, 2, (int64_t[]){k, n}, extreme)}, *out;
    int n_out;
    if (variant & 4) in[2] = bytes(dx, 0, NULL, false);
    if (variant & 8) in[3] = bytes(dy, 1, &n, false);
    assert_int_equal(sp_apply(sp_op_find("matmul_i32"), NULL, 4, in, 1, &out, &n_out), SP_OK);
    const int32_t *c = sp_tensor_data(out);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            int64_t sum = 0;
            for (int64_t p = 0; p < k; p++) sum += (value(in[0], i * k + p) - value(in[2], 0)) * (value(in[1], p * n + j) - value(in[3], j));
            assert_int_equal(c[i * n + j], (int32_t)sum);
        }
    for (int i = 0; i < 4; i++) sp_tensor_release(in[i]);
    sp_tensor_release(out);
}

static void every_way(void **state)
{
    (void)state;
    static const sp__tiles_kernels none = {.name = "none"};
    const sp__tiles_kernels *ways[] = {NULL, &sp__tiles_emulated, &none};
    const int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 2}, {33, 65, 31}, {1, 300, 40}, {5, 1024, 3}, {2, 2500, 7}, {4, 0, 3}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        sp__tiles_override(ways[w]);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int variant = 0; variant < 32; variant++) check(sizes[s][0], sizes[s][1], sizes[s][2], variant);
    }
    sp__tiles_override(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
