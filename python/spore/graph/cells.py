# SPDX-License-Identifier: Apache-2.0
"""Calls of Cells while something is captured or GRAPH_MODE is on; Cell.__call__ comes here then."""
from spore.graph import state


def call_cell(cell, args, kwargs):
    """What a call of a Cell gives."""
    capture = state.capture()
    if capture is None:
        from spore.graph.compiler import call_top_cell
        return call_top_cell(cell, args, kwargs)
    if "_staged" in cell.__dict__:
        from spore.parallel import _pipeline
        if _pipeline.active():
            return _pipeline.call(cell, args, kwargs, lambda a, k: _run(capture, cell, a, k))
    return _run(capture, cell, args, kwargs)


def _run(capture, cell, args, kwargs):
    if capture.native:
        capture.guards.setdefault(cell, cell._guard())
        return cell._run(args, kwargs)
    return capture.executor.call_cell(cell, args, kwargs)
