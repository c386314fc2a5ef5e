# SPDX-License-Identifier: Apache-2.0
"""ONNX models that spore writes: read back by spore they give equal results; onnxruntime_1.31.log holds what ONNX Runtime said."""
import os
import pathlib
import sys

import numpy as np
import pytest

import spore as ms
from spore import _core, nn, ops

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import export_nets  # noqa: E402
import export_table  # noqa: E402


@pytest.mark.parametrize("opset", [13, 26])
def test_every_operator(tmp_path, opset, capsys):
    """All samples in float32: written, or with a reason in different.txt; what is written gives equal results when read."""
    reasons, wrong, written, refused = export_table.reasons(), [], set(), set()
    path = tmp_path / "one.onnx"
    for name, op, inputs, attrs in export_table.cases(["float32"]):
        try:
            export_table.export(path, op, inputs, attrs, opset)
        except NotImplementedError as error:
            refused.add(op["name"])
            if op["name"] not in reasons:
                wrong.append(f"{name}: {error}")
            continue
        written.add(op["name"])
        if op["name"] in reasons:
            continue
        try:
            found = _core.model_load(str(path), "onnx").run(*[t if t.dtype == ms.bfloat16 else ms.Tensor(export_table.array(t)) for t in inputs if t is not None])
        except NotImplementedError as error:
            wrong.append(f"{name}: read back: {error}")
            continue
        for got, want in zip(found, export_table.compute(op, inputs, attrs)):
            got, want = export_table.array(got), export_table.array(want)
            if got.shape != want.shape or got.dtype != want.dtype or not np.allclose(got, want, 1e-4, 1e-4, equal_nan=True):
                wrong.append(f"{name}: {got.dtype}{got.shape} {got.ravel()[:4]} instead of {want.dtype}{want.shape} {want.ravel()[:4]}")
    with capsys.disabled():
        print(f"\nopset {opset}: {len(written - refused)} of {len(_core.op_table())} operators are written to ONNX")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", export_nets.cases())
def test_nets(tmp_path, name):
    """Branches and loops included, read back with equal results; Parameters are initializers by their names."""
    net, inputs = export_nets.cases()[name]
    net.set_train(False)
    path = str(tmp_path / "net.onnx")
    ms.export(net, *map(ms.Tensor, inputs), file_name=path, file_format="ONNX")
    loaded = ms.onnx.load(path)
    found = loaded(*map(ms.Tensor, inputs))
    for got, want in zip(found if isinstance(found, tuple) else [found], export_nets.nets.run(net, inputs)):
        np.testing.assert_allclose(got.asnumpy(), want, 1e-4, 1e-4)
    held = {p.name for p in net.get_parameters()}
    assert {p.name for p in loaded.get_parameters()} >= {p.name for p in net.trainable_params()} - {"nothing"}
    assert held >= {p.name for p in net.trainable_params()}


@pytest.mark.parametrize("name", export_nets.FREE_BATCH)
def test_free_batch(tmp_path, name):
    net, inputs = export_nets.cases()[name]
    net.set_train(False)
    path, names = str(tmp_path / "net.onnx"), [f"in{i}" for i in range(len(inputs))]
    ms.onnx.export(net, *map(ms.Tensor, inputs), file_name=path, input_names=names, dynamic_axes={one: {0: "batch"} for one in names})
    loaded, larger = ms.onnx.load(path), export_nets.more(inputs)
    found = loaded(*map(ms.Tensor, larger))
    for got, want in zip(found if isinstance(found, tuple) else [found], export_nets.nets.run(net, larger)):
        np.testing.assert_allclose(got.asnumpy(), want, 1e-4, 1e-4)


def test_set_inputs_makes_dimensions_free(tmp_path):
    net = nn.Dense(4, 3)
    net.set_inputs(ms.Tensor(shape=[None, 4], dtype=ms.float32))
    ms.export(net, ms.Tensor(np.ones((2, 4), np.float32)), file_name=str(tmp_path / "a"), file_format="ONNX")
    assert ms.onnx.load(str(tmp_path / "a.onnx"))(ops.ones((7, 4), ms.float32)).shape == (7, 3)


def test_names_and_weights(tmp_path):
    net, x = nn.Dense(4, 3), ms.Tensor(np.ones((2, 4), np.float32))
    path = str(tmp_path / "net.onnx")
    ms.onnx.export(net, x, file_name=path, input_names=["features"], output_names=["scores"])
    loaded = ms.onnx.load(path)
    assert loaded.input_names == ["features"] and loaded.output_names == ["scores"]
    ms.onnx.export(net, x, file_name=path, export_params=False)
    model = _core.model_load(path, "onnx")
    assert {name for name, _, _ in model.inputs()} == {"x", "weight", "bias"} and not model.parameters()


def test_weights_beside(tmp_path):
    """Old model and its weights stay together until the new ones are complete, under another name."""
    net, x = nn.Dense(400, 300), ms.Tensor(np.ones((2, 400), np.float32))
    path = str(tmp_path / "net.onnx")
    for turn in range(3):
        net.weight.set_data(ops.full((300, 400), turn, dtype=ms.float32))
        ms.export(net, x, file_name=path, file_format="ONNX", external_data_bytes=1000)
        files = sorted(os.listdir(tmp_path))
        assert files == ["net.onnx", "net.onnx.1.data" if turn % 2 else "net.onnx.data"]
        assert os.path.getsize(path) < 2000
        np.testing.assert_allclose(ms.onnx.load(path)(x).asnumpy(), net(x).asnumpy(), 1e-4)


def test_refusals(tmp_path):
    x = ms.Tensor(np.ones((2, 3), np.float32))
    with pytest.raises(ValueError, match="ONNX, then convert"):
        ms.export(nn.ReLU(), x, file_name=str(tmp_path / "a.air"), file_format="AIR")
    with pytest.raises(ValueError, match=r"opset 99 .*\[13, 26\]"):
        ms.export(nn.ReLU(), x, file_name=str(tmp_path / "a"), file_format="ONNX", opset_version=99)
    net = nn.BatchNorm1d(3)
    net.set_train(True)
    with pytest.raises(NotImplementedError, match="training mode"):
        ms.export(net, x, file_name=str(tmp_path / "a"), file_format="ONNX")
    with pytest.raises(ValueError, match="dynamic_axes"):
        ms.onnx.export(nn.ReLU(), x, file_name=str(tmp_path / "a"), dynamic_axes={"nothing": {0: "n"}})
    assert not os.listdir(tmp_path)


def test_results_that_are_inputs_constants_and_twice_the_same(tmp_path):
    class Net(nn.Cell):
        def construct(self, x):
            y = x + 1
            return x, y, y, ms.Tensor([1.0, 2.0])

    path, x = str(tmp_path / "a.onnx"), ms.Tensor([3.0])
    ms.export(Net(), x, file_name=path, file_format="ONNX")
    assert [list(r.asnumpy()) for r in ms.onnx.load(path)(x)] == [[3], [4], [4], [1, 2]]
