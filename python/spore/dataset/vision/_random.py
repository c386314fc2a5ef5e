# SPDX-License-Identifier: Apache-2.0
"""Transforms of images by chance, and recipes of them."""
import numbers
import random

import numpy as np

from spore.dataset import _check as check
from spore.dataset.transforms.py_transforms_util import Implementation
from spore.dataset.transforms.transforms import CompoundOperation, FuncWrapper, PyTensorOperation, TensorOperation
from spore.dataset.vision import py_transforms_util as util
from spore.dataset.vision._plain import EngineOnly, ImageTensorOperation, Interpolated, check_turning, three, two
from spore.dataset.vision.utils import AutoAugmentPolicy, Border, Inter, parse_padding

_RATIO = (3. / 4., 4. / 3.)


class _RandomEngine(EngineOnly):
    random = True


class _RandomImage(ImageTensorOperation):
    random = True


class _Maybe(_RandomEngine):
    """One that happens with a probability."""

    def __init__(self, prob=0.5):
        super().__init__()
        check.probability(prob)
        self.prob = prob

    def _engine(self):
        return type(self).__name__, {'prob': self.prob}


# --- colour -----------------------------------------------------------------------------------------------------------

class RandomAdjustSharpness(_RandomEngine):
    """AdjustSharpness with a probability.

    Args:
        degree: its factor.
        prob: probability.
    """

    def __init__(self, degree, prob=0.5):
        super().__init__()
        check.number(degree, 'degree', 0)
        check.probability(prob)
        self.degree, self.prob = degree, prob

    def _engine(self):
        return 'RandomAdjustSharpness', {'degree': self.degree, 'prob': self.prob}


class RandomAutoContrast(_RandomEngine):
    """AutoContrast with a probability.

    Args:
        cutoff, ignore: as for AutoContrast.
        prob: probability.
    """

    def __init__(self, cutoff=0.0, ignore=None, prob=0.5):
        super().__init__()
        check.cutoff_ignore(cutoff, ignore)
        check.probability(prob)
        self.cutoff, self.prob = cutoff, prob
        self.ignore = [] if ignore is None else [ignore] if isinstance(ignore, int) else ignore

    def _engine(self):
        return 'RandomAutoContrast', {'cutoff': self.cutoff, 'ignore': self.ignore, 'prob': self.prob}


class RandomColor(_RandomImage, PyTensorOperation):
    """AdjustSaturation by a random factor.

    Args:
        degrees: (least, most).
    """

    def __init__(self, degrees=(0.1, 1.9)):
        super().__init__()
        check.positive_range(degrees)
        self.degrees = degrees

    def _engine(self):
        return 'RandomColor', {'degrees': self.degrees}

    def _execute_py(self, img):
        return util.enhance(img, 'Color', random.uniform(*self.degrees))


class RandomColorAdjust(_RandomImage, PyTensorOperation):
    """Brightness, contrast, saturation and hue changed by random factors, in random order.

    Args:
        brightness, contrast, saturation: (least, most) factor, or a spread about 1.
        hue: (least, most) part of the circle, or a spread about 0; from -0.5 to 0.5.
    """

    def __init__(self, brightness=(1, 1), contrast=(1, 1), saturation=(1, 1), hue=(0, 0)):
        super().__init__()
        check.adjust_range(brightness, 'brightness')
        check.adjust_range(contrast, 'contrast')
        check.adjust_range(saturation, 'saturation')
        check.adjust_range(hue, 'hue', -0.5, 0.5)
        self.brightness, self.contrast = self._spread(brightness), self._spread(contrast)
        self.saturation, self.hue = self._spread(saturation), self._spread(hue, 0, (-0.5, 0.5))

    @staticmethod
    def _spread(value, center=1, bound=(0, check.FLOAT_MAX_INTEGER)):
        if isinstance(value, numbers.Number):
            value = (center - value, center + value)
            if center:
                value = (max(0, value[0]), value[1])
            check.ordered(value, *bound)
        return tuple(value)

    def _engine(self):
        return 'RandomColorAdjust', {'brightness': self.brightness, 'contrast': self.contrast,
                                     'saturation': self.saturation, 'hue': self.hue}

    def _execute_py(self, img):
        return util.random_color_adjust(img, self.brightness, self.contrast, self.saturation, self.hue)


