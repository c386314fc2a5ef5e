# SPDX-License-Identifier: Apache-2.0
"""Where a DataLoader's samples come from, and the order of their numbers."""
import types

import numpy as np
from spore._core import type_name as _type_name


def _kind(value, name, kinds, text):
    if isinstance(value, bool) and bool not in (kinds if isinstance(kinds, tuple) else (kinds,)) or not isinstance(value, kinds):
        raise TypeError(f"{name} must be {text}, but got: {_type_name(value)}")


def check(value, name, kinds, least=None):
    """Value is of a kind (a bool is no number), and at least 0 or 1 if that is asked."""
    if isinstance(value, bool) and kinds is not bool or not isinstance(value, kinds):
        raise TypeError(f"{name} must be {kinds}, but got: {_type_name(value)}.")
    if least is not None and value < least:
        raise ValueError(f"{name} must be {'positive' if least == 1 else 'non-negative'}, but got: {value}.")


class Dataset:
    """Samples by number. Subclasses define ``__getitem__``, and ``__len__`` for samplers."""

    __class_getitem__ = classmethod(types.GenericAlias)

    def __getitem__(self, index):
        raise NotImplementedError(f"{type(self).__name__} must implement __getitem__ method.")


class IterableDataset(Dataset):
    """Samples one after another. Subclasses define ``__iter__``."""

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} must implement __iter__ method.")


class TensorDataset(Dataset):
    """Samples are the slices of Tensors along their first dimension.

    Examples:
        >>> import spore
        >>> from spore.dataset.dataloader import TensorDataset
        >>> len(TensorDataset(spore.Tensor([1, 2, 3]), spore.Tensor([4, 5, 6])))
        3
    """

    def __init__(self, *tensors):
        if any(tensor.shape[0] != tensors[0].shape[0] for tensor in tensors):
            raise ValueError("All tensors must have the same size in the first dimension.")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].shape[0]


class Sampler:
    """Base of samplers: ``__iter__`` gives numbers of samples."""

    __class_getitem__ = classmethod(types.GenericAlias)

    def __init__(self, data_source=None):
        self.data_source = data_source

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} must implement __iter__ method.")


class SequentialSampler(Sampler):
    """All numbers in their order."""

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """Numbers in random order, or drawn with replacement.

    Args:
        data_source: what has a length.
        replacement: whether a number may come twice.
        num_samples: how many; all if None.
        generator: a numpy.random.Generator; a fresh one if None.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        super().__init__(data_source)
        _kind(replacement, 'replacement', bool, 'bool')
        if num_samples is not None:
            _kind(num_samples, 'num_samples', int, 'int')
            if num_samples <= 0:
                raise ValueError(f"num_samples must be a positive integer value, but got num_samples = {num_samples}")
        if generator is not None:
            _kind(generator, 'generator', np.random.Generator, 'numpy.random.Generator')
        self.replacement, self._num_samples = replacement, num_samples
        self.generator = generator or np.random.default_rng()

    @property
    def num_samples(self):
        """How many numbers come."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        count = len(self.data_source)
        if self.replacement:
            yield from self.generator.integers(0, count, self.num_samples).tolist()
            return
        left = self.num_samples
        while left > 0:
            chosen = self.generator.permutation(count)[:left].tolist()
            if not chosen:
                return
            yield from chosen
            left -= len(chosen)

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of the numbers that another sampler gives.

    Examples:
        >>> from spore.dataset.dataloader import BatchSampler
        >>> list(BatchSampler(range(5), 2, False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler, batch_size, drop_last):
        super().__init__()
        check(batch_size, 'batch_size', int, 1)
        check(drop_last, 'drop_last', bool)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        batch = []
        for number in self.sampler:
            batch.append(number)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self):
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


class DistributedSampler(Sampler):
    """The numbers of one of several processes, equally many each.

    Args:
        dataset: what has a length.
        num_replicas, rank: how many processes there are, and which this is; 1 and 0 if None.
        shuffle: whether numbers are mixed first, by seed and epoch.
        seed: of the mixing; the same in all processes.
        drop_last: whether numbers that are left over are dropped; else the first ones come again.
    """

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        super().__init__(dataset)
        for name, value in (('num_replicas', num_replicas), ('rank', rank), ('seed', seed)):
            if value is not None or name == 'seed':
                _kind(value, name, int, 'int')
        _kind(shuffle, 'shuffle', bool, 'bool')
        _kind(drop_last, 'drop_last', bool, 'bool')
        num_replicas, rank = 1 if num_replicas is None else num_replicas, 0 if rank is None else rank
        if num_replicas <= 0:
            raise ValueError(f"Invalid num_replicas: {num_replicas}, num_replicas must be greater than 0.")
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank: {rank}, rank must be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank, self.shuffle = dataset, num_replicas, rank, shuffle
        self.seed, self.drop_last, self.epoch = seed, drop_last, 0
        count = len(dataset)
        self.num_samples = count // num_replicas if drop_last and count % num_replicas else -(-count // num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        count = len(self.dataset)
        numbers = np.random.default_rng(self.seed + self.epoch).permutation(count) if self.shuffle else np.arange(count)
        numbers = np.resize(numbers, self.total_size) if count else numbers     # cut off, or from the front again
        return iter(numbers[self.rank::self.num_replicas].tolist())

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Another epoch is mixed in another way."""
        _kind(epoch, 'epoch', int, 'int')
        self.epoch = epoch
