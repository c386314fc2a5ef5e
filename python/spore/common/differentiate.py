# SPDX-License-Identifier: Apache-2.0
"""Differentiation of Python functions and Cells.

``grad`` and its relatives run the function once while the engine records, then walk the record backwards. A position
argument enters the function as a fresh handle, so that nested gradients do not mix up their variables; weights are
watched for as long as the function runs.
"""
import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, overload

from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore.common.backward import backward_pass
from spore.common.vectorize import keeps, over_basis, vmap
from spore.graph import state as _state

__all__ = ["grad", "value_and_grad", "get_grad", "vjp", "jvp", "jacrev", "jacfwd", "vmap", "stop_gradient",
           "GradOperation", "no_grad", "_no_grad", "unrecorded"]


# --- structures of tensors -------------------------------------------------------------------------------------------

def _flatten(value, leaves):
    """Collect the tensors of nested tuples, lists and dicts in order; of sparse Tensors the values."""
    if isinstance(value, Tensor):
        leaves.append(value)
    elif hasattr(type(value), "_with"):
        leaves.append(value.values)
    elif isinstance(value, (tuple, list)):
        for item in value:
            _flatten(item, leaves)
    elif isinstance(value, dict):
        for item in value.values():
            _flatten(item, leaves)
    return leaves


