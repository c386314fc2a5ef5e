# SPDX-License-Identifier: Apache-2.0
"""A GPT whose optimizer states are more than half of the memory that a process may have (RLIMIT_DATA), trained for some steps. Prints losses on rank 0. Arguments:
limit in MiB (0: none), level of sharing ("whole": none), parallel mode."""
import json
import resource
import sys

import numpy as np

import spore as ms
from spore import Parameter, Tensor, communication as comm, nn, ops

LIMIT, LEVEL, MODE = int(sys.argv[1]), sys.argv[2], sys.argv[3]
WIDTH, LAYERS, WORDS, LENGTH, BATCH = 512, 12, 4096, 16, 4
comm.init()
rank, size = comm.get_rank(), comm.get_group_size()
ms.set_context(mode=ms.GRAPH_MODE)
if size > 1:
    ms.set_auto_parallel_context(parallel_mode=MODE, gradients_mean=True, enable_parallel_optimizer=LEVEL != "whole",
                                 optimizer_level=LEVEL if LEVEL != "whole" else "level1")


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((WIDTH,)), nn.LayerNorm((WIDTH,))
        self.qkv, self.out, self.up, self.down = nn.Dense(WIDTH, 3 * WIDTH), nn.Dense(WIDTH, WIDTH), nn.Dense(WIDTH, 4 * WIDTH), nn.Dense(4 * WIDTH, WIDTH)
        self.mask = Tensor(np.triu(np.full((LENGTH, LENGTH), -1e9, np.float32), 1))

    def construct(self, x):
        b, t, c = x.shape
        q, k, v = [part.reshape((b, t, 8, c // 8)).transpose(0, 2, 1, 3) for part in ops.split(self.qkv(self.norm1(x)), c, 2)]
        weights = ops.softmax(ops.matmul(q, k.transpose(0, 1, 3, 2)) / float(np.sqrt(c // 8)) + self.mask, -1)
        x = x + self.out(ops.matmul(weights, v).transpose(0, 2, 1, 3).reshape((b, t, c)))
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


class Gpt(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = Parameter(Tensor(np.random.RandomState(1).normal(0, 0.02, (WORDS, WIDTH)).astype(np.float32)), name="table")
        self.blocks, self.norm = nn.CellList([Block() for _ in range(LAYERS)]), nn.LayerNorm((WIDTH,))
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, x, y):
        h = ops.gather(self.table, x, 0)
        for block in self.blocks:
            h = block(h)
        return self.loss(ops.matmul(self.norm(h).reshape((-1, WIDTH)), self.table.transpose(1, 0)), y.reshape((-1,)))


if LIMIT:
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT << 20, LIMIT << 20))
ms.set_seed(1)
net = Gpt()
optimizer = nn.Adam(net.trainable_params(), 1e-3)
step = nn.TrainOneStepCell(net, optimizer)
net.set_train()
text = (np.arange(BATCH)[:, None] * 7 + np.arange(LENGTH + 1)) % 50
mine = slice(BATCH // size * rank, BATCH // size * (rank + 1))
losses = [float(step(Tensor(text[mine, :-1].astype(np.int32)), Tensor(text[mine, 1:].astype(np.int32))).asnumpy()) for _ in range(4)]
if rank == 0:
    parameters = sum(p.size * 4 for p in net.trainable_params())
    with open("/proc/self/status", encoding="ascii") as file:
        kib = {line.split(":")[0]: int(line.split()[1]) for line in file if line.startswith(("VmData", "VmHWM", "VmPeak"))}
    print(json.dumps({"losses": losses, "states_mib": 2 * parameters / 2 ** 20, **kib}))
