# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""Transforms of images, given as arrays of height, width and channels or as Pillow images, and image files."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive
from spore.dataset.transforms.transforms import not_random as not_random
from spore.dataset.vision._arrays import FiveCrop as FiveCrop
from spore.dataset.vision._arrays import LinearTransformation as LinearTransformation
from spore.dataset.vision._arrays import CutMixBatch as _CutMixBatch
from spore.dataset.vision._arrays import Grayscale as _Grayscale
from spore.dataset.vision._arrays import HsvToRgb as _HsvToRgb
from spore.dataset.vision._arrays import MixUp as _MixUp
from spore.dataset.vision._arrays import MixUpBatch as _MixUpBatch
from spore.dataset.vision._arrays import RandomErasing as _RandomErasing
from spore.dataset.vision._arrays import RandomGrayscale as _RandomGrayscale
from spore.dataset.vision._arrays import RandomPerspective as _RandomPerspective
from spore.dataset.vision._arrays import RgbToHsv as _RgbToHsv
from spore.dataset.vision._arrays import TenCrop as _TenCrop
from spore.dataset.vision._plain import AdjustBrightness as AdjustBrightness
from spore.dataset.vision._plain import AdjustContrast as AdjustContrast
from spore.dataset.vision._plain import AdjustHue as AdjustHue
from spore.dataset.vision._plain import AdjustSaturation as AdjustSaturation
from spore.dataset.vision._plain import AdjustSharpness as AdjustSharpness
from spore.dataset.vision._plain import CenterCrop as CenterCrop
from spore.dataset.vision._plain import ConvertColor as ConvertColor
from spore.dataset.vision._plain import Crop as Crop
from spore.dataset.vision._plain import Equalize as Equalize
from spore.dataset.vision._plain import GaussianBlur as GaussianBlur
from spore.dataset.vision._plain import HWC2CHW as HWC2CHW
from spore.dataset.vision._plain import HorizontalFlip as HorizontalFlip
from spore.dataset.vision._plain import Invert as Invert
from spore.dataset.vision._plain import Posterize as Posterize
from spore.dataset.vision._plain import Rescale as Rescale
from spore.dataset.vision._plain import Solarize as Solarize
from spore.dataset.vision._plain import ToNumpy as ToNumpy
from spore.dataset.vision._plain import ToPIL as ToPIL
from spore.dataset.vision._plain import ToType as ToType
from spore.dataset.vision._plain import VerticalFlip as VerticalFlip
from spore.dataset.vision._plain import AdjustGamma as _AdjustGamma
from spore.dataset.vision._plain import Affine as _Affine
from spore.dataset.vision._plain import AutoContrast as _AutoContrast
from spore.dataset.vision._plain import Decode as _Decode
from spore.dataset.vision._plain import Erase as _Erase
from spore.dataset.vision._plain import Normalize as _Normalize
from spore.dataset.vision._plain import NormalizePad as _NormalizePad
from spore.dataset.vision._plain import Pad as _Pad
from spore.dataset.vision._plain import PadToSize as _PadToSize
from spore.dataset.vision._plain import Perspective as _Perspective
from spore.dataset.vision._plain import Resize as _Resize
from spore.dataset.vision._plain import ResizedCrop as _ResizedCrop
from spore.dataset.vision._plain import Rotate as _Rotate
from spore.dataset.vision._plain import SlicePatches as _SlicePatches
from spore.dataset.vision._plain import ToTensor as _ToTensor
from spore.dataset.vision._random import RandomResize as RandomResize
from spore.dataset.vision._random import RandomResizeWithBBox as RandomResizeWithBBox
from spore.dataset.vision._random import RandomSelectSubpolicy as RandomSelectSubpolicy
from spore.dataset.vision._random import AutoAugment as _AutoAugment
from spore.dataset.vision._random import BoundingBoxAugment as _BoundingBoxAugment
from spore.dataset.vision._random import CutOut as _CutOut
from spore.dataset.vision._random import RandAugment as _RandAugment
from spore.dataset.vision._random import RandomAdjustSharpness as _RandomAdjustSharpness
from spore.dataset.vision._random import RandomAffine as _RandomAffine
from spore.dataset.vision._random import RandomAutoContrast as _RandomAutoContrast
from spore.dataset.vision._random import RandomColor as _RandomColor
from spore.dataset.vision._random import RandomColorAdjust as _RandomColorAdjust
from spore.dataset.vision._random import RandomCrop as _RandomCrop
from spore.dataset.vision._random import RandomCropDecodeResize as _RandomCropDecodeResize
from spore.dataset.vision._random import RandomCropWithBBox as _RandomCropWithBBox
from spore.dataset.vision._random import RandomEqualize as _RandomEqualize
from spore.dataset.vision._random import RandomHorizontalFlip as _RandomHorizontalFlip
from spore.dataset.vision._random import RandomHorizontalFlipWithBBox as _RandomHorizontalFlipWithBBox
from spore.dataset.vision._random import RandomInvert as _RandomInvert
from spore.dataset.vision._random import RandomLighting as _RandomLighting
from spore.dataset.vision._random import RandomPosterize as _RandomPosterize
from spore.dataset.vision._random import RandomResizedCrop as _RandomResizedCrop
from spore.dataset.vision._random import RandomResizedCropWithBBox as _RandomResizedCropWithBBox
from spore.dataset.vision._random import RandomRotation as _RandomRotation
from spore.dataset.vision._random import RandomSharpness as _RandomSharpness
from spore.dataset.vision._random import RandomSolarize as _RandomSolarize
from spore.dataset.vision._random import RandomVerticalFlip as _RandomVerticalFlip
from spore.dataset.vision._random import RandomVerticalFlipWithBBox as _RandomVerticalFlipWithBBox
from spore.dataset.vision._random import ResizeWithBBox as _ResizeWithBBox
from spore.dataset.vision._random import TrivialAugmentWide as _TrivialAugmentWide
from spore.dataset.vision._random import UniformAugment as _UniformAugment
from spore.dataset.vision._video import DecodeVideo as DecodeVideo
from spore.dataset.vision._video import VideoDecoder as VideoDecoder
from spore.dataset.vision.utils import AutoAugmentPolicy as AutoAugmentPolicy
from spore.dataset.vision.utils import Border as Border
from spore.dataset.vision.utils import ConvertMode as ConvertMode
from spore.dataset.vision.utils import ImageBatchFormat as ImageBatchFormat
from spore.dataset.vision.utils import ImageReadMode as ImageReadMode
from spore.dataset.vision.utils import Inter as Inter
from spore.dataset.vision.utils import SliceMode as SliceMode
from spore.dataset.vision.utils import get_image_num_channels as get_image_num_channels
from spore.dataset.vision.utils import get_image_size as get_image_size
from spore.dataset.vision.utils import read_file as read_file
from spore.dataset.vision.utils import write_file as write_file

