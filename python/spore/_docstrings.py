# SPDX-License-Identifier: Apache-2.0
"""Examples in docstrings, for what is written in Python and has none in its source. The operator table has its own."""
import sys
import types

from spore._examples import EXAMPLES


def told(function):
    """The docstring of a function of ops as its source has it, without the examples that `attach` has added."""
    doc = function.__doc__
    return doc and doc.removesuffix(EXAMPLES["ops"].get(function.__name__, ""))


def attach(place, names):
    """Add the examples of a place (ops, mint, nn, ...) to the functions and classes of its namespace."""
    if sys.flags.optimize > 1:  # python -OO: no docstrings
        return
    for name, example in EXAMPLES.get(place, {}).items():
        value = names.get(name)
        if isinstance(value, staticmethod):
            value = value.__func__
        # A name may have moved to the table since, or have got an example where it stands.
        if isinstance(value, (types.FunctionType, type)) and ">>>" not in (value.__doc__ or ""):
            value.__doc__ = (value.__doc__ or "") + example
