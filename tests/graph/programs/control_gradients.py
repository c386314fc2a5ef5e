# SPDX-License-Identifier: Apache-2.0
"""Gradients through control flow: branches, run-time loops, recursion, closures, and their second order."""
import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

from graphtest import program


def both(f, *points):
    """Gradients of f at points: differentiated inside one compiled function, and around it."""
    @ms.jit
    def inside(x):
        return ms.grad(f)(x)
    around = ms.grad(ms.jit(f))
    return [inside(Tensor(p)) for p in points], [around(Tensor(p)) for p in points]


def second(f, *points):
    @ms.jit
    def inside(x):
        return ms.grad(ms.grad(f))(x)
    return [inside(Tensor(p)) for p in points]


def power(x, n):
    if n > 0:
        return x * power(x, n - 1)
    return x * 0 + 1


def sum_of_sines(x):
    if x > 5:
        return x
    return ops.sin(x) + sum_of_sines(x + 1)


def ping(x, n):
    if n > 0:
        return pong(x * x, n - 1)
    return x


def pong(x, n):
    if n > 0:
        return ping(x + x, n - 1)
    return x * 3


@program
def grad_if():
    def f(x):
        if x > 0:
            return x * x
        return x * 3
    return both(f, 2., -2.), second(f, 2., -2.)


@program
def grad_if_elif_else():
    def f(x):
        if x > 5:
            y = x * x
        elif x > 0:
            y = ops.sin(x)
        else:
            y = -x
        return y * 2
    return both(f, 6., 1., -1.)


@program
def grad_nested_if():
    def f(x):
        y = x
        if x > 0:
            if x > 2:
                y = x * x * x
            else:
                y = x * x
            y = y + x
        return y
    return both(f, 3., 1., -1.), second(f, 3., 1., -1.)


@program
def grad_early_returns():
    def f(x):
        if x > 3:
            return x * 10
        x = x * x
        if x > 2:
            return x * 5
        return x + 1
    return both(f, 4., 2., 1.)


@program
def grad_while_unknown_trip_count():
    def f(x):
        while x < 50:
            x = x * x
        return x
    return both(f, 2., 3., 60.), second(f, 2., 3.)


@program
def grad_while_with_counter():
    def f(x):
        y = x
        i = ops.zeros((), ms.int32)
        while i < 3:
            y = y * x
            i = i + 1
        return y
    return both(f, 2., 0.5), second(f, 2.)


@program
def grad_while_two_carried():
    def f(x):
        a, b = x, x * 2
        while a < 20:
            a, b = a + b, a * b
        return a * b
    return both(f, 1., 2.)


@program
def grad_while_with_if():
    def f(x):
        y = x
        while y < 20:
            if y > 5:
                y = y * x
            else:
                y = y + x
        return y
    return both(f, 2., 3.), second(f, 2.)


@program
def grad_while_with_break():
    def f(x):
        y = x
        while True:
            y = y * x
            if y > 30:
                break
        return y + x
    return both(f, 2., 3.)


@program
def grad_while_with_continue():
    def f(x):
        y = x
        i = ops.zeros((), ms.int32)
        while i < 5:
            i = i + 1
            if i % 2 == 0:
                continue
            y = y * x
        return y
    return both(f, 2.)


@program
def grad_while_with_return():
    def f(x):
        y = x
        while y < 100:
            y = y * x
            if y > 10:
                return y * 3
        return y
    return both(f, 2., 200.)


@program
def grad_nested_while():
    def f(x):
        total = x * 0
        i = ops.zeros((), ms.int32)
        while i < 3:
            j = ops.zeros((), ms.int32)
            y = x
            while j < i:
                y = y * x
                j = j + 1
            total = total + y
            i = i + 1
        return total
    return both(f, 2.), second(f, 2.)


@program
def grad_while_in_for():
    def f(x):
        for i in range(2):
            while x < 10 * (i + 1):
                x = x * x
        return x
    return both(f, 2., 3.)


@program
def grad_for_in_while():
    def f(x):
        y = x
        while y < 100:
            for i in range(1, 3):
                y = y * x + i
        return y
    return both(f, 2., 3.)


@program
def grad_for_unrolled():
    def f(x):
        y = x
        for i in range(3):
            y = y * x + i
        return y
    return both(f, 2.), second(f, 2.)


@program
def grad_for_over_tensor():
    def f(x):
        total = x[0] * 0
        for row in x:
            total = total + row * row
        return total
    return both(f, [1., 2., 3.])


@program
def grad_for_with_tensor_break():
    def f(x):
        y = x
        for _ in range(10):
            y = y * x
            if y > 20:
                break
        return y
    return both(f, 2., 3.)


@program
def grad_of_condition_value():
    """The condition itself has no gradient."""
    def f(x):
        c = x * 100
        if c > 50:
            return x
        return c
    return both(f, 1., 0.1)


@program
def grad_recursion_on_number():
    def f(x):
        return power(x, 4)
    return both(f, 2.), second(f, 2.)


@program
def grad_recursion_on_tensor():
    def f(x, n):
        return power(x, n)

    @ms.jit
    def g(x, n):
        return ms.grad(f)(x, n)
    return g(Tensor(2.), Tensor(4)), g(Tensor(3.), Tensor(0))


@program(atol=1e-5)
def grad_recursion_on_value():
    return both(sum_of_sines, 0.5, 7.)


