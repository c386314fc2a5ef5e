# SPDX-License-Identifier: Apache-2.0
"""A training step of a GPT for `spore plan`: 6 layers of 512, 8 heads, 8,192 words, 8 sequences of 256 words a rank.

    mpirun -n 2 spore bench --comm
    spore plan --ranks 64 --hosts 8 bench/plan_gpt.py [data_parallel, semi_auto_parallel or auto_parallel]
"""
import sys

import numpy as np

import spore as ms
from spore import Parameter, Tensor, communication, nn, ops

WIDTH, HEADS, LAYERS, WORDS, LENGTH, BATCH = 512, 8, 6, 8192, 256, 8

communication.init()
ms.set_context(mode=ms.GRAPH_MODE)
ms.set_auto_parallel_context(parallel_mode=sys.argv[1] if sys.argv[1:] else "data_parallel", gradients_mean=True)


class Layer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((WIDTH,)), nn.LayerNorm((WIDTH,))
        self.qkv, self.out, self.up, self.down = nn.Dense(WIDTH, 3 * WIDTH), nn.Dense(WIDTH, WIDTH), nn.Dense(WIDTH, 4 * WIDTH), nn.Dense(4 * WIDTH, WIDTH)

    def construct(self, x):
        b, t, c = x.shape
        q, k, v = [part.reshape((b, t, HEADS, c // HEADS)).transpose(0, 2, 1, 3) for part in ops.split(self.qkv(self.norm1(x)), c, 2)]
        mask = Tensor(np.triu(np.full((t, t), -1e9, np.float32), 1))
        weights = ops.softmax(ops.matmul(q, k.transpose(0, 1, 3, 2)) / float(np.sqrt(c // HEADS)) + mask, -1)
        x = x + self.out(ops.matmul(weights, v).transpose(0, 2, 1, 3).reshape((b, t, c)))
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


class Gpt(nn.Cell):
    def __init__(self):
        super().__init__()
        draw = np.random.default_rng(0)
        self.words = Parameter(Tensor(draw.standard_normal((WORDS, WIDTH), np.float32) * 0.02), name="words")
        self.places = Parameter(Tensor(draw.standard_normal((LENGTH, WIDTH), np.float32) * 0.02), name="places")
        self.layers, self.norm = nn.CellList([Layer() for _ in range(LAYERS)]), nn.LayerNorm((WIDTH,))
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, x, y):
        x = ops.gather(self.words, x, 0) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.loss(ops.matmul(self.norm(x), self.words.T).reshape((-1, WORDS)), y.reshape((-1,)))


net = Gpt()
step = nn.TrainOneStepCell(net, nn.Adam(net.trainable_params(), 1e-4)).set_train()
rows = np.random.default_rng(1).integers(0, WORDS, (BATCH, LENGTH + 1)).astype(np.int32)
print(float(step(Tensor(rows[:, :-1]), Tensor(rows[:, 1:]))))
