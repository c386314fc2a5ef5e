/* SPDX-License-Identifier: Apache-2.0 */
/* test_amx.c - the machine code of the AMX kernels is run: by the processor where it has tiles, else by amx_trap.h, which decodes and
 * executes each instruction. Compared, bit for bit, with the emulation in C of the same arithmetic (tiles_emulated.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "device/cpu/gemm.h"
#include "device/cpu/tiles.h"
#include "device/device.h"

#if SP_HAVE_X86
#include <cpuid.h>

#include "device/amx_trap.h"

static bool native; /* the processor executes them */

/* First thing of each test: cmocka puts handlers of its own around it. */
/* float32 of any shape, as the emulation takes it. */
static sp__tiles_kernels amx_always;

static void prepare(void)
{
    amx_always = sp__tiles_amx;
    amx_always.always = true;
    if (!native) trap_install();
}

static uint64_t seed = 1;
static uint32_t next(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 32);
}

static void *numbers(sp_dtype dtype, int64_t count)
{
    char *data = sp__alloc((size_t)count * sp_dtype_bytes(dtype) + 64);
    for (int64_t i = 0; i < count; i++) {
        float x = (float)((double)(int32_t)next() / 2147483648.0);
        uint32_t u;
        memcpy(&u, &x, 4);
        if (dtype == SP_DTYPE_F32) memcpy(data + i * 4, &x, 4);
        else if (dtype == SP_DTYPE_BF16) ((uint16_t *)(void *)data)[i] = (uint16_t)(u >> 16);
        else data[i] = (char)next();
    }
    return data;
}

static trap_config stored_config(void)
{
    trap_config c;
    memset(&c, 0x55, sizeof c);
    __asm__ volatile("sttilecfg %0" : "=m"(c));
    return c;
}

static void load_config(const trap_config *c) { __asm__ volatile("ldtilecfg %0" : : "m"(*c)); }
static void release(void) { __asm__ volatile("tilerelease"); }

static trap_config config_of(int rows, int row_bytes)
{
    trap_config c = {.palette = 1};
    for (int t = 0; t < TRAP_TILES; t++) {
        c.rows[t] = (uint8_t)rows;
        c.row_bytes[t] = (uint16_t)row_bytes;
    }
    return c;
}

/* --- the trap itself ----------------------------------------------------------------------------------------------- */

/* What a processor refuses is refused: a test by a lenient emulation would show nothing. */
static void faults_are_raised(void **state)
{
    (void)state;
    if (native) return;
    prepare();
    const char *what;
    TRAP_EXPECT(what, __asm__ volatile("tilezero %tmm0"));
    assert_string_equal(what, "#UD: no tiles are configured");
    TRAP_EXPECT(what, __asm__ volatile("tdpbf16ps %tmm6, %tmm4, %tmm0"));
    assert_string_equal(what, "#UD: no tiles are configured");
    trap_config good = config_of(16, 64), bad = good;
    bad.palette = 2;
    TRAP_EXPECT(what, load_config(&bad));
    assert_string_equal(what, "#GP: ldtilecfg, no such palette");
    bad = good, bad.zero[3] = 1;
    TRAP_EXPECT(what, load_config(&bad));
    assert_string_equal(what, "#GP: ldtilecfg, reserved bytes are not zero");
    bad = good, bad.rows[8] = 16, bad.row_bytes[8] = 64;
    TRAP_EXPECT(what, load_config(&bad));
    assert_string_equal(what, "#GP: ldtilecfg, a ninth tile");
    bad = good, bad.rows[7] = 0;
    TRAP_EXPECT(what, load_config(&bad));
    assert_string_equal(what, "#GP: ldtilecfg, rows without columns");
    bad = good, bad.rows[0] = 17;
    TRAP_EXPECT(what, load_config(&bad));
    assert_string_equal(what, "#GP: ldtilecfg, more than 16 rows");
    bad = good, bad.row_bytes[5] = 128;
    TRAP_EXPECT(what, load_config(&bad));
    assert_string_equal(what, "#GP: ldtilecfg, more than 64 bytes a row");
    load_config(&good);
    TRAP_EXPECT(
        what,
        __asm__ volatile(".byte 0xC4, 0xE2, 0x5A, 0x5C, 0xC4")); /* tdpbf16ps tmm0, tmm4, tmm4: no assembler takes it */
    assert_string_equal(what, "#UD: a tile is named twice");
    bad = good, bad.rows[0] = 8;
    load_config(&bad);
    TRAP_EXPECT(what, __asm__ volatile("tdpbssd %tmm6, %tmm4, %tmm0"));
    assert_string_equal(what, "#UD: tiles do not fit each other");
    bad = good, bad.rows[6] = 8;
    load_config(&bad);
    TRAP_EXPECT(what, __asm__ volatile("tdpbf16ps %tmm6, %tmm4, %tmm0"));
    assert_string_equal(what, "#UD: tiles do not fit each other");
    TRAP_EXPECT(what, __asm__ volatile("tdpbf16ps %tmm7, %tmm4, %tmm0"));
    assert_null(what);
    release();
}

