# SPDX-License-Identifier: Apache-2.0
"""LeNet on MNIST for a seed: initial weights, the order of the rows and every loss are MindSpore's.

    lenet_losses.py FOLDER     the folder holds the four uncompressed MNIST files
"""
import argparse

import mindspore as ms
from mindspore import nn
from mindspore.common.initializer import Normal
from mindspore.dataset import MnistDataset, transforms, vision
from mindspore.train import LossMonitor, Model

parser = argparse.ArgumentParser(description="LeNet")
parser.add_argument("folder")
parser.add_argument("--device_target", default="CPU", choices=["Ascend", "GPU", "CPU"])
args = parser.parse_args()
ms.set_context(mode=ms.GRAPH_MODE, device_target=args.device_target)
ms.set_seed(1)


class LeNet5(nn.Cell):
    def __init__(self, num_class=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="same")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu = nn.ReLU()
        self.max_pool2d = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 5 * 5, 120, weight_init=Normal(0.02))
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, num_class)

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.max_pool2d(self.relu(self.conv2(x)))
        x = self.relu(self.fc1(self.flatten(x)))
        return self.fc3(self.relu(self.fc2(x)))


def create_dataset(usage, batch_size):
    data = MnistDataset(args.folder, usage)
    data = data.map([vision.Rescale(1 / 255.0, 0), vision.Normalize((0.1307,), (0.3081,)), vision.HWC2CHW()], "image")
    data = data.map(transforms.TypeCast(ms.int32), "label")
    return data.shuffle(1000).batch(batch_size, drop_remainder=True)


network = LeNet5()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Momentum(network.trainable_params(), 0.02, 0.9)
model = Model(network, loss, optimizer, metrics={"accuracy"})
model.train(1, create_dataset("train", 16).take(60), callbacks=[LossMonitor(1)], dataset_sink_mode=False)
print(model.eval(create_dataset("test", 50).take(4), dataset_sink_mode=False)["accuracy"] > 0.5)
