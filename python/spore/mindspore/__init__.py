# SPDX-License-Identifier: Apache-2.0
"""What only MindSpore's programs ask for: its older names, its private helpers, its addresses, refusals for other hardware.

The files of this folder stand where MindSpore has them: ops/_utils.py here is the module spore.ops._utils (spore/_compat.py finds it,
when a program asks). The product does not import any of it; scripts/check-layers keeps it so. mindspore.def has a row for each name and for
each address without a file: `spore.nn.optim.adafactor` is none; importing it gives a module that looks its names up in spore.nn.optim. Files always win."""
import functools
import importlib
import importlib.machinery
import os
import sys
import types

_FILE = os.path.join(os.path.dirname(__file__), "mindspore.def")


@functools.cache
def _rows():
    """The rows of mindspore.def: {kind: [(what it says, [names])]}."""
    found = {}
    with open(_FILE, encoding="ascii") as file:
        lines = [line for line in file.read().replace("\n    ", " ").splitlines() if line and line[0] != "#"]
    for line in lines:
        head, _, names = line.partition(": ")
        kind, _, what = head.partition(" ")
        found.setdefault(kind, []).append((what, names.split()))
    return found


def rows(kind):
    """[(what it says, [names])] of the rows of a kind."""
    return _rows()[kind]


# --- addresses -------------------------------------------------------------------------------------------------------

@functools.cache
def addresses():
    """{address: the places whose names it shows}."""
    found = {}
    for places, below in rows("address"):
        first, _, more = places.partition(" < ")
        found.update((f"{first}.{name}", (first, *more.split())) for name in below)
    for places, shown in rows("show"):
        found.update(dict.fromkeys(shown, tuple(places.split())))
    return found


class _Address(types.ModuleType):
    """Shows names of the modules in `_places`. Importing spore.scipy.optimize.minimize hides the function of that name in its
    parent; a call goes to it."""

    def __getattr__(self, name):
        if not name.startswith("__"):
            for place in self.__dict__.get("_places", ()):
                try:
                    found = getattr(importlib.import_module("spore." + place), name)
                except AttributeError:
                    continue
                if isinstance(found, _Address) and found._hidden is not None:
                    return found._hidden                   # importing the address hid it
                if not isinstance(found, _Address):
                    return found
            if hasattr(self._hidden, name):
                return getattr(self._hidden, name)         # of the function that has the module's name
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self):
        return sorted({name for place in self._places for name in dir(importlib.import_module("spore." + place))})

    def __call__(self, *args, **kwargs):
        # what the parent would only have loaded when asked for is looked up now
        function = self._hidden if self._hidden is not None else getattr(self, self.__name__.rpartition(".")[2])
        return function(*args, **kwargs)


def find_address(fullname):
    """The spec of an address of the table; or None."""
    places = addresses().get(fullname[6:])
    return importlib.machinery.ModuleSpec(fullname, _Loader(places), is_package=True) if places is not None else None


class _Loader:
    """Makes the module of an address."""

    def __init__(self, places):
        self._places = places

    def create_module(self, spec):
        module = _Address(spec.name)
        parent, _, last = spec.name.rpartition(".")
        module._places, module._hidden = self._places, vars(sys.modules[parent]).get(last)
        if module._hidden is None and parent == "spore.ops":
            module._hidden = lookup(last)  # a function that nobody has asked for yet
        return module

    def exec_module(self, module):
        pass


# --- names of spore.ops ----------------------------------------------------------------------------------------------

@functools.cache
def places():
    """{name of spore.ops: (kind, what it says) of its row}, for the kinds whose names are shown."""
    return {name: (kind, what) for kind in ("in", "export", "refused", "gradient") for what, names in rows(kind) for name in names}


def module_of(file):
    """The module of a row `in FILE`."""
    return "spore.ops." + file.removeprefix(".") if file[0] in "._" else "spore.ops.primitives." + file


@functools.cache
def _made(name, kind, what):
    if kind == "refused":
        from spore.ops.primitives.refused import refused
        return refused(name, what)
    from spore.ops.primitives.gradients import gradient_of
    return gradient_of(name, *what.rstrip(")").split("("))


def lookup(name):
    """What MindSpore has as ops.`name` besides the operators of the product; or None."""
    kind, what = places().get(name, (None, None))
    if kind in ("in", "export"):
        return getattr(importlib.import_module(module_of(what)), name)
    if kind:
        return _made(name, kind, what)
    from spore.ops._extended import lookup as extended
    return extended(name)


def names():
    """Names that `lookup` knows and that are shown."""
    return places().keys()


@functools.cache
def exported():
    """Those of them that `from spore.ops import *` gives, as it gives the product's."""
    return {name for _, names in rows("export") for name in names}


@functools.cache
def _arguments():
    """{primitive: names of the arguments that it is called with, as MindSpore 2.10 declares them}."""
    return {name: what.split() for what, names in rows("call") for name in names}


def positional(name, args, kwargs):
    """(args, kwargs) of a call of a primitive, with keywords that have its declared names as positional arguments."""
    args, kwargs = list(args), dict(kwargs)
    for key in _arguments().get(name, ())[len(args):]:
        if key not in kwargs:
            break
        args.append(kwargs.pop(key))
    return args, kwargs


__path__ = []  # the files of this folder are modules of spore, not of spore.mindspore
