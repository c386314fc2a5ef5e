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
        self.saved_tensors = ()
        self.needs_input_grad = ()
        self.non_differentiable = ()
        self.materialize_grads = True

    def save_for_backward(self, *tensors):
        """Keep Tensors for the way back, in ``saved_tensors``."""
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors):
        """Note that results have no gradient."""
        self.non_differentiable = tensors

    def mark_dirty(self, *tensors):
        """Note that inputs were changed in place; the engine sees that by itself."""

    def set_materialize_grads(self, value):
        """Whether a result that nobody used has a gradient of zeros; it always has here."""
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
            grads = cls.backward(ctx, *(doutput if isinstance(doutput, tuple) else (doutput,)))
            grads = grads if isinstance(grads, tuple) else (grads,)
            if len(grads) != len(inputs):
                raise ValueError(f"{cls.__name__}.backward must give one gradient for each of {len(inputs)} inputs, but gave "
                                 f"{len(grads)}")
            return grads

        return with_gradient(forward, backward, args)
