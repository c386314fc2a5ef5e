# SPDX-License-Identifier: Apache-2.0
"""``mutable``: values a compiled function must not treat as constants."""
import copy

from spore._core import Tensor, type_name as _type_name

__all__ = ["mutable"]


class _Mutable:
    """Mark of values that may change between calls."""
    __ms_mutable__ = True
    __ms_dynamic_len__ = False

    def set_const_arg(self, const_arg=True):
        """Whether it counts as a constant after all."""
        self.__dict__["__ms_mutable__"] = not const_arg

    def __deepcopy__(self, memo):
        made = type(self)(copy.deepcopy(type(self).__mro__[1](self), memo))  # of the type that is marked
        made.__dict__.update(self.__dict__)
        return made


def _made(base):
    return type(base.__name__.capitalize() + "Mutable", (base, _Mutable), {"__reduce__": lambda self: (base, (base(self),))})


def _made_bool():
    """bool has no subclasses: an int that looks like one."""
    return type("BoolMutable", (int, _Mutable), {"__reduce__": lambda self: (bool, (int(self),)), "__repr__": lambda self: repr(self != 0),
                                                 "__is_bool__": True})


_TYPES = {bool: _made_bool(), int: _made(int), float: _made(float), tuple: _made(tuple), list: _made(list), dict: _made(dict)}


def _may_change(value, around=()):
    """Whether a value can be a value of the run: numbers, Tensors, and structures of these that do not hold themselves."""
    if isinstance(value, (tuple, list, dict)):
        items = value.values() if isinstance(value, dict) else value
        return id(value) not in around and all(_may_change(item, (*around, id(value))) for item in items)
    return isinstance(value, (bool, int, float, Tensor))


def mutable(input_data, dynamic_len=False):
    """The value, marked so that compiled functions take it as an input and not as a constant.

    Args:
        input_data: number, Tensor, or tuple, list or dict of such.
        dynamic_len: whether a tuple or list may change its length.

    Examples:
        >>> import spore as ms
        >>> print(ms.mutable((1, 2)))
        (1, 2)
    """
    if isinstance(input_data, Tensor):
        return input_data
    kind = type(input_data)
    if not isinstance(dynamic_len, bool):
        raise TypeError(f"For 'mutable', the second input should be bool, but got: {_type_name(dynamic_len)}")
    if not _may_change(input_data):
        raise TypeError("For 'mutable', the 'input_data' should be one of (bool, int, float, Tensor, tuple, list, dict) or their nested "
                        f"structures with no self-reference, but got {kind.__name__}: {input_data!r}")
    if dynamic_len and not isinstance(input_data, (tuple, list)):
        raise TypeError("For 'mutable', when the variable_len is True, the first input should be list or tuple, but got: "
                        f"{kind.__name__}")
    kind = next(known for known in (*_TYPES, int) if isinstance(input_data, known))
    marked = _TYPES[kind](input_data)
    if dynamic_len:
        marked.__ms_dynamic_len__ = True
    return marked
