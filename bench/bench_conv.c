/* SPDX-License-Identifier: Apache-2.0 */
/* bench_conv.c - convolutions and their gradients by themselves: GFLOP/s with one thread (by its own clock) and with two. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ir/op_impl.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(sp_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static sp_tensor *filled(const int64_t *dims)
{
    sp_tensor *t;
    if (sp_tensor_create(SP_DTYPE_F32, 4, dims, &t) != SP_OK) exit(1);
    for (int64_t i = 0; i < t->count; i++) ((float *)(void *)t->data)[i] = (float)(i * 7919 % 1000) / 500 - 1;
    return t;
}

static double measure(const char *name, const char *attrs_text, sp_tensor *x, sp_tensor *y, sp_tensor **result)
{
    const sp_op *op = sp_op_find(name);
    sp_attr_text keep = {.n_blocks = 0};
    char attrs[256] = {0};
    sp_tensor *in[3] = {x, y, NULL}, *out = NULL;
    int n, n_in = strcmp(name, "conv2d") == 0 ? 3 : 2;
    double best = 1e9, end = now() + 0.3;
    if (sp__attrs_parse(op, attrs_text, attrs, &keep) != SP_OK) exit(1);
    for (int i = 0; i < 3 || now() < end; i++) {
        sp_tensor_release(out);
        double start = now();
        if (sp_apply(op, attrs, n_in, in, 1, &out, &n) != SP_OK) exit(fprintf(stderr, "%s\n", sp_error_message()));
        double each = now() - start;
        if (each < best) best = each;
    }
    sp__attr_text_free(&keep);
    if (result) *result = out;
    else sp_tensor_release(out);
    return best;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int64_t batch, ic, size, oc, kernel, stride, pad, group;
    } cases[] = {{"3x3 c64 56", 8, 64, 56, 64, 3, 1, 1, 1},
                 {"3x3 c128 28", 8, 128, 28, 128, 3, 1, 1, 1},
                 {"3x3 c256 14", 8, 256, 14, 256, 3, 1, 1, 1},
                 {"3x3 c512 7", 8, 512, 7, 512, 3, 1, 1, 1},
                 {"1x1 256-512 28", 8, 256, 28, 512, 1, 1, 0, 1},
                 {"1x1/2 256-512 28", 8, 256, 56, 512, 1, 2, 0, 1},
                 {"3x3/2 c128 56", 8, 128, 56, 128, 3, 2, 1, 1},
                 {"7x7/2 stem", 8, 3, 224, 64, 7, 2, 3, 1},
                 {"depthwise c144 56", 8, 144, 56, 144, 3, 1, 1, 144},
                 {"depthwise/2 c144 56", 8, 144, 56, 144, 3, 2, 1, 144},
                 {"lenet 5x5", 32, 1, 28, 6, 5, 1, 0, 1},
                 {"lenet 5x5 b", 32, 6, 12, 16, 5, 1, 0, 1}};
    printf("%-20s %25s %25s %25s\n", "", "forward", "by input", "by weight");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc > 1 && !strstr(cases[i].name, argv[1])) continue;
        char base[100], text[2][200];
        snprintf(base, sizeof base, "stride=%d, pad=%d, group=%d", (int)cases[i].stride, (int)cases[i].pad,
                 (int)cases[i].group);
        snprintf(text[0], 200, "%s, input_size=(%d,%d)", base, (int)cases[i].size, (int)cases[i].size);
        snprintf(text[1], 200, "%s, kernel_size=(%d,%d)", base, (int)cases[i].kernel, (int)cases[i].kernel);
        sp_tensor *x = filled((int64_t[]){cases[i].batch, cases[i].ic, cases[i].size, cases[i].size}), *dout;
        sp_tensor *w = filled((int64_t[]){cases[i].oc, cases[i].ic / cases[i].group, cases[i].kernel, cases[i].kernel});
        for (int t = 1; t <= 2; t++) {
            sp_threads_set(t);
            double found[3] = {measure("conv2d", base, x, w, &dout)};
            found[1] = measure("conv2d_input_grad", text[0], dout, w, NULL);
            found[2] = measure("conv2d_weight_grad", text[1], x, dout, NULL);
            double flops = 2.0 * (double)dout->count * (double)(w->count / cases[i].oc);
            printf("%-18s %d", t == 1 ? cases[i].name : "", t);
            for (int l = 0; l < 3; l++) printf(" %10.0f us %7.1f GF/s", found[l] * 1e6, flops / found[l] / 1e9);
            printf("\n");
            sp_tensor_release(dout);
        }
        sp_tensor_release(x), sp_tensor_release(w);
    }
    return 0;
}
