# SPDX-License-Identifier: Apache-2.0
"""A small decoder in the functional style: causal mask, tied embeddings, warm-up, sampling by argmax."""
import math
from dataclasses import dataclass

import numpy as np

import mindspore
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer

mindspore.set_context(mode=1)


@dataclass
class GPTConfig:
    block_size: int = 12
    vocab_size: int = 24
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 16
    dropout: float = 0.0
    bias: bool = True


class CausalSelfAttention(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.c_attn = nn.Dense(config.n_embd, 3 * config.n_embd, has_bias=config.bias)
        self.c_proj = nn.Dense(config.n_embd, config.n_embd, has_bias=config.bias)
        self.attn_dropout = nn.Dropout(p=config.dropout)
        self.n_head, self.n_embd = config.n_head, config.n_embd
        self.bias = ops.tril(ops.ones((config.block_size, config.block_size))).view(1, 1, config.block_size, config.block_size)

    def construct(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(x).split(self.n_embd, axis=2)
        q = q.view(B, T, self.n_head, C // self.n_head).swapaxes(1, 2)
        k = k.view(B, T, self.n_head, C // self.n_head).swapaxes(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).swapaxes(1, 2)
        att = ops.matmul(q, k.swapaxes(-2, -1)) * (1.0 / math.sqrt(k.shape[-1]))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = self.attn_dropout(ops.softmax(att, axis=-1))
        y = ops.matmul(att, v)
        return self.c_proj(y.swapaxes(1, 2).view(B, T, C))


class Block(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm([config.n_embd])
        self.attn = CausalSelfAttention(config)
        self.ln_2 = nn.LayerNorm([config.n_embd])
        self.mlp = nn.SequentialCell(nn.Dense(config.n_embd, 4 * config.n_embd), nn.GELU(),
                                     nn.Dense(4 * config.n_embd, config.n_embd), nn.Dropout(p=config.dropout))

    def construct(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.block_size, config.n_embd)
        self.h = nn.CellList([Block(config) for _ in range(config.n_layer)])
        self.ln_f = nn.LayerNorm([config.n_embd])
        self.lm_head = nn.Dense(config.n_embd, config.vocab_size, has_bias=False)
        self.lm_head.weight = self.wte.embedding_table
        self.apply(self._init_weights)

    def _init_weights(self, cell):
        if isinstance(cell, nn.Dense):
            cell.weight.set_data(initializer(Normal(0.02), cell.weight.shape, cell.weight.dtype))
            if cell.has_bias:
                cell.bias.set_data(initializer("zeros", cell.bias.shape, cell.bias.dtype))
        elif isinstance(cell, nn.Embedding):
            cell.embedding_table.set_data(initializer(Normal(0.02), cell.embedding_table.shape, cell.embedding_table.dtype))

    def construct(self, idx, targets=None):
        _, t = idx.shape
        pos = ops.arange(0, t, dtype=mindspore.int64).expand_dims(0)
        x = self.wte(idx) + self.wpe(pos)
        for block in self.h:
            x = block(x)
        x = self.ln_f(x)
        if targets is None:
            return self.lm_head(x[:, -1:, :]), None
        logits = self.lm_head(x)
        loss = ops.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1), ignore_index=-1)
        return logits, loss

    def generate(self, idx, max_new_tokens, top_k=3):
        for _ in range(max_new_tokens):
            cond = idx if idx.shape[1] <= self.config.block_size else idx[:, -self.config.block_size:]
            logits, _ = self(cond)
            logits = logits[:, -1, :]
            v, _ = ops.topk(logits, min(top_k, logits.shape[-1]))
            logits = ops.masked_fill(logits, logits < v[:, -1:], float("-inf"))
            probs = ops.softmax(logits, axis=-1)
            idx_next = probs.argmax(axis=-1, keepdims=True)
            idx = ops.cat((idx, idx_next.astype(idx.dtype)), axis=1)
        return idx


config = GPTConfig()
model = GPT(config)
random = np.random.RandomState(11)
print("number of parameters:", sum(p.numel() for p in model.get_parameters()), [p.name for p in model.trainable_params()][:3])
for p in model.trainable_params():
    if "gamma" not in p.name and "beta" not in p.name:
        p.set_data(Tensor(random.normal(0, 0.08, p.shape), mindspore.float32))
text = np.array([i * i % 23 for i in range(60)])
optim = nn.Adam(model.trainable_params(), learning_rate=nn.warmup_lr(0.01, 20, 1, 4), beta2=0.95)


def forward_fn(x, y):
    logits, loss = model(x, y)
    return loss, logits


grad_fn = mindspore.value_and_grad(forward_fn, None, optim.parameters, has_aux=True)
for step in range(8):
    start = [(step * 5 + i * 11) % 40 for i in range(4)]
    x = Tensor(np.stack([text[s:s + 12] for s in start]), mindspore.int64)
    y = Tensor(np.stack([text[s + 1:s + 13] for s in start]), mindspore.int64)
    y[:, 0] = -1
    (loss, logits), grads = grad_fn(x, y)
    optim(ops.clip_by_global_norm(grads, 1.0))
    print(f"{step} {loss.item():.5f}")
model.set_train(False)
print(model.generate(Tensor([[0, 1, 4]], mindspore.int64), 6))
