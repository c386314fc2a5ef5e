/* SPDX-License-Identifier: Apache-2.0 */
/* test_rows.c - kernels over rows (softmax, reductions, norms, recurrent layers, attention) and transposed copies against the
 * operators' plain loops in double: odd sizes, tails, one row and many, every instruction set of this machine (the program runs itself
 * again per level), one to four threads with equal bits. Every input ends at a page that cannot be touched, at an odd address. */
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
#include "device/device.h"
#include "ir/op_impl.h"
#include "spore/grad.h"

static uint32_t seed = 7;
static double number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(int32_t)seed / 2147483648.0 * 2;
}

/* A float32 tensor whose last element is the last before a page without access. */
static sp_tensor *guarded(int rank, const int64_t *dims)
{
    sp_tensor *any, *out;
    int64_t count = 1, strides[SP_RANK_MAX];
    for (int i = 0; i < rank; i++) count *= dims[i];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = ((size_t)count * 4 + page) / page * page;
    char *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + room, page, PROT_NONE), 0);
    float *data = (float *)(void *)(memory + room) - count;
    for (int64_t i = 0; i < count; i++) data[i] = (float)number();
    sp__shape_strides(rank, dims, strides);
    assert_int_equal(sp_tensor_create(SP_DTYPE_F32, 1, (const int64_t[]){1}, &any), SP_OK);
    assert_int_equal(sp__tensor_handle(SP_DTYPE_F32, rank, dims, strides, any->storage, data, &out), SP_OK);
    sp_tensor_release(any);
    return out;
}
static void guarded_free(sp_tensor *t)
{
    if (!t) return;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)t->count * 4,
                 room = (bytes + page) / page * page;
    munmap(t->data + bytes - room, room + page);
    sp_tensor_release(t);
}

/* "[2,3] _ [4]": shapes, _ for an input that is left out. */
static int read_shapes(const char *text, sp_tensor **in)
{
    int n = 0;
    while (*text) {
        int64_t dims[SP_RANK_MAX];
        int rank = 0;
        if (*text == '_') {
            in[n++] = NULL;
            text++;
        } else {
            assert_int_equal(*text++, '[');
            while (*text != ']') {
                char *end;
                dims[rank++] = strtoll(text, &end, 10);
                text = *end == ',' ? end + 1 : end;
            }
            text++;
            in[n++] = guarded(rank, dims);
        }
        while (*text == ' ') text++;
    }
    return n;
}

static sp_tensor *cast(const sp_tensor *t, sp_dtype dtype)
{
    sp_tensor *out;
    assert_int_equal(sp_tensor_create(dtype, t->rank, t->dims, &out), SP_OK);
    assert_int_equal(sp_tensor_assign(out, t), SP_OK);
    return out;
}

/* The operator's plain loops, in double. */
static void plain(const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    sp_tensor *wide[SP_IN_MAX] = {NULL};
    sp_meta metas[SP_OUT_MAX];
    for (int i = 0; i < n_in; i++) wide[i] = in[i] ? cast(in[i], SP_DTYPE_F64) : NULL;
    sp_call c = {.op = op, .attrs = attrs, .n_in = n_in, .n_out = n_out, .in = wide, .out = out};
    if (op->infer(&c, metas) != SP_OK) fail_msg("%s: %s", op->name, sp_error_message());
    for (int k = 0; k < n_out; k++) assert_int_equal(sp__tensor_from_meta(&metas[k], &out[k]), SP_OK);
    const size_t bytes = op->workspace ? op->workspace(&c) : 0;
    c.work = bytes ? sp__alloc(bytes) : NULL;
    assert_int_equal(op->reference(&c), SP_OK);
    sp__free(c.work);
    for (int i = 0; i < n_in; i++) sp_tensor_release(wide[i]);
}

static int n_fast, n_plain; /* calls by who takes them */

