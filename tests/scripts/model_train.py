# SPDX-License-Identifier: Apache-2.0
"""Model.train with the usual callbacks, then eval and predict."""
import os
import tempfile

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.dataset import GeneratorDataset
from mindspore.train import Accuracy, Callback, CheckpointConfig, LossMonitor, Model, ModelCheckpoint, TimeMonitor

rng = np.random.RandomState(0)


class Blobs:
    """Four clouds of points in a plane, one class each."""

    def __init__(self, n):
        self.label = (np.arange(n) % 4).astype(np.int32)
        centre = np.array([[2, 2], [2, -2], [-2, 2], [-2, -2]], np.float32)
        self.point = (centre[self.label] + rng.normal(size=(n, 2))).astype(np.float32)

    def __getitem__(self, index):
        return self.point[index], self.label[index]

    def __len__(self):
        return len(self.label)


def dataset(n):
    return GeneratorDataset(Blobs(n), ["data", "label"], shuffle=False).batch(32, drop_remainder=True)


class Keep(Callback):
    """Notes the events, and the loss after each step."""

    def __init__(self):
        super().__init__()
        self.events = []
        self.losses = []

    def on_train_begin(self, run_context):
        self.events.append("begin")

    def on_train_epoch_begin(self, run_context):
        self.events.append("epoch begin")

    def on_train_step_end(self, run_context):
        params = run_context.original_args()
        self.losses.append(float(np.mean(params.net_outputs.asnumpy())))
        if not (params.cur_step_num, params.batch_num) == (len(self.losses), 8):
            raise RuntimeError(f"step {params.cur_step_num} of {params.batch_num}")

    def on_train_epoch_end(self, run_context):
        self.events.append("epoch end")

    def on_train_end(self, run_context):
        self.events.append("end")


class StopAt(Callback):
    def __init__(self, epoch):
        super().__init__()
        self.epoch = epoch

    def on_train_epoch_end(self, run_context):
        if run_context.original_args().cur_epoch_num == self.epoch:
            run_context.request_stop()


net = nn.SequentialCell(nn.Dense(2, 16), nn.Tanh(), nn.Dense(16, 4))
for p in net.trainable_params():
    p.set_data(Tensor(rng.normal(size=p.shape, scale=0.3).astype(np.float32)))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.02)
model = Model(net, loss_fn=loss, optimizer=optimizer, metrics={"accuracy": Accuracy(), "loss": nn.Loss()})

with tempfile.TemporaryDirectory() as place:
    keep = Keep()
    config = CheckpointConfig(save_checkpoint_steps=8, keep_checkpoint_max=2)
    checkpoint = ModelCheckpoint(prefix="blobs", directory=place, config=config)
    model.train(5, dataset(256), callbacks=[LossMonitor(8), TimeMonitor(8), checkpoint, keep, StopAt(4)], dataset_sink_mode=False)
    print("events", keep.events)
    print("steps", len(keep.losses), "first", round(keep.losses[0], 3), "last", round(keep.losses[-1], 3))
    files = sorted(name for name in os.listdir(place) if name.endswith(".ckpt"))
    print("files", files)
    result = model.eval(dataset(64), dataset_sink_mode=False)
    print("metrics", sorted(result), round(float(result["accuracy"]), 3), round(float(result["loss"]), 2))

    fresh = nn.SequentialCell(nn.Dense(2, 16), nn.Tanh(), nn.Dense(16, 4))
    ms.load_param_into_net(fresh, ms.load_checkpoint(os.path.join(place, files[-1])))
    prediction = Model(fresh).predict(Tensor([[2.0, 2.0], [-2.0, -2.0]], ms.float32))
    print("predict", prediction.shape, prediction.argmax(1))
