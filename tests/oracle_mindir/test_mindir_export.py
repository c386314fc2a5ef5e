# SPDX-License-Identifier: Apache-2.0
"""What export writes, load reads, with equal results; mindspore_2.10.log holds what MindSpore said about the same files."""
import pathlib
import sys

import numpy as np
import pytest

import spore as ms
from spore import _core, nn, ops

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import mindir_table  # noqa: E402
import nets  # noqa: E402

CASES = nets.cases()


@pytest.mark.parametrize("name", CASES)
def test_round_trip(name, tmp_path):
    net, inputs = CASES[name]
    net.set_train(False)
    wanted = nets.run(net, inputs)
    ms.export(net, *map(ms.Tensor, inputs), file_name=str(tmp_path / name), file_format="MINDIR")
    found = nets.run(nn.GraphCell(ms.load(str(tmp_path / f"{name}.mindir"))), inputs)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", nets.FREE_BATCH)
def test_free_batch(name, tmp_path):
    net, inputs = nets.cases()[name]
    net.set_train(False)
    larger = nets.free_batch(net, inputs)
    ms.export(net, *map(ms.Tensor, inputs), file_name=str(tmp_path / name), file_format="MINDIR")
    for one, other in zip(nets.run(nn.GraphCell(ms.load(str(tmp_path / f"{name}.mindir"))), larger), nets.run(net, larger)):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_weights_beside(tmp_path):
    net, inputs = nets.cases()["lenet"]
    net.set_train(False)
    ms.export(net, *map(ms.Tensor, inputs), file_name=str(tmp_path / "a"), file_format="MINDIR", external_data_bytes=1000)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a_graph.mindir", "a_variables", "data_0"]
    for one, other in zip(nets.run(nn.GraphCell(ms.load(str(tmp_path / "a_graph.mindir"))), inputs), nets.run(net, inputs)):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_reshape_to_several_free_sizes(tmp_path):
    class Net(nn.Cell):
        def construct(self, x):
            return x.reshape(x.shape[1], x.shape[0]), ops.broadcast_to(x.reshape(x.shape[0], x.shape[1], 1), (*x.shape, 2))
    net = Net()
    net.set_inputs(ms.Tensor(shape=[None, None], dtype=ms.float32))
    ms.export(net, ops.ones((2, 3), ms.float32), file_name=str(tmp_path / "a"), file_format="MINDIR")
    loaded, x = nn.GraphCell(ms.load(str(tmp_path / "a.mindir"))), ms.Tensor(np.arange(20, dtype=np.float32).reshape(4, 5))
    for one, other in zip(loaded(x), net(x)):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


def test_free_sizes_that_are_computed(tmp_path):
    class Net(nn.Cell):
        def construct(self, x):
            return ops.broadcast_to(x.sum(), (x.shape[0] + 1,))
    net = Net()
    net.set_inputs(ms.Tensor(shape=[None], dtype=ms.float32))
    ms.export(net, ops.ones((2,), ms.float32), file_name=str(tmp_path / "a"), file_format="MINDIR")
    read = nn.GraphCell(ms.load(str(tmp_path / "a.mindir")))
    assert [read(ops.ones((n,), ms.float32)).shape for n in (1, 2, 9)] == [(2,), (3,), (10,)]


def test_every_case_was_read_by_mindspore():
    log = (pathlib.Path(__file__).parent / "mindspore_2.10.log").read_text().splitlines()
    free = [f"{name}_free" for name in nets.FREE_BATCH]
    hidden = [f"lenet_{mode}" for mode in nets.CIPHERS]
    assert sorted(line.partition(".")[0] for line in log) == sorted([*CASES, *free, *hidden, "lenet_split_graph", f"lenet_split_{nets.CIPHERS[0]}_graph"])
    assert all(float(line.rpartition(" ")[2]) < 1e-4 for line in log)


