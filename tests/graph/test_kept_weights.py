# SPDX-License-Identifier: Apache-2.0
"""A compiled program keeps weights in the form that kernels want as long as nobody changes them: whoever does is noticed."""
import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        rng = np.random.RandomState(0)
        self.dense = Parameter(Tensor(rng.rand(96, 64).astype(np.float32)), name="dense")
        self.point = Parameter(Tensor(rng.rand(48, 32, 1, 1).astype(np.float32)), name="point")
        self.window = Parameter(Tensor(rng.rand(64, 48, 3, 3).astype(np.float32)), name="window")

    def construct(self, x, y):
        picture = ops.conv2d(ops.conv2d(y, self.point), self.window, pad_mode="pad", padding=1)
        return ops.matmul(x, self.dense), picture


def by_set_data(p):
    p.set_data(p + 1)


def by_assign(p):
    ops.assign(p, p * 2)


def by_item(p):
    p[0] = 7


def by_array(p):
    p.asnumpy()[...] *= 3


def by_swap(p):
    """Memory of the same size at, perhaps, the same address."""
    for i in range(3):
        p.set_data(Tensor(np.full(p.shape, i, np.float32)))


@pytest.mark.parametrize("change", [by_set_data, by_assign, by_item, by_array, by_swap])
def test_changes_are_noticed(change):
    net = Net()
    program = ms.jit(net)
    rng = np.random.RandomState(1)
    x, y = Tensor(rng.rand(40, 96).astype(np.float32)), Tensor(rng.rand(2, 32, 14, 14).astype(np.float32))

    def agree():
        for found, want in zip(program(x, y), net(x, y)):
            np.testing.assert_array_equal(found.asnumpy(), want.asnumpy())
    for _ in range(4):
        agree()
    for p in net.get_parameters():
        change(p)
        for _ in range(4):
            agree()


def test_an_array_that_lives_on_may_write_at_any_time():
    net = Net()
    program = ms.jit(net)
    x, y = Tensor(np.ones((40, 96), np.float32)), Tensor(np.ones((2, 32, 14, 14), np.float32))
    array = net.dense.asnumpy()
    for i in range(5):
        array[...] = i
        np.testing.assert_array_equal(program(x, y)[0].asnumpy(), np.full((40, 64), 96 * i, np.float32))
    del array
    for i in range(4):
        np.testing.assert_array_equal(program(x, y)[0].asnumpy(), np.full((40, 64), 96 * 4, np.float32))
