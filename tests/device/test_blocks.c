/* SPDX-License-Identifier: Apache-2.0 */
/* test_blocks.c - convolution and pooling of images in blocks of channels: bit for bit what the operators give for plain images, with one thread
 * and with three, packed weights or not; memory ends where an unreadable page begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/blocked.h"
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/gemm.h"
#include "device/cpu/tiles.h"
#include "ops/ops_impl.h"
#include "spore/op.h"
#include "spore/runtime.h"

#include "guarded.h"

static sp_builder *b;
/* A tensor of small numbers with an unreadable page behind it. */
static sp_tensor *numbers(int rank, const int64_t *dims)
{
    sp_tensor *out = guarded(SP_DTYPE_F32, rank, dims);
    float *data = sp_tensor_data(out);
    for (int64_t i = 0; i < sp_tensor_count(out); i++) data[i] = (float)(draw(2001) - 1000) / 512;
    return out;
}

static sp_tensor *line(int64_t n) { return numbers(1, &n); }

/* The image in blocks, or back. */
static sp_tensor *reordered(sp_tensor *from, int64_t batch, int64_t channels, int64_t positions, bool block)
{
    sp_tensor *to = line(batch * (block ? sp__blocks_of(channels) * SP_BLOCK : channels) * positions);
    const sp_reorder r = {.batch = batch, .channels = channels, .positions = positions, .block = block};
    assert_int_equal(sp__blocked_reorder(&(sp_call){.attrs = &r, .n_in = 1, .n_out = 1, .in = &from, .out = &to}),
                     SP_OK);
    return to;
}

static sp_tensor *by_operator(const char *name, const char *attrs, int n, sp_tensor *const *in)
{
    sp_tensor *out = sp_builder_call(b, name, attrs, n, in);
    if (!out) fail_msg("%s: %s", name, sp_error_message());
    return out;
}

typedef struct {
    int64_t batch, ic, oc, high, wide, kernel, stride, pad;
    bool depthwise, in, out, bias, affine, residual, packed;
    sp_blocked_activation activation;
} sample;

static void draw_sample(sample *s)
{
    const int64_t kernels[] = {1, 1, 3, 3, 5};
    *s = (sample){.batch = 1 + draw(3),
                  .high = 5 + draw(30),
                  .wide = 5 + draw(30),
                  .kernel = kernels[draw(5)],
                  .stride = 1 + draw(2)};
    s->depthwise = draw(4) == 0;
    s->ic = draw(2) ? 1 + draw(70) : 32 + 32 * draw(3);
    if (s->kernel == 1 && draw(4) == 0) s->ic = 500 + draw(600); /* sums in more than one block */
    s->oc = s->depthwise ? s->ic : draw(2) ? 1 + draw(70) : 64;
    if (!s->depthwise && draw(6) == 0) s->oc = 17 + 32 * draw(2) + draw(8); /* a vector and a half */
    s->pad = draw(2) * (s->kernel / 2);
    s->in = draw(3) > 0;
    s->out = s->depthwise || draw(3) > 0;
    s->bias = draw(2);
    s->affine = s->out && draw(2);
    s->residual = s->out && draw(2);
    s->activation = s->out ? (sp_blocked_activation)draw(SP_BLOCKED_ACTIVATIONS) : SP_BLOCKED_AS_IT_IS;
    s->packed = draw(2);
}

static void window_of(const sample *s, sp__window *w)
{
    const int64_t in[] = {s->high, s->wide};
    sp__window_init(w, 2);
    for (int d = 0; d < 2; d++) {
        w->in[1 + d] = in[d];
        w->kernel[1 + d] = s->kernel;
        w->stride[1 + d] = s->stride;
        w->pad[1 + d] = w->pad_end[1 + d] = s->pad;
        w->out[1 + d] = (in[d] + 2 * s->pad - s->kernel) / s->stride + 1;
    }
}

