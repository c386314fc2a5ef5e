# SPDX-License-Identifier: Apache-2.0
"""Training steps as programs: every optimizer, loss scales, clipping, accumulation and mixed precision give eager mode's bits, and
nothing of them is left to Python."""
import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, amp, nn, ops
from spore.graph import explain

RNG = np.random.RandomState(0)
X, Y = Tensor(RNG.randn(8, 6).astype(np.float32)), Tensor(RNG.randint(0, 3, 8).astype(np.int32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        rng = np.random.RandomState(1)
        self.first = nn.Dense(6, 5, weight_init=Tensor(rng.randn(5, 6).astype(np.float32) * 0.3), bias_init="zeros")
        self.norm = nn.LayerNorm((5,))
        self.last = nn.Dense(5, 3, weight_init=Tensor(rng.randn(3, 5).astype(np.float32) * 0.3), bias_init="zeros")

    def construct(self, x):
        return self.last(ops.relu(self.norm(self.first(x))))


class Clipping(nn.Cell):
    def __init__(self, net, optimizer):
        super().__init__(auto_prefix=False)
        self.net, self.optimizer = net, optimizer
        self.gradients = ops.value_and_grad(net, None, optimizer.parameters)

    def construct(self, x, y):
        loss, gradients = self.gradients(x, y)
        return ops.depend(loss, self.optimizer(ops.clip_by_global_norm(gradients, 0.5)))


class Accumulating(nn.Cell):
    def __init__(self, net, optimizer):
        super().__init__(auto_prefix=False)
        self.net, self.optimizer = net, optimizer
        self.kept = optimizer.parameters.clone("kept", "zeros")
        self.count = Parameter(Tensor(0, ms.int32), name="count")
        self.each = ops.HyperMap()
        self.gradients = ops.value_and_grad(net, None, optimizer.parameters)

    def construct(self, x, y):
        loss, gradients = self.gradients(x, y)
        self.each(ops.assign_add, self.kept, gradients)
        self.count += 1
        if self.count % 2 == 0:
            self.optimizer(self.kept)
            self.each(ops.assign, self.kept, self.each(ops.zeros_like, self.kept))
        return loss


def with_loss(net):
    return nn.WithLossCell(net, nn.CrossEntropyLoss())


STEPS = {
    "plain": lambda net, optimizer: nn.TrainOneStepCell(with_loss(net), optimizer),
    "scaled": lambda net, optimizer: nn.TrainOneStepWithLossScaleCell(with_loss(net), optimizer,
                                                                      nn.DynamicLossScaleUpdateCell(2.0 ** 10, 2, 3)),
    "fixed": lambda net, optimizer: nn.TrainOneStepWithLossScaleCell(with_loss(net), optimizer, nn.FixedLossScaleUpdateCell(1024.0)),
    "clipped": lambda net, optimizer: Clipping(with_loss(net), optimizer),
    "accumulated": lambda net, optimizer: Accumulating(with_loss(net), optimizer),
    **{level: lambda net, optimizer, level=level: amp.build_train_network(net, optimizer, nn.CrossEntropyLoss(), level=level)
       for level in ("O0", "O1", "O2", "O3")},
}
OPTIMIZERS = {
    "Lamb": lambda params: nn.Lamb(params, 0.01), "Momentum": lambda params: nn.Momentum(params, 0.1, 0.9),
    "LARS": lambda params: nn.LARS(nn.Momentum(params, 0.1, 0.9, weight_decay=0.01), 1e-8, 0.02, use_clip=True),
    **{name: getattr(nn, name) for name in ("Adadelta", "Adagrad", "Adam", "AdamOffload", "AdamWeightDecay", "AdaMax", "ASGD", "FTRL",
                                            "LazyAdam", "ProximalAdagrad", "RMSProp", "Rprop", "SGD", "AdaFactor")},
}


def groups(net):
    return [{"params": [net.first.weight, net.last.weight], "weight_decay": 0.01, "lr": [0.1, 0.05, 0.02]},
            {"params": [net.first.bias, net.last.bias, net.norm.gamma, net.norm.beta], "lr": 0.01}]


def trained(mode, how, name, params):
    """Losses and weights of three steps."""
    ms.set_context(mode=mode)
    net = Net()
    step = STEPS[how](net, OPTIMIZERS[name](params(net)))
    step.set_train()
    losses = [step(X, Y) for _ in range(3)]
    losses = [one[0] if isinstance(one, tuple) else one for one in losses]
    return [t.asnumpy().tobytes() for t in (*losses, *net.trainable_params())]


def check(monkeypatch, how, name, params=lambda net: net.trainable_params()):
    left = []
    monkeypatch.setattr(explain, "plain", lambda compiled, reason, what: left.append(str(reason)))
    try:
        eager, graph = (trained(mode, how, name, params) for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert eager == graph
    assert not left


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer(monkeypatch, name):
    check(monkeypatch, "plain", name)
    check(monkeypatch, "scaled", name)


@pytest.mark.parametrize("name", [n for n in OPTIMIZERS if n not in ("FTRL", "ProximalAdagrad", "LARS")])
def test_groups_with_rates_of_their_own(monkeypatch, name):
    check(monkeypatch, "plain", name, groups)


@pytest.mark.parametrize("how", STEPS)
@pytest.mark.parametrize("name", ["Adam", "Momentum", "Lamb"])
def test_every_kind_of_step(monkeypatch, how, name):
    check(monkeypatch, how, name)
