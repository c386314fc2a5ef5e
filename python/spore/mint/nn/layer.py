# SPDX-License-Identifier: Apache-2.0
"""Layers with the arguments of the torch-like interface. Where spore.nn has such a variant already, its class is used."""
import math

from spore import _core
from spore import ops
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.layer.activation import HShrink as Hardshrink
from spore.nn.layer.activation import HSigmoid as Hardsigmoid
from spore.nn.layer.activation import HSwish as Hardswish
from spore.nn.layer.activation import LogSigmoid, ReLU, Sigmoid, Tanh
from spore.nn.layer.activation import LogSoftmaxExt as LogSoftmax
from spore.nn.layer.activation import PReLUExt as PReLU
from spore.nn.layer.activation import SeLU as SELU
from spore.nn.layer.activation import SoftmaxExt as Softmax
from spore.nn.layer.activation import SoftShrink as Softshrink
from spore.nn.layer.basic import Dropout2dExt as Dropout2d
from spore.nn.layer.basic import DropoutExt as Dropout
from spore.nn.layer.basic import Flatten, Identity, Linear
from spore.nn.layer.embedding import EmbeddingExt as Embedding
from spore.nn.layer.image import PixelShuffle
from spore.nn.layer.normalization import LayerNormExt as LayerNorm
from spore.nn.layer.pooling import AdaptiveMaxPool2d, MaxUnpool2d, _whole
from spore.nn.layer.pooling import AvgPool1dExt as AvgPool1d
from spore.nn.layer.pooling import AvgPool2dExt as AvgPool2d
from spore.nn.layer.pooling import AvgPool3dExt as AvgPool3d
from spore.nn.layer.pooling import MaxPool2dExt as MaxPool2d
from spore.nn.loss.loss import BCELoss as _BCELoss
from spore.nn.loss.loss import CosineEmbeddingLoss as _CosineEmbeddingLoss
from spore.nn.loss.loss import L1LossExt as L1Loss
from spore.nn.loss.loss import SoftMarginLoss

__all__ = ["AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
           "AvgPool1d", "AvgPool2d", "AvgPool3d", "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d",
           "BatchNorm3d", "Cell", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "Conv1d", "Conv2d", "Conv3d",
           "ConvTranspose2d", "CosineEmbeddingLoss", "CrossEntropyLoss", "Dropout", "Dropout2d", "ELU", "Embedding",
           "Flatten", "Fold", "GELU", "GLU", "GroupNorm", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "Identity",
           "KLDivLoss", "L1Loss", "LayerNorm", "Linear", "LogSigmoid", "LogSoftmax", "MSELoss", "MaxPool2d", "MaxUnpool2d",
           "Mish", "NLLLoss", "PReLU", "PixelShuffle", "ReLU", "ReLU6", "ReflectionPad1d", "ReflectionPad2d",
           "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "SELU", "SiLU", "Sigmoid",
           "SmoothL1Loss", "SoftMarginLoss", "Softmax", "Softshrink", "SyncBatchNorm", "Tanh", "Threshold", "Unfold",
           "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"]


# --- activations -----------------------------------------------------------------------------------------------------

