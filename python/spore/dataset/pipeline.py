# SPDX-License-Identifier: Apache-2.0
"""Data pipelines: a source, then map, batch, shuffle and the like, each a new Dataset on the ones before.

A Dataset is a description. When it is first read, it becomes a data set of the engine (``_core.Pipeline``), where the
order of rows, threads and transforms live; Python functions are called from there. Order and random transforms follow
from (seed, epoch) alone.
"""
import faulthandler
import os
import sys
import threading
import weakref

import numpy as np

from spore import _core, log
from spore.dataset import _cells, _check, config
from spore.dataset.callback import Announcer
from spore.dataset.transforms.transforms import Compose, _runs_in_engine

__all__ = ['Dataset', 'BatchInfo', 'BatchDataset', 'MapDataset', 'FilterDataset', 'ShuffleDataset', 'RepeatDataset',
           'SkipDataset', 'TakeDataset', 'ZipDataset', 'ConcatDataset', 'ProjectDataset', 'RenameDataset',
           'PaddedBatchDataset', 'zip']

_zip = zip
INT32_MAX = 2147483647


def to_array(value):
    """A value of a row as an array."""
    return value.asnumpy() if isinstance(value, _core.Tensor) else np.asarray(value)


def _names(columns, what):
    if isinstance(columns, str):
        columns = [columns]
    _check.kind(columns, (list, tuple, str), what)
    for i, column in enumerate(columns):
        _check.kind(column, str, f"{what}[{i}]")
        if not column:
            raise ValueError(f"{what}[{i}] should not be an empty string.")
    if len(set(columns)) != len(columns):
        raise ValueError(f"Every column name should not be same with others in {what}: {list(columns)}.")
    return list(columns)


def _workers(num):
    if num is None:
        return None
    _check.kind(num, int, 'num_parallel_workers')
    if not 1 <= num <= max(1, os.cpu_count() or 1) * 64:
        raise ValueError(f"num_parallel_workers exceeds the boundary between 1 and {(os.cpu_count() or 1) * 64}!")
    return num


