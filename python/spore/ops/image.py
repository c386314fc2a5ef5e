# SPDX-License-Identifier: Apache-2.0
"""Operators on images whose arguments need Python."""
from .._core import Tensor, apply
from ..common import dtype as mstype
from .array import tensor_of
from .primitive import Primitive, prim_attr_register
from spore._core import type_name as _type_name

__all__ = ["crop_and_resize", "CropAndResize", "unfold", "fold", "Im2Col", "Col2Im", "grid_sample", "affine_grid",
           "AffineGrid", "deformable_conv2d", "fractional_max_pool2d", "fractional_max_pool3d"]


def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0) -> Tensor:
    """Parts of [n, height, width, channels] images, given as fractions, resized to crop_size."""
    if not isinstance(image, Tensor):
        raise TypeError(f"For 'crop_and_resize', image must be a Tensor, but got {_type_name(image)}")
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
            raise TypeError(f"For 'CropAndResize', extrapolation_value must be a float, but got {_type_name(extrapolation_value)}")

    def __call__(self, x, boxes, box_indices, crop_size) -> Tensor:
        return crop_and_resize(x, boxes, box_indices, crop_size, self.method, self.extrapolation_value)


# --- windows as columns -----------------------------------------------------------------------------------------------

def _pair(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _columns(x, kernel_size, dilation, padding, stride):
    return apply("unfold", [x], {"kernel_size": _pair(kernel_size), "dilation": _pair(dilation), "padding": _pair(padding),
                                 "stride": _pair(stride)})


def unfold(input, kernel_size, dilation=1, padding=0, stride=1) -> Tensor:
    """Windows of [n, channels, height, width] as columns [n, channels * kernel, positions]."""
    return _columns(input, kernel_size, dilation, padding, stride)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1) -> Tensor:
    """Columns of windows added back to an image of output_size."""
    tensor_of(input, "input", "fold")
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

    def __call__(self, x) -> Tensor:
        out = _columns(x, self.ksizes, self.dilations, self.pads, self.strides)
        return out.reshape((x.shape[0], x.shape[1], -1, out.shape[-1]))


class Col2Im(Primitive):
    """Columns [n, channels, kernel, positions] added back to an image.

    Examples:
        >>> import spore
        >>> from spore import Tensor, ops
        >>> columns = ops.ones((1, 1, 4, 4))
        >>> size = Tensor([3, 3], spore.int32)
        >>> print(ops.Col2Im(kernel_size=[2, 2])(columns, size)[0, 0])
        [[1. 2. 1.]
         [2. 4. 2.]
         [1. 2. 1.]]
    """

    @prim_attr_register
    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        pass

    def __call__(self, x, output_size) -> Tensor:
        return fold(x.reshape((x.shape[0], -1, x.shape[-1])), output_size, self.kernel_size, self.dilation, self.padding,
                    self.stride)


# --- places that are data ---------------------------------------------------------------------------------------------

def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None) -> Tensor:
    """Images or volumes read at places between -1 and 1."""
    return apply("grid_sample", [input, grid], {"mode": mode, "padding_mode": padding_mode, "align_corners": bool(align_corners)})


def affine_grid(theta, size, align_corners=False) -> Tensor:
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
            raise TypeError(f"For 'AffineGrid', align_corners must be a bool, but got {_type_name(align_corners)}")

    def __call__(self, theta, output_size) -> Tensor:
        return affine_grid(theta, output_size, self.align_corners)


def deformable_conv2d(x, weight, offsets, kernel_size, strides, padding, bias=None, dilations=(1, 1, 1, 1), groups=1,
                      deformable_groups=1, modulated=True) -> Tensor:
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


# --- windows at random places -----------------------------------------------------------------------------------------

def _random_starts(u, size, kernel, n_windows):
    """First elements of windows that lie at random, but in order and up to the end, for every u of an array."""
    import numpy as np
    step = np.float32(size - kernel) / np.float32(max(n_windows - 1, 1))
    places = ((np.arange(n_windows) + u[..., None]).astype(np.float32) * step).astype(np.int64)
    places -= (u[..., None] * step).astype(np.int64)
    places[..., -1] = size - kernel
    return places


