# SPDX-License-Identifier: Apache-2.0
"""Averaged stochastic gradient descent."""
from spore import _core, ops
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.common.parameter import Parameter, ParameterTuple
from spore.nn._optim_check import want_float
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['ASGD']


class ASGD(Optimizer):
    """Gradient descent with a falling learning rate and an average of the parameters beside it, in ``ax``.

    Args:
        params: Parameters or groups of them, see Optimizer.
        learning_rate: see Optimizer.
        lambd: how fast parameters decay and the learning rate falls.
        alpha: power of the fall.
        t0: step at which averaging starts.
        weight_decay: see Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params, learning_rate=0.1, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        self.lambd = want_float('ASGD', 'lambd', lambd)
        self.alpha = want_float('ASGD', 'alpha', alpha)
        self.t0 = Tensor([want_float('ASGD', 't0', t0)], mstype.float32)
        self.lens = self.param_length
        self.mu = ParameterTuple([Parameter(Tensor(1.0, mstype.float32), name='mu_' + p.name)
                                  for p in self._parameters])
        self.eta = ParameterTuple([Parameter(Tensor(0.0, mstype.float32), name='eta_' + p.name)
                                   for p in self._parameters])
        self.ax = self._parameters.clone(prefix='ax_', init='zeros')

    def construct(self, gradients):
        gradients, lr = self._prepare(gradients)
        step = ops.cast(self.global_step, mstype.float32).reshape(())
        rates = [ops.cast(rate, mstype.float32).reshape(()) for rate in (lr if self.is_group_lr else (lr,))]
        rates = rates if self.is_group_lr else rates * self.param_length
        for eta, rate in zip(self.eta, rates):
            eta.set_data(ops.where(step == 1, rate, eta))
        _core.apply_each('asgd_update', (self._parameters, self.ax, gradients, self.eta, self.mu, self.lambd))
        mu = 1.0 / ops.maximum(step - self.t0.reshape(()), Tensor(1.0, mstype.float32))
        falls = {}                       # most rates are one
        for eta, own_mu, rate in zip(self.eta, self.mu, rates):
            if id(rate) not in falls:
                falls[id(rate)] = rate / (1.0 + self.lambd * rate * step) ** self.alpha
            eta.set_data(falls[id(rate)])
            own_mu.set_data(mu)
        return True
