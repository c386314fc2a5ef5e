# SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient descent."""
from spore import _core
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.nn._optim_check import type_name, want_bool
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['SGD']


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum, dampening and Nesterov's look ahead.

    Args:
        params: Parameters or groups of them, see Optimizer.
        learning_rate: see Optimizer.
        momentum: share of the earlier movement that is kept.
        dampening: share of the gradient that does not enter the movement.
        weight_decay: see Optimizer; a number.
        nesterov: whether the gradient is added once more after the movement; needs momentum and no dampening.
        loss_scale: see Optimizer.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name='w')
        >>> _ = nn.SGD([w], learning_rate=0.5)((ms.Tensor([1.0, 1.0]),))
        >>> print(w.asnumpy())
        [0.5 1.5]
    """

    @opt_init_args_register
    def __init__(self, params, learning_rate=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False,
                 loss_scale=1.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        momentum, self.dampening = _share('momentum', momentum), _share('dampening', dampening)
        self.nesterov = want_bool('SGD', 'nesterov', nesterov)
        if nesterov and (momentum <= 0.0 or dampening != 0.0):
            raise ValueError(f"For 'SGD', 'nesterov' needs 'momentum' above 0 and 'dampening' 0, but got 'momentum' "
                             f"{momentum} and "
                             f"'dampening' {dampening}.")
        if self.dynamic_weight_decay:
            raise TypeError("For 'SGD', 'weight_decay' must be a number, a Cell is not supported.")
        self.momentum = Parameter(Tensor(momentum, mstype.float32), name='momentum')
        self.accum = self._parameters.clone(prefix='accum', init='zeros')
        self.stat = self._parameters.clone(prefix='stat', init='ones')
        self._attrs = {'dampening': self.dampening, 'nesterov': nesterov}

    def construct(self, gradients):
        gradients, lr = self._prepare(gradients)
        _core.apply_each('sgd_update', (self._parameters, gradients, lr, self.accum, self.momentum, self.stat),
                         self._attrs)
        return self._done


def _share(name, value):
    if isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, float):
        raise TypeError(f"For 'SGD', '{name}' must be a float, but got {type_name(value)}.")
    if value < 0.0:
        raise ValueError(f"For 'SGD', '{name}' must be at least 0, but got {value}.")
    return value
