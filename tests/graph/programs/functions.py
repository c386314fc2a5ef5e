# SPDX-License-Identifier: Apache-2.0
"""Functions as values: nesting, recursion, closures, lambdas, partial, arguments of all kinds."""
from functools import partial

import mindspore as ms
from mindspore import Tensor, mutable, nn, ops

from graphtest import program


def factorial(n):
    if n <= 1:
        return n
    return n * factorial(n - 1)


def count_down(n, x):
    if n > 0:
        return count_down(n - 1, x + 1)
    return x


def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


def even_steps(n, x):
    if n > 0:
        return odd_steps(n - 1, x * 2)
    return x


def odd_steps(n, x):
    if n > 0:
        return even_steps(n - 1, x + 1)
    return -x


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def endless(x):
    return endless(x + 1)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, n + 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@program
def recursion_on_constant():
    return ms.jit(factorial)(5)


@program
def recursion_on_tensor():
    return ms.jit(factorial)(Tensor(5))


@program
def recursion_with_accumulator():
    return ms.jit(count_down)(Tensor(6), Tensor([0.5]))


@program
def recursion_on_mutable_number():
    return ms.jit(count_down)(mutable(6), Tensor([0.5]))


@program
def recursion_mutual_on_constant():
    return ms.jit(is_even)(7), ms.jit(is_even)(10)


@program
def recursion_mutual_on_tensor():
    return ms.jit(even_steps)(Tensor(5), Tensor([1.])), ms.jit(even_steps)(Tensor(4), Tensor([1.]))


@program
def recursion_tree_on_tensor():
    return ms.jit(fibonacci)(Tensor(10))


@program
def recursion_tree_on_constant():
    return ms.jit(fibonacci)(7)


@program
def recursion_nested_in_argument():
    return ms.jit(ackermann)(Tensor(2), Tensor(3))


@program
def recursion_deep_on_tensor():
    return ms.jit(count_down)(Tensor(500), Tensor([0.]))


@program
def recursion_deep_on_constant():
    return ms.jit(count_down)(200, Tensor([0.]))


@program
def recursion_endless():
    return ms.jit(endless)(Tensor([1.]))


@program
def recursion_deeper_than_the_limit():
    ms.set_recursion_limit(40)
    return ms.jit(count_down)(100, Tensor([0.]))


@program
def recursion_of_nested_function():
    @ms.jit
    def f(x, n):
        def power(v, k):
            if k == 0:
                return v * 0 + 1
            return v * power(v, k - 1)
        return power(x, n)
    return f(Tensor([2., 3.]), 4), f(Tensor([2., 3.]), Tensor(4))


@program
def recursion_of_method():
    class Net(nn.Cell):
        def halve(self, x, n):
            if n > 0:
                return self.halve(x / 2, n - 1)
            return x

        @ms.jit
        def construct(self, x, n):
            return self.halve(x, n)
    return Net()(Tensor([16.]), Tensor(3))


@program
def nested_function_reads_outer_name():
    @ms.jit
    def f(x):
        scale = x * 2

        def g(y):
            return y + scale
        return g(x) + g(x * 10)
    return f(Tensor([1., 2.]))


@program
def closure_sees_value_at_definition():
    @ms.jit
    def f(x):
        k = 1

        def g(y):
            return y * k
        k = 100
        return g(x)
    return f(Tensor([1.]))


@program
def lambda_sees_value_at_definition():
    @ms.jit
    def f(x):
        k = 1
        g = lambda y: y * k                                                                      # noqa: E731
        k = 100
        return g(x)
    return f(Tensor([1.]))


@program
def closure_returned_and_called():
    def adder(n):
        def add(x):
            return x + n
        return add

    @ms.jit
    def f(x):
        return adder(3)(x) * adder(x)(x)
    return f(Tensor([1., 2.]))


@program
def closure_over_tensor_in_loop():
    @ms.jit
    def f(x):
        fs = []
        for i in range(3):
            def g(y):
                return y * i + x
            fs.append(g)
        return fs[0](x), fs[1](x), fs[2](x)
    return f(Tensor([1., 2.]))


