# SPDX-License-Identifier: Apache-2.0
"""What the constructors of primitives take: the kind of each argument that MindSpore checks, asked of MindSpore 2.10 value by value.

A line is `kind| Class.argument,argument Class.argument ...`, with its continuations indented. `text: a b` is one of these texts, in small or large letters; `Vtext` raises
ValueError for what is no text, too."""
import functools
import inspect

from spore._core import type_name as _type_name
from spore import _core

_RULES = """\
bool| AdamNoUpdateParam.use_locking,use_nesterov BartlettWindow.periodic BasicLSTMCell.state_is_tuple BatchNormFold.is_training
    BlackmanWindow.periodic CTCGreedyDecoder.merge_repeated CTCLoss.preprocess_collapse_repeated,ctc_merge_repeated,ignore_longer_outputs_than_inputs
    CTCLossV2.zero_infinity CholeskySolve.upper CombinedNonMaxSuppression.pad_per_class,clip_boxes DynamicGRUV2.time_major,reset_after,is_training
    DynamicRNN.use_peephole,time_major,is_training EditDistance.normalize EuclideanNorm.keep_dims ExtractGlimpse.centered,normalized,uniform_noise
    FakeLearnedScaleQuantPerChannel.neg_trunc,training FakeLearnedScaleQuantPerLayer.neg_trunc,training
    FakeQuantPerChannel.ema,symmetric,narrow_range,training FakeQuantPerLayer.ema,symmetric,narrow_range,training
    FusedAdaFactor.enable_scale_parameter,enable_first_moment,enable_weight_decay
    FusedAdaFactorWithGlobalNorm.enable_scale_parameter,enable_first_moment,enable_weight_decay FusedSparseAdam.use_locking,use_nesterov
    FusedSparseLazyAdam.use_locking,use_nesterov FusedSparseProximalAdagrad.use_locking HammingWindow.periodic LARSUpdate.use_clip
    LogUniformCandidateSampler.unique LuUnpack.unpack_data,unpack_pivots MatrixInverse.adjoint MatrixSolve.adjoint MatrixSolveLs.fast
    MatrixTriangularSolve.lower,adjoint Median.global_median,keep_dims,ignore_nan MinMaxUpdatePerChannel.ema MinMaxUpdatePerLayer.ema
    NthElement.reverse NuclearNorm.keepdim Ormqr.left,transpose PadV3.paddings_contiguous ResizeArea.align_corners
    SampleDistortedBoundingBoxV2.use_image_if_no_bounding_boxes ScaleAndTranslate.antialias ScatterAdd.use_locking ScatterDiv.use_locking
    ScatterMax.use_locking ScatterMin.use_locking ScatterMul.use_locking ScatterNdAdd.use_locking ScatterNdDiv.use_locking ScatterNdMax.use_locking
    ScatterNdMin.use_locking ScatterNdMul.use_locking ScatterNdSub.use_locking ScatterNdUpdate.use_locking ScatterSub.use_locking
    ScatterUpdate.use_locking Sort.descending SparseApplyProximalAdagrad.use_locking SparseTensorDenseMatmul.adjoint_st,adjoint_dt
    TripletMarginLoss.swap
str| AllGatherV.group ReduceScatter.op ReduceScatterV.op,group
int| AlltoAllV.block_size AlltoAllVC.block_size Assert.summarize BatchNormFold.freeze_bn BatchNormFold2.freeze_bn Bernoulli.seed CTCLossV2.blank
    DropoutGenMask.Seed0,Seed1 DynamicGRUV2.cell_depth DynamicRNN.cell_depth IndexPut.accumulate Median.axis Pack.axis
    ParameterizedTruncatedNormal.seed,seed2 RNNTLoss.blank_label RandomPoisson.seed,seed2 Randperm.pad SampleDistortedBoundingBoxV2.seed,seed2
    ScatterAddWithAxis.axis Sort.axis Stack.axis TripletMarginLoss.p Unpack.axis Unstack.axis
float| ApplyAdamWithAmsgrad.beta1,beta2,epsilon ApplyMomentum.gradient_scale ApproximateEqual.tolerance BasicLSTMCell.forget_bias
    DynamicGRUV2.keep_prob,cell_clip DynamicRNN.cell_clip,forget_bias HammingWindow.alpha,beta LARSUpdate.epsilon,hyperpara LRN.bias,alpha,beta
    LogNormalReverse.mean,std MultiMarginLoss.margin NMSWithMask.iou_threshold TripletMarginLoss.eps
text: VALID SAME PAD| AvgPool3D.pad_mode MaxPool3D.pad_mode
int>=0| AvgPool3D.divisor_override DynamicGRUV2.num_proj DynamicRNN.num_proj FakeLearnedScaleQuantPerChannel.quant_delay,channel_axis
    FakeLearnedScaleQuantPerLayer.quant_delay FakeQuantPerChannel.quant_delay,channel_axis FakeQuantPerLayer.quant_delay LRN.depth_radius
    LogSpace.steps,base LogUniformCandidateSampler.seed MinMaxUpdatePerChannel.channel_axis RandomGamma.seed,seed2
Vtext: NCDHW| AvgPool3D.data_format MaxPool3D.data_format
0<=float<=1| BasicLSTMCell.keep_prob BatchNormFold.momentum Dropout2D.keep_prob Dropout3D.keep_prob DynamicRNN.keep_prob FakeQuantPerChannel.ema_decay
    FakeQuantPerLayer.ema_decay InstanceNorm.momentum MinMaxUpdatePerChannel.ema_decay MinMaxUpdatePerLayer.ema_decay
Vtext: tanh| BasicLSTMCell.activation
float>0| BatchNormFold.epsilon
text: none| CTCLossV2.reduction
int>0| ComputeAccidentalHits.num_true Histogram.bins LogUniformCandidateSampler.num_true,num_sampled MultiMarginLoss.p NoRepeatNGram.ngram_size
    Padding.pad_dim_size RandomChoiceWithMask.count Randperm.max_length SampleDistortedBoundingBoxV2.max_attempts
text: bilinear nearest bilinear_v2| CropAndResize.method
Vtext: NHWC NCHW| DataFormatDimMap.src_format,dst_format DataFormatVecPermute.src_format,dst_format
text: LSTM| DynamicRNN.cell_type
text: UNIDIRECTIONAL| DynamicRNN.direction
text: tanh| DynamicRNN.activation
text: uniform gaussian zero| ExtractGlimpse.noise
float>=0| Histogram.max Pdist.p
Vtext: none mean batchmean sum| KLDivLoss.reduction
text: ACROSS_CHANNELS| LRN.norm_region
text: LEFT_RIGHT RIGHT_LEFT LEFT_LEFT RIGHT_RIGHT| MatrixDiagPartV3.align MatrixDiagV3.align MatrixSetDiagV3.align
text: VALID SAME| MaxPool.pad_mode MaxPoolWithArgmax.pad_mode
Vtext: NCHW NHWC| MaxPoolWithArgmax.data_format
Vtext: REFLECT SYMMETRIC| MirrorPad.mode
Vtext: none sum mean| MultiMarginLoss.reduction TripletMarginLoss.reduction
Vtext: constant reflect edge circular| PadV3.mode
text: lanczos1 lanczos3 lanczos5 gaussian box triangle keyscubic mitchellcubic| ScaleAndTranslate.kernel_type
Vtext: in out| TensorDump.input_output
dtype| BartlettWindow.dtype BlackmanWindow.dtype HammingWindow.dtype ListDiff.out_idx LogSpace.dtype LowerBound.out_type Multinomial.dtype
    NonDeterministicInts.dtype RandomCategorical.dtype RandomPoisson.dtype Randperm.dtype TruncatedNormal.dtype UpperBound.out_type
tuple| BoundingBoxEncode.means,stds SampleDistortedBoundingBoxV2.aspect_ratio_range,area_range
text: none mean sum| BCEWithLogitsLoss.reduction BinaryCrossEntropy.reduction NLLLoss.reduction SmoothL1Loss.reduction SoftMarginLoss.reduction
"""


