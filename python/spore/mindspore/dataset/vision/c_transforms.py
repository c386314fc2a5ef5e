# SPDX-License-Identifier: Apache-2.0
"""The older address of transforms of images that run in C."""
from spore.dataset.vision.transforms import (AdjustGamma, AutoContrast, BoundingBoxAugment, CenterCrop, ConvertColor, Crop,
                                             CutMixBatch, CutOut, Decode, Equalize, GaussianBlur, HorizontalFlip,
                                             HWC2CHW, Invert, MixUpBatch, Normalize, NormalizePad, Pad,
                                             RandomAdjustSharpness, RandomAffine, RandomAutoContrast, RandomColor,
                                             RandomColorAdjust, RandomCrop, RandomCropDecodeResize, RandomCropWithBBox,
                                             RandomEqualize, RandomHorizontalFlip, RandomHorizontalFlipWithBBox,
                                             RandomInvert, RandomLighting, RandomPosterize, RandomResize,
                                             RandomResizedCrop, RandomResizedCropWithBBox, RandomResizeWithBBox,
                                             RandomRotation, RandomSelectSubpolicy, RandomSharpness, RandomSolarize,
                                             RandomVerticalFlip, RandomVerticalFlipWithBBox, Rescale, Resize,
                                             ResizeWithBBox, Rotate, SlicePatches, UniformAugment, VerticalFlip)
from spore.dataset.vision.utils import (Border, ConvertMode, ImageBatchFormat, Inter, SliceMode)

__all__ = ['AdjustGamma', 'AutoContrast', 'BoundingBoxAugment', 'CenterCrop', 'ConvertColor', 'Crop', 'CutMixBatch',
           'CutOut', 'Decode', 'Equalize', 'GaussianBlur', 'HorizontalFlip', 'HWC2CHW', 'Invert', 'MixUpBatch',
           'Normalize', 'NormalizePad', 'Pad', 'RandomAdjustSharpness', 'RandomAffine', 'RandomAutoContrast',
           'RandomColor', 'RandomColorAdjust', 'RandomCrop', 'RandomCropDecodeResize', 'RandomCropWithBBox',
           'RandomEqualize', 'RandomHorizontalFlip', 'RandomHorizontalFlipWithBBox', 'RandomInvert', 'RandomLighting',
           'RandomPosterize', 'RandomResize', 'RandomResizedCrop', 'RandomResizedCropWithBBox', 'RandomResizeWithBBox',
           'RandomRotation', 'RandomSelectSubpolicy', 'RandomSharpness', 'RandomSolarize', 'RandomVerticalFlip',
           'RandomVerticalFlipWithBBox', 'Rescale', 'Resize', 'ResizeWithBBox', 'Rotate', 'SlicePatches',
           'UniformAugment', 'VerticalFlip', 'Border', 'ConvertMode', 'ImageBatchFormat', 'Inter', 'SliceMode']
