# SPDX-License-Identifier: Apache-2.0
"""Gradient accumulation: a helper class with ParameterTuple.clone, HyperMap with partial, and the sum over micro batches."""
import numpy as np

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops


@ms.jit_class
class Accumulator():
    def __init__(self, optimizer, accumulate_step, clip_norm=1.0):
        self.optimizer = optimizer
        self.clip_norm = clip_norm
        self.inner_grads = optimizer.parameters.clone(prefix="accumulate_", init='zeros')
        self.zeros = optimizer.parameters.clone(prefix="zeros_", init='zeros')
        self.counter = Parameter(Tensor(1, ms.int32), 'counter_')
        assert accumulate_step > 0
        self.accumulate_step = accumulate_step
        self.map = ops.HyperMap()

    def __call__(self, grads):
        self.map(ops.partial(ops.assign_add), self.inner_grads, grads)
        if self.counter % self.accumulate_step == 0:
            averaged = tuple(g / self.accumulate_step for g in self.inner_grads)
            self.optimizer(ops.clip_by_global_norm(averaged, self.clip_norm))
            self.map(ops.partial(ops.assign), self.inner_grads, self.zeros)
        ops.assign_add(self.counter, Tensor(1, ms.int32))
        return True


_sum_op = ops.MultitypeFuncGraph("grad_sum_op")
_clear_op = ops.MultitypeFuncGraph("clear_op")


@_sum_op.register("Tensor", "Tensor")
def _cumulative_grad(grad_sum, grad):
    return ops.assign_add(grad_sum, grad)


@_clear_op.register("Tensor", "Tensor")
def _clear_grad_sum(grad_sum, zero):
    return ops.assign(grad_sum, zero)


class TrainForwardBackward(nn.Cell):
    def __init__(self, network, optimizer, grad_sum, sens=1.0):
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        self.network.add_flags(defer_inline=True)
        self.weights = ParameterTuple(network.trainable_params())
        self.optimizer = optimizer
        self.grad_sum = grad_sum
        self.grad = ops.GradOperation(get_by_list=True, sens_param=True)
        self.sens = sens
        self.hyper_map = ops.HyperMap()

    def construct(self, *inputs):
        loss = self.network(*inputs)
        sens = ops.Fill()(ops.DType()(loss), ops.Shape()(loss), self.sens)
        grads = self.grad(self.network, self.weights)(*inputs, sens)
        return ops.depend(loss, self.hyper_map(ops.partial(_sum_op), self.grad_sum, grads))


class TrainOptim(nn.Cell):
    def __init__(self, optimizer, grad_sum):
        super().__init__(auto_prefix=False)
        self.optimizer, self.grad_sum = optimizer, grad_sum

    def construct(self):
        return self.optimizer(self.grad_sum)


class TrainClear(nn.Cell):
    def __init__(self, grad_sum, zeros):
        super().__init__(auto_prefix=False)
        self.grad_sum, self.zeros = grad_sum, zeros
        self.hyper_map = ops.HyperMap()

    def construct(self):
        return self.hyper_map(ops.partial(_clear_op), self.grad_sum, self.zeros)


def fresh():
    random = np.random.RandomState(2)
    net = nn.SequentialCell(nn.Dense(5, 6), nn.Sigmoid(), nn.Dense(6, 3))
    for p in net.get_parameters():
        p.set_data(Tensor(random.normal(0, 0.5, p.shape).astype(np.float32)))
    return net


random = np.random.RandomState(0)
batches = [(Tensor(random.randn(4, 5).astype(np.float32)), Tensor(random.randint(0, 3, 4).astype(np.int32))) for _ in range(6)]
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

model = fresh()
optimizer = nn.SGD(model.trainable_params(), 0.5)
accumulator = Accumulator(optimizer, accumulate_step=3)
grad_fn = ms.value_and_grad(lambda x, y: loss_fn(model(x), y), None, model.trainable_params())
for i, (x, y) in enumerate(batches):
    loss, grads = grad_fn(x, y)
    accumulator(grads)
    print(i, loss, model[0].weight.asnumpy().sum())
print(accumulator.counter, [p.name for p in accumulator.inner_grads])

model = fresh()
optimizer = nn.Momentum(model.trainable_params(), 0.1, 0.9)
grad_sum = optimizer.parameters.clone(prefix="grad_sum", init="zeros")
zeros = optimizer.parameters.clone(prefix="zeros", init="zeros")
forward = TrainForwardBackward(nn.WithLossCell(model, loss_fn), optimizer, grad_sum)
optim, clear = TrainOptim(optimizer, grad_sum), TrainClear(grad_sum, zeros)
for i, (x, y) in enumerate(batches):
    loss = forward(x, y)
    if (i + 1) % 2 == 0:
        optim()
        clear()
    print(i, loss)
print(float(grad_sum[0].sum()), model[2].bias.asnumpy())
