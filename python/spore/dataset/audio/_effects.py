# SPDX-License-Identifier: Apache-2.0
"""Transforms of sound that change time, pitch and colour: resampling, inverse spectrograms, phasing, dithering."""
import math

import numpy as np

from spore.dataset import _check as check
from spore.dataset.audio.transforms import AudioTensorOperation, Spectrogram, _rate, _spectrogram, _stretch
from spore.dataset.audio.utils import (BorderType, DensityFunction, Interpolation, Modulation, ResampleMethod, WindowType,
                                       window)


# --- from spectra back -------------------------------------------------------------------------------------------------

def inverse_spectrogram(spectrum, n_fft, win_length, hop_length, kind, center=True, onesided=True, length=None):
    """Sound of complex spectra of shape <..., freq, time>: windows added up where they overlap."""
    shape = np.zeros(n_fft)
    start = (n_fft - win_length) // 2
    shape[start:start + win_length] = window(kind, win_length)
    frames = np.swapaxes(spectrum, -1, -2)
    frames = np.fft.irfft(frames, n_fft, axis=-1) if onesided else np.fft.ifft(frames, axis=-1).real
    frames = frames * shape
    n = frames.shape[-2]
    out, weight = np.zeros((*frames.shape[:-2], n_fft + hop_length * (n - 1))), np.zeros(n_fft + hop_length * (n - 1))
    for i in range(n):
        out[..., i * hop_length:i * hop_length + n_fft] += frames[..., i, :]
        weight[i * hop_length:i * hop_length + n_fft] += shape ** 2
    first = n_fft // 2 if center else 0
    end = first + length if length is not None else out.shape[-1] - (n_fft // 2 if center else 0)
    if end > out.shape[-1]:
        more = end - out.shape[-1]
        out = np.pad(out, [(0, 0)] * (out.ndim - 1) + [(0, more)])
        weight = np.pad(weight, (0, more), constant_values=1)
    out, weight = out[..., first:end], weight[first:end]
    return out / np.where(weight > 1e-11, weight, 1)


class InverseSpectrogram(AudioTensorOperation):
    """Sound of a complex spectrogram, given as pairs.

    Args:
        length: samples of the sound; what the spectrogram has if None.
        n_fft, win_length, hop_length, pad, window, normalized, center, pad_mode, onesided: as for Spectrogram.
    """

    _ndim = 3

    def __init__(self, length=None, n_fft=400, win_length=None, hop_length=None, pad=0, window=WindowType.HANN,
                 normalized=False, center=True, pad_mode=BorderType.REFLECT, onesided=True):
        super().__init__()
        if length is not None:
            check.integer(length, 'length', 0)
        self._settings = Spectrogram(n_fft, win_length, hop_length, pad, window, 0.0, normalized, center, pad_mode, onesided)
        self.length = length or None

    def _one(self, x):
        s = self._settings
        if x.shape[-1] != 2:
            raise RuntimeError(f"InverseSpectrogram: spectrograms of shape <..., freq, time, 2> are wanted, but got "
                               f"{x.shape}")
        spectrum = x[..., 0].astype(np.float64) + 1j * x[..., 1]
        if s.normalized:
            spectrum = spectrum * math.sqrt((window(s.window, s.win_length) ** 2).sum())
        length = None if self.length is None else self.length + 2 * s.pad
        made = inverse_spectrogram(spectrum, s.n_fft, s.win_length, s.hop_length, s.window, s.center, s.onesided, length)
        return made[..., s.pad:made.shape[-1] - s.pad].astype(x.dtype)


class GriffinLim(AudioTensorOperation):
    """Sound whose spectrogram has given sizes; angles are guessed and improved.

    Args:
        n_fft, win_length, hop_length, window_type, power: of the spectrogram, as for Spectrogram.
        n_iter: how often angles are improved.
        momentum: how much of the last step is kept.
        length: samples of the sound; what the spectrogram has if None.
        rand_init: whether angles are random at first.
    """

    random, _ndim = True, 2

    def __init__(self, n_fft=400, n_iter=32, win_length=None, hop_length=None, window_type=WindowType.HANN, power=2.0,
                 momentum=0.99, length=None, rand_init=True):
        super().__init__()
        check.integer(n_iter, 'n_iter', 1)
        check.kind(momentum, (int, float), 'momentum')
        check.within(momentum, 0, check.FLOAT_MAX_INTEGER, 'momentum')
        if length is not None:
            check.integer(length, 'length', 0)
        check.flag(rand_init, 'rand_init')
        self._settings = Spectrogram(n_fft, win_length, hop_length, 0, window_type, power)
        self.n_iter, self.momentum, self.length, self.rand_init = n_iter, momentum, length or None, rand_init

    def _one(self, x):
        s = self._settings
        if x.shape[-2] != s.n_fft // 2 + 1:
            raise RuntimeError(f"GriffinLim: there are {x.shape[-2]} frequencies, but n_fft {s.n_fft} makes "
                               f"{s.n_fft // 2 + 1}")
        sizes = np.power(x.astype(np.float64), 1 / s.power)
        keep = self.momentum / (1 + 2 * self.momentum)  # MindSpore's share, which is less than the paper's
        angles = np.ones(sizes.shape, complex)
        if self.rand_init:
            angles = np.random.uniform(size=sizes.shape) + 1j * np.random.uniform(size=sizes.shape)
        before = 0
        for _ in range(self.n_iter):
            sound = inverse_spectrogram(sizes * angles, s.n_fft, s.win_length, s.hop_length, s.window, length=self.length)
            pairs = _spectrogram(sound, s.n_fft, s.win_length, s.hop_length, 0, s.window, 0, False, True,
                                 BorderType.REFLECT, True)
            made = pairs[..., 0] + 1j * pairs[..., 1]
            angles = made - keep * before
            angles = angles / (np.abs(angles) + 1e-16)
            before = made
        return inverse_spectrogram(sizes * angles, s.n_fft, s.win_length, s.hop_length, s.window,
                                   length=self.length).astype(x.dtype)


# --- time and pitch -----------------------------------------------------------------------------------------------------

def resample(x, old, new, method=ResampleMethod.SINC_INTERPOLATION, width=6, rolloff=0.99, beta=None):
    """Another number of samples a second: every new sample is a windowed sum of sines."""
    common = math.gcd(int(old), int(new))
    old, new = int(old) // common, int(new) // common
    if old == new:
        return x.copy()
    base = min(old, new) * rolloff
    side = math.ceil(width * old / base)
    at = np.arange(-side, side + old) / old
    n_new = math.ceil(new * x.shape[-1] / old)
    phases = np.arange(0, -min(new, n_new), -1)  # a short sound does not need them all
    t = np.clip((phases[:, None] / new + at) * base, -width, width)
    if method == ResampleMethod.SINC_INTERPOLATION:
        shape = np.cos(t * np.pi / width / 2) ** 2
    else:
        beta = 14.769656459379492 if beta is None else beta
        shape = np.i0(beta * np.sqrt(1 - (t / width) ** 2)) / np.i0(beta)
    kernels = np.sinc(t) * shape * base / old
    wide = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(side, side + old)])
    views = np.lib.stride_tricks.sliding_window_view(wide, kernels.shape[1], axis=-1)[..., ::old, :]
    made = (views.astype(np.float64) @ kernels.T).reshape(*x.shape[:-1], -1)
    return made[..., :n_new].astype(x.dtype)


