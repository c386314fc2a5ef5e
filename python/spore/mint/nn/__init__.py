# SPDX-License-Identifier: Apache-2.0
"""spore.mint.nn: layers with the arguments of the torch-like interface; the classes are written in spore.nn.mint."""
import importlib

from . import functional


def _layers():
    return importlib.import_module("spore.nn.mint")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'spore.mint.nn' has no attribute '{name}'")
    layers = _layers()
    if name not in getattr(layers, "__all__", ()):
        raise AttributeError(f"module 'spore.mint.nn' has no attribute '{name}'")
    return getattr(layers, name)


def __dir__():
    return sorted(set(globals()) | set(getattr(_layers(), "__all__", ())))
