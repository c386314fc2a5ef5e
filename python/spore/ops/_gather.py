# SPDX-License-Identifier: Apache-2.0
"""Where the names of spore.ops, spore.mint and the methods of Tensor come from: the operator table and the files beside
this one. A file adds functions and classes through `__all__`, methods through `TENSOR_METHODS`, and names of mint
through `MINT`; what a file writes by hand wins over what the table declares.
"""
import importlib
import os
import sys
import types

from .. import _core
from .primitive import Primitive, table_class

FACES = _core.face_map()
_FILES = None


def families():
    """The modules of this folder that add names, imported once."""
    global _FILES
    if _FILES is None:
        _FILES = []  # while they are imported, whoever asks gets what is there
        own = {"__init__", "primitive", "composite", "functional"}
        names = sorted({f.split(".")[0] for f in os.listdir(os.path.dirname(__file__)) if f.endswith(".py")})
        for name in names:
            if name not in own and not name.startswith("_"):
                _FILES.append(importlib.import_module("spore.ops." + name))
    return _FILES


def fill_ops(names):
    """All functions into the namespace of spore.ops, files last; primitive classes are made when asked for."""
    table = {name: row[0] for name, row in FACES.get("ops", {}).items() if not row[1]}
    names.update(table)
    files = families()
    names.update(table)  # importing a file binds its name here: the function of that name is meant
    public = set(FACES.get("ops", {}))
    for module in files:
        for name in getattr(module, "__all__", ()):
            names[name] = getattr(module, name)
            public.add(name)
    return public


def primitive(name):
    """The class of a primitive of the table, or None."""
    row = FACES.get("ops", {}).get(name)
    return table_class(name, row[0]) if row and row[1] else None


def fill_tensor():
    """Methods of Tensor: of the table, then those written by hand."""
    tensor = _core.Tensor
    have = vars(tensor)
    for name, row in FACES.get("Tensor", {}).items():
        if name not in have:
            setattr(tensor, name, row[0])
    for module in families():
        for name, method in getattr(module, "TENSOR_METHODS", {}).items():
            setattr(tensor, name, method)


def mint_names(place):
    """Names of spore.mint ("mint") or of one of its parts ("mint.nn.functional")."""
    names = {name: row[0] for name, row in FACES.get(place, {}).items()}
    prefix = place[5:] + "." if place != "mint" else ""
    for module in families():
        for name, value in getattr(module, "MINT", {}).items():
            if name.startswith(prefix) and "." not in name[len(prefix):]:
                names[name[len(prefix):]] = value
    return names


def alias(name, doc):
    """A module `name` that shows the names of spore.ops under another address; scripts import from there."""
    def lookup(attribute):
        if attribute.startswith("__"):
            raise AttributeError(f"module '{name}' has no attribute '{attribute}'")
        try:
            return getattr(sys.modules["spore.ops"], attribute)
        except AttributeError:
            try:
                return importlib.import_module(f"{name}.{attribute}")  # a deeper address that nobody has imported yet
            except ImportError:
                raise AttributeError(f"module '{name}' has no attribute '{attribute}'") from None
    module = types.ModuleType(name, doc)
    module.__getattr__ = lookup
    module.__dir__ = lambda: dir(sys.modules["spore.ops"])
    module.__path__ = []  # deeper addresses may follow
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    setattr(sys.modules[parent], last, module)
    return module


__all__ = ["FACES", "Primitive", "alias", "families", "fill_ops", "fill_tensor", "mint_names", "primitive"]
