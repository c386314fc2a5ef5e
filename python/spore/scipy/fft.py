# SPDX-License-Identifier: Apache-2.0
"""Cosine transforms of the second kind, and back, with both ways unitary."""
import math

from spore import ops
from spore.common import dtype as mstype
from spore.common.tensor import Tensor

__all__ = ['dct', 'idct', 'dctn', 'idctn']


def _matrix(n, dtype):
    """Row k: the cosine of k half turns, of length one."""
    rows = [[math.sqrt((1 if k == 0 else 2) / n) * math.cos(math.pi * k * (2 * i + 1) / (2 * n)) for i in range(n)] for k in range(n)]
    return Tensor(rows, mstype.float64).astype(dtype)


def _check(x, type, norm, name):
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: x must be a Tensor, but got {x.__class__.__name__}")
    if x.dtype == mstype.bool_:
        raise TypeError(f"{name}: x must hold numbers, but its dtype is {x.dtype}")
    if type != 2:
        raise ValueError(f"{name}: type must be 2, but got {type}")
    if norm not in (None, 'ortho'):
        raise ValueError(f"{name}: norm must be 'ortho' or None, which is the same here, but got {norm!r}")
    return x if x.is_complex() or x.dtype in (mstype.float32, mstype.float64) else x.astype(mstype.float32)


def _along(x, n, axis, back):
    """The transform of one dimension, cut or filled with zeros to n first."""
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"dct: axis {axis} is out of range for {x.ndim} dimensions")
    size = x.shape[axis]
    n = size if n is None else n
    if n < 1:
        raise ValueError(f"dct: n must be positive, but got {n}")
    x = x.swapaxes(axis, -1)
    if n < size:
        x = x[..., :n]
    elif n > size:
        x = ops.pad(x, (0, n - size))
    matrix = _matrix(n, x.dtype)
    return ops.matmul(x, matrix if back else matrix.T).swapaxes(axis, -1)


def dct(x, type=2, n=None, axis=-1, norm=None):
    """The cosine transform of a dimension.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.fft import dct
        >>> print(dct(ms.Tensor([1.0, 1.0, 1.0, 1.0])))
        [2. 0. 0. 0.]
    """
    return _along(_check(x, type, norm, 'dct'), n, axis, False)


def idct(x, type=2, n=None, axis=-1, norm=None):
    """What dct is undone by.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.fft import idct
        >>> print(idct(ms.Tensor([2.0, 0.0, 0.0, 0.0])))
        [1. 1. 1. 1.]
    """
    return _along(_check(x, type, norm, 'idct'), n, axis, True)


def _all(x, s, axes, back):
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    if isinstance(axes, int):
        raise TypeError(f"dctn: axes must be a tuple of ints, but got {axes}")
    axes = tuple(axes)
    sizes = (None,) * len(axes) if s is None else ((s,) if isinstance(s, int) else tuple(s))
    if len({axis % max(x.ndim, 1) for axis in axes}) != len(axes):
        raise ValueError(f"dctn: axes {axes} name a dimension twice")
    if len(sizes) != len(axes):
        raise ValueError(f"dctn: there are {len(sizes)} sizes for {len(axes)} axes")
    for n, axis in zip(sizes, axes):
        x = _along(x, n, axis, back)
    return x


def dctn(x, type=2, s=None, axes=None, norm=None):
    """The cosine transform of several dimensions, by default all.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.fft import dctn
        >>> print(dctn(ms.Tensor([[1.0, 1.0], [1.0, 1.0]])))
        [[2. 0.]
         [0. 0.]]
    """
    return _all(_check(x, type, norm, 'dctn'), s, axes, False)


def idctn(x, type=2, s=None, axes=None, norm=None):
    """What dctn is undone by.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.fft import idctn
        >>> print(idctn(ms.Tensor([[2.0, 0.0], [0.0, 0.0]])))
        [[1. 1.]
         [1. 1.]]
    """
    return _all(_check(x, type, norm, 'idctn'), s, axes, True)
