# SPDX-License-Identifier: Apache-2.0
"""Click prediction, wide and deep: rows out of MindRecord, a loss and an optimizer for each part, a metric of one's own."""
import os

import numpy as np

import mindspore as ms
import mindspore.dataset as ds
from mindspore import Model, Parameter, ParameterTuple, context, nn, ops
from mindspore.common.initializer import Uniform, initializer
from mindspore.context import ParallelMode
from mindspore.mindrecord import FileWriter
from mindspore.nn.optim import FTRL, Adam
from mindspore.train.callback import Callback, CheckpointConfig, ModelCheckpoint

BATCH, FIELDS, WIDTH, WORDS = 8, 5, 4, 30
ms.set_seed(1)
context.set_context(mode=context.GRAPH_MODE)


class DenseLayer(nn.Cell):
    """A product in float16."""

    def __init__(self, input_dim, output_dim, use_activation=True):
        super().__init__()
        self.weight = Parameter(initializer("normal", [input_dim, output_dim], ms.float32), name="weight")
        self.bias = Parameter(initializer("zeros", [output_dim], ms.float32), name="bias")
        self.act_func, self.matmul, self.bias_add, self.cast = ops.ReLU(), ops.MatMul(), ops.BiasAdd(), ops.Cast()
        self.use_activation = use_activation

    def construct(self, x):
        x = self.matmul(self.cast(x, ms.float16), self.cast(self.weight, ms.float16))
        x = self.bias_add(x, self.cast(self.bias, ms.float16))
        if self.use_activation:
            x = self.act_func(x)
        return self.cast(x, ms.float32)


class WideDeepModel(nn.Cell):
    def __init__(self):
        super().__init__()
        self.wide_b = Parameter(initializer(Uniform(0.01), [1], ms.float32), name="wide_b")
        self.dense_1, self.dense_2 = DenseLayer(FIELDS * WIDTH, 16), DenseLayer(16, 1, use_activation=False)
        self.deep_embedding = nn.EmbeddingLookup(WORDS, WIDTH, target="DEVICE", sparse=False)
        self.wide_embedding = nn.EmbeddingLookup(WORDS, 1, target="DEVICE", sparse=False)
        self.embedding_table = self.deep_embedding.embedding_table
        self.reduce_sum, self.reshape = ops.ReduceSum(keep_dims=False), ops.Reshape()

    def construct(self, ids, weights):
        mask = self.reshape(weights, (BATCH, FIELDS, 1))
        wide = self.reshape(self.reduce_sum(self.wide_embedding(ids) * mask, 1) + self.wide_b, (-1, 1))
        deep = self.reshape(self.deep_embedding(ids) * mask, (-1, FIELDS * WIDTH))
        return wide + self.dense_2(self.dense_1(deep)), self.embedding_table


class NetWithLoss(nn.Cell):
    def __init__(self, network):
        super().__init__(auto_prefix=False)
        self.network, self.loss = network, ops.SigmoidCrossEntropyWithLogits()
        self.mean, self.sum, self.square = ops.ReduceMean(), ops.ReduceSum(), ops.Square()

    def construct(self, ids, weights, label):
        predict, table = self.network(ids, weights)
        wide_loss = self.mean(self.loss(predict, label))
        return wide_loss, wide_loss + 8e-5 * self.sum(self.square(table)) / 2


class IthOutput(nn.Cell):
    def __init__(self, network, output_index):
        super().__init__()
        self.network, self.output_index = network, output_index

    def construct(self, ids, weights, label):
        return self.network(ids, weights, label)[self.output_index]


