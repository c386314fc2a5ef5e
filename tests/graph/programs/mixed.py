# SPDX-License-Identifier: Apache-2.0
"""Compiled functions inside plain ones and the other way round, gradients across the border, custom gradients, hooks, maps over
structures, and several transformations at once."""
import functools

import numpy as np

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, mutable, nn, ops
from mindspore.ops import composite as C
from mindspore.ops import functional as F
from mindspore.ops import operations as P

from graphtest import program, raised

grad_all = C.GradOperation(get_all=True)


class Scale(nn.Cell):
    def __init__(self, k=1.5):
        super().__init__()
        self.param = Parameter(Tensor(k, ms.float32), name="scale")

    @ms.jit
    def construct(self, x):
        return x * self.param


class MulAdd(nn.Cell):
    def construct(self, x, y):
        return 2 * x + y

    def bprop(self, x, y, out, dout):
        return 2 * dout, 2 * y


@program
def compiled_cell_in_plain_cell():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scale = Scale()

        def construct(self, x):
            x = self.scale(x)
            x = self.scale(x) + x
            return x
    net = Net()
    grad = ops.GradOperation(get_all=True, get_by_list=True)
    x = Tensor([1., 2.])
    return net(x), grad(net, ParameterTuple(net.trainable_params()))(x)


@program
def compiled_method_beside_plain_code():
    class Net(nn.Cell):
        @ms.jit
        def inner(self, x, y):
            return x * y

        def construct(self, x, y):
            z = x * y
            return self.inner(z, x)
    net = Net()
    return net(Tensor(2.), Tensor(3.)), ms.grad(net, (0, 1))(Tensor(2.), Tensor(3.))


@program
def compiled_method_without_arguments():
    class Net(nn.Cell):
        def __init__(self, x, y):
            super().__init__()
            self.x, self.y = x, y

        @ms.jit
        def max(self):
            if self.x > self.y:
                return self.x
            return self.y

        def construct(self):
            return ops.relu(self.max())
    return Net(Tensor(5.), Tensor(10.))()


@program
def compiled_function_with_optional_arguments():
    @ms.jit
    def f(x, y=1):
        return x + y
    a = Tensor(3)
    return f(a), f(a, 2), f(a, y=3), f(x=a, y=4), f(y=Tensor(5), x=a)


@program
def compiled_function_of_unknown_size():
    @ms.jit
    def f(x):
        return ops.unique(x)
    return f(Tensor([1, 1, 2, 5], ms.int32))


@program
def compiled_step_in_plain_loop():
    net = Scale(2.0)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    step = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
    out = []
    for i in range(3):
        loss, grads = step(Tensor([1., 2.]) * (i + 1))
        optimizer(grads)
        out.append((loss, net.param.asnumpy().tolist()))
    return out


@program
def compiled_in_compiled_in_plain():
    @ms.jit
    def inner(x):
        return ops.sin(x)

    @ms.jit
    def outer(x):
        return inner(x) * inner(x + 1)

    def plain(x):
        return outer(x) + inner(x)
    x = Tensor([0.5, 1.])
    return plain(x), ms.grad(plain)(x), ms.grad(ms.jit(plain))(x)


@program
def second_order_across_the_border():
    @ms.jit
    def f(x):
        return x * x * x

    def plain(x):
        return ms.grad(f)(x) * x
    x = Tensor([2., 3.])
    return ms.grad(plain)(x), ms.grad(ms.grad(f))(x), ms.jit(ms.grad(ms.grad(f)))(x)


@program
def third_order_inside():
    def f(x):
        return ops.exp(2 * x)

    @ms.jit
    def g(x):
        return ms.grad(ms.grad(ms.grad(f)))(x)
    return g(Tensor([0.5]))


@program
def second_order_through_while():
    class Net(nn.Cell):
        def construct(self, x):
            while x < 10:
                x = x * x
            return x
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return F.grad(net)(Tensor(2.)), F.grad(F.grad(net))(Tensor(2.))


@program
def second_order_through_nested_loops():
    class Net(nn.Cell):
        def construct(self, x):
            for _ in [2]:
                while x > 1:
                    x = x / 3
                for _ in [2, 3]:
                    x = x * x + 1
            return x
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return F.grad(net)(Tensor(4.)), F.grad(F.grad(net))(Tensor(4.))


