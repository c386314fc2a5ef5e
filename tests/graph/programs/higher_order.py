# SPDX-License-Identifier: Apache-2.0
"""Functions that take functions: HyperMap and Map, MultitypeFuncGraph, functions chosen at run time, loops as operators."""
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.ops import composite as C

from graphtest import program, raised


def add(x, y):
    return x + y


def mapped(kind, a, b):
    mapping = kind()

    def call():
        return mapping(add, a, b)
    return raised(call), raised(ms.jit(call))


@program
def hypermap_lengths():
    return [mapped(C.HyperMap, a, b) for a, b in (((1, 2), (3,)), ([1, 2], [3]), ((), (1,)), ((1, 2), (3, 4)))]


@program
def map_lengths():
    return [mapped(C.Map, a, b) for a, b in (((1, 2), (3,)), ([1, 2], [3]), ((), (1,)), ((1, 2), (3, 4)))]


@program
def hypermap_leaves():
    x = Tensor([1.0])
    return [mapped(C.HyperMap, a, b) for a, b in (
        ((x, x), (1, (2, 3))), (((1, 2), 3), ((4, 5), 6)), (((x, x), (x, x)), (1, 2)), (x, (x, x)), ([x], (x,)), ([(x, 1)], [(x, 2)]))]


@program
def hypermap_dicts():
    @ms.jit
    def call(a, b):
        return C.HyperMap()(add, a, b)
    return call({"a": 1, "b": (2, 3)}, {"a": 4, "b": (5, 6)}), raised(call, {"a": 1}, {"b": 2}), raised(call, {"a": 1}, {"a": 2, "b": 3})


@program
def map_kinds():
    x = Tensor([1.0])
    return [mapped(C.Map, a, b) for a, b in (((1, 2), [1, 2]), ((x, x), 2), (x, (x, x)), ([(x, 1)], [(x, 2)]))]


@program
def one_implementation_takes_all():
    chosen = C.MultitypeFuncGraph("chosen")

    @chosen.register("Tensor", "Tensor")
    def _both(x, y):
        return x + y

    @ms.jit
    def call(x, y):
        return chosen(x, y)
    return call(1, 2), call(Tensor([1.0]), 2), chosen("a", "b"), raised(chosen, 1)


@program
def two_implementations_choose():
    chosen = C.MultitypeFuncGraph("chosen")

    @chosen.register("Tensor", "Tensor")
    def _both(x, y):
        return x + y

    @chosen.register("Tensor", "Number")
    def _number(x, y):
        return x - y

    @ms.jit
    def call(x, y):
        return chosen(x, y)
    return call(Tensor([1.0]), 2), call(Tensor([1.0]), Tensor([3.0])), raised(call, 1, 2), raised(chosen, 1, 2)


class Sin(nn.Cell):
    def construct(self, x):
        return ops.sin(x)


class Cos(nn.Cell):
    def construct(self, x):
        return ops.cos(x)


