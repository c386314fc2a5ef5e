# SPDX-License-Identifier: Apache-2.0
"""What only the interpreter can do in the middle of a graph: other packages, plain classes, attributes of any object, and
the order of all that with Parameters and print."""
import builtins
import collections
import functools
import math
import operator
import re

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, amp, mutable, nn, ops

from graphtest import program, raised


class Plain:
    def __init__(self, value=10):
        self.value = value

    def __call__(self, x):
        return self.value * x

    def act(self, x, y):
        return self.value * (x + y)


class Holder:
    def __init__(self):
        self.inner = Plain(1)
        self.x = 1


holder = Holder()
array = np.array([1, 2, 3, 4])


class Calls(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x):
        return self.net(x)


def in_graph_mode(cell, *args):
    ms.set_context(mode=ms.GRAPH_MODE)
    return cell(*args)


@program
def interpreted_numpy_of_two_arguments():
    @ms.jit
    def f(a, b):
        return np.exp(a.asnumpy() + b.asnumpy())
    return f(Tensor(1., ms.float64), Tensor(2., ms.float64))


@program
def interpreted_gradient_through_numpy():
    class Net(nn.Cell):
        def construct(self, a, b):
            return np.exp(a.asnumpy() + b.asnumpy())
    ms.set_context(mode=ms.GRAPH_MODE)
    return ms.grad(Net())(Tensor(4, ms.int32), Tensor(5, ms.int32))


@program
def interpreted_tensor_of_asnumpy():
    @ms.jit
    def f(x):
        a = Tensor(x.asnumpy())
        return a, a.asnumpy()
    return f(Tensor([1., 2.]))


@program
def interpreted_operator_module():
    @ms.jit
    def f(x, y):
        return operator.add(x, y), operator.mul(x, y), operator.neg(x), operator.gt(x, y)
    return f(Tensor([1, 5]), Tensor([3, 4]))


@program
def interpreted_builtins_module():
    @ms.jit
    def f(x):
        return builtins.abs(x), builtins.len(x), builtins.max(1, 2)
    return f(Tensor([-1, 2]))


@program
def interpreted_functools_partial():
    def add(a, b):
        return a + b

    class Net(nn.Cell):
        def construct(self, x, y):
            return functools.partial(add, x)(y)
    return in_graph_mode(Net(), Tensor([1, 2]), Tensor([3, 4]))


@program
def interpreted_functools_reduce():
    @ms.jit
    def f(x, y):
        return functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]), functools.reduce(operator.add, (x, y, x))
    return f(Tensor([1]), Tensor([2]))


@program
def interpreted_regular_expression():
    @ms.jit
    def f():
        found = re.search(r"(.*) are (.*?) .*", "Cats are smarter than dogs")
        if found:
            print("group", found.group(1))
        return found.group(2)
    return f()


@program
def interpreted_deque():
    @ms.jit
    def f(x):
        out = collections.deque()
        for i in x:
            out.appendleft(i)
        return list(out)
    return f([1, 2, 3])


@program
def interpreted_math_of_mutable():
    @ms.jit
    def f(x):
        return math.ceil(x), math.floor(x), math.sqrt(4.0)
    return f(mutable(10.75))


@program
def interpreted_numpy_of_mutable():
    @ms.jit
    def f(x, y):
        return np.asarray([x, y]), np.arange(x + y)
    return f(mutable(1), mutable(2))


@program
def interpreted_numpy_axis_of_mutable():
    @ms.jit
    def f(x, axis):
        return np.prod(x.asnumpy(), axis=axis)
    return f(Tensor([[1, 2], [3, 4]]), mutable(1))


@program
def interpreted_tensor_of_numpy_arange():
    @ms.jit
    def f():
        n = mutable(3)
        return Tensor(np.arange(n))
    return f()


@program
def interpreted_array_in_returned_list():
    @ms.jit
    def f(x):
        return [1, x, np.array([1, 2])]
    return f(Tensor([2]))


@program
def interpreted_format_of_tensors():
    @ms.jit
    def f(x, y):
        return "{}, {}".format(x, y), "%s" % x
    return f(Tensor([2]), Tensor([1]))


@program
def interpreted_none_and_sequences_in():
    @ms.jit
    def f():
        a = [1, 2, None, [3, 4]]
        return None in a, [3, 4] in a, (None, 1) in ((None, 1), 2), None not in (1, 2)
    return f()


