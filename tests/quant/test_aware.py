# SPDX-License-Identifier: Apache-2.0
"""Training that sees the rounding: QuantizationAwareTraining."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, has_bias=True, pad_mode="valid")
        self.norm = nn.BatchNorm2d(6)
        self.head = nn.Dense(6 * 16, 4)

    def construct(self, x):
        x = ops.relu(self.norm(self.conv(x)))
        return self.head(x.reshape(x.shape[0], -1))


def task(n=64):
    """Pictures of 6 x 6 in which one quarter is brighter."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 4, n).astype(np.int32)
    images = rng.normal(size=(n, 1, 6, 6)).astype(np.float32)
    for image, label in zip(images, labels):
        image[0, 3 * (label // 2):3 * (label // 2) + 3, 3 * (label % 2):3 * (label % 2) + 3] += 0.8
    return Tensor(images), Tensor(labels)


def train(net, steps, rate=0.02):
    images, labels = task()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.Adam(net.trainable_params(), rate))
    step.set_train()
    return [float(step(images, labels).asnumpy()) for _ in range(steps)]


def loss_of(net):
    images, labels = task()
    net.set_train(False)
    return float(ops.cross_entropy(net(images), labels).asnumpy())


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def mode(request):
    ms.set_context(mode=request.param)
    ms.set_seed(7)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_training_wins_back_what_rounding_loses(mode):
    net = Net()
    train(net, 40)
    float_loss = loss_of(net)
    aware = ms.quantization.QuantizationAwareTraining(bits=2, activation_bits=3, averaging=0.5)
    assert aware.apply(net) is net
    train(net, 1, rate=1e-9)                     # observes ranges, changes nothing
    rounded = loss_of(net)
    train(net, 60)
    trained = loss_of(net)
    assert rounded > 1.5 * float_loss + 0.05
    assert trained < 0.7 * rounded


def test_names_weights_and_results_come_back(mode):
    net = Net().set_train(False)
    images, _ = task()
    before = net(images).asnumpy()
    names = [p.name for p in net.get_parameters()]
    aware = ms.quantization.QuantizationAwareTraining(bits=3)
    aware.apply(net)
    net.set_train()(images)
    net.set_train(False)
    assert [p.name for p in net.get_parameters() if "input_" not in p.name] == names
    assert [p.name for p in net.trainable_params()] == [p.name for p in Net().trainable_params()]
    assert np.abs(net(images).asnumpy() - before).max() > 1e-3
    assert aware.convert(net) is net
    assert [p.name for p in net.get_parameters()] == names
    net.norm.moving_mean.set_data(ops.zeros_like(net.norm.moving_mean))
    net.norm.moving_variance.set_data(ops.ones_like(net.norm.moving_variance))
    assert type(net.conv) is nn.Conv2d and np.array_equal(net(images).asnumpy(), before)


def test_both_modes_are_equal():
    results = []
    images, _ = task()
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(7)
        net = ms.quantization.QuantizationAwareTraining().apply(Net())
        losses = train(net, 3)
        results.append((losses, net.set_train(False)(images).asnumpy(), net.conv.input_high.asnumpy()))
    ms.set_context(mode=ms.PYNATIVE_MODE)
    assert results[0][0] == results[1][0]
    assert np.array_equal(results[0][1], results[1][1]) and results[0][2] == results[1][2] > 0


def test_it_is_quantised_afterwards():
    ms.set_seed(7)
    net = Net()
    train(net, 20)
    aware = ms.quantization.QuantizationAwareTraining(keep=["head"])
    aware.apply(net)
    assert type(net.head) is nn.Dense
    train(net, 10)
    net = aware.convert(net).set_train(False)
    images, _ = task()
    q = ms.quantize(net, [images.asnumpy()[i:i + 16] for i in range(0, 64, 16)])
    assert q.figures["layers_quantised"] == 2
    exact, rounded = net(images).asnumpy(), q.cell()(images).asnumpy()
    assert np.mean(exact.argmax(1) == rounded.argmax(1)) > 0.95


@pytest.mark.parametrize("arguments, error, text", [
    ({"bits": 9}, ValueError, "'bits' must be an int in [2, 8], but got 9"),
    ({"activation_bits": True}, ValueError, "'activation_bits' must be an int in [2, 16]"),
    ({"averaging": 0}, ValueError, "'averaging' must be a number in (0, 1]"),
    ({"keep": "head"}, TypeError, "must be a list of names"),
])
def test_wrong_arguments(arguments, error, text):
    with pytest.raises(error) as caught:
        ms.quantization.QuantizationAwareTraining(**arguments)
    assert text in str(caught.value)


def test_networks_it_cannot_take():
    aware = ms.quantization.QuantizationAwareTraining
    with pytest.raises(ValueError, match="'keep' names 'tail', which the network does not have; its layers: conv, norm, head"):
        aware(keep=["tail"]).apply(Net())
    with pytest.raises(ValueError, match="no layer that could round"):
        aware().apply(nn.ReLU())
    with pytest.raises(TypeError, match="must be a Cell"):
        aware().apply(np.ones(3))
    with pytest.raises(ValueError, match="no layer that 'apply' has changed"):
        aware().convert(Net())
