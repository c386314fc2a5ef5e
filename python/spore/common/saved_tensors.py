# SPDX-License-Identifier: Apache-2.0
"""Hooks of saved tensors: what operators keep for their gradients passes through functions of the user, on its way in and out."""
import functools
import threading

from spore._core import type_name as _type_name
from spore import _core
from spore.graph import state as _state

__all__ = ['saved_tensors_hooks', 'register_saved_tensors_hooks']

_here = threading.local()       # .depth: hooks in use, .refused: messages of those who do not allow any


def _state_of(name, initial):
    if not hasattr(_here, name):
        setattr(_here, name, initial)
    return getattr(_here, name)


class Kept:
    """Tensors that something in Python keeps for a gradient: through the hooks that are in use when it does."""

    def __init__(self, tensors):
        pair = _core.grad_set_saver(None)
        _core.grad_set_saver(pair)
        self._unpack, self._held = None, tuple(tensors)
        if pair is not None:
            depth = _core.grad_pause()
            try:
                self._held = tuple(pair[0](t) if isinstance(t, _core.Tensor) else t for t in self._held)
            finally:
                _core.grad_resume(depth)
            self._unpack = pair[1]

    def get(self):
        """The Tensors again."""
        return self._held if self._unpack is None else tuple(self._unpack(t) for t in self._held)


class saved_tensors_hooks:
    """Inside, every Tensor that an operator keeps for its gradient goes through pack_hook, whose answer is kept in its place; when the
    gradient is taken, unpack_hook makes a Tensor of the same shape and dtype of that again. Of nested ones the innermost counts.
    Numbers and other constants of rank 0 are kept as they are. For eager mode.

    Args:
        pack_hook: a function of a Tensor, which it must not change.
        unpack_hook: a function of what pack_hook gave.

    Examples:
        >>> import spore as ms
        >>> def square(x):
        ...     with ms.saved_tensors_hooks(lambda t: t.asnumpy(), ms.Tensor):
        ...         return x * x
        ...
        >>> print(ms.grad(square)(ms.Tensor([3.0])))
        [6.]
    """

    def __init__(self, pack_hook, unpack_hook):
        for hook in (pack_hook, unpack_hook):
            if not callable(hook):
                raise TypeError(f"For 'saved_tensors_hooks', the hooks must be functions, but got {_type_name(hook)}.")
        self._pair = (pack_hook, unpack_hook)
        self._before = []
        self.pre_disable_async = False

    def __enter__(self):
        refused = _state_of('refused', [])
        if refused:
            raise RuntimeError(refused[-1])
        if _state.capture() is not None:
            raise RuntimeError("saved_tensors_hooks serves eager mode: a compiled function plans what it keeps by itself. Call the "
                               "function without jit, or leave the hooks out")
        depth = _state_of('depth', 0)
        self.pre_disable_async = depth > 0
        self._before.append(_core.grad_set_saver(self._pair))
        _here.depth = depth + 1
        return self

    def __exit__(self, *error):
        _core.grad_set_saver(self._before.pop())
        _here.depth -= 1


def register_saved_tensors_hooks(pack_hook, unpack_hook):
    """A decorator: the function runs inside saved_tensors_hooks.

    Args:
        pack_hook, unpack_hook: see saved_tensors_hooks.

    Examples:
        >>> import spore as ms
        >>> @ms.register_saved_tensors_hooks(lambda t: t + 1, lambda t: t)
        ... def square(x):
        ...     return x * x
        ...
        >>> print(ms.grad(square)(ms.Tensor([3.0])))
        [8.]
    """
    def decorate(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            with saved_tensors_hooks(pack_hook, unpack_hook):
                return function(*args, **kwargs)
        return run
    return decorate


class _disable_saved_tensors_hooks:
    """Inside, saved_tensors_hooks is refused with a message. Hooks that are in use already are an error, too, or left out."""

    def __init__(self, error_msg, *, is_error_on_outer_hook=True):
        self._message, self._strict, self._before = error_msg, is_error_on_outer_hook, None

    def __enter__(self):
        if self._strict and _state_of('depth', 0):
            raise RuntimeError(self._message)
        _state_of('refused', []).append(self._message)
        self._before = _core.grad_set_saver(None)
        return self

    def __exit__(self, *error):
        _core.grad_set_saver(self._before)
        _here.refused.pop()
