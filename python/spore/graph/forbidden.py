# SPDX-License-Identifier: Apache-2.0
"""Functions that must not be called from compiled code: what packages mark with MindSpore's `jit_forbidden_register`."""
import functools
import types

from spore.graph import state as _state

__all__ = ["jit_forbidden_register", "add_jit_forbidden_module", "remove_jit_forbidden_module", "get_jit_forbidden_module",
           "add_jit_forbidden_method", "get_jit_forbidden_method", "is_jit_forbidden_module"]

_modules, _methods = set(), set()


def _refuse(name):
    raise RuntimeError(f"Failed to compile in GRAPH_MODE because the method or function '{name}' is not supported in 'construct' or function "
                       f"with @jit decorator. Try to use the method or function '{name}' externally such as initialized in the method "
                       "'__init__' before assigning")


def jit_forbidden_register(fn):
    """A function, or class, that raises RuntimeError when compiled code calls it."""
    fn.__jit_forbidden__ = True
    name = f"{fn.__module__}.{fn.__qualname__}"
    if isinstance(fn, types.FunctionType):
        add_jit_forbidden_method(name)

    @functools.wraps(fn, updated=() if isinstance(fn, type) else ("__dict__",))
    def jit_forbidden(*args, **kwargs):
        if _state.capture() is not None:
            _refuse(name)
        return fn(*args, **kwargs)
    return jit_forbidden


def add_jit_forbidden_module(jit_forbidden_module):
    """Note the name of a module."""
    _modules.add(jit_forbidden_module)


def remove_jit_forbidden_module(jit_forbidden_module):
    """Forget the name of a module."""
    _modules.remove(jit_forbidden_module)


def get_jit_forbidden_module():
    """The names of modules that were noted."""
    return _modules


def is_jit_forbidden_module(jit_forbidden_module):
    """Was this name noted?"""
    return jit_forbidden_module in _modules


def add_jit_forbidden_method(jit_forbidden_method):
    """Note the full name of a function."""
    _methods.add(jit_forbidden_method)


def get_jit_forbidden_method():
    """The full names of functions that were noted."""
    return _methods
