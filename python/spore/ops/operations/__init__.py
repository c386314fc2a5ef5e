# SPDX-License-Identifier: Apache-2.0
"""spore.ops.operations: primitives under the address P, and under the addresses of their groups (array_ops, nn_ops)."""
from ... import ops
from .._gather import alias
from ..primitive import Primitive, PrimitiveWithCheck, PrimitiveWithInfer, prim_attr_register

for _name in ("array_ops", "math_ops", "nn_ops", "other_ops", "comm_ops", "control_ops", "debug_ops", "image_ops",
              "inner_ops", "linalg_ops", "random_ops", "rl_ops", "sparse_ops", "spectral_ops", "custom_ops",
              "_inner_ops", "_grad_ops", "_quant_ops", "_sequence_ops", "_tensor_array",
              "_embedding_cache_ops", "_cache_ops", "manually_defined", "reshard_ops"):
    alias("spore.ops.operations." + _name, "Primitives of spore.ops.")
del _name


def __getattr__(name):
    if name == "__all__":
        return [each for each in ops.__all__ if each[0].isupper()]
    if name.startswith("__"):
        raise AttributeError(f"module 'spore.ops.operations' has no attribute '{name}'")
    try:
        return getattr(ops, name)
    except AttributeError:
        raise AttributeError(f"module 'spore.ops.operations' has no attribute '{name}'") from None


def __dir__():
    return dir(ops)
