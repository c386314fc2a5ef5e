# SPDX-License-Identifier: Apache-2.0
"""A decode step of a language model: one token through a decoder with the shapes of Gemma 3 270M (18 layers of 640, feed-forward 2048, 4 heads of 256 with
one key and value head, 262,144 words), random weights, in both modes.

    python bench/decode.py [DTYPE ...]       float32 and bfloat16 without arguments
    SPORE_BENCH_LAYERS=2 SPORE_BENCH_WORDS=1000     a smaller one

Each step reads all weights once, so it can take no less than they take from memory: `share` is the rate of weights over the rate at which a plain sum over
as many bytes reads them, in turn with the steps. Eager and compiled steps take turns in one process; the least time of each counts.
"""
import os
import sys
import time

import numpy as np
import spore as ms
from spore import Parameter, Tensor, nn, ops

WIDTH, INNER, HEADS, SIZE = 640, 2048, 4, 256
LAYERS, WORDS = int(os.environ.get("SPORE_BENCH_LAYERS", "18")), int(os.environ.get("SPORE_BENCH_WORDS", "262144"))
PAST, SECONDS = 64, float(os.environ.get("SPORE_BENCH_SECONDS", "8"))


def weights(rng, dtype, *shape):
    return Parameter(Tensor(rng.standard_normal(shape, dtype=np.float32) * 0.02).astype(dtype))


class Norm(nn.Cell):
    def __init__(self, rng, dtype, width):
        super().__init__()
        self.gain = weights(rng, dtype, width)

    def construct(self, x):
        return ops.rms_norm(x, self.gain, 1e-6)[0]


class Linear(nn.Cell):
    def __init__(self, rng, dtype, inputs, outputs):
        super().__init__()
        self.weight, self.product = weights(rng, dtype, outputs, inputs), ops.MatMul(transpose_b=True)

    def construct(self, x):
        return self.product(x, self.weight)


class Layer(nn.Cell):
    """Attention over what came before and the new token, then the gated feed-forward part, each between two norms."""

    def __init__(self, rng, dtype):
        super().__init__()
        self.query, self.key, self.value = (Linear(rng, dtype, WIDTH, n * SIZE) for n in (HEADS, 1, 1))
        self.out, self.gate = Linear(rng, dtype, HEADS * SIZE, WIDTH), Linear(rng, dtype, WIDTH, INNER)
        self.up, self.down = Linear(rng, dtype, WIDTH, INNER), Linear(rng, dtype, INNER, WIDTH)
        self.norms = nn.CellList([Norm(rng, dtype, WIDTH) for _ in range(4)])
        self.of_query, self.of_key = Norm(rng, dtype, SIZE), Norm(rng, dtype, SIZE)

    def construct(self, x, keys, values, cos, sin):
        y = self.norms[0](x)
        query = self.turn(self.of_query(self.query(y).reshape((HEADS, SIZE))), cos, sin)
        keys = ops.cat((keys, self.turn(self.of_key(self.key(y)), cos, sin)), 0)
        values = ops.cat((values, self.value(y)), 0)
        scores = ops.softmax(ops.matmul(query * SIZE ** -0.5, keys.T), -1)
        x = x + self.norms[1](self.out(ops.matmul(scores, values).reshape((1, HEADS * SIZE))))
        y = self.norms[2](x)
        return x + self.norms[3](self.down(ops.gelu(self.gate(y), approximate="tanh") * self.up(y)))

    def turn(self, x, cos, sin):
        """Rotary positions."""
        left, right = x[:, :SIZE // 2], x[:, SIZE // 2:]
        return x * cos + ops.cat((-right, left), 1) * sin


class Decoder(nn.Cell):
    def __init__(self, dtype):
        super().__init__()
        rng = np.random.default_rng(1)
        self.words = weights(rng, dtype, WORDS, WIDTH)
        self.layers = nn.CellList([Layer(rng, dtype) for _ in range(LAYERS)])
        self.norm, self.product = Norm(rng, dtype, WIDTH), ops.MatMul(transpose_b=True)

    def construct(self, word, keys, values, cos, sin):
        x = self.words[word] * WIDTH ** 0.5
        for i, layer in enumerate(self.layers):
            x = layer(x, keys[i], values[i], cos, sin)
        return self.product(self.norm(x), self.words)


def least(best, name, call):
    start = time.perf_counter()
    call().asnumpy()
    best[name] = min(best.get(name, float("inf")), time.perf_counter() - start)


def measure(name):
    dtype = getattr(ms, name)
    net = Decoder(dtype)
    net.set_train(False)
    rng = np.random.default_rng(2)

    def some(*shape):
        return Tensor(rng.standard_normal(shape, dtype=np.float32)).astype(dtype)
    word = Tensor([7], ms.int32)
    keys, values = ([some(PAST, SIZE) for _ in range(LAYERS)] for _ in range(2))
    cos, sin = some(1, SIZE), some(1, SIZE)
    n_bytes = sum(p.size * p.itemsize for p in net.get_parameters())
    plain = Tensor(np.ones(n_bytes // 4, np.float32))
    compiled = ms.jit(net.construct)
    args = (word, keys, values, cos, sin)
    both = net(*args).asnumpy(), compiled(*args).asnumpy()
    assert both[0].tobytes() == both[1].tobytes(), "eager and compiled differ"
    best, end = {}, time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        least(best, "eager", lambda: net(*args))
        least(best, "compiled", lambda: compiled(*args))
        least(best, "memory", plain.sum)
    rate = n_bytes / best["memory"] / 1e9
    print(f"{name}: {n_bytes / 1e6:.0f} MB of weights, memory {rate:.1f} GB/s; " + ", ".join(
        f"{mode} {best[mode] * 1e3:.1f} ms = {n_bytes / best[mode] / 1e9:.1f} GB/s, share {n_bytes / best[mode] / 1e9 / rate:.2f}"
        for mode in ("eager", "compiled")), flush=True)


if __name__ == "__main__":
    for dtype in sys.argv[1:] or ["float32", "bfloat16"]:
        measure(dtype)
