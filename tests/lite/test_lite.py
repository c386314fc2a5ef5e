# SPDX-License-Identifier: Apache-2.0
"""MindSpore Lite's files: real ones with their values, and small ones written here, one operator or one kind of packing each."""
import gzip
import os
import pathlib
import subprocess

import numpy as np
import pytest

import spore as ms
from spore import lite
from write_ms import fse, huffman, indexed, low_first, model, node, one, quant, schema, sparse, tensor

DATA = pathlib.Path(__file__).parent / "data"
rng = np.random.default_rng(5)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


@pytest.fixture
def run(tmp_path):
    def apply(contents, *inputs, name="m.ms", **options):
        (tmp_path / name).write_bytes(contents)
        out = lite.load(str(tmp_path / name), **options)(*[ms.Tensor(x) for x in inputs])
        return tuple(y.asnumpy() for y in out) if isinstance(out, tuple) else out.asnumpy()
    return apply


def close(got, wanted, tolerance=1e-5):
    assert got.shape == np.shape(wanted)
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * max(1e-3, float(np.abs(wanted).max())))


def unpacked(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.decompress((DATA / (name + ".gz")).read_bytes()))
    return str(path)


# --- real files -------------------------------------------------------------------------------------------------------

def test_lenet_gives_its_values():
    with np.load(DATA / "golden_lenet_tod_infer.npz") as golden:
        net = lite.load(str(DATA / "lenet_tod_infer.ms"))
        close(net(ms.Tensor(golden["x"])).asnumpy(), golden["out0"])
    assert list(net.input_names) == ["inputs0"]


def test_lenet_trains_as_recorded(tmp_path):
    with np.load(DATA / "golden_lenet_train.npz") as golden:
        net = lite.load(unpacked(tmp_path, "lenet_train.ms"))
        x, y = ms.Tensor(golden["x"]), ms.Tensor(golden["y"])
        for wanted in golden["losses"]:
            close(net(x, y).asnumpy(), wanted)
        weights = {p.name: p.asnumpy() for p in net.get_parameters()}
        for key in golden.files:
            if key.startswith("after:"):
                close(weights[key[6:]].ravel()[:64], golden[key])


def test_momentum_lowers_the_loss():
    net = lite.load(str(DATA / "conv_train_model.ms"))
    x, y = ms.Tensor(f32(4, 6, 6, 5)), ms.Tensor(np.eye(160, dtype=np.float32)[[1, 2, 3, 4]])
    losses = [float(net(x, y).asnumpy()[0]) for _ in range(6)]
    assert losses[-1] < 0.7 * losses[0]


# --- operators --------------------------------------------------------------------------------------------------------

def conv_reference(x, w, stride, pads, dilation=1, group=1):
    x = np.pad(x, ((0, 0), pads[:2], pads[2:], (0, 0)))
    n, kh, kw = w.shape[0], w.shape[1], w.shape[2]
    height = (x.shape[1] - (kh - 1) * dilation - 1) // stride + 1
    width = (x.shape[2] - (kw - 1) * dilation - 1) // stride + 1
    y = np.zeros((x.shape[0], height, width, n), np.float64)
    per, each = w.shape[3], n // group
    for o in range(n):
        first = o // each * per
        for i in range(kh):
            for k in range(kw):
                part = x[:, i * dilation:i * dilation + height * stride:stride, k * dilation:k * dilation + width * stride:stride, first:first + per]
                y[..., o] += part[:, :height, :width] @ w[o, i, k]
    return y


