# SPDX-License-Identifier: Apache-2.0
"""Accuracy of quantised networks, here and with ONNX Runtime's quantiser: networks are trained on the digits of data/mnist, quantised by both with the same
256 pictures, and run on all test pictures. Needs onnx and onnxruntime besides spore:

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


def train(net, x, y):
    optimizer = nn.Adam(net.trainable_params(), 2e-3)
    loss = nn.CrossEntropyLoss()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    step.set_train()
    rng = np.random.default_rng(1)
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for i in range(0, len(x) - BATCH + 1, BATCH):
            step(Tensor(x[order[i:i + BATCH]]), Tensor(y[order[i:i + BATCH]]))
    net.set_train(False)


def accuracy(run, x, y):
    return np.mean(np.concatenate([run(x[i:i + 100]).argmax(1) for i in range(0, len(x), 100)]) == y)


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
    (x, y), (tx, ty) = digits()
    calibration = [x[i:i + 16] for i in range(0, CALIBRATION, 16)]
    rows = []
    for kind in (LeNet, Mlp, Mobile, Rows):
        ms.set_seed(1)
        np.random.seed(1)
        net = kind()
        train(net, x, y)
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            ms.onnx.export(net, Tensor(x[:16]), file_name=path("float.onnx"), dynamic_axes={"x": {0: "batch"}})
            row = {"network": kind.__name__, "float": accuracy(of_spore(path("float.onnx")), tx, ty)}
            for method in ("minmax", "entropy", "mse"):
                ms.quantize(path("float.onnx"), calibration, method=method, effect_samples=0).save(path("q.onnx"))
                row[f"spore_{method}"] = accuracy(of_spore(path("q.onnx")), tx, ty)
                if method == "minmax":
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
