# SPDX-License-Identifier: Apache-2.0
"""spore.scipy: factors give back the matrix, solutions solve, transforms are undone, minima are found."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, ops
from spore.scipy import fft, linalg, optimize


def matrix(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_factors_make_the_matrix(n):
    a = matrix(n, n, n)
    p, lower, upper = (t.asnumpy() for t in linalg.lu(Tensor(a)))
    np.testing.assert_allclose(p @ lower @ upper, a, atol=1e-12)
    assert np.allclose(np.tril(lower), lower) and np.allclose(np.triu(upper), upper)
    symmetric = a + a.T
    values, vectors = (t.asnumpy() for t in linalg.eigh(Tensor(symmetric)))
    np.testing.assert_allclose(vectors @ np.diag(values) @ vectors.T, symmetric, atol=1e-12)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(symmetric), atol=1e-12)
    roots, columns = (t.asnumpy() for t in ops.eig(Tensor(a)))
    np.testing.assert_allclose(a @ columns, columns * roots, atol=1e-10)


@pytest.mark.parametrize("trans", [0, 1])
def test_solutions_solve(trans):
    a, b = matrix(1, 4, 4), matrix(2, 4, 3)
    whole = a.T if trans else a
    x = linalg.lu_solve(linalg.lu_factor(Tensor(a)), Tensor(b), trans)
    np.testing.assert_allclose(whole @ x.asnumpy(), b, atol=1e-10)
    x = linalg.solve_triangular(Tensor(a), Tensor(b[:, 0].copy()), trans, lower=True)
    np.testing.assert_allclose((np.tril(a).T if trans else np.tril(a)) @ x.asnumpy(), b[:, 0], atol=1e-10)
    spd = a @ a.T + np.eye(4)
    x = linalg.cho_solve(linalg.cho_factor(Tensor(spd)), Tensor(b))
    np.testing.assert_allclose(spd @ x.asnumpy(), b, atol=1e-10)


def test_eigh_has_the_gradient_of_its_values():
    a = matrix(3, 4, 4)
    a = a + a.T
    values = ms.grad(lambda x: (linalg.eigh(x, eigvals_only=True) * Tensor([1.0, 2.0, 3.0, 4.0], ms.float64)).sum())(Tensor(a)).asnumpy()
    for i, j in ((0, 0), (1, 2)):
        step = np.zeros((4, 4))
        step[i, j] = step[j, i] = 1e-6
        up, down = (np.linalg.eigvalsh(a + s * step) @ [1, 2, 3, 4] for s in (1, -1))
        assert abs((up - down) / 2e-6 - (values[i, j] + values[j, i] * (i != j))) < 1e-6


def test_cosine_transforms_are_undone():
    x = Tensor(matrix(4, 3, 5))
    np.testing.assert_allclose(fft.idct(fft.dct(x)).asnumpy(), x.asnumpy(), atol=1e-12)
    np.testing.assert_allclose(fft.idctn(fft.dctn(x)).asnumpy(), x.asnumpy(), atol=1e-12)


@pytest.mark.parametrize("method", ["BFGS", "LBFGS"])
def test_minimize_finds_the_valley(method):
    def rosenbrock(p):
        return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
    found = optimize.minimize(rosenbrock, Tensor([-1.0, 1.0], ms.float64), method=method, options={"gtol": 1e-6})
    assert found.success
    np.testing.assert_allclose(found.x.asnumpy(), [1, 1], atol=1e-4)


@pytest.mark.parametrize("shape", [(4, 4), (3, 6), (6, 3)])
def test_the_cheapest_assignment(shape):
    from itertools import permutations
    costs = matrix(5, *shape)
    rows, columns = (t.asnumpy() for t in optimize.linear_sum_assignment(Tensor(costs)))
    small = costs if shape[0] <= shape[1] else costs.T
    best = min(sum(small[i, j] for i, j in enumerate(order)) for order in permutations(range(small.shape[1]), small.shape[0]))
    assert abs(costs[rows, columns].sum() - best) < 1e-12


def test_wrong_arguments_are_refused():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    for call, error in ((lambda: linalg.inv([1]), TypeError), (lambda: linalg.inv(Tensor([[float("nan")]])), ValueError),
                        (lambda: linalg.eigh(x, x), ValueError), (lambda: fft.dct(x, 3), ValueError),
                        (lambda: optimize.minimize(lambda p: p, x, method="Newton"), ValueError),
                        (lambda: ops.solve_triangular(x, x, 5), ValueError), (lambda: ops.lu_unpack(x, Tensor([3, 1])), ValueError)):
        with pytest.raises(error):
            call()
