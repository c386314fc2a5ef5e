/* SPDX-License-Identifier: Apache-2.0 */
/* converter_lite.c - `converter_lite`: MindSpore Lite's converter by its own options and sections of its configuration file. Options are --name=value. What
 * spore does without being asked (optimising when a model runs) is accepted, what it cannot do is refused with the reason. */
#define _POSIX_C_SOURCE 200809L

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "samples.h"

static const char help[] =
    "usage: converter_lite --fmk=KIND --modelFile=FILE --outputFile=NAME [options]\n\n"
    "MindSpore Lite's converter: a network as .ms (or .mindir), quantised where a configuration file says so. `spore convert` and `spore quantize` do the\n"
    "same with options of their own.\n\n"
    "  --fmk=KIND           what FILE is: MINDIR, ONNX, TFLITE\n"
    "  --modelFile=FILE     the network\n"
    "  --outputFile=NAME    where to; the ending is added\n"
    "  --saveType=TYPE      MINDIR_LITE (default): NAME.ms; MINDIR: NAME.mindir\n"
    "  --inputShape=S       'name:1,3,224,224;other:1,10'\n"
    "  --fp16=on            weights as float16\n"
    "  --configFile=FILE    sections [common_quant_param], [weight_quant_param], [full_quant_param], [data_preprocess_param]\n"
    "  --decryptKey=HEX     of an encrypted MindIR file; --decryptMode=AES-GCM (default) or AES-CBC\n"
    "  --encryption=true    encrypt what is written with --encryptKey=HEX (16 bytes, AES-GCM)\n"
    "  --infer=true         run the result once\n"
    "  --optimize=general   none and general are the same here: models are optimised when they are run\n";

enum { KEY_BYTES = 32, SHAPES_MAX = 64, TEXT_MAX = 4096 };

typedef struct {
    const char *fmk, *model, *output, *save, *shape, *half, *config, *key, *mode, *encrypt, *encrypt_key, *infer,
        *optimize;
    const char *in_format, *out_format, *in_type, *out_type, *weights, *train;
    char out_path[TEXT_MAX];
    bool quantise;
    sp_quant_options options;
    char *data; /* folder of calibration data */
    long long samples;
    tool_picture picture;
    char *keep, *report;
} job;

/* --- the command line ---------------------------------------------------------------------------------------------- */

static int take_options(job *j, int argc, char **argv, bool *helped)
{
    const struct {
        const char *name, **value;
    } options[] = {{"fmk", &j->fmk},
                   {"modelFile", &j->model},
                   {"outputFile", &j->output},
                   {"weightFile", &j->weights},
                   {"configFile", &j->config},
                   {"fp16", &j->half},
                   {"inputShape", &j->shape},
                   {"saveType", &j->save},
                   {"optimize", &j->optimize},
                   {"inputDataFormat", &j->in_format},
                   {"outputDataFormat", &j->out_format},
                   {"inputDataType", &j->in_type},
                   {"outputDataType", &j->out_type},
                   {"decryptKey", &j->key},
                   {"decryptMode", &j->mode},
                   {"encryption", &j->encrypt},
                   {"encryptKey", &j->encrypt_key},
                   {"infer", &j->infer},
                   {"trainModel", &j->train}};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            *helped = true;
            return 0;
        }
        const char *equals = strchr(argv[i], '=');
        bool found = false;
        for (size_t k = 0; strncmp(argv[i], "--", 2) == 0 && equals != NULL && k < sizeof options / sizeof *options;
             k++) {
            const size_t n = (size_t)(equals - argv[i] - 2);
            if (strlen(options[k].name) != n || memcmp(argv[i] + 2, options[k].name, n) != 0) continue;
            if (*options[k].value != NULL)
                return tool_complain(EXIT_USAGE, "converter_lite: --%s is given twice", options[k].name);
            *options[k].value = equals + 1;
            found = true;
        }
        if (!found)
            return tool_complain(
                EXIT_USAGE, "converter_lite: '%s' is no option of the form --name=value; --help lists them", argv[i]);
    }
    return 0;
}

