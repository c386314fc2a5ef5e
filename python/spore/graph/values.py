# SPDX-License-Identifier: Apache-2.0
"""Values that exist only while a program is captured.

A value the executor works with is an ordinary Python object (a constant), a Tensor without contents (a symbol), or one of
the classes here: a number known at run time only, a choice between functions, a function of the program's own, a name
without a value.
"""
import operator
import threading

from spore._core import type_name as _type_name
from spore import _core
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.graph.errors import Unsupported
from spore.graph.sizes import current as current_sizes

DTYPES = {bool: mstype.bool_, int: mstype.int64, float: mstype.float32}
_held = threading.local()


class wide_floats:
    """A block in which numbers of the run have the bits of Python's floats, 64, instead of 32 as in MindSpore's graphs."""

    def __init__(self, on):
        self.on = on

    def __enter__(self):
        self.before, _held.wide = floats_are_wide(), self.on

    def __exit__(self, *error):
        _held.wide = self.before


def floats_are_wide():
    return getattr(_held, "wide", False)


def dtype_of(kind):
    """The dtype of the Tensor that carries a number of the run."""
    return mstype.float64 if kind is float and floats_are_wide() else DTYPES[kind]


class Unbound:
    """Stands for a name that has no value here; ``message`` says why."""

    def __init__(self, message):
        self.message = message


MISSING = Unbound("a local variable is used that has no value")      # what a piece is given for a name without one


class Scalar:
    """A Python number whose value is known at run time only: a Tensor without dimensions and the Python type it stands for.

    Arithmetic with numbers gives numbers again; with a Tensor the other's dtype decides, as with a Python number.
    """
    __slots__ = ("symbol", "kind", "hint")
    __array_ufunc__ = None

    def __init__(self, symbol, kind, hint=None):
        self.symbol, self.kind, self.hint = symbol, kind, hint       # hint: see run_sizes.py

    def __repr__(self):
        return f"<{self.kind.__name__} known at run time>"

    def __hash__(self):
        return id(self)

    def _no_value(self, what):
        raise Unsupported(f"{what} needs the value of a number that is known at run time only")

    def __bool__(self):
        self._no_value("this condition")

    def __index__(self):
        self._no_value("an index")

    def __int__(self):
        self._no_value("int()")

    def __float__(self):
        self._no_value("float()")


shape_of = _core.symbol_shape    # of a Tensor: -1 for sizes known at run time only, which Tensor.shape refuses to give


def is_symbol(value):
    """Whether it is a Tensor or number without a value yet."""
    return isinstance(value, Scalar) or isinstance(value, Tensor) and _core.is_symbol(value)


def symbol_of(value, kind):
    """The Tensor behind a number that is to be known at run time only."""
    if isinstance(value, Scalar):
        return value.symbol if value.kind is kind else value.symbol.astype(dtype_of(kind))
    return Tensor(value, dtype=dtype_of(kind))


def number_kind(value):
    """bool, int or float for a number, known or not; None for anything else."""
    if isinstance(value, Scalar):
        return value.kind
    for kind in (bool, int, float):
        if isinstance(value, kind):
            return kind
    return None


def scalar_of(tensor, kind):
    """A one-element Tensor as a number known at run time only."""
    if tensor.ndim:
        tensor = tensor.reshape(())
    if tensor.dtype != dtype_of(kind):
        tensor = tensor.astype(dtype_of(kind))
    return Scalar(tensor, kind)


def as_tensor(value, other=None):
    """A number known at run time as a Tensor, in the dtype a Python number would take beside ``other``."""
    symbol = value.symbol
    if isinstance(other, Tensor) and other.dtype != symbol.dtype:
        if value.kind is not float and other.dtype != mstype.bool_ or _core.is_floating(other):
            return symbol.astype(other.dtype)
    return symbol.astype(mstype.float32) if symbol.dtype == mstype.float64 else symbol


_ALWAYS = {"truediv": float}
_COMPARE = {"lt", "le", "gt", "ge", "eq", "ne"}
_BITS = {"and_", "or_", "xor"}
_EXACT = {"add", "sub", "mul", "truediv"}        # of floats; the same as Python's to the last bit


def _result_kind(name, a, b):
    if name in _COMPARE:
        return bool
    if name in _ALWAYS:
        return _ALWAYS[name]
    if a is float or b is float:
        return float
    if name in _BITS and a is bool and b is bool:
        return bool
    return int


