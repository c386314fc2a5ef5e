# SPDX-License-Identifier: Apache-2.0
"""Side effects and their order: print, assignments to Parameters and attributes, in-place methods, raise, assert, depend."""
import mindspore as ms
from mindspore import Parameter, Tensor, mutable, nn, ops

from graphtest import program, raised


class Counter(nn.Cell):
    """A Cell with one Parameter, for the programs below."""

    def __init__(self, value=0.):
        super().__init__()
        self.count = Parameter(Tensor([value]), name="count")


@program
def print_constants():
    @ms.jit
    def f(x):
        print("text", 1, 2.5, True, None, (1, 2), [3], {"k": 4})
        return x
    return f(Tensor([1.]))


@program
def print_tensor():
    @ms.jit
    def f(x):
        print(x)
        print("x is", x + 1)
        return x
    return f(Tensor([1, 2, 3], ms.int32))


@program
def print_scalar_tensor():
    @ms.jit
    def f(x):
        print(x, x > 1)
        return x
    return f(Tensor(2.5))


@program
def print_matrix():
    @ms.jit
    def f(x):
        print(x)
        return x
    return f(Tensor([[1., 2.], [3., 4.]]))


@program
def print_tuple_of_tensors():
    @ms.jit
    def f(x):
        print((x, 1, "a"), [x])
        return x
    return f(Tensor([1]))


@program
def print_shape_and_dtype():
    @ms.jit
    def f(x):
        print(x.shape, x.dtype)
        return x
    return f(Tensor([1., 2.]))


@program
def print_mutable_number():
    @ms.jit
    def f(n):
        print("n", n)
        return n
    return f(mutable(4))


@program
def print_runs_every_call():
    @ms.jit
    def f(x):
        print("called", x)
        return x
    return f(Tensor([1])), f(Tensor([2]))


@program
def print_constants_every_call():
    @ms.jit
    def f(x):
        print("called")
        return x
    return f(Tensor([1])), f(Tensor([2]))


@program
def print_in_taken_branch_only():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            print("positive")
        else:
            print("negative")
        return x
    return f(Tensor([1.])), f(Tensor([-1.]))


@program
def print_in_run_time_loop():
    @ms.jit
    def f(i):
        while i < 3:
            print("turn", i)
            i = i + 1
        return i
    return f(Tensor(0))


@program
def print_in_unrolled_loop():
    @ms.jit
    def f(x):
        for i in range(3):
            print(i, x)
            x = x + 1
        return x
    return f(Tensor(5))


@program
def print_in_called_function():
    def g(x):
        print("in g", x)
        return x * 2

    @ms.jit
    def f(x):
        print("before")
        y = g(x)
        print("after", y)
        return y
    return f(Tensor(3))


@program
def print_result_unused():
    @ms.jit
    def f(x):
        y = x + 1
        print("y", y)
        return x
    return f(Tensor(3))


@program
def print_after_assign():
    net = Counter()

    @ms.jit
    def f(x):
        ops.assign(net.count, x)
        print(net.count)
        ops.assign_add(net.count, x)
        print(net.count)
        return x
    return f(Tensor([3.])), net.count


@program
def print_with_sep_and_end():
    @ms.jit
    def f(x):
        print("a", "b", sep="-", end="!\n")
        return x
    return f(Tensor([1.]))


@program
def print_format():
    @ms.jit
    def f(x, n):
        print("value %d and %s" % (n, "s"), "{}".format(n), f"{n}")
        return x
    return f(Tensor([1.]), 5)


@program
def ops_print():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.print = ops.Print()

        @ms.jit
        def construct(self, x):
            self.print("the value", x)
            return x + 1
    return Net()(Tensor([1, 2], ms.int32))


@program
def ops_print_function():
    @ms.jit
    def f(x):
        ops.print_("the value", x)
        return x
    return f(Tensor([1, 2], ms.int32))


@program
def print_in_gradient():
    def f(x):
        print("forward", x)
        return x * x

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor(3.))


@program
def assign_and_read():
    net = Counter(1.)

    @ms.jit
    def f(x):
        a = net.count + 0
        ops.assign(net.count, x)
        b = net.count + 0
        ops.assign_add(net.count, Tensor([10.]))
        c = net.count + 0
        ops.assign_sub(net.count, Tensor([1.]))
        return a, b, c, net.count
    return f(Tensor([5.])), net.count


@program
def assign_through_self():
    class Net(Counter):
        @ms.jit
        def construct(self, x):
            self.count = x
            y = self.count * 2
            self.count = self.count + 1
            return y
    net = Net()
    return net(Tensor([5.])), net.count, type(net.count).__name__


