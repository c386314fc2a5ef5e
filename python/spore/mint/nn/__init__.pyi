# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""spore.mint.nn: layers with the arguments of the torch-like interface. They are loaded when the first one is used."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive
from . import functional as functional
from spore.mint.nn.layer.activation import Mish as Mish
from spore.mint.nn.layer.activation import ELU as _ELU
from spore.mint.nn.layer.activation import GELU as _GELU
from spore.mint.nn.layer.activation import GLU as _GLU
from spore.mint.nn.layer.activation import Hardtanh as _Hardtanh
from spore.mint.nn.layer.activation import ReLU6 as _ReLU6
from spore.mint.nn.layer.activation import SiLU as _SiLU
from spore.mint.nn.layer.activation import Threshold as _Threshold
from spore.mint.nn.layer.conv import Conv1d as _Conv1d
from spore.mint.nn.layer.conv import Conv2d as _Conv2d
from spore.mint.nn.layer.conv import Conv3d as _Conv3d
from spore.mint.nn.layer.conv import ConvTranspose2d as _ConvTranspose2d
from spore.mint.nn.layer.loss import BCELoss as _BCELoss
from spore.mint.nn.layer.loss import BCEWithLogitsLoss as _BCEWithLogitsLoss
from spore.mint.nn.layer.loss import CosineEmbeddingLoss as _CosineEmbeddingLoss
from spore.mint.nn.layer.loss import CrossEntropyLoss as _CrossEntropyLoss
from spore.mint.nn.layer.loss import KLDivLoss as _KLDivLoss
from spore.mint.nn.layer.loss import MSELoss as _MSELoss
from spore.mint.nn.layer.loss import NLLLoss as _NLLLoss
from spore.mint.nn.layer.loss import SmoothL1Loss as _SmoothL1Loss
from spore.mint.nn.layer.normalization import BatchNorm1d as _BatchNorm1d
from spore.mint.nn.layer.normalization import BatchNorm2d as _BatchNorm2d
from spore.mint.nn.layer.normalization import BatchNorm3d as _BatchNorm3d
from spore.mint.nn.layer.normalization import GroupNorm as _GroupNorm
from spore.mint.nn.layer.normalization import SyncBatchNorm as _SyncBatchNorm
from spore.mint.nn.layer.padding import ConstantPad1d as ConstantPad1d
from spore.mint.nn.layer.padding import ConstantPad2d as ConstantPad2d
from spore.mint.nn.layer.padding import ConstantPad3d as ConstantPad3d
from spore.mint.nn.layer.padding import ReflectionPad1d as ReflectionPad1d
from spore.mint.nn.layer.padding import ReflectionPad2d as ReflectionPad2d
from spore.mint.nn.layer.padding import ReflectionPad3d as ReflectionPad3d
from spore.mint.nn.layer.padding import ReplicationPad1d as ReplicationPad1d
from spore.mint.nn.layer.padding import ReplicationPad2d as ReplicationPad2d
from spore.mint.nn.layer.padding import ReplicationPad3d as ReplicationPad3d
from spore.mint.nn.layer.padding import ZeroPad1d as ZeroPad1d
from spore.mint.nn.layer.padding import ZeroPad2d as ZeroPad2d
from spore.mint.nn.layer.padding import ZeroPad3d as ZeroPad3d
from spore.mint.nn.layer.pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from spore.mint.nn.layer.pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from spore.mint.nn.layer.pooling import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from spore.mint.nn.layer.pooling import UpsamplingBilinear2d as UpsamplingBilinear2d
from spore.mint.nn.layer.pooling import UpsamplingNearest2d as UpsamplingNearest2d
from spore.mint.nn.layer.pooling import AdaptiveMaxPool1d as _AdaptiveMaxPool1d
from spore.mint.nn.layer.pooling import Fold as _Fold
from spore.mint.nn.layer.pooling import Unfold as _Unfold
from spore.mint.nn.layer.pooling import Upsample as _Upsample
from spore.nn.cell import Cell as Cell
from spore.nn.layer.activation import HSigmoid as Hardsigmoid
from spore.nn.layer.activation import HSwish as Hardswish
from spore.nn.layer.activation import LogSigmoid as LogSigmoid
from spore.nn.layer.activation import LogSoftmaxExt as LogSoftmax
from spore.nn.layer.activation import ReLU as ReLU
from spore.nn.layer.activation import SeLU as SELU
from spore.nn.layer.activation import Sigmoid as Sigmoid
from spore.nn.layer.activation import SoftmaxExt as Softmax
from spore.nn.layer.activation import Tanh as Tanh
from spore.nn.layer.activation import HShrink as _Hardshrink
from spore.nn.layer.activation import PReLUExt as _PReLU
from spore.nn.layer.activation import SoftShrink as _Softshrink
from spore.nn.layer.basic import Identity as Identity
from spore.nn.layer.basic import DropoutExt as _Dropout
from spore.nn.layer.basic import Dropout2dExt as _Dropout2d
from spore.nn.layer.basic import Flatten as _Flatten
from spore.nn.layer.basic import Linear as _Linear
from spore.nn.layer.embedding import EmbeddingExt as _Embedding
from spore.nn.layer.image import PixelShuffle as PixelShuffle
from spore.nn.layer.normalization import LayerNormExt as _LayerNorm
from spore.nn.layer.pooling import AdaptiveMaxPool2d as _AdaptiveMaxPool2d
from spore.nn.layer.pooling import AvgPool1dExt as _AvgPool1d
from spore.nn.layer.pooling import AvgPool2dExt as _AvgPool2d
from spore.nn.layer.pooling import AvgPool3dExt as _AvgPool3d
from spore.nn.layer.pooling import MaxPool2dExt as _MaxPool2d
from spore.nn.layer.pooling import MaxUnpool2d as _MaxUnpool2d
from spore.nn.loss.loss import L1LossExt as _L1Loss
from spore.nn.loss.loss import SoftMarginLoss as _SoftMarginLoss