def arithmetic(name, left, right):
    """``left op right`` where at least one is a Scalar; ``name`` is that of module operator."""
    function = getattr(operator, name)
    for one, other, swapped in ((left, right, False), (right, left, True)):
        if isinstance(one, Scalar) and isinstance(other, Tensor):
            made = as_tensor(one, other)
            return function(other, made) if swapped else function(made, other)
    a, b = number_kind(left), number_kind(right)
    if a is None or b is None:
        other = right if a is not None else left
        if name in ("eq", "ne"):
            return name == "ne"
        raise Unsupported(f"{name} of a number known at run time and a {_type_name(other)}")
    kind = _result_kind(name, a, b)
    if kind is float and name not in _EXACT and floats_are_wide():
        raise Unsupported(f"{name} of a float known at run time only")
    inner = kind if kind is not bool else (float if float in (a, b) else int if int in (a, b) else bool)
    if inner is bool and name in ("lt", "le", "gt", "ge"):
        inner = int
    _note_sizes(left, right)
    made = scalar_of(function(symbol_of(left, inner), symbol_of(right, inner)), kind)
    return hinted(made, function, left, right)


def _note_sizes(left, right):
    sizes = current_sizes()
    if sizes is not None:
        sizes.compared(left, right)


def hinted(made, function, *values):
    """The number with what it would be with either guess of open sizes, ``function`` of what ``values`` are; nothing when that is not known."""
    pairs = [value.hint if isinstance(value, Scalar) else (value, value) for value in values]
    if None not in pairs:
        try:
            made.hint = function(*[pair[0] for pair in pairs]), function(*[pair[1] for pair in pairs])
        except (ArithmeticError, TypeError, ValueError):
            pass
    return made


def negative(value):
    """``-value``"""
    kind = float if value.kind is float else int
    return hinted(Scalar(-symbol_of(value, kind), kind), operator.neg, value)


def _operators():
    """The same with Python's operators, for library code that is handed such a number."""
    def forward(name):
        return lambda self, other: arithmetic(name, self, other)

    def backward(name):
        return lambda self, other: arithmetic(name, other, self)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift"):
        bare = name.rstrip("_")
        setattr(Scalar, f"__{bare}__", forward(name))
        setattr(Scalar, f"__r{bare}__", backward(name))
    for name in _COMPARE:
        setattr(Scalar, f"__{name}__", forward(name))
    Scalar.__neg__ = negative
    Scalar.__pos__ = lambda self: self
    Scalar.__abs__ = lambda self: hinted(Scalar(abs(self.symbol), self.kind), abs, self)


_operators()


class Array:
    """A numpy array that Python made between two pieces of a function: it can become a Tensor, nothing else."""
    __array_ufunc__ = None

    def __init__(self, symbol, dtype):
        self.symbol, self.dtype, self.shape, self.ndim = symbol, dtype, shape_of(symbol), symbol.ndim


class LateText:
    """A text made of values that are known at run time only: ``make(values)`` gives it then."""

    def __init__(self, make, values):
        self.make, self.values = make, values


class Joined:
    """Makes an f-string. template: texts, and (conversion, format) for each value."""

    def __init__(self, *template):
        self.template = template

    def __eq__(self, other):
        return type(self) is type(other) and self.template == other.template

    def __call__(self, values):
        values, made = iter(values), []
        for part in self.template:
            if not isinstance(part, str):
                conversion, spec = part
                part = format({-1: lambda v: v, 115: str, 114: repr, 97: ascii}[conversion](next(values)), spec)
            made.append(part)
        return "".join(made)


class Filled(Joined):
    """Makes a text by a method of another one: ``template`` is (method, text, names of keyword arguments)."""

    def __call__(self, values):
        method, text, names = self.template
        n = len(values) - len(names)
        return getattr(text, method)(*values[:n], **dict(zip(names, values[n:])))


class Walk:
    """An iterator, where plain Python's rules hold: the items it goes through, and how many of them are gone."""
    __hash__ = object.__hash__

    def __init__(self, items):
        self.items, self.at = items, 0

    def rest(self):
        """What has not been taken yet."""
        if isinstance(self.at, Scalar):
            raise Unsupported("an iterator is gone through that the run has gone through in part")
        return self.items[self.at:]

    def _shown(self, *spec):
        raise Unsupported("the text of an iterator is asked for")

    __repr__ = __str__ = __format__ = _shown


class Choice:
    """One of several functions, Cells or other constants, chosen at run time by the value of a Tensor without dimensions."""

    def __init__(self, index, options):
        self.index, self.options = index, options


class Closure:
    """A function or lambda of the program: its text, the names it saw when it was made, and default values.

    It can be called by library code too and is interpreted then.
    """

    def __init__(self, code, captured, frame, defaults, kw_defaults):
        self.code = code                  # source.Code
        self.captured = captured          # name: value where the function was defined
        self.frame = frame                # for names defined later, e.g. functions that call each other
        self.defaults, self.kw_defaults = defaults, kw_defaults
        self.__name__ = self.__qualname__ = code.name
        self.__module__ = frame.globals.get("__name__", "")
        self.__doc__ = None

    def __call__(self, *args, **kwargs):
        return self.frame.capture.executor.call(self, args, kwargs)
