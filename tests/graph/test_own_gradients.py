# SPDX-License-Identifier: Apache-2.0
"""Gradients of one's own (bprop, hooks) in graph mode: equal to eager mode, also where only the run tells the course."""
import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, grad, jit, nn, ops


@pytest.fixture(autouse=True)
def eager_afterwards():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


class Hundred(nn.Cell):
    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (dout * 100,)


class FromOutput(nn.Cell):
    def construct(self, x):
        return ops.exp(x)

    def bprop(self, x, out, dout):
        return (out * dout * 2,)


class Inside(nn.Cell):
    """A Cell before a branch, and in a loop, of the run."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def construct(self, x):
        y = self.cell(x)
        if y.sum() > 0:
            y = y * 2
        while y.sum() < 60:
            y = self.cell(y)
        return y


class Weighted(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([1.0, 2.0]), name="w")
        self.internal_params = [self.w]

    def construct(self, x):
        return x * self.w

    def bprop(self, x, out, dout):
        return (dout * 10,), {self.w: dout * 7}


class Square(nn.Cell):
    def construct(self, x):
        return x * x


def with_hooks(*names):
    cell = Square()
    hooks = {"register_backward_hook": lambda cell, given, output: (given[0] * 10,),
             "register_backward_pre_hook": lambda cell, output: (output[0] * 7,),
             "register_forward_hook": lambda cell, given, output: output * 3,
             "register_forward_pre_hook": lambda cell, given: given[0] + 1}
    for name in names:
        getattr(cell, name)(hooks[name])
    return cell


def clipped(gradient):
    if gradient.sum() > 1.0:
        return gradient * 0 + 1.0
    return gradient


class Clipped(nn.Cell):
    def __init__(self):
        super().__init__()
        self.clip = ops.InsertGradientOf(clipped)

    def construct(self, x):
        return self.clip(x) ** 3


class Hooked(nn.Cell):
    def construct(self, x):
        y = x * 1
        y.register_hook(tenfold)
        return y * y


def tenfold(gradient):
    return gradient * 10


def in_both(run):
    answers = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        answers.append(run())
    return answers


CELLS = [Hundred, FromOutput, Clipped, Hooked, lambda: with_hooks("register_backward_hook"),
         lambda: with_hooks("register_backward_pre_hook"), lambda: with_hooks("register_forward_hook", "register_backward_hook"),
         lambda: with_hooks("register_forward_pre_hook", "register_backward_hook", "register_backward_pre_hook")]


@pytest.mark.parametrize("number", range(len(CELLS)))
@pytest.mark.parametrize("around", [lambda cell: cell, Inside])
def test_equal_to_eager_mode(number, around):
    eager, graph = in_both(lambda: grad(around(CELLS[number]()))(Tensor([2.0, 1.5])).asnumpy())
    assert np.array_equal(eager, graph), (eager, graph)
    plain = grad(Square())(Tensor([2.0, 1.5])).asnumpy()
    assert not np.array_equal(graph, plain)      # what is one's own was heeded


def test_second_order_goes_through_the_output():
    eager, graph = in_both(lambda: grad(grad(FromOutput()))(Tensor([0.25])).asnumpy())
    assert np.array_equal(eager, graph)
    assert np.allclose(eager, 4 * np.exp(0.25))


@pytest.mark.parametrize("around", [lambda cell: cell, Inside])
def test_gradients_of_internal_parameters(around):
    def run():
        net = around(Weighted())
        for_input, (for_weight,) = grad(net, 0, net.trainable_params())(Tensor([20.0, 30.0]))
        return for_input.asnumpy(), for_weight.asnumpy()
    eager, graph = in_both(run)
    assert np.array_equal(eager, graph)
    factor = 1 if around is not Inside else 2
    assert np.array_equal(eager, [[10 * factor] * 2, [7 * factor] * 2])


def test_hook_of_a_parameter_where_the_run_tells_the_course():
    def run():
        net = Inside(Square())
        net.w = Parameter(Tensor([1.0, 2.0]), name="w")
        net.w.register_hook(lambda gradient: gradient * 100)
        function = jit(grad(lambda x: net(x * net.w), None, [net.w]))
        return function(Tensor([2.0, 3.0]))[0].asnumpy()
    eager, graph = in_both(run)
    assert np.array_equal(eager, graph) and graph[0] > 100


def test_an_exception_of_a_bprop_comes_through():
    class Broken(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            raise KeyError("mine")
    ms.set_context(mode=ms.GRAPH_MODE)
    for cell in (Broken(), Inside(Broken())):
        with pytest.raises(KeyError, match="mine"):
            grad(cell)(Tensor([2.0, 3.0]))


def test_a_hook_that_is_added_or_removed_counts_from_the_next_call():
    ms.set_context(mode=ms.GRAPH_MODE)
    cell = Square()
    net = nn.SequentialCell(cell, nn.ReLU())
    x = Tensor([2.0])
    assert grad(net)(x) == 4
    handle = cell.register_backward_hook(lambda cell, given, output: (given[0] * 10,))
    assert grad(net)(x) == 40
    handle.remove()
    assert grad(net)(x) == 4 and net(x) == 4
    cell.register_forward_hook(lambda cell, given, output: output * 3)
    assert net(x) == 12


def test_hooks_are_functions_that_are_not_compiled():
    with pytest.raises(TypeError, match="Expected a callable hook function, but got str."):
        Square().register_forward_hook("no")
    with pytest.raises(TypeError, match="Decorating hook function hook with '@jit' is not supported."):
        @jit
        def hook(cell, given, output):
            return output
        Square().register_forward_hook(hook)


def test_defaults_of_construct_reach_bprop():
    class Optional(nn.Cell):
        def construct(self, x, y=None):
            return x * 2

        def bprop(self, x, y, out, dout):
            return dout * 30, None
    eager, graph = in_both(lambda: grad(Optional())(Tensor([2.0])).asnumpy())
    assert eager == graph == 30


def test_a_parameter_stays_the_one_it_is():
    class Swap(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = Parameter(Tensor(1.0), name="a"), Parameter(Tensor(2.0), name="b")

        def construct(self):
            kept = self.a * 1
            self.a = self.b
            self.b = kept
            return self.a + 0, self.b + 0

    class Number(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(Tensor(1.0), name="a")

        def construct(self):
            self.a = 3.5
            return self.a + 1
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Swap()
    assert [float(v) for v in (*net(), *net())] == [2, 1, 1, 2]
    assert float(Number()()) == 4.5


class Counting(nn.Cell):
    """Changes an attribute in a loop that only the run ends."""

    def __init__(self):
        super().__init__()
        self.n = 6
        self.seen = Tensor(0.0)

    def construct(self, x):
        self.seen = x.sum()
        while self.n < 10:
            self.n *= 2
        return x.abs()


def test_attributes_set_while_differentiating():
    for way in ("of a compiled method", "compiled whole"):
        net = Counting()
        if way == "of a compiled method":
            net.construct = jit(net.construct)
        gradient = grad(net) if way == "of a compiled method" else jit(grad(net))
        for start in (6, 5):
            net.n = start
            assert gradient(Tensor([3.0, -4.0])).asnumpy().tolist() == [1, -1]
            assert net.n == start * 2 and float(net.seen) == -1


def test_arguments_written_while_differentiating():
    def add(x, y):
        ops.assign_add(x, y)
        return y * y

    def add_by_course(x, y):
        ops.assign_add(x, y)
        return y * y if y.sum() > 0 else y
    x, y = Parameter(Tensor([1.0, 2.0]), name="x"), Tensor([3.0, 4.0])
    for i, function in enumerate((grad(add, 1), grad(jit(add), 1), jit(grad(add, (0, 1))), grad(jit(add), (0, 1)),
                                  jit(grad(add_by_course, (0, 1))), jit(grad(jit(add_by_course), (0, 1))))):
        found = function(x, y)
        found = found[1] if isinstance(found, tuple) else found
        assert found.asnumpy().tolist() == [6, 8]
        assert x.asnumpy().tolist() == [1 + 3 * (i + 1), 2 + 4 * (i + 1)]


def test_attribute_that_changes_its_type_in_a_loop():
    class Halving(nn.Cell):
        def __init__(self):
            super().__init__()
            self.c = 44

        def construct(self, x):
            if x.sum() > 1:
                self.c += 6
            while self.c > 20:
                x = x + 1
                self.c /= 2
            return x
    eager, compiled = Halving(), Halving()
    compiled.construct = jit(compiled.construct)
    x = Tensor([3.0])
    assert float(compiled(x)) == float(eager(x)) and compiled.c == eager.c == 12.5
