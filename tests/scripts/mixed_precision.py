# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: levels of auto_mixed_precision, static and dynamic loss scaling, casts seen from outside."""
import numpy as np

import mindspore as ms
from mindspore import Tensor, amp, nn, ops
from mindspore.amp import DynamicLossScaler, StaticLossScaler, all_finite, auto_mixed_precision
from mindspore.train import FixedLossScaleManager, DynamicLossScaleManager, Model, LossMonitor
from mindspore.dataset import NumpySlicesDataset

random = np.random.RandomState(1)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.fc = nn.SequentialCell(nn.Dense(9, 8, weight_init="normal", bias_init="zeros"), nn.BatchNorm1d(8), nn.ReLU(), nn.Dense(8, 3))
        self.seen = []

    def construct(self, x):
        x = self.flatten(x)
        x = self.fc[0](x)
        self.seen.append(str(x.dtype))
        x = self.fc[1](x)
        self.seen.append(str(x.dtype))
        return self.fc[3](self.fc[2](x))


def fresh():
    state = np.random.RandomState(5)
    net = Net()
    for p in net.trainable_params():
        if p.ndim > 1:
            p.set_data(Tensor(state.normal(0, 0.4, p.shape).astype(np.float32)))
        elif "bias" in p.name:
            p.set_data(Tensor(np.zeros(p.shape, np.float32)))
    return net


x = Tensor(random.randn(8, 1, 3, 3).astype(np.float32))
y = Tensor(random.randint(0, 3, 8).astype(np.int32))
loss_fn = nn.CrossEntropyLoss()
for level in ("O0", "O1", "O2", "O3"):
    net = auto_mixed_precision(fresh(), level)
    out = net(x)
    inner = net._backbone if hasattr(net, "_backbone") else net
    print(level, out.dtype, inner.seen, sorted({str(p.dtype) for p in net.get_parameters()}))

for name, scaler in (("static", StaticLossScaler(1024)), ("dynamic", DynamicLossScaler(2 ** 10, 2, 3))):
    model = fresh()
    optimizer = nn.Momentum(model.trainable_params(), 0.1, 0.9)

    def forward_fn(data, label):
        logits = model(data)
        loss = loss_fn(logits.astype(ms.float32), label)
        return scaler.scale(loss), logits

    grad_fn = ms.value_and_grad(forward_fn, None, model.trainable_params(), has_aux=True)
    for step in range(6):
        (loss, _), grads = grad_fn(x * (1e30 if step == 2 and name == "dynamic" else 1), y)
        loss = scaler.unscale(loss)
        if step == 2:
            grads = tuple(g * float("inf") for g in grads)
        is_finite = all_finite(grads)
        if is_finite:
            grads = scaler.unscale(grads)
            optimizer(grads)
        scaler.adjust(is_finite)
        print(name, step, float(loss) if step != 2 else "-", bool(is_finite), float(scaler.scale_value))

manager = DynamicLossScaleManager(init_loss_scale=64, scale_factor=2, scale_window=2)
print(manager.get_loss_scale(), manager.get_drop_overflow_update(), type(manager.get_update_cell()).__name__)
manager.update_loss_scale(True)
print(manager.get_loss_scale())
fixed = FixedLossScaleManager(128.0, False)
print(fixed.get_loss_scale(), fixed.get_update_cell())
net = fresh()
model = Model(net, loss_fn, nn.SGD(net.trainable_params(), 0.1, loss_scale=128.0), metrics={"accuracy"}, amp_level="O0",
              loss_scale_manager=fixed)
data = NumpySlicesDataset({"x": x.asnumpy(), "y": y.asnumpy()}, shuffle=False).batch(4)
model.train(2, data, callbacks=LossMonitor(2), dataset_sink_mode=False)
print(amp.get_white_list()[:2] == amp.get_white_list()[:2], len(amp.get_black_list()) > 0)
