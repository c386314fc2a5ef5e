# SPDX-License-Identifier: Apache-2.0
"""Helpers for distributions of one's own, by MindSpore's names."""
from spore._core import type_name as _type_name
from spore.common import dtype as mstype
from spore.nn.probability import _parameters as given

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ["set_param_type", "cast_to_tensor", "check_greater_zero", "check_greater_equal_zero", "check_greater", "check_prob",
           "CheckTensor", "CheckTuple"]


def set_param_type(args, hint_type):
    """The dtype that the parameters {name: value} have in common, else the hint; whole numbers and float64 count as float32."""
    if not given.is_float(hint_type):
        hint_type = mstype.float32
    found = given.common_type(args, hint_type)
    return mstype.float32 if found == mstype.float64 else found


def cast_to_tensor(t, hint_type=mstype.float32):
    """A number, list, array or Tensor as a Tensor of the dtype; a Parameter stays itself."""
    if t is None:
        raise ValueError("Input cannot be None in cast_to_tensor")
    return given.tensor_of(t, hint_type, "cast_to_tensor")


def check_greater_zero(value, name):
    """Raise unless every element is above zero."""
    given.all_hold(value, lambda v: v > 0, f"{name} must be greater than zero")


def check_greater_equal_zero(value, name):
    """Raise unless every element is zero or above."""
    given.all_hold(value, lambda v: v >= 0, f"{name} must be greater than or equal to zero")


def check_greater(a, b, name_a, name_b):
    """Raise unless b is above a, element by element."""
    given.all_hold(b - a, lambda v: v > 0, f"{name_a} must be less than {name_b}: the difference must be above zero")


def check_prob(p):
    """Raise unless every element is between 0 and 1."""
    given.all_hold(p, lambda v: (v > 0) & (v < 1), "Probabilities must be between 0 and 1")


class CheckTensor:
    """Called with a value and its name: the value, which must be a Tensor."""

    def __call__(self, x, name):
        return given.is_tensor(x, name)


class CheckTuple:
    """Called with a value and its name: the value, which must be a tuple."""

    def __call__(self, x, name):
        if not isinstance(x, tuple):
            raise TypeError(f"For {name}, input type must be a tuple, but got {_type_name(x)}: {x!r}")
        return x
