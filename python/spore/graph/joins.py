# SPDX-License-Identifier: Apache-2.0
"""Kinds of values, and what two branches have in common.

Structures exist while capturing only. Where a value crosses the edge of a function of the graph it is taken apart into
Tensors by its kind and put together again on the other side:

    kind_of(value)          the most exact kind
    join(a, b)              the kind that holds values of both; TypeError or ValueError with MindSpore's words if there is none
    kind.leaves(value)      the Tensors that carry the value
    kind.rebuild(leaves)    the value from an iterator over such Tensors

A constant has the kind Known and needs no Tensor. Equal constants stay constants; different numbers become numbers known at
run time only, different functions a Choice.
"""
import types

from spore import _core
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.common.sparse_tensor import _Sparse
from spore.graph import state
from spore.graph.errors import Unsupported
from spore.graph.values import Array, Choice, Closure, LateText, Scalar, Unbound, dtype_of, number_kind, shape_of, symbol_of

__all__ = ["kind_of", "join", "same", "Known", "OfTensor", "OfScalar", "JoinError"]

_JOIN = "Cannot join the return values of different branches, perhaps you need to make them equal.\n"


class JoinError(Exception):
    """Two kinds have nothing in common; ``error`` is what the user gets."""

    def __init__(self, error):
        super().__init__(str(error))
        self.error = error


def _filler(dtype, shape):
    """A Tensor for a place whose value nobody looks at."""
    zero = Tensor(0, dtype=dtype)
    sizes = tuple(1 if size < 0 else size for size in shape)
    return zero.broadcast_to(sizes) if sizes else zero


class Known:
    """A constant: no Tensor carries it."""
    abstract = "AbstractScalar"

    def __init__(self, value):
        self.value = value

    def specs(self):
        return []

    def leaves(self, value):
        return []

    def fillers(self):
        return []

    def rebuild(self, leaves):
        return self.value

    def equals(self, other):
        return isinstance(other, Known) and same(self.value, other.value)


class OfTensor:
    """A Tensor of this dtype and shape; a size of -1 is known at run time."""
    abstract = "AbstractTensor"

    def __init__(self, dtype, shape):
        self.dtype, self.shape = dtype, tuple(shape)

    def specs(self):
        return [(self.dtype, self.shape)]

    def leaves(self, value):
        return [value]

    def fillers(self):
        return [_filler(self.dtype, self.shape)]

    def rebuild(self, leaves):
        return next(leaves)

    def equals(self, other):
        return isinstance(other, OfTensor) and (self.dtype, self.shape) == (other.dtype, other.shape)


class OfChosen(OfTensor):
    """What one of several Parameters holds, the run chooses which: it can be read, but a write would not reach the Parameter."""

    def rebuild(self, leaves):
        value = next(leaves)
        state.capture().chosen.append((value, _core.symbol_id(value)))
        return value


class OfScalar:
    """A number known at run time only."""
    abstract = "AbstractScalar"

    def __init__(self, kind):
        self.kind, self.dtype = kind, dtype_of(kind)

    def specs(self):
        return [(self.dtype, ())]

    def leaves(self, value):
        return [symbol_of(value, self.kind)]

    def fillers(self):
        return [_filler(self.dtype, ())]

    def rebuild(self, leaves):
        return Scalar(next(leaves), self.kind)

    def equals(self, other):
        return isinstance(other, OfScalar) and self.kind is other.kind


class OfArray(OfTensor):
    """A numpy array, carried by a Tensor."""

    def __init__(self, dtype, shape, numpy_dtype):
        super().__init__(dtype, shape)
        self.numpy_dtype = numpy_dtype

    def leaves(self, value):
        return [value.symbol]

    def rebuild(self, leaves):
        return Array(next(leaves), self.numpy_dtype)

    def equals(self, other):
        return isinstance(other, OfArray) and super().equals(other)


class OfText:
    """A text made at run time."""
    abstract = "AbstractScalar"

    def __init__(self, make, items):
        self.make, self.items = make, items

    def specs(self):
        return [spec for item in self.items for spec in item.specs()]

    def leaves(self, value):
        return [leaf for kind, item in zip(self.items, value.values) for leaf in kind.leaves(item)]

    def fillers(self):
        return [leaf for item in self.items for leaf in item.fillers()]

    def rebuild(self, leaves):
        return LateText(self.make, [item.rebuild(leaves) for item in self.items])

    def equals(self, other):
        return (isinstance(other, OfText) and self.make == other.make and len(self.items) == len(other.items)
                and all(a.equals(b) for a, b in zip(self.items, other.items)))


