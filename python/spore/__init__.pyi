# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""spore: deep learning with MindSpore's API on an engine written in C."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive
from . import _c_expression as _c_expression
from . import _checkparam as _checkparam
from . import amp as amp
from . import boost as boost
from . import common as common
from . import communication as communication
from . import dataset as dataset
from . import device_context as device_context
from . import experimental as experimental
from . import graph as graph
from . import hal as hal
from . import lite as lite
from . import log as log
from . import mindrecord as mindrecord
from . import mint as mint
from . import multiprocessing as multiprocessing
from . import nn as nn
from . import numpy as numpy
from . import onnx as onnx
from . import ops as ops
from . import parallel as parallel
from . import profiler as profiler
from . import quantization as quantization
from . import rewrite as rewrite
from . import runtime as runtime
from . import scipy as scipy
from . import tflite as tflite
from . import train as train
from . import utils as utils
from . import version as version
from spore._alias import as_mindspore as as_mindspore
from spore._dynamic_profiler import DynamicProfilerMonitor as _DynamicProfilerMonitor
from spore._run_check import run_check as run_check
from spore.amp import DynamicLossScaler as DynamicLossScaler
from spore.amp import LossScaler as LossScaler
from spore.amp import StaticLossScaler as StaticLossScaler
from spore.amp import all_finite as all_finite
from spore.common.api import enable_dynamic as enable_dynamic
from spore.common.api import jit as jit
from spore.common.api import jit_class as jit_class
from spore.common.api import lazy_inline as lazy_inline
from spore.common.api import ms_class as ms_class
from spore.common.api import ms_function as ms_function
from spore.common.api import ms_memory_recycle as ms_memory_recycle
from spore.common.api import no_inline as no_inline
from spore.common.device import DeviceCtx as DeviceCtx
from spore.common.differentiate import GradOperation as _GradOperation
from spore.common.differentiate import _no_grad as _no_grad
from spore.common.differentiate import get_grad as get_grad
from spore.common.differentiate import grad as grad
from spore.common.differentiate import no_grad as no_grad
from spore.common.differentiate import stop_gradient as stop_gradient
from spore.common.differentiate import unrecorded as unrecorded
from spore.common.differentiate import value_and_grad as value_and_grad
from spore.common.dtype import Int as Int
from spore.common.dtype import QuantDtype as QuantDtype
from spore.common.dtype import TensorType as TensorType
from spore.common.dtype import Type as Type
from spore.common.dtype import bfloat16 as bfloat16
from spore.common.dtype import bool_ as bool_
from spore.common.dtype import byte as byte
from spore.common.dtype import cdouble as cdouble
from spore.common.dtype import cfloat as cfloat
from spore.common.dtype import complex128 as complex128
from spore.common.dtype import complex64 as complex64
from spore.common.dtype import double as double
from spore.common.dtype import dtype_to_nptype as dtype_to_nptype
from spore.common.dtype import dtype_to_pytype as dtype_to_pytype
from spore.common.dtype import float16 as float16
from spore.common.dtype import float32 as float32
from spore.common.dtype import float64 as float64
from spore.common.dtype import float8_e4m3fn as float8_e4m3fn
from spore.common.dtype import float8_e5m2 as float8_e5m2
from spore.common.dtype import float_ as float_
from spore.common.dtype import get_py_obj_dtype as get_py_obj_dtype
from spore.common.dtype import half as half
from spore.common.dtype import hifloat8 as hifloat8
from spore.common.dtype import int16 as int16
from spore.common.dtype import int32 as int32
from spore.common.dtype import int64 as int64
from spore.common.dtype import int8 as int8
from spore.common.dtype import int_ as int_
from spore.common.dtype import intc as intc
from spore.common.dtype import intp as intp
from spore.common.dtype import list_ as list_
from spore.common.dtype import long as long
from spore.common.dtype import number as number
from spore.common.dtype import pytype_to_dtype as pytype_to_dtype
from spore.common.dtype import qint4x2 as qint4x2
from spore.common.dtype import short as short
from spore.common.dtype import single as single
from spore.common.dtype import string as string
from spore.common.dtype import tensor_type as tensor_type
from spore.common.dtype import tuple_ as tuple_
from spore.common.dtype import type_none as type_none
from spore.common.dtype import ubyte as ubyte
from spore.common.dtype import uint as uint
from spore.common.dtype import uint16 as uint16
from spore.common.dtype import uint32 as uint32
from spore.common.dtype import uint64 as uint64
from spore.common.dtype import uint8 as uint8
from spore.common.dtype import uintc as uintc
from spore.common.dtype import uintp as uintp
from spore.common.dtype import ushort as ushort
from spore.common.generator import Generator as Generator
from spore.common.generator import default_generator as default_generator
from spore.common.generator import get_rng_state as get_rng_state
from spore.common.generator import initial_seed as initial_seed
from spore.common.generator import manual_seed as manual_seed
from spore.common.generator import seed as seed
from spore.common.generator import set_rng_state as set_rng_state
from spore.common.initializer import Constant as Constant
from spore.common.initializer import Identity as Identity
from spore.common.initializer import Initializer as Initializer
from spore.common.initializer import One as One
from spore.common.initializer import Zero as Zero
from spore.common.initializer import Dirac as _Dirac
from spore.common.initializer import HeNormal as _HeNormal
from spore.common.initializer import HeUniform as _HeUniform
from spore.common.initializer import Normal as _Normal
from spore.common.initializer import Orthogonal as _Orthogonal
from spore.common.initializer import Sparse as _Sparse
from spore.common.initializer import TruncatedNormal as _TruncatedNormal
from spore.common.initializer import Uniform as _Uniform
from spore.common.initializer import VarianceScaling as _VarianceScaling
from spore.common.initializer import XavierNormal as _XavierNormal
from spore.common.initializer import XavierUniform as _XavierUniform
from spore.common.jit_config import JitConfig as _JitConfig
from spore.common.layers import summary as summary
from spore.common.parameter import Parameter as Parameter
from spore.common.parameter import ParameterTuple as ParameterTuple
from spore.common.saved_tensors import register_saved_tensors_hooks as register_saved_tensors_hooks
from spore.common.saved_tensors import saved_tensors_hooks as saved_tensors_hooks
from spore.common.seed import get_seed as get_seed
from spore.common.seed import set_seed as set_seed
from spore.common.sparse_tensor import COOTensor as COOTensor
from spore.common.sparse_tensor import CSRTensor as CSRTensor
from spore.common.sparse_tensor import RowTensor as RowTensor
from spore.common.sparse_tensor import SparseTensor as SparseTensor
from spore.common.storage import UntypedStorage as UntypedStorage
from spore.common.symbol import Symbol as _Symbol
from spore.common.tensor import from_numpy as from_numpy
from spore.common.tensor import is_tensor as is_tensor
from spore.common.tensor import swap_tensors as swap_tensors
from spore.common.vectorize import vmap as vmap
from spore.context import COMPATIBLE as COMPATIBLE
from spore.context import GRAPH_MODE as GRAPH_MODE
from spore.context import LAX as LAX
from spore.context import PYNATIVE_MODE as PYNATIVE_MODE
from spore.context import ParallelMode as ParallelMode
from spore.context import STRICT as STRICT
from spore.context import get_auto_parallel_context as get_auto_parallel_context
from spore.context import get_context as get_context
from spore.context import get_current_device as get_current_device
from spore.context import get_ps_context as get_ps_context
from spore.context import reset_auto_parallel_context as reset_auto_parallel_context
from spore.context import reset_ps_context as reset_ps_context
from spore.context import set_auto_parallel_context as set_auto_parallel_context
from spore.context import set_context as set_context
from spore.context import set_deterministic as set_deterministic
from spore.context import set_device as set_device
from spore.context import set_ps_context as set_ps_context
from spore.hal import device_count as device_count
from spore.hal import get_arch_list as get_arch_list
from spore.hal import get_device_capability as get_device_capability
from spore.hal import get_device_name as get_device_name
from spore.hal import get_device_properties as get_device_properties
from spore.hal import is_available as is_available
from spore.hal import is_initialized as is_initialized
from spore.log import critical as critical
from spore.log import debug as debug
from spore.log import error as error
from spore.log import get_level as get_level
from spore.log import get_log_config as get_log_config
from spore.log import info as info
from spore.log import warning as warning
from spore.nn.cell import Cell as Cell
from spore.nn.dynamic_lr import cosine_decay_lr as cosine_decay_lr
from spore.nn.dynamic_lr import piecewise_constant_lr as piecewise_constant_lr
from spore.nn.dynamic_lr import warmup_lr as warmup_lr
from spore.nn.layer.activation import FastGelu as FastGelu
from spore.nn.layer.activation import HSigmoid as HSigmoid
from spore.nn.layer.activation import HSwish as HSwish
from spore.nn.layer.activation import LogSigmoid as LogSigmoid
from spore.nn.layer.activation import LogSoftmaxExt as LogSoftmaxExt
from spore.nn.layer.activation import Mish as Mish
from spore.nn.layer.activation import ReLU as ReLU
from spore.nn.layer.activation import ReLU6 as ReLU6
from spore.nn.layer.activation import SeLU as SeLU
from spore.nn.layer.activation import SiLU as SiLU
from spore.nn.layer.activation import Sigmoid as Sigmoid
from spore.nn.layer.activation import Softmax2d as Softmax2d
from spore.nn.layer.activation import Softsign as Softsign
from spore.nn.layer.activation import Tanh as Tanh
from spore.nn.layer.activation import Tanhshrink as Tanhshrink
from spore.nn.layer.activation import Threshold as Threshold
from spore.nn.layer.activation import CELU as _CELU
from spore.nn.layer.activation import ELU as _ELU
from spore.nn.layer.activation import GELU as _GELU
from spore.nn.layer.activation import GLU as _GLU
from spore.nn.layer.activation import HShrink as _HShrink
from spore.nn.layer.activation import Hardtanh as _Hardtanh
from spore.nn.layer.activation import LRN as _LRN
from spore.nn.layer.activation import LeakyReLU as _LeakyReLU
from spore.nn.layer.activation import LogSoftmax as _LogSoftmax
from spore.nn.layer.activation import PReLU as _PReLU
from spore.nn.layer.activation import PReLUExt as _PReLUExt
from spore.nn.layer.activation import RReLU as _RReLU
from spore.nn.layer.activation import SoftShrink as _SoftShrink
from spore.nn.layer.activation import Softmax as _Softmax
from spore.nn.layer.activation import Softmin as _Softmin
from spore.nn.layer.activation import get_activation as get_activation
from spore.nn.layer.basic import ClipByNorm as ClipByNorm
from spore.nn.layer.basic import L1Regularizer as L1Regularizer
from spore.nn.layer.basic import MatrixDiag as MatrixDiag
from spore.nn.layer.basic import MatrixDiagPart as MatrixDiagPart
from spore.nn.layer.basic import MatrixSetDiag as MatrixSetDiag
from spore.nn.layer.basic import Roll as Roll
from spore.nn.layer.basic import Tril as Tril
from spore.nn.layer.basic import Triu as Triu
from spore.nn.layer.basic import Unflatten as Unflatten
from spore.nn.layer.basic import Dense as _Dense
from spore.nn.layer.basic import Dropout as _Dropout
from spore.nn.layer.basic import Dropout1d as _Dropout1d
from spore.nn.layer.basic import Dropout2d as _Dropout2d
from spore.nn.layer.basic import Dropout2dExt as _Dropout2dExt
from spore.nn.layer.basic import Dropout3d as _Dropout3d
from spore.nn.layer.basic import DropoutExt as _DropoutExt
from spore.nn.layer.basic import Flatten as _Flatten
from spore.nn.layer.basic import Linear as _Linear
from spore.nn.layer.basic import Norm as _Norm
from spore.nn.layer.basic import OneHot as _OneHot
from spore.nn.layer.basic import Pad as _Pad
from spore.nn.layer.basic import Unfold as _Unfold
from spore.nn.layer.basic import Upsample as _Upsample
from spore.nn.layer.channel_shuffle import ChannelShuffle as ChannelShuffle
from spore.nn.layer.combined import Conv2dBnAct as _Conv2dBnAct
from spore.nn.layer.combined import DenseBnAct as _DenseBnAct
from spore.nn.layer.container import CellDict as CellDict
from spore.nn.layer.container import CellList as CellList
from spore.nn.layer.container import SequentialCell as SequentialCell
from spore.nn.layer.conv import Conv1d as _Conv1d
from spore.nn.layer.conv import Conv1dTranspose as _Conv1dTranspose
from spore.nn.layer.conv import Conv2d as _Conv2d
from spore.nn.layer.conv import Conv2dTranspose as _Conv2dTranspose
from spore.nn.layer.conv import Conv3d as _Conv3d
from spore.nn.layer.conv import Conv3dTranspose as _Conv3dTranspose
from spore.nn.layer.dense import BiDense as _BiDense
from spore.nn.layer.embedding import Embedding as _Embedding
from spore.nn.layer.embedding import EmbeddingExt as _EmbeddingExt
from spore.nn.layer.embedding import EmbeddingLookup as _EmbeddingLookup
from spore.nn.layer.embedding import MultiFieldEmbeddingLookup as _MultiFieldEmbeddingLookup
from spore.nn.layer.image import CentralCrop as CentralCrop
from spore.nn.layer.image import ImageGradients as ImageGradients
from spore.nn.layer.image import PixelShuffle as PixelShuffle
from spore.nn.layer.image import PixelUnshuffle as PixelUnshuffle
from spore.nn.layer.image import MSSSIM as _MSSSIM
from spore.nn.layer.image import PSNR as _PSNR
from spore.nn.layer.image import ResizeBilinear as _ResizeBilinear
from spore.nn.layer.image import SSIM as _SSIM
from spore.nn.layer.math import DiGamma as DiGamma
from spore.nn.layer.math import IGamma as IGamma
from spore.nn.layer.math import LBeta as LBeta
from spore.nn.layer.math import LGamma as LGamma
from spore.nn.layer.math import MatDet as MatDet
from spore.nn.layer.math import MatInverse as MatInverse
from spore.nn.layer.math import Moments as Moments
from spore.nn.layer.math import MatMul as _MatMul
from spore.nn.layer.math import Range as _Range
from spore.nn.layer.math import ReduceLogSumExp as _ReduceLogSumExp
from spore.nn.layer.normalization import BatchNorm1d as _BatchNorm1d
from spore.nn.layer.normalization import BatchNorm2d as _BatchNorm2d
from spore.nn.layer.normalization import BatchNorm3d as _BatchNorm3d
from spore.nn.layer.normalization import GroupNorm as _GroupNorm
from spore.nn.layer.normalization import InstanceNorm1d as _InstanceNorm1d
from spore.nn.layer.normalization import InstanceNorm2d as _InstanceNorm2d
from spore.nn.layer.normalization import InstanceNorm3d as _InstanceNorm3d
from spore.nn.layer.normalization import LayerNorm as _LayerNorm
from spore.nn.layer.normalization import LayerNormExt as _LayerNormExt
from spore.nn.layer.normalization import SyncBatchNorm as _SyncBatchNorm
from spore.nn.layer.padding import ConstantPad1d as ConstantPad1d
from spore.nn.layer.padding import ConstantPad2d as ConstantPad2d
from spore.nn.layer.padding import ConstantPad3d as ConstantPad3d
from spore.nn.layer.padding import ReflectionPad1d as ReflectionPad1d
from spore.nn.layer.padding import ReflectionPad2d as ReflectionPad2d
from spore.nn.layer.padding import ReflectionPad3d as ReflectionPad3d
from spore.nn.layer.padding import ReplicationPad1d as ReplicationPad1d
from spore.nn.layer.padding import ReplicationPad2d as ReplicationPad2d
from spore.nn.layer.padding import ReplicationPad3d as ReplicationPad3d
from spore.nn.layer.padding import ZeroPad2d as ZeroPad2d
from spore.nn.layer.pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from spore.nn.layer.pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from spore.nn.layer.pooling import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from spore.nn.layer.pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from spore.nn.layer.pooling import AdaptiveMaxPool2d as _AdaptiveMaxPool2d
from spore.nn.layer.pooling import AdaptiveMaxPool3d as _AdaptiveMaxPool3d
from spore.nn.layer.pooling import AvgPool1d as _AvgPool1d
from spore.nn.layer.pooling import AvgPool1dExt as _AvgPool1dExt
from spore.nn.layer.pooling import AvgPool2d as _AvgPool2d
from spore.nn.layer.pooling import AvgPool2dExt as _AvgPool2dExt
from spore.nn.layer.pooling import AvgPool3d as _AvgPool3d
from spore.nn.layer.pooling import AvgPool3dExt as _AvgPool3dExt
from spore.nn.layer.pooling import FractionalMaxPool2d as _FractionalMaxPool2d
from spore.nn.layer.pooling import FractionalMaxPool3d as _FractionalMaxPool3d
from spore.nn.layer.pooling import LPPool1d as _LPPool1d
from spore.nn.layer.pooling import LPPool2d as _LPPool2d
from spore.nn.layer.pooling import MaxPool1d as _MaxPool1d
from spore.nn.layer.pooling import MaxPool2d as _MaxPool2d
from spore.nn.layer.pooling import MaxPool2dExt as _MaxPool2dExt
from spore.nn.layer.pooling import MaxPool3d as _MaxPool3d
from spore.nn.layer.pooling import MaxUnpool1d as _MaxUnpool1d
from spore.nn.layer.pooling import MaxUnpool2d as _MaxUnpool2d
from spore.nn.layer.pooling import MaxUnpool3d as _MaxUnpool3d
from spore.nn.layer.rnn_cells import GRUCell as _GRUCell
from spore.nn.layer.rnn_cells import LSTMCell as _LSTMCell
from spore.nn.layer.rnn_cells import RNNCell as _RNNCell
from spore.nn.layer.rnns import GRU as GRU
from spore.nn.layer.rnns import LSTM as LSTM
from spore.nn.layer.rnns import RNN as RNN
from spore.nn.layer.sparse import SparseToDense as SparseToDense
from spore.nn.layer.sparse import SparseTensorDenseMatmul as _SparseTensorDenseMatmul
from spore.nn.layer.thor_layer import Conv2dThor as _Conv2dThor
from spore.nn.layer.thor_layer import DenseThor as _DenseThor
from spore.nn.layer.thor_layer import EmbeddingLookupThor as _EmbeddingLookupThor
from spore.nn.layer.thor_layer import EmbeddingThor as _EmbeddingThor
from spore.nn.layer.timedistributed import TimeDistributed as TimeDistributed
from spore.nn.layer.transformer import TransformerDecoder as TransformerDecoder
from spore.nn.layer.transformer import TransformerEncoder as TransformerEncoder
from spore.nn.layer.transformer import MultiheadAttention as _MultiheadAttention
from spore.nn.layer.transformer import Transformer as _Transformer
from spore.nn.layer.transformer import TransformerDecoderLayer as _TransformerDecoderLayer
from spore.nn.layer.transformer import TransformerEncoderLayer as _TransformerEncoderLayer
from spore.nn.learning_rate_schedule import CosineDecayLR as CosineDecayLR
from spore.nn.learning_rate_schedule import LearningRateSchedule as LearningRateSchedule
from spore.nn.learning_rate_schedule import WarmUpLR as WarmUpLR
from spore.nn.learning_rate_schedule import ExponentialDecayLR as _ExponentialDecayLR
from spore.nn.learning_rate_schedule import InverseDecayLR as _InverseDecayLR
from spore.nn.learning_rate_schedule import NaturalExpDecayLR as _NaturalExpDecayLR
from spore.nn.learning_rate_schedule import PolynomialDecayLR as _PolynomialDecayLR
from spore.nn.loss.loss import RMSELoss as RMSELoss
from spore.nn.loss.loss import BCELoss as _BCELoss
from spore.nn.loss.loss import BCEWithLogitsLoss as _BCEWithLogitsLoss
from spore.nn.loss.loss import CTCLoss as _CTCLoss
from spore.nn.loss.loss import CosineEmbeddingLoss as _CosineEmbeddingLoss
from spore.nn.loss.loss import CrossEntropyLoss as _CrossEntropyLoss
from spore.nn.loss.loss import DiceLoss as _DiceLoss
from spore.nn.loss.loss import FocalLoss as _FocalLoss
from spore.nn.loss.loss import GaussianNLLLoss as _GaussianNLLLoss
from spore.nn.loss.loss import HingeEmbeddingLoss as _HingeEmbeddingLoss
from spore.nn.loss.loss import HuberLoss as _HuberLoss
from spore.nn.loss.loss import KLDivLoss as _KLDivLoss
from spore.nn.loss.loss import L1Loss as _L1Loss
from spore.nn.loss.loss import L1LossExt as _L1LossExt
from spore.nn.loss.loss import LossBase as _LossBase
from spore.nn.loss.loss import MAELoss as _MAELoss
from spore.nn.loss.loss import MSELoss as _MSELoss
from spore.nn.loss.loss import MarginRankingLoss as _MarginRankingLoss
from spore.nn.loss.loss import MultiClassDiceLoss as _MultiClassDiceLoss
from spore.nn.loss.loss import MultiLabelSoftMarginLoss as _MultiLabelSoftMarginLoss
from spore.nn.loss.loss import MultiMarginLoss as _MultiMarginLoss
from spore.nn.loss.loss import MultilabelMarginLoss as _MultilabelMarginLoss
from spore.nn.loss.loss import NLLLoss as _NLLLoss
from spore.nn.loss.loss import PoissonNLLLoss as _PoissonNLLLoss
from spore.nn.loss.loss import SampledSoftmaxLoss as _SampledSoftmaxLoss
from spore.nn.loss.loss import SmoothL1Loss as _SmoothL1Loss
from spore.nn.loss.loss import SoftMarginLoss as _SoftMarginLoss
from spore.nn.loss.loss import SoftmaxCrossEntropyWithLogits as _SoftmaxCrossEntropyWithLogits
from spore.nn.loss.loss import TripletMarginLoss as _TripletMarginLoss
from spore.nn.loss.loss import TripletMarginWithDistanceLoss as _TripletMarginWithDistanceLoss
from spore.nn.optim.ada_grad import Adagrad as _Adagrad
from spore.nn.optim.adadelta import Adadelta as _Adadelta
from spore.nn.optim.adafactor import AdaFactor as _AdaFactor
from spore.nn.optim.adam import Adam as _Adam
from spore.nn.optim.adam import AdamOffload as _AdamOffload
from spore.nn.optim.adam import AdamWeightDecay as _AdamWeightDecay
from spore.nn.optim.adamax import AdaMax as _AdaMax
from spore.nn.optim.adasum import AdaSumByDeltaWeightWrapCell as AdaSumByDeltaWeightWrapCell
from spore.nn.optim.adasum import AdaSumByGradWrapCell as AdaSumByGradWrapCell
from spore.nn.optim.asgd import ASGD as _ASGD
from spore.nn.optim.ftrl import FTRL as _FTRL
from spore.nn.optim.lamb import Lamb as _Lamb
from spore.nn.optim.lars import LARS as _LARS
from spore.nn.optim.lazyadam import LazyAdam as _LazyAdam
from spore.nn.optim.momentum import Momentum as _Momentum
from spore.nn.optim.optimizer import Optimizer as _Optimizer
from spore.nn.optim.optimizer import opt_init_args_register as opt_init_args_register
from spore.nn.optim.proximal_ada_grad import ProximalAdagrad as _ProximalAdagrad
from spore.nn.optim.rmsprop import RMSProp as _RMSProp
from spore.nn.optim.rprop import Rprop as _Rprop
from spore.nn.optim.sgd import SGD as _SGD
from spore.nn.optim.tft_wrapper import OptTFTWrapper as OptTFTWrapper
from spore.nn.wrap.cell_wrapper import GradAccumulationCell as GradAccumulationCell
from spore.nn.wrap.cell_wrapper import ParameterUpdate as ParameterUpdate
from spore.nn.wrap.cell_wrapper import PipelineCell as PipelineCell
from spore.nn.wrap.cell_wrapper import VirtualDatasetCellTriple as VirtualDatasetCellTriple
from spore.nn.wrap.cell_wrapper import WithGradCell as WithGradCell
from spore.nn.wrap.cell_wrapper import WithLossCell as WithLossCell
from spore.nn.wrap.cell_wrapper import ForwardValueAndGrad as _ForwardValueAndGrad
from spore.nn.wrap.cell_wrapper import MicroBatchInterleaved as _MicroBatchInterleaved
from spore.nn.wrap.cell_wrapper import TrainOneStepCell as _TrainOneStepCell
from spore.nn.wrap.cell_wrapper import WithEvalCell as _WithEvalCell
from spore.nn.wrap.grad_reducer import DistributedGradReducer as _DistributedGradReducer
from spore.nn.wrap.grad_reducer import PipelineGradReducer as _PipelineGradReducer
from spore.nn.wrap.graph_cell import GraphCell as GraphCell
from spore.nn.wrap.loss_scale import DynamicLossScaleUpdateCell as DynamicLossScaleUpdateCell
from spore.nn.wrap.loss_scale import FixedLossScaleUpdateCell as FixedLossScaleUpdateCell
from spore.nn.wrap.loss_scale import TrainOneStepWithLossScaleCell as TrainOneStepWithLossScaleCell
from spore.parallel.algo_parameter_config import get_algo_parameters as get_algo_parameters
from spore.parallel.algo_parameter_config import reset_algo_parameters as reset_algo_parameters
from spore.parallel.algo_parameter_config import set_algo_parameters as set_algo_parameters
from spore.parallel.checkpoint_transform import build_searched_strategy as build_searched_strategy
from spore.parallel.checkpoint_transform import convert_checkpoint_by_rank as convert_checkpoint_by_rank
from spore.parallel.checkpoint_transform import get_ckpt_path_with_strategy as get_ckpt_path_with_strategy
from spore.parallel.checkpoint_transform import merge_pipeline_strategys as merge_pipeline_strategys
from spore.parallel.checkpoint_transform import merge_sliced_parameter as merge_sliced_parameter
from spore.parallel.checkpoint_transform import rank_list_for_convert as rank_list_for_convert
from spore.parallel.checkpoint_transform import rank_list_for_transform as rank_list_for_transform
from spore.parallel.checkpoint_transform import restore_group_info_list as restore_group_info_list
from spore.parallel.checkpoint_transform import sync_pipeline_shared_parameters as sync_pipeline_shared_parameters
from spore.parallel.checkpoint_transform import transform_checkpoint_by_rank as transform_checkpoint_by_rank
from spore.parallel.shard import Layout as Layout
from spore.parallel.shard import shard as shard
from spore.profiler import AicoreMetrics as AicoreMetrics
from spore.profiler import EnvProfiler as EnvProfiler
from spore.profiler import ExportType as ExportType
from spore.profiler import HostSystem as HostSystem
from spore.profiler import Profiler as Profiler
from spore.profiler import ProfilerActivity as ProfilerActivity
from spore.profiler import ProfilerLevel as ProfilerLevel
from spore.profiler import _ExperimentalConfig as __ExperimentalConfig
from spore.profiler import profile as _profile
from spore.profiler import schedule as _schedule
from spore.profiler import mstx as mstx
from spore.quantization import Quantized as Quantized
from spore.quantization import QuantizationAwareTraining as _QuantizationAwareTraining
from spore.rewrite.node import NodeType as NodeType
from spore.rewrite.node import Node as _Node
from spore.rewrite.pattern_engine import PatternEngine as PatternEngine
from spore.rewrite.pattern_engine import Replacement as Replacement
from spore.rewrite.pattern_engine import VarNode as VarNode
from spore.rewrite.pattern_engine import PatternNode as _PatternNode
from spore.rewrite.scoped_value import ValueType as ValueType
from spore.rewrite.scoped_value import ScopedValue as _ScopedValue
from spore.rewrite.symbol_tree import SymbolTree as SymbolTree
from spore.runtime import StreamCtx as StreamCtx
from spore.runtime import Event as _Event
from spore.runtime import Stream as _Stream
from spore.runtime import StreamLimitCtx as _StreamLimitCtx
from spore.runtime import communication_stream as communication_stream
from spore.runtime import current_stream as current_stream
from spore.runtime import default_stream as default_stream
from spore.runtime import device_declined as device_declined
from spore.runtime import device_statistics as device_statistics
from spore.runtime import dispatch_threads_num as dispatch_threads_num
from spore.runtime import empty_cache as empty_cache
from spore.runtime import get_device_limit as get_device_limit
from spore.runtime import get_stream_limit as get_stream_limit
from spore.runtime import launch_blocking as launch_blocking
from spore.runtime import max_memory_allocated as max_memory_allocated
from spore.runtime import max_memory_reserved as max_memory_reserved
from spore.runtime import memory_allocated as memory_allocated
from spore.runtime import memory_reserved as memory_reserved
from spore.runtime import memory_stats as memory_stats
from spore.runtime import memory_summary as memory_summary
from spore.runtime import reset_max_memory_allocated as reset_max_memory_allocated
from spore.runtime import reset_max_memory_reserved as reset_max_memory_reserved
from spore.runtime import reset_peak_memory_stats as reset_peak_memory_stats
from spore.runtime import reset_stream_limit as reset_stream_limit
from spore.runtime import set_cpu_affinity as set_cpu_affinity
from spore.runtime import set_cur_stream as set_cur_stream
from spore.runtime import set_kernel_launch_capture as set_kernel_launch_capture
from spore.runtime import synchronize as synchronize
from spore.train._convert import convert_parameters as convert_parameters
from spore.train._mindir import export as export
from spore.train._mindir import load as load
from spore.train._mindir import load_mindir as load_mindir
from spore.train._mindir import save_mindir as save_mindir
from spore.train.amp import get_black_list as get_black_list
from spore.train.amp import get_white_list as get_white_list
from spore.train.callback._callback import Callback as Callback
from spore.train.callback._callback import RunContext as RunContext
from spore.train.callback._checkpoint import CheckpointConfig as _CheckpointConfig
from spore.train.callback._checkpoint import ModelCheckpoint as _ModelCheckpoint
from spore.train.callback._control import History as History
from spore.train.callback._control import LambdaCallback as LambdaCallback
from spore.train.callback._control import LearningRateScheduler as LearningRateScheduler
from spore.train.callback._control import EarlyStopping as _EarlyStopping
from spore.train.callback._control import ReduceLROnPlateau as _ReduceLROnPlateau
from spore.train.callback._exit import TrainFaultTolerance as TrainFaultTolerance
from spore.train.callback._exit import BackupAndRestore as _BackupAndRestore
from spore.train.callback._exit import OnRequestExit as _OnRequestExit
from spore.train.callback._monitor import LossMonitor as _LossMonitor
from spore.train.callback._monitor import TimeMonitor as _TimeMonitor
from spore.train.callback._summary import SummaryLandscape as SummaryLandscape
from spore.train.callback._summary import SummaryCollector as _SummaryCollector
from spore.train.curves import plot as plot
from spore.train.dataset_helper import DatasetHelper as _DatasetHelper
from spore.train.dataset_helper import connect_network_with_dataset as connect_network_with_dataset
from spore.train.loss_scale_manager import LossScaleManager as LossScaleManager
from spore.train.loss_scale_manager import DynamicLossScaleManager as _DynamicLossScaleManager
from spore.train.loss_scale_manager import FixedLossScaleManager as _FixedLossScaleManager
from spore.train.metrics.classification import F1 as F1
from spore.train.metrics.classification import Fbeta as Fbeta
from spore.train.metrics.classification import ROC as ROC
from spore.train.metrics.classification import Top1CategoricalAccuracy as Top1CategoricalAccuracy
from spore.train.metrics.classification import Top5CategoricalAccuracy as Top5CategoricalAccuracy
from spore.train.metrics.classification import TopKCategoricalAccuracy as TopKCategoricalAccuracy
from spore.train.metrics.classification import Accuracy as _Accuracy
from spore.train.metrics.classification import ConfusionMatrix as _ConfusionMatrix
from spore.train.metrics.classification import Precision as _Precision
from spore.train.metrics.classification import Recall as _Recall
from spore.train.metrics.error import Loss as Loss
from spore.train.metrics.error import MAE as MAE
from spore.train.metrics.error import MSE as MSE
from spore.train.metrics.metric import Metric as Metric
from spore.train.metrics.metric import rearrange_inputs as rearrange_inputs
from spore.train.metrics.segmentation import ConfusionMatrixMetric as _ConfusionMatrixMetric
from spore.train.metrics.segmentation import Dice as _Dice
from spore.train.metrics.segmentation import HausdorffDistance as _HausdorffDistance
from spore.train.metrics.segmentation import MeanSurfaceDistance as _MeanSurfaceDistance
from spore.train.metrics.segmentation import OcclusionSensitivity as _OcclusionSensitivity
from spore.train.metrics.segmentation import RootMeanSquareDistance as _RootMeanSquareDistance
from spore.train.metrics.sequence import Perplexity as Perplexity
from spore.train.metrics.sequence import BleuScore as _BleuScore
from spore.train.metrics.sequence import CosineSimilarity as _CosineSimilarity
from spore.train.model import Model as _Model
from spore.train.progress import get_progress as get_progress
from spore.train.progress import set_progress as set_progress
from spore.train.serialization import async_ckpt_thread_status as async_ckpt_thread_status
from spore.train.summary.reader import SummaryValue as SummaryValue
from spore.train.summary.reader import read_summary as read_summary
from spore.train.summary.summary_record import SummaryRecord as _SummaryRecord
from spore.train.train_thor.convert_utils import ConvertModelUtils as ConvertModelUtils
from spore.train.train_thor.convert_utils import ConvertNetUtils as ConvertNetUtils
from spore.utils.dlpack import from_dlpack as from_dlpack
from spore.utils.dlpack import to_dlpack as to_dlpack

