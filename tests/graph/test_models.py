# SPDX-License-Identifier: Apache-2.0
"""The five models of models/ train to the same loss curves, bit by bit, eagerly, with a compiled step, and in GRAPH_MODE.
(test_programs.py compares the curves with MindSpore's.)"""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import graphtest  # noqa: E402

MODELS = ("lenet", "resnet", "bilstm_crf", "transformer", "gan")


@pytest.fixture(scope="module")
def runner():
    with graphtest.Runner("spore") as one:
        yield one


@pytest.mark.parametrize("model", MODELS)
def test_curves_are_equal_in_all_modes(runner, model):
    result = runner.run(f"train_{model}")
    assert "out" in result, graphtest.said(result)
    curves = dict(result["out"]["dict"])
    assert set(curves) == {"pynative", "jit", "graph"}
    assert curves["jit"] == curves["pynative"]
    assert curves["graph"] == curves["pynative"]