class Dataset:
    """Base of all datasets: rows of named columns, read epoch by epoch."""

    def __init__(self, parents=(), num_parallel_workers=None):
        self.children = list(parents)
        self.parent = []
        self.num_parallel_workers = _workers(num_parallel_workers)
        self._pipeline = None
        self._first = None
        self._size = None
        self._last = self._last_stats = None    # of the iterator made last; weak, for it must be able to go
        self._init_step = 0

    # --- what subclasses make ----------------------------------------------------------------------------------------

    def _make(self):
        """The data set of the engine."""
        raise NotImplementedError(f"{type(self).__name__} does not say how its rows are made")

    def _engine(self):
        if self._pipeline is None:
            self._pipeline = self._make()
        return self._pipeline

    # --- questions ---------------------------------------------------------------------------------------------------

    def get_col_names(self):
        """Names of the columns."""
        return self._engine().columns

    def get_dataset_size(self):
        """Rows in an epoch."""
        if self._size is None:
            size = self._engine().count()
            self._size = size if size >= 0 else self._count_rows()
        return self._size

    def _count_rows(self):
        iterator = _core.PipelineIterator(self._engine(), 0, 0)
        count = 0
        while iterator.next(True) is not None:
            count += 1
        iterator.close()
        return count

    def __len__(self):
        return self.get_dataset_size()

    def _first_row(self):
        if self._first is None:
            iterator = _core.PipelineIterator(self._engine(), 0, 0, 0, 1)
            self._first = iterator.next(True)
            iterator.close()
            if self._first is None:
                raise RuntimeError("the dataset holds no rows, so there are no shapes or types")
        return self._first

    def output_shapes(self, estimate=False):
        """Shapes of the columns, by the first row; with ``estimate``, None where rows differ."""
        _check.kind(estimate, bool, 'estimate')
        shapes = [list(value.shape) for value in self._first_row()]
        if estimate:
            for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True):
                for shape, value in _zip(shapes, row):
                    shape[:] = [n if n == m else None for n, m in _zip(shape, value.shape)]
        return shapes

    def output_types(self):
        """numpy types of the columns, by the first row."""
        return [value.dtype for value in self._first_row()]

    def get_batch_size(self):
        """Rows of the source in one row."""
        return self.children[0].get_batch_size() if self.children else 1

    def get_repeat_count(self):
        """How often the source is gone through."""
        return self.children[0].get_repeat_count() if self.children else 1

    def num_classes(self):
        """Number of classes, None if the source does not tell."""
        return self.children[0].num_classes() if self.children else None

    def get_class_indexing(self):
        """Numbers of named classes, if the source has names."""
        return self.children[0].get_class_indexing() if self.children else {}

    def is_shuffled(self):
        """Whether rows come in random order."""
        return any(child.is_shuffled() for child in self.children)

    def is_sharded(self):
        """Whether this is one part of several."""
        return any(child.is_sharded() for child in self.children)

    def reset(self):
        """Nothing to do: every iterator starts over."""

    def set_init_step(self, init_step):
        """Keep the number of the step that training starts with."""
        self._init_step = init_step

    def get_init_step(self):
        """What was set."""
        return self._init_step

    @property
    def dataset_size(self):
        """Rows in an epoch."""
        return self.get_dataset_size()

    # --- reading -----------------------------------------------------------------------------------------------------

    def create_tuple_iterator(self, columns=None, num_epochs=-1, output_numpy=False, do_copy=False):
        """Rows as lists of Tensors, or arrays with ``output_numpy``. Iterate again for the next epoch."""
        data = self if columns is None else self.project(columns)
        return TupleIterator(data, num_epochs, output_numpy, do_copy, self)

    def create_dict_iterator(self, num_epochs=-1, output_numpy=False, do_copy=False):
        """Rows as dicts by column name of Tensors, or arrays with ``output_numpy``. Iterate again for the next
        epoch."""
        return DictIterator(self, num_epochs, output_numpy, do_copy, self)

    def __iter__(self):
        return iter(self.create_tuple_iterator(num_epochs=1))

    def stats(self):
        """What the stages of the iterator made last have cost, as a text."""
        iterator = self._last() if self._last is not None else None
        return iterator.stats() if iterator is not None else self._last_stats or "no iterator is being read"

    def save(self, file_name, num_files=1, file_type='mindrecord'):
        """Write the rows of one epoch into MindRecord files.

        Args:
            file_name: the file; with several files, a number is put behind it.
            num_files: how many files.
            file_type: "mindrecord".
        """
        from spore.dataset._save import save
        save(self, file_name, num_files, file_type)

    # --- further datasets --------------------------------------------------------------------------------------------

    def batch(self, batch_size, drop_remainder=False, num_parallel_workers=None, **kwargs):
        """Rows put together: each column gets a first dimension of ``batch_size``.

        Args:
            batch_size: rows in a batch, or a function of a BatchInfo that says how many.
            drop_remainder: whether a last, smaller batch is left out.
            num_parallel_workers: threads.
            per_batch_map: function of lists of the rows' values of ``input_columns`` and a BatchInfo.
            input_columns, output_columns: what the function takes and gives.
            python_multiprocessing: whether the function is called in ``num_parallel_workers`` processes.
            max_rowsize: accepted; memory shared with processes grows with the rows.
        """
        return BatchDataset(self, batch_size, drop_remainder, num_parallel_workers, **kwargs)

    def padded_batch(self, batch_size, drop_remainder=False, num_parallel_workers=None, pad_info=None):
        """Rows filled up to one shape and put together.

        Args:
            batch_size: rows in a batch.
            drop_remainder: whether a last, smaller batch is left out.
            num_parallel_workers: threads.
            pad_info: by column name a shape (None: the largest of the batch) and a value; {}: all
                columns, with 0; None: no column.
        """
        return PaddedBatchDataset(self, batch_size, drop_remainder, num_parallel_workers, pad_info)

    def bucket_batch_by_length(self, column_names, bucket_boundaries, bucket_batch_sizes, element_length_function=None,
                               pad_info=None, pad_to_bucket_boundary=False, drop_remainder=False):
        """Rows of about the same length put together.

        Args:
            column_names: columns that the length is taken from.
            bucket_boundaries: lengths at which a new bucket begins, ascending.
            bucket_batch_sizes: rows in a batch of each bucket, one more than there are boundaries.
            element_length_function: function of the columns that gives the length; the first dimension of the only
                column if None.
            pad_info: as for padded_batch.
            pad_to_bucket_boundary: whether unknown dimensions are filled up to the bucket's boundary less one.
            drop_remainder: whether batches that are not full at the end are left out.
        """
        return BucketBatchDataset(self, column_names, bucket_boundaries, bucket_batch_sizes, element_length_function,
                                  pad_info, pad_to_bucket_boundary, drop_remainder)

    def map(self, operations, input_columns=None, output_columns=None, num_parallel_workers=None, **kwargs):
        """Rows with columns changed by transforms and functions, one after another.

        Args:
            operations: a transform, a function or a list of them.
            input_columns: columns given to the first one; the first column if None.
            output_columns: names of what the last one returns; those of the input if None.
            num_parallel_workers: threads.
            callbacks: a DSCallback or a list of them; all operations run in Python then.
            python_multiprocessing: whether functions of Python are called in ``num_parallel_workers`` processes. What is
                random in them (``random``, ``numpy.random``) follows from the seed and the row there.
            max_rowsize, offload: accepted; memory shared with processes grows with the rows.
            cache: accepted as None.
        """
        return MapDataset(self, operations, input_columns, output_columns, num_parallel_workers, **kwargs)

    def filter(self, predicate, input_columns=None, num_parallel_workers=None):
        """The rows for which ``predicate``, called with ``input_columns``, is true."""
        return FilterDataset(self, predicate, input_columns, num_parallel_workers)

    def shuffle(self, buffer_size):
        """Rows in random order, drawn from a buffer of ``buffer_size``."""
        return ShuffleDataset(self, buffer_size)

    def repeat(self, count=None):
        """The rows ``count`` times as one epoch; None or -1 leaves the number of epochs to the reader."""
        return RepeatDataset(self, count)

    def take(self, count=-1):
        """The first ``count`` rows, -1 for all."""
        return TakeDataset(self, count)

    def skip(self, count):
        """The rows after the first ``count``."""
        return SkipDataset(self, count)

    def project(self, columns):
        """These columns in this order."""
        return ProjectDataset(self, columns)

    def rename(self, input_columns, output_columns):
        """The same rows, columns with other names."""
        return RenameDataset(self, input_columns, output_columns)

    def zip(self, datasets):
        """Columns of this and other datasets side by side."""
        _check.kind(datasets, (tuple, Dataset), 'datasets')
        return ZipDataset((self, *(datasets if isinstance(datasets, tuple) else (datasets,))))

    def concat(self, datasets):
        """The rows of this dataset, then those of the others."""
        _check.kind(datasets, (list, Dataset), 'datasets')
        return ConcatDataset([self, *(datasets if isinstance(datasets, list) else [datasets])])

    def __add__(self, datasets):
        return self.concat(datasets)

    def apply(self, apply_func):
        """What ``apply_func`` makes of the dataset."""
        if not callable(apply_func):
            raise TypeError("apply_func is not callable, use __call__")
        made = apply_func(self)
        if not isinstance(made, Dataset):
            raise TypeError("apply_func returned is not a dataset.")
        return made

    def flat_map(self, func):
        """The rows of the datasets that ``func`` makes of the rows, one dataset after another."""
        if not callable(func):
            raise TypeError("func should be a function.")
        return FlatMapDataset(self, func)

    def split(self, sizes, randomize=True):
        """Several datasets that share the rows.

        Args:
            sizes: numbers of rows, or parts of 1.
            randomize: whether rows are mixed first, by the seed.
        """
        _check.kind(sizes, list, 'sizes')
        if not sizes:
            raise ValueError("sizes cannot be empty.")
        _check.kind(randomize, bool, 'randomize')
        return _split(self, _split_sizes(sizes, self.get_dataset_size()), randomize)


