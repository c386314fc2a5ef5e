# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of optimizers and learning rates: what, which, found, wanted."""
from spore._core import type_name


def want_bool(who, name, value):
    """A bool, or TypeError."""
    if not isinstance(value, bool):
        raise TypeError(f"For '{who}', '{name}' must be a bool, but got {type_name(value)}.")
    return value


def want_float(who, name, value, above=None, least=None, below=None, most=None):
    """A float inside the bounds; an int is a TypeError, as in MindSpore."""
    if not isinstance(value, float):
        raise TypeError(f"For '{who}', '{name}' must be a float, but got {type_name(value)}.")
    bounds = ((above, value > above if above is not None else True, 'greater than'),
              (least, value >= least if least is not None else True, 'at least'),
              (below, value < below if below is not None else True, 'less than'),
              (most, value <= most if most is not None else True, 'at most'))
    for bound, holds, words in bounds:
        if not holds:
            raise ValueError(f"For '{who}', '{name}' must be {words} {bound}, but got {value}.")
    return value


def want_count(who, name, value):
    """An int above zero."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{who}', '{name}' must be an int, but got {type_name(value)}.")
    if value <= 0:
        raise ValueError(f"For '{who}', '{name}' must be greater than 0, but got {value}.")
    return value
