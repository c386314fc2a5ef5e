# SPDX-License-Identifier: Apache-2.0
"""Mathematical functions as Cells."""
import numpy as np

from spore import ops
from spore.common import dtype as mstype
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.layer._plain import Plain

__all__ = ["ReduceLogSumExp", "Range", "LGamma", "DiGamma", "IGamma", "LBeta", "CosineSimilarity", "MatMul", "Moments",
           "MatInverse", "MatDet"]


class ReduceLogSumExp(Cell):
    """Logarithm of the sum of exponentials.

    Args:
        axis: dimensions to sum over, an int, list or tuple.
        keep_dims: whether they stay, with size 1. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.ReduceLogSumExp(0)(ms.Tensor([0.0, 0.0])))
        0.6931472
    """

    def __init__(self, axis, keep_dims=False):
        super().__init__()
        check.instance(self.cls_name, "axis", axis, int, list, tuple)
        self.axis, self.keep_dims = axis, check.boolean(self.cls_name, "keep_dims", keep_dims)

    def construct(self, x) -> Tensor:
        top = ops.stop_gradient(ops.amax(x))
        axis = tuple(self.axis) if isinstance(self.axis, (list, tuple)) else self.axis
        axis = tuple(range(x.ndim)) if axis == () else axis
        return ops.log(ops.sum(ops.exp(x - top), axis, self.keep_dims)) + top


class Range(Cell):
    """Numbers from a start to a limit, without the limit.

    Args:
        start: first number; or the limit, when there is no other.
        limit: end of the numbers. Default None.
        delta: difference of neighbours, not 0. Default 1.

    Examples:
        >>> from spore import nn
        >>> print(nn.Range(1, 8, 2)())
        [1 3 5 7]
    """

    def __init__(self, start, limit=None, delta=1):
        super().__init__()
        if delta == 0:
            check.fail_value(self.cls_name, "delta", delta, "a number other than 0")
        data = np.arange(start, limit, delta) if limit is not None else np.arange(0, start, delta)
        self.result_tensor = Tensor(data, mstype.float32 if data.dtype == np.float64 else mstype.int32)

    def construct(self) -> Tensor:
        return self.result_tensor


class LGamma(Plain):
    """Logarithm of the absolute value of the gamma function.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.LGamma()(ms.Tensor([1.0])).shape)
        (1,)
    """

    def construct(self, x) -> Tensor:
        check.float_types(self.cls_name, "x", x)
        return ops.lgamma(x)


class DiGamma(Plain):
    """Derivative of the logarithm of the gamma function.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.DiGamma()(ms.Tensor([1.0])).shape)
        (1,)
    """

    def construct(self, x) -> Tensor:
        check.float_types(self.cls_name, "x", x)
        return ops.digamma(x)


class IGamma(Cell):
    """The lower regularised incomplete gamma function of a and x.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.IGamma()(ms.Tensor([1.0]), ms.Tensor([0.0])))
        [0.]
    """

    def __init__(self):
        super().__init__()
        self.lgamma = LGamma()

    def construct(self, a, x) -> Tensor:
        for name, value in (("a", a), ("x", x)):
            if value.dtype != mstype.float32:
                raise TypeError(f"For '{self.cls_name}', the dtype of '{name}' must be float32, but got {value.dtype}.")
        shape = (a + x).shape
        a, x = ops.broadcast_to(a, shape), ops.broadcast_to(x, shape)
        inside = ops.logical_and(x > 0, a > 0)
        ones = ops.ones_like(a)
        a_in, x_in = ops.select(inside, a, ones), ops.select(inside, x, ones)
        upper = ops.logical_and(x_in > 1, x_in > a_in)
        front = ops.exp(a_in * ops.log(x_in) - x_in - self.lgamma(a_in))
        series = _series(a_in, ops.select(upper, ones, x_in)) * front / a_in
        tail = _fraction(a_in, ops.select(upper, x_in, a_in + 2)) * front
        result = ops.select(upper, 1 - tail, series)
        wrong = ops.logical_or(x < 0, a < 0)
        return ops.select(wrong, ops.full_like(result, np.nan), ops.select(x == 0, ops.zeros_like(result), result))


_TERMS, _ENOUGH = 2000, 6e-8


def _series(a, x):
    """1 + x / (a + 1) + x x / ((a + 1) (a + 2)) + ..., for x not far above a."""
    term = total = ops.ones_like(a)
    for n in range(1, _TERMS):
        term = term * (x / (a + n))
        total = total + term
        if not bool(ops.any(term > _ENOUGH * total)):
            break
    return total


