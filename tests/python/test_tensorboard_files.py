# SPDX-License-Identifier: Apache-2.0
"""Event files for TensorBoard, read back with the small reader of the package; tests/beside reads them with TensorBoard's own."""
import os
import zlib

import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, train
from spore.train.summary import _tensorboard


def written(folder, form="tensorboard"):
    """A record with a value of each kind; what is read back, by kind."""
    with train.SummaryRecord(str(folder / "before"), form=form) as record:
        record.record(0)        # what summary operators of other tests have left waiting
    with train.SummaryRecord(str(folder), form=form) as record:
        record.add_value("scalar", "loss", Tensor(0.5))
        record.add_value("image", "picture", Tensor(np.linspace(0, 1, 2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)))
        record.add_value("histogram", "weights", Tensor(np.array([1.0, 2.0, np.nan, 3.0], np.float32)))
        record.add_value("tensor", "t", Tensor([[1.0, 2.0]]))
        record.add_text("note", "**bold** ü")
        record.add_hparams({"lr": 0.1, "layers": 3, "name": "a", "warm": True}, ["loss"])
        record.add_graph(nn.SequentialCell(nn.Dense(3, 4), nn.ReLU()), Tensor(np.ones((2, 3), np.float32)))
        record.add_embedding("words", Tensor([[1.0, 2.0], [3.0, 4.0]]), ["one", "two\nlines"])
        assert record.record(3)
    return train.read_summary(folder)


def test_values_come_back(tmp_path):
    found = written(tmp_path)
    assert [one.kind for one in found] == ["hparams", "hparams", "graph", "scalar", "image", "histogram", "histogram", "text", "hparams"]
    scalar, image, histogram, tensor, text = found[3:8]
    assert (scalar.tag, scalar.step, scalar.value) == ("loss", 3, 0.5) and scalar.wall_time > 1.7e9
    assert image.value.startswith(b"\x89PNG") and int.from_bytes(image.value[16:20], "big") == 10     # two of 5 side by side
    assert histogram.value["count"] == 3 and histogram.value["min"] == 1.0 and sum(histogram.value["counts"]) == 3
    assert histogram.value["limits"][-1] == 3.0 and tensor.value["count"] == 2
    assert (text.tag, text.value) == ("note/text_summary", "**bold** ü")
    assert found[1].value == {"lr": 0.1, "layers": 3.0, "name": "a", "warm": True}
    nodes = {operator: inputs for _, operator, inputs in found[2].value}
    assert {"Input", "Parameter", "matmul", "relu", "Output"} <= set(nodes) and len(nodes["matmul"]) == 2
    names = {name for name, _, _ in found[2].value}
    assert all(source in names for _, _, inputs in found[2].value for source in inputs)


def test_vectors_are_files_beside(tmp_path):
    written(tmp_path)
    assert (tmp_path / "words.tsv").read_text() == "1\t2\n3\t4\n" and (tmp_path / "words_labels.tsv").read_text() == "one\ntwo lines\n"
    config = (tmp_path / "projector_config.pbtxt").read_text()
    assert config == 'embeddings {\n  tensor_name: "words"\n  tensor_path: "words.tsv"\n  metadata_path: "words_labels.tsv"\n}\n'
    with train.SummaryRecord(str(tmp_path)) as record:
        record.add_embedding("words", Tensor([[1.0, 2.0]]), ["one"])                       # written anew, listed once
        record.add_embedding("others", np.zeros((2, 2)))
        for vectors, labels in ((np.zeros(3), None), (np.zeros((2, 2)), ["a"])):
            with pytest.raises(ValueError, match="add_embedding"):
                record.add_embedding("x", vectors, labels)
    assert (tmp_path / "projector_config.pbtxt").read_text().count("embeddings {") == 2


@pytest.mark.parametrize("form, names", (("tensorboard", ["tfevents"]), ("mindinsight", ["events.summary"]), ("both", ["events.summary", "tfevents"]),
                                         (None, ["events.summary", "tfevents"])))
def test_forms(tmp_path, form, names, monkeypatch):
    monkeypatch.delenv("SPORE_SUMMARY", raising=False)
    written(tmp_path, form)
    files = sorted(path.name for path in tmp_path.glob("events*"))
    assert len(files) == len(names) and all(part in name for name, part in zip(files, names))
    values = {one.tag: one for path in tmp_path.glob("events*") for one in train.read_summary(path)}
    assert values["loss"].value == 0.5 and values["weights"].value["count"] in (3, 4) and values["picture"].value.startswith(b"\x89PNG")


def test_the_environment_chooses(tmp_path, monkeypatch):
    monkeypatch.setenv("SPORE_SUMMARY", "mindinsight")
    with train.SummaryRecord(str(tmp_path)) as record:
        assert record.log_dir.endswith("_MS")
    assert len(list(tmp_path.iterdir())) == 1
    monkeypatch.setenv("SPORE_SUMMARY", "excel")
    with pytest.raises(ValueError, match="SPORE_SUMMARY must be one of 'both', 'tensorboard', 'mindinsight', but got 'excel'"):
        train.SummaryRecord(str(tmp_path))
    with pytest.raises(ValueError, match="'form' must be one of"):
        train.SummaryCollector(str(tmp_path), form="x").__enter__()