class Resample(AudioTensorOperation):
    """Another number of samples a second.

    Args:
        orig_freq, new_freq: samples in a second, before and after.
        resample_method: a ResampleMethod.
        lowpass_filter_width: how sharp, in zero crossings.
        rolloff: part of the highest frequency that is kept.
        beta: shape of a Kaiser window.
    """

    def __init__(self, orig_freq=16000, new_freq=16000, resample_method=ResampleMethod.SINC_INTERPOLATION,
                 lowpass_filter_width=6, rolloff=0.99, beta=None):
        super().__init__()
        check.number(orig_freq, 'orig_freq', 0, open_left=True)
        check.number(new_freq, 'new_freq', 0, open_left=True)
        check.kind(resample_method, ResampleMethod, 'resample_method')
        check.integer(lowpass_filter_width, 'lowpass_filter_width', 1)
        check.kind(rolloff, float, 'rolloff')
        check.within(rolloff, 0, 1, 'rolloff', open_left=True)
        if beta is not None:
            check.number(beta, 'beta')
        self.orig_freq, self.new_freq, self.resample_method = orig_freq, new_freq, resample_method
        self.lowpass_filter_width, self.rolloff, self.beta = lowpass_filter_width, rolloff, beta

    def _checked(self, column):
        return (column,) if self.orig_freq == self.new_freq and column.dtype.kind in 'fiub' else super()._checked(column)

    def _one(self, x):
        return resample(x, self.orig_freq, self.new_freq, self.resample_method, self.lowpass_filter_width, self.rolloff,
                        self.beta)