__version__: str
__all__: list[str]

class ASGD(_ASGD):
    """Gradient descent with a falling learning rate and an average of the parameters beside it, in ``ax``."""
    def __init__(self, params, learning_rate: Any = 0.1, lambd: Any = 0.0001, alpha: Any = 0.75, t0: Any = 1000000.0, weight_decay: Any = 0.0) -> None: ...
class Accuracy(_Accuracy):
    """Share of right predictions."""
    def __init__(self, eval_type: Any = 'classification') -> None: ...
class AdaFactor(_AdaFactor):
    """Adam whose second moments of matrices are kept by rows and columns alone, with a learning rate relative to the size of the parameter."""
    def __init__(self, params, learning_rate=None, eps: Any = (1e-30, 0.001), clip_threshold: Any = 1.0, decay_rate: Any = 0.8, beta1: Any = 0.9, weight_decay: Any = 0.0, scale_parameter: Any = True, relative_step: Any = True, warmup_init: Any = False, compression: Any = False, loss_scale: Any = 1) -> None: ...
class AdaMax(_AdaMax):
    """Adam with the largest gradient of late in place of the averaged square. Arguments as for Adam."""
    def __init__(self, params, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, eps: Any = 1e-08, weight_decay: Any = 0.0, loss_scale: Any = 1.0) -> None: ...
