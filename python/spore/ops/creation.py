# SPDX-License-Identifier: Apache-2.0
"""New Tensors from numbers, and arithmetic of plain numbers."""
import builtins
import math
import operator

from .._core import Tensor, apply
from ..common import dtype as mstype
from ._make import named
from .array import int_of, ints_of, tensor_of

__all__ = [
    "arange", "eye", "fill", "fills", "full", "full_like", "linspace", "logspace", "make_range", "ones", "ones_like",
    "range",
    "scalar_add", "scalar_cast", "scalar_div", "scalar_eq", "scalar_floordiv", "scalar_ge", "scalar_gt", "scalar_le",
    "scalar_log", "scalar_lt", "scalar_max", "scalar_min", "scalar_mod", "scalar_mul", "scalar_ne", "scalar_pow",
    "scalar_sub",
    "scalar_to_array", "scalar_to_tensor", "scalar_uadd", "scalar_usub", "tril_indices", "triu_indices", "zeros",
    "zeros_like"]


def number_of(value):
    """A Python number from a number or a Tensor of one element."""
    if isinstance(value, Tensor):
        return value.item()
    if not isinstance(value, (builtins.bool, int, float, complex)) and not hasattr(value, "__float__"):
        raise TypeError(f"a number is wanted, but got {type(value).__name__}")
    return value


def _full(shape, value, dtype):
    """A Tensor with one number everywhere; complex numbers and Tensors go through a cast."""
    if isinstance(value, Tensor):
        return apply("cast", (apply("broadcast_to", (value,), {"shape": shape}),), {"dtype": dtype})
    if isinstance(value, complex):
        return apply("copy", (apply("broadcast_to", (Tensor(value, dtype),), {"shape": shape}),))
    return apply("full", (), {"shape": shape, "value": number_of(value), "dtype": dtype})


def zeros(size, dtype=None):
    """Zeros; float32 unless said otherwise."""
    return apply("full", (), {"shape": ints_of(size, "size"), "value": 0, "dtype": dtype or mstype.float32})


def ones(shape, dtype=None):
    """Ones; float32 unless said otherwise."""
    return apply("full", (), {"shape": ints_of(shape), "value": 1, "dtype": dtype or mstype.float32})


def full(size, fill_value, *, dtype=None):
    """One number everywhere; int64 unless said otherwise, as MindSpore has it."""
    if not isinstance(fill_value, (builtins.bool, int, float, complex, Tensor)):
        raise TypeError(f"full: fill_value must be a number, but got {type(fill_value).__name__}")
    return _full(ints_of(size, "size"), fill_value, dtype or mstype.int64)


def _mint_full(size, fill_value, *, dtype=None):
    """One number everywhere; the dtype follows the number."""
    if dtype is None:
        dtype = mstype.bool_ if isinstance(fill_value, builtins.bool) else mstype.int64 if isinstance(fill_value,
            int) else mstype.float32
    return _full(ints_of(size, "size"), fill_value, dtype)


def fill(type, shape, value):
    """One number everywhere."""
    return _full(ints_of(shape), value, type)


def fills(x, value):
    """One number in the shape and dtype of another Tensor."""
    return _full(x.shape, value, x.dtype)


def full_like(input, fill_value, *, dtype=None):
    """One number in the shape of another Tensor."""
    return _full(tensor_of(input, "input", "full_like").shape, fill_value, dtype or input.dtype)


def zeros_like(input, *, dtype=None):
    """Zeros in the shape of another Tensor."""
    tensor_of(input, "input", "zeros_like")
    return apply("full", (), {"shape": input.shape, "value": 0, "dtype": dtype or input.dtype})


def ones_like(input, *, dtype=None):
    """Ones in the shape of another Tensor."""
    tensor_of(input, "input", "ones_like")
    return apply("full", (), {"shape": input.shape, "value": 1, "dtype": dtype or input.dtype})


def arange(start=0, end=None, step=1, *, dtype=None):
    """start, start + step, ... before end."""
    if end is None:
        start, end = 0, start
    given = [v.dtype for v in (start, end, step) if isinstance(v, Tensor) and v.dtype.is_floating_point]
    return apply("arange", (), {"start": number_of(start), "end": number_of(end), "step": number_of(step),
                                "dtype": dtype or (given[0] if given else None)})


def range(start, end, step, maxlen=1000000):
    """start, start + step, ... before end; at most maxlen numbers."""
    made = arange(start, end, step)
    if made.size > maxlen:
        raise ValueError(f"range: there are {made.size} numbers, more than maxlen {maxlen}")
    return made


def make_range(*args):
    """A tuple of integers, as Python's range gives them."""
    return tuple(builtins.range(*(int_of(a, "argument") for a in args)))


def linspace(start, end, steps):
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


def logspace(start, end, steps, base=10, *, dtype=mstype.float32):
    """base to the power of numbers evenly spaced from start to end."""
    powers = apply("linspace", (), {"start": float(number_of(start)), "end": float(number_of(end)),
                                    "steps": int_of(steps, "steps"),
                                    "dtype": mstype.float64})
    return apply("cast", (Tensor([float(base) ** p for p in powers.tolist()], mstype.float64),), {"dtype": dtype})