class _Activation(Cell):
    """An activation that can overwrite its input."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def construct(self, input):
        out = self._compute(input)
        return ops.assign(input, out) if self.inplace else out


class SiLU(_Activation):
    """x times sigmoid(x).

    Args:
        inplace: whether the input itself is changed. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.SiLU()(ms.Tensor([0.0])))
        [0.]
    """

    def _compute(self, x):
        return ops.silu(x)


class ReLU6(_Activation):
    """x kept between 0 and 6.

    Args:
        inplace: whether the input itself is changed. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.ReLU6()(ms.Tensor([-1.0, 9.0])))
        [0. 6.]
    """

    def _compute(self, x):
        return ops.relu6(x)


class Mish(Cell):
    """x tanh(softplus(x)).

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.Mish()(ms.Tensor([0.0])))
        [0.]
    """

    def construct(self, input):
        return ops.mish(input)


class ELU(_Activation):
    """x above zero, alpha (exp(x) - 1) below.

    Args:
        alpha: Default 1.0.
        inplace: whether the input itself is changed. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.ELU(2.0)(ms.Tensor([0.0, 1.0])))
        [0. 1.]
    """

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__(inplace)
        self.alpha = alpha

    def _compute(self, x):
        return _core.apply("elu", (x,), {"alpha": self.alpha})


class Hardtanh(_Activation):
    """x kept between two values.

    Args:
        min_val: least value. Default -1.0.
        max_val: largest value. Default 1.0.
        inplace: whether the input itself is changed. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.Hardtanh()(ms.Tensor([-3.0, 0.5])))
        [-1.   0.5]
    """

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False):
        super().__init__(inplace)
        self.min_val, self.max_val = min_val, max_val

    def _compute(self, x):
        return ops.hardtanh(x, self.min_val, self.max_val)


class Threshold(_Activation):
    """x above a threshold, a fixed value elsewhere.

    Args:
        threshold: the threshold.
        value: the value.
        inplace: whether the input itself is changed. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.Threshold(0.5, 9.0)(ms.Tensor([0.0, 1.0])))
        [9. 1.]
    """

    def __init__(self, threshold, value, inplace=False):
        super().__init__(inplace)
        self.threshold, self.value = threshold, value

    def _compute(self, x):
        return ops.threshold(x, self.threshold, self.value)


class GELU(Cell):
    """x times the probability that a normal variable is below x.

    Args:
        approximate: 'none' or 'tanh'. Default 'none'.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.GELU()(ms.Tensor([0.0])))
        [0.]
    """

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def construct(self, input):
        return ops.gelu(input, self.approximate)


class GLU(Cell):
    """The first half of x along a dimension times the sigmoid of the second half.

    Args:
        dim: where to halve. Default -1.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.GLU()(ms.Tensor([2.0, 0.0])))
        [1.]
    """

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def construct(self, input):
        return ops.glu(input, self.dim)


# --- convolution -----------------------------------------------------------------------------------------------------

def _sizes(cls, name, value, count, least=1):
    if isinstance(value, list):
        value = tuple(value)
    if isinstance(value, tuple) and len(value) == 1:
        value = value * count
    return check.tuple_of(cls, name, value, count, least)


class _Conv(Cell):
    """A convolution over `_dims` dimensions."""

    _dims = 2

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", dtype=None):
        super().__init__()
        cls, n = self.cls_name, self._dims
        check.groups(cls, in_channels, out_channels, groups)
        check.boolean(cls, "bias", bias)
        self.kernel_size, self.stride = _sizes(cls, "kernel_size", kernel_size, n), _sizes(cls, "stride", stride, n)
        self.dilation = _sizes(cls, "dilation", dilation, n)
        self.padding_mode = check.one_of(cls, "padding_mode", padding_mode, ("zeros", "reflect", "replicate", "circular"))
        if isinstance(padding, str):
            check.one_of(cls, "padding", padding, ("same", "valid"))
            if padding == "same" and self.stride != (1,) * n:
                raise ValueError(f"For '{cls}', padding 'same' needs a stride of 1, but got {self.stride}.")
            spans = [d * (k - 1) if padding == "same" else 0 for d, k in zip(self.dilation, self.kernel_size)]
            pads = tuple(p for s in spans for p in (s // 2, s - s // 2))
            self.padding = padding
        else:
            self.padding = _sizes(cls, "padding", padding, n, 0)
            pads = tuple(p for p in self.padding for _ in range(2))
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        shape = [out_channels, in_channels // groups, *self.kernel_size]
        self.weight, self.bias = check.affine_parameters(cls, None, None, shape, check.product(shape[1:]), bias,
                                                         dtype or mstype.float32)
        # The first dimension last, as ops.pad wants it.
        self._around = tuple(p for i in reversed(range(n)) for p in pads[2 * i:2 * i + 2]) if padding_mode != "zeros" else None
        self._attrs = {"stride": self.stride, "pad_mode": "pad", "pad": (0,) * (2 * n) if self._around else pads,
                       "dilation": self.dilation, "group": groups}

    def construct(self, input):
        single = input.ndim == self._dims + 1
        if single:
            input = ops.expand_dims(input, 0)
        if self._around:
            input = ops.pad(input, self._around, self.padding_mode)
        out = _core.apply(f"conv{self._dims}d", (input, self.weight, self.bias), self._attrs)
        return ops.squeeze(out, 0) if single else out

    def extend_repr(self):
        return (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
                f"padding={self.padding}, dilation={self.dilation}, groups={self.groups}, bias={self.bias is not None}")


_CONV = """

    Args:
        in_channels, out_channels: channels of input and output.
        kernel_size: size of the kernel, an int or one for every dimension.
        stride: step of the kernel. Default 1.
        padding: elements added at both sides, or 'same' or 'valid'. Default 0.
        dilation: distance between taps of the kernel. Default 1.
        groups: number of groups of channels. Default 1.
        bias: whether a bias is added. Default True.
        padding_mode: 'zeros', 'reflect', 'replicate' or 'circular'. Default 'zeros'.
        dtype: of the Parameters. Default None, float32.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.{name}(2, 3, 3, padding=1)(ms.ops.ones({shape})).shape)
        {result}
    """


class Conv1d(_Conv):
    __doc__ = "Convolution of a signal, (N, C, L) or (C, L)." + _CONV.format(name="Conv1d", shape="(1, 2, 5)",
                                                                           result="(1, 3, 5)")
    _dims = 1


class Conv2d(_Conv):
    __doc__ = "Convolution of an image, (N, C, H, W) or (C, H, W)." + _CONV.format(name="Conv2d", shape="(1, 2, 5, 5)",
                                                                                 result="(1, 3, 5, 5)")
    _dims = 2


class Conv3d(_Conv):
    __doc__ = ("Convolution of a volume, (N, C, D, H, W) or (C, D, H, W)."
               + _CONV.format(name="Conv3d", shape="(1, 2, 5, 5, 5)", result="(1, 3, 5, 5, 5)"))
    _dims = 3


class ConvTranspose2d(Cell):
    """Transposed convolution of an image, (N, C, H, W) or (C, H, W).

    Args:
        in_channels, out_channels: channels of input and output.
        kernel_size: size of the kernel, an int or (height, width).
        stride: step of the kernel. Default 1.
        padding: elements taken away at both sides. Default 0.
        output_padding: rows and columns added at the end. Default 0.
        groups: number of groups of channels. Default 1.
        bias: whether a bias is added. Default True.
        dilation: distance between taps of the kernel. Default 1.
        padding_mode: must be 'zeros'.
        dtype: of the Parameters. Default None, float32.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.ConvTranspose2d(2, 3, 4, stride=2, padding=1)(ms.ops.ones((1, 2, 5, 5))).shape)
        (1, 3, 10, 10)
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1, padding_mode="zeros", dtype=None):
        super().__init__()
        cls = self.cls_name
        check.groups(cls, in_channels, out_channels, groups)
        check.boolean(cls, "bias", bias)
        check.one_of(cls, "padding_mode", padding_mode, ("zeros",))
        self.kernel_size, self.stride = _sizes(cls, "kernel_size", kernel_size, 2), _sizes(cls, "stride", stride, 2)
        self.padding, self.dilation = _sizes(cls, "padding", padding, 2, 0), _sizes(cls, "dilation", dilation, 2)
        self.output_padding = _sizes(cls, "output_padding", output_padding, 2, 0)
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, padding_mode
        shape = [in_channels, out_channels // groups, *self.kernel_size]
        self.weight, self.bias = check.affine_parameters(cls, None, None, shape, check.product(shape[1:]), bias,
                                                         dtype or mstype.float32, out_channels)
        self._attrs = {"stride": self.stride, "pad_mode": "pad", "pad": tuple(p for p in self.padding for _ in range(2)),
                       "dilation": self.dilation, "group": groups}

    def construct(self, input, output_size=None):
        single = input.ndim == 3
        if single:
            input = ops.expand_dims(input, 0)
        least = [(size - 1) * s - 2 * p + d * (k - 1) + 1 for size, s, p, d, k in
                 zip(input.shape[2:], self.stride, self.padding, self.dilation, self.kernel_size)]
        if output_size is None:
            size = [a + b for a, b in zip(least, self.output_padding)]
        else:
            size = list(output_size)[-2:]
            if len(size) != 2 or any(not a <= b < a + s for a, b, s in zip(least, size, self.stride)):
                raise ValueError(f"For '{self.cls_name}', 'output_size' must be at least {tuple(least)} and less than a stride "
                                 f"more, but got {output_size}.")
        out = _core.apply("conv2d_input_grad", (input, self.weight), dict(self._attrs, input_size=tuple(size)))
        if self.bias is not None:
            out = out + ops.reshape(self.bias, (1, -1, 1, 1))
        return ops.squeeze(out, 0) if single else out


# --- normalisation ---------------------------------------------------------------------------------------------------

class _BatchNorm(Cell):
    """Batch normalisation with kept statistics that may be absent."""

    _ranks = ()

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, dtype=None):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats, self.dtype = affine, track_running_stats, dtype or mstype.float32
        self.weight = self.bias = None
        if affine:
            self.weight = check.parameter("ones", num_features, self.dtype, "weight")
            self.bias = check.parameter("zeros", num_features, self.dtype, "bias")
        self.running_mean = self.running_var = self.num_batches_tracked = None
        if track_running_stats:
            self.running_mean = check.parameter("zeros", num_features, self.dtype, "running_mean", False)
            self.running_var = check.parameter("ones", num_features, self.dtype, "running_var", False)
            self.num_batches_tracked = Parameter(Tensor(0, mstype.int64), name="num_batches_tracked", requires_grad=False)

    def reset_running_stats(self):
        """Mean 0, variance 1, no batch counted."""
        if self.track_running_stats:
            self.running_mean.set_data(ops.zeros_like(self.running_mean))
            self.running_var.set_data(ops.ones_like(self.running_var))
            self.num_batches_tracked.set_data(Tensor(0, mstype.int64))

    def reset_parameters(self):
        """Initial values everywhere."""
        self.reset_running_stats()
        if self.affine:
            self.weight.set_data(ops.ones_like(self.weight))
            self.bias.set_data(ops.zeros_like(self.bias))

    def _fits(self, rank):
        return rank in self._ranks

    def construct(self, input):
        if not self._fits(input.ndim):
            check.rank_of(self.cls_name, input, *self._ranks)
        factor = 0.0 if self.momentum is None else self.momentum
        keep = self.training and self.track_running_stats
        if keep:
            ops.assign_add(self.num_batches_tracked, Tensor(1, mstype.int64))
            if self.momentum is None:
                factor = 1.0 / int(self.num_batches_tracked.asnumpy())
        by_batch = self.training or self.running_mean is None
        mean, variance = (self.running_mean, self.running_var) if keep or not by_batch else (None, None)
        return _core.apply("batch_norm", (input, self.weight, self.bias, mean, variance),
                           {"is_training": by_batch, "epsilon": self.eps, "momentum": factor})[0]

    def extend_repr(self):
        return (f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"track_running_stats={self.track_running_stats}")


