# SPDX-License-Identifier: Apache-2.0
"""Calls: the user's functions are interpreted, the library's run as they are on symbols.

A function of the user is executed in place. Met again with arguments of the same kinds while it is being executed, it is a
recursion: then the outer call is captured anew as a function of the graph, and the inner one becomes a call of it. What it
returns is learnt by a first capture in which branches that need the result are left out.
"""
import ast
import functools
import inspect
import os
import sysconfig
import types

import numpy as np

from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype
from spore._moves import keyword_hint
from spore.graph import builtin, run_sizes, source, state
from spore.graph.capture import Frame
from spore.graph.errors import Redo, Unsupported
from spore.graph.flow import NeedResult, NoJoin
from spore.graph.heap import Cell
from spore.graph.library_state import Snapshot
from spore.graph.joins import JoinError, Known, join, kind_of, varies, widen
from spore.graph.split import DEBUGGERS, HOLDER, STOPS
from spore.graph.statements import RETURN, Dead
from spore.graph.values import (MISSING, Array, Choice, Closure, Filled, LateText, Scalar, Walk, as_tensor, is_symbol,
                                number_kind, scalar_of, shape_of)

__all__ = ["Calls", "Interpreted"]

_LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD = tuple(os.path.abspath(p) + os.sep for p in {sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["platstdlib"]})
_user_files = {}         # file: whether functions in it are the user's
_DIFFERENTIATE = ("common/differentiate.py", "common/backward.py", "common/own_gradient.py")
_interpreted = set()     # code of library functions that ask for values
_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_SHARED = (Tensor, Scalar, LateText, Array, int, float, complex, str, bytes, type(None), slice, range, frozenset, np.generic, np.dtype,
           type, type(Ellipsis), type(NotImplemented), types.ModuleType, type(mstype.float32))
_GENERALISE = 3          # nested calls of one function with other numbers before the numbers become values of the run


class Interpreted:
    """A function of the user that library code may call; it is interpreted."""

    def __init__(self, executor, function):
        self.executor, self.function = executor, function
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args, **kwargs):
        if state.capture() is not self.executor.capture:         # kept by the library until the program runs
            return self.function(*args, **kwargs)
        return self.executor.call(self.function, args, kwargs)


class Activation:
    """A call of a user's function that is being executed."""

    def __init__(self, code, bound, key, kinds):
        self.code, self.bound, self.key, self.kinds = code, bound, key, kinds
        self.function = None         # when it is captured as a function of the graph
        self.result = None           # kind of its result, as far as known
        self.probing = False


class Recursion(Redo):
    """A call that is under way was met again."""

    def __init__(self, activation, widened=()):
        super().__init__("recursion")
        self.activation, self.widened = activation, widened


def _is_user_file(file, module_globals):
    known = _user_files.get(file)
    if known is None:
        path = os.path.abspath(file)
        if path.startswith(_LIBRARY):
            known = False
        elif "site-packages" in path or "dist-packages" in path or path.startswith(_STANDARD):
            # An installed package of models is the user's code, numpy is not: the difference is whether it uses us.
            known = any(getattr(v, "__name__", "").partition(".")[0] in ("spore", "mindspore")
                        for v in module_globals.values() if isinstance(v, types.ModuleType)) or any(
                str(getattr(v, "__module__", "")).partition(".")[0] in ("spore", "mindspore")
                for v in list(module_globals.values()))
        else:
            known = True
        _user_files[file] = known
    return known


def _formatted(node):
    """Whether an expression is an f-string, ``text % values`` or ``text.format(...)``."""
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format"


def _takes_gradients(function):
    """Whether it is one of those that differentiate: they begin and end recordings of the engine, which interpreting them half-way would leave open."""
    return _code_of(function).co_filename.endswith(_DIFFERENTIATE)