def _int(value):
    return isinstance(value, int) and not isinstance(value, bool)


_KINDS = {  # kind: (type of the value, whether it is in range, what is wanted)
    "bool": (lambda v: isinstance(v, bool), None, "a bool"),
    "int": (_int, None, "an int"),
    "int>=0": (_int, lambda v: v >= 0, "an int of at least 0"),
    "int>0": (_int, lambda v: v > 0, "a positive int"),
    "float": (lambda v: isinstance(v, float), None, "a float"),
    "0<=float<=1": (lambda v: isinstance(v, float), lambda v: 0 <= v <= 1, "a float from 0 to 1"),
    "float>0": (lambda v: isinstance(v, float), lambda v: v > 0, "a positive float"),
    "float>=0": (lambda v: isinstance(v, float), lambda v: v >= 0, "a float of at least 0"),
    "str": (lambda v: isinstance(v, str), None, "a str"),
    "dtype": (lambda v: isinstance(v, _core.DType), None, "a dtype"),
    "tuple": (lambda v: isinstance(v, tuple), None, "a tuple"),
}


@functools.lru_cache(None)
def _rules():
    rules = {}
    for line in _RULES.replace("\n    ", " ").splitlines():
        kind, _, names = line.partition("| ")
        for name in names.split():
            owner, _, arguments = name.partition(".")
            rules.setdefault(owner, []).extend((argument, kind) for argument in arguments.split(","))
    return rules


def guard(cls):
    """Have the constructor of one of our classes check its arguments, where there are rules for it."""
    own = cls.__dict__.get("__init__")
    if own is None or cls.__name__ not in _rules() or not cls.__module__.startswith(("spore", "mindspore")):
        return

    @functools.wraps(own)
    def __init__(self, *args, **kwargs):
        if args or kwargs:
            try:
                given = inspect.signature(cls).bind(*args, **kwargs).arguments
            except TypeError:            # the constructor says what is wrong
                given = {}
            check(cls.__name__, {**given, **given.get("kwargs", {})})
        own(self, *args, **kwargs)
    cls.__init__ = __init__


def check(name, kept):
    """Raise TypeError or ValueError for an argument of class ``name`` that is of another kind, or out of range."""
    for argument, kind in _rules().get(name, ()):
        if argument not in kept:
            continue
        value = kept[argument]
        if "text: " in kind:
            texts = kind.partition(": ")[2].split()
            if not isinstance(value, str) or value.upper() not in map(str.upper, texts):
                error = TypeError if not isinstance(value, str) and not kind.startswith("V") else ValueError
                raise error(f"For '{name}', the '{argument}' must be one of {', '.join(map(repr, texts))}, but got {value!r}.")
            continue
        fits, in_range, wanted = _KINDS[kind]
        if not fits(value):
            raise TypeError(f"For '{name}', the '{argument}' must be {wanted}, but got {value!r} ({_type_name(value)}).")
        if in_range is not None and not in_range(value):
            raise ValueError(f"For '{name}', the '{argument}' must be {wanted}, but got {value!r}.")
