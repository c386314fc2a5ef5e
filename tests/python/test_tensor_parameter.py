# SPDX-License-Identifier: Apache-2.0
"""Parameters, initializers, seeds, settings and memory."""
import copy
import math
import pickle

import numpy as np
import pytest

import spore as ms
from spore import Parameter, ParameterTuple, Tensor
from spore.common import initializer as I  # noqa: E741,N812
from spore.common.initializer import initializer


# --- Parameter -------------------------------------------------------------------------------------------------------

def test_made_of():
    assert Parameter(1).dtype == ms.int32 and Parameter(1.5).dtype == ms.float32 and Parameter([1.0,
        2]).dtype == ms.float32
    assert Parameter(np.array([1.0, 2.0])).dtype == ms.float64
    with pytest.raises(ValueError, match="bool"):
        Parameter(True)
    for wrong in (None, "a", object(), (1, 2)):
        with pytest.raises(TypeError):
            Parameter(wrong)


def test_has_memory_of_its_own():
    t = Tensor([1.0, 2.0])
    p = Parameter(t, name="p")
    t[0] = 9
    assert p.asnumpy().tolist() == [1, 2]


def test_text_and_type():
    p = Parameter(Tensor([[1, 2], [3, 4]]), name="x", requires_grad=False)
    assert repr(p) == str(p) == "Parameter (name=x, shape=(2, 2), dtype=Int64, requires_grad=False)"
    assert isinstance(p, Tensor) and type(p + 1) is Tensor and hash(p) == id(p)
    assert type(p.data) is Tensor and type(p.value()) is Tensor and p.data._shares(p)


def test_set_data_converts_and_may_change_the_shape():
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    assert p.set_data(Tensor([3, 4])) is p and p.dtype == ms.float32 and p.asnumpy().tolist() == [3, 4]
    p.set_data(Tensor([1.0, 2.0, 3.0], ms.float16))
    assert p.shape == (3,) and p.dtype == ms.float32
    q = Parameter(Tensor([7.0, 8.0, 9.0]), name="q")
    p.set_data(q)
    q[0] = 0
    assert p.asnumpy().tolist() == [7, 8, 9]
    with pytest.raises(TypeError):
        p.set_data(np.zeros(3))


@pytest.mark.parametrize("key, wrong", [("requires_grad", 1), ("layerwise_parallel", None), ("parallel_optimizer",
    "a")])
def test_marks_are_checked(key, wrong):
    p = Parameter(1.0, name="p")
    with pytest.raises(TypeError, match=key):
        setattr(p, key, wrong)
    with pytest.raises(TypeError, match=key):
        Parameter(1.0, **{key: wrong})
    with pytest.raises(ValueError):
        p.comm_fusion = -1
    with pytest.raises(ValueError):
        p.name = 3
    with pytest.raises(ValueError):
        p.name = "a" * 1025


def test_copies():
    p = Parameter(Tensor([1.0, 2.0]), name="p", requires_grad=False)
    for other in (p.clone(), copy.copy(p), copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert type(other) is Parameter and other.name == "p" and not other.requires_grad
        other[0] = 5
        other.name = "other"
    assert p.asnumpy().tolist() == [1, 2] and p.name == "p"
    assert p.clone("zeros").asnumpy().tolist() == [0, 0] and p.clone(init="ones").name == "p"


def test_parameter_tuple():
    a, b = Parameter(1.0, name="a"), Parameter(2.0, name="b")
    both = ParameterTuple((a, b))
    assert [p.name for p in both.clone("adam", init="zeros")] == ["adam.a", "adam.b"]
    assert ParameterTuple((a, a)) == (a, a)
    with pytest.raises(ValueError, match="'a'"):
        ParameterTuple((a, Parameter(3.0, name="a")))
    with pytest.raises(TypeError):
        ParameterTuple((1,))


# --- initializers ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("init, shape, std, bound", [
    (I.TruncatedNormal(1.0), (300, 100), 0.8796, 2.0), (I.Normal(0.1), (300, 100), 0.1, None), (I.Uniform(0.3),
        (300, 100), 0.1732, 0.3),
    (I.XavierUniform(2), (200, 100), 0.1633, 0.2829), (I.XavierNormal(), (200, 100), 0.0816, None),
    (I.HeUniform(0.5), (200, 100), 0.1265, 0.2191), (I.HeNormal(mode="fan_out", nonlinearity="relu"), (200, 10, 3, 3),
                                                     0.0333, None),
    (I.HeUniform(nonlinearity="tanh"), (200, 100), 0.1667, 0.2887),
    (I.VarianceScaling(2.0, "fan_avg", "truncated_normal"), (200, 100), 0.1155, 0.2626),
    (I.VarianceScaling(2.0, "fan_out", "uniform"), (200, 100), 0.1, 0.1733),
    (I.VarianceScaling(2.0, "fan_in", "untruncated_normal"), (200, 100), 0.1414, None)], ids=repr)
