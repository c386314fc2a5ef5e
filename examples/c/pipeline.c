/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c - a data pipeline in C: pictures and labels, shuffled anew each epoch, flipped at random, normalised, in batches.
 *
 * Which rows come when follows from the seed and the epoch alone, however many threads make them: the program reads the same
 * data with no worker and with two, and compares. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spore/data.h>

enum { ROWS = 100, SIDE = 8, BATCH = 32, EPOCHS = 2 };

static void check(sp_status status)
{
    if (status == SP_OK) return;
    fprintf(stderr, "pipeline: %s\n", sp_error_message());
    exit(1);
}

static sp_transform *make(const char *name, int n, const sp_transform_arg *args)
{
    sp_transform *t = NULL;
    check(sp_transform_create(name, n, args, 0, NULL, &t));
    return t;
}

/* Pictures of one grey a class, and the classes. */
static void draw(sp_tensor **images, sp_tensor **labels)
{
    check(sp_tensor_create(SP_DTYPE_U8, 4, (int64_t[]){ROWS, SIDE, SIDE, 1}, images));
    check(sp_tensor_create(SP_DTYPE_I32, 1, (int64_t[]){ROWS}, labels));
    for (int i = 0; i < ROWS; i++) {
        int class = i % 10;
        memset((unsigned char *)sp_tensor_data(*images) + i * SIDE * SIDE, 20 * class, SIDE * SIDE);
        ((int *)sp_tensor_data(*labels))[i] = class;
    }
}

static sp_dataset *build(sp_tensor *images, sp_tensor *labels)
{
    const double mean = 127.5, deviation = 127.5;
    const sp_transform_arg normal[] = {{"mean", 1, &mean}, {"std", 1, &deviation}};
    sp_transform *steps[] = {make("RandomHorizontalFlip", 0, NULL), make("Normalize", 2, normal),
                             make("HWC2CHW", 0, NULL)};
    sp_dataset *rows, *mapped, *batches;
    check(sp_dataset_from_arrays(2, (sp_tensor *[]){images, labels}, (const char *[]){"image", "label"},
                                 &(sp_order){.shuffle = true}, &rows));
    check(sp_dataset_map(rows, 3, steps, 1, (const char *[]){"image"}, 0, NULL, &mapped));
    check(sp_dataset_batch(mapped, BATCH, false, &batches));
    for (int i = 0; i < 3; i++) sp_transform_release(steps[i]);
    sp_dataset_release(rows);
    sp_dataset_release(mapped);
    return batches;
}

/* The labels of all epochs, in the order they come. */
static int read_all(sp_dataset *ds, int n_workers, int *labels)
{
    sp_iterator *it;
    int n = 0;
    check(sp_iterator_create(ds, &(sp_iterator_plan){.n_workers = n_workers, .seed = 7}, &it));
    for (int epoch = 0; epoch < EPOCHS; epoch++)
        for (bool more = true; more;) {
            sp_tensor *row[2];
            check(sp_iterator_next(it, row, &more));
            if (!more) break;
            int count = (int)sp_tensor_dims(row[1])[0];
            memcpy(labels + n, sp_tensor_data(row[1]), (size_t)count * sizeof *labels);
            n += count;
            if (n_workers == 0 && epoch == 0)
                printf("batch of %d pictures of %d x %d, the first label is %d\n", count,
                       (int)sp_tensor_dims(row[0])[2], (int)sp_tensor_dims(row[0])[3], *(int *)sp_tensor_data(row[1]));
            for (int i = 0; i < 2; i++) sp_tensor_release(row[i]);
        }
    sp_iterator_release(it);
    return n;
}

int main(void)
{
    static int alone[EPOCHS * ROWS], helped[EPOCHS * ROWS];
    sp_tensor *images, *labels;
    draw(&images, &labels);
    sp_dataset *ds = build(images, labels);
    int n = read_all(ds, 0, alone), m = read_all(ds, 2, helped);
    int epochs_differ = memcmp(alone, alone + ROWS, ROWS * sizeof *alone) != 0;
    int same = n == EPOCHS * ROWS && m == n && memcmp(alone, helped, sizeof alone) == 0;
    printf("%d rows; epochs %s; two workers: %s\n", n, epochs_differ ? "differ" : "are equal",
           same ? "same order" : "OTHER ORDER");
    sp_dataset_release(ds);
    sp_tensor_release(images);
    sp_tensor_release(labels);
    return !(same && epochs_differ);
}