/* What separate operators make of it. */
static sp_tensor *wanted(const sample *s, sp_tensor *const *in)
{
    char attrs[160];
    snprintf(attrs, sizeof attrs, "stride=%d, pad_mode=pad, pad=%d, group=%d", (int)s->stride, (int)s->pad,
             s->depthwise ? (int)s->ic : 1);
    sp_tensor *y = by_operator("conv2d", attrs, 3, (sp_tensor *const[]){in[0], in[1], s->bias ? in[2] : NULL});
    if (s->affine) y = by_operator("channel_affine", NULL, 3, (sp_tensor *const[]){y, in[3], in[4]});
    if (s->residual) y = by_operator("add", NULL, 2, (sp_tensor *const[]){y, in[5]});
    if (s->activation == SP_BLOCKED_RELU || s->activation == SP_BLOCKED_RELU6)
        y = by_operator(s->activation == SP_BLOCKED_RELU ? "relu" : "relu6", NULL, 1, &y);
    if (s->activation == SP_BLOCKED_PRELU) y = by_operator("prelu", NULL, 2, (sp_tensor *const[]){y, in[6]});
    if (s->activation == SP_BLOCKED_PRELU_BELOW) {
        sp_tensor *slope = sp_reshape(b, in[6], 3, (int64_t[]){s->oc, 1, 1}), *zero = sp__const(b, 0, y);
        y = sp_select(b, sp_less(b, y, zero), sp_mul(b, y, slope), y);
    }
    return y;
}

static void compare(const sp_tensor *want, const sp_tensor *got, const sample *s, int turn, int threads)
{
    if (memcmp(want->data, got->data, sp_tensor_bytes(want)) != 0)
        fail_msg(
            "sample %d with %d threads differs: %d x %d to %d channels, %d x %d, window %d, stride %d, pad %d%s%s%s%s%s%s",
            turn, threads, (int)s->batch, (int)s->ic, (int)s->oc, (int)s->high, (int)s->wide, (int)s->kernel,
            (int)s->stride, (int)s->pad, s->depthwise ? ", depthwise" : "", s->in ? ", of blocks" : "",
            s->out ? ", to blocks" : "", s->bias ? ", bias" : "", s->affine ? ", affine" : "",
            s->residual ? ", residual" : "");
}

static void run_sample(const sample *s, sp_tensor *const *plain, const sp_tensor *want, int turn)
{
    sp_blocked attrs = {
        .in = s->in,
        .out = s->out,
        .activation = s->activation,
        .g = {.batch = s->batch, .in_channels = s->ic, .out_channels = s->oc, .group = s->depthwise ? s->ic : 1}};
    window_of(s, &attrs.g.w);
    const int64_t positions = attrs.g.w.out[1] * attrs.g.w.out[2];
    sp_tensor *x = s->in ? reordered(plain[0], s->batch, s->ic, s->high * s->wide, true) : sp_tensor_retain(plain[0]);
    sp_tensor *more = s->residual ? reordered(plain[5], s->batch, s->oc, positions, true) : NULL;
    sp_tensor *out = line(s->batch * (s->out ? sp__blocks_of(s->oc) * SP_BLOCK : s->oc) * positions);
    sp_tensor *in[SP_BLOCKED_INPUTS] = {x,
                                        plain[1],
                                        s->bias ? plain[2] : NULL,
                                        s->affine ? plain[3] : NULL,
                                        s->affine ? plain[4] : NULL,
                                        more,
                                        s->activation >= SP_BLOCKED_PRELU ? plain[6] : NULL};
    sp_call c = {.attrs = &attrs, .n_in = SP_BLOCKED_INPUTS, .n_out = 1, .in = in, .out = &out};
    void *work = NULL, *packed = NULL;
    assert_int_equal(posix_memalign(&work, 64, sp__cpu_conv_blocks.workspace(&c) + 64), 0);
    if (s->packed) {
        assert_int_equal(posix_memalign(&packed, 64, sp__cpu_conv_blocks.prepared_bytes(&c)), 0);
        assert_int_equal(sp__cpu_conv_blocks.prepare(&c, packed), SP_OK);
    }
    c.work = work;
    c.prepared = packed;
    for (int threads = 1; threads <= 3; threads += 2) {
        sp_threads_set(threads);
        assert_int_equal(sp__cpu_conv_blocks.run(&c), SP_OK);
        sp_tensor *got = s->out ? reordered(out, s->batch, s->oc, positions, false) : sp_tensor_retain(out);
        compare(want, got, s, turn, threads);
        sp_tensor_release(got);
    }
    free(work);
    free(packed);
    sp_tensor_release(x);
    sp_tensor_release(more);
    sp_tensor_release(out);
}

