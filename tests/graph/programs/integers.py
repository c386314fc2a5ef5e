# SPDX-License-Identifier: Apache-2.0
"""Gradients with respect to integers, keyword arguments and structures of the caller."""
import mindspore as ms
from mindspore import Tensor, mutable, nn, ops

from graphtest import program

every = ops.GradOperation(get_all=True)


def _product(a, b):
    return a * b + a


def _quotient(a, b):
    return a / b


def _reduced(a, b):
    return (a * 2).sum() + b.max()


def _cast(a, b):
    return a.astype(ms.float32) * b


@program
def gradients_of_integers():
    x, y = Tensor([1, 2], ms.int32), Tensor([3, 4], ms.int32)
    return every(_product)(x, y), every(_quotient)(x, y), every(_reduced)(x, y), every(_product)(Tensor([1, 2]), Tensor([3, 4]))


@program
def gradients_of_integers_beside_floats():
    x, y = Tensor([1, 2], ms.int32), Tensor([1.0, 2.0])
    return every(_product)(x, y), every(_cast)(x, y)


@program
def gradient_of_an_integer_matrix_product():
    def product(a, b):
        return ops.matmul(a, b)
    return every(product)(Tensor([[1, 2], [3, 4]], ms.int32), Tensor([[5, 6], [7, 8]], ms.int32))


@program
def gradient_of_an_integer_through_a_loop_of_the_run():
    @ms.jit
    def f(x):
        while x < 10:
            x = x * 3 - 1
        return x

    @ms.jit
    def g(x):
        return every(f)(x)
    return f(Tensor([1], ms.int32)), g(Tensor([1], ms.int32))


@program
def gradient_of_an_integer_through_cells_chosen_in_a_loop():
    class Times(nn.Cell):
        def __init__(self, n):
            super().__init__()
            self.n = n

        def construct(self, x):
            return self.n * x

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cells_of_it = nn.CellList([Times(4), Times(5), Times(6)])

        def construct(self, t, i):
            out = t
            while i < 3:
                out = out + self.cells_of_it[i](t)
                i += 1
            return out

    class Grad(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net, self.grad = net, ops.GradOperation()

        def construct(self, t, i):
            return self.grad(self.net)(t, i)
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return net(Tensor(10, ms.int32), Tensor(0, ms.int32)), Grad(net)(Tensor(10, ms.int32), Tensor(0, ms.int32))


@program
def labels_beside_the_input_of_a_loss():
    def loss(x, label):
        return ops.cross_entropy(x, label)
    ms.set_context(mode=ms.GRAPH_MODE)
    return every(loss)(Tensor([[1.0, 2.0], [0.5, 0.1]]), Tensor([0, 1], ms.int32))


class Grad(nn.Cell):
    def __init__(self, net, get_all=True):
        super().__init__()
        self.net, self.grad = net, ops.GradOperation(get_all=get_all)

    def construct(self, *args, **kwargs):
        return self.grad(self.net)(*args, **kwargs)


@program
def gradients_of_keyword_arguments():
    class Net(nn.Cell):
        def construct(self, *args, **kwargs):
            return args[0] + kwargs["a"] * kwargs["b"]

    class Named(nn.Cell):
        def construct(self, *, a, b):
            return a * b
    ms.set_context(mode=ms.GRAPH_MODE)
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    return Grad(Net())(Tensor([5.0, 6.0]), a=x, b=y, c=3), Grad(Named())(a=x, b=y), Grad(Named(), False)(a=x, b=y)


@program
def structures_of_the_caller_are_constants():
    class Net(nn.Cell):
        def construct(self, x, pair, items, table):
            return x * pair[0] + items[0] * table["k"]
    ms.set_context(mode=ms.GRAPH_MODE)
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    grad = Grad(Net())
    return grad(x, (y,), [x], {"k": y}), grad(x, mutable((y,)), [x], {"k": y})


@program
def structure_made_inside_is_differentiated():
    def f(pair):
        return pair[0] * pair[1]

    @ms.jit
    def g(x, y):
        return ops.grad(f)((x, y))
    return g(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
