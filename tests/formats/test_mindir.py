# SPDX-License-Identifier: Apache-2.0
"""MindIR files that MindSpore wrote give here what they gave there (the .npz beside them), whole and as Cells; damaged ones are
refused."""
import os
import pathlib
import re

import numpy as np
import pytest

import spore as ms
from spore import _core, nn
from spore.graph.compiler import argument_kind, compiled_cell

DATA = pathlib.Path(__file__).parent / "data" / "mindir"
FILES = sorted(path for path in DATA.glob("*.mindir") if path.with_name(path.stem.removesuffix("_graph") + ".npz").exists())


def key_of(path):
    found = re.fullmatch(r"(?:split_)?enc_(AES-GCM|AES-CBC)_key_(.*?)(?:_graph)?", path.stem)
    return {"dec_key": found[2].encode(), "dec_mode": found[1]} if found else {}


def cases_of(path):
    """Lists of inputs and outputs of each run that was recorded."""
    with np.load(path.with_name(path.stem.removesuffix("_graph") + ".npz")) as arrays:
        names = sorted({re.match(r"in(\d+)_", name)[1] for name in arrays if name.startswith("in")})
        order = sorted(arrays, key=lambda name: int(name.rpartition("_")[2]))
        return [[[arrays[name] for name in order if name.startswith(f"{side}{case}_")] for side in ("in", "out")] for case in names]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_of_2_10(path):
    net = nn.GraphCell(ms.load(str(path), **key_of(path)))
    cases = cases_of(path)
    assert cases
    for inputs, outputs in cases:
        found = net(*map(ms.Tensor, inputs))
        found = found if isinstance(found, tuple) else (found,)
        assert len(found) == len(outputs)
        for one, wanted in zip(found, outputs):
            np.testing.assert_allclose(one.asnumpy().astype(wanted.dtype).reshape(wanted.shape), wanted, rtol=1e-4, atol=2e-6)


def graph_of(path, inputs, **key):
    """What a file computes with such inputs, as a multiset of operators with their attributes."""
    net = nn.GraphCell(ms.load(str(path), **key))
    entry = compiled_cell(net).make_entry([argument_kind(ms.Tensor(x)) for x in inputs], [], len(inputs), [])
    lines = [re.sub(r"%\d+|#.*|@\d+| {axis=\(\)}", "", line).strip() for line in _core.graph_text(entry.graph).splitlines()]
    return sorted(line for line in lines if " = " in line and "const" not in line)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_written_back(path, tmp_path, spore_command):
    """A file that is read and written again is the same graph, with the same results; as ONNX it has these results too."""
    key = key_of(path)
    arguments = {"key": key["dec_key"].decode()} if key else {}
    mode = ("--mode", key["dec_mode"]) if key else ()
    spore_command("convert", path, tmp_path / "a.mindir", *mode, **arguments)
    spore_command("convert", path, tmp_path / "a.onnx", *mode, **arguments)
    for inputs, outputs in cases_of(path):
        assert graph_of(tmp_path / "a.mindir", inputs) == graph_of(path, inputs, **key)
        for net in (nn.GraphCell(ms.load(str(tmp_path / "a.mindir"))), ms.onnx.load(str(tmp_path / "a.onnx"))):
            found = net(*map(ms.Tensor, inputs))
            for one, wanted in zip(found if isinstance(found, tuple) else (found,), outputs):
                np.testing.assert_allclose(one.asnumpy().astype(wanted.dtype).reshape(wanted.shape), wanted, rtol=1e-4, atol=1e-5)


def test_all_files_are_there():
    assert len(FILES) == 21


def test_conditions_that_must_hold(tmp_path, spore_command):
    """Assert in a branch: of MindSpore's own file, of that file written again, and of it as ONNX."""
    path, x = DATA / "assert_net.mindir", ms.Tensor(np.float32([1, 2]))
    spore_command("convert", path, tmp_path / "a.mindir")
    spore_command("convert", path, tmp_path / "a.onnx")
    for net, error in ((nn.GraphCell(ms.load(str(path))), RuntimeError), (nn.GraphCell(ms.load(str(tmp_path / "a.mindir"))), RuntimeError),
                       (ms.onnx.load(str(tmp_path / "a.onnx")), ValueError)):
        assert list(net(x, ms.Tensor(np.int64(16000))).asnumpy()) == [3, 5]
        with pytest.raises(error, match="condition does not hold|reshape"):
            net(x, ms.Tensor(np.int64(8000)))


