# SPDX-License-Identifier: Apache-2.0
"""Transforms of sound: arrays whose last dimension is time, or frequency and time.

Filters run in the engine; spectrograms and what is made of them are sums and transforms that numpy does.
"""
import math

import numpy as np

from spore import _core
from spore.dataset import _check as check
from spore.dataset.audio.utils import (BorderType, FadeShape, GainType, MelType, NormMode, NormType, ScaleType, WindowType,
                                       create_dct, linear_fbanks, melscale_fbanks, window)
from spore.dataset.transforms.py_transforms_util import Implementation
from spore.dataset.transforms.transforms import TensorOperation

__all__ = ['AllpassBiquad', 'AmplitudeToDB', 'Angle', 'BandBiquad', 'BandpassBiquad', 'BandrejectBiquad', 'BassBiquad',
           'Biquad', 'ComplexNorm', 'ComputeDeltas', 'Contrast', 'DBToAmplitude', 'DCShift', 'DeemphBiquad',
           'EqualizerBiquad', 'Fade', 'Filtfilt', 'FrequencyMasking', 'Gain', 'HighpassBiquad', 'LFCC', 'LFilter',
           'LowpassBiquad', 'MFCC', 'Magphase', 'MaskAlongAxis', 'MaskAlongAxisIID', 'MelScale', 'MelSpectrogram',
           'MuLawDecoding', 'MuLawEncoding', 'Overdrive', 'PhaseVocoder', 'RiaaBiquad', 'SlidingWindowCmn',
           'SpectralCentroid', 'Spectrogram', 'TimeMasking', 'TimeStretch', 'TrebleBiquad', 'Vol']


class AudioTensorOperation(TensorOperation):
    """A transform of sound."""

    random = False
    _ndim = 1     # dimensions it needs
    _half = False  # whether float16 comes out as float16, not float32
    _same = False  # whether whole numbers come out as they went in, not as float32
    _whole = True  # whether it takes whole numbers

    def __init__(self):
        super().__init__()
        self.implementation = Implementation.C

    def _check_columns(self, columns):
        for column in columns:
            if not isinstance(column, (np.ndarray, _core.Tensor)):
                raise TypeError(f"Input should be NumPy audio, got {type(column)}.")
            if 0 in column.shape:
                raise RuntimeError(f"Input Tensor has no data. Its shape is {tuple(column.shape)}.")

    def _run(self, columns):
        return tuple(out for column in columns for out in self._checked(column))

    def _checked(self, column):
        who = type(self).__name__
        if column.ndim < self._ndim:
            raise RuntimeError(f"{who}: the shape of input tensor does not match the requirement of operator. Expecting "
                               f"at least {self._ndim} dimensions. But got tensor with dimension {column.ndim}.")
        if column.dtype.kind not in ('fiub' if self._whole else 'f'):
            kind, wanted = 'string' if column.dtype.kind == 'U' else column.dtype, 'int, float' if self._whole else 'float'
            raise RuntimeError(f"{who}: the data type of input tensor does not match the requirement of operator. "
                               f"Expecting tensor in type of [{wanted}, double]. But got type {kind}.")
        whole, half = column.dtype.kind != 'f', column.dtype == np.float16
        made = self._one(column.astype(np.float32) if whole or half else column)
        made = made if isinstance(made, tuple) else (made,)
        return tuple(a.astype(column.dtype) for a in made) if self._half and half or self._same and whole else made

    def parse(self):
        """Not one of the engine's, unless it says so."""
        if type(self)._engine is TensorOperation._engine:
            raise NotImplementedError(f"{type(self).__name__} runs in Python")
        return super().parse()

    def _one(self, x):
        raise NotImplementedError


# --- filters ----------------------------------------------------------------------------------------------------------

class _Filter(AudioTensorOperation):
    """A filter of the engine: coefficients in `a` and `b`."""

    clamp = True

    def _coefficients(self):
        """(a, b)"""
        raise NotImplementedError

    def _engine(self):
        a, b = self._coefficients()
        return 'LFilter', {'a_coeffs': [float(v) for v in a], 'b_coeffs': [float(v) for v in b], 'clamp': bool(self.clamp)}

    def _checked(self, column):
        if column.ndim < 1:
            raise RuntimeError(f"{type(self).__name__}: the shape of input tensor does not match the requirement of "
                               "operator. Expecting tensor in shape of <..., time>. But got tensor with dimension 0.")
        if column.dtype.kind != 'f':
            raise RuntimeError(f"{type(self).__name__}: the data type of input tensor does not match the requirement of "
                               f"operator. Expecting tensor in type of [float, double]. But got type {column.dtype}.")
        return self.parse().run((column,))


def _rate(sample_rate):
    check.kind(sample_rate, int, 'sample_rate')
    if sample_rate == 0 or not check.INT32_MIN <= sample_rate <= check.INT32_MAX:
        raise ValueError("Input sample_rate is not within the required interval of [-2147483648, 0) and "
                         "(0, 2147483647].")


def _quality(q):
    check.kind(q, (float, int), 'Q')
    check.within(q, 0, 1, 'Q', open_left=True)


class LFilter(_Filter):
    """A recursive filter.

    Args:
        a_coeffs: coefficients of what came out, the first of now.
        b_coeffs: coefficients of what goes in.
        clamp: whether results are kept from -1 to 1.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import audio
        >>> print(audio.LFilter([1.0, 0.0], [0.5, 0.5])(np.array([0.2, 0.4])))
        [0.1 0.3]
    """

    def __init__(self, a_coeffs, b_coeffs, clamp=True):
        super().__init__()
        check.kinds(a_coeffs, (float, int), 'a_coeffs')
        check.kinds(b_coeffs, (float, int), 'b_coeffs')
        if len(a_coeffs) != len(b_coeffs):
            raise ValueError("The size of a_coeffs should be the same as that of b_coeffs.")
        for name, values in (('a_coeffs', a_coeffs), ('b_coeffs', b_coeffs)):
            for value in values:
                check.number(value, name)
        check.flag(clamp, 'clamp')
        self.a_coeffs, self.b_coeffs, self.clamp = a_coeffs, b_coeffs, clamp

    def _coefficients(self):
        return self.a_coeffs, self.b_coeffs


