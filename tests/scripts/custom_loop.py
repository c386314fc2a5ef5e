# SPDX-License-Identifier: Apache-2.0
"""A training loop of one's own: Momentum, half precision with dynamic loss scaling, clipping, a falling learning rate."""
import numpy as np

import mindspore as ms
from mindspore import Tensor, amp, nn, ops

rng = np.random.RandomState(3)
images = rng.normal(size=(64, 1, 12, 12)).astype(np.float32)
labels = (images[:, 0, :6].sum((1, 2)) > images[:, 0, 6:].sum((1, 2))).astype(np.int32)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, pad_mode="same", has_bias=True)
        self.norm = nn.BatchNorm2d(4)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(4 * 36, 2)

    def construct(self, x):
        x = self.pool(self.relu(self.norm(self.conv(x))))
        return self.fc(self.flatten(x))


net = Net()
for p in net.trainable_params():
    if "norm" not in p.name:
        p.set_data(Tensor(rng.normal(size=p.shape, scale=0.1).astype(np.float32)))
net.set_train()

loss_fn = nn.CrossEntropyLoss()
lr = nn.exponential_decay_lr(0.1, 0.9, 12, 4, 1)
print("lr", [round(v, 4) for v in lr])
optimizer = nn.Momentum(net.trainable_params(), learning_rate=lr, momentum=0.9, weight_decay=1e-4)
scaler = amp.DynamicLossScaler(scale_value=2 ** 10, scale_factor=2, scale_window=4)


def forward_fn(data, label):
    logits = net(data)
    loss = loss_fn(logits, label)
    return scaler.scale(loss), logits


grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)


def train_step(data, label):
    (loss, logits), grads = grad_fn(data, label)
    loss = scaler.unscale(loss)
    finite = amp.all_finite(grads)
    if finite:
        grads = scaler.unscale(grads)
        grads = ops.clip_by_global_norm(grads, 1.0)
        optimizer(grads)
    scaler.adjust(finite)
    return loss, finite


history = []
for epoch in range(3):
    for i in range(0, 64, 16):
        loss, finite = train_step(Tensor(images[i:i + 16]), Tensor(labels[i:i + 16]))
        assert bool(finite)
        history.append(float(loss.asnumpy()))
    print("epoch", epoch, "loss", round(history[-1], 4), "scale", int(scaler.scale_value.asnumpy()))
assert history[-1] < history[0]

# A batch that overflows changes nothing but the scale.
before = net.fc.weight.asnumpy().copy()
scale = int(scaler.scale_value.asnumpy())
_, finite = train_step(Tensor(np.full((16, 1, 12, 12), np.inf, np.float32)), Tensor(labels[:16]))
print("finite", bool(finite), "kept", bool((before == net.fc.weight.asnumpy()).all()), "scale", int(scaler.scale_value.asnumpy()) * 2 == scale)

net.set_train(False)
moving = net.norm.moving_mean.asnumpy()
print("moving mean is not finite any more", not np.isfinite(moving).all())
net.norm.moving_mean.set_data(Tensor(np.zeros(4, np.float32)))
net.norm.moving_variance.set_data(Tensor(np.ones(4, np.float32)))
logits = net(Tensor(images))
print("right", int((logits.argmax(1).asnumpy() == labels).sum()) > 40)
half = Net().to_float(ms.float16)
print("half", half(Tensor(images[:2])).dtype)
