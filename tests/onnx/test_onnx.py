# SPDX-License-Identifier: Apache-2.0
"""ONNX models give ONNX Runtime's outputs, can be trained, and are refused with a reason when they are damaged."""
from pathlib import Path

import numpy as np
import pytest

import spore
from spore import Tensor, nn, ops, onnx

DATA = Path(__file__).parent / "data"
MODELS = ("convnet", "attention", "loop", "branch", "quantised")


def arrays(name):
    with np.load(DATA / f"{name}.npz") as held:
        inputs = {k[3:]: held[k] for k in held if k.startswith("in_")}
        outputs = [held[k] for k in held if k.startswith("out_")]
    return inputs, outputs


@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_onnx_runtimes(name):
    net = onnx.load(str(DATA / f"{name}.onnx"))
    inputs, wanted = arrays(name)
    assert net.input_names == list(inputs)
    for _ in range(2):  # compiled, and from the remembered program
        found = net(*[Tensor(v) for v in inputs.values()])
        found = found if isinstance(found, tuple) else (found,)
        for f, w in zip(found, wanted):
            np.testing.assert_allclose(f.asnumpy(), w, rtol=1e-4, atol=1e-5)


def test_other_batch_sizes():
    net = onnx.load(str(DATA / "convnet.onnx"))
    inputs, (wanted,) = arrays("convnet")
    one = net(x=Tensor(inputs["x"][:1]))
    np.testing.assert_allclose(one.asnumpy(), wanted[:1], rtol=1e-4, atol=1e-5)


def test_weights_are_parameters_that_learn():
    net = onnx.load(str(DATA / "attention.onnx"))
    inputs, _ = arrays("attention")
    x = Tensor(inputs["x"])
    assert "wq" in [p.name for p in net.trainable_params()]
    step = spore.value_and_grad(lambda v: ops.square(net(v)).mean(), None, net.trainable_params())
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    first, grads = step(x)
    optimizer(grads)
    assert float(step(x)[0].asnumpy()) < float(first.asnumpy())


def test_wrong_shapes_and_dtypes_are_told():
    net = onnx.load(str(DATA / "attention.onnx"))
    with pytest.raises(ValueError, match="input 'x' has shape"):
        net(Tensor(np.zeros((2, 4, 7), np.float32)))
    with pytest.raises(TypeError, match="input 'x' is int32"):
        net(Tensor(np.zeros((2, 4, 8), np.int32)))


def field(number, value):
    return bytes([number << 3 | 2, len(value)]) + value


def refused(tmp_path, data, error, match):
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    with pytest.raises(error, match=match):
        onnx.load(str(path))


def small(*nodes, opset=17, **others):
    parts = b"".join(field(1, n) for n in nodes) + b"".join(others.values())
    return b"\x08\x08" + field(7, parts + field(12, field(1, b"y"))) + field(8, bytes([16, opset]))


def test_unsupported_operators_are_listed_at_once(tmp_path):
    nodes = [field(2, b"a") + field(3, b"first") + field(4, b"Nonsense"), field(2, b"y") + field(3, b"other") + field(4, b"Folly")]
    refused(tmp_path, small(*nodes), NotImplementedError, r"2 nodes .* Nonsense \(node 'first'\), Folly \(node 'other'\)")


def test_cycles_and_missing_values_are_refused(tmp_path):
    cycle = [field(1, b"b") + field(2, b"y") + field(4, b"Neg"), field(1, b"y") + field(2, b"b") + field(4, b"Neg")]
    refused(tmp_path, small(*cycle), RuntimeError, "'b' is used, but no")
    refused(tmp_path, small(field(1, b"w") + field(2, b"y") + field(4, b"Neg")), RuntimeError, "'w' is used")


def test_weights_outside_the_folder_are_refused(tmp_path):
    entry = field(1, b"location") + field(2, b"../secret")
    weight = b"\x08\x01\x10\x01" + field(8, b"w") + field(13, entry) + b"\x70\x01"
    data = small(field(1, b"w") + field(2, b"y") + field(4, b"Neg"), weight=field(5, weight))
    refused(tmp_path, data, RuntimeError, "outside its folder")


@pytest.mark.parametrize("name", MODELS)
def test_truncated_files_are_refused(tmp_path, name):
    data = (DATA / f"{name}.onnx").read_bytes()
    path = tmp_path / "m.onnx"
    for end in range(0, len(data), max(1, len(data) // 200)):
        path.write_bytes(data[:end])
        with pytest.raises((RuntimeError, ValueError, NotImplementedError)):
            onnx.load(str(path))