@pytest.mark.parametrize("stride, pads, dilation, group", [(1, [0, 0, 0, 0], 1, 1), (2, [1, 0, 2, 1], 1, 2), (1, [2, 2, 2, 2], 2, 1), (1, [1, 1, 1, 1], 1, 4)])
def test_convolutions(run, stride, pads, dilation, group):
    x, w, b = f32(2, 7, 6, 4), f32(4, 3, 3, 4 // group), f32(4)
    wanted = np.maximum(conv_reference(x, w, stride, pads, dilation, group) + b, 0)
    file = one("Conv2DFusion", [("float32", x.shape), w, b], wanted.shape, f0=1, f1=[3, 3], f2=[stride, stride], f3=[1, 1, dilation, dilation], f5=pads, f7=group, f10=1)
    close(run(file, x), wanted)


def test_same_padding_and_other_batch(run, tmp_path):
    x, w = f32(1, 5, 5, 3), f32(2, 3, 3, 3)
    file = one("Conv2DFusion", [("float32", x.shape), w], (1, 3, 3, 2), f1=[3, 3], f2=[2, 2], f3=[1, 1], f4=1)
    close(run(file, x), conv_reference(x, w, 2, [1, 1, 1, 1]))


def test_transposed_convolution(run):
    x, w = f32(1, 3, 3, 2), f32(2, 3, 3, 5)        # [in, height, width, out]
    wanted = np.zeros((1, 7, 7, 5))
    for i in range(3):
        for k in range(3):
            for a in range(3):
                for b in range(3):
                    wanted[0, 2 * i + a, 2 * k + b] += x[0, i, k] @ w[:, a, b]
    file = one("Conv2dTransposeFusion", [("float32", x.shape), w], (1, 5, 5, 5), f1=[3, 3], f2=[2, 2], f3=[1, 1], f6=[1, 1, 1, 1], f8=1)
    close(run(file, x), wanted[:, 1:-1, 1:-1])


def test_pools_round_up(run):
    x = f32(1, 5, 5, 2)
    file = one("MaxPoolFusion", [("float32", x.shape)], (1, 3, 3, 2), f0=[2, 2], f1=[2, 2], f2=[0, 0, 0, 0], f4=1)
    padded = np.pad(x, ((0, 0), (0, 1), (0, 1), (0, 0)), constant_values=-np.inf)
    close(run(file, x), padded.reshape(1, 3, 2, 3, 2, 2).max((2, 4)))
    file = one("AvgPoolFusion", [("float32", x.shape)], (1, 1, 1, 2), f6=1)
    close(run(file, x), x.mean((1, 2), keepdims=True))


ACTIVATIONS = [
    (1, lambda x: np.maximum(x, 0)), (2, lambda x: 1 / (1 + np.exp(-x))), (3, lambda x: np.clip(x, 0, 6)), (4, lambda x: np.where(x > 0, x, 0.3 * np.expm1(x))),
    (5, lambda x: np.where(x > 0, x, 0.3 * x)), (6, np.abs), (8, lambda x: x / (1 + np.abs(x))), (9, lambda x: np.log1p(np.exp(x))), (10, np.tanh),
    (12, lambda x: x * np.clip(x + 3, 0, 6) / 6), (13, lambda x: np.clip(x + 3, 0, 6) / 6), (17, np.sign), (18, lambda x: x / (1 + np.exp(-x)))]


@pytest.mark.parametrize("kind, wanted", ACTIVATIONS)
def test_activations(run, kind, wanted):
    x = 3 * f32(2, 3, 4, 2)
    close(run(one("Activation", [("float32", x.shape)], x.shape, f0=kind, f1=0.3), x), wanted(x.astype(np.float64)).astype(np.float32))


@pytest.mark.parametrize("mode, wanted", [(0, np.mean), (1, np.max), (2, np.min), (3, np.prod), (4, np.sum), (5, lambda x, axis: (x * x).sum(axis)),
                                          (6, lambda x, axis: np.abs(x).sum(axis)), (8, lambda x, axis: np.sqrt((x * x).sum(axis)))])
def test_reductions(run, mode, wanted):
    x = f32(2, 3, 4)
    file = one("ReduceFusion", [("float32", x.shape), np.array([-1], np.int32)], (2, 3), f1=mode, f3=2.0)
    close(run(file, x), 2 * wanted(x, axis=2))


def x4():
    return ("float32", (2, 3, 4))


X = f32(2, 3, 4)
I32 = lambda *v: np.array(v, np.int32)
OTHERS = [
    ("AddFusion", [x4(), X], dict(f0=1), lambda x: np.maximum(x + X, 0)), ("SubFusion", [x4(), X], {}, lambda x: x - X), ("MulFusion", [x4(), X[:, :1]], {}, lambda x: x * X[:, :1]),
    ("DivFusion", [x4(), X], {}, lambda x: x / X), ("MatMulFusion", [x4(), f32(5, 4)], dict(f1=1), None), ("Softmax", [x4()], dict(f0=[1]), lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
    ("ExpFusion", [x4()], {}, np.exp), ("PowFusion", [x4(), np.array([2], np.float32)], dict(f0=2.0, f1=1.0), lambda x: (1 + 2 * x) ** 2),
    ("Clip", [x4()], dict(f0=0.5, f1=-0.25), lambda x: np.clip(x, -0.25, 0.5)), ("LeakyRelu", [x4()], dict(f0=0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
    ("Transpose", [x4(), I32(2, 0, 1)], {}, lambda x: x.transpose(2, 0, 1)), ("Reshape", [x4(), I32(0, -1)], {}, lambda x: x.reshape(2, -1)),
    ("Flatten", [x4()], {}, lambda x: x.reshape(2, 12)), ("Unsqueeze", [x4()], dict(f0=[1]), lambda x: x[:, None]), ("Squeeze", [("float32", (2, 1, 3))], dict(f0=[1]), lambda x: x[:, 0]),
    ("Concat", [x4(), X], dict(f0=1), lambda x: np.concatenate([x, X], 1)), ("Stack", [x4(), X], dict(f0=1), lambda x: np.stack([x, X], 1)),
    ("SliceFusion", [x4(), I32(1, 1), I32(2, -1)], dict(f0=[1, 2]), lambda x: x[:, 1:3, 1:]),
    ("StridedSlice", [x4(), I32(0, 2, 0), I32(2, 0, 4), I32(1, -1, 2)], {}, lambda x: x[0:2, 2:0:-1, 0:4:2]),
    ("PadFusion", [x4(), I32(0, 0, 1, 2, 0, 1).reshape(3, 2)], dict(f2=0.5), lambda x: np.pad(x, ((0, 0), (1, 2), (0, 1)), constant_values=0.5)),
    ("PadFusion", [x4()], dict(f0=[[0, 0], [1, 1], [2, 0]], f1=1), lambda x: np.pad(x, ((0, 0), (1, 1), (2, 0)), mode="reflect")),
    ("TileFusion", [x4(), I32(1, 2, 1)], {}, lambda x: np.tile(x, (1, 2, 1))), ("Gather", [x4(), I32(2, 0), I32(1)], {}, lambda x: x[:, [2, 0]]),
    ("ReverseV2", [x4()], dict(f0=[0, 2]), lambda x: x[::-1, :, ::-1]), ("CumSum", [x4(), I32(2)], dict(f0=1), lambda x: np.cumsum(x, 2) - x),
    ("L2NormalizeFusion", [x4()], dict(f0=[-1], f1=1e-12), lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True))),
    ("LayerNormFusion", [x4(), f32(4) * 0 + 2, f32(4) * 0 + 1], dict(f0=-1, f1=1e-6, f3=-1),
     lambda x: 2 * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6) + 1),
    ("BiasAdd", [x4(), X[0, 0]], {}, lambda x: x + X[0, 0]), ("ScaleFusion", [x4(), X[0, 0], X[0, 1]], dict(f0=-1), lambda x: x * X[0, 0] + X[0, 1]),
    ("FusedBatchNorm", [x4(), X[0, 0], X[0, 1], X[0, 2], X[1, 0] ** 2], dict(f0=1e-3), lambda x: (x - X[0, 2]) / np.sqrt(X[1, 0] ** 2 + 1e-3) * X[0, 0] + X[0, 1]),
    ("BroadcastTo", [("float32", (1, 4))], dict(f0=[3, 4]), lambda x: np.broadcast_to(x, (3, 4))), ("GLU", [x4()], {}, lambda x: x[..., :2] / (1 + np.exp(-x[..., 2:]))),
    ("Erf", [x4()], {}, None), ("SquaredDifference", [x4(), X], {}, lambda x: (x - X) ** 2), ("Eltwise", [x4(), X, X], dict(f0=1), lambda x: x + 2 * X),
    ("FullConnection", [("float32", (2, 2, 3)), f32(4, 6)], dict(f1=1, f2=1), None),
]


@pytest.mark.parametrize("op, inputs, fields, wanted", OTHERS, ids=[f"{row[0]}-{i}" for i, row in enumerate(OTHERS)])
def test_operators(run, op, inputs, fields, wanted):
    x = f32(*inputs[0][1])
    if op == "MatMulFusion":
        wanted = lambda x: x @ inputs[1].T
    if op == "FullConnection":
        wanted = lambda x: x.reshape(2, 6) @ inputs[1].T
    if op == "Erf":
        import math
        wanted = np.vectorize(math.erf)
    expected = wanted(x.astype(np.float64))
    close(run(one(op, inputs, expected.shape, **fields), x), expected)


def test_resize(run):
    x = f32(1, 2, 2, 1)
    close(run(one("Resize", [("float32", x.shape)], (1, 4, 4, 1), f1=1, f2=4, f3=4), x), x.repeat(2, 1).repeat(2, 2))
    got = run(one("Resize", [("float32", x.shape)], (1, 3, 3, 1), f1=0, f2=3, f3=3, f5=1), x)
    close(got[0, 1, 1, 0], x.mean(), 1e-5)


def test_top_k_and_split(run):
    x = f32(2, 6)
    values, places = run(one("TopKFusion", [("float32", x.shape), I32(2)], (2, 2), n_out=2, f1=-1), x)
    close(values, -np.sort(-x, 1)[:, :2])
    assert (places == np.argsort(-x, 1)[:, :2]).all()
    parts = run(one("Split", [("float32", x.shape)], (2, 2), n_out=2, f1=[2, -1], f2=1), x)
    close(parts[0], x[:, :2])
    close(parts[1], x[:, 2:])


def test_lstm(run):
    steps, batch, width, hidden = 3, 2, 4, 5
    x, w, r, b, h, c = f32(steps, batch, width), f32(1, 4 * hidden, width), f32(1, 4 * hidden, hidden), f32(1, 8 * hidden), f32(1, batch, hidden), f32(1, batch, hidden)
    file = one("LSTM", [("float32", x.shape), w, r, b, h, c], (steps, 1, batch, hidden), n_out=3, f1=1)
    sigmoid = lambda v: 1 / (1 + np.exp(-v))
    state, cell, wanted = h[0], c[0], []
    for t in range(steps):
        i, o, f, g = np.split(x[t] @ w[0].T + state @ r[0].T + b[0, :4 * hidden] + b[0, 4 * hidden:], 4, axis=1)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        state = sigmoid(o) * np.tanh(cell)
        wanted.append(state)
    y, last, memory = run(file, x)
    close(y[:, 0], np.stack(wanted))
    close(last[0], state)
    close(memory[0], cell)


# --- integers ---------------------------------------------------------------------------------------------------------

def test_int8_convolution(run):
    x, w, bias = rng.integers(-128, 128, (1, 5, 5, 3)).astype(np.int8), rng.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8), rng.integers(-500, 500, 4).astype(np.int32)
    scales = [0.01, 0.02, 0.005, 0.03]
    sums = conv_reference(x.astype(np.float64) - 3, w.astype(np.float64), 1, [0, 0, 0, 0]) + bias
    wanted = np.clip(np.rint(sums * 0.05 * np.array(scales) / 0.8) - 10, -128, 127)
    file = one("Conv2DFusion", [("int8", x.shape, [quant(0.05, 3)]), tensor(data=w, name="w", quants=[quant(s) for s in scales]),
                                tensor(data=bias, name="b", quants=[quant(0.05 * s) for s in scales])],
               wanted.shape, "int8", [quant(0.8, -10)], f1=[3, 3], f2=[1, 1], f3=[1, 1])
    got = run(file, x)
    assert got.dtype == np.int8 and np.abs(got - wanted).max() <= 1 and (got == wanted).mean() > 0.97


