# SPDX-License-Identifier: Apache-2.0
"""What columns a source has: names, types, shapes."""
import json
import os

from spore.dataset import _check

__all__ = ['Schema']

_TYPES = ('bool', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'float16', 'float32', 'float64',
          'string')


class Schema:
    """Columns of a source, with their types and shapes.

    Args:
        schema_file: a JSON file with "columns", a list or a dict of them; None: an empty schema.

    Examples:
        >>> from spore import dataset
        >>> schema = dataset.Schema()
        >>> schema.add_column('label', 'int32', [1])
        >>> schema.columns
        [{'name': 'label', 'rank': 1, 'shape': [1], 'type': 'int32'}]
    """

    def __init__(self, schema_file=None):
        self.columns, self.dataset_type, self.num_rows = [], '', 0
        if schema_file is not None:
            _check.kind(schema_file, str, 'schema_file')
            if not os.path.isfile(schema_file) or not os.access(schema_file, os.R_OK):
                raise ValueError(f"The file {schema_file} does not exist or permission denied!")
            with open(schema_file, encoding='utf-8') as file:
                try:
                    content = json.load(file)
                except ValueError as error:
                    raise RuntimeError(f"Schema file failed to load: {schema_file} is not JSON: {error}") from error
            self.from_json(content)

    def add_column(self, name, de_type, shape=None):
        """Add a column: its name, type (of spore or by name) and, if known, shape."""
        _check.kind(name, str, 'name')
        kind = de_type if isinstance(de_type, str) else str(getattr(de_type, '__name__', de_type))
        kind = kind.lower().removesuffix('_')
        if kind not in _TYPES:
            raise TypeError(f"Unknown column type. {de_type} is given; a column is one of {', '.join(_TYPES)}")
        column = {'name': name, 'rank': 1 if shape is None else len(shape)}
        if shape is not None:
            _check.kind(shape, (list, tuple), 'shape')
            for size in shape:
                _check.kind(size, int, 'shape')
            column['shape'] = list(shape)
        column['type'] = kind
        self.columns.append(column)

    @staticmethod
    def get_num_rows(schema):
        """Rows that a schema, or its file, says there are."""
        return (schema if isinstance(schema, Schema) else Schema(schema)).num_rows

    def parse_columns(self, columns):
        """Add columns from a list of dicts, or a dict by name."""
        if isinstance(columns, dict):
            columns = [{'name': name, **rest} for name, rest in columns.items()]
        if not isinstance(columns, list):
            raise RuntimeError(f"columns must be dict or list, columns contain name, type, shape(optional). It is {type(columns)}.")
        for column in columns:
            if not isinstance(column, dict) or 'name' not in column:
                raise RuntimeError(f"Column's name is missing in {column!r}")
            if 'type' not in column:
                raise RuntimeError(f"Column's type is missing in {column!r}")
            self.add_column(column['name'], column['type'], column.get('shape'))

    def to_json(self):
        """The schema as a JSON text."""
        content = {'columns': self.columns}
        if self.dataset_type:
            content['datasetType'] = self.dataset_type
        if self.num_rows:
            content['numRows'] = self.num_rows
        return json.dumps(content, indent=2)

    def from_json(self, json_obj):
        """Take over what a JSON object says."""
        _check.kind(json_obj, dict, 'json_obj')
        for name, value in json_obj.items():
            if name == 'datasetType':
                self.dataset_type = value
            elif name == 'numRows':
                if value < 0:
                    raise RuntimeError(f"numRows must be greater than or equal to 0, but got {value}")
                self.num_rows = value
            elif name == 'columns':
                self.parse_columns(value)
            else:
                raise RuntimeError(f"Unknown field {name}")
        if not self.columns:
            raise RuntimeError("Columns are missing.")

    def __str__(self):
        return self.to_json()
