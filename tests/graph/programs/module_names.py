# SPDX-License-Identifier: Apache-2.0
"""Names of the module that a function also gives values, and methods without a parameter for their object."""
import mindspore as ms
from graphtest import program, raised
from mindspore import Tensor, nn

NUMBER, PART, LETTER, PAIR = 1, 1.5, 'a', (1, 2)


@program
def module_number_added_to_in_a_for_loop():
    @ms.jit
    def f(x):
        for i in range(3):
            NUMBER += i
        return NUMBER * x
    return f(Tensor(2.0)), f(Tensor(3.0)), NUMBER


@program
def module_number_added_to_in_a_while_loop_of_the_run():
    @ms.jit
    def f(x):
        while x < 10:
            x = x + PART
            PART = PART * 2
        return x
    return f(Tensor(2.0)), f(Tensor(3.0)), PART


@program
def module_number_changed_in_one_branch():
    @ms.jit
    def f(x):
        if x > 1:
            NUMBER += 1
        return NUMBER * x
    return f(Tensor(2.0)), f(Tensor(-3.0))


@program
def module_number_changed_in_a_constant_branch():
    @ms.jit
    def f(x, on):
        if on:
            NUMBER = NUMBER + 1
        return NUMBER * x
    return f(Tensor(2.0), True), f(Tensor(2.0), False)


@program
def module_number_changed_in_the_other_branch():
    @ms.jit
    def f(x):
        if x > 1:
            y = x
        else:
            y = x + 1
            PART -= 1
        return PART * y
    return f(Tensor(2.0)), f(Tensor(-3.0))


@program
def module_number_added_a_tensor_in_a_loop():
    @ms.jit
    def f(x):
        for _ in range(3):
            NUMBER += x
        return NUMBER
    return f(Tensor(2.0))


@program
def module_text_and_tuple_added_to():
    @ms.jit
    def f(x):
        for i in range(2):
            LETTER += 'b'
            PAIR += (i,)
        return x * len(LETTER) + PAIR[3]
    return f(Tensor(2.0))


@program
def module_number_in_nested_loops():
    @ms.jit
    def f(x):
        for i in range(2):
            for j in range(3):
                NUMBER += i * j
        return NUMBER + x
    return f(Tensor(2.0))


@program
def module_number_in_construct():
    class Net(nn.Cell):
        def construct(self, x):
            for i in range(2):
                NUMBER += i
            return NUMBER * x
    ms.set_context(mode=ms.GRAPH_MODE)
    return Net()(Tensor(2.0))


@program
def name_that_is_nowhere_added_to():
    @ms.jit
    def f(x):
        for i in range(2):
            nowhere += i
        return nowhere * x
    return raised(f, Tensor(2.0))


@program
def method_without_self():
    class Net(nn.Cell):
        def shifted(x, by=1):
            return x + by

        def five():
            return 5

        def construct(self, x):
            return self.shifted(x, 2) * self.five() + Net.shifted(x)
    ms.set_context(mode=ms.GRAPH_MODE)
    return Net()(Tensor(1.0))


@program
def method_without_self_under_jit():
    class Net(nn.Cell):
        def doubled(x):
            return x * 2

        @ms.jit
        def construct(self, x):
            return self.doubled(x)
    return Net()(Tensor(1.0))


@program
def static_method_of_a_cell():
    class Net(nn.Cell):
        @staticmethod
        def doubled(x):
            return x * 2

        def construct(self, x):
            return self.doubled(x)
    ms.set_context(mode=ms.GRAPH_MODE)
    return Net()(Tensor(1.0))
