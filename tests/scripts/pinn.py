# SPDX-License-Identifier: Apache-2.0
"""A differential equation: second derivatives through the network, vmap, Jacobians, a custom gradient."""
import numpy as np

import mindspore as ms
from mindspore import Tensor, jacrev, jacfwd, jvp, nn, ops, vjp, vmap

random = np.random.RandomState(3)


class MLP(nn.Cell):
    def __init__(self, sizes=(2, 10, 10, 1)):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(a, b) for a, b in zip(sizes[:-1], sizes[1:])])
        for p in self.get_parameters():
            p.set_data(Tensor(random.normal(0, 0.5, p.shape).astype(np.float32)))

    def construct(self, x):
        for layer in self.layers[:-1]:
            x = ops.tanh(layer(x))
        return self.layers[-1](x)


class Gradient(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.grad = ops.GradOperation(get_all=True, sens_param=False)

    def construct(self, x):
        return self.grad(self.net)(x)[0]


class SecondDerivative(nn.Cell):
    def __init__(self, net, axis):
        super().__init__()
        self.first, self.axis = Gradient(net), axis
        self.grad = ops.GradOperation()

    def component(self, x):
        return self.first(x)[:, self.axis]

    def construct(self, x):
        return self.grad(self.component)(x)[:, self.axis]


net = MLP()
first, second = Gradient(net), SecondDerivative(net, 0)
points = Tensor(random.rand(16, 2).astype(np.float32))
edge = Tensor(np.stack([np.linspace(0, 1, 8), np.zeros(8)], 1).astype(np.float32))
optimizer = nn.Adam(net.trainable_params(), 0.02)


def loss_fn(points, edge):
    u_t = first(points)[:, 1]
    residual = u_t - 0.1 * second(points)
    boundary = net(edge)[:, 0] - ops.sin(np.pi * edge[:, 0])
    return (residual ** 2).mean() + (boundary ** 2).mean(), residual


step = ms.value_and_grad(loss_fn, None, optimizer.parameters, has_aux=True)
for i in range(6):
    (loss, residual), grads = step(points, edge)
    optimizer(grads)
    print(i, loss, residual.abs().max())

f = lambda x: ops.sin(x) * x ** 2
x = Tensor([0.5, 1.0, 2.0], ms.float32)
print(ms.grad(f)(x), ms.grad(ms.grad(f))(x), ms.grad(ms.grad(ms.grad(f)))(x))
g = lambda x, y: (x * y).sum() + (x ** 3)
print(jacrev(g, 0)(x, x + 1))
print(jacfwd(g, (0, 1))(x, x + 1)[1])
value, tangent = jvp(f, x, ops.ones_like(x))
print(value, tangent)
value, back = vjp(f, x)
print(back(Tensor([1.0, 0.0, 2.0], ms.float32))[0] if isinstance(back(ops.ones_like(x)), tuple) else back(Tensor([1.0, 0.0, 2.0], ms.float32)))


def product(a, b):
    return ops.reduce_sum(a * b)


print(vmap(product, in_axes=(0, None))(Tensor(np.arange(6).reshape(2, 3), ms.float32), x))


class Clip(nn.Cell):
    def construct(self, x):
        return x * 3

    def bprop(self, x, out, dout):
        return (ops.clip_by_value(dout * 3, Tensor(-1.0, ms.float32), Tensor(1.0, ms.float32)),)


print(ms.grad(lambda x: Clip()(x) * x)(x))
