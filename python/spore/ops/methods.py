# SPDX-License-Identifier: Apache-2.0
"""Methods of Tensor that no entry of the operator table declares, and functions that are another one by an older name."""
from .. import _core
from .._core import Tensor
from ..common import dtype as mstype
from . import array
from .array import ints_of

__all__ = ["i0", "soft_shrink", "top_k", "row_stack", "tensor_slice", "col2im"]

_apply = _core.apply


def _op(name):
    from .. import ops
    return getattr(ops, name)


def _cauchy(shape, median, sigma):
    share = _op("rand")(*tuple(shape))
    return median + sigma * _op("tan")(3.141592653589793 * (share - 0.5))


def _log_normal(x, mean, std):
    return _op("exp")(_op("randn")(*x.shape) * std + mean).astype(x.dtype)


TENSOR_METHODS = {
    "cauchy": lambda self, median=0.0, sigma=1.0: _cauchy(self.shape, median, sigma).astype(self.dtype),
    "log_normal": lambda self, mean=1.0, std=2.0: _log_normal(self, mean, std),
    "sum_to_size": lambda self, *size: _sum_to(self, ints_of(size[0], "size") if len(size) == 1 and isinstance(size[0], (tuple, list))
                                               else size),
    "soft_shrink": lambda self, lambd=0.5: _op("softshrink")(self, lambd),
    "top_k": lambda self, k, sorted=True: _op("topk")(self, k, None, True, sorted),
    "choose": lambda self, choices, mode="clip": _choose(self, choices, mode),
    "put_": lambda self, index, source, accumulate=False: _put_into(self, index, source, accumulate),
    "addmm_": lambda self, mat1, mat2, *, beta=1, alpha=1: self.copy_(beta * self + alpha * _op("matmul")(mat1, mat2)),
    "unfold": lambda self, kernel_size, dilation=1, padding=0, stride=1: _op("unfold")(self, kernel_size, dilation, padding, stride),
    "col2im": lambda self, output_size, kernel_size, dilation, padding_value, stride: _op("col2im")(
        self, output_size, kernel_size, dilation, padding_value, stride),
    "i0": lambda self: i0(self), "inv": lambda self: _op("inv")(self)}


def _choose(x, choices, mode):
    """From several Tensors, for each element of x the one that it numbers; mode: what becomes of numbers out of range."""
    rows = [c if isinstance(c, Tensor) else Tensor(c) for c in choices]
    shape = _op("broadcast_to")
    n = len(rows)
    if mode == "clip":
        x = _op("clamp")(x, 0, n - 1)
    elif mode == "wrap":
        x = x % n
    elif mode == "raise":
        if int(x.min()) < 0 or int(x.max()) >= n:
            raise ValueError(f"choose: numbers must be between 0 and {n - 1}")
    else:
        raise ValueError(f"choose: mode must be 'raise', 'wrap' or 'clip', but got {mode!r}")
    full = x
    for row in rows:
        full = full * 0 + row * 0
    sizes = tuple(full.shape)
    stacked = array.stack([shape(row, sizes) for row in rows], 0)
    return _op("gather_elements")(stacked, 0, shape(x, sizes).expand_dims(0).astype(mstype.int64))[0]


def _put_into(x, index, source, accumulate):
    """Elements at places of the flattened Tensor replaced, or added to; the Tensor is written."""
    places = index.reshape((-1, 1)).astype(mstype.int64)
    values = source.reshape((-1,)).astype(x.dtype)
    if places.shape[0] != values.shape[0]:
        raise ValueError(f"put_: index and source must have as many elements, but have {places.shape[0]} and {values.shape[0]}")
    flat = x.reshape((-1,))
    done = _op("tensor_scatter_add" if accumulate else "tensor_scatter_update")(flat, places, values)
    return x.copy_(done.reshape(x.shape))


def _sum_to(x, size):
    """The sum over dimensions until the shape is `size`."""
    lead = x.ndim - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, x.shape[lead:])):
        raise ValueError(f"sum_to_size: shape {x.shape} cannot be summed to {tuple(size)}")
    axes = tuple(range(lead)) + tuple(lead + i for i, n in enumerate(size) if n == 1 and x.shape[lead + i] != 1)
    return (x.sum(axes, keepdims=True) if axes else x).reshape(tuple(size))


for _name, _doc in {"cauchy": "Random numbers of Cauchy's distribution, of this shape.",
                    "log_normal": "Random numbers, of this shape, whose logarithms are normal.",
                    "sum_to_size": "The sum over dimensions until the shape is the one given.",
                    "soft_shrink": "See ops.softshrink.", "top_k": "See ops.topk.", "i0": "See ops.bessel_i0.",
                    "inv": "One divided by each element."}.items():
    TENSOR_METHODS[_name].__name__ = TENSOR_METHODS[_name].__qualname__ = _name
    TENSOR_METHODS[_name].__doc__ = _doc


def soft_shrink(input, lambd=0.5) -> Tensor:
    """See ops.softshrink."""
    return _op("softshrink")(input, lambd)


def top_k(input_x, k, sorted=True):
    """The k largest elements of each row, and where they stand."""
    return _op("topk")(input_x, k, None, True, sorted)


def i0(input) -> Tensor:
    """The modified Bessel function of order 0; see ops.bessel_i0."""
    return _apply("bessel_i0", (input,))


def row_stack(tensors) -> Tensor:
    """See ops.vstack."""
    return _op("vstack")(tensors)


def tensor_slice(input, begin, size) -> Tensor:
    """See ops.slice."""
    return array.slice(input, begin, size)


def col2im(input_x, output_size, kernel_size, dilation, padding_value, stride) -> Tensor:
    """Windows [batch, channels, elements, windows] added up to pictures."""
    n, channels, elements, windows = input_x.shape
    return _op("fold")(input_x.reshape((n, channels * elements, windows)), tuple(ints_of(output_size, "output_size")), kernel_size,
                       dilation, padding_value, stride)

