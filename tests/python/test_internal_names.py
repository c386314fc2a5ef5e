# SPDX-License-Identifier: Apache-2.0
"""Names below the public ones that tests and programs of MindSpore import, and what they do."""
import copy
import subprocess
import sys

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, nn, ops
from spore import _checkparam as check    # noqa: F401  for eval
from spore.common._decorator import deprecated
from spore.common.parameter import init_to_value
from spore.nn.probability.distribution._utils.utils import CheckTensor, CheckTuple, cast_to_tensor, set_param_type
from spore.ops import signature as sig
from spore.ops._grad_experimental.grad_base import bprop_getters, get_bprop_fn
from spore.ops._utils import get_broadcast_shape, get_concat_offset
from spore.ops._utils.utils import is_dim_unknown, is_shape_unknown


class Cube(ops.PrimitiveWithInfer):
    __mindspore_signature__ = (sig.make_sig("x", dtype=sig.sig_dtype.T),)

    @ops.prim_attr_register
    def __init__(self, factor=1.0):
        pass

    def vm_impl(self, x):
        return x ** 3 * np.float32(self.factor)


def test_a_registered_gradient_counts():
    cube = Cube(2.0)
    x = Tensor([1.0, 2.0])
    assert get_bprop_fn(cube) is None and cube(x).asnumpy().tolist() == [2.0, 16.0]

    @bprop_getters.register(Cube)
    def _(primitive):
        def bprop(x, out, dout):
            return (6 * primitive.factor / 2 * x * x * dout,)
        return bprop
    try:
        assert ms.grad(lambda x: cube(x) * 10)(x).asnumpy().tolist() == [60.0, 240.0]
        assert get_bprop_fn(cube, get_closure=True) is _
    finally:
        bprop_getters._functions.clear()


def test_shapes():
    assert get_broadcast_shape((2, 1), (3,), "p") == [2, 3] and get_broadcast_shape((-1, 1), (4, 3), "p") == [4, 3]
    with pytest.raises(ValueError, match="need to broadcast"):
        get_broadcast_shape((2,), (3,), "p")
    assert get_concat_offset([(2, 3), (4, 3)], None, 0, "p") == ([0, 2], 6, 0)
    with pytest.raises(ValueError):
        get_concat_offset([(2, 3), (4, 2)], None, 0, "p")
    assert is_shape_unknown((2, -1)) and is_dim_unknown((-2,)) and not is_shape_unknown((2,))


@pytest.mark.parametrize("call, answer", [
    ("check_transpose_axis((), 3)", (2, 1, 0)), ("check_transpose_axis(([1, 0],), 2)", (1, 0)), ("check_transpose_axis((1, 0), 3)", ValueError),
    ("check_transpose_axis(('a',), 1)", TypeError), ("prepare_shape_for_squeeze((1, 2, 1), (0, -1))", (2,)),
    ("prepare_shape_for_squeeze((1, 2, 1), 1)", ValueError), ("prepare_shape_for_squeeze((1, 2), None)", TypeError),
    ("check_axis_valid(None, 3)", (0, 1, 2)), ("check_axis_valid((0, 0), 3)", ValueError), ("check_axis_valid('a', 3)", TypeError),
    ("check_and_canonicalize_axes((0, -1), 3)", (0, 2)), ("check_and_canonicalize_axes([1], 3)", TypeError),
    ("check_swapaxes_axis(1, 3)", 1), ("check_swapaxes_axis((0, 9), 3)", ValueError), ("infer_out_shape((2, 1), (1, 4), (1,))", (2, 4)),
    ("infer_out_shape((2, 3), (2,))", ValueError), ("check_reduce_shape((2, 3), (3,), 1, 'p', 'a', 'b')", ValueError),
    ("check_hook_fn(3)", TypeError), ("check_csr_tensor_shape((3,), (1,), (1,), (1, 2))", ValueError),
    ("check_coo_tensor_input(3, 4, (2, 2))", TypeError), ("is_stub_tensor(3)", False)])
def test_checks_answer_as_mindspore_does(call, answer):
    if isinstance(answer, type):
        with pytest.raises(answer):
            eval(f"check.{call}")
    else:
        assert eval(f"check.{call}") == answer


