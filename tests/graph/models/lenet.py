# SPDX-License-Identifier: Apache-2.0
"""LeNet-5 on 32 x 32 images, momentum."""
import mindspore as ms
import numpy as np
from common import fill, wave
from mindspore import nn, ops


class LeNet5(nn.Cell):
    def __init__(self, n_classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.fc1 = nn.Dense(16 * 5 * 5, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, n_classes)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.flatten(x)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


def make_step():
    net = fill(LeNet5(), 0.1)
    net.set_train()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def forward(x, y):
        return loss_fn(net(x), y)
    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x, y):
        loss, grads = value_and_grad(x, y)
        return ops.depend(loss, optimizer(grads))
    return step


BATCHES = [(wave(4, 1, 32, 32, phase=i), (np.arange(4, dtype=np.int32) * 3 + i) % 10) for i in range(5)]
