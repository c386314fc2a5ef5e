# SPDX-License-Identifier: Apache-2.0
"""Optimizers that are one rule for a parameter, its gradient and its state, written with operators."""
from spore import ops
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.experimental.optim.optimizer import Optimizer, _at_least

__all__ = ['ASGD', 'Adadelta', 'Adagrad', 'Adamax', 'NAdam', 'RAdam', 'RMSprop', 'Rprop']


class _Rule(Optimizer):
    """A subclass names its state and gives ``_update(group, step, parameter, gradient, *state)``, which answers the new
    parameter and the new state."""

    _state = ()

    def __init__(self, params, lr, **settings):
        who = type(self).__name__
        for name, value in settings.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                _at_least(who, name, value)
        for i, beta in enumerate(settings.get('betas', ())):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"For '{who}', 'betas[{i}]' must be at least 0 and less than 1, but got {beta}.")
        super().__init__(params, {'lr': lr, 'weight_decay': 0.0, 'maximize': False, **settings})
        for name in self._state:
            setattr(self, name, self.parameters.clone(prefix=name, init='zeros'))
        self.step_t = Parameter(Tensor(0, mstype.int32), 'step_t')

    def construct(self, gradients):
        self.step_t.set_data(self.step_t + 1)
        step = int(self.step_t.item())
        for group, rows, own in self._each_group(gradients):
            states = [getattr(self, name)[rows] for name in self._state]
            for i, (parameter, gradient) in enumerate(zip(self.parameters[rows], own)):
                if group['weight_decay']:
                    gradient = gradient + parameter * group['weight_decay']
                held = [state[i] for state in states]
                for target, value in zip((parameter, *held), self._update(group, step, parameter, gradient, *held)):
                    ops.assign(target, value)
        return True


class Adadelta(_Rule):
    """Steps as large as earlier steps were.

    Args:
        params, lr, weight_decay, maximize: as for Adam.
        rho: how long averages last.
        eps: added under the roots.

    Examples:
        >>> import spore as ms
        >>> from spore.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name='w')
        >>> done = optim.Adadelta([w], lr=1.0)((ms.Tensor([1.0]),))
        >>> print(w.asnumpy())
        [0.99683774]
    """

    _state = ('square_avg', 'acc_delta')

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0, *, maximize=False):
        super().__init__(params, lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize)

    def _update(self, group, step, parameter, gradient, square, moved):
        rho, eps = group['rho'], group['eps']
        square = square * rho + gradient * gradient * (1 - rho)
        delta = ops.sqrt(moved + eps) / ops.sqrt(square + eps) * gradient
        return parameter - group['lr'] * delta, square, moved * rho + delta * delta * (1 - rho)


