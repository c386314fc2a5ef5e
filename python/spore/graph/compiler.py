# SPDX-License-Identifier: Apache-2.0
"""Compiled functions: what happens when one is called.

A call is looked up by its signature: dtype and shape of Tensors, the values of everything else, lengths of sequences, and
what is mutable. A new signature is captured and compiled. What cannot be captured whole runs in pieces around what Python has to
do (pieces.py), with the same results; explain.py says so.

Tensors inside plain tuples, lists and dicts are taken as values of the run, so that they may change from call to call without
a new compilation; only if that fails are they constants, as in MindSpore.
"""
import functools
import inspect
import time
import types
import weakref

import numpy as np

from spore import _core, context
from spore._fork import Lock
from spore._core import Tensor, type_name as _type_name
from spore.graph import explain, pieces, sizes, source, state
from spore.graph.capture import Capture, Written
from spore.graph.errors import Redo, Unsupported, located, refusal
from spore.graph.flow import NoJoin
from spore.graph.heap import Added, Attribute, Contents, Items, Watched
from spore.graph.joins import Known, OfArray, OfDict, OfScalar, OfSequence, OfTensor, same
from spore.graph.signatures import (Options, Results, argument_kind, containers, faithful_key, faithful_kind, giver, holds_tensors,
                                    is_declared, key_of, output_kind, shared, tensor_ids)
from spore.graph.statements import Dead
from spore.graph.values import number_kind, wide_floats

__all__ = ["JitFunction", "Compiled", "call_top_cell"]

_FEW = 64                # programs kept for one signature of constant Tensors
_TRIES = 8               # programs for one signature, when what they look at besides it keeps changing
_OFTEN = 3               # calls with the same sizes before they get a program of their own, where sizes were left open
_MANY = 8                # different sizes that may get one
_SIZES = 1000            # different sizes that are counted
_CUTS = 3                # signatures that could not be captured whole before others are not even tried


on_program = None       # called with every program that is made (spore plan)


# --- programs --------------------------------------------------------------------------------------------------------

def _sharding_of(entry):
    """What program_create is told about a program that is split over processes."""
    if entry.splits is None:
        return ()
    from spore.nn.optim import _sharding as optimizers
    from spore.parallel import _sharding
    optimizers.spread()
    return entry.splits, _sharding.split_results(), context._stages(), context._scheduler(), _sharding.search()


def _check_not_split(name):
    """A gradient around a compiled function is recorded operator by operator, in which nothing is split over processes."""
    if context._splits_programs():
        raise RuntimeError(f"{name} is split over ranks (parallel_mode={context.get_auto_parallel_context('parallel_mode')!r}): compile the function "
                           "that takes its gradient (jit, or TrainOneStepCell in GRAPH_MODE), not the one inside it")


class Entry:
    """A program for one signature, or the decision to run plain Python."""

    def __init__(self):
        self.program = None
        self.give = None
        self.changes = ()            # (place, giver): objects that get new contents after a run
        self.argument_changes = ()   # (path, Items or Added, giver): lists and dicts among the arguments
        self.written = ()            # numbers of Tensor arguments that were written to
        self.state = ()              # (attribute, kind): read when a program starts
        self.found = ()              # those of them that a capture found out it needs
        self.one = False             # the result is one Tensor
        self.kind = None             # of the result (joins.py)
        self.same = None             # number of the argument that is the result
        self.themselves = ()         # (number of a result, what finds the Tensor that it is), where Python's rules hold
        self.guards = ()             # (weak reference to a Cell, its training and hooks)
        self.version = -1
        self.keep = ()               # constants whose identity is in the key
        self.watched = []            # heap.Watched: what was read and changed, and if Python's rules hold all that was read
        self.splits = None           # slices of the arguments' axes, for a program that is split over processes
        self.split_key = context._split_key()
        self.pieces = None           # the function in pieces, when it could not be captured whole

    def fits(self):
        """Whether what the program looked at besides its arguments is as it was."""
        for watched in self.watched:
            if not watched.holds():
                return False
        for place, kind in self.state:
            if not _fits_state(kind, place.get()):
                return False
        if self.version == state.version:
            return True
        if self.split_key == context._split_key() and all((cell := ref()) is not None and cell._guard() == guard for ref, guard in self.guards):
            self.version = state.version
            return True
        return False

    def writes_shared(self, leaves):
        """Whether a Tensor that the program writes may be reached in a second way, which the program takes for another Tensor."""
        ids = [id(leaf) for leaf in leaves] + [id(w.value) for w in self.watched if isinstance(w.value, Tensor)]
        return any(ids.count(id(leaves[i])) > 1 for i in self.written)

    def run(self, leaves, args=(), kwargs=None):
        results = self.program.run(leaves)
        if self.one:
            return results[0] if self.same is None else leaves[self.same]
        if self.themselves:
            results = list(results)
            for number, find in self.themselves:
                results[number] = find(leaves, results)
        rest = Results(results, args, kwargs)
        value = self.give(rest)
        changed = [change(rest.argument(path)) for path, change, _ in self.argument_changes]     # a change may move others
        for place, give in self.changes:
            place.set(give(rest))
        for place, (_, _, give) in zip(changed, self.argument_changes):
            place.set(give(rest))
        for i in self.written:
            leaves[i].assign_value(next(rest))
        return value


