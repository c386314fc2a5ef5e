# SPDX-License-Identifier: Apache-2.0
"""LAMB."""
from spore import _core, ops
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.nn.optim.adam import check_betas, decays_of
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['Lamb']


def each(op, *columns):
    """An operator over all parameters at once."""
    return _core.apply_each(op, columns)


def norms(tensors):
    """The root of the sum of squares of each Tensor."""
    return each('sqrt', _core.apply_each('sum', (each('mul', tensors, tensors),)))


def ratio(above, below):
    """above / below, 1 where either is zero."""
    return tuple(ops.where(ops.logical_and(a > 0, b > 0), a / b, 1.0) for a, b in zip(above, below))


class Lamb(Optimizer):
    """Adam whose step has the length of the parameter times the learning rate, layer by layer; for large batches.

    Args:
        params: Parameters or groups of them, see Optimizer.
        learning_rate: see Optimizer.
        beta1, beta2, eps: as for Adam.
        weight_decay: see Optimizer; it is part of the step.
    """

    _support_parallel_optimizer = True

    _by_element = False

    @opt_init_args_register
    def __init__(self, params, learning_rate, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        check_betas('Lamb', beta1, beta2, eps)
        self.beta1, self.beta2 = Tensor([beta1], mstype.float32), Tensor([beta2], mstype.float32)
        self.eps = Tensor([eps], mstype.float32)
        self.params = self._parameters
        self.moments1 = self.params.clone(prefix='lamb_m', init='zeros')
        self.moments2 = self.params.clone(prefix='lamb_v', init='zeros')

    def construct(self, gradients):
        gradients = tuple(self._checked(gradients))
        decay = decays_of(self)
        lr = self._next_rate()
        gradients = tuple(self.gradients_centralization(gradients))
        step = ops.cast(self.global_step, mstype.float32).reshape(())
        beta1, beta2, eps = float(self.beta1), float(self.beta2), float(self.eps)
        for moments, beta, now in ((self.moments1, beta1, gradients), (self.moments2, beta2,
                                                                       each('mul', gradients, gradients))):
            each('assign', moments, each('add', each('mul', moments, beta), each('mul', now, 1.0 - beta)))
        size = each('sqrt', each('mul', self.moments2, (1.0 / (1.0 - beta2 ** step),) * self.param_length))
        update = each('div', each('mul', self.moments1, (1.0 / (1.0 - beta1 ** step),) * self.param_length), each('add', size, eps))
        update = each('add', update, each('mul', self.params, decay))
        lengths = each('mul', ratio(norms(self.params), norms(update)), lr)
        each('assign_sub', self.params, each('mul', update, lengths))
        return self.params
