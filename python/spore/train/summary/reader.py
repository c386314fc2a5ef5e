# SPDX-License-Identifier: Apache-2.0
"""Event files read back, those for TensorBoard and those for MindInsight."""
import os
import struct
from dataclasses import dataclass

import numpy as np

from spore.train.summary._events import _checksum

__all__ = ['SummaryValue', 'read_summary']

_MOST = 1 << 30          # bytes of a record


@dataclass
class SummaryValue:
    """A value of an event file.

    ``kind`` is 'scalar' (``value`` a float), 'image' (the bytes of a PNG file), 'histogram' (a dict with min, max, count, limits and
    counts), 'text' (a str), 'hparams' (a dict of settings; empty but for the start of a training), 'tensor' (an array) or 'graph' (a list
    of (name, operator, inputs)).

    Examples:
        >>> from spore import train
        >>> train.SummaryValue(step=1, wall_time=0.0, tag='loss', kind='scalar', value=0.5).value
        0.5
    """
    step: int
    wall_time: float
    tag: str
    kind: str
    value: object


def _fields(data):
    """(number, wire type, value) of a message: ints, or bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
        else:
            if kind == 2:
                size, at = _varint(data, at)
            elif kind in (1, 5):
                size = 8 if kind == 1 else 4
            else:
                raise ValueError(f"a field of wire type {kind}")
            if at + size > len(data):
                raise ValueError("a field that is longer than its message")
            value, at = data[at:at + size], at + size
        yield key >> 3, kind, value


def _varint(data, at):
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a number without end")


def _one(data):
    """The last value of every field."""
    return {number: value for number, _, value in _fields(data)}


def _all(data, wanted):
    return [value for number, _, value in _fields(data) if number == wanted]


def _double(data, default=0.0):
    return struct.unpack('<d', data)[0] if data else default


def _doubles(data, field):
    """Numbers that stand in one piece, or one by one."""
    return np.frombuffer(b''.join(_all(data, field)), '<f8').tolist()


def _histogram(data):
    parts = _one(data)
    return {'min': _double(parts.get(1)), 'max': _double(parts.get(2)), 'count': int(_double(parts.get(3))),
            'limits': _doubles(data, 6), 'counts': _doubles(data, 7)}


def _mindinsight_histogram(data):
    parts, buckets = _one(data), [_one(bucket) for bucket in _all(data, 1)]
    return {'min': _double(parts.get(6)), 'max': _double(parts.get(5)), 'count': parts.get(8, 0),
            'limits': [_double(b.get(1)) + _double(b.get(2)) for b in buckets], 'counts': [float(b.get(3, 0)) for b in buckets]}


def _graph(data):
    nodes = []
    for node in _all(data, 1):
        parts = _one(node)
        nodes.append((parts[1].decode(), parts.get(2, b'').decode(), [name.decode() for name in _all(node, 3)]))
    return nodes


def _settings(content):
    found = {}
    for entry in _all(_one(content).get(3, b''), 1):
        parts = _one(entry)
        value = next(_fields(parts.get(2, b'')), (0, 0, None))
        found[parts[1].decode()] = {2: lambda v: _double(v), 3: lambda v: v.decode(), 4: bool}.get(value[0], lambda v: None)(value[2])
    return found


def _value(data, is_mindinsight):
    """(tag, kind, value) of a value of a summary."""
    parts = _one(data)
    tag = parts.get(1, b'').decode()
    number = 3 if is_mindinsight else 2
    if number in parts:
        return tag, 'scalar', struct.unpack('<f', parts[number])[0]
    if 4 in parts:
        return tag, 'image', _one(parts[4]).get(4, b'')
    if is_mindinsight and 9 in parts:
        return tag, 'histogram', _mindinsight_histogram(parts[9])
    if 5 in parts:
        return tag, 'histogram', _histogram(parts[5])
    plugin = {} if is_mindinsight else _one(_one(parts.get(9, b'')).get(1, b''))
    if plugin.get(1) == b'hparams':
        return tag, 'hparams', _settings(plugin.get(2, b''))
    if plugin.get(1) == b'text':
        return tag, 'text', b'\n'.join(_all(parts.get(8, b''), 8)).decode()
    return tag, 'tensor', _tensor(parts.get(8, b'')) if is_mindinsight else None


def _tensor(data):
    dims = _all(data, 1)
    return np.frombuffer(b''.join(_all(data, 3)), '<f4').reshape(dims)


def _messages(path):
    """The messages of a file; one that is being written may end within a record."""
    with open(path, 'rb') as file:
        while True:
            head = file.read(12)
            if len(head) < 12:
                return
            size = struct.unpack('<Q', head[:8])[0]
            if _checksum(head[:8]) != head[8:] or size > _MOST:
                raise ValueError(f"{path}: not an event file, or a damaged one: the length of a record at byte {file.tell() - 12} has a wrong checksum")
            message = file.read(size)
            check = file.read(4)
            if len(message) < size or len(check) < 4:
                return
            if _checksum(message) != check:
                raise ValueError(f"{path}: a damaged event file: the record at byte {file.tell() - size - 16} has a wrong checksum")
            yield message


def _files(path):
    if not os.path.isdir(path):
        return [path]
    found = sorted(os.path.join(path, name) for name in os.listdir(path) if '.out.tfevents.' in name or 'tfevents' in name)
    return found or sorted(os.path.join(path, name) for name in os.listdir(path) if '.out.events.summary.' in name and not name.endswith('_lineage'))


def read_summary(path):
    """The values of event files, in the order in which they were written.

    Args:
        path: an event file, or a folder: its files for TensorBoard, or, if there are none, those for MindInsight.

    Returns:
        A list of SummaryValue.

    Examples:
        >>> import tempfile
        >>> from spore import Tensor, train
        >>> folder = tempfile.mkdtemp()
        >>> with train.SummaryRecord(folder) as record:
        ...     record.add_value('scalar', 'loss', Tensor(0.5))
        ...     record.record(step=1)
        ...
        True
        >>> [(one.step, one.tag, one.value) for one in train.read_summary(folder)]
        [(1, 'loss', 0.5)]
    """
    found = []
    for one in _files(os.fspath(path)):
        is_mindinsight = False
        for message in _messages(one):
            try:
                parts = _one(message)
                wall, step = _double(parts.get(1)), parts.get(2, 0)
                if 3 in parts:
                    is_mindinsight = parts[3].startswith(b'MindSpore')
                if 4 in parts and not is_mindinsight:
                    found.append(SummaryValue(step, wall, '', 'graph', _graph(parts[4])))
                for value in _all(parts.get(5, b''), 1):
                    found.append(SummaryValue(step, wall, *_value(value, is_mindinsight)))
            except (ValueError, KeyError, TypeError, struct.error) as error:
                raise ValueError(f"{one}: a message that is no event: {error}") from None
    return found
