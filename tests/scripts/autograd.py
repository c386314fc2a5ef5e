# SPDX-License-Identifier: Apache-2.0
"""Gradients of functions and networks, step by step."""
import numpy as np

import mindspore
from mindspore import Parameter, Tensor, nn, ops

x = ops.ones(5, mindspore.float32)
y = ops.zeros(3, mindspore.float32)
w = Parameter(Tensor(np.arange(15).reshape(5, 3) / 10 - 0.7, mindspore.float32), name="w")
b = Parameter(Tensor([0.1, -0.2, 0.3], mindspore.float32), name="b")


def function(x, y, w, b):
    z = ops.matmul(x, w) + b
    loss = ops.binary_cross_entropy_with_logits(z, y, ops.ones_like(z), ops.ones_like(z))
    return loss


print("loss", function(x, y, w, b))
grad_fn = mindspore.grad(function, (2, 3))
grads = grad_fn(x, y, w, b)
print("grads", grads[0].shape, grads[0][0], grads[1])


def function_with_logits(x, y, w, b):
    z = ops.matmul(x, w) + b
    loss = ops.binary_cross_entropy_with_logits(z, y, ops.ones_like(z), ops.ones_like(z))
    return loss, z


print("with logits", mindspore.grad(function_with_logits, (2, 3))(x, y, w, b)[1])


def function_stop_gradient(x, y, w, b):
    z = ops.matmul(x, w) + b
    loss = ops.binary_cross_entropy_with_logits(z, y, ops.ones_like(z), ops.ones_like(z))
    return loss, ops.stop_gradient(z)


print("stop_gradient", mindspore.grad(function_stop_gradient, (2, 3))(x, y, w, b)[1])

grads, (z,) = mindspore.grad(function_with_logits, (2, 3), has_aux=True)(x, y, w, b)
print("has_aux", grads[1], z)
(loss, z), grads = mindspore.value_and_grad(function_with_logits, (2, 3), has_aux=True)(x, y, w, b)
print("value_and_grad", loss, z, grads[1])


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = w
        self.b = b

    def construct(self, x):
        return ops.matmul(x, self.w) + self.b


model = Network()
loss_fn = nn.BCEWithLogitsLoss()


def forward_fn(x, y):
    return loss_fn(model(x), y)


loss, grads = mindspore.value_and_grad(forward_fn, None, weights=model.trainable_params())(x, y)
print("weights", loss, [g.shape for g in grads], grads[1])
both = mindspore.value_and_grad(forward_fn, 0, weights=model.trainable_params())(x, y)[1]
print("input and weights", both[0], both[1][1])


# Derivatives of derivatives.
def cube(x):
    return x * x * x


first = mindspore.grad(cube)
second = mindspore.grad(first)
third = mindspore.grad(second)
t = Tensor(3.0, mindspore.float32)
print("orders", cube(t), first(t), second(t), third(t))
sine = mindspore.grad(mindspore.grad(ops.sin))
print("sin''", sine(Tensor([0.0, 1.0, 2.0], mindspore.float32)))


def taylor(x):
    return ops.exp(x) * ops.sin(x)


v = Tensor([0.1, 0.2, 0.3], mindspore.float32)
out, tangent = mindspore.jvp(taylor, v, ops.ones_like(v))
print("jvp", out, tangent)
out, vjp_fn = mindspore.vjp(taylor, v)
print("vjp", vjp_fn(ops.ones_like(v)))
print("jacrev", mindspore.jacrev(taylor)(v))


# Which gradient is which.
def several(x, y):
    return x * y + w.sum()


ids = mindspore.grad(several, (0, 1), weights=[w], return_ids=True)(Tensor([2.0], mindspore.float32), Tensor([5.0], mindspore.float32))
print("get_grad", mindspore.get_grad(ids, 0), mindspore.get_grad(ids, 1), mindspore.get_grad(ids, w).shape)


# An own gradient.
class Clipped(nn.Cell):
    def construct(self, x):
        return x * 10

    def bprop(self, x, out, dout):
        return (ops.clip_by_value(dout * 10, Tensor(-1.0, mindspore.float32), Tensor(1.0, mindspore.float32)),)


print("bprop", mindspore.grad(Clipped())(Tensor([1.0, 2.0], mindspore.float32)))
