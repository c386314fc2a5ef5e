# SPDX-License-Identifier: Apache-2.0
"""LARS."""
from spore import ops
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.nn._optim_check import type_name, want_bool, want_float
from spore.nn.optim.lamb import each, norms
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['LARS']


def _usual_filter(parameter):
    return 'LayerNorm' not in parameter.name and 'bias' not in parameter.name


class LARS(Optimizer):
    """Another optimizer with gradients scaled layer by layer, to a share of the parameter's length; for large batches.

    Args:
        optimizer: the optimizer that makes the step; its weight decay moves here.
        epsilon: added to the divisor.
        coefficient: the share.
        use_clip: whether the scale is limited to the learning rate.
        lars_filter: function that says which Parameters are scaled.
    """

    _by_element = False

    @opt_init_args_register
    def __init__(self, optimizer, epsilon=1e-05, coefficient=0.001, use_clip=False, lars_filter=_usual_filter):
        super().__init__(0.0, [Parameter(Tensor(0.0), name='fake_param')])
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"For 'LARS', 'optimizer' must be an Optimizer, but got {type_name(optimizer)}.")
        self.epsilon = want_float('LARS', 'epsilon', epsilon)
        self.coefficient = want_float('LARS', 'coefficient', coefficient)
        self.use_clip = want_bool('LARS', 'use_clip', use_clip)
        self.opt = optimizer
        self.parameters = self._parameters = optimizer.parameters
        self.param_length = len(self.parameters)
        self.lars_flag = tuple(bool(lars_filter(p)) for p in self.parameters)
        for name in ('dynamic_decay_flags', 'dynamic_weight_decay', 'weight_decay', 'is_group', 'decay_flags',
                     'reciprocal_scale',
                     'need_scale', 'loss_scale'):
            self.__dict__[name] = getattr(optimizer, name)
        self._params['global_step'] = optimizer.global_step
        self.learning_rate = Parameter(Tensor(0.0, mstype.float32), name='fake_lr')
        if use_clip:
            self.is_group_lr, self.dynamic_lr = optimizer.is_group_lr, optimizer.dynamic_lr
            if self.is_group_lr and self.dynamic_lr:
                raise ValueError("For 'LARS', with 'use_clip' the learning rate cannot be both per group and per step.")
        optimizer.dynamic_decay_flags = (False,) * self.param_length if self.is_group else False
        optimizer.decay_flags = (False,) * self.param_length
        optimizer.dynamic_weight_decay = optimizer.exec_weight_decay = optimizer.need_scale = False

    def construct(self, gradients):
        gradients = list(self.scale_grad(self._checked(gradients)))
        decay = self.get_weight_decay()
        rows = [i for i, flag in enumerate(self.lars_flag) if flag]
        if rows:
            decays = [float(decay[i] if self.is_group else decay) / self.loss_scale if self.decay_flags[i] else 0.0
                      for i in rows]
            params, own = tuple(self.parameters[i] for i in rows), tuple(gradients[i] for i in rows)
            scales = self._scales(rows, decays, norms(params), norms(own))
            pulled = each('add', own, each('mul', params, decays))
            for i, gradient in zip(rows, each('mul', pulled, scales)):
                gradients[i] = gradient
        return self.opt(tuple(gradients))

    def _scales(self, rows, decays, lengths, sizes):
        """What each gradient is multiplied with; 1 where it or the parameter is zero."""
        rate = self.opt.get_lr() if self.use_clip else None
        scales = []
        for i, decay, length, size in zip(rows, decays, lengths, sizes):
            scale = self.coefficient * length / (size + decay * length + self.epsilon)
            scale = ops.where(ops.logical_and(length > 0, size > 0), scale, 1.0)
            if self.use_clip:
                scale = ops.minimum(scale / (rate[i] if self.is_group_lr else rate), Tensor(1.0, mstype.float32))
            scales.append(scale)
        return scales
