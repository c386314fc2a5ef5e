# SPDX-License-Identifier: Apache-2.0
"""Plain Python state of the library: counters of schedulers, sums of metrics, scales of losses.

Library code runs as it is on symbols while a program is captured, so what it writes to Python attributes would be written once, when
the program is made, and not when it runs. A call that has done so is undone and interpreted from its syntax tree instead, like the user's
code: then its writes are in the journal (heap.py) and happen in every run.
"""
from spore._core import Tensor

__all__ = ["Snapshot"]

_MODULES = ("spore.", "mindspore.")
_LEAVES = (Tensor, int, float, complex, str, bytes, type(None), type)
_MISSING = object()


def _is_instance_of_ours(value):
    """Whether it is the library's object; the compiler's own (a function that is handed to the library) change all the time."""
    module = type(value).__module__
    return module.startswith(_MODULES) and ".graph." not in module and hasattr(value, "__dict__")


class Snapshot:
    """The attributes of the library's objects that a call can reach, and what their lists and dicts hold."""

    def __init__(self, function, args, kwargs):
        self._seen = {}              # id: (object, what it held)
        waiting = [getattr(function, "__self__", None), *args, *kwargs.values()]
        while waiting:
            value = waiting.pop()
            if isinstance(value, _LEAVES) or id(value) in self._seen:
                continue
            if isinstance(value, dict):
                held = dict(value)
            elif isinstance(value, (list, tuple, set)):
                held = list(value)
            elif _is_instance_of_ours(value):
                held = dict(value.__dict__)
            else:
                continue
            self._seen[id(value)] = value, held
            waiting.extend(held.values() if isinstance(held, dict) else held)

    def changed(self):
        """Whether something holds other values than before. What an attribute or an entry did not hold at all is a cache, which the
        library fills when it first needs it."""
        return any(self._differs(value, held) for value, held in self._seen.values())

    def undo(self):
        """Put everything back as it was."""
        for value, held in self._seen.values():
            if not self._differs(value, held):
                continue
            if isinstance(value, list):
                value[:] = held
            elif isinstance(value, set):
                value.clear()
                value.update(held)
            else:
                place = value if isinstance(value, dict) else value.__dict__
                place.clear()
                place.update(held)

    @staticmethod
    def _differs(value, held):
        if isinstance(value, tuple):
            return False
        if isinstance(value, list):
            return len(value) != len(held) or any(a is not b for a, b in zip(value, held))
        if isinstance(value, set):
            return value != set(held)
        now = value if isinstance(value, dict) else value.__dict__
        return any(now.get(key, _MISSING) is not old for key, old in held.items())
