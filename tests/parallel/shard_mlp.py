# SPDX-License-Identifier: Apache-2.0
"""A network of two MatMuls trained on the ranks of a job, split in several ways; rank 0 prints losses and weights as JSON. Alone it is not split."""
import json
import os
import sys

import numpy as np

import spore as ms
from spore import Parameter, Tensor, communication as comm, nn, ops

comm.init()
rank, size = comm.get_rank(), comm.get_group_size()
ms.set_context(mode=ms.GRAPH_MODE)

# Strategies of the two MatMuls, by ranks: columns then rows; rows of the data; both; the inner axis; what is left over repeats.
WAYS = {2: {"columns": (((1, 1), (1, 2)), ((1, 2), (2, 1))), "rows": (((2, 1), (1, 1)), ((2, 1), (1, 1))), "inner": (((1, 2), (2, 1)), ((1, 1), (1, 2)))},
        4: {"columns": (((1, 1), (1, 4)), ((1, 4), (4, 1))), "both": (((2, 1), (1, 2)), ((2, 2), (2, 1))), "all three": (((2, 2), (2, 1)), ((1, 2), (2, 2))),
            "left over": (((2, 1), (1, 1)), ((1, 2), (2, 1)))}}


class Net(nn.Cell):
    """x w1 + b1, relu, w2 + b2."""

    def __init__(self, first, second):
        super().__init__()
        made = np.random.RandomState(3 if rank == 0 else 3 + rank)  # only rank 0's count
        self.w1 = Parameter(Tensor(made.randn(8, 16).astype(np.float32)), "w1")
        self.b1 = Parameter(Tensor(made.randn(16).astype(np.float32)), "b1")
        self.w2 = Parameter(Tensor(made.randn(16, 4).astype(np.float32)), "w2")
        self.b2 = Parameter(Tensor(made.randn(4).astype(np.float32)), "b2")
        self.first, self.second, self.add, self.relu = ops.MatMul(), ops.MatMul(), ops.Add(), ops.ReLU()
        if first:
            self.first.shard(first)
            self.second.shard(second)

    def construct(self, x):
        return self.add(self.second(self.relu(self.add(self.first(x, self.w1), self.b1)), self.w2), self.b2)


def train(first, second, whole):
    """Losses of ten steps, weights as a whole, and what the network gives."""
    net = Net(first, second)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")),
                               nn.Adam(net.trainable_params(), 0.01))
    data, losses = np.random.RandomState(0), []
    for _ in range(10):
        x, y = data.rand(24, 8).astype(np.float32), data.randint(0, 4, 24).astype(np.int32)
        mine = slice(None) if whole else slice(24 // size * rank, 24 // size * (rank + 1))
        losses.append(float(step(Tensor(x[mine]), Tensor(y[mine])).asnumpy()))
    given = net(Tensor(x[mine]))
    if not whole:
        given = ops.AllGather()(given)
    ms.save_checkpoint(net, "net.ckpt")
    comm.comm_func.barrier()
    kept = {name: p.asnumpy() for name, p in ms.load_checkpoint("net.ckpt").items()}
    shapes = {p.name: list(p.asnumpy().shape) for p in net.trainable_params()}
    ms.load_param_into_net(net, {name: Parameter(Tensor(2 * v), name) for name, v in kept.items()})  # each rank takes its slices
    ms.save_checkpoint(net, "again.ckpt")
    comm.comm_func.barrier()
    assert all(np.array_equal(p.asnumpy(), 2 * kept[name]) for name, p in ms.load_checkpoint("again.ckpt").items())
    comm.comm_func.barrier()
    return {"losses": losses, "shapes": shapes, "weights": {n: v.tolist() for n, v in kept.items()}, "given": given.asnumpy().tolist()}


os.chdir(sys.argv[1])
found = {}
if size == 1:
    found["alone"] = train(None, None, True)
for name, (first, second) in WAYS.get(size, {}).items():
    for strategy in ("full_batch", "data_parallel"):
        ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy=strategy)
        found[f"{name}, {strategy}"] = train(first, second, strategy == "full_batch")
if rank == 0:
    print(json.dumps(found))
