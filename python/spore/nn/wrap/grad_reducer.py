# SPDX-License-Identifier: Apache-2.0
"""Gradients brought together over the processes of a group. In one process they stay as they are."""
import functools

from spore import _core
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


BUCKET_BYTES = 16 << 20     # at most, unless the settings (comm_fusion) say otherwise
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
        self._group = group
        self.__dict__["_weights"] = tuple(parameters)   # kept, not part of this Cell
        if self._sum is not None:
            for parameter, wanted in zip(parameters, self.allreduce_filter):
                if wanted:
                    parameter.set_data(ops.Broadcast(0, group)((parameter.value(),))[0])

    def construct(self, grads):
        if self._sum is None:
            return grads
        reduced = list(grads)
        for bucket in self._buckets:
            self._put(reduced, bucket, grads, self._sum(self._flat(bucket, grads)))
        return tuple(reduced)

    @staticmethod
    def _flat(bucket, grads):
        flat = [grads[i].astype(mstype.float32).reshape((-1,)) for i in bucket]
        return flat[0] if len(flat) == 1 else ops.concat(flat)

    def _put(self, reduced, bucket, grads, total):
        """Slices of the sum of a bucket as gradients."""
        if self.mean:
            total = total / self.degree
        at = 0
        for i in bucket:
            g = grads[i]
            reduced[i] = total[at:at + g.size].reshape(g.shape).astype(g.dtype)
            at += g.size

    def overlapped(self):
        """For the backward pass of an eager step: buckets are on their way as soon as their gradients are there. None where there is nothing to
        exchange, and in functions that are compiled, where the engine does it."""
        if self._sum is None or _core.recording() or not self._buckets:
            return None
        return _Overlapped(self)


class _Overlapped:
    """Sums of gradients that are begun while the backward pass goes on. Buckets are begun in their order, whatever the order of gradients."""

    def __init__(self, reducer):
        self._reducer, self._grads, self._begun, self._hooks = reducer, {}, [], []
        self._missing = [len(bucket) for bucket in reducer._buckets]
        self._bucket_of = {i: k for k, bucket in enumerate(reducer._buckets) for i in bucket}

    def __enter__(self):
        for i in self._bucket_of:
            self._hooks.append(self._reducer._weights[i].register_hook(functools.partial(self._ready, i)))
        return self

    def __exit__(self, *error):
        for hook in self._hooks:
            hook.remove()

    def _ready(self, i, gradient):
        if i in self._grads:    # a second backward pass: the step takes no sums of that
            raise RuntimeError(f"the gradient of '{self._reducer._weights[i].name}' was made twice in one step")
        self._grads[i] = gradient
        self._missing[self._bucket_of[i]] -= 1
        reducer = self._reducer
        while len(self._begun) < len(self._missing) and self._missing[len(self._begun)] == 0:
            bucket = reducer._buckets[len(self._begun)]
            self._begun.append(_core.comm_begin(reducer._flat(bucket, self._grads), "sum", reducer._group))

    def finish(self, grads):
        """The sums. Buckets whose gradients have not been met, say of Parameters that need none just now, are added up here."""
        reduced = list(grads)
        for k, bucket in enumerate(self._reducer._buckets):
            total = _core.comm_await(self._begun[k]) if k < len(self._begun) else self._reducer._sum(self._reducer._flat(bucket, grads))
            self._reducer._put(reduced, bucket, grads, total)
        return tuple(reduced)


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
