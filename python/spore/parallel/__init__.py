# SPDX-License-Identifier: Apache-2.0
"""Distributed execution. There is one process and one device: options are kept, and networks run whole."""
from spore.parallel._auto_parallel_context import auto_parallel_context
from spore.parallel.algo_parameter_config import get_algo_parameters, reset_algo_parameters, set_algo_parameters
from spore.parallel.shard import Layout, shard

__all__ = ['set_algo_parameters', 'reset_algo_parameters', 'get_algo_parameters', 'shard', 'Layout']


def __getattr__(name):
    if name == 'AutoParallel':      # needs nn, which is loaded on first use only
        from spore.parallel.auto_parallel import AutoParallel
        return AutoParallel
    raise AttributeError(f"module 'spore.parallel' has no attribute '{name}'")
