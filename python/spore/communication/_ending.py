# SPDX-License-Identifier: Apache-2.0
"""A rank that fails ends its job: the others would wait for it for ever."""
import os
import socket
import sys
import threading
import traceback as texts

from spore import _core


def _cause(kind, traceback):
    """What ended this rank, in one line; the traceback is above it. The line is the last one of the user's own files."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    lines = [frame for frame in texts.extract_tb(traceback) if not frame.filename.startswith((own, "<"))]
    place = f" at {lines[-1].filename}:{lines[-1].lineno}" if lines else ""
    return f"{kind.__name__}{place}, on host {socket.gethostname()}"


def watch():
    """End all ranks when this one ends with an exception; its traceback is printed as always, then one line with the rank."""
    before = sys.excepthook

    def end(kind, error, traceback):
        before(kind, error, traceback)
        sys.stdout.flush()
        sys.stderr.flush()
        _core.job_abort(130 if issubclass(kind, KeyboardInterrupt) else 1, _cause(kind, traceback))

    sys.excepthook = end
    thread_before = threading.excepthook

    def end_of_thread(args):
        thread_before(args)
        if args.exc_type is not SystemExit:
            sys.stdout.flush()
            sys.stderr.flush()
            _core.job_abort(1, _cause(args.exc_type, args.exc_traceback))

    threading.excepthook = end_of_thread
