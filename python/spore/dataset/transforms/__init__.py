# SPDX-License-Identifier: Apache-2.0
"""Transforms of arrays of any kind."""
from spore.dataset.transforms import c_transforms, py_transforms, py_transforms_util, transforms
from spore.dataset.transforms.transforms import (Compose, Concatenate, Duplicate, Fill, Mask, OneHot, PadEnd, Plugin,
                                                 RandomApply, RandomChoice, RandomOrder, Relational, Slice, TypeCast,
                                                 Unique, not_random, to_numpy_type)

__all__ = ['Compose', 'Concatenate', 'Duplicate', 'Fill', 'Mask', 'OneHot', 'PadEnd', 'Plugin', 'RandomApply',
           'RandomChoice', 'RandomOrder', 'Relational', 'Slice', 'TypeCast', 'Unique', 'not_random']
