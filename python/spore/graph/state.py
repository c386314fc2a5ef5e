# SPDX-License-Identifier: Apache-2.0
"""Whether a program is being captured, asked by the library on every call of a Cell; imports next to nothing.

``hook`` is None while nothing is captured and the mode is eager, so that eager code pays one comparison.
"""
import threading

from spore._fork import Lock

hook = None              # what Cell.__call__ asks first: hook(cell, args, kwargs), or None
version = 0              # counts changes of what compiled programs look at besides their arguments: Cell.training
_wanted = 0              # captures under way in all threads, plus one in GRAPH_MODE
_held = threading.local()
_lock = Lock()


def capture():
    """The capture under way on this thread, or None."""
    return getattr(_held, "capture", None)


def losing():
    """Whether a slice is recorded (vmap) whose gradient is wanted: what only an eager record holds would be lost."""
    return getattr(_held, "losing", False)


def set_losing(new):
    _held.losing = new


def set_capture(new):
    """Make ``new`` the capture of this thread; gives the one before."""
    before = capture()
    _held.capture = new
    if (new is None) != (before is None):
        want_hook(1 if before is None else -1)
    return before


def want_hook(change):
    """Someone needs (+1), or no longer needs (-1), to see the calls of Cells."""
    global hook, _wanted
    with _lock:
        _wanted += change
        if _wanted:
            from spore.graph.cells import call_cell
            hook = call_cell
        else:
            hook = None


def changed():
    """What programs look at besides their arguments has changed."""
    global version
    version += 1