class Filtfilt(LFilter):
    """A recursive filter forward, then backward, so that nothing is delayed.

    Args:
        a_coeffs, b_coeffs, clamp: as for LFilter.
    """

    def _fits_engine(self):
        return False  # the engine's filter is half of it

    def _checked(self, column):
        forward, = LFilter(self.a_coeffs, self.b_coeffs, False)._checked(column)
        backward, = super()._checked(np.ascontiguousarray(forward[..., ::-1]))
        return (np.ascontiguousarray(backward[..., ::-1]),)


class Biquad(_Filter):
    """A filter of two delays.

    Args:
        b0, b1, b2: coefficients of what goes in.
        a0, a1, a2: coefficients of what came out.
    """

    def __init__(self, b0, b1, b2, a0, a1, a2):
        super().__init__()
        for name, value in (('b0', b0), ('b1', b1), ('b2', b2), ('a1', a1), ('a2', a2)):
            check.number(value, name)
        check.number(a0, 'a0')
        if a0 == 0:
            raise ValueError("Input a0 is not within the required interval of [-16777216, 0) and (0, 16777216].")
        self.b0, self.b1, self.b2, self.a0, self.a1, self.a2 = b0, b1, b2, a0, a1, a2

    def _coefficients(self):
        return (self.a0, self.a1, self.a2), (self.b0, self.b1, self.b2)


class _Shaped(_Filter):
    """A biquad by frequency and quality."""

    def __init__(self, sample_rate, freq, q, name='central_freq'):
        super().__init__()
        _rate(sample_rate)
        check.number(freq, name)
        _quality(q)
        self.sample_rate, self.quality_factor, self._freq = sample_rate, q, freq

    def _angles(self):
        """(cosine, sine / (2 Q)) of the angular frequency."""
        w0 = 2 * math.pi * self._freq / self.sample_rate
        return math.cos(w0), math.sin(w0) / 2 / self.quality_factor


class LowpassBiquad(_Shaped):
    """Low tones pass.

    Args:
        sample_rate: samples in a second.
        cutoff_freq: frequency.
        Q: quality, above 0 to 1.
    """

    def __init__(self, sample_rate, cutoff_freq, Q=0.707):
        super().__init__(sample_rate, cutoff_freq, Q, 'cutoff_freq')

    def _coefficients(self):
        c, alpha = self._angles()
        return (1 + alpha, -2 * c, 1 - alpha), ((1 - c) / 2, 1 - c, (1 - c) / 2)


class HighpassBiquad(_Shaped):
    """High tones pass.

    Args:
        sample_rate: samples in a second.
        cutoff_freq: frequency.
        Q: quality, above 0 to 1.
    """

    def __init__(self, sample_rate, cutoff_freq, Q=0.707):
        super().__init__(sample_rate, cutoff_freq, Q, 'cutoff_freq')

    def _coefficients(self):
        c, alpha = self._angles()
        return (1 + alpha, -2 * c, 1 - alpha), ((1 + c) / 2, -1 - c, (1 + c) / 2)


class AllpassBiquad(_Shaped):
    """All tones pass, with other phases.

    Args:
        sample_rate: samples in a second.
        central_freq: frequency.
        Q: quality, above 0 to 1.
    """

    def __init__(self, sample_rate, central_freq, Q=0.707):
        super().__init__(sample_rate, central_freq, Q)

    def _coefficients(self):
        c, alpha = self._angles()
        return (1 + alpha, -2 * c, 1 - alpha), (1 - alpha, -2 * c, 1 + alpha)


class BandpassBiquad(_Shaped):
    """Tones near a frequency pass.

    Args:
        sample_rate: samples in a second.
        central_freq: frequency.
        Q: quality, above 0 to 1.
        const_skirt_gain: whether the slopes rather than the top have a gain of one.
    """

    def __init__(self, sample_rate, central_freq, Q=0.707, const_skirt_gain=False):
        super().__init__(sample_rate, central_freq, Q)
        check.flag(const_skirt_gain, 'const_skirt_gain')
        self.const_skirt_gain = const_skirt_gain

    def _coefficients(self):
        c, alpha = self._angles()
        top = alpha * self.quality_factor if self.const_skirt_gain else alpha
        return (1 + alpha, -2 * c, 1 - alpha), (top, 0.0, -top)


class BandrejectBiquad(_Shaped):
    """Tones near a frequency do not pass.

    Args:
        sample_rate: samples in a second.
        central_freq: frequency.
        Q: quality, above 0 to 1.
    """

    def __init__(self, sample_rate, central_freq, Q=0.707):
        super().__init__(sample_rate, central_freq, Q)

    def _coefficients(self):
        c, alpha = self._angles()
        return (1 + alpha, -2 * c, 1 - alpha), (1.0, -2 * c, 1.0)


class BandBiquad(_Shaped):
    """Tones near a frequency pass, resonating.

    Args:
        sample_rate: samples in a second.
        central_freq: frequency.
        Q: quality, above 0 to 1.
        noise: whether it is meant for sounds without pitch.
    """

    def __init__(self, sample_rate, central_freq, Q=0.707, noise=False):
        super().__init__(sample_rate, central_freq, Q)
        check.flag(noise, 'noise')
        self.noise = noise

    def _coefficients(self):
        c, _ = self._angles()
        width = self._freq / self.quality_factor
        a2 = math.exp(-2 * math.pi * width / self.sample_rate)
        a1 = -4 * a2 / (1 + a2) * c
        b0 = math.sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2)
        if self.noise:
            b0 *= math.sqrt(((1 + a2) * (1 + a2) - a1 * a1) * (1 - a2) / (1 + a2)) / b0
        return (1.0, a1, a2), (b0, 0.0, 0.0)


