# SPDX-License-Identifier: Apache-2.0
"""The layers of ONNX models one by one, in spore and in ONNX Runtime: where a network loses, and how far both are from what the machine can do.

    PYTHONPATH=build/py PEER/python bench/layers.py MODEL.onnx ...     an interpreter with onnx and onnxruntime, which can import spore
    SPORE_BENCH_THREADS=2  SPORE_BENCH_SECONDS=0.3                     threads of both sides; seconds a layer

With one thread its processor time counts, which hardly depends on what else the machine does.

Nodes of the same operator, attributes and shapes are one layer. Each is a model of its own, with its constants, that both sides run in turns; the least time of
each counts. `floor` is the larger of the multiplications at the peak that `spore bench` measures with a product, and the bytes of weights and results at the rate of a sum.
Layers are listed by what is lost in all of their occurrences; what a runtime gains by joining layers is not seen here.
"""
import json
import os
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

THREADS, SECONDS = int(os.environ.get("SPORE_BENCH_THREADS", "2")), float(os.environ.get("SPORE_BENCH_SECONDS", "0.3"))
TURN = 0.02  # seconds
os.environ["OMP_NUM_THREADS"] = str(THREADS)
import spore


def least(calls, seconds):
    """The least time of each of the calls, which take turns: some milliseconds each, with a rest between, as threads of runtimes look for work a while."""
    clock = time.thread_time if THREADS == 1 else time.perf_counter
    for call in calls:
        call()
    best, end = [float("inf")] * len(calls), time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, call in enumerate(calls):
            if THREADS > 1:
                time.sleep(0.005)
            turn = time.perf_counter() + TURN
            while time.perf_counter() < turn:
                start = clock()
                call()
                best[i] = min(best[i], clock() - start)
    return best


def machine():
    """Multiplications and additions a second, bytes a second."""
    rng = np.random.default_rng(0)
    a, b = (spore.Tensor(rng.standard_normal((1024, 1024), dtype=np.float32)) for _ in range(2))
    long = spore.Tensor(np.ones(1 << 25, np.float32))
    product, total = least([lambda: spore.ops.matmul(a, b).asnumpy(), lambda: long.sum().asnumpy()], 2)
    return 2 * 1024 ** 3 / product, 4 * (1 << 25) / total


def known(model):
    """Types and shapes of all values: by name (element type, dims)."""
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    found = {}
    for value in [*model.graph.value_info, *model.graph.input, *model.graph.output]:
        kind = value.type.tensor_type
        if kind.HasField("shape") and all(d.HasField("dim_value") for d in kind.shape.dim):
            found[value.name] = (kind.elem_type, tuple(d.dim_value for d in kind.shape.dim))
    return found


def key_of(node, shapes, constants):
    """What makes two nodes one layer; None: a shape is unknown."""
    dims = []
    for name in node.input:
        if name in constants:
            small = constants[name].size <= 8 and constants[name].ndim <= 1
            dims.append(constants[name].tolist() if small and constants[name].dtype == np.int64 else ("w", constants[name].shape))
        elif name and name not in shapes:
            return None
        else:
            dims.append(shapes[name] if name else None)
    return json.dumps([node.op_type, dims, [helper.get_attribute_value(a) if a.name not in ("value",) else 0 for a in node.attribute]], default=str)


def single(model, node, shapes, constants):
    """The node as a model."""
    inputs = [helper.make_tensor_value_info(n, *shapes[n]) for n in dict.fromkeys(node.input) if n and n not in constants]
    kept = [numpy_helper.from_array(constants[n], n) for n in dict.fromkeys(node.input) if n in constants]
    outputs = [helper.make_tensor_value_info(n, *shapes[n]) for n in node.output if n in shapes]
    graph = helper.make_graph([node], "layer", inputs, outputs, kept)
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=min(model.ir_version, 10))


