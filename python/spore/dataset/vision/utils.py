# SPDX-License-Identifier: Apache-2.0
"""Names for the choices that transforms of images offer, and image files."""
import os
from enum import Enum, IntEnum

import numpy as np

from spore._printable import printable
from spore import _core

__all__ = ['AutoAugmentPolicy', 'Border', 'ConvertMode', 'ImageBatchFormat', 'ImageReadMode', 'Inter', 'SliceMode',
           'encode_jpeg', 'encode_png', 'get_image_num_channels', 'get_image_size', 'read_file', 'read_image',
           'write_file', 'write_jpeg', 'write_png']


class AutoAugmentPolicy(str, Enum):
    """The data set whose learned policy AutoAugment follows."""
    IMAGENET = 'imagenet'
    CIFAR10 = 'cifar10'
    SVHN = 'svhn'

    def engine(self):
        """The engine's number."""
        return list(AutoAugmentPolicy).index(self)


class Border(str, Enum):
    """What is put around an image: a colour, the pixels of its edge, or its mirror image without or with the edge."""
    CONSTANT = 'constant'
    EDGE = 'edge'
    REFLECT = 'reflect'
    SYMMETRIC = 'symmetric'

    def engine(self):
        """The engine's number."""
        return list(Border).index(self)

    @staticmethod
    def to_python_type(border_type):
        """The name numpy has for it."""
        return Border(border_type).value


class ConvertMode(IntEnum):
    """From one order of channels to another."""
    COLOR_BGR2BGRA = 0
    COLOR_RGB2RGBA = 0
    COLOR_BGRA2BGR = 1
    COLOR_RGBA2RGB = 1
    COLOR_BGR2RGBA = 2
    COLOR_RGB2BGRA = 2
    COLOR_RGBA2BGR = 3
    COLOR_BGRA2RGB = 3
    COLOR_BGR2RGB = 4
    COLOR_RGB2BGR = 4
    COLOR_BGRA2RGBA = 5
    COLOR_RGBA2BGRA = 5
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2BGR = 8
    COLOR_GRAY2RGB = 8
    COLOR_GRAY2BGRA = 9
    COLOR_GRAY2RGBA = 9
    COLOR_BGRA2GRAY = 10
    COLOR_RGBA2GRAY = 11


class ImageBatchFormat(IntEnum):
    """Where the channels of a batch of images are."""
    NHWC = 0
    NCHW = 1


class ImageReadMode(IntEnum):
    """How a picture file is read: as it is, as gray, as red, green and blue."""
    UNCHANGED = 0
    GRAYSCALE = 1
    COLOR = 2


class Inter(IntEnum):
    """How values between pixels are found."""
    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5

    @staticmethod
    def to_python_type(inter_type):
        """Pillow's number for it."""
        from PIL import Image
        known = {Inter.NEAREST: Image.Resampling.NEAREST, Inter.ANTIALIAS: Image.Resampling.LANCZOS,
                 Inter.LINEAR: Image.Resampling.BILINEAR, Inter.CUBIC: Image.Resampling.BICUBIC}
        if inter_type not in known:
            raise RuntimeError(f"Pillow has no interpolation {inter_type!r}")
        return known[inter_type]


class SliceMode(IntEnum):
    """What SlicePatches does with the rest: put something behind it, or drop it."""
    PAD = 0
    DROP = 1


def parse_padding(padding):
    """(left, top, right, bottom) of one, two or four numbers."""
    if isinstance(padding, int):
        return (padding,) * 4
    return tuple(padding) if len(padding) == 4 else (padding[0], padding[1], padding[0], padding[1])


# --- image files ------------------------------------------------------------------------------------------------------

def _array(image):
    if isinstance(image, _core.Tensor):
        return image.asnumpy()
    if isinstance(image, np.ndarray):
        return image
    raise TypeError(f"Input image is not of type {np.ndarray} or {_core.Tensor}, but got: {type(image)}.")


def _number(value, name):
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"Input {name} is not of type {int}, but got: {type(value)}.")
    return value


def _path(filename):
    if not isinstance(filename, str):
        raise TypeError(f"Input filename is not of type {str}, but got: {type(filename)}.")
    return filename


def _encode(form, who, image, level):
    """An image as the bytes of a file, with MindSpore's words about what cannot be one."""
    array, name = _array(image), {'jpeg': 'quality', 'png': 'compression_level'}[form]
    _number(level, name)
    if array.dtype != np.uint8:
        what = 'elements of image' if who.startswith('Write') else 'image data'
        raise RuntimeError(f"{who}: The type of the {what} should be UINT8, but got {array.dtype}.")
    if array.ndim not in (2, 3):
        raise RuntimeError(f"{who}: The image has invalid dimensions. It should have two or three dimensions, but got {array.ndim} dimensions.")
    try:
        return _core.image_encode(form, array, level)
    except RuntimeError as error:
        raise RuntimeError(str(error).replace(f'Encode{form.title()}:', f'{who}:', 1)) from None


def encode_jpeg(image, quality=75):
    """An image as the bytes of a JPEG file.

    Args:
        image: uint8 array or Tensor of 1 or 3 channels.
        quality: from 1 to 100.

    Returns:
        uint8 array.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> data = vision.encode_jpeg(np.full((8, 8, 3), 100, np.uint8))
        >>> vision.Decode()(data).shape
        (8, 8, 3)
    """
    return _encode('jpeg', 'EncodeJpeg', image, quality)


def encode_png(image, compression_level=6):
    """An image as the bytes of a PNG file.

    Args:
        image: uint8 array or Tensor of 1 or 3 channels.
        compression_level: from 0 to 9.

    Returns:
        uint8 array.
    """
    return _encode('png', 'EncodePng', image, compression_level)