def test_casts_between_floats_and_integers(run):
    x = f32(3, 4)
    tensors = [tensor(x.shape, name="x"), tensor(x.shape, "int8", name="q", quants=[quant(0.02, 5)]), tensor(x.shape, name="y")]
    file = model([node("QuantDTypeCast", [0], [1], f0=43, f1=32), node("QuantDTypeCast", [1], [2], f0=32, f1=43)], tensors, [0], [2])
    close(run(file, x), (np.clip(np.rint(x / np.float32(0.02)) + 5, -128, 127) - 5) * np.float32(0.02))


def by_weight(run, weight):
    """What a product makes of a weight [6, 8] that is stored in some way."""
    eye = np.eye(8, dtype=np.float32)
    return run(one("MatMulFusion", [("float32", eye.shape), weight], (8, 6), f1=1), eye).T


Q = rng.integers(-7, 8, (6, 8)).astype(np.int8)


def test_weights_of_integers_with_corrections(run):
    scales, factor, shift = np.linspace(0.1, 0.6, 6), np.linspace(0.9, 1.1, 6), np.linspace(-0.1, 0.1, 6)
    quants = [quant(s, 2, 8, f, m) for s, f, m in zip(scales, factor, shift)]
    close(by_weight(run, tensor(data=Q, name="w", quants=quants)), ((Q - 2) * scales[:, None] * factor[:, None] + shift[:, None]).astype(np.float32))
    close(by_weight(run, tensor(data=Q, name="w", quants=[quant(0.5, 2, 8, 1.5, 3.0)])), ((Q - 2) * 0.5).astype(np.float32))


