# SPDX-License-Identifier: Apache-2.0
"""Locks of the package that a child of ``os.fork`` finds free; imports nothing of the package.

As in the engine (src/base/lock.h): a child has the forking thread alone, so fork waits until no other thread is inside of a lock, and lets
none in until it is done. The waiting is done here, before the fork, as the threads waited for need the interpreter.
"""
import os
import threading
import time
import weakref

_LIMIT = 60.0                 # seconds; then the child gets fresh locks, and what they guard as it is
_inside = {}                  # thread: locks it holds
_forking = None               # the thread that forks
_locks = weakref.WeakSet()


class Lock:
    """A lock for ``with``; the thread that holds it may take it again."""

    def __init__(self):
        self._lock = threading.RLock()
        _locks.add(self)

    def __enter__(self):
        me = threading.get_ident()
        _inside[me] = _inside.get(me, 0) + 1
        while _forking not in (None, me) and _inside[me] == 1:
            del _inside[me]
            time.sleep(0.0005)
            _inside[me] = 1
        self._lock.acquire()
        return self

    def __exit__(self, *_):
        self._lock.release()
        me = threading.get_ident()
        _inside[me] -= 1
        if not _inside[me]:
            del _inside[me]


def _others():
    me = threading.get_ident()
    return any(thread != me for thread in list(_inside))


def _before():
    global _forking
    me, end = threading.get_ident(), time.monotonic() + _LIMIT
    while _forking not in (None, me):     # somebody else forks, too
        time.sleep(0.0005)
    _forking = me
    while _others() and time.monotonic() < end:
        time.sleep(0.0005)


def _after():
    global _forking
    _forking = None


def _in_child():
    me = threading.get_ident()
    for thread in list(_inside):
        if thread != me:
            del _inside[thread]
    for lock in list(_locks):
        if lock._lock.acquire(blocking=False):
            lock._lock.release()
        else:
            lock._lock = threading.RLock()
    _after()


os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_in_child)
