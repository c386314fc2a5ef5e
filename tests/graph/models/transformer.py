# SPDX-License-Identifier: Apache-2.0
"""A small decoder-only transformer with a causal mask, AdamW, clipping by global norm."""
import mindspore as ms
import numpy as np
from common import fill, wave
from mindspore import Parameter, Tensor, nn, ops


class Attention(nn.Cell):
    def __init__(self, n_model, n_heads):
        super().__init__()
        self.n_heads, self.n_head = n_heads, n_model // n_heads
        self.qkv = nn.Dense(n_model, 3 * n_model)
        self.out = nn.Dense(n_model, n_model)

    def construct(self, x, mask):
        n_batch, n_steps, n_model = x.shape
        qkv = self.qkv(x).reshape((n_batch, n_steps, 3, self.n_heads, self.n_head)).transpose((2, 0, 3, 1, 4))
        q, k, v = qkv[0], qkv[1], qkv[2]
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / (self.n_head ** 0.5)
        weights = ops.softmax(ops.masked_fill(scores, mask == 0, -1e9), -1)
        y = ops.matmul(weights, v).transpose((0, 2, 1, 3)).reshape((n_batch, n_steps, n_model))
        return self.out(y)


class Layer(nn.Cell):
    def __init__(self, n_model, n_heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((n_model,)), nn.LayerNorm((n_model,))
        self.attention = Attention(n_model, n_heads)
        self.mlp = nn.SequentialCell(nn.Dense(n_model, 4 * n_model), nn.GELU(), nn.Dense(4 * n_model, n_model))

    def construct(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Cell):
    def __init__(self, n_words=11, n_steps=6, n_model=8, n_heads=2, n_layers=2):
        super().__init__()
        self.words = nn.Embedding(n_words, n_model)
        self.places = Parameter(Tensor(wave(n_steps, n_model, scale=0.1)), name="places")
        self.layers = nn.CellList([Layer(n_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm((n_model,))
        self.mask = Tensor(np.tril(np.ones((n_steps, n_steps), np.float32)))

    def construct(self, ids):
        x = self.words(ids) + self.places
        for layer in self.layers:
            x = layer(x, self.mask)
        return ops.matmul(self.norm(x), self.words.embedding_table.T)


def make_step():
    net = fill(Gpt(), 0.2)
    net.set_train()
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 0.01, weight_decay=0.01)

    def forward(ids, targets):
        logits = net(ids)
        return ops.cross_entropy(logits.reshape((-1, logits.shape[-1])), targets.reshape(-1))
    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(ids, targets):
        loss, grads = value_and_grad(ids, targets)
        grads = ops.clip_by_global_norm(grads, 1.0)
        optimizer(grads)
        return loss
    return step


def batch(i):
    ids = (np.arange(14).reshape(2, 7) * 5 + i) % 11
    return ids[:, :-1].astype(np.int32), ids[:, 1:].astype(np.int32)


BATCHES = [batch(i) for i in range(5)]
