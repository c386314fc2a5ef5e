# SPDX-License-Identifier: Apache-2.0
"""Writing MindRecord files."""
import os
import re

from spore._core import type_name as _type_name
from spore import _core
from spore.mindrecord import config
from spore.mindrecord.common.exceptions import (MRMAddSchemaError, MRMBuildSchemaError, MRMDefineIndexError,
                                                MRMGetMetaError, MRMInvalidSchemaError, MRMValidateDataError,
                                                ParamTypeError, ParamValueError)
from spore.mindrecord.core.shardutils import MAX_SHARD_COUNT, MIN_SHARD_COUNT, check_filename, engine_errors

__all__ = ['FileWriter']

_TYPES = ('int32', 'int64', 'float32', 'float64', 'string', 'bytes')
_ARRAY_TYPES = _TYPES[:4]
_HEADER = (16 << 10, 128 << 20)
_PAGE = (32 << 10, 256 << 20)


def _schema_fault(content):
    """What is wrong with a schema, None: nothing."""
    if not content:
        return 'Schema content is empty.'
    if not isinstance(content, dict):
        return 'Schema content should be dict.'
    for name, field in content.items():
        if not isinstance(name, str) or not re.fullmatch(r'[0-9a-zA-Z_]+', name):
            return f"Field '{name}' should be composed of '0-9' or 'a-z' or 'A-Z' or '_'."
        if not field or not isinstance(field, dict):
            return f"Field '{name}' should be dict."
        if 'type' not in field or not (len(field) == 1 or (len(field) == 2 and 'shape' in field)):
            return f"Field '{field}' contains illegal attributes."
        types = _ARRAY_TYPES if 'shape' in field else _TYPES
        if field['type'] not in types:
            return f"Field '{name}' contain illegal attribute '{field['type']}'. The format has {', '.join(sorted(types))}."
        if 'shape' in field and not isinstance(field['shape'], list):
            return f"Field '{name}' contain illegal attribute '{field['shape']}'."
    return None


def _shape_fault(content):
    for name, field in content.items():
        shape = field.get('shape', [])
        if not all(isinstance(n, int) and not isinstance(n, bool) for n in shape):
            return f"Field '{name}': its shape holds something else than integers."
        if any(n != -1 and n <= 0 for n in shape):
            return f"Field '{name}': an element of its shape should be -1 or greater than 0, but got {shape}."
        if shape.count(-1) > 1:
            return f"Field '{name}': only 1 variable dimension (-1) is allowed in its shape, but got {shape}."
    return None


