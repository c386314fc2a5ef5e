/* SPDX-License-Identifier: Apache-2.0 */
/* test_conv.c - fast convolutions against the plain loops of the operator; the plain loops against the identity that
 * defines the gradients; matmul against its own plain loops; all with one thread and with three, which must agree in
 * every bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/again.h"
#include "base/share.h"
#include "device/cpu/tiles.h"
#include "device/device.h"
#include "ir/op_impl.h"
#include "spore/grad.h"
#include "spore/ops.h"

#include "guarded.h"

static int64_t between(int64_t low, int64_t high) { return low + draw(high - low + 1); }

static sp_tensor *filled(sp_dtype dtype, int rank, const int64_t *dims)
{
    sp_tensor *wide, *out;
    assert_int_equal(sp_tensor_create(SP_DTYPE_F64, rank, dims, &wide), SP_OK);
    for (int64_t i = 0; i < wide->count; i++) ((double *)(void *)wide->data)[i] = (double)between(-64, 64) / 32;
    if (sp_dtype_kind(dtype) == 'i')
        for (int64_t i = 0; i < wide->count; i++) ((double *)(void *)wide->data)[i] *= 32;
    out = guarded(dtype, rank, dims);
    assert_int_equal(sp_tensor_assign(out, wide), SP_OK);
    sp_tensor_release(wide);
    return out;
}

static double at(const sp_tensor *t, int64_t i)
{
    return t->dtype == SP_DTYPE_F32 ? (double)((float *)(void *)t->data)[i] : ((double *)(void *)t->data)[i];
}

/* The operator's own loops. */
static sp_tensor *plain(const sp_op *op, const void *attrs, int n_in, sp_tensor **in)
{
    sp_meta meta;
    sp_tensor *out = NULL;
    sp_call c = {.op = op, .attrs = attrs, .n_in = n_in, .n_out = 1, .in = in, .out = &out};
    assert_int_equal(op->infer(&c, &meta), SP_OK);
    assert_int_equal(sp__tensor_from_meta(&meta, &out), SP_OK);
    assert_int_equal(op->reference(&c), SP_OK);
    return out;
}

static sp_tensor *fast(const sp_op *op, const void *attrs, int n_in, sp_tensor **in, int threads)
{
    sp_tensor *out = NULL;
    int n;
    assert_int_equal(sp_threads_set(threads), SP_OK);
    if (sp_apply(op, attrs, n_in, in, 1, &out, &n) != SP_OK) fail_msg("%s", sp_error_message());
    return out;
}

typedef struct {
    const sp_tensor *out;
    unsigned char *seen, *kept; /* by element: how often, and the contents at that moment */
} watcher;

static void watch(void *context, int64_t start, int64_t n_rows, int64_t row_step, int64_t n)
{
    const watcher *w = context;
    size_t size = sp_dtype_bytes((sp_dtype)w->out->dtype);
    for (int64_t r = 0; r < n_rows; r++)
        for (int64_t i = 0; i < n; i++) {
            int64_t at = start + r * row_step + i;
            w->seen[at]++;
            memcpy(w->kept + (size_t)at * size, (const char *)w->out->data + (size_t)at * size, size);
        }
}

/* With panels of weights made ahead the kernel gives the same bits; an epilogue sees each element once, in its final form. */
static void check_extras(const sp_op *op, const void *attrs, int n_in, sp_tensor **in, const sp_tensor *want)
{
    sp_tensor *out;
    assert_int_equal(sp_tensor_create((sp_dtype)want->dtype, want->rank, want->dims, &out), SP_OK);
    watcher w = {.out = out, .seen = sp__alloc_zero((size_t)want->count), .kept = sp__alloc(sp_tensor_bytes(want))};
    const sp_epilogue epilogue = {watch, &w};
    sp_call c = {.op = op, .attrs = attrs, .n_in = n_in, .n_out = 1, .in = in, .out = &out, .epilogue = &epilogue};
    sp_kernel kernel;
    assert_int_equal(sp__kernel_choose(&c, &kernel), SP_OK);
    size_t bytes = kernel.prepared_bytes ? kernel.prepared_bytes(&c) : 0;
    void *prepared = sp__alloc(bytes);
    if (bytes) {
        assert_int_equal(kernel.prepare(&c, prepared), SP_OK);
        c.prepared = prepared;
    }
    c.work = sp__alloc(kernel.workspace ? kernel.workspace(&c) : 0);
    assert_int_equal(sp__kernel_run(&kernel, &c), SP_OK);
    assert_memory_equal(out->data, want->data, sp_tensor_bytes(want));
    if (want->count) assert_memory_equal(w.kept, want->data, sp_tensor_bytes(want));
    for (int64_t i = 0; i < want->count; i++) assert_int_equal(w.seen[i], 1);
    sp__free(w.seen), sp__free(w.kept), sp__free(prepared), sp__free(c.work);
    sp_tensor_release(out);
}