class EqualizerBiquad(_Shaped):
    """Tones near a frequency louder or softer.

    Args:
        sample_rate: samples in a second.
        center_freq: frequency.
        gain: decibels.
        Q: quality, above 0 to 1.
    """

    def __init__(self, sample_rate, center_freq, gain, Q=0.707):
        super().__init__(sample_rate, center_freq, Q, 'center_freq')
        check.number(gain, 'gain')
        self.gain = gain

    def _coefficients(self):
        c, alpha = self._angles()
        A = math.exp(self.gain / 40.0 * math.log(10))
        return (1 + alpha / A, -2 * c, 1 - alpha / A), (1 + alpha * A, -2 * c, 1 - alpha * A)


def _shelf(c, alpha, gain, sign):
    """Coefficients of a shelf: sign 1 for high tones, -1 for low ones."""
    A = math.exp(gain / 40.0 * math.log(10))
    root, minus, plus = 2 * math.sqrt(A) * alpha, sign * (A - 1) * c, sign * (A + 1) * c
    b = (A * ((A + 1) + minus + root), -sign * 2 * A * ((A - 1) + plus), A * ((A + 1) + minus - root))
    a = ((A + 1) - minus + root, sign * 2 * ((A - 1) - plus), (A + 1) - minus - root)
    return a, b


class BassBiquad(_Shaped):
    """Low tones louder or softer.

    Args:
        sample_rate: samples in a second.
        gain: decibels.
        central_freq: frequency.
        Q: quality, above 0 to 1.
    """

    def __init__(self, sample_rate, gain, central_freq=100.0, Q=0.707):
        super().__init__(sample_rate, central_freq, Q)
        check.number(gain, 'gain')
        self.gain = gain

    def _coefficients(self):
        return _shelf(*self._angles(), self.gain, -1)


class TrebleBiquad(_Shaped):
    """High tones louder or softer.

    Args:
        sample_rate: samples in a second.
        gain: decibels.
        central_freq: frequency.
        Q: quality, above 0 to 1.
    """

    def __init__(self, sample_rate, gain, central_freq=3000, Q=0.707):
        super().__init__(sample_rate, central_freq, Q)
        check.number(gain, 'gain')
        self.gain = gain

    def _coefficients(self):
        return _shelf(*self._angles(), self.gain, 1)


class DeemphBiquad(_Filter):
    """The emphasis of compact discs undone.

    Args:
        sample_rate: 44100 or 48000.
    """

    def __init__(self, sample_rate):
        super().__init__()
        check.kind(sample_rate, int, 'sample_rate')
        if sample_rate not in (44100, 48000):
            raise ValueError(f"Argument sample_rate should be 44100 or 48000, but got {sample_rate}.")
        self.sample_rate = sample_rate

    def _coefficients(self):
        freq, slope, gain = (5283.0, 0.4845, -9.477) if self.sample_rate == 44100 else (5356.0, 0.479, -9.62)
        w0, A = 2 * math.pi * freq / self.sample_rate, math.exp(gain / 40.0 * math.log(10))
        alpha = math.sin(w0) / 2 * math.sqrt((A + 1 / A) * (1 / slope - 1) + 2)
        return _shelf(math.cos(w0), alpha, gain, 1)


class RiaaBiquad(_Filter):
    """The equalisation of vinyl records undone.

    Args:
        sample_rate: 44100, 48000, 88200 or 96000.
    """

    _ROOTS = {44100: ((-0.2014898, 0.9233820), (0.7083149, 0.9924091)),
              48000: ((-0.1766069, 0.9321590), (0.7396325, 0.9931330)),
              88200: ((-0.1168735, 0.9648312), (0.8590646, 0.9964002)),
              96000: ((-0.1141486, 0.9676817), (0.8699137, 0.9966946))}

    def __init__(self, sample_rate):
        super().__init__()
        check.kind(sample_rate, int, 'sample_rate')
        if sample_rate not in self._ROOTS:
            raise ValueError(f"sample_rate should be one of [44100, 48000, 88200, 96000], but got {sample_rate}.")
        self.sample_rate = sample_rate

    def _coefficients(self):
        (z0, z1), (p0, p1) = self._ROOTS[self.sample_rate]
        b, a = np.array([1.0, -(z0 + z1), z0 * z1]), np.array([1.0, -(p0 + p1), p0 * p1])
        turn = np.exp(-1j * 2 * math.pi * 1000.0 / self.sample_rate * np.arange(3))  # a gain of one at 1 kHz
        return a, b * abs((a * turn).sum() / (b * turn).sum())


# --- loudness ---------------------------------------------------------------------------------------------------------

class Gain(AudioTensorOperation):
    """Louder or softer.

    Args:
        gain_db: decibels.
    """

    def __init__(self, gain_db=1.0):
        super().__init__()
        check.number(gain_db, 'gain_db')
        self.gain_db = gain_db

    def _one(self, x):
        return x * x.dtype.type(10 ** (self.gain_db / 20))


class Vol(AudioTensorOperation):
    """Louder or softer, kept from -1 to 1.

    Args:
        gain: how much.
        gain_type: a GainType.
    """

    def __init__(self, gain, gain_type=GainType.AMPLITUDE):
        super().__init__()
        check.kind(gain_type, GainType, 'gain_type')
        check.kind(gain, (int, float), 'gain')
        if gain_type == GainType.AMPLITUDE:
            check.number(gain, 'gain', 0)
        elif gain_type == GainType.POWER:
            check.number(gain, 'gain', 0, open_left=True)
        self.gain, self.gain_type = gain, gain_type

    def _one(self, x):
        factor = {GainType.AMPLITUDE: lambda g: g, GainType.DB: lambda g: 10 ** (g / 20),
                  GainType.POWER: lambda g: 10 ** (10 * math.log10(g) / 20)}[self.gain_type](self.gain)
        return np.clip(x * x.dtype.type(factor), -1, 1)


