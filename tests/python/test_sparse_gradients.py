# SPDX-License-Identifier: Apache-2.0
"""Gradients with respect to sparse Tensors: sparse Tensors of the same places, eager and compiled, in every way of asking."""
import numpy as np
import pytest

import spore as ms
from spore import COOTensor, CSRTensor, RowTensor, Tensor

DENSE = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4) / 5 + 1)
VALUES = Tensor([1.0, 2.0])
MAKE = {
    "COO": lambda: COOTensor(Tensor([[0, 1], [1, 2]], ms.int32), VALUES, (3, 4)),
    "CSR": lambda: CSRTensor(Tensor([0, 1, 2, 2], ms.int32), Tensor([1, 2], ms.int32), VALUES, (3, 4)),
}
WANTED = np.array([1.2, 2.2], np.float32)       # of DENSE at the places


def weighed(x):
    return (x.to_dense() * DENSE).sum()


@pytest.mark.parametrize("kind", sorted(MAKE))
@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_an_argument(kind, wrap):
    x = MAKE[kind]()
    found = wrap(ms.grad(weighed))(x)
    assert type(found) is type(x) and found.shape == x.shape
    np.testing.assert_array_equal(found.indices.asnumpy(), x.indices.asnumpy())
    np.testing.assert_allclose(found.values.asnumpy(), WANTED)


@pytest.mark.parametrize("kind", sorted(MAKE))
def test_value_and_other_arguments(kind):
    value, (first, second) = ms.value_and_grad(lambda x, y: (x.values * y).sum(), (0, 1))(MAKE[kind](), Tensor([3.0, 4.0]))
    assert float(value) == 11
    np.testing.assert_allclose(first.values.asnumpy(), [3, 4])
    np.testing.assert_allclose(second.asnumpy(), [1, 2])


def test_rows():
    x = RowTensor(Tensor([0, 2], ms.int32), DENSE[:2], (3, 4))
    found = ms.grad(lambda r: (r.values ** 2).sum())(x)
    assert type(found) is RowTensor
    np.testing.assert_allclose(found.values.asnumpy(), 2 * DENSE[:2].asnumpy())


@pytest.mark.parametrize("kind", sorted(MAKE))
def test_a_sparse_result(kind):
    """What is differentiated may be sparse: the sum of its values."""
    found = ms.grad(lambda x: x.astype(ms.float32) * DENSE)(MAKE[kind]())
    np.testing.assert_allclose(found.values.asnumpy(), WANTED)
