# SPDX-License-Identifier: Apache-2.0
"""`if` in all its forms: constant and run-time conditions, nesting, early returns, joins, conditional expressions."""
import mindspore as ms
from mindspore import Tensor, mutable, nn, ops

from graphtest import program


@program
def if_on_tensor_condition():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            y = x * 2
        else:
            y = x - 1
        return y
    return f(Tensor([1., 2.])), f(Tensor([-1., -2.]))


@program
def if_without_else_on_tensor():
    @ms.jit
    def f(x):
        y = x
        if x.sum() > 0:
            y = x * 10
        return y
    return f(Tensor([1., 2.])), f(Tensor([-1., -2.]))


@program
def if_elif_else_on_tensor():
    @ms.jit
    def f(x):
        if x > 10:
            y = x - 10
        elif x > 5:
            y = x * 100
        elif x > 0:
            y = x + 0.5
        else:
            y = -x
        return y
    return [f(Tensor(v, ms.float32)) for v in (11, 6, 1, -3)]


@program
def if_nested_on_tensors():
    @ms.jit
    def f(x, y):
        z = x
        if x > 0:
            if y > 0:
                z = x + y
            else:
                z = x - y
            z = z * 2
        elif y > 0:
            z = y
        return z
    return [f(Tensor(a, ms.float32), Tensor(b, ms.float32)) for a in (1, -2) for b in (3, -4)]


@program
def if_on_python_bool_argument():
    @ms.jit
    def f(x, flag):
        if flag:
            return x + 1
        return x.reshape((1, -1))
    return f(Tensor([1., 2.]), True), f(Tensor([1., 2.]), False)


@program
def if_on_shape_compiles_one_branch():
    @ms.jit
    def f(x):
        if len(x.shape) == 2:
            return x.sum(axis=1)
        return x.no_such_method()
    return f(ops.ones((2, 3)))


@program
def if_on_isinstance():
    @ms.jit
    def f(x):
        if isinstance(x, tuple):
            return x[0]
        if isinstance(x, (int, float)):
            return x + 1
        return x * 2
    return f(Tensor([1., 2.])), f((Tensor([3.]), 4)), f(5)


@program
def if_is_none():
    @ms.jit
    def f(x, bias=None):
        if bias is None:
            return x
        return x + bias
    return f(Tensor([1., 2.])), f(Tensor([1., 2.]), Tensor([10., 20.]))


@program
def if_is_not_none_and():
    @ms.jit
    def f(x, bias=None):
        if bias is not None and x.shape[0] == 2:
            x = x + bias
        return x
    return f(Tensor([1., 2.])), f(Tensor([1., 2.]), 5.0)


@program
def early_return_on_tensor():
    @ms.jit
    def f(x):
        if x.max() > 5:
            return x - 5
        if x.min() < 0:
            return -x
        return x
    return f(Tensor([6., 1.])), f(Tensor([-1., 1.])), f(Tensor([1., 2.]))


@program
def early_return_in_nested_if():
    @ms.jit
    def f(x):
        if x > 0:
            if x > 10:
                return x / 10
            x = x + 1
        return x * 2
    return [f(Tensor(v, ms.float32)) for v in (20, 3, -1)]


@program
def conditional_expression_on_tensor():
    @ms.jit
    def f(x):
        return x * 2 if x.sum() > 0 else x / 2
    return f(Tensor([1., 2.])), f(Tensor([-1., -2.]))


@program
def conditional_expression_on_constant():
    @ms.jit
    def f(x, n):
        return x.sum() if n > 2 else x
    return f(Tensor([1., 2.]), 3), f(Tensor([1., 2.]), 1)


@program
def if_on_mutable_number():
    @ms.jit
    def f(x, n):
        if n > 2:
            x = x + 1
        else:
            x = x - 1
        return x
    return f(Tensor([1.]), mutable(3)), f(Tensor([1.]), mutable(1))


@program
def if_on_bool_tensor():
    @ms.jit
    def f(flag, x):
        if flag:
            x = x + 1
        return x
    return f(Tensor(True), Tensor([1.])), f(Tensor(False), Tensor([1.]))


