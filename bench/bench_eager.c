/* SPDX-License-Identifier: Apache-2.0 */
/* bench_eager.c - what one small operator costs from C: a chain of adds on 4 elements. Prints nanoseconds per operator
 * without and with recording (backward pass and release included). */
#include <stdio.h>
#include <time.h>

#include <spore/spore.h>

enum { CHAIN = 1000, ROUNDS = 200 };

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double chain(const sp_op *add, sp_tensor *x, sp_tensor *y, int with_gradient)
{
    double start = now();
    sp_tensor *t = sp_tensor_retain(x);
    for (int i = 0; i < CHAIN; i++) {
        sp_tensor *in[2] = {t, y}, *out = NULL;
        int n;
        if (sp_apply(add, NULL, 2, in, 1, &out, &n) != SP_OK) return -1;
        sp_tensor_release(t);
        t = out;
    }
    sp_tensor *g = NULL;
    if (with_gradient && sp_grad_backward(1, &t, NULL, 1, &x, false, &g) != SP_OK) return -1;
    sp_tensor_release(g);
    sp_tensor_release(t);
    return (now() - start) / CHAIN;
}

int main(void)
{
    const sp_op *add = sp_op_find("add");
    const int64_t dims[1] = {4};
    sp_tensor *x, *y;
    if (sp_tensor_create_zeros(SP_DTYPE_F32, 1, dims, &x) != SP_OK ||
        sp_tensor_create_zeros(SP_DTYPE_F32, 1, dims, &y) != SP_OK)
        return 1;
    double best[2] = {1e18, 1e18};
    for (int mode = 0; mode < 2; mode++) {
        if (mode) {
            sp_grad_begin();
            if (sp_grad_watch(x) != SP_OK) return 1;
        }
        for (int i = 0; i < ROUNDS; i++) {
            double t = chain(add, x, y, mode);
            if (t < best[mode]) best[mode] = t;
        }
    }
    printf("{\"add_4_c\": %.1f, \"add_4_grad_c\": %.1f}\n", best[0], best[1]);
    sp_grad_end();
    sp_grad_unwatch(x);
    sp_tensor_release(x);
    sp_tensor_release(y);
    return 0;
}
