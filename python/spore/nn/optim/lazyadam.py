# SPDX-License-Identifier: Apache-2.0
"""LazyAdam."""
from spore.nn._optim_check import want_float
from spore.nn.optim.adam import _AdamBase
from spore.nn.optim.optimizer import opt_init_args_register

__all__ = ['LazyAdam']


class LazyAdam(_AdamBase):
    """Adam, under the name it has where sparse gradients touch some rows only. Arguments as for Adam; gradients are
    dense."""

    _power_shape = (1,)

    @opt_init_args_register
    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, use_locking=False,
                 use_nesterov=False,
                 weight_decay=0.0, loss_scale=1.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        want_float('LazyAdam', 'weight_decay', weight_decay, least=0.0)
        self._begin(beta1, beta2, eps, use_locking, use_nesterov)
