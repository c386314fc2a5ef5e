# SPDX-License-Identifier: Apache-2.0
"""Transforms of images that give the same for the same image."""
import numbers

import numpy as np

from spore.dataset import _check as check
from spore.dataset.transforms.py_transforms_util import Implementation
from spore.dataset.transforms.transforms import (PyTensorOperation, TensorOperation, TypeCast, engine_dtype, is_pil,
                                                 to_numpy_type)
from spore.dataset.vision import py_transforms_util as util
from spore.dataset.vision.utils import Border, ConvertMode, Inter, SliceMode, parse_padding


def two(size):
    """(height, width) of one number or two."""
    return (size, size) if isinstance(size, int) else tuple(size)


def three(value):
    """A colour of one level or three."""
    return (value,) * 3 if isinstance(value, numbers.Number) else tuple(value)


class ImageTensorOperation(TensorOperation):
    """A transform of images in the engine."""

    random = False

    def _check_columns(self, columns):
        for column in columns:
            if not isinstance(column, np.ndarray) and not is_pil(column):
                raise TypeError(f"Input should be NumPy or PIL image, got {type(column)}.")

    def _run(self, columns):
        for column in columns:
            if column.dtype.kind in 'US' and column.size:
                raise RuntimeError(f"{type(self).__name__}: the data type of image tensor does not match the requirement of operator. An image "
                                   f"holds numbers, but got type {'string' if column.dtype.kind == 'U' else 'bytes'}.")
        return super()._run(columns)


class EngineOnly(ImageTensorOperation):
    """One that takes Pillow images as arrays."""

    def __init__(self):
        super().__init__()
        self.implementation = Implementation.C


class Interpolated(ImageTensorOperation):
    """One whose interpolation decides where it can run."""

    def _set_interpolation(self, interpolation):
        if interpolation in (Inter.AREA, Inter.PILCUBIC):
            self.implementation = Implementation.C
        elif interpolation == Inter.ANTIALIAS:
            self.implementation = Implementation.PY

    def _pillow_interpolation(self, interpolation):
        if interpolation in (Inter.AREA, Inter.PILCUBIC):
            raise TypeError("Current Interpolation is not supported with PIL input.")
        return Inter.to_python_type(interpolation)

    def __call__(self, *columns):
        if self.implementation == Implementation.PY and not all(is_pil(column) for column in columns):
            self._check_columns(columns)
            raise TypeError("Current Interpolation is not supported with NumPy input.")
        if self.implementation == Implementation.C and len(columns) == 1 and is_pil(columns[0]):
            raise TypeError("Current Interpolation is not supported with PIL input.")
        return super().__call__(*columns)


# --- colour -----------------------------------------------------------------------------------------------------------

class AdjustBrightness(ImageTensorOperation, PyTensorOperation):
    """Levels times a factor.

    Args:
        brightness_factor: 0 gives black, 1 the image itself.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> print(vision.AdjustBrightness(2.0)(np.full((1, 1, 3), 100, np.uint8)))
        [[[200 200 200]]]
    """

    def __init__(self, brightness_factor):
        super().__init__()
        check.kind(brightness_factor, (float, int), 'brightness_factor')
        check.within(brightness_factor, 0, check.FLOAT_MAX_INTEGER, 'brightness_factor')
        self.brightness_factor = brightness_factor

    def _engine(self):
        return 'AdjustBrightness', {'brightness_factor': self.brightness_factor}

    def _execute_py(self, img):
        return util.enhance(img, 'Brightness', self.brightness_factor)


class AdjustContrast(ImageTensorOperation, PyTensorOperation):
    """Distances of levels from the mean gray times a factor.

    Args:
        contrast_factor: 0 gives gray, 1 the image itself.
    """

    def __init__(self, contrast_factor):
        super().__init__()
        check.kind(contrast_factor, (float, int), 'contrast_factor')
        check.within(contrast_factor, 0, check.FLOAT_MAX_INTEGER, 'contrast_factor')
        self.contrast_factor = contrast_factor

    def _engine(self):
        return 'AdjustContrast', {'contrast_factor': self.contrast_factor}

    def _execute_py(self, img):
        return util.enhance(img, 'Contrast', self.contrast_factor)


