# SPDX-License-Identifier: Apache-2.0
"""Sparse Tensors: made, converted, computed with, differentiated; wrong parts are refused."""
import numpy as np
import pytest

import spore as ms
from spore import COOTensor, CSRTensor, RowTensor, Tensor, ops


def random_matrix(seed, shape=(5, 7)):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=shape).astype(np.float32)
    dense[rng.random(shape) < 0.6] = 0
    return dense


@pytest.mark.parametrize("seed", range(4))
def test_conversions_keep_the_matrix(seed):
    dense = random_matrix(seed)
    coo, csr = Tensor(dense).to_coo(), Tensor(dense).to_csr()
    for sparse in (coo, csr, coo.to_csr(), csr.to_coo()):
        np.testing.assert_array_equal(sparse.to_dense().asnumpy(), dense)
        assert sparse.size == np.count_nonzero(dense) and sparse.shape == dense.shape


@pytest.mark.parametrize("seed", range(4))
def test_arithmetic_is_that_of_matrices(seed):
    a, b = random_matrix(seed), random_matrix(seed + 10)
    other = np.random.default_rng(seed).normal(size=(7, 3)).astype(np.float32)
    x, y = Tensor(a).to_csr(), Tensor(b).to_csr()
    np.testing.assert_allclose(x.mm(Tensor(other)).asnumpy(), a @ other, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(x.mm(Tensor(b.T.copy()).to_csr()).to_dense().asnumpy(), a @ b.T, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose((x + y).to_dense().asnumpy(), a + b, rtol=1e-6)
    np.testing.assert_allclose((x - y).to_dense().asnumpy(), a - b, rtol=1e-6)
    np.testing.assert_allclose((x * Tensor(b)).to_dense().asnumpy(), a * b, rtol=1e-6)
    np.testing.assert_allclose(x.sum(1).asnumpy()[:, 0], a.sum(1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose((Tensor(a).to_coo() + Tensor(b).to_coo()).to_dense().asnumpy(), a + b, rtol=1e-6)
    np.testing.assert_allclose(ops.csr_sin(x).to_dense().asnumpy(), np.sin(a), rtol=1e-5)


def test_places_given_twice_are_added():
    twice = COOTensor(Tensor([[1, 0], [0, 1], [1, 0]]), Tensor([1.0, 2.0, 3.0]), (2, 2))
    once = twice.coalesce()
    assert once.indices.tolist() == [[0, 1], [1, 0]] and once.values.tolist() == [2.0, 4.0]


def test_softmax_is_by_row_and_over_kept_values():
    x = CSRTensor(Tensor([0, 2, 3], ms.int32), Tensor([0, 2, 1], ms.int32), Tensor([1.0, 2.0, 5.0]), (2, 3))
    got = ops.csr_softmax(x, ms.float32).values.asnumpy()
    np.testing.assert_allclose(got, [1 / (1 + np.e), np.e / (1 + np.e), 1], rtol=1e-6)


def test_gradients_reach_the_values():
    indices, right = Tensor([[0, 1], [1, 0]], ms.int32), Tensor([[3.0], [5.0]])
    rows, columns = Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32)
    dense = ms.grad(lambda v: (COOTensor(indices, v, (2, 2)).to_dense() * Tensor([[1.0, 2.0], [3.0, 4.0]])).sum())(Tensor([1.0, 1.0]))
    assert dense.tolist() == [2.0, 3.0]
    product = ms.grad(lambda v: CSRTensor(rows, columns, v, (2, 2)).mv(right).sum())(Tensor([1.0, 1.0]))
    assert product.tolist() == [5.0, 3.0]


def test_text_is_that_of_mindspore():
    x = COOTensor(Tensor([[0, 1], [1, 2]], ms.int32), Tensor([1.0, 2.0]), (3, 4))
    assert str(x) == ("COOTensor(shape=[3, 4], dtype=Float32, indices=Tensor(shape=[2, 2], dtype=Int32, value=\n[[0 1]\n [1 2]]), "
                      "values=Tensor(shape=[2], dtype=Float32, value=[ 1.00000000e+00  2.00000000e+00]))")


def test_wrong_parts_are_refused():
    i, v = Tensor([[0, 1], [1, 2]], ms.int32), Tensor([1.0, 2.0])
    for make, error in ((lambda: COOTensor(i, v, [3, 4]), TypeError), (lambda: COOTensor(i, v), TypeError),
                        (lambda: COOTensor(i, Tensor([1.0]), (3, 4)), ValueError), (lambda: COOTensor(v, v, (3,)), ValueError),
                        (lambda: CSRTensor(Tensor([0, 1]), Tensor([1]), v, (1, 2)), ValueError),
                        (lambda: CSRTensor(Tensor([0, 1, 2]), Tensor([1]), Tensor([1.0]), (1, 2)), ValueError),
                        (lambda: RowTensor(Tensor([0, 1]), Tensor([[1.0]]), (3, 1)), ValueError),
                        (lambda: v.to_coo().to_csr(), ValueError), (lambda: ops.csr_mv(v, v), TypeError)):
        with pytest.raises(error):
            make()
