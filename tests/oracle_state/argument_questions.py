# SPDX-License-Identifier: Apache-2.0
"""Parameters that are arguments of compiled functions, and Tensors held by Cells, that are written; writes in conditions under vmap; gradients of what has a
size that only the run tells."""

_FUNCTIONS = {
    "assign": "return ops.assign(p, x) * 1",
    "assign read": "ops.assign(p, x); return p * x",
    "add": "return ops.assign_add(p, x) * 2",
    "add read": "ops.assign_add(p, x); return p * 2",
    "add before": "y = p * x; ops.assign_add(p, x); return y + p",
    "sub": "return ops.assign_sub(p, x) * 2",
    "sub read": "ops.assign_sub(p, x); return p * x",
    "augmented": "p += x; return p * x",
    "set": "p[0] = x[1]; return p * x",
    "update": "return ops.ScatterUpdate()(p, index, x) * x",
    "update read": "ops.ScatterUpdate()(p, index, x); return p * x",
    "none": "return p * x",
}
_ARGUMENT = """
p = Parameter(t(1, 1), name="p")
x = t(1, 2)
index = Tensor(np.array([1, 0], np.int32))
{jit}
def f(p, x):
    {body}
{around}
answer = []
for i in range(2):
    answer.append([{call}, p.copy()])
"""
_CALLS = {"run": "f(p, x)", "p": "ms.grad(f, 0)(p, x)", "x": "ms.grad(f, 1)(p, x)", "both": "ms.grad(f, (0, 1))(p, x)", "weights": "ms.grad(f, 1, [p])(p, x)"}

_HELD = {
    "add_": "self.b.add_(x); return self.b + 0",
    "alias": "y = self.b; y.add_(x); return self.b * y",
    "constant": "self.b.add_(self.c); return self.b + x",
    "before": "y = self.b * 2; self.b.add_(x); return y + self.b",
    "mul_": "self.b.mul_(x); return self.b + 0",
    "copy_": "self.b.copy_(x); return self.b + 0",
    "item": "self.b[0] = x[1]; return self.b + 0",
    "list": "self.l[0].add_(x); return self.l[0] + self.b",
    "set": "self.b = self.b + x; return self.b * 1",
    "augmented": "self.b += x; return self.b * 1",
    "local": "y = self.b; y += x; return y + self.b",
    "assign": "ops.assign(self.b, x); return self.b + 0",
    "assign_add": "ops.assign_add(self.b, x); return self.b + 0",
    "zero_": "self.b.zero_(); return self.b + x",
    "fill_": "self.b.fill_(3.0); return self.b + x",
}
_CELL = """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.b, self.c = t(1, 1), t(2, 3)
        self.l = [self.b, self.c]
    def construct(self, x):
        {body}
net = Net()
x = t(1, 2)
answer = []
for i in range(3):
    answer.append([{call}, net.b.copy(), net.c.copy()])
"""

_SLICES = {
    "if": "if ops.sum(x) > 4:\n        ops.assign_add(p, x)\n    return p * 1",
    "if result": "y = p * 2\n    if ops.sum(x) > 4:\n        y = ops.assign_add(p, x)\n    return y * 1",
    "else": "if ops.sum(x) > 4:\n        ops.assign_add(p, x)\n    else:\n        ops.assign(p, x)\n    return p + x",
    "while": "while ops.sum(p) < 10:\n        ops.assign_add(p, x)\n    return p * 1",
    "plain": "ops.assign_add(p, x)\n    return p * 1",
    "shared": "ops.assign_add(q, k)\n    if ops.sum(x) > 4:\n        ops.assign_add(p, x)\n    return p + q",
}
_VMAP = """
p = Parameter(Tensor(np.arange(6, dtype=np.float32).reshape(3, 2)), name="p")
q = Parameter(t(1, 2), name="q")
k = t(1, 1)
x = Tensor(np.array([[1, 2], [3, 4], [0.5, 6]], np.float32))
def one(p, x):
    {body}
over = ms.vmap(one)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p, self.q = p, q
    def construct(self, x):
        return over(self.p, x)
net = Net()
answer = []
for i in range(2):
    answer.append([net(x), p.copy(), q.copy()])
"""