static bool is(const char *text, const char *word) { return text != NULL && strcasecmp(text, word) == 0; }
static bool is_given(const char *text) { return text != NULL && *text != '\0'; }

/* The value of a switch; `no` where it is not given. */
static int take_switch(const char *name, const char *text, const char *yes, const char *no, bool *out)
{
    *out = is(text, yes);
    if (text == NULL || *out || is(text, no)) return 0;
    return tool_complain(EXIT_USAGE, "converter_lite: --%s is '%s', it must be %s or %s", name, text, yes, no);
}

static int check_kind(const job *j)
{
    static const char *const kinds[][2] = {{"MINDIR", "mindir"}, {"ONNX", "onnx"}, {"TFLITE", "tflite"}};
    const sp_format *format;
    if (!is_given(j->fmk)) return tool_complain(EXIT_USAGE, "converter_lite: --fmk is missing: MINDIR, ONNX or TFLITE");
    if (!is_given(j->model) || !is_given(j->output))
        return tool_complain(EXIT_USAGE, "converter_lite: --modelFile and --outputFile must be given");
    if (is(j->fmk, "CAFFE") || is(j->fmk, "TF") || is(j->fmk, "PYTORCH") || is(j->fmk, "MSLITE") ||
        is_given(j->weights))
        return tool_complain(
            EXIT_USAGE,
            "converter_lite: networks of kind %s are not read; bring them to ONNX first (its exporters, tf2onnx)",
            is_given(j->weights) ? "CAFFE" : j->fmk);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (!is(j->fmk, kinds[k][0])) continue;
        if (j->key != NULL) return 0; /* what is in an encrypted file is seen when it is opened */
        if (sp_format_probe(j->model, &format) != SP_OK) return tool_engine_failed("converter_lite");
        if (strcmp(sp_format_name(format), kinds[k][1]) == 0) return 0;
        return tool_complain(EXIT_FAILED, "converter_lite: --fmk is %s, but %s is a %s", kinds[k][0], j->model,
                             sp_format_title(format));
    }
    return tool_complain(EXIT_USAGE, "converter_lite: --fmk is '%s', it must be MINDIR, ONNX or TFLITE", j->fmk);
}

static int check_rest(const job *j)
{
    if (j->optimize != NULL && !is(j->optimize, "none") && !is(j->optimize, "general"))
        return tool_complain(
            EXIT_USAGE, "converter_lite: --optimize is '%s', it must be none or general: other hardware is not here",
            j->optimize);
    if (is_given(j->in_format) && !is(j->in_format, "NCHW"))
        return tool_complain(
            EXIT_USAGE, "converter_lite: --inputDataFormat is '%s', but inputs stay as the network has them (NCHW)",
            j->in_format);
    if (is_given(j->out_format) && !is(j->out_format, "NCHW"))
        return tool_complain(
            EXIT_USAGE, "converter_lite: --outputDataFormat is '%s', but outputs stay as the network has them (NCHW)",
            j->out_format);
    for (int i = 0; i < 2; i++) {
        const char *type = i ? j->out_type : j->in_type;
        if (is_given(type) && !is(type, "DEFAULT") && !is(type, "FLOAT32"))
            return tool_complain(EXIT_USAGE,
                                 "converter_lite: --%sDataType is '%s', but dtypes stay as the network has them",
                                 i ? "output" : "input", type);
    }
    if (is_given(j->train) && !is(j->train, "false"))
        return tool_complain(EXIT_USAGE,
                             "converter_lite: --trainModel: networks with a training step are not converted");
    if (j->mode != NULL && !is(j->mode, "AES-GCM") && !is(j->mode, "AES-CBC"))
        return tool_complain(EXIT_USAGE, "converter_lite: --decryptMode is '%s', it must be AES-GCM or AES-CBC",
                             j->mode);
    if (j->mode != NULL && j->key == NULL)
        return tool_complain(EXIT_USAGE, "converter_lite: --decryptMode is for a file with --decryptKey");
    return 0;
}

