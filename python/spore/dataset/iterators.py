# SPDX-License-Identifier: Apache-2.0
"""Iterators over datasets, and what they cost."""
import copy
import faulthandler
import os
import queue
import sys
import threading
import weakref
from typing import Any, Generic, Self, TypeVar

from spore import _core, log
from spore.common import dtype as mstype
from spore.dataset import _check, config
from spore.dataset._stream import seed_now

Row = TypeVar('Row')

__all__ = ['Iterator', 'TupleIterator', 'DictIterator']


def _report_slow(text):
    """Told by the engine, on one of its threads, of a row that takes long. Python's log is for threads of Python."""
    threading.Thread(target=_log_slow, args=(text,), name='spore-watchdog', daemon=True).start()


def _log_slow(text):
    """Warn, and show where the function is."""
    log.warning("%s; dataset.config.set_multiprocessing_timeout_interval says after how many seconds this is reported",
                text)
    if 'worker process' in text:
        sys.modules['spore.dataset._workers'].print_stacks()
    elif sys.__stderr__ is not None:
        faulthandler.dump_traceback(sys.__stderr__)


def _report(text):
    """Told by the engine, on one of its threads, what users should know: a cache that is full, a server that has gone."""
    threading.Thread(target=log.warning, args=('%s', text), name='spore-report', daemon=True).start()


_core.pipeline_report(_report_slow, _report)


ITERATORS_LIST = []     # weak references to the iterators that are alive


def _forget(mark):
    if mark in ITERATORS_LIST:
        ITERATORS_LIST.remove(mark)


class ClosedError(RuntimeError, AttributeError):
    """The iterator has been closed."""


def _tree(data):
    yield data
    for child in data.children:
        yield from _tree(child)


def _repeated(data, repeats=1):
    """The nodes of a tree, each with how often its rows come in an epoch; beyond counting where there is no end."""
    yield data, repeats
    count = data.count if type(data).__name__ == 'RepeatDataset' else 1
    for child in data.children:
        yield from _repeated(child, repeats * count if count > 0 else sys.maxsize)


class _Ahead:
    """Rows of an engine's iterator on a device, brought there by a thread and a stream of their own before somebody asks for them: the next row is on its way
    while a step computes with this one. `epochs`: how many may be begun; -1: any number."""
    ROWS = 2

    def __init__(self, source, device, epochs):
        self._source, self._device, self.epochs = source, device, epochs
        self._stream = _core.stream_create(device)
        self._rows, self._stopped, self._thread, self._at, self._begun = None, None, None, None, None
        self._reading = threading.Lock()  # one thread at a time asks the source something

    @staticmethod
    def _run(source, reading, device, stream, epochs, rows, stopped):
        """Not a method: the thread must not keep the iterator alive."""
        _core.stream_set(device, stream)
        try:
            while not stopped.is_set() and epochs:
                row, at, fault = None, None, None
                try:
                    with reading:
                        row, at = source.next(False), source.tell()
                    if row is not None:
                        row = [_core.tensor_to(v, device) if isinstance(v, _core.Tensor) and v.dtype != mstype.string else v for v in row]
                except Exception as e:  # the consumer's to see, in its turn
                    fault = e
                epochs -= row is None and epochs > 0
                item = row, at, fault
                while not stopped.is_set():
                    try:
                        rows.put(item, timeout=0.1)
                        break
                    except queue.Full:
                        continue
                if fault is not None:
                    return
        finally:
            _core.stream_set(device, None)

    def _start(self):
        self._begun = self._source.tell()
        self._rows, self._stopped = queue.Queue(self.ROWS), threading.Event()
        self._thread = threading.Thread(target=self._run, args=(self._source, self._reading, self._device, self._stream, self.epochs, self._rows, self._stopped),
                                        name='spore-ahead', daemon=True)
        weakref.finalize(self, self._stopped.set)
        self._thread.start()

    def stop(self):
        if self._thread is not None:
            self._stopped.set()
            self._thread.join()
            self._thread = None

    def next(self, numpy):
        if self._thread is None:
            self._start()
        while True:
            try:
                row, at, fault = self._rows.get(timeout=1)
                break
            except queue.Empty:
                if not self._thread.is_alive() and self._rows.empty():
                    return None
        if fault is not None:
            self.stop()
            raise fault
        self._at = at
        self.epochs -= row is None and self.epochs > 0
        return row

    def tell(self):
        if self._at is None:
            self._at = self._source.tell() if self._thread is None else self._begun
        return self._at

    def seek(self, epoch, row):
        self.stop()
        self._source.seek(epoch, row)
        self._at = None

    def stats(self):
        with self._reading:
            return self._source.stats()

    def close(self):
        self.stop()
        self._source.close()