__all__: list[str]

class AdjustGamma(_AdjustGamma):
    """A power of the levels, seen as numbers from 0 to 1."""
    def __init__(self, gamma, gain: Any = 1) -> None: ...
class Affine(_Affine):
    """Turned, moved, scaled and sheared about the middle."""
    def __init__(self, degrees, translate, scale, shear, resample: Any = ..., fill_value: Any = 0) -> None: ...
class AutoAugment(_AutoAugment):
    """A learned policy of two changes (Cubuk et al. 2019)."""
    def __init__(self, policy: Any = ..., interpolation: Any = ..., fill_value: Any = 0) -> None: ...
class AutoContrast(_AutoContrast):
    """Levels of each channel stretched to the whole range."""
    def __init__(self, cutoff: Any = 0.0, ignore=None) -> None: ...
class BoundingBoxAugment(_BoundingBoxAugment):
    """A transform of what is in some of the boxes."""
    def __init__(self, transform, ratio: Any = 0.3) -> None: ...
class CutMixBatch(_CutMixBatch):
    """Rectangles exchanged between the images of a batch; labels mixed by area."""
    def __init__(self, image_batch_format, alpha: Any = 1.0, prob: Any = 1.0) -> None: ...
class CutOut(_CutOut):
    """Black squares anywhere."""
    def __init__(self, length, num_patches: Any = 1, is_hwc: Any = True) -> None: ...
class Decode(_Decode):
    """A picture file's bytes as an RGB image."""
    def __init__(self, to_pil: Any = False) -> None: ...
class Erase(_Erase):
    """A rectangle of one colour."""
    def __init__(self, top, left, height, width, value: Any = 0.0, inplace: Any = False) -> None: ...
class Grayscale(_Grayscale):
    """A Pillow image in gray."""
    def __init__(self, num_output_channels: Any = 1) -> None: ...
class HsvToRgb(_HsvToRgb):
    """Hue, saturation and value as red, green and blue from 0 to 1."""
    def __init__(self, is_hwc: Any = False) -> None: ...
class MixUp(_MixUp):
    """Images of a batch mixed with their neighbours, or with the batch before."""
    def __init__(self, batch_size, alpha, is_single: Any = True) -> None: ...
class MixUpBatch(_MixUpBatch):
    """Images of a batch mixed in pairs, and their labels."""
    def __init__(self, alpha: Any = 1.0) -> None: ...
