# SPDX-License-Identifier: Apache-2.0
"""x[index] and x[index] = value against numpy, and where MindSpore differs from it."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
INDICES = [0, -1, None, Ellipsis, (), slice(None), slice(1, None), (slice(None), 1), slice(None, None, -1),
           (slice(None), slice(None, None, 2)), (slice(0, 1), Ellipsis, None), (0, 0, 0), slice(5, None), slice(1, 0),
           (slice(None), slice(3, 1, -1)), (Ellipsis, 0), (None, slice(None), None, 0), (0, 1), slice(-10,
               10), slice(-1, None),
           (Ellipsis, slice(None, None, -2)), (1, None, Ellipsis, 2)]
SELECTORS = [[0, 1], ([0, 1], [1, 2]), (slice(None), [0, 2]), ([0, 1], slice(None), [1, 2]), (0, slice(None), [1, 2]),
             np.array([1, 0]), np.array([True, False]), X > 5, (slice(None),
                                                                np.array([True, False, True])), (np.array([0, 1]), 1),
             (np.array([[0, 1], [1, 0]]), slice(1, None), np.array([0, 1])), (np.array([0, 1]), None),
             (1, np.array([0]), None, Ellipsis), np.array([-1]), (slice(None), 0, np.array([1, 3])), (Ellipsis,
                 np.array([0, 3]))]


def to_tensors(index):
    if isinstance(index, tuple):
        return tuple(to_tensors(i) for i in index)
    return Tensor(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("index", INDICES + SELECTORS, ids=str)
def test_get(index):
    for form in (index, to_tensors(index)):
        got = Tensor(X)[form]
        assert got.shape == X[index].shape
        np.testing.assert_array_equal(got.asnumpy(), X[index])


@pytest.mark.parametrize("index", INDICES + SELECTORS, ids=str)
def test_set_number(index):
    want = X.copy()
    want[index] = -1
    x = Tensor(X)
    x[to_tensors(index)] = -1
    np.testing.assert_array_equal(x.asnumpy(), want)


@pytest.mark.parametrize("index", INDICES + SELECTORS, ids=str)
def test_set_tensor(index):
    want = X.copy()
    value = np.arange(want[index].size, dtype=np.float32).reshape(want[index].shape) * -1
    want[index] = value
    x = Tensor(X)
    x[to_tensors(index)] = Tensor(value)
    np.testing.assert_array_equal(x.asnumpy(), want)


def test_geometry_shares_memory():
    x = Tensor(X)
    row = x[0]
    row[1] = 100
    assert x[0, 1].tolist() == [100] * 4
    x[0][2] = 5
    assert x[0, 2].tolist() == [5] * 4


def test_overlapping_assignment():
    x = Tensor([1, 2, 3, 4])
    x[1:] = x[:-1]
    assert x.tolist() == [1, 1, 2, 3]


def test_bools_add_a_dimension():
    x = Tensor(X)
    assert x[True].shape == (1, 2, 3, 4) and x[:, None, True].shape == (2, 1, 1, 3, 4) and x[Tensor(True)].shape == (1,
        2, 3, 4)
    with pytest.raises(IndexError):
        x[False]
    x[False] = 0
    np.testing.assert_array_equal(x.asnumpy(), X)


def test_a_list_with_anything_but_numbers_is_a_tuple():
    x = Tensor(X)
    assert x[[[0, 1], [1, 0]]].shape == (2, 4)
    assert x[[slice(0, 1)]].shape == (1, 3, 4) and x[[None, 0]].shape == (1, 3, 4)


def test_other_integers():
    x = Tensor(X)
    assert x[Tensor(1)].shape == x[np.int64(1)].shape == (3, 4)
    assert x[range(2)].shape == (2, 3, 4) and x[1:Tensor(2)].shape == (1, 3, 4)


@pytest.mark.parametrize("index", [2, -3, (0, 0, 0, 0), (Ellipsis, Ellipsis), [], 1.0, "a", (0, 7), 2 ** 70])
def test_wrong_indices(index):
    x = Tensor(X)
    with pytest.raises(IndexError):
        x[index]
    if index == []:  # MindSpore refuses to read it and writes nothing
        x[index] = 1
        assert np.array_equal(x.asnumpy(), X)
        return
    with pytest.raises(IndexError):
        x[index] = 1


@pytest.mark.parametrize("index, error", [
    (lambda: Tensor([0.5]), IndexError), (lambda: Tensor([2]), RuntimeError), (lambda: Tensor([1, 0], ms.uint8),
        IndexError),
    (lambda: Tensor([True, False, True]), ValueError), (lambda: slice(0, 2, 0), ValueError)])
def test_wrong_tensors(index, error):
    with pytest.raises(error):
        Tensor(X)[index()]


@pytest.mark.parametrize("value, error", [("a", TypeError), (None, TypeError), (1j, TypeError), ([1, 2], ValueError)])
def test_wrong_values(value, error):
    x = Tensor(X)
    with pytest.raises(error):
        x[0, 0] = value
    np.testing.assert_array_equal(x.asnumpy(), X)


def test_values_are_converted():
    v = Tensor([1, 2, 3])
    v[0] = 1.7
    v[1] = True
    v[2] = Tensor(5.9)
    assert v.tolist() == [1, 1, 5] and v.dtype == ms.int64


def test_scalar_tensor():
    s = Tensor(3.0)
    assert s[...].tolist() == 3.0 and s[None].shape == (1,) and s[()].tolist() == 3.0
    s[...] = 4
    assert s.tolist() == 4.0
    with pytest.raises(TypeError):
        s[0]


def test_gradient_goes_through_geometry_and_selection():
    def f(x):
        return (x[1:, ::2] * 2).sum() + x[[0, 0], [1, 1]].sum() + x[:, None, -1].sum()
    grad = ms.grad(f)(Tensor(np.ones((3, 4), np.float32)))
    want = np.zeros((3, 4), np.float32)
    want[1:, ::2] += 2
    want[0, 1] += 2
    want[:, -1] += 1
    np.testing.assert_array_equal(grad.asnumpy(), want)


def test_gradient_goes_through_assignment():
    def f(x, y):
        x = x * 1
        x[1] = y
        return (x * x).sum()
    gx, gy = ms.grad(f, (0, 1))(Tensor([1.0, 2.0, 3.0]), Tensor(5.0))
    assert gx.tolist() == [2, 0, 6] and gy.tolist() == 10


@pytest.mark.parametrize("index", [(slice(None), [0, 2]), ([1, 0], 1), (slice(1, None), [1]),
                                   (None, [0], slice(None, None, 2)),
                                   np.array([[True, False, True], [False, True, False]])], ids=str)
def test_gradient_goes_through_selective_assignment(index):
    start = np.arange(6, dtype=np.float32).reshape(2, 3)
    value = start[index] * 0 + 7

    def f(x, v):
        x = x * 1
        x[to_tensors(index)] = v
        return (x * x).sum()
    gx, gv = ms.grad(f, (0, 1))(Tensor(start), Tensor(value))
    want = 2 * start
    want[index] = 0
    np.testing.assert_array_equal(gx.asnumpy(), want)
    np.testing.assert_array_equal(gv.asnumpy(), 2 * value)