class Adadelta(_Adadelta):
    """Steps as large as earlier ones were, in proportion to the gradient's usual size."""
    def __init__(self, params, learning_rate: Any = 1.0, rho: Any = 0.9, epsilon: Any = 1e-06, loss_scale: Any = 1.0, weight_decay: Any = 0.0) -> None: ...
class Adagrad(_Adagrad):
    """Steps by the gradient over the root of the sum of all its squares so far."""
    def __init__(self, params, accum: Any = 0.1, learning_rate: Any = 0.001, update_slots: Any = True, loss_scale: Any = 1.0, weight_decay: Any = 0.0) -> None: ...
class Adam(_Adam):
    """Adam: steps by averaged gradients over the root of their averaged squares."""
    def __init__(self, params, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, eps: Any = 1e-08, use_locking: Any = False, use_nesterov: Any = False, weight_decay: Any = 0.0, loss_scale: Any = 1.0, use_amsgrad: Any = False, **kwargs) -> None: ...
class AdamOffload(_AdamOffload):
    """Adam, under the name it has where its arithmetic is moved to the CPU. Arguments as for Adam."""
    def __init__(self, params, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, eps: Any = 1e-08, use_locking: Any = False, use_nesterov: Any = False, weight_decay: Any = 0.0, loss_scale: Any = 1.0) -> None: ...
