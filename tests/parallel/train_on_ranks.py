# SPDX-License-Identifier: Apache-2.0
"""Networks trained on the ranks of this job, in both modes, by Model.train and by loops of one's own. Prints, on rank 0, losses of the global batch
and a digest of the weights for each, as JSON. Arguments: number of steps, names of what to train (all if none)."""
import hashlib
import json
import sys

import numpy as np

import spore as ms
from spore import Tensor, communication, nn, ops
from spore.dataset import NumpySlicesDataset

STEPS, WANTED = int(sys.argv[1]), sys.argv[2:]
GLOBAL_BATCH = 24

communication.init()
RANK, SIZE = communication.get_rank(), communication.get_group_size()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(6, 16, 5, pad_mode="valid"),
                                        nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(256, 120, activation="relu"),
                                        nn.Dense(120, 84, activation="relu"), nn.Dense(84, 10))

    def construct(self, x):
        return self.layers(x)


def mlp():
    return nn.SequentialCell(nn.Flatten(), nn.Dense(784, 64, activation="relu"), nn.Dense(64, 32, activation="tanh"), nn.Dense(32, 10))


def normalised():
    return nn.SequentialCell(nn.Conv2d(1, 4, 3, stride=2), nn.SyncBatchNorm(4), nn.ReLU(), nn.Flatten(), nn.Dense(784, 10))


def prepared(make):
    """A network with weights that are the same in every job; other ranks than the first begin with others, and get these."""
    net = make()
    for k, p in enumerate(net.trainable_params()):
        draw = np.random.RandomState(100 * k + RANK)
        p.set_data(Tensor((draw.normal(0, 1.4 / np.sqrt(p.size / p.shape[0]), p.shape) + (p.ndim == 1) * 0.1).astype(np.float32)))
    return net


def rows():
    draw = np.random.RandomState(7)
    images = draw.rand(STEPS * GLOBAL_BATCH, 1, 28, 28).astype(np.float32)
    labels = draw.randint(0, 10, len(images)).astype(np.int32)
    for image, label in zip(images, labels):
        image[0, :, 2 * label + 2:2 * label + 6] += 1
    return NumpySlicesDataset((images, labels), ["x", "y"], shuffle=False, num_shards=SIZE, shard_id=RANK).batch(GLOBAL_BATCH // SIZE)


def loss_fn():
    return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


class Losses(ms.train.Callback):
    def __init__(self):
        super().__init__()
        self.found = []

    def on_train_step_end(self, run_context):
        self.found.append(float(run_context.original_args().net_outputs.asnumpy()))


def by_model(net):
    losses = Losses()
    model = ms.train.Model(net, loss_fn(), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    model.train(1, rows(), callbacks=[losses], dataset_sink_mode=False)
    return losses.found


def by_loop(net, jit=False):
    optimizer, loss = nn.Adam(net.trainable_params(), 1e-3), loss_fn()
    reducer = nn.DistributedGradReducer(optimizer.parameters)
    forward = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

    def step(x, y):
        value, grads = forward(x, y)
        grads = ops.clip_by_global_norm(reducer(grads), 0.5)
        optimizer(grads)
        return value
    step = ms.jit(step) if jit else step
    net.set_train()
    return [float(step(x, y).asnumpy()) for x, y in rows().create_tuple_iterator()]


CASES = {
    "lenet model graph": (LeNet, ms.GRAPH_MODE, by_model), "lenet model eager": (LeNet, ms.PYNATIVE_MODE, by_model),
    "mlp loop graph": (mlp, ms.PYNATIVE_MODE, lambda net: by_loop(net, True)), "mlp loop eager": (mlp, ms.PYNATIVE_MODE, by_loop),
    "norm model graph": (normalised, ms.GRAPH_MODE, by_model), "norm loop eager": (normalised, ms.PYNATIVE_MODE, by_loop),
}

report = {}
for name, (make, mode, train) in CASES.items():
    if WANTED and name not in WANTED:
        continue
    ms.set_context(mode=mode)
    net = prepared(make)
    losses = ops.AllReduce("avg")(Tensor(np.array(train(net), np.float64))).asnumpy().tolist()
    values = b"".join(p.asnumpy().tobytes() for p in net.get_parameters())
    digests = [None] * SIZE
    ms.mint.distributed.all_gather_object(digests, hashlib.sha256(values).hexdigest())
    assert len(set(digests)) == 1, f"{name}: ranks end with different weights"
    report[name] = {"losses": losses, "digest": digests[0]}
if RANK == 0:
    print(json.dumps(report))
