# SPDX-License-Identifier: Apache-2.0
"""Compiled functions: what happens when one is called.

A call is looked up by its signature: dtype and shape of Tensors, the values of everything else, lengths of sequences, and
what is mutable. A new signature is captured and compiled. What cannot be captured runs as plain Python, with the same results;
explain.py says so.

Tensors inside plain tuples, lists and dicts are taken as values of the run, so that they may change from call to call without
a new compilation; only if that fails are they constants, as in MindSpore.
"""
import contextlib
import functools
import inspect
import threading
import time
import types
import weakref

import numpy as np

from spore import _core, context
from spore._core import Tensor
from spore.common.mutable import _Mutable
from spore.common.parameter import Parameter
from spore.graph import explain, state
from spore.graph.capture import Capture
from spore.graph.errors import Redo, Unsupported, located
from spore.graph.flow import NoJoin
from spore.graph.heap import Added, Attribute, Items
from spore.graph.joins import Known, OfDict, OfScalar, OfSequence, OfTensor, kind_of, same
from spore.graph.statements import Dead
from spore.graph.values import Choice, Closure, number_kind

__all__ = ["JitFunction", "Compiled", "call_top_cell", "eagerly"]

_plain = threading.local()
_PLAIN_TYPES = (int, float, str, bool, type(None), bytes)
_FEW = 64                # programs kept for one signature of constant Tensors


@contextlib.contextmanager
def eagerly():
    """A block in which Cells run as plain Python, whatever the mode is."""
    before = getattr(_plain, "on", False)
    _plain.on = True
    try:
        yield
    finally:
        _plain.on = before


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
    try:
        hash(value)
    except TypeError:
        return kind, id(value)
    return kind, value


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
            return OfScalar(bool if isinstance(value, bool) else int if isinstance(value, int) else float)
    inside = functools.partial(_inside_kind, constant_tensors=constant_tensors and not is_mutable, is_mutable=is_mutable)
    if isinstance(value, (tuple, list)):
        base = value.__class__ if hasattr(value, "_fields") else tuple if isinstance(value, tuple) else list
        return Known(value) if type(value).__name__ == "ParameterTuple" else OfSequence(base, [inside(v) for v in value])
    if isinstance(value, dict):
        return OfDict(dict, list(value), [inside(v) for v in value.values()])
    return Known(value)


def _inside_kind(value, constant_tensors, is_mutable):
    if constant_tensors and isinstance(value, Tensor):
        return Known(value)
    return argument_kind(value, constant_tensors, is_mutable)


def _holds_tensors(value):
    if isinstance(value, (tuple, list)):
        return any(isinstance(v, Tensor) or _holds_tensors(v) for v in value)
    if isinstance(value, dict):
        return any(isinstance(v, Tensor) or _holds_tensors(v) for v in value.values())
    return False


def _tensor_ids(value):
    if isinstance(value, Tensor):
        return (id(value),)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return tuple(_tensor_ids(v) for v in value)
    return ()


# --- results ---------------------------------------------------------------------------------------------------------

def _single_precision(value):
    return float(Tensor(value).item())


def output_kind(value, literals):
    """The kind of a result; a constant Tensor is a result like others, so that every call gives its own."""
    if isinstance(value, Tensor):
        return OfTensor(value.dtype, value.shape)
    if isinstance(value, (tuple, list)) and type(value).__name__ != "ParameterTuple":
        return OfSequence(type(value), [output_kind(v, literals) for v in value])
    if isinstance(value, dict):
        return OfDict(type(value), list(value), [output_kind(v, literals) for v in value.values()])
    if isinstance(value, (Choice, Closure, types.FunctionType, types.MethodType)) or _is_cell(value):
        raise RuntimeError("Function in output is not supported. Please check your code.")
    if type(value) is float and value not in literals:
        return Known(_single_precision(value))
    return kind_of(value)


def _is_cell(value):
    from spore.nn import Cell
    return isinstance(value, Cell)


