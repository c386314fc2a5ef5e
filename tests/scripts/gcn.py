# SPDX-License-Identifier: Apache-2.0
"""Nodes of a graph classified: normalised adjacency, attention heads over masked scores, scatter of messages, masked loss."""
import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import XavierUniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.ops import operations as P

random = np.random.RandomState(1)
n, feature_size, classes = 12, 6, 3
labels = np.arange(n) % classes
adj = (random.rand(n, n) < np.where(labels[:, None] == labels[None], 0.6, 0.1)).astype(np.float32)
adj = np.maximum(adj, adj.T)
np.fill_diagonal(adj, 1)
features = (np.eye(classes)[labels] @ random.rand(classes, feature_size) + random.randn(n, feature_size) * 0.3).astype(np.float32)
degree = adj.sum(1)
norm_adj = adj / np.sqrt(degree[:, None] * degree[None])
edges = np.array(np.nonzero(adj))


def glorot(shape):
    return Tensor(random.uniform(-1, 1, shape).astype(np.float32) * np.sqrt(6.0 / sum(shape)))


class GraphConvolution(nn.Cell):
    def __init__(self, feature_in_dim, feature_out_dim, dropout_ratio=None, activation=None):
        super().__init__()
        self.fc = nn.Dense(feature_in_dim, feature_out_dim, weight_init=glorot([feature_out_dim, feature_in_dim]), has_bias=False)
        self.dropout_flag = dropout_ratio is not None
        if self.dropout_flag:
            self.dropout = nn.Dropout(p=dropout_ratio)
        self.activation = nn.get_activation(activation) if activation else None
        self.matmul = P.MatMul()

    def construct(self, adj, input_feature):
        if self.dropout_flag:
            input_feature = self.dropout(input_feature)
        out = self.matmul(adj, self.fc(input_feature))
        return out if self.activation is None else self.activation(out)


class AttentionHead(nn.Cell):
    def __init__(self, i, o):
        super().__init__()
        self.transform = nn.Conv1d(i, o, kernel_size=1, pad_mode='same', has_bias=False, weight_init=glorot([o, i]).expand_dims(2))
        self.f_1, self.f_2 = nn.Dense(o, 1), nn.Dense(o, 1)
        self.leaky_relu = nn.LeakyReLU(0.2)
        self.bias = Parameter(initializer('zeros', [o]), name='bias')
        for cell in (self.f_1, self.f_2):
            cell.weight.set_data(glorot([1, o]))
            cell.bias.set_data(Tensor([0.0], ms.float32))

    def construct(self, x, bias_mat):
        seq = self.transform(P.Transpose()(x.expand_dims(0), (0, 2, 1)))[0].T
        logits = self.f_1(seq) + P.Transpose()(self.f_2(seq), (1, 0))
        coefs = ops.softmax(self.leaky_relu(logits) + bias_mat, -1)
        return ops.matmul(coefs, seq) + self.bias


class Messages(nn.Cell):
    """Messages along edges, summed at their ends."""

    def __init__(self, i, o):
        super().__init__()
        self.weight = Parameter(glorot([i, o]), name="weight")

    def construct(self, x, edges):
        sent = ops.gather(ops.matmul(x, self.weight), edges[0], 0)
        total = ops.zeros((x.shape[0], self.weight.shape[1]), ms.float32)
        total = ops.tensor_scatter_add(total, edges[1].expand_dims(-1), sent)
        count = ops.unsorted_segment_sum(ops.ones_like(edges[1]).astype(ms.float32), edges[1], x.shape[0])
        return total / count.reshape(-1, 1)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.gcn = GraphConvolution(feature_size, 8, activation="relu")
        self.gat = nn.CellList([AttentionHead(8, 4) for _ in range(2)])
        self.gat.add_flags(head=True)
        self.out = Messages(8, classes)

    def construct(self, x, adj, bias_mat, edges):
        h = self.gcn(adj, x)
        heads = ()
        for head in self.gat:
            heads += (ops.elu(head(h, bias_mat)),)
        return self.out(ops.concat(heads, -1), edges)


class LossAccuracy(nn.Cell):
    def __init__(self, label, mask):
        super().__init__(auto_prefix=False)
        self.label, self.mask = Tensor(label), Tensor(mask)
        self.softmax = nn.SoftmaxCrossEntropyWithLogits()

    def construct(self, preds):
        loss = self.softmax(preds, self.label)
        mask = self.mask / self.mask.mean()
        loss = P.ReduceMean()(loss * mask)
        hit = P.Cast()(P.Equal()(P.Argmax(axis=1)(preds), P.Argmax(axis=1)(self.label)), ms.float32)
        return loss, P.ReduceMean()(hit * mask)


net = Net()
hot = np.eye(classes)[labels].astype(np.float32)
train_mask = (np.arange(n) < 8).astype(np.float32)
criterion, test = LossAccuracy(hot, train_mask), LossAccuracy(hot, 1 - train_mask)
inputs = (Tensor(features), Tensor(norm_adj.astype(np.float32)), Tensor(np.where(adj > 0, 0, -1e9).astype(np.float32)), Tensor(edges, ms.int32))
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.05, weight_decay=5e-4)
step = ms.value_and_grad(lambda *a: criterion(net(*a)), None, optimizer.parameters, has_aux=True)
for epoch in range(6):
    (loss, accuracy), grads = step(*inputs)
    optimizer(grads)
    print(f"epoch {epoch}: loss {float(loss):.5f}, accuracy {float(accuracy):.3f}")
print("test", *(round(float(v), 4) for v in test(net(*inputs))))
print([p.name for p in net.trainable_params()])
