# SPDX-License-Identifier: Apache-2.0
"""Loops as operators. In compiled functions they become loops of the program when only the run knows their length."""
from .primitive import Primitive
from spore._core import Tensor, type_name as _type_name

__all__ = ["WhileLoop", "ForiLoop", "Scan"]


def _need_function(name, what, value):
    if not callable(value):
        raise TypeError(f"{name}: {what} must be a function, but got {_type_name(value)}")


class WhileLoop(Primitive):
    """``while cond_func(value): value = loop_func(value)``

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.WhileLoop()(lambda x: x < 10, lambda x: x * 2, Tensor(3)))
        12
    """

    def __init__(self):
        super().__init__("WhileLoop")

    def __call__(self, cond_func, loop_func, init_val) -> Tensor:
        _need_function("WhileLoop", "cond_func", cond_func)
        _need_function("WhileLoop", "loop_func", loop_func)
        value = init_val
        while cond_func(value):
            value = loop_func(value)
        return value


class ForiLoop(Primitive):
    """``for i in range(lower, upper): value = loop_func(i, value)``

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.ForiLoop()(0, 4, lambda i, x: x + i, Tensor(1)))
        7
    """

    def __init__(self):
        super().__init__("ForiLoop")

    def __call__(self, lower, upper, loop_func, init_val, unroll=True) -> Tensor:
        _need_function("ForiLoop", "loop_func", loop_func)
        value = init_val
        for i in range(lower, upper):
            value = loop_func(i, value)
        return value


class Scan(Primitive):
    """Carry a value through a sequence: ``carry, y = loop_func(carry, x)`` for every item; gives the last carry and all y.

    Examples:
        >>> from spore import Tensor, ops
        >>> carry, ys = ops.Scan()(lambda c, x: (c + x, c), Tensor(0), [1, 2, 3])
        >>> print(carry, len(ys))
        6 3
    """

    def __init__(self):
        super().__init__("Scan")

    def __call__(self, loop_func, init, xs, length=None, unroll=True):
        _need_function("Scan", "loop_func", loop_func)
        if not isinstance(xs, (list, tuple)) and xs is not None:
            raise TypeError(f"Scan: xs must be a list, a tuple or None, but got {_type_name(xs)}")
        if xs is None:
            xs = [None] * length
        if length is not None and length != len(xs):
            raise ValueError(f"Scan: length is {length}, but xs has {len(xs)} items")
        carry, made = init, []
        for item in xs:
            step = loop_func(carry, item)
            if not isinstance(step, tuple) or len(step) != 2:
                raise ValueError("For `Scan` op, the return value of parameter [loop_func] must be a tuple with two elements, but got: "
                                 f"{_type_name(step)}")
            carry, y = step
            made.append(y)
        return carry, made
