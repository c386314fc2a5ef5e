# SPDX-License-Identifier: Apache-2.0
"""Element-wise chains that a reduction closes: done by the reduction, bit for bit as in separate steps, without the whole in memory."""
import re

import numpy as np
import pytest

import spore as ms
from spore import Tensor, ops
from spore.graph import compiler

SHAPES = [(8, 5), (64, 300), (300, 1000), (2, 200000), (7, 9000)]


def squares(a, b):
    return ((a - b) * (a - b)).mean()


def columns(a, b):
    return (a * b + 1).sum(0)


def rows(a, b):
    return ops.exp(a - b).sum(1)


def most(a, b):
    return ops.amax(a * 2 - b, -1)


def least(a, b):
    return ops.amin(ops.abs(a - b))


def spread(a, b):
    return (a * b[0] + b[:, :1]).sum((0, 1))


def used_besides(a, b):
    c = ops.tanh(a * b)
    return c.sum(0), ops.matmul(c, b.T), c.mean(1)


def several_results(a, b):
    c = a + b
    d = c * c
    return d.sum(1), c, d


CHAINS = [squares, columns, rows, most, least, spread, used_besides, several_results]


def report(jitted):
    programs = [entry.program for entries in compiler.compiled_of(jitted).entries.values() for entry in entries]
    return "".join(program.report() for program in programs)


@pytest.mark.parametrize("chain", CHAINS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_same_bits(chain, shape):
    random = np.random.RandomState(1)
    a, b = (Tensor(random.randn(*shape).astype(np.float32)) for _ in range(2))
    want = chain(a, b)
    jitted = ms.jit(chain)
    for _ in range(3):
        got = jitted(a, b)
        for x, y in zip(*(v if isinstance(v, tuple) else (v,) for v in (got, want))):
            assert x.asnumpy().tobytes() == y.asnumpy().tobytes()
    if shape[1] >= 48 or chain is not spread:    # shorter runs are not worth a chain
        assert int(re.search(r"(\d+) by reductions", report(jitted))[1]) > 0


def test_the_whole_is_never_in_memory():
    a, b = ops.ones((1000, 1000)), ops.ones((1000, 1000))
    jitted = ms.jit(squares)
    assert jitted(a, b) == 0
    assert int(re.search(r"arena (\d+) bytes", report(jitted))[1]) < 4_000_000 * 0.5


def test_gradients_of_a_loss():
    random = np.random.RandomState(2)
    a, b = (Tensor(random.randn(300, 1000).astype(np.float32)) for _ in range(2))
    gradient = ms.value_and_grad(lambda x, y: (ops.tanh(x) * y).sum() + squares(x, y), (0, 1))
    for x, y in zip(ms.jit(gradient)(a, b)[1], gradient(a, b)[1]):
        assert x.asnumpy().tobytes() == y.asnumpy().tobytes()
