# SPDX-License-Identifier: Apache-2.0
"""Signatures: what of the arguments of a call decides whether a program fits, what is a value of the run, what a result is made
of; and the options of a compiled function, with inputs that were declared beforehand."""
import abc
import functools
import os
import types
import weakref

import numpy as np

from spore import context
from spore._core import Tensor, type_name as _type_name
from spore.common.mutable import _Mutable
from spore.common.parameter import Parameter
from spore.common.sparse_tensor import _Sparse
from spore.graph.errors import Unsupported
from spore.graph.joins import Known, OfArray, OfDict, OfScalar, OfSequence, OfSparse, OfTensor, OfText, kind_of, same, sparse_parts
from spore.graph.values import Choice, Closure, shape_of

__all__ = ["faithful_key", "faithful_kind", "key_of", "argument_kind", "output_kind", "giver", "Results", "Options"]

_PLAIN_TYPES = (int, float, str, bool, type(None), bytes)


# --- signatures ------------------------------------------------------------------------------------------------------

def key_of(value):
    """What of an argument decides whether a program fits; hashable."""
    kind = type(value)
    if kind is Tensor:
        return value.dtype, value.shape
    if kind in _PLAIN_TYPES:
        return kind, value
    if isinstance(value, Parameter):
        return Parameter, id(value)
    if isinstance(value, _Mutable) and value.__ms_mutable__:
        if isinstance(value, (int, float)):
            return "mutable", kind
        if value.__ms_dynamic_len__:
            _check_elements(value)
        return ("mutable", kind) + _inner_key(value, True)
    if isinstance(value, (tuple, list, dict)):
        return (kind,) + _inner_key(value, False)
    if isinstance(value, Tensor):
        return value.dtype, value.shape
    if isinstance(value, _Sparse):
        return kind, value.shape, tuple([key_of(part) for part in sparse_parts(value)])
    if kind is np.ndarray:
        return kind, value.dtype.str, value.shape, value.tobytes() if value.dtype != object else id(value)
    try:
        hash(value)
    except TypeError:
        return kind, id(value)
    return kind, value


class _Kept(abc.ABC):
    """Objects that are keys by identity, and that their programs must not keep alive: Cells and instances of the user's classes."""

    @classmethod
    def __subclasshook__(cls, kind):
        return kind.__hash__ is object.__hash__ and kind.__weakrefoffset__ != 0 and not issubclass(kind, (Tensor, type))


def faithful_key(value):
    """The key of an argument where plain Python's rules hold: arrays are values of the run, functions count by their text."""
    kind = type(value)
    if kind is np.ndarray:
        return kind, value.dtype.str, value.shape
    if isinstance(value, _Kept):
        return kind, weakref.ref(value)
    if kind is types.FunctionType and value.__closure__:
        try:
            return value.__code__, tuple([faithful_key(c.cell_contents) for c in value.__closure__]), faithful_key(value.__defaults__)
        except ValueError:           # a cell without contents
            return kind, value
    return key_of(value)


def _holds_value(cell):
    """Whether there is a Tensor in a variable of an enclosing function, which is another one at each call of that."""
    try:
        value = cell.cell_contents
    except ValueError:
        return False
    return type(value) is Tensor or holds_tensors(value)


def faithful_kind(value):
    """The kind of an argument where plain Python's rules hold."""
    if type(value) is np.ndarray:
        try:
            made = Tensor(value)
        except Exception:
            raise Unsupported(f"an array of {value.dtype} is used") from None
        return OfArray(made.dtype, made.shape, value.dtype)
    if isinstance(value, types.FunctionType) and any(_holds_value(cell) for cell in value.__closure__ or ()):
        raise Unsupported(f"the function {value.__name__} holds Tensors that others may come in place of")
    if not isinstance(value, (tuple, list, dict, Tensor)):
        try:
            hash(value)
        except TypeError:
            raise Unsupported(f"a {_type_name(value)} is used, which may change") from None
    return argument_kind(value)


def _check_elements(value):
    """The items of a sequence of changing length must be of one kind."""
    for i, item in enumerate(value):
        if type(item) is not type(value[0]) or isinstance(item, Tensor) and item.dtype != value[0].dtype:
            raise ValueError("In graph mode, the element type of dynamic length array must be the same. The element type do not "
                             f"match: the 0th element is {value[0]!r}, the {i}th is {item!r}.")


def _inner_key(value, is_mutable):
    if isinstance(value, dict):
        return tuple(value), tuple(_item_key(v, is_mutable) for v in value.values())
    return tuple(_item_key(v, is_mutable) for v in value)


