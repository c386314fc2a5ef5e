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
from spore.mint.nn.layer.activation import ELU as ELU
from spore.mint.nn.layer.activation import GELU as GELU
from spore.mint.nn.layer.activation import GLU as GLU
from spore.mint.nn.layer.activation import Hardtanh as Hardtanh
from spore.mint.nn.layer.activation import Mish as Mish
from spore.mint.nn.layer.activation import ReLU6 as ReLU6
from spore.mint.nn.layer.activation import SiLU as SiLU
from spore.mint.nn.layer.activation import Threshold as Threshold
from spore.mint.nn.layer.conv import Conv1d as Conv1d
from spore.mint.nn.layer.conv import Conv2d as Conv2d
from spore.mint.nn.layer.conv import Conv3d as Conv3d
from spore.mint.nn.layer.conv import ConvTranspose2d as ConvTranspose2d
from spore.mint.nn.layer.loss import BCELoss as BCELoss
from spore.mint.nn.layer.loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from spore.mint.nn.layer.loss import CosineEmbeddingLoss as CosineEmbeddingLoss
from spore.mint.nn.layer.loss import CrossEntropyLoss as CrossEntropyLoss
from spore.mint.nn.layer.loss import KLDivLoss as KLDivLoss
from spore.mint.nn.layer.loss import MSELoss as MSELoss
from spore.mint.nn.layer.loss import NLLLoss as NLLLoss
from spore.mint.nn.layer.loss import SmoothL1Loss as SmoothL1Loss
from spore.mint.nn.layer.normalization import BatchNorm1d as BatchNorm1d
from spore.mint.nn.layer.normalization import BatchNorm2d as BatchNorm2d
from spore.mint.nn.layer.normalization import BatchNorm3d as BatchNorm3d
from spore.mint.nn.layer.normalization import GroupNorm as GroupNorm
from spore.mint.nn.layer.normalization import SyncBatchNorm as SyncBatchNorm
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
from spore.mint.nn.layer.pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from spore.mint.nn.layer.pooling import Fold as Fold
from spore.mint.nn.layer.pooling import Unfold as Unfold
from spore.mint.nn.layer.pooling import Upsample as Upsample
from spore.mint.nn.layer.pooling import UpsamplingBilinear2d as UpsamplingBilinear2d
from spore.mint.nn.layer.pooling import UpsamplingNearest2d as UpsamplingNearest2d
from spore.nn.cell import Cell as Cell
from spore.nn.layer.activation import HShrink as Hardshrink
from spore.nn.layer.activation import HSigmoid as Hardsigmoid
from spore.nn.layer.activation import HSwish as Hardswish
from spore.nn.layer.activation import LogSigmoid as LogSigmoid
from spore.nn.layer.activation import LogSoftmaxExt as LogSoftmax
from spore.nn.layer.activation import PReLUExt as PReLU
from spore.nn.layer.activation import ReLU as ReLU
from spore.nn.layer.activation import SeLU as SELU
from spore.nn.layer.activation import Sigmoid as Sigmoid
from spore.nn.layer.activation import SoftmaxExt as Softmax
from spore.nn.layer.activation import SoftShrink as Softshrink
from spore.nn.layer.activation import Tanh as Tanh
from spore.nn.layer.basic import DropoutExt as Dropout
from spore.nn.layer.basic import Dropout2dExt as Dropout2d
from spore.nn.layer.basic import Flatten as Flatten
from spore.nn.layer.basic import Identity as Identity
from spore.nn.layer.basic import Linear as Linear
from spore.nn.layer.embedding import EmbeddingExt as Embedding
from spore.nn.layer.image import PixelShuffle as PixelShuffle
from spore.nn.layer.normalization import LayerNormExt as LayerNorm
from spore.nn.layer.pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from spore.nn.layer.pooling import AvgPool1dExt as AvgPool1d
from spore.nn.layer.pooling import AvgPool2dExt as AvgPool2d
from spore.nn.layer.pooling import AvgPool3dExt as AvgPool3d
from spore.nn.layer.pooling import MaxPool2dExt as MaxPool2d
from spore.nn.layer.pooling import MaxUnpool2d as MaxUnpool2d
from spore.nn.loss.loss import L1LossExt as L1Loss
from spore.nn.loss.loss import SoftMarginLoss as SoftMarginLoss

__all__: list[str]

