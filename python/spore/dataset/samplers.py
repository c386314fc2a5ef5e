# SPDX-License-Identifier: Apache-2.0
"""Samplers: which rows of a source come, and in which order. What is random follows from (seed, epoch); seeds below 2**32, which
somebody has set, lead to MindSpore's choices, larger ones were drawn and differ from place to place."""
import copy
import enum

import numpy as np

from spore._core import type_name as _type_name
from spore import _core

__all__ = ['Sampler', 'BuiltinSampler', 'IterSampler', 'SequentialSampler', 'RandomSampler', 'DistributedSampler', 'SubsetSampler',
           'SubsetRandomSampler', 'WeightedRandomSampler', 'PKSampler', 'Shuffle']


class Shuffle(str, enum.Enum):
    """How the rows of files are mixed: all of them, the files, or the rows inside each file."""

    FALSE = "false"
    ADAPTIVE = "adaptive"
    GLOBAL = "global"
    PARTIAL = "partial"
    FILES = "files"
    INFILE = "infile"


def generator_of(seed, epoch):
    """numpy's random numbers for an epoch."""
    return np.random.Generator(np.random.Philox(key=[seed & 0xFFFFFFFFFFFFFFFF, epoch]))


def mixed(ids, seed):
    """These numbers in a random order."""
    ids = np.array(ids, np.int64)
    _core.mix_ids(ids, seed & 0xFFFFFFFF)
    return ids


class _Mixing:
    """The numbers 0 .. count - 1, mixed anew for each epoch: what the epoch before left, by a seed that grows by ``step``. Remembers the
    last."""

    def __init__(self):
        self._last = None

    def __call__(self, count, seed, epoch, step=1):
        last, at = np.arange(count), -1
        if self._last is not None and self._last[:2] == (count, seed) and self._last[2] <= epoch:
            at, last = self._last[2:]
        while at < epoch:
            at += 1
            last = mixed(last, seed + at * step)
        self._last = count, seed, at, last
        return last


def _of_epoch(seed, epoch):
    """A seed that was set is the same in all epochs."""
    return seed if seed < 2 ** 32 else seed + epoch


def _words(seed):
    """numpy's generator of mt19937, which draws as C++'s library does."""
    return np.random.RandomState(seed & 0xFFFFFFFF)


def _unit(words, count):
    """Numbers in [0, 1) out of two words each, the low one first."""
    pairs = words.randint(0, 2 ** 32, (count, 2), dtype=np.uint32).astype(np.float64)
    return (pairs[:, 0] + pairs[:, 1] * 2.0 ** 32) * 2.0 ** -64


