/* SPDX-License-Identifier: Apache-2.0 */
/* predict.c - `spore predict`: a model run once, on arrays or pictures. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "spore/model.h"
#include "spore/op.h"
#include "spore/transform.h"
#include "tools.h"

static const char help[] =
    "usage: spore predict MODEL --input NAME=FILE ... [options]\n\n"
    "Runs a model (MindIR, ONNX, TFLite, MindSpore Lite) and shows its results. FILE is an array (.npy, or .npz with one array) or a picture (PNG, JPEG,\n"
    "WebP, BMP); - is the standard input, and pipes are read. A picture is resized to what the input wants, channels first or last, and divided\n"
    "by 255 if that is of floats. NAME= may be left out when the model has one input.\n\n"
    "  --input NAME=FILE    an input; may be repeated\n" TOOL_PICTURE_HELP
    "  --output FILE        write the results: .npz, .npy or .safetensors\n" TOOL_FORCE_HELP
    "  --top N              the N largest scores of vectors of scores (default 5)\n"
    "  --labels FILE        names of the classes, one a line\n"
    "  --json               for programs: all values\n"
    "  --device NAME        run it there (spore doctor lists devices)\n" TOOL_KEY_HELP "\nexamples:\n"
    "  spore predict lenet.mindir --input digit.png\n"
    "  spore predict resnet50.onnx --input image=cat.jpg --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225 --labels imagenet.txt\n"
    "  curl -s https://example.com/cat.jpg | spore predict resnet50.onnx --input -\n"
    "  spore predict model.onnx --input tokens=tokens.npy --input mask=mask.npy --output result.npz\n";

typedef struct {
    sp_model *model;
    const char **inputs, *output, *labels, *top, *device;
    tool_picture picture;
    bool json, force;
    sp_builder *b;
    sp_tensor *in[64];
    sp_tensor **out;
    char **names; /* of classes */
    int n_names;
} job;

/* --- inputs ------------------------------------------------------------------------------------------------------ */

/* Options that make no sense, or would change nothing. */
static int check_options(const job *j, long long *top)
{
    int code = tool_picture_check("predict", &j->picture);
    if (code == 0) code = tool_whole("predict", "--top", j->top, 0, 100000, top);
    if (code == 0 && j->json && (j->top != NULL || j->labels != NULL))
        code = tool_complain(EXIT_USAGE, "predict: --json gives all values, %s is for the text",
                             j->top != NULL ? "--top" : "--labels");
    if (code == 0 && j->output == NULL && j->force)
        code = tool_complain(EXIT_USAGE, "predict: --overwrite is for --output, which is not given");
    return code;
}

/* What was read cannot be read again: the standard input, pipes. */
static bool is_pipe(const char *path)
{
    struct stat s;
    return strcmp(path, "-") == 0 || (stat(path, &s) == 0 && !S_ISREG(s.st_mode));
}

static int array(job *j, const char *path, const unsigned char *data, size_t bytes, const sp_spec *want,
                 sp_tensor **out)
{
    sp_bundle *b;
    sp_tensor *t;
    if ((is_pipe(path) ? sp_load_memory(data, bytes, NULL, &b) : sp_load(path, NULL, &b)) != SP_OK)
        return tool_engine_failed("predict");
    int code = 0;
    if (sp_bundle_count(b) != 1)
        code = tool_complain(EXIT_FAILED, "predict: %s holds %lld arrays, one is wanted", path,
                             (long long)sp_bundle_count(b));
    else if (sp_bundle_copy_at(b, 0, &t) != SP_OK) code = tool_engine_failed("predict");
    else {
        *out = t = sp_builder_take_tensor(j->b, t);
        char text[64];
        snprintf(text, sizeof text, "dtype=%s", sp_dtype_name(want->dtype));
        if (t != NULL && sp_tensor_dtype(t) != want->dtype && want->dtype != SP_DTYPE_NONE &&
            sp_dtype_kind(sp_tensor_dtype(t)) == sp_dtype_kind(want->dtype))
            *out = sp_builder_call(j->b, "cast", text, 1, &t); /* float64 of numpy for float32 */
        /* One number in brackets is a number. */
        if (*out != NULL && want->rank == 0 && sp_tensor_rank(*out) == 1 && sp_tensor_dims(*out)[0] == 1)
            *out = sp_builder_call(j->b, "reshape", "shape=()", 1, out);
        if (*out == NULL) code = tool_engine_failed("predict");
    }
    sp_bundle_release(b);
    return code;
}

