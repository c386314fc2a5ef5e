# SPDX-License-Identifier: Apache-2.0
"""Rows from files: MindRecord, pictures in folders, MNIST and its relatives, CIFAR."""
import glob
import gzip
import os

import numpy as np

from spore._printable import printable
from spore import _core, log
from spore.dataset import _check
from spore.dataset._cells import Blob
from spore.dataset._table import check_decrypt, decrypted
from spore.dataset.samplers import BuiltinSampler, PKSampler, Shuffle, for_records, generator_of, ids_of, shuffle_of
from spore.dataset.sources import MappableDataset

__all__ = ['MindDataset', 'OBSMindDataset', 'ImageFolderDataset', 'MnistDataset', 'FashionMnistDataset', 'KMnistDataset',
           'EMnistDataset', 'QMnistDataset', 'Cifar10Dataset', 'Cifar100Dataset']


def _folder(path):
    _check.kind(path, str, 'dataset_dir')
    if not os.path.isdir(path) or not os.access(path, os.R_OK):
        raise ValueError(f"The folder {printable(path)} does not exist or is not a directory or permission denied!")
    return path


def _usage(usage, known):
    if usage is not None:
        _check.kind(usage, str, 'usage')
        if usage not in known:
            raise ValueError(f"Input usage is not within the valid set of {known}.")
    return usage


def _record_columns(columns):
    """The names in columns_list; None: all."""
    twice = [name for i, name in enumerate(columns or []) if name in columns[:i]]
    if twice:
        raise RuntimeError(f"MindDataset: 'columns_list' : Invalid parameter, duplicate column names are not allowed: {twice[0]}")
    return [str(name) for name in columns] if columns else None


def _padded_value(column, value, kind):
    """The value of padded_sample for a column, in the column's type."""
    if value is None:
        raise RuntimeError(f"Invalid padded_sample, the value of column: {column} should be string or number but got: null, check "
                           "'padded_sample'.")
    if kind == 'string':
        return str(value)
    if kind == 'bytes':
        return value.encode() if isinstance(value, str) else bytes(value)
    if not isinstance(value, np.ndarray) and kind.kind == 'i' and isinstance(value, (float, np.floating)):
        raise RuntimeError(f"column value should be type string or number but got: {value}; column {column} holds {kind}.")
    return value


def _shards_hint(path):
    """A MindRecord written in several files has no file of its own name: path0, path1, ..."""
    shards = sorted(glob.glob(glob.escape(path) + "[0-9]*"))
    shards = [name for name in shards if not name.endswith(".db")]
    return f" There are {len(shards)} files {shards[0]!r} to {shards[-1]!r}: give the first, which names the others." if shards else ""


