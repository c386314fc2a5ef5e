# SPDX-License-Identifier: Apache-2.0
"""Residual network on small images: groups of parameters, label smoothing, a fixed loss scale, Model with callbacks."""
import math
import os
import tempfile

import numpy as np

import mindspore as ms
import mindspore.common.dtype as mstype
import mindspore.dataset as ds
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor, context
from mindspore.common import set_seed
from mindspore.common.initializer import HeNormal, initializer
from mindspore.nn.loss.loss import LossBase
from mindspore.ops import functional as F
from mindspore.ops import operations as P
from mindspore.train.callback import CheckpointConfig, LossMonitor, ModelCheckpoint, TimeMonitor
from mindspore.train.loss_scale_manager import FixedLossScaleManager
from mindspore.train.model import Model
from mindspore.train.serialization import load_checkpoint, load_param_into_net

set_seed(1)
context.set_context(mode=context.PYNATIVE_MODE, device_target="CPU", save_graphs=False)
random = np.random.RandomState(3)


def _weight_variable(shape, factor=0.1):
    return Tensor(random.randn(*shape).astype(np.float32) * factor)


def _conv3x3(in_channel, out_channel, stride=1):
    weight = _weight_variable((out_channel, in_channel, 3, 3))
    return nn.Conv2d(in_channel, out_channel, kernel_size=3, stride=stride, padding=0, pad_mode='same', weight_init=weight)


def _conv1x1(in_channel, out_channel, stride=1):
    weight = _weight_variable((out_channel, in_channel, 1, 1))
    return nn.Conv2d(in_channel, out_channel, kernel_size=1, stride=stride, padding=0, pad_mode='same', weight_init=weight)


def _bn(channel):
    return nn.BatchNorm2d(channel, eps=1e-4, momentum=0.9, gamma_init=1, beta_init=0, moving_mean_init=0, moving_var_init=1)


