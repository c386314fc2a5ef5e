# SPDX-License-Identifier: Apache-2.0
"""ONNX models give ONNX Runtime's outputs, can be trained, and are refused with a reason when they are damaged."""
from pathlib import Path

import numpy as np
import pytest

import spore
from spore import Tensor, nn, ops, onnx

DATA = Path(__file__).parent / "data"
MODELS = ("convnet", "attention", "loop", "branch", "quantised", "texts", "small_types", "dynamic_bytes", "spectrum",
          "grouped_queries", "sparse_constants", "regions", "pointwise_bytes", "windows_of_bytes", "between_bytes")


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
            if w.dtype.kind == "U":
                assert f.asnumpy().tolist() == w.tolist()
            else:
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


def test_weights_changed_after_a_run_are_used():
    """A model that was run holds its weights as constants; whoever changes them gets the change."""
    inputs, _ = arrays("attention")
    x = Tensor(inputs["x"])

    def wanted(change):
        fresh = onnx.load(str(DATA / "attention.onnx"))
        change(dict(fresh.parameters_and_names())["wv"])
        return fresh(x).asnumpy()

    changes = [lambda p: p.set_data(p * 2), lambda p: ops.assign(p, p + 1), lambda p: p.__setitem__(0, 0.5)]
    for change in changes:
        net = onnx.load(str(DATA / "attention.onnx"))
        before = net(x).asnumpy()
        change(dict(net.parameters_and_names())["wv"])
        for _ in range(2):
            after = net(x).asnumpy()
            np.testing.assert_allclose(after, wanted(change), rtol=1e-5, atol=1e-6)
            assert np.abs(after - before).max() > 1e-3


def test_wrong_shapes_and_dtypes_are_told():
    net = onnx.load(str(DATA / "attention.onnx"))
    with pytest.raises(ValueError, match="input 'x' has shape"):
        net(Tensor(np.zeros((2, 4, 7), np.float32)))
    with pytest.raises(TypeError, match="input 'x' is int32"):
        net(Tensor(np.zeros((2, 4, 8), np.int32)))


def test_a_number_may_come_as_an_array_of_one(tmp_path):
    class Scale(nn.Cell):
        def construct(self, x, by):
            return x * by
    x, by = Tensor(np.ones((2, 3), np.float32)), Tensor(np.float32(2))
    spore.export(Scale(), x, by, file_name=str(tmp_path / "m"), file_format="ONNX")
    net = onnx.load(str(tmp_path / "m.onnx"))
    assert net(x, by.reshape((1,))).shape == net(x, by).shape == (2, 3)
    with pytest.raises(ValueError, match=r"has shape \(1, 1\), it must have \(\)"):
        net(x, by.reshape((1, 1)))


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
    refused(tmp_path, small(*cycle), RuntimeError, "nodes 1 and 0 wait for each other: the graph has a cycle")
    own = field(1, b"y") + field(2, b"y") + field(4, b"Neg")
    refused(tmp_path, small(own), RuntimeError, "has a cycle")
    refused(tmp_path, small(field(1, b"w") + field(2, b"y") + field(4, b"Neg")), RuntimeError, "'w' is used")


def tensor_type(kind):
    return field(1, bytes([8, kind]))


def write(tmp_path, nodes, inputs, outputs, opset=20, domain=None):
    """A model of these nodes; faces are (name, TypeProto)."""
    parts = b"".join(field(1, n) for n in nodes)
    for number, faces in ((11, inputs), (12, outputs)):
        parts += b"".join(field(number, field(1, name) + field(2, kind)) for name, kind in faces)
    sets = field(8, bytes([16, opset])) + (field(8, field(1, domain) + b"\x10\x01") if domain else b"")
    path = tmp_path / "m.onnx"
    path.write_bytes(b"\x08\x0a" + long_field(7, parts) + sets)
    return str(path)


def long_field(number, value):
    size = len(value)
    return bytes([number << 3 | 2, size & 127 | 128, size >> 7]) + value


def test_sequences_and_optionals_go_in_and_out(tmp_path):
    sequence = field(4, field(1, tensor_type(1)))
    nodes = [field(1, b"s") + field(1, b"t") + field(2, b"longer") + field(4, b"SequenceInsert"),
             field(1, b"s") + field(2, b"n") + field(4, b"SequenceLength"),
             field(1, b"maybe") + field(2, b"there") + field(4, b"OptionalHasElement")]
    net = onnx.load(write(tmp_path, nodes, [(b"s", sequence), (b"t", tensor_type(1)), (b"maybe", field(9, field(1, tensor_type(1))))],
                          [(b"longer", sequence), (b"n", tensor_type(7)), (b"there", tensor_type(9))]))
    one, two = Tensor(np.float32([1, 2])), Tensor(np.float32([[3]]))
    longer, n, there = net([one], two, None)
    assert [t.asnumpy().tolist() for t in longer] == [[1, 2], [[3]]]
    assert int(n.asnumpy()) == 1 and not bool(there.asnumpy())
    assert net([], two, one)[2].asnumpy()
    with pytest.raises(TypeError, match="input 's' is a sequence"):
        net(one, two, None)


