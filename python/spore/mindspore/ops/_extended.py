# SPDX-License-Identifier: Apache-2.0
"""Names that MindSpore's generated modules give to the operators of mint: `add_ext` is mint.add, `AddExt` its primitive."""
import functools
import re

from ..mindspore import exported, rows
from ._make import primitive

_PLACES = ("", "nn.functional", "linalg", "special")
# rows of mindspore.def: names whose function has another name, those whose function has theirs, methods that write
_OTHER = {name: function for function, names in rows("alias") for name in names}
_SAME = {name for _, names in rows("same") for name in names}
_IN_PLACE = {name for _, names in rows("in_place") for name in names}
_KEPT = {"StackExt": "dim=0", "Concat": "axis=0"}


def _of_mint(name):
    from .. import mint
    where, _, name = name.rpartition(".")
    for place in (where,) if where else _PLACES:
        home = mint
        for part in place.split(".") if place else ():
            home = getattr(home, part)
        found = vars(home).get(name)
        if callable(found):
            return found
    return None


def _of_ops(name):
    from .. import ops
    found = vars(ops).get(name) or (getattr(ops, name, None) if name in exported() else None)
    return found if callable(found) and not isinstance(found, type) else None


def _snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _scaled(function):
    """mint.add and mint.sub with the factor of the second operand given by position too."""
    def scaled(input, other, alpha=1):
        return function(input, other, alpha=alpha)
    scaled.__name__, scaled.__doc__ = function.__name__, function.__doc__
    return scaled


def _instance(name):
    """`relu_op`, an object of a primitive in MindSpore: the function that it computes, or None."""
    from .. import ops
    stem = name[:-3]
    for candidate in (stem, stem.replace("_ext", ""), stem.replace("_", "")):
        found = getattr(ops, candidate, None) or _of_mint(candidate)
        if callable(found) and not isinstance(found, type):
            return _with_device(found, name)
    kind = getattr(ops, "".join(part.capitalize() for part in stem.split("_")), None)
    if not isinstance(kind, type):                         # silu_grad: SiLUGrad
        kind = getattr(ops, _by_letters().get(stem.replace("_", ""), ""), None)
    return kind() if isinstance(kind, type) else None


def _with_device(function, name):
    """A function that can be asked, as objects of primitives can, to run on a device: on the CPU it does."""
    def call(*args, **kwargs):
        return function(*args, **kwargs)

    def set_device(device_target):
        call.primitive_target = device_target          # as Primitive.set_device, which keeps it by that name
        return call
    call.__name__, call.__doc__, call.set_device = name, function.__doc__, set_device
    return call


@functools.lru_cache(None)
def _by_letters():
    """Names of primitives by their letters alone."""
    from .. import ops
    return {name.lower(): name for name in dir(ops) if name[0].isupper()}


def _in_place(name):
    """`InplaceMulExt`: the method of Tensor that writes to it (mul_) as a primitive, or None."""
    from .._core import Tensor
    method = re.sub("(_ext|_tensor|_scalar|_value|s)+$", "", _snake(name[7:])) + "_"
    method = {"add_": "add_", "division_": "div_", "divmod_": "div_", "fill_diagonal_": "fill_diagonal_"}.get(method, method)
    if not hasattr(Tensor, method):
        return None
    return primitive(name, lambda self, input, *args: getattr(input, method)(*args), doc=f"Tensor.{method} as a primitive.")


def _in_place_function(name):
    """`inplace_add_ext`, `sub_tensor_`: the method of Tensor that writes to it (add_, sub_), or None."""
    from .._core import Tensor
    stem = name[8:] if name.startswith("inplace_") else name.rstrip("_")
    stem = re.sub("(_ext|_tensor|_scalar)+$", "", stem)
    stem = {"adds": "add", "muls": "mul"}.get(stem, stem)
    method = getattr(Tensor, stem + "_", None)
    if method is None:
        return None

    def function(input, *args, **kwargs):
        if stem in ("add", "sub") and len(args) == 2:      # the factor of the other operand
            args, kwargs = args[:1], {"alpha": args[1], **kwargs}
        return method(input, *args, **kwargs)
    function.__name__, function.__doc__ = name, method.__doc__
    return function


def lookup(name):
    """The function or primitive of that name, or None."""
    if name.endswith("_op"):
        return _instance(name)
    if name.startswith("Inplace"):
        return _in_place(name)
    if name.startswith("inplace_") or name in _IN_PLACE:
        return _in_place_function(name)
    if not (name.endswith(("_ext", "Ext", "_view")) or name in _OTHER or name in _SAME):
        return None
    stem = re.sub("(_ext|Ext|_view|_ext_view|View)$", "", name)
    lower = name[0].islower()
    function = _of_mint(_OTHER.get(name) or stem.lower()) or _of_mint(_snake(stem))
    if function is None and (name in _SAME or name in _OTHER):
        function = _of_ops(_OTHER.get(name) or _snake(stem)) or _of_ops(stem.lower())
    if function is not None and (_OTHER.get(name) or stem.lower()) in ("add", "sub"):
        function = _scaled(function)
    if function is None or lower:
        return function
    if name in _KEPT:
        return primitive(name, lambda self, tensors: function(tensors, self.dim), _KEPT[name], function.__doc__)
    return primitive(name, lambda self, *args, **kwargs: function(*args, **kwargs), doc=function.__doc__)
