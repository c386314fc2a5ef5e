# SPDX-License-Identifier: Apache-2.0
"""Inverted residuals: depthwise convolution, frozen backbone, features cached, a head trained with TrainOneStepCell."""
import numpy as np

import mindspore.nn as nn
import mindspore as ms
from mindspore import Tensor, ops
from mindspore.nn.wrap.cell_wrapper import TrainOneStepCell, WithLossCell
from mindspore.common.initializer import Normal, initializer

ms.set_context(mode=ms.PYNATIVE_MODE)
random = np.random.RandomState(7)


def _make_divisible(v, divisor, min_value=None):
    if min_value is None:
        min_value = divisor
    new_v = max(min_value, int(v + divisor / 2) // divisor * divisor)
    if new_v < 0.9 * v:
        new_v += divisor
    return new_v


class GlobalAvgPooling(nn.Cell):
    def construct(self, x):
        return ops.mean(x, (2, 3))


class ConvBNReLU(nn.Cell):
    def __init__(self, in_planes, out_planes, kernel_size=3, stride=1, groups=1):
        super().__init__()
        padding = (kernel_size - 1) // 2
        if groups == 1:
            conv = nn.Conv2d(in_planes, out_planes, kernel_size, stride, pad_mode='pad', padding=padding)
        else:
            out_planes = in_planes
            conv = nn.Conv2d(in_planes, out_planes, kernel_size, stride, pad_mode='pad', padding=padding, group=in_planes)
        self.features = nn.SequentialCell([conv, nn.BatchNorm2d(out_planes), nn.ReLU6()])

    def construct(self, x):
        return self.features(x)


class InvertedResidual(nn.Cell):
    def __init__(self, inp, oup, stride, expand_ratio):
        super().__init__()
        assert stride in [1, 2]
        hidden_dim = int(round(inp * expand_ratio))
        self.use_res_connect = stride == 1 and inp == oup
        layers = []
        if expand_ratio != 1:
            layers.append(ConvBNReLU(inp, hidden_dim, kernel_size=1))
        layers.extend([
            ConvBNReLU(hidden_dim, hidden_dim, stride=stride, groups=hidden_dim),
            nn.Conv2d(hidden_dim, oup, kernel_size=1, stride=1, has_bias=False),
            nn.BatchNorm2d(oup),
        ])
        self.conv = nn.SequentialCell(layers)
        self.cast = ops.Cast()

    def construct(self, x):
        identity = x
        x = self.conv(x)
        if self.use_res_connect:
            return ops.add(identity, x)
        return x


class Backbone(nn.Cell):
    def __init__(self, width_mult=0.25, round_nearest=8, last=32):
        super().__init__()
        input_channel = _make_divisible(32 * width_mult, round_nearest)
        features = [ConvBNReLU(3, input_channel, stride=2)]
        for t, c, n, s in [[1, 16, 1, 1], [6, 24, 2, 2], [6, 32, 1, 2]]:
            output_channel = _make_divisible(c * width_mult, round_nearest)
            for i in range(n):
                features.append(InvertedResidual(input_channel, output_channel, s if i == 0 else 1, expand_ratio=t))
                input_channel = output_channel
        features.append(ConvBNReLU(input_channel, last, kernel_size=1))
        self.features = nn.SequentialCell(features)
        self._initialize_weights()

    def _initialize_weights(self):
        self.init_parameters_data()
        for _, m in self.cells_and_names():
            if isinstance(m, nn.Conv2d):
                n = m.kernel_size[0] * m.kernel_size[1] * m.out_channels
                m.weight.set_data(Tensor(random.normal(0, np.sqrt(2. / n), m.weight.data.shape).astype("float32")))
                if m.bias is not None:
                    m.bias.set_data(Tensor(np.zeros(m.bias.data.shape, dtype="float32")))
            elif isinstance(m, nn.BatchNorm2d):
                m.gamma.set_data(Tensor(np.ones(m.gamma.data.shape, dtype="float32")))
                m.beta.set_data(Tensor(np.zeros(m.beta.data.shape, dtype="float32")))

    def construct(self, x):
        return self.features(x)

    @property
    def get_features(self):
        return self.features


class Head(nn.Cell):
    def __init__(self, input_channel=32, num_classes=5, activation="None"):
        super().__init__()
        self.head = nn.SequentialCell([GlobalAvgPooling(), nn.Dense(input_channel, num_classes, has_bias=True)])
        self.need_activation = True
        if activation == "Sigmoid":
            self.activation = ops.Sigmoid()
        elif activation == "Softmax":
            self.activation = ops.Softmax()
        else:
            self.need_activation = False
        self.head[1].weight.set_data(Tensor(random.normal(0, 0.01, self.head[1].weight.data.shape).astype("float32")))
        self.head[1].bias.set_data(initializer("zeros", self.head[1].bias.shape))

    def construct(self, x):
        x = self.head(x)
        if self.need_activation:
            x = self.activation(x)
        return x


backbone, head = Backbone(), Head()
print(len(backbone.trainable_params()), sum(int(np.prod(p.shape)) for p in backbone.get_parameters()))
for param in backbone.get_parameters():
    param.requires_grad = False
backbone.set_train(False)
images = Tensor(random.randn(6, 3, 32, 32).astype(np.float32))
labels = Tensor(np.array([0, 1, 2, 3, 4, 0], np.int32))
features = backbone(images)
print(features.shape, float(features.mean()), float(features.max()))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')
opt = nn.Momentum(filter(lambda x: x.requires_grad, head.get_parameters()), 0.5, 0.9, 4e-5, 1024)
network = TrainOneStepCell(WithLossCell(head, loss), opt, sens=1024)
network.set_train()
for i in range(5):
    print(i, network(features, labels))
print([p.name for p in opt.parameters], opt.loss_scale, opt.weight_decay)
print([type(cell).__name__ for cell in backbone.features[1].conv])
