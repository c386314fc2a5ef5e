# SPDX-License-Identifier: Apache-2.0
"""Transforms of arrays of any kind."""
import numpy as np

from spore.common import dtype as mstype

__all__ = ['TypeCast', 'Compose', 'OneHot']


def to_numpy_type(dtype):
    """A numpy type from one of numpy's or spore's."""
    try:
        return np.dtype(dtype)
    except TypeError:
        return np.dtype(mstype.dtype_to_nptype(dtype))


class TypeCast:
    """Values converted to another type.

    Args:
        output_type: of spore or numpy.

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore.dataset import transforms
        >>> print(transforms.TypeCast(ms.int32)(np.array([1.5])))
        [1]
    """

    def __init__(self, output_type):
        self.output_type = to_numpy_type(output_type)

    def __call__(self, data):
        return np.asarray(data).astype(self.output_type)


class Compose:
    """Transforms one after another.

    Args:
        transforms: list of functions.
    """

    def __init__(self, transforms):
        for transform in transforms:
            if not callable(transform):
                raise TypeError(f"Compose: transforms must be functions, but got {type(transform).__name__}")
        self.transforms = list(transforms)

    def __call__(self, *values):
        for transform in self.transforms:
            values = transform(*values)
            values = values if isinstance(values, tuple) else (values,)
        return values if len(values) > 1 else values[0]


class OneHot:
    """A class number as a row of zeros with a one.

    Args:
        num_classes: length of the row.
        smoothing_rate: share that is spread over all classes.
    """

    def __init__(self, num_classes, smoothing_rate=0.0):
        self.num_classes, self.smoothing_rate = num_classes, smoothing_rate

    def __call__(self, label):
        label = np.asarray(label)
        if label.size != 1 or label.dtype.kind not in 'iu':
            raise RuntimeError(f"OneHot: a single class number is wanted, but got shape {label.shape} of {label.dtype}")
        if not 0 <= int(label.reshape(())) < self.num_classes:
            raise RuntimeError(f"OneHot: the class number {int(label.reshape(()))} is not below num_classes "
                               f"{self.num_classes}")
        if self.smoothing_rate == 0:
            row = np.zeros(self.num_classes, label.dtype)
            row[int(label.reshape(()))] = 1
            return row
        row = np.full(self.num_classes, self.smoothing_rate / self.num_classes, np.float64)
        row[int(label.reshape(()))] += 1 - self.smoothing_rate
        return row