static int find_input(const job *j, const char *word, const char **path)
{
    const char *equals = strchr(word, '=');
    int n = sp_model_inputs(j->model);
    for (int i = 0; equals != NULL && i < n; i++)
        if (strlen(sp_model_input_name(j->model, i)) == (size_t)(equals - word) &&
            strncmp(sp_model_input_name(j->model, i), word, (size_t)(equals - word)) == 0) {
            *path = equals + 1;
            return i;
        }
    FILE *file = equals != NULL ? fopen(word, "rb") : NULL; /* a name may hold a =, but then there is such a file */
    if (file != NULL) fclose(file);
    else if (equals != NULL) return -1;
    *path = word;
    return n == 1 ? 0 : -1;
}

static int read_inputs(job *j)
{
    int n = sp_model_inputs(j->model);
    if (n > 64) return tool_complain(EXIT_FAILED, "predict: the model has %d inputs, at most 64 can be given", n);
    for (const char **at = j->inputs; at != NULL && *at != NULL; at++) {
        const char *path;
        unsigned char *data;
        size_t bytes;
        sp_image_info info;
        int i = find_input(j, *at, &path);
        if (i < 0) {
            fprintf(stderr, "spore: predict: '%s' names no input; the model has:", *at);
            for (int k = 0; k < n; k++) fprintf(stderr, " %s", sp_model_input_name(j->model, k));
            fprintf(stderr, "\n");
            return EXIT_USAGE;
        }
        int code = tool_file_read("predict", path, &data, &bytes);
        if (code == 0 && sp_image_probe(data, bytes, &info) == SP_OK)
            code = tool_picture_make("predict", &j->picture, j->b, path, data, bytes, sp_model_input_spec(j->model, i),
                                     &j->in[i]);
        else if (code == 0) code = array(j, path, data, bytes, sp_model_input_spec(j->model, i), &j->in[i]);
        free(data);
        if (code != 0) return code;
    }
    if (tool_picture_idle(&j->picture)) return tool_complain(EXIT_USAGE, "predict: " TOOL_PICTURE_IDLE);
    for (int i = 0; i < n; i++) {
        char shape[256];
        const sp_spec *s = sp_model_input_spec(j->model, i);
        if (j->in[i] == NULL)
            return tool_complain(
                EXIT_USAGE, "predict: input '%s' (%s %s) is missing: --input %s=FILE", sp_model_input_name(j->model, i),
                s->dtype != SP_DTYPE_NONE ? sp_dtype_name(s->dtype) : "",
                s->rank >= 0 ? tool_shape(s->rank, s->dims, shape) : "", sp_model_input_name(j->model, i));
    }
    return 0;
}

/* --- results ----------------------------------------------------------------------------------------------------- */

static int read_labels(job *j)
{
    if (j->labels == NULL) return 0;
    FILE *f = tool_input_open("predict", "--labels", j->labels);
    if (f == NULL) return EXIT_FAILED;
    char *line = NULL;
    size_t room = 0;
    bool fine = true;
    while (fine && getline(&line, &room, f) >= 0) {
        char **more = realloc(j->names, (size_t)(j->n_names + 1) * sizeof *more);
        if (more != NULL) j->names = more;
        line[strcspn(line, "\r\n")] = '\0';
        fine = more != NULL && (j->names[j->n_names] = strdup(line)) != NULL;
        if (fine) j->n_names++;
    }
    fine = fine && !ferror(f) && feof(f); /* getline fails without memory, too */
    free(line);
    fclose(f);
    return fine ? 0 : tool_complain(EXIT_FAILED, "predict: --labels: %s cannot be read as a whole", j->labels);
}

typedef struct {
    double *v;
    int64_t n;
} values;

static void keep_values(void *context, const double *v, int64_t n)
{
    values *all = context;
    memcpy(all->v + all->n, v, (size_t)n * sizeof *v);
    all->n += n;
}

