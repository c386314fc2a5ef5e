# SPDX-License-Identifier: Apache-2.0
"""What graph mode did: which functions were captured, what was compiled again and why, what runs as plain Python and why.

Nothing is kept unless someone asks: ``spore explain script.py``, SPORE_EXPLAIN=1, or ``start()``.
"""
import atexit
import json
import os
import sys
import types

__all__ = ["start", "report"]

_events = None


class _Seen:
    """What is known of one compiled function."""

    def __init__(self, name, place):
        self.name, self.place = name, place
        self.keys, self.lines = [], []


def start():
    """Keep notes from now on."""
    global _events
    if _events is None:
        _events = {}


def _seen(compiled):
    function = getattr(compiled.source, "__code__", compiled.source if isinstance(compiled.source, types.CodeType) else None)
    place = f" ({function.co_filename}:{function.co_firstlineno})" if function is not None else ""
    return _events.setdefault(id(compiled), _Seen(compiled.name, place))


def compiling(compiled, key, changed=()):
    """A signature that was not met before, or one whose program does not fit since what it read has changed."""
    if _events is None:
        return
    seen = _seen(compiled)
    if changed:
        seen.lines.append("compiled again: " + ", ".join(f"'{w.name}'" for w in changed) + " changed")
    elif seen.keys:
        seen.lines.append("compiled again: " + difference(seen.keys[-1], key))
    seen.keys.append(key)


def difference(old, new):
    """Which part of a signature changed, in words."""
    if isinstance(old, tuple) and isinstance(new, tuple):
        if len(old) != len(new):
            return f"{len(new)} arguments instead of {len(old)}"
        for i, (a, b) in enumerate(zip(old, new)):
            if a != b:
                return f"argument {i} is {words(b)}, it was {words(a)}"
    return "the mode of a Cell (set_train) or a declared input changed" if old == new else f"{new} instead of {old}"


def words(part):
    """A part of a signature for people."""
    if isinstance(part, tuple) and len(part) == 2:
        first, second = part
        if first == "mutable":
            return f"any {second.__name__}"
        if isinstance(second, tuple) and not isinstance(first, type):
            return f"a Tensor {first}{list(second)}"
        if isinstance(first, type):
            return f"the {first.__name__} {second!r}"
    return repr(part)


def compiled(function, entry, seconds):
    """A program was made."""
    if _events is None:
        return
    lines = _seen(function).lines
    lines.append(f"captured and compiled in {seconds * 1e3:.1f} ms")
    lines.append(entry.program)  # its report is asked for at the end: it speaks of plans, which runs make


def imported(name, model):
    """A model from a file, which makes its programs itself."""
    if _events is not None:
        _events.setdefault(id(model), _Seen(f"{name}, a model from a file", "")).lines.append(model)


def note(text):
    """Something that is about no compiled function; said once."""
    if _events is not None:
        _events.setdefault(text, _Seen(text, ""))


def given_up(function):
    """New signatures are not captured any more."""
    if _events is not None:
        _seen(function).lines.append("too many signatures: others run as plain Python, or in the same pieces")


def plain(function, reason, what):
    """A function, or a part of it, runs as plain Python."""
    if _events is None:
        return
    where = ""
    if reason.place is not None:
        file, line, name, text = reason.place
        where = f"\n  in {file}:{line}, {name}: {text}"
    _seen(function).lines.append(f"{what}: {reason}{where}")


def report():
    """Everything noted so far, as text."""
    if not _events:
        return "spore explain: nothing was compiled (no jit, no GRAPH_MODE)"
    parts = []
    for seen in _events.values():
        parts.append(f"{seen.name}{seen.place}")
        for line in seen.lines:
            text = line if isinstance(line, str) else "  " + line.report().rstrip().replace("\n", "\n  ")
            parts.append("  " + text.replace("\n", "\n  "))
    return "\n".join(parts)


def as_json():
    """The same for programs: a list of functions, each with its name, place, what happened to it, and reports of its programs."""
    found = []
    for seen in (_events or {}).values():
        lines = [line for line in seen.lines if isinstance(line, str)]
        found.append({"name": seen.name, "place": seen.place.strip(" ()"), "events": lines,
                      "programs": [line.report().rstrip() for line in seen.lines if not isinstance(line, str)]})
    return json.dumps({"functions": found})


def at_exit():
    """Report when the process ends."""
    start()
    words = as_json if os.environ.get("SPORE_EXPLAIN") == "json" else report
    atexit.register(lambda: sys.stderr.write(words() + "\n"))


if os.environ.get("SPORE_EXPLAIN", "0") not in ("", "0"):
    at_exit()
