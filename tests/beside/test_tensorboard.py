# SPDX-License-Identifier: Apache-2.0
"""What SummaryRecord writes, read by TensorBoard: its event accumulator, its data server for scalars, and its plugins' messages."""
import os

import numpy as np
import pytest

from spore import Tensor, nn, train

pytestmark = pytest.mark.long
pytest.importorskip("tensorboard")


@pytest.fixture
def folder(tmp_path):
    with train.SummaryRecord(str(tmp_path)) as record:
        record.add_hparams({"lr": 0.1, "layers": 3, "name": "a", "warm": True}, ["loss"])
        record.add_graph(nn.SequentialCell(nn.Dense(3, 4), nn.ReLU()), Tensor(np.ones((2, 3), np.float32)))
        record.add_embedding("words", Tensor([[1.0, 2.0], [3.0, 4.0]]), ["one", "two"])
        for step in range(1, 4):
            record.add_value("scalar", "loss", Tensor(1.0 / step))
            record.add_value("image", "picture", Tensor(np.ones((2, 3, 4, 5), np.float32)))
            record.add_value("histogram", "weights", Tensor(np.arange(100, dtype=np.float32)))
            record.add_text("note", "**bold**")
            record.record(step)
    return tmp_path


def test_the_accumulator_reads_all(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    found = EventAccumulator(str(folder), size_guidance={"tensors": 0, "images": 0, "histograms": 0, "scalars": 0}).Reload()
    tags = found.Tags()
    assert tags["graph"] and {"loss", "picture", "weights", "note/text_summary"} <= set(
        tags["tensors"] + tags["scalars"] + tags["images"] + tags["histograms"])
    assert [(e.step, round(e.value, 5)) for e in found.Scalars("loss")] == [(1, 1.0), (2, 0.5), (3, 0.33333)]
    picture = found.Images("picture")[0]
    assert (picture.width, picture.height) == (10, 4) and picture.encoded_image_string.startswith(b"\x89PNG")
    histogram = found.Histograms("weights")[0].histogram_value
    assert (histogram.min, histogram.max, histogram.num, sum(histogram.bucket)) == (0.0, 99.0, 100.0, 100.0)
    graph = found.Graph()
    assert {"matmul", "relu", "Parameter"} <= {node.op for node in graph.node}
    names = {node.name for node in graph.node}
    assert all(source in names for node in graph.node for source in node.input)
    product = next(node for node in graph.node if node.op == "matmul")
    assert [d.size for d in product.attr["_output_shapes"].list.shape[0].dim] == [2, 4]
    assert found.Tensors("note/text_summary")[0].tensor_proto.string_val[0] == b"**bold**"


def test_the_plugins_know_settings_and_texts(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams import metadata
    found = EventAccumulator(str(folder)).Reload()
    assert set(found.PluginTagToContent("text")) == {"note/text_summary"}
    content = found.PluginTagToContent("hparams")
    start = metadata.parse_session_start_info_plugin_data(content[metadata.SESSION_START_INFO_TAG])
    assert {name: value.number_value or value.string_value or value.bool_value for name, value in start.hparams.items()} == {
        "lr": 0.1, "layers": 3.0, "name": "a", "warm": True}
    experiment = metadata.parse_experiment_plugin_data(content[metadata.EXPERIMENT_TAG])
    assert [info.name for info in experiment.hparam_infos] == ["lr", "layers", "name", "warm"]
    assert [info.name.tag for info in experiment.metric_infos] == ["loss"]
    assert metadata.parse_session_end_info_plugin_data(content[metadata.SESSION_END_INFO_TAG]).status == 1


def test_the_projector_reads_the_vectors(folder):
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
    config = text_format.Parse((folder / "projector_config.pbtxt").read_text(), ProjectorConfig())
    (one,) = config.embeddings
    assert one.tensor_name == "words" and np.loadtxt(folder / one.tensor_path, delimiter="\t").tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert (folder / one.metadata_path).read_text().split() == ["one", "two"]


def test_the_data_server_reads_the_file(folder):
    """TensorBoard's fast reader is another program, which is stricter about messages."""
    server = pytest.importorskip("tensorboard.data.server_ingester")
    from tensorboard.util import grpc_util
    if not os.environ.get("TENSORBOARD_DATA_SERVER_BINARY"):
        pytest.importorskip("tensorboard_data_server")
    ingester = server.SubprocessServerDataIngester(server_binary=server.get_server_binary(), logdir=str(folder), reload_interval=0,
                                                   channel_creds_type=grpc_util.ChannelCredsType.LOCAL, samples_per_plugin=None)
    ingester.start()
    from tensorboard import context
    request, provider = context.RequestContext(), ingester.data_provider
    import time
    for _ in range(300):
        scalars = provider.list_scalars(request, experiment_id="", plugin_name="scalars")
        if scalars:
            break
        time.sleep(0.1)
    (run,) = scalars
    assert set(scalars[run]) == {"loss"} and scalars[run]["loss"].max_step == 3
    assert provider.list_blob_sequences(request, experiment_id="", plugin_name="images")[run]
    assert provider.list_tensors(request, experiment_id="", plugin_name="histograms")[run]
