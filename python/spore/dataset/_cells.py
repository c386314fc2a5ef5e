# SPDX-License-Identifier: Apache-2.0
"""Values of rows on their way into the engine and out of it: numbers as they are, texts as characters.

Bytes go as texts whose characters have the highest bit set, which no character of a text has; dicts as the bytes of their
pickle, with the next bit set too.
"""
import pickle

import numpy as np

from spore import _core

_BYTE = np.uint32(0x80000000)
_OBJECT = np.uint32(0x40000000)


def to_array(value):
    """A value of a row as an array."""
    return value.asnumpy() if isinstance(value, _core.Tensor) else np.asarray(value)


def encode(value):
    """(array, False) for numbers, (characters as uint32, True) for texts."""
    if isinstance(value, _core.Tensor):
        value = value.asnumpy()
    if isinstance(value, dict):
        return np.frombuffer(pickle.dumps(value), np.uint8) | (_BYTE | _OBJECT), True
    array = np.asarray(value)
    if array.dtype.kind == 'S':
        width = max(1, array.dtype.itemsize)
        characters = np.ascontiguousarray(array.astype(f'S{width}')).reshape(-1).view(np.uint8).astype(np.uint32)
        lengths = np.char.str_len(array).reshape(-1, 1)
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
                        f"{type(value).__name__}{'' if array.dtype.kind != 'O' else ' (of objects)'}: {str(value)[:80]}")
    return np.ascontiguousarray(array).reshape(array.shape), False


def _joined(values, batch):
    """Dicts, lists and tuples with arrays inside; those of a batch are put together."""
    first = values[0]
    if isinstance(first, dict):
        return {key: _joined([value[key] for value in values], batch) for key in first}
    if isinstance(first, (list, tuple)):
        return type(first)([_joined([value[i] for value in values], batch) for i in range(len(first))])
    if first is None:
        return None
    return np.stack([to_array(value) for value in values]) if batch else to_array(first)


def with_tensors(value):
    """The same with Tensors for arrays of numbers."""
    if isinstance(value, dict):
        return {key: with_tensors(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([with_tensors(inner) for inner in value])
    return _core.Tensor(value) if isinstance(value, np.ndarray) and value.dtype.kind in 'biufc' else value


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
        return _joined([pickle.loads(one.astype(np.uint8).tobytes()) for one in flat.reshape(-1, width)], bool(shape))
    if (flat & _BYTE).any():
        return flat.astype(np.uint8).view(f'S{width}').reshape(shape)
    texts = flat.view(f'<U{width}').reshape(shape)
    longest = np.char.str_len(texts).max(initial=1)
    return texts if longest == width else texts.astype(f'<U{longest}')


_core.pipeline_texts(encode, decode, with_tensors)
