# SPDX-License-Identifier: Apache-2.0
"""The DataLoader and its iterators."""
import functools
import itertools
import multiprocessing
import multiprocessing.connection
import time
import weakref

import numpy as np

from spore._core import type_name as _type_name
from spore.dataset.dataloader import _collate, _sampling, _worker
from spore.dataset.dataloader._sampling import check

_QUOTED = "when dataset is iterable style"


def _excluded(conditions, description):
    for name, given in conditions.items():
        if given:
            raise ValueError(f"{name} cannot be specified {description}.")


class DataLoader:
    """Batches of a dataset's samples.

    Args:
        dataset: an object with ``__getitem__``, or an IterableDataset.
        batch_size: samples in a batch; None: single samples.
        shuffle: whether samples come in random order.
        sampler: numbers of samples, instead of shuffle.
        batch_sampler: lists of numbers, instead of all of these.
        num_workers: processes that load; 0: this one does.
        collate_fn: makes a batch of a list of samples; default_collate if None.
        pin_memory: accepted.
        drop_last: whether a last, smaller batch is left out.
        timeout: seconds to wait for a process; 0: without end.
        worker_init_fn: called in each process with its number.
        multiprocessing_context: how processes are started: a context or its name.
        generator: a numpy.random.Generator for what is random.
        prefetch_factor: batches that each process makes ahead; 2 if None.
        persistent_workers: whether processes stay for the next epoch.
        in_order: whether batches come in the order of their numbers, whoever is done first.

    Examples:
        >>> from spore.dataset.dataloader import DataLoader
        >>> [batch.asnumpy().tolist() for batch in DataLoader([1, 2, 3], batch_size=2)]
        [[1, 2], [3]]
    """

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
                 pin_memory=False, drop_last=False, timeout=0.0, worker_init_fn=None, multiprocessing_context=None, generator=None, *,
                 prefetch_factor=None, persistent_workers=False, in_order=True):
        self._iterable = isinstance(dataset, _sampling.IterableDataset)
        if self._iterable:
            _excluded({'shuffle': shuffle, 'sampler': sampler is not None, 'batch_sampler': batch_sampler is not None}, _QUOTED)
        elif not hasattr(dataset, '__getitem__'):
            raise NotImplementedError(f"{_type_name(dataset)} should implement __getitem__ method if it is map style.")
        if batch_size is not None:
            check(batch_size, 'batch_size', int, 1)
        if shuffle is not None:
            check(shuffle, 'shuffle', bool)
        if sampler is not None and shuffle:
            raise ValueError("sampler cannot be specified with shuffle.")
        if batch_sampler is not None:
            _excluded({'batch_size': batch_size != 1, 'shuffle': shuffle, 'sampler': sampler is not None, 'drop_last': drop_last},
                      "with batch_sampler")
        check(num_workers, 'num_workers', int, 0)
        check(pin_memory, 'pin_memory', bool)
        check(drop_last, 'drop_last', bool)
        check(timeout, 'timeout', (int, float), 0)
        if generator is not None:
            check(generator, 'generator', np.random.Generator)
        if prefetch_factor is not None:
            check(prefetch_factor, 'prefetch_factor', int, 1)
        check(persistent_workers, 'persistent_workers', bool)
        check(in_order, 'in_order', bool)
        for name, given in (('multiprocessing_context', multiprocessing_context is not None), ('prefetch_factor', prefetch_factor is not None),
                            ('persistent_workers', persistent_workers)):
            if given and num_workers == 0:
                raise ValueError(f"{name} must only be specified when num_workers is greater than 0, but got: 0.")
        self.dataset, self.num_workers, self.pin_memory, self.timeout = dataset, num_workers, pin_memory, timeout
        self.worker_init_fn, self.persistent_workers, self.in_order = worker_init_fn, persistent_workers, in_order
        self.generator = generator or np.random.default_rng()
        self.prefetch_factor = prefetch_factor or (2 if num_workers else None)
        self.multiprocessing_context = multiprocessing_context
        self._set_order(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.collate_fn = collate_fn or (_collate.default_collate if self.batch_sampler is not None else _collate.default_convert)
        self._kept = None

    def _set_order(self, batch_size, shuffle, sampler, batch_sampler, drop_last):
        if sampler is None:
            if self._iterable:
                sampler = _Forever()
            else:
                sampler = _sampling.RandomSampler(self.dataset, generator=self.generator) if shuffle else \
                    _sampling.SequentialSampler(self.dataset)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = _sampling.BatchSampler(sampler, batch_size, drop_last)
        self.sampler, self.batch_sampler, self.batch_size, self.drop_last = sampler, batch_sampler, batch_size, drop_last
        self.index_sampler = sampler if batch_sampler is None else batch_sampler

    def _fetcher(self):
        return _worker.Fetcher(self.dataset, self._iterable, self.batch_sampler is not None, self.collate_fn, self.drop_last)

    def __iter__(self):
        if not self.num_workers:
            return self._one_by_one()
        if not self.persistent_workers:
            return _Processes(self).epoch()
        if self._kept is None:
            self._kept = _Processes(self)
        return self._kept.epoch()

    def _one_by_one(self):
        fetch = self._fetcher()
        for wanted in self.index_sampler:
            try:
                data = fetch(wanted)
            except StopIteration:
                return
            yield data

    def __len__(self):
        if not self._iterable:
            return len(self.index_sampler)
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


class _Forever(_sampling.Sampler):
    """For an iterable dataset: it decides itself when it ends."""

    def __iter__(self):
        return itertools.repeat(None)


class _Processes:
    """The processes of a loader, and the pipes to them."""

    def __init__(self, loader):
        self._loader = loader
        context = loader.multiprocessing_context
        if context is None or isinstance(context, str):
            context = multiprocessing.get_context(context or 'fork')
        seed = int(loader.generator.integers(0, 2**62))
        self.pipes, self.processes = [], []
        for i in range(loader.num_workers):
            ours, theirs = context.Pipe()
            facts = {'id': i, 'num_workers': loader.num_workers, 'seed': seed + i, 'dataset': loader.dataset}
            self.pipes.append(ours)
            process = context.Process(target=_worker.serve, daemon=True, args=(
                theirs, self.pipes if context.get_start_method() == 'fork' else [], functools.partial(loader._fetcher), facts,
                loader.worker_init_fn))
            process.start()
            theirs.close()
            self.processes.append(process)
        self._end = weakref.finalize(self, _end, self.pipes, self.processes)

    def close(self):
        """End them."""
        self._end()

    def epoch(self):
        """Batches of one epoch; processes that do not persist end with it."""
        try:
            for pipe in self.pipes:
                pipe.send((None, None))
            yield from _Epoch(self._loader, self.pipes, self.processes).batches()
        except BaseException:
            self.close()        # what is under way would be taken for the next epoch's
            self._loader._kept = None
            raise
        finally:
            if not self._loader.persistent_workers:
                self.close()


class _Epoch:
    """One epoch of several processes: which batch was asked of whom, and what has come."""

    def __init__(self, loader, pipes, processes):
        self._loader, self._pipes, self._processes = loader, pipes, processes
        self._wanted, self._sent = enumerate(loader.index_sampler), 0
        self._ready, self._open, self._asked = {}, set(range(len(pipes))), {}
        self._turn = itertools.cycle(range(len(pipes)))

    def _ask(self):
        """Give the next batch to the next process that still has samples; False if there is none."""
        if not self._open:
            return False
        try:
            number, wanted = next(self._wanted)
        except StopIteration:
            return False
        worker = next(i for i in self._turn if i in self._open)
        self._pipes[worker].send((number, wanted))
        self._asked[number] = worker
        return True

    def _receive(self):
        """Wait for an answer of any process, and keep it."""
        begin = time.monotonic()
        waiting = {self._pipes[worker] for worker in self._asked.values()}
        limit = self._loader.timeout or None
        for pipe in multiprocessing.connection.wait(waiting, limit):
            worker = self._pipes.index(pipe)
            try:
                number, kind, data = pipe.recv()
            except (EOFError, OSError):
                process = self._processes[worker]
                process.join(1)
                raise RuntimeError(f"DataLoader worker (pid {process.pid}) exited unexpectedly with exit code {process.exitcode}.") from None
            del self._asked[number]
            if kind == 'error':
                raise RuntimeError(f"Caught {data[0]} in DataLoader worker process {worker}: {data[1]}\n\nOriginal {data[2]}")
            if kind == 'end':
                self._open.discard(worker)
            self._ready[number] = kind, data
            return
        raise RuntimeError(f"DataLoader timed out after {time.monotonic() - begin:.1f} seconds: no worker process has given a batch")

    def batches(self):
        """What comes, in the order of numbers or as it comes."""
        for _ in range(self._loader.prefetch_factor * len(self._pipes)):
            self._ask()
        number = 0
        while self._asked or self._ready:
            if not self._loader.in_order and self._ready:
                number = next(iter(self._ready))
            if number not in self._ready:
                if number not in self._asked and self._loader.in_order:
                    number += 1
                    continue
                self._receive()
                continue
            kind, data = self._ready.pop(number)
            number += 1
            self._ask()
            if kind == 'data':
                yield data


def _end(pipes, processes):
    for pipe in pipes:
        pipe.close()
    for process in processes:
        process.join(0.2)
        if process.is_alive():
            process.terminate()
            process.join(1)
        if process.is_alive():
            process.kill()
            process.join()
        process.close()
