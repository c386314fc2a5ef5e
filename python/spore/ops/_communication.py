# SPDX-License-Identifier: Apache-2.0
"""Exchange between processes with results in the arguments (`spore.mint.distributed`, `spore.ops.communication`)."""
import pickle

import numpy as np

from .. import _core
from .._core import Tensor
from .._fork import Lock
from .._not_done import not_done
from ..communication import management
from ..communication.management import GlobalComm
from .primitive import Primitive
from spore._core import type_name as _type_name

__all__ = [
    "P2POp", "TCPStore", "all_gather", "all_gather_into_tensor", "all_gather_into_tensor_uneven", "all_gather_object", "all_reduce",
    "all_to_all", "all_to_all_single", "all_to_all_v_c", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list",
    "destroy_process_group", "gather", "gather_into_tensor", "gather_object", "get_backend", "get_global_rank", "get_group_rank",
    "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group", "irecv", "is_available", "is_initialized", "isend",
    "new_group", "recv", "recv_object_list", "reduce", "reduce_scatter", "reduce_scatter_tensor", "reduce_scatter_tensor_uneven",
    "scatter", "scatter_object_list", "scatter_tensor", "send", "send_object_list", "set_comm_ops_inplace"]

_OPS = ("sum", "prod", "max", "min", "avg")
_state = {"ready": False, "backend": "mccl", "in_place": True}


class _Done:
    """The handle of an exchange that is over already."""

    def wait(self):
        """Nothing is left to wait for."""


def _handle(async_op):
    return _Done() if async_op else None


def _tensor(who, value, name="tensor"):
    if not isinstance(value, Tensor):
        raise TypeError(f"For '{who}', the argument '{name}' must be type of Tensor, but got '{_type_name(value)}'.")
    return value


def _group(who, group):
    if group is not None and not isinstance(group, str):
        raise TypeError(f"For '{who}', the argument 'group' must be type of str or None, but got '{_type_name(group)}'.")
    return group or GlobalComm.WORLD_COMM_GROUP


def _size(who, group):
    return management._info(who, _group(who, group))[1]


def _list(who, value, name, group):
    if not isinstance(value, (list, tuple)) or not all(isinstance(t, Tensor) for t in value):
        raise TypeError(f"For '{who}', the argument '{name}' must be a list of Tensor.")
    if len(value) != _size(who, group):
        raise TypeError(f"For '{who}', the argument '{name}' must have one Tensor for each of the {_size(who, group)} processes, but has "
                        f"{len(value)}.")
    return list(value)


def _op(who, op):
    if not isinstance(op, str):
        raise TypeError(f"For '{who}', the argument 'op' must be type of str, but got '{_type_name(op)}'.")
    if op not in _OPS:
        raise ValueError(f"For '{who}', 'op' must be one of {list(_OPS)}, but got {op!r}.")
    return op


def _member(who, rank, group):
    """The number in the group of a process that is given by its number in the job."""
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise TypeError(f"For '{who}', the rank must be type of int, but got '{_type_name(rank)}'.")
    ranks = management._ranks(who, _group(who, group))
    if rank not in ranks:
        raise ValueError(f"For '{who}', the processes of the group are {ranks}, but got rank {rank}.")
    return ranks.index(rank)


def _exchanged(who, operator, tensor, group, **attributes):
    management._join(who)
    return _core.apply(operator, [tensor], dict(attributes, group=_group(who, group)))


def _put(who, output, value):
    """The value into a Tensor that was made for it."""
    _tensor(who, output, "output")
    if output.dtype != value.dtype:
        raise TypeError(f"For '{who}', input and output must have one dtype, but they have {value.dtype} and {output.dtype}.")
    if output.shape != value.shape:
        raise ValueError(f"For '{who}', the output must have the shape {value.shape}, but has {output.shape}.")
    output.copy_(value)


# --- processes -------------------------------------------------------------------------------------------------------

