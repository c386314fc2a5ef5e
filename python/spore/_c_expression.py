# SPDX-License-Identifier: Apache-2.0
"""Names of MindSpore's compiled module that scripts and tests ask for."""
from spore._core import Tensor as TensorPy
from spore.graph.compiler import compiled_of

__all__ = ["TensorPy", "get_code_extra"]


def get_code_extra(function):
    """What compiling a function came to, or None if it is not compiled: ``stat``, ``break_count_`` (how often the function is
    split), ``compile_count_`` and, under ``code``, ``call_count_`` and ``phase_``."""
    compiled = compiled_of(function)
    if compiled is None:
        return None
    breaks = sum(1 for pieces in compiled.cuts.values() if pieces is not None)
    made = compiled.n_programs + breaks
    return {"stat": "GRAPH_CALLABLE" if made else "GRAPH_CANDIDATE", "break_count_": breaks, "compile_count_": made,
            "code": {"call_count_": compiled.n_calls, "phase_": compiled.name if compiled.n_programs else ""}}