/* --- the configuration file ---------------------------------------------------------------------------------------- */

static char *copy(const char *text)
{
    char *c = malloc(strlen(text) + 1);
    return c != NULL ? strcpy(c, text) : NULL;
}

static int is_word(const char *key, const char *value, const char *const *words, int n, int *which)
{
    for (int i = 0; i < n; i++)
        if (is(value, words[i])) return *which = i, 0;
    return tool_complain(EXIT_FAILED, "converter_lite: %s is '%s', which is not done here; %s%s%s%s%s is", key, value,
                         words[0], n > 1 ? ", " : "", n > 1 ? words[1] : "", n > 2 ? ", " : "", n > 2 ? words[2] : "");
}

static int take_truth(const char *key, const char *value, bool *out)
{
    *out = false;
    static const char *const words[] = {"false", "true"};
    int which = 0;
    const int code = is_word(key, value, words, 2, &which);
    if (code == 0) *out = which == 1;
    return code;
}

/* "[1, 2, 3]" or "1,2,3", as --mean takes them. */
static char *plain_list(const char *value)
{
    char *c = copy(value);
    if (c == NULL) return NULL;
    size_t n = 0;
    for (const char *p = value; *p; p++)
        if (!strchr("[] ", *p)) c[n++] = *p;
    c[n] = '\0';
    return c;
}

static int common_key(job *j, const char *key, const char *value)
{
    static const char *const kinds[] = {"WEIGHT_QUANT", "FULL_QUANT", "DYNAMIC_QUANT"}, *const names[] = {"weights",
                                                                                                          "static",
                                                                                                          "dynamic"};
    int which = 0, code = 0;
    long long bits = 8;
    if (is(key, "quant_type")) {
        code = is_word(key, value, kinds, 3, &which);
        if (code != 0) return code;
        j->options.kind = names[which];
        j->quantise = true;
    } else if (is(key, "bit_num")) {
        code = tool_whole("converter_lite", key, value, 0, 16, &bits);
        if (code == 0 && bits != 4 && bits != 8 && bits != 16)
            code = tool_complain(EXIT_FAILED,
                                 "converter_lite: bit_num is %lld, weights have 4, 8 or 16 (float16) bits here", bits);
        j->options.weight_bits = (int)bits;
    } else if (is(key, "skip_quant_node")) {
        j->keep = copy(value);
        j->options.keep = j->keep;
    } else if (is(key, "debug_info_save_path")) {
        j->report = copy(value);
    } else if (is(key, "min_quant_weight_size") || is(key, "min_quant_weight_channel")) {
        if (strcmp(value, "0") != 0)
            code = tool_complain(
                EXIT_FAILED,
                "converter_lite: %s is '%s', but layers are not left out by size here: 0, or name them in skip_quant_node",
                key, value);
    } else if (!is(key, "enable_encode") &&
               !is(key, "workspace")) { /* how the file is packed, and where big ones are put meanwhile */
        code = tool_complain(EXIT_FAILED, "converter_lite: [common_quant_param] has no key '%s'", key);
    }
    return code;
}

static int weight_key(job *j, const char *key, const char *value)
{
    static const char *const ways[] = {"MAX_MIN", "GPTQ"}, *const one[] = {"1"}, *const none[] = {"false"};
    int which = 0, code;
    bool truth;
    if (is(key, "quant_strategy")) {
        code = is_word(key, value, ways, 2, &which);
        if (code == 0 && which == 1) j->options.rounding = "adaptive";
        return code;
    }
    if (is(key, "per_channel")) {
        code = take_truth(key, value, &truth);
        j->options.per_tensor = code == 0 && !truth;
        return code;
    }
    if (is(key, "bias_correction")) return is_word(key, value, none, 1, &which);
    if (is(key, "max_segments")) return is_word(key, value, one, 1, &which);
    return tool_complain(EXIT_FAILED, "converter_lite: [weight_quant_param] %s is not done here", key);
}

