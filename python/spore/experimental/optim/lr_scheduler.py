# SPDX-License-Identifier: Apache-2.0
"""Learning rates that change when ``step()`` is called, usually once an epoch."""
import math
from bisect import bisect_right
from collections import Counter

from spore._core import Tensor
from spore.common import dtype as mstype
from spore.experimental.optim.optimizer import Optimizer

__all__ = ['LRScheduler', 'StepLR', 'MultiStepLR', 'ExponentialLR', 'LinearLR', 'ConstantLR', 'PolynomialLR',
           'LambdaLR',
           'MultiplicativeLR', 'CosineAnnealingLR', 'ReduceLROnPlateau', 'SequentialLR']


def _groups(who, optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"For '{who}', 'optimizer' must be an experimental.optim.Optimizer, but got "
                        f"{type(optimizer).__name__}.")
    return optimizer.param_groups


def _set(group, rate):
    group['lr'].set_data(Tensor(float(rate), mstype.float32))


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
        self._last_lr = [float(group['lr']) for group in self.groups]
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
        self._last_lr = [float(group['lr']) for group in self.groups]

    def _now(self):
        return [float(group['lr']) for group in self.groups]


class StepLR(LRScheduler):
    """Times ``gamma`` every ``step_size`` epochs.

    Examples:
        >>> import spore as ms
        >>> from spore.experimental import optim
        >>> step = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name='w')], lr=1.0)
        >>> rates = optim.lr_scheduler.StepLR(step, step_size=2, gamma=0.5)
        >>> for _ in range(3):
        ...     rates.step()
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

    def get_last_lr(self):
        """The learning rates now."""
        return [float(group['lr']) for group in self.groups]
