/* SPDX-License-Identifier: Apache-2.0 */
/* test_gemm.c - the matrix product against three plain loops: shapes around every block size, all transpositions and
 * strides, thread counts, and every instruction set this machine has (the program runs itself again per level). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/again.h"
#include "base/share.h"
#include "device/cpu/gemm.h"
#include "device/cpu/tiles.h"
#include "device/device.h"

static uint64_t seed = 1;
static double number(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int32_t)(seed >> 32) / 2147483648.0;
}

static double get(sp_dtype dtype, const void *p, int64_t i)
{
    return dtype == SP_DTYPE_F32 ? ((const float *)p)[i] : ((const double *)p)[i];
}

static void set(sp_dtype dtype, void *p, int64_t i, double x)
{
    if (dtype == SP_DTYPE_F32) ((float *)p)[i] = (float)x;
    else ((double *)p)[i] = x;
}

/* `room` elements with guard values behind, so that a write past the end shows. */
static void *filled(sp_dtype dtype, int64_t room)
{
    void *p = sp__alloc((size_t)(room + 64) * sp_dtype_bytes(dtype));
    assert_non_null(p);
    for (int64_t i = 0; i < room; i++) set(dtype, p, i, number());
    for (int64_t i = room; i < room + 64; i++) set(dtype, p, i, 1e30);
    return p;
}

enum { A_PLAIN = 0, A_TURNED = 1, B_TURNED = 2, SPACED = 4 };

static void check(sp_dtype dtype, int64_t m, int64_t n, int64_t k, int layout, bool accumulate)
{
    int64_t gap = layout & SPACED ? 3 : 0;
    sp__gemm_shape s = {.dtype = dtype, .m = m, .n = n, .k = k, .c_row = n + gap};
    int64_t a_step = layout & SPACED ? 2 : 1;
    s.a_row = layout & A_TURNED ? a_step : (k + gap) * a_step;
    s.a_col = layout & A_TURNED ? (m + gap) * a_step : a_step;
    s.b_row = layout & B_TURNED ? 1 : n + gap;
    s.b_col = layout & B_TURNED ? k + gap : 1;
    int64_t a_room = (m + 3) * (k + 3) * 2, b_room = (k + 3) * (n + 3), c_room = (n + gap) * m;
    void *a = filled(dtype, a_room), *b = filled(dtype, b_room), *c = filled(dtype, c_room);
    size_t bytes = sp_dtype_bytes(dtype);
    void *before = sp__alloc((size_t)(c_room + 64) * bytes), *again = sp__alloc((size_t)(c_room + 64) * bytes);
    memcpy(before, c, (size_t)(c_room + 64) * bytes);
    memcpy(again, c, (size_t)(c_room + 64) * bytes);
    size_t work_bytes = sp__gemm_work(&s);
    unsigned char *work = sp__alloc(work_bytes + 64);
    memset(work, 0xFF, work_bytes + 64);
    assert_int_equal(sp_threads_set(1), SP_OK);
    assert_int_equal(sp__gemm(&s, a, b, c, accumulate, work), SP_OK);
    for (int i = 0; i < 64; i++) assert_int_equal(work[work_bytes + (size_t)i], 0xFF);
    double tolerance = (dtype == SP_DTYPE_F32 ? 2e-7 : 4e-16) * (double)(k + 4);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n + gap; j++) {
            double want = get(dtype, before, i * s.c_row + j);
            if (j < n) {
                if (!accumulate) want = 0;
                for (int64_t p = 0; p < k; p++)
                    want += get(dtype, a, i * s.a_row + p * s.a_col) * get(dtype, b, p * s.b_row + j * s.b_col);
            }
            double found = get(dtype, c, i * s.c_row + j);
            if (!(fabs(found - want) <= tolerance))
                fail_msg("%s m=%d n=%d k=%d layout=%d accumulate=%d: c[%d][%d] = %g, wanted %g", sp_dtype_name(dtype),
                         (int)m, (int)n, (int)k, layout, accumulate, (int)i, (int)j, found, want);
        }
    }
    for (int64_t i = c_room; i < c_room + 64; i++) assert_true(get(dtype, c, i) == get(dtype, before, c_room));
    assert_int_equal(sp_threads_set(3), SP_OK);
    assert_int_equal(sp__gemm(&s, a, b, again, accumulate, work), SP_OK);
    assert_memory_equal(c, again, (size_t)c_room * bytes);
    sp__free(a), sp__free(b), sp__free(c), sp__free(before), sp__free(again), sp__free(work);
}

