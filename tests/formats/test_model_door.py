# SPDX-License-Identifier: Apache-2.0
"""What models of every kind take: the shapes that their files declare, and nothing else; and what they call what they give."""
import pathlib
import subprocess

import numpy as np
import pytest

import spore as ms
from spore import nn, ops


class Picture(nn.Cell):
    """Takes pictures of any size, if nobody asks what it was made for."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)

    def construct(self, x):
        return ops.mean(self.conv(x), (2, 3))


class Several(nn.Cell):
    def construct(self, x):
        return x + 1, x * 2, (x - 1, x / 2)


def write(kind, net, path, *shape):
    net.set_train(False)
    x = ms.Tensor(np.ones([1 if d is None else d for d in shape], np.float32))
    if kind == "onnx":
        free = {"x": {i: f"d{i}" for i, d in enumerate(shape) if d is None}}
        ms.onnx.export(net, x, file_name=str(path), input_names=["x"], dynamic_axes=free if free["x"] else None)
    else:
        ms.export(net, ms.Tensor(shape=list(shape), dtype=ms.float32) if None in shape else x, file_name=str(path), file_format="MINDIR")
    return path


def predict(command, path, x, folder):
    np.save(folder / "x.npy", x)
    return subprocess.run([command, "predict", str(path), "--input", str(folder / "x.npy")], capture_output=True, text=True, check=False)


@pytest.fixture
def command():
    import os # pylint: disable=import-outside-toplevel
    return pathlib.Path(os.environ["SPORE_BUILD"]) / "spore"


WRONG = [(1, 1, 32, 32), (1, 1, 28, 27), (2, 1, 28, 28), (1, 28, 28), (1, 1, 28, 28, 1), (1, 1, 0, 28), (1, 1, 27, 28)]


@pytest.mark.parametrize("kind", ["mindir", "onnx"])
def test_predict_takes_declared_shapes(kind, tmp_path, command):
    path = write(kind, Picture(), tmp_path / f"net.{kind}", 1, 1, 28, 28)
    assert predict(command, path, np.ones((1, 1, 28, 28), np.float32), tmp_path).returncode == 0
    for shape in WRONG:
        done = predict(command, path, np.ones(shape, np.float32), tmp_path)
        assert done.returncode == 1 and "it must have (1, 1, 28, 28)" in done.stderr, (shape, done)


@pytest.mark.parametrize("kind", ["mindir", "onnx"])
def test_open_dimensions_stay_open(kind, tmp_path, command):
    path = write(kind, Picture(), tmp_path / f"net.{kind}", None, 1, None, 28)
    for shape in ((1, 1, 28, 28), (3, 1, 17, 28)):
        assert predict(command, path, np.ones(shape, np.float32), tmp_path).returncode == 0
    for shape in ((1, 2, 28, 28), (1, 1, 28, 29), (1, 28, 28)):
        assert predict(command, path, np.ones(shape, np.float32), tmp_path).returncode == 1


def test_equal_names_are_equal_sizes(tmp_path):
    class Pair(nn.Cell):
        def construct(self, x, y):
            return ops.sum(x, 1), ops.sum(y, 1)
    one = ms.Tensor(np.ones((2, 3), np.float32))
    ms.onnx.export(Pair().set_train(False), one, one, file_name=str(tmp_path / "net.onnx"), input_names=["x", "y"],
                   dynamic_axes={"x": {0: "n", 1: "k"}, "y": {0: "n"}})
    net = ms.onnx.load(str(tmp_path / "net.onnx"))
    assert net(ms.Tensor(np.ones((5, 7), np.float32)), ms.Tensor(np.ones((5, 3), np.float32)))[0].shape == (5,)
    with pytest.raises(ValueError, match=r"input 'y'.*dimension 0.*4.*5.*input 'x'"):
        net(ms.Tensor(np.ones((5, 7), np.float32)), ms.Tensor(np.ones((4, 3), np.float32)))


def test_graph_cell_takes_other_sizes_as_mindspore_does(tmp_path):
    """MindSpore 2.10 gives (1, 2) for (1, 1, 32, 32) and (2, 2) for two pictures."""
    net = nn.GraphCell(ms.load(str(write("mindir", Picture(), tmp_path / "net.mindir", 1, 1, 28, 28))))
    assert net(ms.Tensor(np.ones((1, 1, 32, 32), np.float32))).shape == (1, 2)
    assert net(ms.Tensor(np.ones((2, 1, 28, 28), np.float32))).shape == (2, 2)


@pytest.mark.parametrize("kind", ["mindir", "onnx"])
def test_outputs_have_names_of_their_own(kind, tmp_path):
    path = write(kind, Several(), tmp_path / f"net.{kind}", 1, 4)
    model = ms.load(str(path)) if kind == "mindir" else ms.onnx.load(str(path))._model
    names = [name for name, _, _ in model.outputs()]
    assert len(names) == 4 and len(set(names)) == 4 and all(names)
    again = ms.load(str(path)) if kind == "mindir" else ms.onnx.load(str(path))._model
    assert [name for name, _, _ in again.outputs()] == names


def test_outputs_of_a_file_of_mindspore():
    """Written by MindSpore 2.10: its tuple is one output there, with one name."""
    folder = pathlib.Path(__file__).parent / "data"
    found = 0
    for path in sorted(folder.rglob("*.mindir")):
        try:
            model = ms.load(str(path))
        except Exception: # noqa: BLE001 - encrypted ones are not asked
            continue
        names = [name for name, _, _ in model.outputs()]
        assert len(set(names)) == len(names) and all(names), path
        found += len(names) > 1
    assert found > 0


@pytest.mark.parametrize("name", ["?", "-1", "None"])
def test_names_of_unknown_sizes_do_not_tie_them(tmp_path, name):
    """Some converters call every size that they do not know by one word."""
    path = tmp_path / "net.onnx"
    ms.onnx.export(nn.ReLU(), ms.Tensor(np.ones((2, 3), np.float32)), file_name=str(path), input_names=["x"], dynamic_axes={"x": {0: "dddd", 1: "eeee"}})
    data = path.read_bytes()
    for old in (b"dddd", b"eeee"): # texts of as many bytes, so that no length in the file changes
        assert old in data
        data = data.replace(old, name.encode().ljust(4, b" "))
    path.write_bytes(data)
    net = ms.onnx.load(str(path))
    assert net(ms.Tensor(np.ones((4, 5), np.float32))).shape == (4, 5)