class Calls:
    """Mixin of the executor."""

    @staticmethod
    def is_user(function):
        """Whether a function is the user's: to be interpreted."""
        if isinstance(function, Closure):
            return True
        function = getattr(function, "__func__", function)
        return isinstance(function, types.FunctionType) and _is_user_file(function.__code__.co_filename, function.__globals__)

    def eval_call(self, node, frame):
        args, kwargs = self.eval_arguments(node, frame)
        func = node.func
        if type(func).__name__ == "Attribute":
            return self.call_method(func, args, kwargs, frame)
        function = self.eval(func, frame)
        if function is print and not self.capture.faithful and not any(_formatted(a) for a in node.args):
            kwargs.setdefault("sep", "\n")       # as MindSpore: one line for each argument, unless there is formatted text
        return self.call(function, args, kwargs)

    def eval_arguments(self, node, frame):
        args = tuple(self.eval_elements(node.args, frame))
        kwargs = {}
        for keyword in node.keywords:
            value = self.eval(keyword.value, frame)
            if keyword.arg is None:
                kwargs.update(value)
            else:
                kwargs[keyword.arg] = value
        return args, kwargs

    def call_method(self, node, args, kwargs, frame):
        owner = self.eval(node.value, frame)
        name = node.attr
        if type(owner) is list:
            if not hasattr(owner, name):
                raise AttributeError(f"'list' object has no attribute '{name}'")
            return builtin.list_method(self, owner, name, args, kwargs)
        if isinstance(owner, dict):
            if name == "has_key":
                return args[0] in owner
            return builtin.dict_method(self, owner, name, args, kwargs)
        if isinstance(owner, str) and (any(varies(a) for a in args) or any(varies(a) for a in kwargs.values())):
            if name != "format":
                raise Unsupported(f"str.{name}() of values known at run time only")
            return LateText(Filled(name, owner, tuple(kwargs)), [*args, *kwargs.values()])
        if isinstance(owner, (Array, LateText)):
            raise Unsupported(f"{name}() of {'an array' if isinstance(owner, Array) else 'a text'} known at run time only")
        if isinstance(owner, Tensor):
            return self.tensor_method(node, owner, name, args, kwargs, frame)
        if isinstance(owner, Scalar) and name in ("item", "asnumpy"):
            return owner
        return self.call(self.attribute(owner, name), args, kwargs)

    def tensor_method(self, node, owner, name, args, kwargs, frame):
        symbol = is_symbol(owner) or self.is_variable(owner)
        if symbol and name == "item" and not args:
            builtin._one_element(owner, "a number")
            kind = bool if str(owner.dtype) == "Bool" else float if _core.is_floating(owner) else int
            return scalar_of(owner, kind)
        if symbol and name in ("asnumpy", "tolist", "numpy"):
            reason = Unsupported(f"Tensor.{name}() of a value known at run time only")
            reason.strict = (AttributeError, f"In JIT strict mode, cannot get attributes {name} or the Tensor[{owner.dtype}] "
                                             f"object has no attribute: '{name}'.")
            raise reason
        writes = name.endswith("_") and not name.endswith("__") and _core.is_symbol(owner)
        if writes and self.capture.faithful:
            self.need_alone(owner)
        return self.call(self.attribute(owner, name), args, kwargs)

    # --- dispatch ----------------------------------------------------------------------------------------------------

    def call(self, function, args, kwargs):
        """``function(*args, **kwargs)``"""
        kind = type(function)
        if kind is Closure:
            return self.call_user(function.code, function, args, kwargs)
        if kind is Choice:
            return self.call_choice(function, args, kwargs)
        if kind is Interpreted:
            return self.call(function.function, args, kwargs)
        if kind is types.FunctionType:
            handler = builtin.HANDLERS.get(function)
            if handler is not None:
                return handler(self, args, kwargs)
            inner = getattr(function, "__spore_inner__", None)   # what a wrapper of ours stands for
            if inner is not None:
                return self.call(inner, args, kwargs)
            if self.is_user(function):
                return self.call_python(function, args, kwargs)
            return self.native(function, args, kwargs)
        if kind is types.MethodType:
            owner, inner = function.__self__, function.__func__
            if isinstance(inner, types.FunctionType) and not self.is_user(inner):
                return self.native(function, args, kwargs)
            if _is_written_without_self(inner, len(args)):
                return self.call(inner, args, kwargs)
            return self.call(inner, (owner,) + tuple(args), kwargs)
        if kind is functools.partial:
            return self.call(function.func, function.args + tuple(args), {**function.keywords, **kwargs})
        if isinstance(function, type):
            return self.call_class(function, args, kwargs)
        if kind in (types.BuiltinFunctionType, types.BuiltinMethodType):
            return self.call_builtin(function, args, kwargs)
        return self.call_object(function, args, kwargs)

    def call_builtin(self, function, args, kwargs):
        try:
            handler = builtin.HANDLERS.get(function)
        except TypeError:
            handler = None
        if handler is not None:
            return handler(self, args, kwargs)
        owner = getattr(function, "__self__", None)
        if isinstance(owner, (list, dict)) and type(owner) in (list, dict):
            method = builtin.list_method if type(owner) is list else builtin.dict_method
            return method(self, owner, function.__name__, args, kwargs)
        return self.native(function, args, kwargs)

    def call_class(self, kind, args, kwargs):
        handler = builtin.HANDLERS.get(kind)
        if handler is not None:
            return handler(self, args, kwargs)
        if issubclass(kind, BaseException):
            return self.make_error(kind, args)
        if issubclass(kind, Tensor) and kind.__name__ != "Parameter":
            return self.make_tensor(kind, args, kwargs)
        if kind.__name__ == "Parameter" and kind.__module__.startswith(("spore.", "mindspore.")) and not self.under_construction:
            raise ValueError("Failed to compile in GRAPH_MODE because creating class 'mindspore.common.parameter.Parameter' "
                             "instances is not supported in 'construct' or @jit decorated function. Try to create class "
                             "'mindspore.common.parameter.Parameter' instances external such as initialized in the method "
                             "'__init__' before assigning.")
        if issubclass(kind, tuple) and hasattr(kind, "_fields") and not self.is_written(kind.__new__):
            return kind(*args, **kwargs)         # a named tuple
        init = kind.__init__
        if self.is_user(init) and kind.__new__ is object.__new__ and not self.is_cell_class(kind):
            made = kind.__new__(kind)
            self.capture.executor.under_construction.append(made)
            try:
                self.call(init, (made,) + tuple(args), kwargs)
            finally:
                self.capture.executor.under_construction.pop()
            return made
        return self.native(kind, args, kwargs)

    @classmethod
    def is_written(cls, function):
        """Whether a function is the user's own, and not made for him."""
        return cls.is_user(function) and source.code_of(function) is not None

    @staticmethod
    def is_cell_class(kind):
        from spore.nn import Cell
        return issubclass(kind, Cell)

    def make_tensor(self, kind, args, kwargs):
        """``Tensor(...)`` of something known at run time only is that thing in another dtype."""
        if args and varies(args[0]):
            value = args[0]
            dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
            if isinstance(value, (tuple, list)):
                value = self._listed(value, Tensor(0.0 if self._holds_floats(value) else 0))
            elif isinstance(value, Scalar):
                value = as_tensor(value) if dtype is None else value.symbol
            elif isinstance(value, Array):
                value = value.symbol
            elif isinstance(value, LateText):
                raise Unsupported("a Tensor of a text known at run time only")
            return value if dtype is None else value.astype(dtype)
        return self.native(kind, args, kwargs)

    def call_object(self, function, args, kwargs):
        from spore.nn import Cell
        if isinstance(function, Cell):
            return self.call_cell(function, args, kwargs)
        inner = getattr(function, "__spore_inner__", None)
        if inner is not None:
            return self.call(inner, args, kwargs)
        method = getattr(type(function), "__call__", None)    # noqa: B004  looked at, not asked whether it is there
        if method is None or not callable(function):
            raise ValueError(f"The value of type '{_type_name(function)}' cannot be called: it has no __call__")
        if self.is_user(method):
            return self.call(method, (function,) + tuple(args), kwargs)
        if isinstance(method, types.FunctionType):
            return self.native(types.MethodType(method, function), args, kwargs)
        return self.native(function, args, kwargs)

    def call_choice(self, choice, args, kwargs):
        """Call whichever function the run chooses."""
        frame = self.capture.frames[-1]

        def pick(i):
            if i == len(choice.options) - 1:
                return self.call(choice.options[i], args, kwargs)
            return self.choose(frame, choice.index == i, lambda: self.call(choice.options[i], args, kwargs),
                               lambda: pick(i + 1))
        return pick(0)

    # --- the library and Python --------------------------------------------------------------------------------------

    def native(self, function, args, kwargs):
        """Let Python call something that is not the user's."""
        if is_stop(function):
            raise Unsupported(f"{_name_of(function)}() stops in Python")
        ours = self.is_ours(function)
        if any(isinstance(a, Walk) for a in args):
            if str(getattr(function, "__module__", "")) == "itertools":
                raise Unsupported(f"{_name_of(function)}() takes an iterator, perhaps not all of it")
            args = tuple(self.iterate(a) if isinstance(a, Walk) else a for a in args)
        if ours and _code_of(function) in forbidden():
            raise RuntimeError(f"Failed to compile in GRAPH_MODE because the method or function '{_name_of(function)}' is not "
                               "supported in 'construct' or function with @jit decorator. Try to use it before compiling, for "
                               "example in '__init__'.")
        if self.capture.faithful and not (is_quiet(function) if ours else is_pure(function)):
            raise Unsupported(f"{_name_of(function)}() is called anew each time")
        if not ours and (any(varies(a) for a in args) or any(varies(a) for a in kwargs.values())):
            if not self.is_harmless(function):
                raise Unsupported(f"{_name_of(function)}() is called with a value known at run time only")
        odd, given, named = ours and self.is_odd(args, kwargs), args, kwargs
        if ours:
            first = next((a for a in args if isinstance(a, Tensor)), None)
            args = [self.handed(a, first) for a in args]
            kwargs = {k: self.handed(v, first) for k, v in kwargs.items()}
        if ours and _code_of(function) in _interpreted:
            return self.interpret(function, args, kwargs)
        recording = _core.function_recording()
        mark = _core.function_mark(recording)
        sizes = self.capture.sizes
        if sizes is not None and ours and isinstance(_code_of(function), types.CodeType) and sizes.interprets(self.capture, _name_of(function)):
            return self.interpret(function, args, kwargs)
        before = Snapshot(function, args, kwargs) if ours and isinstance(_code_of(function), types.CodeType) and not _takes_gradients(function) else None
        try:
            result = function(*args, **kwargs)
            if before is not None and before.changed():
                return self.interpret_undone(function, args, kwargs, before, recording, mark)
            if sizes is not None:
                sizes.check(self.capture, _name_of(function), result)
            return result
        except _core.SymbolError as error:
            self.capture.check_outside()
            if getattr(error, "_spore_places", None) is not None:        # from the user's code, which the library has called
                raise
            if odd:
                _core.function_rollback(recording, mark)
                return run_sizes.call(self, function, given, named)
            if not ours or not isinstance(_code_of(function), types.CodeType) or _takes_gradients(function):
                raise Unsupported(f"{_name_of(function)}(): {error}") from None
            try:
                return self.interpret_undone(function, args, kwargs, before, recording, mark)     # a condition on a value
            except Unsupported as failed:
                _core.function_rollback(recording, mark)
                return self.native_late(function, given, named, failed)
        except (Redo, Unsupported, Dead, NoJoin):
            raise
        except Exception as error:
            if odd and not hasattr(error, "_spore_places"):
                _core.function_rollback(recording, mark)
                return run_sizes.call(self, function, given, named)
            raise

    def interpret_undone(self, function, args, kwargs, before, recording, mark):
        """Library code that ran as it is and must not: undone, and interpreted like the user's."""
        before.undo()
        _core.function_rollback(recording, mark)
        result = self.interpret(function, args, kwargs)
        _interpreted.add(_code_of(function))         # only what has worked once: others' failures must not decide
        return result

    def native_late(self, function, args, kwargs, failed):
        """A call that needs values which only the run tells, made by Python then; ``failed`` if that does not do either."""
        try:
            return run_sizes.call_with_values(self, function, args, kwargs)
        except Unsupported:
            raise failed from None

    def interpret(self, function, args, kwargs):
        """A Python function of the library, from its syntax tree."""
        name = _name_of(function)
        if isinstance(function, types.MethodType):
            function, args = function.__func__, (function.__self__, *args)
        depth = len(self.capture.frames)
        try:
            return self.call_python(function, args, kwargs)
        except (TypeError, ValueError, AttributeError) as error:
            del self.capture.frames[depth:]
            if self.is_odd(args, kwargs) or any(is_symbol(a) for a in args):
                raise Unsupported(f"{name}(): {error}") from None
            raise

    @staticmethod
    def is_ours(function):
        """Whether it is the library's, which works on symbols."""
        owner = getattr(function, "__self__", None)
        if isinstance(function, Tensor) or isinstance(owner, Tensor) or type(owner).__module__ == "spore._core":
            return True
        code = _code_of(function)
        if code is not None:                     # the file counts: wrappers carry the module of what they wrap
            return os.path.abspath(code.co_filename).startswith(_LIBRARY)
        module = getattr(function, "__module__", None) or type(function).__module__
        return str(module).partition(".")[0] in ("spore", "mindspore", "functools", "copy", "_operator", "operator")

    @staticmethod
    def is_harmless(function):
        """Whether it only moves values about."""
        owner = getattr(function, "__self__", None)
        return isinstance(owner, (tuple, list, dict)) or (isinstance(function, type) and issubclass(function, (tuple, dict))) \
            or str(getattr(function, "__module__", "")) in ("collections", "itertools")

    @staticmethod
    def is_odd(args, kwargs):
        """Whether a number or a dimension known at run time only is among the arguments: then an error may be ours."""
        for value in [*args, *kwargs.values()]:
            if isinstance(value, dict):
                value = [item for held in value.values() for item in (held if isinstance(held, (tuple, list)) else (held,))]
            for item in value if isinstance(value, (tuple, list)) else (value,):
                if isinstance(item, Scalar) or isinstance(item, Tensor) and -1 in shape_of(item):
                    return True
        return False

    def handed(self, value, beside):
        """An argument as library code wants it."""
        if isinstance(value, Scalar):
            return as_tensor(value, beside)
        if isinstance(value, (types.FunctionType, types.MethodType)) and self.is_user(value):
            return Interpreted(self, value)
        if type(value) in (tuple, list) and any(isinstance(v, Scalar) for v in value):
            return type(value)(self.handed(v, beside) for v in value)
        if type(value) is dict and any(isinstance(v, Scalar) for v in value.values()):
            return {k: self.handed(v, beside) for k, v in value.items()}
        if isinstance(value, Choice):
            raise Unsupported("a function chosen at run time is handed to the library")
        if isinstance(value, (Array, LateText)):
            raise Unsupported(f"{'an array' if isinstance(value, Array) else 'a text'} known at run time only is handed to the library")
        return value

    def plain(self, value, beside=None):
        """Numbers known at run time only, in an index or a value, as Tensors."""
        if isinstance(value, Scalar):
            return as_tensor(value, beside)
        if isinstance(value, tuple):
            return tuple(self.plain(v, beside) for v in value)
        if isinstance(value, list):
            return [self.plain(v, beside) for v in value]
        if isinstance(value, slice) and any(isinstance(b, Scalar) for b in (value.start, value.stop, value.step)):
            raise Unsupported("a slice has bounds known at run time only")
        return value

    def plain_tensor(self, value):
        return value.symbol if isinstance(value, Scalar) else value

    def may_leave(self, value):
        """Whether a value may leave a program that is faithful to Python: constants that can be changed may not be shared by
        its runs, unless they came from outside."""
        if isinstance(value, (tuple, list)):
            return all(self.may_leave(v) for v in value)
        if type(value) is dict:
            return all(self.may_leave(v) for v in value.values())
        if isinstance(value, (Closure, Choice)):
            return False
        return isinstance(value, _SHARED) or callable(value) or any(
            value is w.value for w in self.capture.watched.values()) or id(value) in self.capture.given

    # --- the user's functions ----------------------------------------------------------------------------------------

    def call_python(self, function, args, kwargs):
        """A Python function of the user."""
        code = source.code_of(function)
        if code is None:
            return self.native_user(function, args, kwargs)
        if self.capture.faithful and function.__code__.co_flags & _SUSPENDED:
            raise Unsupported(f"{_name_of(function)}() is a generator or a coroutine")
        return self.call_user(code, function, args, kwargs)

    def native_user(self, function, args, kwargs):
        """Without source: Python runs it on symbols (trace)."""
        try:
            return function(*args, **kwargs)
        except _core.SymbolError as error:
            raise Unsupported(f"{_name_of(function)}() has no source to read and asks for a value: {error}") from None

    def call_user(self, code, function, args, kwargs):
        """Execute a function of the user, or call it if that is under way."""
        capture = self.capture
        bound = self.bind(code, function, args, kwargs)
        kinds = {name: kind_of(value) for name, value in bound.items()}
        key = id(code.node), getattr(function, "__self__", None), _closed_over(function)
        outer = [a for a in capture.activations if a.key == key] if capture.activations else ()
        for activation in reversed(outer):
            if all(kind.equals(activation.kinds[name]) for name, kind in kinds.items()):
                if activation.function is not None:
                    return self.call_activation(activation, bound)
                raise Recursion(activation)
            if activation.function is not None and self._fits(activation, kinds):
                return self.call_activation(activation, bound)
        if capture.condition_depth and len(outer) >= _GENERALISE:
            self._generalise(outer, kinds)
        if len(capture.activations) >= capture.depth_limit:
            raise RuntimeError(
                f"Exceed function call depth limit {capture.depth_limit}, (function call depth: "
                f"{len(capture.activations) + 1}, simulate call depth: {len(capture.activations)}).\n"
                "It's always happened with complex construction of code or infinite recursion or loop.\n"
                "Please check the code if it's has the infinite recursion or call "
                "'mindspore.set_recursion_limit(recursion_limit=value)' to adjust this value.")
        activation = Activation(code, bound, key, kinds)
        return self.run_inline(activation, function)

    @staticmethod
    def _fits(activation, kinds):
        """Whether the arguments can be converted to what the function was captured for."""
        try:
            return all(join(activation.kinds[n], k).equals(activation.kinds[n]) for n, k in kinds.items())
        except (JoinError, Unsupported):
            return False

    @staticmethod
    def _generalise(outer, kinds):
        """A recursion that counts by constants under a condition of the run: its numbers become values of the run."""
        first = outer[0]
        differing = [n for n, k in kinds.items() if not k.equals(first.kinds[n])]
        if all(isinstance(kinds[n], Known) and number_kind(kinds[n].value) for n in differing):
            raise Recursion(first, tuple(differing))

    def run_inline(self, activation, function):
        """Execute in place; on recursion once more as a function of the graph."""
        capture = self.capture
        recording = _core.function_recording()
        mark = _core.function_mark(recording)
        n_frames = len(capture.frames)
        capture.heap.begin()
        capture.activations.append(activation)
        try:
            result = self.run_body(activation.code, function, dict(activation.bound))
        except Recursion as met:
            if met.activation is not activation:
                capture.heap.end()
                raise
            capture.heap.end()
            capture.heap.begin()
            del capture.frames[n_frames:]
            _core.function_rollback(recording, mark)
            for name in met.widened:
                activation.kinds[name] = widen(activation.kinds[name])
            result = self.run_as_function(activation, function)
        except BaseException:
            capture.heap.end()
            raise
        finally:
            capture.activations.pop()
            if len(capture.frames) > n_frames:
                del capture.frames[n_frames:]
        capture.heap.keep()
        return result

    def run_body(self, code, function, locals_):
        """The value a body returns."""
        capture = self.capture
        if any(value is MISSING for value in locals_.values()):
            locals_ = {name: value for name, value in locals_.items() if value is not MISSING}
        frame = self.make_frame(code, function, locals_)
        capture.frames.append(frame)
        _core.place_push(code.file, frame.line, code.name, code.text(frame.line))
        try:
            if code.is_lambda:
                frame.line = code.node.body.lineno
                result = self.eval(code.node.body, frame)
            else:
                outcome = self.run_block(code.body, frame, RETURN)
                if RETURN not in outcome.exits:
                    raise Dead
                result = outcome.exits[RETURN].value
        except Exception as error:
            capture.note(error)
            raise
        finally:
            _core.place_pop()
        capture.frames.pop()
        return result

    def make_frame(self, code, function, locals_):
        if isinstance(function, Closure):
            frame = function.frame
            return Frame(self.capture, code, frame.globals, locals_, function.captured, frame, frame.owner)
        captured, owner = {}, None
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            if name == HOLDER:
                continue
            try:
                captured[name] = cell.cell_contents
            except ValueError:
                continue
            self.capture.watch(Cell(cell), captured[name])
        owner = captured.pop("__class__", None)
        return Frame(self.capture, code, function.__globals__, locals_, captured, None, owner)

    def run_as_function(self, activation, function):
        """Capture a recursive function as a function of the graph and call it."""
        self.capture.need_no_gradient("a recursion")
        activation.probing, activation.result = True, None
        for _ in range(8):
            made = self._capture_function(activation, function)
            if made is None:
                continue
            leaves = [leaf for n, k in activation.kinds.items() for leaf in k.leaves(activation.bound[n])]
            results = _core.function_call(_core.function_value(made), leaves, activation.result.specs())
            return activation.result.rebuild(iter(results))
        raise Unsupported(f"what the recursive function {activation.code.name} returns does not settle")

    def _capture_function(self, activation, function):
        """The finished function; None when it was captured to learn what it returns."""
        capture = self.capture
        specs = [spec for kind in activation.kinds.values() for spec in kind.specs()]
        made, params = _core.function_begin(capture.graph, activation.code.name, specs)
        activation.function = made
        capture.heap.begin()
        capture.condition_depth += 1
        try:
            leaves = iter(params)
            locals_ = {name: kind.rebuild(leaves) for name, kind in activation.kinds.items()}
            result = self.run_body(activation.code, function, locals_)
            kind = kind_of(result)
            known = activation.result
            wider = kind if known is None else join(known, kind)
            if activation.probing or not wider.equals(known):
                activation.result, activation.probing = wider, False
                _core.function_abandon(made)
                return None
            _core.function_end(made, wider.leaves(result))
            return made
        except Dead:
            _core.function_abandon(made)
            raise _endless() from None
        except NeedResult as need:
            _core.function_abandon(made)
            if need.activation is activation:
                raise _endless() from None
            raise
        except JoinError as error:
            _core.function_abandon(made)
            raise error.error from None
        except BaseException:
            _core.function_abandon(made)
            raise
        finally:
            capture.condition_depth -= 1
            capture.heap.end()

    def call_activation(self, activation, bound):
        """A recursive call."""
        if activation.result is None:
            raise NeedResult(activation)
        leaves = [leaf for name, kind in activation.kinds.items() for leaf in kind.leaves(bound[name])]
        results = _core.function_call(_core.function_value(activation.function), leaves, activation.result.specs())
        return activation.result.rebuild(iter(results))

    def bind(self, code, function, args, kwargs):
        """Arguments by parameter name, in the order of the parameters."""
        names = code.positional
        if isinstance(function, Closure):
            defaults, kw_defaults = function.defaults, function.kw_defaults
        else:
            defaults, kw_defaults = function.__defaults__ or (), function.__kwdefaults__ or {}
        n = len(names)
        if len(args) > n and code.star is None:
            raise TypeError(f"The function {code.name} at {code.file}:{code.node.lineno} requires {n} positional arguments, "
                            f"but got {len(args)}.")
        bound = dict(zip(names, args))
        extra = {}
        for key, value in kwargs.items():
            if key in bound:
                raise TypeError(f"{code.name}() got multiple values for argument '{key}'")
            if key in names[code.n_positional_only:] or key in code.keyword_only:
                bound[key] = value
            elif code.star_star is not None:
                extra[key] = value
            else:
                raise TypeError(f"{code.name}() got an unexpected keyword argument '{key}'{keyword_hint(key, [*names, *code.keyword_only])}")
        first_default = n - len(defaults)
        missing = []
        for i, name in enumerate(names):
            if name not in bound:
                if i >= first_default:
                    bound[name] = defaults[i - first_default]
                else:
                    missing.append(name)
        for name in code.keyword_only:
            if name not in bound:
                if name in kw_defaults:
                    bound[name] = kw_defaults[name]
                else:
                    missing.append(name)
        if missing:
            raise TypeError(f"The function {code.name} at {code.file}:{code.node.lineno} requires {n} positional arguments, "
                            f"but got {len(args)}: {', '.join(map(repr, missing))} missing.")
        if code.star is not None:
            bound[code.star] = tuple(args[n:])
        if code.star_star is not None:
            bound[code.star_star] = extra
        return bound