def test_halves_and_centroids(run):
    w = f32(6, 8).astype(np.float16)
    close(by_weight(run, tensor(data=w, name="w")), w.astype(np.float32))
    centroids = [float(v) for v in np.linspace(-1, 1, 16)]
    places = rng.integers(0, 16, (6, 8))
    stored = (places - 128).astype(np.int8)
    close(by_weight(run, tensor(data=stored, name="w", clusters=centroids)), np.array(centroids, np.float32)[places])


@pytest.mark.parametrize("packing", [0, 4])
def test_bit_packing(run, packing):
    stored = low_first([int(v) + 8 for v in Q.ravel()], 4)
    close(by_weight(run, tensor(Q.shape, "int8", stored, "w", [quant(0.5, 0, 4)], packing)), Q * np.float32(0.5))
    wide = rng.integers(-1000, 1000, (6, 8))
    stored = low_first([int(v) + 1024 for v in wide.ravel()], 11)
    stored += bytes(len(stored) % 2)
    close(by_weight(run, tensor(Q.shape, "int16", stored, "w", [quant(0.25, 0, 11)], packing)), (wide * 0.25).astype(np.float32))


def test_indexing(run):
    close(by_weight(run, tensor(Q.shape, "int8", indexed(Q), "w", [quant(0.5, 0, 4)], 1)), Q * np.float32(0.5))


