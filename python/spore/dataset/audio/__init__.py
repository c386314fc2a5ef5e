# SPDX-License-Identifier: Apache-2.0
"""Transforms of sound."""
from spore.dataset.audio import transforms, utils
from spore.dataset.audio._effects import (DetectPitchFrequency, Dither, Flanger, GriffinLim, InverseSpectrogram, Phaser,
                                          PitchShift, Resample)
from spore.dataset.audio._speech import InverseMelScale, Vad
from spore.dataset.audio.transforms import *
from spore.dataset.audio.utils import *

__all__ = [*transforms.__all__, 'DetectPitchFrequency', 'Dither', 'Flanger', 'GriffinLim', 'InverseMelScale',
           'InverseSpectrogram', 'Phaser', 'PitchShift', 'Resample', 'Vad', *utils.__all__]
