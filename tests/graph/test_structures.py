# SPDX-License-Identifier: Apache-2.0
"""Sparse Tensors as arguments, results and names of branches; values that a program has not given back have no contents; what
set_inputs may declare."""
import numpy as np
import pytest

import spore as ms
from spore import COOTensor, CSRTensor, RowTensor, Symbol, Tensor, _core, mutable, nn, ops

PLACES = Tensor([[0, 1], [1, 2]])


def test_sparse_results_belong_to_their_call():
    @ms.jit
    def f(v):
        return COOTensor(PLACES, v, (3, 4)), [CSRTensor(Tensor([0, 1, 2]), Tensor([0, 1]), v * 2, (2, 4))], \
            {"rows": RowTensor(Tensor([0, 2]), v.reshape(2, 1), (3, 1))}
    first, second = f(Tensor([1.0, 2.0])), f(Tensor([3.0, 4.0]))
    for (coo, (csr,), rows), v in ((first, [1.0, 2.0]), (second, [3.0, 4.0])):
        assert coo.to_dense().asnumpy()[[0, 1], [1, 2]].tolist() == v
        assert csr.values.asnumpy().tolist() == [2 * x for x in v] and csr.shape == (2, 4)
        assert rows["rows"].values.asnumpy().ravel().tolist() == v


def test_sparse_arguments_are_values_of_the_run():
    n = []

    @ops.constexpr
    def note(k):
        n.append(k)
        return k

    @ms.jit
    def f(t):
        return t.to_dense() * note(2), t
    for v in ([1.0, 2.0], [3.0, 4.0]):
        dense, same = f(COOTensor(PLACES, Tensor(v), (3, 4)))
        assert dense.asnumpy().sum() == 2 * sum(v) and same.values.asnumpy().tolist() == v
    assert len(n) == 1


def test_sparse_in_branches():
    @ms.jit
    def f(v, c):
        if c > 0:
            t = COOTensor(PLACES, v, (3, 4))
        else:
            t = COOTensor(PLACES, v * 10, (3, 4))
        return t
    assert [f(Tensor([1.0, 2.0]), Tensor(c)).values.asnumpy().tolist() for c in (1, -1)] == [[1.0, 2.0], [10.0, 20.0]]


def test_tensors_of_nested_lists():
    def f(x):
        return Tensor([[x[0], 1.0], [2.0, x[1]]]), Tensor([[x, x]]), Tensor((x, [3, x[0]]), ms.float16), not x[:1]
    x = Tensor([5.0, 6.0])
    for call in (f, ms.jit(f)):
        mixed, nested, half, _ = call(x)
        assert mixed.dtype == ms.float32 and mixed.asnumpy().tolist() == [[5.0, 1.0], [2.0, 6.0]]
        assert nested.asnumpy().tolist() == [[[5.0, 6.0], [5.0, 6.0]]]
        assert half.dtype == ms.float16 and half.asnumpy().tolist() == [[5.0, 6.0], [3.0, 5.0]]
    assert call(x)[3].shape == (1,)


def test_sequences_of_tensors_are_written():
    def f(x, y):
        x = x * 1
        x[0:2] = (y, y * 2)
        x[Tensor([2, 3]), Tensor([0, 1])] = [y[0], y[1]]
        return x
    x, y = Tensor(np.zeros((4, 2), np.float32)), Tensor([5.0, 6.0])
    want = f(x, y).asnumpy().tolist()
    assert want == [[5.0, 6.0], [10.0, 12.0], [5.0, 0.0], [0.0, 6.0]]
    assert ms.jit(f)(x, y).asnumpy().tolist() == ms.jit(f, capture_mode="bytecode")(x, y).asnumpy().tolist() == want
    assert ms.jit(ms.grad(lambda x, y: f(x, y).sum(), 1))(x, y).asnumpy().tolist() == [4.0, 4.0]


def test_a_value_of_a_program_has_no_contents_outside():
    graph = _core.graph_create()
    function, (x,) = _core.function_begin(graph, "f", [(ms.float32, (2,))])
    y = x * 2
    _core.function_end(function, [y])
    for use in (lambda: y + 1, lambda: y[0], lambda: ops.stack([y, y]), lambda: Tensor([[1.0, 2.0]]).__setitem__(0, y), y.copy):
        with pytest.raises(RuntimeError, match="let the program return it"):
            use()
    with pytest.raises(TypeError, match="without an initializer"):
        Tensor(shape=[None, 2], dtype=ms.float32) + 1


class Net(nn.Cell):
    def construct(self, x, y=None):
        return x * 2 if y is None else (x, len(y))


def net_for(*inputs, **named):
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    net.set_inputs(*inputs, **named)
    return net


@pytest.fixture(autouse=True)
def eager_afterwards():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def ones(*shape):
    return Tensor(np.ones(shape, np.float32))


@pytest.mark.parametrize("symbol, fits, differs, words", [
    (Symbol(divisor=2, remainder=1), (3,), (2,), "divisor"), (Symbol(min=3), (3,), (2,), "'min' value '3'"),
    (Symbol(min=2, max=5), (5,), (6,), "'max' value '5'"), (Symbol(unique=True), (4, 4), (4, 5), "unique symbol")])
def test_symbols_are_checked(symbol, fits, differs, words):
    net = net_for(Tensor(shape=[symbol] * len(fits), dtype=ms.float32))
    assert net(ones(*fits)).asnumpy().sum() == 2 * np.prod(fits)
    with pytest.raises(ValueError, match=words):
        net(ones(*differs))


def test_inputs_by_name_and_lists_of_any_length():
    net = net_for(x=Tensor(shape=[None], dtype=ms.float32))
    assert net(x=ones(3)).shape == (3,) and net(ones(5)).shape == (5,)
    net = net_for(Tensor(shape=[None], dtype=ms.float32), mutable([1], True))
    assert [net(ones(3), mutable(list(range(n))))[1] for n in (1, 4)] == [1, 4]
    with pytest.raises(TypeError, match="should be mutable one"):
        net(ones(3), [1, 2])


def test_declarations_that_cannot_be():
    with pytest.raises(ValueError, match="valid key is"):
        Net().set_inputs(z=ones(2))
    with pytest.raises(ValueError, match="the 2th should be 3"):
        net_for(Tensor(shape=[None], dtype=ms.float32), 3)(ones(2), 4)
    for error, declared in ((TypeError, {"x": 3}), (ValueError, {}), (TypeError, {"x": Tensor(shape=[3], dtype=ms.float32)}),
                            (ValueError, {"q": Tensor(shape=[None], dtype=ms.float32)})):
        with pytest.raises(error):
            ms.enable_dynamic(**declared)(lambda x: x)
