# SPDX-License-Identifier: Apache-2.0
"""Event files and checkpoints read as messages, and what the callbacks that write them refuse."""
import struct

import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, train
from spore.train import checkpoint_pb2, summary_pb2
from spore.train.callback import _checkpoint_cb_for_save_op, _InternalCallbackParam, _set_cur_net
from spore.train.callback._checkpoint import _chg_ckpt_file_name_if_same_exist
from spore.train.summary.enums import ModeEnum, PluginEnum


def events(folder):
    (path,) = folder.glob("*_MS")
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        size = struct.unpack("<Q", data[at:at + 8])[0]
        found.append(summary_pb2.Event.FromString(data[at + 12:at + 12 + size]))
        at += 16 + size
    return found


def test_values_come_back(tmp_path):
    with train.SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "loss", Tensor(0.5))
        record.add_value("tensor", "t", Tensor(np.array([[1.0, 2.0]], np.float32)))
        record.add_value("histogram", "h", Tensor(np.array([1.0, 2.0, np.nan, 3.0], np.float32)))
        record.add_value("image", "i", Tensor(np.ones((2, 3, 4, 5), np.float32)))
        record.record(3)
    first, second = events(tmp_path)
    assert first.WhichOneof("what") == "version" and second.WhichOneof("what") == "summary" and second.step == 3
    loss, tensor, histogram, image = second.summary.value
    assert [v.WhichOneof("value") for v in second.summary.value] == ["scalar_value", "tensor", "histogram", "image"]
    assert (loss.tag, loss.scalar_value) == ("loss", 0.5) and not loss.HasField("histogram")
    assert list(tensor.tensor.dims) == [1, 2] and list(tensor.tensor.float_data) == [1.0, 2.0]
    assert (histogram.histogram.count, histogram.histogram.nan_count, histogram.histogram.max) == (4, 1, 3.0)
    assert sum(b.count for b in histogram.histogram.buckets) == 3
    assert (image.image.height, image.image.width) == (4, 10)


def test_a_checkpoint_is_a_message(tmp_path):
    ms.save_checkpoint([{"name": "w", "data": Tensor([1.0, 2.0])}], str(tmp_path / "a.ckpt"))
    message = checkpoint_pb2.Checkpoint()
    message.ParseFromString((tmp_path / "a.ckpt").read_bytes())
    (value,) = message.value
    assert value.tag == "w" and list(value.tensor.dims) == [2] and value.tensor.tensor_type == "Float32"
    assert np.frombuffer(value.tensor.tensor_content, np.float32).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("arguments, error, words", [
    ({"summary_dir": 3}, TypeError, "summary_dir"), ({"summary_dir": ""}, ValueError, "non-blank"),
    ({"collect_freq": 0}, ValueError, "greater than 0"), ({"collect_freq": 0.5}, TypeError, "['int']"),
    ({"keep_default_action": 1}, TypeError, "['bool']"), ({"collect_specified_data": 1}, TypeError, "['dict', 'NoneType']"),
    ({"collect_specified_data": {1: 1}}, TypeError, "['str']"), ({"collect_specified_data": {"collect_graph": 1}}, TypeError, "['bool']"),
    ({"collect_specified_data": {"histogram_regular": "*"}}, ValueError, "regular expression"),
    ({"collect_specified_data": {"x": True}}, ValueError, "unsupported"), ({"custom_lineage_data": {"a": {}}}, TypeError, "-> a"),
    ({"custom_lineage_data": {1: "a"}}, TypeError, "-> 1"), ({"export_options": 1}, TypeError, "export_options")])
def test_wrong_arguments_of_a_collector(arguments, error, words, tmp_path):
    with pytest.raises(error) as raised:
        train.SummaryCollector(**{"summary_dir": str(tmp_path), **arguments})
    assert words in str(raised.value)


def test_a_collector_finds_the_optimizer(tmp_path):
    net = nn.Dense(2, 2)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params()))
    told = _InternalCallbackParam()
    told.optimizer, told.mode, told.train_network = None, ModeEnum.TRAIN.value, step
    collector = train.SummaryCollector(str(tmp_path))
    assert isinstance(collector._get_optimizer(told), nn.SGD)
    told.train_network, collector = net, train.SummaryCollector(str(tmp_path))
    assert collector._get_optimizer(told) is None and collector._temp_optimizer == "Failed"
    told.list_callback = [collector, collector]
    with pytest.raises(ValueError, match="more than one SummaryCollector instance in callback list"):
        collector._check_callbacks(told)
    with pytest.raises(KeyError):
        told.nothing
    assert not hasattr(told, "nothing") and "scalar" in PluginEnum.to_list()


def test_file_names_and_values_for_the_current_net(tmp_path):
    for name in ("a-1_2.ckpt", "a_3-1_2.ckpt"):
        (tmp_path / name).touch()
    assert [_chg_ckpt_file_name_if_same_exist(str(tmp_path), p) for p in ("a", "b")] == ["a_4", "b"]
    net = nn.Dense(2, 2)
    _set_cur_net(net)
    try:
        assert _checkpoint_cb_for_save_op([{"name": "weight", "data": Tensor(np.full((2, 2), 3, np.float32))}])
    finally:
        _set_cur_net(None)
    assert (net.weight.asnumpy() == 3).all() and not _checkpoint_cb_for_save_op([])
    with pytest.raises(ValueError):
        train.SummaryRecord(str(tmp_path), file_prefix="a/b")
    assert train.CheckpointConfig(2, keep_checkpoint_max=0, keep_checkpoint_per_n_minutes=3).keep_checkpoint_max == 0
