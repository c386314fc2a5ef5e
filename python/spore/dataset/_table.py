# SPDX-License-Identifier: Apache-2.0
"""Base of sources for known data sets: each says what it takes, where its files are and what stands in them.

A source names its arguments as a ``def`` would (ARGUMENTS) and says in ``find`` what a row is made of: files, whose
bytes the engine reads; arrays, one element a row; and values that a Python function makes from the row's number.
Files are looked for when the dataset is first used.
"""
import inspect
import os

import numpy as np

from spore._printable import printable
from spore import _core
from spore.dataset import _check
from spore.dataset.samplers import Shuffle
from spore.dataset.sources import MappableDataset

COMMON = ('num_samples', 'num_parallel_workers', 'shuffle', 'sampler', 'num_shards', 'shard_id', 'cache')


def check_folder(path, name='dataset_dir'):
    """A folder that can be read."""
    _check.kind(path, str, name)
    if not os.path.isdir(path) or not os.access(path, os.R_OK):
        raise ValueError(f"The folder {printable(path)} does not exist or is not a directory or permission denied!")


def check_file(path, name='dataset_file'):
    """A file that can be read."""
    _check.kind(path, str, name)
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        raise ValueError(f"The file {path} does not exist or permission denied!")


def one_of(value, known, name):
    """A text out of a list."""
    _check.kind(value, str, name)
    if value not in known:
        raise ValueError(f"Input {name} is not within the valid set of {list(known)}.")


def signature_of(arguments):
    """The signature of ``def f(arguments)``."""
    scope = {'Shuffle': Shuffle}
    exec(f"def f({arguments}): pass", scope)    # texts of this package, never of a user
    return inspect.signature(scope['f'])


class Table(MappableDataset):
    """A data set of files in a known place."""

    ARGUMENTS = ''
    USAGE = None        # the words for `usage`; None as its value stands for the last of them
    CLASSES = None      # how many classes there are

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.__signature__ = signature_of(cls.ARGUMENTS)

    def __init__(self, *args, **kwargs):
        bound = self.__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        for name, value in given.items():
            if name not in COMMON:
                setattr(self, name, value)
        self._files, self._arrays, self._made, self._columns = {}, {}, ((), None), None
        if 'dataset_dir' in given:
            check_folder(self.dataset_dir)
        if self.USAGE is not None:
            if self.usage is None:
                self.usage = self.USAGE[-1]
            one_of(self.usage, self.USAGE, 'usage')
        if 'decode' in given:
            self.decode = bool(self.decode) if self.decode is None else self.decode
            _check.flag(self.decode, 'decode')
        check_decrypt(given.get('decrypt'))
        self.check()
        super().__init__(**{name: given[name] for name in COMMON if name in given})

    def check(self):
        """Rules for arguments of its own."""

    def find(self):
        """Say what rows are made of, by a call of ``rows``."""
        raise NotImplementedError

    def rows(self, columns, files=None, arrays=None, made=((), None)):
        """The columns in their order; by name, lists of paths and arrays; names and function of what Python makes."""
        self._columns, self._files, self._made = columns, files or {}, made
        self._arrays = {name: np.asarray(values) for name, values in (arrays or {}).items()}

    def _found(self):
        if self._columns is None:
            self.find()
            if self._total_now() == 0:
                raise RuntimeError(f"Invalid data, {type(self).__name__}: there is no row in "
                                   f"{getattr(self, 'dataset_dir', None) or getattr(self, 'dataset_file', '')}; check its "
                                   "files, and 'usage' if it has one")
        return self

    def _total_now(self):
        for values in (*self._files.values(), *self._arrays.values()):
            return len(values)
        return 0

    def _total(self):
        return self._found()._total_now()

    def _labels(self):
        labels = self._found()._arrays.get('label')
        return labels if labels is not None and labels.ndim == 1 and labels.dtype.kind in 'iu' else None

    def num_classes(self):
        return self.CLASSES

    def get_col_names(self):
        return list(self._found()._columns)

    def _row_files(self):
        known = next((getattr(self, name, None) for name in ('dataset_file', 'dataset_files', 'dataset_dir')
                      if isinstance(getattr(self, name, None), str)), None)
        return [(self._total_now(), known)] if known and not self._files else []

    def _make(self):
        self._found()
        files, arrays, (names, function) = self._files, dict(self._arrays), self._made
        if names:
            arrays[' row'] = np.arange(self._total_now())
        columns = [*files, *arrays]
        if files and getattr(self, 'decrypt', None) is not None:
            made = decrypted(self.decrypt, list(files.values()), columns, list(arrays.values()), self._order())
        elif files:
            paths = [os.fsencode(path) for row in zip(*files.values()) for path in row]
            made = _core.pipeline_files(paths, columns, list(arrays.values()), self._order())
        else:
            made = _core.pipeline_arrays(columns, list(arrays.values()), self._order())
        if names:
            made = made.map_function(function, [' row'], list(names))
        if getattr(self, 'decode', False):
            for name in files:
                made = made.map([_core.Transform('Decode')], [name], None)
        return made if made.columns == self._columns else made.project(self._columns)


def check_decrypt(function):
    """A function of a path, or None."""
    if function is not None and not callable(function):
        raise TypeError(f"Argument decrypt is not a callable object, but got {type(function)}")


def decrypted(function, files, columns, arrays, order):
    """Rows of files that a function of the path reads: it gives the bytes."""
    def read(path):
        content = function(path)
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise TypeError(f"the function `decrypt` must give bytes, but gives {type(content)} for {path}")
        return np.frombuffer(content, np.uint8)

    def row(index):
        return (*(read(paths[index]) for paths in files), *(values[index] for values in arrays))
    return _core.pipeline_source(row, len(files[0]), columns, order)


def sorted_files(folder, endings=None):
    """Paths of the files in a folder, by name."""
    if not os.path.isdir(folder):
        raise RuntimeError(f"Invalid folder, {folder} does not exist or permission denied!")
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.is_file())
    return [os.path.join(folder, name) for name in names if endings is None or name.lower().endswith(endings)]


def sorted_folders(folder):
    """Names of the folders in a folder."""
    if not os.path.isdir(folder):
        raise RuntimeError(f"Invalid folder, {folder} does not exist or permission denied!")
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir())


def read_lines(path, who):
    """Lines of a text file that are not empty."""
    if not os.path.isfile(path):
        raise RuntimeError(f"Invalid file, {who}: {path} does not exist or permission denied!")
    with open(path, encoding='utf-8-sig', newline='\n') as file:
        return [line for line in (line.rstrip('\r\n') for line in file) if line]
