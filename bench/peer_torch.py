# SPDX-License-Identifier: Apache-2.0
"""Rows of ``make bench-peers`` with torch: ``python bench/peer_torch.py eager|compile``."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peer_worker import THREADS, serve

import torch
from torch.nn import functional as F

COMPILE = sys.argv[1] == "compile"
torch.set_num_threads(THREADS)
torch.manual_seed(0)


def call_of(fn, *args):
    run = torch.compile(fn) if COMPILE else fn

    def call():
        with torch.no_grad():
            return run(*args)
    return call


def only_eager():
    if COMPILE:
        raise NotImplementedError("the same library call as eager mode")


def matmul(dtype, batch, m, k, n):
    only_eager()
    lead = () if batch is None else (batch,)
    a, b = (torch.randn(*lead, *shape).to(getattr(torch, dtype)) for shape in ((m, k), (k, n)))
    return call_of(torch.matmul, a, b)


def matmul_int8(n):
    only_eager()
    a, b = (torch.randint(-128, 128, (n, n), dtype=torch.int8) for _ in range(2))
    return call_of(torch._int_mm, a, b)


def conv_operands(batch, inputs, size, outputs, kernel, stride, pad, groups):
    only_eager()
    return torch.randn(batch, inputs, size, size), torch.randn(outputs, inputs // groups, kernel, kernel), stride, pad, groups


def conv(*geometry):
    x, w, stride, pad, groups = conv_operands(*geometry)
    return call_of(lambda: F.conv2d(x, w, None, stride, pad, 1, groups))


def conv_gradient(geometry, which):
    x, w, stride, pad, groups = conv_operands(*geometry)
    dout = torch.ones_like(F.conv2d(x, w, None, stride, pad, 1, groups))
    mask = [which == 0, which == 1, False]
    return call_of(lambda: torch.ops.aten.convolution_backward(dout, x, w, None, [stride] * 2, [pad] * 2, [1, 1], False, [0, 0],
                                                               groups, mask))


def layer_norm(rows, width):
    weight, bias = torch.ones(width), torch.zeros(width)
    return call_of(lambda x: F.layer_norm(x, (width,), weight, bias), torch.randn(rows, width))


def gather(rows, width, n):
    table, index = torch.randn(rows, width), torch.randint(0, rows, (n,))
    return call_of(lambda: F.embedding(index, table))


def chain(n):
    x, y = torch.randn(n), torch.randn(n)

    def eight(a, b):
        c = torch.tanh(a * b + a)
        d = torch.sigmoid(c - b) * c
        return torch.exp(-(d * d))
    return call_of(eight, x, y)


def attention(heads, length, size):
    q, k, v = (torch.randn(1, heads, length, size) for _ in range(3))
    return call_of(F.scaled_dot_product_attention, q, k, v)


def attention_grad(heads, length, size):
    leaves = [torch.randn(1, heads, length, size, requires_grad=True) for _ in range(3)]
    fn = torch.compile(F.scaled_dot_product_attention) if COMPILE else F.scaled_dot_product_attention

    def call():
        return torch.autograd.grad(fn(*leaves).sum(), leaves)
    return call


def train(name):
    import models_torch
    torch.manual_seed(1)
    step, _ = models_torch.make_step(name, COMPILE)
    return lambda: step().item()


def infer(name, batch):
    import inference_torch
    net, x = inference_torch.make(name, batch)
    return call_of(net, x)


def op(name, dtype, size, grad):
    """An operator of operators.py."""
    import operators
    only_eager()
    code, by, found, names = operators.operands(name, dtype, size)
    names |= {k: torch.from_numpy(v).to(getattr(torch, dtype)) if kind == "x" else torch.from_numpy(v) for k, (kind, v) in found.items()}
    names |= {"m": torch, "f": F, "half": torch.float16, "brain": torch.bfloat16, "single": torch.float32, "whole": torch.int32, "truth": torch.bool}
    fn = eval(f"lambda {', '.join(by)}: {code}", names)  # pylint: disable=eval-used
    args = [names[b] for b in by]
    if not grad:
        return call_of(fn, *args)
    args = [a.requires_grad_() for a in args]
    dout = torch.ones_like(fn(*args))
    return lambda: torch.autograd.grad(fn(*args), args, dout)


serve({
    "op": op,
    "matmul": matmul, "matmul_int8": matmul_int8,
    "conv": conv, "conv_input": lambda *g: conv_gradient(g, 0), "conv_weight": lambda *g: conv_gradient(g, 1),
    "softmax": lambda m, n: call_of(lambda x: torch.softmax(x, -1), torch.randn(m, n)),
    "layer_norm": layer_norm,
    "gelu": lambda n: call_of(F.gelu, torch.randn(n)),
    "tanh": lambda n: call_of(torch.tanh, torch.randn(n)),
    "sum": lambda m, n, axis: call_of(lambda x: x.sum(axis), torch.randn(m, n)),
    "gather": gather,
    "transpose": lambda m, n: call_of(lambda x: x.t().contiguous(), torch.randn(m, n)),
    "cumsum": lambda n: call_of(lambda x: x.cumsum(0), torch.randn(n)),
    "topk": lambda n, k: call_of(lambda x: x.topk(k), torch.randn(n)),
    "sort": lambda n: call_of(lambda x: x.sort(), torch.randn(n)),
    "chain": chain, "attention": attention, "attention_grad": attention_grad, "train": train, "infer": infer,
})