@program
def interpreted_add_of_number_and_text():
    @ms.jit
    def f():
        return 1 + "a"

    @ms.jit
    def g():
        return "a" & 1

    @ms.jit
    def h():
        return -"a"

    @ms.jit
    def k():
        return None + 1
    return raised(f), raised(g), raised(h), raised(k)


@program
def plain_object_called():
    return in_graph_mode(Calls(Plain()), Tensor([10.]))


@program
def plain_object_gives_tuple_list_dict():
    class Tuple(Plain):
        def __call__(self, x):
            return self.value * x, 100

    class List(Plain):
        def __call__(self, x):
            return [self.value * x, 100]

    class Dict(Plain):
        def __call__(self, x):
            return {"100": self.value * x}
    x = Tensor([10.])
    return in_graph_mode(Calls(Tuple()), x), in_graph_mode(Calls(List()), x), in_graph_mode(Calls(Dict()), x)


@program
def plain_object_with_compiled_call():
    class Compiled(Plain):
        @ms.jit
        def __call__(self, x):
            return self.value * x
    return raised(in_graph_mode, Calls(Compiled()), Tensor([10.]))


@program
def plain_object_calls_compiled_cell():
    class Inner(nn.Cell):
        @ms.jit
        def construct(self, x):
            return x + 10

    class Wrap:
        def __init__(self, model):
            self.model = model

        def __call__(self, x):
            return self.model(2 * x)
    return raised(in_graph_mode, Calls(Wrap(Inner())), Tensor(2))


@program
def plain_object_made_inside():
    class Net(nn.Cell):
        def construct(self, x, y):
            return Plain(2).act(x, y), Plain(x).act(x, y)
    return in_graph_mode(Net(), Tensor(1), Tensor(2))


@program
def plain_object_method_and_attribute():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cls = Plain(3)

        def construct(self, x):
            if self.cls.value == 3:
                return self.cls.act(x, self.cls.value)
            return x
    return in_graph_mode(Net(), Tensor([1, 2]))


@program
def plain_object_of_jit_class():
    @ms.jit_class
    class Outer:
        def __init__(self):
            self.inner = Plain(Tensor(2, ms.int32))

    class Net(nn.Cell):
        @ms.jit
        def construct(self, x, y):
            return Outer().inner.act(x, y)
    return Net()(2, 4)


@program
def plain_object_as_keyword():
    class Config:
        def __init__(self, **kwargs):
            self.aaa = kwargs.pop("aaa", 2.0)

    class Model(nn.Cell):
        def construct(self, a, b):
            return a * b

    class Net(nn.Cell):
        def __init__(self, config):
            super().__init__()
            self.config = config
            self.model = Model()

        def construct(self, x):
            return self.model(a=x, b=self.config.aaa)
    ms.set_context(mode=ms.GRAPH_MODE)
    return Net(Config())(x=Tensor(3))


@program
def plain_object_class_attributes():
    class Values:
        number, numbers, tensor = 10, (1, 2, 3), Tensor([1, 2, 3])
        tensors = [Tensor(1), Tensor(2)]

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.x = Values()

        def construct(self, x):
            return (self.x.number + x, self.x.numbers + (4,), -self.x.tensor, self.x.tensor * x, self.x.numbers[1:],
                    self.x.number == 10, self.x.numbers == (1, 2, 3), self.x.tensors[1], len(self.x.tensors))
    return in_graph_mode(Net(), 4)


@program
def plain_object_operators():
    class Vector:
        def __init__(self, v):
            self.v = v

        def __add__(self, other):
            return Vector(self.v + other.v)

        def __getitem__(self, i):
            return self.v[i]

        def __len__(self):
            return 3

        def __eq__(self, other):
            return self.v == other.v
    a, b = Vector([1]), Vector([2])

    @ms.jit
    def f():
        return (a + b).v, a[0], len(a), a == b
    return f()


@program
def plain_object_property_and_static():
    class Thing:
        scale = 3

        @property
        def double(self):
            return 2 * self.scale

        @staticmethod
        def half(x):
            return x / 2

        @classmethod
        def times(cls, x):
            return cls.scale * x

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.t = Thing()

        def construct(self, x):
            return self.t.double * x, self.t.half(x), self.t.times(x), Thing.half(x)
    return in_graph_mode(Net(), Tensor([4.]))


