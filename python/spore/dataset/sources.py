# SPDX-License-Identifier: Apache-2.0
"""Rows from Python: objects, generators, arrays; and the base of sources whose rows have numbers."""
import builtins
import copy
import os
import types as types_module

import numpy as np

from spore._core import type_name as _type_name
from spore import _core
from spore.dataset import _check
from spore.dataset._cells import to_array
from spore.dataset._stream import seed_now
from spore.dataset.pipeline import Dataset, _check_sizes, _split_sizes
from spore.dataset.samplers import (BuiltinSampler, DistributedSampler, PKSampler, RandomSampler, Sampler, Shuffle, SubsetRandomSampler,
                                    SubsetSampler, check_shard, ids_of, mixed)
from spore.dataset.schema import Schema

__all__ = ['GeneratorDataset', 'NumpySlicesDataset', 'PaddedDataset', 'MappableDataset', 'SourceDataset']


class SourceDataset(Dataset):
    """Where rows come from."""


class MappableDataset(SourceDataset):
    """Sources whose rows have numbers: they come in order, shuffled, sampled, or as one shard of several."""

    _SHUFFLES = bool            # what shuffle may be; with Shuffle for rows in several files
    _check_order = staticmethod(_check.order)
    _DRAWS = True               # whether a number of samples in random order is drawn with replacement, as MindSpore does
    _SHARDS_IN_ENGINE = False     # whether the engine mixes shards as well, as it does for records

    def __init__(self, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, num_shards=None,
                 shard_id=None, cache=None):
        super().__init__((), num_parallel_workers)
        _check.samples(num_samples)
        if shuffle is not None:
            _check.kind(shuffle, self._SHUFFLES, 'shuffle')
        self._check_order(num_samples, shuffle, sampler, num_shards, shard_id)
        _check.cache(cache)
        self.cache = cache
        self.sampler = self._sampler_of(sampler, num_samples)
        self._shuffle = shuffle not in (False, Shuffle.FALSE)
        if self._DRAWS and sampler is None and self._shuffle and num_samples is not None and num_shards is None:
            self.sampler = RandomSampler(True, num_samples)
        self._shard_of = (1 if num_shards is None else num_shards, shard_id or 0)
        self._most = num_samples or 0
        self.num_samples, self.shuffle_flag = self._most, 2 if self._shuffle else 0
        self.num_shards, self.shard_id = self._shard_of

    @staticmethod
    def _sampler_of(sampler, num_samples):
        if sampler is None or isinstance(sampler, BuiltinSampler):
            return sampler
        if isinstance(sampler, (list, tuple, np.ndarray)):
            return SubsetSampler(list(sampler), num_samples)
        if isinstance(sampler, int):
            return SubsetSampler([sampler], num_samples)
        if isinstance(sampler, str) or not _can_be_iterated(sampler):
            raise TypeError(f"Unsupported sampler object of type ({type(sampler)})")
        return _Chosen(sampler, num_samples) if num_samples else sampler

    def _labels(self):
        """Labels of all rows, for samplers; None if they are not known."""
        return None

    def _total(self):
        """Number of rows before sampling."""
        raise NotImplementedError

    def _cache_paths(self):
        from spore.dataset._identity import ORDER
        from spore.dataset.serial import arguments
        found = [value for name, value in arguments(self).items() if name not in ORDER]
        found += [getattr(self, name, None) for name in ('dataset_files', '_paths')]
        flat = [path for value in found for path in (value if isinstance(value, (list, tuple)) else [value])]
        return [path for path in flat if isinstance(path, str) and os.path.exists(path)]

    def _order(self):
        """What the engine is told about the order."""
        if self.sampler is None:
            check_shard(*self._shard_of)
            if self._shuffle and self._shard_of[0] > 1 and not self._SHARDS_IN_ENGINE:
                sampler = DistributedSampler(*self._shard_of, num_samples=self._most)
                return lambda seed, epoch: ids_of(sampler, self._total(), seed, epoch)
            return (self._shuffle, *self._shard_of, self._most)
        labels = self._labels if self._labels() is not None else None
        return lambda seed, epoch: ids_of(self.sampler, self._total(), seed, epoch, labels)

    def is_shuffled(self):
        if self.sampler is None:
            return self._shuffle
        return isinstance(self.sampler, BuiltinSampler) and self.sampler.is_shuffled()

    def is_sharded(self):
        if self.sampler is None:
            return self._shard_of[0] > 1
        return isinstance(self.sampler, BuiltinSampler) and self.sampler.is_sharded()

    def use_sampler(self, new_sampler):
        """Let another sampler choose the rows."""
        if new_sampler is None:
            raise TypeError("Input sampler can not be None.")
        if not isinstance(new_sampler, BuiltinSampler):
            raise TypeError("Input sampler is not an instance of a sampler.")
        self.sampler, self._pipeline, self._size = new_sampler, None, None

    def add_sampler(self, new_sampler):
        """Let another sampler choose among the rows that the present one gives."""
        if self.sampler is not None:
            new_sampler.add_child(self.sampler)
        self.use_sampler(new_sampler)

    def split(self, sizes, randomize=True):
        _check_sizes(sizes, randomize)
        if self.is_sharded():
            raise RuntimeError("Dataset should not be sharded before split.")
        if self.sampler is not None:
            return super().split(sizes, randomize)
        count = self.get_dataset_size()
        ids = np.arange(count)
        if randomize:
            ids = mixed(ids, seed_now())
        parts, start = [], 0
        for size in _split_sizes(sizes, count):
            part = copy.copy(self)
            chosen = [int(i) for i in ids[start:start + size]]
            part.sampler = SubsetRandomSampler(chosen) if randomize and self._shuffle else SubsetSampler(chosen)
            part._pipeline = part._first = part._size = part._last = part._last_stats = None
            parts.append(part)
            start += size
        return parts