class DCShift(AudioTensorOperation):
    """A constant added, with a limit that sets in softly.

    Args:
        shift: from -2 to 2.
        limiter_gain: how soft; none if None.
    """

    def __init__(self, shift, limiter_gain=None):
        super().__init__()
        check.kind(shift, (int, float), 'shift')
        check.within(shift, -2.0, 2.0, 'shift')
        if limiter_gain is not None:
            check.number(limiter_gain, 'limiter_gain')
        self.shift, self.limiter_gain = shift, shift if limiter_gain is None else limiter_gain

    def _one(self, x):
        shift, gain, out = self.shift, self.limiter_gain, np.clip(x + x.dtype.type(self.shift), -1, 1)
        edge = 1.0 - (abs(shift) - gain)
        if shift > 0:
            soft = np.minimum((x - edge) * gain / (1 - edge if edge != 1 else 1) + edge + shift, edge)
            out = np.where(x > edge, soft, out)
        elif shift < 0:
            soft = np.maximum((x + edge) * gain / (1 - edge if edge != 1 else 1) - edge + shift, -edge)
            out = np.where(x < -edge, soft, out)
        return out.astype(x.dtype)


class Contrast(AudioTensorOperation):
    """Differences of loudness made stronger.

    Args:
        enhancement_amount: from 0 to 100.
    """

    def __init__(self, enhancement_amount=75.0):
        super().__init__()
        check.kind(enhancement_amount, (int, float), 'enhancement_amount')
        check.within(enhancement_amount, 0, 100, 'enhancement_amount')
        self.enhancement_amount = enhancement_amount

    def _one(self, x):
        angle = x * x.dtype.type(math.pi / 2)
        return np.sin(angle + x.dtype.type(self.enhancement_amount / 750.0) * np.sin(angle * 4))


class Overdrive(AudioTensorOperation):
    """Distortion.

    Args:
        gain: decibels before it, from 0 to 100.
        color: even tones, from 0 to 100.
    """

    def __init__(self, gain=20.0, color=20.0):
        super().__init__()
        for name, value in (('gain', gain), ('color', color)):
            check.kind(value, (int, float), name)
            check.within(value, 0, 100, name)
        self.gain, self.color = gain, color

    def _one(self, x):
        t = x * x.dtype.type(math.exp(self.gain * math.log(10) / 20.0)) + x.dtype.type(self.color / 200)
        t = np.where(t < -1, x.dtype.type(-2 / 3), np.where(t > 1, x.dtype.type(2 / 3), t - t ** 3 / 3))
        out, last_in, last_out = np.zeros_like(x), x.dtype.type(0), np.zeros(x.shape[:-1], x.dtype)
        for i in range(x.shape[-1]):
            last_out = t[..., i] - last_in + x.dtype.type(0.995) * last_out
            last_in = t[..., i]
            out[..., i] = x[..., i] * x.dtype.type(0.5) + last_out * x.dtype.type(0.75)
        return np.clip(out, -1, 1)


class Fade(AudioTensorOperation):
    """Loudness that grows at the start and falls at the end.

    Args:
        fade_in_len, fade_out_len: samples.
        fade_shape: a FadeShape.
    """

    def __init__(self, fade_in_len=0, fade_out_len=0, fade_shape=FadeShape.LINEAR):
        super().__init__()
        check.integer(fade_in_len, 'fade_in_len', 0)
        check.integer(fade_out_len, 'fade_out_len', 0)
        check.kind(fade_shape, FadeShape, 'fade_shape')
        self.fade_in_len, self.fade_out_len, self.fade_shape = fade_in_len, fade_out_len, fade_shape

    def _grow(self, n):
        t = np.linspace(0, 1, n)
        if self.fade_shape == FadeShape.LINEAR:
            return t
        if self.fade_shape == FadeShape.EXPONENTIAL:
            return np.power(2, t - 1) * t
        if self.fade_shape == FadeShape.LOGARITHMIC:
            return np.log10(0.1 + t) + 1
        if self.fade_shape == FadeShape.QUARTER_SINE:
            return np.sin(t * math.pi / 2)
        return np.sin(t * math.pi - math.pi / 2) / 2 + 0.5

    def _one(self, x):
        n = x.shape[-1]
        if self.fade_in_len > n or self.fade_out_len > n:
            raise RuntimeError("Fade: invalid parameter, 'fade_in_len' or 'fade_out_len' should be less than or equal to the length of "
                               f"waveform: {n}")
        shape = np.ones(n)
        shape[:self.fade_in_len] *= self._grow(self.fade_in_len)
        if self.fade_out_len:
            shape[n - self.fade_out_len:] *= self._grow(self.fade_out_len)[::-1]
        return x * np.maximum(shape, 0).astype(x.dtype)


class MuLawEncoding(AudioTensorOperation):
    """Loudness on a logarithmic scale, as whole numbers.

    Args:
        quantization_channels: how many numbers.
    """

    def __init__(self, quantization_channels=256):
        super().__init__()
        check.integer(quantization_channels, 'quantization_channels', 1)
        self.quantization_channels = quantization_channels

    def _one(self, x):
        mu = x.dtype.type(self.quantization_channels - 1)
        y = np.sign(x) * np.log1p(mu * np.abs(x)) / np.log1p(mu)
        return ((y + 1) / 2 * mu + x.dtype.type(0.5)).astype(np.int32)


class MuLawDecoding(AudioTensorOperation):
    """MuLawEncoding undone.

    Args:
        quantization_channels: how many numbers.
    """

    def __init__(self, quantization_channels=256):
        super().__init__()
        check.integer(quantization_channels, 'quantization_channels', 1)
        self.quantization_channels = quantization_channels

    def _one(self, x):
        mu = x.dtype.type(self.quantization_channels - 1)
        y = x / mu * 2 - 1
        return np.sign(y) * (np.exp(np.abs(y) * np.log1p(mu)) - 1) / mu


# --- spectra ----------------------------------------------------------------------------------------------------------

