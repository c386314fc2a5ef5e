# SPDX-License-Identifier: Apache-2.0
"""A network whose strategies are searched for, trained on the ranks of a job; rank 0 prints losses, slices and what explain tells. Alone it is whole."""
import json

import numpy as np

import spore as ms
from spore import Tensor, communication as comm, nn
from spore.parallel.auto_parallel import AutoParallel

comm.init()
rank, size = comm.get_rank(), comm.get_group_size()
ms.set_context(mode=ms.GRAPH_MODE)


def train(mode, data):
    ms.set_seed(3)
    net = nn.SequentialCell(nn.Dense(64, 2048), nn.ReLU(), nn.Dense(2048, 2048), nn.ReLU(), nn.Dense(2048, 8))
    if mode == "dynamic_programming":       # has no name in AutoParallel
        ms.set_auto_parallel_context(parallel_mode="auto_parallel", search_mode=mode)
    elif mode:
        AutoParallel(net, mode)
    if mode:
        ms.set_auto_parallel_context(dataset_strategy=data)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")),
                               nn.Adam(net.trainable_params(), 0.001))
    drawn, losses = np.random.RandomState(0), []
    for _ in range(6):
        x, y = drawn.rand(16, 64).astype(np.float32), drawn.randint(0, 8, 16).astype(np.int32)
        mine = slice(None) if data == "full_batch" else slice(16 // size * rank, 16 // size * (rank + 1))
        losses.append(float(step(Tensor(x[mine]), Tensor(y[mine])).asnumpy()))
    return {"losses": losses, "shapes": {p.name: list(p.asnumpy().shape) for p in net.trainable_params() if p.ndim == 2}}


found = {}
for mode in ("recursive_programming", "dynamic_programming", "sharding_propagation") if size > 1 else (None,):
    for data in ("full_batch", "data_parallel"):
        try:
            found[f"{mode}, {data}"] = train(mode, data)
        except RuntimeError as error:
            found[f"{mode}, {data}"] = str(error).splitlines()[0]
if rank == 0:
    print(json.dumps(found))
