# SPDX-License-Identifier: Apache-2.0
"""What is interpreted in the middle of a graph (LAX), and what is refused instead (STRICT)."""
import math
import os

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from graphtest import program, raised

LAX_LIST = [1, 2]


def strict():
    """Only the core subset from here on. MindSpore heeds the context for Cells in graph mode, the variable always."""
    ms.set_context(jit_syntax_level=ms.STRICT)
    os.environ["MS_DEV_JIT_SYNTAX_LEVEL"] = "0"


def helper_with_jit(x):
    @ms.jit
    def g(v):
        return v * 2
    return g(Tensor(x))


@program
def numpy_of_constants():
    @ms.jit
    def f(x):
        a = np.array([1, 2, 3])
        b = np.sqrt(16) + np.sum(a)
        return x + float(b)
    return f(Tensor([1.]))


@program
def numpy_constant_to_tensor():
    @ms.jit
    def f(x):
        return x + Tensor(np.array([1., 2.], np.float32)), Tensor(np.arange(3))
    return f(Tensor([1., 2.]))


@program
def numpy_array_returned():
    @ms.jit
    def f(x):
        return np.array([1, 2, 3])
    return f(Tensor([1.]))


@program
def numpy_of_run_time_value():
    @ms.jit
    def f(x):
        y = x.asnumpy()
        z = np.exp(y)
        return Tensor(z)
    return f(Tensor([1., 2.])), f(Tensor([0., 3.]))


@program
def asnumpy_then_operators():
    @ms.jit
    def f(x):
        y = (x * 2).asnumpy()
        return Tensor(y + 1) * 3
    return f(Tensor([1., 2.]))


@program
def asnumpy_with_dtype():
    @ms.jit
    def f(x):
        y = x.asnumpy() * 2
        return ms.tensor(y, dtype=ms.float32) + x
    return f(Tensor([1., 2.]))


@program
def asnumpy_returned():
    @ms.jit
    def f(x):
        return x.asnumpy()
    return f(Tensor([1., 2.]))


@program
def asnumpy_in_condition():
    @ms.jit
    def f(x):
        if x.asnumpy()[0] > 0:
            return x * 2
        return x
    return f(Tensor([1., 2.])), f(Tensor([-1., 2.]))


@program
def asnumpy_in_loop():
    @ms.jit
    def f(x):
        total = 0
        for v in x.asnumpy():
            total = total + v
        return total
    return f(Tensor([1., 2.]))


@program
def math_module():
    @ms.jit
    def f(x):
        return x * math.pi, x + math.sqrt(16), math.floor(2.7), math.log2(8)
    return f(Tensor([1.]))


@program
def math_of_tensor():
    @ms.jit
    def f(x):
        return math.sin(x)
    return f(Tensor(1.))


@program
def standard_library_call():
    @ms.jit
    def f(x):
        import_free = math.gcd(12, 18)
        return x * import_free
    return f(Tensor([1.]))


@program
def numpy_random_is_run_while_compiling():
    @ms.jit
    def f(x):
        return x * 0 + np.random.rand()
    return f(Tensor([1.]))[0] == f(Tensor([2.]))[0]


@program
def numpy_scalar_types():
    @ms.jit
    def f(x):
        return x + np.float32(1.5), np.int64(3), x * np.pi
    return f(Tensor([1.]))


@program
def numpy_array_indexing():
    @ms.jit
    def f(x):
        a = np.array([[1, 2], [3, 4]])
        return x + int(a[1, 0]), a.shape, a.sum()
    return f(Tensor([1.]))


@program
def numpy_set_item():
    @ms.jit
    def f(x):
        a = np.zeros((2,))
        a[0] = 5
        return a
    return f(Tensor([1.]))


@program
def numpy_attribute_of_cell():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = np.array([1., 2.], np.float32)

        @ms.jit
        def construct(self, x):
            return x * Tensor(self.table)
    return Net()(Tensor([3., 4.]))


@program
def numpy_closure_value():
    table = np.array([1., 2.], np.float32)

    @ms.jit
    def f(x):
        return x * Tensor(table)
    return f(Tensor([3., 4.]))