def _map(function, value):
    """The same structure with ``function`` applied to its tensors; a namedtuple stays one."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, tuple):
        items = [_map(function, item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [_map(function, item) for item in value]
    if isinstance(value, dict):
        return {key: _map(function, item) for key, item in value.items()}
    if hasattr(type(value), "_with"):            # COOTensor, CSRTensor, RowTensor
        return value._with(function(value.values))
    return value


_is_differentiable = _core.grad_possible


def _add_hooks(variable, tensor):
    """The hooks that were put on a Tensor outside of any record serve its variable in this one."""
    for hook in tensor._hooks.values():
        _core.grad_hook_add(variable, hook)


def call(fn, args, kwargs=None):
    """``fn(*args, **kwargs)``; functions of the user are interpreted while something is captured."""
    if _state.capture() is None:
        return fn(*args, **(kwargs or {}))
    from spore.graph.gradients import call as interpret
    return interpret(fn, args, kwargs)


# --- one run with its record -----------------------------------------------------------------------------------------

class _Record:
    """Run a function while recording, and keep what the backward pass needs."""

    def __init__(self, positions, weights, args):
        self.args = list(args)
        self.variables = {}
        self.weights = weights
        self._positions = positions
        self._others = []        # further arguments with a history, which may lead to the weights
        self._given = []         # (argument, variable that stands for it)
        self.outer = _core.grad_recording()

    def __enter__(self):
        _core.grad_begin()
        self._watched = []
        try:
            for position in self._positions:
                value = self.args[position]
                leaves = _flatten(value, [])
                if not leaves:
                    raise TypeError(f"argument {position} holds no Tensor to differentiate with respect to, it is a "
                                    f"{_type_name(value)}")
                self.args[position] = self.variables[position] = _map(self._variable, value)
                self._given += zip(leaves, _flatten(self.variables[position], []))
                # A symbol that is written has another history from there; gradients are with respect to what it was.
                self.variables[position] = _map(lambda t: _core.handle_twin(t) if _core.is_symbol(t) else t, self.variables[position])
            if self.outer and self.weights:
                for i in set(range(len(self.args))) - set(self._positions):
                    self.args[i] = _map(self._other, self.args[i])
            for weight in self.weights:
                if getattr(weight, "requires_grad", True) and _is_differentiable(weight):
                    known = _core.grad_tracked(weight)
                    _core.grad_watch(weight)
                    self._watched.append(weight)
                    if weight._hooks and not known:
                        _add_hooks(weight, weight)
        except BaseException:
            self.__exit__()
            raise
        self._ids = [_core.symbol_id(variable) for _, variable in self._given]
        return self

    @staticmethod
    def _variable(tensor):
        if not _is_differentiable(tensor):
            return tensor
        variable = _core.grad_variable(tensor)
        if tensor._hooks:
            _add_hooks(variable, tensor)
        return variable

    def _other(self, tensor):
        if not (_core.grad_tracked(tensor) and _is_differentiable(tensor)) or getattr(tensor, "__parameter__", False):
            return tensor
        self._others.append(_core.grad_variable(tensor))
        return self._others[-1]

    def __exit__(self, *error):
        for weight in self._watched:
            _core.grad_unwatch(weight)
        _core.grad_end()
        if error[:1] == (None,):
            self._hand_back()

    def _hand_back(self):
        """What was written to a variable reaches the argument; with contents both share them, symbols do not."""
        for (argument, variable), before in zip(self._given, self._ids):
            if before >= 0 and _core.symbol_id(variable) != before:
                argument.assign_value(_core.grad_detach(variable))

    def backward(self, outputs, seeds, create_graph=None, positions=None, weights=None):
        """Gradients for every variable (in its structure) and every weight, or those that are asked for."""
        create = self.outer if create_graph is None else create_graph
        positions = self._positions if positions is None else positions
        weights = self.weights if weights is None else weights
        targets = []
        for position in positions:
            _flatten(self.variables[position], targets)
        n_variables = len(targets)
        targets = targets + list(weights) + self._others
        hooked = any(w._hooks for w in weights)
        grads = backward_pass(outputs, seeds, targets, create, hooked) if outputs else [_zeros(t) for t in targets]
        if _core.grad_any_fetched():
            from spore.common.fetched import tell_lost
            tell_lost(outputs, targets)
        if hooked:                                   # those of weights that the outputs do not depend on are called, too
            grads = [_unreached(t) if g is None else g for t, g in zip(targets, grads)]
        rest = iter(grads[:n_variables])
        by_position = {p: _map(lambda _: next(rest), self.variables[p]) for p in positions}
        for_weights = grads[n_variables:n_variables + len(weights)]
        if not all(getattr(w, "requires_grad", True) for w in weights):      # set to False while the function ran
            for_weights = [g if getattr(w, "requires_grad", True) else _zeros(w) for w, g in zip(weights, for_weights)]
        return by_position, for_weights


def _unreached(tensor):
    gradient = _zeros(tensor)
    for hook in (tensor._hooks or {}).values():
        answer = hook(gradient)
        gradient = gradient if answer is None else answer
    return gradient


def _zeros(tensor):
    """A gradient of zeros."""
    from spore import ops
    return ops.zeros_like(_core.grad_detach(tensor))


def _differentiable(value):
    """The Tensors of a value that can be differentiated; without any, all gradients are zero, as in MindSpore."""
    return [leaf for leaf in _flatten(value, []) if _is_differentiable(leaf)]


def _floating(leaves, what):
    leaves = [leaf for leaf in leaves if _is_differentiable(leaf)]
    if not leaves:
        raise TypeError(f"{what} returns no floating-point Tensor, there is nothing to differentiate")
    return leaves


def _varies(value):
    """Whether gradients exist with respect to an argument. A tuple, list or dict of Tensors that the caller hands over is a
    constant, as in MindSpore, unless it is ``mutable``; one that a compiled function makes is not."""
    if isinstance(value, Tensor) or hasattr(type(value), "_with"):
        return True
    if not _flatten(value, []):
        return False
    capture = _state.capture()
    if capture is not None:
        return id(value) not in capture.constants
    return getattr(value, "__ms_mutable__", False)


def _spread(fn, args, kwargs):
    """(function, arguments) that do the same with positions alone: keywords come after the others, in their order."""
    if not kwargs:
        return fn, args
    n, names = len(args), list(kwargs)
    return lambda *given: call(fn, given[:n], dict(zip(names, given[n:]))), (*args, *kwargs.values())


def _positions_of(grad_position, n_args, name):
    if grad_position is None:
        return ()
    positions = grad_position if isinstance(grad_position, tuple) else (grad_position,)
    for position in positions:
        if isinstance(position, bool) or not isinstance(position, int):
            raise TypeError(f"{name}: grad_position must be an int or a tuple of int, but got {_type_name(position)}")
        if position < 0:
            raise ValueError(f"{name}: grad_position must not be below 0, but got {position}")
        if position >= n_args and _state.capture() is not None:
            raise IndexError(f"Position index {position} is exceed input size.")
        if position >= n_args:
            raise RuntimeError(f"{name}: grad_position {position} is out of range, the function got {n_args} arguments")
    return tuple(positions)


def _weights_of(weights, name):
    """(list of Parameters, whether a single one was given)"""
    if weights is None:
        return [], False
    if isinstance(weights, Tensor):
        return [weights], True
    if not isinstance(weights, (tuple, list)):
        weights = list(weights)
    for weight in weights:
        if not isinstance(weight, Tensor):
            raise TypeError(f"{name}: weights must be Parameters, but got {_type_name(weight)}")
    return list(weights), False


# --- grad, value_and_grad --------------------------------------------------------------------------------------------

R = TypeVar("R")


@overload
def value_and_grad(fn: Callable[..., R], grad_position: int = 0, weights: None = None, has_aux: bool = False,
                   return_ids: Literal[False] = False, sens_param: bool = False) -> Callable[..., tuple[R, Tensor]]: ...


@overload
def value_and_grad(fn: Callable[..., R], grad_position: tuple[int, ...], weights: None = None, has_aux: bool = False,
                   return_ids: Literal[False] = False, sens_param: bool = False) -> Callable[..., tuple[R, tuple[Tensor, ...]]]: ...


@overload
def value_and_grad(fn: Callable[..., R], grad_position: None, weights: Sequence[Tensor], has_aux: bool = False,
                   return_ids: Literal[False] = False, sens_param: bool = False) -> Callable[..., tuple[R, tuple[Tensor, ...]]]: ...


@overload
def value_and_grad(fn: Callable[..., R], grad_position: None, weights: Tensor, has_aux: bool = False,
                   return_ids: Literal[False] = False, sens_param: bool = False) -> Callable[..., tuple[R, Tensor]]: ...


@overload
def value_and_grad(fn: Callable[..., R], grad_position: int | tuple[int, ...] | None = 0, weights: Sequence[Tensor] | Tensor | None = None, has_aux: bool = False,
                   return_ids: bool = False, sens_param: bool = False) -> Callable[..., tuple[R, Any]]: ...


def value_and_grad(fn, grad_position=0, weights=None, has_aux=False, return_ids=False, sens_param=False):
    """A function that returns what ``fn`` returns, together with its gradients.

    Args:
        fn: function or Cell. Its outputs are differentiated as their sum; with ``has_aux`` only the first one is, and the
            others are handed through.
        grad_position: index or indices of the arguments to differentiate with respect to; None for none.
        weights: Parameters to differentiate with respect to, or None.
        has_aux: whether ``fn`` returns further values that are not differentiated.
        return_ids: whether each gradient comes with the position or the Parameter's name, for ``get_grad``.
        sens_param: whether the last argument of the call is the gradient of the outputs, in their structure.

    Returns:
        Function. It gives ``(value, gradients)``; the gradients are those of the positions, those of the weights, or a pair
        of both.

    Examples:
        >>> import spore as ms
        >>> f = ms.value_and_grad(lambda x: (x * x).sum())
        >>> value, dx = f(ms.Tensor([1.0, 2.0]))
        >>> print(value, dx)
        5.0 [2. 4.]
    """
    return _differentiated(fn, grad_position, weights, has_aux, return_ids, sens_param, with_value=True, name="value_and_grad")


@overload
def grad(fn: Callable[..., R], grad_position: int = 0, weights: None = None, has_aux: bool = False,
         return_ids: Literal[False] = False, sens_param: bool = False) -> Callable[..., Tensor]: ...


@overload
def grad(fn: Callable[..., R], grad_position: tuple[int, ...], weights: None = None, has_aux: bool = False,
         return_ids: Literal[False] = False, sens_param: bool = False) -> Callable[..., tuple[Tensor, ...]]: ...


@overload
def grad(fn: Callable[..., R], grad_position: None, weights: Sequence[Tensor], has_aux: bool = False,
         return_ids: Literal[False] = False, sens_param: bool = False) -> Callable[..., tuple[Tensor, ...]]: ...


@overload
def grad(fn: Callable[..., R], grad_position: None, weights: Tensor, has_aux: bool = False,
         return_ids: Literal[False] = False, sens_param: bool = False) -> Callable[..., Tensor]: ...


@overload
def grad(fn: Callable[..., R], grad_position: int | tuple[int, ...] | None = 0, weights: Sequence[Tensor] | Tensor | None = None, has_aux: bool = False,
         return_ids: bool = False, sens_param: bool = False) -> Callable[..., Any]: ...


def grad(fn, grad_position=0, weights=None, has_aux=False, return_ids=False, sens_param=False):
    """A function that returns the gradients of ``fn``; with ``has_aux`` a tuple of the other outputs follows them.

    The arguments are those of ``value_and_grad``.

    Examples:
        >>> import spore as ms
        >>> print(ms.grad(lambda x, y: x * y, grad_position=(0, 1))(ms.Tensor(2.0), ms.Tensor(3.0)))
        (Tensor(shape=[], dtype=Float32, value= 3), Tensor(shape=[], dtype=Float32, value= 2))
    """
    return _differentiated(fn, grad_position, weights, has_aux, return_ids, sens_param, with_value=False, name="grad")


def _differentiated(fn, grad_position, weights, has_aux, return_ids, sens_param, with_value, name):
    if not callable(fn):
        raise TypeError(f"{name}: fn must be a function or a Cell, but got {_type_name(fn)}")
    if grad_position is None and weights is None:
        raise ValueError(f"`grad_position` and `weight` can not be None at the same time: {name} has nothing to differentiate "
                         "with respect to.")
    for key, flag in (("has_aux", has_aux), ("return_ids", return_ids), ("sens_param", sens_param)):
        if not isinstance(flag, bool):
            raise TypeError(f"{name}: {key} must be a bool, but got {_type_name(flag)}")
    weight_list, one_weight = _weights_of(weights, name)

    def flat(function, args, positions, seeds):
        with _Record(positions, weight_list, args) as record:
            value = call(function, record.args)
            loss, _ = _split_aux(value, has_aux, name)
            leaves = _differentiable(loss)
            by_position, weight_grads = record.backward(leaves, seeds and seeds(leaves))
        return (value if record.outer else _map(_core.grad_detach, value)), by_position, weight_grads

    def run(*args, **kwargs):
        _refuse_without_grad()
        seeds = None
        if sens_param:
            args, seeds = _taken_seeds(args, kwargs, name)
        function, args = _spread(fn, args, kwargs)
        positions = _positions_of(grad_position, len(args), name)
        positions = tuple(p for p in positions if _varies(args[p]))
        value, by_position, weight_grads = _with_gradients(
            lambda: flat(function, args, positions, seeds),
            lambda g: g.by_function(function, args, {}, positions, weight_list, lambda v: _split_aux(v, has_aux, name), seeds))
        if _state.capture() is not None:
            by_position.update((p, 0.0) for p in _positions_of(grad_position, len(args), name)
                               if type(args[p]).__name__ == "Scalar")
        gradients = _shape_gradients(by_position, weight_grads, grad_position, weights, weight_list, one_weight, return_ids)
        if with_value:
            return value, gradients
        return (gradients, _map(_core.grad_detach, _split_aux(value, has_aux, name)[1])) if has_aux else gradients

    run = _as_program(run, fn, name)
    try:
        functools.update_wrapper(run, fn, updated=())
    except (AttributeError, TypeError):
        pass
    run.__wrapped_fn__ = fn
    return run


def _is_compiled(fn):
    """Whether it would run as a program of its own."""
    if _state.hook is not None:
        from spore.graph.compiler import graph_mode
        return graph_mode()
    return getattr(_own_code(fn), "__spore_inner__", None) is not None


def _own_code(fn):
    """The function, or the construct of a Cell; a method as the function it is of."""
    own = getattr(fn, "__dict__", {}).get("construct") or getattr(type(fn), "construct", fn)
    return own if hasattr(own, "_options") else getattr(own, "__func__", own)


def _as_program(run, fn, name):
    """``run``; of a compiled function, or in GRAPH_MODE, forward and backward pass are compiled as one program."""
    held = []

    def call_or_compile(*args, **kwargs):
        if _state.capture() is not None or _core.grad_recording() or not _is_compiled(fn):
            return run(*args, **kwargs)
        if not held:
            from spore.graph.compiler import Compiled, Options
            options = getattr(_own_code(fn), "_options", None)           # captured by bytecode, a gradient never fails either
            options = Options("bytecode" if options is not None and options.faithful else "ast")
            held.append(Compiled(lambda executor, a, k: executor.native(run, tuple(a), k), run, name, options, fn))
        return held[0](args, kwargs)
    return call_or_compile


def _with_gradients(flat, through_function):
    """What ``flat`` gives; while capturing, run-time control flow may need the other way."""
    if _state.capture() is None:
        return flat()
    from spore.graph import gradients
    return gradients.attempt(flat, lambda: through_function(gradients))


def _shape_gradients(by_position, weight_grads, grad_position, weights, weight_list, one_weight, return_ids):
    """The gradients in the structure that was asked for."""
    if return_ids:
        by_position = {p: (p, g) for p, g in by_position.items()}
        weight_grads = [(w.name, g) for w, g in zip(weight_list, weight_grads)]
    for_weights = weight_grads[0] if one_weight else tuple(weight_grads)
    if grad_position is None:
        return for_weights
    positions = grad_position if isinstance(grad_position, tuple) else (grad_position,)
    for_positions = tuple(by_position[p] for p in positions if p in by_position)
    if len(for_positions) == 1:
        for_positions = for_positions[0]
    return for_positions if weights is None else (for_positions, for_weights)


def get_grad(gradients, identifier):
    """The gradient with the given id (position, or Parameter or its name) of a result of ``grad(..., return_ids=True)``.

    Examples:
        >>> import spore as ms
        >>> gradients = ms.grad(lambda x, y: x * y, grad_position=(0, 1), return_ids=True)(ms.Tensor(2.0), ms.Tensor(3.0))
        >>> print(ms.get_grad(gradients, 1))
        2.0
    """
    wanted = identifier.name if isinstance(identifier, Tensor) else identifier

    def find(value):
        if isinstance(value, tuple):
            if len(value) == 2 and isinstance(value[0], (int, str)) and not isinstance(value[0], bool):
                return value[1] if value[0] == wanted else None
            for item in value:
                found = find(item)
                if found is not None:
                    return found
        return None

    found = find(gradients)
    if found is None:
        raise RuntimeError(f"Can not find the gradient for position or Parameter {wanted!r}; was return_ids=True given?")
    return found


class GradOperation:
    """The older way to ask for gradients: ``GradOperation(get_all=True)(net)(*inputs)``.

    Args:
        get_all: gradients of all inputs instead of the first.
        get_by_list: gradients of the Parameters given to the call.
        sens_param: the last argument (or keyword ``sens``) scales the output's gradient.

    Examples:
        >>> import spore as ms
        >>> from spore import ops
        >>> print(ops.GradOperation()(lambda x: x * x)(ms.Tensor(3.0)))
        6.0
    """

    def __init__(self, get_all=False, get_by_list=False, sens_param=False):
        for key, value in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            if not isinstance(value, bool):
                raise TypeError(f"GradOperation: {key} must be a bool, but got {_type_name(value)}")
        self.get_all = get_all
        self.get_by_list = get_by_list
        self.sens_param = sens_param

    def __call__(self, fn, weights=None):
        if not callable(fn):
            raise TypeError(f"GradOperation: the first argument must be a function or a Cell, but got {_type_name(fn)}")
        if self.get_by_list and weights is None and hasattr(fn, "trainable_params"):
            weights = fn.trainable_params()
        weight_list, one_weight = _weights_of(weights if self.get_by_list else None, "GradOperation")

        def run(*args, **kwargs):
            _refuse_without_grad()
            seeds_like = None
            if self.sens_param:
                args, seeds_like = _taken_seeds(args, kwargs, "GradOperation")
            function, args = _spread(fn, args, kwargs)
            if self.get_all:
                positions = tuple(i for i, a in enumerate(args) if _varies(a))
            else:
                positions = (0,) if args and not self.get_by_list and _varies(args[0]) else ()

            def flat():
                kept = _kept_forward(function, args, positions, weight_list)
                if kept is not None:
                    return None, *kept.backward(seeds_like, positions, weight_list)
                with _Record(positions, weight_list, args) as record:
                    leaves = _differentiable(call(function, record.args))
                    return None, *record.backward(leaves, seeds_like and seeds_like(leaves))
            _, by_position, weight_grads = _with_gradients(flat, lambda g: g.by_function(
                function, args, {}, positions, weight_list, lambda v: (v, ()), seeds_like))
            for_weights = weight_grads[0] if one_weight else tuple(weight_grads)
            if self.get_all:
                for_inputs = tuple(by_position[p] for p in positions)
                return (for_inputs, for_weights) if self.get_by_list else for_inputs
            return for_weights if self.get_by_list else by_position.get(0, ())

        run = _as_program(run, fn, "GradOperation")
        run.__wrapped_fn__ = fn
        return run


def _kept_forward(function, args, positions, weights):
    """The last call of a Cell with ``set_grad``, when it was this one; see forward.py."""
    if not getattr(function, "requires_grad", False):
        return None
    from spore.common import forward
    return forward.take(function, args, positions, weights)


def _taken_seeds(args, kwargs, name):
    """(the arguments of the function, what gives the gradients of its outputs): those come last, or under the name ``sens``."""
    if "sens" in kwargs:
        seeds = kwargs.pop("sens")
    elif args:
        args, seeds = args[:-1], args[-1]
    else:
        raise TypeError(f"{name}: with sens_param=True the gradient of the outputs must be given as the last argument")

    def like(leaves):
        if _state.capture() is not None and len(_seed_leaves(seeds)) != len(leaves):
            raise TypeError(f"Type Join Failed: there are {len(leaves)} outputs, but {len(_seed_leaves(seeds))} sens values are given.")
        return [_seed_like(s, leaf) for s, leaf in zip(_seed_leaves(seeds), leaves)]
    return args, like


def _seed_leaves(seeds):
    leaves = _flatten(seeds, [])
    return leaves if leaves else [seeds]


def _seed_like(seed, leaf):
    """A seed as a tensor of the output's shape and dtype; numbers are spread over it, one in brackets serves a scalar."""
    if not isinstance(seed, Tensor):
        seed = Tensor(seed, dtype=leaf.dtype)
    if seed.dtype != leaf.dtype:
        seed = seed.astype(leaf.dtype)
    if seed.shape == leaf.shape:
        return seed
    return seed.reshape(()) if leaf.ndim == 0 and seed.size == 1 else seed.broadcast_to(leaf.shape)