class FileWriter:
    """Writes rows to MindRecord files.

    `file_name` is the file, or with `shard_num` (1 to 1000) above 1 what stands in front of the number in the names of the
    files. Existing files are replaced only with `overwrite`. Nothing is seen of the new files before `commit`; a
    program that dies leaves the old ones, and `<name>.partial` with what was complete (`spore record recover`).

    >>> import os, tempfile
    >>> import numpy as np
    >>> from spore.mindrecord import FileReader, FileWriter
    >>> path = os.path.join(tempfile.mkdtemp(), "test.mindrecord")
    >>> writer = FileWriter(path, overwrite=True)
    >>> writer.add_schema({"label": {"type": "int32"}, "data": {"type": "float32", "shape": [-1, 2]}}, "two fields")
    >>> writer.add_index(["label"])
    >>> writer.write_raw_data([{"label": i, "data": np.full((i + 1, 2), i, np.float32)} for i in range(3)])
    >>> writer.commit()
    >>> [row["data"].shape for row in FileReader(path).get_next()]
    [(1, 2), (2, 2), (3, 2)]
    """

    def __init__(self, file_name, shard_num=1, overwrite=False):
        check_filename(file_name)
        if shard_num is None:
            raise ParamValueError("Parameter shard_num is None.")
        if not isinstance(shard_num, int):
            raise ParamValueError("Parameter shard_num's type is not int.")
        if not MIN_SHARD_COUNT <= shard_num <= MAX_SHARD_COUNT:
            raise ParamValueError(f"Parameter shard_num's value: {shard_num} should between {MIN_SHARD_COUNT} and "
                                  f"{MAX_SHARD_COUNT}.")
        if not isinstance(overwrite, bool):
            raise ParamValueError("Parameter overwrite's type is not bool.")
        if shard_num > 1 and config._get_enc_key() is not None:
            raise RuntimeError("When encode mode is enabled, the automatic sharding function is unavailable.")
        self._file_name, self._shard_num, self._overwrite = file_name, shard_num, overwrite
        width = len(str(shard_num - 1))
        self._paths = [file_name] if shard_num == 1 else [f'{file_name}{i:0{width}}' for i in range(shard_num)]
        self._schema, self._desc, self._index = None, '', []
        self._header_size = self._page_size = 0
        self._append = self._flush = False
        self._parallel_writer = None
        self._writer = None

    @classmethod
    def open_for_append(cls, file_name):
        """A writer that adds rows to the data set of an existing file. The files are replaced at `commit`.

        >>> import os, tempfile
        >>> from spore.mindrecord import FileReader, FileWriter
        >>> path = os.path.join(tempfile.mkdtemp(), "more.mindrecord")
        >>> writer = FileWriter(path)
        >>> writer.add_schema({"n": {"type": "int64"}})
        >>> writer.write_raw_data([{"n": 1}])
        >>> writer.commit()
        >>> writer = FileWriter.open_for_append(path)
        >>> writer.write_raw_data([{"n": 2}])
        >>> writer.commit()
        >>> [row["n"] for row in FileReader(path).get_next()]
        [1, 2]
        """
        check_filename(file_name)
        self = cls('append')
        self.init_append(file_name, None)
        return self

    def init_append(self, file_name, header):
        """What `open_for_append` does to a new writer; `header` has no meaning here."""
        if config._get_enc_key() is not None and callable(config._get_dec_mode()) or callable(config._get_hash_mode()):
            raise RuntimeError("Files made with a function for encryption or hashing cannot be appended to.")
        self._writer = config.open_writer(file_name)
        self._append, self._file_name, self._paths = True, file_name, [file_name]
        self._schema = {name: {'type': kind} if shape is None else {'type': kind, 'shape': list(shape)}
                        for name, kind, shape in self._writer.fields()}

    def add_schema(self, content, desc=None):
        """Say which fields a row has: a dict from names to {"type": ...} or {"type": ..., "shape": [...]}.

        Types are int32, int64, float32, float64, string and bytes. With a shape, of which one dimension may be -1 (any
        size), a field holds numpy arrays of that dtype. `desc` is free text.
        """
        if desc is not None and not isinstance(desc, str):
            raise TypeError(f"build(): incompatible function arguments: 'desc' is a text, but got {_type_name(desc)}.")
        fault = _schema_fault(content)
        if fault:
            raise MRMInvalidSchemaError(fault)
        fault = _shape_fault(content)
        if fault:
            raise MRMBuildSchemaError(fault)
        if self._schema is not None:
            raise MRMAddSchemaError("There is a schema already.")
        self._schema, self._desc = {name: dict(field) for name, field in content.items()}, desc or ''

    def add_index(self, index_fields):
        """Choose the fields that are copied into the index: a list of names of fields that hold one number or string.

        Without this call all such fields are.
        """
        if not index_fields or not isinstance(index_fields, list):
            raise ParamTypeError('index_fields', 'list')
        if self._schema is None:
            raise MRMGetMetaError("The schema comes first: call add_schema.")
        for name in index_fields:
            field = self._schema.get(name) if isinstance(name, str) else None
            if field and (field['type'] == 'bytes' or 'shape' in field):
                raise MRMDefineIndexError(f"Failed to set field {name} since it's not primitive type.")
            if not isinstance(name, str):
                raise ParamTypeError('index field', 'str')
            if field is None:
                raise RuntimeError(f"Invalid input, 'index_fields': {name} can not found in schema: {self._schema}.")
            if name in self._index:
                raise RuntimeError(f"The 'index_fields': {name} is added repeatedly.")
            self._index.append(name)

    def write_raw_data(self, raw_data, parallel_writer=False):
        """Write rows: a list of dicts that fit the schema. Members that the schema lacks are ignored.

        A row that does not fit is an MRMValidateDataError that names row, column, found and declared type, and then
        none of the list is written (MindSpore drops such rows with a warning). With `parallel_writer` every file becomes
        a data set of its own, to be read by a list of names.
        """
        if not isinstance(parallel_writer, bool):
            raise TypeError("The parameter `parallel_writer` must be bool.")
        if self._parallel_writer is None:
            self._parallel_writer = parallel_writer
        if self._parallel_writer != parallel_writer:
            raise RuntimeError("The parameter `parallel_writer` must be consistent during use.")
        if self._flush and not self._append:
            raise RuntimeError("Not allowed to call `write_raw_data` on flushed MindRecord files. When creating new "
                               "MindRecord files, please remove `commit` before `write_raw_data`. In other cases, when "
                               "appending to existing MindRecord files, please call `open_for_append` first and then "
                               "`write_raw_data`.")
        self._open()
        if not isinstance(raw_data, list):
            raise ParamTypeError('raw_data', 'list')
        if not all(isinstance(row, dict) for row in raw_data):
            raise ParamTypeError('raw_data item', 'dict')
        if not raw_data:
            raise RuntimeError("There is no valid data which can be written by 'write_raw_data' to mindrecord file.")
        try:
            self._writer.write(raw_data)
        except (TypeError, ValueError) as error:
            raise MRMValidateDataError(f"{error}. There is no valid data which can be written by 'write_raw_data' to "
                                       f"mindrecord file") from error
        except OSError as error:
            raise RuntimeError(str(error)) from error

    def set_header_size(self, header_size):
        """Room for the header of a file in bytes, 16 KiB to 128 MiB; the default is 16 MiB. It grows with the number of
        pages."""
        self._header_size = self._size('header', header_size, _HEADER)

    def set_page_size(self, page_size):
        """Size of a page in bytes, 32 KiB to 256 MiB; the default is 32 MiB. A row must fit into one."""
        self._page_size = self._size('page', page_size, _PAGE)

    @staticmethod
    def _size(what, value, limits):
        if not isinstance(value, int) or value < 0:
            raise TypeError(f"set_{what}_size(): incompatible function arguments. It takes a number of bytes, but got {value!r}.")
        if not limits[0] <= value <= limits[1]:
            raise RuntimeError(f"Invalid data, {what} size: {int(value)} should be in range [{limits[0]} bytes, "
                               f"{limits[1]} bytes].")
        if value % 4:
            raise RuntimeError(f"Invalid data, {what} size {value} should be divided by four.")
        return value

    def commit(self):
        """Complete the files and their index, and give them their names."""
        if self._flush and not self._append:
            raise RuntimeError("The files are committed already.")
        self._open()
        self._flush = True
        with engine_errors():
            self._writer.commit()
        self._writer = None
        if not self._append:
            config.finish_files(self._paths)

    def check_all_worker_status(self):
        """For MindSpore's sake: no other process is at work."""

    def check_worker_status(self, index):
        """For MindSpore's sake: no other process is at work."""

    def _open(self):
        """The engine's writer; made when the first row comes."""
        if self._writer is not None:
            return
        if self._append:
            self.init_append(self._file_name, None)
            return
        if self._schema is None:
            raise RuntimeError("Invalid data, schema is not found in header, please use 'add_schema' to add a schema for new "
                               "mindrecord files.")
        fields = [(name, field['type'], field.get('shape')) for name, field in self._schema.items()]
        for path in [] if self._overwrite else self._paths:
            if os.path.exists(path) or os.path.exists(path + '.db'):
                raise RuntimeError(f"Invalid file, mindrecord files already exist. Please check file path: {path}.\nIf you do "
                                   f"not want to keep the files, set the 'overwrite' parameter to True and try again.")
        folder = os.path.dirname(self._file_name) or '.'
        if not os.path.isdir(folder):
            raise RuntimeError(f"Invalid dir, failed to get the realpath of mindrecord file dir. Please check path: {folder}")
        with engine_errors():
            self._writer = _core.RecordWriter(os.fsencode(self._file_name), fields, self._desc, self._shard_num,
                                              self._overwrite, bool(self._parallel_writer), self._header_size,
                                              self._page_size, self._index, *config.write_secret())