@program
def second_order_through_branches_with_parameter():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.]), name="weight")

        def construct(self, x, y):
            if x > y:
                x = x * self.w
            elif x == y:
                x = y / 2
            return x * x + y
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return F.grad(net, (0, 1))(Tensor([4.]), Tensor([1.])), F.grad(F.grad(net))(Tensor([4.]), Tensor([1.]))


@program
def bprop_of_cell():
    ms.set_context(mode=ms.GRAPH_MODE)
    return grad_all(MulAdd())(Tensor(1.), Tensor(2.))


@program
def bprop_of_inner_cell():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mul_add = MulAdd()

        def construct(self, x, y):
            return self.mul_add(x, y) + x + 2 * y
    ms.set_context(mode=ms.GRAPH_MODE)
    return grad_all(Net())(Tensor(1.), Tensor(2.))


@program
def bprop_of_cell_with_compiled_construct():
    class Net(nn.Cell):
        @ms.jit
        def construct(self, x):
            return ops.relu(x)

        def bprop(self, x, out, dout):
            return (5 * x,)
    return grad_all(Net())(Tensor([1., 2.]))


@program
def bprop_with_gradient_inside():
    class Inner(nn.Cell):
        def construct(self, x, y):
            return x * y

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.f = Inner()

        def construct(self, x, y):
            return self.f(x, y), grad_all(self.f)(x, y)

        def bprop(self, x, y, out, dout):
            grads = grad_all(self.f)(x, y)
            return grads[0] * 2, grads[1] * 2
    ms.set_context(mode=ms.GRAPH_MODE)
    return grad_all(Net())(Tensor([1., 2.]), Tensor([3., 4.]))


@program
def bprop_of_cell_with_parameter():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.z = Parameter(Tensor([1.]), name="z")

        def construct(self, x, y):
            return ops.matmul(x * self.z, y)

        def bprop(self, x, y, out, dout):
            return x + x, y + y
    ms.set_context(mode=ms.GRAPH_MODE)
    return grad_all(Net())(Tensor([[1., 2.]]), Tensor([[3.], [4.]]))


@program
def bprop_with_wrong_number_of_gradients():
    class Net(nn.Cell):
        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out, dout):
            return (x,)
    ms.set_context(mode=ms.GRAPH_MODE)
    return raised(grad_all(Net()), Tensor([1.]), Tensor([2.]))