def _item_key(value, is_mutable):
    if is_mutable and type(value) in (int, float, bool):
        return "mutable", type(value)
    if is_mutable and isinstance(value, (tuple, list, dict)):
        return ("mutable", type(value)) + _inner_key(value, True)
    return key_of(value)


def argument_kind(value, constant_tensors=False, is_mutable=False):
    """The kind of an argument: what of it is a value of the run."""
    if isinstance(value, Parameter):
        return Known(value)
    if isinstance(value, Tensor):
        return OfTensor(value.dtype, value.shape)
    marked = isinstance(value, _Mutable) and value.__ms_mutable__
    if marked or is_mutable:
        is_mutable = True
        if isinstance(value, (bool, int, float)):
            return OfScalar(bool if isinstance(value, bool) or hasattr(value, "__is_bool__") else int if isinstance(value, int) else float)
    inside = functools.partial(_inside_kind, constant_tensors=constant_tensors and not is_mutable, is_mutable=is_mutable)
    if isinstance(value, (tuple, list)):
        base = value.__class__ if hasattr(value, "_fields") else tuple if isinstance(value, tuple) else list
        if type(value).__name__ == "ParameterTuple":
            return Known(value)
        kind = OfSequence(base, [inside(v) for v in value])
    elif isinstance(value, dict):
        kind = OfDict(dict, list(value), [inside(v) for v in value.values()])
    elif isinstance(value, _Sparse):
        return OfSparse(type(value), value.shape, [inside(v) for v in sparse_parts(value)])
    else:
        return Known(value)
    kind.marked = is_mutable             # such a list is taken by its contents: the caller's does not change and is not given back
    return kind


def _inside_kind(value, constant_tensors, is_mutable):
    if constant_tensors and isinstance(value, Tensor):
        return Known(value)
    return argument_kind(value, constant_tensors, is_mutable)


def holds_tensors(value):
    if isinstance(value, (tuple, list)):
        return any(isinstance(v, Tensor) or holds_tensors(v) for v in value)
    if isinstance(value, dict):
        return any(isinstance(v, Tensor) or holds_tensors(v) for v in value.values())
    return False


def shared(values):
    """Whether a list or dict is reached in two ways, so that a change of one is a change of the other."""
    stack, seen = [v for v in values if isinstance(v, (list, dict, tuple))], set()
    while stack:
        value = stack.pop()
        if not isinstance(value, tuple):
            if id(value) in seen:
                return True
            seen.add(id(value))
        stack.extend(v for v in (value.values() if isinstance(value, dict) else value) if isinstance(v, (list, dict, tuple)))
    return False


def tensor_ids(value):
    if isinstance(value, Tensor):
        return (id(value),)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return tuple(tensor_ids(v) for v in value)
    return ()


# --- results ---------------------------------------------------------------------------------------------------------

def _single_precision(value):
    return float(Tensor(value).item())


class Argument:
    """The kind of a result that is a list or dict of the arguments: the caller gets its own object back."""

    def __init__(self, path):
        self.path = path             # position or name, then what leads on

    @staticmethod
    def leaves(value):
        del value
        return []


class Results:
    """The results of a run, one after the other, and the arguments of the call."""

    def __init__(self, results, args, kwargs):
        self.rest, self.args, self.kwargs = iter(results), args, kwargs

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.rest)

    def argument(self, path):
        value = self.args[path[0]] if isinstance(path[0], int) else self.kwargs[path[0]]
        for step in path[1:]:
            value = value[step]
        return value


def containers(items, path=()):
    """(identity, path) of the lists and dicts among arguments, also of those inside of others."""
    for step, value in items:
        here = path + (step,)
        if type(value) in (list, dict):
            yield id(value), here
        if isinstance(value, (tuple, list, dict)):
            yield from containers(value.items() if isinstance(value, dict) else enumerate(value), here)


