# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms against numpy's, and their gradients against finite differences."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, ops

RNG = np.random.Generator(np.random.PCG64(4))


def close(got, wanted, rtol=1e-10):
    got = got.asnumpy()
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol * max(1, np.abs(wanted).max()))


def numbers(shape, kind):
    x = RNG.standard_normal(shape)
    return x + 1j * RNG.standard_normal(shape) if kind == "complex" else x


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 12, 16, 30, 49, 61, 67, 97, 128, 134, 211, 360, 1000, 1021])
def test_every_length(n):
    x = numbers((3, n), "complex")
    close(ops.fft(Tensor(x)), np.fft.fft(x), 1e-12)
    close(ops.ifft(Tensor(x)), np.fft.ifft(x), 1e-12)
    close(ops.fft(Tensor(x.astype(np.complex64))), np.fft.fft(x), 1e-5)


ONE = {"fft": "complex", "ifft": "complex", "rfft": "real", "irfft": "complex", "hfft": "complex", "ihfft": "real"}


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 4, 5, 9])
@pytest.mark.parametrize("dim", [-1, 0, 1])
def test_one_axis(name, norm, n, dim):
    x = numbers((6, 5, 7), ONE[name])
    close(getattr(ops, name)(Tensor(x), n, dim, norm), getattr(np.fft, name)(x, n, dim, norm))


MANY = {"fft2": "complex", "ifft2": "complex", "rfft2": "real", "irfft2": "complex", "fftn": "complex", "ifftn": "complex",
        "rfftn": "real", "irfftn": "complex"}


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("s, dim", [(None, (-2, -1)), ((4, 9), (0, 2)), ((3, 6), (-1, -3)), (None, (1, 0))])
def test_several_axes(name, norm, s, dim):
    x = numbers((6, 5, 7), MANY[name])
    close(getattr(ops, name)(Tensor(x), s, dim, norm), getattr(np.fft, name)(x, s, dim, norm))


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_hermitian_signals_of_two_dimensions(norm):
    x, back = numbers((6, 5), "complex"), {None: "forward", "ortho": "ortho", "forward": "backward"}[norm]
    wanted = np.fft.irfft(np.conj(np.fft.fft(x, axis=0, norm=norm)), norm=back)
    close(ops.hfft2(Tensor(x), norm=norm), wanted)
    close(ops.hfftn(Tensor(x), norm=norm), wanted)
    real = numbers((6, 5), "real")
    wanted = np.fft.ifft(np.conj(np.fft.rfft(real, norm=back)), axis=0, norm=norm)
    close(ops.ihfft2(Tensor(real), norm=norm), wanted)
    close(ops.ihfftn(Tensor(real), norm=norm), wanted)


def test_dtypes_of_results():
    for dtype, wide in ((ms.int32, ms.complex64), (ms.float16, ms.complex64), (ms.float32, ms.complex64), (ms.float64, ms.complex128)):
        x = Tensor([1, 2, 3, 4], dtype)
        assert ops.fft(x).dtype == wide and ops.rfft(x).dtype == wide
        assert ops.irfft(x).dtype == (ms.float64 if dtype == ms.float64 else ms.float32)


def test_frequencies_and_their_order():
    for n in (1, 4, 5):
        close(ops.fftfreq(n, 0.5), np.fft.fftfreq(n, 0.5), 1e-6)
        close(ops.rfftfreq(n, 0.5, ms.float64), np.fft.rfftfreq(n, 0.5))
    x = RNG.standard_normal((5, 4))
    for dim in (None, 0, (1,), (0, 1)):
        close(ops.fftshift(Tensor(x), dim), np.fft.fftshift(x, dim))
        close(ops.ifftshift(Tensor(x), dim), np.fft.ifftshift(x, dim))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "ihfft", "irfft", "hfft", "rfft2", "irfft2", "fftn"])
def test_gradients_equal_finite_differences(name):
    x, w = RNG.standard_normal((3, 5)), RNG.standard_normal(40)

    def f(v):
        y = getattr(ops, name)(v)
        y = y.reshape(-1)
        parts = (y.real(), y.imag()) if y.is_complex() else (y,)
        return sum((p * p * Tensor(w[:p.size])).sum() + (p * Tensor(w[-p.size:])).sum() for p in parts)
    grad = ms.grad(f)(Tensor(x)).asnumpy()
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += 1e-6
        up = float(f(Tensor(moved)))
        moved[i] -= 2e-6
        np.testing.assert_allclose(grad[i], (up - float(f(Tensor(moved)))) / 2e-6, rtol=1e-5, atol=1e-6)


def test_gradients_as_mindspore_has_them():
    x = Tensor(np.arange(4, dtype=np.float32))
    recorded = {(lambda v: ops.abs(ops.fft(v)).sum()): [-1.4142135, 0.58578646, 1.4142135, 3.4142137],
                (lambda v: (ops.irfft(ops.rfft(v)) ** 2).sum()): [0, 2, 4, 6],
                (lambda v: ops.hfft(v).sum()): [6, 0, 0, 0]}
    for f, wanted in recorded.items():
        np.testing.assert_allclose(ms.grad(f)(x).asnumpy(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("call, error, words", [
    (lambda: ops.fft([1.0]), TypeError, "must be a Tensor"),
    (lambda: ops.fft(Tensor(1.0)), ValueError, "out of range"),
    (lambda: ops.fft(Tensor([1.0]), 0), ValueError, "at least 1"),
    (lambda: ops.fft(Tensor([1.0]), 2.0), TypeError, "int"),
    (lambda: ops.fft(Tensor([1.0]), norm="bad"), ValueError, "'bad'"),
    (lambda: ops.fft(Tensor([1.0]), dim=1), ValueError, "out of range"),
    (lambda: ops.fftn(Tensor([[1.0]]), dim=(0, -2)), ValueError, "twice"),
    (lambda: ops.fftn(Tensor([[1.0]]), s=(1,), dim=(0, 1)), ValueError, "sizes"),
    (lambda: ops.rfft(Tensor([1j])), TypeError, "real"),
    (lambda: ops.irfft(Tensor([1.0])), ValueError, "at least 1"),
    (lambda: ops.fft(Tensor(np.zeros((2, 0), np.float32))), ValueError, "no elements"),
    (lambda: ops.fftfreq(0), ValueError, "at least 1"),
])
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
