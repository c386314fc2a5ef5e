# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""Transforms of sound."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive
from spore.dataset.audio._effects import DetectPitchFrequency as _DetectPitchFrequency
from spore.dataset.audio._effects import Dither as _Dither
from spore.dataset.audio._effects import Flanger as _Flanger
from spore.dataset.audio._effects import GriffinLim as _GriffinLim
from spore.dataset.audio._effects import InverseSpectrogram as _InverseSpectrogram
from spore.dataset.audio._effects import Phaser as _Phaser
from spore.dataset.audio._effects import PitchShift as _PitchShift
from spore.dataset.audio._effects import Resample as _Resample
from spore.dataset.audio._speech import InverseMelScale as _InverseMelScale
from spore.dataset.audio._speech import Vad as _Vad
from spore.dataset.audio.transforms import Angle as Angle
from spore.dataset.audio.transforms import Biquad as Biquad
from spore.dataset.audio.transforms import DBToAmplitude as DBToAmplitude
from spore.dataset.audio.transforms import DCShift as DCShift
from spore.dataset.audio.transforms import DeemphBiquad as DeemphBiquad
from spore.dataset.audio.transforms import MaskAlongAxis as MaskAlongAxis
from spore.dataset.audio.transforms import MaskAlongAxisIID as MaskAlongAxisIID
from spore.dataset.audio.transforms import PhaseVocoder as PhaseVocoder
from spore.dataset.audio.transforms import RiaaBiquad as RiaaBiquad
from spore.dataset.audio.transforms import AllpassBiquad as _AllpassBiquad
from spore.dataset.audio.transforms import AmplitudeToDB as _AmplitudeToDB
from spore.dataset.audio.transforms import BandBiquad as _BandBiquad
from spore.dataset.audio.transforms import BandpassBiquad as _BandpassBiquad
from spore.dataset.audio.transforms import BandrejectBiquad as _BandrejectBiquad
from spore.dataset.audio.transforms import BassBiquad as _BassBiquad
from spore.dataset.audio.transforms import ComplexNorm as _ComplexNorm
from spore.dataset.audio.transforms import ComputeDeltas as _ComputeDeltas
from spore.dataset.audio.transforms import Contrast as _Contrast
from spore.dataset.audio.transforms import EqualizerBiquad as _EqualizerBiquad
from spore.dataset.audio.transforms import Fade as _Fade
from spore.dataset.audio.transforms import Filtfilt as _Filtfilt
from spore.dataset.audio.transforms import FrequencyMasking as _FrequencyMasking
from spore.dataset.audio.transforms import Gain as _Gain
from spore.dataset.audio.transforms import HighpassBiquad as _HighpassBiquad
from spore.dataset.audio.transforms import LFCC as _LFCC
from spore.dataset.audio.transforms import LFilter as _LFilter
from spore.dataset.audio.transforms import LowpassBiquad as _LowpassBiquad
from spore.dataset.audio.transforms import MFCC as _MFCC
from spore.dataset.audio.transforms import Magphase as _Magphase
from spore.dataset.audio.transforms import MelScale as _MelScale
from spore.dataset.audio.transforms import MelSpectrogram as _MelSpectrogram
from spore.dataset.audio.transforms import MuLawDecoding as _MuLawDecoding
from spore.dataset.audio.transforms import MuLawEncoding as _MuLawEncoding
from spore.dataset.audio.transforms import Overdrive as _Overdrive
from spore.dataset.audio.transforms import SlidingWindowCmn as _SlidingWindowCmn
from spore.dataset.audio.transforms import SpectralCentroid as _SpectralCentroid
from spore.dataset.audio.transforms import Spectrogram as _Spectrogram
from spore.dataset.audio.transforms import TimeMasking as _TimeMasking
from spore.dataset.audio.transforms import TimeStretch as _TimeStretch
from spore.dataset.audio.transforms import TrebleBiquad as _TrebleBiquad
from spore.dataset.audio.transforms import Vol as _Vol
from spore.dataset.audio.utils import BorderType as BorderType
from spore.dataset.audio.utils import DensityFunction as DensityFunction
from spore.dataset.audio.utils import FadeShape as FadeShape
from spore.dataset.audio.utils import GainType as GainType
from spore.dataset.audio.utils import Interpolation as Interpolation
from spore.dataset.audio.utils import MelType as MelType
from spore.dataset.audio.utils import Modulation as Modulation
from spore.dataset.audio.utils import NormMode as NormMode
from spore.dataset.audio.utils import NormType as NormType
from spore.dataset.audio.utils import ResampleMethod as ResampleMethod
from spore.dataset.audio.utils import ScaleType as ScaleType
from spore.dataset.audio.utils import WindowType as WindowType
from spore.dataset.audio.utils import linear_fbanks as linear_fbanks

