# SPDX-License-Identifier: Apache-2.0
"""Differentiation in and around compiled functions: grad, value_and_grad, GradOperation, vjp, jvp, vmap, jacobians, bprop."""
import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, mutable, nn, ops

from graphtest import program


class Linear(nn.Cell):
    def __init__(self, w=2., b=1.):
        super().__init__()
        self.w = Parameter(Tensor([w]), name="w")
        self.b = Parameter(Tensor([b]), name="b")

    def construct(self, x):
        return x * self.w + self.b


@program
def grad_of_jit():
    @ms.jit
    def f(x):
        return x * x * x
    return ms.grad(f)(Tensor([2.]))


@program
def grad_inside_jit():
    def f(x):
        return ops.sin(x) * x

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([2.]))


@program
def jit_of_grad():
    def f(x):
        return ops.exp(x)
    return ms.jit(ms.grad(f))(Tensor([1.]))


@program
def grad_of_two_positions():
    def f(x, y):
        return x * y + y

    @ms.jit
    def g(x, y):
        return ms.grad(f, grad_position=(0, 1))(x, y), ms.grad(f, 1)(x, y)
    return g(Tensor([2.]), Tensor([3.]))


@program
def grad_of_jit_with_two_positions():
    @ms.jit
    def f(x, y):
        return x * y + y
    return ms.grad(f, (0, 1))(Tensor([2.]), Tensor([3.]))


@program
def grad_skips_python_numbers():
    def f(x, n, y):
        return x * n + y

    @ms.jit
    def g(x, n, y):
        return ms.grad(f, grad_position=(0, 1, 2))(x, n, y)
    return g(Tensor([2.]), 3, Tensor([4.]))


@program
def grad_unused_input_is_zero():
    def f(x, y):
        return x * 2

    @ms.jit
    def g(x, y):
        return ms.grad(f, (0, 1))(x, y)
    return g(Tensor([2.]), Tensor([3., 4.]))


@program
def grad_of_weights():
    net = Linear()
    weights = ParameterTuple(net.trainable_params())

    @ms.jit
    def g(x):
        return ms.grad(net, None, weights)(x)
    return g(Tensor([3.]))


@program
def grad_with_parameter_tuple_made_inside():
    net = Linear()

    @ms.jit
    def g(x):
        return ms.grad(net, 0, ParameterTuple((net.w, net.b)))(x)
    return g(Tensor([3.]))


@program
def grad_of_inputs_and_weights_made_outside():
    net = Linear()
    grad_fn = ms.grad(net, 0, ParameterTuple((net.w, net.b)))

    @ms.jit
    def g(x):
        return grad_fn(x)
    return g(Tensor([3.]))


@program
def grad_has_aux():
    def two(x, y):
        return x * y, x + y

    @ms.jit
    def g(x, y):
        return ms.grad(two, 0, has_aux=True)(x, y)
    return g(Tensor([2.]), Tensor([3.]))


@program
def grad_return_ids():
    net = Linear()

    @ms.jit
    def f(x):
        return net(x)
    return ms.grad(f, 0, net.trainable_params(), return_ids=True)(Tensor([3.]))


@program
def value_and_grad_inside():
    def f(x, y):
        return x * x * y

    @ms.jit
    def g(x, y):
        return ms.value_and_grad(f, (0, 1))(x, y)
    return g(Tensor([2.]), Tensor([3.]))


@program
def value_and_grad_of_weights():
    net = Linear()
    loss = nn.MSELoss()

    def forward(x, y):
        out = net(x)
        return loss(out, y), out
    step = ms.value_and_grad(forward, None, net.trainable_params(), has_aux=True)

    @ms.jit
    def g(x, y):
        (value, out), grads = step(x, y)
        return value, out, grads
    return g(Tensor([3.]), Tensor([10.]))


@program
def value_and_grad_of_jit():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            return x * 3
        return x
    return ms.value_and_grad(f)(Tensor([2.])), ms.value_and_grad(f)(Tensor([-2.]))


