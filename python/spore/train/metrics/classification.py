# SPDX-License-Identifier: Apache-2.0
"""Metrics of classification."""
import sys

import numpy as np

from spore._core import type_name as _type_name
from spore.train.metrics.metric import EvaluationBase, Metric, is_one_hot, rearrange_inputs

__all__ = ['Accuracy', 'Precision', 'Recall', 'Fbeta', 'F1', 'TopKCategoricalAccuracy', 'Top1CategoricalAccuracy',
           'Top5CategoricalAccuracy', 'ConfusionMatrix', 'ROC', 'auc']

_TINY = sys.float_info.min


class Accuracy(EvaluationBase):
    """Share of right predictions.

    Args:
        eval_type: "classification" or "multilabel", where all labels of a sample must be right.

    Examples:
        >>> import numpy as np
        >>> from spore.train import Accuracy
        >>> print(Accuracy()(np.array([[0.2, 0.8], [0.9, 0.1]]), np.array([1, 1])))
        0.5
    """

    def __init__(self, eval_type='classification'):
        super().__init__(eval_type)
        self.clear()

    def clear(self):
        self._correct_num = self._total_num = self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._labels(inputs)
        if self._type == 'classification':
            right = (y_pred.argmax(axis=1) == y).reshape(-1)
        else:
            rows = [a.swapaxes(1, a.ndim - 1).reshape(-1, self._class_num) for a in (y_pred, y)]
            right = (rows[0] == rows[1]).all(axis=1)
        self._correct_num += right.sum()
        self._total_num += right.shape[0]

    def eval(self):
        self._need(self._total_num)
        return float(self._correct_num / self._total_num)


class _Shares(EvaluationBase):
    """Precision and Recall: true positives by class over what was predicted, or over what is there."""

    def __init__(self, eval_type='classification'):
        super().__init__(eval_type)
        self.clear()

    def clear(self):
        self._class_num = 0
        multilabel = self._type == 'multilabel'
        self._true_positives = np.empty(0) if multilabel else 0
        self._whole = np.empty(0) if multilabel else 0
        self._share_sum = self._share_count = 0

    def _whole_of(self, y_pred, y):
        raise NotImplementedError

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._labels(inputs)
        n = self._class_num
        if self._type == 'classification':
            y_pred, y = _marks(self, y_pred, y, n)
        else:
            y_pred, y = (a.swapaxes(1, 0).reshape(n, -1) for a in (y_pred, y))
        whole, true = self._whole_of(y_pred, y), (y * y_pred).sum(axis=0)
        if self._type == 'multilabel':
            self._share_sum += (true / (whole + _TINY)).sum()
            self._share_count += len(whole)
            self._true_positives = np.concatenate((self._true_positives, true))
            self._whole = np.concatenate((self._whole, whole))
        else:
            self._true_positives = self._true_positives + true
            self._whole = self._whole + whole

    def eval(self, average=False):
        """The value by class; for multilabel by sample. With ``average`` their mean."""
        self._need(self._class_num)
        if not isinstance(average, bool):
            raise TypeError(f"For '{type(self).__name__}.eval', 'average' must be a bool, but got "
                            f"{_type_name(average)}.")
        if average and self._type == 'multilabel':
            return self._share_sum / (self._share_count + _TINY)
        result = self._true_positives / (self._whole + _TINY)
        return result.mean() if average else result


def _marks(metric, y_pred, y, n):
    """Predicted and true class of each sample as rows with a single one."""
    if y.max() >= n:
        raise ValueError(f"For '{_type_name(metric)}.update', there are {n} classes, but the truth holds class "
                         f"{y.max()}.")
    return np.eye(n)[y_pred.argmax(axis=1).reshape(-1)], np.eye(n)[y.astype(np.int64).reshape(-1)]


class Precision(_Shares):
    """Share of the predictions of a class that are right.

    Args:
        eval_type: "classification" or "multilabel".
    """

    def _whole_of(self, y_pred, y):
        return y_pred.sum(axis=0)


class Recall(_Shares):
    """Share of the samples of a class that are predicted.

    Args:
        eval_type: "classification" or "multilabel".
    """

    def _whole_of(self, y_pred, y):
        return y.sum(axis=0)