# --- products with Jacobians -----------------------------------------------------------------------------------------

def vjp(fn, *inputs, weights=None, has_aux=False):
    """``fn(*inputs)`` and a function that multiplies a vector with its Jacobian from the left.

    Examples:
        >>> import spore as ms
        >>> value, back = ms.vjp(lambda x: x * x, ms.Tensor([1.0, 2.0]))
        >>> print(back(ms.Tensor([1.0, 10.0]))[0])
        [ 2. 40.]
    """
    weight_list, one_weight = _weights_of(weights, "vjp")
    loss, aux, leaves, pull, kept = _reverse(fn, inputs, weight_list, has_aux, "vjp")

    def back(*seeds):
        seed_leaves = [_seed_like(s, leaf) for s, leaf in zip(_seed_leaves(seeds), leaves)]
        if len(seed_leaves) != len(leaves):
            raise TypeError(f"vjp: the function has {len(leaves)} outputs, but {len(seed_leaves)} vectors are given")
        by_position, weight_grads = pull(leaves, seed_leaves)
        grads = tuple(by_position[p] for p in range(len(inputs)))
        if weights is None:
            return grads
        return grads, (weight_grads[0] if one_weight else tuple(weight_grads))

    # Unlike in grad, the weights stay variables after the run: for as long as someone may call back.
    weakref.finalize(back, _unwatch, kept)
    return (loss, back, _one_or_all(aux)) if has_aux else (loss, back)


