# SPDX-License-Identifier: Apache-2.0
"""Containers, names, text and errors of layers."""
import copy
from collections import OrderedDict

import numpy as np
import pytest

import spore as ms
from spore import Parameter, ParameterTuple, Tensor, nn, ops
from spore.dataset.transforms.transforms import PyTensorOperation


def names(cell):
    return [p.name for p in cell.get_parameters()]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([nn.Dense(2, 2), nn.Conv2d(1, 1, 1)])
        self.chain = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU(), nn.Dense(3, 2))
        self.parts = nn.CellDict({"a": nn.Dense(1, 1)})
        self.lstm = nn.LSTM(2, 3, has_bias=False)


def test_names_follow_changes_inside_a_network():
    net = Net()
    net.blocks.insert(0, nn.BatchNorm1d(2))
    del net.blocks[1]
    net.blocks.append(nn.Dense(1, 1, has_bias=False))
    net.chain[2] = nn.Dense(3, 5, has_bias=False)
    net.chain.append(nn.Dense(5, 1, has_bias=False))
    del net.chain[0]
    net.parts["b"] = nn.Dense(1, 1, has_bias=False)
    assert names(net) == [
        "blocks.0.moving_mean", "blocks.0.moving_variance", "blocks.0.gamma", "blocks.0.beta", "blocks.1.weight",
        "blocks.2.weight", "chain.1.weight", "chain.2.weight", "parts.a.weight", "parts.a.bias", "parts.b.weight",
        "lstm.weight_ih_l0", "lstm.weight_hh_l0"]
    assert [path for path, _ in net.parameters_and_names()] == names(net)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_errors_name_the_cell(mode):
    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.chain = nn.SequentialCell(nn.Dense(2, 3), nn.SequentialCell(nn.ReLU(), nn.Dense(4, 2)))
            self.hidden = [nn.Dense(5, 5)]           # a Cell that the Block does not know by a name

        def construct(self, x, known):
            return self.chain(x) if known else self.hidden[0](x)

    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        x = Tensor(np.zeros((1, 2), np.float32))
        with pytest.raises(ValueError) as caught:
            Block()(x, True)
        assert caught.value.__notes__ == ["In the Cell 'chain.1.1' (Dense) of Block."]
        with pytest.raises(ValueError) as caught:
            Block()(x, False)
        assert not getattr(caught.value, "__notes__", None)
        with pytest.raises(ValueError) as caught:
            nn.Dense(3, 1)(x)                         # the Cell that was called: nothing to add
        assert not getattr(caught.value, "__notes__", None)
    finally:
        ms.set_context(mode=before)


def test_names_of_a_tuple_of_parameters_in_a_nested_cell():
    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = Net()
            self.more = ParameterTuple([Parameter(Tensor(1.0)), Parameter(Tensor(2.0))])
    net = Outer()
    assert names(net)[:2] == ["Parameter$1", "Parameter$2"]
    assert names(net)[-2:] == ["net.lstm.weight_ih_l0", "net.lstm.weight_hh_l0"]
    assert len(names(net)) == len(set(names(net)))


def test_cell_list_is_a_list():
    cells = nn.CellList([nn.Dense(1, 1), nn.ReLU()])
    cells += [nn.Tanh()]
    assert [type(c).__name__ for c in cells] == ["Dense", "ReLU", "Tanh"]
    assert len(cells[1:]) == 2 and isinstance(cells[1:], nn.CellList)
    assert cells[-1] is cells[2]
    cells[1] = nn.Sigmoid()
    del cells[0]
    assert [type(c).__name__ for c in cells] == ["Sigmoid", "Tanh"] and bool(cells) and not nn.CellList()
    for wrong, error in ((lambda: cells[5], IndexError), (lambda: cells["a"], TypeError), (lambda: nn.CellList((nn.ReLU(),)), TypeError),
                         (lambda: cells.append(3), TypeError), (lambda: nn.CellList([nn.CellDict()]), TypeError),
                         (lambda: cells(1), NotImplementedError), (lambda: cells.insert(9, nn.ReLU()), IndexError)):
        with pytest.raises(error):
            wrong()


