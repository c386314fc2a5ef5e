# SPDX-License-Identifier: Apache-2.0
"""Networks of other frameworks, rebuilt here, with their weights loaded: the outputs are theirs."""
import pathlib

import numpy as np
import pytest

import spore as ms
from spore import nn, ops
from spore.train import convert_parameters

NETS = pathlib.Path(__file__).parent / "data" / "nets"


class Vision(nn.Cell):
    def __init__(self, names=("features", "head")):
        super().__init__()
        self.names = names
        features = nn.SequentialCell(
            nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1), nn.BatchNorm2d(8), nn.PReLU(),
            nn.Conv2d(8, 8, 3, pad_mode="valid", group=8, has_bias=True), nn.GroupNorm(2, 8), nn.ReLU(),
            nn.Conv2dTranspose(8, 4, 2, stride=2, pad_mode="valid", has_bias=True))
        setattr(self, names[0], features)
        setattr(self, names[1], nn.Dense(4, 5))

    def construct(self, x):
        return getattr(self, self.names[1])(getattr(self, self.names[0])(x).mean((2, 3)))


class Text(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 6)
        self.conv = nn.Conv1d(6, 6, 3, pad_mode="pad", padding=1, has_bias=True)
        self.lstm = nn.LSTM(6, 5, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(10, 4, batch_first=True)
        self.norm = nn.LayerNorm((4,), epsilon=1e-5)
        self.out = nn.Dense(4, 3)

    def construct(self, x):
        y = self.conv(self.embed(x).swapaxes(1, 2)).swapaxes(1, 2)
        y, _ = self.lstm(y)
        y, _ = self.gru(y)
        return self.out(self.norm(y))


class Keras(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, pad_mode="valid", has_bias=True)
        self.bn = nn.BatchNorm2d(6)
        self.depthwise = nn.Conv2d(6, 6, 3, pad_mode="valid", group=6, has_bias=True)
        self.out = nn.Dense(96, 5)

    def construct(self, x):
        y = ops.relu(self.depthwise(self.bn(self.conv(x))))
        return self.out(y.transpose(0, 2, 3, 1).reshape(y.shape[0], -1))  # Keras flattens with channels last


class KerasLSTM(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, batch_first=True)
        self.out = nn.Dense(5, 3)

    def construct(self, x):
        return self.out(self.lstm(x)[0])


def check(net, name, tolerance=1e-5):
    net.set_train(False)
    with np.load(NETS / f"{name}.npz") as data:
        x, y = data["x"], data["y"]
    if x.dtype == np.int64:
        x = x.astype(np.int32)
    assert np.allclose(net(ms.Tensor(x)).asnumpy(), y, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("net, file", [(Vision, "vision.pth"), (Text, "text.pth"), (Keras, "keras_vision"),
                                       (KerasLSTM, "keras_lstm"), (Keras, "keras_vision.weights.h5")])
def test_outputs_are_those_of_the_framework(net, file):
    net = net()
    ms.load_checkpoint(str(NETS / file), net)
    check(net, file.split(".")[0])


def test_dict_and_load_param_into_net():
    net = Vision()
    missing, _ = ms.load_param_into_net(net, ms.load_checkpoint(str(NETS / "vision.pth")))
    assert missing == []
    check(net, "vision")


def test_other_names_are_matched_by_order():
    net = Vision(("backbone", "classifier"))
    _, report = convert_parameters(net, ms.load_checkpoint(str(NETS / "vision.pth")))
    assert "features.1.running_mean -> backbone.1.moving_mean" in report and "by order" in report
    ms.load_checkpoint(str(NETS / "vision.pth"), net)
    check(net, "vision")


def test_a_prefix_on_our_side():
    class Wrapper(nn.Cell):
        def __init__(self):
            super().__init__()
            self.model = Vision()

        def construct(self, x):
            return self.model(x)
    net = Wrapper()
    ms.load_checkpoint(str(NETS / "vision.pth"), net)
    check(net, "vision")


def test_name_map_decides():
    weights = ms.load_checkpoint(str(NETS / "text.pth"))
    net = nn.SequentialCell(nn.Dense(4, 3))
    values, report = convert_parameters(net, weights, name_map={"out.weight": "0.weight", "out.bias": "0.bias"})
    assert np.array_equal(values["0.weight"].asnumpy(), weights["out.weight"].asnumpy())
    assert "2 of 2 parameters" in report and "not used" in report
    with pytest.raises(ValueError, match="'nothing'.*parameters of the net"):
        convert_parameters(net, weights, name_map={"out.weight": "nothing"})
    with pytest.raises(ValueError, match="does not fit"):
        convert_parameters(net, weights, name_map={"norm.weight": "0.weight"})


def test_the_report_names_what_does_not_fit(caplog):
    net = Vision()
    net.head = nn.Dense(4, 7)
    missing, _ = ms.load_param_into_net(net, ms.load_checkpoint(str(NETS / "vision.pth")))
    assert missing == ["head.weight", "head.bias"]
    assert "head.weight (5, 4) -> head.weight (7, 4)" in caplog.text


def test_files_of_our_own_are_left_alone(tmp_path):
    net = Vision()
    ms.save_checkpoint(net, str(tmp_path / "x.ckpt"))
    values = ms.load_checkpoint(str(tmp_path / "x.ckpt"))
    assert not any("_origin" in v.__dict__ for v in values.values())
    assert ms.load_param_into_net(Vision(), values) == ([], [])
