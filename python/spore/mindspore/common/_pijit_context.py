# SPDX-License-Identifier: Apache-2.0
"""Capturing by bytecode, by the names of MindSpore's own modules: what ``jit(capture_mode="bytecode")`` does."""
from spore.common.api import jit
from spore.graph.errors import NotOneGraph as Unsupported

__all__ = ["PIJitCaptureContext", "Unsupported"]


class PIJitCaptureContext:
    """A decorator; as a context it changes nothing: functions are captured when they are called.

    Args:
        fullgraph: whether what cannot be captured is an error.
        jit_config: a JitConfig or a dict; accepted.
    """

    def __init__(self, fullgraph=False, jit_config=None):
        self.fullgraph, self.config = fullgraph, jit_config

    def __call__(self, fn):
        if isinstance(fn, type):
            fn.construct = self(fn.construct)
            return fn
        return jit(fn, capture_mode="bytecode", fullgraph=self.fullgraph)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False
