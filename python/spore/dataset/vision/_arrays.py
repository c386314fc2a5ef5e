# SPDX-License-Identifier: Apache-2.0
"""Transforms of batches of images, and those that MindSpore does on Pillow images or numpy arrays only."""
import random

import numpy as np

from spore.dataset import _check as check
from spore.dataset.transforms.py_transforms_util import Implementation
from spore.dataset.transforms.transforms import PyTensorOperation
from spore.dataset.vision import py_transforms_util as util
from spore.dataset.vision._plain import EngineOnly, two
from spore.dataset.vision.utils import ImageBatchFormat, Inter


class _Python(PyTensorOperation):
    random = False

    def __init__(self):
        super().__init__()
        self.implementation = Implementation.PY


# --- batches ----------------------------------------------------------------------------------------------------------

class CutMixBatch(EngineOnly):
    """Rectangles exchanged between the images of a batch; labels mixed by area.

    Args:
        image_batch_format: an ImageBatchFormat.
        alpha: of the Beta distribution that the area follows.
        prob: probability of each image.
    """

    random = True

    def __init__(self, image_batch_format, alpha=1.0, prob=1.0):
        super().__init__()
        check.kind(image_batch_format, ImageBatchFormat, 'image_batch_format')
        check.kind(alpha, (int, float), 'alpha')
        check.kind(prob, (int, float), 'prob')
        check.kind(alpha, (float, int), 'alpha')
        check.inside(alpha, 0, check.FLOAT_MAX_INTEGER, 'alpha', open_left=True)
        check.within(prob, 0, 1, 'prob')
        self.image_batch_format, self.alpha, self.prob = image_batch_format.value, alpha, prob

    def _engine(self):
        return 'CutMixBatch', {'image_batch_format': self.image_batch_format, 'alpha': self.alpha, 'prob': self.prob}


class MixUpBatch(EngineOnly):
    """Images of a batch mixed in pairs, and their labels.

    Args:
        alpha: of the Beta distribution that the shares follow.
    """

    random = True

    def __init__(self, alpha=1.0):
        super().__init__()
        check.kind(alpha, (int, float), 'alpha')
        check.positive(alpha, 'alpha')
        check.kind(alpha, (float, int), 'alpha')
        check.inside(alpha, 0, check.FLOAT_MAX_INTEGER, 'alpha', open_left=True)
        self.alpha = alpha

    def _engine(self):
        return 'MixUpBatch', {'alpha': self.alpha}


class MixUp(_Python):
    """Images of a batch mixed with their neighbours, or with the batch before.

    Args:
        batch_size: images in a batch.
        alpha: of the Beta distribution that the shares follow.
        is_single: whether a batch is mixed with itself.
    """

    def __init__(self, batch_size, alpha, is_single=True):
        super().__init__()
        check.flag(is_single, 'is_single')
        check.kind(batch_size, int, 'batch_size')
        check.kind(alpha, (int, float), 'alpha')
        check.inside(batch_size, 1, check.FLOAT_MAX_INTEGER, 'batch_size')
        check.positive(alpha, 'alpha')
        self.image, self.label, self.is_first = 0, 0, True
        self.batch_size, self.alpha, self.is_single = batch_size, alpha, is_single

    def __call__(self, image, label):
        if self.is_single:
            return util.mix_up_single(self.batch_size, image, label, self.alpha)
        return util.mix_up_multi(self, self.batch_size, image, label, self.alpha)


# --- Pillow images ----------------------------------------------------------------------------------------------------

class FiveCrop(_Python):
    """The corners and the middle of a Pillow image.

    Args:
        size: side of a square, or (height, width).
    """

    def __init__(self, size):
        super().__init__()
        check.crop_size(size)
        self.size = size

    def _execute_py(self, img):
        return util.five_crop(img, self.size)


class TenCrop(_Python):
    """FiveCrop of a Pillow image and of its mirror image.

    Args:
        size: side of a square, or (height, width).
        use_vertical_flip: whether the mirror image is upside down.
    """

    def __init__(self, size, use_vertical_flip=False):
        super().__init__()
        check.crop_size(size)
        check.flag(use_vertical_flip, 'use_vertical_flip')
        self.size, self.use_vertical_flip = two(size), use_vertical_flip

    def _execute_py(self, img):
        return util.ten_crop(img, self.size, self.use_vertical_flip)


class Grayscale(_Python):
    """A Pillow image in gray.

    Args:
        num_output_channels: 1 or 3.
    """

    def __init__(self, num_output_channels=1):
        super().__init__()
        check.kind(num_output_channels, int, 'num_output_channels')
        if num_output_channels not in (1, 3):
            raise ValueError("Number of channels of the output grayscale image should be either 1 or 3. Got "
                             f"{num_output_channels}.")
        self.num_output_channels = num_output_channels

    def _execute_py(self, img):
        return util.grayscale(img, self.num_output_channels)


class RandomGrayscale(_Python):
    """Grayscale with a probability.

    Args:
        prob: probability.
    """

    random = True

    def __init__(self, prob=0.1):
        super().__init__()
        check.probability(prob)
        self.prob = prob

    def _execute_py(self, img):
        util.need_pil(img)
        return util.grayscale(img, 1 if img.mode == 'L' else 3) if random.random() < self.prob else img


