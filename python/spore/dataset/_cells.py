# SPDX-License-Identifier: Apache-2.0
"""Values of rows on their way into the engine and out of it: numbers as they are, texts as characters.

Bytes go as texts whose characters have the highest bit set, which no character of a text has; dicts as the bytes of their
pickle, with the next bit set too.
"""
import pickle

import numpy as np

from spore._core import type_name as _type_name
from spore import _core

_BYTE = np.uint32(0x80000000)
_OBJECT = np.uint32(0x40000000)


class Blob(bytes):
    """Bytes of a file that stay as they are: a vector of one element, which keeps zero bytes at its end."""


def to_array(value):
    """A value of a row as an array."""
    return value.asnumpy() if isinstance(value, _core.Tensor) else np.asarray(value)


def encode(value):
    """(array, False) for numbers, (characters as uint32, True) for texts."""
    if isinstance(value, _core.Tensor):
        value = value.asnumpy()
    if isinstance(value, dict):
        return np.frombuffer(pickle.dumps(value), np.uint8) | (_BYTE | _OBJECT), True
    if isinstance(value, Blob):
        return (np.frombuffer(value or b'\0', np.uint8) | _BYTE).reshape(1, -1), True
    array = np.asarray(value)
    if array.dtype.kind == 'S':
        lengths = np.char.str_len(array).reshape(-1, 1)
        width = int(lengths.max(initial=1))
        characters = np.ascontiguousarray(array.astype(f'S{width}')).reshape(-1).view(np.uint8).astype(np.uint32)
        characters = characters.reshape(-1, width)
        characters |= np.where(np.arange(width) < lengths, _BYTE, np.uint32(0))
        return characters.reshape(array.shape + (width,)), True
    if array.dtype.kind == 'U':
        width = max(1, array.dtype.itemsize // 4)
        characters = np.ascontiguousarray(array.astype(f'<U{width}')).reshape(-1).view(np.uint32)
        return characters.reshape(array.shape + (width,)), True
    if array.dtype.kind not in 'biufc' and array.dtype.name != 'bfloat16':
        raise TypeError("Failed to create tensor from numpy array, data type is unknown. Data type of the input or its converted Numpy "
                        "array is expected to be a number, a text or bytes: a value of a row must be an array of numbers or texts, but got "
                        f"{_type_name(value)}{'' if array.dtype.kind != 'O' else ' (of objects)'}: {str(value)[:80]}")
    return np.ascontiguousarray(array).reshape(array.shape), False


_PLAIN = (int, float, str, np.ndarray, np.bool_, np.str_, np.bytes_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16,
          np.uint32, np.uint64, np.float16, np.float32, np.float64, np.complex64, np.complex128)


def _keys_agree(dicts):
    first = dicts[0]
    for other in dicts[1:]:
        if len(other) != len(first):
            raise RuntimeError("Failed to create a batch since number of key/value pairs in dictionaries do not match. First row: "
                               f"{len(first)}, current row: {len(other)}")
        unknown = next((key for key in other if key not in first), None)
        if unknown is not None:
            raise RuntimeError("Python dictionary keys do not match when creating a batch: "
                               f"{unknown} was not found in previous rows.")


def batched(dicts):
    """One dict of several: the values under a key as one array."""
    _keys_agree(dicts)
    made = {}
    for key in dicts[0]:
        try:
            made[key] = np.array([to_array(d[key]) if isinstance(d[key], _core.Tensor) else d[key] for d in dicts])
        except ValueError as error:
            what = "Python dictionary" if len(dicts) > 1 else "data in type of Python dictionary"
            raise RuntimeError(f"Failed to batch {what}: ValueError: {error}") from None
        if made[key].dtype.kind == 'O' and len(dicts) > 1:
            raise RuntimeError("Batch: failed to create a NumPy array with primitive types for the dictionary objects, key: "
                               f"'{key}'; write a 'per_batch_map' function that makes what is wanted of them")
    return made


def listed(dicts):
    """One dict of several: the values under a key as a list, which is what MindSpore does behind a per_batch_map."""
    _keys_agree(dicts)
    return batched(dicts) if len(dicts) == 1 else {key: [d[key] for d in dicts] for key in dicts[0]}


def shown(value, convert):
    """The value of a dict as the reader of the dataset gets it: numbers, texts and arrays are converted, wherever they are in
    dicts, lists and tuples; everything else stays what it is."""
    if isinstance(value, _PLAIN):
        array = np.asarray(value)
        if array.dtype.kind not in 'biufcUS':
            raise TypeError(f"A NumPy array of unsupported type detected: {array.dtype}.\nSupported types are numbers, texts and bytes.")
        return convert(array)
    if isinstance(value, dict):
        return {key: shown(inner, convert) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(shown(inner, convert) for inner in value)
    return value


def with_arrays(value):
    """A dict for a reader of arrays."""
    return shown(value, lambda array: array)


def with_tensors(value):
    """The same for a reader of Tensors; texts stay arrays."""
    return shown(value, lambda array: array if array.dtype.kind in 'US' else _core.Tensor.from_numpy(array))


def _unpickled(flat, shape):
    """The dict in a cell; of a batch of cells, what `batched` makes of them."""
    if not shape:
        return pickle.loads(flat.astype(np.uint8).tobytes())
    rows = flat.reshape(shape[0], -1)
    if not (rows[:, 0] & _OBJECT).all():
        raise RuntimeError("Cannot batch tensors with different types: some rows have a dict in a column, others a text")
    return batched([_unpickled(row, shape[1:]) for row in rows])


def decode(characters):
    """Texts from characters."""
    shape, width = characters.shape[:-1], characters.shape[-1]
    if width == 0:
        return np.zeros(shape, '<U1')
    if not shape and characters[0] < _OBJECT:       # one text, the usual case: three times as fast
        text = characters.tobytes().decode('utf-32-le', 'surrogatepass').rstrip('\0')
        return np.array(text, f'<U{max(1, len(text))}')
    flat = np.ascontiguousarray(characters).reshape(-1)
    if flat[0] & _BYTE and flat[0] & _OBJECT:
        return _unpickled(flat, shape)
    if (flat & _BYTE).any():
        return flat.astype(np.uint8).view(f'S{width}').reshape(shape)
    texts = flat.view(f'<U{width}').reshape(shape)
    longest = np.char.str_len(texts).max(initial=1)
    return texts if longest == width else texts.astype(f'<U{longest}')


_core.pipeline_texts(encode, decode, with_arrays, with_tensors)