class AdamWeightDecay(_AdamWeightDecay):
    """Adam without correction of the first averages, and with weight decay that does not pass through them."""
    def __init__(self, params, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, eps: Any = 1e-06, weight_decay: Any = 0.0) -> None: ...
class AdaptiveMaxPool2d(_AdaptiveMaxPool2d):
    """An image, (N, C, H, W) or (C, H, W), brought to a size by the largest elements of windows that cover it."""
    def __init__(self, output_size, return_indices: Any = False) -> None: ...
class AdaptiveMaxPool3d(_AdaptiveMaxPool3d):
    """A volume, (N, C, D, H, W) or (C, D, H, W), brought to a size by the largest elements of windows that cover it."""
    def __init__(self, output_size, return_indices: Any = False) -> None: ...
class AvgPool1d(_AvgPool1d):
    """The mean of each window of a signal, (N, C, L) or (C, L)."""
    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: Any = 'valid', padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True) -> None: ...
class AvgPool1dExt(_AvgPool1dExt):
    """AvgPool1d with the torch-like arguments: the stride is the kernel by default."""
    def __init__(self, kernel_size, stride=None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True) -> None: ...
class AvgPool2d(_AvgPool2d):
    """The mean of each window of an image, (N, C, H, W) or (C, H, W)."""
    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: Any = 'valid', padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True, divisor_override=None, data_format: Any = 'NCHW') -> None: ...
class AvgPool2dExt(_AvgPool2dExt):
    """AvgPool2d with the torch-like arguments: the stride is the kernel by default."""
    def __init__(self, kernel_size, stride=None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True, divisor_override=None) -> None: ...
class AvgPool3d(_AvgPool3d):
    """The mean of each window of a volume, (N, C, D, H, W) or (C, D, H, W)."""
    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: Any = 'valid', padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True, divisor_override=None) -> None: ...
class AvgPool3dExt(_AvgPool3dExt):
    """AvgPool3d with the torch-like arguments: the stride is the kernel by default."""
    def __init__(self, kernel_size, stride=None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True, divisor_override=None) -> None: ...
class BCELoss(_BCELoss):
    """Cross entropy between probabilities and labels of two classes."""
    def __init__(self, weight=None, reduction: Any = 'mean') -> None: ...
class BCEWithLogitsLoss(_BCEWithLogitsLoss):
    """Cross entropy between the sigmoid of logits and labels of two classes."""
    def __init__(self, reduction: Any = 'mean', weight=None, pos_weight=None) -> None: ...
class BackupAndRestore(_BackupAndRestore):
    """Keeps a copy of the Parameters in a folder while training, and takes it back when a training begins."""
    def __init__(self, backup_dir, save_freq: Any = 'epoch', delete_checkpoint: Any = True) -> None: ...
class BatchNorm1d(_BatchNorm1d):
    """Batch normalisation of (N, C) or (N, C, L)."""
    def __init__(self, num_features, eps: Any = 1e-05, momentum: Any = 0.9, affine: Any = True, gamma_init: Any = 'ones', beta_init: Any = 'zeros', moving_mean_init: Any = 'zeros', moving_var_init: Any = 'ones', use_batch_statistics=None, data_format: Any = 'NCHW', dtype: Any = ...) -> None: ...
class BatchNorm2d(_BatchNorm2d):
    """Batch normalisation of images, (N, C, H, W)."""
    def __init__(self, num_features, eps: Any = 1e-05, momentum: Any = 0.9, affine: Any = True, gamma_init: Any = 'ones', beta_init: Any = 'zeros', moving_mean_init: Any = 'zeros', moving_var_init: Any = 'ones', use_batch_statistics=None, data_format: Any = 'NCHW', dtype: Any = ...) -> None: ...
class BatchNorm3d(_BatchNorm3d):
    """Batch normalisation of volumes, (N, C, D, H, W)."""
    def __init__(self, num_features, eps: Any = 1e-05, momentum: Any = 0.9, affine: Any = True, gamma_init: Any = 'ones', beta_init: Any = 'zeros', moving_mean_init: Any = 'zeros', moving_var_init: Any = 'ones', use_batch_statistics=None, dtype: Any = ...) -> None: ...
class BiDense(_BiDense):
    """A bilinear layer: every output is a form of both inputs, plus bias."""
    def __init__(self, in1_channels, in2_channels, out_channels, weight_init=None, bias_init=None, has_bias: Any = True, dtype: Any = ...) -> None: ...
class BleuScore(_BleuScore):
    """BLEU: how many of the word sequences of a translation stand in its references."""
    def __init__(self, n_gram: Any = 4, smooth: Any = False) -> None: ...
class CELU(_CELU):
    """x above zero, alpha (exp(x / alpha) - 1) below."""
    def __init__(self, alpha: Any = 1.0) -> None: ...
class CTCLoss(_CTCLoss):
    """Connectionist temporal classification: minus the log probability of label sequences."""
    def __init__(self, blank: Any = 0, reduction: Any = 'mean', zero_infinity: Any = False) -> None: ...
class CheckpointConfig(_CheckpointConfig):
    """When ModelCheckpoint saves and how many files it keeps."""
    def __init__(self, save_checkpoint_steps: Any = 1, save_checkpoint_seconds: Any = 0, keep_checkpoint_max: Any = 5, keep_checkpoint_per_n_minutes: Any = 0, integrated_save: Any = True, async_save: Any = False, saved_network=None, append_info=None, enc_key=None, enc_mode: Any = 'AES-GCM', exception_save: Any = False, crc_check: Any = False, remove_redundancy: Any = False, format: Any = 'ckpt', **kwargs) -> None: ...
class ConfusionMatrix(_ConfusionMatrix):
    """How often each class (row) was taken for each class (column)."""
    def __init__(self, num_classes, normalize: Any = 'no_norm', threshold: Any = 0.5) -> None: ...
class ConfusionMatrixMetric(_ConfusionMatrixMetric):
    """A measure made of true and false positives and negatives, over samples and channels of binary masks."""
    def __init__(self, skip_channel: Any = True, metric_name: Any = 'sensitivity', calculation_method: Any = False, decrease: Any = 'mean') -> None: ...
class Conv1d(_Conv1d):
    """Convolution of a signal, (N, C, L)."""
    def __init__(self, in_channels, out_channels, kernel_size, stride: Any = 1, pad_mode: Any = 'same', padding: Any = 0, dilation: Any = 1, group: Any = 1, has_bias: Any = False, weight_init=None, bias_init=None, dtype: Any = ...) -> None: ...
class Conv1dTranspose(_Conv1dTranspose):
    """Transposed convolution of a signal, (N, C, L)."""
    def __init__(self, in_channels, out_channels, kernel_size, stride: Any = 1, pad_mode: Any = 'same', padding: Any = 0, dilation: Any = 1, group: Any = 1, has_bias: Any = False, weight_init=None, bias_init=None, dtype: Any = ...) -> None: ...
class Conv2d(_Conv2d):
    """Convolution of an image, (N, C, H, W)."""
    def __init__(self, in_channels, out_channels, kernel_size, stride: Any = 1, pad_mode: Any = 'same', padding: Any = 0, dilation: Any = 1, group: Any = 1, has_bias: Any = False, weight_init=None, bias_init=None, data_format: Any = 'NCHW', dtype: Any = ...) -> None: ...
class Conv2dBnAct(_Conv2dBnAct):
    """Conv2d, then, where asked for, BatchNorm2d and an activation."""
    def __init__(self, in_channels, out_channels, kernel_size, stride: Any = 1, pad_mode: Any = 'same', padding: Any = 0, dilation: Any = 1, group: Any = 1, has_bias: Any = False, weight_init: Any = 'normal', bias_init: Any = 'zeros', has_bn: Any = False, momentum: Any = 0.997, eps: Any = 1e-05, activation=None, alpha: Any = 0.2, after_fake: Any = True) -> None: ...
class Conv2dThor(_Conv2dThor):
    """A Conv2d layer that keeps what the optimizer nn.thor needs."""
    def __init__(self, in_channels, out_channels, kernel_size, stride: Any = 1, pad_mode: Any = 'same', padding: Any = 0, dilation: Any = 1, group: Any = 1, has_bias: Any = False, weight_init: Any = 'normal', bias_init: Any = 'zeros') -> None: ...
class Conv2dTranspose(_Conv2dTranspose):
    """Transposed convolution of an image, (N, C, H, W): the gradient of Conv2d as a layer."""
    def __init__(self, in_channels, out_channels, kernel_size, stride: Any = 1, pad_mode: Any = 'same', padding: Any = 0, output_padding: Any = 0, dilation: Any = 1, group: Any = 1, has_bias: Any = False, weight_init=None, bias_init=None, dtype: Any = ...) -> None: ...
class Conv3d(_Conv3d):
    """Convolution of a volume, (N, C, D, H, W)."""
    def __init__(self, in_channels, out_channels, kernel_size, stride: Any = 1, pad_mode: Any = 'same', padding: Any = 0, dilation: Any = 1, group: Any = 1, has_bias: Any = False, weight_init=None, bias_init=None, data_format: Any = 'NCDHW', dtype: Any = ...) -> None: ...
class Conv3dTranspose(_Conv3dTranspose):
    """Transposed convolution of a volume, (N, C, D, H, W)."""
    def __init__(self, in_channels, out_channels, kernel_size, stride: Any = 1, pad_mode: Any = 'same', padding: Any = 0, dilation: Any = 1, group: Any = 1, output_padding: Any = 0, has_bias: Any = False, weight_init=None, bias_init=None, data_format: Any = 'NCDHW', dtype: Any = ...) -> None: ...
class CosineEmbeddingLoss(_CosineEmbeddingLoss):
    """1 - cosine for pairs labelled 1, max(0, cosine - margin) for pairs labelled -1."""
    def __init__(self, margin: Any = 0.0, reduction: Any = 'mean') -> None: ...
class CosineSimilarity(_CosineSimilarity):
    """How much each row of a matrix points the way of each other row."""
    def __init__(self, similarity: Any = 'cosine', reduction: Any = 'none', zero_diagonal: Any = True) -> None: ...
class CrossEntropyLoss(_CrossEntropyLoss):
    """Cross entropy between labels and the softmax of logits, (N, C, ...)."""
    def __init__(self, weight=None, ignore_index: Any = -100, reduction: Any = 'mean', label_smoothing: Any = 0.0) -> None: ...
class DatasetHelper(_DatasetHelper):
    """Goes over a dataset, epoch after epoch: each iteration is one epoch of tuples of Tensors."""
    def __init__(self, dataset, dataset_sink_mode: Any = True, sink_size: Any = -1, epoch_num: Any = 1) -> None: ...
class Dense(_Dense):
    """A fully connected layer over the last dimension: x times the transposed weight, plus bias."""
    def __init__(self, in_channels, out_channels, weight_init=None, bias_init=None, has_bias: Any = True, activation=None, dtype: Any = ...) -> None: ...
class DenseBnAct(_DenseBnAct):
    """Dense, then, where asked for, BatchNorm1d and an activation."""
    def __init__(self, in_channels, out_channels, weight_init: Any = 'normal', bias_init: Any = 'zeros', has_bias: Any = True, has_bn: Any = False, momentum: Any = 0.9, eps: Any = 1e-05, activation=None, alpha: Any = 0.2, after_fake: Any = True) -> None: ...
class DenseThor(_DenseThor):
    """A Dense layer that keeps what the optimizer nn.thor needs."""
    def __init__(self, in_channels, out_channels, weight_init: Any = 'normal', bias_init: Any = 'zeros', has_bias: Any = True, activation=None) -> None: ...
class Dice(_Dice):
    """Overlap: twice the common part over the sum of both."""
    def __init__(self, smooth: Any = 1e-05) -> None: ...
class DiceLoss(_DiceLoss):
    """1 minus twice the overlap of two sets, divided by their sizes."""
    def __init__(self, smooth: Any = 1e-05) -> None: ...
class Dirac(_Dirac):
    """Convolution weights that pass their input on, in each of `groups` groups."""
    def __init__(self, groups: Any = 1) -> None: ...