__all__: list[str]

class AdaptiveMaxPool1d(_AdaptiveMaxPool1d):
    """A signal, (N, C, L) or (C, L), brought to a length by the largest elements of windows that cover it."""
    def __init__(self, output_size, return_indices: Any = False) -> None: ...
class AdaptiveMaxPool2d(_AdaptiveMaxPool2d):
    """An image, (N, C, H, W) or (C, H, W), brought to a size by the largest elements of windows that cover it."""
    def __init__(self, output_size, return_indices: Any = False) -> None: ...
class AvgPool1d(_AvgPool1d):
    """AvgPool1d with the torch-like arguments: the stride is the kernel by default."""
    def __init__(self, kernel_size, stride=None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True) -> None: ...
class AvgPool2d(_AvgPool2d):
    """AvgPool2d with the torch-like arguments: the stride is the kernel by default."""
    def __init__(self, kernel_size, stride=None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True, divisor_override=None) -> None: ...
class AvgPool3d(_AvgPool3d):
    """AvgPool3d with the torch-like arguments: the stride is the kernel by default."""
    def __init__(self, kernel_size, stride=None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True, divisor_override=None) -> None: ...
class BCELoss(_BCELoss):
    """Cross entropy between probabilities and targets of two classes."""
    def __init__(self, weight=None, reduction: Any = 'mean') -> None: ...
class BCEWithLogitsLoss(_BCEWithLogitsLoss):
    """Cross entropy between the sigmoid of the input and targets of two classes."""
    def __init__(self, weight=None, reduction: Any = 'mean', pos_weight=None) -> None: ...
class BatchNorm1d(_BatchNorm1d):
    """Batch normalisation of (N, C) or (N, C, L)."""
    def __init__(self, num_features, eps: Any = 1e-05, momentum: Any = 0.1, affine: Any = True, track_running_stats: Any = True, dtype=None) -> None: ...
