# SPDX-License-Identifier: Apache-2.0
"""Files of MATLAB (version 5, as data sets are published in): numbers, structs, cells and sparse matrices, read without scipy.

A file is a header of 128 bytes, then elements: a type, a number of bytes, the bytes, filled up to eight; small ones have type and
number in one word, and their bytes in the next. A matrix is an element of elements: flags, dimensions, name, values.
"""
import os
import struct
import zlib

import numpy as np

_NUMBERS = {1: 'i1', 2: 'u1', 3: 'i2', 4: 'u2', 5: 'i4', 6: 'u4', 7: 'f4', 9: 'f8', 12: 'i8', 13: 'u8', 16: 'u1', 17: 'u2', 18: 'u4'}
_MATRIX, _COMPRESSED = 14, 15
_CLASSES = {4: 'u2', 6: 'f8', 7: 'f4', 8: 'i1', 9: 'u1', 10: 'i2', 11: 'u2', 12: 'i4', 13: 'u4', 14: 'i8', 15: 'u8'}
_CELL, _STRUCT, _SPARSE = 1, 2, 5


class _Elements:
    """The elements of a run of bytes, one after another."""

    def __init__(self, data, order):
        self.data, self.order, self.at = data, order, 0

    def more(self):
        """Whether there is another one."""
        return self.at + 8 <= len(self.data)

    def next(self):
        """(type, bytes) of the next one."""
        if not self.more():
            raise ValueError("an element is missing")
        kind, size = struct.unpack_from(self.order + 'II', self.data, self.at)
        if kind >> 16:      # a small one
            kind, size, begin = kind & 0xffff, kind >> 16, self.at + 4
            self.at += 8
        else:
            begin = self.at + 8
            self.at = begin + size + (0 if kind == _COMPRESSED else -size % 8)
        if begin + size > len(self.data):
            raise ValueError(f"an element of {size} bytes at {begin} reaches over the end")
        return kind, self.data[begin:begin + size]

    def numbers(self):
        """The next one as a vector."""
        kind, data = self.next()
        if kind not in _NUMBERS:
            raise ValueError(f"an element of type {kind} holds no numbers")
        return np.frombuffer(data, self.order + _NUMBERS[kind])


def _shaped(values, dims):
    if values.size != np.prod(dims):
        raise ValueError(f"there are {values.size} values for a matrix of {tuple(dims)}")
    return values.reshape(dims, order='F')


def _objects(elements, dims):
    made = np.empty(int(np.prod(dims)), object)
    for i in range(made.size):
        made[i] = _matrix(*elements.next(), elements.order)[1]
    return made.reshape(dims, order='F')


def _fields(elements, dims):
    """A struct: for each element a dict by name of the field."""
    width = int(elements.numbers()[0])
    names = bytes(elements.next()[1])
    names = [names[i:i + width].split(b'\0')[0].decode('ascii') for i in range(0, len(names), width)] if width > 0 else []
    made = np.empty(int(np.prod(dims)), object)
    for i in range(made.size):
        made[i] = {name: _matrix(*elements.next(), elements.order)[1] for name in names}
    return made.reshape(dims, order='F')


def _sparse(elements, dims):
    rows, columns = elements.numbers(), elements.numbers()
    values = elements.numbers()
    made = np.zeros(dims, values.dtype.newbyteorder('='))
    counts = np.diff(columns[:dims[1] + 1])
    if len(columns) <= dims[1] or counts.min(initial=0) < 0 or counts.sum() > min(len(rows), len(values)) or \
            rows[:counts.sum()].max(initial=0) >= max(dims[0], 1) or rows.min(initial=0) < 0:
        raise ValueError("the places of a sparse matrix do not fit")
    made[rows[:counts.sum()], np.repeat(np.arange(dims[1]), counts)] = values[:counts.sum()]
    return made


def _matrix(kind, data, order):
    """(name, array) of an element."""
    if kind != _MATRIX:
        raise ValueError(f"an element of type {kind} is no matrix")
    elements = _Elements(data, order)
    if not elements.more():
        return '', np.zeros((0, 0))
    flags = int(elements.numbers()[0])
    dims = [int(n) for n in elements.numbers()]
    name, kind = bytes(elements.next()[1]).decode('ascii'), flags & 0xff
    if min(dims, default=0) < 0 or len(dims) > 32 or np.prod(dims, dtype=np.float64) > len(data) * 1e5:
        raise ValueError(f"a matrix has the dimensions {dims}")
    if kind == _CELL:
        return name, _objects(elements, dims)
    if kind == _STRUCT:
        return name, _fields(elements, dims)
    if kind == _SPARSE:
        return name, _sparse(elements, dims)
    if kind not in _CLASSES:
        raise ValueError(f"matrices of class {kind} are not known")
    values = elements.numbers()
    return name, _shaped(values.astype(_CLASSES[kind]), dims)


def load_mat(path):
    """Variables of a file by name. Structs are arrays of dicts, sparse matrices are dense."""
    if not os.path.isfile(path):
        raise RuntimeError(f"Invalid file, {path} does not exist or permission denied!")
    with open(path, 'rb') as file:
        data = file.read()
    order = {b'IM': '<', b'MI': '>'}.get(data[126:128])
    if len(data) < 128 or order is None or data[125 if order == '<' else 124] != 1:
        raise RuntimeError(f"Invalid file, {path} is no file of MATLAB version 5: it begins with {data[:20]!r}")
    found = {}
    try:
        elements = _Elements(memoryview(data)[128:], order)
        while elements.more():
            kind, content = elements.next()
            if kind == _COMPRESSED:
                kind, content = _Elements(memoryview(zlib.decompress(content)), order).next()
            name, value = _matrix(kind, content, order)
            found[name] = value
    except (ValueError, struct.error, zlib.error, IndexError, UnicodeDecodeError) as error:
        raise RuntimeError(f"Invalid file, {path} is damaged: {error}") from error
    return found
