# SPDX-License-Identifier: Apache-2.0
"""Array functions against numpy: many shapes by one loop, then the cases numpy does not know."""
import copy
import pickle

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, mint, ops

RNG = np.random.default_rng(5)
A = RNG.standard_normal((2, 3, 4)).astype(np.float32)
B = RNG.standard_normal((2, 3, 4)).astype(np.float32)
M = RNG.standard_normal((3, 4)).astype(np.float32)
V = np.arange(6)


def same(got, wanted):
    if isinstance(wanted, (tuple, list)):
        assert isinstance(got, tuple) and len(got) == len(wanted)
        for g, w in zip(got, wanted):
            same(g, w)
        return
    wanted = np.asarray(wanted)
    assert got.shape == wanted.shape
    assert got.asnumpy().dtype == wanted.dtype
    np.testing.assert_array_equal(got.asnumpy(), wanted)


T = Tensor
CASES = {
    "concat": lambda: (ops.concat((T(A), T(B)), 1), np.concatenate((A, B), 1)),
    "cat last": lambda: (ops.cat([T(A), T(B)], -1), np.concatenate((A, B), -1)),
    "stack": lambda: (ops.stack((T(A), T(B)), 2), np.stack((A, B), 2)),
    "stack scalars": lambda: (ops.stack((T(1.0), T(2.0))), np.array([1, 2], np.float32)),
    "many inputs": lambda: (ops.concat([T(M)] * 40), np.concatenate([M] * 40)),
    "split": lambda: (ops.split(T(A), 3, 2), (A[..., :3], A[..., 3:])),
    "tensor_split": lambda: (ops.tensor_split(T(V), (1, 4, 9)), np.array_split(V, [1, 4, 9])),
    "tensor_split even": lambda: (ops.tensor_split(T(V), 4), np.array_split(V, 4)),
    "unstack": lambda: (ops.unstack(T(A), 1), [A[:, i] for i in range(3)]),
    "tile": lambda: (ops.tile(T(M), (2, 3, 1)), np.tile(M, (2, 3, 1))),
    "tile rank 5": lambda: (ops.tile(T(A.reshape(1, 2, 3, 2, 2)), (2, 1, 3, 1, 2)),
                            np.tile(A.reshape(1, 2, 3, 2, 2), (2, 1, 3, 1, 2))),
    "repeat_interleave": lambda: (ops.repeat_interleave(T(A), 3, 1), np.repeat(A, 3, 1)),
    "repeat by counts": lambda: (ops.repeat_interleave(T(A), [2, 0, 1], 1), np.repeat(A, [2, 0, 1], 1)),
    "flip": lambda: (ops.flip(T(A), (0, 2)), np.flip(A, (0, 2))),
    "roll": lambda: (ops.roll(T(A), (1, -2), (0, 2)), np.roll(A, (1, -2), (0, 2))),
    "roll flat": lambda: (ops.roll(T(A), 5), np.roll(A, 5)),
    "rot90 1": lambda: (ops.rot90(T(A), 1, (0, 2)), np.rot90(A, 1, (0, 2))),
    "rot90 -1": lambda: (ops.rot90(T(A), -1, (1, 2)), np.rot90(A, -1, (1, 2))),
    "moveaxis": lambda: (ops.moveaxis(T(A), (0, 1), (2, 0)), np.moveaxis(A, (0, 1), (2, 0))),
    "swapaxes": lambda: (T(A).swapaxes(0, -1), A.swapaxes(0, -1)),
    "tril": lambda: (ops.tril(T(A), 1), np.tril(A, 1)),
    "triu": lambda: (ops.triu(T(A), -1), np.triu(A, -1)),
    "tril farthest": lambda: (ops.tril(T(A), 2 ** 63 - 1), A),
    "triu farthest": lambda: (ops.triu(T(A), 2 ** 63 - 1), 0 * A),
    "tril farthest below": lambda: (ops.tril(T(A), 1 - 2 ** 63), 0 * A),
    "triu farthest below": lambda: (ops.triu(T(A), 1 - 2 ** 63), A),
    "diagonal": lambda: (ops.diagonal(T(A), 1, 1, 2), np.diagonal(A, 1, 1, 2)),
    "diagflat": lambda: (ops.diagflat(T(V), -1), np.diagflat(V, -1)),
    "meshgrid": lambda: (ops.meshgrid(T(V), T(V[:2]), T(V[:3])), np.meshgrid(V, V[:2], V[:3])),
    "pad": lambda: (ops.pad(T(A), (1, 2, 0, 3), value=1.5), np.pad(A, ((0, 0), (0, 3), (1, 2)), constant_values=1.5)),
    "pad reflect": lambda: (ops.pad(T(A), (2, 1), "reflect"), np.pad(A, ((0, 0), (0, 0), (2, 1)), "reflect")),
    "pad replicate": lambda: (ops.pad(T(A), (5, 1, 2, 0), "replicate"), np.pad(A, ((0, 0), (2, 0), (5, 1)), "edge")),
    "pad circular": lambda: (ops.pad(T(A), (2, 3), "circular"), np.pad(A, ((0, 0), (0, 0), (2, 3)), "wrap")),
    "mirror pad": lambda: (ops.MirrorPad("SYMMETRIC")(T(M), ((1, 2), (3, 0))),
                           np.pad(M, ((1, 2), (3, 0)), "symmetric")),
    "gather": lambda: (ops.gather(T(A), T([[2, 0], [1, -1]]), 1), np.take(A, [[2, 0], [1, 2]], 1)),
    "gather_elements": lambda: (ops.gather_elements(T(A), 2, T(np.argsort(A, 2))), np.sort(A, 2)),
    "gather_nd": lambda: (ops.gather_nd(T(A), T([[0, 1], [1, 2]])), A[[0, 1], [1, 2]]),
    "where": lambda: (ops.where(T(A) > 0, T(A), 0.0), np.where(A > 0, A, np.float32(0))),
    "nonzero": lambda: (ops.nonzero(T(A > 0)), np.argwhere(A > 0)),
    "nonzero tuple": lambda: (ops.nonzero(T(A > 0), as_tuple=True), np.nonzero(A > 0)),
    "masked_select": lambda: (ops.masked_select(T(A), T(M > 0)), A[np.broadcast_to(M > 0, A.shape)]),
    "sort": lambda: (ops.sort(T(A), 1, True)[0], -np.sort(-A, 1)),
    "argsort": lambda: (mint.argsort(T(A), 0), np.argsort(A, 0, kind="stable")),
    "searchsorted": lambda: (ops.searchsorted(T(V), T([2, 9, -1]), right=True),
                             np.searchsorted(V, [2, 9, -1], "right")),
    "unique": lambda: (mint.unique(T([3, 1, 3, 2]), return_inverse=True, return_counts=True),
                       np.unique([3, 1, 3, 2], return_inverse=True, return_counts=True)),
    "unique rows": lambda: (mint.unique(T([[1, 2], [1, 2], [0, 5]]), dim=0),
                            np.unique([[1, 2], [1, 2], [0, 5]], axis=0)),
    "arange": lambda: (ops.arange(7, 0, -2), np.arange(7, 0, -2)),
    "eye": lambda: (ops.eye(3, 5, ms.float64), np.eye(3, 5)),
    "tril_indices": lambda: (ops.tril_indices(3, 4, 1), np.stack(np.tril_indices(3, 1, 4))),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_numpy(name):
    same(*CASES[name]())


def test_topk_is_sorted_and_finds_positions():
    x = RNG.permutation(1000).astype(np.float32)
    values, places = ops.topk(T(x), 5)
    assert values.asnumpy().tolist() == [999, 998, 997, 996, 995]
    assert places.dtype == ms.int32
    np.testing.assert_array_equal(x[places.asnumpy()], values.asnumpy())
    small, _ = ops.topk(T(x), 300, largest=False)
    assert small.asnumpy().tolist() == list(range(300))


def test_sort_is_stable_and_puts_nan_last():
    x = T(np.array([2, np.nan, 1, 2, 1], np.float32))
    values, places = ops.sort(x)
    assert places.asnumpy().tolist() == [2, 4, 0, 3, 1]
    assert np.isnan(values.asnumpy()[-1])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape, axis", [((100_001,), 0), ((70_000, 2), 0), ((3, 700), 1)])
def test_long_rows_are_sorted_as_numpy_sorts(dtype, shape, axis):
    x = (RNG.standard_normal(shape) * 100).astype(dtype)
    if x.dtype.kind == "f":
        x.flat[::7], x.flat[1::7], x.flat[2::7], x.flat[3::7] = np.nan, -0.0, 0.0, -np.inf
    values, places = ops.sort(T(x), axis)
    np.testing.assert_array_equal(places.asnumpy(), np.argsort(x, axis, kind="stable"))
    # Not np.sort's default: numpy 2.4's AVX-512 quicksort of float16 misplaces infinities among NaNs.
    np.testing.assert_array_equal(values.asnumpy(), np.sort(x, axis, kind="stable"))
    flipped = np.flip(x, axis)
    down = x.shape[axis] - 1 - np.flip(np.argsort(flipped, axis, kind="stable"), axis)
    _, places = ops.sort(T(x), axis, True)
    np.testing.assert_array_equal(places.asnumpy(), down)
    for k in (3, 300):
        _, places = ops.topk(T(x), k, axis)
        np.testing.assert_array_equal(places.asnumpy(), np.take(down, range(k), axis))


@pytest.mark.parametrize("n", [0, 1, 1000, 100_001])
def test_unique_of_many_as_numpy_finds_them(n):
    x = RNG.integers(-300, 300, n)
    wanted, at, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    got = mint.unique(T(x), return_inverse=True, return_counts=True)
    for g, w in zip(got, (wanted, inverse, counts)):
        np.testing.assert_array_equal(g.asnumpy(), w)
    by_place = np.argsort(at)
    values, places = ops.unique(T(x))
    np.testing.assert_array_equal(values.asnumpy(), wanted[by_place])
    np.testing.assert_array_equal(values.asnumpy()[places.asnumpy()], x)
    runs, lengths = ops.unique_consecutive(T(x), return_counts=True)
    starts = np.flatnonzero(np.r_[True, x[1:] != x[:-1]][:n])
    np.testing.assert_array_equal(runs.asnumpy(), x[starts])
    np.testing.assert_array_equal(lengths.asnumpy(), np.diff(np.r_[starts, n]))


def test_gather_with_batches():
    x = RNG.standard_normal((2, 3, 4, 5)).astype(np.float32)
    i = RNG.integers(0, 4, (2, 3, 6))
    got = ops.gather(T(x), T(i), 2, 2)
    same(got, np.stack([[x[a, b][i[a, b]] for b in range(3)] for a in range(2)]))


def test_tensor_scatter_combines_repeated_positions():
    x = T(np.ones(4, np.float32))
    at = T([[1], [1], [3]])
    u = T(np.array([2, 3, 4], np.float32))
    for name, wanted in (("add", [1, 6, 1, 5]), ("sub", [1, -4, 1, -3]), ("mul", [1, 6, 1, 4]), ("max", [1, 3, 1, 4]),
                         ("min", [1, 1, 1, 1]), ("update", [1, 3, 1, 4])):
        assert getattr(ops, "tensor_scatter_" + name)(x, at, u).asnumpy().tolist() == wanted, name
    assert x.asnumpy().tolist() == [1, 1, 1, 1]


def test_scatter_writes_a_parameter_in_place():
    p = Parameter(T(np.zeros((3, 2), np.float32)), name="p")
    out = ops.ScatterAdd()(p, T([0, 2, 0]), T(np.ones((3, 2), np.float32)))
    assert p.asnumpy().tolist() == [[2, 2], [0, 0], [1, 1]]
    assert out.asnumpy().tolist() == p.asnumpy().tolist()
    ops.ScatterNdUpdate()(p, T([[1, 1]]), T(np.array([7], np.float32)))
    assert p.asnumpy()[1, 1] == 7
    ops.assign(p, ops.ones_like(p))
    ops.assign_sub(p, ops.full_like(p, 3))
    assert p.asnumpy().tolist() == [[-2, -2]] * 3


def test_in_place_methods():
    x = T(np.zeros((2, 3), np.float32))
    assert x.fill_(2) is x
    x.index_add_(1, T([0, 0]), T(np.ones((2, 2), np.float32)), alpha=2)
    x.masked_fill_(x > 5, -1)
    x.index_put_((T([0]), T([2])), T(np.array([9], np.float32)))
    x.scatter_(1, T([[1], [1]]), 4.0)
    assert x.asnumpy().tolist() == [[-1, 4, 9], [-1, 4, 2]]


def test_gradient_of_a_mixture():
    def f(x, y):
        z = ops.concat((ops.pad(x, (1, 1), "reflect"), ops.tile(y, (1, 1))), 0)
        top, _ = ops.topk(z, 2)
        picked = ops.gather(z, T([0, 0, 1]), 0)
        return (top * top).sum() + (picked * ops.arange(15, dtype=ms.float32).reshape(3, 5)).sum()
    x, y = RNG.standard_normal((1, 3)).astype(np.float32), RNG.standard_normal((1, 5)).astype(np.float32)
    gx, gy = ms.grad(f, (0, 1))(T(x), T(y))

    def n(a, b):
        return float(f(T(a.astype(np.float64)), T(b.astype(np.float64))).asnumpy())
    for array, got, at in ((x, gx, 0), (y, gy, 1)):
        for i in np.ndindex(array.shape):
            parts = []
            for sign in (1, -1):
                moved = [x.astype(np.float64), y.astype(np.float64)]
                moved[at][i] += sign * 1e-6
                parts.append(n(*moved))
            assert abs((parts[0] - parts[1]) / 2e-6 - got.asnumpy()[i]) < 1e-2


def test_second_gradient_through_index():
    def f(x):
        return (x[T([0, 2, 0])] ** 3).sum()
    x = T(np.array([1., 2., 3.], np.float32))
    second = ms.grad(lambda v: ms.grad(f)(v).sum())(x)
    np.testing.assert_allclose(second.asnumpy(), [12, 0, 18])


def test_transpose_of_two_numbers_exchanges_and_of_a_tuple_permutes():
    x = T(M)
    assert x.transpose(0, 1).shape == (4, 3) and x.transpose((0, 1)).shape == (3, 4)
    assert x.transpose().shape == (4, 3) and T(A).transpose(0, -1).shape == (4, 3, 2)
    assert T(A).transpose(2, 0, 1).shape == (4, 2, 3)


def test_primitives_keep_their_arguments():
    p = ops.StridedSlice(shrink_axis_mask=1)
    assert p.shrink_axis_mask == 1 and p.begin_mask == 0
    for q in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert q(T(M), (1, 0), (2, 4), (1, 2)).asnumpy().tolist() == M[1, ::2].tolist()
    assert ops.Split(1, 2).output_num == 2
    assert ops.OneHot(axis=0)(T([0, 2]), 3, T(1.0), T(0.0)).asnumpy().tolist() == [[1, 0], [0, 0], [0, 1]]
    assert repr(ops.Concat(1)).startswith("Prim[Concat]")


@pytest.mark.parametrize("call, kind, text", [
    (lambda: ops.concat((T(A), T(M))), ValueError, "cannot be joined"),
    (lambda: ops.gather(T(M), T([3]), 0), RuntimeError, "index 3 is out of range for dimension 0 of size 3"),
    (lambda: ops.topk(T(M), 9), ValueError, "k is 9"),
    (lambda: ops.split(T(M), [1, 1], 0), ValueError, "dimension 0 has 3"),
    (lambda: ops.pad(T(M), (4, 0), "reflect"), ValueError, "too much"),
    (lambda: ops.one_hot(T([0.5]), 2), TypeError, "must be integers"),
    (lambda: ops.assign(Parameter(T(M)), T(V)), ValueError, r"shape \(6,\)"),
    (lambda: ops.tensor_scatter_add(T(M), T([[0]]), T([1.0])), ValueError, r"must have shape \(1, 4\)"),
    (lambda: ops.squeeze(T(M), 4), ValueError, "axis 4"),
])
def test_mistakes_are_told(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_updates_that_a_parameter_cannot_hold():
    rows = ms.Parameter(Tensor(np.ones((4, 3), np.int32)), name="rows")
    one, at = Tensor(np.array([1], np.int32)), Tensor(np.array([[1]], np.int32))
    with pytest.raises(TypeError, match=r"argument\[x\]'s data type of primitive\[ScatterDiv\] is Int32"):
        ops.ScatterDiv()(rows, one, Tensor(np.ones((1, 3), np.float32)))
    with pytest.raises(TypeError, match="ScatterNdUpdate"):
        ops.ScatterNdUpdate()(rows, at, Tensor(np.ones((1, 3), np.float32)))
    halves = ms.Parameter(Tensor(np.ones((4, 3), np.float32)), name="halves")
    assert ops.ScatterAdd()(halves, one, Tensor(np.ones((1, 3), np.float16))).asnumpy()[1].tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="'indices' must be greater than or equal to 2"):
        ops.ScatterNdAdd()(halves, one, Tensor(np.ones(3, np.float32)))


def test_primitives_take_their_arguments_by_name():
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert ops.Concat(axis=1)(tensors=(x, x)).shape == (2, 6)
    assert ops.Add()(input=x, other=x).asnumpy()[1, 2] == 10
    assert ops.Transpose()(x, dims=(1, 0)).shape == (3, 2)
    assert ops.ReduceSum(keep_dims=True)(x=x, axis=1).shape == (2, 1)
    with pytest.raises(TypeError):
        ops.Add()(input=x, second=x)


def test_constructors_and_calls_that_are_refused():
    for axis in (1.5, (0, 1.5), True):
        with pytest.raises(TypeError, match="Squeeze"):
            ops.Squeeze(axis=axis)
    with pytest.raises(TypeError):
        ops.Split(1, 2)(None)


@pytest.mark.parametrize("mode", ["constant", "replicate"])
@pytest.mark.parametrize("pads", [(2 ** 63 - 1, 2 ** 63 - 1), (-2 ** 63, 2 ** 63 - 1), (2 ** 63 - 1, 2)])
def test_paddings_that_cannot_be_added_are_refused(mode, pads):
    with pytest.raises(ValueError, match="padding"):
        ops.pad(T(A), pads, mode)