@program
def attribute_of_module_object_set():
    @ms.jit
    def f():
        holder.x = 99
        return holder.x
    return f(), holder.x


@program
def attribute_of_nested_object_set():
    @ms.jit
    def f(v):
        holder.inner.value = v
        holder.inner.value += 10
        return holder.inner.value
    return f(5), holder.inner.value


@program
def attribute_of_array_set():
    @ms.jit
    def f():
        array.shape = (2, 2)
        return array.shape, array
    return f()


@program
def attribute_set_several_times():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.data = 1

        def construct(self):
            self.data = 2
            a = self.data
            self.data = [3, 4]
            return a, self.data
    net = Net()
    return in_graph_mode(net), net.data


@program
def attribute_counts_calls():
    class Number(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = 1

        def construct(self):
            self.a = self.a + 1
            return self.a

    class Values(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Tensor([1, 2])

        def construct(self):
            self.a = self.a + 1
            return self.a

    class Array(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = np.array([1, 2])

        def construct(self):
            self.a = self.a + 1
            return self.a
    ms.set_context(mode=ms.GRAPH_MODE)
    out = []
    for make in (Number, Values, Array):
        net = make()
        out.append([net(), net(), net()])
    return out


@program
def attribute_in_while():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.x = 4

        def construct(self):
            count = 0
            while self.x:
                self.x = self.x - 1
                count = count + self.x
            return count, self.x
    return in_graph_mode(Net())


@program
def attribute_set_to_dict_and_none():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.d = None

        def construct(self, x):
            self.d = {"a": x}
            y = self.d["a"] + 1
            self.e = None
            return y
    net = Net()
    out = in_graph_mode(net, Tensor([1]))
    return out, net.d, net.e


@program
def attribute_by_setattr():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.k = 1

        def construct(self, x):
            setattr(self, "k", 5)
            return x * self.k
    net = Net()
    return in_graph_mode(net, Tensor([2])), net.k


@program
def order_of_parameter_and_object():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = Plain()
            self.para = Parameter(Tensor(2., ms.float64), name="para")

        def construct(self, x):
            out = x * self.para
            print("out:", out)
            out = self.net(x) + self.para
            self.para = 2 * x
            return out, self.para + 10
    return in_graph_mode(Net(), Tensor(10., ms.float64))


@program
def order_of_parameter_and_dict():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.para = Parameter(Tensor(2.), name="para")

        def construct(self, x):
            out = x * self.para
            d = {"a": Tensor(1.), "b": Tensor(2.)}
            self.para = d.get("a") + out
            out = d.get("b") - self.para
            d.update({"c": 3, "b": 4, "d": self.para + 1})
            return self.para + out, d
    return in_graph_mode(Net(), Tensor(10.))


@program
def order_of_parameter_and_asnumpy():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.para = Parameter(Tensor(2.), name="para")

        def construct(self, x):
            out = x * self.para
            self.para = 2 * x
            value = self.para * 1
            return out, value.asnumpy()
    return in_graph_mode(Net(), Tensor(10.))


@program
def order_of_jit_class_with_parameter():
    @ms.jit_class
    class Inner:
        def __init__(self):
            self.para = Parameter(Tensor(2.), name="para")

        def renew(self, x, y):
            self.para = x + y
            return self.para
    inner = Inner()

    class Net(nn.Cell):
        @ms.jit
        def construct(self, x, y):
            out = inner.renew(x, y) + x
            return out + inner.renew(out, y) * 1
    return Net()(Tensor(2.), Tensor(4.)), inner.para


@program
def loss_scaler_inside():
    @ms.jit
    def f(x):
        scaler = amp.DynamicLossScaler(scale_value=2 ** 10, scale_factor=2, scale_window=1)
        grads = (x, Tensor([0.2]))
        finite = amp.all_finite(scaler.unscale(grads))
        scaler.adjust(finite)
        return scaler.scale_value * 1, finite
    return f(Tensor([float("nan"), 1.0]))


@program
def dtype_as_condition():
    @ms.jit
    def f(x):
        dtype = x.dtype
        if dtype:
            return 0
        return 1

    @ms.jit
    def g(x):
        if x.dtype == ms.float32:
            return x * 2
        return x

    @ms.jit
    def h(x):
        return x.dtype in (ms.float16, ms.float32), str(x.dtype)
    return f(Tensor(True)), g(Tensor([1.])), g(Tensor([1])), h(Tensor([1.]))


@program
def length_of_arrays_as_condition():
    class Arrays:
        x, y, z = np.array([1, 2]), np.array([3, 4]), np.array([1, 2, 3, 4])

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = Arrays()

        def construct(self):
            if len(self.net.x) + len(self.net.y) == len(self.net.z):
                return Tensor(self.net.y)
            return Tensor(self.net.z)
    return in_graph_mode(Net())


@program
def slice_object_as_index():
    @ms.jit
    def f(x):
        a = slice(0, 3, 1)
        return x[a]
    return f(Tensor([1, 2, 3, 4, 5]))


@program
def reversed_and_zipped():
    @ms.jit
    def f(x, y):
        a = []
        for i, j in list(zip(reversed(x), reversed(y))):
            a.append(i + j)
        return a
    return f([1, 2, 3], [4, 5, 6])


@program
def all_over_array():
    @ms.jit
    def f(x, y):
        a = x.asnumpy()
        return all(e < y for e in a)
    return f(Tensor([1, 2, 3]), Tensor([10]))


@program
def import_inside():
    @ms.jit
    def f():
        import numpy as inner
        return inner.array([1.5])
    return f()


@program
def try_inside():
    @ms.jit
    def f(x, y):
        out = 1
        try:
            out = x / y
        except ZeroDivisionError:
            print("division by zero")
        return out
    return f(1, 0)


@program
def set_literal_inside():
    @ms.jit
    def f():
        x = {1, 2, 3}
        return sorted(x)
    return f()


@program
def condition_on_interpreted_value():
    @ms.jit
    def f(x):
        a = np.sum(x.asnumpy())
        if a > 3:
            return x * 2
        return x - 1
    return f(Tensor([1, 2])), f(Tensor([2, 2]))


@program
def loop_on_interpreted_value():
    @ms.jit
    def f(x):
        total = 0
        for v in x.asnumpy():
            total = total + v
        while total > 4:
            total = total - 3
        return total
    return f(Tensor([1, 2, 5]))


@program
def interpreted_value_into_operator():
    @ms.jit
    def f(x):
        axis = int(np.argmax(x.shape))
        return ops.softmax(x, axis), ops.reduce_sum(x, axis)
    return f(Tensor([[1., 2., 3.]]))


@program
def interpreted_numpy_printed():
    @ms.jit
    def f(x):
        a = np.array([1, 2, 3])
        print(a[0:2])
        print(a[:, None].shape)
        return a[None, :]
    return f(Tensor([1]))


@program
def interpreted_json_like_text():
    @ms.jit
    def f(x):
        names = "a,b,c".split(",")
        text = "-".join(names).upper()
        return names, text, text.startswith("A"), text.replace("-", "+"), len(text)
    return f(Tensor([1]))


@program
def attribute_of_other_kinds_counts_calls():
    class Counts(nn.Cell):
        def __init__(self, first, more):
            super().__init__()
            self.a, self.more = first, more

        def construct(self):
            self.a = self.a + self.more
            return self.a
    ms.set_context(mode=ms.GRAPH_MODE)
    out = []
    for first, more in (((1,), (2,)), ([1], [2]), ("a", "b")):
        net = Counts(first, more)
        out.append([net(), net(), net()])
    return out


@program
def attribute_as_flag_of_the_first_call():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = True

        def construct(self, x):
            if self.first:
                self.first = False
                return x * 10
            return x
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return net(Tensor([1])), net.first, net(Tensor([2])), net(Tensor([3]))


@program
def attribute_filled_by_the_first_call():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cache = None

        def construct(self, x):
            if self.cache is None:
                self.cache = x * 2
            return self.cache + x
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return net(Tensor([1])), net.cache, net(Tensor([2])), net(Tensor([3]))


@program
def attribute_switched_by_every_call():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.name = "even"

        def construct(self, x):
            if self.name == "even":
                self.name = "odd"
                return x + 1
            self.name = "even"
            return x - 1
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    return [net(Tensor([1])), net.name, net(Tensor([1])), net.name, net(Tensor([1]))]
