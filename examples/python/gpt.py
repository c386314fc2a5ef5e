# SPDX-License-Identifier: Apache-2.0
"""A small GPT learns a text character by character, then goes on with it.

    python examples/python/gpt.py [TEXT.txt] [steps]

The whole training step - forward, backward, clipping, Adam - is one compiled program (`jit`); the text is then written in eager
mode with the same network. The program runs in MindSpore as well, with `mindspore` in place of `spore`.
"""
import pathlib
import sys

import numpy as np

import spore as ms
from spore import nn, ops


class Block(nn.Cell):
    """Attention over what came before, then a layer for each character by itself; both are added to what they read."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.CellList([nn.LayerNorm([width]), nn.LayerNorm([width])])
        self.query_key_value = nn.Dense(width, 3 * width)
        self.out = nn.Dense(width, width)
        self.each = nn.SequentialCell(nn.Dense(width, 4 * width), nn.GELU(), nn.Dense(4 * width, width))

    def construct(self, x, hidden):
        batch, length, width = x.shape
        mixed = self.query_key_value(self.norms[0](x)).reshape(batch, length, 3, self.heads, width // self.heads)
        query, key, value = mixed.transpose(2, 0, 3, 1, 4)
        scores = query @ key.swapaxes(-2, -1) * (width // self.heads) ** -0.5 + hidden
        seen = ops.softmax(scores, -1) @ value
        x = x + self.out(seen.swapaxes(1, 2).reshape(batch, length, width))
        return x + self.each(self.norms[1](x))


class GPT(nn.Cell):
    def __init__(self, symbols, length, width=96, heads=4, layers=3):
        super().__init__()
        self.symbol = nn.Embedding(symbols, width, embedding_table="normal")
        self.place = nn.Embedding(length, width, embedding_table="normal")
        self.blocks = nn.CellList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm([width])
        self.head = nn.Dense(width, symbols)

    def construct(self, symbols):
        length = symbols.shape[1]
        x = self.symbol(symbols) + self.place(ops.arange(length))
        hidden = ops.triu(ops.full((length, length), -1e9), 1)   # nobody looks ahead
        for block in self.blocks:
            x = block(x, hidden)
        return self.head(self.norm(x))


def train(net, text, length, steps, batch=16, seed=0):
    """Returns the losses; `text` is an array of symbols."""
    optimizer = nn.Adam(net.trainable_params(), learning_rate=2e-3)

    def loss_of(x, y):
        return ops.cross_entropy(net(x).reshape(-1, net.head.out_channels), y.reshape(-1))

    with_gradients = ms.value_and_grad(loss_of, None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        loss, gradients = with_gradients(x, y)
        optimizer(ops.clip_by_global_norm(gradients, 1.0))
        return loss

    rng, losses = np.random.default_rng(seed), []
    for i in range(steps):
        starts = rng.integers(0, len(text) - length - 1, batch)
        windows = np.stack([text[s:s + length + 1] for s in starts])
        losses.append(float(step(ms.Tensor(windows[:, :-1]), ms.Tensor(windows[:, 1:]))))
        if i % 50 == 0 or i == steps - 1:
            print(f"step {i:4}  loss {np.mean(losses[-50:]):.3f}")
    return losses


def write(net, start, length, n, temperature=0.7, seed=0):
    """`n` more symbols, each drawn from what the network expects after the last `length`."""
    rng, symbols = np.random.default_rng(seed), list(start)
    for _ in range(n):
        scores = net(ms.Tensor([symbols[-length:]], ms.int32))[0, -1].asnumpy().astype(np.float64) / temperature
        chances = np.exp(scores - scores.max())
        symbols.append(int(rng.choice(len(chances), p=chances / chances.sum())))
    return symbols


def main(path=pathlib.Path(__file__), steps=300, length=64):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    alphabet = sorted(set(text))
    if len(text) < length + 2:
        sys.exit(f"gpt: {path} has {len(text)} characters; at least {length + 2} are needed to learn from")
    symbols = np.array([alphabet.index(c) for c in text], np.int32)
    ms.set_seed(1)
    net = GPT(len(alphabet), length)
    losses = train(net, symbols, length, steps)
    print("".join(alphabet[i] for i in write(net, symbols[:length], length, 200)))
    return losses


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__), int(sys.argv[2]) if len(sys.argv) > 2 else 300)
