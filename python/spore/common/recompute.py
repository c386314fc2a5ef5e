# SPDX-License-Identifier: Apache-2.0
"""Computing again instead of keeping: memory against time.

The forward pass of a block runs without a record, so that nothing of it is kept but its inputs. When the gradient comes back, the
block runs again, now with a record, on the same inputs and with the same random numbers. Parameters without a gradient that it
writes to (moving means) are put back after the second run. In a compiled program the second run waits for the gradient and is
not taken for the first one: its inputs pass through the operator ``after``.
"""
import threading
import types

from spore._core import type_name as _type_name
from spore import _core
from spore._not_done import not_done
from spore.common import generator
from spore.common.differentiate import _flatten, _is_differentiable, _map, _Record, call, unrecorded
from spore.common.parameter import Parameter
from spore.common.saved_tensors import Kept
from spore.graph import state as _state

__all__ = ["recompute"]

_held = threading.local()


def recompute(block, *args, use_reentrant=True, output_recompute=False, early_stop=True, context_fn=None, **kwargs):
    """``block(*args, **kwargs)``, of which nothing but the inputs is kept for gradients: it is computed again when they are taken.

    Args:
        block: a Cell or function.
        args, kwargs: its arguments.
        use_reentrant, output_recompute, early_stop, context_fn: ways of MindSpore's to do so; there is one here.

    Returns:
        What the block returns.

    Raises:
        TypeError: block cannot be called.

    Examples:
        >>> import spore as ms
        >>> from spore import nn, ops
        >>> block = nn.SequentialCell(nn.Dense(4, 4), nn.ReLU(), nn.Dense(4, 4))
        >>> x = ops.ones((2, 4))
        >>> kept = ms.grad(lambda x: block(x).sum())(x)
        >>> print((ms.grad(lambda x: ms.recompute(block, x).sum())(x) == kept).all())
        True
    """
    if context_fn is not None:
        not_done("recompute: context_fn", "the block is computed in no context")
    if not callable(block):
        raise TypeError(f"For 'recompute', the argument 'block' must be a Cell or a function, but got {_type_name(block)}")
    return run(block, parameters_of(block), args, kwargs)


def run(block, parameters, args, kwargs):
    """Call the block so that it is computed again in the backward pass; ``parameters`` are all that it uses."""
    weights = [p for p in parameters if p.requires_grad and _core.grad_tracked(p)] if _core.grad_recording() else []
    names = list(kwargs)
    values = (*args, *kwargs.values())
    inputs = [t for t in _flatten(values, []) if not isinstance(t, Parameter)]
    if getattr(_held, "inside", False) or not _core.grad_recording() or not weights and not any(
            _core.grad_tracked(t) for t in inputs):
        return call(block, args, kwargs)
    taken = [t for t in inputs if _is_differentiable(t)]
    kept = Kept(taken) if _state.capture() is None and any(_core.grad_tracked(t) for t in taken) else None
    numbers = generator.Log()
    with unrecorded(), _inside(), numbers.keep():
        output = call(block, *_arguments(_map(_core.grad_detach, values), names))
    output = _map(_core.grad_detach, output)     # fresh handles: the block may return an input or a Parameter
    results = [t for t in _flatten(output, []) if _is_differentiable(t)]

    def backward(*gradients):
        still = [p for p in parameters if not p.requires_grad]
        before = [p.copy() for p in still]
        stored = taken if kept is None or _core.grad_recording() else kept.get()
        with _Record(range(len(taken)), weights, [_later(t, gradients[0]) for t in stored]) as record, _inside(), numbers.repeat():
            fresh = iter(record.args)
            again = _map(lambda t: next(fresh) if _is_differentiable(t) and not isinstance(t, Parameter) else t, values)
            made = [t for t in _flatten(call(block, *_arguments(again, names)), []) if _is_differentiable(t)]
            with _quiet_leaves():
                by_position, for_weights = record.backward(made, list(gradients))
        for parameter, value in zip(still, before):
            parameter.assign_value(value)
        return [by_position[i] for i in range(len(taken))] + list(for_weights)
    _core.grad_attach(taken + weights, results, backward)
    return output


def _arguments(values, names):
    n = len(values) - len(names)
    return values[:n], dict(zip(names, values[n:]))


def _later(tensor, token):
    """The Tensor, for a computation that must wait for the token; in eager mode it does so anyway. Only a gradient of the gradient
    needs its history; it may lead to the weights of the block, when they were used before."""
    if _state.capture() is None:
        return tensor if _core.grad_recording() else _core.grad_detach(tensor)
    return _core.apply("after", (tensor, token))


class _quiet_leaves:
    """A pass that is a part of another one: hooks of weights are called where its result arrives."""

    def __enter__(self):
        self.before = _core.grad_leaf_hooks(False)

    def __exit__(self, *error):
        _core.grad_leaf_hooks(self.before)


class _inside:
    """A block in which parts of a block that is computed again are not treated so a second time."""

    def __enter__(self):
        self.before, _held.inside = getattr(_held, "inside", False), True

    def __exit__(self, *error):
        _held.inside = self.before


def parameters_of(block):
    """The Parameters a Cell, a method of one, or a function uses: those of the Cells that it names."""
    from spore.nn import Cell
    if isinstance(block, Cell):
        return list(block.get_parameters())
    found, seen = [], set()

    def add(value):
        if isinstance(value, Cell):
            value = list(value.get_parameters())
        for one in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(one, Cell):
                add(one)
            elif isinstance(one, Parameter) and id(one) not in seen:
                seen.add(id(one))
                found.append(one)
            elif isinstance(one, (types.FunctionType, types.MethodType)) and id(one) not in seen:
                seen.add(id(one))
                search(one)

    def search(function):
        add(getattr(function, "__self__", None))
        add(list(getattr(function, "args", ())))                 # functools.partial
        function = getattr(function, "func", function)
        function = getattr(function, "__func__", getattr(function, "__spore_inner__", function))
        code = getattr(function, "__code__", None)
        if code is None:
            return
        for cell in function.__closure__ or ():
            try:
                add(cell.cell_contents)
            except ValueError:
                continue
        for name in code.co_names:
            add(function.__globals__.get(name))
    search(block)
    return found


def __getattr__(name):
    if name in ("_RecomputeCell", "_check_input_args_validate", "_padding_input_grads"):    # need nn, which is loaded on first use only
        from spore.common import recompute_cell
        return getattr(recompute_cell, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
