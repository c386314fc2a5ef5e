# SPDX-License-Identifier: Apache-2.0
"""A detector of two scales with a training step of its own: loss first, then GradOperation of the same call."""
import numpy as np

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.ops import composite as C
from mindspore.ops import functional as F
from mindspore.ops import operations as P

ms.set_seed(1)


def conv_block(in_channels, out_channels, kernel_size, stride):
    return nn.SequentialCell([
        nn.Conv2d(in_channels, out_channels, kernel_size, stride, pad_mode="pad", padding=kernel_size // 2),
        nn.BatchNorm2d(out_channels, momentum=0.9), nn.ReLU()])


class DetectionBlock(nn.Cell):
    """What the last layer says, as boxes relative to the image."""

    def __init__(self, anchors):
        super().__init__()
        self.anchors = Tensor(anchors, ms.float32)
        self.sigmoid = nn.Sigmoid()
        self.reshape, self.tile, self.concat = P.Reshape(), P.Tile(), P.Concat(axis=-1)

    def construct(self, x, input_shape):
        batch = P.Shape()(x)[0]
        size = P.Shape()(x)[2:4]
        prediction = P.Transpose()(self.reshape(x, (batch, 2, 7, size[0], size[1])), (0, 3, 4, 1, 2))
        grid_x = P.Cast()(F.tuple_to_array(range(size[1])), ms.float32)
        grid_y = P.Cast()(F.tuple_to_array(range(size[0])), ms.float32)
        grid_x = self.tile(self.reshape(grid_x, (1, 1, -1, 1, 1)), (1, size[0], 1, 1, 1))
        grid_y = self.tile(self.reshape(grid_y, (1, -1, 1, 1, 1)), (1, 1, size[1], 1, 1))
        grid = self.concat((grid_x, grid_y))
        cells = P.Cast()(F.tuple_to_array((size[1], size[0])), ms.float32)
        box_xy = (self.sigmoid(prediction[:, :, :, :, :2]) + grid) / cells
        box_wh = P.Exp()(prediction[:, :, :, :, 2:4]) * self.anchors / input_shape
        return prediction, box_xy, box_wh


class Detector(nn.Cell):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = conv_block(3, 8, 3, 4), conv_block(8, 16, 3, 2)
        self.large, self.lateral = nn.Conv2d(16, 14, 1, has_bias=True), conv_block(16, 8, 1, 1)
        self.small = nn.Conv2d(16, 14, 1, has_bias=True)
        self.concat = P.Concat(axis=1)
        self.boxes = nn.CellList([DetectionBlock([[30, 61], [62, 45]]), DetectionBlock([[10, 13], [16, 30]])])

    def construct(self, x, input_shape):
        fine = self.down1(x)
        coarse = self.down2(fine)
        size = P.Shape()(fine)[2:4]
        up = P.ResizeNearestNeighbor((size[0], size[1]))(self.lateral(coarse))
        return self.boxes[0](self.large(coarse), input_shape), self.boxes[1](self.small(self.concat((up, fine))), input_shape)


class LossBlock(nn.Cell):
    def __init__(self):
        super().__init__()
        self.cross_entropy = P.SigmoidCrossEntropyWithLogits()
        self.sum = P.ReduceSum()

    def construct(self, prediction, box_xy, box_wh, target):
        there = target[:, :, :, :, 4:5]
        wh = P.Select()(P.Equal()(target[:, :, :, :, 2:4], 0.0), P.OnesLike()(box_wh), target[:, :, :, :, 2:4])
        place = self.sum(there * P.Square()(box_xy - target[:, :, :, :, :2]), ())
        size = self.sum(there * P.Square()(P.Log()(box_wh) - P.Log()(wh)), ())
        sure = self.cross_entropy(prediction[:, :, :, :, 4:5], there)
        missed = F.stop_gradient(P.Cast()(box_wh[:, :, :, :, 0:1] < 2.0, ms.float32))
        classes = self.sum(there * self.cross_entropy(prediction[:, :, :, :, 5:], target[:, :, :, :, 5:]), ())
        return (place + size + self.sum(there * sure + (1 - there) * sure * missed, ()) + classes) / P.Shape()(prediction)[0]


class WithLossCell(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.network = network
        self.losses = nn.CellList([LossBlock(), LossBlock()])

    def construct(self, x, coarse, fine, input_shape):
        large, small = self.network(x, input_shape)
        return self.losses[0](*large, coarse) + self.losses[1](*small, fine)


class TrainingWrapper(nn.Cell):
    def __init__(self, network, optimizer, sens=1.0):
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        self.weights = optimizer.parameters
        self.optimizer = optimizer
        self.grad = C.GradOperation(get_by_list=True, sens_param=True)
        self.sens = sens

    def construct(self, *args):
        weights = self.weights
        loss = self.network(*args)
        sens = P.Fill()(P.DType()(loss), P.Shape()(loss), self.sens)
        grads = self.grad(self.network, weights)(*args, sens)
        return F.depend(loss, self.optimizer(grads))


random = np.random.RandomState(0)
images = Tensor(random.rand(2, 3, 32, 32).astype(np.float32))
targets = []
for cells in (4, 8):
    target = np.zeros((2, cells, cells, 2, 7), np.float32)
    target[0, 1, 1, 0] = [0.3, 0.3, 0.2, 0.3, 1, 1, 0]
    target[1, 0, 2, 1] = [0.6, 0.2, 0.4, 0.1, 1, 0, 1]
    targets.append(Tensor(target))
input_shape = Tensor((32.0, 32.0), ms.float32)
for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
    ms.set_context(mode=mode)
    ms.set_seed(1)
    net = Detector()
    decayed = [p for p in net.trainable_params() if not p.name.endswith((".bias", ".gamma", ".beta"))]
    plain = [p for p in net.trainable_params() if p.name.endswith((".bias", ".gamma", ".beta"))]
    rates = Tensor(np.linspace(0.01, 0.005, 8).astype(np.float32))
    optimizer = nn.Momentum([{"params": plain, "weight_decay": 0.0}, {"params": decayed}], rates, 0.9, 5e-4, loss_scale=64)
    step = TrainingWrapper(WithLossCell(net), optimizer, sens=64)
    step.set_train()
    for _ in range(4):
        print(f"{float(step(images, *targets, input_shape).asnumpy()):.4f}")
    moved = net.parameters_dict()["network.down1.1.moving_mean"].asnumpy()      # once a step, not twice
    print(np.round(moved[:4], 4))
    evaluated = Detector()
    ms.load_param_into_net(evaluated, {name.replace("network.", "", 1): p for name, p in net.parameters_dict().items()})
    evaluated.set_train(False)
    print([float(np.round(part.asnumpy().mean(), 3)) for scale in evaluated(images, input_shape) for part in scale])
