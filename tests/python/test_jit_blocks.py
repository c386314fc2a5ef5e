# SPDX-License-Identifier: Apache-2.0
"""Blocks between `_jit_begin` and `_jit_end`."""
import pytest

import spore as ms
from spore import Tensor
from spore.common.jit_begin_end import _jit_begin, _jit_end


def test_the_results_are_those_of_the_statements():
    def f(x, y):
        _jit_begin("block", x, y)
        z = x * y
        z = _jit_end(z)
        return z * z
    assert float(f(Tensor(2.0), Tensor(3.0))) == 36 and float(ms.grad(f)(Tensor(2.0), Tensor(3.0))) == 36
    _jit_begin("two")
    assert _jit_end(1, 2) == (1, 2)


def test_blocks_do_not_nest():
    _jit_begin("outer")
    with pytest.raises(RuntimeError, match="'inner' begins inside 'outer'"):
        _jit_begin("inner")
    _jit_end()
    with pytest.raises(TypeError, match="name of the block"):
        _jit_begin(Tensor(1.0))
