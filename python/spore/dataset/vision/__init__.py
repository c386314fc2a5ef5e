# SPDX-License-Identifier: Apache-2.0
"""Transforms of images, given as arrays of height, width and channels or as Pillow images, and image files."""
from spore import _compat, _docstrings
from spore._alias import show_image_of_pillow
from spore.dataset.vision import _video, py_transforms_util, transforms, utils
from spore.dataset.vision._video import *
from spore.dataset.vision.transforms import *
from spore.dataset.vision.utils import *

__all__ = [*transforms.__all__, *utils.__all__, *_video.__all__]

show_image_of_pillow()
_docstrings.attach('vision', globals())


def __getattr__(name):
    if name in ('c_transforms', 'py_transforms'):
        return _compat.module(__name__, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
