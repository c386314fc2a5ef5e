# SPDX-License-Identifier: Apache-2.0
"""Branches and loops that depend on contents: recorded as parts of the program, so that such models are compiled and written anew."""
import sys
from pathlib import Path

import numpy as np
import pytest

import spore
from spore import Tensor, onnx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from make_models import graph, model, node, tensor, value  # noqa: E402


def load(tmp_path, g):
    path = tmp_path / "model.onnx"
    path.write_bytes(model(g))
    return onnx.load(str(path))


def chosen(yes, no, held=()):
    """A model that does `yes` or `no` to x, as flag says."""
    branches = [graph([n], [], [value("r")]) for n in (yes, no)]
    nodes = [node("If", ["flag"], ["y"], then_branch=branches[0], else_branch=branches[1])]
    return graph(nodes, [value("x", shape=["n"]), value("flag", "bool", [])], [value("y")], [tensor(v, k) for k, v in held])


def again(net, tmp_path, *inputs):
    """The model written by export and read."""
    path = str(tmp_path / "again.onnx")
    spore.export(net, *map(Tensor, inputs), file_name=path, file_format="ONNX")
    return onnx.load(path)


def test_both_branches_are_written(tmp_path):
    net = load(tmp_path, chosen(node("Neg", ["x"], ["r"]), node("Abs", ["x"], ["r"])))
    x = np.float32([1, -2, 3])
    other = again(net, tmp_path, x, np.array(True))
    for flag in (True, False):
        for one in (net, other):
            assert list(one(Tensor(x), Tensor(flag)).asnumpy()) == list(-x if flag else np.abs(x))


def test_a_branch_that_does_not_fit_fails_when_it_is_taken(tmp_path):
    """Shapes that only one branch can take: the other one fails with its own message, in the file that is written, too."""
    g = chosen(node("Reshape", ["x", "six"], ["r"]), node("Reshape", ["x", "seven"], ["r"]),
               [("six", np.int64([2, 3])), ("seven", np.int64([7]))])
    net = load(tmp_path, g)
    x = np.arange(6, dtype=np.float32)
    mindir = [str(tmp_path / name) for name in ("a.mindir", "b.mindir", "c.onnx")]
    spore.export(net, Tensor(x), Tensor(True), file_name=mindir[0], file_format="MINDIR")
    written = spore.nn.GraphCell(spore.load(mindir[0]))
    spore.export(written, Tensor(x), Tensor(True), file_name=mindir[1], file_format="MINDIR")
    spore.export(written, Tensor(x), Tensor(True), file_name=mindir[2], file_format="ONNX")
    for one, error in ((net, ValueError), (again(net, tmp_path, x, np.array(True)), ValueError), (written, RuntimeError),
                       (spore.nn.GraphCell(spore.load(mindir[1])), RuntimeError), (onnx.load(mindir[2]), ValueError)):
        assert one(Tensor(x), Tensor(True)).shape == (2, 3)
        with pytest.raises(error, match="reshape"):
            one(Tensor(x), Tensor(False))
    assert net(Tensor(np.ones(7, np.float32)), Tensor(False)).shape == (7,)


def test_branches_of_different_shapes_are_run_on_tensors(tmp_path):
    net = load(tmp_path, chosen(node("Neg", ["x"], ["r"]), node("Reshape", ["x", "column"], ["r"]), [("column", np.int64([-1, 1]))]))
    x = Tensor(np.float32([1, 2]))
    assert net(x, Tensor(True)).shape == (2,) and net(x, Tensor(False)).shape == (2, 1)


def counting(limit):
    """x doubled n times, or until its sum reaches a limit."""
    body = graph([node("Add", ["s", "s"], ["t"]), node("ReduceSum", ["t"], ["sum"], keepdims=0), node("Less", ["sum", "limit"], ["go_on"])],
                 [value("i", "int64", []), value("go", "bool", []), value("s", shape=[2])], [value("go_on", "bool", []), value("t", shape=[2])])
    return graph([node("Loop", ["n", "", "x"], ["y"], body=body)], [value("n", "int64", []), value("x", shape=[2])], [value("y", shape=[2])],
                 [tensor(np.array(limit, np.float32), "limit")])


def test_loops_are_written(tmp_path):
    net = load(tmp_path, counting(20))
    n, x = np.array(3), np.float32([1, 1])
    other = again(net, tmp_path, n, x)
    for turns, wanted in ((0, 1), (1, 2), (3, 8), (10, 16)):
        for one in (net, other):
            assert list(one(Tensor(turns), Tensor(x)).asnumpy()) == [wanted, wanted]


def test_a_model_is_part_of_a_compiled_function(tmp_path):
    net = load(tmp_path, chosen(node("Neg", ["x"], ["r"]), node("Abs", ["x"], ["r"])))
    twice = spore.jit(lambda x, flag: 2 * net(x, flag))
    assert list(twice(Tensor(np.float32([1, -2])), Tensor(True)).asnumpy()) == [-2, 4]
    assert list(twice(Tensor(np.float32([1, -2])), Tensor(False)).asnumpy()) == [2, 4]


@pytest.mark.parametrize("opset", [8, 11])
@pytest.mark.parametrize("missing", [0, 1])
def test_scan_without_an_input_is_refused(tmp_path, opset, missing):
    body = graph([node("Add", ["s", "x"], ["t"]), node("Identity", ["t"], ["r"])], [value("s", shape=[2]), value("x", shape=[2])],
                 [value("t", shape=[2]), value("r", shape=[2])])
    inputs = ["first", "rows"]
    inputs[missing] = ""
    batch = [1] if opset == 8 else []
    g = graph([node("Scan", [""] * len(batch) + inputs, ["a", "b"], body=body, num_scan_inputs=1)],
              [value("first", shape=batch + [2]), value("rows", shape=batch + [3, 2])], [value("a"), value("b")])
    path = tmp_path / "model.onnx"
    path.write_bytes(model(g, opset))
    with pytest.raises((TypeError, RuntimeError), match="Scan"):
        onnx.load(str(path))(Tensor(np.ones(batch + [2], np.float32)), Tensor(np.ones(batch + [3, 2], np.float32)))
