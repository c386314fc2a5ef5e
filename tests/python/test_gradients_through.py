# SPDX-License-Identifier: Apache-2.0
"""Gradients through what has none are those of MindSpore, or refused as there, never zeros in silence; gradients_through.py has the networks."""
import json
from pathlib import Path

import numpy as np
import pytest

import spore as ms
import gradients_through

RECORDED = json.loads((Path(__file__).parent / "data/gradients_through.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_as_mindspore(name):
    for found, wanted in zip(gradients_through.answers(ms, name), RECORDED[name]):
        if isinstance(wanted, str):
            assert found == wanted
        else:
            np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-5)


def test_all_are_recorded():
    assert set(gradients_through.cells(ms)) == set(RECORDED)


def test_a_refusal_says_which_and_why():
    with pytest.raises(RuntimeError, match=r"gradient of eig: there is none: .*general matrices.*stop_gradient"):
        ms.grad(lambda a: ms.ops.real(ms.ops.eig(a)[0]).sum())(ms.Tensor([[4.0, 1.0], [2.0, 3.0]]))
    with pytest.raises(RuntimeError, match="gradient of lu: there is none: .*matrix_solve"):
        ms.grad(lambda a: ms.scipy.linalg.lu_factor(a)[0].sum())(ms.Tensor([[4.0, 1.0], [2.0, 3.0]]))


def test_what_is_a_constant_by_word_is_one():
    grad = ms.grad(lambda a: (ms.ops.stop_gradient(ms.ops.histc(a, 4, 0.0, 5.0)).sum() * a).sum())(ms.Tensor([2.0, 3.0]))
    np.testing.assert_array_equal(grad.asnumpy(), [2, 2])


def test_zeta_by_its_exponent():
    """MindSpore gives zero here, which is not the derivative: differences say what is."""
    x, q = ms.Tensor([1.5, 2.5, 7.0, 30.0], ms.float64), ms.Tensor([0.5, 1.0, 3.0, 20.0], ms.float64)
    grad = ms.grad(lambda s: ms.ops.zeta(s, q).sum())(x).asnumpy()
    step = 1e-6
    wanted = ((ms.ops.zeta(x + step, q) - ms.ops.zeta(x - step, q)) / (2 * step)).asnumpy()
    np.testing.assert_allclose(grad, wanted, rtol=1e-7, atol=1e-13)
    second = ms.grad(lambda s: ms.grad(lambda t: ms.ops.zeta(t, q).sum())(s).sum())(x).asnumpy()
    ahead, behind = (ms.grad(lambda s: ms.ops.zeta(s, q).sum())(x + d).asnumpy() for d in (step, -step))
    np.testing.assert_allclose(second, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-12)