_PURE = ("math", "cmath", "operator", "_operator", "functools", "itertools", "collections", "copy", "typing", "abc", "enum",
         "string", "re", "numpy", "dataclasses", "numbers", "fractions", "decimal")
_IMPURE_NAMES = {"open", "input", "eval", "exec", "globals", "locals", "vars", "id", "breakpoint", "compile", "__import__", "next",
                 "iter", "setattr", "delattr"}
_LOUD = ("spore.train.serialization", "spore.train.model", "spore.train.callback", "spore.train.metrics", "spore.train.summary",
         "spore.dataset", "spore.context", "spore.log", "spore.mindrecord", "spore.hal", "spore.runtime", "spore.profiler",
         "spore.common.seed", "spore.communication")


def _is_written_without_self(function, given):
    """Whether a method has no parameter for its object. MindSpore's compiler goes by the name 'self', and calls such methods without
    one, which Python does not."""
    code = getattr(function, "__code__", None)
    return (code is not None and code.co_name != "construct" and not code.co_flags & inspect.CO_VARARGS and given == code.co_argcount
            and "self" not in code.co_varnames[:code.co_argcount])


def is_stop(function):
    """Whether a call stops in a debugger: ``breakpoint``, ``pdb.set_trace`` and their like of other debuggers."""
    if function is breakpoint:
        return os.environ.get("PYTHONBREAKPOINT") != "0"     # Python's own switch: then it does nothing
    return getattr(function, "__name__", "") in STOPS and str(getattr(function, "__module__", "")).partition(".")[0] in DEBUGGERS