def test_sequential_cell_of_named_cells():
    net = nn.SequentialCell(OrderedDict([("fc", nn.Dense(2, 2)), ("act", nn.ReLU())]))
    assert names(net) == ["fc.weight", "fc.bias"]
    net.append(nn.Dense(2, 1))
    assert list(net.name_cells()) == ["fc", "act", "2"]
    del net[0]
    assert list(net.name_cells()) == ["act", "1"]
    assert net(ops.ones((3, 2))).shape == (3, 1)
    assert nn.SequentialCell()(5) == 5
    for wrong in (3, (nn.ReLU(),)):
        with pytest.raises(TypeError):
            nn.SequentialCell(wrong)


def test_cell_dict_is_a_dict():
    cells = nn.CellDict([("a", nn.ReLU()), ("b", nn.Dense(1, 1))])
    assert list(cells.keys()) == ["a", "b"] and len(cells) == 2 and "a" in cells
    cells.update({"c": nn.Tanh()})
    assert isinstance(cells.pop("a"), nn.ReLU) and list(cells) == ["b", "c"]
    assert [k for k, _ in cells.items()] == ["b", "c"] and [type(c).__name__ for c in cells.values()] == ["Dense", "Tanh"]
    for wrong, error in ((("x.y", nn.ReLU()), KeyError), (("", nn.ReLU()), KeyError), (("construct", nn.ReLU()), KeyError),
                         ((3, nn.ReLU()), TypeError), (("d", None), TypeError), (("d", nn.CellList()), TypeError)):
        with pytest.raises(error):
            cells[wrong[0]] = wrong[1]
    with pytest.raises(ValueError):
        nn.CellDict([("a", nn.ReLU(), 1)])
    cells.clear()
    assert len(cells) == 0


def test_text():
    assert str(nn.Dense(2, 3)) == "Dense(input_channels=2, output_channels=3, has_bias=True)"
    assert str(nn.Dense(2, 3, has_bias=False, activation="relu")) == (
        "Dense(\n  input_channels=2, output_channels=3, activation=ReLU()\n  (activation): ReLU()\n)")
    assert str(nn.MaxPool2d(2, 2)) == "MaxPool2d(kernel_size=2, stride=2, pad_mode=VALID)"
    assert str(nn.Dropout(p=0.3)) == "Dropout(p=0.3)"
    assert str(nn.SequentialCell(nn.ReLU(), nn.SequentialCell(nn.Tanh()))) == (
        "SequentialCell(\n  (0): ReLU()\n  (1): SequentialCell(\n    (0): Tanh()\n  )\n)")
    assert str(nn.Conv2d(1, 2, 3, weight_init="normal")) == (
        "Conv2d(input_channels=1, output_channels=2, kernel_size=(3, 3), stride=(1, 1), pad_mode=same, padding=0, "
        "dilation=(1, 1), group=1, has_bias=False, weight_init=normal, bias_init=None, format=NCHW)")


