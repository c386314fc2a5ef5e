# SPDX-License-Identifier: Apache-2.0
"""What distributions and bijectors share: parameters as they are given made Tensors of one dtype, and checks of them."""
import numpy as np

from spore._core import type_name as _type_name
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.common.tensor import Tensor


def common_type(parameters, hint):
    """The dtype of the parameters, {name: value}: that of the Tensors and arrays among them, which must agree, else hint. Whole
    numbers count as float32, and so do arrays of float64, which is what numpy makes unless told otherwise."""
    found = plain = None
    for name, value in parameters.items():
        if not isinstance(value, (Tensor, np.ndarray)):
            continue
        plain = isinstance(value, np.ndarray)
        kind = mstype.pytype_to_dtype(value.dtype.type) if plain else value.dtype
        if found is not None and kind != found:
            raise TypeError(f"{name} should have the same dtype as other arguments: found {kind} beside {found}. Cast one of them.")
        found = kind
    if found is None:
        return hint
    return mstype.float32 if not found.is_floating_point or (plain and found == mstype.float64) else found


def is_float(dtype):
    """Whether this is a dtype at all, and of floating point numbers."""
    return getattr(dtype, "is_floating_point", False) is True


def tensor_of(value, dtype, name):
    """A parameter as a Tensor of the dtype; None stays None, and a Parameter stays itself, so that it can be trained."""
    if value is None or isinstance(value, Parameter):
        return value
    if isinstance(value, Tensor):
        return value.astype(dtype)
    if isinstance(value, (int, float, list, tuple, np.ndarray, np.generic)) and not isinstance(value, bool):
        try:
            return Tensor(np.asarray(value, np.float64), dtype)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name}: cannot be made a Tensor of {dtype}: {error}") from error
    raise TypeError(f"{name}: a number, list, numpy.ndarray, Tensor or Parameter is wanted, but got {_type_name(value)}: {value!r}")


def is_tensor(value, what) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"For {what}, input type must be a Tensor or Parameter, but got {_type_name(value)}: {value!r}")
    return value


def all_hold(tensor, test, message):
    """Raise unless the test, of numpy arrays, holds for every element. A Parameter without data yet is not looked at."""
    if tensor is None or (isinstance(tensor, Parameter) and tensor.has_init):
        return
    values = tensor.astype(mstype.float32).asnumpy()
    if not np.all(test(values)):
        raise ValueError(f"{message}, but got {values.tolist()}")


def broadcast_shape(tensors):
    """The shape of all parameters together; None when there is none of them."""
    shapes = [tensor.shape for tensor in tensors if tensor is not None]
    try:
        return tuple(np.broadcast_shapes(*shapes)) if shapes else None
    except ValueError as error:
        raise ValueError(f"the shapes of the parameters, {shapes}, do not broadcast") from error
