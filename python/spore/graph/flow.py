# SPDX-License-Identifier: Apache-2.0
"""Conditions and loops that only the run decides.

A branch becomes a function without parameters in the function around it, and sees that one's values. Both branches are
captured, then what they leave is joined: names that differ, changed objects, the way control leaves. A branch whose leaves are
not yet those of the join gets a second function around it that converts.

A loop becomes a function of the names it changes that ends in a tail call of itself. Which of them are constants is found by
trying: what the body changes becomes a value of the run, and the loop is captured again.
"""
import ast

from spore import _core
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.graph import source
from spore.graph.errors import Redo, Unsupported
from spore.graph.heap import is_missing
from spore.graph.joins import JoinError, Known, join, kind_of, widen
from spore.graph.statements import AGAIN, BREAK, NEXT, RETURN, Dead, Exit, Outcome
from spore.graph.values import Unbound, Walk, shape_of

__all__ = ["Flow", "NeedResult"]

_TRIES = 12              # captures of one loop before the join is given up
_UNROLLED = 100000       # turns of a loop on constants


class NeedResult(Redo):
    """A recursive call was met before the function has shown what it returns."""

    def __init__(self, activation):
        super().__init__("the result of a recursive call is not known yet")
        self.activation = activation


class NoJoin(Exception):
    """What two branches leave cannot be joined; ``error`` is what the user gets if nothing else helps."""

    def __init__(self, error, frame):
        super().__init__(str(error))
        self.error, self.frame = error, frame


class LoopJoin(Exception):
    """The turns of a loop of the run do not fit together; ``error`` is what the user gets if nothing else helps."""

    def __init__(self, error, frame):
        super().__init__(str(error))
        self.error, self.frame = error, frame


class _Branch:
    """What one branch left: its function, closed over raw leaves, and the values as seen inside."""

    def __init__(self, function, outcome, changed, raw, place=None):
        self.function, self.outcome, self.changed, self.raw = function, outcome, changed, raw
        self.place = place           # (file, line, function, text) where it ended


def _with_ends(error, branches):
    """An error of a join with the lines at which the two branches end."""
    if isinstance(error, Unsupported) or None in (branches[0].place, branches[1].place):
        return error
    ends = [f"\nThe {which} branch ends at {place[0]}:{place[1]}\n    {place[3]}" for which, place in
            zip(("true", "false"), (branch.place for branch in branches))]
    return type(error)(str(error) + "".join(ends))


def _unbound(name, defined):
    other = "false" if defined == "true" else "true"
    return Unbound(f"The local variable '{name}' is not defined in {other} branch, but defined in {defined} branch.")