@program
def grad_operation_default():
    class GradNet(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net, self.grad = net, ops.GradOperation()

        @ms.jit
        def construct(self, x):
            return self.grad(self.net)(x)
    return GradNet(Linear())(Tensor([3.]))


@program
def grad_operation_get_all():
    def f(x, y):
        return x * y * y

    @ms.jit
    def g(x, y):
        return ops.GradOperation(get_all=True)(f)(x, y)
    return g(Tensor([2.]), Tensor([3.]))


@program
def grad_operation_by_list():
    net = Linear()
    weights = ParameterTuple(net.trainable_params())

    @ms.jit
    def g(x):
        return ops.GradOperation(get_by_list=True)(net, weights)(x), \
            ops.GradOperation(get_all=True, get_by_list=True)(net, weights)(x)
    return g(Tensor([3.]))


@program
def grad_operation_sens():
    def f(x, y):
        return x * y

    @ms.jit
    def g(x, y, s):
        return ops.GradOperation(get_all=True, sens_param=True)(f)(x, y, s)
    return g(Tensor([2.]), Tensor([3.]), Tensor([10.]))


@program
def grad_operation_sens_for_tuple():
    def f(x, y):
        return x * y, x + y

    @ms.jit
    def g(x, y, s):
        return ops.GradOperation(get_all=True, sens_param=True)(f)(x, y, s)
    return g(Tensor([2.]), Tensor([3.]), (Tensor([10.]), Tensor([1.])))


@program
def grad_operation_sens_of_wrong_structure():
    def f(x, y):
        return x * y, x + y

    @ms.jit
    def g(x, y, s):
        return ops.GradOperation(get_all=True, sens_param=True)(f)(x, y, s)
    return g(Tensor([2.]), Tensor([3.]), Tensor([10.]))


@program
def grad_of_several_outputs_is_their_sum():
    def f(x):
        return x * 2, x * x

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([3.]))


@program
def grad_of_many_elements_sums():
    @ms.jit
    def g(x):
        return ms.grad(lambda v: v * v)(x)
    return g(Tensor([[1., 2.], [3., 4.]]))


@program
def second_order():
    def f(x):
        return x * x * x

    @ms.jit
    def g(x):
        return ms.grad(ms.grad(f))(x)
    return g(Tensor([2.]))


@program
def third_order():
    def f(x):
        return ops.sin(x)

    @ms.jit
    def g(x):
        return ms.grad(ms.grad(ms.grad(f)))(x)
    return g(Tensor([0.5]))


@program
def second_order_around_jit():
    @ms.jit
    def f(x):
        return x * x * x
    return ms.grad(ms.grad(f))(Tensor([2.]))


@program
def second_order_mixed():
    def f(x, y):
        return x * x * y

    @ms.jit
    def g(x, y):
        def dx(x, y):
            return ms.grad(f, 0)(x, y)
        return ms.grad(dx, (0, 1))(x, y)
    return g(Tensor([2.]), Tensor([3.]))


@program
def second_order_of_weights():
    net = Linear()
    weights = ParameterTuple((net.w, net.b))

    def loss(x):
        y = net(x)
        return (y * y).sum()

    def norm(x):
        g = ms.grad(loss)(x)
        return (g * g).sum()

    @ms.jit
    def outer(x):
        return ms.grad(norm, None, weights)(x)
    return outer(Tensor([3.]))


