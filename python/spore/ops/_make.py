# SPDX-License-Identifier: Apache-2.0
"""Primitive classes from functions, for the files of this folder."""
import functools
import inspect

from .._alias import module_of
from .._compat import positional as _positional
from .._docstrings import told
from ..common import dtype as mstype
from .primitive import Primitive


def _keeper(text):
    """A function with the arguments of `text` ("axis=0, keep=False") that answers them as a dictionary."""
    bare = eval(f"lambda {text}: None", {"mstype": mstype})  # the text is ours
    signature = inspect.signature(bare)

    def init(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)
    init.__signature__ = signature
    return init


class _Signature:
    """Of a constructor, made when someone looks: for all classes together it would take longer than the rest of the import."""

    def __init__(self, constructor):
        self.of_constructor = functools.lru_cache(None)(lambda: inspect.signature(constructor()))

    def __get__(self, instance, owner=None):
        return self.of_constructor()


def primitive(name, call, init="", doc=None):
    """A class `name` that computes call(self, ...). init: the arguments its constructor takes and keeps as attributes,
    or a function that answers those attributes."""
    constructor = functools.lru_cache(None)(lambda: _keeper(init) if isinstance(init, str) else init)
    signature = _Signature(constructor)

    def __init__(self, *args, **kwargs):
        kept = constructor()(*args, **kwargs)
        Primitive.__init__(self, name)
        for key, value in kept.items():
            self.add_prim_attr(key, value)
            self.init_attrs[key] = value

    def __call__(self, *args, **kwargs):
        if kwargs:
            args, kwargs = _positional(name, args, kwargs)
        return call(self, *args, **kwargs)

    def __reduce__(self):
        return _restore, (type(self), {k: self.init_attrs[k] for k in signature.of_constructor().parameters if k in self.init_attrs})

    return type(name, (Primitive,), {
        "__init__": __init__, "__call__": __call__, "__reduce__": __reduce__, "__module__": module_of("spore.ops", name),
        "__signature__": signature, "__doc__": doc or call.__doc__})


def _restore(cls, kept):
    return cls(**kept)


def plain(name, function, doc=None):
    """A class without constructor arguments around a function."""
    return primitive(name, lambda self, *args, **kwargs: function(*args, **kwargs), doc=doc or told(function))


def named(methods):
    """Give functions the names they are shown under, so that messages carry those."""
    for path, function in methods.items():
        name = path.rpartition(".")[2]
        if function.__name__.startswith(("_", "<")):
            function.__name__ = function.__qualname__ = name
    return methods