def test_parameters_of_distributions():
    half, single, double = (Tensor(0.1, dtype) for dtype in (ms.float16, ms.float32, ms.float64))
    assert set_param_type({"a": single, "b": 1.0}, ms.float16) == ms.float32
    assert set_param_type({"a": half}, ms.float32) == ms.float16 and set_param_type({"a": double}, ms.float32) == ms.float32
    assert set_param_type({"a": Tensor(1, ms.int32)}, ms.float16) == ms.float32
    with pytest.raises(TypeError):
        set_param_type({"a": single, "b": double}, ms.float32)
    p = Parameter(single, name="p")
    assert cast_to_tensor(p) is p and cast_to_tensor([1.0, 2.0]).shape == (2,)
    for bad, error in ((None, ValueError), (True, TypeError), ("tensor", TypeError), ({"a": 1}, TypeError)):
        with pytest.raises(error):
            cast_to_tensor(bad, ms.float32)
    assert CheckTuple()((1,), "x") == (1,)
    for checked, bad in ((CheckTuple(), "a"), (CheckTensor(), (1,))):
        with pytest.raises(TypeError):
            checked(bad, "x")


def test_marks_and_small_helpers():
    net = nn.SequentialCell(nn.ReLU())
    net.add = ops.Add()
    ms.set_dump(net)
    assert net.add.attrs["dump"] == "true"
    with pytest.raises(TypeError):
        ms.set_dump("net")
    assert (init_to_value("ones"), init_to_value(3)) == (1.0, 3.0)
    with pytest.raises(ValueError):
        init_to_value("normal")

    @deprecated("2.0", "new")
    def old(x):
        return x + 1
    assert old(1) == 2 and old.__name__ == "old"


def test_functions_that_have_the_name_of_their_file_stay_functions():
    """Importing mindspore.common.mutable must not put the module in place of the function."""
    script = ("import spore; spore.as_mindspore()\n"
              "import mindspore.common.mutable, mindspore.common.recompute\n"
              "from mindspore.common.tensor import Tensor\n"
              "from mindspore.common import mutable, recompute, tensor\n"
              "assert callable(recompute) and mutable((1, 2)) == (1, 2) and tensor([1.0]).shape == (1,)\n")
    subprocess.run([sys.executable, "-c", script], check=True)


def test_copies_keep_declarations_and_marks():
    for shape, kept in ((None, (-1,)), ([None, 3], (-1, 3))):
        made = copy.deepcopy([Tensor(shape=shape, dtype=ms.float32)])[0]
        assert made.shape == kept and made.dtype == ms.float32 and getattr(made, "_any_rank", False) == (shape is None)
    for value in (True, 3, 2.5, (1, 2), [1, 2]):
        marked = ms.mutable(value)
        made = copy.deepcopy(marked)
        assert made == value and type(made) is type(marked) and made.__ms_mutable__
    assert copy.deepcopy(ms.mutable([1], True)).__ms_dynamic_len__
    x = Tensor(np.ones((2, 3), np.float32))
    assert ops.mean(x, 0, ms.mutable(True)).shape == (1, 3)
    with pytest.raises(TypeError):
        ops.mean(x, 0, ms.mutable(1))


