# SPDX-License-Identifier: Apache-2.0
"""The built-in functions that are compiled, with constants, run-time numbers and Tensors; and some that are not."""
import mindspore as ms
from mindspore import Parameter, Tensor, mutable, nn, ops

from graphtest import program


@program
def builtin_int():
    @ms.jit
    def f(x):
        return int(3.9), int(-3.9), int("12"), int("0x10", 16), int("101", 2), int(True), int(), int(x)
    return f(Tensor([7.6]))


@program
def builtin_int_of_mutable():
    @ms.jit
    def f(n):
        return int(n), float(n), bool(n)
    return f(mutable(3.7)), f(mutable(0))


@program
def builtin_float():
    @ms.jit
    def f(x):
        return float(3), float("1.5"), float(True), float(x)
    return f(Tensor(2, ms.int32))


@program
def builtin_bool():
    @ms.jit
    def f(x):
        return bool(0), bool(""), bool("a"), bool([]), bool((0,)), bool({}), bool(None), bool(x), bool(0.5)
    return f(Tensor([3.]))


@program
def builtin_bool_of_many_elements():
    @ms.jit
    def f(x):
        return bool(x)
    return f(Tensor([3., 4.]))


@program
def builtin_int_of_many_elements():
    @ms.jit
    def f(x):
        return int(x)
    return f(Tensor([3., 4.]))


@program
def builtin_str():
    @ms.jit
    def f(x):
        return str(3), str(1.5), str((1, 2)), str([1, "a"]), str(None), str(True), str({"a": 1}), str()
    return f(Tensor([1.]))


@program
def builtin_str_of_tensor():
    @ms.jit
    def f(x):
        return str(x)
    return f(Tensor([1., 2.]))


@program
def builtin_tuple_and_list():
    @ms.jit
    def f(x):
        return tuple([1, 2]), tuple("ab"), list((1, x)), list({"p": 1, "q": 2}), tuple(), list(), tuple({"p": 1})
    return f(Tensor([1.]))


@program
def builtin_tuple_of_tensor():
    @ms.jit
    def f(x):
        return tuple(x), list(x + 1)
    return f(Tensor([[1., 2.], [3., 4.]]))


@program
def builtin_dict():
    @ms.jit
    def f(x):
        return dict(), dict(a=1, b=x), dict([("p", 1), ("q", 2)]), dict((("k", x),)), dict({"z": 3}, y=4)
    return f(Tensor([1.]))


@program
def builtin_getattr_hasattr():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scale = 3

        @ms.jit
        def construct(self, x):
            a = getattr(self, "scale")
            b = getattr(self, "missing", 10)
            return x * a + b, hasattr(self, "scale"), hasattr(self, "missing"), getattr(x, "shape"), hasattr(x, "asnumpy")
    return Net()(Tensor([1.]))


@program
def builtin_getattr_missing():
    class Net(nn.Cell):
        @ms.jit
        def construct(self, x):
            return getattr(self, "missing")
    return Net()(Tensor([1.]))


@program
def builtin_getattr_method():
    @ms.jit
    def f(x, name):
        return getattr(x, name)()
    return f(Tensor([1., 2.]), "sum"), f(Tensor([1., 2.]), "mean")


@program
def builtin_len():
    @ms.jit
    def f(x):
        return len((1, 2)), len([x]), len({"a": 1}), len("abc"), len(x), len(x.shape)
    return f(ops.ones((4, 3)))


@program
def builtin_len_of_number():
    @ms.jit
    def f(x):
        return len(3)
    return f(Tensor([1.]))


@program
def builtin_isinstance():
    @ms.jit
    def f(x, n):
        return (isinstance(x, Tensor), isinstance(n, int), isinstance(n, (float, str)), isinstance("a", str),
                isinstance((1,), tuple), isinstance([1], list), isinstance({}, dict), isinstance(True, int),
                isinstance(None, type(None)), isinstance(x, Parameter), isinstance(n, Tensor))
    return f(Tensor([1.]), 3)


@program
def builtin_isinstance_of_mutable():
    @ms.jit
    def f(n):
        return isinstance(n, int), isinstance(n, Tensor), isinstance(n, tuple)
    return f(mutable(3)), f(mutable((1, 2)))


@program
def builtin_all_any():
    @ms.jit
    def f(x):
        return all([1, 2, 0]), any((0, 0, 3)), all(()), any([]), all({"a": 1})
    return f(Tensor([1.]))


