/* SPDX-License-Identifier: Apache-2.0 */
/* lenet.c - train LeNet-5 on MNIST in C and save a checkpoint that Python loads: lenet [MNIST folder] [checkpoint]
 *     cc lenet.c $(pkg-config --cflags --libs spore) -lz -lm                (zlib reads the data)
 * Pictures stay bytes and become floats a batch at a time: 64 MB of address space are enough (ulimit -v 65536). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <spore/spore.h>
#include <zlib.h>

enum { N_WEIGHTS = 8, BATCH = 32, EPOCHS = 3 };
static const char *const names[N_WEIGHTS] = {"conv1.weight", "conv2.weight", "fc1.weight", "fc1.bias",
                                             "fc2.weight",   "fc2.bias",     "fc3.weight", "fc3.bias"};
static const int64_t shapes[N_WEIGHTS][5] = {{4, 6, 1, 5, 5}, {4, 16, 6, 5, 5}, {2, 120, 400}, {1, 120},
                                             {2, 84, 120},    {1, 84},          {2, 10, 84},   {1, 10}};

static void need(bool ok, const char *what, const char *why)
{
    if (ok) return;
    fprintf(stderr, "lenet: %s%s\n", what, why);
    exit(1);
}
static void check(sp_status status) { need(status == SP_OK, "", sp_error_message()); }

/* An IDX file (gzipped or not): images as uint8 [n,1,28,28], labels as int32 [n]. */
static sp_tensor *read_idx(sp_builder *b, const char *folder, const char *name)
{
    char path[512];
    unsigned char head[16];
    snprintf(path, sizeof path, "%s/%s.gz", folder, name);
    gzFile file = gzopen(path, "rb");
    need(file && gzread(file, head, 8) == 8, path, " is missing or too short");
    const int64_t dims[4] = {head[4] << 24 | head[5] << 16 | head[6] << 8 | head[7], 1, 28, 28};
    int rank = head[3] == 3 ? 4 : 1;
    sp_tensor *bytes;
    check(sp_tensor_create(SP_DTYPE_U8, rank, dims, &bytes));
    if (rank == 4) gzread(file, head, 8); /* rows and columns */
    int size = (int)sp_tensor_bytes(bytes);
    need(gzread(file, sp_tensor_data(bytes), (unsigned)size) == size, path, " ends early");
    gzclose(file);
    bytes = sp_builder_take_tensor(b, bytes);
    sp_tensor *read = rank == 1 ? sp_cast(b, bytes, SP_DTYPE_I32) : bytes;
    check(sp_builder_status(b));
    return read;
}

/* Rows [from, to) of t: a view. */
static sp_tensor *rows(sp_builder *b, sp_tensor *t, int64_t from, int64_t to)
{
    const int64_t dims[4] = {to - from, 1, 28, 28};
    sp_tensor *view;
    check(sp_tensor_view(t, sp_tensor_rank(t), dims, sp_tensor_strides(t), from * sp_tensor_strides(t)[0], &view));
    return sp_builder_take_tensor(b, view);
}

