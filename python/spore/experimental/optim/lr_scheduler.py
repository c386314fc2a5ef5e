# SPDX-License-Identifier: Apache-2.0
"""Learning rates that change when ``step()`` is called, usually once an epoch."""
import math
from bisect import bisect_right
from collections import Counter

from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype
from spore.experimental.optim.optimizer import Optimizer

__all__ = ['LRScheduler', 'StepLR', 'MultiStepLR', 'ExponentialLR', 'LinearLR', 'ConstantLR', 'PolynomialLR',
           'LambdaLR',
           'MultiplicativeLR', 'CosineAnnealingLR', 'CosineAnnealingWarmRestarts', 'CyclicLR', 'ReduceLROnPlateau',
           'SequentialLR']


def _groups(who, optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"For '{who}', 'optimizer' must be an experimental.optim.Optimizer, but got "
                        f"{_type_name(optimizer)}.")
    return optimizer.param_groups


def _set(group, rate):
    group['lr'].set_data(Tensor(float(rate), mstype.float32))


def _rates(groups):
    """The learning rates of the groups now, as Tensors that stay as they are."""
    return [Tensor(float(group['lr']), mstype.float32) for group in groups]


class LRScheduler:
    """Base: ``get_lr`` gives the learning rates of the groups at ``last_epoch``.

    Args:
        optimizer: of experimental.optim.
        last_epoch: number of the epoch before the first call of step, -1 at the start.
    """

    def __init__(self, optimizer, last_epoch=-1):
        self.groups = _groups(type(self).__name__, optimizer)
        self.optimizer = optimizer
        for group in self.groups:
            group.setdefault('initial_lr', float(group['lr']))
        self.base_lrs = [group['initial_lr'] for group in self.groups]
        self.last_epoch = last_epoch
        self._last_lr = _rates(self.groups)
        self.step()

    def get_lr(self):
        """The learning rates of this epoch."""
        raise NotImplementedError

    def get_last_lr(self):
        """The learning rates set last."""
        return list(self._last_lr)

    def step(self, epoch=None):
        """Go to the next epoch, or to a given one."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        for group, rate in zip(self.groups, self.get_lr()):
            _set(group, rate)
        self._last_lr = _rates(self.groups)
        return True

    def _now(self):
        return _rates(self.groups)


class StepLR(LRScheduler):
    """Times ``gamma`` every ``step_size`` epochs.

    Examples:
        >>> import spore as ms
        >>> from spore.experimental import optim
        >>> step = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name='w')], lr=1.0)
        >>> rates = optim.lr_scheduler.StepLR(step, step_size=2, gamma=0.5)
        >>> for _ in range(3):
        ...     done = rates.step()
        >>> rates.get_last_lr()
        [0.5]
    """

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times ``gamma`` at each epoch of ``milestones``."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma ** passed for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times ``gamma`` every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * self.gamma ** self.last_epoch for base in self.base_lrs]


class LinearLR(LRScheduler):
    """A factor that goes evenly from ``start_factor`` to ``end_factor`` in ``total_iters`` epochs."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            raise ValueError(f"For 'LinearLR', 'start_factor' must be above 0, and both factors at most 1, but got "
                             f"{start_factor} and {end_factor}.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        way = min(self.last_epoch, self.total_iters) / self.total_iters
        return [base * (self.start_factor + (self.end_factor - self.start_factor) * way) for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """A factor for the first ``total_iters`` epochs."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if not 0 <= factor <= 1:
            raise ValueError(f"For 'ConstantLR', 'factor' must be in 0 to 1, but got {factor}.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * (self.factor if self.last_epoch < self.total_iters else 1.0) for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Down to zero in ``total_iters`` epochs along a power."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        left = 1.0 - min(self.last_epoch, self.total_iters) / self.total_iters
        return [base * left ** self.power for base in self.base_lrs]


class LambdaLR(LRScheduler):
    """Times a function of the epoch, one for all groups or a list."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        count = len(_groups('LambdaLR', optimizer))
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise ValueError(f"For 'LambdaLR', there must be {count} functions, but got {len(self.lr_lambdas)}.")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * function(self.last_epoch) for base, function in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(LambdaLR):
    """The rate before times a function of the epoch."""

    def get_lr(self):
        if self.last_epoch == 0:
            return self._now()
        return [rate * function(self.last_epoch) for rate, function in zip(self._now(), self.lr_lambdas)]


class CosineAnnealingLR(LRScheduler):
    """A cosine wave between the first learning rate and ``eta_min``, down in ``T_max`` epochs."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """A half cosine wave from the learning rate down to ``eta_min`` in ``T_0`` epochs, then again; each wave is ``T_mult`` times as
    long as the one before.

    Examples:
        >>> from spore import nn
        >>> from spore.experimental import optim
        >>> rates = optim.lr_scheduler.CosineAnnealingWarmRestarts(optim.SGD(nn.Dense(2, 2).trainable_params(), lr=0.1), 2)
        >>> rates.step()
        >>> print(rates.get_last_lr()[0])
        0.05
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0, last_epoch=-1):
        for name, value in (('T_0', T_0), ('T_mult', T_mult)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"For 'CosineAnnealingWarmRestarts', '{name}' must be int, but got {_type_name(value)}.")
            if value < 1:
                raise ValueError(f"For 'CosineAnnealingWarmRestarts', '{name}' must be at least 1, but got {value}.")
        self._first, self._factor, self._low = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def step(self, epoch=None):
        """Go to the next epoch, or to a given one; answers nothing, as in MindSpore, where the others answer True."""
        super().step(epoch)

    def get_lr(self):
        epoch, length = self.last_epoch, self._first
        while epoch >= length:
            epoch -= length
            length *= self._factor
        wave = (1 + math.cos(math.pi * epoch / length)) / 2
        return [self._low + (base - self._low) * wave for base in self.base_lrs]


