# SPDX-License-Identifier: Apache-2.0
"""Statements and expressions, allowed and refused."""
import mindspore as ms
from mindspore import Tensor, mutable, nn, ops

from graphtest import program

GLOBAL_NUMBER = 3
GLOBAL_TENSOR = None
GLOBAL_COUNT = 0


@program
def chained_assignment():
    @ms.jit
    def f(x):
        a = b = x + 1
        a = a * 2
        return a, b
    return f(Tensor([1.]))


@program
def tuple_unpacking():
    @ms.jit
    def f(x):
        a, (b, c), [d, e] = x, (x + 1, x + 2), [1, 2]
        a, b = b, a
        return a, b, c, d, e
    return f(Tensor([1.]))


@program
def starred_assignment():
    @ms.jit
    def f(x):
        first, *middle, last = (x, 1, 2, x + 3)
        *head, tail = [1, 2, 3]
        return first, middle, last, head, tail
    return f(Tensor([1.]))


@program
def unpacking_a_tensor():
    @ms.jit
    def f(x):
        a, b = x
        return a + 1, b
    return f(Tensor([[1., 2.], [3., 4.]]))


@program
def unpacking_too_many_values():
    @ms.jit
    def f(x):
        a, b = (x, x, x)
        return a
    return f(Tensor([1.]))


@program
def unpacking_too_few_values():
    @ms.jit
    def f(x):
        a, b, c = (x, x)
        return a
    return f(Tensor([1.]))


@program
def augmented_assignments_on_tensor():
    @ms.jit
    def f(x):
        y = x
        y += 2
        y -= 1
        y *= 3
        y /= 2
        y **= 2
        y //= 1
        y %= 7
        return x, y
    return f(Tensor([1., 2.]))


@program
def augmented_assignments_on_numbers():
    @ms.jit
    def f(n):
        a = n
        a += 5
        a *= 2
        a -= 1
        a //= 2
        a **= 2
        a %= 50
        b = a
        b <<= 2
        b >>= 1
        b |= 1
        b &= 127
        b ^= 3
        return a, b, a / 4
    return f(3)


@program
def augmented_assignment_of_element():
    @ms.jit
    def f(x):
        x[0] += 10
        x[1:] *= 2
        items = [1, 2, 3]
        items[1] += 5
        return x, items
    return f(Tensor([1., 2., 3.]))


@program
def matmul_operator():
    @ms.jit
    def f(x):
        y = x @ x
        y @= x
        return y
    return f(Tensor([[1., 2.], [3., 4.]]))


@program
def annotated_assignment():
    @ms.jit
    def f(x):
        y: int = 3
        z: Tensor = x * y
        return z
    return f(Tensor([1.]))


@program
def annotation_without_value():
    @ms.jit
    def f(x):
        y: int
        y = 3
        return x * y
    return f(Tensor([1.]))


@program
def global_read():
    @ms.jit
    def f(x):
        return x + GLOBAL_NUMBER
    return f(Tensor([1.]))


@program
def global_statement_read():
    @ms.jit
    def f(x):
        global GLOBAL_NUMBER
        return x * GLOBAL_NUMBER
    return f(Tensor([1.]))


@program
def global_statement_written():
    @ms.jit
    def f(x):
        global GLOBAL_COUNT
        GLOBAL_COUNT = 7
        return x + GLOBAL_COUNT
    return f(Tensor([1.])), GLOBAL_COUNT


@program
def global_tensor_read():
    global GLOBAL_TENSOR
    GLOBAL_TENSOR = Tensor([10., 20.])

    @ms.jit
    def f(x):
        return x + GLOBAL_TENSOR
    return f(Tensor([1., 2.]))


@program
def augmented_global_is_read():
    @ms.jit
    def f(x):
        GLOBAL_NUMBER += 1                                                                       # noqa: F821, F823
        return x + GLOBAL_NUMBER
    return f(Tensor([1.]))


@program
def local_hides_global():
    @ms.jit
    def f(x):
        GLOBAL_NUMBER = 100
        return x + GLOBAL_NUMBER
    return f(Tensor([1.])), GLOBAL_NUMBER


@program
def pass_and_ellipsis():
    @ms.jit
    def f(x):
        pass
        return x[..., 0]
    return f(Tensor([[1., 2.], [3., 4.]]))


