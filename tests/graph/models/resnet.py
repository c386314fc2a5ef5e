# SPDX-License-Identifier: Apache-2.0
"""A small residual network with batch normalisation, Adam, through TrainOneStepCell."""
import numpy as np
from common import fill, wave
from mindspore import nn, ops


class Block(nn.Cell):
    def __init__(self, n_in, n_out, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, pad_mode="same")
        self.bn1 = nn.BatchNorm2d(n_out)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, pad_mode="same")
        self.bn2 = nn.BatchNorm2d(n_out)
        self.relu = nn.ReLU()
        self.down = None
        if stride != 1 or n_in != n_out:
            self.down = nn.SequentialCell(nn.Conv2d(n_in, n_out, 1, stride, pad_mode="same"), nn.BatchNorm2d(n_out))

    def construct(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        if self.down is not None:
            x = self.down(x)
        return self.relu(x + y)


class ResNet(nn.Cell):
    def __init__(self, n_classes=5):
        super().__init__()
        self.stem = nn.SequentialCell(nn.Conv2d(3, 8, 3, pad_mode="same"), nn.BatchNorm2d(8), nn.ReLU())
        self.blocks = nn.CellList([Block(8, 8), Block(8, 16, 2), Block(16, 16)])
        self.head = nn.Dense(16, n_classes)

    def construct(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(ops.mean(x, (2, 3)))


def make_step():
    net = fill(ResNet(), 0.2)
    optimizer = nn.Adam(net.trainable_params(), 0.005)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
    step.set_train()
    return step


BATCHES = [(wave(4, 3, 16, 16, phase=i), (np.arange(4, dtype=np.int32) + i) % 5) for i in range(5)]
