# SPDX-License-Identifier: Apache-2.0
"""Accuracy of quantised networks, here and with ONNX Runtime's quantiser: ten networks are trained on the digits of data/mnist and on scikit-learn's data, quantised by both with
the same samples (256 at most), and run on all that were kept for the test. Accuracy; of the regression 1 - error / variance. Needs onnx, onnxruntime and scikit-learn besides spore:

    PYTHONPATH=build/py python tests/quant/accuracy.py [--out tests/quant/accuracy.csv]

ONNX Runtime's own quantisation is computed exactly (session.x64quantprecision, no sums of 16 bits), as issue 25 asks; `ort_default` is what it gives without that option on this
machine.
"""
import argparse
import csv
import gzip
import os
import pathlib
import tempfile

import numpy as np

import spore as ms
from spore import Tensor, nn, ops

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALIBRATION, EPOCHS, BATCH = 256, 3, 64


def read(name):
    found = sorted((ROOT / "data" / "mnist").rglob(f"*{name}*"))[0]
    data = gzip.open(found).read() if found.suffix == ".gz" else found.read_bytes()
    dims = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(dims)


def digits():
    scale = lambda x: (x.astype(np.float32)[:, None] / 255 - 0.13) / 0.31
    return (scale(read("train-images")), read("train-labels").astype(np.int32)), (scale(read("t10k-images")), read("t10k-labels").astype(np.int32))


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="same", has_bias=True)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True)
        self.pool = nn.MaxPool2d(2, 2)
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(ops.relu(self.conv2(self.pool(ops.relu(self.conv1(x))))))
        return self.fc3(ops.relu(self.fc2(ops.relu(self.fc1(x.reshape(-1, 400))))))