@program
def arithmetic_on_numbers():
    @ms.jit
    def f(a, b):
        return a + b, a - b, a * b, a / b, a // b, a % b, a ** b, -a, +a, abs(-a)
    return f(7, 2), f(-7, 2)


@program
def arithmetic_on_floats():
    @ms.jit
    def f(a, b):
        return a + b, a - b, a * b, a / b, a // b, a % b, a ** b, -a
    return f(7.5, 2.0), f(-7.5, 2)


@program
def float_constants_are_32_bits():
    @ms.jit
    def f(x):
        return 0.1, 0.1 + 0.2, float(-123.6), 1e-3 * 3, x
    return f(0.3)


@program
def big_integers():
    @ms.jit
    def f(n):
        return n, n * 2, 2 ** 40, 3000000000 + n
    return f(3000000000)


@program
def integer_too_big():
    @ms.jit
    def f(n):
        return n * n
    return f(2 ** 62)


@program
def bit_operators_on_numbers():
    @ms.jit
    def f(a, b):
        return a & b, a | b, a ^ b, a << 2, a >> 1
    return f(6, 3)


@program
def bit_operators_on_tensors():
    @ms.jit
    def f(x, y):
        return x & y, x | y, x ^ y, x & 3
    return f(Tensor([6, 5]), Tensor([3, 1])), f(Tensor([True, False]), Tensor([True, True]))[:3]


@program
def shifts_on_tensors():
    @ms.jit
    def f(x):
        return x << 1, x >> 1
    return f(Tensor([6, 5]))


@program
def invert_of_numbers():
    @ms.jit
    def f(a):
        return ~a
    return f(6)


@program
def invert_of_bool_tensor():
    @ms.jit
    def f(x):
        return ~(x > 0)
    return f(Tensor([1., -1.]))


@program
def invert_of_int_tensor():
    @ms.jit
    def f(x):
        return ~x
    return f(Tensor([1, -5], ms.int32))


@program
def comparisons_of_numbers():
    @ms.jit
    def f(a, b):
        return a < b, a <= b, a > b, a >= b, a == b, a != b, 1 < a < 10, a < 3 > b
    return f(3, 4), f(2.5, 2.5)


@program
def comparisons_of_tensors():
    @ms.jit
    def f(x, y):
        return x < y, x <= 2, 2 > x, x >= y, x == y, x != y
    return f(Tensor([1., 2., 3.]), Tensor([3., 2., 1.]))


@program
def comparisons_of_other_values():
    @ms.jit
    def f(x):
        return "a" == "a", "a" < "b", (1, 2) == (1, 2), [1] == [2], None == None, x.dtype == ms.float32, (1, 2) < (1, 3)  # noqa: E711
    return f(Tensor([1.]))


@program
def comparison_of_tensor_with_none():
    @ms.jit
    def f(x):
        return x == None, x != None, x is None, x is not None                                    # noqa: E711
    return f(Tensor([1.]))


@program
def is_with_constants():
    @ms.jit
    def f(a, b):
        return a is None, b is True, b is not False, a is not None
    return f(None, True), f(3, False)


@program
def is_with_other_values():
    @ms.jit
    def f(x, y):
        return x is y
    return f(Tensor([1.]), Tensor([1.]))


@program
def in_operator():
    @ms.jit
    def f(x):
        return 1 in (1, 2), 3 not in [1, 2], "a" in {"a": 1}, "b" in "abc", "k" not in {"a": 1}, x.shape[0] in (2, 3)
    return f(Tensor([1., 2.]))


@program
def tensor_in_sequence():
    @ms.jit
    def f(x, y):
        return x in (x, y), x in [y]
    return f(Tensor([1.]), Tensor([2.]))


@program
def tensor_with_number_dtypes():
    @ms.jit
    def f(x):
        return x + 1, x * 1.5, x / 2, x // 2, x % 2, 2 - x, 1 / x, True + x
    return f(Tensor([1, 2], ms.int32)), f(Tensor([1, 2], ms.float16))


@program
def tensor_dtype_promotion():
    @ms.jit
    def f(x, y):
        return x + y, x * y, x - y
    return f(Tensor([1], ms.int32), Tensor([2.5], ms.float16)), f(Tensor([1], ms.int8), Tensor([2], ms.uint8))


@program
def tensor_with_tuple_operand():
    @ms.jit
    def f(x):
        return x + (1, 2), [3, 4] * x
    return f(Tensor([1., 2.]))


