# SPDX-License-Identifier: Apache-2.0
"""A layer applied to every step of a sequence."""
from spore._core import type_name as _type_name
from spore import ops
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.ops import Primitive

__all__ = ["TimeDistributed"]


class TimeDistributed(Cell):
    """Runs a layer on every step of a sequence.

    Args:
        layer: Cell or primitive from a Tensor to a Tensor.
        time_axis: dimension of the steps.
        reshape_with_axis: a dimension to merge the steps with, so that the layer runs once. Default None: it runs for every
            step.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.TimeDistributed(nn.Dense(3, 4), time_axis=1, reshape_with_axis=0)
        >>> print(net(ms.ops.ones((2, 5, 3))).shape)
        (2, 5, 4)
    """

    def __init__(self, layer, time_axis, reshape_with_axis=None):
        super().__init__()
        cls = self.cls_name
        if not isinstance(layer, (Cell, Primitive)):
            check.fail_type(cls, "layer", layer, "a Cell or a primitive")
        check.instance(cls, "time_axis", time_axis, int)
        if reshape_with_axis is not None:
            check.instance(cls, "reshape_with_axis", reshape_with_axis, int)
        self.layer, self.time_axis, self.reshape_with_axis = layer, time_axis, reshape_with_axis

    def _run(self, x):
        out = self.layer(x)
        if not isinstance(out, Tensor):
            raise TypeError(f"For '{self.cls_name}', the layer must return a Tensor, but got {_type_name(out)}.")
        return out

    def construct(self, inputs) -> Tensor:
        if not isinstance(inputs, Tensor):
            raise TypeError(f"For '{self.cls_name}', the input must be a Tensor, but got {_type_name(inputs)}.")
        rank = inputs.ndim
        if rank < 3:
            raise ValueError(f"For '{self.cls_name}', the input must have at least 3 dimensions, but got {rank}.")
        time = self.time_axis % rank
        if self.reshape_with_axis is None:
            outputs = [self._run(step) for step in ops.unstack(inputs, time)]
            if time > outputs[0].ndim:
                raise ValueError(f"For '{self.cls_name}', 'time_axis' must not be above {outputs[0].ndim}, but got {time}.")
            return ops.stack(outputs, time)
        return self._merged(inputs, time, self.reshape_with_axis % rank)

    def _merged(self, inputs, time, other):
        """The steps are moved next to the other dimension and become one with it."""
        rank = inputs.ndim
        if other == rank - 1:
            beside = rank - 2
        else:
            beside = other + 1 if time > other else other - 1
        at = min(beside, other)
        low, high = min(beside, time), max(beside, time)
        order = [*range(low), high, *range(low, high), *range(high + 1, rank)]
        moved = ops.transpose(inputs, tuple(order))
        shape = tuple(moved.shape)
        merged = ops.reshape(moved, shape[:at] + (-1,) + shape[at + 2:])
        out = self._run(merged)
        if at >= out.ndim or merged.shape[at] != out.shape[at]:
            raise ValueError(f"For '{self.cls_name}', the layer must keep dimension {at} of {merged.shape}, but gave "
                             f"{out.shape}; leave 'reshape_with_axis' out.")
        wanted = tuple(out.shape[:at]) + shape[at:at + 2] + tuple(out.shape[at + 1:])
        return ops.reshape(out, (-1,) + wanted[1:])