@program
def if_on_one_element_tensor_of_rank_two():
    @ms.jit
    def f(x):
        if x:
            return x + 1
        return x - 1
    return f(Tensor([[2.]])), f(Tensor([[0.]]))


@program
def if_on_int_tensor_truth():
    @ms.jit
    def f(n):
        if n:
            return n * 2
        return n - 1
    return f(Tensor(3)), f(Tensor(0))


@program
def if_and_of_tensors():
    @ms.jit
    def f(x, y):
        if x > 0 and y > 0:
            return x + y
        return x - y
    return [f(Tensor(a), Tensor(b)) for a, b in ((1., 2.), (1., -2.), (-1., 2.))]


@program
def if_or_not_of_tensors():
    @ms.jit
    def f(x, y):
        if x > 0 or not y > 0:
            return x + y
        return x - y
    return [f(Tensor(a), Tensor(b)) for a, b in ((1., 2.), (-1., -2.), (-1., 2.))]


@program
def if_on_chained_comparison_of_tensor():
    @ms.jit
    def f(x):
        if 0 < x < 5:
            return x * 10
        return x
    return f(Tensor(3.)), f(Tensor(7.)), f(Tensor(-1.))


@program
def if_on_string():
    @ms.jit
    def f(x, how):
        if how == "sum":
            return x.sum()
        if how in ("mean", "average"):
            return x.mean()
        return x
    return f(Tensor([1., 3.]), "sum"), f(Tensor([1., 3.]), "average"), f(Tensor([1., 3.]), "none")


@program
def if_on_self_attribute():
    class Net(nn.Cell):
        def __init__(self, flag):
            super().__init__()
            self.flag = flag

        @ms.jit
        def construct(self, x):
            if self.flag:
                return x + 1
            return x.undefined_thing()
    return Net(True)(Tensor([1.]))


@program
def if_on_training_attribute():
    class Net(nn.Cell):
        @ms.jit
        def construct(self, x):
            if self.training:
                return x * 2
            return x
    net = Net()
    first = net(Tensor([1.]))
    net.set_train(True)
    return first, net(Tensor([1.]))


@program
def branches_assign_several_names():
    @ms.jit
    def f(x):
        a, b = x, x
        if x.sum() > 0:
            a, b = b + 1, a + 2
        else:
            b = a * 5
        return a, b
    return f(Tensor([1.])), f(Tensor([-1.]))


@program
def branches_assign_python_numbers():
    @ms.jit
    def f(x):
        if x > 0:
            n = 3
        else:
            n = 4
        return x * n
    return f(Tensor(2.)), f(Tensor(-2.))


@program
def branches_return_python_numbers():
    @ms.jit
    def f(x):
        if x > 0:
            return 3
        return 4
    return f(Tensor(2.)), f(Tensor(-2.))


@program
def branches_return_bools():
    @ms.jit
    def f(x):
        if x > 0:
            return True
        return False
    return f(Tensor(2.)), f(Tensor(-2.))


@program
def branches_return_strings():
    @ms.jit
    def f(x):
        if x > 0:
            return "positive"
        return "negative"
    return f(Tensor(2.)), f(Tensor(-2.))


@program
def branches_of_tuples():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            t = (x, x + 1)
        else:
            t = (x * 2, x)
        return t
    return f(Tensor([1.])), f(Tensor([-1.]))


@program
def branches_of_lists():
    @ms.jit
    def f(x):
        items = [x]
        if x.sum() > 0:
            items.append(x + 1)
        else:
            items.append(x - 1)
        return items
    return f(Tensor([1.])), f(Tensor([-1.]))


@program
def branches_of_dicts():
    @ms.jit
    def f(x):
        d = {"a": x}
        if x.sum() > 0:
            d["a"] = x + 1
        else:
            d["a"] = x * 3
        return d
    return f(Tensor([1.])), f(Tensor([-1.]))


@program
def branches_of_int_and_float_numbers():
    @ms.jit
    def f(x):
        if x > 0:
            n = 3
        else:
            n = 4.5
        return x * n
    return f(Tensor(2.)), f(Tensor(-2.))


