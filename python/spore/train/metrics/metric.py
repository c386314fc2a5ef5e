# SPDX-License-Identifier: Apache-2.0
"""Metric: a number that is collected batch by batch."""
import functools
from abc import ABCMeta, abstractmethod

import numpy as np

from spore._core import Tensor, type_name as _type_name

__all__ = ['Metric', 'EvaluationBase', 'rearrange_inputs']


def rearrange_inputs(func):
    """Decorator of a Metric's ``update``: the inputs are chosen and ordered by ``set_indexes`` first.

    Examples:
        >>> from spore import train
        >>> class Sum(train.Metric):
        ...     def clear(self):
        ...         self.total = 0
        ...     @train.rearrange_inputs
        ...     def update(self, *inputs):
        ...         self.total += inputs[0]
        ...     def eval(self):
        ...         return self.total
        ...
        >>> metric = Sum().set_indexes([1])
        >>> metric.clear()
        >>> metric.update(3, 4)
        >>> metric.eval()
        4
    """
    @functools.wraps(func)
    def update(self, *inputs):
        return func(self, *([inputs[i] for i in self.indexes] if self.indexes else inputs))
    return update


class Metric(metaclass=ABCMeta):
    """Base of metrics: ``clear`` starts over, ``update`` takes a batch, ``eval`` gives the value; a call does all
    three.

    Examples:
        >>> from spore import train
        >>> class Batches(train.Metric):
        ...     def clear(self):
        ...         self.n = 0
        ...     def update(self, *inputs):
        ...         self.n += 1
        ...     def eval(self):
        ...         return self.n
        >>> Batches()(1.0)
        1
    """

    def __init__(self):
        self._indexes = None

    def _convert_data(self, data):
        """The data as an array."""
        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, (list, np.ndarray)):
            return np.asarray(data)
        raise TypeError(f"For '{type(self).__name__}', the inputs must be Tensors, lists or arrays, but got "
                        f"{_type_name(data)}.")

    def _pair(self, inputs, what='prediction and truth'):
        """Two inputs as arrays."""
        if len(inputs) != 2:
            raise ValueError(f"For '{type(self).__name__}.update', two inputs are wanted, {what}, but got "
                             f"{len(inputs)}.")
        return self._convert_data(inputs[0]), self._convert_data(inputs[1])

    def _need(self, filled):
        """RuntimeError unless something was collected."""
        if not filled:
            raise RuntimeError(f"For '{type(self).__name__}.eval', there are no samples; call 'update' first.")

    @property
    def indexes(self):
        """Which inputs of ``update`` are used, None for all."""
        return getattr(self, '_indexes', None)

    def set_indexes(self, indexes):
        """Choose the inputs of ``update`` by their positions."""
        if not isinstance(indexes, list) or not all(isinstance(i, int) for i in indexes):
            raise ValueError(f"For 'set_indexes', 'indexes' must be a list of ints, but got {indexes!r}.")
        self._indexes = indexes
        return self

    def __call__(self, *inputs):
        self.clear()
        self.update(*inputs)
        return self.eval()

    @abstractmethod
    def clear(self):
        """Start over."""
        raise NotImplementedError

    @abstractmethod
    def eval(self):
        """The value so far."""
        raise NotImplementedError

    @abstractmethod
    def update(self, *inputs):
        """Take a batch."""
        raise NotImplementedError


def is_one_hot(data):
    """Are the rows ones and zeros with a single one along axis 1?"""
    return data.ndim > 1 and bool(np.isin(data, (0, 1)).all()) and bool((data.sum(axis=1) == 1).all())


class EvaluationBase(Metric):
    """Base of metrics of classification, where one class is right, and of "multilabel", where each is right or
    wrong."""

    def __init__(self, eval_type):
        super().__init__()
        if eval_type not in ('classification', 'multilabel'):
            raise TypeError(f"For '{type(self).__name__}', 'eval_type' must be 'classification' or 'multilabel', but "
                            f"got {eval_type!r}.")
        self._type = eval_type
        self._class_num = 0

    def _labels(self, inputs):
        """Prediction and truth as arrays, checked; one-hot truths become class numbers."""
        y_pred, y = self._pair(inputs)
        if self._type == 'classification' and y_pred.ndim == y.ndim and is_one_hot(y):
            y = y.argmax(axis=1)
        self._check_shape(y_pred, y)
        self._check_value(y_pred, y)
        if self._class_num == 0:
            self._class_num = y_pred.shape[1]
        elif y_pred.shape[1] != self._class_num:
            raise ValueError(f"For '{type(self).__name__}.update', there were {self._class_num} classes so far, but "
                             "now there are "
                             f"{y_pred.shape[1]}.")
        return y_pred, y

    def _check_shape(self, y_pred, y):
        wanted = (y_pred.shape[0],) + y_pred.shape[2:] if self._type == 'classification' else y_pred.shape
        if y.shape != wanted:
            raise ValueError(f"For '{type(self).__name__}.update' ({self._type}), with a prediction of shape "
                             f"{y_pred.shape} the truth "
                             f"must have shape {wanted}, but it has {y.shape}.")

    def _check_value(self, y_pred, y):
        if self._type == 'multilabel' and not (np.isin(y_pred, (0, 1)).all() and np.isin(y, (0, 1)).all()):
            raise ValueError(f"For '{type(self).__name__}.update' (multilabel), prediction and truth must hold 0 and 1 "
                             "only.")

    def clear(self):
        raise NotImplementedError

    def update(self, *inputs):
        raise NotImplementedError

    def eval(self):
        raise NotImplementedError
