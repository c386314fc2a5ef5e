# SPDX-License-Identifier: Apache-2.0
"""Networks trained in the stages of a pipeline by the ranks of this job; rank 0 prints losses and checkpoints' contents as JSON. Arguments: a folder, number of
steps, stages, names of what to train (all if none). On one rank there are no stages."""
import hashlib
import json
import os
import sys

import numpy as np
from networks import Gpt, LeNet, Lstm

import spore as ms
from spore import Tensor, communication as comm, nn, ops

comm.init()
rank, size = comm.get_rank(), comm.get_group_size()
FOLDER, STEPS, STAGES, WANTED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
os.makedirs(FOLDER, exist_ok=True)
os.chdir(FOLDER)
ROW = max(1, size // STAGES)  # ranks of a stage
MICRO, BATCH = 4, 16


def images(step):
    draw = np.random.RandomState(step)
    x, y = draw.rand(BATCH, 1, 16, 16).astype(np.float32), draw.randint(0, 4, BATCH).astype(np.int32)
    for image, label in zip(x, y):
        image[0, :, 3 * label:3 * label + 3] += 1
    return x, y


def words(step):
    draw = np.random.RandomState(step)
    x = draw.randint(0, 12, (BATCH, 6)).astype(np.int32)
    return x, (x[:, -1] % 4).astype(np.int32)


def text(step):
    draw = np.random.RandomState(step)
    x = (draw.randint(0, 12, (BATCH, 1)) + np.arange(7)).astype(np.int32) % 12
    return x[:, :-1], x[:, 1:]


class Loss(nn.Cell):
    def __init__(self):
        super().__init__()
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, logits, labels):
        return self.loss(logits, labels.reshape((-1,)))


def prepared(net):
    for k, p in enumerate(net.trainable_params()):
        draw = np.random.RandomState(k)
        scale = 1.0 if p.name.endswith(("gamma", "norm1.gamma")) else 0
        p.set_data(Tensor((scale + draw.normal(0, 0.3 if p.ndim > 1 else 0.05, p.shape)).astype(np.float32)))
    return net


def by_cell(net, data):
    """Model.train's way."""
    step = nn.TrainOneStepCell(nn.PipelineCell(nn.WithLossCell(net, Loss()), MICRO), nn.Adam(net.trainable_params(), 0.01))
    return step


def by_loop(net, data):
    """A step of one's own, with gradients clipped by their norm over all stages."""
    inner = nn.PipelineCell(nn.WithLossCell(net, Loss()), MICRO)
    optimizer = nn.Momentum(net.trainable_params(), 0.02, 0.9)
    gradient = ops.value_and_grad(inner, None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        loss, grads = gradient(x, y)
        grads = ops.clip_by_global_norm(grads, 2.0)
        return ops.depend(loss, optimizer(grads))
    return step


CASES = {  # network, data, step, scheduler, segments, parallel optimizer
    "lenet": (LeNet, images, by_cell, "1f1b", 1, False), "lstm": (Lstm, words, by_cell, "1f1b", 1, False), "gpt": (Gpt, text, by_loop, "1f1b", 1, False),
    "gpt gpipe": (Gpt, text, by_cell, "gpipe", 1, False), "gpt interleaved": (Gpt, text, by_cell, "1f1b", 2, False),
    "gpt recompute": (lambda stages: Gpt(stages, True), text, by_loop, "1f1b", 1, False), "gpt shared": (Gpt, text, by_loop, "1f1b", 1, True),
}

found = {}
for name, (make, data, how, scheduler, segments, share) in CASES.items():
    if WANTED and name not in WANTED:
        continue
    ms.reset_auto_parallel_context()
    ms.set_context(mode=ms.GRAPH_MODE)
    if size > 1:
        ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", pipeline_stages=STAGES, enable_parallel_optimizer=share,
                                     pipeline_config={"pipeline_interleave": segments > 1 or scheduler == "gpipe", "pipeline_scheduler": scheduler},
                                     parallel_optimizer_config={"parallel_optimizer_threshold": 0})
    net = prepared(make((STAGES, segments) if size > 1 else None))
    step = how(net, data)
    net.set_train()
    losses = []
    for k in range(STEPS):
        x, y = data(k)
        position = rank % ROW
        mine = slice(BATCH // ROW * position, BATCH // ROW * (position + 1))
        losses.append(float(step(Tensor(x[mine]), Tensor(y[mine])).asnumpy()))
    file = f"{name.replace(' ', '_')}_{rank}.ckpt"
    ms.save_checkpoint(net, file)
    kept = ms.load_checkpoint(file)
    found[name] = {"losses": losses, "weights": {n: float(np.abs(p.asnumpy().astype(np.float64)).sum()) for n, p in kept.items()},
                   "digest": hashlib.sha256(b"".join(kept[n].asnumpy().tobytes() for n in sorted(kept))).hexdigest()}
    every = [None] * size
    ms.mint.distributed.all_gather_object(every, found[name])
    assert all(one == every[0] for one in every), f"{name}: ranks end with different losses or checkpoints"
if rank == 0:
    print(json.dumps(found))