static void agrees_with_loops(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {
        {0, 3, 4},    {3, 0, 4},    {3, 4, 0},       {1, 1, 1},     {1, 37, 19},    {37, 1, 19},    {1, 700, 300},
        {700, 1, 65}, {2, 3, 5},    {6, 16, 25},     {6, 784, 25},  {16, 100, 150}, {7, 17, 9},     {13, 33, 31},
        {5, 8, 300},  {6, 24, 600}, {12, 32, 257},   {31, 15, 64},  {64, 64, 64},   {65, 63, 67},   {100, 50, 513},
        {49, 257, 3}, {97, 30, 97}, {150, 130, 260}, {300, 10, 84}, {33, 120, 400}, {4, 150, 1000}, {192, 192, 192},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int layout = 0; layout < 8; layout++)
            for (int f64 = 0; f64 < 2; f64++) {
                if (!share_takes((int64_t)i * 16 + layout * 2 + f64)) continue;
                check(f64 ? SP_DTYPE_F64 : SP_DTYPE_F32, sizes[i][0], sizes[i][1], sizes[i][2], layout,
                      (layout + (int)i) % 2);
            }
}

static void every_small_shape(void **state)
{
    (void)state;
    for (int64_t m = 1; m < 15; m++)
        for (int64_t n = 1; n < 35; n += 1 + (m % 3))
            for (int64_t k = 1; k < 20; k += 6) check(SP_DTYPE_F32, m, n, k, (int)(m + n + k) % 8, (m + k) % 2);
}

