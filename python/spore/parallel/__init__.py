# SPDX-License-Identifier: Apache-2.0
"""Distributed execution: networks split over processes, their checkpoints, settings by MindSpore's names."""
from spore.parallel._auto_parallel_context import auto_parallel_context
from spore.parallel.algo_parameter_config import get_algo_parameters, reset_algo_parameters, set_algo_parameters
from spore.parallel.shard import Layout, shard

__all__ = ['set_algo_parameters', 'reset_algo_parameters', 'get_algo_parameters', 'shard', 'Layout', 'merge_sliced_parameter',
           'build_searched_strategy', 'load_distributed_checkpoint', 'merge_pipeline_strategys', 'rank_list_for_transform',
           'restore_group_info_list', 'sync_pipeline_shared_parameters', 'transform_checkpoint_by_rank', 'transform_checkpoints',
           'parameter_broadcast', 'unified_safetensors', 'convert_checkpoints', 'convert_checkpoint_by_rank', 'rank_list_for_convert',
           'get_ckpt_path_with_strategy']


def __getattr__(name):
    if name == 'AutoParallel':      # needs nn, which is loaded on first use only
        from spore.parallel.auto_parallel import AutoParallel
        return AutoParallel
    if not name.startswith('_'):
        from spore.parallel.checkpoint_transform import __all__ as names
        if name in names:
            import spore.parallel.checkpoint_transform as checkpoints
            return getattr(checkpoints, name)
        if name in ('nn', 'strategy'):
            import importlib
            return importlib.import_module('spore.parallel.' + name)
    raise AttributeError(f"module 'spore.parallel' has no attribute '{name}'")
