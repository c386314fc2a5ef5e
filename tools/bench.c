/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - `spore bench`: a roofline of this machine, and where the main kernels stand on it; of a model: bench_model.c. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spore/machine.h"
#include "spore/op.h"
#include "spore/runtime.h"
#include "spore/tensor.h"
#include "spore/graph.h"
#include "spore/parallel.h"
#include "tools.h"

enum { PEAKS_MAX = 24 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A call of an operator, and what it must do at least: operations of its dtype, or bytes to move. */
typedef struct row {
    const char *name, *op;
    sp_dtype dtype;
    int rank;
    int64_t a[4], b[4]; /* b[0] = 0: one input */
    double operations, bytes;
} row;

#define CUBE(n) (2.0 * (n) * (n) * (n))
static const row rows[] = {
    {"matmul float32 256", "matmul", SP_DTYPE_F32, 2, {256, 256}, {256, 256}, CUBE(256), 0},
    {"matmul float32 1024", "matmul", SP_DTYPE_F32, 2, {1024, 1024}, {1024, 1024}, CUBE(1024), 0},
    {"matmul float64 512", "matmul", SP_DTYPE_F64, 2, {512, 512}, {512, 512}, CUBE(512), 0},
    {"matmul bfloat16 1024", "matmul", SP_DTYPE_BF16, 2, {1024, 1024}, {1024, 1024}, CUBE(1024), 0},
    {"matmul int8 1024", "matmul", SP_DTYPE_I8, 2, {1024, 1024}, {1024, 1024}, CUBE(1024), 0},
    {"matmul float32 1x4096x4096", "matmul", SP_DTYPE_F32, 2, {1, 4096}, {4096, 4096}, 0, 4.0 * 4096 * 4096},
    {"conv2d 3x3, 8x64x58x58",
     "conv2d",
     SP_DTYPE_F32,
     4,
     {8, 64, 58, 58},
     {64, 64, 3, 3},
     2.0 * 8 * 64 * 56 * 56 * 64 * 9,
     0},
    {"conv2d 3x3, 8x256x16x16",
     "conv2d",
     SP_DTYPE_F32,
     4,
     {8, 256, 16, 16},
     {256, 256, 3, 3},
     2.0 * 8 * 256 * 14 * 14 * 256 * 9,
     0},
    {"conv2d 1x1, 8x256x28x28",
     "conv2d",
     SP_DTYPE_F32,
     4,
     {8, 256, 28, 28},
     {512, 256, 1, 1},
     2.0 * 8 * 512 * 784 * 256,
     0},
    {"add, 4M", "add", SP_DTYPE_F32, 1, {1 << 22}, {1 << 22}, 0, 12.0 * (1 << 22)},
    {"exp, 4M", "exp", SP_DTYPE_F32, 1, {1 << 22}, {0}, 0, 8.0 * (1 << 22)},
    {"tanh, 4M", "tanh", SP_DTYPE_F32, 1, {1 << 22}, {0}, 0, 8.0 * (1 << 22)},
    {"reduce_sum 4096x4096", "reduce_sum", SP_DTYPE_F32, 2, {4096, 4096}, {0}, 0, 4.0 * (1 << 24)},
    {"softmax 4096x1024", "softmax", SP_DTYPE_F32, 2, {4096, 1024}, {0}, 0, 8.0 * (1 << 22)},
};

/* Numbers that are not special: 0.5 in any float, 1 in int8. */
static sp_status filled(const row *r, const int64_t *dims, sp_tensor **out)
{
    SP_TRY(sp_tensor_create(r->dtype, r->rank, dims, out));
    size_t size = sp_dtype_bytes(r->dtype), bytes = sp_tensor_bytes(*out);
    const float f = 0.5F;
    const double d = 0.5;
    const uint16_t half = 0x3F00;
    const void *from = size == 8 ? (const void *)&d : size == 4 ? (const void *)&f : (const void *)&half;
    char *data = sp_tensor_data(*out);
    if (size == 1) memset(data, 1, bytes);
    for (size_t i = 0; size > 1 && i < bytes; i += size) memcpy(data + i, from, size);
    return SP_OK;
}

static sp_status measure(const row *r, double *seconds)
{
    const sp_op *op = sp_op_find(r->op);
    sp_tensor *in[3] = {NULL, NULL, NULL}, *out = NULL;
    sp_status status = filled(r, r->a, &in[0]);
    if (status == SP_OK && r->b[0]) status = filled(r, r->b, &in[1]);
    int n_in = strcmp(r->op, "conv2d") == 0 ? 3 : r->b[0] ? 2 : 1, n_out;
    *seconds = 1e9;
    double end = now() + 0.3;
    for (int i = 0; status == SP_OK && (i < 3 || now() < end); i++) {
        double start = now();
        status = sp_apply(op, NULL, n_in, in, 1, &out, &n_out);
        double each = now() - start;
        if (status == SP_OK) sp_tensor_release(out);
        if (each < *seconds) *seconds = each;
    }
    sp_tensor_release(in[0]);
    sp_tensor_release(in[1]);
    return status;
}

/* The limit that a row is held against: the highest for its dtype, or reading from memory. */
static const sp_machine_peak *limit_of(const row *r, const sp_machine_peak *peaks, int n)
{
    const sp_machine_peak *best = NULL;
    for (int i = 0; i < n; i++) {
        bool fits = r->operations > 0 ? peaks[i].dtype == r->dtype : strcmp(peaks[i].name, "reading, memory") == 0;
        if (fits && (!best || peaks[i].all > best->all)) best = &peaks[i];
    }
    return best;
}

static void print_limit(const sp_machine_peak *peak, bool json, bool first)
{
    const char *unit = peak->dtype == SP_DTYPE_NONE ? "GB/s" : "Gop/s";
    if (json)
        printf("%s\n  {\"name\": \"%s\", \"unit\": \"%s\", \"one_thread\": %.3f, \"all_threads\": %.3f}",
               first ? "" : ",", peak->name, unit, peak->one / 1e9, peak->all / 1e9);
    else printf("%-30s %12.1f %-5s %12.1f %-5s\n", peak->name, peak->one / 1e9, unit, peak->all / 1e9, unit);
}

static void print_kernel(const row *r, double seconds, const sp_machine_peak *limit, bool json, bool first)
{
    const double rate = (r->operations > 0 ? r->operations : r->bytes) / seconds;
    const char *unit = r->operations > 0 ? "Gop/s" : "GB/s";
    if (json) {
        printf("%s\n  {\"name\": \"%s\", \"ms\": %.6f, \"rate\": %.3f, \"unit\": \"%s\"", first ? "" : ",", r->name,
               seconds * 1e3, rate / 1e9, unit);
        if (limit) printf(", \"limit\": \"%s\", \"share\": %.4f", limit->name, rate / limit->all);
        printf("}");
        return;
    }
    printf("%-30s %15.3f ms %12.1f %-5s", r->name, seconds * 1e3, rate / 1e9, unit);
    if (limit) printf("   %3.0f %% of %s", 100 * rate / limit->all, limit->name);
    printf("\n");
    fflush(stdout);
}

/* Figures of the ranks that a launcher has started; of one rank those of operators. */
static int bench_comm(void)
{
    char *report = NULL;
    if (sp_costs_measure(&report) != SP_OK) return tool_engine_failed("bench");
    const sp_comm *world = sp_comm_world();
    if (sp_comm_rank(world) == 0) {
        fputs(report, stdout);
        if (sp_comm_size(world) == 1)
            fputs("\nexchanges were not measured: start this with mpirun -n 2 spore bench --comm, and with 4\n",
                  stdout);
    }
    sp_text_free(report);
    sp_job_leave();
    return 0;
}

int verb_bench(int argc, char **argv)
{
    static const char help[] =
        "usage: spore bench [MODEL] [options]\n\n"
        "Without MODEL: measures what this machine can do at most (products of every dtype, reading of every cache and of memory), then how\n"
        "near the main kernels come to it. Takes about half a minute; other work on the machine shows in the figures.\n"
        "With one (MindIR, ONNX, TFLite, MindSpore Lite): how long a run takes, the last line as MindSpore Lite's benchmark prints it.\n\n"
        "  --loop N             runs that are measured (default 10)\n"
        "  --warm-up N          runs before them (default 3)\n"
        "  --threads N          threads (default: as many as the process may use)\n"
        "  --input FILE         bytes of an input; may be repeated, one for each, in order (default: made up)\n"
        "  --accuracy FILE      outputs to compare with: for each a line 'name rank sizes' and its numbers\n"
        "  --threshold PERCENT  mean bias that is allowed (default 0.5)\n\n"
        "Without MODEL:\n" TOOL_JSON_HELP
        "\n  --comm               operators and exchanges of the ranks of this job (mpirun -n 2 spore bench --comm), kept for the search of\n"
        "                       strategies and spore plan: SPORE_COSTS, else spore/costs in the cache folder\n"
        "\n  SPORE_NUM_THREADS, SPORE_ISA=portable|avx2|avx512|amx|neon are heeded\n";
    int n_others;
    bool helped, json = false, comm = false;
    tool_bench b = {.loop = 10, .warm_up = 3, .threshold = 0.5};
    const char *path = NULL, *loop = NULL, *warm_up = NULL, *threads = NULL, *threshold = NULL;
    const tool_option options[] = {{"--loop", NULL, &loop, NULL},
                                   {"--warm-up", NULL, &warm_up, NULL},
                                   {"--threads", NULL, &threads, NULL},
                                   {"--input", NULL, NULL, &b.inputs},
                                   {"--accuracy", NULL, &b.accuracy, NULL},
                                   {"--threshold", NULL, &threshold, NULL},
                                   {"--json", &json, NULL, NULL},
                                   {"--comm", &comm, NULL, NULL},
                                   {NULL, NULL, NULL, NULL}};
    int code = tool_parse(argc, argv, options, help, (const int[2]){0, 1}, &path, &n_others, &helped);
    if (code == 0) code = tool_whole("bench", "--loop", loop, 1, 1000000, &b.loop);
    if (code == 0) code = tool_whole("bench", "--warm-up", warm_up, 0, 1000000, &b.warm_up);
    if (code == 0) code = tool_whole("bench", "--threads", threads, 1, 1024, &b.threads);
    if (code == 0) code = tool_number("bench", "--threshold", threshold, 0, 1e9, &b.threshold);
    if (code != 0 || helped) return code;
    if (comm && (n_others == 1 || json || loop || warm_up || threads || threshold || b.inputs || b.accuracy))
        return tool_complain(EXIT_USAGE, "bench: --comm stands alone: it measures the ranks of a job");
    if (comm) return bench_comm();
    if (n_others == 1 && json)
        return tool_complain(EXIT_USAGE, "bench: --json is for the machine; the figures of a model are a text");
    if (threshold != NULL && b.accuracy == NULL)
        return tool_complain(EXIT_USAGE, "bench: --threshold is for --accuracy, it would change nothing here");
    if (n_others == 1) return tool_bench_model(path, &b);
    if (loop || warm_up || threads || threshold || b.inputs || b.accuracy)
        return tool_complain(EXIT_USAGE, "bench: options are for a model; name its file");
    sp_machine_peak peaks[PEAKS_MAX];
    printf(json ? "{\"instructions\": \"%s\", \"threads\": %d, \"limits\": ["
                : "instructions  %s\nthreads       %d\n\n",
           sp_machine_features(), sp_threads());
    if (!json) printf("%-30s %18s %18s\n", "limit", "one thread", "all threads");
    fflush(stdout);
    int n = sp_machine_peaks(peaks, PEAKS_MAX);
    if (n > PEAKS_MAX) n = PEAKS_MAX;
    for (int i = 0; i < n; i++) print_limit(&peaks[i], json, i == 0);
    if (json) printf("\n], \"kernels\": [");
    else printf("\n%-30s %18s %18s   %s\n", "kernel", "time", "rate", "share of the limit");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double seconds;
        if (measure(&rows[i], &seconds) != SP_OK)
            return tool_complain(EXIT_FAILED, "bench: %s: %s", rows[i].name, sp_error_message());
        print_kernel(&rows[i], seconds, limit_of(&rows[i], peaks, n), json, i == 0);
    }
    if (json) printf("\n]}\n");
    return 0;
}