def _below(words, count, wanted):
    """Numbers below count, each as likely."""
    out = np.zeros(0, np.int64)
    if count == 0:
        return out
    part = (2 ** 32 - 1) // count
    while len(out) < wanted:
        draws = words.randint(0, 2 ** 32, wanted - len(out), dtype=np.uint32).astype(np.int64)
        out = np.concatenate([out, draws[draws < count * part] // part])
    return out


def _whole(value, name):
    """Value is a whole number. Whether it is one that makes sense is told when rows are asked for, as MindSpore does."""
    if not isinstance(value, int):
        raise TypeError(f"{name} must be integer but was: {value}.")


def _flag(value, name):
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a boolean value but was: {value}.")


def _samples(num_samples):
    if num_samples is None:
        return None
    _whole(num_samples, 'num_samples')
    if num_samples < 0 or num_samples > 9223372036854775807:
        raise ValueError("num_samples exceeds the boundary between 0 and 9223372036854775807(INT64_MAX)!")
    return num_samples


class BuiltinSampler:
    """Base of spore's samplers. A child, if there is one, chooses rows first, and this one chooses among them."""

    def __init__(self, num_samples=None):
        self.child_sampler = None
        self.num_samples = _samples(num_samples)

    def add_child(self, sampler):
        """Let ``sampler`` choose first."""
        if self.child_sampler is not None:
            raise RuntimeError("Cannot add child sampler, this sampler already has a child.")
        if not hasattr(sampler, '__iter__') and not isinstance(sampler, BuiltinSampler):
            raise AttributeError(f"'{_type_name(sampler)}' object has no attribute 'get_shuffle_mode': a child is a sampler")
        self.child_sampler = sampler

    def get_child(self):
        """The sampler that chooses first, or None."""
        return self.child_sampler

    def parse(self):
        """The sampler itself: its rows are asked for when an epoch begins."""
        return self

    def is_shuffled(self):
        """Whether the order is random."""
        return self.child_sampler is not None and self.child_sampler.is_shuffled()

    def is_sharded(self):
        """Whether it chooses one part of several."""
        return self.child_sampler is not None and self.child_sampler.is_sharded()

    def get_num_samples(self):
        """At most so many rows, of this sampler and those before it; None for all."""
        child = None if self.child_sampler is None else self.child_sampler.get_num_samples()
        if child is None or self.num_samples is None:
            return self.num_samples if child is None else child
        return min(self.num_samples, child)

    def get_shuffle_mode(self):
        """Shuffle.GLOBAL if the order is random, else Shuffle.FALSE."""
        return Shuffle.GLOBAL if self.is_shuffled() else Shuffle.FALSE

    def choose(self, count, seed, epoch, labels=None):
        """Numbers of the rows of an epoch, out of ``count``."""
        if self.child_sampler is None:
            return self._limit(self._choose(count, seed, epoch, labels))
        rows = ids_of(self.child_sampler, count, seed, epoch, labels)
        inner = labels if labels is None else (lambda: np.asarray(labels())[rows])
        return rows[self._limit(self._choose(len(rows), seed, epoch, inner))]

    def _limit(self, ids):
        return ids[:self.num_samples] if self.num_samples else ids

    def _choose(self, count, seed, epoch, labels):
        raise NotImplementedError


class Sampler(BuiltinSampler):
    """Base of samplers written by users: ``__iter__`` gives row numbers; ``dataset_size`` and ``num_samples`` can be
    used in it.

    Examples:
        >>> from spore import dataset
        >>> class Backwards(dataset.Sampler):
        ...     def __iter__(self):
        ...         yield from range(self.dataset_size - 1, -1, -1)
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3], ['n'], sampler=Backwards())
        >>> [int(row['n']) for row in rows.create_dict_iterator(num_epochs=1, output_numpy=True)]
        [3, 2, 1]
    """

    def __init__(self, num_samples=None):
        super().__init__(num_samples)
        self.dataset_size = 0

    def __iter__(self):
        raise NotImplementedError("a sampler must define __iter__")

    def _choose(self, count, seed, epoch, labels):
        self.dataset_size = count
        try:
            return _as_ids(self)
        except Exception as error:
            raise RuntimeError(f"Call get_num_samples method failed: {type(error).__name__}: {error}") from error


class IterSampler(Sampler):
    """Rows that any iterable of numbers names.

    Args:
        sampler: the iterable; it is gone through once an epoch.
        num_samples: how many of its numbers are used; all if None.

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3], ['n'], sampler=dataset.IterSampler([2, 0]))
        >>> [int(row['n']) for row in rows.create_dict_iterator(num_epochs=1, output_numpy=True)]
        [3, 1]
    """

    def __init__(self, sampler, num_samples=None):
        super().__init__(len(sampler) if num_samples is None and hasattr(sampler, '__len__') else num_samples)
        self.sampler = list(sampler) if hasattr(sampler, '__next__') else sampler     # what can be gone through only once is kept

    def __iter__(self):
        return iter(self.sampler)


class SequentialSampler(BuiltinSampler):
    """Rows as they are, from ``start_index`` on."""

    def __init__(self, start_index=None, num_samples=None):
        if start_index is not None:
            _whole(start_index, 'start_index')
        super().__init__(num_samples)
        self.start_index = start_index or 0

    def _choose(self, count, seed, epoch, labels):
        if self.start_index < 0:
            raise RuntimeError(f"SequentialSampler: start_index_ must be greater than or equal to 0, but got: {self.start_index}")
        if self.start_index >= count > 0:
            raise RuntimeError(f"Invalid parameter, start_index must be less than num_rows, but got start_index: {self.start_index}, "
                               f"num_rows: {count}.")
        return np.arange(self.start_index, count, dtype=np.int64)


class RandomSampler(BuiltinSampler):
    """Rows in random order, or drawn with ``replacement``."""

    _beyond = False     # whether more rows may be drawn than there are

    def __init__(self, replacement=False, num_samples=None, shuffle=Shuffle.GLOBAL):
        _flag(replacement, 'replacement')
        super().__init__(num_samples)
        self.replacement, self._mixing = replacement, _Mixing()

    def _choose(self, count, seed, epoch, labels):
        if self.replacement:
            wanted = self.num_samples or count
            return _below(_words(seed + epoch), count, wanted if self._beyond else min(wanted, count))
        return self._mixing(count, seed, epoch)

    def is_shuffled(self):
        return True


def check_shard(num_shards, shard_id):
    """There is such a part."""
    if num_shards <= 0:
        raise RuntimeError(f"DistributedSampler: num_shards must be greater than 0, but got: {num_shards}")
    if not 0 <= shard_id < num_shards:
        raise RuntimeError(f"DistributedSampler: shard_id must be in range [0, {num_shards}), but got: {shard_id}")


class DistributedSampler(BuiltinSampler):
    """One of ``num_shards`` parts of equal size; the last rows are filled up from the front."""

    def __init__(self, num_shards, shard_id, shuffle=True, num_samples=None, offset=-1):
        _whole(num_shards, 'num_shards')
        _whole(shard_id, 'shard_id')
        if not isinstance(shuffle, (bool, Shuffle)):
            raise TypeError(f"shuffle must be a boolean value or valid shuffle mode but was: {shuffle}.")
        _whole(offset, 'offset')
        super().__init__(num_samples)
        self.num_shards, self.shard_id, self.shuffle, self.offset = num_shards, shard_id, shuffle, offset
        self._mixing = _Mixing()

    def _mixes(self):
        return self.shuffle not in (False, Shuffle.FALSE)

    def _choose(self, count, seed, epoch, labels):
        check_shard(self.num_shards, self.shard_id)
        if self.offset > self.num_shards:
            raise RuntimeError(f"DistributedSampler: offset must be no more than num_shards({self.num_shards}), but got: {self.offset}")
        # Processes that share the rows must agree on their order, also where no seed was set.
        order = self._mixing(count, seed + 1 if seed < 2 ** 32 else 2, epoch) if self._mixes() else np.arange(count)
        if count == 0:
            return order
        each = -(-count // self.num_shards)
        if self.offset >= 0:    # rows are dealt out from shard `offset` on
            places = np.arange(each + 1) * self.num_shards + self.shard_id - self.offset
            return order[places[(places >= 0) & (places < count)]]
        return order[(np.arange(each) * self.num_shards + self.shard_id) % count]

    def is_shuffled(self):
        return self._mixes() if self.child_sampler is None else super().is_shuffled()

    def is_sharded(self):
        return self.num_shards > 1 if self.child_sampler is None else super().is_sharded()

    def set_offset(self, offset):
        """Rows are dealt out from this shard on; returns the sampler."""
        self.offset = offset
        return self


class SubsetSampler(BuiltinSampler):
    """The rows of these numbers, in this order."""

    def __init__(self, indices, num_samples=None):
        if indices is None or isinstance(indices, str):
            raise TypeError(f"Unsupported sampler object of type ({type(indices)})")
        if not isinstance(indices, list):
            try:
                indices = list(indices)
            except TypeError:
                indices = [indices]
        for i, index in enumerate(indices):
            if not isinstance(index, (int, np.integer)):
                raise TypeError(f"SubsetSampler: Type of indices element must be int, but got list[{i}]: {index}, type: "
                                f"{type(index)}.")
        super().__init__(num_samples)
        self.indices = indices

    def get_num_samples(self):
        wanted = super().get_num_samples()
        return len(self.indices) if wanted is None else min(len(self.indices), wanted)

    def _choose(self, count, seed, epoch, labels):
        ids = np.asarray(self.indices, np.int64)
        bad = ids[(ids < 0) | (ids >= count)]
        if len(bad):
            raise RuntimeError(f"Sample ID ({bad[0]}) is out of bound, expected range [0, {count - 1}]")
        return ids


class SubsetRandomSampler(SubsetSampler):
    """The rows of these numbers in random order."""

    def __init__(self, indices, num_samples=None):
        super().__init__(indices, num_samples)
        self._mixing = _Mixing()

    def _choose(self, count, seed, epoch, labels):
        ids = super()._choose(count, seed, epoch, labels)
        return ids[self._mixing(len(ids), seed, epoch, step=0 if seed < 2 ** 32 else 1)]

    def is_shuffled(self):
        return True


class WeightedRandomSampler(BuiltinSampler):
    """Rows drawn with the given weights, one for each row."""

    def __init__(self, weights, num_samples=None, replacement=True):
        weights = list(weights)
        for i, weight in enumerate(weights):
            if not isinstance(weight, (int, float, np.number)):
                raise TypeError(f"type of weights element must be number, but got w[{i}]: {weight}, type: {type(weight)}.")
        _flag(replacement, 'replacement')
        super().__init__(num_samples)
        self.weights, self.replacement = weights, replacement

    def _choose(self, count, seed, epoch, labels):
        weights = np.asarray(self.weights, np.float64)
        if not len(weights):
            raise RuntimeError("WeightedRandomSampler: weights vector must not be empty")
        if weights.min() < 0:
            at = int(np.argmax(weights < 0))
            raise RuntimeError(f"WeightedRandomSampler: weights vector must not contain negative numbers, got: weights[{at}] = "
                               f"{weights[at]:f}")
        if not weights.any():
            raise RuntimeError("WeightedRandomSampler: elements of weights vector must not be all zero")
        if len(weights) > count:
            raise RuntimeError("Invalid parameter, size of sample weights must be less than or equal to num of data, otherwise might "
                               f"cause generated id out of bound or other errors, but got weight size: {len(weights)}, num of data: "
                               f"{count}")
        wanted = min(self.num_samples or count, count)
        words = _words(_of_epoch(seed, epoch))
        if not self.replacement:    # those whose exponential times, by their weights, are first; rows without weight come last
            with np.errstate(divide='ignore', invalid='ignore'):
                times = -np.log(1.0 - _unit(words, len(weights))) / weights
            return np.argsort(times, kind='stable')[:min(wanted, len(weights))]
        with np.errstate(invalid='ignore'):
            ends = np.cumsum(weights / weights.sum())
        ends[-1] = 1.0
        return np.searchsorted(ends, _unit(words, wanted))

    def is_shuffled(self):
        return True


class PKSampler(BuiltinSampler):
    """``num_val`` rows of each of ``num_class`` classes (all, if None), by the column of labels."""

    def __init__(self, num_val, num_class=None, shuffle=False, class_column='label', num_samples=None):
        _whole(num_val, 'num_val')
        if num_class is not None:
            raise NotImplementedError("Not supported to specify num_class for PKSampler.")
        _flag(shuffle, 'shuffle')
        if not isinstance(class_column, str):
            raise TypeError(f"class_column must be a str value but was: {class_column}.")
        super().__init__(num_samples)
        self.num_val, self.shuffle, self.class_column = num_val, shuffle, class_column

    def _choose(self, count, seed, epoch, labels):
        if self.num_val <= 0:
            raise RuntimeError(f"PKSampler: num_val must be greater than 0, but got: {self.num_val}")
        if labels is None:
            raise RuntimeError("PKSampler needs a source whose labels are known without reading the rows, such as "
                               "ImageFolderDataset or MnistDataset")
        labels = np.asarray(labels())
        draws = generator_of(seed, epoch)
        chosen = []
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            chosen.append((draws.permutation(rows) if self.shuffle else rows)[:self.num_val])
        ids = np.concatenate(chosen) if chosen else np.zeros(0, np.int64)
        return draws.permutation(ids) if self.shuffle else ids

    def is_shuffled(self):
        return self.shuffle or super().is_shuffled()


def _as_ids(values):
    if not hasattr(values, '__iter__') and hasattr(values, '__len__'):      # the old way to go through something, which has no end
        values = [values[i] for i in range(len(values))]
    ids = np.asarray(list(values))
    if ids.size == 0:
        return np.zeros(0, np.int64)
    if ids.ndim == 2 and ids.shape[1] == 1:
        ids = ids[:, 0]
    if ids.ndim != 1 or ids.dtype.kind not in 'iu':
        raise RuntimeError(f"Python sampler should return index of type integer, but got: {ids[:4]!r}")
    return ids.astype(np.int64)


def ids_of(sampler, count, seed, epoch, labels=None):
    """Row numbers of an epoch by a sampler of any kind: spore's, or anything that can be iterated over."""
    if isinstance(sampler, BuiltinSampler):
        ids = sampler.choose(count, seed, epoch, labels)
    else:
        ids = _as_ids(sampler)
    return np.ascontiguousarray(ids, np.int64)


def shuffle_of(sampler):
    """(True, shards, shard, rows) if a sampler does over MindRecord what ``shuffle=True`` does, else None."""
    if type(sampler) is RandomSampler and not sampler.replacement and sampler.child_sampler is None:
        return True, 1, 0, sampler.num_samples or 0
    if type(sampler) is DistributedSampler and sampler._mixes() and sampler.offset < 0 and sampler.child_sampler is None:
        check_shard(sampler.num_shards, sampler.shard_id)
        return True, sampler.num_shards, sampler.shard_id, sampler.num_samples or 0
    return None


def for_records(sampler, count):
    """A sampler as MindDataset takes it, which is less strict: numbers of rows are taken modulo their ``count``, a start behind the
    last row means none, and with replacement more rows can be drawn than there are."""
    if not isinstance(sampler, BuiltinSampler) or count == 0:
        return sampler
    sampler = copy.copy(sampler)
    if sampler.child_sampler is not None:
        sampler.child_sampler = for_records(sampler.child_sampler, count)
        return sampler
    if isinstance(sampler, SubsetSampler):
        sampler.indices = (np.asarray(sampler.indices, np.int64).astype(np.uint64) % np.uint64(count)).astype(np.int64)
    elif isinstance(sampler, SequentialSampler):
        start, wanted = sampler.start_index, sampler.num_samples
        return SubsetSampler(list(range(max(0, start), count if not wanted else max(0, min(count, start + wanted)))))
    elif isinstance(sampler, RandomSampler):
        sampler._beyond = True
    return sampler
