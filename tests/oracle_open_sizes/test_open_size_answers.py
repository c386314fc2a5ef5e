# SPDX-License-Identifier: Apache-2.0
"""Networks of open_nets.py written with open sizes give, read again here, what MindSpore's networks gave (answers.json); ask.py says how that was asked."""
import json
import pathlib

import numpy as np
import pytest

import spore as ms
from ask import inputs, net_of, summary
from open_nets import NETS, open_shape

ANSWERS = json.loads((pathlib.Path(__file__).parent / "answers.json").read_text())
QUICK = [name for i, name in enumerate(NETS) if i % 8 == 0 or name.startswith("layer")]


def check(name, tmp_path):
    for kind in ("MINDIR", "ONNX"):
        net = net_of(str(tmp_path), name, "spore")
        face = ms.Tensor(shape=open_shape(name), dtype=ms.float32)
        net.set_inputs(face)
        ms.export(net, face, file_name=str(tmp_path / "net"), file_format=kind)
        read = ms.nn.GraphCell(ms.load(str(tmp_path / "net.mindir"))) if kind == "MINDIR" else ms.onnx.load(str(tmp_path / "net.onnx"))
        for x, answer in zip(inputs(name), ANSWERS[name]):
            shape, numbers = summary(read(ms.Tensor(x)).asnumpy())
            assert shape == answer[0]
            np.testing.assert_allclose(numbers, answer[1], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", QUICK)
def test_as_mindspore(name, tmp_path):
    check(name, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in NETS if name not in QUICK])
def test_all_as_mindspore(name, tmp_path):
    check(name, tmp_path)