static void beyond_one_block(void **state)
{
    (void)state;
    static const struct {
        sp_dtype dtype;
        int64_t m, n, k;
        int layout;
        bool accumulate;
    } cases[] = {
        {SP_DTYPE_F32, 1600, 40, 300, A_PLAIN, false},
        {SP_DTYPE_F32, 60, 2100, 280, B_TURNED, true},
        {SP_DTYPE_F64, 1550, 64, 270, A_TURNED | B_TURNED, false},
        {SP_DTYPE_F32, 300, 90, 1024, A_PLAIN,
         true}, /* rows of A that compete for the first cache, several tiles of them */
        {SP_DTYPE_F32, 60, 200, 1024, B_TURNED, false},
        {SP_DTYPE_F32, 100, 210, 1100, B_TURNED | SPACED, true},
        {SP_DTYPE_F64, 128, 200, 600, A_TURNED | B_TURNED, true},
        {SP_DTYPE_F32, 700, 100, 330, A_PLAIN, false},
        {SP_DTYPE_F32, 790, 135, 600, A_TURNED, true}, /* tiles of whole rows, which the kernels pack */
        {SP_DTYPE_F64, 781, 100, 530, A_TURNED | B_TURNED, false},
        {SP_DTYPE_F32, 131, 500, 600, A_PLAIN, true}, /* rows along K in panels, of all of K, and of a block */
        {SP_DTYPE_F32, 790, 400, 300, B_TURNED, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (share() == 1 || i % 5 == 4)
            check(cases[i].dtype, cases[i].m, cases[i].n, cases[i].k, cases[i].layout, cases[i].accumulate);
}

static void batches_do_each_item(void **state)
{
    (void)state;
    enum { ITEMS = 37 };
    sp__gemm_shape s = {.dtype = SP_DTYPE_F32,
                        .m = 20,
                        .n = 24,
                        .k = 70,
                        .a_row = 70,
                        .a_col = 1,
                        .b_row = 1,
                        .b_col = 70,
                        .c_row = 24};
    int64_t offsets[ITEMS];
    for (int i = 0; i < ITEMS; i++) offsets[i] = (i * 7 % 5) * s.k * s.n;
    sp__gemm_batch batch = {.n = ITEMS, .a_step = s.m * s.k, .b_offset = offsets, .c_step = s.m * s.n};
    float *a = filled(SP_DTYPE_F32, ITEMS * s.m * s.k), *b = filled(SP_DTYPE_F32, 5 * s.k * s.n);
    float *c = filled(SP_DTYPE_F32, ITEMS * s.m * s.n), *one = filled(SP_DTYPE_F32, s.m * s.n);
    assert_int_equal(sp_threads_set(3), SP_OK);
    void *work = sp__alloc(sp__gemm_batch_work(&s, ITEMS)), *work_one = sp__alloc(sp__gemm_work(&s));
    assert_int_equal(sp__gemm_batched(&s, &batch, a, b, c, false, work), SP_OK);
    for (int i = 0; i < ITEMS; i++) {
        assert_int_equal(sp__gemm(&s, a + i * s.m * s.k, b + offsets[i], one, false, work_one), SP_OK);
        assert_memory_equal(one, c + i * s.m * s.n, (size_t)(s.m * s.n) * 4);
    }
    sp__free(a), sp__free(b), sp__free(c), sp__free(one), sp__free(work), sp__free(work_one);
}

/* --- epilogues and packed weights -------------------------------------------------------------------------------- */

typedef struct {
    const float *c;
    float *out;
    int *seen;
} doubled;

static void double_block(void *context, int64_t start, int64_t n_rows, int64_t row_step, int64_t n)
{
    const doubled *d = context;
    for (int64_t r = 0; r < n_rows; r++)
        for (int64_t i = 0; i < n; i++) {
            int64_t at = start + r * row_step + i;
            d->seen[at]++; /* blocks are disjoint: no two threads come here for one element */
            d->out[at] = 2 * d->c[at];
        }
}

/* Every element is handed over once, when it is final; panels made ahead change nothing. */
static void check_extra(int64_t m, int64_t n, int64_t k, int layout)
{
    sp__gemm_shape s = {
        .dtype = SP_DTYPE_F32, .m = m, .n = n, .k = k, .a_row = k, .a_col = 1, .b_row = n, .b_col = 1, .c_row = n};
    if (layout & A_TURNED) s.a_row = 1, s.a_col = m;
    if (layout & B_TURNED) s.b_row = 1, s.b_col = k;
    size_t bytes = (size_t)(m * n) * 4;
    float *a = filled(SP_DTYPE_F32, m * k), *b = filled(SP_DTYPE_F32, k * n), *c = sp__alloc(bytes),
          *plain = sp__alloc(bytes);
    doubled d = {.c = c, .out = sp__alloc(bytes), .seen = sp__alloc_zero((size_t)(m * n) * sizeof(int))};
    const sp_epilogue epilogue = {double_block, &d};
    void *work = sp__alloc(sp__gemm_work(&s)), *packed = sp__alloc(sp__gemm_packed_bytes(&s));
    sp__gemm_extra extra = {.epilogue = &epilogue};
    assert_int_equal(sp_threads_set(3), SP_OK);
    assert_int_equal(sp__gemm_with(&s, a, b, c, false, work, &extra), SP_OK);
    for (int64_t i = 0; i < m * n; i++) assert_true(d.seen[i]-- == 1 && d.out[i] == 2 * c[i]);
    assert_int_equal(sp__gemm(&s, a, b, plain, false, work), SP_OK);
    assert_memory_equal(c, plain, bytes);
    if (sp__gemm_packed_bytes(&s)) {
        assert_int_equal(sp__gemm_pack_b(&s, b, packed), SP_OK);
        extra.packed_b = packed;
        memset(b, 0xFF, (size_t)(k * n) * 4); /* what is packed is not read again */
    }
    assert_int_equal(sp__gemm_with(&s, a, b, c, false, work, &extra), SP_OK);
    assert_memory_equal(c, plain, bytes);
    for (int64_t i = 0; i < m * n; i++) {
        assert_int_equal(d.seen[i], 1);
        assert_true(d.out[i] == 2 * plain[i]);
    }
    sp__free(a), sp__free(b), sp__free(c), sp__free(plain), sp__free(d.out), sp__free(d.seen), sp__free(work),
        sp__free(packed);
}

static void epilogues_and_packed_weights(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{1, 1, 1},       {1, 900, 40},    {900, 1, 40},    {5, 70, 0},
                                       {13, 33, 31},    {64, 96, 520},   {2, 130, 70},    {67, 301, 1100},
                                       {128, 140, 130}, {200, 300, 700}, {30, 2100, 300}, {1600, 50, 64},
                                       {800, 130, 560}, {61, 433, 600},  {770, 390, 300}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int layout = 0; layout < 4; layout++) check_extra(sizes[i][0], sizes[i][1], sizes[i][2], layout);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

typedef struct {
    char *map;
    size_t bytes;
    void *data;
} guarded;

/* Memory that ends where an unreadable page begins. */
static guarded guard(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    guarded g = {.bytes = whole + page};
    g.map = mmap(NULL, g.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.map != MAP_FAILED);
    assert_int_equal(mprotect(g.map + whole, page, PROT_NONE), 0);
    g.data = g.map + whole - bytes;
    memset(g.data, 1, bytes);
    return g;
}

static void check_guarded(sp_dtype dtype, int64_t m, int64_t n, int64_t k, int layout)
{
    sp__gemm_shape s = {
        .dtype = dtype, .m = m, .n = n, .k = k, .a_row = k, .a_col = 1, .b_row = n, .b_col = 1, .c_row = n};
    if (layout & A_TURNED) s.a_row = 1, s.a_col = m;
    if (layout & B_TURNED) s.b_row = 1, s.b_col = k;
    size_t size = sp_dtype_bytes(dtype);
    guarded a = guard((size_t)(m * k) * size), b = guard((size_t)(k * n) * size), c = guard((size_t)(m * n) * size);
    guarded work = guard((sp__gemm_work(&s) + 63) / 64 * 64),
            packed = guard((sp__gemm_packed_bytes(&s) + 63) / 64 * 64);
    assert_int_equal(sp__gemm(&s, a.data, b.data, c.data, false, work.data), SP_OK);
    if (sp__gemm_packed_bytes(&s)) {
        const sp__gemm_extra extra = {.packed_b = packed.data};
        assert_int_equal(sp__gemm_pack_b(&s, b.data, packed.data), SP_OK);
        assert_int_equal(sp__gemm_with(&s, a.data, b.data, c.data, false, work.data, &extra), SP_OK);
    }
    guarded *all[] = {&a, &b, &c, &work, &packed};
    for (int i = 0; i < 5; i++) munmap(all[i]->map, all[i]->bytes);
}

static void reads_nothing_behind_the_operands(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{1, 1, 1},     {1, 70, 37},    {70, 1, 37},    {3, 5, 7},      {13, 33, 31},
                                       {12, 32, 64},  {17, 47, 65},   {40, 50, 300},  {31, 141, 131}, {128, 140, 129},
                                       {100, 90, 33}, {150, 65, 130}, {800, 110, 40}, {50, 399, 70}};
    static const sp_dtype dtypes[] = {SP_DTYPE_F32, SP_DTYPE_F64, SP_DTYPE_BF16, SP_DTYPE_I8};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int layout = 0; layout < 4; layout++)
            for (int d = 0; d < 4; d++)
                if (sp__gemm_takes(dtypes[d])) check_guarded(dtypes[d], sizes[i][0], sizes[i][1], sizes[i][2], layout);
}

