# SPDX-License-Identifier: Apache-2.0
"""Activations."""
from spore import _core
from spore._core import Tensor
from spore import ops
from spore.nn.cell import Cell
from spore.nn.layer.activation import HShrink as Hardshrink
from spore.nn.layer.activation import HSigmoid as Hardsigmoid
from spore.nn.layer.activation import HSwish as Hardswish
from spore.nn.layer.activation import LogSigmoid, ReLU, Sigmoid, Tanh
from spore.nn.layer.activation import LogSoftmaxExt as LogSoftmax
from spore.nn.layer.activation import PReLUExt as PReLU
from spore.nn.layer.activation import SeLU as SELU
from spore.nn.layer.activation import SoftmaxExt as Softmax
from spore.nn.layer.activation import SoftShrink as Softshrink

__all__ = ["ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LogSigmoid", "LogSoftmax",
           "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax", "Softshrink", "Tanh", "Threshold"]


class _Activation(Cell):
    """An activation that can overwrite its input."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def construct(self, input) -> Tensor:
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

    def construct(self, input) -> Tensor:
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

    def construct(self, input) -> Tensor:
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

    def construct(self, input) -> Tensor:
        return ops.glu(input, self.dim)