class OfSequence:
    """A tuple, namedtuple or list, element by element."""

    def __init__(self, type_, items):
        self.type, self.items = type_, items
        self.abstract = "AbstractList" if issubclass(type_, list) else "AbstractTuple"

    def specs(self):
        return [spec for item in self.items for spec in item.specs()]

    def leaves(self, value):
        return [leaf for kind, item in zip(self.items, value) for leaf in kind.leaves(item)]

    def fillers(self):
        return [leaf for item in self.items for leaf in item.fillers()]

    def rebuild(self, leaves):
        items = [item.rebuild(leaves) for item in self.items]
        return self.type(*items) if hasattr(self.type, "_fields") else self.type(items)

    def equals(self, other):
        return (isinstance(other, OfSequence) and self.type is other.type and len(self.items) == len(other.items)
                and all(a.equals(b) for a, b in zip(self.items, other.items)))


class OfDict:
    """A dict, value by value."""
    abstract = "AbstractDictionary"

    def __init__(self, type_, keys, items):
        self.type, self.keys, self.items = type_, keys, items

    def specs(self):
        return [spec for item in self.items for spec in item.specs()]

    def leaves(self, value):
        return [leaf for kind, key in zip(self.items, self.keys) for leaf in kind.leaves(value[key])]

    def fillers(self):
        return [leaf for item in self.items for leaf in item.fillers()]

    def rebuild(self, leaves):
        return self.type((key, item.rebuild(leaves)) for key, item in zip(self.keys, self.items))

    def equals(self, other):
        return (isinstance(other, OfDict) and self.keys == other.keys
                and all(a.equals(b) for a, b in zip(self.items, other.items)))


class OfSparse:
    """A COOTensor or one of its kin, part by part."""
    abstract = "AbstractSparseTensor"

    def __init__(self, type_, shape, items):
        self.type, self.shape, self.items = type_, shape, items

    def specs(self):
        return [spec for item in self.items for spec in item.specs()]

    def leaves(self, value):
        return [leaf for kind, part in zip(self.items, sparse_parts(value)) for leaf in kind.leaves(part)]

    def fillers(self):
        return [leaf for item in self.items for leaf in item.fillers()]

    def rebuild(self, leaves):
        return self.type(*[item.rebuild(leaves) for item in self.items], self.shape)

    def equals(self, other):
        return (isinstance(other, OfSparse) and self.type is other.type and self.shape == other.shape
                and all(a.equals(b) for a, b in zip(self.items, other.items)))


def sparse_parts(value):
    """The Tensors that a sparse one is made of."""
    return [getattr(value, name) for name in value._parts]


class OfClosure:
    """A function of the program with the values it has caught."""
    abstract = "FuncGraphAbstractClosure"

    def __init__(self, closure, names, items):
        self.closure, self.names, self.items = closure, names, items

    def specs(self):
        return [spec for item in self.items for spec in item.specs()]

    def leaves(self, value):
        return [leaf for kind, name in zip(self.items, self.names) for leaf in kind.leaves(value.captured[name])]

    def fillers(self):
        return [leaf for item in self.items for leaf in item.fillers()]

    def rebuild(self, leaves):
        captured = dict(self.closure.captured)
        for name, item in zip(self.names, self.items):
            captured[name] = item.rebuild(leaves)
        made = Closure(self.closure.code, captured, self.closure.frame, self.closure.defaults, self.closure.kw_defaults)
        for name, value in captured.items():
            if value is self.closure:
                captured[name] = made
        return made

    def equals(self, other):
        return (isinstance(other, OfClosure) and self.closure.code is other.closure.code and self.names == other.names
                and all(a.equals(b) for a, b in zip(self.items, other.items)))


