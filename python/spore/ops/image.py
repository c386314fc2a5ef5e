# SPDX-License-Identifier: Apache-2.0
"""Operators on images whose arguments need Python."""
from .._core import Tensor, apply
from ..common import dtype as mstype
from .primitive import Primitive, prim_attr_register

__all__ = ["crop_and_resize", "CropAndResize", "unfold", "fold", "Im2Col", "Col2Im", "grid_sample", "affine_grid",
           "AffineGrid", "deformable_conv2d"]


def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0):
    """Parts of [n, height, width, channels] images, given as fractions, resized to crop_size."""
    if not isinstance(image, Tensor):
        raise TypeError(f"For 'crop_and_resize', image must be a Tensor, but got {type(image).__name__}")
    if image.dtype not in (mstype.float16, mstype.float32, mstype.float64):
        image = image.astype(mstype.float32)
    return apply("crop_and_resize", [image, boxes, box_indices.astype(mstype.int64)],
                 {"crop_size": tuple(crop_size), "method": method, "extrapolation_value": float(extrapolation_value)})


class CropAndResize(Primitive):
    """crop_and_resize with its method given once."""

    @prim_attr_register
    def __init__(self, method="bilinear", extrapolation_value=0.0):
        if method not in ("bilinear", "nearest", "bilinear_v2"):
            raise ValueError(f"For 'CropAndResize', method must be 'bilinear', 'nearest' or 'bilinear_v2', but got {method!r}")
        if isinstance(extrapolation_value, bool) or not isinstance(extrapolation_value, float):
            raise TypeError(f"For 'CropAndResize', extrapolation_value must be a float, but got {type(extrapolation_value).__name__}")

    def __call__(self, x, boxes, box_indices, crop_size):
        return crop_and_resize(x, boxes, box_indices, crop_size, self.method, self.extrapolation_value)


# --- windows as columns -----------------------------------------------------------------------------------------------

def _pair(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _columns(x, kernel_size, dilation, padding, stride):
    return apply("unfold", [x], {"kernel_size": _pair(kernel_size), "dilation": _pair(dilation), "padding": _pair(padding),
                                 "stride": _pair(stride)})


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Windows of [n, channels, height, width] as columns [n, channels * kernel, positions]."""
    return _columns(input, kernel_size, dilation, padding, stride)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Columns of windows added back to an image of output_size."""
    size = tuple(output_size.tolist()) if isinstance(output_size, Tensor) else _pair(output_size)
    single = input.ndim == 2
    out = apply("fold", [input.expand_dims(0) if single else input],
                {"output_size": size * 2 if len(size) == 1 else size, "kernel_size": _pair(kernel_size),
                 "dilation": _pair(dilation), "padding": _pair(padding), "stride": _pair(stride)})
    return out.squeeze(0) if single else out


class Im2Col(Primitive):
    """Windows as [n, channels, kernel, positions]."""

    @prim_attr_register
    def __init__(self, ksizes, strides=1, dilations=1, pads=0):
        pass

    def __call__(self, x):
        out = _columns(x, self.ksizes, self.dilations, self.pads, self.strides)
        return out.reshape((x.shape[0], x.shape[1], -1, out.shape[-1]))


class Col2Im(Primitive):
    """Columns [n, channels, kernel, positions] added back to an image."""

    @prim_attr_register
    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        pass

    def __call__(self, x, output_size):
        return fold(x.reshape((x.shape[0], -1, x.shape[-1])), output_size, self.kernel_size, self.dilation, self.padding,
                    self.stride)


# --- places that are data ---------------------------------------------------------------------------------------------

def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Images or volumes read at places between -1 and 1."""
    return apply("grid_sample", [input, grid], {"mode": mode, "padding_mode": padding_mode, "align_corners": bool(align_corners)})


def affine_grid(theta, size, align_corners=False):
    """Places for grid_sample: theta [n, 2, 3] (or [n, 3, 4]) applied to those of an image (or volume) of the given size."""
    size = tuple(size.tolist()) if isinstance(size, Tensor) else tuple(size)
    if theta.ndim != 3 or len(size) not in (4, 5) or tuple(theta.shape[1:]) != (len(size) - 2, len(size) - 1):
        raise ValueError(f"For 'affine_grid', theta of shape {tuple(theta.shape)} does not fit the size {size}")

    def line(n):
        if n == 1:
            return [0.0]
        return [2 * i / (n - 1) - 1 if align_corners else (2 * i + 1) / n - 1 for i in range(n)]
    rows = [[]]
    for axis in (line(n) for n in size[2:]):
        rows = [row + [v] for row in rows for v in axis]
    base = Tensor([row[::-1] + [1.0] for row in rows], theta.dtype)
    out = apply("matmul", [base, theta], {"transpose_b": True})
    return out.reshape((size[0], *size[2:], len(size) - 2))


class AffineGrid(Primitive):
    """affine_grid with align_corners given once."""

    @prim_attr_register
    def __init__(self, align_corners=False):
        if not isinstance(align_corners, bool):
            raise TypeError(f"For 'AffineGrid', align_corners must be a bool, but got {type(align_corners).__name__}")

    def __call__(self, theta, output_size):
        return affine_grid(theta, output_size, self.align_corners)


def deformable_conv2d(x, weight, offsets, kernel_size, strides, padding, bias=None, dilations=(1, 1, 1, 1), groups=1,
                      deformable_groups=1, modulated=True):
    """Convolution whose windows are read at shifted places and scaled; padding is (top, bottom, left, right)."""
    columns = apply("deformable_columns", [x, offsets],
                    {"kernel_size": tuple(kernel_size), "stride": tuple(strides[2:]), "padding": tuple(padding),
                     "dilation": tuple(dilations[2:]), "groups": deformable_groups, "modulated": modulated})
    n, _, height, width = columns.shape
    outputs = weight.shape[0]
    columns = columns.reshape((n, groups, -1, height * width))
    out = apply("matmul", [weight.reshape((1, groups, outputs // groups, -1)), columns], {})
    out = out.reshape((n, outputs, height, width))
    return out if bias is None else out + bias.reshape((1, -1, 1, 1))


TENSOR_METHODS = {"fold": fold}
MINT = {"nn.functional.unfold": unfold, "nn.functional.fold": fold, "nn.functional.grid_sample": grid_sample}
