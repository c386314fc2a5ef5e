# SPDX-License-Identifier: Apache-2.0
"""Sizes of programs that run one model with a trimmed library (spore trim): bytes of the stripped program, what it is linked with, and whether its results are the whole
library's. `make edge-sizes` prints them.

    PYTHONPATH=build/py SPORE_BUILD=build python tests/small/edge_sizes.py [--keep FOLDER]
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import numpy as np

import spore as ms
from spore import nn, ops

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# What a program of one's own is linked with: no more of the library than it reaches.
FLAGS = ["-Os", "-ffunction-sections", "-fdata-sections", "-fno-asynchronous-unwind-tables", "-no-pie", "-s",
         "-Wl,--gc-sections,--as-needed,--build-id=none,-z,noseparate-code,-z,norelro"]


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="same", has_bias=True)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True)
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(ops.relu(self.conv2(self.pool(ops.relu(self.conv1(x))))))
        return self.fc3(ops.relu(self.fc2(ops.relu(self.fc1(self.flatten(x))))))


@dataclass
class Row:
    name: str
    bytes: int
    aim: int
    libraries: list
    error: float        # the largest, of the largest result
    tolerance: float


def lenet(folder):
    ms.set_seed(1)
    x = np.random.default_rng(1).standard_normal((1, 1, 28, 28)).astype(np.float32)
    ms.export(LeNet().set_train(False), ms.Tensor(x), file_name=str(folder / "lenet"), file_format="MINDIR")
    return folder / "lenet.mindir", x


def mobilenet(folder, kind):
    sys.path.insert(0, str(ROOT / "bench"))
    ms.as_mindspore()
    import inference
    ms.set_seed(1)
    numbers = np.random.default_rng(1)
    images = [numbers.standard_normal((1, 3, 224, 224)).astype(np.float32) for _ in range(2)]
    quantised = ms.quantize(inference.MobileNetV2().set_train(False), images)
    quantised.save(str(folder / f"mobilenet.int8.{kind}"))
    return folder / f"mobilenet.int8.{kind}", images[0]


def mobilenet_mindir(folder):
    """Weights are bytes; what flows is rounded to bytes and computed with as float32, for MindIR has no operators on bytes."""
    return mobilenet(folder, "mindir")


def mobilenet_onnx(folder):
    """Computed with bytes; all of ONNX's operators are in the program."""
    return mobilenet(folder, "onnx")


def link(program, library):
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, *FLAGS, f"-I{ROOT / 'include'}", HERE / "run_model.c", "-o", program, library, "-lm", "-lpthread", "-ldl"], check=True)
    return program


def libraries_of(program):
    text = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    return [line.split("[")[1].split("]")[0] for line in text.splitlines() if "NEEDED" in line]


def run(program, model, x, folder):
    x.tofile(folder / "x.bin")
    subprocess.run([program, model, folder / "x.bin", folder / "y.bin"], check=True)
    return np.fromfile(folder / "y.bin", np.float32)


def expected(model, x):
    found = subprocess.run([spore(), "predict", model, "--input", npy(model.parent, x), "-o", model.parent / "y.npz", "--overwrite"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    with np.load(model.parent / "y.npz") as arrays:
        return arrays[arrays.files[0]].ravel()


def npy(folder, x):
    np.save(folder / "x.npy", x)
    return folder / "x.npy"


def spore():
    return str(pathlib.Path(os.environ["SPORE_BUILD"]) / "spore")


NETS = {"LeNet": (lenet, 300_000, 1e-5), "MobileNetV2 int8, MindIR": (mobilenet_mindir, 400_000, 1e-6),
        "MobileNetV2 int8, ONNX": (mobilenet_onnx, 600_000, 0.0)}


def measure(keep=None):
    with tempfile.TemporaryDirectory() as scratch:
        for name, (make, aim, tolerance) in NETS.items():
            folder = pathlib.Path(keep or scratch) / name.lower().replace(", ", "-").replace(" ", "-")
            folder.mkdir(parents=True, exist_ok=True)
            model, x = make(folder)
            subprocess.run([spore(), "trim", model, "-o", folder, "--source", ROOT, "--overwrite"], check=True, stdout=subprocess.DEVNULL)
            program = link(folder / "program", folder / "libspore.a")
            want, got = expected(model, x), run(program, model, x, folder)
            error = float(np.abs(want - got).max() / np.abs(want).max())
            yield Row(name, program.stat().st_size, aim, libraries_of(program), error, tolerance)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--keep", help="folder for libraries and programs (default: none stay)")
    arguments = words.parse_args()
    print(f"{'program':24} {'bytes':>9} {'aim':>9}  difference  linked with")
    for row in measure(arguments.keep):
        print(f"{row.name:24} {row.bytes:9,} {row.aim:9,}  {row.error:10.2g}  {' '.join(row.libraries)}", flush=True)


if __name__ == "__main__":
    main()
