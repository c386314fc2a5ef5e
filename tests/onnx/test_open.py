# SPDX-License-Identifier: Apache-2.0
"""Models with open sizes, of which they make numbers, masks and places: converted without sizes they give ONNX Runtime's answers at sizes that the conversion never saw.
make_open.py writes the models and the answers."""
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from spore import Tensor, nn, onnx
from spore.train import serialization

DATA = Path(__file__).parent / "data"
ANSWERS = dict(np.load(DATA / "open.npz"))
NAMES = sorted({key.split(".")[0] for key in ANSWERS})
COMMAND = Path(os.environ["SPORE_BUILD"]) / "spore"


def trial(name, i):
    """({input: array}, {output: array})"""
    return tuple({key.split(".")[3]: value for key, value in ANSWERS.items() if key.startswith(f"{name}.{i}.{way}.")}
                 for way in ("in", "out"))


@pytest.mark.parametrize("ending", ["onnx", "mindir"])
@pytest.mark.parametrize("name", NAMES)
def test_sizes_stay_open(name, ending, tmp_path):
    target = tmp_path / f"{name}.{ending}"
    done = subprocess.run([COMMAND, "convert", DATA / f"open_{name}.onnx", target], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    net = onnx.load(str(target)) if ending == "onnx" else nn.GraphCell(serialization.load(str(target)))
    for i in sorted({int(key.split('.')[1]) for key in ANSWERS if key.split('.')[0] == name}):
        inputs, outputs = trial(name, i)
        found = net(*map(Tensor, inputs.values()))
        found = found if isinstance(found, tuple) else (found,)
        for value, (key, wanted) in zip(found, outputs.items()):
            assert value.shape == wanted.shape, (key, i)
            assert np.allclose(value.asnumpy(), wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max()), (key, i)
