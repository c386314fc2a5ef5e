/* SPDX-License-Identifier: Apache-2.0 */
/* test_vector.c - element-wise vector loops of every instruction set this machine has: functions within their bounds over a
 * sample of all floats, arithmetic equal to plain C bit for bit, and the same bits however an element lies in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/share.h"
#include "device/vector_bounds.h"
#include "spore/ops_attrs.h"
#include "tensor/half.h"

static vector_set sets[3];
static int n_sets;

static void functions_keep_their_bounds(void **state)
{
    (void)state;
    for (int i = 0; i < n_sets; i++) assert_int_equal(vector_walk(&sets[i], 30011 * (uint32_t)share(), NULL), 0);
}

static void functions_of_doubles_keep_their_bounds(void **state)
{
    (void)state;
    for (int i = 0; i < n_sets; i++) assert_int_equal(double_walk(&sets[i], share_of(40)), 0);
}

/* Powers and angles of pairs: all odd ones against each other, and a sample; as libm rounds, within half a unit and a little. */
static void pairs_keep_their_bounds(void **state)
{
    (void)state;
    static const float odd[] = {
        0.0f,       -0.0f,           1,  -1, 2, -2, 3, -3, 0.5f, -0.5f, 1.5f, INFINITY, -INFINITY, NAN, 0x1p-149f,
        -0x1p-149f, 0x1.fffffep127f, 33, -33};
    enum { ODD = sizeof odd / sizeof *odd, SAMPLE = 20000 };
    const int all = ODD * ODD + share_of(SAMPLE);
    const struct {
        int loop;
        double (*exact)(double, double);
    } cases[] = {{SP_CPU_LOOP_pow, pow}, {SP_CPU_LOOP_atan2, atan2}, {SP_CPU_LOOP_trunc_mod, fmod}};
    for (int s = 0; s < n_sets; s++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
            for (int i = 0; i < all; i++) {
                const uint32_t h = (uint32_t)i * 2654435761u;
                float x = i < ODD * ODD ? odd[i / ODD] : ldexpf((float)(h >> 8) * 0x1p-23f + 0.01f, (int)(h % 60) - 30);
                float y = i < ODD * ODD ? odd[i % ODD] : (float)((int32_t)(h * 40503u)) * 0x1p-27f, z;
                sets[s].rows[cases[k].loop].f32(1, (char *[]){(char *)&z, (char *)&x, (char *)&y},
                                                (const int64_t[]){4, 4, 4}, NULL);
                const double error = ulps(z, cases[k].exact((double)x, (double)y));
                if (!(error <= 0.51))
                    fail_msg("%s: loop %d of %a and %a is %a: %g ulp", sets[s].name, cases[k].loop, (double)x,
                             (double)y, (double)z, error);
            }
}

static void rounding_is_exact(void **state)
{
    (void)state;
    static const float all[] = {0.0f,    -0.0f,           0.3f,  -0.3f,    0.5f,     -0.5f,
                                0.7f,    -0.7f,           1.5f,  2.5f,     -2.5f,    0x1.fffffep22f,
                                0x1p23f, -0x1.000002p23f, 1e30f, INFINITY, -INFINITY};
    const struct {
        int loop;
        double (*exact)(double);
    } cases[] = {{SP_CPU_LOOP_floor, floor},
                 {SP_CPU_LOOP_ceil, ceil},
                 {SP_CPU_LOOP_round, nearbyint},
                 {SP_CPU_LOOP_trunc, trunc}};
    for (int s = 0; s < n_sets; s++)
        for (size_t k = 0; k < 4; k++)
            for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
                float x = all[i], y, exact = (float)cases[k].exact((double)x);
                double wide = (double)x, wide_y;
                sets[s].rows[cases[k].loop].f32(1, (char *[]){(char *)&y, (char *)&x}, (const int64_t[]){4, 4}, NULL);
                sets[s].rows[cases[k].loop].f64(1, (char *[]){(char *)&wide_y, (char *)&wide}, (const int64_t[]){8, 8},
                                                NULL);
                if (memcmp(&y, &exact, 4) || wide_y != (double)exact || !signbit(wide_y) != !signbit(exact))
                    fail_msg("%s: loop %d of %a is %a and %a", sets[s].name, cases[k].loop, (double)x, (double)y,
                             wide_y);
            }
}

