# SPDX-License-Identifier: Apache-2.0
"""Reading MindRecord files row by row."""
from spore import log
from spore.mindrecord import config
from spore.mindrecord.common.exceptions import ParamTypeError
from spore.mindrecord.core.shardutils import Unset, check_consumers, check_filenames

__all__ = ['FileReader']


def schema_of(fields):
    """Fields of the engine as a schema."""
    return {name: {'type': kind} if shape is None else {'shape': list(shape), 'type': kind} for name, kind, shape in fields}


class FileReader:
    """Rows of MindRecord files, as dicts.

    `file_name` is one file, whose data set is read with all its shards, or a list: exactly these files. `columns` is a list
    of the fields wanted, None: all. `num_consumer` and `operator` are accepted and have no effect: the files are mapped
    into memory, so there is nobody to wait for.

    >>> import os, tempfile
    >>> from spore.mindrecord import FileReader, FileWriter
    >>> path = os.path.join(tempfile.mkdtemp(), "numbers.mindrecord")
    >>> writer = FileWriter(path)
    >>> writer.add_schema({"n": {"type": "int32"}, "name": {"type": "string"}})
    >>> writer.write_raw_data([{"n": 1, "name": "one"}, {"n": 2, "name": "two"}])
    >>> writer.commit()
    >>> reader = FileReader(path)
    >>> reader.len()
    2
    >>> list(reader.get_next())
    [{'n': 1, 'name': 'one'}, {'n': 2, 'name': 'two'}]
    >>> reader.close()
    """

    def __init__(self, file_name, num_consumer=Unset(4), columns=None, operator=None):
        check_filenames(file_name)
        check_consumers(num_consumer)
        if operator is not None:
            log.warning("The parameter 'operator' will be deprecated in a future version.")
        if columns and not isinstance(columns, list):
            raise ParamTypeError('columns', 'list')
        self._reader = config.open_files(file_name, columns or None)
        self._fields, self._count = self._reader.fields(), len(self._reader)
        self._next = 0

    def get_next(self):
        """Yield the rows that are left, in the order of the files."""
        while self._reader is not None and self._next < len(self._reader):
            try:
                row = self._reader[self._next]
            except MemoryError:
                raise
            except Exception as error:
                raise RuntimeError(str(error)) from error
            self._next += 1
            yield row

    def close(self):
        """Let go of the files."""
        self._reader = None

    def schema(self):
        """The schema: a dict from field names to type and shape."""
        return schema_of(self._fields)

    def len(self):
        """Number of rows."""
        return self._count
