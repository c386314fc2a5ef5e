# SPDX-License-Identifier: Apache-2.0
"""Cells around networks: a step of training, loss scale, micro batches."""
import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, nn, ops

X = np.random.default_rng(0).standard_normal((8, 3)).astype(np.float32)
Y = np.random.default_rng(1).standard_normal((8, 2)).astype(np.float32)


def network():
    net = nn.Dense(3, 2)
    net.weight.set_data(Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) / 10))
    net.bias.set_data(ops.zeros((2,)))
    return net


def gradients():
    error = 2 * (X @ (np.arange(6, dtype=np.float32).reshape(2, 3) / 10).T - Y) / Y.size
    return error.T @ X, error.sum(0)


def with_loss(net):
    return nn.WithLossCell(net, nn.MSELoss())


def sgd(net):
    return nn.SGD(net.trainable_params(), 0.1)


@pytest.mark.parametrize("sens", [None, 3.0])
def test_a_step_is_gradient_descent(sens):
    net = network()
    before = net.weight.asnumpy().copy()
    step = nn.TrainOneStepCell(with_loss(net), sgd(net), sens)
    loss = step(Tensor(X), Tensor(Y))
    dw, db = gradients()
    assert float(loss) == pytest.approx(((X @ before.T - Y) ** 2).mean(), rel=1e-5)
    np.testing.assert_allclose(net.weight.asnumpy(), before - 0.1 * (sens or 1) * dw, 1e-4, 1e-6)
    np.testing.assert_allclose(net.bias.asnumpy(), -0.1 * (sens or 1) * db, 1e-4, 1e-6)


def test_a_step_gives_gradients_by_name():
    net = network()
    loss, grads = nn.TrainOneStepCell(with_loss(net), sgd(net), return_grad=True)(Tensor(X), Tensor(Y))
    assert list(grads) == ["weight", "bias"]
    np.testing.assert_allclose(grads["weight"].asnumpy(), gradients()[0], 1e-4, 1e-6)
    with pytest.raises(ValueError, match="sens"):
        nn.TrainOneStepCell(with_loss(net), sgd(net), sens=0)


def test_the_network_runs_once_a_step():
    class Counting(nn.Cell):
        count = 0

        def __init__(self):
            super().__init__()
            self.fc = network()

        def construct(self, x, y):
            Counting.count += 1
            return ((self.fc(x) - y) ** 2).mean()
    net = Counting()
    nn.TrainOneStepCell(net, sgd(net))(Tensor(X), Tensor(Y))
    assert Counting.count == 1
    nn.ForwardValueAndGrad(net, net.trainable_params(), get_by_list=True)(Tensor(X), Tensor(Y))
    assert Counting.count == 2


def test_scaled_loss_gives_the_same_step():
    plain, scaled = network(), network()
    nn.TrainOneStepCell(with_loss(plain), sgd(plain))(Tensor(X), Tensor(Y))
    step = nn.TrainOneStepWithLossScaleCell(with_loss(scaled), sgd(scaled), Tensor(1024.0))
    loss, overflow, scale = step(Tensor(X), Tensor(Y))
    assert not bool(overflow) and float(scale) == 1024
    np.testing.assert_allclose(scaled.weight.asnumpy(), plain.weight.asnumpy(), 1e-4, 1e-6)
    step.set_sense_scale(Tensor(8.0))
    assert float(step(Tensor(X), Tensor(Y))[2]) == 8


def test_overflow_skips_the_step_and_lowers_the_scale():
    net = network()
    before = net.weight.asnumpy().copy()
    manager = nn.DynamicLossScaleUpdateCell(16.0, 2, 2)
    step = nn.TrainOneStepWithLossScaleCell(with_loss(net), sgd(net), manager)
    _, overflow, scale = step(Tensor(X * np.inf), Tensor(Y))
    assert bool(overflow) and float(scale) == 16 and float(step.scale_sense) == 8
    np.testing.assert_array_equal(net.weight.asnumpy(), before)
    scales = []
    for _ in range(4):
        step(Tensor(X), Tensor(Y))
        scales.append(float(step.scale_sense))
    assert scales == [8, 16, 16, 32]
    assert not np.array_equal(net.weight.asnumpy(), before)


