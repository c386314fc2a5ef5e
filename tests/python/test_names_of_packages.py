# SPDX-License-Identifier: Apache-2.0
"""Names below MindSpore's public ones that packages import: they do what MindSpore 2.10's do. Expected values are its answers."""
import json
import os

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, nn, ops


def test_operators_called_with_every_attribute_by_position():
    import spore.ops.auto_generate.pyboost_inner_prim as p
    x = Tensor([[1., 2., 3.], [4., 0., 6.]])
    index, value = p.argmax_with_value_impl(x, 1, False)
    assert index.tolist() == [2, 2] and value.tolist() == [3, 6]
    assert p.concat_impl((x, x), 1).shape == (2, 6) and p.cross_impl(x, x, 1).tolist() == [[0, 0, 0]] * 2
    assert p.glu_impl(Tensor([[1., 2.]]), -1).asnumpy() == pytest.approx(0.880797)
    assert p.reduce_all_impl(x > 0, (1,), False).tolist() == [True, False] and p.reduce_max_impl(x, (1,), True).tolist() == [[3], [6]]
    assert p.reverse_v2_impl(x, (1,)).tolist() == [[3, 2, 1], [6, 0, 4]] and p.triu_impl(x, 0).tolist() == [[1, 2, 3], [0, 0, 6]]
    loss, weight = p.nllloss_impl(x, Tensor([0, 1], ms.int32), Tensor([1., 1., 1.]), 'mean', -100)
    assert (float(loss), float(weight)) == (-0.5, 2)
    assert [t.tolist() for t in p.unique_consecutive_impl(Tensor([1, 1, 2]), True, True, None)] == [[1, 2], [0, 0, 1], [2, 1]]
    assert p.one_hot_ext_impl(Tensor([0, 1]), 3, Tensor(1), Tensor(0), -1).tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(NotImplementedError, match="Ascend"):
        p.paged_attention_impl(x)
    with pytest.raises(AttributeError):
        p.nothing_impl


def test_every_operator_by_position_is_found():
    from spore.ops import positional
    for name in [*positional._PRIMITIVES, *positional._REDUCTIONS, *positional._FUNCTIONS, *positional._ASCEND]:
        assert callable(getattr(positional, name + "_impl"))


def test_state_of_generators_by_commands():
    from spore.ops.operations._inner_ops import Generator
    seed, offset = Parameter(Tensor(5, ms.int64), name='s'), Parameter(Tensor(0, ms.int64), name='o')
    state = Generator(seed, offset)
    assert [int(t) for t in state(0, (seed, offset, Tensor(3)))[:2]] == [5, 0]
    assert [int(t) for t in state(0, (seed, offset, Tensor(2)))[:2]] == [5, 3]
    kept = state(2, (seed, offset))[2]
    assert kept.tolist() == [5] + [0] * 7 + [5] + [0] * 7 and kept.dtype == ms.uint8 and int(state(5, (seed, offset))[0]) == 5
    state(4, (seed, offset, Tensor(9)))
    assert (int(seed), int(offset)) == (9, 0)
    state(3, (seed, offset, kept))
    assert (int(seed), int(offset)) == (5, 5)
    with pytest.raises(RuntimeError, match="takes 3 inputs"):
        state(0, (seed, offset))


def test_blocks_of_caches_are_copied():
    from spore._c_expression import is_reboot_node, swap_cache
    host, device = ops.zeros((4, 2)), Tensor(np.arange(8, dtype=np.float32).reshape(4, 2))
    swap_cache(host, device, Tensor([[0, 1], [2, 3]]), True)
    assert host.tolist() == [[0, 0], [0, 1], [0, 0], [4, 5]]
    swap_cache(host, device, Tensor([[0, 1], [2, 3]]), False)
    assert device.tolist() == [[0, 1], [0, 0], [4, 5], [0, 0]] and not is_reboot_node()
    with pytest.raises(ValueError, match="there are 4"):
        swap_cache(host, device, Tensor([[0, 4]]), True)


