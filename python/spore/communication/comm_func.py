# SPDX-License-Identifier: Apache-2.0
"""Exchange of Tensors between the processes of a group. Every one of them makes the same call."""
from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore.communication.management import GlobalComm, _ranks

__all__ = ['all_reduce', 'all_gather_into_tensor', 'reduce_scatter_tensor', 'reduce', 'scatter_tensor',
           'gather_into_tensor', 'broadcast',
           'barrier', 'send', 'recv', 'isend', 'irecv', 'all_to_all_with_output_shape', 'all_to_all_single_with_output_shape',
           'all_to_all_v_c', 'P2POp', 'batch_isend_irecv']

_OPS = ('sum', 'prod', 'max', 'min', 'avg')


def _checked(who, tensor, group):
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For '{who}', a Tensor is wanted, but got {_type_name(tensor)}.")
    _ranks(who, group)
    return tensor


def _member(who, group, name, rank):
    """The number in the group of a process that is given by its number in the job."""
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise TypeError(f"For '{who}', '{name}' must be an int, but got {_type_name(rank)}.")
    ranks = _ranks(who, group)
    if rank not in ranks:
        raise ValueError(f"For '{who}', '{name}' must be one of the group's processes {ranks}, but got {rank}.")
    return ranks.index(rank)


def _exchanged(operator, tensor, group, **attributes):
    return _core.apply(operator, [tensor], dict(attributes, group=group))


def _handle(async_op):
    """What async_op asks for: an exchange is over when its call returns, so there is nothing to wait for."""
    return _in_place()._handle(async_op)


def _op(who, op):
    if not isinstance(op, str):
        raise TypeError(f"For '{who}', 'op' must be a str, but got {_type_name(op)}.")
    if op not in _OPS:
        raise ValueError(f"For '{who}', 'op' must be one of {list(_OPS)}, but got {op!r}.")


def all_reduce(tensor, op='sum', group=GlobalComm.WORLD_COMM_GROUP, async_op=False):
    """The sum, product, ... of all processes' Tensors, and a handle for async_op."""
    _op('all_reduce', op)
    return _exchanged('all_reduce', _checked('all_reduce', tensor, group), group, op=op), _handle(async_op)


def all_gather_into_tensor(tensor, group=GlobalComm.WORLD_COMM_GROUP, async_op=False):
    """All processes' Tensors joined along the first dimension, and a handle for async_op."""
    return _exchanged('all_gather', _checked('all_gather_into_tensor', tensor, group), group), _handle(async_op)


def reduce_scatter_tensor(tensor, op='sum', group=GlobalComm.WORLD_COMM_GROUP, async_op=False):
    """This process's part of the sum of all Tensors, and a handle for async_op."""
    _op('reduce_scatter_tensor', op)
    return _exchanged('reduce_scatter', _checked('reduce_scatter_tensor', tensor, group), group, op=op), _handle(async_op)


def reduce(tensor, dst, op='sum', group=GlobalComm.WORLD_COMM_GROUP):
    """The sum of all Tensors, at one process."""
    _op('reduce', op)
    _checked('reduce', tensor, group)
    return _exchanged('rank_reduce', tensor, group, root=_member('reduce', group, 'dst', dst), op=op)


def scatter_tensor(tensor, src=0, group=GlobalComm.WORLD_COMM_GROUP):
    """This process's part of a Tensor of process ``src``."""
    _checked('scatter_tensor', tensor, group)
    return _exchanged('rank_scatter', tensor, group, root=_member('scatter_tensor', group, 'src', src))


def gather_into_tensor(tensor, dst=0, group=GlobalComm.WORLD_COMM_GROUP):
    """All Tensors joined, at one process."""
    _checked('gather_into_tensor', tensor, group)
    return _exchanged('rank_gather', tensor, group, root=_member('gather_into_tensor', group, 'dst', dst))


def broadcast(tensor, src=0, group=GlobalComm.WORLD_COMM_GROUP):
    """The Tensor of process ``src``."""
    _checked('broadcast', tensor, group)
    return _exchanged('rank_broadcast', tensor, group, root=_member('broadcast', group, 'src', src))


def barrier(group=GlobalComm.WORLD_COMM_GROUP):
    """Wait for all processes."""
    _ranks('barrier', group)
    _core.comm_barrier(group)


def _in_place():
    from spore.ops import _communication as communication  # exchanges with results in their arguments
    return communication


def send(tensor, dst=0, group=GlobalComm.WORLD_COMM_GROUP, tag=0):
    """A Tensor to another process."""
    _in_place().send(_checked('send', tensor, group), dst, group, tag)


def recv(tensor, src=0, group=GlobalComm.WORLD_COMM_GROUP, tag=0):
    """The Tensor that another process sends; `tensor` tells its shape and dtype."""
    return _core.comm_recv(_checked('recv', tensor, group), _in_place()._other('recv', src, group), tag, group)


def isend(tensor, dst=0, group=GlobalComm.WORLD_COMM_GROUP, tag=0):
    """As send, and a handle."""
    return _in_place().isend(_checked('isend', tensor, group), dst, group, tag)


def irecv(tensor, src=0, group=GlobalComm.WORLD_COMM_GROUP, tag=0):
    """As recv, and a handle."""
    return recv(tensor, src, group, tag), _in_place()._Done()


def all_to_all_with_output_shape(output_shape_list, input_tensor_list, group=None, async_op=False):
    """The i-th Tensor goes to process i; what comes back, and a handle."""
    from spore import ops
    outputs = [ops.zeros(tuple(shape.shape) if isinstance(shape, Tensor) else tuple(shape), input_tensor_list[0].dtype)
               for shape in output_shape_list]
    handle = _in_place().all_to_all(outputs, input_tensor_list, group, async_op)
    return tuple(outputs), handle


def all_to_all_single_with_output_shape(output_shape, tensor, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """The i-th part of a Tensor goes to process i; what comes back, and a handle."""
    from spore import ops
    _checked('all_to_all_single_with_output_shape', tensor, group or GlobalComm.WORLD_COMM_GROUP)
    shape = tuple(output_shape.shape) if isinstance(output_shape, Tensor) else tuple(output_shape)
    output = ops.zeros(shape, tensor.dtype)
    handle = _in_place().all_to_all_single(output, tensor, output_split_sizes, input_split_sizes, group, async_op)
    return output, handle


def all_to_all_v_c(output, input, send_count_matrix, group=None, async_op=False):
    """As all_to_all_single_with_output_shape, into `output`, with the sizes of the parts of all processes."""
    return _in_place().all_to_all_v_c(output, input, send_count_matrix, group, async_op)


def __getattr__(name):
    if name in ('P2POp', 'batch_isend_irecv'):
        from spore.ops import _communication as communication
        return getattr(communication, name)
    raise AttributeError(f"module 'spore.communication.comm_func' has no attribute '{name}'")