/* bound: largest error, in units of 2^-24 of the largest result (at least 1). */
static void check(const char *name, const char *attrs_text, const char *shapes, double bound)
{
    const sp_op *op = sp_op_find(name);
    assert_non_null(op);
    sp_tensor *in[SP_IN_MAX] = {NULL}, *exact[SP_OUT_MAX], *first[SP_OUT_MAX], *again[SP_OUT_MAX];
    const int n_in = read_shapes(shapes, in), n_out = op->n_out ? op->n_out : 1;
    _Alignas(16) char attrs[256];
    sp_attr_text keep = {.n_blocks = 0};
    if (op->n_attrs) memcpy(attrs, op->defaults, op->attrs_bytes);
    if (sp__attrs_parse(op, attrs_text, attrs, &keep) != SP_OK) fail_msg("%s: %s", name, sp_error_message());
    plain(op, attrs, n_in, in, n_out, exact);
    sp_kernel kernel;
    sp_call call = {.op = op, .attrs = attrs, .n_in = n_in, .n_out = n_out, .in = in, .out = exact};
    assert_int_equal(sp__kernel_choose(&call, &kernel), SP_OK);
    if (kernel.run == op->reference) n_plain++;
    else n_fast++;
    int n;
    for (int threads = 1; threads <= 4; threads++) {
        sp_tensor **out = threads == 1 ? first : again;
        assert_int_equal(sp_threads_set(threads), SP_OK);
        if (sp_apply(op, op->n_attrs ? attrs : NULL, n_in, in, n_out, out, &n) != SP_OK)
            fail_msg("%s: %s", name, sp_error_message());
        for (int k = 0; k < n_out; k++) {
            if (threads > 1) {
                assert_memory_equal(first[k]->data, again[k]->data, sp_tensor_bytes(first[k]));
                sp_tensor_release(again[k]);
                continue;
            }
            double most = 1, error = 0;
            for (int64_t i = 0; i < exact[k]->count; i++)
                most = fmax(most, fabs(((double *)(void *)exact[k]->data)[i]));
            for (int64_t i = 0; i < exact[k]->count; i++) {
                const double d =
                    fabs((double)((float *)(void *)first[k]->data)[i] - ((double *)(void *)exact[k]->data)[i]);
                if (!(d <= error)) error = d;
            }
            if (!(error <= bound * 0x1p-24 * most))
                fail_msg("%s %s %s: result %d is off by %.1f of %.1f units", name, shapes, attrs_text, k,
                         error / most * 0x1p24, bound);
        }
    }
    for (int k = 0; k < n_out; k++) sp_tensor_release(exact[k]), sp_tensor_release(first[k]);
    for (int i = 0; i < n_in; i++) guarded_free(in[i]);
    sp__attr_text_free(&keep);
}

static const int lengths[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 255, 769};
#define EACH_LENGTH(n)                                                                                                 \
    for (size_t l_ = 0, n = 1; l_ < sizeof lengths / sizeof *lengths && (n = (size_t)lengths[l_], true); l_++)

static void softmax(void **state)
{
    (void)state;
    char shapes[128];
    static const char *const names[] = {"softmax", "log_softmax", "softmax_grad", "log_softmax_grad"};
    for (int k = 0; k < 4; k++) EACH_LENGTH(n)
        {
            /* exp and a quotient, sums of positive numbers; gradients of log_softmax add n terms that do not cancel */
            const double bound = k == 3 ? 8 + (double)n : 16;
            snprintf(shapes, sizeof shapes, k < 2 ? "[7,%zu]" : "[7,%zu] [7,%zu]", n, n);
            check(names[k], "axis=(-1,)", shapes, bound);
            snprintf(shapes, sizeof shapes, k < 2 ? "[2,5,%zu]" : "[2,5,%zu] [2,5,%zu]", n, n);
            check(names[k], "axis=(1,)", shapes, 32);
        }
    check("softmax", "axis=(-1,)", "[300,257]", 16);
    check("softmax", "axis=(1,2)", "[3,5,7]", 16);
    check("softmax", "axis=(0,)", "[70,300]", 16);
}

