# SPDX-License-Identifier: Apache-2.0
"""Processes of a DataLoader: each answers requests for batches over a pipe of its own, and ends when that is closed."""
import random
import traceback

import numpy as np

_info = None


class WorkerInfo:
    """What a process knows of itself: id, num_workers, seed, dataset."""

    def __init__(self, **facts):
        self.__dict__.update(facts)

    def __repr__(self):
        return f"WorkerInfo({', '.join(f'{name}={value}' for name, value in self.__dict__.items())})"


def get_worker_info():
    """The WorkerInfo of this process; None in the main process."""
    return _info


class Fetcher:
    """Makes what a number or a list of numbers asks for. Of an iterable dataset only the length of the list counts."""

    def __init__(self, dataset, iterable, batches, collate, drop_last):
        self._dataset, self._batches, self._collate, self._drop_last = dataset, batches, collate, drop_last
        self._rows = iter(dataset) if iterable else None

    def __call__(self, wanted):
        if self._rows is None:
            return self._collate([self._dataset[i] for i in wanted] if self._batches else self._dataset[wanted])
        if not self._batches:
            return self._collate(next(self._rows))
        samples = [sample for _, sample in zip(wanted, self._rows)]
        if not samples or self._drop_last and len(samples) < len(wanted):
            raise StopIteration
        return self._collate(samples)


def serve(pipe, others, make_fetcher, facts, prepare):
    """The life of a worker process."""
    global _info
    for other in others:
        other.close()       # else they would stay open when the main process is gone
    _info = WorkerInfo(**facts)
    random.seed(facts['seed'])
    np.random.seed(facts['seed'] % 2**32)
    fetch = None
    while True:
        try:
            number, wanted = pipe.recv()
        except (EOFError, OSError, KeyboardInterrupt):
            return
        try:
            if number is None:      # a new epoch
                fetch = None
                continue
            if prepare is not None:
                prepare(facts['id'])
                prepare = None
            fetch = fetch or make_fetcher()
            answer = number, 'data', fetch(wanted)
        except StopIteration:
            answer = number, 'end', None
        except Exception as error:
            answer = number, 'error', (type(error).__name__, str(error), traceback.format_exc())
        try:
            pipe.send(answer)
        except (BrokenPipeError, OSError):
            return
        except Exception as error:      # what cannot be sent
            pipe.send((number, 'error', (type(error).__name__, str(error), traceback.format_exc())))