def test_a_step_of_adamw_is_that_of_the_optimizer():
    from spore.ops.auto_generate import AdamW
    weight = Parameter(Tensor([1., -2.]), name="w")
    optimizer = ms.experimental.optim.AdamW([weight], lr=0.1, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.01)
    var, m, v, most = (Parameter(Tensor(a), name=n) for a, n in (([1., -2.], "a"), ([0., 0.], "b"), ([0., 0.], "c"), ([0., 0.], "d")))
    for step in (1, 2, 3):
        gradient = Tensor([0.5 * step, -0.25])
        optimizer((gradient,))
        AdamW()(var, m, v, most, gradient, Tensor([step], ms.float32), 0.1, 0.9, 0.99, 0.01, 1e-8, False, False)
        np.testing.assert_allclose(var.asnumpy(), weight.asnumpy(), rtol=2e-6)


def test_which_processes_hold_the_same_part():
    from spore.train._utils import get_parameter_redundancy, remove_param_redundancy
    layout = {'d': [[2, 2, 2], [2, 0], [4, 4], 0, False, ''], 'e': [[2, 2, 2], [1], [4], 0, False, '']}
    found = get_parameter_redundancy(layout, 8)
    assert found == {'d': ((8, 10), (12, 14), (9, 11), (13, 15)), 'e': ((8, 9, 12, 13), (10, 11, 14, 15))}
    assert remove_param_redundancy({'a': ((0, 1, 2, 3),), 'b': ((0, 4), (1, 5), (2, 6), (3, 7))}) == {0: {'a', 'b'}, 1: {'b'}, 2: {'b'}, 3: {'b'}}
    shared = remove_param_redundancy({'a': ((0, 1, 2, 3),), 'b': ((0, 1), (2, 3)), 'c': ((0, 2), (1, 3))}, 2)
    assert shared == {0: {'a', 'b', 'c'}, 1: {'a', 'b', 'c'}, 2: {'b', 'c'}, 3: {'b', 'c'}}
    assert get_parameter_redundancy(nn.Dense(2, 2)) == {'bias': ((0,),), 'weight': ((0,),)}


def test_strategy_files_are_read_and_written(tmp_path):
    from spore.train._utils import get_parameter_redundancy
    from spore.train.node_strategy_pb2 import ParallelStrategyMap
    # current_stage 0; parallel_layout_item {param_name "w", layouts {dev_matrix 2 2, tensor_map 0 -1, field 0, step 0, size 0}}
    layouts = b"\n\x04\x08\x02\x08\x02" + b"\x12\x0d\x08\x00\x08" + b"\xff" * 9 + b"\x01" + b"\x28\x00\x30\x00\x38\x00"
    item = b"\n\x01w\x12" + bytes([len(layouts)]) + layouts
    data = b"\x08\x00\x1a" + bytes([len(item)]) + item
    (tmp_path / "strategy.ckpt").write_bytes(data)
    message = ParallelStrategyMap()
    message.ParseFromString(data)
    assert list(message.parallel_layout_item[0].parallel_layouts.tensor_map[0].dim) == [0, -1]
    assert get_parameter_redundancy(str(tmp_path / "strategy.ckpt"), 0) == {'w': ((0, 2), (1, 3))}


def test_tensors_in_one_piece_of_memory():
    from spore.hal.contiguous_tensors_handle import combine_tensor_list_contiguous
    x, y = Tensor([1., 2., 3.]), Tensor([[4., 5.]])
    handle = combine_tensor_list_contiguous([x, y], True)
    assert handle[0].tolist() == [1] and handle[1:3].tolist() == [2, 3] and handle[:].shape == (5,)
    assert handle.slice_by_tensor_index(0, 1).tolist() == [1, 2, 3] and handle.slice_by_tensor_index(1).tolist() == [4, 5]
    y[0, 1] = 9.0
    assert handle[4].tolist() == [9] and y.shape == (1, 2)
    handle[0:1][0] = 7.0
    assert x.tolist() == [7, 2, 3]
    with pytest.raises(ValueError, match="places"):
        handle[3:9]