_NORM = """

    Args:
        num_features: number of channels.
        eps: added to variances. Default 1e-5.
        momentum: weight of new statistics when the kept ones are updated; None for their plain mean. Default 0.1.
        affine: whether there are scale and shift. Default True.
        track_running_stats: whether statistics are kept for evaluation. Default True.{more}
        dtype: of the Parameters. Default None, float32.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.{name}(3)(ms.ops.ones({shape})).shape)
        {shape}
    """


class BatchNorm1d(_BatchNorm):
    __doc__ = "Batch normalisation of (N, C) or (N, C, L)." + _NORM.format(more="", name="BatchNorm1d", shape="(2, 3)")
    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    __doc__ = "Batch normalisation of images, (N, C, H, W)." + _NORM.format(more="", name="BatchNorm2d", shape="(2, 3, 4, 4)")
    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    __doc__ = ("Batch normalisation of volumes, (N, C, D, H, W)."
               + _NORM.format(more="", name="BatchNorm3d", shape="(2, 3, 2, 2, 2)"))
    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    __doc__ = ("Batch normalisation with the statistics of all devices; with one device the plain one."
               + _NORM.format(more="\n        process_group: name of the group of devices. Default None, all.",
                              name="SyncBatchNorm", shape="(2, 3, 4)"))
    _ranks = (2, 3, 4, 5)

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
                 dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)
        self.process_group = process_group