@program
def assign_augmented_through_self():
    class Net(Counter):
        @ms.jit
        def construct(self, x):
            self.count += x
            return self.count * 1
    net = Net()
    return net(Tensor([5.])), net(Tensor([5.])), net.count


@program
def assign_in_branch():
    class Net(Counter):
        @ms.jit
        def construct(self, x):
            if x.sum() > 0:
                self.count = self.count + x
            else:
                ops.assign(self.count, Tensor([100.]))
            return self.count + 0
    net = Net()
    return net(Tensor([5.])), net(Tensor([-5.])), net(Tensor([1.]))


@program
def assign_in_loop_and_print_order():
    class Net(Counter):
        @ms.jit
        def construct(self, n):
            i = n * 0
            while i < n:
                ops.assign_add(self.count, Tensor([1.]))
                print("count", self.count)
                i = i + 1
            return self.count + 0
    return Net()(Tensor(2))


@program
def assign_dtype_mismatch():
    net = Counter()

    @ms.jit
    def f(x):
        ops.assign(net.count, x)
        return net.count + 0
    return f(Tensor([5], ms.int32)), net.count


@program
def assign_shape_mismatch():
    net = Counter()

    @ms.jit
    def f(x):
        ops.assign(net.count, x)
        return net.count + 0
    return f(Tensor([5., 6.]))


@program
def assign_to_parameter_argument():
    p = Parameter(Tensor([1.]), name="p")

    @ms.jit
    def f(p, x):
        ops.assign(p, x)
        return p + 1
    return f(p, Tensor([4.])), p


@program
def assign_to_plain_tensor():
    @ms.jit
    def f(x, y):
        ops.assign(x, y)
        return x + 1
    x = Tensor([1.])
    return f(x, Tensor([4.])), x


@program
def assign_element_of_parameter():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1., 2., 3.]), name="w")

        @ms.jit
        def construct(self, x):
            self.w[1] = x
            return self.w + 0
    net = Net()
    return net(Tensor(10.)), net.w


@program
def assign_value_returned_before_change():
    class Net(Counter):
        @ms.jit
        def construct(self, x):
            old = self.count
            self.count = x
            return old
    net = Net(7.)
    return net(Tensor([5.])), net.count


@program
def assign_then_old_value_used():
    class Net(Counter):
        @ms.jit
        def construct(self, x):
            old = self.count * 1
            self.count = x
            return old + self.count
    net = Net(7.)
    return net(Tensor([5.])), net.count


@program
def assign_in_callee_cell():
    class Tick(Counter):
        def construct(self, x):
            self.count = self.count + 1
            return x * self.count

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.tick = Tick()

        @ms.jit
        def construct(self, x):
            return self.tick(x), self.tick(x), self.tick.count + 0
    net = Net()
    return net(Tensor([10.])), net.tick.count


@program
def assign_and_gradient_uses_value_read():
    class Net(Counter):
        def construct(self, x):
            y = x * self.count
            ops.assign(self.count, Tensor([100.]))
            return y
    net = Net(3.)

    @ms.jit
    def g(x):
        return ms.grad(net)(x)
    return g(Tensor([2.])), net.count


@program
def parameter_update_two_calls():
    class Net(Counter):
        @ms.jit
        def construct(self):
            self.count = self.count * 2 + 1
            return self.count + 0
    net = Net()
    return net(), net(), net(), net.count


@program
def attribute_set_to_number():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.k = 1

        @ms.jit
        def construct(self, x):
            self.k = 5
            return x * self.k
    net = Net()
    return net(Tensor([1.])), net.k


@program
def attribute_set_to_tensor():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.state = Tensor([0.])

        @ms.jit
        def construct(self, x):
            self.state = self.state + x
            return self.state
    net = Net()
    return net(Tensor([1.])), net(Tensor([1.])), net.state


@program
def attribute_new():
    class Net(nn.Cell):
        @ms.jit
        def construct(self, x):
            self.last = x + 1
            return x
    net = Net()
    return net(Tensor([1.])), net.last


@program
def attribute_set_in_branch():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mode = 1

        @ms.jit
        def construct(self, x):
            if x.shape[0] == 1:
                self.mode = 2
            return x
    net = Net()
    return net(Tensor([1.])), net.mode


@program
def in_place_methods():
    @ms.jit
    def f(x):
        y = x + 0
        y.add_(1)
        y.mul_(2)
        y.sub_(1)
        return y
    return f(Tensor([1., 2.]))


