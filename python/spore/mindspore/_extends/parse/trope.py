# SPDX-License-Identifier: Apache-2.0
"""The operators of the language as functions."""
from builtins import abs, max, min, round, sum
from functools import partial
from operator import (add, and_, contains, eq, floordiv, ge, getitem, gt, invert, is_, is_not, le, lshift, lt, matmul, mod, mul, ne,
                      neg, not_, or_, pos, pow, rshift, setitem, sub, truediv, xor)

from spore.common.mutable import mutable

__all__ = ["abs", "max", "min", "round", "sum", "not_contains", "add", "and_", "contains", "eq", "floordiv", "ge", "getitem", "gt", "invert", "is_", "is_not", "le", "lshift", "lt",
           "matmul", "mod", "mul", "mutable", "ne", "neg", "not_", "or_", "partial", "pos", "pow", "rshift", "setitem", "sub",
           "truediv", "xor"]


def not_contains(a, b):
    """`b not in a`"""
    return b not in a
