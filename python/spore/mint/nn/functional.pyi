# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""spore.mint.nn.functional: layers and losses as functions."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive
from spore.ops.nn import adaptive_avg_pool2d as adaptive_avg_pool2d
from spore.ops.nn import adaptive_avg_pool3d as adaptive_avg_pool3d
from spore.ops.nn import _mint_log_softmax as log_softmax
from spore.ops.nn import _mint_softmax as softmax

__all__: list[str]

def adaptive_avg_pool1d(input: TensorLike, output_size: int | Sequence[int]) -> Tensor:
    """Mean over as many windows as asked for, of nearly equal size."""
def adaptive_max_pool1d(input, output_size, return_indices: Any = False): ...
def adaptive_max_pool2d(input, output_size, return_indices: Any = False) -> Tensor:
    """The largest element of each part of the last two axes."""
def avg_pool1d(input: TensorLike, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:
    """Mean over sliding windows in the last dimension; padding counts when count_include_pad."""
def avg_pool2d(input: TensorLike, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
    """Mean over sliding windows in the last two dimensions; padding counts when count_include_pad."""
def avg_pool3d(input: TensorLike, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
    """Mean over sliding windows in the last three dimensions; padding counts when count_include_pad."""
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training: Any = False, momentum: Any = 0.1, eps: Any = 1e-05): ...
def binary_cross_entropy(input: TensorLike, target: TensorLike, weight: TensorLike | None = None, reduction: str = 'mean') -> Tensor:
    """-(y log x + (1 - y) log(1 - x)) of probabilities x, with the logarithms bounded from below."""
def binary_cross_entropy_with_logits(input: TensorLike, target: TensorLike, weight: TensorLike | None = None, reduction: str = 'mean', pos_weight: TensorLike | None = None) -> Tensor:
    """Cross entropy of sigmoid(input) and target, stable for any input."""
def conv1d(input, weight, bias=None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: Any = 1):
    """Convolution over 1 dimensions."""
def conv2d(input, weight, bias=None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: Any = 1):
    """Convolution over 2 dimensions."""
def conv3d(input, weight, bias=None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: Any = 1):
    """Convolution over 3 dimensions."""
def conv_transpose2d(input, weight, bias=None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: Any = 1, dilation: Any = 1) -> Tensor:
    """The adjoint of conv2d: weight is [in channels, out channels / groups, height, width]."""
def cosine_embedding_loss(input1, input2, target, margin: Any = 0.0, reduction: Any = 'mean') -> Tensor:
    """1 - cosine where the target is 1, cosine above the margin where it is -1."""
def cosine_similarity(x1: TensorLike, x2: TensorLike, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along a dimension."""
def cross_entropy(input: TensorLike, target: TensorLike, weight: TensorLike | None = None, ignore_index: int = -100, reduction: str = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """Minus the log probability, by softmax over the classes, of a target class or a distribution over classes."""
def dropout(input, p: Any = 0.5, training: Any = True, inplace: Any = False): ...
def dropout2d(input, p: Any = 0.5, training: Any = True, inplace: Any = False): ...
def elu(input, *args, inplace: Any = False, **kwargs):
    """elu, on request in place."""
def elu_(input, *args, **kwargs):
    """elu, in place."""
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type: Any = 2.0, scale_grad_by_freq: Any = False) -> Tensor:
    """Rows of weight by index. The row padding_idx gets no gradient; with max_norm long rows are shortened in place."""
def flatten(input, start_dim: Any = 0, end_dim: Any = -1):
    """Several dimensions as one, by default all."""
def fold(input, output_size, kernel_size, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Columns of windows added back to an image of output_size."""
def gelu(input, *, approximate: Any = 'none'): ...
def glu(input, dim: Any = -1): ...
def grid_sample(input, grid, mode: Any = 'bilinear', padding_mode: Any = 'zeros', align_corners=None) -> Tensor:
    """Images or volumes read at places between -1 and 1."""
def group_norm(input, num_groups, weight=None, bias=None, eps: Any = 1e-05) -> Tensor:
    """Normalise every group of channels of every sample."""
def hardshrink(input: TensorLike, lambd: float = 0.5) -> Tensor:
    """x, and zero where |x| is at most lambd."""
def hardsigmoid(input, *args, inplace: Any = False, **kwargs):
    """hardsigmoid, on request in place."""
def hardswish(input, *args, inplace: Any = False, **kwargs):
    """hardswish, on request in place."""
def hardtanh(input, *args, inplace: Any = False, **kwargs):
    """hardtanh, on request in place."""
def hardtanh_(input, *args, **kwargs):
    """hardtanh, in place."""
def interpolate(input, size=None, scale_factor=None, mode: Any = 'nearest', align_corners=None, recompute_scale_factor=None): ...
def kl_div(input: TensorLike, target: TensorLike, reduction: str = 'mean', log_target: bool = False) -> Tensor:
    """labels (log(labels) - logits): Kullback-Leibler divergence, logits being logarithms."""
def l1_loss(input: TensorLike, target: TensorLike, reduction: str = 'mean') -> Tensor:
    """Absolute value of the difference."""
def layer_norm(input, normalized_shape, weight=None, bias=None, eps: Any = 1e-05) -> Tensor:
    """Normalise over the last axes, whose shape is normalized_shape."""
def leaky_relu(input: TensorLike, negative_slope: float = 0.01) -> Tensor:
    """x above zero, alpha times x below."""
def linear(input: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Tensor:
    """x times the transposed weight, plus bias: a fully connected layer over the last dimension."""
def logsigmoid(input: TensorLike) -> Tensor:
    """The logarithm of sigmoid(x), exact for large negative x."""
def max_pool2d(input, kernel_size, stride=None, padding: Any = 0, dilation: Any = 1, ceil_mode: Any = False, return_indices: Any = False): ...
def max_unpool2d(input, indices, kernel_size, stride=None, padding: Any = 0, output_size=None):
    """The maxima of windows back at their places, zeros elsewhere."""
def mish(input, *args, inplace: Any = False, **kwargs):
    """mish, on request in place."""
def mse_loss(input: TensorLike, target: TensorLike, reduction: str = 'mean') -> Tensor:
    """Square of the difference."""
def nll_loss(input, target, weight=None, ignore_index: Any = -100, reduction: Any = 'mean'): ...
def normalize(input, p: Any = 2.0, dim: Any = 1, eps: Any = 1e-12) -> Tensor:
    """Divide by the p-norm over dim, which is at least eps."""
def one_hot(tensor, num_classes: Any = -1):
    """1 at the position each index names along a new last dimension."""
def pad(input, pad, mode: Any = 'constant', value: Any = 0.0): ...
def pixel_shuffle(input: TensorLike, upscale_factor: int) -> Tensor:
    """Channels of groups of factor * factor become blocks of pixels."""
def prelu(input: TensorLike, weight: TensorLike) -> Tensor:
    """x above zero, weight times x below, with one weight or one per channel."""
def relu(input, inplace: Any = False) -> Tensor:
    """The larger of zero and each element."""
def relu6(input, *args, inplace: Any = False, **kwargs):
    """relu6, on request in place."""
def relu_(input, *args, **kwargs):
    """relu, in place."""
def selu(input, *args, inplace: Any = False, **kwargs):
    """selu, on request in place."""
def sigmoid(input: TensorLike) -> Tensor:
    """1 / (1 + exp(-x)) of each element."""
def sigmoid_(input, *args, **kwargs):
    """sigmoid, in place."""
def silu(input, *args, inplace: Any = False, **kwargs):
    """silu, on request in place."""
def soft_margin_loss(input, target, reduction: Any = 'mean') -> Tensor:
    """log(1 + exp(-target input))."""
def softplus(input, beta: Any = 1, threshold: Any = 20) -> Tensor:
    """log(1 + exp(beta x)) / beta, linear where beta x is above threshold."""
def softshrink(input: TensorLike, lambd: float = 0.5) -> Tensor:
    """x moved towards zero by lambd, and zero where |x| is at most lambd."""
def tanh(input: TensorLike) -> Tensor:
    """The hyperbolic tangent of each element."""
def threshold(input, *args, inplace: Any = False, **kwargs):
    """threshold, on request in place."""
def threshold_(input, *args, **kwargs):
    """threshold, in place."""
def unfold(input, kernel_size, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Windows of [n, channels, height, width] as columns [n, channels * kernel, positions]."""
def upsample(input, size=None, scale_factor=None, mode: Any = 'nearest', align_corners=None): ...