def giver(kind):
    """A function from an iterator over results to the value the user gets."""
    if isinstance(kind, OfTensor):
        return next
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
    value = kind.value
    return lambda leaves: value


# --- programs --------------------------------------------------------------------------------------------------------

class Entry:
    """A program for one signature, or the decision to run plain Python."""

    def __init__(self):
        self.program = None
        self.give = None
        self.changes = ()            # (place, giver): objects that get new contents after a run
        self.argument_changes = ()   # (position or keyword, Items or Added, giver): lists and dicts among the arguments
        self.written = ()            # numbers of Tensor arguments that were written to
        self.state = ()              # (attribute, kind): read when a program starts
        self.one = False             # the result is one Tensor
        self.same = None             # number of the argument that is the result
        self.guards = ()             # (weak reference to a Cell, its training)
        self.version = -1
        self.keep = ()               # constants whose identity is in the key

    def fits(self):
        """Whether what the program looked at besides its arguments is as it was."""
        if self.version == state.version:
            return True
        if all((cell := ref()) is not None and cell.training is training for ref, training in self.guards):
            self.version = state.version
            return True
        return False

    def run(self, leaves, args=(), kwargs=None):
        results = self.program.run(leaves)
        if self.one:
            return results[0] if self.same is None else leaves[self.same]
        rest = iter(results)
        value = self.give(rest)
        for place, give in self.changes:
            place.set(give(rest))
        for which, change, give in self.argument_changes:
            change(args[which] if isinstance(which, int) else kwargs[which]).set(give(rest))
        for i in self.written:
            leaves[i].assign_value(next(rest))
        return value


