# SPDX-License-Identifier: Apache-2.0
"""Objects in compiled code: jit_class, plain classes, Cells, primitives, MultitypeFuncGraph and its kin, constexpr, `with`."""
import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore.common.initializer import initializer

from graphtest import program, raised

add_or_join = ops.MultitypeFuncGraph("add_or_join")


@add_or_join.register("Tensor", "Tensor")
def add_tensors(x, y):
    return x + y


@add_or_join.register("Number", "Number")
def multiply_numbers(x, y):
    return x * y


@add_or_join.register("Tensor", "Number")
def subtract(x, y):
    return x - y


@add_or_join.register("String", "String")
def join(x, y):
    return x + "-" + y


@ops.constexpr
def shape_product(shape):
    n = 1
    for s in shape:
        n *= s
    return n


@ops.constexpr
def sorted_names(names):
    return tuple(sorted(names))


@ms.jit_class
class Scaler:
    base = 10

    def __init__(self, k, offset=1):
        self.k = k
        self.offset = offset

    def scale(self, x):
        return x * self.k + self.offset

    def __call__(self, x):
        return self.scale(x) + self.base


@ms.jit_class
class Silent:
    def __init__(self):
        self.value = 3


@ms.jit_class
class Guard:
    def __init__(self, k):
        self.k = k

    def __enter__(self):
        print("enter", self.k)
        return self.k

    def __exit__(self, kind, value, trace):
        print("exit", self.k)


class Plain:
    def __init__(self, k):
        self.k = k

    def scale(self, x):
        return x * self.k


scaler = Scaler(4)
plain_object = Plain(6)


@program
def jit_class_attributes_and_methods():
    @ms.jit
    def f(x):
        return x + scaler.k, scaler.scale(x), scaler.base, scaler(x)
    return f(Tensor([1.]))


@program
def jit_class_constructed_inside():
    @ms.jit
    def f(x):
        s = Scaler(3, offset=2)
        return s.scale(x), s.k, Scaler(5)(x), Scaler.base
    return f(Tensor([1.]))


@program
def jit_class_constructed_with_tensor():
    @ms.jit
    def f(x):
        s = Scaler(x)
        return s.scale(x)
    return f(Tensor([3.]))


@program
def jit_class_not_callable():
    silent = Silent()

    @ms.jit
    def f(x):
        return silent(x)
    return f(Tensor([1.]))


@program
def jit_class_missing_attribute():
    @ms.jit
    def f(x):
        return x + scaler.nothing
    return f(Tensor([1.]))


@program
def jit_class_private_attribute():
    @ms.jit_class
    class Box:
        def __init__(self):
            self._hidden = 5

    box = Box()

    @ms.jit
    def f(x):
        return x + box._hidden
    return f(Tensor([1.]))


@program
def jit_class_as_cell_attribute():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scaler = Scaler(2)

        @ms.jit
        def construct(self, x):
            return self.scaler.scale(x) * self.scaler.offset
    return Net()(Tensor([1.]))


@program
def jit_class_attribute_set_inside():
    s = Scaler(2)

    @ms.jit
    def f(x):
        s.k = 100
        return s.scale(x)
    return f(Tensor([1.])), s.k


@program
def jit_class_changed_outside():
    s = Scaler(2)

    @ms.jit
    def f(x):
        return s.scale(x)
    first = f(Tensor([1.]))
    s.k = 50
    return first, f(Tensor([1.]))


@program
def jit_class_on_cell():
    return ms.jit_class(nn.ReLU)


@program
def jit_class_on_function():
    return ms.jit_class(lambda x: x)


@program
def jit_class_with_parameter():
    @ms.jit_class
    class Store:
        def __init__(self):
            self.p = Parameter(Tensor([1., 2.]), name="stored")

        def read(self, x):
            return x * self.p

    store = Store()

    @ms.jit
    def f(x):
        return store.read(x)
    return f(Tensor([3., 4.]))


@program
def jit_class_returned():
    @ms.jit
    def f(x):
        return scaler
    return type(f(Tensor([1.]))).__name__


@program
def jit_class_recursive_methods():
    @ms.jit_class
    class Counter:
        def down(self, n, x):
            if n > 0:
                return self.down(n - 1, x + 1)
            return x

    counter = Counter()

    @ms.jit
    def f(n, x):
        return counter.down(n, x)
    return f(3, Tensor([0.]))


@program
def plain_class_attribute():
    @ms.jit
    def f(x):
        return x * plain_object.k
    return f(Tensor([1.]))


@program
def plain_class_method():
    @ms.jit
    def f(x):
        return plain_object.scale(x)
    return f(Tensor([1.]))