class ResidualBlock(nn.Cell):
    expansion = 4

    def __init__(self, in_channel, out_channel, stride=1):
        super(ResidualBlock, self).__init__()
        self.stride = stride
        channel = out_channel // self.expansion
        self.conv1 = _conv1x1(in_channel, channel, stride=1)
        self.bn1 = _bn(channel)
        self.conv2 = _conv3x3(channel, channel, stride=stride)
        self.bn2 = _bn(channel)
        self.conv3 = _conv1x1(channel, out_channel, stride=1)
        self.bn3 = _bn(out_channel)
        self.relu = nn.ReLU()
        self.down_sample = False
        if stride != 1 or in_channel != out_channel:
            self.down_sample = True
        self.down_sample_layer = None
        if self.down_sample:
            self.down_sample_layer = nn.SequentialCell([_conv1x1(in_channel, out_channel, stride), _bn(out_channel)])

    def construct(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        if self.down_sample:
            identity = self.down_sample_layer(identity)
        out = out + identity
        return self.relu(out)


class ResNet(nn.Cell):
    def __init__(self, block, layer_nums, in_channels, out_channels, strides, num_classes):
        super(ResNet, self).__init__()
        if not len(layer_nums) == len(in_channels) == len(out_channels) == 2:
            raise ValueError("the length of layer_num, in_channels, out_channels list must be 2!")
        self.conv1 = nn.Conv2d(3, 8, 3, stride=1, pad_mode='pad', padding=1, weight_init=_weight_variable((8, 3, 3, 3)))
        self.bn1 = _bn(8)
        self.relu = P.ReLU()
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="same")
        self.layer1 = self._make_layer(block, layer_nums[0], in_channels[0], out_channels[0], strides[0])
        self.layer2 = self._make_layer(block, layer_nums[1], in_channels[1], out_channels[1], strides[1])
        self.mean = P.ReduceMean(keep_dims=True)
        self.flatten = nn.Flatten()
        self.end_point = nn.Dense(out_channels[1], num_classes, has_bias=True,
                                  weight_init=_weight_variable((num_classes, out_channels[1])), bias_init=0)

    def _make_layer(self, block, layer_num, in_channel, out_channel, stride):
        layers = [block(in_channel, out_channel, stride=stride)]
        for _ in range(1, layer_num):
            layers.append(block(out_channel, out_channel, stride=1))
        return nn.SequentialCell(layers)

    def construct(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        c1 = self.maxpool(x)
        c3 = self.layer2(self.layer1(c1))
        out = self.flatten(self.mean(c3, (2, 3)))
        return self.end_point(out)


class CrossEntropySmooth(LossBase):
    def __init__(self, sparse=True, reduction='mean', smooth_factor=0., num_classes=10):
        super(CrossEntropySmooth, self).__init__()
        self.onehot = P.OneHot()
        self.sparse = sparse
        self.on_value = Tensor(1.0 - smooth_factor, mstype.float32)
        self.off_value = Tensor(1.0 * smooth_factor / (num_classes - 1), mstype.float32)
        self.ce = nn.SoftmaxCrossEntropyWithLogits(reduction=reduction)

    def construct(self, logit, label):
        if self.sparse:
            label = self.onehot(label, F.shape(logit)[1], self.on_value, self.off_value)
        return self.ce(logit, label)


def get_lr(lr_init, lr_max, warmup, total):
    lr = []
    for i in range(total):
        lr.append(lr_init + (lr_max - lr_init) * i / warmup if i < warmup
                  else lr_max * 0.5 * (1 + math.cos(math.pi * (i - warmup) / (total - warmup))))
    return np.array(lr).astype(np.float32)


images = random.randn(24, 3, 16, 16).astype(np.float32)
labels = (images.mean((1, 2, 3)) > 0).astype(np.int32) + 1
dataset = ds.NumpySlicesDataset((images, labels), ["image", "label"], shuffle=False).batch(8, drop_remainder=True)
step_size = dataset.get_dataset_size()
net = ResNet(ResidualBlock, [2, 1], [8, 16], [16, 32], [1, 2], num_classes=4)
for _, cell in net.cells_and_names():
    if isinstance(cell, nn.Dense):
        cell.bias.set_data(initializer("zeros", cell.bias.shape, cell.bias.dtype))
    elif isinstance(cell, nn.Conv2d):
        fan = initializer(HeNormal(mode='fan_out', nonlinearity='relu'), cell.weight.shape, cell.weight.dtype)
        assert fan.shape == cell.weight.shape
decayed, no_decayed = [], []
for param in net.trainable_params():
    if 'beta' not in param.name and 'gamma' not in param.name and 'bias' not in param.name:
        decayed.append(param)
    else:
        no_decayed.append(param)
group_params = [{'params': decayed, 'weight_decay': 1e-4}, {'params': no_decayed}, {'order_params': net.trainable_params()}]
lr = Tensor(get_lr(0.001, 0.05, 2, 2 * step_size))
opt = nn.Momentum(group_params, lr, 0.9, loss_scale=128.0)
loss = CrossEntropySmooth(sparse=True, reduction="mean", smooth_factor=0.1, num_classes=4)
loss_scale = FixedLossScaleManager(128, drop_overflow_update=False)
model = Model(net, loss_fn=loss, optimizer=opt, loss_scale_manager=loss_scale, metrics={'acc', 'top_1_accuracy'}, amp_level="O0",
              keep_batchnorm_fp32=False)
with tempfile.TemporaryDirectory() as folder:
    config_ck = CheckpointConfig(save_checkpoint_steps=step_size, keep_checkpoint_max=1)
    ckpt_cb = ModelCheckpoint(prefix="resnet", directory=folder, config=config_ck)
    model.train(2, dataset, callbacks=[TimeMonitor(data_size=step_size), LossMonitor(), ckpt_cb], dataset_sink_mode=False)
    print(sorted(n for n in os.listdir(folder) if n.endswith(".ckpt")))
    param_dict = load_checkpoint(os.path.join(folder, "resnet-2_3.ckpt"))
    print(len(param_dict), load_param_into_net(net, param_dict))
result = model.eval(dataset, dataset_sink_mode=False)
print({k: round(float(v), 4) for k, v in sorted(result.items())})
print(net.bn1.moving_mean.asnumpy()[:4], net.end_point.bias)
