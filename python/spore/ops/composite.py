# SPDX-License-Identifier: Apache-2.0
"""Functions of functions: mapping over nested tuples, choosing an implementation by the types of the arguments."""
import functools
import numbers

from .. import _core
from ..common.differentiate import call
from ..graph import state as _state
from .primitive import Primitive
from spore._core import type_name as _type_name

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ["HyperMap", "Map", "MultitypeFuncGraph", "add_flags", "core", "mixed_precision_cast", "partial"]


# --- choosing by type ------------------------------------------------------------------------------------------------

def _is_dtype(value):
    return isinstance(value, _core.DType) if hasattr(_core, "DType") else type(value).__name__ in ("dtype", "Type")


def _is_function(value):
    return callable(value) and not isinstance(value, type)


def _is_parameter(value):
    return isinstance(value, _core.Tensor) and hasattr(value, "requires_grad") and hasattr(value, "name")


# What a name of register() accepts, from narrow to wide.
_KINDS = {
    "None": lambda v: v is None,
    "bool": lambda v: isinstance(v, bool),
    "Bool": lambda v: isinstance(v, bool),
    "Int": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "Int64": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "Float": lambda v: isinstance(v, float),
    "Float32": lambda v: isinstance(v, float),
    "Number": lambda v: isinstance(v, numbers.Number),
    "String": lambda v: isinstance(v, str),
    "Ref": _is_parameter,
    "Parameter": _is_parameter,
    "Tensor": lambda v: isinstance(v, _core.Tensor),
    "Tuple": lambda v: isinstance(v, tuple),
    "List": lambda v: isinstance(v, list),
    "Dictionary": lambda v: isinstance(v, dict),
    "Slice": lambda v: isinstance(v, slice),
    "Ellipsis": lambda v: v is Ellipsis,
    "TypeType": _is_dtype,
    "Function": _is_function,
    "Problem": lambda v: False,
    "RowTensor": lambda v: type(v).__name__ in ("RowTensor", "RowTensorInner"),
    "COOTensor": lambda v: type(v).__name__ == "COOTensor",
    "CSRTensor": lambda v: type(v).__name__ == "CSRTensor",
    "MapTensor": lambda v: type(v).__name__ == "MapParameter",
    "Any": lambda v: True,
    "Primitive": lambda v: isinstance(v, Primitive),
}


def _accepts(kind):
    """A test of values from what register() was given: a name, a dtype or a class."""
    if isinstance(kind, str):
        test = _KINDS.get(kind)
        if test is None:
            raise ValueError(f"register: there is no type named '{kind}', known are {', '.join(sorted(_KINDS))}")
        return test
    if isinstance(kind, type):
        return lambda v: isinstance(v, kind)
    name = str(kind)
    for known in ("Tensor", "Tuple", "List", "Number", "Int", "Float", "Bool"):
        if name.lower().startswith(known.lower()):
            return _KINDS[known]
    raise TypeError(f"register: a type is wanted, but got {kind!r}")


class MultitypeFuncGraph:
    """A function with several implementations; the first registered one that fits the arguments' types is called, an only one
    always."""

    def __init__(self, name, read_value=False):
        self.name = name
        self.read_value = read_value
        self.entries = []
        self._signatures = {}

    def register(self, *type_names):
        """Decorator: the implementation for arguments of these types ("Tensor", "Number", "Tuple", ...)."""
        tests = tuple(_accepts(t) for t in type_names)
        shown = tuple(str(t) for t in type_names)

        def decorate(fn):
            entry = (tests, shown, fn)
            if shown in self._signatures:
                self.entries[self._signatures[shown]] = entry
            else:
                self._signatures[shown] = len(self.entries)
                self.entries.append(entry)
            return fn
        return decorate

    def set_doc_url(self, doc_url):
        """Kept for scripts that name the page of this function."""
        self.doc_url = doc_url

    def set_need_raise(self):
        """Calls that fit no implementation raise, which they always do here."""

    def __call__(self, *args):
        if len(self.entries) == 1:               # there is nothing to choose
            return call(self.entries[0][2], args)
        for tests, _, fn in self.entries:
            if len(tests) == len(args) and all(test(a) for test, a in zip(tests, args)):
                return call(fn, args)
        got = ", ".join(_type_name(a) for a in args)
        known = "; ".join("(" + ", ".join(shown) + ")" for _, shown, _ in self.entries)
        raise ValueError(f"For 'MultitypeFuncGraph', cannot find fn match given args. '{self.name}' is not defined for the types ({got}), "
                         f"it is for: {known}")

    def __repr__(self):
        return f"MultitypeFuncGraph[{self.name}]"


# --- mapping ---------------------------------------------------------------------------------------------------------

def _in_graph():
    """Whether the rules of graphs hold: eager mode, and code that keeps to plain Python's rules, take what they are given."""
    capture = _state.capture()
    return capture is not None and not capture.native and not capture.faithful


def _check_lengths(name, args):
    if len({len(a) for a in args}) > 1:
        word = "lists" if isinstance(args[0], list) else "tuples"
        said = f"The {word} in HyperMap should have the same length." if name == "HyperMap" else \
            f"For 'Map', the length of {word} must be the same."
        raise RuntimeError(f"{said} The lengths are {', '.join(str(len(a)) for a in args)}.")


