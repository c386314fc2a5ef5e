# SPDX-License-Identifier: Apache-2.0
"""Names of MindSpore's compiler that its tests and tools import: they do what they say."""
import pytest

import spore as ms
from spore import Tensor, jit, mutable, nn
from spore._c_expression import clear_jit_compile_results, get_code_extra
from spore._extends.parse import compile_config
from spore._extends.parse.standard_method import list_append, ms_len
from spore.common._pijit_context import PIJitCaptureContext
from spore.common._register_for_tensor import tensor_operator_registry
from spore.common.api import _cell_graph_executor, _JitExecutor
from spore.ops.operations import _scalar_ops


def test_numbers_of_the_run_stay_numbers():
    @jit
    def f(a, b):
        return (_scalar_ops.ScalarAdd()(a, b), _scalar_ops.ScalarDiv()(a, b), _scalar_ops.ScalarMod()(a, b),
                _scalar_ops.ScalarGe()(a, b), _scalar_ops.ScalarUsub()(a), ms.ops.scalar_mul(a, b))
    assert f(mutable(7), mutable(2)) == (9, 3.5, 1, True, -7, 14)
    assert f(mutable(8), mutable(2)) == (10, 4.0, 0, True, -8, 16)
    assert _scalar_ops.ScalarFloorDiv()(7, 2) == 3 and _scalar_ops.ScalarFloorDiv().name == "ScalarFloorDiv"


def test_what_capturing_by_bytecode_came_to():
    @PIJitCaptureContext()
    def f(x):
        return x * 2 + 1

    assert f(Tensor([1.0])) == 3 and f(Tensor([2.0])) == 5
    found = get_code_extra(f.__wrapped__)
    assert found["stat"] == "GRAPH_CALLABLE" and found["break_count_"] == 0
    assert found["compile_count_"] == 1 and found["code"]["call_count_"] == 2 and found["code"]["phase_"]
    assert clear_jit_compile_results(f.__wrapped__)
    assert get_code_extra(f.__wrapped__)["compile_count_"] == 0
    assert f(Tensor([1.0])) == 3 and get_code_extra(f.__wrapped__)["compile_count_"] == 1
    assert not clear_jit_compile_results(len)


def test_functions_of_the_parser():
    @jit
    def f(x):
        return list_append([x], x + 1), ms_len((x, x))
    (a, b), n = f(Tensor([1.0]))
    assert a == 1 and b == 2 and n == 2
    assert compile_config.GRAD_FOR_SCALAR == "" and compile_config.JIT_ENABLE_AUGASSIGN_INPLACE == "1"


def test_functions_behind_methods():
    assert tensor_operator_registry.get("add")(Tensor([1.0]), Tensor([2.0])) == 3
    assert tensor_operator_registry.get("__add__")(Tensor([1.0]), Tensor([2.0])) == 3
    tensor_operator_registry.register("of_mine", abs)
    assert tensor_operator_registry.get("of_mine") is abs
    with pytest.raises(ValueError, match="there is no function 'nobody'"):
        tensor_operator_registry.get("nobody")


def test_executors():
    phase, done = _cell_graph_executor.compile(nn.Dense(2, 2), Tensor([[1.0, 2.0]]))
    assert done and isinstance(phase, str)
    assert _JitExecutor(lambda x: x * 2)(Tensor([2.0])) == 4