static void edges(void **state)
{
    (void)state;
    static const struct {
        int loop;
        float x, y;
    } cases[] = {
        {SP_CPU_LOOP_exp, -INFINITY, 0},
        {SP_CPU_LOOP_exp, INFINITY, INFINITY},
        {SP_CPU_LOOP_exp, -0.0f, 1},
        {SP_CPU_LOOP_exp, 89, INFINITY},
        {SP_CPU_LOOP_exp, -104, 0},
        {SP_CPU_LOOP_expm1, -0.0f, -0.0f},
        {SP_CPU_LOOP_expm1, -INFINITY, -1},
        {SP_CPU_LOOP_log, 0, -INFINITY},
        {SP_CPU_LOOP_log, -0.0f, -INFINITY},
        {SP_CPU_LOOP_log, INFINITY, INFINITY},
        {SP_CPU_LOOP_log, 1, 0},
        {SP_CPU_LOOP_log1p, -1, -INFINITY},
        {SP_CPU_LOOP_log1p, -0.0f, -0.0f},
        {SP_CPU_LOOP_log2, 8, 3},
        {SP_CPU_LOOP_exp2, -149, 0x1p-149f},
        {SP_CPU_LOOP_tanh, -INFINITY, -1},
        {SP_CPU_LOOP_tanh, -0.0f, -0.0f},
        {SP_CPU_LOOP_erf, INFINITY, 1},
        {SP_CPU_LOOP_erf, -0.0f, -0.0f},
        {SP_CPU_LOOP_sigmoid, -INFINITY, 0},
        {SP_CPU_LOOP_sigmoid, INFINITY, 1},
        {SP_CPU_LOOP_tanh, 0x1p-149f, 0x1p-149f},
        {SP_CPU_LOOP_sqrt, -0.0f, -0.0f},
        {SP_CPU_LOOP_relu, -0.0f, 0},
        {SP_CPU_LOOP_neg, 0, -0.0f},
        {SP_CPU_LOOP_abs, -INFINITY, INFINITY},
    };
    for (int s = 0; s < n_sets; s++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            float x = cases[i].x, y = 7, nan = NAN;
            sets[s].rows[cases[i].loop].f32(1, (char *[]){(char *)&y, (char *)&x}, (const int64_t[]){4, 4}, NULL);
            if (memcmp(&y, &cases[i].y, 4))
                fail_msg("%s: loop %d of %a gives %a, not %a", sets[s].name, cases[i].loop, (double)x, (double)y,
                         (double)cases[i].y);
            sets[s].rows[cases[i].loop].f32(1, (char *[]){(char *)&y, (char *)&nan}, (const int64_t[]){4, 4}, NULL);
            assert_true(isnan(y));
        }
}

/* Numbers of many sizes, and some that are none. */
static float number(uint32_t i)
{
    static const float odd[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, -0x1p-130f, 0x1.fffffep127f};
    const uint32_t h = i * 2654435761u;
    if (h % 13 == 0) return odd[h / 13 % 8];
    return ((float)(int32_t)h / 2147483648.0f) * (h & 1 ? 4.0f : 90.0f);
}

static const sp_softplus_attrs plenty = {.beta = 2, .threshold = 3}; /* begins with a double, as alpha's struct does */

/* Equal bits, or both NaN: which of two NaN a sum passes on is the compiler's choice. `infinity`: bits of a half type's, 0 for float. */
static bool same(const char *a, const char *b, uint16_t infinity)
{
    if (!memcmp(a, b, infinity ? 2 : 4)) return true;
    if (!infinity) return isnan(*(const float *)(const void *)a) && isnan(*(const float *)(const void *)b);
    return (*(const uint16_t *)(const void *)a & 0x7FFF) > infinity &&
           (*(const uint16_t *)(const void *)b & 0x7FFF) > infinity;
}

/* However n, place and steps are chosen, element i comes out as when it is alone. The buffers end at a page that cannot be touched. */
/* Loops that answer yes or no, in a byte. */
static bool is_truth(int loop) { return loop >= SP_CPU_LOOP_equal && loop <= SP_CPU_LOOP_isinf; }

static void check_places(const vector_set *set, int loop, sp_loop_fn fn, uint16_t infinity)
{
    enum { MOST = 600, OPERANDS = 5 }; /* as many as any loop has; the others do not look at the rest */
    const size_t size = infinity ? 2 : 4;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (MOST * 3 * 4 + page - 1) / page * page;
    char *memory[OPERANDS], *end[OPERANDS];
    for (int k = 0; k < OPERANDS; k++) {
        memory[k] = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(memory[k], MAP_FAILED);
        assert_int_equal(mprotect(memory[k] + room, page, PROT_NONE), 0);
        end[k] = memory[k] + room;
    }
    static const int64_t lengths[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 511, 512, 513, MOST};
    static const int64_t spaces[][OPERANDS] = {{1, 1, 1, 1, 1}, {1, 1, 0, 1, 0}, {1, 0, 1, 0, 1},
                                               {1, 3, 1, 2, 1}, {2, 1, 3, 1, 2}, {3, 2, 0, 0, 3}};
    const size_t out_size = is_truth(loop) ? 1 : size;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (size_t v = 0; v < sizeof spaces / sizeof *spaces; v++) {
            const int64_t n = lengths[l];
            int64_t step[OPERANDS];
            char *ptr[OPERANDS];
            for (int k = 0; k < OPERANDS; k++) {
                const int64_t each = (int64_t)(k ? size : out_size);
                step[k] = spaces[v][k] * each;
                ptr[k] = end[k] - (n ? (n - 1) * step[k] + each : 0);
                for (int64_t i = 0; k && i < n; i++) {
                    const float x = number((uint32_t)(i * 3 + k + (spaces[v][k] ? 0 : -i * 3)));
                    const sp_f16 h = sp__f32_f16(x);
                    if (spaces[v][k] || i == 0) memcpy(ptr[k] + i * step[k], size == 4 ? (const void *)&x : &h, size);
                }
            }
            fn(n, ptr, step, &plenty);
            for (int64_t i = 0; i < n; i++) {
                char alone[4];
                char *one[OPERANDS] = {alone};
                int64_t apart[OPERANDS] = {(int64_t)out_size};
                for (int k = 1; k < OPERANDS; k++) one[k] = ptr[k] + i * step[k], apart[k] = (int64_t)size;
                fn(1, one, apart, &plenty);
                if (out_size == 1 ? alone[0] != ptr[0][i * step[0]] : !same(alone, ptr[0] + i * step[0], infinity))
                    fail_msg("%s: loop %d, element %d of %d, steps %zu, size %zu differs", set->name, loop, (int)i,
                             (int)n, v, size);
            }
        }
    for (int k = 0; k < OPERANDS; k++) munmap(memory[k], room + page);
}

