# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""spore.mint.special."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive
from spore.ops.nn import _mint_log_softmax as log_softmax

__all__: list[str]

def erfc(input: TensorLike) -> Tensor:
    """One minus the error function of each element, exact where that is small."""
def round(input: TensorLike, *, decimals: int = 0) -> Tensor:
    """Each element rounded to a number of decimals, halves to even."""
