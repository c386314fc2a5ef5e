# SPDX-License-Identifier: Apache-2.0
"""Transforms of images, given as arrays of height, width and channels."""
import numpy as np

from spore.dataset.transforms import to_numpy_type

__all__ = ['Rescale', 'Normalize', 'HWC2CHW', 'ToTensor']


def _image(who, image):
    image = np.asarray(image)
    if image.ndim not in (2, 3):
        raise RuntimeError(f"{who}: an image must have two or three dimensions, but it has {image.ndim}")
    return image


class Rescale:
    """``image * rescale + shift`` as float32.

    Args:
        rescale: factor.
        shift: what is added.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> print(vision.Rescale(0.5, 1.0)(np.array([[2, 4]], np.uint8)))
        [[2. 3.]]
    """

    def __init__(self, rescale, shift):
        for name, value in (('rescale', rescale), ('shift', shift)):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise TypeError(f"Rescale: {name} must be a number, but got {type(value).__name__}")
        self.rescale, self.shift = rescale, shift

    def __call__(self, image):
        return np.asarray(image, np.float32) * np.float32(self.rescale) + np.float32(self.shift)


class Normalize:
    """``(image - mean) / std`` by channel, as float32.

    Args:
        mean, std: a number for each channel.
        is_hwc: whether channels are the last dimension; the first otherwise.
    """

    def __init__(self, mean, std, is_hwc=True):
        mean, std = ([v] if isinstance(v, (int, float)) else list(v) for v in (mean, std))
        if len(mean) != len(std):
            raise ValueError(f"Normalize: mean and std must have one length, but got {len(mean)} and {len(std)}")
        if any(s <= 0 for s in std):
            raise ValueError(f"Normalize: std must be above 0, but got {std}")
        self.mean, self.std, self.is_hwc = np.array(mean, np.float32), np.array(std, np.float32), is_hwc

    def __call__(self, image):
        image = _image('Normalize', image).astype(np.float32)
        channels = 1 if image.ndim == 2 else image.shape[-1 if self.is_hwc else 0]
        if len(self.mean) not in (1, channels):
            raise RuntimeError(f"Normalize: there are {len(self.mean)} numbers in mean, but the image has {channels} "
                               "channels")
        shape = (-1,) if self.is_hwc and image.ndim == 3 else (-1,) + (1,) * (image.ndim - 1)
        return (image - self.mean.reshape(shape)) / self.std.reshape(shape)


class HWC2CHW:
    """Channels first.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> vision.HWC2CHW()(np.zeros((4, 5, 3))).shape
        (3, 4, 5)
    """

    def __call__(self, image):
        image = _image('HWC2CHW', image)
        return np.ascontiguousarray(image.transpose(2, 0, 1)) if image.ndim == 3 else image


class ToTensor:
    """Channels first, values from 0 to 1.

    Args:
        output_type: type of the result.
    """

    def __init__(self, output_type=np.float32):
        self.output_type = to_numpy_type(output_type)

    def __call__(self, image):
        image = _image('ToTensor', image)
        if image.ndim == 2:
            image = image[..., None]
        return np.ascontiguousarray(image.transpose(2, 0, 1) / np.float32(255)).astype(self.output_type)
