# SPDX-License-Identifier: Apache-2.0
"""Long loops, deep recursion and long chains: constant memory, no stack that runs over."""
import pytest

import spore as ms
from spore import Tensor


def counted(x, n):
    i = Tensor(0)
    while i < n:
        x = x * 0.999999 + 1e-7
        i = i + 1
    return x, i


def added(x, n):
    if n > 0:
        return x + added(x, n - 1)
    return x


def chain(x):
    for _ in range(5000):
        x = x + 1
    return x


def endless(x, n):
    if n > 0:
        return x + endless(x, n + 1)
    return x


def test_a_million_turns_use_constant_memory():
    f = ms.jit(counted)
    f(Tensor(1.0), Tensor(1000))
    ms.runtime.reset_max_memory_allocated()
    before = ms.runtime.memory_allocated()
    _, turns = f(Tensor(1.0), Tensor(1_000_000))
    assert int(turns) == 1_000_000
    assert ms.runtime.max_memory_allocated() - before < 65536


def test_recursion_a_thousand_deep():
    assert float(ms.jit(added)(Tensor(1.0), Tensor(1000))) == 1001


def test_recursion_without_end_is_an_error():
    with pytest.raises(RuntimeError, match="call depth"):
        ms.jit(endless)(Tensor(1.0), Tensor(1))


def test_chain_of_5000_nodes():
    f = ms.jit(chain)
    assert float(f(Tensor(0.0))) == 5000
    assert float(ms.jit(ms.grad(chain))(Tensor(0.0))) == 1
