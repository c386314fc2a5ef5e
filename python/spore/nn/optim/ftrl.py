# SPDX-License-Identifier: Apache-2.0
"""FTRL."""
from spore import _core
from spore.nn._optim_check import want_bool, want_float
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['FTRL']


class FTRL(Optimizer):
    """Follow the regularised leader: parameters follow from accumulated gradients, held near zero by l1 and l2.

    Args:
        params: Parameters or groups of them without learning rates of their own, see Optimizer.
        initial_accum: the sum of squares at the start.
        learning_rate: a float above 0.
        lr_power: power of the sum of squares, not above 0.
        l1, l2: strength of the two pulls towards zero.
        use_locking: accepted.
        loss_scale, weight_decay: see Optimizer; all parameters decay.
    """

    @opt_init_args_register
    def __init__(self, params, initial_accum=0.1, learning_rate=0.001, lr_power=-0.5, l1=0.0, l2=0.0, use_locking=False,
                 loss_scale=1.0,
                 weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError("For 'FTRL', there can be one fixed learning rate only, not one per step or group.")
        want_float('FTRL', 'initial_accum', initial_accum, least=0.0)
        want_float('FTRL', 'learning_rate', learning_rate, above=0.0)
        self.lr_power = want_float('FTRL', 'lr_power', lr_power, most=0.0)
        self.l1, self.l2 = want_float('FTRL', 'l1', l1, least=0.0), want_float('FTRL', 'l2', l2, least=0.0)
        want_bool('FTRL', 'use_locking', use_locking)
        self.moments = self._parameters.clone(prefix='moments', init=initial_accum)
        self.linear = self._parameters.clone(prefix='linear', init='zeros')
        if not self.is_group:
            self.decay_flags = (True,) * self.param_length

    def construct(self, gradients):
        gradients, lr = self._prepare(gradients)
        _core.apply_each('ftrl_update', (self._parameters, self.moments, self.linear, gradients, lr, self.l1, self.l2,
                                         self.lr_power))
        return self._done
