# SPDX-License-Identifier: Apache-2.0
"""spore.rewrite: code of Cells as nodes, changed, and run. Codes and numbers are those of MindSpore 2.10."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops
from spore.rewrite import Node, NodeType, PatternEngine, Replacement, ScopedValue, SymbolTree, ValueType, VarNode, PatternNode


class Sub(nn.Cell):
    def __init__(self):
        super().__init__()
        self.act = nn.LeakyReLU()

    def construct(self, x):
        x = self.act(x)
        return x


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(4, 4)
        self.fc2 = nn.Dense(4, 4)
        self.relu = nn.ReLU()
        self.sub = Sub()
        self.seq = nn.SequentialCell(nn.Dense(4, 4), nn.ELU())
        self.flag = True

    def construct(self, x):
        x = self.fc1(x)
        x = self.relu(x)
        x = self.fc2(x)
        x = self.relu(x)
        x = self.sub(x)
        if self.flag:
            x = x + 1
        else:
            x = x - 1
        x = self.seq(x)
        return x


def helper(x, k):
    return x * k


class Nested(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.add = ops.Add()
        self.w = 3

    def construct(self, x, y=None):
        x = self.conv(x)
        z = self.add(x, ops.relu(x)) + x * 2
        z = helper(z, self.w)
        a, b = ops.split(z, 1, axis=1)
        c = [a, b]
        d = c[0] + self.inner(b)
        if y is not None and y.ndim > 0:
            d = d + y
        for _ in range(2):
            d *= 1.5
        total = sum(t.size for t in c)
        return d / total, x

    def inner(self, t):
        return ops.tanh(t)


X = Tensor(np.random.RandomState(0).randn(2, 4).astype(np.float32))


def fresh():
    net, r = Net(), np.random.RandomState(1)
    for p in net.get_parameters():
        p.set_data(Tensor(r.randn(*p.shape).astype(np.float32)))
    return net, SymbolTree.create(net)


def result(tree):
    return round(float(tree.get_network()(X).asnumpy().sum()), 3)


def code(tree):
    lines = [line.strip() for line in tree.get_code().splitlines()]
    return lines[len(lines) - lines[::-1].index('def construct(self, x):'):]


def test_nodes_of_nested_code():
    tree = SymbolTree.create(Nested())
    assert [(node.get_name(), node.get_node_type().name) for node in tree.nodes()] == [
        ("input_x", "Input"), ("input_y", "Input"), ("conv", "CallCell"), ("binop_mult", "MathOps"), ("relu", "CallFunction"),
        ("add", "CallPrimitive"), ("binop_add", "MathOps"), ("helper", "CallFunction"), ("split", "CallFunction"),
        ("list", "CallMethod"), ("inner", "CallFunction"), ("subscript_var", "CallMethod"), ("binop_add_1", "MathOps"),
        ("compare_isnot", "MathOps"), ("boolop_and", "MathOps"), ("if_node", "ControlFlow"), ("range", "CallFunction"),
        ("for_node", "ControlFlow"), ("sum", "CallFunction"), ("binop_div", "MathOps"), ("tuple", "CallMethod"), ("return", "Output")]
    conv = tree.get_node("conv")
    assert conv.get_instance_type() is nn.Conv2d and conv.get_attribute("kernel_size") == (3, 3)
    assert [str(arg) for arg in conv.get_args()] == ["x"] and [n.get_name() for n in conv.get_inputs()] == ["input_x"]
    assert [n.get_name() for n in conv.get_users()] == ["binop_mult", "relu", "add", "tuple"]
    split = tree.get_node("split")
    assert [str(t) for t in split.get_targets()] == ["a", "b"] and str(split.get_kwargs()["axis"]) == "1"


def test_flattened_code_computes_the_same():
    net = Nested()
    x = Tensor(np.random.RandomState(2).rand(1, 1, 4, 4).astype(np.float32))
    new = SymbolTree.create(net).get_network()
    assert type(new).__name__ == "NestedOpt" and isinstance(new, Nested)
    for args in ((x,), (x, x)):
        for got, wanted in zip(new(*args), net(*args)):
            assert np.array_equal(got.asnumpy(), wanted.asnumpy())


def test_insert():
    net, tree = fresh()
    node = tree.get_node("fc1")
    new = Node.create_call_cell(nn.Tanh(), targets=["x"], args=[ScopedValue.create_naming_value("x")], name="new_tanh")
    assert tree.insert(tree.after(node), new) is new
    assert code(tree)[:3] == ["x = self.fc1(x)", "x = self.new_tanh(x)", "x = self.relu(x)"]
    assert abs(result(tree) - 9.588) < 1e-3 and not hasattr(net, "new_tanh")
    assert [n.get_name() for n in node.get_users()] == ["new_tanh"] and [n.get_name() for n in new.get_users()] == ["relu"]


def test_insert_a_function():
    _, tree = fresh()
    new = Node.create_call_function(ops.abs, targets=["x"], args=[ScopedValue.create_naming_value("x")])
    tree.insert(tree.before("relu_1"), new)
    assert new.get_node_type() == NodeType.CallFunction and [n.get_name() for n in new.get_inputs()] == ["fc2"]
    assert result(tree) == 31.497


def test_erase():
    _, tree = fresh()
    tree.erase("relu")
    tree.erase(tree.get_node("relu_1"))
    assert code(tree)[:3] == ["x = self.fc1(x)", "x = self.fc2(x)", "x = self.sub(x)"] and result(tree) == 13.817


def test_replace_by_two():
    _, tree = fresh()
    old = tree.get_node("relu")
    last = tree.replace(old, [Node.create_call_cell(nn.Sigmoid(), ["y1"], old.get_args(), name="s1"),
                              Node.create_call_cell(nn.Tanh(), ["x"], [ScopedValue.create_naming_value("y1")], name="t1")])
    assert last.get_name() == "t1" and code(tree)[1:3] == ["y1 = self.s1(x)", "x = self.t1(y1)"] and abs(result(tree) - 7.4735) < 1e-3


def test_replace_by_a_node_of_another_target():
    _, tree = fresh()
    old = tree.get_node("relu")
    tree.replace(old, [Node.create_call_cell(nn.Tanh(), ["z"], old.get_args(), name="t1")])
    assert code(tree)[1:3] == ["z = self.t1(x)", "x = self.fc2(z)"]


class ToGelu(Replacement):
    def build(self, pattern, is_chain_pattern, matched):
        old = matched.get(pattern.name())
        return [Node.create_call_cell(nn.GELU(), ["x"], old.get_args(), old.get_kwargs())]


class Fuse(Replacement):
    def build(self, pattern, is_chain_pattern, matched):
        last, first = matched.get(pattern.name()), matched.get(pattern.get_inputs()[0].name())
        return [Node.create_call_cell(nn.SequentialCell(first.get_instance(), nn.Tanh()), last.get_targets(), first.get_args(),
                                      name="fused")]


def test_pattern_of_one_class():
    _, tree = fresh()
    assert PatternEngine([nn.ReLU], ToGelu()).apply(tree)
    assert code(tree)[:4] == ["x = self.fc1(x)", "x = self.GELU(x)", "x = self.fc2(x)", "x = self.GELU_1(x)"]
    assert result(tree) == 9.524
    assert not PatternEngine([nn.ReLU], ToGelu()).apply(tree)


def test_pattern_of_a_chain():
    _, tree = fresh()
    assert PatternEngine([nn.Dense, nn.ReLU], Fuse()).apply(tree)
    assert code(tree)[:3] == ["x = self.fused(x)", "x = self.fused_1(x)", "x = self.sub(x)"] and result(tree) == 9.832


def test_pattern_with_a_placeholder():
    _, tree = fresh()
    assert PatternEngine(PatternNode("relu", nn.ReLU, [VarNode()]), ToGelu()).apply(tree)
    assert "x = self.GELU(x)" in code(tree)


def test_arguments_are_changed():
    _, tree = fresh()
    node = tree.get_node("fc2")
    node.set_arg_by_node(0, tree.get_node("fc1"))
    assert str(node.get_args()) == "[x]"
    node.set_arg(0, "y")
    assert node.get_args() == [ScopedValue.create_naming_value("y")]
    with pytest.raises(ValueError, match="has 1 arguments"):
        node.set_arg(1, "x")


def test_who_gives_and_who_takes():
    _, tree = fresh()
    fc1, relu = tree.get_node("fc1"), tree.get_node("relu")
    assert relu.get_arg_providers() == {0: (fc1, 0)} and fc1.get_target_users() == {0: [(relu, 0)]}
    assert fc1.get_target_users(0) == [(relu, 0)] and tree.get_node("input_x").get_arg_providers() == {}
    fc1.set_attribute("note", 3)
    assert fc1.get_attribute("note") == 3 and fc1.get_attribute("in_channels") == 4


def test_code_of_a_cell_inside():
    _, tree = fresh()
    node = tree.get_node("sub")
    assert node.get_node_type() == NodeType.Tree
    inner = node.get_sub_tree()
    inner.insert(inner.after("act"), Node.create_call_cell(nn.Sigmoid(), ["x"], ["x"], name="sg"))
    assert result(tree) == 9.997


def test_cells_of_a_container():
    net, tree = fresh()
    node = next(node for node in tree.nodes(True) if node.get_instance_type() is nn.ELU)
    tree.replace(node, [Node.create_call_cell(nn.Tanh(), ["x"], node.get_args())])
    assert result(tree) == 2.42 and isinstance(net.seq[1], nn.ELU)


def test_branches_that_attributes_decide():
    _, tree = fresh()
    tree.flatten_static_if_control_flow()
    assert "if self.flag:" not in code(tree) and "x = x + 1" in code(tree) and result(tree) == 9.253


def test_the_new_network_runs_in_graph_mode():
    _, tree = fresh()
    tree.erase("relu")
    assert round(float(ms.jit(tree.get_network())(X).asnumpy().sum()), 3) == 15.782


def test_the_saved_code_is_a_program(tmp_path):
    _, tree = fresh()
    tree.set_saved_file_name(str(tmp_path / "net"))
    tree.save_network_to_file()
    compile((tmp_path / "net.py").read_text(), "net.py", "exec")


def test_wrong_arguments():
    _, tree = fresh()
    with pytest.raises(TypeError, match="must be a Cell"):
        SymbolTree.create(3)
    with pytest.raises(TypeError, match="a Node or the name of one"):
        tree.erase("nobody")
    gone = tree.erase("relu")
    with pytest.raises(ValueError, match="stands in no tree"):
        tree.before(gone)
    assert ScopedValue.create_variable_value([1, "a"]).type == ValueType.ListValue