def output_kind(value, capture):
    """The kind of a result; a constant Tensor is a result like others, so that every call gives its own."""
    if isinstance(value, Tensor):
        return OfTensor(value.dtype, shape_of(value))
    if id(value) in capture.containers and not capture.strict:
        return Argument(capture.containers[id(value)])
    if isinstance(value, (list, dict)) and id(value) in capture.outer and not capture.strict:
        return Known(value)              # what came from outside is given back as it is
    if isinstance(value, (tuple, list)) and type(value).__name__ != "ParameterTuple":
        return OfSequence(type(value), [output_kind(v, capture) for v in value])
    if isinstance(value, dict):
        return OfDict(type(value), list(value), [output_kind(v, capture) for v in value.values()])
    if isinstance(value, _Sparse):
        return OfSparse(type(value), value.shape, [output_kind(v, capture) for v in sparse_parts(value)])
    if isinstance(value, (Choice, Closure)) or not capture.faithful and (
            isinstance(value, (types.FunctionType, types.MethodType)) or _is_cell(value)):
        raise RuntimeError("Function in output is not supported. Please check your code.")
    if type(value) is float and value not in capture.literals and id(value) not in capture.given and not capture.faithful:
        return Known(_single_precision(value))
    return kind_of(value)


def _is_cell(value):
    from spore.nn import Cell
    return isinstance(value, Cell)


def giver(kind):
    """A function from an iterator over results to the value the user gets."""
    if isinstance(kind, Argument):
        return lambda leaves: leaves.argument(kind.path)
    if isinstance(kind, OfArray):
        return lambda leaves: next(leaves).asnumpy()
    if isinstance(kind, OfTensor):
        return next
    if isinstance(kind, OfText):
        parts = [giver(item) for item in kind.items]
        return lambda leaves: kind.make([part(leaves) for part in parts])
    if isinstance(kind, OfScalar):
        return lambda leaves: kind.kind(next(leaves).item())
    if isinstance(kind, OfSequence):
        items, type_ = [giver(item) for item in kind.items], kind.type
        if hasattr(type_, "_fields"):
            return lambda leaves: type_(*[item(leaves) for item in items])
        return lambda leaves: type_([item(leaves) for item in items])
    if isinstance(kind, OfDict):
        items = list(zip(kind.keys, [giver(item) for item in kind.items]))
        return lambda leaves: {key: item(leaves) for key, item in items}
    if isinstance(kind, OfSparse):
        parts, type_, shape = [giver(item) for item in kind.items], kind.type, kind.shape
        return lambda leaves: type_(*[part(leaves) for part in parts], shape)
    value = kind.value
    return lambda leaves: value


# --- options -------------------------------------------------------------------------------------------------------

class Options:
    """How a function is to be compiled."""

    def __init__(self, capture_mode="ast", strict=None, fullgraph=False, signature=None, hash_args=None, binding=False, most=None,
                 dynamic=False):
        self.capture_mode, self.fullgraph, self.hash_args = capture_mode, fullgraph, hash_args
        self.dynamic = dynamic       # whether sizes that change from call to call are left open
        self.faithful = capture_mode == "bytecode"       # plain Python's rules, and no error of the capture reaches the user
        self.most = most             # programs that may be made before new arguments run as plain Python; None: any number
        self._strict = strict
        self.signature = tuple(signature) if signature is not None else None
        self.mark = tuple(d.shape for d in signature if isinstance(d, Tensor)) if dynamic and signature is not None else ()
        self.open_sizes = signature is not None      # whether one program serves all sizes that the signature allows
        self.binding = binding       # whether a call that disagrees with the signature is an error
        self.names = ()              # of the parameters that the signature declares

    def in_order(self, args, kwargs):
        """Arguments by position where a signature declares them, as many as can be."""
        names, kwargs = list(self.names[len(args):]), dict(kwargs)
        while names and names[0] in kwargs:
            args = (*args, kwargs.pop(names.pop(0)))
        return args, kwargs

    @property
    def strict(self):
        level = os.environ.get("MS_DEV_JIT_SYNTAX_LEVEL")        # MindSpore's: 0 is STRICT, 1 COMPATIBLE, 2 LAX; it goes first
        if level in ("0", "1", "2"):
            return level == "0"
        return context.get_context("jit_syntax_level") == context.STRICT if self._strict is None else self._strict

    def widened(self, before, args):
        """Options in which sizes that differ between two sets of arguments are open; None when more than sizes differs."""
        if len(before) != len(args):
            return None
        declared = []
        for old, new in zip(before, args):
            if type(old) is not Tensor or type(new) is not Tensor:
                declared.append(new)
                continue
            if old.dtype != new.dtype or old.ndim != new.ndim:
                return None
            declared.append(Tensor(shape=[m if m == n else None for m, n in zip(old.shape, new.shape)], dtype=new.dtype))
        return Options(self.capture_mode, self._strict, self.fullgraph, declared, self.hash_args, dynamic=True)

    def by_size(self):
        """The same, with a program for each set of sizes instead of one for all that the signature allows."""
        made = Options(self.capture_mode, self._strict, self.fullgraph, self.signature, self.hash_args, self.binding)
        made.open_sizes, made.names = False, self.names
        return made

    def kinds(self, args):
        """The kinds of arguments as declared."""
        made = []
        for declared, given in zip(self.signature, args):
            made.append(_declared_kind(declared, given))
        made += [argument_kind(a) for a in args[len(self.signature):]]
        return made

    def fits_signature(self, args):
        """Whether arguments are as declared; what disagrees with set_inputs is an error, with input_signature a new program."""
        try:
            if len(args) > len(self.signature):
                raise ValueError(f"For set_inputs, the length of input must be equal to expected one, but got expected: "
                                 f"{len(self.signature)} and input: {len(args)}!")
            # Parameters with defaults need not be given.
            if any(d is not None for d in self.signature[len(args):]):
                raise TypeError(f"For set_inputs, {len(self.signature)} inputs are declared, but the call has {len(args)}: the "
                                f"function requires {len(self.signature)} positional argument.")
            seen = {}
            for i, (declared, given) in enumerate(zip(self.signature, args)):
                _check_declared(i, declared, given, seen)
        except (TypeError, ValueError):
            if self.binding:
                raise
            return False
        return True


