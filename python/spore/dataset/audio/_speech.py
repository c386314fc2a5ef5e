# SPDX-License-Identifier: Apache-2.0
"""Where speech begins in a recording, and spectrograms from mel spectrograms."""
import math

import numpy as np

from spore.dataset import _check as check
from spore.dataset.audio.transforms import AudioTensorOperation
from spore.dataset.audio.utils import MelType, NormType, melscale_fbanks

__all__ = ['InverseMelScale', 'Vad']


class InverseMelScale(AudioTensorOperation):
    """A spectrogram that would give a mel spectrogram, found by descent.

    Args:
        n_stft: frequencies of the spectrogram.
        n_mels, sample_rate, f_min, f_max, norm, mel_type: as for MelScale.
        max_iter: steps at most.
        tolerance_loss, tolerance_change: the descent ends when the loss, or its change, is below.
        sgdargs: "sgd_lr" and "sgd_momentum"; 0.1 and 0.9 if None.
    """

    random, _ndim = True, 2

    def __init__(self, n_stft, n_mels=128, sample_rate=16000, f_min=0.0, f_max=None, max_iter=100000, tolerance_loss=1e-5,
                 tolerance_change=1e-8, sgdargs=None, norm=NormType.NONE, mel_type=MelType.HTK):
        super().__init__()
        check.integer(n_mels, 'n_mels', 1)
        check.integer(sample_rate, 'sample_rate', 1)
        check.number(f_min, 'f_min')
        f_max = float(sample_rate // 2) if f_max is None else f_max
        check.number(f_max, 'f_max')
        if f_min >= f_max:
            raise ValueError(f"InverseMelScale: f_max should be greater than f_min, but got f_min: {f_min} and f_max: {f_max}")
        check.integer(n_stft, 'n_stft', 1)
        check.kind(norm, NormType, 'norm')
        check.kind(mel_type, MelType, 'mel_type')
        check.integer(max_iter, 'max_iter', 1)
        for name, value in (('tolerance_loss', tolerance_loss), ('tolerance_change', tolerance_change)):
            check.number(value, name, 0, open_left=True)
        sgdargs = {'sgd_lr': 0.1, 'sgd_momentum': 0.9} if sgdargs is None else sgdargs
        for name in ('sgd_lr', 'sgd_momentum'):
            check.number(sgdargs[name], name, 0)
        self._rate = sgdargs['sgd_lr']
        self._most, self._loss, self._change = max_iter, tolerance_loss, tolerance_change
        self.n_mels = n_mels
        self._bank = melscale_fbanks(n_stft, f_min, f_max, n_mels, sample_rate, norm, mel_type).astype(np.float64)

    def _one(self, x):
        if x.shape[-2] != self.n_mels:
            raise RuntimeError(f"InverseMelScale: there are {x.shape[-2]} mel bands, but n_mels is {self.n_mels}")
        planes = np.swapaxes(x.reshape(-1, *x.shape[-2:]), 1, 2).astype(np.float64)      # (channels, time, mels)
        found = np.swapaxes([self._descend(plane) for plane in planes], 1, 2)
        return found.reshape(*(x.shape[:-2] or (1,)), -1, x.shape[-1]).astype(x.dtype)

    def _descend(self, plane):
        """The frequencies of one channel, from a random start. The momentum is asked for and not used, as in MindSpore."""
        found, before = np.random.random_sample((len(plane), len(self._bank))), math.inf
        for _ in range(self._most):
            error = found @ self._bank - plane
            loss = float(np.mean(error * error))
            if loss < self._loss or abs(before - loss) < self._change:
                break
            before = loss
            found = np.maximum(found - self._rate / len(plane) * (error @ self._bank.T), 0)
        return found


class Vad(AudioTensorOperation):
    """A recording from the beginning of speech on: what comes before it is cut off. For the end, reverse the recording. Without
    speech, its last part is given.

    The power of the cepstrum where voices have it is measured a few times a second, less a running estimate of the noise;
    speech has begun when it stays high.

    Args:
        sample_rate: samples in a second.
        trigger_level: the measure of speech.
        trigger_time: seconds over which the measure is smoothed.
        search_time, allowed_gap: seconds that are searched for the beginning once speech was found, and the longest pause in them.
        pre_trigger_time: seconds that are kept before the beginning.
        boot_time: seconds of noise at the start.
        noise_up_time, noise_down_time, noise_reduction_amount: how the estimate of the noise follows, and how much of it is taken.
        measure_freq, measure_duration, measure_smooth_time: how often and over how long is measured; 2 / measure_freq if None.
        hp_filter_freq, lp_filter_freq: frequencies that are looked at.
        hp_lifter_freq, lp_lifter_freq: frequencies of voices.
    """

    def __init__(self, sample_rate, trigger_level=7.0, trigger_time=0.25, search_time=1.0, allowed_gap=0.25, pre_trigger_time=0.0,
                 boot_time=0.35, noise_up_time=0.1, noise_down_time=0.01, noise_reduction_amount=1.35, measure_freq=20.0,
                 measure_duration=None, measure_smooth_time=0.4, hp_filter_freq=50.0, lp_filter_freq=6000.0,
                 hp_lifter_freq=150.0, lp_lifter_freq=2000.0):
        super().__init__()
        check.integer(sample_rate, 'sample_rate', 1)
        check.number(trigger_level, 'trigger_level')
        given = {name: value for name, value in locals().items() if name not in ('self', '__class__', 'sample_rate', 'trigger_level')}
        for name, value in given.items():
            if name != 'measure_duration' or value:
                check.number(value, name, 0, open_left=name.endswith('_freq'))
        if noise_up_time < noise_down_time:
            raise ValueError("Input noise_up_time should be greater than noise_down_time, but got noise_up_time: "
                             f"{noise_up_time} and noise_down_time: {noise_down_time}.")
        self._level, self._reduction = trigger_level, noise_reduction_amount
        self._window_len = int(sample_rate * (measure_duration or 2.0 / measure_freq) + 0.5)
        self._size = 16
        while self._size < self._window_len:
            self._size *= 2
        self._period = int(sample_rate / measure_freq + 0.5)
        self._n = math.ceil(search_time * measure_freq)
        self._gap = int(allowed_gap * measure_freq + 0.5)
        self._kept = int(pre_trigger_time * sample_rate + 0.5) + self._n * self._period + self._window_len
        self._window = _hann(self._window_len) * (2.0 / math.sqrt(self._window_len))
        first = max(1, int(hp_filter_freq / sample_rate * self._size + 0.5))
        last = min(self._size // 2, int(lp_filter_freq / sample_rate * self._size + 0.5))
        self._band = slice(first, last)
        self._cepstrum_window = _hann(max(0, last - first)) * (2.0 / math.sqrt(max(1, last - first)))
        self._voice = slice(math.ceil(sample_rate * 0.5 / lp_lifter_freq),
                            min(self._size // 4, math.floor(sample_rate * 0.5 / hp_lifter_freq)))
        if self._voice.stop <= self._voice.start:
            raise ValueError(f"Vad: between hp_lifter_freq {hp_lifter_freq} and lp_lifter_freq {lp_lifter_freq} there is nothing to "
                             "measure")

        def fade(seconds):
            return math.exp(-1.0 / (seconds * measure_freq)) if seconds else 0.0
        self._up, self._down, self._smooth, self._mean = (fade(t) for t in (noise_up_time, noise_down_time, measure_smooth_time,
                                                                            trigger_time))
        self._boot = int(boot_time * measure_freq - 0.5)

    def _measure(self, samples, spectrum, noise, boot):
        """How much speech there is; spectrum and noise are carried on."""
        found = np.abs(np.fft.rfft(samples * self._window, self._size)[self._band])
        old = boot / (1.0 + boot) if boot >= 0 else self._smooth
        spectrum += (found - spectrum) * (1 - old)
        power = spectrum * spectrum
        keep = np.zeros_like(power) if boot >= 0 else np.where(power > noise, self._up, self._down)
        noise += (power - noise) * (1 - keep)
        rest = np.sqrt(np.maximum(0, power - self._reduction * noise))
        line = np.zeros(self._size // 2)
        line[self._band] = rest * self._cepstrum_window
        cepstrum = np.fft.rfft(line)[self._voice]
        total = float((cepstrum.real**2 + cepstrum.imag**2).sum())
        return max(0.0, 21 + math.log(total / (self._voice.stop - self._voice.start))) if total > 0 else 0.0

    def _back(self, measures, at):
        """How many measures before the present one speech began."""
        last = zero = self._n
        for j in range(self._n):
            value = measures[(at - j) % self._n]
            if value >= self._level and j <= last + self._gap:
                zero = last = j
            elif value == 0 and last >= zero:
                zero = j
        return min(self._n - 1, zero)

    def _one(self, x):
        flat = x.reshape(-1, x.shape[-1]).astype(np.float64)
        width = max(0, self._band.stop - self._band.start)
        spectra, noises = np.zeros((len(flat), width)), np.zeros((len(flat), width))
        measures, means = np.zeros((len(flat), max(1, self._n))), np.zeros(len(flat))
        boot = at = 0
        for end in range(self._window_len, flat.shape[1], self._period):
            back, begun = 0, False
            for i, line in enumerate(flat):
                value = self._measure(line[end - self._window_len:end], spectra[i], noises[i], boot)
                measures[i, at] = value
                means[i] = means[i] * self._mean + value * (1 - self._mean)
                begun = begun or means[i] >= self._level
                if begun:
                    back = max(back, self._back(measures[i], at))
            at = (at + 1) % max(1, self._n)
            if boot >= 0:
                boot = -1 if boot == self._boot else boot + 1
            if begun:
                begin = max(0, end - self._kept + (self._n - back) * self._period)
                return np.ascontiguousarray(x[..., begin:])
        return np.ascontiguousarray(x[..., max(0, x.shape[-1] - self._kept):])     # the end, which may still become speech


def _hann(n):
    """A window that would go on periodically."""
    return 0.5 - 0.5 * np.cos(2 * math.pi * np.arange(n) / n) if n else np.zeros(0)
