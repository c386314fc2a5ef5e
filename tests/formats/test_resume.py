# SPDX-License-Identifier: Apache-2.0
"""Training that goes on from a checkpoint: MindSpore's own checkpoints give MindSpore's next steps, and a run of ours that
was interrupted ends bit for bit like one that was not."""
import pathlib

import numpy as np
import pytest

import spore as ms
from spore import nn, ops
from spore.train import CheckpointConfig, Model, ModelCheckpoint

DATA = pathlib.Path(__file__).parent / "data" / "resume"


class Mlp(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1, self.bn, self.fc2 = nn.Dense(7, 8), nn.BatchNorm1d(8), nn.Dense(8, 4)

    def construct(self, x):
        return self.fc2(ops.relu(self.bn(self.fc1(x))))


class Conv(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 5, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm, self.head, self.emb = nn.GroupNorm(1, 5), nn.Dense(80, 3), nn.Embedding(11, 6)

    def construct(self, x):
        return self.head(ops.relu(self.norm(self.conv(x))).reshape(x.shape[0], -1))


def optimizer(case, params):
    if case == "adam":
        return nn.Adam(params, 0.01, 0.9, 0.999, 1e-8)
    if case == "momentum":
        return nn.Momentum(params, 0.05, 0.9)
    if case == "adamw_dynlr":
        return nn.AdamWeightDecay(params, nn.ExponentialDecayLR(0.01, 0.9, 2), weight_decay=0.01)
    return nn.Momentum(params, 0.05, 0.8, weight_decay=1e-3, use_nesterov=True)


@pytest.mark.parametrize("case", ["adam", "momentum", "adamw_dynlr", "momentum_nesterov_wd"])
def test_mindspore_checkpoints_are_continued(case):
    net = Conv() if case == "momentum_nesterov_wd" else Mlp()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer(case, net.trainable_params()))
    step.set_train()
    ms.load_checkpoint(str(DATA / f"{case}_step3.ckpt"), step)
    with np.load(DATA / f"{case}_data.npz") as data:
        for i in range(3, 6):
            loss = step(ms.Tensor(data["x"][i]), ms.Tensor(data["y"][i].astype(np.int32)))
            assert np.allclose(loss.asnumpy(), data["losses"][i], rtol=1e-5)
    wanted = ms.load_checkpoint(str(DATA / f"{case}_step6.ckpt"))
    for param in net.get_parameters():
        if case.startswith("adam") and param.name in ("fc1.bias", "bn.moving_mean"):
            continue  # the gradient of a bias in front of a batch normalisation is rounding noise, which Adam scales up
        assert np.allclose(param.asnumpy(), wanted[param.name].asnumpy(), rtol=1e-4, atol=1e-6), param.name


class Dropping(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1, self.drop, self.bn, self.fc2 = nn.Dense(6, 16), nn.Dropout(p=0.3), nn.BatchNorm1d(16), nn.Dense(16, 3)

    def construct(self, x):
        return self.fc2(self.bn(self.drop(ops.relu(self.fc1(x)))))


def make_step(net):
    rate = nn.ExponentialDecayLR(0.05, 0.9, 3)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.Adam(net.trainable_params(), rate))
    return step.set_train()


def batches(first, last):
    for i in range(first, last):
        rng = np.random.default_rng(i)
        yield ms.Tensor(rng.standard_normal((8, 6)).astype("f4")), ms.Tensor(rng.integers(0, 3, 8).astype("i4"))


@pytest.mark.parametrize("options", [{}, {"format": "safetensors"}, {"enc_key": b"0123456789abcdef"}, {"async_save": True}])
def test_an_interrupted_run_ends_like_one_that_was_not(options, tmp_path):
    ms.set_seed(3)
    whole = make_step(Dropping())
    path = str(tmp_path / ("x." + options.get("format", "ckpt")))
    for i, (x, y) in enumerate(batches(0, 8)):
        if i == 4:
            ms.save_checkpoint(whole, path, append_dict={"step_num": i, "rng": ms.get_rng_state()}, **options)
        whole(x, y)
    ms.set_seed(99)
    again = make_step(Dropping())
    values = ms.load_checkpoint(path, again, dec_key=options.get("enc_key"), format=options.get("format", "ckpt"))
    ms.set_rng_state(ms.Tensor(values["rng"]))
    for x, y in batches(int(values["step_num"]), 8):
        again(x, y)
    for a, b in zip(whole.get_parameters(), again.get_parameters()):
        assert a.name == b.name and a.asnumpy().tobytes() == b.asnumpy().tobytes(), a.name


def dataset():
    rng = np.random.default_rng(1)
    data = [(rng.standard_normal(6).astype("f4"), np.int32(i % 3)) for i in range(24)]
    return ms.dataset.GeneratorDataset(data, ["x", "y"], shuffle=False).batch(8)


@pytest.mark.parametrize("options", [{}, {"format": "safetensors"}, {"enc_key": b"0123456789abcdef"}, {"async_save": True},
                                     {"crc_check": True}])
def test_model_checkpoint(options, tmp_path):
    net = Dropping()
    config = CheckpointConfig(save_checkpoint_steps=2, keep_checkpoint_max=2,
                              append_info=["epoch_num", "step_num", {"lr": 0.5}], **options)
    saver = ModelCheckpoint("net", str(tmp_path), config)
    model = Model(net, nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    model.train(3, dataset(), callbacks=[saver], dataset_sink_mode=False)
    ending = options.get("format", "ckpt")
    files = sorted(p.name for p in tmp_path.iterdir() if p.suffix == "." + ending)
    assert files == [f"net-3_2.{ending}", f"net-3_3.{ending}"]
    values = ms.load_checkpoint(saver.latest_ckpt_file_name, dec_key=options.get("enc_key"), format=ending)
    assert int(values["epoch_num"]) == 3 and int(values["step_num"]) == 9 and float(values["lr"]) == 0.5
    for param in net.get_parameters():
        assert np.array_equal(values[param.name].asnumpy(), param.asnumpy())
    assert "moments.fc1.weight" in values
