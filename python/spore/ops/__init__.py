# SPDX-License-Identifier: Apache-2.0
"""spore.ops: operators as functions (ops.relu) and as primitives (ops.ReLU()).

Nothing is listed here: _gather.py collects the names from the operator table and from the files of this folder.
"""
import importlib
import sys

from .. import _compat
from . import _gather
from .primitive import (Primitive, PrimitiveWithCheck, PrimitiveWithInfer, _primexpr, constexpr, prim_arg_register,
                        prim_attr_register)
from .composite import HyperMap, Map, MultitypeFuncGraph, add_flags, core, mixed_precision_cast, partial

_public = _gather.fill_ops(globals())
_gather.fill_tensor()
_public.update(("Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "constexpr", "prim_arg_register",
                "prim_attr_register", "HyperMap", "Map", "MultitypeFuncGraph", "add_flags", "core",
                "mixed_precision_cast", "partial"))

from . import functional, operations  # noqa: E402  they look names up here

for _name in ("function", "function.math_func", "function.array_func", "function.nn_func", "function.clip_func",
              "function.grad", "function.random_func", "function.image_func", "function.linalg_func",
              "function.other_func", "function.parameter_func", "function.debug_func", "function.sparse_func",
              "function.spectral_func", "function.vmap_func", "auto_generate", "auto_generate.gen_ops_def",
              "auto_generate.gen_ops_prim"):
    _gather.alias("spore.ops." + _name, "Names of spore.ops.")
del _name

from .. import _docstrings  # noqa: E402
_docstrings.attach("ops", globals())
_docstrings.attach("Tensor", vars(_gather._core.Tensor))
_docstrings.attach("mint", {name: value for file in _gather.families() for name, value in getattr(file, "MINT", {}).items()})


def __getattr__(name):
    if name == "__all__":                                  # asked for by few, and rows of the compatibility part belong to it
        return sorted(_public | _compat.exported())
    cls = _gather.primitive(name)
    if cls is None and not name.startswith("__"):
        cls = _elsewhere(name)
    if cls is None:
        raise AttributeError(f"module 'spore.ops' has no attribute '{name}'{_nearest(name)}", name=name, obj=sys.modules[__name__])
    _docstrings.attach("ops", {name: cls})
    globals()[name] = cls
    return cls


def _nearest(name):
    """What may have been meant. Python looks for that itself, but not among so many names; and these are near ones alone, for
    programs ask with hasattr, too."""
    from difflib import get_close_matches
    first = name[:1].lower()
    near = get_close_matches(name, [n for n in __dir__() if n[:1].lower() == first and -3 < len(n) - len(name) < 3], 1, 0.75)
    return f". Did you mean: '{near[0]}'?" if near and not name.startswith('_') else ""


# modules that MindSpore's own __init__ leaves among its names
_MODULES = {"_primitive_cache": "_primitive_cache", "arg_dtype_cast": "_utils.arg_dtype_cast", "arg_handler": "_utils.arg_handler", "array_ops": "operations.array_ops",
            "linalg_ops": "operations.linalg_ops", "other_ops": "operations.other_ops", "gen_ops_def": "auto_generate.gen_ops_def",
            "gen_ops_prim": "auto_generate.gen_ops_prim", "gen_extend_func": "auto_generate.gen_extend_func",
            "pyboost_inner_prim": "auto_generate.pyboost_inner_prim",
            "cpp_create_prim_instance_helper": "auto_generate.cpp_create_prim_instance_helper"}


def _elsewhere(name):
    """Transformations of functions are shown here too; they live in spore.common. So are mint's operators by the names of
    MindSpore's generated modules."""
    if name == "Tensor":
        return _gather._core.Tensor
    if name == "functional_overload":
        return importlib.import_module("spore.ops.functional_overload")
    if name == "P":
        return operations
    if name in _MODULES:
        return importlib.import_module("spore.ops." + _MODULES[name])
    if name not in ("GradOperation", "grad", "value_and_grad", "get_grad", "vjp", "jvp", "vmap", "jacfwd", "jacrev"):
        return _compat.lookup(name)
    from .. import common
    from ..common import differentiate
    return getattr(differentiate, name, None) or getattr(common, name, None)


def __dir__():
    return sorted(set(globals()) | _public | _compat.names())
