# SPDX-License-Identifier: Apache-2.0
"""ops.Custom over functions of shared libraries and over Python functions, alone, in gradients and in programs."""
import shutil

import numpy as np
import pytest

import spore as ms
from spore import Tensor, ops

SOURCE = r"""
#include <stdint.h>
#include <string.h>
int add(int n, void **params, int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra)
{
    (void)stream, (void)extra;
    int64_t count = 1;
    if (n != 3) return 1;
    for (int i = 0; i < n; i++)
        if (strcmp(dtypes[i], "float32") != 0) return 2;
    for (int i = 0; i < ndims[2]; i++) count *= shapes[2][i];
    for (int64_t i = 0; i < count; i++) ((float *)params[2])[i] = ((float *)params[0])[i] + ((float *)params[1])[i];
    return 0;
}
int twice_and_count(int n, void **params, int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra)
{
    (void)dtypes, (void)stream, (void)extra;
    int64_t count = 1;
    if (n != 3) return 1;
    for (int i = 0; i < ndims[0]; i++) count *= shapes[0][i];
    for (int64_t i = 0; i < count; i++) ((float *)params[1])[i] = 2 * ((float *)params[0])[i];
    *(int32_t *)params[2] = (int32_t)count;
    return 0;
}
"""

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "kernels.c"
    path.write_text(SOURCE)
    return path


def first(a, b):
    return a


def add_gradient(x, y, out, dout):
    return dout * 3, dout * 4


def adder(source):
    return ops.Custom(f"{source}:add", first, first, "aot", add_gradient)


@needs_compiler
def test_compiled_function(source):
    x, y = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)), Tensor(np.ones((2, 3), np.float32))
    assert np.array_equal(adder(source)(x, y).asnumpy(), x.asnumpy() + 1)
    assert np.array_equal(adder(source)(x.T, y.T).asnumpy(), x.asnumpy().T + 1)          # row-major, whatever lies in memory
    double, count = ops.Custom(f"{source}:twice_and_count", lambda a: (a, ()), lambda a: (a, ms.int32), "aot")(x)
    assert np.array_equal(double.asnumpy(), 2 * x.asnumpy()) and count.asnumpy() == 6 and count.shape == ()


@needs_compiler
def test_compiled_function_in_a_program_with_gradient(source):
    add, x, y = adder(source), Tensor([1.0, 2.0]), Tensor([10.0, 20.0])

    def f(x, y):
        return add(x * 2, y) * 5
    assert ms.jit(f)(x, y).asnumpy().tolist() == f(x, y).asnumpy().tolist() == [60.0, 120.0]
    for g in (ms.grad(f, (0, 1)), ms.jit(ms.grad(f, (0, 1)))):
        assert [d.asnumpy().tolist() for d in g(x, y)] == [[30.0, 30.0], [20.0, 20.0]]


@needs_compiler
def test_what_goes_wrong_is_told(source, tmp_path):
    half = Tensor([1.0], ms.float16)
    with pytest.raises(RuntimeError, match="is 2"):
        adder(source)(half, half)
    with pytest.raises(RuntimeError, match="fetching function 'nothing'"):
        ops.Custom(f"{source}:nothing", first, first, "aot")
    with pytest.raises(RuntimeError, match="couldn't find"):
        ops.Custom(f"{tmp_path}/no.so:add", first, first, "aot")
    with pytest.raises(RuntimeError, match="is illegal"):
        ops.Custom("kernels", first, first, "aot")
    with pytest.raises(ValueError, match="out_shape and out_dtype"):
        ops.Custom(f"{source}:add", None, first, "aot")
    with pytest.raises(TypeError, match="must be of type str"):
        ops.Custom(first, first, first, "aot")
    (tmp_path / "bad.c").write_text("int add( {")
    with pytest.raises(RuntimeError, match="does not compile"):
        ops.Custom(f"{tmp_path}/bad.c:add", first, first, "aot")


def test_python_function_in_a_program():
    double = ops.Custom(lambda x: x * 2, lambda s: s, lambda d: d, "pyfunc", lambda x, out, dout: (dout * 7,))

    @ms.jit(fullgraph=True)
    def f(x):
        return double(x + 1) * 3
    assert f(Tensor([1.0, 2.0])).asnumpy().tolist() == [12.0, 18.0]
    assert ms.grad(f)(Tensor([1.0, 2.0])).asnumpy().tolist() == [21.0, 21.0]
