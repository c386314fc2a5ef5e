/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_arity.c - which inputs an ONNX operator must have, so that handlers need not ask.
 *
 * From the standard's list of operators, one row for each version that changes it. Operators that are not here need the first input. */
#include "formats/onnx/onnx_model.h"

static const struct {
    const char *name;
    int since;
    unsigned needed; /* bit i: input i */
} arities[] = {
    {"Add", 1, 0x3}, {"AffineGrid", 20, 0x3}, {"And", 1, 0x3}, {"Attention", 23, 0x7}, {"BatchNormalization", 1, 0x1f},
    {"BitShift", 11, 0x3}, {"BitwiseAnd", 18, 0x3}, {"BitwiseOr", 18, 0x3}, {"BitwiseXor", 18, 0x3}, {"CastLike", 15, 0x3},
    {"CausalConvWithState", 27, 0x3}, {"CenterCropPad", 18, 0x3}, {"Col2Im", 18, 0x7}, {"Compress", 9, 0x3}, {"Constant", 1, 0x0},
    {"Conv", 1, 0x3}, {"ConvInteger", 10, 0x3}, {"ConvTranspose", 1, 0x3}, {"CumProd", 26, 0x3}, {"CumSum", 11, 0x3},
    {"DeformConv", 19, 0x7}, {"DequantizeLinear", 10, 0x3}, {"Div", 1, 0x3}, {"Equal", 1, 0x3}, {"Expand", 8, 0x3}, {"GRU", 1, 0x7},
    {"Gather", 1, 0x3}, {"GatherElements", 11, 0x3}, {"GatherND", 11, 0x3}, {"Gemm", 1, 0x7}, {"Gemm", 11, 0x3}, {"Greater", 1, 0x3},
    {"GreaterOrEqual", 12, 0x3}, {"GridSample", 16, 0x3}, {"GroupNormalization", 18, 0x7}, {"InstanceNormalization", 1, 0x7},
    {"LSTM", 1, 0x7}, {"LayerNormalization", 17, 0x3}, {"Less", 1, 0x3}, {"LessOrEqual", 12, 0x3}, {"LinearAttention", 27, 0x7},
    {"Loop", 1, 0x7}, {"Loop", 11, 0x3}, {"MatMul", 1, 0x3}, {"MatMulInteger", 10, 0x3}, {"MaxUnpool", 9, 0x3},
    {"MelWeightMatrix", 17, 0x1f}, {"Mod", 10, 0x3}, {"Mul", 1, 0x3}, {"NegativeLogLikelihoodLoss", 12, 0x3},
    {"NonMaxSuppression", 10, 0x3}, {"OneHot", 9, 0x7}, {"Optional", 15, 0x0}, {"OptionalHasElement", 15, 0x1},
    {"OptionalHasElement", 18, 0x0}, {"Or", 1, 0x3}, {"PRelu", 1, 0x3}, {"Pad", 1, 0x1}, {"Pad", 11, 0x3}, {"Pow", 1, 0x3},
    {"QLinearConv", 10, 0xff}, {"QLinearMatMul", 10, 0xff}, {"QuantizeLinear", 10, 0x3}, {"RMSNormalization", 23, 0x3}, {"RNN", 1, 0x7},
    {"RandomNormal", 1, 0x0}, {"RandomUniform", 1, 0x0}, {"Range", 11, 0x7}, {"Reshape", 1, 0x1}, {"Reshape", 5, 0x3},
    {"Resize", 10, 0x3}, {"Resize", 11, 0x7}, {"Resize", 13, 0x1}, {"ReverseSequence", 10, 0x3}, {"RoiAlign", 10, 0x7},
    {"RotaryEmbedding", 23, 0x7}, {"STFT", 17, 0x3}, {"Scan", 8, 0x3}, {"Scan", 9, 0x1}, {"Scatter", 9, 0x7},
    {"ScatterElements", 11, 0x7}, {"ScatterND", 11, 0x7}, {"SequenceAt", 11, 0x3}, {"SequenceEmpty", 11, 0x0},
    {"SequenceInsert", 11, 0x3}, {"Slice", 1, 0x1}, {"Slice", 10, 0x7}, {"SoftmaxCrossEntropyLoss", 12, 0x3}, {"StringConcat", 20, 0x3},
    {"Sub", 1, 0x3}, {"SwiGLU", 28, 0x3}, {"TensorScatter", 24, 0x3}, {"Tile", 1, 0x7}, {"Tile", 6, 0x3}, {"TopK", 1, 0x1},
    {"TopK", 10, 0x3}, {"Unsqueeze", 1, 0x1}, {"Unsqueeze", 13, 0x3}, {"Upsample", 1, 0x1}, {"Upsample", 9, 0x3}, {"Where", 9, 0x7},
    {"Xor", 1, 0x3}, {"ai.onnx.ml:ArrayFeatureExtractor", 1, 0x3}, {"ai.onnx.preview.training:Adagrad", 1, 0x7},
    {"ai.onnx.preview.training:Adam", 1, 0x7}, {"ai.onnx.preview.training:Momentum", 1, 0x7}, {"ai.onnx.preview:FlexAttention", 1, 0x7},
    {"com.microsoft:RotaryEmbedding", 1, 0xf}, {"com.microsoft:BiasSoftmax", 1, 0x3}, {"com.microsoft:FusedConv", 1, 0x3},
    {"com.microsoft:FusedGemm", 1, 0x3}, {"com.microsoft:FusedMatMul", 1, 0x3}, {"com.microsoft:TransposeMatMul", 1, 0x3},
    {"com.microsoft:SkipLayerNormalization", 1, 0x7}, {"com.microsoft:SkipSimplifiedLayerNormalization", 1, 0x7},
    {"SimplifiedLayerNormalization", 1, 0x3}, {"com.microsoft:SimplifiedLayerNormalization", 1, 0x3},
    {"com.microsoft:EmbedLayerNormalization", 1, 0x6d}, {"com.microsoft:Attention", 1, 0x3},
    {"com.microsoft:MultiHeadAttention", 1, 0x1}, {"com.microsoft:GroupQueryAttention", 1, 0x61}, {"com.microsoft:MatMulNBits", 1, 0x7}, {"com.microsoft:QuantizeLinear", 1, 0x3},
    {"com.microsoft:DequantizeLinear", 1, 0x3}, {"com.microsoft:QLinearConv", 1, 0xff}, {"com.microsoft:QLinearAdd", 1, 0x5b},
    {"com.microsoft:QLinearMul", 1, 0x5b}, {"com.microsoft:QLinearSigmoid", 1, 0xb}, {"com.microsoft:QLinearLeakyRelu", 1, 0xb},
    {"com.microsoft:QLinearSoftmax", 1, 0xb}, {"com.microsoft:QLinearGlobalAveragePool", 1, 0xb},
    {"com.microsoft:QLinearAveragePool", 1, 0xb}, {"com.microsoft:QLinearConcat", 1, 0x1f}, {"com.microsoft:QGemm", 1, 0x3f},
    {"com.microsoft:MatMulIntegerToFloat", 1, 0xf}, {"com.microsoft:DynamicQuantizeMatMul", 1, 0x7},
    {"com.microsoft:DynamicQuantizeLSTM", 1, 0x507},
};

/* The row of the newest version up to the opset; of an operator that is younger than its model, the oldest row. */
unsigned sp__onnx_needed(const char *handler, int opset)
{
    unsigned needed = 1;
    int since = 0;
    for (size_t i = 0; i < sizeof arities / sizeof *arities; i++) {
        if (strcmp(arities[i].name, handler) != 0) continue;
        bool fits = arities[i].since <= opset, older = since > opset && arities[i].since < since;
        if (since == 0 || older || (fits && arities[i].since > since)) {
            since = arities[i].since;
            needed = arities[i].needed;
        }
    }
    /* Operators of any number of operands have no use for one that is left out. */
    static const char *const all[] = {"Concat", "Einsum", "Max", "Mean", "Min", "Sum"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], handler) == 0) needed |= SP_ONNX_NEEDS_ALL;
    return needed;
}
