# SPDX-License-Identifier: Apache-2.0
"""What can go wrong while a program is captured, and how it is told.

Errors of the user's program keep their type and leading words and get the place in the source, with the chain of calls.
Unsupported is different: the program is fine, only it cannot be a graph; then it runs as plain Python.
"""
from spore.common._where import keep_cell

__all__ = ["Unsupported", "GraphError", "located"]


class Unsupported(Exception):
    """The program cannot be captured. ``place``: (file, line, function, text), set where it is known."""
    place = None
    strict = None        # (exception type, message) for STRICT, when it is not a RuntimeError with the reason


# What the user gets who asked for one graph (``fullgraph``) of a function that breaks into several; MindSpore's type has the same name.
NotOneGraph = type("Unsupported", (RuntimeError,), {"__module__": __name__})


def refusal(reason):
    """The error that says why there is more than one graph."""
    return located(NotOneGraph(f"Reason: {reason}"), getattr(reason, "_spore_places", None))


class Redo(Exception):
    """Base of the signals that send the executor back to an earlier point of the capture."""


class GraphError(Exception):
    """Carries an error of the user's program through library code to the place where it is raised for the user."""

    def __init__(self, error):
        super().__init__(str(error))
        self.error = error


def chain_text(frames):
    """The places of a chain of calls, innermost last, as text."""
    lines = []
    for number, (file, line, function, text) in enumerate(frames):
        lines.append(f"# {number} In file {file}:{line}, in {function}\n    {text}")
    return "\n".join(lines)


def located(error, frames):
    """The same error with the places it was reached through; an error that has them stays as it is."""
    if getattr(error, "_spore_located", False) or not frames:
        return error
    message = error.args[0] if len(error.args) == 1 and isinstance(error.args[0], str) else str(error)
    rule = "-" * 52
    text = (f"{message}\n\n{rule}\n- The Traceback of Net Construct Code:\n{rule}\n{chain_text(frames)}")
    try:
        new = type(error)(text)
    except Exception:                     # an exception type with other arguments keeps its own text
        new = error
    new._spore_located = True
    keep_cell(new, error)
    return new