@program
def plain_class_constructed_inside():
    @ms.jit
    def f(x):
        p = Plain(3)
        return p.scale(x) + p.k
    return f(Tensor([1.]))


@program
def plain_class_attribute_set_inside():
    @ms.jit
    def f(x):
        plain_object.k = 9
        return x * plain_object.k
    return f(Tensor([1.])), plain_object.k


@program
def with_jit_class():
    @ms.jit
    def f(x):
        with Guard(3) as k:
            y = x * k
            print("inside")
        return y
    return f(Tensor([1.]))


@program
def with_two_items():
    @ms.jit
    def f(x):
        with Guard(1) as a, Guard(2) as b:
            x = x + a * b
        return x
    return f(Tensor([1.]))


@program
def with_nested_and_branch():
    @ms.jit
    def f(x):
        with Guard(1):
            if x.sum() > 0:
                x = x * 2
            with Guard(2):
                x = x + 1
        return x
    return f(Tensor([1.])), f(Tensor([-1.]))


@program
def with_plain_class():
    class Manager:
        def __enter__(self):
            return 5

        def __exit__(self, kind, value, trace):
            return False

    manager = Manager()

    @ms.jit
    def f(x):
        with manager as k:
            y = x + k
        return y
    return f(Tensor([1.]))


@program
def cell_in_cell():
    class Block(nn.Cell):
        def __init__(self, k):
            super().__init__()
            self.k = k
            self.relu = nn.ReLU()

        def construct(self, x):
            return self.relu(x) * self.k

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = Block(2), Block(3)

        @ms.jit
        def construct(self, x):
            return self.b(self.a(x))
    return Net()(Tensor([1., -1.]))


@program
def cell_made_inside():
    class Block(nn.Cell):
        def __init__(self, k):
            super().__init__()
            self.k = k

        def construct(self, x):
            return x * self.k

    @ms.jit
    def f(x):
        return Block(3)(x), nn.ReLU()(x)
    return f(Tensor([1., -1.]))


@program
def cell_called_from_jit_function():
    net = nn.SequentialCell(nn.ReLU(), nn.Tanh())

    @ms.jit
    def f(x):
        return net(x) + 1
    return f(Tensor([0.5, -1.]))


@program
def cell_with_parameters():
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")

    @ms.jit
    def f(x):
        return net(x)
    first = f(Tensor([[1., 2.]]))
    net.weight.set_data(Tensor([[10., 20.]]))
    return first, f(Tensor([[1., 2.]]))


@program
def cell_attribute_of_child():
    class Child(nn.Cell):
        def __init__(self):
            super().__init__()
            self.k = 7
            self.p = Parameter(Tensor([2.]), name="p")

        def construct(self, x):
            return x

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.child = Child()

        @ms.jit
        def construct(self, x):
            return x * self.child.k + self.child.p
    return Net()(Tensor([1.]))


@program
def cell_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")

        def construct(self, x):
            if x.sum() > 0:
                return self.dense(x)
            return x
    net = Net()
    return net(Tensor([[1., 2.]])), net(Tensor([[-1., -2.]]))


@program
def cell_graph_mode_functions_stay_eager():
    ms.set_context(mode=ms.GRAPH_MODE)

    def f(x):
        values = {float(v) for v in x.asnumpy()}
        return x + len(values)
    return f(Tensor([1., 1., 2.]))


@program
def cell_graph_mode_train_flag_recompiles():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def construct(self, x):
            if self.training:
                return x * 2
            return x
    net = Net()
    first = net(Tensor([1.]))
    net.set_train()
    return first, net(Tensor([1.])), net.set_train(False)(Tensor([1.]))


@program
def cell_construct_argument_counts():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def construct(self, x, y, z=1):
            return x + y + z
    net = Net()
    one = Tensor([1.])
    return net(one, one), raised(net, one), raised(net, one, one, one, one), net(one, y=one)


@program
def cell_keyword_arguments():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def construct(self, x, *others, k=2):
            for o in others:
                x = x + o
            return x * k
    return Net()(Tensor([1.]), Tensor([2.]), k=3)


@program
def cell_list_and_dict():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = nn.CellDict({"relu": nn.ReLU(), "tanh": nn.Tanh()})
            self.items = nn.CellList([nn.ReLU(), nn.Sigmoid()])

        @ms.jit
        def construct(self, x, name):
            y = self.table[name](x)
            for cell in self.items[1:]:
                y = cell(y)
            return y, len(self.items)
    return Net()(Tensor([0.5, -1.]), "relu")


