# SPDX-License-Identifier: Apache-2.0
"""The programs in examples/python do what they say."""
import runpy
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def main_of(name):
    return runpy.run_path(str(ROOT / "examples" / "python" / f"{name}.py"))["main"]


def test_several_images_a_row_train(capsys):
    assert main_of("several_images")() > 0.9
    assert "accuracy" in capsys.readouterr().out


def test_gpt_learns_as_in_mindspore(capsys):
    """MindSpore 2.10 prints 4.655 and 2.939 for the same program, text and number of steps."""
    losses = main_of("gpt")(ROOT / "LICENSE", 40)
    np.testing.assert_allclose([losses[0], np.mean(losses)], [4.655, 2.939], atol=2e-3)
    said = capsys.readouterr().out
    assert "step   39  loss 2.9" in said and "Apache License" in said and len(said) > 200


def test_a_network_out_of_a_file_learns():
    found = main_of("transfer")()
    assert found["upright"] > 0.9 > found["on their side"] + 0.5
    assert found["on their side"] + 0.4 < found["the last two layers learned"] < found["all layers learned"]
    assert found["all layers learned"] > 0.93 and abs(found["all layers learned"] - found["read back from MindIR"]) < 1e-3


def test_a_network_solves_the_heat_equation(capsys):
    assert main_of("heat")(600) < 0.03
    assert "largest error" in capsys.readouterr().out