def test_sparse(run):
    q = np.where(rng.random((6, 8)) < 0.7, 1, Q)           # 1 is the zero point
    close(by_weight(run, tensor(Q.shape, "int8", sparse(q, 1), "w", [quant(0.5, 1, 4)], 2)), (q - 1) * np.float32(0.5))


def test_finite_state_entropy(run):
    values = np.unique(Q)
    symbols = np.searchsorted(values, Q.ravel())
    stored = fse(symbols, values.tolist(), True)
    close(by_weight(run, tensor(Q.shape, "int8", stored, "w", [quant(0.5, 0, 4)], 5)), Q * np.float32(0.5))
    stored = fse(symbols, (values * 0.125).tolist(), False)
    close(by_weight(run, tensor(Q.shape, "int16", stored, "w", [quant(0.5, 0, 0)], 3)), Q * np.float32(0.125))


def test_huffman(run):
    close(by_weight(run, tensor(Q.shape, "int8", huffman(Q), "w", [quant(0.5)], huffman=True)), Q * np.float32(0.5))


def test_weights_beside_the_file(run, tmp_path):
    w = f32(6, 8)
    (tmp_path / "w.bin").write_bytes(bytes(64) + w.tobytes())
    close(by_weight(run, tensor(w.shape, name="w", outside=("w.bin", 64, w.nbytes))), w)
    with pytest.raises(Exception, match=r"\.\./w.bin"):
        by_weight(run, tensor(w.shape, name="w", outside=("../w.bin", 64, w.nbytes)))


# --- the command, keys, damage ----------------------------------------------------------------------------------------

