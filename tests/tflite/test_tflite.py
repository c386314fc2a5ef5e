# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite models: small ones of every operator, against what the interpreter computed (make_cases.py recorded it)."""
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import spore
from spore import Tensor, _core

HERE = Path(__file__).parent
DATA = HERE / "data"
BUILD = Path(os.environ.get("SPORE_BUILD", HERE.parents[1] / "build"))
with np.load(HERE / "cases.npz") as recorded:
    CASES = {key: recorded[key] for key in recorded.files}
NAMES = sorted({key.split("/")[0] for key in CASES})
# Of floats: how far from the interpreter, in parts of the largest element. Layers that round their inputs amplify what is left of the
# order of a sum.
RTOL, RTOL_OF = 2e-6, {"dynamic": 5e-3, "float16": 1e-5, "int8_float": 1e-2, "int16": 5e-4}
# Of integers: quanta; most cases are equal.
QUANTA, QUANTA_OF = 1, {"int8_lstm": 4}


def values(name, kind, run):
    out = []
    while f"{name}/{kind}{run}.{len(out)}" in CASES:
        out.append(CASES[f"{name}/{kind}{run}.{len(out)}"])
    return out


def limit(table, name, plain):
    return next((table[k] for k in table if name.startswith(k)), plain)


def check(name, got, wanted):
    assert len(got) == len(wanted)
    for g, w in zip(got, wanted):
        g = g.asnumpy() if isinstance(g, Tensor) else g
        assert g.shape == w.shape and g.dtype == w.dtype
        if w.dtype.kind == "f":
            scale = max(np.abs(w).max(initial=0), 1e-3)
            assert np.allclose(g, w, rtol=0, atol=scale * limit(RTOL_OF, name, RTOL)), np.abs(g - w).max() / scale
        elif name.startswith(("int8", "uint8", "int16")) and w.dtype.itemsize < 4:
            assert np.abs(g.astype("i8") - w.astype("i8")).max() <= limit(QUANTA_OF, name, QUANTA)
        else:
            assert np.array_equal(g, w)


@pytest.mark.parametrize("name", NAMES)
def test_equals_the_interpreter(name):
    """Compiled, twice in a row: states are kept."""
    model = _core.model_load_memory(CASES[f"{name}/model"].tobytes())
    for run in range(2):
        check(name, model.run(*[Tensor(x) for x in values(name, "in", run)]), values(name, "out", run))


def test_integers_are_mostly_equal():
    """Rounding to 8 bits is the interpreter's but for ties: of all recorded results less than one in a hundred is its neighbour."""
    different = total = 0
    for name in (n for n in NAMES if n.startswith(("int8", "uint8")) and n != "int8_lstm"):
        model = _core.model_load_memory(CASES[f"{name}/model"].tobytes())
        for g, w in zip(model.run(*[Tensor(x) for x in values(name, "in", 0)]), values(name, "out", 0)):
            if w.dtype.kind != "f":
                different += int((g.asnumpy() != w).sum())
                total += w.size
    assert total > 10000 and different < 0.01 * total, (different, total)


def cell(name):
    return spore.tflite.load(str(DATA / f"{name}.tflite"))


def test_cell_names_and_parameters():
    net = cell("conv_2d")
    assert len(net.input_names) == len(net.output_names) == 1
    x = values("conv_2d", "in", 0)[0]
    check("conv_2d", [net(Tensor(x))], values("conv_2d", "out", 0))
    check("conv_2d", [net(**{net.input_names[0]: Tensor(x)})], values("conv_2d", "out", 0))
    assert sorted(p.shape for p in net.get_parameters()) == [(5,), (5, 3, 2, 4)]
    with pytest.raises(TypeError, match="inputs"):
        net(Tensor(x), Tensor(x))


def test_gradients_reach_the_weights():
    net = cell("conv_2d")
    x = Tensor(values("conv_2d", "in", 0)[0])
    grads = spore.grad(lambda v: net(v).sum(), None, list(net.trainable_params()))(x)
    assert all(float(abs(g).sum()) > 0 for g in grads)


def test_reset_brings_states_back():
    net = cell("variables")
    x = [Tensor(v) for v in values("variables", "in", 0)]
    first, second = net(*x), net(*x)
    assert not np.array_equal(first[0].asnumpy(), second[0].asnumpy())
    net.reset()
    check("variables", net(*x), [t.asnumpy() for t in first])


