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


def test_free_sizes_that_mindir_cannot_say_are_refused(tmp_path):
    class Net(nn.Cell):
        def construct(self, x):
            return ops.broadcast_to(x.sum(), (x.shape[0] + 1,))
    net = Net()
    net.set_inputs(ms.Tensor(shape=[None], dtype=ms.float32))
    with pytest.raises(NotImplementedError, match="depends on free sizes"):
        ms.export(net, ops.ones((2,), ms.float32), file_name=str(tmp_path / "a"), file_format="MINDIR")
    assert not list(tmp_path.iterdir())


def test_every_case_was_read_by_mindspore():
    log = (pathlib.Path(__file__).parent / "mindspore_2.10.log").read_text().splitlines()
    free = [f"{name}_free" for name in nets.FREE_BATCH]
    assert sorted(line.partition(".")[0] for line in log) == sorted([*CASES, *free, "lenet_split_graph"])
    assert all(float(line.rpartition(" ")[2]) < 1e-4 for line in log)


def test_encrypted(tmp_path):
    x = ms.Tensor(np.array([-1, 2], np.float32))
    path = str(tmp_path / "net.mindir")
    ms.export(nn.ReLU(), x, file_name=path, file_format="MINDIR", enc_key=b"0123456789ABCDEF")
    np.testing.assert_array_equal(nn.GraphCell(ms.load(path, dec_key=b"0123456789ABCDEF"))(x).asnumpy(), [0, 2])
    with pytest.raises((RuntimeError, ValueError)):
        ms.load(path, dec_key=b"0123456789ABCDE0")


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
            if got.shape != want.shape or got.dtype != want.dtype or not np.allclose(got, want, 1e-4, 1e-4, equal_nan=True):
                wrong.append(f"{name}: {got.dtype}{got.shape} {got.ravel()[:4]} instead of {want.dtype}{want.shape} {want.ravel()[:4]}")
    with capsys.disabled():
        print(f"\n{len(written - refused)} of {len(_core.op_table())} operators are written to MindIR")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("wrong, error", [({"file_format": "AIR"}, "AIR"), ({"file_format": "X"}, "file_format"),
                                          ({"file_format": "MINDIR", "file_name": "a b?"}, "file_name")])
def test_wrong_arguments(wrong, error):
    with pytest.raises(ValueError, match=error):
        ms.export(nn.ReLU(), ms.Tensor([1.0]), **{"file_name": "net", **wrong})


@pytest.mark.parametrize("file_format, options", [("MINDIR", {"custom_func": print}), ("MINDIR", {"obf_config": {"obf_ratio": 0.5}}),
                                                  ("ONNX", {"custom_func": print}), ("ONNX", {"enc_key": b"0123456789ABCDEF"})])
def test_options_that_would_be_lost_are_refused(file_format, options, tmp_path):
    with pytest.raises(NotImplementedError, match=next(iter(options))):
        ms.export(nn.ReLU(), ms.Tensor([1.0]), file_name=str(tmp_path / "net"), file_format=file_format, **options)
    assert not list(tmp_path.iterdir())
    ms.export(nn.ReLU(), ms.Tensor([1.0]), file_name=str(tmp_path / "net"), file_format=file_format, **dict.fromkeys(options))