class RandomEqualize(_Maybe):
    """Equalize with a probability.

    Args:
        prob: probability.
    """


class RandomInvert(_Maybe):
    """Invert with a probability.

    Args:
        prob: probability.
    """


class RandomLighting(_RandomImage, PyTensorOperation):
    """Noise of the kind that light makes.

    Args:
        alpha: its strength.
    """

    def __init__(self, alpha=0.05):
        super().__init__()
        check.number(alpha, 'alpha', 0)
        self.alpha = alpha

    def _engine(self):
        return 'RandomLighting', {'alpha': self.alpha}

    def _execute_py(self, img):
        return util.random_lighting(img, self.alpha)


class RandomPosterize(_RandomEngine):
    """Posterize to a random number of bits.

    Args:
        bits: (least, most), or a number.
    """

    def __init__(self, bits=(8, 8)):
        super().__init__()
        check.kind(bits, (list, tuple, int), 'bits')
        if isinstance(bits, int):
            check.inside(bits, 1, 8, 'bits')
        else:
            if len(bits) != 2:
                raise TypeError("Size of bits should be a single integer or a list/tuple (min, max) of length 2.")
            for item in bits:
                check.integer(item, 'bits', 0, 255)
            check.ordered(bits, 1, 8, 'bits')
        self.bits = bits

    def _engine(self):
        return 'RandomPosterize', {'bits': self.bits}


class RandomSharpness(_RandomImage, PyTensorOperation):
    """AdjustSharpness by a random factor.

    Args:
        degrees: (least, most).
    """

    def __init__(self, degrees=(0.1, 1.9)):
        super().__init__()
        check.positive_range(degrees)
        self.degrees = degrees

    def _engine(self):
        return 'RandomSharpness', {'degrees': self.degrees}

    def _execute_py(self, img):
        return util.enhance(img, 'Sharpness', random.uniform(*self.degrees))


class RandomSolarize(_RandomEngine):
    """Solarize within a random part of a range.

    Args:
        threshold: (least, most) level.
    """

    def __init__(self, threshold=(0, 255)):
        super().__init__()
        check.kind(threshold, tuple, 'threshold')
        check.kinds(threshold, int, 'threshold')
        if len(threshold) != 2:
            raise ValueError("threshold must be a sequence of two numbers.")
        for level in threshold:
            check.inside(level, 0, 255, 'threshold')
        if threshold[1] < threshold[0]:
            raise ValueError("threshold must be in min max format numbers.")
        self.threshold = threshold

    def _engine(self):
        return 'RandomSolarize', {'threshold': self.threshold}


# --- geometry ---------------------------------------------------------------------------------------------------------

