# SPDX-License-Identifier: Apache-2.0
"""Gradients brought together over devices. On one device they stay as they are."""
from spore import context
from spore import ops
from spore._not_done import not_done
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.nn.cell import Cell

__all__ = ["DistributedGradReducer", "PipelineGradReducer"]


def _group_size(group):
    from spore.communication import get_group_size
    return get_group_size(group)


class DistributedGradReducer(Cell):
    """Sums, or averages, gradients over the devices of a group.

    Args:
        parameters: the Parameters the gradients belong to; those with layerwise_parallel are left out.
        mean: whether to average. Default None, as the context says (gradients_mean).
        degree: number of devices. Default None, the size of the group; a larger number is told and taken as that.
        fusion_type: number of the bucket. Default 1.
        group: name of the group.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.Dense(2, 1)
        >>> reducer = nn.DistributedGradReducer(net.trainable_params(), degree=1)
        >>> print(reducer((ms.Tensor([1.0]),))[0])
        [1.]
    """

    def __init__(self, parameters, mean=None, degree=None, fusion_type=1, group="hccl_world_group"):
        super().__init__(auto_prefix=False)
        self.mean = context.get_auto_parallel_context("gradients_mean") if mean is None else mean
        size = _group_size(group)
        if degree is None:
            degree = size
        elif not isinstance(degree, int) or isinstance(degree, bool) or degree <= 0:
            raise ValueError(f"For 'DistributedGradReducer', 'degree' must be an int above 0, but got {degree!r}.")
        if degree > size:
            not_done(f"DistributedGradReducer: a mean over degree={degree}", f"the group has {size} process{'es' if size > 1 else ''}")
            degree = size
        self.degree, self.fusion_type = degree, fusion_type
        self.allreduce_filter = tuple(not p.layerwise_parallel for p in parameters)
        self._sum = ops.AllReduce("sum", group) if degree > 1 else None

    def construct(self, grads):
        if self._sum is None:
            return grads
        return tuple(self._reduce(g) if wanted else g for g, wanted in zip(grads, self.allreduce_filter))

    def _reduce(self, grad):
        total = self._sum(grad.astype(mstype.float32))
        return (total / self.degree if self.mean else total).astype(grad.dtype)


class PipelineGradReducer(Cell):
    """Scales the gradients of a pipeline; on one device, where micro batches are summed already, that is all.

    Args:
        parameters: the Parameters the gradients belong to.
        scale_sense: what gradients are divided by. Default 1.0.
        opt_shard: whether optimizer states are split over devices. Default None.

    Examples:
        >>> from spore import Tensor, nn
        >>> net = nn.Dense(2, 1)
        >>> reducer = nn.PipelineGradReducer(net.trainable_params(), scale_sense=2.0)
        >>> gradients = reducer((Tensor([[2.0, 4.0]]), Tensor([6.0])))
        >>> print(*gradients)
        [[1. 2.]] [3.]
    """

    def __init__(self, parameters, scale_sense=1.0, opt_shard=None):
        super().__init__(auto_prefix=False)
        self.scale_sense = Parameter(scale_sense, name="scale_sense")
        self.opt_shard = opt_shard

    def construct(self, grads):
        return tuple(g / self.scale_sense.astype(g.dtype) for g in grads)
