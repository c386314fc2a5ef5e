# SPDX-License-Identifier: Apache-2.0
"""Activations as Cells. Each is one call of the operator of the same name."""
import numpy as np

from spore._core import type_name as _type_name
from spore import ops
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.layer._plain import Plain

__all__ = ["Softmin", "Softmax", "Softmax2d", "LogSoftmax", "LogSoftmaxExt", "ReLU", "ReLU6", "RReLU", "SeLU", "SiLU",
           "Tanh", "Tanhshrink", "Hardtanh", "GELU", "FastGelu", "Sigmoid", "Softsign", "PReLU", "PReLUExt",
           "get_activation", "LeakyReLU", "HSigmoid", "HSwish", "ELU", "LogSigmoid", "LRN", "SoftShrink", "HShrink", "CELU",
           "Threshold", "Mish", "GLU"]


class ReLU(Plain):
    """The larger of x and 0, for every element.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.ReLU()(ms.Tensor([-1.0, 2.0])))
        [0. 2.]
    """

    def construct(self, input) -> Tensor:
        return ops.relu(input)


class ReLU6(Plain):
    """x kept between 0 and 6.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.ReLU6()(ms.Tensor([-1.0, 2.0, 9.0])))
        [0. 2. 6.]
    """

    def construct(self, x) -> Tensor:
        return ops.relu6(x)


class LeakyReLU(Cell):
    """x above zero, alpha times x below.

    Args:
        alpha: slope below zero. Default 0.2.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.LeakyReLU(0.5)(ms.Tensor([-1.0, 2.0])))
        [-0.5  2. ]
    """

    def __init__(self, alpha=0.2):
        super().__init__()
        self.alpha = alpha

    def construct(self, x) -> Tensor:
        return ops.leaky_relu(x, self.alpha)


class RReLU(Cell):
    """x above zero; below, x times a slope drawn anew for every element.

    Args:
        lower: least slope. Default 1/8.
        upper: largest slope. Default 1/3.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.RReLU(0.5, 0.5)(ms.Tensor([-1.0, 2.0])))
        [-0.5  2. ]
    """

    def __init__(self, lower=1 / 8, upper=1 / 3):
        super().__init__()
        check.instance(self.cls_name, "upper", upper, float, int)
        check.instance(self.cls_name, "lower", lower, float, int)
        if lower > upper:
            raise ValueError(f"For '{self.cls_name}', 'lower' must not be above 'upper', but got {lower} and {upper}.")
        self.lower, self.upper = float(lower), float(upper)

    def construct(self, x) -> Tensor:
        if not isinstance(x, Tensor):
            raise TypeError(f"For '{self.cls_name}', the input must be a Tensor, but got {_type_name(x)}.")
        slope = ops.uniform(x.shape, Tensor(self.lower, mstype.float32), Tensor(self.upper, mstype.float32))
        return ops.select(x < 0, x * slope.astype(x.dtype), x)


class SeLU(Plain):
    """Scaled exponential unit, with the scales that keep mean and variance.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.SeLU()(ms.Tensor([0.0, 1.0])))
        [0.       1.050701]
    """

    def construct(self, input_x) -> Tensor:
        return ops.selu(input_x)


class SiLU(Plain):
    """x times sigmoid(x).

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.SiLU()(ms.Tensor([0.0, 1.0])))
        [0.        0.7310586]
    """

    def construct(self, x) -> Tensor:
        return ops.silu(x)


class ELU(Cell):
    """x above zero, alpha (exp(x) - 1) below.

    Args:
        alpha: must be 1.0. Default 1.0.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.ELU()(ms.Tensor([0.0, 1.0])))
        [0. 1.]
    """

    def __init__(self, alpha=1.0):
        super().__init__()
        check.instance(self.cls_name, "alpha", alpha, float)
        if alpha != 1.0:
            check.fail_value(self.cls_name, "alpha", alpha, "1.0")
        self.alpha = alpha

    def construct(self, x) -> Tensor:
        return ops.elu(x, self.alpha)


