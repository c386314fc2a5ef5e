# SPDX-License-Identifier: Apache-2.0
"""A network to be run in parallel: on one device it runs as it is."""
from spore._core import type_name as _type_name
from spore.context import get_auto_parallel_context, set_auto_parallel_context
from spore.common.api import jit  # noqa: F401  taken from here by some, as the next two
from spore.communication import get_group_size, get_rank  # noqa: F401
from spore.parallel.shard import Layout  # noqa: F401
from spore.nn.cell import Cell

__all__ = ['AutoParallel']

_MODES = ('semi_auto', 'sharding_propagation', 'recursive_programming')


class AutoParallel(Cell):
    """Marks a network for parallel execution.

    Args:
        network: the network.
        parallel_mode: "semi_auto", "sharding_propagation" or "recursive_programming".
    """

    def __init__(self, network, parallel_mode='semi_auto'):
        super().__init__(auto_prefix=False)
        if parallel_mode not in _MODES:
            raise ValueError(f"AutoParallel: parallel_mode must be one of {list(_MODES)}, but got {parallel_mode!r}")
        if parallel_mode == 'semi_auto':
            set_auto_parallel_context(parallel_mode='semi_auto_parallel')
        else:
            set_auto_parallel_context(parallel_mode='auto_parallel', search_mode=parallel_mode)
        self.network = network
        self._parallel_mode = parallel_mode
        self._options = {}

    def construct(self, *args, **kwargs):
        return self.network(*args, **kwargs)

    def _keep(self, name, value):
        self._options[name] = value

    def full_batch(self, value):
        """Does each device read the whole batch?"""
        if not isinstance(value, bool):
            raise TypeError(f"full_batch must be a bool, but got {_type_name(value)}")
        set_auto_parallel_context(full_batch=value)

    def dataset_strategy(self, config):
        """How the data is split."""
        if config not in ('full_batch', 'data_parallel') and not isinstance(config, tuple):
            raise ValueError(f"dataset_strategy must be 'full_batch', 'data_parallel' or a tuple, but got {config!r}")
        set_auto_parallel_context(dataset_strategy=config)

    def hsdp(self, shard_size=-1, threshold=64, optimizer_level='level1'):
        """Share out the states of optimizers over processes.

        Args:
            shard_size: processes that share one state; -1: all that would repeat it.
            threshold: Parameters of fewer KB are left out.
            optimizer_level: "level1": states; "level2": gradients, too; "level3": and Parameters, gathered for every use.
        """
        if not isinstance(shard_size, int) or (shard_size <= 0 and shard_size != -1):
            raise ValueError(f"shard_size must be a positive integer or -1, but got {shard_size}.")
        if not isinstance(threshold, int) or threshold < 0:
            raise ValueError(f"threshold must be a positive integer or 0, but got {threshold}.")
        if optimizer_level not in ('level1', 'level2', 'level3'):
            raise ValueError(f"Optimizer level should in ['level1', 'level2', 'level3'], but got {optimizer_level}.")
        set_auto_parallel_context(enable_parallel_optimizer=True, optimizer_level=optimizer_level, parallel_optimizer_config={
            'parallel_optimizer_threshold': threshold, 'optimizer_weight_shard_size': shard_size})

    def pipeline(self, stages=1, output_broadcast=False, interleave=False, scheduler='1f1b'):
        """Divide the network into the stages of a pipeline; Cells say where they belong by pipeline_stage.

        Args:
            stages: number of stages; each has equally many processes.
            output_broadcast: accepted; all stages get the results in any case.
            interleave: whether stages may have several segments of the network.
            scheduler: "1f1b" or "gpipe".
        """
        for name, value, kind in (("stages", stages, int), ("output_broadcast", output_broadcast, bool), ("interleave", interleave, bool),
                                  ("scheduler", scheduler, str)):
            if not isinstance(value, kind):
                raise TypeError(f"For 'AutoParallel.pipeline', the argument '{name}' must be {kind.__name__} type, but got the type : {type(value)}.")
        if stages <= 0:
            raise ValueError(f"For 'AutoParallel.pipeline', the argument 'stages' must be larger than zero, but got value: {stages}.")
        if scheduler not in ('1f1b', 'gpipe'):
            others = ('seqpipe', 'seqvpp', 'seqsmartvpp', 'zero_bubble_v')
            if scheduler in others:
                raise NotImplementedError(f"AutoParallel.pipeline: the scheduler '{scheduler}' is not done; '1f1b' and 'gpipe' are")
            raise ValueError(f"For 'AutoParallel.pipeline', the argument 'scheduler' must be '1f1b'/'gpipe', but got the value : {scheduler}.")
        set_auto_parallel_context(pipeline_stages=stages, pipeline_result_broadcast=output_broadcast, pipeline_interleave=interleave,
                                  pipeline_scheduler=scheduler)

    def comm_fusion(self, config):
        """How communication is put together."""
        self._keep('comm_fusion', config)

    def load_param_strategy_file(self, file_path):
        """Parameters are split as this file says: JSON where its name ends so, else protobuf."""
        set_auto_parallel_context(strategy_ckpt_config=self._strategy_config('load_file', file_path))

    def save_param_strategy_file(self, file_path):
        """How Parameters are split is written to this file when a function is compiled."""
        self._save_strategy_file_path = file_path
        set_auto_parallel_context(strategy_ckpt_config=self._strategy_config('save_file', file_path))

    @staticmethod
    def _strategy_config(key, path):
        if not isinstance(path, str) or not path.endswith(('.ckpt', '.json')):
            raise ValueError(f"the name of a strategy file ends with .ckpt or .json, but got {path!r}")
        return {**get_auto_parallel_context('strategy_ckpt_config'), key: path}