@pytest.mark.parametrize("make, error, words", [
    (lambda: nn.Dense(0, 1), ValueError, ["Dense", "in_channels", "0"]),
    (lambda: nn.Dense(1.5, 1), TypeError, ["Dense", "in_channels", "1.5", "int"]),
    (lambda: nn.Dense(True, 1), TypeError, ["in_channels"]),
    (lambda: nn.Dense(1, 1, has_bias=1), TypeError, ["has_bias", "bool"]),
    (lambda: nn.Dense(2, 3, weight_init=Tensor(np.ones((2, 3), np.float32))), ValueError, ["weight_init", "(3, 2)", "(2, 3)"]),
    (lambda: nn.Dense(2, 3, bias_init=ops.ones((2,))), ValueError, ["bias_init", "(3,)"]),
    (lambda: nn.Dense(2, 3, activation="nothing"), KeyError, ["nothing", "relu"]),
    (lambda: nn.Dense(2, 3, activation=5), TypeError, ["activation"]),
    (lambda: nn.Conv2d(2, 4, 3, padding=1), ValueError, ["padding", "same"]),
    (lambda: nn.Conv2d(2, 4, 3, pad_mode="pad", padding=(1, 1)), ValueError, ["padding", "4 ints"]),
    (lambda: nn.Conv2d(2, 4, 3, pad_mode="full"), ValueError, ["pad_mode", "full", "valid"]),
    (lambda: nn.Conv2d(2, 3, 3, group=2), ValueError, ["group", "2", "3"]),
    (lambda: nn.Conv2d(2, 3, (3, 3, 3)), ValueError, ["kernel_size"]),
    (lambda: nn.Conv1d(2, 3, (3,)), TypeError, ["kernel_size"]),
    (lambda: nn.Conv2d(2, 3, 3, data_format="NHWC"), ValueError, ["NHWC"]),
    (lambda: nn.BatchNorm2d(3, momentum=2), ValueError, ["momentum", "2"]),
    (lambda: nn.BatchNorm2d(3)(ops.ones((2, 3))), ValueError, ["BatchNorm2d", "4 dimensions", "(2, 3)"]),
    (lambda: nn.LayerNorm(4), TypeError, ["normalized_shape"]),
    (lambda: nn.GroupNorm(3, 4), ValueError, ["num_channels", "3"]),
    (lambda: nn.MaxPool2d(2, padding=1), ValueError, ["padding", "pad_mode"]),
    (lambda: nn.MaxPool2d(0), ValueError, ["kernel_size"]),
    (lambda: nn.Dropout(p=1.0), ValueError, ["p", "[0, 1)"]),
    (lambda: nn.Dropout(keep_prob=0.0), ValueError, ["keep_prob"]),
    (lambda: nn.Embedding(3, 2, padding_idx=3), ValueError, ["padding_idx", "3"]),
    (lambda: nn.LSTM(3, 4)(ops.ones((5, 2, 3)), ops.ones((1, 2, 4))), TypeError, ["hx", "tuple"]),
    (lambda: nn.MultiheadAttention(8, 3), ValueError, ["embed_dim", "3"]),
    (lambda: nn.Flatten(3)(ops.ones((2, 3))), ValueError, ["start_dim", "3"]),
    (lambda: nn.Pad(((1, 1),))(ops.ones((2, 3))), ValueError, ["paddings", "2 dimensions"]),
    (lambda: nn.Pad(((2, 0), (0, 0)), "REFLECT")(ops.ones((2, 3))), ValueError, ["REFLECT", "at most 1"]),
    (lambda: nn.LossBase("median"), ValueError, ["reduction", "median", "mean"]),
    (lambda: nn.MSELoss()(3, ops.ones((2,))), TypeError, ["logits", "Tensor"]),
    (lambda: nn.CrossEntropyLoss()(ops.ones((2, 3)), Tensor([1, 2])), TypeError, ["int32"]),
    (lambda: nn.CrossEntropyLoss()(ops.ones((2, 3)), Tensor([1], ms.int32)), ValueError, ["(2,)", "(1,)"]),
    (lambda: nn.get_activation("swishy", "Net"), KeyError, ["Net", "swishy"]),
    (lambda: nn.ReLU(3), TypeError, ["argument"]),
])
def test_errors_name_what_was_wrong(make, error, words):
    with pytest.raises(error) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_initial_values():
    ms.set_seed(1)
    dense = nn.Dense(100, 200)
    for parameter in (dense.weight, dense.bias):
        values = parameter.asnumpy()
        assert np.abs(values).max() <= 0.1 and values.std() == pytest.approx(0.1 / 3 ** 0.5, rel=0.2)
    conv = nn.Conv2d(4, 64, 5, group=2, has_bias=True).weight.asnumpy()
    assert np.abs(conv).max() <= 50 ** -0.5 and conv.std() == pytest.approx((50 * 3) ** -0.5, rel=0.1)
    rows = nn.Embedding(200, 50, padding_idx=3).embedding_table.asnumpy()
    assert rows.std() == pytest.approx(0.01, rel=0.1) and not rows[3].any()
    norm = nn.BatchNorm2d(3)
    assert [(p.name, p.requires_grad) for p in norm.get_parameters()] == [
        ("mean", False), ("variance", False), ("gamma", True), ("beta", True)]


def test_copies_are_separate():
    net = nn.SequentialCell(nn.Dense(2, 2), nn.BatchNorm1d(2), nn.LSTM(2, 2))
    other = copy.deepcopy(net)
    assert names(other) == names(net)
    other[0].weight.set_data(ops.zeros((2, 2)))
    assert net[0].weight.asnumpy().any()
    assert other[2].w_ih_list[0] is not net[2].w_ih_list[0]
    assert any(p is other[2].w_ih_list[0] for p in other.get_parameters())


