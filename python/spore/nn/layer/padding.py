# SPDX-License-Identifier: Apache-2.0
"""Padding of the last one, two or three dimensions. Amounts come in pairs (before, after), the last dimension first."""
from spore import ops
from spore._core import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check

__all__ = ["ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d",
           "ZeroPad2d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d"]

_TEXT = """

    Args:
        padding: an int for all sides, or a tuple of pairs (before, after), the last dimension first.{more}

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.{call}(ms.ops.ones({shape})).shape)
        {result}
    """


class _ConstantPad(Cell):
    """Pads with a value; negative amounts take away."""

    _dims = 1

    def __init__(self, padding, value):
        super().__init__()
        cls, dims = self.cls_name, self._dims
        check.instance(cls, "padding", padding, int, tuple)
        if isinstance(padding, int):
            padding = (padding,) * (2 * dims)
        elif len(padding) % 2 or len(padding) > 2 * dims or (dims == 1 and len(padding) != 2):
            check.fail_value(cls, "padding", padding, f"an int or at most {dims} pairs")
        check.instance(cls, "value", value, int, float)
        self.padding, self.value = padding, value

    def construct(self, x) -> Tensor:
        return ops.pad(x, self.padding, "constant", self.value)


class ConstantPad1d(_ConstantPad):
    __doc__ = "Puts a value before and after the last dimension." + _TEXT.format(
        more="\n        value: the value.", call="ConstantPad1d(1, 0.5)", shape="(1, 2, 3)", result="(1, 2, 5)")
    _dims = 1


class ConstantPad2d(_ConstantPad):
    __doc__ = "Puts a value around the last two dimensions." + _TEXT.format(
        more="\n        value: the value.", call="ConstantPad2d((1, 1, 0, 2), 0.5)", shape="(1, 2, 3)", result="(1, 4, 5)")
    _dims = 2


class ConstantPad3d(_ConstantPad):
    __doc__ = "Puts a value around the last three dimensions." + _TEXT.format(
        more="\n        value: the value.", call="ConstantPad3d(1, 0.5)", shape="(1, 2, 3)", result="(3, 4, 5)")
    _dims = 3


class ZeroPad2d(_ConstantPad):
    __doc__ = "Puts zeros around the last two dimensions." + _TEXT.format(
        more="", call="ZeroPad2d(1)", shape="(1, 2, 3)", result="(1, 4, 5)")
    _dims = 2

    def __init__(self, padding):
        super().__init__(padding, 0)


class _EdgePad(Cell):
    """Pads with elements of the input."""

    _dims, _mode, _least = 1, "reflect", 0

    def __init__(self, padding):
        super().__init__()
        cls = self.cls_name
        if check.is_int(padding):
            padding = (padding,) * (2 * self._dims)
        check.instance(cls, "padding", padding, tuple)
        if len(padding) % 2:
            check.fail_value(cls, "padding", padding, "pairs (before, after)")
        for amount in padding:
            check.instance(cls, "padding", amount, int)
            if self._least is not None and amount < self._least:
                check.fail_value(cls, "padding", padding, f"amounts not below {self._least}")
        self.padding = padding

    def construct(self, x) -> Tensor:
        if not self.padding:
            return x
        if 2 * x.ndim < len(self.padding):
            raise ValueError(f"For '{self.cls_name}', the input must have at least {len(self.padding) // 2} dimensions, but "
                             f"got shape {x.shape}.")
        return ops.pad(x, self.padding, self._mode)


class ReflectionPad1d(_EdgePad):
    __doc__ = "Mirrors the last dimension at its ends." + _TEXT.format(
        more="", call="ReflectionPad1d(1)", shape="(1, 2, 3)", result="(1, 2, 5)")
    _dims = 1


class ReflectionPad2d(_EdgePad):
    __doc__ = "Mirrors the last two dimensions at their ends." + _TEXT.format(
        more="", call="ReflectionPad2d(1)", shape="(1, 2, 3)", result="(1, 4, 5)")
    _dims = 2


class ReflectionPad3d(_EdgePad):
    __doc__ = "Mirrors the last three dimensions at their ends." + _TEXT.format(
        more="", call="ReflectionPad3d(1)", shape="(1, 2, 2, 3)", result="(1, 4, 4, 5)")
    _dims = 3


class ReplicationPad1d(_EdgePad):
    __doc__ = "Repeats the elements at the ends of the last dimension." + _TEXT.format(
        more="", call="ReplicationPad1d(1)", shape="(1, 2, 3)", result="(1, 2, 5)")
    _dims, _mode, _least = 1, "replicate", None


class ReplicationPad2d(_EdgePad):
    __doc__ = "Repeats the elements at the ends of the last two dimensions." + _TEXT.format(
        more="", call="ReplicationPad2d(1)", shape="(1, 2, 3)", result="(1, 4, 5)")
    _dims, _mode, _least = 2, "replicate", None


class ReplicationPad3d(_EdgePad):
    __doc__ = "Repeats the elements at the ends of the last three dimensions." + _TEXT.format(
        more="", call="ReplicationPad3d(1)", shape="(1, 2, 2, 3)", result="(1, 4, 4, 5)")
    _dims, _mode, _least = 3, "replicate", None