class _Chosen(Sampler):
    """The first rows that something that can be iterated over chooses."""

    def __init__(self, source, num_samples):
        super().__init__(num_samples)
        self._source = source

    def __iter__(self):
        return iter(self._source)


def _can_be_iterated(value):
    """Also by the old way: numbers from 0 on until there is no more."""
    try:
        iter(value)
    except TypeError:
        return False
    return True


class _InMemory(MappableDataset):
    """Sources that MindSpore has in Python: they have rules of their own for arguments that exclude each other."""

    _check_order = staticmethod(_check.order_in_memory)

    @property
    def column_names(self):
        """Names of the columns."""
        return self._column_names

    @staticmethod
    def _sampler_of(sampler, num_samples):
        if sampler is not None and not isinstance(sampler, (BuiltinSampler, str)) and not _can_be_iterated(sampler):
            raise TypeError("sampler should be either iterable or from mindspore.dataset.samplers.")
        if isinstance(sampler, PKSampler):
            raise ValueError("GeneratorDataset doesn't support PKSampler.")
        return MappableDataset._sampler_of(sampler, num_samples)


class NumpySlicesDataset(_InMemory):
    """Rows are slices of arrays along their first dimension.

    Args:
        data: an array, a list, a tuple of them (one per column) or a dict by column name.
        column_names: names of the columns; "column_0", ... if None.
        num_samples: at most so many rows.
        num_parallel_workers: threads.
        shuffle: whether rows come in random order; True if None.
        sampler: which rows come, instead of shuffle.
        num_shards, shard_id: take one of several equal parts.

    Examples:
        >>> import numpy as np
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset(([1, 2, 3], [4, 5, 6]), ['a', 'b'], shuffle=False)
        >>> for row in rows.batch(2).create_dict_iterator(num_epochs=1, output_numpy=True):
        ...     print(row['a'], row['b'])
        [1 2] [4 5]
        [3] [6]
    """

    def __init__(self, data, column_names=None, num_samples=None, num_parallel_workers=1, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None):
        _check.kind(data, (list, tuple, dict, np.ndarray), 'data')
        if len(data) == 0:
            raise ValueError("Argument data cannot be empty")
        if isinstance(data, dict):
            usual, arrays = list(data), list(data.values())
        elif isinstance(data, tuple):
            usual, arrays = None, list(data)
            for i, column in enumerate(arrays):
                _check.kind(column, (list, np.ndarray), f'data[{i}]')
        else:
            usual, arrays = None, [data]
        self._arrays = [_column(a) for a in arrays]
        sizes = {len(a) for a in self._arrays}
        if len(sizes) > 1:
            raise ValueError(f"Data length in each column is not equal. There are {sorted(sizes)}.")
        names = _check.columns(usual, 'column_names') if usual else [f'column_{i}' for i in range(len(arrays))]
        if column_names is not None:
            names = _check.columns(column_names, 'column_names')
            if len(names) != len(arrays):
                raise ValueError(f"Num of input column names is {len(names)}, but required is {len(arrays)}"
                                 f"{' as data is list' if not isinstance(data, (tuple, dict)) else ''}.")
        self._column_names = names
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id)

    def _total(self):
        return len(self._arrays[0])

    def _make(self):
        if all(isinstance(a, np.ndarray) for a in self._arrays):
            return _core.pipeline_arrays(self._column_names, self._arrays, self._order())

        def read(index):
            return tuple(a[index] for a in self._arrays)
        return _core.pipeline_source(read, self._total(), self._column_names, self._order())


