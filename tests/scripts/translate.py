# SPDX-License-Identifier: Apache-2.0
"""Translation (reversing numbers): encoder and decoder, padding and look-ahead masks, Noam schedule, greedy decoding."""
import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore import numpy as mnp

PAD, BOS, EOS, VOCAB, D = 0, 1, 2, 12, 16
random = np.random.RandomState(12)


class PositionalEncoding(nn.Cell):
    def __init__(self, d_model, dropout_p=0.0, max_len=20):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout_p)
        self.pe = ops.Zeros()((max_len, d_model), ms.float32)
        pos = ops.arange(0, max_len, 1, dtype=ms.float32).view(-1, 1)
        angle = ops.pow(10000.0, ops.arange(0, d_model, 2, dtype=ms.float32) / d_model)
        self.pe[:, 0::2] = ops.sin(pos / angle)
        self.pe[:, 1::2] = ops.cos(pos / angle)

    def construct(self, x):
        return self.dropout(x + self.pe[:x.shape[1], :].expand_dims(0))


class MultiHeadAttention(nn.Cell):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.W_Q, self.W_K, self.W_V = (nn.Dense(d_model, d_model) for _ in range(3))
        self.W_O = nn.Dense(d_model, d_model)

    def construct(self, query, key, value, attn_mask):
        b = query.shape[0]
        q = self.W_Q(query).view(b, -1, self.n_heads, self.d_k).transpose((0, 2, 1, 3))
        k = self.W_K(key).view(b, -1, self.n_heads, self.d_k).transpose((0, 2, 1, 3))
        v = self.W_V(value).view(b, -1, self.n_heads, self.d_k).transpose((0, 2, 1, 3))
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / ops.sqrt(ops.scalar_to_tensor(self.d_k, ms.float32))
        mask = attn_mask.expand_dims(1).tile((1, self.n_heads, 1, 1))
        attn = ops.softmax(scores.masked_fill(mask, -1e9), -1)
        out = ops.matmul(attn, v).transpose((0, 2, 1, 3)).view(b, -1, self.n_heads * self.d_k)
        return self.W_O(out), attn


class AddNorm(nn.Cell):
    def __init__(self, d_model):
        super().__init__()
        self.layer_norm = nn.LayerNorm((d_model,), epsilon=1e-5)

    def construct(self, x, residual):
        return self.layer_norm(x + residual)


class Layer(nn.Cell):
    def __init__(self, d_model, heads, d_ff, cross):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, heads)
        self.cross_attn = MultiHeadAttention(d_model, heads) if cross else None
        self.ffn = nn.SequentialCell(nn.Dense(d_model, d_ff), nn.ReLU(), nn.Dense(d_ff, d_model))
        self.norms = nn.CellList([AddNorm(d_model) for _ in range(3 if cross else 2)])

    def construct(self, x, mask, memory=None, memory_mask=None):
        x = self.norms[0](self.self_attn(x, x, x, mask)[0], x)
        if self.cross_attn is not None:
            x = self.norms[1](self.cross_attn(x, memory, memory, memory_mask)[0], x)
        return self.norms[-1](self.ffn(x), x)


def pad_mask(q, k):
    return k.equal(PAD).expand_dims(1).broadcast_to((q.shape[0], q.shape[1], k.shape[1]))


def causal_mask(s):
    return Tensor(np.triu(np.ones((s.shape[0], s.shape[1], s.shape[1]), bool), 1))


class Transformer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.src_emb, self.tgt_emb = nn.Embedding(VOCAB, D), nn.Embedding(VOCAB, D)
        self.pos = PositionalEncoding(D)
        self.encoder = nn.CellList([Layer(D, 2, 32, False)])
        self.decoder = nn.CellList([Layer(D, 2, 32, True)])
        self.projection = nn.Dense(D, VOCAB, has_bias=False)
        self.scaling = ops.Sqrt()(Tensor(D, ms.float32))

    def encode(self, src):
        x = self.pos(self.src_emb(src.astype(ms.int32)) * self.scaling)
        for layer in self.encoder:
            x = layer(x, pad_mask(src, src))
        return x

    def decode(self, tgt, memory, src):
        x = self.pos(self.tgt_emb(tgt.astype(ms.int32)) * self.scaling)
        mask = ops.gt((pad_mask(tgt, tgt).int() + causal_mask(tgt).int()), 0)
        for layer in self.decoder:
            x = layer(x, mask, memory, pad_mask(tgt, src))
        return self.projection(x)

    def construct(self, src, tgt):
        return self.decode(tgt, self.encode(src), src)


net = Transformer()
for p in net.get_parameters():
    if p.ndim > 1 or "bias" in p.name:
        p.set_data(Tensor(random.normal(0, 0.2, p.shape).astype(np.float32)))


def batch():
    src, tgt = np.zeros((4, 6), np.int32), np.zeros((4, 8), np.int32)
    for i in range(4):
        n = random.randint(3, 7)
        s = random.randint(3, VOCAB, n)
        src[i, :n] = s
        tgt[i, :n + 2] = [BOS, *s[::-1], EOS]
    return Tensor(src), Tensor(tgt)


def noam(step, warmup=4, factor=1.0):
    return factor * D ** -0.5 * min((step + 1) ** -0.5, (step + 1) * warmup ** -1.5)


optimizer = nn.Adam(net.trainable_params(), learning_rate=[noam(s, factor=0.1) for s in range(8)], beta2=0.98, eps=1e-9)


def forward(src, tgt):
    logits = net(src, tgt[:, :-1])
    return ops.cross_entropy(logits.view(-1, VOCAB), tgt[:, 1:].view(-1), ignore_index=PAD, label_smoothing=0.1)


grad_fn = ops.value_and_grad(forward, None, optimizer.parameters)
for step in range(6):
    loss, grads = grad_fn(*batch())
    optimizer(grads)
    print(f"step {step}: loss {loss.asnumpy():.5f}, lr {optimizer.get_lr().asnumpy():.6f}")
net.set_train(False)
src = Tensor(np.array([[3, 5, 7, 9, 0, 0]], np.int32))
memory, out = net.encode(src), Tensor(np.array([[BOS]], np.int32))
for _ in range(6):
    word = ops.Argmax()(net.decode(out, memory, src)[:, -1])
    out = ops.concat((out, word.reshape(1, 1).astype(ms.int32)), axis=1)
    if int(word[0]) == EOS:
        break
print(out, mnp.where(src == PAD, 1, 0).sum())