@program
def in_place_on_argument():
    @ms.jit
    def f(x):
        x.add_(1)
        return x * 2
    x = Tensor([1., 2.])
    return f(x), x


@program
def in_place_copy_and_zero():
    @ms.jit
    def f(x):
        y = ops.zeros_like(x)
        y.copy_(x)
        z = x + 0
        z.zero_()
        return y, z
    return f(Tensor([1., 2.]))


@program
def in_place_copy():
    @ms.jit
    def f(x):
        y = ops.zeros_like(x)
        y.copy_(x)
        return y
    return f(Tensor([1., 2.]))


@program
def depend_orders():
    net = Counter()

    @ms.jit
    def f(x):
        done = ops.assign(net.count, x)
        y = ops.depend(net.count * 2, done)
        return y
    return f(Tensor([5.]))


@program
def depend_primitive():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.depend = ops.Depend()
            self.w = Parameter(Tensor([1.]), name="w")

        @ms.jit
        def construct(self, x):
            a = ops.assign_add(self.w, x)
            return self.depend(x, a) + 1, self.w + 0
    return Net()(Tensor([2.]))


@program
def raise_constant():
    @ms.jit
    def f(x):
        raise ValueError("always wrong")
    return f(Tensor([1.]))


@program
def raise_on_constant_condition():
    @ms.jit
    def f(x):
        if x.shape[0] != 3:
            raise ValueError("three elements wanted, found", x.shape[0])
        return x
    return f(Tensor([1., 2., 3.])), raised(f, Tensor([1.]))


@program
def raise_on_run_time_condition():
    @ms.jit
    def f(x):
        if x.sum() < 0:
            raise ValueError("the sum is negative")
        return x + 1
    return f(Tensor([1.])), raised(f, Tensor([-1.]))


@program
def raise_other_types():
    @ms.jit
    def type_error(x):
        if x < 0:
            raise TypeError("bad")
        return x

    @ms.jit
    def runtime_error(x):
        if x < 0:
            raise RuntimeError("bad", 3)
        return x

    @ms.jit
    def index_error(x):
        if x < 0:
            raise IndexError("bad")
        return x
    bad = Tensor(-1)
    return raised(type_error, bad), raised(runtime_error, bad), raised(index_error, bad)


@program
def raise_without_message():
    @ms.jit
    def f(x):
        raise ValueError
    return f(Tensor([1.]))


@program
def raise_empty_call():
    @ms.jit
    def f(x):
        raise ValueError()
    return f(Tensor([1.]))


@program
def raise_own_type():
    class Odd(Exception):
        pass

    @ms.jit
    def f(x):
        raise Odd("own")
    return f(Tensor([1.]))


@program
def raise_with_fstring_and_tensor():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            raise ValueError(f"sum is {x}")
        return x
    return f(Tensor([1.]))


@program
def raise_with_tensor_argument():
    @ms.jit
    def f(x):
        raise ValueError("found", x)
    return f(Tensor([1.]))


@program
def raise_in_callee():
    def check(x):
        if x.min() < 0:
            raise ValueError("negative element")
        return x

    @ms.jit
    def f(x):
        return check(x) * 2
    return f(Tensor([1.])), raised(f, Tensor([-1.]))


@program
def raise_in_loop():
    @ms.jit
    def f(x):
        while x < 100:
            x = x * 2
            if x == 16:
                raise RuntimeError("sixteen")
        return x
    return f(Tensor(3)), raised(f, Tensor(1))


@program
def raise_key_error():
    @ms.jit
    def f(x):
        raise KeyError("k")
    return f(Tensor([1.]))


@program
def raise_not_implemented():
    @ms.jit
    def f(x):
        raise NotImplementedError("later")
    return f(Tensor([1.]))


@program
def raise_stop_iteration():
    @ms.jit
    def f(x):
        raise StopIteration("end")
    return f(Tensor([1.]))


@program
def raise_in_untaken_constant_branch():
    @ms.jit
    def f(x):
        if x.ndim != 1:
            raise ValueError("one dimension")
        return x
    return f(Tensor([1.]))


@program
def raise_leaves_effects_before_it():
    class Net(Counter):
        @ms.jit
        def construct(self, x):
            self.count = self.count + 1
            if x.sum() < 0:
                raise ValueError("negative")
            return x
    net = Net()
    return raised(net, Tensor([-1.])), net.count


@program
def call_works_after_failed_compilation():
    @ms.jit
    def f(x, flag):
        if flag:
            return x.no_such_method()
        return x * 2
    return raised(f, Tensor([1.]), True), f(Tensor([1.]), False), f(Tensor([2.]), False)


