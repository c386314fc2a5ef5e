# SPDX-License-Identifier: Apache-2.0
"""_Function: an operator of one's own, forward and backward written in Python."""
from spore import _core
from spore._core import Tensor
from spore.common.differentiate import with_gradient

__all__ = ['_Function']


class _Function:
    """Base of operators with a gradient of their own: a subclass has the static methods ``forward(ctx, *inputs)`` and
    ``backward(ctx, *gradients)``, which gives one gradient (or None) for each input; ``apply`` runs it.

    Examples:
        >>> import spore as ms
        >>> from spore.common._grad_function import _Function
        >>> class Clipped(_Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, gradient):
        ...         x, = ctx.saved_tensors
        ...         return (gradient * 2 * x).clamp(-1, 1)
        ...
        >>> print(ms.grad(Clipped.apply)(ms.Tensor([0.25, 3.0])))
        [0.5 1. ]
    """

    def __init__(self):
        self._saved, self._unpack = (), None
        self.needs_input_grad = ()
        self.non_differentiable = ()
        self.materialize_grads = True

    def save_for_backward(self, *tensors):
        """Keep Tensors for the way back, in ``saved_tensors``."""
        pair = _core.grad_set_saver(None)
        _core.grad_set_saver(pair)
        if pair is not None and any(self.needs_input_grad):     # hooks of saved tensors count here, too
            self._unpack, tensors = pair[1], tuple(pair[0](t) if isinstance(t, Tensor) else t for t in tensors)
        self._saved = tensors

    @property
    def saved_tensors(self):
        """What save_for_backward has kept."""
        return self._saved if self._unpack is None else tuple(self._unpack(t) for t in self._saved)

    def mark_non_differentiable(self, *tensors):
        """Note that results have no gradient."""
        self.non_differentiable = tensors

    def mark_dirty(self, *tensors):
        """Note that inputs were changed in place; the engine sees that by itself."""

    def set_materialize_grads(self, value):
        """Whether gradients of nothing but zeros, as results that nobody used have, come as such, or as None."""
        self.materialize_grads = value

    @staticmethod
    def forward(ctx, *args, **kwargs):
        """The results of the inputs; written by a subclass."""
        raise NotImplementedError("a _Function needs a forward method")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """The gradients of the inputs for those of the results; written by a subclass."""
        raise NotImplementedError("a _Function needs a backward method to be differentiated")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Run it on the inputs."""
        ctx = cls()
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and _core.grad_tracked(a) for a in args)

        def forward(*inputs):
            return cls.forward(ctx, *inputs, **kwargs)

        def backward(inputs, output, doutput):
            given = doutput if isinstance(doutput, tuple) else (doutput,)
            if not ctx.materialize_grads:
                given = tuple(None if isinstance(g, Tensor) and not g.any() else g for g in given)
            return cls._checked(cls.backward(ctx, *given), inputs)

        result = with_gradient(forward, backward, args)
        for tensor in ctx.non_differentiable:
            result = _constant(result, tensor)
        return result

    @classmethod
    def _checked(cls, grads, inputs):
        """One gradient for each input, or None, in its shape."""
        grads = grads if isinstance(grads, tuple) else (grads,)
        if len(grads) != len(inputs):
            raise RuntimeError(f"Function backward return a wrong number of gradients, expect: {len(inputs)}, but got: {len(grads)} "
                               f"({cls.__name__}).")
        for value, gradient in zip(inputs, grads):
            if gradient is not None and not isinstance(gradient, Tensor):
                raise RuntimeError(f"Gradient should be none or tensor, but {cls.__name__}.backward gave a {type(gradient).__name__}.")
            if gradient is not None and not isinstance(value, Tensor):
                raise RuntimeError(f"Input is not tensor, but gradient is not none: {cls.__name__}.backward must give None for it.")
        return tuple(g if g is None else _fitted(g, value) for g, value in zip(grads, inputs))


def _fitted(gradient, value):
    """The gradient summed over dimensions that the value was broadcast along."""
    if gradient.shape == value.shape:
        return gradient
    extra = gradient.ndim - value.ndim
    if extra > 0:
        gradient = gradient.sum(tuple(range(extra)))
    along = tuple(i for i, n in enumerate(value.shape) if n == 1 and gradient.shape[i] != 1) if gradient.ndim == value.ndim else ()
    return gradient.sum(along, keepdims=True) if along else gradient


def _constant(result, tensor):
    """The results, of which the one with these contents has no gradient."""
    if isinstance(result, Tensor):
        return _core.grad_detach(result) if result.data_ptr() == tensor.data_ptr() and result.shape == tensor.shape else result
    return type(result)(_constant(r, tensor) for r in result) if isinstance(result, (tuple, list)) else result