class Compiled:
    """A function (or Cell) with its programs.

    Args:
        function: what is captured; ``plain`` is called when it runs as plain Python.
        options: capture_mode, jit_syntax_level and others, see Options.
        source: the function, or its code, whose text is captured, for reports.
        body: gives the Python function that may be cut into pieces; None: there is none.
        around: ``around(function, args, kwargs)`` does what ``plain`` does with ``function`` in place of the body.
    """

    def __init__(self, function, plain, name, options, source=None, body=None, around=None):
        self.function, self.plain, self.name, self.options = function, plain, name, options
        self.source = plain if source is None else source        # where the text stands
        self.body = body
        self.key_of = faithful_key if options.faithful else key_of
        self.around = around or (lambda function, args, kwargs: function(*args, **kwargs))
        self.entries = {}
        self.n_programs = self.n_calls = 0
        self.lock = Lock()
        self.cuts = {}               # line: Pieces
        self.n_cut = 0
        self.given_up = None         # Entry for all new signatures, when capturing them is no use
        self.open = frozenset()      # positions of ints that are values of the run, because they keep changing
        self.closed = frozenset()    # positions of ints that must be constants
        self.latest = None           # key of the latest capture
        self.sample = None           # arguments as they were, with open sizes where they have changed (dynamic)
        self.for_all_sizes = False   # the capture under way is for all sizes that the signature allows
        self.sizes = {}              # key: calls with these sizes, where sizes may be open
        self.hopeless = False        # nothing of it can be captured
        self.varying = {}            # attributes that are values of the run, because they keep changing: {key: place}

    def forget(self):
        """Drop all programs and what was learnt: the next call compiles."""
        with self.lock:
            self.__init__(self.function, self.plain, self.name, self.options, self.source, self.body, self.around)

    def __call__(self, args, kwargs):
        self.n_calls += 1
        if kwargs and self.options.names:
            args, kwargs = self.options.in_order(args, kwargs)
        return self.run(self.entry(args, kwargs), args, kwargs)

    def entry(self, args, kwargs):
        """The Entry for these arguments, made when there is none."""
        find = self.key_of
        if self.options.faithful and shared([*args, *kwargs.values()]):
            return Entry()               # a program would take one list for two
        key = tuple([(a.dtype, a.shape) if type(a) is Tensor else find(a) for a in args])
        if kwargs:
            key = key, tuple([(name, find(value)) for name, value in kwargs.items()])
        if self.options.signature is not None and self.options.fits_signature(args) and self.takes_open(key):
            pairs = list(zip(args, self.options.signature))
            key = ("signature", self.options.mark, tuple([key_of(a) for a, d in pairs if not is_declared(d)]),
                   tuple([a.ndim for a, d in pairs if getattr(d, "_any_rank", False)]))
        elif self.open:
            key = self.open_key(key, args)
        elif self.options.hash_args is not None:
            key = key, key_of(self.options.hash_args)
        entries = self.entries.get(key)
        if entries is not None:
            for entry in entries:
                if entry.fits():
                    return entry
        return self.compile(key, args, kwargs)

    def takes_open(self, key):
        """Whether a call runs the program for all sizes: one for its own sizes plans better and is made for those that return."""
        if not self.options.open_sizes or key in self.entries:
            return False
        n = self.sizes.get(key, 0) + 1
        if n > 1 or len(self.sizes) < _SIZES:
            self.sizes[key] = n
        return n <= _OFTEN or len(self.entries) > _MANY

    def prepare(self, args, kwargs):
        """Compile for these arguments without running."""
        self.entry(args, kwargs)

    def run(self, entry, args, kwargs):
        if entry.program is None:
            if entry.give is None:
                with pieces.between():
                    if entry.pieces is None:
                        return self.plain(*args, **kwargs)
                    return self.around(entry.pieces.function, args, kwargs)
            return self.run_constant(entry, args, kwargs)
        if not kwargs and entry.simple and not entry.written:
            return entry.run(args)
        leaves = entry.leaves(args, kwargs)
        for place, kind in entry.state:
            leaves += _argument_leaves(kind, place.get())
        if entry.written and self.options.faithful and entry.writes_shared(leaves):
            with pieces.between():
                return self.plain(*args, **kwargs)
        return entry.run(leaves, args, kwargs)

    def run_constant(self, marker, args, kwargs):
        """Tensors in sequences are constants of these programs: found by identity."""
        known = marker.give
        ids = tensor_ids(args), tensor_ids(kwargs)
        entry = known.get(ids)
        if entry is None or not entry.fits():
            entry = self.capture(args, kwargs, constant_tensors=True)
            entry.keep = (args, kwargs)
            if len(known) >= _FEW:
                known.pop(next(iter(known)))
            known[ids] = entry
        return self.run(entry, args, kwargs)

    def compile(self, key, args, kwargs):
        if not self.options.faithful:
            check_names([*args, *kwargs.values()])
        with self.lock:
            known = self.entries.get(key, ())
            if self.given_up is not None:
                return self.given_up
            if len(known) >= _TRIES:
                self.entries[key] = [Entry()]
                return self.entries[key][0]
            opened = self.opened(key, args)
            if opened is not None:
                return opened
            if self.options.dynamic and not kwargs and key[:1] != ("signature",):
                before, self.sample = self.sample, args if self.options.signature is None else self.options.signature
                wider = None if before is None else self.options.widened(before, args)
                if wider is not None:
                    self.options, self.sample = wider, wider.signature
                    return self.entry(args, kwargs)
            changed = [w for entry in known[-1:] for w in entry.watched if not w.holds()]
            explain.compiling(self, key, changed)
            self.for_all_sizes = key[:1] == ("signature",)
            self.varying.update((place.key, place.light()) for w in changed if (place := w.varying()) is not None)
            try:
                entry = self.capture(args, kwargs)
            except Exception as error:
                if not any(holds_tensors(v) for v in [*args, *kwargs.values()]):
                    raise
                try:
                    first = self.capture(args, kwargs, constant_tensors=True)
                except Exception:
                    raise error from None
                first.keep = (args, kwargs)
                entry = Entry()
                entry.give = {(tensor_ids(args), tensor_ids(kwargs)): first}
            self.entries.setdefault(key, []).append(entry)
            self.latest = key
            self.give_up(entry)
            return entry

    def opened(self, key, args):
        """An Entry in which numbers that differ from those of the latest one are values of the run; None if that cannot be."""
        if self.options.most is None or self.latest is None or len(self.latest) != len(key) or len(key) != len(args):
            return None
        changed = [i for i, (a, b) in enumerate(zip(self.latest, key)) if a != b]
        if not changed or any(type(args[i]) not in (int, float) or i in self.closed for i in changed):
            return None
        before, self.open = self.open, self.open | frozenset(changed)
        new, start = self.open_key(key, args), time.perf_counter()
        try:
            entry = self.make_program(args, {}, False)
        except Exception:
            self.open, self.closed = before, self.closed | frozenset(changed)
            return None
        explain.compiling(self, new)
        explain.compiled(self, entry, time.perf_counter() - start)
        self.entries.setdefault(new, []).append(entry)
        self.latest = new
        self.give_up(entry)
        return entry

    def open_key(self, key, args):
        """The key without the values of open numbers."""
        return tuple([("mutable", type(a)) if i in self.open and type(a) in (int, float) else k
                      for i, (k, a) in enumerate(zip(key, args))])

    def give_up(self, entry):
        """Stop capturing new signatures where it has shown to be no use."""
        if entry.program is not None or entry.give is not None:
            self.n_programs += 1
        elif entry.pieces is not None:
            self.n_cut += 1
        else:
            self.hopeless = not self.n_programs
        if self.n_cut >= _CUTS and not self.n_programs or self.options.most is not None and self.n_programs >= self.options.most:
            self.given_up = entry if entry.program is None else Entry()
            explain.given_up(self)

    def capture(self, args, kwargs, constant_tensors=False):
        """Capture and compile; an Entry that runs plain Python when it cannot be captured."""
        start = time.perf_counter()
        try:
            entry = self.make_program(args, kwargs, constant_tensors)
        except Unsupported as reason:
            if self.options.fullgraph and self.options.faithful:
                raise refusal(reason) from None
            if self.options.strict or self.options.fullgraph:
                kind, text = reason.strict or (RuntimeError, str(reason))
                raise located(kind(text), getattr(reason, "_spore_places", None)) from None
            if self.options.open_sizes:
                # Open sizes are too much for some operator: a program for each set of sizes is still better than none.
                explain.plain(self, reason, "sizes cannot be left open")
                self.options = self.options.by_size()
                return self.capture(args, kwargs, constant_tensors)
            entry = Entry()
            entry.pieces = self.cut(reason)
            explain.plain(self, reason, "runs as plain Python" if entry.pieces is None or not entry.pieces.pieces else
                          f"runs in {len(entry.pieces.pieces)} pieces around a line of plain Python")
            return entry
        explain.compiled(self, entry, time.perf_counter() - start)
        return entry

    def cut(self, reason):
        """The function in pieces around the statement that cannot be captured; None when there are none."""
        code, line = getattr(reason, "_spore_cut", None) or (None, None)
        if code is None:
            return None
        if not self.options.faithful:
            check_statements(code)
        if line not in self.cuts:
            self.cuts[line] = pieces.cut(self, code, line)
        return self.cuts[line]

    def make_program(self, args, kwargs, constant_tensors):
        options = self.options
        names = list(kwargs)
        values = list(args) + [kwargs[name] for name in names]
        declared = self.for_all_sizes and options.open_sizes
        with wide_floats(options.faithful):
            if declared:
                kinds = options.kinds(args)
            elif options.faithful and not constant_tensors:
                kinds = [faithful_kind(v) for v in values]
            else:
                kinds = [argument_kind(v, constant_tensors) for v in values]
            for i in self.open:
                if type(args[i]) in (int, float):
                    kinds[i] = OfScalar(type(args[i]))
            entry = self.with_state(kinds, names, len(args))
        context._keep_programs()
        if entry.splits is not None and context._strategy_file('load'):
            from spore.parallel import _sharding
            _sharding.follow_strategy_file(context._strategy_file('load'))
        entry.program = _core.program_create(entry.function, None, False, *context._graphs_saved(), *_sharding_of(entry))
        if entry.splits is not None:
            _core.memory_trim()     # what was whole is in slices now
        if entry.splits is not None and context._strategy_file('save'):
            from spore.parallel import _sharding
            _sharding.write_strategy_file(context._strategy_file('save'))
        if on_program is not None:
            on_program(entry.program)
        entry.version = state.version
        entry.simple = all(type(kind) is OfTensor for kind in kinds) and not entry.state
        entry.leaves = _leaf_finder([_NOTHING if isinstance(kind, Known) else kind for kind in kinds], names)
        return entry

    def with_state(self, kinds, names, n_args):
        """Capture; attributes that the program sets, or that keep changing, are read at the start of every run."""
        held = [(place, kind) for place in self.varying.values() if (kind := _state_kind(place.get())) is not None]
        if held:
            try:
                entry = self.make_entry(kinds, names, n_args, held)
            except Unsupported:
                self.varying, held = {}, []
        if not held:
            entry = self.make_entry(kinds, names, n_args, [])
        # With one attribute as a value of the run, a branch may be one of the run too, and change others.
        while entry.found:
            held = held + entry.found
            entry = self.make_entry(kinds, names, n_args, held)
        return entry

    def make_entry(self, kinds, names, n_args, held):
        """Capture once. ``held``: attributes whose contents are further arguments."""
        specs = [spec for kind in kinds for spec in kind.specs()]
        splits = None
        if context._splits_programs():
            from spore.parallel import _sharding
            specs, splits = _sharding.whole_specs(specs)
            _sharding.say_not_done()
        specs += [spec for _, kind in held for spec in kind.specs()]
        graph = _core.graph_create(sizes.current() is not None)
        capture = Capture(graph, strict=self.options.strict, native=self.options.capture_mode == "trace",
                          depth_limit=context.get_context("max_call_depth"), faithful=self.options.faithful)
        capture.given.update(id(kind.value) for kind in kinds if isinstance(kind, Known))
        function, params = _core.function_begin(graph, self.name, specs)
        try:
            with capture:
                leaves = iter(params)
                inputs = [kind.rebuild(leaves) for kind in kinds]
                capture.containers.update(containers((which, value) for which, value, kind in zip(
                    [*range(n_args), *names], inputs, kinds) if not getattr(kind, "marked", False)))
                capture.constants.update((id(value), value) for value, kind in zip(inputs, kinds)
                                         if isinstance(kind, (OfSequence, OfDict)) and not getattr(kind, "marked", False))
                for place, kind in held:
                    capture.held[place.key] = kind.rebuild(leaves)
                    capture.heap.write(place, capture.held[place.key])
                entry = self.execute(capture, function, params, inputs[:n_args], dict(zip(names, inputs[n_args:])))
        except Written:
            _core.function_abandon(function)
            return self.make_entry(kinds, names, n_args, held)
        except BaseException as error:
            _core.function_abandon(function)
            self.fail(error)
        known = {place.key for place, _ in held}
        entry.found = [one for one in entry.state if one[0].key not in known]
        if held:
            entry.state = [(place.light(), kind) for place, kind in held]
        entry.function, entry.graph, entry.splits = function, graph, splits
        entry.guards = [(weakref.ref(cell), guard) for cell, guard in capture.guards.items()]
        entry.watched = entry.watched + [watched for key, watched in capture.watched.items() if key not in known]
        return entry

    def execute(self, capture, function, params, args, kwargs):
        """Run the function on symbols and end the recording; gives an Entry without program."""
        entry = Entry()
        numbers = [_core.symbol_id(p) for p in params]
        handed = capture.containers
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
            raise RuntimeError(f"Illegal type in the graph: {_type_name(value)}; in JIT strict mode results are Tensors, "
                               "numbers, texts and sequences of these.")
        if capture.faithful and not capture.executor.may_leave(value):
            raise self.made_anew(value)
        kind = output_kind(value, capture)
        leaves = kind.leaves(value)
        if capture.faithful and any(leaf is symbol for leaf in leaves for symbol, _ in capture.chosen):
            raise Unsupported("a Parameter that the run chooses is returned")
        entry.give, entry.one, entry.kind = giver(kind), isinstance(kind, OfTensor), kind
        changes, argument_changes, held, read = [], [], [], []
        for place, new in capture.heap.end().values():
            if isinstance(place, Contents):              # of Tensors that leave, and of arguments: they are written themselves
                continue
            if isinstance(place, Items) and (capture.strict or id(place.owner) not in capture.outer
                                             and id(place.owner) not in handed):
                continue
            if new is capture.held.get(place.key, place):        # read, but not changed
                continue
            if isinstance(place, Items):
                place, new = _relative(place, new)
            if capture.faithful and not capture.executor.may_leave(new):
                raise Unsupported(f"a {_type_name(new)} that every call makes anew is stored")
            made = output_kind(new, capture) if not callable(new) else Known(new)
            leaves = leaves + made.leaves(new)
            if id(place.owner) in handed:
                argument_changes.append((handed[id(place.owner)], type(place), giver(made)))
                continue
            old = place.get() if isinstance(place, Attribute) else None
            state_of_place = _state_of(place, old, new)
            held += state_of_place
            if place.key in capture.read and not state_of_place and not same(old, new):
                read.append(Watched(place, old))         # the next call finds something else there
            changes.append((place.light() if isinstance(place, Attribute) else place, giver(made)))
        if any(_core.symbol_id(symbol) != number for symbol, number in capture.chosen):
            raise Unsupported("a Parameter that the run chooses is written to")
        entry.written = tuple(i for i, p in enumerate(params) if _core.symbol_id(p) != numbers[i])
        themselves = _themselves(leaves, params, capture) if capture.faithful else ()
        leaves = leaves + [params[i] for i in entry.written]
        entry.changes, entry.argument_changes, entry.state, entry.watched = tuple(changes), tuple(argument_changes), held, read
        entry.one = entry.one and not (changes or argument_changes or entry.written)
        entry.themselves = () if entry.one else themselves
        if entry.one:
            entry.same = next((i for i, p in enumerate(params) if p is value), None)
            if getattr(value, "__parameter__", False) and not _core.graph_writes(capture.graph, value):
                entry.one, entry.give = False, lambda leaves: value      # itself, as in eager mode
        _core.function_end(function, leaves)
        return entry

    def made_anew(self, value):
        """The reason why a result cannot be a constant, blamed on the end of the function."""
        reason = Unsupported(f"a {type(value).__name__} that every call makes anew is returned")
        function = self.body and self.body()
        code = source.code_of(function) if function is not None else None
        if code is not None and not code.is_lambda:
            line = code.body[-1].lineno
            reason._spore_cut, reason.place = (code, line), (code.file, line, code.name, code.text(line))
        return reason

    def fail(self, error):
        """Raise an error of the capture as the user gets it."""
        places = getattr(error, "_spore_places", None)
        if isinstance(error, NoJoin):
            cut = getattr(error, "_spore_cut", None)
            error = error.error
            error._spore_places, error._spore_cut = places, cut
            if isinstance(error, Unsupported):
                error.place = places[-1] if places else None
        if isinstance(error, Unsupported):
            raise error from None
        if isinstance(error, (_core.SymbolError, Redo)):
            reason = Unsupported(str(error))
            reason._spore_places, reason._spore_cut = places, getattr(error, "_spore_cut", None)
            reason.place = places[-1] if places else None
            raise reason from None
        if not isinstance(error, Exception):
            raise error
        if self.options.faithful:
            reason = Unsupported(f"{type(error).__name__}: {error}")
            reason._spore_places, reason._spore_cut = places, getattr(error, "_spore_cut", None)
            reason.place = places[-1] if places else None
            raise reason from None
        raise located(error, places) from None