static void reductions(void **state)
{
    (void)state;
    char shapes[128];
    static const char *const names[] = {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"};
    for (int k = 0; k < 5; k++) {
        EACH_LENGTH(n)
        {
            snprintf(shapes, sizeof shapes, "[3,%zu]", n);
            check(names[k], "axis=(1,)", shapes, 64);
            check(names[k], "axis=(0,)", shapes, 4);
            snprintf(shapes, sizeof shapes, "[2,%zu,5]", n);
            check(names[k], "axis=(1,)", shapes, 64);
            check(names[k], "axis=(0,2)", shapes, 64);
        }
        /* A lane adds at most 64 numbers of a block; blocks are added in double. */
        check(names[k], "axis=(1,)", "[2,140001]", 70 * 64);
        check(names[k], "axis=(0,)", "[777,4099]", 70 * 64);
        check(names[k], "axis=None, keepdims=True", "[33,65]", 64);
    }
}

/* A reduction of one dtype against the operator's plain loops: of integers and extrema the same, of floats within `bound` units of 2^-52, 2^-11 or
 * 2^-8 of the largest; with one to four threads the same bits. */
static void check_dtype(const char *name, sp_dtype dtype, const char *shape, const char *attrs_text, double bound)
{
    const sp_op *op = sp_op_find(name);
    sp_tensor *base[1], *x, *exact, *first = NULL, *again;
    sp_attr_text keep = {.n_blocks = 0};
    _Alignas(16) char attrs[256];
    int n;
    assert_int_equal(read_shapes(shape, base), 1);
    const bool product = strcmp(name, "reduce_prod") == 0, integer = dtype == SP_DTYPE_I64 || dtype == SP_DTYPE_I32;
    float *v = (float *)(void *)base[0]->data;
    for (int64_t i = 0; i < base[0]->count; i++)
        v[i] = integer ? (float)(int)(v[i] * 50) + 1 : product ? 1 + v[i] / 512 : v[i];
    x = cast(base[0], dtype);
    memcpy(attrs, op->defaults, op->attrs_bytes);
    assert_int_equal(sp__attrs_parse(op, attrs_text, attrs, &keep), SP_OK);
    if (integer) {
        sp_meta meta;
        sp_call c = {.op = op, .attrs = attrs, .n_in = 1, .n_out = 1, .in = &x, .out = &exact};
        assert_int_equal(op->infer(&c, &meta), SP_OK);
        assert_int_equal(sp__tensor_from_meta(&meta, &exact), SP_OK);
        assert_int_equal(op->reference(&c), SP_OK);
    } else {
        plain(op, attrs, 1, &x, 1, &exact);
    }
    sp_kernel kernel;
    const sp_call call = {.op = op, .attrs = attrs, .n_in = 1, .n_out = 1, .in = &x, .out = &exact};
    assert_int_equal(sp__kernel_choose(&call, &kernel), SP_OK);
    assert_true(kernel.run != op->reference);
    for (int threads = 1; threads <= 4; threads++) {
        assert_int_equal(sp_threads_set(threads), SP_OK);
        assert_int_equal(sp_apply(op, attrs, 1, &x, 1, &again, &n), SP_OK);
        if (first) assert_memory_equal(first->data, again->data, sp_tensor_bytes(first));
        if (!first) first = again;
        else sp_tensor_release(again);
    }
    if (integer) {
        assert_memory_equal(first->data, exact->data, sp_tensor_bytes(exact));
    } else {
        sp_tensor *wide = cast(first, SP_DTYPE_F64);
        const double *a = (const double *)(const void *)wide->data, *b = (const double *)(const void *)exact->data;
        const double unit = dtype == SP_DTYPE_F64 ? 0x1p-52 : dtype == SP_DTYPE_F16 ? 0x1p-11 : 0x1p-8;
        double most = 1;
        for (int64_t i = 0; i < exact->count; i++) most = fmax(most, fabs(b[i]));
        for (int64_t i = 0; i < exact->count; i++)
            if (!(fabs(a[i] - b[i]) <= bound * unit * most))
                fail_msg("%s of %s %s %s: %g, not %g", name, sp_dtype_name(dtype), shape, attrs_text, a[i], b[i]);
        sp_tensor_release(wide);
    }
    sp_tensor_release(x), sp_tensor_release(exact), sp_tensor_release(first);
    guarded_free(base[0]);
    sp__attr_text_free(&keep);
}

static void reductions_of_dtypes(void **state)
{
    (void)state;
    static const char *const names[] = {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_mean"};
    static const sp_dtype dtypes[] = {SP_DTYPE_F16, SP_DTYPE_BF16, SP_DTYPE_F64, SP_DTYPE_I64, SP_DTYPE_I32};
    char shape[64];
    for (int k = 0; k < 5; k++)
        for (int d = 0; d < (k == 4 ? 3 : 5); d++) {
            EACH_LENGTH(n)
            {
                /* Roundings of n terms and of the result; half precision adds in floats and rounds once. */
                const double bound = d < 2 ? 1.1 : (double)n + 2;
                snprintf(shape, sizeof shape, "[3,%zu]", n);
                check_dtype(names[k], dtypes[d], shape, "axis=(1,)", bound);
                check_dtype(names[k], dtypes[d], shape, "axis=(0,)", bound);
                snprintf(shape, sizeof shape, "[2,%zu,5]", n);
                check_dtype(names[k], dtypes[d], shape, "axis=(1,)", bound);
            }
            check_dtype(names[k], dtypes[d], "[2,140001]", "axis=(1,)", d < 2 ? 4 : 2000);
            check_dtype(names[k], dtypes[d], "[300,1100]", "axis=(0,)", d < 2 ? 1.1 : 302);
        }
}

static void norms(void **state)
{
    (void)state;
    char shapes[128];
    EACH_LENGTH(n)
    {
        if (n < 3) continue; /* nearly no variance: the result is as ill-conditioned as it gets */
        snprintf(shapes, sizeof shapes, "[70,%zu] [%zu] [%zu]", n, n, n);
        check("layer_norm", "begin_norm_axis=1, begin_params_axis=1, epsilon=0.01", shapes, 64);
        snprintf(shapes, sizeof shapes, "[70,%zu] [%zu] [70,%zu]", n, n, n);
        check("layer_norm_grad", "begin_norm_axis=1, begin_params_axis=1, epsilon=0.01", shapes, 400);
        check("rms_norm_grad", "epsilon=0.01", shapes, 400);
        snprintf(shapes, sizeof shapes, "[7,%zu] [%zu]", n, n);
        check("rms_norm", "epsilon=0.01", shapes, 64);
    }
    check("layer_norm", "begin_norm_axis=2, begin_params_axis=2, epsilon=0.01", "[2,3,9] _ _", 64);
    check("layer_norm", "begin_norm_axis=1, begin_params_axis=2, epsilon=0.01", "[2,3,9] [9] [9]", 64);
    check("layer_norm", "begin_norm_axis=1, begin_params_axis=1, epsilon=0.01", "[2,9001] [9001] [9001]", 256);
}

static void recurrent(void **state)
{
    (void)state;
    char shapes[160];
    static const int hidden[] = {1, 3, 8, 16, 17, 33, 70}, batch[] = {1, 2, 7, 16, 19};
    for (size_t h = 0; h < sizeof hidden / sizeof *hidden; h++)
        for (size_t b = 0; b < sizeof batch / sizeof *batch; b++) {
            const int H = hidden[h], B = batch[b];
            for (int reverse = 0; reverse < 2; reverse++) {
                snprintf(shapes, sizeof shapes, "[3,%d,%d] [%d,%d] [%d,%d] [%d,%d] [%d] _", B, 4 * H, B, H, B, H, 4 * H,
                         H, 4 * H);
                /* sums of H products through three steps, slopes of at most 1 */
                check("rnn_scan", reverse ? "mode=lstm, reverse=True" : "mode=lstm", shapes, 40 + 4 * H);
                snprintf(shapes, sizeof shapes, "[3,%d,%d] [%d,%d] _ [%d,%d] [%d] _", B, 3 * H, B, H, 3 * H, H, 3 * H);
                check("rnn_scan", reverse ? "mode=gru, reverse=True" : "mode=gru", shapes, 40 + 4 * H);
                snprintf(shapes, sizeof shapes,
                         "[3,%d,%d] [%d,%d] [%d,%d] [%d,%d] _ [3,%d,%d] [3,%d,%d] [%d,%d] [%d,%d] _", B, H, B, H, B, H,
                         4 * H, H, B, H, B, 5 * H, B, H, B, H);
                check("rnn_scan_grad", reverse ? "mode=lstm, reverse=True" : "mode=lstm", shapes, 400 + 40 * H);
                snprintf(shapes, sizeof shapes, "[3,%d,%d] [%d,%d] _ [%d,%d] _ [3,%d,%d] [3,%d,%d] _ _ [3,%d,%d]", B, H,
                         B, H, 3 * H, H, B, H, B, 4 * H, B, 4 * H);
                check("rnn_scan_grad", reverse ? "mode=gru, reverse=True" : "mode=gru", shapes, 400 + 40 * H);
            }
        }
}

static void attention(void **state)
{
    (void)state;
    char shapes[160];
    static const int sizes[][4] = {{1, 1, 1, 1},     {3, 5, 4, 2},      {7, 17, 16, 16},
                                   {13, 33, 31, 65}, {97, 100, 64, 64}, {200, 515, 20, 33}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int causal = 0; causal < 2; causal++) {
            const int L = sizes[i][0], S = sizes[i][1], D = sizes[i][2], E = sizes[i][3];
            if (share() > 1 && (causal != (int)i % 2 || L * S > 10000)) continue;
            const char *attrs = causal ? "scale=0.25, causal=True" : "scale=0.25";
            snprintf(shapes, sizeof shapes, "[2,3,%d,%d] [2,3,%d,%d] [2,3,%d,%d] %s", L, D, S, D, S, E, "_");
            check("attention", attrs, shapes, 16 + D);
            snprintf(shapes, sizeof shapes, "[2,3,%d,%d] [2,3,%d,%d] [2,3,%d,%d] [2,1,%d,%d] [2,3,%d,%d]", L, D, S, D,
                     S, E, L, S, L, E);
            check("attention_grad", attrs, shapes, 64 + 4 * (D + E));
        }
}

/* Sums run in double and are rounded once; long lines run block by block. */
static void running_sums(void **state)
{
    (void)state;
    check("scan_sum", "axis=1", "[2,70001]", 2);
    check("scan_sum", "axis=0", "[131072]", 2);
    check("scan_sum", "axis=1, exclusive=True", "[3,70001]", 2);
    check("scan_sum", "axis=0, reverse=True", "[70,130]", 2);
    check("scan_sum", "axis=1", "[7,33]", 2);
}

static void transposed_copies(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{4, 4, 4}, {3, 17, 5}, {1, 16, 64}, {2, 33, 65}, {5, 100, 70}, {70, 5, 66}};
    static const int orders[][3] = {{0, 2, 1}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}};
    static const sp_dtype dtypes[] = {SP_DTYPE_U8, SP_DTYPE_F16, SP_DTYPE_F32, SP_DTYPE_F64, SP_DTYPE_C128};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
            for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
                sp_tensor *x, *turned, *copy;
                int64_t dims[3], strides[3];
                const size_t size = sp_dtype_bytes(dtypes[d]);
                assert_int_equal(sp_tensor_create(dtypes[d], 3, shapes[s], &x), SP_OK);
                for (size_t i = 0; i < sp_tensor_bytes(x); i++) x->data[i] = (char)(i * 37 + i / 251);
                for (int k = 0; k < 3; k++) dims[k] = x->dims[orders[o][k]], strides[k] = x->strides[orders[o][k]];
                assert_int_equal(sp__tensor_handle(dtypes[d], 3, dims, strides, x->storage, x->data, &turned), SP_OK);
                assert_int_equal(sp_tensor_copy(turned, &copy), SP_OK);
                int64_t at = 0;
                for (int64_t i = 0; i < dims[0]; i++)
                    for (int64_t j = 0; j < dims[1]; j++)
                        for (int64_t k = 0; k < dims[2]; k++, at++)
                            assert_memory_equal(
                                copy->data + (size_t)at * size,
                                x->data + (size_t)(i * strides[0] + j * strides[1] + k * strides[2]) * size, size);
                sp_tensor_release(copy), sp_tensor_release(turned), sp_tensor_release(x);
            }
}

