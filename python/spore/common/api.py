# SPDX-License-Identifier: Apache-2.0
"""Compilation: ``jit`` and its relatives. How functions become programs is written in spore.graph."""
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload
from spore._core import type_name as _type_name

F = TypeVar("F")

__all__ = ["jit", "ms_function", "jit_class", "ms_class", "lazy_inline", "no_inline", "ms_memory_recycle",
           "set_recursion_limit", "flops_collection", "enable_dynamic"]

_CAPTURE_MODES = ("ast", "bytecode", "trace")
_JIT_LEVELS = ("O0", "O1", "O2")
_LEGACY_OPTIONS = {"mode", "input_signature", "hash_args", "jit_config", "compile_once", "fn", "obj"}
_OPTIONS = _LEGACY_OPTIONS | {"jit_level", "infer_boost", "exec_mode", "disable_format_transform", "exec_order", "ge_options",
                              "debug_level", "jit_syntax_level", "dvm_options"}


def _check_choice(name, value, choices):
    if value not in choices:
        raise ValueError(f"jit: {name} must be one of {', '.join(map(repr, choices))}, but got {value!r}")


@overload
def jit(function: F, **options: Any) -> F: ...


@overload
def jit(function: None = None, **options: Any) -> Callable[[F], F]: ...


def jit(function=None, *, capture_mode="ast", jit_level="O0", dynamic=0, fullgraph=False, backend="", **options):
    """Mark a function, method or Cell for compilation; usable with and without arguments.

    Args:
        function: what to compile; None when used as a decorator with arguments.
        capture_mode: "ast" compiles the function's text and refuses the statements that MindSpore refuses; "bytecode" keeps to plain
            Python's rules and never fails; "trace" records one run. With the first two, what cannot be compiled (numpy on values of
            the run, ...) is run by Python in the middle of the function.
        jit_level: "O0", "O1" or "O2".
        dynamic: 1: sizes that change from call to call are left open, and one program serves them all.
        fullgraph: whether the whole function must be captured.
        backend: execution backend; "" for the default.

    Examples:
        >>> import spore as ms
        >>> @ms.jit
        ... def f(x):
        ...     return x * 2
        >>> print(f(ms.Tensor([1.0, 2.0])))
        [2. 4.]
    """
    _check_choice("capture_mode", capture_mode, _CAPTURE_MODES)
    _check_choice("jit_level", jit_level, _JIT_LEVELS + ("",))
    if not isinstance(fullgraph, bool):
        raise TypeError(f"jit: fullgraph must be a bool, but got {_type_name(fullgraph)}")
    if isinstance(dynamic, bool) or dynamic not in (0, 1):
        raise ValueError(f"jit: dynamic must be 0 or 1, but got {dynamic!r}")
    unknown = set(options) - _OPTIONS
    if unknown:
        raise TypeError(f"jit: {', '.join(sorted(unknown))} is not an option")
    if function is None:
        function = options.get("fn")
    if function is None:
        return functools.partial(jit, capture_mode=capture_mode, jit_level=jit_level, dynamic=dynamic, fullgraph=fullgraph,
                                 backend=backend, **options)
    if isinstance(function, type):
        return function
    if not callable(function):
        raise TypeError(f"jit: a function or Cell is needed, but got {_type_name(function)}")
    if options.get("mode") == "PIJit":
        capture_mode = "bytecode"
    from spore.graph.compiler import JitFunction, Options, strict_of
    config = options.get("jit_config")
    config = getattr(config, "jit_config_dict", config) or {}
    level = options.get("jit_syntax_level")
    signature = options.get("input_signature")
    if signature is not None and not isinstance(signature, (tuple, list)):
        signature = (signature,)
    made = Options(capture_mode, strict_of({"jit_syntax_level": level} if level else config), fullgraph, signature,
                   options.get("hash_args"), dynamic=bool(dynamic))
    if hasattr(function, "construct"):
        return _jit_cell(function, made)
    inner = getattr(function, "__spore_inner__", None)
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(JitFunction(function.__func__, made))
    return JitFunction(function if inner is None or not isinstance(function, JitFunction) else inner, made)


def _jit_cell(cell, options):
    """The same Cell, whose construct is compiled."""
    from spore.graph.compiler import JitFunction
    construct = type(cell).construct
    cell.__dict__["construct"] = JitFunction(getattr(construct, "__spore_inner__", construct), options).__get__(cell)
    return cell


