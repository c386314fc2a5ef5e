# SPDX-License-Identifier: Apache-2.0
"""Arguments of numpy's functions as Tensors, dtypes and axes."""
from spore._core import type_name as _type_name
from spore._core import Tensor
from spore.common import dtype as mstype

_TYPES = {int: mstype.int32, float: mstype.float32, bool: mstype.bool_}


def dtype_of(dtype):
    """A dtype given as such, as a name, as int, float or bool, or as numpy's."""
    if dtype is None:
        return None
    if _is_numpy_type(dtype):
        return mstype.pytype_to_dtype(dtype)
    if isinstance(dtype, str):
        name = dtype.lower()
        if name not in ('int', 'float', 'bool'):
            return getattr(mstype, name)
        dtype = {'int': int, 'float': float, 'bool': bool}[name]
    if isinstance(dtype, type) and dtype in _TYPES:
        return _TYPES[dtype]
    if not hasattr(dtype, 'is_floating_point'):
        raise TypeError(f"a dtype is wanted, but got {dtype!r}")
    return dtype


def _is_numpy_type(dtype):
    """np.float32 and its like; numpy is not loaded to find out."""
    return isinstance(dtype, type) and dtype.__module__ == 'numpy'


def tensor_only(x, who) -> Tensor:
    """x, which must be a Tensor."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{who}: a Tensor is wanted, but got {_type_name(x)}")
    return x


def made(obj, dtype=None) -> Tensor:
    """Numbers, nested lists and tuples as a new Tensor: int32 and float32 unless dtype says otherwise."""
    import numpy as np
    if not isinstance(obj, (int, float, complex, list, tuple)):
        raise TypeError(f"a number, a Tensor, a list or a tuple is wanted, but got {_type_name(obj)}")
    array = np.array(_plain(obj))
    if array.dtype.kind not in 'biufc':
        raise TypeError(f"numbers in rows of one length are wanted, but got {obj!r}")
    if dtype is None:
        dtype = {'b': mstype.bool_, 'f': mstype.float32, 'c': mstype.complex64}.get(array.dtype.kind, mstype.int32)
    return Tensor(array, dtype=dtype)


def _plain(obj):
    if isinstance(obj, (list, tuple)):
        return [_plain(item) for item in obj]
    return obj.asnumpy() if isinstance(obj, Tensor) else obj


def tensor(x) -> Tensor:
    """A Tensor as it is, anything else made one."""
    return x if isinstance(x, Tensor) else made(x)


def pair(x1, x2):
    """Two operands; a number beside a Tensor stays one, so that it follows the Tensor's dtype."""
    number = (int, float, bool, complex)
    if isinstance(x1, number) and isinstance(x2, Tensor):
        return _follow(x1, x2), x2
    if isinstance(x2, number) and isinstance(x1, Tensor):
        return x1, _follow(x2, x1)
    return tensor(x1), tensor(x2)


def _follow(number, beside):
    """A number as a Tensor that does not widen the other operand within its kind."""
    kind = beside.dtype
    if isinstance(number, complex) or (isinstance(number, float) and not (kind.is_floating_point or kind.is_complex)):
        return made(number)
    if isinstance(number, bool) or kind == mstype.bool_:
        return made(number)
    return Tensor(number, dtype=kind)


def cast(x, dtype) -> Tensor:
    """x in another dtype; None leaves it."""
    dtype = dtype_of(dtype)
    return x if dtype is None or x.dtype == dtype else x.astype(dtype)


def floating(x, default=mstype.float32) -> Tensor:
    """x if it is of a float or complex type, else converted."""
    return x if x.dtype.is_floating_point or x.dtype.is_complex else x.astype(default)


def axis_of(axis, ndim, who):
    """An axis counted from the front; True and False count as 1 and 0."""
    if not isinstance(axis, int):
        raise TypeError(f"{who}: axis must be an int, but got {_type_name(axis)}")
    if not -ndim <= axis < ndim:
        raise ValueError(f"{who}: axis {axis} is out of range for {ndim} dimensions")
    return axis % ndim


def axes_of(axis, ndim, who):
    """Axes as a tuple counted from the front; None means all."""
    if axis is None or (ndim == 0 and axis in (0, -1)):
        return tuple(range(ndim))
    found = tuple(axis_of(a, ndim, who) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(found)) != len(found):
        raise ValueError(f"{who}: axis {axis} names a dimension twice")
    return found


def shape_of(shape):
    """A shape given as an int or a sequence, as a tuple."""
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    return (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)


def export(table, names):
    """Put functions made from a table into a module's names."""
    for name, function in table.items():
        function.__name__ = function.__qualname__ = name
        function.__module__ = names['__name__']
        names[name] = function
        names['__all__'].append(name)