class Flow:
    """Mixin of the executor."""

    def _names_from_outside(self, frame, statements):
        """Names that the statements give a value and that have none yet, but are there in the module: until then they mean that one.
        Straight code finds it when it reads the name; a branch or a loop has to join it with what its body makes."""
        for node in source.walk_scope(statements):
            name = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None
            if name is None or name in frame.locals or name in frame.global_names or name in getattr(frame.code, "own_names", ()):
                continue
            value = self.lookup(name, frame)
            if isinstance(value, (bool, int, float, str, tuple)) or isinstance(value, Tensor) and not isinstance(value, Parameter):
                frame.locals[name] = value

    # --- if ----------------------------------------------------------------------------------------------------------

    def run_if(self, node, frame, rest, fall):
        """(outcome, whether what follows the statement in its block is included)"""
        condition = self.truth(self.eval(node.test, frame))
        self._names_from_outside(frame, node.body + node.orelse)
        if condition is True or condition is False:
            taken, other = (node.body, node.orelse) if condition else (node.orelse, node.body)
            before = set(frame.locals)
            outcome = self.run_block(taken, frame)
            if outcome is None and not self.capture.faithful:
                self._forget_half_defined(frame, before, taken, other, condition)
            return outcome, False
        body, orelse = node.body, node.orelse
        if not source.escapes(body) and not source.escapes(orelse):
            outcome, done = self._both_go_on(frame, condition, body, orelse, rest, fall)
            if not done:
                self.settle(outcome, frame)
                outcome = None
            return outcome, done
        first, second = source.falls_through(body), source.falls_through(orelse)
        if first and second:
            if rest:
                return self._both_go_on(frame, condition, body, orelse, rest, fall)
            return self.branch(frame, condition, lambda: self.run_block(body, frame, fall),
                               lambda: self.run_block(orelse, frame, fall)), True
        # Only one branch goes on, or none: what follows belongs to it, and nothing has to be chosen afterwards.
        then = body + rest if first else body
        otherwise = orelse + rest if second else orelse
        return self.branch(frame, condition, lambda: self.run_block(then, frame, fall if first else NEXT),
                           lambda: self.run_block(otherwise, frame, fall if second else NEXT)), True

    def _both_go_on(self, frame, condition, body, orelse, rest, fall):
        """Join at the end of the statement or, if the names differ in kind, at the end of what follows, captured twice."""
        try:
            return self.branch(frame, condition, lambda: self.run_block(body, frame),
                               lambda: self.run_block(orelse, frame)), False
        except NoJoin as error:
            if not rest or error.frame is not frame:
                raise
            try:
                return self.branch(frame, condition, lambda: self.run_block(body + rest, frame, fall),
                                   lambda: self.run_block(orelse + rest, frame, fall)), True
            except NoJoin as later:      # the first place where the branches disagree is the one to tell of
                if isinstance(error.error, Unsupported) or later.frame is not frame:
                    raise
                raise error from None

    @staticmethod
    def _forget_half_defined(frame, before, taken, other, condition):
        """A name that the branch not taken does not set counts as undefined, as MindSpore's parser sees it."""
        if not source.falls_through(other):
            return
        set_there = source.assigned(other) if other else ()
        for name in source.assigned(taken) if taken else ():
            if name not in before and name not in set_there and name in frame.locals:
                frame.locals[name] = _Half(frame.locals[name], _unbound(name, "true" if condition else "false").message)

    def choose(self, frame, condition, then, otherwise):
        """The value of one of two thunks, by a condition of the run."""
        outcome = self.branch(frame, condition, lambda: Outcome({RETURN: Exit(frame.locals, then())}),
                              lambda: Outcome({RETURN: Exit(frame.locals, otherwise())}))
        if not outcome.exits:
            raise Dead
        return outcome.exits[RETURN].value

    # --- two branches ------------------------------------------------------------------------------------------------

    def branch(self, frame, condition, then, otherwise):
        """Capture both thunks, each as a function, and what they have in common; the Outcome of whichever runs."""
        self.capture.need_no_gradient("a condition of the run")
        before = frame.locals
        branches = []
        for name, thunk in (("then", then), ("else", otherwise)):
            branches.append(self._capture_branch(frame, f"{frame.name}.{name}", thunk, before))
        recording = _core.function_recording()
        mark = _core.function_mark(recording)
        try:
            layout = _Layout(self, branches, before)
        except (TypeError, ValueError, Unsupported) as error:
            _core.function_rollback(recording, mark)
            raise NoJoin(_with_ends(error, branches), frame) from None
        values = [self._fitted(branch, layout, i) for i, branch in enumerate(branches)]
        chosen = _core.function_switch(condition, *values)
        leaves = iter(_core.function_call(chosen, [], layout.specs))
        return layout.outcome(leaves, before)

    def _capture_branch(self, frame, name, thunk, before):
        capture = self.capture
        frame.locals = dict(before)
        line = frame.line
        n_frames = len(capture.frames)
        function, _ = _core.function_begin(capture.graph, name, [])
        capture.heap.begin()
        capture.condition_depth += 1
        capture.returned = None
        try:
            outcome = self._run_thunk(thunk, frame)
            place = frame.place() if frame.code else None
            if list(outcome.exits) == [RETURN] and capture.returned is not None:
                place = capture.returned
            capture.heap.note_written()
            raw, kinds, n_changed = self._raw_leaves(outcome, before, capture)
        except BaseException:
            capture.heap.end()
            _core.function_abandon(function)
            raise
        finally:
            capture.condition_depth -= 1
            frame.locals = before
            frame.line = line
            del capture.frames[n_frames:]
        changed = capture.heap.end()
        _core.function_end(function, raw)
        return _Branch(function, outcome, changed, raw, place)

    def _run_thunk(self, thunk, frame):
        try:
            outcome = thunk()
        except Dead:
            return Outcome({})
        except NeedResult as need:
            if not need.activation.probing:
                raise
            return Outcome({})
        return Outcome({NEXT: Exit(frame.locals)}) if outcome is None else outcome

    @staticmethod
    def _raw_leaves(outcome, before, capture):
        """Every Tensor that the join may need, each once."""
        found, seen = [], set()

        def add(value):
            for leaf in kind_of(value).leaves(value):
                if id(leaf) not in seen:
                    seen.add(id(leaf))
                    found.append(leaf)
        if outcome.selector is not None:
            add(outcome.selector)
        for left in outcome.exits.values():
            for name, value in left.locals.items():
                if before.get(name, left) is not value:
                    add(value)
            add(left.value)
        journal = capture.heap.journals[-1]
        for place, _ in journal.values():
            value = place.get()
            if not is_missing(value):
                add(value)
        return found, None, len(journal)

    def _fitted(self, branch, layout, which):
        """A function value that gives the leaves of the layout."""
        recording = _core.function_recording()
        mark = _core.function_mark(recording)
        wanted = layout.leaves(branch, which)
        if _core.function_mark(recording) != mark:       # a conversion, which belongs into the branch
            _core.function_rollback(recording, mark)
        raw = branch.raw
        if len(wanted) == len(raw) and all(a is b for a, b in zip(wanted, raw)):
            return _core.function_value(branch.function)
        specs = [(leaf.dtype, shape_of(leaf)) for leaf in raw]
        function, _ = _core.function_begin(self.capture.graph, "join", [])
        try:
            results = _core.function_call(_core.function_value(branch.function), [], specs)
            seen_as = {id(leaf): result for leaf, result in zip(raw, results)}
            _core.function_end(function, [self._through(seen_as, leaf) for leaf in layout.leaves(branch, which, seen_as)])
        except BaseException:
            _core.function_abandon(function)
            raise
        return _core.function_value(function)

    @staticmethod
    def _through(seen_as, leaf):
        return seen_as.get(id(leaf), leaf)

    def after(self, outcome, frame, thunk):
        """Go on with ``thunk`` in those runs in which control got to NEXT."""
        kinds = list(outcome.exits)
        before = frame.locals
        goes_on = outcome.selector == kinds.index(NEXT)
        others = [kind for kind in kinds if kind != NEXT]

        def go_on():
            frame.locals = outcome.exits[NEXT].locals
            result = thunk()
            return Outcome({NEXT: Exit(frame.locals)}) if result is None else result

        def leave():
            exits = {kind: outcome.exits[kind] for kind in others}
            if len(others) == 1:
                return Outcome(exits)
            numbers = [others.index(kind) if kind in others else 0 for kind in kinds]
            return Outcome(exits, Tensor(numbers, dtype=mstype.int32)[outcome.selector])
        result = self.branch(frame, goes_on, go_on, leave)
        frame.locals = before
        return result

    # --- loops -------------------------------------------------------------------------------------------------------

    def run_while_and_rest(self, node, frame, rest, fall):
        """(outcome, whether what follows the statement in its block is included). A loop in which a name has another type before
        the first turn than after it is taken as ``if test: body; while test: body``, as MindSpore does."""
        try:
            return self.run_while(node, frame), False
        except LoopJoin as met:
            if met.frame is not frame or node.orelse or source.escapes(node.body) or self.peeled.get(id(node), 0):
                raise met.error from None
            self.peeled[id(node)] = 1
            first = ast.copy_location(ast.If(node.test, node.body + [node], []), node)
            try:
                return self.run_if(first, frame, rest, fall)
            except (TypeError, ValueError, NoJoin):      # the loop is what does not fit
                raise met.error from None
            finally:
                del self.peeled[id(node)]

    def run_while(self, node, frame):
        if node.orelse:
            raise RuntimeError("The 'while...else...' statement is not supported now.")
        self._names_from_outside(frame, node.body)
        known = set(frame.locals)
        result = None
        for _ in range(_UNROLLED):
            mark = _core.function_mark(_core.function_recording())
            condition = self.truth(self.eval(node.test, frame))
            if condition is False:
                break
            if condition is not True:
                _core.function_rollback(_core.function_recording(), mark)
                result = self.run_loop(frame, node.body, lambda: self.truth(self.eval(node.test, frame)), "while")
                break
            endless = isinstance(node.test, ast.Constant)
            outcome = self._unrolled_turn(node.body, frame, endless)
            if outcome is _RUN_TIME:
                result = self.run_loop(frame, node.body, lambda: True, "while")
                break
            outcome = self._merge(outcome, frame)
            if outcome is not None:
                if NEXT not in outcome.exits:
                    result = outcome
                    break
                result = self.after(outcome, frame, lambda: self._end_of_loop(self.run_while(node, frame)))
                break
        else:
            raise RuntimeError(f"The loop in line {node.lineno} of {frame.code.file} has a condition that is always true "
                               f"while compiling, {_UNROLLED} turns were made.")
        return self._after_loop(result, frame, known, "while", node.body)

    @staticmethod
    def _end_of_loop(outcome):
        return outcome

    def _unrolled_turn(self, body, frame, endless):
        """One turn on constants. With ``while True`` a turn that may end by a condition of the run is undone."""
        if not endless:
            return self.run_block(body, frame, AGAIN)
        before = dict(frame.locals)
        recording = _core.function_recording()
        mark = _core.function_mark(recording)
        self.capture.heap.begin()
        outcome = self.run_block(body, frame, AGAIN)
        if len(outcome.exits) > 1:
            self.capture.heap.end()
            _core.function_rollback(recording, mark)
            frame.locals = before
            return _RUN_TIME
        self.capture.heap.keep()
        return outcome

    def _merge(self, outcome, frame):
        """The outcome of a turn seen from the loop: None for going on, BREAK and AGAIN as NEXT or not at all."""
        exits = outcome.exits
        if list(exits) == [AGAIN]:
            frame.locals = exits[AGAIN].locals
            return None
        if not exits:
            raise Dead
        if AGAIN in exits and BREAK not in exits:
            return Outcome({NEXT if k == AGAIN else k: e for k, e in exits.items()}, outcome.selector)
        if AGAIN not in exits:
            return Outcome({_BROKEN if k == BREAK else k: e for k, e in exits.items()}, outcome.selector)
        return Outcome({NEXT if k == AGAIN else _BROKEN if k == BREAK else k: e for k, e in exits.items()}, outcome.selector)

    def _after_loop(self, outcome, frame, known, word, body):
        """Names that were not there before the loop are not there after it; a break is over."""
        run_time = outcome is not None
        if outcome is not None:
            outcome = self._join_broken(outcome, frame)
            if outcome is not None and len(outcome.exits) == 1 and NEXT in outcome.exits:
                frame.locals = outcome.exits[NEXT].locals
                outcome = None
        if self.capture.faithful and outcome is None and not run_time:
            return None
        exits = [Exit(frame.locals)] if outcome is None else [outcome.exits[NEXT]] if NEXT in outcome.exits else []
        for left in exits:
            for name in set(left.locals) | source.assigned(body):
                if name not in known and name not in frame.global_names:
                    left.locals[name] = Unbound(
                        f"The local variable '{name}' defined in the '{word}' loop body cannot be used outside of the loop "
                        f"body. Please define variable '{name}' before '{word}'.")
        return outcome

    def _join_broken(self, outcome, frame):
        """BROKEN and NEXT lead to the same place: make them one."""
        exits = outcome.exits
        if _BROKEN not in exits:
            return outcome
        if NEXT not in exits:
            return Outcome({NEXT if k == _BROKEN else k: e for k, e in exits.items()}, outcome.selector)
        kinds = list(exits)
        others = [k for k in kinds if k != _BROKEN]
        before = frame.locals

        def broken():
            return Outcome({NEXT: exits[_BROKEN]})

        def rest():
            left = {k: exits[k] for k in others}
            if len(others) == 1:
                return Outcome(left)
            numbers = [others.index(k) if k in others else 0 for k in kinds]
            return Outcome(left, Tensor(numbers, dtype=mstype.int32)[outcome.selector])
        result = self.branch(frame, outcome.selector == kinds.index(_BROKEN), broken, rest)
        frame.locals = before
        return result

    def run_for(self, node, frame):
        if node.orelse:
            raise RuntimeError("The 'for...else...' statement is not supported now.")
        iterable = self.eval(node.iter, frame)
        self._names_from_outside(frame, node.body)
        if isinstance(iterable, RunRange):
            return self._run_time_for(node, frame, iterable)
        known = set(frame.locals)
        walk = iterable if isinstance(iterable, Walk) and not isinstance(node.iter, ast.Call) else None    # someone may go on with it
        items = self.iterate(iterable) if walk is None else walk.rest()
        return self._after_loop(self._turns(node, frame, items, 0, walk), frame, known, "for", node.body)

    def _turns(self, node, frame, items, first, walk):
        for i in range(first, len(items)):
            if walk is not None:
                self.advance(walk, 1)
            self.assign(node.target, items[i], frame)
            outcome = self._merge(self.run_block(node.body, frame, AGAIN), frame)
            if outcome is None:
                continue
            if NEXT not in outcome.exits or i + 1 == len(items):
                return outcome
            return self.after(outcome, frame, lambda: self._turns(node, frame, items, i + 1, walk))    # noqa: B023  the loop ends here
        return None

    def _run_time_for(self, node, frame, iterable):
        known = set(frame.locals)
        self.capture.loops += 1
        counter = f"turn {self.capture.loops}"
        frame.locals[counter] = iterable.start

        def header():
            return self.truth(self.binary(ast.Lt if iterable.step > 0 else ast.Gt, frame.locals[counter], iterable.stop))

        def start_turn():
            at = frame.locals[counter]
            self.assign(node.target, at if iterable.item is None else iterable.item(at), frame)
            frame.locals[counter] = self.binary(ast.Add, at, iterable.step)
        try:
            result = self.run_loop(frame, node.body, header, "for", start_turn, {counter})
        except LoopJoin as met:
            raise met.error from None
        result = self._after_loop(result, frame, known | {counter}, "for", node.body)
        for locals_ in [frame.locals] + [e.locals for e in (result.exits.values() if result else ())]:
            locals_.pop(counter, None)
        return result

    def run_loop(self, frame, body, header, word, start_turn=None, also=()):
        """A loop of the run: a function of what it changes. Gives the Outcome after the loop, break already over."""
        self.capture.need_no_gradient("a loop of the run")
        names = {n for n in source.assigned(body) if n in frame.locals} | set(also)
        kinds = {}
        for name in sorted(names):
            kind = kind_of(frame.locals[name])
            kinds[name] = widen(kind) if name in also or name in _counted(body) else kind
        places = {}                          # changed objects: {key: (place, kind)}
        for _ in range(_TRIES):
            attempt = _Loop(self, frame, body, header, word, start_turn, kinds, places)
            outcome = attempt.capture_once()
            if outcome is not None:
                return outcome
        raise Unsupported(f"the values of a '{word}' loop do not settle")