class AdjustGamma(ImageTensorOperation, PyTensorOperation):
    """A power of the levels, seen as numbers from 0 to 1.

    Args:
        gamma: exponent.
        gain: factor.
    """

    def __init__(self, gamma, gain=1):
        super().__init__()
        check.kind(gamma, (float, int), 'gamma')
        check.inside(gamma, 0, check.FLOAT_MAX_INTEGER, 'gamma')
        check.kind(gain, (float, int), 'gain')
        check.within(gain, check.FLOAT_MIN_INTEGER, check.FLOAT_MAX_INTEGER, 'gain')
        self.gamma, self.gain = gamma, gain

    def _engine(self):
        return 'AdjustGamma', {'gamma': self.gamma, 'gain': self.gain}

    def _execute_py(self, img):
        return util.adjust_gamma(img, self.gamma, self.gain)


class AdjustHue(ImageTensorOperation, PyTensorOperation):
    """Hues turned.

    Args:
        hue_factor: part of the circle, from -0.5 to 0.5.
    """

    def __init__(self, hue_factor):
        super().__init__()
        check.kind(hue_factor, (float, int), 'hue_factor')
        check.within(hue_factor, -0.5, 0.5, 'hue_factor')
        self.hue_factor = hue_factor

    def _engine(self):
        return 'AdjustHue', {'hue_factor': self.hue_factor}

    def _execute_py(self, img):
        return util.adjust_hue(img, self.hue_factor)


class AdjustSaturation(ImageTensorOperation, PyTensorOperation):
    """Distances of colours from their gray times a factor.

    Args:
        saturation_factor: 0 gives gray, 1 the image itself.
    """

    def __init__(self, saturation_factor):
        super().__init__()
        check.kind(saturation_factor, (float, int), 'saturation_factor')
        check.inside(saturation_factor, 0, check.FLOAT_MAX_INTEGER, 'saturation_factor')
        self.saturation_factor = saturation_factor

    def _engine(self):
        return 'AdjustSaturation', {'saturation_factor': self.saturation_factor}

    def _execute_py(self, img):
        return util.enhance(img, 'Color', self.saturation_factor)


class AdjustSharpness(EngineOnly):
    """Distances from a smoothed image times a factor.

    Args:
        sharpness_factor: 0 smooths, 1 gives the image itself, 2 sharpens.
    """

    def __init__(self, sharpness_factor):
        super().__init__()
        check.kind(sharpness_factor, (float, int), 'sharpness_factor')
        check.inside(sharpness_factor, 0, check.FLOAT_MAX_INTEGER, 'sharpness_factor')
        self.sharpness_factor = sharpness_factor

    def _engine(self):
        return 'AdjustSharpness', {'sharpness_factor': self.sharpness_factor}


class AutoContrast(ImageTensorOperation, PyTensorOperation):
    """Levels of each channel stretched to the whole range.

    Args:
        cutoff: percent of pixels at both ends that are not looked at, from 0 to below 50.
        ignore: levels that are not looked at.
    """

    def __init__(self, cutoff=0.0, ignore=None):
        super().__init__()
        check.cutoff_ignore(cutoff, ignore)
        self.cutoff = cutoff
        self.ignore = [] if ignore is None else [ignore] if isinstance(ignore, int) else ignore

    def _engine(self):
        return 'AutoContrast', {'cutoff': self.cutoff, 'ignore': self.ignore}

    def _execute_py(self, img):
        return util.auto_contrast(img, self.cutoff, self.ignore)


class ConvertColor(EngineOnly):
    """Channels in another order or number.

    Args:
        convert_mode: a ConvertMode.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> swap = vision.ConvertColor(vision.ConvertMode.COLOR_RGB2BGR)
        >>> print(swap(np.array([[[1, 2, 3]]], np.uint8)))
        [[[3 2 1]]]
    """

    def __init__(self, convert_mode):
        super().__init__()
        check.kind(convert_mode, ConvertMode, 'convert_mode')
        self.convert_mode = convert_mode

    def _engine(self):
        return 'ConvertColor', {'convert_mode': int(self.convert_mode)}


