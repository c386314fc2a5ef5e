/* SPDX-License-Identifier: Apache-2.0 */
/* test_provider.c - kernels from shared libraries: the list and who declines, faults of a library, and oneDNN where it was built. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"
#include "ir/op_impl.h"
#include "spore/machine.h"
#include "spore/ops.h"
#include "spore/provider.h"

static sp_tensor *filled(sp_dtype dtype, int rank, const int64_t *dims)
{
    sp_tensor *wide, *out;
    assert_int_equal(sp_tensor_create(SP_DTYPE_F64, rank, dims, &wide), SP_OK);
    for (int64_t i = 0; i < wide->count; i++) ((double *)(void *)wide->data)[i] = (double)(i * 7919 % 65 - 32) / 16;
    assert_int_equal(sp_tensor_create(dtype, rank, dims, &out), SP_OK);
    assert_int_equal(sp_tensor_assign(out, wide), SP_OK);
    sp_tensor_release(wide);
    return out;
}

static sp_tensor *applied(const char *name, const char *text, int n_in, sp_tensor **in)
{
    const sp_op *op = sp_op_find(name);
    sp_attr_text keep = {.n_blocks = 0};
    char attrs[256] = {0};
    sp_tensor *out = NULL;
    int n;
    assert_int_equal(sp__attrs_parse(op, text, attrs, &keep), SP_OK);
    if (sp_apply(op, attrs, n_in, in, 1, &out, &n) != SP_OK) fail_msg("%s: %s", name, sp_error_message());
    sp__attr_text_free(&keep);
    return out;
}

static int64_t (*twice_calls)(void);

static void kernels_come_first_and_may_decline(void **state)
{
    (void)state;
    char text[200];
    sp_tensor *x = filled(SP_DTYPE_F32, 2, (int64_t[]){4, 4}), *in[2] = {x, x};
    sp_tensor *before = applied("matmul", "", 2, in);
    assert_int_equal(sp_provider_load(TWICE_LIBRARY), SP_OK);
    assert_int_equal(sp_provider_load(TWICE_LIBRARY), SP_OK); /* once is enough */
    assert_int_equal(sp_provider_names(text, sizeof text), 1);
    assert_string_equal(text, "twice");
    assert_int_equal(sp_machine_kernels(sp_op_find("matmul"), text, sizeof text), 4);
    assert_string_equal(text, "twice_small, gemv, gemm, integers");
    void *library = dlopen(TWICE_LIBRARY, RTLD_NOW), *symbol = dlsym(library, "twice_calls");
    assert_non_null(symbol);
    memcpy(&twice_calls, &symbol, sizeof symbol);
    assert_int_equal(twice_calls(), 0);
    sp_tensor *after = applied("matmul", "", 2, in);
    assert_int_equal(twice_calls(), 1);
    for (int i = 0; i < 16; i++) assert_true(((float *)(void *)before->data)[i] == ((float *)(void *)after->data)[i]);
    sp_tensor_release(before), sp_tensor_release(after);

    after = applied("matmul", "transpose_b=True", 2, in); /* declined by its attributes */
    sp_tensor_release(after);
    sp_tensor *wide = filled(SP_DTYPE_F64, 2, (int64_t[]){4, 4});
    after = applied("matmul", "", 2, (sp_tensor *[]){wide, wide}); /* by its dtype */
    sp_tensor_release(after), sp_tensor_release(wide);
    assert_int_equal(twice_calls(), 1);

    sp_tensor *none = filled(SP_DTYPE_F32, 2, (int64_t[]){3, 0}),
              *none_too = filled(SP_DTYPE_F32, 2, (int64_t[]){0, 5});
    after =
        applied("matmul", "", 2, (sp_tensor *[]){none, none_too}); /* found late: the engine's own writes the zeros */
    assert_int_equal(twice_calls(), 1);
    for (int i = 0; i < 15; i++) assert_true(((float *)(void *)after->data)[i] == 0);
    sp_tensor_release(after), sp_tensor_release(none), sp_tensor_release(none_too), sp_tensor_release(x);

    x = filled(SP_DTYPE_F32, 1, (int64_t[]){300000}); /* on several threads of the engine */
    after = applied("relu", "", 1, &x);
    assert_int_equal(twice_calls(), 2);
    for (int64_t i = 0; i < x->count; i++)
        assert_true(((float *)(void *)after->data)[i] == fmaxf(((float *)(void *)x->data)[i], 0));
    sp_tensor_release(after), sp_tensor_release(x);
}

