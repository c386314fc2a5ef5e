# SPDX-License-Identifier: Apache-2.0
"""Data pipelines in Python: a source, then map, batch, shuffle and the like, each a new Dataset on the one before.

A Dataset makes its rows anew for every epoch. What is random follows from (seed, epoch) alone.
"""
import random

import numpy as np

from spore._core import Tensor
from spore.dataset import config

__all__ = ['Dataset']


def to_array(value):
    """A value of a row as an array."""
    return value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)


def _count(who, name, value, least):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{who}: {name} must be an int, but got {type(value).__name__}")
    if value < least:
        raise ValueError(f"{who}: {name} must be at least {least}, but got {value}")
    return value


def _names(who, columns):
    if isinstance(columns, str):
        columns = [columns]
    if not isinstance(columns, (list, tuple)) or not all(isinstance(c, str) for c in columns):
        raise TypeError(f"{who}: column names must be a str or a list of str, but got {columns!r}")
    return list(columns)


class Dataset:
    """Base of all datasets: rows of named columns, read epoch by epoch."""

    def __init__(self, parent=None, columns=None):
        self._parent = parent
        self._columns = columns
        self._epoch = 0
        self._size = None
        self._first = None

    # --- what subclasses make ----------------------------------------------------------------------------------------

    def _rows(self, epoch):
        """The rows of an epoch: tuples of arrays."""
        raise NotImplementedError

    def _n_rows(self):
        """Their number."""
        return sum(1 for _ in self._rows(0))

    # --- questions ---------------------------------------------------------------------------------------------------

    def get_col_names(self):
        """Names of the columns."""
        return list(self._columns)

    def get_dataset_size(self):
        """Rows in an epoch."""
        if self._size is None:
            self._size = self._n_rows()
        return self._size

    def __len__(self):
        return self.get_dataset_size()

    def _first_row(self):
        if self._first is None:
            self._first = next(iter(self._rows(0)), None)
            if self._first is None:
                raise RuntimeError("the dataset holds no rows, so there are no shapes or types")
        return self._first

    def output_shapes(self, estimate=False):
        """Shapes of the columns, by the first row."""
        return [list(value.shape) for value in self._first_row()]

    def output_types(self):
        """numpy types of the columns, by the first row."""
        return [value.dtype for value in self._first_row()]

    def get_batch_size(self):
        """Rows of the source in one row."""
        return self._parent.get_batch_size() if self._parent is not None else 1

    def get_repeat_count(self):
        """How often the source is gone through."""
        return self._parent.get_repeat_count() if self._parent is not None else 1

    def num_classes(self):
        """Number of classes, None if the source does not tell."""
        return self._parent.num_classes() if self._parent is not None else None

    def get_class_indexing(self):
        """Numbers of named classes, if the source has names."""
        return self._parent.get_class_indexing() if self._parent is not None else {}

    def reset(self):
        """Nothing to do: every iteration starts over."""

    # --- reading -----------------------------------------------------------------------------------------------------

    def create_tuple_iterator(self, columns=None, num_epochs=-1, output_numpy=False, do_copy=True):
        """Rows as lists of Tensors, or arrays with ``output_numpy``. Iterate again for the next epoch."""
        return _Iterator(self, columns, num_epochs, output_numpy, as_dict=False)

    def create_dict_iterator(self, num_epochs=-1, output_numpy=False, do_copy=True):
        """Rows as dicts by column name of Tensors, or arrays with ``output_numpy``. Iterate again for the next
        epoch."""
        return _Iterator(self, None, num_epochs, output_numpy, as_dict=True)

    def __iter__(self):
        return iter(self.create_tuple_iterator(num_epochs=1))

    # --- further datasets --------------------------------------------------------------------------------------------

    def batch(self, batch_size, drop_remainder=False, num_parallel_workers=None, per_batch_map=None, input_columns=None,
              output_columns=None, **kwargs):
        """Rows put together: each column gets a first dimension of ``batch_size``.

        Args:
            batch_size: rows in a batch.
            drop_remainder: whether a last, smaller batch is left out.
            num_parallel_workers: accepted.
            per_batch_map: function of lists of the rows' values of ``input_columns`` and a BatchInfo.
            input_columns, output_columns: what the function takes and gives.
        """
        return _Batch(self, batch_size, drop_remainder, per_batch_map, input_columns, output_columns)

    def map(self, operations, input_columns=None, output_columns=None, num_parallel_workers=None, **kwargs):
        """Rows with columns changed by functions, one after another.

        Args:
            operations: a function or a list of them.
            input_columns: columns given to the first function; the first column if None.
            output_columns: names of what the last one returns; those of the input if None.
            num_parallel_workers: accepted.
        """
        return _Map(self, operations, input_columns, output_columns)

    def filter(self, predicate, input_columns=None, num_parallel_workers=None):
        """The rows for which ``predicate``, called with ``input_columns``, is true."""
        return _Filter(self, predicate, input_columns)

    def shuffle(self, buffer_size):
        """Rows in random order, drawn from a buffer of ``buffer_size``."""
        return _Shuffle(self, buffer_size)

    def repeat(self, count=None):
        """The rows ``count`` times as one epoch; None or -1 leaves the number of epochs to the reader."""
        return _Repeat(self, count)

    def take(self, count=-1):
        """The first ``count`` rows, -1 for all."""
        return _Take(self, count)

    def skip(self, count):
        """The rows after the first ``count``."""
        return _Skip(self, count)

    def project(self, columns):
        """These columns in this order."""
        return _Project(self, columns)

    def rename(self, input_columns, output_columns):
        """The same rows, columns with other names."""
        return _Rename(self, input_columns, output_columns)


