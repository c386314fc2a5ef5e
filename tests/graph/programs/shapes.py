# SPDX-License-Identifier: Apache-2.0
"""Shapes known only at run time, random operators, and operator errors."""
import mindspore as ms
import numpy as np
from mindspore import Generator, Tensor, mint, mutable, nn, ops

from graphtest import program, raised


@program
def nonzero_inside():
    @ms.jit
    def f(x):
        return ops.nonzero(x), ops.nonzero(x).shape
    return f(Tensor([0, 3, 0, 4])), f(Tensor([1, 0, 0, 0]))


@program
def masked_select_inside():
    @ms.jit
    def f(x):
        y = ops.masked_select(x, x > 1)
        return y * 2, y.sum()
    return f(Tensor([1., 2., 3.])), f(Tensor([0., 0., 3.]))


@program
def boolean_index_inside():
    @ms.jit
    def f(x):
        y = x[x > 1]
        return y, y.shape[0]
    return f(Tensor([1., 2., 3.]))


@program
def unique_inside():
    @ms.jit
    def f(x):
        return ops.unique(x)
    return f(Tensor([3, 1, 3, 2]))


@program
def dynamic_result_in_branch():
    @ms.jit
    def f(x):
        y = ops.nonzero(x)
        if y.shape[0] > 1:
            return y.sum()
        return y.max()
    return f(Tensor([0, 3, 0, 4])), f(Tensor([0, 0, 5, 0]))


@program
def dynamic_result_reshaped():
    @ms.jit
    def f(x):
        y = ops.nonzero(x)
        return y.reshape(-1), y.reshape((y.shape[0], 1)), ops.zeros_like(y), ops.ones(y.shape, ms.float32)
    return f(Tensor([0, 3, 0, 4]))


@program
def dynamic_result_concat_and_index():
    @ms.jit
    def f(x):
        y = ops.masked_select(x, x > 0)
        z = ops.concat((y, x))
        return z[0], z[-1], z[1:]
    return f(Tensor([-1., 2., 3.]))


@program
def dynamic_result_gradient():
    def f(x):
        y = ops.masked_select(x, x > 1)
        return (y * y).sum()

    @ms.jit
    def g(x):
        return ms.grad(f)(x)
    return g(Tensor([1., 2., 3.]))


@program
def dynamic_empty_result():
    @ms.jit
    def f(x):
        return ops.masked_select(x, x > 100), ops.nonzero(x > 100)
    return f(Tensor([1., 2.]))


@program
def dynamic_loop_over_result():
    @ms.jit
    def f(x):
        y = ops.masked_select(x, x > 0)
        total = x.sum() * 0
        i = 0
        while i < y.shape[0]:
            total = total + y[i]
            i = i + 1
        return total
    return f(Tensor([-1., 2., 3.]))


@program
def reshape_by_run_time_number():
    @ms.jit
    def f(x, n):
        return x.reshape((n, -1))
    return f(ops.arange(6), mutable(2)), f(ops.arange(6), mutable(3))


@program
def slice_by_run_time_number():
    @ms.jit
    def f(x, n):
        return x[:n], x[n]
    return f(ops.arange(6), mutable(2)), f(ops.arange(6), mutable(3))


@program
def slice_by_tensor_number():
    @ms.jit
    def f(x, n):
        return x[:n]
    return f(ops.arange(6), Tensor(2))


@program
def arange_of_run_time_number():
    @ms.jit
    def f(n):
        return ops.arange(n)
    return f(mutable(3)), f(mutable(5))


@program
def tile_and_broadcast_by_shape():
    @ms.jit
    def f(x):
        n = x.shape[0]
        return x.tile((2,)), x.broadcast_to((3, n)), ops.full((n, 2), 1.5, dtype=ms.float32)
    return f(Tensor([1., 2.]))


@program
def shape_arithmetic():
    @ms.jit
    def f(x):
        b, c = x.shape
        return x.reshape((b * c,)), x.reshape((c, b))[0], (b + c) // 2, [s + 1 for s in x.shape], x.shape[::-1]
    return f(ops.arange(6).reshape(2, 3))


@program
def ops_shape_and_dynamic_shape():
    @ms.jit
    def f(x):
        return ops.shape(x), ops.rank(x), ops.size(x), ops.dtype(x)
    return f(ops.ones((2, 3)))


@program
def random_shapes_and_dtypes():
    @ms.jit
    def f(x):
        a = ops.rand(2, 3)
        b = ops.randn(4)
        c = ops.randint(0, 10, (5,))
        d = ops.uniform((2,), Tensor(0.), Tensor(1.))
        return a.shape, a.dtype, b.shape, c.shape, c.dtype, d.shape
    return f(Tensor([1.]))


@program
def random_differs_between_calls():
    @ms.jit
    def f(n):
        return ops.rand(4) + n
    a, b = f(Tensor(0.)).asnumpy(), f(Tensor(0.)).asnumpy()
    return bool((a != b).any()), bool(((a >= 0) & (a < 1)).all())


@program
def random_is_reproducible():
    def once():
        ms.set_seed(3)

        @ms.jit
        def f(n):
            return ops.rand(4) + n
        return f(Tensor(0.)).asnumpy()
    return bool((once() == once()).all())