def _reverse(fn, inputs, weights, has_aux, name):
    """(what is differentiated, the rest, its Tensors, pull, weights that are watched until someone ends it), where pull(some of
    these Tensors, seeds) gives the gradients of inputs and weights."""
    positions = tuple(range(len(inputs)))

    def flat():
        with _Record(positions, weights, inputs) as record:
            value = call(fn, record.args)
            loss, aux = _split_aux(value, has_aux, name)
            leaves = _floating(_flatten(loss, []), "the function")
            kept = list(record._watched)
            for weight in kept:
                _core.grad_watch(weight)
        result = loss if record.outer else _map(_core.grad_detach, loss)
        return result, aux, leaves, lambda outputs, seeds: record.backward(outputs, seeds, _core.grad_recording()), kept
    return _with_gradients(flat, lambda g: g.pull_by_function(fn, inputs, weights, has_aux))


def _unwatch(weights):
    for weight in weights:
        _core.grad_unwatch(weight)


def _split_aux(value, has_aux, name):
    """(what is differentiated, tuple of the rest)"""
    if not has_aux:
        return value, ()
    if not isinstance(value, tuple) or len(value) < 2:
        raise ValueError(f"{name}: with has_aux=True the function must return a tuple of at least two values")
    return value[0], value[1:]


