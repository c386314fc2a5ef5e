# SPDX-License-Identifier: Apache-2.0
"""Training steps of well-known networks, written against MindSpore's API, so that spore and MindSpore run the same text.

    python bench/models.py spore|mindspore eager|graph NAME...      prints a JSON line: seconds a step, seconds of the first call
    python bench/models.py spore both NAME...                       the same for both modes, which take turns in one process
    python bench/models.py spore memory NAME...                     bytes at the peak of a step, beyond what it starts with
    python bench/models.py spore|mindspore resident eager|graph NAME  rise of the process's resident memory in its first steps
"""
import json
import sys
import time

import numpy as np

if len(sys.argv) > 1 and sys.argv[1] == "spore":
    import spore
    spore.as_mindspore()
import mindspore as ms
from mindspore import nn, ops


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc = nn.SequentialCell(nn.Dense(256, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10))
        self.relu = nn.ReLU()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.fc(self.flatten(x))


class Bottleneck(nn.Cell):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 1)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.relu = nn.ReLU()
        self.down = None
        if stride != 1 or inputs != 4 * width:
            self.down = nn.SequentialCell(nn.Conv2d(inputs, 4 * width, 1, stride=stride), nn.BatchNorm2d(4 * width))

    def construct(self, x):
        same = x if self.down is None else self.down(x)
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        return self.relu(self.bn3(self.conv3(y)) + same)


class ResNet50(nn.Cell):
    def __init__(self, classes=1000):
        super().__init__()
        self.stem = nn.SequentialCell(nn.Conv2d(3, 64, 7, stride=2), nn.BatchNorm2d(64), nn.ReLU(),
                                      nn.MaxPool2d(3, 2, pad_mode="same"))
        blocks, inputs = [], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                blocks.append(Bottleneck(inputs, width, stride if i == 0 else 1))
                inputs = 4 * width
        self.blocks = nn.SequentialCell(*blocks)
        self.head = nn.Dense(2048, classes)

    def construct(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class Basic(nn.Cell):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride=stride)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3)
        self.bn2 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.down = None
        if stride != 1 or inputs != width:
            self.down = nn.SequentialCell(nn.Conv2d(inputs, width, 1, stride=stride), nn.BatchNorm2d(width))

    def construct(self, x):
        same = x if self.down is None else self.down(x)
        return self.relu(self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x))))) + same)


class ResNet18(nn.Cell):
    """For images of 32 x 32: a 3x3 stem without pooling."""

    def __init__(self, classes=10):
        super().__init__()
        layers, inputs = [nn.Conv2d(3, 64, 3), nn.BatchNorm2d(64), nn.ReLU()], 64
        for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            layers += [Basic(inputs, width, stride), Basic(width, width, 1)]
            inputs = width
        self.body = nn.SequentialCell(*layers)
        self.head = nn.Dense(512, classes)

    def construct(self, x):
        return self.head(self.body(x).mean((2, 3)))


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(256, 256, num_layers=2, batch_first=True)
        self.head = nn.Dense(256, 10)

    def construct(self, x):
        y, _ = self.lstm(x)
        return self.head(y[:, -1])


class Block(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)

    def construct(self, x, mask):
        b, t, w = x.shape
        q, k, v = ops.split(self.qkv(self.norm1(x)), w, axis=2)
        q = q.reshape(b, t, self.heads, self.size).transpose(0, 2, 1, 3)
        k = k.reshape(b, t, self.heads, self.size).transpose(0, 2, 3, 1)
        v = v.reshape(b, t, self.heads, self.size).transpose(0, 2, 1, 3)
        scores = ops.softmax(ops.matmul(q, k) * (self.size ** -0.5) + mask, -1)
        x = x + self.out(ops.matmul(scores, v).transpose(0, 2, 1, 3).reshape(b, t, w))
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


class GPT(nn.Cell):
    def __init__(self, layers=6, width=384, heads=6, vocabulary=1000, length=128):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = ms.Parameter(ms.Tensor(np.random.RandomState(1).randn(length, width).astype(np.float32) * 0.02), name="places")
        self.blocks = nn.CellList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm((width,))
        self.head = nn.Dense(width, vocabulary)
        self.mask = ms.Tensor(np.triu(np.full((length, length), -1e9, np.float32), 1))

    def construct(self, x):
        h = self.tokens(x) + self.places
        for block in self.blocks:
            h = block(h, self.mask)
        return self.head(self.norm(h)).reshape(-1, 1000)


def mlp():
    return nn.SequentialCell(nn.Dense(784, 512), nn.ReLU(), nn.Dense(512, 512), nn.ReLU(), nn.Dense(512, 10))