def test_a_gradient_given_to_what_was_computed_without_one():
    from spore.common.api import _pynative_executor

    class Twice(nn.Cell):
        def bprop(self, x, out, dout):
            return (dout * 100.0,)

    def function(x):
        with ms.common.differentiate.no_grad():
            y = x * 2.0
        if _pynative_executor.requires_grad():
            _pynative_executor.call_custom_bprop(Twice(), y, x)
        return (y * y).sum()
    value, gradient = ms.value_and_grad(function)(Tensor([3.0]))
    assert float(value) == 36 and gradient.tolist() == [1200]


def test_recomputing_by_a_function_that_a_package_brings(monkeypatch):
    from spore.common._register_for_recompute import recompute_registry
    asked = []

    def generator(block, use_reentrant, output_recompute, early_stop, context_fn):
        def call(*args):
            asked.append(use_reentrant)
            return block(*args)
        return call
    monkeypatch.setattr(recompute_registry, "recompute_generator", None)
    with pytest.raises(TypeError):
        recompute_registry.get()
    recompute_registry.register(generator)
    net = nn.Dense(2, 2)
    net.recompute()
    x = ops.ones((1, 2))
    plain = net(x)
    assert not asked and np.array_equal(ms.value_and_grad(lambda x: net(x).sum())(x)[0], plain.sum()) and asked == [True]


def test_functions_that_compiled_code_must_not_call():
    from spore._check_jit_forbidden_api import jit_forbidden_register

    @jit_forbidden_register
    def outside(x):
        return x + 1

    @ms.jit
    def compiled(x):
        return outside(x)
    assert outside(Tensor([1.])).tolist() == [2]
    with pytest.raises(RuntimeError, match="outside' is not supported in 'construct'"):
        compiled(Tensor([1.]))


def test_a_tensor_as_one_of_a_subclass():
    class Mask(Tensor):
        def __init__(self, style):
            raise AssertionError
    base = Tensor([1., 2.])
    mask = Tensor._make_subclass(Mask, base)
    base[0] = 5.0
    assert type(mask) is Mask and mask.tolist() == [5, 2] and not mask.requires_grad
    with pytest.raises(TypeError):
        Tensor._make_subclass(int, base)


def test_attention_and_indices_of_inner_modules():
    from spore.ops.composite.multitype_ops import _compile_utils
    from spore.ops.function.nn_func import _scaled_dot_product_attention
    q = Tensor(np.arange(12, dtype=np.float32).reshape(1, 3, 4) / 10)
    out, weights = _scaled_dot_product_attention(q, q, q, None, 0.0, True, False, ms.float32)
    assert out.asnumpy()[0, 0] == pytest.approx([0.286884874, 0.386884868, 0.486884862, 0.586884856], rel=1e-5)
    assert weights.asnumpy()[0, 0] == pytest.approx([0.53122282, 0.220342085, 0.248435035], rel=1e-5)
    y = Tensor([[1., 2.], [3., 4.]])
    assert _compile_utils.tensor_index_by_number(y, 1).tolist() == [3, 4] and _compile_utils.tensor_index_by_number(y, True).shape == (1, 2, 2)
    assert _compile_utils.tensor_index_by_tensor(y, Tensor([1, 0])).tolist() == [[3, 4], [1, 2]]
    with pytest.raises(IndexError, match="must be int or bool, but got 1.0"):
        _compile_utils.tensor_index_by_number(y, 1.0)