@pytest.mark.parametrize("name, key", [("add", None), ("add_gcm_key_0123456789ABCDEF", b"0123456789ABCDEF")])
def test_files_of_1_1_and_1_7(name, key):
    net = nn.GraphCell(ms.load(str(DATA / f"{name}.mindir"), **({} if key is None else {"dec_key": key})))
    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    np.testing.assert_array_equal(net(ms.Tensor(x), ms.Tensor(x + 1)).asnumpy(), 2 * x + 1)


def test_file_of_2_0():
    net = nn.GraphCell(ms.load(str(DATA / "ori_net.mindir")))
    ones = net(ms.Tensor(np.ones((1, 1, 32, 32), np.float32))).asnumpy()
    np.testing.assert_allclose(ones[0], [4931.8945, 4296.778, 4423.1206, 4641.728, 5048.5415, 4362.815, 4113.9697, 4763.8003,
                                         4365.499, 4998.7246], rtol=1e-4)


def test_unsupported_operators_are_all_listed():
    with pytest.raises(RuntimeError, match="4 operators.*ScatterNd.*IsShapeUnKnown.*zeros_like_leaf.*getattr"):
        ms.load(str(DATA / "bprop_control_flow.mindir"))


def test_parameters_can_be_changed_and_trained():
    path = DATA / "lenet.mindir"
    net = nn.GraphCell(ms.load(str(path)))
    (x,), (wanted,) = cases_of(path)[0]
    bias = dict(net.parameters_and_names())["fc3.bias"]
    assert bias.shape == (10,)
    bias.set_data(bias + 1)
    np.testing.assert_allclose(net(ms.Tensor(x)).asnumpy(), wanted + 1, rtol=1e-4, atol=2e-6)
    _, gradients = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(ms.Tensor(x))
    assert [g.shape for g in gradients] == [p.shape for p in net.trainable_params()]
    np.testing.assert_allclose(gradients[-1].asnumpy(), np.full(10, 2.0))


def test_params_init():
    path = DATA / "lenet.mindir"
    start = ms.Tensor(np.full(10, 3, np.float32))
    net = nn.GraphCell(ms.load(str(path)), params_init={"fc3.bias": start})
    np.testing.assert_array_equal(dict(net.parameters_and_names())["fc3.bias"].asnumpy(), start.asnumpy())
    with pytest.raises(ValueError, match="params_init"):
        nn.GraphCell(ms.load(str(path)), params_init={"fc3.bias": ms.Tensor(np.zeros(3, np.float32))})
    with pytest.raises(TypeError):
        nn.GraphCell(ms.load(str(path)), params_init=3)
    with pytest.raises(TypeError):
        nn.GraphCell(3)


def test_weights_are_there_once(tmp_path):
    """A network of 64 MB needs that much memory of its own at most: what lies at an odd place of the file is copied, and not again for
    its Parameters. The file stays as it is."""
    def own_bytes():
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))

    dense = nn.Dense(4096, 4096, has_bias=False)
    path = tmp_path / "dense.mindir"
    ms.export(dense, ms.Tensor(np.ones((1, 4096), np.float32)), file_name=str(path), file_format="MINDIR")
    before, contents = own_bytes(), path.read_bytes()
    net = nn.GraphCell(ms.load(str(path)))
    grown = own_bytes() - before - len(contents)    # contents was read in between
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # which keeps freed blocks back
        assert grown < 1.2 * len(contents)
    weight = net.trainable_params()[0]
    np.testing.assert_array_equal(weight.asnumpy(), dense.weight.asnumpy())
    weight.set_data(weight + 1)
    weight[0, 0] = 5
    assert path.read_bytes() == contents


