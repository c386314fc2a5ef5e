# SPDX-License-Identifier: Apache-2.0
"""Functions under vmap that write to their slices: the Tensors these come from are written, eager and compiled, whatever axes and chunks."""
import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, ops

START = np.arange(12, dtype=np.float32).reshape(3, 4)
GIVEN = START[::-1] * 0.5 + 1


def add(p, x):
    return ops.assign_add(p, x) * 2


def by_slice(p, x):
    """Its course depends on the slice."""
    if x.sum() > 8:
        ops.assign_add(p, x)
    return p * 1


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("axis, chunk", [(0, None), (0, 2), (1, None), (1, 3), (-1, 2)])
def test_slices_of_a_parameter(axis, chunk, compiled):
    p = Parameter(Tensor(START), name="p")
    over = ms.vmap(add, (axis, axis), axis, chunk)
    run = ms.jit(lambda x: over(p, x)) if compiled else lambda x: over(p, x)
    for turn in (1, 2):
        np.testing.assert_allclose(run(Tensor(GIVEN)).asnumpy(), (START + turn * GIVEN) * 2)
        np.testing.assert_allclose(p.asnumpy(), START + turn * GIVEN)


def until(p, x):
    while p.sum() < 40:
        ops.assign_add(p, x)
    return p * 1


@pytest.mark.parametrize("compiled", [False, True])
def test_slice_by_slice(compiled):
    p, wanted = Parameter(Tensor(START), name="p"), START
    over = ms.vmap(by_slice)
    run = ms.jit(lambda x: over(p, x)) if compiled else lambda x: over(p, x)
    for _ in range(3):
        wanted = wanted + GIVEN * (GIVEN.sum(1, keepdims=True) > 8)
        np.testing.assert_allclose(run(Tensor(GIVEN)).asnumpy(), wanted)
        np.testing.assert_allclose(p.asnumpy(), wanted)


@pytest.mark.parametrize("compiled", [False, True])
def test_loops_over_slices(compiled):
    p, wanted = Parameter(Tensor(START), name="p"), START.copy()
    over = ms.vmap(until)
    for row, given in zip(wanted, GIVEN):
        while row.sum() < 40:
            row += given
    np.testing.assert_allclose((ms.jit(lambda x: over(p, x)) if compiled else lambda x: over(p, x))(Tensor(GIVEN)).asnumpy(), wanted)
    np.testing.assert_allclose(p.asnumpy(), wanted)


def test_what_all_slices_share_is_written_to_each():
    p = Parameter(Tensor(START), name="p")
    ms.vmap(lambda p, x: ops.assign(p, x), (0, None))(p, Tensor(GIVEN[0]))
    np.testing.assert_array_equal(p.asnumpy(), np.broadcast_to(GIVEN[0], START.shape))


def test_gradient_around():
    p = Parameter(Tensor(START), name="p")
    grad = ms.grad(lambda x: (ms.vmap(lambda p, x: ops.assign_add(p, x) * x)(p, x)).sum())(Tensor(GIVEN))
    np.testing.assert_allclose(grad.asnumpy(), START + 2 * GIVEN)
    np.testing.assert_allclose(p.asnumpy(), START + GIVEN)
