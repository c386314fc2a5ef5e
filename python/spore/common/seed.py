# SPDX-License-Identifier: Apache-2.0
"""The seed of everything random that has no seed of its own."""
from spore._core import type_name as _type_name
from spore.common import generator

__all__ = ['set_seed', 'get_seed', '_get_graph_seed', '_truncate_seed', '_update_seeds', '_get_op_seed',
           '_set_global_seed']

_seed = None
_count = 0


def set_seed(seed):
    """Make everything random repeatable: initializers, operators and data sets start from this seed."""
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"set_seed: seed must be an int, but got {_type_name(seed)}")
    if seed < 0:
        raise ValueError(f"set_seed: seed must not be negative, but got {seed}")
    global _seed, _count
    _seed = seed
    _count = 0
    generator.default_generator.manual_seed(seed)
    import sys
    numpy = sys.modules.get('numpy')
    if numpy is None:
        import numpy
    numpy.random.seed(seed % 2 ** 32)
    data = sys.modules.get('spore.dataset')
    if data is not None and hasattr(data, 'config'):
        data.config.set_seed(seed % 2 ** 32)


def get_seed():
    """The seed given to set_seed, or None."""
    return _seed


def _set_global_seed(seed):
    set_seed(seed)


def _truncate_seed(seed):
    return seed % 2 ** 31


def _get_graph_seed(op_seed, kernel_name):
    """Two seeds for one use of an operator: the global one and a number of its own."""
    global _count
    _count += 1
    if _seed is None:
        return (0, 0) if not op_seed else (0, op_seed)
    return _truncate_seed(_seed), _truncate_seed(op_seed or _count)


def _update_seeds(op_seed, kernel_name):
    """Kept for code written against it: seeds are counted by use."""


def _get_op_seed(op_seed, kernel_name):
    return op_seed