class GroupNorm(Cell):
    """Normalises groups of channels of every sample, then scales and shifts every channel.

    Args:
        num_groups: number of groups.
        num_channels: number of channels, a multiple of num_groups.
        eps: added to variances. Default 1e-5.
        affine: whether scale and shift are trained. Default True.
        dtype: of the Parameters. Default None, float32.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.GroupNorm(2, 4)(ms.ops.ones((1, 4, 3))).shape)
        (1, 4, 3)
    """

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, dtype=None):
        super().__init__()
        cls = self.cls_name
        self.num_groups = check.positive_int(cls, "num_groups", num_groups)
        self.num_channels = check.positive_int(cls, "num_channels", num_channels)
        if num_channels % num_groups:
            check.fail_value(cls, "num_channels", num_channels, f"a multiple of 'num_groups', {num_groups}")
        self.eps, self.affine = check.instance(cls, "eps", eps, float), check.boolean(cls, "affine", affine)
        self.weight = check.parameter("ones", num_channels, dtype or mstype.float32, "weight", affine)
        self.bias = check.parameter("zeros", num_channels, dtype or mstype.float32, "bias", affine)

    def construct(self, input):
        return ops.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extend_repr(self):
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}, eps={self.eps}, affine={self.affine}"


# --- padding, pooling, folding ---------------------------------------------------------------------------------------