class Compiled:
    """A function (or Cell) with its programs.

    Args:
        function: what is captured; ``plain`` is called when it runs as plain Python.
        options: capture_mode, jit_syntax_level and others, see Options.
    """

    def __init__(self, function, plain, name, options, source=None):
        self.function, self.plain, self.name, self.options = function, plain, name, options
        self.source = plain if source is None else source        # where the text stands
        self.entries = {}
        self.lock = threading.RLock()
        self.constants = {}          # structural key: {ids: Entry}

    def __call__(self, args, kwargs):
        return self.run(self.entry(args, kwargs), args, kwargs)

    def entry(self, args, kwargs):
        """The Entry for these arguments, made when there is none."""
        key = tuple([(a.dtype, a.shape) if type(a) is Tensor else key_of(a) for a in args])
        if kwargs:
            key = key, tuple([(name, key_of(value)) for name, value in kwargs.items()])
        if self.options.signature is not None and self.options.fits_signature(args):
            key = "signature", tuple([key_of(a) for a, d in zip(args, self.options.signature) if not _is_declared(d)]), tuple(
                [a.ndim for a, d in zip(args, self.options.signature) if getattr(d, "_any_rank", False)])
        elif self.options.hash_args is not None:
            key = key, key_of(self.options.hash_args)
        entries = self.entries.get(key)
        if entries is not None:
            for entry in entries:
                if entry.fits():
                    return entry
        return self.compile(key, args, kwargs)

    def prepare(self, args, kwargs):
        """Compile for these arguments without running."""
        self.entry(args, kwargs)

    def run(self, entry, args, kwargs):
        if entry.program is None:
            if entry.give is None:
                with eagerly():
                    return self.plain(*args, **kwargs)
            return self.run_constant(entry, args, kwargs)
        if not kwargs and entry.simple:
            return entry.run(args)
        leaves = entry.leaves(args, kwargs)
        for place, kind in entry.state:
            leaves += _argument_leaves(kind, place.get())
        return entry.run(leaves, args, kwargs)

    def run_constant(self, marker, args, kwargs):
        """Tensors in sequences are constants of these programs: found by identity."""
        known = marker.give
        ids = _tensor_ids(args), _tensor_ids(kwargs)
        entry = known.get(ids)
        if entry is None or not entry.fits():
            entry = self.capture(args, kwargs, constant_tensors=True)
            entry.keep = (args, kwargs)
            if len(known) >= _FEW:
                known.pop(next(iter(known)))
            known[ids] = entry
        return self.run(entry, args, kwargs)

    def compile(self, key, args, kwargs):
        with self.lock:
            explain.compiling(self, key)
            try:
                entry = self.capture(args, kwargs)
            except Exception as error:
                if not any(_holds_tensors(v) for v in [*args, *kwargs.values()]):
                    raise
                try:
                    first = self.capture(args, kwargs, constant_tensors=True)
                except Exception:
                    raise error from None
                first.keep = (args, kwargs)
                entry = Entry()
                entry.give = {(_tensor_ids(args), _tensor_ids(kwargs)): first}
            self.entries.setdefault(key, []).append(entry)
            return entry

    def capture(self, args, kwargs, constant_tensors=False):
        """Capture and compile; an Entry that runs plain Python when it cannot be captured."""
        start = time.perf_counter()
        try:
            entry = self.make_program(args, kwargs, constant_tensors)
        except Unsupported as reason:
            if self.options.strict or self.options.fullgraph:
                kind, text = reason.strict or (RuntimeError, str(reason))
                raise located(kind(text), getattr(reason, "_spore_places", None)) from None
            explain.plain(self, reason)
            if self.options.signature is not None:
                # Open sizes are too much for some operator: a program for each set of sizes is still better than none.
                self.options = self.options.without_signature()
                return self.capture(args, kwargs, constant_tensors)
            return Entry()
        explain.compiled(self, entry, time.perf_counter() - start)
        return entry

    def make_program(self, args, kwargs, constant_tensors):
        options = self.options
        names = list(kwargs)
        values = list(args) + [kwargs[name] for name in names]
        declared = options.signature is not None and options.fits_signature(args)
        kinds = options.kinds(args) if declared else [argument_kind(v, constant_tensors) for v in values]
        entry = self.make_entry(kinds, names, len(args), [])
        if entry.state:              # attributes that the program sets: read at the start of every run
            entry = self.make_entry(kinds, names, len(args), entry.state)
        entry.program = _core.program_create(entry.function)
        entry.version = state.version
        entry.simple = all(type(kind) is OfTensor for kind in kinds) and not entry.state
        entry.leaves = _leaf_finder(kinds, names)
        return entry

    def make_entry(self, kinds, names, n_args, held):
        """Capture once. ``held``: attributes whose contents are further arguments."""
        specs = [spec for kind in kinds for spec in kind.specs()]
        specs += [spec for _, kind in held for spec in kind.specs()]
        graph = _core.graph_create()
        capture = Capture(graph, strict=self.options.strict, native=self.options.capture_mode == "trace",
                          depth_limit=context.get_context("max_call_depth"))
        function, params = _core.function_begin(graph, self.name, specs)
        try:
            with capture:
                leaves = iter(params)
                inputs = [kind.rebuild(leaves) for kind in kinds]
                for place, kind in held:
                    capture.heap.write(place, kind.rebuild(leaves))
                entry = self.execute(capture, function, params, inputs[:n_args], dict(zip(names, inputs[n_args:])))
        except BaseException as error:
            _core.function_abandon(function)
            self.fail(error)
        if held:
            entry.state = held
        entry.function, entry.graph = function, graph
        entry.guards = [(weakref.ref(cell), training) for cell, training in capture.guards.items()]
        return entry

    def execute(self, capture, function, params, args, kwargs):
        """Run the function on symbols and end the recording; gives an Entry without program."""
        entry = Entry()
        numbers = [_core.symbol_id(p) for p in params]
        mutable = {id(v): which for which, v in [*enumerate(args), *kwargs.items()] if type(v) in (list, dict)}
        try:
            if capture.native:
                value = self.plain(*args, **kwargs)
            else:
                value = self.function(capture.executor, args, kwargs)
        except Dead:
            capture.heap.end()
            _core.function_end(function, [])
            entry.give = lambda leaves: None
            return entry
        if self.options.strict and isinstance(value, dict):
            value = tuple(value.values())
        if self.options.strict and isinstance(value, np.ndarray):
            raise RuntimeError(f"Illegal type in the graph: {type(value).__name__}; in JIT strict mode results are Tensors, "
                               "numbers, texts and sequences of these.")
        kind = output_kind(value, capture.literals)
        leaves = kind.leaves(value)
        entry.give, entry.one = giver(kind), isinstance(kind, OfTensor)
        if id(value) in capture.outer:           # a list or dict from outside is given back as it is
            leaves, entry.give = [], lambda leaves: value
        changes, argument_changes, held = [], [], []
        for place, new in capture.heap.end().values():
            if isinstance(place, Items) and id(place.owner) not in capture.outer and id(place.owner) not in mutable:
                continue
            if isinstance(place, Items):
                place, new = _relative(place, new)
            made = output_kind(new, capture.literals) if not callable(new) else Known(new)
            leaves = leaves + made.leaves(new)
            if id(place.owner) in mutable:
                argument_changes.append((mutable[id(place.owner)], type(place), giver(made)))
                continue
            old = place.get() if isinstance(place, Attribute) else None
            held += _state_of(place, old, new)
            changes.append((place, giver(made)))
        entry.written = tuple(i for i, p in enumerate(params) if _core.symbol_id(p) != numbers[i])
        leaves = leaves + [params[i] for i in entry.written]
        entry.changes, entry.argument_changes, entry.state = tuple(changes), tuple(argument_changes), held
        entry.one = entry.one and not (changes or argument_changes or entry.written)
        if entry.one:
            entry.same = next((i for i, p in enumerate(params) if p is value), None)
        _core.function_end(function, leaves)
        return entry

    def fail(self, error):
        """Raise an error of the capture as the user gets it."""
        places = getattr(error, "_spore_places", None)
        if isinstance(error, NoJoin):
            error = error.error
            error._spore_places = places
            if isinstance(error, Unsupported):
                error.place = places[-1] if places else None
        if isinstance(error, Unsupported):
            raise error from None
        if isinstance(error, (_core.SymbolError, Redo)):
            reason = Unsupported(str(error))
            reason._spore_places = places
            reason.place = places[-1] if places else None
            raise reason from None
        if not isinstance(error, Exception):
            raise error
        if self.options.capture_mode == "bytecode":
            reason = Unsupported(f"{type(error).__name__}: {error}")
            reason.place = places[-1] if places else None
            raise reason from None
        raise located(error, places) from None


