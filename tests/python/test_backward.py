# SPDX-License-Identifier: Apache-2.0
"""Gradients that Tensors gather themselves (run_backward), what is called at the end of a pass, and rules of gradients of one's own."""
import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, nn, ops
from spore._c_expression import run_backward
from spore.common._grad_function import _Function
from spore.common.api import _pynative_executor as executor
from spore.common.differentiate import no_grad


def leaf(*values):
    return Tensor(np.array(values, np.float32)).requires_grad_()


def same(tensor, wanted):
    np.testing.assert_allclose(tensor.asnumpy(), np.array(wanted, np.float32), 1e-6)


@pytest.fixture
def gathering():
    executor.set_grad_flag(True)
    yield
    executor.set_grad_flag(False)


def test_gradients_are_added_up(gathering):
    x, y = leaf(3, 2), leaf(5, 7)
    run_backward((x * y,), None, None, False, None)
    run_backward(((x + y).sum(),), None, None, False, None)
    same(x._grad, [6, 8])
    same(y._grad, [4, 3])
    x._grad = None
    run_backward((x * x,), (Tensor([1.0, 10.0]),), None, False, None)
    same(x._grad, [6, 40])
    assert executor.requires_grad()
    del x, y
    assert not executor.requires_grad()          # nothing is recorded when no Tensor asks for gradients


def test_second_pass_needs_what_the_first_gave_up(gathering):
    x = leaf(3)
    y = x * x
    run_backward((y,), None, True, False, None)
    run_backward((y,), None, None, False, None)
    same(x._grad, [12])
    with pytest.raises(RuntimeError, match="Try to backward the graph twice"):
        run_backward((y,), None, None, False, None)
    z = x * x * x
    x._grad = None
    run_backward((z,), None, None, True, None)
    run_backward((x._grad,), None, None, False, None)
    same(x._grad, [27 + 18])


def test_refused(gathering):
    x = leaf(3)
    with no_grad():
        y = x * x
    with pytest.raises(RuntimeError, match="doesn't requires grad"):
        run_backward((y,), None, None, False, None)
    with pytest.raises(RuntimeError, match="tuple or none"):
        run_backward((x * x,), Tensor([1.0]), None, False, None)
    with pytest.raises(RuntimeError, match="dtype and shape should be same"):
        x._grad = Tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match="leaf tensor"):
        (x * x)._requires_grad = False
    assert run_backward((x * x,), None, None, False, (x, leaf(1)), accumulate_grad=False)[1] is None
    with pytest.raises(RuntimeError, match="allow_unused"):
        run_backward((x * x,), None, None, False, (x, leaf(1)), False, accumulate_grad=False)


def test_nodes_and_their_hooks(gathering):
    x, y = leaf(2, 1), leaf(1, 3)
    z = x * y
    assert x._is_leaf and not z._is_leaf and z._grad_node.name() == "mul"
    assert [index for _, index in z._grad_node.next_functions] == [0, 0]
    calls = []
    handle = z._grad_node.register_prehook(lambda gradients: tuple(g * 2 for g in gradients))
    x._grad_node.register_hook(lambda inputs, results: calls.append(results[0].asnumpy().tolist()))
    run_backward((z,), None, True, False, None)
    same(x._grad, [2, 6])
    handle.remove()
    run_backward((z,), None, None, False, None)
    same(x._grad, [3, 9])
    assert calls == [[2, 6], [1, 3]]
    wrong = x + y
    wrong._grad_node.register_prehook(lambda gradients: gradients[0])
    with pytest.raises(RuntimeError, match="should return a tuple"):
        run_backward((wrong,), None, None, False, None)


def test_results_keep_theirs_when_asked(gathering):
    x = leaf(2, 1)
    y = x * x
    y._retain_grad()
    run_backward(((y * 3).sum(),), None, None, False, None)
    same(y._grad, [3, 3])
    same(x._grad, [12, 6])


def test_hooks_of_leaves_stay(gathering):
    x = leaf(3)
    x.register_hook(lambda g: g * 2)
    x._requires_grad = False
    x._requires_grad = True
    run_backward((x * x,), None, None, False, None)
    same(x._grad, [12])


