# SPDX-License-Identifier: Apache-2.0
"""Windows, and the Fourier transform of pieces of a signal."""
import math

from .. import _core
from .._core import Tensor, type_name as _type_name
from ..common import dtype as mstype
from ._make import primitive
from .array import of_rank, tensor_of

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window", "stft", "BartlettWindow",
           "BlackmanWindow", "HammingWindow", "STFT", "view_as_real"]

_apply = _core.apply


def _window(name, length, periodic, dtype, weight):
    """weight(n, last) for a Tensor of n from 0 on; a periodic window is one that is longer by one, without its end."""
    if isinstance(length, Tensor):
        length = length.item()
    if isinstance(length, bool) or not isinstance(length, int):
        raise TypeError(f"{name}: window_length must be an int, but got {_type_name(length)}")
    if length < 0:
        raise ValueError(f"{name}: window_length must not be negative, but got {length}")
    if not isinstance(periodic, bool):
        raise TypeError(f"{name}: periodic must be a bool, but got {_type_name(periodic)}")
    dtype = mstype.float32 if dtype is None else dtype
    if dtype not in (mstype.float16, mstype.float32, mstype.float64, mstype.bfloat16):
        raise TypeError(f"{name}: dtype must be a float, but got {dtype}")
    last = (length if periodic else length - 1) or 1  # 1: there is nothing to divide
    if length == 1:
        return Tensor([1.0], dtype)
    places = _apply("arange", (), {"start": 0, "end": length, "step": 1, "dtype": mstype.float64})
    return weight(places, last).astype(dtype)


def _double(x):
    """A plain number would be rounded to float32 beside a Tensor."""
    return Tensor(x, mstype.float64)


def _raised(coefficients):
    """Cosines of multiples of the angle, with signs in turn."""
    def weight(n, last):
        return sum(_double((-1) ** k * c) * _apply("cos", (n * _double(2 * math.pi * k / last),)) for k, c in enumerate(coefficients))
    return weight


def bartlett_window(window_length, periodic=True, *, dtype=None) -> Tensor:
    """A triangle from zero to one and back."""
    return _window("bartlett_window", window_length, periodic, dtype, lambda n, last: 1 - (2 * n / last - 1).abs())


def blackman_window(window_length, periodic=True, *, dtype=None) -> Tensor:
    """A bell of two cosines."""
    return _window("blackman_window", window_length, periodic, dtype, _raised((0.42, 0.5, 0.08)))


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None) -> Tensor:
    """A bell of one cosine on a pedestal: alpha minus beta times the cosine."""
    return _window("hamming_window", window_length, periodic, dtype, _raised((alpha, beta)))


def hann_window(window_length, periodic=True, *, dtype=None) -> Tensor:
    """A bell of one cosine, from zero to one and back; float64 unless said otherwise."""
    return _window("hann_window", window_length, periodic, dtype or mstype.float64, _raised((0.5, 0.5)))


def _bessel(x):
    return _apply("bessel_i0", (x,))


def kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None) -> Tensor:
    """A bell of Kaiser's form; the larger beta, the narrower it is. float64 unless said otherwise."""
    return _window("kaiser_window", window_length, periodic, dtype or mstype.float64,
                   lambda n, last: _bessel(_double(beta) * _apply("sqrt", ((1 - (2 * n / last - 1) ** 2).clip(0.0),))) / _bessel(_double(beta)))


BartlettWindow = primitive("BartlettWindow", lambda self, window_length: bartlett_window(
    window_length, self.periodic, dtype=self.dtype), "periodic=True, dtype=mstype.float32", bartlett_window.__doc__)
BlackmanWindow = primitive("BlackmanWindow", lambda self, window_length: blackman_window(
    window_length, self.periodic, dtype=self.dtype), "periodic=True, dtype=mstype.float32", blackman_window.__doc__)
HammingWindow = primitive("HammingWindow", lambda self, length: hamming_window(
    length, self.periodic, self.alpha, self.beta, dtype=self.dtype),
    "periodic=True, alpha=0.54, beta=0.46, dtype=mstype.float32", hamming_window.__doc__)


def view_as_real(input) -> Tensor:
    """Complex numbers as pairs: the last dimension of the result holds the real and the imaginary part."""
    tensor_of(input, "input", "view_as_real")
    if not input.is_complex():
        raise TypeError(f"view_as_real: the input must be complex, but its dtype is {input.dtype}")
    return _apply("stack", (_apply("real", (input,)), _apply("imag", (input,))), {"axis": -1})


def stft(x, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="REFLECT", normalized=False,
         onesided=None, return_complex=None) -> Tensor:
    """Fourier transforms of pieces of a signal, hop_length apart: [..., frequency, piece], and 2 where complex numbers are
    shown as pairs.

    center: the signal is padded, so that pieces are centred on its samples. onesided: frequencies up to one half, as suffices for
    real signals. normalized: divided by the root of n_fft.
    """
    from .. import ops
    of_rank(x, 1, 2, "stft", "x")
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if not 0 < n_fft <= x.shape[-1] + (n_fft if center else 0):
        raise ValueError(f"stft: n_fft must be in (0, {x.shape[-1]}], but got {n_fft}")
    if hop_length <= 0:
        raise ValueError(f"stft: hop_length must be positive, but got {hop_length}")
    if not 0 < win_length <= n_fft:
        raise ValueError(f"stft: win_length must be in (0, {n_fft}], but got {win_length}")
    real = not x.is_complex()
    window = ops.ones((win_length,), mstype.float32) if window is None else window
    if window.shape != (win_length,):
        raise ValueError(f"stft: the window has shape {window.shape}, but win_length is {win_length}")
    left = (n_fft - win_length) // 2
    window = _apply("pad", (window,), {"pads": (left, n_fft - win_length - left)})
    if center:
        pads = (0, 0) * (x.ndim - 1) + (n_fft // 2, n_fft // 2)
        x = _apply("pad", (x,), {"pads": pads, "mode": pad_mode.lower()})
    n = 1 + (x.shape[-1] - n_fft) // hop_length
    places = Tensor([[i * hop_length + k for k in range(n_fft)] for i in range(n)], mstype.int64)
    pieces = ops.gather(x, places, x.ndim - 1) * window.astype(x.dtype)
    onesided = real if onesided is None else onesided
    spectrum = ops.rfft(pieces) if onesided else ops.fft(pieces)
    if normalized:
        spectrum = spectrum * (n_fft ** -0.5)
    spectrum = spectrum.swapaxes(-1, -2)
    return spectrum if return_complex or (return_complex is None and not real) else view_as_real(spectrum)


STFT = primitive("STFT", lambda self, x, window=None: stft(
    x, self.n_fft, self.hop_length, self.win_length, window, False, "REFLECT", self.normalized, self.onesided, self.return_complex),
    "n_fft, hop_length, win_length, normalized, onesided, return_complex", "Fourier transforms of pieces of a signal; see ops.stft.")
