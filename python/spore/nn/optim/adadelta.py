# SPDX-License-Identifier: Apache-2.0
"""Adadelta."""
from spore import _core
from spore.nn._optim_check import want_float
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['Adadelta']


class Adadelta(Optimizer):
    """Steps as large as earlier ones were, in proportion to the gradient's usual size.

    Args:
        params: Parameters or groups of them, see Optimizer.
        learning_rate: see Optimizer.
        rho: how much of the averages is kept per step, 0 to 1.
        epsilon: added under the roots.
        loss_scale, weight_decay: see Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params, learning_rate=1.0, rho=0.9, epsilon=1e-6, loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho = want_float('Adadelta', 'rho', rho, least=0.0, most=1.0)
        self.epsilon = want_float('Adadelta', 'epsilon', epsilon, least=0.0)
        self.accum = self._parameters.clone(prefix='accum', init='zeros')
        self.accum_update = self._parameters.clone(prefix='accum_update', init='zeros')

    def construct(self, gradients):
        gradients, lr = self._prepare(gradients)
        _core.apply_each('adadelta_update', (self._parameters, self.accum, self.accum_update, lr, self.rho,
                                             self.epsilon, gradients))
        return self._done
