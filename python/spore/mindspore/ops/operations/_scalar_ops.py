# SPDX-License-Identifier: Apache-2.0
"""Operators on Python numbers as objects, which MindSpore's compiler makes of ``+`` and its like. In programs numbers of the run
stay numbers."""
import builtins
import math
import operator

from ..primitive import Primitive


class _Scalar(Primitive):
    """An operator on numbers."""

    def __init__(self):
        Primitive.__init__(self, type(self).__name__)

    def __call__(self, *args):
        return type(self).__spore_inner__(*args)


_FUNCTIONS = {"Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "Div": operator.truediv, "FloorDiv": operator.floordiv,
              "Mod": operator.mod, "Pow": operator.pow, "Eq": operator.eq, "Ge": operator.ge, "Gt": operator.gt, "Le": operator.le,
              "Lt": operator.lt, "Max": builtins.max, "Min": builtins.min, "Uadd": operator.pos, "Usub": operator.neg,
              "Log": math.log, "Bool": builtins.bool}
for _name, _function in _FUNCTIONS.items():
    globals()["Scalar" + _name] = type("Scalar" + _name, (_Scalar,), {
        "__spore_inner__": _function, "__doc__": f"{_function.__name__} of numbers.", "__module__": __name__})


class bit_and(_Scalar):
    """& of numbers."""
    __spore_inner__ = operator.and_


class bit_or(_Scalar):
    """| of numbers."""
    __spore_inner__ = operator.or_


class bool_not(_Scalar):
    """not of a bool."""
    __spore_inner__ = operator.not_
