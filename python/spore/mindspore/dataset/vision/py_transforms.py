# SPDX-License-Identifier: Apache-2.0
"""The older address of transforms of Pillow images. As there, Decode gives a Pillow image, and Normalize and its like take
arrays of channels, height and width with values from 0 to 1."""
import random

import numpy as np

from spore.dataset import _check as check
from spore.dataset.transforms.transforms import PyTensorOperation, to_numpy_type
from spore.dataset.vision import py_transforms_util as util
from spore.dataset.vision import transforms
from spore.dataset.vision.transforms import (AdjustGamma, AutoContrast, CenterCrop, Equalize, FiveCrop, Grayscale,
                                             HsvToRgb, Invert, LinearTransformation, MixUp, Pad, RandomAffine,
                                             RandomColor, RandomColorAdjust, RandomCrop, RandomErasing, RandomGrayscale,
                                             RandomHorizontalFlip, RandomLighting, RandomPerspective, RandomResizedCrop,
                                             RandomRotation, RandomSharpness, RandomVerticalFlip, Resize, RgbToHsv,
                                             TenCrop, ToPIL, ToTensor, UniformAugment, not_random)
from spore.dataset.vision.utils import Border, Inter

__all__ = ['AdjustGamma', 'AutoContrast', 'CenterCrop', 'Cutout', 'Decode', 'Equalize', 'FiveCrop', 'Grayscale',
           'HsvToRgb', 'HWC2CHW', 'Invert', 'LinearTransformation', 'MixUp', 'Normalize', 'NormalizePad', 'Pad',
           'RandomAffine', 'RandomColor', 'RandomColorAdjust', 'RandomCrop', 'RandomErasing', 'RandomGrayscale',
           'RandomHorizontalFlip', 'RandomLighting', 'RandomPerspective', 'RandomResizedCrop', 'RandomRotation',
           'RandomSharpness', 'RandomVerticalFlip', 'Resize', 'RgbToBgr', 'RgbToHsv', 'TenCrop', 'ToPIL', 'ToTensor',
           'ToType', 'UniformAugment', 'Border', 'Inter', 'not_random']


class Decode(transforms.Decode):
    """A picture file's bytes as a Pillow image in RGB."""

    def __init__(self):
        super().__init__(to_pil=True)


class HWC2CHW(PyTensorOperation):
    """Channels first."""

    random = False

    def _execute_py(self, img):
        util.need_numpy(img)
        if img.ndim not in (2, 3):
            raise TypeError(f"img dimension should be 2 or 3. Got {img.ndim}.")
        return img if img.ndim == 2 else img.transpose(2, 0, 1).copy()


class Normalize(PyTensorOperation):
    """``(image - mean) / std`` by channel of an array of channels, height and width.

    Args:
        mean, std: numbers from 0 to 1, one for each channel or one for all.
    """

    random = False

    def __init__(self, mean, std):
        super().__init__()
        check.kind(mean, (list, tuple), 'mean')
        check.kind(std, (list, tuple), 'std')
        if len(mean) != len(std):
            raise ValueError("Length of mean and std must be equal.")
        for m, s in zip(mean, std):
            check.within(m, 0., 1., 'mean_value')
            check.within(s, 0., 1., 'std_value', open_left=True)
        self.mean, self.std = mean, std

    def _execute_py(self, img):
        util.need_numpy(img)
        if img.ndim != 3:
            raise TypeError(f"img dimension should be 3. Got {img.ndim}.")
        if img.dtype.kind in 'iu':
            raise NotImplementedError(f"Unsupported image datatype: [{img.dtype}], pls execute [ToTensor] before "
                                      "[Normalize].")
        if len(self.mean) not in (1, img.shape[0]):
            raise ValueError("Length of mean and std must both be 1 or equal to the number of channels"
                             f"({img.shape[0]}).")
        mean, std = (np.array(v, img.dtype).reshape(-1, 1, 1) for v in (self.mean, self.std))
        return (img - mean) / std


class NormalizePad(Normalize):
    """Normalize, and a channel of zeros behind the others.

    Args:
        mean, std: as for Normalize.
        dtype: 'float32' or 'float16'.
    """

    def __init__(self, mean, std, dtype='float32'):
        super().__init__(mean, std)
        if not isinstance(dtype, str):
            raise TypeError("dtype should be string.")
        if dtype not in ('float32', 'float16'):
            raise ValueError("dtype only support float32 or float16.")
        self.dtype = dtype

    def _execute_py(self, img):
        image = super()._execute_py(img)
        return np.concatenate((image, np.zeros((1, *image.shape[1:]), np.float32))).astype(self.dtype)


class Cutout(PyTensorOperation):
    """Black squares in an array of channels, height and width.

    Args:
        length: their side.
        num_patches: how many.
    """

    def __init__(self, length, num_patches=1):
        super().__init__()
        check.integer(length, 'length', 1)
        check.integer(num_patches, 'num_patches', 1)
        self.length, self.num_patches = length, num_patches

    def _execute_py(self, np_img):
        util.need_numpy(np_img)
        if np_img.ndim != 3:
            raise TypeError(f"img dimension should be 3. Got {np_img.ndim}.")
        out, (_, h, w), half = np_img.copy(), np_img.shape, self.length // 2
        for _ in range(self.num_patches):
            y, x = random.randint(0, h), random.randint(0, w)
            out[:, max(0, y - half):y + half, max(0, x - half):x + half] = 0
        return out


class RgbToBgr(PyTensorOperation):
    """Red and blue exchanged.

    Args:
        is_hwc: whether channels are the last dimension.
    """

    random = False

    def __init__(self, is_hwc=False):
        super().__init__()
        check.flag(is_hwc, 'is_hwc')
        self.is_hwc = is_hwc

    def _execute_py(self, rgb_imgs):
        util.need_numpy(rgb_imgs)
        axis = -1 if self.is_hwc else -3
        if rgb_imgs.ndim not in (3, 4) or rgb_imgs.shape[axis] != 3:
            raise TypeError(f"img should be 3 channels RGB img. Got shape {rgb_imgs.shape}.")
        return np.flip(rgb_imgs, axis)


class ToType(PyTensorOperation):
    """Another type.

    Args:
        output_type: of numpy or spore.
    """

    random = False

    def __init__(self, output_type):
        super().__init__()
        self.output_type = to_numpy_type(output_type)

    def _execute_py(self, img):
        return util.need_numpy(img).astype(self.output_type)
