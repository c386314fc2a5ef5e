# SPDX-License-Identifier: Apache-2.0
"""The executor: runs the user's functions from their syntax trees on values that may be symbols.

Its parts are mixins by topic: statements.py, expressions.py, flow.py (conditions and loops of the run), calls.py. Here is what
they share: iteration, printing, Cells.
"""
import ast
import types

import numpy as np

from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore.common._where import name_cell
from spore.common import dtype as mstype
from spore.graph.calls import Calls
from spore.graph.errors import Unsupported
from spore.graph.expressions import Expressions
from spore.graph.flow import Flow, RunRange
from spore.graph.heap import Attribute
from spore.graph.joins import OfSequence, OfTensor, kind_of
from spore.graph.statements import Statements
from spore.graph.values import LateText, Scalar, Walk, shape_of

__all__ = ["Executor"]


class Executor(Statements, Expressions, Flow, Calls):
    """Executes functions of the user for one capture."""

    def __init__(self, capture):
        self.capture = capture
        self.under_construction = []
        self.peeled = {}         # ids of loops whose first turn is apart, see Flow.run_while_and_rest

    # --- sequences ---------------------------------------------------------------------------------------------------

    def iterate(self, value):
        """The items of something a loop can go through at compile time, as a list or tuple."""
        if isinstance(value, (tuple, list)):
            return value
        if isinstance(value, Tensor):
            if not value.ndim:
                raise TypeError("Cannot iterate over a scalar tensor.")
            if shape_of(value)[0] < 0 or self.capture.sizes is not None and self.has_free(value) and self.capture.free[0]:
                raise Unsupported("a Tensor whose first dimension is known at run time only is unpacked")
            return [value[i] for i in range(value.shape[0])]
        if isinstance(value, dict):
            return list(value)
        if isinstance(value, (Scalar, int, float)) or value is None:
            name = value.kind.__name__ if isinstance(value, Scalar) else type(value).__name__
            raise TypeError(f"'{name}' object is not iterable")
        if isinstance(value, RunRange):
            raise Unsupported("the items of a range known at run time only are asked for")
        if isinstance(value, Walk):
            items = value.rest()
            self.advance(value, len(items))
            return items
        if self.capture.faithful and hasattr(type(value), "__next__"):
            raise Unsupported("an iterator is gone through, which can be done once only")
        method = getattr(type(value), "__iter__", None)
        if method is None and not hasattr(type(value), "__getitem__"):
            raise TypeError(f"'{_type_name(value)}' object is not iterable")
        return list(value)

    sequence = (lambda self, value, what: self.iterate(value))

    def walk(self, items):
        """What zip() and the like give: an iterator where plain Python's rules hold, else a sequence as in MindSpore's graphs."""
        return self.capture.heap.made(Walk(items)) if self.capture.faithful else items

    def advance(self, walk, n):
        """Take n items of an iterator."""
        self.capture.heap.write(Attribute(walk, "at"), walk.at + n)

    # --- what happens at run time ------------------------------------------------------------------------------------

    @staticmethod
    def pack(value, tensors):
        """A structure with its symbols replaced by places in the list ``tensors``; undone by unpack_values."""
        kind = run_time_kind(value)
        tensors.extend(kind.leaves(value))
        return kind

    @staticmethod
    def unpack_values(kind, values):
        return concrete(kind.rebuild(values))

    def print_at_run(self, args, kwargs):
        """print(): when the program gets here, in order with other effects."""
        unknown = set(kwargs) - {"sep", "end", "flush", "file"}
        if unknown:
            raise TypeError(f"print() got an unexpected keyword argument '{sorted(unknown)[0]}'")
        tensors = []
        kind = self.pack(tuple(args), tensors)

        unpack = self.unpack_values          # a program that keeps the executor keeps all that was captured

        def run(values):
            shown = [text for value in unpack(kind, iter(values)) for text in printed(value)]
            print(*shown, **{"flush": True, **kwargs})
            return []
        _core.function_host("print", run, tensors, [])

    # --- Cells -------------------------------------------------------------------------------------------------------

    def call_cell(self, cell, args, kwargs):
        """Call a Cell: its hooks and casts as always, its construct interpreted if it is the user's."""
        self.capture.guards.setdefault(cell, cell._guard())
        args = [self.handed(a, None) if not self.is_user_cell(cell) else a for a in args]
        try:
            if cell._plain:
                return self.construct(cell, args, kwargs)
            return cell._call_full(tuple(args), kwargs, lambda *a, **k: self.construct(cell, a, k))
        except Exception as error:
            name_cell(cell, error)
            raise

    @classmethod
    def is_user_cell(cls, cell):
        construct = cell.__dict__.get("construct") or type(cell).construct
        return cls.is_user(getattr(construct, "__spore_inner__", construct))

    def construct(self, cell, args, kwargs):
        own = cell.__dict__.get("construct")
        if own is not None:
            return self.call(own, tuple(args), kwargs)
        construct = type(cell).construct
        construct = getattr(construct, "__spore_inner__", construct)
        if self.is_user(construct):
            return self.call(construct, (cell,) + tuple(args), kwargs)
        return self.native(types.MethodType(construct, cell), args, kwargs)

    Statements.statement_table.update({ast.For: Flow.run_for, ast.While: Flow.run_while})
    Expressions.expression_table[ast.Call] = Calls.eval_call


def concrete(value):
    """A value at run time: numbers as Python numbers."""
    if isinstance(value, Scalar):
        return value.kind(value.symbol.item())
    if isinstance(value, LateText):
        return value.make([concrete(v) for v in value.values])
    if isinstance(value, tuple):
        items = [concrete(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [concrete(v) for v in value]
    if isinstance(value, dict):
        return {k: concrete(v) for k, v in value.items()}
    return value


def run_time_kind(value):
    """The kind of a value that is used when the program runs: a Parameter is read there and then."""
    if isinstance(value, Tensor) and getattr(value, "__parameter__", False):
        return OfTensor(value.dtype, shape_of(value))
    if type(value) in (tuple, list):
        return OfSequence(type(value), [run_time_kind(item) for item in value])
    return kind_of(value)


# --- print, as MindSpore's graph mode does it ------------------------------------------------------------------------

def printed(value):
    """The texts that print() shows for one argument: the items of a structure with Tensors come one by one."""
    if isinstance(value, Tensor):
        return [tensor_text(value)]
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        if _holds_tensor(value):
            return [text for item in value for text in printed(item)]
        return ["(" + ", ".join(text for item in value for text in printed(item)) + ")"]
    if isinstance(value, bool):
        return [str(int(value))]
    return [str(value)]


def _holds_tensor(value):
    return any(isinstance(item, Tensor) or isinstance(item, (tuple, list)) and _holds_tensor(item) for item in value)


def tensor_text(value):
    """Tensor(shape=[3], dtype=Int32, value=[1 2 3]); only the number if there are no dimensions."""
    array = value.astype(mstype.float32).asnumpy() if value.dtype == mstype.bfloat16 else value.asnumpy()
    if array.ndim == 0:
        return f"{array.item():g}" if array.dtype.kind == "f" else str(int(array)) if array.dtype.kind in "iub" else str(array)
    digits = 4 if array.dtype == np.float16 else 8
    formats = {"float_kind": lambda v: f"{v: .{digits}e}"} if array.dtype.kind == "f" else None
    text = np.array2string(array, formatter=formats)
    newline = "\n" if array.ndim > 1 else ""
    return f"Tensor(shape={list(value.shape)}, dtype={value.dtype}, value={newline}{text})"
