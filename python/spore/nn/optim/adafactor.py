# SPDX-License-Identifier: Apache-2.0
"""AdaFactor."""
from spore import ops
from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype
from spore.common.parameter import Parameter, ParameterTuple
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['AdaFactor']


def _rms(x):
    return ops.sqrt((x * x).mean())


class AdaFactor(Optimizer):
    """Adam whose second moments of matrices are kept by rows and columns alone, with a learning rate relative to the size of the
    parameter.

    Args:
        params: Parameters or groups of them, see Optimizer.
        learning_rate: see Optimizer; None with ``relative_step``, which finds it by the number of steps.
        eps: what is added to squared gradients, and the least size of a parameter.
        clip_threshold: how large the root mean square of a step may be.
        decay_rate: how fast the second moments forget less: by ``1 - step ** -decay_rate``.
        beta1: share of the first moment that is kept; 0: there is none.
        weight_decay: see Optimizer.
        scale_parameter: whether steps are relative to the root mean square of the parameter.
        relative_step: whether the learning rate follows the number of steps.
        warmup_init: whether it begins small then.
        compression: accepted; moments are float32.
        loss_scale: see Optimizer.

    Examples:
        >>> from spore import nn
        >>> net = nn.Dense(3, 2)
        >>> step = nn.AdaFactor(net.trainable_params())
    """

    _by_element = False

    @opt_init_args_register
    def __init__(self, params, learning_rate=None, eps=(1e-30, 1e-3), clip_threshold=1.0, decay_rate=0.8, beta1=0.9, weight_decay=0.0,
                 scale_parameter=True, relative_step=True, warmup_init=False, compression=False, loss_scale=1):
        if learning_rate is not None and relative_step:
            raise ValueError("For AdaFactor, cannot combine manual lr and relative_step options")
        if warmup_init and not relative_step:
            raise ValueError("For AdaFactor, warmup_init requires relative_step=True")
        if learning_rate is None and not relative_step:
            raise ValueError("For AdaFactor, lr cannot be None when relative_step is False")
        for name, flag in (('scale_parameter', scale_parameter), ('relative_step', relative_step), ('compression', compression)):
            if not isinstance(flag, bool):
                raise TypeError(f"For 'AdaFactor', the type of '{name}' should be bool, but got {_type_name(flag)}.")
        if not isinstance(eps, (list, tuple)) or len(eps) != 2:
            raise TypeError("For 'AdaFactor', 'eps' should be a list or tuple of two numbers.")
        super().__init__(0.0 if learning_rate is None else learning_rate, params, weight_decay, loss_scale)
        self.eps, self.clip_threshold, self.decay_rate, self.beta1 = tuple(eps), clip_threshold, decay_rate, beta1
        self.scale_parameter, self.relative_step, self.warmup_init = scale_parameter, relative_step, warmup_init
        self.use_first_moment = beta1 > 0
        parameters = self._parameters
        if self.use_first_moment:
            self.exp_avg = parameters.clone(prefix='exp_avg', init='zeros')

        def moments(name, shape_of):
            return ParameterTuple([Parameter(ops.zeros(shape_of(p), mstype.float32), name=f'{name}_{p.name}') for p in parameters])
        self.exp_avg_sq_row = moments('exp_avg_sq_row', lambda p: p.shape[:-1] if p.ndim >= 2 else (1,))
        self.exp_avg_sq_col = moments('exp_avg_sq_col', lambda p: p.shape[:-2] + p.shape[-1:] if p.ndim >= 2 else (1,))
        self.exp_avg_sq = moments('exp_avg_sq', lambda p: (1,) if p.ndim >= 2 else p.shape)
        self.step = Parameter(Tensor(0, mstype.float32), name='afactor_step')

    def _step_size(self, given, parameter, step):
        rate = given
        if self.relative_step:
            rate = ops.minimum(1e-6 * step if self.warmup_init else Tensor(1e-2, mstype.float32), step ** -0.5)
        return rate * ops.maximum(_rms(parameter), Tensor(self.eps[1], mstype.float32)) if self.scale_parameter else rate

    @property
    def supports_memory_efficient_fp16(self):
        """Whether states may be kept in half precision."""
        return True

    @property
    def supports_flat_params(self):
        """Whether all Parameters may lie in one piece of memory."""
        return False

    def construct(self, gradients):
        gradients = self._checked(gradients)
        gradients = self.flatten_gradients(gradients)
        gradients = self.gradients_centralization(self.scale_grad(gradients))
        decay = self.get_weight_decay()
        lr = self._next_rate()
        self.step.set_data(self.step + 1)
        step = ops.stop_gradient(self.step)
        keep = 1 - step ** -self.decay_rate
        for k, (parameter, grad) in enumerate(zip(self._parameters, gradients)):
            rate = self._step_size(lr[k] if isinstance(lr, tuple) else lr, parameter.astype(mstype.float32), step)
            update = self._direction(k, grad.astype(mstype.float32), keep, parameter.ndim >= 2)
            update = update / ops.maximum(_rms(update) / self.clip_threshold, Tensor(1.0, mstype.float32)) * rate
            if self.use_first_moment:
                first = self.exp_avg[k]
                update = first.astype(mstype.float32) * self.beta1 + update * (1 - self.beta1)
                first.set_data(update.astype(first.dtype))
            share = decay[k] if isinstance(decay, tuple) else decay
            value = parameter.astype(mstype.float32)
            parameter.set_data((value - share * rate * value - update).astype(parameter.dtype))
        return True

    def _direction(self, k, grad, keep, factored):
        """The gradient divided by the root of its second moment, which is renewed."""
        square = grad * grad + self.eps[0]
        if not factored:
            moment = self.exp_avg_sq[k]
            moment.set_data(moment * keep + square * (1 - keep))
            return grad * ops.rsqrt(moment)
        row, col = self.exp_avg_sq_row[k], self.exp_avg_sq_col[k]
        row.set_data(row * keep + square.mean(-1) * (1 - keep))
        col.set_data(col * keep + square.mean(-2) * (1 - keep))
        return grad * ops.rsqrt(row / row.mean(-1, keep_dims=True)).expand_dims(-1) * ops.rsqrt(col).expand_dims(-2)
