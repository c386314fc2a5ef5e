# SPDX-License-Identifier: Apache-2.0
"""Segmentation: encoder and decoder with skips, dice loss, class weights, a metric of its own, Model.eval."""
import numpy as np

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor
from mindspore.dataset import GeneratorDataset
from mindspore.train import LossMonitor, Metric, Model


def conv_bn(i, o):
    return nn.SequentialCell([nn.Conv2d(i, o, 3, padding=1, pad_mode="pad", has_bias=True), nn.BatchNorm2d(o), nn.ReLU(),
                              nn.Conv2d(o, o, 3, padding=1, pad_mode="pad"), nn.BatchNorm2d(o), nn.ReLU()])


class Up(nn.Cell):
    def __init__(self, i, o, bilinear=False):
        super().__init__()
        self.bilinear = bilinear
        self.up = nn.Conv2dTranspose(i, o, kernel_size=2, stride=2, pad_mode="same")
        self.reduce = nn.Conv2d(i, o, 1)
        self.conv = conv_bn(2 * o, o)

    def construct(self, x, skip):
        if self.bilinear:
            x = self.reduce(ops.interpolate(x, size=skip.shape[2:], mode="bilinear", align_corners=True))
        else:
            x = self.up(x)
        return self.conv(ops.concat([skip, x], axis=1))


class UNet(nn.Cell):
    def __init__(self, n_channels=1, n_classes=2):
        super().__init__()
        self.inc, self.down1, self.down2 = conv_bn(n_channels, 4), conv_bn(4, 8), conv_bn(8, 16)
        self.pool = nn.MaxPool2d(2, 2)
        self.up1, self.up2 = Up(16, 8), Up(8, 4, bilinear=True)
        self.out = nn.Conv2d(4, n_classes, 1, has_bias=True)

    def construct(self, x):
        a = self.inc(x)
        b = self.down1(self.pool(a))
        c = self.down2(self.pool(b))
        return self.out(self.up2(self.up1(c, b), a))


class MyLoss(nn.LossBase):
    def __init__(self, reduction="mean", weight=None):
        super().__init__(reduction)
        self.ce = nn.CrossEntropyLoss(weight=weight)
        self.dice = nn.DiceLoss(smooth=1e-5)
        self.softmax = nn.Softmax(axis=1)

    def construct(self, logits, label):
        loss = self.ce(logits, label)
        probs = self.softmax(logits)[:, 1]
        return loss + self.dice(probs, label.astype(ms.float32))


class DiceCoefficient(Metric):
    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self._sum, self._n = 0.0, 0

    def update(self, *inputs):
        if len(inputs) != 2:
            raise ValueError("two inputs are wanted")
        y_pred, y = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        pred = y_pred.argmax(1)
        self._sum += 2.0 * (pred * y).sum() / ((pred + y).sum() + 1e-6)
        self._n += 1

    def eval(self):
        if self._n == 0:
            raise RuntimeError("no samples")
        return self._sum / self._n


class Blobs:
    def __init__(self, n):
        random = np.random.RandomState(1)
        yy, xx = np.mgrid[:16, :16]
        centres = random.randint(4, 12, (n, 2))
        self.masks = np.stack([((yy - a) ** 2 + (xx - b) ** 2 < 12) for a, b in centres]).astype(np.int32)
        self.images = (self.masks[:, None] + random.randn(n, 1, 16, 16) * 0.3).astype(np.float32)

    def __getitem__(self, i):
        return self.images[i], self.masks[i]

    def __len__(self):
        return len(self.images)


random = np.random.RandomState(2)
net = UNet()
for p in net.trainable_params():
    if p.ndim > 1:
        p.set_data(Tensor(random.normal(0, 0.2, p.shape).astype(np.float32)))
    elif p.name.endswith("bias"):
        p.set_data(Tensor(np.zeros(p.shape, np.float32)))
dataset = GeneratorDataset(Blobs(8), ["image", "mask"], shuffle=False).batch(4)
loss = MyLoss(weight=Tensor([0.3, 0.7], ms.float32))
model = Model(net, loss, nn.RMSProp(net.trainable_params(), 0.01, decay=0.9), metrics={"dice": DiceCoefficient()})
model.train(3, dataset, callbacks=[LossMonitor(2)], dataset_sink_mode=False)
print({k: round(float(v), 3) for k, v in model.eval(dataset, dataset_sink_mode=False).items()})
print(model.predict(Tensor(Blobs(8).images[:1])).shape)
print([name for name, _ in net.up1.cells_and_names()])