@program
def tensor_power_and_reflected():
    @ms.jit
    def f(x):
        return x ** 2, 2 ** x, x ** 0.5, (-x) ** 3
    return f(Tensor([1., 4.]))


@program
def constant_division_by_zero():
    @ms.jit
    def f(x):
        return x + 1 / 0
    return f(Tensor([1.]))


@program
def list_comprehension():
    @ms.jit
    def f(x):
        return [x * i for i in range(3)], [i for i in range(10) if i % 2 if i > 2]
    return f(Tensor([1.]))


@program
def dict_comprehension():
    @ms.jit
    def f(x):
        return {k: x * v for k, v in {"a": 1, "b": 2}.items()}, {str(i): i for i in range(3) if i != 1}
    return f(Tensor([1.]))


@program
def generator_expression():
    @ms.jit
    def f(x):
        return sum(i for i in range(4)), tuple(x * i for i in (1, 2)), list(i + 1 for i in range(2))
    return f(Tensor([1.]))


@program
def generator_expression_is_a_list():
    @ms.jit
    def f(x):
        g = (x * i for i in range(2))
        return g
    return f(Tensor([1.]))


@program
def nested_comprehension():
    @ms.jit
    def f(x):
        return [[x * i + j for j in range(2)] for i in range(2)]
    return f(Tensor([1.]))


@program
def comprehension_with_two_generators():
    @ms.jit
    def f(x):
        return [i * j for i in range(2) for j in range(3)]
    return f(Tensor([1.]))


@program
def comprehension_over_tensor():
    @ms.jit
    def f(x):
        return [row.sum() for row in x]
    return f(Tensor([[1., 2.], [3., 4.]]))


@program
def comprehension_scope():
    @ms.jit
    def f(x):
        i = 100
        y = [x + i for i in range(2)]
        return y, i
    return f(Tensor([1.]))


@program
def set_literal():
    @ms.jit
    def f(x):
        s = {1, 2, 2}
        return x + len(s)
    return f(Tensor([1.]))


@program
def set_comprehension():
    @ms.jit
    def f(x):
        s = {i % 2 for i in range(5)}
        return x + len(s)
    return f(Tensor([1.]))


@program
def walrus():
    @ms.jit
    def f(x):
        if (n := x.shape[0]) > 1:
            return x + n
        return x
    return f(Tensor([1., 2.]))


@program
def del_statement():
    @ms.jit
    def f(x):
        y = x + 1
        del y
        return x
    return f(Tensor([1.]))


@program
def import_statement():
    @ms.jit
    def f(x):
        import math
        return x + math.pi
    return f(Tensor([1.]))


@program
def import_from_statement():
    @ms.jit
    def f(x):
        from math import sqrt
        return x + sqrt(4)
    return f(Tensor([1.]))


@program
def class_statement():
    @ms.jit
    def f(x):
        class Box:
            pass
        return x
    return f(Tensor([1.]))


@program
def match_statement():
    @ms.jit
    def f(x, n):
        match n:
            case 1:
                return x
            case _:
                return x * 2
    return f(Tensor([1.]), 1)


@program
def yield_expression():
    @ms.jit
    def f(x):
        yield x
    return f(Tensor([1.]))


@program
def async_function():
    @ms.jit
    def f(x):
        async def g():
            return x
        return x
    return f(Tensor([1.]))


@program
def try_except():
    @ms.jit
    def f(x):
        try:
            y = x + 1
        except ValueError:
            y = x
        return y
    return f(Tensor([1.]))


@program
def try_finally():
    @ms.jit
    def f(x):
        try:
            y = x + 1
        finally:
            print("finally")
        return y
    return f(Tensor([1.]))


@program
def fstring():
    @ms.jit
    def f(x, n):
        return f"n={n} shape={x.shape} {'inner'} {n + 1}"
    return f(Tensor([1., 2.]), 5)


@program
def fstring_with_format():
    @ms.jit
    def f(n):
        return f"{n:.2f} {n!r}"
    return f(1.5)


@program
def fstring_of_tensor():
    @ms.jit
    def f(x):
        return f"value {x}"
    return f(Tensor([1., 2.]))


@program
def slices_of_tensor():
    @ms.jit
    def f(x):
        return x[1], x[-1], x[0:2], x[::2], x[:, 1], x[..., -1:], x[None, 0], x[1, 1:], x[[0, 2]]
    return f(ops.arange(12).reshape(3, 4))


