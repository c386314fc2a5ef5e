# SPDX-License-Identifier: Apache-2.0
"""Dtypes by the names that data pipelines have for them."""
import numpy as np

from spore._core import type_name as _type_name
from spore import _core
from spore.common.dtype import dtype_to_nptype, dtype_to_pytype

__all__ = ['mstype_to_detype', 'mstypelist_to_detypelist', 'nptype_to_detype']


def mstype_to_detype(type_):
    """The pipeline's name of a dtype, as 'int32'."""
    if not isinstance(type_, _core.DType):
        raise NotImplementedError(f"mstype_to_detype: a dtype is wanted, but got {_type_name(type_)}")
    return 'string' if dtype_to_pytype(type_) is str else np.dtype(dtype_to_nptype(type_)).name


def mstypelist_to_detypelist(type_list):
    """The same for every dtype of a list."""
    return [mstype_to_detype(each) for each in type_list]


def nptype_to_detype(type_):
    """The pipeline's name of a dtype of numpy."""
    kind = np.dtype(type_)
    return 'string' if kind.kind in 'US' else kind.name
