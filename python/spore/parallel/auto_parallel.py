# SPDX-License-Identifier: Apache-2.0
"""A network to be run in parallel: on one device it runs as it is."""
import os

from spore._core import type_name as _type_name
from spore._not_done import not_done
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

    def construct(self, *args, **kwargs):
        return self.network(*args, **kwargs)

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
            output_broadcast: whether all stages get the results, which they do in any case.
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
        """How much of gradients travels together: {"allreduce": {"mode": "size", "config": 32}} for 32 MB."""
        if config is not None and not isinstance(config, dict):
            raise TypeError(f"AutoParallel.comm_fusion: a dict is wanted, but got {_type_name(config)}")
        set_auto_parallel_context(comm_fusion=config)

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

    def disable_strategy_file_only_for_trainable_params(self):
        """Strategy files have all Parameters, not only those that are trained."""
        set_auto_parallel_context(strategy_ckpt_config={**get_auto_parallel_context('strategy_ckpt_config'), 'only_trainable_params': False})

    def save_operator_strategy_file(self, file_path):
        """Not done, and said so: files keep the strategies of Parameters (save_param_strategy_file).

        Args:
            file_path: a full path that ends in ".json".
        """
        self._operator_file('save', file_path)

    def load_operator_strategy_file(self, file_path):
        """Not done, and said so: files keep the strategies of Parameters (load_param_strategy_file).

        Args:
            file_path: a full path that ends in ".json".
        """
        self._operator_file('load', file_path)

    @staticmethod
    def _operator_file(verb, path):
        if not isinstance(path, str):
            raise TypeError(f"the path of a strategy file must be a str, but got {_type_name(path)}")
        if not os.path.isabs(path) or not path.endswith('.json'):
            raise KeyError(f"the path of a file of operators must be absolute and end in '.json', but got {path!r}")
        not_done(f"AutoParallel.{verb}_operator_strategy_file", "no file of operators is read or written; strategies of Parameters are")

    def set_group_ckpt_save_file(self, file_path):
        """Not done, and said so: no file of groups is written.

        Args:
            file_path: the file.
        """
        if not isinstance(file_path, str):
            raise TypeError(f"the path of the file of groups must be a str, but got {_type_name(file_path)}")
        set_auto_parallel_context(group_ckpt_save_file=file_path)

    def no_init_parameters_in_compile(self):
        """Parameters keep what they have; they are never made anew when a function is compiled."""

    def enable_gradients_mean(self):
        """Data parallelism averages gradients, where it would add them. What is split gives the gradients of one process either way."""
        set_auto_parallel_context(gradients_mean=True)

    def enable_fp32_communication(self):
        """Sums of 16-bit numbers are taken in float32 whatever this says."""
        set_auto_parallel_context(force_fp32_communication=True)

    def disable_gradient_fp32_sync(self):
        """Gradients need not be float32 to be brought together."""
        set_auto_parallel_context(gradient_fp32_sync=False)

    def disable_loss_repeated_mean(self):
        """Not done, and said so: gradients are those of one process, whatever is computed repeatedly."""
        set_auto_parallel_context(loss_repeated_mean=False)

    def print_local_norm(self):
        """Not done, and said so: norms of the gradients of single processes are not shown."""
        set_auto_parallel_context(dump_local_norm=True)

    def dump_local_norm(self, file_path):
        """Not done, and said so: norms of gradients are not written.

        Args:
            file_path: the folder for them.
        """
        if not isinstance(file_path, str):
            raise TypeError(f"the path for norms must be a str, but got {_type_name(file_path)}")
        set_auto_parallel_context(dump_local_norm_path=file_path)

    def enable_device_local_norm(self):
        """Not done, and said so: norms of the gradients of single processes are not shown."""
        set_auto_parallel_context(dump_device_local_norm=True)

    def get_pipeline_stages(self):
        """The number of stages that was set."""
        return get_auto_parallel_context('pipeline_stages')

    def transformer_opt(self, file_path):
        """Not done, and said so: the engine has no such switches.

        Args:
            file_path: a JSON file of switches; None or "" for none.
        """
        if file_path is not None and not isinstance(file_path, str):
            raise TypeError(f"the path of the file of switches must be a str or None, but got {_type_name(file_path)}")
        if file_path:
            not_done(f"AutoParallel.transformer_opt({file_path!r})", "exchanges are begun and awaited as the data allow, without switches")