class AmplitudeToDB(AudioTensorOperation):
    """Decibels.

    Args:
        stype: a ScaleType.
        ref_value: what is 0 decibels.
        amin: the least that is taken.
        top_db: how far below the loudest the softest may be.
    """

    _ndim = 2

    def __init__(self, stype=ScaleType.POWER, ref_value=1.0, amin=1e-10, top_db=80.0):
        super().__init__()
        check.kind(stype, ScaleType, 'stype')
        check.number(ref_value, 'ref_value', 0, open_left=True)
        check.number(amin, 'amin', 0, open_left=True)
        check.number(top_db, 'top_db', 0)
        self.stype, self.ref_value, self.amin, self.top_db = stype, ref_value, amin, top_db

    def _one(self, x):
        factor = 10.0 if self.stype == ScaleType.POWER else 20.0
        db = factor * np.log10(np.maximum(x, x.dtype.type(self.amin)))
        db -= x.dtype.type(factor * math.log10(max(self.amin, self.ref_value)))
        if self.top_db is not None:
            axes = tuple(range(max(db.ndim - 3, 0), db.ndim))
            db = np.maximum(db, db.max(axis=axes, keepdims=True) - x.dtype.type(self.top_db))
        return db.astype(x.dtype)


class DBToAmplitude(AudioTensorOperation):
    """Decibels undone.

    Args:
        ref: what is 0 decibels.
        power: 1 gives power, 0.5 amplitude.
    """

    def __init__(self, ref, power):
        super().__init__()
        check.number(ref, 'ref')
        check.number(power, 'power')
        self.ref, self.power = ref, power

    def _one(self, x):
        return (x.dtype.type(self.ref) * np.power(np.power(x.dtype.type(10), x * x.dtype.type(0.1)),
                                                  x.dtype.type(self.power))).astype(x.dtype)


def _complex(who, x):
    if x.shape[-1] != 2:
        raise RuntimeError(f"{who}: the shape of input tensor does not match the requirement of operator. Expecting tensor "
                           f"in shape of <..., complex=2>. But got shape {x.shape}.")
    return x[..., 0], x[..., 1]


class Angle(AudioTensorOperation):
    """Angles of complex numbers, given as pairs."""

    def _one(self, x):
        real, imaginary = _complex('Angle', x)
        return np.arctan2(imaginary, real)


class ComplexNorm(AudioTensorOperation):
    """Sizes of complex numbers, given as pairs.

    Args:
        power: of the size.
    """

    def __init__(self, power=1.0):
        super().__init__()
        check.number(power, 'power', 0)
        self.power = power

    def _one(self, x):
        real, imaginary = _complex('ComplexNorm', x)
        return np.power(real * real + imaginary * imaginary, x.dtype.type(0.5 * self.power))


class Magphase(AudioTensorOperation):
    """Sizes and angles of complex numbers, given as pairs.

    Args:
        power: of the size.
    """

    def __init__(self, power=1.0):
        super().__init__()
        check.number(power, 'power', 0)
        self.power = power

    def _one(self, x):
        real, imaginary = _complex('Magphase', x)
        return (np.power(real * real + imaginary * imaginary, x.dtype.type(0.5 * self.power)),
                np.arctan2(imaginary, real))


def _pad(x, n, mode):
    return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n, n)], mode)


