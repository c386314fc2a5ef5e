/* SPDX-License-Identifier: Apache-2.0 */
/* test_stack.c - operators and programs on a thread of 64 KB. Below its guard page lies a pattern, which frames that are
 * larger than a page would overwrite without ever touching the guard. Sizes are chosen for the kernels with large buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/scratch.h"
#include "base/share.h"
#include "spore/spore.h"

/* Sanitizers and 32-bit emulation have frames of their own size. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STACK_BYTES = 1 << 20 };
#else
enum { STACK_BYTES = 64 << 10 };
#endif
enum { BELOW_BYTES = 1 << 20, PATTERN = 0xA5 };

typedef struct {
    const char *op, *attrs;
    sp_dtype dtype;
    int n_in;
    struct {
        int rank;
        int64_t dims[4];
    } in[4];
} use;

#define M(a, b)                                                                                                        \
    {                                                                                                                  \
        2, { a, b }                                                                                                    \
    }
#define I(a, b, c, d)                                                                                                  \
    {                                                                                                                  \
        4, { a, b, c, d }                                                                                              \
    }
#define NOTHING {-1, {0}} /* an input left out */
static const use uses[] = {
    {"matmul", NULL, SP_DTYPE_F32, 2, {M(8, 8), M(8, 8)}},
    {"matmul", NULL, SP_DTYPE_F32, 2, {M(300, 200), M(200, 100)}},
    {"matmul", NULL, SP_DTYPE_F64, 2, {M(8, 8), M(8, 8)}},
    {"matmul", NULL, SP_DTYPE_F64, 2, {M(130, 300), M(300, 70)}},
    {"matmul", NULL, SP_DTYPE_F16, 2, {M(64, 64), M(64, 64)}},
    {"matmul", NULL, SP_DTYPE_BF16, 2, {M(64, 64), M(64, 64)}},
    {"matmul", "transpose_a=True", SP_DTYPE_F32, 2, {M(600, 20), M(600, 700)}},
    {"matmul", "transpose_b=True", SP_DTYPE_F32, 2, {M(1000, 24), M(24, 24)}},
    {"matmul", NULL, SP_DTYPE_F32, 2, {{3, {9, 40, 50}}, {3, {9, 50, 60}}}},
    {"conv2d", "pad_mode=pad, pad=(1,1,1,1)", SP_DTYPE_F32, 3, {I(1, 3, 12, 12), I(4, 3, 3, 3), NOTHING}},
    {"conv2d", "pad_mode=pad, pad=(1,1,1,1)", SP_DTYPE_F32, 3, {I(4, 64, 28, 28), I(64, 64, 3, 3), NOTHING}},
    {"conv2d", "stride=(2,2), dilation=(2,2)", SP_DTYPE_F64, 3, {I(2, 6, 20, 20), I(8, 6, 3, 3), NOTHING}},
    {"conv2d", "pad_mode=pad, pad=(1,1,1,1), group=32", SP_DTYPE_F32, 3, {I(2, 32, 30, 30), I(32, 1, 3, 3), NOTHING}},
    {"softmax", NULL, SP_DTYPE_F16, 1, {M(20, 500)}},
    {"softmax", "axis=(0,)", SP_DTYPE_BF16, 1, {M(50, 300)}},
    {"layer_norm", "begin_norm_axis=1, begin_params_axis=1", SP_DTYPE_F16, 3, {M(20, 500), {1, {500}}, {1, {500}}}},
    {"reduce_sum", "axis=(0,)", SP_DTYPE_F16, 1, {M(300, 400)}},
    {"reduce_prod", "axis=(0,)", SP_DTYPE_BF16, 1, {M(40, 400)}},
    {"reduce_max", "axis=(0,)", SP_DTYPE_F32, 1, {M(300, 400)}},
    {"reduce_mean", "axis=(0,)", SP_DTYPE_F64, 1, {M(300, 40)}},
    {"addcmul", NULL, SP_DTYPE_F16, 4, {M(30, 40), M(30, 40), M(30, 40), {1, {1}}}},
    {"lerp", NULL, SP_DTYPE_BF16, 3, {M(30, 40), M(30, 40), M(30, 40)}},
    {"add", NULL, SP_DTYPE_F16, 2, {M(300, 400), {1, {400}}}},
    {"sort", NULL, SP_DTYPE_F32, 1, {M(30, 1000)}},
    {"svd", NULL, SP_DTYPE_F64, 1, {M(20, 12)}},
};
enum { N_USES = sizeof uses / sizeof *uses };

static float *wave; /* values of all operands */
enum { WAVE = 1 << 19 };

