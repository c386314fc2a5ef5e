/* SPDX-License-Identifier: Apache-2.0 */
/* quantize.c - `spore quantize`: a model made to compute with small integers, and a report on what became of its layers. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"
#include "spore/quantize.h"

static const char help[] =
    "usage: spore quantize MODEL -o OUT [--data DATA] [options]\n\n"
    "Writes MODEL (of any kind that spore runs) as one that computes with small integers, into OUT (.onnx or .mindir; kind weights also .ms), and says what became of each\n"
    "layer. DATA is what the network is watched with while it chooses scales: a folder of arrays (.npy, .npz) or pictures, one such file, or a\n"
    "MindRecord data set (.mindrecord). Rows lie along the first axis of arrays.\n\n"
    "  -o, --output FILE    what to write\n"
    "  --data DATA          data to calibrate with; kinds dynamic and weights need it for --rounding adaptive alone\n"
    "  --kind KIND          static (default): weights and what flows between layers are int8; dynamic: scales of what flows are found in each\n"
    "                       run, in matrix products; weights: weights alone are small\n"
    "  --bits N             of weights: 8 (default); 7 for programs that sum pairs of products in 16 bits, as ONNX Runtime does without VNNI; with\n"
    "                       --kind weights 8, 4 (in blocks) or 16 (float16)\n"
    "  --activation-bits N  of what flows: 8 (default) or 16\n"
    "  --method METHOD      how ranges follow from what was seen: minmax (default), average, percentile, outliers, entropy, mse\n"
    "  --percentile P       share of values inside of the range, in percent (default 99.99)\n"
    "  --per-tensor         one scale for all channels of a weight\n"
    "  --symmetric          no zero points\n"
    "  --rounding WAY       of weights: nearest (default), or adaptive: so that results change least on DATA; best with 4 bits\n"
    "  --equalize           cross-layer equalisation of weights first\n"
    "  --no-bias-correction leave the means of layers as rounding shifts them\n"
    "  --block N            weights of 4 bits: how many share a scale (default 32)\n"
    "  --keep NAMES         layers that stay float, separated by commas; a star stands for any text\n"
    "  --target 'M>=V'      keep the layers float that lose most until it holds: accuracy, relative (to float; both need labels), agreement, cosine\n"
    "  --labels LABELS      a file of whole numbers (.npy, or one a line), or the name of an array or column in DATA\n"
    "  --integer-only       fail if an operator would stay float, and name all of them\n"
    "  --batch N            rows of a batch where the model leaves that open (default 16)\n"
    "  --samples N          use at most N batches\n"
    "  --effects N          batches that the effects of single layers are measured with (default 8); 0: do not\n" TOOL_PICTURE_HELP
    "  --shape NAME=2,3     shape of an input that MODEL leaves open; may be repeated\n"
    "  --opset N            of .onnx, 13 to 26 (default: the lowest of 17 and 21 that holds it)\n"
    "  --report FILE        write the report as JSON\n"
    "  --json               print it as JSON\n" TOOL_FORCE_HELP "\nexamples:\n"
    "  spore quantize lenet.onnx -o lenet.int8.onnx --data digits/\n"
    "  spore quantize resnet.mindir -o resnet.int8.onnx --data pictures/ --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225 --method entropy\n"
    "  spore quantize net.tflite -o net.int8.onnx --data test.npz --labels label --target 'relative>=0.99'\n"
    "  spore quantize llm.onnx -o llm.int4.onnx --kind weights --bits 4\n";

typedef struct {
    const char *in, *out, *data, *labels, *bits, *activation_bits, *percentile, *block, *batch, *samples, *effects,
        *opset, *report;
    const char **shapes;
    tool_picture picture;
    bool json, force;
    sp_quant_options options;
} job;

static int set_shapes(const job *j, sp_model *m)
{
    int code = 0;
    for (const char **s = j->shapes; s != NULL && *s != NULL && code == 0; s++)
        code = tool_set_shape("quantize", m, *s);
    return code;
}

static int write_report(const job *j, const sp_quantized *q)
{
    char *text;
    if (j->report != NULL) {
        tool_output out;
        if (sp_quantized_report(q, true, &text) != SP_OK) return tool_engine_failed("quantize");
        int code = tool_output_open("quantize", j->report, j->force, &out);
        if (code == 0) {
            fputs(text, out.file);
            code = tool_output_close(&out, true);
        }
        sp_text_free(text);
        if (code != 0) return code;
    }
    if (sp_quantized_report(q, j->json, &text) != SP_OK) return tool_engine_failed("quantize");
    tool_print_lines(text);
    sp_text_free(text);
    return 0;
}

static bool needs_labels(const char *target)
{
    return target != NULL && strncmp(target, "cosine", 6) != 0 && strncmp(target, "agreement", 9) != 0;
}

/* An option that would change nothing, where that depends on the model. */
static int check_batch(const job *j, const sp_model *m)
{
    const sp_spec *in = sp_model_inputs(m) > 0 ? sp_model_input_spec(m, 0) : NULL;
    if (j->batch == NULL || in == NULL || in->rank < 1 || in->dims[0] < 0) return 0;
    return tool_complain(
        EXIT_USAGE,
        "quantize: --batch is for models that leave it open, this one takes %lld rows: it would change nothing here",
        (long long)in->dims[0]);
}

