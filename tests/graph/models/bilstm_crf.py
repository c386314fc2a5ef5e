# SPDX-License-Identifier: Apache-2.0
"""A bidirectional LSTM with a conditional random field on top: the normaliser is a loop over time, sequence lengths are
Tensors, the score of the true path is gathered element by element."""
import mindspore as ms
import numpy as np
from common import fill, wave
from mindspore import Parameter, Tensor, nn, ops


class Crf(nn.Cell):
    def __init__(self, n_tags):
        super().__init__()
        self.n_tags = n_tags
        self.start = Parameter(Tensor(wave(n_tags, scale=0.1)), name="start")
        self.end = Parameter(Tensor(wave(n_tags, phase=1, scale=0.1)), name="end")
        self.between = Parameter(Tensor(wave(n_tags, n_tags, phase=2, scale=0.1)), name="between")

    def score(self, emissions, tags, mask):
        n_steps, n_batch = tags.shape
        rows = ops.arange(n_batch)
        total = self.start[tags[0]] + emissions[0, rows, tags[0]]
        last = tags[0]
        for i in range(1, n_steps):
            gain = self.between[last, tags[i]] + emissions[i, rows, tags[i]]
            total = total + gain * mask[i]
            last = ops.where(mask[i] > 0, tags[i], last)
        return total + self.end[last]

    def normaliser(self, emissions, mask):
        alpha = self.start + emissions[0]
        for i in range(1, emissions.shape[0]):
            scores = alpha.expand_dims(2) + self.between.expand_dims(0) + emissions[i].expand_dims(1)
            step = ops.logsumexp(scores, 1)
            alpha = ops.where(mask[i].expand_dims(1) > 0, step, alpha)
        return ops.logsumexp(alpha + self.end, 1)

    def construct(self, emissions, tags, lengths):
        emissions, tags = emissions.swapaxes(0, 1), tags.swapaxes(0, 1)
        steps = ops.arange(tags.shape[0]).expand_dims(1)
        mask = (steps < lengths.expand_dims(0)).astype(ms.float32)
        return (self.normaliser(emissions, mask) - self.score(emissions, tags, mask)).mean()


class BiLstmCrf(nn.Cell):
    def __init__(self, n_words=12, n_embed=4, n_hidden=3, n_tags=4):
        super().__init__()
        self.embedding = nn.Embedding(n_words, n_embed)
        self.lstm = nn.LSTM(n_embed, n_hidden, bidirectional=True, batch_first=True)
        self.dense = nn.Dense(2 * n_hidden, n_tags)
        self.crf = Crf(n_tags)

    def construct(self, words, lengths, tags):
        x, _ = self.lstm(self.embedding(words))
        return self.crf(self.dense(x), tags, lengths)


def make_step():
    net = fill(BiLstmCrf())
    optimizer = nn.SGD(net.trainable_params(), 0.1, weight_decay=1e-4)
    value_and_grad = ms.value_and_grad(net, None, optimizer.parameters)

    def step(words, lengths, tags):
        loss, grads = value_and_grad(words, lengths, tags)
        optimizer(grads)
        return loss
    return step


BATCHES = [((np.arange(10).reshape(2, 5) * 7 + i).astype(np.int32) % 12, np.array([5, 3], np.int32),
            (np.arange(10).reshape(2, 5) * 3 + i).astype(np.int32) % 4) for i in range(5)]