@program
def index_by_tensor():
    @ms.jit
    def f(x, i):
        return x[i], x[i, i], x[x > 5].sum()
    return f(ops.arange(12).reshape(3, 4), Tensor([0, 2]))


@program
def index_by_scalar_tensor():
    @ms.jit
    def f(x, i):
        return x[i], x[i + 1]
    return f(ops.arange(12).reshape(3, 4), Tensor(1))


@program
def index_by_mutable_number():
    @ms.jit
    def f(x, i):
        return x[i], x[i:]
    return f(ops.arange(4), mutable(1))


@program
def index_tensor_out_of_range():
    @ms.jit
    def f(x):
        return x[5]
    return f(Tensor([1., 2.]))


@program
def index_scalar_tensor():
    @ms.jit
    def f(x):
        return x[0]
    return f(Tensor(1.))


@program
def set_item_of_tensor():
    @ms.jit
    def f(x):
        x[0] = 5
        x[1:, 1] = Tensor([7, 8])
        x[x > 9] = 0
        return x
    return f(ops.arange(12).reshape(3, 4))


@program
def set_item_seen_by_caller():
    @ms.jit
    def f(x):
        x[0] = 5
        return x + 1
    x = Tensor([1., 2.])
    return f(x), x


@program
def set_item_of_alias():
    @ms.jit
    def f(x):
        a = x + 0
        b = a
        b[0] = 100
        return a, b
    return f(Tensor([1., 2.]))


@program
def set_item_of_view():
    @ms.jit
    def f(x):
        a = x + 0
        row = a[0]
        row[0] = 100
        return a, row
    return f(Tensor([[1., 2.], [3., 4.]]))


@program
def nested_subscripts_and_attributes():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = {"sizes": [(1, 2), (3, 4)]}

        @ms.jit
        def construct(self, x):
            return x * self.table["sizes"][1][0] + self.table["sizes"][-1][-1]
    return Net()(Tensor([1.]))


@program
def multi_line_expressions():
    @ms.jit
    def f(x):
        y = (x
             + 1
             ) * \
            2
        return (
            y,
            -y,
        )
    return f(Tensor([1.]))


@program
def several_statements_on_a_line():
    @ms.jit
    def f(x):
        a = x + 1; b = a * 2                                                                     # noqa: E702
        if a.shape: b = b + 1                                                                    # noqa: E701
        return a, b
    return f(Tensor([1.]))


@program
def complex_numbers():
    @ms.jit
    def f(x):
        return x * 2j
    return f(Tensor([1. + 1j], ms.complex64))


@program
def name_not_defined():
    @ms.jit
    def f(x):
        return x + no_such_name                                                                  # noqa: F821
    return f(Tensor([1.]))


@program
def name_used_before_assignment():
    @ms.jit
    def f(x):
        y = z + x                                                                                # noqa: F821, F841
        z = 1                                                                                    # noqa: F841
        return y
    return f(Tensor([1.]))


@program
def attribute_missing_on_tensor():
    @ms.jit
    def f(x):
        return x.no_such_attribute
    return f(Tensor([1.]))


@program
def attribute_missing_on_self():
    class Net(nn.Cell):
        @ms.jit
        def construct(self, x):
            return x + self.no_such_attribute
    return Net()(Tensor([1.]))


@program
def attribute_missing_on_module():
    @ms.jit
    def f(x):
        return ops.no_such_operator(x)
    return f(Tensor([1.]))


@program
def starred_in_literals():
    @ms.jit
    def f(x):
        t = (1, *(2, 3), x)
        items = [*t, 4]
        return t, items
    return f(Tensor([1.]))


@program
def dict_unpacking_in_literal():
    @ms.jit
    def f(x):
        a = {"p": 1}
        return {**a, "q": x}
    return f(Tensor([1.]))


@program
def slice_assignment_of_list():
    @ms.jit
    def f(x):
        items = [1, 2, 3, 4]
        items[1:3] = [x, x, x]
        return items
    return f(Tensor([1.]))


@program
def tensor_attributes_are_constants():
    @ms.jit
    def f(x):
        return x.shape, x.ndim, x.dtype, x.size, x.itemsize, x.nbytes, x.T.shape
    return f(ops.ones((2, 3)))