__all__: list[str]

class AllpassBiquad(_AllpassBiquad):
    """All tones pass, with other phases."""
    def __init__(self, sample_rate, central_freq, Q: Any = 0.707) -> None: ...
class AmplitudeToDB(_AmplitudeToDB):
    """Decibels."""
    def __init__(self, stype: Any = ..., ref_value: Any = 1.0, amin: Any = 1e-10, top_db: Any = 80.0) -> None: ...
class BandBiquad(_BandBiquad):
    """Tones near a frequency pass, resonating."""
    def __init__(self, sample_rate, central_freq, Q: Any = 0.707, noise: Any = False) -> None: ...
class BandpassBiquad(_BandpassBiquad):
    """Tones near a frequency pass."""
    def __init__(self, sample_rate, central_freq, Q: Any = 0.707, const_skirt_gain: Any = False) -> None: ...
class BandrejectBiquad(_BandrejectBiquad):
    """Tones near a frequency do not pass."""
    def __init__(self, sample_rate, central_freq, Q: Any = 0.707) -> None: ...
class BassBiquad(_BassBiquad):
    """Low tones louder or softer."""
    def __init__(self, sample_rate, gain, central_freq: Any = 100.0, Q: Any = 0.707) -> None: ...
class ComplexNorm(_ComplexNorm):
    """Sizes of complex numbers, given as pairs."""
    def __init__(self, power: Any = 1.0) -> None: ...
class ComputeDeltas(_ComputeDeltas):
    """How fast a spectrogram changes."""
    def __init__(self, win_length: Any = 5, pad_mode: Any = ...) -> None: ...
class Contrast(_Contrast):
    """Differences of loudness made stronger."""
    def __init__(self, enhancement_amount: Any = 75.0) -> None: ...
class DetectPitchFrequency(_DetectPitchFrequency):
    """The pitch of every stretch of time."""
    def __init__(self, sample_rate, frame_time: Any = 0.01, win_length: Any = 30, freq_low: Any = 85, freq_high: Any = 3400) -> None: ...
class Dither(_Dither):
    """Noise added before rounding to 16 bits, so that errors do not follow the sound."""
    def __init__(self, density_function: Any = ..., noise_shaping: Any = False) -> None: ...
class EqualizerBiquad(_EqualizerBiquad):
    """Tones near a frequency louder or softer."""
    def __init__(self, sample_rate, center_freq, gain, Q: Any = 0.707) -> None: ...
class Fade(_Fade):
    """Loudness that grows at the start and falls at the end."""
    def __init__(self, fade_in_len: Any = 0, fade_out_len: Any = 0, fade_shape: Any = ...) -> None: ...
class Filtfilt(_Filtfilt):
    """A recursive filter forward, then backward, so that nothing is delayed."""
    def __init__(self, a_coeffs, b_coeffs, clamp: Any = True) -> None: ...
class Flanger(_Flanger):
    """The sound mixed with itself, delayed by a short time that changes slowly, for each channel with another phase."""
    def __init__(self, sample_rate, delay: Any = 0.0, depth: Any = 2.0, regen: Any = 0.0, width: Any = 71.0, speed: Any = 0.5, phase: Any = 25.0, modulation: Any = ..., interpolation: Any = ...) -> None: ...
