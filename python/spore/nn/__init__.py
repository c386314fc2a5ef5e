# SPDX-License-Identifier: Apache-2.0
"""spore.nn: Cells, layers, losses, optimizers, learning rates, metrics."""
import importlib

from spore.nn.cell import Cell

__all__ = ["Cell"]
for _name in ("layer", "loss", "wrap", "optim", "learning_rate_schedule", "dynamic_lr", "metrics"):
    try:
        _module = importlib.import_module(f"spore.nn.{_name}")
    except ModuleNotFoundError as _missing:
        if _missing.name != f"spore.nn.{_name}":
            raise
        continue
    globals().update((_public, getattr(_module, _public)) for _public in getattr(_module, "__all__", ()))
    __all__ += getattr(_module, "__all__", [])
__all__ = sorted(set(__all__))
