# SPDX-License-Identifier: Apache-2.0
"""What becomes of the samples of a batch: numbers and arrays are put together as Tensors, dicts and lists element by element."""
import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence

import numpy as np

from spore import Tensor


def _rebuilt(value, parts):
    """A mapping or sequence of value's kind with other parts; a dict or list if it cannot be made."""
    try:
        if isinstance(value, MutableMapping):
            other = copy.copy(value)
            other.update(parts)
            return other
        if isinstance(value, MutableSequence):
            other = copy.copy(value)
            for i, part in enumerate(parts):
                other[i] = part
            return other
        return type(value)(parts)
    except TypeError:
        return parts


def default_convert(data):
    """Arrays and numbers of numpy as Tensors, inside of mappings and sequences, too; all else as it is.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset.dataloader import default_convert
        >>> default_convert({'a': np.arange(2), 'b': 'text'})['a'].shape
        (2,)
    """
    if isinstance(data, (np.number, np.bool_)):
        return Tensor(data)
    if isinstance(data, np.ndarray):
        return Tensor(data) if data.dtype.kind in 'biufc' else data
    if isinstance(data, Mapping):
        return _rebuilt(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple):
        parts = [default_convert(value) for value in data]
        return type(data)(*parts) if hasattr(data, '_fields') else parts
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt(data, [default_convert(value) for value in data])
    return data


def default_collate(batch):
    """A list of samples as one batch: numbers and arrays as a Tensor with a new first dimension, texts as a list, mappings and
    sequences element by element.

    Examples:
        >>> from spore.dataset.dataloader import default_collate
        >>> images, names = default_collate([(1.5, 'a'), (2.5, 'b')])
        >>> images.shape, list(names)
        ((2,), ['a', 'b'])
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return Tensor(np.stack([value.asnumpy() for value in batch]))
    if isinstance(first, np.ndarray):
        if first.dtype.kind not in 'biufc':
            raise TypeError(f"NumPy arrays with dtype {first.dtype} are not supported for collation.")
        return Tensor(np.stack(batch))
    if isinstance(first, float) and not isinstance(first, np.number):
        return Tensor(np.asarray(batch, np.float64))
    if isinstance(first, (np.bool_, np.number, int)):
        return Tensor(np.asarray(batch))
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _rebuilt(first, {key: default_collate([one[key] for one in batch]) for key in first})
    if isinstance(first, Sequence):
        if len({len(one) for one in batch}) > 1:
            raise RuntimeError("Each element in list of batch must be of equal size.")
        parts = [default_collate(values) for values in zip(*batch)]
        if isinstance(first, tuple):
            return type(first)(*parts) if hasattr(first, '_fields') else parts
        return _rebuilt(first, parts)
    raise TypeError(f"Cannot find the appropriate collate function for type {type(first)} in collate_fn_map.")
