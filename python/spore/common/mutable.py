# SPDX-License-Identifier: Apache-2.0
"""``mutable``: values a compiled function must not treat as constants."""
import copy

from spore._core import Tensor

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
    if kind not in _TYPES:
        raise TypeError(f"mutable: a bool, int, float, Tensor, tuple, list or dict is needed, but got {kind.__name__}")
    if dynamic_len and kind not in (tuple, list):
        raise TypeError(f"mutable: dynamic_len is for tuples and lists, but got a {kind.__name__}")
    marked = _TYPES[kind](input_data)
    if dynamic_len:
        marked.__ms_dynamic_len__ = True
    return marked
