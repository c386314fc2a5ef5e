# SPDX-License-Identifier: Apache-2.0
"""`for` and `while`: unrolled and at run time, over everything that can be iterated, break, continue, return, nesting."""
import mindspore as ms
from mindspore import Parameter, Tensor, mutable, nn, ops

from graphtest import program


@program
def for_range():
    @ms.jit
    def f(x):
        for i in range(4):
            x = x + i
        return x
    return f(Tensor([1.]))


@program
def for_range_start_stop_step():
    @ms.jit
    def f(x):
        out = ()
        for i in range(10, 2, -3):
            out = out + (x * i,)
        return out
    return f(Tensor([1.]))


@program
def for_over_tuple_list_dict():
    @ms.jit
    def f(x):
        for a in (1, 2):
            x = x + a
        for b in [x, x * 2]:
            x = x + b
        total = ""
        for key in {"p": 1, "q": 2}:
            total = total + key
        return x, total
    return f(Tensor([1.]))


@program
def for_over_tensor():
    @ms.jit
    def f(x):
        out = []
        for row in x:
            out.append(row.sum())
        return out
    return f(Tensor([[1., 2.], [3., 4.], [5., 6.]]))


@program
def for_over_scalar_tensor():
    @ms.jit
    def f(x):
        for row in x:
            x = x + row
        return x
    return f(Tensor(1.))


@program
def for_enumerate_zip():
    @ms.jit
    def f(x):
        for i, (a, b) in enumerate(zip((1, 2, 3), (x, x * 2, x * 3))):
            x = x + i * a * b
        return x
    return f(Tensor([1.]))


@program
def for_dict_items():
    @ms.jit
    def f(x):
        d = {"a": x, "b": x * 2}
        names = []
        for key, value in d.items():
            names.append(key)
            x = x + value
        return x, names
    return f(Tensor([1.]))


@program
def for_over_cells():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.ReLU(), nn.Sigmoid(), nn.Tanh()])

        @ms.jit
        def construct(self, x):
            for layer in self.layers:
                x = layer(x)
            return x, len(self.layers)
    return Net()(Tensor([0.5, -1.]))


@program
def for_over_string():
    @ms.jit
    def f(x):
        n = 0
        for c in "abc":
            if c == "b":
                n = n + 10
        return x + n
    return f(Tensor([1.]))


@program
def for_break_on_constant():
    @ms.jit
    def f(x):
        for i in range(10):
            if i == 3:
                break
            x = x + i
        return x
    return f(Tensor([0.]))


@program
def for_continue_on_constant():
    @ms.jit
    def f(x):
        for i in range(6):
            if i % 2:
                continue
            x = x + i
        return x
    return f(Tensor([0.]))


@program
def for_break_on_tensor():
    @ms.jit
    def f(x):
        for i in range(10):
            if x.sum() > 10:
                break
            x = x + i
        return x
    return f(Tensor([0.])), f(Tensor([20.]))


@program
def for_continue_on_tensor():
    @ms.jit
    def f(x, skip):
        for i in range(5):
            if skip[i] > 0:
                continue
            x = x * 2 + i
        return x
    return f(Tensor([1.]), Tensor([0, 1, 0, 0, 1]))


@program
def for_return_on_tensor():
    @ms.jit
    def f(x):
        for i in range(5):
            x = x + i
            if x.sum() > 3:
                return x * 100
        return x
    return f(Tensor([0.])), f(Tensor([-20.]))


@program
def for_return_on_constant():
    @ms.jit
    def f(x):
        for i in range(5):
            if i == 2:
                return x + 100
            x = x + 1
        return x
    return f(Tensor([0.]))


@program
def for_nested_with_break():
    @ms.jit
    def f(x):
        for i in range(3):
            for j in range(5):
                if j > i:
                    break
                x = x + i * 10 + j
        return x
    return f(Tensor([0.]))


