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
def exp2(input: TensorLike) -> Tensor:
    """2 to the power of each element."""
def expm1(input: TensorLike) -> Tensor:
    """e to the power of x minus 1, exact near zero."""
def log1p(input: TensorLike) -> Tensor:
    """The natural logarithm of 1 + x, exact near zero."""
def ndtr(input: TensorLike) -> Tensor:
    """The share of the standard normal distribution that is below each element."""
def round(input: TensorLike, *, decimals: int = 0) -> Tensor:
    """Each element rounded to a number of decimals, halves to even."""
def sinc(input: TensorLike) -> Tensor:
    """sin(pi x) / (pi x), and 1 at zero."""