class RandomAffine(Interpolated, PyTensorOperation):
    """Affine with random angles, translations, scales and shears.

    Args:
        degrees: (least, most) angle, or one number for both signs.
        translate: (least, most) part of the width, and then of the height.
        scale: (least, most) factor.
        shear: (least, most) angle along x, and then along y; or one number for both signs.
        resample: an Inter.
        fill_value: colour of what was outside.
    """

    random = True

    def __init__(self, degrees, translate=None, scale=None, shear=None, resample=Inter.NEAREST, fill_value=0):
        super().__init__()
        check.degrees_range(degrees)
        self._check_translate_scale(translate, scale)
        self._check_shear(shear)
        check.kind(resample, Inter, 'resample')
        check.fill_value(fill_value)
        if isinstance(shear, numbers.Number):
            shear = (-shear, shear)
        if isinstance(degrees, numbers.Number):
            degrees = (-degrees, degrees)
        self.degrees = degrees
        self.translate = (0.0,) * 4 if translate is None else translate
        self.scale = (1.0, 1.0) if scale is None else scale
        self.shear = (0.0,) * 4 if shear is None else (tuple(shear) + (0.0, 0.0))[:4]
        self.resample, self.fill_value = resample, three(fill_value)
        self._set_interpolation(resample)

    @staticmethod
    def _check_translate_scale(translate, scale):
        if translate is not None:
            check.kind(translate, (list, tuple), 'translate')
            check.kinds(translate, (int, float), 'translate')
            if len(translate) not in (2, 4):
                raise TypeError("translate should be a list or tuple of length 2 or 4.")
            for i, value in enumerate(translate):
                check.within(value, -1.0, 1.0, f"translate at {i}")
        if scale is not None:
            check.kind(scale, (tuple, list), 'scale')
            check.kinds(scale, (int, float), 'scale')
            check.length(scale, 2, 'scale')
            if scale[0] > scale[1]:
                raise ValueError("Input scale[1] must be equal to or greater than scale[0].")
            check.ordered(scale, 0, check.FLOAT_MAX_INTEGER, 'scale')
            check.positive(scale[1], 'scale[1]')

    @staticmethod
    def _check_shear(shear):
        if shear is None:
            return
        check.kind(shear, (numbers.Number, tuple, list), 'shear')
        if isinstance(shear, numbers.Number):
            check.positive(shear, 'shear')
            return
        check.kinds(shear, (int, float), 'shear')
        if len(shear) not in (2, 4):
            raise TypeError("shear must be of length 2 or 4.")
        for i in range(0, len(shear), 2):
            if shear[i] > shear[i + 1]:
                raise ValueError(f"Input shear[{i + 1}] must be equal to or greater than shear[{i}]")

    def _engine(self):
        translate = self.translate if len(self.translate) == 4 else (*self.translate, 0.0, 0.0)
        return 'RandomAffine', {'degrees': self.degrees, 'translate': translate, 'scale': self.scale,
                                'shear': self.shear, 'resample': int(self.resample), 'fill_value': self.fill_value}

    def _execute_py(self, img):
        return util.random_affine(img, self.degrees, self.translate, self.scale, self.shear,
                                  self._pillow_interpolation(self.resample), self.fill_value)


class _RandomCrop(ImageTensorOperation):
    """What random crops have in common."""

    random = True

    def __init__(self, size, padding=None, pad_if_needed=False, fill_value=0, padding_mode=Border.CONSTANT):
        super().__init__()
        check.crop_size(size)
        check.flag(pad_if_needed, 'pad_if_needed')
        if padding is not None:
            check.padding(padding)
        check.fill_value(fill_value)
        check.kind(padding_mode, Border, 'padding_mode')
        self.size = two(size)
        self.padding = (0, 0, 0, 0) if padding is None else parse_padding(padding)
        self.pad_if_needed, self.fill_value, self.padding_mode = pad_if_needed, three(fill_value), padding_mode

    def _engine(self):
        return type(self).__name__, {'size': self.size, 'padding': self.padding, 'pad_if_needed': self.pad_if_needed,
                                     'fill_value': self.fill_value, 'padding_mode': self.padding_mode.engine()}


class RandomCrop(_RandomCrop, PyTensorOperation):
    """A rectangle anywhere in an image.

    Args:
        size: side of a square, or (height, width).
        padding: put around the image first, as for Pad.
        pad_if_needed: whether a smaller image is padded.
        fill_value, padding_mode: as for Pad.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> vision.RandomCrop(3)(np.zeros((4, 5, 3), np.uint8)).shape
        (3, 3, 3)
    """

    def _execute_py(self, img):
        return util.random_crop(img, self.size, self.padding, self.pad_if_needed, self.fill_value,
                                self.padding_mode.value)


class RandomCropWithBBox(_RandomCrop):
    """RandomCrop of an image and the boxes on it.

    Args:
        size, padding, pad_if_needed, fill_value, padding_mode: as for RandomCrop.
    """

    def __init__(self, size, padding=None, pad_if_needed=False, fill_value=0, padding_mode=Border.CONSTANT):
        super().__init__(size, padding, pad_if_needed, fill_value, padding_mode)
        self.implementation = Implementation.C


class _RandomResizedCrop(Interpolated):
    """What crops of random size have in common."""

    random = True

    def __init__(self, size, scale=(0.08, 1.0), ratio=_RATIO, interpolation=Inter.BILINEAR, max_attempts=10):
        super().__init__()
        if interpolation is not None:
            check.kind(interpolation, Inter, 'interpolation')
        check.crop_size(size)
        check.scale_ratio(scale, ratio)
        check.integer(max_attempts, 'max_attempts', 1)
        self.size, self.scale, self.ratio = two(size), scale, ratio
        self.interpolation, self.max_attempts = interpolation, max_attempts

    def _engine(self):
        return type(self).__name__, {'size': self.size, 'scale': self.scale, 'ratio': self.ratio,
                                     'interpolation': int(self.interpolation), 'max_attempts': self.max_attempts}