@program
def branches_of_number_and_tensor():
    @ms.jit
    def f(x):
        y = 0
        if x > 0:
            y = x
        return x + y
    return f(Tensor(2.)), f(Tensor(-2.))


@program
def branches_of_none_and_tensor():
    @ms.jit
    def f(x):
        y = None
        if x > 0:
            y = x
        return y
    return f(Tensor(2.)), f(Tensor(-2.))


@program
def join_of_different_dtypes():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            return x.astype(ms.float32)
        return x.astype(ms.float16)
    return f(Tensor([1.]))


@program
def join_of_different_shapes():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            return x
        return ops.concat((x, x))
    return f(Tensor([1., 2.])), f(Tensor([-1., -2.]))


@program
def join_of_different_ranks():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            return x
        return x.reshape((1, -1))
    return f(Tensor([1., 2.])), f(Tensor([-1., -2.]))


@program
def join_of_tensor_and_tuple():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            return x
        return x, x
    return f(Tensor([1., 2.]))


@program
def join_of_tuples_of_different_lengths():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            return x, x
        return x, x, x
    return f(Tensor([1., 2.]))


@program
def join_of_assigned_dtypes():
    @ms.jit
    def f(x):
        y = x
        if x.sum() > 0:
            y = x > 0
        return y
    return f(Tensor([1., 2.]))


@program
def name_defined_in_true_branch_only():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            y = x + 1
        return y
    return f(Tensor([1., 2.]))


@program
def name_defined_in_false_branch_only():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            x = x + 1
        else:
            y = x
        return y
    return f(Tensor([-1., 2.]))


@program
def name_defined_in_constant_true_branch():
    @ms.jit
    def f(x):
        if x.shape[0] == 2:
            y = x + 1
        return y
    return f(Tensor([1., 2.]))


@program
def truth_of_many_elements():
    @ms.jit
    def f(x):
        if x > 0:
            return x
        return -x
    return f(Tensor([1., 2.]))


@program
def if_result_feeds_second_if():
    @ms.jit
    def f(x):
        y = x
        if x.sum() > 0:
            y = x - 5
        if y.sum() > 0:
            return y * 10
        return y
    return f(Tensor([1., 2.])), f(Tensor([8., 9.])), f(Tensor([-1., -2.]))


@program
def if_pass():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            pass
        else:
            x = -x
        return x
    return f(Tensor([1., 2.])), f(Tensor([-1., -2.]))


@program
def assigned_function_chosen_by_condition():
    @ms.jit
    def f(x):
        def double(v):
            return v * 2

        def half(v):
            return v / 2
        if x.sum() > 0:
            g = double
        else:
            g = half
        return g(x) + 1
    return f(Tensor([1., 2.])), f(Tensor([-1., -2.]))


@program
def cells_chosen_by_condition():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.ReLU(), nn.Sigmoid()

        @ms.jit
        def construct(self, x):
            layer = self.a if x.sum() > 0 else self.b
            return layer(x)
    return Net()(Tensor([1., -0.5])), Net()(Tensor([-1., 0.]))


@program
def select_is_elementwise():
    @ms.jit
    def f(x):
        return ops.select(x > 0, x, x * 10), ops.where(x > 0, x, 0.0)
    return f(Tensor([1., -2.]))


@program
def and_or_give_operands():
    @ms.jit
    def f(x, n):
        return n and 5, n or 7, (not n), x.shape and "yes", None or "no"
    return f(Tensor([1.]), 0), f(Tensor([1.]), 3)


@program
def and_of_tensors_as_value():
    @ms.jit
    def f(x, y):
        return x and y, x or y, not x
    return f(Tensor(2.), Tensor(3.)), f(Tensor(0.), Tensor(3.))


@program
def short_circuit_skips_constant_error():
    @ms.jit
    def f(x, t):
        if len(t) > 1 and t[1] > 3:
            return x + t[1]
        return x
    return f(Tensor([1.]), (1,)), f(Tensor([1.]), (1, 5))
