# SPDX-License-Identifier: Apache-2.0
"""Operators that exist on other hardware alone, in MindSpore as well: rows `refused` of mindspore.def. Programs import them and make
primitives of them for the case that there is such a processor; using one here says that there is none."""
from ..._alias import module_of
from ..primitive import Primitive

_DOC = "An operator of Ascend processors; calling it says that there is none."


def refuse(name, sentence):
    """Say that there is no such operator here."""
    raise NotImplementedError(f"{name} is {sentence}")


def refused(name, sentence):
    """The function or, with a capital, the primitive of that name."""
    return _class(name, sentence) if name[0].isupper() else _function(name, sentence)


def _function(name, sentence):
    def function(*args, **kwargs):
        refuse("ops." + name, sentence)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = _DOC
    return function


def _class(name, sentence):
    def __init__(self, *args, **kwargs):
        Primitive.__init__(self, name)
        for key, value in kwargs.items():
            self.add_prim_attr(key, value)

    def __call__(self, *args, **kwargs):
        refuse("ops." + name, sentence)
    return type(name, (Primitive,), {"__init__": __init__, "__call__": __call__, "__module__": module_of("spore.ops", name),
                                     "__doc__": _DOC})
