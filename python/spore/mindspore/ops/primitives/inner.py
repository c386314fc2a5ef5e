# SPDX-License-Identifier: Apache-2.0
"""Operators and functions that MindSpore keeps below its public names and packages import from there: the state of generators of random
numbers, a step of AdamW, batch normalisation over processes, attention in steps, indexing by kinds of indices."""
import os

import numpy as np

from ..._core import Tensor
from ...common import dtype as mstype
from .._make import primitive
from ..primitive import Primitive
from spore._core import type_name as _type_name

_STEP, _SEED, _GET_STATE, _SET_STATE, _MANUAL_SEED, _INITIAL_SEED = range(6)


class Generator(Primitive):
    """The state of a generator of random numbers, two Tensors (seed and offset), changed by commands: 0 count numbers as drawn, 1 take a
    new seed, 2 answer the state, 3 take it up again, 4 take a given seed, 5 answer the seed."""

    def __init__(self, seed, offset):
        super().__init__("Generator")
        self._seed, self._offset = seed, offset

    def __call__(self, cmd, inputs):
        seed, offset, *rest = inputs
        if len(rest) != (cmd in (_STEP, _SET_STATE, _MANUAL_SEED)):
            raise RuntimeError(f"Generator: command {cmd} takes {2 + (cmd in (_STEP, _SET_STATE, _MANUAL_SEED))} inputs, but got {len(inputs)}")
        if cmd == _STEP:
            before = Tensor(seed.asnumpy()), Tensor(offset.asnumpy())
            offset.assign_value(Tensor(offset.asnumpy() + rest[0].asnumpy()))
            return (*before, None)
        if cmd == _GET_STATE:
            return None, None, Tensor(np.array([int(seed), int(offset)], np.int64).view(np.uint8))
        if cmd == _INITIAL_SEED:
            return (Tensor(seed.asnumpy()),)
        return self._start(cmd, seed, offset, rest)

    def _start(self, cmd, seed, offset, rest):
        if cmd == _SET_STATE:
            numbers = rest[0].asnumpy().view(np.int64)
        elif cmd == _MANUAL_SEED:
            numbers = (int(rest[0]), 0)
        elif cmd == _SEED:
            numbers = (int.from_bytes(os.urandom(4), "little"), 0)
        else:
            raise RuntimeError(f"Generator: commands are 0 to 5, but got {cmd}")
        for place, value in zip((seed, offset), numbers):
            place.assign_value(Tensor(int(value), mstype.int64))
        return (Tensor(int(numbers[0]), mstype.int64),) if cmd == _SEED else None


def _adamw(self, var, m, v, max_v, gradient, step, lr, beta1, beta2, decay, eps, amsgrad=False, maximize=False):
    """A step of Adam with weight decay that moves the Parameters directly; var, m, v and, with amsgrad, max_v are written."""
    g = -gradient if maximize else gradient
    power = float(step.asnumpy().reshape(-1)[0]) if isinstance(step, Tensor) else float(step)
    m.assign_value(m * beta1 + g * (1 - beta1))
    v.assign_value(v * beta2 + g * g * (1 - beta2))
    held = v
    if amsgrad:
        max_v.assign_value(max_v.maximum(v))
        held = max_v
    root = (held / (1 - beta2 ** power)).sqrt() + eps
    var.assign_value(var * (1 - lr * decay) - m / root * (lr / (1 - beta1 ** power)))
    return var, m, v


AdamW = primitive("AdamW", _adamw)


class SyncBatchNorm(Primitive):
    """Batch normalisation with the statistics of all processes of a group; there is one process."""

    def __init__(self, epsilon=1e-5, momentum=0.1, group="sync_bn_group0", device_num=2):
        super().__init__("SyncBatchNorm")
        if isinstance(device_num, bool) or not isinstance(device_num, int) or device_num < 2:
            raise ValueError(f"For 'SyncBatchNorm', the 'device_num' must be int and must >= 2, but got '{device_num}' with type "
                             f"'{_type_name(device_num)}'.")
        for name, value in (("epsilon", epsilon), ("momentum", momentum), ("group", group), ("device_num", device_num)):
            self.add_prim_attr(name, value)

    def __call__(self, *args):
        raise RuntimeError(f"SyncBatchNorm: statistics of {self.device_num} processes are asked for, but there is one; ops.BatchNorm computes "
                           "with its own")


def _scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, is_training, dtype):
    """(output, weights) of attention. A causal mask is added as it is in MindSpore: 1 where keys may be seen, 0 elsewhere."""
    from ... import ops
    scale = float(query.shape[-1]) ** 0.25
    if is_causal:
        attn_mask = ops.ones((query.shape[-2], key.shape[-2]), mstype.bool_).tril()
    weights = ops.matmul(query / scale, key.swapaxes(-2, -1) / scale)
    if attn_mask is not None:
        weights = weights + attn_mask
    weights = ops.softmax(weights, -1)
    if is_training and dropout_p > 0.0:
        weights = ops.dropout(weights, p=dropout_p, training=True)
    return ops.matmul(weights, value), weights


def tensor_index_by_number(data, number_index):
    """data[number_index]"""
    if not isinstance(number_index, int):
        raise IndexError(f"Number index of tensor must be int or bool, but got {number_index}.")
    return data[number_index]


def tensor_index_by_tensor(data, tensor_index):
    """data[tensor_index]"""
    return data[tensor_index]


def tensor_index_by_tuple(data, tuple_index):
    """data[tuple_index]"""
    return data[tuple(tuple_index)]


def apply_rotary_pos_emb_(query, key, cos, sin, position_ids, cos_format=0):
    """Query and key turned by their positions."""
    from .fused import ApplyRotaryPosEmb
    return ApplyRotaryPosEmb(cos_format)(query, key, cos, sin, position_ids)


class DtypeToEnum(Primitive):
    """The number of a dtype in MindSpore's files and kernels."""

    _NUMBERS = {"Bool": 30, "Int8": 32, "Int16": 33, "Int32": 34, "Int64": 35, "UInt8": 37, "UInt16": 38, "UInt32": 39, "UInt64": 40,
                "Float16": 42, "Float32": 43, "Float64": 44, "BFloat16": 45, "Complex64": 51, "Complex128": 52}

    def __init__(self):
        super().__init__("DtypeToEnum")

    def __call__(self, op_name, arg_name, dtype):
        if str(dtype) not in self._NUMBERS:
            raise TypeError(f"For '{op_name}', the argument '{arg_name}' must be a dtype of Tensors, but got {dtype!r}")
        return self._NUMBERS[str(dtype)]


def reshard(tensor, layout):
    """The Tensor in another layout over processes: on one, as it is."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"reshard: tensor must be a Tensor, but got {_type_name(tensor)}")
    from ..._not_done import shard_not_done
    shard_not_done("ops.reshard", layout)
    from ...parallel import _sharding
    return _sharding.constrain("reshard", tensor, (layout,)) if _sharding.recording() else tensor


def _add_attr(fn, **kwargs):
    """A function, whose calls a compiler would mark with attributes; what it computes does not depend on them."""
    def add_attr_fn(*args, **more):
        return fn(*args, **more)
    add_attr_fn.__doc__, add_attr_fn.attributes = fn.__doc__, dict(kwargs)
    return add_attr_fn