class MindDataset(MappableDataset):
    """Rows of MindRecord files.

    Args:
        dataset_files: one file, whose data set is read with all its shards, or a list: exactly these files.
        columns_list: the columns wanted; all if None.
        num_parallel_workers: threads.
        shuffle: whether and how rows are mixed; all of them if None.
        num_shards, shard_id: take one of several equal parts.
        sampler: which rows come, instead of shuffle.
        padded_sample, num_padded: so many copies of a row are put behind.
        num_samples: at most so many rows.
    """
    _SHARDS_IN_ENGINE, _DRAWS = True, False

    _SHUFFLES = (bool, Shuffle)

    def __init__(self, dataset_files, columns_list=None, num_parallel_workers=None, shuffle=None, num_shards=None,
                 shard_id=None, sampler=None, padded_sample=None, num_padded=None, num_samples=None, cache=None):
        for path in dataset_files if isinstance(dataset_files, list) else [dataset_files]:
            if not isinstance(path, str):
                raise TypeError(f"path: {path} is not string; dataset_files is the name of a file, or a list of names.")
        if shuffle is not None and not isinstance(shuffle, self._SHUFFLES):
            raise TypeError("shuffle must be of boolean or enum of 'Shuffle' values like 'Shuffle.ADAPTIVE' or 'Shuffle.GLOBAL' or "
                            "'Shuffle.PARTIAL' or 'Shuffle.FILES' or 'Shuffle.INFILE'.")
        if columns_list is not None:
            _check.kind(columns_list, list, 'columns_list')
        self._columns = _record_columns(columns_list)
        if padded_sample is not None:
            _check.kind(padded_sample, dict, 'padded_sample')
            if num_padded is None:
                raise RuntimeError("padded_sample is specified and requires num_padded as well.")
            if self._columns is None:
                raise RuntimeError("padded_sample is specified and requires columns_list as well.")
            _check.kind(num_padded, int, 'num_padded')
            if num_padded < 0:
                raise ValueError(f"num_padded is invalid, num_padded={num_padded}.")
            if not set(self._columns) <= set(padded_sample):
                raise ValueError(f"padded_sample cannot match columns_list. It has {sorted(padded_sample)}, wanted are "
                                 f"{sorted(self._columns)}.")
        elif num_padded is not None:
            raise RuntimeError("num_padded is specified but padded_sample is not.")
        paths = [dataset_files] if isinstance(dataset_files, str) else dataset_files
        if not paths:
            raise RuntimeError("MindDataset: dataset files list is empty, check input dataset_files.")
        for path in paths:
            if not os.path.isfile(path):
                raise ValueError(f"The file {os.path.realpath(path)} does not exist or permission denied!{_shards_hint(path)}")
        if sampler is not None and not isinstance(sampler, BuiltinSampler) and not hasattr(sampler, '__iter__'):
            raise ValueError("The sampler is not supported yet.")
        from spore.mindrecord import config as files
        self._files = files
        self._reader = files.open_files(dataset_files, None)
        self._paths, self._padded = dataset_files, (padded_sample, num_padded or 0)
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._by_file = shuffle if shuffle in (Shuffle.FILES, Shuffle.INFILE) else None

    def _labels(self):
        if not isinstance(self.sampler, PKSampler):
            return None
        column = self.sampler.class_column
        if column not in [name for name, _, _ in self._reader.fields()]:
            raise RuntimeError(f"Invalid data, 'class_column': {column} can not found in fields of mindrecord files. Please check "
                               "'class_column' in PKSampler.")
        reader = self._files.open_files(self._paths, [column])
        return np.asarray([row[column] for row in reader])

    def _total(self):
        return len(self._reader) + self._padded[1]

    def _order(self):
        mixed = shuffle_of(self.sampler)
        if mixed is not None:
            return mixed
        if self.sampler is not None:
            labels = self._labels if self._labels() is not None else None
            return lambda seed, epoch: ids_of(for_records(self.sampler, self._total()), self._total(), seed, epoch, labels)
        paths = self._paths if isinstance(self._paths, list) else [self._paths]
        if self._by_file is None or self._by_file == Shuffle.INFILE and len(paths) == 1:
            return super()._order()
        sizes = [len(self._files.open_files([path], None)) for path in paths] if len(paths) > 1 else [self._total()]
        shards, shard = self._shard_of

        def order(seed, epoch):
            draws = generator_of(seed, epoch)
            starts = np.concatenate([[0], np.cumsum(sizes)])
            parts = [np.arange(starts[i], starts[i + 1]) for i in range(len(sizes))]
            if self._by_file == Shuffle.FILES:
                parts = [parts[i] for i in draws.permutation(len(parts))]
            else:
                parts = [draws.permutation(part) for part in parts]
            ids = np.concatenate(parts)
            if shards > 1:
                ids = ids[(np.arange(-(-len(ids) // shards)) * shards + shard) % len(ids)]
            return np.ascontiguousarray(ids[:self._most] if self._most else ids, np.int64)
        return order

    def _make(self):
        row, count = self._padded
        if not count:
            return _core.pipeline_record(self._reader, self._columns, self._order())
        if self._total() % self._shard_of[0]:
            raise RuntimeError(f"Invalid data, the size of dataset and padded samples: {self._total()} can not be divisible by the value of "
                               f"'num_shards': {self._shard_of[0]}. Please adjust the value of 'num_padded'.")
        reader, columns = self._reader, self._columns

        kinds = {name: kind if kind in ('string', 'bytes') else np.dtype(kind) for name, kind, _ in reader.fields()}
        padding = {column: _padded_value(column, row[column], kinds[column]) for column in columns if column in kinds}

        def value(column, item):
            return Blob(item) if isinstance(item, bytes) else np.asarray(item, None if kinds[column] == 'string' else kinds[column])

        def read(index):
            found = reader[index] if index < len(reader) else padding
            return tuple(value(c, found[c]) for c in columns)
        return _core.pipeline_source(read, self._total(), columns, self._order())


class ImageFolderDataset(MappableDataset):
    """Pictures in folders, a folder a class.

    Columns: image, the file's bytes (or, with ``decode``, an array of height, width and 3), and label, int32.

    Args:
        dataset_dir: folder of the folders.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id: as for NumpySlicesDataset.
        extensions: endings of file names, such as ".jpg"; all files if None.
        class_indexing: numbers of folder names; in alphabetical order from 0 if None.
        decode: whether pictures are decoded.
        cache: a DatasetCache, which keeps the rows.
        decrypt: function of a file's path that gives its bytes, for files that are encrypted.
    """

    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 extensions=None, class_indexing=None, decode=False, num_shards=None, shard_id=None, cache=None,
                 decrypt=None):
        _folder(dataset_dir)
        check_decrypt(decrypt)
        if extensions is not None:
            _check.kinds(extensions, str, 'extensions')
        if class_indexing is not None:
            _check.kind(class_indexing, dict, 'class_indexing')
        _check.kind(decode, bool, 'decode')
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._decode, self._decrypt = decode, decrypt
        self.dataset_dir, self.decode, self.extensions, self.class_indexing = dataset_dir, decode, extensions or [], class_indexing or {}
        names = sorted(entry.name for entry in os.scandir(dataset_dir) if entry.is_dir())
        self._classes = dict(class_indexing) if class_indexing else {name: i for i, name in enumerate(names)}
        self._missing = [name for name in self._classes if name not in names]
        if self._missing:
            log.warning("ImageFolderDataset: there are no folders %s in %s", self._missing[:4], dataset_dir)
        self._found, labels = [], []
        for name in (name for name in names if name in self._classes):      # by folder, whatever the order of class_indexing is
            here = self._pictures(os.path.join(dataset_dir, name), set(extensions or ()))
            self._found += here
            labels += [self._classes[name]] * len(here)
        if not self._found:
            raise RuntimeError("Invalid data, ImageFolderDataset API can't read the data file (interface mismatch or no data found). "
                               f"Check image folder file path: {dataset_dir}: no folder in it holds pictures"
                               f"{f' that end in {extensions}' if extensions else ''}")
        self._label_array = np.asarray(labels, np.int32)

    def _cache_paths(self):
        return super()._cache_paths() if self._decrypt is not None else []      # the engine reads the pictures

    @staticmethod
    def _pictures(folder, endings):
        """Files of one class, by name."""
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        found = [entry for entry in found if not endings or os.path.splitext(entry.name)[1] in endings]
        for entry in found:
            if entry.is_dir():
                raise RuntimeError(f"Invalid file found: {entry.path}, should be file, but got directory.")
        return [entry.path for entry in found]

    def _total(self):
        return len(self._found)

    def _labels(self):
        return self._label_array

    def num_classes(self):
        if self._missing:
            raise RuntimeError(f"Invalid subdirectory, class: {self._missing[0]} doesn't exist in {self.dataset_dir} .")
        return len(self._classes)

    def get_class_indexing(self):
        return dict(self._classes)

    def _make(self):
        names = ['image', 'label']
        if self._decrypt is not None:
            rows = decrypted(self._decrypt, [self._found], names, [self._label_array], self._order())
        else:
            rows = _core.pipeline_files([os.fsencode(path) for path in self._found], names, [self._label_array], self._order())
        return rows.map([_core.Transform('Decode')], ['image'], None) if self._decode else rows


class _Labelled(MappableDataset):
    """Images and labels that are small enough to be held in memory."""

    _NAMES = ['image', 'label']

    def __init__(self, arrays, files, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache):
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._arrays, self._sources = arrays, files

    def _row_files(self):
        return self._sources

    def _total(self):
        return len(self._arrays[0])

    def _labels(self):
        return self._arrays[-1] if self._arrays[-1].ndim == 1 else None

    def _make(self):
        return _core.pipeline_arrays(self._NAMES, self._arrays, self._order())


class MnistDataset(_Labelled):
    """Images of digits with their labels, from the four IDX files of MNIST, packed with gzip or not.

    Columns: image, uint8 of shape (28, 28, 1), and label, uint32.

    Args:
        dataset_dir: folder with the files.
        usage: "train", "test" or "all"; None is all.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id: as for NumpySlicesDataset.
        cache: a DatasetCache, which keeps the rows.
    """

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):
        _folder(dataset_dir)
        usage = _usage(usage, ['train', 'test', 'all'])
        parts = {'train': ['train'], 'test': ['t10k']}.get(usage, ['t10k', 'train'])     # all: by the names of the files
        pairs = _idx_pairs(type(self).__name__, dataset_dir, [(f'{p}-images-idx3-ubyte', f'{p}-labels-idx1-ubyte') for p in parts])
        super().__init__(*pairs, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)

    def num_classes(self):
        return 10


class FashionMnistDataset(MnistDataset):
    """Images of clothes with their labels: files and columns as for MnistDataset."""


class KMnistDataset(MnistDataset):
    """Images of Japanese characters with their labels: files and columns as for MnistDataset."""


class EMnistDataset(_Labelled):
    """Images of letters and digits with their labels, from the IDX files of EMNIST.

    Args:
        dataset_dir: folder with the files.
        name: which part: "byclass", "bymerge", "balanced", "letters", "digits" or "mnist".
        usage: "train", "test" or "all"; None is all.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.
    """

    _PARTS = ['byclass', 'bymerge', 'balanced', 'letters', 'digits', 'mnist']

    def __init__(self, dataset_dir, name, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None,
                 sampler=None, num_shards=None, shard_id=None, cache=None):
        _folder(dataset_dir)
        if name not in self._PARTS:
            raise ValueError(f"Input name is not within the valid set of {self._PARTS}.")
        usage = _usage(usage, ['train', 'test', 'all'])
        kinds = ['test', 'train'] if usage in (None, 'all') else [usage]
        pairs = _idx_pairs('EMnistDataset', dataset_dir, [(f'emnist-{name}-{k}-images-idx3-ubyte',
                                                           f'emnist-{name}-{k}-labels-idx1-ubyte') for k in kinds])
        super().__init__(*pairs, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)

    def num_classes(self):
        return len(np.unique(self._arrays[1]))


class QMnistDataset(_Labelled):
    """MNIST with its history, from the IDX files of QMNIST.

    Args:
        dataset_dir: folder with the files.
        usage: "train", "test", "test10k", "test50k", "nist" or "all"; None is all.
        compat: whether labels are single numbers; else all eight of a row.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.
    """

    _FILES = {'train': ('qmnist-train-images-idx3-ubyte', 'qmnist-train-labels-idx2-int', None),
              'test': ('qmnist-test-images-idx3-ubyte', 'qmnist-test-labels-idx2-int', None),
              'test10k': ('qmnist-test-images-idx3-ubyte', 'qmnist-test-labels-idx2-int', slice(0, 10000)),
              'test50k': ('qmnist-test-images-idx3-ubyte', 'qmnist-test-labels-idx2-int', slice(10000, None)),
              'nist': ('xnist-images-idx3-ubyte', 'xnist-labels-idx2-int', None)}

    def __init__(self, dataset_dir, usage=None, compat=True, num_samples=None, num_parallel_workers=None, shuffle=None,
                 sampler=None, num_shards=None, shard_id=None, cache=None):
        _folder(dataset_dir)
        _check.kind(compat, bool, 'compat')
        usage = _usage(usage, [*self._FILES, 'all'])
        images, labels, sources = [], [], []
        for kind in (['train', 'test', 'nist'] if usage in (None, 'all') else [usage]):
            picture, label, part = self._FILES[kind]
            images.append(read_idx('QMnistDataset', dataset_dir, picture, 3)[part or slice(None)])
            labels.append(read_idx('QMnistDataset', dataset_dir, label, 2)[part or slice(None)])
            sources.append((len(images[-1]), os.path.join(dataset_dir, picture)))
        labels = np.concatenate(labels).astype(np.uint32)
        arrays = [np.concatenate(images)[..., None], np.ascontiguousarray(labels[:, 0]) if compat else labels]
        super().__init__(arrays, sources, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)

    def num_classes(self):
        return 10


class Cifar10Dataset(_Labelled):
    """Small pictures of ten classes, from the binary files of CIFAR-10.

    Columns: image, uint8 of shape (32, 32, 3), and label, uint32.

    Args:
        dataset_dir: folder with the .bin files.
        usage: "train", "test" or "all"; None is all.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.
    """

    _LABELS, _TRAIN, _TEST = 1, 'data_batch*.bin', 'test_batch*.bin'

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):
        _folder(dataset_dir)
        usage = _usage(usage, ['train', 'test', 'all'])
        kinds = {'train': [self._TRAIN], 'test': [self._TEST]}.get(usage, [self._TRAIN, self._TEST])
        paths = sorted(path for kind in kinds for path in glob.glob(os.path.join(glob.escape(dataset_dir), kind)))
        if not paths:
            raise RuntimeError(f"Invalid cifar folder, cifar(.bin) files are missing under {dataset_dir}: there are no files "
                               f"{' or '.join(kinds)}")
        parts = [self._rows(path) for path in paths]
        rows = np.concatenate(parts)
        images = np.ascontiguousarray(rows[:, self._LABELS:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
        labels = [np.ascontiguousarray(rows[:, i]).astype(np.uint32) for i in range(self._LABELS)]
        super().__init__([images, *labels], [(len(part), path) for part, path in zip(parts, paths)], num_samples, num_parallel_workers,
                         shuffle, sampler, num_shards, shard_id, cache)

    def _rows(self, path):
        data = np.fromfile(path, np.uint8)
        each = 3072 + self._LABELS
        if len(data) == 0 or len(data) % each:
            raise RuntimeError(f"{type(self).__name__}: {path} should hold rows of {each} bytes, but holds {len(data)} bytes")
        return data.reshape(-1, each)

    def num_classes(self):
        return 10


class Cifar100Dataset(Cifar10Dataset):
    """Small pictures of a hundred classes, from the binary files of CIFAR-100.

    Columns: image, uint8 of shape (32, 32, 3), coarse_label and fine_label, uint32. Arguments as for Cifar10Dataset.
    """

    _LABELS, _TRAIN, _TEST = 2, 'train.bin', 'test.bin'
    _NAMES = ['image', 'coarse_label', 'fine_label']

    def num_classes(self):
        return 100


def _idx_pairs(who, folder, names):
    """Images and labels of the parts that are there: a folder often holds the training part alone. One at least must be."""
    images, labels = [], []
    there = [pair for pair in names if any(os.path.exists(os.path.join(folder, name + end)) for name in pair for end in ('', '.gz'))]
    names = there or names[-1:]
    for image_name, label_name in names:
        images.append(read_idx(who, folder, image_name, 3))
        labels.append(read_idx(who, folder, label_name, 1))
        if len(images[-1]) != len(labels[-1]):
            raise RuntimeError(f"{who}: there are {len(images[-1])} images in {image_name}, but {len(labels[-1])} labels")
    files = [(len(part), os.path.join(folder, name)) for part, (name, _) in zip(images, names)]
    return [np.concatenate(images)[..., None], np.concatenate(labels).astype(np.uint32)], files


_IDX_TYPES = {8: '>u1', 9: '>i1', 11: '>i2', 12: '>i4', 13: '>f4', 14: '>f8'}


def read_idx(who, folder, name, rank):
    """An IDX file: two zero bytes, a type, a rank, dimensions as big-endian 32-bit numbers, then the numbers."""
    for path, opener in ((os.path.join(folder, name), open), (os.path.join(folder, name + '.gz'), gzip.open)):
        if os.path.exists(path):
            with opener(path, 'rb') as file:
                data = file.read()
            break
    else:
        raise RuntimeError(f"Invalid data, {who} API can't read the data file (interface mismatch or no data found). Check file in "
                           f"directory: {folder}: there is no {name} or {name}.gz")
    start = 4 + 4 * rank
    if len(data) < start or data[:2] != b'\0\0' or data[2] not in _IDX_TYPES or data[3] != rank:
        raise RuntimeError(f"{who}: {path} is no IDX file with {rank} dimensions")
    kind = np.dtype(_IDX_TYPES[data[2]])
    dims = np.frombuffer(data, '>u4', rank, 4).astype(np.int64)
    wanted = int(np.prod(dims)) * kind.itemsize
    if len(data) - start != wanted:
        raise RuntimeError(f"{who}: {path} should hold {wanted} bytes of data, but holds {len(data) - start}")
    return np.frombuffer(data, kind, offset=start).reshape(dims).astype(kind.newbyteorder('='))


class OBSMindDataset(MindDataset):
    """MindRecord files in object storage. There is no client for it here: copy the files, and read them with MindDataset.

    Args:
        dataset_files: addresses of the files.
        server: address of the storage, http:// or https://.
        ak, sk: keys for it.
        sync_obs_path: where processes on several machines meet.
        columns_list, shuffle, num_shards, shard_id: as for MindDataset.
        shard_equal_rows: whether all parts get equally many rows.
    """

    def __init__(self, dataset_files, server, ak, sk, sync_obs_path, columns_list=None, shuffle=Shuffle.GLOBAL, num_shards=None,
                 shard_id=None, shard_equal_rows=True):
        _check.kinds(dataset_files, str, 'dataset_files')
        for name, value in (('server', server), ('ak', ak), ('sk', sk), ('sync_obs_path', sync_obs_path)):
            _check.kind(value, str, name)
        if not server.startswith(('http://', 'https://')):
            raise ValueError(f"server should be a str that starts with http:// or https://, but got {server}.")
        _check.kind(shard_equal_rows, bool, 'shard_equal_rows')
        _check.order(None, None, None, num_shards, shard_id)
        raise RuntimeError(f"OBSMindDataset: there is no client for object storage ({server}) in this version; copy the "
                           f"{len(dataset_files)} files to a disk and read them with MindDataset")
