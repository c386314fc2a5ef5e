# SPDX-License-Identifier: Apache-2.0
"""Transforms of arrays of any kind."""
from spore import _compat
from spore.dataset.transforms import py_transforms_util, transforms
from spore.dataset.transforms.transforms import (Compose, Concatenate, Duplicate, Fill, Mask, OneHot, PadEnd, Plugin,
                                                 RandomApply, RandomChoice, RandomOrder, Relational, Slice, TypeCast,
                                                 Unique, not_random, to_numpy_type)

__all__ = ['Compose', 'Concatenate', 'Duplicate', 'Fill', 'Mask', 'OneHot', 'PadEnd', 'Plugin', 'RandomApply',
           'RandomChoice', 'RandomOrder', 'Relational', 'Slice', 'TypeCast', 'Unique', 'not_random']


def __getattr__(name):
    if name in ('c_transforms', 'py_transforms'):
        return _compat.module(__name__, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