def _counted(body):
    """Names changed by ``+=`` and the like: in a loop of the run they are no constants."""
    return {n.target.id for s in body for n in ast.walk(s) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}


_RUN_TIME = object()
_BROKEN = "broken"


class _Half:
    """A name that only the branch taken sets, where the condition was a constant."""

    def __init__(self, value, message):
        self.value, self.message = value, message


class RunRange:
    """What a loop of the run goes through: numbers from start to stop, or the items of something of unknown length."""

    def __init__(self, start, stop, step=1, item=None):
        self.start, self.stop, self.step, self.item = start, stop, step, item


class _Layout:
    """What two branches leave, as a list of leaves: the selector, the names and values of each kind, changed objects."""

    def __init__(self, executor, branches, before):
        self.executor = executor
        self.kinds = []
        for branch in branches:
            self.kinds += [k for k in branch.outcome.exits if k not in self.kinds]
        self.with_selector = len(self.kinds) > 1
        self.before = before
        self.names = {}
        self.values = {}
        for kind in self.kinds:
            exits = [b.outcome.exits.get(kind) for b in branches]
            self.names[kind] = self._join_names(exits, before)
            self.values[kind] = self._join_all([e.value for e in exits if e is not None])
        self.places = {}
        live = [b for b in branches if b.outcome.exits]
        for branch in live:
            for key, (place, _) in branch.changed.items():
                if key not in self.places:
                    values = [b.changed[key][1] if key in b.changed else place.get() for b in live]
                    if any(is_missing(v) for v in values):
                        raise AttributeError(f"The attribute '{place.name}' is set in one branch only and does not exist "
                                             "before it")
                    self.places[key] = (place, self._join_all(values))
        self.specs = [(mstype.int32, ())] if self.with_selector else []
        for part in self._parts():
            self.specs += part.specs()

    def _parts(self):
        for kind in self.kinds:
            yield from self.names[kind].values()
            yield self.values[kind]
        for _, kind in self.places.values():
            yield kind

    def _join_all(self, values):
        try:
            joined = kind_of(values[0])
            for value in values[1:]:
                joined = join(joined, kind_of(value))
            return joined
        except JoinError as error:
            raise error.error from None

    def _join_names(self, exits, before):
        names = []
        for left in exits:
            if left is not None:
                names += [n for n, v in left.locals.items() if before.get(n, left) is not v and n not in names]
        made = {}
        for name in names:
            values = []
            for i, left in enumerate(exits):
                if left is None:
                    continue
                if name in left.locals:
                    values.append(left.locals[name])
                else:
                    values.append(_unbound(name, "false" if i == 0 else "true"))
            unbound = [v for v in values if isinstance(v, Unbound)]
            made[name] = Known(unbound[0]) if unbound else self._join_all(values)
        return made

    def leaves(self, branch, which, seen_as=None):
        """The leaves of one branch in the order of the layout; ``seen_as``: the branch's own leaves as seen from outside."""
        see = (lambda leaf: leaf) if seen_as is None else (lambda leaf: seen_as.get(id(leaf), leaf))
        outcome = branch.outcome
        made = []
        if self.with_selector:
            made.append(self._selector(outcome, see))
        for kind in self.kinds:
            left = outcome.exits.get(kind)
            for name, joined in self.names[kind].items():
                if left is None:
                    made += joined.fillers()
                else:
                    made += self._seen(joined, left.locals.get(name, self.before.get(name)), see)
            made += self.values[kind].fillers() if left is None else self._seen(self.values[kind], left.value, see)
        for key, (place, joined) in self.places.items():
            if not outcome.exits:
                made += joined.fillers()
            else:
                made += self._seen(joined, branch.changed[key][1] if key in branch.changed else place.get(), see)
        return made

    @staticmethod
    def _seen(kind, value, see):
        """Leaves of a value whose symbols are replaced first, since a conversion may compute with them."""
        return kind.leaves(replaced(value, see))

    def _selector(self, outcome, see):
        kinds = list(outcome.exits)
        if len(kinds) <= 1:
            return Tensor(self.kinds.index(kinds[0]) if kinds else 0, dtype=mstype.int32)
        numbers = [self.kinds.index(kind) for kind in kinds]
        selector = see(outcome.selector)
        if numbers == list(range(len(numbers))):
            return selector
        return Tensor(numbers, dtype=mstype.int32)[selector]

    def outcome(self, leaves, before):
        selector = next(leaves) if self.with_selector else None
        exits = {}
        for kind in self.kinds:
            locals_ = dict(before)
            for name, joined in self.names[kind].items():
                locals_[name] = joined.rebuild(leaves)
            exits[kind] = Exit(locals_, self.values[kind].rebuild(leaves))
        heap = self.executor.capture.heap
        for place, joined in self.places.values():
            heap.write(place, joined.rebuild(leaves))
        return Outcome(exits, selector)


