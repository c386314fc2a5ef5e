# SPDX-License-Identifier: Apache-2.0
"""Arrays of other packages: whatever has __dlpack__, __array__ or a buffer is taken where Tensors are, and numpy's functions
take Tensors. tests/beside does it with the packages themselves."""
import array
import inspect

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, nn, ops

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


class OfArray:
    """As a pandas object: it makes an array of itself."""
    def __init__(self, values=VALUES):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


class OfDlpack:
    """As a torch Tensor: it gives its memory away once it is detached."""
    def __init__(self, values=VALUES, tracked=True):
        self.values, self.tracked = values, tracked

    def detach(self):
        return OfDlpack(self.values, False)

    def __dlpack__(self, **options):
        if self.tracked:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class Elsewhere(OfDlpack):
    """On another device, with a way back."""
    def __dlpack_device__(self):
        return (2, 0)

    def detach(self):
        return Elsewhere(self.values, False)

    def cpu(self):
        return OfDlpack(self.values, False)


OBJECTS = [OfArray(), OfDlpack(), Elsewhere(), memoryview(VALUES)]


@pytest.mark.parametrize("given", OBJECTS, ids=lambda o: type(o).__name__)
def test_taken_where_tensors_are(given, tmp_path):
    assert np.array_equal(Tensor(given).asnumpy(), VALUES) and Tensor(given).dtype == ms.float32
    assert Tensor(given, ms.int32).dtype == ms.int32
    assert np.array_equal(Parameter(given, name="w").asnumpy(), VALUES)
    assert np.array_equal(ops.relu(given).asnumpy(), VALUES)
    net = nn.Dense(2, 3)
    net_of_three = nn.Dense(3, 2)
    assert np.array_equal(net_of_three(given).asnumpy(), net_of_three(Tensor(VALUES)).asnumpy())
    ms.load_param_into_net(net_of_three, {"weight": given, "bias": np.zeros(2)})
    assert np.array_equal(net_of_three.weight.asnumpy(), VALUES)
    path = str(tmp_path / "x.ckpt")
    ms.save_checkpoint({"weight": given}, path)
    assert np.array_equal(ms.load_checkpoint(path)["weight"].asnumpy(), VALUES)
    ms.save_checkpoint([{"name": "weight", "data": given}], path)
    assert np.array_equal(ms.load_checkpoint(path)["weight"].asnumpy(), VALUES)
    assert net.weight.shape == (3, 2)


def test_a_tensor_does_not_share_the_memory():
    values = VALUES.copy()
    made = Tensor(OfDlpack(values))
    values[:] = 7
    assert np.array_equal(made.asnumpy(), VALUES)


def test_array_array():
    assert np.array_equal(Tensor(array.array("f", [1, 2])).asnumpy(), np.array([1, 2], np.float32))


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("make, shape", [
    (lambda: nn.Conv2d(3, 4, 3), (1, 3, 8, 8)), (lambda: nn.BatchNorm2d(3), (1, 3, 8, 8)), (lambda: nn.Flatten(), (2, 3, 4)),
    (lambda: nn.LayerNorm((8,)), (2, 8)), (lambda: nn.SequentialCell(nn.Dense(3, 4), nn.ReLU()), (2, 3))])
def test_layers_take_them(make, shape, mode):
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        values = np.random.default_rng(1).random(shape, np.float32)
        net = make()
        wanted = net(Tensor(values)).asnumpy()
        for given in (OfArray(values), OfDlpack(values), values):
            assert np.array_equal(net(given).asnumpy(), wanted)
    finally:
        ms.set_context(mode=before)


def test_a_cell_that_takes_arrays_gets_them():
    class Sums(nn.Cell):
        def construct(self, x):
            return type(x)
    assert Sums()(VALUES) is np.ndarray


def counting(inner):
    class Counts(nn.Cell):
        def __init__(self):
            super().__init__()
            self.calls, self.inner = 0, inner

        def construct(self, x):
            self.calls += 1
            return self.inner(x)
    return Counts()


def test_functions_of_the_program_are_called_once():
    """Layers of ours take arrays; what a program wrote is not run again because it cannot."""
    net = counting(nn.Dense(3, 2))
    assert net(VALUES[:, :3]).shape[1] == 2 and net.calls == 1
    net = counting(lambda x: x.no_such_method())
    for call in (net, nn.SequentialCell(net)):
        net.calls = 0
        with pytest.raises(AttributeError, match="no_such_method"):
            call(VALUES)
        assert net.calls == 1
    layer, calls = nn.Dense(3, 2), []
    layer.register_forward_pre_hook(lambda cell, inputs: calls.append(1))
    with pytest.raises(TypeError):
        layer(object)
    calls.clear()
    with pytest.raises((TypeError, ValueError)):
        layer(np.array(["a"]))
    assert len(calls) == 1


def test_a_mistake_inside_is_shown_once_and_as_it_is():
    class Net(nn.Cell):
        def construct(self, x):
            return ops.relu(x).no_such_method()
    with pytest.raises(AttributeError, match="no_such_method") as caught:
        Net()(VALUES)
    assert caught.value.__context__ is None


def test_messages_name_the_package():
    fake = type("Tensor", (), {"__module__": "torch.nested"})()
    for call in (Tensor, ops.relu, nn.Dense(3, 2), lambda o: ms.save_checkpoint({"w": o}, "x.ckpt"),
                 lambda o: ms.load_param_into_net(nn.Dense(3, 2), {"weight": o})):
        with pytest.raises(TypeError, match=r"torch\.Tensor"):
            call(fake)


