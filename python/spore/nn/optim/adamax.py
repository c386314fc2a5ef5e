# SPDX-License-Identifier: Apache-2.0
"""AdaMax."""
from spore import _core
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.nn.optim.adam import check_betas
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['AdaMax']


class AdaMax(Optimizer):
    """Adam with the largest gradient of late in place of the averaged square. Arguments as for Adam."""

    @opt_init_args_register
    def __init__(self, params, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.0,
                 loss_scale=1.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_betas('AdaMax', beta1, beta2, eps)
        self.beta1, self.beta2 = Tensor(beta1, mstype.float32), Tensor(beta2, mstype.float32)
        self.beta1_power = Parameter(Tensor([1.0], mstype.float32), name='beta1_power')
        self.eps = Tensor(eps, mstype.float32)
        self.moment1 = self._parameters.clone(prefix='moment1', init='zeros')
        self.moment2 = self._parameters.clone(prefix='moment2', init='zeros')

    def construct(self, gradients):
        gradients, lr = self._prepare(gradients)
        _core.apply('assign', (self.beta1_power, self.beta1_power * self.beta1))
        _core.apply_each('adamax_update', (self._parameters, self.moment1, self.moment2, self.beta1_power, lr,
                                           self.beta1, self.beta2,
                                           self.eps, gradients))
        return self._done