def replaced(value, see):
    """The value with its Tensors mapped; the same object when nothing in it changes."""
    kind = kind_of(value)
    leaves = kind.leaves(value)
    if not leaves:
        seen = see(value)
        return seen
    seen = [see(leaf) for leaf in leaves]
    if all(a is b for a, b in zip(leaves, seen)):
        return value
    return kind.rebuild(iter(seen))


class _Loop:
    """One attempt to capture a loop of the run. ``kinds`` and ``places`` grow when the attempt fails."""

    def __init__(self, executor, frame, body, header, word, start_turn, kinds, places):
        self.executor, self.frame, self.body, self.header, self.word = executor, frame, body, header, word
        self.start_turn, self.kinds, self.places = start_turn, kinds, places
        self.capture = executor.capture

    def capture_once(self):
        """The Outcome after the loop, None when it must be captured again."""
        frame, capture = self.frame, self.capture
        before, line, n_frames = frame.locals, frame.line, len(capture.frames)
        initial = self._leaves(before, lambda place: place.get())
        specs = [spec for kind in self._all_kinds() for spec in kind.specs()]
        self.function, params = _core.function_begin(capture.graph, f"{frame.name}.{self.word}", specs)
        self.turn = None
        capture.heap.begin()
        capture.condition_depth += 1
        frame.locals = dict(before)
        try:
            self._enter(iter(params))
            condition = self.header()
            header_locals, header_values = frame.locals, {k: p.get() for k, (p, _) in self.places.items()}
            outcome, changed = self._capture_turn()
            agreed = self._agree(outcome, changed)
            layout = self._close(condition, outcome, changed, header_locals, header_values) if agreed else None
        except BaseException:
            if self.turn is not None:
                _core.function_abandon(self.turn)
            _core.function_abandon(self.function)
            raise
        finally:
            frame.locals, frame.line = before, line
            del capture.frames[n_frames:]
            capture.condition_depth -= 1
            capture.heap.end()
        if layout is None:
            _core.function_abandon(self.function)
            return None
        results = _core.function_call(_core.function_value(self.function), initial, layout.specs)
        return layout.outcome(iter(results), before)

    def _all_kinds(self):
        return list(self.kinds.values()) + [kind for _, kind in self.places.values()]

    def _leaves(self, locals_, get):
        leaves = []
        for name, kind in self.kinds.items():
            leaves += kind.leaves(locals_[name])
        for place, kind in self.places.values():
            leaves += kind.leaves(get(place))
        return leaves

    def _enter(self, params):
        for name, kind in self.kinds.items():
            self.frame.locals[name] = kind.rebuild(params)
        for place, kind in self.places.values():
            self.capture.heap.write(place, kind.rebuild(params))

    def _capture_turn(self):
        """Run the body in a function of its own, which stays open."""
        frame, capture = self.frame, self.capture
        frame.locals = dict(frame.locals)
        self.turn, _ = _core.function_begin(capture.graph, f"{frame.name}.turn", [])
        capture.heap.begin()
        try:
            if self.start_turn is not None:
                self.start_turn()
            outcome = self.executor._run_thunk(lambda: self.executor.run_block(self.body, frame, AGAIN), frame)
            capture.heap.note_written()
        finally:
            changed = capture.heap.end()
        return outcome, changed

    def _agree(self, outcome, changed):
        """Whether what the body leaves for the next turn is of the kinds the loop was captured for; else widen these."""
        agreed = True
        for key, (place, _) in changed.items():
            if key not in self.places:
                if is_missing(place.get()):
                    raise Unsupported(f"a loop sets the attribute '{place.name}' that does not exist before it")
                self.places[key] = (place, widen(kind_of(place.get())))
                agreed = False
        again = outcome.exits.get(AGAIN)
        if again is None:
            return agreed
        try:
            for name, kind in self.kinds.items():
                value = again.locals.get(name)
                wider = join(kind, kind_of(value))
                if not wider.equals(kind):
                    self.kinds[name], agreed = wider, False
        except JoinError as error:
            raise LoopJoin(error.error, self.frame) from None
        for key, (place, kind) in self.places.items():
            if key not in changed:
                continue
            try:
                wider = join(kind, kind_of(changed[key][1]))
            except JoinError as error:       # MindSpore leaves changes of objects to Python
                raise Unsupported(f"a loop changes the type of something that an object holds: {error.error}") from None
            if not wider.equals(kind):
                self.places[key], agreed = (place, wider), False
        if not agreed:
            _core.function_abandon(self.turn)
            self.turn = None
        return agreed

    def _close(self, condition, outcome, changed, header_locals, header_values):
        """End the functions of the loop; gives the layout of what it leaves."""
        exits = dict(outcome.exits)
        again, broken = exits.pop(AGAIN, None), exits.pop(BREAK, None)
        n_kinds = list(outcome.exits)
        after_header = Outcome({NEXT: self._only(header_locals)}) if condition is not True else Outcome({})
        header_branch = _Branch(None, after_header, {k: (p, header_values[k]) for k, (p, _) in self.places.items()}, [])
        after_turn = dict(exits)
        if broken is not None:
            after_turn[NEXT] = self._only(broken.locals)
        turn_branch = _Branch(None, Outcome(after_turn), changed, [])
        layout = _Layout(self.executor, [header_branch, turn_branch], self._base())
        if not outcome.exits:
            _core.function_end(self.turn, [leaf for part in layout_fillers(layout) for leaf in part])
        elif n_kinds == [AGAIN]:
            _core.function_end_call(self.turn, _core.function_value(self.function), self._next(again, changed))
        else:
            self._end_by_kind(outcome, again, broken, exits, changed, layout)
        turn, self.turn = self.turn, None
        if condition is True:
            _core.function_end_call(self.function, _core.function_value(turn), [])
            return layout
        done, _ = _core.function_begin(self.capture.graph, f"{self.frame.name}.done", [])
        _core.function_end(done, layout.leaves(header_branch, 0))
        target = _core.function_switch(condition, _core.function_value(turn), _core.function_value(done))
        _core.function_end_call(self.function, target, [])
        return layout

    def _base(self):
        """Names that the loop does not change."""
        return {n: v for n, v in self.frame.locals.items() if n not in self.kinds}

    def _only(self, locals_):
        base = self._base()
        base.update((name, locals_[name]) for name in self.kinds)
        return Exit(base)

    def _next(self, again, changed):
        return self._leaves(again.locals, lambda place: changed[place.key][1] if place.key in changed else place.get())

    def _end_by_kind(self, outcome, again, broken, exits, changed, layout):
        kinds = list(outcome.exits)
        targets = []
        for kind in kinds:
            function, _ = _core.function_begin(self.capture.graph, f"{self.frame.name}.{kind}", [])
            if kind == AGAIN:
                _core.function_end_call(function, _core.function_value(self.function), self._next(again, changed))
            else:
                left = Outcome({NEXT: self._only(broken.locals)} if kind == BREAK else {kind: exits[kind]})
                _core.function_end(function, layout.leaves(_Branch(None, left, changed, []), 1))
            targets.append(_core.function_value(function))
        target = targets[-1]
        for i in range(len(kinds) - 2, -1, -1):
            target = _core.function_switch(outcome.selector == i, targets[i], target)
        _core.function_end_call(self.turn, target, [])


def layout_fillers(layout):
    """Leaves for a way that never comes to an end."""
    if layout.with_selector:
        yield [Tensor(0, dtype=mstype.int32)]
    for part in layout._parts():
        yield part.fillers()
