# SPDX-License-Identifier: Apache-2.0
"""Channels in another order."""
from spore import ops
from spore._core import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Cell):
    """Divides channels into groups and takes one of each in turn.

    Args:
        groups: number of groups.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> x = ms.ops.arange(4).reshape((1, 4, 1, 1))
        >>> print(nn.ChannelShuffle(2)(x).reshape((4,)))
        [0 2 1 3]
    """

    def __init__(self, groups):
        super().__init__()
        self.groups = check.positive_int(self.cls_name, "groups", groups)

    def construct(self, x) -> Tensor:
        shape = tuple(x.shape)
        parts = ops.reshape(x, (shape[0], self.groups, shape[1] // self.groups, -1))
        return ops.reshape(ops.transpose(parts, (0, 2, 1, 3)), shape)