class Equalize(ImageTensorOperation, PyTensorOperation):
    """Levels of each channel spread so that all occur equally often."""

    def __init__(self):
        super().__init__()

    def _engine(self):
        return 'Equalize', {}

    def _execute_py(self, img):
        return util.equalize(img)


class Invert(ImageTensorOperation, PyTensorOperation):
    """255 less each level.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> print(vision.Invert()(np.array([[[0, 100, 255]]], np.uint8)))
        [[[255 155   0]]]
    """

    def __init__(self):
        super().__init__()

    def _engine(self):
        return 'Invert', {}

    def _execute_py(self, img):
        return util.invert(img)


class Posterize(EngineOnly):
    """The lower bits of levels set to 0.

    Args:
        bits: how many stay, from 0 to 8.
    """

    def __init__(self, bits):
        super().__init__()
        check.kind(bits, int, 'bits')
        check.within(bits, 0, 8, 'bits')
        self.bits = bits

    def _engine(self):
        return 'Posterize', {'bits': self.bits}


class Solarize(EngineOnly):
    """Levels within a range inverted.

    Args:
        threshold: least and most level, or one: all from it on.
    """

    def __init__(self, threshold):
        super().__init__()
        check.kind(threshold, (float, int, list, tuple), 'threshold')
        if isinstance(threshold, (float, int)):
            threshold = (threshold, threshold)
        check.kinds(threshold, (float, int), 'threshold')
        if len(threshold) != 2:
            raise TypeError("threshold must be a single number or sequence of two numbers.")
        for i, value in enumerate(threshold):
            check.within(value, 0, 255, f"threshold[{i}]")
        if threshold[1] < threshold[0]:
            raise ValueError("threshold must be in order of (min, max).")
        self.threshold = threshold

    def _engine(self):
        return 'Solarize', {'threshold': self.threshold}


class GaussianBlur(EngineOnly):
    """Neighbours mixed with the weights of a bell curve.

    Args:
        kernel_size: odd number of neighbours, or (across, down).
        sigma: width of the curve, or (across, down); follows from kernel_size if None.
    """

    def __init__(self, kernel_size, sigma=None):
        super().__init__()
        check.kind(kernel_size, (int, list, tuple), 'kernel_size')
        if not isinstance(kernel_size, int) and len(kernel_size) != 2:
            raise TypeError("Kernel size should be a single integer or a list/tuple (kernel_width, kernel_height) of "
                            "length 2.")
        for i, size in enumerate((kernel_size,) if isinstance(kernel_size, int) else kernel_size):
            check.kind(size, int, f"kernel_size[{i}]")
            check.within(size, 1, check.FLOAT_MAX_INTEGER, 'kernel_size')
            check.odd(size, 'kernel_size')
        if sigma is not None:
            check.kind(sigma, (numbers.Number, list, tuple), 'sigma')
            if not isinstance(sigma, numbers.Number) and len(sigma) != 2:
                raise TypeError("Sigma should be a single number or a list/tuple of length 2 for width and height.")
            for i, value in enumerate((sigma,) if isinstance(sigma, numbers.Number) else sigma):
                check.kind(value, numbers.Number, f"sigma[{i}]")
                check.within(value, 0, check.FLOAT_MAX_INTEGER, 'sigma')
        self.kernel_size = (kernel_size,) if isinstance(kernel_size, int) else kernel_size
        self.sigma = (0,) if sigma is None else (sigma,) if isinstance(sigma, numbers.Number) else sigma

    def _engine(self):
        return 'GaussianBlur', {'kernel_size': self.kernel_size, 'sigma': self.sigma}


# --- geometry ---------------------------------------------------------------------------------------------------------

