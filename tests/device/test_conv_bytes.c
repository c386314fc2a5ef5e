/* SPDX-License-Identifier: Apache-2.0 */
/* test_conv_bytes.c - convolution of bytes by each way the CPU may have, of plain images and of images in blocks, is what the operator's own plain loops
 * give, byte for byte, with one to four threads, packed weights or not; memory ends where an unreadable page begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "device/cpu/cpu_kernels.h"
#include "device/cpu/dots.h"
#include "ops/ops_impl.h"
#include "spore/graph.h"
#include "spore/runtime.h"

#include "guarded.h"
#include "spore/ops_attrs.h"

/* Random bits, with an unreadable page behind them; of float32: small scales. */
static sp_tensor *numbers(sp_dtype dtype, int rank, const int64_t *dims)
{
    sp_tensor *out = guarded(dtype, rank, dims);
    char *data = sp_tensor_data(out);
    for (int64_t i = 0; i < sp_tensor_count(out); i++) {
        const float scale = (float)(1 + draw(999)) / 100000;
        const int32_t bias = (int32_t)(draw(20001) - 10000);
        if (dtype == SP_DTYPE_F32) memcpy(data + i * 4, &scale, 4);
        else if (dtype == SP_DTYPE_I32) memcpy(data + i * 4, &bias, 4);
        else data[i] = (char)draw(256);
    }
    return out;
}

static sp_dtype draw_bytes(void) { return draw(2) ? SP_DTYPE_U8 : SP_DTYPE_I8; }

typedef struct {
    sp_tensor *in[SP_BYTES_INPUTS], *want;
    int64_t stride[3], dilation[3], pad[6];
    sp_conv_attrs attrs;
    sp__conv_geometry g;
} sample;

static void draw_shape(sample *s, int n, int64_t *x, int64_t *w)
{
    const bool depthwise = draw(3) == 0, grouped = !depthwise && draw(5) == 0;
    const int64_t group = depthwise ? 2 + draw(40) : grouped ? 2 + draw(2) : 1, out = 1 + draw(grouped ? 20 : 70);
    x[0] = 1 + draw(2);
    w[1] = depthwise ? 1 : 1 + draw(grouped ? 20 : 70);
    x[1] = group * w[1];
    w[0] = depthwise ? group : group * out;
    for (int d = 0; d < n; d++) {
        const int64_t kernels[] = {1, 1, 3, 3, 3, 5, 2, 7};
        s->stride[d] = 1 + draw(2);
        s->dilation[d] = draw(6) == 0 ? 2 : 1;
        w[2 + d] = kernels[draw(n == 3 ? 4 : 8)];
        for (int side = 0; side < 2; side++) s->pad[2 * d + side] = draw(2) ? draw(w[2 + d]) : 0;
        x[2 + d] = (w[2 + d] - 1) * s->dilation[d] + 1 + draw(n == 3 ? 5 : 26);
        if (draw(3) == 0) s->stride[d] = 1, w[2 + d] = 1, s->pad[2 * d] = s->pad[2 * d + 1] = 0;
    }
    s->attrs = (sp_conv_attrs){.stride = {n, s->stride},
                               .pad_mode = "pad",
                               .pad = {2 * n, s->pad},
                               .dilation = {n, s->dilation},
                               .group = group};
}

