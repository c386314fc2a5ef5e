# SPDX-License-Identifier: Apache-2.0
"""ResNet-18, LSTM, GPT and dropout in data parallelism on the ranks of this job, in both modes. Prints, on rank 0, losses of the global batch and a digest of
the weights for each, as JSON. Arguments: number of steps, names of what to train (all if none)."""
import hashlib
import json
import sys

import numpy as np
from networks import Gpt, Lstm, resnet18

import spore as ms
from spore import Tensor, communication, nn, ops

STEPS, WANTED, BATCH = int(sys.argv[1]), sys.argv[2:], 16

communication.init()
RANK, SIZE = communication.get_rank(), communication.get_group_size()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)


def images(draw):
    x, y = draw.rand(BATCH, 1, 16, 16).astype(np.float32), draw.randint(0, 4, BATCH).astype(np.int32)
    for image, label in zip(x, y):
        image[0, :, 3 * label:3 * label + 3] += 1
    return x, y


def words(draw):
    x = draw.randint(0, 12, (BATCH, 6)).astype(np.int32)
    return x, (x[:, -1] % 4).astype(np.int32)


def text(draw):
    x = (draw.randint(0, 12, (BATCH, 1)) + np.arange(7)).astype(np.int32) % 12
    return x[:, :-1], x[:, 1:]


def dropped():
    return nn.SequentialCell(nn.Flatten(), nn.Dense(256, 64, activation="relu"), nn.Dropout(p=0.3), nn.Dense(64, 4))


class Loss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net, self.loss = net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, x, y):
        return self.loss(self.net(x), y.reshape((-1,)))


CASES = {"resnet18": (resnet18, images, 0.002), "lstm": (lambda: Lstm(None), words, 0.1), "gpt": (lambda: Gpt(None), text, 0.02),
         "dropout": (dropped, images, 0.05), "resnet18 other order": (resnet18, images, 0.002)}

report = {}
for name, (make, data, rate) in CASES.items():
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        if WANTED and name not in WANTED:
            continue
        ms.set_context(mode=mode)
        ms.set_seed(11 + RANK if name == "dropout" else 11)
        net = make()
        for k, p in enumerate(net.trainable_params()):
            if p.ndim > 1:
                p.set_data(Tensor(np.random.RandomState(k).normal(0, 1.4 / np.sqrt(p.size / p.shape[0]), p.shape).astype(np.float32)))
        step = nn.TrainOneStepCell(Loss(net), nn.Momentum(net.trainable_params(), rate, 0.0 if make is resnet18 else 0.9)).set_train()
        losses = []
        for i in range(STEPS):
            whole = data(np.random.RandomState(i % 4))
            if name.endswith("other order"):    # the same batch: what rounding alone does
                whole = [part[::-1].copy() for part in whole]
            share = BATCH // SIZE
            losses.append(step(*(Tensor(part[RANK * share:(RANK + 1) * share]) for part in whole)))
        losses = ops.AllReduce("avg")(Tensor(np.array([float(loss) for loss in losses], np.float64))).asnumpy().tolist()
        values = b"".join(p.asnumpy().tobytes() for p in net.get_parameters())
        digests = [None] * SIZE
        ms.mint.distributed.all_gather_object(digests, hashlib.sha256(values).hexdigest())
        assert len(set(digests)) == 1, f"{name}: ranks end with different weights"
        report[f"{name} {'eager' if mode == ms.PYNATIVE_MODE else 'graph'}"] = {"losses": losses, "digest": digests[0]}
if RANK == 0:
    print(json.dumps(report))