def _split_sizes(sizes, count):
    if all(isinstance(size, int) and not isinstance(size, bool) for size in sizes):
        if any(size <= 0 for size in sizes):
            raise ValueError("split sizes must be positive")
        if sum(sizes) != count:
            raise RuntimeError(f"Sum of split sizes {sum(sizes)} is not equal to dataset size {count}.")
        return sizes
    if not all(isinstance(size, float) for size in sizes):
        raise ValueError("sizes should be list of int or list of float.")
    if any(not 0 < size <= 1 for size in sizes):
        raise ValueError("split sizes must be in (0, 1]")
    if abs(sum(sizes) - 1) > 1e-9:
        raise ValueError(f"Sum of split sizes {sum(sizes)} is not 1.")
    rounded = [round(size * count) for size in sizes]
    if 0 in rounded:
        raise RuntimeError(f"Split percentage {sizes[rounded.index(0)]} is too small.")
    rounded_over = sum(rounded) - count
    for i in range(len(rounded)):       # what rounding gave or took is evened out from the front
        step = max(-1, min(1, rounded_over))
        if rounded[i] - step > 0:
            rounded[i] -= step
            rounded_over -= step
    return rounded


def _split(data, sizes, randomize):
    source = _MixedOnce(data) if randomize else data
    parts, start = [], 0
    for size in sizes:
        part = source.skip(start) if start else source
        parts.append(part.take(size))
        start += size
    return parts


class _Passing(Dataset):
    """Datasets that are a method of the engine's."""

    def __init__(self, parent, num_parallel_workers=None):
        super().__init__([parent], num_parallel_workers)

    def _parent(self):
        return self.children[0]._engine()

    def _processes(self):
        """How many processes call the functions; 0: none, they are called here."""
        if not self.python_multiprocessing:
            return 0
        return self.num_parallel_workers or config.get_num_parallel_workers()


