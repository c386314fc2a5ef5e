# SPDX-License-Identifier: Apache-2.0
"""An MLP trained with optimizer states shared out over the ranks of this job, in many ways; rank 0 prints losses and sizes as JSON. Arguments: a folder,
whether to begin from the checkpoint there. On one rank, or when "plain" is among the arguments, states are whole."""
import json
import os
import sys

import numpy as np

import spore as ms
from spore import Tensor, communication as comm, nn, ops

comm.init()
rank, size = comm.get_rank(), comm.get_group_size()
os.chdir(sys.argv[1])
RESUME, PLAIN = "resume" in sys.argv, "plain" in sys.argv
BATCH, STEPS = 24, 6


def data(step):
    draw = np.random.RandomState(step)
    return draw.rand(BATCH, 8).astype(np.float32), draw.randint(0, 12, BATCH).astype(np.int32)


def network():
    net = nn.SequentialCell(nn.Dense(8, 24, activation="relu"), nn.Dense(24, 12))
    for k, p in enumerate(net.trainable_params()):
        p.set_data(Tensor(np.random.RandomState(k).normal(0, 0.3, p.shape).astype(np.float32)))
    return net


OPTIMIZERS = {
    "adam": lambda p: nn.Adam(p, 0.01, weight_decay=0.01), "momentum": lambda p: nn.Momentum(p, 0.05, 0.9), "adamw": lambda p: nn.AdamWeightDecay(p, 0.01),
    "lamb": lambda p: nn.Lamb(p, 0.01), "rmsprop": lambda p: nn.RMSProp(p, 0.01, centered=True)}


class Clipped(nn.TrainOneStepCell):
    """As MindSpore's documentation writes it."""

    def construct(self, x, y):
        loss = self.network(x, y)
        grads = self.grad(self.network, self.weights)(x, y, ops.fill(loss.dtype, loss.shape, 1.0))
        grads = self.grad_reducer(grads)
        grads = ops.clip_by_global_norm(grads, 0.3)
        self.optimizer(grads)
        return loss


def cell(kind, net, optimizer):
    with_loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    if kind == "scaled":
        step = nn.TrainOneStepWithLossScaleCell(with_loss, optimizer, nn.DynamicLossScaleUpdateCell(2.0 ** 10, 2, 4))
        return lambda x, y: step(x, y)[0]
    return (Clipped if kind == "clipped" else nn.TrainOneStepCell)(with_loss, optimizer)


def train(name, optimizer, kind, mode, parallel, level, parts):
    ms.reset_auto_parallel_context()
    ms.set_context(mode=mode)
    ms.set_auto_parallel_context(parallel_mode=parallel if size > 1 else "stand_alone", gradients_mean=True, optimizer_level=level,
                                 enable_parallel_optimizer=not PLAIN,
                                 parallel_optimizer_config={"parallel_optimizer_threshold": 0, "optimizer_weight_shard_size": parts})
    net = network()
    made = OPTIMIZERS[optimizer](net.trainable_params())
    step = cell(kind, net, made)
    file = name.replace(" ", "_") + ".ckpt"
    first = 0
    if RESUME:
        kept = ms.load_checkpoint(file)
        ms.load_param_into_net(net, kept)
        ms.load_param_into_net(made, kept)
        first = STEPS
    losses = []
    for k in range(first, first + STEPS):
        x, y = data(k)
        mine = slice(BATCH // size * rank, BATCH // size * (rank + 1))
        losses.append(step(Tensor(x[mine]), Tensor(y[mine])).asnumpy())
    losses = np.array(losses, np.float64)
    if parallel == "data_parallel" and size > 1:
        losses = ops.AllReduce("avg")(Tensor(losses)).asnumpy()
    sizes = {p.name: list(p.asnumpy().shape) for p in (*net.get_parameters(), *made.get_parameters())}
    if not RESUME:
        entries = {p.name: p for p in (*net.get_parameters(), *made.get_parameters())}
        ms.save_checkpoint([{"name": n, "data": p} for n, p in entries.items()], file if rank == 0 else f"other{rank}.ckpt")
        comm.comm_func.barrier()
        whole = {n: list(p.shape) for n, p in ms.load_checkpoint(file).items()}
    else:
        whole = {}
    return {"losses": losses.tolist(), "sizes": sizes, "whole": whole}


E, G = ms.PYNATIVE_MODE, ms.GRAPH_MODE
CASES = [(o, k, m, p, level, parts) for o, k, m, p, level, parts in (
    ("adam", "plain", E, "data_parallel", "level1", -1), ("adam", "plain", G, "data_parallel", "level2", -1), ("adamw", "clipped", E, "data_parallel", "level2", -1),
    ("momentum", "clipped", G, "data_parallel", "level1", 2), ("adam", "scaled", E, "data_parallel", "level2", 2), ("adam", "scaled", G, "data_parallel", "level1", -1),
    ("rmsprop", "plain", G, "data_parallel", "level2", 2), ("lamb", "plain", E, "data_parallel", "level1", -1),
    ("adam", "plain", G, "semi_auto_parallel", "level1", -1), ("adam", "clipped", G, "semi_auto_parallel", "level3", -1),
    ("momentum", "plain", G, "semi_auto_parallel", "level3", 2), ("lamb", "plain", G, "semi_auto_parallel", "level2", -1))]

found = {}
for o, k, m, p, level, parts in CASES:
    name = f"{o} {k} {m} {p} {level} {parts}"
    found[name] = train(name, o, k, m, p, level, parts)
if rank == 0:
    print(json.dumps(found))