class _Iterator:
    """Reads a dataset; each ``for`` over it is one epoch."""

    def __init__(self, dataset, columns, num_epochs, output_numpy, as_dict):
        if isinstance(num_epochs, bool) or not isinstance(num_epochs, int) or (num_epochs < 1 and num_epochs != -1):
            raise ValueError(f"create_iterator: num_epochs must be -1 or above 0, but got {num_epochs!r}")
        self._dataset = dataset.project(columns) if columns is not None else dataset
        self._counter = dataset
        self._left = num_epochs
        self._numpy, self._dict = output_numpy, as_dict
        self._rows = None

    def __iter__(self):
        if self._left == 0:
            self._rows = iter(())
            return self
        self._left -= self._left > 0
        self._rows = iter(self._dataset._rows(self._counter._epoch))
        self._counter._epoch += 1
        return self

    def __next__(self):
        if self._rows is None:
            iter(self)
        row = next(self._rows)
        values = row if self._numpy else [value if value.dtype.kind in 'US' else Tensor(value) for value in row]
        return dict(zip(self._dataset._columns, values)) if self._dict else list(values)


class _Batch(Dataset):

    def __init__(self, parent, batch_size, drop_remainder, per_batch_map, input_columns, output_columns):
        super().__init__(parent, parent._columns)
        self._n = _count('batch', 'batch_size', batch_size, 1)
        if not isinstance(drop_remainder, bool):
            raise TypeError(f"batch: drop_remainder must be a bool, but got {type(drop_remainder).__name__}")
        self._drop = drop_remainder
        self._function = per_batch_map
        if per_batch_map is not None:
            self._inputs = _names('batch', input_columns)
            self._outputs = _names('batch', output_columns) if output_columns is not None else self._inputs
            rest = [c for c in parent._columns if c not in self._inputs]
            self._columns = list(parent._columns) if self._outputs == self._inputs else self._outputs + rest

    def _n_rows(self):
        n = self._parent.get_dataset_size()
        return n // self._n if self._drop else -(-n // self._n)

    def get_batch_size(self):
        return self._n

    def _rows(self, epoch):
        rows = []
        number = 0
        for row in self._parent._rows(epoch):
            rows.append(row)
            if len(rows) == self._n:
                yield self._together(rows, epoch, number)
                rows, number = [], number + 1
        if rows and not self._drop:
            yield self._together(rows, epoch, number)

    def _together(self, rows, epoch, number):
        columns = dict(zip(self._parent._columns, (list(values) for values in zip(*rows))))
        if self._function is not None:
            made = self._function(*(columns[c] for c in self._inputs), BatchInfo(epoch, number))
            made = made if isinstance(made, tuple) else (made,)
            columns.update(zip(self._outputs, made))
        return tuple(_stack(name, columns[name]) for name in self._columns)


def _stack(name, values):
    arrays = [to_array(value) for value in values]
    shapes = {a.shape for a in arrays}
    if len(shapes) > 1:
        raise RuntimeError(f"batch: the rows of column '{name}' have different shapes {sorted(shapes)[:4]}, they "
                           "cannot be put together")
    return np.stack(arrays)


class BatchInfo:
    """What a per_batch_map function learns of its batch."""

    def __init__(self, epoch, batch):
        self._epoch, self._batch = epoch, batch

    def get_epoch_num(self):
        """Number of the epoch, from 0."""
        return self._epoch

    def get_batch_num(self):
        """Number of the batch in the epoch, from 0."""
        return self._batch