static void an_element_does_not_see_its_place(void **state)
{
    (void)state;
    for (int s = 0; s < n_sets; s++)
        for (int loop = 0; loop < SP_CPU_LOOPS; loop++) {
            const sp__cpu_loop_row *r = &sets[s].rows[loop];
            if (r->f32) check_places(&sets[s], loop, r->f32, 0);
            if (r->f16) check_places(&sets[s], loop, r->f16, 0x7C00);
            if (r->bf16) check_places(&sets[s], loop, r->bf16, 0x7F80);
        }
}

/* What rounds once rounds as C does. */
static void arithmetic_is_exact(void **state)
{
    (void)state;
    for (int s = 0; s < n_sets; s++)
        for (uint32_t i = 0; i < (uint32_t)share_of(20000); i++) {
            float x = number(i), y = number(i + 77777), o;
            const float wanted[] = {x + y,        x - y, x * y, x / y, x > y || x != x ? x : y, x < y || x != x ? x : y,
                                    y > 0 ? x : 0};
            static const int loops[] = {SP_CPU_LOOP_add,     SP_CPU_LOOP_sub,     SP_CPU_LOOP_mul,      SP_CPU_LOOP_div,
                                        SP_CPU_LOOP_maximum, SP_CPU_LOOP_minimum, SP_CPU_LOOP_relu_grad};
            for (int k = 0; k < 7; k++) {
                sets[s].rows[loops[k]].f32(1, (char *[]){(char *)&o, (char *)&x, (char *)&y},
                                           (const int64_t[]){4, 4, 4}, NULL);
                assert_true(same((const char *)&o, (const char *)&wanted[k], 0));
            }
            const float one[] = {-x, fabsf(x), x * x, sqrtf(x), 1 / sqrtf(x), 1 / x};
            static const int unary[] = {SP_CPU_LOOP_neg,  SP_CPU_LOOP_abs,   SP_CPU_LOOP_square,
                                        SP_CPU_LOOP_sqrt, SP_CPU_LOOP_rsqrt, SP_CPU_LOOP_reciprocal};
            for (int k = 0; k < 6; k++) {
                sets[s].rows[unary[k]].f32(1, (char *[]){(char *)&o, (char *)&x}, (const int64_t[]){4, 4}, NULL);
                assert_true(same((const char *)&o, (const char *)&one[k], 0));
            }
        }
}

/* gelu: within 4 * 2^-24 of |x|, and exact far out. */
static void gelu_is_close(void **state)
{
    (void)state;
    for (int s = 0; s < n_sets; s++)
        for (int i = -120000; i <= 120000; i += share()) {
            float x = (float)i / 10000, y;
            sets[s].rows[SP_CPU_LOOP_gelu].f32(1, (char *[]){(char *)&y, (char *)&x}, (const int64_t[]){4, 4}, NULL);
            const double exact = (double)x * 0.5 * erfc(-(double)x / sqrt(2));
            if (!(fabs((double)y - exact) <= 4 * 0x1p-24 * fabs((double)x) + 0x1p-140))
                fail_msg("%s: gelu of %.9g is %.9g, not %.17g", sets[s].name, (double)x, (double)y, exact);
        }
}

int main(void)
{
    n_sets = vector_sets(sets);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_keep_their_bounds),
        cmocka_unit_test(functions_of_doubles_keep_their_bounds),
        cmocka_unit_test(pairs_keep_their_bounds),
        cmocka_unit_test(rounding_is_exact),
        cmocka_unit_test(edges),
        cmocka_unit_test(an_element_does_not_see_its_place),
        cmocka_unit_test(arithmetic_is_exact),
        cmocka_unit_test(gelu_is_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