def check_names(values):
    """Raise for two Parameters among the arguments that were given one name, as MindSpore's graphs do."""
    from spore.common.parameter import is_default_name
    named = {}
    for value in values:
        if getattr(value, "__parameter__", False) and named.setdefault(value.name, value) is not value \
                and not is_default_name(value.name):
            raise ValueError(f"The parameter {value!r} , its name '{value.name}' already exists. Please set a unique name for the "
                             "parameter.")


def check_statements(code):
    """Raise what MindSpore's parser raises for a statement that it does not know, wherever it stands in a function."""
    from spore.graph.statements import refused
    for node in source.walk_scope(code.node.body if not code.is_lambda else []):
        if refused(node) is not None:
            place = code.file, node.lineno, code.name, code.text(node.lineno)
            raise located(refused(node), [place])


def _state_kind(value):
    """The kind of an attribute that is read at the start of every run; None if it cannot be."""
    if type(value) is Tensor:
        return OfTensor(value.dtype, value.shape)
    return OfScalar(type(value)) if type(value) in (int, float) else None


def _fits_state(kind, value):
    if isinstance(kind, OfTensor):
        return type(value) is Tensor and (value.dtype, value.shape) == (kind.dtype, kind.shape)
    return type(value) is kind.kind


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


def _themselves(leaves, params, capture):
    """Results that are no new Tensors but arguments, Parameters and Tensors from outside, or other results: [(number, function of
    arguments and results that finds the Tensor)]. What is written to them later is written to these."""
    outside = {id(w.value): w.value for w in capture.watched.values() if isinstance(w.value, Tensor)}
    known = {id(p): (lambda given, results, i=i: given[i]) for i, p in enumerate(params)}
    found = []
    for number, leaf in enumerate(leaves):
        if getattr(leaf, "__parameter__", False) or id(leaf) in outside:
            found.append((number, lambda given, results, value=leaf: value))
        elif id(leaf) in known:
            found.append((number, known[id(leaf)]))
        else:
            known[id(leaf)] = lambda given, results, i=number: results[i]
    return found