static void compare(const char *what, const char *attrs_text, const sp_op *op, const void *attrs, int n_in,
                    sp_tensor **in, double terms)
{
    sp_tensor *want = plain(op, attrs, n_in, in), *found = fast(op, attrs, n_in, in, 1);
    sp_tensor *again = fast(op, attrs, n_in, in, 3);
    assert_true(sp__tensor_same_shape(want, found));
    assert_memory_equal(found->data, again->data, sp_tensor_bytes(found));
    check_extras(op, attrs, n_in, in, found);
    if (sp_dtype_kind((sp_dtype)found->dtype) != 'f') {
        assert_memory_equal(found->data, want->data, sp_tensor_bytes(found));
    } else if (found->dtype == SP_DTYPE_F32 || found->dtype == SP_DTYPE_F64) {
        double tolerance = 4 * sqrt(terms + 1) * (found->dtype == SP_DTYPE_F32 ? 6e-7 : 1e-15) +
                           terms * 1e-8 * (found->dtype == SP_DTYPE_F32);
        for (int64_t i = 0; i < want->count; i++)
            if (!(fabs(at(found, i) - at(want, i)) <= tolerance))
                fail_msg("%s %s: element %lld is %.9g, wanted %.9g", what, attrs_text, (long long)i, at(found, i),
                         at(want, i));
    } else { /* half: the last bit may round the other way */
        sp_tensor *a, *b;
        assert_int_equal(sp_tensor_create(SP_DTYPE_F64, want->rank, want->dims, &a), SP_OK);
        assert_int_equal(sp_tensor_create(SP_DTYPE_F64, want->rank, want->dims, &b), SP_OK);
        assert_int_equal(sp_tensor_assign(a, want), SP_OK);
        assert_int_equal(sp_tensor_assign(b, found), SP_OK);
        for (int64_t i = 0; i < want->count; i++)
            assert_true(fabs(at(a, i) - at(b, i)) <= 0.01 * fabs(at(a, i)) + 1e-3);
        sp_tensor_release(a), sp_tensor_release(b);
    }
    sp_tensor_release(want), sp_tensor_release(found), sp_tensor_release(again);
}

typedef struct {
    int n;
    int64_t batch, ic, oc, group, in[3], kernel[3];
    char attrs[200];
} conv_case;

static double inner(const sp_tensor *a, const sp_tensor *b)
{
    assert_true(sp__tensor_same_shape(a, b));
    double sum = 0;
    for (int64_t i = 0; i < a->count; i++)
        sum += (double)((int64_t *)(void *)a->data)[i] * (double)((int64_t *)(void *)b->data)[i];
    return sum;
}