class OfChoice:
    """One of several kinds, told apart at run time by an index; those not chosen are filled up."""
    abstract = "FuncGraphAbstractClosure"

    def __init__(self, options):
        self.options = options

    def specs(self):
        return [(mstype.int32, ())] + [spec for option in self.options for spec in option.specs()]

    def leaves(self, value):
        if isinstance(value, Choice):
            kinds = [kind_of(option) for option in value.options]
            index = _remap(value.index, [self._position(kind) for kind in kinds])
            chosen = {self._position(kind): option for kind, option in zip(kinds, value.options)}
        else:
            position = self._position(kind_of(value))
            index, chosen = Tensor(position, dtype=mstype.int32), {position: value}
        made = [index]
        for i, option in enumerate(self.options):
            made += option.leaves(chosen[i]) if i in chosen else option.fillers()
        return made

    def _position(self, kind):
        return next(i for i, option in enumerate(self.options) if option.equals(kind))

    def fillers(self):
        return [Tensor(0, dtype=mstype.int32)] + [leaf for option in self.options for leaf in option.fillers()]

    def rebuild(self, leaves):
        index = next(leaves)
        return Choice(index, [option.rebuild(leaves) for option in self.options])

    def equals(self, other):
        return (isinstance(other, OfChoice) and len(self.options) == len(other.options)
                and all(a.equals(b) for a, b in zip(self.options, other.options)))


def _remap(index, positions):
    """The index of a Choice in the numbering of a larger one."""
    if positions == list(range(len(positions))):
        return index
    return Tensor(positions, dtype=mstype.int32)[index]


# --- kinds of values -------------------------------------------------------------------------------------------------

def kind_of(value):
    """The most exact kind of a value."""
    if isinstance(value, Tensor):
        return OfTensor(value.dtype, shape_of(value)) if _core.is_symbol(value) else Known(value)
    if isinstance(value, Scalar):
        return OfScalar(value.kind)
    if isinstance(value, LateText):
        return OfText(value.make, [kind_of(item) for item in value.values])
    if isinstance(value, Array):
        return OfArray(value.symbol.dtype, value.shape, value.dtype)
    if isinstance(value, Closure):
        names = sorted(name for name, held in value.captured.items() if held is not value and _varies(held))
        return OfClosure(value, names, [kind_of(value.captured[name]) for name in names])
    if isinstance(value, Choice):
        return OfChoice([kind_of(option) for option in value.options])
    if isinstance(value, (tuple, list)) and not _is_library_tuple(value):
        return OfSequence(type(value), [kind_of(item) for item in value])
    if isinstance(value, dict):
        return OfDict(type(value), list(value), [kind_of(item) for item in value.values()])
    if isinstance(value, _Sparse) and _varies(value):
        return OfSparse(type(value), value.shape, [kind_of(part) for part in sparse_parts(value)])
    return Known(value)


def _is_library_tuple(value):
    return type(value).__name__ == "ParameterTuple"


def _varies(value, depth=0):
    """Whether a symbol is in it."""
    if isinstance(value, Tensor):
        return _core.is_symbol(value)
    if isinstance(value, (Scalar, Choice, LateText, Array)):
        return True
    if isinstance(value, (tuple, list)):
        return depth < 20 and any(_varies(item, depth + 1) for item in value)
    if isinstance(value, dict):
        return depth < 20 and any(_varies(item, depth + 1) for item in value.values())
    if isinstance(value, Closure):
        return depth < 20 and any(_varies(item, depth + 1) for item in value.captured.values())
    return isinstance(value, _Sparse) and any(_varies(part) for part in sparse_parts(value))


varies = _varies


def same(a, b):
    """Whether two constants are one for the program."""
    if a is b:
        return True
    if type(a) is not type(b) or isinstance(a, Tensor):
        return False
    if isinstance(a, types.MethodType):
        return a.__self__ is b.__self__ and a.__func__ is b.__func__
    if isinstance(a, (int, float, str, bytes, bool, complex, slice, range, type(mstype.float32))):
        return a == b or a != a and b != b
    return False


# --- joins -----------------------------------------------------------------------------------------------------------

def _type_error(text):
    return JoinError(TypeError(_JOIN + "Type Join Failed: " + text))


def _number_name(kind):
    return {bool: "Bool", int: "Int64", float: "Float32"}[kind]


def _abstract(kind):
    if isinstance(kind, Known):
        value = kind.value
        if isinstance(value, Tensor):
            return "AbstractTensor"
        if value is None:
            return "AbstractNone"
        if callable(value):
            return "FuncGraphAbstractClosure"
    return kind.abstract