_NOTHING = Known(None)                   # in place of a constant: programs do not keep their arguments


def _leaf_finder(kinds, names):
    def find(args, kwargs):
        values = list(args) + [kwargs[name] for name in names]
        return [leaf for kind, value in zip(kinds, values) for leaf in _argument_leaves(kind, value)]
    return find


def _argument_leaves(kind, value):
    if isinstance(kind, OfArray):
        return [Tensor(value)]
    if isinstance(kind, OfScalar):
        return [Tensor(kind.kind(value), dtype=kind.specs()[0][0])]
    if isinstance(kind, OfSequence):
        return [leaf for item, v in zip(kind.items, value) for leaf in _argument_leaves(item, v)]
    if isinstance(kind, OfDict):
        return [leaf for item, key in zip(kind.items, kind.keys) for leaf in _argument_leaves(item, value[key])]
    return kind.leaves(value)


# --- functions -------------------------------------------------------------------------------------------------------

def staging_specialize(*args, **kwargs):
    """Stands for the code of compiled functions, which is no Python's; tests know them by this name."""


class JitFunction:
    """What ``jit`` makes of a function."""

    __code__ = staging_specialize.__code__

    def __init__(self, function, options):
        functools.update_wrapper(self, function)
        self.__spore_inner__ = function
        self._options = options
        self._compiled = Compiled(lambda executor, args, kwargs: executor.call(function, tuple(args), kwargs), function,
                                  getattr(function, "__name__", type(function).__name__), options,
                                  body=lambda: function if isinstance(function, types.FunctionType) else None)
        self._last = self._compiled      # what was called last: a method has programs for each object
        self._bound = weakref.WeakKeyDictionary()
        plain = getattr(function, "__func__", function)
        if isinstance(plain, types.FunctionType):
            plain.__spore_jit__ = self

    def __call__(self, *args, **kwargs):
        capture = state.capture()
        if capture is not None:
            if capture.native:
                return self.__spore_inner__(*args, **kwargs)
            return capture.executor.call(self.__spore_inner__, args, kwargs)
        if _core.grad_recording():
            _check_not_split(self._compiled.name)
            self._compiled.n_calls += 1
            return self.__spore_inner__(*args, **kwargs)
        return self._compiled(args, kwargs)

    def __get__(self, owner, kind=None):
        if owner is None:
            return self
        return _BoundJit(self, owner)

    def __repr__(self):
        return f"<compiled {self.__spore_inner__!r}>"

    # As a function: copies are the same one, and it is pickled by its name.
    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return self.__qualname__

    def compiled_for(self, owner):
        """The programs of a method of one object."""
        try:
            made = self._bound.get(owner)
        except TypeError:
            return None
        if made is None:
            ref = weakref.ref(owner)
            inner = self.__spore_inner__
            options = self._options
            declared = getattr(owner, "_inputs", None)
            if declared and inner.__name__ == "construct" and options.signature is None:
                options = declared_options(declared, inner, options)
            made = Compiled(lambda executor, args, kwargs: executor.call(inner, (ref(),) + tuple(args), kwargs),
                            lambda *args, **kwargs: inner(ref(), *args, **kwargs), inner.__name__, options, inner,
                            body=lambda: inner if isinstance(inner, types.FunctionType) else None,
                            around=lambda body, args, kwargs: body(ref(), *args, **kwargs))
            self._bound[owner] = made
        self._last = made
        return made


