# SPDX-License-Identifier: Apache-2.0
"""Names for the choices that transforms of sound offer, and banks of filters."""
from enum import Enum

import numpy as np

from spore.dataset import _check as check

__all__ = ['BorderType', 'DensityFunction', 'FadeShape', 'GainType', 'Interpolation', 'MelType', 'Modulation', 'NormMode',
           'NormType', 'ResampleMethod', 'ScaleType', 'WindowType', 'create_dct', 'linear_fbanks', 'melscale_fbanks']


class BorderType(str, Enum):
    """What is put around a signal."""
    CONSTANT = 'constant'
    EDGE = 'edge'
    REFLECT = 'reflect'
    SYMMETRIC = 'symmetric'


class DensityFunction(str, Enum):
    """Kinds of noise: triangular, rectangular, Gaussian."""
    TPDF = 'TPDF'
    RPDF = 'RPDF'
    GPDF = 'GPDF'


class FadeShape(str, Enum):
    """How loudness grows and falls."""
    QUARTER_SINE = 'quarter_sine'
    HALF_SINE = 'half_sine'
    LINEAR = 'linear'
    LOGARITHMIC = 'logarithmic'
    EXPONENTIAL = 'exponential'


class GainType(str, Enum):
    """What a gain means."""
    AMPLITUDE = 'amplitude'
    POWER = 'power'
    DB = 'db'


class Interpolation(str, Enum):
    """How values between samples are found."""
    LINEAR = 'linear'
    QUADRATIC = 'quadratic'


class MelType(str, Enum):
    """Formulas of the mel scale."""
    HTK = 'htk'
    SLANEY = 'slaney'


class Modulation(str, Enum):
    """Shapes of a slow wave."""
    SINUSOIDAL = 'sinusoidal'
    TRIANGULAR = 'triangular'


class NormMode(str, Enum):
    """How a cosine transform is normalised."""
    ORTHO = 'ortho'
    NONE = 'none'


class NormType(str, Enum):
    """How filters are normalised."""
    SLANEY = 'slaney'
    NONE = 'none'


class ResampleMethod(str, Enum):
    """Windows of resampling."""
    SINC_INTERPOLATION = 'sinc_interpolation'
    KAISER_WINDOW = 'kaiser_window'


class ScaleType(str, Enum):
    """What is converted to decibels."""
    POWER = 'power'
    MAGNITUDE = 'magnitude'


class WindowType(str, Enum):
    """Windows of a spectrogram."""
    BARTLETT = 'bartlett'
    BLACKMAN = 'blackman'
    HAMMING = 'hamming'
    HANN = 'hann'
    KAISER = 'kaiser'


def window(kind, n):
    """n values of a window that repeats after n."""
    x = np.arange(n) * (2 * np.pi / n)
    if kind == WindowType.HANN:
        return 0.5 - 0.5 * np.cos(x)
    if kind == WindowType.HAMMING:
        return 0.54 - 0.46 * np.cos(x)
    if kind == WindowType.BLACKMAN:
        return 0.42 - 0.5 * np.cos(x) + 0.08 * np.cos(2 * x)
    if kind == WindowType.BARTLETT:
        return 1 - np.abs(2 * np.arange(n) / n - 1)
    return np.kaiser(n + 1, 12.0)[:-1]


def _mel(freq, kind):
    freq = np.asarray(freq, np.float64)
    if kind == MelType.HTK:
        return 2595.0 * np.log10(1.0 + freq / 700.0)
    step, start = 200.0 / 3, 1000.0
    return np.where(freq >= start, start / step + np.log(np.maximum(freq, start) / start) / (np.log(6.4) / 27.0), freq / step)


def _frequency(mel, kind):
    if kind == MelType.HTK:
        return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
    step, start = 200.0 / 3, 1000.0
    return np.where(mel >= start / step, start * np.exp(np.log(6.4) / 27.0 * (mel - start / step)), mel * step)


def _triangles(n_freqs, points, sample_rate):
    freqs = np.linspace(0, sample_rate // 2, n_freqs)
    slopes = points[None, :] - freqs[:, None]
    width = np.diff(points)
    down, up = -slopes[:, :-2] / width[:-1], slopes[:, 2:] / width[1:]
    return np.maximum(0.0, np.minimum(down, up))


def melscale_fbanks(n_freqs, f_min, f_max, n_mels, sample_rate, norm=NormType.NONE, mel_type=MelType.HTK):
    """Triangular filters that are evenly spaced on the mel scale.

    Args:
        n_freqs: frequencies there are.
        f_min, f_max: range of the filters.
        n_mels: filters there are.
        sample_rate: samples in a second.
        norm: a NormType.
        mel_type: a MelType.

    Returns:
        float32 array of n_freqs and n_mels.
    """
    _check_bank(n_freqs, f_min, f_max, n_mels, sample_rate, 'n_mels')
    check.kind(norm, NormType, 'norm')
    check.kind(mel_type, MelType, 'mel_type')
    points = _frequency(np.linspace(_mel(f_min, mel_type), _mel(f_max, mel_type), n_mels + 2), mel_type)
    bank = _triangles(n_freqs, points, sample_rate)
    if norm == NormType.SLANEY:
        bank = bank * (2.0 / (points[2:] - points[:-2]))
    return bank.astype(np.float32)


def linear_fbanks(n_freqs, f_min, f_max, n_filter, sample_rate):
    """Triangular filters that are evenly spaced.

    Args:
        n_freqs, f_min, f_max, sample_rate: as for melscale_fbanks.
        n_filter: filters there are.

    Returns:
        float32 array of n_freqs and n_filter.
    """
    _check_bank(n_freqs, f_min, f_max, n_filter, sample_rate, 'n_filter')
    return _triangles(n_freqs, np.linspace(f_min, f_max, n_filter + 2), sample_rate).astype(np.float32)


def _check_bank(n_freqs, f_min, f_max, n, sample_rate, name):
    check.kind(n_freqs, int, 'n_freqs')
    check.positive(n_freqs, 'n_freqs')
    check.number(f_min, 'f_min')
    check.number(f_max, 'f_max')
    if f_min > f_max:
        raise ValueError(f"Input f_min should be no more than f_max, but got f_min: {f_min} and f_max: {f_max}.")
    check.kind(n, int, name)
    check.positive(n, name)
    check.kind(sample_rate, int, 'sample_rate')
    check.positive(sample_rate, 'sample_rate')


def create_dct(n_mfcc, n_mels, norm=NormMode.NONE):
    """The matrix of a cosine transform of the second kind.

    Args:
        n_mfcc: columns.
        n_mels: rows.
        norm: a NormMode.

    Returns:
        float32 array of n_mels and n_mfcc.
    """
    check.kind(n_mfcc, int, 'n_mfcc')
    if n_mfcc <= 0:
        raise ValueError(f"n_mfcc must be greater than 0, but got {n_mfcc}.")
    check.kind(n_mels, int, 'n_mels')
    if n_mels <= 0:
        raise ValueError(f"n_mels must be greater than 0, but got {n_mels}.")
    check.kind(norm, NormMode, 'norm')
    made = np.cos(np.pi / n_mels * (np.arange(n_mels) + 0.5)[:, None] * np.arange(n_mfcc)[None, :])
    if norm == NormMode.NONE:
        return (2.0 * made).astype(np.float32)
    made[:, 0] /= np.sqrt(2.0)
    return (made * np.sqrt(2.0 / n_mels)).astype(np.float32)