class Normalize(_Normalize):
    """``(image - mean) / std`` by channel, as float32."""
    def __init__(self, mean, std, is_hwc: Any = True) -> None: ...
class NormalizePad(_NormalizePad):
    """Normalize, and a channel of zeros behind the others."""
    def __init__(self, mean, std, dtype: Any = 'float32', is_hwc: Any = True) -> None: ...
class Pad(_Pad):
    """Something around an image."""
    def __init__(self, padding, fill_value: Any = 0, padding_mode: Any = ...) -> None: ...
class PadToSize(_PadToSize):
    """An image put on a larger canvas."""
    def __init__(self, size, offset=None, fill_value: Any = 0, padding_mode: Any = ...) -> None: ...
class Perspective(_Perspective):
    """An image seen from aside: four points moved to four others."""
    def __init__(self, start_points, end_points, interpolation: Any = ...) -> None: ...
class RandAugment(_RandAugment):
    """Random changes of one strength (Cubuk et al. 2020)."""
    def __init__(self, num_ops: Any = 2, magnitude: Any = 9, num_magnitude_bins: Any = 31, interpolation: Any = ..., fill_value: Any = 0) -> None: ...
class RandomAdjustSharpness(_RandomAdjustSharpness):
    """AdjustSharpness with a probability."""
    def __init__(self, degree, prob: Any = 0.5) -> None: ...
class RandomAffine(_RandomAffine):
    """Affine with random angles, translations, scales and shears."""
    def __init__(self, degrees, translate=None, scale=None, shear=None, resample: Any = ..., fill_value: Any = 0) -> None: ...
class RandomAutoContrast(_RandomAutoContrast):
    """AutoContrast with a probability."""
    def __init__(self, cutoff: Any = 0.0, ignore=None, prob: Any = 0.5) -> None: ...
class RandomColor(_RandomColor):
    """AdjustSaturation by a random factor."""
    def __init__(self, degrees: Any = (0.1, 1.9)) -> None: ...
class RandomColorAdjust(_RandomColorAdjust):
    """Brightness, contrast, saturation and hue changed by random factors, in random order."""
    def __init__(self, brightness: Any = (1, 1), contrast: Any = (1, 1), saturation: Any = (1, 1), hue: Any = (0, 0)) -> None: ...
class RandomCrop(_RandomCrop):
    """A rectangle anywhere in an image."""
    def __init__(self, size, padding=None, pad_if_needed: Any = False, fill_value: Any = 0, padding_mode: Any = ...) -> None: ...
class RandomCropDecodeResize(_RandomCropDecodeResize):
    """Decode, RandomResizedCrop in one; of a JPEG only the rectangle is decoded."""
    def __init__(self, size, scale: Any = (0.08, 1.0), ratio: Any = (0.75, 1.3333333333333333), interpolation: Any = ..., max_attempts: Any = 10) -> None: ...
class RandomCropWithBBox(_RandomCropWithBBox):
    """RandomCrop of an image and the boxes on it."""
    def __init__(self, size, padding=None, pad_if_needed: Any = False, fill_value: Any = 0, padding_mode: Any = ...) -> None: ...
class RandomEqualize(_RandomEqualize):
    """Equalize with a probability."""
    def __init__(self, prob: Any = 0.5) -> None: ...
class RandomErasing(_RandomErasing):
    """A random rectangle of an array of channels, height and width erased, with a probability."""
    def __init__(self, prob: Any = 0.5, scale: Any = (0.02, 0.33), ratio: Any = (0.3, 3.3), value: Any = 0, inplace: Any = False, max_attempts: Any = 10) -> None: ...
class RandomGrayscale(_RandomGrayscale):
    """Grayscale with a probability."""
    def __init__(self, prob: Any = 0.1) -> None: ...
class RandomHorizontalFlip(_RandomHorizontalFlip):
    """HorizontalFlip with a probability."""
    def __init__(self, prob: Any = 0.5) -> None: ...
class RandomHorizontalFlipWithBBox(_RandomHorizontalFlipWithBBox):
    """RandomHorizontalFlip of an image and the boxes on it."""
    def __init__(self, prob: Any = 0.5) -> None: ...
class RandomInvert(_RandomInvert):
    """Invert with a probability."""
    def __init__(self, prob: Any = 0.5) -> None: ...
class RandomLighting(_RandomLighting):
    """Noise of the kind that light makes."""
    def __init__(self, alpha: Any = 0.05) -> None: ...
class RandomPerspective(_RandomPerspective):
    """Perspective of a Pillow image by random points, with a probability."""
    def __init__(self, distortion_scale: Any = 0.5, prob: Any = 0.5, interpolation: Any = ...) -> None: ...