@program
def grad_operation_second_order():
    class Grad(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net, self.op = net, ops.GradOperation()

        def construct(self, x):
            return self.op(self.net)(x)

    class Cube(nn.Cell):
        def construct(self, x):
            return x * x * x
    ms.set_context(mode=ms.GRAPH_MODE)
    return Grad(Grad(Cube()))(Tensor([2.]))


@program
def vjp_inside():
    def f(x, y):
        return x * y

    @ms.jit
    def g(x, y, v):
        out, pull = ms.vjp(f, x, y)
        return out, pull(v)
    return g(Tensor([2.]), Tensor([3.]), Tensor([10.]))


@program
def vjp_outside():
    @ms.jit
    def f(x, y):
        return x * y
    out, pull = ms.vjp(f, Tensor([2.]), Tensor([3.]))
    return out, pull(Tensor([10.]))


@program
def jvp_inside():
    def f(x, y):
        return x * y

    @ms.jit
    def g(x, y, v, u):
        return ms.jvp(f, (x, y), (v, u))
    return g(Tensor([2.]), Tensor([3.]), Tensor([1.]), Tensor([10.]))


@program
def jvp_outside():
    @ms.jit
    def f(x):
        return ops.sin(x) * 2
    return ms.jvp(f, Tensor([1.]), Tensor([1.]))


@program
def vmap_inside():
    def f(x, y):
        return (x * y).sum()

    @ms.jit
    def g(x, y):
        return ms.vmap(f, in_axes=(0, None), out_axes=0)(x, y)
    return g(Tensor([[1., 2.], [3., 4.]]), Tensor([1., 10.]))


@program
def vmap_nested():
    def f(x, y):
        return x + y

    @ms.jit
    def g(x, y):
        return ms.vmap(ms.vmap(f, (None, 0)), (0, None))(x, y)
    return g(Tensor([1., 2.]), Tensor([10., 20., 30.]))


@program
def vmap_of_grad():
    def f(x):
        return x * x * x

    @ms.jit
    def g(x):
        return ms.vmap(ms.grad(f))(x)
    return g(Tensor([1., 2., 3.]))


@program
def jacrev_inside():
    def f(x):
        return x * x

    @ms.jit
    def g(x):
        return ms.jacrev(f)(x)
    return g(Tensor([1., 2.]))


@program
def jacfwd_inside():
    def f(x):
        return x * x

    @ms.jit
    def g(x):
        return ms.jacfwd(f)(x)
    return g(Tensor([1., 2.]))


@program
def jacrev_around_jit():
    @ms.jit
    def f(x, y):
        return x * y
    return ms.jacrev(f, (0, 1))(Tensor([1., 2.]), Tensor([3., 4.]))


@program
def hessian():
    def f(x):
        return (x * x * x).sum()

    @ms.jit
    def g(x):
        return ms.jacfwd(ms.jacrev(f))(x)
    return g(Tensor([1., 2.]))


@program
def custom_bprop():
    class Clip(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return (dout * 100,)
    net = Clip()

    @ms.jit
    def g(x):
        return ms.grad(net)(x)
    return g(Tensor([1.]))


@program
def custom_bprop_inside_larger_net():
    class Clip(nn.Cell):
        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out, dout):
            return dout * y + 1000, out

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.clip = Clip()

        def construct(self, x, y):
            return self.clip(x * 2, y) + x
    ms.set_context(mode=ms.GRAPH_MODE)
    return ms.grad(Net(), (0, 1))(Tensor([3.]), Tensor([5.]))


@program
def custom_bprop_with_wrong_arguments():
    class Bad(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out):
            return (x,)
    net = Bad()

    @ms.jit
    def g(x):
        return ms.grad(net)(x)
    return g(Tensor([1.]))


@program
def custom_bprop_with_wrong_count_of_results():
    class Bad(nn.Cell):
        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out, dout):
            return (dout,)
    net = Bad()

    @ms.jit
    def g(x, y):
        return ms.grad(net, (0, 1))(x, y)
    return g(Tensor([1.]), Tensor([2.]))


@program
def stop_gradient_inside():
    def f(x, y):
        return ops.stop_gradient(x * y) * y

    @ms.jit
    def g(x, y):
        return ms.grad(f, (0, 1))(x, y)
    return g(Tensor([2.]), Tensor([3.]))


@program
def stop_gradient_of_branch():
    def f(x):
        y = x * x
        if x.sum() > 0:
            y = ops.stop_gradient(y)
        return y + x

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([2.])), g(Tensor([-2.]))


@program
def requires_grad_false():
    net = Linear()
    net.b.requires_grad = False
    weights = ParameterTuple(net.trainable_params())

    @ms.jit
    def g(x):
        return ms.grad(net, None, weights)(x)
    return g(Tensor([3.]))


@program
def grad_through_tuple_argument():
    def f(xs):
        return xs[0] * xs[1]

    @ms.jit
    def g(a, b):
        return ms.grad(f)((a, b))
    return g(Tensor([2.]), Tensor([3.]))