def test_what_needs_processes_or_other_hardware_says_so():
    from spore.ops.operations import _quant_ops
    from spore.ops.operations.comm_ops import AllGatherV, AlltoAllVC, NeighborExchangeV2
    from spore.utils import _tft_handler
    sgd = nn.SGD(nn.Dense(2, 2).trainable_params())
    x = Tensor([1., 2.])
    for wanted, call in ((RuntimeError, lambda: nn.AdaSumByGradWrapCell(sgd)), (ValueError, lambda: nn.OptTFTWrapper(sgd)),
                         (ValueError, lambda: _tft_handler.init(config=None)), (NotImplementedError, lambda: _quant_ops.FakeQuantPerLayer()(x)),
                         (ValueError, lambda: ops.operations._inner_ops.SyncBatchNorm(device_num=1)),
                         (NotImplementedError, lambda: nn.layer.rnns._DynamicGRUAscend()(x)), (RuntimeError, lambda: NeighborExchangeV2()(x))):
        with pytest.raises(wanted):
            call()
    assert AllGatherV()(x, [2]).tolist() == AlltoAllVC()(x, [2]).tolist() == [1, 2]
    with pytest.raises(ValueError, match="1 process need 1 counts"):
        AlltoAllVC()(x, [1, 1])
    wrapped = ms.train.TrainFaultTolerance.get_optimizer_wrapper(nn.SGD)
    assert issubclass(wrapped, nn.SGD) and isinstance(wrapped(nn.Dense(2, 2).trainable_params()), nn.SGD)


def test_marks_in_traces_and_steps_that_a_file_names(tmp_path, monkeypatch):
    from spore.profiler import DynamicProfilerMonitor, EnvProfiler, Profiler, mstx
    assert mstx.range_start("nothing measures") == 0
    profiler = Profiler(output_path=str(tmp_path / "a"))
    part = mstx.range_start("loading")
    mstx.mark("here")
    mstx.range_end(part)
    profiler.analyse()
    names = [e["name"] for e in json.loads((tmp_path / "a" / "trace_view.json").read_text())["traceEvents"] if e.get("cat") == "default"]
    assert names == ["here", "loading"]
    (tmp_path / "profiler_config.json").write_text('{"start_step": 2, "stop_step": 3}')
    monitor = DynamicProfilerMonitor(cfg_path=str(tmp_path), output_path=str(tmp_path / "b"))
    for _ in range(4):
        monitor.step()
    assert json.loads((tmp_path / "b" / "steps_2_3" / "summary.json").read_text())["steps"] == 2
    monkeypatch.setenv("MS_PROFILER_OPTIONS", json.dumps({"start": True, "output_path": str(tmp_path / "c")}))
    EnvProfiler.init_profiler()
    EnvProfiler.analyse()
    assert os.listdir(tmp_path / "c")


def test_helpers_of_containers_and_compiled_files():
    from spore.common.api import _cell_graph_executor
    from spore.nn.layer.container import _get_prefix_and_index, _valid_cell, _valid_index
    from spore.nn.wrap.cell_wrapper import _MicroBatch
    assert _valid_index(3, -1) == 2 and _valid_cell(nn.ReLU())
    with pytest.raises(IndexError, match=r"range \[-3, 3\), but got 3"):
        _valid_index(3, 3)
    assert _get_prefix_and_index(nn.CellList([nn.Dense(2, 2), nn.Dense(2, 2)])._cells) == ("", 0)
    part, = _MicroBatch(2)(1, Tensor([1., 2., 3., 4.]))
    assert part.tolist() == [3, 4]
    net = nn.Dense(2, 3)
    assert _cell_graph_executor._get_func_graph_proto(net, "nothing", "mind_ir") is None
    phase, _ = _cell_graph_executor.compile(net, ops.ones((1, 2)), phase="export.mindir", do_convert=False)
    from spore.train.mind_ir_pb2 import ModelProto
    model = ModelProto()
    model.ParseFromString(_cell_graph_executor._get_func_graph_proto(net, phase, "mind_ir"))
    assert any("MatMul" in node.op_type or "Dense" in node.op_type for node in model.graph.node)


def test_without_mindio_files_are_not_read_ahead():
    assert ms.mindio_preload("x.ckpt") is False and ms.common.file_system._init_mindio() is None
    with pytest.raises(ValueError):
        ms.set_mindio_server_info(0)
    assert ms.get_sdc_detect_result() is False and ms.sdc_detect_start() is None
    assert ms.common.dtype.bool is ms.bool_ and ms.common.dtype.typing.str_to_type("Float32") is ms.float32


