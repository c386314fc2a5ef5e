# SPDX-License-Identifier: Apache-2.0
"""Click prediction: embeddings, factorisation machine, two optimizers for wide and deep parts, AUC as a metric."""
import numpy as np

import mindspore as ms
import mindspore.common.dtype as mstype
import mindspore.nn as nn
from mindspore import context
from mindspore.common.initializer import Uniform, initializer
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.dataset import GeneratorDataset
from mindspore.nn import Metric
from mindspore.ops import composite as C
from mindspore.ops import functional as F
from mindspore.ops import operations as P
from mindspore.train import Model
from mindspore.train.callback import LossMonitor

context.set_context(mode=context.PYNATIVE_MODE)
random = np.random.RandomState(6)
FIELDS, VOCAB, DIM = 4, 30, 3


class AUC(Metric):
    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self.probs, self.labels = [], []

    def update(self, *inputs):
        self.probs.extend(inputs[1].asnumpy().flatten().tolist())
        self.labels.extend(inputs[2].asnumpy().flatten().tolist())

    def eval(self):
        order = np.argsort(self.probs, kind="stable")
        ranks = np.empty(len(order))
        ranks[order] = np.arange(1, len(order) + 1)
        labels = np.array(self.labels)
        n1, n0 = labels.sum(), (1 - labels).sum()
        return float((ranks[labels == 1].sum() - n1 * (n1 + 1) / 2) / (n1 * n0))


class DenseLayer(nn.Cell):
    def __init__(self, input_dim, output_dim, act="relu", use_activation=True):
        super().__init__()
        self.weight = Parameter(Tensor(random.normal(0, 0.3, (input_dim, output_dim)).astype(np.float32)))
        self.bias = Parameter(initializer("zeros", [output_dim], mstype.float32))
        self.act = nn.get_activation(act)
        self.use_activation = use_activation
        self.matmul = P.MatMul(transpose_b=False)
        self.bias_add = P.BiasAdd()
        self.cast = P.Cast()

    def construct(self, x):
        x = self.bias_add(self.matmul(x, self.weight), self.bias)
        return self.act(x) if self.use_activation else x


class DeepFM(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fm_w = Parameter(Tensor(random.normal(0, 0.1, (VOCAB, 1)).astype(np.float32)), name="fm_w")
        self.embedding_table = Parameter(Tensor(random.normal(0, 0.1, (VOCAB, DIM)).astype(np.float32)), name="V_l2")
        self.dense = nn.SequentialCell([DenseLayer(FIELDS * DIM, 8), DenseLayer(8, 1, use_activation=False)])
        self.gather, self.reduce_sum, self.mul, self.square = P.Gather(), P.ReduceSum(keep_dims=False), P.Mul(), P.Square()
        self.reshape, self.expand = P.Reshape(), P.ExpandDims()

    def construct(self, ids, values):
        mask = self.expand(values, 2)
        linear = self.reduce_sum(self.mul(self.gather(self.fm_w, ids, 0), mask), 1)
        vx = self.mul(self.gather(self.embedding_table, ids, 0), mask)
        fm = 0.5 * self.reduce_sum(self.square(self.reduce_sum(vx, 1)) - self.reduce_sum(self.square(vx), 1), 1)
        deep = self.dense(self.reshape(vx, (-1, FIELDS * DIM)))
        return linear + self.reshape(fm, (-1, 1)) + deep, self.fm_w, self.embedding_table


class NetWithLoss(nn.Cell):
    def __init__(self, network, l2=1e-3):
        super().__init__(auto_prefix=False)
        self.loss = P.SigmoidCrossEntropyWithLogits()
        self.network, self.l2 = network, l2
        self.reduce_mean = P.ReduceMean(keep_dims=False)

    def construct(self, ids, values, label):
        predict, wide, deep = self.network(ids, values)
        log_loss = self.reduce_mean(self.loss(predict, label))
        return log_loss + self.l2 / 2 * (P.ReduceSum()(P.Square()(wide)) + P.ReduceSum()(P.Square()(deep)))


class TrainStep(nn.Cell):
    def __init__(self, network, sens=1.0):
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_train()
        params = network.trainable_params()
        self.weights_w = ParameterTuple([p for p in params if 'fm_w' in p.name])
        self.weights_d = ParameterTuple([p for p in params if 'fm_w' not in p.name])
        self.optimizer_w = nn.FTRL(learning_rate=5e-2, params=self.weights_w, l1=1e-8, l2=1e-8, initial_accum=1.0)
        self.optimizer_d = nn.Adam(self.weights_d, learning_rate=1e-2, eps=1e-8, loss_scale=sens)
        self.grad = C.GradOperation(get_by_list=True, sens_param=True)
        self.sens = sens

    def construct(self, ids, values, label):
        loss = self.network(ids, values, label)
        sens = P.Fill()(P.DType()(loss), P.Shape()(loss), self.sens)
        grads_w = self.grad(self.network, self.weights_w)(ids, values, label, sens)
        grads_d = self.grad(self.network, self.weights_d)(ids, values, label, sens)
        grads_w = tuple(g / self.sens for g in grads_w)
        return F.depend(loss, F.make_tuple(self.optimizer_w(grads_w), self.optimizer_d(grads_d)))


class Predict(nn.Cell):
    def __init__(self, network):
        super().__init__(auto_prefix=False)
        self.network, self.sigmoid = network, P.Sigmoid()

    def construct(self, ids, values, labels):
        logits, _, _ = self.network(ids, values)
        return logits, self.sigmoid(logits), labels


ids = random.randint(0, VOCAB, (48, FIELDS)).astype(np.int32)
values = random.rand(48, FIELDS).astype(np.float32)
clicks = ((ids % 2 * values).sum(1, keepdims=True) > 1.0).astype(np.float32)


def data():
    def rows():
        for row in zip(ids, values, clicks):
            yield row
    return GeneratorDataset(rows, ["ids", "values", "label"], shuffle=False).batch(16)


net = DeepFM()
step = TrainStep(NetWithLoss(net), sens=1024.0)
model = Model(step, eval_network=Predict(net), metrics={"auc": AUC()})
model.train(4, data(), callbacks=[LossMonitor(3)], dataset_sink_mode=False)
print("auc", round(model.eval(data(), dataset_sink_mode=False)["auc"], 4))
