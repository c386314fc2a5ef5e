# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""spore.mint.linalg."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive
from spore.ops.linalg import _linalg_qr as qr
from spore.ops.math import _linalg_matrix_norm as matrix_norm
from spore.ops.math import norm as norm
from spore.ops.math import _linalg_vector_norm as vector_norm

__all__: list[str]

def inv(input: TensorLike) -> Tensor:
    """The inverse of square matrices."""
