# SPDX-License-Identifier: Apache-2.0
"""Sizes as symbols, for files whose inputs may have any size.

A network is captured several times, with other sizes of the free dimensions each time. Whatever its program learns about a
size (``x.shape``, ``len(x)``, the number of parts of a split) is noted, in order: answers that differ between the captures
depend on the free sizes. The captures are repeated until nothing new differs; in the last ones every size that depends on a
free one is a number of the run (``Scalar``), from which arithmetic, conditions and loops make nodes of the graph. Calls of the
library that take such a number as a Python int are recorded with the number that it is in that capture; which number of the
run it is, the writers find out (``src/formats/sizes.h``).
"""
import threading

from spore import _core
from spore._core import Tensor
from spore.graph.errors import Unsupported

__all__ = ["Sizes", "tracking", "current", "merge"]

_INTERPRETED = ("interpreted",)

_held = threading.local()


def current():
    """The Sizes of captures that begin on this thread, or None."""
    return getattr(_held, "sizes", None)


class tracking:
    """A block in which captures note what they learn about sizes."""

    def __init__(self, sizes):
        self.sizes = sizes

    def __enter__(self):
        self.before, _held.sizes = current(), self.sizes

    def __exit__(self, *error):
        _held.sizes = self.before


class Sizes:
    """What one capture has learnt: for each question, known by where it is asked and how often it was before, a tuple of answers.
    ``free``: of questions of earlier captures, which of the answers depend on free sizes."""

    def __init__(self, free):
        self.free, self.log, self.times, self.numbers = free, {}, {}, set()

    def _key(self, capture, what):
        place = (what, tuple((frame.code.file, frame.line) for frame in capture.frames if frame.code is not None))
        return place, self.times.get(place, 0)

    def ask(self, capture, what, answer):
        """Note an answer, a tuple; gives for each part whether it is free."""
        key = self._key(capture, what)
        self.times[key[0]] = key[1] + 1
        self.log[key] = answer
        known = self.free.get(key, ())
        return known if len(known) == len(answer) else (any(known),) * len(answer)

    def shape(self, capture, tensor):
        """Which dimensions of a symbol are free."""
        return self.ask(capture, "shape", tuple(_core.symbol_shape(tensor)))

    def interprets(self, capture, name):
        """Whether numbers in the result of the next call of the library depend on free sizes: it is then interpreted like the user's functions."""
        if not any(self.free.get(self._key(capture, name), ())):
            return False
        self.ask(capture, name, _INTERPRETED)
        return True

    def check(self, capture, name, result):
        """A result of the library: what it is made of, and the numbers in it, must not depend on free sizes."""
        found = []
        _outline(result, found)
        if any(self.ask(capture, name, tuple(found))):
            raise Unsupported(f"{name}() gives something else for other sizes of the free dimensions")

    def compared(self, *values):
        """Note the numbers that sizes meet: files are verified on both sides of them."""
        self.numbers.update(v for v in values if type(v) is int and 1 < v <= 4096)


def _outline(value, found):
    if isinstance(value, Tensor):
        known = not _core.is_recorded(value) and not getattr(value, "__parameter__", False) and value.size <= 64
        found.append((value.shape, value.asnumpy().tobytes()) if known else "Tensor")
        return
    if isinstance(value, (tuple, list)):
        found.append(len(value))
        for item in value:
            _outline(item, found)
    elif isinstance(value, dict):
        found.append(len(value))
        for item in value.values():
            _outline(item, found)
    else:
        found.append(value if isinstance(value, (int, float, str, bool, type(None))) else type(value).__name__)


def merge(all_sizes):
    """(which answers differ between captures, whether there are more of these than before, whether all captures asked the same)"""
    before = all_sizes[0].free
    free, new = dict(before), False
    keys = dict.fromkeys(key for sizes in all_sizes for key in sizes.log)
    for key in keys:
        answers = [sizes.log[key] for sizes in all_sizes if key in sizes.log]
        if answers[0] is _INTERPRETED:
            continue
        if len({len(answer) for answer in answers}) > 1:
            differs = (True,)
        else:
            differs = tuple(len(set(map(repr, column))) > 1 for column in zip(*answers))
        known = before.get(key, ())
        if len(known) == len(differs):
            differs = tuple(a or b for a, b in zip(known, differs))
        if any(differs) and differs != known:
            free[key], new = differs, True
    return free, new, all(sizes.log.keys() == all_sizes[0].log.keys() for sizes in all_sizes)