def compiled_of(function):
    """The programs of a function that was given to ``jit``, or that ``jit`` gave; None if there are none."""
    function = getattr(function, "__spore_inner__", function)
    function = getattr(function, "__func__", function)
    made = getattr(function, "__spore_jit__", None)
    return made._last if made is not None else None


class _BoundJit:
    """A compiled method of an object."""

    __code__ = staging_specialize.__code__

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
    parameters = [p for p in inspect.signature(getattr(function, "__spore_inner__", function)).parameters.values() if p.name != "self"]
    if isinstance(declared, dict):
        declared = tuple(declared.get(p.name) for p in parameters)
    made = Options(options.capture_mode, options._strict, options.fullgraph, declared, options.hash_args, True)
    made.names = tuple(p.name for p in parameters[:len(declared)] if p.kind is p.POSITIONAL_OR_KEYWORD)
    return made


_cells = weakref.WeakKeyDictionary()
_faithful_cells = weakref.WeakKeyDictionary()


def compiled_cell(cell):
    """The programs of a Cell that is called in GRAPH_MODE."""
    compiled = _cells.get(cell)
    if compiled is None:
        cell.check_names_and_refresh_name()
        options = Options(strict=strict_of(cell.jit_config_dict))
        if cell._inputs:
            options = declared_options(cell._inputs, type(cell).construct, options)
        compiled = _cells[cell] = _cell_programs(cell, options)
    return compiled


