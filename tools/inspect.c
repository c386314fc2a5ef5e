/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.c - `spore inspect`: what is in a file. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "spore/session.h"
#include "tools.h"

static const char help[] =
    "usage: spore inspect FILE [--json] [--stats] [--memory] [options]\n\n"
    "Shows what a file of weights or a model is and which tensors it holds. The format is told by the contents:\n"
    "MindSpore .ckpt and .mindir, safetensors (also sharded), PyTorch .pt/.pth/.bin, .npy, .npz, TensorFlow\n"
    "checkpoints, Keras .h5, TFLite, ONNX, .ms. Of a model, MindIR, ONNX, TFLite or MindSpore Lite, the graph is summed up too: inputs, outputs, operators,\n"
    "multiply-adds.\n\n"
    "  --stats              smallest, largest, mean, deviation, number of NaN and infinite elements of each tensor\n"
    "  --memory             of a model: bytes of parameters, inputs, outputs and values between operators in one run\n"
    "  --json               for programs\n" TOOL_KEY_HELP "\nexamples:\n"
    "  spore inspect lenet.ckpt\n"
    "  spore inspect --stats model.safetensors\n"
    "  spore inspect resnet50.pth --json | jq -r '.entries[].name'\n"
    "  SPORE_KEY=0123456789ABCDEF spore inspect secret.ckpt\n";

typedef struct {
    const char *path;
    const sp_bundle *bundle;
    const char *cipher; /* NULL: not encrypted */
    const char *format;
    const char *title;
    uint64_t file_bytes;
    bool stats;
    sp_model *model; /* NULL: none, or it cannot be run */
    bool worked;     /* multiply_adds is known */
    uint64_t multiply_adds;
    bool memory;  /* sizes are known */
    size_t block; /* of a session; 0: the model cannot be bound to one */
    sp_model_sizes sizes;
} report;

static int64_t count_of(int rank, const int64_t *dims)
{
    int64_t n = 1;
    for (int i = 0; i < rank; i++) n *= dims[i];
    return n;
}

/* Statistics of entry i; its contents are not kept. */
static sp_status entry_stats(const sp_bundle *b, int64_t i, tool_stats *out)
{
    sp_tensor *t = NULL;
    sp_status status = sp_bundle_copy_at(b, i, &t);
    if (status == SP_OK) status = tool_stats_of(t, out);
    sp_tensor_release(t);
    return status;
}

/* --- graphs ------------------------------------------------------------------------------------------------------ */

static const char *axis_name(const sp_model *m, bool inputs, int i, int axis)
{
    return inputs ? sp_model_input_axis(m, i, axis) : sp_model_output_axis(m, i, axis);
}

static void print_faces(const sp_model *m, bool inputs)
{
    char name[256], shape[768];
    for (int i = 0; i < (inputs ? sp_model_inputs(m) : sp_model_outputs(m)); i++) {
        const sp_spec *s = inputs ? sp_model_input_spec(m, i) : sp_model_output_spec(m, i);
        printf("  %-7s %s  %s %s\n", inputs ? "input" : "output",
               tool_plain(inputs ? sp_model_input_name(m, i) : sp_model_output_name(m, i), name, sizeof name),
               s->dtype != SP_DTYPE_NONE ? sp_dtype_name(s->dtype) : "?",
               s->rank >= 0 ? tool_face_shape(m, inputs, i, shape, sizeof shape) : "any shape");
    }
}

static bool has_free_sizes(const sp_model *m)
{
    for (int i = 0; i < sp_model_inputs(m); i++) {
        const sp_spec *s = sp_model_input_spec(m, i);
        for (int k = 0; k < s->rank; k++)
            if (s->dims[k] < 0) return true;
    }
    return false;
}

