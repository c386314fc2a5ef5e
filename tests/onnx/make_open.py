# SPDX-License-Identifier: Apache-2.0
"""Small models whose sizes are open and which compute with them, and what ONNX Runtime makes of them at several sizes: `python make_open.py`, with an interpreter that has
onnx and ONNX Runtime, writes data/open_*.onnx and data/open.npz. test_open.py converts each without sizes."""
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnxruntime

DATA = Path(__file__).parent / "data"
HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
# name: (graph, shapes of the inputs, trial by trial)
MODELS = {
    # a length that is counted in steps of 441 samples, a mask over it, and a slice of it
    "resample": ("""g (float[B, N] x, int64[B] n) => (float[B, M] y, int64[B] m)
        <int64 up = {640}, int64 down = {441}, int64 one = {1}, int64 zero = {0}, int64[1] first = {0}, int64[1] axis = {1}, float nothing = {0}> {
        a = Mul(up, n) b = Add(a, down) c = Sub(b, one) m = Div(c, down)
        s = Shape<start = 1, end = 2>(x) t = Squeeze(s) d = Mul(up, t) e = Add(d, down) f = Sub(e, one) new = Div(f, down)
        xx = Concat<axis = 1>(x, x) end = Unsqueeze(new, first) cut = Slice(xx, first, end, axis)
        r = Range(zero, new, one) row = Unsqueeze(r, first) col = Unsqueeze(m, axis) mask = Less(row, col) y = Where(mask, cut, nothing) }""",
                 [((3, 500), (3,)), ((1, 777), (1,)), ((2, 1201), (2,))]),
    # frames of a signal, those behind its length left out of the mean
    "frames": ("""g (float[B, N] x) => (float[B, F] y)
        <int64 step = {16}, int64[4] pads = {0, 32, 0, 32}, int64 one = {1}, int64 zero = {0}, int64[1] first = {0}, float half = {0.5}> {
        p = Pad(x, pads) w = Constant<value_floats = [1.0, 0.5, 0.25, 1.0, 1.0, 0.5, 0.25, 1.0, 1.0, 0.5, 0.25, 1.0, 1.0, 0.5, 0.25, 1.0, 1.0, 0.5, 0.25, 1.0, 1.0, 0.5, 0.25, 1.0, 1.0, 0.5, 0.25, 1.0, 1.0, 0.5, 0.25, 1.0]>()
        s = STFT<onesided = 1>(p, step, w) e = ReduceSumSquare<axes = [-1], keepdims = 0>(s) f = ReduceMean<axes = [-1], keepdims = 0>(e)
        shape = Shape<start = 1, end = 2>(f) n = Squeeze(shape) r = Range(zero, n, one) rf = Cast<to = 1>(r) nf = Cast<to = 1>(n) part = Div(rf, nf)
        keep = Less(part, half) row = Unsqueeze(keep, first) zf = Sub(half, half) y = Where(row, f, zf) }""",
               [((3, 500),), ((1, 160),), ((2, 333),)]),
    "pads": ("""g (float[B, N] x) => (float[B, E] e, float[B, R] r, float[B, W] w)
        <int64[4] edge = {0, 1, 0, -1}, int64[4] around = {0, 3, 0, 4}> {
        e = Pad<mode = "edge">(x, edge) r = Pad<mode = "reflect">(x, around) w = Pad<mode = "edge">(x, around) }""",
             [((3, 9),), ((1, 5),), ((2, 70),)]),
    # the middles of the cells of a grid, of which boxes are taken
    "grid": ("""g (float[B, 2, H, W] x) => (float[B, 2, C] y)
        <int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64 three = {3}, float half = {0.5}, int64[1] last = {1}, int64[1] first = {0}, int64[1] minus = {-1}, int64[3] flat = {0, 2, -1}> {
        s = Shape(x) h = Gather<axis = 0>(s, two) w = Gather<axis = 0>(s, three) rh = Range(zero, h, one) rw = Range(zero, w, one)
        fh = Cast<to = 1>(rh) fw = Cast<to = 1>(rw) mh = Add(fh, half) mw = Add(fw, half) h1 = Unsqueeze(h, first) w1 = Unsqueeze(w, first)
        hw = Concat<axis = 0>(h1, w1) ch = Unsqueeze(mh, last) gy = Expand(ch, hw) gx = Expand(mw, hw) ys = Reshape(gy, minus) xs = Reshape(gx, minus)
        y1 = Unsqueeze(ys, first) x1 = Unsqueeze(xs, first) both = Concat<axis = 0>(x1, y1) v = Reshape(x, flat) y = Sub(both, v) }""",
             [((3, 2, 5, 7),), ((1, 2, 4, 4),), ((2, 2, 9, 3),)]),
    # what is filled for a shape; a fixed size that is asked for; a number out of sizes
    "fills": ("""g (float[B, T, 4] x) => (float[B, T, 4] y)
        <int64 two = {2}, int64 one = {1}, int64[1] z = {0}> {
        s = Shape(x) ones = ConstantOfShape<value = float[1] ones1 {1.5}>(s) a = Mul(x, ones) c = Gather<axis = 0>(s, two) cf = Cast<to = 1>(c) b = Div(a, cf)
        t = Gather<axis = 0>(s, one) tf = Cast<to = 1>(t) r = Sqrt(tf) y = Div(b, r) }""",
              [((3, 6, 4),), ((1, 1, 4),), ((2, 50, 4),)]),
    # sizes that have one value in truth: the state is that of one row; the height is 48
    "one_row": ("""g (float[B, T] x) => (float[B, U] y) <float[1, 1] state = {2}> { y = Concat<axis = 1>(x, state) }""",
                [((1, 6),), ((1, 50),)]),
    "one_height": ("""g (float[B, 2, H, W] x) => (float[B, 2, 6, W] y)
        <int64[1] half = {24}, int64 zero = {0}, int64 one = {1}, int64 n = {288}, int64[2] table = {48, 6}> {
        r = Range(zero, n, one) f = Cast<to = 1>(r) m = Reshape(f, table) t = Transpose<perm = [0, 1, 3, 2]>(x) p = MatMul(t, m) y = Transpose<perm = [0, 1, 3, 2]>(p) }""",
                   [((3, 2, 48, 7),), ((1, 2, 48, 4),), ((2, 2, 48, 90),)]),
    # dimension 1 of the state is the batch
    "state": ("""g (float[A, N] x, float[2, C, 4] h) => (float[A, D] y, float[2, C, 4] k) <int64[1] z = {0}, int64[1] minus = {-1}> {
        m = ReduceMean<axes = [1], keepdims = 1>(x) u = Unsqueeze(m, z) k = Add(h, u) f = ReduceSum(k, z) g = Squeeze(f, z) y = Concat<axis = 1>(x, g) }""",
              [((3, 6), (2, 3, 4)), ((1, 50), (2, 1, 4)), ((5, 7), (2, 5, 4))]),
}


def main():
    answers, random = {}, np.random.default_rng(0)
    for name, (text, trials) in MODELS.items():
        model = onnx.parser.parse_model(HEAD + text)
        onnx.checker.check_model(model)
        onnx.save(model, DATA / f"open_{name}.onnx")
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        for i, shapes in enumerate(trials):
            inputs = {}
            for face, shape in zip(session.get_inputs(), shapes):
                whole = face.type == "tensor(int64)"
                inputs[face.name] = random.integers(300, 500, shape) if whole else random.standard_normal(shape).astype(np.float32)
            for key, value in inputs.items():
                answers[f"{name}.{i}.in.{key}"] = value
            for face, value in zip(session.get_outputs(), session.run(None, inputs)):
                answers[f"{name}.{i}.out.{face.name}"] = value
    np.savez_compressed(DATA / "open.npz", **answers)


if __name__ == "__main__":
    main()