def test_a_collector_describes_the_training(tmp_path):
    net = nn.SequentialCell(nn.Flatten(), nn.Dense(16, 2))
    rows = ms.dataset.NumpySlicesDataset((np.ones((8, 1, 4, 4), np.float32), np.ones((8, 2), np.float32)), ["x", "y"], shuffle=False).batch(2)
    model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), metrics={"mae"})
    collector = train.SummaryCollector(str(tmp_path), collect_freq=2, custom_lineage_data={"version": "v1"})
    model.fit(2, rows, rows, callbacks=[collector])
    found = train.read_summary(tmp_path)
    tags = {one.tag: one.kind for one in found}
    assert tags["loss/auto"] == "scalar" and tags["input_data/auto"] == "image" and tags["1.weight/auto"] == "histogram"
    assert [one.step for one in found if one.tag == "loss/auto"] == [1, 2, 4, 6, 8]
    assert [one.step for one in found if one.tag == "eval/mae"] == [4, 8] == [one.step for one in found if one.tag == "eval/eval_loss"]
    assert all(one.value > 0 for one in found if one.tag in ("time/step_ms", "memory/MiB")) and "time/step_ms" in tags and "memory/MiB" in tags
    (settings,) = [one.value for one in found if one.tag == "_hparams_/session_start_info"]
    assert settings == {"network": "SequentialCell", "epochs": 2.0, "steps_per_epoch": 4.0, "optimizer": "SGD", "loss_fn": "MSELoss", "batch_size": 2.0,
                        "learning_rate": pytest.approx(0.1), "version": "v1"}
    (graph,) = [one.value for one in found if one.kind == "graph"]
    assert "matmul" in {operator for _, operator, _ in graph}
    (other,) = tmp_path.glob("*_MS")
    assert {one.tag for one in train.read_summary(other)} == {"input_data/auto", "loss/auto", "1.weight/auto", "1.bias/auto"}  # as MindSpore's


def test_a_network_that_cannot_be_captured_trains_on(tmp_path):
    class Odd(nn.Cell):
        def construct(self, x):
            raise_here = x.asnumpy().sum()          # the graph has no value for it
            return x * float(raise_here) if raise_here else x
    rows = ms.dataset.NumpySlicesDataset((np.ones((2, 3), np.float32), np.ones((2, 3), np.float32)), ["x", "y"]).batch(1)
    train.Model(Odd(), nn.MSELoss()).train(1, rows, callbacks=train.SummaryCollector(str(tmp_path)))
    assert any(one.tag == "loss/auto" for one in train.read_summary(tmp_path))


def test_a_network_that_graph_mode_compiled(tmp_path):
    net = nn.Dense(3, 2)
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        with train.SummaryRecord(str(tmp_path), network=net) as record:
            record.add_value("scalar", "a", Tensor(1.0))
            record.record(1)
            net(Tensor(np.ones((1, 3), np.float32)))
            record.record(2)
            record.record(3)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert [one.kind for one in train.read_summary(tmp_path)] == ["scalar", "graph"]


def test_histograms_of_odd_elements():
    for array in (np.zeros(0), np.full(3, np.nan), np.full(4, 2.0), np.array([True, False]), np.array([1, 5], np.int8)):
        assert _tensorboard.histogram(array)


def test_a_graph_with_branches_has_no_loose_ends():
    text = ("variable @0: float32[2, 3]\nentry &Net#0\nfunction Net#0(%0: float32[2]) {\n    %1: float32[2, 3] = read @0  # a.py:1 x\n"
            "    %2: float32[], %3: int64[2] = topk(%0, %1) {k=3, s=\"a, b\"}  # a.py:2 y = (x)\n    %4: function = switch(%2, &then#1, &else#2)\n"
            "    %5: float32[2] = call %4()\n    store @0, %1\n    return %5, %3\n}\nfunction then#1() {\n    return %2\n}\n"
            "function else#2() {\n    return %3\n}\n")
    functions, variables = _tensorboard.parse_graph(text)
    assert variables == {0: "float32[2, 3]"} and [name for name, *_ in functions] == ["Net_0", "then_1", "else_2"]
    topk = functions[0][1][1]
    assert (topk.operator, topk.inputs, topk.attributes, topk.place) == ("topk", [0, 1], 'k=3, s="a, b"', "a.py:2 y = (x)")
    assert functions[0][3] == [5, 3] and len(topk.results) == 2


def test_damaged_files_are_named(tmp_path):
    written(tmp_path)
    (path,) = tmp_path.glob("events*")
    data = path.read_bytes()
    path.write_bytes(data[:-3])                      # being written: what is whole is read
    assert len(train.read_summary(path)) == 8
    for at in (2, 9, len(data) // 2):
        broken = bytearray(data)
        broken[at] ^= 255
        path.write_bytes(broken)
        with pytest.raises(ValueError, match="wrong checksum"):
            train.read_summary(path)
    from spore.train.summary import _events
    for message in (b"\x0a", b"\x2a\x05ab", b"\x2a\x02\x0a\xff", b"\xff" * 12, b"\x09\x00", zlib.compress(b"x" * 100)):
        path.write_bytes(_events.record(message))
        with pytest.raises(ValueError, match="no event"):
            train.read_summary(path)
    os.remove(path)
    assert train.read_summary(tmp_path) == []


def test_wrong_arguments(tmp_path):
    with train.SummaryRecord(str(tmp_path)) as record:
        for call, words in ((lambda: record.add_text(3, "x"), "'name' must be a str"), (lambda: record.add_text("x", 3), "'text' must be a str"),
                            (lambda: record.add_hparams([]), "must be a dict"), (lambda: record.add_hparams({"a": []}), "'a': list")):
            with pytest.raises(TypeError, match=words):
                call()
