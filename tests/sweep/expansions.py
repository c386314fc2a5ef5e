# SPDX-License-Identifier: Apache-2.0
"""Sweep over small files that ask for much: functions that call each other twice, or themselves, and branches and loops inside each other.

They are written byte by byte, so no package is needed."""
import numpy as np

import spore as ms
from spore import Tensor, _core
from pool import Wrong
from small_files import block, mindir_graph, mindir_model, mindir_node, node, number, onnx_function, onnx_model

ms.runtime.set_memory(max_size="0.3GB")
X = Tensor(np.ones((2,), np.float32))


def onnx_doubling(depth):
    functions = [onnx_function(f"f{i}", [node(f"f{i + 1}", ["x"], ["a"], domain="own"), node(f"f{i + 1}", ["a"], ["y"], domain="own")]) for i in range(depth)]
    functions.append(onnx_function(f"f{depth}", [node("Relu", ["x"], ["y"])]))
    return onnx_model([node("f0", ["x"], ["y"], domain="own")], functions)


def onnx_cycle(length):
    functions = [onnx_function(f"f{i}", [node(f"f{(i + 1) % length}", ["x"], ["y"], domain="own")]) for i in range(length)]
    return onnx_model([node("f0", ["x"], ["y"], domain="own")], functions)


def graph_attribute(name, nodes, inputs=(), outputs=("y",)):
    body = [block(11, block(1, i)) for i in inputs] + [block(12, block(1, o)) for o in outputs]
    return block(5, block(1, name), block(6, *nodes, block(2, name), *body), number(20, 5))


def onnx_branches(depth):
    """An If in both branches of an If, and so on: 2^depth branches in as many bytes; so not deep."""
    nodes = [node("Relu", ["x"], ["y"])]
    for _ in range(depth):
        nodes = [node("If", ["c"], ["y"], graph_attribute("then_branch", nodes), graph_attribute("else_branch", nodes))]
    return onnx_model(nodes, inputs=("x",), extra=[block(5, number(1, 1), number(2, 9), block(8, "c"), block(9, b"\1"))])


def onnx_loops(depth, turns):
    """Loops of so many turns inside each other."""
    nodes = [node("Relu", ["v"], ["y"])]
    for i in range(depth):
        nodes = [node("Loop", ["n", "c", "v" if i + 1 < depth else "x"], ["y"],
                      graph_attribute("body", [node("Identity", ["c"], ["go"])] + nodes, ("i", "k", "v"), ("go", "y")))]
    return onnx_model(nodes, extra=[block(5, number(1, 1), number(2, 9), block(8, "c"), block(9, b"\1")),
                                    block(5, number(2, 7), block(8, "n"), block(9, turns.to_bytes(8, "little", signed=True)))])


def mindir_doubling(depth):
    graphs = [mindir_graph(7, "main", [mindir_node("main:y", "REF::f0", ["main:x"])], "main:y")]
    for i in range(depth):
        graphs.append(mindir_graph(8, f"f{i}", [mindir_node(f"f{i}:a", f"REF::f{i + 1}", [f"f{i}:x"]), mindir_node(f"f{i}:y", f"REF::f{i + 1}", [f"f{i}:a"])],
                                   f"f{i}:y"))
    graphs.append(mindir_graph(8, f"f{depth}", [mindir_node(f"f{depth}:y", "REF::ReLU:1", [f"f{depth}:x"])], f"f{depth}:y"))
    return mindir_model(graphs)


def mindir_cycle(length):
    graphs = [mindir_graph(7, "main", [mindir_node("main:y", "REF::f0", ["main:x"])], "main:y")]
    for i in range(length):
        graphs.append(mindir_graph(8, f"f{i}", [mindir_node(f"f{i}:y", f"REF::f{(i + 1) % length}", [f"f{i}:x"])], f"f{i}:y"))
    return mindir_model(graphs)


def doubling_in_python(depth):
    """The same as a compiled Python function."""
    lines = [f"def f{depth}(x):\n    return x + 1"]
    lines += [f"def f{i}(x):\n    return f{i + 1}(f{i + 1}(x))" for i in reversed(range(depth))]
    return "\n".join(lines)


FILES = {
    "onnx doubling 3": (lambda: onnx_doubling(3), True), "onnx doubling 40": (lambda: onnx_doubling(40), False),
    "onnx doubling 100": (lambda: onnx_doubling(100), False), "onnx doubling 200": (lambda: onnx_doubling(200), False),
    "onnx cycle 1": (lambda: onnx_cycle(1), False), "onnx cycle 5": (lambda: onnx_cycle(5), False), "onnx cycle 1000": (lambda: onnx_cycle(1000), False),
    "onnx branches 8": (lambda: onnx_branches(8), True), "onnx branches 14": (lambda: onnx_branches(14), True),
    "onnx loops 2": (lambda: onnx_loops(2, 3), True), "onnx loops 5 of 8": (lambda: onnx_loops(5, 8), True), "onnx loops 40": (lambda: onnx_loops(40, 1), False),
    "mindir doubling 3": (lambda: mindir_doubling(3), True), "mindir doubling 40": (lambda: mindir_doubling(40), False),
    "mindir doubling 200": (lambda: mindir_doubling(200), False), "mindir cycle 1": (lambda: mindir_cycle(1), False),
    "mindir cycle 5": (lambda: mindir_cycle(5), False), "mindir cycle 1000": (lambda: mindir_cycle(1000), False),
}


def units():
    return list(FILES)


def check(data, runs):
    try:
        out = _core.model_load_memory(data).run(X)
    except (ValueError, RuntimeError, MemoryError, TypeError) as error:
        if runs:
            raise Wrong(f"refused: {error}") from None
        raise
    if not runs:
        raise Wrong("was run")
    if (out[0] if isinstance(out, (tuple, list)) else out).asnumpy().tolist() != [1.0, 1.0]:
        raise Wrong(f"gives {out}")


def cases(unit):
    make, runs = FILES[unit]
    data = make()
    yield f"{len(data)} bytes, " + ("runs" if runs else "is refused"), lambda: check(data, runs)
