# SPDX-License-Identifier: Apache-2.0
"""Rows from files of other kinds: TFRecord; tar archives of samples ("WebDataset"); arrays in npz and safetensors files; and
random rows."""
import gzip
import os
import tarfile
import tempfile
import zlib

import numpy as np

from spore import _core
from spore.dataset import _check
from spore.dataset._table import Table
from spore.dataset._stream import seed_now
from spore.dataset.samplers import Shuffle
from spore.dataset.schema import Schema
from spore.dataset.sources import MappableDataset
from spore.dataset.text_files import Lines, find_files

__all__ = ['TFRecordDataset', 'WebDataset', 'ColumnsDataset', 'RandomDataset']


def unpacked(path, compression):
    """The bytes of a path whose file is not packed: the file's own, or those of a nameless copy, and what keeps that open."""
    if not compression:
        return os.fsencode(path), None
    copy = tempfile.TemporaryFile()
    try:
        if compression == 'GZIP':
            with gzip.open(path) as file:
                while chunk := file.read(1 << 20):
                    copy.write(chunk)
        else:
            packed = zlib.decompressobj()
            with open(path, 'rb') as file:
                while chunk := file.read(1 << 20):
                    copy.write(packed.decompress(chunk))
            copy.write(packed.flush())
    except (OSError, zlib.error, EOFError) as error:
        raise RuntimeError(f"Invalid file, {path} is not packed by {compression}, or damaged: {error}") from error
    copy.flush()
    return os.fsencode(f'/proc/self/fd/{copy.fileno()}'), copy