class CELU(Cell):
    """x above zero, alpha (exp(x / alpha) - 1) below.

    Args:
        alpha: not 0. Default 1.0.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.CELU()(ms.Tensor([0.0, 1.0])))
        [0. 1.]
    """

    def __init__(self, alpha=1.0):
        super().__init__()
        check.instance(self.cls_name, "alpha", alpha, float)
        if alpha == 0.0:
            check.fail_value(self.cls_name, "alpha", alpha, "a float other than 0")
        self.alpha = alpha

    def construct(self, x) -> Tensor:
        return ops.celu(x, self.alpha)


class Tanh(Plain):
    """Hyperbolic tangent.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Tanh()(ms.Tensor([0.0, 1.0])))
        [0.        0.7615942]
    """

    def construct(self, x) -> Tensor:
        return ops.tanh(x)


class Tanhshrink(Plain):
    """x minus its hyperbolic tangent.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Tanhshrink()(ms.Tensor([0.0])))
        [0.]
    """

    def construct(self, x) -> Tensor:
        return ops.tanhshrink(x)


class Hardtanh(Cell):
    """x kept between two values.

    Args:
        min_val: least value. Default -1.0.
        max_val: largest value. Default 1.0.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Hardtanh()(ms.Tensor([-3.0, 0.5])))
        [-1.   0.5]
    """

    def __init__(self, min_val=-1.0, max_val=1.0):
        super().__init__()
        if min_val >= max_val:
            raise ValueError(f"For '{self.cls_name}', 'min_val' must be below 'max_val', but got {min_val} and {max_val}.")
        self.min_val, self.max_val = min_val, max_val

    def construct(self, x) -> Tensor:
        return ops.hardtanh(x, self.min_val, self.max_val)


class GELU(Cell):
    """x times the probability that a normal variable is below x.

    Args:
        approximate: True for the approximation by a hyperbolic tangent. Default True.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.GELU()(ms.Tensor([0.0, 10.0])))
        [ 0. 10.]
    """

    def __init__(self, approximate=True):
        super().__init__()
        check.boolean(self.cls_name, "approximate", approximate)
        self.approximate = "tanh" if approximate else "none"

    def construct(self, x) -> Tensor:
        return ops.gelu(x, self.approximate)


class FastGelu(Plain):
    """x sigmoid(1.702 x), an approximation of GELU.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.FastGelu()(ms.Tensor([0.0])))
        [0.]
    """

    def construct(self, x) -> Tensor:
        return ops.fast_gelu(x)


class Sigmoid(Plain):
    """1 / (1 + exp(-x)).

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Sigmoid()(ms.Tensor([0.0])))
        [0.5]
    """

    def construct(self, x) -> Tensor:
        return ops.sigmoid(x)


class LogSigmoid(Plain):
    """Logarithm of the sigmoid.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.LogSigmoid()(ms.Tensor([0.0])))
        [-0.6931472]
    """

    def construct(self, input_x) -> Tensor:
        return ops.logsigmoid(input_x)


class Softsign(Plain):
    """x / (1 + |x|).

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Softsign()(ms.Tensor([1.0])))
        [0.5]
    """

    def construct(self, x) -> Tensor:
        return ops.softsign(x)


class HSwish(Plain):
    """x times HSigmoid(x).

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.HSwish()(ms.Tensor([0.0, 3.0])))
        [0. 3.]
    """

    def construct(self, input) -> Tensor:
        return ops.hardswish(input)


class HSigmoid(Plain):
    """x / 6 + 1/2 kept between 0 and 1.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.HSigmoid()(ms.Tensor([-3.0, 0.0, 3.0])))
        [0.  0.5 1. ]
    """

    def construct(self, input) -> Tensor:
        return ops.hardsigmoid(input)


class SoftShrink(Cell):
    """x moved towards zero by lambd, zero in between.

    Args:
        lambd: not below 0. Default 0.5.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.SoftShrink()(ms.Tensor([-1.0, 0.25, 2.0])))
        [-0.5  0.   1.5]
    """

    def __init__(self, lambd=0.5):
        super().__init__()
        check.number_in(self.cls_name, "lambd", lambd, 0, float("inf"))
        self.lambd = lambd

    def construct(self, input) -> Tensor:
        return ops.softshrink(input, self.lambd)


