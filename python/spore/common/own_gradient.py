# SPDX-License-Identifier: Apache-2.0
"""Gradients of one's own: what ``Cell.bprop``, hooks and operators that users write have in common."""
from spore import _core
from spore._core import Tensor
from spore.common.differentiate import _flatten, _map, call, unrecorded
from spore.common.saved_tensors import Kept
from spore.common.vectorize import keeps
from spore.graph import state as _state

__all__ = ["with_gradient", "attach", "through_hook", "fitted"]


def with_gradient(forward, backward, args, weights=(), used=None):
    """``forward(*args)`` with a gradient of one's own: ``backward(inputs, output, doutput)`` gives one value per input.

    This carries ``Cell.bprop``, hooks and user-defined operators. The forward function sees its inputs as constants. For
    ``weights`` a second value, a dict by weight, holds the gradients. ``used``: which of the inputs and, after them, the output it looks
    at; the others are None for it.
    """
    inputs = _flatten(args, []) + list(weights)
    if not _core.grad_recording():
        capture = _state.capture()
        if capture is None or not capture.differentiated:
            return forward(*args)
        from spore.graph.gradients import attach_at_run
        return attach_at_run(forward(*args), _seeing(used, backward), args, weights)
    keeps("a gradient of one's own")
    if not any(_core.grad_tracked(t) for t in inputs):
        return forward(*args)
    with unrecorded():
        output = forward(*_map(_core.grad_detach, args))
    if used is not None and _state.capture() is None:
        return _attach_used(output, backward, args, weights, used)
    return attach(output, _seeing(used, backward), args, weights)


def _seeing(used, backward):
    """`backward` with None in place of what it does not look at."""
    if used is None:
        return backward

    def run(inputs, output, doutput):
        seen = [v if i in used else None for i, v in enumerate((*inputs, output))]
        return backward(tuple(seen[:-1]), seen[-1], doutput)
    return run


def _attach_used(output, backward, args, weights, used):
    """attach, which keeps what is used alone, through the hooks of saved tensors."""
    places = [i for i in range(len(args) + 1) if i in used]
    values = (*args, _map(_core.grad_detach, output))
    leaves = [_flatten(values[i], []) for i in places]
    kept = Kept([t for part in leaves for t in part])

    def run(inputs, out, doutput):
        if _core.grad_recording():                    # a gradient of the gradient: the values themselves
            return _seeing(used, backward)(inputs, out, doutput)
        rest = iter(kept.get())
        seen = [_map(lambda _: next(rest), v) if i in used else None for i, v in enumerate(values)]
        return backward(tuple(seen[:-1]), seen[-1], doutput)
    return attach(output, run, args, weights)


def attach(output, backward, args, weights=(), keys=None):
    """The output as a function of args whose gradient ``backward`` gives, see with_gradient. ``keys``: the weights as ``backward``
    knows them."""
    inputs = _flatten(args, []) + list(weights)
    held = _map(_core.grad_detach, output)       # without history, which would hold itself

    def run(*dout):
        rest = iter(dout)
        structured = _map(lambda t: next(rest) if _core.grad_possible(t) else t, held)
        grads = backward(args, attached() if _core.grad_recording() else _map(_core.grad_detach, held), structured)
        if weights and isinstance(grads, tuple) and len(grads) == 2 and isinstance(grads[1], dict):
            grads = _align(args, grads[0]) + [grads[1].get(w) for w in keys or weights]
        else:
            grads = _align(args, grads) + [None] * len(weights)
        return [g if g is None else fitted(g, value) for g, value in zip(grads, inputs)]

    def attached():
        """Fresh handles: forward may return an input or a Parameter, and a gradient of the gradient depends on the output again."""
        fresh = _map(_core.grad_detach, held)
        _core.grad_attach(inputs, [t for t in _flatten(fresh, []) if _core.grad_possible(t)], run)
        return fresh
    return attached()


def _align(args, grads):
    """One gradient (or None) per tensor in args, from what a bprop returned."""
    if isinstance(grads, Tensor) or grads is None:
        grads = (grads,)
    aligned = []

    def walk(value, gradient):
        if isinstance(value, Tensor):
            if isinstance(gradient, (int, float)) and not isinstance(gradient, bool):
                gradient = Tensor(gradient, dtype=value.dtype).broadcast_to(value.shape)
            aligned.append(gradient if isinstance(gradient, Tensor) and _core.grad_possible(value) else None)
        elif isinstance(value, (tuple, list)):
            for i, item in enumerate(value):
                walk(item, gradient[i] if isinstance(gradient, (tuple, list)) and i < len(gradient) else None)

    n_given, n_wanted = len(grads), len(args)
    tensors_only = [a for a in args if isinstance(a, (Tensor, tuple, list))]
    if n_given < n_wanted and n_given != len(tensors_only):
        raise RuntimeError("The output size of the 'bprop' must match the number of parameters in its corresponding primal "
                           f"function: one gradient per input is wanted, {n_given} vs. {n_wanted}.")
    chosen = args if n_given >= n_wanted else tensors_only
    for value, gradient in zip(chosen, grads):
        walk(value, gradient)
    return aligned


def fitted(gradient, value):
    """The gradient summed over dimensions that the value was broadcast along."""
    if gradient.shape == value.shape:
        return gradient
    given, extra = gradient.shape, gradient.ndim - value.ndim
    if extra > 0:
        gradient = gradient.sum(tuple(range(extra)))
    along = tuple(i for i, n in enumerate(value.shape) if n == 1 and gradient.shape[i] != 1) if gradient.ndim == value.ndim else ()
    gradient = gradient.sum(along, keepdims=True) if along else gradient
    if gradient.shape != value.shape:
        raise RuntimeError("For grad interface or custom function, grad tensor should be broadcast to expected shape, but got "
                           f"{given} vs {value.shape}")
    return gradient


def through_hook(hook_fn, inputs):
    """The inputs unchanged; on the way back ``hook_fn`` gets the tuple of their gradients and may return other ones.

    This carries ``ops.HookBackward`` and the backward hooks of Cells.
    """
    def backward(args, output, dout):
        gradients = dout if isinstance(dout, tuple) else (dout,)
        answer = call(hook_fn, (gradients,))
        if answer is None:
            return gradients
        return answer if isinstance(answer, tuple) else (answer,)
    if len(inputs) == 1:
        return with_gradient(lambda x: x, backward, inputs)
    return with_gradient(lambda *xs: xs, backward, inputs)
