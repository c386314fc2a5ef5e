# SPDX-License-Identifier: Apache-2.0
"""Hooks of saved tensors and functions with a gradient of their own. Numbers and counts of calls are those of MindSpore 2.10."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, _Function, nn, ops
from spore.common.api import _disable_saved_tensors_hooks, _pynative_executor
from spore.ops import GradOperation
from spore.ops.auto_generate.gen_ops_def import as_strided

X, Y = Tensor([2.0, 2.0]), Tensor([3.0, 3.0])
ALL = GradOperation(get_all=True)


def same(found, *wanted):
    found = found if isinstance(found, tuple) else (found,)
    assert len(found) == len(wanted)
    for f, w in zip(found, wanted):
        np.testing.assert_allclose(f.asnumpy(), w, rtol=1e-5)


class Counted:
    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, x):
        self.calls += 1
        return self.function(x)


@pytest.mark.parametrize("function, n, wanted", [
    (lambda x, y: x * y, 2, ([8.0, 8.0], [6.0, 6.0])), (lambda x, y: ops.sigmoid(x), 1, None), (lambda x, y: ms.mint.mul(3, x), 0, None),
    (lambda x, y: x + y, 0, ([1.0, 1.0], [1.0, 1.0]))])
def test_hooks_are_called_for_what_is_kept(function, n, wanted):
    pack, unpack = Counted(lambda x: x * 2.0), Counted(lambda x: x + 2.0)

    def run(x, y):
        with ms.saved_tensors_hooks(pack, unpack):
            return function(x, y)
    found = ms.grad(run, (0, 1))(X, Y)
    assert (pack.calls, unpack.calls) == (n, n)
    if wanted:
        same(found, *wanted)


def test_hooks_of_a_cell_and_of_an_inner_context():
    class Product(nn.Cell):
        def construct(self, x, y):
            return x * y
    net, pack, unpack = Product(), Counted(lambda x: x * 2.0), Counted(lambda x: x + 2.0)
    net.register_saved_tensors_hooks(pack, unpack)
    net.set_grad()
    net(X, Y)
    assert (pack.calls, unpack.calls) == (2, 0)
    same(ALL(net)(X, Y), [8.0, 8.0], [6.0, 6.0])

    def nested(a, b):
        with ms.saved_tensors_hooks(lambda x: x * 2, lambda x: x):
            p = a * a
            with ms.saved_tensors_hooks(lambda x: x * 3, lambda x: x):
                q = b * b
        return p + q
    same(ms.grad(nested, (0, 1))(X, Y), [8.0, 8.0], [18.0, 18.0])


def test_second_gradients_and_memory_elsewhere():
    def cube(x):
        with ms.saved_tensors_hooks(lambda t: t.asnumpy(), Tensor):
            return x * x * x
    same(ms.grad(ms.grad(cube))(X), [12.0, 12.0])


def test_hooks_are_refused_and_faults_named():
    with _disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not here"):
        with ms.saved_tensors_hooks(lambda x: x, lambda x: x):
            pass
    with ms.saved_tensors_hooks(lambda x: x, lambda x: x), pytest.raises(RuntimeError, match="not here"):
        with _disable_saved_tensors_hooks("not here"):
            pass

    def run(x, pack, unpack):
        with ms.saved_tensors_hooks(pack, unpack):
            return x * x
    with pytest.raises(RuntimeError, match=r"unpack hook gave a tensor of shape \(1,\)"):
        ms.grad(run)(X, lambda t: t, lambda t: t[:1])
    with pytest.raises(TypeError, match="must be a Tensor, but got int"):
        ms.grad(run)(X, lambda t: t, lambda t: 3)
    with pytest.raises(ZeroDivisionError):
        ms.grad(run)(X, lambda t: 1 / 0, lambda t: t)
    with pytest.raises(RuntimeError, match="eager mode"):
        ms.jit(lambda x: run(x, lambda t: t, lambda t: t))(X)
    same(ms.grad(lambda x: x * x)(X), [4.0, 4.0])     # nothing is left behind


def function(backward, forward=lambda ctx, x, y: x * x + y):
    return type("Own", (_Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}).apply


def test_own_functions():
    with pytest.raises(RuntimeError, match="Function backward return a wrong number of gradients"):
        ALL(function(lambda ctx, g: g * 3))(X, Y)
    with pytest.raises(RuntimeError, match="Gradient should be none or tensor"):
        ALL(function(lambda ctx, g: (g * 3, 4)))(X, Y)
    with pytest.raises(RuntimeError, match="Input is not tensor, but gradient is not none"):
        ALL(function(lambda ctx, g: (g * 3, g)))(X, 3)

    def constant(ctx, x, y):
        z = x * x + 1
        ctx.mark_non_differentiable(z)
        return z
    same(ALL(function(lambda ctx, g: (g, g * 2), constant))(X, Y), [0.0, 0.0], [0.0, 0.0])
    seen = []

    def two(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * x + 1, x * x
    own = function(lambda ctx, g, h: (seen.append(h), (g, g))[1], two)
    same(ALL(lambda x, y: own(x, y)[0])(X, Y), [1.0, 1.0], [1.0, 1.0])
    assert seen == [None]
    broadcast = function(lambda ctx, g: (Tensor([[1, 1], [1, 1], [2, 2]]),) * 2, lambda ctx, x, y: x + y)
    found = ALL(broadcast)(X, Tensor(np.ones((3, 2), np.float32)))
    same(found, [4.0, 4.0], [[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]])
    assert found[0].dtype == ms.float32

    def kept(ctx, x, y):
        ctx.save_for_backward(x * 3, x + y)
        return x + y
    own = function(lambda ctx, g: (g * ctx.saved_tensors[0], g * ctx.saved_tensors[1]), kept)

    def hooked(x, y):
        with ms.saved_tensors_hooks(lambda t: t + 1.0, lambda t: t):
            return own(x, y)
    same(ms.grad(hooked, (0, 1))(X, Y), [7.0, 7.0], [6.0, 6.0])


def test_gradients_taken_by_hand():
    operation = GradOperation(True, False, False)
    square = lambda x: x * x                                                # noqa: E731
    assert not _pynative_executor.check_run(operation, square, None, None, X, create_graph=False)
    _pynative_executor.new_graph(square, X)
    _pynative_executor.end_graph(square, square(X), X)
    same(_pynative_executor.grad(square, operation, None, None, X), [4.0, 4.0])


def test_as_strided_is_a_view():
    x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
    same(as_strided(x, (2, 2), (4, 1), 2), [[2, 3], [6, 7]])
    same(as_strided(as_strided(x, (2, 2), (4, 1)), (2, 1), (2, 1)), [[0], [2]])
    view = as_strided(x, (2,), (5,))
    view.copy_(Tensor([50.0, 60.0]))
    assert x[0, 0] == 50 and x[1, 1] == 60
    same(ms.grad(lambda x: as_strided(x * 2, (3, 2), (1, 1)))(x), [[2, 4, 4, 2], [0] * 4, [0] * 4])
    with pytest.raises(ValueError, match="covers elements 0 to 40 of 12"):
        as_strided(x, (9, 9), (4, 1))


def test_bases_of_the_compiled_part():
    from spore import _c_expression as compiled
    for base, made in (("Cell_", nn.Dense(1, 1)), ("Primitive_", ops.Add()), ("GradOperation_", ALL), ("HyperMap_", ops.HyperMap()),
                       ("PyNativeExecutor_", _pynative_executor), ("TensorPy", X)):
        assert isinstance(made, getattr(compiled, base)), base
    same(ms.grad(lambda x: x * compiled.pyboost_detach(x))(X), [2.0, 2.0])
    with pytest.raises(AttributeError, match="no attribute 'Nothing_'"):
        compiled.Nothing_


def counted(function, calls):
    def run(x):
        calls.append(0)
        return function(x)
    return run


@pytest.mark.parametrize("how", ["bprop", "recompute"])
def test_what_cells_keep_themselves_passes_through_hooks(how):
    class Own(nn.Cell):
        def __init__(self):
            super().__init__()
            self.used_bprop_inputs = [0, 2]

        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out, dout):
            assert y is None
            return dout * out * x, dout * out

    class Again(nn.Cell):
        def construct(self, x, y):
            return x * y
    packed, unpacked = [], []
    net = Own() if how == "bprop" else Again()
    if how == "recompute":
        net.recompute()
    net.register_saved_tensors_hooks(counted(lambda t: t, packed), counted(lambda t: t - 1.0, unpacked))
    x, y = Tensor([3.0]), Tensor([5.0])
    grads = ms.grad(net, grad_position=(0, 1))(x, y)
    assert (len(packed), len(unpacked)) == (2, 2)
    wanted = [14 * 2, 14] if how == "bprop" else [4, 2]
    assert [float(g.item()) for g in grads] == wanted