def join(a, b):
    """The kind that holds the values of both."""
    if a.equals(b):
        return a
    tensors = _as_tensor_kind(a), _as_tensor_kind(b)
    if tensors[0] and tensors[1]:
        made = _join_tensors(*tensors)
        return OfChosen(made.dtype, made.shape) if any(_is_parameter(one) for one in (a, b)) else made
    numbers = _number(a), _number(b)
    if numbers[0] and numbers[1]:
        if numbers[0] is not numbers[1]:
            raise _type_error(f"dtype1 = {_number_name(numbers[0])}, dtype2 = {_number_name(numbers[1])}.")
        return OfScalar(numbers[0])
    if isinstance(a, Known) and isinstance(a.value, Unbound):
        return a
    if isinstance(b, Known) and isinstance(b.value, Unbound):
        return b
    if isinstance(a, OfSequence) and isinstance(b, OfSequence) and a.abstract == b.abstract:
        if len(a.items) != len(b.items) and all(_same_sort(item, a.items[0]) for item in a.items[1:] + b.items) and a.items:
            raise Unsupported(f"a sequence has {len(a.items)} items in one branch and {len(b.items)} in the other")
        if len(a.items) == len(b.items):
            return OfSequence(a.type, [join(x, y) for x, y in zip(a.items, b.items)])
    elif isinstance(a, OfDict) and isinstance(b, OfDict):
        if a.keys == b.keys:
            return OfDict(a.type, a.keys, [join(x, y) for x, y in zip(a.items, b.items)])
        raise Unsupported(f"a dict has the keys {a.keys} in one branch and {b.keys} in the other")
    elif isinstance(a, OfSparse) and isinstance(b, OfSparse) and (a.type, a.shape) == (b.type, b.shape):
        return OfSparse(a.type, a.shape, [join(x, y) for x, y in zip(a.items, b.items)])
    elif _is_function(a) and _is_function(b):
        return _join_functions(a, b)
    if any(isinstance(one, Known) and isinstance(one.value, _FREE) for one in (a, b)) or _text(a) and _text(b):
        raise Unsupported("a name is None, a dtype or a text in one branch and something else in the other")
    if _text(a) or _text(b):
        raise _type_error(f"dtype1 = {_dtype_name(a)}, dtype2 = {_dtype_name(b)}.")
    raise _type_error(f"Abstract type {_abstract(a)} cannot join with {_abstract(b)}.")


_FREE = (type(None), type(mstype.float32))       # may be joined with anything, by Python


def _text(kind):
    return isinstance(kind, OfText) or isinstance(kind, Known) and isinstance(kind.value, (str, bytes))


def _dtype_name(kind):
    number = _number(kind)
    return "String" if _text(kind) else _number_name(number) if number else "Any"


def _same_sort(a, b):
    tensors = _as_tensor_kind(a), _as_tensor_kind(b)
    if tensors[0] and tensors[1]:
        return tensors[0].dtype == tensors[1].dtype
    return _number(a) is not None and _number(a) is _number(b)


def _as_tensor_kind(kind):
    if isinstance(kind, OfTensor) and not isinstance(kind, OfArray):
        return kind
    if isinstance(kind, Known) and isinstance(kind.value, Tensor):
        return OfTensor(kind.value.dtype, kind.value.shape)
    return None


def _is_parameter(kind):
    return isinstance(kind, OfChosen) or isinstance(kind, Known) and getattr(kind.value, "__parameter__", False)


def _join_tensors(a, b):
    if a.dtype != b.dtype:
        raise _type_error(f"dtype1 = {a.dtype}, dtype2 = {b.dtype}.")
    if len(a.shape) != len(b.shape):
        raise Unsupported(f"a Tensor has the shape {a.shape} in one branch and {b.shape} in the other")
    return OfTensor(a.dtype, tuple(x if x == y else -1 for x, y in zip(a.shape, b.shape)))


def _number(kind):
    if isinstance(kind, OfScalar):
        return kind.kind
    return number_kind(kind.value) if isinstance(kind, Known) else None


def _is_function(kind):
    if isinstance(kind, (OfClosure, OfChoice)):
        return True
    return isinstance(kind, Known) and callable(kind.value)


def _join_functions(a, b):
    if isinstance(a, OfClosure) and isinstance(b, OfClosure) and a.closure.code is b.closure.code and a.names == b.names:
        return OfClosure(a.closure, a.names, [join(x, y) for x, y in zip(a.items, b.items)])
    options = []
    for one in (a, b):
        for option in one.options if isinstance(one, OfChoice) else [one]:
            if not any(option.equals(known) for known in options):
                options.append(option)
    return OfChoice(options)


def widen(kind):
    """The kind with numbers known at run time only."""
    number = _number(kind)
    return OfScalar(number) if number else kind
