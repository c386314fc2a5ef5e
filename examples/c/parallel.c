/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.c - a network trained by several processes, each with its part of the data:  mpirun -n 4 ./parallel
 *     cc parallel.c $(pkg-config --cflags --libs spore) -lm
 * What several processes need is marked with "ranks:"; without a launcher it is a job of one, and gives the same losses. */
#include <stdio.h>
#include <stdlib.h>
#include <spore/spore.h>

enum { ROWS = 240, INPUTS = 8, HIDDEN = 16, STEPS = 60, N_WEIGHTS = 4 };
static const int64_t shapes[N_WEIGHTS][3] = {{2, HIDDEN, INPUTS}, {1, HIDDEN}, {2, 1, HIDDEN}, {1, 1}};

static void check(sp_status status)
{
    if (status == SP_OK) return;
    fprintf(stderr, "parallel: %s\n", sp_error_message());
    sp_job_abort(1, "a call failed"); /* ranks: none waits for this one */
    exit(1);
}

/* Numbers in (-1, 1) that are the same in every process. */
static float drawn(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / (float)(1 << 23) - 1;
}

/* Row k of the data: the target is a sum of products. */
static void fill(float *x, float *y, int64_t k)
{
    uint32_t state = (uint32_t)k * 7919u + 1;
    *y = 0;
    for (int i = 0; i < INPUTS; i++) x[i] = drawn(&state);
    for (int i = 0; i + 1 < INPUTS; i += 2) *y += x[i] * x[i + 1];
}

/* ranks: the sum of all ranks' values, divided by their number, in place. */
static void average(sp_comm *world, sp_tensor *t)
{
    check(sp_comm_run(world, &(sp_exchange){.kind = SP_EXCHANGE_ALL_REDUCE,
                                            .reduce = SP_REDUCE_MEAN,
                                            .dtype = SP_DTYPE_F32,
                                            .n = sp_tensor_count(t),
                                            .in = sp_tensor_data(t),
                                            .out = sp_tensor_data(t)}));
}

static sp_tensor *loss_of(sp_builder *b, sp_tensor *const *w, sp_tensor *x, sp_tensor *y)
{
    sp_tensor *h = sp_tanh(b, sp_dense(b, x, w[0], w[1]));
    sp_tensor *apart = sp_sub(b, sp_dense(b, h, w[2], w[3]), y);
    return sp_reduce_mean(b, sp_mul(b, apart, apart), 0, NULL, false);
}

int main(void)
{
    check(sp_job_join()); /* ranks: become one */
    sp_comm *world = sp_comm_world();
    const int rank = sp_comm_rank(world), size = sp_comm_size(world);
    const int64_t n = ROWS / size; /* ranks: each takes its share of the rows */
    sp_builder *keep, *b;
    check(sp_builder_create(&keep));
    check(sp_builder_create(&b));
    sp_tensor *x, *y, *rate, *w[N_WEIGHTS], *grads[N_WEIGHTS];
    check(sp_tensor_create(SP_DTYPE_F32, 2, (const int64_t[]){n, INPUTS}, &x));
    check(sp_tensor_create(SP_DTYPE_F32, 2, (const int64_t[]){n, 1}, &y));
    check(sp_tensor_create_f64(SP_DTYPE_F32, 0.2, &rate));
    sp_builder_take_tensor(keep, x), sp_builder_take_tensor(keep, y), sp_builder_take_tensor(keep, rate);
    for (int64_t k = 0; k < n; k++)
        fill((float *)sp_tensor_data(x) + k * INPUTS, (float *)sp_tensor_data(y) + k, rank * n + k);
    uint32_t state = 5; /* ranks: weights begin alike */
    for (int i = 0; i < N_WEIGHTS; i++) {
        check(sp_tensor_create_zeros(SP_DTYPE_F32, (int)shapes[i][0], &shapes[i][1], &w[i]));
        sp_builder_take_tensor(keep, w[i]);
        float *v = sp_tensor_data(w[i]);
        for (int64_t k = 0; k < sp_tensor_count(w[i]); k++) v[k] = 0.5f * drawn(&state);
    }
    double first = 0, value = 0;
    for (int step = 0; step < STEPS; step++) {
        sp_grad_begin();
        for (int i = 0; i < N_WEIGHTS; i++) check(sp_grad_watch(w[i]));
        sp_tensor *loss = loss_of(b, w, x, y);
        check(sp_builder_status(b));
        check(sp_grad_backward(1, &loss, NULL, N_WEIGHTS, w, false, grads));
        sp_grad_end();
        for (int i = 0; i < N_WEIGHTS; i++) {
            sp_grad_unwatch(w[i]);
            average(world, sp_builder_take_tensor(b, grads[i])); /* ranks: gradients of all the rows */
            sp_assign(b, w[i], sp_sub(b, w[i], sp_mul(b, grads[i], rate)));
        }
        average(world, loss); /* ranks: for the print */
        check(sp_builder_status(b));
        check(sp_tensor_item_f64(loss, &value));
        if (step == 0) first = value;
        if (rank == 0 && step % 20 == 19) printf("step %d: loss %.5f\n", step + 1, value); /* ranks: one prints */
        sp_builder_reset(b);
    }
    sp_builder_release(b), sp_builder_release(keep);
    sp_job_leave();
    return value < 0.8 * first ? 0 : 1;
}