/* Configuration, loads and stores with any stride, tiles that are not full. */
static void tiles_move(void **state)
{
    (void)state;
    prepare();
    trap_config c = config_of(5, 24), back;
    uint8_t from[16 * 100], to[16 * 80];
    for (size_t i = 0; i < sizeof from; i++) from[i] = (uint8_t)next();
    memset(to, 0xEE, sizeof to);
    load_config(&c);
    back = stored_config();
    assert_memory_equal(&back, &c, sizeof c);
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm3" : : "r"(from), "r"((int64_t)100) : "memory");
    __asm__ volatile("tilestored %%tmm3, -16(%0,%1,2)" : : "r"(to + 16), "r"((int64_t)40) : "memory");
    for (int i = 0; i < 16 * 80; i++) {
        int row = i / 80, column = i % 80;
        assert_int_equal(to[i], row < 5 && column < 24 ? from[row * 100 + column] : 0xEE);
    }
    __asm__ volatile("tileloaddt1 (%0,%1,1), %%tmm5" : : "r"(from + 4 * 100), "r"((int64_t)-100) : "memory");
    __asm__ volatile("tilestored %%tmm5, (%0,%1,1)" : : "r"(to), "r"((int64_t)24) : "memory");
    for (int i = 0; i < 5 * 24; i++) assert_int_equal(to[i], from[(4 - i / 24) * 100 + i % 24]);
    __asm__ volatile("tilezero %%tmm5\n\ttilestored %%tmm5, (%0,%1,1)" : : "r"(to), "r"((int64_t)24) : "memory");
    for (int i = 0; i < 5 * 24; i++) assert_int_equal(to[i], 0);
    release();
    back = stored_config();
    for (size_t i = 0; i < sizeof back; i++) assert_int_equal(((uint8_t *)&back)[i], 0);
}

/* --- kernels ------------------------------------------------------------------------------------------------------- */

static const sp_dtype dtypes[] = {SP_DTYPE_F32, SP_DTYPE_BF16, SP_DTYPE_I8};

