# SPDX-License-Identifier: Apache-2.0
"""Attributes that MindSpore's layers have and that layers here compute without: programs subclass a layer, write a construct of
their own and use them. They are made when they are first asked for.

A line names classes, then attributes and what makes them: the name of a primitive, perhaps with arguments, or `= expression`.
`self` is the layer.
"""
import functools
import math

__all__ = []

_TABLE = """
Dense: reshape Reshape | shape_op Shape
BatchNorm1d BatchNorm2d SyncBatchNorm: dtype DType | mul_mean Mul | mul_var Mul | reshape Reshape | shape Shape | sqrt Sqrt | square Square | \
sub_mean Sub | sub_var Sub | cast Cast | assign_sub_mean AssignSub | assign_sub_var AssignSub | reduce_mean ReduceMean(keep_dims=True) | \
bn_train BatchNorm(is_training=True, epsilon=self.eps, momentum=self.momentum) | bn_infer BatchNorm(is_training=False, epsilon=self.eps) | \
parallel_mode = "stand_alone" | _target = "CPU"
BatchNorm3d: reshape Reshape | shape Shape
SyncBatchNorm: group_name = None | is_global = False | rank_id = 0 | rank_size = 1
InstanceNorm1d InstanceNorm2d InstanceNorm3d: shape Shape | instance_bn InstanceNorm(epsilon=self.eps, momentum=self.momentum)
Conv1d Conv1dTranspose: expand_dims ExpandDims | shape Shape | squeeze Squeeze(2) | bias_add BiasAdd
Conv1d: conv2d Conv2D(out_channel=self.out_channels, kernel_size=self.kernel_size, mode=1, pad_mode=self.pad_mode, \
pad=_four(self.padding), stride=self.stride, dilation=self.dilation, group=self.group)
Conv3d: shape Shape | bias_add BiasAdd(data_format="NCDHW") | concat Concat(1) | split_0 Split(0, self.group) | split_1 Split(1, self.group) | \
conv3d Conv3D(out_channel=self.out_channels, kernel_size=self.kernel_size, mode=1, pad_mode=self.pad_mode, pad=self.padding, \
stride=self.stride, dilation=self.dilation, group=1)
Conv1dTranspose Conv2dTranspose: is_pad = self.pad_mode == "pad" | is_same = self.pad_mode == "same" | is_valid = self.pad_mode == "valid"
Conv2dTranspose: shape Shape | bias_add BiasAdd | padding_top = _four(self.padding)[0] | padding_bottom = _four(self.padding)[1] | \
padding_left = _four(self.padding)[2] | padding_right = _four(self.padding)[3] | \
conv2d_transpose Conv2DTranspose(out_channel=self.in_channels, kernel_size=self.kernel_size, mode=1, pad_mode=self.pad_mode, \
pad=_four(self.padding), stride=self.stride, dilation=self.dilation, group=self.group)
Conv1dTranspose: conv2d_transpose Conv2DBackpropInput(out_channel=self.in_channels, kernel_size=self.kernel_size, mode=1, \
pad_mode=self.pad_mode, pad=_four(self.padding), stride=self.stride, dilation=self.dilation, group=self.group)
Conv3dTranspose: shape Shape | bias_add BiasAdd(data_format="NCDHW") | conv3d_transpose Conv3DTranspose(in_channel=self.in_channels, \
out_channel=self.out_channels, kernel_size=self.kernel_size, mode=1, pad_mode=self.pad_mode, pad=self.padding, stride=self.stride, \
dilation=self.dilation, group=self.group, output_padding=self.output_padding)
BiDense: bias_add BiasAdd | matmul MatMul | in_channels = self.in2_channels
Embedding EmbeddingThor: expand ExpandDims | get_shp Shape | reshape Reshape | reshape_flat Reshape | array_mul MatMul | concat Concat | gather Gather | \
one_hot OneHot | shp_flat = (-1,) | on_value = _tensor(1.0, self.dtype) | off_value = _tensor(0.0, self.dtype) | \
init_tensor = _tensor(self.embedding_table.asnumpy().copy())
EmbeddingLookup MultiFieldEmbeddingLookup: reshape Reshape | reshape_first Reshape | shape Shape | gather_revert Gather | gatherv2 SparseGatherV2 | \
unique Unique | embeddinglookup EmbeddingLookup | forward_unique = False
MultiFieldEmbeddingLookup: OPERATOR_MAX = "MAX" | OPERATOR_MEAN = "MEAN" | OPERATOR_SUM = "SUM" | abs Abs | add Add | bias_add Add | cast Cast | \
count_op UnsortedSegmentSum | div_no_nan DivNoNan | equal Equal | expand ExpandDims | inf_add Add | inf_mask_mul Mul | max_mask_mul Mul | \
max_no_equal NotEqual | mul Mul | negative_inf_value = -3.402823466e+38 | \
merge_op UnsortedSegmentMax() if self.operator == "MAX" else ops.UnsortedSegmentSum()
AdaptiveAvgPool1d AdaptiveMaxPool1d: dtype DType | expand ExpandDims | shape Shape | squeeze Squeeze(2)
AdaptiveAvgPool2d: adaptive_avgpool2d AdaptiveAvgPool2D(self.output_size)
AdaptiveAvgPool3d: adaptive_avg_pool3d AdaptiveAvgPool3D(self.output_size)
AdaptiveMaxPool3d: adaptive_max_pool3d AdaptiveMaxPool3D
AvgPool1d: avg_pool AvgPool(kernel_size=(1, _last(self.kernel_size)), strides=(1, _last(self.stride)), pad_mode=_pad(self.pad_mode)) | \
expand ExpandDims | is_expand_3d = False | reduce_mean ReduceMean(keep_dims=True) | shape Shape | slice Slice | squeeze Squeeze(2)
AvgPool2d: ascend_910b_target = False | is_expand = False | avg_pool AvgPool(kernel_size=self.kernel_size, strides=self.stride, \
pad_mode=_pad(self.pad_mode), data_format=self.format)
AvgPool3d: avg_pool AvgPool3D(kernel_size=self.kernel_size, strides=self.stride, pad_mode=self.pad_mode)
MaxPool1d: expand ExpandDims | max_pool MaxPool(kernel_size=(1, _last(self.kernel_size)), strides=(1, _last(self.stride)), pad_mode=_pad(self.pad_mode)) | \
reduce_mean ReduceMean(keep_dims=True) | shape Shape | squeeze Squeeze(2) | use_pad = False
MaxPool2d: use_pad = self.pad_mode.upper() == "PAD" | max_pool MaxPool(kernel_size=self.kernel_size, strides=self.stride, \
pad_mode=_pad(self.pad_mode), data_format=self.format)
MaxPool3d: only_pad = self.pad_mode.upper() == "PAD" | max_pool MaxPool3D(kernel_size=self.kernel_size, strides=self.stride, pad_mode=self.pad_mode)
GRU LSTM RNN: reverse ReverseV2([0]) | reverse_sequence ReverseSequence(0, 1)
LSTMCell: support_non_tensor_inputs = True
RNNCell: _non_linearity = ["tanh", "relu"]
Dropout: dropout Dropout(self.keep_prob if self.p is None else 1 - self.p)
Dropout2d: dropout2d Dropout2D(self.keep_prob)
Dropout3d: dropout3d Dropout3D(self.keep_prob)
OneHot: onehot OneHot(self.axis)
Pad: pad Pad(self.paddings)
ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d: name = type(self).__name__
ReplicationPad1d ReplicationPad2d ReplicationPad3d: padv3 PadV3(mode="edge")
Unflatten ChannelShuffle: reshape Reshape | shape Shape
ChannelShuffle TimeDistributed DenseThor: transpose Transpose
TimeDistributed DiceLoss MultiClassDiceLoss DenseThor Conv2dThor EmbeddingLookupThor: reshape Reshape
DenseThor Conv2dThor EmbeddingLookupThor: shape Shape | mul Mul
DenseThor EmbeddingThor EmbeddingLookupThor: cube_matmul MatMul(transpose_a=True)
DenseThor Conv2dThor: is_ascend = False
EmbeddingThor: mul Mul | cast Cast | reduce_sum ReduceSum
Roll: shape_op Shape | gpu = False
Tril Triu: dtype DType | mul Mul | cast Cast
ClipByNorm: clip_by_norm ClipByNorm(self.axis)
Norm: sqrt Sqrt | reduce_sum ReduceSum(True) | squeeze Squeeze(self.axis)
Moments: cast Cast | reduce_mean ReduceMean(keep_dims=True) | square_diff SquaredDifference | squeeze Squeeze(self.axis)
MatrixDiag MatrixDiagPart MatrixSetDiag FocalLoss RMSELoss SampledSoftmaxLoss DiGamma LGamma IGamma LBeta MatInverse MatDet: dtype DType
CELU: celu CeLU(self.alpha)
ELU: elu Elu(self.alpha)
GLU: sigmoid Sigmoid | spilt Split(self.dim, 2)
FastGelu: fast_gelu FastGeLU
HShrink: hshrink HShrink(self.lambd)
HSigmoid: hsigmoid HSigmoid
HSwish: hswish HSwish
LogSigmoid: add Add | exp Exp | log Log | mul Mul | rec Reciprocal
LogSoftmax: log_softmax LogSoftmax(self.axis)
Mish: mish Mish
PReLU: prelu PReLU
RReLU: sign Sign
ReLU: relu ReLU
ReLU6: relu6 ReLU6
SeLU: selu SeLU
Sigmoid: sigmoid Sigmoid
SoftShrink: softshrink SoftShrink(self.lambd)
Softmax: softmax Softmax(self.axis)
Softmax2d: shape Shape | softmax Softmax(-3)
Softsign: softsign Softsign
Tanh: tanh Tanh
LRN: lrn_op LRN(self.depth_radius, self.bias, self.alpha, self.beta)
CentralCrop: slice Slice
SSIM MSSSIM: concat Concat(1) | reduce_mean ReduceMean
MSSSIM: pow Pow | prod ReduceProd | stack Stack(axis=-1)
SampledSoftmaxLoss: exp Exp | expand_dims ExpandDims | ones_like OnesLike | reshape Reshape | shape Shape | slice_op Slice | zeros_like ZerosLike | \
concat_dim0 Concat(0) | concat_dim1 Concat(1) | gather_v2 Gather | log Log | matmul MatMul(False, True) | reduce_max_true ReduceMax(True) | \
reduce_sum_true ReduceSum(True)
DiGamma: abs Abs | cos Cos | equal Equal | floor Floor | less Less | log1p Log1p | logicaland LogicalAnd | select Select | shape Shape | sin Sin
LGamma: abs Abs | equal Equal | floor Floor | greater Greater | isfinite IsFinite | less Less | lessequal LessEqual | log Log | log1p Log1p | \
ones_like OnesLike | select Select | shape Shape | sin Sin
IGamma: cast Cast | equal Equal | exp Exp | greater Greater | less Less | log Log | logicaland LogicalAnd | logicalnot LogicalNot | \
logicalor LogicalOr | neg Neg | select Select | shape Shape | zeroslike ZerosLike
LBeta: less Less | log Log | log1p Log1p | select Select | shape Shape
DiGamma LGamma: pi = math.pi
MatDet: square Square | cholesky Cholesky
SparseToDense: sparse_to_dense SparseToDense
CosineEmbeddingLoss PoissonNLLLoss TripletMarginWithDistanceLoss: maximum Maximum
TripletMarginWithDistanceLoss: minimum Minimum
FocalLoss: expand_dims ExpandDims | gather_d GatherD | squeeze Squeeze(1) | tile Tile
MAELoss: abs Abs
MultiMarginLoss: multi_margin_loss MultiMarginLoss(self.p, self.margin, self.reduction)
MultilabelMarginLoss: multilabel_margin_loss MultilabelMarginLoss(self.reduction)
SmoothL1Loss: smooth_l1_loss SmoothL1Loss(self.beta, self.reduction)
SoftmaxCrossEntropyWithLogits: softmax_cross_entropy SoftmaxCrossEntropyWithLogits | sparse_softmax_cross_entropy SparseSoftmaxCrossEntropyWithLogits | \
one_hot OneHot | is_cpugpu = True
TrainOneStepCell TrainOneStepWithLossScaleCell: use_graceful_exit = False
TrainOneStepWithLossScaleCell: base0 = _tensor(0) | enable_allfinite = True | enable_tuple_broaden = True
DynamicLossScaleUpdateCell: less_equal LessEqual | logic_and LogicalAnd | logic_not LogicalNot | logic_or LogicalOr | max Maximum | \
reciprocal Reciprocal | select Select | const_true = _tensor(True) | minimum_loss_scale = _tensor(1.0)
MicroBatchInterleaved: add Add
CosineDecayLR ExponentialDecayLR InverseDecayLR NaturalExpDecayLR WarmUpLR ASGD Rprop LARS: cast Cast
CosineDecayLR: cos Cos | min Minimum | sin Sin | math_pi = math.pi | delta = 0.5 * (self.max_lr - self.min_lr)
ExponentialDecayLR NaturalExpDecayLR PolynomialDecayLR ASGD: pow Pow
NaturalExpDecayLR: math_e = math.e
PolynomialDecayLR: ceil Ceil | max Maximum | min Minimum
WarmUpLR: min Minimum
ASGD Rprop: assign Assign
ASGD: assignsub AssignSub | maximum Maximum | squeeze Squeeze
Rprop: ones_like OnesLike | select Select | sign Sign | fill FillV2
Optimizer: enable_tuple_broaden = True
Adam LazyAdam: opt Adam(self.use_locking, self.use_nesterov)
Momentum: opt ApplyMomentum(use_nesterov=self.use_nesterov)
Adagrad: opt ApplyAdagrad
AdaMax: opt ApplyAdaMax
RMSProp: opt ApplyCenteredRMSProp() if self.centered else ops.ApplyRMSProp()
"""