/* All three operators of one case. */
static void check(const conv_case *t, sp_dtype dtype)
{
    char name[64], text[300], list[80];
    snprintf(name, sizeof name, "conv%dd", t->n);
    const sp_op *op = sp_op_find(name);
    int64_t x_dims[5] = {t->batch, t->ic}, w_dims[5] = {t->oc, t->ic / t->group};
    for (int d = 0; d < t->n; d++) {
        x_dims[2 + d] = t->in[d];
        w_dims[2 + d] = t->kernel[d];
    }
    sp_tensor *x = filled(dtype, t->n + 2, x_dims), *w = filled(dtype, t->n + 2, w_dims);
    sp_tensor *bias = draw(2) ? filled(dtype, 1, &t->oc) : NULL;
    sp_attr_text keep = {.n_blocks = 0};
    char attrs[256] = {0}, attrs_input[256] = {0}, attrs_weight[256] = {0};
    assert_true(op->attrs_bytes <= sizeof attrs);
    if (sp__attrs_parse(op, t->attrs, attrs, &keep) != SP_OK) fail_msg("%s", sp_error_message());
    double terms = (double)(w->count / (t->oc ? t->oc : 1));
    snprintf(text, sizeof text, "x %lldx%lldx%lldx%lldx%lld oc %lld kernel %lldx%lldx%lld %s", (long long)t->batch,
             (long long)t->ic, (long long)t->in[0], (long long)t->in[1], (long long)t->in[2], (long long)t->oc,
             (long long)t->kernel[0], (long long)t->kernel[1], (long long)t->kernel[2], t->attrs);
    compare(name, text, op, attrs, 3, (sp_tensor *[]){x, w, bias}, terms);

    sp_tensor *y = plain(op, attrs, 3, (sp_tensor *[]){x, w, NULL}), *dout = filled(dtype, y->rank, y->dims);
    const char *comma = t->attrs[0] ? ", " : "";
    snprintf(name, sizeof name, "conv%dd_input_grad", t->n);
    const sp_op *by_input = sp_op_find(name);
    int used = snprintf(list, sizeof list, "%s%sinput_size=(", "", comma);
    for (int d = 0; d < t->n; d++)
        used += snprintf(list + used, sizeof list - (size_t)used, "%lld,", (long long)t->in[d]);
    char both[300];
    snprintf(both, sizeof both, "%s%s)", t->attrs, list);
    assert_int_equal(sp__attrs_parse(by_input, both, attrs_input, &keep), SP_OK);
    compare(name, text, by_input, attrs_input, 2, (sp_tensor *[]){dout, w}, (double)(w->count / w->dims[1]));

    snprintf(name, sizeof name, "conv%dd_weight_grad", t->n);
    const sp_op *by_weight = sp_op_find(name);
    used = snprintf(list, sizeof list, "%skernel_size=(", comma);
    for (int d = 0; d < t->n; d++)
        used += snprintf(list + used, sizeof list - (size_t)used, "%lld,", (long long)t->kernel[d]);
    snprintf(both, sizeof both, "%s%s)", t->attrs, list);
    assert_int_equal(sp__attrs_parse(by_weight, both, attrs_weight, &keep), SP_OK);
    compare(name, text, by_weight, attrs_weight, 2, (sp_tensor *[]){x, dout}, (double)(y->count / y->dims[1]));

    if (dtype == SP_DTYPE_I64) { /* <conv(x, w), dout> = <x, dx> = <w, dw>, exactly */
        sp_tensor *dx = plain(by_input, attrs_input, 2, (sp_tensor *[]){dout, w});
        sp_tensor *dw = plain(by_weight, attrs_weight, 2, (sp_tensor *[]){x, dout});
        double want = inner(y, dout);
        assert_true(inner(x, dx) == want);
        assert_true(inner(w, dw) == want);
        sp_tensor_release(dx), sp_tensor_release(dw);
    }
    sp__attr_text_free(&keep);
    sp_tensor_release(x), sp_tensor_release(w), sp_tensor_release(bias), sp_tensor_release(y), sp_tensor_release(dout);
}

static const sp_dtype dtypes[] = {SP_DTYPE_F32, SP_DTYPE_F64, SP_DTYPE_I64, SP_DTYPE_F16, SP_DTYPE_BF16};