class BatchInfo:
    """What functions of a batch learn of it."""

    def __init__(self, epoch, batch):
        self._epoch, self._batch = epoch, batch

    def get_epoch_num(self):
        """Number of the epoch, from 0."""
        return self._epoch

    def get_batch_num(self):
        """Number of the batch in the epoch, from 0."""
        return self._batch


def _batch_size(size):
    if callable(size):
        return
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError("batch_size should either be an int or a callable.")
    _check.within(size, 1, INT32_MAX, 'batch_size')


class BatchDataset(_Passing):
    """Rows put together."""

    def __init__(self, parent, batch_size, drop_remainder=False, num_parallel_workers=None, per_batch_map=None,
                 input_columns=None, output_columns=None, python_multiprocessing=False, max_rowsize=None):
        super().__init__(parent, num_parallel_workers)
        _batch_size(batch_size)
        _check.kind(drop_remainder, bool, 'drop_remainder')
        if per_batch_map is None and input_columns is not None:
            raise ValueError("input_columns can be specified only when per_batch_map is specified.")
        if per_batch_map is not None:
            if not callable(per_batch_map):
                raise TypeError(f"per_batch_map should be a function, but got {type(per_batch_map)}")
            if input_columns is None:
                raise ValueError("input_columns must be specified when per_batch_map is specified.")
        _check.kind(python_multiprocessing, bool, 'python_multiprocessing')
        self.python_multiprocessing, self.max_rowsize = python_multiprocessing, max_rowsize
        self._n, self._drop, self._function = batch_size, drop_remainder, per_batch_map
        self._inputs = _names(input_columns, 'input_columns') if input_columns else []
        self._outputs = _names(output_columns, 'output_columns') if output_columns else self._inputs

    def get_batch_size(self):
        return self._n if isinstance(self._n, int) else -1

    def _make(self):
        if self._function is None and isinstance(self._n, int):
            return self._parent().batch(self._n, self._drop)
        names = self._parent().columns
        unknown = [c for c in self._inputs if c not in names]
        if unknown:
            raise RuntimeError(f"batch: there are no columns {unknown}, only {names}")
        columns = _made_columns(names, self._inputs, self._outputs)

        def together(*lists):
            *lists, epoch, number = lists
            rows = dict(_zip(names, lists))
            if self._function is not None:
                made = self._function(*(rows[c] for c in self._inputs), BatchInfo(epoch, number))
                made = made if isinstance(made, tuple) else (made,)
                if len(made) != len(self._outputs):
                    raise RuntimeError(f"per_batch_map gives {len(made)} columns, but {len(self._outputs)} are named: "
                                       f"{self._outputs}")
                rows.update(_zip(self._outputs, made))
            return tuple(_stack(name, rows[name]) for name in columns)
        sizes = (lambda epoch, number: self._n(BatchInfo(epoch, number))) if callable(self._n) else None
        return self._parent().batch_function(1 if sizes else self._n, self._drop, together, sizes, list(columns),
                                             self._processes() if self._function is not None else 0)


def _stack(name, values):
    if isinstance(values, np.ndarray):
        return values
    arrays = [to_array(value) for value in values]
    shapes = {a.shape for a in arrays}
    if len(shapes) > 1:
        raise RuntimeError(f"batch: the rows of column '{name}' have different shapes {sorted(shapes)[:4]}, they "
                           "cannot be put together")
    return np.stack(arrays)


class PaddedBatchDataset(_Passing):
    """Rows filled up to one shape and put together."""

    def __init__(self, parent, batch_size, drop_remainder=False, num_parallel_workers=None, pad_info=None):
        super().__init__(parent, num_parallel_workers)
        _batch_size(batch_size)
        _check.kind(drop_remainder, bool, 'drop_remainder')
        if pad_info is not None:
            _check.kind(pad_info, dict, 'pad_info')
            for name, info in pad_info.items():
                _check.kind(name, str, 'key in pad_info')
                _check.kind(info, tuple, 'value in pad_info')
                if len(info) != 2:
                    raise ValueError("value in pad_info must be a pair of shape and pad_value.")
        self._n, self._drop, self._pads = batch_size, drop_remainder, pad_info

    def get_batch_size(self):
        return self._n

    def _make(self):
        pads = self._pads or ({} if self._pads is None else {c: (None, 0) for c in self._parent().columns})
        wanted = []
        for column, (shape, value) in pads.items():
            shape = None if shape is None else tuple(-1 if n is None else n for n in shape)
            wanted.append((column, shape, 0.0 if value is None or isinstance(value, (str, bytes)) else float(value)))
        return self._parent().batch(self._n, self._drop, wanted)


