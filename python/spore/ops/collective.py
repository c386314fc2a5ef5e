# SPDX-License-Identifier: Apache-2.0
"""Exchange between processes as primitives: the functions of spore.communication.comm_func, with their arguments given
once."""
from .. import _core
from .primitive import Primitive, prim_attr_register
from spore._core import Tensor, type_name as _type_name

__all__ = ["ReduceOp", "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "AlltoAll", "Barrier", "CollectiveScatter",
           "CollectiveGather"]

_WORLD = "hccl_world_group"


def _functions():
    from ..communication import comm_func
    return comm_func


class ReduceOp:
    """How Tensors of several processes become one.

    Examples:
        >>> from spore import ops
        >>> ops.ReduceOp.SUM
        'sum'
    """

    SUM, MAX, MIN, PROD, AVG = "sum", "max", "min", "prod", "avg"


class _Collective(Primitive):
    """A primitive that knows its group of processes."""

    def _check(self, group):
        if not isinstance(group, str):
            raise TypeError(f"For '{self.name}', group must be a str, but got {_type_name(group)}")


class AllReduce(_Collective):
    """The sum, largest, ... of all processes' Tensors.

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.AllReduce(ops.ReduceOp.SUM)(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    @prim_attr_register
    def __init__(self, op=ReduceOp.SUM, group=_WORLD):
        self._check(group)
        if not isinstance(op, str):
            raise TypeError(f"For 'AllReduce', op must be a str, but got {_type_name(op)}")

    def __call__(self, input_x) -> Tensor:
        return _functions().all_reduce(input_x, self.op, self.group)[0]


class AllGather(_Collective):
    """All processes' Tensors joined along the first dimension.

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.AllGather()(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    @prim_attr_register
    def __init__(self, group=_WORLD):
        self._check(group)

    def __call__(self, input_x) -> Tensor:
        return _functions().all_gather_into_tensor(input_x, self.group)[0]


class ReduceScatter(_Collective):
    """This process's part of the sum of all Tensors.

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.ReduceScatter()(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    @prim_attr_register
    def __init__(self, op=ReduceOp.SUM, group=_WORLD):
        self._check(group)

    def __call__(self, input_x) -> Tensor:
        return _functions().reduce_scatter_tensor(input_x, self.op, self.group)[0]


class Broadcast(_Collective):
    """The Tensors of one process, for all.

    Examples:
        >>> from spore import Tensor, ops
        >>> print(*ops.Broadcast(0)((Tensor([1.0, 2.0]),)))
        [1. 2.]
    """

    @prim_attr_register
    def __init__(self, root_rank, group=_WORLD):
        self._check(group)
        if isinstance(root_rank, bool) or not isinstance(root_rank, int):
            raise TypeError(f"For 'Broadcast', root_rank must be an int, but got {_type_name(root_rank)}")

    def __call__(self, input_x):
        if isinstance(input_x, (tuple, list)):
            return tuple(self(x) for x in input_x)
        return _functions().broadcast(input_x, self.root_rank, self.group)


class Reduce(_Collective):
    """The sum of all Tensors, at one process.

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Reduce(0)(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    @prim_attr_register
    def __init__(self, dest_rank, op=ReduceOp.SUM, group=_WORLD):
        self._check(group)

    def __call__(self, input_x) -> Tensor:
        return _functions().reduce(input_x, self.dest_rank, self.op, self.group)


class CollectiveScatter(_Collective):
    """This process's part of a Tensor of one process.

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.CollectiveScatter(0)(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    @prim_attr_register
    def __init__(self, src_rank=0, group=_WORLD):
        self._check(group)

    def __call__(self, input_x) -> Tensor:
        return _functions().scatter_tensor(input_x, self.src_rank, self.group)


class CollectiveGather(_Collective):
    """All Tensors joined, at one process.

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.CollectiveGather(0)(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    @prim_attr_register
    def __init__(self, dest_rank, group=_WORLD):
        self._check(group)

    def __call__(self, input_x) -> Tensor:
        return _functions().gather_into_tensor(input_x, self.dest_rank, self.group)


class AlltoAll(_Collective):
    """Parts along one dimension sent to every process, and those that come joined along another.

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.AlltoAll(split_count=1, split_dim=0, concat_dim=1)(Tensor([[1.0, 2.0]])))
        [[1. 2.]]
    """

    @prim_attr_register
    def __init__(self, split_count, split_dim, concat_dim, group=_WORLD):
        self._check(group)
        from ..communication import get_group_size
        if split_count != get_group_size(group):
            raise ValueError(f"For 'AlltoAll', split_count must be the size of the group, {get_group_size(group)}, but got "
                             f"{split_count}")

    def __call__(self, input_x) -> Tensor:
        return _core.apply("all_to_all", [input_x], {"split_axis": self.split_dim, "concat_axis": self.concat_dim, "group": self.group})


class Barrier(_Collective):
    """Wait for all processes.

    Examples:
        >>> from spore import ops
        >>> ops.Barrier()()
    """

    @prim_attr_register
    def __init__(self, group=_WORLD):
        self._check(group)

    def __call__(self):
        _functions().barrier(self.group)