def faithful_cell(cell):
    """The programs of a Cell that Python calls between the pieces of a function."""
    compiled = _faithful_cells.get(cell)
    if compiled is None:
        compiled = _faithful_cells[cell] = _cell_programs(cell, Options("bytecode"))
    return compiled


def _cell_programs(cell, options):
    ref = weakref.ref(cell)
    own = cell.__dict__.get("construct")
    construct = type(cell).construct if own is None else own
    construct = getattr(construct, "__spore_inner__", construct)
    if isinstance(construct, types.MethodType):
        construct = construct.__func__
    body = construct if isinstance(construct, types.FunctionType) else None

    def around(function, args, kwargs):
        cell = ref()
        if cell._plain:
            return function(cell, *args, **kwargs)
        return cell._call_full(args, kwargs, types.MethodType(function, cell))
    return Compiled(lambda executor, args, kwargs: executor.call_cell(ref(), args, kwargs),
                    lambda *args, **kwargs: ref()._run(args, kwargs), type(cell).__name__, options, construct,
                    body=lambda: body, around=around)


def call_top_cell(cell, args, kwargs):
    """A call of a Cell outside of any capture: in GRAPH_MODE it is compiled."""
    if not graph_mode():
        return cell._run(args, kwargs)
    if _core.grad_recording():
        _check_not_split(type(cell).__name__)
        return cell._run(args, kwargs)
    if pieces.depth():
        return faithful_cell(cell)(args, kwargs)
    return compiled_cell(cell)(args, kwargs)


def graph_mode():
    """Whether Cells called now are compiled."""
    return context.get_context("mode") == context.GRAPH_MODE


def graphs_of(cell):
    """The graphs that GRAPH_MODE has made of a Cell."""
    compiled = _cells.get(cell)
    if compiled is None:
        return []
    return [entry.graph for entries in compiled.entries.values() for entry in entries if entry.graph is not None]


def forget(cell):
    """Drop the programs of a Cell: what it declares has changed."""
    _cells.pop(cell, None)
    _faithful_cells.pop(cell, None)


def strict_of(jit_config):
    level = (jit_config or {}).get("jit_syntax_level") or None
    return None if level is None else level == "STRICT"


def prepare_cell(cell, args, kwargs):
    """Compile a Cell for these arguments without running it, in GRAPH_MODE."""
    if context.get_context("mode") == context.GRAPH_MODE:
        compiled_cell(cell).prepare(args, kwargs)