class PitchShift(AudioTensorOperation):
    """Higher or lower, as long as before.

    Args:
        sample_rate: samples in a second.
        n_steps: how many steps up.
        bins_per_octave: steps in an octave.
        n_fft, win_length, hop_length, window: of the spectrogram; hop_length is a quarter of a window if None.
    """

    def __init__(self, sample_rate, n_steps, bins_per_octave=12, n_fft=512, win_length=None, hop_length=None,
                 window=WindowType.HANN):
        super().__init__()
        check.integer(sample_rate, 'sample_rate', 0)
        check.kind(n_steps, int, 'n_steps')
        check.kind(bins_per_octave, int, 'bins_per_octave')
        if bins_per_octave == 0:
            raise ValueError("Input bins_per_octave is not within the required interval of [-2147483648, 0) and "
                             "(0, 2147483647].")
        win_length = n_fft if win_length is None else win_length
        self._settings = Spectrogram(n_fft, win_length, win_length // 4 if hop_length is None else hop_length, 0, window, 0.0)
        self.sample_rate, self.n_steps, self.bins_per_octave = sample_rate, n_steps, bins_per_octave

    def _one(self, x):
        s, n = self._settings, x.shape[-1]
        rate = 2.0 ** (-self.n_steps / self.bins_per_octave)
        pairs = s._one(x.astype(np.float64))
        advance = np.linspace(0, math.pi * s.hop_length, pairs.shape[-3])[:, None]
        pairs = _stretch(pairs, rate, advance)
        sound = inverse_spectrogram(pairs[..., 0] + 1j * pairs[..., 1], s.n_fft, s.win_length, s.hop_length, s.window,
                                    length=int(round(n / rate)))
        sound = resample(sound, int(self.sample_rate / rate), self.sample_rate)[..., :n]
        return np.pad(sound, [(0, 0)] * (x.ndim - 1) + [(0, n - sound.shape[-1])]).astype(x.dtype)


class DetectPitchFrequency(AudioTensorOperation):
    """The pitch of every stretch of time.

    Args:
        sample_rate: samples in a second.
        frame_time: seconds in a stretch.
        win_length: stretches of which the median is taken.
        freq_low, freq_high: range of pitches.
    """

    _whole = False

    def __init__(self, sample_rate, frame_time=0.01, win_length=30, freq_low=85, freq_high=3400):
        super().__init__()
        _rate(sample_rate)
        check.number(frame_time, 'frame_time', 0, open_left=True)
        check.integer(win_length, 'win_length', 1)
        check.number(freq_low, 'freq_low', 0, open_left=True)
        check.number(freq_high, 'freq_high', 0, open_left=True)
        self.sample_rate, self.frame_time, self.win_length = sample_rate, frame_time, win_length
        self.freq_low, self.freq_high = freq_low, freq_high

    def _likeness(self, x):
        """How alike each stretch is to what comes some samples later: <..., stretch, samples>."""
        lags, size = math.ceil(self.sample_rate / self.freq_low), math.ceil(self.sample_rate * self.frame_time)
        frames = math.ceil(x.shape[-1] / size)
        wide = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, lags + frames * size - x.shape[-1])])
        here = wide[..., :frames * size].reshape(*x.shape[:-1], frames, size)
        out = []
        for lag in range(1, lags + 1):
            there = wide[..., lag:lag + frames * size].reshape(here.shape)
            norms = [(1e-9 + np.linalg.norm(part, axis=-1)) ** 2 for part in (here, there)]
            out.append((here * there).sum(axis=-1) / norms[0] / norms[1])
        return np.stack(out, axis=-1)

    def _one(self, x):
        likeness = self._likeness(x.astype(np.float64))
        least = math.ceil(self.sample_rate / self.freq_high)
        whole, half = likeness[..., least:], likeness[..., least:likeness.shape[-1] // 2]
        use = half.max(axis=-1) > 0.99 * whole.max(axis=-1)
        best = np.where(use, half.argmax(axis=-1), whole.argmax(axis=-1)) + least + 1
        side = (self.win_length - 1) // 2
        wide = np.concatenate([np.repeat(best[..., :1], side, axis=-1), best], axis=-1)
        views = np.lib.stride_tricks.sliding_window_view(wide, self.win_length, axis=-1)
        middle = np.sort(views, axis=-1)[..., (self.win_length - 1) // 2]
        return (self.sample_rate / (1e-9 + middle)).astype(np.float32)


# --- colour -------------------------------------------------------------------------------------------------------------

def _wave(kind, n, low, high, phase, whole):
    """One turn of a slow wave, from low to high, in n steps."""
    at = (np.arange(n) + int(phase / math.pi / 2 * n + 0.5)) % n
    if kind == Modulation.SINUSOIDAL:
        made = (np.sin(at / n * 2 * math.pi) + 1) / 2
    else:
        made, quarter = at * 2 / n, 4 * at // n
        made = np.where(quarter == 0, made + 0.5, np.where(quarter == 3, made - 1.5, 1.5 - made))
    made = made * (high - low) + low
    return np.where(made < 0, made - 0.5, made + 0.5).astype(np.int64) if whole else made


class Phaser(AudioTensorOperation):
    """The sound mixed with itself, delayed by a time that changes slowly.

    Args:
        sample_rate: samples in a second.
        gain_in, gain_out: loudness before and after.
        delay_ms: delay in milliseconds.
        decay: how soft the delayed sound is.
        mod_speed: changes in a second.
        sinusoidal: whether the delay changes like a sine, or like a triangle.
    """

    def __init__(self, sample_rate, gain_in=0.4, gain_out=0.74, delay_ms=3.0, decay=0.4, mod_speed=0.5, sinusoidal=True):
        super().__init__()
        check.integer(sample_rate, 'sample_rate')
        for name, value, low, high in (('gain_in', gain_in, 0, 1), ('gain_out', gain_out, 0, 1e9),
                                       ('delay_ms', delay_ms, 0, 5.0), ('decay', decay, 0, 0.99),
                                       ('mod_speed', mod_speed, 0.1, 2)):
            check.kind(value, (int, float), name)
            check.within(value, low, high, name)
        check.flag(sinusoidal, 'sinusoidal')
        self.sample_rate, self.gain_in, self.gain_out, self.delay_ms = sample_rate, gain_in, gain_out, delay_ms
        self.decay, self.mod_speed, self.sinusoidal = decay, mod_speed, sinusoidal

    def _one(self, x):
        kind = Modulation.SINUSOIDAL if self.sinusoidal else Modulation.TRIANGULAR
        n_delay = int(self.delay_ms * 0.001 * self.sample_rate + 0.5)
        n_wave = int(self.sample_rate / self.mod_speed + 0.5)
        wave = _wave(kind, n_wave, 1.0, float(n_delay), math.pi / 2, True)
        sound, delayed, out = x * x.dtype.type(self.gain_in), np.zeros((n_delay, *x.shape[:-1]), x.dtype), np.empty_like(x)
        decay, at = x.dtype.type(self.decay), 0
        for i in range(x.shape[-1]):
            made = sound[..., i] + delayed[(at + wave[i % n_wave]) % n_delay]
            at = (at + 1) % n_delay
            delayed[at] = made * decay
            out[..., i] = made
        return np.clip(out * x.dtype.type(self.gain_out), -1, 1)


class Flanger(AudioTensorOperation):
    """The sound mixed with itself, delayed by a short time that changes slowly, for each channel with another phase.

    Args:
        sample_rate: samples in a second.
        delay, depth: delay and how far it changes, in milliseconds.
        regen: percent of the delayed sound that is fed back.
        width: percent of the delayed sound that is mixed in.
        speed: changes in a second.
        phase: percent of a turn from channel to channel.
        modulation: a Modulation.
        interpolation: an Interpolation.
    """

    _ndim, _half, _same = 2, True, True

    def __init__(self, sample_rate, delay=0.0, depth=2.0, regen=0.0, width=71.0, speed=0.5, phase=25.0,
                 modulation=Modulation.SINUSOIDAL, interpolation=Interpolation.LINEAR):
        super().__init__()
        _rate(sample_rate)
        for name, value, low, high in (('delay', delay, 0, 30), ('depth', depth, 0, 10), ('regen', regen, -95, 95),
                                       ('width', width, 0, 100), ('speed', speed, 0.1, 10), ('phase', phase, 0, 100)):
            check.kind(value, (int, float), name)
            check.within(value, low, high, name)
        check.kind(modulation, Modulation, 'modulation')
        check.kind(interpolation, Interpolation, 'interpolation')
        self.sample_rate, self.delay, self.depth, self.regen, self.width = sample_rate, delay, depth, regen, width
        self.speed, self.phase, self.modulation, self.interpolation = speed, phase, modulation, interpolation

    def _one(self, x):
        sound = x.reshape(-1, *x.shape[-2:]).astype(np.float64)
        n_channels, feed, share = x.shape[-2], self.regen / 100, self.width / 100
        own, share = 1 / (1 + share), share / (1 + share) * (1 - abs(feed))
        n_delay = int((self.delay + self.depth) / 1000 * self.sample_rate + 0.5) + 2
        n_wave = int(self.sample_rate / self.speed)
        wave = _wave(self.modulation, n_wave, math.floor(self.delay / 1000 * self.sample_rate + 0.5), n_delay - 2.0,
                     3 * math.pi / 2, False)
        channels = np.arange(n_channels)
        shift = (channels * n_wave * self.phase / 100 + 0.5).astype(np.int64)
        delayed, last, out, at = np.zeros((len(sound), n_channels, n_delay)), 0, np.empty_like(sound), 0
        for i in range(sound.shape[-1]):
            at = (at + n_delay - 1) % n_delay
            place = wave[(i + shift) % n_wave]
            whole, part = np.floor(place).astype(np.int64), place - np.floor(place)
            delayed[:, :, at] = sound[:, :, i] + last * feed
            a, b, c = (delayed[:, channels, (at + whole + k) % n_delay] for k in range(3))
            if self.interpolation == Interpolation.LINEAR:
                last = a + (b - a) * part
            else:
                last = a + (((c - a) * 0.5 - (b - a)) * part + (b - a) * 2 - (c - a) * 0.5) * part
            out[:, :, i] = sound[:, :, i] * own + last * share
        return np.clip(out, -1, 1).reshape(x.shape).astype(x.dtype)


class Dither(AudioTensorOperation):
    """Noise added before rounding to 16 bits, so that errors do not follow the sound.

    Args:
        density_function: a DensityFunction.
        noise_shaping: whether the error of a sample is added to the next.
    """

    random = True

    def __init__(self, density_function=DensityFunction.TPDF, noise_shaping=False):
        super().__init__()
        check.kind(density_function, DensityFunction, 'density_function')
        check.flag(noise_shaping, 'noise_shaping')
        self.density_function, self.noise_shaping = density_function, noise_shaping

    def _one(self, x):
        n = x.shape[-1]
        rows = x.reshape(-1, n).astype(np.float64)
        scaled = rows * (2 ** 15 - 2)

        def somewhere():
            return rows[np.random.randint(len(rows)), np.random.randint(n)]

        if self.density_function == DensityFunction.TPDF:
            scaled = scaled + window(WindowType.BARTLETT, n)
        elif self.density_function == DensityFunction.RPDF:
            scaled = scaled + somewhere() - 0.5
        else:
            scaled = scaled + sum(somewhere() for _ in range(7))
        made = np.round(scaled) / 2 ** 15
        if self.noise_shaping:
            error = made - rows
            made[:, 1:] += error[:, :-1]
        return made.reshape(x.shape).astype(x.dtype)
