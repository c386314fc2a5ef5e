# SPDX-License-Identifier: Apache-2.0
"""Strategies drawn for many operators: results and gradients of the compiled, split function against the same operator computed whole in eager
mode by the same process. Arguments: how many strategies, the seed. Rank 0 prints what was tried.

The table says which axes go together (letters) and which may not be split ("!" and letters), after MindSpore's list of operators that can be
split; it does not look at the rules of the engine."""
import json
import sys

import numpy as np

import spore as ms
from spore import Tensor, communication as comm, ops

comm.init()
rank, size = comm.get_rank(), comm.get_group_size()
SIZES = dict(a=4, b=8, c=12, d=4, e=8, f=5, i=8, k=4, n=4, o=8, h=6, w=6, x=3, y=3)
made = np.random.RandomState(11)


def ints(most):
    return lambda shape: made.randint(0, most, shape).astype(np.int32)


def positive(shape):
    return (made.rand(*shape) + 0.5).astype(np.float32)


CASES = {
    "MatMul": (ops.MatMul(), "ab,bc"),
    "MatMul transpose_a": (ops.MatMul(transpose_a=True), "ba,bc"),
    "MatMul transpose_b": (ops.MatMul(transpose_b=True), "ab,cb"),
    "BatchMatMul": (ops.BatchMatMul(), "dab,dbc"),
    "BatchMatMul transpose_b": (ops.BatchMatMul(transpose_b=True), "deab,decb"),
    "Add": (ops.Add(), "abc,abc"),
    "Add broadcast": (ops.Add(), "abc,c"),
    "Sub": (ops.Sub(), "abc,bc"),
    "Mul": (ops.Mul(), "ab,ab"),
    "Div": (ops.Div(), "ab,ab", None, positive),
    "RealDiv": (ops.RealDiv(), "ab,b", None, positive),
    "Maximum": (ops.Maximum(), "ab,ab"),
    "Minimum": (ops.Minimum(), "ab,ab"),
    "Pow": (ops.Pow(), "ab,ab", None, positive),
    "SquaredDifference": (ops.SquaredDifference(), "abc,abc"),
    "BiasAdd": (ops.BiasAdd(), "ab,b"),
    "ReLU": (ops.ReLU(), "abc"),
    "GeLU": (ops.GeLU(), "abc"),
    "Sigmoid": (ops.Sigmoid(), "ab"),
    "Tanh": (ops.Tanh(), "ab"),
    "Exp": (ops.Exp(), "ab"),
    "Log": (ops.Log(), "ab", None, positive),
    "Sqrt": (ops.Sqrt(), "ab", None, positive),
    "Rsqrt": (ops.Rsqrt(), "ab", None, positive),
    "Neg": (ops.Neg(), "abc"),
    "Square": (ops.Square(), "abc"),
    "Abs": (ops.Abs(), "abc"),
    "Erf": (ops.Erf(), "ab"),
    "Softmax": (ops.Softmax(-1), "abc!c"),
    "Softmax axis 1": (ops.Softmax(1), "abc!b"),
    "LogSoftmax": (ops.LogSoftmax(-1), "abc!c"),
    "ReduceSum": (lambda: ops.ReduceSum(), "abc", lambda op, x: op(x, 1)),
    "ReduceSum keep": (lambda: ops.ReduceSum(True), "abc", lambda op, x: op(x, (0, 2))),
    "ReduceMean": (lambda: ops.ReduceMean(), "abc", lambda op, x: op(x, -1)),
    "ReduceMax": (lambda: ops.ReduceMax(), "abc", lambda op, x: op(x, 0)),
    "ReduceMin": (lambda: ops.ReduceMin(), "abc", lambda op, x: op(x, 1)),
    "ReduceProd": (lambda: ops.ReduceProd(), "ab", lambda op, x: op(x, 1), positive),
    "Transpose": (lambda: ops.Transpose(), "abc", lambda op, x: op(x, (2, 0, 1))),
    "ExpandDims": (lambda: ops.ExpandDims(), "abc", lambda op, x: op(x, 1)),
    "Concat": (lambda: ops.Concat(1), "abc,abc!b", lambda op, x, y: op((x, y))),
    "Stack": (lambda: ops.Stack(0), "abc,abc", lambda op, x, y: op((x, y))),
    "StridedSlice": (lambda: ops.StridedSlice(), "abc!b", lambda op, x: op(x, (0, 2, 0), (4, 6, 12), (1, 1, 1))),
    "CumSum": (lambda: ops.CumSum(), "abc!b", lambda op, x: op(x, 1)),
    "Gather": (lambda: ops.Gather(), "bc,ad!b", lambda op, x, i: op(x, i, 0), None, ints(8)),
    "Gather axis 1": (lambda: ops.Gather(), "bc,d!c", lambda op, x, i: op(x, i, 1), None, ints(12)),
    "LayerNorm": (lambda: ops.LayerNorm(2, 2), "abc,c,c!c", lambda op, x, g, b: op(x, g, b)[0]),
    "Conv2D": (lambda: ops.Conv2D(8, 3, pad_mode="same"), "nkhw,okxy!hwxy"),
    "MaxPool": (lambda: ops.MaxPool(2, 2), "nohw!hw"),
    "AvgPool": (lambda: ops.AvgPool(2, 2), "nohw!hw"),
    "Cast": (lambda: ops.Cast(), "abc", lambda op, x: op(x, ms.float16).astype(ms.float32)),
    "Select": (lambda: ops.Select(), "ab,ab,ab", lambda op, c, x, y: op(c > 0, x, y)),
    "Tile": (lambda: ops.Tile(), "ab!ab", lambda op, x: op(x, (2, 1))),
    "Reshape behind MatMul": (ops.MatMul(), "ab,bc", lambda op, x, y: ops.reshape(op(x, y), (2, 2, 12))),
    "L2Normalize": (lambda: ops.L2Normalize(1), "abc!b"),
    "Dense": (lambda: ops.MatMul(transpose_b=True), "ab,cb", lambda op, x, y: ops.relu(op(x, y)) + ops.softmax(op(x, y), -1)),
}