def test_spread(init, shape, std, bound):
    ms.set_seed(7)
    a = initializer(init, shape).init_data().asnumpy()
    assert a.dtype == np.float32
    assert a.std() == pytest.approx(std, rel=0.03) and abs(a.mean()) < std / 30
    assert bound is None or bound * 0.99 < np.abs(a).max() <= bound


def test_truncated_normal_far_from_the_mean():
    a = initializer(I.TruncatedNormal(1.0, 0.0, 4.0, 6.0), (2000,)).asnumpy()
    assert a.min() >= 4 and a.max() <= 6 and a.mean() == pytest.approx(4.2257, abs=0.02)
    a = initializer(I.TruncatedNormal(2.0, 1.0, -1.0, 0.5), (20000,)).asnumpy()
    assert a.min() >= -1 and a.max() <= 0.5 and a.mean() == pytest.approx(-0.192, abs=0.02)


def test_exact_ones():
    assert initializer("zeros", [2]).asnumpy().tolist() == [0, 0] and initializer("ones", 2).asnumpy().tolist() == [1,
        1]
    assert initializer(0.5, [2]).asnumpy().tolist() == [0.5, 0.5] and initializer(1, [2],
        ms.int32).init_data().dtype == ms.int32
    assert initializer(I.Identity(), [2, 3]).asnumpy().tolist() == [[1, 0, 0], [0, 1, 0]]
    dirac = initializer(I.Dirac(2), [4, 2, 3]).asnumpy()
    assert dirac.sum() == 4 and all(dirac[i, i % 2, 1] == 1 for i in range(4))
    q = initializer(I.Orthogonal(2.0), (20, 10)).asnumpy()
    np.testing.assert_allclose(q.T @ q, 4 * np.eye(10), atol=1e-5)
    sparse = initializer(I.Sparse(0.3, 1.0), (100, 50)).asnumpy()
    assert ((sparse == 0).sum(axis=0) == 30).all()
    assert initializer("normal", [2], ms.bfloat16).init_data().dtype == ms.bfloat16


@pytest.mark.parametrize("arguments, error", [
    (("foo", [2]), ValueError), ((None, [2]), TypeError), ((I.Normal, [2]), TypeError), (("ones", [-1]), ValueError),
    (("ones", [0, 2]), ValueError), ((np.ones(2), [2]), TypeError), (("ones", [2], "x"), TypeError)])
def test_wrong_initializers(arguments, error):
    with pytest.raises(error):
        initializer(*arguments)


@pytest.mark.parametrize("init, shape", [("xavier_uniform", [2]), (I.Identity(), [2, 3, 2]), (I.Dirac(), [4, 2]),
                                         (I.Sparse(0.1), [2, 2, 2]),
                                         ("orthogonal", [2])])
def test_wrong_shapes(init, shape):
    with pytest.raises(ValueError):
        initializer(init, shape).init_data()


def test_parameters_of_initializers():
    p = Parameter(initializer("ones", [2, 2]), name="p")
    assert not p.has_init and p.asnumpy().sum() == 4 and p.init_data() is p


# --- seeds -----------------------------------------------------------------------------------------------------------

def test_seed_repeats():
    ms.set_seed(1)
    first, second = (initializer("normal", [3]).asnumpy() for _ in range(2))
    ms.set_seed(1)
    np.testing.assert_array_equal(initializer("normal", [3]).asnumpy(), first)
    assert (first != second).all() and ms.get_seed() == 1
    for wrong, error in (("a", TypeError), (-1, ValueError), (1.5, TypeError)):
        with pytest.raises(error):
            ms.set_seed(wrong)