def _fractional_max_pool(name, input, kernel_size, output_size, output_ratio, return_indices, samples):
    """Every dimension has its own draw; the elements of all windows are gathered, so that the gradient is gather's."""
    import numpy as np
    n = 2 if name.endswith("2d") else 3
    if input.ndim not in (n + 1, n + 2):
        raise ValueError(f"For '{name}', the input must have {n + 1} or {n + 2} dimensions, but got {input.ndim}")
    if (output_size is None) == (output_ratio is None):
        raise ValueError(f"For '{name}', one of output_size and output_ratio must be given, but got {output_size} and "
                         f"{output_ratio}")
    x = input if input.ndim == n + 2 else input.expand_dims(0)
    sizes = x.shape[2:]
    kernel, wanted = (v if isinstance(v, tuple) else (v,) * n for v in
                      (kernel_size, output_ratio if output_size is None else output_size))
    out = wanted if output_size is not None else tuple(int(size * r) for size, r in zip(sizes, wanted))
    for size, k, o in zip(sizes, kernel, out):
        if o < 1 or k < 1 or o + k - 1 > size:
            raise ValueError(f"For '{name}', {o} windows of {k} do not fit in a dimension of {size} elements")
    if samples is None:
        from .random import draw_uniform
        samples = draw_uniform((*x.shape[:2], n))
    u = samples.asnumpy()
    if u.shape != (*x.shape[:2], n):
        raise ValueError(f"For '{name}', _random_samples must have shape {(*x.shape[:2], n)}, but got {u.shape}")
    if n == 2:
        u = u[..., ::-1]  # the first number is that of the width
    index = np.zeros((*x.shape[:2], *[1] * 2 * n), np.int64)  # n, channels, windows, elements of a window
    for i, (size, k, o) in enumerate(zip(sizes, kernel, out)):
        places = _random_starts(u[..., i], size, k, o)[..., None] + np.arange(k)
        shape = [1] * 2 * n
        shape[i], shape[n + i] = o, k
        index = index * size + places.reshape(*x.shape[:2], *shape)
    index = Tensor(index.reshape(*x.shape[:2], -1))
    windows = x.reshape((*x.shape[:2], -1)).gather_elements(2, index).reshape((*x.shape[:2], *out, -1))
    best = windows.argmax(-1, True)
    shape = x.shape[:2] + out if input.ndim == n + 2 else x.shape[1:2] + out
    result = windows.gather_elements(-1, best).reshape(shape)
    return (result, index.reshape(windows.shape).gather_elements(-1, best).reshape(shape)) if return_indices else result


def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                          _random_samples=None) -> Tensor:
    """The largest element of windows of an image, which lie at random so that output_size of them cover it.

    Args:
        input: (N, C, H, W) or (C, H, W).
        kernel_size: size of the window, an int or (height, width).
        output_size: size of the result. Default None.
        output_ratio: or its ratio to the input, in (0, 1). Default None.
        return_indices: whether to give positions in the flattened image too. Default False.
        _random_samples: the random numbers, (N, C, 2) in [0, 1). Default None, drawn.

    Examples:
        >>> from spore import ops
        >>> ops.fractional_max_pool2d(ops.ones((1, 3, 8, 6)), 2, output_ratio=(0.5, 0.5)).shape
        (1, 3, 4, 3)
    """
    return _fractional_max_pool("fractional_max_pool2d", input, kernel_size, output_size, output_ratio, return_indices,
                                _random_samples)


def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                          _random_samples=None) -> Tensor:
    """The largest element of windows of a volume, which lie at random so that output_size of them cover it.

    The arguments are those of ``fractional_max_pool2d`` with one dimension more.

    Examples:
        >>> from spore import ops
        >>> ops.fractional_max_pool3d(ops.ones((1, 3, 4, 6, 8)), 2, output_size=(2, 2, 3)).shape
        (1, 3, 2, 2, 3)
    """
    return _fractional_max_pool("fractional_max_pool3d", input, kernel_size, output_size, output_ratio, return_indices,
                                _random_samples)


TENSOR_METHODS = {"fold": fold}
MINT = {"nn.functional.unfold": unfold, "nn.functional.fold": fold, "nn.functional.grid_sample": grid_sample}