class TFRecordDataset(Lines):
    """Rows of TFRecord files. Features of numbers come as arrays, features of bytes as uint8 unless a schema says string. Rows
    are read from the files when they are wanted.

    Args:
        dataset_files: a file, a pattern or a list of them.
        schema: a Schema or its file: types and shapes of the columns.
        columns_list: the features wanted; those of the schema or of the first row if None.
        num_samples, num_parallel_workers, shuffle, cache: as for TextFileDataset.
        num_shards, shard_id: take one of several parts: every num_shards-th file.
        shard_equal_rows: whether parts have equal numbers of rows instead.
        compression_type: how the files are packed: "GZIP", "ZLIB" or None.
    """

    def __init__(self, dataset_files, schema=None, columns_list=None, num_samples=None, num_parallel_workers=None,
                 shuffle=Shuffle.GLOBAL, num_shards=None, shard_id=None, shard_equal_rows=False, cache=None,
                 compression_type=None):
        if not isinstance(dataset_files, (str, list)):
            raise TypeError("dataset_files should be type str or a list of strings.")
        self.dataset_files = find_files(dataset_files)
        if schema is not None and not isinstance(schema, (str, Schema)):
            raise TypeError(f"path: {schema} is not string; a schema is the path of its file, or a Schema object.")
        _check.kind(shard_equal_rows, bool, 'shard_equal_rows')
        if compression_type not in (None, '', 'GZIP', 'ZLIB'):
            raise ValueError(f"Input compression_type can only be either '' (no compression), 'ZLIB', or 'GZIP', but got "
                             f"{compression_type!r}.")
        if isinstance(schema, str) and not os.path.isfile(schema):
            raise ValueError(f"The file {os.path.realpath(schema)} does not exist or permission denied!")
        schema = Schema(schema) if isinstance(schema, str) else schema
        self._compression, self._equal = compression_type, shard_equal_rows
        self._fields = {column['name']: column for column in schema.columns} if schema else {}
        self._chosen = self._choose(columns_list)
        if schema is not None and schema.num_rows and num_samples is None:
            num_samples = schema.num_rows
        super().__init__(num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)

    def _choose(self, columns):
        """The columns wanted; None: those of the first row."""
        if columns is not None:
            _check.kind(columns, list, 'columns_list')
        if not columns:
            return list(self._fields) or None
        for i, name in enumerate(columns):
            _check.kind(name, str, f'columns_list[{i}]')
            if name in columns[:i]:
                raise RuntimeError(f"column name '{name}' already exists in schema.")
            if self._fields and name not in self._fields:
                raise RuntimeError(f"Invalid data, failed to find column: {name} in JSON schema file. It has {list(self._fields)}.")
        return list(columns)

    def find_sizes(self):
        self._readers, self._copies, places, files, bad = [], [], [], [], {}
        for i, path in enumerate(self.dataset_files):
            try:
                name, copy = unpacked(path, self._compression)
                self._readers.append(_core.TFRecordReader(name))
                here = self._readers[-1].places()
                if not here:
                    raise RuntimeError(f"{path} holds no record")
            except (RuntimeError, OSError) as error:
                bad[path] = str(error)
                continue
            self._copies.append(copy)
            places += here
            files += [i] * len(here)
        if bad:
            raise RuntimeError("Invalid file. The following files either cannot be opened, or are not valid TFRecordDataset files: "
                               f"{list(bad)}; "
                               f"{next(iter(bad.values()))}")
        self._places, self._file_of = np.asarray(places, np.int64), np.asarray(files, np.int32)
        return [int((self._file_of == i).sum()) for i in range(len(self.dataset_files))]

    def _row(self, index):
        file = self._file_of[index]
        return self._readers[file].read(int(self._places[index]))

    def _columns(self):
        if self._chosen is None:
            self._sizes()
            self._chosen = sorted(self._row(0))
        return self._chosen

    def _shard(self, files):
        shards, shard = self._shard_of
        if self._equal or shards == 1:
            return super()._shard(files)
        if len(files) < shards:
            raise RuntimeError("Invalid file, numbers of tfrecord file should not less than num_shards when shard_equal_rows is false, but got "
                               f"numbers of tfrecord file: {len(files)}, num_shards: {shards}. Give more files, or shard_equal_rows=True.")
        return np.concatenate(files[shard::shards])

    def _make(self):
        columns = self._columns()

        def read(index):
            row = self._row(index)
            try:
                return tuple(_feature(name, row, self._fields.get(name)) for name in columns)
            except ValueError as error:
                file = self.dataset_files[self._file_of[index]]
                raise RuntimeError(f"map operation: [ParseExample] failed. The corresponding data file is: {file}. {error}") from error
        return _core.pipeline_source(read, self._total(), columns, self._order())


def _feature(name, row, field):
    """The value of a feature in a row, as its schema wants it."""
    kind = field['type'] if field else None
    if name not in row:
        if field is None:
            raise RuntimeError(f"Invalid columns_list, tfrecord file failed to find column name: {name}; the row has {sorted(row)}")
        raise ValueError(f"Feature name: {name} is required in schema but could not be found in tfrecord file; the row has {sorted(row)}.")
    value = row[name]
    if kind is not None and isinstance(value, list) != (kind in ('string', 'uint8', 'int8')) and (isinstance(value, list) or kind == 'string'):
        raise ValueError(f"The data type loaded from the example for feature name: {name} does not match the predefined type in schema, "
                         f"the actual type: {'string' if isinstance(value, list) else value.dtype}, but the predefined type: {kind}")
    if isinstance(value, list):     # bytes
        if kind == 'string':
            value = np.asarray([text.decode('utf-8') for text in value])
        else:                       # several become one, filled up with blanks to one length, as in MindSpore
            longest = max((len(text) for text in value), default=0)
            value = np.frombuffer(b''.join(text.ljust(longest) for text in value), np.uint8)
    elif kind is not None:
        value = value.astype(kind)
    if field and field.get('shape') is not None:
        shape = field['shape']
        if list(shape).count(-1) > 1:
            raise ValueError(f"Requested shape has more than one unknown dimension! Column {name} has {list(shape)}.")
        try:
            value = value.reshape(shape)
        except ValueError as error:
            raise ValueError(f"Column shape of {name} defined in schema does not match the shape actually load: {list(shape)} is wanted, "
                             f"there are {value.size} elements.") from error
    return value