@program
def primitives_inside():
    @ms.jit
    def f(x):
        add = ops.Add()
        return add(x, x), ops.ReduceSum(keep_dims=True)(x, 1), ops.Transpose()(x, (1, 0)), ops.Concat(axis=0)((x, x))
    return f(Tensor([[1., 2.]]))


@program
def primitive_attribute():
    @ms.jit
    def f(x):
        p = ops.ReduceSum(True)
        return x, p.keep_dims
    return f(Tensor([[1., 2.]]))


@program
def primitives_as_attributes():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mul, self.cast, self.shape = ops.Mul(), ops.Cast(), ops.Shape()

        @ms.jit
        def construct(self, x):
            return self.cast(self.mul(x, 2), ms.int32), self.shape(x)
    return Net()(Tensor([[1., 2.]]))


@program
def multitype_dispatch():
    @ms.jit
    def f(x):
        return add_or_join(x, x), add_or_join(3, 4), add_or_join(x, 2), add_or_join("a", "b")
    return f(Tensor([1.]))


@program
def multitype_without_match():
    @ms.jit
    def f(x):
        return add_or_join("a", x)
    return f(Tensor([1.]))


@program
def multitype_eager():
    return add_or_join(Tensor([1.]), Tensor([2.])), add_or_join(3, 4)


@program
def hyper_map_over_tuples():
    @ms.jit
    def f(x):
        hyper_map = ops.HyperMap()
        return hyper_map(add_or_join, (x, (x, 3)), (x * 10, (x, 5)))
    return f(Tensor([1.]))


@program
def hyper_map_of_function():
    @ms.jit
    def f(x):
        return ops.HyperMap()(ops.square, (x, [x + 1, x + 2]))
    return f(Tensor([1.]))


@program
def hyper_map_with_partial():
    def scaled(k, x):
        return x * k

    @ms.jit
    def f(x):
        return ops.HyperMap()(ops.partial(scaled, 3), (x, x + 1))
    return f(Tensor([1.]))


@program
def map_keeps_one_level():
    @ms.jit
    def f(x):
        return ops.Map()(add_or_join, (x, 2), (x, 4))
    return f(Tensor([3.]))


@program
def map_with_fixed_function():
    @ms.jit
    def f(x):
        return ops.Map(add_or_join)((x, x + 1), (x, 2))
    return f(Tensor([3.]))


@program
def hyper_map_with_fixed_function_made_outside():
    add_all = ops.HyperMap(add_or_join)

    @ms.jit
    def f(x):
        return add_all((x, x + 1), (x, x))
    return f(Tensor([3.])), add_all((Tensor([1.]), 2), (Tensor([1.]), 4))


@program
def hyper_map_of_different_lengths():
    @ms.jit
    def f(x):
        return ops.HyperMap()(add_or_join, (x, x), (x,))
    return f(Tensor([1.]))


@program
def constexpr_of_shape():
    @ms.jit
    def f(x):
        n = shape_product(x.shape)
        return x.reshape((n,)) * n, sorted_names(("b", "a"))
    return f(ops.ones((2, 3)))


@program
def constexpr_of_variable():
    @ms.jit
    def f(x):
        return shape_product(x)
    return f(Tensor([1., 2.]))


@program
def parameter_tuple_attribute():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.ps = ParameterTuple([Parameter(Tensor([float(i)]), name=f"p{i}") for i in range(3)])

        @ms.jit
        def construct(self, x):
            for p in self.ps:
                x = x + p
            return x, len(self.ps), self.ps[1]
    return Net()(Tensor([1.]))


@program
def duplicate_parameter_names():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(Tensor([1.]), name="same")
            self.b = Parameter(Tensor([2.]), name="same")

        @ms.jit
        def construct(self, x):
            return x + self.a + self.b
    return Net()(Tensor([1.]))


@program
def parameters_of_two_nets_with_one_name():
    class Net(nn.Cell):
        def __init__(self, v):
            super().__init__()
            self.w = Parameter(Tensor([v]), name="w")

        def construct(self, x):
            return x * self.w
    a, b = Net(2.), Net(3.)

    @ms.jit
    def f(x):
        return a(x) + b(x)
    return f(Tensor([1.]))


@program
def parameter_as_argument():
    p = Parameter(Tensor([2.]), name="p")

    @ms.jit
    def f(x, w):
        return x * w
    return f(Tensor([3.]), p), f(p, p)


@program
def parameter_global():
    p = Parameter(Tensor([2.]), name="p")

    @ms.jit
    def f(x):
        return x * p
    first = f(Tensor([3.]))
    p.set_data(Tensor([5.]))
    return first, f(Tensor([3.]))


@program
def parameter_made_inside():
    @ms.jit
    def f(x):
        p = Parameter(Tensor([2.]), name="p")
        return x * p
    return f(Tensor([3.]))


