# SPDX-License-Identifier: Apache-2.0
"""RMSProp."""
from spore import _core
from spore.nn._optim_check import want_bool, want_float
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['RMSProp']


class RMSProp(Optimizer):
    """Steps by the gradient over the root of its averaged square.

    Args:
        params: Parameters or groups of them, see Optimizer.
        learning_rate: see Optimizer.
        decay: how much of the average is kept per step.
        momentum: share of the earlier movement that is kept.
        epsilon: added under the root.
        use_locking: accepted.
        centered: whether to divide by the spread of the gradient instead of its size.
        loss_scale, weight_decay: see Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params, learning_rate=0.1, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False,
                 centered=False,
                 loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay = want_float('RMSProp', 'decay', decay, least=0.0)
        self.momentum = want_float('RMSProp', 'momentum', momentum, least=0.0)
        self.epsilon = want_float('RMSProp', 'epsilon', epsilon, above=0.0)
        want_bool('RMSProp', 'use_locking', use_locking)
        self.centered = want_bool('RMSProp', 'centered', centered)
        if centered:
            self.mg = self._parameters.clone(prefix='mean_grad', init='zeros')
        self.ms = self._parameters.clone(prefix='mean_square', init='ones')
        self.moment = self._parameters.clone(prefix='moment', init='zeros')

    def construct(self, gradients):
        gradients, lr = self._prepare(gradients)
        if self.centered:
            _core.apply_each('centered_rmsprop_update', (self._parameters, self.mg, self.ms, self.moment, gradients, lr,
                                                         self.decay,
                                                         self.momentum, self.epsilon))
        else:
            _core.apply_each('rmsprop_update', (self._parameters, self.ms, self.moment, lr, gradients, self.decay,
                                                self.momentum,
                                                self.epsilon))
        return self._done
