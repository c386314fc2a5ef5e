# SPDX-License-Identifier: Apache-2.0
"""Results of MindIR networks that are more than Tensors: tuples and lists in each other, numbers, texts, None. The files were written by
MindSpore 2.10 for the networks below, which gives back these values too, from its own files and from those written here, but for the one
with None beside a Tensor, which it writes and cannot run."""
import pathlib

import numpy as np
import pytest

import spore as ms
from spore import nn

DATA = pathlib.Path(__file__).parent / "data" / "mindir" / "forms"
X = np.array([1, 2], np.float32)


class Net(nn.Cell):
    def __init__(self, give):
        super().__init__()
        self.w = ms.Parameter(ms.Tensor(np.ones(2, np.float32)), name="w")
        self.give = give

    def construct(self, x):
        return self.give(x, self.w)


def by_sign(x, w):
    if x.sum() > 0:
        return x + w, (x, x * 2)
    return x - w, (x * 3, x)


NETS = {
    "nested": (lambda x, w: (x + w, (x * 2, x * 3), x), (X + 1, (X * 2, X * 3), X)),
    "deep": (lambda x, w: ((x + w,), ((x,), x * 2)), ((X + 1,), ((X,), X * 2))),
    "lst_in": (lambda x, w: (x, [x + w, x * 2]), (X, [X + 1, X * 2])),
    "one_l": (lambda x, w: [x + w], [X + 1]),
    "number": (lambda x, w: (x + w, 3), (X + 1, 3)),
    "numbers": (lambda x, w: (3, 2.5, True), (3, 2.5, True)),
    "text": (lambda x, w: (x + w, "abc"), (X + 1, "abc")),
    "empty": (lambda x, w: (x + w, ()), (X + 1, ())),
    "none": (lambda x, w: (x + w, None), (X + 1, None)),
    "onlynone": (lambda x, w: None, None),
    "tup_b": (by_sign, (X + 1, (X, X * 2))),
}


def check(found, wanted):
    if isinstance(wanted, np.ndarray):
        assert isinstance(found, ms.Tensor)
        np.testing.assert_array_equal(found.asnumpy(), wanted)
    elif isinstance(wanted, (tuple, list)):
        assert type(found) is type(wanted) and len(found) == len(wanted)
        for one, other in zip(found, wanted):
            check(one, other)
    else:
        assert type(found) is type(wanted) and found == wanted


@pytest.mark.parametrize("name", NETS)
def test_file_of_mindspore(name, tmp_path, spore_command):
    net = nn.GraphCell(ms.load(str(DATA / f"{name}.mindir")))
    check(net(ms.Tensor(X)), NETS[name][1])
    spore_command("convert", DATA / f"{name}.mindir", tmp_path / "again.mindir")
    check(nn.GraphCell(ms.load(str(tmp_path / "again.mindir")))(ms.Tensor(X)), NETS[name][1])


@pytest.mark.parametrize("name", NETS)
def test_written(name, tmp_path):
    give, wanted = NETS[name]
    path = str(tmp_path / "net.mindir")
    ms.export(Net(give), ms.Tensor(X), file_name=path, file_format="MINDIR")
    check(nn.GraphCell(ms.load(path))(ms.Tensor(X)), wanted)


def test_what_no_file_holds(tmp_path):
    with pytest.raises(RuntimeError, match="cannot return"):
        ms.export(Net(lambda x, w: (x, ms.float32)), ms.Tensor(X), file_name=str(tmp_path / "net.mindir"), file_format="MINDIR")
    assert not list(tmp_path.iterdir())


def test_inside_of_compiled_code():
    net = nn.GraphCell(ms.load(str(DATA / "number.mindir")))

    @ms.jit
    def doubled(x):
        y, number = net(x)
        return y * number

    np.testing.assert_array_equal(doubled(ms.Tensor(X)).asnumpy(), (X + 1) * 3)


def test_broken_forms(tmp_path):
    """A form is a text of the caller: one that makes no sense is refused, and nothing is written."""
    from spore import _core
    from spore.train import _export
    function, _ = _export.capture(Net(lambda x, w: (x + 1, x)), [ms.Tensor(X)])
    for form in ("", "(", ")", "(T", "TT", "(TTT)", "[T)", "q", "i3", "s9:abc", "sx", "(" * 40 + ")" * 40):
        with pytest.raises(ValueError, match="form of the results"):
            _core.model_save(str(tmp_path / "net.mindir"), function, ["x"], [], [], format="mindir", form=form)
    assert not list(tmp_path.iterdir())
