# SPDX-License-Identifier: Apache-2.0
"""Compositions that the CPU computes at once give the bits of their steps; half-precision truths, short rows and shifted copies give numpy's."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, mint, ops

SIZES = [0, 1, 3, 15, 16, 17, 511, 512, 513, 5003]
HALVES = [ms.float16, ms.bfloat16]
DTYPES = [ms.float32, ms.float64, *HALVES]


def numbers(shape, dtype, seed=0, special=True):
    rng = np.random.RandomState(seed)
    x = (rng.standard_normal(shape) * 3).astype(np.float32)
    if special and x.size > 4:
        x.flat[:4] = [np.nan, np.inf, -np.inf, -0.0]
    return Tensor(x).astype(dtype)


def bits(x):
    wide = np.atleast_1d(x.astype(ms.float64).asnumpy())
    return np.where(np.isnan(wide), 0.0, wide), np.isnan(wide), np.signbit(np.where(np.isnan(wide), 0.0, wide))


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape
    for p, q in zip(bits(a), bits(b)):
        np.testing.assert_array_equal(p, q)


def steps_of_prelu(x, w):
    alpha = w if w.shape[0] == 1 else w.reshape([-1] + [1] * (x.ndim - 2)) if x.ndim > 1 else w
    return ops.select(x > 0, x, x * alpha)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_several_operands(dtype):
    for n in SIZES:
        x, y, z = (numbers((n,), dtype, i) for i in range(3))
        w = numbers((1,), dtype, 7, False)
        same(mint.lerp(x, y, z), x + z * (y - x))
        same(mint.lerp(x, y, 0.25), x + Tensor(0.25, dtype) * (y - x))
        same(mint.addcmul(x, y, z), x + Tensor(1, dtype) * (y * z))
        same(mint.addcmul(x, y, z, value=0.75), x + Tensor(0.75, dtype) * (y * z))
        same(mint.addcdiv(x, y, z, value=0.75), x + Tensor(0.75, dtype) * (y / z))
        same(mint.clamp(x, y, z), ops.minimum(ops.maximum(x, y), z))
        same(mint.clamp(x, -0.5, 1.5), ops.minimum(ops.maximum(x, Tensor(-0.5, dtype)), Tensor(1.5, dtype)))
        same(mint.clamp(x, w, None), ops.maximum(x, w))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_strides_and_broadcasting(dtype):
    x, y = numbers((37, 45), dtype), numbers((45, 37), dtype, 1).T
    row, column = numbers((45,), dtype, 2), numbers((37, 1), dtype, 3)
    same(mint.lerp(x, y, row), x + row * (y - x))
    same(mint.lerp(x[:, ::2], y[:, ::2], column), x[:, ::2] + column * (y[:, ::2] - x[:, ::2]))
    same(mint.clamp(x[1:, 1:], -1.0, row[1:]), ops.minimum(ops.maximum(x[1:, 1:], Tensor(-1.0, dtype)), row[1:]))
    same(mint.addcmul(row, x, y), row + Tensor(1, dtype) * (x * y))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(7,), (5, 3), (2, 5, 33), (2, 3, 4, 5), (1, 4, 1, 1)])
def test_prelu(dtype, shape):
    x = numbers(shape, dtype)
    channels = shape[1] if len(shape) > 1 else shape[0]
    for n in (1, channels):
        w = numbers((n,), dtype, 5, False)
        same(ops.prelu(x, w), steps_of_prelu(x, w))
    with pytest.raises(ValueError, match="one per channel"):
        ops.prelu(x, numbers((channels + 1,), dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_norm(dtype):
    for shape, dim in [((5003,), None), ((200001,), None), ((3, 70000), 1), ((17, 4097), 1), ((31, 5), 0), ((4, 5, 6), (1, 2)), ((3, 1), 1), ((3, 0), 1)]:
        x = numbers(shape, dtype, special=False)
        axes = tuple(range(len(shape))) if dim is None else dim
        same(mint.norm(x, 2, dim), ops.sqrt(ops.ReduceSum()(ops.square(x), axes)))
    assert float(mint.norm(Tensor(np.zeros(9, np.float32)).astype(dtype))) == 0
    assert np.isnan(float(mint.norm(numbers((9,), dtype))))


def test_the_gradient_of_what_is_direct():
    x, y = numbers((65,), ms.float32, 0, False), numbers((65,), ms.float32, 1, False)
    found = ms.grad(lambda a, b: mint.lerp(a, b, 0.25).sum(), (0, 1))(x, y)
    np.testing.assert_allclose(found[0].asnumpy(), 0.75)
    np.testing.assert_allclose(found[1].asnumpy(), 0.25)
    inside = ms.grad(lambda a: mint.clamp(a, -1.0, 1.0).sum())(x).asnumpy()
    np.testing.assert_array_equal(inside, (np.abs(x.asnumpy()) < 1).astype(np.float32))
    np.testing.assert_allclose(ms.grad(lambda a: mint.norm(a))(x).asnumpy(), x.asnumpy() / np.linalg.norm(x.asnumpy()), rtol=2e-6)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_truths_of_half_precision(dtype):
    for n in SIZES:
        x, y = numbers((n,), dtype), ops.round(numbers((n,), dtype, 1))
        y = ops.select(Tensor(np.arange(n) % 3 == 0), x, y) if n else y
        a, b = x.astype(ms.float32).asnumpy(), y.astype(ms.float32).asnumpy()
        with np.errstate(invalid="ignore"):
            wanted = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
        for name, truth in wanted.items():
            np.testing.assert_array_equal(getattr(mint, name)(x, y).asnumpy(), truth)
        for name in ("isnan", "isfinite", "isinf"):
            np.testing.assert_array_equal(getattr(ops, name)(x).asnumpy(), getattr(np, name)(a))
    x = numbers((9, 40), dtype)
    np.testing.assert_array_equal((x[:, ::3] >= x[:, 1::3][:, :1]).asnumpy(), x.astype(ms.float32).asnumpy()[:, ::3] >= x.astype(ms.float32).asnumpy()[:, 1:2])


@pytest.mark.parametrize("kind", [np.int8, np.float16, np.float32, np.int64, np.complex128])
def test_short_rows_and_shifted_copies(kind):
    rng = np.random.RandomState(0)
    x = (rng.standard_normal((40, 33, 3)) * 50).astype(kind)
    t = Tensor(x)
    np.testing.assert_array_equal(t.transpose(1, 0, 2).contiguous().asnumpy(), x.transpose(1, 0, 2))
    np.testing.assert_array_equal(t[:, ::2, :2].contiguous().asnumpy(), x[:, ::2, :2])
    np.testing.assert_array_equal((t + Tensor(x[0, 0])).asnumpy(), x + x[0, 0])
    np.testing.assert_array_equal(ops.cat([t, t[:, :, :1]], 2).asnumpy(), np.concatenate([x, x[:, :, :1]], 2))
    wide = (rng.standard_normal((5, 9001)) * 50).astype(kind)
    for shift in (1, 3, 16, 4000, 9000):
        np.testing.assert_array_equal(mint.roll(Tensor(wide), shift, 1).asnumpy(), np.roll(wide, shift, 1))


def test_the_slope_of_powers():
    x = numbers((33,), ms.float32, 0, False)
    for power in (2, 2.0, 3, 1, 0, 0.5, -1):
        base = ops.abs(x) + 0.5
        found = ms.grad(lambda a: (a ** power).sum())(base).asnumpy()
        np.testing.assert_allclose(found, power * base.asnumpy() ** (power - 1.0), rtol=2e-6)
    assert ms.grad(lambda a: (a ** 0).sum())(Tensor([0.0, 1.0])).asnumpy().tolist() == [0, 0]
    many = ms.grad(lambda a: (a ** Tensor([2.0, 2.0, 0.0])).sum())(Tensor([[3.0, -3.0, 0.0]]))
    assert many.asnumpy().tolist() == [[6, -6, 0]]
    eager = ms.grad(lambda a: (a ** 2).sum())(x).asnumpy()
    graph = ms.jit(ms.grad(lambda a: (a ** 2).sum()))(x).asnumpy()
    assert eager.tobytes() == graph.tobytes()


@pytest.mark.parametrize("shape, size", [((2, 3, 8, 8), 1), ((1, 2, 17, 23), 7), ((1, 1, 5, 9), (3, 2)), ((1, 2, 3, 4), (5, 6))])
def test_the_gradient_of_adaptive_means(shape, size):
    x, rows, columns = np.zeros(shape, np.float64), *(np.atleast_1d(size).repeat(2)[:2] if np.size(size) == 1 else size)
    g = np.random.RandomState(0).standard_normal((*shape[:2], rows, columns))
    wanted = np.zeros(shape)
    for i in range(rows):
        for j in range(columns):
            a, b = i * shape[2] // rows, -(-(i + 1) * shape[2] // rows)
            c, d = j * shape[3] // columns, -(-(j + 1) * shape[3] // columns)
            wanted[:, :, a:b, c:d] += (g[:, :, i, j] / ((b - a) * (d - c)))[:, :, None, None]
    for dtype, close in ((ms.float64, 1e-12), (ms.float32, 1e-6), (ms.float16, 4e-3), (ms.bfloat16, 3e-2)):
        weights = Tensor(g).astype(dtype)
        found = ms.grad(lambda t: (ops.adaptive_avg_pool2d(t, size) * weights).sum())(Tensor(x).astype(dtype))
        np.testing.assert_allclose(found.astype(ms.float64).asnumpy(), wanted, atol=close * 4)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("a, b", [((1, 300), (300, 1)), ((7, 33), (33, 1)), ((1, 33), (33, 7)), ((2, 3, 40), (2, 40, 1)), ((5, 0), (0, 1)), ((1, 1), (1, 1))])
def test_vectors_of_half_precision(dtype, a, b):
    """Widened, summed in float32 and rounded once: k roundings of the sum of magnitudes, and that of the result."""
    x, y = numbers(a, dtype, 0, False), numbers(b, dtype, 1, False)
    wide = x.astype(ms.float64).asnumpy(), y.astype(ms.float64).asnumpy()
    exact, sizes = np.matmul(*wide), np.matmul(*map(np.abs, wide))
    room = a[-1] * 2.0 ** -24 * sizes + (2.0 ** -8 if dtype == ms.bfloat16 else 2.0 ** -11) * np.abs(exact) * 1.001
    assert (np.abs(ops.matmul(x, y).astype(ms.float64).asnumpy() - exact) <= room).all()
    turned = ops.matmul(Tensor(np.ascontiguousarray(np.swapaxes(x.astype(ms.float32).asnumpy(), -1, -2))).astype(dtype).swapaxes(-1, -2), y)
    same(turned, ops.matmul(x, y))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_softmax_of_half_precision_is_float32s_rounded(dtype):
    """Over any axis, in blocks of columns that are narrower for long columns; what is too long for them has its own loop, which is near it."""
    for shape, axis in (((7, 33), -1), ((7, 33), 0), ((2, 5, 3, 17), 1), ((3, 70, 300), 1), ((6000, 65), 0), ((16384, 20), 0), ((4, 2, 1), 1), ((2, 0, 3), 1)):
        x = numbers(shape, dtype, 1, False)
        dout = numbers(shape, dtype, 2, False)
        for name in ("softmax", "log_softmax"):
            attrs = {"axis": (axis,)}
            y = ms._core.apply(name, (x,), attrs)
            same(y, ms._core.apply(name, (x.astype(ms.float32),), attrs).astype(dtype))
            wide = ms._core.apply(name + "_grad", (y.astype(ms.float32), dout.astype(ms.float32)), attrs)
            same(ms._core.apply(name + "_grad", (y, dout), attrs), wide.astype(dtype))
    x = numbers((16400, 2), dtype, 3, False)
    np.testing.assert_allclose(ops.softmax(x, 0).astype(ms.float32).asnumpy(), ops.softmax(x.astype(ms.float32), 0).asnumpy(), rtol=2e-2, atol=1e-7)
