# SPDX-License-Identifier: Apache-2.0
"""Layers with the arguments of the torch-like interface. Where spore.nn has such a variant already, its class is used."""
import importlib

from spore.nn.cell import Cell

__all__ = ["Cell"]
for _name in ("activation", "basic", "conv", "loss", "normalization", "padding", "pooling"):
    _module = importlib.import_module(f"spore.mint.nn.layer.{_name}")
    globals().update((_public, getattr(_module, _public)) for _public in _module.__all__)
    __all__ += _module.__all__
del _name, _module
