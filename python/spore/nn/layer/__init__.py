# SPDX-License-Identifier: Apache-2.0
"""Layers: Cells to build networks of."""
import importlib

__all__ = []
for _name in ("activation", "normalization", "container", "conv", "dense", "basic", "rnn_cells", "rnns", "embedding",
              "pooling", "image", "math", "combined", "timedistributed", "transformer", "padding", "channel_shuffle", "sparse",
              "thor_layer"):
    _module = importlib.import_module(f"spore.nn.layer.{_name}")
    globals().update((_public, getattr(_module, _public)) for _public in _module.__all__)
    __all__ += _module.__all__
del _name, _module