class Adagrad(_Rule):
    """Steps divided by the root of the sum of all squared gradients.

    Args:
        params, lr, weight_decay, maximize: as for Adam.
        lr_decay: how fast the learning rate falls.
        initial_accumulator_value: what the sum starts with.
        eps: added to the root.

    Examples:
        >>> import spore as ms
        >>> from spore.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name='w')
        >>> done = optim.Adagrad([w], lr=0.5)((ms.Tensor([2.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    _state = ('state_sum',)

    def __init__(self, params, lr=1e-2, lr_decay=0.0, weight_decay=0.0, initial_accumulator_value=0.0, eps=1e-10, *,
                 maximize=False):
        super().__init__(params, lr, lr_decay=lr_decay, weight_decay=weight_decay,
                         initial_accumulator_value=initial_accumulator_value, eps=eps, maximize=maximize)
        for state in self.state_sum:
            state.set_data(ops.full_like(state, initial_accumulator_value))

    def _update(self, group, step, parameter, gradient, total):
        total = total + gradient * gradient
        rate = group['lr'] / (1 + (step - 1) * group['lr_decay'])
        return parameter - rate * gradient / (ops.sqrt(total) + group['eps']), total


class Adamax(_Rule):
    """Adam with the largest gradient seen in place of the root of the squares. Arguments as for Adam.

    Examples:
        >>> import spore as ms
        >>> from spore.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name='w')
        >>> done = optim.Adamax([w], lr=0.5)((ms.Tensor([2.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    _state = ('exp_avg', 'exp_inf')

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, *, maximize=False):
        super().__init__(params, lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize)

    def _update(self, group, step, parameter, gradient, average, largest):
        beta1, beta2 = group['betas']
        average = average * beta1 + gradient * (1 - beta1)
        largest = ops.maximum(largest * beta2, ops.abs(gradient) + group['eps'])
        return parameter - group['lr'] / (1 - beta1 ** step) * average / largest, average, largest


class NAdam(_Rule):
    """Adam with Nesterov's momentum, whose strength grows with the steps.

    Args:
        params, lr, betas, eps, weight_decay: as for Adam.
        momentum_decay: how fast the momentum grows.

    Examples:
        >>> import spore as ms
        >>> from spore.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name='w')
        >>> done = optim.NAdam([w], lr=0.5)((ms.Tensor([2.0]),))
        >>> print(w.asnumpy() < 1)
        [ True]
    """

    _state = ('exp_avg', 'exp_avg_sq')

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, momentum_decay=4e-3):
        super().__init__(params, lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)

    @staticmethod
    def _momentum(group, step):
        return group['betas'][0] * (1 - 0.5 * 0.96 ** (step * group['momentum_decay']))

    def _update(self, group, step, parameter, gradient, average, square):
        beta1, beta2 = group['betas']
        product = 1.0
        for i in range(1, step + 1):
            product *= self._momentum(group, i)
        now, coming = self._momentum(group, step), self._momentum(group, step + 1)
        average = average * beta1 + gradient * (1 - beta1)
        square = square * beta2 + gradient * gradient * (1 - beta2)
        root = ops.sqrt(square / (1 - beta2 ** step)) + group['eps']
        parameter = parameter - group['lr'] * (1 - now) / (1 - product) * gradient / root
        return parameter - group['lr'] * coming / (1 - product * coming) * average / root, average, square


class RAdam(_Rule):
    """Adam that waits with dividing by the squares until their average can be trusted. Arguments as for Adam.

    Examples:
        >>> import spore as ms
        >>> from spore.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name='w')
        >>> done = optim.RAdam([w], lr=0.25)((ms.Tensor([2.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    _state = ('exp_avg', 'exp_avg_sq')

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(params, lr, betas=betas, eps=eps, weight_decay=weight_decay)

    def _update(self, group, step, parameter, gradient, average, square):
        beta1, beta2 = group['betas']
        average = average * beta1 + gradient * (1 - beta1)
        square = square * beta2 + gradient * gradient * (1 - beta2)
        corrected = average / (1 - beta1 ** step)
        most = 2 / (1 - beta2) - 1
        trust = most - 2 * step * beta2 ** step / (1 - beta2 ** step)
        if trust > 5:
            rectified = ((trust - 4) * (trust - 2) * most / ((most - 4) * (most - 2) * trust)) ** 0.5
            corrected = corrected * rectified * (1 - beta2 ** step) ** 0.5 / (ops.sqrt(square) + group['eps'])
        return parameter - group['lr'] * corrected, average, square


class RMSprop(_Rule):
    """Steps divided by the root of the averaged squares of the gradients.

    Args:
        params, lr, weight_decay, maximize: as for Adam.
        alpha: how long the average lasts.
        eps: added to the root.
        momentum: of the steps.
        centered: whether the average is subtracted from the gradients first.

    Examples:
        >>> import spore as ms
        >>> from spore.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name='w')
        >>> done = optim.RMSprop([w], lr=0.05)((ms.Tensor([2.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    _state = ('square_avg', 'mean_grad', 'mom')

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False, maximize=False):
        super().__init__(params, lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum, centered=centered,
                         maximize=maximize)

    def _update(self, group, step, parameter, gradient, square, mean, speed):
        alpha = group['alpha']
        square = square * alpha + gradient * gradient * (1 - alpha)
        spread = square
        if group['centered']:
            mean = mean * alpha + gradient * (1 - alpha)
            spread = square - mean * mean
        speed = speed * group['momentum'] + gradient / (ops.sqrt(spread) + group['eps'])
        return parameter - group['lr'] * speed, square, mean, speed


class Rprop(_Rule):
    """Steps of their own size, which grows while the gradient keeps its sign and shrinks when it changes.

    Args:
        params, lr, maximize: as for Adam; lr is the first size.
        etas: what sizes are multiplied with to shrink and to grow.
        step_sizes: the smallest and the largest size.

    Examples:
        >>> import spore as ms
        >>> from spore.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name='w')
        >>> done = optim.Rprop([w], lr=0.5)((ms.Tensor([2.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    _state = ('prev', 'step_size')

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, maximize=False):
        super().__init__(params, lr, etas=etas, step_sizes=step_sizes, maximize=maximize)

    def _update(self, group, step, parameter, gradient, before, size):
        if step == 1:
            size = ops.ones_like(size) * group['lr']
        same = ops.sign(gradient * before)
        less, more = group['etas']
        factor = ops.where(same > 0, ops.full_like(size, more), ops.where(same < 0, ops.full_like(size, less), ops.ones_like(size)))
        size = ops.clamp(size * factor, *map(float, group['step_sizes']))
        gradient = ops.where(same < 0, ops.zeros_like(gradient), gradient)
        return parameter - ops.sign(gradient) * size, gradient, size


class ASGD(_Rule):
    """Gradient descent with falling steps that keeps the average of the parameters in ``ax``.

    Args:
        params, lr, weight_decay, maximize: as for Adam.
        lambd: how strongly parameters shrink.
        alpha: how fast steps fall.
        t0: step at which averaging starts.

    Examples:
        >>> import spore as ms
        >>> from spore.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name='w')
        >>> done = optim.ASGD([w], lr=0.25, lambd=0.0)((ms.Tensor([2.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    _state = ('ax',)

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0, maximize=False):
        super().__init__(params, lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, maximize=maximize)

    def _update(self, group, step, parameter, gradient, average):
        rate = float(group['lr'])
        eta = rate if step == 1 else rate / (1 + group['lambd'] * rate * (step - 1)) ** group['alpha']
        parameter = parameter * (1 - group['lambd'] * eta) - gradient * eta
        weight = 1 / max(1, step - 1 - group['t0'])
        return parameter, parameter if weight == 1 else average + (parameter - average) * weight