@program
def plain_object_with_tensor_method():
    class Box:
        def __init__(self, k):
            self.k = k

        def mix(self, x):
            return x * self.k + 1

    box = Box(Tensor([2.]))

    @ms.jit
    def f(x):
        return box.mix(x)
    return f(Tensor([3.]))


@program
def plain_function_with_try_is_interpreted():
    def g(x):
        try:
            return x + 1
        except ValueError:
            return x

    @ms.jit
    def f(x):
        return g(x)
    return f(Tensor([1.]))


@program
def set_builtin_in_graph():
    @ms.jit
    def f(x):
        s = set([1, 2, 2])
        return x + len(s), 2 in s
    return f(Tensor([1.]))


@program
def type_comment_pins_type():
    @ms.jit
    def f(x):
        y = ms.Tensor(x.asnumpy() * 2)  # @jit.typing: () -> tensor_type[float32]
        return y + 1
    return f(Tensor([1., 2.]))


@program
def gradient_does_not_flow_through_numpy():
    def f(x):
        y = Tensor(x.asnumpy() * 2)
        return x * y

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([3.]))


@program
def gradient_around_numpy_constant():
    def f(x):
        return x * float(np.sqrt(16.0))

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([3.]))


@program
def gradient_with_dict_and_none():
    def f(x):
        d = {"a": x * 2, "n": None}
        if d["n"] is None:
            return d["a"] * x
        return x

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([3.]))


@program
def fallback_inside_branch():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            y = Tensor(x.asnumpy() + 1)
        else:
            y = x
        return y
    return f(Tensor([1.])), f(Tensor([-1.]))


@program
def fallback_inside_run_time_loop():
    @ms.jit
    def f(x, n):
        while n > 0:
            x = x + Tensor(np.array([1.], np.float32))
            n = n - 1
        return x
    return f(Tensor([1.]), Tensor(3))


@program
def nested_compilation_from_interpreted_code():
    @ms.jit
    def f(x):
        y = x.asnumpy()
        return helper_with_jit(y)
    return f(Tensor([1.]))


@program
def tensor_tolist_and_item_in_graph():
    @ms.jit
    def f(x):
        values = x.tolist()
        return values, x[0].item() + 1
    return f(Tensor([1., 2.]))


@program
def string_of_run_time_value():
    @ms.jit
    def f(x):
        return "value: " + str(x.sum().item())
    return f(Tensor([1., 2.]))


@program
def sorted_of_run_time_values():
    @ms.jit
    def f(x):
        return sorted(x.tolist())
    return f(Tensor([3., 1., 2.]))


@program
def lambda_key_sort():
    @ms.jit
    def f(x):
        return sorted([(1, "b"), (2, "a")], key=lambda p: p[1])
    return f(Tensor([1.]))


@program
def isinstance_of_numpy():
    @ms.jit
    def f(x):
        a = np.array([1])
        return isinstance(a, np.ndarray), isinstance(x, np.ndarray)
    return f(Tensor([1.]))


@program
def ternary_with_fallback_value():
    @ms.jit
    def f(x, flag):
        return np.float32(2) * x if flag else x
    return f(Tensor([1.]), True), f(Tensor([1.]), False)


@program
def strict_plain_graph_code():
    strict()

    @ms.jit
    def f(x):
        if x.sum() > 0:
            return x * 2
        return x
    return f(Tensor([1.]))


@program
def strict_numpy():
    strict()

    @ms.jit
    def f(x):
        return Tensor(np.array([1., 2.], np.float32)) + x
    return f(Tensor([1., 2.]))


@program
def strict_numpy_returned():
    strict()

    @ms.jit
    def f(x):
        return np.array([1, 2])
    return f(Tensor([1., 2.]))


@program
def strict_asnumpy():
    strict()

    @ms.jit
    def f(x):
        return Tensor(x.asnumpy())
    return f(Tensor([1., 2.]))


@program
def strict_plain_object():
    strict()

    class Box:
        def __init__(self):
            self.k = 3

        def mul(self, x):
            return x * self.k

    box = Box()

    @ms.jit
    def f(x):
        return box.mul(x)
    return f(Tensor([1., 2.]))


@program
def strict_set_attribute():
    strict()

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.k = 1

        @ms.jit
        def construct(self, x):
            self.k = 2
            return x * self.k
    return Net()(Tensor([1.]))