class Mlp(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Dense(784, 256), nn.Dense(256, 64), nn.Dense(64, 10)

    def construct(self, x):
        return self.fc3(ops.relu(self.fc2(ops.relu(self.fc1(x.reshape(-1, 784))))))


class Mobile(nn.Cell):
    """Depthwise convolutions with batch norms and ReLU6, residuals, an average of the picture."""

    def __init__(self):
        super().__init__()
        conv = lambda i, o, k, s=1, g=1: nn.SequentialCell(nn.Conv2d(i, o, k, s, group=g), nn.BatchNorm2d(o))
        self.first, self.deep1, self.wide1 = conv(1, 16, 3, 2), conv(16, 16, 3, 1, 16), conv(16, 16, 1)
        self.deep2, self.wide2 = conv(16, 16, 3, 2, 16), conv(16, 32, 1)
        self.deep3, self.wide3 = conv(32, 32, 3, 1, 32), conv(32, 32, 1)
        self.fc = nn.Dense(32, 10)

    def construct(self, x):
        x = ops.relu6(self.first(x))
        x = x + self.wide1(ops.relu6(self.deep1(x)))
        x = ops.relu6(self.wide2(ops.relu6(self.deep2(x))))
        x = x + self.wide3(ops.relu6(self.deep3(x)))
        return self.fc(ops.mean(x, (2, 3)))


class Rows(nn.Cell):
    """A transformer over the rows of a picture."""

    def __init__(self):
        super().__init__()
        self.into, self.place = nn.Dense(28, 32), ms.Parameter(np.random.default_rng(0).normal(0, 0.1, (28, 32)).astype(np.float32), name="place")
        self.q, self.k, self.v, self.o = (nn.Dense(32, 32) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm((32,)), nn.LayerNorm((32,))
        self.up, self.down, self.fc = nn.Dense(32, 64), nn.Dense(64, 32), nn.Dense(32, 10)

    def construct(self, x):
        x = self.into(x.reshape(-1, 28, 28)) + self.place
        h = self.norm1(x)
        scores = ops.softmax(ops.matmul(self.q(h), self.k(h).swapaxes(1, 2)) / 32 ** 0.5)
        x = x + self.o(ops.matmul(scores, self.v(h)))
        x = x + self.down(ops.gelu(self.up(self.norm2(x))))
        return self.fc(ops.mean(x, 1))


class Residual(nn.Cell):
    """Blocks of two convolutions with batch norms, the second with a stride and a convolution beside it."""

    def __init__(self):
        super().__init__()
        conv = lambda i, o, k, s=1: nn.SequentialCell(nn.Conv2d(i, o, k, s), nn.BatchNorm2d(o))
        self.first = conv(1, 12, 3, 2)
        self.a1, self.a2 = conv(12, 12, 3), conv(12, 12, 3)
        self.b1, self.b2, self.beside = conv(12, 24, 3, 2), conv(24, 24, 3), conv(12, 24, 1, 2)
        self.fc = nn.Dense(24, 10)

    def construct(self, x):
        x = ops.relu(self.first(x))
        x = ops.relu(x + self.a2(ops.relu(self.a1(x))))
        x = ops.relu(self.beside(x) + self.b2(ops.relu(self.b1(x))))
        return self.fc(ops.mean(x, (2, 3)))


class Excited(nn.Cell):
    """Hard swish, and channels weighted by what the whole picture says."""

    def __init__(self):
        super().__init__()
        conv = lambda i, o, k, s=1, g=1: nn.SequentialCell(nn.Conv2d(i, o, k, s, group=g), nn.BatchNorm2d(o))
        self.first, self.deep, self.wide = conv(1, 16, 3, 2), conv(16, 16, 5, 2, 16), conv(16, 32, 1)
        self.squeeze, self.excite, self.fc = nn.Dense(16, 8), nn.Dense(8, 16), nn.Dense(32, 10)

    def construct(self, x):
        x = ops.hardswish(self.first(x))
        x = ops.hardswish(self.deep(x))
        w = ops.hardsigmoid(self.excite(ops.relu(self.squeeze(ops.mean(x, (2, 3))))))
        x = ops.hardswish(self.wide(x * w.reshape(-1, 16, 1, 1)))
        return self.fc(ops.mean(x, (2, 3)))


class Lines(nn.Cell):
    """The rows of a picture as channels over time, as sound is: convolutions over one dimension."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(28, 32, (1, 5), pad_mode="same", has_bias=True), nn.Conv2d(32, 32, (1, 5), (1, 2), pad_mode="same", has_bias=True)
        self.fc1, self.fc2 = nn.Dense(32 * 14, 32), nn.Dense(32, 10)

    def construct(self, x):
        x = x.reshape(-1, 28, 1, 28)
        x = ops.relu(self.b(ops.relu(self.a(x))))
        return self.fc2(ops.tanh(self.fc1(x.reshape(-1, 32 * 14))))


class Small(nn.Cell):
    """Scikit-learn's digits of 8 by 8."""

    def __init__(self):
        super().__init__()
        self.conv, self.fc1, self.fc2 = nn.Conv2d(1, 8, 3, pad_mode="same", has_bias=True), nn.Dense(512, 32), nn.Dense(32, 10)

    def construct(self, x):
        return self.fc2(ops.sigmoid(self.fc1(ops.leaky_relu(self.conv(x.reshape(-1, 1, 8, 8)), 0.1).reshape(-1, 512))))


class Cancer(nn.Cell):
    """Thirty numbers, two classes."""

    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Dense(30, 32), nn.Dense(32, 16), nn.Dense(16, 2)

    def construct(self, x):
        return self.fc3(ops.elu(self.fc2(ops.elu(self.fc1(x)))))


class Diabetes(nn.Cell):
    """Ten numbers, one number."""

    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Dense(10, 24), nn.Dense(24, 1)

    def construct(self, x):
        return self.fc2(ops.relu(self.fc1(x)))


def of_sklearn(load, regression=False):
    """Numbers scaled to mean 0 and variance 1, three of four rows to train with."""
    from sklearn import datasets
    x, y = getattr(datasets, load)(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(x))
    x, y = x[order].astype(np.float32), y[order]
    x = (x - x.mean(0)) / np.maximum(x.std(0), 1e-6)
    y = ((y - y.mean()) / y.std()).astype(np.float32) if regression else y.astype(np.int32)
    n = len(x) * 3 // 4
    return (x[:n], y[:n]), (x[n:], y[n:])


def train(net, x, y, epochs):
    optimizer = nn.Adam(net.trainable_params(), 2e-3)
    loss = nn.CrossEntropyLoss() if y.dtype != np.float32 else lambda a, b: ops.mse_loss(a.reshape(-1), b)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    step.set_train()
    rng = np.random.default_rng(1)
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for i in range(0, len(x) - BATCH + 1, BATCH):
            step(Tensor(x[order[i:i + BATCH]]), Tensor(y[order[i:i + BATCH]]))
    net.set_train(False)


def accuracy(run, x, y):
    answers = np.concatenate([run(x[i:i + 100]) for i in range(0, len(x), 100)])
    if y.dtype == np.float32:
        return 1 - np.mean((answers.reshape(-1) - y) ** 2) / np.var(y)
    return np.mean(answers.argmax(1) == y)


def of_spore(path):
    cell = ms.onnx.load(path)
    return lambda x: cell(Tensor(x)).asnumpy()


def of_ort(path, exact):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    if exact:
        options.add_session_config_entry("session.x64quantprecision", "1")
    session = ort.InferenceSession(path, options)
    return lambda x: session.run(None, {session.get_inputs()[0].name: x})[0]


def ort_quantize(source, target, x):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.left = iter([{"x": x[i:i + 16]} for i in range(0, len(x), 16)])

        def get_next(self):
            return next(self.left, None)

    quant_pre_process(source, source + ".pre.onnx")
    quantize_static(source + ".pre.onnx", target, Reader(), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QInt8, weight_type=QuantType.QInt8)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out")
    out = parser.parse_args().out
    pictures = digits()
    sources = {Small: of_sklearn("load_digits"), Cancer: of_sklearn("load_breast_cancer"), Diabetes: of_sklearn("load_diabetes", True)}
    rows = []
    for kind in (LeNet, Mlp, Mobile, Rows, Residual, Excited, Lines, Small, Cancer, Diabetes):
        (x, y), (tx, ty) = sources.get(kind, pictures)
        regression = y.dtype == np.float32
        some = [(x[i:i + 16], y[i:i + 16]) for i in range(0, min(CALIBRATION, len(x) - 15), 16)]
        ms.set_seed(1)
        np.random.seed(1)
        net = kind()
        train(net, x, y, EPOCHS if kind not in sources else 60)
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            ms.onnx.export(net, Tensor(x[:16]), file_name=path("float.onnx"), dynamic_axes={"x": {0: "batch"}})
            row = {"network": kind.__name__, "float": accuracy(of_spore(path("float.onnx")), tx, ty)}
            ways = {"minmax": {}, "entropy": {"method": "entropy"}, "mse": {"method": "mse"}, "adaptive": {"rounding": "adaptive"},
                    "target": {"target": "cosine>=0.9999" if regression else "relative>=0.99"},
                    "weights4": {"kind": "weights", "bits": 4, "rounding": "adaptive"}}
            for name, options in ways.items():
                data = some if name == "target" and not regression else [a for a, _ in some]
                ms.quantize(path("float.onnx"), data, effect_samples=8 if name == "target" else 0 if "kind" not in options else 8, **options).save(path("q.onnx"))
                row[f"spore_{name}"] = accuracy(of_spore(path("q.onnx")), tx, ty)
                if name == "minmax":
                    row["spore_in_ort"] = accuracy(of_ort(path("q.onnx"), True), tx, ty)
            ort_quantize(path("float.onnx"), path("ort.onnx"), x[:CALIBRATION])
            row["ort_exact"], row["ort_default"] = (accuracy(of_ort(path("ort.onnx"), exact), tx, ty) for exact in (True, False))
        rows.append({k: v if k == "network" else f"{v:.4f}" for k, v in row.items()})
        print(" ".join(f"{k}={v}" for k, v in rows[-1].items()), flush=True)
    if out:
        with open(out, "w", newline="", encoding="utf-8") as f:
            writer = csv.DictWriter(f, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
