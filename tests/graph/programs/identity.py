# SPDX-License-Identifier: Apache-2.0
"""What is the caller's own object: lists and dicts given back or changed, wherever they stand; Tensors in sequences."""
import os

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

from graphtest import program, raised


@program
def list_inside_a_tuple_comes_back():
    @ms.jit
    def f(x):
        return x[0]
    given = ([1, 2], 3)
    return f(given) is given[0]


@program
def dict_holding_a_list_comes_back_inside_another():
    @ms.jit
    def f(d):
        return {"k": d["a"]}
    given = {"a": [1, 2]}
    return f(given)["k"] is given["a"]


@program
def list_inside_a_tuple_is_reversed():
    @ms.jit
    def f(x):
        y = x[0]
        y.reverse()
        return y
    given = ([1, 2, 3], 4)
    return f(given) is given[0], given


@program
def list_of_lists_changed_outside_and_inside():
    @ms.jit
    def f(x):
        y = x[0]
        y.extend([9])
        x.reverse()
        return x
    given = [[1], [2], [3]]
    return f(given) is given, given


@program
def mutable_list_is_not_the_callers():
    @ms.jit
    def f(x):
        x.reverse()
        return x
    given = ms.mutable([1, 2, 3])
    return f(given) is given, f(given)


@program
def lists_that_share_items_around_an_index_of_the_run():
    @ms.jit
    def f(i, more):
        x = [[1], [2], [3], [4]]
        for k in range(1, len(x)):
            y = x[Tensor([k])]
            y.extend([4])
            x.insert(1, [5])
            x.reverse()
            z = x[i]
            z.extend(more[k])
            x.pop()
        return x
    return f(Tensor([2]), [Tensor([1]), Tensor([2]), Tensor([3]), Tensor([4])])


@program
def dicts_of_different_keys_in_two_branches():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            return None, {"a": x}
        return None, {"b": x * 2}
    return f(Tensor([1, 2])), f(Tensor([-1, -2]))


@program
def tensor_of_many_elements_in_a_sequence():
    @ms.jit
    def f(x, y):
        return x in (x + 0, y), x in [y], x not in (y, "text"), x in (1, 2)
    return f(Tensor([1, 2, 3]), Tensor([1, 1, 3]))


@program
def tensor_of_other_shape_in_a_sequence():
    @ms.jit
    def f(x, y):
        return x in (y, "text")
    return bool(f(Tensor([1, 2, 3]), Tensor([1, 2]))), bool(f(Tensor([1, 1]), Tensor([1])))


@program
def slice_with_a_bound_that_is_no_int():
    @ms.jit
    def f(x):
        return "abcdef"[slice(x, 4.5)], x
    return raised(f, 1)


@program
def attribute_of_a_parameter_is_set():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.0]), name="w")

        def construct(self):
            self.w.name = "other"
            return self.w
    return raised(Net())


@program
def print_gives_each_argument_a_line():
    @ms.jit
    def f(x):
        print("a", 1)
        print("b", x)
        print(f"c {x}", "d")
        print("%d" % 3, "e")
        return x
    return f(Tensor([2, 3]))


@program
def strict_by_environment():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.k = 1

        def construct(self):
            self.k = 2
            return self.k

    @ms.jit
    def array(x):
        return np.sum(x.asnumpy())

    @ms.jit
    def table(x):
        return {"a": x}
    os.environ["MS_DEV_JIT_SYNTAX_LEVEL"] = "0"
    return raised(Net()), raised(array, Tensor([1])), table(Tensor([1]))


@program
def parameter_made_by_an_object_of_the_graph():
    @ms.jit_class
    class Held:
        def __init__(self):
            self.n = Parameter(Tensor([2]), name="held")

        def __enter__(self):
            self.n *= 2
            return self.n

        def __exit__(self, kind, value, trace):
            self.n *= 4

    class Net(nn.Cell):
        def construct(self):
            held = Held()
            y = 1
            with held as n:
                y += n
            return y, held.n
    return Net()()


@program
def comprehension_with_two_loops():
    @ms.jit
    def listed(x):
        return [a + b for a in x for b in x]

    @ms.jit
    def tabled(x):
        return {a: b for a in x for b in x}
    return raised(listed, [1, 2]), raised(tabled, [1, 2])


@program
def sum_of_an_attribute_list_with_a_tensor():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.x = [Tensor([1]), Tensor([2])]

        def construct(self, y):
            self.x.extend((y,))
            return ops.addn(self.x)
    return Net()(Tensor([5]))
