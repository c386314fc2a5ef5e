# SPDX-License-Identifier: Apache-2.0
"""Layers for images, (N, C, H, W): comparison, cropping, rearranging."""
import math

import numpy as np

from spore import ops
from spore.common import dtype as mstype
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.layer._plain import Plain
from spore.nn.layer.container import CellList
from spore.nn.layer.conv import Conv2d
from spore.nn.layer.pooling import AvgPool2d

__all__ = ["ImageGradients", "SSIM", "MSSSIM", "PSNR", "CentralCrop", "PixelShuffle", "PixelUnshuffle",
           "ResizeBilinear"]


class ImageGradients(Plain):
    """Differences between neighbouring rows, and between neighbouring columns; the last ones are zero.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> dy, dx = nn.ImageGradients()(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))
        >>> print(dy)
        [[[[2. 2.]
           [0. 0.]]]]
    """

    def construct(self, images):
        check.rank_of(self.cls_name, images, 4)
        dy = ops.concat((images[:, :, 1:] - images[:, :, :-1], ops.zeros_like(images[:, :, :1])), 2)
        dx = ops.concat((images[:, :, :, 1:] - images[:, :, :, :-1], ops.zeros_like(images[:, :, :, :1])), 3)
        return dy, dx


def _same(cls, img1, img2):
    if img1.dtype != img2.dtype:
        raise TypeError(f"For '{cls}', the images must have one dtype, but got {img1.dtype} and {img2.dtype}.")
    if tuple(img1.shape) != tuple(img2.shape):
        raise ValueError(f"For '{cls}', the images must have one shape, but got {img1.shape} and {img2.shape}.")


def _scaled(img1, img2, max_val):
    """Images and their largest value as float32; integers are scaled to [0, 1]."""
    kind = mstype.dtype_to_nptype(img1.dtype)
    top = float(np.iinfo(kind).max) if np.issubdtype(kind, np.integer) else 1.0
    images = (image.astype(mstype.float32) for image in (img1, img2))
    return (*((image * (1.0 / top) if top > 1 else image) for image in images), max_val / top)


