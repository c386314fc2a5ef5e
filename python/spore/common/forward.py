# SPDX-License-Identifier: Apache-2.0
"""Forward passes that gradients take up.

Training steps of one's own are written as two calls: ``loss = network(x)``, then ``grads = grad_operation(network, weights)(x)``. A
network on which ``set_grad`` was called keeps the record of its last call, and a gradient of the same call with the same
contents goes backward from there. So the network runs once: moving means advance once, the mask of a dropout is the one that the loss
has seen. One record is kept at a time, and used once.
"""
import threading

from spore import _core
from spore._core import Tensor
from spore.common.differentiate import _Record, _differentiable, _flatten, _map, _varies, _with_gradients
from spore.graph import state as _state

__all__ = ["run", "take"]

_last = threading.local()


def _place():
    """Where the last forward pass is kept: with what is being captured, or with the thread."""
    capture = _state.capture()
    return _last if capture is None else capture


class _Forward:
    """A call of a Cell, its record, and marks of what it has read."""

    def __init__(self, cell, args, record, leaves):
        self.cell, self.args, self.record, self.leaves = cell, args, record, leaves
        self.weights = list(record._watched)
        for weight in self.weights:
            _core.grad_watch(weight)             # the record ends with the call, the histories must not
        self.training = cell.training
        self.marks = self._marks()

    def _marks(self):
        return [_core.grad_contents(t) for t in (*self.leaves, *self.weights, *_flatten(self.args, []))]

    def serves(self, cell, args, positions, weights):
        """Whether a gradient of this call with respect to these arguments and weights can start here."""
        if cell is not self.cell or cell.training != self.training or len(args) != len(self.args):
            return False
        if not all(_is_same(a, b) for a, b in zip(args, self.args)):
            return False
        known = {id(w) for w in self.weights}
        if not self.record.variables.keys() >= set(positions) or any(id(w) not in known and w.requires_grad for w in weights):
            return False
        return self.marks == self._marks()

    def backward(self, seeds, positions, weights):
        """Gradients of the arguments at the positions and of the weights; the histories may go then."""
        try:
            return self.record.backward(self.leaves, seeds and seeds(self.leaves), positions=positions, weights=weights)
        finally:
            self.drop()

    def drop(self):
        for weight in self.weights:
            _core.grad_unwatch(weight)
        self.weights = []


def _is_same(one, other):
    """The same object, or two names of one value of a program."""
    if one is other:
        return True
    return (isinstance(one, Tensor) and isinstance(other, Tensor) and _core.is_symbol(one) and _core.is_symbol(other)
            and _core.grad_contents(one) == _core.grad_contents(other))


def _keep(forward):
    place = _place()
    before = getattr(place, "forward", None)
    if before is not None:
        before.drop()
    place.forward = forward


def run(cell, args, call):
    """``call(*args)``, kept for a gradient to come."""
    def recorded():
        positions = [i for i, a in enumerate(args) if isinstance(a, Tensor) and _varies(a)]
        with _Record(positions, cell.trainable_params(), args) as record:
            value = call(*record.args)
            leaves = _differentiable(value)
            if leaves:
                _keep(_Forward(cell, args, record, leaves))
        return _map(_without_history, value)
    _keep(None)
    return _with_gradients(recorded, lambda gradients: call(*args))


def _without_history(tensor):
    return tensor if getattr(tensor, "__parameter__", False) else _core.grad_detach(tensor)


def take(cell, args, positions, weights):
    """The last forward pass when it was this call, else None; it is no longer kept then."""
    forward = getattr(_place(), "forward", None)
    if forward is None or _core.grad_recording() or not forward.serves(cell, args, positions, weights):
        return None
    _place().forward = None
    return forward