def is_declared(declared):
    """Whether it stands for any Tensor of its kind: None and other values are what they are."""
    if isinstance(declared, (tuple, list)):
        return not getattr(declared, "__ms_dynamic_len__", False)        # each length has its own program
    return isinstance(declared, Tensor) and not isinstance(declared, Parameter)


def _declared_kind(declared, given):
    if isinstance(declared, Tensor) and not isinstance(declared, Parameter):
        any_rank = getattr(declared, "_any_rank", False)
        return OfTensor(declared.dtype, (-1,) * given.ndim if any_rank else declared.shape)
    if isinstance(declared, (tuple, list)) and is_declared(declared):
        return OfSequence(list if isinstance(given, list) else tuple, [_declared_kind(d, g) for d, g in zip(declared, given)])
    return argument_kind(given)


def _check_declared(i, declared, given, seen):
    where = "For set_inputs and tuple(list) in set_inputs, the"
    if isinstance(declared, Tensor):
        if not isinstance(given, Tensor):
            raise TypeError(f"{where} {i + 1}th input must be a Tensor, but got a {_type_name(given)}.")
        if declared.dtype != given.dtype:
            raise TypeError(f"For set_inputs or tuple(list) in set_inputs, the {i + 1}th type should be Tensor[{declared.dtype}], but got "
                            f"Tensor[{given.dtype}]!")
        if getattr(declared, "_any_rank", False):
            return
        shape = declared.shape
        if len(shape) != given.ndim:
            raise ValueError(f"{where} dims of {i + 1}th input must be the same as expected, but got expected: {len(shape)}, "
                             f"and input: {given.ndim}.")
        if any(d not in (-1, g) for d, g in zip(shape, given.shape)):
            raise ValueError(f"{where} shape of {i + 1}th input must be the same as expected, but got expected: {shape}, and "
                             f"input: {tuple(given.shape)}.")
        for axis, (symbol, size) in enumerate(zip(getattr(declared, "_sizes", ()), given.shape)):
            if hasattr(symbol, "check"):
                symbol.check(size, f"The {axis + 1}th shape value of {i + 1}th actual input args", seen)
        return
    if isinstance(declared, _Mutable) and not (isinstance(given, _Mutable) and given.__ms_mutable__):
        raise TypeError(f"For set_inputs or tuple(list) in set_inputs, the {i + 1}th should be mutable one, but got static!")
    if isinstance(given, Tensor) and isinstance(declared, (int, float, str)):
        raise TypeError(f"For set_inputs or tuple(list) in set_inputs, the {i + 1}th should be static one, but got mutable!")
    if isinstance(declared, (tuple, list)):
        if not isinstance(given, (tuple, list)) or len(given) != len(declared) and not getattr(declared, "__ms_dynamic_len__", False):
            raise ValueError(f"{where} length of {i + 1}th input must be the same as expected, but got expected: "
                             f"{len(declared)}, and input: {given!r}.")
        for d, g in zip(declared, given):
            if isinstance(d, (Tensor, tuple, list)) or not isinstance(declared, _Mutable):     # numbers of a mutable one may change
                _check_declared(i, d, g, seen)
    elif declared is not None and not isinstance(declared, _Mutable) and not same(declared, given):
        raise ValueError(f"For set_inputs or tuple(list) in set_inputs, the {i + 1}th should be {declared!r}, but got {given!r}!")