def _fraction(a, x):
    """The continued fraction 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), for x above a."""
    b = x + 1 - a
    c, d = ops.full_like(b, 1e30), 1 / b
    total = d
    for n in range(1, _TERMS):
        factor = n * (a - n)
        b = b + 2
        d, c = factor * d + b, b + factor / c
        d = 1 / ops.select(d == 0, ops.full_like(d, 1e-30), d)
        c = ops.select(c == 0, ops.full_like(c, 1e-30), c)
        total = total * (c * d)
        if not bool(ops.any(ops.abs(c * d - 1) > 2 * _ENOUGH)):
            break
    return total


class LBeta(Cell):
    """Logarithm of the beta function of x and y.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.LBeta()(ms.Tensor([1.0]), ms.Tensor([1.0])).shape)
        (1,)
    """

    def __init__(self):
        super().__init__()
        self.lgamma = LGamma()

    def construct(self, x, y) -> Tensor:
        check.float_types(self.cls_name, "x", x)
        if y.dtype != x.dtype:
            raise TypeError(f"For '{self.cls_name}', 'y' must have the dtype of 'x', {x.dtype}, but got {y.dtype}.")
        return self.lgamma(x) + self.lgamma(y) - self.lgamma(x + y)


class CosineSimilarity(Cell):
    """Cosine of the angle between vectors along a dimension.

    Args:
        dim: the dimension. Default 1.
        eps: least product of norms. Default 1e-8.
    """

    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def construct(self, x1, x2):
        for name, value in (("x1", x1), ("x2", x2)):
            if not isinstance(value, Tensor):
                check.fail_type(self.cls_name, name, value, "a Tensor")
        squares = ops.sum(x1 * x1, self.dim) * ops.sum(x2 * x2, self.dim)
        return ops.sum(x1 * x2, self.dim) / ops.sqrt(ops.maximum(squares, self.eps * self.eps))


class MatMul(Cell):
    """Matrix product; leading dimensions broadcast.

    Args:
        transpose_x1: whether the matrices of the first input are transposed. Default False.
        transpose_x2: whether those of the second are. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MatMul()(ms.ops.ones((2, 3)), ms.ops.ones((3, 4))).shape)
        (2, 4)
    """

    def __init__(self, transpose_x1=False, transpose_x2=False):
        super().__init__()
        self.transpose_x1 = check.boolean(self.cls_name, "transpose_x1", transpose_x1)
        self.transpose_x2 = check.boolean(self.cls_name, "transpose_x2", transpose_x2)

    def construct(self, x1, x2) -> Tensor:
        if self.transpose_x1 and x1.ndim > 1:
            x1 = ops.swapaxes(x1, -1, -2)
        if self.transpose_x2 and x2.ndim > 1:
            x2 = ops.swapaxes(x2, -1, -2)
        return ops.matmul(x1, x2)


class Moments(Cell):
    """Mean and variance over dimensions.

    Args:
        axis: an int or a tuple of ints. Default None, all.
        keep_dims: whether they stay, with size 1. Default None, False.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> mean, variance = nn.Moments()(ms.Tensor([1.0, 3.0]))
        >>> print(mean, variance)
        2.0 1.0
    """

    def __init__(self, axis=None, keep_dims=None):
        super().__init__()
        axis = () if axis is None else axis
        check.instance(self.cls_name, "axis", axis, int, tuple)
        for item in axis if isinstance(axis, tuple) else ():
            check.instance(self.cls_name, "axis", item, int)
        self.axis = axis
        self.keep_dims = check.boolean(self.cls_name, "keep_dims", False if keep_dims is None else keep_dims)

    def construct(self, x):
        check.float_types(self.cls_name, "x", x)
        axis = tuple(range(x.ndim)) if self.axis == () else self.axis
        wide = x.astype(mstype.float32)
        mean = ops.mean(wide, axis, True)
        variance = ops.mean(ops.square(wide - ops.stop_gradient(mean)), axis, self.keep_dims)
        if not self.keep_dims:
            mean = ops.reshape(mean, variance.shape)
        return mean.astype(x.dtype), variance.astype(x.dtype)


class MatInverse(Plain):
    """Inverse of symmetric positive definite matrices."""

    def construct(self, a) -> Tensor:
        check.float_types(self.cls_name, "a", a)
        return ops.inverse(a)


class MatDet(Plain):
    """Determinant of symmetric positive definite matrices."""

    def construct(self, a) -> Tensor:
        check.float_types(self.cls_name, "a", a)
        return ops.det(a)
