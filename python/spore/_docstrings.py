# SPDX-License-Identifier: Apache-2.0
"""Examples in the docstrings of operators that are written in Python. Those of the operator table have theirs in C."""
import sys
import types

from spore._core import Tensor
from spore._examples import EXAMPLES


def attach(ops, files):
    """Add the examples. ops: the namespace of spore.ops; files: its modules, which hold the names of spore.mint."""
    if sys.flags.optimize > 1:  # python -OO: no docstrings
        return
    mint = {}
    for module in files:
        mint.update(getattr(module, "MINT", {}))
    places = {"ops": ops, "Tensor": vars(Tensor), "mint": mint}
    for key, example in EXAMPLES.items():
        place, _, name = key.partition(".")
        value = places[place].get(name)
        if isinstance(value, staticmethod):
            value = value.__func__
        # A name may have moved to the table since; the functions of the table are in C.
        if isinstance(value, (types.FunctionType, type)):
            value.__doc__ = (value.__doc__ or "") + example