def test_generated_names():
    """Names of MindSpore's generated modules: views, functions that write, objects of primitives."""
    from spore.ops import auto_generate as made
    a = Tensor(np.arange(6).reshape(2, 3).astype(np.float32))
    assert made.View()(a, (3, 2)).shape == made.view_op(a, (3, 2)).shape == (3, 2) and made.view(a, (6,)).shape == (6,)
    assert made.ViewDtype()(a, ms.int32).dtype == ms.int32
    assert [t.shape for t in made.SplitWithSizeView()(a, (1, 2), 1)] == [(2, 1), (2, 2)]
    assert [t.asnumpy().tolist() for t in made.UnstackExtView()(a, 1)] == [[0, 3], [1, 4], [2, 5]]
    assert made.RealView()(Tensor(np.array([1 + 2j], np.complex64))).asnumpy().tolist() == [1]
    assert made.gather_nd_ext(a, Tensor([[1, 2]])).asnumpy().tolist() == [5]
    assert made.relu6_grad_op(a, a).asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert made.muls(a, 3).asnumpy()[1, 2] == 15 and made.max_(a) == 5 and made.add_scalar(a, 2, 3).asnumpy()[0, 0] == 6
    b = Tensor(np.ones((2, 3), np.float32))
    assert made.inplace_add_ext(b, a, 2) is b and b.asnumpy().tolist() == (1 + 2 * a.asnumpy()).tolist()
    assert made.sub_tensor_(b, a, 1).asnumpy().tolist() == (1 + a.asnumpy()).tolist() and made.inplace_muls(b, 0).asnumpy().sum() == 0
    with pytest.raises(NotImplementedError, match="QuantMatmul is an operator of Ascend"):
        made.QuantMatmul()(a)


def test_trees():
    """utils._pytree, with the answers of MindSpore 2.10."""
    from collections import OrderedDict, namedtuple
    from spore.utils import _pytree as trees
    pair = namedtuple("pair", "x y")
    tree = {"b": 1, "a": [2, (3, None)], "c": pair(4, OrderedDict(z=1))}
    leaves, structure = trees.tree_flatten(tree)
    assert leaves == [2, 3, None, 1, 4, OrderedDict(z=1)] and trees.tree_unflatten(structure, leaves) == tree
    assert (structure.num_leaves, structure.num_nodes, repr(structure)) == (6, 10, "PyTreeDef({...})")
    assert repr(trees.tree_structure([1, (2,)])) == "PyTreeDef([*, PyTreeDef((*))])"
    assert trees.tree_map(lambda a, b: (a, b), [1, 2], [(3, 4), 5]) == [(1, (3, 4)), (2, 5)]
    leaves, structure = trees.tree_flatten([1, Tensor(2), "a"], tensors_only_leaf=True)
    assert len(leaves) == 1 and trees.tree_unflatten(structure, ["t"]) == [1, "t", "a"]
    assert repr(structure) == "PyTreeDef([Const(int), *, Const(str)])"
    assert trees.tree_leaves([(1, 2), 3], is_leaf=lambda value: isinstance(value, tuple)) == [(1, 2), 3]
    for wrong, kind, text in ((lambda: trees.tree_unflatten(structure, []), ValueError, "Not enough leaves"),
                              (lambda: trees.tree_unflatten(structure, [1, 2]), ValueError, "Too many leaves"),
                              (lambda: trees.tree_map(max, [1, 2], [3]), TypeError, "list size differs"),
                              (lambda: trees.tree_map(max, {"a": 1}, {"b": 1}), TypeError, "missing key"),
                              (lambda: trees.tree_map(max, [1], 5), TypeError, "expected list, got int"),
                              (lambda: hash(structure), TypeError, "unhashable")):
        with pytest.raises(kind, match=text):
            wrong()


def test_trees_of_registered_classes():
    from spore.utils import _pytree as trees

    @trees.register_pytree_node_class
    class Both:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def tree_flatten(self):
            return (self.a, self.b), "aux"

        @staticmethod
        def tree_unflatten(aux, children):
            return aux, children
    leaves, structure = trees.tree_flatten([Both(1, 2), 3])
    assert leaves == [1, 2, 3] and trees.tree_unflatten(structure, [7, 8, 9]) == [("aux", (7, 8)), 9]


def test_settings_of_the_compiled_part():
    from spore._c_expression import MSContext, NoFallbackGuard, frombuffer, ms_ctx_param
    context = MSContext.get_instance()
    before = context.get_param(ms_ctx_param.mode)
    try:
        context.set_param(ms_ctx_param.mode, ms.GRAPH_MODE)
        assert ms.get_context("mode") == ms.GRAPH_MODE == context.get_param(ms_ctx_param.mode)
    finally:
        context.set_param(ms_ctx_param.mode, before)
    assert context.get_param(ms_ctx_param.device_target) == "CPU" and NoFallbackGuard() is not None
    assert frombuffer(bytearray([1, 2]), ms.uint8).asnumpy().tolist() == [1, 2]