def _one_or_all(aux):
    """The other outputs as vjp, jvp, jacrev and jacfwd hand them on."""
    aux = _map(_core.grad_detach, aux)
    return aux[0] if len(aux) == 1 else aux


def _pair(fn, inputs, has_aux):
    """Run fn and make u -> (Jacobian^T u) as a recorded function of u: differentiating it once more gives J v."""
    positions = tuple(range(len(inputs)))
    record = _Record(positions, [], inputs)
    with record:
        value = call(fn, record.args)
        loss, aux = _split_aux(value, has_aux, "jvp")
        leaves = _floating(_flatten(loss, []), "the function")
        seeds = [_core.grad_variable(leaf * 0) if not _core.grad_tracked(leaf)
                 else _core.grad_variable(_core.grad_detach(leaf) * 0) for leaf in leaves]
        by_position, _ = record.backward(leaves, seeds, True)
    pulled = []
    for position in positions:
        _flatten(by_position[position], pulled)
    return value, loss, aux, leaves, seeds, pulled, record.outer


def _forward(fn, inputs, has_aux):
    """(what is differentiated, the rest, its Tensors, those of the inputs, push), where push(directions of the inputs) gives the
    directions of the outputs."""
    def flat():
        _, loss, aux, leaves, seeds, pulled, outer = _pair(fn, inputs, has_aux)
        loss = loss if outer else _map(_core.grad_detach, loss)
        return loss, aux, leaves, pulled, lambda vectors: _push(pulled, seeds, vectors, outer)
    return _with_gradients(flat, lambda g: g.push_by_function(fn, inputs, has_aux))