class TrainStepWrap(nn.Cell):
    def __init__(self, network, sens=1024.0):
        super().__init__()
        self.network = network
        self.network.set_train()
        self.weights_w = ParameterTuple([p for p in network.trainable_params() if "wide" in p.name])
        self.weights_d = ParameterTuple([p for p in network.trainable_params() if "wide" not in p.name])
        self.optimizer_w = FTRL(learning_rate=5e-2, params=self.weights_w, l1=1e-8, l2=1e-8, initial_accum=1.0, loss_scale=sens)
        self.optimizer_d = Adam(self.weights_d, learning_rate=3.5e-3, eps=1e-8, loss_scale=sens)
        self.grad_w = ops.GradOperation(get_by_list=True, sens_param=True)
        self.grad_d = ops.GradOperation(get_by_list=True, sens_param=True)
        self.loss_net_w, self.loss_net_d = IthOutput(network, 0), IthOutput(network, 1)
        self.loss_net_w.set_grad()
        self.loss_net_d.set_grad()
        self.sens = sens
        parallel_mode = context.get_auto_parallel_context("parallel_mode")
        self.reducer_flag = parallel_mode in (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL)

    def construct(self, ids, weights, label):
        loss_w, loss_d = self.network(ids, weights, label)
        sens_w = ops.Fill()(ops.DType()(loss_w), ops.Shape()(loss_w), self.sens)
        sens_d = ops.Fill()(ops.DType()(loss_d), ops.Shape()(loss_d), self.sens)
        grads_w = self.grad_w(self.loss_net_w, self.weights_w)(ids, weights, label, sens_w)
        grads_d = self.grad_d(self.loss_net_d, self.weights_d)(ids, weights, label, sens_d)
        return ops.depend(loss_w, self.optimizer_w(grads_w)), ops.depend(loss_d, self.optimizer_d(grads_d))


class PredictWithSigmoid(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.network, self.sigmoid = network, ops.Sigmoid()

    def construct(self, ids, weights, label):
        logits, _ = self.network(ids, weights)
        return logits, self.sigmoid(logits), label


class AUCMetric(nn.Metric):
    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self.labels, self.scores = [], []

    def update(self, *inputs):
        self.scores.extend(inputs[1].asnumpy().flatten().tolist())
        self.labels.extend(inputs[2].asnumpy().flatten().tolist())

    def eval(self):
        labels, scores = np.array(self.labels), np.array(self.scores)
        return float((scores[labels > 0.5][:, None] > scores[labels < 0.5]).mean())


class Report(Callback):
    def __init__(self, model, data, metric):
        super().__init__()
        self.model, self.data, self.metric = model, data, metric

    def epoch_end(self, run_context):
        wide, deep = run_context.original_args().net_outputs
        self.metric.clear()
        auc = self.model.eval(self.data, dataset_sink_mode=False)["auc"]
        print(f"wide {float(wide.asnumpy()):.5f} deep {float(deep.asnumpy()):.5f} auc {auc:.4f}")


def create_dataset(path):
    data = ds.MindDataset(path, columns_list=["feat_ids", "feat_vals", "label"], shuffle=False).batch(BATCH, drop_remainder=True)
    return data.map(lambda ids, weights, label: (ids.reshape(BATCH, FIELDS), weights.reshape(BATCH, FIELDS), label.reshape(BATCH, 1)),
                    input_columns=["feat_ids", "feat_vals", "label"])


random = np.random.RandomState(0)
writer = FileWriter("clicks.mindrecord", shard_num=1)
writer.add_schema({"label": {"type": "float32", "shape": [-1]}, "feat_vals": {"type": "float32", "shape": [-1]},
                   "feat_ids": {"type": "int32", "shape": [-1]}}, "clicks")
writer.write_raw_data([{"feat_ids": random.randint(0, WORDS, FIELDS).astype(np.int32), "feat_vals": random.rand(FIELDS).astype(np.float32),
                        "label": np.array([i % 2], np.float32)} for i in range(32)])
writer.commit()
net = WideDeepModel()
train_net = TrainStepWrap(NetWithLoss(net))
print([p.name for p in train_net.weights_w], [p.name for p in train_net.weights_d])
train_net.set_train()
metric = AUCMetric()
model = Model(train_net, eval_network=PredictWithSigmoid(net), metrics={"auc": metric})
config = CheckpointConfig(save_checkpoint_steps=4, keep_checkpoint_max=1)
model.train(3, create_dataset("clicks.mindrecord"), dataset_sink_mode=False,
            callbacks=[Report(model, create_dataset("clicks.mindrecord"), metric), ModelCheckpoint("widedeep", "saved", config)])
print([name for name in sorted(os.listdir("saved")) if name.endswith(".ckpt")])
os.remove("clicks.mindrecord")
os.remove("clicks.mindrecord.db")