class RandomResizedCrop(_RandomResizedCrop, PyTensorOperation):
    """A rectangle of random size and aspect, resized.

    Args:
        size: side of a square, or (height, width).
        scale: (least, most) part of the area.
        ratio: (least, most) width by height.
        interpolation: an Inter.
        max_attempts: how often a rectangle is tried before the middle is taken.
    """

    def __init__(self, size, scale=(0.08, 1.0), ratio=_RATIO, interpolation=Inter.BILINEAR, max_attempts=10):
        super().__init__(size, scale, ratio, interpolation, max_attempts)
        self._set_interpolation(interpolation)

    def _execute_py(self, img):
        return util.random_resize_crop(img, self.size, self.scale, self.ratio,
                                       self._pillow_interpolation(self.interpolation), self.max_attempts)


class RandomCropDecodeResize(_RandomResizedCrop):
    """Decode, RandomResizedCrop in one; of a JPEG only the rectangle is decoded.

    Args:
        size, scale, ratio, interpolation, max_attempts: as for RandomResizedCrop.
    """

    def __call__(self, img):
        if isinstance(img, bytes):
            img = np.frombuffer(img, np.uint8)
        if not isinstance(img, np.ndarray):
            raise TypeError(f"Input should be an encoded image in 1-D NumPy format, got {type(img)}.")
        if img.ndim != 1 or img.dtype != np.uint8:
            raise TypeError("Input should be an encoded image with uint8 type in 1-D NumPy format, got format:"
                            f"{type(img)}, dtype:{img.dtype.type}.")
        return TensorOperation.__call__(self, img)


class RandomResizedCropWithBBox(_RandomResizedCrop):
    """RandomResizedCrop of an image and the boxes on it.

    Args:
        size, scale, ratio, interpolation, max_attempts: as for RandomResizedCrop.
    """


class RandomHorizontalFlip(_RandomImage, PyTensorOperation):
    """HorizontalFlip with a probability.

    Args:
        prob: probability.
    """

    def __init__(self, prob=0.5):
        super().__init__()
        check.probability(prob)
        self.prob = prob

    def _engine(self):
        return 'RandomHorizontalFlip', {'prob': self.prob}

    def _execute_py(self, img):
        return util.random_flip(img, self.prob, False)


class RandomVerticalFlip(_RandomImage, PyTensorOperation):
    """VerticalFlip with a probability.

    Args:
        prob: probability.
    """

    def __init__(self, prob=0.5):
        super().__init__()
        check.probability(prob)
        self.prob = prob

    def _engine(self):
        return 'RandomVerticalFlip', {'prob': self.prob}

    def _execute_py(self, img):
        return util.random_flip(img, self.prob, True)


class RandomHorizontalFlipWithBBox(_Maybe):
    """RandomHorizontalFlip of an image and the boxes on it.

    Args:
        prob: probability.
    """


class RandomVerticalFlipWithBBox(_Maybe):
    """RandomVerticalFlip of an image and the boxes on it.

    Args:
        prob: probability.
    """


class RandomResize(_RandomEngine):
    """Resize with a random interpolation.

    Args:
        size: as for Resize.
    """

    def __init__(self, size):
        super().__init__()
        check.resize_size(size)
        self.size = size

    def _engine(self):
        return type(self).__name__, {'size': self.size}


class RandomResizeWithBBox(RandomResize):
    """RandomResize of an image and the boxes on it.

    Args:
        size: as for Resize.
    """


class ResizeWithBBox(EngineOnly):
    """Resize of an image and the boxes on it.

    Args:
        size, interpolation: as for Resize.
    """

    def __init__(self, size, interpolation=Inter.LINEAR):
        super().__init__()
        if interpolation is None:
            raise KeyError("Interpolation should not be None")
        check.resize_size(size)
        check.kind(interpolation, Inter, 'interpolation')
        self.size, self.interpolation = size, interpolation

    def _engine(self):
        return 'ResizeWithBBox', {'size': self.size, 'interpolation': int(self.interpolation)}


