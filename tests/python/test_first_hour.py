# SPDX-License-Identifier: Apache-2.0
"""What a newcomer meets besides operators: notebooks' tables, `python -m spore`, which Python `spore run` takes."""
import base64
import os
import re
import subprocess
import sys
import types
import zlib
from pathlib import Path

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, nn
from spore._notebook import shorten_tracebacks

BUILD = os.environ.get("SPORE_BUILD")


def texts(html):
    """The texts of a table's fields."""
    return [re.sub("<[^>]*>", "", field) for field in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", html)]


def test_a_tensor_is_a_table():
    html = Tensor([[1.5, 2.0], [3.0, 4.0]])._repr_html_()
    assert texts(html) == ["1.5", "2", "3", "4"] and "Tensor (2, 2) Float32" in html
    assert texts(Tensor(np.arange(100, dtype=np.int32))._repr_html_())[-2:] == ["11", "..."]
    assert "w: Parameter (2,) Float32" in Parameter([1.0, 2.0], name="w")._repr_html_()
    assert "&lt;" not in Tensor(3)._repr_html_() and "<pre>" in ms.ops.ones((2, 2, 2))._repr_html_()
    assert Tensor(np.zeros((0, 3)))._repr_html_()


def test_bytes_of_colours_are_a_picture():
    picture = np.arange(16 * 16 * 3, dtype=np.uint8).reshape(16, 16, 3)
    found = re.search("base64,([^']*)'", Tensor(picture)._repr_html_())
    data = base64.b64decode(found[1])
    assert data.startswith(b"\x89PNG")
    at = data.index(b"IDAT")
    rows = zlib.decompress(data[at + 4:at + 4 + int.from_bytes(data[at - 4:at], "big")])
    assert np.array_equal(np.frombuffer(rows, np.uint8).reshape(16, 49)[:, 1:].reshape(16, 16, 3), picture)
    assert "<img" not in Tensor(picture.astype(np.int32))._repr_html_() and "<img" not in Tensor(picture[:4])._repr_html_()


def test_cells_and_data_sets_are_tables():
    html = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU())._repr_html_()
    assert "SequentialCell: 16 parameters" in html and "(4, 3), (4,)" in texts(html)
    read = []
    data = ms.dataset.GeneratorDataset(lambda: (read.append(i) or (np.float32(i),) for i in range(3)), ["x"]).batch(2)
    html = data._repr_html_()
    assert texts(html) == ["columns", "x", "rows", "not counted", "made by", "BatchDataset &lt;- GeneratorDataset"] and not read
    assert "4" in texts(ms.dataset.NumpySlicesDataset([1, 2, 3, 4])._repr_html_())


def test_summary():
    """Shapes, Parameters once each, multiply-adds by hand; mode and training are as before."""
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv, self.flat, self.fc = nn.Conv2d(3, 8, 3, pad_mode="valid"), nn.Flatten(), nn.Dense(8 * 36, 10)
            self.scale = Parameter([1.0], name="scale")

        def construct(self, x):
            return self.fc(self.flat(self.conv(x))) * self.scale
    net = Net().set_train()
    before = ms.get_context("mode")
    found = ms.summary(net, np.ones((2, 3, 8, 8), np.float32))
    assert [row[:5] for row in found.rows] == [("conv", "Conv2d", (2, 8, 6, 6), 216, 2 * 8 * 36 * 27), ("flat", "Flatten", (2, 288), 0, 0),
                                               ("fc", "Dense", (2, 10), 2890, 2 * 10 * 288), ("(elsewhere)", "Parameters", "", 1, 0)]
    assert found.parameters == sum(p.size for p in net.get_parameters()) and found.rows[0][5] == 2 * 8 * 36 * 4
    assert net.training and ms.get_context("mode") == before and not net.conv._hooks
    assert str(found).endswith("MiB of outputs") and "<table>" in found._repr_html_()
    with pytest.raises(ValueError):
        ms.summary(net, np.ones((2, 8, 8, 3), np.float32))
    assert not net.conv._hooks


def test_a_history_is_a_table():
    history = ms.train.History()
    history.epoch, history.history = {"epoch": [1, 2]}, {"net_output": [0.5, 0.25]}
    assert texts(history._repr_html_()) == ["epoch", "net_output", "1", "0.5", "2", "0.25"]


class Shell:
    """As much of IPython's shell as is used."""
    def __init__(self, mode="Context"):
        self.custom_exceptions, self.InteractiveTB, self.shown = (), types.SimpleNamespace(mode=mode, context=5), None

    def set_custom_exc(self, kinds, handler):
        self.custom_exceptions, self.handler = kinds, handler

    def showtraceback(self, error, tb_offset):
        frames, trace = [], error[2]
        while trace is not None:
            frames.append(trace.tb_frame.f_code.co_filename)
            trace = trace.tb_next
        self.shown = frames


@pytest.mark.parametrize("mode, short", [("Context", True), ("Verbose", False)])
def test_a_notebook_shows_the_users_lines(mode, short):
    shell = Shell(mode)
    shorten_tracebacks(shell)
    with pytest.raises(ValueError) as caught:
        nn.SequentialCell(nn.SequentialCell(nn.Dense(3, 4)))(ms.ops.ones((2, 5)))
    shell.handler(shell, type(caught.value), caught.value, caught.value.__traceback__, 1)
    assert (set(shell.shown) == {__file__}) == short
    assert shell.InteractiveTB.context == 5


def test_a_handler_of_somebody_else_stays():
    shell = Shell()
    shell.custom_exceptions = (KeyError,)
    shorten_tracebacks(shell)
    assert shell.custom_exceptions == (KeyError,)


def test_python_m_spore():
    done = subprocess.run([sys.executable, "-m", "spore", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("spore 0.")     # another test may have made ms.__version__ MindSpore's
    done = subprocess.run([sys.executable, "-m", "spore", "run", "-c", "import mindspore, sys; print(mindspore.Tensor(3), sys.executable)"],
                          capture_output=True, text=True)
    assert done.stdout.split() == ["3", sys.executable], done.stderr


@pytest.mark.skipif(not BUILD, reason="SPORE_BUILD does not name a build folder")
def test_run_takes_the_active_environment(tmp_path):
    """The interpreter of VIRTUAL_ENV when it has numpy; else the recorded one, and that is said."""
    environment = {name: value for name, value in os.environ.items() if name not in ("SPORE_PYTHON", "CONDA_PREFIX")}
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").write_text(f'#!/bin/sh\necho active\nexec {sys.executable} "$@"\n')
    (tmp_path / "bin/python3").chmod(0o755)
    command = [str(Path(BUILD) / "spore"), "run", "-c", "print(1)"]
    environment["VIRTUAL_ENV"] = str(tmp_path)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.stdout == "1\n" and "the environment that VIRTUAL_ENV names has no numpy;" in done.stderr
    (tmp_path / "lib/python3.11/site-packages/numpy").mkdir(parents=True)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.stdout == "active\n1\n" and done.stderr == ""
    environment["SPORE_PYTHON"] = sys.executable
    assert subprocess.run(command, env=environment, capture_output=True, text=True).stdout == "1\n"
