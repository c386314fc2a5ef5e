# SPDX-License-Identifier: Apache-2.0
"""Gradients inside captured programs.

As a rule the eager record works on symbols: forward and backward become one flat program. A function with run-time control flow
cannot be recorded that way; then it is captured as a function of its own, and a node of the graph differentiates it when
the program runs.
"""
import types

from spore import _core
from spore._core import Tensor
from spore.graph import state
from spore.graph.capture import ControlFlow
from spore.graph.errors import Unsupported
from spore.graph.joins import kind_of
from spore.graph.values import Closure, shape_of

__all__ = ["call", "attempt", "attach_at_run", "by_function", "hooked"]


def call(fn, args, kwargs=None):
    """``fn(*args, **kwargs)`` for library code that is handed functions: interpreted while something is captured."""
    capture = state.capture()
    if capture is None or capture.native:
        return fn(*args, **(kwargs or {}))
    return capture.executor.call(fn, tuple(args), kwargs or {})


def attempt(flat, by_function_):
    """``flat()``, or ``by_function_()`` when control flow or sizes of the run are met in it and nobody records around."""
    capture = state.capture()
    if capture is None or _core.grad_recording():
        return flat()
    recording = _core.function_recording()
    mark = _core.function_mark(recording)
    n_frames, n_activations = len(capture.frames), len(capture.activations)
    capture.heap.begin()
    try:
        result = flat()
    except (ControlFlow, _core.SymbolError):
        capture.heap.end()
        capture.heap.begin()
        del capture.frames[n_frames:]
        del capture.activations[n_activations:]
        _core.function_rollback(recording, mark)
        try:
            result = by_function_()
        except BaseException:
            capture.heap.end()
            raise
    except BaseException:
        capture.heap.end()
        raise
    capture.heap.keep()
    return result


def by_function(fn, args, kwargs, positions, weights, split, seeds=None):
    """Value and gradients of ``fn(*args)`` through a function of the graph.

    split(value) gives (what is differentiated, the rest). Returns (value, {position: gradient}, gradients of weights).
    """
    from spore.common.differentiate import _flatten, _is_differentiable, _map, _zeros
    capture = state.capture()
    n_journals = len(capture.heap.journals)
    leaves, where = [], {}
    for position in positions:
        found = [leaf for leaf in _flatten(args[position], []) if _is_differentiable(leaf)]
        where[position] = range(len(leaves), len(leaves) + len(found))
        leaves += found
    specs = [(leaf.dtype, shape_of(leaf)) for leaf in leaves]
    function, params = _core.function_begin(capture.graph, getattr(fn, "__name__", "differentiated"), specs)
    numbers = [_core.symbol_id(p) for p in params]
    capture.condition_depth += 1
    capture.differentiated += 1
    capture.heap.begin()
    try:
        inner = list(args)
        rest = iter(params)
        for position in positions:
            inner[position] = _map(lambda t: next(rest) if _is_differentiable(t) else t, args[position])
        value = call(fn, inner, kwargs)
        loss, _ = split(value)
        changed = capture.heap.end().values()
        written = [i for i, p in enumerate(params) if _core.symbol_id(p) != numbers[i]]
        left = value, tuple(new for _, new in changed), tuple(params[i] for i in written)
        n_floating, outputs = _outputs(left, loss)
        _core.function_end(function, outputs)
    except BaseException:
        if len(capture.heap.journals) > n_journals:
            capture.heap.end()
        _core.function_abandon(function)
        raise
    finally:
        capture.condition_depth -= 1
        capture.differentiated -= 1
    seeds = [] if seeds is None else seeds([_Like(o) for o in outputs[:n_floating]])
    given = list(_core.function_grad(function, leaves, list(range(len(leaves))), list(weights), n_floating, seeds))
    results = given[:len(outputs)]
    gradients = given[len(outputs):len(outputs) + len(leaves)]
    weight_gradients = [_after_hooks(w, g) for w, g in zip(weights, given[len(outputs) + len(leaves):])]
    by_position = {}
    for position in positions:
        found = iter([gradients[i] for i in where[position]])
        by_position[position] = _map(lambda t, found=found: next(found) if _is_differentiable(t) else _zeros(t), args[position])
    value, news, contents = _rebuilt(left, loss, outputs, results)
    for (place, _), new in zip(changed, news):
        capture.heap.write(place, new)
    for i, new in zip(written, contents):
        leaves[i].assign_value(new)
    return value, by_position, weight_gradients


def _after_hooks(weight, gradient):
    """The gradient of a Parameter as its hooks leave it."""
    for hook in (weight._hooks or {}).values():
        answer = call(hook, (gradient,))
        gradient = gradient if answer is None else answer
    return gradient