@program
def grad_through_mutable_tuple_argument():
    def f(xs):
        return xs[0] * xs[1]

    @ms.jit
    def g(xs):
        return ms.grad(f)(xs)
    return g(mutable((Tensor([2.]), Tensor([3.]))))


@program
def grad_through_mutable_dict_argument():
    def f(d):
        return d["a"] * d["b"]

    @ms.jit
    def g(d):
        return ms.grad(f)(d)
    return g(mutable({"a": Tensor([2.]), "b": Tensor([3.])}))


@program
def grad_through_containers():
    def f(x):
        items = [x, x * 2]
        items.append(x * x)
        d = {"k": items[2], "t": (items[0], items[1])}
        return d["k"] * d["t"][1]

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([3.]))


@program
def grad_of_indexing():
    def f(x):
        return (x[0] * 2 + x[-1]) * x[1:3].sum()

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([1., 2., 3., 4.]))


@program
def grad_of_set_item():
    def f(x):
        y = x * 2
        y[1] = 10.0
        y[2] = x[0] * x[0]
        return y

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([1., 2., 3.]))


@program
def grad_of_in_place_method():
    def f(x):
        y = x * 1
        y.mul_(x)
        y.add_(1)
        return y

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([3.]))


@program
def grad_of_integer_input():
    def f(n, x):
        return n * x

    @ms.jit
    def g(n, x):
        return ms.grad(f, (0, 1))(n, x)
    return g(Tensor([2]), Tensor([3.]))


@program
def grad_of_casts():
    def f(x):
        return x.astype(ms.float16) * 2

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([1.5]))


@program
def grad_of_mutable_scalar():
    def f(n, x):
        return x * n

    @ms.jit
    def g(n, x):
        return ms.grad(f, (0, 1))(n, x)
    return g(mutable(3.0), Tensor([2.]))


@program
def grad_of_parameter_used_twice():
    net = Linear()
    weights = ParameterTuple((net.w, net.b))

    def f(x):
        return net(net(x))

    @ms.jit
    def g(x):
        return ms.grad(f, 0, weights)(x)
    return g(Tensor([3.]))


@program
def grad_of_cell_method():
    class Net(Linear):
        def cost(self, x):
            return self(x) * 5

        @ms.jit
        def construct(self, x):
            return x * self.w

    net = Net()

    @ms.jit
    def g(x):
        return ms.grad(net.cost)(x)
    return g(Tensor([1.]))


@program
def grad_of_bound_method():
    class Tool:
        def cost(self, x):
            return x * x

        @ms.jit
        def slope(self, x):
            return ms.grad(self.cost)(x)
    return Tool().slope(Tensor([3.]))


@program
def grad_with_keyword_argument():
    def f(x, k=3):
        return x * k

    @ms.jit
    def g(x):
        return ms.grad(f)(x, k=5)
    return g(Tensor([1.]))


@program
def grad_of_dense_and_loss():
    net = nn.SequentialCell(nn.Dense(2, 3, weight_init="ones", bias_init="zeros"), nn.ReLU(),
                            nn.Dense(3, 1, weight_init="ones", bias_init="zeros"))
    loss = nn.MSELoss()
    weights = net.trainable_params()

    def forward(x, y):
        return loss(net(x), y)

    @ms.jit
    def g(x, y):
        return ms.grad(forward, None, weights)(x, y)
    return g(Tensor([[1., -2.], [3., 4.]]), Tensor([[1.], [2.]]))


@program
def grad_of_conv_pool_softmax():
    conv = nn.Conv2d(1, 2, 2, weight_init="ones", pad_mode="valid")
    weights = conv.trainable_params()
    loss = nn.CrossEntropyLoss()

    def forward(x, y):
        h = ops.max_pool2d(conv(x), 2)
        return loss(h.reshape(x.shape[0], -1) * Tensor([1., 0.5]), y)

    @ms.jit
    def g(x, y):
        return ms.value_and_grad(forward, None, weights)(x, y)
    return g(ops.arange(9).reshape(1, 1, 3, 3).astype(ms.float32) / 10, Tensor([1], ms.int32))