@program
def for_nested_with_tensor_break():
    @ms.jit
    def f(x):
        for i in range(3):
            for j in range(4):
                if x.sum() > 5 * (i + 1):
                    break
                x = x + j
            x = x + 0.5
        return x
    return f(Tensor([0.])), f(Tensor([3.]))


@program
def for_list_appending_tensors():
    @ms.jit
    def f(x):
        out = []
        for i in range(3):
            out.append(x + i)
        return ops.stack(out)
    return f(Tensor([1., 2.]))


@program
def for_over_empty():
    @ms.jit
    def f(x):
        for i in ():
            x = x + 1
        for i in range(0):
            x = x + 1
        return x
    return f(Tensor([1.]))


@program
def for_over_tensor_tuple_argument():
    @ms.jit
    def f(xs):
        total = xs[0]
        for x in xs[1:]:
            total = total + x
        return total
    return f((Tensor([1.]), Tensor([2.]), Tensor([3.])))


@program
def for_over_dynamic_length_list():
    @ms.jit
    def f(xs):
        total = 0
        for x in xs:
            total = total + x
        return total
    return f(mutable([1, 2, 3], True))


@program
def for_range_of_mutable_number():
    @ms.jit
    def f(x, n):
        for i in range(n):
            x = x + i
        return x
    return f(Tensor([0]), mutable(4)), f(Tensor([0]), mutable(2))


@program
def for_range_of_tensor():
    @ms.jit
    def f(x, n):
        for i in range(n):
            x = x + i
        return x
    return f(Tensor([0]), Tensor(4))


@program
def for_name_defined_in_body_used_after():
    @ms.jit
    def f(x):
        for i in range(3):
            y = x + i
        return y
    return f(Tensor([1.]))


@program
def for_variable_used_after():
    @ms.jit
    def f(x):
        for i in range(3):
            x = x + 1
        return x + i
    return f(Tensor([1.]))


@program
def while_name_defined_in_body_used_after():
    @ms.jit
    def f(x):
        while x.sum() < 5:
            y = x + 1
            x = y
        return y
    return f(Tensor([1.]))


@program
def for_else():
    @ms.jit
    def f(x):
        for i in range(3):
            x = x + i
        else:
            x = x * 10
        return x
    return f(Tensor([1.]))


@program
def while_else():
    @ms.jit
    def f(x):
        while x.sum() < 5:
            x = x + 1
        else:
            x = x * 10
        return x
    return f(Tensor([1.]))


@program
def while_on_tensor():
    @ms.jit
    def f(x):
        while x.sum() < 100:
            x = x * 2
        return x
    return f(Tensor([1., 2.])), f(Tensor([100., 2.]))


@program
def while_counter_and_limit_tensors():
    @ms.jit
    def f(i, n):
        total = i
        while i < n:
            i = i + 1
            total = total + i * i
        return total, i
    return f(Tensor(0), Tensor(5)), f(Tensor(3), Tensor(3))


@program
def while_on_constant():
    @ms.jit
    def f(x):
        n = 0
        while n < 4:
            x = x + n
            n += 1
        return x, n
    return f(Tensor([1.]))


@program
def while_on_mutable_number():
    @ms.jit
    def f(x, n):
        while n > 0:
            x = x + n
            n = n - 1
        return x, n
    return f(Tensor([0]), mutable(4))


@program
def while_true_with_tensor_break():
    @ms.jit
    def f(x):
        while True:
            x = x + 3
            if x > 10:
                break
        return x
    return f(Tensor(1.))


@program
def while_true_with_constant_break():
    @ms.jit
    def f(x):
        n = 0
        while True:
            n += 1
            if n == 3:
                break
            x = x + n
        return x
    return f(Tensor(1.))


@program
def while_continue_on_tensor():
    @ms.jit
    def f(i, x):
        while i < 6:
            i = i + 1
            if i % 2 == 0:
                continue
            x = x + i
        return x
    return f(Tensor(0), Tensor(0))