class Chosen(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = (Sin(), Cos())

    def construct(self, i, x):
        return self.layers[i](x)


@program
def layer_index():
    ms.set_context(mode=ms.GRAPH_MODE)
    net, x = Chosen(), Tensor([0.5, 1.0])
    return [raised(net, Tensor(i, kind), x) for i, kind in ((1, ms.int32), (-2, ms.int32), (2, ms.int32), (1.5, ms.float32))]


@program
def layer_index_of_one_dimension():
    ms.set_context(mode=ms.GRAPH_MODE)
    return Chosen()(Tensor([1], ms.int32), Tensor([0.5]))


@program
def layers_chosen_by_hypermap():
    ms.set_context(mode=ms.GRAPH_MODE)
    call = C.MultitypeFuncGraph("call")

    @call.register("Tensor", "Tensor", "Tuple")
    def _layer(i, x, layers):
        return layers[i](x)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mapping = C.HyperMap(call)
            self.layers = ((Sin(), Cos()), (Cos(), Sin()))

        def construct(self, i, j, x, y):
            return self.mapping((i, j), (x, y), self.layers)
    args = Tensor(1, ms.int32), Tensor(0, ms.int32), Tensor([0.5]), Tensor([1.0])
    return Net()(*args), ops.grad(Net(), grad_position=(2, 3))(*args)


@program
def layers_in_a_loop():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Times(nn.Cell):
        def __init__(self, n):
            super().__init__()
            self.n = n

        def construct(self, x):
            return self.n * x

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([Times(4), Times(5), Times(6)])

        def construct(self, x, i):
            out = x
            while i < 3:
                out = out + self.layers[i](x)
                i = i + 1
            return out
    args = Tensor(10.0), Tensor(0, ms.int32)
    return Net()(*args), ops.grad(Net())(*args)


@program
def functions_mapped():
    ms.set_context(mode=ms.GRAPH_MODE)
    apply = C.MultitypeFuncGraph("apply")

    @apply.register("Function")
    def _apply(function):
        return function(Tensor([1.0, 2.0]))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mapping = C.HyperMap(apply)

        def construct(self):
            return self.mapping((self.square, self.double))

        def square(self, x):
            return x * x

        def double(self, x):
            return x + x
    return Net()()


@program
def loops_as_operators():
    def body(x):
        return ops.relu(x) + 1

    def condition(x):
        return x.sum() < 100

    def step(total, item):
        total = total + item
        return total, total

    def turn(i, x):
        return x + i

    @ms.jit
    def until(x):
        return ops.WhileLoop()(condition, body, x)

    @ms.jit
    def scan(x):
        return ops.Scan()(step, x, [1, 2, 3, 4], 4, False)

    @ms.jit
    def count(x):
        return ops.ForiLoop()(0, 10, turn, x), ops.ForiLoop()(0, 10, turn, x, False)
    return until(Tensor([1.0])), scan(Tensor(0)), count(Tensor(0.0)), ops.grad(count)(Tensor(1.0))


@program
def text_or_number():
    @ms.jit
    def f(x):
        if x > 0:
            return "2"
        return 1
    return f(Tensor([1.0]))


@program
def text_or_tensor():
    @ms.jit
    def f(x):
        if x > 0:
            y = "2"
        else:
            y = x
        return y
    return f(Tensor([1.0]))


@program
def number_becomes_text():
    @ms.jit
    def f(x):
        y = 1
        while x < 3:
            y = "a"
            x = x + 1
        return y
    return f(Tensor([1.0]))


@program
def dtype_or_tensor():
    @ms.jit
    def f(x):
        if x > 0:
            y = ms.float32
        else:
            y = x * 2
        return y
    return f(Tensor([1.0])), f(Tensor([-1.0]))


@program
def gradient_writes_its_argument():
    class Net(nn.Cell):
        @ms.jit
        def construct(self, x, y):
            ops.assign_add(x, y)
            return y * y
    x, y = Parameter(Tensor([1.0, 2.0]), name="x"), Tensor([3.0, 4.0])
    return ops.GradOperation(get_all=True)(Net())(x, y), x.value()


@program
def gradient_counts_in_an_attribute():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.n = 6

        def construct(self, x):
            x = ops.abs(x)
            while self.n < 10:
                self.n *= 2
            return x
    net = Net()
    net.construct = ms.jit(net.construct)
    return ops.grad(net)(Tensor([3.0, -4.0])), net.n


@program
def blocks_between_marks():
    from mindspore.common.jit_begin_end import _jit_begin, _jit_end

    def f(x, y):
        _jit_begin("__trace__block__", x, y)
        a = x + y
        b = a * y
        a, b = _jit_end(a, b)
        return a - b
    return f(Tensor(1.0), Tensor(2.0)), f(Tensor(3.0), Tensor(2.0))


@program
def what_mutable_takes():
    itself = []
    itself.append(itself)
    return [raised(ms.mutable, value) for value in (None, "a", [None], (1, "a"), {"a": "b"}, itself, {1: 2}, [], [(1, 2), (1,)])], \
        raised(ms.mutable, 1, True), raised(ms.mutable, (1, 2), 1), raised(ms.mutable, {"a": 1}, True)


@program
def orders_of_derivatives():
    def cube(x):
        return x * x * x
    x = Tensor([2.0])
    return [raised(ops.derivative, cube, x, order) for order in (1, 2, True, 0, -1, 1.5)], ops.derivative(cube, Tensor([2]), 2), \
        raised(ops.derivative, cube, Tensor([2], ms.int16), 2)


@program
def series_of_a_curve():
    def cube(x):
        return x * x * x
    x = Tensor([2.0, 3.0])
    return ops.jet(cube, x, Tensor([[1.0, 1.0], [0.0, 2.0]])), ops.jet(cube, x, x), raised(ops.jet, cube, (x,), x)
