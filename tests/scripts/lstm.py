# SPDX-License-Identifier: Apache-2.0
"""A sentence classifier: embedding, two-layer bidirectional LSTM, Dense; the words that matter are learned."""
import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.dataset import NumpySlicesDataset

rng = np.random.RandomState(2)
VOCAB, LENGTH = 20, 10
tokens = rng.randint(0, VOCAB, (96, LENGTH)).astype(np.int32)
labels = (np.isin(tokens, [3, 7, 11, 13]).sum(1) > 1).astype(np.float32)[:, None]


class RNN(nn.Cell):
    def __init__(self, vocab_size, embedding_dim, hidden_dim, output_dim, n_layers, bidirectional):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim)
        self.rnn = nn.LSTM(embedding_dim, hidden_dim, num_layers=n_layers, bidirectional=bidirectional, batch_first=True)
        self.fc = nn.Dense(hidden_dim * 2, output_dim)

    def construct(self, inputs):
        embedded = self.embedding(inputs)
        _, (hidden, _) = self.rnn(embedded)
        hidden = ops.concat((hidden[-2, :, :], hidden[-1, :, :]), axis=1)
        return self.fc(hidden)


model = RNN(VOCAB, 8, 8, 1, 2, True)
print([p.name for p in model.trainable_params()])
for p in model.trainable_params():
    p.set_data(Tensor(rng.normal(size=p.shape, scale=0.3).astype(np.float32)))
loss_fn = nn.BCEWithLogitsLoss(reduction="mean")
optimizer = nn.Adam(model.trainable_params(), learning_rate=0.02)


def forward_fn(data, label):
    return loss_fn(model(data), label)


grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)


def train_step(data, label):
    loss, grads = grad_fn(data, label)
    optimizer(ops.clip_by_global_norm(grads, 5.0))
    return loss


dataset = NumpySlicesDataset({"text": tokens, "label": labels}, shuffle=False).batch(32)
model.set_train(True)
for epoch in range(15):
    total = 0.0
    for data, label in dataset.create_tuple_iterator():
        total += float(train_step(data, label).asnumpy())
    if epoch in (0, 1, 14):
        print("epoch", epoch, "loss", round(total / dataset.get_dataset_size(), 2))

model.set_train(False)
right = ((ops.sigmoid(model(Tensor(tokens))) > 0.5).asnumpy() == (labels > 0.5)).mean()
print("learned", bool(right > 0.9))
