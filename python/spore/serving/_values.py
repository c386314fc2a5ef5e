# SPDX-License-Identifier: Apache-2.0
"""Values of instances on the wire: MindSpore Serving's messages (protobuf) and JSON, and what stages and clients see of them."""
import base64
import binascii
import json

import numpy as np

from spore.train._messages import _varint

# By their numbers in messages; 13 is a text, 14 bytes.
DTYPES = (None, np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.float64)
STRING, BYTES = 13, 14
_NUMBERS = {np.dtype(t): i for i, t in enumerate(DTYPES) if t is not None}
_NAMES = {'fp16': np.float16, 'fp32': np.float32, 'fp64': np.float64, 'bool': np.bool_,
          **{str(np.dtype(t)): t for t in DTYPES[2:]}}


class RequestError(ValueError):
    """The request is not what the protocol or the method wants."""


# --- protobuf ---------------------------------------------------------------------------------------------------------

def field(number, value):
    """A field of a message: an int, a text, or bytes (of a message, too)."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    value = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _read_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise RequestError('the message is cut')
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of each field; values are ints, or views of the message's bytes."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _read_varint(data, at)
        elif kind == 2:
            n, at = _read_varint(data, at)
            value, at = data[at:at + n], at + n
            if len(value) != n:
                raise RequestError('the message is cut')
        elif kind in (1, 5):
            n = 8 if kind == 1 else 4
            value, at = int.from_bytes(data[at:at + n], 'little'), at + n
        else:
            raise RequestError(f'a field of the message is of type {kind}, which is not known')
        yield key >> 3, value


def _dims(data):
    dims = []
    for number, value in fields(data):
        if number != 1:
            continue
        if isinstance(value, int):
            dims.append(value)
            continue
        at = 0
        while at < len(value):
            d, at = _read_varint(value, at)
            dims.append(d)
    return dims


def read_tensor(data):
    """A Tensor message as a stage sees it: numpy array, or str; bytes as an array of uint8."""
    dims, dtype, raw, texts = [], 0, b'', []
    for number, value in fields(data):
        if number == 1:
            dims = _dims(value)
        elif number == 2:
            dtype = value
        elif number == 3:
            raw = value
        elif number == 4:
            texts.append(bytes(value))
        elif number == 5:
            raise RequestError('Tensor check failed: shared memory is not taken')
    if dtype in (STRING, BYTES):
        if len(texts) != 1 or dims not in ([], [1]):
            raise RequestError('Tensor check failed: bytes or string type has one value, and the shape () or (1,)')
        return texts[0].decode() if dtype == STRING else np.frombuffer(texts[0], np.uint8)
    if not 0 < dtype < len(DTYPES):
        raise RequestError(f'Tensor check failed: {dtype} is no data type')
    wanted = np.dtype(DTYPES[dtype])
    count = 1
    for d in dims:
        count *= d
    if count * wanted.itemsize != len(raw):
        raise RequestError(f'Tensor check failed: it has {len(raw)} bytes, its shape {tuple(dims)} and type {wanted} need {count * wanted.itemsize}')
    return np.frombuffer(raw, wanted).reshape(dims)


def write_tensor(value, scalars_as_lists=False):
    """A value that a stage gave, or a client gives, as a Tensor message. scalars_as_lists: numbers of Python have the shape (1,), as clients send them."""
    if isinstance(value, (str, bytes)):
        raw = value.encode() if isinstance(value, str) else value
        return field(1, field(1, _varint(1))) + field(2, STRING if isinstance(value, str) else BYTES) + field(4, raw)
    array = np.asarray(value if not scalars_as_lists or isinstance(value, (np.ndarray, np.number)) else (value,))
    number = _NUMBERS.get(array.dtype.newbyteorder('='))
    if number is None:
        raise RequestError(f'Unknown data type {array.dtype}')
    array = np.ascontiguousarray(array).astype(array.dtype.newbyteorder('<'), copy=False) if array.ndim else array
    return field(1, field(1, b''.join(_varint(d) for d in array.shape)) if array.ndim else b'') + field(2, number) + field(3, array.tobytes())


def read_instance(data):
    """{name: value} of an Instance message."""
    items = {}
    for number, entry in fields(data):
        if number == 2:
            raise RequestError('output buffers in shared memory are not taken')
        if number != 1:
            continue
        name, tensor = '', b''
        for part, value in fields(entry):
            if part == 1:
                name = bytes(value).decode()
            elif part == 2:
                tensor = value
        items[name] = tensor
    return {name: read_tensor(tensor) for name, tensor in items.items()}


def write_instance(items, **how):
    return b''.join(field(1, field(1, name) + field(2, write_tensor(value, **how))) for name, value in items.items())


# --- JSON --------------------------------------------------------------------------------------------------------------

def _from_b64(value, name):
    unknown = [key for key in value if key not in ('b64', 'type', 'shape')]
    if unknown or not isinstance(value.get('b64'), str):
        raise RequestError(f"Parser request failed, input '{name}': an object has the keys b64, type and shape")
    try:
        raw = base64.b64decode(value['b64'], validate=True)
    except (binascii.Error, ValueError):
        raise RequestError(f"Parser request failed, illegal b64 encode string of input '{name}'") from None
    kind = value.get('type', 'bytes')
    if kind in ('str', 'bytes'):
        return raw.decode() if kind == 'str' else np.frombuffer(raw, np.uint8)
    if kind not in _NAMES:
        raise RequestError(f"Parser request failed, input '{name}' has the type '{kind}', which is not known")
    shape = value.get('shape', [])
    dtype = np.dtype(_NAMES[kind])
    if len(raw) != dtype.itemsize * int(np.prod(shape, dtype=np.int64)):
        raise RequestError(f"Parser request failed, size is not matched: input '{name}' has {len(raw)} bytes, its shape {tuple(shape)} and type {dtype} need another number")
    return np.frombuffer(raw, dtype).reshape(shape)


def _flat(value, name):
    """(shape, leaves) of nested arrays."""
    if not isinstance(value, list):
        return (), [value]
    if not value:
        raise RequestError(f"Parser request failed, invalid json array: input '{name}' has an empty one")
    parts = [_flat(v, name) for v in value]
    if any(shape != parts[0][0] for shape, _ in parts):
        raise RequestError(f"Parser request failed, invalid json array: the arrays of input '{name}' are not of equal lengths")
    return (len(value), *parts[0][0]), [leaf for _, leaves in parts for leaf in leaves]


def from_json(value, name):
    """A JSON value as a stage sees it."""
    if isinstance(value, dict):
        return _from_b64(value, name)
    if isinstance(value, str):
        return value
    shape, leaves = _flat(value, name)
    kinds = {type(leaf) for leaf in leaves}
    if kinds <= {str, dict} and len(leaves) == 1:
        return from_json(leaves[0], name)
    if len(kinds) != 1 or not kinds <= {bool, int, float}:
        raise RequestError(f"Parser request failed, elements type is not equal: input '{name}' must have numbers of one kind, or true and false")
    kind = kinds.pop()
    if kind is int and any(not -2**31 <= leaf < 2**31 for leaf in leaves):
        return np.array(leaves, np.int64).reshape(shape)
    return np.array(leaves, {bool: np.bool_, int: np.int32, float: np.float32}[kind]).reshape(shape)


def read_json(body):
    """Instances of a request: [{name: value}]"""
    try:
        request = json.loads(body)
    except ValueError as error:
        raise RequestError(f'Parser request failed, Illegal JSON format: {error}') from None
    if not isinstance(request, dict) or list(request) != ['instances']:
        raise RequestError("Parser request failed, key 'instances' expects to exist once, and nothing else")
    instances = request['instances']
    instances = [instances] if isinstance(instances, dict) else instances
    if not isinstance(instances, list) or not instances or not all(isinstance(i, dict) for i in instances):
        raise RequestError('Parser request failed, instances are one object or an array of objects, {"NAME OF AN INPUT": VALUE}')
    return [{name: from_json(value, name) for name, value in instance.items()} for instance in instances]


def to_json(value):
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return {'b64': base64.b64encode(value).decode()}
    array = np.asarray(value)
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    if array.dtype == np.float32: # as short as they can be and still read as the same
        listed = array.astype(object).reshape(-1)
        listed[:] = [float(str(v)) for v in array.reshape(-1)]
        return listed.reshape(array.shape).tolist()
    return array.tolist()
