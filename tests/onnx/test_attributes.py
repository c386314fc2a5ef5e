# SPDX-License-Identifier: Apache-2.0
"""Attributes of ONNX nodes of the wrong kind, with unknown words or numbers that do not fit are refused, with the node, what is found and what is wanted."""
import re
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from spore import Tensor, _core

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "sweep"))
from small_files import attribute, block, file_of, input_info, node, number, onnx_function, onnx_model  # noqa: E402

X = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
ROWS = np.ones((2, 1, 3), np.float32)
W = (np.ones((1, 1, 2, 2)), "float32")


def load(data, x=X):
    return _core.model_load_memory(data).run(Tensor(x))


def refuse(data, text, x=X):
    with pytest.raises((ValueError, RuntimeError)) as error:
        load(data, x)
    assert re.search(text, str(error.value)), str(error.value)
    assert "node" in str(error.value)


KINDS = [   # operator, x, attribute, constants, text
    ("Softmax", X, ("axis", 1.0), [], "attribute 'axis' of Softmax is a float; wanted is an int"),
    ("Softmax", X, ("axis", "1"), [], "attribute 'axis' of Softmax is a text; wanted is an int"),
    ("Softmax", X, ("axis", [1]), [], "attribute 'axis' of Softmax is a list of ints; wanted is an int"),
    ("LeakyRelu", X, ("alpha", 1), [], "attribute 'alpha' of LeakyRelu is an int; wanted is a float"),
    ("Conv", X, ("strides", 2), [W], "attribute 'strides' of Conv is an int; wanted is a list of ints"),
    ("Conv", X, ("group", 1.0), [W], "attribute 'group' of Conv is a float; wanted is an int"),
    ("Conv", X, ("auto_pad", 1), [W], "attribute 'auto_pad' of Conv is an int; wanted is a text"),
    ("Transpose", X, ("perm", "0123"), [], "attribute 'perm' of Transpose is a text; wanted is a list of ints"),
    ("Flatten", X, ("axis", 0.5), [], "attribute 'axis' of Flatten is a float"),
    ("Cast", X, ("to", 7.0), [], "attribute 'to' of Cast is a float; wanted is an int"),
    ("Elu", X, ("alpha", [1]), [], "attribute 'alpha' of Elu is a list of ints; wanted is a float"),
]
WORDS = [
    ("Conv", X, ("auto_pad", "FOO"), [W], "attribute 'auto_pad' of Conv is 'FOO'; it must be one of: NOTSET SAME_UPPER SAME_LOWER VALID"),
    ("MaxPool", X, ("auto_pad", "same"), [], "attribute 'auto_pad' of MaxPool is 'same'"),
    ("Pad", X, ("mode", "xyz"), [([0] * 8, "int64")], "attribute 'mode' of Pad is 'xyz'; it must be one of: constant reflect edge wrap"),
    ("DepthToSpace", np.ones((1, 4, 2, 2), np.float32), ("mode", "dcr"), [], "attribute 'mode' of DepthToSpace is 'dcr'; it must be one of: DCR CRD"),
    ("Resize", X, ("mode", "xyz"), [None, ([1, 1, 2, 2], "float32")], "attribute 'mode' of Resize is 'xyz'"),
    ("Resize", X, ("nearest_mode", "up"), [None, ([1, 1, 2, 2], "float32")], "attribute 'nearest_mode' of Resize is 'up'"),
    ("Resize", X, ("coordinate_transformation_mode", "half"), [None, ([1, 1, 2, 2], "float32")], "'coordinate_transformation_mode' of Resize is 'half'"),
    ("GridSample", X, ("padding_mode", "edge"), [(np.zeros((1, 2, 2, 2)), "float32")], "attribute 'padding_mode' of GridSample is 'edge'"),
    ("ScatterND", X, ("reduction", "sum"), [(np.zeros((1, 4)), "int64"), ([1], "float32")], "attribute 'reduction' of ScatterND is 'sum'"),
    ("Gelu", X, ("approximate", "erf"), [], "attribute 'approximate' of Gelu is 'erf'; it must be one of: none tanh"),
]


@pytest.mark.parametrize("op, x, given, constants, text", KINDS + WORDS, ids=lambda v: v if isinstance(v, str) and "'" not in v else "")
def test_refused(op, x, given, constants, text):
    extra = [("blocksize", 2)] if op == "DepthToSpace" else [("kernel_shape", [2, 2])] if op == "MaxPool" else []
    data = file_of(op, x, [*extra, given], constants)
    if op == "Gelu":
        data = onnx_model([node(op, ["x"], ["y"], attribute(*given))], inputs=(), extra=[input_info("x", x)], opset=20)
    refuse(data, text, x)


