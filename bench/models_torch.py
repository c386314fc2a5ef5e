# SPDX-License-Identifier: Apache-2.0
"""The training steps of models.py with torch.

    python bench/models_torch.py eager|compile NAME...      prints a JSON line: seconds a step
    python bench/models_torch.py resident NAME              rise of the process's resident memory in its first steps
"""
import json
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(int(os.environ.get("SPORE_BENCH_THREADS", "2")))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.down = None
        if stride != 1 or inputs != 4 * width:
            self.down = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        same = x if self.down is None else self.down(x)
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        return F.relu(self.bn3(self.conv3(y)) + same)


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        blocks, inputs = [], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                blocks.append(Bottleneck(inputs, width, stride if i == 0 else 1))
                inputs = 4 * width
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(2048, 1000)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class Basic(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        self.down = None
        if stride != 1 or inputs != width:
            self.down = nn.Sequential(nn.Conv2d(inputs, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        same = x if self.down is None else self.down(x)
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + same)


class ResNet18(nn.Module):
    """For images of 32 x 32: a 3x3 stem without pooling."""

    def __init__(self):
        super().__init__()
        layers, inputs = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()], 64
        for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            layers += [Basic(inputs, width, stride), Basic(width, width, 1)]
            inputs = width
        self.body, self.head = nn.Sequential(*layers), nn.Linear(512, 10)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(256, 256, num_layers=2, batch_first=True), nn.Linear(256, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask):
        b, t, w = x.shape
        q, k, v = (part.view(b, t, self.heads, self.size).transpose(1, 2) for part in self.qkv(self.norm1(x)).split(w, 2))
        scores = torch.softmax(q @ k.transpose(2, 3) * self.size ** -0.5 + mask, -1)
        x = x + self.out((scores @ v).transpose(1, 2).reshape(b, t, w))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, layers=6, width=384, heads=6, vocabulary=1000, length=128):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Parameter(torch.randn(length, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)
        self.register_buffer("mask", torch.triu(torch.full((length, length), -1e9), 1))

    def forward(self, x):
        h = self.tokens(x) + self.places
        for block in self.blocks:
            h = block(h, self.mask)
        return self.head(self.norm(h)).view(-1, 1000)


def lenet():
    return nn.Sequential(nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(256, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


MODELS = {
    "lenet": (lenet, lambda: torch.rand(32, 1, 28, 28), 10, 32, "sgd", 20),
    "mlp": (mlp, lambda: torch.rand(64, 784), 10, 64, "sgd", 20),
    "lstm": (Recurrent, lambda: torch.rand(32, 64, 256), 10, 32, "adam", 2),
    "gpt": (GPT, lambda: torch.randint(0, 1000, (4, 128)), 1000, 512, "adam", 1),
    "resnet18": (ResNet18, lambda: torch.rand(32, 3, 32, 32), 10, 32, "sgd", 1),
    "transformer12": (lambda: GPT(12, 256, 4), lambda: torch.randint(0, 1000, (2, 128)), 1000, 256, "adam", 1),
    "resnet50": (ResNet50, lambda: torch.rand(4, 3, 224, 224), 1000, 4, "sgd", 1),
}


def make_step(name, compiled):
    make, data, classes, count, optimizer, steps = MODELS[name]
    net, x, y = make().train(), data(), torch.randint(0, classes, (count,))
    params = net.parameters()
    update = torch.optim.SGD(params, 0.01, 0.9) if optimizer == "sgd" else torch.optim.Adam(params, 0.001)
    run = torch.compile(net) if compiled else net

    def step():
        update.zero_grad()
        loss = F.cross_entropy(run(x), y)
        loss.backward()
        update.step()
        return loss
    return step, steps


def measure(name, compiled, rounds=5):
    step, steps = make_step(name, compiled)
    start = time.perf_counter()
    step().item()
    out = {f"{name}_first": time.perf_counter() - start}
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(steps):
            loss = step()
        loss.item()
        times.append((time.perf_counter() - start) / steps)
    out[name] = min(times)
    return out


def measure_resident(name):
    from resident import rise
    step, _ = make_step(name, False)
    return {name: rise(lambda: step().item())}


if __name__ == "__main__":
    found = {}
    for chosen in sys.argv[2:] or list(MODELS):
        torch.manual_seed(1)
        if sys.argv[1] == "resident":
            found.update(measure_resident(chosen))
            continue
        found.update(measure(chosen, sys.argv[1] == "compile"))
    print(json.dumps(found))
