# SPDX-License-Identifier: Apache-2.0
"""Gradients through operators that write a Parameter."""

_NET = """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p = Parameter({start}, name="p")
        self.op = {op}
        self.index = {index}
    def construct(self, x):
        {body}
net = Net()
x = {x}
"""
_BODIES = {
    "result": "return {call}",
    "param": "{call}; return self.p * {x}",
    "both": "y = {call}; return y * self.p",
    "before": "y = self.p * 2; {call}; return y + self.p",
    "twice": "{call}; z = {call}; return z * z",
}
_ENDS = {
    "x": "answer = ms.grad(net)(x), net.p",
    "p": "answer = ms.grad(net, None, list(net.get_parameters()))(x)[0], net.p",
    "run": "answer = net(x), net(x), net.p",
    "train": "g = ms.value_and_grad(net, 0, list(net.get_parameters())); answer = g(x), g(x), net.p",
}
_FLAT = "Tensor(np.array([0, 2], np.int32))"
_ND = "Tensor(np.array([[0], [2]], np.int32))"


def _operators():
    """{name: (operator, index, call, x)}"""
    found = {}
    for name in ("Assign", "AssignAdd", "AssignSub"):
        found[name] = f"ops.{name}()", "None", "self.op(self.p, x)", "t(4, 5, 6)"
    for name in ("assign", "assign_add", "assign_sub"):
        found[name] = "None", "None", f"ops.{name}(self.p, x)", "t(4, 5, 6)"
    found["IndexAdd"] = "ops.IndexAdd(0)", _FLAT, "self.op(self.p, self.index, x)", "t(4, 5)"
    for name in ("Update", "Add", "Sub", "Mul", "Div", "Max", "Min"):
        found["Scatter" + name] = f"ops.Scatter{name}()", _FLAT, "self.op(self.p, self.index, x)", "t(4, 5)"
        found["ScatterNd" + name] = f"ops.ScatterNd{name}()", _ND, "self.op(self.p, self.index, x)", "t(4, 5)"
    for name in ("InplaceUpdate", "InplaceAdd", "InplaceSub"):
        found[name] = f"ops.{name}((0, 2))", "None", "self.op(self.p, x)", "t(4, 5)"
    for name in ("add_", "sub_"):
        found["Tensor." + name] = "None", "None", f"self.p.{name}(x)", "t(4, 5, 6)"
    return found


def writes():
    questions = {}
    for name, (op, index, call, x) in _operators().items():
        small = x == "t(4, 5)"
        for body, text in _BODIES.items():
            filled = _NET.format(start="t(1, 2, 3)", op=op, index=index, x=x,
                                 body=text.format(call=call, x="ops.sum(x)" if small else "x"))
            for end, last in _ENDS.items():
                if name.startswith("ScatterNd") and body in ("before", "twice"):     # as for Scatter
                    continue
                questions[f"{name}.{body}.{end}"] = filled + last + "\n"
    return questions