_SELECTED = {
    "masked_select": "ops.masked_select(x, m) * 2", "masked square": "ops.masked_select(x, m) ** 2", "tensor": "x.masked_select(m) * x.sum()",
    "mint": "ms.mint.masked_select(x, m) * 3", "index": "x[m] * 2", "index sum": "(x[m] ** 2).sum()", "nonzero": "ops.gather(x, ops.nonzero(m)[:, 0], 0) * 2",
    "unique": "ops.unique(x)[0] * 2", "scalar": "ops.masked_select(x, m).sum() * x",
}
_SIZED = """
x, m = t(1, 2, 3), Tensor(np.array([True, False, True]))
def f(x, m):
    return {body}
{around}
answer = [{call} for i in range(2)]
"""
_AUGMENTED = {"+": "t(3, 4)", "-": "t(3, 4)", "*": "t(3, 4)", "/": "t(3, 4)", "//": "t(3, 4)", "%": "t(3, 4)", "**": "t(3, 4)", "+ number": "2", "- number": "2.5", "* number": "3",
              "+ whole": "Tensor(np.array([3, 4], np.int32))", "+ half": "Tensor(np.array([3, 4], np.float16))", "+ double": "Tensor(np.array([3, 4], np.float64))",
              "+ one": "t(3)", "+ wider": "Tensor(np.array([[3, 4], [5, 6]], np.float32))"}
_CHANGED = """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.b, self.p, self.y = t(1, 2), Parameter(t(1, 2), name="p"), {other}
    def construct(self, x):
        {body}
net = Net()
answer = []
for i in range(2):
    x = {x}
    answer.append([net(x), x.copy(), net.b.copy(), net.p.copy()])
"""
_PLACES = {"argument": "x {op}= self.y; return x + 0", "argument alias": "z = x; z {op}= self.y; return x + z", "temporary": "z = x * 1; u = z; z {op}= self.y; return u + z",
           "buffer": "z = self.b; z {op}= self.y; return z + self.b", "attribute": "self.b {op}= self.y; return self.b + 0", "parameter": "self.p {op}= self.y; return self.p + 0",
           "parameter alias": "z = self.p; z {op}= self.y; return self.p + z", "condition": "z = x\n        if x.sum() > 0:\n            z {op}= self.y\n        return x + z",
           "loop": "z = x\n        while z.sum() < 5:\n            z {op}= self.y\n        return x + z"}
_INSIDE = "@ms.jit\ndef g(x, m):\n    return ms.grad(f)(x, m)"
_CELL_INSIDE = "class Outer(nn.Cell):\n    def construct(self, x, m):\n        return ms.grad(f)(x, m)\ng = Outer()"


def arguments():
    questions = {}
    for name, body in _FUNCTIONS.items():
        for end, call in _CALLS.items():
            questions[f"argument {name}.plain.{end}"] = _ARGUMENT.format(jit="", body=body, around="", call=call)
            questions[f"argument {name}.jit.{end}"] = _ARGUMENT.format(jit="@ms.jit", body=body, around="", call=call)
            around = f"@ms.jit\ndef g(p, x):\n    return {call}"
            questions[f"argument {name}.inside.{end}"] = _ARGUMENT.format(jit="", body=body, around=around, call="g(p, x)")
    for name, body in _HELD.items():
        for end, call in (("run", "net(x)"), ("x", "ms.grad(net)(x)")):
            questions[f"held {name}.{end}"] = _CELL.format(body=body, call=call)
    for name, body in _SLICES.items():
        questions[f"slices {name}.run"] = _VMAP.format(body=body)
    for op, other in _AUGMENTED.items():
        for place, body in _PLACES.items():
            if op in "+-*" and (op, place) != ("-", "loop") or place not in ("condition", "loop", "temporary", "argument alias"):
                filled = _CHANGED.format(other=other, body=body.format(op=op.partition(" ")[0]), x="t(1, 2)")
                questions[f"augmented {op}.{place}"] = filled
    for name, body in _SELECTED.items():
        questions[f"selected {name}.run"] = _SIZED.format(body=body, around="g = ms.jit(f)", call="g(x, m)")
        questions[f"selected {name}.plain"] = _SIZED.format(body=body, around="", call="ms.grad(f)(x, m)")
        questions[f"selected {name}.jit"] = _SIZED.format(body=body, around="f = ms.jit(f)", call="ms.grad(f)(x, m)")
        questions[f"selected {name}.inside"] = _SIZED.format(body=body, around=_INSIDE, call="g(x, m)")
        questions[f"selected {name}.cell"] = _SIZED.format(body=body, around=_CELL_INSIDE, call="g(x, m)")
    return questions
