# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms: of one axis, of several, of real and of Hermitian signals. All are made of one operator, the transform
of complex numbers along an axis without a factor, so all have gradients."""
import math

from .. import _core
from .._core import Tensor
from spore._core import type_name as _type_name

__all__ = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2",
           "fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn", "fftshift", "ifftshift", "fftfreq", "rfftfreq"]

_apply = _core.apply
_NORMS = ("backward", "ortho", "forward")
_OTHER_WAY = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _dtypes():
    from ..common import dtype
    return dtype


def _check(x, name, real=False):
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: input must be a Tensor, but got {_type_name(x)}")
    if real and x.dtype in (_dtypes().complex64, _dtypes().complex128):
        raise TypeError(f"{name}: input must be real, but its dtype is {x.dtype}")
    return x


def _as_complex(x):
    dtype = _dtypes()
    if x.dtype in (dtype.complex64, dtype.complex128):
        return x
    return x.astype(dtype.complex128 if x.dtype == dtype.float64 else dtype.complex64)


def _axis(axis, rank, name):
    if isinstance(axis, Tensor):
        axis = int(axis)
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError(f"{name}: dim must be an int, but got {_type_name(axis)}")
    if not -rank <= axis < rank:
        raise ValueError(f"{name}: dim {axis} is out of range for {rank} dimensions")
    return axis % rank


def _factor(n, inverse, norm, name):
    if norm is not None and norm not in _NORMS:
        raise ValueError(f"{name}: norm must be 'backward', 'ortho', 'forward' or None, but got {norm!r}")
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if inverse == (norm != "forward") else 1.0


def _sized(x, n, axis, name):
    """x cut, or filled up with zeros, to n elements along an axis."""
    if isinstance(n, Tensor):
        n = int(n)
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"{name}: a size must be an int, but got {_type_name(n)}")
    if n < 1:
        raise ValueError(f"{name}: a size must be at least 1, but got {n}")
    have = x.shape[axis]
    if n < have:
        return x[(slice(None),) * axis + (slice(0, n),)]
    if n == have:
        return x
    pads = [0] * (2 * x.ndim)
    pads[2 * axis + 1] = n - have
    return _apply("pad", (x,), {"pads": tuple(pads)})


def _run(x, n, axis, norm, inverse, name):
    """The transform along one axis, of n elements."""
    x = _as_complex(x)
    if n is not None:
        x = _sized(x, n, axis, name)
    y = _apply("fft", (x,), {"axis": axis, "inverse": inverse})
    factor = _factor(x.shape[axis], inverse, norm, name)
    return y if factor == 1 else y * Tensor(factor, y.dtype)  # of y's precision, which a number would not have


def _real_part(x):
    return _apply("complex_real", (x,))


def _conjugate(x):
    return _apply("conj", (x,))


def _half(x, n, axis, norm, name):
    """The transform of a real signal: the first half, the other one mirrors it."""
    y = _run(x, n, axis, norm, False, name)
    return y[(slice(None),) * axis + (slice(0, y.shape[axis] // 2 + 1),)]


def _from_half(x, n, axis, norm, name):
    """The real signal of n elements whose transform has x as its first half."""
    x = _as_complex(x)
    n = 2 * (x.shape[axis] - 1) if n is None else n
    if isinstance(n, int) and n < 1:
        raise ValueError(f"{name}: the result would have {n} elements, at least 1 is needed; give n")
    x = _sized(x, n // 2 + 1 if isinstance(n, int) else n, axis, name)
    rest = (n - 1) // 2
    if rest:
        mirrored = _conjugate(x[(slice(None),) * axis + (slice(1, rest + 1),)])
        x = _apply("concat", (x, _flip(mirrored, axis)), {"axis": axis})
    return _real_part(_run(x, n, axis, norm, True, name))


def _flip(x, axis):
    from .. import ops
    return ops.flip(x, (axis,))


def _axes(x, s, dim, name):
    """[(axis, size or None)] from s and dim, as numpy reads them."""
    if s is not None:
        s = (s,) if isinstance(s, int) else tuple(s)
    if dim is None:
        dim = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    elif isinstance(dim, int):
        dim = (dim,)
    axes = [_axis(d, x.ndim, name) for d in dim]
    if len(set(axes)) != len(axes):
        raise ValueError(f"{name}: dim {tuple(dim)} names a dimension twice")
    if s is not None and len(s) != len(axes):
        raise ValueError(f"{name}: s has {len(s)} sizes for {len(axes)} dimensions")
    sizes = [None] * len(axes) if s is None else [None if n == -1 else n for n in s]
    return list(zip(axes, sizes))


def _run_many(x, pairs, norm, inverse, name):
    for axis, n in pairs:
        x = _run(x, n, axis, norm, inverse, name)
    return x


# --- one axis --------------------------------------------------------------------------------------------------------

def fft(input, n=None, dim=-1, norm=None) -> Tensor:
    """The Fourier transform along a dimension, which is first cut or filled up with zeros to n elements.

    norm "backward" (or None) has no factor, "ortho" 1/sqrt(n), "forward" 1/n.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.fft(ms.Tensor([1.0, 2.0, 3.0, 4.0])))
        [10.+0.j -2.+2.j -2.+0.j -2.-2.j]
    """
    x = _check(input, "fft")
    return _run(x, n, _axis(dim, x.ndim, "fft"), norm, False, "fft")


def ifft(input, n=None, dim=-1, norm=None) -> Tensor:
    """The inverse of fft; its factor is 1/n where fft has none.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.ifft(ms.ops.fft(ms.Tensor([1.0, 2.0, 4.0]))))
        [1.+0.j 2.+0.j 4.+0.j]
    """
    x = _check(input, "ifft")
    return _run(x, n, _axis(dim, x.ndim, "ifft"), norm, True, "ifft")


def rfft(input, n=None, dim=-1, norm=None) -> Tensor:
    """The Fourier transform of a real signal: n // 2 + 1 numbers, the others being their conjugates.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.rfft(ms.Tensor([1.0, 2.0, 3.0, 4.0])))
        [10.+0.j -2.+2.j -2.+0.j]
    """
    x = _check(input, "rfft", real=True)
    return _half(x, n, _axis(dim, x.ndim, "rfft"), norm, "rfft")


def irfft(input, n=None, dim=-1, norm=None) -> Tensor:
    """The inverse of rfft: a real signal of n elements, 2 (m - 1) of m when n is not given.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.irfft(ms.ops.rfft(ms.Tensor([1.0, 2.0, 3.0, 4.0]))))
        [1. 2. 3. 4.]
    """
    x = _check(input, "irfft")
    return _from_half(x, n, _axis(dim, x.ndim, "irfft"), norm, "irfft")


def hfft(input, n=None, dim=-1, norm=None) -> Tensor:
    """The transform of a Hermitian signal given by its first half: n real numbers.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.hfft(ms.Tensor([1.0, 2.0, 3.0])))
        [ 8. -2.  0. -2.]
    """
    x = _check(input, "hfft")
    return _from_half(_conjugate(_as_complex(x)), n, _axis(dim, x.ndim, "hfft"), _OTHER_WAY.get(norm, norm), "hfft")


def ihfft(input, n=None, dim=-1, norm=None) -> Tensor:
    """The inverse of hfft: the first half of a Hermitian signal from real numbers.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.ihfft(ms.Tensor([8.0, -2.0, 0.0, -2.0])).real())
        [1. 2. 3.]
    """
    x = _check(input, "ihfft", real=True)
    return _conjugate(_half(x, n, _axis(dim, x.ndim, "ihfft"), _OTHER_WAY.get(norm, norm), "ihfft"))


# --- several axes ----------------------------------------------------------------------------------------------------

def _fftn(x, s, dim, norm, name):
    return _run_many(_as_complex(_check(x, name)), _axes(x, s, dim, name), norm, False, name)


def _ifftn(x, s, dim, norm, name):
    return _run_many(_as_complex(_check(x, name)), _axes(x, s, dim, name), norm, True, name)


def _rfftn(x, s, dim, norm, name):
    *others, (axis, n) = _axes(_check(x, name, real=True), s, dim, name)
    return _run_many(_half(x, n, axis, norm, name), others, norm, False, name)


def _irfftn(x, s, dim, norm, name):
    *others, (axis, n) = _axes(_check(x, name), s, dim, name)
    return _from_half(_run_many(_as_complex(x), others, norm, True, name), n, axis, norm, name)


def _hfftn(x, s, dim, norm, name):
    *others, (axis, n) = _axes(_check(x, name), s, dim, name)
    x = _run_many(_as_complex(x), others, norm, False, name)
    return _from_half(_conjugate(x), n, axis, _OTHER_WAY.get(norm, norm), name)


def _ihfftn(x, s, dim, norm, name):
    *others, (axis, n) = _axes(_check(x, name, real=True), s, dim, name)
    return _run_many(_conjugate(_half(x, n, axis, _OTHER_WAY.get(norm, norm), name)), others, norm, True, name)


def fft2(input, s=None, dim=(-2, -1), norm=None) -> Tensor:
    """fft over two dimensions, the last two unless dim says others.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.fft2(ms.Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [[10.+0.j -2.+0.j]
         [-4.+0.j  0.+0.j]]
    """
    return _fftn(input, s, dim, norm, "fft2")


def ifft2(input, s=None, dim=(-2, -1), norm=None) -> Tensor:
    """The inverse of fft2.

    Examples:
        >>> import spore as ms
        >>> x = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(ms.ops.ifft2(ms.ops.fft2(x)).real())
        [[1. 2.]
         [3. 4.]]
    """
    return _ifftn(input, s, dim, norm, "ifft2")


def rfft2(input, s=None, dim=(-2, -1), norm=None) -> Tensor:
    """rfft along the last of two dimensions, fft along the other.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.rfft2(ms.Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [[10.+0.j -2.+0.j]
         [-4.+0.j  0.+0.j]]
    """
    return _rfftn(input, s, dim, norm, "rfft2")


def irfft2(input, s=None, dim=(-2, -1), norm=None) -> Tensor:
    """The inverse of rfft2.

    Examples:
        >>> import spore as ms
        >>> x = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(ms.ops.irfft2(ms.ops.rfft2(x)))
        [[1. 2.]
         [3. 4.]]
    """
    return _irfftn(input, s, dim, norm, "irfft2")


def hfft2(input, s=None, dim=(-2, -1), norm=None) -> Tensor:
    """hfft along the last of two dimensions, fft along the other.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.hfft2(ms.Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [[10. -2.]
         [-4.  0.]]
    """
    return _hfftn(input, s, dim, norm, "hfft2")


def ihfft2(input, s=None, dim=(-2, -1), norm=None) -> Tensor:
    """The inverse of hfft2.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.ihfft2(ms.Tensor([[10.0, -2.0], [-4.0, 0.0]])).real())
        [[1. 2.]
         [3. 4.]]
    """
    return _ihfftn(input, s, dim, norm, "ihfft2")


def fftn(input, s=None, dim=None, norm=None) -> Tensor:
    """fft over dimensions: those in dim, else the last len(s), else all.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.fftn(ms.Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [[10.+0.j -2.+0.j]
         [-4.+0.j  0.+0.j]]
    """
    return _fftn(input, s, dim, norm, "fftn")


def ifftn(input, s=None, dim=None, norm=None) -> Tensor:
    """The inverse of fftn.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.ifftn(ms.Tensor([[10.0, -2.0], [-4.0, 0.0]])).real())
        [[1. 2.]
         [3. 4.]]
    """
    return _ifftn(input, s, dim, norm, "ifftn")


def rfftn(input, s=None, dim=None, norm=None) -> Tensor:
    """rfft along the last of the dimensions, fft along the others.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.rfftn(ms.Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).shape)
        (2, 2)
    """
    return _rfftn(input, s, dim, norm, "rfftn")


def irfftn(input, s=None, dim=None, norm=None) -> Tensor:
    """The inverse of rfftn; s tells whether the last dimension was odd.

    Examples:
        >>> import spore as ms
        >>> x = ms.Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ms.ops.irfftn(ms.ops.rfftn(x), x.shape))
        [[1. 2. 3.]
         [4. 5. 6.]]
    """
    return _irfftn(input, s, dim, norm, "irfftn")


def hfftn(input, s=None, dim=None, norm=None) -> Tensor:
    """hfft along the last of the dimensions, fft along the others.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.hfftn(ms.Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [[10. -2.]
         [-4.  0.]]
    """
    return _hfftn(input, s, dim, norm, "hfftn")


def ihfftn(input, s=None, dim=None, norm=None) -> Tensor:
    """The inverse of hfftn.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.ihfftn(ms.Tensor([[10.0, -2.0], [-4.0, 0.0]])).real())
        [[1. 2.]
         [3. 4.]]
    """
    return _ihfftn(input, s, dim, norm, "ihfftn")


# --- frequencies -----------------------------------------------------------------------------------------------------

def _shift(x, dim, half, name):
    axes = [axis for axis, _ in _axes(_check(x, name), None, dim, name)]
    return _apply("roll", (x,), {"shifts": tuple(half(x.shape[a]) for a in axes), "dims": tuple(axes)})


def fftshift(input, dim=None) -> Tensor:
    """The frequency zero moved to the middle, along the dimensions given or all.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.fftshift(ms.Tensor([0, 1, 2, -2, -1])))
        [-2 -1  0  1  2]
    """
    return _shift(input, dim, lambda n: n // 2, "fftshift")


def ifftshift(input, dim=None) -> Tensor:
    """What fftshift did, undone.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.ifftshift(ms.Tensor([-2, -1, 0, 1, 2])))
        [ 0  1  2 -2 -1]
    """
    return _shift(input, dim, lambda n: -(n // 2), "ifftshift")


def _frequencies(counts, n, d, dtype, name):
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"{name}: n must be an int, but got {_type_name(n)}")
    if n < 1:
        raise ValueError(f"{name}: n must be at least 1, but got {n}")
    return Tensor([k / (n * d) for k in counts(n)], _dtypes().float32 if dtype is None else dtype)


def fftfreq(n, d=1.0, dtype=None) -> Tensor:
    """The frequencies of a transform of n elements that are d apart: 0, 1 ... then the negative ones, over n d.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.fftfreq(4))
        [ 0.    0.25 -0.5  -0.25]
    """
    return _frequencies(lambda n: [k if k < (n + 1) // 2 else k - n for k in range(n)], n, d, dtype, "fftfreq")


def rfftfreq(n, d=1.0, dtype=None) -> Tensor:
    """The frequencies of rfft of n elements that are d apart.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.rfftfreq(4))
        [0.   0.25 0.5 ]
    """
    return _frequencies(lambda n: range(n // 2 + 1), n, d, dtype, "rfftfreq")