class Fbeta(Metric):
    """Weighted harmonic mean of precision and recall, by class.

    Args:
        beta: weight of recall.
    """

    def __init__(self, beta):
        super().__init__()
        if not beta > 0:
            raise ValueError(f"For 'Fbeta', 'beta' must be greater than 0, but got {beta}.")
        self.beta = beta
        self.clear()

    def clear(self):
        self._true_positives = self._actual_positives = self._positives = self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._pair(inputs)
        if y_pred.ndim == y.ndim and is_one_hot(y):
            y = y.argmax(axis=1)
        if self._class_num and y_pred.shape[1] != self._class_num:
            raise ValueError(f"For '{type(self).__name__}.update', there were {self._class_num} classes so far, but "
                             "now there are "
                             f"{y_pred.shape[1]}.")
        self._class_num = y_pred.shape[1]
        y_pred, y = _marks(self, y_pred, y, self._class_num)
        self._true_positives = self._true_positives + (y * y_pred).sum(axis=0)
        self._positives = self._positives + y_pred.sum(axis=0)
        self._actual_positives = self._actual_positives + y.sum(axis=0)

    def eval(self, average=False):
        """The value by class, or with ``average`` their mean."""
        if not isinstance(average, bool):
            raise TypeError(f"For '{type(self).__name__}.eval', 'average' must be a bool, but got "
                            f"{_type_name(average)}.")
        self._need(self._class_num)
        square = self.beta ** 2
        result = (1.0 + square) * self._true_positives / (square * self._actual_positives + self._positives + _TINY)
        return result.mean() if average else result


class F1(Fbeta):
    """Harmonic mean of precision and recall, by class."""

    def __init__(self):
        super().__init__(1.0)


class TopKCategoricalAccuracy(Metric):
    """Share of samples whose class is among the ``k`` best predictions.

    Args:
        k: how many predictions count.
    """

    def __init__(self, k):
        super().__init__()
        if isinstance(k, bool) or not isinstance(k, int):
            raise TypeError(f"For 'TopKCategoricalAccuracy', 'k' must be an int, but got {_type_name(k)}.")
        if k < 1:
            raise ValueError(f"For 'TopKCategoricalAccuracy', 'k' must be at least 1, but got {k}.")
        self.k = k
        self.clear()

    def clear(self):
        self._correct_num = self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._pair(inputs)
        if y_pred.ndim == y.ndim and is_one_hot(y):
            y = y.argmax(axis=1)
        best = np.argsort(-y_pred, axis=1, kind='stable')[:, :self.k]
        y = y.reshape(-1, 1)
        self._correct_num += (best == y).sum()
        self._samples_num += y.shape[0]

    def eval(self):
        self._need(self._samples_num)
        return float(self._correct_num / self._samples_num)


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """Share of samples whose class is predicted best."""

    def __init__(self):
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """Share of samples whose class is among the five best predictions."""

    def __init__(self):
        super().__init__(5)


class ConfusionMatrix(Metric):
    """How often each class (row) was taken for each class (column).

    Args:
        num_classes: number of classes.
        normalize: "no_norm" for counts, or shares of the "target" (row), the "prediction" (column) or "all".
        threshold: from which probability on a binary prediction is class 1.
    """

    def __init__(self, num_classes, normalize='no_norm', threshold=0.5):
        super().__init__()
        if isinstance(num_classes, bool) or not isinstance(num_classes, int):
            raise TypeError(f"For 'ConfusionMatrix', 'num_classes' must be an int, but got "
                            f"{_type_name(num_classes)}.")
        if normalize not in ('target', 'prediction', 'all', 'no_norm'):
            raise ValueError(f"For 'ConfusionMatrix', 'normalize' must be 'target', 'prediction', 'all' or 'no_norm', "
                             f"but got {normalize!r}.")
        if not isinstance(threshold, float):
            raise TypeError(f"For 'ConfusionMatrix', 'threshold' must be a float, but got {_type_name(threshold)}.")
        self.num_classes, self.normalize, self.threshold = num_classes, normalize, threshold
        self.clear()

    def clear(self):
        self.confusion_matrix = np.zeros((self.num_classes, self.num_classes))
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._pair(inputs)
        if y_pred.ndim not in (y.ndim, y.ndim + 1):
            raise ValueError(f"For 'ConfusionMatrix.update', the prediction must have as many dimensions as the truth, "
                             f"{y.ndim}, or one "
                             f"more, but it has {y_pred.ndim}.")
        if y_pred.ndim == y.ndim + 1:
            y_pred = y_pred.argmax(axis=1)
        elif y_pred.dtype.kind == 'f':
            y_pred = y_pred >= self.threshold
        pairs = (y.reshape(-1) * self.num_classes + y_pred.reshape(-1)).astype(int)
        counts = np.bincount(pairs, minlength=self.num_classes ** 2)
        self.confusion_matrix += counts.reshape(self.num_classes, self.num_classes)
        self._is_update = True

    def eval(self):
        self._need(self._is_update)
        counts = self.confusion_matrix.astype(float)
        if self.normalize == 'no_norm':
            return counts
        whole = counts.sum(axis={'target': 1, 'prediction': 0, 'all': None}[self.normalize], keepdims=True)
        return np.divide(counts, whole, out=np.zeros_like(counts), where=whole != 0)

    def plot(self, path=None):
        """The matrix as a picture; see train.plot."""
        from spore.train.curves import plot
        return plot(self, path)