def _push(pulled, seeds, vectors, create):
    _core.grad_begin()
    try:
        return backward_pass(pulled, vectors, seeds, create)
    finally:
        _core.grad_end()


def jvp(fn, inputs, v, has_aux=False):
    """``fn(*inputs)`` and its derivative in the direction ``v`` (forward mode).

    Examples:
        >>> import spore as ms
        >>> value, direction = ms.jvp(lambda x: x ** 3, ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 1.0]))
        >>> print(direction)
        [ 3. 12.]
    """
    inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    vectors = _flatten(v, [])
    loss, aux, _, pulled, push = _forward(fn, inputs, has_aux)
    vectors = [_seed_like(vector, leaf) for vector, leaf in zip(vectors, pulled)]
    if len(vectors) != len(pulled):
        raise TypeError(f"jvp: there are {len(pulled)} inputs, but {len(vectors)} vectors")
    pushed = iter(push(vectors))
    direction = _map(lambda t: next(pushed) if _is_differentiable(t) else t, loss)
    return (loss, direction, _one_or_all(aux)) if has_aux else (loss, direction)


def jacrev(fn, grad_position=0, has_aux=False):
    """A function that returns the Jacobian of ``fn``, row by row in reverse mode: shape of the output, then of the input.

    Examples:
        >>> import spore as ms
        >>> print(ms.jacrev(lambda x: x * x)(ms.Tensor([1.0, 2.0])))
        [[2. 0.]
         [0. 4.]]
    """
    def run(*args):
        positions = _positions_of(grad_position, len(args), "jacrev")
        fixed = list(args)

        def of_positions(*chosen):
            for p, value in zip(positions, chosen):
                fixed[p] = value
            return call(fn, fixed)
        loss, aux, leaves, pull, _ = _reverse(of_positions, [args[p] for p in positions], [], has_aux, "jacrev")
        per_leaf = []
        for leaf in leaves:
            def pulled(seed, leaf=leaf):
                by_position = pull([leaf], [seed])[0]
                return [by_position[k] for k in range(len(positions))]
            rows = over_basis(pulled, leaf)
            per_leaf.append(tuple(row.reshape(leaf.shape + args[p].shape) for row, p in zip(rows, positions)))
        single = len(positions) == 1
        jacobians = iter([item[0] if single else item for item in per_leaf])
        result = _map(lambda t: next(jacobians), loss)
        return (result, _one_or_all(aux)) if has_aux else result
    return run


