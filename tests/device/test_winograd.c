/* SPDX-License-Identifier: Apache-2.0 */
/* test_winograd.c - 3x3 convolutions by Winograd's transforms: the error bound of winograd.h holds for several kinds of numbers, and
 * what the transforms cannot take comes out as from the plain loops. Shapes, threads and guard pages are test_conv.c's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/share.h"
#include "device/cpu/conv_job.h"
#include "ir/op_impl.h"

static uint64_t seed = 11;
static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 11) / 9007199254740992.0;
}

typedef enum { EVEN, POSITIVE, WIDE_RANGE, CANCELLING } numbers;
static const char *const numbers_name[] = {"in [-1, 1]", "in [0, 1]", "2^-15 to 2^15", "cancelling"};

static double number(numbers kind, int64_t i)
{
    switch (kind) {
    case EVEN: return 2 * uniform() - 1;
    case POSITIVE: return uniform();
    case WIDE_RANGE: return ldexp(2 * uniform() - 1, (int)(uniform() * 31) - 15);
    default: return i % 2 ? 1 + 1e-4 * uniform() : -1 - 1e-4 * uniform();
    }
}

static sp_tensor *made(sp_dtype dtype, int rank, const int64_t *dims)
{
    sp_tensor *t;
    assert_int_equal(sp_tensor_create(dtype, rank, dims, &t), SP_OK);
    return t;
}

/* float32 and the same in float64. */
static void pair(numbers kind, const int64_t *dims, sp_tensor **narrow, sp_tensor **wide, double *largest)
{
    *narrow = made(SP_DTYPE_F32, 4, dims);
    *wide = made(SP_DTYPE_F64, 4, dims);
    *largest = 0;
    for (int64_t i = 0; i < (*narrow)->count; i++) {
        float v = (float)number(kind, i);
        ((float *)(void *)(*narrow)->data)[i] = v;
        ((double *)(void *)(*wide)->data)[i] = (double)v;
        *largest = fmax(*largest, fabs((double)v));
    }
}

static sp_tensor *plain(const sp_op *op, const void *attrs, sp_tensor *a, sp_tensor *b)
{
    sp_meta meta;
    sp_tensor *out = NULL, *in[3] = {a, b, NULL};
    sp_call c = {
        .op = op, .attrs = attrs, .n_in = strcmp(op->name, "conv2d") == 0 ? 3 : 2, .n_out = 1, .in = in, .out = &out};
    assert_int_equal(op->infer(&c, &meta), SP_OK);
    assert_int_equal(sp__tensor_from_meta(&meta, &out), SP_OK);
    assert_int_equal(op->reference(&c), SP_OK);
    return out;
}

static sp_tensor *fast(const sp_op *op, const void *attrs, sp_tensor *a, sp_tensor *b)
{
    sp_tensor *out = NULL, *in[3] = {a, b, NULL};
    int n;
    if (sp_apply(op, attrs, strcmp(op->name, "conv2d") == 0 ? 3 : 2, in, 1, &out, &n) != SP_OK)
        fail_msg("%s", sp_error_message());
    return out;
}

static double error_of(const sp_tensor *found, const sp_tensor *exact)
{
    double worst = 0;
    for (int64_t i = 0; i < exact->count; i++)
        worst = fmax(worst, fabs((double)((float *)(void *)found->data)[i] - ((double *)(void *)exact->data)[i]));
    return worst;
}

/* The forward layer of the cases as one chain of fused multiply-adds an element: what the bound is compared with. */
static double chain_error(const sp_tensor *x, const sp_tensor *w, const sp_tensor *exact)
{
    double worst = 0;
    const float *xs = (const float *)(const void *)x->data, *ws = (const float *)(const void *)w->data;
    int64_t ic = x->dims[1], h = x->dims[2], width = x->dims[3], oc = w->dims[0];
    for (int64_t i = 0; i < exact->count; i += 7) { /* some of them */
        int64_t n = i / (oc * h * width), o = i / (h * width) % oc, r = i / width % h, c = i % width;
        float sum = 0;
        for (int64_t k = 0; k < ic * 9; k++) {
            int64_t y = r + k / 3 % 3 - 1, z = c + k % 3 - 1;
            if (y >= 0 && y < h && z >= 0 && z < width)
                sum = fmaf(xs[((n * ic + k / 9) * h + y) * width + z], ws[o * ic * 9 + k], sum);
        }
        worst = fmax(worst, fabs((double)sum - ((double *)(void *)exact->data)[i]));
    }
    return worst;
}

typedef struct {
    const char *op, *attrs;
    int64_t a[4], b[4];
    double terms; /* of the bound: roundings, and how much is added up */
    double sum;
} bound_case;

