# SPDX-License-Identifier: Apache-2.0
"""The DataLoader: batches, samplers, processes; what it leaves behind. Values and messages as MindSpore 2.10 has them."""
import gc
import multiprocessing
import os
import signal
import time

import numpy as np
import pytest

import spore
from spore.dataset import dataloader as dl


class Squares(dl.Dataset):
    """Rows of every kind."""

    def __init__(self, n):
        self.n = n

    def __getitem__(self, i):
        return np.full(2, i, np.float32), i * i, f'x{i}', {'half': i / 2}

    def __len__(self):
        return self.n


class Count(dl.IterableDataset):
    """Numbers, shared among the processes."""

    def __iter__(self):
        info = dl.get_worker_info()
        return iter(range(0, 10) if info is None else range(info.id, 10, info.num_workers))


def numbers(loader):
    return [batch.asnumpy().tolist() for batch in loader]


def test_batches():
    first, _, last = dl.DataLoader(Squares(5), 2)
    assert first[0].shape == (2, 2) and first[0].dtype == spore.float32
    assert first[1].asnumpy().tolist() == [0, 1] and list(first[2]) == ['x0', 'x1']
    assert first[3]['half'].dtype == spore.float64 and last[1].asnumpy().tolist() == [16]
    assert len(dl.DataLoader(Squares(5), 2)) == 3 and len(dl.DataLoader(Squares(5), 2, drop_last=True)) == 2
    assert numbers(dl.DataLoader(range(3))) == [[0], [1], [2]] and list(dl.DataLoader(range(3), None)) == [0, 1, 2]
    assert numbers(dl.DataLoader(range(9), batch_sampler=[[8, 1], [0]])) == [[8, 1], [0]]
    assert sorted(sum(numbers(dl.DataLoader(range(9), 4, shuffle=True)), [])) == list(range(9))
    a, b = (numbers(dl.DataLoader(range(9), 4, shuffle=True, generator=np.random.default_rng(3))) for _ in range(2))
    assert a == b
    assert numbers(dl.DataLoader(Count(), 4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [list(dl.DistributedSampler(range(7), 3, r, shuffle=False)) for r in range(3)] == [[0, 3, 6], [1, 4, 0], [2, 5, 1]]
    assert dl.TensorDataset(spore.Tensor([1, 2]), spore.Tensor([3, 4]))[1] == (2, 4)


@pytest.mark.parametrize('workers', [1, 3])
def test_processes(workers):
    loader = dl.DataLoader(range(11), 2, num_workers=workers)
    assert numbers(loader) == numbers(loader) == numbers(dl.DataLoader(range(11), 2))
    loader = dl.DataLoader(range(7), 2, num_workers=workers, persistent_workers=True)
    assert numbers(loader) == numbers(loader) == [[0, 1], [2, 3], [4, 5], [6]]
    assert sorted(sum(numbers(dl.DataLoader(range(11), 2, num_workers=workers, in_order=False)), [])) == list(range(11))
    assert sorted(sum(numbers(dl.DataLoader(Count(), 3, num_workers=workers)), [])) == list(range(10))


def test_what_goes_wrong_in_a_process():
    class Bad:
        def __getitem__(self, i):
            if i == 2:
                raise KeyError('two')
            if i == 3:
                os.kill(os.getpid(), signal.SIGKILL)
            if i == 4:
                time.sleep(60)
            return i
    with pytest.raises(RuntimeError, match='(?s)Caught KeyError in DataLoader worker process 0.*two.*in __getitem__'):
        list(dl.DataLoader(Bad(), sampler=[0, 2], num_workers=1))
    with pytest.raises(RuntimeError, match='exited unexpectedly with exit code -9'):
        list(dl.DataLoader(Bad(), sampler=[0, 3], num_workers=1))
    with pytest.raises(RuntimeError, match='timed out'):
        list(dl.DataLoader(Bad(), sampler=[0, 4], num_workers=1, timeout=0.3))


@pytest.mark.parametrize('arguments, kind, words', [
    ({'batch_size': 0}, ValueError, 'batch_size must be positive, but got: 0.'),
    ({'batch_size': 'a'}, TypeError, "batch_size must be <class 'int'>, but got: str."),
    ({'shuffle': True, 'sampler': [0]}, ValueError, 'sampler cannot be specified with shuffle.'),
    ({'batch_sampler': [[0]], 'batch_size': 3}, ValueError, 'batch_size cannot be specified with batch_sampler.'),
    ({'num_workers': -1}, ValueError, 'num_workers must be non-negative, but got: -1.'),
    ({'prefetch_factor': 2}, ValueError, 'prefetch_factor must only be specified when num_workers is greater than 0'),
])
def test_wrong_arguments(arguments, kind, words):
    with pytest.raises(kind) as caught:
        dl.DataLoader([1, 2], **arguments)
    assert words in str(caught.value)


def test_nothing_is_left():
    gc.collect()
    before = len(os.listdir('/proc/self/fd')), multiprocessing.active_children()
    for rows in (iter(dl.DataLoader(range(100), 2, num_workers=2)), iter(dl.DataLoader(range(9), num_workers=2, persistent_workers=True))):
        next(rows)
        del rows
    gc.collect()
    assert (len(os.listdir('/proc/self/fd')), multiprocessing.active_children()) == before
