# SPDX-License-Identifier: Apache-2.0
"""numpy's functions on Tensors: compositions of operators, so they can be differentiated and run on any dtype.

    import spore.numpy as np

Names, arguments and the dtypes of results are those of mindspore.numpy, which differ from numpy's in places: Python
numbers become int32 and float32, and arguments that numpy has and operators cannot follow (out, order) are missing.
"""
from spore.numpy import array_creations, array_ops, dtypes, logic_ops, math_ops
from spore.numpy.array_creations import *  # noqa: F401,F403
from spore.numpy.array_ops import *  # noqa: F401,F403
from spore.numpy.dtypes import *  # noqa: F401,F403
from spore.numpy.logic_ops import *  # noqa: F401,F403
from spore.numpy.math_ops import *  # noqa: F401,F403

__all__ = array_creations.__all__ + array_ops.__all__ + dtypes.__all__ + logic_ops.__all__ + math_ops.__all__

from spore import _docstrings  # noqa: E402
_docstrings.attach('numpy', globals())


def __getattr__(name):
    if name == 'fft':  # loaded on first use
        import importlib
        return importlib.import_module('spore.numpy.fft')
    raise AttributeError(f"module 'spore.numpy' has no attribute '{name}'")
