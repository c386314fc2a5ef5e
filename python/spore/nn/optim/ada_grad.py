# SPDX-License-Identifier: Apache-2.0
"""Adagrad."""
from spore import _core
from spore.nn._optim_check import want_bool, want_float
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['Adagrad']


class Adagrad(Optimizer):
    """Steps by the gradient over the root of the sum of all its squares so far.

    Args:
        params: Parameters or groups of them, see Optimizer.
        accum: the sum at the start.
        learning_rate: see Optimizer.
        update_slots: whether the sum grows.
        loss_scale, weight_decay: see Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params, accum=0.1, learning_rate=0.001, update_slots=True, loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        want_float('Adagrad', 'accum', accum, least=0.0)
        self.accum = self._parameters.clone(prefix='accum', init=accum)
        self._attrs = {'update_slots': want_bool('Adagrad', 'update_slots', update_slots)}

    def construct(self, gradients):
        gradients, lr = self._prepare(gradients)
        _core.apply_each('adagrad_update', (self._parameters, self.accum, lr, gradients), self._attrs)
        return self._done
