# SPDX-License-Identifier: Apache-2.0
"""vmap: axes in and out, nesting, with gradients, Cells and ensembles."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops

A = np.arange(12, dtype=np.float32).reshape(3, 4)
B = np.arange(4, dtype=np.float32) + 1


def same(found, wanted):
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5)


def dot(x, y):
    return (x * y).sum()


def test_axes():
    same(ms.vmap(dot, (0, None))(Tensor(A), Tensor(B)), A @ B)
    same(ms.vmap(dot, (1, 1))(Tensor(A), Tensor(A)), (A * A).sum(0))
    same(ms.vmap(dot, -1)(Tensor(A), Tensor(A)), (A * A).sum(0))
    same(ms.vmap(lambda x: x * 2, 1, 1)(Tensor(A)), 2 * A)
    same(ms.vmap(lambda x: x * 2, 1, 0)(Tensor(A)), 2 * A.T)
    same(ops.vmap(lambda x: x * 2, 0, -1)(Tensor(A)), 2 * A.T)


def test_several_results():
    first, (second,) = ms.vmap(lambda x: (x.sum(), (x * 2,)), 0, (0, (1,)))(Tensor(A))
    same(first, A.sum(1)), same(second, 2 * A.T)


def test_nested_arguments():
    f = ms.vmap(lambda pair, y: pair[0] * pair[1] + y, ((0, None), 0))
    same(f((Tensor(A), Tensor(B)), Tensor(A)), A * B + A)


def test_nested():
    outer = ms.vmap(ms.vmap(lambda x, y: x * y, (None, 0)), (0, None))
    same(outer(Tensor(B), Tensor(B)), np.outer(B, B))


def test_with_gradients():
    same(ms.vmap(ms.grad(lambda x: (x ** 3).sum()))(Tensor(A)), 3 * A ** 2)
    same(ms.grad(lambda x: ms.vmap(dot, (0, None))(x, Tensor(B)))(Tensor(A)), np.broadcast_to(B, A.shape))
    per_sample = ms.vmap(ms.grad(lambda w, x: (w * x).sum() ** 2), (None, 0))(Tensor(B), Tensor(A))
    same(per_sample, 2 * (A @ B)[:, None] * A)


def test_cells():
    dense = nn.Dense(4, 2, weight_init="ones", bias_init="zeros")
    same(ms.vmap(dense)(Tensor(A[:, None])), np.repeat(A.sum(1)[:, None, None], 2, 2))
    nets = nn.CellList([nn.Dense(4, 1, weight_init=Tensor(np.full((1, 4), i, np.float32)), bias_init="zeros") for i in range(3)])
    same(ms.vmap(nets)(Tensor(A[:, None])), (np.arange(3) * A.sum(1))[:, None, None])


@pytest.mark.parametrize("call, text", [
    (lambda: ms.vmap(3)(Tensor(A)), "int"),
    (lambda: ms.vmap(dot, (0, 0))(Tensor(A)), "number of arguments of 'fn': 1, but got size: 2"),
    (lambda: ms.vmap(lambda x: x, 5)(Tensor(A)), r"axis: 5 in 'in_axes' is out of bounds.*\[-2,2\)"),
    (lambda: ms.vmap(lambda x: x, 0, 3)(Tensor(A)), r"axis: 3 in 'out_axes' is out of bounds.*\[-2,2\)"),
    (lambda: ms.vmap(dot)(Tensor(A), Tensor(B)), "should be equal, but got 3 and 4"),
    (lambda: ms.vmap(lambda x: x, None)(Tensor(A)), "None"),
    (lambda: ms.vmap(lambda x: x, "0")(Tensor(A)), "str"),
    (lambda: ms.vmap(lambda x: x)(ops.zeros((0, 2))), "size 0"),
])
def test_wrong_arguments(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()
