# SPDX-License-Identifier: Apache-2.0
"""What follows a batch norm element by element in a training step is done by it, channel by channel: bits of separate steps."""
import re

import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops
from spore.graph import compiler


class Block(nn.Cell):
    """Normalisation followed by ReLU, and by a residual and ReLU, over planes of `size` elements a side."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 20, 3, has_bias=True)
        self.norm1, self.norm2 = nn.BatchNorm2d(20), nn.BatchNorm2d(20)

    def construct(self, x):
        y = self.conv(x)
        z = ops.relu(self.norm1(y))
        return ops.relu(self.norm2(z * 0.5) + y), z


def step_of(net):
    def loss(x):
        out, between = net(x)
        return (out * out).mean() + ops.sin(between).mean()

    return ms.value_and_grad(loss, 0, net.trainable_params())


@pytest.mark.parametrize("size", [5, 22, 23, 40])
def test_same_bits(size):
    x = Tensor(np.random.RandomState(size).randn(3, 3, size, size).astype(np.float32))
    found = []
    for compiled in (False, True):
        ms.set_seed(4)
        net = Block()
        net.set_train()
        step = step_of(net)
        step = ms.jit(step) if compiled else step
        for _ in range(2):
            value, (dx, weights) = step(x)
        kept = [p.asnumpy() for p in net.get_parameters()]
        found.append([value.asnumpy(), dx.asnumpy()] + [w.asnumpy() for w in weights] + kept)
    for eager, graph in zip(*found):
        np.testing.assert_array_equal(eager, graph)
    programs = [entry.program for entries in compiler.compiled_of(step).entries.values() for entry in entries]
    tails = int(re.search(r"(\d+) done by products", "".join(p.report() for p in programs)).group(1))
    assert (tails >= 3) == (size * size >= 512)  # ReLU; sum and ReLU