/* --- float32 on AMX, by the emulation ------------------------------------------------------------------------------ */

static void large_products_by_tiles(void **state)
{
    (void)state;
    if (getenv("SPORE_ISA")) return; /* the emulation is the same at every level */
    float *x = filled(SP_DTYPE_F32, 160 * 200), *y = filled(SP_DTYPE_F32, 200 * 150), *c[3];
    sp__gemm_shape s = {.dtype = SP_DTYPE_F32,
                        .m = 160,
                        .n = 150,
                        .k = 200,
                        .a_row = 200,
                        .a_col = 1,
                        .b_row = 150,
                        .b_col = 1,
                        .c_row = 150};
    for (int i = 0; i < 3; i++) c[i] = filled(SP_DTYPE_F32, s.m * s.n);
    size_t bytes = (size_t)(s.m * s.n) * 4;
    void *work = sp__alloc(sp__gemm_work(&s));
    static const sp__tiles_kernels no_tiles = {.name = "none"}; /* the processor may have tiles of its own */
    sp__tiles_override(&no_tiles);
    assert_int_equal(sp__gemm(&s, x, y, c[0], false, work), SP_OK);
    sp__tiles_override(&sp__tiles_emulated);
    void *tiles_work = sp__alloc(sp__gemm_work(&s)), *packed = sp__alloc(sp__gemm_packed_bytes(&s));
    assert_int_equal(sp__gemm(&s, x, y, c[1], false, tiles_work), SP_OK);
    assert_true(memcmp(c[0], c[1], bytes) != 0); /* other roundings: tiles were used */
    for (int64_t i = 0; i < s.m * s.n; i++) assert_true(fabs((double)c[0][i] - (double)c[1][i]) < 1e-4);
    check(SP_DTYPE_F32, 150, 140, 260, 0, true);
    check(SP_DTYPE_F32, 140, 150, 130, A_TURNED | B_TURNED | SPACED, false);
    check_extra(130, 160, 150, B_TURNED);
    check_guarded(SP_DTYPE_F32, 150, 140, 131, 0);
    check_guarded(SP_DTYPE_F32, 150, 140, 131, A_TURNED | B_TURNED);
    /* Infinities and NaN: the bits that come without tiles, also with panels made ahead. */
    static const float special[] = {INFINITY, -INFINITY, NAN, 1e-41F, -0x1p127F};
    for (int i = 0; i < 5; i++) {
        x[1234 + i] = special[i];
        const sp__gemm_extra extra = {.packed_b = packed};
        assert_int_equal(sp__gemm_pack_b(&s, y, packed), SP_OK);
        assert_int_equal(sp__gemm(&s, x, y, c[1], false, tiles_work), SP_OK);
        assert_int_equal(sp__gemm_with(&s, x, y, c[2], false, tiles_work, &extra), SP_OK);
        sp__tiles_override(&no_tiles);
        assert_int_equal(sp__gemm(&s, x, y, c[0], false, work), SP_OK);
        sp__tiles_override(&sp__tiles_emulated);
        assert_memory_equal(c[0], c[1], bytes);
        assert_memory_equal(c[0], c[2], bytes);
        x[1234 + i] = 1;
    }
    sp__tiles_override(NULL);
    sp__free(x), sp__free(y), sp__free(c[0]), sp__free(c[1]), sp__free(c[2]), sp__free(work), sp__free(tiles_work),
        sp__free(packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_loops),
        cmocka_unit_test(every_small_shape),
        cmocka_unit_test(beyond_one_block),
        cmocka_unit_test(batches_do_each_item),
        cmocka_unit_test(epilogues_and_packed_weights),
        cmocka_unit_test(reads_nothing_behind_the_operands),
        cmocka_unit_test(large_products_by_tiles),
    };
    const char *level = getenv("SPORE_ISA");
    int failed = cmocka_run_group_tests_name(level ? level : "native", tests, NULL, NULL);
    const char *next = level == NULL                    ? "portable"
                       : strcmp(level, "portable") == 0 ? "avx2"
                       : strcmp(level, "avx2") == 0     ? "avx512"
                                                        : NULL;
    if (failed != 0 || next == NULL) return failed;
    setenv("SPORE_ISA", next, 1);
    start_again(NULL);
    return 1;
}