@program
def closure_over_python_value_of_caller():
    offset = 5

    @ms.jit
    def f(x):
        return x + offset
    return f(Tensor([1.]))


@program
def closure_two_levels_deep():
    @ms.jit
    def f(x):
        a = x + 1

        def g(y):
            b = y * a

            def h(z):
                return a + b + z
            return h(y) + h(a)
        return g(x)
    return f(Tensor([1., 2.]))


@program
def closure_assigning_outer_name_makes_a_local():
    @ms.jit
    def f(x):
        k = x

        def g():
            k = x * 10
            return k
        return g(), k
    return f(Tensor([1.]))


@program
def nonlocal_statement():
    @ms.jit
    def f(x):
        k = x

        def g():
            nonlocal k
            k = k + 1
            return k
        y = g()
        return y, k
    return f(Tensor([1.]))


@program
def lambda_in_a_name():
    @ms.jit
    def f(x):
        g = lambda a, b: a * b + 1                                                               # noqa: E731
        return g(x, 3)
    return f(Tensor([1., 2.]))


@program
def lambda_called_at_once():
    @ms.jit
    def f(x):
        return (lambda v: v * v)(x + 1)
    return f(Tensor([1., 2.]))


@program
def lambda_with_default():
    @ms.jit
    def f(x):
        g = lambda v, k=4: v * k                                                                 # noqa: E731
        return g(x), g(x, 2), g(x, k=3)
    return f(Tensor([1., 2.]))


@program
def lambda_in_jit():
    f = ms.jit(lambda x: x * 2 + 1)
    return f(Tensor([1., 2.]))


@program
def lambda_as_argument():
    def twice(g, x):
        return g(g(x))

    @ms.jit
    def f(x):
        return twice(lambda v: v + 3, x)
    return f(Tensor([1., 2.]))


@program
def lambda_from_outside():
    square = lambda v: v * v                                                                     # noqa: E731

    @ms.jit
    def f(x):
        return square(x) + 1
    return f(Tensor([1., 2.]))


@program
def function_as_argument():
    def apply(g, x, n):
        for _ in range(n):
            x = g(x)
        return x

    @ms.jit
    def f(x):
        return apply(ops.tanh, x, 2), apply(lambda v: v - 1, x, 3)
    return f(Tensor([0.5, 1.]))


@program
def functions_in_a_tuple():
    @ms.jit
    def f(x):
        fs = (ops.relu, lambda v: v * 10, ops.abs)
        out = ()
        for g in fs:
            out += (g(x),)
        return out
    return f(Tensor([-1., 2.]))


@program
def functions_in_a_dict():
    @ms.jit
    def f(x, name):
        table = {"double": lambda v: v * 2, "square": lambda v: v * v}
        return table[name](x)
    return f(Tensor([3.]), "double"), f(Tensor([3.]), "square")


@program
def partial_of_function():
    def affine(x, scale, shift):
        return x * scale + shift

    @ms.jit
    def f(x):
        g = partial(affine, scale=3, shift=1)
        h = partial(affine, x)
        return g(x), h(2, 0), partial(affine, x, shift=10)(scale=2)
    return f(Tensor([1., 2.]))


@program
def partial_with_keywords():
    def affine(x, scale, shift):
        return x * scale + shift

    @ms.jit
    def f(x):
        g = partial(affine, scale=3, shift=1)
        return g(x)
    return f(Tensor([1., 2.]))


@program
def partial_with_positions():
    def affine(x, scale, shift):
        return x * scale + shift

    @ms.jit
    def f(x):
        h = partial(affine, x)
        k = partial(affine, x, 2)
        return h(2, 0), k(10)
    return f(Tensor([1., 2.]))


@program
def partial_of_partial():
    def affine(x, scale, shift):
        return x * scale + shift

    @ms.jit
    def f(x):
        return partial(partial(affine, x), 5)(1)
    return f(Tensor([1., 2.]))