class DistributedGradReducer(_DistributedGradReducer):
    """Sums, or averages, gradients over the processes of a group. When it is made in a job of several processes, the Parameters of the group's first process become those of all: replicas that begin differently would never agree."""
    def __init__(self, parameters, mean=None, degree=None, fusion_type: Any = 1, group: Any = 'hccl_world_group') -> None: ...
class Dropout(_Dropout):
    """While training, sets elements to zero at random and scales the others up, so that the mean stays."""
    def __init__(self, keep_prob: Any = 0.5, p=None, dtype: Any = ...) -> None: ...
class Dropout1d(_Dropout1d):
    """While training, sets whole channels of (N, C, L) or (C, L) to zero at random and scales the others up."""
    def __init__(self, p: Any = 0.5) -> None: ...
class Dropout2d(_Dropout2d):
    """While training, sets whole channels of (N, C, H, W) to zero at random and scales the others up."""
    def __init__(self, p: Any = 0.5) -> None: ...
class Dropout2dExt(_Dropout2dExt):
    """Dropout2d with the torch-like arguments."""
    def __init__(self, p: Any = 0.5, inplace: Any = False) -> None: ...
class Dropout3d(_Dropout3d):
    """While training, sets whole channels of (N, C, D, H, W) to zero at random and scales the others up."""
    def __init__(self, p: Any = 0.5) -> None: ...
class DropoutExt(_DropoutExt):
    """Dropout with the torch-like arguments."""
    def __init__(self, p: Any = 0.5, inplace: Any = False) -> None: ...
class DynamicLossScaleManager(_DynamicLossScaleManager):
    """A loss scale that falls with an overflow and grows after a run of steps without."""
    def __init__(self, init_loss_scale: Any = 16777216, scale_factor: Any = 2, scale_window: Any = 2000) -> None: ...
class DynamicProfilerMonitor(_DynamicProfilerMonitor):
    """Measures the steps that a file names: `cfg_path/profiler_config.json` with `start_step` and `stop_step`, counted from 1. The file is read again while the program runs, so steps can be chosen late. The result of each stretch is a folder in `output_path`."""
    def __init__(self, cfg_path=None, output_path: Any = './dyn_profile_data', poll_interval: Any = 2, **kwargs) -> None: ...
class ELU(_ELU):
    """x above zero, alpha (exp(x) - 1) below."""
    def __init__(self, alpha: Any = 1.0) -> None: ...
class EarlyStopping(_EarlyStopping):
    """Ends training when a result has not become better for some epochs."""
    def __init__(self, monitor: Any = 'eval_loss', min_delta: Any = 0, patience: Any = 0, verbose: Any = False, mode: Any = 'auto', baseline=None, restore_best_weights: Any = False) -> None: ...
class Embedding(_Embedding):
    """Rows of a table, chosen by indices of any shape."""
    def __init__(self, vocab_size, embedding_size, use_one_hot: Any = False, embedding_table: Any = 'normal', dtype: Any = ..., padding_idx=None) -> None: ...
class EmbeddingExt(_EmbeddingExt):
    """Embedding with the torch-like arguments."""
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type: Any = 2.0, scale_grad_by_freq: Any = False, sparse: Any = False, _weight=None, _freeze: Any = False, dtype=None) -> None: ...
class EmbeddingLookup(_EmbeddingLookup):
    """Rows of a table, chosen by indices; the table may be split over devices."""
    def __init__(self, vocab_size, embedding_size, param_init: Any = 'normal', target: Any = 'CPU', slice_mode: Any = 'batch_slice', manual_shapes=None, max_norm=None, sparse: Any = True, dtype: Any = ..., *, vocab_cache_size: Any = 0) -> None: ...
class EmbeddingLookupThor(_EmbeddingLookupThor):
    """An EmbeddingLookup that keeps what the optimizer nn.thor needs."""
    def __init__(self, vocab_size, embedding_size, param_init: Any = 'normal', target: Any = 'CPU', slice_mode: Any = 'batch_slice', manual_shapes=None, max_norm=None, sparse: Any = True, vocab_cache_size: Any = 0) -> None: ...
class EmbeddingThor(_EmbeddingThor):
    """An Embedding that keeps what the optimizer nn.thor needs."""
    def __init__(self, vocab_size, embedding_size, use_one_hot: Any = False, embedding_table: Any = 'normal', dtype: Any = ..., padding_idx=None) -> None: ...
class Event(_Event):
    """A moment in a stream."""
    def __init__(self, enable_timing: Any = False, blocking: Any = False) -> None: ...
class ExitByRequest:
    """Whether a training was asked to end."""
    def __init__(self) -> None: ...
class ExponentialDecayLR(_ExponentialDecayLR):
    """``learning_rate * decay_rate ** (step / decay_steps)``."""
    def __init__(self, learning_rate, decay_rate, decay_steps, is_stair: Any = False) -> None: ...
class FTRL(_FTRL):
    """Follow the regularised leader: parameters follow from accumulated gradients, held near zero by l1 and l2."""
    def __init__(self, params, initial_accum: Any = 0.1, learning_rate: Any = 0.001, lr_power: Any = -0.5, l1: Any = 0.0, l2: Any = 0.0, use_locking: Any = False, loss_scale: Any = 1.0, weight_decay: Any = 0.0) -> None: ...
class FileSystem:
    """How files of checkpoints are opened: ``open(path, *open_args)`` to read, ``create(path, *create_args)`` to append. Those of Python, until `_register_mindio_file_system` puts MindIO's in their place."""
    def __init__(self) -> None: ...
class FixedLossScaleManager(_FixedLossScaleManager):
    """One loss scale for the whole run."""
    def __init__(self, loss_scale: Any = 128.0, drop_overflow_update: Any = True) -> None: ...
class Flatten(_Flatten):
    """Some dimensions as one."""
    def __init__(self, start_dim: Any = 1, end_dim: Any = -1) -> None: ...
class FocalLoss(_FocalLoss):
    """Cross entropy with less weight on samples that are classified well."""
    def __init__(self, weight=None, gamma: Any = 2.0, reduction: Any = 'mean') -> None: ...
class ForwardValueAndGrad(_ForwardValueAndGrad):
    """A network's result together with gradients."""
    def __init__(self, network, weights=None, get_all: Any = False, get_by_list: Any = False, sens_param: Any = False) -> None: ...
class FractionalMaxPool2d(_FractionalMaxPool2d):
    """The largest element of windows of an image; their steps are drawn at random so that a size or ratio results."""
    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices: Any = False, _random_samples=None) -> None: ...
class FractionalMaxPool3d(_FractionalMaxPool3d):
    """The largest element of windows of a volume; their steps are drawn at random so that a size or ratio results."""
    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices: Any = False, _random_samples=None) -> None: ...
class GELU(_GELU):
    """x times the probability that a normal variable is below x."""
    def __init__(self, approximate: Any = True) -> None: ...
class GLU(_GLU):
    """The first half of x along an axis times the sigmoid of the second half."""
    def __init__(self, axis: Any = -1) -> None: ...
class GRUCell(_GRUCell):
    """One step of a network of gated recurrent units."""
    def __init__(self, input_size, hidden_size, has_bias: Any = True, dtype: Any = ...) -> None: ...
class GaussianNLLLoss(_GaussianNLLLoss):
    """Minus the log likelihood of labels under normal distributions with given means and variances."""
    def __init__(self, *, full: Any = False, eps: Any = 1e-06, reduction: Any = 'mean') -> None: ...
class GradOperation(_GradOperation):
    """The older way to ask for gradients: ``GradOperation(get_all=True)(net)(*inputs)``."""
    def __init__(self, get_all: Any = False, get_by_list: Any = False, sens_param: Any = False) -> None: ...
class GroupNorm(_GroupNorm):
    """Normalises groups of channels of every sample, then scales and shifts every channel."""
    def __init__(self, num_groups, num_channels, eps: Any = 1e-05, affine: Any = True, gamma_init: Any = 'ones', beta_init: Any = 'zeros', dtype: Any = ...) -> None: ...
class HShrink(_HShrink):
    """x where it is further than lambd from zero, zero elsewhere."""
    def __init__(self, lambd: Any = 0.5) -> None: ...
class Hardtanh(_Hardtanh):
    """x kept between two values."""
    def __init__(self, min_val: Any = -1.0, max_val: Any = 1.0) -> None: ...
class HausdorffDistance(_HausdorffDistance):
    """The largest distance from a point of one surface to the other."""
    def __init__(self, distance_metric: Any = 'euclidean', percentile=None, directed: Any = False, crop: Any = True) -> None: ...
class HeNormal(_HeNormal):
    """Normal numbers whose variance is gain**2 / fan."""
    def __init__(self, negative_slope: Any = 0, mode: Any = 'fan_in', nonlinearity: Any = 'leaky_relu') -> None: ...
class HeUniform(_HeUniform):
    """Uniform numbers whose variance is gain**2 / fan."""
    def __init__(self, negative_slope: Any = 0, mode: Any = 'fan_in', nonlinearity: Any = 'leaky_relu') -> None: ...
class HingeEmbeddingLoss(_HingeEmbeddingLoss):
    """The input where the label is 1, max(0, margin - input) where it is -1."""
    def __init__(self, margin: Any = 1.0, reduction: Any = 'mean') -> None: ...
class HuberLoss(_HuberLoss):
    """Half of squared differences up to delta, absolute differences beyond."""
    def __init__(self, reduction: Any = 'mean', delta: Any = 1.0) -> None: ...
class InstanceNorm1d(_InstanceNorm1d):
    """Instance normalisation of (N, C, L)."""
    def __init__(self, num_features, eps: Any = 1e-05, momentum: Any = 0.1, affine: Any = True, gamma_init: Any = 'ones', beta_init: Any = 'zeros', dtype: Any = ...) -> None: ...
class InstanceNorm2d(_InstanceNorm2d):
    """Instance normalisation of images, (N, C, H, W)."""
    def __init__(self, num_features, eps: Any = 1e-05, momentum: Any = 0.1, affine: Any = True, gamma_init: Any = 'ones', beta_init: Any = 'zeros', dtype: Any = ...) -> None: ...
class InstanceNorm3d(_InstanceNorm3d):
    """Instance normalisation of volumes, (N, C, D, H, W)."""
    def __init__(self, num_features, eps: Any = 1e-05, momentum: Any = 0.1, affine: Any = True, gamma_init: Any = 'ones', beta_init: Any = 'zeros', dtype: Any = ...) -> None: ...
class InverseDecayLR(_InverseDecayLR):
    """``learning_rate / (1 + decay_rate * step / decay_steps)``. Arguments as for ExponentialDecayLR."""
    def __init__(self, learning_rate, decay_rate, decay_steps, is_stair: Any = False) -> None: ...
class JitConfig(_JitConfig):
    """Options for compiled networks."""
    def __init__(self, jit_level: Any = '', exc_mode: Any = 'auto', jit_syntax_level: Any = '', debug_level: Any = 'RELEASE', infer_boost: Any = 'off', **kwargs) -> None: ...
class Jvp(Cell):
    """The result of a function and its derivative in a direction, the last input."""
    def __init__(self, fn) -> None: ...
    def __call__(self, *args, **kwargs): ...
class KLDivLoss(_KLDivLoss):
    """Kullback-Leibler divergence: target (log target - input), for log probabilities and target probabilities."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class L1Loss(_L1Loss):
    """Mean, or sum, of absolute differences."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class L1LossExt(_L1LossExt):
    """L1Loss under the name that mint uses."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class LARS(_LARS):
    """Another optimizer with gradients scaled layer by layer, to a share of the parameter's length; for large batches."""
    def __init__(self, optimizer, epsilon: Any = 1e-05, coefficient: Any = 0.001, use_clip: Any = False, lars_filter: Any = ...) -> None: ...
class LPPool1d(_LPPool1d):
    """The p-norm of each window of a signal, (N, C, L) or (C, L)."""
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode: Any = False) -> None: ...
class LPPool2d(_LPPool2d):
    """The p-norm of each window of an image, (N, C, H, W)."""
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode: Any = False) -> None: ...
class LRN(_LRN):
    """Every element divided by a power of the squares of its neighbours across channels."""
    def __init__(self, depth_radius: Any = 5, bias: Any = 1.0, alpha: Any = 1.0, beta: Any = 0.5, norm_region: Any = 'ACROSS_CHANNELS') -> None: ...