class FrequencyMasking(_FrequencyMasking):
    """A range of frequencies replaced by a value."""
    def __init__(self, iid_masks: Any = False, freq_mask_param: Any = 0, mask_start: Any = 0, mask_value: Any = 0.0) -> None: ...
class Gain(_Gain):
    """Louder or softer."""
    def __init__(self, gain_db: Any = 1.0) -> None: ...
class GriffinLim(_GriffinLim):
    """Sound whose spectrogram has given sizes; angles are guessed and improved."""
    def __init__(self, n_fft: Any = 400, n_iter: Any = 32, win_length=None, hop_length=None, window_type: Any = ..., power: Any = 2.0, momentum: Any = 0.99, length=None, rand_init: Any = True) -> None: ...
class HighpassBiquad(_HighpassBiquad):
    """High tones pass."""
    def __init__(self, sample_rate, cutoff_freq, Q: Any = 0.707) -> None: ...
class InverseMelScale(_InverseMelScale):
    """A spectrogram that would give a mel spectrogram, found by descent."""
    def __init__(self, n_stft, n_mels: Any = 128, sample_rate: Any = 16000, f_min: Any = 0.0, f_max=None, max_iter: Any = 100000, tolerance_loss: Any = 1e-05, tolerance_change: Any = 1e-08, sgdargs=None, norm: Any = ..., mel_type: Any = ...) -> None: ...
class InverseSpectrogram(_InverseSpectrogram):
    """Sound of a complex spectrogram, given as pairs."""
    def __init__(self, length=None, n_fft: Any = 400, win_length=None, hop_length=None, pad: Any = 0, window: Any = ..., normalized: Any = False, center: Any = True, pad_mode: Any = ..., onesided: Any = True) -> None: ...
class LFCC(_LFCC):
    """Cosine transform of a spectrogram by evenly spaced filters, in decibels."""
    def __init__(self, sample_rate: Any = 16000, n_filter: Any = 128, n_lfcc: Any = 40, f_min: Any = 0.0, f_max=None, dct_type: Any = 2, norm: Any = ..., log_lf: Any = False, speckwargs=None) -> None: ...
class LFilter(_LFilter):
    """A recursive filter."""
    def __init__(self, a_coeffs, b_coeffs, clamp: Any = True) -> None: ...
class LowpassBiquad(_LowpassBiquad):
    """Low tones pass."""
    def __init__(self, sample_rate, cutoff_freq, Q: Any = 0.707) -> None: ...
class MFCC(_MFCC):
    """Cosine transform of a mel spectrogram in decibels."""
    def __init__(self, sample_rate: Any = 16000, n_mfcc: Any = 40, dct_type: Any = 2, norm: Any = ..., log_mels: Any = False, melkwargs=None) -> None: ...
class Magphase(_Magphase):
    """Sizes and angles of complex numbers, given as pairs."""
    def __init__(self, power: Any = 1.0) -> None: ...
class MelScale(_MelScale):
    """A spectrogram on the mel scale."""
    def __init__(self, n_mels: Any = 128, sample_rate: Any = 16000, f_min: Any = 0.0, f_max=None, n_stft: Any = 201, norm: Any = ..., mel_type: Any = ...) -> None: ...
class MelSpectrogram(_MelSpectrogram):
    """Spectrogram, then MelScale."""
    def __init__(self, sample_rate: Any = 16000, n_fft: Any = 400, win_length=None, hop_length=None, f_min: Any = 0.0, f_max=None, pad: Any = 0, n_mels: Any = 128, window: Any = ..., power: Any = 2.0, normalized: Any = False, center: Any = True, pad_mode: Any = ..., onesided: Any = True, norm: Any = ..., mel_scale: Any = ...) -> None: ...
class MuLawDecoding(_MuLawDecoding):
    """MuLawEncoding undone."""
    def __init__(self, quantization_channels: Any = 256) -> None: ...
