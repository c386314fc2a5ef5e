# SPDX-License-Identifier: Apache-2.0
"""The older address of transforms that run in Python."""
import numpy as np

from spore.dataset import _check
from spore.dataset.transforms.transforms import Compose, PyTensorOperation, RandomApply, RandomChoice, RandomOrder

__all__ = ['Compose', 'OneHotOp', 'RandomApply', 'RandomChoice', 'RandomOrder']


class OneHotOp(PyTensorOperation):
    """Class numbers as rows of zeros with a one, float64.

    Args:
        num_classes: length of a row.
        smoothing_rate: share that is spread over all classes.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset.transforms import py_transforms
        >>> print(py_transforms.OneHotOp(3)(np.array(1)))
        [0. 1. 0.]
    """

    random = False

    def __init__(self, num_classes, smoothing_rate=0.0):
        super().__init__()
        _check.kind(num_classes, int, 'num_classes')
        _check.positive(num_classes, 'num_classes')
        _check.within(smoothing_rate, 0.0, 1.0, 'smoothing_rate')
        self.num_classes, self.smoothing_rate = num_classes, smoothing_rate

    def _execute_py(self, label):
        if not isinstance(label, np.ndarray) or label.dtype.kind not in 'iu':
            raise ValueError("the input numpy type should be int, but the input is: "
                             f"{getattr(label, 'dtype', type(label))}")
        if label.size and not 0 <= label.min() <= label.max() < self.num_classes:
            raise ValueError("the num_classes is smaller than the category number.")
        return (1 - self.smoothing_rate) * np.eye(self.num_classes)[label] + self.smoothing_rate / self.num_classes