def test_small_floats_are_float32_at_the_face_and_rounded(tmp_path):
    nodes = [field(1, b"x") + field(2, b"y") + field(4, b"Identity")]
    net = onnx.load(write(tmp_path, nodes, [(b"x", tensor_type(17))], [(b"y", tensor_type(17))], opset=21))
    x = np.float32([0.3, 1.06, 1000, -0.001, 17])
    np.testing.assert_array_equal(net(Tensor(x)).asnumpy(), np.float32([0.3125, 1.0, 448, -0.001953125, 16]))


def test_operators_refuse_types_that_they_do_not_take(tmp_path):
    nodes = [field(1, b"x") + field(2, b"y") + field(4, b"Neg")]
    net = onnx.load(write(tmp_path, nodes, [(b"x", tensor_type(8))], [(b"y", tensor_type(8))]))
    with pytest.raises(NotImplementedError, match="input 0 has elements of type string"):
        net(Tensor(np.array(["a"])))


@pytest.mark.parametrize("pattern, match, other", [
    (r"a{2,3}b*", "aab", "ab"), (r"(?i)straSSe|weg", "Strasse", "stra"), (r"[^\d\s]+\.\w{1,3}", "a-b.txt", "a1.txt"),
    (r"(\w+\s)*\bend$", "the very end", "the veryend"), (r"(a|aa)*c", "a" * 60 + "c", "a" * 200)])
def test_regular_expressions(tmp_path, pattern, match, other):
    attribute = field(1, b"pattern") + field(4, pattern.encode()) + b"\xa0\x01\x03"
    nodes = [field(1, b"x") + field(2, b"y") + field(4, b"RegexFullMatch") + field(5, attribute)]
    net = onnx.load(write(tmp_path, nodes, [(b"x", tensor_type(8))], [(b"y", tensor_type(9))]))
    assert net(Tensor(np.array([match, other]))).asnumpy().tolist() == [True, False]


def test_bad_regular_expressions_are_told(tmp_path):
    for pattern, why in ((b"(a", "without"), (b"*a", "nothing to repeat"), (b"[a", "without"), (b"((a{1000}){1000}){1000}", "too large")):
        attribute = field(1, b"pattern") + field(4, pattern) + b"\xa0\x01\x03"
        nodes = [field(1, b"x") + field(2, b"y") + field(4, b"RegexFullMatch") + field(5, attribute)]
        net = onnx.load(write(tmp_path, nodes, [(b"x", tensor_type(8))], [(b"y", tensor_type(9))]))
        with pytest.raises(ValueError, match=why):
            net(Tensor(np.array(["a"])))


def test_missing_inputs_are_refused(tmp_path):
    for op, inputs in ((b"LayerNormalization", [b"x"]), (b"Conv", [b"x"]), (b"Einsum", [b"x", b"", b"x"]), (b"Gemm", [b"x", b""])):
        nodes = [b"".join(field(1, i) for i in inputs) + field(2, b"y") + field(4, op)]
        with pytest.raises(RuntimeError, match="without its input 1"):
            onnx.load(write(tmp_path, nodes, [(b"x", tensor_type(1))], [(b"y", tensor_type(1))], opset=13))


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


def sparse_file(at, dims, values=np.float32([1, 2])):
    """A model of one sparse initializer, and nothing else."""
    whole = field(1, bytes([8, len(values), 16, 1]) + field(8, b"y") + field(9, values.tobytes()))
    whole += field(2, bytes([8, len(at), 16, 7]) + field(9, np.int64(at).tobytes())) + b"".join(b"\x18" + d for d in dims)
    return b"\x08\x08" + field(7, field(15, whole) + field(12, field(1, b"y"))) + field(8, b"\x10\x11")


def test_damaged_sparse_tensors_are_refused(tmp_path):
    refused(tmp_path, sparse_file([0, 6], [b"\x02", b"\x03"]), RuntimeError, "'y': index 6 of value 1 is out of range for 6 elements")
    refused(tmp_path, sparse_file([0, -1], [b"\x02", b"\x03"]), RuntimeError, "index -1 of value 1 is out of range")
    refused(tmp_path, sparse_file([0], [b"\x06"]), RuntimeError, r"indices of a sparse tensor must be int64, \[2\] or \[2, 1\]")
    refused(tmp_path, sparse_file([0, 1], [b"\xff\xff\xff\xff\x0f", b"\x04"]), RuntimeError, "2 values claims 68719476720 bytes")
    (tmp_path / "m.onnx").write_bytes(sparse_file([0, 5], [b"\x02", b"\x03"]))
    np.testing.assert_array_equal(spore.load_checkpoint(str(tmp_path / "m.onnx"))["y"].asnumpy(), [[1, 0, 0], [0, 0, 2]])