@program
def ops_partial():
    def affine(x, scale, shift):
        return x * scale + shift

    @ms.jit
    def f(x):
        return ops.partial(affine, x, 5)(1)
    return f(Tensor([1., 2.]))


@program
def partial_made_outside():
    def affine(x, scale, shift):
        return x * scale + shift
    g = partial(affine, scale=3)

    @ms.jit
    def f(x):
        return g(x, shift=2)
    return f(Tensor([1., 2.]))


@program
def jit_of_partial():
    def affine(x, scale, shift):
        return x * scale + shift
    return ms.jit(partial(affine, scale=3, shift=2))(Tensor([1., 2.]))


@program
def default_arguments():
    @ms.jit
    def f(x, a=2, b=(1, 2), c=None):
        y = x * a + b[0] - b[1]
        return y if c is None else y * c
    return f(Tensor([1.])), f(Tensor([1.]), 3), f(Tensor([1.]), c=10), f(Tensor([1.]), b=(5, 5))


@program
def default_of_inner_function():
    @ms.jit
    def f(x):
        def g(v, k=3, *, m=2):
            return v * k + m
        return g(x), g(x, 1), g(x, m=0)
    return f(Tensor([1.]))


@program
def keyword_arguments():
    @ms.jit
    def f(x, y, z=1):
        return x - y * z
    return f(Tensor([5.]), y=Tensor([2.])), f(y=Tensor([2.]), x=Tensor([5.]), z=2)


@program
def star_arguments():
    @ms.jit
    def f(x, *others):
        for o in others:
            x = x + o
        return x, len(others)
    return f(Tensor([1.])), f(Tensor([1.]), Tensor([2.]), Tensor([3.]))


@program
def double_star_arguments():
    @ms.jit
    def f(x, **options):
        if "scale" in options:
            x = x * options["scale"]
        return x + options.get("shift", 0)
    return f(Tensor([1.])), f(Tensor([1.]), scale=3), f(Tensor([1.]), scale=2, shift=5)


@program
def call_with_star_and_double_star():
    def g(a, b, c=0, d=0):
        return a + b * 10 + c * 100 + d * 1000

    @ms.jit
    def f(x):
        args = (x, x)
        options = {"c": x, "d": 2}
        return g(*args), g(*args, **options), g(x, *[1], **{"d": 1})
    return f(Tensor([1.]))


@program
def call_with_missing_argument():
    @ms.jit
    def f(x, y):
        return x + y
    return f(Tensor([1.]))


@program
def call_with_too_many_arguments():
    @ms.jit
    def f(x, y):
        return x + y
    return f(Tensor([1.]), 1, 2)


@program
def call_with_unknown_keyword():
    @ms.jit
    def f(x, y):
        return x + y
    return f(Tensor([1.]), z=2)


@program
def inner_call_with_missing_argument():
    def g(a, b):
        return a + b

    @ms.jit
    def f(x):
        return g(x)
    return f(Tensor([1.]))


@program
def inner_call_with_unknown_keyword():
    def g(a, b):
        return a + b

    @ms.jit
    def f(x):
        return g(x, c=3)
    return f(Tensor([1.]))


@program
def positional_only_and_keyword_only():
    @ms.jit
    def f(x, /, y, *, z):
        return x + y * z
    return f(Tensor([1.]), 2, z=3)


@program
def function_without_return():
    @ms.jit
    def f(x):
        y = x + 1                                                                                # noqa: F841
    return f(Tensor([1.]))


@program
def function_returning_none():
    @ms.jit
    def f(x):
        if x.shape[0] == 1:
            return
        return x
    return f(Tensor([1.])), f(Tensor([1., 2.]))


@program
def function_returning_nothing_in_one_branch():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            return x
    return f(Tensor([1.])), f(Tensor([-1.]))


@program
def statements_after_return():
    @ms.jit
    def f(x):
        return x + 1
        x = x.no_such_method()
        return x
    return f(Tensor([1.]))