def init_process_group(backend="hccl", init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="",
                       pg_options=None, device_id=None):
    """Join the job that a launcher started; `world_size` and `rank` must be those of the launcher."""
    if not isinstance(backend, str):
        raise TypeError(f"For 'init_process_group', backend must be a str, but got {_type_name(backend)}.")
    management._join("init_process_group")
    found = management._info("init_process_group", GlobalComm.WORLD_COMM_GROUP)
    if world_size not in (-1, found[1]) or rank not in (-1, found[0]):
        raise RuntimeError(f"init_process_group: world_size={world_size} and rank={rank}, but this is process {found[0]} of {found[1]}; start as many "
                           f"as you want with mpirun -n N spore run SCRIPT")
    _state.update(ready=True, backend="mccl" if backend in ("hccl", "nccl") else backend)


def destroy_process_group(group=None):
    """End the exchange of a group, or of all."""
    if group in (None, GlobalComm.WORLD_COMM_GROUP):
        _state["ready"] = False
    elif group in management._made:
        management.destroy_group(group)


def is_available():
    """Whether processes can exchange at all."""
    return True


def is_initialized():
    """Whether init_process_group was called."""
    return _state["ready"]


def get_backend(group=None):
    """The name of what carries the exchange."""
    return _state["backend"]


def get_rank(group=None):
    """The number of this process."""
    return management._info("get_rank", _group("get_rank", group))[0]


def get_world_size(group=None):
    """The number of processes."""
    return _size("get_world_size", group)


def get_process_group_ranks(group=None):
    """The processes of a group."""
    return management._ranks("get_process_group_ranks", _group("get_process_group_ranks", group))


def get_global_rank(group, group_rank):
    """The number of a process of a group among all."""
    return management.get_world_rank_from_group_rank(_group("get_global_rank", group), group_rank)


def get_group_rank(group, global_rank):
    """The number that a process has in a group."""
    return _member("get_group_rank", global_rank, group)


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None):
    """The name of a group of processes; where this process is not in it, the name is empty."""
    mine, size = management._info("new_group", GlobalComm.WORLD_COMM_GROUP)[:2]
    ranks = list(range(size)) if ranks is None else list(ranks)
    name = group_desc if isinstance(group_desc, str) else f"{len(ranks)}-group-" + "-".join(str(r) for r in ranks)
    if mine not in ranks:
        return ""
    management.create_group(name, ranks)
    return name


# --- Tensors ---------------------------------------------------------------------------------------------------------

def all_reduce(tensor, op="sum", group=None, async_op=False):
    """The sum, product, ... of all processes' Tensors, in `tensor`."""
    _put("all_reduce", tensor, _exchanged("all_reduce", "all_reduce", _tensor("all_reduce", tensor), group, op=_op("all_reduce", op)))
    return _handle(async_op)


def broadcast(tensor, src, group=None, async_op=False):
    """The Tensor of process `src`, in `tensor`."""
    root = _member("broadcast", src, group)
    _put("broadcast", tensor, _exchanged("broadcast", "rank_broadcast", _tensor("broadcast", tensor), group, root=root))
    return _handle(async_op)


def reduce(tensor, dst, op="sum", group=None, async_op=False):
    """The sum of all Tensors, at process `dst`; the others' stay as they are."""
    root = _member("reduce", dst, group)
    total = _exchanged("reduce", "rank_reduce", _tensor("reduce", tensor), group, root=root, op=_op("reduce", op))
    if get_rank(group) == root:
        _put("reduce", tensor, total)
    return _handle(async_op)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """All Tensors joined along the first dimension."""
    who = "all_gather_into_tensor"
    _put(who, output_tensor, _exchanged(who, "all_gather", _tensor(who, input_tensor), group))
    return _handle(async_op)


def _parts(who, tensor, to, come, group):
    """Parts of a Tensor to the processes, with so many first dimensions each; what comes, with so many each."""
    row = int(np.prod(tensor.shape[1:], dtype=np.int64))
    flat = _exchanged(who, "rank_parts", tensor.reshape((-1,)), group, to=tuple(n * row for n in to), **{"from": tuple(n * row for n in come)})
    return flat.reshape((sum(come),) + tuple(tensor.shape[1:]))


