/* SPDX-License-Identifier: Apache-2.0 */
/* quantize.h - networks made to compute with small integers.
 *
 *     sp_model *m;             sp_model_load("net.onnx", NULL, &m);
 *     sp_quantized *q;         sp_model_quantize(m, &data, NULL, &q);      watches the network work on data, chooses scales
 *     sp_quantized_save(q, "net.int8.onnx", 0, NULL);
 *     char *text;              sp_quantized_report(q, false, &text);       what became of each layer
 *     sp_quantized_release(q);
 *
 * Results do not depend on the machine, the instruction set or the number of threads. */
#ifndef SPORE_QUANTIZE_H
#define SPORE_QUANTIZE_H

#include "spore/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Data to calibrate with. One pass after the other is made over it; memory does not grow with its length. */
typedef struct sp_quant_data {
    /* Sample i, a batch of any size: one tensor an input of the model, owned by the caller afterwards. i counts from 0; 0 starts another pass. label: NULL where
     * none is wanted; else the classes of the rows, a tensor of integers, may be left NULL. *done: there is no sample i, nothing is given. */
    sp_status (*sample)(void *context, int64_t i, sp_tensor **in, sp_tensor **label, bool *done);
    void *context;
} sp_quant_data;

/* Zero (but struct_size) is the default of every member. */
typedef struct sp_quant_options {
    uint32_t struct_size;
    const char *
        kind; /* "static": weights and what flows between layers are int8, by scales found with data (default); "dynamic": scales of what flows are found
                                in each run, in matrix products; "weights": weights alone, results are computed with float32 */
    int weight_bits; /* 8 (default); 7: for programs that sum pairs of products in 16 bits (ONNX Runtime without VNNI); of "weights" also 4 (in blocks),
                                16: float16 */
    int activation_bits; /* of "static": 8 (default), 16 */
    int block;           /* weights of 4 bits: how many share a scale, 32 */
    bool per_tensor;     /* one scale for all channels of a weight */
    bool symmetric;      /* of "static": zero points of what flows are 0 */
    const char
        *method; /* of ranges, "static": "minmax" (default), "average", "percentile", "outliers", "entropy", "mse" */
    const char *
        rounding; /* of weights: "nearest" (default), or "adaptive": to the integers with which results of the layer change least on the
                                data, which is needed then for every kind; best with few bits */
    double percentile;       /* share of values inside of the range, in percent: 99.99 */
    bool no_bias_correction; /* leave the means of layers as rounding shifts them */
    bool equalize;           /* cross-layer equalisation before anything is measured */
    const char *keep;        /* names of layers that stay float, separated by commas; a star stands for any text */
    const char *
        target; /* "accuracy>=0.97", "relative>=0.99" (both need labels), "agreement>=0.99", "cosine>=0.999": layers that lose most stay float until
                                it holds */
    bool integer_only; /* fail, with all their names, if operators would stay float */
    int64_t
        effect_samples; /* samples that the effects of layers are measured with, 8; negative: effects are not measured */
} sp_quant_options;

typedef struct sp_quantized sp_quantized;

/* data may be NULL for "dynamic" and "weights" with rounding to the nearest; options NULL: the defaults. Fails with everything in the model or the data that stands against it. */
SP_API sp_status sp_model_quantize(sp_model *m, const sp_quant_data *data, const sp_quant_options *options,
                                   sp_quantized **out);
SP_API void sp_quantized_release(sp_quantized *q); /* NULL is fine */
/* Write it: ONNX (QuantizeLinear and DequantizeLinear around operators, which readers join) or MindIR, by the name as sp_model_save does; kind "weights" with 8 and 16 bits
 * also for MindSpore Lite (.ms). opset 0: the lowest that holds it. */
SP_API sp_status sp_quantized_save(sp_quantized *q, const char *path, int opset, const sp_file_options *options);
/* What became of each layer: ranges, errors, effects on the results, and why some stay float; for people, or as JSON. Freed with sp_text_free. */
SP_API sp_status sp_quantized_report(const sp_quantized *q, bool json, char **out);

#ifdef __cplusplus
}
#endif
#endif