class MuLawEncoding(_MuLawEncoding):
    """Loudness on a logarithmic scale, as whole numbers."""
    def __init__(self, quantization_channels: Any = 256) -> None: ...
class Overdrive(_Overdrive):
    """Distortion."""
    def __init__(self, gain: Any = 20.0, color: Any = 20.0) -> None: ...
class Phaser(_Phaser):
    """The sound mixed with itself, delayed by a time that changes slowly."""
    def __init__(self, sample_rate, gain_in: Any = 0.4, gain_out: Any = 0.74, delay_ms: Any = 3.0, decay: Any = 0.4, mod_speed: Any = 0.5, sinusoidal: Any = True) -> None: ...
class PitchShift(_PitchShift):
    """Higher or lower, as long as before."""
    def __init__(self, sample_rate, n_steps, bins_per_octave: Any = 12, n_fft: Any = 512, win_length=None, hop_length=None, window: Any = ...) -> None: ...
class Resample(_Resample):
    """Another number of samples a second."""
    def __init__(self, orig_freq: Any = 16000, new_freq: Any = 16000, resample_method: Any = ..., lowpass_filter_width: Any = 6, rolloff: Any = 0.99, beta=None) -> None: ...
class SlidingWindowCmn(_SlidingWindowCmn):
    """The mean of neighbouring times subtracted."""
    def __init__(self, cmn_window: Any = 600, min_cmn_window: Any = 100, center: Any = False, norm_vars: Any = False) -> None: ...
class SpectralCentroid(_SpectralCentroid):
    """The mean frequency at every time."""
    def __init__(self, sample_rate, n_fft: Any = 400, win_length=None, hop_length=None, pad: Any = 0, window: Any = ...) -> None: ...
class Spectrogram(_Spectrogram):
    """How loud every frequency is at every time."""
    def __init__(self, n_fft: Any = 400, win_length=None, hop_length=None, pad: Any = 0, window: Any = ..., power: Any = 2.0, normalized: Any = False, center: Any = True, pad_mode: Any = ..., onesided: Any = True) -> None: ...
class TimeMasking(_TimeMasking):
    """A range of times replaced by a value."""
    def __init__(self, iid_masks: Any = False, time_mask_param: Any = 0, mask_start: Any = 0, mask_value: Any = 0.0) -> None: ...
class TimeStretch(_TimeStretch):
    """A complex spectrogram made shorter or longer, with the pitch kept."""
    def __init__(self, hop_length=None, n_freq: Any = 201, fixed_rate=None) -> None: ...
class TrebleBiquad(_TrebleBiquad):
    """High tones louder or softer."""
    def __init__(self, sample_rate, gain, central_freq: Any = 3000, Q: Any = 0.707) -> None: ...
class Vad(_Vad):
    """A recording from the beginning of speech on: what comes before it is cut off. For the end, reverse the recording. Without speech, its last part is given."""
    def __init__(self, sample_rate, trigger_level: Any = 7.0, trigger_time: Any = 0.25, search_time: Any = 1.0, allowed_gap: Any = 0.25, pre_trigger_time: Any = 0.0, boot_time: Any = 0.35, noise_up_time: Any = 0.1, noise_down_time: Any = 0.01, noise_reduction_amount: Any = 1.35, measure_freq: Any = 20.0, measure_duration=None, measure_smooth_time: Any = 0.4, hp_filter_freq: Any = 50.0, lp_filter_freq: Any = 6000.0, hp_lifter_freq: Any = 150.0, lp_lifter_freq: Any = 2000.0) -> None: ...
class Vol(_Vol):
    """Louder or softer, kept from -1 to 1."""
    def __init__(self, gain, gain_type: Any = ...) -> None: ...
def create_dct(n_mfcc, n_mels, norm: Any = ...):
    """The matrix of a cosine transform of the second kind."""
def melscale_fbanks(n_freqs, f_min, f_max, n_mels, sample_rate, norm: Any = ..., mel_type: Any = ...):
    """Triangular filters that are evenly spaced on the mel scale."""
