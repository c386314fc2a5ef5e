# SPDX-License-Identifier: Apache-2.0
"""The code of a network changed by mindspore.rewrite: a layer inserted, one erased, a pattern replaced, and the results trained."""
import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.rewrite import Node, PatternEngine, Replacement, ScopedValue, SymbolTree


class Head(nn.Cell):
    def __init__(self):
        super().__init__()
        self.act = nn.LeakyReLU()
        self.out = nn.Dense(6, 3)

    def construct(self, x):
        x = self.act(x)
        x = self.out(x)
        return x


class Net(nn.Cell):
    def __init__(self, residual):
        super().__init__()
        self.fc1 = nn.Dense(4, 6)
        self.fc2 = nn.Dense(6, 6)
        self.relu = nn.ReLU()
        self.head = Head()
        self.residual = residual

    def construct(self, x):
        x = self.fc1(x)
        x = self.relu(x)
        y = self.fc2(x)
        y = self.relu(y)
        if self.residual:
            y = y + x * 0.5
        return self.head(y)


class ToTanh(Replacement):
    def build(self, pattern, is_chain_pattern, matched):
        old = matched.get(pattern.name())
        return [Node.create_call_cell(nn.Tanh(), old.get_targets(), old.get_args(), old.get_kwargs(), name="tanh")]


def fresh():
    net, random = Net(True), np.random.RandomState(1)
    for parameter in net.get_parameters():
        parameter.set_data(Tensor(0.5 * random.randn(*parameter.shape).astype(np.float32)))
    return SymbolTree.create(net)


def construct_of(tree):
    code = tree.get_code()
    lines = code[code.rindex("def construct(self, x):"):].splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def train(net):
    random = np.random.RandomState(0)
    x, y = Tensor(random.randn(8, 4).astype(np.float32)), Tensor(random.randint(0, 3, 8), ms.int32)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    for _ in range(4):
        print(f"loss {float(step(x, y).asnumpy()):.4f}")


def main():
    tree = fresh()
    for node in tree.nodes():
        print(node.get_name(), node.get_node_type(), [str(t) for t in node.get_targets()], [str(a) for a in node.get_args()])
    print([user.get_name() for user in tree.get_node("fc2").get_users()])
    train(tree.get_network())

    tree = fresh()
    new = Node.create_call_cell(nn.Sigmoid(), targets=["x"], args=[ScopedValue.create_naming_value("x")], name="gate")
    tree.insert(tree.after(tree.get_node("relu")), new)
    tree.insert(tree.before("relu_1"), Node.create_call_cell(nn.GELU(), ["y"], [ScopedValue.create_naming_value("y")], name="gelu"))
    print(construct_of(tree))
    train(tree.get_network())

    tree = fresh()
    tree.erase("relu_1")
    tree.flatten_static_if_control_flow()
    print(construct_of(tree))
    train(tree.get_network())

    tree = fresh()
    print(PatternEngine([nn.ReLU], ToTanh()).apply(tree), construct_of(tree))
    inner = tree.get_node("head").get_sub_tree()
    inner.insert(inner.after("act"), Node.create_call_function(ops.abs, ["x"], [ScopedValue.create_naming_value("x")]))
    train(tree.get_network())


main()
