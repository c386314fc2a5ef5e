# SPDX-License-Identifier: Apache-2.0
"""Adam and its relatives."""
from spore import _core
from spore._core import Tensor
from spore._moves import keyword_hint
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.nn._optim_check import want_bool, want_float
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['Adam', 'AdamWeightDecay', 'AdamOffload']


def check_betas(who, beta1, beta2, eps):
    """Both betas strictly between 0 and 1, eps above 0; all floats."""
    want_float(who, 'beta1', beta1, above=0.0, below=1.0)
    want_float(who, 'beta2', beta2, above=0.0, below=1.0)
    want_float(who, 'eps', eps, above=0.0)


class _AdamBase(Optimizer):
    """What Adam, AdamOffload and LazyAdam share; they differ in the shape of two state parameters."""

    _power_shape = ()

    def _begin(self, beta1, beta2, eps, use_locking, use_nesterov):
        who = self.cls_name
        check_betas(who, beta1, beta2, eps)
        want_bool(who, 'use_locking', use_locking)
        want_bool(who, 'use_nesterov', use_nesterov)
        self.beta1, self.beta2 = Tensor(beta1, mstype.float32), Tensor(beta2, mstype.float32)
        self.eps = Tensor(eps, mstype.float32)
        one = [1.0] if self._power_shape else 1.0
        self.beta1_power = Parameter(Tensor(one, mstype.float32), name='beta1_power')
        self.beta2_power = Parameter(Tensor(one, mstype.float32), name='beta2_power')
        self.use_nesterov, self.use_locking = use_nesterov, use_locking
        self.moment1 = self._parameters.clone(prefix='moment1', init='zeros')
        self.moment2 = self._parameters.clone(prefix='moment2', init='zeros')
        self._attrs = {'use_nesterov': use_nesterov}

    def _advance(self):
        _core.apply('assign', (self.beta1_power, self.beta1_power * self.beta1))
        _core.apply('assign', (self.beta2_power, self.beta2_power * self.beta2))

    def construct(self, gradients):
        gradients, lr = self._prepare(gradients)
        self._advance()
        _core.apply_each('adam_update', (self._parameters, self.moment1, self.moment2, self.beta1_power,
                                         self.beta2_power, lr,
                                         self.beta1, self.beta2, self.eps, gradients), self._attrs)
        return self._done


class Adam(_AdamBase):
    """Adam: steps by averaged gradients over the root of their averaged squares.

    Args:
        params: Parameters or groups of them, see Optimizer.
        learning_rate: see Optimizer.
        beta1, beta2: how much of the averages of gradients and of their squares is kept per step.
        eps: added to the divisor.
        use_locking: accepted; updates are never torn apart.
        use_nesterov: whether to look one step ahead.
        weight_decay, loss_scale: see Optimizer.
        use_amsgrad: whether to divide by the largest average of squares so far.
        use_lazy, use_offload: accepted; with dense gradients they change nothing.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name='w')
        >>> _ = nn.Adam([w], learning_rate=0.5)((ms.Tensor([1.0, -1.0]),))
        >>> print(w.asnumpy().round(4))
        [0.5 2.5]
    """

    @opt_init_args_register
    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, use_locking=False,
                 use_nesterov=False,
                 weight_decay=0.0, loss_scale=1.0, use_amsgrad=False, **kwargs):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        unknown = sorted(set(kwargs) - {'use_lazy', 'use_offload'})
        if unknown:
            hint = keyword_hint(unknown[0], ('learning_rate', 'beta1', 'beta2', 'eps', 'weight_decay', 'use_lazy', 'use_offload'))
            raise KeyError(f"For 'Adam', there are the further arguments 'use_lazy' and 'use_offload', but got {unknown}{hint or '.'}")
        self.use_lazy = want_bool('Adam', 'use_lazy', kwargs.get('use_lazy', False))
        self.use_offload = want_bool('Adam', 'use_offload', kwargs.get('use_offload', False))
        self.use_amsgrad = want_bool('Adam', 'use_amsgrad', use_amsgrad)
        if self.use_lazy + self.use_offload + use_amsgrad > 1:
            raise ValueError(f"For 'Adam', only one of 'use_lazy', 'use_offload' and 'use_amsgrad' can be True, but "
                             "got "
                             f"{self.use_lazy}, {self.use_offload} and {use_amsgrad}.")
        self._begin(beta1, beta2, eps, use_locking, use_nesterov)
        if use_amsgrad:
            self.vhat = self._parameters.clone(prefix='vhat', init='zeros')

    def construct(self, gradients):
        if not self.use_amsgrad:
            return super().construct(gradients)
        gradients, lr = self._prepare(gradients)
        self._advance()
        _core.apply_each('amsgrad_update', (self._parameters, self.moment1, self.moment2, self.vhat, self.beta1_power,
                                            self.beta2_power, lr, self.beta1, self.beta2, self.eps, gradients))
        return self._done


class AdamOffload(_AdamBase):
    """Adam, under the name it has where its arithmetic is moved to the CPU. Arguments as for Adam."""

    _power_shape = (1,)

    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, use_locking=False,
                 use_nesterov=False,
                 weight_decay=0.0, loss_scale=1.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.params = self.parameters
        self._begin(beta1, beta2, eps, use_locking, use_nesterov)


class AdamWeightDecay(Optimizer):
    """Adam without correction of the first averages, and with weight decay that does not pass through them.

    Args:
        params: Parameters or groups of them, see Optimizer.
        learning_rate: see Optimizer.
        beta1, beta2, eps: as for Adam.
        weight_decay: see Optimizer; it moves the parameter directly.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name='w')
        >>> _ = nn.AdamWeightDecay([w], learning_rate=0.1, weight_decay=0.5)((ms.Tensor([0.0, 0.0]),))
        >>> print(w.asnumpy().round(4))
        [0.95 1.9 ]
    """

    _support_parallel_optimizer = True

    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        check_betas('AdamWeightDecay', beta1, beta2, eps)
        self.beta1, self.beta2 = Tensor([beta1], mstype.float32), Tensor([beta2], mstype.float32)
        self.eps = Tensor([eps], mstype.float32)
        self.moments1 = self._parameters.clone(prefix='adam_m', init='zeros')
        self.moments2 = self._parameters.clone(prefix='adam_v', init='zeros')

    def construct(self, gradients):
        gradients = self._checked(gradients)
        decay = decays_of(self)
        lr = self._next_rate()
        _core.apply_each('adam_weight_decay_update', (self._parameters, self.moments1, self.moments2, lr, self.beta1,
                                                      self.beta2,
                                                      self.eps, decay, tuple(gradients)))
        return self._parameters


def decays_of(optimizer) -> Tensor:
    """One weight decay per parameter, 0 where it does not decay; one number when all agree."""
    decay, flags = optimizer.get_weight_decay(), optimizer.decay_flags
    if optimizer.is_group:
        return tuple(d if flag else 0.0 for d, flag in zip(decay, flags))
    return decay if all(flags) else tuple(decay if flag else 0.0 for flag in flags)
