# SPDX-License-Identifier: Apache-2.0
"""Backward passes: what is called when one ends, and gradients that Tensors gather themselves.

``run_backward`` is the way of gradients that MindSpore's tests and packages build ``Tensor.backward`` from: Tensors with
``_requires_grad`` are leaves, operators on them are recorded for as long as one of them lives (while ``set_grad_flag`` is on), and a pass
adds what reaches a leaf to its ``_grad``.
"""
import threading
import weakref

from spore import _core
from spore._core import Tensor, type_name as _type_name

__all__ = ["backward_pass", "queue_final_callback", "run_backward", "GradNode"]


# --- one pass, and what is called at its end -------------------------------------------------------------------------

_thread = threading.local()


class _Pass:
    """While a pass runs: what is to be called when it has ended. Passes nest, each ends with its own."""

    def __enter__(self):
        self.outer = getattr(_thread, "queued", None)
        self.queued = _thread.queued = []
        return self

    def __exit__(self, *error):
        _thread.queued = self.outer


def backward_pass(outputs, seeds, targets, create_graph, reached=False):
    """``_core.grad_backward``; then what was queued while it ran."""
    with _Pass() as under_way:
        gradients = _core.grad_backward(outputs, seeds, targets, create_graph, reached)
    for callback in under_way.queued:
        callback()
    return gradients


def queue_final_callback(callback):
    """Call a function when the backward pass that is under way has ended."""
    queued = getattr(_thread, "queued", None)
    if queued is None:
        raise RuntimeError("Final backward callback can only be installed during backward pass: call this in a hook or in the "
                           "backward function of an operator.")
    queued.append(callback)


# --- leaves ----------------------------------------------------------------------------------------------------------

class _Leaves:
    """The Tensors that gather gradients. Operators are recorded from the first of them to the last."""

    def __init__(self):
        self.enabled = False
        self._recording = False
        self._held = {}          # by id: a weak reference

    def add(self, tensor):
        if id(tensor) not in self._held:
            self._held[id(tensor)] = weakref.ref(tensor, lambda _, key=id(tensor): self._forget(key))
        self.follow()

    def remove(self, tensor):
        self._forget(id(tensor))

    def _forget(self, key):
        self._held.pop(key, None)
        self.follow()

    def follow(self):
        """Begin or end recording."""
        wanted = self.enabled and bool(self._held)
        if wanted != self._recording:
            self._recording = wanted
            (_core.grad_begin if wanted else _core.grad_end)()

    def __iter__(self):
        return iter([t for t in (ref() for ref in list(self._held.values())) if t is not None])


leaves = _Leaves()


def enable(flag):
    """Whether leaves are recorded; ``_pynative_executor.set_grad_flag``."""
    leaves.enabled = bool(flag)
    leaves.follow()


def _is_parameter(tensor):
    return getattr(tensor, "__parameter__", False)


def _get_requires_grad(self):
    if _is_parameter(self):
        return self.requires_grad
    return bool(self.__dict__.get("_leaf")) or self._tracked


def _set_requires_grad(self, value):
    if not isinstance(value, bool):
        raise TypeError(f"The argument `requires_grad` must be bool type, but got {_type_name(value)}")
    if _is_parameter(self):
        self.requires_grad = value
    elif not self._is_leaf:
        if not value:
            raise RuntimeError("You can only set requires_grad false to a leaf tensor! You can use tensor.detach() to set output tensor "
                               "to calculate grad.")
    elif value and not self.__dict__.get("_leaf"):
        self._leaf = True
        if leaves.enabled:
            _core.grad_watch(self)
            for hook in (self._hooks or {}).values():
                _core.grad_hook_add(self, hook)
            leaves.add(self)
    elif not value and self.__dict__.get("_leaf"):
        self._leaf = False
        _core.grad_unwatch(self)
        leaves.remove(self)


def _is_leaf(self):
    return not self._tracked or not _core.grad_node(self)[3] and not _core.grad_node(self)[2]


def _get_grad(self):
    return self.__dict__.get("_gathered")


def _set_grad(self, value):
    if value is not None and (value.dtype != self.dtype or value.shape != self.shape):
        raise RuntimeError(f"The grad dtype and shape should be same as source tensor but got dtype: {value.dtype} vs {self.dtype} "
                           f"shape: {value.shape} vs {self.shape}")
    self._gathered = value


def _retain_grad(self):
    """Keep the gradient of a result, too, in ``_grad``."""
    if not self._tracked:
        raise RuntimeError("_retain_grad: the Tensor takes no part in a gradient computation; set its requires_grad to True first.")
    if not self._is_leaf:
        self._retained = True
        leaves.add(self)


def _requires_grad_(self, requires_grad=True):
    """Set whether gradients of this Tensor are gathered; answers the Tensor.

    Examples:
        >>> from spore import Tensor
        >>> Tensor([1.0]).requires_grad_()._requires_grad
        True
    """
    self._requires_grad = requires_grad
    return self