@program
def bprop_of_nested_outputs():
    class Net(nn.Cell):
        def construct(self, x):
            return x * 2, (x * 3, x * 4)

        def bprop(self, x, out, dout):
            return (dout[0] + dout[1][0] * 10 + dout[1][1] * 100,)

    class Use(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def construct(self, x):
            a, (b, c) = self.net(x)
            return a * 1 + b * 2 + c * 3
    ms.set_context(mode=ms.GRAPH_MODE)
    return ms.grad(Use())(Tensor([1.]))


@program
def hook_on_tensor_inside_plain_gradient():
    seen = []

    def hook(g):
        seen.append(g.asnumpy().tolist())
        return g * 2

    def f(x):
        y = x * 3
        y.register_hook(hook)
        return y * y
    return ms.grad(f)(Tensor([1.])), seen


@program
def hook_backward_primitive():
    def hook(g):
        return g[0] * 2
    hooked = P.HookBackward(hook)

    def f(x, y):
        z = x * y
        z = hooked(z)
        return z * y
    return ms.grad(f, (0, 1))(Tensor(1.), Tensor(2.))


@program
def hooks_of_cell_around_call():
    log = []

    class Net(nn.Cell):
        def construct(self, x):
            return x * 2
    net = Net()
    net.register_forward_pre_hook(lambda cell, inputs: log.append("before"))
    net.register_forward_hook(lambda cell, inputs, output: log.append("after"))
    out = net(Tensor([1.]))
    return out, log


@program
def hypermap_over_nested():
    double = C.MultitypeFuncGraph("double")

    @double.register("Tensor")
    def double_tensor(x):
        return x * 2

    @double.register("Number")
    def double_number(x):
        return x * 3

    @ms.jit
    def f(x):
        return C.HyperMap()(double, ((x, 1), [x, (2.0, x)]))
    return f(Tensor([1, 2]))


@program
def hypermap_with_function_and_partial():
    scale = C.MultitypeFuncGraph("scale")

    @scale.register("Number", "Tensor")
    def scale_tensor(k, x):
        return k * x

    @ms.jit
    def f(x, y):
        grads = C.HyperMap()(F.partial(scale, 0.5), (x, y))
        return grads, C.HyperMap()(ops.add, (x, y), (y, x)), ops.Map()(lambda v: v + 1, (x, y))
    return f(Tensor([2.]), Tensor([4.]))


@program
def hypermap_of_unregistered_type():
    only = C.MultitypeFuncGraph("only")

    @only.register("Tensor")
    def only_tensor(x):
        return x

    @ms.jit
    def f(x):
        return C.HyperMap()(only, (x, "a"))
    return raised(f, Tensor([1]))


@program
def multitype_by_several_types():
    add = C.MultitypeFuncGraph("my_add")

    @add.register("Number", "Number")
    def add_numbers(x, y):
        return x + y + 100

    @add.register("Tensor", "Tensor")
    def add_tensors(x, y):
        return x + y

    @add.register("Tensor", "Number")
    def add_mixed(x, y):
        return x - y

    @add.register("Tuple", "Tuple")
    def add_tuples(x, y):
        return x + y

    @ms.jit
    def f(x):
        return add(1, 2), add(x, x), add(x, 3), add((1,), (x,))
    return f(Tensor([5]))


@program
def vmap_with_axes():
    def f(x, y):
        return x * y.sum()

    @ms.jit
    def g(x, y):
        return ops.vmap(f, in_axes=(0, 1), out_axes=0)(x, y), ops.vmap(f, in_axes=(1, None), out_axes=1)(x, y)
    return g(Tensor(np.arange(6).reshape(2, 3).astype(np.float32)), Tensor(np.arange(6).reshape(3, 2).astype(np.float32)))


@program
def vmap_of_gradient():
    def f(x):
        return (x * x * x).sum()

    @ms.jit
    def g(x):
        return ops.vmap(ms.grad(f))(x)
    return g(Tensor([[1., 2.], [3., 4.]]))


@program
def vmap_of_cell():
    net = nn.Dense(3, 2, weight_init="ones", bias_init="ones")

    @ms.jit
    def g(x):
        return ops.vmap(net, in_axes=0)(x)
    return g(Tensor(np.ones((4, 3), np.float32)))


@program
def vmap_inside_vmap():
    def f(x, y):
        return x * y

    @ms.jit
    def g(x, y):
        return ops.vmap(ops.vmap(f, in_axes=(None, 0)), in_axes=(0, None))(x, y)
    return g(Tensor([1., 2.]), Tensor([3., 4., 5.]))


@program
def jvp_and_vjp_inside():
    def f(x, y):
        return x * x + y

    @ms.jit
    def g(x, y, v):
        out, tangent = ms.jvp(f, (x, y), (v, v))
        value, back = ms.vjp(f, x, y)
        return out, tangent, value, back(v)
    return g(Tensor([1., 2.]), Tensor([3., 4.]), Tensor([1., 10.]))


@program
def gradient_with_auxiliary_values():
    def f(x, y):
        return x * y, x + y, (x, y)

    @ms.jit
    def g(x, y):
        return ms.value_and_grad(f, (0, 1), None, has_aux=True)(x, y), ms.grad(f, 0, None, True)(x, y)
    return g(Tensor([2.]), Tensor([3.]))


@program
def gradient_with_names():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([6.]), name="w")
            self.b = Parameter(Tensor([7.]), name="b")

        def construct(self, x):
            return x * self.w + self.b
    net = Net()

    @ms.jit
    def g(x):
        return ms.grad(net, 0, net.trainable_params(), return_ids=True)(x)
    found = g(Tensor([2.]))
    return found, ms.get_grad(found, 0), ms.get_grad(found, net.w)


@program
def gradient_of_unused_and_frozen():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([6.]), name="w")
            self.u = Parameter(Tensor([7.]), name="u")

        def construct(self, x, y):
            return x * self.w
    net = Net()
    weights = ParameterTuple([net.w, net.u])

    @ms.jit
    def g(x, y):
        return ms.grad(net, (0, 1), weights)(x, y)
    return g(Tensor([2.]), Tensor([3., 4.]))


@program
def gradient_with_numbers_among_positions():
    def f(x, y, z):
        return x * y * z

    @ms.jit
    def g(x, y, z):
        return ms.grad(f, (0, 1, 2))(x, y, z), ms.grad(f, (0, 1))(x, y, z)
    a, b = Tensor([2.]), Tensor([3.])
    return g(a, 5.0, b), ms.grad(f, (0, 1, 2))(a, 5.0, b), ms.grad(f, (0, 1))(a, 5.0, b), ms.grad(f, 1)(a, 5.0, b)


