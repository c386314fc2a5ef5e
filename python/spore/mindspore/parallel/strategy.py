# SPDX-License-Identifier: Apache-2.0
"""How Parameters are split over processes: there is one, hence nothing is, as MindSpore answers for networks that are not split."""

__all__ = ['get_strategy_metadata', 'get_current_strategy_metadata', 'enable_save_strategy_online', 'clear_strategy_metadata']


def enable_save_strategy_online():
    """Keep how networks are split when they are compiled. None is."""


def clear_strategy_metadata():
    """Forget how networks are split."""


def get_strategy_metadata(network, rank_id=None):
    """How the Parameters of a network are split over all processes, or that with `rank_id`; None: they are not."""


def get_current_strategy_metadata(network):
    """How the Parameters of a network are split for this process; None: they are not."""