static void print_graph(const report *r)
{
    tool_kind kinds[64];
    if (r->model == NULL) return;
    int n = tool_kinds(r->model, kinds, 64);
    print_faces(r->model, true);
    print_faces(r->model, false);
    printf("  %d nodes:", sp_model_nodes(r->model));
    char type[256];
    for (int i = 0; i < n && i < 12; i++)
        printf("%s %d %s", i ? "," : "", kinds[i].n, tool_plain(kinds[i].type, type, sizeof type));
    printf("%s\n", n > 12 ? ", ..." : "");
    if (r->worked)
        printf("  %.4g million multiply-adds a run%s\n", (double)r->multiply_adds / 1e6,
               has_free_sizes(r->model) ? " (free sizes taken as small as possible)" : "");
    if (r->memory)
        printf(
            "  memory of a run: parameters %zu bytes, inputs %zu, outputs %zu, values between operators %zu (at least %zu)%s\n",
            r->sizes.weights, r->sizes.inputs, r->sizes.outputs, r->sizes.arena, r->sizes.least,
            has_free_sizes(r->model) ? "; free sizes taken as 1" : "");
    if (r->memory && r->block > 0) printf("  a session (spore/session.h) needs a block of %zu bytes\n", r->block);
}

/* Names of free dimensions, null for the others; nothing when there are none. */
static void json_axes(const sp_model *m, bool inputs, int i, const sp_spec *s)
{
    bool named = false;
    for (int k = 0; k < s->rank; k++) named |= axis_name(m, inputs, i, k)[0] != '\0';
    for (int k = 0; k < s->rank && named; k++) {
        const char *name = axis_name(m, inputs, i, k);
        printf("%s", k > 0 ? ", " : ", \"axes\": [");
        if (name[0] != '\0') tool_json_text(name, strlen(name));
        else printf("null");
    }
    if (named) printf("]");
}

static void json_faces(const sp_model *m, bool inputs)
{
    for (int i = 0; i < (inputs ? sp_model_inputs(m) : sp_model_outputs(m)); i++) {
        const sp_spec *s = inputs ? sp_model_input_spec(m, i) : sp_model_output_spec(m, i);
        const char *name = inputs ? sp_model_input_name(m, i) : sp_model_output_name(m, i);
        printf("%s{\"name\": ", i ? ", " : "");
        tool_json_text(name, strlen(name));
        if (s->dtype != SP_DTYPE_NONE) printf(", \"dtype\": \"%s\"", sp_dtype_name(s->dtype));
        printf(", \"shape\": ");
        if (s->rank < 0) printf("null");
        else printf("[");
        for (int k = 0; k < s->rank; k++) printf("%s%lld", k ? ", " : "", (long long)s->dims[k]);
        if (s->rank >= 0) printf("]");
        json_axes(m, inputs, i, s);
        printf("}");
    }
}

static void json_graph(const report *r)
{
    tool_kind kinds[256];
    if (r->model == NULL) return;
    int n = tool_kinds(r->model, kinds, 256);
    printf(",\n  \"graph\": {\"inputs\": [");
    json_faces(r->model, true);
    printf("], \"outputs\": [");
    json_faces(r->model, false);
    printf("], \"nodes\": %d, \"operators\": {", sp_model_nodes(r->model));
    for (int i = 0; i < n; i++) {
        printf("%s", i ? ", " : "");
        tool_json_text(kinds[i].type, strlen(kinds[i].type));
        printf(": %d", kinds[i].n);
    }
    printf("}, \"multiply_adds\": ");
    if (r->worked) printf("%llu", (unsigned long long)r->multiply_adds);
    else printf("null");
    if (r->memory)
        printf(", \"memory\": {\"weights\": %zu, \"inputs\": %zu, \"outputs\": %zu, \"arena\": %zu, \"least\": %zu}",
               r->sizes.weights, r->sizes.inputs, r->sizes.outputs, r->sizes.arena, r->sizes.least);
    if (r->memory && r->block > 0) printf(", \"session\": %zu", r->block);
    printf("}");
}

/* --- JSON -------------------------------------------------------------------------------------------------------- */

/* NaN and infinity do not exist in JSON. */
static void json_number(const char *name, double value)
{
    if (isfinite(value)) printf(", \"%s\": %.9g", name, value);
    else printf(", \"%s\": null", name);
}

