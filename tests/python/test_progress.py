# SPDX-License-Identifier: Apache-2.0
"""How far a training is: bars on terminals, lines in pipes, cells of notebooks; histories and pictures of them."""
import io
import os
import pty
import subprocess
import sys
import types
import xml.etree.ElementTree as tree

import numpy as np
import pytest

import spore as ms
from spore import Tensor, dataset, nn, train
from spore.train import LossMonitor, Model, progress

PROGRAM = """
import sys, numpy as np
from spore import dataset, nn
from spore.train import Model, LossMonitor, progress
progress._DRAW = 0
rows = dataset.NumpySlicesDataset((np.ones((8, 3), 'float32'), np.zeros((8, 1), 'float32')), ['x', 'y'], shuffle=False).batch(2)
net = nn.Dense(3, 1, weight_init='ones', bias_init='zeros')
model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.125), metrics={'mae'})
before = sys.stdout
model.train(2, rows, callbacks=[LossMonitor()] if 'monitor' in sys.argv else None)
assert sys.stdout is before
print(model.eval(rows))
"""


@pytest.fixture
def model():
    rows = dataset.NumpySlicesDataset((np.ones((8, 3), "float32"), np.zeros((8, 1), "float32")), ["x", "y"], shuffle=False).batch(2)
    net = nn.Dense(3, 1, weight_init="ones", bias_init="zeros")
    found = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.125), metrics={"mae"})
    found.rows = rows
    return found


@pytest.fixture(autouse=True)
def as_by_default(monkeypatch):
    monkeypatch.delenv("SPORE_PROGRESS", raising=False)
    yield
    train.set_progress("auto")


def screen(data):
    """What a terminal shows in the end: lines, with carriage returns and erasures carried out."""
    lines, line, column = [], "", 0
    i = 0
    while i < len(data):
        if data.startswith("\033[K", i):
            line, i = line[:column], i + 3
            continue
        if data[i] == "\n":
            lines.append(line)
            line, column = "", 0
        elif data[i] == "\r":
            column = 0
        else:
            line, column = line[:column] + data[i] + line[column + 1:], column + 1
        i += 1
    return [*lines, line]