def _column(values):
    """Rows along the first dimension: an array, or a list of arrays where rows differ in shape or are bytes."""
    if isinstance(values, (list, tuple)) and any(isinstance(value, (bytes, dict)) for value in values):
        return [value if isinstance(value, dict) else to_array(value) for value in values]
    try:
        array = to_array(values)
    except ValueError:
        if not isinstance(values, (list, tuple)):
            raise
        return [to_array(value) for value in values]
    if array.ndim == 0:
        raise TypeError(f"'{_type_name(values)}' object is not iterable: NumpySlicesDataset takes arrays with at least one dimension")
    if isinstance(values, list) and array.dtype.kind in 'fcUO' and len({_kind_of(value) for value in values}) > 1 or array.dtype.kind == 'O':
        return [to_array(value) for value in values]
    return array


def _kind_of(value):
    """The type that a row of this value has."""
    if isinstance(value, (int, float, str)):
        return type(value)
    kind = to_array(value).dtype
    return kind.kind if kind.kind in 'US' else kind


class PaddedDataset(_InMemory):
    """Rows given as a list of dicts, to be put behind another dataset so that it can be shared evenly."""

    def __init__(self, padded_samples):
        if not padded_samples:
            raise ValueError("padded_samples cannot be empty.")
        _check.kind(padded_samples, list, 'padded_samples')
        for row in padded_samples:
            _check.kind(row, dict, 'padded_element')
        super().__init__(shuffle=False)
        self._column_names = _check.columns(list(padded_samples[0]), 'column_names')
        self._rows = [tuple(row[c] if isinstance(row[c], dict) else to_array(row[c]) for c in self._column_names)
                      for row in padded_samples]
        self.padded_samples = padded_samples

    def _total(self):
        return len(self._rows)

    def _make(self):
        return _core.pipeline_source(self._rows.__getitem__, len(self._rows), self._column_names, self._order())