static int json_entry(const report *r, int64_t i)
{
    const char *name = sp_bundle_name_at(r->bundle, i);
    printf("    {\"name\": ");
    tool_json_text(name, strlen(name));
    size_t n_text;
    const char *text = sp_bundle_text_at(r->bundle, i, &n_text);
    if (text != NULL) {
        printf(", \"text\": ");
        tool_json_text(text, n_text);
        printf("}");
        return 0;
    }
    int rank;
    const int64_t *dims;
    sp_dtype dtype = sp_bundle_shape_at(r->bundle, i, &rank, &dims);
    printf(", \"dtype\": \"%s\", \"shape\": [", sp_dtype_name(dtype));
    for (int k = 0; k < rank; k++) printf("%s%lld", k > 0 ? ", " : "", (long long)dims[k]);
    printf("], \"bytes\": %lld", (long long)(count_of(rank, dims) * (int64_t)sp_dtype_bytes(dtype)));
    if (r->stats) {
        tool_stats s;
        if (entry_stats(r->bundle, i, &s) != SP_OK) return tool_engine_failed("inspect");
        printf(", \"stats\": {\"count\": %lld", (long long)s.count);
        json_number("min", s.min);
        json_number("max", s.max);
        json_number("mean", s.mean);
        json_number("std", s.std);
        printf(", \"zeros\": %lld, \"nan\": %lld, \"inf\": %lld}", (long long)s.n_zero, (long long)s.n_nan,
               (long long)s.n_inf);
    }
    printf("}");
    return 0;
}

static int print_json(const report *r)
{
    printf("{\n  \"file\": ");
    tool_json_text(r->path, strlen(r->path));
    printf(",\n  \"format\": \"%s\",\n  \"title\": \"%s\",\n  \"bytes\": %llu,\n  \"encrypted\": ", r->format, r->title,
           (unsigned long long)r->file_bytes);
    if (r->cipher != NULL) printf("\"%s\"", r->cipher);
    else printf("null");
    printf(",\n  \"notes\": {");
    for (int64_t i = 0; i < sp_bundle_note_count(r->bundle); i++) {
        const char *key, *text = sp_bundle_note_at(r->bundle, i, &key);
        printf("%s", i > 0 ? ", " : "");
        tool_json_text(key, strlen(key));
        printf(": ");
        tool_json_text(text, strlen(text));
    }
    printf("}");
    json_graph(r);
    printf(",\n  \"entries\": [");
    int64_t n = sp_bundle_count(r->bundle);
    for (int64_t i = 0; i < n; i++) {
        printf("%s\n", i > 0 ? "," : "");
        int code = json_entry(r, i);
        if (code != 0) return code;
    }
    printf("%s]\n}\n", n > 0 ? "\n  " : "");
    return 0;
}

/* --- text -------------------------------------------------------------------------------------------------------- */

static int width_of(const sp_bundle *b)
{
    enum { WIDEST = 72 };
    size_t width = 4;
    for (int64_t i = 0; i < sp_bundle_count(b); i++) {
        size_t n = strlen(sp_bundle_name_at(b, i));
        if (n > width) width = n;
    }
    return (int)(width < WIDEST ? width : WIDEST);
}

static int text_entry(const report *r, int64_t i, int width)
{
    char name[512], shape[256], shown[80];
    tool_plain(sp_bundle_name_at(r->bundle, i), name, sizeof name);
    const char *text = sp_bundle_text_at(r->bundle, i, NULL);
    if (text != NULL) {
        printf("  %-*s  text        \"%s\"\n", width, name, tool_plain(text, shown, sizeof shown));
        return 0;
    }
    int rank;
    const int64_t *dims;
    sp_dtype dtype = sp_bundle_shape_at(r->bundle, i, &rank, &dims);
    printf("  %-*s  %-10s  %-20s", width, name, sp_dtype_name(dtype), tool_shape(rank, dims, shape));
    if (r->stats) {
        tool_stats s;
        if (entry_stats(r->bundle, i, &s) != SP_OK) return tool_engine_failed("inspect");
        printf("  %12.6g %12.6g %12.6g %12.6g", s.min, s.max, s.mean, s.std);
        if (s.n_nan > 0) printf("  %lld NaN", (long long)s.n_nan);
        if (s.n_inf > 0) printf("  %lld infinite", (long long)s.n_inf);
    } else {
        printf(" %12lld", (long long)(count_of(rank, dims) * (int64_t)sp_dtype_bytes(dtype)));
    }
    printf("\n");
    return 0;
}

