# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""spore.ops: operators as functions (ops.relu) and as primitives (ops.ReLU())."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any, overload

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from . import functional as functional
from . import operations as operations
from spore.ops.array import atleast_1d as atleast_1d
from spore.ops.array import atleast_2d as atleast_2d
from spore.ops.array import atleast_3d as atleast_3d
from spore.ops.array import block_diag as block_diag
from spore.ops.array import broadcast_like as broadcast_like
from spore.ops.array import cartesian_prod as cartesian_prod
from spore.ops.array import cast as cast
from spore.ops.array import column_stack as column_stack
from spore.ops.array import deepcopy as deepcopy
from spore.ops.array import diag as diag
from spore.ops.array import dsplit as dsplit
from spore.ops.array import dstack as dstack
from spore.ops.array import dtype as dtype
from spore.ops.array import expand as expand
from spore.ops.array import expand_as as expand_as
from spore.ops.array import expand_dims as expand_dims
from spore.ops.array import flip as flip
from spore.ops.array import fliplr as fliplr
from spore.ops.array import flipud as flipud
from spore.ops.array import hsplit as hsplit
from spore.ops.array import hstack as hstack
from spore.ops.array import is_tensor as is_tensor
from spore.ops.array import moveaxis as moveaxis
from spore.ops.array import movedim as movedim
from spore.ops.array import narrow as narrow
from spore.ops.array import numel as numel
from spore.ops.array import rank as rank
from spore.ops.array import ravel as ravel
from spore.ops.array import repeat_interleave as repeat_interleave
from spore.ops.array import reverse as reverse
from spore.ops.array import rot90 as rot90
from spore.ops.array import shape as shape
from spore.ops.array import size as size
from spore.ops.array import slice as slice
from spore.ops.array import squeeze as squeeze
from spore.ops.array import swapaxes as swapaxes
from spore.ops.array import swapdims as swapdims
from spore.ops.array import t as t
from spore.ops.array import tuple_to_array as tuple_to_array
from spore.ops.array import type_as as type_as
from spore.ops.array import unsqueeze as unsqueeze
from spore.ops.array import view_as as view_as
from spore.ops.array import vsplit as vsplit
from spore.ops.array import vstack as vstack
from spore.ops.bands import matrix_band_part as matrix_band_part
from spore.ops.blocks import batch_to_space_nd as batch_to_space_nd
from spore.ops.blocks import depth_to_space as depth_to_space
from spore.ops.blocks import space_to_batch_nd as space_to_batch_nd
from spore.ops.blocks import space_to_depth as space_to_depth
from spore.ops.collective import ReduceOp as ReduceOp
from spore.ops.collective import AllGather as _AllGather
from spore.ops.collective import AllReduce as _AllReduce
from spore.ops.collective import AlltoAll as _AlltoAll
from spore.ops.collective import Barrier as _Barrier
from spore.ops.collective import Broadcast as _Broadcast
from spore.ops.collective import CollectiveGather as _CollectiveGather
from spore.ops.collective import CollectiveScatter as _CollectiveScatter
from spore.ops.collective import Reduce as _Reduce
from spore.ops.collective import ReduceScatter as _ReduceScatter
from spore.ops.composite import HyperMap as _HyperMap
from spore.ops.composite import Map as _Map
from spore.ops.composite import MultitypeFuncGraph as _MultitypeFuncGraph
from spore.ops.composite import add_flags as add_flags
from spore.ops.composite import core as core
from spore.ops.composite import mixed_precision_cast as mixed_precision_cast
from spore.ops.composite import partial as partial
from spore.ops.creation import eye as eye
from spore.ops.creation import fill as fill
from spore.ops.creation import fills as fills
from spore.ops.creation import full as full
from spore.ops.creation import full_like as full_like
from spore.ops.creation import linspace as linspace
from spore.ops.creation import ones as ones
from spore.ops.creation import ones_like as ones_like
from spore.ops.creation import zeros as zeros
from spore.ops.creation import zeros_like as zeros_like
from spore.ops.custom import Custom as _Custom
from spore.ops.custom import kernel as kernel
from spore.ops.custom import ms_kernel as ms_kernel
from spore.ops.effects import Depend as Depend
from spore.ops.effects import HistogramSummary as HistogramSummary
from spore.ops.effects import ImageSummary as ImageSummary
from spore.ops.effects import Print as Print
from spore.ops.effects import ScalarSummary as ScalarSummary
from spore.ops.effects import TensorSummary as TensorSummary
from spore.ops.effects import depend as depend
from spore.ops.effects import identity as identity
from spore.ops.effects import print_ as print_
from spore.ops.effects import stop_gradient as stop_gradient
from spore.ops.fft import fftn as fftn
from spore.ops.fft import fftshift as fftshift
from spore.ops.fft import hfftn as hfftn
from spore.ops.fft import ifftn as ifftn
from spore.ops.fft import ifftshift as ifftshift
from spore.ops.fft import ihfftn as ihfftn
from spore.ops.fft import irfftn as irfftn
from spore.ops.fft import rfftn as rfftn
from spore.ops.image import AffineGrid as _AffineGrid
from spore.ops.image import Col2Im as _Col2Im
from spore.ops.image import CropAndResize as _CropAndResize
from spore.ops.image import Im2Col as _Im2Col
from spore.ops.linalg import cond as cond
from spore.ops.linalg import eig as eig
from spore.ops.linalg import eigvals as eigvals
from spore.ops.linalg import geqrf as geqrf
from spore.ops.linalg import lstsq as lstsq
from spore.ops.linalg import lu_solve as lu_solve
from spore.ops.linalg import matrix_exp as matrix_exp
from spore.ops.linalg import orgqr as orgqr
from spore.ops.loops import ForiLoop as ForiLoop
from spore.ops.loops import Scan as Scan
from spore.ops.loops import WhileLoop as WhileLoop
from spore.ops.loss import CTCLoss as _CTCLoss
from spore.ops.loss import CTCLossV2 as _CTCLossV2
from spore.ops.loss import MultiMarginLoss as _MultiMarginLoss
from spore.ops.loss import MultilabelMarginLoss as _MultilabelMarginLoss
from spore.ops.loss import NLLLoss as _NLLLoss
from spore.ops.loss import SoftMarginLoss as _SoftMarginLoss
from spore.ops.loss import TripletMarginLoss as _TripletMarginLoss
from spore.ops.math import Cummin as Cummin
from spore.ops.math import Einsum as Einsum
from spore.ops.math import IdentityN as IdentityN
from spore.ops.math import LerpScalar as LerpScalar
from spore.ops.math import MatrixPower as MatrixPower
from spore.ops.math import Mvlgamma as Mvlgamma
from spore.ops.math import Renorm as Renorm
from spore.ops.math import Rint as Rint
from spore.ops.math import SquareSumAll as SquareSumAll
from spore.ops.math import Cross as _Cross
from spore.ops.math import EuclideanNorm as _EuclideanNorm
from spore.ops.math import Logit as _Logit
from spore.ops.math import LpNorm as _LpNorm
from spore.ops.math import MatrixInverse as _MatrixInverse
from spore.ops.math import Median as _Median
from spore.ops.math import ReduceStd as _ReduceStd
from spore.ops.math import adjoint as adjoint
from spore.ops.math import batch_dot as batch_dot
from spore.ops.math import clamp as clamp
from spore.ops.math import clip as clip
from spore.ops.math import cross as cross
from spore.ops.math import cummin as cummin
from spore.ops.math import dot as dot
from spore.ops.math import einsum as einsum
from spore.ops.math import inner as inner
from spore.ops.math import is_complex as is_complex
from spore.ops.math import is_floating_point as is_floating_point
from spore.ops.math import is_nonzero as is_nonzero
from spore.ops.math import isreal as isreal
from spore.ops.math import kron as kron
from spore.ops.math import logdet as logdet
from spore.ops.math import logit as logit
from spore.ops.math import matrix_power as matrix_power
from spore.ops.math import mv as mv
from spore.ops.math import mvlgamma as mvlgamma
from spore.ops.math import positive as positive
from spore.ops.math import pows as pows
from spore.ops.math import renorm as renorm
from spore.ops.math import sgn as sgn
from spore.ops.math import tensor_dot as tensor_dot
from spore.ops.math import tensor_muls as tensor_muls
from spore.ops.math import vander as vander
from spore.ops.methods import col2im as col2im
from spore.ops.methods import i0 as i0
from spore.ops.methods import row_stack as row_stack
from spore.ops.methods import tensor_slice as tensor_slice
from spore.ops.nn import AdaptiveAvgPool2D as AdaptiveAvgPool2D
from spore.ops.nn import AdaptiveAvgPool3D as AdaptiveAvgPool3D
from spore.ops.nn import UpsampleNearest3D as UpsampleNearest3D
from spore.ops.nn import AvgPool as _AvgPool
from spore.ops.nn import BatchNorm as _BatchNorm
from spore.ops.nn import BiasAdd as _BiasAdd
from spore.ops.nn import Conv2D as _Conv2D
from spore.ops.nn import Conv2DBackpropInput as _Conv2DBackpropInput
from spore.ops.nn import Conv2DTranspose as _Conv2DTranspose
from spore.ops.nn import Conv3D as _Conv3D
from spore.ops.nn import Dropout as _Dropout
from spore.ops.nn import Dropout2D as _Dropout2D
from spore.ops.nn import Dropout3D as _Dropout3D
from spore.ops.nn import MaxPool as _MaxPool
from spore.ops.nn import ResizeBicubic as _ResizeBicubic
from spore.ops.nn import ResizeBilinear as _ResizeBilinear
from spore.ops.nn import ResizeBilinearV2 as _ResizeBilinearV2
from spore.ops.nn import ResizeNearestNeighbor as _ResizeNearestNeighbor
from spore.ops.nn import ResizeNearestNeighborV2 as _ResizeNearestNeighborV2
from spore.ops.nn import Softmax as _Softmax
from spore.ops.nn import UpsampleTrilinear3D as _UpsampleTrilinear3D
from spore.ops.nn import adaptive_avg_pool2d as adaptive_avg_pool2d
from spore.ops.nn import adaptive_avg_pool3d as adaptive_avg_pool3d
from spore.ops.nn import adaptive_max_pool1d as adaptive_max_pool1d
from spore.ops.nn import bias_add as bias_add
from spore.ops.nn import channel_shuffle as channel_shuffle
from spore.ops.nn import clip_by_value as clip_by_value
from spore.ops.primitive import Primitive as Primitive
from spore.ops.primitive import PrimitiveWithCheck as PrimitiveWithCheck
from spore.ops.primitive import PrimitiveWithInfer as PrimitiveWithInfer
from spore.ops.primitive import prim_arg_register as prim_arg_register
from spore.ops.primitive import prim_attr_register as prim_attr_register
from spore.ops.random import gamma as gamma
from spore.ops.random import laplace as laplace
from spore.ops.random import normal as normal
from spore.ops.random import poisson as poisson
from spore.ops.random import rand as rand
from spore.ops.random import rand_like as rand_like
from spore.ops.random import randint as randint
from spore.ops.random import randint_like as randint_like
from spore.ops.random import randn as randn
from spore.ops.random import randn_like as randn_like
from spore.ops.random import random_gamma as random_gamma
from spore.ops.random import shuffle as shuffle
from spore.ops.random import standard_laplace as standard_laplace
from spore.ops.random import standard_normal as standard_normal
from spore.ops.rnn import DynamicGRUV2 as _DynamicGRUV2
from spore.ops.rnn import DynamicRNN as _DynamicRNN
from spore.ops.rnn import LSTM as _LSTM
from spore.ops.scattering import argwhere as argwhere
from spore.ops.scattering import index_fill as index_fill
from spore.ops.scattering import index_select as index_select
from spore.ops.scattering import intopk as intopk
from spore.ops.scattering import masked_fill as masked_fill
from spore.ops.scattering import masked_scatter as masked_scatter
from spore.ops.scattering import scatter as scatter
from spore.ops.scattering import scatter_add as scatter_add
from spore.ops.scattering import scatter_div as scatter_div
from spore.ops.scattering import scatter_max as scatter_max
from spore.ops.scattering import scatter_min as scatter_min
from spore.ops.scattering import scatter_mul as scatter_mul
from spore.ops.scattering import scatter_nd as scatter_nd
from spore.ops.scattering import scatter_sub as scatter_sub
from spore.ops.scattering import scatter_update as scatter_update
from spore.ops.scattering import select as select
from spore.ops.scattering import select_scatter as select_scatter
from spore.ops.scattering import sequence_mask as sequence_mask
from spore.ops.scattering import take as take
from spore.ops.scattering import tensor_scatter_add as tensor_scatter_add
from spore.ops.scattering import tensor_scatter_div as tensor_scatter_div
from spore.ops.scattering import tensor_scatter_max as tensor_scatter_max
from spore.ops.scattering import tensor_scatter_min as tensor_scatter_min
from spore.ops.scattering import tensor_scatter_mul as tensor_scatter_mul
from spore.ops.scattering import tensor_scatter_sub as tensor_scatter_sub
from spore.ops.scattering import tensor_scatter_update as tensor_scatter_update
from spore.ops.scattering import unique as unique
from spore.ops.scattering import unique_with_pad as unique_with_pad
from spore.ops.scattering import unsorted_segment_max as unsorted_segment_max
from spore.ops.scattering import unsorted_segment_min as unsorted_segment_min
from spore.ops.scattering import unsorted_segment_prod as unsorted_segment_prod
from spore.ops.scattering import unsorted_segment_sum as unsorted_segment_sum
from spore.ops.scattering import where as where
from spore.ops.segments import bidense as bidense
from spore.ops.segments import eps as eps
from spore.ops.segments import inplace_add as inplace_add
from spore.ops.segments import inplace_index_add as inplace_index_add
from spore.ops.segments import inplace_sub as inplace_sub
from spore.ops.segments import inplace_update as inplace_update
from spore.ops.segments import mirror_pad as mirror_pad
from spore.ops.segments import msort as msort
from spore.ops.segments import population_count as population_count
from spore.ops.segments import sparse_segment_mean as sparse_segment_mean
from spore.ops.signal import view_as_real as view_as_real
from spore.ops.sparse import coo2csr as coo2csr
from spore.ops.sparse import coo_add as coo_add
from spore.ops.sparse import coo_tensor_get_dense_shape as coo_tensor_get_dense_shape
from spore.ops.sparse import coo_tensor_get_indices as coo_tensor_get_indices
from spore.ops.sparse import coo_tensor_get_values as coo_tensor_get_values
from spore.ops.sparse import csr2coo as csr2coo
from spore.ops.sparse import csr_add as csr_add
from spore.ops.sparse import csr_div as csr_div
from spore.ops.sparse import csr_gather as csr_gather
from spore.ops.sparse import csr_mul as csr_mul
from spore.ops.sparse import csr_mv as csr_mv
from spore.ops.sparse import csr_reduce_sum as csr_reduce_sum
from spore.ops.sparse import csr_softmax as csr_softmax
from spore.ops.sparse import csr_tensor_get_dense_shape as csr_tensor_get_dense_shape
from spore.ops.sparse import csr_tensor_get_indices as csr_tensor_get_indices
from spore.ops.sparse import csr_tensor_get_indptr as csr_tensor_get_indptr
from spore.ops.sparse import csr_tensor_get_values as csr_tensor_get_values
from spore.ops.sparse import csr_to_coo as csr_to_coo
from spore.ops.sparse import csr_to_dense as csr_to_dense
from spore.ops.sparse import dense_to_sparse_coo as dense_to_sparse_coo
from spore.ops.sparse import dense_to_sparse_csr as dense_to_sparse_csr
from spore.ops.sparse import make_coo_tensor as make_coo_tensor
from spore.ops.sparse import make_csr_tensor as make_csr_tensor
from spore.ops.sparse import make_row_tensor as make_row_tensor
from spore.ops.sparse import make_row_tensor_inner as make_row_tensor_inner
from spore.ops.sparse import make_sparse_tensor as make_sparse_tensor
from spore.ops.sparse import row_tensor_get_dense_shape as row_tensor_get_dense_shape
from spore.ops.sparse import row_tensor_get_indices as row_tensor_get_indices
from spore.ops.sparse import row_tensor_get_values as row_tensor_get_values

__all__: list[str]