class BucketBatchDataset(_Passing):
    """Rows of about the same length put together. Rows are looked at in their order: a bucket that is full is a batch."""

    def __init__(self, parent, column_names, bucket_boundaries, bucket_batch_sizes, element_length_function, pad_info,
                 pad_to_bucket_boundary, drop_remainder):
        super().__init__(parent)
        self._inputs = _names(column_names, 'column_names')
        _check.kind(bucket_boundaries, list, 'bucket_boundaries')
        _check.kind(bucket_batch_sizes, list, 'bucket_batch_sizes')
        for name, values in (('bucket_boundaries', bucket_boundaries), ('bucket_batch_sizes', bucket_batch_sizes)):
            if not values:
                raise ValueError(f"{name} cannot be empty.")
            for value in values:
                _check.kind(value, int, name)
                if value <= 0:
                    raise ValueError(f"{name} must only contain positive numbers.")
        if any(a >= b for a, b in _zip(bucket_boundaries, bucket_boundaries[1:])):
            raise ValueError("bucket_boundaries should be strictly increasing.")
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError("bucket_batch_sizes must contain one element more than bucket_boundaries.")
        if len(self._inputs) != 1 and element_length_function is None:
            raise ValueError("If element_length_function is not specified, exactly one column name should be passed.")
        self._bounds, self._sizes, self._length = bucket_boundaries, bucket_batch_sizes, element_length_function
        self._pads, self._to_bound, self._drop = pad_info or {}, pad_to_bucket_boundary, drop_remainder

    def _make(self):
        parent = self.children[0]
        names = parent.get_col_names()
        places = [names.index(c) for c in self._inputs]

        def length(row):
            values = [row[i] for i in places]
            return int(self._length(*values)) if self._length is not None else len(values[0])

        def together(bucket, rows):
            made = []
            for i, name in enumerate(names):
                cells = [row[i] for row in rows]
                if name in self._pads or self._to_bound and i in places:
                    cells = _filled(cells, *self._pads.get(name, (None, 0)), self._bound(bucket))
                made.append(_stack(name, cells))
            return tuple(made)

        def batches():
            buckets = [[] for _ in self._sizes]
            for row in parent.create_tuple_iterator(num_epochs=1, output_numpy=True):
                bucket = int(np.searchsorted(self._bounds, length(row), 'right'))
                buckets[bucket].append(row)
                if len(buckets[bucket]) == self._sizes[bucket]:
                    yield together(bucket, buckets[bucket])
                    buckets[bucket] = []
            for bucket, rows in enumerate(buckets):
                if rows and not self._drop:
                    yield together(bucket, rows)
        from spore.dataset.sources import _Streaming
        return _core.pipeline_stream(_Streaming(batches, 0, lambda row: row), names)

    def _bound(self, bucket):
        if not self._to_bound:
            return None
        if bucket == len(self._bounds):
            raise RuntimeError("bucket_batch_by_length: a row is longer than the last boundary, which it cannot be filled up to")
        return self._bounds[bucket] - 1


def _filled(cells, shape, value, bound):
    """Cells brought to one shape: the wanted one, the bound, or the largest."""
    arrays = [to_array(cell) for cell in cells]
    largest = [max(sizes) for sizes in _zip(*(a.shape for a in arrays))]
    wanted = [bound if bound is not None and n is None else n for n in (shape or [None] * len(largest))]
    wanted = [m if n is None else n for n, m in _zip(wanted, largest)]
    made = []
    for array in arrays:
        whole = np.full(wanted, value if value is not None else 0, array.dtype)
        part = tuple(slice(0, min(n, m)) for n, m in _zip(array.shape, wanted))
        whole[part] = array[part]
        made.append(whole)
    return made


