# SPDX-License-Identifier: Apache-2.0
"""Tensors that are written in branches and loops of the run stay themselves: whoever holds them sees it, and so does the caller. Tensors that
objects and modules hold are read and written by every run of a compiled function."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops

HELD = Tensor(np.array([1.0, 2.0], np.float32))


def argument(x, y):
    if y.sum() > 0:
        x.add_(y)
    return x + 0


def argument_of_an_operator(x, y):
    if y.sum() > 0:
        ops.assign_add(x, y)
    return x + 0


def two_names(x, y):
    z = x + 1
    u = z
    if y.sum() > 0:
        z.add_(y)
    return u * 2


def loop(x, y):
    z = x + 1
    u = z
    while z.sum() < 20:
        z.add_(y * y)
    return u * 2


def in_a_list(x, y):
    z = [x + 1, y]
    if y.sum() > 0:
        z[0].add_(y)
    return z[0] * 2


def inner_function(x, y):
    z = x + 1

    def write(q):
        if q.sum() > 0:
            z.add_(q)
    write(y)
    return z + 0


def nested(x, y):
    z = x + 1
    for i in range(3):
        if y.sum() > i:
            if y[0] > 2:
                z.add_(y)
            else:
                z.mul_(y)
        else:
            z.sub_(y)
    return z + 0


def constant(x, y):
    z = ops.zeros((2,), ms.float32)
    if y.sum() > 0:
        z.add_(x)
    return z + y


def given_back(x, y):
    z = x * 1
    if y.sum() > 0:
        z.add_(y)
        return z
    return z + 1


def written_again(x, y):
    z = x * 1
    if y.sum() > 0:
        z.add_(y)
    z.mul_(y)
    if y.sum() < 0:
        z.add_(x)
    return z + x


def of_the_module(x, y):
    before = HELD * 2
    HELD.add_(y)
    return before + HELD + x


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("function", [argument, argument_of_an_operator, two_names, loop, in_a_list, inner_function, nested, constant, given_back,
                                      written_again, of_the_module])
def test_compiled_as_eager(function, sign):
    seen = []
    for run in (function, ms.jit(function)):
        found = []
        HELD.set_data(Tensor(np.array([1.0, 2.0], np.float32)))
        for _ in range(3):
            x, y = Tensor(np.array([1.0, 2.0], np.float32)), Tensor(np.array([3.0 * sign, 1.0], np.float32))
            found += [run(x, y).asnumpy().tolist(), x.asnumpy().tolist(), HELD.asnumpy().tolist()]
        seen.append(found)
    assert seen[0] == seen[1]


class Buffers(nn.Cell):
    def __init__(self, body):
        super().__init__()
        self.b, self.c = Tensor(np.ones(2, np.float32)), Tensor(np.array([2.0, 3.0], np.float32))
        self.held, self.body = [self.b, self.c], body

    def construct(self, x):
        return self.body(self, x)


def by_an_argument(self, x):
    self.b.add_(x)
    return self.b + 0


def by_a_constant(self, x):
    y = self.b * 2
    self.b.add_(self.c)
    return self.b + x + y


def in_a_held_list(self, x):
    self.held[0].mul_(x)
    return self.b + self.held[0]


def by_an_operator(self, x):
    ops.assign(self.b, x + self.b)
    return self.b * 2


@pytest.mark.parametrize("body", [by_an_argument, by_a_constant, in_a_held_list, by_an_operator])
def test_tensors_that_a_cell_holds(body):
    """As MindSpore 2.10 in graph mode: a Tensor that is written is no constant."""
    seen = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            net, x = Buffers(body), Tensor(np.array([1.0, 2.0], np.float32))
            seen.append([v for _ in range(3) for v in (net(x).asnumpy().tolist(), net.b.asnumpy().tolist(), net.c.asnumpy().tolist())])
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
    assert seen[0] == seen[1]