class RandomRotation(Interpolated, PyTensorOperation):
    """Rotate by a random angle.

    Args:
        degrees: (least, most) angle, or one number for both signs.
        resample, expand, center, fill_value: as for Rotate.
    """

    random = True

    def __init__(self, degrees, resample=Inter.NEAREST, expand=False, center=None, fill_value=0):
        super().__init__()
        check.degrees_range(degrees)
        check_turning(resample, expand, center, fill_value)
        if isinstance(degrees, (int, float)):
            degrees = [-(degrees % 360), degrees % 360]
        elif degrees[1] - degrees[0] >= 360:
            degrees = [-180, 180]
        else:
            degrees = [degrees[0] % 360, degrees[1] % 360]
            if degrees[0] > degrees[1]:
                degrees[1] += 360
        self.degrees, self.resample, self.expand = degrees, resample, expand
        self.py_center, self.c_center = center, () if center is None else center
        self.fill_value = three(fill_value)
        self._set_interpolation(resample)

    def _engine(self):
        return 'RandomRotation', {'degrees': self.degrees, 'resample': int(self.resample), 'expand': self.expand,
                                  'center': self.c_center, 'fill_value': self.fill_value}

    def _execute_py(self, img):
        util.need_pil(img)
        angle = random.uniform(*self.degrees)
        if self.resample == Inter.ANTIALIAS:
            raise ValueError("When using Inter.ANTIALIAS, center needs to be None and angle needs to be an integer "
                             "multiple of 90.")
        return util.rotate(img, angle, self._pillow_interpolation(self.resample), self.expand, self.py_center,
                           self.fill_value)


class CutOut(_RandomEngine):
    """Black squares anywhere.

    Args:
        length: their side.
        num_patches: how many.
        is_hwc: whether channels are the last dimension; the first otherwise.
    """

    def __init__(self, length, num_patches=1, is_hwc=True):
        super().__init__()
        check.kind(length, int, 'length')
        check.kind(num_patches, int, 'num_patches')
        check.flag(is_hwc, 'is_hwc')
        check.inside(length, 1, check.FLOAT_MAX_INTEGER, 'length')
        check.inside(num_patches, 1, check.FLOAT_MAX_INTEGER, 'num_patches')
        self.length, self.num_patches, self.is_hwc = length, num_patches, is_hwc

    def _engine(self):
        return 'CutOut', {'length': self.length, 'num_patches': self.num_patches, 'is_hwc': self.is_hwc}


# --- recipes ----------------------------------------------------------------------------------------------------------

class AutoAugment(_RandomEngine):
    """A learned policy of two changes (Cubuk et al. 2019).

    Args:
        policy: an AutoAugmentPolicy.
        interpolation: an Inter.
        fill_value: colour of what was outside.
    """

    def __init__(self, policy=AutoAugmentPolicy.IMAGENET, interpolation=Inter.NEAREST, fill_value=0):
        super().__init__()
        check.kind(policy, AutoAugmentPolicy, 'policy')
        check.kind(interpolation, Inter, 'interpolation')
        check.fill_value(fill_value)
        self.policy, self.interpolation, self.fill_value = policy, interpolation, three(fill_value)

    def _engine(self):
        return 'AutoAugment', {'policy': self.policy.engine(), 'interpolation': int(self.interpolation),
                               'fill_value': self.fill_value}


class RandAugment(_RandomEngine):
    """Random changes of one strength (Cubuk et al. 2020).

    Args:
        num_ops: how many.
        magnitude: their strength.
        num_magnitude_bins: number of strengths there are.
        interpolation: an Inter.
        fill_value: colour of what was outside.
    """

    def __init__(self, num_ops=2, magnitude=9, num_magnitude_bins=31, interpolation=Inter.NEAREST, fill_value=0):
        super().__init__()
        check.kind(num_ops, int, 'num_ops')
        check.within(num_ops, 0, check.FLOAT_MAX_INTEGER, 'num_ops')
        check.kind(num_magnitude_bins, int, 'num_magnitude_bins')
        check.within(num_magnitude_bins, 2, check.FLOAT_MAX_INTEGER, 'num_magnitude_bins')
        check.kind(magnitude, int, 'magnitude')
        check.within(magnitude, 0, num_magnitude_bins, 'magnitude', open_right=True)
        check.kind(interpolation, Inter, 'interpolation')
        check.fill_value(fill_value)
        self.num_ops, self.magnitude, self.num_magnitude_bins = num_ops, magnitude, num_magnitude_bins
        self.interpolation, self.fill_value = interpolation, three(fill_value)

    def _engine(self):
        return 'RandAugment', {'num_ops': self.num_ops, 'magnitude': self.magnitude,
                               'num_magnitude_bins': self.num_magnitude_bins,
                               'interpolation': int(self.interpolation), 'fill_value': self.fill_value}


