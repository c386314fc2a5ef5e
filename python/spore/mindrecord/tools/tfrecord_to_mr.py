# SPDX-License-Identifier: Apache-2.0
"""TFRecord to MindRecord. TensorFlow is not needed, but for making the description of the features."""
import os
import string

import numpy as np

from spore import _core
from spore.mindrecord.core.shardutils import check_filename, engine_errors
from spore.mindrecord.tools.convert import run_aside, write_file

__all__ = ['TFRecordToMR']

_TYPES = {'string': 'string', 'int8': 'int32', 'int16': 'int32', 'int32': 'int32', 'int64': 'int64', 'uint8': 'int32',
          'uint16': 'int32', 'uint32': 'int64', 'uint64': 'int64', 'float16': 'float32', 'float32': 'float32',
          'float64': 'float64', 'bool': 'int32'}
_SPECIAL = str.maketrans({c: '_' for c in string.punctuation + ' ' if c != '_'})


def _dtype_name(feature, name):
    """The dtype of a FixedLenFeature by name, whichever library made it."""
    kind = feature.dtype
    kind = kind if isinstance(kind, str) else getattr(kind, 'name', None) or np.dtype(kind).name
    if kind not in _TYPES:
        raise ValueError(f"Type {kind} of feature '{name}' is not supported in MindRecord.")
    return kind


class TFRecordToMR:
    """Converts a TFRecord file of tf.train.Example messages to MindRecord.

    `source` is the file, `destination` what to write. `feature_dict` maps the names of features to
    tf.io.FixedLenFeature, or anything else with `shape` ([] or [n]) and `dtype`. Features of dtype string become strings,
    or bytes when `bytes_fields` lists them.

    >>> from spore.mindrecord import TFRecordToMR
    >>> features = {"label": tf.io.FixedLenFeature([], tf.int64)}  # doctest: +SKIP
    >>> TFRecordToMR("a.tfrecord", "a.mindrecord", features).transform()  # doctest: +SKIP
    """

    def __init__(self, source, destination, feature_dict, bytes_fields=None):
        if not isinstance(source, str):
            raise ValueError("Parameter source must be string.")
        check_filename(source)
        if not isinstance(destination, str):
            raise ValueError("Parameter destination must be string.")
        check_filename(destination)
        if not isinstance(feature_dict, dict):
            raise ValueError("Parameter feature_dict is None or not dict.")
        for name, feature in feature_dict.items():
            if not hasattr(feature, 'shape') or not hasattr(feature, 'dtype'):
                raise ValueError(f"Parameter feature_dict: {name} only support FixedLenFeature.")
        self.source, self.destination, self.feature_dict = source, destination, feature_dict
        self.bytes_fields_list = self._check_bytes_fields(bytes_fields)
        self.mindrecord_schema = {self._cast(name): self._field(name, feature) for name, feature in feature_dict.items()}

    @staticmethod
    def _cast(name):
        """A name that a field may have."""
        return name.translate(_SPECIAL)

    def _check_bytes_fields(self, bytes_fields):
        if bytes_fields is None:
            return []
        if not isinstance(bytes_fields, list):
            raise ValueError(f"Parameter bytes_fields: {bytes_fields} must be list(str).")
        for item in bytes_fields:
            if not isinstance(item, str):
                raise ValueError(f"Parameter bytes_fields's item: {item} is not str.")
            if item not in self.feature_dict:
                raise ValueError(f"Parameter bytes_fields's item: {item} is not in feature_dict: {self.feature_dict}.")
            if _dtype_name(self.feature_dict[item], item) != 'string':
                raise ValueError(f"Parameter bytes_field: {item} should be tf.string in feature_dict.")
        return [self._cast(item) for item in bytes_fields]

    def _field(self, name, feature):
        kind, shape = _dtype_name(feature, name), list(feature.shape)
        if not shape:
            return {'type': 'bytes' if self._cast(name) in self.bytes_fields_list else _TYPES[kind]}
        if len(shape) != 1:
            raise ValueError(f"Parameter len(feature_dict[{name}].shape) should be 1.")
        if not isinstance(shape[0], int):
            raise ValueError(f"Invalid parameter feature_dict, value and type mismatch, please check item of "
                             f"feature_dict[\"{name}\"].")
        if shape[0] < 1:
            raise ValueError(f"Parameter feature_dict[{name}].shape[0] should > 0")
        if kind == 'string':
            raise ValueError(f"Parameter feature_dict[{name}].dtype is tf.string which shape[0] is not None. It is not "
                             f"supported.")
        return {'type': _TYPES[kind], 'shape': shape}

    def _value(self, name, field, values, row):
        """A feature's list of values as the value of a field."""
        shape, kind = field.get('shape'), field['type']
        wanted = shape[0] if shape else 1
        text = kind in ('string', 'bytes')
        if values is None or len(values) != wanted or isinstance(values, list) != text:
            found = 'nothing' if values is None else f"{len(values)} {'texts' if isinstance(values, list) else 'numbers'}"
            raise ValueError(f"TFRecord feature_dict parameter error: row {row}, feature '{name}': found {found}, declared "
                             f"is {wanted} of {kind}.")
        if shape:
            return np.asarray(values, kind)
        if text:
            return values[0] if kind == 'bytes' else values[0].decode('utf-8')
        return int(values[0]) if kind.startswith('int') else float(values[0])

    def tfrecord_iterator(self):
        """The rows: dicts that fit the schema."""
        fields = [(name, self._cast(name), self.mindrecord_schema[self._cast(name)]) for name in self.feature_dict]
        with engine_errors():
            examples = _core.TFRecordReader(os.fsencode(self.source))
        for row, example in enumerate(examples):
            yield {cast: self._value(name, field, example.get(name), row) for name, cast, field in fields}

    tfrecord_iterator_oldversion = tfrecord_iterator

    def run(self):
        """What `transform` does, in this thread."""
        write_file(self.destination, self.mindrecord_schema, 'TFRecord to MindRecord', self.tfrecord_iterator())

    def transform(self):
        """Write the file."""
        run_aside(self.run)