static void check_bound(const bound_case *t, numbers kind)
{
    const double u = ldexp(1, -24);
    const sp_op *op = sp_op_find(t->op);
    sp_attr_text keep = {.n_blocks = 0};
    char attrs[256] = {0};
    if (sp__attrs_parse(op, t->attrs, attrs, &keep) != SP_OK) fail_msg("%s", sp_error_message());
    sp_tensor *a, *b, *wide_a, *wide_b;
    double a_largest, b_largest;
    pair(kind, t->a, &a, &wide_a, &a_largest);
    pair(kind, t->b, &b, &wide_b, &b_largest);
    sp_tensor *exact = plain(op, attrs, wide_a, wide_b), *found = fast(op, attrs, a, b);
    double chain = strcmp(t->op, "conv2d") == 0 ? chain_error(a, b, exact) : INFINITY;
    double bound = t->terms * u * t->sum * a_largest * b_largest * 1.01, error = error_of(found, exact);
    if (getenv("SPORE_TEST_VERBOSE"))
        printf("%-20s %-14s error %.3g, of a chain %.3g, bound %.3g\n", t->op, numbers_name[kind], error, chain, bound);
    if (!(error <= bound)) fail_msg("%s, numbers %s: error %g, bound %g", t->op, numbers_name[kind], error, bound);
    if (!(error <= 2 * chain))
        fail_msg("%s, numbers %s: error %g, a chain of FMA has %g", t->op, numbers_name[kind], error, chain);
    assert_true(error > 0); /* else nothing was rounded, and nothing tested */
    sp_tensor *all[] = {a, b, wide_a, wide_b, exact, found};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sp_tensor_release(all[i]);
    sp__attr_text_free(&keep);
}

static void error_is_bounded(void **state)
{
    (void)state;
    enum { POSITIONS = 4 * 14 * 14, BLOCK = 1024 }; /* positions of a block of tiles, at most */
    static const bound_case cases[] = {
        {"conv2d", "pad=1", {4, 64, 14, 14}, {64, 64, 3, 3}, 64 + 12, 64 * 64},
        {"conv2d_input_grad", "pad=1, input_size=(14,14)", {4, 64, 14, 14}, {64, 64, 3, 3}, 64 + 12, 64 * 64},
        {"conv2d_weight_grad",
         "pad=1, kernel_size=(3,3)",
         {4, 64, 14, 14},
         {4, 64, 14, 14},
         BLOCK / 4 + POSITIONS / BLOCK + 12,
         9 * POSITIONS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (numbers kind = EVEN; kind <= CANCELLING; kind++)
            if (share() == 1 || (int)kind == (int)i) check_bound(&cases[i], kind);
}

/* The layers above are computed this way at all, small ones and strides are not. */
static void choice_follows_shapes(void **state)
{
    (void)state;
    sp__conv_job job = {.g = {.batch = 4, .in_channels = 64, .out_channels = 64, .group = 1}};
    sp__window_init(&job.g.w, 2);
    for (int d = 1; d < SP_SPATIAL; d++) {
        job.g.w.in[d] = job.g.w.out[d] = 14;
        job.g.w.kernel[d] = 3;
        job.g.w.pad[d] = job.g.w.pad_end[d] = 1;
    }
    sp__conv_plan(SP_DTYPE_F32, &job);
    assert_true(sp__winograd_takes(&job));
    assert_true(sp__winograd_takes_weight(&job));
    job.g.w.stride[2] = 2;
    assert_false(sp__winograd_takes(&job));
    job.g.w.stride[2] = 1;
    job.g.in_channels = job.g.out_channels = 4;
    sp__conv_plan(SP_DTYPE_F32, &job);
    assert_false(sp__winograd_takes(&job));
}

/* One number that the transforms would spread over its tile. */
static void check_special(const char *name, const char *attrs_text, const int64_t *a_dims, const int64_t *b_dims,
                          float special, bool in_b)
{
    const sp_op *op = sp_op_find(name);
    sp_attr_text keep = {.n_blocks = 0};
    char attrs[256] = {0};
    assert_int_equal(sp__attrs_parse(op, attrs_text, attrs, &keep), SP_OK);
    sp_tensor *a, *b, *wide_a, *wide_b;
    double largest;
    pair(EVEN, a_dims, &a, &wide_a, &largest);
    pair(EVEN, b_dims, &b, &wide_b, &largest);
    ((float *)(void *)(in_b ? b : a)->data)[40] = special;
    sp_tensor *want = plain(op, attrs, a, b), *found = fast(op, attrs, a, b);
    for (int64_t i = 0; i < want->count; i++) {
        float w = ((float *)(void *)want->data)[i], f = ((float *)(void *)found->data)[i];
        if (isnan(w) || isinf(w)) assert_true(isnan(w) ? isnan(f) : f == w);
        else assert_true(fabsf(f - w) <= 1e-3F + 1e-5F * fabsf(w));
    }
    sp_tensor *all[] = {a, b, wide_a, wide_b, want, found};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sp_tensor_release(all[i]);
    sp__attr_text_free(&keep);
}

static void special_numbers_stay_where_they_are(void **state)
{
    (void)state;
    static const float specials[] = {INFINITY, -INFINITY, NAN, 3e38F};
    static const int64_t x[4] = {4, 64, 14, 14}, w[4] = {64, 64, 3, 3}, y[4] = {4, 64, 14, 14};
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        for (int in_b = 0; in_b < 2; in_b++) {
            const int which = share() == 1 ? 0 : 1 + (int)i * 2 + in_b; /* 0: all three, else each of them once */
            if (which < 2) check_special("conv2d", "pad=1", x, w, specials[i], in_b);
            if (which == 0 || which == 4)
                check_special("conv2d_input_grad", "pad=1, input_size=(14,14)", y, w, specials[i], in_b);
            if (which == 0 || which == 5)
                check_special("conv2d_weight_grad", "pad=1, kernel_size=(3,3)", x, y, specials[i], in_b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choice_follows_shapes),
        cmocka_unit_test(error_is_bounded),
        cmocka_unit_test(special_numbers_stay_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
