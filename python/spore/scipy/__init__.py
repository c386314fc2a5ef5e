# SPDX-License-Identifier: Apache-2.0
"""Functions of scipy on Tensors: `linalg`, `fft`, `optimize`. Made of spore.ops."""
from spore.scipy import fft, linalg, optimize

__all__ = ['fft', 'linalg', 'optimize']