def test_encrypted(tmp_path, spore_command):
    (tmp_path / "key").write_text("0123456789abcdef")
    spore_command("encrypt", DATA / "conv_train_model.ms", tmp_path / "s.ms", "--key-file", tmp_path / "key")
    assert list(lite.load(str(tmp_path / "s.ms"), dec_key=b"0123456789abcdef").input_names) == ["inputs0", "inputs1"]
    with pytest.raises(Exception, match="key"):
        lite.load(str(tmp_path / "s.ms"))


def test_unsupported_operators_are_named_at_once(run):
    file = model([node("Custom", [0], [1], "first"), node("Rfft", [1], [2], "second")], [tensor((2,), name=n) for n in "abc"], [0], [2])
    with pytest.raises(NotImplementedError, match=r"2 nodes .*Custom \(node 'first'\), Rfft \(node 'second'\)"):
        run(file, f32(2))


def test_damaged_files_are_told(tmp_path):
    whole = (DATA / "conv_train_model.ms").read_bytes()
    path = tmp_path / "x.ms"
    for n in (8, 9, 64, 1000, 17000):
        path.write_bytes(whole[:n])
        with pytest.raises(RuntimeError):
            lite.load(str(path))
    for at in range(8, 2000, 37):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1:])
        try:
            lite.load(str(path))
        except (RuntimeError, NotImplementedError, ValueError, MemoryError):
            pass


def test_packed_weights_that_lie(run):
    for packing, stored in ((1, b"\xff"), (2, b"\x06\xff\xff\xff\xff\x00"), (3, bytes(9)), (4, b"\x01"), (5, b"\x01\0\x07\0\xff\xff\xff\xff" + bytes(40)), (6, b"")):
        with pytest.raises((RuntimeError, ValueError)):
            by_weight(run, tensor(Q.shape, "int8", stored, "w", [quant(0.5, 0, 4)], packing))
    for stored in (b"1 2#", b"#", b"1 #2 #", b"a #0 #zzz", b"1 2 #0 0 #\xff"):
        with pytest.raises((RuntimeError, ValueError)):
            by_weight(run, tensor(Q.shape, "int8", stored, "w", [quant(0.5)], huffman=True))


def test_verbs(tmp_path, spore_command):
    text = spore_command("inspect", DATA / "lenet_tod_infer.ms")
    assert "MindSpore Lite model" in text and "2 Conv2DFusion" in text and "fc1.weight" in text
    spore_command("draw", DATA / "conv_train_model.ms", "-o", tmp_path / "a.svg")
    assert "ApplyMomentum" in (tmp_path / "a.svg").read_text()
    with np.load(DATA / "golden_lenet_tod_infer.npz") as golden:
        np.save(tmp_path / "x.npy", golden["x"])
        close_to = golden["out0"]
    spore_command("convert", DATA / "lenet_tod_infer.ms", tmp_path / "a.onnx")
    close(ms.onnx.load(str(tmp_path / "a.onnx"))(ms.Tensor(np.load(tmp_path / "x.npy"))).asnumpy(), close_to)
    spore_command("convert", DATA / "lenet_tod_infer.ms", tmp_path / "a.mindir")
    close(ms.nn.GraphCell(ms.load(str(tmp_path / "a.mindir")))(ms.Tensor(np.load(tmp_path / "x.npy"))).asnumpy(), close_to)


# --- MindSpore Lite's C interface -------------------------------------------------------------------------------------

def program(name, *arguments, code=0):
    command = pathlib.Path(os.environ["SPORE_BUILD"]) / "tests" / name
    result = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert result.returncode == code, (result.returncode, result.stderr)
    return result


def test_program_for_lites_c_interface(tmp_path):
    with np.load(DATA / "golden_lenet_tod_infer.npz") as golden:
        golden["x"].tofile(tmp_path / "x.bin")
        wanted = golden["out0"].ravel()
    for more in ([], ["callbacks"]):
        result = program("lite_predict", DATA / "lenet_tod_infer.ms", tmp_path / "x.bin", *more)
        close(np.array(result.stdout.split(), np.float32), wanted)
        assert ("node Conv2DFusion: 2 inputs, 1 outputs" in result.stderr) == bool(more)
    (tmp_path / "bad.ms").write_bytes((DATA / "lenet_tod_infer.ms").read_bytes()[:5000])
    assert "cut short" in program("lite_predict", tmp_path / "bad.ms", tmp_path / "x.bin", code=3).stderr