static int full_key(job *j, const char *key, const char *value)
{
    static const char *const ways[] = {"MAX_MIN", "KL", "REMOVAL_OUTLIER"},
                             *const methods[] = {"minmax", "entropy", "outliers"}, *const cpu[] = {"CPU"};
    int which = 0, code;
    bool truth = true;
    if (is(key, "activation_quant_method")) {
        code = is_word(key, is(value, "RemovalOutlier") ? "REMOVAL_OUTLIER" : value, ways, 3, &which);
        if (code == 0) j->options.method = methods[which];
        return code;
    }
    if (is(key, "bias_correction")) {
        code = take_truth(key, value, &truth);
        j->options.no_bias_correction = code == 0 && !truth;
        return code;
    }
    if (is(key, "per_channel")) {
        code = take_truth(key, value, &truth);
        j->options.per_tensor = code == 0 && !truth;
        return code;
    }
    if (is(key, "target_device")) return is_word(key, value, cpu, 1, &which);
    return tool_complain(EXIT_FAILED, "converter_lite: [full_quant_param] %s is not done here", key);
}

static int data_key(job *j, const char *key, const char *value)
{
    static const char *const images[] = {"IMAGE"}, *const rgb[] = {"RGB"};
    int which = 0;
    if (is(key, "calibrate_path")) { /* name:folder; of one input the name does not matter */
        const char *colon = strchr(value, ':');
        if (colon == NULL || strchr(colon + 1, ':') != NULL)
            return tool_complain(
                EXIT_FAILED,
                "converter_lite: calibrate_path is '%s', it must be INPUT:FOLDER of a network with one input", value);
        j->data = copy(colon + 1);
        return 0;
    }
    if (is(key, "calibrate_size")) return tool_whole("converter_lite", key, value, 1, 65535, &j->samples);
    if (is(key, "input_type")) return is_word(key, value, images, 1, &which);
    if (is(key, "image_to_format")) return is_word(key, value, rgb, 1, &which);
    if (is(key, "normalize_mean")) return j->picture.mean = plain_list(value), j->picture.scale = "1", 0;
    if (is(key, "normalize_std")) return j->picture.std = plain_list(value), j->picture.scale = "1", 0;
    return tool_complain(
        EXIT_FAILED,
        "converter_lite: [data_preprocess_param] %s is not done here: pictures are resized to the network's input",
        key);
}

static char *trimmed(char *s)
{
    while (isspace((unsigned char)*s)) s++;
    size_t n = strlen(s);
    while (n > 0 && isspace((unsigned char)s[n - 1])) s[--n] = '\0';
    return s;
}

static int take_line(job *j, char *section, size_t room, char *line)
{
    static const struct {
        const char *name;
        int (*take)(job *, const char *, const char *);
    } sections[] = {{"common_quant_param", common_key},
                    {"weight_quant_param", weight_key},
                    {"full_quant_param", full_key},
                    {"data_preprocess_param", data_key}};
    line = trimmed(line);
    if (*line == '\0' || *line == '#' || *line == ';') return 0;
    const size_t n = strlen(line);
    if (line[0] == '[' && line[n - 1] == ']') {
        line[n - 1] = '\0';
        snprintf(section, room, "%s", line + 1);
        for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
            if (strcmp(sections[i].name, section) == 0) return 0;
        if (strcmp(section, "micro_param") == 0)
            return tool_complain(EXIT_FAILED,
                                 "converter_lite: [micro_param]: C for microcontrollers is written by `spore codegen`");
        return tool_complain(EXIT_FAILED, "converter_lite: section [%s] is not known here", section);
    }
    char *equals = strchr(line, '=');
    if (equals == NULL)
        return tool_complain(EXIT_FAILED, "converter_lite: '%s' is neither a section nor key=value", line);
    *equals = '\0';
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(sections[i].name, section) == 0) return sections[i].take(j, trimmed(line), trimmed(equals + 1));
    return tool_complain(EXIT_FAILED, "converter_lite: '%s' stands before any section", line);
}