def _window(size, sigma):
    """A Gaussian of sum one, as the weight of a convolution."""
    at = np.arange(-size // 2 + 1, size // 2 + 1, dtype=np.float32)
    line = np.exp(-at ** 2 / (2 * sigma ** 2))
    plane = np.outer(line, line)
    return Tensor((plane / plane.sum())[None, None].astype(np.float32))


def _blur(filter_size, filter_sigma):
    conv = Conv2d(1, 1, filter_size, pad_mode="valid", weight_init=_window(filter_size, filter_sigma))
    conv.weight.requires_grad = False
    return conv


def _similarity(c1, c2, img1, img2, conv):
    """Structural similarity and its contrast part, mean over pixels, (N, C)."""
    n, c, h, w = img1.shape
    a, b = (ops.reshape(image, (n * c, 1, h, w)) for image in (img1, img2))
    mean_a, mean_b = conv(a), conv(b)
    var_a, var_b = conv(a * a) - mean_a * mean_a, conv(b * b) - mean_b * mean_b
    contrast = (2 * (conv(a * b) - mean_a * mean_b) + c2) / (var_a + var_b + c2)
    whole = (2 * mean_a * mean_b + c1) / (mean_a * mean_a + mean_b * mean_b + c1) * contrast
    return (ops.reshape(ops.mean(value, (1, 2, 3)), (n, c)) for value in (whole, contrast))


def _similarity_arguments(cell, max_val, filter_size, filter_sigma, k1, k2):
    cls = cell.cls_name
    cell.max_val = check.number_in(cls, "max_val", max_val, 0, math.inf, open_low=True)
    cell.filter_size = check.positive_int(cls, "filter_size", filter_size)
    cell.filter_sigma = check.number_in(cls, "filter_sigma", filter_sigma, 0, math.inf, (float,), open_low=True)
    cell.k1, cell.k2 = check.instance(cls, "k1", k1, float), check.instance(cls, "k2", k2, float)


class SSIM(Cell):
    """Structural similarity of images, 1 for equal ones.

    Args:
        max_val: largest possible value of a pixel. Default 1.0.
        filter_size: size of the Gaussian filter. Default 11.
        filter_sigma: its standard deviation. Default 1.5.
        k1, k2: factors of the constants that keep quotients stable. Default 0.01 and 0.03.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> image = ms.ops.ones((1, 3, 16, 16))
        >>> print(nn.SSIM()(image, image))
        [1.]
    """

    def __init__(self, max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
        super().__init__()
        _similarity_arguments(self, max_val, filter_size, filter_sigma, k1, k2)
        self.conv = _blur(filter_size, filter_sigma)

    def construct(self, img1, img2) -> Tensor:
        check.float_types(self.cls_name, "img1", img1)
        check.rank_of(self.cls_name, img1, 4)
        if min(img1.shape[2:]) < self.filter_size:
            raise ValueError(f"For '{self.cls_name}', images must not be smaller than the filter, {self.filter_size}, but got "
                             f"shape {img1.shape}.")
        _same(self.cls_name, img1, img2)
        img1, img2, top = _scaled(img1, img2, self.max_val)
        whole, _ = _similarity((self.k1 * top) ** 2, (self.k2 * top) ** 2, img1, img2, self.conv)
        return ops.mean(whole, -1)


class MSSSIM(Cell):
    """Structural similarity of images at several scales.

    Args:
        max_val: largest possible value of a pixel. Default 1.0.
        power_factors: exponent of every scale, the largest images first.
        filter_size: size of the Gaussian filter. Default 11.
        filter_sigma: its standard deviation. Default 1.5.
        k1, k2: factors of the constants that keep quotients stable. Default 0.01 and 0.03.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> image = ms.ops.ones((1, 3, 32, 32))
        >>> print(nn.MSSSIM(power_factors=(0.5, 0.5))(image, image))
        [1.]
    """

    def __init__(self, max_val=1.0, power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size=11,
                 filter_sigma=1.5, k1=0.01, k2=0.03):
        super().__init__()
        check.instance(self.cls_name, "power_factors", power_factors, tuple, list)
        _similarity_arguments(self, max_val, filter_size, filter_sigma, k1, k2)
        self.level = len(power_factors)
        self.multi_convs_list = CellList([_blur(filter_size, filter_sigma) for _ in power_factors])
        self.weight_tensor = Tensor(list(power_factors), mstype.float32)
        self.avg_pool = AvgPool2d(kernel_size=2, stride=2, pad_mode="valid")

    def construct(self, img1, img2) -> Tensor:
        cls = self.cls_name
        check.rank_of(cls, img1, 4)
        check.rank_of(cls, img2, 4)
        if img1.dtype not in (mstype.float64, mstype.float32, mstype.float16, mstype.uint8):
            raise TypeError(f"For '{cls}', the dtype of the images must be float16, float32, float64 or uint8, but got "
                            f"{img1.dtype}.")
        _same(cls, img1, img2)
        img1, img2, top = _scaled(img1, img2, self.max_val)
        parts = []
        for conv in self.multi_convs_list:
            whole, contrast = _similarity((self.k1 * top) ** 2, (self.k2 * top) ** 2, img1, img2, conv)
            parts.append(ops.relu(contrast))
            img1, img2 = self.avg_pool(img1), self.avg_pool(img2)
        parts[-1] = ops.relu(whole)
        return ops.mean(ops.prod(ops.pow(ops.stack(parts, -1), self.weight_tensor), -1), -1)


class PSNR(Cell):
    """Peak signal-to-noise ratio of images in decibel.

    Args:
        max_val: largest possible value of a pixel. Default 1.0.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.PSNR()(ms.ops.ones((1, 1, 2, 2)), ms.ops.zeros((1, 1, 2, 2))))
        [0.]
    """

    def __init__(self, max_val=1.0):
        super().__init__()
        self.max_val = check.number_in(self.cls_name, "max_val", max_val, 0, math.inf, open_low=True)

    def construct(self, img1, img2) -> Tensor:
        check.rank_of(self.cls_name, img1, 4)
        check.rank_of(self.cls_name, img2, 4)
        _same(self.cls_name, img1, img2)
        img1, img2, top = _scaled(img1, img2, self.max_val)
        error = ops.mean(ops.square(img1 - img2), (-3, -2, -1))
        return 10 / math.log(10.0) * ops.log(top * top / error)


class CentralCrop(Cell):
    """The middle of an image, (N, C, H, W) or (C, H, W).

    Args:
        central_fraction: part of height and width that stays, in (0, 1].

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.CentralCrop(0.5)(ms.ops.ones((3, 8, 8))).shape)
        (3, 4, 4)
    """

    def __init__(self, central_fraction):
        super().__init__()
        self.central_fraction = check.number_in(self.cls_name, "central_fraction", central_fraction, 0.0, 1.0, (float,),
                                                open_low=True)

    def construct(self, image) -> Tensor:
        check.rank_of(self.cls_name, image, 3, 4)
        top, left = (int((size - size * self.central_fraction) / 2) for size in image.shape[-2:])
        if not top and not left:
            return image
        return image[..., top:image.shape[-2] - top, left:image.shape[-1] - left]


class PixelShuffle(Cell):
    """Channels become pixels: (..., C r r, H, W) to (..., C, H r, W r).

    Args:
        upscale_factor: r.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.PixelShuffle(2)(ms.ops.ones((1, 4, 2, 2))).shape)
        (1, 1, 4, 4)
    """

    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def construct(self, input) -> Tensor:
        return ops.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """Pixels become channels: (..., C, H r, W r) to (..., C r r, H, W).

    Args:
        downscale_factor: r.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.PixelUnshuffle(2)(ms.ops.ones((1, 1, 4, 4))).shape)
        (1, 4, 2, 2)
    """

    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def construct(self, input) -> Tensor:
        return ops.pixel_unshuffle(input, self.downscale_factor)


class ResizeBilinear(Cell):
    """An image of another size by linear interpolation. An older name; nn.Upsample does more.

    Args:
        half_pixel_centers: whether pixels are taken at their centres. Default False.

    Inputs are the image, (N, C, H, W), and by keyword either the size of the result or the integer factor of the sizes
    (scale_factor), and align_corners, whether the corners stay in place, which excludes half_pixel_centers.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.ResizeBilinear()(ms.ops.ones((1, 2, 2, 2)), size=(4, 5)).shape)
        (1, 2, 4, 5)
    """

    def __init__(self, half_pixel_centers=False):
        super().__init__()
        self.half_pixel_centers = check.boolean(self.cls_name, "half_pixel_centers", half_pixel_centers)

    def construct(self, x, size=None, scale_factor=None, align_corners=False) -> Tensor:
        cls = self.cls_name
        check.rank_of(cls, x, 4)
        if (size is None) == (scale_factor is None):
            raise ValueError(f"For '{cls}', either 'size' or 'scale_factor' must be given, but got {size} and {scale_factor}.")
        if size is None:
            check.positive_int(cls, "scale_factor", scale_factor)
            size = tuple(n * scale_factor for n in x.shape[2:])
        else:
            check.instance(cls, "size", size, tuple, list)
            if len(size) != 2 or not all(check.is_int(n) and n > 0 for n in size):
                check.fail_value(cls, "size", size, "two positive ints")
        return ops.ResizeBilinearV2(align_corners, self.half_pixel_centers)(x, tuple(size))
