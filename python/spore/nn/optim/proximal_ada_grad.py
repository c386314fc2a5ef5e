# SPDX-License-Identifier: Apache-2.0
"""ProximalAdagrad."""
from spore import _core
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.nn._optim_check import want_bool, want_float
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['ProximalAdagrad']


class ProximalAdagrad(Optimizer):
    """Adagrad whose parameters are shrunk by l1 and l2 after each step.

    Args:
        params: Parameters or groups of them, see Optimizer.
        accum: the sum of squares at the start.
        learning_rate: see Optimizer.
        l1, l2: strength of the two pulls towards zero.
        use_locking: accepted.
        loss_scale, weight_decay: see Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params, accum=0.1, learning_rate=0.001, l1=0.0, l2=0.0, use_locking=False, loss_scale=1.0,
                 weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        want_float('ProximalAdagrad', 'accum', accum, least=0.0)
        want_float('ProximalAdagrad', 'l1', l1, least=0.0)
        want_float('ProximalAdagrad', 'l2', l2, least=0.0)
        want_bool('ProximalAdagrad', 'use_locking', use_locking)
        self.accum = self._parameters.clone(prefix='accum', init=accum)
        self.l1, self.l2 = Tensor(l1, mstype.float32), Tensor(l2, mstype.float32)

    def construct(self, gradients):
        gradients, lr = self._prepare(gradients)
        _core.apply_each('proximal_adagrad_update', (self._parameters, self.accum, lr, self.l1, self.l2, gradients))
        return self._done