@program
def assert_constant():
    @ms.jit
    def f(x):
        assert x.shape[0] == 2, "two elements wanted"
        return x
    return f(Tensor([1., 2.])), raised(f, Tensor([1.]))


@program
def assert_run_time():
    @ms.jit
    def f(x):
        assert x > 0, "must be positive"
        return x * 2
    return f(Tensor(1.)), raised(f, Tensor(-1.))


@program
def assert_without_message():
    @ms.jit
    def f(x, n):
        assert n
        return x * 2
    return f(Tensor(1.), 1), raised(f, Tensor(1.), 0)


@program
def assert_of_isinstance():
    @ms.jit
    def f(x):
        assert isinstance(x, Tensor)
        return x
    return f(Tensor(1.))


@program
def gradient_with_raise():
    def f(x):
        if x < 0:
            raise ValueError("negative")
        return x * x

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor(3.))


@program
def order_of_prints_and_writes_across_branches():
    class Net(Counter):
        @ms.jit
        def construct(self, x):
            print("a", self.count)
            if x.sum() > 0:
                self.count = self.count + 1
                print("b", self.count)
            self.count = self.count * 10
            print("c", self.count)
            return x
    net = Net()
    net(Tensor([1.]))
    net(Tensor([-1.]))
    return net.count


@program
def hook_on_cell_under_jit():
    seen = []

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.relu = nn.ReLU()

        def construct(self, x):
            return self.relu(x) * 2
    net = Net()

    def hook(cell, grad_input, grad_output):
        seen.append(1)
    net.relu.register_backward_hook(hook)

    @ms.jit
    def f(x):
        return ms.grad(net)(x)
    return f(Tensor([1., -1.])), len(seen)


@program
def forward_hook_on_cell_under_jit():
    seen = []

    class Net(nn.Cell):
        @ms.jit
        def construct(self, x):
            return x * 2
    net = Net()

    def hook(cell, inputs, output):
        seen.append(1)
    net.register_forward_hook(hook)
    return net(Tensor([1.])), len(seen)


@program
def insert_gradient_of():
    def twice(dx):
        return dx * 2
    double = ops.InsertGradientOf(twice)

    def f(x):
        return double(x) * 3

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([1.]))


@program
def hook_on_tensor_under_jit():
    def double(g):
        return g * 2

    @ms.jit
    def f(x):
        x.register_hook(double)
        return x * x
    return ms.grad(f)(Tensor([3.]))


@program
def parameter_chosen_by_the_run_is_written():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(Tensor([1.0]), name="a")
            self.b = Parameter(Tensor([2.0]), name="b")

        def pick(self, x):
            if x > 0:
                return self.a
            return self.b

        def construct(self, x):
            chosen = self.pick(x)
            ops.assign(chosen, x * 10)
            return chosen * 1, self.a * 1, self.b * 1
    net = Net()
    return net(Tensor([3.0])), net.a.value(), net.b.value()


@program
def parameters_chosen_by_the_run_are_written_in_turn():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(Tensor(1), name="a")
            self.b = Parameter(Tensor(2), name="b")

        def construct(self, x):
            if x > 0:
                return self.a, self.b
            return self.b, self.a

    class Outer(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def construct(self, x, y):
            chosen = self.net(x)
            first = ops.addn(chosen)
            ops.assign(chosen[1], y)
            second = ops.addn(chosen)
            ops.assign(chosen[0], 2 * y)
            return first + second, chosen[0] + chosen[1]
    net = Net()
    return Outer(net)(Tensor(3), Tensor(5)), net.a.value(), net.b.value()


@program
def parameter_chosen_by_the_run_is_read():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(Tensor([1.0]), name="a")
            self.b = Parameter(Tensor([2.0]), name="b")

        def construct(self, x):
            if x > 0:
                chosen = self.a
            else:
                chosen = self.b
            return chosen + x
    net = Net()
    return net(Tensor([3.0])), net(Tensor([-3.0])), ops.GradOperation(get_by_list=True)(net, net.trainable_params())(Tensor([3.0]))


@program
def arguments_of_one_name():
    @ms.jit
    def f(x, y):
        return x, y
    return f(Parameter(Tensor(1), name="x"), Parameter(Tensor(2), name="x"))


@program
def arguments_without_names():
    @ms.jit
    def f(x, y):
        return x + y
    return f(Parameter(Tensor(1)), Parameter(Tensor(2)))
