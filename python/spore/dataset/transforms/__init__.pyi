# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""Transforms of arrays of any kind."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive
from spore.dataset.transforms.transforms import Compose as Compose
from spore.dataset.transforms.transforms import Duplicate as Duplicate
from spore.dataset.transforms.transforms import Fill as Fill
from spore.dataset.transforms.transforms import PadEnd as PadEnd
from spore.dataset.transforms.transforms import Plugin as Plugin
from spore.dataset.transforms.transforms import RandomChoice as RandomChoice
from spore.dataset.transforms.transforms import RandomOrder as RandomOrder
from spore.dataset.transforms.transforms import Relational as Relational
from spore.dataset.transforms.transforms import Slice as Slice
from spore.dataset.transforms.transforms import TypeCast as TypeCast
from spore.dataset.transforms.transforms import Unique as Unique
from spore.dataset.transforms.transforms import Concatenate as _Concatenate
from spore.dataset.transforms.transforms import Mask as _Mask
from spore.dataset.transforms.transforms import OneHot as _OneHot
from spore.dataset.transforms.transforms import RandomApply as _RandomApply
from spore.dataset.transforms.transforms import not_random as not_random

__all__: list[str]

class Concatenate(_Concatenate):
    """Arrays of one dimension one after another, with something before or behind."""
    def __init__(self, axis: Any = 0, prepend=None, append=None) -> None: ...
class Mask(_Mask):
    """Whether each value compares with a constant."""
    def __init__(self, operator, constant, dtype: Any = ...) -> None: ...
class OneHot(_OneHot):
    """Class numbers as rows of zeros with a one."""
    def __init__(self, num_classes, smoothing_rate: Any = 0.0) -> None: ...
class RandomApply(_RandomApply):
    """All transforms with a probability, none otherwise."""
    def __init__(self, transforms, prob: Any = 0.5) -> None: ...