def test_callbacks_at_the_end_of_a_pass():
    record = []

    class Noted(_Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            executor.queue_backward_final_callback(lambda: record.append("end"))
            record.append("node")
            return g * 2
    ms.grad(lambda x: Noted.apply(Noted.apply(x)))(Tensor([1.0]))
    assert record == ["node", "node", "end", "end"]
    with pytest.raises(RuntimeError, match="during backward pass"):
        executor.queue_backward_final_callback(lambda: None)


def test_hooks_of_weights_count_once_where_blocks_are_computed_again():
    net = nn.Dense(2, 2, weight_init="ones")
    net.recompute()
    net.weight.register_hook(lambda g: g * 10)
    grads = ms.grad(net, None, net.trainable_params())(Tensor(np.ones((1, 2), np.float32)))
    same(grads[0], np.full((2, 2), 10))


def test_hooks_of_weights_without_a_part_in_the_result():
    calls = []
    used, unused = Parameter(Tensor([2.0]), name="used"), Parameter(Tensor([3.0]), name="unused")
    for weight in (used, unused):
        weight.register_hook(lambda g: calls.append(float(g.item())))
    ms.grad(lambda x: x * used, None, [used, unused])(Tensor([5.0]))
    assert sorted(calls) == [0.0, 5.0]


def test_no_gradients_inside_no_grad():
    with no_grad(), pytest.raises(RuntimeError, match="no_grad"):
        ms.grad(lambda x: x * x)(Tensor([1.0]))
    same(ms.grad(lambda x: x * x)(Tensor([1.0])), [2])


def test_requires_grad_set_while_the_function_runs():
    w = Parameter(Tensor([3.0]), name="w")

    def f(x):
        y = x * w
        w.requires_grad = False
        return y
    same(ms.grad(f, None, [w])(Tensor([2.0]))[0], [0])


def test_a_weight_that_gets_other_contents_stays_a_variable():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.0, 2.0]), name="w")

        def construct(self, x):
            self.w += 1
            return self.w * x
    net = Net()
    same(ms.grad(net, None, net.trainable_params())(Tensor([5.0, 6.0]))[0], [5, 6])
    same(net.w, [2, 3])


def test_gradients_of_ones_own_take_the_inputs_shape():
    class Wide(nn.Cell):
        def construct(self, x, y):
            return x + y

        def bprop(self, x, y, out, dout):
            return Tensor([[1, 1], [2, 2]], ms.int64), Tensor([[1.0, 1.0], [2.0, 2.0]])
    grads = ops.GradOperation(get_all=True)(Wide())(Tensor([3.0, 3.0]), Tensor([[1.0, 2.0], [1.0, 2.0]]))
    same(grads[0], [3, 3])
    assert grads[0].dtype == ms.float32
    with pytest.raises(RuntimeError, match="should be broadcast to"):
        ops.GradOperation(get_all=True)(Wide())(Tensor([3.0, 3.0, 3.0]), Tensor([1.0]))


def test_bprop_sees_the_inputs_that_it_uses():
    seen = []

    class Some(nn.Cell):
        def __init__(self):
            super().__init__()
            self.used_bprop_inputs = [0]

        def construct(self, x, y):
            return x * y

        def bprop(self, *args):
            seen.append([a is None for a in args])
            return args[0], args[0]
    ms.grad(Some())(Tensor([1.0]), Tensor([2.0]))
    assert seen == [[False, True, True, False]]


def test_what_a_function_changes_in_place():
    def made(forward):
        return type("Own", (_Function,), {"forward": staticmethod(forward), "backward": staticmethod(lambda ctx, *g: (g[0], g[0]))})

    def forgets(ctx, x, y):
        x.add_(1)
        ctx.mark_dirty(x)
        return x + y

    def gives(ctx, x, y):
        x.add_(1)
        ctx.mark_dirty(x)
        return x + y, x
    x, y = Tensor([1.0]), Tensor([2.0])
    with pytest.raises(RuntimeError, match="must all be outputs"):
        ms.grad(made(forgets).apply)(x, y)
    with pytest.raises(RuntimeError, match="leaf tensor"):
        ms.grad(made(gives).apply)(x, y)
    same(ms.grad(lambda x, y: made(gives).apply(x * 1, y))(Tensor([1.0]), y), [1])
    with pytest.raises(RuntimeError, match="should be a tensor"):
        made(lambda ctx, x: ctx.mark_dirty(1.0)).apply(x)


def test_copy_into_a_variable():
    def f(x):
        x.copy_(Tensor([1.0]))
        return x
    with pytest.raises(RuntimeError, match="A leaf tensor that requires grad"):
        ms.grad(f)(Tensor([3.0]))
    same(f(Tensor([3.0])), [1])


def test_backward_hooks_where_only_weights_have_gradients():
    seen = []
    net = nn.Dense(2, 2)
    net.register_backward_hook(lambda cell, inputs, outputs: seen.append((inputs, outputs[0].shape)))
    ms.grad(net, None, net.trainable_params())(Tensor(np.ones((1, 2), np.float32)))
    assert seen == [((None,), (1, 2))]


def test_hooks_go_with_their_tensors():
    gone = []

    class Hook:
        def __call__(self, gradient):
            return None

        def __del__(self):
            gone.append(1)

    def f(x):
        y = x * x
        y.register_hook(Hook())
        return x
    ms.grad(f)(Tensor([1.0]))
    assert gone == [1]
