# SPDX-License-Identifier: Apache-2.0
"""Tensors, Parameters, dtypes, initializers, seeds: what everything else is made with."""
import sys as _sys
import types as _types

from spore.common import dtype, initializer
from spore.common.dtype import *  # noqa: F401,F403
from spore.common.dtype import _null, _NullType, __all__ as _dtype_names
from spore.common.tensor import Tensor, frombuffer, from_numpy, is_tensor, swap_tensors, tensor
from spore.common.parameter import Parameter, ParameterTuple
from spore.common.seed import get_seed, set_seed  # before generator: the name `seed` is its function, not this file
from spore.common.generator import (Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed,
                                    set_rng_state)
from spore.common.mutable import mutable
from spore.common.storage import UntypedStorage
from spore.common.recompute import recompute

__all__ = [n for n in _dtype_names if not n.startswith('_')] + [
    'UntypedStorage', 'dtype', 'Tensor', 'tensor', 'is_tensor', 'from_numpy', 'frombuffer', 'swap_tensors', 'Parameter', 'ParameterTuple',
    'Generator', 'default_generator', 'seed', 'manual_seed', 'initial_seed', 'set_rng_state', 'get_rng_state',
    'set_seed',
    'get_seed']


class _Package(_types.ModuleType):
    """Functions that have the name of a file here, such as `mutable`, stay when the file is imported under another address."""

    def __setattr__(self, name, value):
        if not (isinstance(value, _types.ModuleType) and callable(vars(self).get(name))):
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package


def __getattr__(name):
    if name in ('_stub_tensor', 'np_dtype', 'file_system'):  # addresses that programs reach without importing them
        import importlib
        return importlib.import_module('spore.common.' + name)
    if name in ('_Function', '_no_grad'):
        from spore.common._grad_function import _Function
        from spore.common.differentiate import no_grad
        return _Function if name == '_Function' else no_grad
    if name in ('load_mindir', 'save_mindir', 'set_dump'):
        import importlib
        return getattr(importlib.import_module('spore'), name)
    # jit and its relatives, gradients: shown here as in MindSpore, loaded when asked for.
    import importlib
    for place in ('api', 'mutable', 'jit_config', 'sparse_tensor', 'device', 'symbol', 'saved_tensors', 'mindio'):
        module = importlib.import_module('spore.common.' + place)
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module 'spore.common' has no attribute '{name}'")