def test_elements_that_are_no_numbers():
    with pytest.raises(TypeError, match="holds elements of dtype object, not numbers; convert it first"):
        Tensor(OfArray(np.array([1, "a"], object)))


REDUCTIONS = ["mean", "sum", "max", "min", "std", "var", "prod", "any", "all", "median", "argmax", "cumsum", "ptp"]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_numpy_functions_take_tensors(name):
    function, given = getattr(np, name), Tensor(VALUES)
    assert np.allclose(np.asarray(function(given)), function(VALUES))
    assert np.allclose(np.asarray(function(given, axis=1)), function(VALUES, axis=1))
    if "keepdims" in inspect.signature(function).parameters:
        assert np.allclose(np.asarray(function(given, axis=0, keepdims=True)), function(VALUES, axis=0, keepdims=True))


def test_numpy_functions_of_several():
    given = Tensor(VALUES)
    assert np.array_equal(np.concatenate([given, VALUES]), np.concatenate([VALUES, VALUES]))
    assert np.array_equal(np.stack([given, given]), np.stack([VALUES, VALUES]))
    assert np.array_equal(np.where(given > 2, given, 0), np.where(VALUES > 2, VALUES, 0))
    assert np.array_equal(np.repeat(given, 2), np.repeat(VALUES, 2))
    assert np.allclose(np.einsum("ij,kj->ik", given, given), VALUES @ VALUES.T)
    with pytest.raises(ValueError):
        np.concatenate([given, given[0]])


def test_array_interface_outlives_the_tensor():
    """Pillow and numpy read memory through it; a transposed Tensor is copied, and the copy is kept."""
    for given in (Tensor(VALUES), Tensor(VALUES).T, Tensor(VALUES)[:, ::2]):
        wanted = given.asnumpy().copy()
        view = np.asarray(type("Holder", (), {"__array_interface__": given.__array_interface__})())
        del given
        assert np.array_equal(view, wanted)


def test_len_of_an_iterator():
    data = ms.dataset.NumpySlicesDataset(np.ones((10, 2), np.float32)).batch(3)
    assert len(data.create_tuple_iterator()) == len(data.create_dict_iterator()) == 4
    assert len(list(data.create_tuple_iterator(num_epochs=1))) == 4
    read = []

    def rows():
        for i in range(3):
            read.append(i)
            yield (np.float32(i),)
    data = ms.dataset.GeneratorDataset(rows, ["x"])
    iterator = data.create_tuple_iterator(num_epochs=1)
    assert iterator
    with pytest.raises(TypeError, match="known only by reading them"):
        len(iterator)
    assert len(list(iterator)) == 3
    data.get_dataset_size()


@pytest.mark.parametrize("kind", [OfArray, OfDlpack])
def test_operators_take_other_packages_arrays(kind):
    """The left operand decides what comes out; here the foreign one knows nothing of arithmetic."""
    x, there = Tensor(VALUES + 1), kind()
    for made, wanted in ((x + there, VALUES + 1 + VALUES), (there + x, VALUES + VALUES + 1), (x - there, np.ones((2, 3))), (there - x, -np.ones((2, 3))),
                         (x * there, VALUES * (VALUES + 1)), (there / x, VALUES / (VALUES + 1)), (x ** there, (VALUES + 1) ** VALUES), (x > there, np.ones((2, 3), bool)),
                         (x == there, np.zeros((2, 3), bool)), (x != there, np.ones((2, 3), bool)), (x @ kind(VALUES.T.copy()), (VALUES + 1) @ VALUES.T)):
        assert isinstance(made, Tensor) and np.allclose(made.asnumpy(), wanted)
    gradient = ms.grad(lambda x: (x * there).sum())(x)
    assert np.array_equal(gradient.asnumpy(), VALUES)
    texts = OfArray(np.array(["a", "b"]))
    assert (x == texts) is False and (x != texts) is True
    with pytest.raises(TypeError, match="test_foreign.OfArray holds elements of dtype <U1"):
        x + texts


@pytest.mark.parametrize("call", [
    lambda wrong: ops.bartlett_window(3, periodic=wrong), lambda wrong: nn.CellList([nn.ReLU()]).append(wrong), lambda wrong: nn.Adam([wrong]),
    lambda wrong: nn.Adam(nn.Dense(1, 1).trainable_params(), use_nesterov=wrong), lambda wrong: ops.masked_fill(Tensor([1.0]), Tensor([True]), wrong),
    lambda wrong: ms.train.Model(wrong), lambda wrong: ms.dataset.config.set_seed(wrong), lambda wrong: nn.Dense(wrong, 1)])
def test_messages_name_the_package_of_a_type(call):
    import fractions
    with pytest.raises((TypeError, ValueError), match="fractions.Fraction"):
        call(fractions.Fraction(1, 2))


def test_no_message_forgets_the_package():
    """Errors name the type of a value by type_name, which gives the package."""
    import ast
    import pathlib
    found = []
    package = pathlib.Path(ms.__file__).parent
    for path in (p for part in ("common", "dataset", "nn", "ops", "train") for p in (package / part).rglob("*.py")):
        for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for node in ast.walk(statement) if isinstance(statement, ast.Raise) else ():
                if isinstance(node, ast.Attribute) and node.attr == "__name__" and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "type":
                    if ast.unparse(node.value.args[0]) not in ("self", "owner", "error", "exception"):   # ours
                        found.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
    assert not found
