# SPDX-License-Identifier: Apache-2.0
"""Small ONNX and MindIR files, written byte by byte, so that no package is needed."""
import struct

import numpy as np

from wire import varint

DTYPES = {"int64": 7, "float32": 1, "bool": 9}
OPSETS = {"Attention": 25, "GroupNormalization": 21, "AffineGrid": 20, "CenterCropPad": 18, "Col2Im": 18, "Upsample": 9}


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, *parts):
    data = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
    return varint(field << 3 | 2) + varint(len(data)) + data


# --- ONNX

def node(op, inputs, outputs, *attributes, domain=""):
    return block(1, *(block(1, i) for i in inputs), *(block(2, o) for o in outputs), block(4, op), *attributes, *([block(7, domain)] if domain else []))


def info(field, name):
    return block(field, block(1, name), block(2, block(1, number(1, 1), block(2, block(1, number(1, 2))))))


def onnx_model(nodes, functions=(), inputs=("x",), extra=(), opset=17):
    graph = block(7, *nodes, block(2, "g"), *extra, *(info(11, i) for i in inputs), info(12, "y"))
    return number(1, 8) + graph + block(8, number(2, opset)) + block(8, block(1, "own"), number(2, 1)) + b"".join(functions)


def onnx_function(name, nodes):
    return block(25, block(1, name), block(4, "x"), block(5, "y"), *(block(7, n[len(varint(1 << 3 | 2)):][skip(n):]) for n in nodes), block(9, number(2, 17)),
                 block(9, block(1, "own"), number(2, 1)), block(10, "own"))


def skip(n):
    """Bytes of the length behind the key of a node: in a function nodes have another field number."""
    at = len(varint(1 << 3 | 2))
    count = 1
    while n[at] > 127:
        at, count = at + 1, count + 1
    return count


def attribute(name, value):
    if isinstance(value, str):
        return block(5, block(1, name), block(4, value), number(20, 3))
    if isinstance(value, float):
        return block(5, block(1, name), b"\x15" + struct.pack("<f", value), number(20, 1))
    if isinstance(value, list):
        return block(5, block(1, name), *(number(8, v) for v in value), number(20, 7))
    return block(5, block(1, name), number(3, value), number(20, 2))


def initializer(name, values, dtype="int64"):
    array = np.array(values, dtype)
    return block(5, *(number(1, d) for d in array.shape), number(2, DTYPES[dtype]), block(8, name), block(9, array.tobytes()))


def input_info(name, array):
    shape = block(2, *(block(1, number(1, d)) for d in array.shape))
    return block(11, block(1, name), block(2, block(1, number(1, DTYPES[str(array.dtype)]), shape)))


def file_of(op, x, attributes=(), constants=()):
    """x goes in first, then the constants (values, dtype), None for one that is left out."""
    names = [f"c{i}" if c is not None else "" for i, c in enumerate(constants)]
    held = [initializer(n, *c) for n, c in zip(names, constants) if c is not None]
    given = [] if x is None else [input_info("x", x)]
    body = node(op, ([] if x is None else ["x"]) + names, ["y"], *(attribute(*a) for a in attributes))
    return onnx_model([body], inputs=(), extra=held + given, opset=OPSETS.get(op, 17))


# --- MindIR

def mindir_info(field, name):
    return block(field, block(1, name), block(2, number(1, 2), number(2, 1)))


def mindir_node(name, op, inputs):
    shape = block(5, block(1, "shape"), number(16, 19), block(12, number(1, 2), number(2, 1)))
    return block(1, *(block(1, i) for i in inputs), block(2, name), block(3, name), block(4, op), shape, block(7, "Default"))


def mindir_graph(field, name, nodes, output):
    return block(field, *nodes, block(2, name), mindir_info(5, f"{name}:x"), mindir_info(6, output))


def mindir_model(graphs):
    primitive = block(12, block(1, "ReLU:1"), block(2, "ReLU"), block(4, "ReLU"), number(5, 1))
    return block(1, "0.1.1") + block(2, "MindSpore") + block(5, "2.0.0") + b"".join(graphs) + number(10, 1) + primitive + number(13, 1)
