# SPDX-License-Identifier: Apache-2.0
"""Rows of ``make bench-peers`` in MindSpore's API: the same text runs on spore and on MindSpore.

    python bench/peer_spore.py spore|mindspore eager|graph
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peer_worker import serve

SPORE = sys.argv[1] == "spore"
GRAPH = sys.argv[2] == "graph"
if SPORE:
    import spore
    spore.as_mindspore()
import mindspore as ms
from mindspore import mint, nn, ops

if not SPORE:
    ms.set_device("CPU")
    ms.runtime.dispatch_threads_num(2)
rng = np.random.RandomState(0)


def compiled(fn):
    return ms.jit(fn) if GRAPH else fn


def call_of(fn, *args):
    """A call that has ended when it returns: MindSpore's are asynchronous."""
    run = compiled(fn)
    if SPORE:
        return lambda: run(*args)

    def waiting():
        run(*args)
        ms.runtime.synchronize()
    return waiting


def normal(*shape):
    return ms.Tensor(rng.standard_normal(shape).astype(np.float32))


def matmul(dtype, batch, m, k, n):
    lead = () if batch is None else (batch,)
    a, b = (normal(*lead, m, k).astype(getattr(ms, dtype)), normal(*lead, k, n).astype(getattr(ms, dtype)))
    return call_of(lambda x, y: ops.matmul(x, y), a, b)


def matmul_int8(n):
    a, b = (ms.Tensor(rng.randint(-128, 128, (n, n)).astype(np.int8)) for _ in range(2))
    return call_of(lambda x, y: ops.matmul(x, y), a, b)


def conv_operands(batch, inputs, size, outputs, kernel, stride, pad, groups):
    x, w = normal(batch, inputs, size, size), normal(outputs, inputs // groups, kernel, kernel)
    return x, w, {"stride": stride, "pad_mode": "pad", "padding": pad, "groups": groups}


def conv(*geometry):
    x, w, options = conv_operands(*geometry)
    return call_of(lambda a, b: ops.conv2d(a, b, **options), x, w)


def conv_gradient(geometry, by):
    """One gradient alone; the engine's operators are called by name, as a backward pass does."""
    if not SPORE:
        raise NotImplementedError("one gradient alone is not in the API")
    x, w, options = conv_operands(*geometry)
    stride, pad, groups = geometry[5], geometry[6], geometry[7]
    dout = ops.ones_like(ops.conv2d(x, w, **options))
    apply = spore._core.apply
    attrs = {"stride": (stride, stride), "pad_mode": "pad", "pad": (pad,) * 4, "group": groups}
    if by == "input":
        attrs["input_size"] = tuple(x.shape[2:])
        return lambda: apply("conv2d_input_grad", (dout, w), attrs)
    attrs["kernel_size"] = tuple(w.shape[2:])
    return lambda: apply("conv2d_weight_grad", (x, dout), attrs)


def gelu(n):
    x = normal(n)
    return call_of(lambda a: ops.gelu(a, approximate="none"), x)


def layer_norm(rows, width):
    norm, x = nn.LayerNorm((width,)), normal(rows, width)
    return call_of(norm, x)


def gather(rows, width, n):
    table, index = normal(rows, width), ms.Tensor(rng.randint(0, rows, n).astype(np.int64))
    return call_of(lambda t, i: ops.gather(t, i, 0), table, index)


def transpose(m, n):
    """The copy itself: a program would hand out a view, which copies nothing."""
    if GRAPH:
        raise NotImplementedError("the result of a program may be a view")
    x = normal(m, n)
    return call_of(lambda a: a.transpose(1, 0).contiguous(), x)


def chain(n):
    x, y = normal(n), normal(n)

    def eight(a, b):
        c = ops.tanh(a * b + a)
        d = ops.sigmoid(c - b) * c
        return ops.exp(-(d * d))
    run = ms.jit(eight)
    if SPORE:
        return lambda: run(x, y)
    return call_of(run, x, y)


def attend(q, k, v):
    scores = ops.softmax(ops.matmul(q, k.swapaxes(-1, -2)) * (q.shape[-1] ** -0.5), -1)
    return ops.matmul(scores, v)


def fused_attention():
    """MindSpore's fused attention has no kernel for the CPU; spore's has."""
    if not SPORE:
        return attend
    return lambda q, k, v: ops.flash_attention_score(q, k, v, q.shape[1], scalar_value=q.shape[-1] ** -0.5, input_layout="BNSD")


def attention(heads, length, size):
    q, k, v = (normal(1, heads, length, size) for _ in range(3))
    return call_of(fused_attention(), q, k, v)


def attention_grad(heads, length, size):
    q, k, v = (normal(1, heads, length, size) for _ in range(3))
    fn = fused_attention()
    gradient = ms.grad(lambda a, b, c: fn(a, b, c).sum(), (0, 1, 2))
    return call_of(gradient, q, k, v)


def train(name):
    import models
    ms.set_seed(1)
    step, (x, y), _ = models.make_step(name, GRAPH)

    def one():
        step(x, y).asnumpy()
    return one


def infer(name, batch):
    import inference
    ms.set_seed(1)
    net, x = inference.make(name, batch)
    run = ms.jit(net) if GRAPH else net

    def one():
        run(x).asnumpy()
    return one


def op(name, dtype, size, grad):
    """An operator of operators.py."""
    import operators
    code, by, found, names = operators.operands(name, dtype, size)
    names |= {k: ms.Tensor(v).astype(getattr(ms, dtype)) if kind == "x" else ms.Tensor(v) for k, (kind, v) in found.items()}
    names |= {"m": mint, "f": mint.nn.functional, "half": ms.float16, "brain": ms.bfloat16, "single": ms.float32, "whole": ms.int32, "truth": ms.bool_}
    fn = eval(f"lambda {', '.join(by)}: {code}", names)  # pylint: disable=eval-used
    args = [names[b] for b in by]
    if not grad:
        return lambda: fn(*args)
    dout = ops.ones_like(fn(*args))
    return lambda: ops.GradOperation(get_all=True, sens_param=True)(fn)(*args, dout)


serve({
    "op": op,
    "matmul": matmul, "matmul_int8": matmul_int8,
    "conv": conv, "conv_input": lambda *g: conv_gradient(g, "input"), "conv_weight": lambda *g: conv_gradient(g, "weight"),
    "softmax": lambda m, n: call_of(lambda a: ops.softmax(a, -1), normal(m, n)),
    "layer_norm": layer_norm, "gelu": gelu,
    "tanh": lambda n: call_of(ops.tanh, normal(n)),
    "sum": lambda m, n, axis: call_of(lambda a: ops.sum(a, axis), normal(m, n)),
    "gather": gather, "transpose": transpose,
    "cumsum": lambda n: call_of(lambda a: ops.cumsum(a, 0), normal(n)),
    "topk": lambda n, k: call_of(lambda a: ops.topk(a, k), normal(n)),
    "sort": lambda n: call_of(lambda a: ops.sort(a), normal(n)),
    "chain": chain, "attention": attention, "attention_grad": attention_grad, "train": train, "infer": infer,
})
