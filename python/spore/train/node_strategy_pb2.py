# SPDX-License-Identifier: Apache-2.0
"""Strategy files of distributed training as messages."""
from spore.train._messages import classes

__all__ = ["ParallelStrategyMap", "ParallelGroupMap"]

_FIELDS = {
    "ParallelStrategy": "1 dim i*",
    "ParallelStrategys": "1 stage i, 2 parallel_strategy ParallelStrategy*",
    "ParallelStrategyItem": "1 node_name s, 2 parallel_strategys ParallelStrategys",
    "DevMatrix": "1 dim i*",
    "TensorMap": "1 dim i*",
    "ParamSplitShape": "1 dim i*",
    "IndicesOffset": "1 dim i*",
    "ParallelLayouts": "1 dev_matrix DevMatrix*, 2 tensor_map TensorMap*, 3 param_split_shape ParamSplitShape*, "
                       "4 indices_offset IndicesOffset*, 5 field i, 6 opt_weight_shard_step i, 7 opt_weight_shard_size i",
    "ParallelLayoutItem": "1 param_name s, 2 parallel_layouts ParallelLayouts",
    "ParallelGroupRanks": "1 dim i*",
    "ParallelGroupItem": "1 group_name s, 2 parallel_group_ranks ParallelGroupRanks",
    "ParallelGroupMap": "1 parallel_group_item ParallelGroupItem*, 2 ckpt_restore_rank_list ParallelGroupRanks",
    "ParallelStrategyMap": "1 current_stage i, 2 parallel_strategy_item ParallelStrategyItem*, 3 parallel_layout_item ParallelLayoutItem*",
}
globals().update(classes(_FIELDS, __name__, "of a strategy file"))