def _check_kinds(name, args):
    if any(type(a) is not type(args[0]) for a in args[1:]) and len({isinstance(a, list) for a in args}) > 1 or not all(
            isinstance(a, (tuple, list)) for a in args):
        where = "In a nonleaf situation, the" if name == "HyperMap" else "The"
        raise RuntimeError(f"{where} types of arguments in {name} must be consistent, but the types of arguments are inconsistent: "
                           f"{', '.join(_type_name(a) for a in args)}.")


class _Mapping:
    """What Map and HyperMap share: the function is given at once or as the first argument of every call."""

    def __init__(self, ops=None, reverse=False):
        self.ops = ops
        self.reverse = reverse

    def __call__(self, *args):
        fn = self.ops
        if fn is None:
            if not args:
                raise TypeError(f"{type(self).__name__} needs a function and sequences, but got nothing")
            fn, *args = args
        if not args:
            raise TypeError(f"{type(self).__name__} needs at least one sequence, but got none")
        return self._walk(fn, tuple(args))

    def register(self, *type_names):
        """Add an implementation to the mapped function."""
        return self.ops.register(*type_names)


    def _in_order(self, rows, do):
        """[do(row) for row in rows], from the end if that was asked for."""
        return [do(row) for row in rows[::-1]][::-1] if self.reverse else [do(row) for row in rows]


class Map(_Mapping):
    """Apply a function to the corresponding items of sequences, one level deep."""

    def _walk(self, fn, args):
        if not _in_graph():
            return tuple(self._in_order(list(zip(*args)), lambda row: call(fn, row)))
        if not isinstance(args[0], (tuple, list)):
            raise RuntimeError(f"Map can only be applied to list, tuple, but got {_type_name(args[0])}.")
        _check_kinds("Map", args)
        _check_lengths("Map", args)
        done = self._in_order(list(zip(*args)), lambda row: call(fn, row))
        return done if isinstance(args[0], list) else tuple(done)


class HyperMap(_Mapping):
    """Apply a function to the corresponding leaves of nested sequences."""

    def _walk(self, fn, args):
        if not _in_graph():
            if not isinstance(args[0], (tuple, list)):
                return call(fn, args)
            return tuple(self._in_order(list(zip(*args)), lambda row: self._walk(fn, row)))
        if not all(isinstance(a, (tuple, list, dict)) for a in args):
            return call(fn, args)
        if all(isinstance(a, dict) for a in args):
            return self._walk_dicts(fn, args)
        _check_kinds("HyperMap", args)
        _check_lengths("HyperMap", args)
        done = self._in_order(list(zip(*args)), lambda row: self._walk(fn, row))
        return done if isinstance(args[0], list) else tuple(done)

    def _walk_dicts(self, fn, args):
        if len({len(a) for a in args}) > 1:
            raise RuntimeError("The length of dict in HyperMap must be the same. The lengths are "
                               f"{', '.join(str(len(a)) for a in args)}.")
        for other in args[1:]:
            missing = [k for k in other if k not in args[0]]
            if missing:
                raise ValueError(f"The key {missing[0]} does not exist in the dict:{args[0]}")
        return {k: self._walk(fn, tuple(a[k] for a in args)) for k in args[0]}


def _like(number):
    """zeros_like and ones_like of this module take numbers and nested tuples besides Tensors, unlike those of ops."""
    def like(value):
        if isinstance(value, (tuple, list)):
            return tuple(like(v) for v in value)
        if isinstance(value, (bool, int, float)):
            return type(value)(number)
        from . import ones_like as ones, zeros_like as zeros
        return (ones if number else zeros)(value)
    return like


zeros_like, ones_like = _like(0), _like(1)


# --- smaller ones ----------------------------------------------------------------------------------------------------

def partial(func, *args, **kwargs):
    """The function with its first arguments given."""
    return functools.partial(func, *args, **kwargs)


def add_flags(fn=None, **flags):
    """Put flags on a function or cell, to be read by whoever compiles it."""
    def decorate(function):
        if hasattr(function, "add_flags") and not isinstance(function, type):
            return function.add_flags(**flags)
        known = dict(getattr(function, "_func_graph_flags", {}))
        known.update(flags)
        function._func_graph_flags = known
        return function
    return decorate if fn is None else decorate(fn)


def core(fn=None, **flags):
    """add_flags with the flag `core`."""
    return add_flags(fn, core=True, **flags)


def mixed_precision_cast(dst_dtype, x):
    """Floating-point tensors of x, which may be nested, cast to dst_dtype; everything else as it is."""
    if isinstance(x, _core.Tensor):
        return _core.apply("cast", [x], {"dtype": dst_dtype}) if "loat" in str(x.dtype) and x.dtype != dst_dtype else x
    if isinstance(x, (tuple, list)):
        return type(x)(mixed_precision_cast(dst_dtype, item) for item in x)
    if isinstance(x, dict):
        return {k: mixed_precision_cast(dst_dtype, v) for k, v in x.items()}
    return x


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'spore.ops.composite' has no attribute '{name}'")
    from .. import ops
    try:
        return getattr(ops, name)
    except AttributeError:
        raise AttributeError(f"module 'spore.ops.composite' has no attribute '{name}'") from None
