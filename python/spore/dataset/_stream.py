# SPDX-License-Identifier: Apache-2.0
"""Seeds of random transforms that are called one by one: (seed, row), never the same twice.

With a seed set (dataset.config.set_seed or spore.set_seed) they follow from the number of calls since; without one they
differ from process to process.
"""
import itertools
import os

from spore.dataset import config

_own_seed = int.from_bytes(os.urandom(8), 'little')
_state = {'seed': None, 'rows': itertools.count(), 'row': None}


def restart():
    """Count calls from 0 again; for whoever sets a seed."""
    _state['rows'] = itertools.count()


def set_row(seed):
    """From now on calls follow from the seed of a row: for worker processes, where the number of calls means nothing."""
    _state['row'] = seed
    restart()


def next_stream():
    """(seed, row) of the next call."""
    if _state['row'] is not None:
        return _state['row'], next(_state['rows'])
    seed = config.seed_or_none()
    if seed != _state['seed']:
        _state['seed'] = seed
        restart()
    return (_own_seed if seed is None else seed), next(_state['rows'])


def seed_now():
    """The seed that was set, or a random one."""
    seed = config.seed_or_none()
    return int.from_bytes(os.urandom(8), 'little') if seed is None else seed
