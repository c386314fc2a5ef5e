/* SPDX-License-Identifier: Apache-2.0 */
/* lite_schema.c - operators of MindSpore Lite's files by number, with the letters of their fields; see lite_file.h. */
#include "base/plain.h"
#include "formats/lite/lite_file.h"

const sp_lite_op sp__lite_schema[] = {
    {1, "Abs", ""}, {2, "Activation", "cfffb"}, {3, "ActivationGrad", "cf"}, {4, "Adam", "bb"}, {5, "AddFusion", "c"},
    {6, "AdderFusion", "iLLLcLlllc"}, {7, "AddGrad", ""}, {8, "AddN", ""}, {9, "All", "l"}, {10, "ApplyMomentum", "bbf"},
    {11, "ArgMaxFusion", "l,l=1,b,b"}, {12, "ArgMinFusion", "llbb"}, {13, "Assert", "l"}, {14, "Assign", ""}, {15, "AssignAdd", ""},
    {16, "AudioSpectrogram", "llb"}, {17, "AvgPoolFusion", "LLLccibc"}, {18, "AvgPoolGrad", "LLci"}, {19, "BatchNorm", "fib"},
    {20, "BatchNormGrad", "fb"}, {21, "BatchToSpace", "LV"}, {22, "BatchToSpaceND", "LV"}, {23, "BiasAdd", "i"}, {24, "BinaryCrossEntropy", "c"},
    {25, "BinaryCrossEntropyGrad", "c=1"}, {26, "BiasAddGrad", ""}, {27, "BroadcastTo", "L"}, {28, "Cast", ""}, {29, "Ceil", ""}, {30, "Clip", "ff"},
    {31, "Concat", "l"}, {32, "Attention", "llbf"}, {33, "Conv2DBackpropFilterFusion", "iLLLcLllllc"},
    {34, "Conv2DBackpropInputFusion", "iLLLcLLllllc"}, {35, "Conv2DFusion", "iLLLcLllllc"}, {36, "Conv2dTransposeFusion", "iLLLcLLllllcL"},
    {37, "Cos", ""}, {38, "ConstantOfShape", "lF"}, {39, "Crop", "lL"}, {40, "CustomExtractFeatures", ""}, {41, "CustomNormalize", ""},
    {42, "CustomPredict", "lf"}, {43, "DeConv2DGradFilter", "llLcLLLlic"}, {44, "Depend", ""}, {45, "DepthToSpace", "lis"},
    {46, "DetectionPostProcess", "ilFffllllbb"}, {47, "DivFusion", "c"}, {48, "DivGrad", ""}, {49, "Dropout", "f=0.5"}, {50, "DropoutGrad", "f"},
    {51, "Elu", "f"}, {52, "Eltwise", "c"}, {53, "Equal", ""}, {54, "EmbeddingLookupFusion", "f"}, {55, "ExpFusion", "f=-1,f=1.0,f"},
    {56, "ExpandDims", ""}, {57, "FakeQuantWithMinMaxVars", "lb"}, {58, "FakeQuantWithMinMaxVarsPerChannel", "lb"}, {59, "FftReal", ""},
    {60, "FftImag", ""}, {61, "Flatten", "l=1"}, {62, "FlattenGrad", ""}, {63, "Floor", ""}, {64, "FloorDiv", ""}, {65, "FloorMod", ""},
    {66, "Fill", ""}, {67, "FullConnection", "bblc"}, {68, "FusedBatchNorm", "f=0.0001,f=0.9,l"}, {69, "Gather", ""}, {70, "GatherNd", ""},
    {71, "Greater", ""}, {72, "GreaterEqual", ""}, {73, "HashtableLookup", ""}, {74, "InstanceNorm", "f"}, {75, "LayerNormFusion", "l,f=0.00001,b,l"},
    {76, "LeakyRelu", "f"}, {77, "Less", ""}, {78, "LessEqual", ""}, {79, "Log", ""}, {80, "LogGrad", ""}, {81, "LogicalAnd", ""},
    {82, "LogicalNot", ""}, {83, "LogicalOr", ""}, {84, "LpNormalization", "ll"}, {85, "LRN", "lfffs"}, {86, "LshProjection", "c"},
    {87, "LSTM", "bbllllfffl"}, {88, "L2NormalizeFusion", "Lfc"}, {89, "MatMulFusion", "bbc"}, {90, "Maximum", ""}, {91, "MaximumGrad", "bb"},
    {92, "MaxPoolFusion", "LLLccibc"}, {93, "MaxPoolGrad", "LLci"}, {94, "SwitchLayer", ""}, {95, "Mfcc", "ffll"}, {96, "Minimum", ""},
    {97, "MinimumGrad", "bb"}, {98, "Mod", ""}, {99, "MulFusion", "c"}, {100, "MulGrad", ""}, {101, "Neg", ""}, {102, "NegGrad", ""},
    {103, "NotEqual", ""}, {104, "NonMaxSuppression", "l"}, {105, "OneHot", "l"}, {106, "OnesLike", ""}, {107, "PadFusion", "Vcf"},
    {108, "PartialFusion", "l"}, {109, "PowerGrad", "fff"}, {110, "PowFusion", "f=1,f"}, {111, "PriorBox", "LLFFllffbbf"}, {112, "PReLUFusion", "b"},
    {113, "QuantDTypeCast", "lll"}, {114, "Rank", ""}, {115, "Range", "l,l,l,l=1"}, {116, "Reciprocal", ""}, {117, "RealDiv", ""},
    {118, "ReduceFusion", "bcbf"}, {119, "Reshape", ""}, {120, "Resize", "icllbcflfc"}, {121, "ReverseSequence", "ll"}, {122, "ReverseV2", "L"},
    {123, "Rfft", "l"}, {124, "ROIPooling", "llf"}, {125, "Round", ""}, {126, "Rsqrt", ""}, {127, "ScaleFusion", "lc"}, {128, "ScatterNd", ""},
    {129, "SGD", "bff"}, {130, "Shape", ""}, {131, "SigmoidCrossEntropyWithLogits", ""}, {132, "SigmoidCrossEntropyWithLogitsGrad", ""},
    {133, "Sin", ""}, {134, "SkipGram", "bll"}, {135, "SliceFusion", "L"}, {136, "SmoothL1Loss", "f"}, {137, "SmoothL1LossGrad", "f"},
    {138, "Softmax", "L"}, {139, "SoftmaxCrossEntropyWithLogits", ""}, {140, "SpaceToBatch", "LV"}, {141, "SpaceToBatchND", "LV"},
    {142, "SpaceToDepth", "li"}, {143, "SparseSoftmaxCrossEntropyWithLogits", "b"}, {144, "SparseToDense", ""}, {145, "Split", "lLl"},
    {146, "Sqrt", ""}, {147, "Squeeze", "L"}, {148, "Square", ""}, {149, "SquaredDifference", ""}, {150, "Stack", "l"},
    {151, "StridedSlice", "lllll"}, {152, "SubFusion", "c"}, {153, "SubGrad", ""}, {154, "Switch", ""}, {155, "TensorListFromTensor", "ll"},
    {156, "TensorListGetItem", "l"}, {157, "TensorListReserve", "ll"}, {158, "TensorListSetItem", "l"}, {159, "TensorListStack", "ll"},
    {160, "TileFusion", "L"}, {161, "TopKFusion", "b=1,l,l"}, {162, "Transpose", ""}, {163, "Unique", ""}, {164, "UnsortedSegmentSum", ""},
    {165, "Unsqueeze", "L"}, {166, "Unstack", "l"}, {167, "LSTMGrad", "bbllllfff"}, {168, "Where", ""}, {169, "ZerosLike", ""}, {170, "Select", ""},
    {171, "ScatterNdUpdate", ""}, {172, "GRU", "b"}, {173, "NonZero", ""}, {174, "InvertPermutation", ""}, {175, "Size", ""},
    {176, "RandomStandardNormal", "ll"}, {177, "CropAndResize", "cf"}, {178, "Erf", ""}, {179, "StridedSliceGrad", "lllll"}, {180, "IsFinite", ""},
    {181, "LinSpace", ""}, {182, "UniformReal", "ll"}, {183, "AbsGrad", ""}, {184, "RsqrtGrad", ""}, {185, "SqrtGrad", ""},
    {186, "LayerNormGrad", "ll"}, {187, "ResizeGrad", "cb"}, {188, "Splice", "LLl"}, {189, "LogSoftmax", "l"}, {190, "Call", "b=1"},
    {191, "Custom", "sA"}, {192, "CumSum", "bb"}, {193, "SplitWithOverlap", "llLLL"}, {195, "RaggedRange", ""}, {196, "GLU", "l=-1"},
    {197, "TensorArray", "bbIi"}, {198, "TensorArrayRead", ""}, {199, "TensorArrayWrite", ""}, {200, "Affine", "Llcbb"}, {201, "AllGather", "si"},
    {202, "ReduceScatter", "sci"}, {203, "DynamicQuant", "b,l=32,b,l,b,I"}, {204, "LSTMGradData", "bbllllfff"}, {205, "LSTMGradWeight", "bbllllfff"},
    {206, "RandomNormal", "fff"}, {207, "NLLLoss", "c"}, {208, "NLLLossGrad", "c"}, {209, "FormatTranspose", "i=1,i=1"}, {210, "GatherD", ""},
    {211, "GroupNormFusion", "l,f=1e-5,b=1"}, {212, "Log1p", ""}, {213, "TensorScatterAdd", ""}, {214, "SparseFillEmptyRows", ""},
    {215, "SparseReshape", ""}, {216, "SparseSegmentSum", ""}, {217, "ScatterElements", "l"}, {218, "Triu", ""}, {219, "Tril", ""},
    {220, "AdamWeightDecay", "b"}, {221, "FillV2", ""},    {0, NULL, NULL},
};

const sp_lite_op *sp__lite_op(bool old, uint64_t tag)
{
    for (const sp_lite_op *o = old ? sp__lite_old_schema : sp__lite_schema; o->name != NULL; o++)
        if ((uint64_t)o->tag == tag) return o;
    return NULL;
}

char sp__lite_field_next(const char **fields, double *missing)
{
    char *end = NULL;
    const char letter = **fields;
    *missing = 0;
    if (letter == '\0') return 0;
    ++*fields;
    if (**fields == '=') {
        *missing = sp__strtod(*fields + 1, &end);
        *fields = end;
    }
    if (**fields == ',') ++*fields;
    return letter;
}