/* The sum of all bytes of the first result, which names it well enough; 0: it failed. */
static uint64_t run(const use *u)
{
    sp_builder *b = NULL;
    sp_tensor *in[4], *wide = NULL;
    uint64_t sum = 14695981039346656037u;
    if (sp_builder_create(&b) != SP_OK) return 0;
    for (int i = 0; i < u->n_in; i++) {
        in[i] = NULL;
        if (u->in[i].rank < 0) continue;
        if (sp_tensor_create_from(SP_DTYPE_F32, u->in[i].rank, u->in[i].dims, wave + 100 * i, &wide) != SP_OK) return 0;
        in[i] = sp_cast(b, sp_builder_take_tensor(b, wide), u->dtype);
    }
    sp_tensor *out = sp_builder_call(b, u->op, u->attrs, u->n_in, in), *rows = NULL;
    if (out && sp_tensor_contiguous(out, &rows) == SP_OK) {
        const unsigned char *p = sp_tensor_data(rows);
        for (size_t i = 0; i < sp_tensor_bytes(rows); i++) sum = (sum ^ p[i]) * 1099511628211u;
        sp_tensor_release(rows);
    } else {
        fprintf(stderr, "%s: %s\n", u->op, sp_error_message());
        sum = 0;
    }
    sp_builder_release(b);
    return sum;
}

static uint64_t found[N_USES];

static void *run_all(void *unused)
{
    (void)unused;
    for (int i = 0; i < N_USES; i++) found[i] = run(&uses[i]);
    return NULL;
}

/* Call fn on a thread of STACK_BYTES; whether what lies behind its guard page is as it was. */
static bool on_small_stack(void *(*fn)(void *), void *context)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *all =
        mmap(NULL, BELOW_BYTES + page + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(all != MAP_FAILED);
    memset(all, PATTERN, BELOW_BYTES);
    assert_int_equal(mprotect(all + BELOW_BYTES, page, PROT_NONE), 0);
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, all + BELOW_BYTES + page, STACK_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &attributes, fn, context), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    bool whole = true;
    for (size_t i = 0; i < BELOW_BYTES; i++) whole &= (unsigned char)all[i] == PATTERN;
    munmap(all, BELOW_BYTES + page + STACK_BYTES);
    return whole;
}

static void operators_run_on_a_small_stack(void **unused)
{
    (void)unused;
    wave = malloc(WAVE * sizeof *wave);
    assert_non_null(wave);
    for (int i = 0; i < WAVE; i++) wave[i] = (float)((i * 2654435761u >> 12) % 1000) / 500.0f - 0.99f;
    for (int threads = 1; threads <= 3; threads += 2) {
        assert_int_equal(sp_threads_set(threads), SP_OK);
        assert_true(on_small_stack(run_all, NULL));
        for (int i = 0; i < N_USES; i++) {
            if (!found[i]) fail_msg("%s failed on a small stack", uses[i].op);
            if (found[i] != run(&uses[i])) fail_msg("%s (number %d) gives other bits on a small stack", uses[i].op, i);
        }
    }
    free(wave);
}

/* --- the second stack ------------------------------------------------------------------------------------------------ */

static void scratch_is_a_stack(void **unused)
{
    (void)unused;
    assert_int_equal(sp__scratch_ready(), SP_OK);
    char *a = sp__scratch_take(100), *b = sp__scratch_take(1);
    assert_true((uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0 && b >= a + 100);
    memset(a, 1, 100);
    *b = 2;
    assert_true(a[99] == 1);
    sp__scratch_give(b);
    assert_ptr_equal(sp__scratch_take(64), b);
    sp__scratch_give(b);
    sp__scratch_give(a);
    char *all = sp__scratch_take(SP_SCRATCH_BYTES - 128);
    memset(all, 3, SP_SCRATCH_BYTES - 128);
    assert_ptr_equal(all, a);
    sp__scratch_give(all);
}

static void *take_some(void *unused)
{
    char *p = sp__scratch_take(1000);
    memset(p, 1, 1000);
    sp__scratch_give(p);
    return unused;
}

/* Addresses in use, by the list of what is mapped: under an emulator statm counts the emulator's, too. */
static double address_bytes(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[512];
    double bytes = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        unsigned long begin, end;
        if (sscanf(line, "%lx-%lx", &begin, &end) == 2) bytes += (double)(end - begin);
    }
    fclose(file);
    return bytes;
}

static void scratch_goes_with_its_thread(void **unused)
{
    (void)unused;
    const int n_threads = share_of(20000);
    const double before = address_bytes();
    for (int i = 0; i < n_threads; i++) { /* a megabyte each, if they stayed */
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, take_some, NULL), 0);
        pthread_join(thread, NULL);
    }
#ifndef __SANITIZE_ADDRESS__
    assert_true(address_bytes() - before < 0.2e6 * n_threads);
#else
    (void)before;
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scratch_is_a_stack),
        cmocka_unit_test(scratch_goes_with_its_thread),
        cmocka_unit_test(operators_run_on_a_small_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