@functools.cache
def _table():
    parts = {}
    for line in filter(None, _TABLE.strip().split("\n")):
        classes, _, rows = line.partition(": ")
        for row in rows.split(" | "):
            name, _, text = row.strip().partition(" ")
            text = text[2:] if text.startswith("= ") else f"ops.{text}" if "(" in text else f"ops.{text}()"
            for cls in classes.split():
                parts.setdefault(cls, {})[name] = text
    return parts


def of(cls):
    """The attributes of a class, those of the layers below it included: the text that makes each."""
    found = {}
    for base in reversed(cls.__mro__):
        if base.__module__.partition(".")[0] in ("spore", "mindspore"):
            found.update(_table().get(base.__name__, {}))
    return found


def make(cell, text):
    """Such an attribute of a Cell."""
    from spore import ops
    return eval(text, {"ops": ops, "self": cell, "math": math, "_four": _four, "_last": _last, "_pad": _pad, "_tensor": _tensor})  # our own text


def _four(padding):
    """Of all sides."""
    return tuple(padding) if isinstance(padding, (tuple, list)) else (padding,) * 4


def _last(sizes):
    return sizes[-1] if isinstance(sizes, (tuple, list)) else sizes


def _pad(mode):
    """Primitives that pool know no padding by numbers: there the layer pads before."""
    return "valid" if mode.lower() == "pad" else mode


def _tensor(value, dtype=None):
    from spore import Tensor
    from spore.common import dtype as mstype
    return Tensor(value, dtype or (mstype.float32 if isinstance(value, float) else None))