class RandomPerspective(_Python):
    """Perspective of a Pillow image by random points, with a probability.

    Args:
        distortion_scale: how far corners move, from 0 to 1.
        prob: probability.
        interpolation: an Inter.
    """

    random = True

    def __init__(self, distortion_scale=0.5, prob=0.5, interpolation=Inter.BICUBIC):
        super().__init__()
        check.kind(distortion_scale, float, 'distortion_scale')
        check.kind(prob, float, 'prob')
        check.within(distortion_scale, 0.0, 1.0, 'distortion_scale')
        check.within(prob, 0.0, 1.0, 'prob')
        check.kind(interpolation, Inter, 'interpolation')
        self.distortion_scale, self.prob, self.interpolation = distortion_scale, prob, interpolation

    def _execute_py(self, img):
        if not util.is_pil(img):
            raise ValueError("Input image should be a Pillow image.")
        if random.random() >= self.prob:
            return img
        start, end = util.draw_perspective(*img.size, self.distortion_scale)
        return util.perspective(img, start, end, Inter.to_python_type(self.interpolation))


# --- numpy arrays -----------------------------------------------------------------------------------------------------

class RandomErasing(_Python):
    """A random rectangle of an array of channels, height and width erased, with a probability.

    Args:
        prob: probability.
        scale: (least, most) part of the area.
        ratio: (least, most) width by height.
        value: level, three levels, or 'random'.
        inplace: whether the given array is changed.
        max_attempts: how often a rectangle is tried.
    """

    random = True

    def __init__(self, prob=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False, max_attempts=10):
        super().__init__()
        check.kind(prob, (float, int), 'prob')
        check.kinds(scale, (float, int), 'scale')
        check.length(scale, 2, 'scale')
        check.kinds(ratio, (float, int), 'ratio')
        check.length(ratio, 2, 'ratio')
        check.kind(value, (int, list, tuple, str), 'value')
        check.flag(inplace, 'inplace')
        check.kind(max_attempts, int, 'max_attempts')
        if (isinstance(value, str) and value != 'random') or (isinstance(value, (tuple, list)) and len(value) != 3):
            raise ValueError("The value for erasing should be either a single value, or a string 'random', or a "
                             "sequence of 3 elements for RGB respectively.")
        check.within(prob, 0.0, 1.0, 'prob')
        check.min_max(scale, 'scale')
        check.ordered(scale, 0, check.FLOAT_MAX_INTEGER, 'scale')
        check.positive(scale[1], 'scale[1]')
        check.min_max(ratio, 'ratio')
        for r in ratio:
            check.inside(r, 0, check.FLOAT_MAX_INTEGER, 'ratio', open_left=True)
        for level in () if isinstance(value, str) else (value,) if isinstance(value, int) else value:
            check.kind(level, int, 'value')
            check.within(level, 0, 255, 'value')
        check.within(max_attempts, 1, check.FLOAT_MAX_INTEGER, 'max_attempts')
        self.prob, self.scale, self.ratio, self.value = prob, scale, ratio, value
        self.inplace, self.max_attempts = inplace, max_attempts

    def _execute_py(self, np_img):
        util.need_numpy(np_img)
        if random.random() >= self.prob:
            return np_img
        drawn = util.draw_erase(np_img.shape, self.scale, self.ratio, self.value, self.max_attempts)
        out = np_img if self.inplace else np_img.copy()
        if drawn is not None:
            top, left, height, width, value = drawn
            out[:, top:top + height, left:left + width] = value
        return out


class LinearTransformation(_Python):
    """An array of channels, height and width as one vector, less a mean, times a matrix.

    Args:
        transformation_matrix: square array.
        mean_vector: array.
    """

    def __init__(self, transformation_matrix, mean_vector):
        super().__init__()
        check.kind(transformation_matrix, np.ndarray, 'transformation_matrix')
        check.kind(mean_vector, np.ndarray, 'mean_vector')
        if transformation_matrix.shape[0] != transformation_matrix.shape[1]:
            raise ValueError("transformation_matrix should be a square matrix. Got shape "
                             f"{transformation_matrix.shape} instead.")
        if mean_vector.shape[0] != transformation_matrix.shape[0]:
            raise ValueError(f"mean_vector length {mean_vector.shape[0]} should match either one dimension of the square"
                             f"transformation_matrix {transformation_matrix.shape}.")
        self.transformation_matrix, self.mean_vector = transformation_matrix, mean_vector

    def _execute_py(self, np_img):
        return util.linear_transform(np_img, self.transformation_matrix, self.mean_vector)


class RgbToHsv(_Python):
    """Red, green and blue from 0 to 1 as hue, saturation and value.

    Args:
        is_hwc: whether channels are the last dimension.
    """

    def __init__(self, is_hwc=False):
        super().__init__()
        check.flag(is_hwc, 'is_hwc')
        self.is_hwc = is_hwc

    def _execute_py(self, rgb_imgs):
        return util.rgb_to_hsvs(rgb_imgs, self.is_hwc)


class HsvToRgb(_Python):
    """Hue, saturation and value as red, green and blue from 0 to 1.

    Args:
        is_hwc: whether channels are the last dimension.
    """

    def __init__(self, is_hwc=False):
        super().__init__()
        check.flag(is_hwc, 'is_hwc')
        self.is_hwc = is_hwc

    def _execute_py(self, hsv_imgs):
        return util.hsv_to_rgbs(hsv_imgs, self.is_hwc)