class WebDataset(Lines):
    """Samples in tar archives: files whose names differ only in their endings are the columns of one row.

    Args:
        dataset_files: an archive, a pattern or a list of them.
        columns_list: the endings wanted ("jpg", "cls", ...); those of the first sample if None. Endings of texts ("txt",
            "json", "cls" and so on) come as texts or numbers, others as bytes (uint8).
        num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache: as for TextFileDataset.
    """

    _TEXTS = ('txt', 'text', 'json', 'transcript')
    _NUMBERS = ('cls', 'cls2', 'class', 'count', 'index', 'inx', 'id')

    def __init__(self, dataset_files, columns_list=None, num_samples=None, num_parallel_workers=None, shuffle=Shuffle.GLOBAL,
                 num_shards=None, shard_id=None, cache=None):
        self.dataset_files = find_files(dataset_files)
        self._chosen = _check.columns(columns_list, 'columns_list') if columns_list is not None else None
        super().__init__(num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)

    def find_sizes(self):
        self._samples, sizes = [], []
        for path in self.dataset_files:
            before = len(self._samples)
            try:
                self._archive(path)
            except (tarfile.TarError, EOFError, zlib.error) as error:
                raise RuntimeError(f"Invalid file, {path} is no tar archive, or damaged: {error}") from error
            sizes.append(len(self._samples) - before)
        return sizes

    def _archive(self, path):
        with tarfile.open(path, 'r:') as archive:       # packed archives cannot be read at any place
            key = None
            for member in archive:
                if not member.isfile():
                    continue
                folder, name = os.path.split(member.name)
                stem, _, ending = name.partition('.')
                if (folder, stem) != key:
                    key = (folder, stem)
                    self._samples.append((path, os.path.join(folder, stem), {}))
                self._samples[-1][2][ending.lower()] = (member.offset_data, member.size)

    def _columns(self):
        if self._chosen is None:
            self._sizes()
            self._chosen = list(self._samples[0][2])
        return self._chosen

    def _make(self):
        columns = self._columns()

        def read(index):
            path, key, parts = self._samples[index]
            row = []
            with open(path, 'rb') as file:
                for column in columns:
                    if column not in parts:
                        raise RuntimeError(f"{path}: sample {key} has no part {column!r}, only {sorted(parts)}")
                    begin, size = parts[column]
                    file.seek(begin)
                    row.append(self._value(column, file.read(size)))
            return tuple(row)
        return _core.pipeline_source(read, self._total(), columns, self._order())

    def _value(self, column, data):
        ending = column.rsplit('.', 1)[-1]
        if ending in self._NUMBERS:
            return np.asarray(int(data))
        return np.asarray(data.decode('utf-8')) if ending in self._TEXTS else np.frombuffer(data, np.uint8)


