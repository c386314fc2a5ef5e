# SPDX-License-Identifier: Apache-2.0
"""vmap: what MindSpore gives for functions of slices, operator by operator family, and where it refuses."""
import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from graphtest import program, raised


def numbers(*shape):
    return Tensor((np.arange(int(np.prod(shape))).reshape(shape) % 7 - 3).astype(np.float32) / 4)


@program
def vmap_broadcasts_slices_of_unequal_rank():
    def f(x, y):
        return x * y + ops.exp(y)
    return ms.vmap(f, (0, 1))(numbers(3, 2, 4), numbers(4, 3)), ms.vmap(f, (-1, None), 1)(numbers(2, 4, 3), numbers(4))


@program
def vmap_of_reductions():
    def f(x):
        return x.sum(), x.sum(-1), ops.amax(x, 0, True), ops.mean(x, (0, 1))
    return ms.vmap(f)(numbers(3, 2, 4)), ms.vmap(f, 1)(numbers(3, 2, 4)), ms.vmap(f, -1)(numbers(3, 2, 4))


@program
def vmap_of_softmax_and_cumulative():
    def f(x):
        return ops.softmax(x, -1), ops.log_softmax(x, 0), ops.cumsum(x, 0), ops.cumprod(x, 1)
    return ms.vmap(f)(numbers(2, 3, 4))


@program
def vmap_of_products():
    def f(x, y):
        return ops.matmul(x, y)
    return ms.vmap(f)(numbers(2, 3, 4), numbers(2, 4, 5)), ms.vmap(f, (0, None))(numbers(2, 3, 4), numbers(4, 5))


@program
def vmap_of_products_with_columns_last():
    def f(x, y):
        return ops.matmul(x, y)
    return ms.vmap(f, (None, 2))(numbers(3, 4), numbers(4, 5, 2))


@program
def vmap_of_shapes():
    def f(x):
        return x.reshape(-1), x.transpose(1, 0), ops.tile(x, (2, 1)), ops.broadcast_to(x, (2, 3, 4)), x[1:, ::2], x.expand_dims(0)
    return ms.vmap(f)(numbers(2, 3, 4))


@program
def vmap_of_concat_and_stack():
    def f(x, y):
        return ops.concat((x, y), 0), ops.stack((x, y), 1)
    return ms.vmap(f)(numbers(2, 3, 4), numbers(2, 3, 4)), ms.vmap(f, (0, None))(numbers(2, 3, 4), numbers(3, 4))


@program
def vmap_of_gather():
    def f(x, i):
        return ops.gather(x, i, 0)
    index = Tensor(np.array([[0, 2], [1, 1]], np.int32))
    return ms.vmap(f)(numbers(2, 3, 4), index), ms.vmap(f, (0, None))(numbers(2, 3, 4), index[0]), ms.vmap(f, (None, 0))(numbers(3, 4), index)


@program
def vmap_of_choice_and_comparison():
    def f(x, y):
        return ops.select(x > y, x, y), ops.maximum(x, y), ops.logical_and(x > 0, y > 0)
    return ms.vmap(f)(numbers(2, 3), numbers(2, 3)), ms.vmap(f, (0, None))(numbers(2, 3), numbers(3))


@program
def vmap_of_order():
    def f(x):
        return ops.argmax(x, 0), ops.argmin(x, -1)
    return ms.vmap(f)(Tensor(np.array([[[3., 1.], [2., 5.]], [[0., 9.], [7., 4.]]], np.float32)))


@program
def vmap_of_convolution():
    def f(x, w):
        return ops.conv2d(x, w)
    return (ms.vmap(f, (0, None))(numbers(2, 1, 2, 4, 4), numbers(3, 2, 2, 2)), ms.vmap(f)(numbers(2, 1, 2, 4, 4), numbers(2, 3, 2, 2, 2)))


@program
def vmap_of_a_gradient_by_weights():
    def loss(w, x):
        return (ops.tanh(ops.matmul(x, w)) ** 2).sum()
    return ms.vmap(ms.grad(loss), (None, 0))(numbers(4, 2), numbers(3, 1, 4))


@program
def gradient_of_vmap():
    def f(x, y):
        return (ops.sin(x) * y).sum()

    def total(x, y):
        return ms.vmap(f, (0, None))(x, y).sum()
    return ms.grad(total, (0, 1))(numbers(3, 4), numbers(4))


@program
def vmap_results_that_are_the_same_for_all():
    shared = numbers(2)

    def f(x):
        return x * 2, shared, 3
    return ms.vmap(f)(numbers(3, 4)), ms.vmap(f, 0, (1, None, 0))(numbers(3, 4))


@program
def vmap_condition_on_what_is_shared():
    def f(x, w):
        if w.sum() > 0:
            return x * w
        return x - w
    return ms.vmap(f, (0, None))(numbers(3, 4), numbers(4)), ms.vmap(f, (0, None))(numbers(3, 4), numbers(4) + 5)


@program
def vmap_of_models():
    nets = nn.CellList([nn.Dense(4, 2, weight_init=numbers(2, 4) + i, bias_init=numbers(2) - i) for i in range(3)])
    for i, net in enumerate(nets):
        net.weight.name, net.bias.name = f"{i}.weight", f"{i}.bias"
    return ms.vmap(nets)(numbers(3, 1, 4)), ms.vmap(nets, None)(numbers(5, 4))


@program
def vmap_refusals():
    def one(x):
        return x

    def two(x):
        return x * 2, x

    def pair(x, y):
        return x * y
    a, b = numbers(3, 4), numbers(4)
    return (raised(ms.vmap(one, (0, 0)), a), raised(ms.vmap(one, 5), a), raised(ms.vmap(one, 0, 3), a), raised(ms.vmap(pair), a, b),
            raised(ms.vmap(two, 0, (0,)), a), raised(ms.vmap(two, 0, (0, None)), a), raised(ms.vmap(pair), a, 2.0),
            raised(ms.vmap(one, "0"), a), raised(ms.vmap(one, 0.5), a), raised(ms.vmap(one, True), a), raised(ms.vmap(one, ((0,),)), a))
