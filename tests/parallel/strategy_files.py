# SPDX-License-Identifier: Apache-2.0
"""A network trained in slices on the ranks of a job: strategy files and sliced checkpoints written, then read by a network that names none."""
import json
import sys
from pathlib import Path

import numpy as np

import spore as ms
from spore import Parameter, Tensor, communication as comm, nn, ops, parallel

comm.init()
rank, size = comm.get_rank(), comm.get_group_size()
folder = Path(sys.argv[1])
ms.set_context(mode=ms.GRAPH_MODE)
WAYS = {2: (((1, 1), (1, 2)), ((1, 2), (2, 1))), 4: (((2, 1), (1, 2)), ((2, 2), (2, 1)))}


class Net(nn.Cell):
    """Two MatMuls."""

    def __init__(self, ways):
        super().__init__()
        made = np.random.RandomState(1)
        self.w1 = Parameter(Tensor(made.randn(8, 16).astype(np.float32)), "w1")
        self.w2 = Parameter(Tensor(made.randn(16, 4).astype(np.float32)), "w2")
        self.first, self.second, self.relu = ops.MatMul(), ops.MatMul(), ops.ReLU()
        if ways:
            self.first.shard(ways[0])
            self.second.shard(ways[1])

    def construct(self, x):
        return self.second(self.relu(self.first(x, self.w1)), self.w2)


def train(net, steps):
    """Losses."""
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    data = np.random.RandomState(5)
    batches = [(data.randn(8, 8).astype(np.float32), data.randn(8, 4).astype(np.float32)) for _ in range(steps)]
    return [float(step(Tensor(x), Tensor(y)).asnumpy()) for x, y in batches]


files = [folder / f"way{rank}.ckpt", folder / f"way{rank}.json"]
ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy="full_batch", strategy_ckpt_config={"save_file": str(files[0])})
net = Net(WAYS[size])
losses = train(net, 3)
ms.set_auto_parallel_context(strategy_ckpt_config={"save_file": str(files[1])})
train(net, 1)
assert parallel.build_searched_strategy(str(files[0])) == parallel.build_searched_strategy(str(files[1]))
(folder / "sliced" / f"rank_{rank}").mkdir(parents=True, exist_ok=True)
ms.save_checkpoint(net, str(folder / "sliced" / f"rank_{rank}" / "net.ckpt"), integrated_save=False)
ms.save_checkpoint(net, str(folder / "whole.ckpt"))
comm.comm_func.barrier()
assert Path(files[0]).read_bytes() == (folder / "way0.ckpt").read_bytes()

# A network without strategies follows the file.
again = Net(None)
ms.set_auto_parallel_context(strategy_ckpt_config={"load_file": str(files[rank % 2])})
second = train(again, 3)
shapes = {p.name: list(p.asnumpy().shape) for p in again.trainable_params()}
assert shapes == {p.name: list(p.asnumpy().shape) for p in net.trainable_params()}, shapes
parallel.load_distributed_checkpoint(again, [str(folder / "sliced" / f"rank_{r}" / "net.ckpt") for r in range(size)], None, str(files[0]))
kept = ms.load_checkpoint(str(folder / "whole.ckpt"))
assert all(np.array_equal(p.asnumpy(), q.asnumpy()) for p, q in zip(again.trainable_params(), net.trainable_params(), strict=True))

if rank == 0:
    parallel.transform_checkpoints(str(folder / "sliced"), str(folder / "one"), "net", str(files[0]), None)
    one = ms.load_checkpoint(str(folder / "one" / "rank_0" / "net0.ckpt"))
    assert all(np.array_equal(one[name].asnumpy(), kept[name].asnumpy()) for name in ("w1", "w2"))
    print(json.dumps({"losses": losses, "again": second, "shapes": shapes}))
