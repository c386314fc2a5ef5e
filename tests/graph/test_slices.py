# SPDX-License-Identifier: Apache-2.0
"""vmap of whole functions in both modes: with gradients inside and outside, closures, Parameters, ensembles, random numbers, chunks;
what cannot be done at once runs slice by slice, with the same results, and says so."""
import gc
import os

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, nn, ops
from spore.common import vectorize

RNG = np.random.default_rng(3)
A = RNG.standard_normal((5, 4)).astype(np.float32)
B = RNG.standard_normal(4).astype(np.float32)
X, W = Tensor(A), Tensor(B)


@pytest.fixture(autouse=True)
def notes(monkeypatch):
    found = []
    monkeypatch.setattr(vectorize, "_tell", found.append)
    return found


@pytest.fixture(params=["eager", "jit"])
def mode(request):
    return ms.jit if request.param == "jit" else lambda f: f


def same(found, wanted):
    found = found if isinstance(found, tuple) else (found,)
    wanted = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        other = other.asnumpy() if isinstance(other, Tensor) else np.asarray(other)
        assert one.shape == other.shape
        np.testing.assert_allclose(one.asnumpy(), other, rtol=1e-4, atol=1e-5)


def cubes(x):
    return (x ** 3).sum()


CASES = {
    "gradient by a closure": (lambda w, x: ms.grad(lambda w: ms.vmap(lambda r: (r * w).sum() ** 2)(x).sum())(w),
                              (W, X), (2 * (A @ B)[:, None] * A).sum(0)),
    "stop_gradient inside": (lambda w, x: ms.grad(lambda w: ms.vmap(lambda r: (r * ops.stop_gradient(w) * w).sum())(x).sum())(w),
                             (W, X), (A * B).sum(0)),
    "second derivatives, reverse": (lambda x: ms.vmap(ms.jacrev(ms.grad(cubes)))(x), (X,), [np.stack([np.diag(6 * a) for a in A])]),
    "second derivatives, forward": (lambda x: ms.vmap(ms.jacfwd(ms.grad(cubes)))(x), (X,), [np.stack([np.diag(6 * a) for a in A])]),
    "jvp inside": (lambda x: ms.vmap(lambda r: ms.jvp(lambda y: y ** 3, r, r)[1])(x), (X,), 3 * A ** 3),
    "vjp inside": (lambda x: ms.vmap(lambda r: ms.vjp(lambda y: y ** 3, r)[1](r)[0])(x), (X,), 3 * A ** 3),
    "jvp outside": (lambda x: ms.jvp(ms.vmap(cubes), x, x)[1], (X,), 3 * (A ** 3).sum(1)),
    "Jacobian outside": (lambda x: ms.jacrev(ms.vmap(lambda r: (r * r).sum()))(x), (X,), np.einsum("ij,ik->ijk", np.eye(5), 2 * A)),
    "gradient of vmap of gradient": (lambda x: ms.grad(lambda y: (ms.vmap(ms.grad(cubes))(y) ** 2).sum())(x), (X,), 36 * A ** 3),
    "twice": (lambda x: ms.vmap(ms.vmap(ms.grad(lambda y: y ** 3)))(x), (X,), 3 * A ** 2),
    "all pairs": (lambda x: ms.vmap(ms.vmap(lambda p, q: p * q, (None, 0)), (0, None))(x, x), (X,), A[:, None] * A[None]),
    "in chunks": (lambda x: ms.vmap(lambda r: (r * 2, r.sum()), chunk_size=2)(x), (X,), (A * 2, A.sum(1))),
    "numbers among the results": (lambda x: ms.vmap(lambda r: (r, 1))(x), (X,), (A, np.ones(5))),
    "a result that all share": (lambda x, w: ms.vmap(lambda r, s: s, (0, None), 1)(x, w), (X, W), np.repeat(B[:, None], 5, 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_at_once(name, mode, notes):
    function, args, wanted = CASES[name]
    same(mode(function)(*args), wanted)
    assert not notes


def test_written_slices(mode, notes):
    def one(x, i):
        y = x * 1
        y[1] = 5
        y[2:] = x[0]
        return y, x[i]
    places = RNG.integers(0, 4, (5, 2))
    wanted = A.copy()
    wanted[:, 1], wanted[:, 2:] = 5, A[:, :1]
    same(mode(lambda x, i: ms.vmap(one)(x, i))(X, Tensor(places)), (wanted, np.take_along_axis(A, places, 1)))
    assert not notes


# --- Cells -----------------------------------------------------------------------------------------------------------

def network():
    return nn.SequentialCell(nn.Dense(4, 8), nn.LayerNorm((8,)), nn.ReLU(), nn.Dense(8, 2))


def test_gradients_per_sample(mode, notes):
    net = network()
    weights = list(net.trainable_params())

    def loss(x):
        return (net(x.reshape(1, 4)) ** 2).sum()
    single = [ms.grad(loss, None, weights)(X[i]) for i in range(5)]
    columns = [np.stack([s[k].asnumpy() for s in single]) for k in range(len(weights))]
    same(mode(lambda x: ms.vmap(ms.grad(loss, None, weights))(x))(X), columns)
    same(mode(lambda x: ms.grad(lambda y: ms.vmap(loss)(y).sum(), None, weights)(x))(X), [c.sum(0) for c in columns])
    assert not notes


def test_images_per_sample(mode, notes):
    net = nn.SequentialCell(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(64, 3))
    net.set_train(False)
    weights, entropy = list(net.trainable_params()), nn.CrossEntropyLoss()
    images, labels = Tensor(RNG.standard_normal((6, 1, 8, 8)).astype(np.float32)), Tensor(RNG.integers(0, 3, 6), ms.int32)

    def loss(x, y):
        return entropy(net(x.expand_dims(0)), y.expand_dims(0))
    single = [ms.grad(loss, None, weights)(images[i], labels[i]) for i in range(6)]
    same(mode(lambda x, y: ms.vmap(ms.grad(loss, None, weights))(x, y))(images, labels),
         [np.stack([s[k].asnumpy() for s in single]) for k in range(len(weights))])
    assert not notes


def test_ensemble(mode, notes):
    nets = nn.CellList([network() for _ in range(5)])
    rows = X.reshape(5, 1, 4)
    same(mode(lambda x: ms.vmap(nets)(x))(rows), np.stack([nets[i](rows[i]).asnumpy() for i in range(5)]))
    same(mode(lambda x: ms.vmap(nets, None)(x))(X), np.stack([net(X).asnumpy() for net in nets]))
    weights = list(nets.trainable_params())
    wanted = [g for i in range(5) for g in ms.grad(lambda x, i=i: (nets[i](x) ** 2).sum(), None, list(nets[i].trainable_params()))(rows[i])]
    same(mode(lambda x: ms.grad(lambda y: (ms.vmap(nets)(y) ** 2).sum(), None, weights)(x))(rows), wanted)
    assert not notes


def test_ensemble_errors():
    with pytest.raises(RuntimeError, match="the size of 'CellList' must be greater than 1, but got 1"):
        ms.vmap(nn.CellList([nn.Dense(4, 2)]))(X)
    with pytest.raises(ValueError, match="If you want to execute the model ensembling parallel training"):
        ms.vmap(nn.CellList([nn.Dense(4, 2), nn.Dense(4, 2)]))(X)
    with pytest.raises(ValueError, match="Parameter size of each cell should be consistent, but get 2 and 0"):
        ms.vmap(nn.CellList([nn.Dense(4, 2), nn.ReLU()]))(X[:2])


# --- slice by slice --------------------------------------------------------------------------------------------------

def test_course_that_depends_on_the_slice(mode, notes):
    def chosen(x):
        if x.sum() > 0:
            return x * 2
        return x - 1

    def grown(x):
        while x.sum() < 50:
            x = x * x + 1
        return x

    def grow(a):
        while a.sum() < 50:
            a = a * a + 1
        return a
    same(mode(lambda x: ms.vmap(chosen)(x))(X), np.stack([a * 2 if a.sum() > 0 else a - 1 for a in A]))
    same(mode(lambda x: ms.vmap(grown)(x))(X), np.stack([grow(a) for a in A]))
    assert len(notes) == 2 and all("5 slices were taken one after the other" in note for note in notes)


def test_condition_that_all_slices_share(mode):
    def chosen(x, w):
        if w.sum() > 100:
            return x * 2
        return x - 1
    same(mode(lambda x, w: ms.vmap(chosen, (0, None))(x, w))(X, W), A - 1)


class Own(nn.Cell):
    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (dout * 100,)


def test_gradient_of_ones_own(mode, notes):
    own = Own()
    same(mode(lambda x: ms.vmap(ms.grad(lambda r: own(r).sum()))(x))(X), np.full_like(A, 100))
    assert not notes
    same(mode(lambda x: ms.grad(lambda y: ms.vmap(lambda r: own(r).sum())(y).sum())(x))(X), np.full_like(A, 100))
    assert "a gradient of one's own" in notes[0]


def test_hook_inside(notes):
    def one(x):
        y = x * 1
        y.register_hook(lambda g: g * 10)
        return y.sum()
    same(ms.grad(lambda x: ms.vmap(one)(x).sum())(X), np.full_like(A, 10))
    assert len(notes) == 1


def test_parameters_that_are_written(mode, notes):
    total = Parameter(Tensor(np.zeros(4, np.float32)), name="total")

    def shared(x):
        ops.assign_add(total, W)
        return x * 2

    def own(x):
        ops.assign(total, x)
        return x * 2
    same(mode(lambda x: ms.vmap(shared)(x))(X), A * 2)
    same(total.value(), B)               # once, as in MindSpore
    assert not notes
    same(mode(lambda x: ms.vmap(own)(x))(X), A * 2)
    same(total.value(), A[-1])
    assert "stored in a Parameter" in notes[0]


# --- random numbers, memory ------------------------------------------------------------------------------------------

def test_random_numbers(mode, notes):
    draw = mode(lambda x: ms.vmap(lambda r: ops.rand(30) + 0 * r.sum())(x))
    first, second = draw(X).asnumpy(), draw(X).asnumpy()
    assert len(np.unique(np.concatenate([first, second]))) == 300       # all slices, both calls
    drop = nn.Dropout(p=0.5)
    drop.set_train()
    kept = mode(lambda x: ms.vmap(lambda r: drop(r + 1))(x))(ops.zeros((60, 50))).asnumpy()
    assert 0.9 < kept.mean() < 1.1 and (kept[0] != kept[1]).any()
    weights = Tensor(np.tile([0.0, 1.0, 1.0], (4, 1)).astype(np.float32))
    picked = ms.vmap(lambda w: ops.multinomial(w, 40))(weights).asnumpy()
    assert set(np.unique(picked)) == {1, 2} and (picked[0] != picked[1]).any()
    assert all("random_multinomial" in note for note in notes)


def test_the_rank_of_one_slice_less(notes):
    rows = Tensor(RNG.standard_normal((3,) + (2,) * 7).astype(np.float32))
    same(ms.vmap(lambda x: x.sum())(rows), rows.asnumpy().reshape(3, -1).sum(1))
    with pytest.raises(ValueError):
        ms.vmap(lambda x: x.expand_dims(0))(rows)


@pytest.mark.skipif(any(name in os.environ.get("LD_PRELOAD", "") for name in ("libasan", "libtsan")), reason="freed blocks are kept back")
def test_nothing_is_kept(mode):
    """Handles that a recorded slice notes are symbols of its own graph: they must not keep it alive."""
    rows = ops.ones((2000, 100))
    function = mode(lambda w, x: ms.grad(lambda w: ms.vmap(ms.grad(lambda r: (r * r * w).sum()))(x).sum())(w))

    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def work():
        for _ in range(40):              # 0.8 MB for every value of a call
            function(ops.ones((100,)), rows)
    work()
    before = resident()
    work()
    assert resident() - before < 16 << 20
