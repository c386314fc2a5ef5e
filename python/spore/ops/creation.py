# SPDX-License-Identifier: Apache-2.0
"""New Tensors from numbers."""
import builtins

from .._core import Tensor, apply
from ..common import dtype as mstype
from ._make import named
from .array import int_of, ints_of, tensor_of
from spore._core import type_name as _type_name

__all__ = [
    "arange", "eye", "fill", "fills", "full", "full_like", "linspace", "logspace", "ones", "ones_like",
    "tril_indices", "triu_indices", "zeros", "zeros_like"]


def number_of(value):
    """A Python number from a number or a Tensor of one element."""
    if isinstance(value, Tensor):
        return value.item()
    if not isinstance(value, (builtins.bool, int, float, complex)) and not hasattr(value, "__float__"):
        raise TypeError(f"a number is wanted, but got {_type_name(value)}")
    return value


def _full(shape, value, dtype):
    """A Tensor with one number everywhere; complex numbers and Tensors go through a cast."""
    if isinstance(value, Tensor):
        return apply("cast", (apply("broadcast_to", (value,), {"shape": shape}),), {"dtype": dtype})
    if isinstance(value, complex):
        return apply("copy", (apply("broadcast_to", (Tensor(value, dtype),), {"shape": shape}),))
    return apply("full", (), {"shape": shape, "value": number_of(value), "dtype": dtype})


def _no_text(dtype, where):
    if isinstance(dtype, str):
        raise TypeError(f"{where}: dtype must be a dtype of this package, but got the text {dtype!r}")


def zeros(size, dtype=None) -> Tensor:
    """Zeros; float32 unless said otherwise."""
    _no_text(dtype, "zeros")
    return apply("full", (), {"shape": ints_of(size, "size"), "value": 0, "dtype": dtype or mstype.float32})


def ones(shape, dtype=None) -> Tensor:
    """Ones; float32 unless said otherwise."""
    _no_text(dtype, "ones")
    return apply("full", (), {"shape": ints_of(shape), "value": 1, "dtype": dtype or mstype.float32})


def full(size, fill_value, *, dtype=None) -> Tensor:
    """One number everywhere; int64 unless said otherwise, as MindSpore has it."""
    if not isinstance(fill_value, (builtins.bool, int, float, complex, Tensor)):
        raise TypeError(f"full: fill_value must be a number, but got {_type_name(fill_value)}")
    return _full(ints_of(size, "size"), fill_value, dtype or mstype.int64)


def _mint_full(size, fill_value, *, dtype=None):
    """One number everywhere; the dtype follows the number."""
    if dtype is None:
        dtype = mstype.bool_ if isinstance(fill_value, builtins.bool) else mstype.int64 if isinstance(fill_value,
            int) else mstype.float32
    return _full(ints_of(size, "size"), fill_value, dtype)


def fill(type, shape, value) -> Tensor:
    """One number everywhere."""
    return _full(ints_of(shape), value, type)


def fills(x, value) -> Tensor:
    """One number in the shape and dtype of another Tensor."""
    tensor_of(x, "x", "fills")
    return _full(x.shape, value, x.dtype)


def full_like(input, fill_value, *, dtype=None) -> Tensor:
    """One number in the shape of another Tensor."""
    return _full(tensor_of(input, "input", "full_like").shape, fill_value, dtype or input.dtype)


def zeros_like(input, *, dtype=None) -> Tensor:
    """Zeros in the shape of another Tensor."""
    tensor_of(input, "input", "zeros_like")
    return apply("full", (), {"shape": input.shape, "value": 0, "dtype": dtype or input.dtype})


def ones_like(input, *, dtype=None) -> Tensor:
    """Ones in the shape of another Tensor."""
    tensor_of(input, "input", "ones_like")
    return apply("full", (), {"shape": input.shape, "value": 1, "dtype": dtype or input.dtype})


def arange(start=0, end=None, step=1, *, dtype=None) -> Tensor:
    """start, start + step, ... before end."""
    if end is None:
        start, end = 0, start
    given = [v.dtype for v in (start, end, step) if isinstance(v, Tensor) and v.dtype.is_floating_point]
    return apply("arange", (), {"start": number_of(start), "end": number_of(end), "step": number_of(step),
                                "dtype": dtype or (given[0] if given else None)})