class MapDataset(_Passing):
    """Rows with columns changed."""

    def __init__(self, parent, operations, input_columns=None, output_columns=None, num_parallel_workers=None,
                 python_multiprocessing=False, cache=None, callbacks=None, max_rowsize=None, offload=None):
        super().__init__(parent, num_parallel_workers)
        if cache is not None:
            raise NotImplementedError("map: cache is not supported")
        self._operations = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        if not self._operations:
            raise ValueError("operations should not be empty.")
        for operation in self._operations:
            if not callable(operation):
                raise TypeError(f"operations should be callable or a list of callables, but got {type(operation)}")
        self._inputs = _names(input_columns, 'input_columns') if input_columns is not None else None
        self._outputs = _names(output_columns, 'output_columns') if output_columns is not None else None
        self._callbacks = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []
        _check.kind(python_multiprocessing, bool, 'python_multiprocessing')
        self.python_multiprocessing, self.max_rowsize, self.offload = python_multiprocessing, max_rowsize, offload

    def _make(self):
        parent = self._parent()
        inputs = self._inputs or parent.columns[:1]
        if self._callbacks:
            return self._announced(parent, inputs)
        engine, rest = _leading(self._operations)
        if not rest:
            return parent.map(engine, inputs, self._outputs)
        if engine:
            parent = parent.map(engine, inputs, inputs if len(inputs) > 1 else None)
        return parent.map_function(_chain(rest), inputs, self._outputs, self._processes())

    def _announced(self, parent, inputs):
        """With callbacks all of it runs in Python, a batch of one row at a time: these are told epoch and row."""
        names, outputs, function = parent.columns, self._outputs or inputs, _chain(self._operations)
        announcer = Announcer(self._callbacks, self.children[0].get_dataset_size())
        missing = [c for c in inputs if c not in names]
        if missing:
            raise RuntimeError(f"map: there are no columns {missing}, only {names}")
        columns = _made_columns(names, inputs, outputs)

        def one(*lists):
            *lists, epoch, number = lists
            row = {name: values[0] for name, values in _zip(names, lists)}
            made = announcer.around(epoch, number, lambda: function(*(row[c] for c in inputs)))
            row.update(_zip(outputs, made if isinstance(made, tuple) else (made,)))
            return tuple(row[c] for c in columns)
        return parent.batch_function(1, False, one, None, columns)


def _made_columns(names, inputs, outputs):
    """Columns after those of ``inputs`` became ``outputs``."""
    if outputs == inputs:
        return list(names)
    if len(outputs) == len(inputs):
        new = dict(_zip(inputs, outputs))
        return [new.get(c, c) for c in names]
    return outputs + [c for c in names if c not in inputs]


def _leading(operations):
    """The transforms in front that the engine runs, and what comes behind them."""
    flat = []
    for operation in operations:
        if isinstance(operation, Compose) and not _runs_in_engine(operation):
            flat.extend(operation.transforms)
        else:
            flat.append(operation)
    n = 0
    while n < len(flat) and _runs_in_engine(flat[n]):
        n += 1
    if n < len(flat) and any(_changes_columns(op) for op in flat[:n]):
        n = 0
    return [op.parse() for op in flat[:n]], flat[n:]


def _changes_columns(operation):
    return type(operation).__name__ in ('Duplicate', 'Concatenate', 'Compose', 'Unique')


def _chain(functions):
    if len(functions) == 1:
        return functions[0]

    def run(*values):
        for function in functions:
            values = function(*values)
            values = values if isinstance(values, tuple) else (values,)
        return values if len(values) > 1 else values[0]
    return run


class FilterDataset(_Passing):
    """Rows that a function keeps."""

    def __init__(self, parent, predicate, input_columns=None, num_parallel_workers=None):
        super().__init__(parent, num_parallel_workers)
        if not callable(predicate):
            raise TypeError("Predicate should be a Python function or a callable Python object.")
        self._function = predicate
        self._inputs = _names(input_columns, 'input_columns') if input_columns is not None else None

    def _make(self):
        parent = self._parent()

        def keep(*values):
            answer = self._function(*values)
            if not isinstance(answer, (bool, np.bool_)) and not (isinstance(answer, np.ndarray) and answer.size == 1):
                raise RuntimeError(f"predicate must give a bool, but gives {type(answer).__name__}")
            return np.asarray(bool(answer))
        return parent.filter(keep, self._inputs or parent.columns)


class ShuffleDataset(_Passing):
    """Rows in random order."""

    def __init__(self, parent, buffer_size):
        super().__init__(parent)
        _check.kind(buffer_size, int, 'buffer_size')
        _check.within(buffer_size, 2, INT32_MAX, 'buffer_size')
        self._n = buffer_size

    def is_shuffled(self):
        return True

    def _make(self):
        return self._parent().shuffle(self._n)


class _MixedOnce(_Passing):
    """Rows in a random order that is the same in all epochs: parts of it do not overlap."""

    def __init__(self, parent):
        super().__init__(parent)
        self._own_seed = seed_now()

    def _make(self):
        return self._parent().shuffle_once(max(1, self.children[0].get_dataset_size()), self._own_seed)


def seed_now():
    """The seed that was set, or a random one."""
    seed = config.get_seed()
    return int.from_bytes(os.urandom(8), 'little') if seed is None else seed


