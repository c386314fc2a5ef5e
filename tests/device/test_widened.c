/* SPDX-License-Identifier: Apache-2.0 */
/* test_widened.c - operators of float16 and bfloat16 that run as float32 (cpu_widened.c): the kernel is taken, and gives the bits of the operator's own loops,
 * which convert element by element; odd sizes, optional inputs left out, one to three threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "device/device.h"
#include "guarded.h"
#include "ir/op_impl.h"
#include "spore/spore.h"
#include "tensor/half.h"

enum { MAX = 8 };

static sp_tensor *filled(sp_dtype dtype, int rank, const int64_t *dims, bool positive)
{
    sp_tensor *t = guarded(dtype, rank, dims);
    for (int64_t i = 0; i < t->count; i++) {
        const float x = (float)(draw(2001) - (positive ? -1 : 1000)) / 300;
        if (dtype == SP_DTYPE_F16) ((sp_f16 *)(void *)t->data)[i] = sp__f32_f16(x);
        else if (dtype == SP_DTYPE_BF16) ((sp_bf16 *)(void *)t->data)[i] = sp__f32_bf16(x);
        else ((float *)(void *)t->data)[i] = x;
    }
    return t;
}

/* An input: rank 0 stands for one left out. */
typedef struct {
    int rank;
    int64_t dims[4];
    bool single, positive; /* float32 whatever the dtype of x: statistics */
} input;

typedef struct {
    const char *op, *attrs;
    int n_in;
    input in[5];
} example;

#define X {4, {3, 6, 7, 11}, false, false}
#define C6 {1, {6}, false, false}
#define NONE {0, {0}, false, false}
static const example examples[] = {
    {"batch_norm_train", "epsilon=0.001", 3, {X, C6, C6}},
    {"batch_norm_train", "", 3, {{2, {37, 6}, false, false}, NONE, C6}},
    {"batch_norm_train_grad", "", 5, {X, C6, {1, {6}, true, false}, {1, {6}, true, true}, X}},
    {"batch_norm_train_grad",
     "",
     5,
     {{2, {37, 6}, false, false}, NONE, {1, {6}, true, false}, {1, {6}, true, true}, {2, {37, 6}, false, false}}},
    {"group_norm", "num_groups=3", 3, {X, C6, C6}},
    {"group_norm", "num_groups=2", 3, {X, NONE, NONE}},
    {"group_norm_grad", "num_groups=3", 3, {X, C6, X}},
    {"channel_affine", "", 3, {X, C6, C6}}, /* of float16 alone */
    {"channel_affine", "", 3, {{2, {37, 6}, false, false}, C6, C6}},
    {"resample_axis", "axis=3, in_size=11, out_size=23, mode=linear", 1, {X}},
    {"resample_axis", "axis=2, in_size=7, out_size=4, mode=nearest", 1, {X}},
};

static void check(const example *e, sp_dtype dtype)
{
    const sp_op *op = sp_op_find(e->op);
    sp_attr_text keep = {.n_blocks = 0};
    char attrs[SP_ATTRS_ROOM] = {0};
    if (sp__attrs_parse(op, e->attrs, attrs, &keep) != SP_OK) fail_msg("%s: %s", e->op, sp_error_message());
    sp_tensor *in[MAX] = {0}, *plain[MAX] = {0}, *out[MAX] = {0};
    for (int i = 0; i < e->n_in; i++)
        if (e->in[i].rank)
            in[i] = filled(e->in[i].single ? SP_DTYPE_F32 : dtype, e->in[i].rank, e->in[i].dims, e->in[i].positive);
    sp_call c = {.op = op, .attrs = attrs, .n_in = e->n_in, .in = in, .n_out = op->n_out ? op->n_out : 1, .out = plain};
    sp_meta meta[MAX];
    if (sp__infer(&c, meta) != SP_OK) fail_msg("%s: %s", e->op, sp_error_message());
    for (int k = 0; k < c.n_out; k++) assert_int_equal(sp__tensor_from_meta(&meta[k], &plain[k]), SP_OK);
    c.work = op->workspace ? sp__alloc(op->workspace(&c)) : NULL;
    assert_int_equal(op->reference(&c), SP_OK);
    sp_kernel kernel;
    assert_int_equal(sp__kernel_choose(&c, &kernel), SP_OK);
    assert_string_equal(kernel.name, "widened");
    for (int threads = 1; threads <= 3; threads++) {
        int n_out;
        assert_int_equal(sp_threads_set(threads), SP_OK);
        if (sp_apply(op, attrs, e->n_in, in, MAX, out, &n_out) != SP_OK) fail_msg("%s: %s", e->op, sp_error_message());
        assert_int_equal(n_out, c.n_out);
        for (int k = 0; k < n_out; k++) {
            assert_int_equal(out[k]->dtype, plain[k]->dtype);
            assert_memory_equal(out[k]->data, plain[k]->data,
                                (size_t)plain[k]->count * sp_dtype_bytes((sp_dtype)plain[k]->dtype));
            sp_tensor_release(out[k]);
        }
    }
    for (int k = 0; k < c.n_out; k++) sp_tensor_release(plain[k]);
    for (int i = 0; i < e->n_in; i++) sp_tensor_release(in[i]);
    sp__free(c.work);
    sp__attr_text_free(&keep);
}

static void bits_of_the_operators_own_loops(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        check(&examples[i], SP_DTYPE_F16);
        if (strcmp(examples[i].op, "channel_affine") != 0) check(&examples[i], SP_DTYPE_BF16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_of_the_operators_own_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
