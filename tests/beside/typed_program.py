# SPDX-License-Identifier: Apache-2.0
"""What an editor knows of a program: read by pyright, never run."""
from typing import assert_type

import numpy as np

import spore as ms
from spore import Parameter, Tensor, mint, nn, ops
from spore import dataset as ds
from spore.dataset import vision


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=(2, 2), pad_mode="pad", padding=(1, 1, 1, 1))
        self.fc = nn.Dense(8, 4)
        self.lstm = nn.LSTM(4, 4)

    def construct(self, x, scale=1.0):
        x = ops.relu(self.conv(x))
        return self.fc(x.mean((2, 3))) * scale


class Two(nn.Cell):
    def construct(self, x):
        return {"logits": ops.tanh(x), "n": 3}


x = Tensor(np.ones((1, 3, 8, 8), np.float32))
net = Net()
assert_type(net(x), Tensor)
assert_type(net(x, 2.0).sum(), Tensor)
assert_type(nn.Dense(3, 4)(x), Tensor)
assert_type(nn.SequentialCell(nn.Dense(3, 4), nn.ReLU())(x), Tensor)
Two()(x)["logits"].mean()
assert_type(net.trainable_params(), list[Parameter])
assert_type(ops.relu(x), Tensor)
assert_type(mint.nn.functional.relu(x), Tensor)
assert_type(x @ x + 1, Tensor)
assert_type(x.asnumpy(), np.ndarray)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda a: loss_fn(net(a), a), None, net.trainable_params())
loss, grads = step(x)
assert_type(loss, Tensor)
assert_type(grads, tuple[Tensor, ...])
assert_type(ms.grad(net)(x), Tensor)
assert_type(ms.grad(net, (0, 1))(x), tuple[Tensor, ...])


@ms.jit
def f(a):
    return ops.exp(a)


@ms.jit(jit_level="O1")
def g(a: Tensor) -> Tensor:
    return a


assert_type(f(x), Tensor)
assert_type(g(x), Tensor)
assert_type(ms.vmap(g)(x), Tensor)
data = ds.NumpySlicesDataset({"image": np.ones((4, 2))}, shuffle=False).map([vision.Resize(4)], "image").batch(2)
for row in data.create_dict_iterator():
    assert_type(row, dict[str, Tensor])
for row in data.create_dict_iterator(output_numpy=True):
    assert_type(row, dict[str, np.ndarray])
for image, in data.create_tuple_iterator():
    assert_type(image, Tensor)
for image, in data:
    assert_type(image, Tensor)
opt = nn.Adam(net.trainable_params(), learning_rate=nn.cosine_decay_lr(0.0, 0.1, 10, 10, 1), weight_decay=nn.ExponentialDecayLR(0.1, 0.9, 4))
opt(grads)
ms.set_context(mode=ms.GRAPH_MODE)
model = ms.Model(net, loss_fn, opt, metrics={"acc"})
model.train(1, data, callbacks=[ms.LossMonitor(), ms.TimeMonitor()])
print(f"{float(loss):.3f}", int(loss), x[0, ..., None], x > 0, -x)
out, (h, c) = nn.LSTM(4, 4)(x)
p = Parameter(x, name="p")
p.set_data(x)
y = ms.load_checkpoint("x.ckpt")
ms.load_param_into_net(net, y)