def _state_of(place, old, new):
    """[(place, kind)] for an attribute that a program changes and that its next run has to read; else nothing."""
    if type(old) is Tensor and isinstance(new, Tensor) and (old.dtype, old.shape) == (new.dtype, new.shape):
        return [(place, OfTensor(old.dtype, old.shape))]
    if type(old) in (int, float) and number_kind(new) is type(old) and not same(old, new):
        return [(place, OfScalar(type(old)))]
    return []


def _relative(place, new):
    """A change of a list or dict as what was added, where nothing else was done: it is made again in every run."""
    old = place.get()
    if isinstance(new, list) and len(new) >= len(old) and all(a is b for a, b in zip(old, new)):
        return Added(place.owner), new[len(old):]
    if isinstance(new, dict) and all(key in new for key in old):
        return Added(place.owner), {k: v for k, v in new.items() if k not in old or old[k] is not v}
    return place, new


def _leaf_finder(kinds, names):
    def find(args, kwargs):
        values = list(args) + [kwargs[name] for name in names]
        return [leaf for kind, value in zip(kinds, values) for leaf in _argument_leaves(kind, value)]
    return find


def _argument_leaves(kind, value):
    if isinstance(kind, OfScalar):
        return [Tensor(kind.kind(value), dtype=kind.specs()[0][0])]
    if isinstance(kind, OfSequence):
        return [leaf for item, v in zip(kind.items, value) for leaf in _argument_leaves(item, v)]
    if isinstance(kind, OfDict):
        return [leaf for item, key in zip(kind.items, kind.keys) for leaf in _argument_leaves(item, value[key])]
    return kind.leaves(value)


