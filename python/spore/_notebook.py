# SPDX-License-Identifier: Apache-2.0
"""Errors in a notebook: the user's own lines, without those of this package between and behind them.

IPython shows every frame with five lines around it, which makes a page of a wrong shape. ``%xmode Verbose`` and
SPORE_TRACEBACK=full show all of them.
"""
import os

from spore._keywords import name_keyword
from spore.common._where import users_frames

_AROUND = 3             # lines shown of each frame

__all__ = ["shorten_tracebacks"]


def _show(shell, kind, error, trace, tb_offset=None):
    if os.environ.get("SPORE_TRACEBACK") != "full" and getattr(shell.InteractiveTB, "mode", "") != "Verbose":
        name_keyword(error)
        users_frames(error, set())
        trace = error.__traceback__
        shown, shell.InteractiveTB.context = getattr(shell.InteractiveTB, "context", _AROUND), _AROUND
        try:
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        finally:
            shell.InteractiveTB.context = shown
    else:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def shorten_tracebacks(shell):
    """Let a shell of IPython show errors this way, unless somebody else looks after them."""
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), _show)
