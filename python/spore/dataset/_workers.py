# SPDX-License-Identifier: Apache-2.0
"""Processes that call Python functions for a pipeline.

A Pool belongs to one iterator and one of its operations: processes are started with it and ended with it. They also end
when the process that started them does, whatever ended it: the kernel kills them when their pipe to it has no writer
any more. Messages and values go through ``_core`` (py_workers.c): sockets and nameless memory, nothing to clean up.
"""
import atexit
import faulthandler
import multiprocessing
import multiprocessing.reduction
import os
import pickle
import random
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
import weakref

import numpy as np

from spore import _core
from spore.dataset import _stream, config

GRACE = 0.2     # seconds that a process has to end by itself
STACK = 1.0     # and to tell where it is

_pools = weakref.WeakSet()
_ours = set()   # descriptors of this process that its workers must not keep open


class RemoteTraceback(Exception):
    """Where an exception of a worker process was raised: the text of its traceback."""

    def __str__(self):
        return '\n' + self.args[0]


class _Descriptor:
    """A descriptor on its way to a new process: inherited by a forked one, passed to a spawned one."""

    def __init__(self, fd):
        self._fd = fd

    def __getstate__(self):
        return multiprocessing.reduction.DupFd(self._fd)

    def __setstate__(self, passed):
        self._fd = passed.detach()

    def take(self):
        """Its number in this process."""
        return self._fd


def _pack(exception):
    """An exception and the text of its traceback, as bytes."""
    text = ''.join(traceback.format_exception(type(exception), exception, exception.__traceback__))
    if isinstance(exception, SystemExit):
        exception = RuntimeError(f"the function called exit({'' if exception.code is None else exception.code})")
    try:
        packed = pickle.dumps(exception)
        pickle.loads(packed)
    except Exception:    # of any kind: the code of a user's class runs here
        packed = pickle.dumps(RuntimeError(f"{type(exception).__name__}: {exception}"))
    return pickle.dumps((packed, text))


def _prepare(seed):
    """What is random in the function follows from the row, whichever process it gets to."""
    np.random.seed(seed & 0xffffffff)
    random.seed(seed)
    _stream.set_row(seed)


def _serve(channel, memory, stack, pipe, by_signal, how, function, worker, setting):
    for fd in _ours:
        os.close(fd)
    _ours.clear()
    _core.die_with_parent(pipe.take(), by_signal)
    signal.signal(signal.SIGINT, signal.SIG_IGN)    # Ctrl-C is for the one who reads; it ends the others
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    faulthandler.register(signal.SIGUSR2, file=stack.take(), all_threads=True, chain=False)
    config._values.update(setting)
    _current.update(worker=worker)
    _core.worker_serve(channel.take(), memory.take(), how, function, _prepare, _pack)


_current = {'worker': None}


class Pool:
    """Processes that call ``function`` for rows; ``name`` is the operation's."""

    def __init__(self, function, how, count, name):
        self.channels, self._processes, self._fds, self._stacks, self._name = [], [], [], [], name
        self._home = os.getpid()
        self._closing = threading.Lock()
        _pools.add(self)
        try:
            for worker in range(count):
                self._start(function, how, worker, multiprocessing.get_context(config.get_multiprocessing_start_method()))
        except BaseException:
            self.close()
            raise

    def _start(self, function, how, worker, context):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        memory = os.memfd_create('spore-rows', os.MFD_CLOEXEC)
        stack = os.memfd_create('spore-stack', os.MFD_CLOEXEC)
        pipe, held = os.pipe()
        ours = ours.detach()
        for fd in (ours, memory, stack, held):
            self._fds.append(fd)
        _ours.update((ours, held))
        # Kernels tell a process of the end of the thread that made it: only the main thread's is the end of all.
        by_signal = threading.current_thread() is threading.main_thread()
        process = context.Process(
            target=_serve, name=f'{self._name}-worker-{worker}', daemon=True,
            args=(_Descriptor(theirs.fileno()), _Descriptor(memory), _Descriptor(stack), _Descriptor(pipe), by_signal, how, function,
                  worker, dict(config._values)))
        try:
            with warnings.catch_warnings():     # of forking while there are threads: they hold nothing a worker needs
                warnings.simplefilter('ignore', DeprecationWarning)
                process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            if config.get_multiprocessing_start_method() != 'spawn':
                raise
            raise RuntimeError(f"{self._name}: the function cannot be sent to a spawned process ({error}); define it at the top of "
                               "a module, or use dataset.config.set_multiprocessing_start_method('fork')") from error
        finally:
            theirs.close()
            os.close(pipe)
        self._processes.append(process)
        self._stacks.append(stack)
        self.channels.append((ours, memory, process.pid))

    def ending(self, pid):
        """How a process ended, for a message."""
        for process in self._processes:
            if process.pid == pid:
                process.join(1)
                code = process.exitcode
                if code is None:
                    return ''
                if code < 0:
                    return f" (killed by {signal.Signals(-code).name})"
                return f" (exit code {code})"
        return ''

    def exception(self, packed, pid):
        """The exception of a process."""
        exception, text = pickle.loads(packed)
        exception = pickle.loads(exception)
        exception.__cause__ = RemoteTraceback(f"worker process {pid}:\n{text}")
        return exception

    def stacks(self):
        """Where the processes are, one after another: (pid, text)."""
        for process, stack in zip(list(self._processes), list(self._stacks)):
            with self._closing:
                if not self._fds or not process.is_alive():
                    continue
                pid, own = process.pid, os.dup(stack)   # a descriptor that lives on when the pool is closed meanwhile
                before = os.fstat(own).st_size
                os.kill(pid, signal.SIGUSR2)
            try:
                yield pid, _written(own, before)
            finally:
                os.close(own)

    def kill(self):
        """End the processes at once."""
        if os.getpid() != self._home:   # in a fork they are somebody else's
            return
        for process in self._processes:
            process.kill()
            process.join()

    def close(self):
        """End the processes; the pipeline has shut its sockets down and reads from none."""
        if os.getpid() != self._home:
            return
        with self._closing:
            fds, self._fds = self._fds, []
        for fd in fds:
            _ours.discard(fd)
            os.close(fd)
        until = time.monotonic() + GRACE
        for process in self._processes:
            process.join(max(0, until - time.monotonic()))
        for process in self._processes:
            if process.is_alive():
                process.kill()
            process.join()
            process.close()
        self._processes, self.channels = [], []


def _written(fd, before):
    """What another process has written to a file behind that place, when it seems to be done."""
    size, until = before, time.monotonic() + STACK
    while time.monotonic() < until:
        time.sleep(0.01)
        now = os.fstat(fd).st_size
        if now == size > before:
            break
        size = now
    return os.pread(fd, size - before, before).decode(errors='replace')


def print_stacks():
    """Print where all worker processes are, each by itself."""
    for pool in list(_pools):
        for pid, text in pool.stacks():
            if text and sys.__stderr__ is not None:
                sys.__stderr__.write(f"worker process {pid} ({pool._name}):\n{text}")
                sys.__stderr__.flush()


@atexit.register
def _kill_all():
    """Iterators that nobody closed end with the interpreter, where Python cannot be called any more."""
    for pool in list(_pools):
        pool.kill()