static void make_sample(sample *s)
{
    const int n = draw(8) == 0 ? 1 : draw(8) == 0 ? 3 : 2;
    int64_t x[5], w[5];
    memset(s, 0, sizeof *s);
    draw_shape(s, n, x, w);
    s->in[SP_BYTES_X] = numbers(draw_bytes(), n + 2, x);
    s->in[SP_BYTES_WEIGHT] = numbers(draw_bytes(), n + 2, w);
    if (draw(2)) s->in[SP_BYTES_X_ZERO] = numbers((sp_dtype)s->in[SP_BYTES_X]->dtype, 0, NULL);
    if (draw(3) == 0) s->in[SP_BYTES_W_ZERO] = numbers((sp_dtype)s->in[SP_BYTES_WEIGHT]->dtype, draw(2) ? 1 : 0, w);
    if (draw(2)) s->in[SP_BYTES_BIAS] = numbers(SP_DTYPE_I32, 1, w);
    if (draw(4)) s->in[SP_BYTES_SCALE] = numbers(SP_DTYPE_F32, draw(2) ? 1 : 0, w);
    if (s->in[SP_BYTES_SCALE] && draw(4)) s->in[SP_BYTES_ZERO] = numbers(draw_bytes(), 0, NULL);
    assert_int_equal(sp__conv_measure("conv_bytes", s->in[SP_BYTES_X], s->in[SP_BYTES_WEIGHT], &s->attrs, &s->g),
                     SP_OK);
    int64_t out[5] = {x[0], w[0]};
    for (int d = 0; d < n; d++) out[2 + d] = s->g.w.out[3 - n + d];
    s->want = numbers(!s->in[SP_BYTES_SCALE] ? SP_DTYPE_I32
                      : s->in[SP_BYTES_ZERO] ? (sp_dtype)s->in[SP_BYTES_ZERO]->dtype
                                             : SP_DTYPE_U8,
                      n + 2, out);
    const sp_call c = {
        .op = &sp_op_conv_bytes, .attrs = &s->attrs, .n_in = SP_BYTES_INPUTS, .n_out = 1, .in = s->in, .out = &s->want};
    assert_int_equal(sp_op_conv_bytes.reference(&c), SP_OK);
}

/* Run with scratch of exactly the size asked for; packed: with weights made ahead. */
typedef struct {
    sp_status (*run)(const sp_call *c);
    size_t (*work)(const sp_call *c), (*prepared)(const sp_call *c);
    sp_status (*prepare)(const sp_call *c, void *to);
} way;

static void run_way(const way *w, sp_call *c, bool packed)
{
    void *ahead = NULL;
    sp_tensor *work = NULL;
    if (packed) {
        ahead = aligned_alloc(64, (w->prepared(c) + 63) / 64 * 64);
        assert_int_equal(w->prepare(c, ahead), SP_OK);
        c->prepared = ahead;
    }
    const int64_t bytes = (int64_t)w->work(c);
    if (bytes) work = numbers(SP_DTYPE_U8, 1, &bytes);
    c->work = work ? sp_tensor_data(work) : NULL;
    assert_int_equal((uintptr_t)c->work % 64, 0);
    assert_int_equal(w->run(c), SP_OK);
    sp_tensor_release(work);
    free(ahead);
}

static void compare(const sample *s, const sp_tensor *found, const char *what)
{
    if (memcmp(found->data, s->want->data, sp_tensor_bytes(s->want)) == 0) return;
    char x[SP_SHAPE_TEXT], w[SP_SHAPE_TEXT];
    fail_msg("%s: %s by %s, group %lld, stride %lld, pad %lld %lld, dilation %lld, scale %d, zeros %d %d", what,
             sp__shape_text(s->in[0]->rank, s->in[0]->dims, x), sp__shape_text(s->in[1]->rank, s->in[1]->dims, w),
             (long long)s->attrs.group, (long long)s->stride[0], (long long)s->pad[0], (long long)s->pad[1],
             (long long)s->dilation[0], s->in[SP_BYTES_SCALE] != NULL, s->in[SP_BYTES_X_ZERO] != NULL,
             s->in[SP_BYTES_W_ZERO] != NULL);
}

static void check_plain(const sample *s, bool packed)
{
    static const way plain = {sp__cpu_conv_bytes, sp__cpu_conv_bytes_work, sp__cpu_conv_bytes_prepared,
                              sp__cpu_conv_bytes_prepare};
    sp_tensor *out = numbers((sp_dtype)s->want->dtype, s->want->rank, s->want->dims);
    sp_call c = {
        .op = &sp_op_conv_bytes, .attrs = &s->attrs, .n_in = SP_BYTES_INPUTS, .n_out = 1, .in = s->in, .out = &out};
    assert_true(sp__cpu_conv_bytes_takes(&c));
    run_way(&plain, &c, packed);
    compare(s, out, "plain");
    sp_tensor_release(out);
}

static sp_tensor *reordered(sp_tensor *from, sp_dtype dtype, int64_t batch, int64_t channels, int64_t positions,
                            bool block)
{
    const int64_t n = batch * (block ? sp__blocks_of(channels) * SP_BLOCK : channels) * positions;
    sp_tensor *to = numbers(dtype, 1, &n);
    const sp_reorder r = {.batch = batch, .channels = channels, .positions = positions, .block = block};
    assert_int_equal(sp__blocked_reorder(&(sp_call){.attrs = &r, .n_in = 1, .n_out = 1, .in = &from, .out = &to}),
                     SP_OK);
    return to;
}

