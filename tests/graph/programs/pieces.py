# SPDX-License-Identifier: Apache-2.0
"""Functions of which a part must be run by Python: what the rest of them makes of it."""
import bisect
import copy
import itertools
import json

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from graphtest import program, raised


class Scaler:
    """A plain class, which compiled code knows nothing of."""

    def __init__(self, k):
        self.k, self.calls = k, 0

    def __call__(self, x):
        self.calls += 1
        return x * self.k

    def numbers(self, x):
        return sorted(float(v) for v in x.asnumpy())


@program
def sorted_values_beside_tensor():
    @ms.jit
    def f(x):
        y = x * 2
        return y, sorted(y.asnumpy().tolist())
    return f(Tensor([3., 1., 2.]))


@program
def plain_class_with_numpy():
    scaler = Scaler(3)

    @ms.jit
    def f(x):
        y = ops.relu(x)
        n = scaler.numbers(y)
        return y + n[0]
    return f(Tensor([3., 1., 2.]))


@program
def set_of_run_time_values():
    @ms.jit(capture_mode="bytecode")
    def f(x):
        y = x + 1
        kinds = {int(v) for v in y.asnumpy()}
        return y * len(kinds), sorted(kinds)
    return f(Tensor([3., 1., 3.]))


@program
def standard_library_in_the_middle():
    @ms.jit(capture_mode="bytecode")
    def f(x):
        y = x * 2
        at = bisect.bisect([0.5, 3.5, 5.5], float(y.asnumpy()[0]))
        text = json.dumps({"at": at})
        pairs = list(itertools.pairwise(y.asnumpy().tolist()))
        return y + at, text, pairs
    return f(Tensor([2., 3.]))


@program
def try_finally_and_return():
    @ms.jit(capture_mode="bytecode")
    def f(x, fail):
        y = x + 1
        try:
            if fail:
                raise KeyError("no")
            return y * 2
        except KeyError:
            y = y - 5
        finally:
            z = 3
        return y * z
    return f(Tensor([1.]), False), f(Tensor([1.]), True)


@program
def exception_of_operator_caught():
    @ms.jit(capture_mode="bytecode")
    def f(x):
        try:
            y = ops.reshape(x, (7, 7))
        except ValueError:
            y = x * 2
        return y + 1
    return f(Tensor([1., 2.]))


@program
def while_on_numpy_condition():
    @ms.jit
    def f(x):
        n = 0
        while x.asnumpy().max() > 1:
            x = x / 2
            n = n + 1
        return x, n
    return f(Tensor([8., 3.]))


@program
def list_grows_between_pieces():
    @ms.jit
    def f(x):
        kept = []
        for i in range(3):
            x = x + i
            kept.append(float(x.asnumpy()[0]))
        return x * len(kept), kept
    return f(Tensor([1., 2.]))


@program
def attribute_set_between_pieces():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.seen = 0
            self.w = Parameter(Tensor([2.]), name="w")

        def construct(self, x):
            y = x * self.w
            self.seen = int(y.asnumpy().sum())
            return y + self.seen
    net = Net()
    net.construct = ms.jit(net.construct)
    return net(Tensor([1.])), net(Tensor([5.])), net.seen


@program
def parameter_updated_between_pieces():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2., 3.]), name="w")

        def construct(self, x):
            self.w = self.w + x
            k = float(self.w.asnumpy().sum())
            ops.assign(self.w, self.w * k)
            return self.w * 2
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return net(Tensor([1., 1.])), net(Tensor([0., 1.])), net.w.asnumpy().tolist()


@program
def cell_with_break_inside_cell():
    class Inner(nn.Cell):
        def construct(self, x):
            y = ops.tanh(x)
            return y + float(np.round(y.asnumpy().sum()))

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def construct(self, x):
            y = self.inner(x * 2)
            return self.inner(y) - x
    ms.set_context(mode=ms.GRAPH_MODE)
    return Outer()(Tensor([0.5, 1.5]))


@program
def copy_of_structure():
    @ms.jit(capture_mode="bytecode")
    def f(x):
        d = {"a": [x, x + 1]}
        e = copy.copy(d)
        e["b"] = Tensor(d["a"][1].asnumpy() * 3)
        return d, e["b"] + e["a"][0]
    return f(Tensor([1.]))


@program
def nested_function_with_numpy():
    @ms.jit
    def f(x):
        def largest(v):
            return float(v.asnumpy().max())
        y = x * 2
        k = largest(y)
        return y / k
    return f(Tensor([1., 4.]))


@program
def early_return_by_numpy_value():
    @ms.jit
    def f(x):
        y = x - 1
        if y.asnumpy().min() < 0:
            return ops.abs(y)
        z = ops.sqrt(y)
        return z + 1
    return f(Tensor([0., 4.])), f(Tensor([2., 5.]))


@program
def gradient_around_numpy_sum():
    @ms.jit
    def f(x):
        y = x * x
        k = float(np.asarray([2.0]).sum())
        return (y * k).sum()
    return ms.grad(f)(Tensor([1., 3.]))


@program
def raise_after_numpy():
    @ms.jit
    def f(x):
        y = x * 2
        if y.asnumpy().sum() > 10:
            raise ValueError("too much")
        return y
    return f(Tensor([1.])), raised(f, Tensor([9.]))


@program
def bytecode_walrus_and_match():
    @ms.jit(capture_mode="bytecode")
    def f(x, kind):
        if (n := x.shape[0]) > 2:
            x = x[:2]
        match kind:
            case "a":
                x = x + n
            case _:
                x = x * n
        return x
    return f(Tensor([1., 2., 3.]), "a"), f(Tensor([1., 2.]), "b")


@program
def bytecode_generator():
    @ms.jit(capture_mode="bytecode")
    def f(x):
        def parts(v):
            for i in range(3):
                yield v * i
        total = x
        for part in parts(x + 1):
            total = total + part
        return total
    return f(Tensor([1., 2.]))


@program
def bytecode_global_changed():
    @ms.jit(capture_mode="bytecode")
    def f(x):
        return x * COUNTER["n"]
    first = f(Tensor([1.]))
    COUNTER["n"] = 5
    return first, f(Tensor([1.]))


COUNTER = {"n": 2}


@program
def bytecode_attribute_changed():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.k = 2

        @ms.jit(capture_mode="bytecode")
        def construct(self, x):
            return x * self.k
    net = Net()
    first = net(Tensor([1.]))
    net.k = 3
    return first, net(Tensor([1.]))
