# SPDX-License-Identifier: Apache-2.0
"""The functions behind methods of Tensor, by name, as MindSpore's own modules ask for them."""
from spore._core import Tensor

__all__ = ["Registry", "tensor_operator_registry"]


class Registry(dict):
    """Functions by name; those of spore.ops and the methods of Tensor are there from the start."""

    def register(self, name, function):
        """Keep a function."""
        self[name] = function

    def get(self, name):
        """The function of that name.

        Raises:
            ValueError: there is none.
        """
        from spore import ops
        found = self[name] if name in self else getattr(ops, name, None) or getattr(Tensor, name, None)
        if found is None:
            raise ValueError(f"Operator registry: there is no function '{name}'; register() adds one.")
        return found

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)


tensor_operator_registry = Registry()
