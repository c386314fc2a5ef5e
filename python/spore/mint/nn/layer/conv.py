# SPDX-License-Identifier: Apache-2.0
"""Convolutions."""
from spore import _core
from spore._core import Tensor
from spore import ops
from spore.common import dtype as mstype
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.ops._gather import mint_names

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d"]


def _sizes(cls, name, value, count, least=1):
    if isinstance(value, list):
        value = tuple(value)
    if isinstance(value, tuple) and len(value) == 1:
        value = value * count
    return check.tuple_of(cls, name, value, count, least)


class _Conv(Cell):
    """A convolution over `_dims` dimensions."""

    _dims = 2

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", dtype=None):
        super().__init__()
        cls, n = self.cls_name, self._dims
        check.groups(cls, in_channels, out_channels, groups)
        check.boolean(cls, "bias", bias)
        self.kernel_size, self.stride = _sizes(cls, "kernel_size", kernel_size, n), _sizes(cls, "stride", stride, n)
        self.dilation = _sizes(cls, "dilation", dilation, n)
        self.padding_mode = check.one_of(cls, "padding_mode", padding_mode, ("zeros", "reflect", "replicate", "circular"))
        if isinstance(padding, str):
            check.one_of(cls, "padding", padding, ("same", "valid"))
            if padding == "same" and self.stride != (1,) * n:
                raise ValueError(f"For '{cls}', padding 'same' needs a stride of 1, but got {self.stride}.")
            spans = [d * (k - 1) if padding == "same" else 0 for d, k in zip(self.dilation, self.kernel_size)]
            pads = tuple(p for s in spans for p in (s // 2, s - s // 2))
            self.padding = padding
        else:
            self.padding = _sizes(cls, "padding", padding, n, 0)
            pads = tuple(p for p in self.padding for _ in range(2))
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.transposed, self.output_padding = False, (0,) * n
        setattr(self, f"conv{n}d", mint_names("mint.nn.functional")[f"conv{n}d"])  # the name under which subclasses call the operator
        shape = [out_channels, in_channels // groups, *self.kernel_size]
        self.weight, self.bias = check.affine_parameters(cls, None, None, shape, check.product(shape[1:]), bias,
                                                         dtype or mstype.float32)
        # The first dimension last, as ops.pad wants it.
        self._around = tuple(p for i in reversed(range(n)) for p in pads[2 * i:2 * i + 2]) if padding_mode != "zeros" else None
        self._attrs = {"stride": self.stride, "pad_mode": "pad", "pad": (0,) * (2 * n) if self._around else pads,
                       "dilation": self.dilation, "group": groups}

    def construct(self, input) -> Tensor:
        single = input.ndim == self._dims + 1
        if single:
            input = ops.expand_dims(input, 0)
        if self._around:
            input = ops.pad(input, self._around, self.padding_mode)
        out = _core.apply(f"conv{self._dims}d", (input, self.weight, self.bias), self._attrs)
        return ops.squeeze(out, 0) if single else out

    def extend_repr(self):
        return (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
                f"padding={self.padding}, dilation={self.dilation}, groups={self.groups}, bias={self.bias is not None}")


_CONV = """

    Args:
        in_channels, out_channels: channels of input and output.
        kernel_size: size of the kernel, an int or one for every dimension.
        stride: step of the kernel. Default 1.
        padding: elements added at both sides, or 'same' or 'valid'. Default 0.
        dilation: distance between taps of the kernel. Default 1.
        groups: number of groups of channels. Default 1.
        bias: whether a bias is added. Default True.
        padding_mode: 'zeros', 'reflect', 'replicate' or 'circular'. Default 'zeros'.
        dtype: of the Parameters. Default None, float32.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.{name}(2, 3, 3, padding=1)(ms.ops.ones({shape})).shape)
        {result}
    """


class Conv1d(_Conv):
    __doc__ = "Convolution of a signal, (N, C, L) or (C, L)." + _CONV.format(name="Conv1d", shape="(1, 2, 5)",
                                                                           result="(1, 3, 5)")
    _dims = 1


class Conv2d(_Conv):
    __doc__ = "Convolution of an image, (N, C, H, W) or (C, H, W)." + _CONV.format(name="Conv2d", shape="(1, 2, 5, 5)",
                                                                                 result="(1, 3, 5, 5)")
    _dims = 2


class Conv3d(_Conv):
    __doc__ = ("Convolution of a volume, (N, C, D, H, W) or (C, D, H, W)."
               + _CONV.format(name="Conv3d", shape="(1, 2, 5, 5, 5)", result="(1, 3, 5, 5, 5)"))
    _dims = 3


class ConvTranspose2d(Cell):
    """Transposed convolution of an image, (N, C, H, W) or (C, H, W).

    Args:
        in_channels, out_channels: channels of input and output.
        kernel_size: size of the kernel, an int or (height, width).
        stride: step of the kernel. Default 1.
        padding: elements taken away at both sides. Default 0.
        output_padding: rows and columns added at the end. Default 0.
        groups: number of groups of channels. Default 1.
        bias: whether a bias is added. Default True.
        dilation: distance between taps of the kernel. Default 1.
        padding_mode: must be 'zeros'.
        dtype: of the Parameters. Default None, float32.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.ConvTranspose2d(2, 3, 4, stride=2, padding=1)(ms.ops.ones((1, 2, 5, 5))).shape)
        (1, 3, 10, 10)
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1, padding_mode="zeros", dtype=None):
        super().__init__()
        cls = self.cls_name
        check.groups(cls, in_channels, out_channels, groups)
        check.boolean(cls, "bias", bias)
        check.one_of(cls, "padding_mode", padding_mode, ("zeros",))
        self.kernel_size, self.stride = _sizes(cls, "kernel_size", kernel_size, 2), _sizes(cls, "stride", stride, 2)
        self.padding, self.dilation = _sizes(cls, "padding", padding, 2, 0), _sizes(cls, "dilation", dilation, 2)
        self.output_padding = _sizes(cls, "output_padding", output_padding, 2, 0)
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, padding_mode
        shape = [in_channels, out_channels // groups, *self.kernel_size]
        self.weight, self.bias = check.affine_parameters(cls, None, None, shape, check.product(shape[1:]), bias,
                                                         dtype or mstype.float32, out_channels)
        self._attrs = {"stride": self.stride, "pad_mode": "pad", "pad": tuple(p for p in self.padding for _ in range(2)),
                       "dilation": self.dilation, "group": groups}

    def construct(self, input, output_size=None) -> Tensor:
        single = input.ndim == 3
        if single:
            input = ops.expand_dims(input, 0)
        least = [(size - 1) * s - 2 * p + d * (k - 1) + 1 for size, s, p, d, k in
                 zip(input.shape[2:], self.stride, self.padding, self.dilation, self.kernel_size)]
        if output_size is None:
            size = [a + b for a, b in zip(least, self.output_padding)]
        else:
            size = list(output_size)[-2:]
            if len(size) != 2 or any(not a <= b < a + s for a, b, s in zip(least, size, self.stride)):
                raise ValueError(f"For '{self.cls_name}', 'output_size' must be at least {tuple(least)} and less than a stride "
                                 f"more, but got {output_size}.")
        out = _core.apply("conv2d_input_grad", (input, self.weight), dict(self._attrs, input_size=tuple(size)))
        if self.bias is not None:
            out = out + ops.reshape(self.bias, (1, -1, 1, 1))
        return ops.squeeze(out, 0) if single else out