@program
def grad_result_used_in_branch():
    def f(x):
        return x * x

    @ms.jit
    def g(x):
        d = ms.grad(f)(x)
        if d.sum() > 0:
            return x - d * 0.1
        return x
    return g(Tensor([2.])), g(Tensor([-2.]))


@program
def grad_in_loop_is_gradient_descent():
    def f(x):
        return (x - 3) * (x - 3)

    @ms.jit
    def g(x):
        for _ in range(3):
            x = x - 0.25 * ms.grad(f)(x)
        return x

    @ms.jit
    def h(x):
        while ops.abs(ms.grad(f)(x)) > 0.01:
            x = x - 0.25 * ms.grad(f)(x)
        return x
    return g(Tensor(0.)), h(Tensor(0.))


@program
def recompute_cell():
    class Block(nn.Cell):
        def construct(self, x):
            return ops.sin(x) * x

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.block.recompute()

        def construct(self, x):
            return self.block(x) + x
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return net(Tensor([2.])), ms.grad(net)(Tensor([2.]))


@program
def grad_net_in_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Linear()
    return ms.grad(net)(Tensor([3.])), ms.value_and_grad(net, 0, net.trainable_params())(Tensor([3.]))


@program
def get_grad_of_ids():
    net = Linear()
    weights = ParameterTuple((net.w, net.b))

    @ms.jit
    def g(x):
        return ms.grad(net, 0, weights, False, True)(x)
    grads = g(Tensor([3.]))
    return ops.get_grad(grads, 0), ops.get_grad(grads, net.b)


@program
def grad_of_zero_argument_function():
    net = Linear()
    weights = ParameterTuple((net.w, net.b))

    def f():
        return net.w * net.w + net.b

    @ms.jit
    def g():
        return ms.grad(f, None, weights)()
    return g()


@program
def grad_position_out_of_range():
    def f(x):
        return x * 2

    @ms.jit
    def g(x):
        return ms.grad(f, 3)(x)
    return g(Tensor([1.]))


@program
def grad_of_nothing():
    return ms.grad(lambda x: x, None, None)


@program
def grad_of_non_function():
    return ms.grad(3)(Tensor([1.]))


@program
def multitype_over_gradients():
    clip = ops.MultitypeFuncGraph("clip")

    @clip.register("Number", "Tensor")
    def clip_one(limit, g):
        return ops.clip_by_value(g, -limit, limit)
    net = Linear()
    weights = ParameterTuple(net.trainable_params())

    @ms.jit
    def g(x):
        grads = ops.GradOperation(get_by_list=True)(net, weights)(x)
        return ops.HyperMap()(ops.partial(clip, 0.5), grads)
    return g(Tensor([3.]))


@program
def clip_by_global_norm_inside():
    @ms.jit
    def g(x):
        return ops.clip_by_global_norm((x, x * 2), 1.0)
    return g(Tensor([3., 4.]))


# --- what has no gradient ----------------------------------------------------------------------------------------------

@program
def gradient_of_constant_comparison_and_array():
    def constant(x):
        return 1.0

    def comparison(x):
        return x > 1

    def array(x):
        return x.asnumpy()
    x = Tensor([1., 2.])
    return [ms.grad(ms.jit(f))(x) for f in (constant, comparison, array)]


@program
def gradients_of_all_inputs_with_counter():
    class Net(nn.Cell):
        def construct(self, i, end, x):
            while i < end:
                x = x * x
                i = i + 1
            return x

    class Gradients(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def construct(self, i, end, x):
            return ops.GradOperation(get_all=True)(self.net)(i, end, x)
    ms.set_context(mode=ms.GRAPH_MODE)
    return Gradients(Net())(Tensor(0, ms.int32), Tensor(2, ms.int32), Tensor([1.5, 2.]))


@program
def gradient_of_dict_output():
    @ms.jit
    def f(x):
        return {"a": x * 2, "b": (x, 1)}
    return ms.grad(f)(Tensor([1., 2.]))
