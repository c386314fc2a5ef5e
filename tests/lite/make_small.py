# SPDX-License-Identifier: Apache-2.0
"""Writes data/small: files of a few hundred bytes, where fuzzers and the sweep of odd files begin. python tests/lite/make_small.py"""
import pathlib

import numpy as np

from write_ms import fse, huffman, indexed, low_first, model, node, one, quant, sparse, tensor

FOLDER = pathlib.Path(__file__).parent / "data/small"
rng = np.random.default_rng(7)
Q = rng.integers(-7, 8, (3, 4)).astype(np.int8)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def i32(*v):
    return np.array(v, np.int32)


def product(weight):
    return one("MatMulFusion", [("float32", (2, 4)), weight], (2, 3), f1=1)


def chain():
    """Operators on shapes, one behind the other."""
    shapes = [(2, 3, 4), (2, 2, 4), (2, 4, 5), (2, 20), (20, 2), (20, 2), (4, 2), (4,)]
    tensors = [tensor(s, name=f"t{i}") for i, s in enumerate(shapes)]
    tensors += [tensor(data=v, name=f"c{i}") for i, v in enumerate([i32(0, 1, 0), i32(2, 2, -1), i32(0, 0, 1, 1, 0, 1), i32(0, -1), i32(1, 0), i32(3, 1, 0, 2), i32(0), i32(1)])]
    nodes = [node("SliceFusion", [0, 8, 9], [1], f0=[0, 1, 2]), node("PadFusion", [1, 10], [2]), node("Reshape", [2, 11], [3]), node("Transpose", [3, 12], [4]),
             node("Softmax", [4], [5], f0=[0]), node("Gather", [5, 13, 14], [6]), node("ReduceFusion", [6, 15], [7], f1=4, f3=1.0)]
    return model(nodes, tensors, [0], [7])


def main():
    FOLDER.mkdir(exist_ok=True)
    values = np.unique(Q)
    bytes_conv = one("Conv2DFusion", [("int8", (1, 4, 4, 2), [quant(0.05, 3)]), tensor(data=rng.integers(-9, 9, (2, 3, 3, 2)).astype(np.int8), name="w", quants=[quant(0.1), quant(0.2)])],
                     (1, 2, 2, 2), "int8", [quant(0.8, -10)], f1=[3, 3], f2=[1, 1], f3=[1, 1])
    files = {
        "int8": bytes_conv, "chain": chain(), "bits": product(tensor(Q.shape, "int8", low_first([int(v) + 8 for v in Q.ravel()], 4), "w", [quant(0.5, 0, 4)], 4)),
        "indexed": product(tensor(Q.shape, "int8", indexed(Q), "w", [quant(0.5, 0, 4)], 1)), "sparse": product(tensor(Q.shape, "int8", sparse(Q, 1), "w", [quant(0.5, 1, 4)], 2)),
        "fse": product(tensor(Q.shape, "int8", fse(np.searchsorted(values, Q.ravel()), values.tolist(), True), "w", [quant(0.5, 0, 4)], 5)),
        "huffman": product(tensor(Q.shape, "int8", huffman(Q), "w", [quant(0.5)], huffman=True)),
        "pool": one("MaxPoolFusion", [("float32", (1, 5, 5, 2))], (1, 3, 3, 2), f0=[2, 2], f1=[2, 2], f2=[0, 0, 0, 0], f4=1),
        "resize": one("Resize", [("float32", (1, 2, 2, 1))], (1, 4, 4, 1), f1=0, f2=4, f3=4, f5=2),
        "lstm": one("LSTM", [("float32", (2, 1, 2)), f32(1, 8, 2), f32(1, 8, 2), f32(1, 16), f32(1, 1, 2), f32(1, 1, 2)], (2, 1, 1, 2), n_out=3, f1=1),
        "strided": one("StridedSlice", [("float32", (2, 3, 4)), i32(0, 2, 0), i32(2, 0, 4), i32(1, -1, 2)], (2, 2, 2))}
    for name, contents in files.items():
        (FOLDER / f"{name}.ms").write_bytes(contents)


if __name__ == "__main__":
    main()
