# SPDX-License-Identifier: Apache-2.0
"""All transforms of images."""
from spore.dataset.transforms.transforms import CompoundOperation, PyTensorOperation, TensorOperation, TypeCast, not_random
from spore.dataset.vision._arrays import (CutMixBatch, FiveCrop, Grayscale, HsvToRgb, LinearTransformation, MixUp,
                                          MixUpBatch, RandomErasing, RandomGrayscale, RandomPerspective, RgbToHsv,
                                          TenCrop)
from spore.dataset.vision._plain import (AdjustBrightness, AdjustContrast, AdjustGamma, AdjustHue, AdjustSaturation,
                                         AdjustSharpness, Affine, AutoContrast, CenterCrop, ConvertColor, Crop, Decode,
                                         Equalize, Erase, GaussianBlur, HorizontalFlip, HWC2CHW, Invert, Normalize,
                                         NormalizePad, Pad, PadToSize, Perspective, Posterize, Rescale, Resize,
                                         ResizedCrop, Rotate, SlicePatches, Solarize, ToNumpy, ToPIL, ToTensor, ToType,
                                         VerticalFlip)
from spore.dataset.vision._random import (AutoAugment, BoundingBoxAugment, CutOut, RandAugment, RandomAdjustSharpness,
                                          RandomAffine, RandomAutoContrast, RandomColor, RandomColorAdjust, RandomCrop,
                                          RandomCropDecodeResize, RandomCropWithBBox, RandomEqualize,
                                          RandomHorizontalFlip, RandomHorizontalFlipWithBBox, RandomInvert,
                                          RandomLighting, RandomPosterize, RandomResize, RandomResizedCrop,
                                          RandomResizedCropWithBBox, RandomResizeWithBBox, RandomRotation,
                                          RandomSelectSubpolicy, RandomSharpness, RandomSolarize, RandomVerticalFlip,
                                          RandomVerticalFlipWithBBox, ResizeWithBBox, TrivialAugmentWide,
                                          UniformAugment)

ImageTensorOperation = VideoTensorOperation = TensorOperation   # bases, for transforms of users

__all__ = ['AdjustBrightness', 'AdjustContrast', 'AdjustGamma', 'AdjustHue', 'AdjustSaturation', 'AdjustSharpness',
           'Affine', 'AutoAugment', 'AutoContrast', 'BoundingBoxAugment', 'CenterCrop', 'ConvertColor', 'Crop',
           'CutMixBatch', 'CutOut', 'Decode', 'Equalize', 'Erase', 'FiveCrop', 'GaussianBlur', 'Grayscale',
           'HorizontalFlip', 'HsvToRgb', 'HWC2CHW', 'Invert', 'LinearTransformation', 'MixUp', 'MixUpBatch', 'Normalize',
           'NormalizePad', 'Pad', 'PadToSize', 'Perspective', 'Posterize', 'RandAugment', 'RandomAdjustSharpness',
           'RandomAffine', 'RandomAutoContrast', 'RandomColor', 'RandomColorAdjust', 'RandomCrop',
           'RandomCropDecodeResize', 'RandomCropWithBBox', 'RandomEqualize', 'RandomErasing', 'RandomGrayscale',
           'RandomHorizontalFlip', 'RandomHorizontalFlipWithBBox', 'RandomInvert', 'RandomLighting',
           'RandomPerspective', 'RandomPosterize', 'RandomResize', 'RandomResizedCrop', 'RandomResizedCropWithBBox',
           'RandomResizeWithBBox', 'RandomRotation', 'RandomSelectSubpolicy', 'RandomSharpness', 'RandomSolarize',
           'RandomVerticalFlip', 'RandomVerticalFlipWithBBox', 'Rescale', 'Resize', 'ResizedCrop', 'ResizeWithBBox',
           'RgbToHsv', 'Rotate', 'SlicePatches', 'Solarize', 'TenCrop', 'ToNumpy', 'ToPIL', 'ToTensor', 'ToType',
           'TrivialAugmentWide', 'UniformAugment', 'VerticalFlip', 'not_random']
