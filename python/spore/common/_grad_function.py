# SPDX-License-Identifier: Apache-2.0
"""_Function: an operator of one's own, forward and backward written in Python."""
from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore.common.differentiate import _flatten, _map
from spore.common.own_gradient import fitted, with_gradient
from spore.common.saved_tensors import Kept

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
        self._saved = ()
        self.needs_input_grad = ()
        self.non_differentiable = ()
        self._dirty = ()
        self.materialize_grads = True

    def save_for_backward(self, *tensors):
        """Keep Tensors for the way back, in ``saved_tensors``."""
        self._saved = Kept(tensors) if any(self.needs_input_grad) else tensors

    @property
    def saved_tensors(self):
        """What save_for_backward has kept."""
        return self._saved.get() if isinstance(self._saved, Kept) else self._saved

    def mark_non_differentiable(self, *tensors):
        """Note that results have no gradient."""
        self.non_differentiable = _all_tensors(tensors, "non_differentiable")

    def mark_dirty(self, *tensors):
        """Note that inputs were changed in place; all of them must be among the results."""
        self._dirty = _all_tensors(tensors, "dirty_tensors")

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
            result = cls.forward(ctx, *inputs, **kwargs)
            if ctx._dirty and any(ctx.needs_input_grad):
                _check_dirty(ctx._dirty, result, inputs, args)
            return _map(lambda t: t._alias() if t.__dict__.get("_leaf") or any(t is i for i in inputs) else t, result)

        def backward(inputs, output, doutput):
            given = doutput if isinstance(doutput, tuple) else (doutput,)
            if not ctx.materialize_grads:
                given = tuple(None if isinstance(g, Tensor) and not g.any() else g for g in given)
            return cls._checked(cls.backward(ctx, *given), inputs)

        result = with_gradient(forward, backward, args)
        _map(lambda t: setattr(t, "_made_by", cls.__name__), result)
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
                raise RuntimeError(f"Gradient should be none or tensor, but {cls.__name__}.backward gave a {_type_name(gradient)}.")
            if gradient is not None and not isinstance(value, Tensor):
                raise RuntimeError(f"Input is not tensor, but gradient is not none: {cls.__name__}.backward must give None for it.")
        return tuple(g if g is None else fitted(g, value) for g, value in zip(grads, inputs))


def _constant(result, tensor):
    """The results, of which the one with these contents has no gradient."""
    if isinstance(result, Tensor):
        return _core.grad_detach(result) if result.data_ptr() == tensor.data_ptr() and result.shape == tensor.shape else result
    return type(result)(_constant(r, tensor) for r in result) if isinstance(result, (tuple, list)) else result


def _all_tensors(tensors, what):
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise RuntimeError(f"element of {what} should be a tensor, but got {_type_name(tensor)}")
    return tensors


def _check_dirty(dirty, result, inputs, args):
    """Inputs that were changed in place must be results, and none that a gradient is asked of; `args` are the inputs with history."""
    results = _flatten(result, [])
    for tensor in dirty:
        if not any(tensor is r for r in results):
            raise RuntimeError("The dirty tensors must all be outputs of the forward function.")
        for value, arg in zip(inputs, args):
            if value is not tensor or not isinstance(arg, Tensor):
                continue
            if arg._tracked and arg._is_leaf:
                raise RuntimeError("A leaf tensor that need grad is being used in an inplace operator.")
            if arg._base() is not arg and len(results) > 1:
                raise RuntimeError("A view is one of output for multi output operator, it can not be changed in place.")
