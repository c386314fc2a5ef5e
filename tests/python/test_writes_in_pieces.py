# SPDX-License-Identifier: Apache-2.0
"""Cells that run in pieces around what a graph cannot hold: a Parameter or Tensor that goes from one piece to the next stays itself, so that what is
written to it later is not lost. Eager and compiled agree over three calls."""
import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, nn, ops


class Held(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p = Parameter(Tensor(np.ones(2, np.float32)), name="p")
        self.q = Parameter(Tensor(np.full(2, 3, np.float32)), name="q")
        self.buffer = Tensor(np.ones(2, np.float32))
        self.held = [self.p, None]


class FromAHelper(Held):
    def handed(self, given):
        left = iter(given)
        return [p if p is not None else next(left) for p in self.held]

    def construct(self, *given):
        return ops.assign_add(*self.handed(given))


class Appended(Held):
    def construct(self, *given):
        left, found = iter(given), []
        for p in self.held:
            if p is not None:
                found.append(p)
            else:
                found.append(next(left))
        return ops.assign_add(*found)


class Local(Held):
    def construct(self, x):
        p = self.p
        z = p + 1
        a = np.sort(z.asnumpy())
        ops.assign_add(p, Tensor(a) + x)
        return p + 0


class WrittenOnBothSides(Held):
    def construct(self, x):
        p = self.p
        ops.assign_add(p, x)
        a = np.sort(x.asnumpy())
        ops.assign_add(p, Tensor(a))
        return p + 0


class InADict(Held):
    def construct(self, x):
        found = {"p": self.p, "x": x + 1}
        a = np.sort(x.asnumpy())
        ops.assign_add(found["p"], Tensor(a))
        return found["p"] + found["x"]


class FromAMethod(Held):
    def pick(self, x):
        y = x + 1
        return self.p, y

    def construct(self, x):
        p, y = self.pick(x)
        a = np.sort(y.asnumpy())
        ops.assign_add(p, Tensor(a))
        return p + y


class UnderVmap(Held):
    def handed(self, given):
        left = iter(given)
        return [p if p is not None else next(left) for p in self.held]

    def construct(self, *given):
        return ms.vmap(self.one)(*self.handed(given))

    def one(self, p, x):
        return ops.assign_add(p, x)


class AliasOfAnArgument(Held):
    def construct(self, x):
        y = x
        z = y + 1
        a = np.sort(z.asnumpy())
        y.add_(Tensor(a))
        return x + 0


class TwoNames(Held):
    def construct(self, x):
        u = x + 1
        v = u
        a = np.sort(x.asnumpy())
        u.add_(Tensor(a))
        return v + 0


class TwoNamesOfABuffer(Held):
    def construct(self, x):
        y = self.buffer
        z = y + x
        a = np.sort(z.asnumpy())
        y.add_(Tensor(a))
        return self.buffer + 0


class Chosen(Held):
    def construct(self, x):
        y = self.p if x.sum() > 100 else self.q
        z = y + 1
        a = np.sort(z.asnumpy())
        ops.assign_add(y, Tensor(a))
        return self.p + self.q


@pytest.mark.parametrize("kind", [FromAHelper, Appended, Local, WrittenOnBothSides, InADict, FromAMethod, UnderVmap, AliasOfAnArgument, TwoNames,
                                  TwoNamesOfABuffer, Chosen])
def test_three_calls(kind):
    seen = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            net, found = kind(), []
            for _ in range(3):
                x = Tensor(np.array([1.0, 2.0], np.float32))
                found += [net(x).asnumpy().tolist(), x.asnumpy().tolist(), net.p.asnumpy().tolist(), net.q.asnumpy().tolist(), net.buffer.asnumpy().tolist()]
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
        seen.append(found)
    assert seen[0] == seen[1]
