# SPDX-License-Identifier: Apache-2.0
"""spore: deep learning with MindSpore's API on an engine written in C.

    import spore as ms
    from spore import nn, ops, Tensor

`spore.as_mindspore()` (or `spore run script.py`) lets scripts that import mindspore run unchanged. Parts that take
time to load, like nn and dataset, are loaded when they are first used.
"""
import importlib as _importlib
import sys as _sys

try:
    import numpy as _  # noqa: F401  said here in a line, not from some depth below
except ModuleNotFoundError as _error:
    if _error.name != 'numpy':
        raise
    raise ModuleNotFoundError(f"spore needs numpy, which {_sys.executable} does not have; try: {_sys.executable} -m pip install numpy",
                              name='numpy') from None

from spore._core import __version__
from spore import _compat  # noqa: F401  finds what MindSpore's programs ask for besides
from spore import common
from spore.common import *  # noqa: F401,F403
from spore.common import _null, _NullType, __all__ as _common_names
from spore import ops
from spore.common.dtype import dtype_to_nptype, dtype_to_pytype, get_py_obj_dtype, pytype_to_dtype
from spore.context import (COMPATIBLE, GRAPH_MODE, LAX, PYNATIVE_MODE, STRICT, ParallelMode, get_auto_parallel_context,
                           get_context, get_current_device, get_ps_context, reset_auto_parallel_context,
                           set_auto_parallel_context,
                           set_context, set_deterministic, set_device, set_ps_context, reset_ps_context)
from spore._alias import as_mindspore

if 'IPython' in _sys.modules:
    from spore._notebook import shorten_tracebacks as _shorten
    _shorten(_sys.modules['IPython'].get_ipython())

# Loaded on first use: packages, and names that live in them. A name is looked for in its places in order.
_PACKAGES = ('amp', 'boost', 'communication', 'dataset', 'experimental', 'export', 'graph', 'hal', 'jit', 'lite', 'log',
             'mindrecord', 'mint', 'multiprocessing', 'nn', 'numpy', 'onnx', 'ops', 'parallel', 'profiler', 'quantization', 'rewrite',
             'runtime', 'safeguard', 'scipy', 'tflite', 'train', 'utils', 'version', '_c_expression', '_checkparam', 'device_context')
_PLACES = ('common.differentiate', 'common.saved_tensors', 'common.api', 'common.recompute', 'common.initializer', 'common.mutable', 'common.jit_config',
           'common.sparse_tensor', 'common.layers', 'common.codegen', 'common.dump', 'common.mindio', 'common.device', 'common.symbol',
           'train', 'train.serialization', 'train.callback', 'train.metrics', 'train.amp', 'nn', 'runtime',
           'parallel', 'profiler',
           'hal', 'log', '_run_check', 'rewrite', 'amp', 'utils', 'quantization')


# dtypes by the names of Python's types; not bound here, where they would hide those
_TYPES = {'bool': bool_, 'int': int32, 'float': float32}  # noqa: F405


def __getattr__(name):
    if name.startswith('__'):
        raise AttributeError(f"module 'spore' has no attribute '{name}'")
    if name in _TYPES:
        return _TYPES[name]
    if name == '_Function':
        return common._Function
    if name == 'constexpr':
        return ops.constexpr
    if name in _PACKAGES:
        try:
            return _importlib.import_module('spore.' + name)
        except ModuleNotFoundError as error:
            if error.name != 'spore.' + name:
                raise
    for place in _PLACES:
        try:
            module = _importlib.import_module('spore.' + place)
        except ModuleNotFoundError as error:
            if error.name is None or not ('spore.' + place).startswith(error.name):
                raise
            continue
        public = getattr(module, '__all__', ())
        if name in public:
            value = getattr(module, name)
            globals()[name] = value
            return value
    from spore._moves import absent
    raise AttributeError(f"module 'spore' has no attribute '{name}'{absent('spore', name, __all__)}")


__all__ = list(_common_names) + [
    'ops', 'common', 'COMPATIBLE', 'GRAPH_MODE', 'LAX', 'PYNATIVE_MODE', 'STRICT', 'ParallelMode',
    'get_auto_parallel_context',
    'get_context', 'get_current_device', 'get_ps_context', 'reset_auto_parallel_context', 'set_auto_parallel_context',
    'set_context',
    'set_deterministic', 'set_device', 'set_ps_context', 'reset_ps_context', 'as_mindspore', 'dtype_to_nptype', 'dtype_to_pytype',
    'pytype_to_dtype',
    'get_py_obj_dtype']

from spore import _docstrings  # noqa: E402
_docstrings.attach('spore', globals())