def _spectrogram(x, n_fft, win_length, hop_length, pad, kind, power, normalized, center, pad_mode, onesided):
    shape = np.zeros(n_fft)
    start = (n_fft - win_length) // 2
    shape[start:start + win_length] = window(kind, win_length)
    if pad:
        x = _pad(x, pad, 'constant')
    if center:
        x = _pad(x, n_fft // 2, pad_mode.value)
    if x.shape[-1] < n_fft:
        raise RuntimeError(f"Spectrogram: n_fft {n_fft} should be less than or equal to the length of the padded "
                           f"waveform {x.shape[-1]}")
    frames = np.lib.stride_tricks.sliding_window_view(x, n_fft, axis=-1)[..., ::hop_length, :]
    spectrum = (np.fft.rfft if onesided else np.fft.fft)(frames.astype(np.float64) * shape, axis=-1)
    spectrum = np.swapaxes(spectrum, -1, -2)
    if normalized:
        spectrum = spectrum / math.sqrt((shape ** 2).sum())
    if power == 0:
        return np.stack([spectrum.real, spectrum.imag], axis=-1).astype(x.dtype)
    return np.power(np.abs(spectrum), power).astype(x.dtype)


class Spectrogram(AudioTensorOperation):
    """How loud every frequency is at every time.

    Args:
        n_fft: samples in a transform.
        win_length: samples in a window; n_fft if None.
        hop_length: samples from window to window; half a window if None.
        pad: zeros put at both ends.
        window: a WindowType.
        power: of the size; 0 for complex numbers as pairs.
        normalized: whether the window's loudness is divided out.
        center: whether windows are about their times.
        pad_mode: a BorderType, for windows beyond the ends.
        onesided: whether the half that repeats is left out.
    """

    def __init__(self, n_fft=400, win_length=None, hop_length=None, pad=0, window=WindowType.HANN, power=2.0,
                 normalized=False, center=True, pad_mode=BorderType.REFLECT, onesided=True):
        super().__init__()
        check.integer(n_fft, 'n_fft', 1)
        win_length = n_fft if win_length is None else win_length
        check.integer(win_length, 'win_length', 1)
        hop_length = win_length // 2 if hop_length is None else hop_length
        check.integer(hop_length, 'hop_length', 1)
        if win_length > n_fft:
            raise ValueError(f"Input win_length should be no more than n_fft, but got win_length: {win_length} and n_fft: "
                             f"{n_fft}.")
        check.integer(pad, 'pad', 0)
        check.kind(window, WindowType, 'window')
        check.number(power, 'power', 0)
        for name, value in (('normalized', normalized), ('center', center), ('onesided', onesided)):
            check.flag(value, name)
        check.kind(pad_mode, BorderType, 'pad_mode')
        self.n_fft, self.win_length, self.hop_length, self.pad, self.window = n_fft, win_length, hop_length, pad, window
        self.power, self.normalized, self.center = power, normalized, center
        self.pad_mode, self.onesided = pad_mode, onesided

    def _one(self, x):
        return _spectrogram(x, self.n_fft, self.win_length, self.hop_length, self.pad, self.window, self.power,
                            self.normalized, self.center, self.pad_mode, self.onesided)


class MelScale(AudioTensorOperation):
    """A spectrogram on the mel scale.

    Args:
        n_mels: filters.
        sample_rate: samples in a second.
        f_min, f_max: range of the filters; f_max is half the sample rate if None.
        n_stft: frequencies of the spectrogram.
        norm: a NormType.
        mel_type: a MelType.
    """

    _ndim = 2

    def __init__(self, n_mels=128, sample_rate=16000, f_min=0.0, f_max=None, n_stft=201, norm=NormType.NONE,
                 mel_type=MelType.HTK):
        super().__init__()
        check.integer(n_mels, 'n_mels', 1)
        check.integer(sample_rate, 'sample_rate', 1)
        check.number(f_min, 'f_min')
        f_max = float(sample_rate // 2) if f_max is None else f_max
        check.number(f_max, 'f_max')
        if f_min >= f_max:
            raise ValueError(f"MelScale: f_max should be greater than f_min, but got f_min: {f_min} and f_max: {f_max}")
        check.integer(n_stft, 'n_stft', 1)
        check.kind(norm, NormType, 'norm')
        check.kind(mel_type, MelType, 'mel_type')
        self.n_stft = n_stft
        self._bank = melscale_fbanks(n_stft, f_min, f_max, n_mels, sample_rate, norm, mel_type)

    def _one(self, x):
        if x.shape[-2] != self.n_stft:
            raise RuntimeError(f"MelScale: there are {x.shape[-2]} frequencies, but n_stft is {self.n_stft}")
        return np.swapaxes(np.swapaxes(x, -1, -2) @ self._bank.astype(x.dtype), -1, -2).astype(x.dtype)


class MelSpectrogram(AudioTensorOperation):
    """Spectrogram, then MelScale.

    Args:
        sample_rate, f_min, f_max, n_mels, norm, mel_scale: as for MelScale.
        n_fft, win_length, hop_length, pad, window, power, normalized, center, pad_mode, onesided: as for Spectrogram.
    """

    def __init__(self, sample_rate=16000, n_fft=400, win_length=None, hop_length=None, f_min=0.0, f_max=None, pad=0,
                 n_mels=128, window=WindowType.HANN, power=2.0, normalized=False, center=True,
                 pad_mode=BorderType.REFLECT, onesided=True, norm=NormType.NONE, mel_scale=MelType.HTK):
        super().__init__()
        self._spectrogram = Spectrogram(n_fft, win_length, hop_length, pad, window, power, normalized, center, pad_mode,
                                        onesided)
        self._scale = MelScale(n_mels, sample_rate, f_min, f_max, n_fft // 2 + 1, norm, mel_scale)

    def _one(self, x):
        return self._scale._one(self._spectrogram._one(x))


def _cepstrum(spectrum, n, norm):
    bank = create_dct(n, spectrum.shape[-2], norm).astype(spectrum.dtype)
    return np.swapaxes(np.swapaxes(spectrum, -1, -2) @ bank, -1, -2).astype(spectrum.dtype)


def _decibels(x):
    return AmplitudeToDB(ScaleType.POWER, 1.0, 1e-10, 80.0)._one(x)


class MFCC(AudioTensorOperation):
    """Cosine transform of a mel spectrogram in decibels.

    Args:
        sample_rate: samples in a second.
        n_mfcc: numbers that are kept.
        dct_type: 2.
        norm: a NormMode.
        log_mels: whether logarithms are taken instead of decibels.
        melkwargs: arguments for MelSpectrogram.
    """

    def __init__(self, sample_rate=16000, n_mfcc=40, dct_type=2, norm=NormMode.ORTHO, log_mels=False, melkwargs=None):
        super().__init__()
        check.integer(sample_rate, 'sample_rate', 0)
        check.integer(n_mfcc, 'n_mfcc', 1)
        if dct_type != 2:
            raise ValueError(f"Input dct_type must be 2, but got : {dct_type}.")
        check.kind(norm, NormMode, 'norm')
        check.flag(log_mels, 'log_mels')
        if melkwargs is not None:
            check.kind(melkwargs, dict, 'melkwargs')
        self.n_mfcc, self.norm, self.log_mels = n_mfcc, norm, log_mels
        self._mel = MelSpectrogram(sample_rate, **(melkwargs or {}))

    def _one(self, x):
        mel = self._mel._one(x)
        if self.n_mfcc > mel.shape[-2]:
            raise RuntimeError(f"MFCC: n_mfcc {self.n_mfcc} should be less than or equal to n_mels {mel.shape[-2]}")
        return _cepstrum(np.log(mel + x.dtype.type(1e-6)) if self.log_mels else _decibels(mel), self.n_mfcc, self.norm)


class LFCC(AudioTensorOperation):
    """Cosine transform of a spectrogram by evenly spaced filters, in decibels.

    Args:
        sample_rate: samples in a second.
        n_filter: filters.
        n_lfcc: numbers that are kept.
        f_min, f_max: range of the filters; f_max is half the sample rate if None.
        dct_type: 2.
        norm: a NormMode.
        log_lf: whether logarithms are taken instead of decibels.
        speckwargs: arguments for Spectrogram.
    """

    def __init__(self, sample_rate=16000, n_filter=128, n_lfcc=40, f_min=0.0, f_max=None, dct_type=2,
                 norm=NormMode.ORTHO, log_lf=False, speckwargs=None):
        super().__init__()
        check.integer(sample_rate, 'sample_rate', 0)
        check.integer(n_filter, 'n_filter', 1)
        check.integer(n_lfcc, 'n_lfcc', 1)
        check.number(f_min, 'f_min', 0)
        f_max = sample_rate // 2 if f_max is None else f_max
        check.number(f_max, 'f_max', 0)
        if f_min > f_max:
            raise ValueError(f"f_min should be less than or equal to f_max, but got f_min: {f_min} and f_max: {f_max}")
        if dct_type != 2:
            raise ValueError(f"Input dct_type must be 2, but got : {dct_type}.")
        check.kind(norm, NormMode, 'norm')
        check.flag(log_lf, 'log_lf')
        if speckwargs is not None:
            check.kind(speckwargs, dict, 'speckwargs')
        self.n_lfcc, self.norm, self.log_lf = n_lfcc, norm, log_lf
        self._spectrogram = Spectrogram(**(speckwargs or {}))
        self._bank = linear_fbanks(self._spectrogram.n_fft // 2 + 1, f_min, f_max, n_filter, sample_rate)

    def _one(self, x):
        spectrum = np.swapaxes(self._spectrogram._one(x), -1, -2) @ self._bank.astype(x.dtype)
        spectrum = np.swapaxes(spectrum, -1, -2)
        spectrum = np.log(spectrum + x.dtype.type(1e-6)) if self.log_lf else _decibels(spectrum)
        return _cepstrum(spectrum, self.n_lfcc, self.norm)


class SpectralCentroid(AudioTensorOperation):
    """The mean frequency at every time.

    Args:
        sample_rate: samples in a second.
        n_fft, win_length, hop_length, pad, window: as for Spectrogram.
    """

    def __init__(self, sample_rate, n_fft=400, win_length=None, hop_length=None, pad=0, window=WindowType.HANN):
        super().__init__()
        check.integer(sample_rate, 'sample_rate', 0)
        self.sample_rate = sample_rate
        self._spectrogram = Spectrogram(n_fft, win_length, hop_length, pad, window, 1.0)

    def _one(self, x):
        spectrum = self._spectrogram._one(x)
        freqs = np.linspace(0, self.sample_rate // 2, spectrum.shape[-2], dtype=x.dtype)[:, None]
        return (freqs * spectrum).sum(axis=-2, keepdims=True) / spectrum.sum(axis=-2, keepdims=True)


class ComputeDeltas(AudioTensorOperation):
    """How fast a spectrogram changes.

    Args:
        win_length: times that are looked at, an odd number from 3.
        pad_mode: a BorderType.
    """

    _ndim = 2

    def __init__(self, win_length=5, pad_mode=BorderType.EDGE):
        super().__init__()
        check.kind(pad_mode, BorderType, 'pad_mode')
        check.kind(win_length, int, 'win_length')
        if win_length < 3:
            raise ValueError(f"Input win_length is not within the required interval of [3, 2147483647]. It is {win_length}.")
        self.win_length, self.pad_mode = win_length, pad_mode

    def _one(self, x):
        n = (self.win_length - 1) // 2
        kernel = np.arange(-n, n + 1)
        wide = _pad(x, n, self.pad_mode.value)
        views = np.lib.stride_tricks.sliding_window_view(wide, 2 * n + 1, axis=-1)
        return (views * kernel).sum(axis=-1).astype(x.dtype) / x.dtype.type(n * (n + 1) * (2 * n + 1) / 3)


class SlidingWindowCmn(AudioTensorOperation):
    """The mean of neighbouring times subtracted.

    Args:
        cmn_window: times in a window.
        min_cmn_window: times in the first windows; used without center.
        center: whether windows are about their times.
        norm_vars: whether the deviation is divided out.
    """

    _ndim = 2

    def __init__(self, cmn_window=600, min_cmn_window=100, center=False, norm_vars=False):
        super().__init__()
        check.integer(cmn_window, 'cmn_window', 0)
        check.integer(min_cmn_window, 'min_cmn_window', 0)
        check.flag(center, 'center')
        check.flag(norm_vars, 'norm_vars')
        self.cmn_window, self.min_cmn_window, self.center, self.norm_vars = cmn_window, min_cmn_window, center, norm_vars

    def _one(self, x):
        frames = x.shape[-2]
        out = np.zeros_like(x)
        for t in range(frames):
            if self.center:
                start, end = t - self.cmn_window // 2, t - self.cmn_window // 2 + self.cmn_window
            else:
                start, end = t - self.cmn_window, t + 1
            if start < 0:
                start, end = 0, end - start
            if not self.center and end > t:
                end = max(t + 1, self.min_cmn_window)
            if end > frames:
                start, end = max(0, start - (end - frames)), frames
            part = x[..., start:end, :]
            out[..., t, :] = x[..., t, :] - part.mean(axis=-2)
            if self.norm_vars:
                n = end - start
                out[..., t, :] = 0 if n == 1 else out[..., t, :] / np.sqrt(np.maximum(
                    (part ** 2).mean(axis=-2) - part.mean(axis=-2) ** 2, 1e-20))
        return out


class PhaseVocoder(AudioTensorOperation):
    """A complex spectrogram made shorter or longer, with the pitch kept.

    Args:
        rate: how much faster.
        phase_advance: array of the phase that each frequency moves by, of shape (freq, 1).
    """

    _ndim = 3

    def __init__(self, rate, phase_advance):
        super().__init__()
        check.number(rate, 'rate', 0, open_left=True)
        check.kind(phase_advance, np.ndarray, 'phase_advance')
        self.rate, self.phase_advance = rate, phase_advance

    def _one(self, x):
        if x.shape[-1] != 2 or self.phase_advance.shape != (x.shape[-3], 1):
            raise RuntimeError(f"PhaseVocoder: spectrograms of shape <..., freq, time, 2> and phases of (freq, 1) are "
                               f"wanted, but got {x.shape} and {self.phase_advance.shape}")
        return _stretch(x, self.rate, self.phase_advance)


def _stretch(x, rate, advance):
    spectrum = x[..., 0] + 1j * x[..., 1]
    if rate == 1.0:
        return x.copy()
    steps = np.arange(0, spectrum.shape[-1], rate)
    whole, part = steps.astype(np.int64), np.mod(steps, 1.0)
    wide = np.concatenate([spectrum, np.zeros((*spectrum.shape[:-1], 2), spectrum.dtype)], axis=-1)
    first, second = wide[..., whole], wide[..., whole + 1]
    turn = np.angle(second) - np.angle(first) - advance
    turn = turn - 2 * np.pi * np.round(turn / (2 * np.pi)) + advance
    phase = np.cumsum(np.concatenate([np.angle(spectrum[..., :1]), turn[..., :-1]], axis=-1), axis=-1)
    size = part * np.abs(second) + (1 - part) * np.abs(first)
    return np.stack([size * np.cos(phase), size * np.sin(phase)], axis=-1).astype(x.dtype)


class TimeStretch(AudioTensorOperation):
    """A complex spectrogram made shorter or longer, with the pitch kept.

    Args:
        hop_length: samples from window to window; n_freq - 1 if None.
        n_freq: frequencies.
        fixed_rate: how much faster; 1 if None.
    """

    _ndim = 3

    def __init__(self, hop_length=None, n_freq=201, fixed_rate=None):
        super().__init__()
        check.integer(n_freq, 'n_freq', 1)
        if hop_length is not None:
            check.integer(hop_length, 'hop_length', 1)
        if fixed_rate is not None:
            check.number(fixed_rate, 'fixed_rate', 0, open_left=True)
        self.n_freq, self.fixed_rate = n_freq, 1.0 if fixed_rate is None else fixed_rate
        self.hop_length = n_freq - 1 if hop_length is None else hop_length

    def _one(self, x):
        if x.shape[-1] != 2:
            raise RuntimeError(f"TimeStretch: spectrograms of shape <..., freq, time, 2> are wanted, but got {x.shape}")
        advance = np.linspace(0, math.pi * self.hop_length, self.n_freq)[:x.shape[-3], None]
        return _stretch(x, self.fixed_rate, advance)


# --- masks ------------------------------------------------------------------------------------------------------------

class MaskAlongAxis(AudioTensorOperation):
    """A range of frequencies or times replaced by a value.

    Args:
        mask_start, mask_width: the range.
        mask_value: the value.
        axis: 1 for frequencies, 2 for times.
    """

    _ndim = 2

    def __init__(self, mask_start, mask_width, mask_value, axis):
        super().__init__()
        check.integer(mask_start, 'mask_start', 0)
        check.integer(mask_width, 'mask_width', 1)
        check.number(mask_value, 'mask_value')
        check.kind(axis, int, 'axis')
        check.within(axis, 1, 2, 'axis')
        self.mask_start, self.mask_width, self.mask_value, self.axis = mask_start, mask_width, mask_value, axis

    def _one(self, x):
        return _mask('MaskAlongAxis', x, self.mask_start, self.mask_width, self.mask_value, self.axis - 3)


def _mask(who, x, start, width, value, axis):
    n = x.shape[axis]
    if start < 0 or start > n or start + width > n:
        raise RuntimeError(f"{who}: the mask from {start} of width {width} does not fit into {n}")
    out = x.copy()
    np.moveaxis(out, axis, 0)[start:start + width] = value
    return out


class MaskAlongAxisIID(AudioTensorOperation):
    """A random range of frequencies or times replaced by a value.

    Args:
        mask_param: the widest.
        mask_value: the value.
        axis: 1 for frequencies, 2 for times.
    """

    random, _ndim = True, 2

    def __init__(self, mask_param, mask_value, axis):
        super().__init__()
        check.integer(mask_param, 'mask_param', 0)
        check.number(mask_value, 'mask_value')
        check.kind(axis, int, 'axis')
        check.within(axis, 1, 2, 'axis')
        self.mask_param, self.mask_value, self.axis = mask_param, mask_value, axis

    def _one(self, x):
        return _mask_any('MaskAlongAxisIID', x, self.mask_param, self.mask_value, self.axis - 3)


def _mask_any(who, x, param, value, axis):
    """A mask of any width up to param, anywhere; the same in all channels, as MindSpore has it."""
    n = x.shape[axis]
    if param > n:
        raise RuntimeError(f"{who}: mask_param should be less than or equal to the length of {'time' if axis == -1 else 'frequency'} "
                           f"dimension, but got mask_param {param} and length {n}.")
    width = np.random.randint(param + 1)
    return _mask(who, x, np.random.randint(n - width + 1), width, value, axis)


class _Masking(AudioTensorOperation):
    random, _ndim, _axis = True, 2, -1

    def _set(self, iid_masks, param, name, mask_start, mask_value):
        check.flag(iid_masks, 'iid_masks')
        check.integer(param, name, 0)
        check.integer(mask_start, 'mask_start', 0)
        check.number(mask_value, 'mask_value', 0)
        self.iid_masks, self._param, self.mask_start, self.mask_value = iid_masks, param, mask_start, mask_value

    def _one(self, x):
        if self.iid_masks:
            return _mask_any(type(self).__name__, x, self._param, self.mask_value, self._axis)
        return _mask(type(self).__name__, x, self.mask_start, self._param, self.mask_value, self._axis)


class FrequencyMasking(_Masking):
    """A range of frequencies replaced by a value.

    Args:
        iid_masks: whether it is random.
        freq_mask_param: its width, or the widest.
        mask_start: its start, if it is not random.
        mask_value: the value.
    """

    _axis = -2

    def __init__(self, iid_masks=False, freq_mask_param=0, mask_start=0, mask_value=0.0):
        super().__init__()
        self._set(iid_masks, freq_mask_param, 'freq_mask_param', mask_start, mask_value)


class TimeMasking(_Masking):
    """A range of times replaced by a value.

    Args:
        iid_masks: whether it is random.
        time_mask_param: its width, or the widest.
        mask_start: its start, if it is not random.
        mask_value: the value.
    """

    def __init__(self, iid_masks=False, time_mask_param=0, mask_start=0, mask_value=0.0):
        super().__init__()
        self._set(iid_masks, time_mask_param, 'time_mask_param', mask_start, mask_value)
