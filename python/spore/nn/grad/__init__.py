# SPDX-License-Identifier: Apache-2.0
"""Products with Jacobians as Cells; ``ops.jvp`` and ``ops.vjp`` are the functions."""
from spore.common.differentiate import jvp, vjp
from spore.nn.cell import Cell

__all__ = ["Jvp", "Vjp"]


class Jvp(Cell):
    """The result of a function and its derivative in a direction, the last input.

    Args:
        fn: Cell or function.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> value, direction = nn.Jvp(nn.ReLU())(ms.Tensor([1.0, -1.0]), ms.Tensor([5.0, 5.0]))
        >>> print(direction)
        [5. 0.]
    """

    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def construct(self, *args):
        return jvp(self.fn, args[:-1], args[-1])


class Vjp(Cell):
    """The result of a function and the gradients of its inputs; the last input is the gradient of the result.

    Args:
        fn: Cell or function.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> value, gradient = nn.Vjp(nn.ReLU())(ms.Tensor([1.0, -1.0]), ms.Tensor([5.0, 5.0]))
        >>> print(gradient)
        [5. 0.]
    """

    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def construct(self, *args):
        value, back = vjp(self.fn, *args[:-1])
        grads = back(*args[-1]) if isinstance(args[-1], tuple) else back(args[-1])
        return value, grads[0] if isinstance(grads, tuple) and len(grads) == 1 else grads