static void test_convolutions(void **state)
{
    (void)state;
    for (int turn = 0; turn < 120; turn++) {
        sample s;
        draw_sample(&s);
        sp__window w;
        window_of(&s, &w);
        if (s.kernel == 1 && s.pad == 0 && s.stride == 1 && s.high * s.wide < 16)
            continue; /* a plain product: not for blocks */
        sp_tensor *in[] = {numbers(4, (int64_t[]){s.batch, s.ic, s.high, s.wide}),
                           numbers(4, (int64_t[]){s.oc, s.depthwise ? 1 : s.ic, s.kernel, s.kernel}),
                           line(s.oc),
                           line(s.oc),
                           line(s.oc),
                           numbers(4, (int64_t[]){s.batch, s.oc, w.out[1], w.out[2]}),
                           line(s.oc)};
        sp_builder_reset(b);
        run_sample(&s, in, wanted(&s, in), turn);
        for (int i = 0; i < 7; i++) sp_tensor_release(in[i]);
    }
}

static void test_pooling(void **state)
{
    (void)state;
    for (int turn = 0; turn < 40; turn++) {
        const int64_t batch = 1 + draw(2), channels = 1 + draw(40),
                      dims[] = {batch, channels, 4 + draw(20), 4 + draw(20)};
        const int kernel = 2 + (int)draw(2), stride = 1 + (int)draw(3), pad = (int)draw(2);
        char attrs[200];
        snprintf(attrs, sizeof attrs, "kernel_size=%d, stride=%d, pad=%d, ceil_mode=%s", kernel, stride, pad,
                 draw(2) ? "True" : "False");
        sp_tensor *x = numbers(4, dims);
        for (int i = 0; turn % 2 && i < 30; i++) ((float *)(void *)x->data)[draw(x->count)] = i % 3 ? NAN : -0.0f;
        sp_builder_reset(b);
        const bool mean = turn % 4 > 1, include = draw(2);
        const int64_t divisor = draw(3) == 0 ? 7 : 0;
        const size_t used = strlen(attrs);
        if (mean)
            snprintf(attrs + used, sizeof attrs - used, ", count_include_pad=%s, divisor_override=%d",
                     include ? "True" : "False", (int)divisor);
        sp_tensor *want = by_operator(mean ? "avg_pool2d" : "max_pool2d", attrs, 1, &x);
        const int64_t positions = want->dims[2] * want->dims[3];
        sp__window w;
        sp__window_init(&w, 2);
        for (int d = 0; d < 2; d++) {
            w.in[1 + d] = dims[2 + d];
            w.out[1 + d] = want->dims[2 + d];
            w.kernel[1 + d] = kernel;
            w.stride[1 + d] = stride;
            w.pad[1 + d] = w.pad_end[1 + d] = pad;
        }
        sp_tensor *blocked = reordered(x, batch, channels, dims[2] * dims[3], true),
                  *out = line(batch * sp__blocks_of(channels) * SP_BLOCK * positions);
        const sp_blocked_means means = {.w = w, .include_pad = include, .divisor = divisor};
        const sp_call c = {
            .attrs = mean ? (const void *)&means : &w, .n_in = 1, .n_out = 1, .in = &blocked, .out = &out};
        assert_int_equal(mean ? sp__blocked_mean_pool(&c) : sp__blocked_max_pool(&c), SP_OK);
        sp_tensor *got = reordered(out, batch, channels, positions, false);
        const float *u = (const float *)(const void *)want->data, *v = (const float *)(const void *)got->data;
        for (int64_t i = 0; i < got->count; i++)
            if (memcmp(&u[i], &v[i], 4) != 0 && !(isnan(u[i]) && isnan(v[i])))
                fail_msg("pooling %d (%s): element %lld is %g, it should be %g", turn, attrs, (long long)i,
                         (double)v[i], (double)u[i]);
        sp_tensor_release(x);
        sp_tensor_release(blocked);
        sp_tensor_release(out);
        sp_tensor_release(got);
    }
}

/* Kernels that sum in blocks of 16 channels as plain ones do: not with narrower vectors, nor where plain images go to tiles. */
static bool has_blocks(void)
{
    return sp__gemm_find(SP_DTYPE_F32)->columns % SP_BLOCK == 0 && !sp__tiles_find(SP_DTYPE_F32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_convolutions), cmocka_unit_test(test_pooling)};
    if (sp_builder_create(&b) != SP_OK) return 1;
    const int failed = has_blocks() ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
    sp_builder_release(b);
    return failed;
}
