# SPDX-License-Identifier: Apache-2.0
"""A wrong shape in a notebook: a few lines, the user's own last."""
import re

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed; build/venv-beside has it")
nbformat = pytest.importorskip("nbformat")
pytestmark = pytest.mark.long

DEFINE = """
import numpy as np, spore as ms
from spore import nn, ops, Tensor
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.fc = nn.SequentialCell(nn.Dense(9, 4), nn.ReLU())
    def construct(self, x):
        x = self.conv(x)
        return self.fc(x)
net = Net()
x = Tensor(np.ones((1, 3, 8, 8), np.float32))
"""
STEP = "ms.value_and_grad(lambda a: net(a).sum(), None, net.trainable_params())(x)"


def test_a_wrong_shape_is_short():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (
        DEFINE, "net(x)", STEP, "ms.set_context(mode=ms.GRAPH_MODE)\nnet(x)", "x.reshape(7)", "x[0, 0]", "net")])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", allow_errors=True).execute()
    for cell, last in zip(book.cells[1:5], ("return self.fc(x)", "return self.fc(x)", "net(x)", "x.reshape(7)")):
        error, = (o for o in cell.outputs if o.output_type == "error")
        lines = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback)).split("\n")
        assert len(lines) <= 15, "\n".join(lines)
        marked = [line for line in lines if re.match("-+> ", line)]
        assert marked[-1].endswith(last), "\n".join(lines)
    tensor, net = (cell.outputs[0]["data"] for cell in book.cells[5:])
    assert "<table>" in tensor["text/html"] and tensor["text/plain"].startswith("Tensor(")
    assert "parameters" in net["text/html"]
