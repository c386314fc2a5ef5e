# SPDX-License-Identifier: Apache-2.0
"""What a dataset's rows are made of, as a text: for the cache, which must know two pipelines apart. Functions are told apart by their code
and what it uses, files by their size and time. What cannot be told apart from others gets a text of its own, which is in no other program:
rows are then kept for this one alone."""
import enum
import functools
import hashlib
import os
import types
import uuid

import numpy as np

from spore import _core

# Arguments that say which rows come when, and how fast: not what is in them.
ORDER = {'num_samples', 'num_parallel_workers', 'shuffle', 'sampler', 'num_shards', 'shard_id', 'cache', 'shard_equal_rows', 'python_multiprocessing', 'max_rowsize', 'offload', 'callbacks'}
_unknown = {}


class Identity:
    """Pieces of a text; objects that were met already stand for themselves."""

    def __init__(self):
        self._hash, self._met = hashlib.sha256(), {}

    def text(self):
        """What all of it comes to."""
        return self._hash.hexdigest()

    def _note(self, *parts):
        self._hash.update(repr(parts).encode())

    def add(self, value):
        """One more value, whatever it is."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)) and not isinstance(value, enum.Enum):
            return self._note(type(value).__name__, value)
        if id(value) in self._met:
            return self._note('met', self._met[id(value)][0])
        self._met[id(value)] = len(self._met), value
        for kind, add in self._KINDS:
            if isinstance(value, kind):
                return add(self, value)
        return self._add_object(value)

    def _add_list(self, values):
        self._note(type(values).__name__, len(values))
        for value in values:
            self.add(value)

    def _add_set(self, values):
        self._add_list(sorted(values, key=repr))

    def _add_dict(self, values):
        self._note('dict', len(values))
        for key, value in values.items():
            self.add(key)
            self.add(value)

    def _add_array(self, array):
        self._note('array', str(array.dtype), array.shape)
        if array.dtype.hasobject:
            self._add_list(array.ravel().tolist())
        else:
            self._hash.update(np.ascontiguousarray(array).tobytes())

    def _add_tensor(self, tensor):
        self._add_array(tensor.asnumpy())

    def _add_enum(self, value):
        self._note(type(value).__qualname__, value.name)

    def _add_code(self, code):
        self._note('code', code.co_code, code.co_names, code.co_varnames, code.co_flags)
        self._add_list(code.co_consts)

    def _add_function(self, function):
        code = function.__code__
        self._note('function', function.__module__, function.__qualname__)
        self.add(code)
        self.add(function.__defaults__)
        self.add(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                self.add(cell.cell_contents)
            except ValueError:      # it has none yet
                self._note('empty')
        for name in sorted(_names(code)):
            if name in function.__globals__:
                self._note(name)
                self.add(function.__globals__[name])

    def _add_method(self, method):
        self.add(method.__func__)
        self.add(method.__self__)

    def _add_partial(self, made):
        for part in (made.func, made.args, made.keywords):
            self.add(part)

    def _add_module(self, module):
        self._note('module', module.__name__)
        self.add_path(getattr(module, '__file__', None))

    def _add_builtin(self, function):
        self._note('builtin', function.__module__, getattr(function, '__qualname__', function.__name__))
        if not isinstance(function.__self__, (types.ModuleType, type(None))):
            self.add(function.__self__)

    def _add_class(self, kind):
        import sys
        self._note('class', kind.__module__, kind.__qualname__)
        module = sys.modules.get(kind.__module__)
        path = getattr(module, '__file__', None)
        if path is not None:
            return self.add_path(path)
        for name, value in sorted(vars(kind).items()):
            if isinstance(value, (types.FunctionType, staticmethod, classmethod, property)):
                self._note(name)
                for function in (getattr(value, '__func__', None), getattr(value, 'fget', None), value if isinstance(value, types.FunctionType) else None):
                    if function is not None:
                        self.add(function)
        return None

    def _add_dataset(self, data):
        from spore.dataset.serial import arguments
        self._note('dataset', type(data).__qualname__)
        for name, value in arguments(data).items():
            if name in ORDER:
                continue
            self._note(name)
            self.add(value)
        for path in data._cache_paths():
            self.add_path(path)

    def _add_object(self, value):
        given = getattr(value, '_given', None)      # of a transform: what it was made with
        self.add(type(value))
        if given is not None:
            return self.add(given)
        state = getattr(value, '__dict__', None)
        if state is not None and type(value).__module__ != 'builtins':
            return self.add({key: item for key, item in state.items() if key != '_parsed'})
        if isinstance(value, (np.generic, np.dtype)):
            return self._note(repr(value))
        return self._note('unknown', _unknown.setdefault(id(value), (str(uuid.uuid4()), value))[0])

    def add_path(self, path):
        """A file as it is now, or all files in a folder."""
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        path = os.fspath(path)
        if os.path.isdir(path):
            for folder, folders, names in os.walk(path):
                folders.sort()
                for name in sorted(names):
                    self.add_path(os.path.join(folder, name))
            return
        try:
            info = os.stat(path)
        except OSError:
            return self._note('missing', path)
        self._note('file', path, info.st_ino, info.st_size, info.st_mtime_ns)


def _names(code):
    """Names that code looks up, in functions inside of it, too."""
    found = set(code.co_names)
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            found |= _names(value)
    return found


def _kinds():
    from spore.dataset.pipeline import Dataset
    kind = Identity
    return [(enum.Enum, kind._add_enum), ((list, tuple), kind._add_list), ((set, frozenset), kind._add_set), (dict, kind._add_dict), (np.ndarray, kind._add_array),
            (_core.Tensor, kind._add_tensor), (types.CodeType, kind._add_code), (types.FunctionType, kind._add_function), (types.MethodType, kind._add_method),
            (functools.partial, kind._add_partial), (types.ModuleType, kind._add_module), (types.BuiltinFunctionType, kind._add_builtin), (type, kind._add_class),
            (Dataset, kind._add_dataset)]


Identity._KINDS = _kinds()