class HShrink(Cell):
    """x where it is further than lambd from zero, zero elsewhere.

    Args:
        lambd: Default 0.5.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.HShrink()(ms.Tensor([-1.0, 0.25, 2.0])))
        [-1.  0.  2.]
    """

    def __init__(self, lambd=0.5):
        super().__init__()
        check.instance(self.cls_name, "lambd", lambd, float, int)
        self.lambd = lambd

    def construct(self, input) -> Tensor:
        return ops.hardshrink(input, self.lambd)


class Threshold(Cell):
    """x above a threshold, a fixed value elsewhere.

    Args:
        threshold: the threshold.
        value: the value.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Threshold(0.5, 9.0)(ms.Tensor([0.0, 1.0])))
        [9. 1.]
    """

    def __init__(self, threshold, value):
        super().__init__()
        self.threshold, self.value = threshold, value

    def construct(self, input_x) -> Tensor:
        return ops.threshold(input_x, self.threshold, self.value)


class Mish(Plain):
    """x tanh(softplus(x)).

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Mish()(ms.Tensor([0.0])))
        [0.]
    """

    def construct(self, input_x) -> Tensor:
        return ops.mish(input_x)


class GLU(Cell):
    """The first half of x along an axis times the sigmoid of the second half.

    Args:
        axis: where to halve. Default -1.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.GLU()(ms.Tensor([2.0, 0.0])))
        [1.]
    """

    def __init__(self, axis=-1):
        super().__init__()
        self.dim = axis

    def construct(self, x) -> Tensor:
        return ops.glu(x, self.dim)


class Softmax(Cell):
    """exp(x) divided by its sum along an axis.

    Args:
        axis: an int or a tuple of ints. Default -1.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Softmax()(ms.Tensor([1.0, 1.0])))
        [0.5 0.5]
    """

    def __init__(self, axis=-1):
        super().__init__()
        check.instance(self.cls_name, "axis", axis, int, tuple)
        self.axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis

    def construct(self, input) -> Tensor:
        return ops.softmax(input, self.axis)


class SoftmaxExt(Cell):
    """Softmax with the torch-like argument `dim`."""

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def construct(self, input):
        return ops.softmax(input, _implicit_axis(input) if self.dim is None else self.dim)


def _implicit_axis(x):
    """The axis meant when none is given: 0 for zero, one or three dimensions, else 1."""
    return 0 if x.ndim in (0, 1, 3) else 1


class Softmax2d(Plain):
    """Softmax over the channels of an image, (N, C, H, W) or (C, H, W).

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Softmax2d()(ms.ops.ones((2, 1, 1))).shape)
        (2, 1, 1)
    """

    def construct(self, x) -> Tensor:
        check.rank_of(self.cls_name, x, 3, 4)
        return ops.softmax(x, -3)


class Softmin(Cell):
    """Softmax of -x.

    Args:
        axis: Default -1.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Softmin()(ms.Tensor([1.0, 1.0])))
        [0.5 0.5]
    """

    def __init__(self, axis=-1):
        super().__init__()
        self.axis = axis

    def construct(self, x) -> Tensor:
        return ops.softmin(x, self.axis)


class LogSoftmax(Cell):
    """Logarithm of the softmax.

    Args:
        axis: Default -1.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.LogSoftmax()(ms.Tensor([1.0, 1.0])))
        [-0.6931472 -0.6931472]
    """

    def __init__(self, axis=-1):
        super().__init__()
        check.instance(self.cls_name, "axis", axis, int)
        self.axis = axis

    def construct(self, x) -> Tensor:
        return ops.log_softmax(x, self.axis)


class LogSoftmaxExt(Cell):
    """LogSoftmax with the torch-like argument `dim`."""

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def construct(self, x) -> Tensor:
        return ops.log_softmax(x, _implicit_axis(x) if self.dim is None else self.dim)


