# SPDX-License-Identifier: Apache-2.0
"""vmap over operators that write slices of Parameters: what comes out, and what the Parameters hold."""

_NET = """
class One(nn.Cell):
    def __init__(self):
        super().__init__()
        self.op = {op}
    def construct(self, {names}):
        return {call}
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.one = One()
        {params}
    def construct(self, {given}):
        return ms.vmap(self.one, in_axes={axes}, out_axes={out})({all})
net = Net()
first = net({values})
second = net({values})
answer = [first, second, {held}]
"""
_N = "np.arange({n}, dtype=np.float32).reshape({shape}) / 7 + 1"


def _array(shape):
    n = 1
    for size in shape:
        n *= size
    return "Tensor(" + _N.format(n=n, shape=shape) + ")"


def _question(op, call, params, given, axes, shapes, out=0, extra=None):
    """The program; params and given are names, axes and shapes (of whole batches) in that order."""
    extra = extra or {}
    names = params + given
    inits = "; ".join(f'self.{p} = Parameter({extra.get(p) or _array(shapes[i])}, name="{p}")' for i, p in enumerate(params))
    values = [extra.get(g) or _array(shapes[len(params) + i]) for i, g in enumerate(given)]
    return _NET.format(op=op, names=", ".join(names), call=call.replace("op(", "self.op("), params=inits, given=", ".join(given),
                       axes=tuple(axes), out=out, all=", ".join([f"self.{p}" for p in params] + given), values=", ".join(values),
                       held=", ".join(f"net.{p}" for p in params))


_ROWS = "Tensor(np.array([[0, 1], [1, 0], [2, 2]], np.int32))"
_POINTS = "Tensor(np.array([[[0], [1]], [[1], [0]], [[2], [2]]], np.int32))"


def vmaps():
    found = {}
    for name in ("Assign", "AssignAdd", "AssignSub"):
        for at, axes in {"00": (0, 0), "11": (1, 1), "-1": (-1, -1)}.items():
            found[f"{name}.{at}"] = _question(f"ops.{name}()", "op(p, x)", ["p"], ["x"], axes, [(3, 4), (3, 4)])
        found[f"{name}.0N"] = _question(f"ops.{name}()", "op(p, x)", ["p"], ["x"], (0, None), [(3, 4), (4,)])
        found[f"{name}.N0"] = _question(f"ops.{name}()", "op(p, x)", ["p"], ["x"], (None, 0), [(4,), (3, 4)])
        found[f"{name}.out"] = _question(f"ops.{name}()", "op(p, x)", ["p"], ["x"], (0, 0), [(3, 4), (3, 4)], 1)
    for name in ("Update", "Add", "Sub", "Mul", "Div", "Max", "Min"):
        found["Scatter" + name] = _question(f"ops.Scatter{name}()", "op(p, i, x)", ["p"], ["i", "x"], (0, 0, 0),
                                            [(3, 4), (3, 2), (3, 2)], 0, {"i": _ROWS})
        if name in ("Update", "Add"):
            found["ScatterNd" + name] = _question(f"ops.ScatterNd{name}()", "op(p, i, x)", ["p"], ["i", "x"], (0, 0, 0),
                                                  [(3, 4), (3, 2, 1), (3, 2)], 0, {"i": _POINTS})
    found["IndexAdd"] = _question("ops.IndexAdd(0)", "op(p, i, x)", ["p"], ["i", "x"], (0, None, 0),
                                  [(3, 4), (2,), (3, 2)], 0, {"i": "Tensor(np.array([0, 2], np.int32))"})
    s = [(3, 4)] * 8
    whole = {
        "ApplyMomentum": ("ops.ApplyMomentum()", "op(p, m, 0.1, g, 0.9)", ["p", "m"]),
        "ApplyGradientDescent": ("ops.ApplyGradientDescent()", "op(p, 0.1, g)", ["p"]),
        "ApplyProximalGradientDescent": ("ops.ApplyProximalGradientDescent()", "op(p, 0.1, 0.2, 0.3, g)", ["p"]),
        "ApplyAdagrad": ("ops.ApplyAdagrad()", "op(p, m, 0.1, g)", ["p", "m"]),
        "ApplyAdagradV2": ("ops.ApplyAdagradV2(1e-6)", "op(p, m, 0.1, g)", ["p", "m"]),
        "ApplyAdagradDA": ("ops.ApplyAdagradDA()", "op(p, m, v, g, 0.1, 0.01, 0.01, 2)", ["p", "m", "v"]),
        "ApplyProximalAdagrad": ("ops.ApplyProximalAdagrad()", "op(p, m, 0.1, 0.2, 0.3, g)", ["p", "m"]),
        "ApplyFtrl": ("ops.ApplyFtrl()", "op(p, m, v, g, 0.1, 0.2, 0.3, -0.5)", ["p", "m", "v"]),
        "ApplyAdadelta": ("ops.ApplyAdadelta()", "op(p, m, v, 0.1, 0.9, 1e-6, g)", ["p", "m", "v"]),
        "ApplyAdaMax": ("ops.ApplyAdaMax()", "op(p, m, v, 0.9, 0.1, 0.9, 0.99, 1e-6, g)", ["p", "m", "v"]),
        "ApplyAddSign": ("ops.ApplyAddSign()", "op(p, m, 0.1, 0.9, 0.2, 0.9, g)", ["p", "m"]),
        "ApplyPowerSign": ("ops.ApplyPowerSign()", "op(p, m, 0.1, 0.9, 0.2, 0.9, g)", ["p", "m"]),
        "ApplyAdamWithAmsgrad": ("ops.ApplyAdamWithAmsgrad()", "op(p, m, v, h, 0.9, 0.9, 0.1, g)", ["p", "m", "v", "h"]),
        "ApplyKerasMomentum": ("ops.ApplyKerasMomentum()", "op(p, m, 0.1, g, 0.9)", ["p", "m"]),
        "ApplyRMSProp": ("ops.ApplyRMSProp()", "op(p, m, v, 0.1, g, 0.9, 0.1, 1e-6)", ["p", "m", "v"]),
        "ApplyCenteredRMSProp": ("ops.ApplyCenteredRMSProp()", "op(p, h, m, v, g, 0.1, 0.9, 0.1, 10.0)", ["p", "h", "m", "v"]),
        "Adam": ("ops.Adam()", "op(p, m, v, 0.9, 0.99, 0.1, 0.9, 0.99, 1e-6, g)", ["p", "m", "v"]),
        "AdamNoUpdateParam": ("ops.AdamNoUpdateParam()", "op(m, v, 0.9, 0.99, 0.1, 0.9, 0.99, 1e-6, g)", ["m", "v"]),
        "SGD": ("ops.SGD()", "op(p, g, 0.1, m, 0.9, h)", ["p", "m", "h"]),
    }
    tensor = "Tensor({}, ms.float32)"
    for name, (op, call, params) in whole.items():
        n = len(params) + 1
        found[name] = _question(op, call, params, ["g"], (0,) * n, s[:n])
        if name in ("ApplyFtrl", "Adam", "ApplyMomentum", "SGD"):
            found[name + ".tensors"] = _question(op, _as_tensors(call, tensor), params, ["g"], (0,) * n, s[:n])
    return found


def _as_tensors(call, tensor):
    parts = call[3:-1].split(", ")
    return "op(" + ", ".join(tensor.format(p) if p[0] in "-0123456789" else p for p in parts) + ")"
