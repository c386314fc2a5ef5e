# SPDX-License-Identifier: Apache-2.0
"""Answers that the examples of MindSpore 2.10's own documentation give when they are run."""
import subprocess
import sys

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, nn, ops
from spore.experimental import optim


def numbers(*tensors):
    return [t.asnumpy().tolist() for t in tensors]


@pytest.mark.parametrize("find, initial, value, index", (
    (ops.min, 0, [0, -2, -4], [0, 2, 1]), (ops.max, 3, [3, 4, 8], [0, 3, 0])))
def test_extrema_count_the_initial_value_before_the_index_is_taken(find, initial, value, index):
    x = Tensor([[2, 5, 1, 6], [3, -7, -2, 4], [8, -4, 1, -3]])
    where = Tensor(np.array([[1, 0, 1, 0], [0, 0, 1, 1], [1, 1, 1, 0]], bool))
    assert numbers(*find(x, axis=1, initial=initial, where=where)) == [value, index]


@pytest.mark.parametrize("dtype, lowest", ((ms.float16, -65504.0), (ms.float32, float(np.finfo(np.float32).min)),
                                           (ms.float64, float(np.finfo(np.float64).min)), (ms.bfloat16, None)))
def test_an_exclusive_logsumexp_begins_with_the_lowest_number(dtype, lowest):
    x, inf = Tensor([1.0, 2.0], dtype), float("inf")
    first, second = ops.CumulativeLogsumexp(exclusive=True)(x, Tensor(0)).astype(ms.float64).asnumpy().tolist()
    assert np.isfinite(first) and (lowest is None or first == lowest) and second == 1.0
    back = ms.grad(lambda x: ops.CumulativeLogsumexp(exclusive=True)(x, Tensor(0))[1])(x)
    np.testing.assert_allclose(back.astype(ms.float64).asnumpy(), [1.0, 0.0], rtol=4e-16)  # e times 1 / e
    assert ops.logcumsumexp(Tensor([-inf, 1.0, -inf], dtype), 0).astype(ms.float32).asnumpy().tolist() == [-inf, 1.0, 1.0]


def test_baddbmm_takes_two_matrices():
    ones = ops.ones
    assert ops.baddbmm(ones((2, 2)), ones((2, 3)), ones((3, 2))).asnumpy().tolist() == [[4.0, 4.0], [4.0, 4.0]]
    assert ops.baddbmm(ones((1, 2, 2)), ones((2, 3)), ones((3, 2)), beta=2, alpha=3).asnumpy().tolist() == [[[11.0, 11.0], [11.0, 11.0]]]
    with pytest.raises(ValueError, match="batch2"):
        ops.baddbmm(ones((2, 2)), ones((4, 2, 3)), ones((3, 2)))


def test_labels_of_softmax_cross_entropy_have_no_gradient():
    loss = nn.SoftmaxCrossEntropyWithLogits()
    logits, labels = ms.grad(lambda a, b: loss(a, b).sum(), (0, 1))(ops.ones((1, 2)), ops.ones((1, 2)))
    assert numbers(logits, labels) == [[[-0.5, -0.5]], [[0.0, 0.0]]]


def test_assignments_beyond_the_limit_are_minus_one():
    costs = np.array([[2.0, 3, 3, 1], [3, 2, 3, 5]])
    assign = ms.scipy.optimize.linear_sum_assignment
    assert numbers(*assign(Tensor(costs), False, Tensor(1))) == [[0, -1], [0, -1]]
    assert numbers(*assign(Tensor(costs), False, Tensor(3))) == [[0, 1], [0, 1]]
    assert numbers(*assign(Tensor(costs.T), False, Tensor(1))) == [[3, -1], [0, -1]]


def test_schedulers_answer():
    step = optim.SGD([Parameter(Tensor([1.0]), name="w")], lr=0.1)
    rates = optim.lr_scheduler
    assert rates.StepLR(step, 2).step() is True and rates.CyclicLR(step, 0.1, 0.2).step() is True
    assert rates.ReduceLROnPlateau(step).step(1.0) is True
    assert rates.CosineAnnealingWarmRestarts(step, 2).step() is None


