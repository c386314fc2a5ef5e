# SPDX-License-Identifier: Apache-2.0
"""Learning rates as Cells: called with the step, they give its learning rate."""
import math

from spore import ops
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.nn.cell import Cell
from spore.nn._optim_check import want_bool, want_count, want_float

__all__ = ['LearningRateSchedule', 'ExponentialDecayLR', 'NaturalExpDecayLR', 'InverseDecayLR', 'CosineDecayLR',
           'PolynomialDecayLR',
           'WarmUpLR']


class LearningRateSchedule(Cell):
    """Base of learning rates that follow from the step; subclasses write ``construct(global_step)``."""

    def construct(self, global_step):
        raise NotImplementedError(f"For '{self.cls_name}', the method 'construct' is not defined.")


def _step(global_step, most=None):
    """The step as float32 Tensor, cut off at ``most``."""
    step = global_step if isinstance(global_step, Tensor) else Tensor(global_step)
    step = step.astype(mstype.float32)
    return step if most is None else ops.minimum(step, float(most))


class _Decay(LearningRateSchedule):
    """Arguments of the three schedules that fall by a rate."""

    def __init__(self, learning_rate, decay_rate, decay_steps, is_stair=False):
        super().__init__()
        who = self.cls_name
        self.decay_steps = want_count(who, 'decay_steps', decay_steps)
        self.learning_rate = want_float(who, 'learning_rate', learning_rate, above=0.0)
        self.decay_rate = want_float(who, 'decay_rate', decay_rate, above=0.0)
        self.is_stair = want_bool(who, 'is_stair', is_stair)

    def _periods(self, global_step):
        periods = _step(global_step) / self.decay_steps
        return ops.floor(periods) if self.is_stair else periods


class ExponentialDecayLR(_Decay):
    """``learning_rate * decay_rate ** (step / decay_steps)``.

    Args:
        learning_rate: at the start.
        decay_rate: factor per ``decay_steps``.
        decay_steps: length of a period.
        is_stair: whether the rate changes only at the end of a period.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.ExponentialDecayLR(0.5, 0.5, 2)(ms.Tensor(2, ms.int32)))
        0.25
    """

    def construct(self, global_step) -> Tensor:
        return self.learning_rate * ops.pow(self.decay_rate, self._periods(global_step))


class NaturalExpDecayLR(_Decay):
    """``learning_rate * e ** (-decay_rate * step)``; a stair holds the step at multiples of ``decay_steps``. Arguments
    as for ExponentialDecayLR."""

    def construct(self, global_step) -> Tensor:
        step = _step(global_step)
        if self.is_stair:
            step = ops.floor(step / self.decay_steps) * self.decay_steps
        return self.learning_rate * ops.exp(step * -self.decay_rate)


class InverseDecayLR(_Decay):
    """``learning_rate / (1 + decay_rate * step / decay_steps)``. Arguments as for ExponentialDecayLR."""

    def construct(self, global_step) -> Tensor:
        return self.learning_rate / (self._periods(global_step) * self.decay_rate + 1)


class CosineDecayLR(LearningRateSchedule):
    """Half a cosine wave from ``max_lr`` down to ``min_lr``, which is reached after ``decay_steps``.

    Args:
        min_lr, max_lr: lowest and highest learning rate.
        decay_steps: steps between them.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.CosineDecayLR(0.0, 0.5, 4)(ms.Tensor(0, ms.int32)))
        0.5
    """

    def __init__(self, min_lr, max_lr, decay_steps):
        super().__init__()
        self.min_lr = want_float(self.cls_name, 'min_lr', min_lr, least=0.0)
        self.max_lr = want_float(self.cls_name, 'max_lr', max_lr, above=0.0)
        self.decay_steps = want_count(self.cls_name, 'decay_steps', decay_steps)
        if min_lr >= max_lr:
            raise ValueError(f"For 'CosineDecayLR', 'max_lr' must be greater than 'min_lr', but got {max_lr} and "
                             f"{min_lr}.")

    def construct(self, global_step) -> Tensor:
        wave = ops.cos(_step(global_step, self.decay_steps) * (math.pi / self.decay_steps))
        return (wave + 1.0) * (0.5 * (self.max_lr - self.min_lr)) + self.min_lr


class PolynomialDecayLR(LearningRateSchedule):
    """From ``learning_rate`` to ``end_learning_rate`` along a power of the remaining way.

    Args:
        learning_rate, end_learning_rate: at the start and after ``decay_steps``.
        decay_steps: steps between them.
        power: of the remaining way; 1.0 is a straight line.
        update_decay_steps: whether ``decay_steps`` is doubled, tripled, ... when it is passed, instead of stopping
            there.
    """

    def __init__(self, learning_rate, end_learning_rate, decay_steps, power, update_decay_steps=False):
        super().__init__()
        who = self.cls_name
        self.start_learning_rate = want_float(who, 'learning_rate', learning_rate, above=0.0)
        self.end_learning_rate = want_float(who, 'end_learning_rate', end_learning_rate, least=0.0)
        self.decay_steps = want_count(who, 'decay_steps', decay_steps)
        self.power = want_float(who, 'power', power, above=0.0)
        self.update_decay_steps = want_bool(who, 'update_decay_steps', update_decay_steps)
        self.diff_learning_rate = learning_rate - end_learning_rate

    def construct(self, global_step) -> Tensor:
        if self.update_decay_steps:
            step = _step(global_step)
            way = step / (ops.maximum(ops.ceil(step / self.decay_steps), 1.0) * self.decay_steps)
        else:
            way = _step(global_step, self.decay_steps) / self.decay_steps
        return ops.pow(1.0 - way, self.power) * self.diff_learning_rate + self.end_learning_rate


class WarmUpLR(LearningRateSchedule):
    """Grows evenly from 0 to ``learning_rate`` in ``warmup_steps``, then stays.

    Args:
        learning_rate: at the end.
        warmup_steps: steps to get there.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.WarmUpLR(0.5, 4)(ms.Tensor(2, ms.int32)))
        0.25
    """

    def __init__(self, learning_rate, warmup_steps):
        super().__init__()
        self.learning_rate = want_float(self.cls_name, 'learning_rate', learning_rate, least=0.0)
        self.warmup_steps = want_count(self.cls_name, 'warmup_steps', warmup_steps)

    def construct(self, global_step) -> Tensor:
        return _step(global_step, self.warmup_steps) / self.warmup_steps * self.learning_rate