/* The calls above must have gone where they should: to the fast kernels, but for sums over axes that are not neighbours (one in four of
 * the reductions by length, where the outer one is longer than 1) and parameters that repeat inside a row. */
static void fast_kernels_were_taken(void **state)
{
    (void)state;
    assert_true(n_fast > 8 * n_plain);
    assert_true(n_plain > 0);
}

/* NaN anywhere in a row is NaN all over it; infinities as in the plain loops. */
static void odd_numbers(void **state)
{
    (void)state;
    const sp_op *op = sp_op_find("softmax");
    for (int where = 0; where < 40; where++) {
        sp_tensor *x, *y;
        int n;
        assert_int_equal(sp_tensor_create(SP_DTYPE_F32, 2, (const int64_t[]){3, 40}, &x), SP_OK);
        float *v = (float *)(void *)x->data;
        for (int i = 0; i < 120; i++) v[i] = (float)number();
        v[where] = NAN;
        v[40 + where] = -INFINITY;
        v[80 + where] = INFINITY;
        assert_int_equal(sp_apply(op, NULL, 1, &x, 1, &y, &n), SP_OK);
        const float *r = (const float *)(const void *)y->data;
        for (int i = 0; i < 40; i++) assert_true(isnan(r[i]));
        assert_true(r[40 + where] == 0);
        assert_true(isnan(r[80 + where]));
        sp_tensor_release(y);
        assert_int_equal(sp_apply(sp_op_find("reduce_max"), NULL, 1, &x, 1, &y, &n), SP_OK);
        assert_true(isnan(*(const float *)(const void *)y->data));
        sp_tensor_release(y), sp_tensor_release(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax),
        cmocka_unit_test(reductions),
        cmocka_unit_test(reductions_of_dtypes),
        cmocka_unit_test(norms),
        cmocka_unit_test(recurrent),
        cmocka_unit_test(attention),
        cmocka_unit_test(running_sums),
        cmocka_unit_test(transposed_copies),
        cmocka_unit_test(odd_numbers),
        cmocka_unit_test(fast_kernels_were_taken),
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