def batch(shape, classes, count=None, whole=None):
    rng = np.random.RandomState(0)
    x = rng.randint(0, whole, shape).astype(np.int32) if whole else rng.rand(*shape).astype(np.float32)
    return ms.Tensor(x), ms.Tensor(rng.randint(0, classes, count or shape[0]).astype(np.int32))


# name: network, (inputs, labels), optimizer, steps timed at once
MODELS = {
    "lenet": (LeNet, lambda: batch((32, 1, 28, 28), 10), "Momentum", 20),
    "mlp": (mlp, lambda: batch((64, 784), 10), "Momentum", 20),
    "lstm": (Recurrent, lambda: batch((32, 64, 256), 10), "Adam", 2),
    "gpt": (GPT, lambda: batch((4, 128), 1000, 512, 1000), "Adam", 1),
    "resnet18": (ResNet18, lambda: batch((32, 3, 32, 32), 10), "Momentum", 1),
    "transformer12": (lambda: GPT(12, 256, 4), lambda: batch((2, 128), 1000, 256, 1000), "Adam", 1),
    "resnet50": (ResNet50, lambda: batch((4, 3, 224, 224), 1000), "Momentum", 1),
}


def make_step(name, graph):
    make, data, optimizer, steps = MODELS[name]
    net = make()
    net.set_train()
    params = net.trainable_params()
    update = nn.Momentum(params, 0.01, 0.9) if optimizer == "Momentum" else nn.Adam(params, 0.001)
    loss_fn = nn.CrossEntropyLoss()

    def forward(x, y):
        return loss_fn(net(x), y)

    gradient = ms.value_and_grad(forward, None, update.parameters)

    def step(x, y):
        loss, grads = gradient(x, y)
        update(grads)
        return loss

    return ms.jit(step) if graph else step, data(), steps


def time_of(step, x, y, steps):
    start = time.perf_counter()
    for _ in range(steps):
        loss = step(x, y)
    loss.asnumpy()
    return (time.perf_counter() - start) / steps


def first_of(step, x, y):
    start = time.perf_counter()
    loss = float(step(x, y).asnumpy())
    return time.perf_counter() - start, loss


def measure(name, graph, rounds=5):
    step, (x, y), steps = make_step(name, graph)
    first, loss = first_of(step, x, y)
    return {f"{name}_first": first, f"{name}_loss": loss, name: min(time_of(step, x, y, steps) for _ in range(rounds))}


def measure_both(name, seconds=4.0):
    """Eager and compiled steps alternately, so that whatever else the machine does meets both."""
    out, sides, times = {}, {}, {"eager": [], "graph": []}
    for side in times:
        ms.set_seed(1)
        sides[side] = make_step(name, side == "graph")
        step, (x, y), _ = sides[side]
        out[f"{name}_{side}_first"], out[f"{name}_{side}_loss"] = first_of(step, x, y)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times["graph"]) < 4:
        for side, (step, (x, y), steps) in sides.items():
            times[side].append(time_of(step, x, y, steps))
    out.update({f"{name}_{side}": min(found) for side, found in times.items()})
    return out


def measure_memory(name):
    """Peak of a step beyond what is allocated before it: in eager mode, compiled, and what the plan says of itself."""
    import re

    from spore import runtime
    from spore.graph import explain
    out = {}
    explain.start()
    for side in ("eager", "graph"):
        step, (x, y), _ = make_step(name, side == "graph")
        if side == "eager":
            step(x, y).asnumpy()
        before = runtime.memory_allocated()
        runtime.reset_peak_memory_stats()
        step(x, y).asnumpy()
        out[f"{name}_{side}_bytes"] = runtime.max_memory_allocated() - before
    plans = re.findall(r"arena (\d+) bytes \(lower bound (\d+)\)", explain.report())
    out[f"{name}_arena"], out[f"{name}_bound"] = (int(v) for v in max(plans, key=lambda p: int(p[0])))
    return out


def measure_resident(name, graph):
    from resident import rise
    step, (x, y), _ = make_step(name, graph)
    return {name: rise(lambda: step(x, y).asnumpy())}


if __name__ == "__main__":
    found = {}
    if sys.argv[2] == "resident":
        print(json.dumps(measure_resident(sys.argv[4], sys.argv[3] == "graph")))
        sys.exit()
    for chosen in sys.argv[3:] or list(MODELS):
        ms.set_seed(1)
        if sys.argv[2] == "both":
            found.update(measure_both(chosen))
        elif sys.argv[2] == "memory":
            found.update(measure_memory(chosen))
        else:
            found.update(measure(chosen, sys.argv[2] == "graph"))
    print(json.dumps(found))