class PReLU(Cell):
    """x above zero, w x below; w is learned, one for all or one for every channel.

    Args:
        channel: number of slopes. Default 1.
        w: initial slope: a float, a list of floats, or a Tensor. Default 0.25.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.PReLU()(ms.Tensor([[-4.0, 2.0]])))
        [[-1.  2.]]
    """

    def __init__(self, channel=1, w=0.25):
        super().__init__()
        cls = self.cls_name
        check.positive_int(cls, "channel", channel)
        if isinstance(w, (float, np.float32)):
            w = Tensor(np.full((channel,), w, np.float32))
        elif isinstance(w, list):
            if len(w) != channel or not all(isinstance(v, (float, np.float32)) for v in w):
                check.fail_value(cls, "w", w, f"a list of {channel} floats")
            w = Tensor(np.array(w, np.float32))
        elif isinstance(w, Tensor):
            if w.dtype not in (mstype.float16, mstype.float32) or tuple(w.shape) != (channel,):
                raise ValueError(f"For '{cls}', 'w' must be float16 or float32 of shape ({channel},), but got {w.dtype} of "
                                 f"shape {tuple(w.shape)}.")
        else:
            check.fail_type(cls, "w", w, "a float, a list or a Tensor")
        self.w = Parameter(w, name="a")

    def construct(self, x) -> Tensor:
        return ops.prelu(x, self.w if self.w.dtype == x.dtype else self.w.astype(x.dtype))


class PReLUExt(Cell):
    """PReLU with the torch-like arguments.

    Args:
        num_parameters: number of slopes. Default 1.
        init: initial slope. Default 0.25.
        dtype: of the slopes. Default None, float32.
    """

    def __init__(self, num_parameters=1, init=0.25, dtype=None):
        super().__init__()
        self.weight = Parameter(Tensor(np.full((num_parameters,), init, np.float32), dtype or mstype.float32), name="weight")

    def construct(self, input) -> Tensor:
        return ops.prelu(input, self.weight)


class LRN(Cell):
    """Every element divided by a power of the squares of its neighbours across channels.

    Args:
        depth_radius: channels to either side. Default 5.
        bias: added to the sum of squares. Default 1.0.
        alpha: factor of that sum. Default 1.0.
        beta: the power. Default 0.5.
        norm_region: 'ACROSS_CHANNELS'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.LRN()(ms.ops.zeros((1, 2, 1, 1))).shape)
        (1, 2, 1, 1)
    """

    def __init__(self, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region="ACROSS_CHANNELS"):
        super().__init__()
        cls = self.cls_name
        check.int_at_least(cls, "depth_radius", depth_radius, 0)
        check.instance(cls, "bias", bias, float)
        check.instance(cls, "alpha", alpha, float)
        check.instance(cls, "beta", beta, float)
        check.one_of(cls, "norm_region", norm_region, ("ACROSS_CHANNELS",))
        self.depth_radius, self.bias, self.alpha, self.beta = depth_radius, bias, alpha, beta

    def construct(self, input_x) -> Tensor:
        check.rank_of(self.cls_name, input_x, 4)
        r, channels = self.depth_radius, input_x.shape[1]
        total = ops.cumsum(ops.pad(input_x * input_x, (0, 0, 0, 0, r + 1, r)), 1)
        near = total[:, 2 * r + 1:] - total[:, :channels]
        return input_x / ops.pow(self.bias + self.alpha * near, self.beta)


_activation = {
    "softmin": Softmin, "softmax": Softmax, "softmax2d": Softmax2d, "logsoftmax": LogSoftmax, "logsoftmaxExt": LogSoftmaxExt,
    "relu": ReLU, "relu6": ReLU6, "rrelu": RReLU, "silu": SiLU, "tanh": Tanh, "tanhshrink": Tanhshrink,
    "hardtanh": Hardtanh, "gelu": GELU, "fast_gelu": FastGelu, "elu": ELU, "sigmoid": Sigmoid, "softsign": Softsign,
    "prelu": PReLU, "preluExt": PReLUExt, "leakyrelu": LeakyReLU, "hswish": HSwish, "hsigmoid": HSigmoid,
    "logsigmoid": LogSigmoid, "softshrink": SoftShrink, "hshrink": HShrink, "threshold": Threshold, "mish": Mish,
}


def get_activation(name, prim_name=None):
    """A new activation Cell by name; None for None.

    Args:
        name: such as 'relu'.
        prim_name: who asks, for the message when there is no such activation.

    Examples:
        >>> from spore import nn
        >>> print(nn.get_activation("relu"))
        ReLU()
    """
    if name is None:
        return None
    if name not in _activation:
        who = f"For '{prim_name}', the" if prim_name else "The"
        raise KeyError(f"{who} activation must be one of {list(_activation)}, but got {name!r}.")
    return _activation[name]()
