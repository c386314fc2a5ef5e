# SPDX-License-Identifier: Apache-2.0
"""Views by sizes and strides."""
from ..._core import Tensor, apply
from .._make import plain

__all__ = ["as_strided", "AsStrided"]


def as_strided(input, size, stride, storage_offset=0) -> Tensor:
    """The elements of the memory that input shows, in the given sizes and strides: a view. It begins storage_offset elements behind the
    beginning of the memory.

    Examples:
        >>> import spore as ms
        >>> from spore.ops.auto_generate import as_strided
        >>> print(as_strided(ms.Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), (2, 2), (3, 1), 1))
        [[2. 3.]
         [5. 6.]]
    """
    return apply("region_get", [input._base()], {"dims": tuple(size), "strides": tuple(stride), "offset": int(storage_offset)})


AsStrided = plain("AsStrided", as_strided)
