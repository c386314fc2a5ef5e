# SPDX-License-Identifier: Apache-2.0
"""A script as they were written for MindSpore 1.x: primitives, GradOperation, training cells."""
import numpy as np

import mindspore.context as context
import mindspore.nn as nn
from mindspore import Parameter, ParameterTuple, Tensor
from mindspore.common import dtype as mstype
from mindspore.common.initializer import Normal, TruncatedNormal, initializer
from mindspore.nn import TrainOneStepCell, WithLossCell
from mindspore.ops import composite as C
from mindspore.ops import functional as F
from mindspore.ops import operations as P

context.set_context(mode=context.PYNATIVE_MODE, device_target="CPU")
rng = np.random.RandomState(11)


def weight(*shape):
    return Tensor(rng.normal(size=shape, scale=0.2).astype(np.float32))


class LeNet(nn.Cell):
    def __init__(self, num_class=10):
        super(LeNet, self).__init__()
        self.conv1 = nn.Conv2d(1, 3, 5, pad_mode="valid", weight_init=weight(3, 1, 5, 5))
        self.conv2 = nn.Conv2d(3, 4, 3, pad_mode="valid", weight_init=weight(4, 3, 3, 3))
        self.fc1 = nn.Dense(4 * 2 * 2, num_class, weight_init=weight(num_class, 16), bias_init="zeros")
        self.relu = P.ReLU()
        self.max_pool = P.MaxPool(kernel_size=2, strides=2)
        self.reshape = P.Reshape()
        self.shape = P.Shape()

    def construct(self, x):
        x = self.max_pool(self.relu(self.conv1(x)))
        x = self.max_pool(self.relu(self.conv2(x)))
        x = self.reshape(x, (self.shape(x)[0], -1))
        return self.fc1(x)


class MatMulNet(nn.Cell):
    def __init__(self):
        super(MatMulNet, self).__init__()
        self.matmul = P.MatMul(transpose_b=True)
        self.z = Parameter(Tensor(np.array([1.0], np.float32)), name="z")

    def construct(self, x, y):
        return self.matmul(x * self.z, y)


class GradNetWrtX(nn.Cell):
    def __init__(self, net, **kwargs):
        super(GradNetWrtX, self).__init__()
        self.net = net
        self.params = ParameterTuple(net.trainable_params())
        self.grad_op = C.GradOperation(**kwargs)
        self.by_list = kwargs.get("get_by_list", False)

    def construct(self, *inputs):
        if self.by_list:
            return self.grad_op(self.net, self.params)(*inputs)
        return self.grad_op(self.net)(*inputs)


x = Tensor(np.arange(6).reshape(2, 3), mstype.float32)
y = Tensor(np.arange(6, 0, -1).reshape(2, 3), mstype.float32)
sens = Tensor(np.array([[1, 0], [0, 2]]), mstype.float32)
print("first", GradNetWrtX(MatMulNet())(x, y))
print("all", [g.asnumpy().tolist() for g in GradNetWrtX(MatMulNet(), get_all=True)(x, y)])
print("sens", GradNetWrtX(MatMulNet(), sens_param=True)(x, y, sens))
print("list", [g.asnumpy().tolist() for g in GradNetWrtX(MatMulNet(), get_by_list=True)(x, y)])
inputs, weights = GradNetWrtX(MatMulNet(), get_all=True, get_by_list=True, sens_param=True)(x, y, sens)
print("everything", inputs[1].asnumpy().tolist(), weights[0].asnumpy().tolist())

# Training cells.
net = LeNet()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
opt = nn.Momentum(filter(lambda p: p.requires_grad, net.get_parameters()), 0.05, 0.9)
train_net = TrainOneStepCell(WithLossCell(net, loss), opt)
train_net.set_train()
data = Tensor(rng.normal(size=(8, 1, 16, 16)).astype(np.float32))
label = Tensor(np.arange(8) % 10, mstype.int32)
losses = [float(train_net(data, label).asnumpy()) for _ in range(8)]
print("losses", [round(v, 3) for v in losses])
assert losses[-1] < losses[0]


class TrainStepWithScale(nn.Cell):
    """What people wrote before amp."""

    def __init__(self, network, optimizer, sens=1.0):
        super(TrainStepWithScale, self).__init__(auto_prefix=False)
        self.network = network
        self.weights = optimizer.parameters
        self.optimizer = optimizer
        self.grad = C.GradOperation(get_by_list=True, sens_param=True)
        self.sens = sens
        self.hyper_map = C.HyperMap()

    def construct(self, data, label):
        loss = self.network(data, label)
        sens = P.Fill()(P.DType()(loss), P.Shape()(loss), self.sens)
        grads = self.grad(self.network, self.weights)(data, label, sens)
        grads = self.hyper_map(F.partial(P.Mul(), Tensor(1.0 / self.sens, mstype.float32)), grads)
        return F.depend(loss, self.optimizer(grads))


step = TrainStepWithScale(WithLossCell(LeNet(), loss), nn.SGD(LeNet().trainable_params(), 0.1), 8.0)
before = float(step(data, label).asnumpy())
print("scaled", before > 0)

# Multitype functions and primitives of all sorts.
add = C.MultitypeFuncGraph("add")


@add.register("Number", "Number")
def _add_numbers(a, b):
    return a + b


@add.register("Tensor", "Tensor")
def _add_tensors(a, b):
    return F.tensor_add(a, b)


print("multitype", add(1, 2), add(Tensor([1.0], mstype.float32), Tensor([2.0], mstype.float32)))
print("map", [t.asnumpy().tolist() for t in C.Map()(P.Square(), (x, y))][0])
print("ops", P.ReduceSum(keep_dims=True)(x, 1).asnumpy().tolist(), P.Concat(1)((x, y)).shape, P.OneHot()(
    Tensor([0, 2], mstype.int32), 3, Tensor(1.0, mstype.float32), Tensor(0.0, mstype.float32)).asnumpy().tolist())
print("transpose", P.Transpose()(x, (1, 0)).shape, P.ExpandDims()(x, 0).shape, P.Cast()(x, mstype.int32).dtype, P.Tile()(x, (2, 1)).shape)
print("softmax", P.ReduceSum()(P.Softmax(1)(x), 1).asnumpy().round(4).tolist(), P.ArgMaxWithValue(1)(x)[0].asnumpy().tolist())
var = Parameter(initializer(Normal(0.01), (2, 2), mstype.float32), name="var")
P.Assign()(var, Tensor(np.ones((2, 2), np.float32)))
P.AssignAdd()(var, Tensor(np.ones((2, 2), np.float32)))
print("assign", var.asnumpy().tolist(), initializer(TruncatedNormal(0.02), [3, 4], mstype.float32).shape)
