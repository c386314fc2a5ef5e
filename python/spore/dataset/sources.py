# SPDX-License-Identifier: Apache-2.0
"""Where rows come from: arrays, Python objects, MNIST files."""
import gzip
import os

import numpy as np

from spore.dataset.pipeline import Dataset, generator_of, to_array

__all__ = ['GeneratorDataset', 'NumpySlicesDataset', 'MnistDataset']


class _Indexed(Dataset):
    """Rows that can be asked for by number, in order, shuffled, sampled or as one shard of several."""

    def __init__(self, columns, num_samples, shuffle, sampler, num_shards, shard_id):
        super().__init__(columns=columns)
        who = type(self).__name__
        if num_samples is not None and (isinstance(num_samples, bool) or not isinstance(num_samples, int)
                                        or num_samples < 0):
            raise ValueError(f"{who}: num_samples must be an int not below 0, but got {num_samples!r}")
        if shuffle is not None and not isinstance(shuffle, bool):
            raise TypeError(f"{who}: shuffle must be a bool, but got {type(shuffle).__name__}")
        if sampler is not None and (shuffle is not None or num_shards is not None):
            raise RuntimeError(f"{who}: sampler cannot be given together with shuffle or num_shards")
        if (num_shards is None) != (shard_id is None):
            raise RuntimeError(f"{who}: num_shards and shard_id must be given together")
        if num_shards is not None and not 0 <= shard_id < num_shards:
            raise ValueError(f"{who}: shard_id must be in 0 to {num_shards - 1}, but got {shard_id}")
        self._most, self._sampler = num_samples or None, sampler
        self._mixed = sampler is None and shuffle is not False
        self._shards = (num_shards or 1, shard_id or 0)

    def _total(self):
        raise NotImplementedError

    def _row(self, index):
        raise NotImplementedError

    def _order(self, epoch):
        n = self._total()
        if self._sampler is not None:
            order = [int(i) for i in self._sampler]
        else:
            order = list(range(n))
            if self._mixed:
                generator_of(epoch).shuffle(order)
            count, own = self._shards
            if count > 1:       # equal shards: the last rows are filled up from the front
                each = -(-n // count)
                order = [order[(k * count + own) % n] for k in range(each)]
        return order[:self._most] if self._most else order

    def _n_rows(self):
        return len(self._order(0))

    def _rows(self, epoch):
        return (self._row(index) for index in self._order(epoch))


class NumpySlicesDataset(_Indexed):
    """Rows are slices of arrays along their first dimension.

    Args:
        data: an array, a list, a tuple of them (one per column) or a dict by column name.
        column_names: names of the columns; "column_0", ... if None.
        num_samples: at most so many rows.
        num_parallel_workers: accepted.
        shuffle: whether rows come in random order; True if None.
        sampler: row numbers, instead of shuffle.
        num_shards, shard_id: take one of several equal parts.

    Examples:
        >>> import numpy as np
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset(([1, 2, 3], [4, 5, 6]), ['a', 'b'], shuffle=False)
        >>> for row in rows.batch(2).create_dict_iterator(output_numpy=True):
        ...     print(row['a'], row['b'])
        [1 2] [4 5]
        [3] [6]
    """

    def __init__(self, data, column_names=None, num_samples=None, num_parallel_workers=1, shuffle=None, sampler=None,
                 num_shards=None,
                 shard_id=None):
        if isinstance(data, dict):
            names, arrays = list(data), list(data.values())
        elif isinstance(data, tuple):
            names, arrays = None, list(data)
        else:
            names, arrays = None, [data]
        self._arrays = [to_array(a) for a in arrays]
        if not self._arrays or any(a.ndim == 0 for a in self._arrays):
            raise ValueError("NumpySlicesDataset: data must hold arrays with at least one dimension")
        sizes = {len(a) for a in self._arrays}
        if len(sizes) > 1:
            raise ValueError(f"NumpySlicesDataset: the columns must have one length, but they have {sorted(sizes)}")
        columns = _column_names('NumpySlicesDataset', column_names, len(self._arrays), names)
        super().__init__(columns, num_samples, shuffle, sampler, num_shards, shard_id)

    def _total(self):
        return len(self._arrays[0])

    def _row(self, index):
        return tuple(np.asarray(a[index]) for a in self._arrays)


def _column_names(who, given, count, usual=None):
    if given is None:
        return usual or [f'column_{i}' for i in range(count)]
    given = [given] if isinstance(given, str) else list(given)
    if count is not None and len(given) != count:
        raise ValueError(f"{who}: there are {count} columns, but {len(given)} names {given}")
    if len(set(given)) != len(given):
        raise ValueError(f"{who}: a column name stands twice in {given}")
    return given


class GeneratorDataset(_Indexed):
    """Rows from a Python object: one with ``__getitem__`` and ``__len__``, an iterable, or a function that returns an
    iterator.

    Args:
        source: the object.
        column_names: names of the columns.
        column_types: accepted.
        schema: accepted as None.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id: as for NumpySlicesDataset; order and
            shards need a source with ``__getitem__``.
        python_multiprocessing, max_rowsize: accepted.
    """

    def __init__(self, source, column_names=None, column_types=None, schema=None, num_samples=None,
                 num_parallel_workers=1, shuffle=None,
                 sampler=None, num_shards=None, shard_id=None, python_multiprocessing=True, max_rowsize=None,
                 batch_sampler=None,
                 collate_fn=None):
        if schema is not None or batch_sampler is not None or collate_fn is not None:
            raise NotImplementedError("GeneratorDataset: schema, batch_sampler and collate_fn are not supported")
        if column_names is None:
            raise ValueError("GeneratorDataset: column_names must be given")
        self._source = source
        self._random = hasattr(source, '__getitem__') and hasattr(source, '__len__')
        if not self._random:
            if not callable(source) and not hasattr(source, '__iter__') and not hasattr(source, '__next__'):
                raise TypeError(f"GeneratorDataset: source must be iterable, indexable or a function, but got "
                                f"{type(source).__name__}")
            if shuffle or sampler is not None or num_shards is not None:
                raise ValueError("GeneratorDataset: shuffle, sampler and shards need a source with __getitem__ and "
                                 "__len__")
        super().__init__(_column_names('GeneratorDataset', column_names, None), num_samples, shuffle, sampler,
                         num_shards, shard_id)

    def _total(self):
        return len(self._source)

    def _values(self, row):
        row = row if isinstance(row, tuple) else (row,)
        if len(row) != len(self._columns):
            raise RuntimeError(f"GeneratorDataset: the source gives rows of {len(row)} values, but there are "
                               f"{len(self._columns)} column "
                               f"names {self._columns}")
        return tuple(to_array(value) for value in row)

    def _row(self, index):
        return self._values(self._source[index])

    def _n_rows(self):
        return super()._n_rows() if self._random else sum(1 for _ in self._rows(0))

    def _rows(self, epoch):
        if self._random:
            yield from super()._rows(epoch)
            return
        rows = self._source() if callable(self._source) else iter(self._source)
        for number, row in enumerate(rows):
            if self._most and number >= self._most:
                return
            yield self._values(row)


class MnistDataset(_Indexed):
    """Images of digits with their labels, from the four IDX files of MNIST, packed with gzip or not.

    Columns: image, uint8 of shape (28, 28, 1), and label, uint32.

    Args:
        dataset_dir: folder with the files.
        usage: "train", "test" or "all"; None is all.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id: as for NumpySlicesDataset.
        cache: accepted as None.
    """

    _PARTS = {'train': ('train',), 'test': ('t10k',), 'all': ('train', 't10k'), None: ('train', 't10k')}

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None,
                 shard_id=None, cache=None):
        if usage not in self._PARTS:
            raise ValueError(f"MnistDataset: usage must be 'train', 'test' or 'all', but got {usage!r}")
        if cache is not None:
            raise NotImplementedError("MnistDataset: cache is not supported")
        if not os.path.isdir(dataset_dir):
            raise ValueError(f"MnistDataset: the folder {dataset_dir} does not exist")
        parts = self._PARTS[usage]
        images = [_read_idx(dataset_dir, f'{part}-images-idx3-ubyte', 3) for part in parts]
        labels = [_read_idx(dataset_dir, f'{part}-labels-idx1-ubyte', 1) for part in parts]
        for part, image, label in zip(parts, images, labels):
            if len(image) != len(label):
                raise RuntimeError(f"MnistDataset: there are {len(image)} images in '{part}', but {len(label)} labels")
        self._images = np.concatenate(images)[..., None]
        self._labels = np.concatenate(labels).astype(np.uint32)
        super().__init__(['image', 'label'], num_samples, shuffle, sampler, num_shards, shard_id)

    def _total(self):
        return len(self._labels)

    def _row(self, index):
        return self._images[index], np.asarray(self._labels[index])

    def num_classes(self):
        return 10


def _read_idx(folder, name, rank):
    """An IDX file of bytes: two zero bytes, type 8, rank, dimensions as big-endian 32-bit numbers, then the bytes."""
    for path, opener in ((os.path.join(folder, name), open), (os.path.join(folder, name + '.gz'), gzip.open)):
        if os.path.exists(path):
            with opener(path, 'rb') as file:
                data = file.read()
            break
    else:
        raise ValueError(f"MnistDataset: there is no file {name} or {name}.gz in {folder}")
    start = 4 + 4 * rank
    if len(data) < start or data[:4] != bytes([0, 0, 8, rank]):
        raise RuntimeError(f"MnistDataset: {path} is no IDX file of bytes with {rank} dimensions")
    dims = np.frombuffer(data, '>u4', rank, 4).astype(np.int64)
    if len(data) - start != int(np.prod(dims)):
        raise RuntimeError(f"MnistDataset: {path} should hold {int(np.prod(dims))} bytes of data, but holds "
                           f"{len(data) - start}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(dims)
