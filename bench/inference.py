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


class PreNorm(Layer):
    """A layer that normalises before each of its halves, as vision transformers do."""

    def construct(self, x):
        b, t, w = x.shape
        y = self.norm1(x)
        q, k, v = self.split(self.query(y)), self.split(self.key(y)), self.split(self.value(y))
        scores = ops.softmax(ops.matmul(q, k.transpose(0, 1, 3, 2)) * (self.size ** -0.5), -1)
        x = x + self.out(ops.matmul(scores, v).transpose(0, 2, 1, 3).reshape(b, t, w))
        return x + self.down(ops.gelu(self.up(self.norm2(x)), approximate="none"))


class ViT(nn.Cell):
    """ViT-B/16 for images of 224 x 224."""

    def __init__(self, layers=12, width=768, heads=12, patch=16, size=224):
        super().__init__()
        self.width, self.patches = width, nn.Conv2d(3, width, patch, stride=patch, pad_mode="valid", has_bias=True)
        rng = np.random.RandomState(1)
        self.token = ms.Parameter(ms.Tensor(rng.randn(1, 1, width).astype(np.float32) * 0.02), name="token")
        self.places = ms.Parameter(ms.Tensor(rng.randn(1, (size // patch) ** 2 + 1, width).astype(np.float32) * 0.02), name="places")
        self.layers = nn.CellList([PreNorm(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm((width,)), nn.Dense(width, 1000)

    def construct(self, x):
        b = x.shape[0]
        h = self.patches(x).reshape(b, self.width, -1).transpose(0, 2, 1)
        h = ops.concat((ops.broadcast_to(self.token, (b, 1, self.width)), h), 1) + self.places
        for layer in self.layers:
            h = layer(h)
        return self.head(self.norm(h)[:, 0])


def conv_silu(inputs, outputs, kernel=1, stride=1, group=1):
    return nn.SequentialCell(nn.Conv2d(inputs, outputs, kernel, stride=stride, pad_mode="pad", padding=kernel // 2, group=group), nn.BatchNorm2d(outputs), nn.SiLU())


class Split(nn.Cell):
    """YOLOv8's C2f: half of the channels go through a chain of 3x3 layers, and all of its steps are joined."""

    def __init__(self, inputs, outputs, count, adds):
        super().__init__()
        self.half, self.adds = outputs // 2, adds
        self.enter, self.leave = conv_silu(inputs, outputs), conv_silu((2 + count) * self.half, outputs)
        self.chain = nn.CellList([nn.SequentialCell(conv_silu(self.half, self.half, 3), conv_silu(self.half, self.half, 3)) for _ in range(count)])

    def construct(self, x):
        y = self.enter(x)
        parts = [y[:, :self.half], y[:, self.half:]]
        for step in self.chain:
            z = step(parts[-1])
            parts.append(parts[-1] + z if self.adds else z)
        return self.leave(ops.concat(parts, 1))


class YOLO(nn.Cell):
    """The shapes of YOLOv8n: backbone, two ways through the pyramid, heads of boxes and classes at three scales."""

    def __init__(self, classes=80):
        super().__init__()
        self.stem = nn.SequentialCell(conv_silu(3, 16, 3, 2), conv_silu(16, 32, 3, 2), Split(32, 32, 1, True))
        self.p3 = nn.SequentialCell(conv_silu(32, 64, 3, 2), Split(64, 64, 2, True))
        self.p4 = nn.SequentialCell(conv_silu(64, 128, 3, 2), Split(128, 128, 2, True))
        self.p5 = nn.SequentialCell(conv_silu(128, 256, 3, 2), Split(256, 256, 1, True))
        self.enter, self.leave, self.pool = conv_silu(256, 128), conv_silu(512, 256), nn.MaxPool2d(5, 1, pad_mode="same")
        self.up4, self.up3 = Split(384, 128, 1, False), Split(192, 64, 1, False)
        self.down4, self.down5 = conv_silu(64, 64, 3, 2), conv_silu(128, 128, 3, 2)
        self.out4, self.out5 = Split(192, 128, 1, False), Split(384, 256, 1, False)
        self.boxes = nn.CellList([self.branch(width, 64, 64) for width in (64, 128, 256)])
        self.kinds = nn.CellList([self.branch(width, 80, classes) for width in (64, 128, 256)])

    def branch(self, inputs, width, outputs):
        return nn.SequentialCell(conv_silu(inputs, width, 3), conv_silu(width, width, 3), nn.Conv2d(width, outputs, 1, has_bias=True))

    def pooled(self, x):
        x = self.enter(x)
        one = self.pool(x)
        two = self.pool(one)
        return self.leave(ops.concat((x, one, two, self.pool(two)), 1))

    def double(self, x):
        b, c, h, w = x.shape
        return ops.broadcast_to(x.reshape(b, c, h, 1, w, 1), (b, c, h, 2, w, 2)).reshape(b, c, 2 * h, 2 * w)

    def construct(self, x):
        third = self.p3(self.stem(x))
        fourth = self.p4(third)
        fifth = self.pooled(self.p5(fourth))
        middle = self.up4(ops.concat((self.double(fifth), fourth), 1))
        fine = self.up3(ops.concat((self.double(middle), third), 1))
        middle = self.out4(ops.concat((self.down4(fine), middle), 1))
        coarse = self.out5(ops.concat((self.down5(middle), fifth), 1))
        found = []
        for scale, boxes, kinds in zip((fine, middle, coarse), self.boxes, self.kinds):
            y = ops.concat((boxes(scale), kinds(scale)), 1)
            found.append(y.reshape(y.shape[0], y.shape[1], -1))
        y = ops.concat(found, 2)
        box = ops.softmax(y[:, :64].reshape(y.shape[0], 4, 16, -1), 2)
        return ops.concat((box.mean(2), ops.sigmoid(y[:, 64:])), 1)


class Reader(nn.Cell):
    """A recogniser of lines of text, 48 x 320: thin depthwise convolutions with hard swish, two layers of attention, 6,625 characters a column."""

    def __init__(self, letters=6625):
        super().__init__()
        layers = [nn.Conv2d(3, 16, 3, stride=2, pad_mode="pad", padding=1), nn.BatchNorm2d(16), nn.HSwish()]
        inputs = 16
        for outputs, kernel, stride in ((32, 3, 1), (64, 3, (2, 1)), (64, 3, 1), (128, 3, (2, 1)), (128, 3, 1), (240, 5, (1, 2)), (240, 5, 1), (240, 5, 1), (480, 5, (2, 1)), (480, 5, 1)):
            layers += [nn.Conv2d(inputs, inputs, kernel, stride=stride, pad_mode="pad", padding=kernel // 2, group=inputs), nn.BatchNorm2d(inputs), nn.HSwish(),
                       nn.Conv2d(inputs, outputs, 1), nn.BatchNorm2d(outputs), nn.HSwish()]
            inputs = outputs
        self.body, self.narrow = nn.SequentialCell(*layers), conv_silu(480, 120)
        self.layers, self.norm, self.head = nn.CellList([PreNorm(120, 8) for _ in range(2)]), nn.LayerNorm((120,)), nn.Dense(120, letters)

    def construct(self, x):
        y = self.narrow(self.body(x).mean(2, True))
        y = y.reshape(y.shape[0], 120, -1).transpose(0, 2, 1)
        for layer in self.layers:
            y = layer(y)
        return ops.softmax(self.head(self.norm(y)), -1)


def resnet50():
    import models
    return models.ResNet50()


NETS = {"resnet50": resnet50, "mobilenetv2": MobileNetV2, "bert": Bert, "vit": ViT, "yolo": YOLO, "ocr": Reader}


def make(name, batch):
    """The network in evaluation mode, and an input."""
    from inference_data import data
    net = NETS[name]()
    net.set_train(False)
    return net, ms.Tensor(data(name, batch))


if __name__ == "__main__":
    chosen, x = make(sys.argv[1], int(sys.argv[2]))
    ms.export(chosen, x, file_name=sys.argv[3], file_format="ONNX")
