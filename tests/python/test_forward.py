# SPDX-License-Identifier: Apache-2.0
"""A gradient takes up the forward pass of the same call, where set_grad asks for that."""
import gc

import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops

IMAGE = np.random.RandomState(0).rand(2, 2, 3, 3).astype(np.float32)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(2)
        self.scale = ms.Parameter(Tensor([1.5]), name="scale")

    def construct(self, x):
        return (self.norm(x) * x * self.scale).sum()


class Step(nn.Cell):
    """As programs write it: the loss first, then the gradients of the same call."""

    def __init__(self, network, write=None):
        super().__init__(auto_prefix=False)
        self.network = network
        self.weights = ms.ParameterTuple(network.trainable_params())
        self.grad = ops.GradOperation(get_by_list=True, sens_param=True)
        self.write = write

    def construct(self, x):
        loss = self.network(x)
        if self.write is not None:
            ops.assign(self.network.scale, self.write)
        grads = self.grad(self.network, self.weights)(x, ops.fill(loss.dtype, loss.shape, 2.0))
        return loss, grads


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "graph"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


def advanced(net):
    """How often the moving mean went a tenth of the way to the mean."""
    share = 1 - net.norm.moving_mean.asnumpy()[0] / IMAGE[:, 0].mean()
    return round(float(np.log(share) / np.log(0.9)))


@pytest.mark.parametrize("kept", [True, False])
def test_the_network_runs_once(mode, kept):
    net = Net()
    net.set_grad(kept)
    step = Step(net)
    step.set_train()
    loss, grads = step(Tensor(IMAGE))
    assert advanced(net) == (1 if kept else 2)
    expected = ms.value_and_grad(lambda x: 2.0 * net(x), None, net.trainable_params())(Tensor(IMAGE))
    np.testing.assert_allclose(2 * loss.asnumpy(), expected[0].asnumpy(), rtol=1e-6)
    for one, other in zip(grads, expected[1]):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5)


def test_dropout_is_drawn_once(mode):
    class Masked(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scale = ms.Parameter(Tensor([1.0]), name="scale")
            self.drop = nn.Dropout(p=0.5)

        def construct(self, x):
            return (self.drop(x) * self.scale).sum()
    net = Masked()
    net.set_grad()
    step = Step(net)
    step.set_train()
    for _ in range(4):                           # the gradient is the sum of what the mask has left: twice the loss
        loss, grads = step(Tensor(IMAGE))
        np.testing.assert_allclose(grads[0].asnumpy()[0], 2 * loss.asnumpy(), rtol=1e-5)


def test_a_written_weight_makes_it_run_again(mode):
    net = Net()
    net.set_grad()
    net.set_train(False)
    _, grads = Step(net, Tensor([3.0]))(Tensor(IMAGE))
    expected = ms.grad(lambda x: 2.0 * net(x), None, net.trainable_params())(Tensor(IMAGE))
    assert net.scale.asnumpy()[0] == 3.0
    for one, other in zip(grads, expected):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5)


def test_other_arguments_and_a_second_gradient_run_it_again():
    net = Net()
    net.set_grad()
    net.set_train()
    x, gradient = Tensor(IMAGE), ops.GradOperation(get_by_list=True)
    net(x)
    gradient(net, net.trainable_params())(Tensor(IMAGE))
    assert advanced(net) == 2
    net(x)
    gradient(net, net.trainable_params())(x)
    assert advanced(net) == 3
    gradient(net, net.trainable_params())(x)
    assert advanced(net) == 4
    net(x)
    x += 1                                       # the same Tensor with other contents
    before = net.norm.moving_mean.asnumpy().copy()
    gradient(net, net.trainable_params())(x)
    assert (net.norm.moving_mean.asnumpy() > before).all()


def test_gradients_of_arguments():
    net = Net()
    net.set_grad()
    net.set_train(False)
    x = Tensor(IMAGE)
    net(x)
    kept = ops.GradOperation(get_all=True, get_by_list=True)(net, net.trainable_params())(x)
    fresh = ops.GradOperation(get_all=True, get_by_list=True)(net, net.trainable_params())(x)
    for one, other in zip(kept[0] + kept[1], fresh[0] + fresh[1]):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


def test_a_returned_parameter_stays_one():
    class Table(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = ms.Parameter(Tensor([1.0, 2.0]), name="table")

        def construct(self, x):
            return x * self.table, self.table
    net = Table()
    net.set_grad()
    assert net(Tensor([1.0, 1.0]))[1] is net.table


def test_one_record_is_kept():
    net = Net()
    net.set_grad()
    for _ in range(3):
        net(Tensor(IMAGE))
    gc.collect()
    ops.GradOperation(get_by_list=True)(net, net.trainable_params())(Tensor(IMAGE))
    assert not any(ms._core.grad_tracked(p) for p in Net().get_parameters())
    net.set_grad(False)
    assert net._plain
