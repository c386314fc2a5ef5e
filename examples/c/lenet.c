/* SPDX-License-Identifier: Apache-2.0 */
/* lenet.c - train LeNet-5 on MNIST in C and save a checkpoint that Python loads: lenet [MNIST folder] [checkpoint]
 *     cc lenet.c $(pkg-config --cflags --libs spore) -lz -lm                (zlib reads the data)
 * Pictures stay bytes and become floats a batch at a time: 64 MB of address space are enough (ulimit -v 65536). */
#include <stdio.h>
#include <stdlib.h>
#include <spore/spore.h>
#include <zlib.h>

enum { BATCH = 32, EPOCHS = 3 };

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

static sp_tensor *scores(sp_builder *b, sp_nn *n, sp_tensor *x)
{
    sp_conv2d_attrs padded = sp_conv2d_defaults();
    sp_max_pool2d_attrs halved = sp_max_pool2d_defaults();
    padded.pad = SP_INTS(2, 2, 2, 2);
    halved.kernel_size = halved.stride = SP_INTS(2, 2);
    x = sp_mul(b, sp_cast(b, x, SP_DTYPE_F32), sp_scalar(b, SP_DTYPE_F32, 1.0 / 255));
    x = sp_max_pool2d(b, sp_relu(b, sp_nn_conv2d(b, n, "conv1", x, 6, 5, 5, false, &padded)), &halved);
    x = sp_max_pool2d(b, sp_relu(b, sp_nn_conv2d(b, n, "conv2", x, 16, 5, 5, false, NULL)), &halved);
    x = sp_reshape(b, x, 2, (const int64_t[]){-1, 400});
    x = sp_relu(b, sp_nn_dense(b, n, "fc1", x, 120, true));
    x = sp_relu(b, sp_nn_dense(b, n, "fc2", x, 84, true));
    return sp_nn_dense(b, n, "fc3", x, 10, true);
}

static sp_tensor *loss(void *unused, sp_builder *b, sp_nn *n, int n_in, sp_tensor *const *in)
{
    (void)unused, (void)n_in;
    return sp_cross_entropy(b, scores(b, n, in[0]), in[1], NULL, NULL);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "../../data/mnist", *path = argc > 2 ? argv[2] : "lenet_c.ckpt";
    sp_builder *keep, *b;
    sp_nn *net;
    sp_trainer *trainer;
    sp_metric *right;
    check(sp_builder_create(&keep)); /* lives as long as the program; b is emptied after every step */
    check(sp_builder_create(&b));
    sp_tensor *x = read_idx(keep, folder, "train-images-idx3-ubyte"),
              *y = read_idx(keep, folder, "train-labels-idx1-ubyte");
    sp_trainer_options options = sp_trainer_defaults(SP_OPTIMIZER_MOMENTUM);
    options.rate = 0.02;
    check(sp_nn_create(1, &net));
    check(sp_trainer_create(net, loss, NULL, &options, &trainer));
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        double sum = 0, value;
        for (int64_t at = 0; at + BATCH <= sp_tensor_dims(x)[0]; at += BATCH, sp_builder_reset(b)) {
            sp_tensor *batch[2] = {rows(b, x, at, at + BATCH), rows(b, y, at, at + BATCH)};
            check(sp_trainer_step(trainer, 2, batch, &value));
            sum += value;
        }
        printf("epoch %d: loss %.4f\n", epoch + 1, sum * BATCH / (double)sp_tensor_dims(x)[0]);
    }
    sp_tensor *test = read_idx(keep, folder, "t10k-images-idx3-ubyte"),
              *truth = read_idx(keep, folder, "t10k-labels-idx1-ubyte");
    const int64_t n_test = sp_tensor_dims(test)[0];
    double accuracy;
    check(sp_metric_create(SP_METRIC_ACCURACY, 0, &right));
    for (int64_t at = 0, to; at < n_test; at = to, sp_builder_reset(b)) {
        to = at + BATCH < n_test ? at + BATCH : n_test;
        sp_tensor *guess = scores(b, net, rows(b, test, at, to));
        check(sp_builder_status(b));
        check(sp_metric_update(right, guess, rows(b, truth, at, to)));
    }
    check(sp_metric_value(right, &accuracy));
    check(sp_nn_save(net, path, NULL));
    printf("test accuracy %.4f, saved %s\n", accuracy, path);
    sp_metric_release(right);
    sp_trainer_release(trainer);
    sp_nn_release(net);
    sp_builder_release(b), sp_builder_release(keep);
    return accuracy > 0.9 ? 0 : 1;
}