class FlatMapDataset(_Passing):
    """The rows of the datasets that a function makes of rows."""

    def __init__(self, parent, function):
        super().__init__(parent)
        self._function = function

    def _make(self):
        parts = []
        for row in self.children[0].create_tuple_iterator(num_epochs=1, output_numpy=True):
            part = self._function(row)
            if not isinstance(part, Dataset):
                raise TypeError("flat_map: func should return an object of Dataset.")
            parts.append(part._engine())
        if not parts:
            raise RuntimeError("flat_map: the dataset holds no rows")
        return _core.pipeline_concat(parts)


class RepeatDataset(_Passing):
    """Rows several times."""

    def __init__(self, parent, count=None):
        super().__init__(parent)
        if count is not None:
            _check.kind(count, int, 'count')
            if count != -1 and not 1 <= count <= INT32_MAX:
                raise ValueError("count should be either -1 or positive integer, range[1, INT32_MAX].")
        self.count = 1 if count is None or count == -1 else count

    def get_repeat_count(self):
        return self.count * super().get_repeat_count()

    def _make(self):
        return self._parent().repeat(self.count)


class TakeDataset(_Passing):
    """The first rows."""

    def __init__(self, parent, count=-1):
        super().__init__(parent)
        _check.kind(count, int, 'count')
        if count != -1 and not 1 <= count <= INT32_MAX:
            raise ValueError(f"count should be either -1 or within the required interval of (0, {INT32_MAX}], got "
                             f"{count}.")
        self._n = count

    def _make(self):
        return self._parent() if self._n == -1 else self._parent().take(self._n)


class SkipDataset(_Passing):
    """The rows behind the first ones."""

    def __init__(self, parent, count):
        super().__init__(parent)
        _check.kind(count, int, 'count')
        _check.within(count, 0, INT32_MAX, 'count')
        self._n = count

    def _make(self):
        return self._parent().skip(self._n)


class ProjectDataset(_Passing):
    """Some columns."""

    def __init__(self, parent, columns):
        super().__init__(parent)
        self._chosen = _names(columns, 'columns')

    def _make(self):
        return self._parent().project(self._chosen)


class RenameDataset(_Passing):
    """Columns with other names."""

    def __init__(self, parent, input_columns, output_columns):
        super().__init__(parent)
        self._old, self._new = _names(input_columns, 'input_columns'), _names(output_columns, 'output_columns')
        if len(self._old) != len(self._new):
            raise ValueError("The number of column in input_columns and output_columns should be the same.")

    def _make(self):
        names = self._parent().columns
        unknown = [c for c in self._old if c not in names]
        if unknown:
            raise RuntimeError(f"rename: there are no columns {unknown}, only {names}")
        new = dict(_zip(self._old, self._new))
        return self._parent().project(names, [new.get(c, c) for c in names])


class ZipDataset(Dataset):
    """Columns of several datasets side by side."""

    def __init__(self, datasets):
        super().__init__(datasets)
        if not datasets:
            raise ValueError("datasets cannot be empty.")
        for i, data in enumerate(datasets):
            _check.kind(data, Dataset, f"datasets[{i}]")

    def _make(self):
        return _core.pipeline_zip([child._engine() for child in self.children])


class ConcatDataset(Dataset):
    """Rows of several datasets one after another."""

    def __init__(self, datasets):
        super().__init__(datasets)
        for i, data in enumerate(datasets):
            _check.kind(data, Dataset, f"datasets[{i}]")
        self._sampler = None

    def use_sampler(self, sampler):
        """Accept a DistributedSampler without shuffling: this dataset becomes one shard of the whole."""
        from spore.dataset.samplers import DistributedSampler
        if not isinstance(sampler, DistributedSampler):
            raise TypeError(f"The parameter {sampler} of concat must be DistributedSampler!")
        if sampler.shuffle:
            raise ValueError("The parameter shuffle of DistributedSampler must be False!")
        if sampler.num_samples is not None:
            raise ValueError("The parameter num_samples of DistributedSampler is not support to be set!")
        self._sampler, self._pipeline = sampler, None

    def _make(self):
        whole = _core.pipeline_concat([child._engine() for child in self.children])
        if self._sampler is None:
            return whole
        count, shards, shard = whole.count(), self._sampler.num_shards, self._sampler.shard_id
        if count < 0:
            raise RuntimeError("concat: a shard can only be taken of datasets whose size is known")
        parts = [whole.skip(i).take(1) for i in range(shard, count, shards)]
        return _core.pipeline_concat(parts)


def zip(datasets):
    """Columns of several datasets side by side, as many rows as the shortest has.

    Examples:
        >>> from spore import dataset
        >>> a = dataset.NumpySlicesDataset([1, 2], ['a'], shuffle=False)
        >>> b = dataset.NumpySlicesDataset([3, 4], ['b'], shuffle=False)
        >>> [[int(v) for v in row] for row in dataset.zip((a, b)).create_tuple_iterator(num_epochs=1)]
        [[1, 3], [2, 4]]
    """
    _check.kind(datasets, tuple, 'datasets')
    if len(datasets) <= 1:
        raise ValueError("Can't zip empty dataset!" if not datasets else "Can't zip single dataset!")
    return ZipDataset(datasets)