class Affine(EngineOnly):
    """Turned, moved, scaled and sheared about the middle.

    Args:
        degrees: angle, from -180 to 180.
        translate: parts of width and height, from -1 to 1.
        scale: factor above 0.
        shear: angle along x, or angles along x and y.
        resample: an Inter.
        fill_value: colour of what was outside.
    """

    def __init__(self, degrees, translate, scale, shear, resample=Inter.NEAREST, fill_value=0):
        super().__init__()
        check.kind(degrees, (int, float), 'degrees')
        check.within(degrees, -180, 180, 'degrees')
        check.kind(translate, (list, tuple), 'translate')
        if len(translate) != 2:
            raise TypeError("The length of translate should be 2.")
        for i, value in enumerate(translate):
            check.kind(value, (int, float), f"translate[{i}]")
            check.within(value, -1.0, 1.0, f"translate[{i}]")
        check.kind(scale, (int, float), 'scale')
        check.positive(scale, 'scale')
        check.kind(shear, (numbers.Number, tuple, list), 'shear')
        shear = (shear, 0.0) if isinstance(shear, numbers.Number) else shear
        if len(shear) != 2:
            raise TypeError("The length of shear should be 2.")
        for i, value in enumerate(shear):
            check.kind(value, (int, float), f"shear[{i}]")
            check.within(value, -180, 180, 'shear')
        check.kind(resample, Inter, 'resample')
        check.fill_value(fill_value)
        self.degrees, self.translate, self.scale_, self.shear = degrees, translate, scale, shear
        self.resample, self.fill_value = resample, three(fill_value)

    def _engine(self):
        return 'Affine', {'degrees': self.degrees, 'translate': self.translate, 'scale': self.scale_,
                          'shear': self.shear, 'resample': int(self.resample), 'fill_value': self.fill_value}


class CenterCrop(ImageTensorOperation, PyTensorOperation):
    """The middle of an image; what is missing is black.

    Args:
        size: side of a square, or (height, width).

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> vision.CenterCrop((2, 3))(np.zeros((6, 7, 3), np.uint8)).shape
        (2, 3, 3)
    """

    def __init__(self, size):
        super().__init__()
        check.crop_size(size)
        self.size = two(size)

    def _engine(self):
        return 'CenterCrop', {'size': self.size}

    def _execute_py(self, img):
        return util.center_crop(img, self.size)


class Crop(EngineOnly):
    """A rectangle of an image.

    Args:
        coordinates: (top, left).
        size: side of a square, or (height, width).
    """

    def __init__(self, coordinates, size):
        super().__init__()
        check.kind(coordinates, (list, tuple), 'coordinates')
        if len(coordinates) != 2:
            raise TypeError("Coordinates should be a list/tuple (y, x) of length 2.")
        for i, value in enumerate(coordinates):
            check.integer(value, f"coordinates[{i}]", 0)
        check.crop_size(size)
        self.coordinates, self.size = coordinates, two(size)

    def _engine(self):
        return 'Crop', {'coordinates': self.coordinates, 'size': self.size}


class HorizontalFlip(EngineOnly):
    """Left and right exchanged."""

    def _engine(self):
        return 'HorizontalFlip', {}


class VerticalFlip(EngineOnly):
    """Upside down."""

    def _engine(self):
        return 'VerticalFlip', {}


class HWC2CHW(EngineOnly):
    """Channels first.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> vision.HWC2CHW()(np.zeros((4, 5, 3))).shape
        (3, 4, 5)
    """

    def _engine(self):
        return 'HWC2CHW', {}


class Pad(ImageTensorOperation, PyTensorOperation):
    """Something around an image.

    Args:
        padding: pixels at all sides, (left and right, top and bottom), or (left, top, right, bottom).
        fill_value: colour.
        padding_mode: a Border.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> vision.Pad(2)(np.zeros((4, 5, 3), np.uint8)).shape
        (8, 9, 3)
    """

    def __init__(self, padding, fill_value=0, padding_mode=Border.CONSTANT):
        super().__init__()
        check.padding(padding)
        check.fill_value(fill_value)
        check.kind(padding_mode, Border, 'padding_mode')
        self.padding, self.fill_value, self.padding_mode = parse_padding(padding), three(fill_value), padding_mode

    def _engine(self):
        return 'Pad', {'padding': self.padding, 'fill_value': self.fill_value,
                       'padding_mode': self.padding_mode.engine()}

    def _execute_py(self, img):
        return util.pad(img, self.padding, self.fill_value, self.padding_mode.value)