def test_the_scale_does_not_fall_below_one():
    manager, scale = nn.DynamicLossScaleUpdateCell(2.0, 2, 10), Parameter(Tensor(2.0), name="scale")
    for _ in range(3):
        manager(scale, Tensor(True))
    assert float(scale) == 1


def test_wrong_scales():
    net = network()
    for wrong, error in ((3.0, TypeError), (ops.ones((2,)), ValueError)):
        with pytest.raises(error, match="scale_sense"):
            nn.TrainOneStepWithLossScaleCell(with_loss(net), sgd(net), wrong)


@pytest.mark.parametrize("make", [lambda n: nn.GradAccumulationCell(n, 4), lambda n: nn.PipelineCell(n, 4),
                                  lambda n: nn.MicroBatchInterleaved(n, 4)])
def test_micro_batches_add_up(make):
    net = network()
    whole = with_loss(net)
    parts = make(whole)
    assert float(parts(Tensor(X), Tensor(Y))) == pytest.approx(4 * float(whole(Tensor(X), Tensor(Y))), rel=1e-5)
    grads = ms.grad(parts, None, net.trainable_params())(Tensor(X), Tensor(Y))
    np.testing.assert_allclose(grads[0].asnumpy(), 4 * gradients()[0], 1e-4, 1e-5)
    with pytest.raises(ValueError, match="multiple of 4"):
        parts(Tensor(X[:6]), Tensor(Y[:6]))


def test_stages_of_a_pipeline():
    net = nn.SequentialCell(nn.Dense(3, 3), nn.Dense(3, 2))
    nn.PipelineCell(net, 2, stage_config={"1": 1})
    assert (net[0].pipeline_stage, net[1].pipeline_stage) == (0, 1)
    with pytest.raises(KeyError, match="nowhere"):
        nn.PipelineCell(net, 2, stage_config={"nowhere": 1})
    with pytest.raises(TypeError):
        nn.PipelineCell(net, 2.0)


def test_values_and_gradients():
    net = network()
    value, grads = nn.ForwardValueAndGrad(with_loss(net), net.trainable_params(), get_by_list=True)(Tensor(X), Tensor(Y))
    np.testing.assert_allclose(grads[1].asnumpy(), gradients()[1], 1e-4, 1e-6)
    grads = nn.WithGradCell(net, nn.MSELoss(), Tensor(2.0))(Tensor(X), Tensor(Y))
    np.testing.assert_allclose(grads[0].asnumpy(), 2 * gradients()[0], 1e-4, 1e-6)
    value, (dx, dw) = nn.ForwardValueAndGrad(lambda a, b: a * b, get_all=True)(Tensor([2.0]), Tensor([3.0]))
    assert (float(value[0]), float(dx[0]), float(dw[0])) == (6, 3, 2)


def test_reducer_of_one_device_keeps_gradients():
    net = network()
    reducer = nn.DistributedGradReducer(net.trainable_params(), degree=1)
    given = (Tensor([1.0]), Tensor([2.0]))
    assert all(a is b for a, b in zip(reducer(given), given))
    with pytest.raises(ValueError, match="degree"):
        nn.DistributedGradReducer(net.trainable_params(), degree=0)


def test_directions():
    value, direction = nn.Jvp(lambda x: x ** 3)(Tensor([1.0, 2.0]), Tensor([1.0, 1.0]))
    np.testing.assert_allclose(direction.asnumpy(), [3, 12])
    value, (dx, dy) = nn.Vjp(lambda x, y: x ** 3 + y)(Tensor([1.0, 2.0]), Tensor([1.0, 2.0]), Tensor([1.0, 2.0]))
    np.testing.assert_allclose(dx.asnumpy(), [3, 24])
    np.testing.assert_allclose(dy.asnumpy(), [1, 2])
