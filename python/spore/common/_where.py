# SPDX-License-Identifier: Apache-2.0
"""Which Cell of a network an error came from: a note on the error, since a traceback through containers shows the same line for
every layer."""


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
