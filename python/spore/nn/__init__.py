# SPDX-License-Identifier: Apache-2.0
"""spore.nn: Cells, layers, losses, optimizers, learning rates, cells around networks. Metrics, which live in spore.train, are
shown here too."""
import importlib

from spore._moves import absent
from spore.nn.cell import Cell

__all__ = ["Cell"]
for _name in ("layer", "loss", "learning_rate_schedule", "dynamic_lr", "optim", "wrap", "grad", "utils"):
    _module = importlib.import_module(f"spore.nn.{_name}")
    globals().update((_public, getattr(_module, _public)) for _public in _module.__all__)
    __all__ += _module.__all__
del _name, _module, CosineSimilarity  # noqa: F821  nn.CosineSimilarity is the metric
__all__ = sorted(set(__all__) - {"CosineSimilarity"})

from spore import _docstrings  # noqa: E402
_docstrings.attach("nn", globals())


def __getattr__(name):
    if name == "probability":
        return importlib.import_module("spore.nn.probability")
    if not name.startswith("__"):
        metrics = importlib.import_module("spore.train.metrics")
        if name in metrics.__all__:
            globals()[name] = getattr(metrics, name)
            return globals()[name]
        if name == "metrics":
            return metrics
        if name == "get_metrics":
            return metrics.get_metrics
    raise AttributeError(f"module 'spore.nn' has no attribute '{name}'{absent('spore.nn', name, __all__)}")


def __dir__():
    return sorted(set(globals()) | set(importlib.import_module("spore.train.metrics").__all__))