def eye(n, m=None, dtype=None):
    """Ones on the diagonal, zeros elsewhere."""
    return apply("eye", (), {"n": int_of(n, "n"), "m": None if m is None else int_of(m, "m"), "dtype": dtype
                             or mstype.float32})


def _triangle(row, col, offset, dtype, lower):
    ones_ = apply("full", (), {"shape": (row, col), "value": 1, "dtype": mstype.bool_})
    found = apply("nonzero", (apply("tril" if lower else "triu", (ones_,), {"diagonal": offset}),))
    return apply("cast", (apply("copy", (apply("transpose", (found,)),)),), {"dtype": dtype})


def tril_indices(row, col, offset=0, *, dtype=mstype.int64):
    """The positions of the lower triangle: a row of rows and one of columns."""
    return _triangle(row, col, offset, dtype, True)


def triu_indices(row, col, offset=0, *, dtype=mstype.int64):
    """The positions of the upper triangle: a row of rows and one of columns."""
    return _triangle(row, col, offset, dtype, False)


# --- numbers ---------------------------------------------------------------------------------------------------------

def scalar_to_tensor(input_x, dtype=mstype.float32):
    """A Tensor of one number."""
    return Tensor(input_x, dtype)


def scalar_to_array(input_x):
    """A Tensor of one number."""
    return Tensor(input_x, mstype.int32 if isinstance(input_x, int) and not isinstance(input_x, builtins.bool)
                  else None)


def scalar_cast(input_x, input_y):
    """The number as another type."""
    kinds = {mstype.int64: int, mstype.float64: float, mstype.bool_: builtins.bool}
    if input_y not in kinds:
        raise ValueError(f"scalar_cast: a number becomes an int64, float64 or bool, but got {input_y}")
    return kinds[input_y](number_of(input_x))


def _scalar(name, function):
    def run(x, y):
        return function(x, y)
    run.__name__ = run.__qualname__ = name
    run.__doc__ = "Of two numbers, a number."
    return run


scalar_add = _scalar("scalar_add", operator.add)
scalar_sub = _scalar("scalar_sub", operator.sub)
scalar_mul = _scalar("scalar_mul", operator.mul)
scalar_div = _scalar("scalar_div", operator.truediv)
scalar_floordiv = _scalar("scalar_floordiv", operator.floordiv)
scalar_mod = _scalar("scalar_mod", operator.mod)
scalar_pow = _scalar("scalar_pow", operator.pow)
scalar_max = _scalar("scalar_max", max)
scalar_min = _scalar("scalar_min", min)
scalar_eq = _scalar("scalar_eq", operator.eq)
scalar_ne = _scalar("scalar_ne", operator.ne)
scalar_lt = _scalar("scalar_lt", operator.lt)
scalar_le = _scalar("scalar_le", operator.le)
scalar_gt = _scalar("scalar_gt", operator.gt)
scalar_ge = _scalar("scalar_ge", operator.ge)


def scalar_log(x):
    """The natural logarithm of a number."""
    return math.log(x)


def scalar_uadd(x):
    """The number itself."""
    return +x


def scalar_usub(x):
    """The number with the other sign."""
    return -x


# --- methods and mint ------------------------------------------------------------------------------------------------

def _sizes(size):
    return ints_of(size[0] if len(size) == 1 and isinstance(size[0], (tuple, list, Tensor)) else size, "size")


def _mint_zeros(*size, dtype=None):
    """Zeros; float32 unless said otherwise."""
    return zeros(_sizes(size), dtype)


def _mint_ones(*size, dtype=None):
    """Ones; float32 unless said otherwise."""
    return ones(_sizes(size), dtype)


def _mint_empty(*size, dtype=None, device=None, pin_memory=False):
    """A Tensor to be written to."""
    return zeros(_sizes(size), dtype)


def _new_zeros(self, *size, dtype=None):
    """Zeros of this Tensor's dtype."""
    return zeros(_sizes(size), dtype or self.dtype)


def _new_ones(self, *size, dtype=None):
    """Ones of this Tensor's dtype."""
    return ones(_sizes(size), dtype or self.dtype)


TENSOR_METHODS = named({
    "new_zeros": _new_zeros, "new_ones": _new_ones, "fills": fills,
    "new_empty": lambda self, *size, dtype=None, device=None: zeros(_sizes(size), dtype or self.dtype),
    "new_full": lambda self, size, fill_value, *, dtype=None: _full(ints_of(size, "size"), fill_value, dtype
        or self.dtype),
    "fill": lambda self, value: zeros_like(self) if value is None else fills(self, value)})

MINT = named({
    "zeros": _mint_zeros, "ones": _mint_ones, "full": _mint_full, "full_like": full_like, "zeros_like": zeros_like,
    "ones_like": ones_like, "arange": arange, "linspace": _mint_linspace, "eye": eye, "empty": _mint_empty,
    "empty_like": lambda input, *, dtype=None, device=None, pin_memory=False: zeros_like(input, dtype=dtype)})
