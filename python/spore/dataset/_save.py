# SPDX-License-Identifier: Apache-2.0
"""Rows of a dataset written as MindRecord files."""
import os

import numpy as np

from spore.dataset import _check

# numpy types that MindRecord has, and what the others are kept as
_TYPES = {'int32': 'int32', 'int64': 'int64', 'float32': 'float32', 'float64': 'float64', 'int8': 'int32', 'uint8': 'int32',
          'int16': 'int32', 'uint16': 'int32', 'uint32': 'int64', 'uint64': 'int64', 'float16': 'float32', 'bool': 'int32'}


def _field(name, value):
    if isinstance(value, dict):
        raise RuntimeError(f"Invalid type, unsupported data type: python. Column '{name}' holds dicts.")
    if value.dtype.kind == 'U':
        if value.ndim > 0:
            raise RuntimeError("Invalid data, mindrecord can not support multi-dimensional string tensor. Column "
                               f"'{name}' has values of shape {value.shape}.")
        return {'type': 'string'}
    if value.dtype.kind == 'S':
        if value.size != 1 or value.ndim > 1:
            raise RuntimeError("Currently, multi-dimensional bytes cannot be converted to MindRecord. Column "
                               f"'{name}' has values of shape {value.shape}.")
        return {'type': 'bytes'}
    kind = _TYPES.get(value.dtype.name)
    if kind is None:
        raise RuntimeError(f"save: column '{name}' has type {value.dtype.name}, which MindRecord files cannot hold; change "
                           "it with transforms.TypeCast")
    return {'type': kind} if value.ndim == 0 else {'type': kind, 'shape': [-1, *value.shape[1:]]}


def _plain(name, field, value):
    if field['type'] == 'string':
        return str(value)
    if field['type'] == 'bytes':
        return value.tobytes()
    if value.dtype.kind != np.dtype(field['type']).kind and 'f' in (value.dtype.kind, np.dtype(field['type']).kind):
        raise RuntimeError(f"column value should be type string or number but got: {value}; column '{name}' holds {field['type']} in the rows "
                           "before.")
    if list(value.shape[1:]) != field.get('shape', [])[1:] or (value.ndim == 0) != ('shape' not in field):
        raise RuntimeError("Tensor with dynamic shape do not currently support saving. Except for the shape of dimension 0, the other "
                           "dimension shapes must be fixed. You can reshape the Tensor to a fixed shape before saving. Column "
                           f"'{name}' has a value of shape {value.shape}, those before have {field.get('shape', [])}.")
    if value.dtype == np.uint64 and value.size and value.max() >= 1 << 63:
        raise RuntimeError(f"save: column '{name}' holds {value.max()}, more than the int64 that MindRecord files have for uint64")
    value = value.astype(field['type'])
    return value if 'shape' in field else value.item()


def save(data, file_name, num_files, file_type):
    """Write the rows of one epoch."""
    from spore.mindrecord import FileWriter
    _check.kind(file_name, str, 'file_name')
    _check.kind(num_files, int, 'num_files')
    if num_files < 1 or num_files > 1000:
        raise ValueError(f"num_files should between 0 and 1000. It should be at least 1, but is {num_files}.")
    if file_type is not None:
        _check.kind(file_type, str, 'file_type')
    if file_type != 'mindrecord':
        raise ValueError(f"{file_type} dataset format is not supported.")
    if not file_name:
        raise RuntimeError("SaveToDisk failed, dataset_path must not be empty")
    if os.path.isdir(file_name):
        raise RuntimeError("SaveToDisk failed, dataset_path must not be a directory")
    folder = os.path.dirname(file_name)
    if folder and not os.path.isdir(folder):
        raise RuntimeError(f"SaveToDisk failed, can not get real dataset path: {folder}")
    names, writer, fields, rows = data.get_col_names(), None, None, []
    for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
        if writer is None:
            fields = [_field(name, value) for name, value in zip(names, row)]
            writer = FileWriter(file_name, num_files)
            writer.add_schema(dict(zip(names, fields)))
        rows.append({name: _plain(name, field, value) for name, field, value in zip(names, fields, row)})
        if len(rows) == 1000:
            writer.write_raw_data(rows)
            rows = []
    if writer is None:
        raise RuntimeError("save: the dataset holds no rows")
    if rows:
        writer.write_raw_data(rows)
    writer.commit()