@program
def parameter_attributes():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([[1., 2.]]), name="weight", requires_grad=False)

        @ms.jit
        def construct(self, x):
            return self.w.name, self.w.shape, self.w.dtype, self.w.requires_grad, x
    return Net()(Tensor([1.]))


@program
def initializer_inside_is_forbidden():
    @ms.jit
    def f(x):
        return x + initializer("ones", (2,), ms.float32)
    return f(Tensor([1., 2.]))


@program
def get_parameters_inside_is_forbidden():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(1, 1)

        @ms.jit
        def construct(self, x):
            n = 0
            for _ in self.dense.get_parameters():
                n += 1
            return x + n
    return Net()(Tensor([[1.]]))


@program
def trainable_params_inside():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(1, 1)

        @ms.jit
        def construct(self, x):
            return x + len(self.dense.trainable_params())
    return Net()(Tensor([[1.]]))


@program
def class_attribute_of_cell():
    class Net(nn.Cell):
        factor = 5

        @ms.jit
        def construct(self, x):
            return x * self.factor * Net.factor
    return Net()(Tensor([1.]))


@program
def cell_called_through_two_names():
    """One Cell used twice shares its Parameters."""
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(1, 1, weight_init="ones", bias_init="zeros")

        @ms.jit
        def construct(self, x):
            return self.dense(self.dense(x) * 2)
    net = Net()
    return net(Tensor([[3.]])), len(net.trainable_params())


@program
def lazy_inline_block():
    class Block(nn.Cell):
        @ms.lazy_inline
        def __init__(self, k):
            super().__init__()
            self.k = k

        def construct(self, x):
            return x * self.k + 1

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.CellList([Block(2), Block(2), Block(3)])

        @ms.jit
        def construct(self, x):
            for block in self.blocks:
                x = block(x)
            return x
    return Net()(Tensor([1.]))


@program
def lazy_inline_block_in_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Block(nn.Cell):
        @ms.lazy_inline
        def __init__(self, k):
            super().__init__()
            self.k = k
            self.w = Parameter(Tensor([float(k)]), name="w")

        def construct(self, x):
            return x * self.w + self.k

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.SequentialCell(Block(2), Block(2), Block(3))

        def construct(self, x):
            return self.blocks(x)
    net = Net()
    return net(Tensor([1.])), ms.grad(net)(Tensor([1.]))


@program
def training_flag_set_before_the_first_call():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def construct(self, x):
            if self.training:
                return x * 2
            return x
    return Net().set_train()(Tensor([1.])), Net()(Tensor([1.]))


@program
def batch_norm_trained_in_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = nn.BatchNorm1d(2).set_train()
    x = Tensor([[1., 2.], [3., 6.]])
    return net(x), net(x), net.moving_mean, net.moving_variance


@program
def dropout_trained_in_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = nn.Dropout(p=0.5).set_train()
    y = net(ops.ones((200,))).asnumpy()
    return 60 < (y == 2).sum() < 140, int((y == 0).sum() + (y == 2).sum())


@program
def parameter_assigned_outside_in_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    first = net(Tensor([[1., 2.]]))
    net.weight.set_data(Tensor([[10., 20.]]))
    second = net(Tensor([[1., 2.]]))
    ops.assign(net.weight, Tensor([[100., 200.]]))
    return first, second, net(Tensor([[1., 2.]]))


@program
def parameter_of_cell_assigned_outside():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.]), name="w")

        @ms.jit
        def construct(self, x):
            return x * self.w
    net = Net()
    first = net(Tensor([3.]))
    net.w.set_data(Tensor([5.]))
    second = net(Tensor([3.]))
    ops.assign(net.w, Tensor([7.]))
    return first, second, net(Tensor([3.]))


@program
def parameter_global_assigned_in_place():
    p = Parameter(Tensor([2.]), name="p")

    @ms.jit
    def f(x):
        return x * p
    first = f(Tensor([3.]))
    ops.assign(p, Tensor([5.]))
    return first, f(Tensor([3.]))


@program
def cell_with_dropout_in_both_modes():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = nn.Dropout(p=0.5)
    x = ops.ones((200,))
    plain = net(x)
    net.set_train()
    dropped = net(x)
    kept = int((dropped.asnumpy() == 2).sum())
    return plain.sum(), 60 < kept < 140, int((dropped.asnumpy() == 0).sum()) + kept


@program
def batch_norm_in_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = nn.BatchNorm1d(2)
    x = Tensor([[1., 2.], [3., 6.]])
    plain = net(x)
    net.set_train()
    trained = net(x)
    return plain, trained, net.moving_mean, net.moving_variance