@program
def while_break_and_continue():
    @ms.jit
    def f(i, x):
        while i < 20:
            i = i + 1
            if i == 3:
                continue
            if i == 7:
                break
            x = x + i
        return x, i
    return f(Tensor(0), Tensor(0))


@program
def while_return_on_tensor():
    @ms.jit
    def f(x):
        while x < 100:
            x = x * 3
            if x > 20:
                return x - 1000
        return x
    return f(Tensor(1.)), f(Tensor(200.))


@program
def while_nested_run_time():
    @ms.jit
    def f(n):
        i = Tensor(0)
        total = Tensor(0)
        while i < n:
            j = Tensor(0)
            while j < i:
                total = total + i * j
                j = j + 1
            i = i + 1
        return total
    return f(Tensor(5)), f(Tensor(0))


@program
def while_nested_break_inner():
    @ms.jit
    def f(n):
        i, total = n * 0, n * 0
        while i < n:
            j = n * 0
            while True:
                if j > i:
                    break
                total = total + j
                j = j + 1
            i = i + 1
        return total
    return f(Tensor(4))


@program
def while_inside_for():
    @ms.jit
    def f(x):
        for i in range(3):
            while x.sum() < 10 * (i + 1):
                x = x + 3
        return x
    return f(Tensor([1.])), f(Tensor([50.]))


@program
def for_inside_while():
    @ms.jit
    def f(x):
        while x < 50:
            for i in range(3):
                x = x + i
            x = x + 1
        return x
    return f(Tensor(1.))


@program
def if_inside_while():
    @ms.jit
    def f(x, y):
        while x < 10:
            if y > 0:
                x = x + 2
                y = y - 1
            else:
                x = x + 5
        return x, y
    return f(Tensor(0.), Tensor(2.))


@program
def while_inside_if():
    @ms.jit
    def f(x):
        if x > 0:
            while x < 10:
                x = x * 2
        else:
            while x < 0:
                x = x + 3
        return x
    return f(Tensor(1.)), f(Tensor(-4.))


@program
def while_inside_if_inside_while():
    @ms.jit
    def f(x, n):
        while n > 0:
            if n % 2 == 0:
                k = n
                while k > 0:
                    x = x + k
                    k = k - 1
            else:
                x = x * 2
            n = n - 1
        return x
    return f(Tensor(1), Tensor(4))


@program
def while_carrying_tuple():
    @ms.jit
    def f(n):
        state = (Tensor(0), Tensor(1))
        while n > 0:
            state = (state[1], state[0] + state[1])
            n = n - 1
        return state
    return f(Tensor(10))


@program
def while_carrying_list():
    @ms.jit
    def f(n):
        state = [n * 0, n * 0 + 1]
        while n > 0:
            state[0], state[1] = state[1], state[0] + state[1]
            n = n - 1
        return state
    return f(Tensor(10))


@program
def while_carrying_python_number():
    """The number becomes a run-time value."""
    @ms.jit
    def f(x):
        n = 0
        while x > 1:
            x = x / 2
            n = n + 1
        return n
    return f(Tensor(10.)), f(Tensor(1.))


@program
def while_with_assigned_constant_shape_change():
    @ms.jit
    def f(x):
        while x.sum() < 10:
            x = ops.concat((x, x))
        return x
    return f(Tensor([1., 2.]))


@program
def while_changing_dtype():
    @ms.jit
    def f(x):
        while x.sum() < 10:
            x = x.astype(ms.float32) + 1
        return x
    return f(Tensor([1, 2], ms.int32))


@program
def while_condition_with_and():
    @ms.jit
    def f(x, n):
        while x < 100 and n > 0:
            x = x * 2
            n = n - 1
        return x, n
    return f(Tensor(1.), Tensor(3)), f(Tensor(40.), Tensor(9))


@program
def while_not():
    @ms.jit
    def f(x):
        while not x > 10:
            x = x + 4
        return x
    return f(Tensor(0.))