class CyclicLR(LRScheduler):
    """Up from ``base_lr`` to ``max_lr`` in ``step_size_up`` steps and down again in ``step_size_down``, over and over.

    Args:
        mode: "triangular": always the same; "triangular2": half as high each time; "exp_range": lower by ``gamma`` each step.
        scale_fn: in place of a mode: a function of the number of the cycle, or of the step (``scale_mode`` "iterations").

    Examples:
        >>> from spore import nn
        >>> from spore.experimental import optim
        >>> rates = optim.lr_scheduler.CyclicLR(optim.SGD(nn.Dense(2, 2).trainable_params(), lr=0.1), 0.0, 0.1, 2)
        >>> done = rates.step()
        >>> print(rates.get_last_lr()[0])
        0.05
    """

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode='triangular', gamma=1.0, scale_fn=None,
                 scale_mode='cycle', last_epoch=-1):
        groups = _groups('CyclicLR', optimizer)
        if mode not in ('triangular', 'triangular2', 'exp_range') and scale_fn is None:
            raise ValueError(f"For 'CyclicLR', mode is invalid: {mode!r}, and scale_fn is None.")
        self._base, self._top = (self._each(name, value, groups) for name, value in (('base_lr', base_lr), ('max_lr', max_lr)))
        self._up, self._down = float(step_size_up), float(step_size_up if step_size_down is None else step_size_down)
        if self._up <= 0 or self._down <= 0:
            raise ValueError("For 'CyclicLR', step_size_up and step_size_down must be positive.")
        self._scale = scale_fn or {'triangular': lambda n: 1.0, 'triangular2': lambda n: 1 / 2 ** (n - 1),
                                   'exp_range': lambda n: gamma ** n}[mode]
        self._by_step = scale_mode == 'iterations' if scale_fn else mode == 'exp_range'
        for group, low in zip(groups, self._base):
            _set(group, low)
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _each(name, value, groups):
        if isinstance(value, (list, tuple)):
            if len(value) != len(groups):
                raise ValueError(f"For 'CyclicLR', '{name}' must have a value for each of the {len(groups)} groups, but has {len(value)}.")
            return [float(v) for v in value]
        return [float(value)] * len(groups)

    def get_lr(self):
        total, step = self._up + self._down, self.last_epoch
        cycle = math.floor(1 + step / total)
        place = step - (cycle - 1) * total
        share = place / self._up if place <= self._up else (total - place) / self._down
        share = max(0.0, share) * self._scale(step if self._by_step else cycle)
        return [low + (top - low) * share for low, top in zip(self._base, self._top)]