def test_iterators_are_cleaned_up():
    """As conftest.py of MindSpore's dataset tests does after each."""
    import spore.dataset as ds
    from spore.dataset.engine.iterators import ITERATORS_LIST, _cleanup, _unset_iterator_cleanup, check_iterator_cleanup
    _unset_iterator_cleanup()     # other tests of this process may have set it
    iterator = ds.NumpySlicesDataset([1, 2, 3]).create_tuple_iterator()
    next(iterator)
    assert ITERATORS_LIST and not check_iterator_cleanup()
    _cleanup()
    assert not ITERATORS_LIST and check_iterator_cleanup()
    _unset_iterator_cleanup()
    assert not check_iterator_cleanup()


def w(*shape, k=0):
    return Tensor(np.sin(np.arange(np.prod(shape)) * 1.7 + k).reshape(shape).astype(np.float32))


G = ops.operations._grad_ops
SECOND = {   # name: how it is called, and what MindSpore 2.10 answers
    "UpsampleNearest2DGrad": (lambda: G.UpsampleNearest2DGrad()(w(1, 1, 3, 3), (1, 1, 2, 2), (3, 3), None),
                          [[0.56, 0.5429, -1.318, 0.8592]]),
    "UpsampleTrilinear3DGrad": (lambda: G.UpsampleTrilinear3DGrad(False)(w(1, 1, 2, 2, 3), (1, 1, 1, 1, 2), (2, 2, 3), None),
                          [[-1.2758, 1.2062]]),
    "MaximumGradGrad": (lambda: G.MaximumGradGrad()(w(3), w(3, k=1), w(3, k=2), w(3, k=3)),
                          [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.1411, -0.5298, -0.7728]]),
    "LayerNormGradGrad": (lambda: G.LayerNormGradGrad(1, 1)(w(1, 2), w(1, 2, k=1), w(1, 1, k=2), w(1, 1, k=3),
                                                            w(2, k=4), w(1, 2, k=5), w(2, k=6), w(2, k=7)),
                          [[-0.2713, -0.037], [1.21, 1.2801], [-0.5689, 0.2051]]),
    "BatchNormGradGrad": (lambda: G.BatchNormGradGrad(True)(w(2, 1, 1, 2), w(2, 1, 1, 2, k=1), w(1, k=2), w(1, k=3), w(1, k=2),
                                                              w(2, 1, 1, 2, k=5), w(1, k=6), w(1, k=7)),
                          [[-0.2981, 0.1694, 0.0769, -0.3668], [-0.1088, 0.6911, 1.7495, 0.6768], [-1.5768]]),
    "IgammaGradA": (lambda: G.IgammaGradA()(Tensor([0.5, 2.0]), Tensor([1.0, 3.0])),
                          [[-0.3898, -0.1974]]),
    "MaxPoolGradGrad": (lambda: G.MaxPoolGradGrad(2, 1, "VALID")(w(1, 1, 2, 3), w(1, 1, 1, 2), w(1, 1, 2, 3, k=1)),
                          [[0.4274, 0.4274]]),
    "MedianGrad": (lambda: G.MedianGrad(True)(Tensor(np.float32(3)), Tensor([1., 2., 2.]), Tensor(np.float32(2)), Tensor(1)),
                          [[0.0, 1.5, 1.5]]),
}


@pytest.mark.parametrize("name", SECOND)
def test_gradients_of_gradients(name):
    call, answers = SECOND[name]
    found = call()
    for part, answer in zip(found if isinstance(found, (tuple, list)) else (found,), answers, strict=True):
        np.testing.assert_allclose(part.asnumpy().ravel(), answer, rtol=1e-3, atol=1e-4)