def test_subclasses_compute_with_what_the_layer_holds():
    class Doubled(nn.Conv2d):
        def construct(self, x):
            return self.bias_add(self.conv2d(x, self.weight * 2), self.bias)

    class Halved(nn.Dense):
        def construct(self, x):
            return self.bias_add(self.matmul(x, self.weight / 2), self.bias)

    class Own(nn.LossBase):
        def construct(self, a, b):
            return self.reduce_sum(self.mul(a, self.cast(b, ms.float32))) + self.reduce_mean(a)
    x = Tensor(np.random.default_rng(0).standard_normal((1, 2, 5, 5)).astype(np.float32))
    for pad in (dict(), dict(pad_mode="pad", padding=(1, 0, 2, 1)), dict(stride=2, pad_mode="valid")):
        net = Doubled(2, 3, 3, has_bias=True, bias_init="zeros", **pad)
        plain = nn.Conv2d(2, 3, 3, weight_init=net.weight, **pad)
        np.testing.assert_allclose(net(x).asnumpy(), 2 * plain(x).asnumpy(), 1e-4, 1e-5)
    assert (Halved(2, 3, "ones", "ones")(ops.ones((1, 2))).asnumpy() == 2).all()
    assert float(Own()(Tensor([1.0, 3.0]), Tensor([1, 2]))) == 9


def test_old_addresses_of_modules():
    from spore.nn.layer.basic import Dense
    from spore.nn.layer.conv import _Conv
    from spore.nn.layer.normalization import _BatchNorm
    from spore.nn.loss.loss import LossBase
    from spore.nn.wrap.cell_wrapper import _VirtualDatasetCell
    assert Dense is nn.Dense and issubclass(nn.Conv2d, _Conv) and issubclass(nn.BatchNorm2d, _BatchNorm)
    assert LossBase is nn.LossBase and _VirtualDatasetCell(nn.ReLU())(Tensor([-1.0])).asnumpy() == 0


def test_metrics_are_shown_in_nn():
    assert nn.Accuracy is ms.train.Accuracy and "Accuracy" in dir(nn)
    with pytest.raises(AttributeError, match="Nothing"):
        nn.Nothing


def test_no_init_parameters_ends_with_its_block():
    with nn.no_init_parameters():
        net = nn.Dense(2, 3)
        assert Parameter.init_param is False
    assert Parameter.init_param is True and np.isfinite(net.weight.asnumpy()).all()


def test_messages_of_common_mistakes():
    with pytest.raises(ValueError, match=r"8 features in its last dimension \(shape \(2, 8\)\), but the weight \(shape \(4, 10\)\) takes 10"):
        nn.Dense(10, 4)(ms.ops.ones((2, 8)))

    class Net(nn.Cell):
        def forward(self, x):
            return x
    with pytest.raises(AttributeError, match="'construct' is not defined. It has a method 'forward'"):
        Net()(ms.Tensor([1.0]))


def test_buffers_as_attributes_and_hooks_of_their_registration():
    from spore.common.parameter import _Buffer
    from spore.nn.cell import register_cell_buffer_registration_hook
    handle = register_cell_buffer_registration_hook(lambda cell, name, buffer: buffer * 2 if name == "doubled" else None)
    net = nn.Cell()
    net.kept = _Buffer(Tensor([1.0]))
    net.passing = _Buffer(Tensor([2.0]), persistent=False)
    net.register_buffer("doubled", Tensor([3.0]))
    handle.remove()
    net.register_buffer("plain", Tensor([4.0]))
    assert [(name, float(b.item())) for name, b in net.named_buffers()] == [("kept", 1), ("passing", 2), ("doubled", 6), ("plain", 4)]
    assert list(net.state_dict()) == ["kept", "doubled", "plain"]
    assert isinstance(net.kept, _Buffer) and not isinstance(Tensor([1.0]), _Buffer)
    with pytest.raises(TypeError, match="should be a string"):
        net.register_buffer(2, Tensor([1.0]))
    with pytest.raises(KeyError, match="contain"):
        net.register_buffer("a.b", Tensor([1.0]))
    with pytest.raises(AttributeError, match="has no attribute"):
        net.get_buffer("missing")


def test_any_keyword_is_an_argument_of_a_class():
    """Names of our own parameters are not taken from users' classes: a loss of a detector has a weight `cls`."""
    class Loss(nn.Cell):
        def __init__(self, box, cls, args=None, kwargs=None):
            super().__init__()
            self.weights = box, cls, args, kwargs

    class Shift(PyTensorOperation):
        def __init__(self, cls):
            self.by = cls

        def __call__(self, x):
            return x + self.by
    assert Loss(box=7.5, cls=0.5, kwargs=1).weights == (7.5, 0.5, None, 1)
    assert Shift(cls=2)(1) == 3
