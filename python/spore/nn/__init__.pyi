# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""spore.nn: Cells, layers, losses, optimizers, learning rates, cells around networks. Metrics, which live in spore.train, are shown here too."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.ops.primitive import Primitive
from . import probability as probability
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
from spore.nn.layer.basic import Identity as Identity
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

__all__: list[str]

class ASGD(_ASGD):
    """Gradient descent with a falling learning rate and an average of the parameters beside it, in ``ax``."""
    def __init__(self, params, learning_rate: Any = 0.1, lambd: Any = 0.0001, alpha: Any = 0.75, t0: Any = 1000000.0, weight_decay: Any = 0.0) -> None: ...
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
class CELU(_CELU):
    """x above zero, alpha (exp(x / alpha) - 1) below."""
    def __init__(self, alpha: Any = 1.0) -> None: ...
class CTCLoss(_CTCLoss):
    """Connectionist temporal classification: minus the log probability of label sequences."""
    def __init__(self, blank: Any = 0, reduction: Any = 'mean', zero_infinity: Any = False) -> None: ...
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
class CrossEntropyLoss(_CrossEntropyLoss):
    """Cross entropy between labels and the softmax of logits, (N, C, ...)."""
    def __init__(self, weight=None, ignore_index: Any = -100, reduction: Any = 'mean', label_smoothing: Any = 0.0) -> None: ...
class Dense(_Dense):
    """A fully connected layer over the last dimension: x times the transposed weight, plus bias."""
    def __init__(self, in_channels, out_channels, weight_init=None, bias_init=None, has_bias: Any = True, activation=None, dtype: Any = ...) -> None: ...
class DenseBnAct(_DenseBnAct):
    """Dense, then, where asked for, BatchNorm1d and an activation."""
    def __init__(self, in_channels, out_channels, weight_init: Any = 'normal', bias_init: Any = 'zeros', has_bias: Any = True, has_bn: Any = False, momentum: Any = 0.9, eps: Any = 1e-05, activation=None, alpha: Any = 0.2, after_fake: Any = True) -> None: ...
class DenseThor(_DenseThor):
    """A Dense layer that keeps what the optimizer nn.thor needs."""
    def __init__(self, in_channels, out_channels, weight_init: Any = 'normal', bias_init: Any = 'zeros', has_bias: Any = True, activation=None) -> None: ...
class DiceLoss(_DiceLoss):
    """1 minus twice the overlap of two sets, divided by their sizes."""
    def __init__(self, smooth: Any = 1e-05) -> None: ...
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
class ELU(_ELU):
    """x above zero, alpha (exp(x) - 1) below."""
    def __init__(self, alpha: Any = 1.0) -> None: ...
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
class ExponentialDecayLR(_ExponentialDecayLR):
    """``learning_rate * decay_rate ** (step / decay_steps)``."""
    def __init__(self, learning_rate, decay_rate, decay_steps, is_stair: Any = False) -> None: ...
class FTRL(_FTRL):
    """Follow the regularised leader: parameters follow from accumulated gradients, held near zero by l1 and l2."""
    def __init__(self, params, initial_accum: Any = 0.1, learning_rate: Any = 0.001, lr_power: Any = -0.5, l1: Any = 0.0, l2: Any = 0.0, use_locking: Any = False, loss_scale: Any = 1.0, weight_decay: Any = 0.0) -> None: ...
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
class GroupNorm(_GroupNorm):
    """Normalises groups of channels of every sample, then scales and shifts every channel."""
    def __init__(self, num_groups, num_channels, eps: Any = 1e-05, affine: Any = True, gamma_init: Any = 'ones', beta_init: Any = 'zeros', dtype: Any = ...) -> None: ...
class HShrink(_HShrink):
    """x where it is further than lambd from zero, zero elsewhere."""
    def __init__(self, lambd: Any = 0.5) -> None: ...
class Hardtanh(_Hardtanh):
    """x kept between two values."""
    def __init__(self, min_val: Any = -1.0, max_val: Any = 1.0) -> None: ...
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
class MicroBatchInterleaved(_MicroBatchInterleaved):
    """Runs a network on parts of a batch, so that one part computes while another communicates; on one device, in turn."""
    def __init__(self, network, interleave_num: Any = 2) -> None: ...
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
class Norm(_Norm):
    """Euclidean norm over some dimensions."""
    def __init__(self, axis: Any = (), keep_dims: Any = False) -> None: ...
class OneHot(_OneHot):
    """Indices as vectors with one element set."""
    def __init__(self, axis: Any = -1, depth: Any = 1, on_value: Any = 1.0, off_value: Any = 0.0, dtype: Any = ...) -> None: ...
