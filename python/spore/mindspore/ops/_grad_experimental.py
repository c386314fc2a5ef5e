# SPDX-License-Identifier: Apache-2.0
"""Gradients of one's own primitives: ``@bprop_getters.register(MyPrimitive)`` over a function of the primitive that makes
``bprop(*inputs, output, doutput)``."""
from spore.ops.primitive import bprop_getters

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ["bprop_getters", "get_bprop_fn"]

bprops = bprop_getters


def get_bprop_fn(prim, get_closure=False):
    """The gradient registered for a primitive, or None; with get_closure what makes it."""
    maker = bprop_getters.get(prim)
    return maker if get_closure or maker is None else maker(prim)


def get_squared_device_local_norm_param():
    """The Parameter in which MindSpore adds up squares of gradients of its own device (`dump_device_local_norm`)."""
    raise ValueError("get_squared_device_local_norm_param: the parallel config 'dump_device_local_norm' is False; norms of single devices "
                     "are not computed, for there is one device: nn.ClipByNorm and ops.clip_by_global_norm compute norms of gradients")