def linspace(start, end, steps) -> Tensor:
    """Numbers evenly spaced from start to end, both included."""
    if int_of(steps, "steps") <= 0:
        raise ValueError(f"linspace: steps must be positive, but got {steps}")
    dtype = next((v.dtype for v in (start, end) if isinstance(v, Tensor) and v.dtype.is_floating_point), mstype.float32)
    if isinstance(start, Tensor) and start.ndim or isinstance(end, Tensor) and end.ndim:
        unit = apply("linspace", (), {"start": 0.0, "end": 1.0, "steps": int_of(steps, "steps"), "dtype": dtype})
        start, end = (apply("reshape", (v,), {"shape": v.shape + (1,)}) if isinstance(v, Tensor) else v
                      for v in (start, end))
        return apply("add", (start, apply("mul", (apply("sub", (end, start)), unit))))
    return apply("linspace", (), {"start": float(number_of(start)), "end": float(number_of(end)), "steps": int_of(steps,
        "steps"),
                                  "dtype": dtype})


def _mint_linspace(start, end, steps, *, dtype=None):
    """Numbers evenly spaced from start to end, both included."""
    return apply("linspace", (), {"start": float(number_of(start)), "end": float(number_of(end)), "steps": int_of(steps,
        "steps"),
                                  "dtype": dtype or mstype.float32})


def logspace(start, end, steps, base=10, *, dtype=mstype.float32) -> Tensor:
    """base to the power of numbers evenly spaced from start to end."""
    powers = apply("linspace", (), {"start": float(number_of(start)), "end": float(number_of(end)),
                                    "steps": int_of(steps, "steps"),
                                    "dtype": mstype.float64})
    return apply("cast", (Tensor([float(base) ** p for p in powers.tolist()], mstype.float64),), {"dtype": dtype})


def eye(n, m=None, dtype=None) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    return apply("eye", (), {"n": int_of(n, "n"), "m": None if m is None else int_of(m, "m"), "dtype": dtype
                             or mstype.float32})


def _triangle(row, col, offset, dtype, lower):
    ones_ = apply("full", (), {"shape": (row, col), "value": 1, "dtype": mstype.bool_})
    found = apply("nonzero", (apply("tril" if lower else "triu", (ones_,), {"diagonal": offset}),))
    return apply("cast", (apply("copy", (apply("transpose", (found,)),)),), {"dtype": dtype})


def tril_indices(row, col, offset=0, *, dtype=mstype.int64) -> Tensor:
    """The positions of the lower triangle: a row of rows and one of columns."""
    return _triangle(row, col, offset, dtype, True)


def triu_indices(row, col, offset=0, *, dtype=mstype.int64) -> Tensor:
    """The positions of the upper triangle: a row of rows and one of columns."""
    return _triangle(row, col, offset, dtype, False)


# --- methods and mint ------------------------------------------------------------------------------------------------

def _sizes(size, by_name=None):
    """Sizes given one by one, as a tuple, or by the name size."""
    size = size if by_name is None else (by_name,)
    return ints_of(size[0] if len(size) == 1 and isinstance(size[0], (tuple, list, Tensor)) else size, "size")


def _mint_zeros(*sizes, size=None, dtype=None):
    """Zeros; float32 unless said otherwise."""
    return zeros(_sizes(sizes, size), dtype)


def _mint_ones(*sizes, size=None, dtype=None):
    """Ones; float32 unless said otherwise."""
    return ones(_sizes(sizes, size), dtype)


def _mint_empty(*sizes, size=None, dtype=None, device=None, pin_memory=False):
    """A Tensor to be written to."""
    if pin_memory:
        raise RuntimeError("empty: pin_memory=True asks for memory that another device reads; there is none, leave it out")
    return zeros(_sizes(sizes, size), dtype)


def _new_zeros(self, *sizes, size=None, dtype=None):
    """Zeros of this Tensor's dtype."""
    return zeros(_sizes(sizes, size), dtype or self.dtype)


def _new_ones(self, *sizes, size=None, dtype=None):
    """Ones of this Tensor's dtype."""
    return ones(_sizes(sizes, size), dtype or self.dtype)


TENSOR_METHODS = named({
    "new_zeros": _new_zeros, "new_ones": _new_ones, "fills": fills,
    "new_empty": lambda self, *sizes, size=None, dtype=None, device=None: zeros(_sizes(sizes, size), dtype or self.dtype),
    "new_full": lambda self, size, fill_value, *, dtype=None: _full(ints_of(size, "size"), fill_value, dtype
        or self.dtype),
    "fill": lambda self, value: zeros_like(self) if value is None else fills(self, value)})

MINT = named({
    "zeros": _mint_zeros, "ones": _mint_ones, "full": _mint_full, "full_like": full_like, "zeros_like": zeros_like,
    "ones_like": ones_like, "arange": arange, "linspace": _mint_linspace, "eye": eye, "empty": _mint_empty,
    "empty_like": lambda input, *, dtype=None, device=None, pin_memory=False: zeros_like(input, dtype=dtype)})