class _Map(Dataset):

    def __init__(self, parent, operations, input_columns, output_columns):
        super().__init__(parent)
        self._functions = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        for function in self._functions:
            if not callable(function):
                raise TypeError(f"map: operations must be functions, but got {type(function).__name__}")
        self._inputs = _names('map', input_columns) if input_columns is not None else parent._columns[:1]
        unknown = [c for c in self._inputs if c not in parent._columns]
        if unknown:
            raise ValueError(f"map: there are no columns {unknown}, only {parent._columns}")
        self._outputs = _names('map', output_columns) if output_columns is not None else self._inputs
        if self._outputs == self._inputs:
            self._columns = list(parent._columns)
        elif len(self._outputs) == len(self._inputs):
            new = dict(zip(self._inputs, self._outputs))
            self._columns = [new.get(c, c) for c in parent._columns]
        else:
            self._columns = self._outputs + [c for c in parent._columns if c not in self._inputs]

    def _n_rows(self):
        return self._parent.get_dataset_size()

    def _rows(self, epoch):
        names = self._parent._columns
        for row in self._parent._rows(epoch):
            columns = dict(zip(names, row))
            values = tuple(columns[c] for c in self._inputs)
            for function in self._functions:
                values = function(*values)
                values = values if isinstance(values, tuple) else (values,)
            if len(values) != len(self._outputs):
                raise RuntimeError(f"map: the last function gives {len(values)} values, but there are "
                                   f"{len(self._outputs)} output columns "
                                   f"{self._outputs}")
            columns.update(zip(self._outputs, (to_array(v) for v in values)))
            yield tuple(columns[c] for c in self._columns)


class _Filter(Dataset):

    def __init__(self, parent, predicate, input_columns):
        super().__init__(parent, parent._columns)
        if not callable(predicate):
            raise TypeError(f"filter: predicate must be a function, but got {type(predicate).__name__}")
        self._predicate = predicate
        chosen = _names('filter', input_columns) if input_columns is not None else parent._columns
        self._at = [parent._columns.index(c) for c in chosen]

    def _rows(self, epoch):
        return (row for row in self._parent._rows(epoch) if bool(self._predicate(*(row[i] for i in self._at))))


def generator_of(epoch):
    """Random numbers of an epoch."""
    seed = config.get_seed()
    return random.Random() if seed is None else random.Random(seed * 1000003 + epoch)


class _Shuffle(Dataset):

    def __init__(self, parent, buffer_size):
        super().__init__(parent, parent._columns)
        self._buffer_size = _count('shuffle', 'buffer_size', buffer_size, 2)

    def _n_rows(self):
        return self._parent.get_dataset_size()

    def _rows(self, epoch):
        draw, buffer = generator_of(epoch), []
        for row in self._parent._rows(epoch):
            buffer.append(row)
            if len(buffer) == self._buffer_size:
                at = draw.randrange(len(buffer))
                buffer[at], buffer[-1] = buffer[-1], buffer[at]
                yield buffer.pop()
        draw.shuffle(buffer)
        yield from buffer


class _Repeat(Dataset):

    def __init__(self, parent, count):
        super().__init__(parent, parent._columns)
        if count is not None and count != -1:
            _count('repeat', 'count', count, 1)
        self._times = 1 if count in (None, -1) else count

    def _n_rows(self):
        return self._parent.get_dataset_size() * self._times

    def get_repeat_count(self):
        return self._times * self._parent.get_repeat_count()

    def _rows(self, epoch):
        for turn in range(self._times):
            yield from self._parent._rows(epoch * self._times + turn)


class _Take(Dataset):

    def __init__(self, parent, count):
        super().__init__(parent, parent._columns)
        if count != -1:
            _count('take', 'count', count, 1)
        self._n = count

    def _n_rows(self):
        n = self._parent.get_dataset_size()
        return n if self._n == -1 else min(n, self._n)

    def _rows(self, epoch):
        if self._n == -1:
            yield from self._parent._rows(epoch)
            return
        for _, row in zip(range(self._n), self._parent._rows(epoch)):
            yield row


class _Skip(Dataset):

    def __init__(self, parent, count):
        super().__init__(parent, parent._columns)
        self._n = _count('skip', 'count', count, 0)

    def _n_rows(self):
        return max(0, self._parent.get_dataset_size() - self._n)

    def _rows(self, epoch):
        rows = iter(self._parent._rows(epoch))
        for _ in range(self._n):
            if next(rows, None) is None:
                return
        yield from rows


class _Project(Dataset):

    def __init__(self, parent, columns):
        super().__init__(parent, _names('project', columns))
        unknown = [c for c in self._columns if c not in parent._columns]
        if unknown:
            raise ValueError(f"project: there are no columns {unknown}, only {parent._columns}")
        self._at = [parent._columns.index(c) for c in self._columns]

    def _n_rows(self):
        return self._parent.get_dataset_size()

    def _rows(self, epoch):
        return (tuple(row[i] for i in self._at) for row in self._parent._rows(epoch))


class _Rename(Dataset):

    def __init__(self, parent, input_columns, output_columns):
        old, new = _names('rename', input_columns), _names('rename', output_columns)
        unknown = [c for c in old if c not in parent._columns]
        if len(old) != len(new) or unknown:
            raise ValueError(f"rename: {old} cannot become {new}, the columns are {parent._columns}")
        names = dict(zip(old, new))
        super().__init__(parent, [names.get(c, c) for c in parent._columns])

    def _n_rows(self):
        return self._parent.get_dataset_size()

    def _rows(self, epoch):
        return self._parent._rows(epoch)