@program
def jit_calls_jit():
    @ms.jit
    def g(x):
        return x * 2

    @ms.jit
    def f(x):
        return g(x) + g(x + 1)
    return f(Tensor([1.]))


@program
def undecorated_functions_are_compiled():
    def g(x):
        if x.sum() > 0:
            return h(x)
        return x

    def h(x):
        return x * 100

    @ms.jit
    def f(x):
        return g(x)
    return f(Tensor([1.])), f(Tensor([-1.]))


@program
def function_as_output():
    @ms.jit
    def f(x):
        def g(y):
            return y + x
        return g
    return f(Tensor([1.]))


@program
def functions_in_output_tuple():
    @ms.jit
    def f(x):
        return x, ops.relu
    return str(f(Tensor([1.]))[0])


@program
def function_attribute_call():
    class Net(nn.Cell):
        def __init__(self, act):
            super().__init__()
            self.act = act

        @ms.jit
        def construct(self, x):
            return self.act(x)
    return Net(ops.relu)(Tensor([-1., 1.])), Net(lambda v: v * 3)(Tensor([-1., 1.]))


@program
def function_attributes_from_names():
    class Net(nn.Cell):
        def __init__(self, act):
            super().__init__()
            self.act = act

        @ms.jit
        def construct(self, x):
            return self.act(x)

    def triple(v):
        return v * 3
    quadruple = lambda v: v * 4                                                                  # noqa: E731
    return Net(triple)(Tensor([1.])), Net(quadruple)(Tensor([1.]))


@program
def static_method():
    class Net(nn.Cell):
        @staticmethod
        def double(x):
            return x * 2

        @ms.jit
        def construct(self, x):
            return self.double(x) + Net.double(x)
    return Net()(Tensor([1.]))


@program
def class_method():
    class Net(nn.Cell):
        scale = 3

        @classmethod
        def multiply(cls, x):
            return x * cls.scale

        @ms.jit
        def construct(self, x):
            return self.multiply(x)
    return Net()(Tensor([1.]))


@program
def property_of_cell():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.base = 2

        @property
        def scale(self):
            return self.base * 10

        @ms.jit
        def construct(self, x):
            return x * self.scale
    return Net()(Tensor([1.]))


@program
def methods_of_a_cell():
    class Net(nn.Cell):
        def first(self, x, k=2):
            return self.second(x) * k

        def second(self, x):
            return x + 1

        @ms.jit
        def construct(self, x):
            return self.first(x), self.first(x, k=3)
    return Net()(Tensor([1.]))


@program
def jit_method_of_plain_class():
    class Worker:
        def __init__(self):
            self.k = 4

        @ms.jit
        def work(self, x):
            return x * self.k
    return Worker().work(Tensor([2.]))


@program
def jit_method_called_from_eager_construct():
    class Net(nn.Cell):
        @ms.jit
        def fast(self, x):
            return x * 2

        def construct(self, x):
            y = self.fast(x)
            return y + float(y.asnumpy()[0])
    return Net()(Tensor([1.5]))


@program
def decorator_on_inner_function():
    def doubled(g):
        def wrapper(*args):
            return g(*args) * 2
        return wrapper

    @doubled
    def g(x):
        return x + 1

    @ms.jit
    def f(x):
        return g(x)
    return f(Tensor([1.]))


@program
def annotated_function():
    @ms.jit
    def f(x: Tensor, n: int = 2) -> Tensor:
        y: Tensor = x * n
        return y
    return f(Tensor([1.]))


@program
def docstring_and_comments():
    @ms.jit
    def f(x):
        """Doubles."""
        # a comment
        "a string as a statement"
        return x * 2  # another
    return f(Tensor([1.]))


@program
def inner_function_with_star_arguments():
    @ms.jit
    def f(x):
        def g(*args, **options):
            total = x * 0
            for a in args:
                total = total + a
            return total * options["k"]
        return g(x, x * 2, k=3), g(k=1)
    return f(Tensor([1.]))