static void check_blocked(const sample *s, bool packed, bool in, bool out)
{
    const struct sp_blocked_kernel *k = &sp__cpu_conv_bytes_blocks;
    const way blocked = {k->run, k->workspace, k->prepared_bytes, k->prepare};
    const sp_call own = {.op = &sp_op_conv_bytes,
                         .attrs = &s->attrs,
                         .n_in = SP_BYTES_INPUTS,
                         .n_out = 1,
                         .in = s->in,
                         .out = (sp_tensor *[]){s->want}};
    if (!k->takes(&own)) return;
    const sp_blocked b = {.g = s->g, .in = in, .out = out};
    const int64_t positions = sp__window_positions(&s->g.w),
                  n = s->g.batch * sp__blocks_of(s->g.out_channels) * SP_BLOCK * positions;
    sp_tensor *inputs[SP_BYTES_INPUTS], *result = out ? numbers((sp_dtype)s->want->dtype, 1, &n)
                                                      : numbers((sp_dtype)s->want->dtype, s->want->rank, s->want->dims);
    memcpy(inputs, s->in, sizeof inputs);
    if (in)
        inputs[0] = reordered(s->in[0], (sp_dtype)s->in[0]->dtype, s->g.batch, s->g.in_channels,
                              sp__window_inputs(&s->g.w), true);
    sp_call c = {
        .op = &sp_op_conv_bytes, .attrs = &b, .n_in = SP_BYTES_INPUTS, .n_out = 1, .in = inputs, .out = &result};
    run_way(&blocked, &c, packed);
    sp_tensor *plain =
        out ? reordered(result, (sp_dtype)s->want->dtype, s->g.batch, s->g.out_channels, positions, false)
            : sp_tensor_retain(result);
    compare(s, plain, in ? out ? "blocks to blocks" : "blocks to plain" : "plain to blocks");
    sp_tensor_release(plain);
    sp_tensor_release(result);
    if (in) sp_tensor_release(inputs[0]);
}

static void sweep(const sp__dots_kernels *kernels, int n)
{
    sp__dots_override(kernels);
    for (int i = 0; i < n; i++) {
        sample s;
        make_sample(&s);
        const bool packed = draw(2);
        sp_threads_set(1 + i % 4);
        check_plain(&s, packed);
        check_blocked(&s, packed, true, true);
        check_blocked(&s, !packed, draw(2), draw(2));
        for (int k = 0; k < SP_BYTES_INPUTS; k++) sp_tensor_release(s.in[k]);
        sp_tensor_release(s.want);
    }
    sp_threads_set(2);
    sp__dots_override(NULL);
}

static void every_way(void **state)
{
    (void)state;
    sweep(&sp__dots_portable, 60);
#if SP_HAVE_X86
    const unsigned features = sp__cpu_features();
    if (features & SP_CPU_AVX2) sweep(&sp__dots_avx2, 60);
    if ((features & SP_CPU_AVX512) && (features & SP_CPU_VNNI)) sweep(&sp__dots_vnni, 250);
#endif
}

/* Sums that leave 32 bits wrap, and roundings go to even numbers: by hand. */
static void known_results(void **state)
{
    (void)state;
    const int64_t x_dims[] = {1, 1, 1, 4}, w_dims[] = {1, 1, 1, 1};
    sp_tensor *x = numbers(SP_DTYPE_U8, 4, x_dims), *w = numbers(SP_DTYPE_I8, 4, w_dims),
              *scale = numbers(SP_DTYPE_F32, 0, NULL), *zero = numbers(SP_DTYPE_I8, 0, NULL);
    memcpy(x->data, (uint8_t[]){1, 3, 5, 255}, 4);
    *w->data = 1;
    *(float *)(void *)scale->data = 0.5f;
    *zero->data = -3;
    sp_tensor *in[SP_BYTES_INPUTS] = {x, w, NULL, NULL, NULL, scale, zero}, *out;
    int n_out;
    assert_int_equal(sp_apply(&sp_op_conv_bytes, NULL, SP_BYTES_INPUTS, in, 1, &out, &n_out), SP_OK);
    const int8_t want[] = {-3, -1, -1, 125}; /* 0.5, 1.5, 2.5, 127.5 to 0, 2, 2, 128 */
    assert_memory_equal(out->data, want, 4);
    sp_tensor_release(out);
    sp_tensor_release(x);
    sp_tensor_release(w);
    sp_tensor_release(scale);
    sp_tensor_release(zero);
}