class PadToSize(EngineOnly):
    """An image put on a larger canvas.

    Args:
        size: side of the canvas, or (height, width).
        offset: (top, left) of the image; the middle if None.
        fill_value: colour.
        padding_mode: a Border.
    """

    def __init__(self, size, offset=None, fill_value=0, padding_mode=Border.CONSTANT):
        super().__init__()
        check.kind(size, (int, list, tuple), 'size')
        if not isinstance(size, int) and len(size) != 2:
            raise ValueError("The size must be a sequence of length 2.")
        for value in two(size):
            check.integer(value, 'size', 1)
        if offset is not None:
            check.kind(offset, (int, list, tuple), 'offset')
            if not isinstance(offset, int) and len(offset) not in (0, 2):
                raise ValueError("The offset must be empty or a sequence of length 2.")
            for value in two(offset):
                check.integer(value, 'offset', 0)
        check.fill_value(fill_value)
        check.kind(padding_mode, Border, 'padding_mode')
        self.size, self.offset = two(size), () if offset is None else two(offset)
        self.fill_value, self.padding_mode = three(fill_value), padding_mode

    def _engine(self):
        return 'PadToSize', {'size': self.size, 'offset': self.offset, 'fill_value': self.fill_value,
                             'padding_mode': self.padding_mode.engine()}


class Perspective(Interpolated, PyTensorOperation):
    """An image seen from aside: four points moved to four others.

    Args:
        start_points, end_points: lists of four [x, y].
        interpolation: an Inter.
    """

    def __init__(self, start_points, end_points, interpolation=Inter.BILINEAR):
        super().__init__()
        for name, points in (('start_points', start_points), ('end_points', end_points)):
            check.kinds(points, (list, tuple), name)
            if len(points) != 4:
                raise TypeError(f"{name} should be a list or tuple of length 4.")
            for i, point in enumerate(points):
                if len(point) != 2:
                    raise TypeError(f"{name}[{i}] should be a list or tuple of length 2.")
                for k in (0, 1):
                    check.integer(point[k], f"{name}[{i}][{k}]")
        check.kind(interpolation, Inter, 'interpolation')
        self.start_points, self.end_points, self.interpolation = start_points, end_points, interpolation
        self._set_interpolation(interpolation)

    def _engine(self):
        return 'Perspective', {'start_points': self.start_points, 'end_points': self.end_points,
                               'interpolation': int(self.interpolation)}

    def _execute_py(self, img):
        return util.perspective(img, self.start_points, self.end_points, self._pillow_interpolation(self.interpolation))


class Resize(Interpolated, PyTensorOperation):
    """Another size.

    Args:
        size: (height, width), or one number for the shorter side.
        interpolation: an Inter.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> vision.Resize(8)(np.zeros((4, 6, 3), np.uint8)).shape
        (8, 12, 3)
    """

    def __init__(self, size, interpolation=Inter.LINEAR):
        super().__init__()
        if interpolation is None:
            raise KeyError("Interpolation should not be None")
        check.resize_size(size)
        check.kind(interpolation, Inter, 'interpolation')
        self.py_size, self.c_size = size, (size,) if isinstance(size, int) else size
        self.interpolation = interpolation
        self._set_interpolation(interpolation)

    def _engine(self):
        return 'Resize', {'size': self.c_size, 'interpolation': int(self.interpolation)}

    def _execute_py(self, img):
        return util.resize(img, self.py_size, self._pillow_interpolation(self.interpolation))


class ResizedCrop(EngineOnly):
    """A rectangle, resized.

    Args:
        top, left, height, width: the rectangle.
        size: side of a square, or (height, width).
        interpolation: an Inter.
    """

    def __init__(self, top, left, height, width, size, interpolation=Inter.BILINEAR):
        super().__init__()
        check.integer(top, 'top', 0)
        check.integer(left, 'left', 0)
        check.integer(height, 'height', 1)
        check.integer(width, 'width', 1)
        check.kind(interpolation, Inter, 'interpolation')
        check.crop_size(size)
        self.top, self.left, self.height, self.width = top, left, height, width
        self.size, self.interpolation = two(size), interpolation

    def _engine(self):
        return 'ResizedCrop', {'top': self.top, 'left': self.left, 'height': self.height, 'width': self.width,
                               'size': self.size, 'interpolation': int(self.interpolation)}


