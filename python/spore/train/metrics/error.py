# SPDX-License-Identifier: Apache-2.0
"""Metrics of errors: absolute, squared, the loss itself."""
import numpy as np

from spore.train.metrics.metric import Metric, rearrange_inputs

__all__ = ['MAE', 'MSE', 'Loss']


class _Error(Metric):
    """A sum of errors by the number of samples."""

    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self._sum = self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._pair(inputs)
        self._sum += self._of(y.reshape(y_pred.shape) - y_pred).sum()
        self._samples_num += y.shape[0]

    def eval(self):
        self._need(self._samples_num)
        return float(self._sum / self._samples_num)


class MAE(_Error):
    """Absolute error by sample.

    Examples:
        >>> import numpy as np
        >>> from spore.train import MAE
        >>> print(MAE()(np.array([0.5, 1.0]), np.array([0.0, 1.0])))
        0.25
    """

    _of = staticmethod(np.abs)


class MSE(_Error):
    """Squared error by sample.

    Examples:
        >>> import numpy as np
        >>> from spore.train import MSE
        >>> print(MSE()(np.array([0.5, 1.0]), np.array([0.0, 1.0])))
        0.125
    """

    _of = staticmethod(np.square)


class Loss(Metric):
    """The mean of the loss over batches."""

    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self._sum_loss = self._total_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        if len(inputs) != 1:
            raise ValueError(f"For 'Loss.update', one input is wanted, the loss, but got {len(inputs)}.")
        loss = self._convert_data(inputs[0])
        if loss.ndim > 1:
            raise ValueError(f"For 'Loss.update', the loss must have at most one dimension, but it has {loss.ndim}.")
        self._sum_loss += loss.mean()
        self._total_num += 1

    def eval(self):
        self._need(self._total_num)
        return float(self._sum_loss / self._total_num)
