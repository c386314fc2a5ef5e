# SPDX-License-Identifier: Apache-2.0
"""Model.fit with callbacks of one's own and those of the library: stopping, plateau, history, checkpoints."""
import os
import tempfile

import numpy as np

import mindspore as ms
import mindspore.dataset as ds
from mindspore import Tensor, nn
from mindspore.train import (Accuracy, Callback, CheckpointConfig, EarlyStopping, History, LambdaCallback, LearningRateScheduler,
                             Loss, LossMonitor, Metric, Model, ModelCheckpoint, ReduceLROnPlateau, RunContext, rearrange_inputs)


class Recorder(Callback):
    def __init__(self):
        super().__init__()
        self.lines = []

    def on_train_begin(self, run_context):
        p = run_context.original_args()
        self.lines.append(f"begin {p.epoch_num} {p.batch_num} {p.mode if 'mode' in p else '-'}")

    def on_train_epoch_begin(self, run_context):
        self.lines.append(f"epoch {run_context.original_args().cur_epoch_num}")

    def on_train_step_end(self, run_context):
        p = run_context.original_args()
        loss = p.net_outputs
        if isinstance(loss, (tuple, list)):
            loss = loss[0]
        if isinstance(loss, Tensor):
            loss = float(np.mean(loss.asnumpy()))
        self.lines.append(f"  step {p.cur_step_num} {loss:.4f}")

    def on_train_end(self, run_context):
        p = run_context.original_args()
        self.lines.append(f"end {type(p.train_network).__name__} {type(p.optimizer).__name__} {p.parallel_mode}")


class StopAtStep(Callback):
    def __init__(self, step):
        super().__init__()
        self.step = step

    def step_end(self, run_context):
        if run_context.original_args().cur_step_num >= self.step:
            run_context.request_stop()


class EvalCallback(Callback):
    def __init__(self, model, data, every=2):
        super().__init__()
        self.model, self.data, self.every = model, data, every
        self.best = 0

    def epoch_end(self, run_context):
        p = run_context.original_args()
        if p.cur_epoch_num % self.every == 0:
            result = self.model.eval(self.data, dataset_sink_mode=False)
            self.best = max(self.best, result["accuracy"])
            print(f"epoch {p.cur_epoch_num}: accuracy {result['accuracy']:.3f}, distance {result['distance']:.4f}")


class Distance(Metric):
    def __init__(self, eps=1e-4):
        super().__init__()
        self.eps = eps
        self.clear()

    def clear(self):
        self._total, self._samples = 0.0, 0

    @rearrange_inputs
    def update(self, *inputs):
        logits, labels = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        hot = np.eye(logits.shape[1])[labels]
        e = np.exp(logits - logits.max(1, keepdims=True))
        self._total += np.abs(e / e.sum(1, keepdims=True) - hot).sum()
        self._samples += len(labels)

    def eval(self):
        if self._samples == 0:
            raise RuntimeError("nothing was updated")
        return self._total / self._samples


random = np.random.RandomState(1)
points = random.randn(32, 4).astype(np.float32)
labels = (points[:, 0] + points[:, 1] > 0).astype(np.int32) + (points[:, 2] > 1)


def data(batch=8):
    return ds.NumpySlicesDataset((points, labels.astype(np.int32)), ["x", "y"], shuffle=False).batch(batch)


def fresh(rate=0.1):
    state = np.random.RandomState(3)
    net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 3))
    for p in net.get_parameters():
        p.set_data(Tensor(state.normal(0, 0.5, p.shape).astype(np.float32)))
    return net, Model(net, nn.SoftmaxCrossEntropyWithLogits(True, "mean"), nn.Momentum(net.trainable_params(), rate, 0.9),
                      metrics={"accuracy": Accuracy(), "loss": Loss(), "distance": Distance()})


recorder = Recorder()
net, model = fresh()
model.train(2, data(), callbacks=[recorder, EvalCallback(model, data(16))], dataset_sink_mode=False)
print("\n".join(recorder.lines))

net, model = fresh()
model.train(5, data(), callbacks=[StopAtStep(6), LossMonitor(3)], dataset_sink_mode=False)

net, model = fresh(2.0)
plateau = ReduceLROnPlateau(monitor="eval_loss", factor=0.1, patience=1, verbose=True, mode="auto", min_delta=0.5, cooldown=0)
stopping = EarlyStopping(monitor="eval_loss", patience=3, verbose=True, mode="min", min_delta=0.01, restore_best_weights=True)
history = History()
model.fit(6, data(), data(32), callbacks=[plateau, stopping, history], valid_dataset_sink_mode=False, dataset_sink_mode=False)
print(history.epoch, {k: [round(float(v), 3) for v in np.ravel(values)] for k, values in sorted(history.history.items())
                      if k != "net_output"})


def learning_rate_function(lr, cur_step_num):
    return lr * 0.5 if cur_step_num % 4 == 0 else lr


net, model = fresh()
notes = []
model.train(2, data(), callbacks=[LearningRateScheduler(learning_rate_function), LambdaCallback(
    on_train_epoch_end=lambda c: notes.append(round(float(model.train_network.optimizer.learning_rate.asnumpy()), 6)))],
    dataset_sink_mode=False)
print(notes)
with tempfile.TemporaryDirectory() as folder:
    net, model = fresh()
    config = CheckpointConfig(save_checkpoint_steps=2, keep_checkpoint_max=3, integrated_save=False, append_info=["epoch_num", "step_num"])
    model.train(2, data(), callbacks=ModelCheckpoint("net", folder, config), dataset_sink_mode=False)
    names = sorted(n for n in os.listdir(folder) if n.endswith(".ckpt"))
    print(names)
    loaded = ms.load_checkpoint(os.path.join(folder, names[-1]))
    print(sorted(loaded)[:3], int(loaded["epoch_num"].asnumpy()), int(loaded["step_num"].asnumpy()))
print(model.predict(Tensor(points[:2])).shape, type(RunContext).__name__)
