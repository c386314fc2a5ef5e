# SPDX-License-Identifier: Apache-2.0
"""Cells around networks: loss, training step, loss scale."""
from spore.nn.layer.timedistributed import TimeDistributed
from spore.nn.wrap.cell_wrapper import (ForwardValueAndGrad, GradAccumulationCell, MicroBatchInterleaved, ParameterUpdate,
                                        PipelineCell, TrainOneStepCell, VirtualDatasetCellTriple, WithEvalCell, WithGradCell,
                                        WithLossCell, _VirtualDatasetCell)
from spore.nn.wrap.graph_cell import GraphCell
from spore.nn.wrap.grad_reducer import DistributedGradReducer, PipelineGradReducer
from spore.nn.wrap.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell, TrainOneStepWithLossScaleCell

__all__ = ["TimeDistributed", "ForwardValueAndGrad", "TrainOneStepCell", "WithLossCell", "WithGradCell", "WithEvalCell",
           "TrainOneStepWithLossScaleCell", "DistributedGradReducer", "ParameterUpdate", "DynamicLossScaleUpdateCell",
           "FixedLossScaleUpdateCell", "VirtualDatasetCellTriple", "GradAccumulationCell", "MicroBatchInterleaved",
           "PipelineCell", "PipelineGradReducer", "GraphCell"]
