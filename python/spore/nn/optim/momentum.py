# SPDX-License-Identifier: Apache-2.0
"""Gradient descent with momentum."""
from spore import _core
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.nn._optim_check import want_bool, want_float
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['Momentum']


class Momentum(Optimizer):
    """Gradient descent that keeps moving: each step is ``momentum`` times the last one plus the gradient.

    Args:
        params: Parameters or groups of them, see Optimizer.
        learning_rate: see Optimizer.
        momentum: share of the earlier movement that is kept, a float.
        weight_decay, loss_scale: see Optimizer.
        use_nesterov: accepted and without effect, as in MindSpore on a CPU, so that results are equal; nn.SGD(nesterov=True)
            looks one step ahead.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name='w')
        >>> step = nn.Momentum([w], learning_rate=0.5, momentum=0.5)
        >>> for _ in range(2):
        ...     done = step((ms.Tensor([1.0, 1.0]),))
        >>> print(w.asnumpy())
        [-0.25  0.75]
    """

    @opt_init_args_register
    def __init__(self, params, learning_rate, momentum, weight_decay=0.0, loss_scale=1.0, use_nesterov=False):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        want_float('Momentum', 'momentum', momentum, least=0.0)
        self.momentum = Parameter(Tensor(momentum, mstype.float32), name='momentum')
        self.params = self._parameters
        self.use_nesterov = want_bool('Momentum', 'use_nesterov', use_nesterov)
        self.moments = self.params.clone(prefix='moments', init='zeros')
        self._attrs = {'use_nesterov': False}

    def construct(self, gradients):
        gradients, lr = self._prepare(gradients)
        _core.apply_each('momentum_update', (self.params, self.moments, lr, gradients, self.momentum), self._attrs)
        return self._done