class ACos(Primitive):
    """The inverse cosine of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Abs(Primitive):
    """The absolute value of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class AccumulateNV2(Primitive):
    """The sum of tensors of one shape."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike | Sequence[TensorLike]) -> Tensor: ...
class Acosh(Primitive):
    """The inverse hyperbolic cosine of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Adam(Primitive):
    """Adam: first and second moments, corrected for their start."""
    def __init__(self, use_locking: Any = False, use_nesterov: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class AdamWeightDecay(Primitive):
    """Adam without correction, with decoupled weight decay."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class AdaptiveMaxPool2D(Primitive):
    """Maximum over windows in the last two dimensions, and its place in the flattened spatial dimensions."""
    def __init__(self, output_size: int | Sequence[int]) -> None: ...
    def __call__(self, x: TensorLike) -> tuple[Tensor, ...]: ...
class AdaptiveMaxPool3D(Primitive):
    """See ops.adaptive_max_pool3d."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Add(Primitive):
    """Sum of two tensors, element by element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class AddN(Primitive):
    """The sum of tensors of one shape."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike | Sequence[TensorLike]) -> Tensor: ...
class Addcdiv(Primitive):
    """x plus value times a over b."""
    def __init__(self) -> None: ...
    def __call__(self, input_data: TensorLike, x1: TensorLike, x2: TensorLike, value: TensorLike) -> Tensor: ...
class Addcmul(Primitive):
    """x plus value times a times b."""
    def __init__(self) -> None: ...
    def __call__(self, input_data: TensorLike, x1: TensorLike, x2: TensorLike, value: TensorLike) -> Tensor: ...
class AdjustHue(Primitive):
    """Colours with their hue turned."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class AdjustSaturation(Primitive):
    """Colours with their saturation scaled."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class AffineGrid(_AffineGrid):
    """affine_grid with align_corners given once."""
    def __init__(self, align_corners: Any = False) -> None: ...
class AllGather(_AllGather):
    """All processes' Tensors joined along the first dimension."""
    def __init__(self, group: Any = 'hccl_world_group') -> None: ...
class AllReduce(_AllReduce):
    """The sum, largest, ... of all processes' Tensors."""
    def __init__(self, op: Any = 'sum', group: Any = 'hccl_world_group') -> None: ...
class AlltoAll(_AlltoAll):
    """Parts along one dimension sent to every process, and those that come joined along another."""
    def __init__(self, split_count, split_dim, concat_dim, group: Any = 'hccl_world_group') -> None: ...
class Angle(Primitive):
    """The angle of numbers in the complex plane."""
    def __init__(self) -> None: ...
    def __call__(self, input: TensorLike) -> Tensor: ...
class ApplyAdaMax(Primitive):
    """Adam with the largest gradient seen in place of the second moment."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyAdadelta(Primitive):
    """Steps as large as earlier steps were."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyAdagrad(Primitive):
    """accum += grad^2; var -= lr grad / sqrt(accum)."""
    def __init__(self, update_slots: Any = True) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyAdagradDA(Primitive):
    """Dual averaging with squared gradients."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyAdagradV2(Primitive):
    """accum += grad^2; var -= lr grad / (sqrt(accum) + epsilon)."""
    def __init__(self, epsilon, update_slots: Any = True) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyAdamWithAmsgrad(Primitive):
    """Adam that divides by the largest second moment seen."""
    def __init__(self, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-08, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyAdamWithAmsgradV2(Primitive):
    """Adam that divides by the largest second moment seen."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyAddSign(Primitive):
    """Larger steps where the gradient agrees with its average: a sum."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyCenteredRMSProp(Primitive):
    """Gradient divided by its averaged standard deviation, with momentum."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyFtrl(Primitive):
    """Follow the regularised leader."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyGradientDescent(Primitive):
    """var -= alpha * delta."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyKerasMomentum(Primitive):
    """Momentum that averages steps instead of gradients."""
    def __init__(self, use_locking: Any = False, use_nesterov: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyMomentum(Primitive):
    """accumulation = accumulation * momentum + gradient; variable -= learning_rate * accumulation."""
    def __init__(self, use_nesterov: Any = False, use_locking: Any = False, gradient_scale: Any = 1.0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyPowerSign(Primitive):
    """Larger steps where the gradient agrees with its average: a power."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyProximalAdagrad(Primitive):
    """Adagrad, then shrinking by l1 and l2."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyProximalGradientDescent(Primitive):
    """Gradient descent, then shrinking by l1 and l2."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApplyRMSProp(Primitive):
    """Gradient divided by the root of its averaged square, with momentum."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ApproximateEqual(Primitive):
    """Whether |x - y| < tolerance, element by element."""
    def __init__(self, tolerance: float = 1e-05) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class ArgMaxWithValue(Primitive):
    """Where the maximum along an axis is, and the maximum."""
    def __init__(self, axis: int = 0, keep_dims: bool = False) -> None: ...
    def __call__(self, input: TensorLike) -> tuple[Tensor, ...]: ...
class ArgMinWithValue(Primitive):
    """Where the minimum along an axis is, and the minimum."""
    def __init__(self, axis: int = 0, keep_dims: bool = False) -> None: ...
    def __call__(self, input: TensorLike) -> tuple[Tensor, ...]: ...
class Argmax(Primitive):
    """Where the maximum is: along an axis, or of all elements in row-major order."""
    def __init__(self, axis: int = -1, output_type: _DType = ...) -> None: ...
    def __call__(self, input: TensorLike) -> Tensor: ...
class Argmin(Primitive):
    """Where the minimum is: along an axis, or of all elements in row-major order."""
    def __init__(self, axis: int = -1, output_type: _DType = ...) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Asin(Primitive):
    """The inverse sine of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Asinh(Primitive):
    """The inverse hyperbolic sine of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Assert(Primitive):
    """Stop with an error that shows the data, unless the condition holds."""
    def __init__(self, summarize: Any = 3) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Assign(Primitive):
    """Write the value, converted, over the variable."""
    def __init__(self) -> None: ...
    def __call__(self, variable: TensorLike, value: TensorLike) -> Tensor: ...
class AssignAdd(Primitive):
    """Add the value to the variable in place."""
    def __init__(self) -> None: ...
    def __call__(self, variable: TensorLike, value: TensorLike) -> Tensor: ...
class AssignSub(Primitive):
    """Subtract the value from the variable in place."""
    def __init__(self) -> None: ...
    def __call__(self, variable: TensorLike, value: TensorLike) -> Tensor: ...
class Atan(Primitive):
    """The inverse tangent of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Atan2(Primitive):
    """The angle of the point (y, x), in (-pi, pi]."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class Atanh(Primitive):
    """The inverse hyperbolic tangent of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class AvgPool(_AvgPool):
    """The mean of each window of [N, C, H, W] (or [N, H, W, C])."""
    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: Any = 'VALID', data_format: Any = 'NCHW') -> None: ...
class AvgPool3D(Primitive):
    """Mean over sliding windows in the last three dimensions; padding counts when count_include_pad."""
    def __init__(self, kernel_size: int | Sequence[int] = 1, strides: int | Sequence[int] = 1, pad_mode: str = 'valid', pad: int | Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int = 0, data_format: str = 'NCDHW') -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class BCEWithLogitsLoss(Primitive):
    """Cross entropy of sigmoid(input) and target, stable for any input."""
    def __init__(self, reduction: str = 'mean') -> None: ...
    def __call__(self, input: TensorLike, target: TensorLike, weight: TensorLike | None = None, pos_weight: TensorLike | None = None) -> Tensor: ...
class Barrier(_Barrier):
    """Wait for all processes."""
    def __init__(self, group: Any = 'hccl_world_group') -> None: ...
class BartlettWindow(Primitive):
    """A triangle from zero to one and back."""
    def __init__(self, periodic: Any = True, dtype: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class BatchMatMul(Primitive):
    """Matrix product: vectors, matrices, or batches of matrices whose leading dimensions broadcast."""
    def __init__(self, transpose_a: bool = False, transpose_b: bool = False) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class BatchNorm(_BatchNorm):
    """Normalise channels. Gives y, and the statistics used, twice: as results and for the gradient."""
    def __init__(self, is_training: Any = False, epsilon: Any = 1e-05, momentum: Any = 0.1, data_format: Any = 'NCHW') -> None: ...
class BatchToSpace(Primitive):
    """Batches become blocks of pixels."""
    def __init__(self, block_size, crops) -> None: ...
    def __call__(self, *args, **kwargs): ...
class BatchToSpaceND(Primitive):
    """Batches become blocks of pixels."""
    def __init__(self, block_shape, crops) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Bernoulli(Primitive):
    """1 with probability p, else 0."""
    def __init__(self, seed: Any = -1, offset: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class BesselI0(Primitive):
    """The Bessel function I0 of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class BesselI0e(Primitive):
    """The Bessel function I0e of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class BesselI1(Primitive):
    """The Bessel function I1 of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class BesselI1e(Primitive):
    """The Bessel function I1e of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class BesselJ0(Primitive):
    """The Bessel function J0 of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class BesselJ1(Primitive):
    """The Bessel function J1 of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class BesselK0(Primitive):
    """The Bessel function K0 of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class BesselK0e(Primitive):
    """The Bessel function K0e of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class BesselK1(Primitive):
    """The Bessel function K1 of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class BesselK1e(Primitive):
    """The Bessel function K1e of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class BesselY0(Primitive):
    """The Bessel function Y0 of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class BesselY1(Primitive):
    """The Bessel function Y1 of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class BiasAdd(_BiasAdd):
    """Add one number per channel."""
    def __init__(self, data_format: Any = 'NCHW') -> None: ...
class BinaryCrossEntropy(Primitive):
    """-(y log x + (1 - y) log(1 - x)) of probabilities x, with the logarithms bounded from below."""
    def __init__(self, reduction: str = 'mean') -> None: ...
    def __call__(self, logits: TensorLike, labels: TensorLike, weight: TensorLike | None = None) -> Tensor: ...
class Bincount(Primitive):
    """How often, or with which weight, each number from 0 to size - 1 occurs."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class BitwiseAnd(Primitive):
    """The bits set in both operands."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class BitwiseOr(Primitive):
    """The bits set in one of the operands."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class BitwiseXor(Primitive):
    """The bits that differ."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class BlackmanWindow(Primitive):
    """A bell of two cosines."""
    def __init__(self, periodic: Any = True, dtype: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class BoundingBoxDecode(Primitive):
    """Anchors shifted and grown by deltas, kept inside an image of max_shape (height, width)."""
    def __init__(self, max_shape: int | Sequence[int], means: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0), stds: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0), wh_ratio_clip: float = 0.016) -> None: ...
    def __call__(self, anchor_box: TensorLike, deltas: TensorLike) -> Tensor: ...
class BoundingBoxEncode(Primitive):
    """Shifts and growths that turn anchors into boxes, normalised by means and stds."""
    def __init__(self, means: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0), stds: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0)) -> None: ...
    def __call__(self, anchor_box: TensorLike, groundtruth_box: TensorLike) -> Tensor: ...
class Broadcast(_Broadcast):
    """The Tensors of one process, for all."""
    def __init__(self, root_rank, group: Any = 'hccl_world_group') -> None: ...
class BroadcastTo(Primitive):
    """The tensor repeated along dimensions of size 1 (and new ones in front) to the given shape; -1 keeps one."""
    def __init__(self, shape: int | Sequence[int]) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Bucketize(Primitive):
    """The number of the interval between boundaries that each element falls into."""
    def __init__(self, boundaries) -> None: ...
    def __call__(self, *args, **kwargs): ...
class CTCGreedyDecoder(Primitive):
    """The likeliest class at each step, repetitions merged and blanks (the last class) left out: indices, values and shape of a sparse Tensor, and minus the sum of the log probabilities."""
    def __init__(self, merge_repeated: Any = True) -> None: ...
    def __call__(self, *args, **kwargs): ...
class CTCLoss(_CTCLoss):
    """Losses per sample of unnormalised scores with sparse labels; the last class is the blank. Gives losses and gradient."""
    def __init__(self, preprocess_collapse_repeated: Any = False, ctc_merge_repeated: Any = True, ignore_longer_outputs_than_inputs: Any = False) -> None: ...
class CTCLossV2(_CTCLossV2):
    """Losses per sample, and the log probabilities [batch, time, states] of beginnings."""
    def __init__(self, blank: Any = 0, reduction: Any = 'none', zero_infinity: Any = False) -> None: ...
class Cast(Primitive):
    """The numbers as another dtype."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Cauchy(Primitive):
    """Random numbers of Cauchy's distribution."""
    def __init__(self, size, median: Any = 0.0, sigma: Any = 1.0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Cdist(Primitive):
    """The distance of every row of x to every row of y."""
    def __init__(self, p: float = 2.0) -> None: ...
    def __call__(self, input_x: TensorLike, input_y: TensorLike) -> Tensor: ...
class CeLU(Primitive):
    """x above zero, alpha (exp(x / alpha) - 1) below."""
    def __init__(self, alpha: float = 1.0) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Ceil(Primitive):
    """The smallest integer not below each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class ChannelShuffle(Primitive):
    """See ops.channel_shuffle."""
    def __init__(self, group) -> None: ...
    def __call__(self, *args, **kwargs): ...
class CheckNumerics(Primitive):
    """The input, whose elements must all be finite."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class CheckValid(Primitive):
    """Whether boxes lie inside an image of height * ratio and width * ratio."""
    def __init__(self) -> None: ...
    def __call__(self, bboxes: TensorLike, img_metas: TensorLike) -> Tensor: ...
class Cholesky(Primitive):
    """See ops.cholesky."""
    def __init__(self, upper: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class CholeskyInverse(Primitive):
    """See ops.cholesky_inverse."""
    def __init__(self, upper: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class CholeskySolve(Primitive):
    """See ops.cholesky_solve."""
    def __init__(self, upper: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Col2Im(_Col2Im):
    """Columns [n, channels, kernel, positions] added back to an image."""
    def __init__(self, kernel_size, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None: ...
class CollectiveGather(_CollectiveGather):
    """All Tensors joined, at one process."""
    def __init__(self, dest_rank, group: Any = 'hccl_world_group') -> None: ...
class CollectiveScatter(_CollectiveScatter):
    """This process's part of a Tensor of one process."""
    def __init__(self, src_rank: Any = 0, group: Any = 'hccl_world_group') -> None: ...
class Complex(Primitive):
    """Complex numbers from their real and imaginary parts."""
    def __init__(self) -> None: ...
    def __call__(self, real: TensorLike, imag: TensorLike) -> Tensor: ...
class ComplexAbs(Primitive):
    """The distance of complex numbers from zero."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Concat(Primitive):
    """Tensors joined along a dimension they have."""
    def __init__(self, axis: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ConfusionMatrix(Primitive):
    """How often each label (row) was predicted as each class (column)."""
    def __init__(self, num_classes, dtype: Any = 'int32') -> None: ...
    def __call__(self, *args, **kwargs): ...
class Conj(Primitive):
    """The complex conjugate of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class ConjugateTranspose(Primitive):
    """Dimensions in another order, of the conjugate numbers."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Conv2D(_Conv2D):
    """Convolution of [N, C, H, W] (or [N, H, W, C]) with weight [out, in / group, height, width]."""
    def __init__(self, out_channel, kernel_size, mode: Any = 1, pad_mode: Any = 'valid', pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: Any = 1, data_format: Any = 'NCHW') -> None: ...
class Conv2DBackpropInput(_Conv2DBackpropInput):
    """Another name of Conv2DTranspose."""
    def __init__(self, out_channel, kernel_size, pad_mode: Any = 'valid', pad: Any = 0, pad_list=None, mode: Any = 1, stride: Any = 1, dilation: Any = 1, group: Any = 1, data_format: Any = 'NCHW') -> None: ...
class Conv2DTranspose(_Conv2DTranspose):
    """The adjoint of Conv2D: dout, the weight, and the size of the result."""
    def __init__(self, out_channel, kernel_size, pad_mode: Any = 'valid', pad: Any = 0, pad_list=None, mode: Any = 1, stride: Any = 1, dilation: Any = 1, group: Any = 1, data_format: Any = 'NCHW') -> None: ...
class Conv3D(_Conv3D):
    """Convolution of [N, C, D, H, W]."""
    def __init__(self, out_channel, kernel_size, mode: Any = 1, pad_mode: Any = 'valid', pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: Any = 1, data_format: Any = 'NCDHW') -> None: ...
class Cos(Primitive):
    """The cosine of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Cosh(Primitive):
    """The hyperbolic cosine of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class CountNonZero(Primitive):
    """How many elements are not zero."""
    def __init__(self, dims=None) -> None: ...
    def __call__(self, *args, **kwargs): ...
class CropAndResize(_CropAndResize):
    """crop_and_resize with its method given once."""
    def __init__(self, method: Any = 'bilinear', extrapolation_value: Any = 0.0) -> None: ...
class Cross(_Cross):
    """The cross product along a dimension."""
    def __init__(self, dim: Any = -65530) -> None: ...
class CumProd(Primitive):
    """Running product along one axis."""
    def __init__(self, exclusive: bool = False, reverse: bool = False) -> None: ...
    def __call__(self, x: TensorLike, axis: int) -> Tensor: ...
class CumSum(Primitive):
    """Running sum along one axis."""
    def __init__(self, exclusive: bool = False, reverse: bool = False) -> None: ...
    def __call__(self, input: TensorLike, axis: int) -> Tensor: ...
class Cummax(Primitive):
    """Running maximum along an axis and where it is."""
    def __init__(self, axis: int) -> None: ...
    def __call__(self, input: TensorLike) -> tuple[Tensor, ...]: ...
class CumulativeLogsumexp(Primitive):
    """The logarithm of the running sum of exponentials."""
    def __init__(self, exclusive: bool = False, reverse: bool = False) -> None: ...
    def __call__(self, x: TensorLike, axis: int) -> Tensor: ...
class Custom(_Custom):
    """Run a function of the user as an operator."""
    def __init__(self, func, out_shape=None, out_dtype=None, func_type: Any = 'hybrid', bprop=None, reg_info=None) -> None: ...
class DType(Primitive):
    """The dtype."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class DataFormatDimMap(Primitive):
    """Numbers of dimensions in one layout as those in another."""
    def __init__(self, src_format: Any = 'NHWC', dst_format: Any = 'NCHW') -> None: ...
    def __call__(self, *args, **kwargs): ...
class DataFormatVecPermute(Primitive):
    """Values of dimensions from one layout in the order of another."""
    def __init__(self, src_format: Any = 'NHWC', dst_format: Any = 'NCHW') -> None: ...
    def __call__(self, *args, **kwargs): ...
class Dense(Primitive):
    """x times the transposed weight, plus bias: a fully connected layer over the last dimension."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, w: TensorLike, b: TensorLike | None = None) -> Tensor: ...
class DepthToSpace(Primitive):
    """Channels become blocks of pixels."""
    def __init__(self, block_size) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Diag(Primitive):
    """A Tensor with the elements on the diagonal of twice as many dimensions."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class DiagPart(Primitive):
    """The elements whose first and second half of coordinates agree."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Digamma(Primitive):
    """The derivative of the logarithm of the gamma function."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Div(Primitive):
    """Quotient of two tensors, element by element; integers are divided as float32."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class DivNoNan(Primitive):
    """The quotient, and zero where the divisor is zero."""
    def __init__(self) -> None: ...
    def __call__(self, x1: TensorLike, x2: TensorLike) -> Tensor: ...
class Dropout(_Dropout):
    """Drop elements, keeping each with keep_prob. Gives the result and the mask of what was kept."""
    def __init__(self, keep_prob: Any = 0.5, Seed0: Any = 0, Seed1: Any = 0) -> None: ...
class Dropout2D(_Dropout2D):
    """Drop whole channels of [N, C, H, W]; gives the result and the mask."""
    def __init__(self, keep_prob: Any = 0.5) -> None: ...
class Dropout3D(_Dropout3D):
    """Drop whole channels of [N, C, D, H, W]; gives the result and the mask."""
    def __init__(self, keep_prob: Any = 0.5) -> None: ...
class DynamicGRUV2(_DynamicGRUV2):
    """GRU over [time, batch, features]: weights [features, 3 hidden] and [hidden, 3 hidden], gates in the order of gate_order."""
    def __init__(self, direction: Any = 'UNIDIRECTIONAL', cell_depth: Any = 1, keep_prob: Any = 1.0, cell_clip: Any = -1.0, num_proj: Any = 0, time_major: Any = True, activation: Any = 'tanh', gate_order: Any = 'rzh', reset_after: Any = True, is_training: Any = True) -> None: ...
class DynamicRNN(_DynamicRNN):
    """LSTM over [time, batch, features] with one weight [features + hidden, 4 hidden], gates in the order i, j, f, o."""
    def __init__(self, cell_type: Any = 'LSTM', direction: Any = 'UNIDIRECTIONAL', cell_depth: Any = 1, use_peephole: Any = False, keep_prob: Any = 1.0, cell_clip: Any = -1.0, num_proj: Any = 0, time_major: Any = True, activation: Any = 'tanh', forget_bias: Any = 0.0, is_training: Any = True) -> None: ...
class DynamicShape(Primitive):
    """The shape as a Tensor."""
    def __init__(self, dtype: Any = 9) -> None: ...
    def __call__(self, *args, **kwargs): ...
class EditDistance(Primitive):
    """How many words must be put in, left out or replaced to make each hypothesis the truth; normalize: divided by its length."""
    def __init__(self, normalize: Any = True) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Eig(Primitive):
    """Eigenvalues and, if compute_v, eigenvectors; without them they are empty."""
    def __init__(self, compute_v: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Elu(Primitive):
    """x above zero, alpha (exp(x) - 1) below."""
    def __init__(self, alpha: float = 1.0) -> None: ...
    def __call__(self, input_x: TensorLike) -> Tensor: ...
class EmbeddingLookup(Primitive):
    """Rows by index minus offset; rows outside of the table are zero."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Eps(Primitive):
    """The step from one to the next number of the dtype, everywhere."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Equal(Primitive):
    """Whether elements are equal."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class EqualCount(Primitive):
    """How many elements of two tensors are equal, as one element of their dtype."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class Erf(Primitive):
    """The error function of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Erfc(Primitive):
    """One minus the error function of each element, exact where that is small."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Erfinv(Primitive):
    """The inverse of the error function, for elements in (-1, 1)."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class EuclideanNorm(_EuclideanNorm):
    """The Euclidean norm over axes."""
    def __init__(self, keep_dims: Any = False) -> None: ...
class Exp(Primitive):
    """e to the power of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Expand(Primitive):
    """See ops.expand."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ExpandDims(Primitive):
    """A dimension of size 1 more."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Expm1(Primitive):
    """e to the power of x minus 1, exact near zero."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Eye(Primitive):
    """Ones on the diagonal, zeros elsewhere."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class FFTWithSize(Primitive):
    """Fourier transforms of the last signal_ndim dimensions: complex, of real signals, or back to them."""
    def __init__(self, signal_ndim, inverse, real, norm: Any = 'backward', onesided: Any = True, signal_sizes: Any = ()) -> None: ...
    def __call__(self, *args, **kwargs): ...
class FastGeLU(Primitive):
    """x sigmoid(1.702 x), an approximation of gelu."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Fill(Primitive):
    """One number everywhere."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class FillDiagonal(Primitive):
    """A copy with one value on the diagonal."""
    def __init__(self, fill_value, wrap: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class FillV2(Primitive):
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Fills(Primitive):
    """One number in the shape and dtype of another Tensor."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Flatten(Primitive):
    """All dimensions but the first as one."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class FloatStatus(Primitive):
    """[1.] if an element is infinite or NaN, else [0.]."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Floor(Primitive):
    """The largest integer not above each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class FloorDiv(Primitive):
    """The quotient rounded down; of complex numbers, its real part rounded down."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class FloorMod(Primitive):
    """The remainder of a division rounded down; it has the sign of the divisor."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class Fmax(Primitive):
    """The larger of two tensors; a number where one of them is NaN."""
    def __init__(self) -> None: ...
    def __call__(self, x1: TensorLike, x2: TensorLike) -> Tensor: ...
class Fmin(Primitive):
    """The smaller of two tensors; a number where one of them is NaN."""
    def __init__(self) -> None: ...
    def __call__(self, x1: TensorLike, x2: TensorLike) -> Tensor: ...
class FusedCastAdamWeightDecay(Primitive):
    """AdamWeightDecay of a gradient of another dtype, divided by a norm."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class FusedWeightScaleApplyMomentum(Primitive):
    """Momentum whose gradient is unscaled and decayed in the same pass."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class GLU(Primitive):
    """See ops.glu."""
    def __init__(self, axis: Any = -1) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Gamma(Primitive):
    """Gamma distributed numbers."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Gather(Primitive):
    """Slices along a dimension, one for each index."""
    def __init__(self, batch_dims: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class GatherD(Primitive):
    """For each element of index the element of x at the same position but for one axis, where index tells it."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, dim: int, index: TensorLike) -> Tensor: ...
class GatherNd(Primitive):
    """Elements or slices by coordinates: the last dimension of the indices holds one coordinate tuple."""
    def __init__(self) -> None: ...
    def __call__(self, input_x: TensorLike, indices: TensorLike) -> Tensor: ...
class GatherV2(Primitive):
    """Slices along a dimension, one for each index."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Gcd(Primitive):
    """The greatest common divisor, never negative."""
    def __init__(self) -> None: ...
    def __call__(self, x1: TensorLike, x2: TensorLike) -> Tensor: ...
class GeLU(Primitive):
    """The approximation of gelu by a hyperbolic tangent."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Geqrf(Primitive):
    """QR as LAPACK keeps it: R above the diagonal, the reflections below it, and their factors tau."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Ger(Primitive):
    """The outer product of two vectors; an input of more dimensions counts as one row of its elements."""
    def __init__(self) -> None: ...
    def __call__(self, x1: TensorLike, x2: TensorLike) -> Tensor: ...
class Greater(Primitive):
    """Whether elements of the first are larger."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class GreaterEqual(Primitive):
    """Whether elements of the first are larger or equal."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class GridSampler2D(Primitive):
    """Images or volumes read at places between -1 and 1 (last axis of the grid: x, y and z)."""
    def __init__(self, interpolation_mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool = False) -> None: ...
    def __call__(self, input_x: TensorLike, grid: TensorLike) -> Tensor: ...
class GridSampler3D(Primitive):
    """Images or volumes read at places between -1 and 1 (last axis of the grid: x, y and z)."""
    def __init__(self, interpolation_mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool = False) -> None: ...
    def __call__(self, input_x: TensorLike, grid: TensorLike) -> Tensor: ...
class HSVToRGB(Primitive):
    """Red, green and blue of hue, saturation and value in the last dimension."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class HShrink(Primitive):
    """x, and zero where |x| is at most lambd."""
    def __init__(self, lambd: float = 0.5) -> None: ...
    def __call__(self, input_x: TensorLike) -> Tensor: ...
class HSigmoid(Primitive):
    """x / 6 + 1 / 2 kept between 0 and 1."""
    def __init__(self) -> None: ...
    def __call__(self, input: TensorLike) -> Tensor: ...
class HSwish(Primitive):
    """x times hardsigmoid(x)."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class HammingWindow(Primitive):
    """A bell of one cosine on a pedestal: alpha minus beta times the cosine."""
    def __init__(self, periodic: Any = True, alpha: Any = 0.54, beta: Any = 0.46, dtype: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Heaviside(Primitive):
    """0 for negative elements, 1 for positive ones, the second operand at zero."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, values: TensorLike) -> Tensor: ...
class Histogram(Primitive):
    """How many elements fall into each of the bins between min and max."""
    def __init__(self, bins: int = 100, min: float = 0.0, max: float = 0.0) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class HistogramFixedWidth(Primitive):
    """How many elements fall into each of nbins intervals of equal width; those outside count for the outer ones."""
    def __init__(self, nbins, dtype: Any = 'int32') -> None: ...
    def __call__(self, *args, **kwargs): ...
class HookBackward(Primitive):
    """The same value; hook_fn is given its gradient as a tuple and may answer another one."""
    def __init__(self, hook_fn, cell_id: Any = '') -> None: ...
    def __call__(self, *args, **kwargs): ...
class HyperMap(_HyperMap):
    """Apply a function to the corresponding leaves of nested sequences."""
    def __init__(self, ops=None, reverse: Any = False) -> None: ...
class Hypot(Primitive):
    """The square root of x squared plus y squared, without overflow on the way."""
    def __init__(self) -> None: ...
    def __call__(self, x1: TensorLike, x2: TensorLike) -> Tensor: ...
class IOU(Primitive):
    """Common area of boxes over their union (iou), or over the second box (iof), for all pairs."""
    def __init__(self, mode: str = 'iou') -> None: ...
    def __call__(self, anchor_boxes: TensorLike, gt_boxes: TensorLike) -> Tensor: ...
class Identity(Primitive):
    """The same numbers in a Tensor of its own."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Igamma(Primitive):
    """The lower incomplete gamma function of order a at x, as a share of the gamma function."""
    def __init__(self) -> None: ...
    def __call__(self, a: TensorLike, x: TensorLike) -> Tensor: ...
class Igammac(Primitive):
    """The upper incomplete gamma function of order a at x, as a share of the gamma function."""
    def __init__(self) -> None: ...
    def __call__(self, a: TensorLike, x: TensorLike) -> Tensor: ...
class Im2Col(_Im2Col):
    """Windows as [n, channels, kernel, positions]."""
    def __init__(self, ksizes, strides: Any = 1, dilations: Any = 1, pads: Any = 0) -> None: ...
class Imag(Primitive):
    """The imaginary part; zero for real numbers."""
    def __init__(self) -> None: ...
    def __call__(self, input: TensorLike) -> Tensor: ...
class InTopK(Primitive):
    """Whether the element each target names is among the k largest of its row."""
    def __init__(self, k) -> None: ...
    def __call__(self, *args, **kwargs): ...
class IndexAdd(Primitive):
    """Add y to slices of a Parameter, in place."""
    def __init__(self, axis, use_lock: Any = True, check_index_bound: Any = True) -> None: ...
    def __call__(self, *args, **kwargs): ...
class IndexFill(Primitive):
    """A copy in which slices along a dimension hold one value."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class IndexPut(Primitive):
    """x1 with elements at the places of index tensors replaced by x2, or x2 added there (accumulate)."""
    def __init__(self, accumulate: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class InplaceAdd(Primitive):
    """v added to the rows of x that the indices name."""
    def __init__(self, indices) -> None: ...
    def __call__(self, *args, **kwargs): ...
class InplaceIndexAdd(Primitive):
    """Updates added to slices of a Parameter along an axis, in place."""
    def __init__(self, axis) -> None: ...
    def __call__(self, *args, **kwargs): ...
class InplaceSub(Primitive):
    """v taken from the rows of x that the indices name."""
    def __init__(self, indices) -> None: ...
    def __call__(self, *args, **kwargs): ...
class InplaceUpdate(Primitive):
    """The rows of x that the indices name replaced by v."""
    def __init__(self, indices) -> None: ...
    def __call__(self, *args, **kwargs): ...
class InplaceUpdateV2(Primitive):
    """The rows of x that the indices name replaced by v."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class InsertGradientOf(Primitive):
    """The same value; f is given its gradient and answers the one to go on with."""
    def __init__(self, f) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Inv(Primitive):
    """One over each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Invert(Primitive):
    """The bits reversed."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class InvertPermutation(Primitive):
    """The permutation that undoes one."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class IsClose(Primitive):
    """Whether |x - y| <= atol + rtol |y|, element by element."""
    def __init__(self, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> None: ...
    def __call__(self, input: TensorLike, other: TensorLike) -> Tensor: ...
class IsFinite(Primitive):
    """Whether each element is finite."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class IsInf(Primitive):
    """Whether each element is infinite."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class IsNan(Primitive):
    """Whether each element is not a number."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class KLDivLoss(Primitive):
    """labels (log(labels) - logits): Kullback-Leibler divergence, logits being logarithms."""
    def __init__(self, reduction: str = 'mean') -> None: ...
    def __call__(self, logits: TensorLike, labels: TensorLike) -> Tensor: ...
class L2Loss(Primitive):
    """Half the sum of squares."""
    def __init__(self) -> None: ...
    def __call__(self, input_x: TensorLike) -> Tensor: ...
class L2Normalize(Primitive):
    """x divided by its Euclidean length along an axis."""
    def __init__(self, axis: int | Sequence[int] = 0, epsilon: float = 0.0001) -> None: ...
    def __call__(self, input_x: TensorLike) -> Tensor: ...
class LRN(Primitive):
    """Divide by (bias + alpha * sum of squares of the neighbouring channels) to the power of beta."""
    def __init__(self, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, norm_region: str = 'ACROSS_CHANNELS') -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class LSTM(_LSTM):
    """Layers of LSTM over [time, batch, features]."""
    def __init__(self, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout, proj_size: Any = 0) -> None: ...
class LayerNorm(Primitive):
    """Normalise by mean and variance over the last axes, scale by gamma, shift by beta; also gives both statistics."""
    def __init__(self, begin_norm_axis: int = 1, begin_params_axis: int = 1, epsilon: float = 1e-07) -> None: ...
    def __call__(self, input_x: TensorLike, gamma: TensorLike, beta: TensorLike) -> tuple[Tensor, ...]: ...
class Lcm(Primitive):
    """The least common multiple, never negative."""
    def __init__(self) -> None: ...
    def __call__(self, x1: TensorLike, x2: TensorLike) -> Tensor: ...
class LeftShift(Primitive):
    """The bits moved towards the high end."""
    def __init__(self) -> None: ...
    def __call__(self, x1: TensorLike, x2: TensorLike) -> Tensor: ...
class Lerp(Primitive):
    """x plus weight times (end - x)."""
    def __init__(self) -> None: ...
    def __call__(self, start: TensorLike, end: TensorLike, weight: TensorLike) -> Tensor: ...
class Less(Primitive):
    """Whether elements of the first are smaller."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class LessEqual(Primitive):
    """Whether elements of the first are smaller or equal."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class Lgamma(Primitive):
    """The logarithm of the absolute value of the gamma function."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class LinSpace(Primitive):
    """Numbers evenly spaced from start to end, both included."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ListDiff(Primitive):
    """The elements of x that are not in y, and where they stand."""
    def __init__(self, out_idx: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Load(Primitive):
    """The value of a parameter."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Log(Primitive):
    """The natural logarithm of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Log1p(Primitive):
    """The natural logarithm of 1 + x, exact near zero."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class LogMatrixDeterminant(Primitive):
    """The sign of the determinant of square matrices and the logarithm of its size."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> tuple[Tensor, ...]: ...
class LogNormalReverse(Primitive):
    """Random numbers of the shape of the input whose logarithms are normal."""
    def __init__(self, mean: Any = 1.0, std: Any = 2.0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class LogSoftmax(Primitive):
    """The logarithm of softmax, computed without taking the logarithm of small numbers."""
    def __init__(self, axis: int | Sequence[int] = -1) -> None: ...
    def __call__(self, logits: TensorLike) -> Tensor: ...
class LogSpace(Primitive):
    """base to the power of evenly spaced numbers."""
    def __init__(self, steps: Any = 10, base: Any = 10, dtype: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class LogicalAnd(Primitive):
    """Whether both elements are true (not zero)."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class LogicalNot(Primitive):
    """Whether each element is false (zero)."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class LogicalOr(Primitive):
    """Whether one of the elements is true (not zero)."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class LogicalXor(Primitive):
    """Whether exactly one of the elements is true (not zero)."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class Logit(_Logit):
    """log(x / (1 - x))."""
    def __init__(self, eps: Any = -1.0) -> None: ...
class LowerBound(Primitive):
    """Where, in each sorted row, the first element not below a value stands."""
    def __init__(self, out_type: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class LpNorm(_LpNorm):
    """The norm of order p over axes."""
    def __init__(self, axis, p: Any = 2, keep_dims: Any = False, epsilon: Any = 1e-12) -> None: ...
class Lstsq(Primitive):
    """See ops.lstsq."""
    def __init__(self, fast: Any = True, l2_regularizer: Any = 0.0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class LuSolve(Primitive):
    """The x with A x = b from the factors of A and the pivots, which count from one."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class LuUnpack(Primitive):
    """The permutation and the factors L and U, apart, of factors in one matrix. Pivots count from one."""
    def __init__(self, unpack_data: Any = True, unpack_pivots: Any = True) -> None: ...
    def __call__(self, *args, **kwargs): ...
class MakeTuple(Primitive):
    """The arguments as a tuple."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Map(_Map):
    """Apply a function to the corresponding items of sequences, one level deep."""
    def __init__(self, ops=None, reverse: Any = False) -> None: ...
class MaskedFill(Primitive):
    """value where the mask is true."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class MaskedScatter(Primitive):
    """See Tensor.masked_scatter."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class MaskedSelect(Primitive):
    """The elements where the mask is true, as a list; both are broadcast together."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, mask: TensorLike) -> Tensor: ...
class MatMul(Primitive):
    """Matrix product: vectors, matrices, or batches of matrices whose leading dimensions broadcast."""
    def __init__(self, transpose_a: bool = False, transpose_b: bool = False) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class MatrixBandPart(Primitive):
    """Matrices with `lower` diagonals below the main one and `upper` above kept, the others zero; -1 keeps all."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class MatrixDeterminant(Primitive):
    """The determinant of square matrices."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class MatrixDiagPartV3(Primitive):
    """Diagonals of matrices; what shorter ones lack is padding_value."""
    def __init__(self, align: Any = 'RIGHT_LEFT') -> None: ...
    def __call__(self, *args, **kwargs): ...
class MatrixDiagV3(Primitive):
    """Matrices with the given diagonals, and padding_value elsewhere. k: which diagonal, or the lowest and the highest."""
    def __init__(self, align: Any = 'RIGHT_LEFT') -> None: ...
    def __call__(self, *args, **kwargs): ...
class MatrixExp(Primitive):
    """The exponential series of square matrices, by Pade's approximation of a small part, squared as often as needed."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class MatrixInverse(_MatrixInverse):
    """The inverse of square matrices, or of their adjoints."""
    def __init__(self, adjoint: Any = False) -> None: ...
class MatrixSetDiagV3(Primitive):
    """Matrices with some diagonals replaced."""
    def __init__(self, align: Any = 'RIGHT_LEFT') -> None: ...
    def __call__(self, *args, **kwargs): ...
class MatrixSolve(Primitive):
    """See ops.matrix_solve."""
    def __init__(self, adjoint: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class MatrixTriangularSolve(Primitive):
    """The x with matrix x = rhs, where the matrix is triangular."""
    def __init__(self, lower: Any = True, adjoint: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class MaxPool(_MaxPool):
    """The largest element of each window of [N, C, H, W] (or [N, H, W, C])."""
    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: Any = 'valid', data_format: Any = 'NCHW') -> None: ...
class MaxPool3D(Primitive):
    """Maximum over sliding windows in the last three dimensions."""
    def __init__(self, kernel_size: int | Sequence[int] = 1, strides: int | Sequence[int] = 1, pad_mode: str = 'VALID', pad_list: int | Sequence[int] = 0, ceil_mode: bool = False, data_format: str = 'NCDHW') -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class MaxPoolWithArgmaxV2(Primitive):
    """Maximum over windows in the last two dimensions, and its place in the flattened spatial dimensions."""
    def __init__(self, kernel_size: int | Sequence[int], strides: int | Sequence[int] | None = None, pads: int | Sequence[int] = 0, dilation: int | Sequence[int] = (1, 1), ceil_mode: bool = False) -> None: ...
    def __call__(self, x: TensorLike) -> tuple[Tensor, ...]: ...
class MaxUnpool2D(Primitive):
    """Pooling undone: maxima back at their places, zeros elsewhere."""
    def __init__(self, ksize, strides: Any = 0, pads: Any = 0, output_shape: Any = (), data_format: Any = 'NCHW') -> None: ...
    def __call__(self, *args, **kwargs): ...
class MaxUnpool3D(Primitive):
    """Pooling undone: maxima back at their places, zeros elsewhere."""
    def __init__(self, ksize, strides: Any = 0, pads: Any = 0, output_shape: Any = (), data_format: Any = 'NCDHW') -> None: ...
    def __call__(self, *args, **kwargs): ...
class Maximum(Primitive):
    """The larger of two tensors, element by element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class Median(_Median):
    """The median of all elements, or along an axis with its position."""
    def __init__(self, global_median: Any = False, axis: Any = 0, keep_dims: Any = False, ignore_nan: Any = False) -> None: ...
class Meshgrid(Primitive):
    """One grid per vector."""
    def __init__(self, indexing: Any = 'xy') -> None: ...
    def __call__(self, *args, **kwargs): ...
class Minimum(Primitive):
    """The smaller of two tensors, element by element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class MirrorPad(Primitive):
    """Mirrored elements before and after each dimension."""
    def __init__(self, mode: Any = 'REFLECT') -> None: ...
    def __call__(self, *args, **kwargs): ...
class Mish(Primitive):
    """x times the hyperbolic tangent of softplus(x)."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Mod(Primitive):
    """The remainder of a division rounded towards zero; it has the sign of the dividend."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class Mul(Primitive):
    """Product of two tensors, element by element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class MulNoNan(Primitive):
    """The product, and zero where the second operand is zero, whatever the first."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class MultiMarginLoss(_MultiMarginLoss):
    """multi_margin_loss with its constants given once."""
    def __init__(self, p: Any = 1, margin: Any = 1.0, reduction: Any = 'mean') -> None: ...
class MultilabelMarginLoss(_MultilabelMarginLoss):
    """multilabel_margin_loss, and 1 where a class is a target."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class Multinomial(Primitive):
    """Categories drawn with weights."""
    def __init__(self, seed: Any = 0, seed2: Any = 0, dtype: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class MultinomialWithReplacement(Primitive):
    """Random class numbers."""
    def __init__(self, numsamples, replacement: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class MultitypeFuncGraph(_MultitypeFuncGraph):
    """A function with several implementations; the first registered one that fits the arguments' types is called, an only one always."""
    def __init__(self, name, read_value: Any = False) -> None: ...
class NLLLoss(_NLLLoss):
    """Minus the log probability of the target class, and the sum of the weights."""
    def __init__(self, reduction: Any = 'mean', ignore_index: Any = -100) -> None: ...
class NMSWithMask(Primitive):
    """Boxes with scores, best first, their places in that order, and which remain when those that overlap a better one are dropped."""
    def __init__(self, iou_threshold: float = 0.5) -> None: ...
    def __call__(self, bboxes: TensorLike) -> tuple[Tensor, ...]: ...
class NPUAllocFloatStatus(Primitive):
    """Eight flags, zero."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class NPUClearFloatStatus(Primitive):
    """The flags, zero."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class NPUClearFloatStatusV2(Primitive):
    """The flags, zero."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class NPUGetFloatStatus(Primitive):
    """The flags, as they are."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class NPUGetFloatStatusV2(Primitive):
    """The flags, as they are."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class NanToNum(Primitive):
    """NaN replaced by zero and infinities by the largest finite numbers, or by the values given."""
    def __init__(self, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Neg(Primitive):
    """The negative of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class NextAfter(Primitive):
    """The next number of the dtype after x in the direction of y."""
    def __init__(self) -> None: ...
    def __call__(self, x1: TensorLike, x2: TensorLike) -> Tensor: ...
class NoRepeatNGram(Primitive):
    """Log probabilities with those words ruled out that would repeat a group of ngram_size words."""
    def __init__(self, ngram_size: Any = 1) -> None: ...
    def __call__(self, *args, **kwargs): ...
class NonDeterministicInts(Primitive):
    """Random integers."""
    def __init__(self, dtype: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class NonZero(Primitive):
    """The positions of elements that are not zero: a row each, or a vector for each dimension."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class NotEqual(Primitive):
    """Whether elements differ."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class NthElement(Primitive):
    """The n-th smallest (reverse: largest) element of each row."""
    def __init__(self, reverse: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class NuclearNorm(Primitive):
    """The sum of the singular values of matrices in two dimensions."""
    def __init__(self, dim=None, keepdim: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class OneHot(Primitive):
    """on_value at the position each index names, off_value elsewhere."""
    def __init__(self, axis: Any = -1) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Ones(Primitive):
    """Ones; float32 unless said otherwise."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class OnesLike(Primitive):
    """Ones in the shape of another Tensor."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Orgqr(Primitive):
    """The orthogonal matrix Q of the reflections and factors that geqrf gives."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Ormqr(Primitive):
    """Q times other, or other times Q (left=False), with the Q of geqrf; transpose: with Q turned around."""
    def __init__(self, left: Any = True, transpose: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class PReLU(Primitive):
    """x above zero, weight times x below, with one weight or one per channel."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, weight: TensorLike) -> Tensor: ...
class Pack(Primitive):
    """The old name of Stack."""
    def __init__(self, axis: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Pad(Primitive):
    """Zeros before and after each dimension."""
    def __init__(self, paddings) -> None: ...
    def __call__(self, *args, **kwargs): ...
class PadV3(Primitive):
    """Elements before and after dimensions, listed from the last one on."""
    def __init__(self, mode: Any = 'constant', paddings_contiguous: Any = True) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Padding(Primitive):
    """The last dimension, of size 1, filled up with zeros."""
    def __init__(self, pad_dim_size: Any = 8) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ParallelConcat(Primitive):
    """Joined along a dimension they have."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Partial(Primitive):
    """A function with its first arguments given."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Pdist(Primitive):
    """The distances between all pairs of rows, (0, 1), (0, 2), ... (1, 2), ..."""
    def __init__(self, p: Any = 2.0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Poisson(Primitive):
    """Poisson distributed whole numbers."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Polar(Primitive):
    """Complex numbers from their distance and angle."""
    def __init__(self) -> None: ...
    def __call__(self, abs: TensorLike, angle: TensorLike) -> Tensor: ...
class Polygamma(Primitive):
    """The n-th derivative of digamma."""
    def __init__(self) -> None: ...
    def __call__(self, n: int, x: TensorLike) -> Tensor: ...
class PopulationCount(Primitive):
    """How many bits of each integer are one, as uint8."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Pow(Primitive):
    """The first operand to the power of the second, element by element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class PyFunc(Primitive):
    """A Python function of arrays as an operator; nothing flows back through it."""
    def __init__(self, fn, in_types, in_shapes, out_types, out_shapes, stateful: Any = True) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Qr(Primitive):
    """See ops.qr."""
    def __init__(self, full_matrices: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Quantile(Primitive):
    """Values that a share q of the elements is not above."""
    def __init__(self, dim=None, keep_dims: Any = False, ignore_nan: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class RGBToHSV(Primitive):
    """Hue, saturation and value, in [0, 1], of red, green and blue in the last dimension."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ROIAlign(Primitive):
    """Regions (image, x1, y1, x2, y2) of feature maps resampled to one size; the places are constants."""
    def __init__(self, pooled_height: int, pooled_width: int, spatial_scale: float, sample_num: int = 2, roi_end_mode: int = 1) -> None: ...
    def __call__(self, features: TensorLike, rois: TensorLike) -> Tensor: ...
class RaggedRange(Primitive):
    """Ranges one after another, and where each begins."""
    def __init__(self, Tsplits) -> None: ...
    def __call__(self, *args, **kwargs): ...
class RandomCategorical(Primitive):
    """Categories drawn with the softmax of the rows as weights."""
    def __init__(self, dtype: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class RandomChoiceWithMask(Primitive):
    """Positions of true elements in random order."""
    def __init__(self, count: Any = 256, seed: Any = 0, seed2: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class RandomGamma(Primitive):
    """Random numbers of the gamma distribution."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class RandomPoisson(Primitive):
    """Random numbers of Poisson's distribution."""
    def __init__(self, seed: Any = 0, seed2: Any = 0, dtype: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class RandomShuffle(Primitive):
    """The slices along the first dimension in random order."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Randperm(Primitive):
    """The numbers 0 to n - 1 in random order, filled up to max_length."""
    def __init__(self, max_length: Any = 1, pad: Any = -1, dtype: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class RandpermV2(Primitive):
    """The numbers from 0 to n - 1 in random order."""
    def __init__(self, seed: Any = 0, offset: Any = 0, dtype: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Range(Primitive):
    """Numbers from start up to end, without it, in steps."""
    def __init__(self, maxlen: Any = 1000000) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Rank(Primitive):
    """The number of dimensions."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ReLU(Primitive):
    """The larger of zero and each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class ReLU6(Primitive):
    """x kept between 0 and 6."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Real(Primitive):
    """The real part."""
    def __init__(self) -> None: ...
    def __call__(self, input: TensorLike) -> Tensor: ...
class RealDiv(Primitive):
    """The quotient in the dtype of the operands."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class Reciprocal(Primitive):
    """One over each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Reduce(_Reduce):
    """The sum of all Tensors, at one process."""
    def __init__(self, dest_rank, op: Any = 'sum', group: Any = 'hccl_world_group') -> None: ...
class ReduceAll(Primitive):
    """Whether all elements over axes are true (not zero)."""
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: TensorLike, axis: int | Sequence[int] = ()) -> Tensor: ...
class ReduceAny(Primitive):
    """Whether some element over axes is true (not zero)."""
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: TensorLike, axis: int | Sequence[int] = ()) -> Tensor: ...
class ReduceMax(Primitive):
    """Maximum over axes (all when none are given); NaN if there is one."""
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: TensorLike, axis: int | Sequence[int] = ()) -> Tensor: ...
class ReduceMean(Primitive):
    """Mean over axes (all when none are given)."""
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: TensorLike, axis: int | Sequence[int] = ()) -> Tensor: ...
class ReduceMin(Primitive):
    """Minimum over axes (all when none are given); NaN if there is one."""
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: TensorLike, axis: int | Sequence[int] = ()) -> Tensor: ...
class ReduceProd(Primitive):
    """Product over axes (all when none are given)."""
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: TensorLike, axis: int | Sequence[int] = ()) -> Tensor: ...
class ReduceScatter(_ReduceScatter):
    """This process's part of the sum of all Tensors."""
    def __init__(self, op: Any = 'sum', group: Any = 'hccl_world_group') -> None: ...
class ReduceStd(_ReduceStd):
    """Standard deviation and mean over axes."""
    def __init__(self, axis: Any = (), unbiased: Any = True, keep_dims: Any = False) -> None: ...
class ReduceSum(Primitive):
    """Sum over axes in the dtype of the input."""
    def __init__(self, keep_dims: bool = False, skip_mode: bool = False) -> None: ...
    def __call__(self, x: TensorLike, axis: int | Sequence[int] = ()) -> Tensor: ...
class Reshape(Primitive):
    """The same elements in the same order under another shape; one dimension may be -1."""
    def __init__(self) -> None: ...
    def __call__(self, input_x: TensorLike, input_shape: int | Sequence[int]) -> Tensor: ...
class ResizeBicubic(_ResizeBicubic):
    """Resize [N, C, H, W] by a cubic kernel over sixteen pixels."""
    def __init__(self, align_corners: Any = False, half_pixel_centers: Any = False) -> None: ...
class ResizeBilinear(_ResizeBilinear):
    """Resize [N, C, H, W] to a fixed size by weights of the four nearest pixels."""
    def __init__(self, size, align_corners: Any = False, half_pixel_centers: Any = False) -> None: ...
class ResizeBilinearV2(_ResizeBilinearV2):
    """Resize [N, C, H, W] by weights of the four nearest pixels."""
    def __init__(self, align_corners: Any = False, half_pixel_centers: Any = False) -> None: ...
class ResizeNearestNeighbor(_ResizeNearestNeighbor):
    """Resize [N, C, H, W] to a fixed size by the nearest pixel."""
    def __init__(self, size, align_corners: Any = False, half_pixel_centers: Any = False) -> None: ...
class ResizeNearestNeighborV2(_ResizeNearestNeighborV2):
    """Resize [N, C, H, W] by the nearest pixel."""
    def __init__(self, align_corners: Any = False, half_pixel_centers: Any = False) -> None: ...
class ReverseSequence(Primitive):
    """The first elements of each sequence in reverse."""
    def __init__(self, seq_dim, batch_dim: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ReverseV2(Primitive):
    """The elements in reverse along dimensions."""
    def __init__(self, axis) -> None: ...
    def __call__(self, *args, **kwargs): ...
class RightShift(Primitive):
    """The bits moved towards the low end; the sign stays."""
    def __init__(self) -> None: ...
    def __call__(self, input_x: TensorLike, input_y: TensorLike) -> Tensor: ...
class RmsNorm(Primitive):
    """Divide by the root of the mean square over the last axes and scale by gamma; also gives one over that root."""
    def __init__(self, epsilon: float = 1e-06) -> None: ...
    def __call__(self, x: TensorLike, gamma: TensorLike) -> tuple[Tensor, ...]: ...
class Roll(Primitive):
    """Elements moved along dimensions; what leaves at one end enters at the other. Without dimensions the tensor is taken as one row."""
    def __init__(self, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> None: ...
    def __call__(self, input: TensorLike) -> Tensor: ...
class Round(Primitive):
    """The nearest integer to each element, halves to the even one."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Rsqrt(Primitive):
    """One over the square root of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class SGD(Primitive):
    """Gradient descent with momentum, dampening and weight decay."""
    def __init__(self, dampening: Any = 0.0, weight_decay: Any = 0.0, nesterov: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class STFT(Primitive):
    """Fourier transforms of pieces of a signal; see ops.stft."""
    def __init__(self, n_fft, hop_length, win_length, normalized, onesided, return_complex) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScalarCast(Primitive):
    """A Python number converted to the kind of a dtype."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScalarToArray(Primitive):
    """A Tensor of rank 0 from a Python number, in its own dtype."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScalarToTensor(Primitive):
    """A Tensor of rank 0 from a Python number."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterAdd(Primitive):
    """Combine updates into the rows of a Parameter that the indices name."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterAddWithAxis(Primitive):
    """A copy with updates added at the positions indices tell."""
    def __init__(self, axis: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterDiv(Primitive):
    """Combine updates into the rows of a Parameter that the indices name."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterMax(Primitive):
    """Combine updates into the rows of a Parameter that the indices name."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterMin(Primitive):
    """Combine updates into the rows of a Parameter that the indices name."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterMul(Primitive):
    """Combine updates into the rows of a Parameter that the indices name."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterNd(Primitive):
    """Zeros with updates added at the given coordinates."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterNdAdd(Primitive):
    """Combine updates into a Parameter at coordinates, in place."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterNdDiv(Primitive):
    """Combine updates into a Parameter at coordinates, in place."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterNdMax(Primitive):
    """Combine updates into a Parameter at coordinates, in place."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterNdMin(Primitive):
    """Combine updates into a Parameter at coordinates, in place."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterNdMul(Primitive):
    """Combine updates into a Parameter at coordinates, in place."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterNdSub(Primitive):
    """Combine updates into a Parameter at coordinates, in place."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterNdUpdate(Primitive):
    """Combine updates into a Parameter at coordinates, in place."""
    def __init__(self, use_locking: Any = True) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterNonAliasingAdd(Primitive):
    """Combine updates into a Parameter at coordinates, in place."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterSub(Primitive):
    """Combine updates into the rows of a Parameter that the indices name."""
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ScatterUpdate(Primitive):
    """Combine updates into the rows of a Parameter that the indices name."""
    def __init__(self, use_locking: Any = True) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SeLU(Primitive):
    """elu with the scale and alpha that keep mean 0 and variance 1."""
    def __init__(self) -> None: ...
    def __call__(self, input_x: TensorLike) -> Tensor: ...
class SearchSorted(Primitive):
    """Where each value would go into a sorted row."""
    def __init__(self, dtype: Any = ..., right: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SegmentMax(Primitive):
    """The maximum of the rows of each segment; segment_ids are in order. A segment without rows is zero."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SegmentMean(Primitive):
    """The mean of the rows of each segment; segment_ids are in order. A segment without rows is zero."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SegmentMin(Primitive):
    """The minimum of the rows of each segment; segment_ids are in order. A segment without rows is zero."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SegmentProd(Primitive):
    """The product of the rows of each segment; segment_ids are in order. A segment without rows is one."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SegmentSum(Primitive):
    """The sum of the rows of each segment; segment_ids are in order. A segment without rows is zero."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Select(Primitive):
    """Elements of x where the condition is true, else of y; broadcast."""
    def __init__(self) -> None: ...
    def __call__(self, condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor: ...
class Shape(Primitive):
    """The shape as a tuple of ints."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SiLU(Primitive):
    """x times sigmoid(x)."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Sigmoid(Primitive):
    """1 / (1 + exp(-x)) of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class SigmoidCrossEntropyWithLogits(Primitive):
    """Cross entropy of sigmoid(logits) and label, element by element."""
    def __init__(self) -> None: ...
    def __call__(self, logits: TensorLike, label: TensorLike) -> Tensor: ...
class Sign(Primitive):
    """-1, 0 or 1 by the sign of each element; of a complex number the number of size 1 in its direction."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Sin(Primitive):
    """The sine of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Sinc(Primitive):
    """sin(pi x) / (pi x), and 1 at zero."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Sinh(Primitive):
    """The hyperbolic sine of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Size(Primitive):
    """The number of elements."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Slice(Primitive):
    """`size` elements from `begin` on along every dimension; size -1 takes all that follow."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SmoothL1Loss(Primitive):
    """Absolute difference, rounded to a parabola below beta."""
    def __init__(self, beta: float = 1.0, reduction: str = 'none') -> None: ...
    def __call__(self, prediction: TensorLike, target: TensorLike) -> Tensor: ...
class SoftMarginLoss(_SoftMarginLoss):
    """log(1 + exp(-label logits))."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class SoftShrink(Primitive):
    """x moved towards zero by lambd, and zero where |x| is at most lambd."""
    def __init__(self, lambd: float = 0.5) -> None: ...
    def __call__(self, input_x: TensorLike) -> Tensor: ...
class Softmax(_Softmax):
    """exp(x) divided by its sum over an axis (or neighbouring axes)."""
    def __init__(self, axis: Any = -1) -> None: ...
class SoftmaxCrossEntropyWithLogits(Primitive):
    """Cross entropy of softmax(logits) and labels per row, and its gradient towards the logits."""
    def __init__(self) -> None: ...
    def __call__(self, logits: TensorLike, labels: TensorLike) -> tuple[Tensor, ...]: ...
class Softplus(Primitive):
    """log(1 + exp(beta x)) / beta, and x itself where beta x is above the threshold."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Softsign(Primitive):
    """x / (1 + |x|)."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Sort(Primitive):
    """The elements in order, and where they came from."""
    def __init__(self, axis: Any = -1, descending: Any = False) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SpaceToBatch(Primitive):
    """Blocks of pixels become batches."""
    def __init__(self, block_size, paddings) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SpaceToBatchND(Primitive):
    """Blocks of pixels become batches."""
    def __init__(self, block_shape, paddings) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SpaceToDepth(Primitive):
    """Blocks of pixels become channels."""
    def __init__(self, block_size) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SparseGatherV2(Primitive):
    """Slices along a dimension, one for each index."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SparseSoftmaxCrossEntropyWithLogits(Primitive):
    """Mean cross entropy of softmax(logits) and classes, or its gradient."""
    def __init__(self, is_grad: bool = False) -> None: ...
    def __call__(self, logits: TensorLike, labels: TensorLike) -> Tensor: ...
class SparseToDense(Primitive):
    """A Tensor with values at places and zeros elsewhere."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Split(Primitive):
    """Pieces of equal size."""
    def __init__(self, axis: Any = 0, output_num: Any = 1) -> None: ...
    def __call__(self, *args, **kwargs): ...
class SplitV(Primitive):
    """Pieces of the given sizes; one of them may be -1."""
    def __init__(self, size_splits, split_dim, num_split) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Sqrt(Primitive):
    """The square root of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Square(Primitive):
    """Each element times itself."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class SquaredDifference(Primitive):
    """The square of the difference."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class Squeeze(Primitive):
    """Without dimensions of size 1."""
    def __init__(self, axis: Any = ()) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Stack(Primitive):
    """Tensors joined along a new dimension."""
    def __init__(self, axis: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class StandardLaplace(Primitive):
    """Laplace distributed numbers."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class StandardNormal(Primitive):
    """Standard normal numbers."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class StopGradient(Primitive):
    """The same tensor, a constant to gradients."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class StridedSlice(Primitive):
    """x[begin:end:strides]; the masks change what entries mean."""
    def __init__(self, begin_mask: Any = 0, end_mask: Any = 0, ellipsis_mask: Any = 0, new_axis_mask: Any = 0, shrink_axis_mask: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Sub(Primitive):
    """Difference of two tensors, element by element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class SubAndFilter(Primitive):
    """Elements minus offset, those outside of [0, max_num) left out, and where the others stood."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Svd(Primitive):
    """Singular values and vectors; without compute_uv the vectors are empty."""
    def __init__(self, full_matrices: Any = False, compute_uv: Any = True) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Tan(Primitive):
    """The tangent of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Tanh(Primitive):
    """The hyperbolic tangent of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class TensorAdd(Primitive):
    """Sum of two tensors, element by element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class TensorScatterAdd(Primitive):
    """A copy in which the elements at the given coordinates are added to updates."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class TensorScatterDiv(Primitive):
    """A copy in which the elements at the given coordinates are divided by updates."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class TensorScatterElements(Primitive):
    """A copy in which each update goes to the position indices tell."""
    def __init__(self, axis: Any = 0, reduction: Any = 'none') -> None: ...
    def __call__(self, *args, **kwargs): ...
class TensorScatterMax(Primitive):
    """A copy in which the elements at the given coordinates are replaced by larger updates."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class TensorScatterMin(Primitive):
    """A copy in which the elements at the given coordinates are replaced by smaller updates."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class TensorScatterMul(Primitive):
    """A copy in which the elements at the given coordinates are multiplied by updates."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class TensorScatterSub(Primitive):
    """A copy in which the elements at the given coordinates are lessened by updates."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class TensorScatterUpdate(Primitive):
    """A copy in which the elements at the given coordinates are replaced by updates."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class TensorShape(Primitive):
    """The shape as a Tensor."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class TensorToTuple(Primitive):
    """The numbers of a Tensor of one dimension."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Tile(Primitive):
    """The tensor repeated as a whole along each dimension; missing repetitions are 1, missing dimensions are added in front."""
    def __init__(self) -> None: ...
    def __call__(self, input: TensorLike, dims: int | Sequence[int]) -> Tensor: ...
class TopK(Primitive):
    """The k largest elements of each row, and where they are."""
    def __init__(self, sorted: Any = True) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Trace(Primitive):
    """The sum of the diagonal of a matrix."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class Transpose(Primitive):
    """The dimensions in another order; reversed when no order is given."""
    def __init__(self) -> None: ...
    def __call__(self, input_x: TensorLike, input_perm: int | Sequence[int]) -> Tensor: ...
class TransposeView(Primitive):
    """Dimensions in another order, as a view."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class TridiagonalMatMul(Primitive):
    """The matrix with three diagonals times another one."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Tril(Primitive):
    """The lower triangle of each matrix, up to the given diagonal; zeros elsewhere."""
    def __init__(self, diagonal: int = 0) -> None: ...
    def __call__(self, input: TensorLike) -> Tensor: ...
class TrilIndices(Primitive):
    """See ops.tril_indices."""
    def __init__(self, row, col, offset: Any = 0, dtype: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class TripletMarginLoss(_TripletMarginLoss):
    """triplet_margin_loss with its constants given once; the margin comes with the call."""
    def __init__(self, p: Any = 2, swap: Any = False, eps: Any = 1e-06, reduction: Any = 'mean') -> None: ...
class Triu(Primitive):
    """The upper triangle of each matrix, from the given diagonal; zeros elsewhere."""
    def __init__(self, diagonal: int = 0) -> None: ...
    def __call__(self, input: TensorLike) -> Tensor: ...
class TriuIndices(Primitive):
    """See ops.triu_indices."""
    def __init__(self, row, col, offset: Any = 0, dtype: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Trunc(Primitive):
    """The integer part of each element."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike) -> Tensor: ...
class TruncateDiv(Primitive):
    """The quotient rounded towards zero."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class TruncateMod(Primitive):
    """The remainder of a division rounded towards zero; it has the sign of the dividend."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class TruncatedNormal(Primitive):
    """Normal numbers within two standard deviations."""
    def __init__(self, dtype: Any = ..., seed: Any = 0, seed2: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class TupleToArray(Primitive):
    """A Tensor from a tuple of numbers."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class UniformInt(Primitive):
    """Whole numbers in [minval, maxval)."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class UniformReal(Primitive):
    """Numbers in [0, 1)."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Unique(Primitive):
    """The distinct values in the order they appear, and for each element the number of its value."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class UniqueConsecutive(Primitive):
    """Neighbours that are equal, once; of what is not asked for, the number 0."""
    def __init__(self, return_inverse: Any = False, return_counts: Any = False, dim=None) -> None: ...
    def __call__(self, *args, **kwargs): ...
class UniqueWithPad(Primitive):
    """unique, the values filled up to the number of elements."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Unpack(Primitive):
    """The old name of Unstack."""
    def __init__(self, axis: Any = 0, num=None) -> None: ...
    def __call__(self, *args, **kwargs): ...
class UnravelIndex(Primitive):
    """The coordinates, one row a dimension, of elements counted in order."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class UnsortedSegmentMax(Primitive):
    """The largest elements of the slices that carry the same number."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class UnsortedSegmentMin(Primitive):
    """The smallest elements of the slices that carry the same number."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class UnsortedSegmentProd(Primitive):
    """The products of the slices that carry the same number."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class UnsortedSegmentSum(Primitive):
    """The sums of the slices that carry the same number."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Unstack(Primitive):
    """The slices along a dimension."""
    def __init__(self, axis: Any = 0, num=None) -> None: ...
    def __call__(self, *args, **kwargs): ...
class UpdateState(Primitive):
    """The state after an effect."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class UpperBound(Primitive):
    """Where, in each sorted row, the first element above a value stands."""
    def __init__(self, out_type: Any = ...) -> None: ...
    def __call__(self, *args, **kwargs): ...
class UpsampleTrilinear3D(_UpsampleTrilinear3D):
    """Resize [N, C, D, H, W] by weights of the eight nearest elements."""
    def __init__(self, align_corners: Any = False) -> None: ...
class Xdivy(Primitive):
    """x over y, and zero where x is zero."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class Xlogy(Primitive):
    """x times the logarithm of y, and zero where x is zero."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...
class Zeros(Primitive):
    """Zeros; float32 unless said otherwise."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class ZerosLike(Primitive):
    """Zeros in the shape of another Tensor."""
    def __init__(self) -> None: ...
    def __call__(self, *args, **kwargs): ...
class Zeta(Primitive):
    """The Hurwitz zeta function of x at y."""
    def __init__(self) -> None: ...
    def __call__(self, x: TensorLike, q: TensorLike) -> Tensor: ...
def abs(input: TensorLike) -> Tensor:
    """The absolute value of each element."""
def absolute(input: TensorLike) -> Tensor:
    """The absolute value of each element."""
def accumulate_n(x: TensorLike | Sequence[TensorLike]) -> Tensor:
    """The sum of tensors of one shape."""
def acos(input: TensorLike) -> Tensor:
    """The inverse cosine of each element."""
def acosh(input: TensorLike) -> Tensor:
    """The inverse hyperbolic cosine of each element."""
def adaptive_avg_pool1d(input: TensorLike, output_size: int | Sequence[int]) -> Tensor:
    """Mean over as many windows as asked for, of nearly equal size."""
def adaptive_avg_pool2d_ext(input: TensorLike, output_size: int | Sequence[int]) -> Tensor:
    """Mean over as many windows as asked for, of nearly equal size; -1 keeps a dimension."""
def adaptive_max_pool2d(input, output_size, return_indices: Any = False) -> Tensor:
    """The largest element of each part of the last two axes."""
def adaptive_max_pool3d(input, output_size, return_indices: Any = False):
    """The largest element of each part of the last three axes."""
def add(input: TensorLike, other: TensorLike) -> Tensor:
    """Sum of two tensors, element by element."""
def addbmm(input: TensorLike, batch1: TensorLike, batch2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta times x plus alpha times the sum of the products of two batches of matrices."""
def addcdiv(input: TensorLike, tensor1: TensorLike, tensor2: TensorLike, value: TensorLike = 1) -> Tensor:
    """x plus value times a over b."""
def addcmul(input: TensorLike, tensor1: TensorLike, tensor2: TensorLike, value: TensorLike = 1) -> Tensor:
    """x plus value times a times b."""
def addmm(input: TensorLike, mat1: TensorLike, mat2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta times x plus alpha times the matrix product."""
def addmv(input: TensorLike, mat: TensorLike, vec: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta times x plus alpha times the product of matrix and vector."""
def addn(x: TensorLike | Sequence[TensorLike]) -> Tensor:
    """The sum of tensors of one shape."""
def addr(x: TensorLike, vec1: TensorLike, vec2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta times x plus alpha times the outer product of two vectors."""
def affine_grid(theta, size, align_corners: Any = False) -> Tensor:
    """Places for grid_sample: theta [n, 2, 3] (or [n, 3, 4]) applied to those of an image (or volume) of the given size."""
def all(input: TensorLike, axis: int | Sequence[int] | None = None, keep_dims: bool = False) -> Tensor:
    """Whether all elements over axes are true (not zero)."""
def amax(input, axis=None, keepdims: Any = False, *, initial=None, where=None) -> Tensor:
    """The maximum over axes."""
def amin(input, axis=None, keepdims: Any = False, *, initial=None, where=None) -> Tensor:
    """The minimum over axes."""
def aminmax(input, *, axis: Any = 0, keepdims: Any = False):
    """The minimum and the maximum along an axis. Over all elements (axis=None), those that are not numbers do not count."""
def angle(input: TensorLike) -> Tensor:
    """The angle of numbers in the complex plane."""
def any(input: TensorLike, axis: int | Sequence[int] | None = None, keep_dims: bool = False) -> Tensor:
    """Whether some element over axes is true (not zero)."""
def approximate_equal(x: TensorLike, y: TensorLike, tolerance: float = 1e-05) -> Tensor:
    """Whether |x - y| < tolerance, element by element."""
def arange(start: Any = 0, end=None, step: Any = 1, *, dtype=None) -> Tensor:
    """start, start + step, ... before end."""
def arccos(input: TensorLike) -> Tensor:
    """The inverse cosine of each element."""
def arccosh(input: TensorLike) -> Tensor:
    """The inverse hyperbolic cosine of each element."""
def arcsin(x: TensorLike) -> Tensor:
    """The inverse sine of each element."""
def arcsinh(input: TensorLike) -> Tensor:
    """The inverse hyperbolic sine of each element."""
def arctan(input: TensorLike) -> Tensor:
    """The inverse tangent of each element."""
def arctan2(input: TensorLike, other: TensorLike) -> Tensor:
    """The angle of the point (y, x), in (-pi, pi]."""
def arctanh(input: TensorLike) -> Tensor:
    """The inverse hyperbolic tangent of each element."""
def argmax(input: TensorLike, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the maximum is: along an axis, or of all elements in row-major order."""
def argmin(input: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the minimum is: along an axis, or of all elements in row-major order."""
def argsort(input, axis: Any = -1, descending: Any = False) -> Tensor:
    """Where the elements of the sorted Tensor come from."""
def array_to_scalar(x):
    """The one element of a Tensor as a Python number."""
def asin(input: TensorLike) -> Tensor:
    """The inverse sine of each element."""
def asinh(input: TensorLike) -> Tensor:
    """The inverse hyperbolic sine of each element."""
def assign(variable: TensorLike, value: TensorLike) -> Tensor:
    """Write the value, converted, over the variable."""
def assign_add(variable: TensorLike, value: TensorLike) -> Tensor:
    """Add the value to the variable in place."""
def assign_sub(variable: TensorLike, value: TensorLike) -> Tensor:
    """Subtract the value from the variable in place."""
def atan(input: TensorLike) -> Tensor:
    """The inverse tangent of each element."""
def atan2(input: TensorLike, other: TensorLike) -> Tensor:
    """The angle of the point (y, x), in (-pi, pi]."""
def atanh(input: TensorLike) -> Tensor:
    """The inverse hyperbolic tangent of each element."""
def avg_pool1d(input_x: TensorLike, kernel_size: int | Sequence[int] = 1, stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:
    """Mean over sliding windows in the last dimension; padding counts when count_include_pad."""
def avg_pool2d(input_x: TensorLike, kernel_size: int | Sequence[int] = 1, stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int = 0) -> Tensor:
    """Mean over sliding windows in the last two dimensions; padding counts when count_include_pad."""
def avg_pool3d(input_x: TensorLike, kernel_size: int | Sequence[int] = 1, stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int = 0) -> Tensor:
    """Mean over sliding windows in the last three dimensions; padding counts when count_include_pad."""
def baddbmm(input: TensorLike, batch1: TensorLike, batch2: TensorLike, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta times x plus alpha times the product of two batches of matrices."""
def bartlett_window(window_length, periodic: Any = True, *, dtype=None) -> Tensor:
    """A triangle from zero to one and back."""
def batch_norm(input_x, running_mean, running_var, weight, bias, training: Any = False, momentum: Any = 0.1, eps: Any = 1e-05) -> Tensor:
    """Normalise channels by the statistics of the batch (training) or by the kept ones."""
def bernoulli(input, p: Any = 0.5, seed=None) -> Tensor:
    """1 with probability p, else 0, in the shape and dtype of a Tensor."""
def bessel_i0(x: TensorLike) -> Tensor:
    """The Bessel function I0 of each element."""
def bessel_i0e(x: TensorLike) -> Tensor:
    """The Bessel function I0e of each element."""
def bessel_i1(x: TensorLike) -> Tensor:
    """The Bessel function I1 of each element."""
def bessel_i1e(x: TensorLike) -> Tensor:
    """The Bessel function I1e of each element."""
def bessel_j0(x: TensorLike) -> Tensor:
    """The Bessel function J0 of each element."""
def bessel_j1(x: TensorLike) -> Tensor:
    """The Bessel function J1 of each element."""
def bessel_k0(x: TensorLike) -> Tensor:
    """The Bessel function K0 of each element."""
def bessel_k0e(x: TensorLike) -> Tensor:
    """The Bessel function K0e of each element."""
def bessel_k1(x: TensorLike) -> Tensor:
    """The Bessel function K1 of each element."""
def bessel_k1e(x: TensorLike) -> Tensor:
    """The Bessel function K1e of each element."""
def bessel_y0(x: TensorLike) -> Tensor:
    """The Bessel function Y0 of each element."""
def bessel_y1(x: TensorLike) -> Tensor:
    """The Bessel function Y1 of each element."""
def binary_cross_entropy(logits: TensorLike, labels: TensorLike, weight: TensorLike | None = None, reduction: str = 'mean') -> Tensor:
    """-(y log x + (1 - y) log(1 - x)) of probabilities x, with the logarithms bounded from below."""
def binary_cross_entropy_with_logits(input: TensorLike, target: TensorLike, weight: TensorLike | None = None, pos_weight: TensorLike | None = None, reduction: str = 'mean') -> Tensor:
    """Cross entropy of sigmoid(input) and target, stable for any input."""
def bincount(input: TensorLike, weights: TensorLike | None = None, minlength: int = 0) -> Tensor:
    """How often each number from zero on occurs, or the sum of its weights."""
def bitwise_and(input: TensorLike, other: TensorLike) -> Tensor:
    """The bits set in both operands."""
def bitwise_left_shift(input: TensorLike, other: TensorLike) -> Tensor:
    """The bits moved towards the high end."""
def bitwise_not(input: TensorLike) -> Tensor:
    """The bits reversed."""
def bitwise_or(input: TensorLike, other: TensorLike) -> Tensor:
    """The bits set in one of the operands."""
def bitwise_right_shift(input: TensorLike, other: TensorLike) -> Tensor:
    """The bits moved towards the low end; the sign stays."""
def bitwise_xor(input: TensorLike, other: TensorLike) -> Tensor:
    """The bits that differ."""
def blackman_window(window_length, periodic: Any = True, *, dtype=None) -> Tensor:
    """A bell of two cosines."""
def bmm(input_x: TensorLike, mat2: TensorLike) -> Tensor:
    """Matrix product: vectors, matrices, or batches of matrices whose leading dimensions broadcast."""
def bool_and(*args):
    """and of Python numbers."""
def bool_eq(*args):
    """eq of Python numbers."""
def bool_not(*args):
    """not of Python numbers."""
def bool_or(*args):
    """or of Python numbers."""
def bounding_box_decode(anchor_box: TensorLike, deltas: TensorLike, max_shape: int | Sequence[int], means: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0), stds: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0), wh_ratio_clip: float = 0.016) -> Tensor:
    """Anchors shifted and grown by deltas, kept inside an image of max_shape (height, width)."""
def bounding_box_encode(anchor_box: TensorLike, groundtruth_box: TensorLike, means: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0), stds: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0)) -> Tensor:
    """Shifts and growths that turn anchors into boxes, normalised by means and stds."""
def broadcast_to(input: TensorLike, shape: int | Sequence[int]) -> Tensor:
    """The tensor repeated along dimensions of size 1 (and new ones in front) to the given shape; -1 keeps one."""
def bucketize(input, boundaries, *, right: Any = False) -> Tensor:
    """The number of the interval each element lies in."""
def cat(tensors, axis: Any = 0) -> Tensor:
    """Joined along a dimension they have."""
def cdist(x1: TensorLike, x2: TensorLike, p: float = 2.0) -> Tensor:
    """The distance of every row of x to every row of y."""
def ceil(input: TensorLike) -> Tensor:
    """The smallest integer not below each element."""
def celu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """x above zero, alpha (exp(x / alpha) - 1) below."""
def check_valid(bboxes: TensorLike, img_metas: TensorLike) -> Tensor:
    """Whether boxes lie inside an image of height * ratio and width * ratio."""
def choice_with_mask(input_x, count: Any = 256, seed=None):
    """`count` positions of true elements in random order, filled up with zeros, and which of them are meant."""
def cholesky(input_x, upper: Any = False) -> Tensor:
    """The lower triangular L (or, with upper, its transpose) with L times its transpose equal to the input, which must be symmetric and positive definite."""
def cholesky_inverse(input_x, upper: Any = False) -> Tensor:
    """The inverse of the matrix whose Cholesky decomposition is given."""
def cholesky_solve(input, input2, upper: Any = False) -> Tensor:
    """The x with A x = input, where input2 is the Cholesky decomposition of A."""
def chunk(input, chunks, axis: Any = 0):
    """Pieces of equal size, as many as asked for or fewer; the last may be smaller."""
def clip_by_global_norm(x, clip_norm: Any = 1.0, use_norm=None):
    """Scale Tensors together so that the root of the sum of all their squares is at most clip_norm."""
def clip_by_norm(x, max_norm, norm_type: Any = 2.0, error_if_nonfinite: Any = False) -> Tensor:
    """Scale all Tensors together so that their common norm is at most max_norm."""
def clone(input: TensorLike) -> Tensor:
    """The same values in memory of their own."""
def combinations(input, r: Any = 2, with_replacement: Any = False) -> Tensor:
    """Every choice of r elements, one row each."""
def concat(tensors, axis: Any = 0) -> Tensor:
    """Joined along a dimension they have."""
def conj(input: TensorLike) -> Tensor:
    """The complex conjugate of each element."""
def constexpr(fn=None, get_instance: Any = True, name=None, reuse_result: Any = True, check: Any = True):
    """Mark a function of constants. Its arguments are Python values already, so calling it is all there is to do."""
def conv1d(input: TensorLike, weight: TensorLike, bias: TensorLike | None = None, stride: int | Sequence[int] = 1, pad_mode: str = 'valid', padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, groups: int = 1) -> Tensor:
    """Convolution of [batch, channels, 1 spatial dimensions] with [out, in / group, kernel]."""
def conv2d(input: TensorLike, weight: TensorLike, bias: TensorLike | None = None, stride: int | Sequence[int] = 1, pad_mode: str = 'valid', padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, groups: int = 1) -> Tensor:
    """Convolution of [batch, channels, 2 spatial dimensions] with [out, in / group, kernel]."""
def conv3d(input: TensorLike, weight: TensorLike, bias: TensorLike | None = None, stride: int | Sequence[int] = 1, pad_mode: str = 'valid', padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, groups: int = 1) -> Tensor:
    """Convolution of [batch, channels, 3 spatial dimensions] with [out, in / group, kernel]."""
def conv_transpose2d(input, weight, bias=None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: Any = 1, dilation: Any = 1) -> Tensor:
    """The adjoint of conv2d: weight is [in channels, out channels / groups, height, width]."""
def coo_abs(x):
    """The same places of a COOTensor, with ops.abs of the values."""
def coo_acos(x):
    """The same places of a COOTensor, with ops.acos of the values."""
def coo_acosh(x):
    """The same places of a COOTensor, with ops.acosh of the values."""
def coo_asin(x):
    """The same places of a COOTensor, with ops.asin of the values."""
def coo_asinh(x):
    """The same places of a COOTensor, with ops.asinh of the values."""
def coo_atan(x):
    """The same places of a COOTensor, with ops.atan of the values."""
def coo_atanh(x):
    """The same places of a COOTensor, with ops.atanh of the values."""
def coo_ceil(x):
    """The same places of a COOTensor, with ops.ceil of the values."""
def coo_concat(sp_input, concat_dim: Any = 0):
    """COOTensors joined along a dimension."""
def coo_cos(x):
    """The same places of a COOTensor, with ops.cos of the values."""
def coo_cosh(x):
    """The same places of a COOTensor, with ops.cosh of the values."""
def coo_exp(x):
    """The same places of a COOTensor, with ops.exp of the values."""
def coo_expm1(x):
    """The same places of a COOTensor, with ops.expm1 of the values."""
def coo_floor(x):
    """The same places of a COOTensor, with ops.floor of the values."""
def coo_inv(x):
    """The same places of a COOTensor, with ops.inv of the values."""
def coo_isfinite(x):
    """The same places of a COOTensor, with ops.isfinite of the values."""
def coo_isinf(x):
    """The same places of a COOTensor, with ops.isinf of the values."""
def coo_isnan(x):
    """The same places of a COOTensor, with ops.isnan of the values."""
def coo_log(x):
    """The same places of a COOTensor, with ops.log of the values."""
def coo_log1p(x):
    """The same places of a COOTensor, with ops.log1p of the values."""
def coo_neg(x):
    """The same places of a COOTensor, with ops.neg of the values."""
def coo_relu(x):
    """The same places of a COOTensor, with ops.relu of the values."""
def coo_relu6(x):
    """The same places of a COOTensor, with ops.relu6 of the values."""
def coo_round(x):
    """The same places of a COOTensor, with ops.round of the values."""
def coo_sigmoid(x):
    """The same places of a COOTensor, with ops.sigmoid of the values."""
def coo_sin(x):
    """The same places of a COOTensor, with ops.sin of the values."""
def coo_sinh(x):
    """The same places of a COOTensor, with ops.sinh of the values."""
def coo_softsign(x):
    """The same places of a COOTensor, with ops.softsign of the values."""
def coo_sqrt(x):
    """The same places of a COOTensor, with ops.sqrt of the values."""
def coo_square(x):
    """The same places of a COOTensor, with ops.square of the values."""
def coo_tan(x):
    """The same places of a COOTensor, with ops.tan of the values."""
def coo_tanh(x):
    """The same places of a COOTensor, with ops.tanh of the values."""
def copysign(x: TensorLike, other: TensorLike) -> Tensor:
    """The size of x with the sign of y."""
def cos(input: TensorLike) -> Tensor:
    """The cosine of each element."""
def cosh(input: TensorLike) -> Tensor:
    """The hyperbolic cosine of each element."""
def cosine_embedding_loss(input1, input2, target, margin: Any = 0.0, reduction: Any = 'mean') -> Tensor:
    """1 - cosine where the target is 1, cosine above the margin where it is -1."""
def cosine_similarity(x1: TensorLike, x2: TensorLike, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along a dimension."""
def count_nonzero(x: TensorLike, axis: int | Sequence[int] = (), keep_dims: bool = False, dtype: _DType = ...) -> Tensor:
    """How many elements over axes are not zero."""
def cov(input, *, correction: Any = 1, fweights=None, aweights=None) -> Tensor:
    """Covariances of the rows of a matrix."""
def crop_and_resize(image, boxes, box_indices, crop_size, method: Any = 'bilinear', extrapolation_value: Any = 0.0) -> Tensor:
    """Parts of [n, height, width, channels] images, given as fractions, resized to crop_size."""
def cross_entropy(input: TensorLike, target: TensorLike, weight: TensorLike | None = None, ignore_index: int = -100, reduction: str = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """Minus the log probability, by softmax over the classes, of a target class or a distribution over classes."""
def csr_abs(x):
    """The same places of a CSRTensor, with ops.abs of the values."""
def csr_acos(x):
    """The same places of a CSRTensor, with ops.acos of the values."""
def csr_acosh(x):
    """The same places of a CSRTensor, with ops.acosh of the values."""
def csr_asin(x):
    """The same places of a CSRTensor, with ops.asin of the values."""
def csr_asinh(x):
    """The same places of a CSRTensor, with ops.asinh of the values."""
def csr_atan(x):
    """The same places of a CSRTensor, with ops.atan of the values."""
def csr_atanh(x):
    """The same places of a CSRTensor, with ops.atanh of the values."""
def csr_ceil(x):
    """The same places of a CSRTensor, with ops.ceil of the values."""
def csr_cos(x):
    """The same places of a CSRTensor, with ops.cos of the values."""
def csr_cosh(x):
    """The same places of a CSRTensor, with ops.cosh of the values."""
def csr_exp(x):
    """The same places of a CSRTensor, with ops.exp of the values."""
def csr_expm1(x):
    """The same places of a CSRTensor, with ops.expm1 of the values."""
def csr_floor(x):
    """The same places of a CSRTensor, with ops.floor of the values."""
def csr_inv(x):
    """The same places of a CSRTensor, with ops.inv of the values."""
def csr_isfinite(x):
    """The same places of a CSRTensor, with ops.isfinite of the values."""
def csr_isinf(x):
    """The same places of a CSRTensor, with ops.isinf of the values."""
def csr_isnan(x):
    """The same places of a CSRTensor, with ops.isnan of the values."""
def csr_log(x):
    """The same places of a CSRTensor, with ops.log of the values."""
def csr_log1p(x):
    """The same places of a CSRTensor, with ops.log1p of the values."""
def csr_mm(a, b, trans_a: Any = False, trans_b: Any = False, adjoint_a: Any = False, adjoint_b: Any = False):
    """The product of two CSRTensors; trans and adjoint turn an operand around first."""
def csr_neg(x):
    """The same places of a CSRTensor, with ops.neg of the values."""
def csr_relu(x):
    """The same places of a CSRTensor, with ops.relu of the values."""
def csr_relu6(x):
    """The same places of a CSRTensor, with ops.relu6 of the values."""
def csr_round(x):
    """The same places of a CSRTensor, with ops.round of the values."""
def csr_sigmoid(x):
    """The same places of a CSRTensor, with ops.sigmoid of the values."""
def csr_sin(x):
    """The same places of a CSRTensor, with ops.sin of the values."""
def csr_sinh(x):
    """The same places of a CSRTensor, with ops.sinh of the values."""
def csr_softsign(x):
    """The same places of a CSRTensor, with ops.softsign of the values."""
def csr_sqrt(x):
    """The same places of a CSRTensor, with ops.sqrt of the values."""
def csr_square(x):
    """The same places of a CSRTensor, with ops.square of the values."""
def csr_tan(x):
    """The same places of a CSRTensor, with ops.tan of the values."""
def csr_tanh(x):
    """The same places of a CSRTensor, with ops.tanh of the values."""
def ctc_greedy_decoder(inputs, sequence_length, merge_repeated: Any = True):
    """The likeliest class at each step of [time, batch, classes]; see CTCGreedyDecoder."""
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank: Any = 0, reduction: Any = 'mean', zero_infinity: Any = False):
    """Minus the log likelihood of label sequences under [time, batch, classes] log probabilities, and the log probabilities [batch, time, states] of their beginnings."""
def cummax(input: TensorLike, axis: int) -> tuple[Tensor, ...]:
    """Running maximum along an axis and where it is."""
def cumprod(input: TensorLike, dim: int, dtype: _DType | None = None) -> Tensor:
    """Running product along an axis."""
def cumsum(x: TensorLike, axis: int, dtype: _DType | None = None) -> Tensor:
    """Running sum along an axis."""
def deformable_conv2d(x, weight, offsets, kernel_size, strides, padding, bias=None, dilations: Any = (1, 1, 1, 1), groups: Any = 1, deformable_groups: Any = 1, modulated: Any = True) -> Tensor:
    """Convolution whose windows are read at shifted places and scaled; padding is (top, bottom, left, right)."""
def deg2rad(x: TensorLike) -> Tensor:
    """Degrees to radians."""
def dense(input: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Tensor:
    """x times the transposed weight, plus bias: a fully connected layer over the last dimension."""
def det(input: TensorLike) -> Tensor:
    """The determinant of square matrices."""
def diag_embed(input: TensorLike, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices of zeros with the last dimension of the input on a diagonal."""
def diagflat(input, offset: Any = 0) -> Tensor:
    """A matrix with all elements on a diagonal."""
def diagonal(input: TensorLike, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of the matrices two dimensions make, as the last dimension of a view."""
def diagonal_scatter(input, src, offset: Any = 0, dim1: Any = 0, dim2: Any = 1) -> Tensor:
    """A copy in which src stands on a diagonal."""
def dict_getitem(x, index):
    """The item at an index."""
def dict_setitem(x, key, value):
    """A copy with another value at a key."""
def diff(x, n: Any = 1, axis: Any = -1, prepend=None, append=None) -> Tensor:
    """The n-th difference of neighbours along an axis."""
def digamma(input: TensorLike) -> Tensor:
    """The derivative of the logarithm of the gamma function."""
def dist(input, other, p: Any = 2) -> Tensor:
    """The norm of the difference of two tensors."""
@overload
def div(input: TensorLike, other: TensorLike) -> Tensor:
    """Quotient of two tensors, element by element; integers are divided as float32."""
@overload
def div(input: TensorLike, other: TensorLike, *, rounding_mode: str | None = None) -> Tensor:
    """The quotient, rounded down ('floor') or towards zero ('trunc') if asked."""
def div_no_nan(x: TensorLike, y: TensorLike) -> Tensor:
    """The quotient, and zero where the divisor is zero."""
@overload
def divide(input: TensorLike, other: TensorLike) -> Tensor:
    """Quotient of two tensors, element by element; integers are divided as float32."""
@overload
def divide(input: TensorLike, other: TensorLike, *, rounding_mode: str | None = None) -> Tensor:
    """The quotient, rounded down ('floor') or towards zero ('trunc') if asked."""
def dropout(input, p: Any = 0.5, training: Any = True, seed=None) -> Tensor:
    """Zero elements with probability p and scale the others, while training."""
def dropout1d(input, p: Any = 0.5, training: Any = True) -> Tensor:
    """Zero whole channels of [N, C, L] or [C, L]."""
def dropout2d(input, p: Any = 0.5, training: Any = True) -> Tensor:
    """Zero whole channels of [N, C, H, W]."""
def dropout3d(input, p: Any = 0.5, training: Any = True) -> Tensor:
    """Zero whole channels of [N, C, D, H, W]."""
def dyn_shape(input_x) -> Tensor:
    """The shape as a Tensor."""
def elu(input_x: TensorLike, alpha: float = 1.0) -> Tensor:
    """x above zero, alpha (exp(x) - 1) below."""
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type: Any = 2.0, scale_grad_by_freq: Any = False) -> Tensor:
    """Rows of weight by index. The row padding_idx gets no gradient; with max_norm long rows are shortened in place."""
def eq(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements are equal."""
def equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements are equal."""
def erf(input: TensorLike) -> Tensor:
    """The error function of each element."""
def erfc(input: TensorLike) -> Tensor:
    """One minus the error function of each element, exact where that is small."""
def erfinv(input: TensorLike) -> Tensor:
    """The inverse of the error function, for elements in (-1, 1)."""
def exp(input: TensorLike) -> Tensor:
    """e to the power of each element."""
def exp2(input: TensorLike) -> Tensor:
    """2 to the power of each element."""
def expm1(input: TensorLike) -> Tensor:
    """e to the power of x minus 1, exact near zero."""
def fast_gelu(x: TensorLike) -> Tensor:
    """x sigmoid(1.702 x), an approximation of gelu."""
def fft(input, n=None, dim: Any = -1, norm=None) -> Tensor:
    """The Fourier transform along a dimension, which is first cut or filled up with zeros to n elements."""
def fft2(input, s=None, dim: Any = (-2, -1), norm=None) -> Tensor:
    """fft over two dimensions, the last two unless dim says others."""
def fftfreq(n, d: Any = 1.0, dtype=None) -> Tensor:
    """The frequencies of a transform of n elements that are d apart: 0, 1 ... then the negative ones, over n d."""
def flash_attention_score(query, key, value, head_num, real_shift=None, drop_mask=None, padding_mask=None, attn_mask=None, prefix=None, actual_seq_qlen=None, actual_seq_kvlen=None, keep_prob: Any = 1.0, scalar_value: Any = 1.0, pre_tokens: Any = 2147483647, next_tokens: Any = 2147483647, inner_precise: Any = 0, input_layout: Any = 'BSH', sparse_mode: Any = 0) -> Tensor:
    """Attention in `head_num` heads: softmax(scalar_value query key' + real_shift, without what attn_mask hides) value."""
def flatten(input, order: Any = 'C', *, start_dim: Any = 1, end_dim: Any = -1) -> Tensor:
    """Several dimensions as one, by default all but the first."""
def float_power(input: TensorLike, exponent: TensorLike) -> Tensor:
    """The power, computed and given in double precision."""
def floor(input: TensorLike) -> Tensor:
    """The largest integer not above each element."""
def floor_div(x: TensorLike, y: TensorLike) -> Tensor:
    """The quotient rounded down; of complex numbers, its real part rounded down."""
def floor_divide(input: TensorLike, other: TensorLike) -> Tensor:
    """The quotient rounded down; of complex numbers, its real part rounded down."""
def floor_mod(x: TensorLike, y: TensorLike) -> Tensor:
    """The remainder of a division rounded down; it has the sign of the divisor."""
def floordiv(input: TensorLike, other: TensorLike) -> Tensor:
    """The quotient rounded down; of complex numbers, its real part rounded down."""
def floormod(x: TensorLike, y: TensorLike) -> Tensor:
    """The remainder of a division rounded down; it has the sign of the divisor."""
def fmax(input: TensorLike, other: TensorLike) -> Tensor:
    """The larger of two tensors; a number where one of them is NaN."""
def fmin(input: TensorLike, other: TensorLike) -> Tensor:
    """The smaller of two tensors; a number where one of them is NaN."""
def fmod(input: TensorLike, other: TensorLike) -> Tensor:
    """The remainder of a division rounded towards zero; it has the sign of the dividend."""
def fold(input, output_size, kernel_size, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Columns of windows added back to an image of output_size."""
def frac(x: TensorLike) -> Tensor:
    """The fractional part of each element, with its sign."""
def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None, return_indices: Any = False, _random_samples=None) -> Tensor:
    """The largest element of windows of an image, which lie at random so that output_size of them cover it."""
def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None, return_indices: Any = False, _random_samples=None) -> Tensor:
    """The largest element of windows of a volume, which lie at random so that output_size of them cover it."""
def gather(input_params, input_indices, axis, batch_dims: Any = 0) -> Tensor:
    """Slices along a dimension, one for each index."""
def gather_d(x: TensorLike, dim: int, index: TensorLike) -> Tensor:
    """For each element of index the element of x at the same position but for one axis, where index tells it."""
def gather_elements(input: TensorLike, dim: int, index: TensorLike) -> Tensor:
    """For each element of index the element of x at the same position but for one axis, where index tells it."""
def gather_nd(input_x: TensorLike, indices: TensorLike) -> Tensor:
    """Elements or slices by coordinates: the last dimension of the indices holds one coordinate tuple."""
def gaussian_nll_loss(x, target, var, full: Any = False, eps: Any = 1e-06, reduction: Any = 'mean') -> Tensor:
    """Minus the log density of target under normal distributions."""
def gcd(input: TensorLike, other: TensorLike) -> Tensor:
    """The greatest common divisor, never negative."""
def ge(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are larger or equal."""
def gelu(input, approximate: Any = 'none') -> Tensor:
    """x times the probability that a normal variable is below x; 'tanh' approximates it."""
def ger(input: TensorLike, vec2: TensorLike) -> Tensor:
    """The outer product of two vectors; an input of more dimensions counts as one row of its elements."""
def glu(x, axis: Any = -1) -> Tensor:
    """The first half times sigmoid of the second half."""
def greater(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are larger."""
def greater_equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are larger or equal."""
def grid_sample(input, grid, mode: Any = 'bilinear', padding_mode: Any = 'zeros', align_corners=None) -> Tensor:
    """Images or volumes read at places between -1 and 1."""
def group_norm(input, num_groups, weight=None, bias=None, eps: Any = 1e-05) -> Tensor:
    """Normalise every group of channels of every sample."""
def gt(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are larger."""
def gumbel_softmax(logits, tau: Any = 1.0, hard: Any = False, dim: Any = -1) -> Tensor:
    """A sample of the Gumbel-softmax distribution; hard gives one-hot vectors with the gradient of the soft ones."""
def hamming_window(window_length, periodic: Any = True, alpha: Any = 0.54, beta: Any = 0.46, *, dtype=None) -> Tensor:
    """A bell of one cosine on a pedestal: alpha minus beta times the cosine."""
def hann_window(window_length, periodic: Any = True, *, dtype=None) -> Tensor:
    """A bell of one cosine, from zero to one and back; float64 unless said otherwise."""
def hardshrink(input: TensorLike, lambd: float = 0.5) -> Tensor:
    """x, and zero where |x| is at most lambd."""
def hardsigmoid(input: TensorLike) -> Tensor:
    """x / 6 + 1 / 2 kept between 0 and 1."""
def hardswish(input: TensorLike) -> Tensor:
    """x times hardsigmoid(x)."""
def hardtanh(input: TensorLike, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x kept between min_val and max_val."""
def hastype(x, kind):
    """Whether a value is of a type."""
def heaviside(input: TensorLike, values: TensorLike) -> Tensor:
    """0 for negative elements, 1 for positive ones, the second operand at zero."""
def hfft(input, n=None, dim: Any = -1, norm=None) -> Tensor:
    """The transform of a Hermitian signal given by its first half: n real numbers."""
def hfft2(input, s=None, dim: Any = (-2, -1), norm=None) -> Tensor:
    """hfft along the last of two dimensions, fft along the other."""
def hinge_embedding_loss(inputs, targets, margin: Any = 1.0, reduction: Any = 'mean') -> Tensor:
    """x where the target is 1, max(0, margin - x) where it is -1."""
def histc(input: TensorLike, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """How many elements fall into each of the bins between min and max."""
def huber_loss(input: TensorLike, target: TensorLike, reduction: str = 'mean', delta: float = 1.0) -> Tensor:
    """Half the squared difference up to delta, linear beyond."""
def hypot(input: TensorLike, other: TensorLike) -> Tensor:
    """The square root of x squared plus y squared, without overflow on the way."""
def ifft(input, n=None, dim: Any = -1, norm=None) -> Tensor:
    """The inverse of fft; its factor is 1/n where fft has none."""
def ifft2(input, s=None, dim: Any = (-2, -1), norm=None) -> Tensor:
    """The inverse of fft2."""
def igamma(input: TensorLike, other: TensorLike) -> Tensor:
    """The lower incomplete gamma function of order a at x, as a share of the gamma function."""
def igammac(input: TensorLike, other: TensorLike) -> Tensor:
    """The upper incomplete gamma function of order a at x, as a share of the gamma function."""
def ihfft(input, n=None, dim: Any = -1, norm=None) -> Tensor:
    """The inverse of hfft: the first half of a Hermitian signal from real numbers."""
def ihfft2(input, s=None, dim: Any = (-2, -1), norm=None) -> Tensor:
    """The inverse of hfft2."""
def imag(input: TensorLike) -> Tensor:
    """The imaginary part; zero for real numbers."""
def in_dict(key, x):
    """Whether a key is in a dict."""
def index_add(x, indices, y, axis, use_lock: Any = True, check_index_bound: Any = True) -> Tensor:
    """Add y to slices of a Parameter along a dimension, in place."""
def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats: Any = True, momentum: Any = 0.1, eps: Any = 1e-05) -> Tensor:
    """Normalise every channel of every sample; the kept statistics move along, or are used instead."""
def interpolate(input, size=None, scale_factor=None, mode: Any = 'nearest', align_corners=None, recompute_scale_factor=None) -> Tensor:
    """Resize the spatial axes to a size, or by a factor."""
def inv(x: TensorLike) -> Tensor:
    """One over each element."""
def inverse(input: TensorLike) -> Tensor:
    """The inverse of square matrices."""
def invert(x: TensorLike) -> Tensor:
    """The bits reversed."""
def iou(anchor_boxes: TensorLike, gt_boxes: TensorLike, mode: str = 'iou') -> Tensor:
    """Common area of boxes over their union (iou), or over the second box (iof), for all pairs."""
def irfft(input, n=None, dim: Any = -1, norm=None) -> Tensor:
    """The inverse of rfft: a real signal of n elements, 2 (m - 1) of m when n is not given."""
def irfft2(input, s=None, dim: Any = (-2, -1), norm=None) -> Tensor:
    """The inverse of rfft2."""
def is_(x, y):
    """Whether both are one object."""
def is_not(x, y):
    """Whether they are different objects."""
def isclose(input: TensorLike, other: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether |x - y| <= atol + rtol |y|, element by element."""
def isconstant(x):
    """Whether the value is known: it always is when operators run at once."""
def isfinite(input: TensorLike) -> Tensor:
    """Whether each element is finite."""
def isinf(input: TensorLike) -> Tensor:
    """Whether each element is infinite."""
def isnan(input: TensorLike) -> Tensor:
    """Whether each element is not a number."""
def isneginf(input: TensorLike) -> Tensor:
    """Whether each element is minus infinity."""
def isposinf(input: TensorLike) -> Tensor:
    """Whether each element is plus infinity."""
def kaiser_window(window_length, periodic: Any = True, beta: Any = 12.0, *, dtype=None) -> Tensor:
    """A bell of Kaiser's form; the larger beta, the narrower it is. float64 unless said otherwise."""
def kl_div(logits: TensorLike, labels: TensorLike, reduction: str = 'mean') -> Tensor:
    """labels (log(labels) - logits): Kullback-Leibler divergence, logits being logarithms."""
def l1_loss(input: TensorLike, target: TensorLike, reduction: str = 'mean') -> Tensor:
    """Absolute value of the difference."""
def layer_norm(input, normalized_shape, weight=None, bias=None, eps: Any = 1e-05) -> Tensor:
    """Normalise over the last axes, whose shape is normalized_shape."""
def lcm(input: TensorLike, other: TensorLike) -> Tensor:
    """The least common multiple, never negative."""
def ldexp(x: TensorLike, other: TensorLike) -> Tensor:
    """x times 2 to the power of y."""
def le(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are smaller or equal."""
def leaky_relu(input: TensorLike, alpha: float = 0.2) -> Tensor:
    """x above zero, alpha times x below."""
def lerp(input: TensorLike, end: TensorLike, weight: TensorLike) -> Tensor:
    """x plus weight times (end - x)."""
def less(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are smaller."""
def less_equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are smaller or equal."""
def lgamma(input: TensorLike) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""
def list_equal(x, y):
    """Whether two sequences are equal."""
def list_getitem(x, index):
    """The item at an index."""
def list_len(x):
    """The number of items."""
def list_setitem(x, index, value):
    """A copy with another item at an index."""
def log(input: TensorLike) -> Tensor:
    """The natural logarithm of each element."""
def log10(input: TensorLike) -> Tensor:
    """The logarithm of each element to base 10."""
def log1p(input: TensorLike) -> Tensor:
    """The natural logarithm of 1 + x, exact near zero."""
def log2(input: TensorLike) -> Tensor:
    """The logarithm of each element to base 2."""
def log_matrix_determinant(input: TensorLike) -> tuple[Tensor, ...]:
    """The sign of the determinant of square matrices and the logarithm of its size."""
def log_softmax(logits: TensorLike, axis: int | Sequence[int] = -1) -> Tensor:
    """The logarithm of softmax, computed without taking the logarithm of small numbers."""
def logaddexp(input: TensorLike, other: TensorLike) -> Tensor:
    """log(exp(x) + exp(y)), without overflow on the way."""
def logaddexp2(input: TensorLike, other: TensorLike) -> Tensor:
    """The same to base 2."""
def logcumsumexp(input: TensorLike, axis: int) -> Tensor:
    """The logarithm of the running sum of exponentials."""
def logical_and(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether both elements are true (not zero)."""
def logical_not(input: TensorLike) -> Tensor:
    """Whether each element is false (zero)."""
def logical_or(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether one of the elements is true (not zero)."""
def logical_xor(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether exactly one of the elements is true (not zero)."""
def logsigmoid(x: TensorLike) -> Tensor:
    """The logarithm of sigmoid(x), exact for large negative x."""
def logspace(start, end, steps, base: Any = 10, *, dtype: Any = ...) -> Tensor:
    """base to the power of numbers evenly spaced from start to end."""
@overload
def logsumexp(input: TensorLike, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials over axes, without overflow on the way."""
@overload
def logsumexp(input: TensorLike, axis: int | Sequence[int], keep_dims: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials over axes, without overflow on the way."""
def lp_pool1d(x, norm_type, kernel_size, stride=None, ceil_mode: Any = False) -> Tensor:
    """The p-norm of each window of the last axis."""
def lp_pool2d(x, norm_type, kernel_size, stride=None, ceil_mode: Any = False) -> Tensor:
    """The p-norm of each window of the last two axes."""
def lrn(x: TensorLike, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, norm_region: str = 'ACROSS_CHANNELS') -> Tensor:
    """Divide by (bias + alpha * sum of squares of the neighbouring channels) to the power of beta."""
def lt(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are smaller."""
def lu_unpack(LU_data, LU_pivots, unpack_data: Any = True, unpack_pivots: Any = True):
    """The permutation and the factors L and U, apart, of factors in one matrix. Pivots count from one."""
def make_dict(keys, values):
    """A dict of keys and values."""
def make_list(*items):
    """The arguments as a list."""
def make_range(*args):
    """The numbers of a Python range as a tuple."""
def make_slice(start, stop, step):
    """A slice."""
def make_tuple(*items):
    """The arguments as a tuple."""
def margin_ranking_loss(input1, input2, target, margin: Any = 0.0, reduction: Any = 'mean') -> Tensor:
    """max(0, margin - target (input1 - input2))."""
def masked_select(input: TensorLike, mask: TensorLike) -> Tensor:
    """The elements where the mask is true, as a list; both are broadcast together."""
def matmul(input: TensorLike, other: TensorLike) -> Tensor:
    """Matrix product: vectors, matrices, or batches of matrices whose leading dimensions broadcast."""
def matrix_determinant(input: TensorLike) -> Tensor:
    """The determinant of square matrices."""
def matrix_diag(x, k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0, align: Any = 'RIGHT_LEFT') -> Tensor:
    """Matrices with the given diagonals, and padding_value elsewhere. k: which diagonal, or the lowest and the highest."""
def matrix_diag_part(x, k, padding_value, align: Any = 'RIGHT_LEFT') -> Tensor:
    """Diagonals of matrices; what shorter ones lack is padding_value."""
def matrix_norm(A, ord: Any = 'fro', axis: Any = (-2, -1), keepdims: Any = False, *, dtype=None) -> Tensor:
    """The norm of matrices that two axes span."""
def matrix_set_diag(x, diagonal, k: Any = 0, align: Any = 'RIGHT_LEFT') -> Tensor:
    """Matrices with some diagonals replaced."""
def matrix_solve(matrix, rhs, adjoint: Any = False) -> Tensor:
    """The x with matrix x = rhs; adjoint: with the transposed matrix."""
def max(input, axis=None, keepdims: Any = False, *, initial=None, where=None):
    """The maximum along an axis and where it is."""
def max_pool2d(x, kernel_size, stride=None, padding: Any = 0, dilation: Any = 1, return_indices: Any = False, ceil_mode: Any = False):
    """The largest element of each window of [N, C, H, W]."""
def max_pool3d(x, kernel_size, stride=None, padding: Any = 0, dilation: Any = 1, ceil_mode: Any = False, return_indices: Any = False) -> Tensor:
    """The largest element of each window of [N, C, D, H, W]."""
def max_unpool1d(x, indices, kernel_size, stride=None, padding: Any = 0, output_size=None) -> Tensor:
    """max_pool1d undone: maxima back at their places, zeros elsewhere."""
def max_unpool2d(x, indices, kernel_size, stride=None, padding: Any = 0, output_size=None) -> Tensor:
    """max_pool2d undone: maxima back at their places, zeros elsewhere."""
def max_unpool3d(x, indices, kernel_size, stride=None, padding: Any = 0, output_size=None) -> Tensor:
    """max_pool3d undone: maxima back at their places, zeros elsewhere."""
def maximum(input: TensorLike, other: TensorLike) -> Tensor:
    """The larger of two tensors, element by element."""
def mean(x: TensorLike, axis: int | Sequence[int] | None = None, keep_dims: bool = False) -> Tensor:
    """Mean over axes (all when none are given)."""
def median(input: TensorLike, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, ...]:
    """The middle element along an axis (the lower of two) and where it is."""
def meshgrid(*inputs, indexing: Any = 'xy'):
    """One grid per vector: each varies along its own dimension."""
def min(input, axis=None, keepdims: Any = False, *, initial=None, where=None):
    """The minimum along an axis and where it is."""
def minimum(input: TensorLike, other: TensorLike) -> Tensor:
    """The smaller of two tensors, element by element."""
def mish(x: TensorLike) -> Tensor:
    """x times the hyperbolic tangent of softplus(x)."""
def mm(input: TensorLike, mat2: TensorLike) -> Tensor:
    """Matrix product: vectors, matrices, or batches of matrices whose leading dimensions broadcast."""
def mse_loss(input: TensorLike, target: TensorLike, reduction: str = 'mean') -> Tensor:
    """Square of the difference."""
def mul(input: TensorLike, other: TensorLike) -> Tensor:
    """Product of two tensors, element by element."""
def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training: Any = True, key_padding_mask=None, attn_mask=None, use_separate_proj_weight: Any = False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None, average_attn_weights: Any = True, is_causal: Any = False, k_is_v: Any = False, q_is_k: Any = False, dtype: Any = ...):
    """Attention of [length, batch, features] (or without batch) in several heads. Gives the result and the weights."""
def multi_margin_loss(input, target, p: Any = 1, margin: Any = 1, weight=None, reduction: Any = 'mean') -> Tensor:
    """Mean over the other classes of max(0, margin - score of the target + score)^p."""
def multilabel_margin_loss(input, target, reduction: Any = 'mean') -> Tensor:
    """Over targets (those before the first -1) and other classes: sum of max(0, 1 - score of target + score) / classes."""
def multilabel_soft_margin_loss(input, target, weight=None, reduction: Any = 'mean') -> Tensor:
    """Mean over classes of the binary cross entropy of sigmoid(input)."""
def multinomial(input, num_samples, replacement: Any = True, seed=None) -> Tensor:
    """Categories drawn with the given weights."""
def multinomial_with_replacement(x, seed, offset, numsamples, replacement: Any = False) -> Tensor:
    """Categories drawn with the given weights, each row for itself."""
def multiply(input: TensorLike, other: TensorLike) -> Tensor:
    """Product of two tensors, element by element."""
def nan_to_num(input: TensorLike, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """NaN replaced by zero and infinities by the largest finite numbers, or by the values given."""
def nanmean(input: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False, *, dtype: _DType | None = None) -> Tensor:
    """Mean over axes of what is not NaN."""
def nanmedian(input: TensorLike, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, ...]:
    """The middle element along an axis (the lower of two) and where it is."""
def nanquantile(input, q, axis=None, keepdims: Any = False) -> Tensor:
    """The same, of what is not NaN."""
def nansum(input: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False, *, dtype: _DType | None = None) -> Tensor:
    """Sum over axes of what is not NaN."""
def ndtr(input: TensorLike) -> Tensor:
    """The share of the standard normal distribution that is below each element."""
def ne(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements differ."""
def neg(input: TensorLike) -> Tensor:
    """The negative of each element."""
def negative(input: TensorLike) -> Tensor:
    """The negative of each element."""
def nextafter(input: TensorLike, other: TensorLike) -> Tensor:
    """The next number of the dtype after x in the direction of y."""
def nll_loss(inputs, target, weight=None, ignore_index: Any = -100, reduction: Any = 'mean', label_smoothing: Any = 0.0) -> Tensor:
    """Minus the log probability of the target class."""
def nonzero(input, *, as_tuple: Any = False):
    """The positions of elements that are not zero: a row each, or a vector for each dimension."""
def norm(A, ord=None, dim=None, keepdim: Any = False, *, dtype=None) -> Tensor:
    """The norm of a tensor: of all its elements, of vectors (one dim) or of matrices (two dims, or rank 2 with an ord)."""
def normalize(input, p: Any = 2.0, dim: Any = 1, eps: Any = 1e-12) -> Tensor:
    """Divide by the p-norm over dim, which is at least eps."""
def not_equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements differ."""
def not_in_dict(key, x):
    """Whether a key is not in a dict."""
def one_hot(indices, depth, on_value: Any = 1, off_value: Any = 0, axis: Any = -1) -> Tensor:
    """on_value at the position each index names along a new dimension, off_value elsewhere."""
def ormqr(input, tau, other, left: Any = True, transpose: Any = False) -> Tensor:
    """Q times other, or other times Q (left=False), with the Q of geqrf; transpose: with Q turned around."""
def outer(input: TensorLike, vec2: TensorLike) -> Tensor:
    """The outer product of two vectors; an input of more dimensions counts as one row of its elements."""
def pad(input_x, padding=None, mode: Any = 'constant', value=None, *, paddings=None) -> Tensor:
    """More elements at the ends of dimensions. padding lists (before, after) from the last dimension on. The form of older scripts, a pair for each dimension from the first on, is taken too."""
def padding(x, pad_dim_size: Any = 8) -> Tensor:
    """The last dimension, of size 1, filled up with zeros."""
def pdist(input, p: Any = 2.0) -> Tensor:
    """The distances between all pairs of rows, (0, 1), (0, 2), ... (1, 2), ..."""
def permute(input: TensorLike, axis: int | Sequence[int]) -> Tensor:
    """The dimensions in another order; reversed when no order is given."""
def pinv(x, *, atol=None, rtol=None, hermitian: Any = False) -> Tensor:
    """The pseudo-inverse: singular values are inverted, those not above the larger of atol and rtol times the largest one are taken for zero. rtol is, if neither is given, the larger size times the rounding step of the dtype."""
def pixel_shuffle(input: TensorLike, upscale_factor: int) -> Tensor:
    """Channels of groups of factor * factor become blocks of pixels."""
def pixel_unshuffle(input: TensorLike, downscale_factor: int) -> Tensor:
    """Blocks of pixels become channels: pixel_shuffle undone."""
def poisson_nll_loss(input, target, log_input: Any = True, full: Any = False, eps: Any = 1e-08, reduction: Any = 'mean') -> Tensor:
    """Minus the log likelihood of counts under Poisson distributions."""
def polar(abs: TensorLike, angle: TensorLike) -> Tensor:
    """Complex numbers from their distance and angle."""
def polygamma(n: int, input: TensorLike) -> Tensor:
    """The n-th derivative of digamma."""
def pow(input: TensorLike, exponent: TensorLike) -> Tensor:
    """The first operand to the power of the second, element by element."""
def prelu(input: TensorLike, weight: TensorLike) -> Tensor:
    """x above zero, weight times x below, with one weight or one per channel."""
def prod(input: TensorLike, axis: int | Sequence[int] | None = None, keep_dims: bool = False, dtype: _DType | None = None) -> Tensor:
    """Product over axes (all when none are given); integers are multiplied as int64."""
def ptp(x, axis=None, keepdims: Any = False) -> Tensor:
    """The distance from the minimum to the maximum over axes."""
def qr(input, mode: Any = 'reduced'):
    """An orthogonal and an upper triangular matrix whose product is the input. mode 'complete': the first is square."""
def quantile(input, q, axis=None, keepdims: Any = False) -> Tensor:
    """Values below which a share q of the elements along an axis lies, interpolated."""
def rad2deg(x: TensorLike) -> Tensor:
    """Radians to degrees."""
def random_categorical(logits, num_sample, seed: Any = 0, dtype: Any = ...) -> Tensor:
    """Categories drawn with the softmax of the rows as weights."""
def random_poisson(shape, rate, seed=None, dtype: Any = ...) -> Tensor:
    """Poisson distributed numbers: of the given shape for each element of the rate."""
def randperm(n, seed: Any = 0, offset: Any = 0, dtype: Any = ...) -> Tensor:
    """The numbers 0 to n - 1 in random order."""
def range(start, end, step, maxlen: Any = 1000000) -> Tensor:
    """Numbers from start up to end, without it, in steps."""
def real(input: TensorLike) -> Tensor:
    """The real part."""
def reciprocal(input: TensorLike) -> Tensor:
    """One over each element."""
def reduce_max(x: TensorLike, axis: int | Sequence[int] = ()) -> Tensor:
    """Maximum over axes (all when none are given); NaN if there is one."""
def reduce_mean(x: TensorLike, axis: int | Sequence[int] = ()) -> Tensor:
    """Mean over axes (all when none are given)."""
def reduce_min(x: TensorLike, axis: int | Sequence[int] = ()) -> Tensor:
    """Minimum over axes (all when none are given); NaN if there is one."""
def reduce_sum(x: TensorLike, axis: int | Sequence[int] = ()) -> Tensor:
    """Sum over axes in the dtype of the input."""
def reduced_shape(shape, axis):
    """A shape with the reduced axes made 1."""
def relu(input, inplace: Any = False) -> Tensor:
    """The larger of zero and each element."""
def relu6(x: TensorLike) -> Tensor:
    """x kept between 0 and 6."""
def remainder(input: TensorLike, other: TensorLike) -> Tensor:
    """The remainder of a division rounded down; it has the sign of the divisor."""
def repeat_elements(x, rep, axis: Any = 0) -> Tensor:
    """Each slice along a dimension repeated in place."""
def reshape(input: TensorLike, shape: int | Sequence[int]) -> Tensor:
    """The same elements in the same order under another shape; one dimension may be -1."""
def reverse_sequence(x, seq_lengths, seq_dim, batch_dim: Any = 0) -> Tensor:
    """The first seq_lengths[b] elements of each sequence in reverse, the others in place."""
def rfft(input, n=None, dim: Any = -1, norm=None) -> Tensor:
    """The Fourier transform of a real signal: n // 2 + 1 numbers, the others being their conjugates."""
def rfft2(input, s=None, dim: Any = (-2, -1), norm=None) -> Tensor:
    """rfft along the last of two dimensions, fft along the other."""
def rfftfreq(n, d: Any = 1.0, dtype=None) -> Tensor:
    """The frequencies of rfft of n elements that are d apart."""
def rms_norm(x: TensorLike, gamma: TensorLike, epsilon: float = 1e-06) -> tuple[Tensor, ...]:
    """Divide by the root of the mean square over the last axes and scale by gamma; also gives one over that root."""
def roll(input: TensorLike, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Tensor:
    """Elements moved along dimensions; what leaves at one end enters at the other. Without dimensions the tensor is taken as one row."""
def round(input: TensorLike, *, decimals: int = 0) -> Tensor:
    """Each element rounded to a number of decimals, halves to even."""
def rrelu(input, lower: Any = 0.125, upper: Any = 0.3333333333333333) -> Tensor:
    """x above zero, x times a random slope between lower and upper below."""
def rsqrt(input: TensorLike) -> Tensor:
    """One over the square root of each element."""
def scalar_add(*args):
    """add of Python numbers."""
def scalar_cast(input_x, input_y):
    """A Python number converted to the kind of a dtype."""
def scalar_div(*args):
    """div of Python numbers."""
def scalar_eq(*args):
    """eq of Python numbers."""
def scalar_floordiv(*args):
    """floordiv of Python numbers."""
def scalar_ge(*args):
    """ge of Python numbers."""
def scalar_gt(*args):
    """gt of Python numbers."""
def scalar_le(*args):
    """le of Python numbers."""
def scalar_log(*args):
    """log of Python numbers."""
def scalar_lt(*args):
    """lt of Python numbers."""
def scalar_max(*args):
    """max of Python numbers."""
def scalar_min(*args):
    """min of Python numbers."""
def scalar_mod(*args):
    """mod of Python numbers."""
def scalar_mul(*args):
    """mul of Python numbers."""
def scalar_ne(*args):
    """ne of Python numbers."""
def scalar_pow(*args):
    """pow of Python numbers."""
def scalar_sub(*args):
    """sub of Python numbers."""
def scalar_to_array(input_x) -> Tensor:
    """A Tensor of rank 0 from a Python number, in its own dtype."""
def scalar_to_tensor(input_x, dtype=None) -> Tensor:
    """A Tensor of rank 0 from a Python number; float32 unless told."""
def scalar_uadd(*args):
    """uadd of Python numbers."""
def scalar_usub(*args):
    """usub of Python numbers."""
def scatter_nd_add(input_x, indices, updates, use_locking: Any = False):
    """Combine updates into a Parameter at coordinates, in place."""
def scatter_nd_div(input_x, indices, updates, use_locking: Any = False):
    """Combine updates into a Parameter at coordinates, in place."""
def scatter_nd_max(input_x, indices, updates, use_locking: Any = False):
    """Combine updates into a Parameter at coordinates, in place."""
def scatter_nd_min(input_x, indices, updates, use_locking: Any = False):
    """Combine updates into a Parameter at coordinates, in place."""
def scatter_nd_mul(input_x, indices, updates, use_locking: Any = False):
    """Combine updates into a Parameter at coordinates, in place."""
def scatter_nd_sub(input_x, indices, updates, use_locking: Any = False):
    """Combine updates into a Parameter at coordinates, in place."""
def scatter_nd_update(input_x, indices, updates, use_locking: Any = False):
    """Combine updates into a Parameter at coordinates, in place."""
def searchsorted(sorted_sequence, values, *, out_int32: Any = False, right: Any = False, side=None, sorter=None) -> Tensor:
    """Where each value would go into a sorted row."""
def selu(input_x: TensorLike) -> Tensor:
    """elu with the scale and alpha that keep mean 0 and variance 1."""
def shape_(x):
    """The shape as a tuple of ints."""
def shape_mul(input_data):
    """The product of the items of a shape."""
def sigmoid(input: TensorLike) -> Tensor:
    """1 / (1 + exp(-x)) of each element."""
def sign(input: TensorLike) -> Tensor:
    """-1, 0 or 1 by the sign of each element; of a complex number the number of size 1 in its direction."""
def signbit(input: TensorLike) -> Tensor:
    """Whether the sign bit of each element is set."""
def silu(input: TensorLike) -> Tensor:
    """x times sigmoid(x)."""
def sin(input: TensorLike) -> Tensor:
    """The sine of each element."""
def sinc(input: TensorLike) -> Tensor:
    """sin(pi x) / (pi x), and 1 at zero."""
def sinh(input: TensorLike) -> Tensor:
    """The hyperbolic sine of each element."""
def slice_scatter(input, src, axis: Any = 0, start=None, end=None, step: Any = 1) -> Tensor:
    """A copy in which start:end:step along a dimension is src."""
def slogdet(input: TensorLike) -> tuple[Tensor, ...]:
    """The sign of the determinant of square matrices and the logarithm of its size."""
def smooth_l1_loss(input: TensorLike, target: TensorLike, beta: float = 1.0, reduction: str = 'none') -> Tensor:
    """Absolute difference, rounded to a parabola below beta."""
def soft_margin_loss(input, target, reduction: Any = 'mean') -> Tensor:
    """log(1 + exp(-target input))."""
def soft_shrink(input, lambd: Any = 0.5) -> Tensor:
    """See ops.softshrink."""
def softmax(input, axis: Any = -1, *, dtype=None) -> Tensor:
    """exp(x) divided by its sum along an axis."""
def softmin(x, axis: Any = -1, *, dtype=None) -> Tensor:
    """softmax of -x."""
def softplus(input, beta: Any = 1, threshold: Any = 20) -> Tensor:
    """log(1 + exp(beta x)) / beta, linear where beta x is above threshold."""
def softshrink(input: TensorLike, lambd: float = 0.5) -> Tensor:
    """x moved towards zero by lambd, and zero where |x| is at most lambd."""
def softsign(x: TensorLike) -> Tensor:
    """x / (1 + |x|)."""
def solve_triangular(a, b, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False) -> Tensor:
    """The x with a x = b, where a is upper (or lower) triangular; trans 1 or 'T': with a transposed, 2 or 'C': and conjugated. b is a matrix, or a vector."""
def sort(input_x, axis: Any = -1, descending: Any = False):
    """The elements in order along a dimension, and where they came from."""
def split(tensor, split_size_or_sections, axis: Any = 0):
    """Pieces of one size (the last may be smaller) or of the sizes given."""
def sqrt(x: TensorLike) -> Tensor:
    """The square root of each element."""
def square(input: TensorLike) -> Tensor:
    """Each element times itself."""
def stack(tensors, axis: Any = 0) -> Tensor:
    """Joined along a new dimension."""
def std(input: TensorLike, axis: int | Sequence[int] | None = None, ddof: float = 0, keepdims: bool = False) -> Tensor:
    """Standard deviation over axes."""
def std_mean(input: TensorLike, axis: int | Sequence[int] | None = None, ddof: float = 0, keepdims: bool = False) -> tuple[Tensor, ...]:
    """Standard deviation and mean over axes."""
def stft(x, n_fft, hop_length=None, win_length=None, window=None, center: Any = True, pad_mode: Any = 'REFLECT', normalized: Any = False, onesided=None, return_complex=None) -> Tensor:
    """Fourier transforms of pieces of a signal, hop_length apart: [..., frequency, piece], and 2 where complex numbers are shown as pairs."""
def strided_slice(input_x, begin, end, strides, begin_mask: Any = 0, end_mask: Any = 0, ellipsis_mask: Any = 0, new_axis_mask: Any = 0, shrink_axis_mask: Any = 0) -> Tensor:
    """x[begin:end:strides]; bit i of a mask changes what entry i means."""
def string_concat(*args):
    """concat of Python numbers."""
def string_eq(*args):
    """eq of Python numbers."""
def sub(input: TensorLike, other: TensorLike) -> Tensor:
    """Difference of two tensors, element by element."""
def subtract(input: TensorLike, other: TensorLike, *, alpha: float = 1) -> Tensor:
    """x minus alpha times y; truth values are subtracted as numbers."""
def sum(input: TensorLike, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: _DType | None = None) -> Tensor:
    """Sum over axes (all when none are given); integers are added as int64."""
def svd(input, full_matrices: Any = False, compute_uv: Any = True):
    """Singular values in descending order, left and right singular vectors as columns: input = u diag(s) v transposed."""
def swiglu(input, dim: Any = -1) -> Tensor:
    """silu of the first half, times the second half."""
def tan(input: TensorLike) -> Tensor:
    """The tangent of each element."""
def tanh(input: TensorLike) -> Tensor:
    """The hyperbolic tangent of each element."""
def tanhshrink(input: TensorLike) -> Tensor:
    """x minus its hyperbolic tangent."""
def tensor_add(input: TensorLike, other: TensorLike) -> Tensor:
    """Sum of two tensors, element by element."""
def tensor_div(x: TensorLike, y: TensorLike) -> Tensor:
    """Quotient of two tensors, element by element; integers are divided as float32."""
def tensor_exp(input: TensorLike) -> Tensor:
    """e to the power of each element."""
def tensor_expm1(input: TensorLike) -> Tensor:
    """e to the power of x minus 1, exact near zero."""
def tensor_floordiv(input: TensorLike, other: TensorLike) -> Tensor:
    """The quotient rounded down; of complex numbers, its real part rounded down."""
def tensor_ge(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are larger or equal."""
def tensor_gt(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are larger."""
def tensor_le(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are smaller or equal."""
def tensor_lt(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are smaller."""
def tensor_mod(x: TensorLike, y: TensorLike) -> Tensor:
    """The remainder of a division rounded down; it has the sign of the divisor."""
def tensor_mul(input: TensorLike, other: TensorLike) -> Tensor:
    """Product of two tensors, element by element."""
def tensor_pow(input: TensorLike, exponent: TensorLike) -> Tensor:
    """The first operand to the power of the second, element by element."""
def tensor_range(start, end, step) -> Tensor:
    """The same as range."""
def tensor_scatter_elements(input_x, indices, updates, axis: Any = 0, reduction: Any = 'none') -> Tensor:
    """A copy in which each update goes to its own position but for one dimension, where indices tell."""
def tensor_split(input, indices_or_sections, axis: Any = 0):
    """As many pieces as asked for, the first ones larger by one; or cut before the given positions."""
def tensor_sub(input: TensorLike, other: TensorLike) -> Tensor:
    """Difference of two tensors, element by element."""
def threshold(input: TensorLike, thr: float, value: float) -> Tensor:
    """x above the threshold, value elsewhere."""
def tile(input: TensorLike, dims: int | Sequence[int]) -> Tensor:
    """The tensor repeated as a whole along each dimension; missing repetitions are 1, missing dimensions are added in front."""
def top_k(input_x, k, sorted: Any = True):
    """The k largest elements of each row, and where they stand."""
def topk(input, k, dim=None, largest: Any = True, sorted: Any = True):
    """The k largest elements along a dimension, and where they are."""
def trace(input: TensorLike) -> Tensor:
    """The sum of the diagonal of a matrix."""
@overload
def transpose(input: TensorLike, input_perm: int | Sequence[int]) -> Tensor:
    """The dimensions in another order; reversed when no order is given."""
@overload
def transpose(input: TensorLike, dims: int | Sequence[int]) -> Tensor:
    """The dimensions in another order; reversed when no order is given."""
def trapz(y, x=None, *, dx: Any = 1.0, dim: Any = -1) -> Tensor:
    """The area under y by the trapezoidal rule, over points x or steps of dx."""
def tril(input: TensorLike, diagonal: int = 0) -> Tensor:
    """The lower triangle of each matrix, up to the given diagonal; zeros elsewhere."""
def tril_indices(row, col, offset: Any = 0, *, dtype: Any = ...) -> Tensor:
    """The positions of the lower triangle: a row of rows and one of columns."""
def triplet_margin_loss(anchor, positive, negative, margin: Any = 1.0, p: Any = 2, eps: Any = 1e-06, swap: Any = False, reduction: Any = 'mean') -> Tensor:
    """max(0, distance to the positive - distance to the negative + margin)."""
def triu(input: TensorLike, diagonal: int = 0) -> Tensor:
    """The upper triangle of each matrix, from the given diagonal; zeros elsewhere."""
def triu_indices(row, col, offset: Any = 0, *, dtype: Any = ...) -> Tensor:
    """The positions of the upper triangle: a row of rows and one of columns."""
def true_divide(dividend: TensorLike, divisor: TensorLike) -> Tensor:
    """Quotient of two tensors, element by element; integers are divided as float32."""
def trunc(input: TensorLike) -> Tensor:
    """The integer part of each element."""
def truncate_div(x: TensorLike, y: TensorLike) -> Tensor:
    """The quotient rounded towards zero."""
def truncate_mod(x: TensorLike, y: TensorLike) -> Tensor:
    """The remainder of a division rounded towards zero; it has the sign of the dividend."""
def tuple_div(x, y):
    """Whole quotients of the items of two tuples."""
def tuple_equal(x, y):
    """Whether two sequences are equal."""
def tuple_getitem(x, index):
    """The item at an index."""
def tuple_len(x):
    """The number of items."""
def tuple_reversed(x):
    """The items in the other order."""
def tuple_setitem(x, index, value):
    """A copy with another item at an index."""
def typeof(x):
    """The type of a value."""
def unbind(input, dim: Any = 0):
    """The slices along a dimension."""
def unfold(input, kernel_size, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Windows of [n, channels, height, width] as columns [n, channels * kernel, positions]."""
def uniform(shape, minval, maxval, seed=None, dtype: Any = ...) -> Tensor:
    """Numbers in [minval, maxval); both are Tensors, which broadcast."""
def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed: Any = 0, remove_accidental_hits: Any = False):
    """Classes below range_max drawn evenly, and how often the true ones and the drawn ones are expected in a draw."""
def unique_consecutive(input, return_inverse: Any = False, return_counts: Any = False, dim=None):
    """Values without repetitions of the one before; optionally the number of each element's value and their lengths."""
def unstack(input_x, axis: Any = 0):
    """The slices along a dimension."""
def upsample(input, size=None, scale_factor=None, mode: Any = 'nearest', align_corners=None, recompute_scale_factor=None) -> Tensor:
    """Another name of interpolate."""
def var(input: TensorLike, axis: int | Sequence[int] | None = None, ddof: float = 0, keepdims: bool = False) -> Tensor:
    """Variance over axes: the mean of squared distances from the mean."""
def var_mean(input: TensorLike, axis: int | Sequence[int] | None = None, ddof: float = 0, keepdims: bool = False) -> tuple[Tensor, ...]:
    """Variance and mean over axes."""
def vecdot(x, y, *, axis: Any = -1) -> Tensor:
    """Sums of products along an axis, of complex numbers with x conjugated."""
def vector_norm(x, ord: Any = 2, axis=None, keepdims: Any = False, *, dtype=None) -> Tensor:
    """The norm of vectors over axes."""
def xdivy(x: TensorLike, y: TensorLike) -> Tensor:
    """x over y, and zero where x is zero."""
def xlogy(input: TensorLike, other: TensorLike) -> Tensor:
    """x times the logarithm of y, and zero where x is zero."""
def zeta(input: TensorLike, other: TensorLike) -> Tensor:
    """The Hurwitz zeta function of x at y."""