@program
def builtin_all_any_of_tensor():
    @ms.jit
    def f(x):
        return all(x), any(x)
    return f(Tensor([True, False])), f(Tensor([1, 2]))


@program
def builtin_all_any_of_tensor_list():
    @ms.jit
    def f(x, y):
        return all([x > 0, y > 0]), any([x > 0, y > 0])
    return f(Tensor(1.), Tensor(-1.))


@program
def builtin_round():
    @ms.jit
    def f(n):
        return round(2.5), round(3.7), round(-1.5), round(3.14159, 2), round(1234, -2), round(n)
    return f(7)


@program
def builtin_round_of_tensor():
    @ms.jit
    def f(x):
        return round(x)
    return f(Tensor([1.4, 2.5, -1.6]))


@program
def builtin_round_of_tensor_with_digits():
    @ms.jit
    def f(x):
        return round(x, 1)
    return f(Tensor([1.44, 2.55]))


@program
def builtin_max_min_of_numbers():
    @ms.jit
    def f(a, b):
        return max(a, b), min(a, b, -3), max([1, 5, 2]), min((4, 2)), max("abc"), min(2.5, 2)
    return f(4, 7)


@program
def builtin_max_min_of_tensor():
    @ms.jit
    def f(x):
        return max(x), min(x)
    return f(Tensor([3., 1., 2.]))


@program
def builtin_max_min_of_scalar_tensors():
    @ms.jit
    def f(x, y):
        return max(x, y), min(x, y), max([x, y]), max(x, 2)
    return f(Tensor(1.), Tensor(3.))


@program
def builtin_max_of_vectors():
    @ms.jit
    def f(x, y):
        return max(x, y)
    return f(Tensor([1., 4.]), Tensor([3., 2.]))


@program
def builtin_max_of_empty():
    @ms.jit
    def f(x):
        return max([])
    return f(Tensor([1.]))


@program
def builtin_sum():
    @ms.jit
    def f(x):
        return sum([1, 2, 3]), sum((1, 2), 10), sum([x, x * 2]), sum([x], x), sum(())
    return f(Tensor([1., 2.]))


@program
def builtin_sum_of_tensor():
    @ms.jit
    def f(x):
        return sum(x), sum(x, 10)
    return f(Tensor([[1., 2.], [3., 4.]]))


@program
def builtin_sum_of_strings():
    @ms.jit
    def f(x):
        return sum(["a", "b"])
    return f(Tensor([1.]))


@program
def builtin_abs():
    @ms.jit
    def f(x):
        return abs(-3), abs(2.5), abs(True), abs(x)
    return f(Tensor([-1., 2.]))


@program
def builtin_map():
    @ms.jit
    def f(x):
        a = map(lambda v: v * 2, (1, x))
        b = map(lambda p, q: p + q, [1, 2], [3, 4])
        return a, b, tuple(map(str, (1, 2)))
    return f(Tensor([1.]))


@program
def builtin_zip():
    @ms.jit
    def f(x):
        return zip((1, 2, 3), [x, x]), tuple(zip("ab", (1, 2)))
    return f(Tensor([1.]))


@program
def builtin_zip_of_nothing():
    @ms.jit
    def f(x):
        return zip()
    return f(Tensor([1.]))


@program
def builtin_range():
    @ms.jit
    def f(x):
        return range(3), range(1, 7, 2), range(3, 0, -1), range(0), len(range(5)), range(10)[3]
    return f(Tensor([1.]))


@program
def builtin_range_with_zero_step():
    @ms.jit
    def f(x):
        return range(1, 3, 0)
    return f(Tensor([1.]))


@program
def builtin_range_of_float():
    @ms.jit
    def f(x):
        return range(2.5)
    return f(Tensor([1.]))


@program
def builtin_enumerate():
    @ms.jit
    def f(x):
        return enumerate((10, x)), enumerate(["a"], 5), tuple(enumerate(x))
    return f(Tensor([1., 2.]))


@program
def builtin_filter():
    @ms.jit
    def f(x):
        return filter(lambda v: v > 1, (1, 2, 3)), list(filter(lambda v: v % 2, range(5)))
    return f(Tensor([1.]))


@program
def builtin_filter_none():
    @ms.jit
    def f(x):
        return filter(None, [0, 1, 2])
    return f(Tensor([1.]))


@program
def builtin_filter_on_tensors():
    @ms.jit
    def f(x, y):
        return filter(lambda v: v.shape[0] > 1, (x, y))
    return f(Tensor([1.]), Tensor([1., 2.]))