class LSTMCell(_LSTMCell):
    """One step of a network with long short-term memory; its state is a pair (h, c)."""
    def __init__(self, input_size, hidden_size, has_bias: Any = True, dtype: Any = ...) -> None: ...
class Lamb(_Lamb):
    """Adam whose step has the length of the parameter times the learning rate, layer by layer; for large batches."""
    def __init__(self, params, learning_rate, beta1: Any = 0.9, beta2: Any = 0.999, eps: Any = 1e-06, weight_decay: Any = 0.0) -> None: ...
class LayerNorm(_LayerNorm):
    """Normalises every sample by mean and variance over its last dimensions, then scales and shifts."""
    def __init__(self, normalized_shape, begin_norm_axis: Any = -1, begin_params_axis: Any = -1, gamma_init: Any = 'ones', beta_init: Any = 'zeros', epsilon: Any = 1e-07, dtype: Any = ...) -> None: ...
class LayerNormExt(_LayerNormExt):
    """LayerNorm with the torch-like arguments."""
    def __init__(self, normalized_shape, eps: Any = 1e-05, elementwise_affine: Any = True, bias: Any = True, dtype=None) -> None: ...
class LazyAdam(_LazyAdam):
    """Adam, under the name it has where sparse gradients touch some rows only. Arguments as for Adam; gradients are dense."""
    def __init__(self, params, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, eps: Any = 1e-08, use_locking: Any = False, use_nesterov: Any = False, weight_decay: Any = 0.0, loss_scale: Any = 1.0) -> None: ...
class LeakyReLU(_LeakyReLU):
    """x above zero, alpha times x below."""
    def __init__(self, alpha: Any = 0.2) -> None: ...
class Linear(_Linear):
    """Dense with the torch-like arguments."""
    def __init__(self, in_features, out_features, bias: Any = True, weight_init=None, bias_init=None, dtype=None) -> None: ...
class LogSoftmax(_LogSoftmax):
    """Logarithm of the softmax."""
    def __init__(self, axis: Any = -1) -> None: ...
class LossBase(_LossBase):
    """Base of losses: subclasses compute a value for every element and return ``self.get_loss(values)``."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class LossMonitor(_LossMonitor):
    """Prints the loss of training, and the metrics of evaluations in ``Model.fit``. A loss that is no number ends training."""
    def __init__(self, per_print_times: Any = 1) -> None: ...
class MAELoss(_MAELoss):
    """Mean, or sum, of absolute differences."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class MSELoss(_MSELoss):
    """Mean, or sum, of squared differences."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class MSSSIM(_MSSSIM):
    """Structural similarity of images at several scales."""
    def __init__(self, max_val: Any = 1.0, power_factors: Any = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size: Any = 11, filter_sigma: Any = 1.5, k1: Any = 0.01, k2: Any = 0.03) -> None: ...
class MarginRankingLoss(_MarginRankingLoss):
    """max(0, -target (input1 - input2) + margin): which of two is larger."""
    def __init__(self, margin: Any = 0.0, reduction: Any = 'mean') -> None: ...
class MatMul(_MatMul):
    """Matrix product; leading dimensions broadcast."""
    def __init__(self, transpose_x1: Any = False, transpose_x2: Any = False) -> None: ...
class MaxPool1d(_MaxPool1d):
    """The largest element of each window of a signal, (N, C, L) or (C, L)."""
    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: Any = 'valid', padding: Any = 0, dilation: Any = 1, return_indices: Any = False, ceil_mode: Any = False) -> None: ...
class MaxPool2d(_MaxPool2d):
    """The largest element of each window of an image, (N, C, H, W) or (C, H, W)."""
    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: Any = 'valid', padding: Any = 0, dilation: Any = 1, return_indices: Any = False, ceil_mode: Any = False, data_format: Any = 'NCHW') -> None: ...
class MaxPool2dExt(_MaxPool2dExt):
    """MaxPool2d with the torch-like arguments: the stride is the kernel by default."""
    def __init__(self, kernel_size: Any = 1, stride=None, padding: Any = 0, dilation: Any = 1, return_indices: Any = False, ceil_mode: Any = False) -> None: ...
class MaxPool3d(_MaxPool3d):
    """The largest element of each window of a volume, (N, C, D, H, W) or (C, D, H, W)."""
    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: Any = 'valid', padding: Any = 0, dilation: Any = 1, return_indices: Any = False, ceil_mode: Any = False) -> None: ...
class MaxUnpool1d(_MaxUnpool1d):
    """Puts the elements of a pooled signal back to their positions; the rest is zero."""
    def __init__(self, kernel_size, stride=None, padding: Any = 0) -> None: ...
class MaxUnpool2d(_MaxUnpool2d):
    """Puts the elements of a pooled image back to their positions; the rest is zero."""
    def __init__(self, kernel_size, stride=None, padding: Any = 0) -> None: ...
class MaxUnpool3d(_MaxUnpool3d):
    """Puts the elements of a pooled volume back to their positions; the rest is zero."""
    def __init__(self, kernel_size, stride=None, padding: Any = 0) -> None: ...
class MeanSurfaceDistance(_MeanSurfaceDistance):
    """The mean distance from the predicted surface to the true one."""
    def __init__(self, symmetric: Any = False, distance_metric: Any = 'euclidean') -> None: ...
class MicroBatchInterleaved(_MicroBatchInterleaved):
    """Runs a network on parts of a batch, so that one part computes while another communicates; on one device, in turn."""
    def __init__(self, network, interleave_num: Any = 2) -> None: ...
class Model(_Model):
    """Brings a network, a loss function and an optimizer together."""
    def __init__(self, network, loss_fn=None, optimizer=None, metrics=None, eval_network=None, eval_indexes=None, amp_level: Any = 'O0', boost_level: Any = 'O0', **kwargs) -> None: ...
class ModelCheckpoint(_ModelCheckpoint):
    """Saves the trained network as ``prefix-epoch_step.ckpt``, at the times its config says and at the end."""
    def __init__(self, prefix: Any = 'CKP', directory=None, config=None) -> None: ...
class Momentum(_Momentum):
    """Gradient descent that keeps moving: each step is ``momentum`` times the last one plus the gradient."""
    def __init__(self, params, learning_rate, momentum, weight_decay: Any = 0.0, loss_scale: Any = 1.0, use_nesterov: Any = False) -> None: ...
class MultiClassDiceLoss(_MultiClassDiceLoss):
    """Mean of DiceLoss over classes, (N, C, ...)."""
    def __init__(self, weights=None, ignore_indiex=None, activation: Any = 'softmax') -> None: ...
class MultiFieldEmbeddingLookup(_MultiFieldEmbeddingLookup):
    """Rows of a table, weighted and combined field by field."""
    def __init__(self, vocab_size, embedding_size, field_size, param_init: Any = 'normal', target: Any = 'CPU', slice_mode: Any = 'batch_slice', feature_num_list=None, max_norm=None, sparse: Any = True, operator: Any = 'SUM', dtype: Any = ...) -> None: ...
class MultiLabelSoftMarginLoss(_MultiLabelSoftMarginLoss):
    """Cross entropy of the sigmoid, mean over classes: several labels may hold at once."""
    def __init__(self, weight=None, reduction: Any = 'mean') -> None: ...
class MultiMarginLoss(_MultiMarginLoss):
    """Hinge loss over classes: mean of max(0, margin - x[label] + x[other]) ** p."""
    def __init__(self, p: Any = 1, margin: Any = 1.0, reduction: Any = 'mean', weight=None) -> None: ...
class MultiheadAttention(_MultiheadAttention):
    """Attention by several heads: each mixes the values by how well its queries match its keys."""
    def __init__(self, embed_dim, num_heads, dropout: Any = 0.0, has_bias: Any = True, add_bias_kv: Any = False, add_zero_attn: Any = False, kdim=None, vdim=None, batch_first: Any = False, dtype: Any = ...) -> None: ...
class MultilabelMarginLoss(_MultilabelMarginLoss):
    """Hinge loss between the classes a sample has and those it has not; labels end at the first -1."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class NLLLoss(_NLLLoss):
    """Minus the log probability of the label's class, from log probabilities (N, C, ...)."""
    def __init__(self, weight=None, ignore_index: Any = -100, reduction: Any = 'mean') -> None: ...
class NaturalExpDecayLR(_NaturalExpDecayLR):
    """``learning_rate * e ** (-decay_rate * step)``; a stair holds the step at multiples of ``decay_steps``. Arguments as for ExponentialDecayLR."""
    def __init__(self, learning_rate, decay_rate, decay_steps, is_stair: Any = False) -> None: ...
class Node(_Node):
    """A statement: `targets = callee(args, **kwargs)`, or an operation, an input, the return, a branch or loop. Nodes come of :meth:`SymbolTree.create` and of the functions `create_...` here."""
    def __init__(self, kind, name, targets: Any = (), args: Any = (), kwargs=None, *, form=None, callee=None, instance=None) -> None: ...
class Norm(_Norm):
    """Euclidean norm over some dimensions."""
    def __init__(self, axis: Any = (), keep_dims: Any = False) -> None: ...
class Normal(_Normal):
    """Normal numbers with standard deviation sigma."""
    def __init__(self, sigma: Any = 0.01, mean: Any = 0.0) -> None: ...
class OcclusionSensitivity(_OcclusionSensitivity):
    """How much the score of a class falls when a patch around each point of the input is covered."""
    def __init__(self, pad_val: Any = 0.0, margin: Any = 2, n_batch: Any = 128, b_box=None) -> None: ...
class OnRequestExit(_OnRequestExit):
    """Ends a training after the step it is in when the process gets a signal, or a JSON file says ``{"GracefulExit": 1}``; the state is saved before."""
    def __init__(self, save_ckpt: Any = True, save_mindir: Any = True, file_name: Any = 'Net', directory: Any = './', config_file=None, sig: Any = ...) -> None: ...
class OneHot(_OneHot):
    """Indices as vectors with one element set."""
    def __init__(self, axis: Any = -1, depth: Any = 1, on_value: Any = 1.0, off_value: Any = 0.0, dtype: Any = ...) -> None: ...
class Optimizer(_Optimizer):
    """Base of all optimizers: call it with the gradients, in the order of ``parameters``, and it changes the parameters."""
    def __init__(self, learning_rate, parameters, weight_decay: Any = 0.0, loss_scale: Any = 1.0) -> None: ...
class Orthogonal(_Orthogonal):
    """A matrix with orthogonal rows or columns, times gain."""
    def __init__(self, gain: Any = 1.0) -> None: ...
class PReLU(_PReLU):
    """x above zero, w x below; w is learned, one for all or one for every channel."""
    def __init__(self, channel: Any = 1, w: Any = 0.25) -> None: ...
class PReLUExt(_PReLUExt):
    """PReLU with the torch-like arguments."""
    def __init__(self, num_parameters: Any = 1, init: Any = 0.25, dtype=None) -> None: ...
class PSNR(_PSNR):
    """Peak signal-to-noise ratio of images in decibel."""
    def __init__(self, max_val: Any = 1.0) -> None: ...
class Pad(_Pad):
    """Puts elements around a Tensor."""
    def __init__(self, paddings, mode: Any = 'CONSTANT') -> None: ...
class PatternNode(_PatternNode):
    """One node of a pattern: a class that is called, and the patterns of what it takes."""
    def __init__(self, pattern_node_name, match_type: Any = ..., inputs=None) -> None: ...
class PipelineGradReducer(_PipelineGradReducer):
    """Scales the gradients of a pipeline; on one device, where micro batches are summed already, that is all."""
    def __init__(self, parameters, scale_sense: Any = 1.0, opt_shard=None) -> None: ...
class PoissonNLLLoss(_PoissonNLLLoss):
    """Minus the log likelihood of labels under Poisson distributions."""
    def __init__(self, log_input: Any = True, full: Any = False, eps: Any = 1e-08, reduction: Any = 'mean') -> None: ...
class PolynomialDecayLR(_PolynomialDecayLR):
    """From ``learning_rate`` to ``end_learning_rate`` along a power of the remaining way."""
    def __init__(self, learning_rate, end_learning_rate, decay_steps, power, update_decay_steps: Any = False) -> None: ...
