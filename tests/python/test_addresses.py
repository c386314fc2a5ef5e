# SPDX-License-Identifier: Apache-2.0
"""Names that programs import from places below the public ones, and what they do."""
import importlib
import json
import subprocess
import sys

import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops
from spore import _checkparam as checks

ADDRESSES = """_checkparam: check_value_type check_int_range INC_BOTH args_type_check twice Validator Rel
_extends: cell_attr_register
_extends.utils: cell_attr_register
version: __version__
common._grad_function: _Function
common.hook_handle: HookHandle
common.recompute: recompute
common.initializer: _assignment _calculate_fan_in_and_fan_out _calculate_correct_fan _calculate_gain
common.seed: _get_graph_seed
communication.management: init get_rank get_group_size GlobalComm
dataset.core.validator_helpers: parse_user_args type_check type_check_list check_value check_pos_int32 check_uint8 replace_none INT32_MAX
dataset.dataloader: dataset sampler distributed dataloader
dataset.dataloader.dataset: Dataset IterableDataset
dataset.dataloader.sampler: RandomSampler SequentialSampler
dataset.dataloader._utils.collate: default_collate default_convert
dataset.engine.iterators: _cleanup _unset_iterator_cleanup ITERATORS_LIST
dataset.vision.transforms: ImageTensorOperation VideoTensorOperation
dataset.transforms.vision: c_transforms py_transforms Inter
dataset.transforms.vision.c_transforms: Resize
common._pijit_context: PIJitCaptureContext Unsupported
common.tensor: _TensorMeta
graph._parse.standard_method: list_append
graph._utils.pijit_context: Unsupported
mint: fix
mint.nn.functional: smooth_l1_loss
mint.optim: Adam AdamW SGD
rewrite.api.scoped_value: ScopedValue ValueType
rewrite.api.node_type: NodeType
nn.cell: Cell
nn.layer.activation: get_activation
nn.layer.conv: _Conv
nn.layer.normalization: _BatchNorm
nn.loss.loss: LossBase _Loss
nn.metrics: Metric Accuracy get_metric_fn
nn.optim.adam: Adam
nn.optim.optimizer: Optimizer opt_init_args_register
nn.wrap.cell_wrapper: _VirtualDatasetCell TrainOneStepCell
nn.wrap.grad_reducer: DistributedGradReducer
nn.wrap.loss_scale: TrainOneStepWithLossScaleCell _grad_scale _grad_overflow
ops._grad.grad_base: bprop_getters
ops._primitive_cache: _get_cache_prim
numpy.utils: _to_tensor _to_tensor_origin_dtype
ops.composite.multitype_ops.bitwise_and_impl: bitwise_and
utils._pytree: tree_flatten tree_unflatten tree_map
ops.composite: GradOperation HyperMap MultitypeFuncGraph clip_by_value
ops.operations: _inner_ops _grad_ops nn_ops
ops.primitive: constexpr Primitive prim_attr_register _primexpr
parallel._auto_parallel_context: auto_parallel_context
parallel._utils: _get_device_num _get_gradients_mean _get_parallel_mode
profiler: Profiler ProfilerLevel
train.callback: RunContext _InternalCallbackParam
train.callback._callback: Callback set_cur_net _handle_loss
train.dataset_helper: DatasetHelper connect_network_with_dataset
train.metrics.metric: EvaluationBase
train.parallel_utils: ParallelMode
train.model: Model
train.summary.summary_record: SummaryRecord"""


@pytest.mark.parametrize("line", ADDRESSES.splitlines())
def test_address(line):
    place, names = line.split(": ")
    module = importlib.import_module(f"spore.{place}")
    for name in names.split():
        assert getattr(module, name, None) is not None, f"{place} has no {name}"