def test_memory_below_tensors():
    x, y = Tensor([[1., 2.], [3., 4.]]), Tensor([9., 8., 7., 6.])
    storage = x.untyped_storage()
    assert (storage.size(), storage.nbytes(), storage.element_size(), storage.device, storage.dtype) == (16, 16, 1, "CPU", ms.float32)
    assert storage.data_ptr() == x.data_ptr() and not storage.is_shared() and isinstance(x.storage(), ms.UntypedStorage)
    storage.copy_(y.untyped_storage())
    assert x.tolist() == [[9, 8], [7, 6]]
    with pytest.raises(ValueError, match="src has 4 bytes and this one 16"):
        storage.copy_(Tensor([1.]).untyped_storage())
    z = Tensor([0.])
    assert z.set_(y, 1, (2,), (1,)).tolist() == [8, 7]
    y[1] = 5.0
    assert z.tolist() == [5, 7] and z.set_(y.untyped_storage(), 0, (2, 2), (2, 1)).tolist() == [[9, 5], [7, 6]] and z.set_().shape == (0,)


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "//", "%"])
def test_assignments_with_an_operator_leave_other_names_alone(operator):
    names = {"x": Tensor([5., 7.]), "two": Tensor([2., 2.])}
    names["y"] = names["x"]
    exec(f"x {operator}= two", names)
    assert names["y"].tolist() == [5, 7] and names["x"].tolist() == eval(f"(y {operator} two).tolist()", names)
    assert isinstance(Parameter(Tensor([1.])).__iadd__(1.0), Tensor)


def test_settings_of_checkpoints_cannot_be_changed():
    config = ms.train.CheckpointConfig(save_checkpoint_steps=10)
    assert config.save_checkpoint_steps == 10 and config.format == "ckpt" and config.enc_key is None
    with pytest.raises(AttributeError):
        config.save_checkpoint_steps = 5


def test_small_names_of_public_modules():
    from spore import mint
    assert mint.addr_(mint.ones((2, 2)), Tensor([1., 2.]), Tensor([3., 4.]), beta=2).tolist() == [[5, 6], [8, 10]]
    with pytest.raises(NotImplementedError, match="Ascend"):
        mint.batch_norm_stats(Tensor([1.]), 1e-5)
    assert list(nn.get_metrics({'acc'})) == ['acc'] and ms.ops.DtypeToEnum()('op', 'arg', ms.float32) == 43
    weights = [Parameter(Tensor([1.]), name=n) for n in "ab"]
    for weight, kind in zip(weights, (mint.optim.AdamW, mint.optim.FusedAdamW)):
        kind([weight])((Tensor([2.]),))
    assert weights[0].tolist() == weights[1].tolist() != [1]
    assert ops.TBERegOp("a").kernel_name("k").get_op_info()["kernel"] == "k" and ops.reshard(weights[0], None) is weights[0]
    with pytest.raises(ValueError, match="'start_dim' or 'end_dim'"):
        nn.Flatten().check_axis_valid(2, 2)
    from spore.train import serialization
    for name in serialization._FROM:
        assert getattr(serialization, name) is not None
    assert ops.array_ops.Concat is ops.Concat and ops.P.Add is ops.Add and ms.train.merge_sliced_parameter is ms.merge_sliced_parameter


def test_cells_that_recompute_and_layouts_that_split():
    from spore.common.recompute import _padding_input_grads, _RecomputeCell
    from spore.parallel.shard import _DistributedTensorInfo
    net, x = nn.Dense(2, 2), ops.ones((1, 2))
    plain = ms.grad(lambda x: net(x).sum())(x)
    assert np.array_equal(ms.grad(lambda x: _RecomputeCell(net)(x).sum())(x), plain)
    grads = [plain]
    _padding_input_grads((1, x, [x, x], (2,)), grads)
    assert grads[0] is None and grads[1] is plain and grads[2:] == [[None, None], None]
    assert _DistributedTensorInfo(ms.Layout((2, 4), ("dp", "mp"))(("dp", "mp"), "None")).sharding_strategy == [8, 1]
    with pytest.raises(TypeError, match="only supports Layout"):
        _DistributedTensorInfo((2, 2))