static int read_config(job *j)
{
    FILE *file = tool_input_open("converter_lite", "--configFile:", j->config);
    char *line = NULL, section[128] = "";
    size_t room = 0;
    int code = 0;
    if (file == NULL) return EXIT_FAILED;
    while (code == 0 && getline(&line, &room, file) >= 0) code = take_line(j, section, sizeof section, line);
    free(line);
    fclose(file);
    if (code == 0 && !j->quantise)
        code = tool_complain(EXIT_FAILED, "converter_lite: %s says no quant_type in [common_quant_param]", j->config);
    return code;
}

/* --- the work ------------------------------------------------------------------------------------------------------ */

static int take_key(const char *name, const char *hex, unsigned char *bytes, size_t *n)
{
    *n = strlen(hex) / 2;
    bool good = strlen(hex) % 2 == 0 && (*n == 16 || *n == 24 || *n == 32);
    for (size_t i = 0; good && i < *n; i++) {
        unsigned value;
        good = isxdigit((unsigned char)hex[2 * i]) && isxdigit((unsigned char)hex[2 * i + 1]) &&
               sscanf(hex + 2 * i, "%2x", &value) == 1;
        bytes[i] = (unsigned char)(good ? value : 0);
    }
    return good ? 0
                : tool_complain(EXIT_USAGE, "converter_lite: --%s must be 16, 24 or 32 bytes as hexadecimal digits",
                                name);
}