def drawn(letters, axes, whole):
    """A strategy that is legal: numbers of slices for letters, whose product divides the ranks."""
    left, parts = size, dict.fromkeys(letters, 1)
    for letter in draw.permutation(sorted(letters)):
        choices = [p for p in range(1, left + 1) if left % p == 0 and SIZES[letter] % p == 0]
        if letter not in whole:
            parts[letter] = int(draw.choice(choices))
            left //= parts[letter]
    return tuple(tuple(parts[letter] for letter in operand) for operand in axes)


def close(name, strategy, found, wanted):
    largest = max(1.0, float(np.abs(wanted).max())) if wanted.size else 1.0
    assert found.shape == wanted.shape and np.abs(found - wanted).max(initial=0) <= 1e-5 * largest, (
        name, strategy, found.shape, wanted.shape, np.abs(found - wanted).max() if found.shape == wanted.shape else None)


def try_one(name):
    make, text, call, first, *more = (*CASES[name], None, None)[:5] if len(CASES[name]) < 5 else CASES[name]
    text, _, whole = text.partition("!")
    axes = text.split(",")
    strategy = drawn(set("".join(axes)), axes, whole)
    makers = [first or (lambda s: made.randn(*s).astype(np.float32))] * len(axes)
    if more and more[0]:
        makers[-1] = more[0]
    inputs = [maker(tuple(SIZES[letter] for letter in operand)) for maker, operand in zip(makers, axes, strict=True)]
    by = tuple(i for i, x in enumerate(inputs) if x.dtype == np.float32 and not (name == "Select" and i == 0))
    call = call or (lambda op, *x: op(*x))
    plain, split = (type(make)(**{}) if False else make() if callable(make) and not hasattr(make, "shard") else make for _ in range(2))
    tensors = [Tensor(x) for x in inputs]
    ms.set_auto_parallel_context(parallel_mode="stand_alone")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    wanted = call(plain, *tensors)
    scale = Tensor(np.random.RandomState(5).randn(*wanted.shape).astype(np.float32))
    wanted_grads = ms.grad(lambda *x: (call(plain, *x) * scale).sum(), by)(*tensors)
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy="full_batch")
    split.shard(strategy)
    close(name, strategy, ms.jit(lambda *x: call(split, *x))(*tensors).asnumpy(), wanted.asnumpy())
    grads = ms.jit(ms.grad(lambda *x: (call(split, *x) * scale).sum(), by))(*tensors)
    for found, one in zip(grads if isinstance(grads, tuple) else (grads,), wanted_grads if isinstance(wanted_grads, tuple) else (wanted_grads,), strict=True):
        close(name + ", gradient", strategy, found.asnumpy(), one.asnumpy())
    return strategy


draw = np.random.RandomState(int(sys.argv[2]))
tried = []
names = list(CASES)
for k in range(int(sys.argv[1])):
    tried.append((names[k % len(names)], try_one(names[k % len(names)])))
if rank == 0:
    print(json.dumps({"tried": len(tried), "split": sum(any(p > 1 for axes in s for p in axes) for _, s in tried), "operators": len({n for n, _ in tried})}))
