# SPDX-License-Identifier: Apache-2.0
"""Statements, and how control leaves them.

Executing a list of statements gives an Outcome: for every way control may leave it (kind), the names and the value it leaves
with. One kind is the rule; where a condition of the run decides, there are several and a selector, a Tensor that tells
which one it is. ``fall`` is the kind that reaching the end of a list means: NEXT in a block, AGAIN in the body of a
loop, RETURN in that of a function. None as an outcome means: straight on.
"""
import ast
import builtins
import os

from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore.graph import run_sizes, source
from spore.graph.errors import Unsupported
from spore.graph.heap import Attribute, Global, Items
from spore.graph.joins import varies
from spore.graph.split import Leave, imports_debugger, stores
from spore.graph.values import MISSING, Closure, Scalar, Unbound, is_symbol, shape_of

__all__ = ["Outcome", "Exit", "Statements", "NEXT", "AGAIN", "BREAK", "RETURN"]

NEXT, AGAIN, BREAK, RETURN = "next", "again", "break", "return"


class Exit:
    """Names, and the value of a return statement, at a point where control leaves."""
    __slots__ = ("locals", "value")

    def __init__(self, locals_, value=None):
        self.locals, self.value = locals_, value


class Outcome:
    """exits: {kind: Exit}; no exit at all means that control does not come back (raise). selector: number of the kind in
    the order of exits, None when there is one only."""
    __slots__ = ("exits", "selector")

    def __init__(self, exits, selector=None):
        self.exits, self.selector = exits, selector


class Dead(Exception):
    """Control does not come back from here: a raise that happens at run time."""


_LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_REFUSED = {"Try": "Try", "TryStar": "TryStar", "Delete": "Delete", "Import": "Import", "ImportFrom": "ImportFrom",
            "Nonlocal": "Nonlocal", "Match": "Match", "ClassDef": "ClassDef", "AsyncFunctionDef": "AsyncFunctionDef",
            "AsyncFor": "AsyncFor", "AsyncWith": "AsyncWith"}


def refused(node, certain=False, faithful=False):
    """The error for a statement that compiled functions cannot contain, None if they can."""
    name = type(node).__name__
    if name not in _REFUSED and not certain or imports_debugger(node):
        return None
    advice = "A graph cannot contain it; write it outside, or leave fullgraph=True away, then Python runs it between two graphs." \
        if faithful else "Compiled functions cannot contain it; write it outside, or use capture_mode=\"bytecode\"."
    return RuntimeError(f"Unsupported statement '{_REFUSED.get(name, name)}'.\n{advice}")


