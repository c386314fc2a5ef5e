# SPDX-License-Identifier: Apache-2.0
"""The options of distributed execution as an object, the way older model code reaches for them."""
from spore.context import get_auto_parallel_context, reset_auto_parallel_context, set_auto_parallel_context

__all__ = []


class _AutoParallelContext:
    """``get_<option>()`` and ``set_<option>(value)`` for every option of set_auto_parallel_context."""

    def __getattr__(self, name):
        verb, _, option = name.partition('_')
        if verb == 'get' and option:
            return lambda: get_auto_parallel_context(option)
        if verb == 'set' and option:
            return lambda value: set_auto_parallel_context(**{option: value})
        raise AttributeError(f"auto_parallel_context has no attribute '{name}'")

    def reset(self):
        """All options as at the start."""
        reset_auto_parallel_context()

    def set_all_reduce_fusion_split_indices(self, indices, group=''):
        """Note where gradients are split into groups for communication."""
        set_auto_parallel_context(all_reduce_fusion_config=list(indices))

    def get_all_reduce_fusion_split_indices(self):
        """What was noted."""
        return get_auto_parallel_context('all_reduce_fusion_config')


_context = _AutoParallelContext()


def auto_parallel_context():
    """The one object."""
    return _context