@program
def strict_set_parameter():
    strict()

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(Tensor([1.]), name="p")

        @ms.jit
        def construct(self, x):
            self.p = x
            return self.p + 1
    net = Net()
    return net(Tensor([4.])), net.p


@program
def strict_set_attribute_of_other_object():
    strict()

    @ms.jit_class
    class Box:
        def __init__(self):
            self.k = 3

    box = Box()

    @ms.jit
    def f(x):
        box.k = 5
        return x
    return f(Tensor([1.]))


@program
def strict_dict_output():
    strict()

    @ms.jit
    def f(x):
        return {"a": x, "b": 2}
    return f(Tensor([1.]))


@program
def strict_list_output():
    strict()

    @ms.jit
    def f(x):
        return [x, 1]
    return f(Tensor([1.]))


@program
def strict_list_mutation_makes_new_list():
    strict()

    @ms.jit
    def f(x):
        LAX_LIST.extend([3])
        return LAX_LIST
    return f(Tensor([1.])), LAX_LIST


@program
def strict_is_with_values():
    strict()

    @ms.jit
    def f(x, y):
        return x is y
    return f(Tensor([1.]), 3)


@program
def strict_is_none():
    strict()

    @ms.jit
    def f(x, y=None):
        if y is None:
            return x
        return x + y
    return f(Tensor([1.])), f(Tensor([1.]), 2)


@program
def strict_sorted():
    strict()

    @ms.jit
    def f(x):
        return sorted([2, 1])
    return f(Tensor([1.]))


@program
def strict_none_and_string_output():
    strict()

    @ms.jit
    def f(x):
        return x, None, "s"
    return f(Tensor([1.]))


@program
def strict_join_of_dtypes():
    strict()

    @ms.jit
    def f(x):
        if x.sum() > 0:
            return x
        return x.astype(ms.int32)
    return f(Tensor([1.]))


@program
def strict_by_context_in_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE, jit_syntax_level=ms.STRICT)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.k = 1

        def construct(self, x):
            self.k = 2
            return x * self.k
    return Net()(Tensor([1.]))


@program
def syntax_level_is_lax_by_default():
    return ms.get_context("jit_syntax_level") == ms.LAX


@program
def strict_by_jit_config():
    def f(x):
        return Tensor(np.array([1.], np.float32)) + x
    return ms.jit(f, jit_config=ms.JitConfig(jit_syntax_level="STRICT"))(Tensor([1.]))


@program
def strict_comprehensions_and_fstring():
    strict()

    @ms.jit
    def f(x):
        return [x * i for i in range(2)], f"{x.shape[0]}"
    return f(Tensor([1.]))


@program
def strict_print_and_raise():
    strict()

    @ms.jit
    def f(x):
        print("x", x)
        if x.sum() < 0:
            raise ValueError("negative")
        return x
    return f(Tensor([1.]))


@program
def text_of_run_time_values():
    @ms.jit
    def f(x):
        print(f"value {x}")
        print("sum {} of {}".format(x.sum(), x.shape))
        return x + 1
    return f(Tensor([1., 2.]))


@program
def text_of_run_time_values_in_loop():
    @ms.jit
    def f(x, n):
        i = Tensor(0)
        while i < n:
            x = x * 2
            print(f"turn {i}: {x}")
            i = i + 1
        return x
    return f(Tensor([1., 2.]), Tensor(3))


@program
def text_of_run_time_values_raised():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            raise ValueError(f"the sum is {x.sum()}")
        return x
    return raised(f, Tensor([1., 2.]))


@program
def numpy_twice_between_operators():
    @ms.jit
    def f(x):
        y = ops.relu(x) * 2
        a = np.sort(y.asnumpy())
        z = Tensor(a) + x
        b = np.cumsum((z * 2).asnumpy())
        return Tensor(b) - y
    return f(Tensor([3., 1., 2.])), f(Tensor([-1., 4., 0.]))


@program
def numpy_in_run_time_loop():
    @ms.jit
    def f(x, n):
        i = 0
        while i < n:
            x = x + Tensor(np.ones(2, np.float32) * i)
            x = Tensor(x.asnumpy() * 2)
            i = i + 1
        return x
    return f(Tensor([1., 2.]), 3)