static int fetch(sp_tensor *t, values *out)
{
    out->n = 0;
    out->v = malloc((size_t)sp_tensor_count(t) * sizeof *out->v + 1);
    if (out->v == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    return tool_for_values(t, keep_values, out) == SP_OK ? 0 : tool_engine_failed("predict");
}

typedef struct {
    double score;
    int64_t place;
} ranked;

/* Larger ones first, of equal ones the first; what is no number last. */
static int by_score(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    const bool x_odd = x->score != x->score, y_odd = y->score != y->score;
    if (x_odd != y_odd) return x_odd ? 1 : -1;
    if (!x_odd && x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int print_top(const job *j, const values *v, int64_t from, int64_t n, int top)
{
    ranked *all = malloc((size_t)n * sizeof *all);
    if (all == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    for (int64_t i = 0; i < n; i++) all[i] = (ranked){v->v[from + i], i};
    qsort(all, (size_t)n, sizeof *all, by_score);
    char name[256];
    for (int k = 0; k < top && k < n; k++)
        printf("    %6lld  %-12.6g %s\n", (long long)all[k].place, all[k].score,
               all[k].place < j->n_names ? tool_plain(j->names[all[k].place], name, sizeof name) : "");
    free(all);
    return 0;
}

/* Element k of a result, as many digits as it takes to read it again. v: the same as a double. */
static void print_number(const sp_tensor *t, int64_t k, double v)
{
    const void *data = sp_tensor_data(t);
    const sp_dtype dtype = sp_tensor_dtype(t);
    const bool single = dtype == SP_DTYPE_C64;
    if (dtype == SP_DTYPE_I64) printf("%lld", (long long)((const int64_t *)data)[k]);
    else if (dtype == SP_DTYPE_U64) printf("%llu", (unsigned long long)((const uint64_t *)data)[k]);
    else if (dtype == SP_DTYPE_C64 || dtype == SP_DTYPE_C128) {
        printf("[");
        for (int64_t part = 2 * k; part < 2 * k + 2; part++) {
            const double x = single ? (double)((const float *)data)[part] : ((const double *)data)[part];
            printf("%s", part > 2 * k ? ", " : "");
            if (x - x == 0) printf("%.*g", single ? 9 : 17, x);
            else printf("null");
        }
        printf("]");
    } else if (!(v - v == 0)) printf("null");
    else printf("%.*g", dtype == SP_DTYPE_F64 || dtype == SP_DTYPE_U32 || dtype == SP_DTYPE_I32 ? 17 : 9, v);
}

static bool is_complex(const sp_tensor *t) { return sp_dtype_kind(sp_tensor_dtype(t)) == 'c'; }

/* Whole numbers are classes, tokens or places; but bytes are scores of a network that computes with them. */
static bool is_score(const sp_tensor *t)
{
    const sp_dtype dtype = sp_tensor_dtype(t);
    const char kind = sp_dtype_kind(dtype);
    return (kind == 'f' || (kind != 'c' && sp_dtype_bytes(dtype) == 1)) && sp_tensor_rank(t) >= 1 &&
           sp_tensor_rank(t) <= 2;
}

static int print_result(const job *j, int i, int top)
{
    char shape[256];
    sp_tensor *t = j->out[i];
    values v;
    int rank = sp_tensor_rank(t);
    const int64_t *dims = sp_tensor_dims(t);
    int code = fetch(t, &v);
    if (code != 0) return code;
    if (j->json) {
        printf("%s\n    {\"name\": ", i ? "," : "");
        tool_json_text(sp_model_output_name(j->model, i), strlen(sp_model_output_name(j->model, i)));
        printf(", \"dtype\": \"%s\", \"shape\": [", sp_dtype_name(sp_tensor_dtype(t)));
        for (int k = 0; k < rank; k++) printf("%s%lld", k ? ", " : "", (long long)dims[k]);
        printf("], \"values\": [");
        for (int64_t k = 0; k < v.n; k++) {
            printf("%s", k ? ", " : "");
            print_number(t, k, v.v[k]);
        }
        printf("]}");
    } else {
        char name[256];
        printf("%s  %s %s\n", tool_plain(sp_model_output_name(j->model, i), name, sizeof name),
               sp_dtype_name(sp_tensor_dtype(t)), tool_shape(rank, dims, shape));
        int64_t last = rank ? dims[rank - 1] : 1;
        bool scores = is_score(t) && last >= 2 && last <= 100000 && v.n / last <= 16 && top > 0;
        for (int64_t r = 0; scores && r < v.n / last && code == 0; r++) {
            if (v.n > last) printf("  row %lld\n", (long long)r);
            code = print_top(j, &v, r * last, last, top);
        }
        const bool exact =
            is_complex(t) || sp_dtype_kind(sp_tensor_dtype(t)) == 'i' || sp_dtype_kind(sp_tensor_dtype(t)) == 'u';
        for (int64_t k = 0; !scores && k < v.n && k < 12; k++) {
            printf("%s", k ? " " : "    ");
            if (exact) print_number(t, k, v.v[k]);
            else printf("%.6g", v.v[k]);
        }
        if (!scores) printf("%s\n", v.n > 12 ? " ..." : "");
    }
    free(v.v);
    return code;
}

static int save_results(const job *j)
{
    sp_bundle *b;
    if (j->output == NULL) return 0;
    sp_status status = sp_bundle_create(&b);
    if (status != SP_OK) return tool_engine_failed("predict");
    for (int i = 0; i < sp_model_outputs(j->model) && status == SP_OK; i++)
        if (j->out[i] != NULL) status = sp_bundle_add(b, sp_model_output_name(j->model, i), j->out[i]);
    if (status == SP_OK) status = sp_save(j->output, b, NULL);
    sp_bundle_release(b);
    return status == SP_OK ? 0 : tool_engine_failed("predict");
}

static int predict(job *j, int top)
{
    int n_out = sp_model_outputs(j->model), code = read_labels(j);
    j->out = calloc((size_t)n_out + 1, sizeof *j->out);
    if (code == 0 && (j->out == NULL || sp_builder_create(&j->b) != SP_OK))
        code = tool_complain(EXIT_FAILED, "out of memory");
    if (code == 0) code = read_inputs(j);
    if (code == 0 && sp_model_run(j->model, sp_model_inputs(j->model), j->in, n_out, j->out) != SP_OK)
        code = tool_engine_failed("predict");
    for (int i = 0; i < n_out && code == 0; i++) {
        sp_tensor *plain = NULL;
        if (j->out[i] != NULL && sp_tensor_contiguous(j->out[i], &plain) != SP_OK) code = tool_engine_failed("predict");
        if (plain == NULL) continue;
        sp_tensor_release(j->out[i]);
        j->out[i] = plain;
    }
    if (code == 0) code = save_results(j);
    if (code == 0 && j->json) printf("{\"results\": [");
    for (int i = 0; i < n_out && code == 0; i++)
        if (j->out[i] != NULL) code = print_result(j, i, top);
    if (code == 0 && j->json) printf("]}\n");
    for (int i = 0; j->out != NULL && i < n_out; i++) sp_tensor_release(j->out[i]);
    for (int i = 0; i < j->n_names; i++) free(j->names[i]);
    free(j->names);
    free(j->out);
    sp_builder_release(j->b);
    return code;
}

static int put_on_device(const job *j)
{
    sp_device *d = NULL;
    if (sp_device_open(j->device, &d) != SP_OK || (d != NULL && sp_model_set_device(j->model, d) != SP_OK))
        return tool_engine_failed("predict");
    return 0;
}

int verb_predict(int argc, char **argv)
{
    job j = {0};
    bool helped;
    tool_key key = {0};
    const tool_option options[] = {{"--input", NULL, NULL, &j.inputs},
                                   TOOL_PICTURE_OPTIONS(j.picture),
                                   {"--output", NULL, &j.output, NULL},
                                   {"-o", NULL, &j.output, NULL},
                                   {"--top", NULL, &j.top, NULL},
                                   {"--labels", NULL, &j.labels, NULL},
                                   {"--json", &j.json, NULL, NULL},
                                   {"--device", NULL, &j.device, NULL},
                                   TOOL_FORCE_OPTION(j.force),
                                   TOOL_KEY_OPTIONS(key),
                                   {NULL, NULL, NULL, NULL}};
    const char *path;
    int n, code = tool_parse(argc, argv, options, help, (const int[]){1, 1}, &path, &n, &helped);
    if (code != 0 || helped) return code;
    long long top = 5;
    code = check_options(&j, &top);
    if (code == 0 && j.output != NULL) code = tool_output_check("predict", j.output, j.force);
    if (code != 0) return code;
    sp_file_options file = {0};
    const char *cipher = NULL;
    code = tool_key_for("predict", &key, path, &cipher, &file);
    if (code == 0 && sp_model_load(path, &file, &j.model) != SP_OK) code = tool_engine_failed("predict");
    tool_key_clear(&key);
    if (code == 0) code = tool_key_used("predict", &key);
    if (code == 0 && j.device != NULL) code = put_on_device(&j);
    if (code == 0) code = predict(&j, (int)top);
    free(j.inputs);
    sp_model_release(j.model);
    return code;
}