def work(node, shapes, constants):
    """Multiplications and additions; bytes of weights and results."""
    out = shapes[node.output[0]][1]
    dims = [constants[n].shape if n in constants else shapes[n][1] for n in node.input if n]
    n_bytes = 4 * int(np.prod(out)) + sum(4 * int(np.prod(d)) for d in dims)
    if node.op_type == "Conv":
        return 2 * int(np.prod(out)) * int(np.prod(dims[1][1:])), n_bytes
    if node.op_type in ("MatMul", "Gemm"):
        turned = node.op_type == "Gemm" and any(a.name == "transA" and a.i for a in node.attribute)
        return 2 * int(np.prod(out)) * dims[0][-2 if turned else -1], n_bytes
    return 0, n_bytes


def feeds(inputs, rng):
    types = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_}
    out = {}
    for value in inputs:
        dims, kind = [d.dim_value for d in value.type.tensor_type.shape.dim], types[value.type.tensor_type.elem_type]
        out[value.name] = rng.standard_normal(dims).astype(kind) if kind == np.float32 else rng.integers(0, 2, dims).astype(kind)
    return out


def time_layer(path, model):
    """Seconds of spore, of ONNX Runtime."""
    onnx.save(model, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feed, net = feeds(model.graph.input, np.random.default_rng(0)), spore.onnx.load(path)
    net.set_train(False)
    args = [spore.Tensor(v) for v in feed.values()]
    return least([lambda: net(*args), lambda: session.run(None, feed)], SECONDS)


def layers(path):
    """Of a file, by what makes them differ: [node, how often]."""
    model = onnx.load(path)
    shapes, constants = known(model), {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant":
            constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    found = {}
    for node in model.graph.node:
        if node.op_type == "Constant" or not node.output or node.output[0] not in shapes or not any(n and n not in constants for n in node.input):
            continue
        key = key_of(node, shapes, constants)
        if key is not None:
            found.setdefault(key, [node, 0])[1] += 1
    return model, shapes, constants, found


def shape_text(node, shapes, constants):
    dims = [constants[n].shape if n in constants else shapes[n][1] for n in node.input[:2] if n]
    extra = [f"{a.name} {'x'.join(map(str, a.ints))}" for a in node.attribute if a.name == "strides"] if node.op_type == "Conv" else []
    return " * ".join("x".join(map(str, d)) for d in dims) + (", " + ", ".join(extra) if extra else "")


def report(path, peak, rate):
    model, shapes, constants, found = layers(path)
    rows, everything = [], [0.0, 0.0]
    with tempfile.TemporaryDirectory() as folder:
        for node, count in found.values():
            try:
                ours, theirs = time_layer(os.path.join(folder, "layer.onnx"), single(model, node, shapes, constants))
            except Exception as problem:  # pylint: disable=broad-except
                print(f"{node.op_type} {shape_text(node, shapes, constants)}: not measured, {str(problem).splitlines()[0][:90]}")
                continue
            flops, n_bytes = work(node, shapes, constants)
            floor = max(flops / peak, n_bytes / rate)
            everything = [everything[0] + count * ours, everything[1] + count * theirs]
            rows.append((count * (ours - theirs), node.op_type, shape_text(node, shapes, constants), count, ours, theirs, floor, flops))
    print(f"## {os.path.basename(path)}: layers together {everything[0] * 1e3:.1f} ms, ONNX Runtime {everything[1] * 1e3:.1f} ms\n")
    print("| layer | operands | times | spore us | GFLOP/s | ONNX Runtime us | ratio | floor us | lost ms |\n|---|---|---|---|---|---|---|---|---|")
    for lost, op, shape, count, ours, theirs, floor, flops in sorted(rows, reverse=True):
        speed = f"{flops / ours / 1e9:.0f}" if flops else ""
        print(f"| {op} | {shape} | {count} | {ours * 1e6:.0f} | {speed} | {theirs * 1e6:.0f} | {ours / theirs:.2f} | {floor * 1e6:.0f} | {lost * 1e3:+.2f} |")
    print(flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("layers.py: ONNX files are wanted, found none; please write some with bench/inference.py NAME BATCH FILE.onnx")
    limits = machine()
    print(f"peak {limits[0] / 1e9:.0f} GFLOP/s, memory {limits[1] / 1e9:.1f} GB/s, {THREADS} threads\n")
    for name in sys.argv[1:]:
        report(name, *limits)
