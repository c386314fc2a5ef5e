# SPDX-License-Identifier: Apache-2.0
"""Data pipelines: a source, then map, batch, shuffle and the like, each a new Dataset on the ones before.

A Dataset is a description. When it is first read, it becomes a data set of the engine (``_core.Pipeline``), where the
order of rows, threads and transforms live; Python functions are called from there. Order and random transforms follow
from (seed, epoch) alone.
"""
import copy
import os
from typing import Any, Literal, overload

import numpy as np

from spore import _core
from spore._moves import check_keywords
from spore.dataset import _check, config
from spore.dataset.callback import quiet
from spore.dataset.iterators import DictIterator, TupleIterator

__all__ = ['Dataset', 'zip']

_zip = zip


def _workers(num):
    if num is None:
        return None
    _check.kind(num, int, 'num_parallel_workers')
    most = max(1, os.cpu_count() or 1)
    if not 1 <= num <= most * 64:
        raise ValueError(f"num_parallel_workers exceeds the boundary between 1 and {most * 64}!")
    return num


def _shape(value):
    """Of a column's value; that of a dict is what MindSpore says."""
    return (0,) if isinstance(value, dict) else value.shape


class Dataset:
    """Base of all datasets: rows of named columns, read epoch by epoch."""

    def __new__(cls, /, *args, **kwargs):
        if kwargs:
            check_keywords(cls, kwargs)
        self = super().__new__(cls)
        self._given = (args, kwargs)        # for serialize
        return self

    def __init__(self, parents=(), num_parallel_workers=None):
        self.children = list(parents)
        self.parent = []
        self.num_parallel_workers = _workers(num_parallel_workers)
        self._pipeline, self._made_for = None, None
        self._first = None
        self._size = None
        self._last = self._last_stats = None    # of the iterator made last; weak, for it must be able to go
        self._init_step = 0
        self._received = None
        self._input_indexs = ()

    # --- what subclasses make ----------------------------------------------------------------------------------------

    def _make(self):
        """The data set of the engine."""
        raise NotImplementedError(f"{type(self).__name__} does not say how its rows are made")

    def _row_files(self):
        """Of a source whose files the engine does not read itself, for messages: so many rows come from the first file, and so on."""
        return []

    def _cache_paths(self):
        """Files and folders that its rows depend on, besides those that the engine reads itself: for a cache."""
        return []

    def _finish(self, made):
        """The last word about it."""
        return made

    def _engine(self):
        settings = config.get_debug_mode(), config.get_error_samples_mode()
        if self._pipeline is None or self._made_for != settings:
            made = self._make()
            made.name_files([(rows, os.fsencode(path)) for rows, path in self._row_files()])
            made = self._finish(made)
            cache = getattr(self, 'cache', None)
            self._pipeline, self._made_for = made if cache is None else cache._keep(self, made), settings
        return self._pipeline

    # --- questions ---------------------------------------------------------------------------------------------------

    def get_col_names(self) -> list[str]:
        """Names of the columns."""
        return self._engine().columns

    def get_dataset_size(self) -> int:
        """Rows in an epoch."""
        if self._size is None:
            size = self._engine().count()
            self._size = size if size >= 0 else self._count_rows()
        return self._size

    def _count_rows(self):
        iterator = _core.PipelineIterator(self._engine(), 0, 0)
        count = 0
        with quiet():
            while iterator.next(True) is not None:
                count += 1
        iterator.close()
        return count

    def __len__(self) -> int:
        return self.get_dataset_size()

    def _first_row(self):
        if self._first is None:
            with quiet():
                iterator = _core.PipelineIterator(self._engine(), 0, 0, 0, 1)
                self._first = iterator.next(True)
                iterator.close()
        return self._first or []

    def output_shapes(self, estimate=False):
        """Shapes of the columns, by the first row; with ``estimate``, None where rows differ."""
        _check.kind(estimate, bool, 'estimate')
        shapes = [list(_shape(value)) for value in self._first_row()]
        if estimate and self.get_repeat_count() == -1:
            raise RuntimeError("output_shapes: the rows of a dataset that has no end cannot be compared; ask before repeat()")
        if estimate:
            with quiet():
                for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True):
                    for shape, value in _zip(shapes, row):
                        shape[:] = [n if n == m else None for n, m in _zip(shape, _shape(value))]
        return shapes

    def output_types(self):
        """numpy types of the columns, by the first row."""
        return [np.dtype(object) if isinstance(value, dict) else np.dtype(value.dtype.kind) if value.dtype.kind in 'US' else value.dtype
                for value in self._first_row()]

    def get_batch_size(self) -> int:
        """Rows of the source in one row."""
        return self.children[0].get_batch_size() if self.children else 1

    def get_repeat_count(self) -> int:
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

    def build_vocab(self, columns, freq_range, top_k, special_tokens, special_first):
        """The Vocab of the words in columns; see text.Vocab.from_dataset."""
        from spore.dataset.text import Vocab
        return Vocab.from_dataset(self, columns, freq_range, top_k, special_tokens, special_first)

    # --- conditions (sync_wait) --------------------------------------------------------------------------------------

    def sync_wait(self, condition_name, num_batch=1, callback=None):
        """Hold rows back until ``sync_update`` lets them go, ``num_batch`` batches at a time; rows are then made one after
        another, none ahead.

        Args:
            condition_name: the name that sync_update is called with.
            num_batch: batches that go through at the beginning.
            callback: function of the data given to sync_update.
        """
        _check.kind(condition_name, str, 'condition_name')
        _check.kind(num_batch, int, 'num_batch')
        return kinds.SyncWaitDataset(self, condition_name, num_batch, callback)

    def sync_update(self, condition_name, num_batch=None, data=None):
        """Let ``num_batch`` more batches go (as many as at the beginning if None), and call the condition's callback."""
        if num_batch is not None and (not isinstance(num_batch, int) or num_batch <= 0):
            self.disable_sync()
            raise RuntimeError(f"Sync_update batch size can only be positive integer, got: {num_batch}.")
        if not isinstance(condition_name, str):
            raise TypeError(f"Argument condition_name with value {condition_name} is not of type str, but got "
                            f"{type(condition_name)}.")
        notifiers = self.get_sync_notifiers()
        if condition_name not in notifiers:
            self.disable_sync()
            raise RuntimeError(f"Condition name not found. There is no {condition_name!r}, only {sorted(notifiers)}")
        notifiers[condition_name](None if num_batch is None else num_batch * self.get_batch_size(), data)

    def get_sync_notifiers(self):
        """By name of the condition, the function that lets rows go."""
        found = {}
        for child in self.children:
            found.update(child.get_sync_notifiers())
        return found

    def disable_sync(self):
        """Let all rows go."""
        for child in self.children:
            child.disable_sync()

    def is_sync(self):
        """Whether rows are held back somewhere."""
        return any(child.is_sync() for child in self.children)

    # --- as MindSpore has them ----------------------------------------------------------------------------------------

    @property
    def input_indexs(self):
        """Kept for MindSpore's Model: which columns a network takes."""
        return self._input_indexs

    @input_indexs.setter
    def input_indexs(self, value):
        self._input_indexs = value

    def copy_batch_size(self, value):
        """Nothing to do: sizes are asked for."""

    def to_json(self, filename=''):
        """The dataset as a dict, also written to a file if one is named."""
        from spore.dataset.serial import serialize
        return serialize(self, filename)

    def build_sentencepiece_vocab(self, columns, vocab_size, character_coverage, model_type, params):
        """The SentencePieceVocab of texts in columns; see text.SentencePieceVocab.from_dataset."""
        from spore.dataset.text import SentencePieceVocab
        return SentencePieceVocab.from_dataset(self, columns, vocab_size, character_coverage, model_type, params)

    def send(self, tensor=None, dst=0, group=None):
        """Rows go to other processes by this; there is one process."""
        if tensor is not None:
            _check.kind(tensor, (_core.Tensor, list), 'tensor')
            for item in tensor if isinstance(tensor, list) else ():
                _check.kind(item, _core.Tensor, 'element of tensor')
        _ranks(dst, 'dst', group)
        raise RuntimeError(f"Dataset.send: there is no process with the number {dst}; this program is the only one of its group")

    def recv(self, src=0, group=None):
        """The next row of the process ``src``: of this dataset, since there is one process, number 0."""
        _ranks(src, 'src', group)
        if src not in (0, [0]):
            raise RuntimeError(f"Dataset.recv: there is no process with the number {src}; this program is number 0, the only one of its group")
        if self._received is None:
            self._received = self.create_tuple_iterator(num_epochs=-1)
        row = next(self._received, None)
        row = list(next(self._received) if row is None else row)
        return row[0] if len(row) == 1 else row

    def device_que(self, send_epoch_end=True, create_data_info_queue=False, queue_name=''):
        """The dataset as one that is sent to a device, by `send`."""
        from spore.dataset.operations import TransferDataset
        return TransferDataset(self, send_epoch_end, create_data_info_queue, queue_name)

    def __deepcopy__(self, memo):
        """A dataset never changes, so a copy is another handle; rows and functions are shared."""
        other = copy.copy(self)
        other.children = [copy.deepcopy(child, memo) for child in self.children]
        return other

    def __safe_deepcopy__(self, memodict, exclude=()):
        return self.__deepcopy__(memodict)

    def reset(self):
        """Nothing to do: every iterator starts over."""

    def set_init_step(self, init_step):
        """Begin behind so many steps: iterators leave out their rows."""
        _check.kind(init_step, int, 'init_step')
        if init_step < 0:
            raise ValueError(f"init_step must not be negative, but is {init_step}")
        self._init_step = init_step

    def get_init_step(self):
        """What was set."""
        return self._init_step

    @property
    def dataset_size(self):
        """Rows in an epoch. Written to, it is what get_dataset_size gives."""
        return self.get_dataset_size()

    @dataset_size.setter
    def dataset_size(self, value):
        self._size = value

    # --- reading -----------------------------------------------------------------------------------------------------

    @overload
    def create_tuple_iterator(self, columns: Any = None, num_epochs: int = -1, output_numpy: Literal[False] = False,
                              do_copy: bool = False) -> TupleIterator[list[_core.Tensor]]: ...

    @overload
    def create_tuple_iterator(self, columns: Any = None, num_epochs: int = -1, *, output_numpy: Literal[True],
                              do_copy: bool = False) -> TupleIterator[list[np.ndarray]]: ...

    @overload
    def create_tuple_iterator(self, columns: Any = None, num_epochs: int = -1, output_numpy: bool = False,
                              do_copy: bool = False) -> TupleIterator[list[Any]]: ...

    def create_tuple_iterator(self, columns=None, num_epochs=-1, output_numpy=False, do_copy=False):
        """Rows as lists of Tensors, or arrays with ``output_numpy``. Iterate again for the next epoch."""
        data = self if columns is None else self.project(_check.columns(columns, 'column_names'))
        return TupleIterator(data, num_epochs, output_numpy, do_copy, self)

    @overload
    def create_dict_iterator(self, num_epochs: int = -1, output_numpy: Literal[False] = False,
                             do_copy: bool = False) -> DictIterator[dict[str, _core.Tensor]]: ...

    @overload
    def create_dict_iterator(self, num_epochs: int = -1, *, output_numpy: Literal[True],
                             do_copy: bool = False) -> DictIterator[dict[str, np.ndarray]]: ...

    @overload
    def create_dict_iterator(self, num_epochs: int = -1, output_numpy: bool = False,
                             do_copy: bool = False) -> DictIterator[dict[str, Any]]: ...

    def create_dict_iterator(self, num_epochs=-1, output_numpy=False, do_copy=False):
        """Rows as dicts by column name of Tensors, or arrays with ``output_numpy``. Iterate again for the next
        epoch."""
        return DictIterator(self, num_epochs, output_numpy, do_copy, self)

    def __iter__(self) -> TupleIterator[list[_core.Tensor]]:
        return iter(self.create_tuple_iterator(num_epochs=1))

    def _repr_html_(self):
        from spore._html import dataset_html
        return dataset_html(self)

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

    def batch(self, batch_size, drop_remainder=False, num_parallel_workers=None, **kwargs) -> "Dataset":
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
        return kinds.BatchDataset(self, batch_size, drop_remainder, num_parallel_workers, **kwargs)

    def padded_batch(self, batch_size, drop_remainder=False, num_parallel_workers=None, pad_info=None) -> "Dataset":
        """Rows filled up to one shape and put together.

        Args:
            batch_size: rows in a batch.
            drop_remainder: whether a last, smaller batch is left out.
            num_parallel_workers: threads.
            pad_info: by column name a shape (None: the largest of the batch) and a value; {}: all
                columns, with 0; None: no column.
        """
        return kinds.PaddedBatchDataset(self, batch_size, drop_remainder, num_parallel_workers, pad_info)

    def bucket_batch_by_length(self, column_names, bucket_boundaries, bucket_batch_sizes, element_length_function=None,
                               pad_info=None, pad_to_bucket_boundary=False, drop_remainder=False) -> "Dataset":
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
        return kinds.BucketBatchByLengthDataset(self, column_names, bucket_boundaries, bucket_batch_sizes, element_length_function,
                                  pad_info, pad_to_bucket_boundary, drop_remainder)

    def map(self, operations, input_columns=None, output_columns=None, num_parallel_workers=None, **kwargs) -> "Dataset":
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
            cache: a DatasetCache, which keeps the rows.
        """
        return kinds.MapDataset(self, operations, input_columns, output_columns, num_parallel_workers, **kwargs)

    def filter(self, predicate, input_columns=None, num_parallel_workers=None) -> "Dataset":
        """The rows for which ``predicate``, called with ``input_columns``, is true."""
        return kinds.FilterDataset(self, predicate, input_columns, num_parallel_workers)

    def shuffle(self, buffer_size) -> "Dataset":
        """Rows in random order, drawn from a buffer of ``buffer_size``."""
        return kinds.ShuffleDataset(self, buffer_size)

    def repeat(self, count=None) -> "Dataset":
        """The rows ``count`` times as one epoch; None or -1 without end, though the size stays that of one."""
        return kinds.RepeatDataset(self, count)

    def take(self, count=-1) -> "Dataset":
        """The first ``count`` rows, -1 for all."""
        return kinds.TakeDataset(self, count)

    def skip(self, count) -> "Dataset":
        """The rows after the first ``count``."""
        return kinds.SkipDataset(self, count)

    def project(self, columns) -> "Dataset":
        """These columns in this order."""
        return kinds.ProjectDataset(self, columns)

    def rename(self, input_columns, output_columns) -> "Dataset":
        """The same rows, columns with other names."""
        return kinds.RenameDataset(self, input_columns, output_columns)

    def zip(self, datasets) -> "Dataset":
        """Columns of this and other datasets side by side."""
        _check.kind(datasets, (tuple, Dataset), 'datasets')
        return kinds.ZipDataset((self, *(datasets if isinstance(datasets, tuple) else (datasets,))))

    def concat(self, datasets) -> "Dataset":
        """The rows of this dataset, then those of the others."""
        _check.kind(datasets, (list, Dataset), 'datasets')
        return kinds.ConcatDataset([self, *(datasets if isinstance(datasets, list) else [datasets])])

    def __add__(self, datasets) -> "Dataset":
        return self.concat(datasets)

    def apply(self, apply_func) -> "Dataset":
        """What ``apply_func`` makes of the dataset."""
        if not callable(apply_func):
            raise TypeError(f"apply_func must be a function. It is {type(apply_func)}.")
        made = apply_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"apply_func must return a dataset. It returns {type(made)}.")
        return made

    def flat_map(self, func) -> "Dataset":
        """The rows of the datasets that ``func`` makes of the columns of each row, one dataset after another."""
        if not callable(func):
            raise TypeError(f"func must be a function. It is {type(func)}.")
        return kinds.FlatMapDataset(self, func)

    def split(self, sizes, randomize=True):
        """Several datasets that share the rows.

        Args:
            sizes: numbers of rows, or parts of 1.
            randomize: whether rows are mixed first, by the seed.
        """
        _check_sizes(sizes, randomize)
        return _split(self, _split_sizes(sizes, self.get_dataset_size()), randomize)


def _ranks(ranks, name, group):
    """Numbers of processes, and the name of their group."""
    _check.kind(ranks, (int, list), name)
    for rank in ranks if isinstance(ranks, list) else [ranks]:
        _check.kind(rank, int, name)
        _check.within(rank, 0, 4294967295, name)
    if group is not None:
        _check.kind(group, str, 'group')


def _check_sizes(sizes, randomize):
    _check.kind(sizes, list, 'sizes')
    _check.kind(randomize, bool, 'randomize')
    if not sizes:
        raise ValueError("sizes cannot be empty.")
    if all(isinstance(size, int) for size in sizes):
        if min(sizes) <= 0:
            raise ValueError("sizes is a list of int, but there should be no negative or zero numbers.")
    elif all(isinstance(size, float) for size in sizes):
        if any(not 0 < size <= 1 for size in sizes):
            raise ValueError("sizes is a list of float, but there should be no numbers outside the range (0, 1].")
        if abs(sum(sizes) - 1) >= 1e-5:
            raise ValueError("sizes is a list of float, but the percentages do not sum up to 1.")
    else:
        raise ValueError("sizes should be list of int or list of float.")


def _split_sizes(sizes, count):
    """Numbers of rows of the parts."""
    if isinstance(sizes[0], int):
        if sum(sizes) != count:
            raise RuntimeError(f"Sum of split sizes {sum(sizes)} is not equal to dataset size {count}.")
        return sizes
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
    source = kinds._MixedOnce(data) if randomize else data
    parts, start = [], 0
    for size in sizes:
        part = source.skip(start) if start else source
        parts.append(part.take(size))
        start += size
    return tuple(parts)


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
        raise ValueError("Can't zip empty or just one dataset!")
    return kinds.ZipDataset(datasets)


# The operations stand on Dataset, and are its methods.
from spore.dataset import operations as kinds    # noqa: E402
