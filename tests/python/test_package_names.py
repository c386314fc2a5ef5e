# SPDX-License-Identifier: Apache-2.0
"""Names below MindSpore's public ones that published model packages import, and what they do."""
import importlib
import logging

import numpy as np
import pytest

import spore as ms
from spore import Tensor, ops

NAMES = """
common._stub_tensor.StubTensor common.np_dtype.np_dtype_valid common.api._pynative_executor common.sparse_tensor.RowTensorInner
_c_expression.Tensor _c_expression.TensorPy _c_expression.typing _c_expression.MSContext _c_expression.ParamInfo
nn.layer.rnn_cells.RNNCellBase nn.layer.rnn_cells._rnn_tanh_cell nn.layer.rnn_cells._lstm_cell nn.layer.rnn_cells._gru_cell
train._utils.check_value_type train.serialization._get_merged_param_data train.summary.summary_record._get_summary_tensor_data
parallel._utils._is_sharding_propagation dataset.vision.py_transforms_util.is_numpy dataset.vision.py_transforms_util.hwc_to_chw
log._LogActionOnce device_context.ascend.op_precision device_context.cpu.is_available mint.functional mint.clip
train.amp._config_level train.amp._do_keep_batchnorm_fp32 train.amp._add_loss_network
ops.auto_generate.AddExt ops.auto_generate.SumExt ops.auto_generate.SplitWithSize ops.auto_generate.TopkExt
nn.layer.activation._activation train.model._StepSync train.model.connect_network_with_dataset parallel._ps_context._is_role_sched
parallel._utils._need_to_full nn.wrap.loss_scale.tensor_grad_scale
ops.function.math_func.amax_ext ops.function.nn_func.softmax_ext ops.operations.sparse_ops.SparseToDense
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_the_name_is_there(name):
    module, _, last = name.rpartition(".")
    home = importlib.import_module("spore." + module)
    assert getattr(home, last) is not None


def test_parts_that_trainers_of_packages_are_made_from():
    from spore.nn.layer.activation import _activation
    from spore.nn.loss.loss import _check_is_tensor
    from spore.parallel._ps_context import _is_role_sched
    from spore.train.model import _transfer_tensor_to_tuple
    x = Tensor([1.0])
    assert _transfer_tensor_to_tuple(x)[0] is x and _transfer_tensor_to_tuple((x, x)) == (x, x)
    assert _activation["relu"]()(Tensor([-1.0])).tolist() == [0.0] and not _is_role_sched()
    _check_is_tensor("logits", x, "Loss")
    with pytest.raises(TypeError, match="For 'Loss', 'logits' must be a Tensor, but got int"):
        _check_is_tensor("logits", 1, "Loss")


def test_dtypes_by_the_names_of_types():
    assert (ms.bool, ms.int, ms.float) == (ms.bool_, ms.int32, ms.float32)
    assert Tensor([1], ms.int).dtype == ms.int32


def test_primitives_of_generated_modules_compute_as_mint_does():
    from spore.ops.auto_generate import AddExt, StackExt, SumExt, add_ext
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert AddExt()(x, x, 2).tolist() == add_ext(x, x, 2).tolist() == [[3.0, 6.0], [9.0, 12.0]]
    assert SumExt()(x, 1, False).tolist() == [3.0, 7.0]
    assert StackExt(1)((x[0], x[1])).tolist() == [[1.0, 3.0], [2.0, 4.0]]
    with pytest.raises(AttributeError, match="nothing_ext"):
        ops.nothing_ext
    assert not hasattr(ms.mint, "nothing")


def test_recording_is_switched_by_the_executor():
    from spore.common.api import _pynative_executor as executor

    def f(x):
        before = executor.enable_grad()
        executor.set_enable_grad(False)
        y = x * 2
        executor.set_enable_grad(before)
        return x * y
    assert float(ms.grad(f)(Tensor(3.0))) == 6.0 and executor.enable_grad()


def test_one_step_functions_are_those_of_the_cells():
    from spore.nn.layer.rnn_cells import _gru_cell
    cell = ms.nn.GRUCell(3, 4)
    x, h = ops.ones((2, 3)), ops.ones((2, 4))
    np.testing.assert_allclose(_gru_cell(x, h, cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh).asnumpy(), cell(x, h).asnumpy())


def test_warnings_come_once(caplog):
    from spore.log import _LogActionOnce
    logger = logging.getLogger("once")

    @_LogActionOnce(logger=logger, key="test_warnings_come_once")
    def warn():
        logger.warning("beware")
    with caplog.at_level(logging.WARNING, logger="once"):
        warn()
        warn()
    assert caplog.text.count("beware") == 1


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_summaries_hold_the_values_of_the_last_run(mode):
    from spore.train.summary.summary_record import _get_summary_tensor_data

    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.summary = ops.TensorSummary()

        def construct(self, x):
            self.summary("twice", x * 2)
            return x + 1
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    _get_summary_tensor_data()  # takes away what earlier tests left
    try:
        net = Net()
        for value in (1.0, 5.0):
            assert net(Tensor([value])).tolist() == [value + 1]
        assert _get_summary_tensor_data()["twice[:Tensor]"].tolist() == [10.0]
    finally:
        ms.set_context(mode=before)
