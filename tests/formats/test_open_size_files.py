# SPDX-License-Identifier: Apache-2.0
"""Files that leave sizes open: sizes used as numbers, conditions, shapes and slices, at sizes that no capture had."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops

SIZES = [(2, 3), (5, 130), (1, 200), (7, 7), (3, 161)]


def condition(x):
    if x.shape[1] > 100:
        return x * 2
    return x - 1


def cut_where_long(x):
    if x.shape[1] > 100:
        x = x[:, :100]
    return x.sum()


def loop(x):
    total = x[:, 0] * 0
    for i in range(x.shape[1]):
        total = total + i
    return total


NETS = {
    "divide": lambda x: x / x.shape[1],
    "floor_divide": lambda x: x + x.shape[1] // 160,
    "choice": lambda x: x * (1.0 if x.shape[1] > 100 else 2.0),
    "root": lambda x: x * x.shape[1] ** 0.5,
    "causal_mask": lambda x: ops.matmul(x, ops.tril(ops.ones((x.shape[1], x.shape[1])))),
    "zeros_in_front": lambda x: ops.concat((ops.zeros((x.shape[0], 1)), x), 1),
    "half": lambda x: x[:, :x.shape[1] // 2],
    "swapped": lambda x: x.reshape(x.shape[1], x.shape[0]),
    "flat": lambda x: ops.reshape(x, (x.shape[0] * x.shape[1],)),
    "condition": condition, "cut_where_long": cut_where_long, "loop": loop,
    "first_hundred": lambda x: x[:, :100],
    "last_ten": lambda x: x[:, -10:],
    "size_of_last_ten": lambda x: x / x[:, -10:].shape[1],
    "transpose": lambda x: x.T,
    "positions": lambda x: x + ops.arange(x.shape[1]),
    "mean": lambda x: x.mean(1) + x.mean(),
    "len": lambda x: x * len(x), "size": lambda x: x / x.size,
    "extremes": lambda x: x + max(x.shape[0], x.shape[1]) - min(x.shape[1], 7),
    "rounded": lambda x: x[:, :int(x.shape[1] * 0.5)],
    "negative": lambda x: x + -x.shape[1] + abs(3 - x.shape[0]),
    "function": lambda x: x / ops.shape(x)[1] + ops.size(x),
}


class Net(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x):
        return self.function(x)


def exported(function, path, file_format, **kwargs):
    net = Net(function)
    face = Tensor(shape=[None, None], dtype=ms.float32)
    net.set_inputs(face)
    ms.export(net, face, file_name=str(path / "net"), file_format=file_format, **kwargs)
    return nn.GraphCell(ms.load(str(path / "net.mindir"))) if file_format == "MINDIR" else ms.onnx.load(str(path / "net.onnx"))


@pytest.mark.parametrize("file_format", ["MINDIR", "ONNX"])
@pytest.mark.parametrize("name", list(NETS))
def test_sizes_are_symbols(name, file_format, tmp_path):
    net = exported(NETS[name], tmp_path, file_format)
    rng = np.random.default_rng(0)
    for shape in SIZES:
        x = Tensor(rng.random(shape).astype(np.float32))
        want, got = NETS[name](x).asnumpy(), net(x).asnumpy()
        assert got.shape == want.shape and np.allclose(got, want, rtol=1e-4, atol=1e-5), shape


def rows(x):
    y = x[0] * 0
    for row in x:
        y = y + row
    return y


def text(x):
    return x * float(str(x.shape[1]))


@pytest.mark.parametrize("file_format", ["MINDIR", "ONNX"])
@pytest.mark.parametrize("function, line", [(rows, "for row in x"), (text, "return x * float(str(x.shape[1]))")])
def test_what_cannot_be_written_is_refused_with_its_line(function, line, file_format, tmp_path):
    with pytest.raises(Exception) as error:
        exported(function, tmp_path, file_format)
    assert line in str(error.value) and "48" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_a_file_that_computes_something_else_is_not_left_behind(tmp_path, monkeypatch):
    """Should the writers ever be wrong, the file is not written: it is run at sizes that no capture had."""
    from spore.train import _verify
    before = _verify._array
    monkeypatch.setattr(_verify, "_array", lambda value: before(value) + len(tmp_path.name) * np.random.rand())
    monkeypatch.setattr(_verify.np, "array_equal", lambda *a, **k: True)
    with pytest.raises(NotImplementedError, match="computes something else than the network for inputs of shape"):
        exported(NETS["divide"], tmp_path, "MINDIR")
    assert not list(tmp_path.iterdir())