@program
def gradient_of_tuple_argument():
    def f(pair, k):
        return pair[0] * pair[1] * k

    @ms.jit
    def g(pair, k):
        return ms.grad(f)(pair, k)
    return g(mutable((Tensor([2.]), Tensor([3.]))), 4)


@program
def gradient_with_sens():
    def f(x, y):
        return x * y, x + y

    @ms.jit
    def g(x, y, s):
        return ops.GradOperation(get_all=True, sens_param=True)(f)(x, y, (s, s * 10))
    return g(Tensor([2.]), Tensor([3.]), Tensor([1.]))


@program
def stop_gradient_in_places():
    def f(x, y):
        a = ops.stop_gradient(x * y)
        b, c = ops.stop_gradient((x, y)) if False else (x, ops.stop_gradient(y))
        return a * x + b * c

    @ms.jit
    def g(x, y):
        return ms.grad(f, (0, 1))(x, y)
    return g(Tensor([2.]), Tensor([3.]))


@program
def gradient_through_comprehension_and_dict():
    def f(x):
        parts = [x * i for i in range(1, 4)]
        table = {"a": parts[0], "b": parts[1] * parts[2]}
        return sum(table.values()) if False else table["a"] + table["b"]

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([2., 3.]))


@program
def gradient_through_in_place_item():
    def f(x):
        y = x * 2
        y[0] = x[1] * x[1]
        return y.sum()

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([2., 3., 4.]))


@program
def gradient_of_parameter_written_in_between():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.]), name="w")

        def construct(self, x):
            y = x * self.w
            self.w = self.w + 1
            return y * self.w
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    out = ms.grad(net, 0, [net.w])(Tensor([3.]))
    return out, net.w


@program
def lambda_layers_in_list():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])

        def construct(self, x, n):
            out = x
            for i, layer in enumerate(self.layers):
                if i < n:
                    out = layer(out)
            return out, len(self.layers), self.layers[-1](x)
    ms.set_context(mode=ms.GRAPH_MODE)
    return Net()(Tensor([-1., 2.]), 2)


@program
def cells_chosen_by_index_tensor():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.ReLU(), nn.LeakyReLU(2.0)])

        def construct(self, x, i):
            return self.layers[i](x)
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return net(Tensor([-1., 2.]), Tensor(0, ms.int32)), net(Tensor([-1., 2.]), Tensor(1, ms.int32))


@program
def functools_wrapped_function_compiled():
    def log(fn):
        @functools.wraps(fn)
        def inner(*args, **kwargs):
            return fn(*args, **kwargs) + 1
        return inner

    @log
    def f(x, k=2):
        return x * k
    return ms.jit(f)(Tensor([3])), ms.jit(f)(Tensor([3]), k=4)


@program
def sequential_cell_indexed_and_sliced():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.seq = nn.SequentialCell([nn.ReLU(), nn.Tanh(), nn.LeakyReLU(2.0)])

        def construct(self, x):
            return self.seq[0](x), self.seq[2](x), self.seq(x)
    ms.set_context(mode=ms.GRAPH_MODE)
    return Net()(Tensor([-1., 2.]))


@program
def switch_of_functions_in_tuple():
    def one(x):
        return x + 1

    def two(x):
        return x * 2

    @ms.jit
    def f(x, i):
        return (one, two)[i](x)
    return f(Tensor([3]), 0), f(Tensor([3]), 1)


@program
def recompute_of_cell_inside():
    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")

        def construct(self, x):
            return ops.tanh(self.dense(x))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.block.recompute()

        def construct(self, x):
            return self.block(self.block(x))
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return ms.grad(net, 0, net.trainable_params())(Tensor([[0.1, 0.2]]))


@program
def extremes_of_a_position_are_values():
    @ms.jit
    def f(x):
        return x.max(0), x.min(-1, True), x.max(dim=1), x.min(axis=0), x.max()
    return f(Tensor([[1.0, 5.0], [3.0, 2.0]]))


@program
def extremes_of_a_position_compared():
    class Net(nn.Cell):
        def construct(self, x):
            return ops.cast(ops.maximum(x, 1 / x).max(1) < 4.0, ms.int32)
    ms.set_context(mode=ms.GRAPH_MODE)
    return Net()(Tensor([[1.0, 5.0], [3.0, 2.0]]))