def enable_dynamic(**kwargs):
    """Declare arguments of a compiled function whose sizes change from call to call: one program serves them all.

    Args:
        kwargs: by the names of parameters, Tensors whose shape has None where a size is left open.

    Examples:
        >>> import spore as ms
        >>> @ms.enable_dynamic(x=ms.Tensor(shape=[None], dtype=ms.float32))
        ... @ms.jit
        ... def f(x):
        ...     return x * 2
        >>> print(f(ms.ops.ones(3)))
        [2. 2. 2.]
    """
    if not kwargs:
        raise ValueError("When using decorator enable_dynamic, the input cannot be empty!")
    from spore._core import Tensor
    for name, declared in kwargs.items():
        for one in declared if isinstance(declared, (tuple, list)) else (declared,):
            if not isinstance(one, Tensor):
                raise TypeError("The decorator enable_dynamic only supports Tensor or a tuple/list of Tensor, but the argument : "
                                f"{name} is type of:{type(one)}.")
        if isinstance(declared, Tensor) and all(n >= 0 for n in declared.shape):
            raise TypeError(f"When using decorator enable_dynamic, the shape of argument '{name}' at least have one None.")

    def decorate(function):
        from spore.graph.compiler import JitFunction, declared_options
        inner = getattr(function, "__spore_inner__", function)
        for name in kwargs:
            if name not in inspect.signature(inner).parameters:
                raise ValueError(f"enable_dynamic: '{name}' is not in the list of parameters of {inner.__name__}")
        compiled = function if isinstance(function, JitFunction) else jit(inner)
        return JitFunction(inner, declared_options(kwargs, inner, compiled._options))
    return decorate


def ms_function(fn=None, input_signature=None, hash_args=None, jit_config=None):
    """The older name of jit."""
    return jit(fn, input_signature=input_signature, hash_args=hash_args, jit_config=jit_config)


def jit_class(cls):
    """Mark a user's class as usable inside compiled functions."""
    if not isinstance(cls, type):
        raise TypeError(f"jit_class: a class is needed, but got {_type_name(cls)}")
    from spore.nn import Cell
    if issubclass(cls, Cell):
        raise TypeError("jit_class: a Cell is compiled as it is, do not mark it")
    cls.__ms_class__ = True
    return cls


ms_class = jit_class


def lazy_inline(fn=None, attrs=None, policy=None):
    """Mark a Cell's ``__init__``: the Cell is compiled once and reused. Nothing changes in eager mode."""
    if fn is None:
        return functools.partial(lazy_inline, attrs=attrs, policy=policy)
    if getattr(fn, "__name__", "") != "__init__":
        raise ValueError(f"lazy_inline: it stands at the __init__ of a Cell, but got {fn!r}")
    if policy not in (None, "front"):
        raise ValueError(f"lazy_inline: policy must be None or 'front', but got {policy!r}")
    return fn


def no_inline(fn=None):
    """Mark a function that stays a function of its own when compiled."""
    if fn is None:
        raise ValueError("no_inline: a function is needed")
    return fn


def ms_memory_recycle():
    """Give cached memory back to the system."""
    from spore import runtime
    runtime.empty_cache()


def set_recursion_limit(recursion_limit=1000):
    """How deep functions may call themselves when compiled; checked and kept for that."""
    if isinstance(recursion_limit, bool) or not isinstance(recursion_limit, int) or recursion_limit <= 0:
        raise ValueError(f"set_recursion_limit: a positive integer is needed, but got {recursion_limit!r}")
    from spore import context
    context.set_context(max_call_depth=recursion_limit)


def flops_collection(phase="train"):
    """Not counted in eager mode."""
    raise RuntimeError("flops_collection: operations are counted in compiled programs only, which are not available yet")


