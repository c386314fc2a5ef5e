# SPDX-License-Identifier: Apache-2.0
"""Small helpers of training code under MindSpore's address."""
import os
from collections.abc import Iterable

import numpy as np

from spore.common import dtype as mstype

__all__ = []


def check_value_type(arg_name, arg_value, valid_types):
    """Raise TypeError unless the value is of one of the types; a bool is no int."""
    kinds = tuple(valid_types) if isinstance(valid_types, Iterable) else (valid_types,)
    if not isinstance(arg_value, kinds) or isinstance(arg_value, bool) and bool not in kinds:
        raise TypeError(f'For `{arg_name}` the type should be a valid type of {[k.__name__ for k in kinds]}, but got '
                        f'{type(arg_value).__name__}.')


def _to_tensor(elem, scaling_sens=None):
    """numpy arrays, in lists too, as Tensors; a scale of the loss comes last."""
    from spore._core import Tensor
    made = tuple(Tensor(part) if isinstance(part, np.ndarray) else part
                 for part in (elem if isinstance(elem, (list, tuple)) else (elem,)))
    if scaling_sens is not None:
        made += (Tensor(scaling_sens, mstype.float32),)
    return made[0] if len(made) == 1 else made


def _make_directory(path, arg_name='path'):
    """The absolute path of a folder, which is made if need be."""
    if not isinstance(path, str):
        raise TypeError(f"The {arg_name} is invalid, the type should be string, but got {type(path).__name__}.")
    if not path.strip():
        raise ValueError(f"The {arg_name} is invalid, it should be non-blank.")
    path = os.path.realpath(path)
    os.makedirs(path, exist_ok=True)
    return path
