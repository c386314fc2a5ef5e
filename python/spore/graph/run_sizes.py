# SPDX-License-Identifier: Apache-2.0
"""Calls of the library that need sizes which only a run tells: ``ops.zeros((x.shape[0], 3))``, ``x[1:]`` of a Tensor with an open
dimension.

Such a call is made by Python when the program gets there. What it will give is found out beforehand: it is tried twice on symbols
in which every open size is a number, another one each time; what comes out the same both times is known. Numbers computed from
open sizes carry what they would be with either (``Scalar.hint``).

``call_with_values`` does the same for calls that need the values of whole numbers of the run: ``ops.fft(x, n[0])``. There the
numbers that are tried are small and any; of the result only dtypes and ranks are taken to be known.
"""
from spore import _core
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.common.generator import Log
from spore.graph.errors import Redo, Unsupported
from spore.graph.joins import kind_of
from spore.graph.values import Scalar, shape_of

__all__ = ["call", "call_with_values", "with_item", "GUESSES"]

GUESSES = (48, 96)       # as in src/ir/infer_open.c: numbers that reshape, pooling and broadcasting take
_VALUES = (2, 1, 3, 4, 0, 6)    # whole numbers that a call is tried with when their value decides


_WHOLE = (mstype.int64, mstype.int32, mstype.int16, mstype.int8, mstype.uint8)


class _Slice(tuple):
    """The bounds of a slice, some of which may be known at run time only."""


class _Method:
    """A method of whatever Tensor comes first."""

    def __init__(self, name):
        self.__name__ = name

    def __call__(self, owner, /, *args, **kwargs):
        return getattr(owner, self.__name__)(*args, **kwargs)


def _changed(value, change):
    """The structure with ``change`` applied to what is no structure."""
    if type(value) in (tuple, list, _Slice):
        return type(value)(_changed(v, change) for v in value)
    if type(value) is dict:
        return {k: _changed(v, change) for k, v in value.items()}
    return change(value)


def _opened(value):
    """The value with slices taken apart, so that their bounds are found."""
    return _changed(value, lambda v: _Slice((v.start, v.stop, v.step)) if isinstance(v, slice) else v)


def _closed(value):
    """The value with slices put together again."""
    if isinstance(value, _Slice):
        return slice(*value)
    if type(value) in (tuple, list):
        return type(value)(_closed(v) for v in value)
    return {k: _closed(v) for k, v in value.items()} if type(value) is dict else value


def _guessed(value, which, symbols):
    """The value with numbers in place of what is open; Tensors are taken from ``symbols``."""
    def guess(one):
        if isinstance(one, Scalar):
            if one.hint is None:
                raise Unsupported("a size depends on more than the sizes of Tensors")
            return one.kind(one.hint[which])
        return next(symbols) if isinstance(one, Tensor) and _core.is_symbol(one) else one
    return _changed(value, guess)


def _now(value):
    """The value at run time: numbers as Python numbers."""
    return _changed(value, lambda v: v.kind(v.symbol.item()) if isinstance(v, Scalar) else v)


def _tensors(value, found):
    if isinstance(value, Tensor):
        found.append(value)
    elif isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            _tensors(item, found)
    return found


def _with_numbers(value, number):
    """The value with whole numbers of the run, and Tensors of them, in which every element is ``number``."""
    def guess(one):
        if isinstance(one, Scalar) and one.kind is not float:
            return one.kind(number)
        if isinstance(one, Tensor) and _core.is_symbol(one) and one.ndim < 2 and -1 not in shape_of(one) and one.dtype in _WHOLE:
            return Tensor(number, one.dtype).broadcast_to(shape_of(one))
        return one
    return _changed(value, guess)


def _attempt(capture, function, values, which):
    """(structure, [(dtype, shape)]) of what the function gives with one guess."""
    specs = [(t.dtype, tuple(GUESSES[which] if n < 0 else n for n in shape_of(t)))
             for t in _tensors(values, []) if _core.is_symbol(t)]
    scratch, symbols = _core.function_begin(capture.graph, "guess", specs)
    try:
        args, kwargs = _closed(_guessed(values, which, iter(symbols)))
        result = function(*args, **dict(kwargs))
        if _core.function_writes(scratch, symbols):      # at run time it would write to what the program has read before
            raise Unsupported(f"{getattr(function, '__name__', 'a call')}() writes to a Tensor, in a way that depends on sizes which only a run tells")
        leaves = _tensors(result, [])
        return result, [(leaf.dtype, shape_of(leaf)) for leaf in leaves]
    finally:
        _core.function_abandon(scratch)