/* Numbers of every kind in the panels: denormals, infinities and NaN too, where these are bfloat16. */
static void blocks_are_the_emulations(void **state)
{
    (void)state;
    prepare();
    const size_t acc_bytes = SP_TILES_PANEL * SP_TILES_PANEL * 4;
    char *one = sp__alloc(acc_bytes), *two = sp__alloc(acc_bytes);
    for (int trial = 0; trial < 48; trial++) {
        sp_dtype dtype = dtypes[trial % 3];
        int64_t steps = 1 + trial % sp__tiles_block(dtype),
                words = sp__tiles_terms(dtype) * steps * 2 * SP_TILE_BYTES / 4;
        uint32_t *a = sp__alloc((size_t)words * 4), *b = sp__alloc((size_t)words * 4);
        for (int64_t i = 0; i < words; i++) {
            a[i] = next(), b[i] = next();
            if (dtype == SP_DTYPE_I8 || trial % 4 == 3) continue;
            a[i] = (a[i] & 0x87FF87FF) | 0x38003800, b[i] = (b[i] & 0x87FF87FF) | 0x38003800; /* near one */
            if (trial % 4 == 2) a[i] &= 0x80FFFFFF;                                           /* some small */
        }
        for (size_t i = 0; i < acc_bytes / 4; i++) ((float *)(void *)one)[i] = (float)(int32_t)next() * 0x1p-30f;
        memcpy(two, one, acc_bytes);
        bool half_rows = trial / 12 & 1, half_columns = trial / 24 & 1;
        const sp__tiles_rows rows = {.data = (char *)a, .row = 64, .step = 2 * SP_TILE_BYTES};
        static const int32_t zeros[SP_TILES_PANEL];
        const int32_t *from = trial % 5 == 4 ? zeros : NULL;
        sp__tiles_amx.begin();
        sp__tiles_amx.block(dtype, steps, &rows, (char *)b, half_rows, half_columns, one, from);
        sp__tiles_amx.end();
        sp__tiles_emulated.block(dtype, steps, &rows, (char *)b, half_rows, half_columns, two, from);
        for (size_t i = 0; i < acc_bytes / 4; i++) {
            uint32_t x, y;
            memcpy(&x, one + 4 * i, 4), memcpy(&y, two + 4 * i, 4);
            bool nan = dtype != SP_DTYPE_I8 && (x & 0x7FFFFFFF) > 0x7F800000 && (y & 0x7FFFFFFF) > 0x7F800000;
            if (x != y && !nan)
                fail_msg("trial %d, %s, %d steps: element %d is %08x, emulated %08x", trial, sp_dtype_name(dtype),
                         (int)steps, (int)i, x, y);
        }
        sp__free(a), sp__free(b);
    }
    sp__free(one), sp__free(two);
}

typedef struct product {
    sp__gemm_shape s;
    void *a, *b, *work;
    char *c;
    size_t bytes;
} product;

static void make(product *t, sp_dtype dtype, int64_t m, int64_t n, int64_t k, bool turned)
{
    t->s = (sp__gemm_shape){.dtype = dtype,
                            .m = m,
                            .n = n,
                            .k = k,
                            .a_row = turned ? 1 : k,
                            .a_col = turned ? m : 1,
                            .b_row = turned ? 1 : n,
                            .b_col = turned ? k : 1,
                            .c_row = n};
    t->a = numbers(dtype, m * k);
    t->b = numbers(dtype, k * n);
    t->bytes = (size_t)(m * n) * sp_dtype_bytes(dtype);
    t->c = sp__alloc(t->bytes);
    t->work = sp__alloc(sp__gemm_work(&t->s) + 64);
}

static void run(product *t)
{
    memset(t->c, 0, t->bytes);
    assert_int_equal(sp__gemm(&t->s, t->a, t->b, t->c, false, t->work), SP_OK);
}

static void done(product *t) { sp__free(t->a), sp__free(t->b), sp__free(t->c), sp__free(t->work); }

/* Whole products on one to three threads, and after each no thread has tiles left for the system to save. */
static _Atomic int left_behind;
static void look_for_tiles(void *context, int64_t begin, int64_t end)
{
    (void)context;
    trap_config c = stored_config();
    if (begin < end && !trap_all_zero(&c, sizeof c)) left_behind++;
}

static const int64_t sizes[][3] = {{64, 64, 64}, {33, 70, 300}, {150, 140, 100}, {130, 260, 64}};

