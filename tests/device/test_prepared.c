/* SPDX-License-Identifier: Apache-2.0 */
/* test_prepared.c - weights in the form kernels want: calls of one form (sp_prepared_form) have the same bytes, whatever their batch, and results are those without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "device/blocked.h"
#include "ir/op_impl.h"

static void ok(sp_status status)
{
    if (status != SP_OK) fail_msg("%s", sp_error_message());
}

static sp_tensor *numbers(sp_dtype dtype, int rank, const int64_t *dims)
{
    sp_tensor *t;
    ok(sp_tensor_create_zeros(dtype, rank, dims, &t));
    for (int64_t i = 0; i < t->count; i++)
        if (dtype == SP_DTYPE_F32) ((float *)(void *)t->data)[i] = (float)((int)(i * 37 % 101) - 50) / 64;
        else if (dtype == SP_DTYPE_F64) ((double *)(void *)t->data)[i] = (double)((int)(i * 37 % 101) - 50) / 64;
        else t->data[i] = (char)(i * 37 % 101 - 50);
    return t;
}

enum { BATCHES = 10, INPUTS_MAX = 4 };
static const int64_t batches[BATCHES] = {1, 2, 3, 4, 6, 8, 13, 32, 64, 200};

/* What was prepared for one batch. */
typedef struct {
    sp_status (*prepare)(const sp_call *c, void *to);
    sp_prepared_form form;
    size_t bytes;
    void *block;
} prepared;

static int n_prepared, n_equal, n_forms;

static prepared prepare(const sp_call *c, size_t (*bytes)(const sp_call *c),
                        sp_status (*fn)(const sp_call *c, void *to), sp_prepared_form (*form)(const sp_call *c))
{
    prepared p = {.prepare = fn, .bytes = bytes != NULL ? bytes(c) : 0};
    if (p.bytes == 0) return p;
    assert_non_null(form);
    p.form = form(c);
    p.block = sp__alloc_zero(p.bytes + 64);
    assert_non_null(p.block);
    ok(fn(c, (char *)p.block + -(uintptr_t)p.block % 64));
    n_prepared++;
    return p;
}

static void compare(prepared *all)
{
    for (int i = 0; i < BATCHES; i++)
        for (int k = 0; k < i; k++) {
            const prepared *a = &all[i], *b = &all[k];
            if (!a->block || !b->block || a->prepare != b->prepare) continue;
            if (memcmp(&a->form, &b->form, sizeof a->form) != 0) {
                n_forms++;
                continue;
            }
            assert_int_equal(a->bytes, b->bytes);
            assert_memory_equal((char *)a->block + -(uintptr_t)a->block % 64,
                                (char *)b->block + -(uintptr_t)b->block % 64, a->bytes);
            n_equal++;
        }
    for (int i = 0; i < BATCHES; i++) sp__free(all[i].block);
}

static prepared prepare_blocked(const sp_kernel *kernel, const sp_call *c)
{
    sp_blocked b = {.in = true, .out = true};
    if (!kernel->blocked || !kernel->blocked->takes(c) || kernel->blocked->own_inputs) return (prepared){0};
    ok(sp__conv_measure(c->op->name, c->in[0], c->in[1], c->attrs, &b.g));
    sp_call blocked = *c;
    blocked.attrs = &b;
    return prepare(&blocked, kernel->blocked->prepared_bytes, kernel->blocked->prepare, kernel->blocked->prepared_form);
}

/* op with these attributes on an x whose first size is the batch. */
static void walk(const char *name, const char *attrs, sp_dtype dtype, int rank, const int64_t *x, int weight_rank,
                 const int64_t *weight)
{
    const sp_op *op = sp_op_find(name);
    sp_tensor *w = numbers(dtype, weight_rank, weight);
    prepared plain[BATCHES] = {{0}}, blocked[BATCHES] = {{0}};
    void *room = sp__alloc_zero(op->attrs_bytes + 64);
    sp_attr_text keep = {0};
    ok(sp__attrs_parse(op, attrs, room, &keep));
    for (int i = 0; i < BATCHES; i++) {
        int64_t dims[SP_RANK_MAX];
        for (int k = 0; k < rank; k++) dims[k] = k == 0 ? batches[i] : x[k];
        sp_tensor *in[INPUTS_MAX] = {numbers(dtype, rank, dims), w}, *out[1] = {NULL};
        sp_call c = {.op = op, .attrs = room, .n_in = rank == 2 ? 2 : 3, .in = in, .n_out = 1, .out = out};
        sp_meta meta;
        sp_kernel kernel;
        ok(sp__infer(&c, &meta));
        ok(sp__tensor_from_meta(&meta, &out[0]));
        ok(sp__kernel_choose(&c, &kernel));
        plain[i] = prepare(&c, kernel.prepared_bytes, kernel.prepare, kernel.prepared_form);
        blocked[i] = prepare_blocked(&kernel, &c);
        sp_tensor_release(in[0]);
        sp_tensor_release(out[0]);
    }
    compare(plain);
    compare(blocked);
    sp__attr_text_free(&keep);
    sp__free(room);
    sp_tensor_release(w);
}

static void products(void **unused)
{
    (void)unused;
    static const int64_t sizes[][2] = {{64, 64}, {512, 1000}, {300, 70}, {2048, 33}, {33, 700}, {7, 5}};
    static const sp_dtype dtypes[] = {SP_DTYPE_F32, SP_DTYPE_F64};
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 6; i++) {
            const int64_t k = sizes[i][0], n = sizes[i][1];
            walk("matmul", "", dtypes[d], 2, (int64_t[]){0, k}, 2, (int64_t[]){k, n});
            walk("matmul", "transpose_b=True", dtypes[d], 2, (int64_t[]){0, k}, 2, (int64_t[]){n, k});
        }
    walk("matmul_i32", "", SP_DTYPE_I8, 2, (int64_t[]){0, 256}, 2, (int64_t[]){256, 100});
}

static void convolutions(void **unused)
{
    (void)unused;
    static const struct {
        int64_t channels, out, kernel, size, group;
    } cases[] = {
        {3, 64, 7, 16, 1},  {64, 64, 3, 14, 1}, {64, 256, 1, 14, 1}, {512, 512, 3, 2, 1}, {512, 128, 1, 2, 1},
        {32, 32, 3, 9, 32}, {32, 48, 3, 9, 4},  {16, 20, 5, 8, 1},   {5, 7, 3, 6, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char attrs[96];
        const int64_t p = cases[i].kernel / 2;
        snprintf(attrs, sizeof attrs, "pad_mode=pad, pad=(%d,%d,%d,%d), group=%d", (int)p, (int)p, (int)p, (int)p,
                 (int)cases[i].group);
        walk("conv2d", attrs, SP_DTYPE_F32, 4, (int64_t[]){0, cases[i].channels, cases[i].size, cases[i].size}, 4,
             (int64_t[]){cases[i].out, cases[i].channels / cases[i].group, cases[i].kernel, cases[i].kernel});
    }
}

static void there_was_something_to_compare(void **unused)
{
    (void)unused;
    print_message("%d prepared, %d pairs of one form, %d of different ones\n", n_prepared, n_equal, n_forms);
    assert_true(n_equal > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(convolutions),
                                       cmocka_unit_test(there_was_something_to_compare)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