static sp_tensor *logits(sp_builder *b, sp_tensor *const *w, sp_tensor *x)
{
    sp_tensor *scale;
    check(sp_tensor_create_f64(SP_DTYPE_F32, 1.0 / 255, &scale));
    x = sp_mul(b, sp_cast(b, x, SP_DTYPE_F32), sp_builder_take_tensor(b, scale));
    sp_conv2d_attrs padded = sp_conv2d_defaults();
    sp_max_pool2d_attrs halved = sp_max_pool2d_defaults();
    padded.pad = SP_INTS(2, 2, 2, 2);
    halved.kernel_size = halved.stride = SP_INTS(2, 2);
    x = sp_max_pool2d(b, sp_relu(b, sp_conv2d(b, x, w[0], NULL, &padded)), &halved);
    x = sp_max_pool2d(b, sp_relu(b, sp_conv2d(b, x, w[1], NULL, NULL)), &halved);
    x = sp_reshape(b, x, 2, (const int64_t[]){-1, 400});
    x = sp_relu(b, sp_dense(b, x, w[2], w[3]));
    x = sp_relu(b, sp_dense(b, x, w[4], w[5]));
    return sp_dense(b, x, w[6], w[7]);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "../../data/mnist", *path = argc > 2 ? argv[2] : "lenet_c.ckpt";
    sp_builder *keep, *b;
    check(sp_builder_create(&keep)); /* lives as long as the program; b is emptied after every step */
    check(sp_builder_create(&b));
    sp_tensor *x = read_idx(keep, folder, "train-images-idx3-ubyte"),
              *y = read_idx(keep, folder, "train-labels-idx1-ubyte");
    sp_tensor *w[N_WEIGHTS], *speed[N_WEIGHTS], *grads[N_WEIGHTS], *rate, *momentum;
    check(sp_tensor_create_f64(SP_DTYPE_F32, 0.02, &rate));
    check(sp_tensor_create_f64(SP_DTYPE_F32, 0.9, &momentum));
    sp_builder_take_tensor(keep, rate), sp_builder_take_tensor(keep, momentum);
    for (int i = 0; i < N_WEIGHTS; i++) { /* biases start at zero, weights uniform in +-1/sqrt(inputs of a neuron) */
        check(sp_tensor_create_zeros(SP_DTYPE_F32, (int)shapes[i][0], &shapes[i][1], &w[i]));
        check(sp_tensor_create_zeros(SP_DTYPE_F32, (int)shapes[i][0], &shapes[i][1], &speed[i]));
        sp_builder_take_tensor(keep, w[i]), sp_builder_take_tensor(keep, speed[i]);
        float *v = sp_tensor_data(w[i]), bound = sqrtf((float)shapes[i][1] / (float)sp_tensor_count(w[i]));
        for (int64_t k = shapes[i][0] > 1 ? sp_tensor_count(w[i]) : 0; k--;)
            v[k] = bound * (2 * (float)rand() / (float)RAND_MAX - 1);
    }
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        double sum = 0, value;
        for (int64_t at = 0; at + BATCH <= sp_tensor_dims(x)[0]; at += BATCH) {
            sp_grad_begin();
            for (int i = 0; i < N_WEIGHTS; i++) check(sp_grad_watch(w[i]));
            sp_tensor *guess = logits(b, w, rows(b, x, at, at + BATCH));
            sp_tensor *loss = sp_cross_entropy(b, guess, rows(b, y, at, at + BATCH), NULL, NULL);
            check(sp_builder_status(b));
            check(sp_grad_backward(1, &loss, NULL, N_WEIGHTS, w, false, grads));
            sp_grad_end();
            for (int i = 0; i < N_WEIGHTS; i++) {
                sp_grad_unwatch(w[i]);
                sp_tensor *grad = sp_builder_take_tensor(b, grads[i]), *updated[2];
                sp_momentum_update(b, w[i], speed[i], rate, grad, momentum, NULL, updated);
            }
            check(sp_tensor_item_f64(loss, &value));
            check(sp_builder_status(b));
            sp_builder_reset(b);
            sum += value;
        }
        printf("epoch %d: loss %.4f\n", epoch + 1, sum * BATCH / (double)sp_tensor_dims(x)[0]);
    }
    sp_tensor *test = read_idx(keep, folder, "t10k-images-idx3-ubyte"),
              *truth = read_idx(keep, folder, "t10k-labels-idx1-ubyte");
    const int64_t n_test = sp_tensor_dims(test)[0];
    double accuracy = 0, right;
    for (int64_t at = 0, to; at < n_test; at = to, sp_builder_reset(b)) {
        to = at + BATCH < n_test ? at + BATCH : n_test;
        sp_argmax_attrs by_class = sp_argmax_defaults();
        by_class.axis = 1;
        sp_tensor *best = sp_argmax(b, logits(b, w, rows(b, test, at, to)), &by_class);
        sp_tensor *hits =
            sp_reduce_sum(b, sp_cast(b, sp_equal(b, best, rows(b, truth, at, to)), SP_DTYPE_F32), 0, NULL, false);
        check(sp_builder_status(b));
        check(sp_tensor_item_f64(hits, &right));
        accuracy += right / (double)n_test;
    }
    sp_bundle *bundle;
    check(sp_bundle_create(&bundle));
    for (int i = 0; i < N_WEIGHTS; i++) check(sp_bundle_add(bundle, names[i], w[i]));
    check(sp_save(path, bundle, NULL));
    printf("test accuracy %.4f, saved %s\n", accuracy, path);
    sp_bundle_release(bundle);
    sp_builder_release(b), sp_builder_release(keep);
    return accuracy > 0.9 ? 0 : 1;
}