class RandomPosterize(_RandomPosterize):
    """Posterize to a random number of bits."""
    def __init__(self, bits: Any = (8, 8)) -> None: ...
class RandomResizedCrop(_RandomResizedCrop):
    """A rectangle of random size and aspect, resized."""
    def __init__(self, size, scale: Any = (0.08, 1.0), ratio: Any = (0.75, 1.3333333333333333), interpolation: Any = ..., max_attempts: Any = 10) -> None: ...
class RandomResizedCropWithBBox(_RandomResizedCropWithBBox):
    """RandomResizedCrop of an image and the boxes on it."""
    def __init__(self, size, scale: Any = (0.08, 1.0), ratio: Any = (0.75, 1.3333333333333333), interpolation: Any = ..., max_attempts: Any = 10) -> None: ...
class RandomRotation(_RandomRotation):
    """Rotate by a random angle."""
    def __init__(self, degrees, resample: Any = ..., expand: Any = False, center=None, fill_value: Any = 0) -> None: ...
class RandomSharpness(_RandomSharpness):
    """AdjustSharpness by a random factor."""
    def __init__(self, degrees: Any = (0.1, 1.9)) -> None: ...
class RandomSolarize(_RandomSolarize):
    """Solarize within a random part of a range."""
    def __init__(self, threshold: Any = (0, 255)) -> None: ...
class RandomVerticalFlip(_RandomVerticalFlip):
    """VerticalFlip with a probability."""
    def __init__(self, prob: Any = 0.5) -> None: ...
class RandomVerticalFlipWithBBox(_RandomVerticalFlipWithBBox):
    """RandomVerticalFlip of an image and the boxes on it."""
    def __init__(self, prob: Any = 0.5) -> None: ...
class Resize(_Resize):
    """Another size."""
    def __init__(self, size, interpolation: Any = ...) -> None: ...
class ResizeWithBBox(_ResizeWithBBox):
    """Resize of an image and the boxes on it."""
    def __init__(self, size, interpolation: Any = ...) -> None: ...
class ResizedCrop(_ResizedCrop):
    """A rectangle, resized."""
    def __init__(self, top, left, height, width, size, interpolation: Any = ...) -> None: ...
class RgbToHsv(_RgbToHsv):
    """Red, green and blue from 0 to 1 as hue, saturation and value."""
    def __init__(self, is_hwc: Any = False) -> None: ...
class Rotate(_Rotate):
    """Turned, counter-clockwise."""
    def __init__(self, degrees, resample: Any = ..., expand: Any = False, center=None, fill_value: Any = 0) -> None: ...
class SlicePatches(_SlicePatches):
    """An image cut into patches, one column for each, row by row."""
    def __init__(self, num_height: Any = 1, num_width: Any = 1, slice_mode: Any = ..., fill_value: Any = 0) -> None: ...
class TenCrop(_TenCrop):
    """FiveCrop of a Pillow image and of its mirror image."""
    def __init__(self, size, use_vertical_flip: Any = False) -> None: ...
class ToTensor(_ToTensor):
    """Channels first, values from 0 to 1."""
    def __init__(self, output_type: Any = ...) -> None: ...
class TrivialAugmentWide(_TrivialAugmentWide):
    """One random change of random strength (Mueller and Hutter 2021)."""
    def __init__(self, num_magnitude_bins: Any = 31, interpolation: Any = ..., fill_value: Any = 0) -> None: ...
class UniformAugment(_UniformAugment):
    """Some of the transforms, each with a probability."""
    def __init__(self, transforms, num_ops: Any = 2) -> None: ...
def encode_jpeg(image, quality: Any = 75):
    """An image as the bytes of a JPEG file."""
def encode_png(image, compression_level: Any = 6):
    """An image as the bytes of a PNG file."""
def read_image(filename, mode: Any = ...):
    """A picture file as an array of height, width and channels. Other than UNCHANGED, a photograph is turned as its camera was held."""
def read_video(filename, start_pts: Any = 0, end_pts=None, pts_unit: Any = 'pts'):
    """Frames (number, height, width, 3), sound (channels, samples) and rates of a video file. Needs the package PyAV."""
def read_video_timestamps(filename, pts_unit: Any = 'pts'):
    """Times of the frames of a video file, and frames per second. Needs the package PyAV."""
def write_jpeg(filename, image, quality: Any = 75):
    """An image as a JPEG file; arguments as for encode_jpeg."""
def write_png(filename, image, compression_level: Any = 6):
    """An image as a PNG file; arguments as for encode_png."""
