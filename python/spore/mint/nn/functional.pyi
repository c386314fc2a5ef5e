# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""spore.mint.nn.functional: layers and losses as functions."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive
from spore.ops.image import fold as fold
from spore.ops.image import grid_sample as grid_sample
from spore.ops.image import unfold as unfold
from spore.ops.loss import cosine_embedding_loss as cosine_embedding_loss
from spore.ops.loss import _mint_nll_loss as nll_loss
from spore.ops.loss import soft_margin_loss as soft_margin_loss
from spore.ops.nn import adaptive_avg_pool2d as adaptive_avg_pool2d
from spore.ops.nn import adaptive_avg_pool3d as adaptive_avg_pool3d
from spore.ops.nn import _mint_adaptive_max_pool1d as adaptive_max_pool1d
from spore.ops.nn import adaptive_max_pool2d as adaptive_max_pool2d
from spore.ops.nn import _mint_batch_norm as batch_norm
from spore.ops.nn import conv_transpose2d as conv_transpose2d
from spore.ops.nn import _mint_dropout as dropout
from spore.ops.nn import _mint_dropout2d as dropout2d
from spore.ops.nn import embedding as embedding
from spore.ops.nn import _mint_gelu as gelu
from spore.ops.nn import _mint_glu as glu
from spore.ops.nn import group_norm as group_norm
from spore.ops.nn import _mint_interpolate as interpolate
from spore.ops.nn import layer_norm as layer_norm
from spore.ops.nn import _mint_log_softmax as log_softmax
from spore.ops.nn import _mint_max_pool2d as max_pool2d
from spore.ops.nn import _mint_max_unpool2d as max_unpool2d
from spore.ops.nn import normalize as normalize
from spore.ops.nn import relu as relu
from spore.ops.nn import _mint_softmax as softmax
from spore.ops.nn import softplus as softplus
from spore.ops.nn import _mint_upsample as upsample

__all__: list[str]

def adaptive_avg_pool1d(input: TensorLike, output_size: int | Sequence[int]) -> Tensor:
    """Mean over as many windows as asked for, of nearly equal size."""
def avg_pool1d(input: TensorLike, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:
    """Mean over sliding windows in the last dimension; padding counts when count_include_pad."""
def avg_pool2d(input: TensorLike, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
    """Mean over sliding windows in the last two dimensions; padding counts when count_include_pad."""
def avg_pool3d(input: TensorLike, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
    """Mean over sliding windows in the last three dimensions; padding counts when count_include_pad."""
def binary_cross_entropy(input: TensorLike, target: TensorLike, weight: TensorLike | None = None, reduction: str = 'mean') -> Tensor:
    """-(y log x + (1 - y) log(1 - x)) of probabilities x, with the logarithms bounded from below."""
def binary_cross_entropy_with_logits(input: TensorLike, target: TensorLike, weight: TensorLike | None = None, reduction: str = 'mean', pos_weight: TensorLike | None = None) -> Tensor:
    """Cross entropy of sigmoid(input) and target, stable for any input."""
def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolution over 1 dimensions."""
def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolution over 2 dimensions."""
def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolution over 3 dimensions."""
def cosine_similarity(x1: TensorLike, x2: TensorLike, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along a dimension."""
def cross_entropy(input: TensorLike, target: TensorLike, weight: TensorLike | None = None, ignore_index: int = -100, reduction: str = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """Minus the log probability, by softmax over the classes, of a target class or a distribution over classes."""
def elu(input, *args, inplace=False, **kwargs):
    """elu, on request in place."""
def elu_(input, *args, **kwargs):
    """elu, in place."""
def flatten(input, start_dim=0, end_dim=-1):
    """Several dimensions as one, by default all."""
def hardshrink(input: TensorLike, lambd: float = 0.5) -> Tensor:
    """x, and zero where |x| is at most lambd."""
def hardsigmoid(input, *args, inplace=False, **kwargs):
    """hardsigmoid, on request in place."""
def hardswish(input, *args, inplace=False, **kwargs):
    """hardswish, on request in place."""
def hardtanh(input, *args, inplace=False, **kwargs):
    """hardtanh, on request in place."""
def hardtanh_(input, *args, **kwargs):
    """hardtanh, in place."""
def kl_div(input: TensorLike, target: TensorLike, reduction: str = 'mean', log_target: bool = False) -> Tensor:
    """labels (log(labels) - logits): Kullback-Leibler divergence, logits being logarithms."""
def l1_loss(input: TensorLike, target: TensorLike, reduction: str = 'mean') -> Tensor:
    """Absolute value of the difference."""
def leaky_relu(input: TensorLike, negative_slope: float = 0.01) -> Tensor:
    """x above zero, alpha times x below."""
def linear(input: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Tensor:
    """x times the transposed weight, plus bias: a fully connected layer over the last dimension."""
def logsigmoid(input: TensorLike) -> Tensor:
    """The logarithm of sigmoid(x), exact for large negative x."""
def mish(input, *args, inplace=False, **kwargs):
    """mish, on request in place."""
def mse_loss(input: TensorLike, target: TensorLike, reduction: str = 'mean') -> Tensor:
    """Square of the difference."""
def one_hot(tensor, num_classes=-1):
    """1 at the position each index names along a new last dimension."""
def pad(input, pad, mode='constant', value=0.0): ...
def pixel_shuffle(input: TensorLike, upscale_factor: int) -> Tensor:
    """Channels of groups of factor * factor become blocks of pixels."""
def prelu(input: TensorLike, weight: TensorLike) -> Tensor:
    """x above zero, weight times x below, with one weight or one per channel."""
def relu6(input, *args, inplace=False, **kwargs):
    """relu6, on request in place."""
def relu_(input, *args, **kwargs):
    """relu, in place."""
def selu(input, *args, inplace=False, **kwargs):
    """selu, on request in place."""
def sigmoid(input: TensorLike) -> Tensor:
    """1 / (1 + exp(-x)) of each element."""
def sigmoid_(input, *args, **kwargs):
    """sigmoid, in place."""
def silu(input, *args, inplace=False, **kwargs):
    """silu, on request in place."""
def softshrink(input: TensorLike, lambd: float = 0.5) -> Tensor:
    """x moved towards zero by lambd, and zero where |x| is at most lambd."""
def tanh(input: TensorLike) -> Tensor:
    """The hyperbolic tangent of each element."""
def threshold(input, *args, inplace=False, **kwargs):
    """threshold, on request in place."""
def threshold_(input, *args, **kwargs):
    """threshold, in place."""