@program
def builtin_pow():
    @ms.jit
    def f(x):
        return pow(2, 10), pow(2.0, -1), pow(x, 2), pow(2, x), pow(x, x)
    return f(Tensor([1., 3.]))


@program
def builtin_pow_with_modulus():
    @ms.jit
    def f(n):
        return pow(n, 3, 5)
    return f(2)


@program
def builtin_type():
    @ms.jit
    def f(x):
        return type(1), type(1.0), type("a"), type((1,)), type([1]), type({}), type(True), type(None)
    return f(Tensor([1.]))


@program
def builtin_type_of_tensor():
    @ms.jit
    def f(x):
        return type(x)
    return f(Tensor([1.]))


@program
def builtin_type_compared():
    @ms.jit
    def f(x, n):
        if type(n) == int:                                                                       # noqa: E721
            return x + n
        return x
    return f(Tensor([1.]), 2), f(Tensor([1.]), 2.5)


@program
def builtin_type_with_three_arguments():
    @ms.jit
    def f(x):
        return type("Box", (), {})
    return f(Tensor([1.]))


@program
def builtin_print_returns_none():
    @ms.jit
    def f(x):
        a = print("hello")
        return x, a
    return f(Tensor([1.]))


@program
def builtin_sorted():
    @ms.jit
    def f(x):
        return sorted([3, 1, 2]), sorted((3, 1), reverse=True)
    return f(Tensor([1.]))


@program
def builtin_reversed():
    @ms.jit
    def f(x):
        out = []
        for i in reversed([1, 2, 3]):
            out.append(i)
        return out
    return f(Tensor([1.]))


@program
def builtin_divmod():
    @ms.jit
    def f(a, b):
        return divmod(a, b)
    return f(17, 5)


@program
def builtin_chr_ord_hex():
    @ms.jit
    def f(n):
        return chr(n), ord("a"), hex(n), bin(5), oct(8), repr("a")
    return f(65)


@program
def builtin_iter_next():
    @ms.jit
    def f(x):
        it = iter([1, 2])
        return next(it)
    return f(Tensor([1.]))


@program
def builtin_set():
    @ms.jit
    def f(x):
        return x + len(set([1, 1, 2]))
    return f(Tensor([1.]))


@program
def builtin_callable():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.act = nn.ReLU()

        @ms.jit
        def construct(self, x):
            if callable(self.act):
                return self.act(x)
            return x
    return Net()(Tensor([-1.]))


@program
def builtin_id_hash():
    @ms.jit
    def f(x):
        return hash("a") == hash("a"), isinstance(id(3), int)
    return f(Tensor([1.]))


@program
def builtin_slice():
    @ms.jit
    def f(x):
        s = slice(1, 3)
        return x[s]
    return f(Tensor([1., 2., 3., 4.]))


@program
def builtin_complex():
    @ms.jit
    def f(x):
        return complex(1, 2)
    return f(Tensor([1.]))


@program
def builtin_issubclass():
    @ms.jit
    def f(x):
        return issubclass(bool, int)
    return f(Tensor([1.]))


@program
def builtin_eval():
    @ms.jit
    def f(x):
        return x + eval("1 + 2")
    return f(Tensor([1.]))


@program
def builtin_super():
    class Base(nn.Cell):
        def construct(self, x):
            return x + 1

        def shift(self, x, k=1):
            return x * 10 + k

    class Net(Base):
        @ms.jit
        def construct(self, x):
            y = super().construct(x)
            return super(Net, self).shift(y, 2)

        def shift(self, x, k=1):
            return x
    return Net()(Tensor([1.]))


@program
def builtin_super_through_levels():
    class A(nn.Cell):
        def calc(self, x):
            return x + 1

    class B(A):
        def calc(self, x):
            return super().calc(x) * 2

    class C(B):
        @ms.jit
        def construct(self, x):
            return super().calc(x), self.calc(x)

        def calc(self, x):
            return x
    return C()(Tensor([1.]))


@program
def builtin_super_with_one_argument():
    class A(nn.Cell):
        def calc(self, x):
            return x + 1

    class B(A):
        @ms.jit
        def construct(self, x):
            return super(B).calc(x)
    return B()(Tensor([1.]))


@program
def builtin_wrong_argument_count():
    @ms.jit
    def f(x):
        return len((1, 2), 3)
    return f(Tensor([1.]))


@program
def builtin_abs_of_string():
    @ms.jit
    def f(x):
        return abs("a")
    return f(Tensor([1.]))