class Precision(_Precision):
    """Share of the predictions of a class that are right."""
    def __init__(self, eval_type: Any = 'classification') -> None: ...
class ProximalAdagrad(_ProximalAdagrad):
    """Adagrad whose parameters are shrunk by l1 and l2 after each step."""
    def __init__(self, params, accum: Any = 0.1, learning_rate: Any = 0.001, l1: Any = 0.0, l2: Any = 0.0, use_locking: Any = False, loss_scale: Any = 1.0, weight_decay: Any = 0.0) -> None: ...
class QuantizationAwareTraining(_QuantizationAwareTraining):
    """Train a network so that it loses little when it is quantised: its layers round to what integers hold already while they are trained."""
    def __init__(self, bits: Any = 8, activation_bits: Any = 8, per_tensor: Any = False, keep: Any = (), averaging: Any = 0.1) -> None: ...
class RMSProp(_RMSProp):
    """Steps by the gradient over the root of its averaged square."""
    def __init__(self, params, learning_rate: Any = 0.1, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10, use_locking: Any = False, centered: Any = False, loss_scale: Any = 1.0, weight_decay: Any = 0.0) -> None: ...
class RNNCell(_RNNCell):
    """One step of a plain recurrent network: a nonlinearity of what input and state add up to."""
    def __init__(self, input_size, hidden_size, has_bias: Any = True, nonlinearity: Any = 'tanh', dtype: Any = ...) -> None: ...
class RReLU(_RReLU):
    """x above zero; below, x times a slope drawn anew for every element."""
    def __init__(self, lower: Any = 0.125, upper: Any = 0.3333333333333333) -> None: ...
class Range(_Range):
    """Numbers from a start to a limit, without the limit."""
    def __init__(self, start, limit=None, delta: Any = 1) -> None: ...
class Recall(_Recall):
    """Share of the samples of a class that are predicted."""
    def __init__(self, eval_type: Any = 'classification') -> None: ...
class ReduceLROnPlateau(_ReduceLROnPlateau):
    """Lowers the learning rate when a result has not become better for some epochs."""
    def __init__(self, monitor: Any = 'eval_loss', factor: Any = 0.1, patience: Any = 10, verbose: Any = False, mode: Any = 'auto', min_delta: Any = 0.0001, cooldown: Any = 0, min_lr: Any = 0) -> None: ...
class ReduceLogSumExp(_ReduceLogSumExp):
    """Logarithm of the sum of exponentials."""
    def __init__(self, axis, keep_dims: Any = False) -> None: ...
class ResizeBilinear(_ResizeBilinear):
    """An image of another size by linear interpolation. An older name; nn.Upsample does more."""
    def __init__(self, half_pixel_centers: Any = False) -> None: ...
class RootMeanSquareDistance(_RootMeanSquareDistance):
    """The mean squared distance from the predicted surface to the true one; if symmetric, the root of the mean of both directions."""
    def __init__(self, symmetric: Any = False, distance_metric: Any = 'euclidean') -> None: ...
class Rprop(_Rprop):
    """Steps by the sign of the gradient; each element's step grows while the sign stays and shrinks when it changes."""
    def __init__(self, params, learning_rate: Any = 0.1, etas: Any = (0.5, 1.2), step_sizes: Any = (1e-06, 50.0), weight_decay: Any = 0.0) -> None: ...
class SGD(_SGD):
    """Stochastic gradient descent, optionally with momentum, dampening and Nesterov's look ahead."""
    def __init__(self, params, learning_rate: Any = 0.1, momentum: Any = 0.0, dampening: Any = 0.0, weight_decay: Any = 0.0, nesterov: Any = False, loss_scale: Any = 1.0) -> None: ...
class SSIM(_SSIM):
    """Structural similarity of images, 1 for equal ones."""
    def __init__(self, max_val: Any = 1.0, filter_size: Any = 11, filter_sigma: Any = 1.5, k1: Any = 0.01, k2: Any = 0.03) -> None: ...
class SampledSoftmaxLoss(_SampledSoftmaxLoss):
    """Softmax loss over the true classes and a random sample of the others, for very many classes."""
    def __init__(self, num_sampled, num_classes, num_true: Any = 1, sampled_values=None, remove_accidental_hits: Any = True, seed: Any = 0, reduction: Any = 'none') -> None: ...
class ScopedValue(_ScopedValue):
    """A name or a constant in the code of a network."""
    def __init__(self, arg_type, scope: Any = '', value=None) -> None: ...
class SmoothL1Loss(_SmoothL1Loss):
    """Absolute differences, rounded off to a parabola near zero."""
    def __init__(self, beta: Any = 1.0, reduction: Any = 'none') -> None: ...
class SoftMarginLoss(_SoftMarginLoss):
    """log(1 + exp(-label logit)) for labels -1 and 1."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class SoftShrink(_SoftShrink):
    """x moved towards zero by lambd, zero in between."""
    def __init__(self, lambd: Any = 0.5) -> None: ...
class Softmax(_Softmax):
    """exp(x) divided by its sum along an axis."""
    def __init__(self, axis: Any = -1) -> None: ...
class SoftmaxCrossEntropyWithLogits(_SoftmaxCrossEntropyWithLogits):
    """Cross entropy between labels and the softmax of logits, (N, C)."""
    def __init__(self, sparse: Any = False, reduction: Any = 'none', *, is_grad: Any = False, smooth_factor: Any = 0.0, num_classes: Any = 2) -> None: ...
class Softmin(_Softmin):
    """Softmax of -x."""
    def __init__(self, axis: Any = -1) -> None: ...
class Sparse(_Sparse):
    """A matrix of normal numbers with the fraction `sparsity` of every column zero."""
    def __init__(self, sparsity, sigma: Any = 0.01) -> None: ...
class SparseTensorDenseMatmul(_SparseTensorDenseMatmul):
    """The product of a sparse matrix, given by indices, values and shape, and a dense one."""
    def __init__(self, adjoint_st: Any = False, adjoint_dt: Any = False) -> None: ...
class Stream(_Stream):
    """A queue of a device: of the one that new Tensors are made on. What one stream makes and another uses is waited for by the one that uses it. On the CPU, and on devices with one queue, everything is in step."""
    def __init__(self, priority: Any = 0, **kwargs) -> None: ...
class StreamLimitCtx(_StreamLimitCtx):
    """A context with a limit for a stream."""
    def __init__(self, stream, cube_num: Any = -1, vector_num: Any = -1) -> None: ...
class SummaryCollector(_SummaryCollector):
    """Writes the loss, histograms of Parameters, pictures among the inputs and what summary operators record to event files, every ``collect_freq`` steps; see SummaryRecord. The file for TensorBoard has, besides, the time of steps and the memory in use, results of evaluations in ``Model.fit``, the network's graph and the settings of the training."""
    def __init__(self, summary_dir, collect_freq: Any = 10, num_process: Any = 32, collect_specified_data=None, keep_default_action: Any = True, custom_lineage_data=None, collect_tensor_freq=None, max_file_size=None, export_options=None, form=None) -> None: ...
class SummaryRecord(_SummaryRecord):
    """Writes values of a training to event files, which TensorBoard, MindInsight and `spore board` show: those given to ``add_value``, and those that summary operators in the network recorded. One can be open at a time; use it in a with statement."""
    def __init__(self, log_dir, file_prefix: Any = 'events', file_suffix: Any = '_MS', num_process: Any = 32, network=None, max_file_size=None, raise_exception: Any = False, export_options=None, form=None) -> None: ...
class Symbol(_Symbol):
    """A size of a Tensor that is not known yet, with what is known of it: `Tensor(shape=(Symbol(divisor=8), 3))`."""
    def __init__(self, max: Any = 0, min: Any = 1, divisor: Any = 1, remainder: Any = 0, unique: Any = False, **kwargs) -> None: ...
class SyncBatchNorm(_SyncBatchNorm):
    """Batch normalisation with the statistics of all devices; with one device the same as BatchNorm2d."""
    def __init__(self, num_features, eps: Any = 1e-05, momentum: Any = 0.9, affine: Any = True, gamma_init: Any = 'ones', beta_init: Any = 'zeros', moving_mean_init: Any = 'zeros', moving_var_init: Any = 'ones', use_batch_statistics=None, process_groups=None, dtype: Any = ...) -> None: ...
class TimeMonitor(_TimeMonitor):
    """Prints how long an epoch and its steps took."""
    def __init__(self, data_size=None, data_time: Any = False) -> None: ...
class TrainOneStepCell(_TrainOneStepCell):
    """A step of training: computes the loss and its gradients, and lets the optimizer update the Parameters."""
    def __init__(self, network, optimizer, sens=None, return_grad: Any = False) -> None: ...
class Transformer(_Transformer):
    """Encoder and decoder."""
    def __init__(self, d_model: Any = 512, nhead: Any = 8, num_encoder_layers: Any = 6, num_decoder_layers: Any = 6, dim_feedforward: Any = 2048, dropout: Any = 0.1, activation: Any = 'relu', custom_encoder=None, custom_decoder=None, layer_norm_eps: Any = 1e-05, batch_first: Any = False, norm_first: Any = False, dtype: Any = ...) -> None: ...
class TransformerDecoderLayer(_TransformerDecoderLayer):
    """Self-attention, attention to the encoder's result and a feed-forward part."""
    def __init__(self, d_model, nhead, dim_feedforward: Any = 2048, dropout: Any = 0.1, activation: Any = 'relu', layer_norm_eps: Any = 1e-05, batch_first: Any = False, norm_first: Any = False, dtype: Any = ...) -> None: ...
class TransformerEncoderLayer(_TransformerEncoderLayer):
    """Self-attention and a feed-forward part, each with a residual connection and normalisation."""
    def __init__(self, d_model, nhead, dim_feedforward: Any = 2048, dropout: Any = 0.1, activation: Any = 'relu', layer_norm_eps: Any = 1e-05, batch_first: Any = False, norm_first: Any = False, dtype: Any = ...) -> None: ...
class TripletMarginLoss(_TripletMarginLoss):
    """max(0, d(x, positive) - d(x, negative) + margin), d the distance in a p-norm."""
    def __init__(self, p: Any = 2, swap: Any = False, eps: Any = 1e-06, reduction: Any = 'mean', margin: Any = 1.0) -> None: ...
class TripletMarginWithDistanceLoss(_TripletMarginWithDistanceLoss):
    """TripletMarginLoss with any distance."""
    def __init__(self, distance_function=None, swap: Any = False, reduction: Any = 'mean', margin: Any = 1.0) -> None: ...
class TruncatedNormal(_TruncatedNormal):
    """Normal numbers between a and b."""
    def __init__(self, sigma: Any = 0.01, mean: Any = 0.0, a: Any = -2.0, b: Any = 2.0) -> None: ...
class Unfold(_Unfold):
    """Patches of an image, (N, C, H, W) to (N, C * height * width, rows, columns)."""
    def __init__(self, ksizes, strides, rates, padding: Any = 'valid') -> None: ...
class Uniform(_Uniform):
    """Uniform numbers between -scale and scale."""
    def __init__(self, scale: Any = 0.07) -> None: ...
class Upsample(_Upsample):
    """A signal, image or volume of another size, by interpolation."""
    def __init__(self, size=None, scale_factor=None, mode: Any = 'nearest', align_corners=None, recompute_scale_factor=None) -> None: ...
class VarianceScaling(_VarianceScaling):
    """Numbers whose variance is scale / fan."""
    def __init__(self, scale: Any = 1.0, mode: Any = 'fan_in', distribution: Any = 'truncated_normal') -> None: ...
class Vjp(Cell):
    """The result of a function and the gradients of its inputs; the last input is the gradient of the result."""
    def __init__(self, fn) -> None: ...
    def __call__(self, *args, **kwargs): ...
class WithEvalCell(_WithEvalCell):
    """A network for evaluation: takes data and labels, returns loss, outputs and labels."""
    def __init__(self, network, loss_fn, add_cast_fp32: Any = False) -> None: ...
class XavierNormal(_XavierNormal):
    """Normal numbers whose variance is gain**2 * 2 / (fan_in + fan_out)."""
    def __init__(self, gain: Any = 1) -> None: ...
