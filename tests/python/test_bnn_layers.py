# SPDX-License-Identifier: Apache-2.0
"""Bayesian layers: divergences recorded from MindSpore 2.10 (weights drawn by numpy from seed 3), samples, training, wrong arguments."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops
from spore.nn.probability import bnn_layers


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.flat = bnn_layers.ConvReparam(1, 2, 3, has_bias=True), nn.Flatten()
        self.first = bnn_layers.DenseReparam(2 * 16, 5, activation="relu")
        self.second = bnn_layers.DenseLocalReparam(5, 3, activation=nn.Tanh())

    def construct(self, x):
        return self.second(self.first(self.flat(self.conv(x))))


@pytest.fixture
def net():
    np.random.seed(3)
    ms.set_seed(3)
    return Net()


def test_divergences_are_those_of_mindspore(net):
    got = [float(layer.compute_kl_loss()) for layer in (net.conv, net.first, net.second)]
    assert np.allclose(got, [5000.295, 34111.66, 3166.8374], rtol=1e-5)


def test_only_the_distributions_learn(net):
    assert [p.name for p in net.get_parameters() if not p.requires_grad] == ["conv.weight", "conv.bias"]
    assert [p.name for p in net.trainable_params()][:2] == ["conv.weight_posterior.mean", "conv.weight_posterior.untransformed_std"]
    assert repr(net.second).startswith("DenseLocalReparam(\n  in_channels=5, out_channels=3, weight_mean=Parameter (name=")


@pytest.mark.parametrize("kind", [bnn_layers.DenseReparam, bnn_layers.DenseLocalReparam])
def test_samples_have_the_means_and_deviations_of_the_layer(kind):
    ms.set_seed(1)
    layer = kind(3, 2)
    layer.weight_posterior.untransformed_std.set_data(ops.zeros((2, 3)))       # a deviation of log 2
    layer.bias_posterior.untransformed_std.set_data(ops.full((2,), -20.0))
    x = Tensor([[1.0, -2.0, 0.5]])
    drawn = np.stack([layer(x).asnumpy()[0] for _ in range(2000)])
    assert np.allclose(drawn.mean(0), (x.asnumpy() @ layer.weight_posterior.mean.asnumpy().T + layer.bias_posterior.mean.asnumpy())[0],
                       atol=0.15)
    assert np.allclose(drawn.std(0), np.log(2) * np.linalg.norm(x.asnumpy()), rtol=0.1)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "graph"])
def test_a_network_learns(net, mode):
    ms.set_context(mode=mode)
    loss = bnn_layers.WithBNNLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), 1, 1e-5)
    step = nn.TrainOneStepCell(loss, nn.Adam(net.trainable_params(), 1e-2))
    step.set_train()
    x, y = Tensor(np.random.randn(6, 1, 4, 4).astype(np.float32)), Tensor(np.arange(6) % 3, ms.int32)
    losses = [float(step(x, y)) for _ in range(60)]
    ms.set_context(mode=ms.PYNATIVE_MODE)
    assert losses[-1] < losses[0] and len(set(losses)) > 50
    assert loss.backbone_network is net and len(loss.kl_loss) == 3


def test_the_prior_answers_as_a_distribution():
    prior = bnn_layers.NormalPrior(mean=1, std=2)
    assert (float(prior("mean")), float(prior("sd"))) == (1.0, 2.0)
    assert np.allclose(prior("log_prob", Tensor([0.5])).asnumpy(), [-1.6433357])


@pytest.mark.parametrize("make, error, text", [
    (lambda: bnn_layers.NormalPosterior(1, (2,)), TypeError, "'name' must be a str, but got int"),
    (lambda: bnn_layers.NormalPosterior("a", 3), TypeError, "'shape' must be a tuple or list, but got int"),
    (lambda: bnn_layers.NormalPosterior("a", (2,), loc_std=-1), TypeError, "'loc_std' must be .* at least 0, but got -1"),
    (lambda: bnn_layers.DenseReparam(3, 2, weight_posterior_fn=nn.ReLU), TypeError, "must make a NormalPosterior"),
    (lambda: bnn_layers.DenseReparam(3, 2, weight_prior_fn=nn.SequentialCell(nn.ReLU())), TypeError, "must be a normal one"),
    (lambda: bnn_layers.DenseReparam(3, 2, activation=3), ValueError, "'activation' must be a str or a Cell, but got int"),
    (lambda: bnn_layers.DenseReparam(0, 2), ValueError, "in_channels"),
    (lambda: bnn_layers.WithBNNLossCell(nn.ReLU(), nn.MSELoss(), -1), ValueError, "'dnn_factor' must be at least 0, but got -1"),
    (lambda: bnn_layers.WithBNNLossCell(nn.ReLU(), nn.MSELoss(), 1, True), TypeError, "'bnn_factor' must be an int or float")])
def test_wrong_arguments(make, error, text):
    with pytest.raises(error, match=text):
        make()