class Options:
    """How a function is to be compiled."""

    def __init__(self, capture_mode="ast", strict=None, fullgraph=False, signature=None, hash_args=None, binding=False):
        self.capture_mode, self.fullgraph, self.hash_args = capture_mode, fullgraph, hash_args
        self._strict = strict
        self.signature = tuple(signature) if signature is not None else None
        self.binding = binding       # whether a call that disagrees with the signature is an error

    @property
    def strict(self):
        return context.get_context("jit_syntax_level") == context.STRICT if self._strict is None else self._strict

    def without_signature(self):
        return Options(self.capture_mode, self._strict, self.fullgraph, None, self.hash_args)

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
            if len(args) != len(self.signature):
                raise TypeError(f"For set_inputs, {len(self.signature)} inputs are declared, but the call has {len(args)}: the "
                                f"function requires {len(self.signature)} positional argument.")
            for i, (declared, given) in enumerate(zip(self.signature, args)):
                _check_declared(i, declared, given)
        except (TypeError, ValueError):
            if self.binding:
                raise
            return False
        return True


def _is_declared(declared):
    """Whether it stands for any Tensor of its kind: None and other values are what they are."""
    return isinstance(declared, Tensor) and not isinstance(declared, Parameter) or isinstance(declared, (tuple, list))


def _declared_kind(declared, given):
    if isinstance(declared, Tensor) and not isinstance(declared, Parameter):
        any_rank = getattr(declared, "_any_rank", False)
        return OfTensor(declared.dtype, (-1,) * given.ndim if any_rank else declared.shape)
    if isinstance(declared, (tuple, list)):
        return OfSequence(list if isinstance(given, list) else tuple, [_declared_kind(d, g) for d, g in zip(declared, given)])
    return argument_kind(given)


def _check_declared(i, declared, given):
    where = "For set_inputs and tuple(list) in set_inputs, the"
    if isinstance(declared, Tensor):
        if not isinstance(given, Tensor):
            raise TypeError(f"{where} {i + 1}th input must be a Tensor, but got a {type(given).__name__}.")
        if declared.dtype != given.dtype:
            raise TypeError(f"{where} dtype of {i + 1}th input must be the same as expected, but got expected: "
                            f"{declared.dtype}, and input: {given.dtype}.")
        if getattr(declared, "_any_rank", False):
            return
        shape = declared.shape
        if len(shape) != given.ndim:
            raise ValueError(f"{where} dims of {i + 1}th input must be the same as expected, but got expected: {len(shape)}, "
                             f"and input: {given.ndim}.")
        if any(d not in (-1, g) for d, g in zip(shape, given.shape)):
            raise ValueError(f"{where} shape of {i + 1}th input must be the same as expected, but got expected: {shape}, and "
                             f"input: {tuple(given.shape)}.")
    elif isinstance(declared, (tuple, list)):
        if not isinstance(given, (tuple, list)) or len(given) != len(declared):
            raise ValueError(f"{where} length of {i + 1}th input must be the same as expected, but got expected: "
                             f"{len(declared)}, and input: {given!r}.")
        for d, g in zip(declared, given):
            _check_declared(i, d, g)


# --- functions -------------------------------------------------------------------------------------------------------

