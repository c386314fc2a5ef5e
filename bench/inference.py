# SPDX-License-Identifier: Apache-2.0
"""Networks that are only run, not trained, in MindSpore's API: the same text for spore and MindSpore.

    python bench/inference.py NAME BATCH FILE.onnx      with spore: writes the network for ONNX Runtime and OpenVINO

Imported by peer_spore.py, which has chosen what ``mindspore`` is."""
import sys

import numpy as np

if __name__ == "__main__":
    import spore
    spore.as_mindspore()
import mindspore as ms
from mindspore import nn, ops


class Inverted(nn.Cell):
    """MobileNetV2's block: widen, one filter a channel, narrow."""

    def __init__(self, inputs, outputs, stride, factor):
        super().__init__()
        width, layers = inputs * factor, []
        if factor != 1:
            layers += [nn.Conv2d(inputs, width, 1), nn.BatchNorm2d(width), nn.ReLU6()]
        layers += [nn.Conv2d(width, width, 3, stride=stride, pad_mode="pad", padding=1, group=width), nn.BatchNorm2d(width), nn.ReLU6(),
                   nn.Conv2d(width, outputs, 1), nn.BatchNorm2d(outputs)]
        self.body, self.adds = nn.SequentialCell(*layers), stride == 1 and inputs == outputs

    def construct(self, x):
        y = self.body(x)
        return x + y if self.adds else y


class MobileNetV2(nn.Cell):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 32, 3, stride=2, pad_mode="pad", padding=1), nn.BatchNorm2d(32), nn.ReLU6()]
        inputs = 32
        for factor, outputs, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                               (6, 320, 1, 1)):
            for i in range(count):
                layers.append(Inverted(inputs, outputs, stride if i == 0 else 1, factor))
                inputs = outputs
        layers += [nn.Conv2d(320, 1280, 1), nn.BatchNorm2d(1280), nn.ReLU6()]
        self.body, self.head = nn.SequentialCell(*layers), nn.Dense(1280, 1000)

    def construct(self, x):
        return self.head(self.body(x).mean((2, 3)))


class Layer(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value, self.out = (nn.Dense(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)

    def split(self, x):
        b, t, _ = x.shape
        return x.reshape(b, t, self.heads, self.size).transpose(0, 2, 1, 3)

    def construct(self, x):
        b, t, w = x.shape
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.softmax(ops.matmul(q, k.transpose(0, 1, 3, 2)) * (self.size ** -0.5), -1)
        mixed = ops.matmul(scores, v).transpose(0, 2, 1, 3).reshape(b, t, w)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(ops.gelu(self.up(x), approximate="none")))


class Bert(nn.Cell):
    """BERT-base without its heads."""

    def __init__(self, layers=12, width=768, heads=12, vocabulary=30522, length=512):
        super().__init__()
        self.words, self.norm = nn.Embedding(vocabulary, width), nn.LayerNorm((width,))
        self.places = ms.Parameter(ms.Tensor(np.random.RandomState(1).randn(length, width).astype(np.float32) * 0.02), name="places")
        self.layers = nn.CellList([Layer(width, heads) for _ in range(layers)])

    def construct(self, x):
        h = self.norm(self.words(x) + self.places[:x.shape[1]])
        for layer in self.layers:
            h = layer(h)
        return h


def resnet50():
    import models
    return models.ResNet50()


NETS = {"resnet50": resnet50, "mobilenetv2": MobileNetV2, "bert": Bert}


def make(name, batch):
    """The network in evaluation mode, and an input."""
    net = NETS[name]()
    net.set_train(False)
    rng = np.random.RandomState(0)
    if name == "bert":
        return net, ms.Tensor(rng.randint(0, 30522, (batch, 128)).astype(np.int32))
    return net, ms.Tensor(rng.rand(batch, 3, 224, 224).astype(np.float32))


if __name__ == "__main__":
    chosen, x = make(sys.argv[1], int(sys.argv[2]))
    ms.export(chosen, x, file_name=sys.argv[3], file_format="ONNX")
