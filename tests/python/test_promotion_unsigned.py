# SPDX-License-Identifier: Apache-2.0
"""Pairs of dtypes MindSpore refuses on a CPU, so that no recorded answer checks them: the larger unsigned integers with
every other dtype."""
import operator

import pytest

import spore as ms
from spore import Tensor

LARGE = ["uint16", "uint32", "uint64"]
UNSIGNED = ["uint8", *LARGE]
SIGNED = ["int8", "int16", "int32", "int64"]
FLOATING = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


def expected(unsigned, other):
    """Floats and complex numbers stay as they are; a signed partner must be able to hold both, up to int64."""
    if other in FLOATING:
        return other
    if other == "bool_":
        return unsigned
    if other in UNSIGNED:
        return max(unsigned, other, key=UNSIGNED.index)
    return SIGNED[min(3, max(SIGNED.index(other), UNSIGNED.index(unsigned) + 1))]


@pytest.mark.parametrize("unsigned", LARGE)
@pytest.mark.parametrize("other", ["bool_", *UNSIGNED, *SIGNED, *FLOATING])
def test_pairs(unsigned, other):
    x, y = Tensor([3, 2], getattr(ms, unsigned)), Tensor([1, 1], getattr(ms, other))
    wanted = getattr(ms, expected(unsigned, other))
    for function in (operator.add, operator.mul, operator.pow):
        assert function(x, y).dtype == function(y, x).dtype == wanted
    assert (x + y).astype(ms.float32).tolist() == [4, 3]
    quotient = (x / y).dtype
    assert quotient == (y / x).dtype == (wanted if other in FLOATING else ms.float32)


@pytest.mark.parametrize("unsigned", LARGE)
def test_numbers(unsigned):
    x = Tensor([3, 2], getattr(ms, unsigned))
    assert (x + 2).dtype == (2 - x).dtype == (x % 2).dtype == x.dtype and (x // 2).tolist() == [1, 1]
    assert (x + 2.5).dtype == (2.5 ** x).dtype == ms.float32 and (x + 2.5).tolist() == [5.5, 4.5]
