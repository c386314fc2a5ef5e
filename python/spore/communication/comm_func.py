# SPDX-License-Identifier: Apache-2.0
"""Exchange of Tensors between processes. With one process, everybody's Tensor is one's own."""
from spore._core import Tensor
from spore.communication.management import GlobalComm, _ranks

__all__ = ['all_reduce', 'all_gather_into_tensor', 'reduce_scatter_tensor', 'reduce', 'scatter_tensor',
           'gather_into_tensor', 'broadcast',
           'barrier']

_OPS = ('sum', 'prod', 'max', 'min', 'avg')


def _checked(who, tensor, group):
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For '{who}', a Tensor is wanted, but got {type(tensor).__name__}.")
    _ranks(who, group)
    return tensor


def _op(who, op):
    if not isinstance(op, str):
        raise TypeError(f"For '{who}', 'op' must be a str, but got {type(op).__name__}.")
    if op not in _OPS:
        raise ValueError(f"For '{who}', 'op' must be one of {list(_OPS)}, but got {op!r}.")


def all_reduce(tensor, op='sum', group=GlobalComm.WORLD_COMM_GROUP, async_op=False):
    """The sum, product, ... of all processes' Tensors, and a handle, which is None."""
    _op('all_reduce', op)
    return _checked('all_reduce', tensor, group).copy(), None


def all_gather_into_tensor(tensor, group=GlobalComm.WORLD_COMM_GROUP, async_op=False):
    """All processes' Tensors joined along the first dimension, and a handle, which is None."""
    return _checked('all_gather_into_tensor', tensor, group).copy(), None


def reduce_scatter_tensor(tensor, op='sum', group=GlobalComm.WORLD_COMM_GROUP, async_op=False):
    """This process's part of the sum of all Tensors, and a handle, which is None."""
    _op('reduce_scatter_tensor', op)
    return _checked('reduce_scatter_tensor', tensor, group).copy(), None


def reduce(tensor, dst, op='sum', group=GlobalComm.WORLD_COMM_GROUP):
    """The sum of all Tensors, at one process."""
    _op('reduce', op)
    return _checked('reduce', tensor, group).copy()


def scatter_tensor(tensor, src=0, group=GlobalComm.WORLD_COMM_GROUP):
    """This process's part of a Tensor of process ``src``."""
    return _checked('scatter_tensor', tensor, group).copy()


def gather_into_tensor(tensor, dst=0, group=GlobalComm.WORLD_COMM_GROUP):
    """All Tensors joined, at one process."""
    return _checked('gather_into_tensor', tensor, group).copy()


def broadcast(tensor, src=0, group=GlobalComm.WORLD_COMM_GROUP):
    """The Tensor of process ``src``."""
    return _checked('broadcast', tensor, group).copy()


def barrier(group=GlobalComm.WORLD_COMM_GROUP):
    """Wait for all processes."""
    _ranks('barrier', group)
