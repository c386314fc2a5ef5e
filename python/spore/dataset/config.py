# SPDX-License-Identifier: Apache-2.0
"""Settings of data pipelines."""
from spore.common.seed import get_seed as _process_seed

__all__ = ['set_seed', 'get_seed', 'set_num_parallel_workers', 'get_num_parallel_workers', 'set_prefetch_size',
           'get_prefetch_size']

_values = {'seed': None, 'num_parallel_workers': 1, 'prefetch_size': 16}


def _count(name, value, least):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, but got {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, but got {value}")
    return value


def set_seed(seed):
    """The seed of shuffling; the one of spore.set_seed otherwise."""
    from spore.dataset import _stream
    _values['seed'] = _count('seed', seed, 0)
    _stream.restart()


def get_seed():
    """The seed of shuffling, None if none was set."""
    return _values['seed'] if _values['seed'] is not None else _process_seed()


def set_num_parallel_workers(num):
    """Accepted: rows are made one after another."""
    _values['num_parallel_workers'] = _count('num_parallel_workers', num, 1)


def get_num_parallel_workers():
    """What was set."""
    return _values['num_parallel_workers']


def set_prefetch_size(size):
    """Accepted: rows are made when they are asked for."""
    _values['prefetch_size'] = _count('prefetch_size', size, 1)


def get_prefetch_size():
    """What was set."""
    return _values['prefetch_size']
