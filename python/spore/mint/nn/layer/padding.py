# SPDX-License-Identifier: Apache-2.0
"""Padding."""
from spore import ops
from spore._core import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check

__all__ = ["ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
           "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
           "ReplicationPad3d"]


class _Pad(Cell):
    """Pads the last `_dims` dimensions."""

    _dims, _mode, _least = 1, "constant", None

    def __init__(self, padding):
        super().__init__()
        count = 2 * self._dims
        if check.is_int(padding):
            padding = (padding,) * count
        if not isinstance(padding, (tuple, list)) or len(padding) != count:
            check.fail_value(self.cls_name, "padding", padding, f"an int or {count} ints")
        for amount in padding:
            check.instance(self.cls_name, "padding", amount, int)
            if self._least is not None and amount < self._least:
                check.fail_value(self.cls_name, "padding", padding, f"amounts not below {self._least}")
        self.padding, self.value = tuple(padding), 0

    def construct(self, input) -> Tensor:
        if self._mode == "constant":
            return ops.pad(input, self.padding, "constant", self.value)
        return ops.pad(input, self.padding, self._mode)


class _ConstantPad(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value


def _pads(name, first, base, mode, least=None):
    """The three classes of a kind of padding."""
    made = []
    for dims in (1, 2, 3):
        where = ("the last dimension", "the last two dimensions", "the last three dimensions")[dims - 1]
        value = "\n        value: the value." if base is _ConstantPad else ""
        call = "1, 0.5" if base is _ConstantPad else "1"
        given = (1, 2, 3, 3, 3)[:dims + 1]
        result = given[:1] + tuple(n + 2 for n in given[1:])
        doc = (f"{first} {where}.\n\n    Args:\n        padding: an int for all sides, or pairs (before, after), the last "
               f"dimension first.{value}\n\n    Examples:\n        >>> import spore as ms\n        >>> from spore import mint\n"
               f"        >>> print(mint.nn.{name}{dims}d({call})(ms.ops.ones({given})).shape)\n        {result}\n    ")
        made.append(type(f"{name}{dims}d", (base,), {"__doc__": doc, "__module__": __name__, "_dims": dims, "_mode": mode,
                                                     "_least": least}))
    return made


ConstantPad1d, ConstantPad2d, ConstantPad3d = _pads("ConstantPad", "Puts a value around", _ConstantPad, "constant")
ZeroPad1d, ZeroPad2d, ZeroPad3d = _pads("ZeroPad", "Puts zeros around", _Pad, "constant")
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = _pads("ReflectionPad", "Mirrors at the ends of", _Pad, "reflect", 0)
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = _pads("ReplicationPad", "Repeats the elements at the ends of", _Pad,
                                                             "replicate", 0)