Tensor._requires_grad = property(_get_requires_grad, _set_requires_grad)
Tensor._is_leaf = property(_is_leaf)
Tensor._grad = property(_get_grad, _set_grad)
Tensor._retains_grad = property(lambda self: bool(self.__dict__.get("_retained")))
Tensor._retain_grad = _retain_grad
Tensor._grad_node = property(lambda self: GradNode(self) if self._tracked else None)
Tensor._output_index = property(lambda self: _core.grad_node(self)[1] if self._tracked else 0)
Tensor._version = property(lambda self: _core.grad_contents(self)[1])
Tensor.requires_grad_ = _requires_grad_


class GradNode:
    """What made a Tensor, in the record that a backward pass walks."""

    def __init__(self, handle):
        self._handle = handle

    def __repr__(self):
        return f"<{self.name()}>"

    def name(self):
        """The operator's name; of a leaf, that it is one."""
        own = self._handle.__dict__.get("_made_by")
        return own or _core.grad_node(self._handle)[2] or "leaf"

    @property
    def is_leaf(self):
        """Whether it is no operator's result."""
        return self._handle._is_leaf

    @property
    def next_functions(self):
        """What made the operator's inputs: (node, which of its results), or None for constants."""
        return tuple(None if h is None else (GradNode(_owner(h)), h._output_index) for h in _core.grad_node(self._handle)[3])

    def register_prehook(self, hook):
        """Call ``hook(gradients of the results)`` before the operator's own gradient; a tuple that it returns takes their place."""
        name = getattr(hook, "__name__", "hook")

        def run(gradient):
            answer = hook((gradient,))
            if answer is None:
                return None
            if not isinstance(answer, tuple):
                raise RuntimeError(f"hook {name} should return a tuple of grad.")
            if len(answer) != 1:
                raise RuntimeError(f"hook {name} returned incorrect length {len(answer)}, expected 1.")
            return answer[0]
        return _Handle(self._handle, _core.grad_hook_add(self._handle, run))

    def register_hook(self, hook):
        """Call ``hook(gradients of the inputs, gradients of the results)`` after the node; for leaves, when their gradient was added."""
        if not self.is_leaf:
            raise RuntimeError("register_hook: functions after an operator's gradient are called for leaves only; put a hook on the "
                               "operator's inputs (Tensor.register_hook) instead.")
        hooks = _owner(self._handle).__dict__.setdefault("_after_gathering", {})
        key = object()
        hooks[key] = hook
        return _Handle(hooks, key)


class _Handle:
    """Answered where a hook is registered; remove() takes it away."""

    def __init__(self, place, key):
        self._place, self._key = place, key

    def remove(self):
        """Take the hook away."""
        if isinstance(self._place, dict):
            self._place.pop(self._key, None)
        else:
            _core.grad_hook_remove(self._place, self._key)


def _owner(handle):
    """The Tensor of which a handle shows the node: the leaf itself, where it is one."""
    number = _core.grad_node(handle)[0]
    for leaf in leaves:
        if leaf._tracked and _core.grad_node(leaf)[0] == number:
            return leaf
    return handle


# --- the pass --------------------------------------------------------------------------------------------------------

def run_backward(tensors, grad_tensors=None, keep_graph=False, create_graph=False, inputs=None, allow_unreachable=True, *,
                 accumulate_grad=True):
    """Walk the record of these Tensors backwards.

    Args:
        tensors: tuple of Tensors to start from.
        grad_tensors: tuple of their gradients; None for ones.
        keep_graph: whether another pass may follow; by default only with create_graph.
        create_graph: record the pass itself, for gradients of gradients.
        inputs: tuple of Tensors whose gradients are wanted; None for all leaves.
        allow_unreachable: whether an input may have no part in the results; its gradient is None then.
        accumulate_grad: add the gradients to ``_grad`` and return None, or return them.
    """
    if grad_tensors is not None and not isinstance(grad_tensors, tuple):
        raise RuntimeError(f"grad_tensors should be tuple or none! but got {grad_tensors}")
    for tensor in tensors:
        if not tensor._tracked:
            raise RuntimeError("The output tensor you provided doesn't requires grad and not have a grad_fn. Please check the output "
                               "tensor!")
    wanted = [t for t in (leaves if inputs is None else inputs)]
    targets = [t for t in wanted if t._tracked]
    gradients = backward_pass(list(tensors), None if grad_tensors is None else list(grad_tensors), targets, create_graph, True)
    if not (create_graph if keep_graph is None else keep_graph):
        _core.grad_spend(list(tensors))
    by_target = {id(t): g for t, g in zip(targets, gradients)}
    found = tuple(by_target.get(id(t)) for t in wanted)
    if not allow_unreachable and any(g is None for g in found):
        raise RuntimeError("One of the input Tensor's grad is None. Set allow_unused=True if this behavior meets expectations.")
    if not accumulate_grad:
        return found
    for tensor, gradient in zip(wanted, found):
        if gradient is not None:
            _gather(tensor, gradient, create_graph)
    return None


def _gather(tensor, gradient, create_graph):
    before = tensor.__dict__.get("_gathered")
    if not create_graph:
        gradient = _core.grad_detach(gradient)
    tensor._gathered = gradient if before is None else before + gradient
    for hook in list(tensor.__dict__.get("_after_gathering", {}).values()):
        hook((), (gradient,))
