# SPDX-License-Identifier: Apache-2.0
"""The older address of transforms of arrays that run in C."""
from spore.dataset.transforms.transforms import (Compose, Concatenate, Duplicate, Fill, Mask, OneHot, PadEnd, Plugin,
                                                 RandomApply, RandomChoice, Relational, Slice, TypeCast, Unique)

__all__ = ['Compose', 'Concatenate', 'Duplicate', 'Fill', 'Mask', 'OneHot', 'PadEnd', 'Plugin', 'RandomApply',
           'RandomChoice', 'Relational', 'Slice', 'TypeCast', 'Unique']
