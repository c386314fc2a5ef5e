# SPDX-License-Identifier: Apache-2.0
"""A small transformer classifier with padding masks, warm-up, and gradient accumulation."""
import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

rng = np.random.RandomState(4)
VOCAB, LENGTH, WIDTH = 8, 8, 16
tokens = rng.randint(1, VOCAB, (32, LENGTH)).astype(np.int32)
for row, keep in enumerate(rng.randint(3, LENGTH + 1, 32)):
    tokens[row, keep:] = 0
labels = ((tokens == 5).sum(1) > 0).astype(np.int32)


class Attention(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Dense(width, width)
        self.key = nn.Dense(width, width)
        self.value = nn.Dense(width, width)
        self.out = nn.Dense(width, width)
        self.softmax = nn.Softmax(axis=-1)

    def split(self, x):
        n, length, width = x.shape
        return x.reshape((n, length, self.heads, width // self.heads)).swapaxes(1, 2)

    def construct(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / q.shape[-1] ** 0.5
        scores = ops.masked_fill(scores, mask.expand_dims(1).expand_dims(1), -1e9)
        joined = ops.matmul(self.softmax(scores), v).swapaxes(1, 2).reshape(x.shape)
        return self.out(joined)


class Block(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm([width])
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm([width])
        self.ffn = nn.SequentialCell(nn.Dense(width, 2 * width), nn.GELU(), nn.Dense(2 * width, width))

    def construct(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.ffn(self.norm2(x))


class Classifier(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, WIDTH)
        self.position = Parameter(Tensor(rng.normal(size=(1, LENGTH, WIDTH), scale=0.1).astype(np.float32)), name="position")
        self.blocks = nn.CellList([Block(WIDTH, 2) for _ in range(2)])
        self.norm = nn.LayerNorm([WIDTH])
        self.out = nn.Dense(WIDTH, 2)

    def construct(self, tokens):
        mask = tokens == 0
        x = self.embedding(tokens) + self.position
        for block in self.blocks:
            x = block(x, mask)
        keep = ops.logical_not(mask).astype(ms.float32).expand_dims(-1)
        pooled = (self.norm(x) * keep).sum(1) / keep.sum(1)
        return self.out(pooled)


net = Classifier()
for p in net.trainable_params():
    if "norm" not in p.name and p.name != "position":
        p.set_data(Tensor(rng.normal(size=p.shape, scale=0.2).astype(np.float32)))
print(len(net.trainable_params()), sum(p.size for p in net.get_parameters()))
loss_fn = nn.CrossEntropyLoss()
schedule = nn.WarmUpLR(0.02, 4)
optimizer = nn.Adam(net.trainable_params(), learning_rate=schedule, weight_decay=0.01)
grad_fn = ms.value_and_grad(lambda x, y: loss_fn(net(x), y) / 2, None, optimizer.parameters)

history = []
net.set_train()
for epoch in range(15):
    for start in range(0, 32, 16):
        total, sums = 0.0, None
        for half in (start, start + 8):
            loss, grads = grad_fn(Tensor(tokens[half:half + 8]), Tensor(labels[half:half + 8]))
            sums = grads if sums is None else tuple(a + b for a, b in zip(sums, grads))
            total += float(loss.asnumpy())
        optimizer(sums)
        history.append(total)
print("steps", len(history), "first", round(history[0], 3), "second", round(history[1], 3))
print("the loss fell", history[-1] < 0.7 * history[0])
net.set_train(False)
print("right", bool((net(Tensor(tokens)).argmax(-1).asnumpy() == labels).mean() > 0.9))