class Rotate(EngineOnly):
    """Turned, counter-clockwise.

    Args:
        degrees: angle.
        resample: an Inter.
        expand: whether the result is large enough for all of the turned image.
        center: (x, y) of the point that stays; the middle if None.
        fill_value: colour of what was outside.
    """

    def __init__(self, degrees, resample=Inter.NEAREST, expand=False, center=None, fill_value=0):
        super().__init__()
        check.number(degrees, 'degrees')
        check_turning(resample, expand, center, fill_value)
        self.degrees, self.resample, self.expand = degrees % 360, resample, expand
        self.center, self.fill_value = () if center is None else center, three(fill_value)

    def _engine(self):
        return 'Rotate', {'degrees': self.degrees, 'resample': int(self.resample), 'expand': self.expand,
                          'center': self.center, 'fill_value': self.fill_value}


def check_turning(resample, expand, center, fill_value):
    """What Rotate and RandomRotation have in common."""
    check.kind(resample, Inter, 'resample')
    check.flag(expand, 'expand')
    if center is not None:
        check.pair(center, 'center')
        for value in center:
            check.kind(value, (int, float), 'center')
            check.within(value, check.INT32_MIN, check.INT32_MAX, 'center')
    check.fill_value(fill_value)


class SlicePatches(EngineOnly):
    """An image cut into patches, one column for each, row by row.

    Args:
        num_height, num_width: patches down and across.
        slice_mode: a SliceMode, for what does not divide.
        fill_value: colour that is put there.
    """

    def __init__(self, num_height=1, num_width=1, slice_mode=SliceMode.PAD, fill_value=0):
        super().__init__()
        check.integer(num_height, 'num_height', 1)
        check.integer(num_width, 'num_width', 1)
        check.kind(slice_mode, SliceMode, 'slice_mode')
        check.integer(fill_value, 'fill_value', 0, 255)
        self.num_height, self.num_width = num_height, num_width
        self.slice_mode, self.fill_value = slice_mode, fill_value

    def _engine(self):
        return 'SlicePatches', {'num_height': self.num_height, 'num_width': self.num_width,
                                'slice_mode': int(self.slice_mode), 'fill_value': self.fill_value}


class Erase(EngineOnly):
    """A rectangle of one colour.

    Args:
        top, left, height, width: the rectangle.
        value: level, or three of them.
        inplace: accepted; the given image is never changed.
    """

    def __init__(self, top, left, height, width, value=0.0, inplace=False):
        super().__init__()
        check.integer(top, 'top', 0)
        check.integer(left, 'left', 0)
        check.integer(height, 'height', 1)
        check.integer(width, 'width', 1)
        check.flag(inplace, 'inplace')
        check.kind(value, (float, int, tuple), 'value')
        value = (value,) if isinstance(value, (float, int)) else value
        check.kinds(value, (float, int), 'value')
        if len(value) not in (1, 3):
            raise TypeError("value should be a single integer/float or a 3-tuple.")
        for i, level in enumerate(value):
            check.within(level, 0, 255, f"value[{i}]")
        self.top, self.left, self.height, self.width = top, left, height, width
        self.value, self.inplace = value, inplace

    def _engine(self):
        return 'Erase', {'top': self.top, 'left': self.left, 'height': self.height, 'width': self.width,
                         'value': self.value}


# --- in and out, numbers ----------------------------------------------------------------------------------------------