@program
def while_indexing_by_counter():
    @ms.jit
    def f(x):
        i = Tensor(0, ms.int32)
        total = x[0] * 0
        while i < x.shape[0]:
            total = total + x[i] * (i + 1)
            i = i + 1
        return total
    return f(Tensor([1., 2., 3.]))


@program
def while_writing_elements():
    @ms.jit
    def f(x, i):
        while i < 3:
            x[i] = x[i] * 10
            i = i + 1
        return x
    return f(Tensor([1., 2., 3., 4.]), Tensor(0))


@program
def loop_with_parameter_update():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = Parameter(Tensor(0., ms.float32), name="count")

        @ms.jit
        def construct(self, n):
            while n > 0:
                self.count = self.count + n
                n = n - 1
            return self.count
    net = Net()
    return net(Tensor(4.)), net(Tensor(2.)), net.count


@program
def long_run_time_loop():
    @ms.jit
    def f(n):
        i = n * 0
        x = n * 0
        while i < n:
            x = x + i % 7
            i = i + 1
        return x
    return f(Tensor(3000))


@program
def loop_over_layers_with_index():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.SequentialCell(nn.ReLU(), nn.Tanh())
            self.scales = (2.0, 3.0)

        @ms.jit
        def construct(self, x):
            for i in range(len(self.scales)):
                x = self.layers[i](x) * self.scales[i]
            return x
    return Net()(Tensor([0.5]))


@program
def loop_condition_calls_function():
    def go_on(v, limit):
        return v.sum() < limit

    @ms.jit
    def f(x):
        while go_on(x, 10):
            x = x + 1
        return x
    return f(Tensor([1., 2.]))


@program
def tensor_condition_in_comprehension():
    @ms.jit
    def f(xs):
        return [x * 2 if x > 0 else x for x in xs]
    return f((Tensor(1.), Tensor(-1.)))


@program
def while_over_list_length():
    @ms.jit
    def f(x):
        items = [x]
        while len(items) < 3:
            items.append(items[-1] * 2)
        return items
    return f(Tensor([1.]))


@program
def ops_while_loop():
    @ms.jit
    def f(x):
        def cond(state):
            return state[0].sum() < 10

        def body(state):
            return [state[0] + 1, state[1] + 2]
        return ops.WhileLoop()(cond, body, [x, x])
    return f(Tensor([1.]))


@program
def ops_fori_loop():
    def body(i, value):
        return value + i

    @ms.jit
    def f(x):
        return ops.ForiLoop()(0, 4, body, x)
    return f(Tensor(1))


@program
def ops_scan():
    def body(carry, element):
        carry = carry + element
        return carry, carry * 10

    @ms.jit
    def f(x):
        return ops.Scan()(body, x, [1, 2, 3], 3)
    return f(Tensor(0))


@program
def while_changes_the_dtype_in_the_first_turn():
    @ms.jit
    def f(x, y):
        while x < 3:
            y = y * 1.5
            x = x + 1
        return y + 0.5
    y = Tensor([2], ms.int32)
    return f(Tensor([0.0]), y), f(Tensor([5.0]), y)


@program
def while_changes_the_dtype_of_what_is_returned():
    @ms.jit
    def f(x, y):
        while x < 3:
            y = y * 0.5
            x = x + 1
        return y
    return f(Tensor([0.0]), Tensor([2], ms.int32))


@program
def while_changes_the_dtype_and_parameters():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(Tensor([5.0]), name="a")
            self.b = Parameter(Tensor([2.0]), name="b")
            self.c = Parameter(Tensor([16.0]), name="c")

        def construct(self, x, y):
            while self.c > x:
                for _ in range(5):
                    self.b = self.a + 2
                self.c = self.c - 1
                x = x + 2
                y = ops.softmax(self.c) + self.a
                self.b = y - self.b
            for _ in range(4):
                y = y + self.b
            return y + self.b
    args = Tensor([11], ms.int32), Tensor([7], ms.int32)
    return Net()(*args), ops.GradOperation(get_all=True)(Net())(*args)
