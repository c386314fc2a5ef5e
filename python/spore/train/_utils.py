# SPDX-License-Identifier: Apache-2.0
"""Small helpers of training code under MindSpore's address."""
import os
from collections.abc import Iterable

__all__ = []


def check_value_type(arg_name, arg_value, valid_types):
    """Raise TypeError unless the value is of one of the types; a bool is no int."""
    kinds = tuple(valid_types) if isinstance(valid_types, Iterable) else (valid_types,)
    if not isinstance(arg_value, kinds) or isinstance(arg_value, bool) and bool not in kinds:
        raise TypeError(f'For `{arg_name}` the type should be a valid type of {[k.__name__ for k in kinds]}, but got '
                        f'{type(arg_value).__name__}.')


def _make_directory(path, arg_name='path'):
    """The absolute path of a folder, which is made if need be."""
    if not isinstance(path, str) or not path.strip():
        raise TypeError(f"The {arg_name} must be a text that is not empty, but got {path!r}.")
    path = os.path.realpath(path)
    os.makedirs(path, exist_ok=True)
    return path
