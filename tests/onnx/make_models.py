#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write small ONNX models with inputs and ONNX Runtime's outputs into data/ (it needs onnxruntime).

    make_models.py

Run it with a Python that has onnxruntime; the tests need neither. A model is written by the few lines of protobuf below.
"""
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
KINDS = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "string": 8, "bool": 9}


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while True:
        out += bytes([n & 127 | (128 if n > 127 else 0)])
        n >>= 7
        if not n:
            return out


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + np.float32(value).tobytes()
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(array, name=""):
    array = np.asarray(array)
    return (b"".join(field(1, d) for d in array.shape) + field(2, KINDS[str(array.dtype)]) + field(8, name) +
            field(9, array.tobytes()))


def attribute(name, value):
    head = field(1, name)
    if isinstance(value, bool) or isinstance(value, int):
        return head + field(3, int(value)) + field(20, 2)
    if isinstance(value, float):
        return head + field(2, value) + field(20, 1)
    if isinstance(value, str):
        return head + field(4, value) + field(20, 3)
    if isinstance(value, np.ndarray):
        return head + field(5, tensor(value)) + field(20, 4)
    if isinstance(value, bytes):
        return head + field(6, value) + field(20, 5)
    if value and isinstance(value[0], str):
        return head + b"".join(field(9, v) for v in value) + field(20, 8)
    return head + b"".join(field(8, v) for v in value) + field(20, 7)


def node(op, inputs, outputs, domain="", **attributes):
    return (b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(3, f"make_{outputs[0]}") +
            field(4, op) + b"".join(field(5, attribute(k, v)) for k, v in attributes.items()) + field(7, domain))


def value(name, kind="float32", shape=None):
    dims = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in shape or ())
    shaped = field(2, dims) if shape is not None else b""
    return field(1, name) + field(2, field(1, field(1, KINDS[kind]) + shaped))


def graph(nodes, inputs, outputs, weights=()):
    return (b"".join(field(1, n) for n in nodes) + field(2, "g") + b"".join(field(5, w) for w in weights) +
            b"".join(field(11, i) for i in inputs) + b"".join(field(12, o) for o in outputs))


def model(g, opset=17, domains=()):
    sets = b"".join(field(8, field(1, d) + field(2, 1)) for d in domains) + field(8, field(2, opset))
    return field(1, 8 if opset < 20 else 10) + field(2, "spore tests") + field(7, g) + sets


RANDOM = np.random.default_rng(1)


def weights(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def convnet():
    x = weights(2, 3, 12, 12)
    nodes = [node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1], strides=[2, 2]),
             node("BatchNormalization", ["c1", "s", "b", "m", "v"], ["n1"]), node("Relu", ["n1"], ["r1"]),
             node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
             node("GlobalAveragePool", ["p1"], ["g1"]), node("Shape", ["g1"], ["shape"]),
             node("Gather", ["shape", "zero"], ["batch"], axis=0), node("Unsqueeze", ["batch", "axes"], ["batch1"]),
             node("Concat", ["batch1", "rest"], ["to"], axis=0), node("Reshape", ["g1", "to"], ["flat"]),
             node("Gemm", ["flat", "w2", "b2"], ["logits"], transB=1), node("Softmax", ["logits"], ["y"], axis=-1)]
    held = {"w1": weights(8, 3, 3, 3), "b1": weights(8), "s": weights(8), "b": weights(8), "m": weights(8),
            "v": np.abs(weights(8)) + 1, "zero": np.array(0, np.int64), "axes": np.array([0], np.int64),
            "rest": np.array([-1], np.int64), "w2": weights(5, 8), "b2": weights(5)}
    return model(graph(nodes, [value("x", shape=["n", 3, 12, 12])], [value("y", shape=["n", 5])],
                       [tensor(v, k) for k, v in held.items()])), {"x": x}


def attention():
    x = weights(2, 4, 8)
    nodes = [node("LayerNormalization", ["x", "g", "b"], ["n"], axis=-1), node("MatMul", ["n", "wq"], ["q"]),
             node("MatMul", ["n", "wk"], ["k"]), node("MatMul", ["n", "wv"], ["v"]),
             node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]), node("MatMul", ["q", "kt"], ["scores"]),
             node("Mul", ["scores", "scale"], ["scaled"]), node("Softmax", ["scaled"], ["p"], axis=-1),
             node("MatMul", ["p", "v"], ["o"]), node("Add", ["o", "x"], ["sum"]), node("Erf", ["sum"], ["y"])]
    held = {"g": weights(8), "b": weights(8), "wq": weights(8, 8), "wk": weights(8, 8), "wv": weights(8, 8),
            "scale": np.array(8 ** -0.5, np.float32)}
    return model(graph(nodes, [value("x", shape=["n", "t", 8])], [value("y", shape=["n", "t", 8])],
                       [tensor(v, k) for k, v in held.items()])), {"x": x}


def sparse(array, name, rows):
    """A SparseTensorProto with places in the whole, or per dimension."""
    flat = np.flatnonzero(array)
    at = np.stack(np.unravel_index(flat, array.shape), 1) if rows else flat
    return (field(1, tensor(array.reshape(-1)[flat], name)) + field(2, tensor(at.astype(np.int64), name + "_at")) +
            b"".join(field(3, d) for d in array.shape))


def sparse_constants():
    w = weights(6, 5) * (RANDOM.random((6, 5)) < 0.3)
    b = np.float32([0, 1, 0, 0, -2])
    constant = node("Constant", [], ["b"])
    constant += field(5, field(1, "sparse_value") + field(22, sparse(b, "b", False)) + field(20, 11))
    nodes = [constant, node("MatMul", ["x", "w"], ["p"]), node("Add", ["p", "b"], ["q"]), node("MatMul", ["q", "w2"], ["y"])]
    g = graph(nodes, [value("x", shape=["n", 6])], [value("y", shape=["n", 6])])
    g += field(15, sparse(w, "w", True)) + field(15, sparse(w.T.copy(), "w2", False))
    return model(g), {"x": weights(2, 6)}


def regions():
    nodes = [node("MaxRoiPool", ["x", "rois"], ["y"], pooled_shape=[2, 3], spatial_scale=0.5),
             node("MaxRoiPool", ["x", "far"], ["z"], pooled_shape=[2, 2])]
    held = {"rois": np.float32([[0, 0, 0, 9, 9], [1, 3, 2, 12.6, 15], [0, 5, 5, 5, 5], [1, 8, 8, 4, 2]]),
            "far": np.float32([[0, -4, -4, 2, 30], [1, 20, 20, 25, 25]])}
    return model(graph(nodes, [value("x", shape=[2, 3, 8, 9])], [value("y"), value("z")], [tensor(v, k) for k, v in held.items()])), {
        "x": weights(2, 3, 8, 9)}


def pointwise_bytes():
    """Convolutions with a kernel of one element, which are products of matrices: one zero point, many equal ones, none."""
    x = RANDOM.integers(0, 256, (2, 5, 3, 4)).astype(np.uint8)
    nodes = [node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"]),
             node("ConvInteger", ["x", "u", "xz", "uz"], ["z"]), node("ConvInteger", ["x", "w"], ["plain"], strides=[1, 1], pads=[0, 0, 0, 0]),
             node("ConvInteger", ["x", "w", "xz"], ["steps"], strides=[2, 1])]
    held = {"xs": np.float32(0.02), "xz": np.uint8(119), "w": RANDOM.integers(-64, 64, (6, 5, 1, 1)).astype(np.int8),
            "ws": np.float32([0.01, 0.02, 0.03, 0.01, 0.02, 0.05]), "wz": np.zeros(6, np.int8), "ys": np.float32(0.3), "yz": np.uint8(100),
            "b": RANDOM.integers(-500, 500, 6).astype(np.int32), "u": RANDOM.integers(0, 128, (3, 5, 1, 1)).astype(np.uint8), "uz": np.uint8(60)}
    return model(graph(nodes, [value("x", "uint8", ["n", 5, 3, 4])], [value("y", "uint8"), value("z", "int32"), value("plain", "int32"), value("steps", "int32")],
                       [tensor(v, k) for k, v in held.items()])), {"x": x}


def windows_of_bytes():
    """Convolutions over windows, in one and two dimensions: steps, gaps, uneven padding, a zero point that is known only when it is run."""
    x = RANDOM.integers(0, 256, (2, 5, 9, 8)).astype(np.uint8)
    line = RANDOM.integers(-128, 128, (2, 3, 17)).astype(np.int8)
    nodes = [node("ConvInteger", ["x", "w", "xz", "wz"], ["same"], pads=[1, 1, 1, 1]),
             node("ConvInteger", ["x", "w", "xz"], ["steps"], strides=[2, 1], dilations=[1, 2], pads=[0, 2, 1, 1]),
             node("ConvInteger", ["x", "w"], ["plain"]), node("ConvInteger", ["line", "v", "lz"], ["of_line"], pads=[2, 0], strides=[2]),
             node("QLinearConv", ["x", "xs", "xz", "w", "ws", "zeros", "ys", "yz", "b"], ["y"], pads=[1, 1, 1, 1], strides=[2, 2])]
    held = {"w": RANDOM.integers(-64, 64, (6, 5, 3, 3)).astype(np.int8), "wz": np.int8(3), "v": RANDOM.integers(-64, 64, (4, 3, 5)).astype(np.int8),
            "lz": np.int8(-7), "xs": np.float32(0.02), "ws": np.float32([0.01, 0.02, 0.03, 0.01, 0.02, 0.05]), "zeros": np.zeros(6, np.int8),
            "ys": np.float32(0.9), "yz": np.uint8(100), "b": RANDOM.integers(-500, 500, 6).astype(np.int32)}
    names = [("same", "int32"), ("steps", "int32"), ("plain", "int32"), ("of_line", "int32"), ("y", "uint8")]
    return model(graph(nodes, [value("x", "uint8", ["n", 5, 9, 8]), value("line", "int8", ["n", 3, 17]), value("xz", "uint8", [])],
                       [value(*one) for one in names], [tensor(v, k) for k, v in held.items()])), {"x": x, "line": line, "xz": np.array(119, np.uint8)}


def between_bytes():
    """Quantised networks as dequantise, compute, quantise: convolutions with scales by channel and a bias, one channel a group, ReLU that does nothing and
    ReLU that does, a pool, a product; a convolution whose bias is float32 and one whose weights are."""
    def wrapped(op, sources, result, scale, zero, **attributes):
        found = [node("DequantizeLinear", [f"{s}", f"{s}_s", f"{s}_z"], [f"{s}_for_{result}"], **({"axis": 0} if s[0] in "wb" else {})) for s in sources]
        return found + [node(op, [f"{s}_for_{result}" for s in sources], [f"{result}_f"], **attributes),
                        node("QuantizeLinear", [f"{result}_f", scale, zero], [result])]
    held = {"q_s": np.float32(0.02), "q_z": np.uint8(119), "a_s": np.float32(0.11), "a_z": np.uint8(0), "p_s": np.float32(0.11), "p_z": np.uint8(0),
            "d_s": np.float32(0.3), "d_z": np.uint8(90), "z_s": np.float32(0.4), "z_z": np.uint8(128)}
    for name, shape in {"w1": (18, 5, 3, 3), "w2": (18, 1, 3, 3), "w3": (7, 18, 1, 1), "w4": (18, 4)}.items():
        n = shape[0] if name != "w4" else 1
        held[name] = RANDOM.integers(-127, 128, shape).astype(np.int8)
        held[name + "_s"] = (0.002 + 0.01 * RANDOM.random(n)).astype(np.float32) if n > 1 else np.float32(0.01)
        held[name + "_z"] = np.zeros(n, np.int8) if n > 1 else np.int8(0)
    for name, x, w in (("b1", "q", "w1"), ("b2", "p", "w2")):
        held[name] = RANDOM.integers(-3000, 3000, 18).astype(np.int32)
        held[name + "_s"], held[name + "_z"] = held[x + "_s"] * held[w + "_s"], np.zeros(18, np.int32)
    held["bf"], held["wf"] = weights(7), weights(7, 18, 1, 1)
    nodes = [node("QuantizeLinear", ["x", "q_s", "q_z"], ["q"])] + wrapped("Conv", ["q", "w1", "b1"], "a", "a_s", "a_z", pads=[1, 1, 1, 1])
    nodes[-1:] = [node("Relu", ["a_f"], ["a_r"]), node("QuantizeLinear", ["a_r", "a_s", "a_z"], ["a"])]
    nodes += wrapped("MaxPool", ["a"], "p", "p_s", "p_z", kernel_shape=[2, 2], strides=[2, 2])
    nodes += wrapped("Conv", ["p", "w2", "b2"], "d", "d_s", "d_z", pads=[1, 1, 1, 1], group=18)
    nodes += [node("DequantizeLinear", ["d", "d_s", "d_z"], ["d_r"]), node("DequantizeLinear", ["w3", "w3_s", "w3_z"], ["w3_r"], axis=0),
              node("Conv", ["d_r", "w3_r", "bf"], ["c_f"]), node("Conv", ["d_r", "wf"], ["e_f"]), node("GlobalMaxPool", ["d_r"], ["g_f"]), node("Flatten", ["g_f"], ["g"]),
              node("QuantizeLinear", ["g", "d_s", "d_z"], ["g_q"]), node("DequantizeLinear", ["g_q", "d_s", "d_z"], ["g_r"]),
              node("DequantizeLinear", ["w4", "w4_s", "w4_z"], ["w4_r"]), node("MatMul", ["g_r", "w4_r"], ["m"]), node("QuantizeLinear", ["m", "z_s", "z_z"], ["z"])]
    return model(graph(nodes, [value("x", shape=["n", 5, 9, 8])], [value("a", "uint8"), value("d", "uint8"), value("c_f"), value("e_f"), value("z", "uint8")],
                       [tensor(v, k) for k, v in held.items()])), {"x": weights(2, 5, 9, 8)}


def loop():
    body = graph([node("Add", ["s_in", "x"], ["s_out"]), node("Identity", ["go_in"], ["go_out"]),
                  node("Mul", ["s_out", "s_out"], ["square"])],
                 [value("i", "int64", []), value("go_in", "bool", []), value("s_in", shape=[3])],
                 [value("go_out", "bool", []), value("s_out", shape=[3]), value("square", shape=[3])])
    nodes = [node("Loop", ["n", "", "start"], ["last", "squares"], body=body)]
    return (model(graph(nodes, [value("n", "int64", []), value("x", shape=[3])], [value("last", shape=[3]), value("squares")],
                        [tensor(np.zeros(3, np.float32), "start")])),
            {"n": np.array(4, np.int64), "x": weights(3)})


def branch():
    yes = graph([node("Relu", ["x"], ["a"])], [], [value("a", shape=[4])])
    no = graph([node("Neg", ["x"], ["a2"])], [], [value("a2", shape=[4])])
    nodes = [node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Greater", ["sum", "zero"], ["c"]),
             node("If", ["c"], ["y"], then_branch=yes, else_branch=no)]
    return (model(graph(nodes, [value("x", shape=[4])], [value("y", shape=[4])], [tensor(np.array(0, np.float32), "zero")])),
            {"x": weights(4)})


def quantised():
    # Weights beyond 7 bits would show where ONNX Runtime's sums of two products saturate on some machines.
    x = weights(2, 3, 6, 6)
    nodes = [node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
             node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["r"], pads=[1, 1, 1, 1]),
             node("DequantizeLinear", ["r", "ys", "yz"], ["y"])]
    held = {"xs": np.array(0.03, np.float32), "xz": np.array(120, np.uint8),
            "w": RANDOM.integers(-60, 60, (4, 3, 3, 3)).astype(np.int8), "ws": np.abs(weights(4)) / 50,
            "wz": np.zeros(4, np.int8), "ys": np.array(0.2, np.float32), "yz": np.array(128, np.uint8),
            "b": RANDOM.integers(-500, 500, 4).astype(np.int32)}
    return model(graph(nodes, [value("x", shape=[2, 3, 6, 6])], [value("y", shape=[2, 4, 6, 6])],
                       [tensor(v, k) for k, v in held.items()])), {"x": x}


def texts():
    """Texts are joined, divided, moved and compared; the nodes stand in the wrong order."""
    nodes = [node("Equal", ["first", "word"], ["same"]), node("Gather", ["parts", "zero"], ["first"], axis=1),
             node("StringSplit", ["joined"], ["parts", "counts"], delimiter=" "), node("StringConcat", ["x", "tail"], ["joined"])]
    word = field(1, 1) + field(2, 8) + field(6, "grün") + field(8, "word")
    tail = field(1, 1) + field(2, 8) + field(6, " und gut") + field(8, "tail")
    return (model(graph(nodes, [value("x", "string", ["n"])], [value("parts", "string", ["n", "k"]), value("counts", "int64", ["n"]),
                                                              value("same", "bool", ["n"])],
                        [word, tail, tensor(np.array(0, np.int64), "zero")]), opset=20),
            {"x": np.array(["grün blau", "rot", "", "eins zwei drei"], object)})


def small_types():
    """Weights of 4 bits in blocks, and numbers that go through 8-bit floats."""
    packed = field(1, 4) + field(1, 8) + field(2, 22) + field(8, "w") + field(9, RANDOM.integers(0, 256, 16).astype(np.uint8).tobytes())
    nodes = [node("DequantizeLinear", ["w", "ws"], ["wf"], axis=1, block_size=4), node("MatMul", ["x", "wf"], ["m"]),
             node("Cast", ["m"], ["m8"], to=17), node("Reshape", ["m8", "flat"], ["r8"]), node("Cast", ["r8"], ["y"], to=1)]
    held = {"ws": np.abs(weights(4, 2)), "flat": np.array([-1], np.int64)}
    return model(graph(nodes, [value("x", shape=["n", 4])], [value("y", shape=["k"])],
                       [packed] + [tensor(v, k) for k, v in held.items()]), opset=21), {"x": weights(3, 4)}


def dynamic_bytes():
    """What quantisers of transformers make: products of bytes whose scales are found while running."""
    ms = "com.microsoft"
    nodes = [node("SkipLayerNormalization", ["x", "x", "g", "b"], ["n"], ms, epsilon=1e-5),
             node("DynamicQuantizeMatMul", ["n", "w", "ws", "wz", "bias"], ["m"], ms), node("Gelu", ["m"], ["a"], ms),
             node("QuantizeLinear", ["a", "s", "z"], ["q"]), node("QLinearAdd", ["q", "s", "z", "q", "s", "z", "s2", "z"], ["q2"], ms),
             node("DequantizeLinear", ["q2", "s2", "z"], ["y"])]
    held = {"g": weights(8), "b": weights(8), "w": RANDOM.integers(-60, 60, (8, 6)).astype(np.int8), "ws": np.float32([0.02]),
            "wz": np.int8([0]), "bias": weights(6), "s": np.array(0.03, np.float32), "z": np.array(100, np.uint8),
            "s2": np.array(0.06, np.float32)}
    return model(graph(nodes, [value("x", shape=["n", "t", 8])], [value("y", shape=["n", "t", 6])],
                       [tensor(v, k) for k, v in held.items()]), domains=[ms]), {"x": weights(2, 5, 8)}


def spectrum():
    """Frames of a signal, their spectrum, and the mean over time."""
    nodes = [node("STFT", ["x", "step", "window"], ["f"]), node("ReduceMean", ["f"], ["y"], axes=[1], keepdims=0)]
    held = {"step": np.array(8, np.int64), "window": np.hanning(16).astype(np.float32)}
    return model(graph(nodes, [value("x", shape=["n", "t"])], [value("y", shape=["n", 9, 2])],
                       [tensor(v, k) for k, v in held.items()])), {"x": weights(2, 64)}


def grouped_queries():
    """A step of a language model: four heads of queries share two of keys, with rotation and a past of three positions."""
    nodes = [node("GroupQueryAttention", ["q", "k", "v", "past_k", "past_v", "last", "total", "cos", "sin"], ["y", "keys", "values"],
                  "com.microsoft", num_heads=4, kv_num_heads=2, do_rotary=1)]
    angles = np.arange(8)[:, None] * np.float32(10) ** (-np.arange(8) / 2)
    held = {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}
    faces = [value("q", shape=["n", "t", 64]), value("k", shape=["n", "t", 32]), value("v", shape=["n", "t", 32]),
             value("past_k", shape=["n", 2, "p", 16]), value("past_v", shape=["n", 2, "p", 16]), value("last", "int32", ["n"]),
             value("total", "int32", [])]
    inputs = {"q": weights(1, 2, 64), "k": weights(1, 2, 32), "v": weights(1, 2, 32), "past_k": weights(1, 2, 3, 16),
              "past_v": weights(1, 2, 3, 16), "last": np.int32([4]), "total": np.array(5, np.int32)}
    return model(graph(nodes, faces, [value("y"), value("keys"), value("values")], [tensor(v, k) for k, v in held.items()]),
                 domains=["com.microsoft"]), inputs


def main():
    import onnxruntime
    for make in (convnet, attention, loop, branch, quantised, texts, small_types, dynamic_bytes, spectrum, grouped_queries,
                 sparse_constants, regions, pointwise_bytes, windows_of_bytes, between_bytes):
        data, inputs = make()
        path = HERE / "data" / f"{make.__name__}.onnx"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        outputs = session.run(None, inputs)
        arrays = {f"in_{k}": v for k, v in inputs.items()}
        arrays.update({f"out_{o.name}": v for o, v in zip(session.get_outputs(), outputs)})
        arrays = {k: v.astype("U") if v.dtype == object else v for k, v in arrays.items()}
        np.savez(path.with_suffix(".npz"), **arrays)


if __name__ == "__main__":
    main()