@pytest.mark.parametrize("mode", nets.CIPHERS)
def test_encrypted(tmp_path, mode):
    x = ms.Tensor(np.array([-1, 2], np.float32))
    path = str(tmp_path / "net.mindir")
    ms.export(nn.ReLU(), x, file_name=path, file_format="MINDIR", enc_key=nets.KEY, enc_mode=mode)
    np.testing.assert_array_equal(nn.GraphCell(ms.load(path, dec_key=nets.KEY, dec_mode=mode))(x).asnumpy(), [0, 2])
    with pytest.raises((RuntimeError, ValueError)):
        ms.load(path, dec_key=b"0123456789ABCDE0", dec_mode=mode)
    with pytest.raises(ValueError, match="enc_key"):
        ms.export(nn.ReLU(), x, file_name=path, file_format="MINDIR", enc_key="0123456789ABCDEF", enc_mode=mode)


def test_what_is_not_written_is_told(tmp_path):
    class Net(nn.Cell):
        def construct(self, x):
            return ops.bincount(x), ops.unique(x)
    with pytest.raises(NotImplementedError, match="bincount.*unique"):
        ms.export(Net(), ms.Tensor(np.ones(3, np.int32)), file_name=str(tmp_path / "net"), file_format="MINDIR")
    assert not list(tmp_path.iterdir())


def test_every_operator(tmp_path, capsys):
    """All samples in float32, the first ones in int32: written, or with a reason in different.txt; what is written gives equal results when read."""
    reasons, wrong, written, refused = mindir_table.reasons(), [], set(), set()
    path = tmp_path / "one.mindir"
    for name, op, inputs, attrs in mindir_table.cases(["float32", "int32"]):
        if ".int32." in name and not name.endswith(".0"):
            continue
        try:
            mindir_table.export(path, op, inputs, attrs)
        except NotImplementedError as error:
            refused.add(op["name"])
            if op["name"] not in reasons:
                wrong.append(f"{name}: {error}")
            continue
        written.add(op["name"])
        found = _core.model_load(str(path), "mindir").run(*[t for t in inputs if t is not None])
        for got, want in zip(found, mindir_table.compute(op, inputs, attrs), strict=True):
            got, want = got.asnumpy(), want.asnumpy()
            random = "random numbers" in reasons.get(op["name"], "")
            if got.shape != want.shape or got.dtype != want.dtype or not random and not np.allclose(got, want, 1e-4, 1e-4, equal_nan=True):
                wrong.append(f"{name}: {got.dtype}{got.shape} {got.ravel()[:4]} instead of {want.dtype}{want.shape} {want.ravel()[:4]}")
    with capsys.disabled():
        print(f"\n{len(written - refused)} of {len(_core.op_table())} operators are written to MindIR")
    assert not wrong, "\n".join(wrong)


def test_functions_and_values_that_are_no_tensors(tmp_path):
    class Scaled(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2, 3)

        def construct(self, x, factor, more):
            return self.dense(x) * factor + more[0]
    net, x = Scaled(), ms.Tensor(np.array([[-1, 2]], np.float32))
    ms.export(net, x, 3, (0.5, 1), file_name=str(tmp_path / "a"), file_format="MINDIR")
    loaded = nn.GraphCell(ms.load(str(tmp_path / "a.mindir")))
    np.testing.assert_allclose(loaded(x).asnumpy(), net(x, 3, (0.5, 1)).asnumpy(), rtol=1e-6)
    assert sorted(p.name for p in loaded.get_parameters()) == ["dense.bias", "dense.weight"]
    ms.export(lambda a, b: a * 2 - b, x, x, file_name=str(tmp_path / "b"), file_format="MINDIR")
    model = ms.load(str(tmp_path / "b.mindir"))
    assert [name for name, _, _ in model.inputs()] == ["a", "b"]
    np.testing.assert_array_equal(nn.GraphCell(model)(x, x).asnumpy(), x.asnumpy())


@pytest.mark.parametrize("kind", [list, tuple])
def test_sequences_that_are_mutable_are_inputs(kind, tmp_path):
    class Sum(nn.Cell):
        def construct(self, x, y):
            return ops.relu(x[0] + 2 * x[1]) - y
    a, b, c = (ms.Tensor([k, -k], ms.float32) for k in (1, 2, 3))
    ms.export(Sum(), ms.mutable(kind([a, b])), c, file_name=str(tmp_path / "net"), file_format="MINDIR")
    net = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
    for x in (kind([a, b]), kind([c, a])):
        np.testing.assert_array_equal(net(ms.mutable(x), b).asnumpy(), Sum()(x, b).asnumpy())