class _Pad(Cell):
    """Pads the last `_dims` dimensions."""

    _dims, _mode, _least = 1, "constant", None

    def __init__(self, padding):
        super().__init__()
        count = 2 * self._dims
        if check.is_int(padding):
            padding = (padding,) * count
        if not isinstance(padding, (tuple, list)) or len(padding) != count:
            check.fail_value(self.cls_name, "padding", padding, f"an int or {count} ints")
        for amount in padding:
            check.instance(self.cls_name, "padding", amount, int)
            if self._least is not None and amount < self._least:
                check.fail_value(self.cls_name, "padding", padding, f"amounts not below {self._least}")
        self.padding, self.value = tuple(padding), 0

    def construct(self, input):
        if self._mode == "constant":
            return ops.pad(input, self.padding, "constant", self.value)
        return ops.pad(input, self.padding, self._mode)


class _ConstantPad(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value


def _pads(name, first, base, mode, least=None):
    """The three classes of a kind of padding."""
    made = []
    for dims in (1, 2, 3):
        where = ("the last dimension", "the last two dimensions", "the last three dimensions")[dims - 1]
        value = "\n        value: the value." if base is _ConstantPad else ""
        call = "1, 0.5" if base is _ConstantPad else "1"
        given = (1, 2, 3, 3, 3)[:dims + 1]
        result = given[:1] + tuple(n + 2 for n in given[1:])
        doc = (f"{first} {where}.\n\n    Args:\n        padding: an int for all sides, or pairs (before, after), the last "
               f"dimension first.{value}\n\n    Examples:\n        >>> import spore as ms\n        >>> from spore import mint\n"
               f"        >>> print(mint.nn.{name}{dims}d({call})(ms.ops.ones({given})).shape)\n        {result}\n    ")
        made.append(type(f"{name}{dims}d", (base,), {"__doc__": doc, "__module__": __name__, "_dims": dims, "_mode": mode,
                                                     "_least": least}))
    return made


ConstantPad1d, ConstantPad2d, ConstantPad3d = _pads("ConstantPad", "Puts a value around", _ConstantPad, "constant")
ZeroPad1d, ZeroPad2d, ZeroPad3d = _pads("ZeroPad", "Puts zeros around", _Pad, "constant")
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = _pads("ReflectionPad", "Mirrors at the ends of", _Pad, "reflect", 0)
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = _pads("ReplicationPad", "Repeats the elements at the ends of", _Pad,
                                                             "replicate", 0)


class _AdaptiveAvgPool(Cell):
    """Means of windows that cover the input."""

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def extend_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """A signal, (N, C, L) or (C, L), brought to a length by means of windows that cover it.

    Args:
        output_size: the length.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.AdaptiveAvgPool1d(2)(ms.ops.ones((1, 3, 5))).shape)
        (1, 3, 2)
    """

    def construct(self, input):
        size = self.output_size[0] if isinstance(self.output_size, (tuple, list)) else self.output_size
        return ops.squeeze(ops.adaptive_avg_pool2d(ops.expand_dims(input, -2), (1, size)), -2)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """An image, (N, C, H, W) or (C, H, W), brought to a size by means of windows that cover it.

    Args:
        output_size: an int or (height, width); None keeps a size.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.AdaptiveAvgPool2d(1)(ms.ops.ones((1, 3, 5, 4))).shape)
        (1, 3, 1, 1)
    """

    def construct(self, input):
        return ops.adaptive_avg_pool2d(input, _whole(input, self.output_size))


class AdaptiveAvgPool3d(Cell):
    """A volume, (N, C, D, H, W) or (C, D, H, W), brought to a size by means of windows that cover it.

    Args:
        output_size: an int or (depth, height, width); None keeps a size.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.AdaptiveAvgPool3d(1)(ms.ops.ones((1, 3, 2, 5, 4))).shape)
        (1, 3, 1, 1, 1)
    """

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def construct(self, input):
        return ops.adaptive_avg_pool3d(input, _whole(input, self.output_size))


class AdaptiveMaxPool1d(Cell):
    """A signal, (N, C, L) or (C, L), brought to a length by the largest elements of windows that cover it.

    Args:
        output_size: the length.
        return_indices: whether to give positions too. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.AdaptiveMaxPool1d(2)(ms.ops.ones((1, 3, 5))).shape)
        (1, 3, 2)
    """

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def construct(self, input):
        size = self.output_size[0] if isinstance(self.output_size, (tuple, list)) else self.output_size
        out = ops.adaptive_max_pool2d(ops.expand_dims(input, -2), (1, size), self.return_indices)
        return tuple(ops.squeeze(o, -2) for o in out) if self.return_indices else ops.squeeze(out, -2)

    def extend_repr(self):
        return f"output_size={self.output_size}, return_indices={self.return_indices}"


class Unfold(Cell):
    """Patches of images as columns: (N, C, H, W) to (N, C * taps, patches).

    Args:
        kernel_size: size of a patch, an int or (height, width).
        dilation: distance between elements of a patch. Default 1.
        padding: zeros added at both sides. Default 0.
        stride: step between patches. Default 1.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.Unfold(2)(ms.ops.ones((1, 3, 4, 4))).shape)
        (1, 12, 9)
    """

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def construct(self, input):
        single = input.ndim == 3
        x = ops.expand_dims(input, 0) if single else input
        k, d, p, s = _geometry(self)
        x = ops.pad(x, (p[1], p[1], p[0], p[0])) if any(p) else x
        rows, columns = ((size - d[i] * (k[i] - 1) - 1) // s[i] + 1 for i, size in enumerate(x.shape[2:]))
        taps = [x[:, :, i * d[0]:i * d[0] + (rows - 1) * s[0] + 1:s[0], j * d[1]:j * d[1] + (columns - 1) * s[1] + 1:s[1]]
                for i in range(k[0]) for j in range(k[1])]
        out = ops.reshape(ops.stack(taps, 2), (x.shape[0], -1, rows * columns))
        return ops.squeeze(out, 0) if single else out


def _geometry(cell):
    cls = cell.cls_name
    return (_sizes(cls, "kernel_size", cell.kernel_size, 2), _sizes(cls, "dilation", cell.dilation, 2),
            _sizes(cls, "padding", cell.padding, 2, 0), _sizes(cls, "stride", cell.stride, 2))


class Fold(Cell):
    """Adds patches, as Unfold gives them, up to images.

    Args:
        output_size: size of the images, an int or (height, width).
        kernel_size: size of a patch, an int or (height, width).
        dilation: distance between elements of a patch. Default 1.
        padding: zeros that were added at both sides. Default 0.
        stride: step between patches. Default 1.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.Fold((4, 4), 2)(ms.ops.ones((1, 12, 9))).shape)
        (1, 3, 4, 4)
    """

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def construct(self, input):
        single = input.ndim == 2
        x = ops.expand_dims(input, 0) if single else input
        k, d, p, s = _geometry(self)
        size = _sizes(self.cls_name, "output_size", self.output_size, 2)
        rows, columns = ((size[i] + 2 * p[i] - d[i] * (k[i] - 1) - 1) // s[i] + 1 for i in range(2))
        taps = k[0] * k[1]
        if x.shape[1] % taps or x.shape[2] != rows * columns:
            raise ValueError(f"For '{self.cls_name}', the input must have a multiple of {taps} rows and {rows * columns} "
                             f"columns, but got shape {input.shape}.")
        # A tap of every patch is one channel, whose transposed convolution puts it where it came from.
        parts = ops.reshape(x, (x.shape[0] * (x.shape[1] // taps), taps, rows, columns))
        weight = ops.reshape(ops.eye(taps, taps, x.dtype), (taps, 1, *k))
        attrs = {"stride": s, "pad_mode": "pad", "pad": (p[0], p[0], p[1], p[1]), "dilation": d, "group": 1}
        out = _core.apply("conv2d_input_grad", (parts, weight), dict(attrs, input_size=size))
        out = ops.reshape(out, (x.shape[0], -1, *size))
        return ops.squeeze(out, 0) if single else out


def _grown(x, factors):
    """The sizes of the spatial dimensions times factors."""
    sizes = x.shape[2:]
    factors = factors if isinstance(factors, (tuple, list)) else (factors,) * len(sizes)
    return tuple(math.floor(size * factor) for size, factor in zip(sizes, factors))


class Upsample(Cell):
    """A signal, image or volume of another size, by interpolation.

    Args:
        size: size of the result. Default None.
        scale_factor: or the factor of the sizes. Default None.
        mode: 'nearest', 'linear', 'bilinear', 'bicubic' or 'trilinear'. Default 'nearest'.
        align_corners: whether the centres of the corner elements stay in place. Default None.
        recompute_scale_factor: whether the factor is computed anew from the sizes. Default None.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.Upsample(scale_factor=2.0)(ms.ops.ones((1, 2, 2, 2))).shape)
        (1, 2, 4, 4)
    """

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, input):
        size = _grown(input, self.scale_factor) if self.size is None else self.size
        return ops.interpolate(input, size, None, self.mode, self.align_corners)


class UpsamplingNearest2d(Cell):
    """An image of another size; every pixel is that of the nearest one.

    Args:
        size: size of the result. Default None.
        scale_factor: or the factors of the sizes. Default None.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.UpsamplingNearest2d(size=(4, 4))(ms.ops.ones((1, 2, 2, 2))).shape)
        (1, 2, 4, 4)
    """

    _how = ("nearest", None)

    def __init__(self, size=None, scale_factor=None):
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def construct(self, input):
        size = _grown(input, self.scale_factor) if self.size is None else self.size
        size = tuple(size) if isinstance(size, (tuple, list)) else (size,) * 2
        return ops.interpolate(input, size, None, *self._how)


class UpsamplingBilinear2d(UpsamplingNearest2d):
    """An image of another size, by linear interpolation; the corners stay in place.

    Args:
        size: size of the result. Default None.
        scale_factor: or the factors of the sizes. Default None.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.UpsamplingBilinear2d(size=(4, 4))(ms.ops.ones((1, 2, 2, 2))).shape)
        (1, 2, 4, 4)
    """

    _how = ("bilinear", True)


# --- losses ----------------------------------------------------------------------------------------------------------

class _Loss(Cell):
    def __init__(self, reduction="mean"):
        super().__init__()
        self.reduction = reduction


class MSELoss(_Loss):
    """Mean, or sum, of squared differences.

    Args:
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.MSELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        2.0
    """

    def construct(self, input, target):
        return ops.mse_loss(input, target, self.reduction)


class SmoothL1Loss(_Loss):
    """Absolute differences, rounded off to a parabola near zero.

    Args:
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.
        beta: where the parabola ends. Default 1.0.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.SmoothL1Loss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        0.75
    """

    def __init__(self, reduction="mean", beta=1.0):
        super().__init__(reduction)
        self.beta = beta

    def construct(self, input, target):
        if self.beta == 0:
            return ops.l1_loss(input, target, self.reduction)
        return ops.smooth_l1_loss(input, target, self.beta, self.reduction)


class NLLLoss(_Loss):
    """Minus the log probability of the target's class.

    Args:
        weight: of every class. Default None, all one.
        ignore_index: target of samples that do not count. Default -100.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.NLLLoss()(ms.Tensor([[-0.5, -1.0]]), ms.Tensor([1], ms.int32)))
        1.0
    """

    def __init__(self, weight=None, ignore_index=-100, reduction="mean"):
        super().__init__(reduction)
        self.__dict__["weight"] = weight
        self.ignore_index = ignore_index

    def construct(self, input, target):
        return ops.nll_loss(input, target, self.weight, self.ignore_index, self.reduction)


class CrossEntropyLoss(_Loss):
    """Cross entropy between targets and the softmax of the input.

    Args:
        weight: of every class. Default None, all one.
        ignore_index: target of samples that do not count. Default -100.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.
        label_smoothing: part of the targets that is spread over all classes. Default 0.0.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.CrossEntropyLoss()(ms.Tensor([[1.0, 1.0]]), ms.Tensor([0])))
        0.6931472
    """

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        super().__init__(reduction)
        self.__dict__["weight"] = weight
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def construct(self, input, target):
        return ops.cross_entropy(input, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class BCELoss(Cell):
    """Cross entropy between probabilities and targets of two classes.

    Args:
        weight: of every element. Default None, all one.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.BCELoss()(ms.Tensor([0.5]), ms.Tensor([1.0])))
        0.6931472
    """

    def __init__(self, weight=None, reduction="mean"):
        super().__init__()
        self.bce_loss = _BCELoss(weight, reduction)

    def construct(self, input, target):
        return self.bce_loss(input, target)


class BCEWithLogitsLoss(_Loss):
    """Cross entropy between the sigmoid of the input and targets of two classes.

    Args:
        weight: of every element. Default None, all one.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.
        pos_weight: of positive elements. Default None, all one.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.BCEWithLogitsLoss()(ms.Tensor([0.0]), ms.Tensor([1.0])))
        0.6931472
    """

    def __init__(self, weight=None, reduction="mean", pos_weight=None):
        super().__init__(reduction)
        self.__dict__.update(weight=weight, pos_weight=pos_weight)

    def construct(self, input, target):
        return ops.binary_cross_entropy_with_logits(input, target, self.weight, self.pos_weight, self.reduction)


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence of targets from log probabilities.

    Args:
        reduction: 'mean', 'batchmean', 'sum' or 'none'. Default 'mean'.
        log_target: whether targets are log probabilities too. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.KLDivLoss()(ms.Tensor([-1.0]), ms.Tensor([1.0])))
        1.0
    """

    def __init__(self, reduction="mean", log_target=False):
        super().__init__(reduction)
        check.one_of(self.cls_name, "reduction", reduction, ("mean", "batchmean", "sum", "none"))
        self.log_target = log_target

    def construct(self, input, target):
        if self.log_target:
            terms = ops.exp(target) * (target - input)
        else:
            some = target > 0
            logs = ops.log(ops.select(some, target, ops.ones_like(target)))
            terms = ops.select(some, target * logs, ops.zeros_like(target)) - target * input
        if self.reduction == "none":
            return terms
        if self.reduction == "mean":
            return ops.mean(terms)
        return ops.sum(terms) / (input.shape[0] if self.reduction == "batchmean" and input.ndim else 1)


class CosineEmbeddingLoss(_CosineEmbeddingLoss):
    """1 - cosine for pairs with target 1, max(0, cosine - margin) for pairs with target -1.

    Args:
        margin: in [-1, 1]. Default 0.0.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> x = ms.Tensor([[3.0, 4.0]])
        >>> print(mint.nn.CosineEmbeddingLoss()(x, x, ms.Tensor([1], ms.int32)))
        0.0
    """

    def construct(self, input1, input2, target):
        if input1.ndim == 1:
            return super().construct(*(ops.expand_dims(x, 0) for x in (input1, input2, target)))
        return super().construct(input1, input2, target)