def test_program_that_trains(tmp_path):
    said = program("lite_training", DATA / "conv_train_model.ms", 8, tmp_path / "trained.ms", "-").stdout.split("\n")
    losses = [float(line[5:]) for line in said if line.startswith("loss")]
    predictions = [line for line in said if line.startswith("prediction")]
    assert len(losses) == 8 and losses[-1] < losses[0]
    assert len(predictions) == 10 and predictions[:5] == predictions[5:]

    # What is exported for use computes the predictions of the trained model.
    program("lite_training", DATA / "conv_train_model.ms", 2, tmp_path / "trained.ms", tmp_path / "infer.ms")
    net = lite.load(str(tmp_path / "infer.ms"))
    assert list(net.input_names) == ["inputs0"] and net(ms.Tensor(f32(4, 6, 6, 5))).shape == (4, 160)


# --- writing ----------------------------------------------------------------------------------------------------------

def test_round_trip_is_equal(tmp_path, spore_command):
    with np.load(DATA / "golden_lenet_tod_infer.npz") as golden:
        x = ms.Tensor(golden["x"])
    spore_command("convert", DATA / "lenet_tod_infer.ms", tmp_path / "again.ms")
    first, again = lite.load(str(DATA / "lenet_tod_infer.ms")), lite.load(str(tmp_path / "again.ms"))
    assert (first(x).asnumpy() == again(x).asnumpy()).all()
    assert list(first.input_names) == list(again.input_names) and list(first.output_names) == list(again.output_names)
    text = spore_command("inspect", tmp_path / "again.ms")
    assert "2 Conv2DFusion" in text and "fc1.weight" in text
    assert "Transpose" not in text.split("nodes:")[1].split("\n")[0] or "1 Transpose" in text


