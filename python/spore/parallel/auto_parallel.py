# SPDX-License-Identifier: Apache-2.0
"""A network to be run in parallel: on one device it runs as it is."""
from spore._not_done import not_done
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
        not_done(f"AutoParallel(parallel_mode={parallel_mode!r})", "one process computes the whole")
        self.network = network
        self._parallel_mode = parallel_mode
        self._options = {}

    def construct(self, *args, **kwargs):
        return self.network(*args, **kwargs)

    def _keep(self, name, value):
        self._options[name] = value

    def full_batch(self, value):
        """Does each device read the whole batch?"""
        self._keep('full_batch', value)

    def dataset_strategy(self, config):
        """How the data is split."""
        self._keep('dataset_strategy', config)

    def hsdp(self, shard_size=-1, threshold=64, optimizer_level='level1'):
        """How the optimizer's state is split."""
        self._keep('hsdp', (shard_size, threshold, optimizer_level))

    def pipeline(self, stages=1, output_broadcast=False, interleave=False, scheduler='1f1b'):
        """Number of pipeline stages."""
        self._keep('pipeline', (stages, output_broadcast, interleave, scheduler))

    def comm_fusion(self, config):
        """How communication is put together."""
        self._keep('comm_fusion', config)

    def load_param_strategy_file(self, file_path):
        """Where strategies are read."""
        self._keep('load_param_strategy_file', file_path)

    def save_param_strategy_file(self, file_path):
        """Where strategies are written."""
        self._keep('save_param_strategy_file', file_path)
