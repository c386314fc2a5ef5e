# SPDX-License-Identifier: Apache-2.0
"""Settings that are accepted and not carried out: a line for each in the log, once. Those that change neither results nor resources
need none; tests/python/unread_arguments.txt lists them."""

_said = set()


def not_done(what, why='one process'):
    """Say once that `what` has no effect."""
    if what in _said:
        return
    _said.add(what)
    from spore import log  # not before: loading it takes time that most programs need not spend
    log.warning(f"{what} is not done: {why}")


def splits(strategy):
    """Whether a sharding strategy divides anything: a number above 1 in it, or a Layout that names an axis of more than one device."""
    if isinstance(strategy, dict):
        return any(splits(part) for part in strategy.values())
    if isinstance(strategy, (tuple, list)):
        return any(splits(part) for part in strategy)
    if hasattr(strategy, 'to_dict'):
        return strategy._splits()
    return isinstance(strategy, int) and not isinstance(strategy, bool) and strategy > 1


def shard_not_done(who, *strategies):
    """Say once that nothing is split, if there is something to split."""
    from spore import context
    if context._ranks() > 1:  # compiled functions are split
        return
    if any(splits(strategy) for strategy in strategies):
        not_done(f"{who}.shard", "one process computes the whole")
