/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - `spore convert`: weights from one format to another, under other names where asked for.
 *
 * Names are changed by rules, in this order: --map (PyTorch's conventions, or a file), --rename, --strip, --add. Which
 * layer a tensor of PyTorch belongs to can only be guessed from its name and rank here; loading into a net
 * (load_checkpoint with net=) knows. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spore/model.h"
#include "tools.h"

static const char help[] =
    "usage: spore convert IN OUT [options]\n\n"
    "Writes the weights of IN, of any format that spore inspect knows, into OUT: .ckpt, .safetensors,\n"
    ".safetensors.index.json (sharded), .npz or .npy. When OUT ends in .onnx, .mindir or .ms, IN is a model (ONNX, MindIR,\n"
    "TFLite, MindSpore Lite), which is written as a whole.\n\n"
    "  --to FORMAT          format of OUT, when its name does not tell (ckpt, safetensors, sharded, npz, npy, onnx, mindir, lite)\n"
    "  --shape NAME=2,3     model: shape of an input that IN leaves open; may be repeated\n"
    "  --opset N            .onnx: version of the operators, 13 to 26 (default 17)\n"
    "  --map torch          PyTorch's names into MindSpore's: running_mean -> moving_mean, weight and bias of\n"
    "                       normalisations -> gamma and beta; num_batches_tracked is left out\n"
    "  --map FILE           new names from lines \"old new\"; \"-\" leaves the tensor out; # begins a comment;\n"
    "                       a star stands for any text, the same on both sides: \"layer*.ln.* blocks.*.norm.*\"\n"
    "  --rename OLD=NEW     one new name; may be repeated\n"
    "  --strip PREFIX       take PREFIX away from names that begin so\n"
    "  --add PREFIX         put PREFIX in front of every name\n"
    "  --only PREFIX        keep only names of IN that begin so; may be repeated\n"
    "  --without PREFIX     leave out names of IN that begin so; may be repeated\n"
    "  --dtype DTYPE        convert floating-point tensors: float16, bfloat16, float32 or float64\n"
    "  --shard-bytes N      most bytes of contents in one file of a sharded model (default 5000000000); of a model: weights\n"
    "                       beyond N bytes lie in a file beside it\n"
    "  --compress           .npz: compressed\n"
    "  --crc                .ckpt, .safetensors: with a checksum\n" TOOL_FORCE_HELP TOOL_OUTPUT_HELP
    "  --encrypt            write an encrypted .ckpt, with the key below; otherwise that key is for IN\n" TOOL_KEY_HELP
    "\nexamples:\n"
    "  spore convert resnet50.pth resnet50.ckpt --map torch\n"
    "  spore convert model.safetensors.index.json model.ckpt\n"
    "  spore convert model.ckpt model.safetensors --strip backbone. --dtype bfloat16\n"
    "  spore convert model.ckpt secret.ckpt --encrypt --key-file key.txt\n"
    "  spore convert model.mindir model.onnx\n"
    "  spore convert detector.onnx fixed.onnx --shape images=1,3,640,640\n";

typedef struct {
    const char *from, *to; /* to NULL: leave it out */
} rule;

typedef struct {
    const char *in, *out, *to, *map, *strip, *add, *dtype, *shard_bytes, *opset;
    const char **rename, **only, **without, **shapes;
    long long opset_number; /* 0: not given */
    bool compress, crc, encrypt, force;
    tool_key key;
    rule *rules;
    size_t n_rules, n_renames; /* the last ones are of --rename */
    bool stripped;             /* --strip took something away */
} job;

/* --- patterns: a star stands for any text ------------------------------------------------------------------------- */

enum { STARS_MAX = 16 };

static int count_stars(const char *text)
{
    int n = 0;
    for (; *text != '\0'; text++) n += *text == '*';
    return n;
}

typedef struct span {
    const char *at;
    size_t n;
} span;

/* Whether name fits, and what each star stands for, the shortest texts first. */
static bool fits(const char *pattern, const char *name, span *stars, int at)
{
    size_t plain = strcspn(pattern, "*");
    if (strncmp(pattern, name, plain) != 0) return false;
    pattern += plain;
    name += plain;
    if (*pattern == '\0') return *name == '\0';
    if (at == STARS_MAX) return false;
    for (size_t n = 0; n <= strlen(name); n++) {
        stars[at] = (span){name, n};
        if (fits(pattern + 1, name + n, stars, at + 1)) return true;
    }
    return false;
}

static void fill_stars(const char *pattern, const span *stars, char *out, size_t room)
{
    size_t used = 0;
    for (int i = 0; *pattern != '\0'; pattern++) {
        span piece = *pattern == '*' ? stars[i++] : (span){pattern, 1};
        if (piece.n >= room - used) piece.n = room - used - 1;
        memcpy(out + used, piece.at, piece.n);
        used += piece.n;
    }
    out[used] = '\0';
}

/* --- rules ------------------------------------------------------------------------------------------------------- */

static int add_rule(job *j, const char *from, const char *to)
{
    int stars = count_stars(from);
    if (stars > STARS_MAX || (to != NULL && count_stars(to) > stars))
        return tool_complain(
            EXIT_USAGE,
            "convert: '%s' to '%s': the new name must not have more stars than the old one, which may have %d", from,
            to != NULL ? to : "-", STARS_MAX);
    rule *larger = realloc(j->rules, (j->n_rules + 1) * sizeof *larger);
    if (larger == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    j->rules = larger;
    j->rules[j->n_rules++] = (rule){from, to};
    return 0;
}

static const char *copy_text(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    if (copy != NULL) strcpy(copy, text);
    return copy;
}

static int rules_from_line(job *j, char *line, int number)
{
    line[strcspn(line, "#\r\n")] = '\0';
    char *old = strtok(line, " \t"), *new = strtok(NULL, " \t");
    if (old == NULL) return 0;
    if (new == NULL || strtok(NULL, " \t") != NULL)
        return tool_complain(EXIT_FAILED, "convert: %s: line %d must have two words, an old name and a new one", j->map,
                             number);
    const char *from = copy_text(old), *to = strcmp(new, "-") == 0 ? NULL : copy_text(new);
    if (from == NULL || (to == NULL && strcmp(new, "-") != 0)) return tool_complain(EXIT_FAILED, "out of memory");
    return add_rule(j, from, to);
}

static int rules_from_file(job *j)
{
    FILE *file = tool_input_open("convert", "--map: neither \"torch\" nor a file that can be opened:", j->map);
    if (file == NULL) return EXIT_FAILED;
    char *line = NULL;
    size_t room = 0;
    int code = 0;
    for (int number = 1; code == 0 && getline(&line, &room, file) >= 0; number++)
        code = rules_from_line(j, line, number);
    free(line);
    fclose(file);
    return code;
}

static int rules_from_renames(job *j)
{
    for (const char **at = j->rename; at != NULL && *at != NULL; at++) {
        const char *equals = strchr(*at, '=');
        if (equals == NULL || equals == *at || equals[1] == '\0')
            return tool_complain(EXIT_USAGE, "convert: --rename wants OLD=NEW, but got '%s'", *at);
        char *from = malloc((size_t)(equals - *at) + 1);
        if (from == NULL) return tool_complain(EXIT_FAILED, "out of memory");
        memcpy(from, *at, (size_t)(equals - *at));
        from[equals - *at] = '\0';
        int code = add_rule(j, from, equals + 1);
        if (code != 0) return code;
        j->n_renames++;
    }
    return 0;
}

/* --- PyTorch's names --------------------------------------------------------------------------------------------- */

static bool has(const sp_bundle *b, const char *name, size_t stem, const char *ending)
{
    char other[1024];
    int n = snprintf(other, sizeof other, "%.*s%s", (int)stem, name, ending);
    return n > 0 && n < (int)sizeof other && sp_bundle_find(b, other) >= 0;
}

/* The name of entry i in MindSpore; NULL: leave it out. Weights with one dimension belong to normalisations. */
static const char *torch_name(const sp_bundle *b, int64_t i, char *buffer, size_t room)
{
    static const struct {
        const char *torch, *mindspore;
    } always[] = {{".running_mean", ".moving_mean"}, {".running_var", ".moving_variance"}};
    const char *name = sp_bundle_name_at(b, i);
    if (tool_ends_in(name, ".num_batches_tracked")) return NULL;
    for (size_t k = 0; k < 2; k++)
        if (tool_ends_in(name, always[k].torch)) {
            snprintf(buffer, room, "%.*s%s", (int)(strlen(name) - strlen(always[k].torch)), name, always[k].mindspore);
            return buffer;
        }
    bool weight = tool_ends_in(name, ".weight"), bias = tool_ends_in(name, ".bias");
    if (!weight && !bias) return name;
    size_t stem = strlen(name) - strlen(weight ? ".weight" : ".bias");
    char other[1024];
    snprintf(other, sizeof other, "%.*s.weight", (int)stem, name);
    int64_t k = sp_bundle_find(b, other);
    int rank = 0;
    bool norm = k >= 0 && sp_bundle_shape_at(b, k, &rank, NULL) != SP_DTYPE_NONE && rank == 1 &&
                (has(b, name, stem, ".running_mean") || has(b, name, stem, ".bias"));
    if (!norm) return name;
    snprintf(buffer, room, "%.*s%s", (int)stem, name, weight ? ".gamma" : ".beta");
    return buffer;
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

static bool begins_with_one(const char *name, const char **prefixes)
{
    for (; prefixes != NULL && *prefixes != NULL; prefixes++)
        if (strncmp(name, *prefixes, strlen(*prefixes)) == 0) return true;
    return false;
}

/* The name of entry i in OUT; NULL: it is left out. The text lives until the next call. */
static const char *new_name(job *j, const sp_bundle *in, int64_t i)
{
    static char torch_buffer[2048], pattern_buffer[2048], buffer[4096];
    const char *name = sp_bundle_name_at(in, i), *old = name;
    if (j->only != NULL && !begins_with_one(name, j->only)) return NULL;
    if (begins_with_one(name, j->without)) return NULL;
    if (j->map != NULL && strcmp(j->map, "torch") == 0) name = torch_name(in, i, torch_buffer, sizeof torch_buffer);
    for (size_t k = 0; k < j->n_rules; k++) {
        span stars[STARS_MAX];
        const rule *r = &j->rules[k];
        if (!fits(r->from, old, stars, 0)) continue;
        name = r->to;
        if (r->to == NULL || strchr(r->to, '*') == NULL) continue;
        fill_stars(r->to, stars, pattern_buffer, sizeof pattern_buffer);
        name = pattern_buffer;
    }
    if (name == NULL) return NULL;
    if (j->strip != NULL && strncmp(name, j->strip, strlen(j->strip)) == 0) {
        name += strlen(j->strip);
        j->stripped = true;
    }
    snprintf(buffer, sizeof buffer, "%s%s", j->add != NULL ? j->add : "", name);
    return buffer;
}

static sp_status add_cast(sp_bundle *out, const char *name, const sp_bundle *in, int64_t i, sp_dtype dtype)
{
    sp_tensor *t = NULL, *cast = NULL;
    sp_status status = sp_bundle_copy_at(in, i, &t);
    if (status == SP_OK) status = sp_tensor_create(dtype, sp_tensor_rank(t), sp_tensor_dims(t), &cast);
    if (status == SP_OK) status = sp_tensor_assign(cast, t);
    if (status == SP_OK) status = sp_bundle_add(out, name, cast);
    sp_tensor_release(t);
    sp_tensor_release(cast);
    return status;
}

static int copy_entries(job *j, const sp_bundle *in, sp_bundle *out, int64_t *left_out)
{
    sp_dtype dtype = j->dtype != NULL ? sp_dtype_parse(j->dtype) : SP_DTYPE_NONE;
    if (j->dtype != NULL && (dtype == SP_DTYPE_NONE || sp_dtype_kind(dtype) != 'f'))
        return tool_complain(EXIT_USAGE, "convert: --dtype must be float16, bfloat16, float32 or float64, but got '%s'",
                             j->dtype);
    for (int64_t i = 0; i < sp_bundle_count(in); i++) {
        const char *name = new_name(j, in, i);
        if (name == NULL) {
            ++*left_out;
            continue;
        }
        if (sp_bundle_find(out, name) >= 0)
            return tool_complain(EXIT_FAILED, "convert: two tensors would be called '%s'", name);
        sp_dtype old = sp_bundle_shape_at(in, i, NULL, NULL);
        bool cast = dtype != SP_DTYPE_NONE && old != SP_DTYPE_NONE && sp_dtype_kind(old) == 'f' && old != dtype;
        sp_status status = cast ? add_cast(out, name, in, i, dtype) : sp_bundle_add_from(out, name, in, i);
        if (status != SP_OK) return tool_engine_failed("convert");
    }
    return 0;
}

/* Options that name tensors, and name none that there is. */
static int check_names(const job *j, const sp_bundle *in)
{
    const struct {
        const char *option;
        const char **texts;
    } all[] = {{"--only", j->only}, {"--without", j->without}, {"--rename", j->rename}};
    const int64_t n = sp_bundle_count(in);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (const char **at = all[k].texts; at != NULL && *at != NULL; at++) {
            span stars[STARS_MAX];
            bool found = false;
            const bool rename = all[k].texts == j->rename;
            const char *pattern = rename ? j->rules[j->n_rules - j->n_renames + (size_t)(at - j->rename)].from : *at;
            for (int64_t i = 0; i < n && !found; i++) {
                const char *name = sp_bundle_name_at(in, i);
                found = rename ? fits(pattern, name, stars, 0) : strncmp(name, pattern, strlen(pattern)) == 0;
            }
            if (!found)
                return tool_complain(EXIT_FAILED,
                                     "convert: %s: no tensor of %s %s '%s'; spore inspect lists their names",
                                     all[k].option, j->in, rename ? "is called" : "begins with", pattern);
        }
    return j->strip == NULL || j->stripped
               ? 0
               : tool_complain(EXIT_FAILED, "convert: --strip: no tensor of %s begins with '%s'", j->in, j->strip);
}

/* What a safetensors file says about itself goes on; to another format it would mean nothing. */
static sp_status copy_notes(const sp_bundle *in, sp_bundle *out)
{
    const char *from = sp_format_name(sp_bundle_format(in));
    if (strcmp(from, "safetensors") != 0) return sp_bundle_set_note(out, "format", "ms");
    for (int64_t i = 0; i < sp_bundle_note_count(in); i++) {
        const char *key, *text = sp_bundle_note_at(in, i, &key);
        if (sp_bundle_set_note(out, key, text) != SP_OK) return SP_NOMEM;
    }
    return SP_OK;
}

static int convert(job *j, const sp_file_options *reading, sp_file_options *writing)
{
    sp_bundle *in = NULL, *out = NULL;
    int64_t left_out = 0;
    int code = 0;
    if (sp_load(j->in, reading, &in) != SP_OK || sp_bundle_create(&out) != SP_OK || copy_notes(in, out) != SP_OK)
        code = tool_engine_failed("convert");
    if (code == 0) code = copy_entries(j, in, out, &left_out);
    if (code == 0) code = check_names(j, in);
    if (code == 0 && sp_bundle_count(out) == 0)
        code = tool_complain(EXIT_FAILED, "convert: nothing is left of the %lld entries of %s",
                             (long long)sp_bundle_count(in), j->in);
    if (code == 0 && sp_save(j->out, out, writing) != SP_OK) code = tool_engine_failed("convert");
    if (code == 0) {
        char shown[2][1024];
        printf("%s: %lld entries of %s", tool_plain(j->out, shown[0], sizeof shown[0]), (long long)sp_bundle_count(out),
               tool_plain(j->in, shown[1], sizeof shown[1]));
        if (left_out > 0) printf(" (%lld left out)", (long long)left_out);
        printf("\n");
    }
    sp_bundle_release(in);
    sp_bundle_release(out);
    return code;
}

/* Will OUT be of the format, whose files end so? */
static bool becomes(const job *j, const char *format, const char *ending)
{
    return j->to != NULL ? strcmp(j->to, format) == 0 : tool_ends_in(j->out, ending);
}

static bool is_model(const job *j)
{
    return becomes(j, "onnx", ".onnx") || becomes(j, "mindir", ".mindir") || becomes(j, "lite", ".ms");
}

/* An option that would change nothing is a misunderstanding. */
static int check_effects(const job *j)
{
    bool sharded = becomes(j, "sharded", ".safetensors.index.json"), model = is_model(j);
    const struct {
        const char *option;
        bool given, fits;
        const char *what;
    } all[] = {{"--compress", j->compress, becomes(j, "npz", ".npz"), ".npz"},
               {"--crc", j->crc, sharded || becomes(j, "ckpt", ".ckpt") || becomes(j, "safetensors", ".safetensors"),
                ".ckpt and .safetensors"},
               {"--opset", j->opset != NULL, becomes(j, "onnx", ".onnx"), ".onnx"},
               {"--shape", j->shapes != NULL, model, "models, .onnx, .mindir and .ms"},
               {"--shard-bytes", j->shard_bytes != NULL, sharded || model, ".safetensors.index.json and models"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].given && !all[i].fits)
            return tool_complain(EXIT_USAGE, "convert: %s is for %s, it would change nothing in %s", all[i].option,
                                 all[i].what, j->out);
    return 0;
}

/* A model as a whole. */
static int convert_model(const job *j, const sp_file_options *reading, const sp_file_options *writing)
{
    sp_model *m = NULL;
    int code = 0;
    if (j->map != NULL || j->rename != NULL || j->strip != NULL || j->add != NULL || j->only != NULL ||
        j->without != NULL || j->dtype != NULL)
        return tool_complain(
            EXIT_USAGE,
            "convert: a model is written as it is: names and dtypes of its weights cannot be changed on the way");
    if (sp_model_load(j->in, reading, &m) != SP_OK) return tool_engine_failed("convert");
    for (const char **s = j->shapes; s != NULL && *s != NULL && code == 0; s++) code = tool_set_shape("convert", m, *s);
    if (code == 0 && sp_model_convert(m, j->out, (int)j->opset_number, writing) != SP_OK)
        code = tool_engine_failed("convert");
    char shown[2][1024];
    if (code == 0)
        printf("%s: %d inputs, %d outputs, %lld weights of %s\n", tool_plain(j->out, shown[0], sizeof shown[0]),
               sp_model_inputs(m), sp_model_outputs(m), (long long)sp_bundle_count(sp_model_parameters(m)),
               tool_plain(j->in, shown[1], sizeof shown[1]));
    sp_model_release(m);
    return code;
}

int verb_convert(int argc, char **argv)
{
    job j = {0};
    bool helped;
    const tool_option options[] = {{"--to", NULL, &j.to, NULL},
                                   {"--map", NULL, &j.map, NULL},
                                   {"--strip", NULL, &j.strip, NULL},
                                   {"--add", NULL, &j.add, NULL},
                                   {"--dtype", NULL, &j.dtype, NULL},
                                   {"--shard-bytes", NULL, &j.shard_bytes, NULL},
                                   {"--opset", NULL, &j.opset, NULL},
                                   {"--rename", NULL, NULL, &j.rename},
                                   {"--only", NULL, NULL, &j.only},
                                   {"--without", NULL, NULL, &j.without},
                                   {"--shape", NULL, NULL, &j.shapes},
                                   {"--compress", &j.compress, NULL, NULL},
                                   {"--crc", &j.crc, NULL, NULL},
                                   {"--encrypt", &j.encrypt, NULL, NULL},
                                   TOOL_FORCE_OPTION(j.force),
                                   TOOL_OUTPUT_OPTIONS(j.out),
                                   TOOL_KEY_OPTIONS(j.key),
                                   {NULL, NULL, NULL, NULL}};
    const char *paths[2];
    int n;
    int code = tool_parse_output(argc, argv, options, help, (const int[]){2, 2}, 1, &j.out, paths, &n, &helped);
    if (code != 0 || helped) return code;
    j.in = paths[0];
    j.out = paths[1];
    if (j.map != NULL && strcmp(j.map, "torch") != 0) code = rules_from_file(&j);
    if (code == 0) code = rules_from_renames(&j);
    if (code == 0) code = tool_output_check("convert", j.out, j.force);
    const char *cipher = NULL;
    sp_file_options reading = {0}, writing = {.format = j.to, .progress = tool_progress};
    if (sp_file_cipher(j.in, &cipher) != SP_OK) cipher = NULL;
    if (code == 0 && j.encrypt && cipher != NULL)
        code = tool_complain(EXIT_FAILED, "convert: %s is encrypted already; decrypt it first, or leave --encrypt out",
                             j.in);
    if (code == 0 && (j.encrypt || cipher != NULL))
        code = tool_key_read("convert", &j.key, j.encrypt, j.encrypt ? &writing : &reading);
    j.key.used = j.encrypt || cipher != NULL;
    if (code == 0) code = tool_key_used("convert", &j.key);
    writing.flags = (j.compress ? SP_FILE_COMPRESS : 0u) | (j.crc ? SP_FILE_CRC : 0u);
    long long shard_bytes = 0;
    if (code == 0) code = tool_whole("convert", "--opset", j.opset, 13, 26, &j.opset_number);
    if (code == 0) code = tool_whole("convert", "--shard-bytes", j.shard_bytes, 1, INT64_MAX, &shard_bytes);
    writing.shard_bytes = (uint64_t)shard_bytes;
    if (code == 0) code = check_effects(&j);
    if (code == 0) code = is_model(&j) ? convert_model(&j, &reading, &writing) : convert(&j, &reading, &writing);
    tool_key_clear(&j.key);
    free(j.rules);
    return code;
}
