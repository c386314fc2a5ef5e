# SPDX-License-Identifier: Apache-2.0
"""Pooling, patches as columns, images of other sizes."""
import math

from spore import _core
from spore._core import Tensor
from spore import ops
from spore.mint.nn.layer.conv import _sizes
from spore.nn.cell import Cell
from spore.nn.layer.pooling import AdaptiveMaxPool2d, MaxUnpool2d, _whole
from spore.nn.layer.pooling import AvgPool1dExt as AvgPool1d
from spore.nn.layer.pooling import AvgPool2dExt as AvgPool2d
from spore.nn.layer.pooling import AvgPool3dExt as AvgPool3d
from spore.nn.layer.pooling import MaxPool2dExt as MaxPool2d

__all__ = ["AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
           "AvgPool1d", "AvgPool2d", "AvgPool3d", "Fold", "MaxPool2d", "MaxUnpool2d", "Unfold", "Upsample",
           "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class _AdaptiveAvgPool(Cell):
    """Means of windows that cover the input."""

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def extend_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """A signal, (N, C, L) or (C, L), brought to a length by means of windows that cover it.

    Args:
        output_size: the length.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.AdaptiveAvgPool1d(2)(ms.ops.ones((1, 3, 5))).shape)
        (1, 3, 2)
    """

    def construct(self, input) -> Tensor:
        size = self.output_size[0] if isinstance(self.output_size, (tuple, list)) else self.output_size
        return ops.squeeze(ops.adaptive_avg_pool2d(ops.expand_dims(input, -2), (1, size)), -2)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """An image, (N, C, H, W) or (C, H, W), brought to a size by means of windows that cover it.

    Args:
        output_size: an int or (height, width); None keeps a size.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.AdaptiveAvgPool2d(1)(ms.ops.ones((1, 3, 5, 4))).shape)
        (1, 3, 1, 1)
    """

    def construct(self, input) -> Tensor:
        return ops.adaptive_avg_pool2d(input, _whole(input, self.output_size))


class AdaptiveAvgPool3d(Cell):
    """A volume, (N, C, D, H, W) or (C, D, H, W), brought to a size by means of windows that cover it.

    Args:
        output_size: an int or (depth, height, width); None keeps a size.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.AdaptiveAvgPool3d(1)(ms.ops.ones((1, 3, 2, 5, 4))).shape)
        (1, 3, 1, 1, 1)
    """

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def construct(self, input) -> Tensor:
        return ops.adaptive_avg_pool3d(input, _whole(input, self.output_size))


class AdaptiveMaxPool1d(Cell):
    """A signal, (N, C, L) or (C, L), brought to a length by the largest elements of windows that cover it.

    Args:
        output_size: the length.
        return_indices: whether to give positions too. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.AdaptiveMaxPool1d(2)(ms.ops.ones((1, 3, 5))).shape)
        (1, 3, 2)
    """

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def construct(self, input) -> Tensor:
        size = self.output_size[0] if isinstance(self.output_size, (tuple, list)) else self.output_size
        out = ops.adaptive_max_pool2d(ops.expand_dims(input, -2), (1, size), self.return_indices)
        return tuple(ops.squeeze(o, -2) for o in out) if self.return_indices else ops.squeeze(out, -2)

    def extend_repr(self):
        return f"output_size={self.output_size}, return_indices={self.return_indices}"


class Unfold(Cell):
    """Patches of images as columns: (N, C, H, W) to (N, C * taps, patches).

    Args:
        kernel_size: size of a patch, an int or (height, width).
        dilation: distance between elements of a patch. Default 1.
        padding: zeros added at both sides. Default 0.
        stride: step between patches. Default 1.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.Unfold(2)(ms.ops.ones((1, 3, 4, 4))).shape)
        (1, 12, 9)
    """

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def construct(self, input) -> Tensor:
        single = input.ndim == 3
        x = ops.expand_dims(input, 0) if single else input
        k, d, p, s = _geometry(self)
        x = ops.pad(x, (p[1], p[1], p[0], p[0])) if any(p) else x
        rows, columns = ((size - d[i] * (k[i] - 1) - 1) // s[i] + 1 for i, size in enumerate(x.shape[2:]))
        taps = [x[:, :, i * d[0]:i * d[0] + (rows - 1) * s[0] + 1:s[0], j * d[1]:j * d[1] + (columns - 1) * s[1] + 1:s[1]]
                for i in range(k[0]) for j in range(k[1])]
        out = ops.reshape(ops.stack(taps, 2), (x.shape[0], -1, rows * columns))
        return ops.squeeze(out, 0) if single else out


def _geometry(cell):
    cls = cell.cls_name
    return (_sizes(cls, "kernel_size", cell.kernel_size, 2), _sizes(cls, "dilation", cell.dilation, 2),
            _sizes(cls, "padding", cell.padding, 2, 0), _sizes(cls, "stride", cell.stride, 2))


class Fold(Cell):
    """Adds patches, as Unfold gives them, up to images.

    Args:
        output_size: size of the images, an int or (height, width).
        kernel_size: size of a patch, an int or (height, width).
        dilation: distance between elements of a patch. Default 1.
        padding: zeros that were added at both sides. Default 0.
        stride: step between patches. Default 1.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.Fold((4, 4), 2)(ms.ops.ones((1, 12, 9))).shape)
        (1, 3, 4, 4)
    """

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def construct(self, input) -> Tensor:
        single = input.ndim == 2
        x = ops.expand_dims(input, 0) if single else input
        k, d, p, s = _geometry(self)
        size = _sizes(self.cls_name, "output_size", self.output_size, 2)
        rows, columns = ((size[i] + 2 * p[i] - d[i] * (k[i] - 1) - 1) // s[i] + 1 for i in range(2))
        taps = k[0] * k[1]
        if x.shape[1] % taps or x.shape[2] != rows * columns:
            raise ValueError(f"For '{self.cls_name}', the input must have a multiple of {taps} rows and {rows * columns} "
                             f"columns, but got shape {input.shape}.")
        # A tap of every patch is one channel, whose transposed convolution puts it where it came from.
        parts = ops.reshape(x, (x.shape[0] * (x.shape[1] // taps), taps, rows, columns))
        weight = ops.reshape(ops.eye(taps, taps, x.dtype), (taps, 1, *k))
        attrs = {"stride": s, "pad_mode": "pad", "pad": (p[0], p[0], p[1], p[1]), "dilation": d, "group": 1}
        out = _core.apply("conv2d_input_grad", (parts, weight), dict(attrs, input_size=size))
        out = ops.reshape(out, (x.shape[0], -1, *size))
        return ops.squeeze(out, 0) if single else out


def _grown(x, factors):
    """The sizes of the spatial dimensions times factors."""
    sizes = x.shape[2:]
    factors = factors if isinstance(factors, (tuple, list)) else (factors,) * len(sizes)
    return tuple(math.floor(size * factor) for size, factor in zip(sizes, factors))


class Upsample(Cell):
    """A signal, image or volume of another size, by interpolation.

    Args:
        size: size of the result. Default None.
        scale_factor: or the factor of the sizes. Default None.
        mode: 'nearest', 'linear', 'bilinear', 'bicubic' or 'trilinear'. Default 'nearest'.
        align_corners: whether the centres of the corner elements stay in place. Default None.
        recompute_scale_factor: whether the factor is computed anew from the sizes. Default None.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.Upsample(scale_factor=2.0)(ms.ops.ones((1, 2, 2, 2))).shape)
        (1, 2, 4, 4)
    """

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, input) -> Tensor:
        size = _grown(input, self.scale_factor) if self.size is None else self.size
        return ops.interpolate(input, size, None, self.mode, self.align_corners)


class UpsamplingNearest2d(Cell):
    """An image of another size; every pixel is that of the nearest one.

    Args:
        size: size of the result. Default None.
        scale_factor: or the factors of the sizes. Default None.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.UpsamplingNearest2d(size=(4, 4))(ms.ops.ones((1, 2, 2, 2))).shape)
        (1, 2, 4, 4)
    """

    _how = ("nearest", None)

    def __init__(self, size=None, scale_factor=None):
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def construct(self, input) -> Tensor:
        size = _grown(input, self.scale_factor) if self.size is None else self.size
        size = tuple(size) if isinstance(size, (tuple, list)) else (size,) * 2
        return ops.interpolate(input, size, None, *self._how)


class UpsamplingBilinear2d(UpsamplingNearest2d):
    """An image of another size, by linear interpolation; the corners stay in place.

    Args:
        size: size of the result. Default None.
        scale_factor: or the factors of the sizes. Default None.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.UpsamplingBilinear2d(size=(4, 4))(ms.ops.ones((1, 2, 2, 2))).shape)
        (1, 2, 4, 4)
    """

    _how = ("bilinear", True)