class _Executor:
    """What programs ask of MindSpore's eager executor: whether operators are recorded for gradients, and to wait for results,
    which are always there."""

    def __init__(self):
        self._paused, self._flag = None, False

    def grad_flag(self):
        """Has a Cell asked for gradients, or is a gradient computation under way?"""
        return self._flag or self.requires_grad()

    def set_grad_flag(self, flag):
        """Note whether a Cell asks for gradients, and Tensors that gather their own (``run_backward``) are recorded."""
        from spore.common.backward import enable
        self._flag = bool(flag)
        enable(flag)

    def queue_backward_final_callback(self, callback):
        """Call a function when the backward pass that is under way has ended."""
        from spore.common.backward import queue_final_callback
        queue_final_callback(callback)

    def set_creation_type(self, tensor, creation_type):
        """Say how a view came to be; the engine sees by itself where a write through one can be recorded."""

    def clear_res(self):
        """Forget what is kept between calls: nothing is."""

    def enable_grad(self):
        """Are operators recorded for gradients?"""
        return self._paused is None

    def set_enable_grad(self, flag):
        """Switch recording on or off."""
        from spore.common.differentiate import no_grad
        if flag and self._paused is not None:
            self._paused.__exit__()
            self._paused = None
        elif not flag and self._paused is None:
            self._paused = no_grad().__enter__()

    def sync(self):
        """Wait until everything is computed: it is."""

    def set_async_for_graph(self, flag):
        """Whether compiled functions may return before they have run. Here they have always run: a Tensor can be read at once, which is
        all that a program can see of either."""
        if not isinstance(flag, bool):
            raise TypeError(f"set_async_for_graph: flag must be a bool, but got {_type_name(flag)}")

    def set_is_run_recompute(self, status):
        """Say that a gradient is taken while another is: the engine keeps records apart by itself."""
        if not isinstance(status, bool):
            raise TypeError(f"set_is_run_recompute: status must be a bool, but got {_type_name(status)}")

    def call_custom_bprop(self, obj, output, *args, **kwargs):
        """Give what was computed without a record the gradient of `obj.bprop(*args, output, doutput)`: `output` is written with it."""
        from spore.common.own_gradient import attach
        if not self.requires_grad():
            return
        values = (*args, *kwargs.values())
        attached = attach(output, lambda inputs, out, doutput: obj.bprop(*inputs, out, doutput), values)
        pairs = zip(output, attached) if isinstance(output, (tuple, list)) else ((output, attached),)
        for plain, recorded in pairs:
            plain.copy_(recorded)

    def requires_grad(self):
        """Is a gradient computation under way?"""
        from spore import _core
        return _core.grad_recording()


    # --- the steps of a gradient, taken by hand: the function runs while the engine records, then the record is walked backwards

    def check_run(self, grad, obj, weights, grad_position, *args, create_graph=False):
        """Has the function run with a record already? It runs anew in `grad`."""
        return False

    def new_graph(self, obj, *args, **kwargs):
        """Begin the record of a function."""

    def end_graph(self, obj, output, *args, **kwargs):
        """End the record of a function."""

    def grad(self, obj, grad, weights, grad_position, *args, **kwargs):
        """The gradients that GradOperation `grad` asks for."""
        from spore.common.differentiate import grad as by_position
        if weights is None and grad_position is not None and not isinstance(grad, _grad_operation()):
            return by_position(obj, grad_position)(*args, **kwargs)
        return (grad(obj, weights) if weights is not None else grad(obj))(*args, **kwargs)


def _grad_operation():
    from spore.common.differentiate import GradOperation
    return GradOperation


_pynative_executor = _Executor()


class _CellGraphExecutor:
    """What programs ask of MindSpore's compiler of Cells."""

    def compile(self, cell, *args, phase="predict", do_convert=True, **kwargs):
        """Compile a Cell for these arguments; gives its phase and True."""
        cell.compile(*args, **kwargs)
        self._asked[cell.phase] = args
        return cell.phase, True

    def __init__(self):
        self._asked = {}                                  # the arguments that Cells were compiled for, by phase

    def _get_func_graph_proto(self, obj, exec_id, ir_type="onnx_ir", use_prefix=False, incremental=False):
        """The bytes of a file of a Cell that `compile` has compiled, or None: as MindIR ("mind_ir") or ONNX ("onnx_ir")."""
        import os
        import tempfile

        from spore.train.serialization import export
        formats = {"mind_ir": "MINDIR", "onnx_ir": "ONNX"}
        if ir_type not in formats:
            raise ValueError(f"_get_func_graph_proto: ir_type must be one of {list(formats)}, but got {ir_type!r}")
        if exec_id not in self._asked:
            return None
        with tempfile.TemporaryDirectory() as folder:
            export(obj, *self._asked[exec_id], file_name=os.path.join(folder, "graph"), file_format=formats[ir_type])
            name, = os.listdir(folder)
            with open(os.path.join(folder, name), "rb") as file:
                return file.read()

    def __call__(self, cell, *args, phase="predict"):
        return cell(*args)


class _JitExecutor:
    """A function as MindSpore's compiler holds it: called, it runs as a program."""

    def __init__(self, fn, ms_create_time=None, input_signature=None, obj=None, jit_config=None, dynamic=0,
                 cell_cache_key_extend=""):
        self.fn, self.obj = fn, obj
        self._run = jit(fn, dynamic=dynamic) if input_signature is None else jit(fn, input_signature=input_signature)

    def __call__(self, *args, **kwargs):
        return self._run(*args, **kwargs) if self.obj is None else self._run(self.obj, *args, **kwargs)


_MindsporeFunctionExecutor = _JitExecutor
_PyNativeExecutor = _Executor
_cell_graph_executor = _executor = _CellGraphExecutor()
cells_compile_cache = {}


def _function_forbid_reuse(fn):
    """Programs of such a function are not shared; they are not here."""
    return fn


def _convert_python_data(data):
    """What a program gives back, as Python sees it."""
    return data


def __getattr__(name):
    if name in ("_no_grad", "no_grad"):
        from spore.common.differentiate import no_grad
        return no_grad
    if name == "_disable_saved_tensors_hooks":
        from spore.common import saved_tensors
        return saved_tensors._disable_saved_tensors_hooks
    raise AttributeError(f"module 'spore.common.api' has no attribute '{name}'")
