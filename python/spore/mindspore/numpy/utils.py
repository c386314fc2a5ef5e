# SPDX-License-Identifier: Apache-2.0
"""Helpers of mindspore.numpy that programs import."""
from spore._core import Tensor, type_name as _type_name
from spore.numpy._convert import made

__all__ = []


def _checked(arg):
    if not isinstance(arg, (int, float, bool, list, tuple, Tensor)):
        raise TypeError(f"Expect input to be array like, but got {_type_name(arg)}.")
    return arg


def _to_tensor(*args):
    """Tensors as they are, numbers and lists as Tensors of int32 and float32; of one argument that one, of more a tuple."""
    found = tuple(arg if isinstance(_checked(arg), Tensor) else Tensor(arg) if arg == [] or arg == () else made(arg) for arg in args)
    return found[0] if len(found) == 1 else found


def _to_tensor_origin_dtype(*args):
    """The same with the dtypes that Tensor gives numbers; of more than one argument a list."""
    found = [arg if isinstance(_checked(arg), Tensor) else Tensor(arg) for arg in args]
    return found[0] if len(found) == 1 else found


def _check_input_tensor(*tensors):
    """All arguments must be Tensors."""
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expect Tensor, but got {type(tensor)}")
    return True