@pytest.mark.parametrize("call, error, text", [
    (lambda: checks.check_positive_int(-1, "a", "B"), ValueError, "For 'B', the 'a' must be int and must > 0, but got '-1' with type 'int'."),
    (lambda: checks.check_positive_int(1.0, "a", "B"), TypeError, "For 'B', the 'a' must be int, but got 'float'"),
    (lambda: checks.check_value_type("x", "s", [int, float], "B"), TypeError,
     "For 'B', the type of 'x' should be one of '['int', 'float']', but got type 'str'."),
    (lambda: checks.check_value_type("x", True, [int], "B"), TypeError, "For 'B', the type of 'x' should be 'int', but got type 'bool'."),
    (lambda: checks.check_string("z", ["a", "b"], "x", "B"), ValueError, "For 'B', the 'x' must be str and must be in '['a', 'b']', but got 'z'."),
    (lambda: checks.check_int_range(5, 0, 2, checks.INC_LEFT, "n", "B"), ValueError,
     "For 'B', the 'n' must be in range of [0, 2), but got 5 with type 'int'."),
    (lambda: checks.Validator.check_int_range(5, 0, 2, checks.Rel.INC_LEFT, "n", "B"), ValueError,
     "For 'B', the 'n' must be in range of [0, 2), but got 5 with type 'int'."),
    (lambda: checks.Validator.check("m", 1, "n", 2, checks.Rel.GE, "B"), ValueError, "For 'B', the 'm' should be >= n: 2, but got 1."),
    (lambda: checks.check_bool(1, "b", "B"), TypeError, "For 'B', the 'b' must be a bool, but got int."),
    (lambda: checks.check_positive_int_sequence((1, 0), "a", "B"), ValueError,
     "For 'B', the 'a[1]' must be int and must > 0, but got '0' with type 'int'."),
    (lambda: checks.check_pad_value_by_mode("same", 1, "B"), ValueError, "For 'B', padding must be zero when pad_mode is 'same', but got 1."),
    (lambda: checks.check_flatten_order("X"), ValueError, "For Tensor.flatten, the parameter 'order' must be 'C' or 'F', but got 'X'"),
    (lambda: checks.check_input_format("NHWC"), ValueError, "The data format must be NCHW, but got NHWC."),
    (lambda: checks.check_axis_in_range(3, 2), ValueError, "The 'axis' must be in the range of [-2, 2), but got 3.")])
def test_checks_refuse_as_mindspore_does(call, error, text):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == text


def test_checks_of_types_and_shapes_refuse_with_the_kinds_of_exceptions_of_mindspore():
    f32, f16, i32 = ms.float32, ms.float16, ms.int32
    x = Tensor([1.0, 2.0])
    checks.check_types_same_and_valid({"a": f32, "b": f32}, [f32, f16], "B")
    checks.check_scalar_or_tensor_types_same({"a": f32, "b": ms.TensorType(f32)}, [f32], "B", allow_mix=True)
    checks.check_tensor_dtype_valid("a", ms.TensorType(f32), [f32], "B")
    checks.check_coo_tensor_shape((2, 2), (2,), (3, 3))
    checks.check_csr_tensor_dtype(i32, i32)
    checks.check_input_data(x, [x, {"a": x}], data_class=Tensor)
    assert checks.check_astype_dtype("float32") == f32 and checks.check_astype_dtype(np.float16) == f16 and checks.check_astype_dtype(i32) == i32
    assert checks.check_reshape_shp(((2, 3),)) == checks.check_reshape_shp((2, 3)) == (2, 3)
    assert checks.expanded_shape(4, 2, 1) == (1, 2, 1, 1) and checks.tuple_slice((1, 2, 3, 4), 1, 3) == (2, 3)
    assert not checks.check_type_support(f32, "CPU", [f16]) and checks.check_type_support(f32, "GPU", [f16])
    assert checks.check_file_name_by_regular("a/b.txt") and checks.check_str_and_none_by_regular("")
    for call, error in ((lambda: checks.check_types_same_and_valid({"a": f32, "b": f16}, [f32, f16], "B"), TypeError),
                        (lambda: checks.check_types_same_and_valid({"a": i32}, [f32], "B"), TypeError),
                        (lambda: checks.check_tensor_dtype_valid("a", f32, [f32], "B"), TypeError),
                        (lambda: checks.check_astype_dtype("abc"), TypeError), (lambda: checks.check_astype_dtype(3), TypeError),
                        (lambda: checks.check_coo_tensor_shape((2, 3), (2,), (3, 3)), ValueError),
                        (lambda: checks.check_coo_tensor_shape((2, 2), (3,), (3, 3)), ValueError),
                        (lambda: checks.check_coo_tensor_shape((2, 2), (2,), (3, -3)), ValueError),
                        (lambda: checks.check_coo_tensor_dtype(f32), TypeError),
                        (lambda: checks.check_input_data(x, 3, data_class=Tensor), TypeError),
                        (lambda: checks.check_output_data(None), RuntimeError), (lambda: checks.check_axis_type("a"), TypeError),
                        (lambda: checks.check_str_by_regular(""), ValueError), (lambda: checks.check_file_name_by_regular("a b*"), ValueError),
                        (lambda: checks.check_valid_input("a", None, "B"), ValueError)):
        with pytest.raises(error):
            call()



