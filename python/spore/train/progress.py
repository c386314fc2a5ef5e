# SPDX-License-Identifier: Apache-2.0
"""How far a training or evaluation is: a bar on a terminal and in a notebook, lines elsewhere.

All of it goes to the standard error, so that what a program prints stays what it prints. While a bar stands on a terminal, writes to
sys.stdout and sys.stderr pass through _Above, which takes the bar away first; the next step draws it again.
"""
import os
import sys
import time
from html import escape

from spore._core import type_name as _type_name
from spore.context import get_auto_parallel_context

__all__ = ['set_progress', 'get_progress']

_MODES = ('auto', 'bar', 'lines', 'off')
_WORDS = {'0': 'off', 'false': 'off', '1': 'auto', 'true': 'auto', '': 'auto'}
_DRAW = 0.1             # seconds between two drawings of a bar
_LINE = 1.0             # seconds between two lines that stay: an epoch of a millisecond gets none
_LONG = 30.0            # seconds after which a long epoch gets a line where there is no bar
_BAR = 24               # characters

_asked = None
_last_line = 0.0


def set_progress(mode):
    """How ``Model.train``, ``fit`` and ``eval`` show how far they are. The environment variable SPORE_PROGRESS says the same.

    Args:
        mode: 'auto' (a bar on a terminal and in a notebook, lines elsewhere), 'bar', 'lines' or 'off'; True is 'auto', False is 'off'.

    Examples:
        >>> from spore import train
        >>> train.set_progress(False)
        >>> train.get_progress()
        'off'
        >>> train.set_progress('auto')
    """
    global _asked
    _asked = _mode("set_progress: 'mode'", mode)


def get_progress():
    """The mode that ``set_progress`` or the environment variable SPORE_PROGRESS has chosen; 'auto' by default.

    Examples:
        >>> from spore import train
        >>> train.get_progress()
        'auto'
    """
    return _asked or _mode("the environment variable SPORE_PROGRESS", os.environ.get('SPORE_PROGRESS', ''))


def _mode(what, value):
    if isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a bool or one of {', '.join(map(repr, _MODES))}, but got {_type_name(value)}")
    word = _WORDS.get(value.lower(), value.lower())
    if word not in _MODES:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, _MODES))}, but got {value!r}")
    return word


# --- texts -----------------------------------------------------------------------------------------------------------

def clock(seconds):
    """Seconds as they are read: 4.2 s, 3:05, 1:02:03."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds + 0.5), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"


def _number(value):
    try:
        return f"{float(value):.4g}"
    except (TypeError, ValueError):
        return type(value).__name__


def _values(values):
    return "".join(f"  {name} {_number(value)}" for name, value in values.items())


class _State:
    """One pass over the data: of an epoch, or of an evaluation."""

    def __init__(self, title, steps):
        self.title, self.steps, self.done, self.values = title, steps, 0, {}
        self.began = time.monotonic()

    def words(self, at_end=False):
        """What stands behind the bar: steps, values, rate, time."""
        took = max(time.monotonic() - self.began, 1e-9)
        rate = self.done / took
        of = f"/{self.steps}" if self.steps > 0 else ""
        text = f"{self.done}{of}{_values(self.values)}  {f'{rate:,.0f}' if rate >= 100 else f'{rate:.3g}'} steps/s"
        if at_end or self.steps <= 0 or not self.done:
            return f"{text}  {clock(took)}"
        return f"{text}  {clock(max(self.steps - self.done, 0) / rate)} left"

    def share(self):
        return min(self.done / self.steps, 1.0) if self.steps > 0 else 0.0


# --- where it is shown -------------------------------------------------------------------------------------------------

class _Lines:
    """Lines: one an epoch, and more while a long one lasts. `spoken` is a program that prints by callbacks of its own; it gets none."""

    def __init__(self, stream, spoken):
        self._stream, self._spoken = stream, spoken
        self._last = time.monotonic()

    def draw(self, state):
        if time.monotonic() - self._last >= _LONG:
            self._write(f"{state.title}: {state.words()}")

    def keep(self, state, always):
        if always or time.monotonic() - _last_line >= _LINE:
            self._write(f"{state.title}: {state.words(at_end=True)}")

    def _write(self, text):
        global _last_line
        self._last = _last_line = time.monotonic()
        if not self._spoken:
            _tell(self._stream, text + "\n")

    def close(self):
        pass


def _tell(stream, text):
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):   # a closed pipe or stream does not end a training
        pass


class _Above:
    """A stream whose writes appear above the bar."""

    def __init__(self, stream, bar):
        self._stream, self._bar = stream, bar

    def write(self, text):
        self._bar.hide()
        done = self._stream.write(text)
        if text:
            self._bar.at_begin = text.endswith('\n')
        return done

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def __getattr__(self, name):
        return getattr(self._stream, name)


class _Bar:
    """A line at the bottom of a terminal that is drawn again and again."""

    def __init__(self, stream, spoken):
        self._stream, self._spoken = stream, spoken
        self._drawn, self._shown, self.at_begin = 0.0, False, True
        self._above = [(name, _Above(getattr(sys, name), self)) for name in ('stdout', 'stderr')
                       if getattr(sys, name) is stream or _is_terminal(getattr(sys, name))]
        for name, above in self._above:
            setattr(sys, name, above)

    def hide(self):
        if self._shown:
            self._shown = False
            _tell(self._stream, "\r\033[K")

    def draw(self, state):
        now = time.monotonic()
        if now - self._drawn >= _DRAW and self.at_begin:
            self._drawn = now
            self._line(state, state.words())

    def _line(self, state, words):
        full, empty = ('━', '─') if _takes(self._stream, '━─') else ('=', '.')
        room = _columns(self._stream) - 1
        width = min(_BAR, max(room - len(state.title) - len(words) - 2, 4))
        n = round(width * state.share())
        text = f"{state.title} {full * n}{empty * (width - n)} {words}"
        _tell(self._stream, f"\r{text[:room]}\033[K")
        self._shown = True

    def keep(self, state, always):
        """The last drawing of a pass; it stays, unless epochs end many a second or the program prints them itself."""
        global _last_line
        if not self.at_begin:
            return
        self._line(state, state.words(at_end=True))
        if not self._spoken and (always or time.monotonic() - _last_line >= _LINE):
            _last_line = time.monotonic()
            self._shown = False
            _tell(self._stream, "\n")

    def close(self):
        self.hide()
        for name, above in self._above:
            if getattr(sys, name) is above:
                setattr(sys, name, above._stream)


class _Cell:
    """A bar below a notebook's cell, as HTML; a line of text for those who show no HTML."""

    def __init__(self, display):
        self._display, self._handle, self._drawn, self._kept = display, None, 0.0, []
        self._text, self._share = '', 0.0

    def __repr__(self):
        return "\n".join([*self._kept, self._text])

    def _repr_html_(self):
        bar = f"<progress value='{self._share:.3f}' max='1'></progress> {escape(self._text)}" if self._text else ""
        return "".join(f"<div>{escape(line)}</div>" for line in self._kept) + f"<div>{bar}</div>"

    def _show(self, state, words):
        self._text, self._share, self._drawn = f"{state.title}: {words}", state.share(), time.monotonic()
        self._update()

    def _update(self):
        if self._handle is None:
            self._handle = self._display(self, display_id=True)
        else:
            self._handle.update(self)

    def draw(self, state):
        if time.monotonic() - self._drawn >= _DRAW:
            self._show(state, state.words())

    def keep(self, state, always):
        global _last_line
        self._show(state, state.words(at_end=True))
        if always or time.monotonic() - _last_line >= _LINE:
            _last_line = time.monotonic()
            self._kept.append(self._text)

    def close(self):
        if self._kept and self._text == self._kept[-1]:
            self._text = ''
            self._update()