def jacfwd(fn, grad_position=0, has_aux=False):
    """The Jacobian of ``fn``, column by column in forward mode. Arguments and result are those of ``jacrev``.

    Examples:
        >>> import spore as ms
        >>> print(ms.jacfwd(lambda x: x * x)(ms.Tensor([1.0, 2.0])))
        [[2. 0.]
         [0. 4.]]
    """
    def run(*args):
        positions = _positions_of(grad_position, len(args), "jacfwd")
        fixed = list(args)

        def of_positions(*chosen):
            for p, value in zip(positions, chosen):
                fixed[p] = value
            return call(fn, fixed)

        loss, aux, leaves, pulled, push = _forward(of_positions, [args[p] for p in positions], has_aux)
        columns = []
        for k, leaf in enumerate(pulled):
            def pushed(vector, k=k):
                return list(push([vector if j == k else other * 0 for j, other in enumerate(pulled)]))
            columns.append(over_basis(pushed, leaf))
        per_leaf = []
        for row, leaf in enumerate(leaves):
            last = tuple(range(1, leaf.ndim + 1)) + (0,)
            per_leaf.append(tuple(columns[k][row].transpose(last).reshape(leaf.shape + args[p].shape)
                                  for k, p in enumerate(positions)))
        single = len(positions) == 1
        jacobians = iter([item[0] if single else item for item in per_leaf])
        result = _map(lambda t: next(jacobians), loss)
        return (result, _one_or_all(aux)) if has_aux else result
    return run