/* A small network: convolutions, a pool, a residual by element-wise operators; computed, or recorded. */
typedef struct {
    sp_tensor *weights[4], *scale, *zero;
} network;

static sp_tensor *layer(sp_builder *b, const network *n, int k, const char *attrs, sp_tensor *x)
{
    sp_tensor *in[SP_BYTES_INPUTS] = {x, n->weights[k], n->zero, NULL, NULL, n->scale, n->zero};
    return sp_builder_call(b, "conv_bytes", attrs, SP_BYTES_INPUTS, in);
}

static sp_tensor *forward(sp_builder *b, const network *n, sp_tensor *x)
{
    sp_tensor *y = layer(b, n, 0, "pad=1, stride=2", x), *z;
    y = sp_builder_call(b, "max_pool2d", "kernel_size=3, stride=1, pad_mode=same", 1, &y);
    z = layer(b, n, 1, "pad=1, group=37", y);
    z = layer(b, n, 2, "", z);
    z = sp_cast(
        b, sp_mul(b, sp_add(b, sp_cast(b, y, SP_DTYPE_F32), sp_cast(b, z, SP_DTYPE_F32)), sp__const(b, 0.5, n->scale)),
        (sp_dtype)x->dtype);
    return layer(b, n, 3, "stride=2", z);
}

/* Compiled, with images in blocks from the first layer to the last, it gives what operators one by one give. */
static void blocks_in_programs(void **state)
{
    (void)state;
    const int64_t shapes[4][4] = {{37, 5, 3, 3}, {37, 1, 3, 3}, {37, 37, 1, 1}, {20, 37, 1, 1}},
                  dims[] = {2, 5, 23, 18};
    for (int kind = 0; kind < 2; kind++) {
        const sp_dtype dtype = kind ? SP_DTYPE_I8 : SP_DTYPE_U8;
        network n = {.scale = numbers(SP_DTYPE_F32, 0, NULL), .zero = numbers(dtype, 0, NULL)};
        for (int k = 0; k < 4; k++) n.weights[k] = numbers(SP_DTYPE_I8, 4, shapes[k]);
        sp_tensor *x = numbers(dtype, 4, dims), *symbol, *found;
        sp_builder b;
        sp_graph *g;
        sp_function *f;
        sp_program *program;
        char *report;
        sp__builder_init(&b);
        sp_tensor *want = forward(&b, &n, x);
        if (!want) fail_msg("%s", sp_error_message());
        const sp_spec spec = {.dtype = dtype, .rank = 4, .dims = {2, 5, 23, 18}};
        assert_int_equal(sp_graph_create(&g), SP_OK);
        assert_int_equal(sp_function_begin(g, "network", 1, &spec, &f, &symbol), SP_OK);
        sp_tensor *recorded = forward(&b, &n, symbol);
        assert_non_null(recorded);
        assert_int_equal(sp_function_end(f, 1, &recorded), SP_OK);
        assert_int_equal(sp_program_create(f, NULL, &program), SP_OK);
        for (int run = 0; run < 2; run++) {
            assert_int_equal(sp_program_run(program, 1, &x, 1, &found), SP_OK);
            assert_int_equal(sp_tensor_bytes(found), sp_tensor_bytes(want));
            assert_memory_equal(found->data, want->data, sp_tensor_bytes(want));
            sp_tensor_release(found);
        }
        assert_int_equal(sp_program_report(program, &report), SP_OK);
        assert_non_null(strstr(report, "4 convolutions in blocks"));
        sp_text_free(report);
        sp_program_release(program);
        sp__builder_done(&b);
        sp_tensor_release(symbol);
        sp_graph_release(g);
        sp_tensor_release(x);
        sp_tensor_release(n.scale);
        sp_tensor_release(n.zero);
        for (int k = 0; k < 4; k++) sp_tensor_release(n.weights[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_way), cmocka_unit_test(known_results),
                                       cmocka_unit_test(blocks_in_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