def test_checks_hand_on_what_is_right():
    assert checks.check_float_range(0.5, 0.0, 1.0, checks.INC_NEITHER, "n", "B") == 0.5
    assert checks.check_non_negative_int(0, "n") == 0 and checks.check_int(3, 3, checks.GE) == 3
    assert checks.twice(3) == (3, 3) and checks.triple((1, 2, 3)) == (1, 2, 3)

    @checks.args_type_check(str, size=int)
    def f(name, size=1):
        return name * size
    assert f("a", size=2) == "aa"
    with pytest.raises(TypeError, match="size"):
        f("a", size="b")


def test_own_function_with_gradient():
    from spore.common._grad_function import _Function

    class Scale(_Function):
        @staticmethod
        def forward(ctx, x, factor, y):
            ctx.save_for_backward(x, y)
            ctx.factor = factor
            assert ctx.needs_input_grad == (True, False, False)
            return x * factor + y, x - y

        @staticmethod
        def backward(ctx, first, second):
            x, y = ctx.saved_tensors
            return first * ctx.factor * 10 + second, None, None

    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    np.testing.assert_array_equal(ms.grad(lambda x: sum(Scale.apply(x, 3, y)))(x).asnumpy(), [31, 31])

    class Wrong(Scale):
        @staticmethod
        def backward(ctx, first, second):
            return first
    with pytest.raises(RuntimeError, match="expect: 3, but got: 1"):
        ms.grad(lambda x: sum(Wrong.apply(x, 3, y)))(x)


def test_collectives_of_one_process():
    x = Tensor([[1.0, 2.0]])
    for primitive in (ops.AllReduce(), ops.AllReduce("max"), ops.AllGather(), ops.ReduceScatter(), ops.Reduce(0), ops.Broadcast(0),
                      ops.AlltoAll(1, 0, 1), ops.CollectiveGather(0), ops.CollectiveScatter()):
        found = primitive(x)
        assert found is not x and found.tolist() == x.tolist()
    assert ops.AllReduce("sum").op == ops.ReduceOp.SUM
    with pytest.raises(ValueError, match="split_count"):
        ops.AlltoAll(2, 0, 1)
    with pytest.raises(TypeError, match="root_rank"):
        ops.Broadcast("0")
    with pytest.raises(ValueError, match="median"):
        ops.AllReduce("median")(x)


def test_profiler_writes_steps(tmp_path):
    profiler = ms.Profiler(output_path=str(tmp_path), start_profile=False, schedule=ms.profiler.schedule(wait=1, active=2, repeat=1))
    with pytest.raises(RuntimeError, match="not running"):
        profiler.step()
    profiler.start()
    for _ in range(5):
        ops.ones((500, 500)) @ ops.ones((500, 500))
        profiler.step()
    profiler.add_metadata("run", "first")
    profiler.analyse()
    summary = json.loads((tmp_path / "summary.json").read_text())
    events = json.loads((tmp_path / "trace_view.json").read_text())["traceEvents"]
    assert summary["steps"] == 2 and summary["metadata"] == {"run": "first"} and summary["peak_bytes"] >= 1000000
    steps = [e for e in events if e.get("cat") == "step"]
    assert [e["name"] for e in steps] == ["step 1", "step 2"] and all(e["dur"] > 0 for e in steps)
    products = [e for e in events if e["name"] == "matmul" and e["cat"] == "operator"]
    assert len(products) == 2 and all(e["args"]["file"] == __file__ for e in products)


def test_mint_optimizer_trains():
    net = nn.Dense(2, 1, weight_init="ones")
    optimizer = ms.mint.optim.AdamW(net.trainable_params(), lr=0.01)
    step = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, net.trainable_params())
    losses = []
    for _ in range(5):
        loss, grads = step(ops.ones((3, 2)))
        optimizer(grads)
        losses.append(float(loss))
    assert losses[-1] < losses[0]


def test_arithmetic_of_two_numbers_is_a_tensor():
    for name, answer, dtype in (("add", 9, ms.int64), ("div", 3.5, ms.float32), ("floor_divide", 3, ms.int64),
                                ("maximum", 7, ms.int64), ("pow", 49, ms.int64), ("less_equal", False, ms.bool_)):
        for place in (ops, ms.mint):
            got = getattr(place, name)(7, 2)
            assert got.dtype == dtype and got.asnumpy() == answer, (place.__name__, name)
    assert int(ms.mint.div(7, 2, rounding_mode="trunc")) == 3
    with pytest.raises(TypeError):
        ops.sin(1.0)
    with pytest.raises(TypeError):
        ops.logical_and(1, 0)


def test_a_float_filled_into_integers_is_cut_off():
    filled = Tensor([1, 2, 3]).masked_fill(Tensor([True, False, True]), 2.7)
    assert filled.dtype == ms.int64 and filled.asnumpy().tolist() == [2, 2, 2]