class TrivialAugmentWide(_RandomEngine):
    """One random change of random strength (Mueller and Hutter 2021).

    Args:
        num_magnitude_bins: number of strengths there are.
        interpolation: an Inter.
        fill_value: colour of what was outside.
    """

    def __init__(self, num_magnitude_bins=31, interpolation=Inter.NEAREST, fill_value=0):
        super().__init__()
        check.kind(num_magnitude_bins, int, 'num_magnitude_bins')
        check.within(num_magnitude_bins, 2, check.FLOAT_MAX_INTEGER, 'num_magnitude_bins')
        check.kind(interpolation, Inter, 'interpolation')
        check.fill_value(fill_value)
        self.num_magnitude_bins, self.interpolation = num_magnitude_bins, interpolation
        self.fill_value = three(fill_value)

    def _engine(self):
        return 'TrivialAugmentWide', {'num_magnitude_bins': self.num_magnitude_bins,
                                      'interpolation': int(self.interpolation), 'fill_value': self.fill_value}


class RandomSelectSubpolicy(_RandomEngine):
    """One of several lists of transforms; each of its transforms happens with a probability of its own.

    Args:
        policy: list of lists of (transform, probability).
    """

    def __init__(self, policy):
        super().__init__()
        check.kind(policy, list, 'policy')
        if not policy:
            raise ValueError("policy can not be empty.")
        for i, part in enumerate(policy):
            check.kind(part, list, f"policy[{i}]")
            if not part:
                raise ValueError(f"policy[{i}] can not be empty.")
            for k, entry in enumerate(part):
                check.pair(entry, f"policy[{i}][{k}]")
                check.operation(entry[0], f"op of (op, prob) in policy[{i}][{k}]")
                check.within(entry[1], 0, 1, f"prob of (op, prob) policy[{i}][{k}]")
        self.policy = policy

    def _engine(self):
        entries = [entry for part in self.policy for entry in part]
        if not all(hasattr(op, 'parse') for op, _ in entries):
            raise TypeError("RandomSelectSubpolicy: only transforms of the engine can be chosen from")
        return ('RandomSelectSubpolicy', {'lengths': [len(part) for part in self.policy],
                                          'probs': [prob for _, prob in entries]}, [op.parse() for op, _ in entries])


class UniformAugment(CompoundOperation):
    """Some of the transforms, each with a probability.

    Args:
        transforms: list to choose from.
        num_ops: how many are chosen.
    """

    def __init__(self, transforms, num_ops=2):
        check.kind(num_ops, int, 'num_ops')
        check.positive(num_ops, 'num_ops')
        if hasattr(transforms, '__len__') and num_ops > len(transforms):
            raise ValueError("num_ops is greater than transforms list size.")
        check.operations(transforms, (list, tuple))
        super().__init__(transforms)
        self.num_ops = num_ops

    def _engine(self):
        return 'UniformAugment', {'num_ops': self.num_ops}, self._children()

    def _execute_py(self, img):
        return util.uniform_augment(img, list(self.transforms), self.num_ops)


class BoundingBoxAugment(_RandomEngine):
    """A transform of what is in some of the boxes.

    Args:
        transform: transform of images.
        ratio: probability of a box to be chosen.
    """

    def __init__(self, transform, ratio=0.3):
        super().__init__()
        check.kind(ratio, (float, int), 'ratio')
        check.within(ratio, 0.0, 1.0, 'ratio')
        if not isinstance(transform, TensorOperation) or isinstance(transform, FuncWrapper):
            raise TypeError(f"Argument transform with value {transform} is not of type [TensorOperation], but got "
                            f"{type(transform)}.")
        self.transform, self.ratio = transform, ratio

    def _engine(self):
        return 'BoundingBoxAugment', {'ratio': self.ratio}, [self.transform.parse()]