# --- stopping --------------------------------------------------------------------------------------------------------

def stop_gradient(value):
    """The same value, seen as a constant by every gradient computation.

    Examples:
        >>> import spore as ms
        >>> from spore import ops
        >>> print(ms.grad(lambda x: x * ops.stop_gradient(x))(ms.Tensor(3.0)))
        3.0
    """
    return _map(lambda t: _core.apply("stop_gradient", [t]) if _core.is_symbol(t) else _core.grad_detach(t), value)


_switched = threading.local()    # .off: how many no_grad blocks are open


def _refuse_without_grad():
    if getattr(_switched, "off", 0):
        raise RuntimeError("In no_grad context, you can not calculate gradient")


class unrecorded:
    """A context in which nothing is recorded, of the engine's own: gradients of functions that are called in it may be taken."""

    def __enter__(self):
        keeps("no_grad")
        self._depth = _core.grad_pause()
        return self

    def __exit__(self, *error):
        _core.grad_resume(self._depth)


class no_grad(unrecorded):
    """A context in which nothing is recorded; also a decorator.

    Examples:
        >>> import spore as ms
        >>> from spore.common.differentiate import no_grad
        >>> def f(x):
        ...     with no_grad():
        ...         y = x * 2
        ...     return x * y
        >>> print(ms.grad(f)(ms.Tensor(3.0)))
        6.0
    """

    def __enter__(self):
        _switched.off = getattr(_switched, "off", 0) + 1
        return super().__enter__()

    def __exit__(self, *error):
        _switched.off -= 1
        super().__exit__(*error)

    def __call__(self, fn):
        @functools.wraps(fn)
        def run(*args, **kwargs):
            with no_grad():
                return fn(*args, **kwargs)
        return run


_no_grad = no_grad  # MindSpore's name