def on_terminal(*arguments, **variables):
    """All that a program writes to a terminal, and what is left to be seen."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
                          env={**os.environ, "PYTHONIOENCODING": "utf-8", "TERM": "xterm", **variables}) as child:
        os.close(theirs)
        data = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:          # the other side is closed
                break
            if not piece:
                break
            data += piece
    os.close(ours)
    text = data.decode()
    assert child.returncode == 0, text
    return text, screen(text)


def test_a_terminal_shows_a_bar():
    drawn, seen = on_terminal()
    assert "1/4" in drawn and " left" in drawn and "\r" in drawn
    kept = [line for line in seen if line]
    assert len(kept) >= 3 and kept[0].startswith("epoch 1/2 ━") and "4/4  loss" in kept[0] and kept[1].startswith("epoch 2/2 ━")
    assert kept[-1] == "{'mae': 0.0}" and not any("left" in line for line in kept)


def test_what_a_program_prints_stands_above_the_bar():
    drawn, seen = on_terminal("monitor")
    assert "epoch 1/2 ━" in drawn
    assert [line for line in seen if line][:8] == [f"epoch: {epoch} step: {step}, loss is {9.0 if epoch == step == 1 else 0.0}"
                                                  for epoch in (1, 2) for step in range(1, 5)]
    assert not any("steps/s" in line and "loss is" in line for line in seen)


def test_a_terminal_without_utf8_and_one_that_is_silent():
    drawn, _ = on_terminal(PYTHONIOENCODING="ascii")
    assert "epoch 1/2 =" in drawn and "━" not in drawn
    drawn, seen = on_terminal("monitor", SPORE_PROGRESS="off")
    assert "\033" not in drawn and [line for line in seen if line][8:] == ["{'mae': 0.0}"]


def test_elsewhere_lines(model, monkeypatch, capsys):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_LINE", 0.0)
    model.fit(2, model.rows, model.rows)
    lines = stream.getvalue().splitlines()
    assert [line.split(":")[0] for line in lines] == ["epoch 1/2", "epoch 2/2"]
    assert "4/4  loss 2.25  mae 0  eval_loss 0" in lines[0] and "steps/s" in lines[0] and capsys.readouterr().out == ""
    model.eval(model.rows)
    assert stream.getvalue().splitlines()[2].startswith("eval: 4/4  mae 0")
    stream.truncate(0)
    model.train(1, model.rows, callbacks=LossMonitor())          # it prints itself
    assert stream.getvalue() == "" and capsys.readouterr().out.count("loss is") == 4


def test_short_epochs_and_long_ones(model, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_LINE", 1e9)
    model.train(50, model.rows)
    assert [line.split(":")[0] for line in stream.getvalue().splitlines()] == ["epoch 1/50", "epoch 50/50"]
    stream.truncate(0)
    monkeypatch.setattr(progress, "_LONG", 0.0)
    model.train(1, model.rows)
    assert [line.split()[2] for line in stream.getvalue().splitlines()] == ["1/4", "2/4", "3/4", "4/4", "4/4"]


def test_one_switch(model, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    for off in (False, "off", "0", "false"):
        train.set_progress(off)
        model.train(1, model.rows)
        assert stream.getvalue() == "" and train.get_progress() == "off"
    train.set_progress(True)
    assert train.get_progress() == "auto"
    progress._asked = None
    monkeypatch.setenv("SPORE_PROGRESS", "sometimes")
    with pytest.raises(ValueError, match="SPORE_PROGRESS must be one of 'auto', 'bar', 'lines', 'off', but got 'sometimes'"):
        model.train(1, model.rows)
    for wrong, error in (("loud", ValueError), (3, TypeError), (None, TypeError)):
        with pytest.raises(error, match="set_progress"):
            train.set_progress(wrong)


def test_a_stream_that_is_closed_ends_no_training(model, monkeypatch):
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    model.train(1, model.rows)
    monkeypatch.setattr(sys, "stderr", None)
    model.train(1, model.rows)


def test_a_notebook_gets_one_display_that_changes(model, monkeypatch):
    shown = []

    def display(what, display_id):
        shown.append(what._repr_html_())
        return types.SimpleNamespace(update=lambda what: shown.append(what._repr_html_()))
    shell = types.SimpleNamespace(kernel=object())
    fake = types.ModuleType("IPython")
    fake.get_ipython, fake.display = lambda: shell, types.ModuleType("IPython.display")
    fake.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", fake.display)
    monkeypatch.setattr(progress, "_DRAW", 0.0)
    model.train(2, model.rows)
    assert "<progress value='0.250'" in shown[0] and "epoch 2/2: 4/4" in shown[-1] and "<progress" not in shown[-1]
    del shell.kernel                                                # IPython in a terminal
    count = len(shown)
    model.train(1, model.rows)
    assert len(shown) == count


def test_a_history_has_columns_of_one_length(model):
    assert model.history == {}
    model.fit(3, model.rows, model.rows, valid_frequency=2)
    assert model.history["epoch"] == [1, 2, 3] and model.history["loss"] == [2.25, 0.0, 0.0]
    assert np.isnan(model.history["mae"][0]) and model.history["mae"][1] == 0.0 and len(model.history["seconds"]) == 3
    model.train(4, model.rows, initial_epoch=3)
    assert model.history["epoch"] == [1, 2, 3, 4] and {len(column) for column in model.history.values()} == {4}
    model.train(1, model.rows)
    assert model.history["epoch"] == [1] and "<table>" in model.history._repr_html_()


def test_a_metric_may_have_the_name_of_a_column(model):
    other = Model(model.train_network.network.backbone_network, nn.MSELoss(), model._optimizer, metrics={"loss": train.Loss(), "epoch": nn.MAE()})
    other.fit(1, model.rows, model.rows)
    assert list(other.history) == ["epoch", "loss", "seconds", "eval_loss", "eval_epoch"] and other.history["epoch"] == [1]


def test_networks_that_return_no_loss(model):
    class Nothing(nn.Cell):
        def construct(self, x, y):
            return (x > 0).sum()
    other = Model(Nothing())
    other.train(1, model.rows)
    assert np.isnan(other.history["loss"][0])
    with pytest.raises(ValueError, match="no numbers to draw"):
        other.history.plot()


def test_curves_are_svg_and_png(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)            # an import of it fails
    model.fit(3, model.rows, model.rows)
    picture = model.history.plot(tmp_path / "curves.svg")
    root = tree.parse(tmp_path / "curves.svg").getroot()
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"loss", "mae", "eval_loss", "epoch", "1", "2", "3"} <= set(texts) and "seconds" not in texts
    lines = [e.get("points").split() for e in root.iter("{http://www.w3.org/2000/svg}polyline") if e.get("stroke-width") == "2"]
    assert [len(line) for line in lines] == [3, 3, 3]
    heights = [float(point.split(",")[1]) for point in lines[0]]
    assert heights[0] < heights[1] == heights[2]                    # the loss falls; y grows downwards
    assert picture._repr_svg_() == (tmp_path / "curves.svg").read_text()
    picture.save(tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes() == picture.png() and picture.png().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="must end in .svg or .png, but is 'x.gif'"):
        picture.save("x.gif")
    train.plot({"one": [1.0]}).png()
    train.plot({"flat": [0.0, 0.0]}).svg()


def test_a_confusion_matrix_is_a_picture(tmp_path):
    matrix = train.ConfusionMatrix(2)
    matrix.update(Tensor([1, 0, 1, 1]), Tensor([1, 0, 0, 1]))
    text = matrix.plot(tmp_path / "matrix.svg").svg()
    numbers = [element.text for element in tree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert numbers == ["0", "1", "1", "1", "0", "2", "0", "1", "rows: truth, columns: prediction"]
    assert train.plot(np.eye(3)).png() and train.plot(ms.ops.eye(40, 40)).png()
    for wrong, error in ((3, TypeError), (np.zeros((2, 2, 2)), ValueError), ("loss", TypeError)):
        with pytest.raises(error, match="plot: "):
            train.plot(wrong)


def test_a_history_callback_is_drawn(model):
    history = train.History()
    model.train(2, model.rows, callbacks=history)
    assert ">net_output<" in train.plot(history).svg()
