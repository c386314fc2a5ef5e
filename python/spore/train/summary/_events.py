# SPDX-License-Identifier: Apache-2.0
"""Event files as MindSpore's viewer reads them. A file is a row of records: length (8 bytes), its checksum, the message, its
checksum; a message is an Event of Protocol Buffers: wall time (field 1), step (2), version (3) or a summary (5) of values. A value
has a tag (1) and a number (3), a picture (4), a Tensor (8) or a histogram (9)."""
import struct

import numpy as np

from spore._draw import png
from spore.train._messages import _varint

_KINDS = {'bool': 1, 'int8': 2, 'int16': 3, 'int32': 4, 'int64': 5, 'uint8': 6, 'uint16': 7, 'uint32': 8, 'uint64': 9, 'float16': 10,
          'float32': 11, 'float64': 12}


# --- messages --------------------------------------------------------------------------------------------------------

def _number(field, value):
    return _varint(field << 3) + _varint(int(value))


def _double(field, value):
    return _varint(field << 3 | 1) + struct.pack('<d', value)


def _bytes(field, value):
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def event(wall_time, step=None, version=None, summary=None, graph=None):
    """An Event."""
    out = _double(1, wall_time)
    if step is not None:
        out += _number(2, step & (1 << 64) - 1)
    if version is not None:
        out += _bytes(3, version.encode())
    if graph is not None:
        out += _bytes(4, graph)
    return out if summary is None else out + _bytes(5, summary)


def value(tag, content):
    """A value of a summary."""
    return _bytes(1, _bytes(1, tag.encode()) + content)


def scalar(array):
    """A number."""
    return _varint(3 << 3 | 5) + struct.pack('<f', float(array.reshape(-1)[0]))


def tensor(array):
    """A Tensor, its elements as float32."""
    dims = b''.join(_number(1, n) for n in array.shape)
    elements = np.ascontiguousarray(array.astype(np.float32)).tobytes()
    return _bytes(8, dims + _number(2, _KINDS.get(str(array.dtype), 11)) + _bytes(3, elements))


def histogram(array):
    """How often elements fall into intervals of equal width; what is not finite is counted apart."""
    flat = array.reshape(-1)
    flat = flat.astype(np.int32) if flat.dtype == np.bool_ else flat
    finite = flat[np.isfinite(flat)]
    out = b''
    if finite.size:
        bins = _calc_histogram_bins(finite.size)
        if finite.dtype.kind in 'iu' and finite.min() < finite.max():   # integers get integer borders
            bins = np.linspace(finite.min(), finite.max(), bins + 1, dtype=finite.dtype)
        counts, edges = np.histogram(finite, bins=bins)
        for count, left, right in zip(counts, edges, edges[1:]):
            out += _bytes(1, _double(1, float(left)) + _double(2, float(right - left)) + _number(3, count))
    out += _number(2, np.isnan(flat).sum()) + _number(3, np.isposinf(flat).sum()) + _number(4, np.isneginf(flat).sum())
    if finite.size:
        out += _double(5, float(finite.max())) + _double(6, float(finite.min())) + _double(7, float(finite.sum()))
    return _bytes(9, out + _number(8, flat.size))


def _calc_histogram_bins(count):
    """As many intervals as the viewer shows for so many elements."""
    if count <= 5:
        return 2
    if count <= 10:
        return 3
    return count // 10 + 1 if count <= 880 else 90


def pixels(array):
    """A picture of (batch, channels, height, width) as bytes of height, width and three colours, the batch side by side."""
    if array.ndim != 4 or array.shape[1] not in (1, 3):
        raise ValueError(f"a picture must have the shape (batch, 1 or 3, height, width), but has {array.shape}")
    data = array.astype(np.float32)
    low, high = float(data.min()), float(data.max())
    data = data * 255 if low >= 0 and high <= 1 else (data - low) * 255 / (high - low + 1)
    if data.shape[1] == 1:
        data = np.repeat(data, 3, 1)
    return np.ascontiguousarray(np.concatenate(list(data.transpose(0, 2, 3, 1)), 1).astype(np.uint8))


def image(array):
    """A picture; see pixels."""
    wide = pixels(array)
    return _bytes(4, _number(1, wide.shape[0]) + _number(2, wide.shape[1]) + _number(3, 3) + _bytes(4, png(wide)))


# --- records ---------------------------------------------------------------------------------------------------------

def _table():
    found = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        found.append(byte)
    return found


_CRC = _table()


def _checksum(data):
    """CRC-32C, turned and shifted as the files have it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack('<I', ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(message):
    """A message as it stands in a file."""
    length = struct.pack('<Q', len(message))
    return length + _checksum(length) + message + _checksum(message)


WRITERS = {'scalar': scalar, 'tensor': tensor, 'image': image, 'histogram': histogram}
