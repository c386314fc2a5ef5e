# SPDX-License-Identifier: Apache-2.0
"""Networks that are trained and run on devices by tests: those of bench/models.py and bench/inference.py, and small ones of their kind."""
import sys
from pathlib import Path
from unittest import mock

import numpy as np

import spore as ms
from spore import nn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "bench"))
# They import mindspore. Not as_mindspore(): it renames classes for good, and other tests run in this process.
with mock.patch.dict(sys.modules, {"mindspore": ms}):
    import inference
    import models


class SmallResNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), models.Basic(8, 8, 1), models.Basic(8, 16, 2))
        self.head = nn.Dense(16, 10)

    def construct(self, x):
        return self.head(self.body(x).mean((2, 3)))


class SmallLSTM(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 16, num_layers=2, batch_first=True)
        self.head = nn.Dense(16, 10)

    def construct(self, x):
        y, _ = self.lstm(x)
        return self.head(y[:, -1])


class BertClassifier(nn.Cell):
    """BERT with dropout and a classifier on its first position."""

    def __init__(self, layers, width, heads, vocabulary, length):
        super().__init__()
        self.body = inference.Bert(layers, width, heads, vocabulary, length)
        self.drop, self.head = nn.Dropout(p=0.1), nn.Dense(width, 10)

    def construct(self, x):
        return self.head(self.drop(self.body(x))[:, 0])


# name: network, (inputs, labels), optimizer
SMALL = {
    "lenet": (models.LeNet, lambda: models.batch((8, 1, 28, 28), 10), "Momentum"),
    "resnet": (SmallResNet, lambda: models.batch((4, 3, 12, 12), 10), "Momentum"),
    "lstm": (SmallLSTM, lambda: models.batch((4, 6, 8), 10), "Adam"),
    "bert": (lambda: BertClassifier(2, 32, 4, 50, 16), lambda: models.batch((4, 8), 10, 4, 50), "Adam"),
    "gpt": (lambda: models.GPT(2, 32, 2, 1000, 16), lambda: models.batch((2, 16), 1000, 32, 1000), "Adam"),
}
WHOLE = {
    "lenet": (models.LeNet, lambda: models.batch((32, 1, 28, 28), 10), "Momentum"),
    "resnet18": (models.ResNet18, lambda: models.batch((4, 3, 32, 32), 10), "Momentum"),
    "lstm": (models.Recurrent, lambda: models.batch((8, 16, 256), 10), "Adam"),
    "bert": (lambda: BertClassifier(4, 128, 4, 1000, 64), lambda: models.batch((4, 64), 10, 4, 1000), "Adam"),
    "gpt": (lambda: models.GPT(4, 128, 4, 1000, 64), lambda: models.batch((4, 64), 1000, 256, 1000), "Adam"),
}


def training(entry, device="CPU", graph=False, on_cpu=()):
    """A step of training (a function without arguments that gives the loss) with everything on the device but the Cells whose names are in on_cpu."""
    make, data, optimizer = entry
    ms.set_seed(1)
    np.random.seed(0)
    ms.set_device(device)
    net = make()
    net.set_train()
    x, y = data()
    for name, cell in net.cells_and_names():
        if name in on_cpu:
            cell.to("CPU")
    params = net.trainable_params()
    update = nn.Momentum(params, 0.01, 0.9) if optimizer == "Momentum" else nn.Adam(params, 0.001)
    for p in params:
        assert p.device == (device if not any(p.name.startswith(n + ".") for n in on_cpu) else "CPU"), p.name
    loss_fn = nn.CrossEntropyLoss()
    gradient = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None, update.parameters)

    def step(a, b):
        loss, grads = gradient(a, b)
        update(grads)
        return loss
    run = ms.jit(step) if graph else step
    return lambda: run(x, y)