static int print_text(const report *r)
{
    char size[32], total[32], shown[512];
    int64_t n = sp_bundle_count(r->bundle), elements = 0;
    uint64_t bytes = 0;
    for (int64_t i = 0; i < n; i++) {
        int rank;
        const int64_t *dims;
        sp_dtype dtype = sp_bundle_shape_at(r->bundle, i, &rank, &dims);
        if (dtype == SP_DTYPE_NONE) continue;
        elements += count_of(rank, dims);
        bytes += (uint64_t)count_of(rank, dims) * sp_dtype_bytes(dtype);
    }
    printf("%s: %s, %s%s%s\n", tool_plain(r->path, shown, sizeof shown), r->title, tool_bytes(r->file_bytes, size),
           r->cipher != NULL ? ", encrypted with " : "", r->cipher != NULL ? r->cipher : "");
    for (int64_t i = 0; i < sp_bundle_note_count(r->bundle); i++) {
        const char *key, *text = sp_bundle_note_at(r->bundle, i, &key);
        char name[128];
        printf("  %s: %s\n", tool_plain(key, name, sizeof name), tool_plain(text, shown, sizeof shown));
    }
    print_graph(r);
    printf("%lld %s, %lld elements, %s\n", (long long)n, n == 1 ? "entry" : "entries", (long long)elements,
           tool_bytes(bytes, total));
    if (n == 0) return 0;
    int width = width_of(r->bundle);
    printf("\n  %-*s  %-10s  %-20s", width, "name", "dtype", "shape");
    if (r->stats) printf("  %12s %12s %12s %12s\n", "min", "max", "mean", "std");
    else printf(" %12s\n", "bytes");
    for (int64_t i = 0; i < n; i++) {
        int code = text_entry(r, i, width);
        if (code != 0) return code;
    }
    return 0;
}

/* Of the index, when the path is the prefix of a TensorFlow checkpoint. */
static uint64_t file_bytes(const char *path)
{
    struct stat info;
    char index[4096];
    snprintf(index, sizeof index, "%s.index", path);
    return stat(path, &info) == 0 || stat(index, &info) == 0 ? (uint64_t)info.st_size : 0;
}

int verb_inspect(int argc, char **argv)
{
    bool json = false, stats = false, memory = false, helped;
    tool_key key = {0};
    const tool_option options[] = {{"--json", &json, NULL, NULL},
                                   {"--stats", &stats, NULL, NULL},
                                   {"--memory", &memory, NULL, NULL},
                                   TOOL_KEY_OPTIONS(key),
                                   {NULL, NULL, NULL, NULL}};
    const char *path;
    int n;
    int code = tool_parse(argc, argv, options, help, (const int[]){1, 1}, &path, &n, &helped);
    if (code != 0 || helped) return code;
    sp_file_options file = {0};
    report r = {.path = path, .stats = stats};
    sp_bundle *bundle = NULL;
    code = tool_key_for(argv[0], &key, path, &r.cipher, &file);
    if (code != 0) return code;
    if (sp_load(path, &file, &bundle) != SP_OK) {
        tool_key_clear(&key);
        return tool_engine_failed(argv[0]);
    }
    code = tool_key_used(argv[0], &key);
    if (code != 0) {
        sp_bundle_release(bundle);
        return code;
    }
    r.bundle = bundle;
    r.format = sp_format_name(sp_bundle_format(bundle));
    /* What cannot be run is still a file with weights in it; without memory nothing can be said about it. */
    const sp_status loaded = tool_holds_model(bundle) ? sp_model_load(path, &file, &r.model) : SP_OK;
    const sp_status worked = r.model != NULL ? sp_model_work(r.model, NULL, &r.multiply_adds) : SP_OK;
    r.worked = r.model != NULL && worked == SP_OK;
    tool_key_clear(&key);
    if (memory && (r.model == NULL || sp_model_memory(r.model, NULL, &r.sizes) != SP_OK)) {
        code = r.model != NULL ? tool_engine_failed(argv[0])
                               : tool_complain(EXIT_FAILED,
                                               "inspect: --memory is for models, and %s is none that can be run", path);
        sp_bundle_release(bundle);
        sp_model_release(r.model);
        return code;
    }
    r.memory = memory;
    if (memory && sp_session_bytes(r.model, NULL, &r.block) != SP_OK) r.block = 0;
    if (loaded == SP_NOMEM || worked == SP_NOMEM) {
        code = tool_engine_failed(argv[0]);
        sp_bundle_release(bundle);
        sp_model_release(r.model);
        return code;
    }
    r.title = sp_format_title(sp_bundle_format(bundle));
    r.file_bytes = file_bytes(path);
    code = json ? print_json(&r) : print_text(&r);
    sp_bundle_release(bundle);
    sp_model_release(r.model);
    return code;
}
