# SPDX-License-Identifier: Apache-2.0
"""Arrays of other packages as Tensors: torch, pandas, Pillow, array.array, whatever tells how its memory lies."""
import array

import numpy as np

from spore import _core

__all__ = ["as_tensor", "type_name", "with_tensors"]

_CPU = 1                # kDLCPU
_NUMBERS = "biufc"


def type_name(value):
    """The type of a value as messages give it: with its package, unless it is one of ours, of Python or of numpy."""
    return _core.type_name(value)


def _through_dlpack(value):
    """A Tensor of its own, or None where the object cannot give its memory away."""
    if hasattr(value, "detach"):            # one that is being differentiated is exported without its history
        value = value.detach()
    try:
        if value.__dlpack_device__()[0] != _CPU:
            if not hasattr(value, "cpu"):
                return None
            value = value.cpu()
        return _core.from_dlpack(value).copy()
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
        return None


def _array(value):
    """A numpy array of the object's elements, or None."""
    kind = type(value)
    if any(hasattr(kind, name) for name in ("__array__", "__array_interface__", "__array_struct__")):
        return np.asarray(value)
    try:
        return np.asarray(memoryview(value))
    except (TypeError, ValueError):
        return None


def as_tensor(value):
    """A Tensor with the elements of another package's array (``__dlpack__``, ``__array__``, buffer), or None."""
    if isinstance(value, _core.Tensor):
        return value
    made = _through_dlpack(value) if hasattr(type(value), "__dlpack__") else None
    if made is not None:
        return made
    elements = _array(value)
    if elements is None:
        return None
    if elements.dtype.kind not in _NUMBERS:
        raise TypeError(f"Tensor: input_data of type {type_name(value)} holds elements of dtype {elements.dtype}, not numbers; "
                        "convert it first, as in .astype('float32')")
    return _core.Tensor(elements)


def _is_array(value):
    kind = type(value)
    return not isinstance(value, _core.Tensor) and (hasattr(kind, "__dlpack__") or hasattr(kind, "__array__")
                                                    or isinstance(value, (memoryview, array.array)))


def with_tensors(args, kwargs):
    """The arguments of a call with other packages' arrays as Tensors; None where there are none."""
    if not any(map(_is_array, (*args, *kwargs.values()))):
        return None
    return ([as_tensor(value) if _is_array(value) else value for value in args],
            {name: as_tensor(value) if _is_array(value) else value for name, value in kwargs.items()})