def test_generator_state():
    g = ms.Generator()
    assert g.manual_seed(5) is g and g.initial_seed() == 5
    g._step(10)
    state = g.get_state()
    assert state.tolist() == [5] + [0] * 7 + [10] + [0] * 7
    after = g._step(3)
    g.set_state(state)
    assert g._step(3) == after == (5, 10)


# --- settings --------------------------------------------------------------------------------------------------------

def test_context():
    ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU", save_graphs=False, deterministic="ON", jit_level="O1")
    try:
        assert ms.get_context("mode") == 0 and ms.get_context("save_graphs") == 0
        assert ms.get_context("device_target") == "CPU"
        assert (Tensor([1.0]) + 1).tolist() == [2]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE, deterministic="OFF")
    for wrong, error in ((dict(mode=5), ValueError), (dict(mode="a"), TypeError), (dict(device_target="GPU"),
        RuntimeError),
                         (dict(device_target="x"), ValueError), (dict(device_id=-1), ValueError), (dict(foo=1),
                             ValueError),
                         (dict(save_graphs=5), ValueError), (dict(max_call_depth=0),
                                                             ValueError), (dict(deterministic="x"), ValueError),
                         (dict(enable_graph_kernel=1), TypeError)):
        with pytest.raises(error):
            ms.set_context(**wrong)
    with pytest.raises(ValueError):
        ms.get_context("foo")
    ms.set_device("CPU")
    assert ms.get_current_device() == ("CPU", 0)


def test_memory_is_counted():
    before = ms.runtime.memory_allocated()
    ms.runtime.reset_peak_memory_stats()
    t = Tensor(np.zeros(1 << 20, np.float32))
    assert ms.runtime.memory_allocated() >= before + (4 << 20)
    del t
    assert ms.runtime.memory_allocated() < before + (4 << 20) <= ms.runtime.max_memory_allocated()
    assert ms.hal.memory_allocated() == ms.runtime.memory_allocated()
    assert set(ms.runtime.memory_stats()) >= {"total_allocated_memory",
                                              "max_allocated_memory"} and "Memory" in ms.runtime.memory_summary()
    with pytest.raises(TypeError):
        ms.runtime.set_memory(max_size=3)


def test_memory_limit():
    limit = math.ceil((ms.runtime.memory_reserved() + (64 << 20)) / 2 ** 30 * 1000) / 1000
    ms.runtime.set_memory(max_size=f"{limit}GB")
    try:
        with pytest.raises(MemoryError):
            Tensor(shape=(1 << 28,), dtype=ms.float32)
    finally:
        ms.runtime.set_memory()
    assert Tensor(shape=(4,), dtype=ms.float32).tolist() == [0] * 4


def test_parameters_without_a_name_are_numbered():
    first, second = ms.Parameter(ms.Tensor([1.0])), ms.Parameter(ms.Tensor([1.0]), name="")
    (word, one), (same, two) = first.name.split("#"), second.name.split("#")
    assert word == same == "Parameter" and int(two) == int(one) + 1

    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = first
            self.others = ms.ParameterTuple((second, ms.Parameter(ms.Tensor([1.0]))))
    assert [p.name for p in Net().get_parameters()] == ["weight", "Parameter$1", "Parameter$2"]
    assert len(ms.nn.SGD([ms.Parameter(ms.Tensor([1.0])), ms.Parameter(ms.Tensor([1.0]))], momentum=0.9).accum) == 2


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_value_is_a_copy_with_a_gradient(mode):
    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.0, 2.0]), name="w")

        def construct(self, x):
            return (self.w.value() * x).sum()
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        net = Net()
        gradients = ms.grad(net, None, net.trainable_params())(Tensor([3.0, 4.0]))
    finally:
        ms.set_context(mode=before)
    np.testing.assert_array_equal(gradients[0].asnumpy(), [3.0, 4.0])
    value = net.w.value()
    value[0] = 9.0
    assert type(value) is Tensor and net.w.asnumpy()[0] == 1.0