static void products_are_the_emulations(void **state)
{
    (void)state;
    prepare();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int d = 0; d < 6; d++) {
            product t;
            sp__tiles_override(&sp__tiles_emulated);
            make(&t, dtypes[d % 3], sizes[i][0], sizes[i][1], sizes[i][2], d >= 3);
            assert_int_equal(sp_threads_set(1), SP_OK);
            run(&t);
            char *want = sp__alloc(t.bytes);
            memcpy(want, t.c, t.bytes);
            sp__tiles_override(&amx_always);
            for (int threads = 1; threads <= 3; threads++) {
                assert_int_equal(sp_threads_set(threads), SP_OK);
                run(&t);
                assert_memory_equal(t.c, want, t.bytes);
                assert_int_equal(sp__parallel_for(threads, 1, look_for_tiles, NULL), SP_OK);
                assert_int_equal(left_behind, 0);
            }
            sp__tiles_override(NULL);
            sp__free(want);
            done(&t);
        }
}

/* A child has the parent's permission, not its threads. */
static void a_child_computes(void **state)
{
    (void)state;
    prepare();
    product t;
    sp__tiles_override(&amx_always);
    make(&t, SP_DTYPE_F32, 150, 140, 300, false);
    assert_int_equal(sp_threads_set(2), SP_OK);
    run(&t);
    char *want = sp__alloc(t.bytes);
    memcpy(want, t.c, t.bytes);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        memset(t.c, 0, t.bytes);
        bool right = sp__gemm(&t.s, t.a, t.b, t.c, false, t.work) == SP_OK && memcmp(t.c, want, t.bytes) == 0;
        _exit(right ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    sp__tiles_override(NULL);
    sp__free(want);
    done(&t);
}

/* Handlers that use tiles of their own in the midst of a product: the system keeps the product's. */
static volatile sig_atomic_t interruptions;
static void on_alarm(int number)
{
    (void)number;
    trap_config c = config_of(3, 8);
    load_config(&c);
    __asm__ volatile("tilezero %tmm0");
    release();
    interruptions = interruptions + 1;
}

static void signals_leave_tiles_alone(void **state)
{
    (void)state;
    if (!native) return; /* who is interrupted inside the trap has the interrupted one's tiles */
    product t;
    sp__tiles_override(&amx_always);
    make(&t, SP_DTYPE_F32, 150, 140, 300, false);
    assert_int_equal(sp_threads_set(2), SP_OK);
    run(&t);
    char *want = sp__alloc(t.bytes);
    memcpy(want, t.c, t.bytes);
    struct sigaction action = {.sa_flags = SA_RESTART}, before;
    action.sa_handler = on_alarm;
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    struct itimerval each = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    assert_int_equal(setitimer(ITIMER_REAL, &each, NULL), 0);
    for (int i = 0; interruptions < 20 && i < 100000; i++) {
        run(&t);
        assert_memory_equal(t.c, want, t.bytes);
    }
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_true(interruptions >= 20);
    sp__tiles_override(NULL);
    sp__free(want);
    done(&t);
}

int main(void)
{
    native = sp__cpu_features() & SP_CPU_AMX;
    const unsigned packs = SP_CPU_AVX512 | SP_CPU_BF16; /* what packing for tiles is written with */
    if ((sp__cpu_features() & packs) != packs) {
        print_message("skipped: this CPU, or SPORE_ISA, has no AVX-512 BF16, which the kernels pack with\n");
        return 0;
    }
    uint32_t a, b, c, d;
    if (!native && __get_cpuid_count(7, 0, &a, &b, &c, &d) && d >> 24 & 1) {
        /* Some of the instructions need no permission: the processor would execute these, the trap the others. */
        print_message("skipped: this CPU has AMX, but SPORE_ISA or the system keeps it from us\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_are_raised),         cmocka_unit_test(tiles_move),
        cmocka_unit_test(blocks_are_the_emulations), cmocka_unit_test(products_are_the_emulations),
        cmocka_unit_test(a_child_computes),          cmocka_unit_test(signals_leave_tiles_alone),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!native && trap_count == 0) failed++; /* or nothing was shown */
    print_message("%s\n", native ? "executed by the processor" : "executed by amx_trap.h");
    return failed;
}
#else
int main(void) { return 0; }
#endif
