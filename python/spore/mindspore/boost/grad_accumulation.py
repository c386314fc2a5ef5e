# SPDX-License-Identifier: Apache-2.0
"""Gradients summed over several batches before each step of the optimizer."""
from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.nn.cell import Cell
from spore.nn.optim.optimizer import Optimizer
from spore.ops.composite import HyperMap

__all__ = ['GradientAccumulation', 'gradient_accumulation_op', 'gradient_clear_op']


def gradient_accumulation_op(step, cumulative_grad, grad):
    """``cumulative_grad += grad / step``, in place."""
    _core.apply('assign_add', (cumulative_grad, (grad / step).astype(cumulative_grad.dtype)))
    return cumulative_grad


def gradient_clear_op(cumulative_grad):
    """The sum back to zero, in place."""
    _core.apply('assign', (cumulative_grad, cumulative_grad * 0))
    return cumulative_grad


class GradientAccumulation(Cell):
    """Takes gradients batch by batch; every ``max_accumulation_step`` calls the optimizer makes a step with their mean.

    Args:
        max_accumulation_step: batches per step.
        optimizer: the optimizer.
    """

    def __init__(self, max_accumulation_step, optimizer):
        super().__init__(auto_prefix=False)
        if isinstance(max_accumulation_step, bool) or not isinstance(max_accumulation_step,
                                                                     int) or max_accumulation_step < 1:
            raise ValueError(f"For 'GradientAccumulation', 'max_accumulation_step' must be an int above 0, but got "
                             f"{max_accumulation_step!r}.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"For 'GradientAccumulation', 'optimizer' must be an Optimizer, but got "
                            f"{_type_name(optimizer)}.")
        self._max_accumulation_step = max_accumulation_step
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.hyper_map = HyperMap()              # for subclasses, which write construct anew
        self._grad_accumulation = self.weights.clone(prefix='grad_accumulation', init='zeros')
        self._accumulation_step = Parameter(Tensor(0, mstype.int32), name='accumulation_step')

    def construct(self, loss, grads):
        for total, gradient in zip(self._grad_accumulation, grads):
            gradient_accumulation_op(self._max_accumulation_step, total, gradient)
        count = int(self._accumulation_step.item()) + 1
        if count >= self._max_accumulation_step:
            self.optimizer(tuple(self._grad_accumulation))
            for total in self._grad_accumulation:
                gradient_clear_op(total)
            count = 0
        self._accumulation_step.set_data(Tensor(count, mstype.int32))
        return loss
