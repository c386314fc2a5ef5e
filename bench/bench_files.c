/* SPDX-License-Identifier: Apache-2.0 */
/* bench_files.c - files of 100 tensors: loading, the first tensor, all of them, saving, and copying the file for comparison.
 * SPORE_BENCH_MB tells their size (default 256); the files are made in the current folder and removed. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <spore/spore.h>

enum { TENSORS = 100 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(sp_status status)
{
    if (status == SP_OK) return;
    fprintf(stderr, "bench_files: %s\n", sp_error_message());
    exit(1);
}

static sp_bundle *make(int64_t n)
{
    sp_bundle *b;
    must(sp_bundle_create(&b));
    for (int i = 0; i < TENSORS; i++) {
        char name[64];
        sp_tensor *t;
        snprintf(name, sizeof name, "layer%d.weight", i);
        must(sp_tensor_create(SP_DTYPE_F32, 1, &n, &t));
        float *p = sp_tensor_data(t);
        for (int64_t k = 0; k < n; k++) p[k] = (float)(k * 31 + i);
        must(sp_bundle_add(b, name, t));
        sp_tensor_release(t);
    }
    return b;
}

/* Every byte, as a user of the weights would read it. */
static double touch(const sp_tensor *t)
{
    const float *p = sp_tensor_data(t);
    double sum = 0;
    for (int64_t k = 0; k < sp_tensor_count(t); k += 1024) sum += p[k];
    return sum;
}

static void copy_file(const char *from, const char *to)
{
    static char buffer[1 << 22];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t n;
    while ((n = read(in, buffer, sizeof buffer)) > 0)
        if (write(out, buffer, (size_t)n) != n) exit(1);
    if (fsync(out) != 0) exit(1);
    close(in);
    close(out);
}

static void run(const sp_bundle *b, const char *path, double mb)
{
    double start = now();
    must(sp_save(path, b, NULL));
    double save = now() - start;
    start = now();
    copy_file(path, "bench_files.copy");
    double copy = now() - start;
    sp_bundle *loaded;
    start = now();
    must(sp_load(path, NULL, &loaded));
    double load = now() - start;
    start = now();
    volatile double keep = touch(sp_bundle_tensor_at(loaded, 0));
    double first = now() - start;
    start = now();
    for (int64_t i = 0; i < sp_bundle_count(loaded); i++) keep += touch(sp_bundle_tensor_at(loaded, i));
    double all = now() - start;
    sp_bundle_release(loaded);
    unlink(path);
    unlink("bench_files.copy");
    printf("%-26s load %.2f ms, first tensor %.2f ms, all %.0f ms; save %.0f MB/s, copy %.0f MB/s\n", path, load * 1e3,
           first * 1e3, all * 1e3, mb / save, mb / copy);
}

int main(void)
{
    const char *asked = getenv("SPORE_BENCH_MB");
    int64_t mb = asked != NULL ? strtoll(asked, NULL, 10) : 256;
    sp_bundle *b = make(mb * (1 << 20) / TENSORS / 4);
    run(b, "bench_files.ckpt", (double)mb);
    run(b, "bench_files.safetensors", (double)mb);
    run(b, "bench_files.npz", (double)mb);
    sp_bundle_release(b);
    return 0;
}
