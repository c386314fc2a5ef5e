# SPDX-License-Identifier: Apache-2.0
"""Gradients brought together over the processes of a group. In one process they stay as they are."""
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


BUCKET_BYTES = 32 << 20     # at most, unless the settings (comm_fusion) say otherwise
FIRST_BYTES = 1 << 20       # at least, where the gradients go in several


def bucket_bytes(total):
    """How many bytes travel together: an eighth of all, so that the first ones are on their way while most of the backward pass is still to come."""
    return min(BUCKET_BYTES, max(FIRST_BYTES, total // 8))


def fill(rows, sizes, most, kinds=None, ends=()):
    """Numbers of gradients that travel together, the last ones first: they are ready first, and leave while the backward pass goes on.

    A function of sizes alone, so that all processes agree.

    Args:
        rows: numbers of those that travel.
        sizes: bytes, by number.
        most: of a bucket.
        kinds: what must be equal in a bucket, by number.
        ends: another bucket begins behind these.
    """
    buckets, bytes_so_far, before = [], 0, None
    for i in reversed(rows):
        begins = before is None or (most is not None and bytes_so_far + sizes[i] > most) or any(i <= end < before for end in ends)
        if begins or kinds is not None and kinds[i] != kinds[before]:
            buckets.append([])
            bytes_so_far = 0
        buckets[-1].append(i)
        bytes_so_far += sizes[i]
        before = i
    return tuple(tuple(bucket) for bucket in buckets)


def _buckets(parameters, wanted):
    """Gradients that travel together, as comm_fusion, all_reduce_fusion_config and set_comm_fusion of Cells say."""
    most, ends = context._fusion("allreduce")
    rows = [i for i in range(len(parameters)) if wanted[i]]
    sizes = [4 * p.size for p in parameters]
    if most is None and not ends:
        most = bucket_bytes(sum(sizes[i] for i in rows))
    return fill(rows, sizes, most, [p.comm_fusion for p in parameters], ends or ())


class DistributedGradReducer(Cell):
    """Sums, or averages, gradients over the processes of a group. When it is made in a job of several processes, the Parameters of the group's first
    process become those of all: replicas that begin differently would never agree.

    Args:
        parameters: the Parameters the gradients belong to; those with layerwise_parallel are left out.
        mean: whether to average. Default None, as the context says (gradients_mean).
        degree: number of devices. Default None, the size of the group; a larger number is told and taken as that.
        fusion_type: kept; comm_fusion of the context and of Parameters says which gradients travel together. Default 1.
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
        self._buckets = _buckets(parameters, self.allreduce_filter)
        if self._sum is not None:
            for parameter, wanted in zip(parameters, self.allreduce_filter):
                if wanted:
                    parameter.set_data(ops.Broadcast(0, group)((parameter.value(),))[0])

    def construct(self, grads):
        if self._sum is None:
            return grads
        reduced = list(grads)
        for bucket in self._buckets:
            parts = self._reduce([grads[i] for i in bucket])
            for i, part in zip(bucket, parts):
                reduced[i] = part
        return tuple(reduced)

    def _reduce(self, grads):
        if len(grads) == 1:
            total = self._sum(grads[0].astype(mstype.float32))
            return [(total / self.degree if self.mean else total).astype(grads[0].dtype)]
        flat = ops.concat([g.astype(mstype.float32).reshape((-1,)) for g in grads])
        total = self._sum(flat)
        if self.mean:
            total = total / self.degree
        parts, at = [], 0
        for g in grads:
            parts.append(total[at:at + g.size].reshape(g.shape).astype(g.dtype))
            at += g.size
        return parts


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
