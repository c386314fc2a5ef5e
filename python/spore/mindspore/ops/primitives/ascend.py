# SPDX-License-Identifier: Apache-2.0
"""Operators that exist on Ascend processors alone, in MindSpore as well. Programs import them and make primitives of them for the
case that there is such a processor; using one here says that there is none."""
from ..._alias import module_of
from .._late import _FILES
from ..primitive import Primitive

FUNCTIONS = [name for name in _FILES["ascend"].split() if name[0].islower()]
CLASSES = [name for name in _FILES["ascend"].split() if name[0].isupper()]


def _refuse(name):
    raise NotImplementedError(f"{name} is an operator of Ascend processors, which MindSpore does not have on a CPU either; "
                              "compose it of other operators")


def _function(name):
    def function(*args, **kwargs):
        _refuse("ops." + name)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "An operator of Ascend processors; calling it says that there is none."
    return function


def _class(name):
    def __init__(self, *args, **kwargs):
        Primitive.__init__(self, name)
        for key, value in kwargs.items():
            self.add_prim_attr(key, value)

    def __call__(self, *args, **kwargs):
        _refuse("ops." + name)
    return type(name, (Primitive,), {"__init__": __init__, "__call__": __call__, "__module__": module_of("spore.ops", name),
                                     "__doc__": "An operator of Ascend processors; calling it says that there is none."})


globals().update({name: _function(name) for name in FUNCTIONS})
globals().update({name: _class(name) for name in CLASSES})
