# SPDX-License-Identifier: Apache-2.0
"""Which Cell of a network an error came from: a note on the error, since a traceback through containers shows the same line for
every layer. Which lines of a traceback are the user's."""
import os

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def name_cell(cell, error):
    """An error passes through the call of a Cell: the note on it, ``In the Cell 'layers.2' (Conv2d) of Net.``, grows by the Cell's name in
    its parent. It stops growing at a parent that does not know the Cell by a name."""
    path, inner, last, note = getattr(error, "_spore_cell", ("", type(cell).__name__, None, None))
    if last is not None:
        name = next((name for name, child in cell._cells.items() if id(child) == last), None)
        if name is None:
            return
        path = f"{name}.{path}" if path else name
    if path:
        if note in getattr(error, "__notes__", ()):
            error.__notes__.remove(note)
        note = f"In the Cell '{path}' ({inner}) of {type(cell).__name__}."
        error.add_note(note)
    error._spore_cell = path, inner, id(cell), note


def keep_cell(new, error):
    """What is known of an error's Cell, on the error that stands for it."""
    if new is not error and hasattr(error, "_spore_cell"):
        new._spore_cell = error._spore_cell
        if error._spore_cell[3]:
            new.add_note(error._spore_cell[3])


def users_frames(error, seen):
    """Leave the frames of this package out of the traceback, and of those of the errors shown before it; answers how many."""
    if error is None or id(error) in seen:
        return 0
    seen.add(id(error))
    frames, trace = [], error.__traceback__
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    kept = [t for t in frames if not os.path.abspath(t.tb_frame.f_code.co_filename).startswith(_PACKAGE)]
    for this, following in zip(kept, kept[1:] + [None]):
        this.tb_next = following
    error.__traceback__ = kept[0] if kept else None
    shown = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return len(frames) - len(kept) + users_frames(shown, seen)