class JitFunction:
    """What ``jit`` makes of a function."""

    def __init__(self, function, options):
        functools.update_wrapper(self, function)
        self.__spore_inner__ = function
        self._options = options
        self._compiled = Compiled(lambda executor, args, kwargs: executor.call(function, tuple(args), kwargs), function,
                                  getattr(function, "__name__", type(function).__name__), options)
        self._bound = weakref.WeakKeyDictionary()

    def __call__(self, *args, **kwargs):
        capture = state.capture()
        if capture is not None:
            if capture.native:
                return self.__spore_inner__(*args, **kwargs)
            return capture.executor.call(self.__spore_inner__, args, kwargs)
        if _core.grad_recording():
            return self.__spore_inner__(*args, **kwargs)
        return self._compiled(args, kwargs)

    def __get__(self, owner, kind=None):
        if owner is None:
            return self
        return _BoundJit(self, owner)

    def __repr__(self):
        return f"<compiled {self.__spore_inner__!r}>"

    def compiled_for(self, owner):
        """The programs of a method of one object."""
        try:
            made = self._bound.get(owner)
        except TypeError:
            return None
        if made is None:
            method = types.MethodType(self.__spore_inner__, owner)
            ref = weakref.ref(owner)
            inner = self.__spore_inner__
            options = self._options
            declared = getattr(owner, "_inputs", None)
            if declared and inner.__name__ == "construct" and options.signature is None:
                options = declared_options(declared, inner, options)
            made = Compiled(lambda executor, args, kwargs: executor.call(inner, (ref(),) + tuple(args), kwargs),
                            lambda *args, **kwargs: inner(ref(), *args, **kwargs), inner.__name__, options, inner)
            del method
            self._bound[owner] = made
        return made


class _BoundJit:
    """A compiled method of an object."""

    def __init__(self, function, owner):
        self.__func__, self.__self__ = function, owner
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    @property
    def __spore_inner__(self):
        return types.MethodType(self.__func__.__spore_inner__, self.__self__)

    def __call__(self, *args, **kwargs):
        if state.capture() is not None or _core.grad_recording():
            return self.__func__(self.__self__, *args, **kwargs)
        compiled = self.__func__.compiled_for(self.__self__)
        if compiled is None:
            return self.__func__(self.__self__, *args, **kwargs)
        return compiled(args, kwargs)


def declared_options(declared, function, options):
    """Options with the inputs that set_inputs declared."""
    if isinstance(declared, dict):
        names = [n for n in inspect.signature(function).parameters if n != "self"]
        declared = tuple(declared.get(n) for n in names)
    return Options(options.capture_mode, options._strict, options.fullgraph, declared, options.hash_args, True)


_cells = weakref.WeakKeyDictionary()


def compiled_cell(cell):
    """The programs of a Cell that is called in GRAPH_MODE."""
    compiled = _cells.get(cell)
    if compiled is None:
        cell.check_names()
        ref = weakref.ref(cell)
        options = Options(strict=strict_of(cell.jit_config_dict))
        if cell._inputs:
            options = declared_options(cell._inputs, type(cell).construct, options)
        compiled = Compiled(lambda executor, args, kwargs: executor.call_cell(ref(), args, kwargs),
                            lambda *args, **kwargs: ref()._run(args, kwargs), type(cell).__name__, options,
                            getattr(type(cell).construct, "__spore_inner__", type(cell).construct))
        _cells[cell] = compiled
    return compiled


def call_top_cell(cell, args, kwargs):
    """A call of a Cell outside of any capture: in GRAPH_MODE it is compiled."""
    if not graph_mode() or _core.grad_recording():
        return cell._run(args, kwargs)
    return compiled_cell(cell)(args, kwargs)


def graph_mode():
    """Whether Cells called now are compiled."""
    return context.get_context("mode") == context.GRAPH_MODE and not getattr(_plain, "on", False)


def forget(cell):
    """Drop the programs of a Cell: what it declares has changed."""
    _cells.pop(cell, None)


def strict_of(jit_config):
    level = (jit_config or {}).get("jit_syntax_level") or None
    return None if level is None else level == "STRICT"


def prepare_cell(cell, args, kwargs):
    """Compile a Cell for these arguments without running it, in GRAPH_MODE."""
    if context.get_context("mode") == context.GRAPH_MODE:
        compiled_cell(cell).prepare(args, kwargs)
