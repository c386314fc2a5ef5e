# SPDX-License-Identifier: Apache-2.0
"""Networks of other frameworks, rebuilt here, with their weights loaded: the outputs are theirs."""
import pathlib
import re

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


class KerasWords(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 4)
        self.lstm = nn.LSTM(4, 5, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(10, 3, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm((6,), epsilon=1e-5)
        self.out = nn.Dense(6, 3)

    def construct(self, x):
        return self.out(self.norm(self.gru(self.lstm(self.embed(x))[0])[0]))


class KerasPictures(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, pad_mode="valid")
        self.up = nn.Conv2dTranspose(6, 4, 2, stride=2, pad_mode="valid", has_bias=True)
        self.depthwise = nn.Conv2d(4, 4, 3, pad_mode="valid", group=4)
        self.pointwise = nn.Conv2d(4, 5, 1, has_bias=True)
        self.out = nn.Dense(5, 3)

    def construct(self, x):
        return self.out(self.pointwise(self.depthwise(self.up(self.conv(x)))).mean((2, 3)))


def check(net, name, tolerance=1e-5):
    net.set_train(False)
    with np.load(NETS / f"{name}.npz") as data:
        x, y = data["x"], data["y"]
    if x.dtype == np.int64:
        x = x.astype(np.int32)
    assert np.allclose(net(ms.Tensor(x)).asnumpy(), y, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("net, file", [(Vision, "vision.pth"), (Text, "text.pth"), (Keras, "keras_vision"),
                                       (KerasLSTM, "keras_lstm"), (Keras, "keras_vision.weights.h5"),
                                       (KerasWords, "keras_words.keras"), (KerasWords, "keras_words.h5"),
                                       (KerasPictures, "keras_pictures.keras"), (KerasPictures, "keras_pictures.h5"),
                                       *((net, f"{name}_{kind}") for net, name in ((KerasWords, "keras_words"), (KerasPictures, "keras_pictures"))
                                         for kind in ("checkpoint", "saved", "saved/variables/variables", "trained"))])
def test_outputs_are_those_of_the_framework(net, file, caplog):
    net = net()
    ms.load_checkpoint(str(NETS / file), net)
    check(net, re.sub(r"\..*|_(checkpoint|saved|trained).*", "", file))
    assert caplog.text == ""  # all went well: nothing to warn of


def test_variables_of_a_saved_model_have_their_full_names():
    names = set(ms.load_checkpoint(str(NETS / "keras_pictures_saved")))
    assert {"conv2d/kernel", "separable_conv2d/depthwise_kernel", "dense_1/bias"} <= names


def test_a_list_of_variables_without_names_keeps_its_numbers():
    values = ms.load_checkpoint(str(NETS.parent / "tensorflow" / "list"))
    with np.load(NETS.parent / "tensorflow" / "list.npz") as wanted:
        assert set(values) == set(wanted) == {"items/0", "items/1"}
        assert all(np.array_equal(values[name].asnumpy(), wanted[name]) for name in wanted)


@pytest.mark.parametrize("file, net", [("keras_words_checkpoint", Vision), ("vision.pth", KerasLSTM)])
def test_a_file_of_which_nothing_fits_is_an_error_with_the_report(file, net):
    net = net()
    before = {p.name: p.asnumpy().copy() for p in net.get_parameters()}
    with pytest.raises(RuntimeError, match=r"none of \d+ values fits the net, which is left unchanged: 0 of \d+ parameters from"):
        ms.load_checkpoint(str(NETS / file), net)
    assert all(np.array_equal(p.asnumpy(), before[p.name]) for p in net.get_parameters())


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


def test_patterns_rename():
    """Blocks that stand in another order, and carry other names, are told by one line each."""
    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.short = nn.Conv2d(4, 4, 1)
            self.main = nn.Conv2d(4, 4, 1)
            self.norm = nn.BatchNorm2d(4)
    net = nn.CellList([Block(), Block()])
    random = np.random.default_rng(0)
    theirs = {}
    for i in range(2):
        for name, shape in (("main.0.weight", (4, 4, 1, 1)), ("short.weight", (4, 4, 1, 1)), ("main.1.weight", (4,)), ("main.1.bias", (4,)),
                            ("main.1.running_mean", (4,)), ("main.1.running_var", (4,))):
            theirs[f"stages.block{i}.{name}"] = ms.Parameter(random.standard_normal(shape).astype("f4"))
    patterns = {"stages.block*.main.0.weight": "*.main.weight", "stages.block*.main.1.*": "*.norm.*", "stages.block*.short.*": "*.short.*"}
    values, report = convert_parameters(net, theirs, name_map=patterns)
    assert "12 of 12" in report and "stages.block0.main.1.running_var -> 0.norm.moving_variance" in report
    assert np.array_equal(values["1.main.weight"].asnumpy(), theirs["stages.block1.main.0.weight"].asnumpy())
    assert np.array_equal(values["0.short.weight"].asnumpy(), theirs["stages.block0.short.weight"].asnumpy())
    with pytest.raises(ValueError, match=r"no name of a value fits 'nothing\*'"):
        convert_parameters(net, theirs, name_map={"nothing*": "*"})
    with pytest.raises(ValueError, match="more stars"):
        convert_parameters(net, theirs, name_map={"stages.*": "*.*"})


def test_the_report_says_where_the_order_ends():
    net = nn.SequentialCell(nn.Dense(3, 4), nn.Dense(4, 5))
    theirs = {"a.weight": ms.Parameter(np.zeros((4, 3), "f4")), "a.bias": ms.Parameter(np.zeros(4, "f4")),
              "b.weight": ms.Parameter(np.zeros((6, 4), "f4")), "b.bias": ms.Parameter(np.zeros(6, "f4"))}
    _, report = convert_parameters(net, theirs)
    assert "0 of 4" in report and "nothing fits 1.weight (5, 4); b.weight (6, 4) stands in its place" in report


def test_parameters_that_stand_alone_go_by_their_shape():
    class Tokens(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cls_token = ms.Parameter(np.zeros((1, 1, 8), "f4"))
            self.positions = ms.Parameter(np.zeros((1, 5, 8), "f4"))
            self.scale = ms.Parameter(np.zeros(8, "f4"))
            self.qkv = nn.Dense(8, 24)
    random = np.random.default_rng(0)
    theirs = {k: ms.Parameter(random.standard_normal(s).astype("f4")) for k, s in {
        "class_token": (1, 1, 8), "layer_scale": (8, 1, 1), "attn.in_proj_weight": (24, 8), "attn.in_proj_bias": (24,),
        "encoder.pos_embedding": (1, 5, 8)}.items()}
    values, report = convert_parameters(Tokens(), theirs)
    assert "5 of 5" in report and "by shape: class_token -> cls_token, encoder.pos_embedding -> positions" in report
    assert np.array_equal(values["qkv.weight"].asnumpy(), theirs["attn.in_proj_weight"].asnumpy())


def test_torch_names_in_a_checkpoint(tmp_path):
    """What was read with torch and saved with save_checkpoint (and spore convert) keeps PyTorch's names; they are known."""
    held = ms.load_checkpoint(str(NETS / "vision.pth"))
    ms.save_checkpoint([{"name": k, "data": ms.Tensor(v.asnumpy())} for k, v in held.items()], str(tmp_path / "vision.ckpt"))
    net = Vision()
    ms.load_checkpoint(str(tmp_path / "vision.ckpt"), net)
    check(net, "vision")
