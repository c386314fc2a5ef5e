# SPDX-License-Identifier: Apache-2.0
"""Running a function in pieces: what split.py made of it.

Pieces, and functions that Python calls between them, keep to plain Python's rules (``faithful``): what their capture looked at
besides its arguments is checked before each run, and whatever it cannot keep to, errors included, is left to Python.
"""
import builtins
import collections
import threading
import types
import weakref

from spore import _core
from spore.graph import calls, source, split
from spore.graph.signatures import Options
from spore.graph.values import MISSING, Unbound

__all__ = ["Pieces", "cut", "between", "depth"]

_MOST = 64               # programs of one piece; a piece that needs more runs as plain Python
_FEW = 8                 # functions of one text that are captured although each is made anew
_DEEP = 50               # functions captured inside of each other's plain parts; what is deeper runs as plain Python
_IDLE = (int, float, str, bytes, complex, type(None), tuple, list, Unbound)
_held = threading.local()


def depth():
    """How many plain parts of split functions this thread is in."""
    return getattr(_held, "depth", 0)


class between:
    """A block in which Python runs the plain parts of a function: Cells called there are captured faithfully."""

    def __enter__(self):
        _held.depth = depth() + 1

    def __exit__(self, *error):
        _held.depth -= 1


class Pieces:
    """What rewritten code calls: it runs pieces and wraps functions that are called between them."""
    missing = MISSING
    locals = staticmethod(builtins.locals)

    def __init__(self, made, name):
        self.cuts = made.cuts
        self.pieces = [piece(made.piece(cut, self), cut, name) for cut in self.cuts]
        self.function = made.make(self)

    def run(self, number, names):
        """Run a piece on the names of the function around it."""
        compiled = self.pieces[number]
        args = tuple([names.get(name, MISSING) for name in self.cuts[number].reads])
        if _core.grad_recording() or not any(may_compute(a) for a in args):
            return compiled.plain(*args)
        return compiled(args, {})

    @staticmethod
    def leave(wanted, names):
        """What a piece gives when Python runs it."""
        return tuple([names.get(name, MISSING) for name in wanted])

    @staticmethod
    def wrap(function):
        """What to call in place of ``function`` between pieces."""
        kind = type(function)
        if kind is types.BuiltinFunctionType or kind is type or _core.grad_recording() or depth() > _DEEP:
            return function
        if kind is types.FunctionType:
            compiled = _implicit(function)
        elif kind is types.MethodType:
            compiled = _implicit_method(function)
        elif hasattr(kind, "construct"):
            from spore.graph.compiler import faithful_cell
            compiled = faithful_cell(function)
        else:
            return function
        if compiled is None or compiled.hopeless:
            return function
        return lambda *args, **kwargs: compiled(args, kwargs)


def may_compute(value):
    """Whether there is something in it that operators work on: Python is quicker with its own numbers."""
    return not isinstance(value, _IDLE) or isinstance(value, (tuple, list)) and any(may_compute(v) for v in value)


def piece(function, cut, name):
    """The programs of a piece."""
    from spore.graph.compiler import Compiled
    return Compiled(lambda executor, args, kwargs: executor.call(function, tuple(args), kwargs), function,
                    f"{name.partition(',')[0]}, {_lines(cut.node)}", Options("bytecode", most=_MOST),
                    body=lambda: function)


def _lines(node):
    if node.lineno == node.end_lineno:
        return f"line {node.lineno}"
    return f"lines {node.lineno} to {node.end_lineno}"


_functions = weakref.WeakKeyDictionary()
_methods = weakref.WeakKeyDictionary()
_closures = collections.Counter()    # functions with cells that were captured, by their code


def _implicit(function):
    """The programs of a function of the user that Python calls between pieces; None when there is nothing to capture."""
    if not calls.Calls.is_user(function) or hasattr(function, "__spore_inner__"):
        return None
    made = _functions.get(function)
    if made is None:
        from spore.graph.compiler import Compiled
        code = function.__code__
        if source.code_of(function) is None or _closures[code] >= _FEW:
            return None
        if function.__closure__:         # made anew again and again, it would be captured each time
            _closures[code] += 1
        ref = weakref.ref(function)
        made = _functions[function] = Compiled(
            lambda executor, args, kwargs: executor.call(ref(), tuple(args), kwargs),
            lambda *args, **kwargs: ref()(*args, **kwargs), function.__name__, Options("bytecode", most=_MOST), code, body=ref)
    return made


def _implicit_method(method):
    """The same of a method, for each object of its own."""
    function, owner = method.__func__, method.__self__
    if type(function) is not types.FunctionType or not calls.Calls.is_user(function):
        return None
    try:
        known = _methods.setdefault(owner, {})
    except TypeError:
        return None
    made = known.get(function)
    if made is None:
        from spore.graph.compiler import Compiled
        ref = weakref.ref(owner)
        made = known[function] = Compiled(
            lambda executor, args, kwargs: executor.call(function, (ref(), *args), kwargs),
            lambda *args, **kwargs: function(ref(), *args, **kwargs), function.__name__, Options("bytecode", most=_MOST), function,
            body=lambda: function, around=lambda body, args, kwargs: body(ref(), *args, **kwargs))
    return made


def cut(compiled, code, line):
    """The Pieces of a compiled function cut at a line of it; None when it cannot be cut there."""
    function = compiled.body and compiled.body()
    if function is None or source.code_of(function) is not code:
        return None
    made = split.split(function, code, line)
    return None if made is None else Pieces(made, compiled.name)