static void known_layers(void **state)
{
    (void)state;
    static const conv_case cases[] = {
        {2, 4, 1, 6, 1, {32, 32, 1}, {5, 5, 1}, ""},
        {2, 4, 6, 16, 1, {14, 14, 1}, {5, 5, 1}, ""},
        {2, 2, 3, 20, 1, {33, 31, 1}, {7, 7, 1}, "stride=2, pad=3"},
        {2, 2, 32, 40, 1, {14, 14, 1}, {3, 3, 1}, "pad_mode=same"},
        {2, 1, 70, 20, 1, {9, 9, 1}, {3, 3, 1}, "pad=1"},
        {2, 3, 33, 40, 1, {23, 19, 1}, {3, 3, 1}, "pad=(0,2,1,0)"},
        {2, 1, 33, 40, 1, {61, 58, 1}, {3, 3, 1}, "pad=1"},
        {2, 2, 80, 60, 1, {9, 35, 1}, {3, 3, 1}, "pad_mode=valid"},
        {2, 1, 24, 24, 1, {3, 240, 1}, {3, 3, 1}, "pad=(2,2,2,2)"},
        {2, 2, 70, 130, 1, {14, 13, 1}, {1, 1, 1}, ""},
        {2, 1, 600, 220, 1, {5, 9, 1}, {1, 1, 1}, ""},
        {2, 2, 40, 33, 1, {7, 7, 1}, {1, 1, 1}, ""},
        {2, 2, 24, 24, 1, {8, 8, 1}, {1, 1, 1}, "stride=2"},
        {2, 3, 20, 37, 1, {7, 7, 1}, {1, 1, 1}, ""},
        {2, 2, 18, 20, 1, {14, 14, 1}, {3, 3, 1}, "stride=2, pad=1"},
        {2, 2, 16, 9, 1, {13, 12, 1}, {3, 3, 1}, "stride=2, pad_mode=same"},
        {2, 1, 17, 6, 1, {15, 11, 1}, {4, 5, 1}, "stride=(2,3), pad=(2,1,0,4)"},
        {2, 1, 16, 5, 1, {12, 10, 1}, {2, 2, 1}, "stride=3"},
        {2, 1, 16, 5, 1, {12, 10, 1}, {3, 3, 1}, "stride=(1,2), dilation=(2,1), pad=1"},
        {1, 2, 32, 20, 2, {31, 1, 1}, {5, 1, 1}, "stride=4, pad=1, group=2"},
        {3, 1, 16, 6, 1, {5, 6, 7}, {3, 3, 3}, "pad=1, stride=2"},
        {2, 2, 12, 12, 12, {15, 15, 1}, {3, 3, 1}, "pad=1, group=12"},
        {2, 2, 12, 24, 12, {15, 15, 1}, {3, 3, 1}, "pad=1, group=12, stride=2"},
        {2, 2, 12, 12, 12, {45, 71, 1}, {3, 3, 1}, "pad=(1,1,0,1), group=12, stride=2"},
        {2, 2, 12, 24, 12, {7, 7, 1}, {3, 3, 1}, "pad=1, group=12"},
        {2, 1, 5, 5, 5, {300, 9, 1}, {5, 3, 1}, "pad=(2,1,0,1), group=5"},
        {2, 1, 3, 3, 3, {70, 150, 1}, {5, 5, 1}, "pad=2, group=3, stride=(1,3)"},
        {2, 1, 3, 6, 3, {90, 130, 1}, {3, 2, 1}, "pad=(4,5,3,0), group=3, dilation=(3,2)"},
        {1, 2, 4, 8, 4, {300, 1, 1}, {7, 1, 1}, "pad=9, group=4, dilation=2"},
        {2, 3, 9, 7, 1, {10, 9, 1}, {1, 1, 1}, "stride=(2,3)"},
        {2, 0, 2, 3, 1, {5, 5, 1}, {3, 3, 1}, ""},
        {2, 1, 2, 3, 1, {4, 4, 1}, {1, 1, 1}, "pad=2"},
        {1, 3, 8, 10, 2, {50, 1, 1}, {5, 1, 1}, "dilation=3, pad=(2,4), group=2"},
        {3, 2, 3, 8, 1, {5, 6, 7}, {3, 3, 3}, "pad=1, stride=(1,2,1)"},
        {2, 1, 2, 2, 1, {20, 20, 1}, {12, 13, 1}, "stride=3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
            if ((d < 2 || (i + d) % 3 == 0) && share_takes((int64_t)(i * 5 + d))) check(&cases[i], dtypes[d]);
}

/* What a CPU with AMX computes, by the emulation: layers large enough for tiles to be chosen, and numbers they cannot hold. */
static void by_tiles(void **state)
{
    (void)state;
    if (getenv("SPORE_ISA")) return; /* the emulation is the same at every level */
    static const conv_case cases[] = {
        {2, 2, 80, 82, 1, {9, 9, 1}, {3, 3, 1}, "pad=1"},
        {1, 2, 160, 160, 2, {80, 1, 1}, {3, 1, 1}, "dilation=2, group=2"},
        {2, 2, 136, 130, 1, {14, 14, 1}, {1, 1, 1}, ""},
    };
    /* Chosen at all? Then the last bits are others. */
    sp_tensor *x = filled(SP_DTYPE_F32, 4, (int64_t[]){4, 32, 14, 14}),
              *w = filled(SP_DTYPE_F32, 4, (int64_t[]){128, 32, 3, 3});
    for (int64_t i = 0; i < x->count; i++) ((float *)(void *)x->data)[i] *= 0.7F; /* sums that are not exact */
    const sp_op *op = sp_op_find("conv2d");
    static const sp__tiles_kernels no_tiles = {.name = "none"}; /* the processor may have tiles of its own */
    sp__tiles_override(&no_tiles);
    sp_tensor *in[3] = {x, w, NULL}, *plain_out = fast(op, NULL, 3, in, 1);
    sp__tiles_override(&sp__tiles_emulated);
    sp_tensor *tiles_out = fast(op, NULL, 3, in, 1);
    assert_true(memcmp(plain_out->data, tiles_out->data, sp_tensor_bytes(tiles_out)) != 0);
    /* A number that does not fit: the same bits as without tiles. */
    ((float *)(void *)x->data)[5] = INFINITY;
    sp_tensor *declined = fast(op, NULL, 3, in, 1);
    sp__tiles_override(&no_tiles);
    sp_tensor *again = fast(op, NULL, 3, in, 1);
    assert_memory_equal(declined->data, again->data, sp_tensor_bytes(again));
    sp_tensor_release(x), sp_tensor_release(w), sp_tensor_release(plain_out), sp_tensor_release(tiles_out);
    sp_tensor_release(declined), sp_tensor_release(again);
    sp__tiles_override(&sp__tiles_emulated);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check(&cases[i], SP_DTYPE_F32);
    sp__tiles_override(NULL);
}

static void random_cases(void **state)
{
    (void)state;
    for (int i = 0; i < share_of(150); i++) {
        conv_case t = {.n = (int)between(1, 3),
                       .batch = between(1, 3),
                       .group = between(1, 3),
                       .in = {1, 1, 1},
                       .kernel = {1, 1, 1}};
        int64_t stride[3], dilation[3], pad[6];
        t.ic = t.group * between(1, 5);
        t.oc = t.group * between(1, 9);
        for (int d = 0; d < 3; d++) {
            stride[d] = between(0, 2) ? 1 : between(1, 3);
            dilation[d] = between(0, 2) ? 1 : between(1, 3);
            pad[2 * d] = between(0, 3), pad[2 * d + 1] = between(0, 3);
            if (d >= t.n) continue;
            t.kernel[d] = between(1, 4);
            t.in[d] = (t.kernel[d] - 1) * dilation[d] + between(1, 20);
        }
        if (i % 3 == 0) {
            snprintf(t.attrs, sizeof t.attrs, "stride=%d, dilation=%d, group=%d, pad_mode=%s", (int)stride[0],
                     (int)dilation[0], (int)t.group, i % 2 ? "same" : "valid");
            for (int d = 1; d < t.n; d++) t.in[d] += 8; /* the dilation of the first holds for all */
        } else {
            char s[3][48] = {"", "", ""};
            for (int d = 0; d < t.n; d++) {
                size_t a = strlen(s[0]), b = strlen(s[1]), c = strlen(s[2]);
                snprintf(s[0] + a, 48 - a, "%d,", (int)stride[d]);
                snprintf(s[1] + b, 48 - b, "%d,", (int)dilation[d]);
                snprintf(s[2] + c, 48 - c, "%d,%d,", (int)pad[2 * d], (int)pad[2 * d + 1]);
            }
            snprintf(t.attrs, sizeof t.attrs, "stride=(%s), dilation=(%s), pad=(%s), group=%d", s[0], s[1], s[2],
                     (int)t.group);
        }
        check(&t, dtypes[i % 3]);
    }
}

static void faults_are_named(void **state)
{
    (void)state;
    sp_tensor *x = filled(SP_DTYPE_F32, 4, (int64_t[]){1, 3, 5, 5}),
              *w = filled(SP_DTYPE_F32, 4, (int64_t[]){4, 2, 3, 3}), *out;
    int n;
    assert_int_equal(sp_apply(sp_op_find("conv2d"), NULL, 3, (sp_tensor *[]){x, w, NULL}, 1, &out, &n), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "3 channels"));
    sp_tensor *big = filled(SP_DTYPE_F32, 4, (int64_t[]){4, 3, 6, 3});
    assert_int_equal(sp_apply(sp_op_find("conv2d"), NULL, 3, (sp_tensor *[]){x, big, NULL}, 1, &out, &n), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "the kernel covers 6 elements, but the input with padding has 5"));
    assert_int_equal(sp_apply(sp_op_find("conv1d"), NULL, 3, (sp_tensor *[]){x, big, NULL}, 1, &out, &n), SP_VALUE);
    sp_tensor_release(x), sp_tensor_release(w), sp_tensor_release(big);
}

