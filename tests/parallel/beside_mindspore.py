# SPDX-License-Identifier: Apache-2.0
"""LeNet in data parallelism on two processes, for MindSpore's own msrun and for ours: `msrun --worker_num=2 --local_worker_num=2 --join=True
--log_dir=logs beside_mindspore.py`. beside_mindspore_2.10.json has what MindSpore 2.10 printed, by rank and step."""
import numpy as np
import mindspore as ms
from mindspore import nn, Tensor
from mindspore.communication.management import init, get_rank, get_group_size

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
init()
rank, size = get_rank(), get_group_size()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, device_num=size)


class LeNet5(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
        self.fc1, self.fc2, self.fc3 = nn.Dense(256, 120), nn.Dense(120, 84), nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.flatten(x)
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


net = LeNet5()
for k, p in enumerate(net.trainable_params()):
    p.set_data(Tensor(np.random.RandomState(k).normal(0, 1.4 / np.sqrt(p.size / p.shape[0]), p.shape).astype(np.float32)))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9))
step.set_train()
for i in range(10):
    draw = np.random.RandomState(1000 + 2 * i + rank)
    y = draw.randint(0, 10, 16).astype(np.int32)
    x = draw.rand(16, 1, 28, 28).astype(np.float32)
    for image, label in zip(x, y):
        image[0, :, 2 * label + 2:2 * label + 6] += 1
    print(f"rank {rank} step {i} loss {float(step(Tensor(x), Tensor(y)).asnumpy()):.7f}", flush=True)