@pytest.mark.parametrize("op, given", [("Softmax", ("axis", 1)), ("Conv", ("auto_pad", "SAME_UPPER")), ("Conv", ("auto_pad", "")), ("Pad", ("mode", "edge"))])
def test_what_is_right_runs(op, given):
    load(file_of(op, X, [given], {"Conv": [W], "Pad": [([0] * 8, "int64")]}.get(op, [])))


def rnn(op, gates, hidden_size, hidden=4, features=3, rows=None, direction="forward"):
    rows = gates * hidden if rows is None else rows
    return file_of(op, ROWS, [("hidden_size", hidden_size), ("direction", direction)],
                   [(np.ones((1, rows, features)), "float32"), (np.ones((1, rows, hidden)), "float32")])


@pytest.mark.parametrize("op, gates", [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_sizes_of_recurrent_layers(op, gates):
    load(rnn(op, gates, 4), ROWS)
    refuse(rnn(op, gates, 5), "hidden_size is 5, but R has 4 columns", ROWS)
    refuse(rnn(op, gates, 4, rows=gates * 4 + 1), f"W and R have {gates * 4 + 1} and {gates * 4 + 1} rows; {gates} times hidden_size are {gates * 4}", ROWS)
    refuse(rnn(op, gates, 4, features=2), "W has 2 columns, x 3 features", ROWS)
    refuse(rnn(op, gates, 4, direction="backward"), f"attribute 'direction' of {op} is 'backward'; it must be one of: forward reverse bidirectional", ROWS)


@pytest.mark.parametrize("axis", [5, -5, 2 ** 32, -2 ** 63])
def test_flatten_beyond_the_rank(axis):
    refuse(file_of("Flatten", X, [("axis", axis)]), rf"axis is {axis}; for rank 4 it must be in \[-4, 4\]")


@pytest.mark.parametrize("axis, shape", [(0, (1, 16)), (4, (16, 1)), (-1, (4, 4))])
def test_flatten_at_the_ends(axis, shape):
    out = load(file_of("Flatten", X, [("axis", axis)]))
    assert (out[0] if isinstance(out, (tuple, list)) else out).shape == shape


def test_a_type_that_the_value_has_not():
    wrong = block(5, block(1, "axis"), b"\x15" + struct.pack("<f", 1.0), number(20, 2))      # says int, holds a float
    data = onnx_model([node("Softmax", ["x"], ["y"], wrong)], inputs=(), extra=[input_info("x", X)])
    refuse(data, "attribute 'axis' is of type 2, but holds a value of type 1")


def test_files_that_leave_the_type_out():
    plain = block(5, block(1, "axis"), number(3, 1))
    load(onnx_model([node("Softmax", ["x"], ["y"], plain)], inputs=(), extra=[input_info("x", X)]))
    wrong = block(5, block(1, "axis"), b"\x15" + struct.pack("<f", 1.0))
    refuse(onnx_model([node("Softmax", ["x"], ["y"], wrong)], inputs=(), extra=[input_info("x", X)]), "attribute 'axis' of Softmax is a float; wanted is an int")


def test_attributes_of_function_calls():
    """A function's node takes its attribute from the call."""
    inner = block(5, block(1, "axis"), number(20, 2), block(21, "where"))
    function = onnx_function("f", [node("Softmax", ["x"], ["y"], inner)])
    for value, text in ((1, None), (1.0, "attribute 'axis' of Softmax is a float; wanted is an int")):
        data = onnx_model([node("f", ["x"], ["y"], attribute("where", value), domain="own")], [function], inputs=(), extra=[input_info("x", X)])
        if text is None:
            load(data)
        else:
            refuse(data, text)


def test_lp_pool_of_the_first_version():
    """p was a float then."""
    pair = [("kernel_shape", [4, 4]), ("p", 1.0)]
    data = onnx_model([node("LpPool", ["x"], ["y"], *(attribute(*a) for a in pair))], inputs=(), extra=[input_info("x", X)], opset=1)
    out = load(data)
    assert float((out[0] if isinstance(out, (tuple, list)) else out).asnumpy().ravel()[0]) == pytest.approx(120, rel=1e-5)


def test_the_table_of_kinds_is_sorted():
    """It is searched by halves."""
    source = (Path(__file__).resolve().parent.parent.parent / "src/formats/onnx/onnx_attrs.c").read_text(encoding="utf-8")
    names = re.findall(r'\{"(\w+)", [A-Z]', source[source.index("kinds[] = {"):source.index("kinds_of_ops[]")])
    assert len(names) > 200 and names == sorted(names)