def test_gradient_of_a_norm_in_groups():
    """By the norm itself."""
    x, dy, gamma, beta = w(2, 4, 3), w(2, 4, 3, k=1), w(4, k=2), w(4, k=3)
    groups = x.asnumpy().reshape(2, 2, -1)
    mean, rstd = Tensor(groups.mean(2)), Tensor(1 / np.sqrt(groups.var(2) + 1e-5))
    for found, part in zip(ops.auto_generate.GroupNorm()(x, 2, gamma, beta, 1e-5)[1:], (mean, rstd), strict=True):
        np.testing.assert_allclose(found.asnumpy(), part.asnumpy(), rtol=1e-4, atol=1e-5)
    wanted = ms.grad(lambda x, gamma, beta: (ops.auto_generate.GroupNorm()(x, 2, gamma, beta, 1e-5)[0] * dy).sum(), (0, 1, 2))(x, gamma, beta)
    for found, part in zip(G.GroupNormGrad()(dy, x, mean, rstd, gamma, 2), wanted, strict=True):
        np.testing.assert_allclose(found.asnumpy(), part.asnumpy(), rtol=1e-3, atol=1e-4)


def test_a_function_of_several_graphs_is_refused():
    from spore.common._pijit_context import Unsupported

    @ms.jit(capture_mode="bytecode", fullgraph=True)
    def broken(x):
        return Tensor(x.asnumpy()) * 2
    with pytest.raises(Unsupported, match="Reason"):
        broken(Tensor([1.0]))


def test_compile_config_at_both_addresses():
    """A setting made at one address is seen at the other."""
    from spore._extends.parse import compile_config
    from spore.graph._parse import compile_config as other
    assert other is compile_config


def test_smooth_l1_loss_of_mint():
    a, b = Tensor([1.0, 2.0, 3.0]), Tensor([1.5, 0.0, 9.0])
    loss = ms.mint.nn.functional.smooth_l1_loss
    assert loss(a, b) == 2.375 and loss(a, b, "sum") == 7.125
    assert loss(a, b, "none", 2.0).asnumpy().tolist() == [0.0625, 1.0, 5.0]
    assert ms.mint.fix(Tensor([1.7, -1.7])).asnumpy().tolist() == [1.0, -1.0]


@pytest.fixture
def mode():
    before = ms.get_context("mode")
    yield lambda which: ms.set_context(mode=which)
    ms.set_context(mode=before)


def test_declared_inputs_count_in_graph_mode(mode):
    class Sum(nn.Cell):
        def construct(self, x, y, z=0):
            return x + y + z
    open_size, x = Tensor(shape=[None, 2], dtype=ms.int32), Tensor([[1.0, 2.0]])
    mode(ms.PYNATIVE_MODE)
    for n in (1, 4):
        net = Sum()
        net.set_inputs(*[open_size] * n)
        assert net(x, x).asnumpy().tolist() == [[2.0, 4.0]]
    mode(ms.GRAPH_MODE)
    with pytest.raises(TypeError, match="requires 2 positional argument, but got 1. When using set_inputs"):
        Sum().set_inputs(open_size)
    with pytest.raises(TypeError, match="2 positional argument and 1 default argument, total 3, but got 4."):
        Sum().set_inputs(*[open_size] * 4)
    net = Sum()
    net.set_inputs(open_size, open_size)
    with pytest.raises(TypeError, match=r"the 1th type should be Tensor\[Int32\], but got Tensor\[Float32\]!"):
        net(x, x)
    net.set_inputs(1, open_size)
    with pytest.raises(TypeError, match="the 1th should be static one, but got mutable!"):
        net(x, x)


@pytest.mark.parametrize("data", [[[3], [[4]]], [[3], [4, 5]], [[], [4]], [[], None], [None, []]])
def test_lists_that_are_no_tensors(data):
    """Messages that MindSpore's tests read."""
    with pytest.raises(TypeError) as error:
        Tensor(data)
    assert f"For Tensor, the input_data is {data} that contain unsupported element." in str(error.value)


def test_arrays_that_are_no_tensors():
    for array, kind in ((np.array([("x", 1)], dtype=[("name", "<U10"), ("value", "<i4")]), "<class 'numpy.void'>"),
                        (np.array([1, None], dtype=object), "<class 'numpy.object_'>")):
        with pytest.raises(TypeError) as error:
            Tensor(array)
        assert "initializing tensor by numpy array failed" in str(error.value) and kind in str(error.value)