static int quantize(job *j, long long opset, int64_t batch, int64_t most)
{
    sp_model *m = NULL;
    sp_quantized *q = NULL;
    if (sp_model_load(j->in, NULL, &m) != SP_OK) return tool_engine_failed("quantize");
    tool_samples s = {
        .model = m, .path = j->data, .labels = j->labels, .picture = j->picture, .batch = batch, .most = most};
    int code = set_shapes(j, m);
    if (code == 0) code = check_batch(j, m);
    if (code == 0 && j->data != NULL) code = tool_samples_open(&s);
    const sp_quant_data data = tool_samples_data(&s);
    if (code == 0 && sp_model_quantize(m, j->data != NULL ? &data : NULL, &j->options, &q) != SP_OK)
        code = tool_engine_failed("quantize");
    if (code == 0 && sp_quantized_save(q, j->out, (int)opset, NULL) != SP_OK) code = tool_engine_failed("quantize");
    if (code == 0) code = write_report(j, q);
    sp_quantized_release(q);
    tool_samples_close(&s);
    sp_model_release(m);
    return code;
}

/* An option that would change nothing is a misunderstanding. */
static int check_effects(const job *j)
{
    const bool fixed = j->options.kind == NULL || strcmp(j->options.kind, "static") == 0;
    const bool adaptive = j->options.rounding != NULL && strcmp(j->options.rounding, "adaptive") == 0;
    const struct {
        const char *option;
        bool given, fits;
        const char *what;
    } all[] = {{"--data", j->data != NULL, fixed || adaptive, "static quantisation and adaptive rounding"},
               {"--labels", j->labels != NULL, needs_labels(j->options.target), "a --target of accuracy or relative"},
               {"--method", j->options.method != NULL, fixed, "static quantisation"},
               {"--activation-bits", j->activation_bits != NULL, fixed, "static quantisation"},
               {"--no-bias-correction", j->options.no_bias_correction, fixed, "static quantisation"},
               {"--percentile", j->percentile != NULL,
                j->options.method != NULL && strcmp(j->options.method, "percentile") == 0, "--method percentile"},
               {"--batch", j->batch != NULL, fixed || adaptive, "static quantisation and adaptive rounding"},
               {"--samples", j->samples != NULL, fixed || adaptive, "static quantisation and adaptive rounding"},
               {"--effects", j->effects != NULL, fixed, "static quantisation"},
               {"--block", j->block != NULL, j->bits != NULL && strcmp(j->bits, "4") == 0, "--bits 4"},
               {"--mean, --std and --scale",
                j->picture.mean != NULL || j->picture.std != NULL || j->picture.scale != NULL, j->data != NULL,
                "--data with pictures"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].given && !all[i].fits)
            return tool_complain(EXIT_USAGE, "quantize: %s is for %s, it would change nothing here", all[i].option,
                                 all[i].what);
    if (adaptive && !fixed && j->data == NULL)
        return tool_complain(EXIT_USAGE, "quantize: --data is missing: adaptive rounding watches what layers take");
    if (fixed && j->data == NULL)
        return tool_complain(EXIT_USAGE,
                             "quantize: --data is missing: static quantisation watches the network work on data");
    return 0;
}