def test_the_only_window_of_a_pool_may_reach_beyond_the_input():
    x = Tensor(np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2))
    assert ops.avg_pool2d(x, 8, 8, ceil_mode=True).asnumpy().tolist() == [[[[1.5]]]]
    assert ops.max_pool2d(x, 8, 8, ceil_mode=True).asnumpy().tolist() == [[[[3.0]]]]
    with pytest.raises(ValueError, match="the kernel covers 8 elements"):
        ops.avg_pool2d(x, 8, 1, ceil_mode=True)


def test_entries_of_a_checkpoint(tmp_path):
    from spore.train.serialization import _parse_ckpt_proto, tensor_to_np_type
    path = str(tmp_path / "net.ckpt")
    ms.save_checkpoint([{"name": "w", "data": Tensor([[1.0, 2.0]])}, {"name": "n", "data": Tensor(3)}], path)
    first, second = _parse_ckpt_proto(path, None, None).value
    assert (first.tag, first.tensor.dims, first.tensor.tensor_type) == ("w", [1, 2], "Float32") and second.tag == "n"
    assert np.frombuffer(first.tensor.tensor_content, tensor_to_np_type["Float32"]).tolist() == [1.0, 2.0]


def test_a_text_transform_of_the_users_own_may_answer_one_of_ours():
    import spore._c_dataengine as cde
    from spore.dataset.core.datatypes import mstype_to_detype
    from spore.dataset.text import Vocab
    from spore.dataset.text.transforms import TextTensorOperation

    class Mine(TextTensorOperation):
        def parse(self):
            return cde.LookupOperation(Vocab.from_list(["a", "b"]).c_vocab, "a", str(mstype_to_detype(ms.int32)))

    assert Mine()(["b", "z"]).tolist() == [1, 0]


def test_logsumexp_takes_the_names_of_older_versions():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert np.array_equal(ops.logsumexp(x, axis=1, keep_dims=True).asnumpy(), ops.logsumexp(x, 1, keepdim=True).asnumpy())
    with pytest.raises(TypeError):
        ops.logsumexp(x, wrong=1)


def test_a_parameter_tuple_through_a_cell_of_another_dtype():
    class Net(nn.Cell):
        def construct(self, x, weights):
            return ops.matmul(x, weights[0])

    weights = ms.ParameterTuple([ms.Parameter(Tensor(np.ones((2, 2), np.float32)), name="w")])
    assert Net().to_float(ms.float16)(Tensor(np.ones((1, 2), np.float32)), weights).dtype == ms.float16


def test_primitives_of_several_processes_and_of_older_versions():
    x = Tensor([1.0, -2.0, 3.0])
    with pytest.raises(RuntimeError, match="no other process"):
        ops.Send(sr_tag=0, dest_rank=1)(x)
    with pytest.raises(RuntimeError, match="no other process"):
        ops.Receive(sr_tag=0, src_rank=1, shape=[3], dtype=ms.float32)(x)
    assert ops.AlltoAllV()(x, [2], [2]).asnumpy().tolist() == [1.0, -2.0]
    with pytest.raises(ValueError, match="gives itself 2 elements and takes 1"):
        ops.AlltoAllV()(x, [2], [1])
    assert np.array_equal(ops.operations.Gelu()(x).asnumpy(), ops.GeLU()(x).asnumpy())
    mark = ops.operations._quant_ops.FakeQuantParam.linear_quant_param(ms.QuantDtype.INT8, 0.5, 1)
    assert mark(x) is x and mark.attrs["linear_quant_scale"] == [0.5]


def test_from_numpy_copies_what_must_not_be_written_to():
    array = np.frombuffer(np.ones(2, np.float32).tobytes(), np.float32)
    x = Tensor.from_numpy(array)
    x[0] = 5.0
    assert array.tolist() == [1.0, 1.0] and x.asnumpy().tolist() == [5.0, 1.0]
    free = np.ones(2, np.float32)
    Tensor.from_numpy(free)[0] = 5.0
    assert free.tolist() == [5.0, 1.0]


def _double(x):
    return x * 2


def test_tensors_travel_between_processes():
    from spore import multiprocessing
    with multiprocessing.Pool(2) as workers:
        got = workers.map(_double, [Tensor([1.0, 2.0]), Tensor([3.0])])
    assert [x.asnumpy().tolist() for x in got] == [[2.0, 4.0], [6.0]]


def test_a_function_with_the_name_of_its_module_is_still_there():
    code = "import importlib; importlib.import_module('spore.ops.vm_impl_registry'); from spore import ops; " \
        "assert callable(ops.vm_impl_registry.register) and callable(ops.vm_impl_registry)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