class Iterator(Generic[Row]):
    """Reads a dataset; a ``for`` over it ends with the epoch, and the next one reads the next epoch. After a loop that was
    left early, the next one continues there."""

    def __init__(self, data, num_epochs, output_numpy, do_copy, owner):
        for name, value in (('output_numpy', output_numpy), ('do_copy', do_copy)):
            if value is not None:
                _check.kind(value, bool, name)
        if num_epochs is None:
            raise TypeError("__init__(): incompatible constructor arguments: num_epochs is a number of epochs, -1 for any number, but got None.")
        _check.kind(num_epochs, int, 'num_epochs')
        _check.within(num_epochs, -1, _check.INT32_MAX, 'num_epochs')
        if num_epochs == 0:
            raise RuntimeError("RootNode: num_epochs should be either -1 or positive integer, num_epochs: 0")
        self._seed = seed_now()
        given = [node.num_parallel_workers for node in _tree(data) if node.num_parallel_workers]
        workers = max(given) if given else config.get_num_parallel_workers()
        workers, ahead = min(workers, os.cpu_count() or 1), config.get_prefetch_size()
        if config.get_debug_mode():
            workers = 0
        nodes = [(node, repeats) for node, repeats in _repeated(data) if hasattr(node, '_begin_iterator')]
        if any(node.waits() for node, _ in nodes):      # what a row is made with depends on what was done with the one before
            workers, ahead = 0, 1
        for node, repeats in nodes:
            node._begin_iterator(repeats)
        slow = config.get_multiprocessing_timeout_interval() if config.get_enable_watchdog() else 0
        self._source = _core.PipelineIterator(data._engine(), workers, self._seed, 0, ahead,
                                              config.get_memory_budget() << 20, slow)
        device = _core.device_default()
        if device != 'cpu' and not output_numpy and ahead > 1 and not config.get_debug_mode():
            self._source = _Ahead(self._source, device, num_epochs)
        self._columns = data.get_col_names()
        self._numpy, self._copy, self._left = output_numpy, do_copy, num_epochs
        self._figures, self._owner, self._closed = None, owner, False
        self._tuned = config.autotune_file() if config.get_enable_autotune() else None
        self.dataset = copy.deepcopy(data)
        mark = weakref.ref(self, _forget)
        ITERATORS_LIST.append(mark)
        owner._last, owner._last_stats = weakref.ref(self), None
        if owner.get_init_step():
            self.start_at(owner.get_init_step(), data.get_dataset_size())

    def start_at(self, step, size):
        """Leave out the rows of so many steps: training goes on where it was."""
        epoch, row = divmod(step, max(size, 1))
        if self._left > 0:
            self._left = max(self._left - epoch, 0)
            if isinstance(self._source, _Ahead):
                self._source.epochs = self._left
        if self._left:
            self._source.seek(epoch, row)

    def __len__(self) -> int:
        """Rows in an epoch, where that is known without reading them."""
        data = self.dataset
        size = data._size if data._size is not None else data._engine().count()
        if size < 0:
            raise TypeError(f"object of type '{type(self).__name__}' has no len(): the rows of this data set are known only by reading them; "
                            "get_dataset_size() of the data set counts them")
        return size

    def __bool__(self):
        return True

    def __iter__(self) -> Self:
        return self

    def _next_row(self) -> Any:
        if self._left == 0:
            raise RuntimeError("EOF buffer encountered. User tries to fetch data beyond the specified number of epochs: the iterator "
                               "has given the rows of all epochs it was made for; create another one, or give a larger num_epochs")
        if self._closed:
            raise ClosedError(f"the iterator has been closed: '{type(self).__name__}' object has no attribute '_runtime_context'")
        row = self._source.next(self._numpy)
        if row is None:
            self._left -= self._left > 0
            if self._left == 0:
                self.release()
            raise StopIteration
        if self._copy and not self._numpy:      # Tensors of their own, no longer arrays of the pipeline's
            row = [value.copy() if isinstance(value, _core.Tensor) else value for value in row]
        return row

    def __next__(self) -> Row:
        return self._shape(self._next_row())

    def get_next(self) -> Row:
        """The next row."""
        return self.__next__()

    def get_col_names(self) -> list[str]:
        """Names of the columns."""
        return list(self._columns)

    def get_state(self):
        """The position, as a dict that can be kept: the rows that follow are a function of it."""
        epoch, row = self._source.tell()
        return {'seed': self._seed, 'epoch': epoch, 'row': row, 'left': self._left}

    def set_state(self, state):
        """Go to a position of an iterator over an equal dataset, made with the same seed."""
        if state['seed'] != self._seed:
            raise ValueError(f"the position belongs to seed {state['seed']}, but the iterator has {self._seed}; set the seed "
                             "with dataset.config.set_seed before creating it")
        self._source.seek(state['epoch'], state['row'])
        self._left = state['left']
        if isinstance(self._source, _Ahead):
            self._source.epochs = self._left

    def stats(self):
        """Cost of every stage so far, drawn as text."""
        stages, ahead, held, waited = self._figures or self._source.stats()
        total = sum(seconds for _, _, rows, seconds in stages if rows >= 0) or 1
        lines = [f"{'stage':<32}{'rows':>10}{'ms':>10}{'us/row':>10}{'rows/s':>10}  share of the work"]
        for name, depth, rows, seconds in stages:
            if rows < 0:
                lines.append(f"{'  ' * depth + name:<32}{'-':>10}")
            else:
                lines.append(f"{'  ' * depth + name:<32}{rows:>10}{seconds * 1e3:>10.1f}{seconds * 1e6 / max(rows, 1):>10.1f}"
                             f"{rows / seconds if seconds else 0:>10.0f}  {'#' * round(20 * seconds / total)}")
        lines.append(f"ahead: {ahead} rows, {held / 2**20:.1f} MiB waiting; waited for rows {waited * 1e3:.1f} ms")
        return "\n".join(lines)

    def release(self):
        """End its threads; it gives nothing any more."""
        if isinstance(self._source, _Ahead):
            self._source.stop()
        if self._figures is None:
            self._figures = self._source.stats()
            self._owner._last_stats = self.stats()
        self._closed = True
        self._source.close()
        if self._tuned is not None:
            from spore.dataset.serial import write_tuned
            write_tuned(self.dataset, self._tuned)
            self._tuned = None

    stop = release

    def __del__(self):
        if getattr(self, '_tuned', None) is not None:      # its file is written whichever way it ends
            self.release()


class TupleIterator(Iterator[Row]):
    """Rows as lists."""

    def _shape(self, row) -> Any:
        return row


class DictIterator(Iterator[Row]):
    """Rows as dicts."""

    def _shape(self, row) -> Any:
        return dict(zip(self._columns, row))


_cleaning = False


def _set_iterator_cleanup():
    """From now on `check_iterator_cleanup` is True."""
    global _cleaning
    _cleaning = True


def _unset_iterator_cleanup():
    """From now on `check_iterator_cleanup` is False."""
    global _cleaning
    _cleaning = False


def check_iterator_cleanup():
    """Whether all iterators have been ended by `_cleanup` and nobody has said since that this is over."""
    return _cleaning


def _cleanup():
    """End all iterators that are alive; for MindSpore's tests."""
    _set_iterator_cleanup()
    for mark in list(ITERATORS_LIST):
        iterator = mark()
        if iterator is not None:
            iterator.release()
    ITERATORS_LIST.clear()
