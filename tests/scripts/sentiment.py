# SPDX-License-Identifier: Apache-2.0
"""Sentiment of sentences: two-layer bidirectional LSTM, packed by length, functional training with accuracy and a checkpoint."""
import math
import os
import tempfile

import numpy as np

import mindspore as ms
import mindspore.dataset as ds
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore.common.initializer import HeUniform, Uniform

random = np.random.RandomState(8)


class RNN(nn.Cell):
    def __init__(self, embeddings, hidden_dim, output_dim, n_layers, bidirectional, pad_idx):
        super().__init__()
        vocab_size, embedding_dim = embeddings.shape
        self.embedding = nn.Embedding(vocab_size, embedding_dim, embedding_table=ms.Tensor(embeddings), padding_idx=pad_idx)
        self.rnn = nn.LSTM(embedding_dim, hidden_dim, num_layers=n_layers, bidirectional=bidirectional, batch_first=True)
        weight_init = HeUniform(math.sqrt(5))
        bias_init = Uniform(1 / math.sqrt(hidden_dim * 2))
        self.fc = nn.Dense(hidden_dim * 2, output_dim, weight_init=weight_init, bias_init=bias_init)

    def construct(self, inputs, length):
        embedded = self.embedding(inputs)
        _, (hidden, _) = self.rnn(embedded, seq_length=length)
        hidden = ops.concat((hidden[-2, :, :], hidden[-1, :, :]), axis=1)
        return self.fc(hidden)


words = [f"w{i}" for i in range(20)]
vocab = {w: i + 2 for i, w in enumerate(words)}
vocab["<unk>"], vocab["<pad>"] = 0, 1


class Reviews:
    def __init__(self, n=16):
        self.docs, self.labels = [], []
        for _ in range(n):
            good = random.randint(2)
            self.docs.append([f"w{random.randint(10) + 10 * good}" for _ in range(random.randint(3, 9))])
            self.labels.append(good)

    def __getitem__(self, idx):
        ids = [vocab.get(w, 0) for w in self.docs[idx]]
        return np.array(ids + [1] * (10 - len(ids)), np.int32), np.int32(len(ids)), np.array([self.labels[idx]], np.float32)

    def __len__(self):
        return len(self.docs)


train = ds.GeneratorDataset(Reviews(12), ["text", "length", "label"], shuffle=False).batch(4, drop_remainder=True)
valid = ds.GeneratorDataset(Reviews(4), column_names=["text", "length", "label"], shuffle=False).batch(4)
embeddings = random.normal(0, 0.5, (22, 6)).astype(np.float32)
model = RNN(embeddings, hidden_dim=5, output_dim=1, n_layers=2, bidirectional=True, pad_idx=1)
for p in model.get_parameters():
    if "embedding" not in p.name:
        p.set_data(ms.Tensor(random.normal(0, 0.3, p.shape).astype(np.float32)))
print([(p.name, p.shape) for p in model.rnn.get_parameters()][:6])
loss_fn = nn.BCEWithLogitsLoss(reduction='mean')
optimizer = nn.Adam(model.trainable_params(), learning_rate=0.05)


def forward_fn(data, length, label):
    logits = model(data, length)
    return loss_fn(logits, label)


grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)


def train_step(data, length, label):
    loss, grads = grad_fn(data, length, label)
    optimizer(grads)
    return loss


def binary_accuracy(preds, y):
    rounded_preds = np.around(ops.sigmoid(preds).asnumpy())
    correct = (rounded_preds == y).astype(np.float32)
    return correct.sum() / len(correct)


best = float('inf')
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "sentiment.ckpt")
    for epoch in range(3):
        model.set_train()
        total = [float(train_step(*batch)) for batch in train.create_tuple_iterator()]
        model.set_train(False)
        losses, accuracies = [], []
        for data in valid.create_dict_iterator():
            predictions = model(data["text"], data["length"])
            losses.append(float(loss_fn(predictions, data["label"])))
            accuracies.append(binary_accuracy(predictions, data["label"].asnumpy()))
        print(f"epoch {epoch}: train {np.mean(total):.5f}, valid {np.mean(losses):.5f}, accuracy {np.mean(accuracies):.2f}")
        if losses[0] < best:
            best = losses[0]
            ms.save_checkpoint(model, path)
    param_dict = ms.load_checkpoint(path)
    print(ms.load_param_into_net(model, param_dict))
text = "w3 w4 something w15".split()
ids = ms.Tensor(np.array([[vocab.get(w, 0) for w in text]]), ms.int32)
print(ops.sigmoid(model(ids, ms.Tensor([len(text)], ms.int32))))