def test_other_sizes_than_the_file_says(tmp_path):
    """As in MindSpore, sizes of inputs are found anew in every run; what does not fit an operator is its error."""
    conv = nn.SequentialCell(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    conv.set_train(False)
    path = str(tmp_path / "conv.mindir")
    ms.export(conv, ms.Tensor(np.ones((1, 3, 8, 8), np.float32)), file_name=path, file_format="MINDIR")
    net = nn.GraphCell(ms.load(path))
    for shape in ((1, 3, 8, 8), (4, 3, 8, 8), (2, 3, 16, 10)):
        x = ms.Tensor(np.random.default_rng(1).random(shape, np.float32))
        np.testing.assert_allclose(net(x).asnumpy(), conv(x).asnumpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises((ValueError, RuntimeError), match="conv2d"):
        net(ms.Tensor(np.ones((1, 5, 8, 8), np.float32)))
    with pytest.raises(TypeError, match="float64"):
        net(ms.Tensor(np.ones((1, 3, 8, 8))))


def test_other_sizes_in_loops():
    """Functions inside have sizes in the file, too; such a network is run step by step."""
    path = DATA / "while_net.mindir"
    net = nn.GraphCell(ms.load(str(path)))
    (x, n), (wanted, *_) = cases_of(path)[0]
    twice = np.stack([x, x])
    found = net(ms.Tensor(twice), ms.Tensor(n))[0].asnumpy()
    np.testing.assert_allclose(found, np.stack([wanted, wanted]), rtol=1e-5)
    with pytest.raises(ValueError, match="must have"):
        ms.jit(lambda x, n: net(x, n)[0])(ms.Tensor(twice), ms.Tensor(n))


def test_graph_mode():
    path = DATA / "while_net.mindir"
    net = nn.GraphCell(ms.load(str(path)))

    @ms.jit
    def twice(x, n):
        y, _ = net(x, n)
        return net(y, n)[0]

    inputs, _ = cases_of(path)[0]
    x, n = map(ms.Tensor, inputs)
    np.testing.assert_allclose(twice(x, n).asnumpy(), net(net(x, n)[0], n)[0].asnumpy(), rtol=1e-6)


def test_a_wrong_key_says_so():
    path = DATA / "enc_AES-GCM_key_0123456789ABCDEF.mindir"
    with pytest.raises((RuntimeError, ValueError), match="(?i)key"):
        ms.load(str(path), dec_key=b"0123456789ABCDE0")
    with pytest.raises((RuntimeError, ValueError)):
        ms.load(str(path))


def test_a_function_decrypts(tmp_path):
    plain = (DATA / "two_in_two_out.mindir").read_bytes()
    path = tmp_path / "own.mindir"
    path.write_bytes(bytes(b ^ 0x5A for b in plain))
    graph = ms.load(str(path), dec_key=b"0123456789ABCDEF", dec_mode=lambda name, key: bytes(b ^ 0x5A for b in open(name, "rb").read()))
    inputs, outputs = cases_of(DATA / "two_in_two_out.mindir")[0]
    np.testing.assert_allclose(nn.GraphCell(graph)(*map(ms.Tensor, inputs))[0].asnumpy(), outputs[0], rtol=1e-5)


def test_names_that_are_refused(tmp_path):
    for bad in (3, "net.txt", str(tmp_path / "none.mindir")):
        with pytest.raises(ValueError, match="load"):
            ms.load(bad)


def run_damaged(data):
    """Read and run; errors are fine, anything else is not."""
    try:
        model = _core.model_load_memory(data, "mindir")
        inputs = [ms.Tensor(np.ones([max(d, 1) for d in shape or ()]), getattr(ms, (dtype or "float32").lower()))
                  for _, dtype, shape in model.inputs()]
        model.run(*inputs)
    except (RuntimeError, ValueError, TypeError, KeyError, IndexError, NotImplementedError):
        return False
    return True


@pytest.mark.parametrize("name", ["bf16_add", "jit_function", "add"])
def test_cut_at_every_byte(name):
    data = (DATA / f"{name}.mindir").read_bytes()
    assert run_damaged(data)
    for n in range(len(data)):
        run_damaged(data[:n])


def test_every_byte_changed():
    data = (DATA / "jit_function.mindir").read_bytes()
    for i in range(len(data)):
        for change in (0x01, 0x80):
            run_damaged(data[:i] + bytes([data[i] ^ change]) + data[i + 1:])


def test_custom_func_changes_the_model(tmp_path, spore_command):
    def custom(model):
        assert model.producer_name == "MindSpore" and len(model.graph.node) == 1
        model.producer_name = "somebody"
        model.user_info["version"] = "7"
        model.user_info["maker"] = "ü"
    path, again = tmp_path / "a.mindir", tmp_path / "b.mindir"
    key = {"enc_key": b"0123456789ABCDEF", "enc_mode": "AES-CBC"}
    ms.export(nn.ReLU(), ms.Tensor([1.0]), file_name=str(again), file_format="MINDIR", custom_func=custom, **key)
    net = nn.GraphCell(ms.load(str(again), dec_key=key["enc_key"], dec_mode="AES-CBC"))
    assert net(ms.Tensor([-1.0, 2.0])[:1]) == 0
    ms.export(nn.ReLU(), ms.Tensor([1.0]), file_name=str(path), file_format="MINDIR", custom_func=custom)
    assert ms.load_mindir(str(path)).producer_name == "somebody"
    spore_command("convert", path, again, "--force")
    for one in (path, again):
        assert "user_info.version: 7" in (text := spore_command("inspect", one)) and "user_info.maker: ü" in text
    with pytest.raises(AttributeError, match="no field 'nodes'"):
        ms.export(nn.ReLU(), ms.Tensor([1.0]), file_name=str(path), file_format="MINDIR", custom_func=lambda model: model.nodes)
    with pytest.raises(TypeError, match="texts"):
        ms.export(nn.ReLU(), ms.Tensor([1.0]), file_name=str(path), file_format="MINDIR", custom_func=lambda model: model.user_info.update(a=1))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.mindir", "b.mindir"]


def test_a_function_encrypts(tmp_path):
    """Any function of bytes and key, for both formats; what it gives is the file."""
    def turn(data, key):
        return bytes(byte ^ key[0] for byte in data)
    x = ms.Tensor([-1.0, 2.0])
    for kind in ("mindir", "onnx"):
        path = tmp_path / f"net.{kind}"
        ms.export(nn.ReLU(), x, file_name=str(path), file_format=kind.upper(), enc_key=b"7", enc_mode=turn)
        plain = turn(path.read_bytes(), b"7")
        assert _core.model_load_memory(plain, kind).run(x)[0].asnumpy().tolist() == [0, 2]
    net = nn.GraphCell(ms.load(str(tmp_path / "net.mindir"), dec_key=b"7", dec_mode=lambda path, key: turn(open(path, "rb").read(), key)))
    assert net(x).asnumpy().tolist() == [0, 2]
    with pytest.raises(TypeError, match="bytes"):
        ms.export(nn.ReLU(), x, file_name=str(tmp_path / "net"), file_format="MINDIR", enc_key=b"7", enc_mode=lambda data, key: 3)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["net.mindir", "net.onnx"]


@pytest.mark.parametrize("path", [path for path in sorted(DATA.glob("*.mindir")) if "_key_" not in path.name], ids=lambda path: path.stem)
def test_files_as_messages(path, tmp_path):
    """Read, looked at to the last field, and written again: the same bytes."""
    def look(message):
        for name in message._known:
            value = getattr(message, name)
            for one in value if isinstance(value, list) else [value]:
                if hasattr(one, "HasField") and message.HasField(name):
                    look(one)
        assert repr(message) is not None
    model = ms.load_mindir(str(path))
    look(model)
    ms.save_mindir(model, str(tmp_path / "folder" / "again"))
    assert (tmp_path / "folder" / "again.mindir").read_bytes() == path.read_bytes()


def test_messages_can_be_changed(tmp_path):
    model = ms.load_mindir(str(DATA / "two_in_two_out.mindir"))
    model.doc_string = "changed"
    model.graph.attribute.add(name="new", i=-3, f=0.5, s=b"text").ints.extend([1, -2])
    model.ClearField("user_info")
    ms.save_mindir(model, str(tmp_path / "net"))
    again = ms.load_mindir(str(tmp_path / "net.mindir"))
    assert again == model and again.doc_string == "changed" and again.HasField("graph") and not again.HasField("parallel")
    last = again.graph.attribute[-1]
    assert (last.name, last.i, last.f, last.s, list(last.ints)) == ("new", -3, 0.5, b"text", [1, -2])
    ms.load(str(tmp_path / "net.mindir"))
    for change, error in ((lambda: setattr(model, "nonsense", 1), AttributeError), (lambda: setattr(model, "graph", 1), AttributeError),
                          (lambda: setattr(model, "doc_string", 1), TypeError), (lambda: model.nonsense, AttributeError)):
        with pytest.raises(error):
            change()


def test_damaged_messages_are_refused(tmp_path):
    data = (DATA / "jit_function.mindir").read_bytes()
    path = tmp_path / "bad.mindir"
    for n in range(1, len(data), 7):
        path.write_bytes(data[:n])
        try:
            ms.load_mindir(str(path)).SerializeToString()
        except ValueError:
            pass
    for wrong, error in ((3, TypeError), ("none.mindir", ValueError), ("a b", ValueError), ("folder/", ValueError)):
        with pytest.raises(error):
            ms.load_mindir(wrong)
    for wrong, error in (((3, "a"), TypeError), ((ms.load_mindir(str(DATA / "add.mindir")), ""), ValueError)):
        with pytest.raises(error):
            ms.save_mindir(*wrong)


def state_step(x, n, held):
    """What state.mindir computes, which is StateInBoth of tests/oracle_mindir/real_nets.py, written by MindSpore 2.10."""
    total = x
    for _ in range(n):
        if total.sum() > 2:
            held["sum"] = held["sum"] + total
            total = total - held["sum"]
        else:
            held["count"] += 1
            total = total + np.abs(x)
    return total, held["sum"], held["count"]


def test_parameters_that_branches_and_loops_write(tmp_path, spore_command):
    again = tmp_path / "again.mindir"
    spore_command("convert", DATA / "state.mindir", again)
    for path in (DATA / "state.mindir", again):
        net, held = nn.GraphCell(ms.load(str(path))), {"sum": np.zeros(3, np.float32), "count": 0}
        for x, n in (([1, 2, -1.5], 6), ([0.1, -0.2, 0.3], 3), ([3, 1, 2], 0), ([3, 1, 2], 5)):
            x = np.array(x, np.float32)
            found = net(ms.Tensor(x), ms.Tensor(n, ms.int32))
            for got, want in zip(found, state_step(x, n, held), strict=True):
                np.testing.assert_allclose(got.asnumpy(), want, 1e-5)
        kept = {p.name: p.asnumpy() for p in net.get_parameters()}
        np.testing.assert_allclose(kept["sum"], held["sum"], 1e-5)
        assert kept["count"] == held["count"] > 0


@pytest.mark.parametrize("kind", ["MINDIR", "ONNX"])
def test_dropout_in_training(tmp_path, kind):
    """Written with the file's own generator: about half of the elements are dropped, others in every run; the rest is scaled."""
    net = nn.SequentialCell(nn.ReLU(), nn.Dropout(p=0.5)).set_train()
    x = ms.Tensor(np.full((64, 64), 3, np.float32))
    path = str(tmp_path / f"net.{kind.lower()}")
    ms.export(net, x, file_name=path, file_format=kind)
    again = nn.GraphCell(ms.load(path)) if kind == "MINDIR" else ms.onnx.load(path)
    first, second = again(x).asnumpy(), again(x).asnumpy()
    for one in (first, second):
        assert set(np.unique(one)) == {0, 6} and 0.4 < (one == 0).mean() < 0.6
    assert (first != second).any()