class BatchNorm2d(_BatchNorm2d):
    """Batch normalisation of images, (N, C, H, W)."""
    def __init__(self, num_features, eps: Any = 1e-05, momentum: Any = 0.1, affine: Any = True, track_running_stats: Any = True, dtype=None) -> None: ...
class BatchNorm3d(_BatchNorm3d):
    """Batch normalisation of volumes, (N, C, D, H, W)."""
    def __init__(self, num_features, eps: Any = 1e-05, momentum: Any = 0.1, affine: Any = True, track_running_stats: Any = True, dtype=None) -> None: ...
class Conv1d(_Conv1d):
    """Convolution of a signal, (N, C, L) or (C, L)."""
    def __init__(self, in_channels, out_channels, kernel_size, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: Any = 1, bias: Any = True, padding_mode: Any = 'zeros', dtype=None) -> None: ...
class Conv2d(_Conv2d):
    """Convolution of an image, (N, C, H, W) or (C, H, W)."""
    def __init__(self, in_channels, out_channels, kernel_size, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: Any = 1, bias: Any = True, padding_mode: Any = 'zeros', dtype=None) -> None: ...
class Conv3d(_Conv3d):
    """Convolution of a volume, (N, C, D, H, W) or (C, D, H, W)."""
    def __init__(self, in_channels, out_channels, kernel_size, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: Any = 1, bias: Any = True, padding_mode: Any = 'zeros', dtype=None) -> None: ...
class ConvTranspose2d(_ConvTranspose2d):
    """Transposed convolution of an image, (N, C, H, W) or (C, H, W)."""
    def __init__(self, in_channels, out_channels, kernel_size, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: Any = 1, bias: Any = True, dilation: Any = 1, padding_mode: Any = 'zeros', dtype=None) -> None: ...
class CosineEmbeddingLoss(_CosineEmbeddingLoss):
    """1 - cosine for pairs with target 1, max(0, cosine - margin) for pairs with target -1."""
    def __init__(self, margin: Any = 0.0, reduction: Any = 'mean') -> None: ...
class CrossEntropyLoss(_CrossEntropyLoss):
    """Cross entropy between targets and the softmax of the input."""
    def __init__(self, weight=None, ignore_index: Any = -100, reduction: Any = 'mean', label_smoothing: Any = 0.0) -> None: ...
class Dropout(_Dropout):
    """Dropout with the torch-like arguments."""
    def __init__(self, p: Any = 0.5, inplace: Any = False) -> None: ...
class Dropout2d(_Dropout2d):
    """Dropout2d with the torch-like arguments."""
    def __init__(self, p: Any = 0.5, inplace: Any = False) -> None: ...
class ELU(_ELU):
    """x above zero, alpha (exp(x) - 1) below."""
    def __init__(self, alpha: Any = 1.0, inplace: Any = False) -> None: ...
class Embedding(_Embedding):
    """Embedding with the torch-like arguments."""
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type: Any = 2.0, scale_grad_by_freq: Any = False, sparse: Any = False, _weight=None, _freeze: Any = False, dtype=None) -> None: ...
class Flatten(_Flatten):
    """Some dimensions as one."""
    def __init__(self, start_dim: Any = 1, end_dim: Any = -1) -> None: ...