@program
def grad_mutual_recursion():
    def f(x):
        return ping(x, 3)

    @ms.jit
    def g(x, n):
        return ms.grad(ping)(x, n)
    return both(f, 2.), g(Tensor(2.), Tensor(4))


@program
def second_order_of_recursion():
    @ms.jit
    def g(x, n):
        return ms.grad(ms.grad(power))(x, n)
    return g(Tensor(2.), Tensor(3))


@program
def grad_through_closure():
    def f(x):
        scale = x * x

        def g(y):
            return y * scale
        return g(x + 1)
    return both(f, 3.), second(f, 3.)


@program
def grad_of_closure_over_argument():
    @ms.jit
    def outer(x, y):
        def inner(z):
            return z * x * y
        return ms.grad(inner)(x)
    return outer(Tensor(2.), Tensor(5.))


@program
def grad_through_function_chosen_at_run_time():
    def f(x):
        def square(v):
            return v * v

        def triple(v):
            return v * 3
        g = triple
        if x > 1:
            g = square
        return g(x) * x
    return both(f, 2., 0.5)


@program
def grad_through_returned_closure():
    def multiplier(k):
        def multiply(v):
            return v * k
        return multiply

    def f(x):
        return multiplier(x)(x * 2)
    return both(f, 3.)


@program
def grad_through_partial():
    from functools import partial

    def affine(x, scale, shift):
        return x * scale + shift

    def f(x):
        return partial(affine, scale=x)(x, shift=x)
    return both(f, 3.)


@program
def grad_through_lambda_and_map():
    def f(x):
        values = tuple(map(lambda v: v * x, (x, x * 2, 3)))
        return values[0] + values[1] + values[2]
    return both(f, 3.)


@program
def grad_through_map():
    def f(x):
        values = tuple(map(lambda v, w: v * w, (x, x * 2, 3), (x, x, x)))
        return values[0] + values[1] + values[2]
    return both(f, 3.)


@program
def grad_inside_branch():
    def f(x):
        return x * x * x

    @ms.jit
    def g(x):
        if x > 0:
            return ms.grad(f)(x)
        return x
    return g(Tensor(2.)), g(Tensor(-2.))


@program
def grad_of_function_with_grad_inside():
    def f(x):
        return x * x * x

    def g(x):
        return ms.grad(f)(x) * x
    return both(g, 2.)


@program
def grad_of_weights_through_while():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.5]), name="w")

        def construct(self, x):
            while x.sum() < 20:
                x = x * self.w + 1
            return x
    net = Net()
    weights = ParameterTuple((net.w,))

    @ms.jit
    def g(x):
        return ms.grad(net, 0, weights)(x)
    return g(Tensor([2.])), g(Tensor([30.]))


@program
def grad_of_weights_through_if():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(Tensor([2.]), name="a")
            self.b = Parameter(Tensor([3.]), name="b")

        def construct(self, x):
            if x.sum() > 0:
                return x * self.a
            return x * self.b
    net = Net()
    weights = ParameterTuple((net.a, net.b))

    @ms.jit
    def g(x):
        return ms.grad(net, None, weights)(x)
    return g(Tensor([5.])), g(Tensor([-5.]))


@program
def grad_with_parameter_updated_in_loop():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.]), name="w")
            self.n = Parameter(Tensor([0.]), name="n", requires_grad=False)

        def construct(self, x):
            while x.sum() < 20:
                x = x * self.w
                self.n = self.n + 1
            return x
    net = Net()

    @ms.jit
    def g(x):
        return ms.grad(net)(x)
    return g(Tensor([3.])), net.n


@program
def grad_of_newton_iteration():
    def root(x):
        y = x
        while ops.abs(y * y - x) > 1e-4:
            y = (y + x / y) / 2
        return y
    return both(root, 2., 9.)


@program
def grad_through_list_carried_by_loop():
    def f(x):
        state = [x, x * 2]
        i = ops.zeros((), ms.int32)
        while i < 2:
            state = [state[1], state[0] * state[1]]
            i = i + 1
        return state[1]
    return both(f, 2.)


@program
def grad_with_loop_that_does_not_run():
    def f(x):
        y = x * 2
        while y < 0:
            y = y * x
        return y
    return both(f, 3.)


@program
def jvp_through_while():
    def f(x):
        while x < 50:
            x = x * x
        return x

    @ms.jit
    def g(x, v):
        return ms.jvp(f, x, v)
    return g(Tensor(2.), Tensor(1.))


@program
def vmap_through_constant_branch():
    def f(x):
        if x.ndim == 1:
            return x.sum()
        return x

    @ms.jit
    def g(x):
        return ms.vmap(f)(x)
    return g(Tensor([[1., 2.], [3., 4.]]))


@program
def value_and_grad_through_while():
    def f(x, y):
        while x < 20:
            x = x * y
        return x

    @ms.jit
    def g(x, y):
        return ms.value_and_grad(f, (0, 1))(x, y)
    return g(Tensor(2.), Tensor(3.))


@program
def grad_of_conditional_expression():
    def f(x):
        y = x * x if x > 1 else x * 5
        return y + (x if y > 3 else -x)
    return both(f, 3., 0.5)


@program
def grad_long_loop():
    def f(x):
        i = ops.zeros((), ms.int32)
        y = x
        while i < 200:
            y = y * 1.01 + x * 0.001
            i = i + 1
        return y
    return both(f, 1.)
