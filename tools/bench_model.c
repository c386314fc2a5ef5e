/* SPDX-License-Identifier: Apache-2.0 */
/* bench_model.c - `spore bench MODEL`: how long a model takes, and how far its outputs are from recorded ones, as MindSpore Lite's benchmark has it. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spore/runtime.h"
#include "tools.h"

enum { FACES_MAX = 64, NAME_BYTES = 1024 };

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Numbers that depend on nothing but their place: floats in [0, 1), integers 0 and 1. */
static sp_status made_up(const sp_spec *s, sp_tensor **out)
{
    int64_t dims[SP_RANK_MAX], n = 1;
    sp_tensor *wide = NULL;
    for (int k = 0; k < s->rank; k++) n *= dims[k] = s->dims[k] < 0 ? 1 : s->dims[k];
    SP_TRY(sp_tensor_create(SP_DTYPE_F32, s->rank < 0 ? 0 : s->rank, dims, &wide));
    float *data = sp_tensor_data(wide);
    uint32_t seed = 1;
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        data[i] = (float)(seed >> 8) / (float)(1 << 24);
        if (sp_dtype_kind(s->dtype) != 'f') data[i] = data[i] < 0.5F ? 0 : 1;
    }
    sp_status status = sp_tensor_create(s->dtype, sp_tensor_rank(wide), sp_tensor_dims(wide), out);
    if (status == SP_OK) status = sp_tensor_assign(*out, wide);
    sp_tensor_release(wide);
    return status;
}

/* The bytes of an input, as they are. */
static int from_file(const char *path, sp_tensor *to)
{
    FILE *f = tool_input_open("bench", "--input", path);
    if (f == NULL) return EXIT_FAILED;
    const size_t wanted = sp_tensor_bytes(to), n = fread(sp_tensor_data(to), 1, wanted, f);
    const bool whole = n == wanted && fgetc(f) == EOF;
    fclose(f);
    return whole ? 0
                 : tool_complain(EXIT_FAILED, "bench: %s: the input has %zu bytes, the file other than that", path,
                                 wanted);
}

static int fill_inputs(sp_model *m, const char **files, sp_tensor **in)
{
    int n_files = 0;
    while (files != NULL && files[n_files] != NULL) n_files++;
    if (n_files > 0 && n_files != sp_model_inputs(m))
        return tool_complain(EXIT_USAGE, "bench: %d inputs are given, the model has %d", n_files, sp_model_inputs(m));
    for (int i = 0; i < sp_model_inputs(m); i++) {
        if (made_up(sp_model_input_spec(m, i), &in[i]) != SP_OK) return tool_engine_failed("bench");
        const int code = n_files > 0 ? from_file(files[i], in[i]) : 0;
        if (code != 0) return code;
    }
    return 0;
}

/* --- recorded outputs -------------------------------------------------------------------------------------------- */

typedef struct comparison {
    FILE *file;
    double bias; /* sum of |x - y| / |y| */
    int64_t n;
    bool short_file;
} comparison;

static void compare(void *context, const double *values, int64_t n)
{
    comparison *c = context;
    for (int64_t i = 0; i < n && !c->short_file; i++) {
        double wanted = 0;
        if (fscanf(c->file, "%lf", &wanted) != 1) c->short_file = true;
        else if (wanted != 0 || values[i] != 0) {
            c->bias += wanted != 0 ? fabs(values[i] - wanted) / fabs(wanted) : fabs(values[i]);
            c->n++;
        }
    }
}