# --- iterators -------------------------------------------------------------------------------------------------------

def _report_slow(text):
    """Told by the engine, on one of its threads, of a row that takes long. Python's log is for threads of Python."""
    threading.Thread(target=_log_slow, args=(text,), name='spore-watchdog', daemon=True).start()


def _log_slow(text):
    """Warn, and show where the function is."""
    log.warning("%s; dataset.config.set_multiprocessing_timeout_interval says after how many seconds this is reported",
                text)
    if 'worker process' in text:
        sys.modules['spore.dataset._workers'].print_stacks()
    elif sys.__stderr__ is not None:
        faulthandler.dump_traceback(sys.__stderr__)


_core.pipeline_report(_report_slow)


def _tree(data):
    yield data
    for child in data.children:
        yield from _tree(child)


class Iterator:
    """Reads a dataset; a ``for`` over it ends with the epoch, and the next one reads the next epoch. After a loop that was
    left early, the next one continues there."""

    def __init__(self, data, num_epochs, output_numpy, do_copy, owner):
        _check.kind(num_epochs, int, 'num_epochs')
        if num_epochs < 1 and num_epochs != -1:
            raise ValueError("num_epochs should be either -1 or within the required interval of [1, 2147483647].")
        _check.kind(output_numpy, bool, 'output_numpy')
        _check.kind(do_copy, bool, 'do_copy')
        self._seed = seed_now()
        given = [node.num_parallel_workers for node in _tree(data) if node.num_parallel_workers]
        workers = max(given) if given else config.get_num_parallel_workers()
        workers = 0 if config.get_debug_mode() else min(workers, os.cpu_count() or 1)
        slow = config.get_multiprocessing_timeout_interval() if config.get_enable_watchdog() else 0
        self._source = _core.PipelineIterator(data._engine(), workers, self._seed, 0, config.get_prefetch_size(), 0, slow)
        self._columns = data.get_col_names()
        self._numpy, self._left = output_numpy, num_epochs
        self._figures, self._owner = None, owner
        owner._last, owner._last_stats = weakref.ref(self), None

    def __iter__(self):
        return self

    def _next_row(self):
        if self._left == 0:
            raise RuntimeError("the iterator has given the rows of all epochs it was made for; create another one, or "
                               "give a larger num_epochs")
        row = self._source.next(self._numpy)
        if row is None:
            self._left -= self._left > 0
            if self._left == 0:
                self.release()
            raise StopIteration
        return row

    def __next__(self):
        return self._shape(self._next_row())

    def get_state(self):
        """The position, as a dict that can be kept: the rows that follow are a function of it."""
        epoch, row = self._source.tell()
        return {'seed': self._seed, 'epoch': epoch, 'row': row, 'left': self._left}

    def set_state(self, state):
        """Go to a position of an iterator over an equal dataset, made with the same seed."""
        if state['seed'] != self._seed:
            raise ValueError(f"the position belongs to seed {state['seed']}, but the iterator has {self._seed}; set the seed "
                             "with dataset.config.set_seed before creating it")
        self._source.seek(state['epoch'], state['row'])
        self._left = state['left']

    def stats(self):
        """Cost of every stage so far, drawn as text."""
        stages, ahead, held, waited = self._figures or self._source.stats()
        lines = [f"{'stage':<32}{'rows':>10}{'ms':>10}{'us/row':>10}"]
        for name, depth, rows, seconds in stages:
            if rows < 0:
                lines.append(f"{'  ' * depth + name:<32}{'-':>10}")
            else:
                lines.append(f"{'  ' * depth + name:<32}{rows:>10}{seconds * 1e3:>10.1f}"
                             f"{seconds * 1e6 / max(rows, 1):>10.1f}")
        lines.append(f"ahead: {ahead} rows, {held / 2**20:.1f} MiB waiting; waited for rows {waited * 1e3:.1f} ms")
        return "\n".join(lines)

    def release(self):
        """End its threads; it gives nothing any more."""
        if self._figures is None:
            self._figures = self._source.stats()
            self._owner._last_stats = self.stats()
        self._source.close()

    stop = release


class TupleIterator(Iterator):
    """Rows as lists."""

    def _shape(self, row):
        return row


class DictIterator(Iterator):
    """Rows as dicts."""

    def _shape(self, row):
        return dict(_zip(self._columns, row))
