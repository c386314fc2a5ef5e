# SPDX-License-Identifier: Apache-2.0
"""Decompositions of matrices and what is made of them: by their definition, against numpy, and gradients by differences.
MindSpore's own answers are recorded where they are unique (signs of singular vectors are not)."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, mint, ops

RNG = np.random.Generator(np.random.PCG64(8))
SHAPES = [(1, 1), (3, 3), (5, 2), (2, 5), (2, 3, 4), (2, 2, 4, 3)]


def close(got, wanted, tolerance=1e-10):
    np.testing.assert_allclose(got.asnumpy() if isinstance(got, Tensor) else got, wanted, rtol=tolerance, atol=tolerance)


def definite(n, batch=()):
    x = RNG.standard_normal((*batch, n, n))
    return x @ np.swapaxes(x, -1, -2) + np.eye(n)


def check_gradient(f, x, tolerance=1e-5):
    grad = ms.grad(f)(Tensor(x)).asnumpy()
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += 1e-6
        up = float(f(Tensor(moved)))
        moved[i] -= 2e-6
        np.testing.assert_allclose(grad[i], (up - float(f(Tensor(moved)))) / 2e-6, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n, batch", [(1, ()), (4, ()), (3, (2, 2))])
def test_cholesky(n, batch):
    x = definite(n, batch)
    close(ops.cholesky(Tensor(x)), np.linalg.cholesky(x))
    close(Tensor(x).cholesky(True), np.swapaxes(np.linalg.cholesky(x), -1, -2))
    b = RNG.standard_normal((*batch, n, 2))
    for upper in (False, True):
        factor = ops.cholesky(Tensor(x), upper)
        close(ops.cholesky_inverse(factor, upper), np.linalg.inv(x))
        close(ops.cholesky_solve(Tensor(b), factor, upper), np.linalg.solve(x, b))


@pytest.mark.parametrize("upper", [False, True])
def test_gradient_of_cholesky(upper):
    w, eye = Tensor(RNG.standard_normal((3, 3))), Tensor(np.eye(3))
    check_gradient(lambda v: (ops.cholesky(ops.matmul(v, v.T) + eye, upper) * w).sum(), RNG.standard_normal((3, 3)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(shape, mode):
    x = RNG.standard_normal(shape)
    q, r = ops.qr(Tensor(x), mode)
    wanted_q, wanted_r = np.linalg.qr(x, mode)
    close(q, wanted_q), close(r, wanted_r)
    if mode == "reduced":
        close(mint.linalg.qr(Tensor(x), "r")[1], wanted_r)
        close(Tensor(x).qr()[0], wanted_q)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("full", [False, True])
def test_svd(shape, full):
    x = RNG.standard_normal(shape)
    s, u, v = (t.asnumpy() for t in ops.svd(Tensor(x), full))
    k = min(shape[-2:])
    close(s, np.linalg.svd(x, compute_uv=False))
    close(u[..., :k] * s[..., None, :] @ np.swapaxes(v[..., :k], -1, -2), x)
    close(np.swapaxes(u, -1, -2) @ u, np.broadcast_to(np.eye(u.shape[-1]), (*shape[:-2], u.shape[-1], u.shape[-1])))
    close(np.swapaxes(v, -1, -2) @ v, np.broadcast_to(np.eye(v.shape[-1]), (*shape[:-2], v.shape[-1], v.shape[-1])))
    close(Tensor(x).svd(compute_uv=False), s)


@pytest.mark.parametrize("x", [np.zeros((3, 2)), np.ones((4, 4)), np.diag([1.0, 0, 1e-9]), np.diag([1e150, 1e-150])])
def test_svd_of_matrices_without_full_rank(x):
    s, u, v = (t.asnumpy() for t in ops.svd(Tensor(x), True))
    close(s, np.linalg.svd(x, compute_uv=False))
    close(u.T @ u, np.eye(len(u))), close(v.T @ v, np.eye(len(v)))


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-5), ("float16", 5e-3)])
def test_other_precisions(dtype, tolerance):
    x = RNG.standard_normal((4, 3)).astype(dtype)
    s = ops.svd(Tensor(x), compute_uv=False)
    assert s.asnumpy().dtype == dtype
    close(s, np.linalg.svd(x.astype(np.float64), compute_uv=False), tolerance)


@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 5), (2, 3, 4)])
def test_pseudo_inverse_and_least_squares(shape):
    x = RNG.standard_normal(shape)
    close(ops.pinv(Tensor(x)), np.linalg.pinv(x))
    if len(shape) == 2:
        b = RNG.standard_normal((shape[0], 2))
        close(ops.lstsq(Tensor(x), Tensor(b)), np.linalg.lstsq(x, b, rcond=None)[0])
        close(Tensor(x).lstsq(Tensor(b[:, 0])), np.linalg.lstsq(x, b[:, 0], rcond=None)[0])
        w = Tensor(RNG.standard_normal((shape[1], 2)))
        check_gradient(lambda v: (ops.lstsq(v, Tensor(b)) * w).sum(), x)


def test_pinv_takes_small_singular_values_for_zero():
    x = np.diag([1.0, 1e-3])
    close(ops.pinv(Tensor(x), atol=1e-2), np.diag([1.0, 0]))
    close(ops.pinv(Tensor(x), rtol=1e-2), np.diag([1.0, 0]))
    close(ops.pinv(Tensor(x), atol=1e-4), np.diag([1.0, 1e3]))


def test_solve_and_condition():
    a, b = RNG.standard_normal((2, 3, 3)), RNG.standard_normal((2, 3, 2))
    close(ops.matrix_solve(Tensor(a), Tensor(b)), np.linalg.solve(a, b))
    close(ops.matrix_solve(Tensor(a), Tensor(b), True), np.linalg.solve(np.swapaxes(a, -1, -2), b))
    for p in (None, 2, -2, "fro", 1, float("inf")):
        close(ops.cond(Tensor(a[0]), p), np.linalg.cond(a[0], p))


def test_as_mindspore_answers():
    r = Tensor([[0.4105985164642334, 0.14404356479644775, 1.4542734622955322], [0.7610377073287964, 0.12167501449584961, 0.44386324286460876],
                [0.3336743414402008, 1.4940791130065918, -0.2051582634449005], [0.3130677044391632, -0.8540957570075989, -2.5529897212982178]])
    close(ops.svd(r)[0], [3.0937, 1.5441, 0.9332], 1e-4)
    close(ops.qr(r)[0][0], [-0.4197, -0.0120, 0.5331], 1e-3)
    close(ms.grad(lambda x: ops.svd(x)[0].sum())(r)[0], [0.4386, -0.0940, 0.5091], 1e-3)


@pytest.mark.parametrize("call, error, words", [
    (lambda: ops.cholesky(Tensor([[-1.0]])), RuntimeError, "positive definite"),
    (lambda: ops.cholesky(Tensor([[4.0, 0.0], [2.0, 5.0]])), RuntimeError, "symmetric"),
    (lambda: ops.cholesky(Tensor([[1.0, 2.0]])), ValueError, "equal"),
    (lambda: ops.qr(Tensor([1.0])), ValueError, "2 dimensions"),
    (lambda: ops.qr(Tensor([[1.0]]), "thin"), ValueError, "'thin'"),
    (lambda: ops.svd([[1.0]]), TypeError, "Tensor"),
    (lambda: ops.svd(Tensor([[float("nan")]])), ValueError, "not finite"),
    (lambda: ms.grad(lambda x: ops.qr(x)[0].sum())(Tensor([[1.0, 2.0]])), RuntimeError, "no gradient"),
    (lambda: ops.matrix_solve(Tensor([[0.0]]), Tensor([[1.0]])), ValueError, "singular"),
])
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