def with_item(tensor, index, value):
    """A copy of a Tensor with other contents at an index."""
    tensor = tensor.copy()
    tensor[index] = value
    return tensor


def _at_these_sizes(executor, function, values):
    """The call with the numbers that sizes are in this capture: see sizes.py."""
    symbols = (t for t in _tensors(values, []) if _core.is_symbol(t))
    args, kwargs = _closed(_guessed(values, 0, symbols))
    result = function(*args, **dict(kwargs))
    if not _only_tensors(result):
        raise Unsupported(f"{getattr(function, '__name__', 'a call')}() gives something else than Tensors, depending on free sizes")
    executor.capture.sizes.check(executor.capture, getattr(function, "__name__", "call"), [None] * len(_tensors(result, [])))
    return result


def _begun(executor, function, args, kwargs, what):
    """The function and its arguments taken apart, once it is clear that no gradient goes through."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, Tensor):                # the Tensor of the run counts, not the symbol
        function, args = _Method(function.__name__), (owner, *args)
    executor.capture.need_no_gradient(what)
    return function, _opened((tuple(args), tuple(kwargs.items())))


def _host(function, values, first, specs, draws):
    """The call as a step of the program that Python does."""
    if not _only_tensors(first):
        raise Unsupported("a call gives something else than Tensors, depending on what only a run tells")
    kind = kind_of(values)

    def run(leaves):
        given, named = _closed(_now(kind.rebuild(iter(leaves))))
        return _tensors(function(*given, **dict(named)), [])
    pure = not draws.states          # what draws random numbers gives others each time
    results = iter(_core.function_host(getattr(function, "__name__", "late"), run, kind.leaves(values), specs, pure))
    return _rebuilt(first, results)


def call(executor, function, args, kwargs):
    """``function(*args, **kwargs)`` when the program runs; Unsupported when its result cannot be told now."""
    function, values = _begun(executor, function, args, kwargs, "a size that only a run tells")
    if executor.capture.sizes is not None:
        return _at_these_sizes(executor, function, values)
    draws = Log()
    try:
        with draws.keep():
            tries = [_attempt(executor.capture, function, values, which) for which in (0, 1)]
    except (Redo, Unsupported):
        raise
    except Exception as error:
        raise Unsupported(f"{getattr(function, '__name__', 'a call')}(): {error}") from None
    (first, specs), (_, others) = tries
    if len(specs) != len(others) or any(a[0] != b[0] or len(a[1]) != len(b[1]) for a, b in zip(specs, others)):
        raise Unsupported("what a call gives depends on sizes that only a run tells")
    specs = [(dtype, tuple(m if m == n else -1 for m, n in zip(shape, other))) for (dtype, shape), (_, other) in zip(specs, others)]
    return _host(function, values, first, specs, draws)


def call_with_values(executor, function, args, kwargs):
    """``call`` for a function that asks for values of whole numbers of the run."""
    function, values = _begun(executor, function, args, kwargs, "a value that only a run tells")
    draws, tries, failed = Log(), [], None
    for number in _VALUES:
        try:
            with draws.keep():
                tries.append(_attempt(executor.capture, function, _with_numbers(values, number), len(tries)))
        except Redo:
            raise
        except Exception as error:
            failed = failed or error
        if len(tries) == 2:
            break
    else:
        raise Unsupported(f"{getattr(function, '__name__', 'a call')}(): {failed}") from None
    (first, specs), (_, others) = tries
    if [(dtype, len(shape)) for dtype, shape in specs] != [(dtype, len(shape)) for dtype, shape in others]:
        raise Unsupported("what a call gives depends on values that only a run tells")
    return _host(function, values, first, [(dtype, (-1,) * len(shape)) for dtype, shape in specs], draws)


def _only_tensors(value):
    return isinstance(value, Tensor) or type(value) in (tuple, list) and all(_only_tensors(v) for v in value)


def _rebuilt(value, results):
    return next(results) if isinstance(value, Tensor) else type(value)(_rebuilt(v, results) for v in value)
