# SPDX-License-Identifier: Apache-2.0
"""Where packages leave the function that makes a recomputing Cell of a Cell."""
from types import FunctionType
from spore._core import type_name as _type_name


class RecomputeRegistry:
    """Holds one function."""

    def __init__(self):
        self.recompute_generator = None

    def register(self, fn):
        """Keep the function."""
        if not isinstance(fn, FunctionType):
            raise TypeError(f"RecomputeRegistry.register: fn must be a function, but got {_type_name(fn)}")
        self.recompute_generator = fn

    def get(self):
        """The function that was kept."""
        if self.recompute_generator is None:
            raise TypeError("RecomputeRegistry.get: nothing is registered yet; call register first")
        return self.recompute_generator


recompute_registry = RecomputeRegistry()