/* "a:1,2;b:3" as "a=1,2" and "b=3". */
static int set_shapes(const job *j, sp_model *m)
{
    if (!is_given(j->shape)) return 0;
    char *all = copy(j->shape), *left = NULL, *one;
    int code = 0;
    if (all == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    for (one = strtok_r(all, ";", &left); code == 0 && one != NULL; one = strtok_r(NULL, ";", &left)) {
        char *colon = strrchr(one, ':');
        if (colon == NULL)
            code = tool_complain(EXIT_USAGE, "converter_lite: --inputShape has '%s', it must be NAME:1,2,3", one);
        else *colon = '=', code = tool_set_shape("converter_lite", m, one);
    }
    free(all);
    return code;
}

static int write_report(const job *j, const sp_quantized *q)
{
    char path[TEXT_MAX], *text;
    tool_output out;
    if (j->report == NULL) return 0;
    snprintf(path, sizeof path, "%s/quantization.json", j->report);
    if (sp_quantized_report(q, true, &text) != SP_OK) return tool_engine_failed("converter_lite");
    int code = tool_output_open("converter_lite", path, true, &out);
    if (code == 0) {
        fputs(text, out.file);
        code = tool_output_close(&out, true);
    }
    sp_text_free(text);
    return code;
}

static int quantise(job *j, sp_model *m, const sp_file_options *out)
{
    sp_quantized *q = NULL;
    const bool wants = strcmp(j->options.kind, "static") == 0 || j->options.rounding != NULL;
    if (wants && j->data == NULL)
        return tool_complain(
            EXIT_FAILED, "converter_lite: FULL_QUANT and GPTQ need data: calibrate_path in [data_preprocess_param]");
    if (!wants && j->data != NULL)
        return tool_complain(EXIT_FAILED,
                             "converter_lite: calibrate_path is for FULL_QUANT and GPTQ, it would change nothing here");
    tool_samples s = {.model = m, .path = j->data, .picture = j->picture, .batch = 1, .most = j->samples};
    int code = j->data != NULL ? tool_samples_open(&s) : 0;
    const sp_quant_data data = tool_samples_data(&s);
    if (code == 0 && sp_model_quantize(m, j->data != NULL ? &data : NULL, &j->options, &q) != SP_OK)
        code = tool_engine_failed("converter_lite");
    if (code == 0 && sp_quantized_save(q, j->out_path, 0, out) != SP_OK) code = tool_engine_failed("converter_lite");
    if (code == 0) code = write_report(j, q);
    sp_quantized_release(q);
    if (j->data != NULL) tool_samples_close(&s);
    return code;
}

/* Once, on zeros. */
static int try_it(const job *j, const sp_file_options *options)
{
    sp_model *m = NULL;
    sp_model_sizes sizes;
    sp_status status = sp_model_load(j->out_path, options, &m);
    if (status == SP_OK) status = sp_model_memory(m, NULL, &sizes);
    sp_model_release(m);
    return status == SP_OK ? 0 : tool_engine_failed("converter_lite");
}

static int convert(job *j)
{
    unsigned char key[KEY_BYTES], out_key[KEY_BYTES];
    sp_file_options in = {0}, out = {0};
    sp_model *m = NULL;
    bool encrypt = false, infer = false, half = false;
    int code = take_switch("encryption", j->encrypt, "true", "false", &encrypt);
    if (code == 0) code = take_switch("infer", j->infer, "true", "false", &infer);
    if (code == 0) code = take_switch("fp16", j->half, "on", "off", &half);
    if (code == 0 && encrypt != is_given(j->encrypt_key))
        code = tool_complain(EXIT_USAGE, "converter_lite: --encryption=true and --encryptKey belong together");
    if (code == 0 && j->key != NULL) {
        in.key = key, in.key_mode = j->mode;
        code = take_key("decryptKey", j->key, key, &in.key_bytes);
    }
    if (code == 0 && encrypt) {
        out.key = out_key;
        code = take_key("encryptKey", j->encrypt_key, out_key, &out.key_bytes);
    }
    if (j->quantise && strcmp(j->options.kind, "static") == 0)
        j->options.effect_samples = -1; /* the report is one of ranges */
    if (code == 0 && half && j->quantise)
        code = tool_complain(EXIT_USAGE,
                             "converter_lite: --fp16=on and quantisation of the configuration file exclude each other");
    if (half) j->quantise = true, j->options.kind = "weights", j->options.weight_bits = 16;
    if (code == 0 && sp_model_load(j->model, j->key != NULL ? &in : NULL, &m) != SP_OK)
        code = tool_engine_failed("converter_lite");
    if (code == 0) code = set_shapes(j, m);
    if (code == 0 && j->quantise) code = quantise(j, m, &out);
    else if (code == 0 && sp_model_convert(m, j->out_path, 0, &out) != SP_OK)
        code = tool_engine_failed("converter_lite");
    if (code == 0 && infer) code = try_it(j, &out);
    sp_model_release(m);
    return code;
}

static int name_output(job *j)
{
    const bool plain = is(j->save, "MINDIR");
    if (j->save != NULL && !plain && !is(j->save, "MINDIR_LITE"))
        return tool_complain(EXIT_USAGE, "converter_lite: --saveType is '%s', it must be MINDIR_LITE or MINDIR",
                             j->save);
    const char *ending = plain ? ".mindir" : ".ms";
    const int n =
        snprintf(j->out_path, sizeof j->out_path, "%s%s", j->output, tool_ends_in(j->output, ending) ? "" : ending);
    return n < (int)sizeof j->out_path ? 0 : tool_complain(EXIT_USAGE, "converter_lite: --outputFile is too long");
}

int tool_converter_lite(int argc, char **argv)
{
    job j = {
        .options.struct_size = sizeof(sp_quant_options),
    };
    bool helped = false;
    int code = take_options(&j, argc, argv, &helped);
    if (helped) return 0;
    if (code == 0) code = check_kind(&j);
    if (code == 0) code = check_rest(&j);
    if (code == 0) code = name_output(&j);
    if (code == 0 && is_given(j.config)) code = read_config(&j);
    if (code == 0) code = convert(&j);
    free(j.data);
    free(j.keep);
    free(j.report);
    free((char *)(uintptr_t)j.picture.mean);
    free((char *)(uintptr_t)j.picture.std);
    if (code == 0) puts("CONVERT RESULT SUCCESS:0");
    else printf("CONVERT RESULT FAILED:%d\n", code == EXIT_USAGE ? -3 : -1);
    return code;
}