static int check_numbers(job *j, long long *opset, long long *batch, long long *most)
{
    long long bits = 8, activation_bits = 8, block = 32, effects = 8;
    int code = tool_whole("quantize", "--bits", j->bits, 1, 32, &bits);
    if (code == 0) code = tool_whole("quantize", "--activation-bits", j->activation_bits, 1, 32, &activation_bits);
    if (code == 0) code = tool_whole("quantize", "--block", j->block, 1, 4096, &block);
    if (code == 0) code = tool_whole("quantize", "--effects", j->effects, 0, 100000, &effects);
    if (code == 0) code = tool_whole("quantize", "--opset", j->opset, 13, 26, opset);
    if (code == 0) code = tool_whole("quantize", "--batch", j->batch, 1, 1 << 20, batch);
    if (code == 0) code = tool_whole("quantize", "--samples", j->samples, 1, INT64_MAX, most);
    if (code == 0) code = tool_number("quantize", "--percentile", j->percentile, 50, 100, &j->options.percentile);
    if (code == 0) code = tool_picture_check("quantize", &j->picture);
    j->options.weight_bits = (int)bits;
    j->options.activation_bits = (int)activation_bits;
    j->options.block = (int)block;
    j->options.effect_samples = effects > 0 ? effects : -1;
    return code;
}

int verb_quantize(int argc, char **argv)
{
    job j = {.options.struct_size = sizeof(sp_quant_options)};
    sp_quant_options *o = &j.options;
    bool helped;
    const tool_option options[] = {{"--output", NULL, &j.out, NULL},
                                   {"-o", NULL, &j.out, NULL},
                                   {"--data", NULL, &j.data, NULL},
                                   {"--kind", NULL, &o->kind, NULL},
                                   {"--bits", NULL, &j.bits, NULL},
                                   {"--activation-bits", NULL, &j.activation_bits, NULL},
                                   {"--method", NULL, &o->method, NULL},
                                   {"--percentile", NULL, &j.percentile, NULL},
                                   {"--rounding", NULL, &o->rounding, NULL},
                                   {"--per-tensor", &o->per_tensor, NULL, NULL},
                                   {"--symmetric", &o->symmetric, NULL, NULL},
                                   {"--equalize", &o->equalize, NULL, NULL},
                                   {"--no-bias-correction", &o->no_bias_correction, NULL, NULL},
                                   {"--block", NULL, &j.block, NULL},
                                   {"--keep", NULL, &o->keep, NULL},
                                   {"--target", NULL, &o->target, NULL},
                                   {"--labels", NULL, &j.labels, NULL},
                                   {"--integer-only", &o->integer_only, NULL, NULL},
                                   {"--batch", NULL, &j.batch, NULL},
                                   {"--samples", NULL, &j.samples, NULL},
                                   {"--effects", NULL, &j.effects, NULL},
                                   TOOL_PICTURE_OPTIONS(j.picture),
                                   {"--shape", NULL, NULL, &j.shapes},
                                   {"--opset", NULL, &j.opset, NULL},
                                   {"--report", NULL, &j.report, NULL},
                                   {"--json", &j.json, NULL, NULL},
                                   TOOL_FORCE_OPTION(j.force),
                                   {NULL, NULL, NULL, NULL}};
    int n, code = tool_parse(argc, argv, options, help, (const int[]){1, 1}, &j.in, &n, &helped);
    if (code != 0 || helped) return code;
    long long opset = 0, batch = 16, most = 0;
    if (j.out == NULL) code = tool_complain(EXIT_USAGE, "quantize: -o OUT is missing");
    if (code == 0) code = check_numbers(&j, &opset, &batch, &most);
    if (code == 0) code = check_effects(&j);
    if (code == 0) code = tool_output_check("quantize", j.out, j.force);
    if (code == 0 && j.report != NULL) code = tool_output_check("quantize", j.report, j.force);
    if (code == 0) code = quantize(&j, opset, batch, most);
    return code;
}