static void faults_are_named(void **state)
{
    (void)state;
    assert_int_equal(sp_provider_load("/nowhere/provider.so"), SP_IO);
    assert_non_null(strstr(sp_error_message(), "/nowhere/provider.so"));
    assert_int_equal(sp_provider_load("libm.so.6"), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "exports no function sp_provider_open"));
    assert_int_equal(sp_provider_load(""), SP_VALUE);
}

#ifdef ONEDNN_LIBRARY
static void check_close(const char *name, const char *attrs, int n_in, sp_tensor **in, const sp_tensor *want)
{
    sp_tensor *found = applied(name, attrs, n_in, in);
    assert_true(sp__tensor_same_shape(found, want));
    for (int64_t i = 0; i < want->count; i++)
        assert_true(fabsf(((float *)(void *)found->data)[i] - ((float *)(void *)want->data)[i]) <= 1e-3F);
    sp_tensor_release(found);
}

/* With oneDNN: the same numbers, but for rounding, as before. */
static void onednn_agrees(void **state)
{
    (void)state;
    sp_tensor *a = filled(SP_DTYPE_F32, 2, (int64_t[]){33, 70}), *b = filled(SP_DTYPE_F32, 2, (int64_t[]){70, 20});
    sp_tensor *x = filled(SP_DTYPE_F32, 4, (int64_t[]){2, 20, 13, 11}),
              *w = filled(SP_DTYPE_F32, 4, (int64_t[]){24, 20, 3, 3});
    sp_tensor *bias = filled(SP_DTYPE_F32, 1, (int64_t[]){24});
    static const char *const conv_attrs[] = {"pad=1", "stride=2, pad=(1,0,2,1)", "dilation=2, pad_mode=valid",
                                             "pad_mode=same"};
    sp_tensor *product = applied("matmul", "", 2, (sp_tensor *[]){a, b}), *pictures[4][2], *turned;
    for (int i = 0; i < 8; i++)
        pictures[i / 2][i % 2] = applied("conv2d", conv_attrs[i / 2], 3, (sp_tensor *[]){x, w, i % 2 ? bias : NULL});
    turned = applied("matmul", "transpose_a=True, transpose_b=True", 2, (sp_tensor *[]){b, a});
    sp_status status = sp_provider_load(ONEDNN_LIBRARY);
    if (status != SP_OK) { /* built, but the library itself is not on this machine: that must be what it says */
        assert_non_null(strstr(sp_error_message(), "oneDNN"));
        print_message("skipped: %s\n", sp_error_message());
    } else {
        char text[100];
        sp_provider_names(text, sizeof text);
        assert_string_equal(text, "oneDNN, twice");
        for (int turn = 0; turn < 2; turn++) { /* made, then kept */
            check_close("matmul", "", 2, (sp_tensor *[]){a, b}, product);
            check_close("matmul", "transpose_a=True, transpose_b=True", 2, (sp_tensor *[]){b, a}, turned);
            for (int i = 0; i < 8; i++)
                check_close("conv2d", conv_attrs[i / 2], 3, (sp_tensor *[]){x, w, i % 2 ? bias : NULL},
                            pictures[i / 2][i % 2]);
        }
    }
    sp_tensor *all[] = {a, b, x, w, bias, product, turned};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sp_tensor_release(all[i]);
    for (int i = 0; i < 8; i++) sp_tensor_release(pictures[i / 2][i % 2]);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_come_first_and_may_decline),
        cmocka_unit_test(faults_are_named),
#ifdef ONEDNN_LIBRARY
        cmocka_unit_test(onednn_agrees),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
