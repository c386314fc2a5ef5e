# SPDX-License-Identifier: Apache-2.0
"""Networks that are exported to MindIR, for the round trip here and for MindSpore. ``python nets.py FOLDER`` writes each with its
inputs and results; check_with_mindspore.py reads them."""
import sys

import numpy as np

import spore as ms
from spore import nn, ops


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True)
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
        self.fc1, self.fc2 = nn.Dense(400, 32), nn.Dense(32, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.fc2(self.relu(self.fc1(self.flatten(x))))


class MLP(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 4), nn.Softmax())
        self.w = ms.Parameter(np.ones(4, np.float32), name="w")

    def construct(self, x, y):
        z = self.net(x) * self.w + y
        return z, ops.exp(z).sum(), z.mean(1)


class Residual(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, has_bias=True), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 8, 3, pad_mode="pad", padding=1, group=2), nn.BatchNorm2d(8)
        self.relu, self.max, self.avg = nn.ReLU(), nn.MaxPool2d(2, 2), nn.AvgPool2d(2, 2)
        self.fc, self.norm, self.softmax = nn.Dense(8, 5), nn.LayerNorm((5,)), nn.Softmax()

    def construct(self, x):
        x = self.max(self.relu(self.bn1(self.conv1(x))))
        x = self.avg(self.relu(x + self.bn2(self.conv2(x))))
        x = self.norm(self.fc(ops.mean(x, (2, 3))))
        return (self.softmax(x), x.sum(), ops.gelu(x), x.reshape(-1, 5)[0], ops.cat((x, x), 1), x.mean(1), ops.sigmoid(x) / 2,
                x.transpose(1, 0) @ x, x.astype(ms.float16))


class Attention(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = ms.Parameter(np.linspace(-1, 1, 88, dtype=np.float32).reshape(11, 8), name="table")
        self.qkv, self.out = nn.Dense(8, 24), nn.Dense(8, 8)

    def construct(self, tokens):
        x = ops.gather(self.table, tokens, 0)
        q, k, v = ops.split(self.qkv(x), 8, axis=2)
        weights = ops.softmax(ops.matmul(q, k.swapaxes(1, 2)) / 8 ** 0.5, axis=-1)
        return self.out(ops.matmul(weights, v)) + x


class Branches(nn.Cell):
    def construct(self, x):
        if x.sum() > 0:
            x = x * 2
        else:
            x = x - 1
        return x + 1


class Loop(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = ms.Parameter(np.full(3, 1.5, np.float32), name="w")

    def construct(self, x, n):
        i = ms.Tensor(0, ms.int32)
        while i < n:
            x = x * self.w
            i = i + 1
        return x, i


class Elementwise(nn.Cell):
    def construct(self, x, y):
        return (ops.abs(x), ops.neg(x), ops.sqrt(ops.abs(x)), ops.log(ops.abs(x) + 1), ops.tanh(x), ops.sin(x), ops.cos(x), ops.erf(x),
                ops.floor(x), ops.maximum(x, y), ops.minimum(x, y), x - y, x * y, x / (ops.abs(y) + 1), x > y, x <= y,
                ops.logical_and(x > 0, y > 0), ops.where(x > y, x, y), ops.pow(ops.abs(x), 2), ops.square(x), ops.log_softmax(x),
                x.max(), ops.stack((x, y), 1), ops.silu(x), ops.elu(x), ops.relu6(x))


class Recurrent(nn.Cell):
    """Both ways through time: one of them on reversed steps."""

    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTM(4, 3, bidirectional=True), nn.GRU(6, 2, num_layers=2)

    def construct(self, x):
        y, (h, c) = self.lstm(x)
        z, _ = self.gru(y)
        return y, h, c, z, ops.flip(x, (0, 2))


def cases():
    """name: (net, inputs)"""
    ms.set_seed(1)
    random = np.random.default_rng(1)

    def normal(*shape):
        return random.standard_normal(shape).astype(np.float32)
    return {"lenet": (LeNet(), [normal(2, 1, 32, 32)]), "mlp": (MLP(), [normal(3, 6), normal(3, 4)]),
            "residual": (Residual(), [normal(2, 3, 16, 16)]), "attention": (Attention(), [random.integers(0, 11, (2, 5))]),
            "branch_yes": (Branches(), [np.ones((2, 3), np.float32)]), "branch_no": (Branches(), [-np.ones((2, 3), np.float32)]),
            "loop": (Loop(), [normal(3), np.int32(3)]), "elementwise": (Elementwise(), [normal(3, 4), normal(3, 4)]),
            "recurrent": (Recurrent(), [normal(5, 2, 4)])}


def run(net, inputs):
    """Results as a list of arrays."""
    found = net(*map(ms.Tensor, inputs))
    return [one.asnumpy() for one in (found if isinstance(found, (tuple, list)) else (found,))]


CIPHERS, KEY = ("AES-GCM", "AES-CBC", "SM4-CBC"), b"0123456789ABCDEF"
FREE_BATCH = ("lenet", "mlp", "residual", "attention", "elementwise")


def free_batch(net, inputs):
    """The first dimension of every input may have any size; gives inputs of another one."""
    net.set_inputs(*[ms.Tensor(shape=[None, *x.shape[1:]], dtype=ms.Tensor(x).dtype) for x in inputs])
    return [np.concatenate([x, x, x, x[:1]]) for x in inputs]


def main(folder):
    def save(name, net, inputs):
        np.savez(f"{folder}/{name}.npz", **{f"in{i}": x for i, x in enumerate(inputs)},
                 **{f"out{i}": x for i, x in enumerate(run(net, inputs))})

    for name, (net, inputs) in cases().items():
        net.set_train(False)
        ms.export(net, *map(ms.Tensor, inputs), file_name=f"{folder}/{name}", file_format="MINDIR")
        save(name, net, inputs)
        if name == "lenet":     # weights in a file beside
            ms.export(net, *map(ms.Tensor, inputs), file_name=f"{folder}/{name}_split", file_format="MINDIR", external_data_bytes=1000)
            save(f"{name}_split_graph", net, inputs)
            ms.export(net, *map(ms.Tensor, inputs), file_name=f"{folder}/{name}_split_{CIPHERS[0]}", file_format="MINDIR", external_data_bytes=1000,
                      enc_key=KEY)
            save(f"{name}_split_{CIPHERS[0]}_graph", net, inputs)
            for mode in CIPHERS:
                ms.export(net, *map(ms.Tensor, inputs), file_name=f"{folder}/{name}_{mode}", file_format="MINDIR", enc_key=KEY, enc_mode=mode)
                save(f"{name}_{mode}", net, inputs)
        if name in FREE_BATCH:
            larger = free_batch(net, inputs)
            ms.export(net, *map(ms.Tensor, inputs), file_name=f"{folder}/{name}_free", file_format="MINDIR")
            save(f"{name}_free", net, larger)


if __name__ == "__main__":
    main(sys.argv[1])
