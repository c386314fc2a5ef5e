# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""spore.mint.linalg."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive

__all__: list[str]

def inv(input: TensorLike) -> Tensor:
    """The inverse of square matrices."""
def matrix_norm(A, ord: Any = 'fro', dim: Any = (-2, -1), keepdim: Any = False, *, dtype=None):
    """The norm of matrices that two dimensions span."""
def norm(A, ord=None, dim=None, keepdim: Any = False, *, dtype=None) -> Tensor:
    """The norm of a tensor: of all its elements, of vectors (one dim) or of matrices (two dims, or rank 2 with an ord)."""
def qr(A, mode: Any = 'reduced'):
    """An orthogonal and an upper triangular matrix whose product is A; mode 'r': the second one only, the first is empty."""
def vector_norm(x, ord: Any = 2, dim=None, keepdim: Any = False, *, dtype=None):
    """The norm of vectors over dimensions."""