def is_pure(function):
    """Whether a function that is not ours gives the same on every call and changes nothing."""
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        return isinstance(owner, (str, bytes, int, float, complex, tuple, list, dict, np.ndarray, np.generic, type))
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    if module == "builtins":
        return getattr(function, "__name__", "") not in _IMPURE_NAMES
    return module.partition(".")[0] in _PURE and not module.startswith("numpy.random")


def is_quiet(function):
    """Whether a function of the library does nothing but compute."""
    module = str(getattr(function, "__module__", ""))
    return not module.removeprefix("mind").startswith(_LOUD)    # under `spore run` classes say that they are mindspore's


@functools.cache
def forbidden():
    """Code of library functions that make no sense in a program."""
    from spore.common.initializer import initializer
    from spore.nn import Cell
    return {f.__code__ for f in (initializer, Cell.get_parameters, Cell.untrainable_params)}


def _closed_over(function):
    """What a function sees of the functions around it, by identity: functions of one text that see other things are others."""
    if isinstance(function, Closure):
        seen = [function.captured.get(name) for name in sorted(source.free_names(function.code))]
    else:
        function = getattr(function, "__func__", function)
        seen = []
        for cell in getattr(function, "__closure__", None) or ():
            try:
                seen.append(cell.cell_contents)
            except ValueError:       # not set yet
                seen.append(None)
    return tuple(0 if value is function else value if isinstance(value, (int, str)) else id(value) for value in seen)


def _code_of(function):
    return getattr(getattr(function, "__func__", function), "__code__", None)


def _endless():
    return RuntimeError("Exceed function call depth limit 1000: the recursion is an endless loop. There isn't any branch that can be "
                        "evaluated without calling the function again.\nPlease check the code if it's has the infinite "
                        "recursion or call 'mindspore.set_recursion_limit(recursion_limit=value)' to adjust this value.")


def _name_of(function):
    return getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or type(function).__name__