/* --- gradients --------------------------------------------------------------------------------------------------- */

static double product(const sp_tensor *a, const sp_tensor *b)
{
    assert_true(sp__tensor_same_shape(a, b));
    double sum = 0;
    for (int64_t i = 0; i < a->count; i++) sum += at(a, i) * at(b, i);
    return sum;
}

/* Both operators are linear in x and in y: with z = f(x, y), <z, g> = <x, dx> = <y, dy>; and dx is linear in y and g, so
 * the gradients of <dx, u> obey <dx, u> = <y, d> = <g, d'>. Numbers are small multiples of 1/32: no rounding in double. */
static void check_bilinear(const char *name, const char *text, int rank_x, const int64_t *x_dims, int rank_y,
                           const int64_t *y_dims)
{
    const sp_op *op = sp_op_find(name);
    char attrs[256] = {0};
    sp_attr_text keep = {.n_blocks = 0};
    assert_int_equal(sp__attrs_parse(op, text, attrs, &keep), SP_OK);
    sp_tensor *x = filled(SP_DTYPE_F64, rank_x, x_dims), *y = filled(SP_DTYPE_F64, rank_y, y_dims), *z, *d[2], *dd[2];
    int n;
    sp_grad_begin();
    assert_int_equal(sp_grad_watch(x), SP_OK);
    assert_int_equal(sp_grad_watch(y), SP_OK);
    if (sp_apply(op, attrs, sp__op_inputs(op)->n, (sp_tensor *[]){x, y, NULL}, 1, &z, &n) != SP_OK)
        fail_msg("%s %s: %s", name, text, sp_error_message());
    sp_tensor *g = filled(SP_DTYPE_F64, z->rank, z->dims), *u = filled(SP_DTYPE_F64, rank_x, x_dims);
    assert_int_equal(sp_grad_watch(g), SP_OK);
    if (sp_grad_backward(1, &z, &g, 2, (sp_tensor *[]){x, y}, true, d) != SP_OK)
        fail_msg("%s %s: %s", name, text, sp_error_message());
    double want = product(z, g);
    if (want != product(x, d[0]) || want != product(y, d[1]))
        fail_msg("%s %s: %g, by x %g, by y %g", name, text, want, product(x, d[0]), product(y, d[1]));
    if (sp_grad_backward(1, d, &u, 2, (sp_tensor *[]){y, g}, false, dd) != SP_OK)
        fail_msg("%s %s: %s", name, text, sp_error_message());
    want = product(d[0], u);
    if (want != product(y, dd[0]) || want != product(g, dd[1]))
        fail_msg("%s %s: second gradients disagree", name, text);
    sp_grad_unwatch(x), sp_grad_unwatch(y), sp_grad_unwatch(g);
    sp_grad_end();
    sp_tensor *all[] = {x, y, z, g, u, d[0], d[1], dd[0], dd[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sp_tensor_release(all[i]);
    sp__attr_text_free(&keep);
}

static void gradients_agree(void **state)
{
    (void)state;
    static const struct {
        const char *op, *attrs;
        int rank_x, rank_y;
        int64_t x[5], y[5];
    } cases[] = {
        {"matmul", "", 2, 2, {3, 4}, {4, 5}},
        {"matmul", "transpose_a=True", 2, 2, {4, 3}, {4, 5}},
        {"matmul", "transpose_b=True", 2, 2, {3, 4}, {5, 4}},
        {"matmul", "transpose_a=True, transpose_b=True", 2, 2, {4, 3}, {5, 4}},
        {"matmul", "", 1, 1, {4}, {4}},
        {"matmul", "", 1, 2, {4}, {4, 3}},
        {"matmul", "", 2, 1, {3, 4}, {4}},
        {"matmul", "", 3, 1, {2, 3, 4}, {4}},
        {"matmul", "", 1, 3, {4}, {2, 4, 3}},
        {"matmul", "", 3, 2, {2, 3, 4}, {4, 5}},
        {"matmul", "transpose_b=True", 3, 2, {2, 3, 4}, {5, 4}},
        {"matmul", "transpose_a=True", 3, 2, {2, 4, 3}, {4, 5}},
        {"matmul", "", 2, 3, {3, 4}, {2, 4, 5}},
        {"matmul", "transpose_a=True, transpose_b=True", 4, 3, {2, 1, 4, 3}, {5, 2, 4}},
        {"conv1d", "stride=2, pad=(1,2)", 3, 3, {2, 3, 9}, {4, 3, 3}},
        {"conv2d", "", 4, 4, {2, 2, 5, 6}, {3, 2, 3, 2}},
        {"conv2d", "stride=2, pad_mode=same, group=2", 4, 4, {1, 4, 7, 6}, {6, 2, 3, 3}},
        {"conv2d", "dilation=2, pad=(0,1,2,3)", 4, 4, {1, 2, 7, 6}, {3, 2, 2, 3}},
        {"conv3d", "stride=(1,2,1), pad=1", 5, 5, {1, 2, 3, 4, 5}, {3, 2, 2, 3, 2}},
        {"conv2d_input_grad", "stride=2, pad=1", 4, 4, {1, 3, 4, 4}, {3, 2, 3, 3}},
        {"conv2d_weight_grad", "stride=2, kernel_size=(3,3)", 4, 4, {2, 2, 7, 7}, {2, 3, 3, 3}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_bilinear(cases[i].op, cases[i].attrs, cases[i].rank_x, cases[i].x, cases[i].rank_y, cases[i].y);
}

/* --- matmul, through the operator -------------------------------------------------------------------------------- */

static void matmul_shapes(void **state)
{
    (void)state;
    static const struct {
        int rank_a, rank_b;
        int64_t a[4], b[4];
        const char *attrs;
    } cases[] = {
        {1, 1, {70}, {70}, ""},
        {1, 2, {7}, {7, 90}, ""},
        {2, 1, {50, 33}, {33}, ""},
        {2, 2, {33, 40}, {40, 20}, ""},
        {2, 2, {40, 33}, {20, 40}, "transpose_a=True, transpose_b=True"},
        {2, 2, {0, 3}, {3, 4}, ""},
        {2, 2, {2, 0}, {0, 4}, ""},
        {3, 2, {5, 6, 7}, {7, 9}, ""},
        {3, 2, {5, 7, 6}, {7, 9}, "transpose_a=True"},
        {2, 3, {6, 7}, {5, 9, 7}, "transpose_b=True"},
        {4, 3, {3, 1, 6, 70}, {4, 70, 17}, ""},
        {4, 4, {3, 4, 80, 64}, {3, 4, 80, 64}, "transpose_b=True"},
        {3, 1, {3, 4, 5}, {5}, ""},
        {1, 3, {4}, {3, 4, 5}, ""},
    };
    static const sp_dtype all[] = {SP_DTYPE_F32, SP_DTYPE_F64, SP_DTYPE_F16, SP_DTYPE_BF16, SP_DTYPE_I32, SP_DTYPE_U8};
    const sp_op *op = sp_op_find("matmul");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t d = 0; d < sizeof all / sizeof all[0]; d++) {
            sp_attr_text keep = {.n_blocks = 0};
            char attrs[64] = {0};
            assert_int_equal(sp__attrs_parse(op, cases[i].attrs, attrs, &keep), SP_OK);
            sp_tensor *a = filled(all[d], cases[i].rank_a, cases[i].a),
                      *b = filled(all[d], cases[i].rank_b, cases[i].b);
            compare("matmul", cases[i].attrs, op, attrs, 2, (sp_tensor *[]){a, b}, 80);
            sp_tensor_release(a), sp_tensor_release(b);
            sp__attr_text_free(&keep);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_layers),     cmocka_unit_test(by_tiles),      cmocka_unit_test(random_cases),
        cmocka_unit_test(faults_are_named), cmocka_unit_test(matmul_shapes), cmocka_unit_test(gradients_agree),
    };
    const char *level = getenv("SPORE_ISA");
    int failed = cmocka_run_group_tests_name(level ? level : "native", tests, NULL, NULL);
    const char *lower = level == NULL ? "avx2" : strcmp(level, "avx2") == 0 ? "portable" : NULL;
    if (failed != 0 || lower == NULL) return failed;
    setenv("SPORE_ISA", lower, 1);
    start_again(NULL);
    return 1;
}
