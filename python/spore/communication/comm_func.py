# SPDX-License-Identifier: Apache-2.0
"""Exchange of Tensors between processes. With one process, everybody's Tensor is one's own."""
from spore._core import Tensor
from spore.communication.management import GlobalComm, _ranks

__all__ = ['all_reduce', 'all_gather_into_tensor', 'reduce_scatter_tensor', 'reduce', 'scatter_tensor',
           'gather_into_tensor', 'broadcast',
           'barrier', 'send', 'recv', 'isend', 'irecv', 'all_to_all_with_output_shape', 'all_to_all_single_with_output_shape',
           'all_to_all_v_c', 'P2POp', 'batch_isend_irecv']

_OPS = ('sum', 'prod', 'max', 'min', 'avg')


def _checked(who, tensor, group):
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For '{who}', a Tensor is wanted, but got {type(tensor).__name__}.")
    _ranks(who, group)
    return tensor


def _member(who, group, name, rank):
    """A process of the group is meant."""
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise TypeError(f"For '{who}', '{name}' must be an int, but got {type(rank).__name__}.")
    if rank not in _ranks(who, group):
        raise ValueError(f"For '{who}', '{name}' must be one of the group's processes {_ranks(who, group)}, but got {rank}.")


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
    _checked('reduce', tensor, group)
    _member('reduce', group, 'dst', dst)
    return tensor.copy()


def scatter_tensor(tensor, src=0, group=GlobalComm.WORLD_COMM_GROUP):
    """This process's part of a Tensor of process ``src``."""
    _checked('scatter_tensor', tensor, group)
    _member('scatter_tensor', group, 'src', src)
    return tensor.copy()


def gather_into_tensor(tensor, dst=0, group=GlobalComm.WORLD_COMM_GROUP):
    """All Tensors joined, at one process."""
    _checked('gather_into_tensor', tensor, group)
    _member('gather_into_tensor', group, 'dst', dst)
    return tensor.copy()


def broadcast(tensor, src=0, group=GlobalComm.WORLD_COMM_GROUP):
    """The Tensor of process ``src``."""
    _checked('broadcast', tensor, group)
    _member('broadcast', group, 'src', src)
    return tensor.copy()


def barrier(group=GlobalComm.WORLD_COMM_GROUP):
    """Wait for all processes."""
    _ranks('barrier', group)


def _alone(who):
    raise RuntimeError(f"For '{who}', there is no other process: exchange from process to process is not supported.")


def send(tensor, dst=0, group=GlobalComm.WORLD_COMM_GROUP, tag=0):
    """A Tensor to another process, of which there is none."""
    _checked('send', tensor, group)
    _alone('send')


def recv(tensor, src=0, group=GlobalComm.WORLD_COMM_GROUP, tag=0):
    """A Tensor from another process, of which there is none."""
    _checked('recv', tensor, group)
    _alone('recv')


def isend(tensor, dst=0, group=GlobalComm.WORLD_COMM_GROUP, tag=0):
    """As send, without waiting."""
    _checked('isend', tensor, group)
    _alone('isend')


def irecv(tensor, src=0, group=GlobalComm.WORLD_COMM_GROUP, tag=0):
    """As recv, without waiting."""
    _checked('irecv', tensor, group)
    _alone('irecv')


def all_to_all_with_output_shape(output_shape_list, input_tensor_list, group=None, async_op=False):
    """The i-th Tensor goes to process i; what comes back, and a handle, which is None."""
    if len(input_tensor_list) != 1:
        raise ValueError(f"For 'all_to_all_with_output_shape', one Tensor for each of the 1 processes is wanted, but got "
                         f"{len(input_tensor_list)}.")
    return (input_tensor_list[0].copy(),), None


def all_to_all_single_with_output_shape(output_shape, tensor, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """The i-th part of a Tensor goes to process i; what comes back, and a handle, which is None."""
    return _checked('all_to_all_single_with_output_shape', tensor, group or GlobalComm.WORLD_COMM_GROUP).copy(), None


def all_to_all_v_c(tensor, send_count_matrix, group=GlobalComm.WORLD_COMM_GROUP, async_op=False):
    """As all_to_all_single_with_output_shape, with the sizes of the parts of all processes."""
    return _checked('all_to_all_v_c', tensor, group).copy(), None


def __getattr__(name):
    if name in ('P2POp', 'batch_isend_irecv'):
        from spore.ops.late import communication
        return getattr(communication, name)
    raise AttributeError(f"module 'spore.communication.comm_func' has no attribute '{name}'")
