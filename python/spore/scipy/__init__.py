# SPDX-License-Identifier: Apache-2.0
"""Functions of scipy on Tensors: `linalg`, `fft`, `optimize`. Made of spore.ops."""
from spore.scipy import fft, linalg, optimize

__all__ = ['fft', 'linalg', 'optimize']


def __getattr__(name):
    if name in ('ops', 'utils', 'utils_const'):      # addresses that programs reach without importing them
        import importlib
        return importlib.import_module('spore.scipy.' + name)
    raise AttributeError(f"module 'spore.scipy' has no attribute {name!r}")
