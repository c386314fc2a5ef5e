# SPDX-License-Identifier: Apache-2.0
"""What transforms in Python share."""
import random
from enum import IntEnum

__all__ = ['Implementation', 'FuncWrapper', 'compose', 'random_apply', 'random_choice', 'random_order']


class Implementation(IntEnum):
    """Where a transform runs."""
    C = 0
    PY = 1


class FuncWrapper:
    """A function among transforms."""

    def __init__(self, transform):
        if not callable(transform):
            raise ValueError(f"a function is wanted, but got {transform!r}")
        self.transform = transform
        self.implementation = Implementation.C
        self.random = getattr(transform, 'random', True)

    def __call__(self, *columns):
        return self.transform(*columns)


def compose(transforms, *columns):
    """All, one after another; a tuple of columns."""
    for transform in transforms:
        columns = transform(*columns)
        columns = columns if isinstance(columns, tuple) else (columns,)
    return columns


def random_apply(img, transforms, prob):
    """All, with a probability."""
    if random.random() < prob:
        for transform in transforms:
            img = transform(img)
    return img


def random_choice(img, transforms):
    """One of them."""
    return random.choice(transforms)(img)


def random_order(img, transforms):
    """All, in any order."""
    for transform in random.sample(transforms, len(transforms)):
        img = transform(img)
    return img