class Fold(_Fold):
    """Adds patches, as Unfold gives them, up to images."""
    def __init__(self, output_size, kernel_size, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None: ...
class GELU(_GELU):
    """x times the probability that a normal variable is below x."""
    def __init__(self, approximate: Any = 'none') -> None: ...
class GLU(_GLU):
    """The first half of x along a dimension times the sigmoid of the second half."""
    def __init__(self, dim: Any = -1) -> None: ...
class GroupNorm(_GroupNorm):
    """Normalises groups of channels of every sample, then scales and shifts every channel."""
    def __init__(self, num_groups, num_channels, eps: Any = 1e-05, affine: Any = True, dtype=None) -> None: ...
class Hardshrink(_Hardshrink):
    """x where it is further than lambd from zero, zero elsewhere."""
    def __init__(self, lambd: Any = 0.5) -> None: ...
class Hardtanh(_Hardtanh):
    """x kept between two values."""
    def __init__(self, min_val: Any = -1.0, max_val: Any = 1.0, inplace: Any = False) -> None: ...
class KLDivLoss(_KLDivLoss):
    """Kullback-Leibler divergence of targets from log probabilities."""
    def __init__(self, reduction: Any = 'mean', log_target: Any = False) -> None: ...
class L1Loss(_L1Loss):
    """L1Loss under the name that mint uses."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class LayerNorm(_LayerNorm):
    """LayerNorm with the torch-like arguments."""
    def __init__(self, normalized_shape, eps: Any = 1e-05, elementwise_affine: Any = True, bias: Any = True, dtype=None) -> None: ...
class Linear(_Linear):
    """Dense with the torch-like arguments."""
    def __init__(self, in_features, out_features, bias: Any = True, weight_init=None, bias_init=None, dtype=None) -> None: ...
class MSELoss(_MSELoss):
    """Mean, or sum, of squared differences."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class MaxPool2d(_MaxPool2d):
    """MaxPool2d with the torch-like arguments: the stride is the kernel by default."""
    def __init__(self, kernel_size: Any = 1, stride=None, padding: Any = 0, dilation: Any = 1, return_indices: Any = False, ceil_mode: Any = False) -> None: ...
class MaxUnpool2d(_MaxUnpool2d):
    """Puts the elements of a pooled image back to their positions; the rest is zero."""
    def __init__(self, kernel_size, stride=None, padding: Any = 0) -> None: ...
class NLLLoss(_NLLLoss):
    """Minus the log probability of the target's class."""
    def __init__(self, weight=None, ignore_index: Any = -100, reduction: Any = 'mean') -> None: ...
class PReLU(_PReLU):
    """PReLU with the torch-like arguments."""
    def __init__(self, num_parameters: Any = 1, init: Any = 0.25, dtype=None) -> None: ...
class ReLU6(_ReLU6):
    """x kept between 0 and 6."""
    def __init__(self, inplace: Any = False) -> None: ...
class SiLU(_SiLU):
    """x times sigmoid(x)."""
    def __init__(self, inplace: Any = False) -> None: ...
class SmoothL1Loss(_SmoothL1Loss):
    """Absolute differences, rounded off to a parabola near zero."""
    def __init__(self, reduction: Any = 'mean', beta: Any = 1.0) -> None: ...
class SoftMarginLoss(_SoftMarginLoss):
    """log(1 + exp(-label logit)) for labels -1 and 1."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class Softshrink(_Softshrink):
    """x moved towards zero by lambd, zero in between."""
    def __init__(self, lambd: Any = 0.5) -> None: ...
class SyncBatchNorm(_SyncBatchNorm):
    """Batch normalisation with the statistics of all devices; with one device the plain one."""
    def __init__(self, num_features, eps: Any = 1e-05, momentum: Any = 0.1, affine: Any = True, track_running_stats: Any = True, process_group=None, dtype=None) -> None: ...
class Threshold(_Threshold):
    """x above a threshold, a fixed value elsewhere."""
    def __init__(self, threshold, value, inplace: Any = False) -> None: ...
class Unfold(_Unfold):
    """Patches of images as columns: (N, C, H, W) to (N, C * taps, patches)."""
    def __init__(self, kernel_size, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None: ...
class Upsample(_Upsample):
    """A signal, image or volume of another size, by interpolation."""
    def __init__(self, size=None, scale_factor=None, mode: Any = 'nearest', align_corners=None, recompute_scale_factor=None) -> None: ...