def test_groups_are_added_to_an_optimizer_without_state():
    class Plain(optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        def construct(self, gradients):
            for number, group in enumerate(self.param_groups):
                for i, parameter in enumerate(group["params"], self.group_start_id[number]):
                    ops.assign(parameter, parameter - group["lr"] * gradients[i])
            return True
    step = Plain([Parameter(Tensor([1.0]), name="a")], 0.5)
    step.add_param_group({"params": Parameter(Tensor([2.0]), name="b"), "lr": 1.0})
    assert len(step.parameters) == 2 and step.group_start_id == [0, 1, 2]
    step((Tensor([1.0]), Tensor([1.0])))
    assert numbers(*step.parameters) == [[0.5], [1.0]]
    with pytest.raises(RuntimeError, match="state"):
        optim.Adam([Parameter(Tensor([1.0]), name="c")]).add_param_group({"params": [Parameter(Tensor([2.0]), name="d")]})


def test_steps_on_rows_give_values():
    var, accum = (Parameter(Tensor([[x]]), name=n) for n, x in (("var", 0.2), ("accum", 0.1)))
    found = ops.SparseApplyAdagradV2(lr=1e-8, epsilon=1e-6)(var, accum, Tensor([[0.7]]), Tensor([0], ms.int32))
    assert repr(found[1]) == "Tensor(shape=[1, 1], dtype=Float32, value=\n[[ 5.89999974e-01]])"
    assert accum.asnumpy() == found[1].asnumpy()


def test_numpy_codes_of_dtypes():
    kind = ms.numpy.result_type
    assert kind("i2", ms.float32, True) == ms.float32
    assert [kind(c) for c in ("u1", "f2", "b", "bool_", "int", "float64")] == [
        ms.uint8, ms.float16, ms.int8, ms.bool_, ms.int32, ms.float64]
    with pytest.raises(TypeError, match="nope"):
        kind("nope")


def test_a_description_of_inputs_is_shown():
    assert repr(Tensor(shape=[3, None], dtype=ms.float32)) == "Tensor(shape=[3, -1], dtype=Float32, value=\n)"


def test_names_of_generated_modules():
    x = Tensor([[True, False], [False, False]])
    assert ops.functional_overload.any(x, dim=1).asnumpy().tolist() == [True, False]
    rows = ops.function.nn_func.softmax_ext(Tensor([[1.0, 1.0], [3.0, 3.0]]))
    assert rows.asnumpy().tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_sparse_matrices():
    from spore.ops.operations import _csr_ops, sparse_ops
    dense = Tensor(np.arange(16, dtype=np.float32).reshape(2, 4, 2))
    found = _csr_ops.CSRGather()(Tensor([0, 2, 3], ms.int32), Tensor([0, 3, 1], ms.int32), dense, (2, 4))
    assert found.asnumpy().tolist() == [[0, 1], [6, 7], [10, 11]]
    out = sparse_ops.SparseMatrixSoftmax(ms.float32)(Tensor([2, 6], ms.int32), Tensor(6, ms.int32), Tensor([0, 4, 6], ms.int32),
                                                     Tensor([0, 2, 3, 4, 3, 4], ms.int32), Tensor([1.0, 2, 3, 4, 1, 2]))
    assert np.allclose(out[4].asnumpy(), [0.0320586, 0.0871443, 0.2368828, 0.6439143, 0.2689414, 0.7310586], atol=1e-6)


def test_small_answers():
    assert ops.MapUniform()(Tensor(np.arange(8)), 4, 2).asnumpy().tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    with pytest.raises(RuntimeError, match="below 6"):
        ops.MapUniform()(Tensor([3, 9]), 3, 2)
    assert nn.Dense(2, 2).set_data_parallel() is None and ops.MatMul().place("MS_WORKER", 0) is None
    assert repr(ms.hal.communication_stream()) == "Stream(device_name=CPU, device_id:0, stream id:0)"

    @ops.vm_impl_registry.register("TypeOfValue")
    def make(self):
        return type
    assert ops.get_vm_impl_fn("TypeOfValue")(1.0) is float


@pytest.mark.parametrize("draw", (ms.mint.rand, ms.mint.randn))
def test_a_dtype_behind_a_shape_does_not_count(draw):
    found = draw((1, 2), ms.float16)
    assert found.shape == (1, 2) and found.dtype == ms.float32
    with pytest.raises(TypeError):
        draw((1, 2), 3)


def test_a_module_of_a_functions_name_can_be_called_though_it_was_imported_first():
    code = "import spore.run_check, spore as ms; ms.run_check()"
    assert "correct" in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