class GeneratorDataset(_InMemory):
    """Rows from a Python object: one with ``__getitem__`` and ``__len__``, an iterable, or a function that returns an
    iterator.

    Args:
        source: the object. It is called on the thread that reads the dataset, row by row, or in processes.
        column_names: names of the columns.
        column_types: types that values must have; None for any.
        schema: a Schema or its file, instead of names and types.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id: as for NumpySlicesDataset; order and
            shards need a source with ``__getitem__``.
        python_multiprocessing: whether a source with ``__getitem__`` is called in ``num_parallel_workers`` processes, if
            these are more than one.
        max_rowsize: accepted; memory shared with processes grows with the rows.
        batch_sampler: lists of row numbers: rows come as batches of these.
        collate_fn: function of the values of each column in the rows of a batch, one list a column, that makes their batches.
    """

    def __init__(self, source, column_names=None, column_types=None, schema=None, num_samples=None,
                 num_parallel_workers=1, shuffle=None, sampler=None, num_shards=None, shard_id=None,
                 python_multiprocessing=True, max_rowsize=None, batch_sampler=None, collate_fn=None):
        if isinstance(source, builtins.zip):        # its rows can be gone through only once
            source = list(source)
        self._random = hasattr(source, '__getitem__')
        if not (self._random or callable(source) or hasattr(source, '__iter__')):
            raise TypeError("Input `source` function of GeneratorDataset should be callable, iterable or random "
                            "accessible, commonly it should implement one of the method like yield, __getitem__ or "
                            "__next__(__iter__).")
        names, types = self._described(column_names, column_types, schema)
        if python_multiprocessing is not None:
            _check.kind(python_multiprocessing, bool, 'python_multiprocessing')
        if max_rowsize is not None:
            _check.kind(max_rowsize, int, 'max_rowsize')
        _check.row_size(max_rowsize)
        if not self._random:
            for name, value in (('num_shards', num_shards), ('shard_id', shard_id), ('sampler', sampler),
                                ('batch_sampler', batch_sampler)):
                if value is not None:
                    raise ValueError(f"{name} is not supported if source does not have attribute '__getitem__'.")
        if batch_sampler is not None:
            if isinstance(batch_sampler, type) or not hasattr(batch_sampler, '__iter__') and not hasattr(batch_sampler, '__getitem__'):
                raise TypeError("batch_sampler should have __getitem__ or __iter__ method. It gives lists of row numbers.")
            if num_samples is not None or shuffle is not None or num_shards is not None or sampler is not None:
                raise ValueError("batch_sampler is mutually exclusive with num_samples, shuffle, num_shards, shard_id and sampler.")
        if collate_fn is not None:
            if batch_sampler is None:
                raise ValueError("collate_fn can be specified only when batch_sampler is specified.")
            if not callable(collate_fn):
                raise TypeError("collate_fn should be callable.")
        self._column_names, self._types = names, types
        self.source = _Again(source) if isinstance(source, types_module.GeneratorType) else source
        self.python_multiprocessing, self.max_rowsize = bool(python_multiprocessing), max_rowsize
        self._batches, self._collate = batch_sampler, collate_fn
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id)
        if not self._random:
            self._shuffle = False

    @staticmethod
    def _described(names, types, schema):
        """Names of columns and their types, out of the arguments."""
        if schema is not None:
            if not isinstance(schema, Schema):
                if not isinstance(schema, str):
                    raise ValueError("schema should be a path to schema file or a schema object.")
                if not os.path.isfile(schema):
                    raise ValueError(f"The file {os.path.realpath(schema)} does not exist or permission denied!")
                schema = Schema(schema)
            if names is not None:
                raise ValueError("column_names and schema cannot be specified at the same time.")
            return [c['name'] for c in schema.columns], [None if c['type'] == 'string' else np.dtype(c['type']) for c in schema.columns]
        if names is None:
            raise ValueError("Neither columns_names nor schema are provided.")
        names = _check.columns(names, 'column_names')
        if types is None:
            return names, None
        _check.kind(types, list, 'column_types')
        from spore.dataset.transforms.transforms import to_numpy_type
        return names, [None if t is None else np.dtype(to_numpy_type(t)) for t in types]

    def _total(self):
        if not hasattr(self.source, '__len__'):
            raise RuntimeError("Attempt to construct a random access dataset, '__len__' method is required!")
        return len(self.source)

    def __getitem__(self, index):
        """Row number ``index`` as the source gives it."""
        _check.kind(index, (int, np.number), 'index')
        if not self._random:
            raise RuntimeError("Dataset don't support randomized access.")
        if self._batches is not None:
            raise RuntimeError("GeneratorDataset with batch_sampler does not support random access.")
        return self.source[index]

    def get_batch_size(self):
        return 1 if self._batches is None else -1

    def get_dataset_size(self):
        if self._batches is not None and hasattr(self._batches, '__len__'):
            return len(self._batches)
        return super().get_dataset_size()

    def split(self, sizes, randomize=True):
        return super().split(sizes, randomize) if self._random else Dataset.split(self, sizes, randomize)

    def _typed(self, read):
        if self._types is None:
            return read

        def typed(index):
            row = read(index)
            row = row if isinstance(row, tuple) else (row,)
            for i, (value, kind) in enumerate(zip(row, self._types)):
                found = to_array(value).dtype
                if kind is not None and found != kind and not found.kind == kind.kind == 'U':
                    raise RuntimeError("Invalid Python function, type of returned data in 'GeneratorDataset' should be same with "
                                       f"specified column_types, but the type of returned data: {found}, specified column type: "
                                       f"{kind}: column "
                                       f"'{self._column_names[i]}'")
            return row
        return typed

    def _make(self):
        if self._batches is not None:
            return _core.pipeline_stream(_Streaming(self._rows_of_batches, 0, lambda row: row), self._column_names)
        if self._random:
            processes = self.num_parallel_workers if self.python_multiprocessing and self.num_parallel_workers > 1 else 0
            if self._total() == 0:
                raise RuntimeError("GeneratorNode: data row of input source must not be 0, got: 0")
            return _core.pipeline_source(self._typed(self.source.__getitem__), self._total(), self._column_names,
                                         self._order(), processes)
        typed = self._typed(lambda row: row)
        return _core.pipeline_stream(_Streaming(self._begin, self._most, typed), self._column_names)

    def _begin(self):
        return iter(self.source()) if callable(self.source) else iter(self.source)

    def _rows_of_batches(self):
        for ids in self._batches:
            if isinstance(ids, (int, np.integer)):
                raise RuntimeError("Batch sampler should return a list, but got an integer.")
            wrong = [i for i in ids if not isinstance(i, (int, np.integer))]
            if wrong:
                raise RuntimeError(f"Python sampler should return index of type integer, but got {_type_name(wrong[0])}: {wrong[0]!r}")
            rows = [self.source[i] for i in ids]
            rows = [row if isinstance(row, tuple) else (row,) for row in rows]
            columns = [[to_array(value) for value in column] for column in zip(*rows)]
            if self._collate is None:
                yield tuple(np.stack(column) for column in columns)
                continue
            made = self._collate(*columns)
            yield tuple(to_array(value) for value in made) if len(columns) > 1 else (to_array(made),)


class _Again:
    """A generator that can be gone through once more: it is run again by the rows it gave."""

    def __init__(self, generator):
        self._generator, self._rows = generator, []

    def __iter__(self):
        yield from self._rows
        for row in self._generator:
            self._rows.append(row)
            yield row


class _Streaming:
    """What the engine calls for the next row: one iteration over the source an epoch."""

    def __init__(self, begin, most, typed):
        self._begin, self._most, self._typed, self._rows = begin, most, typed, None

    def __call__(self, epoch, row):
        if row == 0:
            self._rows = iter(self._begin())
        if self._most and row >= self._most:
            return None
        try:
            values = next(self._rows)
        except StopIteration:
            return None
        if values is None:
            raise TypeError("the generator gave None instead of a row: a row is an array, or a tuple of arrays")
        return self._typed(values)