def test_wrong_arguments_are_told():
    net = cell("int8_net")
    with pytest.raises(TypeError, match="int8"):
        net(Tensor(np.zeros((1, 12, 12, 3), "f4")))
    with pytest.raises(ValueError, match=r"\(1, 12, 12, 3\)|\[1, 12, 12, 3\]"):
        net(Tensor(np.zeros((1, 12, 13, 3), "i1")))


def test_unsupported_operators_are_listed_at_once():
    data = (DATA / "detection.tflite").read_bytes().replace(b"TFLite_Detection_PostProcess", b"TFLite_Detection_PostProblem")
    with pytest.raises(NotImplementedError, match="TFLite_Detection_PostProblem.*node 'boxes'"):
        _core.model_load_memory(data)


def spore_command(*args):
    return subprocess.run([BUILD / "spore", *map(str, args)], capture_output=True, text=True, timeout=60)


def test_verbs(tmp_path):
    path = DATA / "conv_2d.tflite"
    report = json.loads(spore_command("inspect", "--json", path).stdout)
    assert "CONV_2D" in json.dumps(report) and report["format"] == "tflite"
    x = values("conv_2d", "in", 0)[0]
    np.save(tmp_path / "x.npy", x)
    done = spore_command("predict", path, "--input", tmp_path / "x.npy", "--output", tmp_path / "y.npz")
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "y.npz") as y:
        check("conv_2d", [y[y.files[0]]], values("conv_2d", "out", 0))
    done = spore_command("draw", path, "-o", tmp_path / "x.svg")
    assert done.returncode == 0 and "CONV_2D" in (tmp_path / "x.svg").read_text(), done.stderr


@pytest.mark.parametrize("ending", ["onnx", "mindir"])
@pytest.mark.parametrize("name", ["conv_2d", "float16", "dynamic_range"])
def test_written_again(name, ending, tmp_path):
    """TFLite to ONNX and MindIR, read back: the same results."""
    out = tmp_path / f"net.{ending}"
    done = spore_command("convert", DATA / f"{name}.tflite", out)
    assert done.returncode == 0, done.stderr
    model = _core.model_load(str(out), None)
    check(name, model.run(*[Tensor(x) for x in values(name, "in", 0)]), values(name, "out", 0))


def test_truncated_files_are_refused():
    for name in ("while_loop", "variables"):
        data = (DATA / f"{name}.tflite").read_bytes()
        for n in range(0, len(data) - 64, 13): # what stands behind the last table may be padding
            try:
                model = _core.model_load_memory(data[:n], "tflite")
            except (RuntimeError, NotImplementedError, ValueError, TypeError):
                continue
            assert model is not None


def test_errors_name_place_and_record():
    data = bytearray((DATA / "conv_2d.tflite").read_bytes())
    with pytest.raises(RuntimeError, match="byte"):
        _core.model_load_memory(bytes(data[:200]), "tflite")
    with pytest.raises(RuntimeError, match="TFL3"):
        _core.model_load_memory(b"\0" * 64, "tflite")


def test_a_damaged_number_of_segments_is_refused(tmp_path):
    """Of the places where the file has the number 3, one is the number of segments."""
    model, rows = CASES["unsorted_segment_sum/model"].tobytes(), CASES["unsorted_segment_sum/in0.0"]
    found, at = [], model.find(b"\x03\x00\x00\x00")
    while at >= 0:
        (tmp_path / "m.tflite").write_bytes(model[:at] + b"\xff\xff\xff\x7f" + model[at + 4:])
        try:
            spore.tflite.load(str(tmp_path / "m.tflite"))(Tensor(rows))
        except (ValueError, RuntimeError, NotImplementedError, MemoryError, TypeError) as error:
            found.append(str(error))
        at = model.find(b"\x03\x00\x00\x00", at + 1)
    assert any("2147483647 segments of 3 rows" in text for text in found)


@pytest.mark.parametrize("name, nodes, labels", [
    ("while_loop", {"ADD": 2, "LESS": 1, "MUL": 1, "WHILE": 1}, {"WHILE_1/cond", "WHILE_1/body"}),
    ("cond", {"GREATER": 1, "IF": 1, "MUL": 1, "SUB": 1, "SUM": 1}, {"IF_1/then", "IF_1/else"})])
def test_graphs_inside_are_drawn_and_counted(name, nodes, labels, tmp_path):
    path = DATA / f"{name}.tflite"
    assert json.loads(spore_command("inspect", "--json", path).stdout)["graph"]["operators"] == nodes
    spore_command("draw", path, "-o", tmp_path / "x.svg")
    picture = (tmp_path / "x.svg").read_text()
    assert all(label in picture for label in labels), labels
