# SPDX-License-Identifier: Apache-2.0
"""Gradients that are zero because values left the differentiated function: told once, with the line; all else is silent."""
import inspect

import numpy as np
import pytest

import spore as ms
from spore import nn, ops
from spore.common import fetched


@pytest.fixture
def said(monkeypatch):
    fetched._said.clear()
    lines = []
    monkeypatch.setattr("spore.log.warning", lambda text, *args, **kw: lines.append(text))
    yield lines
    assert not ms._core.grad_recording() and not ms._core.grad_any_fetched()


X = ms.Tensor([1.0, 2.0, 3.0])
W = ms.Tensor([4.0, 5.0, 6.0])

LOST = [
    lambda x, w: ms.Tensor(x.asnumpy() ** 2).sum(),
    lambda x, w: (w * ms.Tensor(np.exp(x.asnumpy()))).sum(),
    lambda x, w: (w * ms.Tensor.from_numpy(x.asnumpy() * 2)).sum(),
    lambda x, w: (w * x.asnumpy()).sum(),
    lambda x, w: (w * x.asnumpy().mean()).sum(),
    lambda x, w: (w + ms.Tensor(x.tolist())).sum(),
    lambda x, w: (w + ms.Tensor(np.sin(x))).sum(),
    lambda x, w: ms.Tensor(x.sum().item() ** 2) * w.sum(),
    lambda x, w: ms.Tensor(float(x.sum()) + 1) * w.sum(),
    lambda x, w: (w * x.sum().item()).sum(),
    lambda x, w: w.sum() * float(x.sum()),
    lambda x, w: ops.exp(w * ms.Tensor((x * 2).asnumpy())).mean(),
    lambda x, w: float((x * w).sum()),
]


@pytest.mark.parametrize("function", LOST, ids=lambda f: inspect.getsource(f).strip())
def test_a_lost_gradient_is_told_once_with_the_line(said, function):
    for _ in range(2):
        assert not ms.grad(function)(X, W).asnumpy().any()
    assert len(said) == 1
    place, _, text = said[0].partition(": ")
    assert place == f"{__file__}:{function.__code__.co_firstlineno}"
    assert "the gradient of an input is zero" in text


def prints_the_loss(x, w):
    loss = (x * w).sum()
    print(loss.asnumpy(), loss.item(), float(loss), loss)
    return loss


def logs_an_input_that_does_not_matter(x, w):
    print(x.asnumpy(), x.tolist(), x.sum().item(), x)
    return (w * 2.5).sum()


def logs_and_makes_a_constant_before(x, w):
    mask = ms.Tensor(np.ones(3, np.float32))
    print(x.asnumpy())
    return (w * mask).sum()


def branches_on_values(x, w):
    if x.sum().item() > 0 and bool((x > 0).all()) and float(x[0]) < 7:
        return (w * 3.0).sum()
    return w.sum()


def branches_and_makes_a_constant(x, w):
    return (w * ms.Tensor(np.ones(3, np.float32))).sum() if x.sum().item() > 0 else w.sum()


def reads_shapes(x, w):
    return (w * ops.zeros(x.shape) * x.ndim).sum()


def counts(x, w):
    return (w[:int(x[0])] * ms.Tensor([1.0] * int(x[0]))).sum()


def does_not_use_it(x, w):
    return w.sum()


def scales_by_a_constant_on_purpose(x, w):
    return (x / ms.Tensor(x.asnumpy().max())).sum() + w.sum()


def stops_on_purpose(x, w):
    return (w * ops.stop_gradient(x)).sum()


SILENT = [prints_the_loss, logs_an_input_that_does_not_matter, logs_and_makes_a_constant_before, branches_on_values,
          branches_and_makes_a_constant, reads_shapes, counts, does_not_use_it, scales_by_a_constant_on_purpose, stops_on_purpose]


@pytest.mark.parametrize("function", SILENT)
def test_what_is_no_accident_is_silent(said, function):
    ms.grad(function)(X, W)
    ms.grad(function, grad_position=(0, 1))(X, W)
    assert said == []


def test_weights_are_named(said):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3, 1)

        def construct(self, x):
            return self.dense(x)

    net = Net()
    step = ms.value_and_grad(lambda x: ms.Tensor(net(x).asnumpy().mean()), None, net.trainable_params())
    value, _ = step(X.reshape(1, 3))
    assert value.shape == () and len(said) == 1 and "of the Parameter 'dense.weight'" in said[0]


def test_gradients_are_what_they_were(said):
    got = ms.grad(scales_by_a_constant_on_purpose)(X, W)
    assert np.allclose(got.asnumpy(), 1 / 3)
    gx, gw = ms.grad(lambda x, w: (w * x.asnumpy()).sum(), grad_position=(0, 1))(X, W)
    assert not gx.asnumpy().any() and np.array_equal(gw.asnumpy(), X.asnumpy())


def test_another_input_is_not_blamed(said):
    def function(x, w, unused):
        return (w * ms.Tensor(w.asnumpy())).sum() + x.sum()
    ms.grad(function, grad_position=(0, 1, 2))(X, W, X)
    assert said == []


def test_second_order(said):
    def inner(x):
        return (x * x * x).sum()
    assert np.allclose(ms.grad(lambda x: ms.grad(inner)(x).sum())(X).asnumpy(), 6 * X.asnumpy())
    assert said == []
