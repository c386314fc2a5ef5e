# SPDX-License-Identifier: Apache-2.0
"""The operators of the language as functions."""
from functools import partial
from operator import (add, and_, contains, eq, floordiv, ge, getitem, gt, invert, is_, is_not, le, lshift, lt, matmul, mod, mul, ne,
                      neg, not_, or_, pos, pow, rshift, setitem, sub, truediv, xor)

from spore.common.mutable import mutable

__all__ = ["add", "and_", "contains", "eq", "floordiv", "ge", "getitem", "gt", "invert", "is_", "is_not", "le", "lshift", "lt",
           "matmul", "mod", "mul", "mutable", "ne", "neg", "not_", "or_", "partial", "pos", "pow", "rshift", "setitem", "sub",
           "truediv", "xor"]