class ROC(Metric):
    """The curve of true against false positives as the threshold falls: (fpr, tpr, thresholds).

    Args:
        class_num: number of classes; None for binary predictions.
        pos_label: which class is positive in binary predictions; 1 if None.
    """

    def __init__(self, class_num=None, pos_label=None):
        super().__init__()
        for name, value in (('class_num', class_num), ('pos_label', pos_label)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise TypeError(f"For 'ROC', '{name}' must be an int, but got {_type_name(value)}.")
        self.class_num, self.pos_label = class_num, pos_label
        self.clear()

    def clear(self):
        self.y_pred = self.y = 0
        self.sample_weights = None
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._pair(inputs)
        if y_pred.ndim == y.ndim:
            if self.class_num not in (None, 1):
                raise ValueError(f"For 'ROC', with binary predictions 'class_num' must be 1, but it is "
                                 f"{self.class_num}.")
            self.class_num, self.pos_label = 1, 1 if self.pos_label is None else self.pos_label
            y_pred = y_pred.flatten()
        elif y_pred.ndim == y.ndim + 1:
            if self.pos_label is not None:
                raise ValueError(f"For 'ROC', with several classes 'pos_label' must be None, but it is "
                                 f"{self.pos_label}.")
            if self.class_num != y_pred.shape[1]:
                raise ValueError(f"For 'ROC', 'class_num' is {self.class_num}, but the prediction has "
                                 f"{y_pred.shape[1]} classes.")
            y_pred = np.moveaxis(y_pred, 1, -1).reshape(-1, self.class_num)
        else:
            raise ValueError(f"For 'ROC', the prediction must have as many dimensions as the truth, {y.ndim}, or one "
                             "more, but it has "
                             f"{y_pred.ndim}.")
        self.y_pred, self.y, self._is_update = y_pred, y.flatten(), True

    def eval(self):
        self._need(self._is_update)
        if self.class_num == 1:
            return _roc_curve(self.y_pred, self.y == self.pos_label)
        curves = [_roc_curve(self.y_pred[:, c], self.y == c) for c in range(self.class_num)]
        return tuple(list(part) for part in zip(*curves))


def _roc_curve(scores, positive):
    order = np.argsort(-scores, kind='stable')
    scores, positive = scores[order], positive[order].astype(np.int64)
    ends = np.append(np.flatnonzero(np.diff(scores)), scores.size - 1)    # last sample of each different score
    true = np.cumsum(positive)[ends]
    false = 1 + ends - true
    if false[-1] <= 0 or true[-1] <= 0:
        raise ValueError("For 'ROC.eval', the truth must hold positive and negative samples.")
    start = np.zeros(1, dtype=true.dtype)
    thresholds = np.hstack([scores[:1] + 1, scores[ends]])
    return np.hstack([start, false]) / false[-1], np.hstack([start, true]) / true[-1], thresholds


def auc(x, y, reorder=False):
    """The area under a curve.

    Args:
        x, y: arrays with the points of the curve; x rises or falls.
        reorder: whether to sort the points by x first.

    Examples:
        >>> import numpy as np
        >>> from spore.train import auc
        >>> print(auc(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0])))
        0.75
    """
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(f"For 'auc', 'x' and 'y' must be arrays, but got {_type_name(x)} and {_type_name(y)}.")
    for array in (x, y):
        if array.ndim != 1 and not (array.ndim == 2 and array.shape[1] == 1):
            raise ValueError(f"For 'auc', 'x' and 'y' must have one dimension, but got shape {array.shape}.")
    x, y = x.ravel(), y.ravel()
    if x.size != y.size or x.size < 2:
        raise ValueError(f"For 'auc', 'x' and 'y' must have the same number of points, at least two, but got {x.size} "
                         f"and {y.size}.")
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    steps = np.diff(x)
    if (steps < 0).any() and not (steps <= 0).all():
        raise ValueError("For 'auc', 'x' must rise or fall throughout; reorder=True sorts it.")
    area = float(((y[1:] + y[:-1]) / 2 * steps).sum())
    return np.float64(-area if (steps < 0).any() else area)