def test_a_training_step_is_written_and_goes_on(tmp_path):
    """The file changes its Parameters as the net does."""
    ms.set_seed(1)
    net = nn.SequentialCell(nn.BatchNorm1d(3), nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 2))
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.1))
    step.set_train()
    rng = np.random.default_rng(2)
    x, y = (ms.Tensor(rng.standard_normal((5, n)).astype(np.float32)) for n in (3, 2))
    ms.export(step, x, y, file_name=str(tmp_path / "step"), file_format="MINDIR")
    loaded = nn.GraphCell(ms.load(str(tmp_path / "step.mindir")))
    for _ in range(4):
        np.testing.assert_allclose(loaded(x, y).asnumpy(), step(x, y).asnumpy(), rtol=1e-5)
    wanted = {p.name: p for p in step.get_parameters()}
    for p in loaded.get_parameters():
        np.testing.assert_allclose(p.asnumpy(), wanted[p.name].asnumpy(), rtol=1e-4, atol=1e-6, err_msg=p.name)


@pytest.mark.parametrize("wrong, error", [({"file_format": "AIR"}, "AIR"), ({"file_format": "X"}, "file_format"),
                                          ({"file_format": "MINDIR", "file_name": "a b?"}, "file_name")])
def test_wrong_arguments(wrong, error):
    with pytest.raises(ValueError, match=error):
        ms.export(nn.ReLU(), ms.Tensor([1.0]), **{"file_name": "net", **wrong})


@pytest.mark.parametrize("file_format, options, error", [("MINDIR", {"obf_config": {"obf_ratio": 0.5}}, NotImplementedError),
                                                         ("ONNX", {"custom_func": print}, ValueError),
                                                         ("ONNX", {"enc_key": b"0123456789ABCDEF"}, ValueError)])
def test_options_that_would_be_lost_are_refused(file_format, options, error, tmp_path):
    with pytest.raises(error, match="obf_config|custom_func|customized encryption"):
        ms.export(nn.ReLU(), ms.Tensor([1.0]), file_name=str(tmp_path / "net"), file_format=file_format, **options)
    assert not list(tmp_path.iterdir())
    ms.export(nn.ReLU(), ms.Tensor([1.0]), file_name=str(tmp_path / "net"), file_format=file_format, **dict.fromkeys(options))


@pytest.mark.parametrize("log", ["real_mindspore.log", "real_spore.log"])
def test_real_networks_were_exchanged(log):
    """What spore wrote was run by MindSpore, and the other way round."""
    lines = (pathlib.Path(__file__).parent / log).read_text().splitlines()
    assert len(lines) >= 30
    for line in lines:
        assert float(line.rpartition("(")[2].split()[0]) < 5e-5, line


def test_the_table_was_run_by_mindspore():
    """Equal, or with a reason; a line an operator and dtype."""
    reasons = mindir_table.reasons()
    lines = (pathlib.Path(__file__).parent / "table_2.10.log").read_text().splitlines()
    unequal = [line for line in lines[:-1] if ", equal " not in line and line.partition(".")[0] not in reasons]
    assert len(lines) > 370 and not unequal, "\n".join(unequal)


def test_the_table_was_run_by_mindspore_in_other_dtypes():
    """Equal, or MindSpore's CPU has no kernel for the dtype, or with a reason."""
    reasons = mindir_table.reasons()
    lines = (pathlib.Path(__file__).parent / "table_dtypes_2.10.log").read_text().splitlines()[:-1]
    known = (", equal ", "Unsupported", "must be a type of")
    unequal = [line for line in lines if not any(text in line for text in known) and line.partition(".")[0] not in reasons]
    assert len(lines) > 2200 and not unequal, "\n".join(unequal)
    whole = [line for line in lines if ".int64:" in line or ".float64:" in line]
    assert len(whole) > 500 and all(", equal " in line or line.partition(".")[0] in reasons for line in whole)