class Optimizer(_Optimizer):
    """Base of all optimizers: call it with the gradients, in the order of ``parameters``, and it changes the parameters."""
    def __init__(self, learning_rate, parameters, weight_decay: Any = 0.0, loss_scale: Any = 1.0) -> None: ...
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
class PipelineGradReducer(_PipelineGradReducer):
    """Scales the gradients of a pipeline; on one device, where micro batches are summed already, that is all."""
    def __init__(self, parameters, scale_sense: Any = 1.0, opt_shard=None) -> None: ...
class PoissonNLLLoss(_PoissonNLLLoss):
    """Minus the log likelihood of labels under Poisson distributions."""
    def __init__(self, log_input: Any = True, full: Any = False, eps: Any = 1e-08, reduction: Any = 'mean') -> None: ...
class PolynomialDecayLR(_PolynomialDecayLR):
    """From ``learning_rate`` to ``end_learning_rate`` along a power of the remaining way."""
    def __init__(self, learning_rate, end_learning_rate, decay_steps, power, update_decay_steps: Any = False) -> None: ...
class ProximalAdagrad(_ProximalAdagrad):
    """Adagrad whose parameters are shrunk by l1 and l2 after each step."""
    def __init__(self, params, accum: Any = 0.1, learning_rate: Any = 0.001, l1: Any = 0.0, l2: Any = 0.0, use_locking: Any = False, loss_scale: Any = 1.0, weight_decay: Any = 0.0) -> None: ...
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
class ReduceLogSumExp(_ReduceLogSumExp):
    """Logarithm of the sum of exponentials."""
    def __init__(self, axis, keep_dims: Any = False) -> None: ...
class ResizeBilinear(_ResizeBilinear):
    """An image of another size by linear interpolation. An older name; nn.Upsample does more."""
    def __init__(self, half_pixel_centers: Any = False) -> None: ...
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
class SparseTensorDenseMatmul(_SparseTensorDenseMatmul):
    """The product of a sparse matrix, given by indices, values and shape, and a dense one."""
    def __init__(self, adjoint_st: Any = False, adjoint_dt: Any = False) -> None: ...
class SyncBatchNorm(_SyncBatchNorm):
    """Batch normalisation with the statistics of all devices; with one device the same as BatchNorm2d."""
    def __init__(self, num_features, eps: Any = 1e-05, momentum: Any = 0.9, affine: Any = True, gamma_init: Any = 'ones', beta_init: Any = 'zeros', moving_mean_init: Any = 'zeros', moving_var_init: Any = 'ones', use_batch_statistics=None, process_groups=None, dtype: Any = ...) -> None: ...
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
class Unfold(_Unfold):
    """Patches of an image, (N, C, H, W) to (N, C * height * width, rows, columns)."""
    def __init__(self, ksizes, strides, rates, padding: Any = 'valid') -> None: ...
class Upsample(_Upsample):
    """A signal, image or volume of another size, by interpolation."""
    def __init__(self, size=None, scale_factor=None, mode: Any = 'nearest', align_corners=None, recompute_scale_factor=None) -> None: ...
class Vjp(Cell):
    """The result of a function and the gradients of its inputs; the last input is the gradient of the result."""
    def __init__(self, fn) -> None: ...
    def __call__(self, *args, **kwargs): ...
class WithEvalCell(_WithEvalCell):
    """A network for evaluation: takes data and labels, returns loss, outputs and labels."""
    def __init__(self, network, loss_fn, add_cast_fp32: Any = False) -> None: ...
def exponential_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair: Any = False):
    """``learning_rate * decay_rate ** (epoch / decay_epoch)``; a stair rounds the exponent down."""
def inverse_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair: Any = False):
    """``learning_rate / (1 + decay_rate * epoch / decay_epoch)``. Arguments as for exponential_decay_lr."""
def natural_exp_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair: Any = False):
    """``learning_rate * e ** (-decay_rate * epoch)``; a stair holds the epoch at multiples of ``decay_epoch``. Arguments as for exponential_decay_lr."""
def no_init_parameters():
    """For networks whose Parameters are loaded from a checkpoint next: marks Parameters as not needing initial values."""
def polynomial_decay_lr(learning_rate, end_learning_rate, total_step, step_per_epoch, decay_epoch, power, update_decay_epoch: Any = False):
    """From ``learning_rate`` to ``end_learning_rate`` along a power of the remaining way."""
def thor(net, learning_rate, damping, momentum, weight_decay: Any = 0.0, loss_scale: Any = 1.0, batch_size: Any = 32, use_nesterov: Any = False, decay_filter: Any = ..., split_indices=None, enable_clip_grad: Any = False, frequency: Any = 100):
    """The second-order optimizer THOR for a network, whose layers it replaces by those that keep what it needs."""