class ColumnsDataset(MappableDataset):
    """Rows are slices of the arrays in a file along their first dimension; a column for each array.

    Args:
        dataset_file: an .npz or .safetensors file.
        columns_list: the arrays wanted; all if None.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id: as for NumpySlicesDataset.
    """

    def __init__(self, dataset_file, columns_list=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None):
        _check.kind(dataset_file, str, 'dataset_file')
        if not os.path.isfile(dataset_file):
            raise ValueError(f"The file {dataset_file} does not exist or permission denied!")
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id)
        arrays = self._load(dataset_file)
        names = _check.columns(columns_list, 'columns_list') if columns_list is not None else list(arrays)
        missing = [name for name in names if name not in arrays]
        if missing:
            raise ValueError(f"ColumnsDataset: {dataset_file} has no array {missing[0]!r}, only {sorted(arrays)}")
        self._arrays = {name: arrays[name] for name in names}
        sizes = {name: len(a) if a.ndim else -1 for name, a in self._arrays.items()}
        if len(set(sizes.values())) != 1 or -1 in sizes.values():
            raise ValueError(f"ColumnsDataset: the arrays of {dataset_file} should have one length, but have {sizes}")

    @staticmethod
    def _load(path):
        if path.endswith('.safetensors'):
            from spore.train.serialization import load_checkpoint
            return {name: value.asnumpy() for name, value in load_checkpoint(path, format='safetensors').items()}
        try:
            with np.load(path, allow_pickle=False) as found:
                return {name: found[name] for name in found.files}
        except (ValueError, OSError, AttributeError) as error:
            raise RuntimeError(f"ColumnsDataset: {path} is no .npz file, or damaged: {error}") from error

    def _total(self):
        return len(next(iter(self._arrays.values())))

    def _make(self):
        return _core.pipeline_arrays(list(self._arrays), list(self._arrays.values()), self._order())


class RandomDataset(Table):
    """Random rows: for tests of what follows.

    Args:
        total_rows: how many rows; a random number if None.
        schema: a Schema or its file: columns, types and shapes; random ones if None.
        columns_list: the columns wanted; all if None.
        num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache: as for MnistDataset.
    """

    ARGUMENTS = ('total_rows=None, schema=None, columns_list=None, num_samples=None, num_parallel_workers=None, cache=None, '
                 'shuffle=None, num_shards=None, shard_id=None')

    def check(self):
        if self.total_rows is not None:
            _check.kind(self.total_rows, int, 'total_rows')
        if self.schema is not None and not isinstance(self.schema, (str, Schema)):
            raise TypeError(f"schema should be path to schema file or Schema object, but got {type(self.schema)}.")
        self.schema = Schema(self.schema) if isinstance(self.schema, str) else self.schema
        if self.columns_list is not None:
            self.columns_list = _check.columns(self.columns_list, 'columns_list')
        self._seed_given = seed_now()

    def find(self):
        if self.total_rows is not None and self.total_rows < 0:
            raise RuntimeError(f"RandomDataset: 'total_rows' must be greater than or equal to 0, got: {self.total_rows}")
        draws = np.random.Generator(np.random.Philox(self._seed_given))
        count = self.total_rows or (self.schema.num_rows if self.schema and self.schema.num_rows else int(draws.integers(1, 11)))
        if self.schema is not None:
            columns = self.schema.columns
        else:
            columns = [{'name': f'c{i}', 'type': str(draws.choice(['int32', 'float32', 'uint8'])),
                        'shape': draws.integers(1, 11, draws.integers(1, 3)).tolist()} for i in range(int(draws.integers(1, 5)))]
        place = {column['name']: k for k, column in enumerate(columns)}
        if self.columns_list is not None and self.schema is not None:
            columns = [column for column in columns if column['name'] in self.columns_list]
        sizes = [[n if n > 0 else int(draws.integers(1, 11)) for n in column.get('shape') or []] for column in columns]

        def row(i):
            seed = self._seed_given % (1 << 63)
            values = tuple(_random_value(np.random.Generator(np.random.Philox(key=[seed, int(i) << 16 | place[column['name']]])),
                                         column['type'], size) for column, size in zip(columns, sizes))
            return values if len(values) > 1 else values[0]
        self.rows([column['name'] for column in columns], {}, {' number': np.arange(count)}, ([c['name'] for c in columns], row))


def _random_value(draws, kind, shape):
    if kind == 'string':
        letters = draws.integers(97, 123, (*shape, 5)).astype(np.uint32)
        return letters.view('<U5').reshape(shape)
    kind = np.dtype(kind)
    return np.frombuffer(draws.bytes(int(np.prod(shape)) * kind.itemsize), kind).reshape(shape) if kind.kind in 'iu' else \
        draws.standard_normal(shape).astype(kind)