/* A line "name rank dimensions", then the numbers, for each output; the mean bias in percent. */
static int check_outputs(const sp_model *m, sp_tensor *const *out, const char *path, double limit)
{
    FILE *f = tool_input_open("bench", "--accuracy", path);
    if (f == NULL) return EXIT_FAILED;
    double sum = 0;
    int code = 0;
    for (int i = 0; i < sp_model_outputs(m) && code == 0; i++) {
        char name[NAME_BYTES], shown[NAME_BYTES];
        int rank = 0, found = -1;
        long long dim = 0, count = 1;
        comparison c = {.file = f};
        if (fscanf(f, "%1023s %d", name, &rank) != 2 || rank < 0 || rank > SP_RANK_MAX)
            code = tool_complain(EXIT_FAILED, "bench: %s: output %d has no line 'name rank sizes'", path, i);
        for (int k = 0; k < rank && code == 0; k++) {
            if (fscanf(f, "%lld", &dim) != 1)
                code = tool_complain(EXIT_FAILED, "bench: %s: output %d has no line 'name rank sizes'", path, i);
            count *= dim;
        }
        for (int k = 0; k < sp_model_outputs(m) && code == 0; k++)
            if (strcmp(sp_model_output_name(m, k), name) == 0) found = k;
        if (code == 0 && (found < 0 || count != sp_tensor_count(out[found])))
            code = tool_complain(EXIT_FAILED, "bench: %s: the model has no output '%s' of %lld elements", path,
                                 tool_plain(name, shown, sizeof shown), count);
        if (code != 0) break;
        if (tool_for_values(out[found], compare, &c) != SP_OK) code = tool_engine_failed("bench");
        else if (c.short_file)
            code = tool_complain(EXIT_FAILED, "bench: %s: too few numbers for output '%s'", path,
                                 tool_plain(name, shown, sizeof shown));
        else
            printf("Mean bias of node/tensor %s : %g%%\n", tool_plain(name, shown, sizeof shown),
                   c.n > 0 ? 100 * c.bias / (double)c.n : 0);
        sum += c.n > 0 ? 100 * c.bias / (double)c.n : 0;
    }
    fclose(f);
    if (code != 0) return code;
    const double mean = sum / sp_model_outputs(m);
    printf("Mean bias of all nodes/tensors: %g%%\n", mean);
    return mean <= limit
               ? 0
               : tool_complain(EXIT_FAILED, "bench: the mean bias is %g %%, at most %g is allowed (--threshold)", mean,
                               limit);
}

/* --- the run ----------------------------------------------------------------------------------------------------- */

static int run(sp_model *m, int n_in, sp_tensor **in, int n_out, sp_tensor **out)
{
    for (int i = 0; i < n_out; i++) {
        sp_tensor_release(out[i]);
        out[i] = NULL;
    }
    return sp_model_run(m, n_in, in, n_out, out) == SP_OK ? 0 : tool_engine_failed("bench");
}

int tool_bench_model(const char *path, const tool_bench *b)
{
    sp_model *m = NULL;
    sp_tensor *in[FACES_MAX] = {NULL}, *out[FACES_MAX] = {NULL};
    double least = HUGE_VAL, most = 0, sum = 0;
    if ((b->threads > 0 && sp_threads_set((int)b->threads) != SP_OK) || sp_model_load(path, NULL, &m) != SP_OK)
        return tool_engine_failed("bench");
    const int n_in = sp_model_inputs(m), n_out = sp_model_outputs(m);
    int code = n_in > FACES_MAX || n_out > FACES_MAX
                   ? tool_complain(EXIT_FAILED, "bench: the model has more than %d inputs or outputs", FACES_MAX)
                   : fill_inputs(m, b->inputs, in);
    if (code == 0) code = run(m, n_in, in, n_out, out); /* compiled */
    if (code == 0 && b->accuracy != NULL) code = check_outputs(m, out, b->accuracy, b->threshold);
    for (long long i = 0; i < b->warm_up && code == 0; i++) code = run(m, n_in, in, n_out, out);
    for (long long i = 0; i < b->loop && code == 0; i++) {
        const double start = milliseconds();
        code = run(m, n_in, in, n_out, out);
        const double each = milliseconds() - start;
        least = each < least ? each : least;
        most = each > most ? each : most;
        sum += each;
    }
    const char *name = strrchr(path, '/');
    if (code == 0)
        printf("Model = %s, numThreads = %d, MinRunTime = %.6f ms, MaxRuntime = %.6f ms, AvgRunTime = %.6f ms\n",
               name != NULL ? name + 1 : path, sp_threads(), least, most, sum / (double)b->loop);
    for (int i = 0; i < FACES_MAX; i++) {
        sp_tensor_release(in[i]);
        sp_tensor_release(out[i]);
    }
    sp_model_release(m);
    return code;
}
