# SPDX-License-Identifier: Apache-2.0
"""Learning rates as lists with one value per step. They change at the end of epochs."""
import math

from spore.nn._optim_check import type_name, want_bool, want_count, want_float

__all__ = ['piecewise_constant_lr', 'exponential_decay_lr', 'natural_exp_decay_lr', 'inverse_decay_lr',
           'cosine_decay_lr',
           'polynomial_decay_lr', 'warmup_lr']


def piecewise_constant_lr(milestone, learning_rates):
    """``learning_rates[i]`` for the steps before ``milestone[i]``.

    Args:
        milestone: step numbers, rising.
        learning_rates: as many floats.

    Examples:
        >>> from spore import nn
        >>> nn.piecewise_constant_lr([2, 3], [0.1, 0.05])
        [0.1, 0.1, 0.05]
    """
    who = 'piecewise_constant_lr'
    for name, value in (('milestone', milestone), ('learning_rates', learning_rates)):
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"For '{who}', '{name}' must be a tuple or a list, but got {type_name(value)}.")
    if len(milestone) != len(learning_rates):
        raise ValueError(f"For '{who}', 'milestone' and 'learning_rates' must have one length, but got "
                         f"{len(milestone)} and "
                         f"{len(learning_rates)}.")
    rates, before = [], 0
    for i, (end, rate) in enumerate(zip(milestone, learning_rates)):
        want_count(who, f'milestone[{i}]', end)
        want_float(who, f'learning_rates[{i}]', rate)
        if end < before:
            raise ValueError(f"For '{who}', 'milestone' must rise, but milestone[{i}] is {end} after {before}.")
        rates += [rate] * (end - before)
        before = end
    return rates


def _counts(who, **counts):
    for name, value in counts.items():
        want_count(who, name, value)


def _check_decay(who, learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair):
    _counts(who, total_step=total_step, step_per_epoch=step_per_epoch, decay_epoch=decay_epoch)
    want_float(who, 'learning_rate', learning_rate, above=0.0)
    want_float(who, 'decay_rate', decay_rate, above=0.0)
    want_bool(who, 'is_stair', is_stair)


def exponential_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    """``learning_rate * decay_rate ** (epoch / decay_epoch)``; a stair rounds the exponent down.

    Args:
        learning_rate: at the start.
        decay_rate: factor per ``decay_epoch`` epochs.
        total_step: length of the list.
        step_per_epoch: steps in an epoch.
        decay_epoch: epochs in a period.
        is_stair: whether the rate changes only at the end of a period.

    Examples:
        >>> from spore import nn
        >>> nn.exponential_decay_lr(1.0, 0.5, 4, 2, 1)
        [1.0, 1.0, 0.5, 0.5]
    """
    _check_decay('exponential_decay_lr', learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair)
    periods = (step // step_per_epoch / decay_epoch for step in range(total_step))
    return [learning_rate * decay_rate ** (math.floor(p) if is_stair else p) for p in periods]


def natural_exp_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    """``learning_rate * e ** (-decay_rate * epoch)``; a stair holds the epoch at multiples of ``decay_epoch``.
    Arguments as for exponential_decay_lr."""
    _check_decay('natural_exp_decay_lr', learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair)
    epochs = (step // step_per_epoch for step in range(total_step))
    return [learning_rate * math.e ** (-decay_rate * (e // decay_epoch * decay_epoch if is_stair else e))
            for e in epochs]


def inverse_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    """``learning_rate / (1 + decay_rate * epoch / decay_epoch)``. Arguments as for exponential_decay_lr."""
    _check_decay('inverse_decay_lr', learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair)
    epochs = (step // step_per_epoch for step in range(total_step))
    if is_stair:
        return [learning_rate / (1 + decay_rate * math.floor(e / decay_epoch)) for e in epochs]
    return [learning_rate / (1 + decay_rate * e / decay_epoch) for e in epochs]


def cosine_decay_lr(min_lr, max_lr, total_step, step_per_epoch, decay_epoch):
    """Half a cosine wave from ``max_lr`` down to ``min_lr``, which is reached after ``decay_epoch`` epochs.

    Args:
        min_lr, max_lr: lowest and highest learning rate.
        total_step: length of the list.
        step_per_epoch: steps in an epoch.
        decay_epoch: epochs until the lowest rate.

    Examples:
        >>> from spore import nn
        >>> nn.cosine_decay_lr(0.0, 1.0, 3, 1, 2)
        [1.0, 0.5, 0.0]
    """
    who = 'cosine_decay_lr'
    want_float(who, 'min_lr', min_lr, least=0.0)
    want_float(who, 'max_lr', max_lr, above=0.0)
    _counts(who, total_step=total_step, step_per_epoch=step_per_epoch, decay_epoch=decay_epoch)
    if min_lr >= max_lr:
        raise ValueError(f"For '{who}', 'max_lr' must be greater than 'min_lr', but got {max_lr} and {min_lr}.")
    epochs = (min(step // step_per_epoch, decay_epoch) for step in range(total_step))
    return [min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * e / decay_epoch)) for e in epochs]


def polynomial_decay_lr(learning_rate, end_learning_rate, total_step, step_per_epoch, decay_epoch, power,
                        update_decay_epoch=False):
    """From ``learning_rate`` to ``end_learning_rate`` along a power of the remaining way.

    Args:
        learning_rate, end_learning_rate: at the start and after ``decay_epoch`` epochs.
        total_step: length of the list.
        step_per_epoch: steps in an epoch.
        decay_epoch: epochs between start and end.
        power: of the remaining way.
        update_decay_epoch: whether ``decay_epoch`` is doubled, tripled, ... when it is passed, instead of stopping
            there.
    """
    who = 'polynomial_decay_lr'
    want_float(who, 'learning_rate', learning_rate, above=0.0)
    want_float(who, 'end_learning_rate', end_learning_rate, least=0.0)
    want_float(who, 'power', power, above=0.0)
    _counts(who, total_step=total_step, step_per_epoch=step_per_epoch, decay_epoch=decay_epoch)
    want_bool(who, 'update_decay_epoch', update_decay_epoch)
    rates = []
    for step in range(total_step):
        epoch = step // step_per_epoch
        if update_decay_epoch:
            way = epoch / (decay_epoch * max(math.ceil(epoch / decay_epoch), 1))
        else:
            way = min(epoch, decay_epoch) / decay_epoch
        rates.append((learning_rate - end_learning_rate) * (1 - way) ** power + end_learning_rate)
    return rates


def warmup_lr(learning_rate, total_step, step_per_epoch, warmup_epoch):
    """Grows evenly from 0 to ``learning_rate`` in ``warmup_epoch`` epochs, then stays.

    Args:
        learning_rate: at the end.
        total_step: length of the list.
        step_per_epoch: steps in an epoch.
        warmup_epoch: epochs to get there.

    Examples:
        >>> from spore import nn
        >>> nn.warmup_lr(1.0, 4, 1, 2)
        [0.0, 0.5, 1.0, 1.0]
    """
    who = 'warmup_lr'
    want_float(who, 'learning_rate', learning_rate, least=0.0)
    _counts(who, warmup_epoch=warmup_epoch, total_step=total_step, step_per_epoch=step_per_epoch)
    return [learning_rate * min(step // step_per_epoch, warmup_epoch) / warmup_epoch for step in range(total_step)]