class Decode(ImageTensorOperation, PyTensorOperation):
    """A picture file's bytes as an RGB image.

    JPEG, PNG, WebP, BMP and GIF (its first picture). Orientation tags are not followed.

    Args:
        to_pil: whether a Pillow image is wanted instead of an array.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> data = vision.encode_png(np.zeros((4, 5, 3), np.uint8))
        >>> vision.Decode()(data).shape
        (4, 5, 3)
    """

    def __init__(self, to_pil=False):
        super().__init__()
        check.flag(to_pil, 'to_pil')
        self.to_pil = to_pil
        self.implementation = Implementation.PY if to_pil else Implementation.C

    def __call__(self, img):
        if isinstance(img, bytes):
            img = np.frombuffer(img, np.uint8)
        if not isinstance(img, np.ndarray):
            raise TypeError(f"The type of the encoded image should be {np.ndarray}, but got {type(img)}.")
        if img.dtype.kind == 'U':
            raise TypeError(f"The data type of the encoded image can not be {img.dtype.type}.")
        if img.ndim != 1:
            raise TypeError("The number of array dimensions of the encoded image should be 1, but got "
                            f"{img.ndim}.")
        return super().__call__(np.frombuffer(img, np.uint8) if img.dtype.kind == 'S' else img)

    def _engine(self):
        return 'Decode', {}

    def _execute_py(self, img):
        return util.decode(img)


class Normalize(EngineOnly):
    """``(image - mean) / std`` by channel, as float32.

    Args:
        mean, std: a number for each channel, or one for all.
        is_hwc: whether channels are the last dimension; the first otherwise.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> print(vision.Normalize([10.0], [2.0])(np.array([[14]], np.uint8)))
        [[2.]]
    """

    def __init__(self, mean, std, is_hwc=True):
        super().__init__()
        check.mean_std(mean, std)
        check.flag(is_hwc, 'is_hwc')
        self.mean, self.std, self.is_hwc = mean, std, is_hwc

    def _engine(self):
        return 'Normalize', {'mean': self.mean, 'std': self.std, 'is_hwc': self.is_hwc}


class NormalizePad(EngineOnly):
    """Normalize, and a channel of zeros behind the others.

    Args:
        mean, std: a number for each channel.
        dtype: 'float32' or 'float16'.
        is_hwc: whether channels are the last dimension; the first otherwise.
    """

    def __init__(self, mean, std, dtype='float32', is_hwc=True):
        super().__init__()
        check.mean_std(mean, std)
        check.flag(is_hwc, 'is_hwc')
        if not isinstance(dtype, str):
            raise TypeError("dtype should be string.")
        if dtype not in ('float32', 'float16'):
            raise ValueError("dtype only supports float32 or float16.")
        self.mean, self.std, self.dtype, self.is_hwc = mean, std, dtype, is_hwc

    def _engine(self):
        return 'NormalizePad', {'mean': self.mean, 'std': self.std, 'is_hwc': self.is_hwc,
                                'dtype': engine_dtype(self.dtype)}


class Rescale(EngineOnly):
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
        super().__init__()
        check.number(rescale, 'rescale')
        check.number(shift, 'shift')
        self.rescale, self.shift = rescale, shift

    def _engine(self):
        return 'Rescale', {'rescale': self.rescale, 'shift': self.shift}


class ToTensor(ImageTensorOperation):
    """Channels first, values from 0 to 1.

    Args:
        output_type: type of the result.
    """

    def __init__(self, output_type=np.float32):
        super().__init__()
        if output_type is None:
            raise TypeError(f"Argument output_type with value None is not of type [spore dtype, numpy dtype], but got "
                            f"{type(None)}.")
        try:
            self.output_type = to_numpy_type(output_type).name
        except (TypeError, ValueError):
            raise TypeError(f"Argument output_type with value {output_type} is not of type [spore dtype, numpy dtype], "
                            f"but got {type(output_type)}.") from None
        self.implementation = Implementation.C

    def _engine(self):
        return 'ToTensor', {'output_type': engine_dtype(self.output_type)}

    def _execute_py(self, img):
        return util.to_tensor(img, self.output_type)


class ToType(TypeCast):
    """Another type; the same as transforms.TypeCast.

    Args:
        data_type: of spore or numpy.
    """


class ToNumpy(PyTensorOperation):
    """A Pillow image as an array."""

    random = False

    def __init__(self):
        super().__init__()
        self.implementation = Implementation.C

    def _execute_py(self, img):
        return np.array(img)


class ToPIL(PyTensorOperation):
    """An array as a Pillow image."""

    random = False

    def __init__(self):
        super().__init__()
        self.implementation = Implementation.PY

    def _execute_py(self, img):
        return util.to_pil(img)