class Statements:
    """Mixin of the executor."""

    def run_block(self, statements, frame, fall=NEXT):
        """Execute statements; None or an Outcome."""
        capture = self.capture
        for i, node in enumerate(statements):
            frame.line = node.lineno
            _core.place_line(node.lineno, frame.code.text(node.lineno))
            rest = statements[i + 1:] if isinstance(node, (ast.If, ast.For, ast.While, ast.With)) else None
            if capture.faithful and isinstance(node, (ast.For, ast.While)) and node.orelse and (plain := source.without_else(node)):
                return self.run_block([plain, *node.orelse, *rest], frame, fall)
            try:
                if type(node) is ast.If or type(node) is ast.While:
                    outcome, done = (self.run_if if type(node) is ast.If else self.run_while_and_rest)(node, frame, rest, fall)
                    if done:
                        return outcome
                else:
                    outcome = self.statement_table[type(node)](self, node, frame)
            except KeyError:
                if type(node) in self.statement_table:
                    raise
                if frame.code.file.startswith(_LIBRARY):      # not the user's to change: Python runs the call
                    raise Unsupported(f"{type(node).__name__} in the library's {frame.code.name}()") from None
                capture.note(error := refused(node, True, capture.faithful))
                raise error from None
            except Exception as error:
                capture.note(error)
                raise
            if outcome is None:
                continue
            if NEXT not in outcome.exits:
                return outcome
            if len(outcome.exits) == 1:
                frame.locals = outcome.exits[NEXT].locals
                continue
            if rest or fall != NEXT:
                return self.after(outcome, frame, lambda: self.run_block(rest or [], frame, fall))    # noqa: B023  the loop ends here
            return outcome
        if fall == NEXT:
            return None
        return Outcome({fall: Exit(frame.locals)})

    # --- simple ones -------------------------------------------------------------------------------------------------

    def run_return(self, node, frame):
        value = None if node.value is None else self.eval(node.value, frame)
        self.capture.returned = frame.place() if frame.code is not None else None
        return Outcome({RETURN: Exit({}, value)})

    def run_expression(self, node, frame):
        if not isinstance(node.value, ast.Constant):
            self.eval(node.value, frame)

    def run_pass(self, node, frame):
        pass

    def run_break(self, node, frame):
        return Outcome({BREAK: Exit(frame.locals)})

    def run_continue(self, node, frame):
        return Outcome({AGAIN: Exit(frame.locals)})

    def run_global(self, node, frame):
        frame.global_names = (*frame.global_names, *node.names)

    def run_import(self, node, frame):
        """Python's import, in functions of the library; a user's function cannot contain one."""
        if not frame.code.file.startswith(_LIBRARY):
            if imports_debugger(node):
                raise Unsupported("a debugger is imported")
            raise refused(node, True, self.capture.faithful)
        names = dict.fromkeys(("__name__", "__package__"))
        names.update((name, frame.globals.get(name)) for name in names)
        exec(compile(ast.Module([node], []), frame.code.file, "exec"), names)
        frame.locals.update((a.asname or a.name.partition(".")[0], names[a.asname or a.name.partition(".")[0]]) for a in node.names)

    def run_def(self, node, frame):
        if node.decorator_list:
            made = self.make_closure(node, frame)
            for decorator in reversed(node.decorator_list):
                made = self.call(self.eval(decorator, frame), (made,), {})
            frame.locals[node.name] = made
            return
        frame.locals[node.name] = self.make_closure(node, frame)

    def make_closure(self, node, frame):
        """A function or lambda of the program; it sees the names as they are now."""
        name = getattr(node, "name", "<lambda>")
        code = getattr(node, "_spore_code", None)
        if code is None:
            code = node._spore_code = source.Code(node, frame.code.file, frame.code.lines, name)
        defaults = [self.eval(d, frame) for d in node.args.defaults]
        kw_defaults = {a.arg: self.eval(d, frame) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults)
                       if d is not None}
        captured = dict(frame.captured)
        wanted = source.free_names(code)
        captured.update((n, v) for n, v in frame.locals.items() if n in wanted and not isinstance(v, Unbound))
        made = Closure(code, captured, frame, defaults, kw_defaults)
        if name in wanted:
            captured[name] = made
        return made

    # --- assignment --------------------------------------------------------------------------------------------------

    def run_assign(self, node, frame):
        value = self.eval(node.value, frame)
        for target in node.targets:
            self.assign(target, value, frame)

    def run_annotated(self, node, frame):
        if node.value is not None:
            self.assign(node.target, self.eval(node.value, frame), frame)

    def run_augmented(self, node, frame):
        target = node.target
        old = self.eval_target(target, frame)
        value = self.eval(node.value, frame)
        if isinstance(old, list) and isinstance(node.op, ast.Add) and isinstance(value, (list, tuple)):
            self.touch_items(old)
            old.extend(value)
            self.assign(target, old, frame)
            return
        self.assign(target, self.binary(type(node.op), old, value), frame)

    def eval_target(self, target, frame):
        """What stands on the left of ``+=`` as a value."""
        loaded = getattr(target, "_spore_load", None)
        if loaded is None:
            made = {ast.Name: lambda t: ast.Name(t.id, ast.Load()),
                    ast.Attribute: lambda t: ast.Attribute(t.value, t.attr, ast.Load()),
                    ast.Subscript: lambda t: ast.Subscript(t.value, t.slice, ast.Load())}[type(target)](target)
            loaded = target._spore_load = ast.copy_location(made, target)
        return self.eval(loaded, frame)

    def assign(self, target, value, frame):
        """Give a target a value."""
        kind = type(target)
        if kind is ast.Name:
            if target.id in frame.global_names:
                self.capture.heap.write(Global(frame.globals, target.id), value)
            else:
                frame.locals[target.id] = value
        elif kind in (ast.Tuple, ast.List):
            self.unpack(target.elts, value, frame)
        elif kind is ast.Attribute:
            self.set_attribute(self.eval(target.value, frame), target.attr, value, frame, target)
        elif kind is ast.Subscript:
            self.set_item(target, value, frame)
        else:
            raise RuntimeError(f"Unsupported statement '{kind.__name__}'.")

    def unpack(self, targets, value, frame):
        items = self.sequence(value, "unpack")
        stars = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
        if not stars:
            if len(items) != len(targets):
                few = "not enough" if len(items) < len(targets) else "too many"
                raise ValueError(f"{few} values to unpack (expected {len(targets)}, got {len(items)})")
            for target, item in zip(targets, items):
                self.assign(target, item, frame)
            return
        at = stars[0]
        after = len(targets) - at - 1
        if len(items) < at + after:
            raise ValueError(f"not enough values to unpack (expected at least {at + after}, got {len(items)})")
        for target, item in zip(targets[:at], items[:at]):
            self.assign(target, item, frame)
        self.assign(targets[at].value, list(items[at:len(items) - after]), frame)
        for target, item in zip(targets[at + 1:], items[len(items) - after:]):
            self.assign(target, item, frame)

    def set_attribute(self, owner, name, value, frame, node):
        from spore.common.parameter import Parameter
        held = getattr(owner, "__dict__", {}).get("_params") or {}
        if isinstance(held.get(name), Parameter) and (isinstance(value, Parameter) or type(value) in (int, float, bool)):
            from spore import ops
            ops.assign(held[name], value)        # in a program a Parameter stays the one it is, only its contents change
            return
        if isinstance(held.get(name), Parameter) and (isinstance(value, Tensor) or value is None):
            value = self.capture.executor.plain_tensor(value)
            setattr(owner, name, value)          # a variable: its own store, in program order
            return
        if isinstance(owner, Parameter):
            raise ValueError(f"Do not support to set attribute for a parameter: the attribute '{name}' of the Parameter "
                             f"'{owner.name}'. Set it outside of the compiled function.")
        if self.capture.strict and hasattr(owner, "construct"):
            found = getattr(owner, name, None)
            raise TypeError(f"In JIT strict mode, if need to modify a member attribute of a class with self.{name}, the member "
                            f"attribute must be of the Parameter type. But got '{found}' with type '{_type_name(found)}'.")
        if isinstance(owner, (Tensor, Scalar)):
            raise Unsupported(f"an attribute of a {type(owner).__name__} is set")
        self.capture.heap.write(Attribute(owner, name), value)

    def set_item(self, target, value, frame):
        """``owner[index] = value``: lists and dicts change, of a Tensor the owner gets a new value."""
        owner = self.eval(target.value, frame)
        index = self.eval(target.slice, frame)
        if isinstance(owner, Tensor) and isinstance(value, (tuple, list)) and varies(value):
            value = self._listed(value, owner)                   # x[i] = (y, z)
        if isinstance(owner, Tensor) and self.capture.faithful:
            self.write_in_place(owner, index, value)
            return
        if isinstance(owner, Tensor) and not getattr(owner, "__parameter__", False) and self.is_assignable(target.value) and (
                -1 in shape_of(owner) or self.has_late_slice(index)):
            new = run_sizes.call(self, run_sizes.with_item, (owner, self.late_index(index), self.plain(value, owner)), {})
            self.assign(target.value, new, frame)
            return
        if isinstance(owner, Tensor):
            index, value = self.plain(index), self.plain(value, owner)
            if _core.handle_is_parameter(owner) or not self.is_assignable(target.value):
                owner[index] = value
                return
            new = self.fresh(owner, index, value)
            new[index] = value
            self.assign(target.value, new, frame)
            return
        if isinstance(owner, (list, dict)):
            if is_symbol(index):
                raise Unsupported("a list or dict is changed at a position known at run time only")
            if isinstance(owner, list) and isinstance(index, int) and not -len(owner) <= index < len(owner):
                raise IndexError(f"list assignment index {index} is out of range [{-len(owner)}, {len(owner)})")
            self.touch_items(owner)
            if isinstance(index, slice):
                value = self.sequence(value, "a slice of a list")
            owner[index] = value
            return
        if isinstance(owner, tuple):
            raise TypeError("'tuple' object does not support item assignment")
        setter = getattr(type(owner), "__setitem__", None)
        if setter is None:
            raise TypeError(f"'{type(owner).__name__}' object does not support item assignment")
        self.call(setter, (owner, index, value), {})

    def write_in_place(self, owner, index, value):
        """As plain Python writes: whoever holds the Tensor sees it."""
        self.need_alone(owner)
        if -1 in shape_of(owner) or self.has_late_slice(index):
            raise Unsupported("a part of a Tensor is written whose place is known at run time only")
        owner[self.plain(index)] = self.plain(value, owner)

    def need_alone(self, tensor):
        """A Tensor of which there are views, or that is one, is written by Python: programs have no views. Nor do branches
        and loops of the run know by which other names it goes."""
        if _core.symbol_shared(tensor) or is_symbol(tensor) and self.capture.condition_depth:
            raise Unsupported("a Tensor is written to that may share its memory with another one")

    @staticmethod
    def is_assignable(node):
        return isinstance(node, (ast.Name, ast.Subscript, ast.Attribute))

    def fresh(self, tensor, *others):
        """Another handle of a Tensor, so that a change of it does not reach whoever holds the old one."""
        return tensor.copy()

    def touch_items(self, owner):
        self.capture.heap.touch(Items(owner))

    # --- with, raise, assert -----------------------------------------------------------------------------------------

    def run_with(self, node, frame):
        managers = []
        for item in node.items:
            manager = self.eval(item.context_expr, frame)
            entered = self.enter(manager)
            managers.append(manager)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered, frame)
        try:
            outcome = self.run_block(node.body, frame)
        except BaseException as error:
            # The capture ends here, or starts again: what the library has opened is closed; the user's code is not called.
            for manager in reversed(managers):
                if not self.is_user(type(manager).__exit__):
                    type(manager).__exit__(manager, type(error), error, error.__traceback__)
            raise
        for manager in reversed(managers):
            self.leave(manager)
        return outcome

    def enter(self, manager):
        if not hasattr(type(manager), "__enter__") or not hasattr(type(manager), "__exit__"):
            raise TypeError(f"'{_type_name(manager)}' object does not support the context manager protocol: "
                            "__enter__ and __exit__ are needed")
        return self.call(type(manager).__enter__, (manager,), {})

    def leave(self, manager):
        self.call(type(manager).__exit__, (manager, None, None, None), {})

    def run_raise(self, node, frame):
        if node.exc is None:
            raise RuntimeError("raise: there is no exception to raise again in a compiled function")
        error = self.eval(node.exc, frame)
        if isinstance(error, type) and issubclass(error, BaseException):
            error = error()
        if not isinstance(error, BaseException) and not isinstance(error, LateError):
            raise TypeError("exceptions must derive from BaseException")
        self.raise_at_run(error)

    def raise_at_run(self, error):
        """Raise now when nothing of the run decides about it, else when the run gets here."""
        if isinstance(error, LateError):
            kind, args = error.kind, error.args
        else:
            kind, args = type(error), error.args
        if getattr(builtins, kind.__name__, None) is not kind and not kind.__module__.startswith(("spore", "mindspore")):
            raise RuntimeError(f"Unsupported exception type: {kind.__name__}. Raise only support some Python standard exception "
                               "types, like ValueError, TypeError, RuntimeError and AssertionError.")
        tensors = []
        template = self.pack(args, tensors)
        if not self.capture.condition_depth and not tensors:
            raise error
        places, unpack = self.capture.places(), self.unpack_values

        def run(values):
            from spore.graph.errors import located
            raise located(kind(*unpack(template, iter(values))), places)
        _core.function_host("raise", run, tensors, [])
        raise Dead

    def need(self, condition, kind, text):
        """Raise ``kind(text)`` when the run finds that the condition does not hold."""
        frame = self.capture.frames[-1]
        self.settle(self.branch(frame, condition, lambda: None, lambda: self.raise_at_run(LateError(kind, (text,)))), frame)

    def run_assert(self, node, frame):
        condition = self.truth(self.eval(node.test, frame))
        if condition is True:
            return
        if condition is False:
            message = () if node.msg is None else (self.eval(node.msg, frame),)
            self.raise_at_run(self.make_error(AssertionError, message))

        def fail():
            message = () if node.msg is None else (self.eval(node.msg, frame),)
            self.raise_at_run(self.make_error(AssertionError, message))
        outcome = self.branch(frame, condition, lambda: None, fail)
        self.settle(outcome, frame)

    def make_error(self, kind, args):
        if any(varies(arg) for arg in args):
            return LateError(kind, args)
        return kind(*args)

    def settle(self, outcome, frame):
        """Take over the names of an outcome that can only go on."""
        if outcome is None:
            return
        if NEXT not in outcome.exits:
            raise Dead
        frame.locals = outcome.exits[NEXT].locals

    def run_leave(self, node, frame):
        """The end of a piece (split.py): the names that are used after it."""
        values = []
        for name in node.names:
            value = frame.locals.get(name, MISSING)
            if isinstance(value, Unbound) and value is not MISSING:
                raise leaving(Unsupported(value.message), name, frame)
            if not self.may_leave(value):
                raise leaving(Unsupported(f"'{name}' is a {_type_name(value)} that every call makes anew"), name, frame)
            values.append(value)
        held = [id(v) for v in values if isinstance(v, (list, dict))]
        if len(set(held)) < len(held):
            raise Unsupported("two names stand for the same list or dict")
        return Outcome({RETURN: Exit({}, tuple(values))})

    statement_table = {
        ast.Return: run_return, ast.Expr: run_expression, ast.Pass: run_pass, ast.Break: run_break,
        ast.Continue: run_continue, ast.Global: run_global, ast.FunctionDef: run_def, ast.Assign: run_assign,
        ast.AnnAssign: run_annotated, ast.AugAssign: run_augmented, ast.With: run_with, ast.Raise: run_raise,
        ast.Assert: run_assert, ast.Import: run_import, ast.ImportFrom: run_import, Leave: run_leave,
    }


def leaving(error, name, frame):
    """The error, blamed on the last statement that sets the name."""
    setting = [s for s in frame.code.body if name in stores([s])]
    if setting:
        error._spore_cut = frame.code, setting[-1].lineno
        error._spore_places = frame.capture.places()[:-1] + [
            (frame.code.file, setting[-1].lineno, frame.name, frame.code.text(setting[-1].lineno))]
        error.place = error._spore_places[-1]
    return error


class LateError:
    """An exception whose message is known at run time only."""

    def __init__(self, kind, args):
        self.kind, self.args = kind, args