def attach_at_run(output, backward, args, weights):
    """``attach`` of differentiate.py inside a function that a node differentiates: done when the program runs, by Python."""
    from spore.common.differentiate import _flatten, _map
    from spore.common.own_gradient import attach
    from spore.graph.executor import concrete, run_time_kind
    if _made_inside(backward):
        raise Unsupported("a function made inside gives a gradient where the course is known at run time only")
    outputs = _flatten(output, [])
    kind = run_time_kind((tuple(args), output))
    leaves = kind.leaves((tuple(args), output)) + list(weights)

    def run(values):
        rest = iter(values)
        inputs, given = concrete(kind.rebuild(rest))
        return _flatten(attach(given, backward, inputs, tuple(rest), weights), [])
    fresh = iter(_core.function_host("gradient", run, leaves, [(t.dtype, shape_of(t)) for t in outputs], True))
    return _map(lambda _: next(fresh), output)


def _made_inside(function):
    """Whether a function holds one that exists only while capturing."""
    function = function.function if type(function).__name__ == "Interpreted" else function
    return isinstance(function, Closure) or isinstance(function, types.FunctionType) and any(
        _made_inside(cell.cell_contents) for cell in function.__closure__ or ())


def hooked(tensor, hook):
    """A Tensor whose gradient goes through ``hook``, where a node differentiates."""
    from spore.common.own_gradient import through_hook
    return through_hook(lambda gradients: call(hook, gradients), (tensor,))


def pull_by_function(fn, inputs, weights, has_aux):
    """Reverse mode through functions of the graph, for what asks for several products: see ``_reverse`` of differentiate.py."""
    from spore.common.differentiate import _differentiable, _split_aux, _zeros

    def split(value):
        return _split_aux(value, has_aux, "vjp")
    loss, aux = split(call(fn, inputs))
    leaves = _differentiable(loss)

    def pull(outputs, seeds):
        by_leaf = {id(o): seed for o, seed in zip(outputs, seeds)}
        all_seeds = [by_leaf[id(leaf)] if id(leaf) in by_leaf else _zeros(leaf) for leaf in leaves]
        _, by_position, for_weights = by_function(fn, inputs, {}, range(len(inputs)), weights, split, lambda likes: all_seeds)
        return by_position, for_weights
    return loss, aux, leaves, pull, ()


def push_by_function(fn, inputs, has_aux):
    """Forward mode through functions of the graph: what ``_pair`` of differentiate.py gives, and a function from directions of the
    inputs to directions of the outputs. J^T u is a function of u that is differentiated once more."""
    from spore.common.differentiate import _differentiable, _flatten, _split_aux, _zeros

    def split(value):
        return _split_aux(value, has_aux, "jvp")
    value = call(fn, inputs)
    loss, aux = split(value)
    leaves = _differentiable(loss)
    seeds = [_zeros(leaf) for leaf in leaves]
    positions = range(len(inputs))

    def pull(*given):
        _, by_position, _ = by_function(fn, inputs, {}, positions, [], split, lambda likes: list(given))
        return tuple(leaf for position in positions for leaf in _flatten(by_position[position], []))

    def push(vectors):
        _, by_position, _ = by_function(pull, seeds, {}, range(len(seeds)), [], lambda v: (v, ()), lambda likes: list(vectors))
        return [by_position[i] for i in range(len(seeds))]
    return loss, aux, leaves, _flatten(list(inputs), []), push


class _Like:
    """Dtype and shape of a result, which is not known outside its function."""

    def __init__(self, tensor):
        self.dtype, self.shape = tensor.dtype, shape_of(tensor)


def _outputs(value, loss):
    """(number of differentiated Tensors, all Tensors of the value with these first)"""
    from spore.common.differentiate import _differentiable
    first = _differentiable(loss)
    seen = {id(t) for t in first}
    others = [leaf for leaf in kind_of(value).leaves(value) if id(leaf) not in seen]
    return len(first), first + others


def _rebuilt(value, loss, outputs, results):
    """The value with its Tensors as seen outside the function."""
    seen = {id(o): r for o, r in zip(outputs, results)}

    def see(leaf):
        return seen.get(id(leaf), leaf)
    if isinstance(value, Tensor):
        return see(value)
    return replaced_all(value, see)


def replaced_all(value, see):
    """Also constant Tensors are results of the function."""
    if isinstance(value, Tensor):
        return see(value)
    if isinstance(value, tuple):
        items = [replaced_all(v, see) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [replaced_all(v, see) for v in value]
    if isinstance(value, dict):
        return {k: replaced_all(v, see) for k, v in value.items()}
    from spore.graph.flow import replaced
    return replaced(value, see)