def get_image_num_channels(image):
    """Number of channels of an image, an array or a Pillow image; 1 for an array of two dimensions.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> vision.get_image_num_channels(np.zeros((4, 5, 3)))
        3
    """
    if isinstance(image, np.ndarray):
        if image.ndim < 2:
            raise RuntimeError(f"GetImageNumChannels: invalid parameter, image should have at least two dimensions, but got: {image.ndim}")
        return 1 if image.ndim == 2 else image.shape[-1]
    if hasattr(image, 'getbands'):
        return len(image.getbands())
    raise TypeError(f"Input image is not of type {np.ndarray} or PIL.Image.Image, but got: {type(image)}.")


def get_image_size(image):
    """[height, width] of an image, an array or a Pillow image.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> vision.get_image_size(np.zeros((4, 5, 3)))
        [4, 5]
    """
    if isinstance(image, np.ndarray):
        if image.ndim < 2:
            raise RuntimeError(f"GetImageSize: invalid parameter, image should have at least two dimensions, but got: {image.ndim}")
        return list(image.shape[:2] if image.ndim == 2 else image.shape[-3:-1])
    if hasattr(image, 'getbands'):
        return [image.size[1], image.size[0]]
    raise TypeError(f"Input image is not of type {np.ndarray} or PIL.Image.Image, but got: {type(image)}.")


def _regular(filename, who):
    if not os.path.exists(filename):
        raise RuntimeError(f"{who}: Invalid file path, {printable(filename)} does not exist.")
    if not os.path.isfile(filename):
        raise RuntimeError(f"{who}: Invalid file path, {printable(filename)} is not a regular file.")


def read_file(filename):
    """The bytes of a file as a uint8 array."""
    _regular(_path(filename), 'ReadFile')
    return np.fromfile(filename, np.uint8)


def _orientation(data):
    """The number from 1 to 8 that a JPEG's Exif says how it is to be held; 1 if it says nothing."""
    at = 2
    while data[:2] == b'\xff\xd8' and at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] != 0xDA:
        size = int.from_bytes(data[at + 2:at + 4], 'big')
        if data[at + 1] == 0xE1 and data[at + 4:at + 10] == b'Exif\0\0':
            return _exif_orientation(data[at + 10:at + 2 + size])
        at += 2 + size
    return 1


def _exif_orientation(tiff):
    order = {b'II': 'little', b'MM': 'big'}.get(tiff[:2])
    if order is None:
        return 1

    def number(start, n):
        return int.from_bytes(tiff[start:start + n], order)

    first = number(4, 4)
    for i in range(number(first, 2)):
        entry = first + 2 + 12 * i
        if entry + 12 > len(tiff):
            break
        if number(entry, 2) == 0x0112:
            found = number(entry + 8, 2)
            return found if 1 <= found <= 8 else 1
    return 1


def _upright(image, orientation):
    if orientation >= 5:
        image = image.swapaxes(0, 1)
    vertical = orientation in (3, 4, 7, 8)
    horizontal = orientation in (2, 3, 6, 7)
    return np.ascontiguousarray(image[::-1 if vertical else 1, ::-1 if horizontal else 1])


def read_image(filename, mode=ImageReadMode.UNCHANGED):
    """A picture file as an array of height, width and channels. Other than UNCHANGED, a photograph is turned as its camera
    was held.

    Args:
        filename: JPEG, PNG, WebP, BMP or GIF.
        mode: an ImageReadMode.
    """
    _path(filename)
    if not isinstance(mode, ImageReadMode):
        raise TypeError(f"Input mode is not of type {ImageReadMode}, but got: {type(mode)}.")
    _regular(filename, 'ReadImage')
    with open(filename, 'rb') as file:
        data = file.read()
    try:
        image = _core.image_decode(data, int(mode))
    except RuntimeError as error:
        raise RuntimeError(f"ReadImage: Failed to read file {filename}: {error}") from None
    orientation = 1 if mode == ImageReadMode.UNCHANGED else _orientation(data)
    return image if orientation == 1 else _upright(image, orientation)


def _write(filename, data, who):
    if os.path.exists(filename):
        _regular(filename, who)
    try:
        data.tofile(filename)
    except OSError as error:
        raise RuntimeError(f"{who}: Failed to open the file {filename} for writing: {error}") from None


def write_file(filename, data):
    """Bytes into a file.

    Args:
        filename: its name.
        data: uint8 array or Tensor of one dimension.
    """
    _path(filename)
    if isinstance(data, _core.Tensor):
        data = data.asnumpy()
    if not isinstance(data, np.ndarray):
        raise TypeError(f"Input data is not of type {np.ndarray} or {_core.Tensor}, but got: {type(data)}.")
    if data.dtype != np.uint8:
        raise RuntimeError(f"WriteFile: The type of the elements of data should be UINT8, but got {data.dtype}.")
    if data.size and data.ndim != 1:
        raise RuntimeError(f"WriteFile: The data has invalid dimensions. It should have only one dimension, but got "
                           f"{data.ndim} dimensions.")
    _write(filename, np.ascontiguousarray(data), 'WriteFile')


def write_jpeg(filename, image, quality=75):
    """An image as a JPEG file; arguments as for encode_jpeg."""
    _write(_path(filename), _encode('jpeg', 'WriteJpeg', image, quality), 'WriteJpeg')


def write_png(filename, image, compression_level=6):
    """An image as a PNG file; arguments as for encode_png."""
    _write(_path(filename), _encode('png', 'WritePng', image, compression_level), 'WritePng')