@program
def random_mint_with_generator():
    generator = Generator()
    generator.manual_seed(5)

    @ms.jit
    def f(n):
        return mint.rand(3, generator=generator) + n
    a = f(Tensor(0.)).asnumpy()
    generator.manual_seed(5)
    b = f(Tensor(0.)).asnumpy()
    return a.shape, bool((a == b).all())


@program
def random_in_loop_differs():
    @ms.jit
    def f(n):
        out = ()
        for _ in range(3):
            out = out + (ops.rand(2) + n,)
        return out
    a, b, c = (t.asnumpy() for t in f(Tensor(0.)))
    return bool((a != b).any()), bool((b != c).any())


@program
def dropout_function():
    @ms.jit
    def f(x):
        return ops.dropout(x, 0.5, True)
    y = f(ops.ones((400,))).asnumpy()
    return set(np.unique(y).tolist()) == {0., 2.}, bool(120 < (y == 0).sum() < 280)


@program
def dropout_gradient_uses_the_same_mask():
    net = nn.Dropout(p=0.5).set_train()

    def f(x):
        y = net(x)
        return y.sum(), y

    @ms.jit
    def g(x):
        return ms.value_and_grad(f, 0, has_aux=True)(x)
    (_, y), d = g(ops.ones((64,)))
    return bool((y.asnumpy() == d.asnumpy()).all())


@program
def operator_shape_error():
    @ms.jit
    def f(x, y):
        return x + y
    return f(ops.ones((2, 3)), ops.ones((4,)))


@program
def operator_matmul_shape_error():
    @ms.jit
    def f(x, y):
        return ops.matmul(x, y)
    return f(ops.ones((2, 3)), ops.ones((2, 3)))


@program
def operator_dtype_error():
    @ms.jit
    def f(x):
        return ops.sqrt(x, 3, 4)
    return f(ops.ones((2, 3)))


@program
def operator_attribute_error():
    @ms.jit
    def f(x):
        return ops.softmax(x, axis=5)
    return f(ops.ones((2, 3)))


@program
def operator_attribute_type_error():
    @ms.jit
    def f(x):
        return ops.reshape(x, "shape")
    return f(ops.ones((2, 3)))


@program
def operator_reshape_size_error():
    @ms.jit
    def f(x):
        return x.reshape((4, 4))
    return f(ops.ones((2, 3)))


@program
def operator_concat_error():
    @ms.jit
    def f(x, y):
        return ops.concat((x, y), 0)
    return f(ops.ones((2, 3)), ops.ones((2, 4)))


@program
def operator_string_operand():
    @ms.jit
    def f(x):
        return x + "a"
    return f(Tensor([1.]))


@program
def operator_list_of_strings_to_tensor():
    @ms.jit
    def f(x):
        return x * ("a", "b")
    return f(Tensor([1., 2.]))


@program
def operator_error_in_untaken_branch():
    """Both branches of a run-time condition are compiled, so both must be right."""
    @ms.jit
    def f(x):
        if x.sum() > 1000:
            return x.reshape((7, 7))
        return x
    return f(ops.ones((2, 3)))


@program
def operator_dense_input_error():
    net = nn.Dense(4, 2)

    @ms.jit
    def f(x):
        return net(x)
    return f(ops.ones((2, 3)))


@program
def operator_conv_rank_error():
    net = nn.Conv2d(1, 1, 2)

    @ms.jit
    def f(x):
        return net(x)
    return f(ops.ones((2, 3)))


@program
def operator_error_at_run_time():
    @ms.jit
    def f(x, n):
        return x.reshape((n, 4))
    return raised(f, ops.ones((2, 3)), mutable(5))


@program
def gather_inside():
    @ms.jit
    def f(x, i):
        return ops.gather(x, i, 0)
    return f(Tensor([1., 2.]), Tensor([0, 1]))


@program
def call_of_number():
    @ms.jit
    def f(x):
        n = 3
        return n(x)
    return f(Tensor([1.]))


@program
def call_of_tensor():
    @ms.jit
    def f(x):
        return x(1)
    return f(Tensor([1.]))


@program
def unary_minus_of_string():
    @ms.jit
    def f(x):
        return -"a"
    return f(Tensor([1.]))


@program
def add_list_and_tuple():
    @ms.jit
    def f(x):
        return [1] + (2,)
    return f(Tensor([1.]))


@program
def subscript_of_number():
    @ms.jit
    def f(n):
        return n[0]
    return f(3)


@program
def iterate_over_number():
    @ms.jit
    def f(x):
        for i in 3:
            x = x + i
        return x
    return f(Tensor([1.]))


@program
def wrong_keyword_of_operator():
    @ms.jit
    def f(x):
        return ops.relu(x, nothing=3)
    return f(Tensor([1.]))


@program
def tensor_as_default_argument():
    @ms.jit
    def f(x, y=Tensor([1.])):
        return x + y
    return f(Tensor([1.]))


@program
def attribute_of_none():
    @ms.jit
    def f(x):
        y = None
        return y.shape
    return f(Tensor([1.]))