class Net(ms.nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = ms.nn.Conv2d(3, 4, 3, has_bias=True)
        self.pool = ms.nn.AvgPool2d(2, 2)
        self.fc = ms.nn.Dense(64, 5)

    def construct(self, x):
        y = self.pool(ms.ops.relu(self.conv(x))) * 2 + 1
        y = self.fc(ms.ops.tanh(y).reshape(x.shape[0], -1))
        return ms.ops.softmax(y, -1), ms.ops.concat([y[:, 1:3], ms.ops.exp(y[:, :1])], 1)


@pytest.mark.parametrize("kind", ["ONNX", "MINDIR"])
def test_other_formats_become_lite(tmp_path, spore_command, kind):
    net, x = Net(), ms.Tensor(f32(2, 3, 8, 8))
    ms.export(net, x, file_name=str(tmp_path / "a"), file_format=kind)
    spore_command("convert", tmp_path / f"a.{kind.lower()}", tmp_path / "a.ms")
    for got, wanted in zip(lite.load(str(tmp_path / "a.ms"))(x), net(x)):
        close(got.asnumpy(), wanted.asnumpy())


def test_what_lite_has_not_is_told(tmp_path, spore_command):
    class Odd(ms.nn.Cell):
        def construct(self, x):
            return ms.ops.erfinv(ms.ops.cumprod(x, 0))
    ms.export(Odd(), ms.Tensor(f32(3, 3)), file_name=str(tmp_path / "a"), file_format="MINDIR")
    said = spore_command("convert", tmp_path / "a.mindir", tmp_path / "a.ms", code=1)
    assert "not written to MindSpore Lite" in said and "erfinv" in said and not (tmp_path / "a.ms").exists()


def test_bench(tmp_path, spore_command):
    with np.load(DATA / "golden_lenet_tod_infer.npz") as golden:
        golden["x"].tofile(tmp_path / "x.bin")
        name = lite.load(str(DATA / "lenet_tod_infer.ms")).output_names[0]
        text = f"{name} 2 2 10\n" + " ".join(str(v) for v in golden["out0"].ravel()) + "\n"
    (tmp_path / "good.txt").write_text(text)
    run = ("bench", DATA / "lenet_tod_infer.ms", "--loop", 2, "--warm-up", 1, "--threads", 1, "--input", tmp_path / "x.bin", "--accuracy")
    said = spore_command(*run, tmp_path / "good.txt")
    assert "Mean bias of all nodes/tensors: " in said and "Model = lenet_tod_infer.ms, numThreads = 1, MinRunTime = " in said
    assert "no output 'other'" in spore_command(*run, write(tmp_path / "o.txt", "other 1 3\n1 2 3\n"), code=1)
    assert "name its file" in spore_command("bench", "--loop", 3, code=2)


def write(path, text):
    path.write_text(text)
    return path


# --- files of Lite 1.0 ------------------------------------------------------------------------------------------------

def test_files_of_lite_1_0(run):
    rows = schema("lite_old.c")
    x, w, b, v = f32(1, 6, 6, 2), f32(4, 3, 3, 2), f32(4), f32(5, 36)
    shapes = [(1, 6, 6, 4), (1, 3, 3, 4), (1, 4, 3, 3), (1, 36), (1, 5), (1, 5)]
    tensors = [tensor(x.shape, name="x")] + [tensor(s, name=f"t{i}") for i, s in enumerate(shapes)] + [tensor(data=a, name=n) for a, n in ((w, "w"), (b, "b"), (v, "v"))]
    nodes = [node("Conv2D", [0, 7, 8], [1], rows=rows, f1=1, f2=2, f3=4, f4=3, f5=3, f6=1, f7=1, f9=1, f10=1, f11=1, f12=1, f13=1, f14=1, f16=1),
             node("Pooling", [1], [2], rows=rows, f3=2, f4=2, f5=2, f6=2, f7=2), node("Nhwc2Nchw", [2], [3], rows=rows), node("Reshape", [3], [4], rows=rows, f1=[1, -1]),
             node("FullConnection", [4, 9], [5], rows=rows, f1=1, f2=1), node("SoftMax", [5], [6], rows=rows)]
    y = np.maximum(conv_reference(x, w, 1, [1, 1, 1, 1]) + b, 0).reshape(1, 3, 2, 3, 2, 4).max((2, 4))
    y = np.exp(y.transpose(0, 3, 1, 2).reshape(1, 36) @ v.T)
    file = model(nodes, tensors, [0], [6], "MindSpore Lite 1.0.0", bytes(4))
    close(run(file, x), y / y.sum())
    with pytest.raises(RuntimeError):
        run(file[:len(file) // 2], x)


@pytest.mark.parametrize("op, inputs, fields, wanted", [
    ("Transpose", [], dict(f0=[2, 0, 1]), lambda x: x.transpose(2, 0, 1)), ("Reduce", [], dict(f0=[1], f2=4), lambda x: x.sum(1)), ("Slice", [], dict(f2=[0, 1, 0], f3=[2, 2, 3]), lambda x: x[:, 1:3, :3]),
    ("Pad", [], dict(f0=[0, 0, 1, 2, 0, 1], f2=0.5), lambda x: np.pad(x, ((0, 0), (1, 2), (0, 1)), constant_values=0.5)), ("Gather", [I32(2, 0)], dict(f0=1), lambda x: x[:, [2, 0]]),
    ("ExpandDims", [], dict(f0=1), lambda x: x[:, None]), ("StridedSlice", [], dict(f5=[0, 0, 1], f6=[2, 3, 4], f7=[1, 2, 1]), lambda x: x[:, ::2, 1:]),
    ("Activation", [], dict(f0=5), lambda x: np.where(x > 0, x, 0.2 * x)), ("Mul", [X], {}, lambda x: x * X), ("ArgMax", [], dict(f0=2), lambda x: x.argmax(2))])
def test_operators_of_lite_1_0(run, op, inputs, fields, wanted):
    x = f32(2, 3, 4)
    expected = wanted(x)
    tensors = [tensor(x.shape, name="x")] + [tensor(data=a, name="w") for a in inputs]
    tensors.append(tensor(expected.shape, "int32" if op == "ArgMax" else "float32", name="y"))
    file = model([node(op, list(range(len(tensors) - 1)), [len(tensors) - 1], rows=schema("lite_old.c"), **fields)], tensors, [0], [len(tensors) - 1], "MindSpore Lite 1.0.0", bytes(4))
    close(run(file, x), expected)