def _sizes(who, sizes, whole, group):
    """Sizes of parts along the first dimension; equal ones where none are given."""
    n = _size(who, group)
    if not sizes:
        if whole % n:
            raise ValueError(f"For '{who}', {n} processes cannot share {whole} rows evenly; give the sizes of the parts.")
        return [whole // n] * n
    if len(sizes) != n or sum(sizes) != whole:
        raise ValueError(f"For '{who}', the sizes of the parts must be {n} numbers whose sum is {whole}, but they are {list(sizes)}.")
    return [int(s) for s in sizes]


def all_gather_into_tensor_uneven(output, input, output_split_sizes=None, group=None, async_op=False):
    """All Tensors, of different sizes, joined along the first dimension."""
    who = "all_gather_into_tensor_uneven"
    come = _sizes(who, output_split_sizes, _tensor(who, output, "output").shape[0], group)
    n = len(come)
    copies = _core.apply("concat", [input] * n, {"axis": 0}) if n > 1 else input
    _put(who, output, _parts(who, copies, [input.shape[0]] * n, come, group))
    return _handle(async_op)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """All Tensors, one by one."""
    outputs = _list("all_gather", tensor_list, "tensor_list", group)
    stacked = _exchanged("all_gather", "all_gather", _tensor("all_gather", tensor).reshape((1,) + tuple(tensor.shape)), group)
    for i, output in enumerate(outputs):
        _put("all_gather", output, stacked[i])
    return _handle(async_op)


def reduce_scatter_tensor(output, input, op="sum", group=None, async_op=False):
    """This process's part of the sum of all Tensors."""
    who = "reduce_scatter_tensor"
    _put(who, output, _exchanged(who, "reduce_scatter", _tensor(who, input), group, op=_op(who, op)))
    return _handle(async_op)


def reduce_scatter_tensor_uneven(output, input, input_split_sizes=None, op="sum", group=None, async_op=False):
    """This process's part of the sum of all Tensors, in parts of different sizes."""
    who = "reduce_scatter_tensor_uneven"
    sizes = _sizes(who, input_split_sizes, _tensor(who, input).shape[0], group)
    rank = get_rank(group)
    total = _exchanged(who, "all_reduce", input, group, op=_op(who, op))
    begin = sum(sizes[:rank])
    _put(who, output, total[begin:begin + sizes[rank]])
    return _handle(async_op)


def reduce_scatter(output, input_list, op="sum", group=None, async_op=False):
    """The sum of all processes' Tensors for this one."""
    who = "reduce_scatter"
    inputs = [t.reshape((1,) + tuple(t.shape)) for t in _list(who, input_list, "input_list", group)]
    whole = _core.apply("concat", inputs, {"axis": 0}) if len(inputs) > 1 else inputs[0]
    part = _exchanged(who, "reduce_scatter", whole, group, op=_op(who, op))
    _put(who, output, part.reshape(tuple(part.shape[1:])))
    return _handle(async_op)


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """The i-th Tensor goes to process i, what comes from it is the i-th result."""
    who = "all_to_all"
    outputs, inputs = _list(who, output_tensor_list, "output_tensor_list", group), _list(who, input_tensor_list, "input_tensor_list", group)
    flat = [t.reshape((-1,)) for t in inputs]
    whole = _core.apply("concat", flat, {"axis": 0}) if len(flat) > 1 else flat[0]
    come = _exchanged(who, "rank_parts", whole, group, to=tuple(t.size for t in inputs), **{"from": tuple(t.size for t in outputs)})
    at = 0
    for output in outputs:
        _put(who, output, come[at:at + output.size].reshape(output.shape))
        at += output.size
    return _handle(async_op)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """The i-th part of a Tensor goes to process i."""
    who = "all_to_all_single"
    to = _sizes(who, input_split_sizes, _tensor(who, input).shape[0], group)
    come = _sizes(who, output_split_sizes, _tensor(who, output, "output").shape[0], group)
    _put(who, output, _parts(who, input, to, come, group))
    return _handle(async_op)


def all_to_all_v_c(output, input, send_count_matrix, group=None, async_op=False):
    """As all_to_all_single, with the sizes of the parts of all processes: number i * n + j is from process i to process j."""
    who = "all_to_all_v_c"
    n, rank = _size(who, group), get_rank(group)
    counts = [int(c) for c in send_count_matrix]
    if len(counts) != n * n:
        raise ValueError(f"For '{who}', send_count_matrix must have {n * n} numbers for {n} processes, but has {len(counts)}.")
    _put(who, output, _parts(who, _tensor(who, input), counts[rank * n:(rank + 1) * n], counts[rank::n], group))
    return _handle(async_op)


def gather(tensor, gather_list, dst=0, group=None, async_op=False):
    """All Tensors, at process `dst`."""
    root = _member("gather", dst, group)
    stacked = _exchanged("gather", "rank_gather", _tensor("gather", tensor).reshape((1,) + tuple(tensor.shape)), group, root=root)
    if get_rank(group) == root:
        for i, output in enumerate(_list("gather", gather_list, "gather_list", group)):
            _put("gather", output, stacked[i])
    return _handle(async_op)


def gather_into_tensor(output_tensor, input_tensor, dst=0, group=None, async_op=False):
    """All Tensors joined, at process `dst`."""
    who = "gather_into_tensor"
    root = _member(who, dst, group)
    whole = _exchanged(who, "rank_gather", _tensor(who, input_tensor), group, root=root)
    if get_rank(group) == root:
        _put(who, output_tensor, whole)
    return _handle(async_op)


def scatter(tensor, scatter_list, src=0, group=None, async_op=False):
    """The Tensor that process `src` has for this one."""
    who = "scatter"
    root = _member(who, src, group)
    n = _size(who, group)
    if get_rank(group) == root:
        parts = [t.reshape((1,) + tuple(t.shape)) for t in _list(who, scatter_list, "scatter_list", group)]
    else:
        parts = [tensor.reshape((1,) + tuple(tensor.shape))] * n # only its shape counts
    whole = _core.apply("concat", parts, {"axis": 0}) if n > 1 else parts[0]
    part = _exchanged(who, "rank_scatter", whole, group, root=root)
    _put(who, tensor, part.reshape(tensor.shape))
    return _handle(async_op)


def scatter_tensor(output_tensor, input_tensor, src=0, group=None, async_op=False):
    """This process's part of a Tensor of process `src`."""
    who = "scatter_tensor"
    _put(who, output_tensor, _exchanged(who, "rank_scatter", _tensor(who, input_tensor), group, root=_member(who, src, group)))
    return _handle(async_op)


def barrier(group=None, async_op=False, device_ids=None):
    """Wait for all processes."""
    management._info("barrier", _group("barrier", group))
    _core.comm_barrier(_group("barrier", group))
    return _handle(async_op)


# --- from one process to another -------------------------------------------------------------------------------------

def _other(who, rank, group):
    """The number in the group of another process."""
    if _size(who, group) == 1:
        raise RuntimeError(f"For '{who}', there is no other process to exchange a message with; mpirun -n N spore run SCRIPT starts several.")
    number = _member(who, rank, group)
    if number == get_rank(group):
        raise ValueError(f"For '{who}', process {rank} cannot exchange a message with itself.")
    return number


def send(tensor, dst=0, group=None, tag=0):
    """A Tensor to another process."""
    _core.comm_send(_tensor("send", tensor), _other("send", dst, group), tag, _group("send", group))


def recv(tensor, src=0, group=None, tag=0):
    """A Tensor from another process, in `tensor`."""
    _put("recv", tensor, _core.comm_recv(_tensor("recv", tensor), _other("recv", src, group), tag, _group("recv", group)))
    return 0


def isend(tensor, dst=0, group=None, tag=0):
    """As send; the message is on its way when the call returns."""
    send(tensor, dst, group, tag)
    return _Done()


def irecv(tensor, src=0, group=None, tag=0):
    """As recv, and a handle."""
    recv(tensor, src, group, tag)
    return _Done()


class P2POp:
    """What is to be sent to, or received from, another process."""

    def __init__(self, op, tensor, peer, group=None, tag=0):
        name = op if isinstance(op, str) else getattr(op, "__name__", "")
        if name not in ("isend", "irecv"):
            raise TypeError("For 'P2POp', op must be isend or irecv.")
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag
        self._sends = name == "isend"


def batch_isend_irecv(p2p_op_list):
    """Several exchanges at once, in an order in which no process waits for another for ever: by pairs, the lower number sends first."""
    if not isinstance(p2p_op_list, list) or not p2p_op_list or not all(isinstance(p, P2POp) for p in p2p_op_list):
        raise TypeError("For 'batch_isend_irecv', p2p_op_list must be a list of P2POp that is not empty.")

    def turn(p):
        mine, peer = management._info("batch_isend_irecv", GlobalComm.WORLD_COMM_GROUP)[0], p.peer
        return (min(mine, peer), max(mine, peer), p._sends != (mine < peer))

    for p in sorted(p2p_op_list, key=turn):
        (send if p._sends else recv)(p.tensor, p.peer, p.group, p.tag)
    return [_Done() for _ in p2p_op_list]


# --- Python objects --------------------------------------------------------------------------------------------------

def _objects(who, value):
    if not isinstance(value, list) or not value:
        raise TypeError(f"For '{who}', a list that is not empty is wanted, but got {_type_name(value)}.")
    return value


def _bytes_of(obj):
    return Tensor(np.frombuffer(pickle.dumps(obj), np.uint8).copy())


def _object_of(tensor):
    return pickle.loads(tensor.asnumpy().tobytes())


def _gathered(who, obj, group):
    """Everybody's object: their sizes first, then the bytes."""
    mine = _bytes_of(obj)
    sizes = [int(n) for n in _exchanged(who, "all_gather", Tensor(np.array([mine.size], np.int64)), group).asnumpy()]
    copies = _core.apply("concat", [mine] * len(sizes), {"axis": 0}) if len(sizes) > 1 else mine
    come = _parts(who, copies, [mine.size] * len(sizes), sizes, group)
    ends = np.cumsum(sizes)
    return [_object_of(come[int(end) - n:int(end)]) for n, end in zip(sizes, ends)]


def all_gather_object(object_list, obj, group=None):
    """The objects of all processes. They are pickled: every process must trust the others, as the processes of a job do."""
    _objects("all_gather_object", object_list)[:] = _gathered("all_gather_object", obj, group)


def gather_object(obj, object_gather_list=None, dst=0, group=None):
    """The objects of all processes, at process `dst`."""
    root = _member("gather_object", dst, group)
    found = _gathered("gather_object", obj, group)
    if get_rank(group) == root:
        _objects("gather_object", object_gather_list)[:] = found


def broadcast_object_list(object_list, src=0, group=None, device=None):
    """The objects of process `src`."""
    root = _member("broadcast_object_list", src, group)
    mine = _objects("broadcast_object_list", object_list) if get_rank(group) == root else None
    object_list[:] = _gathered("broadcast_object_list", mine, group)[root]


def scatter_object_list(scatter_object_output_list, scatter_object_input_list, src=0, group=None):
    """The object that process `src` has for this one."""
    who = "scatter_object_list"
    root = _member(who, src, group)
    mine = _objects(who, scatter_object_input_list) if get_rank(group) == root else None
    if mine is not None and len(mine) != _size(who, group):
        raise ValueError(f"For '{who}', one object for each of the {_size(who, group)} processes is wanted, but got {len(mine)}.")
    _objects(who, scatter_object_output_list)[0] = _gathered(who, mine, group)[root][get_rank(group)]


def send_object_list(object_list, dst, group=None, device=None):
    """Objects to another process."""
    packed = _bytes_of(_objects("send_object_list", object_list))
    send(Tensor(np.array([packed.size], np.int64)), dst, group)
    send(packed, dst, group)


def recv_object_list(object_list, src=0, group=None, device=None):
    """Objects from another process."""
    size = Tensor(np.zeros(1, np.int64))
    recv(size, src, group)
    packed = Tensor(np.zeros(int(size.asnumpy()[0]), np.uint8))
    recv(packed, src, group)
    _objects("recv_object_list", object_list)[:] = _object_of(packed)
    return src


def set_comm_ops_inplace(is_enable, func_list=None):
    """Whether results are written to the arguments; that is the only way here."""
    if not isinstance(is_enable, bool):
        raise TypeError(f"set_comm_ops_inplace: is_enable must be a bool, but got {_type_name(is_enable)}")
    if not is_enable:
        raise NotImplementedError("set_comm_ops_inplace: results of exchange are always written to the arguments; "
                                  "spore.communication.comm_func returns them")


class TCPStore:
    """Values by key, for the processes of one training: with one process, in its own memory."""

    def __init__(self, host_name, port, world_size=None, is_master=False, timeout=None, wait_for_workers=True, multi_tenant=False,
                 master_listen_fd=None, use_libuv=True):
        if not isinstance(host_name, str) or isinstance(port, bool) or not isinstance(port, int):
            raise TypeError("TCPStore: host_name must be a str and port an int")
        if world_size is not None and world_size > 1:
            not_done(f"TCPStore: world_size={world_size}", "one process keeps the values for itself")
        self.host, self.port = host_name, port
        self._values, self._lock = {}, Lock()

    def set(self, key, value):
        """Keep a value, text or bytes."""
        self._values[self._key(key)] = value.encode() if isinstance(value, str) else value

    def get(self, key):
        """The value of a key as bytes; empty if there is none."""
        return self._values.get(self._key(key), b"")

    def add(self, key, amount):
        """Count: the sum of all amounts given for a key."""
        with self._lock:
            total = int(self._values.get(self._key(key), b"0")) + int(amount)
            self._values[key] = str(total).encode()
        return total

    def delete_key(self, key):
        """Forget a key; whether it was there."""
        return self._values.pop(self._key(key), None) is not None

    @staticmethod
    def _key(key):
        if not isinstance(key, str):
            raise TypeError(f"TCPStore: a key must be a str, but got {_type_name(key)}")
        return key


# --- primitives ------------------------------------------------------------------------------------------------------

class Send(Primitive):
    """A Tensor to another process, which receives it with the same tag; the result is the Tensor."""

    def __init__(self, sr_tag, dest_rank, group=GlobalComm.WORLD_COMM_GROUP, group_back=GlobalComm.WORLD_COMM_GROUP):
        super().__init__("Send")
        self.sr_tag, self.dest_rank, self.group = sr_tag, dest_rank, group

    def __call__(self, input_data):
        _core.comm_send(input_data, _other("Send", self.dest_rank, self.group), self.sr_tag, self.group)
        return input_data


class Receive(Primitive):
    """A Tensor from another process, which sends it with the same tag."""

    def __init__(self, sr_tag, src_rank, shape, dtype, group=GlobalComm.WORLD_COMM_GROUP, group_back=GlobalComm.WORLD_COMM_GROUP):
        super().__init__("Receive")
        self.sr_tag, self.src_rank, self.shape, self.dtype, self.group = sr_tag, src_rank, tuple(shape), dtype, group

    def __call__(self, like=None):
        from . import zeros
        like = zeros(self.shape, self.dtype)
        return _core.comm_recv(like, _other("Receive", self.src_rank, self.group), self.sr_tag, self.group)


class NeighborExchange(Primitive):
    """Tensors to and from other processes, one for each that is listed."""

    def __init__(self, send_rank_ids, recv_rank_ids, recv_shapes, send_shapes, recv_type, group=GlobalComm.WORLD_COMM_GROUP):
        super().__init__("NeighborExchange")
        self.send_rank_ids, self.recv_rank_ids, self.recv_shapes, self.recv_type, self.group = send_rank_ids, recv_rank_ids, recv_shapes, recv_type, group

    def __call__(self, tensors):
        from . import zeros
        come = [zeros(tuple(shape), self.recv_type) for shape in self.recv_shapes]
        batch_isend_irecv([P2POp("isend", t, r, self.group) for t, r in zip(tensors, self.send_rank_ids)]
                          + [P2POp("irecv", t, r, self.group) for t, r in zip(come, self.recv_rank_ids)])
        return tuple(come)


class AlltoAllV(Primitive):
    """Pieces of a Tensor of one dimension to all processes.

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.AlltoAllV()(Tensor([1.0, 2.0, 3.0]), [3], [3]))
        [1. 2. 3.]
    """

    def __init__(self, group=GlobalComm.WORLD_COMM_GROUP, block_size=1):
        super().__init__("AlltoAllV")
        self.group, self.block_size = group, block_size

    def __call__(self, input_x, send_numel_list, recv_numel_list):
        to, come = ([int(n) * self.block_size for n in numbers] for numbers in (send_numel_list, recv_numel_list))
        if sum(to) > input_x.size:
            raise ValueError(f"AlltoAllV: send_numel_list is {send_numel_list}, but there are {input_x.size} elements")
        return _exchanged("AlltoAllV", "rank_parts", input_x.reshape((-1,))[:sum(to)], self.group, to=tuple(to), **{"from": tuple(come)})


class AlltoAllVC(Primitive):
    """Pieces of a Tensor to all processes, as a matrix of counts says: number i * n + j goes from process i to process j."""

    def __init__(self, group=GlobalComm.WORLD_COMM_GROUP, block_size=1, transpose=False):
        super().__init__("AlltoAllVC")
        self.group, self.block_size, self.transpose = group, block_size, transpose

    def __call__(self, input_x, send_count_matrix):
        counts = [int(v) * self.block_size for v in send_count_matrix]
        rank, n = get_rank(self.group), _size("AlltoAllVC", self.group)
        if self.transpose and len(counts) == n * n:
            counts = [counts[j * n + i] for i in range(n) for j in range(n)]
        if len(counts) != n * n or sum(counts[rank * n:(rank + 1) * n]) > input_x.size:
            raise ValueError(f"AlltoAllVC: {n} process{'es' if n > 1 else ''} need {n * n} counts, of which those of this one are at most the {input_x.size} elements there "
                             f"are, but send_count_matrix is {list(send_count_matrix)}")
        to, come = counts[rank * n:(rank + 1) * n], counts[rank::n]
        return _exchanged("AlltoAllVC", "rank_parts", input_x.reshape((-1,))[:sum(to)], self.group, to=tuple(to), **{"from": tuple(come)})


class AllGatherV(Primitive):
    """Pieces of different sizes of all processes in a row."""

    def __init__(self, group=GlobalComm.WORLD_COMM_GROUP):
        super().__init__("AllGatherV")
        self.group = group

    def __call__(self, input_x, output_split_sizes):
        come, mine = [int(v) for v in output_split_sizes], input_x.reshape((-1,))
        rank, n = get_rank(self.group), _size("AllGatherV", self.group)
        if len(come) != n or come[rank] > mine.size:
            raise ValueError(f"AllGatherV: one size for each of {n} processes is wanted, of which this one has {mine.size} elements, but "
                             f"output_split_sizes is {come}")
        mine = mine[:come[rank]]
        copies = _core.apply("concat", [mine] * n, {"axis": 0}) if n > 1 else mine
        return _parts("AllGatherV", copies, [come[rank]] * n, come, self.group)


class ReduceScatterV(Primitive):
    """The sum of all processes, of which each keeps a piece of its own size."""

    def __init__(self, op="sum", group=GlobalComm.WORLD_COMM_GROUP):
        super().__init__("ReduceScatterV")
        self.op, self.group = op, group

    def __call__(self, input_x, input_split_sizes):
        sizes, flat = [int(v) for v in input_split_sizes], input_x.reshape((-1,))
        rank, n = get_rank(self.group), _size("ReduceScatterV", self.group)
        if len(sizes) != n or sum(sizes) > flat.size:
            raise ValueError(f"ReduceScatterV: one size for each of {n} processes is wanted, at most the {flat.size} elements there are together, but "
                             f"input_split_sizes is {sizes}")
        total = _exchanged("ReduceScatterV", "all_reduce", flat, self.group, op=_op("ReduceScatterV", self.op))
        return total[sum(sizes[:rank]):sum(sizes[:rank + 1])]


class _Refused(Primitive):
    """A primitive that programs may make, and that says when it is called that it is not done."""

    def __init__(self, *args, **kwargs):
        super().__init__(type(self).__name__)

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"ops.{self.name} is not done; ops.Send and ops.Receive move Tensors from process to process")


class NeighborExchangeV2(_Refused):
    """Borders of images to and from neighbours: not done."""


class BatchISendIRecv(_Refused):
    """Several Tensors to and from other processes: not done as a primitive, batch_isend_irecv is."""


class _AllSwap(_Refused):
    """Rows to and from other processes: not done."""


def inner_comm_isend_op(tensor, dst, group=None, tag=0, *_):
    """A Tensor to another process, and a handle."""
    return isend(tensor, dst, group, tag)


def inner_comm_irecv_op(tag, src, shape, group, dtype, *_):
    """A Tensor from another process."""
    return Receive(tag, src, shape, dtype, group or GlobalComm.WORLD_COMM_GROUP)()