class XavierUniform(_XavierUniform):
    """Uniform numbers whose variance is gain**2 * 2 / (fan_in + fan_out)."""
    def __init__(self, gain: Any = 1) -> None: ...
class _ExperimentalConfig(__ExperimentalConfig):
    """Settings for other hardware, kept as they are given."""
    def __init__(self, profiler_level: Any = ..., aic_metrics: Any = ..., l2_cache: Any = False, mstx: Any = False, data_simplification: Any = True, export_type=None, mstx_domain_include=None, mstx_domain_exclude=None, sys_io: Any = False, sys_interconnection: Any = False, host_sys=None) -> None: ...
def auc(x, y, reorder: Any = False):
    """The area under a curve."""
def auto_mixed_precision(network, amp_level: Any = 'O0', dtype: Any = ...):
    """Let a network compute in half precision; it is changed in place. "O2" and "O3" give it back in a Cell that answers in float32."""
def build_train_network(network, optimizer, loss_fn=None, level: Any = 'O0', boost_level: Any = 'O0', **kwargs):
    """A Cell that does one step of training: network, loss, gradients, optimizer."""
def ckpt_to_safetensors(file_path, save_path=None, name_map=None, file_name_regex=None, processes_num: Any = 1):
    """Write the parameters of checkpoints into safetensors files."""
def codegen(file, folder, *, name=None, shapes=None, target: Any = 'host', train: Any = (), optimizer: Any = 'sgd', loss: Any = 'cross_entropy', ram: Any = 0, flash: Any = 0, dec_key=None, dec_mode: Any = 'AES-GCM'):
    """Write models as plain C99 with static memory, for machines without an operating system."""
def convert_checkpoints(src_checkpoints_dir, dst_checkpoints_dir, ckpt_prefix, src_strategy_file=None, dst_strategy_file=None, process_num: Any = 1, output_format: Any = 'ckpt'):
    """The checkpoints of all processes for another way to split: of `src_checkpoints_dir`/rank_N the last file, to `dst_checkpoints_dir`/rank_N/<ckpt_prefix>N.<output_format>. A strategy of None has the whole in one process."""
def custom_mixed_precision(network, *, white_list=None, black_list=None, dtype: Any = ...):
    """Let the Cells of a list, or all but those of a list, compute in half precision; the network is changed in place. With a black list it is given back in a Cell that answers in float32."""
def data_sink(fn, dataset, sink_size: Any = 1, jit_config=None, input_signature=None):
    """A function without arguments: each call runs ``fn`` on the next ``sink_size`` rows and gives the last result."""
def exponential_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair: Any = False):
    """``learning_rate * decay_rate ** (epoch / decay_epoch)``; a stair rounds the exponent down."""
def export_split_mindir(file_name, device_num: Any = 8, rank_id: Any = 0, dynamic: Any = True, sapp: Any = True):
    """Parts of a model for several devices: not made here, this is one process. Arguments are checked as MindSpore does."""
def flops_collection(phase: Any = 'train'):
    """Not counted in eager mode."""
def frombuffer(buffer, dtype, count: Any = -1, offset: Any = 0):
    """A Tensor of one dimension on the memory of an object with the buffer protocol."""
def get_metric_fn(name, *args, **kwargs):
    """A metric by its name."""
def get_sdc_detect_result():
    """Whether silent errors were found: no."""
def initializer(init, shape=None, dtype: Any = ...):
    """A Tensor that init fills: a name like 'normal', a number, an Initializer, or a Tensor, which is answered as it is."""
def inverse_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair: Any = False):
    """``learning_rate / (1 + decay_rate * epoch / decay_epoch)``. Arguments as for exponential_decay_lr."""
def jacfwd(fn, grad_position: Any = 0, has_aux: Any = False):
    """The Jacobian of ``fn``, column by column in forward mode. Arguments and result are those of ``jacrev``."""
def jacrev(fn, grad_position: Any = 0, has_aux: Any = False):
    """A function that returns the Jacobian of ``fn``, row by row in reverse mode: shape of the output, then of the input."""
def jvp(fn, inputs, v, has_aux: Any = False):
    """``fn(*inputs)`` and its derivative in the direction ``v`` (forward mode)."""
def load_checkpoint(ckpt_file_name, net=None, strict_load: Any = False, filter_prefix=None, dec_key=None, dec_mode: Any = 'AES-GCM', specify_prefix=None, choice_func=None, crc_check: Any = False, remove_redundancy: Any = False, format: Any = 'ckpt'):
    """Load parameters from a file: a MindSpore checkpoint, or one of the other formats that `spore inspect` knows (safetensors, PyTorch, TensorFlow, numpy), told by the contents."""
def load_checkpoint_async(ckpt_file_name, net=None, strict_load: Any = False, filter_prefix=None, dec_key=None, dec_mode: Any = 'AES-GCM', specify_prefix=None, choice_func=None):
    """Load parameters in the background. The arguments are those of :func:`load_checkpoint`."""
def load_distributed_checkpoint(network, checkpoint_filenames=None, predict_strategy=None, train_strategy_filename=None, strict_load: Any = False, dec_key=None, dec_mode: Any = 'AES-GCM', format: Any = 'ckpt', unified_safetensors_dir=None, dst_safetensors_dir=None, rank_id=None, output_format: Any = 'safetensors', name_map=None, max_process_num: Any = 64, return_param_dict: Any = False):
    """Load the checkpoints of all processes into a network: each Parameter is put together from its slices, as the strategy of training says, and where the network's Parameter is a slice, cut as `predict_strategy` says."""
def load_param_into_net(net, parameter_dict, strict_load: Any = False, remove_redundancy: Any = False):
    """Put values into the parameters of a net, by name. Nothing is changed unless all of them fit."""
def load_segmented_checkpoints(ckpt_file_dir, net=None, strict_load: Any = False, filter_prefix=None, dec_key=None, dec_mode: Any = 'AES-GCM', specify_prefix=None, choice_func=None):
    """Load all ``.ckpt`` files of a folder, which together hold one model. See :func:`load_checkpoint`."""
def mindio_preload(ckpt_file_name):
    """Have MindIO read a checkpoint ahead of time."""
def mutable(input_data, dynamic_len: Any = False):
    """The value, marked so that compiled functions take it as an input and not as a constant."""
def names():
    """The names a metric can be asked for by, sorted."""
def natural_exp_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair: Any = False):
    """``learning_rate * e ** (-decay_rate * epoch)``; a stair holds the epoch at multiples of ``decay_epoch``. Arguments as for exponential_decay_lr."""
def no_init_parameters():
    """For networks whose Parameters are loaded from a checkpoint next: marks Parameters as not needing initial values."""
def parameter_broadcast(net, layout, cur_rank: Any = 0, initial_rank: Any = 0):
    """Give Parameters of one process to all. Those that are split are left out: every process has slices of its own."""
def polynomial_decay_lr(learning_rate, end_learning_rate, total_step, step_per_epoch, decay_epoch, power, update_decay_epoch: Any = False):
    """From ``learning_rate`` to ``end_learning_rate`` along a power of the remaining way."""
class profile(_profile):
    """Measures what runs inside a with statement."""
    def __init__(self, activities=None, with_stack: Any = False, profile_memory: Any = False, data_process: Any = False, parallel_strategy: Any = False, start_profile: Any = True, hbm_ddr: Any = False, pcie: Any = False, sync_enable: Any = True, record_shapes: Any = False, schedule=None, on_trace_ready=None, experimental_config=None) -> None: ...
def quantize(net, dataset=None, *, kind: Any = 'static', bits: Any = 8, activation_bits: Any = 8, block: Any = 32, per_tensor: Any = False, symmetric: Any = False, method: Any = 'minmax', rounding: Any = 'nearest', percentile: Any = 99.99, bias_correction: Any = True, equalize: Any = False, keep: Any = (), target=None, integer_only: Any = False, effect_samples: Any = 8, free_batch: Any = True):
    """Make a network compute with small integers."""
def recompute(block, *args, use_reentrant: Any = True, output_recompute: Any = False, early_stop: Any = True, context_fn=None, **kwargs):
    """``block(*args, **kwargs)``, of which nothing but the inputs is kept for gradients: it is computed again when they are taken."""
def safetensors_to_ckpt(file_path, save_path=None, name_map=None, file_name_regex=None, processes_num: Any = 1):
    """Write the parameters of safetensors files into checkpoints. Arguments as of :func:`ckpt_to_safetensors`."""
def save_checkpoint(save_obj, ckpt_file_name, integrated_save: Any = True, async_save: Any = False, append_dict=None, enc_key=None, enc_mode: Any = 'AES-GCM', choice_func=None, crc_check: Any = False, format: Any = 'ckpt', **kwargs):
    """Save parameters into a file, which is replaced in one step, when everything is on disk."""
class schedule(_schedule):
    """Which steps are measured: after skip_first, rounds of wait, warmup and active steps; repeat of them, 0 for ever."""
    def __init__(self, *, wait, active, warmup: Any = 0, repeat: Any = 0, skip_first: Any = 0) -> None: ...
def sdc_detect_start():
    """Watch for silent errors of Ascend processors: there is none, hence nothing to watch."""
def sdc_detect_stop():
    """End of sdc_detect_start."""
def set_device_limit(device, cube_num: Any = -1, vector_num: Any = -1):
    """Keep how many cores of an Ascend processor may be used; a CPU has none."""
def set_dump(target, enabled: Any = True):
    """Mark a Cell, or a Primitive, whose values are to be written. Only Ascend writes them; elsewhere it is a mark."""
def set_kernel_launch_group(thread_num: Any = 2, kernel_group_num: Any = 8):
    """Operators are not launched in groups; the numbers are checked only."""
def set_memory(init_size: Any = '2GB', increase_size: Any = '2GB', max_size: Any = '1024GB', optimize_level: Any = 'O0', huge_page_reserve_size: Any = '0GB'):
    """Limit memory to max_size. The pool grows with its use, so the other sizes are checked only."""
def set_mindio_server_info(data_block_pool_capacity_in_gb: Any = 100):
    """How much memory MindIO takes, in GB, when it begins."""
def set_recursion_limit(recursion_limit: Any = 1000):
    """How deep functions may call themselves when compiled; checked and kept for that."""
def set_stream_limit(stream, cube_num: Any = -1, vector_num: Any = -1):
    """As set_device_limit, for one stream."""
def stress_detect(detect_type: Any = 'aic'):
    """Load tests of Ascend processors."""
def tensor(input_data=None, dtype=None, shape=None, init=None, const_arg: Any = False):
    """A new Tensor; the same as `Tensor(...)`."""
def tensorboard_trace_handler(dir_name=None, worker_name=None, analyse_flag: Any = True, async_mode: Any = False):
    """What a profiler does when it stops: write its files to a folder."""
def thor(net, learning_rate, damping, momentum, weight_decay: Any = 0.0, loss_scale: Any = 1.0, batch_size: Any = 32, use_nesterov: Any = False, decay_filter: Any = ..., split_indices=None, enable_clip_grad: Any = False, frequency: Any = 100):
    """The second-order optimizer THOR for a network, whose layers it replaces by those that keep what it needs."""
def transform_checkpoints(src_checkpoints_dir, dst_checkpoints_dir, ckpt_prefix, src_strategy_file=None, dst_strategy_file=None, process_num: Any = 1, output_format: Any = 'ckpt'):
    """The checkpoints of all processes for another way to split: of `src_checkpoints_dir`/rank_N the last file, to `dst_checkpoints_dir`/rank_N/<ckpt_prefix>N.<output_format>. A strategy of None has the whole in one process."""
def unified_safetensors(src_dir, src_strategy_file, dst_dir, merge_with_redundancy: Any = True, file_suffix=None, max_process_num: Any = 64, choice_func=None, split_dst_file: Any = ()):
    """The slices of all processes, in safetensors files in the folders rank_N, put together: `part0.safetensors` and further ones of about 3 GB, `param_name_map.json` that tells which Parameter is in which, `hyper_param.safetensors` with what the strategy does not name."""
def vjp(fn, *inputs, weights=None, has_aux: Any = False):
    """``fn(*inputs)`` and a function that multiplies a vector with its Jacobian from the left."""