def _is_terminal(stream):
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):
        return False


def _takes(stream, text):
    try:
        text.encode(getattr(stream, 'encoding', None) or 'ascii')
    except (UnicodeError, LookupError):
        return False
    return True


def _columns(stream):
    try:
        return max(os.get_terminal_size(stream.fileno()).columns or 80, 20)
    except (OSError, ValueError, AttributeError):
        return 80


def _notebook():
    """The display function of a notebook's kernel, if this is one."""
    shell = getattr(sys.modules.get('IPython'), 'get_ipython', lambda: None)()
    if shell is None or not hasattr(shell, 'kernel'):
        return None
    from IPython.display import display
    return display


def _place(callbacks):
    mode = get_progress()
    if mode == 'off' or sys.stderr is None or get_auto_parallel_context('global_rank') != 0:
        return None
    from spore.train.callback import LossMonitor
    spoken = any(isinstance(callback, LossMonitor) for callback in callbacks)
    display = _notebook() if mode != 'lines' else None
    if display is not None:
        return _Cell(display)
    bar = mode == 'bar' or mode == 'auto' and _is_terminal(sys.stderr) and os.environ.get('TERM') != 'dumb'
    return (_Bar if bar else _Lines)(sys.stderr, spoken)


class Progress:
    """What a Model tells while it works. Used in a with statement; `begin` starts a pass over the data, `end` ends it."""

    def __init__(self, callbacks):
        self._callbacks, self._place, self._state = callbacks, None, None

    def __enter__(self):
        self._place = _place(self._callbacks)
        return self

    def __exit__(self, *error):
        if self._place is not None:
            self._place.close()

    def begin(self, title, steps):
        """A pass of so many steps (-1: unknown) begins; answers what `resume` takes to come back to the one before."""
        before, self._state = self._state, _State(title, steps)
        return before

    def resume(self, state):
        """Back to a pass that another one has interrupted; its time does not count."""
        state.began += time.monotonic() - self._state.began
        self._state = state

    def step(self, **values):
        """A step is done; the values are shown."""
        state = self._state
        state.done += 1
        if self._place is not None:
            state.values.update(values)
            self._place.draw(state)

    def end(self, values, always=False):
        """The pass is over; `always` keeps its line however short it was."""
        if self._place is not None:
            self._state.values.update(values)
            self._place.keep(self._state, always)
