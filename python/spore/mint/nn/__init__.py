# SPDX-License-Identifier: Apache-2.0
"""spore.mint.nn: layers with the arguments of the torch-like interface. They are loaded when the first one is used."""
import importlib

from . import functional


def __getattr__(name):
    if not name.startswith("__"):
        layers = importlib.import_module("spore.mint.nn.layer")
        if name in layers.__all__:
            globals()[name] = getattr(layers, name)
            return globals()[name]
    raise AttributeError(f"module 'spore.mint.nn' has no attribute '{name}'")


def __dir__():
    return sorted(set(globals()) | set(importlib.import_module("spore.mint.nn.layer").__all__))