class SequentialLR:
    """Schedulers one after another, changed at ``milestones``.

    Args:
        optimizer: the one of all schedulers.
        schedulers: in their order.
        milestones: epochs at which the next one starts, one fewer.
        last_epoch: as for LRScheduler.
    """

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(f"For 'SequentialLR', {len(schedulers)} schedulers need {len(schedulers) - 1} milestones, "
                             "but got "
                             f"{len(milestones)}.")
        if any(s.optimizer is not optimizer for s in schedulers):
            raise ValueError("For 'SequentialLR', all schedulers must belong to its optimizer.")
        self._schedulers, self._milestones, self.last_epoch = schedulers, list(milestones), last_epoch + 1
        for group, base in zip(optimizer.param_groups, schedulers[0].base_lrs):
            _set(group, base)
        for scheduler in schedulers:
            scheduler.last_epoch -= 1
        self._schedulers[0].step()

    def step(self):
        """Go to the next epoch."""
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            self._schedulers[at].step(0)
        else:
            self._schedulers[at].step()

    def get_last_lr(self):
        """The learning rates set last."""
        return self._schedulers[bisect_right(self._milestones, self.last_epoch)].get_last_lr()


class ReduceLROnPlateau:
    """Lowers the learning rate when a value given to ``step`` has not become better for some epochs.

    Args:
        optimizer: of experimental.optim.
        mode: "min" or "max".
        factor: what the rate is multiplied with, below 1.
        patience: epochs to wait.
        threshold, threshold_mode: what counts as better; "rel" to the best value or "abs".
        cooldown: epochs to wait after a change.
        min_lr: lowest rate, or a list of them.
        eps: changes smaller than this are left out.
    """

    def __init__(self, optimizer, mode='min', factor=0.1, patience=10, threshold=1e-4, threshold_mode='rel', cooldown=0,
                 min_lr=0, eps=1e-8):
        self.groups = _groups('ReduceLROnPlateau', optimizer)
        if not factor < 1.0:
            raise ValueError(f"For 'ReduceLROnPlateau', 'factor' must be less than 1, but got {factor}.")
        for name, value, known in (('mode', mode, ('min', 'max')), ('threshold_mode', threshold_mode, ('rel', 'abs'))):
            if value not in known:
                raise ValueError(f"For 'ReduceLROnPlateau', '{name}' must be one of {list(known)}, but got {value!r}.")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.min_lrs = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * len(self.groups)
        if len(self.min_lrs) != len(self.groups):
            raise ValueError(f"For 'ReduceLROnPlateau', 'min_lr' must hold {len(self.groups)} numbers, but got "
                             f"{len(self.min_lrs)}.")
        self.best = math.inf if mode == 'min' else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0

    @property
    def in_cooldown(self):
        """Is it waiting after a change?"""
        return self.cooldown_counter > 0

    def _better(self, value):
        sign = 1 if self.mode == 'min' else -1
        margin = self.threshold * (abs(self.best) if self.threshold_mode == 'rel' else 1)
        return math.isinf(self.best) or sign * value < sign * self.best - margin

    def step(self, metrics):
        """Learn the value of an epoch."""
        self.last_epoch += 1
        value = float(metrics)
        if self._better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.groups, self.min_lrs):
                before = float(group['lr'])
                new = max(before * self.factor, least)
                if before - new > self.eps:
                    _set(group, new)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        return True

    def get_last_lr(self):
        """The learning rates now."""
        return _rates(self.groups)
